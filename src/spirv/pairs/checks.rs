//! Whether barriers stand where one invocation accesses what another one writes, and whether each
//! barrier orders anything.
//!
//! Knows: the accesses of a kernel, what its barriers order, which invocations can meet at an
//! element, which code is executed by whole workgroups alone.
//! Promises: a write and a read that are not told are never made to one element by two invocations
//! of a workgroup. `Ordered` is said only where a barrier that all invocations reach alike orders
//! them on every way, `Apart` only where such barriers order them unless they are to different
//! elements; `Missing` only where the whole workgroup comes to both, different invocations
//! meet at an element and nothing else can order them; all else is undetermined by name.
//! Does not cover: invocations of different workgroups, one buffer under two bindings, whether
//! values let control take a way, writes that meet writes but where a barrier is missing for
//! certain.

use super::access::{Atomicity, SharedAccess, by_object, declares_vulkan_model};
use super::host_ranges::{HostRanges, TermRanges};
use super::intervals::{FollowedWays, IntervalStart, ReachedPieces, WaysBehind};
use super::meeting::{Meeting, MeetingRange};
use super::node_set::NodeSet;
use super::object::SharedObject;
use super::{FenceUse, KernelPairs, MEMORY_KINDS, PairError, PairRequest, with_kernel};
use crate::barriers::holds_workgroup;
use crate::flow::DecidedBranches;
use crate::interface::compute_entry;
use crate::memory_semantics::{MemoryKinds, Scope};
use crate::module::{Instruction, Module};
use crate::opcodes::{Effect, effect_of, is_atomic};
use crate::range::AccessKind;
use crate::uniformity::{NonUniformBlocks, non_uniform_blocks};
use rspirv::spirv::Op;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Pieces of code up to which ways are kept for the next question, which bounds their memory.
const MOST_KEPT_STATES: usize = 1 << 22;

/// What is known of the order of two accesses. The later in this list, the more is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessOrder {
    /// A barrier orders them on every way.
    Ordered,
    /// Wherever two invocations make them without a barrier between, they are to different
    /// elements; elsewhere a barrier orders them.
    Apart,
    /// No barrier is known to order them, but something else may: fences apart from barriers,
    /// atomics, operations of subgroups, a barrier that is not shown to be reached alike.
    UnknownOrder,
    /// Nothing orders them, and which element an invocation accesses is not known: it may be its
    /// own.
    UnknownElements,
    /// Nothing orders them, and different invocations may access one element, but perhaps not all
    /// come to both accesses.
    UnknownInvocations,
    /// A barrier is missing: whole workgroups come to both accesses, and different invocations
    /// access one element.
    Missing,
}

impl AccessOrder {
    /// Whether it is shown that different invocations do not race.
    pub fn is_shown(self) -> bool {
        match self {
            AccessOrder::Ordered | AccessOrder::Apart => true,
            AccessOrder::UnknownOrder
            | AccessOrder::UnknownElements
            | AccessOrder::UnknownInvocations
            | AccessOrder::Missing => false,
        }
    }
}

/// A write and another access that different invocations of a workgroup may make to one element.
/// The other one is a write only where a barrier is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictingAccess {
    /// Source index of the write.
    pub write: usize,
    /// How it writes.
    pub write_kind: AccessKind,
    /// Source index of the other access, which may be the same instruction.
    pub other: usize,
    /// How that one accesses memory.
    pub other_kind: AccessKind,
    /// What both access, in GLSL's words.
    pub name: String,
    /// What is known of their order.
    pub order: AccessOrder,
    /// First instructions of the pieces of code on a way from one to the other without a barrier;
    /// none where they are ordered, or where both follow one start on different ways, as in the two
    /// branches of an `if`.
    pub way: Option<Vec<usize>>,
}

