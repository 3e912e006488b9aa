//! Barriers: what the invocations that meet learn of each other.

use super::Order;
use super::chains::{Domain, Layer, Learnt, Nearness};
use super::message::{Message, Released, add};
use crate::ir::memory_semantics::{Fence, MemoryKinds, Scope};
use crate::ir::subgroup_operation::SubgroupMembers;
use std::collections::BTreeMap;

impl Order {
    /// All invocations meet; for `whole` the barrier itself orders what they did before what they
    /// do after.
    pub(crate) fn barrier(&mut self, whole: MemoryKinds, control: Fence, after: u32) {
        let all: Vec<u32> = (0..self.invocations).collect();
        self.meet(&all, Scope::Workgroup, whole, control, after);
    }

    /// The same for some of a subgroup, whose first invocation is `first`.
    pub(crate) fn subgroup_barrier(
        &mut self,
        first: u32,
        members: SubgroupMembers,
        whole: MemoryKinds,
        control: Fence,
        after: u32,
    ) {
        let some: Vec<u32> = members.ids().map(|id| first + id).collect();
        self.meet(&some, Scope::Subgroup, whole, control, after);
    }

    fn meet(&mut self, who: &[u32], reach: Scope, whole: MemoryKinds, control: Fence, after: u32) {
        if control.orders_anything() {
            who.iter().for_each(|one| {
                self.acquire(*one, control);
                self.release(*one, control);
            });
        }
        let told = self.told(who, whole);
        let all = self.together(who, reach, whole, after);
        let near = self.together_nearby(who, whole);
        if reach == Scope::Workgroup {
            whole.kind_numbers().for_each(|kind| self.group.settled[kind] = after - 1);
        }
        for one in who {
            self.group.times[*one as usize] = after;
            let own = &mut self.group.invocations[*one as usize];
            own.learnt.join(&all, whole, Nearness::Workgroup);
            if let Some(near) = near.get(&(one / self.subgroup)) {
                own.learnt.join(near, whole, Nearness::Subgroup);
            }
            for message in &told {
                self.hear(*one, message, control);
            }
            self.see(*one, control, control.acquired_kinds().union(whole));
        }
    }

    /// What those of each subgroup who meet know that its invocations alone may use.
    fn together_nearby(&self, who: &[u32], whole: MemoryKinds) -> BTreeMap<u32, Learnt> {
        let mut near: BTreeMap<u32, Learnt> = BTreeMap::new();
        if self.explicit() {
            for one in who {
                let own = &self.group.invocations[*one as usize].learnt;
                near.entry(one / self.subgroup).or_default().join(own, whole, Nearness::Subgroup);
            }
        }
        near
    }

    /// What a fence before a barrier tells who waits there.
    fn hear(&mut self, invocation: u32, message: &Message, control: Fence) {
        if !self.reaches(message.scope, message.from, invocation) {
            return;
        }
        let hears = self.reaches(control.reach(), message.from, invocation);
        let acquired = if hears { control.acquired_kinds() } else { MemoryKinds::NONE };
        self.learn(invocation, message, acquired.intersection(message.kinds));
        let own = &mut self.group.invocations[invocation as usize];
        if !acquired.contains(message.kinds) {
            add(&mut own.pending, message.clone());
        }
    }

    /// What all who meet know together, and did until then.
    fn together(&self, who: &[u32], reach: Scope, whole: MemoryKinds, after: u32) -> Learnt {
        let (mut all, workgroup) = (Learnt::default(), self.group.workgroup);
        let everybody = reach == Scope::Workgroup;
        for kind in whole.kind_numbers() {
            for one in who {
                let own = &self.group.invocations[*one as usize].learnt;
                all.change(Layer::Before, kind).join(own.of(Layer::Before, kind));
                if !everybody {
                    all.change(Layer::Before, kind).add(
                        workgroup,
                        *one,
                        self.group.times[*one as usize],
                    );
                }
            }
            if everybody {
                all.change(Layer::Before, kind).add_all(workgroup, after - 1);
            }
        }
        if self.explicit() {
            for one in who {
                let own = &self.group.invocations[*one as usize];
                all.join(&own.learnt, whole, Nearness::Workgroup);
                for (kind, to) in
                    whole.kind_numbers().flat_map(|kind| Domain::ALL.map(|to| (kind, to)))
                {
                    all.add_available(
                        (to, kind),
                        (workgroup, *one),
                        own.available[to as usize][kind],
                    );
                }
            }
        }
        all
    }

    /// Times of the workgroup that runs that are ordered before all that it does now, in memory of
    /// these kinds: the first since which no other one has run, and the last. None where that does
    /// not settle everything.
    pub(crate) fn settled(&self, kinds: MemoryKinds) -> Option<(u32, u32)> {
        if self.explicit() {
            return None;
        }
        let last = kinds.kind_numbers().map(|kind| self.group.settled[kind]).min()?;
        let (first, _) = *self.owners.last()?;
        (first <= last).then_some((first, last))
    }

    /// What the fences before a barrier tell all who meet there, beside what it orders wholly.
    fn told(&self, who: &[u32], whole: MemoryKinds) -> Vec<Message> {
        let mut told = Vec::new();
        for one in who {
            for released in &self.group.invocations[*one as usize].released {
                let kinds = released.kinds.without(whole);
                if kinds.is_empty() {
                    continue;
                }
                let learnt = self.written_out(*one, &Released { kinds, ..released.clone() });
                let (from, scope) = (self.sender(*one), released.scope);
                add(
                    &mut told,
                    Message { from, scope, kinds, carrier: MemoryKinds::NONE, by: 0, learnt },
                );
            }
        }
        told
    }
}
