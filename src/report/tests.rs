use super::document::Block;
use super::*;
use crate::model::coverage::{SimpleObligation, Status};
use crate::model::id::KernelName;
use crate::model::verdict::{EngineName, Verdict};

fn rendered(evidence: &Evidence, format: FormatName) -> Vec<u8> {
    render(evidence, format, &Presentation::default()).unwrap()
}

fn written(files: &[&str]) -> Written {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    Written { root: "r".repeat(64), reports: "l".repeat(64), files }
}

#[test]
fn every_format_gives_the_same_bytes_twice() {
    let evidence = sample::evidence();
    for row in FORMATS {
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
    for row in FORMATS {
        assert!(!rendered(&evidence, row.name).is_empty(), "{}", row.word);
    }
}

#[test]
fn stored_evidence_renders_to_the_same_report() {
    let evidence = sample::evidence();
    let stored: Evidence = serde_json::from_slice(&rendered(&evidence, FormatName::Json)).unwrap();
    for row in FORMATS {
        assert!(rendered(&stored, row.name) == rendered(&evidence, row.name), "{}", row.word);
    }
}

#[test]
fn format_words_lead_back_to_their_rows() {
    for row in FORMATS {
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
    let mut all = vec![("sample".to_owned(), sample::evidence()), ("flawless".to_owned(), sample::flawless())];
    if let Ok(path) = std::env::var("VKCERT_EVIDENCE") {
        all.push(("real".to_owned(), serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()));
    }
    for (name, evidence) in all {
        for row in FORMATS {
            let colour = if row.name == FormatName::Terminal { Colour::Ansi } else { Colour::Plain };
            let written = Some(written(&["reports/report.pdf", "reports/report.html"]));
            let presentation = Presentation { colour, written, ..Presentation::default() };
            let bytes = render(&evidence, row.name, &presentation).unwrap();
            std::fs::write(folder.join(format!("{name}.{}", row.word)), bytes).unwrap();
        }
    }
}

#[test]
fn the_terminal_summary_reads_well() {
    let presentation = Presentation { written: Some(written(&["reports/report.pdf"])), ..Presentation::default() };
    let text = render(&sample::evidence(), FormatName::Terminal, &presentation).unwrap();
    insta::assert_snapshot!("terminal_with_defects", String::from_utf8(text).unwrap());
    let text = render(&sample::flawless(), FormatName::Terminal, &presentation).unwrap();
    insta::assert_snapshot!("terminal_flawless", String::from_utf8(text).unwrap());
}

#[test]
fn no_line_of_the_summary_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 100, 120, 200] {
        let presentation = Presentation { width, ..Presentation::default() };
        for evidence in [sample::evidence(), sample::flawless()] {
            let text = String::from_utf8(render(&evidence, FormatName::Terminal, &presentation).unwrap()).unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
        }
    }
}

/// Whatever the width, all that is told in a pipe is told: words are only broken over lines.
#[test]
fn nothing_of_the_summary_is_cut() {
    let text = |evidence: &Evidence, width| {
        let presentation = Presentation { width, ..Presentation::default() };
        String::from_utf8(render(evidence, FormatName::Terminal, &presentation).unwrap()).unwrap()
    };
    let evidence = sample::evidence();
    let pipe = text(&evidence, u16::MAX);
    assert!(pipe.contains(sample::LONG_KERNEL), "{pipe}");
    assert!(!pipe.replace("… and ", "").contains('…'), "{pipe}");
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    for width in [60, 80, 100] {
        // Tables of shares repeat names where they are parted.
        let narrow = text(&evidence, width);
        let lists = |text: &str| bare(&text[text.find("  Tests ").unwrap()..]);
        assert_eq!(lists(&narrow), lists(&pipe), "{width}");
    }
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let plain = Presentation::default();
    let colour = Presentation { colour: Colour::Ansi, ..Presentation::default() };
    let text = |presentation: &Presentation| {
        String::from_utf8(render(&sample::evidence(), FormatName::Terminal, presentation).unwrap()).unwrap()
    };
    let mut stripped = String::new();
    for (index, part) in text(&colour).split('\u{1b}').enumerate() {
        let part = if index == 0 { part } else { part.split_once('m').unwrap().1 };
        stripped.push_str(part);
    }
    let trimmed = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&stripped), trimmed(&text(&plain)));
}

