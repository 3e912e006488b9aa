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
use super::intervals::{FollowedWays, IntervalStart};
use super::meeting::{Meeting, MeetingRange};
use super::node_set::NodeSet;
use super::{FenceUse, KernelPairs, MEMORY_KINDS, PairError, PairRequest, with_kernel};
use crate::flow::DecidedBranches;
use crate::interface::compute_entry;
use crate::memory_semantics::MemoryKinds;
use crate::module::Module;
use crate::uniformity::{NonUniformBlocks, non_uniform_blocks};
use std::collections::{BTreeMap, BTreeSet};

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
        let mut unordered: BTreeMap<(usize, usize), UnorderedAccess> = BTreeMap::new();
        for kind in MEMORY_KINDS {
            let ways = self.ways_for(kind, FenceUse::Anywhere);
            let intervals = self.intervals(&ways);
            for write in self.writes_of(kind) {
                let read_meetings = self
                    .accesses
                    .reads
                    .iter()
                    .map(|read| (read, self.meeting(write, read, MeetingRange::Workgroup)));
                for (read, meeting) in read_meetings {
                    let is_open = meeting >= Meeting::Possible
                        && !are_atomic(write, read)
                        && self.share(&intervals, write, read);
                    if !is_open {
                        continue;
                    }
                    let way = self.way(write, read, &ways);
                    let comes_to_both = way.is_some()
                        && [write, read]
                            .iter()
                            .all(|access| is_uniform(self.request.module, non_uniform, access));
                    let order = match (meeting, comes_to_both) {
                        (Meeting::Certain, true) => AccessOrder::Missing,
                        (Meeting::Certain, false) => AccessOrder::UnknownInvocations,
                        (Meeting::Possible | Meeting::OneInvocation | Meeting::Never, _) => {
                            AccessOrder::UnknownElements
                        }
                    };
                    let name = self.paths.name(&write.path);
                    let (write, read) = (write.index, read.index);
                    let row = UnorderedAccess { write, read, name, order, way };
                    unordered.entry((write, read)).or_insert(row);
                }
            }
        }
        unordered.into_values().collect()
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

    /// Barriers without which all accesses are ordered as they are with them: first those of which
    /// that is so one by one, then of these as many as can be missing together.
    fn idle(&self) -> Vec<usize> {
        let all_barriers: BTreeSet<usize> = self.graph.barriers().collect();
        let alone_idle: Vec<usize> = self.idle_among(&all_barriers, &all_barriers);
        let mut standing = all_barriers;
        let mut idle_barriers = Vec::new();
        for barrier in alone_idle {
            if !self.idle_among(&BTreeSet::from([barrier]), &standing).is_empty() {
                standing.remove(&barrier);
                idle_barriers.push(barrier);
            }
        }
        idle_barriers
    }

    /// Those of some barriers that order no two accesses where these stand.
    fn idle_among(&self, asked: &BTreeSet<usize>, standing: &BTreeSet<usize>) -> Vec<usize> {
        let mut idle_barriers = asked.clone();
        for kind in MEMORY_KINDS {
            let ordering = standing.iter().copied();
            let ordering: BTreeSet<usize> = ordering
                .filter(|barrier| self.orders(*barrier, kind, FenceUse::Anywhere))
                .collect();
            let pending: Vec<usize> = idle_barriers.intersection(&ordering).copied().collect();
            let accesses = self.accesses_of(kind);
            if pending.is_empty() || accesses.is_empty() {
                continue;
            }
            let ways = self.graph.ways_up_to(ordering);
            let barriers_behind = self.barriers_behind(&accesses, &ways);
            for barrier in pending {
                if self.orders_some(barrier, &accesses, &barriers_behind, &ways) {
                    idle_barriers.remove(&barrier);
                }
            }
        }
        idle_barriers.into_iter().collect()
    }

    /// By piece of code: the first barriers behind it.
    fn barriers_behind(
        &self,
        accesses: &[&SharedAccess],
        ways: &FollowedWays,
    ) -> BTreeMap<usize, BTreeSet<usize>> {
        let mut barriers_behind = BTreeMap::new();
        for piece in accesses.iter().filter_map(|access| self.graph.piece_of(access.index)) {
            barriers_behind
                .entry(piece)
                .or_insert_with(|| self.graph.reached_behind(piece, ways).barriers);
        }
        barriers_behind
    }

    /// Whether an access before a barrier and one behind it need an order.
    fn orders_some(
        &self,
        barrier: usize,
        accesses: &[&SharedAccess],
        barriers_behind: &BTreeMap<usize, BTreeSet<usize>>,
        ways: &FollowedWays,
    ) -> bool {
        let behind = self.graph.reached_from(IntervalStart::Barrier(barrier), ways).pieces;
        let mut earlier = Vec::new();
        let mut later = Vec::new();
        for access in accesses {
            let Some(piece) = self.graph.piece_of(access.index) else { continue };
            if barriers_behind[&piece].contains(&barrier) {
                earlier.push(*access);
            }
            if behind.contains(piece) {
                later.push(*access);
            }
        }
        earlier.iter().any(|first| later.iter().any(|second| self.conflict(first, second)))
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

fn are_atomic(first: &SharedAccess, second: &SharedAccess) -> bool {
    first.atomicity == Atomicity::Atomic && second.atomicity == Atomicity::Atomic
}

/// Whether an access is executed by all invocations of a workgroup or by none.
fn is_uniform(module: &Module, non_uniform: &NonUniformBlocks, access: &SharedAccess) -> bool {
    let Some(function) = module.function_at(access.index) else { return false };
    let block = function.blocks.partition_point(|block| block.range.end <= access.index);
    function.blocks.get(block).is_some_and(|block| non_uniform.divergence_of(block.label).is_none())
}
