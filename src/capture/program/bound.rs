//! What is bound while commands are recorded: sets, pushed descriptors and push constants, each with
//! the pipeline layout that was named.
//!
//! Knows: which layouts are compatible, what binding with one that is not disturbs (Vulkan
//! specification, "Pipeline Layout Compatibility"), and what was done to a set between its binding
//! and the submission.

use super::build::Builder;
use super::descriptors::{SetContents, is_dynamic};
use super::{BoundSet, Layout, SetLayout, SetLife};
use crate::event::{DescriptorWrite, ObjectKind};
use crate::value::Handle;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes of push constants that are followed at most.
const MOST_PUSH_BYTES: u32 = 1 << 16;

/// What is bound while commands are recorded.
#[derive(Debug, Default)]
pub(super) struct BoundState {
    pub(super) pipeline: Option<usize>,
    sets: BTreeMap<u32, SetSlot>,
    /// Sets that are bound no longer, because others were bound with another layout.
    disturbed: BTreeSet<u32>,
    /// What of it dispatches of a pipeline layout have; none after a change.
    bound: Option<(usize, BoundSlots)>,
    pub(super) push_constants: Arc<Vec<Option<u8>>>,
    /// Layout of the last push: another one that is not compatible with it leaves nothing set.
    pub(super) push_layout: Option<usize>,
    /// A command that binds or pushes and is not modelled.
    pub(super) unseen: Option<Arc<str>>,
}

/// The sets that are bound for a pipeline layout, and those that were and are no longer.
#[derive(Debug, Clone)]
pub(super) struct BoundSlots {
    sets: Arc<Vec<(u32, SetSlot)>>,
    pub(super) disturbed: Arc<Vec<u32>>,
}

/// A set that is bound.
#[derive(Debug, Clone)]
struct SetSlot {
    /// The pipeline layout that was named.
    bound_with: usize,
    source: SetSource,
    layout: Arc<SetLayout>,
    dynamic_offsets: Arc<Vec<u32>>,
}

/// Where the descriptors of a bound set are.
#[derive(Debug, Clone)]
enum SetSource {
    /// In a descriptor set, whose contents count when the commands are submitted.
    Object {
        /// Its index.
        set: usize,
        /// How often it had been written when it was bound.
        writes: u64,
    },
    /// Pushed; counted as they are now.
    Pushed(SetContents),
}

impl Layout {
    /// Whether a set that is bound with one layout is bound for another (Vulkan specification,
    /// "Pipeline Layout Compatibility"). Immutable samplers are not compared.
    pub(super) fn is_compatible(&self, other: &Layout, set: u32) -> bool {
        let range = ..=set as usize;
        let has_pushes = self.has_pushes_of(other);
        has_pushes
            && self.sets.get(range).is_some()
            && self.sets.get(range) == other.sets.get(range)
    }

    /// Whether push constants that are set with one layout are set for another.
    pub(super) fn has_pushes_of(&self, other: &Layout) -> bool {
        let sorted = |layout: &Layout| {
            let mut ranges = layout.push_constants.clone();
            ranges.sort_by_key(|range| (range.offset, range.size, range.stages));
            ranges
        };
        self.push_constants == other.push_constants || sorted(self) == sorted(other)
    }
}

impl Builder {
    fn set_layout(&self, layout: usize, number: u32) -> Result<Arc<SetLayout>, String> {
        let set = self.layouts[layout].sets.get(number as usize);
        set.cloned().ok_or_else(|| format!("the pipeline layout has no set {number}"))
    }

    pub(super) fn bind_sets(
        &mut self,
        index: usize,
        layout: Handle,
        first: u32,
        sets: &[Handle],
        dynamic_offsets: &[u32],
    ) -> Result<(), String> {
        let layout = self.live.find(ObjectKind::PipelineLayout, layout)?;
        self.disturb_sets(index, layout, first, sets.len());
        let mut offsets = dynamic_offsets;
        for (number, handle) in (u64::from(first)..).zip(sets) {
            let number = u32::try_from(number).map_err(|_| "there is no such set".to_owned())?;
            let set_layout = self.set_layout(layout, number)?;
            let Some(set) = self.live.find_or_null(ObjectKind::DescriptorSet, *handle)? else {
                self.command_buffers[index].state.sets.remove(&number);
                continue;
            };
            let dynamic = dynamic_descriptors(&set_layout);
            let (own, rest) = offsets
                .split_at_checked(dynamic)
                .ok_or_else(|| "there are fewer dynamic offsets than descriptors".to_owned())?;
            offsets = rest;
            let slot = SetSlot {
                bound_with: layout,
                source: SetSource::Object { set, writes: self.sets[set].contents.writes() },
                layout: set_layout,
                dynamic_offsets: Arc::new(own.to_vec()),
            };
            self.command_buffers[index].state.sets.insert(number, slot);
        }
        Ok(())
    }

