//! Which memory a barrier orders under each memory model, from the memory semantics of the
//! OpControlBarrier and of the OpMemoryBarriers directly beside it.
//!
//! Knows: the semantics of the control barrier itself and of the OpMemoryBarriers directly beside
//! it (SPIR-V specification, section "Memory Semantics"; Vulkan specification, appendix "Memory
//! Model").
//! Promises: a barrier orders a kind of memory only if the table in `docs/memory-model.md` says so;
//! semantics of different barriers are never joined into one that none of them has.
//! Does not cover: availability and visibility operations of the `VulkanMemoryModel` capability,
//! which are taken as given; fences that stand apart from the control barrier.

use vkcert_model::project::MemoryModel;

/// Bits of semantics that acquire: Acquire, AcquireRelease, SequentiallyConsistent.
pub const ACQUIRE: u32 = 0x2 | 0x8 | 0x10;
/// Bits of semantics that release.
pub const RELEASE: u32 = 0x4 | 0x8 | 0x10;
/// MakeAvailable and MakeVisible.
const AVAILABLE: u32 = 0x2000;
const VISIBLE: u32 = 0x4000;
const BUFFERS: u32 = 0x40;
const WORKGROUP_MEMORY: u32 = 0x100;
const IMAGES: u32 = 0x800;

/// SPIR-V's number of the scope Subgroup.
pub const SUBGROUP_SCOPE: u32 = 3;
const INVOCATION_SCOPE: u32 = 4;
const SHADER_CALL_SCOPE: u32 = 6;

/// Which invocations a fence or an atomic reaches, from few to all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// One invocation alone.
    Invocation,
    /// The subgroup.
    Subgroup,
    /// The workgroup.
    Workgroup,
    /// All of the device.
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

/// A set of the kinds of memory that fences order separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryKinds(u8);

impl MemoryKinds {
    /// Buffers.
    pub const BUFFERS: MemoryKinds = MemoryKinds(1);
    /// Images and texel buffers.
    pub const IMAGES: MemoryKinds = MemoryKinds(2);
    /// Workgroup memory.
    pub const WORKGROUP: MemoryKinds = MemoryKinds(4);
    /// No kind.
    pub const NONE: MemoryKinds = MemoryKinds(0);
    /// Number of kinds.
    pub const COUNT: usize = 3;

    /// The kinds in both sets.
    pub fn intersection(self, other_kinds: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 & other_kinds.0)
    }

    /// The kinds in one of the sets.
    pub fn union(self, other_kinds: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 | other_kinds.0)
    }

    /// The kinds that are not in the other set.
    pub fn without(self, other_kinds: MemoryKinds) -> MemoryKinds {
        MemoryKinds(self.0 & !other_kinds.0)
    }

    /// Whether it contains all of the other set.
    pub fn contains(self, other_kinds: MemoryKinds) -> bool {
        other_kinds.0 & !self.0 == 0
    }

    /// Whether it has no kind.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number of each kind in the set.
    pub fn kind_numbers(self) -> impl Iterator<Item = usize> {
        (0..Self::COUNT).filter(move |kind| self.0 >> kind & 1 == 1)
    }
}

/// Scope and memory semantics of a fence, as SPIR-V encodes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fence {
    /// SPIR-V's number of the memory scope.
    pub scope: u32,
    /// Bits of the memory semantics.
    pub semantics: u32,
}

impl Fence {
    /// Whom it reaches.
    pub fn reach(self) -> Scope {
        Scope::from_number(self.scope)
    }

    fn kinds_with(self, order_bits: u32) -> MemoryKinds {
        let kind = |class_bit: u32, kind: MemoryKinds| {
            if self.semantics & class_bit != 0 { kind } else { MemoryKinds::NONE }
        };
        if self.semantics & order_bits == 0 {
            return MemoryKinds::NONE;
        }
        kind(BUFFERS, MemoryKinds::BUFFERS)
            .union(kind(IMAGES, MemoryKinds::IMAGES))
            .union(kind(WORKGROUP_MEMORY, MemoryKinds::WORKGROUP))
    }

    /// Memory for which it is a release fence.
    pub fn released_kinds(self) -> MemoryKinds {
        self.kinds_with(RELEASE)
    }

    /// Memory for which it is an acquire fence.
    pub fn acquired_kinds(self) -> MemoryKinds {
        self.kinds_with(ACQUIRE)
    }

    /// Whether it orders any memory between invocations.
    pub fn orders_anything(self) -> bool {
        self.reach() > Scope::Invocation
            && !self.released_kinds().union(self.acquired_kinds()).is_empty()
    }

    /// Whether it makes writes available, in a module that says so.
    pub fn makes_available(self) -> bool {
        self.semantics & AVAILABLE != 0
    }

    /// Whether it makes writes visible, in a module that says so.
    pub fn makes_visible(self) -> bool {
        self.semantics & VISIBLE != 0
    }