/// All accesses that conflict, by their instructions, whatever the host hands over that keeps to
/// the ranges of its numbers.
pub fn conflicting_accesses(
    request: &PairRequest<'_>,
    host: &HostRanges,
) -> Result<Vec<ConflictingAccess>, PairError> {
    let entry = compute_entry(request.module, request.entry)?.function;
    let non_uniform = non_uniform_blocks(request.module, entry);
    with_kernel(request, DecidedBranches::Specialized, |kernel| {
        let mut barriers = kernel.graph.barriers();
        let is_divergent = |barrier| !is_uniform(request.module, &non_uniform, barrier);
        kernel.conflicts(&OrderContext {
            has_divergent_barrier: barriers.any(is_divergent),
            non_uniform: &non_uniform,
            terms: &TermRanges::new(kernel, host),
            has_private_accesses: declares_vulkan_model(request.module),
            has_other_order: kernel.has_other_order(),
        })
    })?
}

/// Source indices of the barriers of the workgroup that order no two accesses of different
/// invocations which nothing else orders.
pub fn idle_barriers(request: &PairRequest<'_>) -> Result<Vec<usize>, PairError> {
    let is_barrier = |instruction: &Instruction| instruction.op == Op::ControlBarrier;
    if !request.module.instructions.iter().any(is_barrier) {
        return Ok(Vec::new());
    }
    with_kernel(request, DecidedBranches::Specialized, |kernel| kernel.idle())
}

/// What of a kernel as a whole decides how accesses are ordered.
pub(super) struct OrderContext<'a> {
    /// Code that perhaps only some invocations of a workgroup execute.
    pub(super) non_uniform: &'a NonUniformBlocks,
    /// What the host can hand over.
    pub(super) terms: &'a TermRanges<'a>,
    /// Then a barrier may hold some invocations where others wait at another one.
    has_divergent_barrier: bool,
    /// In modules of the Vulkan memory model accesses say one by one whether barriers order them
    /// (SPIR-V specification, "Memory Operands").
    has_private_accesses: bool,
    /// Whether something else than barriers of the workgroup may order accesses of invocations.
    has_other_order: bool,
}

/// The ways between the barriers that order a kind of memory, and what lies between these.
struct OrderedWays {
    ways: FollowedWays,
    intervals: Vec<NodeSet>,
    /// What comes behind each branch that invocations may take differently, before the next barrier.
    parted: Vec<NodeSet>,
    /// By piece of code: the ways from behind it, once they were asked for.
    ways_behind: RefCell<BTreeMap<usize, Rc<WaysBehind>>>,
}

/// What orders a kind of memory.
struct KindOrder {
    /// Barriers that certainly do.
    certain: OrderedWays,
    /// Barriers that may with fences that stand apart; none where no fence does.
    possible: Option<OrderedWays>,
}

