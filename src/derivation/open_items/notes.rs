//! Notes for page 1: what a reader must know and does not count against the result.
//!
//! Knows: engines that did not run, links without hash, devices without validation layers, coverage
//! in directed schedules and through undefined values; requirements without robustness tests,
//! without code, and code that is tested in some of its kernels alone; outputs of kernels that no
//! test judges (`parts`: in part); what only seems to be seen (`unseen`).
//! Promises: an engine for which nothing is claimed is named.
//! Does not cover: what counts (`items`).

use super::{StoredCampaign, parts, unseen};
use crate::derive;
use crate::robustness::robustness_tests;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage as coverage;
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::evidence::{
    KernelText, RequirementEvidence, TestEvidence, TestRecords, ThresholdStanding, kernel_label,
};
use vkcert_model::flow::StorePlace;
use vkcert_model::generation::Generation;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::open_item::{CampaignNote, NoteKind};
use vkcert_model::procedure::TestKind;
use vkcert_model::project::{RequirementLevels, ValidationLayers};
use vkcert_model::requirement::{RequirementLevel, VerificationMethod};
use vkcert_model::verdict::EngineName;
use vkcert_model::wording::and_more;
use vkcert_oracle::judged::TestObservation;

/// Makes a note where there is something to tell.
type NoteMaker = fn(&StoredCampaign) -> Option<CampaignNote>;

/// What is told of evidence of every version.
const ALWAYS: &[NoteMaker] = &[
    |stored| engine_not_run(stored, EngineName::Sequential),
    |stored| engine_not_run(stored, EngineName::Vulkan),
    links_not_pinned,
    layers_not_installed,
    shown_in_directed_schedules,
    covered_through_undefined,
    undefined_passes,
    mutants_not_asked,
];

/// Of requirements and what code is tested for them.
const OF_REQUIREMENTS: &[NoteMaker] =
    &[requirements_without_robustness, code_not_named, tested_in_part];

/// Of what tests do not see.
const OF_TESTS: &[NoteMaker] = &[
    parts::idle_expectations,
    alterations_not_noticed,
    unseen::functions_not_reached,
    unseen::values_not_written_down,
    unseen::configurations_not_declared,
];

/// All notes, by kind.
pub(super) fn all_notes(stored: &StoredCampaign) -> Vec<CampaignNote> {
    match Generation::for_campaign(stored.campaign) {
        Generation::First | Generation::Second => notes_by(ALWAYS, stored),
        Generation::Third | Generation::Fourth | Generation::Current => {
            let ((mut notes, of_requirements), (of_outputs, of_tests)) = rayon::join(
                || {
                    let of_requirements = || notes_by(OF_REQUIREMENTS, stored);
                    rayon::join(|| notes_by(ALWAYS, stored), of_requirements)
                },
                || rayon::join(|| notes_of_outputs(stored), || notes_by(OF_TESTS, stored)),
            );
            notes.extend(of_requirements);
            notes.extend(of_outputs);
            notes.extend(of_tests);
            notes
        }
    }
}

/// The notes that there are, made on all cores.
fn notes_by(makers: &[NoteMaker], stored: &StoredCampaign) -> Vec<CampaignNote> {
    makers.par_iter().with_max_len(1).filter_map(|make| make(stored)).collect()
}

/// Of outputs and their members that no test judges, or not as a whole.
fn notes_of_outputs(stored: &StoredCampaign) -> Vec<CampaignNote> {
    let outputs = outputs_by_binding(stored);
    let members = parts::JudgedMembers::of_outputs(stored, &outputs);
    let notes = [
        outputs_not_judged(&outputs),
        parts::members_judged_in_part(&members),
        parts::members_left_to_others(stored, &members),
    ];
    notes.into_iter().flatten().collect()
}

/// Names in a note, of which the rest is counted.
const NAMES: usize = 3;

/// `A, B, C and 4 more`
pub fn listed_names(names: &[String]) -> String {
    let (shown_names, other_names) = names.split_at(names.len().min(NAMES));
    and_more(&shown_names.join(", "), other_names.len())
}

