//! Happens-before of a dispatch, exactly, for kernels that order memory by more than barriers of
//! workgroups.
//!
//! Knows: what fences, atomics and barriers order (Vulkan specification, appendix "Memory Model":
//! *synchronizes-with*, *inter-thread-happens-before*, *location-ordered*), by kind of memory and
//! by scope; a barrier of a workgroup or subgroup as both memory models have it
//! (`memory_semantics`).
//! Promises: for any two accesses of the run whether one is ordered before the other, and if not,
//! what is missing.
//! Does not cover: references: accesses to the same memory through different descriptors count as
//! through one. Orders of other schedules: which atomic reads which value is that of the run.

mod barriers;
pub(crate) mod cell;
mod chains;
mod clock;
#[cfg(test)]
mod explicit_tests;
mod message;
mod missing;
#[cfg(test)]
mod tests;

use super::race_shadow::Stamp;
use crate::ir::access_facts::{DeclaredModel, FactsByInstruction, Privacy};
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::{Fence, MemoryKinds, Scope};
use crate::memory::vector_clocks::message::{Message, Published, Released, Sender, add};
use chains::{Domain, Layer, Learnt, Nearness, Neighbours, Own};
pub(crate) use missing::Missing;
use missing::{Clash, clash};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// By domain and kind of memory.
type Times = [[u32; MemoryKinds::COUNT]; Domain::ALL.len()];

#[derive(Debug, Clone, Default)]
struct Invocation {
    learnt: Learnt,
    /// Own accesses up to these times were made available to each domain by fences.
    available: Times,
    /// The last fence of each scope and kinds.
    released: Vec<Released>,
    /// What its atomics have read and no fence has acquired yet.
    pending: Vec<Message>,
}

/// The invocations of a workgroup.
#[derive(Debug, Clone, Default)]
struct Group {
    workgroup: u64,
    invocations: Vec<Invocation>,
    /// The time of what each of them accesses now.
    times: Vec<u32>,
    /// By kind of memory: what its invocations accessed up to this time happened before all that
    /// they do now.
    settled: [u32; MemoryKinds::COUNT],
}

/// An access whose order is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub touch: AccessKind,
    /// Local index in the workgroup that runs.
    pub invocation: u32,
    pub place: u32,
}

/// Who knows what of whom.
#[derive(Debug)]
pub(crate) struct Order {
    places: Arc<FactsByInstruction>,
    invocations: u32,
    subgroup: u32,
    /// From which time on which workgroup ran.
    owners: Vec<(u32, u64)>,
    group: Group,
    /// Workgroups that wait for others.
    resting: BTreeMap<u64, Group>,
    /// The first atomic that has read what orders it behind another invocation. Which one it reads
    /// depends on the schedule.
    pub synchronized: Option<u32>,
    /// The first atomic that has told others what its invocation did: in another schedule others
    /// may have read it.
    pub published: Option<u32>,
}

impl Order {
    pub(crate) fn new(places: Arc<FactsByInstruction>, invocations: u32, subgroup: u32) -> Self {
        let (owners, group, resting) = (Vec::new(), Group::default(), BTreeMap::new());
        Self {
            places,
            invocations,
            subgroup,
            owners,
            group,
            resting,
            synchronized: None,
            published: None,
        }
    }

    /// A workgroup begins.
    pub(crate) fn start(&mut self, workgroup: u64, time: u32) {
        let count = self.invocations as usize;
        let (invocations, times) = (vec![Invocation::default(); count], vec![time; count]);
        self.group = Group { workgroup, invocations, times, settled: [0; MemoryKinds::COUNT] };
        self.owners.push((time, workgroup));
    }

    /// The workgroup that runs waits for others.
    pub(crate) fn rest(&mut self) {
        let group = std::mem::take(&mut self.group);
        self.resting.insert(group.workgroup, group);
    }

    /// One that has waited goes on.
    pub(crate) fn resume(&mut self, workgroup: u64, time: u32) {
        self.group = self.resting.remove(&workgroup).expect("it rests");
        self.owners.push((time, workgroup));
    }

    /// The workgroup whose time it was.
    fn owner(&self, time: u32) -> u64 {
        match self.owners.last() {
            Some((start, workgroup)) if *start <= time => *workgroup,
            _ => {
                let at = self.owners.partition_point(|(start, _)| *start <= time);
                at.checked_sub(1).map_or(u64::MAX, |at| self.owners[at].1)
            }
        }
    }