impl KernelPairs<'_> {
    fn conflicts(&self, context: &OrderContext<'_>) -> Result<Vec<ConflictingAccess>, PairError> {
        let reads_by_object = by_object(&self.accesses.reads);
        let writes_by_object = by_object(&self.accesses.writes);
        let mut conflicts: BTreeMap<[usize; 2], ConflictingAccess> = BTreeMap::new();
        for kind in MEMORY_KINDS {
            let kind_order = KindOrder {
                certain: self.ordered_ways(kind, FenceUse::CertainlyOfBarriers, context),
                possible: self
                    .has_standalone_fence
                    .then(|| self.ordered_ways(kind, FenceUse::Anywhere, context)),
            };
            for write in self.writes_of(kind) {
                let other_writes = self
                    .overlapping(&writes_by_object, write)
                    .filter(|other| other.index >= write.index);
                for other in self.overlapping(&reads_by_object, write).chain(other_writes) {
                    let meeting = self.meeting(write, other, MeetingRange::Workgroup);
                    if meeting < Meeting::Possible || self.are_atomic(write, other) {
                        continue;
                    }
                    // Two writes count where a barrier is missing for certain.
                    let are_writes = self.kind_of(other) == AccessKind::Write;
                    if are_writes && (meeting != Meeting::Certain || context.has_other_order) {
                        continue;
                    }
                    if conflicts.len() >= super::MOST_PAIRS {
                        return Err(PairError::TooMany);
                    }
                    let conflict = self.conflict_of([write, other], meeting, &kind_order, context);
                    if are_writes && conflict.order != AccessOrder::Missing {
                        continue;
                    }
                    let key = [write.index.min(other.index), write.index.max(other.index)];
                    let known = conflicts.entry(key).or_insert_with(|| conflict.clone());
                    if known.order < conflict.order {
                        *known = conflict;
                    }
                }
            }
        }
        Ok(conflicts.into_values().collect())
    }

    fn ordered_ways(
        &self,
        kind: MemoryKinds,
        fences: FenceUse,
        context: &OrderContext<'_>,
    ) -> OrderedWays {
        let ways = self.ways_for(kind, fences);
        let branches = context.non_uniform.branches();
        let pieces = branches.filter_map(|branch| self.graph.piece_of(branch));
        let parted = pieces.map(|piece| self.graph.reached_behind(piece, &ways).pieces);
        OrderedWays {
            intervals: self.intervals(&ways),
            parted: parted.collect(),
            ways_behind: RefCell::default(),
            ways,
        }
    }

    fn conflict_of(
        &self,
        [write, other]: [&SharedAccess; 2],
        meeting: Meeting,
        kind_order: &KindOrder,
        context: &OrderContext<'_>,
    ) -> ConflictingAccess {
        let mut conflict = ConflictingAccess {
            write: write.index,
            write_kind: self.kind_of(write),
            other: other.index,
            other_kind: self.kind_of(other),
            name: self.paths.name(&write.path),
            order: AccessOrder::Ordered,
            way: None,
        };
        if !self.can_be_unordered(&kind_order.certain, [write, other], context) {
            let is_workgroup = matches!(write.path.object, SharedObject::Workgroup(_));
            if context.has_divergent_barrier || context.has_private_accesses && !is_workgroup {
                conflict.order = AccessOrder::UnknownOrder;
            }
            return conflict;
        }
        let ways = &kind_order.certain.ways;
        if !context.has_divergent_barrier
            && self.are_apart_between_barriers([write, other], ways, context)
        {
            let is_workgroup = matches!(write.path.object, SharedObject::Workgroup(_));
            let has_order = !context.has_private_accesses || is_workgroup;
            conflict.order = if has_order { AccessOrder::Apart } else { AccessOrder::UnknownOrder };
            return conflict;
        }
        conflict.way = self.way(write, other, &kind_order.certain);
        let fences_may_order = kind_order
            .possible
            .as_ref()
            .is_some_and(|possible| !self.can_be_unordered(possible, [write, other], context));
        conflict.order = if fences_may_order {
            AccessOrder::UnknownOrder
        } else {
            self.unordered([write, other], meeting, conflict.way.is_some(), context)
        };
        conflict
    }

    /// What is known of two accesses that no barrier orders.
    fn unordered(
        &self,
        accesses: [&SharedAccess; 2],
        meeting: Meeting,
        has_way: bool,
        context: &OrderContext<'_>,
    ) -> AccessOrder {
        let is_by_all = |access: &&SharedAccess| {
            is_uniform(self.request.module, context.non_uniform, access.index)
        };
        match meeting {
            Meeting::Certain if !has_way || !accesses.iter().all(is_by_all) => {
                AccessOrder::UnknownInvocations
            }
            Meeting::Certain if context.has_other_order => AccessOrder::UnknownOrder,
            Meeting::Certain => AccessOrder::Missing,
            Meeting::Possible | Meeting::OneInvocation | Meeting::Never => {
                AccessOrder::UnknownElements
            }
        }
    }

    /// Whether something else than barriers of the workgroup may order accesses.
    fn has_other_order(&self) -> bool {
        let module = self.request.module;
        let mut live = self.pointers.live.live_instructions();
        self.has_standalone_fence
            || self.atomics_order_others()
            || live.any(|index| works_in_subgroup(module, &module.instructions[index]))
    }

    fn kind_of(&self, access: &SharedAccess) -> AccessKind {
        if is_atomic(self.request.module.instructions[access.index].op) {
            AccessKind::Atomic
        } else if self.is_write(access) {
            AccessKind::Write
        } else {
            AccessKind::Read
        }
    }

    fn is_write(&self, access: &SharedAccess) -> bool {
        let writes = &self.accesses.writes;
        let position = writes.partition_point(|write| write.index < access.index);
        writes.get(position).is_some_and(|write| write.index == access.index)
    }

    /// Whether both are atomics that do not race: of one width, each reaching the workgroup.
    fn are_atomic(&self, first: &SharedAccess, second: &SharedAccess) -> bool {
        let both = first.atomicity == Atomicity::Atomic && second.atomicity == Atomicity::Atomic;
        both && first.path.steps.len() == second.path.steps.len()
            && first.path.declaration == second.path.declaration
            && [first, second].iter().all(|access| self.reaches_workgroup(access))
    }

    fn reaches_workgroup(&self, atomic: &SharedAccess) -> bool {
        let instruction = &self.request.module.instructions[atomic.index];
        let scope = instruction.id(1).and_then(|scope| self.pointers.constants.scalar_word(scope));
        scope.is_some_and(|number| Scope::from_number(number) >= Scope::Workgroup)
    }

    /// Whether different invocations can make two accesses between the same barriers. Where they
    /// reach all barriers alike, they go the same way up to a branch that they may take
    /// differently; so either the accesses follow each other on one way, or both come behind such a
    /// branch.
    fn can_be_unordered(
        &self,
        ordered: &OrderedWays,
        [first, second]: [&SharedAccess; 2],
        context: &OrderContext<'_>,
    ) -> bool {
        self.share(&ordered.intervals, first, second)
            && (context.has_divergent_barrier
                || self.share(&ordered.parted, first, second)
                || self.has_way(first, second, ordered))
    }

    /// Whether two accesses can follow one start without a barrier.
    fn share(&self, intervals: &[NodeSet], first: &SharedAccess, second: &SharedAccess) -> bool {
        let pieces = (self.graph.piece_of(first.index), self.graph.piece_of(second.index));
        let (Some(first), Some(second)) = pieces else { return false };
        intervals.iter().any(|pieces| pieces.contains(first) && pieces.contains(second))
    }

    /// Whether a way without a barrier leads from one access to the other.
    fn has_way(&self, first: &SharedAccess, second: &SharedAccess, ordered: &OrderedWays) -> bool {
        let pieces = (self.graph.piece_of(first.index), self.graph.piece_of(second.index));
        let (Some(first), Some(second)) = pieces else { return false };
        first == second
            || self.ways_behind(first, ordered).reaches(second)
            || self.ways_behind(second, ordered).reaches(first)
    }

    /// A way without a barrier from one access to the other.
    fn way(
        &self,
        write: &SharedAccess,
        other: &SharedAccess,
        ordered: &OrderedWays,
    ) -> Option<Vec<usize>> {
        let write_piece = self.graph.piece_of(write.index)?;
        let other_piece = self.graph.piece_of(other.index)?;
        if write_piece == other_piece {
            return Some(vec![write.index.min(other.index)]);
        }
        let way = |from, to| self.graph.way_to(to, &self.ways_behind(from, ordered));
        way(write_piece, other_piece).or_else(|| way(other_piece, write_piece))
    }

    fn ways_behind(&self, piece: usize, ordered: &OrderedWays) -> Rc<WaysBehind> {
        let mut known = ordered.ways_behind.borrow_mut();
        if known.len() * self.graph.piece_count() > MOST_KEPT_STATES {
            known.clear();
        }
        let ways = known
            .entry(piece)
            .or_insert_with(|| Rc::new(self.graph.ways_behind(piece, &ordered.ways)));
        Rc::clone(ways)
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
        (self.is_write(first) || self.is_write(second))
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

/// Whether an instruction may order or exchange values within subgroups.
fn works_in_subgroup(module: &Module, instruction: &Instruction) -> bool {
    let is_barrier = instruction.op == Op::ControlBarrier;
    let exchanges = matches!(effect_of(instruction.op), Some(Effect::Subgroup) | None);
    exchanges || is_barrier && !holds_workgroup(module, instruction)
}

/// Whether an instruction is executed by all invocations of a workgroup or by none.
pub(super) fn is_uniform(module: &Module, non_uniform: &NonUniformBlocks, index: usize) -> bool {
    let Some(function) = module.function_at(index) else { return false };
    let block = function.blocks.partition_point(|block| block.range.end <= index);
    function.blocks.get(block).is_some_and(|block| non_uniform.divergence_of(block.label).is_none())
}
