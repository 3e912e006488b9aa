//! The state of a decoder, and the registers, basic blocks and instructions that it makes.

use super::barriers::functions_with_barrier;
use super::float_controls::FloatTreatment;
use super::layout::{MemoryArrangement, ScalarKind};
use super::unsupported::{Unsupported, unsupported};
use super::value::{DecodedValue, Pointer};
use crate::decode::layout;
use crate::ir::*;
use crate::settings::variation::Expansion;
use rspirv::spirv::Op;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_model::records::MarkerTable;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::LocalSize;
use vkcert_spirv::module::{Id, Instruction, Module};
use vkcert_spirv::types::Types;

/// Most scalars of one value in registers.
const MOST_VALUE_SCALARS: usize = 4096;

/// A function being inlined.
pub(crate) struct InlineFrame {
    pub(crate) values: FxHashMap<Id, DecodedValue>,
    pub(crate) labels: FxHashMap<Id, u32>,
    /// Position of each block in the order of emission.
    pub(crate) order_positions: FxHashMap<Id, usize>,
    /// Position of each block in its function.
    pub(crate) block_numbers: FxHashMap<Id, usize>,
    /// By loop header: the extent in that order and the iteration counter.
    pub(crate) counted_loops: Vec<(Id, std::ops::Range<usize>, Reg)>,
    pub(crate) return_label: Option<u32>,
    pub(crate) result_scalars: Arc<[Scalar]>,
    /// Label of the block being decoded.
    pub(crate) current_block: Id,
    /// Counters of the loops around the call.
    pub(crate) outer_counters: Vec<Reg>,
    /// The phis of each block, by its label.
    pub(crate) phis_by_block: FxHashMap<Id, Vec<Id>>,
}

pub(crate) struct Decoder<'a> {
    pub module: &'a Module,
    pub types: Types,
    pub constants: Constants,
    pub markers: Option<&'a MarkerTable>,
    /// [`DispatchFacts::bound_lengths`]
    pub(crate) bound_lengths: Option<&'a BTreeMap<(u32, u32), u32>>,
    pub program: Program,
    pub(crate) frames: Vec<InlineFrame>,
    pub(crate) global_values: FxHashMap<Id, DecodedValue>,
    /// Variables that need an address.
    pub(crate) addressed_variables: FxHashSet<Id>,
    pub(crate) functions_with_barrier: FxHashSet<Id>,
    block_instructions: Vec<LocatedInstruction>,
    pub(crate) total_instructions: usize,
    current_label: u32,
    /// Source index at which the current block begins.
    block_start: u32,
    next_label: u32,
    pub source_index: u32,
    /// How the instruction being decoded treats floats.
    pub float_treatment: FloatTreatment,
    pub address_alignments: AddressAlignments,
    pub(crate) uniforms: BTreeMap<UniformValue, Reg>,
    pub(crate) uniform_masks: BTreeMap<bool, Reg>,
    pub(crate) per_lane: BTreeMap<PerLaneValue, Reg>,
    /// Labels of emitted blocks, in order.
    pub(crate) emitted_labels: Vec<u32>,
    pub(crate) sum_registers: BTreeMap<u32, Reg>,
    /// Indexes of the program's descriptors by set, binding, array index and name.
    pub(crate) descriptor_numbers: BTreeMap<(u32, u32, u32, String), u32>,
    /// Float comparisons of the conditions of decisions with several, by slot.
    pub decision_comparisons: BTreeMap<u32, Vec<RecordedComparison>>,
    /// Float comparisons by result id, in the current frame.
    pub comparisons: FxHashMap<(usize, Id), RecordedComparison>,
    pub written_descriptors: BTreeSet<u32>,
    pub atomic_descriptors: BTreeSet<u32>,
    /// Bytes where each variable of workgroup memory begins, and its words; a block has all.
    pub workgroup_variables: Vec<[u32; 2]>,
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// The strongest use of variable pointers.
    pub pointer_use: Addressing,
    /// Memory arrangement of what variable pointers point to, by its type.
    pub pointed_layouts: BTreeMap<Id, MemoryArrangement>,
    /// In which order determinants are computed.
    pub expansion: Expansion,
    /// Private variables with their initial values.
    pub(crate) initializers: Vec<(Pointer, Id)>,
    /// Ids that are operands of instructions in functions; computed when first needed.
    used_operands: OnceCell<FxHashSet<Id>>,
}

/// How device addresses of blocks must be aligned.
#[derive(Debug, Default)]
pub(crate) struct AddressAlignments {
    /// By name of the block, from the source text that the module carries; none until first needed.
    pub(crate) declared: Option<BTreeMap<String, u32>>,
    /// By the low word of an address that leads to a block.
    pub alignments: FxHashMap<Reg, u32>,
}

