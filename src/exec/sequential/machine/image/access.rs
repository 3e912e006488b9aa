//! Image instructions of the machine: lane by lane, with bounds, definedness and races of every
//! texel.
//!
//! Promises: a texel or sample outside of the image reads as `texel::absent_texel`, a write to it is
//! dropped, both after the finding; a texel is undefined while one of its bytes is. Each sample of
//! a multisampled image is a texel of its own.
//! Does not cover: filtered reads (`filter`).

use super::texel;
use super::texel::{RoundToward, StoreFit};
use super::workspace::{NO_RESULT, TexelResult};
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::image::{
    CoordinateFormat, DescriptorChoice, ImageInstruction, ImageOperation, LevelOperand,
};
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{AccessRoot, Scalar};
use crate::machine::access_step::{AccessMoment, AtomicAccess, AtomicOrder, LaneAccess};
use crate::machine::choice::PermittedChoice;
use crate::machine::control_trace::{StoredExtent, trace_stored};
use crate::machine::finding_collector::NOWHERE;
use crate::machine::monitor::Monitor;
use crate::machine::registers::Registers;
use crate::machine::state::Machine;
use crate::memory::image_view;
use crate::memory::image_view::{DescriptorView, TexelPosition};
use crate::memory::store::BoundRange;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::image::ImageFormat;
use vkcert_model::index_range::IndexRange;

/// An image instruction in one lane.
#[derive(Debug, Clone, Copy)]
pub(super) struct ImageAccess<'a> {
    pub(super) step: &'a ImageInstruction,
    /// The descriptor that the lane's index selects, and what is bound to it.
    pub(super) descriptor: u32,
    pub(super) slot: BoundRange,
    pub(super) lane: usize,
    /// The instruction's index in the module.
    pub(super) source_index: u32,
}

impl Registers {
    /// The texel that whole coordinates name.
    fn named_texel(
        &self,
        step: &ImageInstruction,
        view: &DescriptorView,
        lane: usize,
    ) -> TexelPosition {
        let whole_coordinate = |axis: usize| {
            let coordinate_word =
                step.coordinates.get(axis).map_or(0, |reg| self.words[reg.0 as usize][lane]);
            match step.coordinate_format {
                CoordinateFormat::Signed => i64::from(coordinate_word as i32),
                CoordinateFormat::Unsigned | CoordinateFormat::Float => i64::from(coordinate_word),
            }
        };
        let (axis_count, layer_count) = view.coordinate_counts();
        let texel_axes =
            std::array::from_fn(|axis| if axis < axis_count { whole_coordinate(axis) } else { 0 });
        let layer = if layer_count > 0 { whole_coordinate(axis_count) } else { 0 };
        let level = match &step.level {
            LevelOperand::Number(level) => i64::from(self.words[level.0 as usize][lane] as i32),
            LevelOperand::First | LevelOperand::Detail(_) | LevelOperand::Gradient(_) => 0,
        };
        let sample = step
            .sample
            .map_or(0, |index| index.as_number(self.words[index.register.0 as usize][lane]));
        TexelPosition { level, layer, coordinates: texel_axes, sample }
    }
}

