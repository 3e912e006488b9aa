//! Aligns the branches of a production function with the constructs of the same function in the
//! marked module.
//!
//! Knows: the compiler emits constructs in source order. Production may lack a branch of the marked
//! module where it evaluates eagerly or folds a constant, and may have a select for a branch; it
//! never has more, nor another order.
//! Promises: an alignment uses every branch of production, or there is none. Of several, the one
//! that has the least against it: constructs that production should have and that are left out,
//! outcomes of decisions with a part of the decision's value alone, branches at another token than
//! their construct.
//! Does not cover: functions whose branches leave so much open that too many pairs would have to be
//! looked at.

use super::super::markers::MarkerCalls;
use super::super::trace::{BranchSite, ClosedList};
use super::owners::OwnersOfValue;
use super::values::LeafReader;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::{DecisionId, SwitchId};
use vkcert_model::index_range::IndexRange;
use vkcert_model::object::{ObjectBranchKind, ObjectOrigin};
use vkcert_model::structure::{Constness, KernelStructure, MarkIndex, MarkerRole};
use vkcert_spirv::cfg::switch_targets;
use vkcert_spirv::module::{Function, Id};

/// Most pairs that are looked at for one function.
const PAIR_LIMIT: usize = 20_000_000;

/// Whether the token of a branch or select is a `?`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtTernary {
    Yes,
    No,
}

/// A branch, select or switch of the marked module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MarkedConstruct {
    pub kind: ObjectBranchKind,
    pub cause: ConstructCause,
    /// Production may do without it.
    optional: bool,
    /// Where the compiler says that it stands.
    token: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConstructCause {
    /// The outcome of a decision.
    Outcome(DecisionId),
    /// The short circuit within a decision.
    Operand(DecisionId),
    Switch(SwitchId),
    /// On the closed list.
    Closed(&'static str),
    Unknown,
}

impl MarkedConstruct {
    pub(super) fn object_origin(&self) -> Option<ObjectOrigin> {
        match &self.cause {
            ConstructCause::Outcome(decision) | ConstructCause::Operand(decision) => {
                Some(ObjectOrigin::Decisions(vec![*decision]))
            }
            ConstructCause::Switch(switch) => Some(ObjectOrigin::Switch(*switch)),
            ConstructCause::Closed(why) => Some(ObjectOrigin::Construct((*why).to_owned())),
            ConstructCause::Unknown => None,
        }
    }
}

/// A branch of production with what its values tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct BranchCandidate<'a> {
    pub kind: ObjectBranchKind,
    pub ternary: AtTernary,
    /// The decisions it may belong to; none in it: any.
    pub owners: &'a OwnersOfValue,
    /// Where the compiler says that it stands.
    pub token: Option<u32>,
}

/// What a construct that production should have counts where it is left out, against one doubt
/// about a branch.
const LEFT_OUT: u32 = 3;

/// A branch, select or switch of the marked module, with the token at which the compiler puts it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarkedSite {
    pub site: BranchSite,
    pub ternary: AtTernary,
    pub token: Option<u32>,
}

