//! What a captured program did: its objects, and its operations in the order in which they were
//! submitted or called.
//!
//! Knows: which object a handle stands for at each moment, since handles are used again; what a
//! command buffer held when it was submitted; what descriptors led to then.
//! Promises: every operation names objects that records made; a handle that nothing made, a count
//! that does not fit and a circle of command buffers end in a diagnostic with the record. Reading is
//! bounded by [`MOST_OPERATIONS`].
//! Does not cover: what operations read and write inside of a dispatch, which its shader module
//! decides; images of captures of version 1, whose uses are named and not followed.

mod bound;
mod build;
mod commands;
mod descriptors;
mod dispatch;
mod images;
mod made;
mod objects;
mod readings;
mod submissions;

pub use dispatch::{
    BoundBuffer, BoundDescriptor, BoundResource, BoundSet, BoundView, Dispatch, Groups, Reading,
    SetLife,
};
pub use images::{BoxRows, ImageObject, MOST_TEXELS, SamplerObject, Subresources, ViewObject};
pub use made::{
    AddressUse, BufferObject, Layout, MemoryObject, ObjectEnd, PARTIALLY_BOUND, Pipeline,
    SetLayout, UPDATE_AFTER_BIND, UPDATE_UNUSED_WHILE_PENDING,
};

use crate::command::{CopyRegion, QueueTransfer};
use crate::event::{ContentsMode, Device, Limits, OpenEffect, Start};
use crate::file::{CaptureReader, Completeness};
use crate::image::{BufferImageRegion, ImageRegion, SubresourceRange};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;

/// Operations of a program at most; command buffers that are submitted again count again.
pub const MOST_OPERATIONS: usize = 5_000_000;

/// All bits set: to the end of the resource.
pub const WHOLE_SIZE: u64 = u64::MAX;

/// A captured program.
#[derive(Debug, Clone)]
pub struct Program {
    /// Who was captured.
    pub start: Start,
    /// Devices as they were made.
    pub devices: Vec<Device>,
    /// The device of each queue.
    pub queues: Vec<usize>,
    /// Shader modules as they were made.
    pub modules: Vec<Arc<Vec<u8>>>,
    /// Compute pipelines as they were made.
    pub pipelines: Vec<Pipeline>,
    /// Pipeline layouts as they were made.
    pub layouts: Vec<Layout>,
    /// Memory as it was allocated.
    pub memories: Vec<MemoryObject>,
    /// Buffers as they were made.
    pub buffers: Vec<BufferObject>,
    /// Images as they were made.
    pub images: Vec<ImageObject>,
    /// Views of images as they were made.
    pub image_views: Vec<ViewObject>,
    /// Samplers as they were made.
    pub samplers: Vec<SamplerObject>,
    /// What was done, in order.
    pub operations: Vec<Operation>,
    /// Batches in the order of their submission; number 1 is the first. A submission without any
    /// counts as one.
    pub batches: Vec<BatchPlace>,
    /// Calls that are not modelled, with how often each was made.
    pub unsupported: BTreeMap<String, (OpenEffect, u64)>,
    /// Whether the capture tells all.
    pub completeness: Completeness,
}

/// Bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemorySpan {
    /// Index of the memory.
    pub memory: usize,
    /// First byte.
    pub start: u64,
    /// Behind the last byte.
    pub end: u64,
}

/// Where a batch was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchPlace {
    /// Number of its submission, from 1.
    pub submission: u32,
    /// Its number in that, from 1.
    pub number: usize,
    /// How many batches the submission has.
    pub of: usize,
}

/// One thing that was done.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Number of the batch that it is part of, from 1 ([`Program::batches`]); none of what the host
    /// does.
    pub batch: Option<u32>,
    /// Index of the queue; 0 for what the host does.
    pub queue: usize,
    /// What was done.
    pub action: Action,
}

