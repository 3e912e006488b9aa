//! The state of a decoder, and the registers, blocks and instructions that it makes.

use super::barriers::functions_with_barrier;
use super::float_controls::Floats;
use super::layout::{Arrangement, Kind};
use super::unsupported::{Unsupported, unsupported};
use super::value::{Pointer, Value};
use crate::decode::layout;
use crate::ir::*;
use crate::settings::variation::Expansion;
use rspirv::spirv::Op;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use vkcert_model::records::MarkerTable;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::LocalSize;
use vkcert_spirv::module::{Id, Instruction, Module};
use vkcert_spirv::types::Types;

/// Most scalars of one value in registers.
const MOST_SCALARS: usize = 4096;

/// A function being inlined.
pub(crate) struct Frame {
    pub(crate) values: HashMap<Id, Value>,
    pub(crate) labels: HashMap<Id, u32>,
    /// Position of each block in the order of emission.
    pub(crate) positions: HashMap<Id, usize>,
    /// Position of each block in its function.
    pub(crate) blocks: HashMap<Id, usize>,
    /// By loop header: the extent in that order and the iteration counter.
    pub(crate) loops: Vec<(Id, std::ops::Range<usize>, Reg)>,
    pub(crate) return_to: Option<u32>,
    pub(crate) result: Arc<[Scalar]>,
    /// Label of the block being decoded.
    pub(crate) block: Id,
    /// Counters of the loops around the call.
    pub(crate) around: Vec<Reg>,
    /// Where the current function's blocks with phis get their values.
    pub(crate) phis: HashMap<Id, Vec<Id>>,
}

pub(crate) struct Decoder<'a> {
    pub module: &'a Module,
    pub types: Types,
    pub constants: Constants,
    pub markers: Option<&'a MarkerTable>,
    /// [`Known::bound`]
    pub(crate) bound: BTreeMap<(u32, u32), u32>,
    pub program: Program,
    pub(crate) frames: Vec<Frame>,
    pub(crate) globals: HashMap<Id, Value>,
    /// Variables that need an address.
    pub(crate) addressed: HashSet<Id>,
    pub(crate) with_barrier: HashSet<Id>,
    steps: Vec<LocatedInstruction>,
    pub(crate) total_steps: usize,
    label: u32,
    next_label: u32,
    pub place: u32,
    /// How the instruction being decoded treats floats.
    pub floats: Floats,
    pub references: References,
    pub(crate) uniforms: BTreeMap<UniformValue, Reg>,
    pub(crate) uniform_masks: BTreeMap<bool, Reg>,
    pub(crate) per_lane: BTreeMap<PerLaneValue, Reg>,
    /// Labels of emitted blocks, in order.
    pub(crate) emitted: Vec<u32>,
    pub(crate) sums: BTreeMap<u32, Reg>,
    /// Indexes of the program's descriptors by set, binding, array index and name.
    pub(crate) descriptor_numbers: BTreeMap<(u32, u32, u32, String), u32>,
    /// Float comparisons of the conditions of decisions with several, by slot.
    pub compared: BTreeMap<u32, Vec<RecordedComparison>>,
    /// Float comparisons by result id, in the current frame.
    pub comparisons: HashMap<(usize, Id), RecordedComparison>,
    pub written: BTreeSet<u32>,
    pub atomics: BTreeSet<u32>,
    /// Bytes where each variable of workgroup memory begins, and its words; a block has all.
    pub workgroup_places: Vec<[u32; 2]>,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// What is done through variable pointers.
    pub pointed: Addressing,
    /// How what such pointers point to lies in memory, by its type; where it is or was part of a
    /// matrix.
    pub pointed_layouts: BTreeMap<Id, Arrangement>,
    /// In which order determinants are computed.
    pub expansion: Expansion,
    /// Private variables with their initial values.
    pub(crate) initializers: Vec<(Pointer, Id)>,
    /// Operands of the instructions in functions; asked for by few modules.
    used: OnceCell<HashSet<Id>>,
}

/// How device addresses of blocks must be aligned.
#[derive(Debug, Default)]
pub(crate) struct References {
    /// By name of the block, as the source text that the module carries says; none before anybody
    /// asks.
    pub(crate) declared: Option<BTreeMap<String, u32>>,
    /// By the low word of an address that leads to a block.
    pub alignments: HashMap<Reg, u32>,
}

