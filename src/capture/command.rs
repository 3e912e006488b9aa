//! Commands as they are recorded into command buffers.
//!
//! Knows: what binds, dispatches, copies and orders; all else by its name.
//! Promises: first and second version of synchronization have one form, that of the second.
//! Does not cover: what a command does when it is executed (`program`).

use crate::event::{DescriptorWrite, OpenEffect};
use crate::image::{BufferImageRegion, ImageInLayout, ImageRegion, ImageScope, SubresourceRange};
use crate::value::{Bytes, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command of a command buffer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// vkCmdBindPipeline at the bind point for compute.
    BindPipeline(Handle),
    /// vkCmdBindDescriptorSets at the bind point for compute.
    BindSets {
        /// The pipeline layout that is named.
        layout: Handle,
        /// Number of the first set.
        first: u32,
        /// The sets.
        sets: Vec<Handle>,
        /// Dynamic offsets, by binding and element.
        dynamic_offsets: Vec<u32>,
    },
    /// vkCmdPushDescriptorSetKHR at the bind point for compute.
    PushDescriptors {
        /// The pipeline layout that is named.
        layout: Handle,
        /// Number of the set.
        set: u32,
        /// What is written.
        writes: Vec<DescriptorWrite>,
    },
    /// vkCmdPushConstants.
    PushConstants {
        /// The pipeline layout that is named.
        layout: Handle,
        /// VkShaderStageFlags.
        stages: u32,
        /// First byte.
        offset: u32,
        /// The values.
        values: Bytes,
    },
    /// vkCmdDispatch, vkCmdDispatchBase.
    Dispatch {
        /// First workgroup in x, y and z.
        base: [u32; 3],
        /// Workgroups in x, y and z.
        groups: [u32; 3],
    },
    /// vkCmdDispatchIndirect.
    DispatchIndirect {
        /// Where the numbers of workgroups are read.
        buffer: Handle,
        /// First byte.
        offset: u64,
    },
    /// vkCmdCopyBuffer, vkCmdCopyBuffer2.
    CopyBuffer {
        /// What is read.
        from: Handle,
        /// What is written.
        to: Handle,
        /// Which bytes.
        regions: Vec<CopyRegion>,
    },
    /// vkCmdFillBuffer.
    FillBuffer {
        /// What is written.
        buffer: Handle,
        /// First byte.
        offset: u64,
        /// Bytes; all of 64 bits set for VK_WHOLE_SIZE.
        size: u64,
        /// The word that is written throughout.
        word: u32,
    },
    /// vkCmdUpdateBuffer.
    UpdateBuffer {
        /// What is written.
        buffer: Handle,
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Bytes,
    },
    /// A copy between a buffer and an image in a capture of version 1: the whole buffer counts as
    /// read or written.
    ImageCopy {
        /// Name of the call.
        name: String,
        /// The buffer that is read.
        read: Option<Handle>,
        /// The buffer that is written.
        written: Option<Handle>,
    },
    /// vkCmdPipelineBarrier, vkCmdPipelineBarrier2: dependencies that take effect together.
    Barrier(Vec<Dependency>),
    /// vkCmdExecuteCommands.
    Execute(Vec<Handle>),
    /// A command that is not modelled.
    Unsupported {
        /// Name of the call.
        name: String,
        /// What it leaves open.
        effect: OpenEffect,
    },
    /// vkCmdCopyBufferToImage, vkCmdCopyBufferToImage2.
    CopyBufferToImage {
        /// What is read.
        from: Handle,
        /// What is written.
        to: ImageInLayout,
        /// Which bytes and texels.
        regions: Vec<BufferImageRegion>,
    },
    /// vkCmdCopyImageToBuffer, vkCmdCopyImageToBuffer2.
    CopyImageToBuffer {
        /// What is read.
        from: ImageInLayout,
        /// What is written.
        to: Handle,
        /// Which bytes and texels.
        regions: Vec<BufferImageRegion>,
    },
    /// vkCmdCopyImage, vkCmdCopyImage2.
    CopyImage {
        /// What is read.
        from: ImageInLayout,
        /// What is written.
        to: ImageInLayout,
        /// Which texels.
        regions: Vec<ImageRegion>,
    },
    /// vkCmdClearColorImage.
    ClearColor {
        /// What is written.
        to: ImageInLayout,
        /// The bits of VkClearColorValue.
        color: [u32; 4],
        /// What of it.
        ranges: Vec<SubresourceRange>,
    },
}

/// Bytes that are copied between two buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CopyRegion {
    /// First byte that is read.
    pub from: u64,
    /// First byte that is written.
    pub to: u64,
    /// Bytes.
    pub size: u64,
}

/// A dependency of a pipeline barrier (Vulkan specification, "Pipeline Barriers").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependency {
    /// VkPipelineStageFlags2 of the first scope.
    pub source_stages: u64,
    /// VkAccessFlags2 of the first scope.
    pub source_access: u64,
    /// VkPipelineStageFlags2 of the second scope.
    pub target_stages: u64,
    /// VkAccessFlags2 of the second scope.
    pub target_access: u64,
    /// Which memory it is about.
    pub scope: DependencyScope,
}

/// Which memory a dependency is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyScope {
    /// None: execution alone is ordered.
    Execution,
    /// All memory.
    All,
    /// A range of a buffer.
    Buffer {
        /// Which buffer.
        buffer: Handle,
        /// First byte.
        offset: u64,
        /// Bytes; all of 64 bits set for VK_WHOLE_SIZE.
        size: u64,
        /// Whether the buffer passes from one queue family to another.
        transfer: QueueTransfer,
    },
    /// An image, of which captures of version 1 tell no more.
    Image(Handle),
    /// A part of an image.
    ImagePart(ImageScope),
}

/// Whether a resource passes from one queue family to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QueueTransfer {
    /// It stays.
    None,
    /// It passes.
    BetweenFamilies,
}

/// Whether a command that is not modelled changes what is bound: vkCmdBindDescriptorSets2KHR,
/// vkCmdPushConstants2KHR, vkCmdSetDescriptorBufferOffsetsEXT, vkCmdBindShadersEXT ...
pub fn binds_unseen(name: &str, effect: OpenEffect) -> bool {
    let binds = ["vkCmdBind", "vkCmdPush", "vkCmdSetDescriptorBuffer"];
    effect == OpenEffect::Accesses && binds.iter().any(|start| name.starts_with(start))
}