/// Requirements that the level asks robustness tests of and that are to be verified by test: HLR at
/// every level, LLR down to level C (DO-178C 6.4.2.2, table A-6, objectives 2 and 4). With a single
/// level of requirements, each is both.
fn requirements_without_robustness(stored: &StoredCampaign) -> Option<CampaignNote> {
    let due_levels = match stored.settings.level.traces_code() {
        true => &[RequirementLevel::Hlr, RequirementLevel::Llr][..],
        false => &[RequirementLevel::Hlr],
    };
    let due_requirements: Vec<&RequirementEvidence> = requirements_by_test(stored)
        .filter(|row| due_levels.iter().any(|level| is_of_level(stored, row, *level)))
        .collect();
    let robustness_tests = robustness_tests(stored.campaign);
    let is_robustness = |id: &TestId| robustness_tests.contains(id);
    let lacking_rows: Vec<_> =
        due_requirements.iter().filter(|row| !row.tests.iter().any(is_robustness)).collect();
    let lacking_requirements: Vec<String> =
        lacking_rows.iter().map(|row| row.requirement.uid.to_string()).collect();
    if lacking_requirements.is_empty() {
        return None;
    }
    let has_no_robustness_test = robustness_tests.is_empty();
    // Of tests that were left out nothing is said.
    let standard = stored.settings.level.standard();
    let run_words = if !stored.campaign.lacks_tests() { "" } else { " of this run" };
    let sentence = match has_no_robustness_test {
        true => format!(
            "No test{run_words} is a robustness test ({}): what the software does with abnormal inputs is not \
             tested ({}requirements to be verified by test: {}).",
            missing_kind_in_words(stored),
            standard.only_do_178c("DO-178C 6.4.2.2; "),
            due_requirements.len()
        ),
        false => format!(
            "Requirements without a robustness test{run_words}{}: {} of {} to be verified by test: {}{}.",
            standard.only_do_178c(" (DO-178C 6.4.2.2)"),
            lacking_requirements.len(),
            due_requirements.len(),
            listed_names(&lacking_requirements),
            stated_reasons_in_words(stored, &lacking_rows)
        ),
    };
    Some(CampaignNote { kind: NoteKind::RobustnessTests, sentence })
}

/// How many requirements without a robustness test state why they need none.
fn stated_reasons_in_words(
    stored: &StoredCampaign,
    lacking_rows: &[&&RequirementEvidence],
) -> String {
    if Generation::for_campaign(stored.campaign) < Generation::Fourth {
        return String::new();
    }
    let with_reason =
        lacking_rows.iter().filter(|row| row.requirement.no_robustness_test.is_some());
    let count = with_reason.count();
    if count == 0 {
        String::new()
    } else if count == lacking_rows.len() {
        "; a reason why none is needed is stated for each".to_owned()
    } else {
        format!("; for {count} of them a reason why none is needed is stated")
    }
}

/// Why no test is a robustness test: none is called so, or those repeat normal ones.
fn missing_kind_in_words(stored: &StoredCampaign) -> &'static str {
    let is_told_apart = Generation::for_campaign(stored.campaign) >= Generation::Fourth;
    let mut tests = stored.campaign.tests.iter();
    if is_told_apart && tests.any(|test| test.definition.kind == TestKind::Robustness) {
        "each of `kind = \"robustness\"` dispatches and expects the same as a normal one"
    } else {
        "`kind = \"robustness\"`"
    }
}

fn is_of_level(
    stored: &StoredCampaign,
    row: &RequirementEvidence,
    level: RequirementLevel,
) -> bool {
    stored.requirement_levels().is_of_level(row.requirement.level, level)
}

fn requirements_by_test<'a>(
    stored: &'a StoredCampaign,
) -> impl Iterator<Item = &'a RequirementEvidence> {
    let rows = stored.campaign.requirements.iter();
    rows.filter(|row| row.requirement.verification.contains(&VerificationMethod::Test))
}

