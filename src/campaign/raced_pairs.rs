//! Which pairs of accesses that a run shows are data races.
//!
//! Knows: the pairs of the run that nothing orders which the engine follows, and the data races that
//! it found.
//! Promises: such a pair is left only where neither of its instructions races in the module, whether
//! the race is accepted or not: what a race shows is no coupling that was meant. None is left where
//! races were not looked for.
//! Does not cover: races that other runs alone show.

use super::kernel::Kernel;
use super::left_open::LeftOpen;
use std::collections::BTreeSet;
use vkcert_exec::access_pairs::AccessPairs;
use vkcert_model::access_pair::Passage;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::ModuleKey;

/// Takes the pairs that are data races out of what a run has shown.
pub(crate) fn drop_raced_pairs(
    left_open: &LeftOpen<'_>,
    findings: &[Finding],
    access_pairs: &mut AccessPairs,
) {
    let (prepared_test, job_plan) = (left_open.prepared_test, left_open.job_plan);
    let AccessPairs::Tracked(by_module) = access_pairs else { return };
    let were_sought = job_plan.job.checks.has(FindingKind::DataRace);
    for (module, kernel) in job_plan.job.modules.iter().zip(&prepared_test.kernels) {
        let racing_words = racing_words(findings, &module.key);
        let Some(module_pairs) = by_module.get_mut(&module.key) else { continue };
        module_pairs.pairs.retain(|pair| match pair.passage {
            Passage::Unordered { store } => {
                let sides = [pair.use_index, store];
                were_sought && !sides.iter().any(|index| is_among(kernel, *index, &racing_words))
            }
            Passage::Host
            | Passage::Dispatch { .. }
            | Passage::Barrier { .. }
            | Passage::Atomic { .. } => true,
        });
    }
}

/// Word offsets of the instructions of a module that are part of a data race.
fn racing_words(findings: &[Finding], module_key: &ModuleKey) -> BTreeSet<u32> {
    let races = findings.iter().filter(|finding| {
        let is_of_module = finding.module.is_none_or(|module| module == *module_key);
        finding.kind == FindingKind::DataRace && is_of_module
    });
    let places = races.flat_map(|race| race.place.iter().chain(&race.other_place));
    places.filter_map(|place| place.instruction).collect()
}

fn is_among(kernel: &Kernel, source_index: u32, words: &BTreeSet<u32>) -> bool {
    let instruction = kernel.module.instructions.get(source_index as usize);
    instruction.is_some_and(|instruction| words.contains(&instruction.offset))
}
