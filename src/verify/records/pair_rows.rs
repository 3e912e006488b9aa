//! Whether the pairs of accesses that a test showed can be so.
//!
//! Knows: the obligations of the kernel, the dispatches of the test, what the test tells of directed
//! schedules and what its records say was executed.
//! Promises: a pair is of an obligation, or the kernel says where it stands. What an earlier dispatch
//! left comes from one that the test has. No side is a statement that the records of the test say no
//! invocation executed, where they can be compared (`CompiledAsWritten`).
//! Does not cover: which obligations there are (`pairs`); whether the instructions exist, which
//! modules tell (`campaign::verification`).

use super::KernelRecords;
use crate::Verification;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::coupling::{indices_of_pairs, pairs_outside};
use vkcert_derivation::agreement::tells_of_undefined;
use vkcert_derivation::derive;
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::evidence::{Evidence, KernelEvidence, TestEvidence, TestRecords};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::{KernelName, StatementId};
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs};
use vkcert_model::procedure::Dispatch;
use vkcert_model::project::{Contraction, Optimization};
use vkcert_model::schedule::MeasuredCode;
use vkcert_model::verdict::EngineName;

impl KernelRecords<'_> {
    /// Pairs of accesses are there where they are asked for, each of an obligation or with its place.
    pub(super) fn check_pairs(&self, row: &TestRecords, verification: &mut Verification) {
        let pairs = row.records.pairs.as_ref();
        let are_asked_for =
            self.kernel.engine == EngineName::Sequential && self.kernel.pairs.is_some();
        let must_be_there = are_asked_for && row.counted;
        verification.check(if pairs.is_some() { are_asked_for } else { !must_be_there }, || {
            self.problem_sentence(row, "whether pairs of accesses were followed")
        });
        let Some(kernel_pairs) = &self.kernel.pairs else { return };
        let outside = pairs_outside(kernel_pairs, [&row.records]);
        verification.check(outside.is_subset(&kernel_pairs.pairs_outside), || {
            self.problem_sentence(row, "a pair of accesses that the kernel does not have")
        });
        let Some(test) = self.tests.first(row.test) else { return };
        let mut shown = shown_pairs(row);
        verification.check(shown.all(|pair| self.can_come_from_dispatch(pair, test)), || {
            self.problem_sentence(row, "a pair of an earlier dispatch that its test does not have")
        });
        let unexecuted = self.shown_without_execution(kernel_pairs, row, test);
        verification.check(unexecuted.is_none(), || {
            let (pair, statement) = unexecuted.unwrap_or_default();
            let reason = format!("{pair} is shown, and no invocation executed {statement}");
            self.problem_sentence(row, &reason)
        });
    }

    /// Every obligation is of the class of the ways that show it.
    pub(super) fn check_pair_classes(&self, verification: &mut Verification) {
        let obligations = self.kernel.pairs.iter().flat_map(|pairs| &pairs.obligations);
        for obligation in obligations {
            let mut pairs = obligation.pairs.iter();
            let is_of_class = !obligation.pairs.is_empty()
                && pairs.all(|pair| CouplingClass::of_passage(pair.passage) == obligation.class);
            verification.check(is_of_class, || {
                let KernelEvidence { kernel, engine, .. } = self.kernel;
                format!("{kernel} on {engine}: the class of {}", obligation.id)
            });
        }
    }

    /// Justifications are bound to the earlier kernels as they are.
    pub(super) fn check_earlier_kernels(&self, verification: &mut Verification) {
        let Some(kernel_pairs) = &self.kernel.pairs else { return };
        let definitions = kernel_pairs.obligations.iter().filter_map(|row| row.definition.as_ref());
        let writers: BTreeSet<KernelName> = definitions.filter_map(|place| place.kernel).collect();
        // Older evidence has none of them.
        let are_told = kernel_pairs.earlier_kernels.is_empty()
            || writers.iter().eq(kernel_pairs.earlier_kernels.keys());
        let are_current = are_told
            && kernel_pairs
                .earlier_kernels
                .iter()
                .all(|(kernel, hash)| self.kernel_hashes.get(kernel) == Some(hash));
        verification.check(are_current, || {
            let KernelEvidence { kernel, engine, .. } = self.kernel;
            format!("{kernel} on {engine}: the code and configurations of earlier kernels")
        });
    }

    /// Whether a dispatch of the test could leave what a later one of this kernel read.
    fn can_come_from_dispatch(&self, pair: &AccessPair, test: &TestEvidence) -> bool {
        let Passage::Dispatch { kernel, specialization, .. } = pair.passage else { return true };
        let dispatches = &test.definition.dispatches;
        let is_own = |dispatch: &Dispatch| {
            dispatch.kernel == self.kernel.kernel
                && derive::leads_to_configuration(
                    &self.kernel.configuration,
                    &dispatch.specialization,
                )
        };
        let Some(last_own) = dispatches.iter().rposition(is_own) else { return false };
        dispatches[..last_own].iter().any(|dispatch| {
            dispatch.kernel == kernel
                && configuration_number(self.stored, self.kernel.engine, dispatch) == specialization
        })
    }

    /// A pair whose use or store stands in a statement that no invocation executed, by the records
    /// of its test, in words: the obligation and the statement.
    fn shown_without_execution(
        &self,
        kernel_pairs: &KernelPairs,
        row: &TestRecords,
        test: &TestEvidence,
    ) -> Option<(String, String)> {
        if tells_of_undefined(test) || depends_on_order(kernel_pairs, test) {
            return None;
        }
        let shown: BTreeSet<&AccessPair> =
            shown_pairs(row).filter(|pair| !is_directed(row, pair)).collect();
        let own_unexecuted = self.unexecuted_statements(row);
        let mut of_earlier: BTreeMap<(KernelName, u32), BTreeSet<StatementId>> = BTreeMap::new();
        for obligation in &kernel_pairs.obligations {
            let written = obligation.definition.as_ref().and_then(|place| place.statement);
            for pair in obligation.pairs.iter().filter(|pair| shown.contains(pair)) {
                let unexecuted = match pair.passage {
                    Passage::Dispatch { kernel, specialization, .. } => {
                        of_earlier.entry((kernel, specialization)).or_insert_with(|| {
                            self.unexecuted_of_earlier(row, (kernel, specialization))
                        })
                    }
                    Passage::Host
                    | Passage::Barrier { .. }
                    | Passage::Atomic { .. }
                    | Passage::Unordered { .. } => &own_unexecuted,
                };
                let used = obligation.use_place.statement;
                let of_use = used.filter(|statement| own_unexecuted.contains(statement));
                let of_store = written.filter(|statement| unexecuted.contains(statement));
                if let Some(statement) = of_use.or(of_store) {
                    return Some((obligation.id.to_string(), statement.to_string()));
                }
            }
        }
        None
    }

    /// None of a kernel whose production module does not do what the source says where it says it.
    fn unexecuted_statements(&self, row: &TestRecords) -> BTreeSet<StatementId> {
        match CompiledAsWritten::of_kernel(self.stored, self.kernel.kernel) {
            CompiledAsWritten::Yes => derive::unexecuted_statements(self.kernel, &row.records),
            CompiledAsWritten::NotKnown => BTreeSet::new(),
        }
    }

    /// The same of the kernel of an earlier dispatch, by the number of its configuration.
    fn unexecuted_of_earlier(
        &self,
        row: &TestRecords,
        (kernel, specialization): (KernelName, u32),
    ) -> BTreeSet<StatementId> {
        let place = (specialization as usize).checked_sub(1);
        let mut configurations = configurations_of(self.stored, self.kernel.engine, kernel);
        let earlier = place.and_then(|place| configurations.nth(place));
        let records = earlier.and_then(|earlier| {
            earlier
                .records
                .iter()
                .find(|other| other.test == row.test)
                .map(|other| (earlier, other))
        });
        let Some((earlier, other_row)) = records else { return BTreeSet::new() };
        match CompiledAsWritten::of_kernel(self.stored, kernel) {
            CompiledAsWritten::Yes => derive::unexecuted_statements(earlier, &other_row.records),
            CompiledAsWritten::NotKnown => BTreeSet::new(),
        }
    }

    /// Pairs outside the obligations are those that records show, each with its places.
    pub(super) fn check_pairs_outside(&self, verification: &mut Verification) {
        let Some(kernel_pairs) = &self.kernel.pairs else { return };
        let records = self.kernel.records.iter().map(|row| &row.records);
        let outside = pairs_outside(kernel_pairs, records);
        let placed_indices: BTreeSet<u32> = kernel_pairs.places_outside.keys().copied().collect();
        let are_shown =
            kernel_pairs.pairs_outside == outside && placed_indices == indices_of_pairs(&outside);
        verification.check(are_shown, || {
            let KernelEvidence { kernel, engine, .. } = self.kernel;
            format!("{kernel} on {engine}: pairs of accesses outside the obligations")
        });
    }

    /// Pairs that directed schedules alone have shown are among those of the row, and its test says
    /// that they did.
    pub(super) fn check_directed_pairs(&self, row: &TestRecords, verification: &mut Verification) {
        let shown_pairs = match &row.records.pairs {
            Some(ShownPairs::Shown(pairs)) => Some(pairs),
            Some(ShownPairs::NotFollowed(_)) | None => None,
        };
        let are_right = row.records.directed_pairs.iter().all(|(schedule, directed_pairs)| {
            let is_told = self.told(row, MeasuredCode::Accesses).any(|directed_result| {
                directed_result.schedule == *schedule && directed_result.reason.is_none()
            });
            is_told && shown_pairs.is_some_and(|pairs| directed_pairs.is_subset(pairs))
        });
        verification.check(are_right, || {
            self.problem_sentence(
                row,
                "pairs that a directed schedule has shown, which its test does not tell",
            )
        });
    }
}

