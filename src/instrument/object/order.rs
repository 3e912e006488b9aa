//! Aligns the branches of a production function with the constructs of the same function in the marked module.
//!
//! Knows: the compiler emits constructs in source order. Production may lack a branch of the marked module where it
//! evaluates eagerly or folds a constant, and may have a select for a branch; it never has more, nor another order.
//! Promises: an alignment uses every branch of production, or there is none. Of several, one that leaves out the fewest
//! constructs that production should have.

use super::super::markers::MarkerCalls;
use super::super::trace::{BranchSite, ClosedList};
use super::values::Keys;
use crate::model::id::{DecisionId, SwitchId};
use crate::model::object::{ObjectBranchKind, ObjectOrigin};
use crate::model::structure::{Constness, KernelStructure, MarkIndex, MarkerRole};
use crate::spirv::cfg::switch_targets;
use crate::spirv::module::{Function, Id};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Most pairs that are looked at for one function.
const PAIR_LIMIT: usize = 20_000_000;

/// Whether the token of a branch or select is a `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtTernary {
    Yes,
    No,
}

/// A branch, select or switch of the marked module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Construct {
    pub kind: ObjectBranchKind,
    pub cause: Cause,
    /// Production may do without it.
    optional: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The outcome of a decision.
    Outcome(DecisionId),
    /// The short circuit within a decision.
    Operand(DecisionId),
    Switch(SwitchId),
    /// On the closed list.
    Closed(&'static str),
    Unknown,
}

impl Construct {
    pub fn origin(&self) -> Option<ObjectOrigin> {
        match &self.cause {
            Cause::Outcome(decision) | Cause::Operand(decision) => Some(ObjectOrigin::Decisions(vec![*decision])),
            Cause::Switch(switch) => Some(ObjectOrigin::Switch(*switch)),
            Cause::Closed(why) => Some(ObjectOrigin::Construct((*why).to_owned())),
            Cause::Unknown => None,
        }
    }
}

/// A branch of production with what its values tell.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    pub kind: ObjectBranchKind,
    pub ternary: AtTernary,
    /// The decisions it may belong to; empty: any.
    pub decisions: &'a [DecisionId],
}

/// Constructs of the marked module by function name.
pub fn constructs(
    structure: &KernelStructure,
    keys: &Keys<'_>,
    calls: &MarkerCalls,
    closed: &ClosedList<'_>,
    sites: &[(BranchSite, AtTernary)],
) -> BTreeMap<String, Vec<Construct>> {
    let labels: BTreeMap<MarkIndex, SwitchId> = structure
        .switches
        .iter()
        .flat_map(|switch| switch.labels.iter().filter_map(|label| Some((label.mark?, switch.id))))
        .collect();
    let mut found: BTreeMap<String, Vec<Construct>> = BTreeMap::new();
    for (site, ternary) in sites.iter().copied() {
        let Some(function) = keys.module.function_at(site.instruction) else { continue };
        let name = keys.module.name(function.id).unwrap_or_default().to_owned();
        let cause = match site.kind {
            ObjectBranchKind::Switch => switch_cause(keys, calls, &labels, function, site),
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                let condition = keys.module.instructions[site.instruction].id(0);
                condition.map_or(Cause::Unknown, |condition| cause(keys, calls, condition))
            }
        };
        // `int(b)` makes a select of a marked value too.
        let conversion = site.kind == ObjectBranchKind::Select && ternary == AtTernary::No;
        let cause = match closed.explains(site) {
            Some(why) if conversion || cause == Cause::Unknown => Cause::Closed(why),
            Some(_) | None => cause,
        };
        let constant = |decision: &DecisionId| structure.decision(*decision).constness == Constness::Constant;
        let optional = match &cause {
            Cause::Operand(_) | Cause::Closed(_) | Cause::Unknown => true,
            Cause::Outcome(decision) => constant(decision),
            Cause::Switch(_) => false,
        };
        found.entry(name).or_default().push(Construct { kind: site.kind, cause, optional });
    }
    found
}

fn switch_cause(
    keys: &Keys<'_>,
    calls: &MarkerCalls,
    labels: &BTreeMap<MarkIndex, SwitchId>,
    function: &Function,
    site: BranchSite,
) -> Cause {
    let targets: BTreeSet<Id> =
        switch_targets(&keys.module.instructions[site.instruction]).into_iter().map(|(_, target)| target).collect();
    let blocks = function.blocks.iter().filter(|block| targets.contains(&block.label));
    let marks =
        blocks.flat_map(|block| calls.calls.range(block.range.clone())).filter_map(|(_, call)| match call.role {
            MarkerRole::Mark { mark } => labels.get(&mark).copied(),
            MarkerRole::Condition { .. } | MarkerRole::Decision { .. } | MarkerRole::Single { .. } => None,
        });
    // The first label of a nested switch may stand in a target's block too; outer switches come first.
    marks.min().map_or(Cause::Unknown, Cause::Switch)
}

