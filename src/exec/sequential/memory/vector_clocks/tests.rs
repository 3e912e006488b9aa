//! Random histories against the definitions of the memory model: every pair of accesses is ordered
//! exactly if they say so.

use super::cell::{AtomicEvent, ExactCell, ExactCells};
use crate::ir::access_facts::{AccessFacts, Atomicity, DeclaredModel, FactsByInstruction};
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::memory_semantics::{ACQUIRE, Fence, MemoryKinds, RELEASE, Scope};
use crate::ir::subgroup_operation::SubgroupMembers;
use crate::memory::race_shadow::AccessStamp;
use crate::memory::vector_clocks::{AccessQuery, HappensBefore, MissingOrder, is_atomic, is_write};
use std::sync::Arc;
use vkcert_model::random::SplitMix64;

const INVOCATIONS: u32 = 4;
pub(super) const SUBGROUP: u32 = 2;
/// Semantics of fences: acquire, release or both, of buffers, of workgroup memory or of both; and
/// none.
const SEMANTICS: [u32; 8] = [0x42, 0x44, 0x48, 0x102, 0x104, 0x108, 0x148, 0];
const SCOPES: [u32; 3] = [1, 2, 3];
pub(super) const KINDS: [MemoryKinds; 2] = [MemoryKinds::BUFFERS, MemoryKinds::WORKGROUP];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A plain write to memory of a kind.
    Access(MemoryKinds),
    Fence(Fence),
    /// On the flag of this number; what it does, its place in the table of facts.
    Atomic {
        flag: usize,
        op: AtomicOperation,
        fence: Fence,
    },
    /// Of all who are named by the bits.
    Barrier {
        who: u32,
        number: usize,
        fence: Fence,
    },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Happening {
    pub(super) workgroup: u64,
    pub(super) invocation: u32,
    pub(super) event: Event,
}

impl Happening {
    pub(super) fn fence(&self) -> Option<Fence> {
        match self.event {
            Event::Access(_) => None,
            Event::Fence(fence) | Event::Atomic { fence, .. } | Event::Barrier { fence, .. } => {
                Some(fence)
            }
        }
    }

    pub(super) fn releases(&self) -> MemoryKinds {
        let writes = !matches!(self.event, Event::Atomic { op: AtomicOperation::Load, .. });
        self.fence()
            .filter(|fence| writes && fence.semantics & RELEASE != 0)
            .map_or(MemoryKinds::NONE, Fence::released_kinds)
    }

    pub(super) fn acquires(&self) -> MemoryKinds {
        let reads = !matches!(self.event, Event::Atomic { op: AtomicOperation::Store, .. });
        self.fence()
            .filter(|fence| reads && fence.semantics & ACQUIRE != 0)
            .map_or(MemoryKinds::NONE, Fence::acquired_kinds)
    }

    fn is_barrier(&self) -> bool {
        matches!(self.event, Event::Fence(_) | Event::Barrier { .. })
    }

    fn is_atomic(&self) -> bool {
        matches!(self.event, Event::Atomic { .. })
    }

    /// Whether its scope has the other's invocation.
    pub(super) fn has(&self, other: &Happening) -> bool {
        match self.fence().map(Fence::reach) {
            Some(Scope::Device) => true,
            Some(Scope::Workgroup) => self.workgroup == other.workgroup,
            Some(Scope::Subgroup) => {
                self.workgroup == other.workgroup
                    && self.invocation / SUBGROUP == other.invocation / SUBGROUP
            }
            Some(Scope::Invocation) | None => false,
        }
    }
}

/// Flag 0 lies in a buffer, flag 1 in workgroup memory.
pub(super) fn memory(flag: usize) -> MemoryKinds {
    KINDS[flag]
}

/// The relations of the specification over a history.
pub(super) struct Definition<'a>(pub(super) &'a [Happening]);