/// Shares are counted from rows that the sample's lists hold; the document prints numerator and denominator.
#[test]
fn an_uncovered_condition_is_listed_as_open_with_its_decision() {
    let evidence = sample::evidence();
    let open = facts::open_obligations(&evidence);
    let condition = open.iter().find(|item| item.obligation == "D2.C2").unwrap();
    assert_eq!(condition.unit.kernel.as_str(), "matmul_naive");
    assert_eq!(condition.engine, crate::model::verdict::EngineName::Vulkan);
    assert!(condition.reason.contains("D2.C2"));
    let counted: u32 =
        evidence
            .kernels
            .iter()
            .flat_map(|kernel| &kernel.coverage.summary)
            .map(|summary| {
                if facts::asked_for(&evidence, &summary.criterion) {
                    summary.uncovered + summary.undetermined
                } else {
                    0
                }
            })
            .sum();
    // An outcome is an obligation of branch and of decision coverage, and is listed once.
    let twice = open.iter().filter(|item| item.criterion == "branch").count();
    assert_eq!(open.len() + twice, counted as usize);
}

/// Evidence whose first kernel has `count` more statements that no test reaches.
fn with_open_statements(count: u32) -> Evidence {
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

#[test]
fn many_open_obligations_are_grouped_by_reason_and_none_is_left_out() {
    let text = |evidence: &Evidence| document_text(&super::chapter::document(evidence).unwrap());
    let few = text(&with_open_statements(10));
    assert!(few.contains("Open in kernel") && !few.contains("by reason; each stands"), "{few}");
    let evidence = with_open_statements(900);
    let open = facts::open_obligations(&evidence).len();
    let many = text(&evidence);
    assert!(many.contains("by reason; each stands with its place in the kernel's chapter"), "{many}");
    assert!(many.contains(&format!("{open} obligations of the criteria asked for")), "{many}");
    let first = evidence.kernels[0].coverage.statements.len() - 899;
    let last = evidence.kernels[0].coverage.statements.len();
    assert!(many.contains(&format!("S{first}–S{last}")), "{many}");
    // Each with its place in the kernel's chapter.
    assert!((first..=last).all(|number| many.lines().any(|line| line == format!("S{number}"))));
}

/// Texts of paragraphs, captions and cells of a document's body, one per line.
fn document_text(document: &super::document::Document) -> String {
    let plain = |text: &super::document::Text| text.0.iter().map(|run| run.text.as_str()).collect::<String>();
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
            | Block::Pairs(_)
            | Block::Notice { .. }
            | Block::Together(_)
            | Block::Source { .. } => {}
        }
    }
    lines.join("\n")
}

/// All text of a document, one line per paragraph, cell or value.
fn whole_text(evidence: &Evidence) -> String {
    fn add(block: &Block, lines: &mut Vec<String>) {
        let plain = |text: &super::document::Text| text.0.iter().map(|run| run.text.as_str()).collect::<String>();
        match block {
            Block::Heading(heading) => lines.push(plain(&heading.text)),
            Block::Paragraph(text) => lines.push(plain(text)),
            Block::List(items) => lines.extend(items.iter().map(plain)),
            Block::Pairs(pairs) => lines.extend(pairs.iter().map(|(name, text)| format!("{name}: {}", plain(text)))),
            Block::Table(table) => lines.extend(table.rows.iter().flatten().map(plain)),
            Block::Notice { title, lines: below, .. } => {
                lines.push(plain(title));
                lines.extend(below.iter().map(plain));
            }
            Block::Together(blocks) => blocks.iter().for_each(|block| add(block, lines)),
            Block::Source { .. } => {}
        }
    }
    let document = super::chapter::document(evidence).unwrap();
    let mut lines = Vec::new();
    document.front.iter().chain(&document.body).for_each(|block| add(block, &mut lines));
    lines.join("\n")
}

#[test]
fn records_that_do_not_count_are_told_of_every_engine_under_a_heading_of_their_own() {
    let mut evidence = sample::evidence();
    for kernel in &mut evidence.kernels {
        kernel.records.iter_mut().for_each(|records| records.counted = false);
    }
    let text = whole_text(&evidence);
    for engine in ["sequential", "vulkan"] {
        assert!(text.contains(&format!("Records on {engine} that do not count")), "{text}");
    }
    let place = text.find("that do not count").unwrap();
    assert!(
        text[..place].ends_with("What counts for nothing\nRecords on sequential "),
        "{}",
        &text[place - 200..place]
    );
}

#[test]
fn what_a_test_judges_stands_in_its_section() {
    let text = whole_text(&sample::evidence());
    assert!(text.contains("Expected: "), "{text}");
    assert!(text.contains("Runs, sequential: "), "{text}");
    assert!(text.contains("tolerance: ") || text.contains("completing is a pass"), "{text}");
}

