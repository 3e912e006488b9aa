//! Access queries: whether an earlier access is ordered before the current one, and if not, what is
//! missing.

use super::chains::{AvailabilityDomain, Nearness, OrderLayer, OwnAvailability};
use super::message::Sender;
use super::missing::{ConflictKind, conflict_kind};
use super::{AccessQuery, HappensBefore, MissingOrder, is_write};
use crate::ir::access_facts::Privacy;
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::{MemoryKinds, Scope};
use crate::memory::race_shadow::AccessStamp;

impl HappensBefore {
    /// Whether every access that the current one is ordered before also has an earlier one of the
    /// same kind ordered before it, so that the earlier one need not be kept.
    pub(super) fn subsumes(
        &self,
        earlier_stamp: AccessStamp,
        query: &AccessQuery,
        memory_kinds: MemoryKinds,
    ) -> bool {
        let owner = self.owning_workgroup(earlier_stamp.time());
        if owner == self.running.workgroup
            && earlier_stamp.lane() == query.invocation
            && !self.is_explicit()
        {
            return true;
        }
        let own_clocks = &self.running.invocations[query.invocation as usize].clocks;
        let includes_earlier =
            |layer: OrderLayer| own_clocks.includes(layer, memory_kinds, owner, earlier_stamp);
        if !includes_earlier(OrderLayer::HappensBefore) {
            return false;
        }
        if !self.is_explicit() || !is_write(query.access_kind) {
            return true;
        }
        // Every chain that makes the later write visible also makes a write of the same subgroup
        // visible that is available to every domain.
        let same_subgroup = owner == self.running.workgroup
            && earlier_stamp.lane() / self.subgroup == query.invocation / self.subgroup;
        same_subgroup
            && AvailabilityDomain::ALL.into_iter().all(|domain| {
                includes_earlier(OrderLayer::Available(OwnAvailability::Nothing, domain))
            })
    }

    /// What is missing for an earlier access to be ordered before the one that is made now, in
    /// memory of these kinds.
    pub(crate) fn missing_order(
        &self,
        (earlier_stamp, earlier_kind): (AccessStamp, AccessKind),
        query: &AccessQuery,
        memory_kinds: MemoryKinds,
    ) -> Option<MissingOrder> {
        let owner = self.owning_workgroup(earlier_stamp.time());
        let near = owner == self.running.workgroup;
        if near && earlier_stamp.lane() == query.invocation {
            return None;
        }
        let facts = [earlier_stamp.source_index(), query.source_index]
            .map(|source_index| self.access_facts.facts_at(source_index));
        let conflict = match conflict_kind([earlier_kind, query.access_kind], &facts) {
            ConflictKind::Plain => MissingOrder::Order,
            ConflictKind::Atomics(bytes) if bytes[0] != bytes[1] => MissingOrder::Width,
            ConflictKind::Atomics(_) => {
                let sender = Sender::One {
                    workgroup: owner,
                    subgroup: earlier_stamp.lane() / self.subgroup,
                };
                let scopes = facts
                    .iter()
                    .filter_map(|facts| facts.atomic)
                    .map(|atomic| atomic.fence.reach());
                if scopes
                    .min()
                    .is_some_and(|scope| self.scope_reaches(scope, sender, query.invocation))
                {
                    return None;
                }
                MissingOrder::Scope
            }
        };
        if facts.iter().any(|facts| facts.privacy == Privacy::Private) {
            return Some(MissingOrder::Privacy);
        }
        let own_clocks = &self.running.invocations[query.invocation as usize].clocks;
        let is_known =
            |layer: OrderLayer| own_clocks.includes(layer, memory_kinds, owner, earlier_stamp);
        if !is_known(OrderLayer::HappensBefore) {
            return Some(conflict);
        }
        if !is_write(earlier_kind) {
            return None;
        }
        if !self.is_explicit() {
            let seen =
                facts[0].coherent && (facts[1].coherent || query.access_kind == AccessKind::Write);
            return (!near && !seen).then_some(MissingOrder::Coherence);
        }
        let nearness = match near {
            true if earlier_stamp.lane() / self.subgroup == query.invocation / self.subgroup => {
                Nearness::Subgroup
            }
            true => Nearness::Workgroup,
            false => Nearness::Afar,
        };
        // What was made available or visible by fences alone, and what began with the access
        // itself.
        let own_availabilities =
            [OwnAvailability::Nothing, OwnAvailability::from_scope(facts[0].available)];
        let is_available = |domain: AvailabilityDomain| {
            domain.is_shared(nearness)
                && own_availabilities.iter().any(|own_availability| {
                    is_known(OrderLayer::Available(*own_availability, domain))
                })
        };
        if !AvailabilityDomain::ALL.into_iter().any(is_available) {
            return Some(MissingOrder::Availability);
        }
        let is_visible =
            |own_availability: OwnAvailability| is_known(OrderLayer::Visible(own_availability));
        let can_see = |scope: Scope| {
            let is_reached =
                |domain: AvailabilityDomain| domain.is_reached_by(scope) && is_available(domain);
            let is_visible_nearby = |own_availability: &OwnAvailability| {
                is_known(OrderLayer::VisibleToSubgroup(*own_availability))
                    || (scope >= Scope::Workgroup
                        && is_known(OrderLayer::VisibleToWorkgroup(*own_availability)))
            };
            AvailabilityDomain::ALL.into_iter().any(is_reached)
                || own_availabilities.iter().any(is_visible_nearby)
        };
        let visible_scope = facts[1].visible.filter(|scope| *scope > Scope::Invocation);
        let visible = query.access_kind == AccessKind::Write
            || own_availabilities.into_iter().any(is_visible)
            || visible_scope.is_some_and(can_see);
        (!visible).then_some(MissingOrder::Visibility)
    }
}
