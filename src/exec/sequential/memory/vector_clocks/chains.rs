//! What an invocation knows of the accesses of all others, in which way: that they happened before,
//! to which domains they were made available, and to whom visible.
//!
//! Knows: availability and visibility chains (Vulkan specification, appendix "Memory Model",
//! *location-ordered*): who makes available to a wider domain what its subgroup or workgroup
//! already has, and who makes visible to them what comes from a wider one.
//! Promises: a module that does not declare the Vulkan memory model has the first layer alone, at
//! no cost for the others.
//! Does not cover: that an operation for visibility happened before on a way that leads out of its
//! subgroup or workgroup and back: such a chain counts as broken.

use super::clock::Known;
use crate::ir::memory_semantics::{MemoryKinds, Scope};
use std::ops::Range;

/// To whom writes are made available: the instance of the writer's subgroup, of its workgroup, all
/// invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    Subgroup,
    Workgroup,
    Device,
}

impl Domain {
    pub(super) const ALL: [Domain; 3] = [Domain::Subgroup, Domain::Workgroup, Domain::Device];

    fn scope(self) -> Scope {
        match self {
            Domain::Subgroup => Scope::Subgroup,
            Domain::Workgroup => Scope::Workgroup,
            Domain::Device => Scope::Device,
        }
    }

    /// Whether an operation of a scope reaches it.
    pub(super) fn is_in(self, scope: Scope) -> bool {
        self.scope() <= scope
    }

    /// Whether two invocations have it in common.
    pub(super) fn is_shared(self, nearness: Nearness) -> bool {
        match self {
            Domain::Subgroup => nearness == Nearness::Subgroup,
            Domain::Workgroup => nearness != Nearness::Afar,
            Domain::Device => true,
        }
    }
}

/// What a write itself makes available, with nothing behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    Nothing,
    To(Domain),
}

impl Own {
    const ALL: [Own; 4] = [
        Own::Nothing,
        Own::To(Domain::Subgroup),
        Own::To(Domain::Workgroup),
        Own::To(Domain::Device),
    ];

    /// Of an access that makes available to a scope.
    pub(super) fn of(scope: Option<Scope>) -> Self {
        match scope {
            None | Some(Scope::Invocation) => Own::Nothing,
            Some(Scope::Subgroup) => Own::To(Domain::Subgroup),
            Some(Scope::Workgroup) => Own::To(Domain::Workgroup),
            Some(Scope::Device) => Own::To(Domain::Device),
        }
    }

    /// How many domains it reaches.
    fn domains(self) -> usize {
        match self {
            Own::Nothing => 0,
            Own::To(domain) => domain as usize + 1,
        }
    }
}

/// How near who tells something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nearness {
    Subgroup,
    Workgroup,
    Afar,
}

/// What is known in which way. Of those that begin with `Own`, the writes are those that make
/// available so much themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layer {
    /// Happens before.
    Before,
    /// Of these, writes that were made available to a domain.
    Available(Own, Domain),
    /// Writes that the invocation itself has made visible to itself.
    Seen(Own),
    /// Writes that somebody of the subgroup has made visible to it, and that happened before.
    NearSubgroup(Own),
    /// The same of the workgroup.
    NearWorkgroup(Own),
}

/// Layers beyond the first.
const FURTHER: usize = 18;

impl Layer {
    /// Its number among those beyond the first; none for that one.
    fn further(self) -> Option<usize> {
        match self {
            Layer::Before => None,
            // To the domains that a write reaches by itself it is available as soon as it happened.
            Layer::Available(own, to) if own.domains() > to as usize => None,
            Layer::Available(own, to) => Some([0, 2, 3][own.domains()] + to as usize),
            Layer::Seen(own) => Some(6 + own.domains()),
            Layer::NearSubgroup(own) => Some(10 + own.domains()),
            Layer::NearWorkgroup(own) => Some(14 + own.domains()),
        }
    }
}

/// Layers that a release tells everybody, those of its workgroup, those of its subgroup.
const AVAILABLE: usize = 6;
const OF_SUBGROUP: Range<usize> = 10..14;
const OF_WORKGROUP: Range<usize> = 14..18;

type ByKind = [Known; MemoryKinds::COUNT];

const NOTHING: &Known = &Known::NONE;

/// The workgroup and the local indices of the subgroup that an invocation belongs to.
#[derive(Debug, Clone)]
pub(super) struct Neighbours {
    pub workgroup: u64,
    pub subgroup: Range<u32>,
}

/// What is known, by layer and kind of memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Learnt {
    before: ByKind,
    further: Option<Box<[ByKind; FURTHER]>>,
}

