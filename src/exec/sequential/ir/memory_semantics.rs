//! What a barrier orders: the two memory models as one rule over the memory semantics around
//! OpControlBarrier.
//!
//! Knows: the semantics of the control barrier itself and of the OpMemoryBarriers directly beside
//! it (SPIR-V specification, section "Memory Semantics"; Vulkan specification, appendix "Memory
//! Model").
//! Promises: a barrier orders a kind of memory only if the table in `docs/memory-model.md` says so;
//! semantics of different barriers are never joined into one that none of them has.
//! Does not cover: availability and visibility operations of the `VulkanMemoryModel` capability,
//! which are taken as given; fences that stand apart from the control barrier.

use crate::settings::MemoryModel;

pub(crate) const ACQUIRE: u32 = 0x2 | 0x8 | 0x10;
pub(crate) const RELEASE: u32 = 0x4 | 0x8 | 0x10;
/// MakeAvailable and MakeVisible.
const AVAILABLE: u32 = 0x2000;
const VISIBLE: u32 = 0x4000;
const BUFFERS: u32 = 0x40;
const WORKGROUP_MEMORY: u32 = 0x100;
const IMAGES: u32 = 0x800;

pub(crate) const SUBGROUP_SCOPE: u32 = 3;
const INVOCATION_SCOPE: u32 = 4;
const SHADER_CALL_SCOPE: u32 = 6;

/// Which invocations a fence or an atomic reaches, from few to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    Device,
}

impl Scope {
    /// From SPIR-V's number. A queue family is the device here, since one queue runs everything.
    pub fn from_number(number: u32) -> Self {
        match number {
            2 => Scope::Workgroup,
            SUBGROUP_SCOPE => Scope::Subgroup,
            INVOCATION_SCOPE | SHADER_CALL_SCOPE => Scope::Invocation,
            _ => Scope::Device,
        }
    }
}

/// Some of the kinds of memory that fences order apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryKinds(u8);

impl MemoryKinds {
    pub const BUFFERS: MemoryKinds = MemoryKinds(1);
    pub const IMAGES: MemoryKinds = MemoryKinds(2);
    pub const WORKGROUP: MemoryKinds = MemoryKinds(4);
    pub const NONE: MemoryKinds = MemoryKinds(0);
    /// How many there are.
    pub const COUNT: usize = 3;

    pub fn intersection(self, other: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 & other.0)
    }

    pub fn union(self, other: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 | other.0)
    }

    pub fn without(self, other: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 & !other.0)
    }

    /// Whether it has all of these.
    pub fn contains(self, other: MemoryKinds) -> bool {
        other.0 & !self.0 == 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of each.
    pub fn kind_numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |kind| self.0 >> kind & 1 == 1)
    }
}

/// One barrier's scope and memory semantics, as the module has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fence {
    pub scope: u32,
    pub semantics: u32,
}

impl Fence {
    pub fn reach(self) -> Scope {
        Scope::from_number(self.scope)
    }

    fn kinds(self, orders: u32) -> MemoryKinds {
        let kind = |class: u32, kind: MemoryKinds| {
            if self.semantics & class != 0 { kind } else { MemoryKinds::NONE }
        };
        if self.semantics & orders == 0 {
            return MemoryKinds::NONE;
        }
        kind(BUFFERS, MemoryKinds::BUFFERS)
            .union(kind(IMAGES, MemoryKinds::IMAGES))
            .union(kind(WORKGROUP_MEMORY, MemoryKinds::WORKGROUP))
    }

    /// Memory for which it is a release fence.
    pub fn released_kinds(self) -> MemoryKinds {
        self.kinds(RELEASE)
    }

    /// Memory for which it is an acquire fence.
    pub fn acquired_kinds(self) -> MemoryKinds {
        self.kinds(ACQUIRE)
    }

    pub fn orders_anything(self) -> bool {
        self.reach() > Scope::Invocation
            && !self.released_kinds().union(self.acquired_kinds()).is_empty()
    }

    /// Whether it makes writes available, in a module that says so.
    pub fn makes_available(self) -> bool {
        self.semantics & AVAILABLE != 0
    }

    pub fn makes_visible(self) -> bool {
        self.semantics & VISIBLE != 0
    }

