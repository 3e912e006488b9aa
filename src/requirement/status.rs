//! The status of requirements, from verdicts of tests and from records of analyses and reviews.
//!
//! Promises: a requirement is verified only by every method that it names. A test that neither
//! passed nor failed, or that did not run, verifies nothing; what children show is told as such and
//! never as tested. Where a requirement names kernels' code, each part of it is judged by a test of
//! the requirement.
//! Does not cover: whether a record is accepted, and links between requirements that have changed.

use super::reach::{TestedCode, UntestedCode};
use super::trace::Verdicts;
use std::collections::BTreeMap;
use vkcert_model::evidence::{
    KernelText, RecordEvidence, RequirementEvidence, RequirementStatus, UntestedKernel,
};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::requirement::{CodeLink, VerificationMethod};
use vkcert_model::verdict::Verdict;

/// A status, and the methods that nothing satisfies yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequirementOutcome {
    /// The status.
    pub status: RequirementStatus,
    /// In the order in which the requirement names them.
    pub open: Vec<VerificationMethod>,
    /// Code that it names and that no test of it judges.
    pub untested_code: Vec<CodeLink>,
    /// Kernels that such code is part of, too, and in which no test of it judges it.
    pub untested_kernels: Vec<UntestedKernel>,
}

impl RequirementOutcome {
    /// What evidence stores.
    pub fn from_evidence(requirement_row: &RequirementEvidence) -> Self {
        Self {
            status: requirement_row.status,
            open: requirement_row.open.clone(),
            untested_code: requirement_row.untested_code.clone(),
            untested_kernels: requirement_row.untested_kernels.clone(),
        }
    }
}

/// The results of verification from which statuses are derived.
#[derive(Debug, Clone, Copy)]
pub struct VerificationResults<'a> {
    /// Verdicts of each test on the engines that ran it.
    pub verdicts: &'a Verdicts,
    /// Records of analysis and review, accepted or not.
    pub records: &'a [RecordEvidence],
    /// The code of kernels, and which tests judge it.
    pub code: &'a TestedCode<'a>,
}

/// The outcome of a requirement's tests, or of those of its children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TestOutcome {
    Passed,
    /// No test names it; its children are verified.
    ChildrenVerified,
    /// The same, and none of them is tested.
    ChildrenVerifiedOtherwise,
    Failed,
    /// Some neither passed nor failed.
    Open,
    /// There is none.
    Missing,
}

/// Outcome of every requirement. A project has no cycle of parents and no child that is not there
/// (checked when it was read); in evidence such a child counts as untested.
pub fn requirement_outcomes(
    traces: &[RequirementEvidence],
    verification_results: VerificationResults<'_>,
    rules: Generation,
) -> BTreeMap<RequirementId, RequirementOutcome> {
    let by_uid = traces.iter().map(|trace| (&trace.requirement.uid, trace)).collect();
    let mut judging =
        StatusDerivation { by_uid, shown: verification_results, rules, known: BTreeMap::new() };
    for trace in traces {
        judging.derive_status(trace);
    }
    judging.known
}

/// Sets the status of every requirement, and what is open of it.
pub fn assign_statuses(
    traces: &mut [RequirementEvidence],
    verification_results: VerificationResults<'_>,
    rules: Generation,
) {
    let mut outcomes = requirement_outcomes(traces, verification_results, rules);
    for trace in traces {
        let outcome =
            outcomes.remove(&trace.requirement.uid).expect("every requirement has an outcome");
        (trace.status, trace.open) = (outcome.status, outcome.open);
        (trace.untested_code, trace.untested_kernels) =
            (outcome.untested_code, outcome.untested_kernels);
    }
}

struct StatusDerivation<'a> {
    by_uid: BTreeMap<&'a RequirementId, &'a RequirementEvidence>,
    shown: VerificationResults<'a>,
    rules: Generation,
    known: BTreeMap<RequirementId, RequirementOutcome>,
}