    pub(super) fn push_descriptors(
        &mut self,
        index: usize,
        layout: Handle,
        number: u32,
        writes: &[DescriptorWrite],
    ) -> Result<(), String> {
        let layout = self.live.find(ObjectKind::PipelineLayout, layout)?;
        let set_layout = self.set_layout(layout, number)?;
        self.disturb_sets(index, layout, number, 1);
        let pushed = self.command_buffers[index].state.sets.remove(&number);
        let mut contents = match pushed {
            Some(SetSlot { source: SetSource::Pushed(contents), layout, .. })
                if layout == set_layout =>
            {
                contents
            }
            Some(_) | None => SetContents::default(),
        };
        for write in writes {
            let resources = self.resources_of(write, &set_layout)?;
            contents.write(&set_layout, write, resources)?;
        }
        let slot = SetSlot {
            bound_with: layout,
            source: SetSource::Pushed(contents),
            layout: set_layout,
            dynamic_offsets: Arc::default(),
        };
        self.command_buffers[index].state.sets.insert(number, slot);
        Ok(())
    }

    pub(super) fn push_constants(
        &mut self,
        index: usize,
        layout: usize,
        offset: u32,
        values: &[u8],
    ) -> Result<(), String> {
        let end = u64::from(offset) + values.len() as u64;
        if end > u64::from(MOST_PUSH_BYTES) {
            return Err(format!("push constants reach to byte {end}"));
        }
        // Vulkan specification, "Pipeline Layout Compatibility": for push constants the ranges count.
        let state = &self.command_buffers[index].state;
        let layouts = &self.layouts;
        let compatible = state
            .push_layout
            .is_none_or(|last| last == layout || layouts[last].has_pushes_of(&layouts[layout]));
        let state = &mut self.command_buffers[index].state;
        let bytes = Arc::make_mut(&mut state.push_constants);
        if !compatible {
            bytes.clear();
        }
        let (start, end) = (offset as usize, offset as usize + values.len());
        if bytes.len() < end {
            bytes.resize(end, None);
        }
        for (byte, value) in bytes[start..end].iter_mut().zip(values) {
            *byte = Some(*value);
        }
        state.push_layout = Some(layout);
        Ok(())
    }

    /// What is bound for a pipeline layout.
    pub(super) fn bound_slots(&mut self, index: usize, layout: usize) -> BoundSlots {
        let state = &mut self.command_buffers[index].state;
        if let Some((known, bound)) = &state.bound
            && *known == layout
        {
            return bound.clone();
        }
        let layouts = &self.layouts;
        let used = layouts[layout].sets.len();
        let mut sets = Vec::new();
        let mut disturbed: Vec<u32> = state.disturbed.iter().copied().collect();
        for (number, slot) in state.sets.iter().filter(|(number, _)| (**number as usize) < used) {
            let same = slot.bound_with == layout;
            if same || layouts[slot.bound_with].is_compatible(&layouts[layout], *number) {
                sets.push((*number, slot.clone()));
            } else {
                disturbed.push(*number);
            }
        }
        let bound = BoundSlots { sets: Arc::new(sets), disturbed: Arc::new(disturbed) };
        state.bound = Some((layout, bound.clone()));
        bound
    }

    /// Sets that binding others leaves bound no longer: lower ones that are of another layout, and
    /// all higher ones where one of another layout is bound over.
    fn disturb_sets(&mut self, index: usize, layout: usize, first: u32, count: usize) {
        let layouts = &self.layouts;
        let BoundState { sets, disturbed, bound, .. } = &mut self.command_buffers[index].state;
        *bound = None;
        let is_of_another = |number: u32, slot: &SetSlot| {
            slot.bound_with != layout
                && !layouts[slot.bound_with].is_compatible(&layouts[layout], number)
        };
        let last = u64::from(first) + count as u64;
        let is_bound_now = |number: u32| number >= first && u64::from(number) < last;
        let bound_over =
            sets.iter().any(|(number, slot)| is_bound_now(*number) && is_of_another(*number, slot));
        disturbed.retain(|number| !is_bound_now(*number));
        let gone = sets.iter().filter(|(number, slot)| match **number < first {
            true => is_of_another(**number, slot),
            false => bound_over && !is_bound_now(**number),
        });
        disturbed.extend(gone.map(|(number, _)| *number));
        sets.retain(|number, _| !disturbed.contains(number));
    }

    /// The sets of a dispatch as they are when it is submitted.
    pub(super) fn submitted_sets(&mut self, bound: &BoundSlots) -> Vec<BoundSet> {
        bound.sets.iter().map(|(number, slot)| self.submitted_set(*number, slot)).collect()
    }

    fn submitted_set(&mut self, number: u32, slot: &SetSlot) -> BoundSet {
        let (descriptors, life, updated) = match &slot.source {
            SetSource::Object { set, writes } => {
                let set = &mut self.sets[*set];
                (set.contents.shared(), set.life, set.contents.written_since(*writes))
            }
            SetSource::Pushed(contents) => {
                (contents.clone().shared(), SetLife::Allocated, Vec::new())
            }
        };
        let (layout, dynamic_offsets) =
            (Arc::clone(&slot.layout), Arc::clone(&slot.dynamic_offsets));
        BoundSet { number, layout, descriptors, dynamic_offsets, life, updated }
    }
}

/// Descriptors of a set that take dynamic offsets; more than a file could hold count as that many.
fn dynamic_descriptors(layout: &SetLayout) -> usize {
    let dynamic = layout.bindings.values().filter(|(class, _)| is_dynamic(*class));
    dynamic.fold(0, |sum: usize, (_, count)| sum.saturating_add(*count as usize))
}
