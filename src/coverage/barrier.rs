//! Barrier coverage: which barriers of a kernel the tests have had executed by all invocations of a
//! workgroup.
//!
//! Knows: the barriers of the kernel's marked module, and from the records how many workgroups
//! executed each whole.
//! Promises: every barrier that the entry point reaches is an obligation (`BAR1`, `BAR2` ... in
//! source order); where nothing tells who comes to a barrier, it is undetermined, with the reason.
//! Does not cover: each iteration of a loop, or each call of a function, by itself.

use vkcert_model::coverage::{KernelBarrier, SimpleObligation, Status};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::records::Records;

/// What tells who came to a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierRecords<'a> {
    /// Records of them are kept.
    Kept,
    /// Nothing does, for this reason.
    Missing(&'a str),
}

/// Why a device shows no barrier coverage.
pub const DEVICE_KEEPS_NO_BARRIER_RECORDS: &str =
    "a device does not tell which invocations of a workgroup come to a barrier";

/// Assesses the barriers of one kernel; `tests` are those that count, in order of execution.
pub fn assess_barriers(
    kernel_barriers: &[KernelBarrier],
    barrier_records: BarrierRecords,
    counted_tests: &[(TestId, &Records)],
) -> Vec<SimpleObligation> {
    let numbered_barriers = (1..).zip(kernel_barriers);
    numbered_barriers
        .map(|(barrier_number, barrier)| {
            barrier_obligation(barrier_number, barrier, barrier_records, counted_tests)
        })
        .collect()
}

/// `barrier_number` is the place among the kernel's barriers, from 1.
fn barrier_obligation(
    barrier_number: usize,
    barrier: &KernelBarrier,
    barrier_records: BarrierRecords,
    counted_tests: &[(TestId, &Records)],
) -> SimpleObligation {
    let executed_whole =
        |records: &Records| records.barriers.get(&barrier.number).is_some_and(|times| *times > 0);
    let executing_tests: Vec<TestId> = counted_tests
        .iter()
        .filter(|(_, records)| executed_whole(records))
        .map(|(test, _)| *test)
        .collect();
    let (status, reason, obligation_tests) = match barrier_records {
        BarrierRecords::Missing(reason) => {
            (Status::Undetermined, Some(reason.to_owned()), Vec::new())
        }
        BarrierRecords::Kept if executing_tests.is_empty() => {
            (Status::Uncovered, None, executing_tests)
        }
        BarrierRecords::Kept => (Status::Covered, None, executing_tests),
    };
    SimpleObligation {
        id: ObligationId::from(format!("BAR{barrier_number}")),
        file: barrier.file.clone(),
        line: barrier.line,
        column: barrier.column,
        text: format!("barrier in {}", barrier.function),
        status,
        reason,
        tests: obligation_tests,
        uncounted: Vec::new(),
        proposal: None,
        object: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barrier(number: u32) -> KernelBarrier {
        KernelBarrier {
            number,
            file: "k.comp".into(),
            line: 9 + number,
            column: 5,
            function: "main".into(),
        }
    }

    #[test]
    fn a_barrier_is_covered_by_the_tests_in_which_a_whole_workgroup_executed_it() {
        let shown = |number: u32, times: u64| Records {
            barriers: [(number, times)].into(),
            ..Records::default()
        };
        let (first, second, none) = (shown(0, 4), shown(3, 1), shown(3, 0));
        let tests = [("A".into(), &first), ("B".into(), &second), ("C".into(), &none)];
        let found =
            assess_barriers(&[barrier(0), barrier(1), barrier(3)], BarrierRecords::Kept, &tests);
        let rows: Vec<_> =
            found.iter().map(|row| (row.id.as_str(), row.status, row.tests.clone())).collect();
        assert_eq!(
            rows,
            [
                ("BAR1", Status::Covered, vec!["A".into()]),
                ("BAR2", Status::Uncovered, Vec::new()),
                ("BAR3", Status::Covered, vec!["B".into()])
            ]
        );
    }

    #[test]
    fn what_nobody_tells_is_undetermined() {
        let shown = Records { barriers: [(0, 4)].into(), ..Records::default() };
        let found = assess_barriers(
            &[barrier(0)],
            BarrierRecords::Missing(DEVICE_KEEPS_NO_BARRIER_RECORDS),
            &[("A".into(), &shown)],
        );
        assert_eq!(
            (found[0].status, found[0].reason.as_deref()),
            (Status::Undetermined, Some(DEVICE_KEEPS_NO_BARRIER_RECORDS))
        );
        assert!(found[0].tests.is_empty());
    }
}
