//! The ranges of memory and of images that are told apart.
//!
//! Promises: ranges do not overlap; they are split where an access begins or ends.

use super::span::{AccessSpan, SpanPlace};
use super::state::RangeState;
use std::collections::BTreeMap;

/// Ranges with their states, by place and first byte or texel.
#[derive(Debug, Default)]
pub(super) struct Ranges {
    ranges: BTreeMap<(SpanPlace, u64), (u64, RangeState)>,
}

impl Ranges {
    /// The states of exactly the bytes of a span; bytes that nothing touched get new ones.
    pub(super) fn of_span(
        &mut self,
        span: &AccessSpan,
        seen: usize,
    ) -> impl Iterator<Item = (AccessSpan, &mut RangeState)> {
        self.split_at(span.place, span.start);
        self.split_at(span.place, span.end);
        self.fill(span, seen);
        self.touched(span)
    }

    /// The states of what was touched of a span, in whole ranges.
    pub(super) fn touched(
        &mut self,
        span: &AccessSpan,
    ) -> impl Iterator<Item = (AccessSpan, &mut RangeState)> {
        let place = span.place;
        let first = self
            .ranges
            .range(..=(place, span.start))
            .next_back()
            .filter(|((owner, _), (end, _))| *owner == place && *end > span.start)
            .map_or(span.start, |((_, start), _)| *start);
        let inside = self.ranges.range_mut((place, first)..(place, span.end));
        inside.map(|((place, start), (end, state))| {
            (AccessSpan { place: *place, start: *start, end: *end }, state)
        })
    }

    fn split_at(&mut self, place: SpanPlace, at: u64) {
        let split = self
            .ranges
            .range_mut(..(place, at))
            .next_back()
            .filter(|((owner, _), (end, _))| *owner == place && *end > at);
        let Some((_, (end, state))) = split else { return };
        let behind = (*end, state.clone());
        *end = at;
        self.ranges.insert((place, at), behind);
    }

    fn fill(&mut self, span: &AccessSpan, seen: usize) {
        let mut gaps = Vec::new();
        let mut next = span.start;
        let inside = self.ranges.range((span.place, span.start)..(span.place, span.end));
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
            self.ranges.insert((span.place, start), (end, RangeState::at(seen)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(ranges: &mut Ranges, start: u64, end: u64) -> Vec<(u64, u64)> {
        let span = AccessSpan { place: SpanPlace::Memory(1), start, end };
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
        let other = AccessSpan { place: SpanPlace::Memory(0), start: 0, end: 50 };
        assert_eq!(ranges.touched(&other).count(), 0);
    }
}
