//! Notes for page 1: what a reader must know and does not count against the result.
//!
//! Knows: engines that did not run, links without hash, devices without validation layers, coverage
//! in directed schedules and through undefined values; requirements without robustness tests,
//! without code, and code that is tested in some of its kernels alone; outputs of kernels that no
//! test judges (`parts`: in part).
//! Promises: an engine for which nothing is claimed is named.
//! Does not cover: what counts (`items`).

use super::{Stored, parts};
use crate::derive;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage as coverage;
use vkcert_model::evidence::{
    KernelText, RequirementEvidence, TestEvidence, TestRecords, kernel_label,
};
use vkcert_model::flow::StorePlace;
use vkcert_model::generation::Generation;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::open_item::{CampaignNote, NoteKind};
use vkcert_model::procedure::TestKind;
use vkcert_model::project::ValidationLayers;
use vkcert_model::requirement::{RequirementLevel, VerificationMethod};
use vkcert_model::verdict::EngineName;
use vkcert_model::wording::and_more;

/// All notes, by kind.
pub(super) fn all(stored: &Stored) -> Vec<CampaignNote> {
    let engines = [EngineName::Sequential, EngineName::Vulkan]
        .into_iter()
        .filter_map(|engine| not_run(stored, engine));
    let earlier = engines
        .chain(links(stored))
        .chain(layers(stored))
        .chain(directed(stored))
        .chain(undefined(stored));
    let earlier = earlier.chain(undefined_passes(stored));
    match Generation::for_campaign(stored.campaign) {
        Generation::First | Generation::Second => earlier.collect(),
        Generation::Current => {
            let members = parts::Members::of(stored);
            let of_requirements = robustness(stored).into_iter().chain(code_not_named(stored));
            earlier
                .chain(of_requirements)
                .chain(tested_in_part(stored))
                .chain(unjudged(stored))
                .chain(parts::in_part(&members))
                .chain(parts::left_to_others(stored, &members))
                .chain(parts::idle(stored))
                .chain(unnoticed(stored))
                .collect()
        }
    }
}

/// Names in a note, of which the rest is counted.
const NAMES: usize = 3;

/// `A, B, C and 4 more`
pub fn listed(names: &[String]) -> String {
    let (shown, rest) = names.split_at(names.len().min(NAMES));
    and_more(&shown.join(", "), rest.len())
}

/// Requirements that the level asks robustness tests of and that are to be verified by test: HLR at
/// every level, LLR down to level C (DO-178C 6.4.2.2, table A-6, objectives 2 and 4).
fn robustness(stored: &Stored) -> Option<CampaignNote> {
    let levels = match stored.settings.level.traces_code() {
        true => &[RequirementLevel::Hlr, RequirementLevel::Llr][..],
        false => &[RequirementLevel::Hlr],
    };
    let due: Vec<&RequirementEvidence> =
        by_test(stored).filter(|row| levels.contains(&row.requirement.level)).collect();
    let is_robustness = |id: &TestId| {
        let mut of_kind = stored
            .campaign
            .tests
            .iter()
            .filter(|test| test.definition.kind == TestKind::Robustness);
        of_kind.any(|test| test.id == *id)
    };
    let lacking = due.iter().filter(|row| !row.tests.iter().any(is_robustness));
    let lacking: Vec<String> = lacking.map(|row| row.requirement.uid.to_string()).collect();
    if lacking.is_empty() {
        return None;
    }
    let none =
        !stored.campaign.tests.iter().any(|test| test.definition.kind == TestKind::Robustness);
    // Of tests that were left out nothing is said.
    let run = if stored.campaign.left_out.is_empty() { "" } else { " of this run" };
    let sentence = match none {
        true => format!(
            "No test{run} is a robustness test (`kind = \"robustness\"`): what the software does with abnormal inputs is not \
             tested (DO-178C 6.4.2.2; requirements to be verified by test: {}).",
            due.len()
        ),
        false => format!(
            "Requirements without a robustness test{run} (DO-178C 6.4.2.2): {} of {} to be verified by test: {}.",
            lacking.len(),
            due.len(),
            listed(&lacking)
        ),
    };
    Some(CampaignNote { kind: NoteKind::RobustnessTests, sentence })
}

fn by_test<'a>(stored: &'a Stored) -> impl Iterator<Item = &'a RequirementEvidence> {
    let rows = stored.campaign.requirements.iter();
    rows.filter(|row| row.requirement.verification.contains(&VerificationMethod::Test))
}

/// Where a low-level requirement names no code, nothing says which code its tests have to judge
/// (table A-5, objective 5).
fn code_not_named(stored: &Stored) -> Option<CampaignNote> {
    if !stored.settings.level.traces_code() {
        return None;
    }
    let low_level = || by_test(stored).filter(|row| row.requirement.level == RequirementLevel::Llr);
    let without = low_level().filter(|row| row.code.is_empty());
    let names: Vec<String> = without.map(|row| row.requirement.uid.to_string()).collect();
    let sentence = format!(
        "Low-level requirements that name no code in `implements`, so that their tests may judge any (DO-178C table A-5, \
         objective 5): {} of {} to be verified by test: {}.",
        names.len(),
        low_level().count(),
        listed(&names)
    );
    (!names.is_empty()).then_some(CampaignNote { kind: NoteKind::CodeNotNamed, sentence })
}

