//! Whether barriers stand where one invocation reads what another one writes, and whether each
//! barrier orders anything.
//!
//! Knows: the accesses of a kernel, what its barriers order, which invocations can meet at an
//! element, which code is executed by whole workgroups alone.
//! Promises: two accesses of which nothing is said are ordered on every way, or are never made to
//! one element by two invocations of a workgroup. `Missing` is said only where the whole workgroup
//! comes to both and different invocations meet at an element; all else is undetermined by name.
//! Does not cover: invocations of different workgroups, writes that meet writes, whether values
//! let control take a way.

use super::access::{Atomicity, SharedAccess};
use super::intervals::{FollowedWays, IntervalStart, ReachedPieces};
use super::meeting::{Meeting, MeetingRange};
use super::node_set::NodeSet;
use super::{FenceUse, KernelPairs, MEMORY_KINDS, PairError, PairRequest, by_object, with_kernel};
use crate::flow::DecidedBranches;
use crate::interface::compute_entry;
use crate::memory_semantics::MemoryKinds;
use crate::module::Module;
use crate::uniformity::{NonUniformBlocks, non_uniform_blocks};
use std::collections::BTreeMap;

/// What is known of two accesses that no barrier orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessOrder {
    /// A barrier is missing: whole workgroups come to both accesses, and different invocations
    /// access one element.
    Missing,
    /// Which element an invocation accesses is not known: it may be its own.
    UnknownElements,
    /// Different invocations may access one element, but perhaps not all come to both accesses.
    UnknownInvocations,
}

/// A write and a read in one workgroup between which there is a way without a barrier that orders
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnorderedAccess {
    /// Source index of the write.
    pub write: usize,
    /// Source index of the read.
    pub read: usize,
    /// What both access, in GLSL's words.
    pub name: String,
    /// What is known of it.
    pub order: AccessOrder,
    /// First instructions of the pieces of code on the way from one to the other; none where both
    /// follow one start on different ways, as in the two branches of an `if`.
    pub way: Option<Vec<usize>>,
}

/// All writes and reads of a kernel that barriers do not order on every way, by write and read.
pub fn unordered_accesses(request: &PairRequest<'_>) -> Result<Vec<UnorderedAccess>, PairError> {
    let entry = compute_entry(request.module, request.entry)?.function;
    let non_uniform = non_uniform_blocks(request.module, entry);
    let unordered = with_kernel(request, DecidedBranches::Specialized, |kernel| {
        kernel.unordered(&non_uniform)
    })?;
    Ok(unordered)
}

/// Source indices of the barriers of the workgroup that order no two accesses of different
/// invocations which nothing else orders.
pub fn idle_barriers(request: &PairRequest<'_>) -> Result<Vec<usize>, PairError> {
    Ok(with_kernel(request, DecidedBranches::Specialized, |kernel| kernel.idle())?)
}

impl KernelPairs<'_> {
    fn unordered(&self, non_uniform: &NonUniformBlocks) -> Vec<UnorderedAccess> {
        let reads_by_object = by_object(&self.accesses.reads);
        let mut unordered: BTreeMap<(usize, usize), UnorderedAccess> = BTreeMap::new();
        for kind in MEMORY_KINDS {
            let ways = self.ways_for(kind, FenceUse::Anywhere);
            let intervals = self.intervals(&ways);
            for write in self.writes_of(kind) {
                for read in self.overlapping_reads(&reads_by_object, write) {
                    let meeting = self.meeting(write, read, MeetingRange::Workgroup);
                    if meeting >= Meeting::Possible
                        && !are_atomic(write, read)
                        && self.share(&intervals, write, read)
                    {
                        unordered.entry((write.index, read.index)).or_insert_with(|| {
                            self.unordered_access(write, read, meeting, &ways, non_uniform)
                        });
                    }
                }
            }
        }
        unordered.into_values().collect()
    }

    fn unordered_access(
        &self,
        write: &SharedAccess,
        read: &SharedAccess,
        meeting: Meeting,
        ways: &FollowedWays,
        non_uniform: &NonUniformBlocks,
    ) -> UnorderedAccess {
        let way = self.way(write, read, ways);
        let is_by_all =
            |access: &&SharedAccess| is_uniform(self.request.module, non_uniform, access);
        let comes_to_both = way.is_some() && [write, read].iter().all(is_by_all);
        let order = match (meeting, comes_to_both) {
            (Meeting::Certain, true) => AccessOrder::Missing,
            (Meeting::Certain, false) => AccessOrder::UnknownInvocations,
            (Meeting::Possible | Meeting::OneInvocation | Meeting::Never, _) => {
                AccessOrder::UnknownElements
            }
        };
        let name = self.paths.name(&write.path);
        UnorderedAccess { write: write.index, read: read.index, name, order, way }
    }

    /// Whether two accesses can follow one start without a barrier.
    fn share(&self, intervals: &[NodeSet], first: &SharedAccess, second: &SharedAccess) -> bool {
        let pieces = (self.graph.piece_of(first.index), self.graph.piece_of(second.index));
        let (Some(first), Some(second)) = pieces else { return false };
        intervals.iter().any(|pieces| pieces.contains(first) && pieces.contains(second))
    }

    /// A way without a barrier from one access to the other.
    fn way(
        &self,
        write: &SharedAccess,
        read: &SharedAccess,
        ways: &FollowedWays,
    ) -> Option<Vec<usize>> {
        let write_piece = self.graph.piece_of(write.index)?;
        let read_piece = self.graph.piece_of(read.index)?;
        if write_piece == read_piece {
            return Some(vec![write.index.min(read.index)]);
        }
        self.graph
            .way_between(write_piece, read_piece, ways)
            .or_else(|| self.graph.way_between(read_piece, write_piece, ways))
    }

    /// Barriers without which all accesses are ordered as they are with them: each is left out in
    /// turn if those that still stand order everything.
    fn idle(&self) -> Vec<usize> {
        let mut orders: Vec<StandingBarriers<'_>> =
            MEMORY_KINDS.iter().map(|kind| StandingBarriers::all_of(self, *kind)).collect();
        let mut idle_barriers = Vec::new();
        for barrier in self.graph.barriers() {
            if !orders.iter().any(|standing| standing.need(self, barrier)) {
                orders.iter_mut().for_each(|standing| standing.leave_out(self, barrier));
                idle_barriers.push(barrier);
            }
        }
        idle_barriers
    }

    fn accesses_of(&self, kind: MemoryKinds) -> Vec<&SharedAccess> {
        let all = self.accesses.writes.iter().chain(&self.accesses.reads);
        all.filter(|access| self.paths.memory_kind(&access.path) == Some(kind)).collect()
    }

    /// Whether two accesses of different invocations need an order.
    fn conflict(&self, first: &SharedAccess, second: &SharedAccess) -> bool {
        let is_write = |access: &SharedAccess| {
            let writes = &self.accesses.writes;
            let at = writes.partition_point(|write| write.index < access.index);
            writes.get(at).is_some_and(|write| write.index == access.index)
        };
        (is_write(first) || is_write(second))
            && self.meeting(first, second, MeetingRange::Workgroup) >= Meeting::Possible
    }
}

