use super::document::Block;
use super::*;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::coverage::{ConditionMcdc, SimpleObligation, Status};
use vkcert_model::id::KernelName;
use vkcert_model::reason::Reason;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_sample as sample;

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
        for row in FORMATS {
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

#[test]
fn no_line_of_the_summary_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 100, 120, 200] {
        let presentation = Presentation { width, ..Presentation::default() };
        for evidence in [sample::evidence(), sample::flawless()] {
            let text =
                String::from_utf8(render(&evidence, FormatName::Terminal, &presentation).unwrap())
                    .unwrap();
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
        // Names that belong to several lines stand above them.
        let narrow = text(&evidence, width);
        let narrow = bare(&narrow);
        // Parts of a line are parted by two spaces; a narrow page folds them.
        for part in pipe[pipe.find("  Tests ").unwrap()..].lines().flat_map(|line| line.split("  "))
        {
            let part = part.trim_start_matches(['✗', '·', ' ']);
            assert!(narrow.contains(&bare(part)), "{width}: {part}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let plain = Presentation::default();
    let colour = Presentation { colour: Colour::Ansi, ..Presentation::default() };
    let text = |presentation: &Presentation| {
        String::from_utf8(render(&sample::evidence(), FormatName::Terminal, presentation).unwrap())
            .unwrap()
    };
    let mut stripped = String::new();
    for (index, part) in text(&colour).split('\u{1b}').enumerate() {
        let part = if index == 0 { part } else { part.split_once('m').unwrap().1 };
        stripped.push_str(part);
    }
    let trimmed =
        |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&stripped), trimmed(&text(&plain)));
}

/// Shares are counted from rows that the sample's lists hold; the document prints numerator and
/// denominator.
#[test]
fn an_uncovered_condition_is_listed_as_open_with_its_decision() {
    let evidence = sample::evidence();
    let open = facts::uncovered_obligations(&evidence);
    let condition = open.iter().find(|item| item.obligation == "D2.C2").unwrap();
    assert_eq!(condition.unit.kernel.as_str(), "matmul_naive");
    assert_eq!(condition.engine, vkcert_model::verdict::EngineName::Vulkan);
    assert!(condition.reason.contains("D2.C2"));
    let counted: u32 = evidence
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
fn many_uncovered_obligations_are_grouped_by_reason_and_none_is_left_out() {
    let text = |evidence: &Evidence| document_text(&super::chapter::document(evidence).unwrap());
    let few = text(&with_open_statements(10));
    assert!(
        few.contains("Uncovered in kernel") && !few.contains("by reason; each stands"),
        "{few}"
    );
    let evidence = with_open_statements(900);
    let open = facts::uncovered_obligations(&evidence).len();
    let many = text(&evidence);
    assert!(
        many.contains("by reason; each stands with its place in the kernel's chapter"),
        "{many}"
    );
    assert!(many.contains(&format!("{open} obligations of the criteria asked for")), "{many}");
    let first = evidence.kernels[0].coverage.statements.len() - 899;
    let last = evidence.kernels[0].coverage.statements.len();
    assert!(many.contains(&format!("S{first}–S{last}")), "{many}");
    // Each with its place in the kernel's chapter.
    assert!((first..=last).all(|number| many.lines().any(|line| line == format!("S{number}"))));
}

/// Texts of paragraphs, captions and cells of a document's body, one per line.
fn document_text(document: &super::document::Document) -> String {
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
            | Block::Pairs(_)
            | Block::Notice { .. }
            | Block::Together(_)
            | Block::Fitting { .. }
            | Block::Source { .. } => {}
        }
    }
    lines.join("\n")
}

