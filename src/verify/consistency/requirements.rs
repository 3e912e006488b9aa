//! Statuses of requirements, and what tests repeat of their definitions.

use crate::Verification;
use vkcert_derivation::derive;
use vkcert_model::evidence::{Campaign, Evidence};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
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
        let mut tolerances = tolerances
            .map(|(expected, stated)| expected.tolerance == stated.tolerance.unwrap_or_default());
        require_same(tolerances.all(|is_same| is_same), "tolerance");
    }
}

pub(super) fn check_requirements(stored: &Evidence, verification: &mut Verification) {
    let requirement_rows = &stored.campaign.requirements;
    let campaign = &stored.campaign;
    let verdicts = trace::stored_verdicts(&campaign.tests);
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
            Generation::Second | Generation::Current => {
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
