//! Which blocks may be executed by some invocations of a workgroup and not by others.
//!
//! Knows: where values come from that differ between invocations of one workgroup (invocation and
//! subgroup ids, memory that the kernel writes, atomics, subgroup operations), and how they spread
//! through values, variables, parameters, returns and control flow. Workgroup id, push constants,
//! uniform buffers, specialization constants and storage buffers that the kernel does not write are
//! the same for all invocations of a workgroup.
//! Promises: conservative. A block that is not reported is executed by all invocations of a
//! workgroup or by none (Vulkan specification, "Uniform control flow"), provided that no buffer is
//! bound twice under different names.
//! Does not cover: which memory is written (`written`); values that happen to be equal: `x * 0` is
//! as unlike as `x`.

mod written;

use super::calls::reachable_functions;
use super::cfg::ControlFlowGraph;
use super::module::{Id, Instruction, Module};
use super::opcodes::{Effect, effect_of, is_atomic};
use super::types::Types;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::place::Place;
use written::written_pointers;

/// Blocks under non-uniform control flow, by label.
#[derive(Debug, Clone, Default)]
pub struct NonUniformBlocks {
    blocks: BTreeMap<Id, Divergence>,
    /// Branches that invocations of a workgroup may take differently, by source index.
    branches: BTreeSet<usize>,
    /// Values that may differ between invocations of a workgroup.
    differing_values: BTreeSet<Id>,
    /// Variables whose contents may.
    differing_contents: BTreeSet<Id>,
}

/// Why a block may be executed by some invocations only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// Index of the branch in the module's instruction list.
    pub branch: usize,
    /// Index of the instruction whose value differs between invocations, where the branch's
    /// condition comes from.
    pub source: Option<usize>,
    /// What that instruction is, in words.
    pub what: String,
    /// Calls that lead from the branch's function to the block's, outermost first (instruction
    /// indices).
    pub calls: Vec<usize>,
}

/// A barrier in a block under non-uniform control flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DivergentBarrier {
    /// Index of the OpControlBarrier.
    pub instruction: usize,
    /// Where the barrier stands.
    pub barrier: Place,
    /// Where the branch stands that makes it divergent.
    pub branch: Place,
    /// Why invocations take the branch differently.
    pub divergence: Divergence,
}

impl NonUniformBlocks {
    /// Why the block with this label is non-uniform; `None` where it is uniform.
    pub(crate) fn divergence_of(&self, block_label: Id) -> Option<&Divergence> {
        self.blocks.get(&block_label)
    }

    /// Branches that invocations of a workgroup may take differently, by their index in the module.
    pub(crate) fn branches(&self) -> impl Iterator<Item = usize> + '_ {
        self.branches.iter().copied()
    }

    /// Whether all invocations of a workgroup that compute a value compute the same one.
    pub(crate) fn is_uniform_value(&self, value: Id) -> bool {
        !self.differing_values.contains(&value)
    }

    /// Whether all invocations of a workgroup store the same values to a variable, in the same
    /// order.
    pub(crate) fn is_uniform_content(&self, variable: Id) -> bool {
        !self.differing_contents.contains(&variable)
    }

    /// All non-uniform blocks by label.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Divergence)> {
        self.blocks.iter().map(|(label, divergence)| (*label, divergence))
    }
}

/// Blocks of the functions that `entry` (a function id) reaches whose execution depends on a branch
/// whose condition may differ between the invocations of a workgroup.
pub(crate) fn non_uniform_blocks(module: &Module, entry_function: Id) -> NonUniformBlocks {
    let mut analysis = UniformityAnalysis::new(module, entry_function);
    while analysis.propagate_once() {}
    NonUniformBlocks {
        branches: analysis.divergent_branches(),
        blocks: analysis.divergent,
        differing_values: analysis.values.into_keys().collect(),
        differing_contents: analysis.contents.into_keys().collect(),
    }
}

