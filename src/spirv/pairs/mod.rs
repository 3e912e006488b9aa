//! Which values of a kernel come from another side: the pairs of accesses that coverage of coupling
//! asks for, before any test runs.
//!
//! Knows: all accesses of an entry point to what it shares (`access`, `object`), the barriers of
//! its workgroup and what comes behind each (`intervals`), which invocations two indices bring
//! together (`index_forms`), what its host decides.
//! Promises: every pair that a run can show is listed, provided that bindings are distinct memory
//! unless they are said to be aliased, and that runs are free of races: a pair too many, never one too few. What a configuration
//! switches off stays, and is called so. Work is linear in the code for each barrier and each piece
//! of code that writes; beyond that it grows with the pairs, of which there is a limit by name.
//! Does not cover: stores that others overwrite on every way (both count), guards that let one
//! invocation alone come to two places, values that subgroup operations bring.

mod access;
mod apart;
#[cfg(test)]
mod apart_tests;
mod checks;
mod dispatch;
mod executors;
mod expression;
mod held_numbers;
mod host;
mod host_ranges;
mod index_form;
mod index_forms;
mod intervals;
mod meeting;
#[cfg(test)]
mod meeting_tests;
mod node_set;
mod object;
#[cfg(test)]
mod path_tests;
mod regions;
mod sum;
mod symbol_numbers;
#[cfg(test)]
mod tests;
mod word;

use access::{
    Atomicity, Coherence, SharedAccess, SharedAccesses, by_object, declares_vulkan_model,
};
pub use checks::{AccessOrder, ConflictingAccess, conflicting_accesses, idle_barriers};
pub use dispatch::{BoundBytes, SharedBindings, dispatch_pairs};
use executors::Executors;
use expression::Expressions;
pub use host_ranges::HostRanges;
use index_forms::IndexForms;
use intervals::{FollowedWays, IntervalGraph, IntervalStart};
use meeting::{AccessSide, Meeting, MeetingRange, WorkgroupMeetings};
pub use object::{ObjectPath, PathStep, SharedObject};
use object::{PathRelation, PathTypes};
pub use regions::{BarrierRegion, barrier_regions};
pub use sum::WordRange;

use super::barriers::{barrier_fences, has_standalone_fence};
use super::flow::pointer::PointerAnalysis;
use super::flow::{DecidedBranches, with_pointers};
use super::fold::ConstantFolding;
use super::interface::{ReflectError, Reflection};
use super::memory_semantics::{ACQUIRE, MemoryKinds, RELEASE};
use super::module::{Id, Instruction, Module};
use super::opcodes::is_atomic;
use node_set::NodeSet;
use rspirv::spirv::Op;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vkcert_model::access_pair::{AccessPair, Passage, ReadDescriptor};
use vkcert_model::pair_obligation::ShownBy;
use vkcert_model::project::MemoryModel;
use vkcert_model::records::Reach;

/// Most pairs of instructions that are listed.
pub const MOST_PAIRS: usize = 200_000;

/// Most invocations of a workgroup that are looked at one by one: more than devices allow today.
const MOST_INVOCATIONS: u64 = 1 << 16;

/// Which kernel's pairs are asked for, and under which rules.
#[derive(Debug, Clone, Copy)]
pub struct PairRequest<'a> {
    /// The production module.
    pub module: &'a Module,
    /// Name of the entry point.
    pub entry: &'a str,
    /// Raw bits by SpecId.
    pub specialization: &'a BTreeMap<u32, u64>,
    /// What orders memory.
    pub memory_model: MemoryModel,
    /// Bindings whose contents the host never writes, as its interface says.
    pub unwritten_by_host: &'a BTreeSet<ReadDescriptor>,
    /// Bindings that can hold one buffer or image in a dispatch, each pair both ways.
    pub aliased: &'a BTreeSet<(ReadDescriptor, ReadDescriptor)>,
}

/// A pair that runs may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticPair {
    /// The instructions and the way between them, as runs name them.
    pub pair: AccessPair,
    /// The part of the object that both access.
    pub part: ObjectPath,
    /// The part in GLSL's words, indices left out.
    pub name: String,
    /// Whether the configuration lets control come to both.
    pub reach: Reach,
}

impl StaticPair {
    /// How runs show it.
    pub fn shown_by(&self) -> ShownBy {
        match self.part.object {
            SharedObject::Workgroup(_)
            | SharedObject::Descriptor(_)
            | SharedObject::Addressed
            | SharedObject::PushConstants => ShownBy::Read,
            SharedObject::SpecializationConstant(_) | SharedObject::NumWorkgroups => {
                ShownBy::Execution
            }
        }
    }
}

