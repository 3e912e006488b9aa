//! Submissions, fences, semaphores and waits.

use super::memory::changed_contents;
use super::{record_destroyed, record_unsupported};
use crate::chain::{elements, handle, in_chain, unread_structures};
use crate::device_table::{below, device_of};
use crate::readback::{self, Told};
use crate::recorder::{flush, record, record_all};
use ash::vk;
use vkcert_capture::event::{
    Batch, Event, ObjectKind, OpenEffect, Semaphore, SemaphoreUse, SemaphoreValue, Submit,
};
use vkcert_capture::value::Handle;

type Allocator<'a> = *const vk::AllocationCallbacks<'a>;

pub(crate) unsafe extern "system" fn create_fence(
    device: vk::Device,
    create: *const vk::FenceCreateInfo<'_>,
    allocator: Allocator<'_>,
    fence: *mut vk::Fence,
) -> vk::Result {
    let below = below!(device, create_fence, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, fence) };
    if result == vk::Result::SUCCESS {
        record(|| Event::Fence(handle(unsafe { *fence })));
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_fence(
    device: vk::Device,
    fence: vk::Fence,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_fence);
    record_destroyed(ObjectKind::Fence, fence);
    unsafe { below(device, fence, allocator) }
}

pub(crate) unsafe extern "system" fn reset_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
) -> vk::Result {
    let below = below!(device, reset_fences, vk::Result::ERROR_UNKNOWN);
    record(|| {
        let fences = unsafe { elements(fences, count) };
        Event::ResetFences(fences.iter().map(|fence| handle(*fence)).collect())
    });
    unsafe { below(device, count, fences) }
}

pub(crate) unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    wait_for_all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    let below = below!(device, wait_for_fences, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, count, fences, wait_for_all, timeout) };
    let told = unsafe { elements(fences, count) };
    // Of several fences one of which is waited for, it is not told which one is signaled.
    if result == vk::Result::SUCCESS && (wait_for_all != vk::FALSE || count == 1) {
        record(|| Event::FencesSignaled(told.iter().map(|fence| handle(*fence)).collect()));
        unsafe { readback::collect(device, &Told::Fences(told)) };
    }
    result
}

pub(crate) unsafe extern "system" fn fence_status(
    device: vk::Device,
    fence: vk::Fence,
) -> vk::Result {
    let below = below!(device, fence_status, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, fence) };
    if result == vk::Result::SUCCESS {
        record(|| Event::FencesSignaled(vec![handle(fence)]));
        unsafe { readback::collect(device, &Told::Fences(&[fence])) };
    }
    result
}

pub(crate) unsafe extern "system" fn create_semaphore(
    device: vk::Device,
    create: *const vk::SemaphoreCreateInfo<'_>,
    allocator: Allocator<'_>,
    semaphore: *mut vk::Semaphore,
) -> vk::Result {
    let below = below!(device, create_semaphore, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, create, allocator, semaphore) };
    if result == vk::Result::SUCCESS {
        record(|| {
            let kind = unsafe {
                in_chain::<vk::SemaphoreTypeCreateInfo<'_>>(
                    (*create).p_next,
                    vk::StructureType::SEMAPHORE_TYPE_CREATE_INFO,
                )
            };
            let timeline = kind
                .filter(|kind| kind.semaphore_type == vk::SemaphoreType::TIMELINE)
                .map(|kind| kind.initial_value);
            Event::Semaphore(Semaphore { semaphore: handle(unsafe { *semaphore }), timeline })
        });
    }
    result
}

pub(crate) unsafe extern "system" fn destroy_semaphore(
    device: vk::Device,
    semaphore: vk::Semaphore,
    allocator: Allocator<'_>,
) {
    let below = below!(device, destroy_semaphore);
    record_destroyed(ObjectKind::Semaphore, semaphore);
    unsafe { below(device, semaphore, allocator) }
}

pub(crate) unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    wait: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    let below = below!(device, wait_semaphores, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, wait, timeout) };
    if let Some(wait) = unsafe { wait.as_ref() }
        && result == vk::Result::SUCCESS
        && (!wait.flags.contains(vk::SemaphoreWaitFlags::ANY) || wait.semaphore_count == 1)
    {
        record(|| {
            let semaphores = unsafe { elements(wait.p_semaphores, wait.semaphore_count) };
            let values = unsafe { elements(wait.p_values, wait.semaphore_count) };
            let pairs = semaphores.iter().zip(values);
            let reached = pairs.map(|(semaphore, value)| SemaphoreValue {
                semaphore: handle(*semaphore),
                value: *value,
            });
            Event::SemaphoresReached(reached.collect())
        });
        unsafe { readback::collect(device, &Told::Something) };
    }
    result
}

