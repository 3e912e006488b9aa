//! What a person has accepted: justified obligations, findings, open items.

use super::grounds::{finding_notice, obligation_notice, open_item_notice};
use super::{Notice, Sources, Weight};
use crate::facts::{justified_obligations, merged_findings, merged_obligations};
use vkcert_model::evidence::Evidence;

/// Adds a notice for each, with the text of the justification.
pub(super) fn add_accepted(evidence: &Evidence, sources: &Sources, notices: &mut Vec<Notice>) {
    let justified = justified_obligations(evidence);
    for (obligation, engines) in merged_obligations(justified.iter()) {
        let weight = Weight::Accepted(obligation.reason.clone());
        notices.push(obligation_notice(obligation, &engines, weight, sources));
    }
    for merged in merged_findings(evidence) {
        let acceptance = merged.finding.acceptance.as_ref();
        let Some(text) = acceptance.and_then(|acceptance| acceptance.justification.clone()) else {
            continue;
        };
        notices.push(finding_notice(&merged, Weight::Accepted(text), evidence, sources));
    }
    for item in &evidence.campaign.open_items {
        let Some(approval) = &item.acceptance else { continue };
        let text = format!(
            "{} (author {}, approver {})",
            approval.reason, approval.author, approval.approver
        );
        notices.push(open_item_notice(item, Weight::Accepted(text), evidence, sources));
    }
}
