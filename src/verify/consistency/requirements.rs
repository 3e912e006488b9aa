//! Statuses of requirements, and what tests repeat of their definitions.

use crate::Verification;
use vkcert_derivation::derive;
use vkcert_model::evidence::{Campaign, Evidence};
use vkcert_model::generation::Generation;
use vkcert_model::id::{RequirementId, TestId};
use vkcert_requirement::status::{RequirementOutcome, VerificationResults, requirement_outcomes};
use vkcert_requirement::{hash, trace};

/// What a test's definition says of it.
pub(super) fn tests(stored: &Evidence, found: &mut Verification) {
    for test in &stored.campaign.tests {
        let (id, definition) = (&test.id, &test.definition);
        let mut same = |holds: bool, what: &str| {
            found.check(holds, || {
                format!("test {id}: its {what} does not follow from its definition")
            });
        };
        same(*id == definition.id, "id");
        same(hash::test_hash(definition) == test.hash, "hash");
        same(test.title == definition.title, "title");
        same(test.kind == definition.kind, "kind");
        same(test.requirements == definition.requirements, "list of requirements");
        same(test.kernels == trace::kernels_of(definition), "list of kernels");
        same(test.procedure == trace::describe_test(definition), "procedure");
        let judged: Vec<&str> =
            test.expected.iter().map(|expected| expected.buffer.as_str()).collect();
        let stated: Vec<&str> =
            definition.expect.iter().map(|expected| expected.judged()).collect();
        same(judged == stated || judged.is_empty(), "list of expectations");
        let tolerances = test.expected.iter().zip(&definition.expect);
        let mut tolerances = tolerances
            .map(|(expected, stated)| expected.tolerance == stated.tolerance.unwrap_or_default());
        same(tolerances.all(|same| same), "tolerance");
    }
}

pub(super) fn requirements(stored: &Evidence, found: &mut Verification) {
    let rows = &stored.campaign.requirements;
    let campaign = &stored.campaign;
    let verdicts = trace::stored_verdicts(&campaign.tests);
    let rules = Generation::of(campaign);
    let code = derive::tested_code(campaign, &stored.kernels);
    let outcomes = requirement_outcomes(
        rows,
        VerificationResults { verdicts: &verdicts, records: &campaign.records, code: &code },
        rules,
    );
    for row in &campaign.records {
        let uid = &row.record.requirement;
        let requirement =
            rows.iter().map(|row| &row.requirement).find(|requirement| requirement.uid == *uid);
        let fault =
            derive::record_fault(row.method, &row.record, requirement, campaign.project.level);
        found.check(fault == row.rejected, || {
            format!("{} of {uid}: whether it is accepted", row.method)
        });
    }
    for row in rows {
        let uid = &row.requirement.uid;
        found.check(hash::requirement_hash(&row.requirement) == row.hash, || {
            format!("requirement {uid}: its content has another hash")
        });
        let follows = match rules {
            Generation::Second | Generation::Current => {
                outcomes.get(uid) == Some(&RequirementOutcome::from_evidence(row))
            }
            Generation::First => {
                outcomes.get(uid).map(|outcome| outcome.status) == Some(row.status)
            }
        };
        found.check(follows, || format!("requirement {uid}: its status is not {}", row.status));
        found.check(tests_of(uid, campaign) == row.tests.iter().collect::<Vec<_>>(), || {
            format!("requirement {uid}: its tests")
        });
    }
}

/// Tests that name a requirement.
fn tests_of<'a>(uid: &RequirementId, campaign: &'a Campaign) -> Vec<&'a TestId> {
    let naming = campaign.tests.iter().filter(|test| test.definition.requirements.contains(uid));
    naming.map(|test| &test.id).collect()
}
