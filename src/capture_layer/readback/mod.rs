//! Contents that dispatches are given, read on the device in front of each.
//!
//! Knows: what is bound for a dispatch while it is recorded (`objects`, `recorded`, `bound_places`),
//! which follows from the records of the program's calls. Copies of it into memory of the layer's own
//! (`memory`) are planned (`planner`), stand in front of the dispatch in its command buffer (`copies`),
//! and become records once the submission is complete (`submissions`).
//! Promises: without contents nothing of this happens. What the layer adds is never recorded as the
//! program's. It waits for nothing but what the program was told to be complete, writes nothing of the
//! program's, and what it cannot read safely is named with its reason. Where something fails here,
//! reading ends for good and the program goes on.
//! Does not cover: secondary command buffers, device addresses, bindings that may be written after
//! they are bound.

mod bound_places;
mod copies;
mod memory;
mod objects;
mod planner;
mod reader;
mod recorded;
mod submissions;
#[cfg(test)]
mod tests;
mod usage;
mod uses;

pub(crate) use submissions::Told;
pub(crate) use usage::ReadableCreation;

use crate::chain::handle;
use crate::device_table::{DeviceTable, device_of};
use crate::recorder::{is_recording, record_all};
use ash::vk;
use reader::Reader;
use recorded::Level;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use submissions::Pending;
use vkcert_capture::event::Event;
use vkcert_capture::value::Handle;

/// Whether contents are asked for and nothing failed.
static READING: AtomicBool = AtomicBool::new(false);

/// Set in a process that was forked while a lock of this module was held.
static UNUSABLE: AtomicBool = AtomicBool::new(false);

static READER: Mutex<Option<Reader>> = Mutex::new(None);

/// Held while submissions are waited for and recorded. It is locked before the recorder and `READER`,
/// and never by who holds one of these.
static COLLECTING: Mutex<()> = Mutex::new(());

/// Begins to read.
pub(crate) fn turn_on() {
    if !UNUSABLE.load(Ordering::Acquire) {
        *reader() = Some(Reader::default());
        READING.store(true, Ordering::Release);
    }
}

/// Ends reading for good: a record was lost, or something failed.
pub(crate) fn turn_off() {
    READING.store(false, Ordering::Release);
}

/// Forgets all: in a process that was forked no device is there.
pub(crate) fn forget() {
    turn_off();
    match (READER.try_lock(), COLLECTING.try_lock()) {
        // Objects of the device are not this process's to destroy.
        (Ok(mut reader), Ok(_)) => *reader = None,
        _ => UNUSABLE.store(true, Ordering::Release),
    }
}

fn is_on() -> bool {
    READING.load(Ordering::Acquire) && is_recording()
}

fn reader() -> MutexGuard<'static, Option<Reader>> {
    READER.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Does something where contents are read; where it fails, nothing is read any more.
fn guarded<T>(action: impl FnOnce() -> Option<T>) -> Option<T> {
    if !is_on() {
        return None;
    }
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|_| {
        turn_off();
        None
    })
}

/// Takes notice of a record. The recorder is held.
pub(crate) fn take(record: u64, event: &Event) {
    if matches!(event, Event::Lost(_)) {
        turn_off();
    }
    guarded(|| {
        reader().as_mut()?.take(record, event);
        Some(())
    });
}

/// How a buffer is made so that it can be read.
pub(crate) fn readable_buffer<'a>(
    create: &vk::BufferCreateInfo<'a>,
) -> ReadableCreation<vk::BufferCreateInfo<'a>> {
    guarded(|| Some(usage::readable_buffer(create))).unwrap_or(ReadableCreation::AsAsked)
}

/// How an image is made so that it can be read.
///
/// # Safety
/// The create info is a valid parameter of vkCreateImage of the device.
pub(crate) unsafe fn readable_image<'a>(
    device: vk::Device,
    create: &vk::ImageCreateInfo<'a>,
) -> ReadableCreation<vk::ImageCreateInfo<'a>> {
    guarded(|| device_of(device).map(|table| unsafe { usage::readable_image(table, create) }))
        .unwrap_or(ReadableCreation::AsAsked)
}

/// Notes that a buffer or an image is not read.
pub(crate) fn note_unread(resource: Handle, reason: &str) {
    guarded(|| {
        reader().as_mut()?.objects.refusals.insert(resource, reason.to_owned());
        Some(())
    });
}

/// Notes that command buffers are executed by others.
pub(crate) fn note_secondary(command_buffers: &[vk::CommandBuffer]) {
    guarded(|| {
        let mut reader = reader();
        let recorded = &mut reader.as_mut()?.recorded;
        for made in command_buffers {
            if let Some(recorded) = recorded.get_mut(&handle(*made)) {
                recorded.level = Level::Secondary;
            }
        }
        Some(())
    });
}

