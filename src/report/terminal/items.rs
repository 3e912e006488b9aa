//! Open items, findings that were not looked for and notes, in the terminal's summary.
//!
//! Promises: nothing of them is cut.

use super::page::{LISTED, SummaryPage};
use crate::document::Tone;
use crate::statement;
use vkcert_model::evidence::Evidence;

impl SummaryPage<'_> {
    /// What is less than the level asks for: each item on a line, what is missing or who accepts it
    /// below.
    pub(super) fn write_open_items(&mut self, evidence: &Evidence) {
        let items = &evidence.campaign.open_items;
        let standing_count = items.iter().filter(|item| item.stands()).count();
        let accepted_count = items.len() - standing_count;
        if items.is_empty() {
            if statement::holds_items(&evidence.campaign) {
                self.write_labelled("Open items", &[("none".into(), Tone::Good)]);
            }
            return;
        }
        let mut count_parts = Vec::new();
        if standing_count > 0 {
            count_parts.push((format!("{standing_count} open  "), Tone::Bad));
        }
        if accepted_count > 0 {
            count_parts.push((format!("{accepted_count} accepted"), Tone::Caution));
        }
        self.write_labelled("Open items", &count_parts);
        for item in items.iter().filter(|item| item.stands()).take(LISTED) {
            self.write_item(&item.name, Tone::Bad);
            self.write_below(&item.sentence);
        }
        self.write_more(standing_count);
        for (item, approval) in
            items.iter().filter_map(|item| Some((item, item.acceptance.as_ref()?)))
        {
            self.write_item(&format!("accepted: {}", item.name), Tone::Caution);
            self.write_below(&approval.reason);
            self.write_below(&format!(
                "author {}, approver {}",
                approval.author, approval.approver
            ));
        }
    }

    pub(super) fn write_not_looked_for(&mut self, evidence: &Evidence) {
        for (index, kinds) in statement::unsought_kinds(evidence).iter().enumerate() {
            self.write_wrapped(
                if index == 0 { "Not looked for" } else { "" },
                kinds,
                Tone::Caution,
            );
        }
    }

    pub(super) fn write_notes(&mut self, evidence: &Evidence) {
        for (index, note) in statement::page_notes(evidence).iter().enumerate() {
            self.write_wrapped(if index == 0 { "Notes" } else { "" }, note, Tone::Caution);
        }
    }

    /// The command or line that comes next, for each kind of what is left.
    pub(super) fn write_next_steps(&mut self, evidence: &Evidence) {
        for (index, step) in
            statement::next_steps(evidence, &self.presentation.places).iter().enumerate()
        {
            self.write_wrapped(if index == 0 { "Next" } else { "" }, step, Tone::Neutral);
        }
    }
}