/// Where a low-level requirement names no code, nothing says which code its tests have to judge
/// (table A-5, objective 5).
fn code_not_named(stored: &StoredCampaign) -> Option<CampaignNote> {
    if !stored.settings.level.traces_code() {
        return None;
    }
    let low_level = || {
        requirements_by_test(stored).filter(|row| is_of_level(stored, row, RequirementLevel::Llr))
    };
    let without_code = low_level().filter(|row| row.code.is_empty());
    let requirement_names: Vec<String> =
        without_code.map(|row| row.requirement.uid.to_string()).collect();
    let standard = stored.settings.level.standard();
    let noun = match stored.requirement_levels() {
        RequirementLevels::Both => standard.requirements_noun(RequirementLevel::Llr),
        RequirementLevels::Single => "requirements",
    };
    let mut noun = noun.to_owned();
    noun[..1].make_ascii_uppercase();
    let sentence = format!(
        "{noun} that name no code in `implements`, so that their tests may judge any{}: {} of {} to be \
         verified by test: {}.",
        standard.only_do_178c(" (DO-178C table A-5, objective 5)"),
        requirement_names.len(),
        low_level().count(),
        listed_names(&requirement_names)
    );
    (!requirement_names.is_empty())
        .then_some(CampaignNote { kind: NoteKind::CodeNotNamed, sentence })
}

/// The same text in another kernel is compiled apart, and is not run there.
fn tested_in_part(stored: &StoredCampaign) -> Option<CampaignNote> {
    let mut kernel_names = Vec::new();
    for requirement_row in &stored.campaign.requirements {
        let same_text_kernels = requirement_row
            .untested_kernels
            .iter()
            .filter(|kernel| kernel.text == KernelText::Same);
        kernel_names.extend(
            same_text_kernels.map(|kernel| {
                format!("{} ({})", kernel.in_words(), requirement_row.requirement.uid)
            }),
        );
    }
    let sentence = format!(
        "Code that requirements name is also part of kernels in which no test of the requirement judges it; its text is the \
         same there: {}.",
        listed_names(&kernel_names)
    );
    (!kernel_names.is_empty())
        .then_some(CampaignNote { kind: NoteKind::CodeTestedInPart, sentence })
}

fn engine_not_run(stored: &StoredCampaign, engine: EngineName) -> Option<CampaignNote> {
    if stored.ran(engine) {
        return None;
    }
    let engine_identity = stored.campaign.engines.iter().find(|row| row.engine == engine);
    let reason = engine_identity.map_or("it was not asked for", |row| {
        row.reason.as_deref().unwrap_or("no reason recorded")
    });
    let sentence = format!("Not run on the engine {engine}: {reason}. Nothing is claimed for it.");
    Some(CampaignNote { kind: NoteKind::EngineNotRun, sentence })
}

/// A link without hash cannot become suspect: that none is says nothing of it.
fn links_not_pinned(stored: &StoredCampaign) -> Option<CampaignNote> {
    let all_links = || stored.campaign.requirements.iter().flat_map(|row| &row.requirement.parents);
    let (all_links, open_links) =
        (all_links().count(), all_links().filter(|link| link.hash.is_none()).count());
    let sentence = format!(
        "{open_links} of {all_links} links not pinned: whether a parent requirement has changed since they were reviewed is not known."
    );
    (open_links > 0).then_some(CampaignNote { kind: NoteKind::LinksNotPinned, sentence })
}

fn mutants_not_asked(stored: &StoredCampaign) -> Option<CampaignNote> {
    let threshold = stored.settings.mutation?.threshold;
    let reason = match &stored.campaign.mutation {
        None => "mutants were not asked for (--mutation)".to_owned(),
        Some(summary) => match summary.against_threshold(threshold) {
            ThresholdStanding::Reached | ThresholdStanding::Below => return None,
            ThresholdStanding::NotKnown => {
                let words = summary.asked.restrictions_in_words();
                format!("mutants were asked for {words} alone")
            }
        },
    };
    let sentence = format!(
        "Whether the mutation score reaches the project's threshold of {threshold} % is not known: {reason}."
    );
    Some(CampaignNote { kind: NoteKind::MutantsNotAsked, sentence })
}

fn layers_not_installed(stored: &StoredCampaign) -> Option<CampaignNote> {
    match stored.settings.validation {
        ValidationLayers::Off => return None,
        ValidationLayers::On | ValidationLayers::Required => {}
    }
    let sentence = "The device ran without validation layers, which are not installed.".to_owned();
    (stored.ran(EngineName::Vulkan) && !super::unsought::layers_looked(stored))
        .then_some(CampaignNote { kind: NoteKind::LayersNotInstalled, sentence })
}

