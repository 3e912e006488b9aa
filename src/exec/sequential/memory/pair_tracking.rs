//! Access pairs: which access wrote what another invocation, dispatch or the host made, and which
//! one read it, from access to access.
//!
//! Knows: the last definition of each cell of a store (`definitions`), and the intervals of the
//! workgroup that runs (`workgroup_intervals`). The machine tells each access of a lane before it
//! happens, and each barrier.
//! Promises: definitions belong to memory, whichever descriptor or address leads to it, and live on
//! from dispatch to dispatch. What an invocation reads of its own makes no pair, nor what nobody has
//! defined. Beyond a limit nothing is told but the limit.
//! Does not cover: values that subgroup operations pass; fences, flags and barriers of subgroups,
//! which order accesses apart from barriers of the workgroup: what they order is `unordered`.

use super::definitions::{
    Atomicity, Definition, FirstWriter, LATEST_TIME, SOURCE_INDEX_END, has_undefined_byte,
};
use super::pair_access::{PairAccess, PairPlace};
use super::store::Store;
use super::workgroup_intervals::WorkgroupIntervals;
use crate::ir::Program;
use crate::ir::memory_semantics::MemoryKinds;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use vkcert_exec::access_pairs::{AccessPairs, ModulePairs};
use vkcert_model::access_pair::{AccessPair, Passage, ReadDescriptor};
use vkcert_model::id::ModuleKey;
use vkcert_model::index_range::IndexRange;
use vkcert_model::random::mix_bits;

/// Most pairs of a job.
const MOST_PAIRS: usize = 1 << 20;

/// Most intervals that are remembered of a workgroup.
const MOST_INTERVALS: usize = 1 << 22;

/// Bytes of memory that definitions may take.
pub(crate) const MOST_DEFINITION_BYTES: u64 = 1 << 30;

/// Pairs that are known to be in the set, to look there less often.
const RECENT_PAIRS: usize = 256;

/// A pair of the dispatch that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DispatchPair {
    use_index: u32,
    descriptor: Option<u32>,
    way: Way,
}

/// By which way a value came, with the source index of what wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Host,
    /// From a dispatch, by its place in the job.
    Dispatch {
        dispatch: u32,
        store: u32,
    },
    Barrier {
        store: u32,
        barrier: u32,
    },
    Atomic {
        store: u32,
    },
    Unordered {
        store: u32,
    },
}

/// What was last noted, so that lanes alike are noted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LastNoted {
    place: PairPlace,
    /// A definition without its invocation whose pair is noted.
    definition: u64,
    /// Whether the pair with the host is noted.
    host: bool,
}

impl LastNoted {
    /// No definition has all bits set.
    const NO_DEFINITION: u64 = u64::MAX;

    fn at(place: PairPlace) -> Self {
        Self { place, definition: Self::NO_DEFINITION, host: false }
    }

    fn nothing() -> Self {
        Self::at(PairPlace {
            source_index: 0,
            descriptor: None,
            memory_kinds: MemoryKinds::NONE,
            time: 0,
        })
    }
}

/// Follows the accesses of a job.
#[derive(Debug)]
pub(crate) struct PairTracker {
    /// By dispatch so far: the time before it, and its module.
    dispatches: Vec<(u32, ModuleKey)>,
    /// The time before the dispatch that runs.
    time_before: u32,
    workgroup: WorkgroupIntervals,
    workgroup_index: u64,
    /// Workgroups that have yielded.
    yielded: HashMap<u64, WorkgroupIntervals>,
    /// Of the dispatch that runs, as the next two.
    pairs: BTreeSet<DispatchPair>,
    recent_pairs: Vec<Option<DispatchPair>>,
    executed_blocks: Vec<bool>,
    last_noted: LastNoted,
    modules: BTreeMap<ModuleKey, ModulePairs>,
    free_bytes: u64,
    limit_reached: Option<&'static str>,
}

