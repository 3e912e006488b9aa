//! The listing of a kernel's source: each line with what begins on it and the tests that count
//! there, so that shares can be counted again by hand.

use super::identifiers::compact_ids;
use super::links::test_link;
use crate::document::{Block, ListedFile, ListedLine, Outline, SourceListing, Text};
use crate::facts::{self, CoverageMark, KernelUnit, LineFacts, ListedObligation, SourceLines};
use vkcert_model::coverage::Status;
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::SourceFile;

/// `kernel_index` is that of the first of `sides`.
pub(super) fn source_section(
    evidence: &Evidence,
    unit: &KernelUnit,
    (kernel_index, sides): (usize, &[&KernelEvidence]),
    outline: &mut Outline,
) {
    let source_lines = facts::source_lines(evidence, sides);
    outline.add_heading(2, "Source text", format!("{}/source", unit.chapter_anchor()));
    let files = sides[0].structure.files.iter().enumerate();
    let listing = SourceListing {
        lead: lead_blocks(sides, &source_lines),
        files: files.map(|(index, file)| listed_file(&source_lines, index, file)).collect(),
    };
    outline.add_block(Block::Source { kernel: kernel_index, listing });
}

fn lead_blocks(sides: &[&KernelEvidence], source_lines: &SourceLines) -> Vec<Block> {
    let mut paragraphs = vec![legend_text(sides, source_lines), counts_text(source_lines)];
    if !source_lines.without_line.is_empty() {
        paragraphs.push(
            Text::plain("In no line of these files, and therefore not listed: ")
                .followed_by(obligations_text(&source_lines.without_line))
                .then_plain("."),
        );
    }
    if !source_lines.tests.is_empty() {
        let numbered_tests = (1..).zip(&source_lines.tests);
        let key = numbered_tests
            .map(|(number, test)| Text::plain(format!("{number} = ")).followed_by(test_link(test)));
        paragraphs.push(Text::plain("Tests: ").followed_by(Text::join(key, ", ")).then_plain("."));
    }
    paragraphs.into_iter().map(Block::Paragraph).collect()
}

fn legend_text(sides: &[&KernelEvidence], source_lines: &SourceLines) -> Text {
    let marks = CoverageMark::ALL.map(|mark| {
        Text::plain(format!("{} {}", mark.symbol(), mark.mark_word())).with_tone(mark.tone())
    });
    let engines = sides.iter().map(|side| side.engine.to_string()).collect::<Vec<_>>();
    let engine_words = match engines.as_slice() {
        [engine] => format!("Listed as measured on {engine}."),
        _ => format!(
            "Listed as measured on {} together: what they differ in has the worse status, and a star \
             stands behind a test that does not count on each of them.",
            engines.join(" and ")
        ),
    };
    let condition_words = match source_lines.mcdc {
        Some(form) => format!(
            "conditions with their {}",
            facts::criterion_title(&form.into()).replace("MC/DC ", "MC/DC by ")
        ),
        None => "no conditions, since MC/DC is not asked for".to_owned(),
    };
    Text::plain("Marks: ")
        .followed_by(Text::join(marks, ", "))
        .then_plain(format!(
            ". {engine_words} Each identifier stands on the line that its text begins on: statements, \
             branches and outcomes, entry and exit points, {condition_words}. A sign holds for all \
             identifiers up to the next sign; those before the first sign are covered. The last column \
             numbers the tests that cover a statement, branch, outcome or point of the line; barriers and \
             object code are not listed."
        ))
}

/// The shares as the listing gives them.
fn counts_text(source_lines: &SourceLines) -> Text {
    let criteria = [CriterionName::Statement, CriterionName::Branch, CriterionName::Decision];
    let counts = criteria.into_iter().chain(source_lines.mcdc).map(|criterion| {
        let (covered, total) = source_lines.counted(criterion);
        Text::plain(format!("{} {covered} of {total}", facts::column_title(criterion)))
    });
    Text::plain("Covered, counted over these lines: ")
        .followed_by(Text::join(counts, ", "))
        .then_plain(". Outcomes count for branch and for decision coverage.")
}

