//! Notes for page 1: what a reader must know and does not count against the result.
//!
//! Knows: engines that did not run, links without hash, devices without validation layers, coverage in directed schedules.
//! Promises: an engine for which nothing is claimed is named.
//! Does not cover: what counts (`items`).

use super::Stored;
use crate::model::evidence::TestRecords;
use crate::model::open_item::{CampaignNote, NoteKind};
use crate::model::project::ValidationLayers;
use crate::model::verdict::EngineName;
use std::collections::BTreeSet;

/// All notes, by kind.
pub fn all(stored: &Stored) -> Vec<CampaignNote> {
    let engines = [EngineName::Sequential, EngineName::Vulkan].into_iter().filter_map(|engine| not_run(stored, engine));
    engines.chain(links(stored)).chain(layers(stored)).chain(directed(stored)).collect()
}

fn not_run(stored: &Stored, engine: EngineName) -> Option<CampaignNote> {
    if stored.ran(engine) {
        return None;
    }
    let identity = stored.campaign.engines.iter().find(|row| row.engine == engine);
    let reason = identity.map_or("it was not asked for", |row| row.reason.as_deref().unwrap_or("no reason recorded"));
    let sentence = format!("Not run on the engine {engine}: {reason}. Nothing is claimed for it.");
    Some(CampaignNote { kind: NoteKind::EngineNotRun, sentence })
}

/// A link without hash cannot become suspect: that none is says nothing of it.
fn links(stored: &Stored) -> Option<CampaignNote> {
    let all = || stored.campaign.requirements.iter().flat_map(|row| &row.requirement.parents);
    let (all, open) = (all().count(), all().filter(|link| link.hash.is_none()).count());
    let sentence = format!(
        "{open} of {all} links not pinned: whether a parent requirement has changed since they were reviewed is not known."
    );
    (open > 0).then_some(CampaignNote { kind: NoteKind::LinksNotPinned, sentence })
}

fn layers(stored: &Stored) -> Option<CampaignNote> {
    match stored.settings.validation {
        ValidationLayers::Off => return None,
        ValidationLayers::On | ValidationLayers::Required => {}
    }
    let sentence = "The device ran without validation layers, which are not installed.".to_owned();
    (stored.ran(EngineName::Vulkan) && !super::unsought::layers_looked(stored))
        .then_some(CampaignNote { kind: NoteKind::LayersNotInstalled, sentence })
}

/// What counts and no test shows in the ordinary schedule.
fn directed(stored: &Stored) -> Option<CampaignNote> {
    let (mut vectors, mut outcomes, mut kernels) = (0, 0, BTreeSet::new());
    for kernel in stored.kernels {
        let (source, object) = (shown_directed(&kernel.records), shown_directed(&kernel.objects.records));
        (vectors, outcomes) = (vectors + source, outcomes + object);
        if source + object > 0 {
            kernels.insert(kernel.kernel.to_string());
        }
    }
    let sentence = format!(
        "Shown in directed schedules alone, in which who waits goes first: vectors and marks {vectors}, outcomes of \
         object code {outcomes} ({}).",
        kernels.iter().cloned().collect::<Vec<_>>().join(", ")
    );
    (!kernels.is_empty()).then_some(CampaignNote { kind: NoteKind::DirectedSchedules, sentence })
}

/// Bits that count and that directed schedules alone have shown.
fn shown_directed(records: &[TestRecords]) -> usize {
    let counted = || records.iter().filter(|row| row.counted).map(|row| &row.records);
    let directed: BTreeSet<u32> = counted().flat_map(|records| records.directed.keys().copied()).collect();
    let ordinary = |bit: &u32| counted().any(|records| records.has(*bit) && !records.directed.contains_key(bit));
    directed.iter().filter(|bit| !ordinary(bit)).count()
}