impl PairTracker {
    /// Definitions may take `free_bytes` of memory.
    pub(crate) fn new(free_bytes: u64) -> Self {
        Self {
            dispatches: Vec::new(),
            time_before: 0,
            workgroup: WorkgroupIntervals::default(),
            workgroup_index: 0,
            yielded: HashMap::new(),
            pairs: BTreeSet::new(),
            recent_pairs: vec![None; RECENT_PAIRS],
            executed_blocks: Vec::new(),
            last_noted: LastNoted::nothing(),
            modules: BTreeMap::new(),
            free_bytes: free_bytes.min(MOST_DEFINITION_BYTES),
            limit_reached: None,
        }
    }

    /// A dispatch of a module with so many instructions begins.
    pub(crate) fn begin_dispatch(
        &mut self,
        module: ModuleKey,
        program: &Program,
        instruction_count: usize,
    ) {
        if instruction_count > SOURCE_INDEX_END {
            self.give_up("a module has too many instructions to follow its accesses");
        }
        self.dispatches.push((self.time_before, module));
        self.executed_blocks = vec![false; program.blocks.len()];
        self.last_noted = LastNoted::nothing();
        self.recent_pairs.fill(None);
        self.workgroup = WorkgroupIntervals::default();
        self.yielded.clear();
    }

    /// Memory gets cells of at most `granule` bytes.
    pub(crate) fn refine_definitions(&mut self, store: &mut Store, granule: u32) {
        let Some(definitions) = &mut store.definitions else { return };
        let added_bytes = definitions.refine(granule) as u64;
        self.take_bytes(added_bytes);
    }

    /// A workgroup begins or goes on.
    pub(crate) fn begin_workgroup(&mut self, workgroup_index: u64, time: u32) {
        let earlier_turns = self.yielded.remove(&workgroup_index);
        match earlier_turns {
            Some(intervals) => self.workgroup = intervals,
            None => self.workgroup.clear(),
        }
        self.workgroup_index = workgroup_index;
        let job_time = self.job_time(time);
        self.workgroup.begin_turn(job_time);
    }

    /// The workgroup that runs yields to others.
    pub(crate) fn yield_workgroup(&mut self, latest_time: u32) {
        let mut intervals = std::mem::take(&mut self.workgroup);
        intervals.end_turn(self.job_time(latest_time));
        self.yielded.insert(self.workgroup_index, intervals);
    }

    /// All of the workgroup have passed a barrier that orders these kinds of memory.
    pub(crate) fn pass_barrier(&mut self, kinds: MemoryKinds, barrier: u32, time: u32) {
        let job_time = self.job_time(time);
        self.workgroup.end_intervals(kinds, barrier, job_time);
        if self.workgroup.interval_count() > MOST_INTERVALS {
            self.give_up("a workgroup executes too many barriers to remember them");
            self.workgroup.clear();
        }
    }

    /// Some lanes execute a block.
    #[inline]
    pub(crate) fn note_block(&mut self, block_index: u32) {
        self.executed_blocks[block_index as usize] = true;
    }

    /// The time in the job of one in the dispatch.
    fn job_time(&mut self, time: u32) -> u32 {
        let job_time = self.time_before.saturating_add(time);
        if job_time > LATEST_TIME {
            self.give_up("the job has too many intervals between barriers to tell them apart");
        }
        job_time
    }

    fn give_up(&mut self, limit: &'static str) {
        self.limit_reached.get_or_insert(limit);
    }

    fn take_bytes(&mut self, bytes: u64) -> bool {
        match self.free_bytes.checked_sub(bytes) {
            Some(free_bytes) => {
                self.free_bytes = free_bytes;
                true
            }
            None => {
                self.give_up("who wrote what takes more memory than there is for it");
                false
            }
        }
    }

    /// An invocation is about to access bytes of a store.
    #[inline]
    pub(crate) fn observe(&mut self, store: &mut Store, access: &PairAccess) {
        if self.last_noted.place != access.place {
            self.last_noted = LastNoted::at(access.place);
        }
        if access.touch.reads() {
            self.observe_read(store, access);
        }
        if access.touch.writes() {
            self.observe_write(store, access);
        }
    }