impl Definition<'_> {
    pub(super) fn program_ordered(&self, a: usize, b: usize) -> bool {
        let (one, two) = (&self.0[a], &self.0[b]);
        a < b && (one.workgroup, one.invocation) == (two.workgroup, two.invocation)
    }

    fn same_flag(&self, a: usize, b: usize) -> bool {
        let of = |at: usize| match self.0[at].event {
            // Workgroup memory is each workgroup's own.
            Event::Atomic { flag, .. } => {
                Some((flag, if flag == 1 { self.0[at].workgroup } else { 0 }))
            }
            _ => None,
        };
        of(a).is_some() && of(a) == of(b)
    }

    /// Whether `y` reads what `x` wrote, or what the release sequence that it heads wrote.
    fn reads_from(&self, x: usize, y: usize) -> bool {
        let op = |at: usize| match self.0[at].event {
            Event::Atomic { op, .. } => Some(op),
            _ => None,
        };
        let (writes, reads) = (
            op(x).is_some_and(|op| op != AtomicOperation::Load),
            op(y).is_some_and(|op| op != AtomicOperation::Store),
        );
        let between = || (x + 1..y).filter(|at| self.same_flag(x, *at));
        let (one, two) = (&self.0[x], &self.0[y]);
        writes
            && reads
            && x < y
            && self.same_flag(x, y)
            && one.has(two)
            && two.has(one)
            && between().all(|at| op(at) != Some(AtomicOperation::Store))
    }

    fn synchronizes(&self, a: usize, b: usize) -> bool {
        let (one, two) = (&self.0[a], &self.0[b]);
        if one.releases().is_empty() || two.acquires().is_empty() || !one.has(two) || !two.has(one)
        {
            return false;
        }
        let all = 0..self.0.len();
        let carried = |x: usize| match self.0[x].event {
            Event::Atomic { flag, .. } => memory(flag),
            _ => MemoryKinds::NONE,
        };
        // The atomics that carry a release: it itself, or those behind a fence; and the same of an
        // acquire.
        let from = |x: usize| {
            (x == a && one.is_atomic())
                || (one.is_barrier()
                    && self.program_ordered(a, x)
                    && one.releases().contains(carried(x)))
        };
        let to = |y: usize| {
            (y == b && two.is_atomic())
                || (two.is_barrier()
                    && self.program_ordered(y, b)
                    && two.acquires().contains(carried(y)))
        };
        if all.clone().any(|x| from(x) && all.clone().any(|y| to(y) && self.reads_from(x, y))) {
            return true;
        }
        let meets = |c: usize, d: usize| match (self.0[c].event, self.0[d].event) {
            (Event::Barrier { number, .. }, Event::Barrier { number: other, .. }) => {
                number == other
            }
            _ => false,
        };
        let before = |c: usize| c == a || self.program_ordered(a, c);
        let behind = |d: usize| d == b || self.program_ordered(d, b);
        one.is_barrier()
            && two.is_barrier()
            && all.clone().any(|c| before(c) && all.clone().any(|d| behind(d) && meets(c, d)))
    }

    /// Inter-thread-happens-before for one kind of memory, as its transitive closure.
    pub(super) fn happens_before(&self, kind: MemoryKinds) -> Vec<Vec<bool>> {
        let count = self.0.len();
        let about = |at: usize| {
            self.0[at].event == Event::Access(kind)
                || self.0[at].releases().union(self.0[at].acquires()).contains(kind)
        };
        let direct = |a: usize, b: usize| {
            let released = self.0[a].releases().contains(kind)
                && self.0[b].acquires().contains(kind)
                && self.synchronizes(a, b);
            let po = self.program_ordered(a, b) && about(a) && about(b);
            released
                || (po
                    && (self.0[b].releases().contains(kind) || self.0[a].acquires().contains(kind)))
        };
        let mut all: Vec<Vec<bool>> =
            (0..count).map(|a| (0..count).map(|b| direct(a, b)).collect()).collect();
        for middle in 0..count {
            let behind = all[middle].clone();
            for row in all.iter_mut().filter(|row| row[middle]) {
                row.iter_mut().zip(&behind).for_each(|(one, other)| *one |= other);
            }
        }
        all
    }
}

