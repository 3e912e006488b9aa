//! Recording, submitting and waiting for one dispatch at a time.
//!
//! Knows: the barriers that make everything written before a dispatch visible to it, and its writes to what follows.
//! Promises: when [`Commands::run`] returns, the dispatch has ended and the host may read.
//! Does not cover: how long that may take: the wait has no limit, the parent has (`process`).

use super::device::{CallFailure, Device, during};
use super::image::Copying;
use super::memory::Storage;
use super::pipeline::Pipeline;
use super::protocol::WireTime;
use super::resources::Resources;
use ash::vk;
use std::rc::Rc;
use std::time::Instant;

/// One dispatch, ready to be recorded.
pub struct Dispatch {
    pub pipeline: Rc<Pipeline>,
    pub sets: Vec<vk::DescriptorSet>,
    pub dynamic_offsets: Vec<u32>,
    pub push_constants: Vec<u8>,
    pub groups: [u32; 3],
}

/// A buffer that gets the contents of another.
#[derive(Debug, Clone, Copy)]
pub struct Restored {
    pub from: vk::Buffer,
    pub to: vk::Buffer,
    pub bytes: u64,
}

/// Whether a dispatch is surrounded by timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timing {
    Off,
    On,
}

pub struct Commands {
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
    /// Null where the queue has no timestamps.
    queries: vk::QueryPool,
    device: Rc<Device>,
}