    #[inline]
    fn observe_read(&mut self, store: &Store, access: &PairAccess) {
        let Some(definitions) = &store.definitions else { return };
        if definitions.is_unwritten() {
            return self.observe_first_contents(store, access, access.bytes);
        }
        for (position, definition) in definitions.of_bytes(access.bytes).iter().enumerate() {
            let is_noted = definition.without_invocation() == self.last_noted.definition;
            let is_own = definition.invocation() == access.invocation
                && self.workgroup.is_in_turn(definition.time());
            if is_noted || is_own {
                continue;
            }
            if definition.is_none() {
                let cell_bytes = definitions.bytes_in_cell(access.bytes, position);
                self.observe_first_contents(store, access, cell_bytes);
            } else {
                self.note_definition(*definition, access);
            }
        }
    }

    /// Bytes are read that no kernel has written.
    #[inline]
    fn observe_first_contents(&mut self, store: &Store, access: &PairAccess, bytes: IndexRange) {
        let first_writer = store.definitions.as_ref().map(|definitions| definitions.first_writer);
        if !self.last_noted.host
            && first_writer == Some(FirstWriter::Host)
            && !has_undefined_byte(store.undefined.as_ref(), bytes)
        {
            self.note_host(access.place);
        }
    }

    /// Contents that the host has defined are read.
    pub(crate) fn note_host(&mut self, place: PairPlace) {
        if self.last_noted.place != place {
            self.last_noted = LastNoted::at(place);
        }
        if !self.last_noted.host {
            self.last_noted.host = true;
            self.add_pair(place, Way::Host);
        }
    }

    fn note_definition(&mut self, definition: Definition, access: &PairAccess) {
        let Some(way) = self.way_from(definition, access) else { return };
        self.last_noted.definition = definition.without_invocation();
        self.add_pair(access.place, way);
    }

    /// By which way the value of a cell comes to an access; none from the invocation itself.
    fn way_from(&self, definition: Definition, access: &PairAccess) -> Option<Way> {
        let (time, store) = (definition.time(), definition.source_index());
        if time <= self.time_before {
            let later_dispatch =
                self.dispatches.partition_point(|(time_before, _)| *time_before < time);
            return Some(Way::Dispatch { dispatch: later_dispatch as u32 - 1, store });
        }
        if self.workgroup.has_run_at(time) {
            if definition.invocation() == access.invocation {
                return None;
            }
            let kind_number = access.place.memory_kinds.kind_numbers().next()?;
            if let Some(barrier) = self.workgroup.barrier_behind(kind_number, time) {
                return Some(Way::Barrier { store, barrier });
            }
        }
        let are_atomic = [definition.atomicity(), access.touch.atomicity()];
        Some(if are_atomic == [Atomicity::Atomic; 2] {
            Way::Atomic { store }
        } else {
            Way::Unordered { store }
        })
    }

    fn add_pair(&mut self, place: PairPlace, way: Way) {
        let pair =
            DispatchPair { use_index: place.source_index, descriptor: place.descriptor, way };
        let recent_pair = &mut self.recent_pairs[pair.recent_position()];
        if *recent_pair == Some(pair) {
            return;
        }
        *recent_pair = Some(pair);
        self.pairs.insert(pair);
        if self.pairs.len() > MOST_PAIRS {
            self.give_up("the job has too many pairs of accesses");
            self.pairs.clear();
        }
    }

    #[inline]
    fn observe_write(&mut self, store: &mut Store, access: &PairAccess) {
        let PairAccess { place, touch, bytes, invocation } = *access;
        let time = self.time_before.saturating_add(place.time);
        let Some(definitions) = &mut store.definitions else { return };
        if definitions.is_unwritten() {
            if !self.take_bytes(definitions.bytes_of_cells(store.words.len()) as u64) {
                return;
            }
            definitions.make_cells(store.words.len());
        }
        let (atomicity, source_index) = (touch.atomicity(), place.source_index);
        definitions.define(bytes, Definition::new(time, atomicity, source_index, invocation));
    }