    /// Whether two atomics of the program may not be atomic for each other.
    pub(crate) fn has_atomics_apart(&self) -> bool {
        !self.places.atomics_uniform
    }

    pub(crate) fn stamp(&self, invocation: u32, place: u32) -> Stamp {
        Stamp::new(self.group.times[invocation as usize], invocation, place)
    }

    fn explicit(&self) -> bool {
        self.places.declared == DeclaredModel::Vulkan
    }

    fn sender(&self, invocation: u32) -> Sender {
        if self.places.all_reach_device && !self.explicit() {
            return Sender::Any;
        }
        Sender::One { workgroup: self.group.workgroup, subgroup: invocation / self.subgroup }
    }

    /// Whether a scope of `invocation` has a sender, and the other way round.
    fn reaches(&self, scope: Scope, from: Sender, invocation: u32) -> bool {
        let (own, near) = match from {
            Sender::Any => (false, false),
            Sender::One { workgroup, subgroup } => {
                let own = workgroup == self.group.workgroup;
                (own, own && subgroup == invocation / self.subgroup)
            }
        };
        match scope {
            Scope::Device => true,
            Scope::Workgroup => own,
            Scope::Subgroup => near,
            Scope::Invocation => false,
        }
    }

    /// An OpMemoryBarrier, or the semantics of an atomic or of a control barrier as a fence of
    /// their own.
    pub(crate) fn fence(&mut self, invocation: u32, fence: Fence, after: u32) {
        if fence.reach() == Scope::Invocation {
            return;
        }
        self.acquire(invocation, fence);
        self.release(invocation, fence);
        self.group.times[invocation as usize] = after;
    }

    fn acquire(&mut self, invocation: u32, fence: Fence) {
        let kinds = fence.acquired_kinds();
        if kinds.is_empty() {
            return;
        }
        let index = invocation as usize;
        let pending = std::mem::take(&mut self.group.invocations[index].pending);
        let mut kept = Vec::new();
        for message in pending {
            let takes = kinds.contains(message.carrier)
                && self.reaches(fence.reach(), message.from, invocation);
            if takes {
                if !message.carrier.is_empty() {
                    self.note_news(
                        invocation,
                        message.by,
                        (&message.learnt, kinds.intersection(message.kinds)),
                    );
                }
                self.learn(invocation, &message, kinds.intersection(message.kinds));
            }
            if !takes || !kinds.contains(message.kinds) {
                kept.push(message);
            }
        }
        self.group.invocations[index].pending = kept;
        self.see(invocation, fence, kinds);
    }

    /// An invocation learns what a message tells.
    fn learn(&mut self, invocation: u32, message: &Message, kinds: MemoryKinds) {
        let nearness = match message.from {
            _ if self.reaches(Scope::Subgroup, message.from, invocation) => Nearness::Subgroup,
            _ if self.reaches(Scope::Workgroup, message.from, invocation) => Nearness::Workgroup,
            _ => Nearness::Afar,
        };
        let learnt = &mut self.group.invocations[invocation as usize].learnt;
        learnt.join(&message.learnt, kinds, nearness);
    }

    /// Notes that an atomic orders the invocation behind others, unless what it tells is known
    /// already.
    fn note_news(&mut self, invocation: u32, place: u32, (learnt, kinds): (&Learnt, MemoryKinds)) {
        if !self.group.invocations[invocation as usize].learnt.covers(learnt, kinds) {
            self.synchronized.get_or_insert(place);
        }
    }

    /// A visibility operation, where the fence is one.
    fn see(&mut self, invocation: u32, fence: Fence, kinds: MemoryKinds) {
        if !self.explicit() || !fence.makes_visible() {
            return;
        }
        let (place, scope) = (self.neighbours(invocation), fence.reach());
        let learnt = &mut self.group.invocations[invocation as usize].learnt;
        kinds.kind_numbers().for_each(|kind| learnt.see(kind, &place, scope));
    }

    /// The workgroup that runs, and the local indices of an invocation's subgroup.
    fn neighbours(&self, invocation: u32) -> Neighbours {
        let first = invocation / self.subgroup * self.subgroup;
        Neighbours { workgroup: self.group.workgroup, subgroup: first..first + self.subgroup }
    }

