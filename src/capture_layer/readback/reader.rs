//! All that is kept of a program while its contents are read.
//!
//! Promises: what was planned for a command buffer is forgotten once it begins anew, is reset or freed.

use super::bound_places::bound_places;
use super::copies::record_copies;
use super::memory::OwnMemory;
use super::objects::Objects;
use super::planner::Planner;
use super::recorded::{CommandBuffer, Level, PoolProtection};
use super::submissions::{Announced, Pending, WrittenBytes};
use crate::chain::handle;
use crate::device_table::DeviceTable;
use ash::vk;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::event::Event;
use vkcert_capture::value::Handle;

/// All that is kept.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) objects: Objects,
    pub(super) recorded: BTreeMap<Handle, CommandBuffer>,
    /// Pools whose command buffers write protected memory alone.
    pub(super) protected_pools: BTreeSet<Handle>,
    pub(super) own_memory: BTreeMap<Handle, OwnMemory>,
    /// The submission that a queue is given now.
    announced: BTreeMap<Handle, Announced>,
    pub(super) pending: Vec<Pending>,
    pub(super) written: WrittenBytes,
}

impl Reader {
    pub(super) fn take(&mut self, record: u64, event: &Event) {
        match event {
            Event::CommandBuffers(made) => {
                for own in &made.command_buffers {
                    self.recorded.insert(*own, CommandBuffer::of_pool(made.pool));
                }
            }
            Event::FreeCommandBuffers(gone) => gone.iter().for_each(|gone| self.clear(*gone)),
            Event::ResetCommandPool(pool) => self.clear_pool(*pool),
            Event::DestroyCommandPool(pool) => {
                self.clear_pool(*pool);
                self.recorded.retain(|_, recorded| recorded.pool != *pool);
            }
            Event::Begin(begin) => {
                self.clear(begin.command_buffer);
                if let Some(recorded) = self.recorded.get_mut(&begin.command_buffer) {
                    recorded.begin(begin.flags);
                }
            }
            Event::ResetCommandBuffer(own) => self.clear(*own),
            Event::Command(command) => {
                if let Some(recorded) = self.recorded.get_mut(&command.command_buffer) {
                    recorded.take(&self.objects, &command.command);
                }
            }
            Event::Submit(submit) => {
                self.announced.insert(submit.queue, Announced::of(record, submit));
            }
            Event::SubmitFailed(queue) => {
                self.announced.remove(queue);
            }
            _ => self.objects.take(record, event),
        }
    }

    fn clear_pool(&mut self, pool: Handle) {
        let recorded = self.recorded.iter().filter(|(_, recorded)| recorded.pool == pool);
        let own: Vec<Handle> = recorded.map(|(handle, _)| *handle).collect();
        own.into_iter().for_each(|own| self.clear(own));
    }

    /// Forgets what is planned for a command buffer. What a submission still writes, because it was
    /// not seen to be complete, is left alone for good.
    fn clear(&mut self, command_buffer: Handle) {
        let Some(recorded) = self.recorded.get_mut(&command_buffer) else { return };
        let device = recorded.device;
        let staging = recorded.begin(0).staging;
        let mut is_written = false;
        let pending = self.pending.iter_mut();
        for submitted in pending.flat_map(|pending| &mut pending.announced.command_buffers) {
            if *submitted == command_buffer {
                // What it will hold is of another recording.
                *submitted = Handle(0);
                is_written = true;
            }
        }
        let own_memory = self.own_memory.entry(device).or_default();
        match is_written {
            true => own_memory.give_up(staging),
            false => own_memory.take_back(staging),
        }
    }

    /// The submission of a queue, if something of it is to be read.
    pub(super) fn announced_plan(&mut self, queue: Handle) -> Option<Announced> {
        let announced = self.announced.remove(&queue)?;
        let recorded = &self.recorded;
        let is_planned = announced
            .command_buffers
            .iter()
            .any(|own| recorded.get(own).is_some_and(|recorded| !recorded.plan.is_empty()));
        // Of one that is submitted again before it is complete nobody could tell the readings.
        for earlier in
            self.pending.iter_mut().flat_map(|pending| &mut pending.announced.command_buffers)
        {
            if announced.command_buffers.contains(earlier) {
                *earlier = Handle(0);
            }
        }
        is_planned.then_some(announced)
    }

    pub(super) unsafe fn plan_dispatch(
        &mut self,
        table: &'static DeviceTable,
        command_buffer: vk::CommandBuffer,
        indirect: Option<(vk::Buffer, u64)>,
    ) -> Option<()> {
        let recorded = self.recorded.get_mut(&handle(command_buffer))?;
        recorded.device = handle(table.device);
        match recorded.level {
            Level::Primary => {}
            // The reader of the capture knows, and names it.
            Level::Secondary => return None,
        }
        let dispatch = recorded.dispatches;
        let protection = match self.protected_pools.contains(&recorded.pool) {
            true => PoolProtection::Protected,
            false => PoolProtection::None,
        };
        if let Some(reason) = recorded.refusal(protection) {
            recorded.plan.unread.push((dispatch, reason));
            return None;
        }
        let places = bound_places(&self.objects, recorded);
        let mut planner = Planner {
            table,
            memory_types: self.objects.memory_types.get(&handle(table.device))?,
            own_memory: self.own_memory.entry(handle(table.device)).or_default(),
            recorded,
            copies: Vec::new(),
        };
        unsafe { planner.plan(&self.objects, places, indirect) };
        let copies = planner.copies;
        let is_recorded =
            copies.is_empty() || unsafe { record_copies(table, command_buffer, &copies) }.is_some();
        // What was planned would be read and was never written.
        if !is_recorded {
            super::turn_off();
        }
        Some(())
    }
}