impl Commands {
    pub fn new(device: &Rc<Device>) -> Result<Self, CallFailure> {
        let raw = &device.raw;
        let mut commands = Self {
            pool: vk::CommandPool::null(),
            buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            queries: vk::QueryPool::null(),
            device: device.clone(),
        };
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.family);
        // SAFETY: the device is open and the family is the one its queue was created in.
        commands.pool = unsafe { raw.create_command_pool(&info, None) }.map_err(during("vkCreateCommandPool"))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(commands.pool).command_buffer_count(1);
        // SAFETY: the pool is alive.
        let buffers = unsafe { raw.allocate_command_buffers(&info) }.map_err(during("vkAllocateCommandBuffers"))?;
        commands.buffer = buffers.first().copied().unwrap_or_default();
        let info = vk::FenceCreateInfo::default();
        // SAFETY: the device is open.
        commands.fence = unsafe { raw.create_fence(&info, None) }.map_err(during("vkCreateFence"))?;
        if device.timestamp_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            // SAFETY: the device is open and its queue has timestamps.
            commands.queries = unsafe { raw.create_query_pool(&info, None) }.map_err(during("vkCreateQueryPool"))?;
        }
        Ok(commands)
    }

    /// Runs one dispatch to its end; before it, and before its time begins, the device restores buffers.
    pub fn run(&mut self, restored: &[Restored], dispatch: &Dispatch, timing: Timing) -> Result<WireTime, CallFailure> {
        let timed = timing == Timing::On && self.queries != vk::QueryPool::null();
        // SAFETY: the fence has been waited for (or nothing was submitted yet), so the pool's buffer is not pending.
        unsafe { self.device.raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .map_err(during("vkResetCommandPool"))?;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is in its initial state.
        unsafe { self.device.raw.begin_command_buffer(self.buffer, &begin) }.map_err(during("vkBeginCommandBuffer"))?;
        for Restored { from, to, bytes } in restored {
            let region = vk::BufferCopy::default().size(*bytes);
            // SAFETY: both buffers are alive, have the transfer usages and at least so many bytes, and are not the same.
            unsafe { self.device.raw.cmd_copy_buffer(self.buffer, *from, *to, &[region]) };
        }
        if timed {
            self.stamp(0);
        }
        self.record(dispatch);
        if timed {
            self.stamp(1);
        }
        // SAFETY: the command buffer is recording.
        unsafe { self.device.raw.end_command_buffer(self.buffer) }.map_err(during("vkEndCommandBuffer"))?;
        let start = Instant::now();
        self.submit()?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        Ok(WireTime { wall, device: if timed { Some(self.span()?) } else { None } })
    }

    /// Copies all images from or into their buffers; the host may write before and read after.
    pub fn copy(&mut self, resources: &Resources, storage: &Storage, copying: Copying) -> Result<(), CallFailure> {
        if !resources.has_images() {
            return Ok(());
        }
        // SAFETY: the fence has been waited for (or nothing was submitted yet), so the pool's buffer is not pending.
        unsafe { self.device.raw.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) }
            .map_err(during("vkResetCommandPool"))?;
        let begin = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the command buffer is in its initial state.
        unsafe { self.device.raw.begin_command_buffer(self.buffer, &begin) }.map_err(during("vkBeginCommandBuffer"))?;
        resources.record(self.buffer, storage, copying);
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        self.barrier(all, all | vk::PipelineStageFlags::HOST);
        // SAFETY: the command buffer is recording.
        unsafe { self.device.raw.end_command_buffer(self.buffer) }.map_err(during("vkEndCommandBuffer"))?;
        self.submit()
    }

    fn record(&self, dispatch: &Dispatch) {
        let (raw, buffer) = (&self.device.raw, self.buffer);
        let layout = dispatch.pipeline.layout.raw;
        let point = vk::PipelineBindPoint::COMPUTE;
        let [x, y, z] = dispatch.groups;
        self.barrier(vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::COMPUTE_SHADER);
        // SAFETY: the command buffer is recording; pipeline, layout and sets are alive and belong together (`session`
        // builds all three from one `fit::Layout`); push constants lie in the layout's range.
        unsafe {
            raw.cmd_bind_pipeline(buffer, point, dispatch.pipeline.raw);
            if !dispatch.sets.is_empty() {
                let offsets = &dispatch.dynamic_offsets;
                raw.cmd_bind_descriptor_sets(buffer, point, layout, 0, &dispatch.sets, offsets);
            }
            if !dispatch.push_constants.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                raw.cmd_push_constants(buffer, layout, stage, 0, &dispatch.push_constants);
            }
            raw.cmd_dispatch(buffer, x, y, z);
        }
        let after = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        self.barrier(vk::PipelineStageFlags::COMPUTE_SHADER, after);
    }

    /// A full memory barrier between two stages. What the host wrote before a submission is visible to it without one
    /// (Vulkan specification, "Host Write Ordering Guarantees").
    fn barrier(&self, from: vk::PipelineStageFlags, to: vk::PipelineStageFlags) {
        let mut read = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        if to.contains(vk::PipelineStageFlags::HOST) {
            read |= vk::AccessFlags::HOST_READ;
        }
        let barrier = vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::MEMORY_WRITE).dst_access_mask(read);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording, and a compute queue has all of these stages.
        unsafe { self.device.raw.cmd_pipeline_barrier(self.buffer, from, to, none, &[barrier], &[], &[]) }
    }

    fn stamp(&self, query: u32) {
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is recording outside of a render pass; the pool has two queries.
        unsafe {
            if query == 0 {
                self.device.raw.cmd_reset_query_pool(self.buffer, self.queries, 0, 2);
            }
            self.device.raw.cmd_write_timestamp(self.buffer, stage, self.queries, query);
        }
    }

    fn submit(&self) -> Result<(), CallFailure> {
        let buffers = [self.buffer];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the fence is unsignalled and not pending; the command buffer is complete.
        unsafe {
            self.device.raw.queue_submit(self.device.queue, &[submit], self.fence).map_err(during("vkQueueSubmit"))?;
            self.device.raw.wait_for_fences(&[self.fence], true, u64::MAX).map_err(during("vkWaitForFences"))?;
            self.device.raw.reset_fences(&[self.fence]).map_err(during("vkResetFences"))
        }
    }

    /// Milliseconds between the two timestamps (Vulkan specification, "Timestamp Queries").
    fn span(&self) -> Result<f64, CallFailure> {
        let mut stamps = [0_u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both queries were written by the work that has ended.
        unsafe { self.device.raw.get_query_pool_results(self.queries, 0, &mut stamps, flags) }
            .map_err(during("vkGetQueryPoolResults"))?;
        let mask = u64::MAX >> (64 - self.device.timestamp_bits.clamp(1, 64));
        let steps = stamps[1].wrapping_sub(stamps[0]) & mask;
        Ok(steps as f64 * f64::from(self.device.identity.limits.timestamp_period) * 1e-6)
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending; null handles are allowed.
        unsafe {
            self.device.raw.destroy_query_pool(self.queries, None);
            self.device.raw.destroy_fence(self.fence, None);
            self.device.raw.destroy_command_pool(self.pool, None);
        }
    }
}
