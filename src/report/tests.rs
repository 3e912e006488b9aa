//! Reports of the sample evidence in every format.

use super::document::Block;
use super::*;
use std::collections::BTreeSet;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_sample as sample;

/// The formats that evidence without mutants can be rendered in.
fn formats_without_mutants() -> impl Iterator<Item = &'static FormatRow> {
    FORMATS.iter().filter(|row| row.name != FormatName::Mutants)
}

pub(super) fn rendered(evidence: &Evidence, format: FormatName) -> Vec<u8> {
    render(evidence, format, &Presentation::default()).unwrap()
}

pub(super) fn written(files: &[&str]) -> Written {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    Written { root: "r".repeat(64), provenance: "p".repeat(64), reports: "l".repeat(64), files }
}

#[test]
fn every_format_gives_the_same_bytes_twice() {
    let evidence = sample::evidence();
    for row in formats_without_mutants() {
        assert!(rendered(&evidence, row.name) == rendered(&evidence, row.name), "{}", row.word);
    }
}

#[test]
fn evidence_without_anything_renders_in_every_format() {
    let mut evidence = sample::evidence();
    evidence.kernels.clear();
    let campaign = &mut evidence.campaign;
    campaign.engines.clear();
    campaign.requirements.clear();
    campaign.tests.clear();
    campaign.conclusion.summary.clear();
    campaign.findings.clear();
    for row in formats_without_mutants() {
        assert!(!rendered(&evidence, row.name).is_empty(), "{}", row.word);
    }
}

#[test]
fn stored_evidence_renders_to_the_same_report() {
    let evidence = sample::evidence();
    let stored: Evidence = serde_json::from_slice(&rendered(&evidence, FormatName::Json)).unwrap();
    for row in formats_without_mutants() {
        assert!(rendered(&stored, row.name) == rendered(&evidence, row.name), "{}", row.word);
    }
}

