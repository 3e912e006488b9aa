//! Open items, findings that were not looked for and notes, in the terminal's summary.
//!
//! Promises: nothing of them is cut.

use super::page::{LISTED, Page};
use crate::document::Tone;
use crate::statement;
use vkcert_model::evidence::Evidence;

impl Page<'_> {
    /// What is less than the level asks for: each item on a line, what is missing or who accepts it
    /// below.
    pub(super) fn open_items(&mut self, evidence: &Evidence) {
        let items = &evidence.campaign.open_items;
        let standing = items.iter().filter(|item| item.stands()).count();
        let accepted = items.len() - standing;
        if items.is_empty() {
            if statement::holds_items(&evidence.campaign) {
                self.labelled("Open items", &[("none".into(), Tone::Good)]);
            }
            return;
        }
        let mut parts = Vec::new();
        if standing > 0 {
            parts.push((format!("{standing} open  "), Tone::Bad));
        }
        if accepted > 0 {
            parts.push((format!("{accepted} accepted"), Tone::Caution));
        }
        self.labelled("Open items", &parts);
        for item in items.iter().filter(|item| item.stands()).take(LISTED) {
            self.item(&item.name, Tone::Bad);
            self.below(&item.sentence);
        }
        self.more(standing);
        for (item, approval) in
            items.iter().filter_map(|item| Some((item, item.acceptance.as_ref()?)))
        {
            self.item(&format!("accepted: {}", item.name), Tone::Caution);
            self.below(&approval.reason);
            self.below(&format!("author {}, approver {}", approval.author, approval.approver));
        }
    }

    pub(super) fn not_looked_for(&mut self, evidence: &Evidence) {
        for (index, kinds) in statement::unsought(evidence).iter().enumerate() {
            self.wrapped(if index == 0 { "Not looked for" } else { "" }, kinds, Tone::Caution);
        }
    }

    pub(super) fn notes(&mut self, evidence: &Evidence) {
        for (index, note) in statement::notes(evidence).iter().enumerate() {
            self.wrapped(if index == 0 { "Notes" } else { "" }, note, Tone::Caution);
        }
    }

    /// The command or line that comes next, for each kind of what is left.
    pub(super) fn next_steps(&mut self, evidence: &Evidence) {
        for (index, step) in
            statement::next_steps(evidence, &self.presentation.places).iter().enumerate()
        {
            self.wrapped(if index == 0 { "Next" } else { "" }, step, Tone::Neutral);
        }
    }
}