/// What counts and no test shows in the ordinary schedule.
fn shown_in_directed_schedules(stored: &StoredCampaign) -> Option<CampaignNote> {
    let (mut vectors, mut outcomes, mut kernels) = (0, 0, BTreeSet::new());
    let (mut pairs, mut pair_kernels) = (PairCounts::default(), BTreeSet::new());
    for kernel in stored.kernels {
        let (source_bits, object_bits) =
            (shown_directed(&kernel.records), shown_directed(&kernel.objects.records));
        (vectors, outcomes) = (vectors + source_bits, outcomes + object_bits);
        if source_bits + object_bits > 0 {
            kernels.insert(kernel.kernel.to_string());
        }
        let kernel_pairs = directed_pairs(&kernel.records);
        kernel_pairs.iter().for_each(|pair| pairs.count(pair));
        if !kernel_pairs.is_empty() {
            pair_kernels.insert(kernel.kernel.to_string());
        }
    }
    let mut sentences = Vec::new();
    if !kernels.is_empty() {
        sentences.push(format!(
            "Shown in directed schedules alone, in which who waits goes first: vectors and marks {vectors}, outcomes of \
             object code {outcomes} ({}).",
            listed_names(&Vec::from_iter(kernels))
        ));
    }
    if !pair_kernels.is_empty() {
        sentences.push(format!(
            "Shown in directed schedules alone, in which invocations run one by one: {} ({}).",
            pairs.in_words(),
            listed_names(&Vec::from_iter(pair_kernels))
        ));
    }
    let sentence = sentences.join(" ");
    (!sentence.is_empty()).then_some(CampaignNote { kind: NoteKind::DirectedSchedules, sentence })
}

/// Pairs of directed schedules by what brings them.
#[derive(Default)]
struct PairCounts {
    by_atomics: usize,
    others: usize,
}

impl PairCounts {
    fn count(&mut self, pair: &AccessPair) {
        match pair.passage {
            Passage::Atomic { .. } | Passage::Unordered { .. } => self.by_atomics += 1,
            Passage::Host | Passage::Dispatch { .. } | Passage::Barrier { .. } => self.others += 1,
        }
    }

    fn in_words(&self) -> String {
        let by_atomics = format!("pairs of atomics {}", self.by_atomics);
        let others = format!("pairs across barriers and from the host {}", self.others);
        match (self.by_atomics, self.others) {
            (_, 0) => by_atomics,
            (0, _) => others,
            (_, _) => format!("{by_atomics}, {others}"),
        }
    }
}

/// Pairs that count and that directed schedules alone have shown.
fn directed_pairs(test_rows: &[TestRecords]) -> BTreeSet<AccessPair> {
    let counted_records = || test_rows.iter().filter(|row| row.counted).map(|row| &row.records);
    let directed: BTreeSet<AccessPair> = counted_records()
        .flat_map(|records| records.directed_pairs.values().flatten())
        .copied()
        .collect();
    let ordinary: BTreeSet<AccessPair> = counted_records()
        .filter_map(|records| match &records.of_ordinary_schedule().pairs {
            Some(ShownPairs::Shown(pairs)) => Some(pairs.clone()),
            Some(ShownPairs::NotFollowed(_)) | None => None,
        })
        .flatten()
        .collect();
    directed.difference(&ordinary).copied().collect()
}

/// Bits that count and that directed schedules alone have shown.
fn shown_directed(test_rows: &[TestRecords]) -> usize {
    let counted_records = || test_rows.iter().filter(|row| row.counted).map(|row| &row.records);
    let directed_bits: BTreeSet<u32> =
        counted_records().flat_map(|records| records.directed.keys().copied()).collect();
    let is_shown_in_order = |bit: &u32| {
        counted_records().any(|records| records.has(*bit) && !records.directed.contains_key(bit))
    };
    directed_bits.iter().filter(|bit| !is_shown_in_order(bit)).count()
}

/// What undefined values alone cover is undetermined; how much that is.
fn covered_through_undefined(stored: &StoredCampaign) -> Option<CampaignNote> {
    let asked_criteria = stored.asked_criteria();
    let (mut obligation_count, mut unit_names) = (0, Vec::new());
    for kernel_row in stored.kernels {
        match coverage::covered_through_undefined(&kernel_row.coverage, &asked_criteria) {
            0 => {}
            count => {
                let unit_label = kernel_label(stored.kernels, kernel_row);
                obligation_count += count;
                unit_names.push(format!("{unit_label} on {}: {count}", kernel_row.engine));
            }
        }
    }
    let sentence = format!(
        "Covered only through what may follow an undefined value, and therefore not counted as covered (undetermined): \
         obligations {obligation_count} ({}).",
        listed_names(&unit_names)
    );
    (!unit_names.is_empty()).then_some(CampaignNote { kind: NoteKind::UndefinedValues, sentence })
}