/// All text of a document, one line per paragraph, cell or value.
fn whole_text(evidence: &Evidence) -> String {
    fn add(block: &Block, lines: &mut Vec<String>) {
        let plain = |text: &super::document::Text| {
            text.0.iter().map(|run| run.text.as_str()).collect::<String>()
        };
        match block {
            Block::Heading(heading) => lines.push(plain(&heading.text)),
            Block::Paragraph(text) => lines.push(plain(text)),
            Block::List(items) => lines.extend(items.iter().map(plain)),
            Block::Pairs(pairs) => {
                lines.extend(pairs.iter().map(|(name, text)| format!("{name}: {}", plain(text))))
            }
            Block::Table(table) => lines.extend(table.rows.iter().flatten().map(plain)),
            Block::Notice { title, lines: below, .. } => {
                lines.push(plain(title));
                lines.extend(below.iter().map(plain));
            }
            Block::Together(blocks) | Block::Fitting { whole: blocks, brief: _ } => {
                blocks.iter().for_each(|block| add(block, lines))
            }
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
    use vkcert_model::evidence::RecordEvidence;
    use vkcert_model::requirement::{VerificationMethod, VerificationRecord};
    let mut evidence = sample::evidence();
    let record = VerificationRecord {
        requirement: evidence.campaign.requirements[0].requirement.uid.clone(),
        document: "nowhere.pdf".to_owned(),
        section: "3".to_owned(),
        author: "A".to_owned(),
        reviewer: "B".to_owned(),
        hash: String::new(),
    };
    let row = RecordEvidence {
        method: VerificationMethod::Analysis,
        record,
        file: "r.toml".to_owned(),
        rejected: None,
    };
    assert!(!whole_text(&evidence).contains("pinned by"));
    evidence.campaign.records = vec![row];
    let text = whole_text(&evidence);
    assert!(
        text.contains("1 accepted record of analysis and review: no document is pinned by a hash"),
        "{text}"
    );
    assert!(text.contains("pinned by no hash (1 of 1 records)"), "{text}");
}

/// Whatever the sentences are: they are grouped by what is stored beside them.
#[test]
fn more_reasons_than_fit_are_told_by_kind() {
    let mut evidence = sample::evidence();
    let failed = |number: usize| Reason::RequirementFailed {
        requirement: format!("LLR-{number}").as_str().into(),
        children: Vec::new(),
    };
    let (check, message) = ("host-overflow".to_owned(), "m * n".to_owned());
    let other = Reason::CouplingUndetermined { kernel: "k".into(), check, message };
    let items =
        evidence.campaign.open_items.iter().filter(|item| item.stands()).map(|item| item.reason());
    let reasons: Vec<Reason> = (0..40).map(failed).chain([other.clone()]).chain(items).collect();
    let conclusion = &mut evidence.campaign.conclusion;
    conclusion.grounds = reasons.iter().map(Reason::ground).collect();
    conclusion.reasons = reasons.iter().map(Reason::to_string).collect();
    for wording in ["requirement ", "is untested: the requirement "] {
        let conclusion = &mut evidence.campaign.conclusion;
        for sentence in conclusion.reasons.iter_mut().take(40) {
            *sentence = sentence.replacen("requirement ", wording, 1);
        }
        let brief = statement::brief_reasons(&evidence);
        assert!(!brief.whole);
        let together = "40 requirements are not met: LLR-0, LLR-1, LLR-2 and 37 more";
        let items = "2 open items: less than the level asks for, and not accepted";
        assert_eq!(brief.lines, [together, &other.to_string(), items]);
    }
    // Without what is stored beside them they are told one by one, as far as they fit.
    evidence.campaign.conclusion.grounds.clear();
    let brief = statement::brief_reasons(&evidence);
    assert!(
        brief.lines[0].contains("LLR-0 ") && brief.lines.last().unwrap().starts_with("… and "),
        "{brief:?}"
    );
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
    assert_eq!(
        statement::title(&evidence).1,
        "All that was asked for holds, but for 6 justified obligations"
    );
    evidence.campaign.project.criteria.retain(|name| name != "decision");
    assert_eq!(
        statement::title(&evidence).1,
        "All that was asked for holds, but for 2 justified obligations"
    );
}

/// A kernel that only gives reference values is dispatched by no test; a test that did not run
/// dispatches nothing.
#[test]
fn a_kernel_that_no_test_dispatched_is_named() {
    let mut evidence = sample::flawless();
    assert_eq!(statement::never_run(&evidence), Vec::<&KernelName>::new());
    let mut reference = evidence.campaign.conclusion.summary[0].clone();
    reference.kernel = "reference".into();
    evidence.campaign.conclusion.summary.push(reference);
    let notes = statement::notes(&evidence);
    assert_eq!(
        notes[0],
        "Kernel reference was dispatched by no test that ran: no test shows what a dispatch does."
    );
    assert_eq!(statement::no_findings(&evidence).0, "none of the kinds looked for");
    for result in evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results) {
        result.verdict = Verdict::NotRun;
    }
    let kernel = evidence.kernels[0].kernel.clone();
    let notes = statement::notes(&evidence);
    assert!(
        notes[0].starts_with(&format!("Kernels {kernel}, reference were dispatched by no test")),
        "{notes:?}"
    );
    assert_eq!(statement::no_findings(&evidence).0, "not looked for");
}

/// Page 1 says so; what nobody asked for is no defect in any table of shares.
#[test]
fn shares_that_nobody_asked_for_are_no_defect_in_any_chapter() {
    use super::document::Tone;
    let evidence = sample::evidence();
    let document = super::chapter::document(&evidence).unwrap();
    let words = |text: &super::document::Text| {
        text.0.iter().map(|run| run.text.as_str()).collect::<String>()
    };
    let mut seen = 0;
    for table in tables(&document.body).into_iter().chain(tables(&document.front)) {
        let titles: Vec<String> = table.columns.iter().map(|column| words(&column.title)).collect();
        for row in &table.rows {
            let of_row = words(&row[0]).ends_with("(not asked for)");
            for (title, cell) in titles.iter().zip(row).skip(1) {
                if of_row || title.ends_with("(not asked for)") {
                    seen += 1;
                    assert!(
                        cell.0.iter().all(|run| run.tone != Tone::Bad),
                        "{title}: {}",
                        words(cell)
                    );
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// What is justified is not open, so that no vector is missing for it.
#[test]
fn vectors_that_would_complete_a_decision_are_told_where_something_is_open() {
    let mut evidence = sample::evidence();
    let told = |evidence: &Evidence| {
        whole_text(evidence).matches("A smallest set that completes masking MC/DC").count()
    };
    assert!(told(&evidence) > 0);
    // Of a decision in part: the vectors are those of all its conditions.
    let mut decisions =
        evidence.kernels.iter_mut().flat_map(|kernel| &mut kernel.coverage.decisions);
    let is_open = |mcdc: &&ConditionMcdc| mcdc.masking.status == Status::Uncovered;
    let two = decisions.find(|decision| decision.mcdc.iter().filter(is_open).count() == 2).unwrap();
    two.mcdc[0].masking.status = Status::Justified;
    let words = "; C1 is justified, and needs none of them";
    assert!(whole_text(&evidence).contains(words) && terminal(&evidence, 200).contains(words));
    for decision in evidence.kernels.iter_mut().flat_map(|kernel| &mut kernel.coverage.decisions) {
        for mcdc in decision.mcdc.iter_mut().filter(|mcdc| mcdc.masking.status == Status::Uncovered)
        {
            mcdc.masking.status = Status::Justified;
        }
    }
    assert_eq!(told(&evidence), 0);
}

/// The chapter on coupling names the kernels that it says nothing of.
#[test]
fn kernels_without_an_interface_are_named_in_the_chapter_on_coupling() {
    let text = whole_text(&sample::evidence());
    let name = sample::LONG_KERNEL;
    let sentence = format!(
        "Kernel {name} has no interface description: no coupling with the host was checked there."
    );
    assert!(text.contains(&sentence), "{text}");
}

/// Rounded down to a tenth, and neither to all nor to nothing; what is justified has a row of its
/// own, as on page 1.
#[test]
fn shares_in_the_terminal_are_rounded_down_and_justified_ones_are_told_apart() {
    let mut evidence = sample::flawless();
    assert!(!terminal(&evidence, 200).contains("Justified"));
    let asked = evidence.campaign.project.criteria.clone();
    let row = &mut evidence.campaign.conclusion.summary[0];
    let mut set = |criterion: &str, (covered, justified, total): (u32, u32, u32)| {
        let found = row.criteria.iter_mut().find(|row| row.criterion == criterion).unwrap();
        (found.covered, found.justified, found.total) = (covered, justified, total);
    };
    set("statement", (9996, 4, 10_000));
    set("decision", (2, 0, 9000));
    set("branch", (199, 0, 200));
    let text = terminal(&evidence, 200);
    for share in ["9996+4J/10000 99.9%", "2/9000 <0.1%", "199/200 99.5%"] {
        assert!(text.contains(share), "{share}: {text}");
    }
    assert!(asked.iter().any(|name| name == "statement"), "{asked:?}");
    let justified = text
        .lines()
        .find(|line| line.starts_with("  Justified"))
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        justified.trim_start_matches("  Justified").trim(),
        "4 obligations, covered by no test"
    );
}

/// A kind stands in a column of its own whether its finding takes one line or more.
#[test]
fn findings_keep_their_column_at_every_width() {
    let text = terminal(&sample::evidence(), 100);
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("  Findings")).skip(1).collect();
    let rows = rows.into_iter().take_while(|line| line.starts_with("    "));
    let behind_kind = |line: &str| {
        let kind = line
            .trim_start_matches([' ', '✗'])
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let at = line.find(&kind).unwrap() + kind.len();
        line[..at].chars().count() + line[at..].chars().take_while(|c| *c == ' ').count()
    };
    let (mut columns, mut folded) = (Vec::new(), 0);
    for line in rows {
        if line.contains('✗') {
            columns.push(behind_kind(line));
        } else if !line.contains('…') {
            folded += 1;
            assert_eq!(line.chars().take_while(|c| *c == ' ').count(), columns[0], "{text}");
        }
    }
    assert!(folded > 0 && columns.len() > 1, "{text}");
    assert!(columns.iter().all(|column| *column == columns[0]), "{columns:?}: {text}");
}

fn terminal(evidence: &Evidence, width: u16) -> String {
    let presentation = Presentation { width, ..Presentation::default() };
    String::from_utf8(render(evidence, FormatName::Terminal, &presentation).unwrap()).unwrap()
}

/// Every table of a document, those within other blocks included.
fn tables(blocks: &[Block]) -> Vec<&super::document::Table> {
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
            | Block::Pairs(_)
            | Block::Notice { .. }
            | Block::Source { .. } => {}
        }
    }
    found
}

#[test]
fn no_cell_is_empty() {
    for evidence in [sample::evidence(), sample::flawless(), with_contents()] {
        let mut evidence = evidence;
        evidence.campaign.tests[0].title = None;
        let document = super::chapter::document(&evidence).unwrap();
        for table in tables(&document.front).into_iter().chain(tables(&document.body)) {
            for (number, row) in table.rows.iter().enumerate() {
                let empty =
                    row.iter().position(|cell| cell.0.iter().all(|run| run.text.is_empty()));
                assert_eq!(empty, None, "row {number} of {:?}", table.caption);
            }
        }
    }
}

#[test]
fn an_edge_without_a_label_says_how_it_couples() {
    let mut evidence = sample::evidence();
    evidence.campaign.coupling[0].edges.iter_mut().for_each(|edge| edge.label.clear());
    let text = whole_text(&evidence);
    assert!(text.contains("by its value") && text.contains("its text holds the name"), "{text}");
}

/// The sample, the first test of which has contents of each form.
#[test]
fn all_places_call_coverage_that_follows_an_undefined_value_the_same() {
    let mut evidence = sample::evidence();
    evidence.campaign.agreement[1].coverage = AgreementOutcome::UndefinedValue;
    let text = whole_text(&evidence);
    assert!(text.contains("?\u{a0}follows an undefined value"), "{text}");
    assert!(text.contains("Follows an undefined value: what one engine alone recorded"), "{text}");
    for text in [text, terminal(&evidence, 200)] {
        assert!(text.contains("1 with coverage that follows an undefined value"), "{text}");
        assert!(!text.contains("1 different"), "{text}");
    }
}

#[test]
fn outputs_that_depend_on_an_undefined_value_are_said_not_to_be_compared() {
    let mut evidence = sample::evidence();
    let mut bounds = evidence.campaign.agreement.iter_mut().filter_map(|row| row.bounds.as_mut());
    let buffer = &mut bounds.next().unwrap().buffers[0];
    (buffer.undefined, buffer.worst_ulp) = (1, Some(2));
    let text = whole_text(&evidence);
    assert!(text.contains("?\u{a0}depends on an undefined value"), "{text}");
    assert!(text.contains("Nothing is said of what the device left there"), "{text}");
    let told = "buffer result: 1 element depends on an undefined value and was not compared (of an integer, the bits that do); \
                2 elements differ within the error bounds of the specification, by 2 ULP at most";
    assert!(text.contains(told), "{text}");
    // Nothing else differs, so that nothing is said of bounds.
    let mut bounds = evidence.campaign.agreement.iter_mut().filter_map(|row| row.bounds.as_mut());
    let buffer = &mut bounds.next().unwrap().buffers[0];
    (buffer.undefined, buffer.worst_ulp) = (3, None);
    let text = whole_text(&evidence);
    assert!(
        text.contains("buffer result: 3 elements depend on undefined values and were not compared"),
        "{text}"
    );
    assert!(
        !text.contains("within the error bounds") && !text.contains("Within-error-bounds"),
        "{text}"
    );
}

#[test]
fn suspect_links_are_no_further_requirements() {
    let evidence = sample::evidence();
    for text in [whole_text(&evidence), terminal(&evidence, 200)] {
        assert!(text.contains(" with suspect links"), "{text}");
    }
}

fn with_contents() -> Evidence {
    use vkcert_model::evidence::{OutputBytes, StoredExpectation};
    let mut evidence = sample::evidence();
    evidence.manifest.inputs.insert("requirements/data.npy".into(), "sha256:feed".into());
    let test = &mut evidence.campaign.tests[0];
    test.definition = serde_json::from_value(serde_json::json!({
        "id": test.id, "dispatches": [],
        "buffers": {
            "few": {"type": "float", "data": [1, 2.5, "NaN"]},
            "many": {"type": "uint", "data": (0..40).collect::<Vec<u32>>()},
            "ruled": {"type": "int", "count": 12, "fill": {"random": {"seed": 7}}},
            "raw": {"bytes": "AQID"},
            "file": {"type": "float", "file": "data.npy"},
            "result": {"type": "float", "count": 2},
        },
        "images": {"picture": {"dim": "2d", "format": "rgba8", "extent": [2, 1]}},
        "expect": [{"buffer": "result", "values": [1, 2]}],
    }))
    .unwrap();
    let bytes = "AACAPwAAAEA=";
    test.expected = vec![
        serde_json::from_value::<StoredExpectation>(serde_json::json!({
            "buffer": "result", "tolerance": {},
            "contents": {"values": [{"offset": 0, "scalar": "float", "bytes": bytes}]},
        }))
        .unwrap(),
    ];
    for result in &mut test.results {
        result.outputs = [("result".to_owned(), OutputBytes::Bytes(bytes.to_owned()))].into();
    }
    evidence
}

#[test]
fn a_test_tells_its_contents_and_where_they_stand() {
    let evidence = with_contents();
    let document = super::chapter::document(&evidence).unwrap();
    let of_test = |table: &&super::document::Table| {
        table.caption.as_ref().is_some_and(|caption| caption.0[0].text == "Contents of TC-MM-01")
    };
    let all = tables(&document.body);
    let table = all.iter().find(|table| of_test(table)).expect("a table of contents");
    let plain = |text: &super::document::Text| {
        text.0.iter().map(|run| run.text.as_str()).collect::<String>()
    };
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(plain).collect()).collect();
    let row = |name: &str| {
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}: {rows:#?}"))
    };
    assert_eq!(
        row("Input few")[1..],
        ["float, 3 values", "1, 2.5, NaN", "/tests/0/definition/buffers/few"]
    );
    assert_eq!(row("Input many")[2], "0, 1, 2, 3, 4, 5, 6, 7, … and 32 more");
    assert_eq!(row("Input ruled")[1], "int, 12 elements");
    assert_eq!(
        row("Input ruled")[2],
        "random (SplitMix64), seed 7, from the type's least to the type's greatest".to_owned()
    );
    assert!(row("Input raw")[2].starts_with("01, 02, 03, sha256:"));
    assert!(
        row("Input file")[3].ends_with("file requirements/data.npy sha256:feed"),
        "{:?}",
        row("Input file")
    );
    assert_eq!(row("Input result")[2], "not initialised");
    assert_eq!(row("Input image picture")[1], "2d rgba8, 2 × 1 texels");
    let hash = vkcert_model::canonical::content_hash(&[0, 0, 0x80, 0x3f, 0, 0, 0, 0x40]);
    let expected = [
        "float, 2 values".to_owned(),
        "1, 2".to_owned(),
        format!("/tests/0/expected/0/contents, {hash}"),
    ];
    assert_eq!(row("Expected result")[1..], expected);
    let actual = row("Actual result, sequential, vulkan");
    assert_eq!(actual[2], "1, 2");
    assert!(actual[3].starts_with(
        "/tests/0/results/0/outputs/result, /tests/0/results/1/outputs/result, sha256:"
    ));
}

/// Only evidence that does not verify holds such contents; a hash of nothing would be a statement
/// about them.
#[test]
fn contents_that_cannot_be_decoded_are_told_as_such() {
    use vkcert_model::evidence::{OutputBytes, StoredContents};
    let mut evidence = with_contents();
    let test = &mut evidence.campaign.tests[0];
    test.definition.buffers.get_mut("raw").unwrap().bytes = Some("AQI".to_owned());
    for expected in &mut test.expected {
        let StoredContents::Values(runs) = &mut expected.contents else { panic!("values") };
        runs[0].bytes = "no base64".to_owned();
    }
    for result in &mut test.results {
        result.outputs =
            [("result".to_owned(), OutputBytes::Bytes("AACAPwAAAE".to_owned()))].into();
    }
    let text = whole_text(&evidence);
    let empty = vkcert_model::canonical::content_hash(&[]);
    assert!(!text.contains(&empty) && !text.contains("\n0 values"), "{text}");
    assert_eq!(text.matches("cannot be decoded: not base64").count(), 3, "{text}");
}

#[test]
fn altered_contents_are_explained_with_every_alteration() {
    let text = whole_text(&sample::evidence());
    for alteration in vkcert_model::altered::Alteration::ALL {
        assert!(text.contains(&alteration.to_string()), "{alteration}");
    }
    assert!(text.contains("It does not show that they are the right ones"), "{text}");
}

#[test]
fn a_test_that_fails_alike_on_both_engines_is_told_once() {
    let mut evidence = sample::evidence();
    let test = &mut evidence.campaign.tests[3];
    let fail = test.results[0].clone();
    test.results[1] = vkcert_model::evidence::TestResult { engine: test.results[1].engine, ..fail };
    evidence.campaign.conclusion.reasons =
        ["sequential", "vulkan"].map(|engine| format!("test TC-MM-04 on {engine}: fail")).into();
    let text = terminal(&evidence, 100);
    assert_eq!(text.matches("TC-MM-04: fail on sequential and vulkan").count(), 1, "{text}");
    assert_eq!(text.matches("result, byte 0: expected").count(), 1, "{text}");
    assert_eq!(
        statement::reasons(&evidence)[0].sentence,
        "test TC-MM-04 on sequential and vulkan: fail"
    );
    assert!(!text.contains("TC-MM-04 on vulkan"), "{text}");
}

/// Evidence in which one statement is exercised by `count` failed tests.
fn with_failed_tests(count: usize) -> Evidence {
    let mut evidence = with_open_statements(1);
    let failed = evidence.campaign.tests[3].clone();
    let ids: Vec<vkcert_model::id::TestId> =
        (0..count).map(|number| format!("TC-F-{number}").as_str().into()).collect();
    for id in &ids {
        evidence
            .campaign
            .tests
            .push(vkcert_model::evidence::TestEvidence { id: id.clone(), ..failed.clone() });
    }
    evidence.kernels[0].coverage.statements.last_mut().unwrap().uncounted = ids;
    evidence
}

#[test]
fn failed_tests_behind_an_obligation_are_counted_not_listed() {
    let text = terminal(&with_failed_tests(50), 200);
    assert!(
        text.contains(
            "1 obligation exercised by failed tests TC-F-0, TC-F-1, TC-F-2 and 47 more only"
        ),
        "{text}"
    );
    assert!(text.contains("… and 41 more"), "{text}");
}

#[test]
fn engines_with_equal_shares_are_one_row() {
    let mut evidence = sample::evidence();
    let summary = &mut evidence.campaign.conclusion.summary;
    summary[1].criteria = summary[0].criteria.clone();
    let text = terminal(&evidence, 100);
    assert!(text.contains("\n    both "), "{text}");
    assert!(text.contains("both: sequential and vulkan"), "{text}");
    let rows = facts::coverage_rows(&evidence, &facts::measured_criteria(&evidence));
    assert_eq!(rows[0].engines.len(), 2);
    let total: u32 = rows.iter().map(|row| row.criteria[0].total).sum();
    let totals = facts::coverage_totals(&evidence, &facts::measured_criteria(&evidence)).unwrap();
    assert_eq!(totals[0].criteria[0].total, total);
}

/// Four kernels on two engines, as many requirements and tests as the demonstration has, and notes.
fn four_kernels() -> Evidence {
    use vkcert_model::open_item::{CampaignNote, NoteKind};
    let mut evidence = sample::flawless();
    let both = sample::evidence().campaign.engines;
    let campaign = &mut evidence.campaign;
    let row = campaign.conclusion.summary[0].clone();
    let names = ["matmul_naive", "matmul_tiled", "histogram", "convolution"];
    let rows = names.iter().flat_map(|name| {
        both.iter().map(|engine| vkcert_model::evidence::KernelSummary {
            kernel: (*name).into(),
            engine: engine.engine,
            ..row.clone()
        })
    });
    campaign.conclusion.summary = rows.collect();
    campaign.engines = both;
    campaign.project.criteria.push("additional-code".to_owned());
    campaign.coupling = sample::evidence().campaign.coupling;
    campaign.agreement = sample::evidence().campaign.agreement;
    let sentence =
        "3 accepted records of analysis and review: no document is pinned by a hash, and none was read.".to_owned();
    campaign.notes = vec![CampaignNote { kind: NoteKind::LinksNotPinned, sentence }; 2];
    evidence
}

/// Pages of a PDF as text; none without poppler.
fn pages(evidence: &Evidence) -> Option<Vec<String>> {
    use std::io::Write as _;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&rendered(evidence, FormatName::Pdf)).unwrap();
    let output =
        std::process::Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").output();
    let Ok(output) = output else {
        eprintln!("skipped: pdftotext (poppler-utils) is not installed");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap().split('\u{c}').map(str::to_owned).collect())
}

