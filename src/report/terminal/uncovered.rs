//! Obligations that nothing covers, and the vectors that would complete MC/DC.
//!
//! Promises: names are whole; what the list leaves out is counted.

use super::page::{LISTED, SummaryPage};
use super::rows::ListRow;
use super::titles::short_title;
use crate::document::Tone;
use crate::facts::{self, KernelUnit, UncoveredObligation};
use crate::statement::counted;
use vkcert_model::coverage::DecisionCoverage;
use vkcert_model::evidence::Evidence;

impl SummaryPage<'_> {
    pub(super) fn write_uncovered(&mut self, evidence: &Evidence) {
        let open_obligations = facts::uncovered_obligations(evidence);
        if evidence.campaign.project.criteria.is_empty() {
            return self
                .write_labelled("Uncovered", &[("no criterion is asked for".into(), Tone::Quiet)]);
        }
        if open_obligations.is_empty() {
            return self.write_labelled(
                "Uncovered",
                &[("no obligation of the criteria asked for".into(), Tone::Good)],
            );
        }
        let count = counted(open_obligations.len(), "obligation");
        self.write_labelled(
            "Uncovered",
            &[(format!("{count} of the criteria asked for, counted per engine"), Tone::Bad)],
        );
        let open_obligations = self.write_consequences(evidence, open_obligations);
        let merged = facts::merged_obligations(open_obligations.iter());
        let shown_rows: Vec<ListRow> = merged
            .iter()
            .take(LISTED)
            .map(|(item, engines)| obligation_row(item, engines))
            .collect();
        self.write_rows(&shown_rows, Tone::Bad);
        self.write_more(merged.len());
        self.write_proposals(&open_obligations);
        self.write_additions(&open_obligations);
    }

    /// What no test can cover under its configuration.
    fn write_proposals(&mut self, open_obligations: &[UncoveredObligation]) {
        let proposed_count = open_obligations.iter().filter(|item| item.proposal.is_some()).count();
        if proposed_count > 0 {
            let propose_command =
                self.presentation.places.on_project("vkcert list obligations", "--propose");
            let text = format!("{proposed_count} of these; review them with {propose_command}");
            self.write_labelled("Ruled out", &[(text, Tone::Caution)]);
        }
    }

    /// The vectors that complete MC/DC of each open decision, and how many it takes in all.
    fn write_additions(&mut self, open_obligations: &[UncoveredObligation]) {
        let mut open_decisions: Vec<(KernelUnit, &DecisionCoverage)> = Vec::new();
        for item in open_obligations {
            let Some(decision) = item.decision.filter(|decision| !decision.closing_set.is_empty())
            else {
                continue;
            };
            if !open_decisions.iter().any(|(unit, other_decision)| {
                *unit == item.unit && other_decision.id == decision.id
            }) {
                open_decisions.push((item.unit, decision));
            }
        }
        if open_decisions.is_empty() {
            return;
        }
        self.write_labelled(
            "Add vectors",
            &[("to complete MC/DC of a decision".into(), Tone::Neutral)],
        );
        let shown_rows: Vec<ListRow> = open_decisions
            .iter()
            .take(LISTED)
            .map(|(unit, decision)| vector_row(unit, decision))
            .collect();
        self.write_rows(&shown_rows, Tone::Caution);
        self.write_more(open_decisions.len());
    }
}

/// Kernel and engines; obligation, criterion, place and text.
fn obligation_row(item: &UncoveredObligation, engines: &[String]) -> ListRow {
    let column_words = if item.column == 0 { String::new() } else { format!(":{}", item.column) };
    ListRow {
        group: vec![item.unit.unit_label(), engines.join(", ")],
        parts: vec![
            item.obligation.clone(),
            short_title(&item.criterion.into()).to_owned(),
            format!("{}:{}{column_words}", item.file, item.line),
            item.shown_text().into_owned(),
        ],
    }
}

/// Kernel, decision, vectors and text.
fn vector_row(unit: &KernelUnit, decision: &DecisionCoverage) -> ListRow {
    let vector_words =
        decision.closing_set.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let fewest_words =
        decision.minimum.as_ref().filter(|_| decision.conditions.len() > 1).map(|minimum| {
            let plus_one = minimum.conditions_plus_one;
            format!(" (fewest in all {}, n + 1 is {plus_one})", minimum.masking)
        });
    let justified_words = facts::justified_conditions(decision);
    let vector_words =
        format!("{vector_words}{}{justified_words}", fewest_words.unwrap_or_default());
    ListRow {
        group: vec![unit.unit_label()],
        parts: vec![decision.id.to_string(), vector_words, decision.text.clone()],
    }
}
