//! Checks that every branch of a marked module traces to a marker.
//!
//! Knows: OpBranchConditional, OpSwitch and scalar OpSelect, and how glslang makes conditions out
//! of marked values: directly, negated, through the phi of a short circuit, or as an operand of a
//! logical operator.
//! Promises: each of them is traced, or on the closed list of what the compiler makes by itself, or
//! an `untraced-branch` finding with its place.
//! Does not cover: whether the marker stands at the right expression; that the front end's own
//! check shows.

use super::markers::MarkerCalls;
use rspirv::spirv::Op;
use std::collections::BTreeSet;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::object::ObjectBranchKind;
use vkcert_model::place::Place;
use vkcert_model::structure::{Decision, KernelStructure, MarkerRole, Recording};
use vkcert_spirv::calls::reachable_functions;
use vkcert_spirv::constants::{ConstantValue, Constants};
use vkcert_spirv::module::{Function, Id, Instruction, Module};
use vkcert_spirv::types::{Type, Types};

/// What the check found.
#[derive(Debug, Clone, Default)]
pub(crate) struct BranchTrace {
    pub untraced: Vec<Finding>,
    /// One sentence per branch or select of the closed list.
    pub compiler_generated: Vec<String>,
    /// Number of branches, switches and selects that trace to a marker.
    pub traced: u32,
}

/// A branch of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BranchSite {
    pub kind: ObjectBranchKind,
    /// Index in the module's instruction list.
    pub instruction: usize,
}

/// Every conditional branch, switch and scalar select in the functions that `entry` reaches, in
/// module order.
pub(crate) fn branch_sites(module: &Module, types: &Types, entry_function: Id) -> Vec<BranchSite> {
    let reachable_ids: BTreeSet<Id> =
        reachable_functions(module, entry_function).into_iter().collect();
    let functions = module.functions.iter().filter(|function| reachable_ids.contains(&function.id));
    let indices = functions.flat_map(|function| function.instruction_indices());
    let sites = indices.filter_map(|instruction| {
        let kind = branch_kind(module, types, &module.instructions[instruction])?;
        Some(BranchSite { kind, instruction })
    });
    sites.collect()
}

fn branch_kind(
    module: &Module,
    types: &Types,
    instruction: &Instruction,
) -> Option<ObjectBranchKind> {
    match instruction.op {
        Op::BranchConditional => Some(ObjectBranchKind::Conditional),
        Op::Switch => Some(ObjectBranchKind::Switch),
        Op::Select => {
            let condition = module.definition(instruction.id(0)?)?.result_type?;
            (types.get(condition) == Some(&Type::Bool)).then_some(ObjectBranchKind::Select)
        }
        _ => None,
    }
}

/// Checks the functions that `entry` reaches.
pub(crate) fn trace_branches(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    marker_calls: &MarkerCalls,
    constants: &Constants,
    entry_function: Id,
) -> BranchTrace {
    let operators = operator_marking(kernel_structure);
    let tracer = BranchTracer {
        structure: kernel_structure,
        operators,
        marked: marked_module,
        markers: marker_calls,
        constants,
    };
    let mut trace = BranchTrace::default();
    for site in branch_sites(marked_module, &Types::of_module(marked_module), entry_function) {
        let function = marked_module.function_at(site.instruction);
        if function.is_some_and(|function| marker_calls.is_marker(function.id)) {
            continue;
        }
        let source_place = marked_module.place_of(site.instruction);
        match tracer.branch_origin(site) {
            BranchOrigin::Marked => trace.traced += 1,
            BranchOrigin::Compiler(closed_reason) => {
                trace.compiler_generated.push(format!("{source_place}: {closed_reason}"))
            }
            BranchOrigin::Unknown(untraced_reason) => {
                trace.untraced.push(
                    Finding::new(FindingKind::UntracedBranch, untraced_reason).at(source_place),
                );
            }
        }
    }
    trace.untraced.sort_by(Finding::order);
    trace
}

/// Where a branch comes from.
pub(crate) enum BranchOrigin {
    Marked,
    Compiler(&'static str),
    Unknown(String),
}

/// Whether all decisions with Boolean operators are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperatorMarking {
    AllMarked,
    SomeUnmarked,
}

fn operator_marking(kernel_structure: &KernelStructure) -> OperatorMarking {
    if kernel_structure.decisions.iter().any(is_unmarked_compound) {
        OperatorMarking::SomeUnmarked
    } else {
        OperatorMarking::AllMarked
    }
}

fn is_unmarked_compound(decision: &Decision) -> bool {
    decision.conditions.len() > 1 && matches!(decision.recording, Recording::Unmarked { .. })
}

