//! Recording, submitting and waiting for dispatches.
//!
//! Knows: the barriers that make everything written before a dispatch visible to it, and its writes
//! to what follows.
//! Promises: when [`Commands::run`] or [`Commands::follow`] returns, every dispatch has ended and
//! the host may read.
//! Does not cover: how long that may take: the wait has no limit, the parent has (`process`).

use super::device::{CallFailure, Device, during};
use super::image::Copying;
use super::memory::{Restored, Storage};
use super::pipeline::Pipeline;
use super::protocol::WireTime;
use super::resources::Resources;
use ash::vk;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// One dispatch, ready to be recorded.
pub(crate) struct Dispatch {
    pub pipeline: Rc<Pipeline>,
    pub sets: Vec<vk::DescriptorSet>,
    pub dynamic_offsets: Vec<u32>,
    pub push_constants: Vec<u8>,
    pub groups: [u32; 3],
}

/// After so long without an end, somebody may want to know where the device is.
const SOON: Duration = Duration::from_millis(10);

struct CommandPool {
    raw: vk::CommandPool,
    device: Rc<Device>,
}

impl Drop for CommandPool {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending (see `Step`); a null handle is allowed.
        unsafe { self.device.raw.destroy_command_pool(self.raw, None) }
    }
}

/// A command buffer, recorded once and submitted as often as wanted, with the fence that tells its
/// end. Nothing drops one that is pending: [`Commands::follow`] comes back when all have ended, and
/// after a failure waits for the device.
pub(crate) struct Step {
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
    pool: Rc<CommandPool>,
}

impl Step {
    fn new(pool: &Rc<CommandPool>) -> Result<Self, CallFailure> {
        let mut step = Self {
            buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            pool: Rc::clone(pool),
        };
        let raw = &pool.device.raw;
        let info =
            vk::CommandBufferAllocateInfo::default().command_pool(pool.raw).command_buffer_count(1);
        // SAFETY: the pool is alive.
        let buffers = unsafe { raw.allocate_command_buffers(&info) }
            .map_err(during("vkAllocateCommandBuffers"))?;
        step.buffer = buffers.first().copied().unwrap_or_default();
        // SAFETY: the device is open.
        step.fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(during("vkCreateFence"))?;
        Ok(step)
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        // SAFETY: the buffer is not pending; null handles are allowed.
        unsafe {
            self.pool.device.raw.destroy_fence(self.fence, None);
            self.pool.device.raw.free_command_buffers(self.pool.raw, &[self.buffer]);
        }
    }
}

/// The copies of a pass's images.
pub(crate) type ImageCopies<'a> = Option<(&'a Resources, &'a Storage, Copying)>;

pub(crate) struct Commands {
    /// For what is recorded and run at once.
    single: Step,
    pool: Rc<CommandPool>,
    /// Null where the queue has no timestamps.
    queries: vk::QueryPool,
    device: Rc<Device>,
}

