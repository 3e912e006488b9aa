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
use super::values::{Keys, OwnersOfValue};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use vkcert_model::id::{DecisionId, SwitchId};
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
pub(super) struct Construct {
    pub kind: ObjectBranchKind,
    pub cause: Cause,
    /// Production may do without it.
    optional: bool,
    /// Where the compiler says that it stands.
    token: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cause {
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
    pub(super) fn origin(&self) -> Option<ObjectOrigin> {
        match &self.cause {
            Cause::Outcome(decision) | Cause::Operand(decision) => {
                Some(ObjectOrigin::Decisions(vec![*decision]))
            }
            Cause::Switch(switch) => Some(ObjectOrigin::Switch(*switch)),
            Cause::Closed(why) => Some(ObjectOrigin::Construct((*why).to_owned())),
            Cause::Unknown => None,
        }
    }
}

/// A branch of production with what its values tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
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
pub(super) fn constructs(
    structure: &KernelStructure,
    keys: &Keys<'_>,
    calls: &MarkerCalls,
    closed: &ClosedList<'_>,
    sites: &[MarkedSite],
) -> BTreeMap<String, Vec<Construct>> {
    let labels: BTreeMap<MarkIndex, SwitchId> = structure
        .switches
        .iter()
        .flat_map(|switch| switch.labels.iter().filter_map(|label| Some((label.mark?, switch.id))))
        .collect();
    let mut found: BTreeMap<String, Vec<Construct>> = BTreeMap::new();
    for MarkedSite { site, ternary, token } in sites.iter().copied() {
        let Some(function) = keys.module.function_at(site.instruction) else { continue };
        let name = keys.module.debug_name(function.id).unwrap_or_default().to_owned();
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
        let constant =
            |decision: &DecisionId| structure.decision(*decision).constness == Constness::Constant;
        let optional = match &cause {
            Cause::Operand(_) | Cause::Closed(_) | Cause::Unknown => true,
            Cause::Outcome(decision) => constant(decision),
            Cause::Switch(_) => false,
        };
        found.entry(name).or_default().push(Construct { kind: site.kind, cause, optional, token });
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
    let targets: BTreeSet<Id> = switch_targets(&keys.module.instructions[site.instruction])
        .into_iter()
        .map(|(_, target)| target)
        .collect();
    let blocks = function.blocks.iter().filter(|block| targets.contains(&block.label));
    let marks =
        blocks.flat_map(|block| calls.calls.range(block.range.clone())).filter_map(|(_, call)| {
            match call.role {
                MarkerRole::Mark { mark } => labels.get(&mark).copied(),
                MarkerRole::Condition { .. }
                | MarkerRole::Decision { .. }
                | MarkerRole::Single { .. } => None,
            }
        });
    // The first label of a nested switch may stand in a target's block too; outer switches come
    // first.
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
        [MarkerRole::Single { decision } | MarkerRole::Decision { decision }] => {
            Cause::Outcome(*decision)
        }
        [MarkerRole::Condition { decision, .. }, rest @ ..] => {
            let same = |role: &MarkerRole| matches!(role, MarkerRole::Condition { decision: other, .. } if other == decision);
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
            (ObjectBranchKind::Select, _)
            | (ObjectBranchKind::Conditional, ObjectBranchKind::Conditional) => true,
            (ObjectBranchKind::Conditional, ObjectBranchKind::Select) => false,
        };
        let cause = match &construct.cause {
            Cause::Outcome(decision) => {
                (self.kind == ObjectBranchKind::Conditional || self.ternary == AtTernary::Yes)
                    && self.may_belong_to(*decision)
            }
            Cause::Operand(decision) => {
                self.kind == ObjectBranchKind::Conditional && self.may_belong_to(*decision)
            }
            Cause::Switch(_) | Cause::Unknown => true,
            Cause::Closed(_) => self.ternary == AtTernary::No,
        };
        kinds && cause
    }

    fn may_belong_to(&self, decision: DecisionId) -> bool {
        self.owners.possible.is_empty() || self.owners.possible.binary_search(&decision).is_ok()
    }

    /// What speaks against it being a construct that it fits.
    fn doubts(&self, construct: &Construct) -> u32 {
        let whole = |decision: &DecisionId| self.owners.whole.binary_search(decision).is_ok();
        let value = match &construct.cause {
            _ if self.owners.possible.is_empty() => false,
            Cause::Outcome(decision) => !whole(decision),
            Cause::Operand(decision) => whole(decision),
            Cause::Switch(_) | Cause::Closed(_) | Cause::Unknown => false,
        };
        let elsewhere = self.token.zip(construct.token).is_some_and(|(own, other)| own != other);
        u32::from(value) + u32::from(elsewhere)
    }
}

/// The constructs that each branch can be, if every other branch is to be one as well: from the
/// first to the last of these. None where the branches do not go together with the constructs.
fn reachable_constructs(
    branches: &[Candidate<'_>],
    constructs: &[Construct],
) -> Option<Vec<RangeInclusive<usize>>> {
    let mut left = 0..constructs.len();
    let first =
        |branch: &Candidate<'_>| left.find(|construct| branch.fits(&constructs[*construct]));
    let firsts: Vec<usize> = branches.iter().map(first).collect::<Option<_>>()?;
    let mut left = 0..constructs.len();
    let last =
        |branch: &Candidate<'_>| left.rfind(|construct| branch.fits(&constructs[*construct]));
    let lasts: Vec<usize> = branches.iter().rev().map(last).collect::<Option<_>>()?;
    Some(
        firsts.into_iter().zip(lasts.into_iter().rev()).map(|(first, last)| first..=last).collect(),
    )
}

/// A construct that a branch may be.
#[derive(Debug, Clone, Copy)]
struct Choice {
    /// What speaks against the best way up to here; none where the branch is not this one.
    cost: Option<u32>,
    /// The construct of the branch before.
    previous: usize,
}

/// For each branch of production the construct it is; none where they do not go together.
pub(super) fn align(branches: &[Candidate<'_>], constructs: &[Construct]) -> Option<Vec<usize>> {
    let reachable = reachable_constructs(branches, constructs)?;
    let pairs = reachable.iter().map(|range| range.end() - range.start() + 1);
    if pairs.fold(0, usize::saturating_add) > PAIR_LIMIT {
        return None;
    }
    // What all constructs before each would count if they were left out.
    let mut needed = vec![0_u32];
    for construct in constructs {
        needed.push(needed[needed.len() - 1] + if construct.optional { 0 } else { LEFT_OUT });
    }
    let mut choices: Vec<Vec<Choice>> = Vec::with_capacity(branches.len());
    for (branch, candidate) in branches.iter().enumerate() {
        let before = choices.last().map(|row| (row, &reachable[branch - 1]));
        let row = choices_of(candidate, constructs, reachable[branch].clone(), before, &needed);
        choices.push(row);
    }
    let Some((last, range)) = choices.last().zip(reachable.last()) else { return Some(Vec::new()) };
    let whole = |(choice, construct): (&Choice, usize)| {
        Some((construct, choice.cost? + needed[constructs.len()] - needed[construct + 1]))
    };
    let (mut construct, _) =
        last.iter().zip(range.clone()).filter_map(whole).min_by_key(|(_, cost)| *cost)?;
    let mut matched = vec![0; branches.len()];
    for branch in (0..branches.len()).rev() {
        matched[branch] = construct;
        construct = choices[branch][construct - reachable[branch].start()].previous;
    }
    Some(matched)
}

/// What each of `range` costs as the construct of a branch. `before`: the same of the branch
/// before, with its range; `needed`: what all constructs before each would count if they were left
/// out.
fn choices_of(
    candidate: &Candidate<'_>,
    constructs: &[Construct],
    range: RangeInclusive<usize>,
    before: Option<(&Vec<Choice>, &RangeInclusive<usize>)>,
    needed: &[u32],
) -> Vec<Choice> {
    // The best construct so far of the branch before, and its cost less the needed ones up to and
    // with it.
    let mut best: Option<(i64, usize)> = before.is_none().then_some((0, 0));
    let mut earlier =
        before.into_iter().flat_map(|(row, range)| row.iter().zip(range.clone())).peekable();
    let choice = |construct: usize| {
        while let Some((choice, previous)) = earlier.next_if(|(_, previous)| *previous < construct)
        {
            let Some(cost) = choice.cost else { continue };
            let relative = i64::from(cost) - i64::from(needed[previous + 1]);
            if best.is_none_or(|(known, _)| relative < known) {
                best = Some((relative, previous));
            }
        }
        match best {
            Some((relative, previous)) if candidate.fits(&constructs[construct]) => {
                let left_out = (relative + i64::from(needed[construct])) as u32;
                Choice { cost: Some(left_out + candidate.doubts(&constructs[construct])), previous }
            }
            Some(_) | None => Choice { cost: None, previous: 0 },
        }
    };
    range.map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn construct(cause: Cause, optional: bool) -> Construct {
        Construct { kind: ObjectBranchKind::Conditional, cause, optional, token: None }
    }

    fn owners(possible: &[u32], whole: &[u32]) -> OwnersOfValue {
        let ids = |numbers: &[u32]| numbers.iter().copied().map(DecisionId).collect();
        OwnersOfValue { closest: Vec::new(), possible: ids(possible), whole: ids(whole) }
    }

    fn candidate(owners: &OwnersOfValue) -> Candidate<'_> {
        Candidate {
            kind: ObjectBranchKind::Conditional,
            ternary: AtTernary::No,
            owners,
            token: None,
        }
    }

    /// What speaks against an assignment.
    fn against(matched: &[usize], branches: &[Candidate<'_>], constructs: &[Construct]) -> u32 {
        let needed = constructs.iter().enumerate().filter(|(_, construct)| !construct.optional);
        let left_out = needed.filter(|(index, _)| !matched.contains(index)).count() as u32;
        let doubts =
            matched.iter().zip(branches).map(|(at, branch)| branch.doubts(&constructs[*at]));
        LEFT_OUT * left_out + doubts.sum::<u32>()
    }

    /// The least that speaks against any assignment, all assignments tried.
    fn by_trial(
        branches: &[Candidate<'_>],
        constructs: &[Construct],
        from: usize,
        chosen: &mut Vec<usize>,
    ) -> Option<u32> {
        let Some(branch) = branches.get(chosen.len()) else {
            return Some(against(chosen, branches, constructs));
        };
        let mut fewest = None;
        for at in (from..constructs.len()).filter(|at| branch.fits(&constructs[*at])) {
            chosen.push(at);
            let found = by_trial(branches, constructs, at + 1, chosen);
            chosen.pop();
            fewest = match (fewest, found) {
                (Some(one), Some(other)) => Some(u32::min(one, other)),
                (one, other) => one.or(other),
            };
        }
        fewest
    }

    proptest! {
        #[test]
        fn nothing_speaks_less_against_another_order(
            wanted in prop::collection::vec(
                (prop::collection::btree_set(1_u32..4, 0..3), prop::option::of(0_u32..3), any::<bool>()), 0..5),
            there in prop::collection::vec((1_u32..4, any::<bool>(), any::<bool>(), prop::option::of(0_u32..3)), 0..8),
        ) {
            let owned: Vec<OwnersOfValue> = wanted.iter().map(|(possible, _, whole)| {
                let possible: Vec<u32> = possible.iter().copied().collect();
                owners(&possible, &possible[..if *whole { possible.len().min(1) } else { 0 }])
            }).collect();
            let branches: Vec<Candidate<'_>> = owned.iter().zip(&wanted)
                .map(|(owners, (_, token, _))| Candidate { token: *token, ..candidate(owners) }).collect();
            let of = |(decision, inner, optional, token)| {
                let decision = DecisionId(decision);
                let cause = if inner { Cause::Operand(decision) } else { Cause::Outcome(decision) };
                Construct { token, ..construct(cause, optional) }
            };
            let constructs: Vec<Construct> = there.into_iter().map(of).collect();
            let matched = align(&branches, &constructs);
            let least = by_trial(&branches, &constructs, 0, &mut Vec::new());
            prop_assert_eq!(matched.as_ref().map(|matched| against(matched, &branches, &constructs)), least);
            if let Some(matched) = matched {
                prop_assert!(matched.is_sorted_by(|one, next| one < next));
                prop_assert!(matched.iter().zip(&branches).all(|(at, branch)| branch.fits(&constructs[*at])));
            }
        }
    }

    /// What a value cannot come of, no branch on it is; what it is in part alone is doubtful.
    #[test]
    fn a_branch_belongs_to_decisions_of_its_value_alone() {
        let (first, second) = (DecisionId(1), DecisionId(2));
        let (part, whole) = (owners(&[1], &[]), owners(&[1], &[1]));
        for cause in [Cause::Outcome, Cause::Operand] {
            let [own, other] = [first, second].map(|decision| construct(cause(decision), false));
            assert!(candidate(&part).fits(&own) && !candidate(&part).fits(&other), "{own:?}");
            assert!(candidate(&owners(&[], &[])).fits(&other), "a value that may be anybody's");
        }
        let doubts =
            |owners: &OwnersOfValue, cause| candidate(owners).doubts(&construct(cause, false));
        assert_eq!(
            (doubts(&part, Cause::Outcome(first)), doubts(&whole, Cause::Outcome(first))),
            (1, 0)
        );
        assert_eq!(
            (doubts(&part, Cause::Operand(first)), doubts(&whole, Cause::Operand(first))),
            (0, 1)
        );
        let at = |token| Candidate { token, ..candidate(&whole) };
        let there = Construct { token: Some(7), ..construct(Cause::Outcome(first), false) };
        assert_eq!([Some(7), Some(8), None].map(|token| at(token).doubts(&there)), [0, 1, 0]);
    }

    /// What decisions leave open is looked at, not all that one number of branches and constructs
    /// allows.
    #[test]
    fn a_branch_of_a_constant_finds_its_decision_in_a_long_function() {
        const DECISIONS: u32 = 6000;
        let all: Vec<DecisionId> = (1..=DECISIONS).map(DecisionId).collect();
        let of_decision = |decision: &DecisionId| {
            let closed = construct(Cause::Closed("a literal constant"), true);
            let operand = construct(Cause::Operand(*decision), true);
            [closed, operand, construct(Cause::Outcome(*decision), false)]
        };
        let constructs: Vec<Construct> = all.iter().flat_map(of_decision).collect();
        // Of each decision an operand, which may be any's, and the outcome.
        let anyone =
            OwnersOfValue { closest: Vec::new(), possible: all.clone(), whole: Vec::new() };
        let own: Vec<OwnersOfValue> =
            (1..=DECISIONS).map(|number| owners(&[number], &[number])).collect();
        let at_ternary = |owners| Candidate { ternary: AtTernary::Yes, ..candidate(owners) };
        let branches: Vec<Candidate<'_>> =
            own.iter().flat_map(|own| [at_ternary(&anyone), at_ternary(own)]).collect();
        let matched = align(&branches, &constructs).unwrap();
        let origins: Vec<Option<ObjectOrigin>> =
            matched.iter().map(|at| constructs[*at].origin()).collect();
        let expected = all.iter().flat_map(|decision| [*decision, *decision]);
        let expected: Vec<_> =
            expected.map(|decision| Some(ObjectOrigin::Decisions(vec![decision]))).collect();
        assert_eq!(origins, expected);
    }
}
