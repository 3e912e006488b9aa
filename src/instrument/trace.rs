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
pub(crate) struct Trace {
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
pub(crate) fn branch_sites(module: &Module, types: &Types, entry: Id) -> Vec<BranchSite> {
    let reachable: BTreeSet<Id> = reachable_functions(module, entry).into_iter().collect();
    let functions = module.functions.iter().filter(|function| reachable.contains(&function.id));
    let indices = functions.flat_map(|function| function.range.clone());
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
pub(crate) fn trace(
    structure: &KernelStructure,
    marked: &Module,
    markers: &MarkerCalls,
    constants: &Constants,
    entry: Id,
) -> Trace {
    let operators = operators(structure);
    let tracer = Tracer { structure, operators, marked, markers, constants };
    let mut trace = Trace::default();
    for site in branch_sites(marked, &Types::of_module(marked), entry) {
        let function = marked.function_at(site.instruction);
        if function.is_some_and(|function| markers.is_marker(function.id)) {
            continue;
        }
        let place = marked.place_of(site.instruction);
        match tracer.classify(site) {
            Origin::Marked => trace.traced += 1,
            Origin::Compiler(why) => trace.compiler_generated.push(format!("{place}: {why}")),
            Origin::Unknown(what) => {
                trace.untraced.push(Finding::new(FindingKind::UntracedBranch, what).at(place));
            }
        }
    }
    trace.untraced.sort_by(Finding::order);
    trace
}

/// Where a branch comes from.
pub(crate) enum Origin {
    Marked,
    Compiler(&'static str),
    Unknown(String),
}

/// Whether all decisions with Boolean operators are marked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operators {
    AllMarked,
    SomeUnmarked,
}

fn operators(structure: &KernelStructure) -> Operators {
    let unmarked = |decision: &Decision| {
        decision.conditions.len() > 1 && matches!(decision.recording, Recording::Unmarked { .. })
    };
    if structure.decisions.iter().any(unmarked) {
        Operators::SomeUnmarked
    } else {
        Operators::AllMarked
    }
}

struct Tracer<'a> {
    structure: &'a KernelStructure,
    operators: Operators,
    marked: &'a Module,
    markers: &'a MarkerCalls,
    constants: &'a Constants,
}

impl Tracer<'_> {
    fn classify(&self, branch: BranchSite) -> Origin {
        let instruction = &self.marked.instructions[branch.instruction];
        let Some(condition) = instruction.id(0) else {
            return Origin::Unknown("a branch has no condition".to_owned());
        };
        if branch.kind == ObjectBranchKind::Switch {
            return self.switch(branch, instruction);
        }
        if self.traces(condition, &mut BTreeSet::new()) {
            return Origin::Marked;
        }
        let Self { structure, marked, constants, .. } = *self;
        if let Some(why) = (ClosedList { structure, module: marked, constants }).explains(branch) {
            return Origin::Compiler(why);
        }
        if branch.kind == ObjectBranchKind::Conditional
            && self.short_circuits(condition, branch.instruction)
        {
            return Origin::Compiler(
                "a Boolean operator outside decisions (policy control-flow) is evaluated in short circuit",
            );
        }
        let what = match branch.kind {
            ObjectBranchKind::Select => "a select",
            ObjectBranchKind::Conditional | ObjectBranchKind::Switch => "a conditional branch",
        };
        Origin::Unknown(format!("{what} does not come from any marked decision"))
    }

    /// Whether a branch is how glslang evaluates `&&` or `||`: its merge block begins with a phi of
    /// the left operand, from the branch's own block, and the right one. Under the policy `literal`
    /// each such operator lies in a decision, so a kernel with an unmarked decision of several
    /// conditions has none that could be left out.
    fn short_circuits(&self, condition: Id, branch: usize) -> bool {
        if self.operators == Operators::SomeUnmarked {
            return false;
        }
        let instructions = &self.marked.instructions;
        let merge = branch.checked_sub(1).map(|before| &instructions[before]);
        let merge =
            merge.filter(|before| before.op == Op::SelectionMerge).and_then(|before| before.id(0));
        let Some(start) = merge.and_then(|label| self.marked.definition_index(label)) else {
            return false;
        };
        let behind =
            instructions[start + 1..].iter().find(|next| !matches!(next.op, Op::Line | Op::NoLine));
        let Some(phi) = behind.filter(|next| next.op == Op::Phi) else { return false };
        let negated = self.marked.definition(condition).filter(|made| made.op == Op::LogicalNot);
        let left = negated.and_then(|made| made.id(0)).unwrap_or(condition);
        let values: Vec<Id> = phi.ids().step_by(2).collect();
        values.len() == 2 && (values.contains(&left) || values.contains(&condition))
    }