/// What was done.
#[derive(Debug, Clone)]
pub enum Action {
    /// A submission begins.
    Submit,
    /// The rest of the batch waits for a semaphore.
    SemaphoreWait(SemaphoreStep),
    /// A semaphore is signaled behind all that was submitted to the queue.
    SemaphoreSignal(SemaphoreStep),
    /// A dispatch.
    Dispatch(Box<Dispatch>),
    /// A dispatch that was recorded with no compute pipeline bound.
    UnboundDispatch {
        /// A command in front of it that binds and is not modelled.
        unseen: Option<Arc<str>>,
    },
    /// A copy between buffers.
    Copy {
        /// Index of the buffer that is read.
        from: usize,
        /// Index of the buffer that is written.
        to: usize,
        /// Which bytes.
        regions: Arc<Vec<CopyRegion>>,
    },
    /// A word throughout a range of a buffer.
    Fill {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: u64,
        /// Bytes.
        size: u64,
        /// The word.
        word: u32,
    },
    /// Bytes that are written to a buffer.
    Update {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<Vec<u8>>,
    },
    /// A copy from a buffer to an image.
    CopyToImage {
        /// Index of the buffer that is read.
        from: usize,
        /// The image that is written.
        to: NamedImage,
        /// Which bytes and texels.
        regions: Arc<Vec<BufferImageRegion>>,
    },
    /// A copy from an image to a buffer.
    CopyFromImage {
        /// The image that is read.
        from: NamedImage,
        /// Index of the buffer that is written.
        to: usize,
        /// Which bytes and texels.
        regions: Arc<Vec<BufferImageRegion>>,
    },
    /// A copy between images.
    CopyImage {
        /// The image that is read.
        from: NamedImage,
        /// The image that is written.
        to: NamedImage,
        /// Which texels.
        regions: Arc<Vec<ImageRegion>>,
    },
    /// A color throughout parts of an image.
    ClearImage {
        /// The image that is written.
        to: NamedImage,
        /// The bits of VkClearColorValue.
        color: [u32; 4],
        /// Which parts.
        ranges: Arc<Vec<SubresourceRange>>,
    },
    /// A copy between a buffer and an image of which nothing is recorded.
    ImageCopy {
        /// Name of the call.
        name: Arc<str>,
        /// Index of the buffer that is read.
        read: Option<usize>,
        /// Index of the buffer that is written.
        written: Option<usize>,
    },
    /// A pipeline barrier.
    Barrier(Arc<Vec<BarrierPart>>),
    /// A command that is not modelled.
    Unsupported {
        /// Its name.
        name: Arc<str>,
        /// What it leaves open.
        effect: OpenEffect,
    },
    /// The host learns that batches are complete.
    HostWait {
        /// Index of a queue and the number of its last batch that is complete.
        completed: Vec<(usize, u32)>,
    },
    /// The host maps memory.
    Map(MemorySpan),
    /// The host unmaps memory.
    Unmap(usize),
    /// The host makes what it wrote available.
    Flush(MemorySpan),
    /// The host makes what was written visible to itself.
    Invalidate(MemorySpan),
    /// What memory holds where the host maps it.
    Contents {
        /// Index of the memory.
        memory: usize,
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<Vec<u8>>,
    },
    /// What a layer of a level of an image holds.
    ImageContents {
        /// Index of the image.
        image: usize,
        /// Level.
        level: u32,
        /// Layer.
        layer: u32,
        /// Its texels, tightly.
        bytes: Arc<Vec<u8>>,
    },
    /// What an image holds was asked for and not read.
    UnreadImage {
        /// Index of the image.
        image: usize,
        /// Why.
        reason: Arc<str>,
    },
}

/// An image and the layout that a command names for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedImage {
    /// Index of the image.
    pub image: usize,
    /// VkImageLayout.
    pub layout: i32,
}

/// A semaphore that is waited for or signaled by a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SemaphoreStep {
    /// Index of the semaphore.
    pub semaphore: usize,
    /// Value of a timeline; none of a binary semaphore.
    pub value: Option<u64>,
    /// VkPipelineStageFlags2.
    pub stages: u64,
}

/// A dependency of a pipeline barrier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarrierPart {
    /// VkPipelineStageFlags2 of the first scope.
    pub source_stages: u64,
    /// VkAccessFlags2 of the first scope.
    pub source_access: u64,
    /// VkPipelineStageFlags2 of the second scope.
    pub target_stages: u64,
    /// VkAccessFlags2 of the second scope.
    pub target_access: u64,
    /// Which memory it is about.
    pub scope: BarrierScope,
}

/// Which memory a dependency is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BarrierScope {
    /// None: execution alone is ordered.
    Execution,
    /// All memory.
    All,
    /// A range of a buffer.
    Buffer {
        /// Index of the buffer.
        buffer: usize,
        /// First byte.
        offset: u64,
        /// Bytes.
        size: u64,
        /// Whether the buffer passes from one queue family to another.
        transfer: QueueTransfer,
    },
    /// An image of which nothing is recorded.
    Image,
    /// A part of an image.
    ImagePart {
        /// Index of the image.
        image: usize,
        /// Which part.
        range: SubresourceRange,
        /// VkImageLayout before and behind.
        layouts: [i32; 2],
        /// Whether the image passes from one queue family to another.
        transfer: QueueTransfer,
    },
}

impl Program {
    /// Reads a capture.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        build::program_of(CaptureReader::open(path)?)
    }

    /// The bytes of memory that a range of a buffer takes; none where the buffer has no memory or
    /// the range is empty.
    pub fn span(&self, buffer: usize, offset: u64, size: u64) -> Option<MemorySpan> {
        let object = &self.buffers[buffer];
        let (memory, base) = object.memory?;
        let last = object.size.min(self.memories[memory].size.saturating_sub(base));
        let start = offset.min(last);
        let end = offset.saturating_add(size).min(last);
        (start < end).then(|| MemorySpan { memory, start: base + start, end: base + end })
    }

    /// Limits of the device that an operation is submitted to.
    pub fn limits_at(&self, operation: usize) -> Option<&Limits> {
        let device = *self.queues.get(self.operations[operation].queue)?;
        self.devices.get(device).map(|device| &device.limits)
    }

    /// Limits of the device that has each pipeline; none of one that is never dispatched while the
    /// program has several devices.
    pub fn limits_of_pipelines(&self) -> Vec<Option<&Limits>> {
        let only = match &self.devices[..] {
            [only] => Some(&only.limits),
            _ => None,
        };
        let mut limits = vec![only; self.pipelines.len()];
        for (index, dispatch) in self.dispatches() {
            limits[dispatch.pipeline] = self.limits_at(index);
        }
        limits
    }

    /// Whether contents of memory were recorded.
    pub fn contents(&self) -> ContentsMode {
        self.start.contents
    }

    /// All dispatches, with the index of each among the operations.
    pub fn dispatches(&self) -> impl Iterator<Item = (usize, &Dispatch)> {
        self.operations.iter().enumerate().filter_map(|(index, operation)| {
            match &operation.action {
                Action::Dispatch(dispatch) => Some((index, &**dispatch)),
                _ => None,
            }
        })
    }
}