/// A run of the engine's own order over the same history.
pub(super) struct Engine {
    pub(super) order: HappensBefore,
    pub(super) flags: [ExactCells; 2],
    pub(super) time: u32,
    pub(super) running: u64,
    pub(super) started: Vec<u64>,
    /// Workgroup memory of the one that does not run.
    pub(super) other: ExactCells,
    /// Whether barriers order by themselves what their semantics release and acquire, as they do in
    /// programs.
    pub(super) whole: bool,
}

impl Engine {
    pub(super) fn new(places: FactsByInstruction) -> Self {
        let order = HappensBefore::new(Arc::new(places), INVOCATIONS, SUBGROUP);
        let mut engine = Self {
            order,
            flags: [ExactCells::default(), ExactCells::default()],
            time: 0,
            running: 0,
            started: Vec::new(),
            other: ExactCells::default(),
            whole: false,
        };
        engine.run(0);
        engine
    }

    pub(super) fn run(&mut self, workgroup: u64) {
        if self.running == workgroup && !self.started.is_empty() {
            return;
        }
        self.time += 1;
        if !self.started.is_empty() {
            self.order.suspend_workgroup();
            std::mem::swap(&mut self.flags[1], &mut self.other);
        }
        if self.started.contains(&workgroup) {
            self.order.resume_workgroup(workgroup, self.time);
        } else {
            self.order.start_workgroup(workgroup, self.time);
            self.started.push(workgroup);
        }
        self.running = workgroup;
    }

    /// Does an event of an invocation; the stamp of an access.
    pub(super) fn act(&mut self, invocation: u32, event: Event, place: u32) -> Option<AccessStamp> {
        self.time += 1;
        match event {
            Event::Access(_) => return Some(self.order.access_stamp(invocation, place)),
            Event::Fence(fence) => self.order.execute_fence(invocation, fence, self.time),
            Event::Atomic { flag, op, fence: _ } => {
                let touch = op.access_kind();
                let told = AtomicEvent {
                    invocation,
                    source_index: place,
                    carrier_kinds: memory(flag),
                    operation: op,
                    access_kind: touch,
                    next_time: self.time,
                };
                self.flags[flag].record_atomic(0, &told, &mut self.order);
            }
            Event::Barrier { who, number: _, fence } => {
                let all = who == (1 << INVOCATIONS) - 1;
                let reaches = fence.reach() >= if all { Scope::Workgroup } else { Scope::Subgroup };
                let whole = fence.released_kinds().intersection(fence.acquired_kinds());
                let whole = if self.whole && reaches { whole } else { MemoryKinds::NONE };
                if who == (1 << INVOCATIONS) - 1 {
                    self.order.workgroup_barrier(whole, fence, self.time);
                } else {
                    let first = who.trailing_zeros() / SUBGROUP * SUBGROUP;
                    let members =
                        SubgroupMembers { active: u128::from(who >> first), size: SUBGROUP };
                    self.order.subgroup_barrier(first, members, whole, fence, self.time);
                }
            }
        }
        None
    }
}

