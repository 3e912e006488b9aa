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
mod query;
#[cfg(test)]
mod tests;

use super::race_shadow::AccessStamp;
use crate::ir::access_facts::{DeclaredModel, FactsByInstruction};
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::{Fence, MemoryKinds, Scope};
use crate::memory::vector_clocks::message::{
    ReleaseFence, ReleaseMessage, ReleaseSequence, Sender, add_message,
};
use chains::{AvailabilityDomain, LayeredClocks, Nearness, Neighbours, OrderLayer};
pub(crate) use missing::MissingOrder;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// By domain and kind of memory.
type DomainTimes = [[u32; MemoryKinds::COUNT]; AvailabilityDomain::ALL.len()];

#[derive(Debug, Clone, Default)]
struct InvocationOrder {
    clocks: LayeredClocks,
    /// Own accesses up to these times were made available to each domain by fences.
    available: DomainTimes,
    /// The last fence of each scope and kinds.
    release_fences: Vec<ReleaseFence>,
    /// Messages that its atomics have read and no acquire fence has acquired yet.
    pending_messages: Vec<ReleaseMessage>,
}

/// The invocations of a workgroup.
#[derive(Debug, Clone, Default)]
struct WorkgroupOrder {
    workgroup: u64,
    invocations: Vec<InvocationOrder>,
    /// The time of the current accesses of each invocation.
    times: Vec<u32>,
    /// By kind of memory: accesses of its invocations up to this time happened before all current
    /// ones.
    ordered_until: [u32; MemoryKinds::COUNT],
}

/// An access query: the access that earlier ones must be ordered before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AccessQuery {
    pub access_kind: AccessKind,
    /// Local index in the workgroup that runs.
    pub invocation: u32,
    pub source_index: u32,
}

/// The happens-before relation of a dispatch so far.
#[derive(Debug)]
pub(crate) struct HappensBefore {
    access_facts: Arc<FactsByInstruction>,
    invocations: u32,
    subgroup: u32,
    /// Each time from which a workgroup ran, ascending.
    owners: Vec<(u32, u64)>,
    running: WorkgroupOrder,
    /// Workgroups that are suspended because they wait for others.
    suspended: BTreeMap<u64, WorkgroupOrder>,
    /// The first atomic that synchronized with another invocation's release. Which release it reads
    /// depends on the schedule.
    pub synchronized: Option<u32>,
    /// The first atomic that released to others: in another schedule others may have acquired it.
    pub published: Option<u32>,
}

impl HappensBefore {
    pub(crate) fn new(places: Arc<FactsByInstruction>, invocations: u32, subgroup: u32) -> Self {
        let (owners, group, resting) = (Vec::new(), WorkgroupOrder::default(), BTreeMap::new());
        Self {
            access_facts: places,
            invocations,
            subgroup,
            owners,
            running: group,
            suspended: resting,
            synchronized: None,
            published: None,
        }
    }

    /// A workgroup begins.
    pub(crate) fn start_workgroup(&mut self, workgroup: u64, time: u32) {
        let invocation_count = self.invocations as usize;
        let (invocations, times) =
            (vec![InvocationOrder::default(); invocation_count], vec![time; invocation_count]);
        self.running = WorkgroupOrder {
            workgroup,
            invocations,
            times,
            ordered_until: [0; MemoryKinds::COUNT],
        };
        self.owners.push((time, workgroup));
    }

    /// The running workgroup waits for others: it is suspended.
    pub(crate) fn suspend_workgroup(&mut self) {
        let group = std::mem::take(&mut self.running);
        self.suspended.insert(group.workgroup, group);
    }

    /// A suspended workgroup runs again.
    pub(crate) fn resume_workgroup(&mut self, workgroup: u64, time: u32) {
        self.running = self.suspended.remove(&workgroup).expect("it rests");
        self.owners.push((time, workgroup));
    }

    /// The workgroup that ran at a time.
    fn owning_workgroup(&self, time: u32) -> u64 {
        match self.owners.last() {
            Some((start, workgroup)) if *start <= time => *workgroup,
            _ => {
                let position = self.owners.partition_point(|(start, _)| *start <= time);
                position.checked_sub(1).map_or(u64::MAX, |position| self.owners[position].1)
            }
        }
    }

    /// Whether two atomics of the program may fail to be mutually atomic.
    pub(crate) fn has_incompatible_atomics(&self) -> bool {
        !self.access_facts.atomics_uniform
    }

    pub(crate) fn access_stamp(&self, invocation: u32, source_index: u32) -> AccessStamp {
        AccessStamp::new(self.running.times[invocation as usize], invocation, source_index)
    }

    fn is_explicit(&self) -> bool {
        self.access_facts.declared == DeclaredModel::Vulkan
    }

    fn own_sender(&self, invocation: u32) -> Sender {
        if self.access_facts.all_reach_device && !self.is_explicit() {
            return Sender::Any;
        }
        Sender::One { workgroup: self.running.workgroup, subgroup: invocation / self.subgroup }
    }

