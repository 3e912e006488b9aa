//! What an entry point does first: it computes the ids of the workgroup that it stands for.

use super::{
    GroupId, NotPermuted, PERMUTATION_HEADER, ReplacedVariable, extend_interfaces,
    first_instruction,
};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op};
use std::collections::BTreeSet;
use vkcert_spirv::interface::LocalSize;
use vkcert_spirv::module::{EntryPoint, Id, Instruction, Module};
use vkcert_spirv::rewrite::{InstructionEdits, ModuleDraft, new_instruction};
use vkcert_spirv::types::{Type, Types};

/// The type of the components of a vector of three 32-bit integers.
pub(super) fn vector_component(types: &Types, vector: Id) -> Option<Id> {
    match types.get(vector)? {
        Type::Vector { component, count: 3 } => {
            matches!(types.get(*component), Some(Type::Int { width: 32, .. })).then_some(*component)
        }
        _ => None,
    }
}

/// The code of every entry point's function, before its first instruction.
pub(super) fn entry_prologues(
    module: &Module,
    types: &Types,
    draft: &mut ModuleDraft,
    replaced_variables: &[ReplacedVariable],
    descriptor_place: (u32, u32),
) -> Result<InstructionEdits, NotPermuted> {
    let buffer = declare_buffer(draft, descriptor_place);
    let mut inputs = HardwareInputs { module, types, made: Vec::new() };
    let mut edits = InstructionEdits::default();
    let mut begun_functions = BTreeSet::new();
    for point in &module.entry_points {
        let function = module.function_by_id(point.function);
        let first_index = function.and_then(|function| first_instruction(module, function));
        let first_index =
            first_index.ok_or_else(|| NotPermuted::NoBody { name: point.name.clone() })?;
        if !begun_functions.insert(first_index) {
            continue;
        }
        let local_size = LocalSize::of_entry_point(module, point.function);
        let local_size =
            local_size.ok_or_else(|| NotPermuted::NoLocalSize { name: point.name.clone() })?;
        let mut prologue = PrologueWriter { draft, code: Vec::new(), used: BTreeSet::new() };
        prologue.write_ids(&mut inputs, point, buffer, local_size, replaced_variables, types);
        let PrologueWriter { code, mut used, .. } = prologue;
        if module.header.version() >= (1, 4) {
            used.extend(replaced_variables.iter().map(|row| row.private).chain([buffer.variable]));
        }
        extend_interfaces(draft, point.function, &used);
        edits.insert_before(first_index, code);
    }
    Ok(edits)
}

/// The buffer that holds counts and permutation.
#[derive(Debug, Clone, Copy)]
struct PermutationBuffer {
    variable: Id,
    /// Pointer to a word of it.
    word: Id,
}

fn declare_buffer(draft: &mut ModuleDraft, (set, binding): (u32, u32)) -> PermutationBuffer {
    let words = draft.word_array();
    let block = draft.storage_block(words, set, binding);
    draft.decorate(block.variable, vec![Operand::Decoration(Decoration::NonWritable)]);
    draft.add_name(block.variable, "vkcert_schedule");
    let uint = draft.uint_type();
    PermutationBuffer { variable: block.variable, word: draft.pointer_type(block.class, uint) }
}

/// The hardware's own ids.
struct HardwareInputs<'a> {
    module: &'a Module,
    types: &'a Types,
    /// Variables that the module did not have.
    made: Vec<(BuiltIn, BuiltInInput)>,
}

/// An input variable with the type of its vector and of its components.
#[derive(Debug, Clone, Copy)]
struct BuiltInInput {
    variable: Id,
    vector: Id,
    component: Id,
}

impl HardwareInputs<'_> {
    /// A variable as an input, if it is a vector.
    fn vector_input(&self, variable: Id) -> Option<BuiltInInput> {
        let pointer = self.module.definition(variable)?.result_type?;
        let vector = self.types.pointee(pointer)?;
        Some(BuiltInInput { variable, vector, component: vector_component(self.types, vector)? })
    }

    /// The variable of an entry point, else of another, else a new one.
    fn find_input(
        &mut self,
        built_in: BuiltIn,
        entry_point: &EntryPoint,
        draft: &mut ModuleDraft,
    ) -> BuiltInInput {
        let all_variables = self
            .module
            .instructions
            .iter()
            .filter(|instruction| instruction.op == Op::Variable)
            .filter_map(|instruction| instruction.result);
        let existing_inputs = entry_point.interface.iter().copied().chain(all_variables);
        let mut existing_inputs = existing_inputs
            .filter(|id| super::built_in(self.module, *id) == Some(built_in))
            .filter_map(|id| self.vector_input(id));
        let made_input = self.made.iter().find(|(of, _)| *of == built_in).map(|(_, input)| *input);
        existing_inputs.next().or(made_input).unwrap_or_else(|| {
            let component = draft.uint_type();
            let vector = draft.declare_type(
                Op::TypeVector,
                vec![Operand::IdRef(component), Operand::LiteralBit32(3)],
            );
            let variable = draft.built_in(built_in, vector);
            let input = BuiltInInput { variable, vector, component };
            self.made.push((built_in, input));
            input
        })
    }
}

/// The code of one entry point.
struct PrologueWriter<'a> {
    draft: &'a mut ModuleDraft,
    code: Vec<Instruction>,
    /// Input variables that it reads.
    used: BTreeSet<Id>,
}

