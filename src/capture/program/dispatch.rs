//! A dispatch, and what is bound for it when it is submitted.

use super::{BufferObject, SetLayout, WHOLE_SIZE, descriptors};
use std::sync::Arc;

/// A dispatch as it was submitted.
#[derive(Debug, Clone)]
pub struct Dispatch {
    /// Number of the dispatch, from 1.
    pub number: u32,
    /// Index of the pipeline.
    pub pipeline: usize,
    /// First workgroup.
    pub base: [u32; 3],
    /// Workgroups.
    pub groups: Groups,
    /// Bytes of push constants; none for those that nothing set since a compatible layout.
    pub push_constants: Arc<Vec<Option<u8>>>,
    /// Descriptor sets that are bound.
    pub sets: Vec<BoundSet>,
    /// Sets that were bound with a layout that is not compatible with that of the pipeline.
    pub disturbed: Arc<Vec<u32>>,
    /// A command in front of it that binds or pushes and is not modelled: what is bound is then not
    /// known.
    pub unseen: Option<Arc<str>>,
    /// What the layer read on the device in front of it.
    pub readings: Vec<Reading>,
    /// What the layer did not read and why, in words.
    pub unread: Vec<Arc<str>>,
}

/// What the layer read in front of a dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Bytes of a buffer.
    Range {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<Vec<u8>>,
    },
    /// A layer of a level of an image.
    Texels {
        /// Index of the image.
        image: usize,
        /// Level.
        level: u32,
        /// Layer.
        layer: u32,
        /// Its texels, tightly.
        bytes: Arc<Vec<u8>>,
    },
}

/// Workgroups of a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Groups {
    /// As the command says.
    Direct([u32; 3]),
    /// Read from a buffer on the device.
    Indirect {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: u64,
    },
}

/// A descriptor set that is bound for a dispatch.
#[derive(Debug, Clone)]
pub struct BoundSet {
    /// Number of the set.
    pub number: u32,
    /// Its layout.
    pub layout: Arc<SetLayout>,
    /// Its descriptors, by binding and element.
    pub descriptors: Arc<Vec<BoundDescriptor>>,
    /// Dynamic offsets of its dynamic descriptors, in their order.
    pub dynamic_offsets: Arc<Vec<u32>>,
    /// Whether it is still there at the submission.
    pub life: SetLife,
    /// Bindings that were written between the binding of the set and the submission.
    pub updated: Vec<u32>,
}

/// Whether a descriptor set is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetLife {
    /// It is.
    Allocated,
    /// It was freed, or its pool was reset or destroyed.
    Freed,
}

/// A descriptor of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundDescriptor {
    /// Number of the binding.
    pub binding: u32,
    /// Element of it.
    pub element: u32,
    /// VkDescriptorType.
    pub descriptor_type: i32,
    /// What it leads to.
    pub resource: BoundResource,
}

/// What a descriptor leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BoundResource {
    /// A range of a buffer.
    Buffer {
        /// Index of the buffer.
        buffer: usize,
        /// First byte, dynamic offsets left out.
        offset: u64,
        /// Bytes; [`WHOLE_SIZE`] to the end.
        range: u64,
    },
    /// An image or a sampler of which nothing is recorded.
    Image,
    /// An image, a sampler or both.
    View(BoundView),
    /// Bytes of an inline uniform block; none for those that nothing set.
    Inline(Arc<Vec<Option<u8>>>),
    /// VK_NULL_HANDLE.
    Null,
    /// Something that is not modelled.
    Other,
}

/// An image and a sampler that a descriptor leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundView {
    /// Index of the view; none of a sampler alone.
    pub view: Option<usize>,
    /// Index of the sampler; none of an image alone.
    pub sampler: Option<usize>,
    /// VkImageLayout that the image is to be in.
    pub layout: i32,
}

/// A range of a buffer that a dispatch has at a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundBuffer {
    /// Index of the buffer.
    pub buffer: usize,
    /// First byte, dynamic offset added.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

impl Dispatch {
    /// The descriptors of a binding, with the dynamic offset of each.
    pub fn descriptors_at(
        &self,
        set: u32,
        binding: u32,
    ) -> impl Iterator<Item = (&BoundDescriptor, u32)> {
        let bound = self.sets.iter().filter(move |bound| bound.number == set);
        bound.flat_map(move |bound| {
            let first = bound.layout.dynamic_offsets_before(binding);
            let own = bound.descriptors.iter().filter(move |own| own.binding == binding);
            own.map(move |descriptor| {
                let index = first.saturating_add(descriptor.element as usize);
                let offset = match descriptors::is_dynamic(descriptor.descriptor_type) {
                    true => bound.dynamic_offsets.get(index).copied().unwrap_or(0),
                    false => 0,
                };
                (descriptor, offset)
            })
        })
    }
}

impl BoundDescriptor {
    /// The range of a buffer that it leads to, with its size as the buffer has it.
    pub fn buffer_range(
        &self,
        dynamic_offset: u32,
        buffers: &[BufferObject],
    ) -> Option<BoundBuffer> {
        let BoundResource::Buffer { buffer, offset, range } = self.resource else { return None };
        let offset = offset.saturating_add(u64::from(dynamic_offset));
        let rest = buffers[buffer].size.saturating_sub(offset);
        let size = if range == WHOLE_SIZE { rest } else { range.min(rest) };
        Some(BoundBuffer { buffer, offset, size })
    }
}
