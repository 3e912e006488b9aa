//! A command buffer of the program while it is recorded: what is bound, in which layouts images are,
//! and what is read in front of its dispatches.
//!
//! Promises: an image is in a layout where a barrier of the same command buffer brought it there and
//! nothing that is not modelled stands between.

use super::memory::StagingBuffer;
use super::objects::{Descriptors, Objects, SetLayoutState, write};
use super::uses::UsedBindings;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_capture::command::{Command, Dependency, DependencyScope, QueueTransfer, binds_unseen};
use vkcert_capture::event::{OpenEffect, ReadSource};
use vkcert_capture::image::ImageScope;
use vkcert_capture::value::Handle;

/// VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT.
const SIMULTANEOUS_USE: u32 = 4;

/// Layers of levels whose layouts are followed at most.
const MOST_LAYOUTS: usize = 1 << 12;

/// Whether a command buffer is submitted or executed by others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Level {
    #[default]
    Primary,
    Secondary,
}

/// Whether command buffers of a pool write protected memory alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolProtection {
    None,
    Protected,
}

/// A set that is bound.
pub(super) enum BoundSet {
    Object { set: Handle, dynamic_offsets: Vec<u32> },
    Pushed { layout: Arc<SetLayoutState>, descriptors: Descriptors },
}

/// Bytes that a dispatch is given, and where the layer has them once the device was there.
pub(super) struct PlannedReading {
    pub(super) dispatch: u32,
    pub(super) source: ReadSource,
    /// By which bytes are found that were read before: a resource and a place in it.
    pub(super) subject: (Handle, u64),
    pub(super) staging: usize,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// What is read in front of the dispatches of a command buffer.
#[derive(Default)]
pub(super) struct ReadingPlan {
    pub(super) readings: Vec<PlannedReading>,
    /// Number of a dispatch and why something of it is not read.
    pub(super) unread: Vec<(u32, String)>,
    pub(super) staging: Vec<StagingBuffer>,
    pub(super) bytes: u64,
}

impl ReadingPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.readings.is_empty() && self.unread.is_empty()
    }
}

/// A command buffer.
#[derive(Default)]
pub(super) struct CommandBuffer {
    pub(super) device: Handle,
    pub(super) pool: Handle,
    pub(super) level: Level,
    /// VkCommandBufferUsageFlags.
    flags: u32,
    /// Bindings that the bound pipeline uses; none of a module that cannot be read.
    pub(super) pipeline: Option<Option<Arc<UsedBindings>>>,
    pub(super) sets: BTreeMap<u32, BoundSet>,
    /// A command that binds and is not modelled.
    pub(super) unseen: Option<String>,
    /// VkImageLayout by image, level and layer.
    layouts: BTreeMap<(Handle, u32, u32), i32>,
    /// Dispatches so far.
    pub(super) dispatches: u32,
    pub(super) plan: ReadingPlan,
}

impl CommandBuffer {
    /// One that was allocated.
    pub(super) fn of_pool(pool: Handle) -> Self {
        Self { pool, ..Self::default() }
    }

    /// Begins anew; what was planned before comes back.
    pub(super) fn begin(&mut self, flags: u32) -> ReadingPlan {
        let earlier = std::mem::take(self);
        let (device, pool, level) = (earlier.device, earlier.pool, earlier.level);
        *self = Self { device, pool, level, flags, ..Self::default() };
        earlier.plan
    }

    /// Why nothing is read in front of its dispatches.
    pub(super) fn refusal(&self, protection: PoolProtection) -> Option<String> {
        match protection {
            PoolProtection::Protected => {
                return Some("its command buffer is protected".to_owned());
            }
            PoolProtection::None => {}
        }
        if self.flags & SIMULTANEOUS_USE != 0 {
            return Some("its command buffer may be executed several times at once".to_owned());
        }
        let unseen = self.unseen.as_ref();
        unseen.map(|name| format!("what is bound is not known behind {name}, not modelled"))
    }

    /// The layout that a layer of a level of an image is in; none where that is not known.
    pub(super) fn layout(&self, image: Handle, level: u32, layer: u32) -> Option<i32> {
        self.layouts.get(&(image, level, layer)).copied()
    }

    pub(super) fn take(&mut self, objects: &Objects, command: &Command) {
        match command {
            Command::BindPipeline(pipeline) => {
                self.pipeline = Some(objects.pipelines.get(pipeline).cloned().flatten());
            }
            Command::BindSets { first, sets, dynamic_offsets, .. } => {
                self.bind_sets(objects, *first, sets, dynamic_offsets);
            }
            Command::PushDescriptors { layout, set, writes } => {
                let Some(layout) = objects.layout_of_set(*layout, *set) else { return };
                let mut held = match self.sets.remove(set) {
                    Some(BoundSet::Pushed { layout: earlier, descriptors })
                        if Arc::ptr_eq(&earlier, &layout) =>
                    {
                        descriptors
                    }
                    Some(_) | None => Descriptors::new(),
                };
                writes.iter().for_each(|own| write(&layout, &mut held, own));
                self.sets.insert(*set, BoundSet::Pushed { layout, descriptors: held });
            }
            Command::Dispatch { .. } | Command::DispatchIndirect { .. } => self.dispatches += 1,
            Command::Barrier(dependencies) => {
                dependencies.iter().for_each(|dependency| self.take_barrier(objects, dependency));
            }
            Command::Execute(_) => {
                self.pipeline = None;
                self.sets.clear();
                self.layouts.clear();
            }
            Command::Unsupported { name, effect } => {
                if binds_unseen(name, *effect) {
                    self.unseen = Some(name.clone());
                }
                if *effect != OpenEffect::Nothing {
                    self.layouts.clear();
                }
            }
            Command::PushConstants { .. }
            | Command::CopyBuffer { .. }
            | Command::FillBuffer { .. }
            | Command::UpdateBuffer { .. }
            | Command::ImageCopy { .. }
            | Command::CopyBufferToImage { .. }
            | Command::CopyImageToBuffer { .. }
            | Command::CopyImage { .. }
            | Command::ClearColor { .. } => {}
        }
    }

    fn bind_sets(&mut self, objects: &Objects, first: u32, sets: &[Handle], offsets: &[u32]) {
        let mut offsets = offsets;
        for (number, handle) in (first..).zip(sets) {
            let Some(set) = objects.sets.get(handle) else {
                self.sets.remove(&number);
                continue;
            };
            let dynamic = set.layout.dynamic_before(u32::MAX).min(offsets.len());
            let (own, rest) = offsets.split_at(dynamic);
            offsets = rest;
            let bound = BoundSet::Object { set: *handle, dynamic_offsets: own.to_vec() };
            self.sets.insert(number, bound);
        }
    }

    fn take_barrier(&mut self, objects: &Objects, dependency: &Dependency) {
        let DependencyScope::ImagePart(ImageScope { image, range, layouts, transfer }) =
            &dependency.scope
        else {
            return;
        };
        let Some(made) = objects.made_image(*image) else { return };
        let levels = range.level..range.level.saturating_add(range.levels).min(made.levels);
        let layers = range.layer..range.layer.saturating_add(range.layers).min(made.layers);
        for place in levels.flat_map(|level| layers.clone().map(move |layer| (level, layer))) {
            let key = (*image, place.0, place.1);
            match transfer {
                QueueTransfer::None if self.layouts.len() < MOST_LAYOUTS => {
                    self.layouts.insert(key, layouts[1]);
                }
                QueueTransfer::None | QueueTransfer::BetweenFamilies => {
                    self.layouts.remove(&key);
                }
            }
        }
    }
}