impl PrologueWriter<'_> {
    fn write_ids(
        &mut self,
        inputs: &mut HardwareInputs,
        entry_point: &EntryPoint,
        buffer: PermutationBuffer,
        size: LocalSize,
        replaced: &[ReplacedVariable],
        types: &Types,
    ) {
        let hardware = inputs.find_input(BuiltIn::WorkgroupId, entry_point, self.draft);
        let hardware = self.input_components(hardware);
        let group = self.permuted_group(hardware, buffer);
        let global = replaced.iter().any(|row| row.of == GroupId::Global).then(|| {
            let local = inputs.find_input(BuiltIn::LocalInvocationId, entry_point, self.draft);
            let local = self.input_components(local);
            let size = self.local_size(size, types);
            std::array::from_fn(|axis| {
                let start = self.combined_word(Op::IMul, group[axis], size[axis]);
                self.combined_word(Op::IAdd, start, local[axis])
            })
        });
        for row in replaced {
            let values = match row.of {
                GroupId::Workgroup => group,
                GroupId::Global => global.expect("one of them is global"),
            };
            let component = vector_component(types, row.vector).expect("asked when it was found");
            self.store_private(row, component, values);
        }
    }

    fn emit(&mut self, op: Op, type_id: Id, operands: Vec<Operand>) -> Id {
        let result_id = self.draft.fresh_id();
        self.code.push(new_instruction(op, Some(type_id), Some(result_id), operands));
        result_id
    }

    /// An unsigned word from two. Integer arithmetic takes operands of either sign.
    fn combined_word(&mut self, op: Op, left: Id, right: Id) -> Id {
        let uint = self.draft.uint_type();
        self.emit(op, uint, vec![Operand::IdRef(left), Operand::IdRef(right)])
    }

    fn input_components(&mut self, input: BuiltInInput) -> [Id; 3] {
        self.used.insert(input.variable);
        let loaded = self.emit(Op::Load, input.vector, vec![Operand::IdRef(input.variable)]);
        self.extract_components(loaded, input.component)
    }

    fn extract_components(&mut self, vector: Id, component_type: Id) -> [Id; 3] {
        let part_operands = |axis| vec![Operand::IdRef(vector), Operand::LiteralBit32(axis)];
        [0, 1, 2].map(|axis| self.emit(Op::CompositeExtract, component_type, part_operands(axis)))
    }

    fn local_size(&mut self, local_size: LocalSize, types: &Types) -> [Id; 3] {
        match local_size {
            LocalSize::Literals(values) => values.map(|value| self.draft.uint_constant(value)),
            LocalSize::Constants(ids) => ids,
            LocalSize::WorkgroupSize(constant) => {
                let ty = self
                    .draft
                    .declarations
                    .iter()
                    .find(|instruction| instruction.result == Some(constant))
                    .and_then(|instruction| instruction.result_type);
                let uint = self.draft.uint_type();
                let component = ty.and_then(|ty| vector_component(types, ty)).unwrap_or(uint);
                self.extract_components(constant, component)
            }
        }
    }

    /// A word of the buffer.
    fn buffer_word(&mut self, buffer: PermutationBuffer, index: Id) -> Id {
        let member = self.draft.uint_constant(0);
        let chain_operands = [buffer.variable, member, index].map(Operand::IdRef).to_vec();
        let word_pointer = self.emit(Op::AccessChain, buffer.word, chain_operands);
        let uint = self.draft.uint_type();
        self.emit(Op::Load, uint, vec![Operand::IdRef(word_pointer)])
    }

    /// The workgroup that the buffer puts in the place of the hardware's.
    fn permuted_group(&mut self, [x, y, z]: [Id; 3], buffer: PermutationBuffer) -> [Id; 3] {
        let [width_index, height_index, header_length] =
            [0, 1, PERMUTATION_HEADER as u32].map(|value| self.draft.uint_constant(value));
        let (width, height) =
            (self.buffer_word(buffer, width_index), self.buffer_word(buffer, height_index));
        let plane_rows = self.combined_word(Op::IMul, z, height);
        let row_number = self.combined_word(Op::IAdd, plane_rows, y);
        let cells_before = self.combined_word(Op::IMul, row_number, width);
        let linear_index = self.combined_word(Op::IAdd, cells_before, x);
        let table_index = self.combined_word(Op::IAdd, linear_index, header_length);
        let permuted_index = self.buffer_word(buffer, table_index);
        let permuted_row = self.combined_word(Op::UDiv, permuted_index, width);
        [
            self.combined_word(Op::UMod, permuted_index, width),
            self.combined_word(Op::UMod, permuted_row, height),
            self.combined_word(Op::UDiv, permuted_row, height),
        ]
    }

    fn store_private(&mut self, row: &ReplacedVariable, component_type: Id, group_values: [Id; 3]) {
        let uint = self.draft.uint_type();
        let vector_parts = group_values.map(|value| match component_type == uint {
            true => value,
            false => self.emit(Op::Bitcast, component_type, vec![Operand::IdRef(value)]),
        });
        let vector = self.emit(
            Op::CompositeConstruct,
            row.vector,
            vector_parts.map(Operand::IdRef).to_vec(),
        );
        let operands = [row.private, vector].map(Operand::IdRef).to_vec();
        self.code.push(new_instruction(Op::Store, None, None, operands));
    }
}