    fn release(&mut self, invocation: u32, fence: Fence) {
        if let Some(new) = self.released(invocation, fence) {
            let own = &mut self.group.invocations[invocation as usize];
            own.released.retain(|old| old.scope > new.scope || !new.kinds.contains(old.kinds));
            own.released.push(new);
        }
    }

    /// What a release of now tells, with its availability operation; none where it is no release.
    fn released(&mut self, invocation: u32, fence: Fence) -> Option<Released> {
        let (kinds, scope, explicit) = (fence.released_kinds(), fence.reach(), self.explicit());
        if kinds.is_empty() {
            return None;
        }
        let (before, place) = (self.group.times[invocation as usize], self.neighbours(invocation));
        let own = &mut self.group.invocations[invocation as usize];
        if explicit && fence.makes_available() {
            for kind in kinds.kind_numbers() {
                for to in Domain::ALL.into_iter().filter(|to| to.is_in(scope)) {
                    own.available[to as usize][kind] = before;
                }
                own.learnt.make_available(kind, &place, scope);
            }
        }
        let (learnt, available) = (own.learnt.clone(), own.available);
        Some(Released { scope, kinds, learnt, before, available })
    }

    /// A fence's message.
    fn written_out(&self, invocation: u32, released: &Released) -> Rc<Learnt> {
        let mut learnt = Learnt::default();
        let workgroup = self.group.workgroup;
        for kind in released.kinds.kind_numbers() {
            learnt.copy(&released.learnt, kind);
            learnt.change(Layer::Before, kind).add(workgroup, invocation, released.before);
            for to in Domain::ALL {
                let time = released.available[to as usize][kind];
                learnt.add_available((to, kind), (workgroup, invocation), time);
            }
        }
        Rc::new(learnt)
    }

    /// An atomic has read what was published.
    pub(crate) fn atomic_read(
        &mut self,
        invocation: u32,
        place: u32,
        memory: MemoryKinds,
        published: &Published,
    ) {
        let Some(atomic) = self.places.facts_at(place).atomic else { return };
        let (fence, reach) = (atomic.fence, atomic.fence.reach());
        let acquired = fence.acquired_kinds();
        for message in &published.0 {
            if !self.reaches(message.scope, message.from, invocation)
                || !self.reaches(reach, message.from, invocation)
            {
                continue;
            }
            self.note_news(
                invocation,
                place,
                (&message.learnt, acquired.intersection(message.kinds)),
            );
            self.learn(invocation, message, acquired.intersection(message.kinds));
            let own = &mut self.group.invocations[invocation as usize];
            if !acquired.contains(message.kinds) {
                let (scope, carrier) = (message.scope.min(reach), memory);
                add(&mut own.pending, Message { scope, carrier, by: place, ..message.clone() });
            }
        }
        if !acquired.is_empty() {
            self.see(invocation, fence, acquired);
        }
    }

    /// An atomic has written: alone, or what it read changed.
    pub(crate) fn atomic_write(
        &mut self,
        (invocation, place): (u32, u32),
        memory: MemoryKinds,
        published: &mut Published,
        reads: Reads,
        after: u32,
    ) {
        let Some(atomic) = self.places.facts_at(place).atomic else { return };
        if reads == Reads::No {
            published.0.clear();
        }
        let reach = atomic.fence.reach();
        // Its own release does not ask which memory it is in, and nothing but it carries it on.
        let alone = self.released(invocation, atomic.fence);
        let own = &self.group.invocations[invocation as usize];
        let from = self.sender(invocation);
        let fences = own.released.iter().filter(|one| one.kinds.contains(memory));
        let messages: Vec<Message> = (fences.chain(&alone))
            .map(|released| {
                let (scope, learnt) =
                    (released.scope.min(reach), self.written_out(invocation, released));
                Message { from, scope, kinds: released.kinds, carrier: memory, by: place, learnt }
            })
            .collect();
        if !messages.is_empty() {
            self.published.get_or_insert(place);
        }
        messages.into_iter().for_each(|message| add(&mut published.0, message));
        if alone.is_some() {
            self.group.times[invocation as usize] = after;
        }
    }

