//! The clocks of an invocation by layer: which accesses of others happened before, to which domains
//! they were made available, and to whom visible.
//!
//! Knows: availability and visibility chains (Vulkan specification, appendix "Memory Model",
//! *location-ordered*): who makes available to a wider domain what its subgroup or workgroup
//! already has, and who makes visible to them what comes from a wider one.
//! Promises: a module that does not declare the Vulkan memory model has the first layer alone, at
//! no cost for the others.
//! Does not cover: that an operation for visibility happened before on a way that leads out of its
//! subgroup or workgroup and back: such a chain counts as broken.

use super::clock::VectorClock;
use crate::ir::memory_semantics::{MemoryKinds, Scope};
use crate::memory::race_shadow::AccessStamp;
use std::ops::Range;

/// To whom writes are made available: the instance of the writer's subgroup, of its workgroup, all
/// invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AvailabilityDomain {
    Subgroup,
    Workgroup,
    Device,
}

impl AvailabilityDomain {
    pub(super) const ALL: [AvailabilityDomain; 3] =
        [AvailabilityDomain::Subgroup, AvailabilityDomain::Workgroup, AvailabilityDomain::Device];

    fn scope(self) -> Scope {
        match self {
            AvailabilityDomain::Subgroup => Scope::Subgroup,
            AvailabilityDomain::Workgroup => Scope::Workgroup,
            AvailabilityDomain::Device => Scope::Device,
        }
    }

    /// Whether an operation of a scope reaches it.
    pub(super) fn is_reached_by(self, scope: Scope) -> bool {
        self.scope() <= scope
    }

    /// Whether two invocations have it in common.
    pub(super) fn is_shared(self, nearness: Nearness) -> bool {
        match self {
            AvailabilityDomain::Subgroup => nearness == Nearness::Subgroup,
            AvailabilityDomain::Workgroup => nearness != Nearness::Afar,
            AvailabilityDomain::Device => true,
        }
    }
}

/// The domains that a write makes itself available to, without a later operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnAvailability {
    Nothing,
    To(AvailabilityDomain),
}

impl OwnAvailability {
    const ALL: [OwnAvailability; 4] = [
        OwnAvailability::Nothing,
        OwnAvailability::To(AvailabilityDomain::Subgroup),
        OwnAvailability::To(AvailabilityDomain::Workgroup),
        OwnAvailability::To(AvailabilityDomain::Device),
    ];

    /// Of an access that makes available to a scope.
    pub(super) fn from_scope(scope: Option<Scope>) -> Self {
        match scope {
            None | Some(Scope::Invocation) => OwnAvailability::Nothing,
            Some(Scope::Subgroup) => OwnAvailability::To(AvailabilityDomain::Subgroup),
            Some(Scope::Workgroup) => OwnAvailability::To(AvailabilityDomain::Workgroup),
            Some(Scope::Device) => OwnAvailability::To(AvailabilityDomain::Device),
        }
    }

    /// How many domains it reaches.
    fn domain_count(self) -> usize {
        match self {
            OwnAvailability::Nothing => 0,
            OwnAvailability::To(domain) => domain as usize + 1,
        }
    }
}

/// How near the sender of a message is to its receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nearness {
    Subgroup,
    Workgroup,
    Afar,
}

/// A relation that a clock is kept for. A layer with an `OwnAvailability` holds the writes that
/// make themselves available that far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrderLayer {
    /// Happens before.
    HappensBefore,
    /// Writes that happened before and were made available to a domain.
    Available(OwnAvailability, AvailabilityDomain),
    /// Writes that the invocation itself has made visible to itself.
    Visible(OwnAvailability),
    /// Writes that an invocation of the subgroup has made visible to it, and that happened before.
    VisibleToSubgroup(OwnAvailability),
    /// The same of the workgroup.
    VisibleToWorkgroup(OwnAvailability),
}

/// Layers beyond the first.
const CHAIN_LAYERS: usize = 18;