/// Whether the production module, whose accesses are followed, executes an instruction exactly
/// where the measured module executes its statement.
enum CompiledAsWritten {
    Yes,
    /// Optimisation moves accesses, or floats may be computed in other ways; or the settings are not
    /// stored.
    NotKnown,
}

impl CompiledAsWritten {
    fn of_kernel(stored: &Evidence, kernel: KernelName) -> Self {
        let Some(settings) = &stored.campaign.settings else { return Self::NotKnown };
        let mut of_kernel = settings.kernels.iter().filter(|row| row.name == kernel);
        let is_unoptimized = of_kernel.all(|row| row.optimization == Optimization::Zero);
        match settings.contraction {
            Contraction::Forbidden if is_unoptimized => Self::Yes,
            Contraction::Forbidden | Contraction::Allowed => Self::NotKnown,
        }
    }
}

fn shown_pairs(row: &TestRecords) -> impl Iterator<Item = &AccessPair> {
    let pairs = match &row.records.pairs {
        Some(ShownPairs::Shown(pairs)) => Some(pairs),
        Some(ShownPairs::NotFollowed(_)) | None => None,
    };
    pairs.into_iter().flatten()
}

/// Records are those of the ordinary schedule.
fn is_directed(row: &TestRecords, pair: &AccessPair) -> bool {
    row.records.directed_pairs.values().any(|pairs| pairs.contains(pair))
}

/// Whether what is executed may depend on who comes first, and so on the module that runs.
fn depends_on_order(kernel_pairs: &KernelPairs, test: &TestEvidence) -> bool {
    let has_atomics = kernel_pairs.obligations.iter().any(|row| row.class == CouplingClass::Atomic);
    let mut findings = test.results.iter().flat_map(|result| &result.findings);
    has_atomics || findings.any(|finding| finding.kind == FindingKind::DataRace)
}

/// The configurations of a kernel on an engine, in the order of their numbers in pairs.
fn configurations_of(
    stored: &Evidence,
    engine: EngineName,
    kernel: KernelName,
) -> impl Iterator<Item = &KernelEvidence> {
    stored.kernels.iter().filter(move |row| row.kernel == kernel && row.engine == engine)
}

/// As pairs number the configuration that a dispatch leads to, from 1; 0: none.
fn configuration_number(stored: &Evidence, engine: EngineName, dispatch: &Dispatch) -> u32 {
    let mut configurations = configurations_of(stored, engine, dispatch.kernel);
    let place = configurations.position(|row| {
        derive::leads_to_configuration(&row.configuration, &dispatch.specialization)
    });
    place.map_or(0, |place| place as u32 + 1)
}
