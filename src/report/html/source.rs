//! The source text of a kernel with line numbers, statements and conditions marked.
//!
//! A line's mark sums up the statements and decision outcomes that begin on it; a condition's mark
//! is its independence (masking). Marks are a symbol and a colour. Nested decisions: the innermost
//! condition owns the text. With line accuracy only, conditions are not marked inside the line.

use super::{id, tone_class};
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
enum Mark {
    Covered,
    /// Something on it is covered and something is not.
    Partial,
    Uncovered,
    Undetermined,
    Justified,
}

impl Mark {
    fn symbol(self) -> &'static str {
        match self {
            Mark::Covered => "✓",
            Mark::Partial => "◐",
            Mark::Uncovered => "✗",
            Mark::Undetermined => "?",
            Mark::Justified => "J",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Mark::Covered => "covered",
            Mark::Partial => "partly covered",
            Mark::Uncovered => "uncovered",
            Mark::Undetermined => "undetermined",
            Mark::Justified => "justified",
        }
    }

    fn tone(self) -> Tone {
        match self {
            Mark::Covered => Tone::Good,
            Mark::Partial | Mark::Justified => Tone::Caution,
            Mark::Uncovered | Mark::Undetermined => Tone::Bad,
        }
    }

    fn of(statuses: &[Status]) -> Option<Mark> {
        let has = |status| statuses.contains(&status);
        let all = |status| statuses.iter().all(|other| *other == status);
        match statuses {
            [] => None,
            _ if all(Status::Covered) => Some(Mark::Covered),
            _ if has(Status::Covered) => Some(Mark::Partial),
            _ if has(Status::Uncovered) => Some(Mark::Uncovered),
            _ if has(Status::Undetermined) => Some(Mark::Undetermined),
            _ => Some(Mark::Justified),
        }
    }
}

/// A marked stretch of text in one file.
struct Stretch<'a> {
    start: usize,
    end: usize,
    mark: Mark,
    decision: &'a DecisionCoverage,
    title: String,
}

/// Every file of the kernel, the main one open; `anchor` is where its chapter begins.
pub(super) fn view(kernel: &KernelEvidence, anchor: &str) -> Markup {
    html! {
        section.source-view {
            p.legend {
                "Source as measured on " (kernel.engine) ". "
                @for mark in [Mark::Covered, Mark::Partial, Mark::Uncovered, Mark::Undetermined, Mark::Justified] {
                    span class=(tone_class(mark.tone())) { (mark.symbol()) " " (mark.word()) } " "
                }
                "Choose a marked condition to see its vectors beside the text."
            }
            @for (index, file) in kernel.structure.files.iter().enumerate() {
                details.source open[index == 0] {
                    summary { code { (file.path) } }
                    div.columns {
                        pre.code tabindex="0" { @for line in lines(kernel, anchor, file) { (line) } }
                        @if index == 0 { aside.vectors aria-live="polite" { p.quiet { "No decision chosen." } } }
                    }
                }
            }
        }
    }
}

fn lines(kernel: &KernelEvidence, anchor: &str, file: &SourceFile) -> Vec<Markup> {
    let stretches = ByLine::of(stretches(kernel, file), &file.text);
    let marks = line_marks(kernel, &file.path);
    let mut offset = 0;
    let mut out = Vec::new();
    for (index, line) in file.text.split_inclusive('\n').enumerate() {
        let number = index as u32 + 1;
        let content = line.trim_end_matches(['\n', '\r']);
        let mark = marks.get(&number).and_then(|statuses| Mark::of(statuses));
        let class = mark.map_or("none", |mark| tone_class(mark.tone()));
        out.push(html! {
            span class={ "line " (class) } id=(id(&format!("{}/source/{}/{number}", anchor, file.path))) {
                span.number { (number) }
                span.gutter title=[mark.map(Mark::word)] { (mark.map_or(" ", Mark::symbol)) }
                span.text { (marked(anchor, content, offset, stretches.on_line(index))) }
            }
        });
        offset += line.len();
    }
    out
}

/// What is said of each line of a file.
fn line_marks(kernel: &KernelEvidence, path: &str) -> BTreeMap<u32, Vec<Status>> {
    let coverage = &kernel.coverage;
    let outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let simple = coverage.statements.iter().chain(&coverage.branches).chain(outcomes);
    let mut marks: BTreeMap<u32, Vec<Status>> = BTreeMap::new();
    for item in simple.filter(|item| item.file == path) {
        marks.entry(item.line).or_default().push(item.status);
    }
    marks
}

/// Stretches with the lines that they stand on.
struct ByLine<'a> {
    stretches: Vec<Stretch<'a>>,
    /// By index of the line: indices of `stretches`, in their order.
    lines: Vec<Vec<usize>>,
}