/// Constructs of the marked module by function name.
pub(super) fn marked_constructs(
    kernel_structure: &KernelStructure,
    keys: &LeafReader<'_>,
    marker_calls: &MarkerCalls,
    closed_list: &ClosedList<'_>,
    marked_sites: &[MarkedSite],
) -> BTreeMap<String, Vec<MarkedConstruct>> {
    let switch_of_mark: BTreeMap<MarkIndex, SwitchId> = kernel_structure
        .switches
        .iter()
        .flat_map(|switch| switch.labels.iter().filter_map(|label| Some((label.mark?, switch.id))))
        .collect();
    let mut constructs_by_function: BTreeMap<String, Vec<MarkedConstruct>> = BTreeMap::new();
    for MarkedSite { site, ternary, token } in marked_sites.iter().copied() {
        let Some(function) = keys.module.function_at(site.instruction) else { continue };
        let function_name = keys.module.debug_name(function.id).unwrap_or_default().to_owned();
        let cause = match site.kind {
            ObjectBranchKind::Switch => {
                switch_cause(keys, marker_calls, &switch_of_mark, function, site)
            }
            ObjectBranchKind::Conditional | ObjectBranchKind::Select => {
                let condition = keys.module.instructions[site.instruction].id(0);
                condition.map_or(ConstructCause::Unknown, |condition| {
                    condition_cause(keys, marker_calls, condition)
                })
            }
        };
        // `int(b)` makes a select of a marked value too.
        let is_conversion = site.kind == ObjectBranchKind::Select && ternary == AtTernary::No;
        let cause = match closed_list.reason_for(site) {
            Some(why) if is_conversion || cause == ConstructCause::Unknown => {
                ConstructCause::Closed(why)
            }
            Some(_) | None => cause,
        };
        let is_constant = |decision: &DecisionId| {
            kernel_structure.decision(*decision).constness == Constness::Constant
        };
        let is_optional = match &cause {
            ConstructCause::Operand(_) | ConstructCause::Closed(_) | ConstructCause::Unknown => {
                true
            }
            ConstructCause::Outcome(decision) => is_constant(decision),
            ConstructCause::Switch(_) => false,
        };
        constructs_by_function.entry(function_name).or_default().push(MarkedConstruct {
            kind: site.kind,
            cause,
            optional: is_optional,
            token,
        });
    }
    constructs_by_function
}

fn switch_cause(
    keys: &LeafReader<'_>,
    marker_calls: &MarkerCalls,
    switch_of_mark: &BTreeMap<MarkIndex, SwitchId>,
    function: &Function,
    branch_site: BranchSite,
) -> ConstructCause {
    let target_labels: BTreeSet<Id> =
        switch_targets(&keys.module.instructions[branch_site.instruction])
            .into_iter()
            .map(|(_, target)| target)
            .collect();
    let blocks = function.blocks.iter().filter(|block| target_labels.contains(&block.label));
    let marked_switches = blocks
        .flat_map(|block| marker_calls.calls.range(block.instruction_indices()))
        .filter_map(|(_, call)| match call.role {
            MarkerRole::Mark { mark } => switch_of_mark.get(&mark).copied(),
            MarkerRole::Condition { .. }
            | MarkerRole::Decision { .. }
            | MarkerRole::Single { .. }
            | MarkerRole::MarkWhere { .. } => None,
        });
    // The first label of a nested switch may stand in a target's block too; outer switches come
    // first.
    marked_switches.min().map_or(ConstructCause::Unknown, ConstructCause::Switch)
}

/// What a condition of the marked module is: the outcome of a decision, or a part of one.
fn condition_cause(
    keys: &LeafReader<'_>,
    marker_calls: &MarkerCalls,
    condition: Id,
) -> ConstructCause {
    let (mut marker_roles, mut visited_ids, mut pending_ids) =
        (BTreeSet::new(), BTreeSet::new(), vec![condition]);
    while let Some(id) = pending_ids.pop() {
        let Some(index) = keys.module.definition_index(id) else { return ConstructCause::Unknown };
        if !visited_ids.insert(id) {
            continue;
        }
        if let Some(call) = marker_calls.calls.get(&index) {
            marker_roles.insert(call.role);
            continue;
        }
        let definition = &keys.module.instructions[index];
        match definition.op {
            Op::Phi => pending_ids.extend(definition.ids().step_by(2)),
            Op::LogicalNot
            | Op::CopyObject
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalEqual
            | Op::LogicalNotEqual => pending_ids.extend(definition.ids()),
            Op::ConstantTrue | Op::ConstantFalse => {}
            _ => return ConstructCause::Unknown,
        }
    }
    let marker_roles: Vec<MarkerRole> = marker_roles.into_iter().collect();
    match marker_roles.as_slice() {
        [MarkerRole::Single { decision } | MarkerRole::Decision { decision }] => {
            ConstructCause::Outcome(*decision)
        }
        [MarkerRole::Condition { decision, .. }, other_roles @ ..] => {
            let is_same_decision = |role: &MarkerRole| matches!(role, MarkerRole::Condition { decision: other, .. } if other == decision);
            if other_roles.iter().all(is_same_decision) {
                ConstructCause::Operand(*decision)
            } else {
                ConstructCause::Unknown
            }
        }
        _ => ConstructCause::Unknown,
    }
}