/// Barriers are numbered from `first` on.
pub(super) fn events(draw: &mut SplitMix64, first: usize) -> Vec<Happening> {
    let mut pick = |count: usize| draw.integer(0, count as i128 - 1) as usize;
    let mut history = Vec::new();
    for number in first..first + 4 + pick(14) {
        let (workgroup, invocation) = (u64::from(pick(5) == 0), pick(INVOCATIONS as usize) as u32);
        let fence = Fence {
            scope: SCOPES[pick(3).min(pick(3))],
            semantics: SEMANTICS[pick(SEMANTICS.len())],
        };
        let event = match pick(10) {
            0..=2 => Event::Access(KINDS[pick(2)]),
            3..=4 => Event::Fence(fence),
            5..=7 => {
                let op = [
                    AtomicOperation::Load,
                    AtomicOperation::Store,
                    AtomicOperation::Add,
                    AtomicOperation::Add,
                ][pick(4)];
                let semantics = if pick(2) == 0 { 0 } else { fence.semantics };
                // A load does not release, a store does not acquire.
                let semantics = match (op, semantics & 0xe) {
                    (AtomicOperation::Load, 4 | 8) | (AtomicOperation::Store, 2 | 8) => 0,
                    _ => semantics,
                };
                Event::Atomic { flag: pick(2), op, fence: Fence { semantics, ..fence } }
            }
            8 => Event::Barrier { who: (1 << INVOCATIONS) - 1, number, fence },
            _ => Event::Barrier { who: 3 << (2 * pick(2)), number, fence },
        };
        match event {
            Event::Barrier { who, .. } => {
                let all = (0..INVOCATIONS).filter(|one| who >> one & 1 == 1);
                history.extend(all.map(|invocation| Happening { workgroup, invocation, event }));
            }
            _ => history.push(Happening { workgroup, invocation, event }),
        }
    }
    history
}

/// By place, which is the number of the event: coherent, and of an atomic its scope and semantics.
pub(super) fn places(history: &[Happening]) -> FactsByInstruction {
    let facts = history.iter().enumerate().map(|(at, one)| {
        let atomic = match one.event {
            Event::Atomic { fence, .. } => Some(Atomicity { fence, bytes: 4 }),
            _ => None,
        };
        (at as u32, AccessFacts { coherent: true, atomic, ..AccessFacts::default() })
    });
    let wide =
        history.iter().filter_map(Happening::fence).all(|fence| fence.reach() == Scope::Device);
    let mut places = FactsByInstruction::from_facts(DeclaredModel::Implicit, facts);
    places.all_reach_device = wide;
    places
}

/// Whether an event of a history is executed by itself. A barrier is one event of all participants,
/// which stand next to each other: only the first of them executes it.
pub(super) fn is_executed(history: &[Happening], position: usize) -> bool {
    let Some(before) = position.checked_sub(1).map(|before| history[before].event) else {
        return true;
    };
    !matches!(
        (before, history[position].event),
        (Event::Barrier { number, .. }, Event::Barrier { number: own_number, .. })
            if number == own_number
    )
}

#[test]
fn accesses_are_ordered_as_the_memory_model_defines() {
    let mut draw = SplitMix64::new(17);
    let (mut ordered, mut unordered) = (0, 0);
    for _ in 0..8_000 {
        let history = events(&mut draw, 0);
        let definition = Definition(&history);
        let relations = KINDS.map(|kind| definition.happens_before(kind));
        let mut engine = Engine::new(places(&history));
        let mut stamps: Vec<(usize, AccessStamp)> = Vec::new();
        for (at, one) in history.iter().enumerate() {
            if !is_executed(&history, at) {
                continue;
            }
            engine.run(one.workgroup);
            let Some(stamp) = engine.act(one.invocation, one.event, at as u32) else { continue };
            let Event::Access(kind) = one.event else { continue };
            let number = KINDS.iter().position(|other| *other == kind).unwrap();
            let asked = AccessQuery {
                access_kind: AccessKind::Write,
                invocation: one.invocation,
                source_index: at as u32,
            };
            for (earlier, other) in
                stamps.iter().filter(|(earlier, _)| history[*earlier].event == one.event)
            {
                let due =
                    definition.program_ordered(*earlier, at) || relations[number][*earlier][at];
                let found = engine.order.missing_order((*other, AccessKind::Write), &asked, kind);
                assert_eq!(
                    found,
                    (!due).then_some(MissingOrder::Order),
                    "{earlier} and {at} of {history:?}"
                );
                *(if due { &mut ordered } else { &mut unordered }) += 1;
            }
            stamps.push((at, stamp));
        }
    }
    println!("{ordered} pairs in order, {unordered} not");
    assert!(ordered > 1_000 && unordered > 1_000, "{ordered} {unordered}");
}