/// What a condition of the marked module is: the outcome of a decision, or a part of one.
fn cause(keys: &Keys<'_>, calls: &MarkerCalls, condition: Id) -> Cause {
    let (mut roles, mut seen, mut pending) = (BTreeSet::new(), BTreeSet::new(), vec![condition]);
    while let Some(id) = pending.pop() {
        let Some(index) = keys.module.definition_index(id) else { return Cause::Unknown };
        if !seen.insert(id) {
            continue;
        }
        if let Some(call) = calls.calls.get(&index) {
            roles.insert(call.role);
            continue;
        }
        let definition = &keys.module.instructions[index];
        match definition.op {
            Op::Phi => pending.extend(definition.ids().step_by(2)),
            Op::LogicalNot
            | Op::CopyObject
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual => pending.extend(definition.ids()),
            Op::ConstantTrue | Op::ConstantFalse => {}
            _ => return Cause::Unknown,
        }
    }
    let roles: Vec<MarkerRole> = roles.into_iter().collect();
    match roles.as_slice() {
        [MarkerRole::Single { decision } | MarkerRole::Decision { decision }] => Cause::Outcome(*decision),
        [MarkerRole::Condition { decision, .. }, rest @ ..] => {
            let same =
                |role: &MarkerRole| matches!(role, MarkerRole::Condition { decision: other, .. } if other == decision);
            if rest.iter().all(same) { Cause::Operand(*decision) } else { Cause::Unknown }
        }
        _ => Cause::Unknown,
    }
}

impl Candidate<'_> {
    fn fits(&self, construct: &Construct) -> bool {
        let kinds = match (self.kind, construct.kind) {
            (ObjectBranchKind::Switch, other) | (other, ObjectBranchKind::Switch) => {
                other == self.kind && other == construct.kind
            }
            (ObjectBranchKind::Select, _) | (ObjectBranchKind::Conditional, ObjectBranchKind::Conditional) => true,
            (ObjectBranchKind::Conditional, ObjectBranchKind::Select) => false,
        };
        let cause = match &construct.cause {
            Cause::Outcome(decision) => {
                let possible = self.decisions.is_empty() || self.decisions.contains(decision);
                possible && (self.kind == ObjectBranchKind::Conditional || self.ternary == AtTernary::Yes)
            }
            Cause::Operand(decision) => {
                let possible = self.decisions.is_empty() || self.decisions.contains(decision);
                possible && self.kind == ObjectBranchKind::Conditional
            }
            Cause::Switch(_) | Cause::Unknown => true,
            Cause::Closed(_) => self.ternary == AtTernary::No,
        };
        kinds && cause
    }
}

/// For each branch of production the construct it is; none where they do not go together.
pub fn align(branches: &[Candidate<'_>], constructs: &[Construct]) -> Option<Vec<usize>> {
    let spare = constructs.len().checked_sub(branches.len())?;
    if branches.len().saturating_mul(spare + 1) > PAIR_LIMIT {
        return None;
    }
    // Number of constructs before each that production should have.
    let mut needed = vec![0_u32];
    for construct in constructs {
        needed.push(needed[needed.len() - 1] + u32::from(!construct.optional));
    }
    // cost[s] for the present branch at construct `branch + s`: needed constructs left out so far.
    let width = spare + 1;
    let mut choices: Vec<Vec<u32>> = Vec::with_capacity(branches.len());
    let mut costs: Vec<Option<u32>> = vec![None; width];
    for (branch, candidate) in branches.iter().enumerate() {
        let (mut next, mut chosen) = (vec![None; width], vec![0_u32; width]);
        // The best way to be before construct `branch + s`, as cost minus the needed ones up to there.
        let mut best: Option<(i64, u32)> = None;
        for s in 0..width {
            if branch == 0 {
                best = Some((0, 0));
            } else if let Some(cost) = costs[s] {
                let relative = i64::from(cost) - i64::from(needed[branch + s]);
                if best.is_none_or(|(known, _)| relative < known) {
                    best = Some((relative, s as u32));
                }
            }
            if let (Some((relative, from)), true) = (best, candidate.fits(&constructs[branch + s])) {
                next[s] = Some((relative + i64::from(needed[branch + s])) as u32);
                chosen[s] = from;
            }
        }
        choices.push(chosen);
        costs = next;
    }
    let tail = |s: usize| needed[constructs.len()] - needed[branches.len() + s];
    let (mut s, _) = (0..width).filter_map(|s| Some((s, costs[s]? + tail(s)))).min_by_key(|(_, cost)| *cost)?;
    let mut matched = vec![0; branches.len()];
    for branch in (0..branches.len()).rev() {
        matched[branch] = branch + s;
        s = choices[branch][s] as usize;
    }
    Some(matched)
}
