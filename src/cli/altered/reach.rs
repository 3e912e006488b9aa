//! Which of the bytes that a test's kernels store its expectations judge, directly or through what the kernels read.
//!
//! Knows: what each dispatch can store and what that can depend on, by its code; of a run, what each dispatch read and when.
//! Promises: what a dispatch leaves in a byte is judged only if an expectation looks at the byte in the end, or if something that is
//! judged can come of what was read there after the last store to it. What is stored over it unread is not judged.
//! Without a run there are two bounds: so much is judged at least, and at most.
//! Does not cover: values that cancel out on the way; other schedules than the one that ran.

use super::parts::{PassedTest, Store, Target, View};
use super::ranges::{common, in_buffer, without};
use crate::exec::prepare::merged;
use crate::exec::sequential::{BufferReads, DispatchReads, ReadBytes};
use crate::model::flow::BufferRange;
use crate::model::judged::MemberPlace;
use std::collections::BTreeMap;
use std::ops::Range;

/// What is known of reads.
#[derive(Clone, Copy)]
pub enum Reading<'a> {
    /// Nothing: what others can store over is taken as lost.
    Least,
    /// Nothing: every read counts that the code permits, whenever it comes.
    Most,
    /// By dispatch.
    Seen(&'a [DispatchReads]),
}

/// Where a kernel stores, and the buffer of the job behind it.
pub type Place = (MemberPlace, usize);

/// By place: the bytes that are judged, ascending and disjoint.
pub type JudgedBytes = BTreeMap<Place, Vec<Range<usize>>>;

/// Bytes that a dispatch left for good, among those of its kernel.
struct Left<'a> {
    store: Store<'a>,
    target: Target,
    bytes: Vec<Range<usize>>,
}

impl Left<'_> {
    fn place(&self) -> Place {
        (self.target.place.clone(), self.target.buffer)
    }
}

impl PassedTest<'_> {
    pub fn judged_bytes(&self, views: &[View], reading: Reading<'_>) -> JudgedBytes {
        let mut judged = JudgedBytes::new();
        match reading {
            Reading::Least => self.judged_surely(views, &mut judged),
            Reading::Most | Reading::Seen(_) => {
                let left = self.left_by_dispatch(reading);
                views.iter().for_each(|view| self.judged_through(view, reading, &left, &mut judged));
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
                let others = later.filter(|(_, other)| other.buffer == target.buffer && other.place != target.place);
                merged(others.map(|(_, other)| other.bytes.clone()).collect())
            });
        }
        for (store, target) in &targets {
            let place = (target.place.clone(), target.buffer);
            let left = without(std::slice::from_ref(&target.bytes), &over[&place]);
            for view in views.iter().filter(|view| view.observation.judges_output(store.dispatch, store.row)) {
                let judged = judged.entry(place.clone()).or_default();
                judged.extend(common(&view.bytes[target.buffer], &left));
            }
        }
    }

    /// By dispatch: what it left of each place that its kernel stores to. A byte counts for the last dispatch of the kernel that
    /// stored to it, and where none did for the last one that can; where it is not known who did, for all of them.
    fn left_by_dispatch(&self, reading: Reading<'_>) -> Vec<Vec<Left<'_>>> {
        let mut left: Vec<Vec<Left<'_>>> = self.flows.iter().map(|_| Vec::new()).collect();
        let Reading::Seen(seen) = reading else {
            for (store, target) in self.each_target() {
                let bytes = vec![target.bytes.clone()];
                left[store.dispatch].push(Left { store, target, bytes });
            }
            return left;
        };
        let mut known: BTreeMap<Place, Vec<Range<usize>>> = BTreeMap::new();
        for by_run in [true, false] {
            let targets: Vec<(Store<'_>, Target)> = self.each_target().collect();
            for (store, target) in targets.into_iter().rev() {
                let stored = seen[store.dispatch].get(&target.buffer).map_or(&[][..], |reads| &reads.stored);
                let all = std::slice::from_ref(&target.bytes);
                let known = known.entry((target.place.clone(), target.buffer)).or_default();
                let own = if by_run { common(stored, all) } else { all.to_vec() };
                let bytes = without(&own, known);
                known.extend(bytes.iter().cloned());
                *known = merged(std::mem::take(known));
                if !bytes.is_empty() {
                    left[store.dispatch].push(Left { store, target, bytes });
                }
            }
        }
        left
    }

    /// Goes back from what an expectation looks at.
    fn judged_through(&self, view: &View, reading: Reading<'_>, left: &[Vec<Left<'_>>], judged: &mut JudgedBytes) {
        // What matters of the contents behind the dispatch, by buffer.
        let mut live = view.bytes.clone();
        for number in (0..self.flows.len()).rev() {
            let step = Step { test: self, view, number, reading };
            let rows = step.judged_rows(&live);
            let own = step.own(&rows);
            for left in left[number].iter().filter(|left| view.observation.judges_output(number, left.store.row)) {
                let buffer = left.target.buffer;
                let reached = merged(live[buffer].iter().chain(&own[buffer]).cloned().collect());
                judged.entry(left.place()).or_default().extend(common(&left.bytes, &reached));
            }
            live = step.before(&rows, &live);
        }
    }
}

