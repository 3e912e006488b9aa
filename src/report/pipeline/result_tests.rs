//! JUnit and SARIF, read back strictly and compared with the evidence.

use super::xml_reader::{Element, document};
use crate::tests::rendered;
use crate::{FormatName, Presentation, Standing, render};
use serde_json::Value;
use std::collections::BTreeSet;
use vkcert_model::coverage::Status;
use vkcert_model::evidence::{Evidence, StoredFile, StoredInputs};
use vkcert_model::finding::{Acceptance, FindingKind};
use vkcert_model::reason::{Ground, ReasonKind};
use vkcert_model::verdict::Verdict;
use vkcert_sample as sample;

const VERDICTS: [(Verdict, Option<(&str, &str)>); 7] = [
    (Verdict::Pass, None),
    (Verdict::Fail, Some(("failure", "fail"))),
    (Verdict::Error, Some(("error", "error"))),
    (Verdict::NotRun, Some(("skipped", "not-run"))),
    (Verdict::Unsupported, Some(("error", "unsupported"))),
    (Verdict::Timeout, Some(("error", "timeout"))),
    (Verdict::Undetermined, Some(("error", "undetermined"))),
];

const REASON_KINDS: [ReasonKind; 21] = [
    ReasonKind::ProfileRefusal,
    ReasonKind::NoTest,
    ReasonKind::TestFailed,
    ReasonKind::TestError,
    ReasonKind::TestTimeout,
    ReasonKind::TestUndetermined,
    ReasonKind::TestUnsupported,
    ReasonKind::NoRequirement,
    ReasonKind::RecordRejected,
    ReasonKind::RequirementUntested,
    ReasonKind::RequirementFailed,
    ReasonKind::RequirementOpen,
    ReasonKind::LinkSuspect,
    ReasonKind::CodeMissing,
    ReasonKind::ObligationsOpen,
    ReasonKind::FindingStands,
    ReasonKind::CouplingUndetermined,
    ReasonKind::JustificationRejected,
    ReasonKind::OpenItemStands,
    ReasonKind::AcceptanceRejected,
    ReasonKind::MutationScore,
];

fn presented(evidence: &Evidence, format: FormatName, standing: Standing) -> String {
    let presentation = Presentation { standing, ..Presentation::default() };
    String::from_utf8(render(evidence, format, &presentation).unwrap()).unwrap()
}

fn suites(evidence: &Evidence) -> Element {
    document(&String::from_utf8(rendered(evidence, FormatName::Junit)).unwrap())
}

fn sarif_results(evidence: &Evidence) -> Vec<Value> {
    let document: Value = serde_json::from_slice(&rendered(evidence, FormatName::Sarif)).unwrap();
    document["runs"][0]["results"].as_array().unwrap().clone()
}

fn is_standing_error(result: &Value) -> bool {
    result["level"] == "error" && result.get("suppressions").is_none()
}

/// Whether a build server shows the document as one in which nothing is wrong.
fn is_green(root: &Element) -> bool {
    root.all("failure").is_empty() && root.all("error").is_empty()
}

/// The cases of a suite that hold an element, or none of the three.
fn count_of(suite: &Element, element: &str) -> usize {
    let cases = suite.all("testcase");
    cases.iter().filter(|case| !case.all(element).is_empty()).count()
}

