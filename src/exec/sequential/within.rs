//! What barriers of subgroups order, for the race shadow.
//!
//! Knows: such a barrier orders the accesses that its invocations made before it, and those that were ordered before
//! them, ahead of what these invocations access behind it. Invocations that do not take part (they are not active, have
//! ended or belong to another subgroup) are not ordered.
//! Promises: exact: for each pair of invocations of a subgroup the time up to which one's accesses are ordered before the
//! other's next one (a vector clock). An access is a race exactly if an earlier one that conflicts with it is not ordered
//! before it; of the earlier ones those are kept whose loss could hide a race.
//! Does not cover: a writer that another one overwrites is forgotten, as in `shadow`.

use super::ops::element::Touch;
use super::ops::subgroup::Members;
use super::shadow::{Now, Seen, Stamp};

/// Times of the machine's clock by local index.
#[derive(Debug)]
pub struct Within {
    size: u32,
    /// Accesses of the workgroup before this time are ordered before all that follow.
    interval: u32,
    /// The time of what an invocation accesses now.
    times: Vec<u32>,
    /// Of each invocation, by invocation of its subgroup: accesses up to this time are ordered before.
    known: Vec<u32>,
}

impl Within {
    pub fn new(invocations: u32, size: u32) -> Self {
        let lanes = invocations.next_multiple_of(size);
        Self { size, interval: 0, times: vec![0; lanes as usize], known: vec![0; lanes as usize * size as usize] }
    }

    /// An interval of the whole workgroup begins.
    pub fn begin(&mut self, time: u32) {
        self.interval = time;
        self.times.fill(time);
    }

    /// A barrier of the subgroup whose first invocation is `first`: accesses so far have times up to `before`, those that
    /// follow `after`.
    pub fn synchronize(&mut self, first: u32, members: Members, before: u32, after: u32) {
        let size = self.size as usize;
        let row = |id: u32| (first + id) as usize * size;
        let start = row(members.lowest());
        for other in 0..self.size {
            let known = members.ids().map(|id| self.known[row(id) + other as usize]).max().unwrap_or(0);
            self.known[start + other as usize] = if members.has(other) { before } else { known };
        }
        for id in members.ids() {
            self.known.copy_within(start..start + size, row(id));
            self.times[(first + id) as usize] = after;
        }
    }

    /// Whether an access of this workgroup is ordered before what `lane` does now.
    fn ordered(&self, other: Stamp, lane: u32) -> bool {
        if other.lane() == lane || other.time() < self.interval {
            return true;
        }
        let here = lane as usize * self.size as usize + (other.lane() % self.size) as usize;
        other.lane() / self.size == lane / self.size && other.time() <= self.known[here]
    }

    fn races(&self, other: Stamp, now: &Now) -> bool {
        if other.time() < now.workgroup { other.time() >= now.epoch } else { !self.ordered(other, now.stamp.lane()) }
    }

    /// Adds an access to those of its kind.
    fn record(&self, list: &mut Vec<Stamp>, now: &Now) {
        let mut foreign = false;
        list.retain(|other| {
            if other.time() < now.workgroup {
                // Any access of another workgroup stands for all of them.
                return other.time() >= now.epoch && !std::mem::replace(&mut foreign, true);
            }
            !self.ordered(*other, now.stamp.lane())
        });
        let mut near = list.iter().filter(|other| other.time() >= now.workgroup).map(|other| other.lane() / self.size);
        // Two of different subgroups: every later access of the interval is in another subgroup than one of them.
        let one = near.next();
        if one.is_none_or(|one| near.all(|other| other == one)) {
            list.push(now.stamp);
        }
    }
}

/// Accesses to one cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    write: Stamp,
    reads: Vec<Stamp>,
    atomic_writes: Vec<Stamp>,
    atomic_reads: Vec<Stamp>,
}

/// Bytes of a cell, without what its lists hold.
pub const CELL_BYTES: u64 = size_of::<Cell>() as u64;

impl Cell {
    pub fn seen(&self) -> Seen {
        Seen {
            read: !self.reads.is_empty(),
            written: self.write.time() > 0,
            atomically_read: !self.atomic_reads.is_empty(),
            atomically_written: !self.atomic_writes.is_empty(),
        }
    }

