//! What a capture records: the calls of a host program, one event each.
//!
//! Knows: the calls that decide what a compute dispatch reads and writes and how that is ordered;
//! all else by its name ([`Event::Unsupported`]).
//! Promises: an event holds what the call was given, never what a reader may derive. Flags are the
//! bits of the Vulkan specification.
//! Does not cover: how events lie in a file (`file`) and what they come to (`program`).

use crate::command::Command;
pub use crate::image::{
    BindingFlags, Image, ImageContents, ImageView, ImmutableSamplers, Sampler, UnreadImage,
};
pub use crate::pipeline::{
    ComputePipeline, Descriptor, DescriptorCopy, DescriptorSets, DescriptorWrite, LayoutBinding,
    PipelineLayout, PushRange, SetLayout, ShaderModule, SpecializationValue,
};
pub use crate::reading::{
    DispatchContents, DispatchPlace, ReadBytes, ReadDescriptor, ReadSource, UnreadDispatch,
};
use crate::value::{Bytes, Handle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One call, and which thread of the host made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Threads are numbered from 0 as they first call.
    pub thread: u32,
    /// What was called.
    pub event: Event,
}

/// One call of the host program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The layer was loaded.
    Start(Start),
    /// vkCreateInstance.
    Instance(Instance),
    /// vkCreateDevice.
    Device(Box<Device>),
    /// vkGetDeviceQueue, vkGetDeviceQueue2.
    Queue(Queue),
    /// vkAllocateMemory.
    Memory(Memory),
    /// vkMapMemory.
    Map(MemoryRange),
    /// vkUnmapMemory.
    Unmap(Handle),
    /// vkFlushMappedMemoryRanges.
    Flush(Vec<MemoryRange>),
    /// vkInvalidateMappedMemoryRanges.
    Invalidate(Vec<MemoryRange>),
    /// vkCreateBuffer.
    Buffer(Buffer),
    /// vkBindBufferMemory, vkBindBufferMemory2.
    BindBuffer(Binding),
    /// vkGetBufferDeviceAddress.
    BufferAddress(Handle),
    /// vkCreateBufferView.
    BufferView(BufferView),
    /// vkCreateImage, of which captures of version 1 tell no more.
    Image(Handle),
    /// vkBindImageMemory, vkBindImageMemory2.
    BindImage(Binding),
    /// vkCreateShaderModule.
    ShaderModule(ShaderModule),
    /// vkCreateDescriptorSetLayout.
    SetLayout(SetLayout),
    /// vkCreatePipelineLayout.
    PipelineLayout(PipelineLayout),
    /// vkCreateComputePipelines, one pipeline of it.
    ComputePipeline(ComputePipeline),
    /// vkAllocateDescriptorSets.
    DescriptorSets(DescriptorSets),
    /// vkUpdateDescriptorSets and updates with templates.
    WriteDescriptors(Vec<DescriptorWrite>),
    /// The copies of vkUpdateDescriptorSets.
    CopyDescriptors(Vec<DescriptorCopy>),
    /// vkFreeDescriptorSets.
    FreeDescriptorSets(Vec<Handle>),
    /// vkResetDescriptorPool, vkDestroyDescriptorPool: every set of the pool is gone.
    EmptyDescriptorPool(Handle),
    /// vkAllocateCommandBuffers.
    CommandBuffers(CommandBuffers),
    /// vkFreeCommandBuffers.
    FreeCommandBuffers(Vec<Handle>),
    /// vkResetCommandPool: what its command buffers hold is gone.
    ResetCommandPool(Handle),
    /// vkDestroyCommandPool.
    DestroyCommandPool(Handle),
    /// vkBeginCommandBuffer.
    Begin(Begin),
    /// vkEndCommandBuffer.
    EndRecording(Handle),
    /// vkResetCommandBuffer.
    ResetCommandBuffer(Handle),
    /// vkCmd....
    Command(RecordedCommand),
    /// vkCreateFence.
    Fence(Handle),
    /// vkCreateSemaphore.
    Semaphore(Semaphore),
    /// vkQueueSubmit, vkQueueSubmit2.
    Submit(Submit),
    /// The submission that this thread recorded last was refused.
    SubmitFailed(Handle),
    /// vkWaitForFences or vkGetFenceStatus told that all of these are signaled.
    FencesSignaled(Vec<Handle>),
    /// vkResetFences.
    ResetFences(Vec<Handle>),
    /// vkQueueWaitIdle.
    QueueIdle(Handle),
    /// vkDeviceWaitIdle.
    DeviceIdle(Handle),
    /// vkWaitSemaphores or vkGetSemaphoreCounterValue told that all have come to these values.
    SemaphoresReached(Vec<SemaphoreValue>),
    /// vkSignalSemaphore.
    SemaphoreSignaled(SemaphoreValue),
    /// Bytes that the host has in mapped memory where the next event happens.
    Contents(Contents),
    /// vkDestroy..., vkFreeMemory.
    Destroyed(Destroyed),
    /// A call that is not modelled, or a part of one.
    Unsupported(Unsupported),
    /// Events were lost: the layer failed.
    Lost(u64),
    /// Nothing follows.
    End(End),
    /// VkDescriptorSetLayoutBindingFlagsCreateInfo of the layout in the record before.
    BindingFlags(BindingFlags),
    /// Immutable samplers of a layout.
    ImmutableSamplers(ImmutableSamplers),
    /// vkCreateImage.
    ImageMade(Box<Image>),
    /// vkCreateImageView.
    ImageView(ImageView),
    /// vkCreateSampler.
    Sampler(Sampler),
    /// Texels of an image where the next event happens.
    ImageContents(ImageContents),
    /// Texels of an image were not read.
    UnreadImage(UnreadImage),
    /// What the layer read on the device in front of a dispatch.
    DispatchContents(DispatchContents),
    /// What the layer did not read in front of a dispatch.
    UnreadDispatch(UnreadDispatch),
}

