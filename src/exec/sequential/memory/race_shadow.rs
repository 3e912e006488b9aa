//! Race shadow: who touched each cell of memory last, and whether that was ordered.
//!
//! Knows: a cell is a word, or one byte or two where a kernel accesses numbers of that size; a race
//! is two accesses to the same cell by different invocations, at least one of them a write, not
//! both atomic, with nothing that orders them (Vulkan memory model, "Data Race"). Workgroups of one
//! dispatch are never ordered; invocations of one workgroup are ordered by a barrier that covers
//! the memory.
//! Promises: since workgroups run one after the other, a *time* counts the intervals between
//! ordering barriers of all workgroups in turn; comparing times decides every case. A write is
//! checked against the last write and against up to two readers of its own interval and one of
//! another workgroup, which suffices to see whether any reader races. Once a race was found on a
//! cell, `racing_accesses` remembers who else is at it.
//! Does not cover: who is hidden where nothing has raced yet: of readers that are alike the first
//! two are told.

use super::racing_accesses::{Earlier, Lasting, Racers};
use super::vector_clocks::cell::{CELL_BYTES, Cell, Cells, Told};
use super::vector_clocks::{Asked, Missing, Order, is_atomic};
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{OrderUse, Program};
use std::cell::RefCell;
use std::rc::Rc;

/// Time, local invocation index and instruction of an access in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp(u64);

const LANE_BITS: u32 = 11;
const PLACE_BITS: u32 = 21;

/// Instructions behind this index cannot be told apart in findings.
pub(crate) const MOST_PLACES: u32 = (1 << PLACE_BITS) - 1;

impl Stamp {
    pub(crate) fn new(time: u32, lane: u32, place: u32) -> Self {
        Self(
            u64::from(time) << 32
                | u64::from(lane) << PLACE_BITS
                | u64::from(place.min(MOST_PLACES)),
        )
    }

    pub(crate) fn time(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Local invocation index.
    pub(crate) fn lane(self) -> u32 {
        (self.0 >> PLACE_BITS) as u32 & ((1 << LANE_BITS) - 1)
    }

    /// Index into the module's instruction list.
    pub(crate) fn place(self) -> u32 {
        self.0 as u32 & MOST_PLACES
    }
}

/// What an access is compared with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub stamp: Stamp,
    /// First time of the workgroup.
    pub workgroup: u32,
    /// First time of what can race at all: the dispatch, or the workgroup for workgroup memory.
    pub epoch: u32,
}

impl Now {
    fn foreign(&self, other: Stamp) -> bool {
        other.time() >= self.epoch && other.time() < self.workgroup
    }

    fn races(&self, other: Stamp) -> bool {
        if other.time() == self.stamp.time() {
            other.lane() != self.stamp.lane()
        } else {
            self.foreign(other)
        }
    }

    /// What [`Racers`] ask of an earlier access.
    fn missing(
        &self,
        (other, kind): (Stamp, AccessKind),
        touch: AccessKind,
    ) -> (Option<Missing>, Lasting) {
        let lasting = other.time() == self.stamp.time() || self.foreign(other);
        let races = self.races(other) && !(is_atomic(kind) && is_atomic(touch));
        (races.then_some(Missing::Order), if lasting { Lasting::Yes } else { Lasting::No })
    }
}

/// Accesses of one kind: two invocations of the current interval and one of another workgroup.
#[derive(Debug, Clone, Copy, Default)]
struct Trio {
    near: Stamp,
    second: Stamp,
    foreign: Stamp,
}

impl Trio {
    #[inline]
    fn record(&mut self, now: &Now) {
        if self.near.time() == now.stamp.time() {
            if self.near.lane() != now.stamp.lane() && self.second.time() != now.stamp.time() {
                self.second = now.stamp;
            }
            return;
        }
        if now.foreign(self.near) && !now.foreign(self.foreign) {
            self.foreign = self.near;
        }
        self.near = now.stamp;
    }