impl StatusDerivation<'_> {
    /// The status of a requirement, whose outcome is then known.
    fn derive_status(&mut self, trace: &RequirementEvidence) -> RequirementStatus {
        let uid = &trace.requirement.uid;
        if let Some(known) = self.known.get(uid) {
            return known.status;
        }
        // Evidence may hold a requirement that is its own child, which a project cannot: while its
        // outcome is being derived it counts as untested, so that the recursion ends.
        let pending = RequirementOutcome {
            status: RequirementStatus::Untested,
            open: Vec::new(),
            untested_code: Vec::new(),
            untested_kernels: Vec::new(),
        };
        self.known.insert(*uid, pending);
        let outcome = self.derive_outcome(trace);
        let status = outcome.status;
        self.known.insert(*uid, outcome);
        status
    }

    fn derive_outcome(&mut self, trace: &RequirementEvidence) -> RequirementOutcome {
        let required_methods = &trace.requirement.verification;
        let asks_for_test = required_methods.contains(&VerificationMethod::Test);
        let test_outcome =
            match (trace.tests.is_empty() && trace.left_out_tests.is_empty(), asks_for_test) {
                (false, _) => Some(self.tests_and_children_outcome(trace)),
                (true, true) => Some(self.children_outcome(trace)),
                (true, false) => None,
            };
        let untested_code =
            if asks_for_test { self.untested_code(trace) } else { UntestedCode::default() };
        let has_other_text = untested_code.kernels.iter().any(|row| row.text != KernelText::Same);
        let lacks_code = has_other_text || !untested_code.links.is_empty();
        let test_outcome = match test_outcome {
            Some(TestOutcome::Passed | TestOutcome::ChildrenVerified) if lacks_code => {
                Some(TestOutcome::Open)
            }
            test_outcome => test_outcome,
        };
        let is_tested = matches!(
            test_outcome,
            Some(
                TestOutcome::Passed
                    | TestOutcome::ChildrenVerified
                    | TestOutcome::ChildrenVerifiedOtherwise
            )
        );
        let mut open_methods = Vec::new();
        for method in required_methods.iter().copied() {
            let is_satisfied = match method {
                VerificationMethod::Test => is_tested,
                VerificationMethod::Analysis | VerificationMethod::Review => {
                    self.has_record(uid_of(trace), method)
                }
            };
            if !is_satisfied {
                open_methods.push(method);
            }
        }
        open_methods.dedup();
        let status = match test_outcome {
            Some(TestOutcome::Failed) => RequirementStatus::Failed,
            Some(TestOutcome::Missing) => RequirementStatus::Untested,
            Some(TestOutcome::Open) => RequirementStatus::Open,
            _ if !open_methods.is_empty() => RequirementStatus::Open,
            Some(TestOutcome::Passed) => match (asks_for_test, self.rules) {
                (true, _) | (false, Generation::First) => RequirementStatus::Verified,
                (
                    false,
                    Generation::Second
                    | Generation::Third
                    | Generation::Fourth
                    | Generation::Current,
                ) => RequirementStatus::ByOtherMeans,
            },
            Some(TestOutcome::ChildrenVerified) => RequirementStatus::VerifiedByChildren,
            Some(TestOutcome::ChildrenVerifiedOtherwise) | None => RequirementStatus::ByOtherMeans,
        };
        RequirementOutcome {
            status,
            open: open_methods,
            untested_code: untested_code.links,
            untested_kernels: untested_code.kernels,
        }
    }

    /// Code that the requirement names and that no test of it judges. Where no test names the
    /// requirement, the tests of its children count instead.
    fn untested_code(&self, trace: &RequirementEvidence) -> UntestedCode {
        let mut family = vec![trace];
        if trace.tests.is_empty() {
            let mut next_member = 0;
            while let Some(member) = family.get(next_member).copied() {
                let children =
                    member.children.iter().filter_map(|child| self.by_uid.get(child).copied());
                let new_members: Vec<_> = children
                    .filter(|child| {
                        !family.iter().any(|known_member| uid_of(known_member) == uid_of(child))
                    })
                    .collect();
                family.extend(new_members);
                next_member += 1;
            }
        }
        let test_ids: Vec<&TestId> = family.iter().flat_map(|member| &member.tests).collect();
        let left_out = family.iter().any(|member| !member.left_out_tests.is_empty());
        // Nothing is claimed without tests, nor where tests were left out, because these may judge
        // the code.
        match (self.rules, test_ids.is_empty() || left_out) {
            (Generation::Third | Generation::Fourth | Generation::Current, false) => {
                self.shown.code.untested_code(trace, test_ids)
            }
            // Rules of the second generation ask for a test in one of the kernels alone; its
            // evidence has no digests by which texts could be compared.
            (Generation::Second, false) => UntestedCode {
                kernels: Vec::new(),
                ..self.shown.code.untested_code(trace, test_ids)
            },
            (
                Generation::Second | Generation::Third | Generation::Fourth | Generation::Current,
                true,
            )
            | (Generation::First, _) => UntestedCode::default(),
        }
    }

    fn has_record(&self, uid: &RequirementId, method: VerificationMethod) -> bool {
        let is_accepted = |row: &RecordEvidence| {
            row.method == method && row.record.requirement == *uid && row.rejected.is_none()
        };
        match self.rules {
            Generation::Second | Generation::Third | Generation::Fourth | Generation::Current => {
                self.shown.records.iter().any(is_accepted)
            }
            Generation::First => true,
        }
    }

    fn own_tests_outcome(&self, trace: &RequirementEvidence) -> TestOutcome {
        let test_verdicts = trace
            .tests
            .iter()
            .map(|test| self.shown.verdicts.get(test).map_or(&[][..], Vec::as_slice));
        let outcomes: Vec<TestOutcome> =
            test_verdicts.map(|test_verdicts| outcome_of_test(test_verdicts, self.rules)).collect();
        let first_of =
            |wanted_outcome| outcomes.iter().copied().find(|outcome| *outcome == wanted_outcome);
        match first_of(TestOutcome::Failed).or(first_of(TestOutcome::Open)) {
            Some(outcome) => outcome,
            None if trace.left_out_tests.is_empty() => TestOutcome::Passed,
            None => TestOutcome::Open,
        }
    }

    /// A requirement whose own tests pass is not met where a child, which refines it, is not.
    fn tests_and_children_outcome(&mut self, trace: &RequirementEvidence) -> TestOutcome {
        let own_outcome = self.own_tests_outcome(trace);
        match (own_outcome, self.rules) {
            (
                TestOutcome::Passed,
                Generation::Second | Generation::Third | Generation::Fourth | Generation::Current,
            ) => match self.children_outcome(trace) {
                refuting @ (TestOutcome::Failed | TestOutcome::Open) => refuting,
                TestOutcome::Passed
                | TestOutcome::Missing
                | TestOutcome::ChildrenVerified
                | TestOutcome::ChildrenVerifiedOtherwise => own_outcome,
            },
            (
                _,
                Generation::First
                | Generation::Second
                | Generation::Third
                | Generation::Fourth
                | Generation::Current,
            ) => own_outcome,
        }
    }

    fn children_outcome(&mut self, trace: &RequirementEvidence) -> TestOutcome {
        let mut statuses = Vec::with_capacity(trace.children.len());
        for child in &trace.children {
            statuses.push(match self.by_uid.get(child).copied() {
                Some(child) => self.derive_status(child),
                None => RequirementStatus::Untested,
            });
        }
        let tested_statuses = [RequirementStatus::Verified, RequirementStatus::VerifiedByChildren];
        if statuses.contains(&RequirementStatus::Failed) {
            TestOutcome::Failed
        } else if statuses.is_empty() || statuses.contains(&RequirementStatus::Untested) {
            TestOutcome::Missing
        } else if statuses.contains(&RequirementStatus::Open) {
            TestOutcome::Open
        } else if statuses.iter().any(|status| tested_statuses.contains(status)) {
            TestOutcome::ChildrenVerified
        } else {
            match self.rules {
                Generation::First => TestOutcome::ChildrenVerifiedOtherwise,
                // The requirement asks for tests, and no child is tested either.
                Generation::Second
                | Generation::Third
                | Generation::Fourth
                | Generation::Current => TestOutcome::Missing,
            }
        }
    }
}

