//! What an entry point does first: it computes the ids of the workgroup that it stands for.

use super::{
    GroupId, NotPermuted, PERMUTATION_HEADER, Replaced, extend_interfaces, first_instruction,
};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op};
use std::collections::BTreeSet;
use vkcert_spirv::interface::LocalSize;
use vkcert_spirv::module::{EntryPoint, Id, Instruction, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};
use vkcert_spirv::types::{Type, Types};

/// The type of the components of a vector of three 32-bit integers.
pub(super) fn component(types: &Types, vector: Id) -> Option<Id> {
    match types.get(vector)? {
        Type::Vector { component, count: 3 } => {
            matches!(types.get(*component), Some(Type::Int { width: 32, .. })).then_some(*component)
        }
        _ => None,
    }
}

/// The code of every entry point's function, before its first instruction.
pub(super) fn prologues(
    module: &Module,
    types: &Types,
    draft: &mut ModuleDraft,
    replaced: &[Replaced],
    place: (u32, u32),
) -> Result<InstructionEdits, NotPermuted> {
    let buffer = declare_buffer(draft, place);
    let mut inputs = Inputs { module, types, made: Vec::new() };
    let mut edits = InstructionEdits::default();
    let mut begun = BTreeSet::new();
    for point in &module.entry_points {
        let function = module.function_by_id(point.function);
        let index = function.and_then(|function| first_instruction(module, function));
        let index = index.ok_or_else(|| NotPermuted::NoBody { name: point.name.clone() })?;
        if !begun.insert(index) {
            continue;
        }
        let size = LocalSize::of_entry_point(module, point.function);
        let size = size.ok_or_else(|| NotPermuted::NoLocalSize { name: point.name.clone() })?;
        let mut prologue = Prologue { draft, code: Vec::new(), used: BTreeSet::new() };
        prologue.write(&mut inputs, point, buffer, size, replaced, types);
        let Prologue { code, mut used, .. } = prologue;
        if module.header.version() >= (1, 4) {
            used.extend(replaced.iter().map(|row| row.private).chain([buffer.variable]));
        }
        extend_interfaces(draft, point.function, &used);
        edits.insert_before(index, code);
    }
    Ok(edits)
}

/// The buffer that holds counts and permutation.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    variable: Id,
    /// Pointer to a word of it.
    word: Id,
}

fn declare_buffer(draft: &mut ModuleDraft, (set, binding): (u32, u32)) -> Buffer {
    let words = draft.word_array();
    let block = draft.storage_block(words, set, binding);
    draft.decorate(block.variable, vec![Operand::Decoration(Decoration::NonWritable)]);
    draft.add_name(block.variable, "vkcert_schedule");
    let uint = draft.uint_type();
    Buffer { variable: block.variable, word: draft.pointer_type(block.class, uint) }
}

/// The hardware's own ids.
struct Inputs<'a> {
    module: &'a Module,
    types: &'a Types,
    /// Variables that the module did not have.
    made: Vec<(BuiltIn, Input)>,
}

/// An input variable with the type of its vector and of its components.
#[derive(Debug, Clone, Copy)]
struct Input {
    variable: Id,
    vector: Id,
    component: Id,
}

impl Inputs<'_> {
    /// The variable of an entry point, else of another, else a new one.
    fn find(&mut self, built_in: BuiltIn, point: &EntryPoint, draft: &mut ModuleDraft) -> Input {
        let all = self
            .module
            .instructions
            .iter()
            .filter(|i| i.op == Op::Variable)
            .filter_map(|i| i.result);
        let known = point.interface.iter().copied().chain(all);
        let shaped = |variable: Id| {
            let pointer = self.module.definition(variable)?.result_type?;
            let vector = self.types.pointee(pointer)?;
            Some(Input { variable, vector, component: component(self.types, vector)? })
        };
        let mut known = known
            .filter(|id| super::built_in(self.module, *id) == Some(built_in))
            .filter_map(shaped);
        let made = self.made.iter().find(|(of, _)| *of == built_in).map(|(_, input)| *input);
        known.next().or(made).unwrap_or_else(|| {
            let component = draft.uint_type();
            let vector = draft.declare_type(
                Op::TypeVector,
                vec![Operand::IdRef(component), Operand::LiteralBit32(3)],
            );
            let variable = draft.built_in(built_in, vector);
            let input = Input { variable, vector, component };
            self.made.push((built_in, input));
            input
        })
    }
}

/// The code of one entry point.
struct Prologue<'a> {
    draft: &'a mut ModuleDraft,
    code: Vec<Instruction>,
    /// Input variables that it reads.
    used: BTreeSet<Id>,
}