    /// Whether whoever is ordered behind what is accessed now is behind an earlier access of the
    /// same kind too.
    fn stands_for(&self, earlier: Stamp, now: &Asked, kinds: MemoryKinds) -> bool {
        let owner = self.owner(earlier.time());
        if owner == self.group.workgroup && earlier.lane() == now.invocation && !self.explicit() {
            return true;
        }
        let learnt = &self.group.invocations[now.invocation as usize].learnt;
        let has = |layer: Layer| {
            kinds
                .kind_numbers()
                .all(|kind| learnt.of(layer, kind).has(owner, earlier.lane(), earlier.time()))
        };
        if !has(Layer::Before) {
            return false;
        }
        if !self.explicit() || !writes(now.touch) {
            return true;
        }
        // Whatever makes the later one visible does so with one of the same subgroup that is
        // available everywhere.
        let same = owner == self.group.workgroup
            && earlier.lane() / self.subgroup == now.invocation / self.subgroup;
        same && Domain::ALL.into_iter().all(|to| has(Layer::Available(Own::Nothing, to)))
    }

    /// What is missing for an earlier access to be ordered before the one that is made now, in
    /// memory of these kinds.
    pub(crate) fn missing(
        &self,
        (earlier, kind): (Stamp, AccessKind),
        now: &Asked,
        kinds: MemoryKinds,
    ) -> Option<Missing> {
        let owner = self.owner(earlier.time());
        let near = owner == self.group.workgroup;
        if near && earlier.lane() == now.invocation {
            return None;
        }
        let facts = [earlier.place(), now.place].map(|place| self.places.facts_at(place));
        let clash = match clash([kind, now.touch], &facts) {
            Clash::Plain => Missing::Order,
            Clash::Atomics(bytes) if bytes[0] != bytes[1] => Missing::Width,
            Clash::Atomics(_) => {
                let from =
                    Sender::One { workgroup: owner, subgroup: earlier.lane() / self.subgroup };
                let scopes = facts
                    .iter()
                    .filter_map(|facts| facts.atomic)
                    .map(|atomic| atomic.fence.reach());
                if scopes.min().is_some_and(|scope| self.reaches(scope, from, now.invocation)) {
                    return None;
                }
                Missing::Scope
            }
        };
        if facts.iter().any(|facts| facts.privacy == Privacy::Private) {
            return Some(Missing::Privacy);
        }
        let learnt = &self.group.invocations[now.invocation as usize].learnt;
        let known = |layer: Layer| {
            kinds
                .kind_numbers()
                .all(|kind| learnt.of(layer, kind).has(owner, earlier.lane(), earlier.time()))
        };
        if !known(Layer::Before) {
            return Some(clash);
        }
        if !writes(kind) {
            return None;
        }
        if !self.explicit() {
            let seen = facts[0].coherent && (facts[1].coherent || now.touch == AccessKind::Write);
            return (!near && !seen).then_some(Missing::Coherence);
        }
        let together = match near {
            true if earlier.lane() / self.subgroup == now.invocation / self.subgroup => {
                Nearness::Subgroup
            }
            true => Nearness::Workgroup,
            false => Nearness::Afar,
        };
        // What was made available or visible by fences alone, and what began with the access
        // itself.
        let own = [Own::Nothing, Own::of(facts[0].available)];
        let available = |to: Domain| {
            to.is_shared(together) && own.iter().any(|own| known(Layer::Available(*own, to)))
        };
        if !Domain::ALL.into_iter().any(available) {
            return Some(Missing::Availability);
        }
        let seen = |own: Own| known(Layer::Seen(own));
        let sees = |scope: Scope| {
            let there = |to: Domain| to.is_in(scope) && available(to);
            let near = |own: &Own| {
                known(Layer::NearSubgroup(*own))
                    || (scope >= Scope::Workgroup && known(Layer::NearWorkgroup(*own)))
            };
            Domain::ALL.into_iter().any(there) || own.iter().any(near)
        };
        let itself = facts[1].visible.filter(|scope| *scope > Scope::Invocation);
        let visible =
            now.touch == AccessKind::Write || own.into_iter().any(seen) || itself.is_some_and(sees);
        (!visible).then_some(Missing::Visibility)
    }
}

/// Whether an atomic that writes has read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    Yes,
    No,
}

pub(crate) fn writes(touch: AccessKind) -> bool {
    matches!(touch, AccessKind::Write | AccessKind::AtomicWrite)
}

pub(crate) fn is_atomic(touch: AccessKind) -> bool {
    matches!(touch, AccessKind::AtomicRead | AccessKind::AtomicWrite)
}