const TOUCHES: [AccessKind; 4] =
    [AccessKind::Read, AccessKind::Write, AccessKind::AtomicRead, AccessKind::AtomicWrite];

/// Facts of eight instructions: plain ones, then atomic ones of each scope and of two widths.
fn instructions(declared: DeclaredModel) -> FactsByInstruction {
    let plain = |coherent: bool| AccessFacts {
        coherent,
        available: Some(Scope::Workgroup),
        ..AccessFacts::default()
    };
    let atomic = |scope: u32, bytes: u32| AccessFacts {
        coherent: true,
        atomic: Some(Atomicity { fence: Fence { scope, semantics: 0 }, bytes }),
        available: Some(Scope::Device),
        visible: Some(Scope::Device),
        ..AccessFacts::default()
    };
    let facts = [
        plain(true),
        plain(false),
        plain(true),
        plain(false),
        atomic(1, 4),
        atomic(2, 4),
        atomic(3, 4),
        atomic(1, 2),
    ];
    FactsByInstruction::from_facts(
        declared,
        facts.into_iter().enumerate().map(|(place, facts)| (place as u32, facts)),
    )
}

/// A cell forgets accesses and skips those that a barrier has settled: what it tells is what all of
/// them would.
#[test]
fn a_cell_tells_a_race_exactly_where_some_earlier_access_is_not_ordered() {
    let mut draw = SplitMix64::new(23);
    let (mut races, mut none) = (0, 0);
    for round in 0..6_000 {
        let mut pick = |count: usize| draw.integer(0, count as i128 - 1) as usize;
        let declared = if round % 4 == 0 { DeclaredModel::Vulkan } else { DeclaredModel::Implicit };
        let mut engine = Engine::new(instructions(declared));
        let mut cells = [ExactCell::default(), ExactCell::default()];
        let mut all: [Vec<(AccessStamp, AccessKind)>; 2] = Default::default();
        for _ in 0..60 {
            if pick(12) == 0 {
                engine.run(pick(3) as u64);
            }
            let invocation = pick(INVOCATIONS as usize) as u32;
            let fence =
                Fence { scope: SCOPES[pick(3)], semantics: SEMANTICS[pick(SEMANTICS.len())] };
            engine.time += 1;
            match pick(12) {
                0 => engine.order.execute_fence(invocation, fence, engine.time),
                1 => {
                    let whole =
                        [MemoryKinds::NONE, KINDS[0], KINDS[1], KINDS[0].union(KINDS[1])][pick(4)];
                    engine.order.workgroup_barrier(whole, fence, engine.time);
                }
                _ => {
                    let (memory, touch) = (pick(2), TOUCHES[pick(6).min(pick(4)).min(3)]);
                    let place = if is_atomic(touch) { 4 + pick(4) } else { pick(4) } as u32;
                    let asked = AccessQuery { access_kind: touch, invocation, source_index: place };
                    let kinds = KINDS[memory];
                    let mut told = Vec::new();
                    cells[memory]
                        .record_access(&asked, &engine.order, kinds, |_, kind, _| told.push(kind));
                    let clashes = |kind: AccessKind| is_write(kind) || is_write(touch);
                    let due = TOUCHES.into_iter().filter(|kind| {
                        let mut earlier =
                            all[memory].iter().filter(|(_, other)| other == kind && clashes(*kind));
                        earlier.any(|(stamp, _)| {
                            engine.order.missing_order((*stamp, *kind), &asked, kinds).is_some()
                        })
                    });
                    let due: Vec<AccessKind> = due.collect();
                    assert_eq!(told, due, "round {round}: {asked:?}");
                    *(if due.is_empty() { &mut none } else { &mut races }) += 1;
                    all[memory].push((engine.order.access_stamp(invocation, place), touch));
                }
            }
        }
    }
    println!("{races} accesses race, {none} do not");
    assert!(races > 10_000 && none > 10_000, "{races} {none}");
}