/// Variables with a dynamic index anywhere, also through a parameter. They need an address, because
/// registers cannot be indexed.
fn addressed_variables(module: &Module) -> FxHashSet<Id> {
    let is_constant =
        |id: Id| module.definition(id).is_some_and(|definition| definition.op.is_constant());
    let mut addressed_variables = FxHashSet::default();
    // Each derived pointer with the pointer that it is derived from.
    let mut base_of_derived: Vec<(Id, Id)> = Vec::new();
    for instruction in &module.instructions {
        match (instruction.op, instruction.id(0), instruction.result) {
            (Op::AccessChain | Op::InBoundsAccessChain, Some(base_pointer), Some(result)) => {
                if instruction.ids().skip(1).all(is_constant) {
                    base_of_derived.push((result, base_pointer));
                } else {
                    addressed_variables.insert(base_pointer);
                }
            }
            (Op::CopyObject, Some(base_pointer), Some(result)) => {
                base_of_derived.push((result, base_pointer))
            }
            (Op::FunctionCall, Some(callee), _) => {
                if let Some(function) = module.function_by_id(callee) {
                    base_of_derived
                        .extend(function.parameters.iter().copied().zip(instruction.ids().skip(1)));
                }
            }
            _ => {}
        }
    }
    loop {
        let earlier_count = addressed_variables.len();
        for (derived_pointer, base_pointer) in &base_of_derived {
            if addressed_variables.contains(derived_pointer) {
                addressed_variables.insert(*base_pointer);
            }
        }
        if addressed_variables.len() == earlier_count {
            return addressed_variables;
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
            bound_lengths: None,
            program: Program { granule: 4, ..Program::default() },
            frames: Vec::new(),
            global_values: FxHashMap::default(),
            addressed_variables: addressed_variables(module),
            functions_with_barrier: functions_with_barrier(module),
            block_instructions: Vec::new(),
            total_instructions: 0,
            current_label: 0,
            block_start: 0,
            next_label: 0,
            source_index: 0,
            float_treatment: FloatTreatment::default(),
            address_alignments: AddressAlignments::default(),
            uniforms: BTreeMap::new(),
            uniform_masks: BTreeMap::new(),
            per_lane: BTreeMap::new(),
            emitted_labels: Vec::new(),
            sum_registers: BTreeMap::new(),
            descriptor_numbers: BTreeMap::new(),
            decision_comparisons: BTreeMap::new(),
            comparisons: FxHashMap::default(),
            written_descriptors: BTreeSet::new(),
            atomic_descriptors: BTreeSet::new(),
            workgroup_variables: Vec::new(),
            subgroup_size: 0,
            pointer_use: Addressing::Reads,
            pointed_layouts: BTreeMap::new(),
            expansion: Expansion::default(),
            initializers: Vec::new(),
            used_operands: OnceCell::new(),
        }
    }

    pub(crate) fn local_size(&self, entry: Id) -> Result<[u32; 3], Unsupported> {
        let declared_size = LocalSize::of_entry_point(self.module, entry);
        let declared_size =
            declared_size.ok_or_else(|| unsupported("an entry point without a local size"))?;
        declared_size.evaluated_words(&self.constants).ok_or_else(|| match declared_size {
            LocalSize::WorkgroupSize(_) => unsupported("a WorkgroupSize that is no constant"),
            LocalSize::Constants(_) | LocalSize::Literals(_) => {
                unsupported("a LocalSizeId that is no constant")
            }
        })
    }

    /// Whether some instruction of a function has this result as an operand.
    pub(crate) fn is_used(&self, result_id: Id) -> bool {
        let body_instructions = self
            .module
            .functions
            .iter()
            .flat_map(|function| self.module.instructions_in(function.range));
        self.used_operands
            .get_or_init(|| body_instructions.flat_map(Instruction::ids).collect())
            .contains(&result_id)
    }

    pub(crate) fn new_word(&mut self) -> Reg {
        self.program.words += 1;
        Reg(self.program.words - 1)
    }

    pub(crate) fn new_mask(&mut self) -> Reg {
        self.program.masks += 1;
        Reg(self.program.masks - 1)
    }

    pub(crate) fn new_scalar(&mut self, kind: ScalarKind) -> Scalar {
        match kind {
            ScalarKind::Word => Scalar::Word(self.new_word()),
            ScalarKind::Mask => Scalar::Mask(self.new_mask()),
        }
    }

    /// Fresh registers for a value of a type.
    pub(crate) fn new_registers(&mut self, type_id: Id) -> Result<Arc<[Scalar]>, Unsupported> {
        let kinds = self.scalar_kinds(type_id)?;
        Ok(kinds.iter().map(|kind| self.new_scalar(*kind)).collect())
    }

    pub(crate) fn scalar_kinds(&self, type_id: Id) -> Result<Vec<ScalarKind>, Unsupported> {
        let kinds = layout::scalar_kinds(&self.types, &self.constants, type_id)?;
        if kinds.len() > MOST_VALUE_SCALARS {
            return Err(unsupported(format!("a value of {} scalars", kinds.len())));
        }
        Ok(kinds)
    }

    pub(crate) fn uniform_register(&mut self, uniform_value: UniformValue) -> Reg {
        if let Some(reg) = self.uniforms.get(&uniform_value) {
            return *reg;
        }
        let reg = self.new_word();
        self.uniforms.insert(uniform_value, reg);
        reg
    }

    pub(crate) fn constant_word(&mut self, value: u32) -> Reg {
        self.uniform_register(UniformValue::Constant(value))
    }

    pub(crate) fn constant_mask(&mut self, value: bool) -> Reg {
        if let Some(reg) = self.uniform_masks.get(&value) {
            return *reg;
        }
        let reg = self.new_mask();
        self.uniform_masks.insert(value, reg);
        reg
    }

    pub(crate) fn lane_register(&mut self, lane_value: PerLaneValue) -> Reg {
        if let Some(reg) = self.per_lane.get(&lane_value) {
            return *reg;
        }
        let reg = self.new_word();
        self.per_lane.insert(lane_value, reg);
        reg
    }

    /// The sum register of a decision with several conditions.
    pub(crate) fn sum_register(&mut self, decision_slot: u32) -> Reg {
        if let Some(reg) = self.sum_registers.get(&decision_slot) {
            return *reg;
        }
        let reg = self.new_word();
        self.sum_registers.insert(decision_slot, reg);
        reg
    }
    pub(crate) fn current_frame(&mut self) -> &mut InlineFrame {
        self.frames.last_mut().expect("decoding happens inside a function")
    }

    pub(crate) fn call_depth(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn define_result(&mut self, instruction: &Instruction, value: DecodedValue) {
        if let Some(id) = instruction.result {
            self.current_frame().values.insert(id, value);
        }
    }

    /// The instruction that is decoded.
    pub(crate) fn current_instruction(&self) -> Option<&Instruction> {
        self.module.instructions.get(self.source_index as usize)
    }

    pub(crate) fn push_instruction(&mut self, action: LaneInstruction) {
        self.block_instructions.push(LocatedInstruction {
            instruction: action,
            source_index: self.source_index,
            operands_to_check: Box::default(),
            may_be_undefined: false,
        });
        self.total_instructions += 1;
    }

    pub(crate) fn new_label(&mut self) -> u32 {
        self.next_label += 1;
        self.next_label - 1
    }

    pub(crate) fn begin_block(&mut self, label: u32) {
        self.current_label = label;
        self.block_start = self.source_index;
    }

    pub(crate) fn finish_block(&mut self, terminator: Terminator) {
        let steps = std::mem::take(&mut self.block_instructions);
        let label = self.frames.last().map_or(0, |frame| frame.current_block);
        self.emitted_labels.push(self.current_label);
        self.program.blocks.push(BasicBlock {
            steps,
            terminator,
            source_index: self.source_index,
            source_range: (self.block_start as usize..self.source_index as usize + 1).into(),
            operands_to_check: Box::default(),
            label,
        });
    }

    pub(crate) fn enclosing_counters(&self) -> Vec<Reg> {
        let Some(frame) = self.frames.last() else { return Vec::new() };
        let position = frame.order_positions[&frame.current_block];
        let own_counters = frame
            .counted_loops
            .iter()
            .filter(|(_, range, _)| range.contains(&position))
            .map(|(_, _, reg)| *reg);
        frame.outer_counters.iter().copied().chain(own_counters).collect()
    }

    /// Copies scalar by scalar; `targets` and `sources` must not overlap.
    pub(crate) fn copy_all(
        &mut self,
        targets: &[Scalar],
        sources: &[Scalar],
    ) -> Result<(), Unsupported> {
        for (target, source) in targets.iter().zip(sources) {
            let action = match (target, source) {
                (Scalar::Word(to), Scalar::Word(from)) => {
                    LaneInstruction::Copy { to: *to, from: *from }
                }
                (Scalar::Mask(to), Scalar::Mask(from)) => {
                    LaneInstruction::CopyMask { to: *to, from: *from }
                }
                _ => return Err(unsupported("a copy between numbers and Booleans")),
            };
            self.push_instruction(action);
        }
        Ok(())
    }

    /// The name of a variable, for messages.
    pub(crate) fn variable_name(&self, id: Id) -> Arc<str> {
        match self.module.debug_name(id).filter(|name| !name.is_empty()) {
            Some(name) => name.into(),
            None => format!("%{id}").into(),
        }
    }
}