#[test]
fn counts_of_suites_are_those_of_their_cases_and_of_the_evidence() {
    for evidence in [sample::evidence(), sample::flawless()] {
        let root = suites(&evidence);
        for suite in root.all("testsuite") {
            assert_eq!(suite.attribute("tests"), suite.all("testcase").len().to_string());
            for (attribute, element) in
                [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
            {
                assert_eq!(suite.attribute(attribute), count_of(suite, element).to_string());
            }
            let names: BTreeSet<(&str, &str)> = suite
                .all("testcase")
                .iter()
                .map(|case| (case.attribute("classname"), case.attribute("name")))
                .collect();
            assert_eq!(names.len(), suite.all("testcase").len(), "two cases have one name");
        }
        for (attribute, element) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error")]
        {
            assert_eq!(root.attribute(attribute), root.all(element).len().to_string());
        }
        for engine in &evidence.campaign.engines {
            let name = engine.engine.to_string();
            let all_suites = root.all("testsuite");
            let suite = all_suites.iter().find(|suite| suite.attribute("name") == name).unwrap();
            let verdicts = evidence.campaign.tests.iter().map(|test| {
                let result = test.results.iter().find(|result| result.engine == engine.engine);
                result.map_or(Verdict::NotRun, |result| result.verdict)
            });
            let verdicts: Vec<Verdict> = verdicts.collect();
            let passed = suite.all("testcase").len()
                - ["failure", "error", "skipped"]
                    .map(|name| count_of(suite, name))
                    .iter()
                    .sum::<usize>();
            assert_eq!(verdicts.len(), suite.all("testcase").len());
            assert_eq!(
                passed,
                verdicts.iter().filter(|verdict| **verdict == Verdict::Pass).count()
            );
        }
    }
}

#[test]
fn each_verdict_has_its_element_and_type() {
    for (verdict, due) in VERDICTS {
        let mut evidence = sample::flawless();
        evidence.campaign.tests[0].results[0].verdict = verdict;
        let root = suites(&evidence);
        let case = root.all("testcase")[0];
        let found: Vec<(&str, &str)> = ["failure", "error", "skipped"]
            .into_iter()
            .flat_map(|name| {
                case.all(name).into_iter().map(move |item| (name, item.attribute("type")))
            })
            .collect();
        assert_eq!(found, due.into_iter().collect::<Vec<_>>(), "{verdict}");
    }
}

#[test]
fn requirements_are_properties_of_the_case() {
    let root = suites(&sample::flawless());
    let case = root.all("testcase")[0];
    let values_of = |name: &str| -> Vec<String> {
        let properties = case.all("property");
        let named = properties.iter().filter(|property| property.attribute("name") == name);
        named.map(|property| property.attribute("value").to_owned()).collect()
    };
    assert_eq!(values_of("requirement"), ["LLR-MM-001", "LLR-MM-002"]);
    assert_eq!(values_of("requirements"), ["LLR-MM-001,LLR-MM-002"]);
}

#[test]
fn nothing_is_red_where_nothing_counts() {
    let evidence = sample::flawless();
    assert!(is_green(&suites(&evidence)));
    assert!(!sarif_results(&evidence).iter().any(is_standing_error));
}

#[test]
fn nothing_is_green_beside_an_exit_code() {
    for kind in REASON_KINDS {
        let mut evidence = sample::flawless();
        let conclusion = &mut evidence.campaign.conclusion;
        conclusion.exit_code = 1;
        conclusion.reasons = vec!["a sentence".to_owned()];
        for grounds in [vec![Ground { kind, about: "1 something".to_owned() }], Vec::new()] {
            evidence.campaign.conclusion.grounds = grounds;
            assert!(!is_green(&suites(&evidence)), "{kind:?}");
            let results = sarif_results(&evidence);
            let mut errors = results.iter().filter(|result| is_standing_error(result));
            assert!(errors.any(|result| result["message"]["text"] == "a sentence"), "{kind:?}");
        }
    }
    let mut evidence = sample::flawless();
    evidence.campaign.conclusion.exit_code = 4;
    assert!(!is_green(&suites(&evidence)));
    assert!(sarif_results(&evidence).iter().any(is_standing_error));
}

#[test]
fn evidence_that_does_not_verify_is_red_and_in_part_is_told() {
    let evidence = sample::flawless();
    let reasons = vec!["a problem".to_owned()];
    let forged = Standing::Unverified(reasons.clone());
    assert!(!is_green(&document(&presented(&evidence, FormatName::Junit, forged.clone()))));
    let text = presented(&evidence, FormatName::Sarif, forged);
    assert!(text.contains("evidence-not-verified") && text.contains("a problem"), "{text}");
    let in_part = Standing::InPart(reasons);
    let root = document(&presented(&evidence, FormatName::Junit, in_part.clone()));
    assert!(is_green(&root));
    assert!(root.all("skipped").iter().any(|skipped| skipped.attribute("type") == "doubts"));
    assert!(presented(&evidence, FormatName::Sarif, in_part).contains("\"warning\""));
}

#[test]
fn what_is_accepted_is_a_suppressed_result() {
    let mut evidence = sample::evidence();
    let statement = &mut evidence.kernels[0].coverage.statements[0];
    statement.status = Status::Justified;
    statement.reason = Some("never called".to_owned());
    let finding = &mut evidence.campaign.findings[0].finding;
    finding.acceptance = Some(Acceptance {
        id: "coupling".into(),
        subject: None,
        content: String::new(),
        hash: String::new(),
        justification: Some("the host is another".to_owned()),
    });
    let results = sarif_results(&evidence);
    let justifications: Vec<&Value> = results
        .iter()
        .filter_map(|result| result.get("suppressions"))
        .map(|suppressions| &suppressions[0]["justification"])
        .collect();
    for text in ["never called", "the host is another"] {
        assert!(justifications.contains(&&Value::from(text)), "{text}: {justifications:?}");
    }
    assert!(
        justifications.iter().any(|text| text.to_string().contains("V-17")),
        "{justifications:?}"
    );
    let suppressed = results.iter().filter(|result| result.get("suppressions").is_some());
    assert!(suppressed.into_iter().all(|result| result["level"] == "warning"));
}

/// The evidence after so many lines were inserted above all else in each source file.
fn with_lines_inserted(mut evidence: Evidence, count: u32) -> Evidence {
    let lines = "\n".repeat(count as usize);
    for kernel in &mut evidence.kernels {
        for file in &mut kernel.structure.files {
            file.text.insert_str(0, &lines);
        }
        let coverage = &mut kernel.coverage;
        let lists = [
            &mut coverage.statements,
            &mut coverage.branches,
            &mut coverage.points,
            &mut coverage.objects,
            &mut coverage.barriers,
        ];
        lists.into_iter().flatten().for_each(|item| item.line += count);
        for decision in &mut coverage.decisions {
            decision.line += count;
            decision.outcomes.iter_mut().for_each(|item| item.line += count);
            decision.conditions.iter_mut().for_each(|item| item.line += count);
        }
    }
    for test in &mut evidence.campaign.tests {
        for finding in test.results.iter_mut().flat_map(|result| &mut result.findings) {
            for place in [&mut finding.place, &mut finding.other_place].into_iter().flatten() {
                place.line = place.line.map(|line| line + count);
            }
        }
    }
    evidence
}

#[test]
fn fingerprints_are_unique_and_stay_when_lines_are_inserted_above() {
    let fingerprints = |evidence: &Evidence| -> Vec<String> {
        let results = sarif_results(evidence);
        let prints = results.iter().map(|result| &result["partialFingerprints"]["vkcert/v1"]);
        prints.map(|print| print.as_str().unwrap().to_owned()).collect()
    };
    let evidence = crate::tests::with_open_statements(3);
    let before = fingerprints(&evidence);
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), before.len());
    let moved = with_lines_inserted(evidence.clone(), 7);
    assert_ne!(sarif_results(&moved), sarif_results(&evidence));
    assert_eq!(fingerprints(&moved), before);
}

