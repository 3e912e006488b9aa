//! What makes a campaign's result say less than its level asks for, derived from stored evidence
//! alone, by `certify` when it is made and by `verify` when it is checked again.
//!
//! Knows: open items with what the project accepts of them, notes for page 1, kinds of findings
//! that were not looked for.
//! Promises: what can be seen in the evidence is an item, a note or a kind that was not looked for,
//! never nothing; an acceptance that accepts nothing is told and counts.
//! Does not cover: evidence of format 1, which holds no settings to derive from.

mod items;
mod notes;
mod parts;
mod unseen;
mod unsought;

pub use items::specializes_to;
pub use notes::listed_names;

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use vkcert_coverage::ApproverRule;
use vkcert_coverage::justification::{Signature, signature_fault};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{
    Campaign, CouplingCheckName, CouplingEvidence, KernelEvidence, SetAsideKernel,
};
use vkcert_model::generation::Generation;
use vkcert_model::open_item::{
    Acceptability, ItemAcceptance, OpenItem, OpenItemKind, RejectedAcceptance,
};
use vkcert_model::project::{ProjectFile, RequirementLevels};
use vkcert_model::verdict::EngineName;

/// What open items are derived from.
struct StoredCampaign<'a> {
    settings: &'a ProjectFile,
    campaign: &'a Campaign,
    kernels: &'a [KernelEvidence],
}

impl StoredCampaign<'_> {
    /// Which levels the project has, as the version that made the evidence took it.
    fn requirement_levels(&self) -> RequirementLevels {
        match self.generation() {
            Generation::First | Generation::Second | Generation::Third => RequirementLevels::Both,
            Generation::Fourth | Generation::Current => self.settings.requirement_levels,
        }
    }

    fn generation(&self) -> Generation {
        Generation::for_campaign(self.campaign)
    }

    fn asked_criteria(&self) -> Vec<CriterionName> {
        self.settings.criteria_in_force(self.generation())
    }

    fn ran(&self, engine: EngineName) -> bool {
        self.campaign.engines.iter().any(|row| row.engine == engine && row.ran)
    }

    fn has_interface(&self, kernel: &vkcert_model::id::KernelName) -> bool {
        self.campaign.coupling.iter().any(|row| row.kernel == *kernel)
    }
}

/// Puts into the campaign what follows from the rest of it and from the kernels.
pub fn derive_open_items(campaign: &mut Campaign, kernels: &[KernelEvidence]) {
    let Some(settings) = &campaign.settings else { return };
    let stored = StoredCampaign { settings, campaign, kernels };
    let (mut open_items, (notes, unsought)) = rayon::join(
        || all_items(&stored),
        || rayon::join(|| notes::all_notes(&stored), || unsought::unsought_kinds(&stored)),
    );
    let acceptances =
        settings.acceptances.iter().filter(|row| !is_of_set_aside(row, &stored, &open_items));
    let acceptances: Vec<&ItemAcceptance> = acceptances.collect();
    let rejected_acceptances = accept_items_by(&mut open_items, acceptances.into_iter(), settings);
    (campaign.open_items, campaign.rejected_acceptances) = (open_items, rejected_acceptances);
    (campaign.notes, campaign.unsought) = (notes, unsought);
}

/// By kind.
fn all_items(stored: &StoredCampaign) -> Vec<OpenItem> {
    let kinds = OpenItemKind::ALL.par_iter().with_max_len(1);
    kinds.flat_map_iter(|(kind, _)| items::items_of_kind(*kind, stored)).collect()
}

/// Whether an acceptance is of something that is not known because a kernel was set aside: of an item
/// of that kernel, or of code in its files.
fn is_of_set_aside(
    acceptance: &ItemAcceptance,
    stored: &StoredCampaign,
    open_items: &[OpenItem],
) -> bool {
    if open_items.iter().any(|item| item.name == acceptance.item) {
        return false;
    }
    let Some((kind_word, subject)) = acceptance.item.split_once(' ') else { return false };
    let is_known = OpenItemKind::ALL.iter().any(|(_, name)| *name == kind_word);
    let before_colon = subject.rsplit_once(':').map_or(subject, |(before, _)| before);
    let is_about = |row: &SetAsideKernel| {
        row.kernel.as_str() == subject
            || row.kernel.as_str() == before_colon
            || row.has_file(before_colon)
    };
    is_known && stored.campaign.set_aside.iter().any(is_about)
}