#[test]
fn page_1_is_one_page_with_shares_items_and_notes() {
    let contents_follow = |evidence: &Evidence| {
        let pages = pages(evidence)?;
        assert!(pages[1].contains("Contents\n"), "{}{}", pages[0], pages[1]);
        Some(pages.into_iter().next().unwrap_or_default())
    };
    let mut evidence = four_kernels();
    let Some(first) = contents_follow(&evidence) else { return };
    for word in [
        "matmul_tiled",
        "histogram",
        "convolution",
        "Agreement",
        "Coupling",
        "Additional code",
        "Uncovered",
    ] {
        assert!(first.contains(word), "{word}: {first}");
    }
    // With open items, one of them accepted, the shares of all kernels together.
    evidence.campaign.open_items = sample::evidence().campaign.open_items;
    let first = contents_follow(&evidence).unwrap();
    assert!(
        first.contains("accepted") && first.contains("of all obligations of all kernels"),
        "{first}"
    );
    // However many kernels there are.
    let row = evidence.campaign.conclusion.summary[0].clone();
    evidence.campaign.conclusion.summary = (0..60)
        .map(|number| vkcert_model::evidence::KernelSummary {
            kernel: format!("kernel_{number}").as_str().into(),
            ..row.clone()
        })
        .collect();
    assert!(contents_follow(&evidence).unwrap().contains("Statement 480/480"));
}
