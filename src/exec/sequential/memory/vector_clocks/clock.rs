//! Vector clocks: up to which time the accesses of each other invocation are ordered before what an
//! invocation does next.
//!
//! Knows: times grow with the run (`store::IntervalClock`), so that one time per invocation is a
//! vector clock. After a barrier one common time stands for all invocations of a workgroup.
//! Promises: copies and joins of equal clocks are cheap, because parts are shared until they
//! change.
//! Does not cover: what times are, and which accesses were made at them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// The components of one workgroup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct WorkgroupClock {
    /// The time of every invocation.
    common_time: u32,
    /// Later times of some invocations, ascending by local index.
    later_times: Vec<(u32, u32)>,
}

impl WorkgroupClock {
    fn includes(&self, invocation: u32, time: u32) -> bool {
        time <= self.common_time
            || self
                .later_times
                .binary_search_by_key(&invocation, |entry| entry.0)
                .is_ok_and(|position| time <= self.later_times[position].1)
    }

    /// The time of an invocation.
    fn latest_time(&self, invocation: u32) -> u32 {
        let later_entry = self.later_times.binary_search_by_key(&invocation, |entry| entry.0);
        later_entry
            .map_or(self.common_time, |position| self.later_times[position].1.max(self.common_time))
    }

    fn covers(&self, other_clock: &WorkgroupClock) -> bool {
        other_clock.common_time <= self.common_time
            && other_clock
                .later_times
                .iter()
                .all(|(invocation, time)| self.includes(*invocation, *time))
    }

    fn advance(&mut self, invocation: u32, time: u32) {
        if time <= self.common_time {
            return;
        }
        match self.later_times.binary_search_by_key(&invocation, |entry| entry.0) {
            Ok(position) => self.later_times[position].1 = self.later_times[position].1.max(time),
            Err(position) => self.later_times.insert(position, (invocation, time)),
        }
    }

    fn join(&mut self, other: &WorkgroupClock) {
        self.common_time = self.common_time.max(other.common_time);
        let mut own_entries = std::mem::take(&mut self.later_times).into_iter().peekable();
        let mut other_entries = other.later_times.iter().copied().peekable();
        let mut joined_entries = Vec::with_capacity(own_entries.len().max(other_entries.len()));
        loop {
            let next_entry = match (own_entries.peek(), other_entries.peek()) {
                (Some(own_entry), Some(other_entry)) if own_entry.0 == other_entry.0 => {
                    let (own_next, other_next) = (own_entries.next(), other_entries.next());
                    own_next.zip(other_next).map(|((invocation, time), (_, other_time))| {
                        (invocation, time.max(other_time))
                    })
                }
                (Some(own_entry), Some(other_entry)) if own_entry.0 < other_entry.0 => {
                    own_entries.next()
                }
                (Some(_), None) => own_entries.next(),
                (_, Some(_)) => other_entries.next(),
                (None, None) => None,
            };
            match next_entry {
                Some(entry) if entry.1 > self.common_time => joined_entries.push(entry),
                Some(_) => {}
                None => break,
            }
        }
        self.later_times = joined_entries;
    }
}

/// A time for each invocation, by workgroup (linear index) and invocation (local index).
#[derive(Debug, Clone, Default)]
pub(super) struct VectorClock(Option<Rc<BTreeMap<u64, Rc<WorkgroupClock>>>>);

impl VectorClock {
    pub(super) const NONE: VectorClock = VectorClock(None);

    /// Whether an access of an invocation at a time is at or below the clock.
    pub(super) fn includes(&self, workgroup: u64, invocation: u32, time: u32) -> bool {
        self.workgroup_clock(workgroup).is_some_and(|part| part.includes(invocation, time))
    }

    fn workgroup_clock(&self, workgroup: u64) -> Option<&Rc<WorkgroupClock>> {
        self.0.as_ref().and_then(|parts| parts.get(&workgroup))
    }

    fn workgroup_clock_mut(&mut self, workgroup: u64) -> &mut WorkgroupClock {
        let parts = Rc::make_mut(self.0.get_or_insert_default());
        Rc::make_mut(parts.entry(workgroup).or_default())
    }

    /// Advances the component of one invocation.
    pub(super) fn advance(&mut self, workgroup: u64, invocation: u32, time: u32) {
        if time > 0 && !self.includes(workgroup, invocation, time) {
            self.workgroup_clock_mut(workgroup).advance(invocation, time);
        }
    }

    /// Joins another clock's components of one workgroup.
    pub(super) fn join_workgroup(&mut self, workgroup: u64, other_clock: &VectorClock) {
        if let Some(part) = other_clock.workgroup_clock(workgroup) {
            let single_workgroup = BTreeMap::from([(workgroup, Rc::clone(part))]);
            self.join(&VectorClock(Some(Rc::new(single_workgroup))));
        }
    }