#[test]
fn a_test_is_placed_by_its_id_and_not_by_a_word_in_a_text() {
    let mut evidence = sample::evidence();
    let text = "title = '''\n[[test]]\nid = \"TC-MM-04\"\n'''\n\n[[test]]\nid = \"TC-MM-01\"\n\
                # id = \"TC-MM-04\"\n[[test]]\ntitle = \"ä\"\nid = \"TC-MM-04\"\n";
    let files = [("requirements/matmul.toml".to_owned(), StoredFile::Text(text.to_owned()))];
    evidence.inputs = Some(StoredInputs { schema: 1, files: files.into() });
    let results = sarif_results(&evidence);
    let failed = results.iter().find(|result| result["ruleId"] == "test-failed").unwrap();
    let region = &failed["locations"][0]["physicalLocation"]["region"];
    assert_eq!(*region, serde_json::json!({ "startLine": 11, "startColumn": 6 }));
}

#[test]
fn places_of_findings_are_those_of_the_evidence() {
    let results = sarif_results(&sample::evidence());
    let races: Vec<&Value> =
        results.iter().filter(|row| row["ruleId"] == FindingKind::DataRace.name()).collect();
    assert_eq!(races.len(), 1, "what two tests show is one result");
    let place = &races[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "glsl/matmul_naive.comp");
    assert_eq!(place["region"], serde_json::json!({ "startLine": 24, "startColumn": 9 }));
    let other = &races[0]["relatedLocations"][0]["physicalLocation"]["region"];
    assert_eq!(*other, serde_json::json!({ "startLine": 13 }));
}