/// The same text in another kernel is compiled apart, and is not run there.
fn tested_in_part(stored: &Stored) -> Option<CampaignNote> {
    let mut names = Vec::new();
    for row in &stored.campaign.requirements {
        let same = row.untested_kernels.iter().filter(|kernel| kernel.text == KernelText::Same);
        names.extend(same.map(|kernel| format!("{} ({})", kernel.in_words(), row.requirement.uid)));
    }
    let sentence = format!(
        "Code that requirements name is also part of kernels in which no test of the requirement judges it; its text is the \
         same there: {}.",
        listed(&names)
    );
    (!names.is_empty()).then_some(CampaignNote { kind: NoteKind::CodeTestedInPart, sentence })
}

fn not_run(stored: &Stored, engine: EngineName) -> Option<CampaignNote> {
    if stored.ran(engine) {
        return None;
    }
    let identity = stored.campaign.engines.iter().find(|row| row.engine == engine);
    let reason = identity.map_or("it was not asked for", |row| {
        row.reason.as_deref().unwrap_or("no reason recorded")
    });
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
        let (source, object) =
            (shown_directed(&kernel.records), shown_directed(&kernel.objects.records));
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
    let directed: BTreeSet<u32> =
        counted().flat_map(|records| records.directed.keys().copied()).collect();
    let ordinary = |bit: &u32| {
        counted().any(|records| records.has(*bit) && !records.directed.contains_key(bit))
    };
    directed.iter().filter(|bit| !ordinary(bit)).count()
}

/// What undefined values alone cover is undetermined; how much that is.
fn undefined(stored: &Stored) -> Option<CampaignNote> {
    let asked = stored.settings.required_criteria();
    let mut rows = Vec::new();
    for row in stored.kernels {
        match coverage::covered_through_undefined(&row.coverage, &asked) {
            0 => {}
            count => {
                let unit = kernel_label(stored.kernels, row);
                rows.push((count, format!("{unit} on {}: {count}", row.engine)));
            }
        }
    }
    let names: Vec<String> = rows.iter().map(|(_, name)| name.clone()).collect();
    let sentence = format!(
        "Covered only through what may follow an undefined value, and therefore not counted as covered (undetermined): \
         obligations {} ({}).",
        rows.iter().map(|(count, _)| count).sum::<usize>(),
        listed(&names)
    );
    (!rows.is_empty()).then_some(CampaignNote { kind: NoteKind::UndefinedValues, sentence })
}

/// Passes that the engine's choice of an undefined value gives.
fn undefined_passes(stored: &Stored) -> Option<CampaignNote> {
    let rests = |test: &&TestEvidence| test.results.iter().any(|result| result.rests_on_undefined);
    let names: Vec<String> = stored
        .campaign
        .tests
        .iter()
        .filter(rests)
        .map(|test| test.id.as_str().to_owned())
        .collect();
    let sentence = format!(
        "Tests that pass by an undefined value, and with others do not, or do not complete: {} ({}). What they verify rests on the \
         acceptance of that value.",
        names.len(),
        listed(&names)
    );
    (!names.is_empty()).then_some(CampaignNote { kind: NoteKind::UndefinedValues, sentence })
}

/// Outputs of a kernel by the binding that it declares them at; none: what device addresses name.
pub(super) type Outputs<'a> = BTreeMap<(&'a KernelName, Option<&'a StorePlace>), bool>;

/// One judged output is enough for a kernel to be covered.
fn unjudged(stored: &Stored) -> Option<CampaignNote> {
    let outputs = outputs(stored);
    let mut kernels: Vec<(&KernelName, Vec<String>)> = Vec::new();
    for ((kernel, place), _) in outputs.iter().filter(|(_, judged)| !**judged) {
        let place = place.map_or("what device addresses name".to_owned(), ToString::to_string);
        match kernels.last_mut() {
            Some((known, places)) if known == kernel => places.push(place),
            Some(_) | None => kernels.push((kernel, vec![place])),
        }
    }
    let named: Vec<String> =
        kernels.iter().map(|(kernel, places)| format!("{kernel} ({})", listed(places))).collect();
    let sentence = format!(
        "Stored, and judged by no test, directly or through what later dispatches make of it: {}. One judged output is \
         enough for a kernel to be covered.",
        listed(&named)
    );
    (!named.is_empty()).then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
}

/// One dispatch whose altered stores fail the test is enough for all dispatches of a kernel in it.
fn unnoticed(stored: &Stored) -> Option<CampaignNote> {
    let mut named = Vec::new();
    for test in &stored.campaign.tests {
        for row in derive::altered_stores(test)
            .into_iter()
            .flatten()
            .filter(|row| !row.unnoticed.is_empty())
        {
            let (part, all) = (row.unnoticed.len(), row.dispatches.len());
            named.push(format!("test {}: {part} of {all} of {}", test.id, row.kernel));
        }
    }
    let sentence = format!(
        "Dispatches that count by another one of the same kernel: none of the tried alterations of what they stored fails their test ({}).",
        listed(&named)
    );
    (!named.is_empty()).then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
}

/// Whether some test judges it, by the kernels' code.
pub(super) fn outputs<'a>(stored: &Stored<'a>) -> Outputs<'a> {
    let codes = derive::codes(stored.kernels);
    let mut outputs = Outputs::new();
    for test in &stored.campaign.tests {
        let observation = derive::observation(stored.campaign.schema, test, &codes);
        for (number, flow) in test.flows.iter().enumerate() {
            for (row, store) in flow.stores.iter().enumerate() {
                *outputs.entry((&flow.kernel, store.place.as_ref())).or_default() |=
                    observation.judges_output(number, row);
            }
        }
    }
    outputs
}