    /// Whether a Boolean is made of marked values alone.
    fn traces(&self, id: Id, seen: &mut BTreeSet<Id>) -> bool {
        let Some(index) = self.marked.definition_index(id) else { return false };
        if self.markers.calls.contains_key(&index) {
            return true;
        }
        let definition = &self.marked.instructions[index];
        if !seen.insert(id) {
            // A phi of a loop that leads back to itself adds nothing.
            return definition.op == Op::Phi;
        }
        match definition.op {
            Op::LogicalNot | Op::CopyObject => {
                definition.id(0).is_some_and(|inner| self.traces(inner, seen))
            }
            Op::LogicalAnd | Op::LogicalOr | Op::LogicalEqual | Op::LogicalNotEqual => {
                definition.ids().all(|inner| self.traces(inner, seen))
            }
            Op::Phi => {
                let values: Vec<Id> = definition.ids().step_by(2).collect();
                let marked = |id: &Id, seen: &mut BTreeSet<Id>| {
                    self.traces(*id, seen) || literal(self.marked, *id)
                };
                values.iter().any(|id| !literal(self.marked, *id))
                    && values.iter().all(|id| marked(id, seen))
            }
            _ => false,
        }
    }

    /// Every target of a switch must hold a label's mark.
    fn switch(&self, branch: BranchSite, instruction: &Instruction) -> Origin {
        let Some(function) = self.marked.function_at(branch.instruction) else {
            return Origin::Unknown("a switch stands outside any function".to_owned());
        };
        let targets = instruction.ids().skip(1);
        let unmarked = targets.filter(|target| !self.block_is_marked(function, *target)).count();
        match unmarked {
            0 => Origin::Marked,
            count => {
                Origin::Unknown(format!("a switch has {count} targets without a marked label"))
            }
        }
    }

    fn block_is_marked(&self, function: &Function, label: Id) -> bool {
        let start = self.marked.definition_index(label);
        let before = function.blocks.partition_point(|block| Some(block.range.start) < start);
        let block = function.blocks.get(before).filter(|block| block.label == label);
        let calls =
            block.into_iter().flat_map(|block| self.markers.calls.range(block.range.clone()));
        calls.into_iter().any(|(_, call)| matches!(call.role, MarkerRole::Mark { .. }))
    }
}

/// Whether a Boolean is written out in the text.
pub(crate) fn literal(module: &Module, condition: Id) -> bool {
    module
        .definition(condition)
        .is_some_and(|i| matches!(i.op, Op::ConstantTrue | Op::ConstantFalse))
}

/// What the compiler makes a branch or select of without any decision behind it.
pub(crate) struct ClosedList<'a> {
    pub structure: &'a KernelStructure,
    pub module: &'a Module,
    pub constants: &'a Constants,
}

impl ClosedList<'_> {
    /// Why a branch or select needs no decision; none: it does.
    pub(crate) fn explains(&self, site: BranchSite) -> Option<&'static str> {
        let instruction = &self.module.instructions[site.instruction];
        let literal = instruction.id(0).is_some_and(|condition| literal(self.module, condition));
        match site.kind {
            ObjectBranchKind::Select if self.converts_boolean(instruction) => {
                Some("a Boolean is converted to a number or stored in a buffer")
            }
            // A literal condition such as `while (true)` decides nothing.
            ObjectBranchKind::Conditional | ObjectBranchKind::Select if literal => {
                Some("condition is a literal constant")
            }
            ObjectBranchKind::Select
                if self.line_has(&self.module.place_of(site.instruction), "mix") =>
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
        let bits = |index| match self.constants.value(select.id(index)?)? {
            ConstantValue::Scalar(bits) => Some(*bits),
            ConstantValue::Null => Some(0),
            ConstantValue::Bool(_) | ConstantValue::Composite(_) | ConstantValue::Undef => None,
        };
        let one = bits(1).is_some_and(|bits| {
            let types = [1, u64::from(1.0_f32.to_bits()), 1.0_f64.to_bits(), 0x3C00];
            types.contains(&bits)
        });
        one && bits(2) == Some(0)
    }

    /// Whether the source line of a place calls `function`.
    fn line_has(&self, place: &Place, function: &str) -> bool {
        let (Some(file), Some(line)) = (&place.file, place.line) else { return false };
        let same_file = |path: &str| {
            path == file
                || path.ends_with(&format!("/{file}"))
                || file.ends_with(&format!("/{path}"))
        };
        let sources = self.structure.files.iter().filter(|source| same_file(&source.path));
        let lines =
            sources.filter_map(|source| source.text.lines().nth(line.saturating_sub(1) as usize));
        lines.into_iter().any(|text| {
            let mut calls = text.match_indices(function);
            calls.any(|(at, _)| {
                let before = text[..at].chars().next_back();
                let after = text[at + function.len()..].trim_start().chars().next();
                after == Some('(') && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            })
        })
    }
}