impl Machine<'_> {
    /// Runs one image instruction for all active lanes.
    pub(crate) fn run_image(&mut self, step: &ImageInstruction, source_index: u32) {
        let mut lane_texels = std::mem::take(&mut self.memory.workspace.lane_texels);
        lane_texels.clear();
        lane_texels.resize(self.registers.width, [0; 4]);
        let mut undefined_lanes = [0; MASK_WORDS];
        for lane in self.registers.active_lanes.lanes() {
            let Some((descriptor, slot)) = self.chosen_descriptor(&step.image, lane, source_index)
            else {
                continue;
            };
            let image_access = ImageAccess { step, descriptor, slot, lane, source_index };
            let texel_result = match step.operation {
                ImageOperation::Read => self.read_texel(&image_access),
                ImageOperation::Write => self.write_texel(&image_access),
                ImageOperation::Atomic(op) => self.run_texel_atomic(op, &image_access),
                ImageOperation::Sample | ImageOperation::Gather { .. } => {
                    self.sample_image(&image_access)
                }
                ImageOperation::Size => self.image_size(&image_access),
                ImageOperation::Levels => TexelResult {
                    component_bits: [level_count(&slot.view), 0, 0, 0],
                    is_undefined: false,
                },
                ImageOperation::Samples => TexelResult {
                    component_bits: [sample_count(&slot.view), 0, 0, 0],
                    is_undefined: false,
                },
            };
            lane_texels[lane] = texel_result.component_bits;
            undefined_lanes[lane / 64] |= u64::from(texel_result.is_undefined) << (lane % 64);
        }
        let first_descriptor = step.image.descriptors.first().copied().unwrap_or(0);
        self.report_races(
            (AccessRoot::Descriptor(first_descriptor), &step.image.name),
            source_index,
        );
        match step.operation {
            ImageOperation::Write => {
                self.watch_change(AccessRoot::Descriptor(first_descriptor), true)
            }
            ImageOperation::Read | ImageOperation::Atomic(_) => {
                self.watch_texels(first_descriptor, &lane_texels, source_index)
            }
            ImageOperation::Sample
            | ImageOperation::Gather { .. }
            | ImageOperation::Size
            | ImageOperation::Levels
            | ImageOperation::Samples => {}
        }
        for (component, parts) in step.to.iter().enumerate() {
            for (half, reg) in parts.words().enumerate() {
                self.registers.write_register(reg, |lane_values, _| {
                    for (lane_value, texel_components) in lane_values.iter_mut().zip(&lane_texels) {
                        *lane_value = (texel_components[component.min(3)] >> (32 * half)) as u32;
                    }
                });
                self.set_undefined_lanes(Scalar::Word(reg), &undefined_lanes);
            }
        }
        self.memory.workspace.lane_texels = lane_texels;
    }

    /// The descriptor that a lane means, and what is bound to it; none after a finding.
    pub(super) fn chosen_descriptor(
        &mut self,
        chosen_image: &DescriptorChoice,
        lane: usize,
        source_index: u32,
    ) -> Option<(u32, BoundRange)> {
        let element_index = chosen_image
            .index
            .map_or(0, |index| self.registers.words[index.register.0 as usize][lane]);
        let element_count = chosen_image.descriptors.len();
        let Some(descriptor) = chosen_image.descriptors.get(element_index as usize) else {
            let is_signed = chosen_image.index.is_some_and(|index| index.signed);
            self.report_at_lane(FindingKind::OutOfBounds, lane, source_index, || {
                let shown_index = if is_signed {
                    (element_index as i32).to_string()
                } else {
                    element_index.to_string()
                };
                format!(
                    "index {shown_index} is outside the {element_count} elements of `{}`",
                    chosen_image.name
                )
            });
            return None;
        };
        let descriptor = *descriptor;
        let index_in_array = self.program.descriptors[descriptor as usize].array_index;
        let Some(slot) = self.memory.slots[descriptor as usize] else {
            self.report_at_lane(FindingKind::OutOfBounds, lane, source_index, || {
                format!(
                    "element {index_in_array} of `{}` is used, and nothing is bound to it",
                    chosen_image.name
                )
            });
            return None;
        };
        Some((descriptor, slot))
    }

    pub(super) fn report_at_lane(
        &mut self,
        kind: FindingKind,
        lane: usize,
        source_index: u32,
        message: impl FnOnce() -> String,
    ) {
        let global_id = self.global_id(self.registers.first_lane + lane as u32);
        self.monitor.collector.add_occurrence(kind, [source_index, NOWHERE], 0, || Finding {
            invocations: vec![global_id],
            ..Finding::new(kind, message())
        });
    }

    /// First byte in the store of the texel that a lane names; none after a finding.
    fn texel_start(&mut self, image_access: &ImageAccess<'_>) -> Option<usize> {
        let ImageAccess { step, descriptor, slot, lane, source_index } = *image_access;
        let texel_place = self.registers.named_texel(step, &slot.view, lane);
        let Some(first_byte) = slot.view.texel_offset(&texel_place) else {
            self.report_at_lane(FindingKind::OutOfBounds, lane, source_index, || {
                let (axis_count, layer_count) = slot.view.coordinate_counts();
                let given_coordinates = texel_place.coordinates[..axis_count].iter().chain([&texel_place.layer].into_iter().take(layer_count));
                let texel_text = given_coordinates.map(i64::to_string).collect::<Vec<_>>().join(", ");
                let level_text = if texel_place.level == 0 { String::new() } else { format!(" of level {}", texel_place.level) };
                let sample_text = step.sample.map_or(String::new(), |_| format!("sample {} of ", texel_place.sample));
                let (image_name, bounds) = (&step.image.name, slot.view.level_bounds(texel_place.level));
                format!("{sample_text}texel ({texel_text}){level_text} lies outside of `{image_name}`, which has {bounds}")
            });
            return None;
        };
        self.memory.note_texel_extent(descriptor, &slot.view, first_byte);
        Some(4 * slot.first + first_byte)
    }

    /// The texel that starts at a byte of a store.
    pub(super) fn fetch_texel(
        &mut self,
        image_access: &ImageAccess<'_>,
        texel_format: ImageFormat,
        first_byte: usize,
    ) -> TexelResult {
        let ImageAccess { slot, lane, source_index, .. } = *image_access;
        let texel_size = texel_format.texel_size();
        let store = &self.memory.stores[slot.buffer];
        let mut is_undefined = false;
        let mut texel_value = if texel::is_words(texel_format) {
            let (first_word, words_end) = (first_byte / 4, (first_byte + texel_size) / 4);
            is_undefined = (first_word..words_end).any(|word| store.is_undefined(word));
            texel::value_of_words(texel_format, &store.words[first_word..words_end])
        } else {
            let texel_bytes = &mut self.memory.workspace.texel_bytes;
            texel_bytes.clear();
            for byte_index in first_byte..first_byte + texel_size {
                texel_bytes.push((store.words[byte_index / 4] >> (byte_index % 4 * 8)) as u8);
                let byte_part = byte_index as u32 % 4;
                is_undefined |= store.are_bytes_undefined(byte_index / 4, byte_part..byte_part + 1);
            }
            texel::texel_value(
                texel_format,
                texel_bytes,
                &mut self.memory.workspace.component_bytes,
            )
        };
        if let Some(stored_traces) = &store.control_traces {
            // What was read comes with the path of who stored it.
            let stored_trace = stored_traces[first_byte / 4];
            match self.permitted_choice(source_index, lane) {
                PermittedChoice::Computed => {}
                PermittedChoice::Low => texel::depart_value(texel_format, &mut texel_value, -1.0),
                PermittedChoice::High => texel::depart_value(texel_format, &mut texel_value, 1.0),
            }
            if stored_trace != 0 {
                self.extend_trace(lane, stored_trace);
            }
        }
        self.observe_texel(
            image_access,
            (first_byte..first_byte + texel_size).into(),
            (AccessKind::Read, None),
            None,
        );
        TexelResult { component_bits: texel_value, is_undefined }
    }

    fn read_texel(&mut self, image_access: &ImageAccess<'_>) -> TexelResult {
        let Some(texel_format) = image_access.slot.view.format() else { return NO_RESULT };
        match self.texel_start(image_access) {
            Some(first_byte) => self.fetch_texel(image_access, texel_format, first_byte),
            None => TexelResult {
                component_bits: texel::absent_texel(texel_format),
                is_undefined: false,
            },
        }
    }

    fn write_texel(&mut self, image_access: &ImageAccess<'_>) -> TexelResult {
        let ImageAccess { step, slot, lane, source_index, .. } = *image_access;
        let Some(texel_format) = slot.view.format() else { return NO_RESULT };
        let Some(first_byte) = self.texel_start(image_access) else { return NO_RESULT };
        let texel_value = std::array::from_fn(|component| {
            step.texel.get(component).map_or(0, |parts| self.registers.number_at(*parts, lane))
        });
        let mut bytes = std::mem::take(&mut self.memory.workspace.texel_bytes);
        bytes.clear();
        let rounding = match self.permitted_choice(source_index, lane) {
            PermittedChoice::Computed => RoundToward::Nearest,
            PermittedChoice::Low => RoundToward::Lower,
            PermittedChoice::High => RoundToward::Higher,
        };
        let written_components = &texel_value[..usize::from(texel_format.components())];
        if texel::is_normalised(texel_format)
            && written_components.iter().any(|bits| f32::from_bits(*bits as u32).is_nan())
        {
            self.report_at_lane(FindingKind::UndefinedValue, lane, source_index, || {
                format!(
                    "a NaN is written to `{}`, whose format {texel_format} is normalised",
                    step.image.name
                )
            });
        }
        if texel::store_toward(texel_format, &texel_value, rounding, &mut bytes)
            == StoreFit::OutOfRange
        {
            self.report_at_lane(FindingKind::UndefinedValue, lane, source_index, || format!("an integer that does not fit in a texel of format {texel_format} is written to `{}`", step.image.name));
        }
        let new_bits =
            bytes.iter().rev().fold(0, |joined_bytes, byte| joined_bytes << 8 | u128::from(*byte));
        let texel_bytes = IndexRange { start: first_byte, end: first_byte + bytes.len() };
        self.observe_texel(image_access, texel_bytes, (AccessKind::Write, Some(new_bits)), None);
        let lane_trace = self.lane_trace(lane);
        let store = &mut self.memory.stores[slot.buffer];
        let texel_words = first_byte / 4..(first_byte + bytes.len()).div_ceil(4);
        trace_stored(store, lane_trace, texel_words, StoredExtent::Part);
        for (byte_index, byte) in (first_byte..).zip(&bytes) {
            // An undefined value was reported where it was written.
            store.write_byte(byte_index, *byte, true);
        }
        self.memory.workspace.texel_bytes = bytes;
        NO_RESULT
    }

    fn run_texel_atomic(
        &mut self,
        op: AtomicOperation,
        image_access: &ImageAccess<'_>,
    ) -> TexelResult {
        let ImageAccess { step, descriptor, slot, lane, source_index } = *image_access;
        let Some(first_byte) = self.texel_start(image_access) else { return NO_RESULT };
        let operand_bits = |operand_index: usize| {
            step.texel.get(operand_index).map_or(0, |parts| self.registers.number_at(*parts, lane))
        };
        let (operand_value, comparator) = (operand_bits(0), operand_bits(1));
        let word_count = step.texel_format.width().words();
        let first_word = first_byte / 4;
        let old_value = self.memory.stores[slot.buffer]
            .bytes_as_number((first_byte..first_byte + 4 * word_count).into())
            as u64;
        let new_value = op.new_value(step.texel_format, old_value, operand_value, comparator);
        let touch = if new_value.is_some() { op.access_kind() } else { AccessKind::AtomicRead };
        let time_after =
            self.monitor.order.as_ref().map_or(0, |_| self.monitor.clock.advance_time());
        let atomic = AtomicAccess { op, time_after, atomic_order: AtomicOrder::InOrder };
        self.observe_texel(
            image_access,
            (first_byte..first_byte + 4 * word_count).into(),
            (touch, new_value.map(u128::from)),
            Some(atomic),
        );
        let lane_trace = self.lane_trace(lane);
        let store = &mut self.memory.stores[slot.buffer];
        trace_stored(store, lane_trace, first_word..first_word + word_count, StoredExtent::Part);
        let passes_undefined = op.returns_old_value();
        let is_undefined = op.reads_memory()
            && (first_word..first_word + word_count).any(|word| store.is_undefined(word));
        let memory_changed = new_value.is_some_and(|new_value| new_value != old_value);
        if let Some(new_value) = new_value {
            for (half, word) in (first_word..first_word + word_count).enumerate() {
                store.words[word] = (new_value >> (32 * half)) as u32;
                store.set_defined(word, true);
            }
        }
        self.watch_change(AccessRoot::Descriptor(descriptor), memory_changed);
        if is_undefined && self.monitor.track_undefined && !passes_undefined {
            let mut lanes = LaneMask::EMPTY;
            lanes.insert(lane);
            let message = format!(
                "an atomic operation reads an uninitialised texel of `{}`",
                step.image.name
            );
            self.report_undefined(&lanes, source_index, &message);
        }
        TexelResult {
            component_bits: [old_value, 0, 0, 0],
            is_undefined: is_undefined && passes_undefined,
        }
    }

    /// What an atomic would do to a lane's texel: its buffer, its first word, the old and the new
    /// value; none where that lies outside.
    pub(crate) fn texel_effect(
        &self,
        op: AtomicOperation,
        step: &ImageInstruction,
        lane: usize,
    ) -> Option<(usize, usize, [u64; 2])> {
        let element_index = step
            .image
            .index
            .map_or(0, |index| self.registers.words[index.register.0 as usize][lane]);
        let descriptor = *step.image.descriptors.get(element_index as usize)?;
        let slot = self.memory.slots[descriptor as usize]?;
        let first_byte = 4 * slot.first
            + slot.view.texel_offset(&self.registers.named_texel(step, &slot.view, lane))?;
        let operand_bits = |at: usize| {
            step.texel.get(at).map_or(0, |parts| self.registers.number_at(*parts, lane))
        };
        let old_value = self.memory.stores[slot.buffer].bytes_as_number(
            (first_byte..first_byte + 4 * step.texel_format.width().words()).into(),
        ) as u64;
        let new_value = op
            .new_value(step.texel_format, old_value, operand_bits(0), operand_bits(1))
            .unwrap_or(old_value);
        Some((slot.buffer, first_byte / 4, [old_value, new_value]))
    }

    /// Notes an access of a lane to the bytes of a texel, and what it leaves there where that is
    /// new.
    fn observe_texel(
        &mut self,
        image_access: &ImageAccess<'_>,
        byte_range: IndexRange,
        (touch, new_bits): (AccessKind, Option<u128>),
        atomic: Option<AtomicAccess>,
    ) {
        let ImageAccess { descriptor, slot, lane, source_index, .. } = *image_access;
        let store = &mut self.memory.stores[slot.buffer];
        if !self.monitor.watches_store(store) {
            return;
        }
        let Monitor { track_races, clock, .. } = &self.monitor;
        let access_moment = AccessMoment::for_memory(
            clock,
            (MemoryKinds::IMAGES, Some(descriptor)),
            self.registers.first_lane,
            source_index,
        );
        let held_bits = if *track_races { store.bytes_as_number(byte_range) } else { 0 };
        let texel_bits = [held_bits, new_bits.unwrap_or(held_bits)];
        self.monitor.observe_access(
            store,
            &access_moment,
            &LaneAccess { lane, bytes: byte_range, touch, values: texel_bits, atomic },
        );
        if !self.monitor.noted_users.is_empty() {
            self.note_users(AccessRoot::Descriptor(descriptor), source_index);
        }
    }

    /// Texels of a level on each axis, and layers.
    fn image_size(&mut self, image_access: &ImageAccess<'_>) -> TexelResult {
        let ImageAccess { step, slot, lane, source_index, .. } = *image_access;
        let picture = match slot.view {
            DescriptorView::Texels(_, texels) => {
                return TexelResult {
                    component_bits: [u64::from(texels), 0, 0, 0],
                    is_undefined: false,
                };
            }
            DescriptorView::Image(picture, _) => picture,
            DescriptorView::Bytes | DescriptorView::Sampler(_) => return NO_RESULT,
        };
        let texel_place = self.registers.named_texel(step, &slot.view, lane);
        let view_level = u32::try_from(texel_place.level)
            .ok()
            .filter(|view_level| *view_level < picture.view.levels);
        let Some(view_level) = view_level else {
            self.report_at_lane(FindingKind::UndefinedValue, lane, source_index, || {
                let (image_name, level_count) = (&step.image.name, picture.view.levels);
                format!("the size of level {} of `{image_name}` is asked for, which has {level_count} levels", texel_place.level)
            });
            return NO_RESULT;
        };
        let axis_count = image_view::axis_count(picture.view.kind);
        let mut axis_sizes = [0; 4];
        for (axis_size, size) in
            axis_sizes.iter_mut().zip(picture.level_extent(view_level)).take(axis_count)
        {
            *axis_size = u64::from(size);
        }
        if image_view::is_arrayed(picture.view.kind) {
            let is_cube = image_view::direction_count(picture.view.kind) > axis_count;
            axis_sizes[axis_count] = u64::from(picture.view.layers / if is_cube { 6 } else { 1 });
        }
        TexelResult { component_bits: axis_sizes, is_undefined: false }
    }
}

fn level_count(image_view: &DescriptorView) -> u64 {
    match image_view {
        DescriptorView::Image(picture, _) => u64::from(picture.view.levels),
        DescriptorView::Bytes | DescriptorView::Texels(..) | DescriptorView::Sampler(_) => 0,
    }
}

fn sample_count(image_view: &DescriptorView) -> u64 {
    match image_view {
        DescriptorView::Image(picture, _) => u64::from(picture.shape.samples),
        DescriptorView::Bytes | DescriptorView::Texels(..) | DescriptorView::Sampler(_) => 0,
    }
}