pub(crate) unsafe extern "system" fn signal_semaphore(
    device: vk::Device,
    signal: *const vk::SemaphoreSignalInfo<'_>,
) -> vk::Result {
    let below = below!(device, signal_semaphore, vk::Result::ERROR_UNKNOWN);
    if let Some(signal) = unsafe { signal.as_ref() } {
        let (semaphore, value) = (handle(signal.semaphore), signal.value);
        record(|| Event::SemaphoreSignaled(SemaphoreValue { semaphore, value }));
    }
    unsafe { below(device, signal) }
}

pub(crate) unsafe extern "system" fn semaphore_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    let below = below!(device, semaphore_value, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device, semaphore, value) };
    if let Some(value) = unsafe { value.as_ref() }
        && result == vk::Result::SUCCESS
    {
        let reached = SemaphoreValue { semaphore: handle(semaphore), value: *value };
        record(|| Event::SemaphoresReached(vec![reached]));
        unsafe { readback::collect(device, &Told::Something) };
    }
    result
}

pub(crate) unsafe extern "system" fn submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let below = below!(queue, submit, vk::Result::ERROR_UNKNOWN);
    let batches = unsafe { elements(submits, count) }.iter();
    let executed = batches
        .flat_map(|batch| unsafe { elements(batch.p_command_buffers, batch.command_buffer_count) });
    unsafe { collect_of(queue, executed.map(|executed| handle(*executed)).collect()) };
    record_all(|mode| {
        let submits = unsafe { elements(submits, count) };
        let mut events = changed_contents(mode, None);
        for submit in submits {
            let read = [vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO];
            events.extend(unsafe { unread_structures(submit.p_next, "vkQueueSubmit", &read) });
        }
        let batches = submits.iter().map(|submit| unsafe { recorded_batch(submit) }).collect();
        let (queue, fence) = (handle(queue), handle(fence));
        events.push(Event::Submit(Submit { queue, fence, batches }));
        events
    });
    flush();
    let result = unsafe { below(queue, count, submits, fence) };
    unsafe { note_result(queue, result) };
    result
}

unsafe fn recorded_batch(submit: &vk::SubmitInfo<'_>) -> Batch {
    let waits = unsafe { elements(submit.p_wait_semaphores, submit.wait_semaphore_count) };
    let stages = unsafe { elements(submit.p_wait_dst_stage_mask, submit.wait_semaphore_count) };
    let signals = unsafe { elements(submit.p_signal_semaphores, submit.signal_semaphore_count) };
    let executed = unsafe { elements(submit.p_command_buffers, submit.command_buffer_count) };
    let timeline = unsafe {
        in_chain::<vk::TimelineSemaphoreSubmitInfo<'_>>(
            submit.p_next,
            vk::StructureType::TIMELINE_SEMAPHORE_SUBMIT_INFO,
        )
    };
    let (wait_values, signal_values) = timeline.map_or((&[][..], &[][..]), |timeline| unsafe {
        (
            elements(timeline.p_wait_semaphore_values, timeline.wait_semaphore_value_count),
            elements(timeline.p_signal_semaphore_values, timeline.signal_semaphore_value_count),
        )
    });
    let all = u64::from(vk::PipelineStageFlags::ALL_COMMANDS.as_raw());
    let stage_of = |index: usize| stages.get(index).map_or(all, |stage| u64::from(stage.as_raw()));
    let semaphore_use = |semaphore: vk::Semaphore, value: Option<&u64>, stages: u64| SemaphoreUse {
        semaphore: handle(semaphore),
        value: value.copied().unwrap_or(0),
        stages,
    };
    let waits = waits.iter().enumerate().map(|(index, semaphore)| {
        semaphore_use(*semaphore, wait_values.get(index), stage_of(index))
    });
    let signals = signals
        .iter()
        .enumerate()
        .map(|(index, semaphore)| semaphore_use(*semaphore, signal_values.get(index), all));
    Batch {
        waits: waits.collect(),
        command_buffers: executed.iter().map(|executed| handle(*executed)).collect(),
        signals: signals.collect(),
    }
}

pub(crate) unsafe extern "system" fn submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let below = below!(queue, submit2, vk::Result::ERROR_UNKNOWN);
    let batches = unsafe { elements(submits, count) }.iter();
    let executed = batches.flat_map(|batch| unsafe {
        elements(batch.p_command_buffer_infos, batch.command_buffer_info_count)
    });
    unsafe { collect_of(queue, executed.map(|info| handle(info.command_buffer)).collect()) };
    record_all(|mode| {
        let submits = unsafe { elements(submits, count) };
        let mut events = changed_contents(mode, None);
        for submit in submits {
            events.extend(unsafe { unread_structures(submit.p_next, "vkQueueSubmit2", &[]) });
        }
        let batches = submits.iter().map(|submit| unsafe { recorded_batch2(submit) }).collect();
        let (queue, fence) = (handle(queue), handle(fence));
        events.push(Event::Submit(Submit { queue, fence, batches }));
        events
    });
    flush();
    let result = unsafe { below(queue, count, submits, fence) };
    unsafe { note_result(queue, result) };
    result
}

