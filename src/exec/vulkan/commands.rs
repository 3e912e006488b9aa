//! Recording, submitting and waiting for dispatches.
//!
//! Knows: the barriers that make everything written before a dispatch visible to it, and its writes
//! to what follows.
//! Promises: when [`Commands::run`] or [`Commands::follow`] returns, every dispatch has ended and
//! the host may read.
//! Does not cover: how long that may take: the wait has no limit, the parent has (`process`).

use super::device::{CallFailure, Device, during};
use super::image::Copying;
use super::memory::{BufferStorage, RestoredBuffer};
use super::pipeline::Pipeline;
use super::protocol::WireTime;
use super::resources::JobResources;
use ash::vk;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// One dispatch, ready to be recorded.
pub(crate) struct RecordedDispatch {
    pub pipeline: Rc<Pipeline>,
    pub sets: Vec<vk::DescriptorSet>,
    pub dynamic_offsets: Vec<u32>,
    pub push_constants: Vec<u8>,
    pub groups: [u32; 3],
}

/// After so long without an end, somebody may want to know where the device is.
const FIRST_WAIT: Duration = Duration::from_millis(10);

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
pub(crate) struct RecordedStep {
    command_buffer: vk::CommandBuffer,
    fence: vk::Fence,
    command_pool: Rc<CommandPool>,
}

impl RecordedStep {
    fn allocate(pool: &Rc<CommandPool>) -> Result<Self, CallFailure> {
        let mut new_step = Self {
            command_buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            command_pool: Rc::clone(pool),
        };
        let raw = &pool.device.raw;
        let allocate_info =
            vk::CommandBufferAllocateInfo::default().command_pool(pool.raw).command_buffer_count(1);
        // SAFETY: the pool is alive.
        let command_buffers = unsafe { raw.allocate_command_buffers(&allocate_info) }
            .map_err(during("vkAllocateCommandBuffers"))?;
        new_step.command_buffer = command_buffers.first().copied().unwrap_or_default();
        // SAFETY: the device is open.
        new_step.fence = unsafe { raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(during("vkCreateFence"))?;
        Ok(new_step)
    }
}

impl Drop for RecordedStep {
    fn drop(&mut self) {
        // SAFETY: the buffer is not pending; null handles are allowed.
        unsafe {
            self.command_pool.device.raw.destroy_fence(self.fence, None);
            self.command_pool
                .device
                .raw
                .free_command_buffers(self.command_pool.raw, &[self.command_buffer]);
        }
    }
}

/// The copies of a pass's images.
pub(crate) type ImageCopies<'a> = Option<(&'a JobResources, &'a BufferStorage, Copying)>;

pub(crate) struct Commands {
    /// For what is recorded and run at once.
    single_step: RecordedStep,
    command_pool: Rc<CommandPool>,
    /// Null where the queue has no timestamps.
    query_pool: vk::QueryPool,
    device: Rc<Device>,
}

impl Commands {
    pub(crate) fn new(device: &Rc<Device>) -> Result<Self, CallFailure> {
        let raw = &device.raw;
        let pool_flags = vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER;
        let create_info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(device.family.index)
            .flags(pool_flags);
        // SAFETY: the device is open and the family is the one its queue was created in.
        let command_pool = unsafe { raw.create_command_pool(&create_info, None) }
            .map_err(during("vkCreateCommandPool"))?;
        let command_pool = Rc::new(CommandPool { raw: command_pool, device: Rc::clone(device) });
        let single = RecordedStep::allocate(&command_pool)?;
        let mut commands = Self {
            single_step: single,
            command_pool,
            query_pool: vk::QueryPool::null(),
            device: Rc::clone(device),
        };
        if device.family.timestamp_bits > 0 {
            let pool_info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2);
            // SAFETY: the device is open and its queue has timestamps.
            commands.query_pool = unsafe { raw.create_query_pool(&pool_info, None) }
                .map_err(during("vkCreateQueryPool"))?;
        }
        Ok(commands)
    }

    /// A step of one dispatch, with what is copied before and after it.
    pub(crate) fn record_step(
        &self,
        dispatch: &RecordedDispatch,
        copies_before: ImageCopies,
        copies_after: ImageCopies,
    ) -> Result<RecordedStep, CallFailure> {
        let new_step = RecordedStep::allocate(&self.command_pool)?;
        self.begin_recording(new_step.command_buffer, vk::CommandBufferUsageFlags::empty())?;
        self.record_copies(new_step.command_buffer, copies_before);
        self.record_dispatch(new_step.command_buffer, dispatch);
        self.record_copies(new_step.command_buffer, copies_after);
        self.end_recording(new_step.command_buffer)?;
        Ok(new_step)
    }