impl OrderLayer {
    /// Its number among the layers of chains; none for happens-before, and for a domain that a
    /// write reaches by itself.
    fn chain_index(self) -> Option<usize> {
        match self {
            OrderLayer::HappensBefore => None,
            // To the domains that a write reaches by itself it is available as soon as it happened.
            OrderLayer::Available(own_availability, domain)
                if own_availability.domain_count() > domain as usize =>
            {
                None
            }
            OrderLayer::Available(own_availability, domain) => {
                Some([0, 2, 3][own_availability.domain_count()] + domain as usize)
            }
            OrderLayer::Visible(own_availability) => Some(6 + own_availability.domain_count()),
            OrderLayer::VisibleToSubgroup(own_availability) => {
                Some(10 + own_availability.domain_count())
            }
            OrderLayer::VisibleToWorkgroup(own_availability) => {
                Some(14 + own_availability.domain_count())
            }
        }
    }
}

/// Layers that a release message has for every receiver, for its workgroup, for its subgroup.
const AVAILABLE_LAYERS: usize = 6;
const SUBGROUP_LAYERS: Range<usize> = 10..14;
const WORKGROUP_LAYERS: Range<usize> = 14..18;

type ByKind = [VectorClock; MemoryKinds::COUNT];

const NOTHING: &VectorClock = &VectorClock::NONE;

/// The workgroup and the local indices of the subgroup that an invocation belongs to.
#[derive(Debug, Clone)]
pub(super) struct Neighbours {
    pub workgroup: u64,
    pub subgroup: Range<u32>,
}

/// Vector clocks by layer and kind of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct LayeredClocks {
    happens_before: ByKind,
    chains: Option<Box<[ByKind; CHAIN_LAYERS]>>,
}

impl LayeredClocks {
    pub(super) fn clock(&self, layer: OrderLayer, memory_kind: usize) -> &VectorClock {
        match (layer.chain_index(), &self.chains) {
            (None, _) => &self.happens_before[memory_kind],
            (Some(chain_index), Some(further)) => &further[chain_index][memory_kind],
            (Some(_), None) => NOTHING,
        }
    }

    pub(super) fn clock_mut(&mut self, layer: OrderLayer, memory_kind: usize) -> &mut VectorClock {
        match layer.chain_index() {
            None => &mut self.happens_before[memory_kind],
            Some(chain_index) => &mut self.chains.get_or_insert_default()[chain_index][memory_kind],
        }
    }

    /// Whether an access of a workgroup is in a layer, for all of these kinds of memory.
    pub(super) fn includes(
        &self,
        layer: OrderLayer,
        memory_kinds: MemoryKinds,
        workgroup: u64,
        stamp: AccessStamp,
    ) -> bool {
        memory_kinds.kind_numbers().all(|memory_kind| {
            self.clock(layer, memory_kind).includes(workgroup, stamp.lane(), stamp.time())
        })
    }

    /// Whether it covers all that another one has for every receiver.
    pub(super) fn covers(&self, other_clocks: &LayeredClocks, memory_kinds: MemoryKinds) -> bool {
        let own_chain = |chain_index: usize, memory_kind: usize| {
            self.chains
                .as_ref()
                .map_or(NOTHING, |other_chains| &other_chains[chain_index][memory_kind])
        };
        memory_kinds.kind_numbers().all(|memory_kind| {
            let other_chains = other_clocks
                .chains
                .iter()
                .flat_map(|other_chains| other_chains[..AVAILABLE_LAYERS].iter().enumerate());
            self.happens_before[memory_kind].covers(&other_clocks.happens_before[memory_kind])
                && other_chains.into_iter().all(|(chain_index, known_clocks)| {
                    own_chain(chain_index, memory_kind).covers(&known_clocks[memory_kind])
                })
        })
    }

    /// Joins what another one has for a receiver that is so near.
    pub(super) fn join(
        &mut self,
        other_clocks: &LayeredClocks,
        memory_kinds: MemoryKinds,
        nearness: Nearness,
    ) {
        memory_kinds.kind_numbers().for_each(|memory_kind| {
            self.happens_before[memory_kind].join(&other_clocks.happens_before[memory_kind])
        });
        let Some(their_chains) = &other_clocks.chains else { return };
        let of_workgroup = if nearness == Nearness::Afar { 0..0 } else { WORKGROUP_LAYERS };
        let of_subgroup = if nearness == Nearness::Subgroup { SUBGROUP_LAYERS } else { 0..0 };
        let own_chains = self.chains.get_or_insert_default();
        for chain_index in (0..AVAILABLE_LAYERS).chain(of_workgroup).chain(of_subgroup) {
            memory_kinds.kind_numbers().for_each(|memory_kind| {
                own_chains[chain_index][memory_kind].join(&their_chains[chain_index][memory_kind])
            });
        }
    }