/// Variables that are indexed dynamically somewhere, also through a parameter: they need an
/// address.
fn addressed(module: &Module) -> HashSet<Id> {
    let constant = |id: Id| module.definition(id).is_some_and(|one| one.op.is_constant());
    let mut found = HashSet::new();
    // From a derived pointer to the one it comes from.
    let mut comes_from: Vec<(Id, Id)> = Vec::new();
    for instruction in &module.instructions {
        match (instruction.op, instruction.id(0), instruction.result) {
            (Op::AccessChain | Op::InBoundsAccessChain, Some(base), Some(result)) => {
                if instruction.ids().skip(1).all(constant) {
                    comes_from.push((result, base));
                } else {
                    found.insert(base);
                }
            }
            (Op::CopyObject, Some(base), Some(result)) => comes_from.push((result, base)),
            (Op::FunctionCall, Some(callee), _) => {
                if let Some(function) = module.function_by_id(callee) {
                    comes_from
                        .extend(function.parameters.iter().copied().zip(instruction.ids().skip(1)));
                }
            }
            _ => {}
        }
    }
    loop {
        let before = found.len();
        for (derived, base) in &comes_from {
            if found.contains(derived) {
                found.insert(*base);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(
        module: &'a Module,
        types: Types,
        constants: Constants,
        markers: Option<&'a MarkerTable>,
    ) -> Self {
        Self {
            module,
            types,
            constants,
            markers,
            bound: BTreeMap::new(),
            program: Program { granule: 4, ..Program::default() },
            frames: Vec::new(),
            globals: HashMap::new(),
            addressed: addressed(module),
            with_barrier: functions_with_barrier(module),
            steps: Vec::new(),
            total_steps: 0,
            label: 0,
            next_label: 0,
            place: 0,
            floats: Floats::default(),
            references: References::default(),
            uniforms: BTreeMap::new(),
            uniform_masks: BTreeMap::new(),
            per_lane: BTreeMap::new(),
            emitted: Vec::new(),
            sums: BTreeMap::new(),
            descriptor_numbers: BTreeMap::new(),
            compared: BTreeMap::new(),
            comparisons: HashMap::new(),
            written: BTreeSet::new(),
            atomics: BTreeSet::new(),
            workgroup_places: Vec::new(),
            subgroup_size: 0,
            pointed: Addressing::Reads,
            pointed_layouts: BTreeMap::new(),
            expansion: Expansion::default(),
            initializers: Vec::new(),
            used: OnceCell::new(),
        }
    }

    pub(crate) fn local_size(&self, entry: Id) -> Result<[u32; 3], Unsupported> {
        let declared = LocalSize::of_entry_point(self.module, entry);
        let declared =
            declared.ok_or_else(|| unsupported("an entry point without a local size"))?;
        declared.evaluated_words(&self.constants).ok_or_else(|| match declared {
            LocalSize::WorkgroupSize(_) => unsupported("a WorkgroupSize that is no constant"),
            LocalSize::Constants(_) | LocalSize::Literals(_) => {
                unsupported("a LocalSizeId that is no constant")
            }
        })
    }

    /// Whether some instruction of a function has this result as an operand.
    pub(crate) fn is_used(&self, result: Id) -> bool {
        let bodies = self
            .module
            .functions
            .iter()
            .flat_map(|function| self.module.instructions_in(function.range));
        self.used.get_or_init(|| bodies.flat_map(Instruction::ids).collect()).contains(&result)
    }

    pub(crate) fn word(&mut self) -> Reg {
        self.program.words += 1;
        Reg(self.program.words - 1)
    }

    pub(crate) fn mask(&mut self) -> Reg {
        self.program.masks += 1;
        Reg(self.program.masks - 1)
    }

    pub(crate) fn scalar(&mut self, kind: Kind) -> Scalar {
        match kind {
            Kind::Word => Scalar::Word(self.word()),
            Kind::Mask => Scalar::Mask(self.mask()),
        }
    }

    /// Fresh registers for a value of a type.
    pub(crate) fn fresh(&mut self, ty: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        let kinds = self.kinds(ty)?;
        Ok(kinds.iter().map(|kind| self.scalar(*kind)).collect())
    }

    pub(crate) fn kinds(&self, ty: Id) -> Result<Vec<Kind>, Unsupported> {
        let kinds = layout::kinds(&self.types, &self.constants, ty)?;
        if kinds.len() > MOST_SCALARS {
            return Err(unsupported(format!("a value of {} scalars", kinds.len())));
        }
        Ok(kinds)
    }

    pub(crate) fn uniform(&mut self, uniform: UniformValue) -> Reg {
        if let Some(reg) = self.uniforms.get(&uniform) {
            return *reg;
        }
        let reg = self.word();
        self.uniforms.insert(uniform, reg);
        reg
    }

    pub(crate) fn constant_word(&mut self, value: u32) -> Reg {
        self.uniform(UniformValue::Constant(value))
    }

    pub(crate) fn constant_mask(&mut self, value: bool) -> Reg {
        if let Some(reg) = self.uniform_masks.get(&value) {
            return *reg;
        }
        let reg = self.mask();
        self.uniform_masks.insert(value, reg);
        reg
    }

    pub(crate) fn lane_register(&mut self, what: PerLaneValue) -> Reg {
        if let Some(reg) = self.per_lane.get(&what) {
            return *reg;
        }
        let reg = self.word();
        self.per_lane.insert(what, reg);
        reg
    }

    /// The sum register of a decision with several conditions.
    pub(crate) fn sum(&mut self, slot: u32) -> Reg {
        if let Some(reg) = self.sums.get(&slot) {
            return *reg;
        }
        let reg = self.word();
        self.sums.insert(slot, reg);
        reg
    }
    pub(crate) fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("decoding happens inside a function")
    }

    pub(crate) fn depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn define(&mut self, instruction: &Instruction, value: Value) {
        if let Some(id) = instruction.result {
            self.frame().values.insert(id, value);
        }
    }

    /// The instruction that is decoded.
    pub(crate) fn instruction(&self) -> Option<&Instruction> {
        self.module.instructions.get(self.place as usize)
    }

    pub(crate) fn push(&mut self, action: LaneInstruction) {
        self.steps.push(LocatedInstruction {
            instruction: action,
            source_index: self.place,
            operands_to_check: Box::default(),
            may_be_undefined: false,
        });
        self.total_steps += 1;
    }

    pub(crate) fn new_label(&mut self) -> u32 {
        self.next_label += 1;
        self.next_label - 1
    }

    pub(crate) fn begin(&mut self, label: u32) {
        self.label = label;
    }

    pub(crate) fn finish(&mut self, terminator: Terminator) {
        let steps = std::mem::take(&mut self.steps);
        let label = self.frames.last().map_or(0, |frame| frame.block);
        self.emitted.push(self.label);
        self.program.blocks.push(BasicBlock {
            steps,
            terminator,
            source_index: self.place,
            operands_to_check: Box::default(),
            label,
        });
    }

    pub(crate) fn counters_here(&self) -> Vec<Reg> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let position = frame.positions[&frame.block];
        let mut counters = frame.around.clone();
        counters.extend(
            frame
                .loops
                .iter()
                .filter(|(_, range, _)| range.contains(&position))
                .map(|(_, _, reg)| *reg),
        );
        counters
    }

    /// Copies one by one; `to` and `from` must not overlap.
    pub(crate) fn copy_all(&mut self, to: &[Scalar], from: &[Scalar]) -> Result<(), Unsupported> {
        for (to, from) in to.iter().zip(from) {
            let action = match (to, from) {
                (Scalar::Word(to), Scalar::Word(from)) => {
                    LaneInstruction::Copy { to: *to, from: *from }
                }
                (Scalar::Mask(to), Scalar::Mask(from)) => {
                    LaneInstruction::CopyMask { to: *to, from: *from }
                }
                _ => return Err(unsupported("a copy between numbers and Booleans")),
            };
            self.push(action);
        }
        Ok(())
    }

    /// The name of a variable, for messages.
    pub(crate) fn name(&self, id: Id) -> Arc<str> {
        match self.module.debug_name(id).filter(|name| !name.is_empty()) {
            Some(name) => name.into(),
            None => format!("%{id}").into(),
        }
    }
}