impl<'a> ByLine<'a> {
    fn of(stretches: Vec<Stretch<'a>>, text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
        let ends: Vec<usize> = ends.collect();
        let line_of = |at: usize| ends.partition_point(|end| *end < at);
        let mut lines = vec![Vec::new(); ends.len() + 1];
        for (number, stretch) in stretches.iter().enumerate() {
            lines[line_of(stretch.start)..=line_of(stretch.end)]
                .iter_mut()
                .for_each(|line| line.push(number));
        }
        Self { stretches, lines }
    }

    fn on_line(&self, index: usize) -> impl Iterator<Item = &Stretch<'a>> {
        self.lines.get(index).into_iter().flatten().map(|number| &self.stretches[*number])
    }
}

fn stretches<'a>(kernel: &'a KernelEvidence, file: &SourceFile) -> Vec<Stretch<'a>> {
    match kernel.structure.accuracy {
        Accuracy::LinesOnly => return Vec::new(),
        Accuracy::Exact => {}
    }
    let mut found = Vec::new();
    for decision in kernel.coverage.decisions.iter().filter(|decision| decision.file == file.path) {
        for condition in &decision.conditions {
            let [start, end] = condition.span.map(|offset| offset as usize);
            // A span that does not lie in the text (foreign evidence) marks nothing.
            if start < end && file.text.get(start..end).is_some() {
                found.push(Stretch {
                    start,
                    end,
                    mark: condition_mark(decision, condition),
                    decision,
                    title: title(decision, condition),
                });
            }
        }
    }
    found
}

fn condition_mark(decision: &DecisionCoverage, condition: &ConditionPlace) -> Mark {
    let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) else {
        return Mark::Undetermined;
    };
    match mcdc.masking.status {
        Status::Covered => Mark::Covered,
        Status::Justified => Mark::Justified,
        Status::Undetermined => Mark::Undetermined,
        Status::Uncovered if decision.vectors.is_empty() => Mark::Uncovered,
        Status::Uncovered => Mark::Partial,
    }
}

/// What the pointer shows: statuses and vectors with their first test.
fn title(decision: &DecisionCoverage, condition: &ConditionPlace) -> String {
    const VECTORS: usize = 12;
    let mut text = format!("{}: {}\n", condition.id, condition.text);
    if let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) {
        text.push_str(&format!(
            "MC/DC masking {}, unique-cause {}\n",
            mcdc.masking.status, mcdc.unique_cause.status
        ));
    }
    for vector in decision.vectors.iter().take(VECTORS) {
        let test = vector.tests.first().map(|test| test.to_string()).unwrap_or_default();
        text.push_str(&format!(
            "{} → {}  {test} at {}\n",
            vector.values,
            vector.outcome,
            facts::witness_of(vector)
        ));
    }
    if decision.vectors.len() > VECTORS {
        text.push_str(&format!("and {} more\n", decision.vectors.len() - VECTORS));
    }
    text.truncate(text.trim_end().len());
    text
}

/// A line's text, cut at the borders of stretches; the shortest stretch over a piece owns it.
fn marked<'s, 'k: 's>(
    anchor: &str,
    content: &str,
    offset: usize,
    stretches: impl Iterator<Item = &'s Stretch<'k>>,
) -> Markup {
    let end = offset + content.len();
    let here: Vec<&Stretch> =
        stretches.filter(|stretch| stretch.start < end && stretch.end > offset).collect();
    let mut cuts: Vec<usize> = vec![offset, end];
    cuts.extend(
        here.iter()
            .flat_map(|stretch| [stretch.start, stretch.end])
            .filter(|at| (offset..end).contains(at)),
    );
    cuts.sort_unstable();
    cuts.dedup();
    let pieces = cuts.windows(2).map(|pair| {
        let (from, to) = (pair[0], pair[1]);
        let owner = here.iter().filter(|stretch| stretch.start <= from && stretch.end >= to);
        (from, to, owner.min_by_key(|stretch| stretch.end - stretch.start).copied())
    });
    html! {
        @for (from, to, owner) in pieces {
            @let piece = &content[from - offset..to - offset];
            @match owner {
                None => (piece),
                Some(stretch) => {
                    a.condition.(tone_class(stretch.mark.tone())) title=(stretch.title)
                        href=(format!("#{}", id(&format!("{}/{}", anchor, stretch.decision.id)))) {
                        (piece)
                        @if to == stretch.end { span.mark aria-label=(stretch.mark.word()) { (stretch.mark.symbol()) } }
                    }
                }
            }
        }
    }
}
