//! Pairs in other orders of the invocations: which atomic reads what another one wrote depends on
//! who comes first, and with it what passes across barriers and from the host; the ordinary schedule
//! shows one order.
//!
//! Knows: the obligations whose places a passed test executed and that it has not shown; of kernels
//! with pairs of atomics alone, since without atomics no order changes what passes.
//! Promises: only pairs of those are added, of runs that count as directed runs do; each is kept
//! with its schedule. Nothing runs where nothing is open.
//! Does not cover: what earlier dispatches leave, though it may depend on their order; values of the
//! host where no other invocation wrote what the use read.

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
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs, ShownBy};
use vkcert_model::schedule::{DirectedResult, MeasuredCode, Schedule};
use vkcert_model::verdict::{EngineName, Verdict};

/// What shows an obligation that depends on who comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SoughtPair {
    /// This use reads what this store wrote without a barrier between; by source index.
    ByAtomics { use_index: u32, store: u32 },
    /// Exactly this pair, across a barrier or from the host.
    Exactly(AccessPair),
}

impl SoughtPair {
    /// None of what an earlier dispatch left.
    fn shown_by(pair: &AccessPair) -> Option<Self> {
        match pair.passage {
            Passage::Atomic { store } | Passage::Unordered { store } => {
                Some(Self::ByAtomics { use_index: pair.use_index, store })
            }
            Passage::Host | Passage::Barrier { .. } => Some(Self::Exactly(*pair)),
            Passage::Dispatch { .. } => None,
        }
    }
}

/// Obligations that a test could have shown, by module; each by what shows it.
#[derive(Debug, Default)]
pub struct OpenPairs(BTreeMap<ModuleKey, Vec<BTreeSet<SoughtPair>>>);

impl OpenPairs {
    /// Adds the obligations of a module that the run has executed both places of.
    pub fn add_module(
        &mut self,
        module_key: ModuleKey,
        kernel_pairs: &KernelPairs,
        module_pairs: &ModulePairs,
    ) {
        let mut obligations = kernel_pairs.obligations.iter();
        if !obligations.any(|obligation| obligation.class == CouplingClass::Atomic) {
            return;
        }
        let shown = sought_pairs(&module_pairs.pairs);
        let open: Vec<BTreeSet<SoughtPair>> = kernel_pairs
            .obligations
            .iter()
            .filter(|obligation| obligation.shown_by == ShownBy::Read)
            .map(|obligation| (sought_pairs(&obligation.pairs), obligation))
            .filter(|(sought, obligation)| {
                let mut pairs = obligation.pairs.iter();
                sought.is_disjoint(&shown)
                    && pairs.any(|pair| may_come_in_another_order(pair, module_pairs))
            })
            .map(|(sought, _)| sought)
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
        let wanted: BTreeSet<SoughtPair> =
            self.0.get(module_key).into_iter().flatten().flatten().copied().collect();
        let is_wanted = move |pair: &&AccessPair| {
            SoughtPair::shown_by(pair).is_some_and(|sought| wanted.contains(&sought))
        };
        module_pairs.pairs.iter().filter(is_wanted).copied()
    }

    fn remove_shown(&mut self, module_key: &ModuleKey, module_pairs: &ModulePairs) {
        let shown = sought_pairs(&module_pairs.pairs);
        let Some(open) = self.0.get_mut(module_key) else { return };
        open.retain(|sought| sought.is_disjoint(&shown));
        if open.is_empty() {
            self.0.remove(module_key);
        }
    }
}

fn sought_pairs<'p>(pairs: impl IntoIterator<Item = &'p AccessPair>) -> BTreeSet<SoughtPair> {
    pairs.into_iter().filter_map(SoughtPair::shown_by).collect()
}

/// Whether a run that did not show a pair may do so in another order: it executed both places, and
/// what the host gave was read where another invocation had written.
fn may_come_in_another_order(pair: &AccessPair, module_pairs: &ModulePairs) -> bool {
    let has_executed = |index: u32| module_pairs.has_executed(index);
    match pair.passage {
        Passage::Atomic { store }
        | Passage::Unordered { store }
        | Passage::Barrier { store, .. } => has_executed(pair.use_index) && has_executed(store),
        Passage::Host => module_pairs.pairs.iter().any(|shown| {
            let is_of_another_invocation =
                matches!(shown.passage, Passage::Atomic { .. } | Passage::Unordered { .. });
            is_of_another_invocation && shown.use_index == pair.use_index
        }),
        Passage::Dispatch { .. } => false,
    }
}

/// Runs the production modules of a passed test with its invocations one by one, where another
/// order can show more.
pub fn show_open_pairs(
    left_open: &LeftOpen<'_>,
    production_job: &Job,
    mut open_pairs: OpenPairs,
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
        if open_pairs.is_empty() {
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
                    &mut open_pairs,
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
    open_pairs: &mut OpenPairs,
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
        let new_pairs = open_pairs.showing(&module.key, module_pairs);
        shown += records.add_directed_pairs(new_pairs, schedule);
        open_pairs.remove_shown(&module.key, module_pairs);
    }
    shown
}
