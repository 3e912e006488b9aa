//! The source text of a kernel with line numbers, statements and conditions marked.
//!
//! A line's mark sums up the statements and decision outcomes that begin on it; a condition's mark
//! is its independence (masking). Marks are a symbol and a colour. Nested decisions: the innermost
//! condition owns the text. With line accuracy only, conditions are not marked inside the line.

use super::{element_id, tone_class};
use crate::document::Tone;
use crate::facts;
use maud::{Markup, html};
use std::collections::BTreeMap;
use vkcert_model::coverage::{ConditionPlace, DecisionCoverage, Status};
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::place::SourceFile;
use vkcert_model::structure::Accuracy;

/// What is known of a line or a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoverageMark {
    Covered,
    /// Something on it is covered and something is not.
    Partial,
    Uncovered,
    Undetermined,
    Justified,
}

impl CoverageMark {
    fn symbol(self) -> &'static str {
        match self {
            CoverageMark::Covered => "✓",
            CoverageMark::Partial => "◐",
            CoverageMark::Uncovered => "✗",
            CoverageMark::Undetermined => "?",
            CoverageMark::Justified => "J",
        }
    }

    fn mark_word(self) -> &'static str {
        match self {
            CoverageMark::Covered => "covered",
            CoverageMark::Partial => "partly covered",
            CoverageMark::Uncovered => "uncovered",
            CoverageMark::Undetermined => "undetermined",
            CoverageMark::Justified => "justified",
        }
    }

    fn tone(self) -> Tone {
        match self {
            CoverageMark::Covered => Tone::Good,
            CoverageMark::Partial | CoverageMark::Justified => Tone::Caution,
            CoverageMark::Uncovered | CoverageMark::Undetermined => Tone::Bad,
        }
    }

    fn of_statuses(statuses: &[Status]) -> Option<CoverageMark> {
        let has_status = |status| statuses.contains(&status);
        let all_have = |status| statuses.iter().all(|other_status| *other_status == status);
        match statuses {
            [] => None,
            _ if all_have(Status::Covered) => Some(CoverageMark::Covered),
            _ if has_status(Status::Covered) => Some(CoverageMark::Partial),
            _ if has_status(Status::Uncovered) => Some(CoverageMark::Uncovered),
            _ if has_status(Status::Undetermined) => Some(CoverageMark::Undetermined),
            _ => Some(CoverageMark::Justified),
        }
    }
}

/// A marked stretch of text in one file.
struct MarkedStretch<'a> {
    start: usize,
    end: usize,
    mark: CoverageMark,
    decision: &'a DecisionCoverage,
    title: String,
}

/// Every file of the kernel, the main one open; `anchor` is where its chapter begins.
pub(super) fn source_view(kernel: &KernelEvidence, anchor: &str) -> Markup {
    html! {
        section.source-view {
            p.legend {
                "Source as measured on " (kernel.engine) ". "
                @for mark in [CoverageMark::Covered, CoverageMark::Partial, CoverageMark::Uncovered, CoverageMark::Undetermined, CoverageMark::Justified] {
                    span class=(tone_class(mark.tone())) { (mark.symbol()) " " (mark.mark_word()) } " "
                }
                "Choose a marked condition to see its vectors beside the text."
            }
            @for (index, file) in kernel.structure.files.iter().enumerate() {
                details.source open[index == 0] {
                    summary { code { (file.path) } }
                    div.columns {
                        pre.code tabindex="0" { @for line in line_markups(kernel, anchor, file) { (line) } }
                        @if index == 0 { aside.vectors aria-live="polite" { p.quiet { "No decision chosen." } } }
                    }
                }
            }
        }
    }
}

fn line_markups(kernel: &KernelEvidence, anchor: &str, file: &SourceFile) -> Vec<Markup> {
    let stretches = StretchesByLine::of_stretches(condition_stretches(kernel, file), &file.text);
    let statuses_by_line = line_marks(kernel, &file.path);
    let mut line_offset = 0;
    let mut line_markups = Vec::new();
    for (index, line) in file.text.split_inclusive('\n').enumerate() {
        let line_number = index as u32 + 1;
        let line_text = line.trim_end_matches(['\n', '\r']);
        let line_mark = statuses_by_line
            .get(&line_number)
            .and_then(|statuses| CoverageMark::of_statuses(statuses));
        let tone_class_name = line_mark.map_or("none", |line_mark| tone_class(line_mark.tone()));
        line_markups.push(html! {
            span class={ "line " (tone_class_name) } id=(element_id(&format!("{}/source/{}/{line_number}", anchor, file.path))) {
                span.number { (line_number) }
                span.gutter title=[line_mark.map(CoverageMark::mark_word)] { (line_mark.map_or(" ", CoverageMark::symbol)) }
                span.text { (marked_line(anchor, line_text, line_offset, stretches.on_line(index))) }
            }
        });
        line_offset += line.len();
    }
    line_markups
}

/// What is said of each line of a file.
fn line_marks(kernel: &KernelEvidence, path: &str) -> BTreeMap<u32, Vec<Status>> {
    let coverage = &kernel.coverage;
    let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let simple_items = coverage.statements.iter().chain(&coverage.branches).chain(outcomes);
    let mut statuses_by_line: BTreeMap<u32, Vec<Status>> = BTreeMap::new();
    for item in simple_items.filter(|item| item.file == path) {
        statuses_by_line.entry(item.line).or_default().push(item.status);
    }
    statuses_by_line
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
                    a.condition.(tone_class(stretch.mark.tone())) title=(stretch.title)
                        href=(format!("#{}", element_id(&format!("{}/{}", anchor, stretch.decision.id)))) {
                        (piece)
                        @if to == stretch.end { span.mark aria-label=(stretch.mark.mark_word()) { (stretch.mark.symbol()) } }
                    }
                }
            }
        }
    }
}
