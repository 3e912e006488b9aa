//! The ranges of memory that are told apart.
//!
//! Promises: ranges do not overlap; they are split where an access begins or ends.

use super::state::RangeState;
use std::collections::BTreeMap;
use vkcert_capture::program::MemorySpan;

/// Ranges with their states, by memory and first byte.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    ranges: BTreeMap<(usize, u64), (u64, RangeState)>,
}

impl Ranges {
    /// The states of exactly the bytes of a span; bytes that nothing touched get new ones.
    pub(super) fn of_span(
        &mut self,
        span: &MemorySpan,
        seen: usize,
    ) -> impl Iterator<Item = (MemorySpan, &mut RangeState)> {
        self.split_at(span.memory, span.start);
        self.split_at(span.memory, span.end);
        self.fill(span, seen);
        self.touched(span)
    }

    /// The states of what was touched of a span, in whole ranges.
    pub(super) fn touched(
        &mut self,
        span: &MemorySpan,
    ) -> impl Iterator<Item = (MemorySpan, &mut RangeState)> {
        let memory = span.memory;
        let first = self
            .ranges
            .range(..=(memory, span.start))
            .next_back()
            .filter(|((owner, _), (end, _))| *owner == memory && *end > span.start)
            .map_or(span.start, |((_, start), _)| *start);
        let inside = self.ranges.range_mut((memory, first)..(memory, span.end));
        inside.map(|((memory, start), (end, state))| {
            (MemorySpan { memory: *memory, start: *start, end: *end }, state)
        })
    }

    fn split_at(&mut self, memory: usize, at: u64) {
        let split = self
            .ranges
            .range_mut(..(memory, at))
            .next_back()
            .filter(|((owner, _), (end, _))| *owner == memory && *end > at);
        let Some((_, (end, state))) = split else { return };
        let behind = (*end, state.clone());
        *end = at;
        self.ranges.insert((memory, at), behind);
    }

    fn fill(&mut self, span: &MemorySpan, seen: usize) {
        let mut gaps = Vec::new();
        let mut next = span.start;
        let inside = self.ranges.range((span.memory, span.start)..(span.memory, span.end));
        for ((_, start), (end, _)) in inside {
            if *start > next {
                gaps.push((next, *start));
            }
            next = *end;
        }
        if next < span.end {
            gaps.push((next, span.end));
        }
        for (start, end) in gaps {
            self.ranges.insert((span.memory, start), (end, RangeState::at(seen)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(ranges: &mut Ranges, start: u64, end: u64) -> Vec<(u64, u64)> {
        let span = MemorySpan { memory: 1, start, end };
        ranges.of_span(&span, 0).map(|(span, _)| (span.start, span.end)).collect()
    }

    #[test]
    fn ranges_are_split_where_accesses_begin_and_end() {
        let mut ranges = Ranges::default();
        assert_eq!(bounds(&mut ranges, 0, 100), [(0, 100)]);
        assert_eq!(bounds(&mut ranges, 40, 120), [(40, 100), (100, 120)]);
        assert_eq!(bounds(&mut ranges, 0, 120), [(0, 40), (40, 100), (100, 120)]);
        assert_eq!(bounds(&mut ranges, 200, 210), [(200, 210)]);
        assert_eq!(bounds(&mut ranges, 110, 205), [(110, 120), (120, 200), (200, 205)]);
        let other = MemorySpan { memory: 0, start: 0, end: 50 };
        assert_eq!(ranges.touched(&other).count(), 0);
    }
}