    /// Whether a scope instance of `invocation` includes the sender.
    fn scope_reaches(&self, scope: Scope, sender: Sender, invocation: u32) -> bool {
        let (same_workgroup, same_subgroup) = match sender {
            Sender::Any => (false, false),
            Sender::One { workgroup, subgroup } => {
                let same_workgroup = workgroup == self.running.workgroup;
                (same_workgroup, same_workgroup && subgroup == invocation / self.subgroup)
            }
        };
        match scope {
            Scope::Device => true,
            Scope::Workgroup => same_workgroup,
            Scope::Subgroup => same_subgroup,
            Scope::Invocation => false,
        }
    }

    /// An OpMemoryBarrier, or the semantics of an atomic or of a control barrier taken as a fence.
    pub(crate) fn execute_fence(&mut self, invocation: u32, fence: Fence, next_time: u32) {
        if fence.reach() == Scope::Invocation {
            return;
        }
        self.acquire(invocation, fence);
        self.release(invocation, fence);
        self.running.times[invocation as usize] = next_time;
    }

    fn acquire(&mut self, invocation: u32, fence: Fence) {
        let acquired_kinds = fence.acquired_kinds();
        if acquired_kinds.is_empty() {
            return;
        }
        let index = invocation as usize;
        let pending_messages =
            std::mem::take(&mut self.running.invocations[index].pending_messages);
        let mut still_pending = Vec::new();
        for message in pending_messages {
            let is_acquired = acquired_kinds.contains(message.carrier)
                && self.scope_reaches(fence.reach(), message.sender, invocation);
            if is_acquired {
                if !message.carrier.is_empty() {
                    self.note_synchronization(
                        invocation,
                        message.reading_atomic,
                        (&message.clocks, acquired_kinds.intersection(message.kinds)),
                    );
                }
                self.receive_message(
                    invocation,
                    &message,
                    acquired_kinds.intersection(message.kinds),
                );
            }
            if !is_acquired || !acquired_kinds.contains(message.kinds) {
                still_pending.push(message);
            }
        }
        self.running.invocations[index].pending_messages = still_pending;
        self.make_visible(invocation, fence, acquired_kinds);
    }

    /// Joins a message into the clocks of the invocation that acquires it.
    fn receive_message(
        &mut self,
        invocation: u32,
        message: &ReleaseMessage,
        memory_kinds: MemoryKinds,
    ) {
        let nearness = match message.sender {
            _ if self.scope_reaches(Scope::Subgroup, message.sender, invocation) => {
                Nearness::Subgroup
            }
            _ if self.scope_reaches(Scope::Workgroup, message.sender, invocation) => {
                Nearness::Workgroup
            }
            _ => Nearness::Afar,
        };
        let own_clocks = &mut self.running.invocations[invocation as usize].clocks;
        own_clocks.join(&message.clocks, memory_kinds, nearness);
    }

    /// Notes that an atomic synchronizes with others, unless its message holds nothing new.
    fn note_synchronization(
        &mut self,
        invocation: u32,
        source_index: u32,
        (message_clocks, memory_kinds): (&LayeredClocks, MemoryKinds),
    ) {
        if !self.running.invocations[invocation as usize]
            .clocks
            .covers(message_clocks, memory_kinds)
        {
            self.synchronized.get_or_insert(source_index);
        }
    }

    /// A visibility operation, where the fence is one.
    fn make_visible(&mut self, invocation: u32, fence: Fence, memory_kinds: MemoryKinds) {
        if !self.is_explicit() || !fence.makes_visible() {
            return;
        }
        let (neighbours, scope) = (self.neighbours(invocation), fence.reach());
        let own_clocks = &mut self.running.invocations[invocation as usize].clocks;
        memory_kinds
            .kind_numbers()
            .for_each(|memory_kind| own_clocks.make_visible(memory_kind, &neighbours, scope));
    }

    /// The workgroup that runs, and the local indices of an invocation's subgroup.
    fn neighbours(&self, invocation: u32) -> Neighbours {
        let first_invocation = invocation / self.subgroup * self.subgroup;
        Neighbours {
            workgroup: self.running.workgroup,
            subgroup: first_invocation..first_invocation + self.subgroup,
        }
    }

    fn release(&mut self, invocation: u32, fence: Fence) {
        if let Some(new_fence) = self.release_state(invocation, fence) {
            let own_order = &mut self.running.invocations[invocation as usize];
            own_order.release_fences.retain(|old_fence| {
                old_fence.scope > new_fence.scope || !new_fence.kinds.contains(old_fence.kinds)
            });
            own_order.release_fences.push(new_fence);
        }
    }