/// What coupling checks alone leave open, with what the project accepts of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouplingItems {
    /// In the order of reports.
    pub open_items: Vec<OpenItem>,
    /// Acceptances of such items that accept nothing.
    pub rejected_acceptances: Vec<RejectedAcceptance>,
}

/// The kinds of open items that a coupling check which is undetermined makes, with that check.
const COUPLING_KINDS: [(OpenItemKind, CouplingCheckName); 2] = [
    (OpenItemKind::IndexBoundsNotShown, CouplingCheckName::IndexBounds),
    (OpenItemKind::BarrierOrderNotShown, CouplingCheckName::BarrierOrder),
];

/// The kind of open item, which a project can accept, that what a check leaves undetermined makes.
pub fn kind_of_check(check: &CouplingCheckName) -> Option<OpenItemKind> {
    let mut kinds = COUPLING_KINDS.iter();
    kinds.find(|(_, known_check)| known_check == check).map(|(kind, _)| *kind)
}

/// The open items of coupling checks without the rest of a campaign.
pub fn coupling_items(coupling: &[CouplingEvidence], settings: &ProjectFile) -> CouplingItems {
    let mut open_items = items::bounds_not_shown(coupling);
    open_items.extend(items::barrier_order_not_shown(coupling));
    let is_of_coupling = |acceptance: &&ItemAcceptance| {
        let kind_word = acceptance.item.split(' ').next();
        COUPLING_KINDS.iter().any(|(kind, _)| Some(kind.name()) == kind_word)
    };
    let acceptances = settings.acceptances.iter().filter(is_of_coupling);
    let rejected_acceptances = accept_items_by(&mut open_items, acceptances, settings);
    CouplingItems { open_items, rejected_acceptances }
}

/// Marks the items that the project accepts; gives the acceptances that accept none.
fn accept_items_by<'a>(
    items: &mut [OpenItem],
    acceptances: impl Iterator<Item = &'a ItemAcceptance>,
    settings: &ProjectFile,
) -> Vec<RejectedAcceptance> {
    let approval = ApproverRule::for_level(settings.level);
    let mut rejected_acceptances = Vec::new();
    for acceptance in acceptances {
        if let Err(reason) = accept_item(items, acceptance, approval) {
            rejected_acceptances.push(RejectedAcceptance { item: acceptance.item.clone(), reason });
        }
    }
    rejected_acceptances
}

fn accept_item(
    items: &mut [OpenItem],
    acceptance: &ItemAcceptance,
    approval: ApproverRule,
) -> Result<(), String> {
    let ItemAcceptance { item: item_name, reason, author, approver } = acceptance;
    let Some(item) = items.iter_mut().find(|item| item.name == *item_name) else {
        return Err(no_item(item_name));
    };
    match item.acceptable {
        Acceptability::ByProject => {}
        Acceptability::Never => {
            return Err("what is left out of one run cannot be accepted".to_owned());
        }
    }
    if let Some(fault) = signature_fault(Signature { reason, author, approver }, approval) {
        return Err(fault);
    }
    if !item.stands() {
        return Err("it is accepted twice".to_owned());
    }
    item.acceptance = Some(acceptance.approval());
    Ok(())
}

fn no_item(item_name: &str) -> String {
    let kind_word = item_name.split(' ').next().unwrap_or_default();
    if OpenItemKind::ALL.iter().any(|(_, known_names)| *known_names == kind_word) {
        return "not needed: there is no such open item".to_owned();
    }
    let known_names: Vec<&str> =
        OpenItemKind::ALL.iter().map(|(_, known_name)| *known_name).collect();
    format!("no kind of open item is named `{kind_word}`; known: {}", known_names.join(", "))
}