/// The pairs cannot be told.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    /// The entry point cannot be described.
    #[error(transparent)]
    Reflect(#[from] ReflectError),
    /// There are more than are listed.
    #[error("the kernel has more than {MOST_PAIRS} pairs of accesses")]
    TooMany,
    /// A workgroup has more invocations than are looked at one by one.
    #[error("the workgroup has more than {MOST_INVOCATIONS} invocations")]
    TooManyInvocations,
}

/// The pairs of a kernel, in the order of its uses: what its host and its invocations write that it
/// reads.
pub fn static_pairs(request: &PairRequest<'_>) -> Result<Vec<StaticPair>, PairError> {
    let reached = with_kernel(request, DecidedBranches::Specialized, |kernel| kernel.all_pairs())??;
    if !has_specialization_constants(request.module) {
        return Ok(with_excluded(reached, Vec::new()));
    }
    let possible =
        with_kernel(request, DecidedBranches::Unspecialized, |kernel| kernel.all_pairs())??;
    Ok(with_excluded(reached, possible))
}

/// Whether a configuration can change what of a module is reached.
fn has_specialization_constants(module: &Module) -> bool {
    let is_one = |instruction: &Instruction| {
        matches!(instruction.op, Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse)
    };
    module.instructions.iter().any(is_one)
}

/// Pairs under a configuration, with those that it alone excludes of all `possible` ones.
fn with_excluded(reached: Vec<StaticPair>, possible: Vec<StaticPair>) -> Vec<StaticPair> {
    let key = |pair: &StaticPair| (pair.pair, pair.part.clone());
    let mut pairs: BTreeMap<_, StaticPair> = BTreeMap::new();
    for pair in possible {
        pairs.insert(key(&pair), StaticPair { reach: Reach::Excluded, ..pair });
    }
    for pair in reached {
        pairs.insert(key(&pair), pair);
    }
    pairs.into_values().collect()
}

/// Kinds of memory, each by itself.
const MEMORY_KINDS: [MemoryKinds; 3] =
    [MemoryKinds::BUFFERS, MemoryKinds::IMAGES, MemoryKinds::WORKGROUP];

/// Which fences count for a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FenceUse {
    /// Its own and those directly beside it, where scopes and semantics are constants.
    CertainlyOfBarriers,
    /// The same; a barrier whose semantics are no constants orders everything.
    BesideBarriers,
    /// Also those that stand apart, which may add to any barrier.
    Anywhere,
}

/// What is known of a kernel where its pairs are looked for.
struct KernelPairs<'a> {
    request: &'a PairRequest<'a>,
    folding: &'a ConstantFolding<'a>,
    pointers: &'a PointerAnalysis<'a>,
    accesses: SharedAccesses,
    graph: IntervalGraph,
    forms: &'a IndexForms<'a>,
    executors: &'a Executors<'a>,
    expressions: &'a Expressions<'a>,
    /// What comparing invocations one by one may still cost.
    work_left: Cell<usize>,
    /// Whether memory barriers stand apart from barriers of the workgroup.
    has_standalone_fence: bool,
    paths: PathTypes<'a>,
    /// By the numbers of two sides, and between whom they are compared.
    meetings: RefCell<HashMap<([usize; 2], MeetingRange), Meeting>>,
    /// By what decides them.
    workgroup_meetings: WorkgroupMeetings,
    /// The sides of accesses that were compared, numbered as they came.
    side_numbers: RefCell<HashMap<AccessSide, usize>>,
    /// By the number of an access: that of its side.
    sides: RefCell<HashMap<usize, usize>>,
}