/// Who was captured, by what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Start {
    /// Version of the layer.
    pub layer: String,
    /// File name of the program.
    pub program: String,
    /// Whether contents of memory are recorded.
    pub contents: ContentsMode,
}

/// Whether contents of memory are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContentsMode {
    /// They are not.
    Omitted,
    /// Of mapped memory, what changed is, before each submission and where memory is unmapped; from
    /// version 3 on also what is bound for each dispatch.
    Recorded,
}

/// vkCreateInstance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instance {
    /// What was made.
    pub instance: Handle,
    /// As the program asks for it: `1.2.0`.
    pub api_version: String,
    /// pApplicationName.
    pub application: String,
    /// pEngineName.
    pub engine: String,
    /// Extensions that are enabled.
    pub extensions: Vec<String>,
}

/// vkCreateDevice, with what the device says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// What was made.
    pub device: Handle,
    /// deviceName.
    pub name: String,
    /// vendorID and deviceID.
    pub ids: [u32; 2],
    /// `1.3.230`.
    pub api_version: String,
    /// As a number, since each vendor has a form of its own.
    pub driver_version: u32,
    /// driverName, empty where the device tells none.
    pub driver_name: String,
    /// driverInfo, empty where the device tells none.
    pub driver_info: String,
    /// Property flags of each memory type.
    pub memory_types: Vec<u32>,
    /// Queue flags of each family.
    pub queue_families: Vec<u32>,
    /// Extensions that are enabled.
    pub extensions: Vec<String>,
    /// Limits that dispatches are held against.
    pub limits: Limits,
}

/// Limits of a device (VkPhysicalDeviceLimits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// maxComputeWorkGroupCount.
    pub groups: [u32; 3],
    /// maxComputeWorkGroupSize.
    pub local_size: [u32; 3],
    /// maxComputeWorkGroupInvocations.
    pub invocations: u32,
    /// maxComputeSharedMemorySize.
    pub workgroup_bytes: u32,
    /// maxPushConstantsSize.
    pub push_constant_bytes: u32,
    /// maxStorageBufferRange.
    pub storage_range: u32,
    /// maxUniformBufferRange.
    pub uniform_range: u32,
    /// nonCoherentAtomSize.
    pub non_coherent_atom: u64,
}

/// vkGetDeviceQueue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queue {
    /// Of which device.
    pub device: Handle,
    /// What was got.
    pub queue: Handle,
    /// Index of its family.
    pub family: u32,
    /// Index in the family.
    pub index: u32,
}

/// vkAllocateMemory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Of which device.
    pub device: Handle,
    /// What was made.
    pub memory: Handle,
    /// Bytes.
    pub size: u64,
    /// Index of its memory type.
    pub memory_type: u32,
}

/// A range of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryRange {
    /// Which memory.
    pub memory: Handle,
    /// First byte.
    pub offset: u64,
    /// Bytes; all of 64 bits set for VK_WHOLE_SIZE.
    pub size: u64,
}

/// vkCreateBuffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Buffer {
    /// What was made.
    pub buffer: Handle,
    /// Bytes.
    pub size: u64,
    /// VkBufferUsageFlags.
    pub usage: u32,
}

/// A resource and the memory that it lies in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Binding {
    /// A buffer or an image.
    pub resource: Handle,
    /// Its memory.
    pub memory: Handle,
    /// Where in the memory.
    pub offset: u64,
}

