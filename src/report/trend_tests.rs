//! The chapter on stored runs, of the sample and what it was before.

use super::tests::document_text;
use super::*;
use vkcert_model::criterion::CriterionName;
use vkcert_model::finding::FindingKind;
use vkcert_model::open_item::{UnsoughtKind, UnsoughtReason};
use vkcert_model::project::{Contraction, ProjectFile, Robustness, ValidationLayers};
use vkcert_model::schedule::{ScheduleResult, ScheduleStatus};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sample as sample;

/// The sample with less of every share covered, and another manifest.
pub(super) fn earlier_evidence(build: u32, missing: u32) -> Evidence {
    let mut evidence = sample::evidence();
    for row in &mut evidence.campaign.conclusion.summary {
        for summary in &mut row.criteria {
            let moved = missing.min(summary.covered);
            summary.covered -= moved;
            summary.uncovered += moved;
        }
    }
    evidence.manifest.inputs.insert("build".to_owned(), format!("sha256:{build:064}"));
    evidence
}

fn record(evidence: &Evidence, standing: RunStanding, folder: &str) -> RunRecord {
    RunRecord::of_evidence(evidence, standing, Some(folder.to_owned())).unwrap()
}

/// Two earlier runs, and that of the evidence.
pub(super) fn history_of(evidence: &Evidence) -> History {
    let runs = vec![
        record(&earlier_evidence(1, 2), RunStanding::Derived, "build-1/evidence"),
        record(&earlier_evidence(2, 1), RunStanding::ComparedWithItself, "build-2/evidence"),
        record(evidence, RunStanding::Present, "build-3/evidence"),
    ];
    let left_out = vec![LeftOutRun {
        folder: "build-0/evidence".to_owned(),
        reason: "campaign.json has another SHA-256 than the manifest".to_owned(),
    }];
    History { runs, order: RunOrder::Folder, earlier_runs: 7, left_out, unsearched_folders: 1 }
}

fn presented(history: &History, document: DocumentName) -> Presentation {
    Presentation { history: Some(history.clone()), document, ..Presentation::default() }
}

#[test]
fn the_chapter_is_the_last_one_of_documents_on_coverage_and_results_alone() {
    let evidence = sample::evidence();
    let history = history_of(&evidence);
    for row in DOCUMENTS {
        let has_trend =
            matches!(row.name, DocumentName::All | DocumentName::Svr | DocumentName::Coverage);
        assert_eq!(row.has_trend(), has_trend, "{}", row.word);
        let with = render(&evidence, FormatName::Html, &presented(&history, row.name)).unwrap();
        let plain = Presentation { document: row.name, ..Presentation::default() };
        let without = render(&evidence, FormatName::Html, &plain).unwrap();
        assert_eq!(with != without, has_trend, "{}", row.word);
        let document = chapter::report_document(&evidence, row.name, Some(&history)).unwrap();
        let mut headings = document.body.iter().filter_map(|block| match block {
            document::Block::Heading(heading) if heading.depth == 1 => Some(&heading.anchor),
            _ => None,
        });
        assert_eq!(headings.next_back().unwrap().as_ref() == "chapter/trend", has_trend);
    }
}