fn listed_file(source_lines: &SourceLines, file_index: usize, file: &SourceFile) -> ListedFile {
    let numbered_lines = (1..).zip(file.text.split_inclusive('\n'));
    let lines = numbered_lines.map(|(number, line)| {
        listed_line(
            source_lines.lines.get(&(file_index, number)),
            line.trim_end_matches(['\n', '\r']),
        )
    });
    ListedFile { path: Text::code(file.path.as_str()), lines: lines.collect() }
}

fn listed_line(line_facts: Option<&LineFacts>, source: &str) -> ListedLine {
    let mark = line_facts.and_then(LineFacts::mark);
    ListedLine {
        mark: mark.map(|mark| (mark.symbol(), mark.tone())),
        source: Text::code(spaces_for_tabs(source)),
        obligations: line_facts
            .map_or_else(Text::empty, |line_facts| obligations_text(&line_facts.obligations)),
        tests: line_facts
            .map_or_else(Text::empty, |line_facts| Text::plain(test_numbers(&line_facts.tests))),
    }
}

/// `S1–S4, D1.T ✗ D1.F`: the covered ones, then the others behind their sign.
fn obligations_text(obligations: &[ListedObligation]) -> Text {
    let statuses = [Status::Covered, Status::Uncovered, Status::Undetermined, Status::Justified];
    let groups = statuses.into_iter().filter_map(|status| {
        let mut ids = obligations
            .iter()
            .filter(|item| item.status == status)
            .map(|item| item.id.as_str())
            .peekable();
        ids.peek()?;
        let ids = Text::code(compact_ids(ids));
        Some(match CoverageMark::of_statuses(std::iter::once(status)) {
            None | Some(CoverageMark::Covered) => ids,
            Some(mark) => Text::code(format!("{}\u{a0}", mark.symbol()))
                .followed_by(ids)
                .with_tone(mark.tone()),
        })
    });
    Text::join(groups, " ")
}

/// `1–4, 7, 9*`: runs of tests that count on the same engines.
fn test_numbers(tests: &[(usize, bool)]) -> String {
    let runs = tests.chunk_by(|(first_test, first_all), (second_test, second_all)| {
        first_test + 1 == *second_test && first_all == second_all
    });
    let run_words = runs.map(|run| {
        let (first, last) = (run[0], run[run.len() - 1]);
        let star = if first.1 { "" } else { "*" };
        match run.len() {
            1 => format!("{}{star}", first.0 + 1),
            _ => format!("{}{star}–{}{star}", first.0 + 1, last.0 + 1),
        }
    });
    run_words.collect::<Vec<_>>().join(", ")
}

/// Up to the next column that is a multiple of four.
fn spaces_for_tabs(line: &str) -> String {
    let mut spaced_line = String::with_capacity(line.len());
    let mut column = 0;
    for character in line.chars() {
        if character == '\t' {
            let width = 4 - column % 4;
            spaced_line.extend(std::iter::repeat_n(' ', width));
            column += width;
        } else {
            spaced_line.push(character);
            column += 1;
        }
    }
    spaced_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_numbered_in_runs_of_the_same_engines() {
        let tests = [(0, true), (1, true), (2, false), (3, false), (6, true), (8, false)];
        assert_eq!(test_numbers(&tests), "1–2, 3*–4*, 7, 9*");
    }

    #[test]
    fn a_tab_leads_to_the_next_column_of_four() {
        assert_eq!(spaces_for_tabs("\tx\ty"), "    x   y");
    }

    #[test]
    fn what_is_not_covered_stands_behind_its_sign() {
        let item =
            |id: &str, status| ListedObligation { id: id.to_owned(), status, criteria: Vec::new() };
        let obligations = [
            item("S1", Status::Covered),
            item("D1.T", Status::Covered),
            item("D1.F", Status::Uncovered),
            item("D1.C1", Status::Justified),
        ];
        let text = obligations_text(&obligations);
        let words: String = text.0.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(words, "S1, D1.T ✗\u{a0}D1.F J\u{a0}D1.C1");
    }
}
