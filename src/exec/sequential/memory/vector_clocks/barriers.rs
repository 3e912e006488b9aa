//! Control barriers: how the clocks of the participants are joined.

use super::HappensBefore;
use super::chains::{AvailabilityDomain, LayeredClocks, Nearness, OrderLayer};
use super::message::{ReleaseMessage, add_message};
use crate::ir::memory_semantics::{Fence, MemoryKinds, Scope};
use crate::ir::subgroup_operation::SubgroupMembers;
use std::collections::BTreeMap;

impl HappensBefore {
    /// All invocations participate; in memory of `ordered_kinds` the barrier itself orders all
    /// accesses before it before all after it.
    pub(crate) fn workgroup_barrier(
        &mut self,
        ordered_kinds: MemoryKinds,
        control: Fence,
        next_time: u32,
    ) {
        let everyone: Vec<u32> = (0..self.invocations).collect();
        self.synchronize_participants(
            &everyone,
            Scope::Workgroup,
            ordered_kinds,
            control,
            next_time,
        );
    }

    /// The same for some of a subgroup, whose first invocation is `first_invocation`.
    pub(crate) fn subgroup_barrier(
        &mut self,
        first_invocation: u32,
        members: SubgroupMembers,
        ordered_kinds: MemoryKinds,
        control: Fence,
        next_time: u32,
    ) {
        let participants: Vec<u32> = members.active_ids().map(|id| first_invocation + id).collect();
        self.synchronize_participants(
            &participants,
            Scope::Subgroup,
            ordered_kinds,
            control,
            next_time,
        );
    }

    fn synchronize_participants(
        &mut self,
        participants: &[u32],
        reach: Scope,
        ordered_kinds: MemoryKinds,
        control: Fence,
        next_time: u32,
    ) {
        if control.orders_anything() {
            participants.iter().for_each(|participant| {
                self.acquire(*participant, control);
                self.release(*participant, control);
            });
        }
        let messages = self.barrier_messages(participants, ordered_kinds);
        let joined = self.joined_clocks(participants, reach, ordered_kinds, next_time);
        let subgroup_clocks = self.joined_subgroup_clocks(participants, ordered_kinds);
        if reach == Scope::Workgroup {
            ordered_kinds
                .kind_numbers()
                .for_each(|memory_kind| self.running.ordered_until[memory_kind] = next_time - 1);
        }
        for participant in participants {
            self.running.times[*participant as usize] = next_time;
            let own_order = &mut self.running.invocations[*participant as usize];
            own_order.clocks.join(&joined, ordered_kinds, Nearness::Workgroup);
            if let Some(subgroup_clocks) = subgroup_clocks.get(&(participant / self.subgroup)) {
                own_order.clocks.join(subgroup_clocks, ordered_kinds, Nearness::Subgroup);
            }
            for message in &messages {
                self.receive_at_barrier(*participant, message, control);
            }
            self.make_visible(*participant, control, control.acquired_kinds().union(ordered_kinds));
        }
    }

    /// By subgroup: the joined clocks of its participants, for the layers of the subgroup alone.
    fn joined_subgroup_clocks(
        &self,
        participants: &[u32],
        ordered_kinds: MemoryKinds,
    ) -> BTreeMap<u32, LayeredClocks> {
        let mut subgroup_clocks: BTreeMap<u32, LayeredClocks> = BTreeMap::new();
        if self.is_explicit() {
            for participant in participants {
                let own_clocks = &self.running.invocations[*participant as usize].clocks;
                subgroup_clocks.entry(participant / self.subgroup).or_default().join(
                    own_clocks,
                    ordered_kinds,
                    Nearness::Subgroup,
                );
            }
        }
        subgroup_clocks
    }

    /// A participant receives the message of a release fence before the barrier.
    fn receive_at_barrier(&mut self, invocation: u32, message: &ReleaseMessage, control: Fence) {
        if !self.scope_reaches(message.scope, message.sender, invocation) {
            return;
        }
        let is_heard = self.scope_reaches(control.reach(), message.sender, invocation);
        let acquired_kinds = if is_heard { control.acquired_kinds() } else { MemoryKinds::NONE };
        self.receive_message(invocation, message, acquired_kinds.intersection(message.kinds));
        let own_order = &mut self.running.invocations[invocation as usize];
        if !acquired_kinds.contains(message.kinds) {
            add_message(&mut own_order.pending_messages, message.clone());
        }
    }

    /// The joined clocks of all participants, with their own accesses up to the barrier.
    fn joined_clocks(
        &self,
        participants: &[u32],
        reach: Scope,
        ordered_kinds: MemoryKinds,
        next_time: u32,
    ) -> LayeredClocks {
        let (mut joined, workgroup) = (LayeredClocks::default(), self.running.workgroup);
        let is_workgroup = reach == Scope::Workgroup;
        for memory_kind in ordered_kinds.kind_numbers() {
            for participant in participants {
                let own_order = &self.running.invocations[*participant as usize].clocks;
                joined
                    .clock_mut(OrderLayer::HappensBefore, memory_kind)
                    .join(own_order.clock(OrderLayer::HappensBefore, memory_kind));
                if !is_workgroup {
                    joined.clock_mut(OrderLayer::HappensBefore, memory_kind).advance(
                        workgroup,
                        *participant,
                        self.running.times[*participant as usize],
                    );
                }
            }
            if is_workgroup {
                joined
                    .clock_mut(OrderLayer::HappensBefore, memory_kind)
                    .advance_workgroup(workgroup, next_time - 1);
            }
        }
        if self.is_explicit() {
            for participant in participants {
                let own_order = &self.running.invocations[*participant as usize];
                joined.join(&own_order.clocks, ordered_kinds, Nearness::Workgroup);
                for (memory_kind, domain) in ordered_kinds.kind_numbers().flat_map(|memory_kind| {
                    AvailabilityDomain::ALL.map(|domain| (memory_kind, domain))
                }) {
                    joined.add_available(
                        (domain, memory_kind),
                        (workgroup, *participant),
                        own_order.available[domain as usize][memory_kind],
                    );
                }
            }
        }
        joined
    }

    /// The times of the running workgroup whose accesses are ordered before all its current ones,
    /// in memory of these kinds: the first since which no other workgroup has run, and the last. None
    /// under the Vulkan memory model, where availability and visibility count as well.
    pub(crate) fn ordered_interval(&self, kinds: MemoryKinds) -> Option<(u32, u32)> {
        if self.is_explicit() {
            return None;
        }
        let last_time = kinds
            .kind_numbers()
            .map(|memory_kind| self.running.ordered_until[memory_kind])
            .min()?;
        let (first_time, _) = *self.owners.last()?;
        (first_time <= last_time).then_some((first_time, last_time))
    }

    /// The messages of release fences before the barrier, without the kinds that the barrier itself
    /// orders.
    fn barrier_messages(
        &self,
        participants: &[u32],
        ordered_kinds: MemoryKinds,
    ) -> Vec<ReleaseMessage> {
        let mut messages = Vec::new();
        for participant in participants {
            for released in &self.running.invocations[*participant as usize].release_fences {
                let kinds = released.kinds.without(ordered_kinds);
                if kinds.is_empty() {
                    continue;
                }
                let message_clocks = self.message_clocks(*participant, released, kinds);
                let (sender, scope) = (self.own_sender(*participant), released.scope);
                add_message(
                    &mut messages,
                    ReleaseMessage {
                        sender,
                        scope,
                        kinds,
                        carrier: MemoryKinds::NONE,
                        reading_atomic: 0,
                        clocks: message_clocks,
                    },
                );
            }
        }
        messages
    }
}