/// Every OpControlBarrier that stands in a non-uniform block, in module order.
pub fn divergent_barriers(module: &Module, entry_function: Id) -> Vec<DivergentBarrier> {
    let non_uniform = non_uniform_blocks(module, entry_function);
    let reachable_ids: BTreeSet<Id> =
        reachable_functions(module, entry_function).into_iter().collect();
    let functions = module.functions.iter().filter(|function| reachable_ids.contains(&function.id));
    let blocks = functions.flat_map(|function| &function.blocks);
    let mut barriers = Vec::new();
    for block in blocks {
        let Some(divergence) = non_uniform.divergence_of(block.label) else { continue };
        let barriers_inside = block
            .instruction_indices()
            .filter(|index| module.instructions[*index].op == Op::ControlBarrier);
        barriers.extend(barriers_inside.map(|instruction| DivergentBarrier {
            instruction,
            barrier: module.place_of(instruction),
            branch: module.place_of(divergence.branch),
            divergence: divergence.clone(),
        }));
    }
    barriers
}

/// The instruction that a difference comes from, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DivergenceCause {
    instruction: Option<usize>,
    what: String,
}

impl DivergenceCause {
    fn at(instruction_index: usize, what: &str) -> Self {
        Self { instruction: Some(instruction_index), what: what.to_owned() }
    }
}

struct UniformityAnalysis<'a> {
    module: &'a Module,
    types: Types,
    graphs: Vec<(ControlFlowGraph, Vec<BTreeSet<usize>>)>,
    /// Values (and contents of variables and pointer parameters) that may differ.
    values: BTreeMap<Id, DivergenceCause>,
    contents: BTreeMap<Id, DivergenceCause>,
    divergent: BTreeMap<Id, Divergence>,
    /// Functions whose result may differ.
    results: BTreeMap<Id, DivergenceCause>,
    written: BTreeSet<Id>,
    changed: bool,
}

impl<'a> UniformityAnalysis<'a> {
    fn new(module: &'a Module, entry_function: Id) -> Self {
        let functions = reachable_functions(module, entry_function);
        let graphs = functions.iter().filter_map(|id| module.function_by_id(*id)).map(|function| {
            let graph = ControlFlowGraph::of_function(module, function);
            let dependences = graph.control_dependences();
            (graph, dependences)
        });
        let graphs = graphs.collect();
        let mut analysis = Self {
            module,
            types: Types::of_module(module),
            graphs,
            values: BTreeMap::new(),
            contents: BTreeMap::new(),
            divergent: BTreeMap::new(),
            results: BTreeMap::new(),
            written: BTreeSet::new(),
            changed: false,
        };
        analysis.find_written();
        analysis.find_pointed_buffers();
        analysis
    }

    fn body_indices(&self) -> Vec<usize> {
        self.graphs
            .iter()
            .flat_map(|(graph, _)| {
                graph.blocks.iter().flat_map(|block| block.instruction_indices())
            })
            .collect()
    }

    /// One round over all instructions; whether anything new was found.
    fn propagate_once(&mut self) -> bool {
        self.changed = false;
        let graphs = std::mem::take(&mut self.graphs);
        for (graph, dependences) in &graphs {
            for (block, deciding_blocks) in dependences.iter().enumerate() {
                self.spread_divergence(graph, deciding_blocks, block);
                for index in graph.blocks[block].instruction_indices() {
                    self.visit_instruction(graph, block, index);
                }
            }
        }
        self.graphs = graphs;
        self.changed
    }

    /// Branches in divergent blocks, and on values that differ.
    fn divergent_branches(&self) -> BTreeSet<usize> {
        let blocks = self.graphs.iter().flat_map(|(graph, _)| &graph.blocks);
        let deciding = blocks.filter(|block| block.successors.len() > 1);
        let divergent = deciding.filter(|block| {
            let condition = self.module.instructions[block.terminator()].id(0);
            self.divergent.contains_key(&block.label)
                || condition.is_none_or(|condition| self.values.contains_key(&condition))
        });
        divergent.map(|block| block.terminator()).collect()
    }

