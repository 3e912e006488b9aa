//! The objects of a captured program, as they were made, and when they were destroyed.

use super::descriptors::is_dynamic;
use crate::event::{PushRange, SpecializationValue};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A compute pipeline.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// Index of its layout.
    pub layout: usize,
    /// Index of its shader module; none where that came a way that is not modelled.
    pub module: Option<usize>,
    /// Name of the entry point.
    pub entry: String,
    /// What is given for specialization constants.
    pub specialization: Vec<SpecializationValue>,
    /// When it was destroyed.
    pub end: ObjectEnd,
}

/// When an object was destroyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ObjectEnd {
    /// It was not.
    #[default]
    Never,
    /// In front of the operation with this index, which need not be there.
    Before(usize),
}

impl ObjectEnd {
    /// Whether an operation comes behind the end.
    pub fn precedes(self, operation: usize) -> bool {
        match self {
            ObjectEnd::Never => false,
            ObjectEnd::Before(first) => first <= operation,
        }
    }
}

/// A pipeline layout.
#[derive(Debug, Clone)]
pub struct Layout {
    /// Layouts of its sets.
    pub sets: Vec<Arc<SetLayout>>,
    /// Ranges of push constants.
    pub push_constants: Vec<PushRange>,
}

/// The layout of a descriptor set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SetLayout {
    /// Descriptor type and count of each binding.
    pub bindings: BTreeMap<u32, (i32, u32)>,
    /// VkShaderStageFlags of each binding.
    pub stages: BTreeMap<u32, u32>,
    /// VkDescriptorSetLayoutCreateFlags.
    pub flags: u32,
    /// VkDescriptorBindingFlags of the bindings that have some; none where they were not recorded
    /// (captures of version 1).
    pub binding_flags: Option<BTreeMap<u32, u32>>,
    /// Indices of the immutable samplers of bindings.
    pub immutable_samplers: BTreeMap<u32, Vec<usize>>,
}

/// VK_DESCRIPTOR_BINDING_UPDATE_AFTER_BIND_BIT.
pub const UPDATE_AFTER_BIND: u32 = 0x1;
/// VK_DESCRIPTOR_BINDING_UPDATE_UNUSED_WHILE_PENDING_BIT.
pub const UPDATE_UNUSED_WHILE_PENDING: u32 = 0x2;
/// VK_DESCRIPTOR_BINDING_PARTIALLY_BOUND_BIT.
pub const PARTIALLY_BOUND: u32 = 0x4;

impl SetLayout {
    /// Whether some of its bindings may be updated behind their binding.
    pub fn may_update_after_bind(&self) -> bool {
        const UPDATE_AFTER_BIND_POOL: u32 = 0x2;
        self.flags & UPDATE_AFTER_BIND_POOL != 0
    }

    /// Whether a binding is of samplers alone (VK_DESCRIPTOR_TYPE_SAMPLER), which the layout has.
    pub fn has_own_sampler(&self, binding: u32) -> bool {
        let is_sampler = self.bindings.get(&binding).is_some_and(|(class, _)| *class == 0);
        is_sampler && self.immutable_samplers.contains_key(&binding)
    }

    /// Whether a binding is known to have a VkDescriptorBindingFlagBits.
    pub fn has_binding_flag(&self, binding: u32, flag: u32) -> bool {
        let flags = self.binding_flags.as_ref().and_then(|flags| flags.get(&binding));
        flags.is_some_and(|flags| flags & flag != 0)
    }

    /// Dynamic offsets that descriptors in front of a binding take, written or not (Vulkan
    /// specification, "Descriptor Set Binding": by binding, then by element).
    pub(super) fn dynamic_offsets_before(&self, binding: u32) -> usize {
        let earlier = self.bindings.range(..binding).map(|(_, described)| described);
        let dynamic = earlier.filter(|(class, _)| is_dynamic(*class));
        dynamic.fold(0, |sum: usize, (_, count)| sum.saturating_add(*count as usize))
    }
}

/// Memory.
#[derive(Debug, Clone)]
pub struct MemoryObject {
    /// Bytes.
    pub size: u64,
    /// VkMemoryPropertyFlags of its type.
    pub flags: u32,
    /// nonCoherentAtomSize of its device.
    pub atom: u64,
    /// When it was freed.
    pub end: ObjectEnd,
}

impl MemoryObject {
    /// Whether the host can map it and must flush and invalidate what it maps.
    pub fn is_non_coherent(&self) -> bool {
        const HOST_VISIBLE: u32 = 0x2;
        const HOST_COHERENT: u32 = 0x4;
        self.flags & HOST_VISIBLE != 0 && self.flags & HOST_COHERENT == 0
    }
}

/// A buffer.
#[derive(Debug, Clone)]
pub struct BufferObject {
    /// Bytes.
    pub size: u64,
    /// VkBufferUsageFlags.
    pub usage: u32,
    /// Index of its memory and where it begins there; none where it was never bound.
    pub memory: Option<(usize, u64)>,
    /// Whether its address was asked for, so that dispatches may reach it without a descriptor.
    pub address: AddressUse,
    /// When it was destroyed.
    pub end: ObjectEnd,
}

/// Whether the address of a buffer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressUse {
    /// It was not.
    None,
    /// It was.
    Asked,
}
