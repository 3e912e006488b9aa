//! Coverage of coupling by class, counted.
//!
//! Promises: `covered + justified + uncovered + undetermined == total` in every row; the rows of a
//! kernel add up to its count of the criterion `coupling`, unless its pairs are not known; the
//! objects of a class add up to the class, but for barriers and calls, which have none.
//! Does not cover: how an obligation got its status.

use super::coverage::Status;
use super::pair_obligation::CouplingClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Obligations by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ObligationCounts {
    /// All of them.
    pub total: u32,
    /// Shown by tests that count.
    pub covered: u32,
    /// Uncovered, with an accepted justification.
    pub justified: u32,
    /// Shown by no test that counts.
    pub uncovered: u32,
    /// Not known.
    pub undetermined: u32,
}

impl ObligationCounts {
    /// Counts one more obligation.
    pub fn count(&mut self, status: Status) {
        self.total += 1;
        *match status {
            Status::Covered => &mut self.covered,
            Status::Justified => &mut self.justified,
            Status::Uncovered => &mut self.uncovered,
            Status::Undetermined => &mut self.undetermined,
        } += 1;
    }

    /// Counts all that others have counted.
    pub fn add(&mut self, others: ObligationCounts) {
        let ObligationCounts { total, covered, justified, uncovered, undetermined } = others;
        self.total += total;
        self.covered += covered;
        self.justified += justified;
        self.uncovered += uncovered;
        self.undetermined += undetermined;
    }
}

/// Obligations of coupling of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CouplingClassSummary {
    /// The class.
    pub class: CouplingClass,
    /// Its obligations, and what tests showed beside them.
    #[serde(flatten)]
    pub counts: ObligationCounts,
    /// The same by what passes, in the order of names; not in sums over kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<CoupledObject>,
}

/// Obligations that are about one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoupledObject {
    /// The variable or member, in GLSL's words without indices; none of what tests showed beside
    /// the obligations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Its obligations.
    #[serde(flatten)]
    pub counts: ObligationCounts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_stand_beside_the_class_they_are_of() {
        let mut counts = ObligationCounts::default();
        [Status::Covered, Status::Justified, Status::Covered, Status::Undetermined]
            .into_iter()
            .for_each(|status| counts.count(status));
        let objects = vec![CoupledObject { object: None, counts }];
        let summary =
            CouplingClassSummary { class: CouplingClass::Atomic, counts, objects: Vec::new() };
        let text = serde_json::to_string(&summary).expect("serializes");
        assert_eq!(
            text,
            r#"{"class":"atomic","total":4,"covered":2,"justified":1,"uncovered":0,"undetermined":1}"#
        );
        let whole = CouplingClassSummary { objects, ..summary };
        let text = serde_json::to_string(&whole).expect("serializes");
        assert_eq!(serde_json::from_str::<CouplingClassSummary>(&text).expect("reads"), whole);
    }

    #[test]
    fn sums_count_every_status() {
        let mut sum = ObligationCounts::default();
        sum.count(Status::Uncovered);
        let mut others = ObligationCounts::default();
        [Status::Covered, Status::Justified, Status::Uncovered, Status::Undetermined]
            .into_iter()
            .for_each(|status| others.count(status));
        sum.add(others);
        let expected =
            ObligationCounts { total: 5, covered: 1, justified: 1, uncovered: 2, undetermined: 1 };
        assert_eq!(sum, expected);
    }
}
