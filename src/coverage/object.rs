//! Coverage of object code: which outcomes of a production module's branches the tests have shown.
//!
//! Knows: the branches with the bits of their outcomes, and the records of passed tests.
//! Promises: every outcome of every branch is an obligation (`B1.T`, `B1.F`, `B2.L1`); those of
//! branches that trace to no source are named as additional code besides (DO-178C 6.4.4.2.b).
//! Does not cover: whether the trace is right (`instrument::object`).

use vkcert_model::coverage::{ObjectPlace, SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::object::{ObjectBranch, ObjectOrigin, ObjectOutcome, ObjectStructure};
use vkcert_model::records::Records;

/// Obligations of object code.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ObjectCoverage {
    /// In module order.
    pub outcomes: Vec<SimpleObligation>,
    /// Those of `outcomes` that belong to additional code.
    pub additional: Vec<ObligationId>,
}

/// Assesses the branches of one module; `tests` are those that passed, in order of execution.
/// `module` is the path that stands for the file where there is no debug information.
pub fn assess_object(
    structure: &ObjectStructure,
    module_path: &str,
    counted_tests: &[(TestId, &Records)],
) -> ObjectCoverage {
    let mut object_coverage = ObjectCoverage::default();
    for branch in &structure.branches {
        for outcome in &branch.outcomes {
            let outcome_obligation =
                outcome_obligation(structure, branch, outcome, module_path, counted_tests);
            if branch.origin.is_additional() {
                object_coverage.additional.push(outcome_obligation.id);
            }
            object_coverage.outcomes.push(outcome_obligation);
        }
    }
    if let (Some(reason), true) = (&structure.unrecorded, object_coverage.outcomes.is_empty()) {
        // Not even the number of branches is known: no share of them may look complete for being
        // empty.
        let unknown_branches = unknown_obligation(module_path, reason);
        object_coverage.additional.push(unknown_branches.id);
        object_coverage.outcomes.push(unknown_branches);
    }
    object_coverage
}

fn unknown_obligation(module_path: &str, reason: &str) -> SimpleObligation {
    SimpleObligation {
        id: ObligationId::from("B".to_owned()),
        file: module_path.to_owned(),
        line: 0,
        column: 0,
        text: "the branches of the production module".to_owned(),
        status: Status::Undetermined,
        reason: Some(reason.to_owned()),
        tests: Vec::new(),
        uncounted: Vec::new(),
        proposal: None,
        object: Some(ObjectPlace {
            function: String::new(),
            instruction: 0,
            origin: String::new(),
        }),
    }
}

fn outcome_obligation(
    structure: &ObjectStructure,
    branch: &ObjectBranch,
    outcome: &ObjectOutcome,
    module_path: &str,
    counted_tests: &[(TestId, &Records)],
) -> SimpleObligation {
    let counted_tests: Vec<TestId> = counted_tests
        .iter()
        .filter(|(_, records)| records.has(outcome.bit))
        .map(|(test, _)| *test)
        .collect();
    let (status, reason, counted_tests) = match &structure.unrecorded {
        Some(reason) => (Status::Undetermined, Some(reason.clone()), Vec::new()),
        None if counted_tests.is_empty() => (Status::Uncovered, None, counted_tests),
        None => (Status::Covered, None, counted_tests),
    };
    let place = &branch.place;
    let origin_words = match &branch.origin {
        ObjectOrigin::NoSource => String::new(),
        origin_words => format!(" ({origin_words})"),
    };
    SimpleObligation {
        id: ObligationId::from(format!("{}.{}", branch.id, outcome.label)),
        file: place.file.clone().unwrap_or_else(|| module_path.to_owned()),
        line: place.line.unwrap_or(0),
        column: place.column.unwrap_or(0),
        text: format!("{} {}{origin_words}", branch.kind, outcome.text),
        status,
        reason,
        tests: counted_tests,
        uncounted: Vec::new(),
        proposal: None,
        object: Some(ObjectPlace {
            function: place.function.clone().unwrap_or_default(),
            instruction: place.instruction.unwrap_or(0),
            origin: branch.origin.to_string(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::id::{DecisionId, ObjectBranchId};
    use vkcert_model::object::ObjectBranchKind;
    use vkcert_model::place::Place;

    fn structure(origin: ObjectOrigin) -> ObjectStructure {
        let outcome = |label: &str, text: &str, bit| ObjectOutcome {
            label: label.into(),
            text: text.into(),
            bit,
        };
        let branch = ObjectBranch {
            id: ObjectBranchId(1),
            kind: ObjectBranchKind::Conditional,
            place: Place {
                function: Some("main".into()),
                instruction: Some(99),
                ..Place::default()
            },
            outcomes: vec![outcome("T", "true", 3), outcome("F", "false", 40)],
            origin,
        };
        ObjectStructure { branches: vec![branch], loops: Vec::new(), bits: 41, unrecorded: None }
    }

    fn statuses(coverage: &ObjectCoverage) -> Vec<(String, Status)> {
        coverage.outcomes.iter().map(|row| (row.id.to_string(), row.status)).collect()
    }

    #[test]
    fn an_outcome_is_covered_by_the_tests_that_set_its_bit() {
        let decision = ObjectOrigin::Decisions(vec![DecisionId(1)]);
        let (first, second) =
            (Records { words: vec![0, 1 << 8], ..Records::default() }, Records::default());
        let tests = [("A".into(), &first), ("B".into(), &second)];
        let coverage = assess_object(&structure(decision), "k.spv", &tests);
        let expected =
            [("B1.T".to_owned(), Status::Uncovered), ("B1.F".to_owned(), Status::Covered)];
        assert_eq!(statuses(&coverage), expected);
        assert_eq!(coverage.outcomes[1].tests, ["A".into()]);
        assert_eq!((coverage.outcomes[0].file.as_str(), coverage.additional.len()), ("k.spv", 0));
    }

    #[test]
    fn what_traces_to_no_source_is_additional_code() {
        let coverage =
            assess_object(&structure(ObjectOrigin::Untraced("why".into())), "k.spv", &[]);
        assert_eq!(coverage.additional, ["B1.T".into(), "B1.F".into()]);
    }

    #[test]
    fn branches_that_cannot_be_recorded_are_undetermined() {
        let mut structure = structure(ObjectOrigin::NoSource);
        structure.unrecorded = Some("why".into());
        let coverage = assess_object(&structure, "k.spv", &[]);
        assert!(
            coverage
                .outcomes
                .iter()
                .all(|row| row.status == Status::Undetermined && row.reason.is_some())
        );
        structure.branches.clear();
        let coverage = assess_object(&structure, "k.spv", &[]);
        assert_eq!(statuses(&coverage), [("B".to_owned(), Status::Undetermined)]);
        assert_eq!(coverage.additional, ["B".into()]);
    }
}