struct BranchTracer<'a> {
    structure: &'a KernelStructure,
    operators: OperatorMarking,
    marked: &'a Module,
    markers: &'a MarkerCalls,
    constants: &'a Constants,
}

impl BranchTracer<'_> {
    fn branch_origin(&self, branch: BranchSite) -> BranchOrigin {
        let instruction = &self.marked.instructions[branch.instruction];
        let Some(condition) = instruction.id(0) else {
            return BranchOrigin::Unknown("a branch has no condition".to_owned());
        };
        if branch.kind == ObjectBranchKind::Switch {
            return self.switch_origin(branch, instruction);
        }
        if self.traces_to_markers(condition, &mut BTreeSet::new()) {
            return BranchOrigin::Marked;
        }
        let Self { structure, marked, constants, .. } = *self;
        if let Some(closed_reason) =
            (ClosedList { structure, module: marked, constants }).reason_for(branch)
        {
            return BranchOrigin::Compiler(closed_reason);
        }
        if branch.kind == ObjectBranchKind::Conditional
            && self.short_circuits(condition, branch.instruction)
        {
            return BranchOrigin::Compiler(
                "a Boolean operator outside decisions (policy control-flow) is evaluated in short circuit",
            );
        }
        let branch_noun = match branch.kind {
            ObjectBranchKind::Select => "a select",
            ObjectBranchKind::Conditional | ObjectBranchKind::Switch => "a conditional branch",
        };
        BranchOrigin::Unknown(format!("{branch_noun} does not come from any marked decision"))
    }

    /// Whether a branch is how glslang evaluates `&&` or `||`: its merge block begins with a phi of
    /// the left operand, from the branch's own block, and the right one. Under the policy `literal`
    /// each such operator lies in a decision, so a kernel with an unmarked decision of several
    /// conditions has none that could be left out.
    fn short_circuits(&self, condition: Id, branch_index: usize) -> bool {
        if self.operators == OperatorMarking::SomeUnmarked {
            return false;
        }
        let instructions = &self.marked.instructions;
        let merge_label =
            branch_index.checked_sub(1).map(|merge_instruction| &instructions[merge_instruction]);
        let merge_label = merge_label
            .filter(|merge_instruction| merge_instruction.op == Op::SelectionMerge)
            .and_then(|merge_instruction| merge_instruction.id(0));
        let Some(merge_start) = merge_label.and_then(|label| self.marked.definition_index(label))
        else {
            return false;
        };
        let first_behind = instructions[merge_start + 1..]
            .iter()
            .find(|next_instruction| !matches!(next_instruction.op, Op::Line | Op::NoLine));
        let Some(phi) = first_behind.filter(|next_instruction| next_instruction.op == Op::Phi)
        else {
            return false;
        };
        let negated =
            self.marked.definition(condition).filter(|negation| negation.op == Op::LogicalNot);
        let left_operand = negated.and_then(|negation| negation.id(0)).unwrap_or(condition);
        let phi_values: Vec<Id> = phi.ids().step_by(2).collect();
        phi_values.len() == 2
            && (phi_values.contains(&left_operand) || phi_values.contains(&condition))
    }

    /// Whether a Boolean is made of marked values alone.
    fn traces_to_markers(&self, value_id: Id, visited_ids: &mut BTreeSet<Id>) -> bool {
        let Some(index) = self.marked.definition_index(value_id) else { return false };
        if self.markers.calls.contains_key(&index) {
            return true;
        }
        let definition = &self.marked.instructions[index];
        if !visited_ids.insert(value_id) {
            // A phi of a loop that leads back to itself adds nothing.
            return definition.op == Op::Phi;
        }
        match definition.op {
            Op::LogicalNot | Op::CopyObject => definition
                .id(0)
                .is_some_and(|operand_id| self.traces_to_markers(operand_id, visited_ids)),
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalEqual | Op::LogicalNotEqual => {
                definition.ids().all(|operand_id| self.traces_to_markers(operand_id, visited_ids))
            }
            Op::Phi => {
                let phi_values: Vec<Id> = definition.ids().step_by(2).collect();
                phi_values.iter().any(|phi_value| !is_boolean_literal(self.marked, *phi_value))
                    && phi_values.iter().all(|phi_value| {
                        self.traces_to_markers(*phi_value, visited_ids)
                            || is_boolean_literal(self.marked, *phi_value)
                    })
            }
            _ => false,
        }
    }

    /// Every target of a switch must hold a label's mark.
    fn switch_origin(&self, branch: BranchSite, instruction: &Instruction) -> BranchOrigin {
        let Some(function) = self.marked.function_at(branch.instruction) else {
            return BranchOrigin::Unknown("a switch stands outside any function".to_owned());
        };
        let targets = instruction.ids().skip(1);
        let unmarked_targets =
            targets.filter(|target| !self.block_is_marked(function, *target)).count();
        match unmarked_targets {
            0 => BranchOrigin::Marked,
            count => BranchOrigin::Unknown(format!(
                "a switch has {count} targets without a marked label"
            )),
        }
    }

    fn block_is_marked(&self, function: &Function, block_label: Id) -> bool {
        let block_start = self.marked.definition_index(block_label);
        let block_index =
            function.blocks.partition_point(|block| Some(block.range.start) < block_start);
        let block = function.blocks.get(block_index).filter(|block| block.label == block_label);
        let calls = block
            .into_iter()
            .flat_map(|block| self.markers.calls.range(block.instruction_indices()));
        calls.into_iter().any(|(_, call)| matches!(call.role, MarkerRole::Mark { .. }))
    }
}