    /// The release fence of the invocation's current state, after its availability operation; none
    /// if the fence does not release.
    fn release_state(&mut self, invocation: u32, fence: Fence) -> Option<ReleaseFence> {
        let (released_kinds, scope, is_explicit) =
            (fence.released_kinds(), fence.reach(), self.is_explicit());
        if released_kinds.is_empty() {
            return None;
        }
        let (own_time, neighbours) =
            (self.running.times[invocation as usize], self.neighbours(invocation));
        let own_order = &mut self.running.invocations[invocation as usize];
        if is_explicit && fence.makes_available() {
            for memory_kind in released_kinds.kind_numbers() {
                for domain in
                    AvailabilityDomain::ALL.into_iter().filter(|domain| domain.is_reached_by(scope))
                {
                    own_order.available[domain as usize][memory_kind] = own_time;
                }
                own_order.clocks.make_available(memory_kind, &neighbours, scope);
            }
        }
        let (own_clocks, available) = (own_order.clocks.clone(), own_order.available);
        Some(ReleaseFence { scope, kinds: released_kinds, clocks: own_clocks, own_time, available })
    }

    /// The clocks of a release fence's message about some of the kinds that it releases.
    fn message_clocks(
        &self,
        invocation: u32,
        released: &ReleaseFence,
        kinds: MemoryKinds,
    ) -> Rc<LayeredClocks> {
        let mut message_clocks = LayeredClocks::default();
        let workgroup = self.running.workgroup;
        for memory_kind in kinds.kind_numbers() {
            message_clocks.copy_kind(&released.clocks, memory_kind);
            message_clocks.clock_mut(OrderLayer::HappensBefore, memory_kind).advance(
                workgroup,
                invocation,
                released.own_time,
            );
            for domain in AvailabilityDomain::ALL {
                let time = released.available[domain as usize][memory_kind];
                message_clocks.add_available((domain, memory_kind), (workgroup, invocation), time);
            }
        }
        Rc::new(message_clocks)
    }

    /// An atomic has read from a release sequence.
    pub(crate) fn atomic_read(
        &mut self,
        invocation: u32,
        source_index: u32,
        carrier_kinds: MemoryKinds,
        published: &ReleaseSequence,
    ) {
        let Some(atomic) = self.access_facts.facts_at(source_index).atomic else { return };
        let (fence, reach) = (atomic.fence, atomic.fence.reach());
        let acquired_kinds = fence.acquired_kinds();
        for message in &published.0 {
            if !self.scope_reaches(message.scope, message.sender, invocation)
                || !self.scope_reaches(reach, message.sender, invocation)
            {
                continue;
            }
            self.note_synchronization(
                invocation,
                source_index,
                (&message.clocks, acquired_kinds.intersection(message.kinds)),
            );
            self.receive_message(invocation, message, acquired_kinds.intersection(message.kinds));
            let own_order = &mut self.running.invocations[invocation as usize];
            if !acquired_kinds.contains(message.kinds) {
                let (scope, carrier) = (message.scope.min(reach), carrier_kinds);
                add_message(
                    &mut own_order.pending_messages,
                    ReleaseMessage {
                        scope,
                        carrier,
                        reading_atomic: source_index,
                        ..message.clone()
                    },
                );
            }
        }
        if !acquired_kinds.is_empty() {
            self.make_visible(invocation, fence, acquired_kinds);
        }
    }

    /// An atomic has written: a store begins a release sequence, a read-modify-write continues it.
    pub(crate) fn atomic_write(
        &mut self,
        (invocation, source_index): (u32, u32),
        carrier_kinds: MemoryKinds,
        published: &mut ReleaseSequence,
        reads: ReadsFirst,
        next_time: u32,
    ) {
        let Some(atomic) = self.access_facts.facts_at(source_index).atomic else { return };
        if reads == ReadsFirst::No {
            published.0.clear();
        }
        let reach = atomic.fence.reach();
        // Its own release orders all kinds of memory that it names, whatever memory it is in.
        let own_release = self.release_state(invocation, atomic.fence);
        let own_order = &self.running.invocations[invocation as usize];
        let sender = self.own_sender(invocation);
        let carried_fences = own_order
            .release_fences
            .iter()
            .filter(|fence_before| fence_before.kinds.contains(carrier_kinds));
        let messages: Vec<ReleaseMessage> = (carried_fences.chain(&own_release))
            .map(|released| {
                let (scope, message_clocks) = (
                    released.scope.min(reach),
                    self.message_clocks(invocation, released, released.kinds),
                );
                ReleaseMessage {
                    sender,
                    scope,
                    kinds: released.kinds,
                    carrier: carrier_kinds,
                    reading_atomic: source_index,
                    clocks: message_clocks,
                }
            })
            .collect();
        if !messages.is_empty() {
            self.published.get_or_insert(source_index);
        }
        messages.into_iter().for_each(|message| add_message(&mut published.0, message));
        if own_release.is_some() {
            self.running.times[invocation as usize] = next_time;
        }
    }
}

/// Whether an atomic that writes has read first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadsFirst {
    Yes,
    No,
}

pub(crate) fn is_write(access_kind: AccessKind) -> bool {
    matches!(access_kind, AccessKind::Write | AccessKind::AtomicWrite)
}

pub(crate) fn is_atomic(access_kind: AccessKind) -> bool {
    matches!(access_kind, AccessKind::AtomicRead | AccessKind::AtomicWrite)
}