    /// Whether its scope includes all participants of a barrier; a narrower fence orders nothing
    /// between them.
    fn reaches_all(self, reach: BarrierReach) -> bool {
        match reach {
            BarrierReach::Workgroup => self.reach() >= Scope::Workgroup,
            BarrierReach::Subgroup => self.reach() >= Scope::Subgroup,
        }
    }

    /// Memory for which it has one of these semantics between all participants of a barrier.
    fn kinds_within(self, order_bits: u32, reach: BarrierReach) -> MemoryKinds {
        if self.reaches_all(reach) { self.kinds_with(order_bits) } else { MemoryKinds::NONE }
    }
}

/// The participants of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarrierReach {
    /// All invocations of a workgroup.
    Workgroup,
    /// Those of a subgroup.
    Subgroup,
}

/// What a control barrier and the memory barriers beside it release and acquire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BarrierFences {
    /// Released by a memory barrier directly before it.
    fenced: MemoryKinds,
    /// Released by such a one or by the control barrier itself.
    released: MemoryKinds,
    /// Acquired by the control barrier itself or by a memory barrier directly behind it.
    acquired: MemoryKinds,
    /// Kinds of those whose scope does not include all participants.
    narrow: MemoryKinds,
    /// The control barrier's own scope and semantics.
    pub control: Fence,
    /// The memory barriers directly before it as one, of the narrowest scope among them.
    before: Option<Fence>,
}

impl BarrierFences {
    /// Of a control barrier with its own fence and those of the memory barriers beside it.
    pub fn new(
        reach: BarrierReach,
        control: Fence,
        fences_before: impl IntoIterator<Item = Fence>,
        fences_after: impl IntoIterator<Item = Fence>,
    ) -> Self {
        let (fences_before, fences_after): (Vec<Fence>, Vec<Fence>) =
            (fences_before.into_iter().collect(), fences_after.into_iter().collect());
        let ordered_kinds = |fences: &[Fence], order_bits: u32| {
            fences.iter().fold(MemoryKinds::NONE, |kinds, fence| {
                kinds.union(fence.kinds_within(order_bits, reach))
            })
        };
        let is_narrow =
            |fence: &&Fence| fence.reach() > Scope::Invocation && !fence.reaches_all(reach);
        let all_fences = fences_before.iter().chain(&fences_after).chain([&control]);
        let fenced_kinds = ordered_kinds(&fences_before, RELEASE);
        Self {
            fenced: fenced_kinds,
            released: fenced_kinds.union(control.kinds_within(RELEASE, reach)),
            acquired: ordered_kinds(&fences_after, ACQUIRE)
                .union(control.kinds_within(ACQUIRE, reach)),
            narrow: all_fences.filter(is_narrow).fold(MemoryKinds::NONE, |kinds, fence| {
                kinds.union(fence.kinds_with(ACQUIRE | RELEASE))
            }),
            control,
            before: fences_before.iter().copied().reduce(|narrowest, next_fence| Fence {
                scope: if narrowest.reach() <= next_fence.reach() {
                    narrowest.scope
                } else {
                    next_fence.scope
                },
                semantics: narrowest.semantics | next_fence.semantics,
            }),
        }
    }

    /// The fence that the idiom assumes directly after the barrier because it is directly before
    /// it.
    pub fn idiom_repetition(self, model: MemoryModel) -> Option<Fence> {
        match model {
            MemoryModel::Idiom => self.before.filter(|_| !self.fenced.is_empty()),
            MemoryModel::Spec => None,
        }
    }

    fn ordered_kinds(self, model: MemoryModel) -> MemoryKinds {
        let in_both = self.released.intersection(self.acquired);
        match model {
            MemoryModel::Idiom => in_both.union(self.fenced),
            MemoryModel::Spec => in_both,
        }
    }

    /// Which memory the barrier orders under a model.
    pub fn ordered_memory(self, model: MemoryModel) -> OrderedMemory {
        let kinds = self.ordered_kinds(model);
        OrderedMemory {
            buffers: kinds.contains(MemoryKinds::BUFFERS),
            images: kinds.contains(MemoryKinds::IMAGES),
            workgroup: kinds.contains(MemoryKinds::WORKGROUP),
        }
    }

    /// Whether the barrier orders all memory that one of its parts names, for all participants.
    pub fn is_complete(self, model: MemoryModel) -> bool {
        self.ordered_kinds(model).contains(self.released.union(self.acquired).union(self.narrow))
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
    /// Buffers.
    pub buffers: bool,
    /// Images and texel buffers.
    pub images: bool,
    /// Workgroup memory.
    pub workgroup: bool,
}

impl OrderedMemory {
    /// The same as a set.
    pub fn kinds(self) -> MemoryKinds {
        let kind =
            |is_ordered: bool, kind: MemoryKinds| if is_ordered { kind } else { MemoryKinds::NONE };
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
