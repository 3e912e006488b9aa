//! Which barrier ended which interval of the workgroup that runs.
//!
//! Knows: an interval lies between two barriers that order one kind of memory; it is named by the
//! time at which it begins (`store::IntervalClock`). A workgroup that has yielded begins again at a
//! later time, in the interval in which it stopped.
//! Promises: the barrier of an interval is the first one that orders its kind of memory.
//! Does not cover: fences and barriers of subgroups, which end no interval.

use crate::ir::memory_semantics::MemoryKinds;

/// Intervals of one kind of memory.
#[derive(Debug, Default)]
struct KindIntervals {
    /// By time of its beginning, ascending: the source index of the barrier that ended it.
    ended: Vec<(u32, u32)>,
    /// Beginnings of the interval that lasts.
    lasting: Vec<u32>,
}

/// The intervals of one workgroup.
#[derive(Debug, Default)]
pub(crate) struct WorkgroupIntervals {
    by_kind: [KindIntervals; MemoryKinds::COUNT],
    /// The times at which it has run before it yielded.
    earlier_turns: Vec<(u32, u32)>,
    turn_start: u32,
}

impl WorkgroupIntervals {
    /// A workgroup begins, or goes on after it has yielded.
    pub(crate) fn begin_turn(&mut self, time: u32) {
        self.turn_start = time;
        self.by_kind.iter_mut().for_each(|intervals| intervals.lasting.push(time));
    }

    /// The workgroup yields to others, which begin at the time behind `last_time`.
    pub(crate) fn end_turn(&mut self, last_time: u32) {
        self.earlier_turns.push((self.turn_start, last_time));
    }

    /// Another workgroup follows; this keeps the memory.
    pub(crate) fn clear(&mut self) {
        for intervals in &mut self.by_kind {
            intervals.ended.clear();
            intervals.lasting.clear();
        }
        self.earlier_turns.clear();
    }

    /// A barrier orders these kinds of memory; what follows begins at `time`.
    pub(crate) fn end_intervals(&mut self, kinds: MemoryKinds, barrier: u32, time: u32) {
        for kind_number in kinds.kind_numbers() {
            let intervals = &mut self.by_kind[kind_number];
            intervals.ended.extend(intervals.lasting.drain(..).map(|start| (start, barrier)));
            intervals.lasting.push(time);
        }
    }

    /// Whether the workgroup ran at that time, which is not in the future.
    #[inline]
    pub(crate) fn has_run_at(&self, time: u32) -> bool {
        time >= self.turn_start
            || self.earlier_turns.iter().any(|(first, last)| (*first..=*last).contains(&time))
    }

    /// Whether it certainly ran at that time, without looking at turns before.
    #[inline]
    pub(crate) fn is_in_turn(&self, time: u32) -> bool {
        time >= self.turn_start
    }

    /// The barrier that ended the interval of a kind of memory that began at `time`; none while it
    /// lasts.
    pub(crate) fn barrier_behind(&self, kind_number: usize, time: u32) -> Option<u32> {
        let ended = &self.by_kind[kind_number].ended;
        let position = ended.binary_search_by_key(&time, |(start, _)| *start).ok()?;
        Some(ended[position].1)
    }

    /// How many intervals are kept.
    pub(crate) fn interval_count(&self) -> usize {
        self.by_kind.iter().map(|intervals| intervals.ended.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUFFERS: usize = 0;
    const WORKGROUP: usize = 2;

    #[test]
    fn an_interval_is_ended_by_the_first_barrier_that_orders_its_memory() {
        let mut intervals = WorkgroupIntervals::default();
        intervals.begin_turn(5);
        intervals.end_intervals(MemoryKinds::WORKGROUP, 100, 6);
        let all_kinds = MemoryKinds::WORKGROUP.union(MemoryKinds::BUFFERS);
        intervals.end_intervals(all_kinds, 200, 7);
        assert_eq!(intervals.barrier_behind(WORKGROUP, 5), Some(100));
        assert_eq!(intervals.barrier_behind(WORKGROUP, 6), Some(200));
        assert_eq!(intervals.barrier_behind(BUFFERS, 5), Some(200));
        assert_eq!(intervals.barrier_behind(BUFFERS, 7), None);
    }

    #[test]
    fn an_interval_goes_on_after_the_workgroup_has_yielded() {
        let mut intervals = WorkgroupIntervals::default();
        intervals.begin_turn(5);
        intervals.end_turn(6);
        intervals.begin_turn(9);
        assert_eq!(intervals.barrier_behind(BUFFERS, 5), None);
        intervals.end_intervals(MemoryKinds::BUFFERS, 100, 10);
        assert_eq!(intervals.barrier_behind(BUFFERS, 5), Some(100));
        assert_eq!(intervals.barrier_behind(BUFFERS, 9), Some(100));
        let own_times: Vec<u32> = (4..12).filter(|time| intervals.has_run_at(*time)).collect();
        assert_eq!(own_times, [5, 6, 9, 10, 11]);
    }
}
