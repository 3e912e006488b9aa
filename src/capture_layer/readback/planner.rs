//! What is read in front of a dispatch, and where it goes.
//!
//! Promises: what exceeds a limit is named, and all else is read.

use super::bound_places::{BoundPlaces, BoundRange, BoundTexels};
use super::copies::{CopySource, DeviceCopy};
use super::memory::{MOST_PLAN_BYTES, OwnMemory};
use super::objects::Objects;
use super::recorded::{CommandBuffer, PlannedReading};
use crate::chain::handle;
use crate::device_table::DeviceTable;
use ash::vk;
use vkcert_capture::event::{ReadDescriptor, ReadSource};

/// Readings of a command buffer at most.
const MOST_READINGS: usize = 1 << 17;

/// Bytes that vkCmdDispatchIndirect reads.
const INDIRECT_BYTES: u64 = 12;

/// Plans the readings of one dispatch.
pub(super) struct Planner<'a> {
    pub(super) table: &'static DeviceTable,
    pub(super) memory_types: &'a [u32],
    pub(super) own_memory: &'a mut OwnMemory,
    pub(super) recorded: &'a mut CommandBuffer,
    pub(super) copies: Vec<DeviceCopy>,
}

impl Planner<'_> {
    /// Plans all of it.
    ///
    /// # Safety
    /// The memory types are those of the device.
    pub(super) unsafe fn plan(
        &mut self,
        objects: &Objects,
        places: BoundPlaces,
        indirect: Option<(vk::Buffer, u64)>,
    ) {
        let dispatch = self.recorded.dispatches;
        let unread = places.unread.into_iter().map(|reason| (dispatch, reason));
        self.recorded.plan.unread.extend(unread);
        if let Some((buffer, offset)) = indirect {
            let range = BoundRange { buffer: handle(buffer), offset, size: INDIRECT_BYTES };
            match objects.refusals.get(&range.buffer) {
                Some(reason) => self.refuse(format!("its workgroups: {reason}")),
                None => unsafe { self.plan_range(ReadSource::Workgroups, range) },
            }
        }
        for (descriptor, range) in places.ranges {
            unsafe { self.plan_range(ReadSource::Range(descriptor), range) };
        }
        for (descriptor, texels) in places.texels {
            for level in texels.levels.clone() {
                unsafe { self.plan_level(descriptor, &texels, level) };
            }
        }
    }

    fn refuse(&mut self, reason: String) {
        self.recorded.plan.unread.push((self.recorded.dispatches, reason));
    }

    /// Room for so many bytes: the number of a staging buffer and the place in it.
    unsafe fn room(&mut self, size: u64) -> Result<(usize, u64), String> {
        let plan = &mut self.recorded.plan;
        if plan.bytes.saturating_add(size) > MOST_PLAN_BYTES {
            return Err(format!(
                "its command buffer reads more than {} MiB",
                MOST_PLAN_BYTES >> 20
            ));
        }
        if plan.readings.len() >= MOST_READINGS {
            return Err(format!("its command buffer has more than {MOST_READINGS} readings"));
        }
        let (table, types) = (self.table, self.memory_types);
        let room = unsafe { self.own_memory.room(table, types, &mut plan.staging, size) }?;
        plan.bytes += size;
        Ok(room)
    }

    unsafe fn plan_range(&mut self, source: ReadSource, range: BoundRange) {
        match unsafe { self.room(range.size) } {
            Ok((staging, offset)) => {
                let target = self.recorded.plan.staging[staging].buffer;
                let copied = CopySource::Range(range);
                self.copies.push(DeviceCopy { source: copied, target, offset });
                self.recorded.plan.readings.push(PlannedReading {
                    dispatch: self.recorded.dispatches,
                    source,
                    subject: (range.buffer, range.offset),
                    staging,
                    offset,
                    size: range.size,
                });
            }
            Err(reason) => self.refuse(format!("{}: {reason}", place_in_words(source))),
        }
    }

    unsafe fn plan_level(&mut self, descriptor: ReadDescriptor, texels: &BoundTexels, level: u32) {
        let size = texels.layer_bytes(level);
        let layers = texels.layers.clone();
        let all = size.saturating_mul(layers.len() as u64);
        let (staging, offset) = match unsafe { self.room(all) } {
            Ok(room) => room,
            Err(reason) => {
                let ReadDescriptor { set, binding, .. } = descriptor;
                return self.refuse(format!("binding {set}.{binding}: {reason}"));
            }
        };
        let target = self.recorded.plan.staging[staging].buffer;
        let source = CopySource::Level(texels.clone(), level);
        self.copies.push(DeviceCopy { source, target, offset });
        for (number, layer) in (0..).zip(layers) {
            self.recorded.plan.readings.push(PlannedReading {
                dispatch: self.recorded.dispatches,
                source: ReadSource::Texels { descriptor, level, layer },
                subject: (texels.image, u64::from(level) << 32 | u64::from(layer)),
                staging,
                offset: offset + number * size,
                size,
            });
        }
    }
}

fn place_in_words(source: ReadSource) -> String {
    match source {
        ReadSource::Range(ReadDescriptor { set, binding, .. })
        | ReadSource::Texels { descriptor: ReadDescriptor { set, binding, .. }, .. } => {
            format!("binding {set}.{binding}")
        }
        ReadSource::Workgroups => "its workgroups".to_owned(),
    }
}