    fn spread_divergence(
        &mut self,
        graph: &ControlFlowGraph,
        deciding_blocks: &BTreeSet<usize>,
        block_index: usize,
    ) {
        if self.divergent.contains_key(&graph.blocks[block_index].label) {
            return;
        }
        for branch in deciding_blocks {
            let terminator = graph.blocks[*branch].terminator();
            let condition = self.module.instructions[terminator].id(0);
            // Inside a divergent region every branch is divergent; the outermost one says most.
            let outer_divergence = self.divergent.get(&graph.blocks[*branch].label).cloned();
            let divergence = outer_divergence.or_else(|| {
                let cause = self.values.get(&condition?)?.clone();
                Some(Divergence {
                    branch: terminator,
                    source: cause.instruction,
                    what: cause.what,
                    calls: Vec::new(),
                })
            });
            if let Some(divergence) = divergence {
                self.divergent.insert(graph.blocks[block_index].label, divergence);
                self.changed = true;
                return;
            }
        }
    }

    fn visit_instruction(
        &mut self,
        graph: &ControlFlowGraph,
        block_index: usize,
        instruction_index: usize,
    ) {
        let instruction = &self.module.instructions[instruction_index];
        if let Some(result) = instruction.result
            && !self.values.contains_key(&result)
            && let Some(cause) =
                self.divergence_cause(graph, block_index, instruction_index, instruction)
        {
            self.values.insert(result, cause);
            self.changed = true;
        }
        let divergent = self.divergent.get(&graph.blocks[block_index].label).cloned();
        self.record_write(instruction, divergent.as_ref());
        if instruction.op == Op::ReturnValue {
            let cause = instruction.id(0).and_then(|value| self.values.get(&value)).cloned();
            let cause = cause.or_else(|| divergent.as_ref().map(branch_cause));
            if let Some(cause) = cause {
                self.changed |= insert_new(&mut self.results, graph.function, cause);
            }
        }
        self.visit_call(instruction_index, instruction, divergent.as_ref());
    }

    /// What makes the result of an instruction differ, if anything.
    fn divergence_cause(
        &self,
        graph: &ControlFlowGraph,
        block: usize,
        instruction_index: usize,
        instruction: &Instruction,
    ) -> Option<DivergenceCause> {
        let operand_cause = || instruction.ids().find_map(|id| self.values.get(&id)).cloned();
        match instruction.op {
            Op::Variable | Op::UntypedVariableKHR | Op::Label => None,
            Op::Undef => Some(DivergenceCause::at(instruction_index, "an undefined value")),
            Op::Load => {
                operand_cause().or_else(|| self.load_cause(instruction_index, instruction.id(0)?))
            }
            Op::ImageRead | Op::ImageSparseRead => operand_cause()
                .or_else(|| Some(DivergenceCause::at(instruction_index, "an image read"))),
            op if is_atomic(op) => {
                Some(DivergenceCause::at(instruction_index, "the result of an atomic"))
            }
            op if is_group_operation(op) => {
                Some(DivergenceCause::at(instruction_index, "the result of a subgroup operation"))
            }
            Op::CooperativeMatrixLoadKHR => {
                Some(DivergenceCause::at(instruction_index, "an element of a cooperative matrix"))
            }
            Op::ReadClockKHR => Some(DivergenceCause::at(instruction_index, "a clock")),
            Op::FunctionCall => self.results.get(&instruction.id(0)?).cloned(),
            Op::Phi => operand_cause().or_else(|| {
                let mut predecessor_labels =
                    graph.blocks[block].predecessors.iter().map(|block| graph.blocks[*block].label);
                predecessor_labels.find_map(|label| self.divergent.get(&label)).map(branch_cause)
            }),
            _ => operand_cause(),
        }
    }

