//! The source text of a kernel with line numbers, statements and conditions marked.
//!
//! A condition is a link to its decision; the script shows the decision's tables beside the text, with
//! the rows of the condition's independence pair marked.
//!
//! A line's mark sums up the obligations that begin on it, on every engine; a condition's mark is
//! its independence (masking) on the engine named. Marks are a symbol and a colour. Nested decisions: the innermost
//! condition owns the text. With line accuracy only, conditions are not marked inside the line.

use super::links::element_id;
use super::tone_class;
use crate::facts::{self, CoverageMark, LineFacts, SourceLines};
use maud::{Markup, html};
use vkcert_model::coverage::{ConditionPlace, DecisionCoverage, Status};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::place::SourceFile;
use vkcert_model::structure::Accuracy;

/// A marked stretch of text in one file.
struct MarkedStretch<'a> {
    start: usize,
    end: usize,
    mark: CoverageMark,
    decision: &'a DecisionCoverage,
    title: String,
    /// Rows of the pair that shows the independence of the condition.
    pair_rows: String,
}

/// Every file of the kernel, the main one open; `anchor` is where its chapter begins.
pub(super) fn source_view(evidence: &Evidence, kernel: &KernelEvidence, anchor: &str) -> Markup {
    let unit = facts::kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name);
    let sides: Vec<&KernelEvidence> =
        facts::on_engines(evidence, &unit).into_iter().map(|(_, side)| side).collect();
    let source_lines = facts::source_lines(evidence, &sides);
    let engines =
        sides.iter().map(|side| side.engine.to_string()).collect::<Vec<_>>().join(" and ");
    html! {
        section.source-view {
            p.legend {
                "Marks of lines hold on " (engines) "; conditions are marked as measured on " (kernel.engine) ". "
                @for mark in CoverageMark::ALL {
                    span class=(tone_class(mark.tone())) { (mark.symbol()) " " (mark.mark_word()) } " "
                }
                "What begins on a line, and its tests, stand behind its mark. Click a marked condition, or press Enter on it, to see its vectors, pairs, tests and witnesses beside the text."
            }
            @for (index, file) in kernel.structure.files.iter().enumerate() {
                details.source open[index == 0] {
                    summary { code { (file.path) } }
                    div.columns {
                        pre.code tabindex="0" role="region" aria-label={ "Source of " (file.path) } { @for line in line_markups(kernel, &source_lines, anchor, (index, file)) { (line) } }
                        @if index == 0 { aside.vectors aria-live="polite" { p.quiet { "No decision chosen." } } }
                    }
                }
            }
        }
    }
}

fn line_markups(
    kernel: &KernelEvidence,
    source_lines: &SourceLines,
    anchor: &str,
    (file_index, file): (usize, &SourceFile),
) -> Vec<Markup> {
    let stretches = StretchesByLine::of_stretches(condition_stretches(kernel, file), &file.text);
    let mut line_offset = 0;
    let mut line_markups = Vec::new();
    for (index, line) in file.text.split_inclusive('\n').enumerate() {
        let line_number = index as u32 + 1;
        let line_text = line.trim_end_matches(['\n', '\r']);
        let line_facts = source_lines.lines.get(&(file_index, line_number));
        let line_mark = line_facts.and_then(LineFacts::mark);
        let line_title = line_facts.and_then(|facts| line_title(source_lines, facts));
        let tone_class_name = line_mark.map_or("none", |line_mark| tone_class(line_mark.tone()));
        line_markups.push(html! {
            span class={ "line " (tone_class_name) } id=(element_id(&format!("{}/source/{}/{line_number}", anchor, file.path))) {
                span.number { (line_number) }
                span.gutter title=[line_title] { (line_mark.map_or(" ", CoverageMark::symbol)) }
                span.text { (marked_line(anchor, line_text, line_offset, stretches.on_line(index))) }
            }
        });
        line_offset += line.len();
    }
    line_markups
}

/// What the pointer shows of a line: its mark, its obligations and the tests that count there.
fn line_title(source_lines: &SourceLines, line: &LineFacts) -> Option<String> {
    const TESTS: usize = 12;
    let mut title_text = line.mark()?.mark_word().to_owned();
    for item in &line.obligations {
        title_text.push_str(&format!("\n{} {}", facts::status_symbol(item.status), item.id));
    }
    if !line.tests.is_empty() {
        let test_names = line.tests.iter().take(TESTS).map(|(test, is_everywhere)| {
            let engine_words = if *is_everywhere { "" } else { " (not on every engine)" };
            format!("{}{engine_words}", source_lines.tests[*test])
        });
        let test_names = test_names.collect::<Vec<_>>().join(", ");
        title_text.push_str(&format!("\nTests: {test_names}"));
    }
    if line.tests.len() > TESTS {
        title_text.push_str(&format!(" and {} more", line.tests.len() - TESTS));
    }
    Some(title_text)
}

/// Stretches with the lines that they stand on.
struct StretchesByLine<'a> {
    stretches: Vec<MarkedStretch<'a>>,
    /// By index of the line: indices of `stretches`, in their order.
    lines: Vec<Vec<usize>>,
}