fn anchors_and_links(document: &super::document::Document) -> (BTreeSet<String>, BTreeSet<String>) {
    let html = format!("{document:?}");
    let named = |before: &str| {
        html.split(before).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let rows_and_headings: BTreeSet<String> =
        document.anchors().iter().map(|anchor| anchor.to_string()).collect();
    let headings: BTreeSet<String> = named("anchor: \"");
    assert!(headings.is_subset(&rows_and_headings));
    (rows_and_headings, named("link: Some(\""))
}

#[test]
fn every_chapter_stands_in_a_document_and_no_link_leads_out_of_one() {
    let whole = DocumentName::All.row().chapters;
    let parts: Vec<_> =
        DOCUMENTS.iter().skip(1).flat_map(|row| row.chapters.iter().copied()).collect();
    use super::chapter::Chapter;
    let in_parts = |chapter: &Chapter| match chapter {
        Chapter::Tests => [Chapter::TestCases, Chapter::TestResults].map(|c| parts.contains(&c)),
        other => [parts.contains(other); 2],
    };
    assert!(whole.iter().all(|chapter| in_parts(chapter) == [true, true]));
    let evidence = sample::evidence();
    for row in DOCUMENTS {
        assert_eq!(row.word.parse::<DocumentName>().unwrap(), row.name);
        let document = super::chapter::report_document(&evidence, row.name, None).unwrap();
        let (anchors, links) = anchors_and_links(&document);
        assert!(!anchors.is_empty(), "{}", row.word);
        assert!(!links.is_empty() || row.name != DocumentName::All, "{}", row.word);
        assert!(links.is_subset(&anchors), "{}: {:?}", row.word, &links - &anchors);
    }
}

#[test]
fn a_part_of_a_failed_run_tells_that_it_failed() {
    let evidence = with_open_statements(3);
    let (_, conclusion) = statement::conclusion_title(&evidence);
    for row in DOCUMENTS {
        let document = super::chapter::report_document(&evidence, row.name, None).unwrap();
        let told = document.front.iter().any(|block| match block {
            Block::Notice { title, .. } => title.0.iter().any(|run| run.text.contains(&conclusion)),
            _ => false,
        });
        assert_eq!(told, row.name != DocumentName::Svcp, "{}", row.word);
    }
}

/// All text of a document.
pub(super) fn printed(evidence: &Evidence, name: DocumentName) -> String {
    let document = super::chapter::report_document(evidence, name, None).unwrap();
    let mut lines = Vec::new();
    document.front.iter().chain(&document.body).for_each(|block| add_lines(block, &mut lines));
    lines.join("\n")
}

#[test]
fn cases_and_procedures_say_that_they_hold_no_results_and_look_the_same_whatever_came_out() {
    let failed = sample::evidence();
    let root = failed.root().unwrap();
    let text = printed(&failed, DocumentName::Svcp);
    assert!(text.contains("this document holds no results"), "{text}");
    assert!(text.contains(&format!("of the evidence with the root {root}")), "{text}");
    let mut other_outcome = failed.clone();
    for result in other_outcome.campaign.tests.iter_mut().flat_map(|test| &mut test.results) {
        result.verdict = vkcert_model::verdict::Verdict::Pass;
        result.mismatches.clear();
        result.findings.clear();
    }
    other_outcome.campaign.conclusion = sample::flawless().campaign.conclusion;
    other_outcome.campaign.open_items.clear();
    other_outcome.campaign.engines.iter_mut().for_each(|engine| engine.ran = false);
    assert_eq!(printed(&other_outcome, DocumentName::Svcp), text);
    assert_ne!(
        printed(&other_outcome, DocumentName::Svr),
        printed(&failed, DocumentName::Svr),
        "the outcome differs"
    );
}

#[test]
fn cases_and_procedures_hold_nothing_that_a_run_left() {
    let evidence = super::contents_tests::with_contents();
    let text = |name| {
        format!("{:?}", super::chapter::report_document(&evidence, name, None).unwrap().body)
    };
    let (cases, results) = (text(DocumentName::Svcp), text(DocumentName::Svr));
    for word in ["Actual", "Result, ", "Altered: ", "Runs, "] {
        assert!(results.contains(word) && !cases.contains(word), "{word}");
    }
    assert!(cases.contains("Expected") && cases.contains("Input"));
    assert!(cases.contains("Procedure of") && !results.contains("Procedure of"));
}

#[test]
fn format_words_lead_back_to_their_rows() {
    for row in formats_without_mutants() {
        assert_eq!(row.word.parse::<FormatName>().unwrap(), row.name);
    }
    assert!("docx".parse::<FormatName>().is_err());
}

/// Writes the samples, or the evidence that VKCERT_EVIDENCE names, for a person to look at.
#[test]
#[ignore = "writes files to look at"]
fn reports_to_look_at() {
    let folder = std::env::temp_dir().join("vkcert-reports");
    std::fs::create_dir_all(&folder).unwrap();
    let mut all = vec![
        ("sample".to_owned(), sample::evidence()),
        ("flawless".to_owned(), sample::flawless()),
    ];
    if let Ok(path) = std::env::var("VKCERT_EVIDENCE") {
        all.push((
            "real".to_owned(),
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap(),
        ));
    }
    for (name, evidence) in all {
        for row in formats_without_mutants() {
            let colour =
                if row.name == FormatName::Terminal { Colour::Ansi } else { Colour::Plain };
            let written = Some(written(&["reports/report.pdf", "reports/report.html"]));
            let presentation = Presentation { colour, written, ..Presentation::default() };
            let bytes = render(&evidence, row.name, &presentation).unwrap();
            std::fs::write(folder.join(format!("{name}.{}", row.word)), bytes).unwrap();
        }
    }
}

#[test]
fn the_terminal_summary_reads_well() {
    let presentation =
        Presentation { written: Some(written(&["reports/report.pdf"])), ..Presentation::default() };
    let text = render(&sample::evidence(), FormatName::Terminal, &presentation).unwrap();
    insta::assert_snapshot!("terminal_with_defects", String::from_utf8(text).unwrap());
    let text = render(&sample::flawless(), FormatName::Terminal, &presentation).unwrap();
    insta::assert_snapshot!("terminal_flawless", String::from_utf8(text).unwrap());
}

/// Evidence whose first kernel has `count` more statements that no test reaches.
pub(super) fn with_open_statements(count: u32) -> Evidence {
    let mut evidence = sample::evidence();
    let statements = &mut evidence.kernels[0].coverage.statements;
    let last = statements.last().unwrap().clone();
    let first = u32::try_from(statements.len()).unwrap() + 1;
    statements.extend((0..count).map(|offset| SimpleObligation {
        id: format!("S{}", first + offset).as_str().into(),
        status: Status::Uncovered,
        reason: None,
        uncounted: Vec::new(),
        ..last.clone()
    }));
    evidence
}

/// Texts of paragraphs, captions and cells of a document's body, one per line.
pub(super) fn document_text(document: &super::document::Document) -> String {
    let plain = |text: &super::document::Text| {
        text.0.iter().map(|run| run.text.as_str()).collect::<String>()
    };
    let mut lines = Vec::new();
    for block in &document.body {
        match block {
            Block::Paragraph(text) => lines.push(plain(text)),
            Block::Table(table) => {
                lines.extend(table.caption.iter().map(plain));
                lines.extend(table.rows.iter().flatten().map(plain));
            }
            Block::Heading(_)
            | Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Drawing(_)
            | Block::Notice { .. }
            | Block::Together(_)
            | Block::Fitting { .. }
            | Block::Source { .. } => {}
        }
    }
    lines.join("\n")
}

/// The text of a block, one line per paragraph, cell or value.
fn add_lines(block: &Block, lines: &mut Vec<String>) {
    let plain = super::document::Text::plain_words;
    match block {
        Block::Heading(heading) => lines.push(plain(&heading.text)),
        Block::Paragraph(text) => lines.push(plain(text)),
        Block::List(items) | Block::Lines(items) => lines.extend(items.iter().map(plain)),
        Block::Pairs(pairs) => {
            lines.extend(pairs.iter().map(|(name, text)| format!("{name}: {}", plain(text))))
        }
        Block::Table(table) => lines.extend(table.rows.iter().flatten().map(plain)),
        Block::Notice { title, lines: below, .. } => {
            lines.push(plain(title));
            lines.extend(below.iter().map(plain));
        }
        Block::Together(blocks) | Block::Fitting { whole: blocks, brief: _ } => {
            blocks.iter().for_each(|block| add_lines(block, lines))
        }
        Block::Drawing(drawing) => lines.push(plain(&drawing.caption)),
        Block::Tree { .. } | Block::Source { .. } => {}
    }
}

/// All text of the whole report.
pub(super) fn whole_text(evidence: &Evidence) -> String {
    printed(evidence, DocumentName::All)
}

pub(super) fn terminal(evidence: &Evidence, width: u16) -> String {
    let presentation = Presentation { width, ..Presentation::default() };
    String::from_utf8(render(evidence, FormatName::Terminal, &presentation).unwrap()).unwrap()
}

/// Every table of a document, those within other blocks included.
pub(super) fn tables(blocks: &[Block]) -> Vec<&super::document::Table> {
    let mut found = Vec::new();
    for block in blocks {
        match block {
            Block::Table(table) => found.push(table),
            Block::Together(blocks) | Block::Fitting { whole: blocks, brief: _ } => {
                found.extend(tables(blocks))
            }
            Block::Heading(_)
            | Block::Paragraph(_)
            | Block::List(_)
            | Block::Lines(_)
            | Block::Tree { .. }
            | Block::Pairs(_)
            | Block::Drawing(_)
            | Block::Notice { .. }
            | Block::Source { .. } => {}
        }
    }
    found
}