    /// The dispatch that runs has ended at a time of its own. Loads of push constants are told
    /// here, since they leave no step.
    pub(crate) fn end_dispatch(
        &mut self,
        program: &Program,
        push_constants: &Store,
        latest_time: u32,
    ) {
        let Some((_, module)) = self.dispatches.last().copied() else { return };
        let executed_ranges: Vec<Range<u32>> = program
            .blocks
            .iter()
            .zip(&self.executed_blocks)
            .filter(|(_, is_executed)| **is_executed)
            .map(|(block, _)| block.source_range.start as u32..block.source_range.end as u32)
            .collect();
        let named_pairs = std::mem::take(&mut self.pairs).into_iter();
        // Push constants are those of this dispatch: what an earlier one executed read others.
        let mut of_dispatch = ModulePairs {
            pairs: named_pairs.map(|pair| pair.named(&self.dispatches, program)).collect(),
            executed: joined_ranges(executed_ranges),
        };
        let read_pairs = push_constant_pairs(program, push_constants, &of_dispatch);
        of_dispatch.pairs.extend(read_pairs);
        let module_pairs = self.modules.entry(module).or_default();
        module_pairs.pairs.extend(of_dispatch.pairs);
        module_pairs.executed.extend(of_dispatch.executed);
        module_pairs.executed = joined_ranges(std::mem::take(&mut module_pairs.executed));
        self.time_before = self.job_time(latest_time);
        if self.modules.values().map(|module| module.pairs.len()).sum::<usize>() > MOST_PAIRS {
            self.give_up("the job has too many pairs of accesses");
        }
    }

    pub(crate) fn into_access_pairs(self) -> AccessPairs {
        match self.limit_reached {
            Some(reason) => AccessPairs::Undetermined { reason: reason.to_owned() },
            None => AccessPairs::Tracked(self.modules),
        }
    }
}

impl DispatchPair {
    fn recent_position(self) -> usize {
        let way_bits = match self.way {
            Way::Host => 0,
            Way::Dispatch { dispatch, store } => u64::from(dispatch) << 32 | u64::from(store),
            Way::Barrier { store, barrier } => u64::from(barrier) << 32 | u64::from(store),
            Way::Atomic { store } | Way::Unordered { store } => u64::from(store),
        };
        mix_bits(way_bits ^ u64::from(self.use_index) << 20) as usize % RECENT_PAIRS
    }

    fn named(self, dispatches: &[(u32, ModuleKey)], program: &Program) -> AccessPair {
        let descriptor = self.descriptor.map(|index| {
            let descriptor = &program.descriptors[index as usize];
            ReadDescriptor { set: descriptor.set, binding: descriptor.binding }
        });
        let passage = match self.way {
            Way::Host => Passage::Host,
            Way::Dispatch { dispatch, store } => {
                let (_, ModuleKey { kernel, specialization }) = dispatches[dispatch as usize];
                Passage::Dispatch { kernel, specialization, store }
            }
            Way::Barrier { store, barrier } => Passage::Barrier { store, barrier },
            Way::Atomic { store } => Passage::Atomic { store },
            Way::Unordered { store } => Passage::Unordered { store },
        };
        AccessPair { use_index: self.use_index, descriptor, passage }
    }
}

/// The pairs of the loads of push constants that a dispatch executed.
fn push_constant_pairs(
    program: &Program,
    push_constants: &Store,
    of_dispatch: &ModulePairs,
) -> Vec<AccessPair> {
    let is_defined = |word: &u32| !push_constants.is_undefined(*word as usize);
    let executed_loads = program
        .push_constant_loads
        .iter()
        .filter(|load| of_dispatch.has_executed(load.source_index));
    executed_loads
        .filter(|load| load.words.iter().any(is_defined))
        .map(|load| AccessPair {
            use_index: load.source_index,
            descriptor: None,
            passage: Passage::Host,
        })
        .collect()
}

/// Ranges in ascending order, joined where they overlap or touch.
fn joined_ranges(mut ranges: Vec<Range<u32>>) -> Vec<Range<u32>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last_range) if range.start <= last_range.end => {
                last_range.end = last_range.end.max(range.end)
            }
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(joined_ranges(vec![7..9, 0..2, 2..3, 8..12, 20..21]), [0..3, 7..12, 20..21]);
    }
}
