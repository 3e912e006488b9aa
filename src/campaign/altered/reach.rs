//! Which of the bytes that a test's kernels store its expectations judge, directly or through what
//! the kernels read.
//!
//! Knows: what each dispatch can store and what that can depend on, by its code; of a run, what
//! each dispatch read and when.
//! Promises: what a dispatch leaves in a byte is judged only if an expectation looks at the byte in
//! the end, or if something that is judged can come of what was read there after the last store to
//! it. What is stored over it unread is not judged. Without a run there are two bounds: so much is
//! judged at least, and at most.
//! Does not cover: values that cancel out on the way; other schedules than the one that ran.

use super::parts::{JudgedStore, JudgingView, PassedTest, StoreTarget};
use super::ranges::{common_ranges, in_buffer, subtract_ranges};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use vkcert_exec::prepare::merged_ranges;
use vkcert_model::flow::BufferRange;
use vkcert_model::judged::MemberPlace;
use vkcert_sequential::{BufferReads, DispatchReads, ReadBytes};

/// What is known of reads.
#[derive(Clone, Copy)]
pub(super) enum Reading<'a> {
    /// Nothing: what others can store over is taken as lost.
    Least,
    /// Nothing: every read counts that the code permits, whenever it comes.
    Most,
    /// By dispatch.
    Seen(&'a [SeenDispatch]),
}

/// What a dispatch was seen to do.
pub(super) struct SeenDispatch {
    pub reads: DispatchReads,
    /// By group of storing instructions: the rows of the dispatch's flow that they store to.
    pub rows: Vec<BTreeSet<usize>>,
}

/// Where a kernel stores, and the buffer of the job behind it.
pub(super) type MemberRange = (Rc<MemberPlace>, usize);

/// By place: the bytes that are judged, ascending and disjoint.
pub(super) type JudgedBytes = BTreeMap<MemberRange, Vec<Range<usize>>>;

/// Bytes that a dispatch left for good, among those of its kernel.
struct LeftPart<'a> {
    store: JudgedStore<'a>,
    target: StoreTarget,
    bytes: Vec<Range<usize>>,
    by: LeavingKind,
}

/// How bytes came to be left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeavingKind {
    Stored,
    /// No dispatch of the kernel stored there: what others had stored stays as it was.
    Kept,
}