/// vkCreateBufferView.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferView {
    /// What was made.
    pub view: Handle,
    /// Of which buffer.
    pub buffer: Handle,
    /// First byte.
    pub offset: u64,
    /// Bytes; all of 64 bits set for VK_WHOLE_SIZE.
    pub range: u64,
}

/// vkAllocateCommandBuffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandBuffers {
    /// Of which pool.
    pub pool: Handle,
    /// What was made.
    pub command_buffers: Vec<Handle>,
}

/// vkBeginCommandBuffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Begin {
    /// Which command buffer.
    pub command_buffer: Handle,
    /// VkCommandBufferUsageFlags.
    pub flags: u32,
}

/// A command and the command buffer that it is recorded into.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedCommand {
    /// Which command buffer.
    pub command_buffer: Handle,
    /// The command.
    pub command: Command,
}

/// vkCreateSemaphore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Semaphore {
    /// What was made.
    pub semaphore: Handle,
    /// First value of a timeline; none for a binary semaphore.
    pub timeline: Option<u64>,
}

/// vkQueueSubmit, vkQueueSubmit2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submit {
    /// To which queue.
    pub queue: Handle,
    /// Its fence; 0 for none.
    pub fence: Handle,
    /// What is submitted.
    pub batches: Vec<Batch>,
}

/// A batch of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Batch {
    /// Semaphores that are waited for.
    pub waits: Vec<SemaphoreUse>,
    /// What is executed.
    pub command_buffers: Vec<Handle>,
    /// Semaphores that are signaled.
    pub signals: Vec<SemaphoreUse>,
}

/// A semaphore that is waited for or signaled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SemaphoreUse {
    /// Which.
    pub semaphore: Handle,
    /// Value of a timeline.
    pub value: u64,
    /// VkPipelineStageFlags2 that wait or that are waited for.
    pub stages: u64,
}

/// A value of a timeline semaphore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SemaphoreValue {
    /// Which.
    pub semaphore: Handle,
    /// The value.
    pub value: u64,
}

/// Bytes in memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Contents {
    /// Which memory.
    pub memory: Handle,
    /// First byte.
    pub offset: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// An object that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Destroyed {
    /// Of which kind it was.
    pub kind: ObjectKind,
    /// Its handle.
    pub handle: Handle,
}

/// Kinds of objects that are followed by handle.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectKind {
    /// VkInstance.
    Instance,
    /// VkDevice.
    Device,
    /// VkQueue.
    Queue,
    /// VkDeviceMemory.
    Memory,
    /// VkBuffer.
    Buffer,
    /// VkBufferView.
    BufferView,
    /// VkImage.
    Image,
    /// VkShaderModule.
    ShaderModule,
    /// VkDescriptorSetLayout.
    SetLayout,
    /// VkPipelineLayout.
    PipelineLayout,
    /// VkPipeline, of any bind point.
    Pipeline,
    /// VkDescriptorSet.
    DescriptorSet,
    /// VkCommandBuffer.
    CommandBuffer,
    /// VkFence.
    Fence,
    /// VkSemaphore.
    Semaphore,
    /// VkImageView.
    ImageView,
    /// VkSampler.
    Sampler,
}

impl ObjectKind {
    /// What messages call it.
    pub fn name(self) -> &'static str {
        match self {
            ObjectKind::Instance => "instance",
            ObjectKind::Device => "device",
            ObjectKind::Queue => "queue",
            ObjectKind::Memory => "memory",
            ObjectKind::Buffer => "buffer",
            ObjectKind::BufferView => "buffer view",
            ObjectKind::Image => "image",
            ObjectKind::ShaderModule => "shader module",
            ObjectKind::SetLayout => "descriptor set layout",
            ObjectKind::PipelineLayout => "pipeline layout",
            ObjectKind::Pipeline => "pipeline",
            ObjectKind::DescriptorSet => "descriptor set",
            ObjectKind::CommandBuffer => "command buffer",
            ObjectKind::Fence => "fence",
            ObjectKind::Semaphore => "semaphore",
            ObjectKind::ImageView => "image view",
            ObjectKind::Sampler => "sampler",
        }
    }
}

/// A call that is not modelled, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unsupported {
    /// Name of the call, or of the structure and its call.
    pub name: String,
    /// What it leaves open.
    pub effect: OpenEffect,
}

/// What a call that is not modelled leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OpenEffect {
    /// Nothing that the checks look at.
    Nothing,
    /// Which memory is read and written.
    Accesses,
    /// How accesses are ordered.
    Order,
}

/// How a capture ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// Records before this one.
    pub records: u64,
}