/// Notes whether command buffers of a pool are protected.
pub(crate) fn note_pool(pool: vk::CommandPool, flags: vk::CommandPoolCreateFlags) {
    guarded(|| {
        let mut reader = reader();
        let protected = &mut reader.as_mut()?.protected_pools;
        match flags.contains(vk::CommandPoolCreateFlags::PROTECTED) {
            true => protected.insert(handle(pool)),
            false => protected.remove(&handle(pool)),
        };
        Some(())
    });
}

/// Records copies of what a dispatch is given, which comes next in a command buffer.
///
/// # Safety
/// A dispatch is valid here. An indirect one reads at the offset of the buffer.
pub(crate) unsafe fn before_dispatch(
    command_buffer: vk::CommandBuffer,
    indirect: Option<(vk::Buffer, u64)>,
) {
    guarded(|| {
        let table = device_of(command_buffer)?;
        let mut reader = reader();
        unsafe { reader.as_mut()?.plan_dispatch(table, command_buffer, indirect) }
    });
}

/// Puts a fence behind a submission that succeeded, if something of it is to be read.
///
/// # Safety
/// Nobody else uses the queue.
pub(crate) unsafe fn submitted(queue: vk::Queue) {
    guarded(|| {
        let table = device_of(queue)?;
        let announced = reader().as_mut()?.announced_plan(handle(queue))?;
        let (create, none) = (vk::FenceCreateInfo::default(), std::ptr::null());
        let (create_fence, submit) = (table.functions.create_fence?, table.functions.submit?);
        let mut own_fence = vk::Fence::null();
        let made = unsafe { create_fence(table.device, &create, none, &mut own_fence) };
        if made != vk::Result::SUCCESS {
            return None;
        }
        let pending = Pending { table, queue: handle(queue), own_fence, announced };
        match unsafe { submit(queue, 0, std::ptr::null(), own_fence) } {
            vk::Result::SUCCESS => reader().as_mut()?.pending.push(pending),
            _ => unsafe { pending.destroy() },
        }
        Some(())
    });
}

/// Records what was read of submissions that are complete.
///
/// # Safety
/// What the program was told is so.
pub(crate) unsafe fn collect(device: vk::Device, told: &Told<'_>) {
    guarded(|| {
        let table = device_of(device)?;
        let _collecting = COLLECTING.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let own = |pending: &mut Pending| pending.table.device == table.device;
        let candidates: Vec<Pending> = reader().as_mut()?.pending.extract_if(.., own).collect();
        for pending in candidates {
            if unsafe { pending.is_complete(pending.most_wait(told)) } {
                let events = {
                    let mut reader = reader();
                    let Reader { recorded, written, .. } = reader.as_mut()?;
                    unsafe { pending.events(recorded, written) }
                };
                unsafe { pending.destroy() };
                record_all(|_| events);
            } else {
                reader().as_mut()?.pending.push(pending);
            }
        }
        Some(())
    });
}

/// The same for command buffers that are to be recorded, submitted, reset or freed.
///
/// # Safety
/// The device does not use them.
pub(crate) unsafe fn collect_of(command_buffers: &[Handle], device: vk::Device) {
    unsafe { collect(device, &Told::CommandBuffers(command_buffers)) };
}

/// The same for the command buffers of a pool.
///
/// # Safety
/// The device does not use them.
pub(crate) unsafe fn collect_of_pool(device: vk::Device, pool: vk::CommandPool) {
    let of_pool = guarded(|| {
        let reader = reader();
        let recorded = reader.as_ref()?.recorded.iter();
        let own = recorded.filter(|(_, recorded)| recorded.pool == handle(pool));
        Some(own.map(|(handle, _)| *handle).collect::<Vec<Handle>>())
    });
    if let Some(of_pool) = of_pool {
        unsafe { collect_of(&of_pool, device) };
    }
}

/// Destroys what the layer made of a device.
///
/// # Safety
/// The program destroys the device next.
pub(crate) unsafe fn destroy_own(table: &'static DeviceTable) {
    unsafe { collect(table.device, &Told::Device) };
    let destroyed = catch_unwind(AssertUnwindSafe(|| {
        let mut reader = reader();
        let Some(reader) = reader.as_mut() else { return };
        let own = |pending: &mut Pending| pending.table.device == table.device;
        for pending in reader.pending.extract_if(.., own) {
            unsafe { pending.destroy() };
        }
        let mut own_memory = reader.own_memory.remove(&handle(table.device)).unwrap_or_default();
        for recorded in reader.recorded.values_mut() {
            if recorded.device == handle(table.device) {
                own_memory.take_back(std::mem::take(&mut recorded.plan).staging);
            }
        }
        unsafe { own_memory.destroy(table) };
    }));
    drop(destroyed);
}
