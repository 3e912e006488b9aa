//! Statuses of requirements, and what tests repeat of their definitions.

use crate::Verification;
use vkcert_derivation::derive;
use vkcert_model::evidence::{Campaign, Evidence};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::procedure::{Expectation, Tolerance};
use vkcert_requirement::status::{RequirementOutcome, VerificationResults, requirement_outcomes};
use vkcert_requirement::{hash, trace};

/// The fields of a test that repeat its definition.
pub(super) fn check_tests(stored: &Evidence, verification: &mut Verification) {
    for test in &stored.campaign.tests {
        let (id, definition) = (&test.id, &test.definition);
        let mut require_same = |holds: bool, described_field: &str| {
            verification.check(holds, || {
                format!("test {id}: its {described_field} does not follow from its definition")
            });
        };
        require_same(*id == definition.id, "id");
        require_same(hash::test_hash(definition) == test.hash, "hash");
        require_same(test.title == definition.title, "title");
        require_same(test.kind == definition.kind, "kind");
        require_same(test.requirements == definition.requirements, "list of requirements");
        require_same(test.kernels == trace::kernels_of(definition), "list of kernels");
        require_same(test.procedure == trace::describe_test(definition), "procedure");
        let judged_buffers: Vec<&str> =
            test.expected.iter().map(|expected| expected.buffer.as_str()).collect();
        let stated_buffers: Vec<&str> =
            definition.expect.iter().map(|expected| expected.judged()).collect();
        require_same(
            judged_buffers == stated_buffers || judged_buffers.is_empty(),
            "list of expectations",
        );
        let tolerances = test.expected.iter().zip(&definition.expect);
        let mut tolerances =
            tolerances.map(|(expected, stated)| expected.tolerance == tolerance_of(stated));
        require_same(tolerances.all(|is_same| is_same), "tolerance");
    }
}

/// What a checker stores is compared bit by bit.
fn tolerance_of(stated: &Expectation) -> Tolerance {
    match stated.check {
        Some(_) => Tolerance { bits: true, ..Tolerance::default() },
        None => stated.tolerance.unwrap_or_default(),
    }
}

pub(super) fn check_requirements(stored: &Evidence, verification: &mut Verification) {
    let requirement_rows = &stored.campaign.requirements;
    let campaign = &stored.campaign;
    let verdicts = trace::stored_verdicts(campaign);
    let rules = Generation::for_campaign(campaign);
    let code = derive::tested_code(campaign, &stored.kernels);
    let outcomes = requirement_outcomes(
        requirement_rows,
        VerificationResults { verdicts: &verdicts, records: &campaign.records, code: &code },
        rules,
    );
    for row in &campaign.records {
        let uid = &row.record.requirement;
        let requirement = requirement_rows
            .iter()
            .map(|requirement_row| &requirement_row.requirement)
            .find(|requirement| requirement.uid == *uid);
        let fault =
            derive::record_fault(row.method, &row.record, requirement, campaign.project.level);
        verification.check(fault == row.rejected, || {
            format!("{} of {uid}: whether it is accepted", row.method)
        });
    }
    for row in requirement_rows {
        let uid = &row.requirement.uid;
        verification.check(hash::requirement_hash(&row.requirement) == row.hash, || {
            format!("requirement {uid}: its content has another hash")
        });
        let status_follows = match rules {
            Generation::Second | Generation::Third | Generation::Fourth | Generation::Current => {
                outcomes.get(uid) == Some(&RequirementOutcome::from_evidence(row))
            }
            Generation::First => {
                outcomes.get(uid).map(|outcome| outcome.status) == Some(row.status)
            }
        };
        verification.check(status_follows, || {
            format!("requirement {uid}: its status is not {}", row.status)
        });
        verification
            .check(tests_naming(uid, campaign) == row.tests.iter().collect::<Vec<_>>(), || {
                format!("requirement {uid}: its tests")
            });
    }
}

/// Tests that name a requirement.
fn tests_naming<'a>(uid: &RequirementId, campaign: &'a Campaign) -> Vec<&'a TestId> {
    let naming_tests =
        campaign.tests.iter().filter(|test| test.definition.requirements.contains(uid));
    naming_tests.map(|test| &test.id).collect()
}

#[cfg(test)]
mod tests {
    use crate::honest::{Forgery, assert_told_without_inputs, honest, honest_with};
    use vkcert_model::evidence::{Evidence, RecordEvidence, RequirementStatus};
    use vkcert_model::procedure::{TestKind, Tolerance};
    use vkcert_model::requirement::{VerificationMethod, VerificationRecord};
    use vkcert_requirement::hash::requirement_hash;