    fn racing(&self, now: &Now) -> Option<Stamp> {
        [self.near, self.second, self.foreign].into_iter().find(|stamp| now.races(*stamp))
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Plain {
    write: Stamp,
    reads: Trio,
}

#[derive(Debug, Clone, Copy, Default)]
struct Atomics {
    writes: Trio,
    reads: Trio,
}

/// Shadow of one block of memory. Times start at 1, so that fresh cells race with nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shadow {
    plain: Vec<Plain>,
    /// Empty where no instruction is atomic.
    atomics: Vec<Atomics>,
    /// Cells of a word, as a power of two.
    finer: u32,
    /// The cells, where more than barriers of workgroups order accesses; the others are empty then.
    exact: Option<(Rc<RefCell<Order>>, Cells)>,
    racers: Racers,
}

/// What was done to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub read: bool,
    pub written: bool,
    pub atomically_read: bool,
    pub atomically_written: bool,
}

impl Seen {
    pub(crate) fn any(self) -> bool {
        self.read || self.written || self.atomically_read || self.atomically_written
    }
}

/// Whether a memory has atomic accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Atomicity {
    PlainOnly,
    WithAtomics,
}

impl Shadow {
    /// For cells of `granule` bytes: 1, 2 or 4.
    pub(crate) fn new(words: usize, atomicity: Atomicity, granule: u32) -> Self {
        let finer = 2 - granule.trailing_zeros().min(2);
        let cells = words << finer;
        let atomics = match atomicity {
            Atomicity::PlainOnly => 0,
            Atomicity::WithAtomics => cells,
        };
        Self {
            plain: vec![Plain::default(); cells],
            atomics: vec![Atomics::default(); atomics],
            finer,
            ..Self::default()
        }
    }

    /// Looks at the order that everything makes together, for memory of these kinds.
    pub(crate) fn order_exactly(&mut self, order: &Rc<RefCell<Order>>, kinds: MemoryKinds) {
        let cells = vec![Cell::default(); std::mem::take(&mut self.plain).len()];
        self.atomics = Vec::new();
        self.exact = Some((order.clone(), Cells { cells, kinds, ..Cells::default() }));
    }

    /// Forgets all accesses.
    pub(crate) fn reset(&mut self) {
        if let Some((_, cells)) = &mut self.exact {
            self.racers.clear();
            cells.cells.iter_mut().for_each(Cell::reset);
            cells.published.clear();
        }
    }

    /// Whether two atomics on a cell may not be atomic for each other.
    pub(crate) fn has_atomics_apart(&self) -> bool {
        self.exact.as_ref().is_some_and(|(order, _)| order.borrow().has_atomics_apart())
    }

    /// What invocations tell each other by an atomic on a word, where that orders anything.
    pub(crate) fn tell(&mut self, word: usize, told: &Told) {
        if let Some((order, cells)) = &mut self.exact {
            cells.tell(word, told, &mut order.borrow_mut());
        }
    }

    /// Bytes of a program's shadow; lists of accesses are taken to hold two each.
    pub(crate) fn bytes(
        words: usize,
        atomicity: Atomicity,
        program: &Program,
        granule: u32,
    ) -> u64 {
        let words = words * (4 / granule.clamp(1, 4) as usize);
        if let OrderUse::Exact(_) = program.order {
            return words as u64 * (CELL_BYTES + 6 * size_of::<Stamp>() as u64);
        }
        let atomics = match atomicity {
            Atomicity::PlainOnly => 0,
            Atomicity::WithAtomics => size_of::<Atomics>(),
        };
        words as u64 * (size_of::<Plain>() + atomics) as u64
    }

    /// What was done to a cell so far.
    pub(crate) fn seen(&self, cell: usize) -> Seen {
        if let Some((_, cells)) = &self.exact {
            return cells.cells[cell].seen();
        }
        let (plain, atomics) =
            (&self.plain[cell], self.atomics.get(cell).copied().unwrap_or_default());
        let some = |stamp: Stamp| stamp.time() > 0;
        Seen {
            read: some(plain.reads.near),
            written: some(plain.write),
            atomically_read: some(atomics.reads.near),
            atomically_written: some(atomics.writes.near),
        }
    }