impl Commands {
    pub(crate) fn new(device: &Rc<Device>) -> Result<Self, CallFailure> {
        let raw = &device.raw;
        let flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family.index)
            .flags(flags);
        // SAFETY: the device is open and the family is the one its queue was created in.
        let pool = unsafe { raw.create_command_pool(&info, None) }
            .map_err(during("vkCreateCommandPool"))?;
        let pool = Rc::new(CommandPool { raw: pool, device: device.clone() });
        let single = Step::new(&pool)?;
        let mut commands =
            Self { single, pool, queries: vk::QueryPool::null(), device: device.clone() };
        if device.family.timestamp_bits > 0 {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2);
            // SAFETY: the device is open and its queue has timestamps.
            commands.queries = unsafe { raw.create_query_pool(&info, None) }
                .map_err(during("vkCreateQueryPool"))?;
        }
        Ok(commands)
    }

    /// A step of one dispatch, with what is copied before and after it.
    pub(crate) fn record(
        &self,
        dispatch: &Dispatch,
        before: ImageCopies,
        after: ImageCopies,
    ) -> Result<Step, CallFailure> {
        let step = Step::new(&self.pool)?;
        self.begin(step.buffer, vk::CommandBufferUsageFlags::empty())?;
        self.record_copies(step.buffer, before);
        self.record_dispatch(step.buffer, dispatch);
        self.record_copies(step.buffer, after);
        self.end(step.buffer)?;
        Ok(step)
    }

    /// Submits steps in order and waits for all of them; `late` is told which one keeps the host
    /// waiting, unless it is the first. A failure comes with the step that it came in.
    pub(crate) fn follow(
        &self,
        steps: &[&Step],
        late: &mut dyn FnMut(usize),
    ) -> Result<(), (usize, CallFailure)> {
        self.submit_and_wait(steps, late).inspect_err(|_| {
            // What was submitted may be pending still. That the device is lost is known.
            // SAFETY: the device is open, and its queue is used by this line of execution alone.
            let _ = unsafe { self.device.raw.device_wait_idle() };
        })
    }

    fn submit_and_wait(
        &self,
        steps: &[&Step],
        late: &mut dyn FnMut(usize),
    ) -> Result<(), (usize, CallFailure)> {
        for (index, step) in steps.iter().enumerate() {
            self.submit(step).map_err(|failure| (index, failure))?;
        }
        // Most are over in no time: then one look at the last does for all.
        let over = match steps {
            [] | [_] => false,
            [.., last] => self.wait(last, SOON).map_err(|failure| (steps.len() - 1, failure))?,
        };
        for (index, step) in steps.iter().enumerate().filter(|_| !over) {
            if index > 0 && !self.wait(step, Duration::ZERO).map_err(|failure| (index, failure))? {
                late(index);
            }
            self.wait(step, Duration::MAX).map_err(|failure| (index, failure))?;
        }
        let fences: Vec<vk::Fence> = steps.iter().map(|step| step.fence).collect();
        if fences.is_empty() {
            return Ok(());
        }
        // SAFETY: the fences are signalled, so nothing is pending that would signal them.
        unsafe { self.device.raw.reset_fences(&fences) }
            .map_err(|result| (0, during("vkResetFences")(result)))
    }

    /// Runs one dispatch to its end and times it; before it, and before its time begins, the device
    /// restores buffers.
    pub(crate) fn run(
        &mut self,
        restored: &[Restored],
        dispatch: &Dispatch,
    ) -> Result<WireTime, CallFailure> {
        let timed = self.queries != vk::QueryPool::null();
        let buffer = self.single.buffer;
        self.begin(buffer, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        for Restored { from, to, bytes } in restored {
            let region = vk::BufferCopy::default().size(*bytes);
            // SAFETY: both buffers are alive, have the transfer usages and at least so many bytes,
            // and are not the same.
            unsafe { self.device.raw.cmd_copy_buffer(buffer, *from, *to, &[region]) };
        }
        if timed {
            self.stamp(buffer, 0);
        }
        self.record_dispatch(buffer, dispatch);
        if timed {
            self.stamp(buffer, 1);
        }
        self.end(buffer)?;
        let start = Instant::now();
        self.follow(&[&self.single], &mut |_| {}).map_err(|(_, failure)| failure)?;
        let wall = start.elapsed().as_secs_f64() * 1e3;
        Ok(WireTime { wall, device: if timed { Some(self.span()?) } else { None } })
    }

    /// Copies all images from or into their buffers; the host may write before and read after.
    pub(crate) fn copy(
        &mut self,
        resources: &Resources,
        storage: &Storage,
        copying: Copying,
    ) -> Result<(), CallFailure> {
        if !resources.has_images() {
            return Ok(());
        }
        self.begin(self.single.buffer, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        self.record_copies(self.single.buffer, Some((resources, storage, copying)));
        self.end(self.single.buffer)?;
        self.follow(&[&self.single], &mut |_| {}).map_err(|(_, failure)| failure)
    }

    /// Makes a buffer empty and lets it be recorded.
    fn begin(
        &self,
        buffer: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
    ) -> Result<(), CallFailure> {
        let begin = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the buffer is not pending (see `Step`), and its pool lets single buffers be
        // reset.
        unsafe { self.device.raw.begin_command_buffer(buffer, &begin) }
            .map_err(during("vkBeginCommandBuffer"))
    }

    fn end(&self, buffer: vk::CommandBuffer) -> Result<(), CallFailure> {
        // SAFETY: the command buffer is recording.
        unsafe { self.device.raw.end_command_buffer(buffer) }.map_err(during("vkEndCommandBuffer"))
    }

    fn record_copies(&self, buffer: vk::CommandBuffer, copies: ImageCopies) {
        let Some((resources, storage, copying)) = copies else { return };
        resources.record(buffer, storage, copying);
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        self.barrier(buffer, all, all | vk::PipelineStageFlags::HOST);
    }

    fn record_dispatch(&self, buffer: vk::CommandBuffer, dispatch: &Dispatch) {
        let raw = &self.device.raw;
        let layout = dispatch.pipeline.layout.raw;
        let point = vk::PipelineBindPoint::COMPUTE;
        let [x, y, z] = dispatch.groups;
        self.barrier(
            buffer,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::COMPUTE_SHADER,
        );
        // SAFETY: the command buffer is recording; pipeline, layout and sets are alive and belong
        // together (`session` builds all three from one `fit::Layout`); push constants lie in the
        // layout's range.
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
        self.barrier(buffer, vk::PipelineStageFlags::COMPUTE_SHADER, after);
    }

    /// A full memory barrier between two stages. What the host wrote before a submission is visible
    /// to it without one (Vulkan specification, "Host Write Ordering Guarantees").
    fn barrier(
        &self,
        buffer: vk::CommandBuffer,
        from: vk::PipelineStageFlags,
        to: vk::PipelineStageFlags,
    ) {
        let mut read = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        if to.contains(vk::PipelineStageFlags::HOST) {
            read |= vk::AccessFlags::HOST_READ;
        }
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(read);
        let none = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording, and a compute queue has all of these stages.
        unsafe {
            self.device.raw.cmd_pipeline_barrier(buffer, from, to, none, &[barrier], &[], &[])
        }
    }

    fn stamp(&self, buffer: vk::CommandBuffer, query: u32) {
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is recording outside of a render pass; the pool has two
        // queries.
        unsafe {
            if query == 0 {
                self.device.raw.cmd_reset_query_pool(buffer, self.queries, 0, 2);
            }
            self.device.raw.cmd_write_timestamp(buffer, stage, self.queries, query);
        }
    }

    fn submit(&self, step: &Step) -> Result<(), CallFailure> {
        let buffers = [step.buffer];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: the fence is unsignalled and not pending; the command buffer is complete and not
        // pending.
        unsafe { self.device.raw.queue_submit(self.device.queue, &[submit], step.fence) }
            .map_err(during("vkQueueSubmit"))
    }

    /// Whether a submitted step ends within a time; the greatest: as long as it takes.
    fn wait(&self, step: &Step, patience: Duration) -> Result<bool, CallFailure> {
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence is alive.
        match unsafe { self.device.raw.wait_for_fences(&[step.fence], true, nanoseconds) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(during("vkWaitForFences")(result)),
        }
    }

    /// Milliseconds between the two timestamps (Vulkan specification, "Timestamp Queries").
    fn span(&self) -> Result<f64, CallFailure> {
        let mut stamps = [0_u64; 2];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both queries were written by the work that has ended.
        unsafe { self.device.raw.get_query_pool_results(self.queries, 0, &mut stamps, flags) }
            .map_err(during("vkGetQueryPoolResults"))?;
        let mask = u64::MAX >> (64 - self.device.family.timestamp_bits.clamp(1, 64));
        let steps = stamps[1].wrapping_sub(stamps[0]) & mask;
        Ok(steps as f64 * f64::from(self.device.identity.limits.timestamp_period) * 1e-6)
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending; a null handle is allowed.
        unsafe { self.device.raw.destroy_query_pool(self.queries, None) }
    }
}