    fn load_cause(&self, instruction_index: usize, pointer: Id) -> Option<DivergenceCause> {
        let root = self.pointer_root(pointer)?;
        let what = match self.storage_class(root)? {
            StorageClass::Input => match self.builtin_of(root) {
                Some(
                    BuiltIn::WorkgroupId
                    | BuiltIn::NumWorkgroups
                    | BuiltIn::WorkgroupSize
                    | BuiltIn::NumSubgroups
                    | BuiltIn::SubgroupSize
                    | BuiltIn::DeviceIndex,
                ) => return None,
                Some(builtin) => format!("{builtin:?}"),
                None => self.variable_name(root).to_owned(),
            },
            StorageClass::StorageBuffer if self.is_variable_pointer(root) => {
                "a load through a variable pointer".to_owned()
            }
            StorageClass::Uniform | StorageClass::StorageBuffer if self.written.contains(&root) => {
                format!("a load from {}, which the kernel writes", self.variable_name(root))
            }
            StorageClass::Uniform
            | StorageClass::StorageBuffer
            | StorageClass::PushConstant
            | StorageClass::UniformConstant => return None,
            StorageClass::Function | StorageClass::Private => {
                return self.contents.get(&root).cloned();
            }
            StorageClass::Workgroup => {
                format!("a load from workgroup memory ({})", self.variable_name(root))
            }
            storage_class => format!("a load from storage class {storage_class:?}"),
        };
        Some(DivergenceCause { instruction: Some(instruction_index), what })
    }

    fn variable_name(&self, variable: Id) -> &str {
        let debug_name = self.module.debug_name(variable).filter(|name| !name.is_empty());
        debug_name.unwrap_or("a variable")
    }

    fn storage_class(&self, root: Id) -> Option<StorageClass> {
        self.types.storage_class(self.module.definition(root)?.result_type?)
    }

    fn builtin_of(&self, variable: Id) -> Option<BuiltIn> {
        match self.module.decoration(variable, Decoration::BuiltIn)?.operands.first()? {
            Operand::BuiltIn(builtin) => Some(*builtin),
            _ => None,
        }
    }

    /// A write makes a variable's contents differ if value, place or execution differ.
    fn record_write(&mut self, instruction: &Instruction, divergent: Option<&Divergence>) {
        for pointer in written_pointers(instruction) {
            let Some(root) = self.pointer_root(pointer) else { continue };
            let value = instruction.ids().find_map(|id| self.values.get(&id)).cloned();
            let copied = match instruction.op {
                Op::CopyMemory => {
                    let source = instruction
                        .id(1)
                        .and_then(|from| Some((from, self.module.definition_index(from)?)));
                    source.and_then(|(from, index)| self.load_cause(index, from))
                }
                _ => None,
            };
            if let Some(cause) = value.or(copied).or_else(|| divergent.map(branch_cause)) {
                self.changed |= insert_new(&mut self.contents, root, cause);
            }
        }
    }

    /// Arguments reach parameters, contents go both ways, and a divergent call makes all of the
    /// callee divergent.
    fn visit_call(
        &mut self,
        instruction_index: usize,
        instruction: &Instruction,
        divergent: Option<&Divergence>,
    ) {
        for (parameter, argument) in self.passed_arguments(instruction) {
            if let Some(cause) = self.values.get(&argument).cloned() {
                self.changed |= insert_new(&mut self.values, parameter, cause);
            }
            let Some(root) = self.pointer_root(argument) else { continue };
            if let Some(cause) = self.contents.get(&root).cloned() {
                self.changed |= insert_new(&mut self.contents, parameter, cause);
            }
            if let Some(cause) = self.contents.get(&parameter).cloned() {
                self.changed |= insert_new(&mut self.contents, root, cause);
            }
            if self.written.contains(&root) {
                self.changed |= self.written.insert(parameter);
            }
        }
        if let (Op::FunctionCall, Some(divergence)) = (instruction.op, divergent) {
            let callee = instruction.id(0).and_then(|id| self.module.function_by_id(id));
            for block in callee.map_or(&[][..], |function| function.blocks.as_slice()) {
                let mut divergence_inside = divergence.clone();
                divergence_inside.calls.push(instruction_index);
                self.changed |= insert_new(&mut self.divergent, block.label, divergence_inside);
            }
        }
    }
}

fn insert_new<T>(map: &mut BTreeMap<Id, T>, key: Id, value: T) -> bool {
    let is_new = !map.contains_key(&key);
    if is_new {
        map.insert(key, value);
    }
    is_new
}

fn branch_cause(divergence: &Divergence) -> DivergenceCause {
    DivergenceCause { instruction: divergence.source, what: divergence.what.clone() }
}

/// Opcodes that are not modelled count too: nobody knows what they depend on.
fn is_group_operation(op: Op) -> bool {
    matches!(effect_of(op), Some(Effect::Subgroup) | None)
}