    /// A scope smaller than that of the barrier orders nothing between its invocations.
    fn reaches(self, reach: BarrierReach) -> bool {
        match reach {
            BarrierReach::Workgroup => self.reach() >= Scope::Workgroup,
            BarrierReach::Subgroup => self.reach() >= Scope::Subgroup,
        }
    }

    /// Memory for which it has one of `orders` between all that a barrier brings together.
    fn kinds_for(self, orders: u32, reach: BarrierReach) -> MemoryKinds {
        if self.reaches(reach) { self.kinds(orders) } else { MemoryKinds::NONE }
    }
}

/// Which invocations a barrier brings together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierReach {
    Workgroup,
    Subgroup,
}

/// Memory that the parts of a barrier order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BarrierFences {
    /// Released by a memory barrier directly before it.
    fenced: MemoryKinds,
    /// Released by such a one or by the control barrier itself.
    released: MemoryKinds,
    /// Acquired by the control barrier itself or by a memory barrier directly behind it.
    acquired: MemoryKinds,
    /// What of these has a scope in which not all are who wait.
    narrow: MemoryKinds,
    /// The control barrier's own scope and semantics.
    pub control: Fence,
    /// The memory barriers directly before it as one, of the narrowest scope among them.
    before: Option<Fence>,
}

impl BarrierFences {
    pub fn new(
        reach: BarrierReach,
        control: Fence,
        before: impl IntoIterator<Item = Fence>,
        after: impl IntoIterator<Item = Fence>,
    ) -> Self {
        let (before, after): (Vec<Fence>, Vec<Fence>) =
            (before.into_iter().collect(), after.into_iter().collect());
        let all = |fences: &[Fence], orders: u32| {
            fences
                .iter()
                .fold(MemoryKinds::NONE, |kinds, fence| kinds.union(fence.kinds_for(orders, reach)))
        };
        let narrow = |fence: &&Fence| fence.reach() > Scope::Invocation && !fence.reaches(reach);
        let parts = before.iter().chain(&after).chain([&control]);
        let fenced = all(&before, RELEASE);
        Self {
            fenced,
            released: fenced.union(control.kinds_for(RELEASE, reach)),
            acquired: all(&after, ACQUIRE).union(control.kinds_for(ACQUIRE, reach)),
            narrow: parts.filter(narrow).fold(MemoryKinds::NONE, |kinds, fence| {
                kinds.union(fence.kinds(ACQUIRE | RELEASE))
            }),
            control,
            before: before.iter().copied().reduce(|one, other| Fence {
                scope: if one.reach() <= other.reach() { one.scope } else { other.scope },
                semantics: one.semantics | other.semantics,
            }),
        }
    }

    /// What the idiom takes to stand directly behind the barrier because it stands directly before.
    pub fn idiom_repetition(self, model: MemoryModel) -> Option<Fence> {
        match model {
            MemoryModel::Idiom => self.before.filter(|_| !self.fenced.is_empty()),
            MemoryModel::Spec => None,
        }
    }

    fn kinds(self, model: MemoryModel) -> MemoryKinds {
        let both = self.released.intersection(self.acquired);
        match model {
            MemoryModel::Idiom => both.union(self.fenced),
            MemoryModel::Spec => both,
        }
    }

    /// Which memory the barrier orders under a model.
    pub fn ordered_memory(self, model: MemoryModel) -> OrderedMemory {
        let kinds = self.kinds(model);
        OrderedMemory {
            buffers: kinds.contains(MemoryKinds::BUFFERS),
            images: kinds.contains(MemoryKinds::IMAGES),
            workgroup: kinds.contains(MemoryKinds::WORKGROUP),
        }
    }

    /// Whether nothing but the barriers beside it makes it order more memory, or order it for some.
    pub fn is_complete(self, model: MemoryModel) -> bool {
        self.kinds(model).contains(self.released.union(self.acquired).union(self.narrow))
    }

    /// Whether buffer accesses are ordered by the idiom alone.
    pub fn buffers_by_idiom(self) -> bool {
        self.ordered_memory(MemoryModel::Idiom).buffers
            && !self.ordered_memory(MemoryModel::Spec).buffers
    }

    /// The same for images and texel buffers.
    pub fn images_by_idiom(self) -> bool {
        self.ordered_memory(MemoryModel::Idiom).images
            && !self.ordered_memory(MemoryModel::Spec).images
    }
}

