//! Evidence of format 1, which stored less: what it cannot hold, and what is not derived from it.
//!
//! Knows: which versions of the program wrote format 1, and which parts evidence has had since.
//! Promises: evidence that claims format 1 and has a part of a later format, or was made by a later
//! version, is a problem; that less was derived is always reported.
//! Does not cover: evidence that was rewritten to hold exactly what the first version would have
//! written.

use super::Verification;
use vkcert_derivation::stated::TOOL;
use vkcert_model::evidence::{
    Campaign, Evidence, FIRST_SCHEMA, KernelEvidence, RequirementEvidence, RequirementStatus,
    TestEvidence, TestResult,
};
use vkcert_model::finding::Finding;
use vkcert_model::generation::FIRST_VERSION;
use vkcert_model::requirement::Justification;

/// The only version that wrote format 1; later ones write later formats alone.
const WRITING_VERSION: &str = FIRST_VERSION;

/// The sentence about what is not derived from evidence of format 1.
const NOT_DERIVED: &str = "format 1: the project file, the other inputs, open items, notes and what dispatches store were not \
stored; not derived: whether the settings are those of the project and the level asks for more, whether a test judges what \
its kernels store, and all that follows from sources. Its justifications are bound to displayed texts, those of findings to \
sentences; they are judged by what that format knew";

/// Notes what is not derived from format 1, and parts that it cannot hold. Evidence of other
/// formats is left alone.
pub fn check_first_format(stored: &Evidence, verification: &mut Verification) {
    let campaign = &stored.campaign;
    if campaign.schema != FIRST_SCHEMA {
        return;
    }
    verification.not_derivable.push(NOT_DERIVED.to_owned());
    let project = &campaign.project;
    verification.check(project.tool == TOOL && project.tool_version == WRITING_VERSION, || {
        format!("format 1 is not what {} {} writes", project.tool, project.tool_version)
    });
    verification.check(stored.inputs.is_none(), || later_part_sentence("stored inputs"));
    // A list of reports came with later formats, too.
    verification.check(verification.reports_hash.is_none(), || {
        later_part_sentence("a list of reports beside it")
    });
    let later_parts = parts_of_campaign(campaign)
        .into_iter()
        .chain(stored.kernels.iter().flat_map(parts_of_kernel));
    let mut present_parts: Vec<&str> =
        later_parts.filter(|part| part.present).map(|part| part.name).collect();
    present_parts.sort();
    present_parts.dedup();
    verification.checked += 1;
    verification.problems.extend(present_parts.into_iter().map(later_part_sentence));
}

fn later_part_sentence(part: &str) -> String {
    format!("format 1 has {part}, which came with a later format")
}

/// A part that later formats have.
struct LaterPart {
    name: &'static str,
    present: bool,
}

fn later_part(name: &'static str, present: bool) -> LaterPart {
    LaterPart { name, present }
}

fn parts_of_campaign(campaign: &Campaign) -> Vec<LaterPart> {
    let mut parts = vec![
        later_part("the project file", campaign.settings.is_some()),
        later_part("records of verification", !campaign.records.is_empty()),
        later_part("open items", !campaign.open_items.is_empty()),
        later_part("rejected acceptances", !campaign.rejected_acceptances.is_empty()),
        later_part("notes of page 1", !campaign.notes.is_empty()),
        later_part("kinds of findings that were not looked for", !campaign.unsought.is_empty()),
        later_part("grounds of the conclusion", !campaign.conclusion.grounds.is_empty()),
        later_part(
            "what agreement leaves open",
            campaign.agreement.iter().any(|row| !row.left_open.is_empty()),
        ),
    ];
    parts.extend(campaign.requirements.iter().flat_map(parts_of_requirement));
    parts.extend(campaign.tests.iter().flat_map(parts_of_test));
    parts.extend(
        campaign.justifications.iter().map(|row| parts_of_justification(&row.justification)),
    );
    parts.extend(campaign.all_findings().map(|(_, _, finding)| parts_of_finding(finding)));
    parts
}

fn parts_of_requirement(row: &RequirementEvidence) -> [LaterPart; 4] {
    let later_status = match row.status {
        RequirementStatus::Open => true,
        RequirementStatus::Verified
        | RequirementStatus::Failed
        | RequirementStatus::Untested
        | RequirementStatus::ByOtherMeans
        | RequirementStatus::VerifiedByChildren => false,
    };
    [
        later_part("tests of requirements that were left out", !row.left_out_tests.is_empty()),
        later_part("open methods of verification", !row.open.is_empty()),
        later_part("a later status of requirements", later_status),
        later_part("kernels in which code is not tested", !row.untested_kernels.is_empty()),
    ]
}

fn parts_of_test(test: &TestEvidence) -> Vec<LaterPart> {
    let later_form = |expected: &vkcert_model::procedure::Expectation| {
        expected.count.is_some()
            || expected.order.is_some()
            || expected.record.is_some()
            || expected.check.is_some()
    };
    let mut parts = vec![
        later_part("what dispatches store", !test.flows.is_empty()),
        later_part("expectations of a later form", test.definition.expect.iter().any(later_form)),
    ];
    parts.extend(test.results.iter().flat_map(parts_of_result));
    parts
}

fn parts_of_result(result: &TestResult) -> [LaterPart; 7] {
    [
        later_part("the repetition that gave a verdict", result.deciding_repetition.is_some()),
        later_part("directed schedules", !result.directed.is_empty()),
        later_part("what a test leaves open", !result.left_open.is_empty()),
        later_part("passes by undefined values", result.rests_on_undefined),
        later_part("remarks of engines", !result.notes.is_empty()),
        later_part("numbers of printed lines", result.printed_lines > 0),
        later_part("what dispatches accessed", !result.touched.is_empty()),
    ]
}

fn parts_of_justification(justification: &Justification) -> LaterPart {
    let has_later_key = justification.category.is_some()
        || justification.means.is_some()
        || justification.argument.is_some();
    later_part("a category, means or argument of a justification", has_later_key)
}

fn parts_of_finding(finding: &Finding) -> LaterPart {
    later_part(
        "typed subjects of findings",
        finding.acceptance.as_ref().is_some_and(|accepted| accepted.subject.is_some()),
    )
}

fn parts_of_kernel(kernel: &KernelEvidence) -> [LaterPart; 4] {
    let coverage = &kernel.coverage;
    let obligation_lists = [
        &coverage.statements,
        &coverage.branches,
        &coverage.points,
        &coverage.barriers,
        &coverage.objects,
    ];
    let has_uncounted =
        obligation_lists.into_iter().flatten().any(|obligation| !obligation.uncounted.is_empty());
    let records = || kernel.records.iter().chain(&kernel.objects.records);
    [
        later_part("tests that exercise and do not count", has_uncounted),
        later_part("digests of texts", !kernel.structure.texts.is_empty()),
        later_part(
            "vectors of directed schedules",
            records().any(|row| !row.records.directed.is_empty()),
        ),
        later_part(
            "what may follow undefined values",
            records().any(|row| row.records.follow_undefined()),
        ),
    ]
}