    /// Submits steps in order and waits for all of them; `late` is told which one keeps the host
    /// waiting, unless it is the first. A failure comes with the step that it came in.
    pub(crate) fn submit_and_finish(
        &self,
        steps: &[&RecordedStep],
        on_late_step: &mut dyn FnMut(usize),
    ) -> Result<(), (usize, CallFailure)> {
        self.submit_and_wait(steps, on_late_step).inspect_err(|_| {
            // What was submitted may be pending still. That the device is lost is known.
            // SAFETY: the device is open, and its queue is used by this line of execution alone.
            let _ = unsafe { self.device.raw.device_wait_idle() };
        })
    }

    fn submit_and_wait(
        &self,
        steps: &[&RecordedStep],
        on_late_step: &mut dyn FnMut(usize),
    ) -> Result<(), (usize, CallFailure)> {
        for (step_index, step) in steps.iter().enumerate() {
            self.submit_step(step).map_err(|failure| (step_index, failure))?;
        }
        // Most are over in no time: then one look at the last does for all.
        let all_over = match steps {
            [] | [_] => false,
            [.., last_step] => self
                .wait_for_fence(last_step, FIRST_WAIT)
                .map_err(|failure| (steps.len() - 1, failure))?,
        };
        for (step_index, step) in steps.iter().enumerate().filter(|_| !all_over) {
            if step_index > 0
                && !self
                    .wait_for_fence(step, Duration::ZERO)
                    .map_err(|failure| (step_index, failure))?
            {
                on_late_step(step_index);
            }
            self.wait_for_fence(step, Duration::MAX).map_err(|failure| (step_index, failure))?;
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
    pub(crate) fn run_timed(
        &mut self,
        restored_buffers: &[RestoredBuffer],
        dispatch: &RecordedDispatch,
    ) -> Result<WireTime, CallFailure> {
        let has_timestamps = self.query_pool != vk::QueryPool::null();
        let command_buffer = self.single_step.command_buffer;
        self.begin_recording(command_buffer, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        for RestoredBuffer { source_buffer, target_buffer, bytes } in restored_buffers {
            let copy_region = vk::BufferCopy::default().size(*bytes);
            // SAFETY: both buffers are alive, have the transfer usages and at least so many bytes,
            // and are not the same.
            unsafe {
                self.device.raw.cmd_copy_buffer(
                    command_buffer,
                    *source_buffer,
                    *target_buffer,
                    &[copy_region],
                )
            };
        }
        if has_timestamps {
            self.write_timestamp(command_buffer, 0);
        }
        self.record_dispatch(command_buffer, dispatch);
        if has_timestamps {
            self.write_timestamp(command_buffer, 1);
        }
        self.end_recording(command_buffer)?;
        let start_time = Instant::now();
        self.submit_and_finish(&[&self.single_step], &mut |_| {})
            .map_err(|(_, failure)| failure)?;
        let wall_milliseconds = start_time.elapsed().as_secs_f64() * 1e3;
        Ok(WireTime {
            wall: wall_milliseconds,
            device: if has_timestamps { Some(self.elapsed_milliseconds()?) } else { None },
        })
    }

    /// Copies all images from or into their buffers; the host may write before and read after.
    pub(crate) fn copy_images(
        &mut self,
        resources: &JobResources,
        storage: &BufferStorage,
        copying: Copying,
    ) -> Result<(), CallFailure> {
        if !resources.has_images() {
            return Ok(());
        }
        self.begin_recording(
            self.single_step.command_buffer,
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
        )?;
        self.record_copies(self.single_step.command_buffer, Some((resources, storage, copying)));
        self.end_recording(self.single_step.command_buffer)?;
        self.submit_and_finish(&[&self.single_step], &mut |_| {}).map_err(|(_, failure)| failure)
    }

    /// Makes a buffer empty and lets it be recorded.
    fn begin_recording(
        &self,
        command_buffer: vk::CommandBuffer,
        usage_flags: vk::CommandBufferUsageFlags,
    ) -> Result<(), CallFailure> {
        let begin_info = vk::CommandBufferBeginInfo::default().flags(usage_flags);
        // SAFETY: the buffer is not pending (see `Step`), and its pool lets single buffers be
        // reset.
        unsafe { self.device.raw.begin_command_buffer(command_buffer, &begin_info) }
            .map_err(during("vkBeginCommandBuffer"))
    }

    fn end_recording(&self, command_buffer: vk::CommandBuffer) -> Result<(), CallFailure> {
        // SAFETY: the command buffer is recording.
        unsafe { self.device.raw.end_command_buffer(command_buffer) }
            .map_err(during("vkEndCommandBuffer"))
    }

    fn record_copies(&self, command_buffer: vk::CommandBuffer, copies: ImageCopies) {
        let Some((resources, storage, copying)) = copies else { return };
        resources.record_copies(command_buffer, storage, copying);
        let all_stages = vk::PipelineStageFlags::ALL_COMMANDS;
        self.record_barrier(command_buffer, all_stages, all_stages | vk::PipelineStageFlags::HOST);
    }

    fn record_dispatch(&self, command_buffer: vk::CommandBuffer, dispatch: &RecordedDispatch) {
        let raw = &self.device.raw;
        let layout = dispatch.pipeline.layout.raw;
        let bind_point = vk::PipelineBindPoint::COMPUTE;
        let [x, y, z] = dispatch.groups;
        self.record_barrier(
            command_buffer,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::COMPUTE_SHADER,
        );
        // SAFETY: the command buffer is recording; pipeline, layout and sets are alive and belong
        // together (`session` builds all three from one `fit::Layout`); push constants lie in the
        // layout's range.
        unsafe {
            raw.cmd_bind_pipeline(command_buffer, bind_point, dispatch.pipeline.raw);
            if !dispatch.sets.is_empty() {
                let dynamic_offsets = &dispatch.dynamic_offsets;
                raw.cmd_bind_descriptor_sets(
                    command_buffer,
                    bind_point,
                    layout,
                    0,
                    &dispatch.sets,
                    dynamic_offsets,
                );
            }
            if !dispatch.push_constants.is_empty() {
                let shader_stages = vk::ShaderStageFlags::COMPUTE;
                raw.cmd_push_constants(
                    command_buffer,
                    layout,
                    shader_stages,
                    0,
                    &dispatch.push_constants,
                );
            }
            raw.cmd_dispatch(command_buffer, x, y, z);
        }
        let stages_after = vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST;
        self.record_barrier(command_buffer, vk::PipelineStageFlags::COMPUTE_SHADER, stages_after);
    }

    /// A full memory barrier between two stages. What the host wrote before a submission is visible
    /// to it without one (Vulkan specification, "Host Write Ordering Guarantees").
    fn record_barrier(
        &self,
        command_buffer: vk::CommandBuffer,
        source_stages: vk::PipelineStageFlags,
        target_stages: vk::PipelineStageFlags,
    ) {
        let mut target_access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        if target_stages.contains(vk::PipelineStageFlags::HOST) {
            target_access |= vk::AccessFlags::HOST_READ;
        }
        let memory_barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(target_access);
        let no_dependency = vk::DependencyFlags::empty();
        // SAFETY: the command buffer is recording, and a compute queue has all of these stages.
        unsafe {
            self.device.raw.cmd_pipeline_barrier(
                command_buffer,
                source_stages,
                target_stages,
                no_dependency,
                &[memory_barrier],
                &[],
                &[],
            )
        }
    }

    fn write_timestamp(&self, command_buffer: vk::CommandBuffer, query_index: u32) {
        let all_stages = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the command buffer is recording outside of a render pass; the pool has two
        // queries.
        unsafe {
            if query_index == 0 {
                self.device.raw.cmd_reset_query_pool(command_buffer, self.query_pool, 0, 2);
            }
            self.device.raw.cmd_write_timestamp(
                command_buffer,
                all_stages,
                self.query_pool,
                query_index,
            );
        }
    }

    fn submit_step(&self, step: &RecordedStep) -> Result<(), CallFailure> {
        let command_buffers = [step.command_buffer];
        let submit_info = vk::SubmitInfo::default().command_buffers(&command_buffers);
        // SAFETY: the fence is unsignalled and not pending; the command buffer is complete and not
        // pending.
        unsafe { self.device.raw.queue_submit(self.device.queue, &[submit_info], step.fence) }
            .map_err(during("vkQueueSubmit"))
    }

    /// Whether a submitted step ends within a time; the greatest: as long as it takes.
    fn wait_for_fence(
        &self,
        step: &RecordedStep,
        wait_limit: Duration,
    ) -> Result<bool, CallFailure> {
        let nanoseconds = u64::try_from(wait_limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence is alive.
        match unsafe { self.device.raw.wait_for_fences(&[step.fence], true, nanoseconds) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(during("vkWaitForFences")(result)),
        }
    }

    /// Milliseconds between the two timestamps (Vulkan specification, "Timestamp Queries").
    fn elapsed_milliseconds(&self) -> Result<f64, CallFailure> {
        let mut timestamps = [0_u64; 2];
        let result_flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        // SAFETY: both queries were written by the work that has ended.
        unsafe {
            self.device.raw.get_query_pool_results(
                self.query_pool,
                0,
                &mut timestamps,
                result_flags,
            )
        }
        .map_err(during("vkGetQueryPoolResults"))?;
        let valid_bits = u64::MAX >> (64 - self.device.family.timestamp_bits.clamp(1, 64));
        let elapsed_ticks = timestamps[1].wrapping_sub(timestamps[0]) & valid_bits;
        Ok(elapsed_ticks as f64 * f64::from(self.device.identity.limits.timestamp_period) * 1e-6)
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending; a null handle is allowed.
        unsafe { self.device.raw.destroy_query_pool(self.query_pool, None) }
    }
}