    /// Joins another clock's components of some invocations of a workgroup.
    pub(super) fn join_invocations(
        &mut self,
        workgroup: u64,
        invocations: &Range<u32>,
        other_clock: &VectorClock,
    ) {
        let Some(part) = other_clock.workgroup_clock(workgroup) else { return };
        for invocation in invocations.start..invocations.end {
            self.advance(workgroup, invocation, part.latest_time(invocation));
        }
    }

    /// Advances the components of a whole workgroup.
    pub(super) fn advance_workgroup(&mut self, workgroup: u64, time: u32) {
        let is_known = self.workgroup_clock(workgroup).is_some_and(|part| part.common_time >= time);
        if !is_known {
            let part = self.workgroup_clock_mut(workgroup);
            part.common_time = time;
            part.later_times.retain(|(_, later_time)| *later_time > time);
        }
    }

    /// Whether every component is at least that of another clock.
    pub(super) fn covers(&self, other_clock: &VectorClock) -> bool {
        let Some(other_parts) = &other_clock.0 else { return true };
        other_parts.iter().all(|(workgroup, part)| {
            self.workgroup_clock(*workgroup)
                .is_some_and(|own_part| Rc::ptr_eq(own_part, part) || own_part.covers(part))
        })
    }

    /// Joins another clock: the maximum of each component.
    pub(super) fn join(&mut self, other_clock: &VectorClock) {
        let (Some(own_parts), Some(other_parts)) = (&self.0, &other_clock.0) else {
            if self.0.is_none() {
                self.0.clone_from(&other_clock.0);
            }
            return;
        };
        if Rc::ptr_eq(own_parts, other_parts) {
            return;
        }
        let is_covered = |own_part: &BTreeMap<u64, Rc<WorkgroupClock>>,
                          workgroup: &u64,
                          part: &Rc<WorkgroupClock>| {
            own_part
                .get(workgroup)
                .is_some_and(|own_part| Rc::ptr_eq(own_part, part) || own_part.covers(part))
        };
        let new_parts: Vec<(u64, Rc<WorkgroupClock>)> = (other_parts
            .iter()
            .filter(|(workgroup, part)| !is_covered(own_parts, workgroup, part)))
        .map(|(workgroup, part)| (*workgroup, Rc::clone(part)))
        .collect();
        if new_parts.is_empty() {
            return;
        }
        if own_parts.iter().all(|(workgroup, part)| is_covered(other_parts, workgroup, part)) {
            self.0.clone_from(&other_clock.0);
            return;
        }
        let parts = Rc::make_mut(self.0.get_or_insert_default());
        for (workgroup, part) in new_parts {
            match parts.get_mut(&workgroup) {
                Some(own_part) => Rc::make_mut(own_part).join(&part),
                None => drop(parts.insert(workgroup, part)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Workgroup, invocation, time; of invocation 4 all of the workgroup.
    type Added = (u64, u32, u32);

    fn known(added: &[Added]) -> VectorClock {
        let mut known = VectorClock::default();
        for (workgroup, invocation, time) in added {
            match invocation {
                4 => known.advance_workgroup(*workgroup, *time),
                _ => known.advance(*workgroup, *invocation, *time),
            }
        }
        known
    }

    fn due(added: &[Added], workgroup: u64, invocation: u32, time: u32) -> bool {
        let is_about =
            |added: &&Added| added.0 == workgroup && (added.1 == invocation || added.1 == 4);
        added.iter().filter(is_about).any(|added| time <= added.2)
    }

    proptest! {
        #[test]
        fn what_was_added_to_either_is_known_of_the_join_and_nothing_else(
            one in proptest::collection::vec((0..3u64, 0..5u32, 1..9u32), 0..8),
            two in proptest::collection::vec((0..3u64, 0..5u32, 1..9u32), 0..8),
            later in proptest::collection::vec((0..3u64, 0..5u32, 1..9u32), 0..3),
        ) {
            let (mut joined, other) = (known(&one), known(&two));
            let before = other.clone();
            joined.join(&other);
            for (workgroup, invocation, time) in &later {
                match invocation {
                    4 => joined.advance_workgroup(*workgroup, *time),
                    _ => joined.advance(*workgroup, *invocation, *time),
                }
            }
            let all: Vec<Added> = [one, two.clone(), later].concat();
            for workgroup in 0..3 {
                for invocation in 0..4 {
                    for time in 1..9 {
                        prop_assert_eq!(joined.includes(workgroup, invocation, time), due(&all, workgroup, invocation, time));
                        prop_assert_eq!(before.includes(workgroup, invocation, time), due(&two, workgroup, invocation, time));
                    }
                }
            }
        }
    }
}