/// The barriers that order one kind of memory and are not left out, with what lies between them.
struct StandingBarriers<'a> {
    ways: FollowedWays,
    /// By start: what comes before the next of them.
    intervals: BTreeMap<IntervalStart, ReachedPieces>,
    /// The accesses to the kind of memory, by piece of code.
    accesses: BTreeMap<usize, Vec<&'a SharedAccess>>,
}

impl<'a> StandingBarriers<'a> {
    fn all_of(kernel: &'a KernelPairs<'_>, kind: MemoryKinds) -> Self {
        let ways = kernel.ways_for(kind, FenceUse::Anywhere);
        let starts = kernel.graph.starts_of(&ways).into_iter();
        let intervals = starts.map(|start| (start, kernel.graph.reached_from(start, &ways)));
        let mut accesses: BTreeMap<usize, Vec<&SharedAccess>> = BTreeMap::new();
        for access in kernel.accesses_of(kind) {
            if let Some(piece) = kernel.graph.piece_of(access.index) {
                accesses.entry(piece).or_default().push(access);
            }
        }
        Self { intervals: intervals.collect(), accesses, ways }
    }

    /// Whether an access before a barrier and one behind it have no other order.
    fn need(&self, kernel: &KernelPairs<'_>, barrier: usize) -> bool {
        let Some(behind) = self.intervals.get(&IntervalStart::Barrier(barrier)) else {
            return false;
        };
        let later: Vec<&SharedAccess> = self.accesses_in(&behind.pieces).map(|(_, a)| a).collect();
        let before = self.intervals.values().filter(|reached| reached.barriers.contains(&barrier));
        let mut reaching_pieces: BTreeMap<usize, bool> = BTreeMap::new();
        before.flat_map(|reached| self.accesses_in(&reached.pieces)).any(|(piece, earlier)| {
            *reaching_pieces.entry(piece).or_insert_with(|| {
                kernel.graph.reached_behind(piece, &self.ways).barriers.contains(&barrier)
            }) && later.iter().any(|later| kernel.conflict(earlier, later))
        })
    }

    fn accesses_in<'s>(
        &'s self,
        pieces: &'s NodeSet,
    ) -> impl Iterator<Item = (usize, &'a SharedAccess)> + 's {
        let inside = self.accesses.iter().filter(|(piece, _)| pieces.contains(**piece));
        inside.flat_map(|(piece, accesses)| accesses.iter().map(|access| (*piece, *access)))
    }

    /// Goes on without a barrier.
    fn leave_out(&mut self, kernel: &KernelPairs<'_>, barrier: usize) {
        if self.intervals.remove(&IntervalStart::Barrier(barrier)).is_none() {
            return;
        }
        self.ways = kernel.graph.ways_up_to(self.ways.stops_without(barrier));
        for (start, reached) in &mut self.intervals {
            if reached.barriers.contains(&barrier) {
                *reached = kernel.graph.reached_from(*start, &self.ways);
            }
        }
    }
}

fn are_atomic(first: &SharedAccess, second: &SharedAccess) -> bool {
    first.atomicity == Atomicity::Atomic && second.atomicity == Atomicity::Atomic
}

/// Whether an access is executed by all invocations of a workgroup or by none.
fn is_uniform(module: &Module, non_uniform: &NonUniformBlocks, access: &SharedAccess) -> bool {
    let Some(function) = module.function_at(access.index) else { return false };
    let block = function.blocks.partition_point(|block| block.range.end <= access.index);
    function.blocks.get(block).is_some_and(|block| non_uniform.divergence_of(block.label).is_none())
}
