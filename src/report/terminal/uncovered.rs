//! Obligations that nothing covers, and the vectors that would complete MC/DC.
//!
//! Promises: names are whole; what the list leaves out is counted.

use super::page::{LISTED, Page};
use super::rows::Row;
use super::titles::short_title;
use crate::document::Tone;
use crate::facts::{self, UncoveredObligation, Unit};
use crate::statement::counted;
use vkcert_model::coverage::DecisionCoverage;
use vkcert_model::evidence::Evidence;

impl Page<'_> {
    pub(super) fn uncovered(&mut self, evidence: &Evidence) {
        let open = facts::uncovered_obligations(evidence);
        if evidence.campaign.project.criteria.is_empty() {
            return self
                .labelled("Uncovered", &[("no criterion is asked for".into(), Tone::Quiet)]);
        }
        if open.is_empty() {
            return self.labelled(
                "Uncovered",
                &[("no obligation of the criteria asked for".into(), Tone::Good)],
            );
        }
        let count = counted(open.len(), "obligation");
        self.labelled(
            "Uncovered",
            &[(format!("{count} of the criteria asked for, counted per engine"), Tone::Bad)],
        );
        let open = self.consequences(evidence, open);
        let merged = facts::merged_obligations(open.iter());
        let shown: Vec<Row> =
            merged.iter().take(LISTED).map(|(item, engines)| row(item, engines)).collect();
        self.rows(&shown, Tone::Bad);
        self.more(merged.len());
        self.proposals(&open);
        self.additions(&open);
    }

    /// What no test can cover under its configuration.
    fn proposals(&mut self, open: &[UncoveredObligation]) {
        let proposed = open.iter().filter(|item| item.proposal.is_some()).count();
        if proposed > 0 {
            let propose =
                self.presentation.places.on_project("vkcert list obligations", "--propose");
            let text = format!("{proposed} of these; review them with {propose}");
            self.labelled("Ruled out", &[(text, Tone::Caution)]);
        }
    }

    /// The vectors that complete MC/DC of each open decision, and how many it takes in all.
    fn additions(&mut self, open: &[UncoveredObligation]) {
        let mut rows: Vec<(Unit, &DecisionCoverage)> = Vec::new();
        for item in open {
            let Some(decision) = item.decision.filter(|decision| !decision.closing_set.is_empty())
            else {
                continue;
            };
            if !rows.iter().any(|(unit, other)| *unit == item.unit && other.id == decision.id) {
                rows.push((item.unit, decision));
            }
        }
        if rows.is_empty() {
            return;
        }
        self.labelled("Add vectors", &[("to complete MC/DC of a decision".into(), Tone::Neutral)]);
        let shown: Vec<Row> =
            rows.iter().take(LISTED).map(|(unit, decision)| addition(unit, decision)).collect();
        self.rows(&shown, Tone::Caution);
        self.more(rows.len());
    }
}

/// Kernel and engines; obligation, criterion, place and text.
fn row(item: &UncoveredObligation, engines: &[String]) -> Row {
    let column = if item.column == 0 { String::new() } else { format!(":{}", item.column) };
    Row {
        group: vec![item.unit.label(), engines.join(", ")],
        parts: vec![
            item.obligation.clone(),
            short_title(item.criterion).to_owned(),
            format!("{}:{}{column}", item.file, item.line),
            item.text.to_owned(),
        ],
    }
}

/// Kernel, decision, vectors and text.
fn addition(unit: &Unit, decision: &DecisionCoverage) -> Row {
    let vectors =
        decision.closing_set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let fewest =
        decision.minimum.as_ref().filter(|_| decision.conditions.len() > 1).map(|minimum| {
            let plus_one = minimum.conditions_plus_one;
            format!(" (fewest in all {}, n + 1 is {plus_one})", minimum.masking)
        });
    let justified = facts::justified_conditions(decision);
    let vectors = format!("{vectors}{}{justified}", fewest.unwrap_or_default());
    Row {
        group: vec![unit.label()],
        parts: vec![decision.id.to_string(), vectors, decision.text.clone()],
    }
}
