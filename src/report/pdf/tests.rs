//! The document as other programs read it: `lopdf` for its structure, `pdftotext` (poppler) for its
//! text where installed.

use super::bookmarks::OutlineTree;
use super::canvas::{DrawItem, LEFT, OutlineMark, Page, Sheet, TOP};
use super::face::FontFace;
use super::furniture::header_left;
use super::structure::DrawMark;
use super::*;
use crate::Standing;
use crate::{FormatName, render};
use std::io::Write;
use std::process::Command;
use vkcert_model::criterion::CriterionName;
use vkcert_sample as sample;

pub(super) fn pdf(evidence: &Evidence) -> Vec<u8> {
    render(evidence, FormatName::Pdf, &Presentation::default()).unwrap()
}

/// Text per page in reading order; none without poppler.
fn pages(bytes: &[u8]) -> Option<Vec<String>> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let output = Command::new("pdftotext").arg("-layout").arg(file.path()).arg("-").output();
    let Ok(output) = output else {
        eprintln!("skipped: pdftotext (poppler-utils) is not installed");
        return None;
    };
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.trim_end_matches('\u{c}').split('\u{c}').map(str::to_owned).collect())
}

/// The text of a page without white space.
fn page_text(page: &Page) -> String {
    let texts = page.draws.iter().filter_map(|draw| match &draw.item {
        DrawItem::Text { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<String>().split_whitespace().collect()
}

#[test]
fn every_font_is_embedded_as_a_subset() {
    let bytes = pdf(&sample::evidence());
    assert!(bytes.len() < 600_000, "{} bytes", bytes.len());
    let file = lopdf::Document::load_mem(&bytes).unwrap();
    let mut programs = 0;
    for object in file.objects.values() {
        let Ok(font) = object.as_dict() else { continue };
        if font.get(b"Type").and_then(|kind| kind.as_name()).ok() != Some(b"FontDescriptor") {
            continue;
        }
        let name = font.get(b"FontName").unwrap().as_name().unwrap();
        assert_eq!(name[6], b'+', "{}", String::from_utf8_lossy(name));
        let key: &[u8] = if font.has(b"FontFile2") { b"FontFile2" } else { b"FontFile3" };
        let program = file
            .get_object(font.get(key).unwrap().as_reference().unwrap())
            .unwrap()
            .as_stream()
            .unwrap();
        let length =
            program.decompressed_content().unwrap_or_else(|_| program.content.clone()).len();
        assert!((1_000..120_000).contains(&length), "{length} bytes");
        programs += 1;
    }
    assert_eq!(programs, FontFace::ALL.len());
}

#[test]
fn every_page_bears_its_number_and_the_total() {
    let mut evidence = sample::evidence();
    let settings = evidence.campaign.settings.as_mut().unwrap();
    let identity = serde_json::json!({ "number": "SVR-1", "revision": "B" });
    settings.document = serde_json::from_value(identity).unwrap();
    let root = evidence.root().unwrap();
    let bytes = pdf(&evidence);
    let total = lopdf::Document::load_mem(&bytes).unwrap().get_pages().len();
    let Some(pages) = pages(&bytes) else { return };
    assert_eq!(pages.len(), total);
    for (index, page) in pages.iter().enumerate() {
        assert!(page.contains(&format!("Page {} of {total}", index + 1)), "page {}", index + 1);
        assert!(page.contains(&root), "page {} does not name its evidence", index + 1);
        assert!(
            page.contains("SVR-1, revision B"),
            "page {} does not name its document",
            index + 1
        );
        assert!(
            index == 0 || page.contains(concat!("vkcert ", env!("CARGO_PKG_VERSION"))),
            "page {} has no running header",
            index + 1
        );
    }
}

#[test]
fn every_page_of_unverified_evidence_is_stamped() {
    let evidence = sample::evidence();
    let document = crate::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
    let faces = FontFaces::load().unwrap();
    let stamped = |standing: Standing| {
        let mut flow = set_document(&document, &faces, Sheet::of_paper(Paper::A4));
        add_stamp(&mut flow, &standing);
        let says = |page: &Page| {
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            standing.stamp().is_some_and(|stamp| page_text(page).contains(&bare(stamp)))
        };
        (flow.pages.len(), flow.pages.iter().filter(|page| says(page)).count())
    };
    let (pages, verified) = stamped(Standing::Verified);
    assert!(pages > 10);
    assert_eq!(verified, 0);
    assert_eq!(stamped(Standing::Unverified(vec!["p".to_owned()])), (pages, pages));
    assert_eq!(stamped(Standing::InPart(vec!["p".to_owned()])), (pages, pages));
    let standing = Standing::Unverified(Vec::new());
    let words = standing.stamp().unwrap();
    let presentation = Presentation { standing, ..Presentation::default() };
    let Some(pages) = self::pages(&render(&evidence, FormatName::Pdf, &presentation).unwrap())
    else {
        return;
    };
    assert!(pages.iter().all(|page| page.contains(words)));
}

#[test]
fn a_table_that_goes_on_repeats_its_header() {
    let Some(pages) = pages(&pdf(&sample::evidence())) else { return };
    let continued: Vec<&String> = pages
        .iter()
        .filter(|page| page.contains("Uncovered in kernel") && page.contains("(continued)"))
        .collect();
    assert!(!continued.is_empty());
    for page in continued {
        assert!(page.contains("Obligation") && page.contains("Criterion"), "{page}");
    }
}

/// A word of the report is either on a page or was broken where a line ends; nothing is lost.
#[test]
fn every_identifier_of_the_evidence_is_printed() {
    let evidence = sample::evidence();
    let Some(pages) = pages(&pdf(&evidence)) else { return };
    let text: String = pages.concat().chars().filter(|c| !c.is_whitespace()).collect();
    for requirement in &evidence.campaign.requirements {
        assert!(text.contains(requirement.requirement.uid.as_str()));
        assert!(text.contains(&requirement.hash), "{}", requirement.hash);
    }
    for test in &evidence.campaign.tests {
        assert!(text.contains(test.id.as_str()), "{}", test.id);
    }
    for kernel in &evidence.kernels {
        for decision in &kernel.coverage.decisions {
            let title: String =
                format!("{}:{}", decision.id, decision.text).split_whitespace().collect();
            assert!(text.contains(&title), "{title}");
        }
    }
}

#[test]
fn a_character_that_no_font_has_is_printed_as_its_code_point() {
    let Some(pages) = pages(&pdf(&sample::evidence())) else { return };
    assert!(pages.concat().contains("<U+4E2D>"));
}

#[test]
fn chapters_and_kernels_are_bookmarks() {
    let evidence = sample::evidence();
    let file = lopdf::Document::load_mem(&pdf(&evidence)).unwrap();
    let title = |object: &lopdf::Object| {
        let entry = object.as_dict().ok()?;
        entry.get(b"Dest").ok()?;
        lopdf::decode_text_string(entry.get(b"Title").ok()?).ok()
    };
    let titles: Vec<String> = file.objects.values().filter_map(title).collect();
    for name in ["Manifest", "Kernel matmul_naive", "D60:", "LLR-MM-002:"] {
        assert!(titles.iter().any(|title| title.contains(name)), "{name}");
    }
}

#[test]
fn no_text_leaves_the_page_or_its_cell() {
    let evidence = sample::evidence();
    let document = crate::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
    let faces = FontFaces::load().unwrap();
    for paper in [Paper::A4, Paper::Letter] {
        assert_text_within(&set_document(&document, &faces, Sheet::of_paper(paper)));
    }
}

fn assert_text_within(flow: &PageFlow) {
    let faces = flow.faces;
    for (index, page) in flow.pages.iter().enumerate() {
        let mut lines: Vec<(i64, f32, f32)> = Vec::new();
        for draw in &page.draws {
            let DrawItem::Text { x, y, face, size, text, .. } = &draw.item else { continue };
            // The space behind a word at the end of a line shows nothing.
            let width: f32 = text
                .trim_end()
                .chars()
                .map(|c| faces.character_width(*face, c, size / face.size_scale()))
                .sum();
            assert!(
                *x >= LEFT - 0.1 && x + width <= page.sheet.right() + 0.6,
                "page {}: {text}",
                index + 1
            );
            assert!(
                *y > TOP && *y <= page.sheet.bottom() + 1.0,
                "page {}: {text} at {y}",
                index + 1
            );
            lines.push(((y * 10.0) as i64, *x, x + width));
        }
        lines.sort_by(|a, b| a.partial_cmp(b).unwrap());
        for pair in lines.windows(2) {
            let overlap = pair[0].0 == pair[1].0 && pair[1].1 < pair[0].2 - 0.3;
            assert!(!overlap, "page {}: text overlaps at y {}", index + 1, pair[0].0);
        }
    }
}

/// A word of many pages: every character of it is looked at a few times, however long it is.
#[test]
fn a_word_of_many_pages_loses_nothing() {
    let faces = FontFaces::load().unwrap();
    let breaker = line::LineBreaker { faces: &faces, size: 10.0 };
    let word: String = ('a'..='z').cycle().take(60_000).collect();
    let lines = breaker.text_lines(&crate::document::Text::plain(word.as_str()), 400.0);
    let joined: String =
        lines.iter().flat_map(|line| &line.spans).map(|span| span.text.as_str()).collect();
    assert_eq!(joined, word);
    assert!(lines.iter().all(|line| line.width <= 400.1), "a line is too wide");
}

/// Indentation is an indent, and what goes on loses no character, however narrow the column.
#[test]
fn source_text_keeps_its_white_space() {
    let faces = FontFaces::load().unwrap();
    let breaker = line::LineBreaker { faces: &faces, size: 7.4 };
    let source = "    if (a  <  b) { colour = first_operand + second_operand; } // \u{4e2d}";
    for limit in [40.0, 120.0, 400.0] {
        let lines = breaker.source_lines(&crate::document::Text::code(source), limit);
        let texts = lines.iter().flat_map(|(_, line)| &line.spans).map(|span| span.text.as_str());
        let joined = texts.collect::<String>().replace("<U+4E2D>", "\u{4e2d}");
        assert_eq!(joined, source.trim_start());
        assert!(
            lines.iter().all(|(indent, line)| *indent > 10.0 && indent + line.width <= limit + 0.1)
        );
    }
}

/// Every line of every file is on a page, with its number.
#[test]
fn the_source_is_listed_line_by_line() {
    let evidence = sample::evidence();
    let Some(pages) = pages(&pdf(&evidence)) else { return };
    let text = pages.concat();
    let kernel = &evidence.kernels[0];
    for (number, line) in (1..).zip(kernel.structure.files[0].text.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(first_word) = words.first() else { continue };
        let is_listed = |row: &str| {
            let mut row_words = row.split_whitespace();
            row_words.next() == Some(number.to_string().as_str())
                && row_words.take(2).any(|word| word == *first_word)
        };
        assert!(text.lines().any(is_listed), "line {number}: {line}");
    }
}

/// Far more of everything than fits on a page: reasons of every kind, open items of every kind,
/// long notes.
fn crowded() -> Evidence {
    use vkcert_model::finding::FindingKind;
    use vkcert_model::id::{KernelName, RequirementId};
    use vkcert_model::open_item::{
        Acceptability, CampaignNote, NoteKind, OpenItem, OpenItemKind, OpenItemSubject,
    };
    use vkcert_model::reason::{Reason, ReasonKind};
    use vkcert_model::requirement::VerificationMethod;
    use vkcert_model::verdict::EngineName;
    let mut evidence = sample::evidence();
    let campaign = &mut evidence.campaign;
    let long = "a word and another one ".repeat(40);
    let mut reasons: Vec<Reason> = Vec::new();
    for number in 0..60 {
        let (low, high) =
            (RequirementId::from(format!("LLR-{number}").as_str()), RequirementId::from("HLR"));
        let (kernel, text) = (KernelName::from(format!("k{number}").as_str()), || long.clone());
        let engine = EngineName::Sequential;
        reasons.extend([
            Reason::RequirementFailed { requirement: low, children: Vec::new() },
            Reason::RequirementUntested { requirement: low },
            Reason::RequirementOpen { requirement: low, why: vec![text()] },
            Reason::CodeMissing { requirement: low, code: "x.comp:f".to_owned() },
            Reason::LinkSuspect { requirement: low, parent: high },
            Reason::ProfileRefusal {
                kernel,
                profile: "vulkan-sc".to_owned(),
                reasons: vec![text()],
            },
            Reason::RecordRejected {
                method: VerificationMethod::Analysis,
                requirement: low,
                document: "a document".to_owned(),
                reason: text(),
            },
            Reason::ObligationsOpen {
                kernel: kernel.to_string(),
                engine,
                criterion: CriterionName::Statement.into(),
                open: 3,
                total: 4,
                undetermined: 0,
            },
            Reason::CouplingUndetermined { kernel, check: "host-overflow".into(), message: text() },
            Reason::JustificationRejected { kernel, subject: "D1.T".to_owned(), reason: text() },
            Reason::AcceptanceRejected {
                item: format!("decision-policy {number}"),
                reason: text(),
            },
            Reason::FindingStands { kind: FindingKind::DataRace, count: number },
        ]);
    }
    for (test, row) in
        campaign.tests.iter().flat_map(|test| test.results.iter().map(move |row| (test, row)))
    {
        let (test, engines, verdict, reason) =
            (test.id, vec![row.engine], row.verdict, row.reason.clone());
        reasons.extend(ReasonKind::of_verdict(verdict).map(|kind| Reason::Test {
            kind,
            test,
            engines,
            verdict,
            reason,
        }));
    }
    campaign.conclusion.grounds = reasons.iter().map(Reason::ground).collect();
    campaign.conclusion.reasons = reasons.iter().map(Reason::to_string).collect();
    let item = |number: usize, kind: OpenItemKind| {
        let subject =
            OpenItemSubject::Test(format!("TC-{number}-{}", "x".repeat(60)).as_str().into());
        OpenItem::new(kind, Some(subject), Acceptability::ByProject, long.clone())
    };
    let kinds = OpenItemKind::ALL.iter().map(|(kind, _)| *kind);
    campaign.open_items =
        kinds.flat_map(|kind| (0..5).map(move |number| item(number, kind))).collect();
    campaign.notes = vec![CampaignNote { kind: NoteKind::LinksNotPinned, sentence: long }; 20];
    evidence
}

#[test]
fn conclusion_and_open_items_stand_on_page_1_however_many_there_are() {
    let faces = FontFaces::load().unwrap();
    for evidence in [crowded(), sample::evidence()] {
        let document = crate::chapter::report_document(&evidence, DocumentName::All, None).unwrap();
        let flow = set_document(&document, &faces, Sheet::of_paper(Paper::A4));
        let first = page_text(&flow.pages[0]);
        assert!(first.contains("Failed:"), "{first}");
        for item in &evidence.campaign.open_items {
            assert!(
                first.contains(item.kind.name()),
                "{} is not on page 1: {first}",
                item.kind.name()
            );
        }
        assert!(!page_text(&flow.pages[1]).contains("lessthanthelevelasksfor"));
        // All of it stands in a chapter.
        let all: String = flow.pages.iter().map(page_text).collect();
        let bare = |text: &str| text.replace('`', "").split_whitespace().collect::<String>();
        for reason in
            crate::statement::told_reasons(&evidence).into_iter().map(|reason| reason.sentence)
        {
            assert!(all.contains(&bare(&reason)), "{reason}");
        }
    }
}

#[test]
fn a_running_header_of_a_long_name_is_one_line_that_says_it_is_cut() {
    let faces = FontFaces::load().unwrap();
    let sheet = Sheet::of_paper(Paper::A4);
    let breaker = line::LineBreaker { faces: &faces, size: 8.6 };
    let shown = |name: &str| {
        let line = header_left(&breaker, sheet, name, "Software verification report");
        assert!(line.width <= sheet.line_width() * 0.8, "{}", line.width);
        line.spans.iter().map(|span| span.text.as_str()).collect::<String>()
    };
    assert!(shown("Short").ends_with("Software verification report"));
    assert!(shown(&"several words ".repeat(30)).ends_with('…'));
    assert!(shown(&"x".repeat(400)).ends_with('…'));
}

#[test]
fn shares_stand_on_page_1_as_a_table_where_there_is_room() {
    for (evidence, in_table) in [(sample::flawless(), true), (crowded(), false)] {
        let Some(pages) = pages(&pdf(&evidence)) else { return };
        assert_eq!(pages[0].contains("Coverage by kernel"), in_table, "{}", pages[0]);
    }
}

proptest::proptest! {
    #[test]
    fn a_bookmark_stands_under_the_nearest_earlier_one_of_a_smaller_depth(
        depths in proptest::collection::vec(1u8..5, 0..40),
    ) {
        let mark = |depth: &u8| OutlineMark { depth: *depth, title: String::new(), page: 0, y: 0.0 };
        let tree = OutlineTree::of_marks(&depths.iter().map(mark).collect::<Vec<_>>());
        for (index, depth) in depths.iter().enumerate() {
            let parent = (0..index).rev().find(|earlier| depths[*earlier] < *depth);
            let siblings = parent.map_or(&tree.top, |parent| &tree.children[parent]);
            proptest::prop_assert!(siblings.contains(&index));
        }
        // Each stands in one place, and siblings stand in order.
        let groups = || std::iter::once(&tree.top).chain(&tree.children);
        proptest::prop_assert_eq!(groups().map(Vec::len).sum::<usize>(), depths.len());
        proptest::prop_assert!(groups().all(|group| group.is_sorted()));
    }
}

#[test]
fn a_figure_is_whole_on_its_page_with_its_caption() {
    use crate::document::Block;
    use crate::drawing::{Drawing, Paint, Shape, Spot};
    let sheet = Sheet::of_paper(Paper::A4);
    let drawing = Drawing {
        caption: "Bars".into(),
        description: "Two bars".to_owned(),
        width: 2.0 * sheet.line_width(),
        height: 400.0,
        shapes: vec![Shape::rectangle(
            Spot { x: 0.0, y: 0.0 },
            2.0 * sheet.line_width(),
            400.0,
            Paint::Accent,
        )],
    };
    let faces = FontFaces::load().unwrap();
    let mut flow = PageFlow::new(&faces, sheet);
    flow.y = sheet.bottom() - 150.0;
    flow.set_blocks(&[Block::Drawing(drawing)]);
    assert_eq!(flow.pages.len(), 2, "it does not fit below");
    assert_eq!(page_text(&flow.pages[0]), "", "the caption stays with the figure");
    let area = flow.pages[1].draws.iter().find_map(|draw| match &draw.item {
        DrawItem::Area { corners, .. } => Some(corners.clone()),
        DrawItem::Text { .. }
        | DrawItem::Rule { .. }
        | DrawItem::Fill { .. }
        | DrawItem::Link { .. }
        | DrawItem::PageNumber { .. } => None,
    });
    let (right, bottom) = area.expect("the rectangle is drawn")[2];
    assert!((right - sheet.right()).abs() < 0.01, "as wide as the line: {right}");
    assert!((bottom - TOP - 200.0).abs() < 0.01, "half as high: {bottom}");
}

fn body_flow<'a>(evidence: &Evidence, faces: &'a FontFaces, paper: Paper) -> PageFlow<'a> {
    let document = crate::chapter::report_document(evidence, DocumentName::All, None).unwrap();
    set_document(&document, faces, Sheet::of_paper(paper))
}

/// Share of the text area that a page fills, from its top.
fn filled_share(page: &Page) -> f32 {
    let bottoms = page.draws.iter().map(|draw| match &draw.item {
        DrawItem::Text { y, .. } | DrawItem::PageNumber { y, .. } => *y,
        DrawItem::Rule { y, .. } => *y,
        DrawItem::Fill { y, height, .. } | DrawItem::Link { y, height, .. } => y + height,
        DrawItem::Area { corners, .. } => corners.iter().map(|corner| corner.1).fold(0.0, f32::max),
    });
    (bottoms.fold(0.0, f32::max) - TOP) / page.sheet.text_height()
}

/// Only before a turned sheet may a page be left almost empty, and at the end.
#[test]
fn no_page_is_nearly_empty() {
    let faces = FontFaces::load().unwrap();
    for evidence in [sample::evidence(), sample::flawless(), crowded()] {
        for paper in [Paper::A4, Paper::Letter] {
            let flow = body_flow(&evidence, &faces, paper);
            for (index, pair) in flow.pages.windows(2).enumerate() {
                let share = filled_share(&pair[0]);
                let is_excused = pair[0].sheet != pair[1].sheet;
                let text = page_text(&pair[0]);
                assert!(share > 0.15 || is_excused, "page {}: {share}: {text}", index + 1);
            }
        }
    }
}

/// What a page ends with is no heading, and what heads a table has its first row behind it.
#[test]
fn no_page_ends_with_a_heading_or_a_caption() {
    use super::structure::{ElementRole, Structure};
    let faces = FontFaces::load().unwrap();
    let is_lead = |structure: &Structure, mark: DrawMark| match mark {
        DrawMark::Content(content) => matches!(
            structure.role_of(content),
            ElementRole::Heading { .. } | ElementRole::ColumnHeader
        ),
        DrawMark::Artifact(_) | DrawMark::Annotation(_) => false,
    };
    for evidence in [sample::evidence(), sample::flawless(), crowded()] {
        let flow = body_flow(&evidence, &faces, Paper::A4);
        for (index, page) in flow.pages.iter().enumerate() {
            let mut texts =
                page.draws.iter().filter(|draw| matches!(draw.item, DrawItem::Text { .. }));
            let last_text = texts.next_back().expect("every page has text");
            assert!(!is_lead(&flow.structure, last_text.mark), "page {}: {last_text:?}", index + 1);
        }
    }
}

/// A table of many long names stands on a turned sheet, with its heading, at a size that reads well;
/// what comes behind it stands upright again.
#[test]
fn a_table_too_wide_for_an_upright_sheet_turns_it() {
    use crate::document::{
        Block, Column, ColumnAlign, Heading, Table, TableExtent, TableFolding, Text,
    };
    let faces = FontFaces::load().unwrap();
    let sheet = Sheet::of_paper(Paper::A4);
    let column = |number: usize| Column {
        title: Text::plain(format!("Column{number}")),
        align: ColumnAlign::Left,
    };
    let cell = |row: usize| Text::code(format!("identifier{row}ofsomelength"));
    let table = |columns: usize| {
        Block::Table(Table {
            caption: Some("Names".into()),
            columns: (0..columns).map(column).collect(),
            rows: (0..60).map(|row| vec![cell(row); columns]).collect(),
            row_anchors: std::collections::BTreeMap::new(),
            extent: TableExtent::Full,
            folding: TableFolding::Unfolded,
        })
    };
    let heading = Block::Heading(Heading {
        depth: 2,
        number: "1.1".to_owned(),
        text: "Wide".into(),
        anchor: "wide".into(),
    });
    let mut flow = PageFlow::new(&faces, sheet);
    flow.turning = SheetTurning::Wanted;
    let text = Block::Paragraph("Before and behind.".into());
    flow.set_blocks(&[text.clone(), heading, table(6), text, table(2)]);
    let turned: Vec<bool> = flow.pages.iter().map(|page| page.sheet.is_landscape()).collect();
    assert_eq!(turned, [false, true, true, true, false, false], "{turned:?}");
    assert_eq!(flow.anchors["wide"].page, 1, "the heading goes with its table");
    assert_text_within(&flow);
    for draw in flow.pages.iter().flat_map(|page| &page.draws) {
        if let DrawItem::Text { face, size, text, .. } = &draw.item {
            assert!(size / face.size_scale() >= 7.5, "{text}: {size}");
        }
    }
}

/// Names break behind the characters that part them; only hashes and what is longer than any column
/// break elsewhere.
#[test]
fn words_break_where_they_read_well() {
    let faces = FontFaces::load().unwrap();
    let breaker = line::LineBreaker { faces: &faces, size: 9.0 };
    let lines = |text: &str, width: f32| {
        let lines = breaker.text_lines(&crate::document::Text::plain(text), width);
        let text = |line: &line::TextLine| {
            line.spans.iter().map(|span| span.text.as_str()).collect::<String>()
        };
        lines.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(
        lines("see a_first_part_of/a_longer.path_name", 60.0),
        ["see a_first_", "part_of/a_", "longer.path_", "name"]
    );
    let hash = "0123456789abcdef".repeat(4);
    let hash_lines = lines(&hash, 60.0);
    assert_eq!(hash_lines.concat(), hash);
    assert!(hash_lines.len() <= 6, "each line is filled: {hash_lines:?}");
    assert_eq!(lines("in unbreakablename", 45.0)[0], "in", "first on a line of its own");
}

/// Measured in the faces of the PDF.
#[test]
fn ids_of_capitals_alone_end_within_their_width() {
    use super::line::LineBreaker;
    use crate::document::Text;
    use crate::drawing::lettering::fitted_label;
    use crate::drawing::{Shape, Spot};
    let faces = FontFaces::load().unwrap();
    let breaker = LineBreaker { faces: &faces, size: 7.5 };
    let spot = Spot { x: 0.0, y: 0.0 };
    for name in ["W".repeat(100), "✓ HLR-WMQGO".repeat(12), "ABCDEFGHIJKLMNOPQRSTUVWXYZ".repeat(4)]
    {
        for style in [Text::plain(name.as_str()), Text::strong(name.as_str())] {
            let Shape::Label { text, .. } =
                fitted_label(spot, crate::document::ColumnAlign::Left, 7.5, 110.0, style)
            else {
                panic!("a label");
            };
            assert!(text.text.ends_with('…'), "{}", text.text);
            let shown = text.text.clone();
            let width = breaker.natural_width(&Text(vec![text]));
            assert!(width <= 110.0 && width > 50.0, "{shown}: {width}");
        }
    }
}