    /// Notes an access to a word that held the first value and holds the second then; calls `race`
    /// with each earlier access that it races with (of each instruction at most one).
    #[inline]
    pub(crate) fn touch(
        &mut self,
        word: usize,
        touch: AccessKind,
        now: &Now,
        values: [u128; 2],
        race: impl FnMut(Earlier),
    ) {
        if self.finer == 0 {
            self.touch_cell(word, touch, now, values, race);
        } else {
            self.touch_bytes(4 * word, 4, touch, now, values, race);
        }
    }

    /// Notes an access to some bytes. Of several cells the first that races with an instruction is
    /// told.
    pub(crate) fn touch_bytes(
        &mut self,
        byte: usize,
        bytes: usize,
        touch: AccessKind,
        now: &Now,
        values: [u128; 2],
        mut race: impl FnMut(Earlier),
    ) {
        let shift = 2 - self.finer;
        let mut told: Vec<(u32, AccessKind)> = Vec::new();
        for cell in byte >> shift..(byte + bytes).div_ceil(1 << shift) {
            self.touch_cell(cell, touch, now, values, |earlier| {
                let key = (earlier.stamp.place(), earlier.touch);
                if !told.contains(&key) {
                    told.push(key);
                    race(earlier);
                }
            });
        }
    }

    #[inline]
    fn touch_cell(
        &mut self,
        word: usize,
        touch: AccessKind,
        now: &Now,
        values: [u128; 2],
        race: impl FnMut(Earlier),
    ) {
        let mut found: Vec<Earlier> = Vec::new();
        let mut add = |stamp: Stamp, touch: AccessKind, missing: Missing| {
            let left = (touch == AccessKind::Write).then_some(values[0]);
            found.push(Earlier { stamp, touch, missing, left });
        };
        match &mut self.exact {
            Some((order, cells)) => {
                let asked = Asked { touch, invocation: now.stamp.lane(), place: now.stamp.place() };
                cells.cells[word].touch(&asked, &order.borrow(), cells.kinds, &mut add);
            }
            None => self
                .touch_interval(word, touch, now, |stamp, touch| add(stamp, touch, Missing::Order)),
        }
        if found.is_empty() && !self.racers.have(word) {
            return;
        }
        self.meet(word, touch, now, (&found, values[1]), race);
    }

    /// An access to a cell on which a race was found, now or before.
    #[cold]
    fn meet(
        &mut self,
        word: usize,
        touch: AccessKind,
        now: &Now,
        (found, left): (&[Earlier], u128),
        race: impl FnMut(Earlier),
    ) {
        match &self.exact {
            None => {
                let missing = |other: Stamp, kind: AccessKind| now.missing((other, kind), touch);
                self.racers.meet(word, (now.stamp, touch, left), found, missing, race);
            }
            Some((order, cells)) => {
                let order = order.borrow();
                let asked = Asked { touch, invocation: now.stamp.lane(), place: now.stamp.place() };
                let stamp = order.stamp(asked.invocation, asked.place);
                let missing = |other: Stamp, kind: AccessKind| {
                    (order.missing((other, kind), &asked, cells.kinds), Lasting::Yes)
                };
                self.racers.meet(word, (stamp, touch, left), found, missing, race);
            }
        }
    }

    #[inline]
    fn touch_interval(
        &mut self,
        word: usize,
        touch: AccessKind,
        now: &Now,
        mut race: impl FnMut(Stamp, AccessKind),
    ) {
        match touch {
            AccessKind::Read => {
                let cell = &mut self.plain[word];
                if now.races(cell.write) {
                    race(cell.write, AccessKind::Write);
                }
                cell.reads.record(now);
                if let Some(atomics) = self.atomics.get(word)
                    && let Some(other) = atomics.writes.racing(now)
                {
                    race(other, AccessKind::AtomicWrite);
                }
            }
            AccessKind::Write => {
                let cell = &mut self.plain[word];
                if now.races(cell.write) {
                    race(cell.write, AccessKind::Write);
                }
                if let Some(other) = cell.reads.racing(now) {
                    race(other, AccessKind::Read);
                }
                cell.write = now.stamp;
                if let Some(atomics) = self.atomics.get(word) {
                    if let Some(other) = atomics.writes.racing(now) {
                        race(other, AccessKind::AtomicWrite);
                    }
                    if let Some(other) = atomics.reads.racing(now) {
                        race(other, AccessKind::AtomicRead);
                    }
                }
            }
            AccessKind::AtomicRead | AccessKind::AtomicWrite => {
                self.touch_atomically(word, touch, now, race)
            }
        }
    }

