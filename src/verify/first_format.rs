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
        later_part("metrics", !campaign.project.metrics.is_empty()),
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
        later_part("how kernels lay buffers out", !test.layouts.is_empty()),
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

fn parts_of_kernel(kernel: &KernelEvidence) -> [LaterPart; 9] {
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
        later_part("function coverage", coverage.functions.is_some()),
        later_part(
            "calls and loops",
            !kernel.structure.requested.is_empty()
                || coverage.calls.is_some()
                || coverage.loops.is_some(),
        ),
        later_part("boundary values", kernel.boundaries.is_some() || coverage.boundaries.is_some()),
        later_part(
            "coupling coverage",
            kernel.pairs.is_some()
                || coverage.coupling.is_some()
                || records().any(|row| row.records.pairs.is_some()),
        ),
        later_part(
            "average statement coverage",
            coverage.average_statement.is_some()
                || kernel.records.iter().any(|row| row.records.statement_counts.is_some()),
        ),
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

#[cfg(test)]
mod tests {
    use super::{NOT_DERIVED, check_first_format};
    use crate::honest::{
        assert_told_of, finding, honest, honest_with, result_of, stored_evidence,
        verified_without_inputs,
    };
    use crate::{DerivationExtent, Verification, VerificationStatus};
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};
    use vkcert_model::evidence::{Evidence, RequirementStatus, TestResult};
    use vkcert_model::finding::{Finding, FindingKind};
    use vkcert_model::procedure::Expectation;
    use vkcert_model::requirement::{DeactivationCategory, Justification, VerificationMethod};
    use vkcert_model::verdict::EngineName;

    fn later_parts(evidence: &Evidence) -> Vec<String> {
        let mut verification = Verification::default();
        check_first_format(evidence, &mut verification);
        verification.problems
    }

    fn read_json<T: DeserializeOwned>(value: Value) -> T {
        serde_json::from_value(value).unwrap()
    }

    fn result(forged: &mut Evidence) -> &mut TestResult {
        &mut forged.campaign.tests[0].results[0]
    }

    fn expectation(forged: &mut Evidence) -> &mut Expectation {
        &mut forged.campaign.tests[0].definition.expect[0]
    }

    fn justification(forged: &mut Evidence) -> &mut Justification {
        &mut forged.campaign.justifications[0].justification
    }

    fn current_finding() -> Finding {
        let current = honest_with(|facts| {
            let race = finding(FindingKind::DataRace);
            result_of(facts, 0, EngineName::Sequential).findings.push(race);
        });
        current.campaign.tests[0].results[0].findings[0].clone()
    }

    #[test]
    fn evidence_of_the_first_format_verifies_in_part() {
        let first = stored_evidence("format_1");
        let verification = verified_without_inputs(&first);
        assert_eq!(verification.problems, Vec::<String>::new());
        assert_eq!(verification.not_derivable[0], NOT_DERIVED);
        assert_eq!(verification.extent, DerivationExtent::WithoutInputs);
        assert_eq!(verification.status(), VerificationStatus::InPart);
        let mut counted = Verification::default();
        check_first_format(&first, &mut counted);
        assert_eq!(counted.checked, 4);
    }

    #[test]
    fn other_formats_have_every_part() {
        for evidence in [honest(), stored_evidence("format_2")] {
            let mut verification = Verification::default();
            check_first_format(&evidence, &mut verification);
            assert_eq!((verification.checked, verification.problems.len()), (0, 0));
            assert!(verification.not_derivable.is_empty());
        }
    }

    #[test]
    fn the_first_format_was_written_by_the_first_version() {
        let mut evidence = stored_evidence("format_1");
        evidence.campaign.project.tool_version = "0.2.0".to_owned();
        assert_eq!(later_parts(&evidence), ["format 1 is not what vkcert 0.2.0 writes"]);
        let mut evidence = stored_evidence("format_1");
        evidence.campaign.project.tool = "another".to_owned();
        assert_eq!(later_parts(&evidence), ["format 1 is not what another 0.1.0 writes"]);
        let mut listed =
            Verification { reports_hash: Some(String::new()), ..Verification::default() };
        check_first_format(&stored_evidence("format_1"), &mut listed);
        let told = "format 1 has a list of reports beside it, which came with a later format";
        assert_eq!(listed.problems, [told]);
    }

    /// The part, and how to put it into evidence of the first format.
    type LaterPart = (&'static str, fn(&mut Evidence));

    const OF_CAMPAIGN: [LaterPart; 9] = [
        ("stored inputs", |forged| forged.inputs = honest().inputs),
        ("the project file", |forged| forged.campaign.settings = honest().campaign.settings),
        ("records of verification", |forged| {
            let record = json!({
                "requirement": "R", "document": "D", "section": "1", "author": "a",
                "reviewer": "b", "hash": "sha256:0",
            });
            let row =
                json!({ "method": "analysis", "record": record, "file": "f", "rejected": null });
            forged.campaign.records.push(read_json(row));
        }),
        ("open items", |forged| forged.campaign.open_items = honest().campaign.open_items),
        ("rejected acceptances", |forged| {
            let rejected = read_json(json!({ "item": "i", "reason": "r" }));
            forged.campaign.rejected_acceptances.push(rejected);
        }),
        ("notes of page 1", |forged| forged.campaign.notes = honest().campaign.notes),
        ("kinds of findings that were not looked for", |forged| {
            forged.campaign.unsought = honest().campaign.unsought;
        }),
        ("grounds of the conclusion", |forged| {
            forged.campaign.conclusion.grounds = honest().campaign.conclusion.grounds;
        }),
        ("what agreement leaves open", |forged| {
            forged.campaign.agreement = honest().campaign.agreement;
            forged.campaign.agreement[1].left_open.push("o".to_owned());
        }),
    ];

    const OF_REQUIREMENTS: [LaterPart; 4] = [
        ("tests of requirements that were left out", |forged| {
            forged.campaign.requirements[0].left_out_tests.push("T".into());
        }),
        ("open methods of verification", |forged| {
            forged.campaign.requirements[0].open.push(VerificationMethod::Test);
        }),
        ("a later status of requirements", |forged| {
            forged.campaign.requirements[0].status = RequirementStatus::Open;
        }),
        ("kernels in which code is not tested", |forged| {
            let row = json!({ "file": "f", "kernel": "k", "text": "same" });
            forged.campaign.requirements[0].untested_kernels.push(read_json(row));
        }),
    ];

    const OF_TESTS: [LaterPart; 13] = [
        ("how kernels lay buffers out", |forged| {
            forged.campaign.tests[0].layouts.insert("o".to_owned(), Vec::new());
        }),
        ("what dispatches store", |forged| {
            forged.campaign.tests[0].flows = honest().campaign.tests[0].flows.clone();
        }),
        ("expectations of a later form", |forged| expectation(forged).count = Some(1)),
        ("expectations of a later form", |forged| {
            expectation(forged).order = Some(read_json(json!("any")));
        }),
        ("expectations of a later form", |forged| expectation(forged).record = Some(4)),
        ("expectations of a later form", |forged| {
            let check = json!({ "kernel": "k", "groups": [1, 1, 1], "verdict": "v" });
            expectation(forged).check = Some(read_json(check));
        }),
        ("the repetition that gave a verdict", |forged| {
            result(forged).deciding_repetition = Some(1);
        }),
        ("directed schedules", |forged| {
            let row = json!({ "schedule": "reversed", "of": "source", "shown": 0 });
            result(forged).directed.push(read_json(row));
        }),
        ("what a test leaves open", |forged| result(forged).left_open.push("o".to_owned())),
        ("passes by undefined values", |forged| result(forged).rests_on_undefined = true),
        ("remarks of engines", |forged| result(forged).notes.push("n".to_owned())),
        ("numbers of printed lines", |forged| result(forged).printed_lines = 1),
        ("what dispatches accessed", |forged| result(forged).touched.push(Vec::new())),
    ];

    const OF_SIGNATURES: [LaterPart; 4] = [
        ("a category, means or argument of a justification", |forged| {
            justification(forged).category = Some(DeactivationCategory::Never);
        }),
        ("a category, means or argument of a justification", |forged| {
            justification(forged).means = Some("m".to_owned());
        }),
        ("a category, means or argument of a justification", |forged| {
            justification(forged).argument = Some("a".to_owned());
        }),
        ("typed subjects of findings", |forged| {
            result(forged).findings[0].acceptance = current_finding().acceptance;
        }),
    ];

    const OF_KERNELS: [LaterPart; 7] = [
        ("tests that exercise and do not count", |forged| {
            forged.kernels[0].coverage.statements[0].uncounted.push("T".into());
        }),
        ("tests that exercise and do not count", |forged| {
            forged.kernels[0].coverage.points[0].uncounted.push("T".into());
        }),
        ("digests of texts", |forged| {
            forged.kernels[0].structure.texts = honest().kernels[0].structure.texts.clone();
        }),
        ("vectors of directed schedules", |forged| {
            let directed = &mut forged.kernels[0].records[0].records.directed;
            directed.insert(0, "reversed".parse().unwrap());
        }),
        ("vectors of directed schedules", |forged| {
            let directed = &mut forged.kernels[0].objects.records[0].records.directed;
            directed.insert(0, "reversed".parse().unwrap());
        }),
        ("what may follow undefined values", |forged| {
            forged.kernels[0].records[0].records.undefined.insert(0);
        }),
        ("what may follow undefined values", |forged| {
            forged.kernels[0].objects.records[0].records.undefined_barriers.insert(0);
        }),
    ];

    #[test]
    fn the_first_format_holds_no_part_of_a_later_one() {
        let first = stored_evidence("format_1");
        let parts = OF_CAMPAIGN.iter().chain(&OF_REQUIREMENTS).chain(&OF_TESTS);
        for (part, add) in parts.chain(&OF_SIGNATURES).chain(&OF_KERNELS) {
            let mut forged = first.clone();
            add(&mut forged);
            let told = format!("format 1 has {part}, which came with a later format");
            assert_eq!(later_parts(&forged), [told]);
        }
    }

    #[test]
    fn what_the_first_format_says_follows_from_its_records() {
        use crate::honest::Forgery;
        assert_told_of(
            "format_1",
            &[
                Forgery::new(
                    "settings",
                    |forged| forged.campaign.settings = honest().campaign.settings,
                    "the project file as it was read is missing",
                ),
                Forgery::new(
                    "a status",
                    |forged| {
                        forged.campaign.requirements[0].status = RequirementStatus::Untested;
                    },
                    "requirement HLR-ALM-001: its status is not untested",
                ),
            ],
        );
    }
}
