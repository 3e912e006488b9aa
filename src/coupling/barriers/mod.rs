//! Barriers: whether the invocations of a workgroup reach each one alike, and whether each value
//! that one of them writes and another one reads is ordered by a barrier.
//!
//! Knows: the uniformity of control flow, the order of accesses on all ways
//! (`vkcert_spirv::pairs`), runs that show a fault (`shown`).
//! Promises: `holds` only by proof, whatever the host hands over; `refuted` only with parameter
//! values for which a run on the sequential engine shows the fault, and only where no contents of
//! memory decide it; all else is `undetermined` with its reason. Every pair of accesses that may
//! conflict is counted in one row.
//! Does not cover: one buffer under two bindings; invocations of different workgroups, which no
//! barrier orders; writes that meet writes, but where nothing at all orders them.

mod host_values;
mod order;
mod shown;
#[cfg(test)]
mod tests;

use super::expressions::HostExpressions;
use super::rows::{CheckRows, values_in_words};
use super::{Barrier, BarrierControl, CouplingInput};
use order::AccessOrders;
use shown::{ShownFault, ShownFaults, SoughtFaults};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::decide::HostModel;

/// Adds the rows of all barriers and of all accesses that they are to order.
pub(super) fn check_barriers(
    rows: &mut CheckRows,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) {
    rows.end_subject();
    let orders = AccessOrders::of_kernel(input, host, expressions);
    let (orders, reason) = match orders {
        Ok(orders) => (orders, None),
        Err(reason) => (AccessOrders::unknown(input), Some(reason)),
    };
    let sought = SoughtFaults {
        barriers: input.barriers.iter().filter_map(sought_barrier).collect(),
        races: orders.sought_races(),
        racing: orders.open_specializations.clone(),
    };
    let is_open = !sought.barriers.is_empty() || !sought.races.is_empty();
    let shown = match is_open {
        true => shown::shown_faults(input, host, expressions, &sought),
        false => ShownFaults::default(),
    };
    add_uniformity_rows(rows, &orders, &shown);
    match reason {
        None => orders.add_rows(rows, &shown),
        Some(reason) => {
            let message = format!("not decided which accesses barriers must order: {reason}");
            rows.add_undetermined(CouplingCheckName::BarrierOrder, message);
        }
    }
}

/// Where a barrier stands in the module that is not shown to be reached alike.
fn sought_barrier(barrier: &Barrier) -> Option<u32> {
    match barrier.control {
        BarrierControl::Uniform => None,
        BarrierControl::Divergent { .. } | BarrierControl::Unknown { .. } => {
            barrier.place.instruction
        }
    }
}

fn add_uniformity_rows(rows: &mut CheckRows, orders: &AccessOrders<'_>, shown: &ShownFaults) {
    const CHECK: CouplingCheckName = CouplingCheckName::UniformBarrier;
    let barriers = orders.input.barriers;
    if barriers.is_empty() {
        rows.add_holding(CHECK, "the kernel has no barrier");
    }
    for (index, barrier) in barriers.iter().enumerate() {
        rows.begin_subject(format!("barrier {}", index + 1));
        let place = &barrier.place;
        let words = barrier_in_words(barriers, index);
        let fault = place.instruction.and_then(|word| shown.divergences.get(&word));
        match (&barrier.control, fault) {
            (BarrierControl::Uniform, _) => {
                let note = orders.idle_note(place.instruction);
                rows.add_holding(
                    CHECK,
                    format!("{words} is reached by all invocations of a workgroup alike{note}"),
                );
            }
            (BarrierControl::Divergent { branch, reason }, Some(fault))
                if !fault.contents.decide_barriers() =>
            {
                let message = format!(
                    "{words} stands under the branch at {branch}, which invocations of one workgroup can take differently: {reason}; {}",
                    fault_in_words(fault)
                );
                let values = Some(fault.parameters.clone());
                let places = (Some(place.clone()), Some(branch.clone()));
                rows.add_refuted_at(CHECK, message, values, places.0, places.1);
            }
            (BarrierControl::Divergent { branch, reason }, fault) => {
                let message = format!(
                    "{words} stands under the branch at {branch}, which invocations of one workgroup may take differently: {reason}; {}",
                    open_in_words(shown, fault)
                );
                rows.add_undetermined(CHECK, message);
            }
            (BarrierControl::Unknown { reason }, _) => {
                rows.add_undetermined(CHECK, format!("{words}: {reason}"));
            }
        }
    }
    rows.end_subject();
}

/// `the barrier at a.comp:9`, and which one it is where several stand on that line.
fn barrier_in_words(barriers: &[Barrier], index: usize) -> String {
    let place = barriers[index].place.to_string();
    let is_beside = |barrier: &&Barrier| barrier.place.to_string() == place;
    match barriers.iter().filter(is_beside).count() {
        1 => format!("the barrier at {place}"),
        count => {
            let number = 1 + barriers[..index].iter().filter(is_beside).count();
            format!("the barrier at {place} ({number} of {count} there)")
        }
    }
}

/// `for n = 3, specialization constant 2 = 9, a run shows it with invocations ...: MESSAGE`
fn fault_in_words(fault: &ShownFault) -> String {
    format!(
        "{}{} a run shows it with {}: {}",
        values_in_words(&fault.parameters),
        fault.constant_words,
        fault.invocation_words,
        fault.finding.message
    )
}

/// Why what may be wrong is not refuted.
fn open_in_words(shown: &ShownFaults, fault: Option<&ShownFault>) -> String {
    match fault {
        Some(fault) => format!(
            "{}, with buffers that hold zeros; which contents the host writes is not known",
            fault_in_words(fault)
        ),
        None if shown.run_count == 0 => "nothing was run to show it".to_owned(),
        None => "no run of the kernel with parameters at their bounds shows it".to_owned(),
    }
}
