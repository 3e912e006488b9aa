//! What an invocation knows of the accesses of all others: of each, those up to some time.
//!
//! Knows: times grow with the run (`store::Clock`), so that "known up to a time" is a vector clock.
//! Of a workgroup whose invocations have all met one time stands for all of them.
//! Promises: copies are cheap, and joining what is alike is too: nothing is copied that nobody
//! changes.
//! Does not cover: what times are, and which accesses were made at them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

/// Of one workgroup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Part {
    /// Of every invocation.
    all: u32,
    /// Of some, more; ascending by local index.
    more: Vec<(u32, u32)>,
}

impl Part {
    fn has(&self, invocation: u32, time: u32) -> bool {
        time <= self.all
            || self
                .more
                .binary_search_by_key(&invocation, |one| one.0)
                .is_ok_and(|at| time <= self.more[at].1)
    }

    /// The last time of an invocation.
    fn until(&self, invocation: u32) -> u32 {
        let more = self.more.binary_search_by_key(&invocation, |one| one.0);
        more.map_or(self.all, |at| self.more[at].1.max(self.all))
    }

    fn covers(&self, other: &Part) -> bool {
        other.all <= self.all
            && other.more.iter().all(|(invocation, time)| self.has(*invocation, *time))
    }

    fn add(&mut self, invocation: u32, time: u32) {
        if time <= self.all {
            return;
        }
        match self.more.binary_search_by_key(&invocation, |one| one.0) {
            Ok(at) => self.more[at].1 = self.more[at].1.max(time),
            Err(at) => self.more.insert(at, (invocation, time)),
        }
    }

    fn join(&mut self, other: &Part) {
        self.all = self.all.max(other.all);
        let mut mine = std::mem::take(&mut self.more).into_iter().peekable();
        let mut theirs = other.more.iter().copied().peekable();
        let mut joined = Vec::with_capacity(mine.len().max(theirs.len()));
        loop {
            let next = match (mine.peek(), theirs.peek()) {
                (Some(one), Some(two)) if one.0 == two.0 => {
                    let (one, two) = (mine.next(), theirs.next());
                    one.zip(two)
                        .map(|((invocation, time), (_, other))| (invocation, time.max(other)))
                }
                (Some(one), Some(two)) if one.0 < two.0 => mine.next(),
                (Some(_), None) => mine.next(),
                (_, Some(_)) => theirs.next(),
                (None, None) => None,
            };
            match next {
                Some(one) if one.1 > self.all => joined.push(one),
                Some(_) => {}
                None => break,
            }
        }
        self.more = joined;
    }
}

/// Accesses that are known, by workgroup (linear index) and invocation (local index).
#[derive(Debug, Clone, Default)]
pub(super) struct Known(Option<Rc<BTreeMap<u64, Rc<Part>>>>);

impl Known {
    pub(super) const NONE: Known = Known(None);

    /// Whether what an invocation accessed at a time is known.
    pub(super) fn has(&self, workgroup: u64, invocation: u32, time: u32) -> bool {
        self.part(workgroup).is_some_and(|part| part.has(invocation, time))
    }

    fn part(&self, workgroup: u64) -> Option<&Rc<Part>> {
        self.0.as_ref().and_then(|parts| parts.get(&workgroup))
    }

    fn change(&mut self, workgroup: u64) -> &mut Part {
        let parts = Rc::make_mut(self.0.get_or_insert_default());
        Rc::make_mut(parts.entry(workgroup).or_default())
    }

    /// Adds what one invocation accessed up to a time.
    pub(super) fn add(&mut self, workgroup: u64, invocation: u32, time: u32) {
        if time > 0 && !self.has(workgroup, invocation, time) {
            self.change(workgroup).add(invocation, time);
        }
    }

    /// Adds what another one knows of one workgroup.
    pub(super) fn join_part(&mut self, workgroup: u64, other: &Known) {
        if let Some(part) = other.part(workgroup) {
            let alone = BTreeMap::from([(workgroup, part.clone())]);
            self.join(&Known(Some(Rc::new(alone))));
        }
    }

    /// Adds what another one knows of some invocations of a workgroup.
    pub(super) fn join_some(&mut self, workgroup: u64, invocations: Range<u32>, other: &Known) {
        let Some(part) = other.part(workgroup) else { return };
        for invocation in invocations {
            self.add(workgroup, invocation, part.until(invocation));
        }
    }

    /// Adds what a whole workgroup accessed up to a time.
    pub(super) fn add_all(&mut self, workgroup: u64, time: u32) {
        let known = self.part(workgroup).is_some_and(|part| part.all >= time);
        if !known {
            let part = self.change(workgroup);
            part.all = time;
            part.more.retain(|(_, more)| *more > time);
        }
    }

    /// Whether all that another one knows is known.
    pub(super) fn covers(&self, other: &Known) -> bool {
        let Some(theirs) = &other.0 else { return true };
        theirs.iter().all(|(workgroup, part)| {
            self.part(*workgroup).is_some_and(|own| Rc::ptr_eq(own, part) || own.covers(part))
        })
    }

    /// Adds what another one knows.
    pub(super) fn join(&mut self, other: &Known) {
        let (Some(mine), Some(theirs)) = (&self.0, &other.0) else {
            if self.0.is_none() {
                self.0 = other.0.clone();
            }
            return;
        };
        if Rc::ptr_eq(mine, theirs) {
            return;
        }
        let known = |own: &BTreeMap<u64, Rc<Part>>, workgroup: &u64, part: &Rc<Part>| {
            own.get(workgroup).is_some_and(|own| Rc::ptr_eq(own, part) || own.covers(part))
        };
        let news: Vec<(u64, Rc<Part>)> =
            (theirs.iter().filter(|(workgroup, part)| !known(mine, workgroup, part)))
                .map(|(workgroup, part)| (*workgroup, part.clone()))
                .collect();
        if news.is_empty() {
            return;
        }
        if mine.iter().all(|(workgroup, part)| known(theirs, workgroup, part)) {
            self.0 = other.0.clone();
            return;
        }
        let parts = Rc::make_mut(self.0.get_or_insert_default());
        for (workgroup, part) in news {
            match parts.get_mut(&workgroup) {
                Some(own) => Rc::make_mut(own).join(&part),
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

    fn known(added: &[Added]) -> Known {
        let mut known = Known::default();
        for (workgroup, invocation, time) in added {
            match invocation {
                4 => known.add_all(*workgroup, *time),
                _ => known.add(*workgroup, *invocation, *time),
            }
        }
        known
    }

    fn due(added: &[Added], workgroup: u64, invocation: u32, time: u32) -> bool {
        let of = |one: &&Added| one.0 == workgroup && (one.1 == invocation || one.1 == 4);
        added.iter().filter(of).any(|one| time <= one.2)
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
                    4 => joined.add_all(*workgroup, *time),
                    _ => joined.add(*workgroup, *invocation, *time),
                }
            }
            let all: Vec<Added> = [one, two.clone(), later].concat();
            for workgroup in 0..3 {
                for invocation in 0..4 {
                    for time in 1..9 {
                        prop_assert_eq!(joined.has(workgroup, invocation, time), due(&all, workgroup, invocation, time));
                        prop_assert_eq!(before.has(workgroup, invocation, time), due(&two, workgroup, invocation, time));
                    }
                }
            }
        }
    }
}
