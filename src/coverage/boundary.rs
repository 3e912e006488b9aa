//! Boundary value coverage: which values at the edges of their ranges tests that passed have given
//! the host parameters of a kernel.
//!
//! Knows: the boundary values of the kernel's interface with the tests that give them.
//! Promises: every boundary value is an obligation (`BND1`, `BND2` ...); where tests cannot tell
//! the value of a parameter, it is undetermined, with the reason.
//! Does not cover: combinations of values of several parameters.

use std::collections::BTreeSet;
use vkcert_model::boundary::BoundaryValue;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::id::TestId;
use vkcert_model::records::Records;

/// Assesses the boundary values of one kernel; `counted_tests` are those that count.
pub fn assess_boundaries(
    boundary_values: &[BoundaryValue],
    counted_tests: &[(TestId, &Records)],
) -> Vec<SimpleObligation> {
    let counted: BTreeSet<TestId> = counted_tests.iter().map(|(test, _)| *test).collect();
    boundary_values.iter().map(|value| boundary_obligation(value, &counted)).collect()
}

fn boundary_obligation(value: &BoundaryValue, counted: &BTreeSet<TestId>) -> SimpleObligation {
    let tests: Vec<TestId> =
        value.tests.iter().filter(|test| counted.contains(test)).copied().collect();
    let status = match (&value.unknown, tests.is_empty()) {
        (Some(_), _) => Status::Undetermined,
        (None, true) => Status::Uncovered,
        (None, false) => Status::Covered,
    };
    SimpleObligation {
        id: value.id,
        file: value.file.clone(),
        line: value.line,
        column: value.column,
        text: value.text.clone(),
        status,
        reason: value.unknown.clone(),
        tests: if status == Status::Undetermined { Vec::new() } else { tests },
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(unknown: Option<&str>, tests: &[&str]) -> BoundaryValue {
        BoundaryValue {
            id: "BND1".into(),
            text: "m = 1 (minimum)".to_owned(),
            file: "requirements/a.toml".to_owned(),
            line: 3,
            column: 1,
            unknown: unknown.map(str::to_owned),
            tests: tests.iter().map(|test| TestId::from(*test)).collect(),
        }
    }

    #[test]
    fn only_tests_that_count_cover_a_value() {
        let records = Records::default();
        let counted = [(TestId::from("A"), &records), (TestId::from("B"), &records)];
        let assessed = |value: BoundaryValue| {
            let obligation = assess_boundaries(&[value], &counted).remove(0);
            (obligation.status, obligation.tests)
        };
        assert_eq!(assessed(value(None, &["C", "B"])), (Status::Covered, vec!["B".into()]));
        assert_eq!(assessed(value(None, &["C"])), (Status::Uncovered, Vec::new()));
        assert_eq!(assessed(value(Some("why"), &["A"])), (Status::Undetermined, Vec::new()));
    }
}