impl Prologue<'_> {
    fn write(
        &mut self,
        inputs: &mut Inputs,
        point: &EntryPoint,
        buffer: Buffer,
        size: LocalSize,
        replaced: &[Replaced],
        types: &Types,
    ) {
        let hardware = inputs.find(BuiltIn::WorkgroupId, point, self.draft);
        let hardware = self.components(hardware);
        let group = self.permuted(hardware, buffer);
        let global = replaced.iter().any(|row| row.of == GroupId::Global).then(|| {
            let local = inputs.find(BuiltIn::LocalInvocationId, point, self.draft);
            let local = self.components(local);
            let size = self.size(size, types);
            std::array::from_fn(|axis| {
                let start = self.word(Op::IMul, group[axis], size[axis]);
                self.word(Op::IAdd, start, local[axis])
            })
        });
        for row in replaced {
            let values = match row.of {
                GroupId::Workgroup => group,
                GroupId::Global => global.expect("one of them is global"),
            };
            let component = component(types, row.vector).expect("asked when it was found");
            self.store(row, component, values);
        }
    }

    fn emit(&mut self, op: Op, ty: Id, operands: Vec<Operand>) -> Id {
        let id = self.draft.fresh_id();
        self.code.push(new_instruction(op, Some(ty), Some(id), operands));
        id
    }

    /// An unsigned word from two. Integer arithmetic takes operands of either sign.
    fn word(&mut self, op: Op, left: Id, right: Id) -> Id {
        let uint = self.draft.uint_type();
        self.emit(op, uint, vec![Operand::IdRef(left), Operand::IdRef(right)])
    }

    fn components(&mut self, input: Input) -> [Id; 3] {
        self.used.insert(input.variable);
        let loaded = self.emit(Op::Load, input.vector, vec![Operand::IdRef(input.variable)]);
        self.extract(loaded, input.component)
    }

    fn extract(&mut self, vector: Id, component: Id) -> [Id; 3] {
        let part = |axis| vec![Operand::IdRef(vector), Operand::LiteralBit32(axis)];
        [0, 1, 2].map(|axis| self.emit(Op::CompositeExtract, component, part(axis)))
    }

    fn size(&mut self, size: LocalSize, types: &Types) -> [Id; 3] {
        match size {
            LocalSize::Literals(values) => values.map(|value| self.draft.uint_constant(value)),
            LocalSize::Constants(ids) => ids,
            LocalSize::WorkgroupSize(constant) => {
                let ty = self
                    .draft
                    .declarations
                    .iter()
                    .find(|i| i.result == Some(constant))
                    .and_then(|i| i.result_type);
                let uint = self.draft.uint_type();
                let component = ty.and_then(|ty| component(types, ty)).unwrap_or(uint);
                self.extract(constant, component)
            }
        }
    }

    /// A word of the buffer.
    fn read(&mut self, buffer: Buffer, index: Id) -> Id {
        let member = self.draft.uint_constant(0);
        let chain = [buffer.variable, member, index].map(Operand::IdRef).to_vec();
        let place = self.emit(Op::AccessChain, buffer.word, chain);
        let uint = self.draft.uint_type();
        self.emit(Op::Load, uint, vec![Operand::IdRef(place)])
    }

    /// The workgroup that the buffer puts in the place of the hardware's.
    fn permuted(&mut self, [x, y, z]: [Id; 3], buffer: Buffer) -> [Id; 3] {
        let [first, second, header] =
            [0, 1, PERMUTATION_HEADER as u32].map(|value| self.draft.uint_constant(value));
        let (width, height) = (self.read(buffer, first), self.read(buffer, second));
        let planes = self.word(Op::IMul, z, height);
        let rows = self.word(Op::IAdd, planes, y);
        let cells = self.word(Op::IMul, rows, width);
        let linear = self.word(Op::IAdd, cells, x);
        let index = self.word(Op::IAdd, linear, header);
        let other = self.read(buffer, index);
        let rest = self.word(Op::UDiv, other, width);
        [
            self.word(Op::UMod, other, width),
            self.word(Op::UMod, rest, height),
            self.word(Op::UDiv, rest, height),
        ]
    }

    fn store(&mut self, row: &Replaced, component: Id, values: [Id; 3]) {
        let uint = self.draft.uint_type();
        let parts = values.map(|value| match component == uint {
            true => value,
            false => self.emit(Op::Bitcast, component, vec![Operand::IdRef(value)]),
        });
        let vector =
            self.emit(Op::CompositeConstruct, row.vector, parts.map(Operand::IdRef).to_vec());
        let operands = [row.private, vector].map(Operand::IdRef).to_vec();
        self.code.push(new_instruction(Op::Store, None, None, operands));
    }
}