impl PassedTest<'_> {
    pub(super) fn judged_bytes(
        &self,
        judging_views: &[JudgingView],
        reading: Reading<'_>,
    ) -> JudgedBytes {
        let mut judged = JudgedBytes::new();
        match reading {
            Reading::Least => self.judged_surely(judging_views, &mut judged),
            Reading::Most | Reading::Seen(_) => {
                let left_by_dispatch = self.left_by_dispatch(reading);
                judging_views.iter().for_each(|view| {
                    self.judged_through(view, reading, &left_by_dispatch, &mut judged)
                });
            }
        }
        judged.values_mut().for_each(|bytes| *bytes = merged_ranges(std::mem::take(bytes)));
        judged
    }

    /// What an expectation looks at, and what nobody else can store to later.
    fn judged_surely(&self, judging_views: &[JudgingView], judged: &mut JudgedBytes) {
        let targets: Vec<(JudgedStore<'_>, StoreTarget)> = self.each_target().collect();
        let mut later_by_target: BTreeMap<MemberRange, Vec<Range<usize>>> = BTreeMap::new();
        for (first, target) in &targets {
            later_by_target.entry(target.member_range()).or_insert_with(|| {
                let later_targets =
                    targets.iter().filter(|(store, _)| store.dispatch > first.dispatch);
                let overwriting_targets = later_targets.filter(|(_, overwriting_target)| {
                    overwriting_target.buffer == target.buffer
                        && overwriting_target.place != target.place
                });
                merged_ranges(
                    overwriting_targets
                        .map(|(_, overwriting_target)| overwriting_target.bytes.clone())
                        .collect(),
                )
            });
        }
        for (store, target) in &targets {
            let remaining_ranges = subtract_ranges(
                std::slice::from_ref(&target.bytes),
                &later_by_target[&target.member_range()],
            );
            for view in judging_views
                .iter()
                .filter(|view| view.observation.judges_output(store.dispatch, store.row))
            {
                let judged = judged.entry(target.member_range()).or_default();
                judged.extend(common_ranges(&view.bytes[target.buffer], &remaining_ranges));
            }
        }
    }

    /// By dispatch: what it left of each place that its kernel stores to. A byte counts for the
    /// last dispatch of the kernel that stored to it; where none did, or where that is not known,
    /// for all that can.
    fn left_by_dispatch(&self, reading: Reading<'_>) -> Vec<Vec<LeftPart<'_>>> {
        let mut left_parts: Vec<Vec<LeftPart<'_>>> =
            self.flows.iter().map(|_| Vec::new()).collect();
        let Reading::Seen(seen) = reading else {
            for (store, target) in self.each_target() {
                let bytes = vec![target.bytes.clone()];
                left_parts[store.dispatch].push(LeftPart {
                    store,
                    target,
                    bytes,
                    by: LeavingKind::Stored,
                });
            }
            return left_parts;
        };
        let mut known_ranges: BTreeMap<MemberRange, Vec<Range<usize>>> = BTreeMap::new();
        let targets: Vec<(JudgedStore<'_>, StoreTarget)> = self.each_target().collect();
        for (store, target) in targets.into_iter().rev() {
            let stored = seen[store.dispatch]
                .reads
                .buffers
                .get(&target.buffer)
                .map(stored_bytes)
                .unwrap_or_default();
            let known_ranges = known_ranges.entry(target.member_range()).or_default();
            let bytes = subtract_ranges(
                &common_ranges(&stored, std::slice::from_ref(&target.bytes)),
                known_ranges,
            );
            known_ranges.extend(bytes.iter().cloned());
            *known_ranges = merged_ranges(std::mem::take(known_ranges));
            left_parts[store.dispatch].push(LeftPart {
                store,
                target,
                bytes,
                by: LeavingKind::Stored,
            });
        }
        for (store, target) in self.each_target() {
            let stored = &known_ranges[&target.member_range()];
            let bytes = subtract_ranges(std::slice::from_ref(&target.bytes), stored);
            left_parts[store.dispatch].push(LeftPart {
                store,
                target,
                bytes,
                by: LeavingKind::Kept,
            });
        }
        left_parts
    }

    /// Goes back from what an expectation looks at.
    fn judged_through(
        &self,
        view: &JudgingView,
        reading: Reading<'_>,
        left_by_dispatch: &[Vec<LeftPart<'_>>],
        judged: &mut JudgedBytes,
    ) {
        // What matters of the contents behind the dispatch, by buffer.
        let mut live_bytes = Cow::Borrowed(view.bytes.as_slice());
        for number in (0..self.flows.len()).rev() {
            let step = DispatchStep { test: self, view, number, reading, live: &live_bytes };
            let PassedBytes { own, before } = step.bytes_passed_on();
            for left_part in left_by_dispatch[number]
                .iter()
                .filter(|left_part| view.observation.judges_output(number, left_part.store.row))
            {
                let buffer = left_part.target.buffer;
                let live_or_own = live_bytes[buffer].iter().chain(&own[buffer]);
                let reached_bytes = match left_part.by {
                    LeavingKind::Stored => {
                        Cow::Owned(merged_ranges(live_or_own.cloned().collect()))
                    }
                    LeavingKind::Kept => Cow::Borrowed(&before[buffer]),
                };
                judged
                    .entry(left_part.target.member_range())
                    .or_default()
                    .extend(common_ranges(&left_part.bytes, &reached_bytes));
            }
            live_bytes = Cow::Owned(before);
        }
    }
}

/// A dispatch on the way back from an expectation.
struct DispatchStep<'a> {
    test: &'a PassedTest<'a>,
    view: &'a JudgingView,
    number: usize,
    reading: Reading<'a>,
    /// What matters of the contents behind it, by buffer.
    live: &'a [Vec<Range<usize>>],
}

/// What a dispatch does on the way to what is judged, by buffer.
struct PassedBytes {
    /// What it reads of its own stores, after the last one.
    own: Vec<Vec<Range<usize>>>,
    /// What matters of the contents before it.
    before: Vec<Vec<Range<usize>>>,
}

impl DispatchStep<'_> {
    fn bytes_passed_on(&self) -> PassedBytes {
        match self.reading {
            Reading::Seen(seen) => self.seen_passed_on(&seen[self.number]),
            Reading::Most | Reading::Least => self.possibly_passed_on(),
        }
    }

    /// By the kernel's code: every read of what it stores comes after the store, and none of its
    /// stores hides another one.
    fn possibly_passed_on(&self) -> PassedBytes {
        let mut rows: Vec<usize> = Vec::new();
        let mut reached_bytes = self.live.to_vec();
        loop {
            let new_rows: Vec<usize> = self
                .judged_rows()
                .filter(|row| !rows.contains(row) && self.can_store_to(*row, &reached_bytes))
                .collect();
            if new_rows.is_empty() {
                return PassedBytes { own: reached_bytes.clone(), before: reached_bytes };
            }
            let source_ranges =
                new_rows.iter().flat_map(|row| &self.test.flows[self.number].stores[*row].from);
            for (buffer, bytes) in source_ranges.filter_map(|range| self.buffer_of_range(range)) {
                reached_bytes[buffer].push(bytes);
            }
            rows.extend(new_rows);
        }
    }

    /// By what it did.
    fn seen_passed_on(&self, seen_dispatch: &SeenDispatch) -> PassedBytes {
        let groups = self.judged_groups(seen_dispatch);
        let (mut own_bytes, mut bytes_before) =
            (vec![Vec::new(); self.live.len()], self.live.to_vec());
        for (buffer, reads) in &seen_dispatch.reads.buffers {
            let for_judged = |read: &&ReadBytes| read.groups & groups != 0;
            own_bytes[*buffer] =
                reads.own.iter().filter(for_judged).map(|read| read.bytes.clone()).collect();
            bytes_before[*buffer] = subtract_ranges(&self.live[*buffer], &stored_bytes(reads));
            bytes_before[*buffer]
                .extend(reads.incoming.iter().filter(for_judged).map(|read| read.bytes.clone()));
        }
        PassedBytes {
            own: own_bytes,
            before: bytes_before.into_iter().map(merged_ranges).collect(),
        }
    }

    /// The groups of storing instructions that are judged: by what they left, by what they can
    /// store to and nothing was stored to, or through reads of what they stored, that others may
    /// have stored over since.
    fn judged_groups(&self, seen_dispatch: &SeenDispatch) -> u32 {
        let mut open_bytes: Vec<Vec<Range<usize>>> = self.live.to_vec();
        let mut groups = 0;
        for (buffer, reads) in &seen_dispatch.reads.buffers {
            for left in &reads.left {
                if !common_ranges(std::slice::from_ref(&left.bytes), &self.live[*buffer]).is_empty()
                {
                    groups |= 1 << left.group;
                }
            }
            open_bytes[*buffer] = subtract_ranges(&self.live[*buffer], &stored_bytes(reads));
        }
        let judged_rows: BTreeSet<usize> = self.judged_rows().collect();
        let mut allowed = 0;
        for (group, rows) in seen_dispatch.rows.iter().enumerate() {
            let rows = || rows.intersection(&judged_rows);
            allowed |= u32::from(rows().next().is_some()) << group;
            groups |= u32::from(rows().any(|row| self.can_store_to(*row, &open_bytes))) << group;
        }
        loop {
            let is_followed =
                |group: &usize| seen_dispatch.reads.followers[*group] & groups & allowed != 0;
            let further_groups = (0..seen_dispatch.rows.len())
                .filter(is_followed)
                .fold(groups, |groups, group| groups | 1 << group)
                & allowed;
            if further_groups == groups {
                return groups;
            }
            groups = further_groups;
        }
    }

    /// The rows that the expectation judges, by the kernels' code.
    fn judged_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = 0..self.test.flows[self.number].stores.len();
        rows.filter(|row| self.view.observation.judges_output(self.number, *row))
    }

    fn can_store_to(&self, row: usize, bytes: &[Vec<Range<usize>>]) -> bool {
        let stored_range = self.test.flows[self.number].stores[row]
            .to
            .iter()
            .filter_map(|range| self.buffer_of_range(range));
        stored_range.into_iter().any(|(buffer, stored_range)| {
            bytes[buffer]
                .iter()
                .any(|bytes| bytes.start < stored_range.end && stored_range.start < bytes.end)
        })
    }

    fn buffer_of_range(&self, buffer_range: &BufferRange) -> Option<(usize, Range<usize>)> {
        let mut buffers = self.test.job_plan.job.buffers.iter().enumerate();
        let (index, buffer) = buffers.find(|(_, buffer)| buffer.name == buffer_range.buffer)?;
        Some((index, in_buffer(buffer_range, buffer)))
    }
}

/// The bytes that were stored to.
fn stored_bytes(reads: &BufferReads) -> Vec<Range<usize>> {
    merged_ranges(reads.left.iter().map(|left| left.bytes.clone()).collect())
}