    /// Copies another one's clocks of a kind of memory.
    pub(super) fn copy_kind(&mut self, other_clocks: &LayeredClocks, memory_kind: usize) {
        self.happens_before[memory_kind].clone_from(&other_clocks.happens_before[memory_kind]);
        if let Some(their_chains) = &other_clocks.chains {
            let own_chains = self.chains.get_or_insert_default();
            own_chains.iter_mut().zip(their_chains.iter()).for_each(|(own_chain, their_chain)| {
                own_chain[memory_kind].clone_from(&their_chain[memory_kind])
            });
        }
    }

    /// Adds the writes that one invocation made available by fences up to a time.
    pub(super) fn add_available(
        &mut self,
        (domain, memory_kind): (AvailabilityDomain, usize),
        (workgroup, invocation): (u64, u32),
        time: u32,
    ) {
        if time > 0 {
            self.clock_mut(OrderLayer::Available(OwnAvailability::Nothing, domain), memory_kind)
                .advance(workgroup, invocation, time);
        }
    }

    /// An availability operation: what is available to a narrower domain of the invocation becomes
    /// available to all domains of the scope.
    pub(super) fn make_available(
        &mut self,
        memory_kind: usize,
        neighbours: &Neighbours,
        scope: Scope,
    ) {
        for own_availability in OwnAvailability::ALL {
            for domain in AvailabilityDomain::ALL
                .into_iter()
                .skip(1)
                .filter(|domain| domain.is_reached_by(scope))
            {
                let layer = OrderLayer::Available(own_availability, domain);
                if layer.chain_index().is_none() {
                    continue;
                }
                let subgroup_clock = self
                    .clock(
                        OrderLayer::Available(own_availability, AvailabilityDomain::Subgroup),
                        memory_kind,
                    )
                    .clone();
                self.clock_mut(layer, memory_kind).join_invocations(
                    neighbours.workgroup,
                    &neighbours.subgroup,
                    &subgroup_clock,
                );
                if domain == AvailabilityDomain::Device {
                    let workgroup_clock = self
                        .clock(
                            OrderLayer::Available(own_availability, AvailabilityDomain::Workgroup),
                            memory_kind,
                        )
                        .clone();
                    self.clock_mut(layer, memory_kind)
                        .join_workgroup(neighbours.workgroup, &workgroup_clock);
                }
            }
        }
    }

    /// A visibility operation: what is available to a domain of the scope becomes visible.
    pub(super) fn make_visible(
        &mut self,
        memory_kind: usize,
        neighbours: &Neighbours,
        scope: Scope,
    ) {
        for own_availability in OwnAvailability::ALL {
            let available_clocks = AvailabilityDomain::ALL.map(|domain| {
                self.clock(OrderLayer::Available(own_availability, domain), memory_kind).clone()
            });
            let [subgroup_available, workgroup_available, device_available] = &available_clocks;
            // Writes that become visible to the subgroup from outside it.
            let mut incoming_clock = VectorClock::NONE;
            if scope >= Scope::Workgroup {
                incoming_clock.join_workgroup(neighbours.workgroup, workgroup_available);
                incoming_clock.join(
                    self.clock(OrderLayer::VisibleToWorkgroup(own_availability), memory_kind),
                );
            }
            if scope == Scope::Device {
                incoming_clock.join(device_available);
                self.clock_mut(OrderLayer::VisibleToWorkgroup(own_availability), memory_kind)
                    .join(device_available);
            }
            self.clock_mut(OrderLayer::VisibleToSubgroup(own_availability), memory_kind)
                .join(&incoming_clock);
            let subgroup_clock =
                self.clock(OrderLayer::VisibleToSubgroup(own_availability), memory_kind).clone();
            let visible_clock = self.clock_mut(OrderLayer::Visible(own_availability), memory_kind);
            visible_clock.join(&subgroup_clock);
            visible_clock.join_invocations(
                neighbours.workgroup,
                &neighbours.subgroup,
                subgroup_available,
            );
        }
    }
}