/// A dispatch on the way back from an expectation.
struct Step<'a> {
    test: &'a PassedTest<'a>,
    view: &'a View,
    number: usize,
    reading: Reading<'a>,
}

impl Step<'_> {
    /// The rows of what it stores that are judged, directly or through what it reads of them itself.
    fn judged_rows(&self, live: &[Vec<Range<usize>>]) -> Vec<usize> {
        let stores = &self.test.flows[self.number].stores;
        let mut rows: Vec<usize> = Vec::new();
        loop {
            let own = self.own(&rows);
            let is_reached = |range: &BufferRange| {
                let buffer = self.buffer(range);
                buffer.is_some_and(|(buffer, bytes)| {
                    let mut reached = live[buffer].iter().chain(&own[buffer]);
                    reached.any(|reached| reached.start < bytes.end && bytes.start < reached.end)
                })
            };
            let new: Vec<usize> = (0..stores.len())
                .filter(|row| !rows.contains(row) && self.view.observation.judges_output(self.number, *row))
                .filter(|row| stores[*row].to.iter().any(is_reached))
                .collect();
            if new.is_empty() {
                return rows;
            }
            rows.extend(new);
        }
    }

    fn buffer(&self, range: &BufferRange) -> Option<(usize, Range<usize>)> {
        let mut buffers = self.test.plan.job.buffers.iter().enumerate();
        let (index, buffer) = buffers.find(|(_, buffer)| buffer.name == range.buffer)?;
        Some((index, in_buffer(range, buffer)))
    }

    /// What it read of its own stores for these rows, by buffer.
    fn own(&self, rows: &[usize]) -> Vec<Vec<Range<usize>>> {
        match self.reading {
            Reading::Seen(_) => self.seen(rows, |reads| &reads.own),
            Reading::Most | Reading::Least => self.readable(rows),
        }
    }

    /// What matters of the contents before it.
    fn before(&self, rows: &[usize], live: &[Vec<Range<usize>>]) -> Vec<Vec<Range<usize>>> {
        let read = match self.reading {
            Reading::Seen(_) => self.seen(rows, |reads| &reads.incoming),
            Reading::Most | Reading::Least => self.readable(rows),
        };
        let kept = |(buffer, live): (usize, &Vec<Range<usize>>)| match self.reading {
            Reading::Seen(seen) => match seen[self.number].get(&buffer) {
                Some(reads) => without(live, &reads.stored),
                None => live.clone(),
            },
            Reading::Most | Reading::Least => live.clone(),
        };
        let joined = live.iter().enumerate().map(kept).zip(read);
        joined.map(|(kept, read)| merged(kept.into_iter().chain(read).collect())).collect()
    }

    fn seen(&self, rows: &[usize], of: impl Fn(&BufferReads) -> &Vec<ReadBytes>) -> Vec<Vec<Range<usize>>> {
        let mut bytes = self.none();
        let Reading::Seen(seen) = self.reading else { return bytes };
        let bits = rows.iter().fold(0, |bits, row| bits | 1 << row);
        for (buffer, reads) in &seen[self.number] {
            let read = of(reads).iter().filter(|read| read.rows & bits != 0);
            bytes[*buffer] = merged(read.map(|read| read.bytes.clone()).collect());
        }
        bytes
    }

    /// What these rows can depend on, by the kernel's code.
    fn readable(&self, rows: &[usize]) -> Vec<Vec<Range<usize>>> {
        let mut bytes = self.none();
        let stores = &self.test.flows[self.number].stores;
        let from = rows.iter().flat_map(|row| &stores[*row].from);
        for (buffer, range) in from.filter_map(|range| self.buffer(range)) {
            bytes[buffer].push(range);
        }
        bytes.into_iter().map(merged).collect()
    }

    fn none(&self) -> Vec<Vec<Range<usize>>> {
        vec![Vec::new(); self.test.plan.job.buffers.len()]
    }
}
