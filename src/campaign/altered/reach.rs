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

use super::parts::{PassedTest, Store, Target, View};
use super::ranges::{common, in_buffer, without};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vkcert_exec::prepare::merged;
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
pub(super) type Place = (MemberPlace, usize);

/// By place: the bytes that are judged, ascending and disjoint.
pub(super) type JudgedBytes = BTreeMap<Place, Vec<Range<usize>>>;

/// Bytes that a dispatch left for good, among those of its kernel.
struct Left<'a> {
    store: Store<'a>,
    target: Target,
    bytes: Vec<Range<usize>>,
    by: Leaving,
}

/// How bytes came to be left.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Stored,
    /// No dispatch of the kernel stored there: what others had stored stays as it was.
    Kept,
}

impl Left<'_> {
    fn place(&self) -> Place {
        (self.target.place.clone(), self.target.buffer)
    }
}

impl PassedTest<'_> {
    pub(super) fn judged_bytes(&self, views: &[View], reading: Reading<'_>) -> JudgedBytes {
        let mut judged = JudgedBytes::new();
        match reading {
            Reading::Least => self.judged_surely(views, &mut judged),
            Reading::Most | Reading::Seen(_) => {
                let left = self.left_by_dispatch(reading);
                views
                    .iter()
                    .for_each(|view| self.judged_through(view, reading, &left, &mut judged));
            }
        }
        judged.values_mut().for_each(|bytes| *bytes = merged(std::mem::take(bytes)));
        judged
    }

    /// What an expectation looks at, and what nobody else can store to later.
    fn judged_surely(&self, views: &[View], judged: &mut JudgedBytes) {
        let targets: Vec<(Store<'_>, Target)> = self.each_target().collect();
        let mut over: BTreeMap<Place, Vec<Range<usize>>> = BTreeMap::new();
        for (first, target) in &targets {
            let place = (target.place.clone(), target.buffer);
            over.entry(place).or_insert_with(|| {
                let later = targets.iter().filter(|(store, _)| store.dispatch > first.dispatch);
                let others = later.filter(|(_, other)| {
                    other.buffer == target.buffer && other.place != target.place
                });
                merged(others.map(|(_, other)| other.bytes.clone()).collect())
            });
        }
        for (store, target) in &targets {
            let place = (target.place.clone(), target.buffer);
            let left = without(std::slice::from_ref(&target.bytes), &over[&place]);
            for view in views
                .iter()
                .filter(|view| view.observation.judges_output(store.dispatch, store.row))
            {
                let judged = judged.entry(place.clone()).or_default();
                judged.extend(common(&view.bytes[target.buffer], &left));
            }
        }
    }

    /// By dispatch: what it left of each place that its kernel stores to. A byte counts for the
    /// last dispatch of the kernel that stored to it; where none did, or where that is not known,
    /// for all that can.
    fn left_by_dispatch(&self, reading: Reading<'_>) -> Vec<Vec<Left<'_>>> {
        let mut left: Vec<Vec<Left<'_>>> = self.flows.iter().map(|_| Vec::new()).collect();
        let Reading::Seen(seen) = reading else {
            for (store, target) in self.each_target() {
                let bytes = vec![target.bytes.clone()];
                left[store.dispatch].push(Left { store, target, bytes, by: Leaving::Stored });
            }
            return left;
        };
        let mut known: BTreeMap<Place, Vec<Range<usize>>> = BTreeMap::new();
        let targets: Vec<(Store<'_>, Target)> = self.each_target().collect();
        for (store, target) in targets.into_iter().rev() {
            let stored = seen[store.dispatch]
                .reads
                .buffers
                .get(&target.buffer)
                .map(stored)
                .unwrap_or_default();
            let known = known.entry((target.place.clone(), target.buffer)).or_default();
            let bytes = without(&common(&stored, std::slice::from_ref(&target.bytes)), known);
            known.extend(bytes.iter().cloned());
            *known = merged(std::mem::take(known));
            left[store.dispatch].push(Left { store, target, bytes, by: Leaving::Stored });
        }
        for (store, target) in self.each_target() {
            let stored = &known[&(target.place.clone(), target.buffer)];
            let bytes = without(std::slice::from_ref(&target.bytes), stored);
            left[store.dispatch].push(Left { store, target, bytes, by: Leaving::Kept });
        }
        left
    }

    /// Goes back from what an expectation looks at.
    fn judged_through(
        &self,
        view: &View,
        reading: Reading<'_>,
        left: &[Vec<Left<'_>>],
        judged: &mut JudgedBytes,
    ) {
        // What matters of the contents behind the dispatch, by buffer.
        let mut live = view.bytes.clone();
        for number in (0..self.flows.len()).rev() {
            let step = Step { test: self, view, number, reading, live: &live };
            let Passed { own, before } = step.passed();
            for left in left[number]
                .iter()
                .filter(|left| view.observation.judges_output(number, left.store.row))
            {
                let buffer = left.target.buffer;
                let reached = match left.by {
                    Leaving::Stored => {
                        merged(live[buffer].iter().chain(&own[buffer]).cloned().collect())
                    }
                    Leaving::Kept => before[buffer].clone(),
                };
                judged.entry(left.place()).or_default().extend(common(&left.bytes, &reached));
            }
            live = before;
        }
    }
}

/// A dispatch on the way back from an expectation.
struct Step<'a> {
    test: &'a PassedTest<'a>,
    view: &'a View,
    number: usize,
    reading: Reading<'a>,
    /// What matters of the contents behind it, by buffer.
    live: &'a [Vec<Range<usize>>],
}

/// What a dispatch does on the way to what is judged, by buffer.
struct Passed {
    /// What it reads of its own stores, after the last one.
    own: Vec<Vec<Range<usize>>>,
    /// What matters of the contents before it.
    before: Vec<Vec<Range<usize>>>,
}

impl Step<'_> {
    fn passed(&self) -> Passed {
        match self.reading {
            Reading::Seen(seen) => self.seen(&seen[self.number]),
            Reading::Most | Reading::Least => self.possible(),
        }
    }

    /// By the kernel's code: every read of what it stores comes after the store, and none of its
    /// stores hides another one.
    fn possible(&self) -> Passed {
        let mut rows: Vec<usize> = Vec::new();
        let mut reached = self.live.to_vec();
        loop {
            let new: Vec<usize> = self
                .judged_rows()
                .filter(|row| !rows.contains(row) && self.can_store_to(*row, &reached))
                .collect();
            if new.is_empty() {
                return Passed { own: reached.clone(), before: reached };
            }
            let from = new.iter().flat_map(|row| &self.test.flows[self.number].stores[*row].from);
            for (buffer, bytes) in from.filter_map(|range| self.buffer(range)) {
                reached[buffer].push(bytes);
            }
            rows.extend(new);
        }
    }

    /// By what it did.
    fn seen(&self, seen: &SeenDispatch) -> Passed {
        let groups = self.judged_groups(seen);
        let (mut own, mut before) = (vec![Vec::new(); self.live.len()], self.live.to_vec());
        for (buffer, reads) in &seen.reads.buffers {
            let for_judged = |read: &&ReadBytes| read.groups & groups != 0;
            own[*buffer] =
                reads.own.iter().filter(for_judged).map(|read| read.bytes.clone()).collect();
            before[*buffer] = without(&self.live[*buffer], &stored(reads));
            before[*buffer]
                .extend(reads.incoming.iter().filter(for_judged).map(|read| read.bytes.clone()));
        }
        Passed { own, before: before.into_iter().map(merged).collect() }
    }

    /// The groups of storing instructions that are judged: by what they left, by what they can
    /// store to and nothing was stored to, or through reads of what they stored, that others may
    /// have stored over since.
    fn judged_groups(&self, seen: &SeenDispatch) -> u32 {
        let mut open: Vec<Vec<Range<usize>>> = self.live.to_vec();
        let mut groups = 0;
        for (buffer, reads) in &seen.reads.buffers {
            for left in &reads.left {
                if !common(std::slice::from_ref(&left.bytes), &self.live[*buffer]).is_empty() {
                    groups |= 1 << left.group;
                }
            }
            open[*buffer] = without(&self.live[*buffer], &stored(reads));
        }
        let judged_rows: BTreeSet<usize> = self.judged_rows().collect();
        let mut allowed = 0;
        for (group, rows) in seen.rows.iter().enumerate() {
            let rows = || rows.intersection(&judged_rows);
            allowed |= u32::from(rows().next().is_some()) << group;
            groups |= u32::from(rows().any(|row| self.can_store_to(*row, &open))) << group;
        }
        loop {
            let is_followed = |group: &usize| seen.reads.followers[*group] & groups & allowed != 0;
            let more = (0..seen.rows.len())
                .filter(is_followed)
                .fold(groups, |groups, group| groups | 1 << group)
                & allowed;
            if more == groups {
                return groups;
            }
            groups = more;
        }
    }

    /// The rows that the expectation judges, by the kernels' code.
    fn judged_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = 0..self.test.flows[self.number].stores.len();
        rows.filter(|row| self.view.observation.judges_output(self.number, *row))
    }

    fn can_store_to(&self, row: usize, bytes: &[Vec<Range<usize>>]) -> bool {
        let to = self.test.flows[self.number].stores[row]
            .to
            .iter()
            .filter_map(|range| self.buffer(range));
        to.into_iter().any(|(buffer, to)| {
            bytes[buffer].iter().any(|bytes| bytes.start < to.end && to.start < bytes.end)
        })
    }

    fn buffer(&self, range: &BufferRange) -> Option<(usize, Range<usize>)> {
        let mut buffers = self.test.plan.job.buffers.iter().enumerate();
        let (index, buffer) = buffers.find(|(_, buffer)| buffer.name == range.buffer)?;
        Some((index, in_buffer(range, buffer)))
    }
}

/// The bytes that were stored to.
fn stored(reads: &BufferReads) -> Vec<Range<usize>> {
    merged(reads.left.iter().map(|left| left.bytes.clone()).collect())
}