    #[test]
    fn a_test_repeats_its_definition() {
        assert_told_without_inputs(
            &honest(),
            &[
                Forgery::new(
                    "id",
                    |forged| forged.campaign.tests[0].id = "T9".into(),
                    "test T9: its id does not follow from its definition",
                ),
                Forgery::new(
                    "hash",
                    |forged| forged.campaign.tests[0].hash.push('0'),
                    "test T1: its hash does not follow from its definition",
                ),
                Forgery::new(
                    "what is dispatched",
                    |forged| forged.campaign.tests[1].definition.dispatches[0].groups = [2, 1, 1],
                    "test T2: its hash does not follow from its definition",
                ),
                Forgery::new(
                    "title",
                    |forged| forged.campaign.tests[0].title = Some("A title".to_owned()),
                    "test T1: its title does not follow from its definition",
                ),
                Forgery::new(
                    "kind",
                    |forged| forged.campaign.tests[0].kind = TestKind::Robustness,
                    "test T1: its kind does not follow from its definition",
                ),
                Forgery::new(
                    "requirements",
                    |forged| forged.campaign.tests[0].requirements.clear(),
                    "test T1: its list of requirements does not follow from its definition",
                ),
                Forgery::new(
                    "kernels",
                    |forged| forged.campaign.tests[0].kernels.push("other".into()),
                    "test T1: its list of kernels does not follow from its definition",
                ),
                Forgery::new(
                    "procedure",
                    |forged| forged.campaign.tests[0].procedure.clear(),
                    "test T1: its procedure does not follow from its definition",
                ),
                Forgery::new(
                    "the buffer that is judged",
                    |forged| forged.campaign.tests[0].expected[0].buffer = "i".to_owned(),
                    "test T1: its list of expectations does not follow from its definition",
                ),
                Forgery::new(
                    "tolerance",
                    |forged| {
                        forged.campaign.tests[0].expected[0].tolerance =
                            Tolerance { abs: Some(9.0), ..Tolerance::default() };
                    },
                    "test T1: its tolerance does not follow from its definition",
                ),
            ],
        );
    }

    #[test]
    fn the_status_of_a_requirement_follows_from_its_tests() {
        assert_told_without_inputs(
            &honest(),
            &[
                Forgery::new(
                    "statement",
                    |forged| forged.campaign.requirements[0].requirement.statement.push('!'),
                    "requirement R: its content has another hash",
                ),
                Forgery::new(
                    "hash",
                    |forged| forged.campaign.requirements[0].hash.push('0'),
                    "requirement R: its content has another hash",
                ),
                Forgery::new(
                    "status",
                    |forged| forged.campaign.requirements[0].status = RequirementStatus::Failed,
                    "requirement R: its status is not failed",
                ),
                Forgery::new(
                    "what is open",
                    |forged| forged.campaign.requirements[0].open.push(VerificationMethod::Test),
                    "requirement R: its status is not verified",
                ),
                Forgery::new(
                    "a test left out",
                    |forged| forged.campaign.requirements[0].tests.truncate(1),
                    "requirement R: its tests",
                ),
            ],
        );
    }

    /// A requirement that an analysis verifies, too, and its record.
    fn with_analysis() -> Evidence {
        honest_with(|facts| {
            let row = &mut facts.campaign.requirements[0];
            row.requirement.verification.push(VerificationMethod::Analysis);
            row.hash = requirement_hash(&row.requirement);
            let record = VerificationRecord {
                requirement: row.requirement.uid,
                document: "D".to_owned(),
                section: "1".to_owned(),
                author: "a".to_owned(),
                reviewer: "b".to_owned(),
                hash: row.hash.clone(),
            };
            facts.campaign.records.push(RecordEvidence {
                method: VerificationMethod::Analysis,
                record,
                file: "requirements/all.toml".to_owned(),
                rejected: None,
            });
        })
    }

    #[test]
    fn a_record_is_accepted_for_the_requirement_that_it_was_made_of() {
        let evidence = with_analysis();
        assert_eq!(evidence.campaign.requirements[0].status, RequirementStatus::Verified);
        const NOT_AS_JUDGED: &str = "analysis of R: whether it is accepted";
        assert_told_without_inputs(
            &evidence,
            &[
                Forgery::new(
                    "a record of other content",
                    |forged| forged.campaign.records[0].record.hash.push('0'),
                    NOT_AS_JUDGED,
                ),
                Forgery::new(
                    "a rejection",
                    |forged| forged.campaign.records[0].rejected = Some("why".to_owned()),
                    NOT_AS_JUDGED,
                ),
                Forgery::new(
                    "a record of no requirement",
                    |forged| forged.campaign.records[0].record.requirement = "S".into(),
                    "analysis of S: whether it is accepted",
                ),
                Forgery::new(
                    "a record left out",
                    |forged| forged.campaign.records.clear(),
                    "requirement R: its status is not verified",
                ),
            ],
        );
    }
}
