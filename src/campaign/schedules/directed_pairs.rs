//! Pairs of atomics in other orders of the invocations: which atomic reads what another one wrote
//! depends on who comes first, and the ordinary schedule shows one order.
//!
//! Knows: the atomic obligations whose places a passed test executed and that it has not shown.
//! Promises: only pairs of those are added, of runs that count as directed runs do; each is kept
//! with its schedule. Nothing runs where nothing is open.
//! Does not cover: pairs across barriers and with the host, though some depend on the order as well.

use super::super::left_open::LeftOpen;
use super::super::raced_pairs::drop_raced_pairs;
use super::super::test_run::{TestEngine, TestRun};
use super::directed::{DirectedJob, Standing};
use crate::CampaignError;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::Job;
use vkcert_exec::access_pairs::{AccessPairs, ModulePairs, PairTracking};
use vkcert_model::access_pair::{AccessPair, Passage};
use vkcert_model::id::ModuleKey;
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs, PairObligation};
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Schedule};
use vkcert_model::verdict::{EngineName, Verdict};

/// A use and a store, by source index.
type UseAndStore = (u32, u32);

/// Obligations of atomics that a test could have shown, by module; each by what shows it.
#[derive(Debug, Default)]
pub struct OpenAtomics(BTreeMap<ModuleKey, Vec<BTreeSet<UseAndStore>>>);

impl OpenAtomics {
    /// Adds the obligations of a module that the run has executed both places of.
    pub fn add_module(
        &mut self,
        module_key: ModuleKey,
        kernel_pairs: &KernelPairs,
        module_pairs: &ModulePairs,
    ) {
        let shown: BTreeSet<UseAndStore> =
            module_pairs.pairs.iter().filter_map(use_and_store).collect();
        let is_executed = |(use_index, store): &UseAndStore| {
            module_pairs.has_executed(*use_index) && module_pairs.has_executed(*store)
        };
        let open: Vec<BTreeSet<UseAndStore>> = kernel_pairs
            .obligations
            .iter()
            .filter(|obligation| obligation.class == CouplingClass::Atomic)
            .map(places_of)
            .filter(|places| places.is_disjoint(&shown) && places.iter().any(is_executed))
            .collect();
        if !open.is_empty() {
            self.0.insert(module_key, open);
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pairs of a run that show an open obligation of a module.
    fn showing<'p>(
        &self,
        module_key: &ModuleKey,
        module_pairs: &'p ModulePairs,
    ) -> impl Iterator<Item = AccessPair> + 'p {
        let wanted: BTreeSet<UseAndStore> =
            self.0.get(module_key).into_iter().flatten().flatten().copied().collect();
        let is_wanted = move |pair: &&AccessPair| {
            use_and_store(pair).is_some_and(|places| wanted.contains(&places))
        };
        module_pairs.pairs.iter().filter(is_wanted).copied()
    }

    fn remove_shown(&mut self, module_key: &ModuleKey, module_pairs: &ModulePairs) {
        let shown: BTreeSet<UseAndStore> =
            module_pairs.pairs.iter().filter_map(use_and_store).collect();
        let Some(open) = self.0.get_mut(module_key) else { return };
        open.retain(|places| places.is_disjoint(&shown));
        if open.is_empty() {
            self.0.remove(module_key);
        }
    }
}

fn places_of(obligation: &PairObligation) -> BTreeSet<UseAndStore> {
    obligation.pairs.iter().filter_map(use_and_store).collect()
}

/// None of a pair that the order of invocations does not change.
fn use_and_store(pair: &AccessPair) -> Option<UseAndStore> {
    match pair.passage {
        Passage::Atomic { store } | Passage::Unordered { store } => Some((pair.use_index, store)),
        Passage::Host | Passage::Dispatch { .. } | Passage::Barrier { .. } => None,
    }
}

/// Runs the production modules of a passed test with its invocations one by one, where atomics can
/// show more.
pub fn show_atomics(
    left_open: &LeftOpen<'_>,
    production_job: &Job,
    mut open_atomics: OpenAtomics,
    test_engine: &mut TestEngine<'_>,
    test_run: &mut TestRun,
) -> Result<(), CampaignError> {
    let may_direct = test_engine.name() == EngineName::Sequential
        && test_run.verdict == Verdict::Pass
        && left_open.prepared_test.replay.is_none();
    if !may_direct {
        return Ok(());
    }
    let directed_job = DirectedJob::new(left_open, production_job.clone());
    for schedule in Schedule::ONE_BY_ONE {
        if open_atomics.is_empty() {
            return Ok(());
        }
        let mut outcome = test_engine.execute_following(
            &directed_job.job,
            Some(schedule.into()),
            PairTracking::On,
        )?;
        let mut result =
            DirectedResult { schedule, of: MeasuredCode::Accesses, shown: 0, reason: None };
        match directed_job.standing(&outcome.run, schedule, test_run)? {
            Standing::Counts(notes) => {
                let access_pairs = &mut outcome.counts.access_pairs;
                drop_raced_pairs(left_open, &test_run.findings, access_pairs);
                result.shown = add_pairs(
                    &directed_job.job,
                    access_pairs,
                    &mut open_atomics,
                    result.schedule,
                    test_run,
                );
                test_run.leave_open(if result.shown > 0 { notes } else { Vec::new() });
            }
            Standing::CountsNot(reason, finding) => {
                result.reason = Some(reason);
                test_run.findings.extend(finding.map(|finding| *finding));
            }
        }
        test_run.directed.push(result);
    }
    Ok(())
}

/// Adds what a directed run has shown of what was open; how many pairs these are.
fn add_pairs(
    job: &Job,
    access_pairs: &AccessPairs,
    open_atomics: &mut OpenAtomics,
    schedule: Schedule,
    test_run: &mut TestRun,
) -> u32 {
    let AccessPairs::Tracked(by_module) = access_pairs else { return 0 };
    let mut shown = 0;
    for (module, row) in job.modules.iter().zip(&mut test_run.records) {
        let (Some(module_pairs), Ok(records)) = (by_module.get(&module.key), &mut row.records)
        else {
            continue;
        };
        let new_pairs = open_atomics.showing(&module.key, module_pairs);
        shown += records.add_directed_pairs(new_pairs, schedule);
        open_atomics.remove_shown(&module.key, module_pairs);
    }
    shown
}