/// Which memories a barrier orders for the invocations of a workgroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderedMemory {
    pub buffers: bool,
    /// Images and texel buffers.
    pub images: bool,
    pub workgroup: bool,
}

impl OrderedMemory {
    pub fn kinds(self) -> MemoryKinds {
        let kind =
            |ordered: bool, kind: MemoryKinds| if ordered { kind } else { MemoryKinds::NONE };
        let buffers = kind(self.buffers, MemoryKinds::BUFFERS);
        buffers
            .union(kind(self.images, MemoryKinds::IMAGES))
            .union(kind(self.workgroup, MemoryKinds::WORKGROUP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKGROUP: u32 = 2;
    /// GLSL's `barrier()`, and `memoryBarrierBuffer()`, as the compiler writes them.
    const BARRIER: Fence = Fence { scope: WORKGROUP, semantics: 0x108 };
    const BUFFER: Fence = Fence { scope: 1, semantics: 0x48 };

    fn buffers(control: Fence, before: &[Fence], after: &[Fence]) -> [bool; 2] {
        let fences = BarrierFences::new(
            BarrierReach::Workgroup,
            control,
            before.iter().copied(),
            after.iter().copied(),
        );
        [MemoryModel::Idiom, MemoryModel::Spec].map(|model| fences.ordered_memory(model).buffers)
    }

    #[test]
    fn the_barrier_of_a_subgroup_orders_what_a_fence_of_that_scope_covers() {
        let control = Fence { scope: SUBGROUP_SCOPE, semantics: 0x948 };
        let orders =
            |reach| BarrierFences::new(reach, control, [], []).ordered_memory(MemoryModel::Spec);
        assert_eq!(
            orders(BarrierReach::Subgroup),
            OrderedMemory { buffers: true, workgroup: true, images: true }
        );
        assert_eq!(
            orders(BarrierReach::Workgroup),
            OrderedMemory { buffers: false, workgroup: false, images: false }
        );
    }

    #[test]
    fn a_fence_narrower_than_the_workgroup_orders_nothing() {
        assert_eq!(buffers(BARRIER, &[BUFFER], &[BUFFER]), [true, true]);
        for scope in [SUBGROUP_SCOPE, INVOCATION_SCOPE] {
            let narrow = Fence { scope, ..BUFFER };
            assert_eq!(buffers(BARRIER, &[narrow], &[BUFFER]), [false, false]);
            assert_eq!(buffers(BARRIER, &[BUFFER], &[narrow]), [true, false]);
            assert_eq!(buffers(Fence { scope, semantics: 0x148 }, &[], &[]), [false, false]);
        }
    }

    #[test]
    fn semantics_of_two_fences_are_not_joined() {
        // One releases workgroup memory, the other acquires buffers: together they release no
        // buffer.
        let pair = [Fence { scope: 1, semantics: 0x104 }, Fence { scope: 1, semantics: 0x42 }];
        assert_eq!(buffers(BARRIER, &pair, &[BUFFER]), [false, false]);
        let released = Fence { scope: 1, semantics: 0x44 };
        assert_eq!(buffers(BARRIER, &[released], &pair), [true, true]);
    }

    #[test]
    fn a_control_barrier_must_both_release_and_acquire() {
        for (order, holds) in
            [(0x2, false), (0x4, false), (0x6, true), (0x8, true), (0x10, true), (0, false)]
        {
            let control = Fence { scope: WORKGROUP, semantics: 0x40 | order };
            assert_eq!(buffers(control, &[], &[]), [holds, holds], "{order:#x}");
        }
    }

    #[test]
    fn a_barrier_alone_orders_workgroup_memory_and_no_buffer() {
        let alone = BarrierFences::new(BarrierReach::Workgroup, BARRIER, [], []);
        for model in [MemoryModel::Idiom, MemoryModel::Spec] {
            let ordered = alone.ordered_memory(model);
            assert!(ordered.workgroup && !ordered.buffers);
        }
        assert!(
            !alone.buffers_by_idiom()
                && BarrierFences::new(BarrierReach::Workgroup, BARRIER, [BUFFER], [])
                    .buffers_by_idiom()
        );
    }
}