impl BranchCandidate<'_> {
    fn fits_construct(&self, construct: &MarkedConstruct) -> bool {
        let kind_fits = match (self.kind, construct.kind) {
            (ObjectBranchKind::Switch, other_kind) | (other_kind, ObjectBranchKind::Switch) => {
                other_kind == self.kind && other_kind == construct.kind
            }
            (ObjectBranchKind::Select, _)
            | (ObjectBranchKind::Conditional, ObjectBranchKind::Conditional) => true,
            (ObjectBranchKind::Conditional, ObjectBranchKind::Select) => false,
        };
        let cause_fits = match &construct.cause {
            ConstructCause::Outcome(decision) => {
                (self.kind == ObjectBranchKind::Conditional || self.ternary == AtTernary::Yes)
                    && self.may_belong_to(*decision)
            }
            ConstructCause::Operand(decision) => {
                self.kind == ObjectBranchKind::Conditional && self.may_belong_to(*decision)
            }
            ConstructCause::Switch(_) | ConstructCause::Unknown => true,
            ConstructCause::Closed(_) => self.ternary == AtTernary::No,
        };
        kind_fits && cause_fits
    }

    fn may_belong_to(&self, decision: DecisionId) -> bool {
        self.owners.possible.is_empty() || self.owners.possible.binary_search(&decision).is_ok()
    }

    /// What speaks against it being a construct that it fits.
    fn doubt_count(&self, construct: &MarkedConstruct) -> u32 {
        let is_whole = |decision: &DecisionId| self.owners.whole.binary_search(decision).is_ok();
        let value_doubt = match &construct.cause {
            _ if self.owners.possible.is_empty() => false,
            ConstructCause::Outcome(decision) => !is_whole(decision),
            ConstructCause::Operand(decision) => is_whole(decision),
            ConstructCause::Switch(_) | ConstructCause::Closed(_) | ConstructCause::Unknown => {
                false
            }
        };
        let token_differs = self
            .token
            .zip(construct.token)
            .is_some_and(|(own_token, construct_token)| own_token != construct_token);
        u32::from(value_doubt) + u32::from(token_differs)
    }
}

/// The constructs that each branch can be, if every other branch is to be one as well: from the
/// first to the last of these. None where the branches do not go together with the constructs.
fn reachable_constructs(
    branches: &[BranchCandidate<'_>],
    constructs: &[MarkedConstruct],
) -> Option<Vec<IndexRange>> {
    let mut constructs_left = 0..constructs.len();
    let first_fitting = |branch: &BranchCandidate<'_>| {
        constructs_left.find(|construct| branch.fits_construct(&constructs[*construct]))
    };
    let firsts: Vec<usize> = branches.iter().map(first_fitting).collect::<Option<_>>()?;
    let mut constructs_left = 0..constructs.len();
    let last_fitting = |branch: &BranchCandidate<'_>| {
        constructs_left.rfind(|construct| branch.fits_construct(&constructs[*construct]))
    };
    let lasts: Vec<usize> = branches.iter().rev().map(last_fitting).collect::<Option<_>>()?;
    let firsts_and_lasts = firsts.into_iter().zip(lasts.into_iter().rev());
    Some(firsts_and_lasts.map(|(first, last)| (first..last + 1).into()).collect())
}