fn uid_of(trace: &RequirementEvidence) -> &RequirementId {
    &trace.requirement.uid
}

/// The outcome of one test on all engines: it passed if it ran somewhere and passed on every engine
/// that was there.
fn outcome_of_test(verdicts: &[Verdict], rules: Generation) -> TestOutcome {
    if !verdicts.is_empty() && verdicts.iter().all(|verdict| *verdict == Verdict::Pass) {
        TestOutcome::Passed
    } else if rules == Generation::First || verdicts.iter().any(is_failure) {
        TestOutcome::Failed
    } else {
        TestOutcome::Open
    }
}

fn is_failure(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Fail | Verdict::Error | Verdict::Timeout)
}

/// Why a requirement is open, a phrase per method.
pub fn open_reasons(requirement_row: &RequirementEvidence, verdicts: &Verdicts) -> Vec<String> {
    let mut reasons = Vec::new();
    let unjudged_kernels = || {
        requirement_row
            .untested_kernels
            .iter()
            .filter_map(|kernel| Some((kernel, kernel.why_open()?)))
    };
    let lacks_code =
        !requirement_row.untested_code.is_empty() || unjudged_kernels().next().is_some();
    for method in &requirement_row.open {
        match method {
            VerificationMethod::Analysis => {
                reasons.push("no accepted record of an analysis".to_owned())
            }
            VerificationMethod::Review => reasons.push("no accepted record of a review".to_owned()),
            VerificationMethod::Test
                if requirement_row.tests.is_empty()
                    && requirement_row.left_out_tests.is_empty()
                    && !lacks_code =>
            {
                reasons.push("its children are not verified".to_owned())
            }
            VerificationMethod::Test => {}
        }
    }
    // Tests that name the requirement must pass even where it does not ask for tests.
    for test in &requirement_row.tests {
        let test_verdicts = verdicts.get(test).map_or(&[][..], Vec::as_slice);
        if outcome_of_test(test_verdicts, Generation::Current) == TestOutcome::Open {
            let shown_verdict = test_verdicts
                .iter()
                .find(|verdict| !matches!(verdict, Verdict::Pass | Verdict::NotRun));
            reasons.push(format!("test {test}: {}", shown_verdict.unwrap_or(&Verdict::NotRun)));
        }
    }
    reasons.extend(
        requirement_row
            .untested_code
            .iter()
            .map(|code| format!("no test of it judges {code}, which it names")),
    );
    for (kernel, reason) in unjudged_kernels() {
        reasons.push(format!("no test of it judges {}, {reason}", kernel.in_words()));
    }
    reasons.extend(
        requirement_row.left_out_tests.iter().map(|test| format!("test {test} was left out")),
    );
    if reasons.is_empty() && requirement_row.open.contains(&VerificationMethod::Test) {
        reasons.push("a child is open".to_owned());
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use vkcert_model::id::TestId;

    /// A requirement to be verified by test, with its tests and children.
    fn row(uid: &str, tests: &[&str], children: &[&str]) -> RequirementEvidence {
        let requirement = json!({ "uid": uid, "level": "HLR", "title": "t", "statement": "s", "verification": ["test"] });
        let row = json!({
            "requirement": requirement, "hash": "", "file": "", "suspect_parents": [], "children": children,
            "tests": tests, "left_out_tests": [], "code": [], "status": "untested", "open": [],
        });
        serde_json::from_value(row).unwrap()
    }

    fn status_of(
        rows: &[RequirementEvidence],
        verdicts: &[(&str, &[Verdict])],
        uid: &str,
    ) -> RequirementStatus {
        let verdicts: Verdicts =
            verdicts.iter().map(|(id, all)| (TestId::from(*id), all.to_vec())).collect();
        let shown =
            VerificationResults { verdicts: &verdicts, records: &[], code: &TestedCode::default() };
        requirement_outcomes(rows, shown, Generation::Current)[&RequirementId::from(uid)].status
    }

    #[test]
    fn each_of_several_tests_counts_on_each_engine() {
        use RequirementStatus::{Failed, Open, Verified};
        use Verdict::{Error, Fail, NotRun, Pass, Timeout, Undetermined, Unsupported};
        let cases: &[(&[Verdict], RequirementStatus)] = &[
            (&[Pass, Pass], Verified),
            (&[Pass, NotRun], Open),
            (&[NotRun, NotRun], Open),
            (&[Pass, Fail], Failed),
            (&[Pass, Error], Failed),
            (&[Pass, Timeout], Failed),
            (&[Pass, Undetermined], Open),
            (&[Unsupported, Pass], Open),
            (&[Undetermined, Fail], Failed),
            (&[], Open),
        ];
        for (verdicts, status) in cases {
            let rows = [row("R", &["A", "B"], &[])];
            for order in [["A", "B"], ["B", "A"]] {
                let given = [(order[0], &[Pass][..]), (order[1], *verdicts)];
                assert_eq!(status_of(&rows, &given, "R"), *status, "{verdicts:?}");
            }
        }
    }

    #[test]
    fn a_requirement_whose_own_tests_pass_is_not_met_where_a_child_is_not() {
        use RequirementStatus::{Failed, Open, Verified};
        for (verdict, status) in [
            (Verdict::Pass, Verified),
            (Verdict::Fail, Failed),
            (Verdict::Undetermined, Open),
            (Verdict::NotRun, Open),
        ] {
            let rows = [row("P", &["A"], &["C"]), row("C", &["T"], &[])];
            let given = [("A", &[Verdict::Pass][..]), ("T", &[verdict])];
            assert_eq!(status_of(&rows, &given, "P"), status, "{verdict:?}");
        }
    }

    #[test]
    fn children_that_no_project_has_are_untested() {
        let given = [("A", &[Verdict::Pass][..])];
        for children in [&["NONE"][..], &["P"], &["C", "NONE"], &["D"]] {
            let rows = [row("P", &[], children), row("C", &["A"], &[]), row("D", &[], &["P"])];
            assert_eq!(status_of(&rows, &given, "P"), RequirementStatus::Untested, "{children:?}");
        }
    }

    #[test]
    fn each_of_several_children_counts() {
        use RequirementStatus::{Failed, Open, Untested, VerifiedByChildren};
        let cases: &[(Option<&[Verdict]>, RequirementStatus)] = &[
            (Some(&[Verdict::Pass]), VerifiedByChildren),
            (Some(&[Verdict::Fail]), Failed),
            (Some(&[Verdict::Undetermined]), Open),
            (None, Untested),
        ];
        for (verdicts, status) in cases {
            let tested = if verdicts.is_some() { &["T"][..] } else { &[] };
            let given = [("A", &[Verdict::Pass][..]), ("T", verdicts.unwrap_or_default())];
            for children in [["C", "D"], ["D", "C"]] {
                let rows = [row("P", &[], &children), row("C", &["A"], &[]), row("D", tested, &[])];
                assert_eq!(status_of(&rows, &given, "P"), *status, "{verdicts:?}");
            }
        }
    }
}