    fn touch_atomically(
        &mut self,
        word: usize,
        touch: AccessKind,
        now: &Now,
        mut race: impl FnMut(Stamp, AccessKind),
    ) {
        let cell = &self.plain[word];
        if now.races(cell.write) {
            race(cell.write, AccessKind::Write);
        }
        if touch == AccessKind::AtomicWrite
            && let Some(other) = cell.reads.racing(now)
        {
            race(other, AccessKind::Read);
        }
        if let Some(atomics) = self.atomics.get_mut(word) {
            match touch {
                AccessKind::AtomicRead => atomics.reads.record(now),
                AccessKind::AtomicWrite | AccessKind::Read | AccessKind::Write => {
                    atomics.writes.record(now)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(time: u32, lane: u32, workgroup: u32) -> Now {
        Now { stamp: Stamp::new(time, lane, 7), workgroup, epoch: 1 }
    }

    fn races(accesses: &[(AccessKind, Now)]) -> Vec<AccessKind> {
        let mut shadow = Shadow::new(1, Atomicity::WithAtomics, 4);
        let mut found = Vec::new();
        for (touch, now) in accesses {
            found.clear();
            shadow.touch(0, *touch, now, [0; 2], |earlier| found.push(earlier.touch));
        }
        found
    }

    #[test]
    fn a_write_races_with_a_reader_that_a_later_reader_of_its_own_workgroup_hides() {
        // Workgroup 1 reads (time 1), workgroup 2 reads (time 2) and writes by the same invocation.
        let last = races(&[
            (AccessKind::Read, now(1, 0, 1)),
            (AccessKind::Read, now(2, 0, 2)),
            (AccessKind::Write, now(2, 0, 2)),
        ]);
        assert_eq!(last, [AccessKind::Read]);
    }

    #[test]
    fn an_ordered_interval_of_the_same_workgroup_does_not_race() {
        assert_eq!(
            races(&[(AccessKind::Write, now(1, 0, 1)), (AccessKind::Read, now(2, 5, 1))]),
            []
        );
        assert_eq!(
            races(&[(AccessKind::Write, now(1, 0, 1)), (AccessKind::Read, now(1, 5, 1))]),
            [AccessKind::Write]
        );
    }

    #[test]
    fn atomics_race_with_plain_accesses_alone() {
        assert_eq!(
            races(&[
                (AccessKind::AtomicWrite, now(1, 0, 1)),
                (AccessKind::AtomicWrite, now(1, 1, 1))
            ]),
            []
        );
        assert_eq!(
            races(&[(AccessKind::AtomicWrite, now(1, 0, 1)), (AccessKind::Read, now(1, 1, 1))]),
            [AccessKind::AtomicWrite]
        );
        assert_eq!(
            races(&[(AccessKind::AtomicRead, now(1, 0, 1)), (AccessKind::Read, now(1, 1, 1))]),
            []
        );
    }

    /// Against the definition: all pairs of a random history that keeps one writer at a time.
    #[test]
    fn a_reader_is_found_whenever_one_races() {
        let mut seed = 12345u32;
        let mut next = |bound: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % bound
        };
        for _ in 0..20_000 {
            let mut history: Vec<(u32, u32, u32)> = Vec::new();
            let (mut time, mut workgroup) = (1, 1);
            for _ in 0..next(7) {
                match next(4) {
                    0 => time += 1,
                    1 => {
                        time += 1;
                        workgroup = time;
                    }
                    _ => history.push((time, next(3), workgroup)),
                }
            }
            let writer = (time, next(3), workgroup);
            let expected = history.iter().any(|(time, lane, _)| {
                *time < writer.2 || (*time == writer.0 && *lane != writer.1)
            });
            let mut accesses: Vec<_> =
                history.iter().map(|(t, l, w)| (AccessKind::Read, now(*t, *l, *w))).collect();
            accesses.push((AccessKind::Write, now(writer.0, writer.1, writer.2)));
            assert_eq!(!races(&accesses).is_empty(), expected, "{history:?} then {writer:?}");
        }
    }
}