#[test]
fn numbers_of_every_run_are_those_of_its_evidence() {
    let evidence = sample::evidence();
    let history = history_of(&evidence);
    let document =
        chapter::report_document(&evidence, DocumentName::Coverage, Some(&history)).unwrap();
    let text = document_text(&document);
    let trend = text.split_once("Runs. Roots are").unwrap().1;
    for run_evidence in [&earlier_evidence(1, 2), &earlier_evidence(2, 1), &evidence] {
        let root = run_evidence.root().unwrap();
        assert!(trend.contains(&root[..12]) && !trend.contains(&root), "{root}");
        let mut covered = 0;
        let mut total = 0;
        for row in &run_evidence.campaign.conclusion.summary {
            let is_statement = |summary: &&vkcert_model::coverage::CriterionSummary| {
                summary.criterion == CriterionName::Statement
            };
            let summary = row.criteria.iter().find(is_statement).unwrap();
            if row.engine == EngineName::Sequential {
                covered += summary.covered;
                total += summary.total;
            }
        }
        assert!(trend.contains(&format!("{covered}/{total}\u{a0}(")), "{covered}/{total}: {trend}");
    }
    let results = evidence.campaign.tests.iter().flat_map(|test| &test.results);
    let passed = results
        .filter(|result| result.engine == EngineName::Sequential && result.verdict == Verdict::Pass)
        .count();
    assert!(trend.contains(&format!("{passed} pass, ")), "{passed}: {trend}");
    for words in [
        "2 stored runs and the one of this report, in the order of the names of their folders",
        "7 more runs are stored before them: at most 40 are shown",
        "1 folder is too deep to be looked into",
        "stored without inputs",
        "build-0/evidence",
        "campaign.json has another SHA-256",
        "build-3/evidence (this report)",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn settings(run: &mut Evidence) -> &mut ProjectFile {
    run.campaign.settings.as_mut().unwrap()
}

/// What the measure of a run says of findings that were not looked for.
fn unsought_of(evidence: &Evidence) -> String {
    let record = record(evidence, RunStanding::Derived, "build/evidence");
    let mut aspects = record.measure.aspects.into_iter();
    aspects.find(|(aspect, _)| *aspect == "findings not looked for").unwrap().1
}

#[test]
fn what_was_not_looked_for_is_none_only_where_the_run_says_so() {
    let mut evidence = sample::evidence();
    let rows = evidence.campaign.unsought.clone();
    assert!(!rows.is_empty());
    let told = unsought_of(&evidence);
    for row in rows {
        assert!(told.contains(&format!("{} ({})", row.kind, row.reason)), "{told}");
    }
    evidence.campaign.unsought.clear();
    evidence.campaign.not_looked_for.clear();
    assert_eq!(unsought_of(&evidence), "none");
    evidence.campaign.settings = None;
    assert_eq!(unsought_of(&evidence), "not stored");
    evidence.campaign.not_looked_for.push(FindingKind::DataRace);
    assert_eq!(unsought_of(&evidence), "data-race; others not stored");
}

#[test]
fn another_setting_is_another_measure() {
    let evidence = sample::evidence();
    type Change = fn(&mut Evidence);
    let changes: [(&str, Change); 13] = [
        ("criteria asked for", |run| drop(run.campaign.project.criteria.pop())),
        ("tool", |run| run.campaign.project.tool_version = "0.1.0".to_owned()),
        ("engines", |run| run.campaign.engines[1].ran = false),
        ("compiler", |run| run.campaign.project.compiler.push('!')),
        ("tests left out", |run| {
            let test = run.campaign.tests[0].id;
            run.campaign.left_out.push(test);
        }),
        ("level", |run| {
            run.campaign.project.level = serde_json::from_str("\"B\"").unwrap();
        }),
        ("findings not looked for", |run| {
            let kind = FindingKind::ScheduleDependentOutput;
            let reason = UnsoughtReason::NoOtherSchedule;
            run.campaign.unsought.push(UnsoughtKind { kind, reason });
        }),
        ("repetitions", |run| run.campaign.tests[0].results[0].repetitions = 9),
        ("other schedules", |run| {
            run.campaign.tests[0].results[0].schedules = Some(ScheduleResult {
                asked: 6,
                seed: 0,
                status: ScheduleStatus::NothingToPermute,
                ran: Vec::new(),
                different: Vec::new(),
                reason: None,
            });
        }),
        ("replayed schedule", |run| {
            run.campaign.tests[0].results[0].schedule = Some("reversed".parse().unwrap());
        }),
        ("validation layers", |run| settings(run).validation = ValidationLayers::Required),
        ("contraction", |run| settings(run).contraction = Contraction::Allowed),
        ("robustness of accesses", |run| settings(run).robustness = Robustness::Strict),
    ];
    for (aspect, change) in changes {
        let mut changed = earlier_evidence(2, 1);
        change(&mut changed);
        let mut history = history_of(&evidence);
        history.runs[1] = record(&changed, RunStanding::Derived, "build-2/evidence");
        assert_eq!(history.measure_numbers(), [1, 2, 1], "{aspect}");
        let [first, second] = history.measures()[..] else { panic!("{aspect}: two measures") };
        let aspects = second.changes_since(first).into_iter().map(|(aspect, ..)| aspect);
        assert_eq!(aspects.collect::<Vec<_>>(), [aspect]);
    }
}

#[test]
fn where_engines_differ_the_lesser_share_is_drawn() {
    let summary = |covered, total| vkcert_model::coverage::CriterionSummary {
        criterion: CriterionName::Statement.into(),
        total,
        covered,
        justified: 0,
        uncovered: total - covered,
        undetermined: 0,
    };
    let shares = CriterionShares {
        criterion: CriterionName::Statement.into(),
        by_engines: Some(vec![
            (vec![EngineName::Sequential], summary(9, 10)),
            (vec![EngineName::Vulkan], summary(17, 20)),
        ]),
    };
    assert_eq!(shares.least(), Some(&summary(17, 20)));
}

#[test]
fn what_differs_in_a_history_differs_in_the_identifier_of_the_file() {
    let evidence = sample::evidence();
    let identifier = |history: Option<History>| {
        let presentation = Presentation { history, ..Presentation::default() };
        let bytes = render(&evidence, FormatName::Pdf, &presentation).unwrap();
        let file = lopdf::Document::load_mem(&bytes).unwrap();
        format!("{:?}", file.trailer.get(b"ID").unwrap())
    };
    let history = history_of(&evidence);
    let mut other_root = history.clone();
    other_root.runs[0] = record(&earlier_evidence(5, 2), RunStanding::Derived, "build-1/evidence");
    let mut nothing_left_out = history.clone();
    nothing_left_out.left_out.clear();
    let histories = [None, Some(history.clone()), Some(other_root), Some(nothing_left_out)];
    let identifiers: std::collections::BTreeSet<String> =
        histories.into_iter().map(identifier).collect();
    assert_eq!(identifiers.len(), 4, "{identifiers:?}");
    assert!(identifiers.contains(&identifier(Some(history))));
}