    /// As [`super::shadow::Shadow::touch`]; the time of `now` is the invocation's own.
    pub fn touch(&mut self, touch: Touch, now: &Now, within: &Within, mut race: impl FnMut(Stamp, Touch)) {
        let lane = now.stamp.lane();
        let stamp = Stamp::new(within.times[lane as usize], lane, now.stamp.place());
        let now = &Now { stamp, ..*now };
        let mut check = |list: &[Stamp], kind: Touch| {
            if let Some(other) = list.iter().find(|other| within.races(**other, now)) {
                race(*other, kind);
            }
        };
        check(&[self.write], Touch::Write);
        match touch {
            Touch::Read => check(&self.atomic_writes, Touch::AtomicWrite),
            Touch::Write => {
                check(&self.reads, Touch::Read);
                check(&self.atomic_writes, Touch::AtomicWrite);
                check(&self.atomic_reads, Touch::AtomicRead);
            }
            Touch::AtomicWrite => check(&self.reads, Touch::Read),
            Touch::AtomicRead => {}
        }
        match touch {
            Touch::Read => within.record(&mut self.reads, now),
            Touch::AtomicWrite => within.record(&mut self.atomic_writes, now),
            Touch::AtomicRead => within.record(&mut self.atomic_reads, now),
            Touch::Write => self.write = stamp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: u32 = 4;
    const LANES: u32 = 8;
    const TOUCHES: [Touch; 4] = [Touch::Read, Touch::Write, Touch::AtomicRead, Touch::AtomicWrite];

    fn conflict(one: Touch, other: Touch) -> bool {
        let writes = |touch| matches!(touch, Touch::Write | Touch::AtomicWrite);
        let atomic = |touch| matches!(touch, Touch::AtomicRead | Touch::AtomicWrite);
        (writes(one) || writes(other)) && !(atomic(one) && atomic(other))
    }

    /// What each invocation's next access comes behind: indices of earlier accesses.
    #[derive(Default)]
    struct Definition {
        accesses: Vec<(u32, Touch)>,
        behind: Vec<Vec<usize>>,
    }

    impl Definition {
        fn meet(&mut self, lanes: impl Iterator<Item = u32> + Clone) {
            let mut all: Vec<usize> = lanes.clone().flat_map(|lane| self.behind[lane as usize].clone()).collect();
            all.sort_unstable();
            all.dedup();
            lanes.for_each(|lane| self.behind[lane as usize] = all.clone());
        }

        fn access(&mut self, lane: u32, touch: Touch) -> bool {
            let behind = &mut self.behind[lane as usize];
            let races = (self.accesses.iter().enumerate())
                .any(|(at, (other, earlier))| *other != lane && conflict(*earlier, touch) && !behind.contains(&at));
            behind.push(self.accesses.len());
            self.accesses.push((lane, touch));
            races
        }
    }

    /// Random histories up to their first race: one cell, barriers of parts of two subgroups and of the workgroup.
    #[test]
    fn the_first_race_of_a_history_is_found_and_nothing_before_it() {
        let mut seed = 99u32;
        let mut next = |bound: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % bound
        };
        let mut raced = 0;
        for _ in 0..30_000 {
            let mut definition = Definition { behind: vec![Vec::new(); LANES as usize], ..Definition::default() };
            let (mut within, mut cell, mut latest) = (Within::new(LANES, SIZE), Cell::default(), 5);
            within.begin(latest);
            // Mostly accesses of the kinds that do not conflict, so that histories grow.
            let mild = if next(2) == 0 { Touch::Read } else { Touch::AtomicWrite };
            for _ in 0..next(16) {
                match next(8) {
                    0 => {
                        latest += 1;
                        within.begin(latest);
                        definition.meet(0..LANES);
                    }
                    1..=3 => {
                        let (first, active) = (next(2) * SIZE, u128::from(1 + next(15)));
                        let members = Members { active, size: SIZE };
                        within.synchronize(first, members, latest, latest + 1);
                        latest += 1;
                        let lanes: Vec<u32> = members.ids().map(|id| first + id).collect();
                        definition.meet(lanes.iter().copied());
                    }
                    kind => {
                        let (lane, touch) = (next(LANES), if kind < 7 { mild } else { TOUCHES[next(4) as usize] });
                        let now = Now { stamp: Stamp::new(0, lane, 3), workgroup: 5, epoch: 5 };
                        let mut found = false;
                        cell.touch(touch, &now, &within, |_, _| found = true);
                        let due = definition.access(lane, touch);
                        assert_eq!(found, due, "{:?} behind {:?}", definition.accesses, definition.behind);
                        if due {
                            raced += 1;
                            break;
                        }
                    }
                }
            }
        }
        assert!((3_000..27_000).contains(&raced), "{raced}");
    }
}