/// A construct that a branch may be.
#[derive(Debug, Clone, Copy)]
struct ConstructChoice {
    /// What speaks against the best way up to here; none where the branch is not this one.
    cost: Option<u32>,
    /// The construct of the branch before.
    previous: usize,
}

/// For each branch of production the construct it is; none where they do not go together.
pub(super) fn align_branches(
    production_branches: &[BranchCandidate<'_>],
    constructs: &[MarkedConstruct],
) -> Option<Vec<usize>> {
    let reachable_ranges = reachable_constructs(production_branches, constructs)?;
    let pairs = reachable_ranges.iter().map(|range| range.len());
    if pairs.fold(0, usize::saturating_add) > PAIR_LIMIT {
        return None;
    }
    // What all constructs before each would count if they were left out.
    let mut needed_before = vec![0_u32];
    for construct in constructs {
        needed_before.push(
            needed_before[needed_before.len() - 1] + if construct.optional { 0 } else { LEFT_OUT },
        );
    }
    let mut choices: Vec<Vec<ConstructChoice>> = Vec::with_capacity(production_branches.len());
    for (branch, candidate) in production_branches.iter().enumerate() {
        let previous_row =
            choices.last().map(|branch_choices| (branch_choices, reachable_ranges[branch - 1]));
        let branch_choices = choices_of(
            candidate,
            constructs,
            reachable_ranges[branch],
            previous_row,
            &needed_before,
        );
        choices.push(branch_choices);
    }
    let Some((last_row, range)) = choices.last().zip(reachable_ranges.last()) else {
        return Some(Vec::new());
    };
    let complete_cost = |(choice, construct): (&ConstructChoice, usize)| {
        Some((
            construct,
            choice.cost? + needed_before[constructs.len()] - needed_before[construct + 1],
        ))
    };
    let (mut construct, _) =
        last_row.iter().zip(*range).filter_map(complete_cost).min_by_key(|(_, cost)| *cost)?;
    let mut matched = vec![0; production_branches.len()];
    for branch in (0..production_branches.len()).rev() {
        matched[branch] = construct;
        construct = choices[branch][construct - reachable_ranges[branch].start].previous;
    }
    Some(matched)
}

/// What each of `range` costs as the construct of a branch. `before`: the same of the branch
/// before, with its range; `needed`: what all constructs before each would count if they were left
/// out.
fn choices_of(
    candidate: &BranchCandidate<'_>,
    constructs: &[MarkedConstruct],
    construct_range: IndexRange,
    previous_row: Option<(&Vec<ConstructChoice>, IndexRange)>,
    needed_before: &[u32],
) -> Vec<ConstructChoice> {
    // The best construct so far of the branch before, and its cost less the needed ones up to and
    // with it.
    let mut best_previous: Option<(i64, usize)> = previous_row.is_none().then_some((0, 0));
    let mut earlier_choices = previous_row
        .into_iter()
        .flat_map(|(row, previous_range)| row.iter().zip(previous_range))
        .peekable();
    let choice_for = |construct: usize| {
        while let Some((earlier_choice, previous)) =
            earlier_choices.next_if(|(_, previous)| *previous < construct)
        {
            let Some(cost) = earlier_choice.cost else { continue };
            let relative_cost = i64::from(cost) - i64::from(needed_before[previous + 1]);
            if best_previous.is_none_or(|(best_cost, _)| relative_cost < best_cost) {
                best_previous = Some((relative_cost, previous));
            }
        }
        match best_previous {
            Some((relative_cost, previous)) if candidate.fits_construct(&constructs[construct]) => {
                let cost_before = (relative_cost + i64::from(needed_before[construct])) as u32;
                ConstructChoice {
                    cost: Some(cost_before + candidate.doubt_count(&constructs[construct])),
                    previous,
                }
            }
            Some(_) | None => ConstructChoice { cost: None, previous: 0 },
        }
    };
    construct_range.into_iter().map(choice_for).collect()
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
