//! Obligations that nothing covers, and the vectors that would complete MC/DC.
//!
//! Promises: names are whole; what the list leaves out is counted.

use super::measure::columns;
use super::{LISTED, Page, short_title};
use crate::model::coverage::DecisionCoverage;
use crate::model::evidence::Evidence;
use crate::report::document::Tone;
use crate::report::facts::{self, OpenObligation, Unit};

/// A column is at most this wide for its rows to be aligned; longer names stand on a row that is.
const ALIGNED: usize = 28;

impl Page<'_> {
    pub(super) fn open(&mut self, evidence: &Evidence) {
        let open = facts::open_obligations(evidence);
        if evidence.campaign.project.criteria.is_empty() {
            return self.labelled("Uncovered", &[("no criterion is asked for".into(), Tone::Quiet)]);
        }
        if open.is_empty() {
            return self.labelled("Uncovered", &[("none".into(), Tone::Good)]);
        }
        let plural = if open.len() == 1 { "obligation" } else { "obligations" };
        self.labelled("Uncovered", &[(format!("{} {plural}, counted per engine", open.len()), Tone::Bad)]);
        let open = self.consequences(evidence, open);
        let shown: Vec<[String; 6]> = open.iter().take(LISTED).map(cells).collect();
        for line in aligned(&shown) {
            self.item(&line, Tone::Bad);
        }
        self.more(open.len());
        self.proposals(&open);
        self.additions(&open);
    }

    /// What no test can cover under its configuration.
    fn proposals(&mut self, open: &[OpenObligation]) {
        let proposed = open.iter().filter(|item| item.proposal.is_some()).count();
        if proposed > 0 {
            let text = format!("{proposed} of these; review them with `vkcert list obligations --propose`");
            self.labelled("Ruled out", &[(text, Tone::Caution)]);
        }
    }

    /// The vectors that complete MC/DC of each open decision, and how many it takes in all.
    fn additions(&mut self, open: &[OpenObligation]) {
        let mut rows: Vec<(Unit, &DecisionCoverage)> = Vec::new();
        for item in open {
            let Some(decision) = item.decision.filter(|decision| !decision.closing_set.is_empty()) else { continue };
            if !rows.iter().any(|(unit, other)| *unit == item.unit && other.id == decision.id) {
                rows.push((item.unit, decision));
            }
        }
        if rows.is_empty() {
            return;
        }
        self.labelled("Add vectors", &[("to complete MC/DC of a decision".into(), Tone::Neutral)]);
        let shown: Vec<[String; 4]> =
            rows.iter().take(LISTED).map(|(unit, decision)| addition(unit, decision)).collect();
        for line in aligned(&shown) {
            self.item(&line, Tone::Caution);
        }
        self.more(rows.len());
    }
}

/// Kernel, engine, obligation, criterion, place and text.
fn cells(item: &OpenObligation) -> [String; 6] {
    [
        item.unit.label(),
        item.engine.to_string(),
        item.obligation.clone(),
        short_title(item.criterion).to_owned(),
        format!("{}:{}", item.file.rsplit('/').next().unwrap_or(item.file), item.line),
        item.text.to_owned(),
    ]
}

/// Kernel, decision, vectors and text.
fn addition(unit: &Unit, decision: &DecisionCoverage) -> [String; 4] {
    let vectors = decision.closing_set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let fewest = decision.minimum.as_ref().filter(|_| decision.conditions.len() > 1).map(|minimum| {
        let plus_one = minimum.conditions_plus_one;
        format!(" (fewest in all {}, n + 1 is {plus_one})", minimum.masking)
    });
    let vectors = format!("{vectors}{}", fewest.unwrap_or_default());
    [unit.label(), decision.id.to_string(), vectors, decision.text.clone()]
}

/// Rows of cells as lines, in columns as wide as their cells need.
fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |index: usize| {
        let widths = rows.iter().map(|row| columns(&row[index])).filter(|width| *width <= ALIGNED);
        widths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| super::measure::pad(cell, *width));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