unsafe fn recorded_batch2(submit: &vk::SubmitInfo2<'_>) -> Batch {
    let uses = |infos: &[vk::SemaphoreSubmitInfo<'_>]| {
        let recorded = infos.iter().map(|info| SemaphoreUse {
            semaphore: handle(info.semaphore),
            value: info.value,
            stages: info.stage_mask.as_raw(),
        });
        recorded.collect()
    };
    let executed =
        unsafe { elements(submit.p_command_buffer_infos, submit.command_buffer_info_count) };
    Batch {
        waits: uses(unsafe {
            elements(submit.p_wait_semaphore_infos, submit.wait_semaphore_info_count)
        }),
        command_buffers: executed.iter().map(|info| handle(info.command_buffer)).collect(),
        signals: uses(unsafe {
            elements(submit.p_signal_semaphore_infos, submit.signal_semaphore_info_count)
        }),
    }
}

/// Records what was read of command buffers when they were submitted before.
unsafe fn collect_of(queue: vk::Queue, command_buffers: Vec<Handle>) {
    if let Some(table) = device_of(queue) {
        unsafe { readback::collect_of(&command_buffers, table.device) };
    }
}

/// A submission is recorded before it is made; one that is refused is taken back.
unsafe fn note_result(queue: vk::Queue, result: vk::Result) {
    if result == vk::Result::SUCCESS {
        unsafe { readback::submitted(queue) };
    } else {
        record(|| Event::SubmitFailed(handle(queue)));
    }
}

pub(crate) unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    let below = below!(queue, queue_wait_idle, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(queue) };
    if result == vk::Result::SUCCESS {
        record(|| Event::QueueIdle(handle(queue)));
        if let Some(table) = device_of(queue) {
            unsafe { readback::collect(table.device, &Told::Queue(queue)) };
        }
    }
    result
}

pub(crate) unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    let below = below!(device, device_wait_idle, vk::Result::ERROR_UNKNOWN);
    let result = unsafe { below(device) };
    if result == vk::Result::SUCCESS {
        record(|| Event::DeviceIdle(handle(device)));
        unsafe { readback::collect(device, &Told::Device) };
    }
    result
}

pub(crate) unsafe extern "system" fn bind_sparse(
    queue: vk::Queue,
    count: u32,
    binds: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    let below = below!(queue, bind_sparse, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkQueueBindSparse", OpenEffect::Order);
    unsafe { below(queue, count, binds, fence) }
}

pub(crate) unsafe extern "system" fn present(
    queue: vk::Queue,
    present: *const vk::PresentInfoKHR<'_>,
) -> vk::Result {
    let below = below!(queue, present, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkQueuePresentKHR", OpenEffect::Order);
    unsafe { below(queue, present) }
}

pub(crate) unsafe extern "system" fn acquire_image(
    device: vk::Device,
    swapchain: vk::SwapchainKHR,
    timeout: u64,
    semaphore: vk::Semaphore,
    fence: vk::Fence,
    index: *mut u32,
) -> vk::Result {
    let below = below!(device, acquire_image, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkAcquireNextImageKHR", OpenEffect::Order);
    unsafe { below(device, swapchain, timeout, semaphore, fence, index) }
}

pub(crate) unsafe extern "system" fn set_event(device: vk::Device, event: vk::Event) -> vk::Result {
    let below = below!(device, set_event, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkSetEvent", OpenEffect::Order);
    unsafe { below(device, event) }
}

pub(crate) unsafe extern "system" fn import_semaphore(
    device: vk::Device,
    import: *const vk::ImportSemaphoreFdInfoKHR<'_>,
) -> vk::Result {
    let below = below!(device, import_semaphore, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkImportSemaphoreFdKHR", OpenEffect::Order);
    unsafe { below(device, import) }
}

pub(crate) unsafe extern "system" fn import_fence(
    device: vk::Device,
    import: *const vk::ImportFenceFdInfoKHR<'_>,
) -> vk::Result {
    let below = below!(device, import_fence, vk::Result::ERROR_UNKNOWN);
    record_unsupported("vkImportFenceFdKHR", OpenEffect::Order);
    unsafe { below(device, import) }
}