/// Only vectors of passed tests are in evidence: another test may show what is missing.
#[test]
fn what_no_passed_test_shows_is_not_said_to_be_shown_by_none() {
    let text = whole_text(&sample::evidence());
    assert!(!text.contains(": no test shows that"), "{text}");
}

#[test]
fn a_document_without_hash_is_told_where_its_record_is_accepted() {
    use crate::model::evidence::RecordEvidence;
    use crate::model::requirement::{VerificationMethod, VerificationRecord};
    let mut evidence = sample::evidence();
    let record = VerificationRecord {
        requirement: evidence.campaign.requirements[0].requirement.uid.clone(),
        document: "nowhere.pdf".to_owned(),
        section: "3".to_owned(),
        author: "A".to_owned(),
        reviewer: "B".to_owned(),
        hash: String::new(),
    };
    let row =
        RecordEvidence { method: VerificationMethod::Analysis, record, file: "r.toml".to_owned(), rejected: None };
    assert!(!whole_text(&evidence).contains("pinned by"));
    evidence.campaign.records = vec![row];
    let text = whole_text(&evidence);
    assert!(text.contains("1 accepted record of analysis and review: no document is pinned by a hash"), "{text}");
    assert!(text.contains("pinned by no hash (1 of 1 records)"), "{text}");
}

#[test]
fn more_reasons_than_fit_are_told_by_kind() {
    let mut evidence = sample::evidence();
    let many = (0..40).map(|number| format!("requirement LLR-{number} is not met by its tests"));
    let other = "coupling of k: host-overflow is undetermined: m * n".to_owned();
    evidence.campaign.conclusion.reasons = many.chain([other.clone()]).collect();
    let brief = statement::brief_reasons(&evidence);
    assert!(!brief.whole);
    let together = "40 requirements are not met: LLR-0, LLR-1, LLR-2 and 37 more";
    assert_eq!(brief.lines, [together, &other, "2 open items: less than the level asks for, and not accepted"]);
}

/// Most are counted on one engine of a kernel; criteria that nobody asks for count nothing.
#[test]
fn the_title_counts_what_is_justified_once_and_what_is_accepted() {
    let mut evidence = sample::flawless();
    assert_eq!(statement::title(&evidence).1, "All that was asked for holds");
    let mut device = evidence.campaign.conclusion.summary[0].clone();
    device.engine = EngineName::Vulkan;
    device.criteria.iter_mut().find(|row| row.criterion == "decision").unwrap().justified = 2;
    let rows = &mut evidence.campaign.conclusion.summary;
    rows[0].criteria.iter_mut().find(|row| row.criterion == "statement").unwrap().justified = 1;
    rows[0].criteria.iter_mut().find(|row| row.criterion == "decision").unwrap().justified = 2;
    rows.push(device);
    assert_eq!(statement::justified(&evidence), 3);
    let mut other = evidence.campaign.conclusion.summary[0].clone();
    other.configuration = "other".to_owned();
    evidence.campaign.conclusion.summary.push(other);
    assert_eq!(statement::title(&evidence).1, "All that was asked for holds, but for 6 justified obligations");
    evidence.campaign.project.criteria.retain(|name| name != "decision");
    assert_eq!(statement::title(&evidence).1, "All that was asked for holds, but for 2 justified obligations");
}

/// A kernel that only gives reference values is dispatched by no test; a test that did not run dispatches nothing.
#[test]
fn a_kernel_that_no_test_dispatched_is_named() {
    let mut evidence = sample::flawless();
    assert_eq!(statement::never_run(&evidence), Vec::<&KernelName>::new());
    let mut reference = evidence.campaign.conclusion.summary[0].clone();
    reference.kernel = "reference".into();
    evidence.campaign.conclusion.summary.push(reference);
    let notes = statement::notes(&evidence);
    assert_eq!(notes[0], "Kernel reference was dispatched by no test that ran: no test shows what a dispatch does.");
    assert_eq!(statement::no_findings(&evidence).0, "none of the kinds looked for");
    for result in evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results) {
        result.verdict = Verdict::NotRun;
    }
    let kernel = evidence.kernels[0].kernel.clone();
    let notes = statement::notes(&evidence);
    assert!(notes[0].starts_with(&format!("Kernels {kernel}, reference were dispatched by no test")), "{notes:?}");
    assert_eq!(statement::no_findings(&evidence).0, "not looked for");
}