/// Passes that the engine's choice of an undefined value gives.
fn undefined_passes(stored: &StoredCampaign) -> Option<CampaignNote> {
    let rests_on_undefined =
        |test: &&TestEvidence| test.results.iter().any(|result| result.rests_on_undefined);
    let test_names: Vec<String> = stored
        .campaign
        .tests
        .iter()
        .filter(rests_on_undefined)
        .map(|test| test.id.as_str().to_owned())
        .collect();
    let sentence = format!(
        "Tests that pass by an undefined value, and with others do not, or do not complete: {} ({}). What they verify rests on the \
         acceptance of that value.",
        test_names.len(),
        listed_names(&test_names)
    );
    (!test_names.is_empty()).then_some(CampaignNote { kind: NoteKind::UndefinedValues, sentence })
}

/// Outputs of a kernel by the binding that it declares them at; none: what device addresses name.
pub(super) type Outputs<'a> = BTreeMap<(&'a KernelName, Option<&'a StorePlace>), bool>;

/// One judged output is enough for a kernel to be covered.
fn outputs_not_judged(outputs: &Outputs) -> Option<CampaignNote> {
    let mut places_by_kernel: Vec<(&KernelName, Vec<String>)> = Vec::new();
    for ((kernel, place_words), _) in outputs.iter().filter(|(_, is_judged)| !**is_judged) {
        let place_words =
            place_words.map_or("what device addresses name".to_owned(), ToString::to_string);
        match places_by_kernel.last_mut() {
            Some((last_kernel, places)) if last_kernel == kernel => places.push(place_words),
            Some(_) | None => places_by_kernel.push((kernel, vec![place_words])),
        }
    }
    let kernel_words: Vec<String> = places_by_kernel
        .iter()
        .map(|(kernel, places)| format!("{kernel} ({})", listed_names(places)))
        .collect();
    let sentence = format!(
        "Stored, and judged by no test, directly or through what later dispatches make of it: {}. One judged output is \
         enough for a kernel to be covered.",
        listed_names(&kernel_words)
    );
    (!kernel_words.is_empty())
        .then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
}

/// One dispatch whose altered stores fail the test is enough for all dispatches of a kernel in it.
fn alterations_not_noticed(stored: &StoredCampaign) -> Option<CampaignNote> {
    let mut dispatch_words = Vec::new();
    for test in &stored.campaign.tests {
        for altered_row in derive::altered_stores(test)
            .into_iter()
            .flatten()
            .filter(|altered_row| !altered_row.unnoticed.is_empty())
        {
            let (unnoticed_count, dispatch_count) =
                (altered_row.unnoticed.len(), altered_row.dispatches.len());
            dispatch_words.push(format!(
                "test {}: {unnoticed_count} of {dispatch_count} of {}",
                test.id, altered_row.kernel
            ));
        }
    }
    let sentence = format!(
        "Dispatches that count by another one of the same kernel: none of the tried alterations of what they stored fails their test ({}).",
        listed_names(&dispatch_words)
    );
    (!dispatch_words.is_empty())
        .then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
}

/// Whether some test judges it, by the kernels' code.
fn outputs_by_binding<'a>(stored: &StoredCampaign<'a>) -> Outputs<'a> {
    let codes = derive::kernel_codes(stored.kernels);
    let tests = &stored.campaign.tests;
    let observe = |test| derive::test_observation(stored.campaign.schema, test, &codes);
    let observations: Vec<TestObservation> = tests.par_iter().map(observe).collect();
    let mut judged_outputs = Outputs::new();
    for (test, observation) in tests.iter().zip(&observations) {
        for (dispatch_number, flow) in test.flows.iter().enumerate() {
            for (store_index, store) in flow.stores.iter().enumerate() {
                *judged_outputs.entry((&flow.kernel, store.place.as_ref())).or_default() |=
                    observation.judges_output(dispatch_number, store_index);
            }
        }
    }
    judged_outputs
}
