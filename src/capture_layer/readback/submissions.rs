//! Submissions whose readings wait for the device, and the records that they become.
//!
//! Promises: a submission is waited for only where the program was told that it is complete, and then
//! for [`MOST_WAIT`] at most; all others are asked for. Bytes that an earlier record has are not written
//! again.

use super::recorded::{CommandBuffer, PlannedReading, ReadingPlan};
use crate::device_table::DeviceTable;
use ash::vk;
use std::collections::BTreeMap;
use vkcert_capture::event::{
    DispatchContents, DispatchPlace, Event, ReadBytes, Submit, UnreadDispatch,
};
use vkcert_capture::value::{Bytes, Handle};

/// Nanoseconds that a submission which is complete is waited for: the layer's own fence stands just
/// behind it.
pub(super) const MOST_WAIT: u64 = 1_000_000_000;

/// Bytes that are kept to find those that were written before.
const MOST_KEPT_BYTES: usize = 256 << 20;

/// A submission as its record has it.
pub(super) struct Announced {
    pub(super) record: u64,
    pub(super) fence: Handle,
    pub(super) command_buffers: Vec<Handle>,
    /// Whether all of it is one batch, so that what completes a part completes all.
    pub(super) is_one_batch: bool,
}

impl Announced {
    pub(super) fn of(record: u64, submit: &Submit) -> Self {
        let batches = submit.batches.iter();
        let command_buffers = batches.flat_map(|batch| batch.command_buffers.iter().copied());
        let is_one_batch = submit.batches.len() == 1;
        let command_buffers = command_buffers.collect();
        Self { record, fence: submit.fence, command_buffers, is_one_batch }
    }
}

/// A submission that the layer's fence stands behind.
pub(super) struct Pending {
    pub(super) table: &'static DeviceTable,
    pub(super) queue: Handle,
    pub(super) own_fence: vk::Fence,
    pub(super) announced: Announced,
}

/// What the program was told to be complete.
pub(crate) enum Told<'a> {
    Fences(&'a [vk::Fence]),
    Queue(vk::Queue),
    Device,
    /// These command buffers, since they are to be recorded, submitted or destroyed.
    CommandBuffers(&'a [Handle]),
    /// Something whose submissions are not known.
    Something,
}

impl Pending {
    /// How long to wait for it.
    pub(super) fn most_wait(&self, told: &Told<'_>) -> u64 {
        let is_told = match told {
            Told::Fences(fences) => {
                fences.iter().any(|fence| crate::chain::handle(*fence) == self.announced.fence)
            }
            Told::Queue(queue) => crate::chain::handle(*queue) == self.queue,
            Told::Device => true,
            Told::CommandBuffers(handles) => {
                let own = &self.announced.command_buffers;
                let is_own = handles.iter().any(|handle| own.contains(handle));
                is_own && self.announced.is_one_batch
            }
            Told::Something => false,
        };
        if is_told { MOST_WAIT } else { 0 }
    }

    /// Whether the device is done, once so long was waited.
    ///
    /// # Safety
    /// The fence was submitted to the device.
    pub(super) unsafe fn is_complete(&self, wait: u64) -> bool {
        let Some(wait_for) = self.table.functions.wait_for_fences else { return false };
        let result = unsafe { wait_for(self.table.device, 1, &self.own_fence, vk::TRUE, wait) };
        result == vk::Result::SUCCESS
    }

    /// # Safety
    /// The device is done with it, or lost.
    pub(super) unsafe fn destroy(&self) {
        if let Some(destroy) = self.table.functions.destroy_fence {
            unsafe { destroy(self.table.device, self.own_fence, std::ptr::null()) };
        }
    }

    /// Records of what was read.
    ///
    /// # Safety
    /// The submission is complete.
    pub(super) unsafe fn events(
        &self,
        recorded: &BTreeMap<Handle, CommandBuffer>,
        written: &mut WrittenBytes,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for (position, handle) in (0..).zip(&self.announced.command_buffers) {
            let Some(plan) = recorded.get(handle).map(|recorded| &recorded.plan) else { continue };
            let place = |dispatch: u32| DispatchPlace {
                submission: self.announced.record,
                command_buffer: position,
                dispatch,
            };
            for reading in &plan.readings {
                let source = reading.source;
                let bytes = unsafe { written.bytes_of(plan, reading) };
                let place = place(reading.dispatch);
                events.push(Event::DispatchContents(DispatchContents { place, source, bytes }));
            }
            for (dispatch, reason) in &plan.unread {
                let (place, reason) = (place(*dispatch), reason.clone());
                events.push(Event::UnreadDispatch(UnreadDispatch { place, reason }));
            }
        }
        events
    }
}

/// A resource, a place in it and a number of bytes.
type Subject = ((Handle, u64), u64);

/// Bytes that records have, by what they were read of last.
#[derive(Default)]
pub(super) struct WrittenBytes {
    next: u64,
    kept_bytes: usize,
    last: BTreeMap<Subject, (u64, Vec<u8>)>,
}

impl WrittenBytes {
    unsafe fn bytes_of(&mut self, plan: &ReadingPlan, reading: &PlannedReading) -> ReadBytes {
        let staging = &plan.staging[reading.staging];
        let bytes = unsafe { staging.bytes(reading.offset, reading.size) };
        let subject = (reading.subject, reading.size);
        if let Some((number, known)) = self.last.get(&subject)
            && known == bytes
        {
            return ReadBytes::Again(*number);
        }
        let number = self.next;
        self.next += 1;
        if self.kept_bytes + bytes.len() > MOST_KEPT_BYTES {
            self.last.clear();
            self.kept_bytes = 0;
        }
        self.kept_bytes += bytes.len();
        let earlier = self.last.insert(subject, (number, bytes.to_vec()));
        self.kept_bytes -= earlier.map_or(0, |(_, bytes)| bytes.len());
        ReadBytes::New(number, Bytes(bytes.to_vec()))
    }
}