impl<'a> StretchesByLine<'a> {
    fn of_stretches(stretches: Vec<MarkedStretch<'a>>, text: &str) -> Self {
        let line_ends =
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset);
        let line_ends: Vec<usize> = line_ends.collect();
        let line_index = |offset: usize| line_ends.partition_point(|end| *end < offset);
        let mut lines = vec![Vec::new(); line_ends.len() + 1];
        for (number, stretch) in stretches.iter().enumerate() {
            lines[line_index(stretch.start)..=line_index(stretch.end)]
                .iter_mut()
                .for_each(|line| line.push(number));
        }
        Self { stretches, lines }
    }

    fn on_line(&self, index: usize) -> impl Iterator<Item = &MarkedStretch<'a>> {
        self.lines.get(index).into_iter().flatten().map(|number| &self.stretches[*number])
    }
}

fn condition_stretches<'a>(
    kernel: &'a KernelEvidence,
    file: &SourceFile,
) -> Vec<MarkedStretch<'a>> {
    match kernel.structure.accuracy {
        Accuracy::LinesOnly => return Vec::new(),
        Accuracy::Exact => {}
    }
    let mut marked_stretches = Vec::new();
    for decision in kernel.coverage.decisions.iter().filter(|decision| decision.file == file.path) {
        for condition in &decision.conditions {
            let [start, end] = condition.span.map(|offset| offset as usize);
            // A span that does not lie in the text (foreign evidence) marks nothing.
            if start < end && file.text.get(start..end).is_some() {
                marked_stretches.push(MarkedStretch {
                    start,
                    end,
                    mark: condition_mark(decision, condition),
                    decision,
                    title: condition_title(decision, condition),
                    pair_rows: pair_rows(decision, condition),
                });
            }
        }
    }
    marked_stretches
}

fn condition_mark(decision: &DecisionCoverage, condition: &ConditionPlace) -> CoverageMark {
    let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) else {
        return CoverageMark::Undetermined;
    };
    match mcdc.masking.status {
        Status::Covered => CoverageMark::Covered,
        Status::Justified => CoverageMark::Justified,
        Status::Undetermined => CoverageMark::Undetermined,
        Status::Uncovered if decision.vectors.is_empty() => CoverageMark::Uncovered,
        Status::Uncovered => CoverageMark::Partial,
    }
}

/// `1 3`: the pair by unique cause, else by masking, as the table of vectors has it.
fn pair_rows(decision: &DecisionCoverage, condition: &ConditionPlace) -> String {
    let mcdc = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id);
    let pair = mcdc.and_then(|mcdc| mcdc.unique_cause.pair.as_ref().or(mcdc.masking.pair.as_ref()));
    let rows = pair.into_iter().flatten().filter_map(|values| facts::vector_row(decision, values));
    rows.map(|row| row.to_string()).collect::<Vec<_>>().join(" ")
}

/// What the pointer shows: statuses and vectors with their first test.
fn condition_title(decision: &DecisionCoverage, condition: &ConditionPlace) -> String {
    const VECTORS: usize = 12;
    let mut title_text = format!("{}: {}\n", condition.id, condition.text);
    if let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) {
        title_text.push_str(&format!(
            "MC/DC masking {}, unique-cause {}\n",
            mcdc.masking.status, mcdc.unique_cause.status
        ));
    }
    for vector in decision.vectors.iter().take(VECTORS) {
        let test = vector.tests.first().map(|test| test.to_string()).unwrap_or_default();
        title_text.push_str(&format!(
            "{} → {}  {test} at {}\n",
            vector.values,
            vector.outcome,
            facts::witness_of(vector)
        ));
    }
    if decision.vectors.len() > VECTORS {
        title_text.push_str(&format!("and {} more\n", decision.vectors.len() - VECTORS));
    }
    title_text.truncate(title_text.trim_end().len());
    title_text
}

/// A line's text, cut at the borders of stretches; the shortest stretch over a piece owns it.
fn marked_line<'s, 'k: 's>(
    anchor: &str,
    content: &str,
    line_offset: usize,
    stretches: impl Iterator<Item = &'s MarkedStretch<'k>>,
) -> Markup {
    let line_end = line_offset + content.len();
    let line_stretches: Vec<&MarkedStretch> =
        stretches.filter(|stretch| stretch.start < line_end && stretch.end > line_offset).collect();
    let mut cut_offsets: Vec<usize> = vec![line_offset, line_end];
    cut_offsets.extend(
        line_stretches
            .iter()
            .flat_map(|stretch| [stretch.start, stretch.end])
            .filter(|cut_offset| (line_offset..line_end).contains(cut_offset)),
    );
    cut_offsets.sort_unstable();
    cut_offsets.dedup();
    let cut_pieces = cut_offsets.windows(2).map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        let owner =
            line_stretches.iter().filter(|stretch| stretch.start <= from && stretch.end >= to);
        (from, to, owner.min_by_key(|stretch| stretch.end - stretch.start).copied())
    });
    html! {
        @for (from, to, owner) in cut_pieces {
            @let piece = &content[from - line_offset..to - line_offset];
            @match owner {
                None => (piece),
                Some(stretch) => {
                    a.condition.(tone_class(stretch.mark.tone())) title=(stretch.title) data-pair=(stretch.pair_rows)
                        href=(format!("#{}", element_id(&format!("{}/{}", anchor, stretch.decision.id)))) {
                        (piece)
                        @if to == stretch.end { span.mark aria-label=(stretch.mark.mark_word()) { (stretch.mark.symbol()) } }
                    }
                }
            }
        }
    }
}