/// Whether a Boolean is written out in the text.
pub(crate) fn is_boolean_literal(module: &Module, condition: Id) -> bool {
    module
        .definition(condition)
        .is_some_and(|instruction| matches!(instruction.op, Op::ConstantTrue | Op::ConstantFalse))
}

/// What the compiler makes a branch or select of without any decision behind it.
pub(crate) struct ClosedList<'a> {
    pub structure: &'a KernelStructure,
    pub module: &'a Module,
    pub constants: &'a Constants,
}

impl ClosedList<'_> {
    /// Why a branch or select needs no decision; none: it does.
    pub(crate) fn reason_for(&self, branch_site: BranchSite) -> Option<&'static str> {
        let instruction = &self.module.instructions[branch_site.instruction];
        let is_literal =
            instruction.id(0).is_some_and(|condition| is_boolean_literal(self.module, condition));
        match branch_site.kind {
            ObjectBranchKind::Select if self.converts_boolean(instruction) => {
                Some("a Boolean is converted to a number or stored in a buffer")
            }
            // A literal condition such as `while (true)` decides nothing.
            ObjectBranchKind::Conditional | ObjectBranchKind::Select if is_literal => {
                Some("condition is a literal constant")
            }
            ObjectBranchKind::Select
                if self.line_has(&self.module.place_of(branch_site.instruction), "mix") =>
            {
                Some("mix() with a Boolean selects one of its arguments")
            }
            ObjectBranchKind::Conditional | ObjectBranchKind::Select | ObjectBranchKind::Switch => {
                None
            }
        }
    }

    /// `uint(b)`, `float(b)`, a Boolean stored in a buffer: one where true, zero where false.
    fn converts_boolean(&self, select: &Instruction) -> bool {
        let ones_by_type = [1, u64::from(1.0_f32.to_bits()), 1.0_f64.to_bits(), 0x3C00];
        let selects_one =
            self.operand_bits(select, 1).is_some_and(|bits| ones_by_type.contains(&bits));
        selects_one && self.operand_bits(select, 2) == Some(0)
    }

    /// The bits of a constant operand that is a number.
    fn operand_bits(&self, instruction: &Instruction, operand_index: usize) -> Option<u64> {
        match self.constants.value(instruction.id(operand_index)?)? {
            ConstantValue::Scalar(bits) => Some(*bits),
            ConstantValue::Null => Some(0),
            ConstantValue::Bool(_) | ConstantValue::Composite(_) | ConstantValue::Undef => None,
        }
    }

    /// Whether the source line of a place calls `function`.
    fn line_has(&self, source_place: &Place, function_name: &str) -> bool {
        let (Some(file), Some(line)) = (&source_place.file, source_place.line) else {
            return false;
        };
        let sources = self.structure.files.iter().filter(|source| is_same_file(&source.path, file));
        let lines =
            sources.filter_map(|source| source.text.lines().nth(line.saturating_sub(1) as usize));
        lines.into_iter().any(|line_text| {
            let mut possible_calls = line_text.match_indices(function_name);
            possible_calls.any(|(match_start, _)| {
                let character_before = line_text[..match_start].chars().next_back();
                let character_after =
                    line_text[match_start + function_name.len()..].trim_start().chars().next();
                character_after == Some('(')
                    && !character_before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        })
    }
}

fn is_same_file(path: &str, file: &str) -> bool {
    path == file || path.ends_with(&format!("/{file}")) || file.ends_with(&format!("/{path}"))
}
