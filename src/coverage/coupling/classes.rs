//! Coverage of coupling by class and by what passes.
//!
//! Knows: the obligations of a kernel, what tests showed beside them, and the rows of both.
//! Promises: every row is in one class, and but for barriers and calls in one object of it.
//! Does not cover: pairs that cannot be told: what has no obligations has no classes.

use std::collections::BTreeMap;
use vkcert_model::coupling_summary::{CoupledObject, CouplingClassSummary, ObligationCounts};
use vkcert_model::coverage::KernelCoverage;
use vkcert_model::id::ObligationId;
use vkcert_model::pair_obligation::{CouplingClass, KernelPairs};

/// The id of the row of a pair outside the obligations, by its number among these.
pub(super) fn outside_id(number: usize) -> ObligationId {
    ObligationId::from(format!("PX{number}"))
}

/// Rows of a kernel's coverage of coupling by class, as they stand after justifications.
pub fn class_summaries(
    kernel_pairs: &KernelPairs,
    coverage: &KernelCoverage,
) -> Vec<CouplingClassSummary> {
    let mut subjects: BTreeMap<ObligationId, (CouplingClass, Option<&str>)> = BTreeMap::new();
    for obligation in &kernel_pairs.obligations {
        let id = ObligationId::from(obligation.id.to_string());
        subjects.insert(id, (obligation.class, Some(&obligation.object)));
    }
    for (number, pair) in (1..).zip(&kernel_pairs.pairs_outside) {
        subjects.insert(outside_id(number), (CouplingClass::of_passage(pair.passage), None));
    }
    let mut counts: BTreeMap<CouplingClass, BTreeMap<Option<&str>, ObligationCounts>> =
        BTreeMap::new();
    for row in coverage.coupling.iter().flatten() {
        if let Some((class, object)) = subjects.get(&row.id) {
            counts.entry(*class).or_default().entry(*object).or_default().count(row.status);
        }
    }
    let by_control = [
        (CouplingClass::Barrier, &coverage.barriers[..]),
        (CouplingClass::Call, coverage.calls.as_deref().unwrap_or_default()),
    ];
    for (class, rows) in by_control {
        for row in rows {
            counts.entry(class).or_default().entry(None).or_default().count(row.status);
        }
    }
    counts.into_iter().map(|(class, objects)| class_summary(class, objects)).collect()
}

fn class_summary(
    class: CouplingClass,
    counts_by_object: BTreeMap<Option<&str>, ObligationCounts>,
) -> CouplingClassSummary {
    let mut counts = ObligationCounts::default();
    counts_by_object.values().for_each(|of_object| counts.add(*of_object));
    let has_objects = match class {
        CouplingClass::HostToKernel
        | CouplingClass::KernelToKernel
        | CouplingClass::InvocationToInvocation
        | CouplingClass::Atomic => true,
        CouplingClass::Barrier | CouplingClass::Call => false,
    };
    let objects = counts_by_object
        .into_iter()
        .filter(|_| has_objects)
        .map(|(object, counts)| CoupledObject { object: object.map(str::to_owned), counts });
    CouplingClassSummary { class, counts, objects: objects.collect() }
}

/// The sums of several kernels by class, without objects: equal names there need be no equal things.
pub fn class_sums<'a>(
    summaries: impl IntoIterator<Item = &'a CouplingClassSummary>,
) -> Vec<CouplingClassSummary> {
    let mut sums: BTreeMap<CouplingClass, ObligationCounts> = BTreeMap::new();
    for summary in summaries {
        sums.entry(summary.class).or_default().add(summary.counts);
    }
    let rows = sums.into_iter();
    rows.map(|(class, counts)| CouplingClassSummary { class, counts, objects: Vec::new() })
        .collect()
}