impl Learnt {
    pub(super) fn of(&self, layer: Layer, kind: usize) -> &Known {
        match (layer.further(), &self.further) {
            (None, _) => &self.before[kind],
            (Some(at), Some(further)) => &further[at][kind],
            (Some(_), None) => NOTHING,
        }
    }

    pub(super) fn change(&mut self, layer: Layer, kind: usize) -> &mut Known {
        match layer.further() {
            None => &mut self.before[kind],
            Some(at) => &mut self.further.get_or_insert_default()[at][kind],
        }
    }

    /// Whether it has all that another one tells everybody.
    pub(super) fn covers(&self, other: &Learnt, kinds: MemoryKinds) -> bool {
        let layer = |at: usize, kind: usize| {
            self.further.as_ref().map_or(NOTHING, |further| &further[at][kind])
        };
        kinds.kind_numbers().all(|kind| {
            let further =
                other.further.iter().flat_map(|further| further[..AVAILABLE].iter().enumerate());
            self.before[kind].covers(&other.before[kind])
                && further.into_iter().all(|(at, known)| layer(at, kind).covers(&known[kind]))
        })
    }

    /// Adds what another one tells somebody who is so near.
    pub(super) fn join(&mut self, other: &Learnt, kinds: MemoryKinds, nearness: Nearness) {
        kinds.kind_numbers().for_each(|kind| self.before[kind].join(&other.before[kind]));
        let Some(theirs) = &other.further else { return };
        let of_workgroup = if nearness == Nearness::Afar { 0..0 } else { OF_WORKGROUP };
        let of_subgroup = if nearness == Nearness::Subgroup { OF_SUBGROUP } else { 0..0 };
        let mine = self.further.get_or_insert_default();
        for at in (0..AVAILABLE).chain(of_workgroup).chain(of_subgroup) {
            kinds.kind_numbers().for_each(|kind| mine[at][kind].join(&theirs[at][kind]));
        }
    }

    /// Takes what another one knows of a kind of memory.
    pub(super) fn copy(&mut self, other: &Learnt, kind: usize) {
        self.before[kind] = other.before[kind].clone();
        if let Some(theirs) = &other.further {
            let mine = self.further.get_or_insert_default();
            mine.iter_mut()
                .zip(theirs.iter())
                .for_each(|(mine, theirs)| mine[kind] = theirs[kind].clone());
        }
    }

    /// Adds what one invocation made available by fences up to a time.
    pub(super) fn add_available(
        &mut self,
        (to, kind): (Domain, usize),
        (workgroup, invocation): (u64, u32),
        time: u32,
    ) {
        if time > 0 {
            self.change(Layer::Available(Own::Nothing, to), kind).add(workgroup, invocation, time);
        }
    }

    /// An operation for availability: what a narrower domain of the invocation has is then
    /// available to all domains of the scope.
    pub(super) fn make_available(&mut self, kind: usize, place: &Neighbours, scope: Scope) {
        for own in Own::ALL {
            for to in Domain::ALL.into_iter().skip(1).filter(|to| to.is_in(scope)) {
                let layer = Layer::Available(own, to);
                if layer.further().is_none() {
                    continue;
                }
                let near = self.of(Layer::Available(own, Domain::Subgroup), kind).clone();
                self.change(layer, kind).join_some(place.workgroup, place.subgroup.clone(), &near);
                if to == Domain::Device {
                    let near = self.of(Layer::Available(own, Domain::Workgroup), kind).clone();
                    self.change(layer, kind).join_part(place.workgroup, &near);
                }
            }
        }
    }

    /// An operation for visibility.
    pub(super) fn see(&mut self, kind: usize, place: &Neighbours, scope: Scope) {
        for own in Own::ALL {
            let available = Domain::ALL.map(|to| self.of(Layer::Available(own, to), kind).clone());
            let [subgroup, workgroup, device] = &available;
            // What comes to the subgroup from beyond it.
            let mut coming = Known::NONE;
            if scope >= Scope::Workgroup {
                coming.join_part(place.workgroup, workgroup);
                coming.join(self.of(Layer::NearWorkgroup(own), kind));
            }
            if scope == Scope::Device {
                coming.join(device);
                self.change(Layer::NearWorkgroup(own), kind).join(device);
            }
            self.change(Layer::NearSubgroup(own), kind).join(&coming);
            let near = self.of(Layer::NearSubgroup(own), kind).clone();
            let seen = self.change(Layer::Seen(own), kind);
            seen.join(&near);
            seen.join_some(place.workgroup, place.subgroup.clone(), subgroup);
        }
    }
}