fn with_kernel<T>(
    request: &PairRequest<'_>,
    branches: DecidedBranches,
    query: impl FnOnce(&KernelPairs<'_>) -> T,
) -> Result<T, PairError> {
    let PairRequest { module, entry, specialization, .. } = *request;
    let reflection = Reflection::of_entry_point(module, entry, specialization)?;
    let sizes = reflection.local_size.map(u64::from);
    // No size is 0: a product that is too large stays so.
    if sizes.into_iter().fold(1, u64::saturating_mul) > MOST_INVOCATIONS {
        return Err(PairError::TooManyInvocations);
    }
    let answer = with_pointers(branches, module, entry, specialization, |folding, pointers| {
        let forms = IndexForms::new(pointers, reflection.local_size);
        let executors =
            Executors::new(pointers, &forms, reflection.local_size, reflection.function);
        let expressions = Expressions::new(pointers, &forms, &executors);
        query(&KernelPairs {
            request,
            folding,
            pointers,
            accesses: SharedAccesses::of_kernel(pointers),
            graph: IntervalGraph::of_kernel(folding, pointers.live, reflection.function),
            forms: &forms,
            executors: &executors,
            expressions: &expressions,
            work_left: Cell::new(apart::MOST_WORK),
            has_standalone_fence: has_standalone_fence(module),
            paths: PathTypes { module, types: pointers.types, aliased: request.aliased },
            meetings: RefCell::default(),
            workgroup_meetings: WorkgroupMeetings::default(),
            side_numbers: RefCell::default(),
            sides: RefCell::default(),
        })
    })?;
    Ok(answer)
}

impl KernelPairs<'_> {
    fn all_pairs(&self) -> Result<Vec<StaticPair>, PairError> {
        let mut pairs = self.host_pairs();
        self.add_barrier_pairs(&mut pairs)?;
        self.add_atomic_pairs(&mut pairs)?;
        Ok(pairs)
    }

    fn static_pair(&self, read: &SharedAccess, passage: Passage, part: &ObjectPath) -> StaticPair {
        let descriptor = match read.path.object {
            SharedObject::Descriptor(descriptor) => Some(descriptor),
            SharedObject::Workgroup(_)
            | SharedObject::Addressed
            | SharedObject::PushConstants
            | SharedObject::SpecializationConstant(_)
            | SharedObject::NumWorkgroups => None,
        };
        let part = ObjectPath { steps: part.members(), ..part.clone() };
        StaticPair {
            pair: AccessPair { use_index: read.index as u32, descriptor, passage },
            name: self.paths.name(&part),
            part,
            reach: Reach::Possible,
        }
    }

    /// What one invocation writes and another one of its workgroup reads behind a barrier: the
    /// first one behind the write that orders the kind of memory.
    fn add_barrier_pairs(&self, pairs: &mut Vec<StaticPair>) -> Result<(), PairError> {
        let all_ways = self.graph.ways_up_to(BTreeSet::new());
        for kind in MEMORY_KINDS {
            let ordering_ways = self.ways_for(kind, FenceUse::BesideBarriers);
            self.add_pairs_behind(pairs, kind, &ordering_ways, &all_ways)?;
            // Fences that stand apart may make any barrier order what it does not order itself.
            if self.has_standalone_fence {
                let ways = self.graph.ways_up_to(self.graph.barriers().collect());
                self.add_pairs_behind(pairs, kind, &ways, &ordering_ways)?;
            }
        }
        Ok(())
    }

    /// The pairs of writes, the barriers at which the ways behind them end, and what comes behind
    /// these on other ways.
    fn add_pairs_behind(
        &self,
        pairs: &mut Vec<StaticPair>,
        kind: MemoryKinds,
        before: &FollowedWays,
        behind: &FollowedWays,
    ) -> Result<(), PairError> {
        let reads_by_object = by_object(&self.accesses.reads);
        let mut reached_pieces: HashMap<usize, NodeSet> = HashMap::new();
        let mut first_barriers: HashMap<usize, BTreeSet<usize>> = HashMap::new();
        for write in self.writes_of(kind) {
            let Some(piece) = self.graph.piece_of(write.index) else { continue };
            let barriers = first_barriers
                .entry(piece)
                .or_insert_with(|| self.graph.reached_behind(piece, before).barriers);
            for barrier in barriers.iter().filter(|barrier| before.ends_at(**barrier)) {
                let pieces = reached_pieces.entry(*barrier).or_insert_with(|| {
                    self.graph.reached_from(IntervalStart::Barrier(*barrier), behind).pieces
                });
                for read in self.overlapping(&reads_by_object, write) {
                    let is_behind =
                        self.graph.piece_of(read.index).is_some_and(|piece| pieces.contains(piece));
                    if is_behind && self.meets(write, read, MeetingRange::Workgroup) {
                        let (store, barrier) = (write.index as u32, *barrier as u32);
                        self.push(pairs, write, read, Passage::Barrier { store, barrier })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn writes_of(&self, kind: MemoryKinds) -> impl Iterator<Item = &SharedAccess> {
        let writes = self.accesses.writes.iter();
        writes.filter(move |write| self.paths.memory_kind(&write.path) == Some(kind))
    }

    /// Ways between the barriers that order a kind of memory.
    fn ways_for(&self, kind: MemoryKinds, fences: FenceUse) -> FollowedWays {
        let barriers = self.graph.barriers();
        self.graph
            .ways_up_to(barriers.filter(|barrier| self.orders(*barrier, kind, fences)).collect())
    }

    /// What atomics bring from one invocation to another without a barrier, and what is ordered by
    /// such atomics.
    fn add_atomic_pairs(&self, pairs: &mut Vec<StaticPair>) -> Result<(), PairError> {
        let reads_by_object = by_object(&self.accesses.reads);
        let orders_others = self.atomics_order_others();
        let ways = self.ways_for(MemoryKinds::WORKGROUP, FenceUse::BesideBarriers);
        let intervals = self.intervals(&ways);
        let share_interval = |write: &SharedAccess, read: &SharedAccess| {
            let pieces = (self.graph.piece_of(write.index), self.graph.piece_of(read.index));
            let (Some(writing), Some(reading)) = pieces else { return false };
            intervals.iter().any(|pieces| pieces.contains(writing) && pieces.contains(reading))
        };
        for write in &self.accesses.writes {
            for read in self.overlapping(&reads_by_object, write) {
                let both_atomic =
                    write.atomicity == Atomicity::Atomic && read.atomicity == Atomicity::Atomic;
                let handed_over =
                    orders_others && self.is_seen_by_others(write) && self.is_seen_by_others(read);
                if !both_atomic && !handed_over {
                    continue;
                }
                let range = match write.path.object {
                    SharedObject::Workgroup(_) if !share_interval(write, read) => continue,
                    SharedObject::Workgroup(_) => MeetingRange::Workgroup,
                    SharedObject::Descriptor(_)
                    | SharedObject::Addressed
                    | SharedObject::PushConstants
                    | SharedObject::SpecializationConstant(_)
                    | SharedObject::NumWorkgroups => MeetingRange::Dispatch,
                };
                if self.meets(write, read, range) {
                    let passage = Passage::Atomic { store: write.index as u32 };
                    self.push(pairs, write, read, passage)?;
                }
            }
        }
        Ok(())
    }

    fn push(
        &self,
        pairs: &mut Vec<StaticPair>,
        write: &SharedAccess,
        read: &SharedAccess,
        passage: Passage,
    ) -> Result<(), PairError> {
        if pairs.len() >= MOST_PAIRS {
            return Err(PairError::TooMany);
        }
        // The smaller part is what both access.
        let is_inside =
            write.path.object == read.path.object && write.path.steps.len() > read.path.steps.len();
        let part = if is_inside { &write.path } else { &read.path };
        pairs.push(self.static_pair(read, passage, part));
        Ok(())
    }

    /// Those of some accesses that may be to memory that a write is to, indices left aside.
    fn overlapping<'s>(
        &'s self,
        accesses_by_object: &'s BTreeMap<SharedObject, Vec<&'s SharedAccess>>,
        write: &'s SharedAccess,
    ) -> impl Iterator<Item = &'s SharedAccess> {
        let objects = accesses_by_object.iter().filter(move |(object, accesses)| {
            **object == write.path.object
                || accesses.first().is_some_and(|access| {
                    write.path.relation(&access.path, &self.paths) != PathRelation::Apart
                })
        });
        objects.flat_map(|(_, accesses)| accesses.iter().copied())
    }

    /// Whether a barrier orders a kind of memory.
    fn orders(&self, barrier: usize, kind: MemoryKinds, fences: FenceUse) -> bool {
        let module = self.request.module;
        if fences == FenceUse::Anywhere && self.has_standalone_fence {
            return true;
        }
        let barrier_fences = barrier_fences(module, self.pointers.constants, barrier);
        match barrier_fences {
            Some(fences) => fences.ordered_memory(self.request.memory_model).kinds().contains(kind),
            None => fences != FenceUse::CertainlyOfBarriers,
        }
    }

    /// What invocations can come to between two of the barriers at which ways end, for each place
    /// where such a stretch begins.
    fn intervals(&self, ways: &FollowedWays) -> Vec<NodeSet> {
        let starts = self.graph.starts_of(ways).into_iter();
        starts.map(|start| self.graph.reached_from(start, ways).pieces).collect()
    }

    /// Whether atomics of the kernel can order accesses that are not atomic: by their own
    /// semantics, or by fences that stand apart from barriers.
    fn atomics_order_others(&self) -> bool {
        let module = self.request.module;
        let mut atomics =
            module.instructions.iter().filter(|instruction| is_atomic(instruction.op)).peekable();
        if atomics.peek().is_none() {
            return false;
        }
        let releases_or_acquires = |semantics: Id| {
            let bits = self.pointers.constants.scalar_word(semantics);
            bits.is_none_or(|bits| bits & (RELEASE | ACQUIRE) != 0)
        };
        atomics.any(|atomic| atomic.id(2).is_some_and(releases_or_acquires))
            || self.has_standalone_fence
    }

    /// Whether a write can be made visible to other invocations by fences, or a read sees such
    /// writes: workgroup memory, and what is declared coherent or volatile; in modules of the
    /// Vulkan memory model accesses say so one by one, and all are taken to.
    fn is_seen_by_others(&self, access: &SharedAccess) -> bool {
        let is_workgroup = matches!(access.path.object, SharedObject::Workgroup(_));
        is_workgroup
            || access.atomicity == Atomicity::Atomic
            || access.coherence == Coherence::Coherent
            || declares_vulkan_model(self.request.module)
    }
}
