use super::*;
use proptest::prelude::*;

fn construct(cause: ConstructCause, optional: bool) -> MarkedConstruct {
    MarkedConstruct { kind: ObjectBranchKind::Conditional, cause, optional, token: None }
}

fn owners(possible: &[u32], whole: &[u32]) -> OwnersOfValue {
    let ids = |numbers: &[u32]| numbers.iter().copied().map(DecisionId).collect();
    OwnersOfValue { closest: Vec::new(), possible: ids(possible), whole: ids(whole) }
}

fn candidate(owners: &OwnersOfValue) -> BranchCandidate<'_> {
    BranchCandidate {
        kind: ObjectBranchKind::Conditional,
        ternary: AtTernary::No,
        owners,
        token: None,
    }
}

/// What speaks against an assignment.
fn against(
    matched: &[usize],
    branches: &[BranchCandidate<'_>],
    constructs: &[MarkedConstruct],
) -> u32 {
    let needed = constructs.iter().enumerate().filter(|(_, construct)| !construct.optional);
    let left_out = needed.filter(|(index, _)| !matched.contains(index)).count() as u32;
    let doubts =
        matched.iter().zip(branches).map(|(at, branch)| branch.doubt_count(&constructs[*at]));
    LEFT_OUT * left_out + doubts.sum::<u32>()
}

/// The least that speaks against any assignment, all assignments tried.
fn by_trial(
    branches: &[BranchCandidate<'_>],
    constructs: &[MarkedConstruct],
    from: usize,
    chosen: &mut Vec<usize>,
) -> Option<u32> {
    let Some(branch) = branches.get(chosen.len()) else {
        return Some(against(chosen, branches, constructs));
    };
    let mut fewest = None;
    for at in (from..constructs.len()).filter(|at| branch.fits_construct(&constructs[*at])) {
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
        let branches: Vec<BranchCandidate<'_>> = owned.iter().zip(&wanted)
            .map(|(owners, (_, token, _))| BranchCandidate { token: *token, ..candidate(owners) }).collect();
        let of = |(decision, inner, optional, token)| {
            let decision = DecisionId(decision);
            let cause = if inner { ConstructCause::Operand(decision) } else { ConstructCause::Outcome(decision) };
            MarkedConstruct { token, ..construct(cause, optional) }
        };
        let constructs: Vec<MarkedConstruct> = there.into_iter().map(of).collect();
        let matched = align_branches(&branches, &constructs);
        let least = by_trial(&branches, &constructs, 0, &mut Vec::new());
        prop_assert_eq!(matched.as_ref().map(|matched| against(matched, &branches, &constructs)), least);
        if let Some(matched) = matched {
            prop_assert!(matched.is_sorted_by(|one, next| one < next));
            prop_assert!(matched.iter().zip(&branches).all(|(at, branch)| branch.fits_construct(&constructs[*at])));
        }
    }
}

/// What a value cannot come of, no branch on it is; what it is in part alone is doubtful.
#[test]
fn a_branch_belongs_to_decisions_of_its_value_alone() {
    let (first, second) = (DecisionId(1), DecisionId(2));
    let (part, whole) = (owners(&[1], &[]), owners(&[1], &[1]));
    for cause in [ConstructCause::Outcome, ConstructCause::Operand] {
        let [own, other] = [first, second].map(|decision| construct(cause(decision), false));
        assert!(
            candidate(&part).fits_construct(&own) && !candidate(&part).fits_construct(&other),
            "{own:?}"
        );
        assert!(
            candidate(&owners(&[], &[])).fits_construct(&other),
            "a value that may be anybody's"
        );
    }
    let doubts =
        |owners: &OwnersOfValue, cause| candidate(owners).doubt_count(&construct(cause, false));
    assert_eq!(
        (
            doubts(&part, ConstructCause::Outcome(first)),
            doubts(&whole, ConstructCause::Outcome(first))
        ),
        (1, 0)
    );
    assert_eq!(
        (
            doubts(&part, ConstructCause::Operand(first)),
            doubts(&whole, ConstructCause::Operand(first))
        ),
        (0, 1)
    );
    let at = |token| BranchCandidate { token, ..candidate(&whole) };
    let there =
        MarkedConstruct { token: Some(7), ..construct(ConstructCause::Outcome(first), false) };
    assert_eq!([Some(7), Some(8), None].map(|token| at(token).doubt_count(&there)), [0, 1, 0]);
}

/// What decisions leave open is looked at, not all that one number of branches and constructs
/// allows.
#[test]
fn a_branch_of_a_constant_finds_its_decision_in_a_long_function() {
    const DECISIONS: u32 = 6000;
    let all: Vec<DecisionId> = (1..=DECISIONS).map(DecisionId).collect();
    let of_decision = |decision: &DecisionId| {
        let closed = construct(ConstructCause::Closed("a literal constant"), true);
        let operand = construct(ConstructCause::Operand(*decision), true);
        [closed, operand, construct(ConstructCause::Outcome(*decision), false)]
    };
    let constructs: Vec<MarkedConstruct> = all.iter().flat_map(of_decision).collect();
    // Of each decision an operand, which may be any's, and the outcome.
    let anyone = OwnersOfValue { closest: Vec::new(), possible: all.clone(), whole: Vec::new() };
    let own: Vec<OwnersOfValue> =
        (1..=DECISIONS).map(|number| owners(&[number], &[number])).collect();
    let at_ternary = |owners| BranchCandidate { ternary: AtTernary::Yes, ..candidate(owners) };
    let branches: Vec<BranchCandidate<'_>> =
        own.iter().flat_map(|own| [at_ternary(&anyone), at_ternary(own)]).collect();
    let matched = align_branches(&branches, &constructs).unwrap();
    let origins: Vec<Option<ObjectOrigin>> =
        matched.iter().map(|at| constructs[*at].object_origin()).collect();
    let expected = all.iter().flat_map(|decision| [*decision, *decision]);
    let expected: Vec<_> =
        expected.map(|decision| Some(ObjectOrigin::Decisions(vec![decision]))).collect();
    assert_eq!(origins, expected);
}
