//! Image instructions of the machine: lane by lane, with bounds, definedness and races of every
//! texel.
//!
//! Promises: a texel or sample outside of the image reads as `texel::absent`, a write to it is
//! dropped, both after the finding; a texel is undefined while one of its bytes is. Each sample of
//! a multisampled image is a texel of its own.
//! Does not cover: filtered reads (`filter`).

use super::texel;
use super::texel::{Held, Toward};
use super::workspace::{Got, NOTHING};
use crate::ir::atomic::{AccessKind, AtomicOperation};
use crate::ir::image::{
    CoordinateFormat, DescriptorChoice, ImageInstruction, ImageOperation, LevelOperand,
};
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{AccessRoot, Scalar};
use crate::machine::access_step::{AtomicAccess, AtomicMark, LaneAccess, Moment};
use crate::machine::choice::Choice;
use crate::machine::control_trace::{Stored, trace_stored};
use crate::machine::finding_collector::NOWHERE;
use crate::machine::monitor::Monitor;
use crate::machine::registers::Registers;
use crate::machine::state::Machine;
use crate::memory::image_view;
use crate::memory::image_view::{DescriptorView, TexelPosition};
use crate::memory::store::BoundRange;
use std::ops::Range;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::image::ImageFormat;

impl Registers {
    /// The texel that whole coordinates name.
    fn named(&self, step: &ImageInstruction, view: &DescriptorView, lane: usize) -> TexelPosition {
        let whole = |at: usize| {
            let word = step.coordinates.get(at).map_or(0, |reg| self.words[reg.0 as usize][lane]);
            match step.coordinate_format {
                CoordinateFormat::Signed => i64::from(word as i32),
                CoordinateFormat::Unsigned | CoordinateFormat::Float => i64::from(word),
            }
        };
        let (axes, layers) = view.coordinate_counts();
        let at = std::array::from_fn(|axis| if axis < axes { whole(axis) } else { 0 });
        let layer = if layers > 0 { whole(axes) } else { 0 };
        let level = match &step.level {
            LevelOperand::Number(level) => i64::from(self.words[level.0 as usize][lane] as i32),
            LevelOperand::First | LevelOperand::Detail(_) | LevelOperand::Gradient(_) => 0,
        };
        let sample = step
            .sample
            .map_or(0, |index| index.number(self.words[index.register.0 as usize][lane]));
        TexelPosition { level, layer, coordinates: at, sample }
    }
}

impl Machine<'_> {
    /// Runs one image instruction for all active lanes.
    pub(crate) fn image(&mut self, step: &ImageInstruction, place: u32) {
        let mut results = std::mem::take(&mut self.memory.workspace.results);
        results.clear();
        results.resize(self.registers.width, [0; 4]);
        let mut undefined = [0; MASK_WORDS];
        for lane in self.registers.active.lanes() {
            let Some((descriptor, slot)) = self.chosen(&step.image, lane, place) else { continue };
            let got = match step.operation {
                ImageOperation::Read => self.read_texel(step, descriptor, slot, lane, place),
                ImageOperation::Write => self.write_texel(step, descriptor, slot, lane, place),
                ImageOperation::Atomic(op) => {
                    self.texel_atomic(op, step, descriptor, slot, lane, place)
                }
                ImageOperation::Sample | ImageOperation::Gather { .. } => {
                    self.sampled(step, descriptor, slot, lane, place)
                }
                ImageOperation::Size => self.size(step, slot, lane, place),
                ImageOperation::Levels => {
                    Got { value: [levels(&slot.view), 0, 0, 0], undefined: false }
                }
                ImageOperation::Samples => {
                    Got { value: [samples(&slot.view), 0, 0, 0], undefined: false }
                }
            };
            results[lane] = got.value;
            undefined[lane / 64] |= u64::from(got.undefined) << (lane % 64);
        }
        let first = step.image.descriptors.first().copied().unwrap_or(0);
        self.report_races((AccessRoot::Descriptor(first), &step.image.name), place);
        match step.operation {
            ImageOperation::Write => self.watch_change(AccessRoot::Descriptor(first), true),
            ImageOperation::Read | ImageOperation::Atomic(_) => {
                self.watch_texels(first, &results, place)
            }
            ImageOperation::Sample
            | ImageOperation::Gather { .. }
            | ImageOperation::Size
            | ImageOperation::Levels
            | ImageOperation::Samples => {}
        }
        for (component, parts) in step.to.iter().enumerate() {
            for (half, reg) in parts.registers().enumerate() {
                self.registers.write(reg, |out, _| {
                    for (out, result) in out.iter_mut().zip(&results) {
                        *out = (result[component.min(3)] >> (32 * half)) as u32;
                    }
                });
                self.set_undefined(Scalar::Word(reg), &undefined);
            }
        }
        self.memory.workspace.results = results;
    }

    /// The descriptor that a lane means, and what is bound to it; none after a finding.
    pub(super) fn chosen(
        &mut self,
        chosen: &DescriptorChoice,
        lane: usize,
        place: u32,
    ) -> Option<(u32, BoundRange)> {
        let element =
            chosen.index.map_or(0, |index| self.registers.words[index.register.0 as usize][lane]);
        let count = chosen.descriptors.len();
        let Some(descriptor) = chosen.descriptors.get(element as usize) else {
            let signed = chosen.index.is_some_and(|index| index.signed);
            self.tell(FindingKind::OutOfBounds, lane, place, || {
                let shown = if signed { (element as i32).to_string() } else { element.to_string() };
                format!("index {shown} is outside the {count} elements of `{}`", chosen.name)
            });
            return None;
        };
        let descriptor = *descriptor;
        let index_in_array = self.program.descriptors[descriptor as usize].array_index;
        let Some(slot) = self.memory.slots[descriptor as usize] else {
            self.tell(FindingKind::OutOfBounds, lane, place, || {
                format!(
                    "element {index_in_array} of `{}` is used, and nothing is bound to it",
                    chosen.name
                )
            });
            return None;
        };
        Some((descriptor, slot))
    }

    pub(super) fn tell(
        &mut self,
        kind: FindingKind,
        lane: usize,
        place: u32,
        message: impl FnOnce() -> String,
    ) {
        let witness = self.invocation(self.registers.first_lane + lane as u32);
        self.monitor.collector.add(kind, [place, NOWHERE], 0, || Finding {
            invocations: vec![witness],
            ..Finding::new(kind, message())
        });
    }

    /// First byte in the store of the texel that a lane names; none after a finding.
    fn located(
        &mut self,
        step: &ImageInstruction,
        descriptor: u32,
        slot: BoundRange,
        lane: usize,
        place: u32,
    ) -> Option<usize> {
        let at = self.registers.named(step, &slot.view, lane);
        let Some(start) = slot.view.texel_offset(&at) else {
            self.tell(FindingKind::OutOfBounds, lane, place, || {
                let (axes, layers) = slot.view.coordinate_counts();
                let given =
                    at.coordinates[..axes].iter().chain([&at.layer].into_iter().take(layers));
                let texel = given.map(i64::to_string).collect::<Vec<_>>().join(", ");
                let level =
                    if at.level == 0 { String::new() } else { format!(" of level {}", at.level) };
                let sample =
                    step.sample.map_or(String::new(), |_| format!("sample {} of ", at.sample));
                let (name, bounds) = (&step.image.name, slot.view.level_bounds(at.level));
                format!(
                    "{sample}texel ({texel}){level} lies outside of `{name}`, which has {bounds}"
                )
            });
            return None;
        };
        self.memory.note_extent(descriptor, &slot.view, start);
        Some(4 * slot.first + start)
    }

    /// The texel that starts at a byte of a store.
    pub(super) fn fetched(
        &mut self,
        (descriptor, slot): (u32, BoundRange),
        format: ImageFormat,
        first: usize,
        lane: usize,
        place: u32,
    ) -> Got {
        let size = format.texel_size();
        let store = &self.memory.stores[slot.buffer];
        let mut undefined = false;
        let mut value = if texel::is_words(format) {
            let words = first / 4..(first + size) / 4;
            undefined = words.clone().any(|word| store.is_undefined(word));
            texel::of_words(format, &store.words[words])
        } else {
            let bytes = &mut self.memory.workspace.bytes;
            bytes.clear();
            for at in first..first + size {
                bytes.push((store.words[at / 4] >> (at % 4 * 8)) as u8);
                let part = at as u32 % 4;
                undefined |= store.are_bytes_undefined(at / 4, part..part + 1);
            }
            texel::value(format, bytes, &mut self.memory.workspace.components)
        };
        if let Some(paths) = &store.control_traces {
            // What was read comes with the path of who stored it.
            let path = paths[first / 4];
            match self.choice(place, lane) {
                Choice::Ordinary => {}
                Choice::Low => texel::departed(format, &mut value, -1.0),
                Choice::High => texel::departed(format, &mut value, 1.0),
            }
            if path != 0 {
                self.follow(lane, path);
            }
        }
        let bytes = (lane, first..first + size);
        self.observe_texel((descriptor, slot), bytes, (AccessKind::Read, None), None, place);
        Got { value, undefined }
    }

    fn read_texel(
        &mut self,
        step: &ImageInstruction,
        descriptor: u32,
        slot: BoundRange,
        lane: usize,
        place: u32,
    ) -> Got {
        let Some(format) = slot.view.format() else { return NOTHING };
        match self.located(step, descriptor, slot, lane, place) {
            Some(first) => self.fetched((descriptor, slot), format, first, lane, place),
            None => Got { value: texel::absent(format), undefined: false },
        }
    }

    fn write_texel(
        &mut self,
        step: &ImageInstruction,
        descriptor: u32,
        slot: BoundRange,
        lane: usize,
        place: u32,
    ) -> Got {
        let Some(format) = slot.view.format() else { return NOTHING };
        let Some(first) = self.located(step, descriptor, slot, lane, place) else { return NOTHING };
        let value = std::array::from_fn(|at| {
            step.texel.get(at).map_or(0, |parts| self.registers.number(*parts, lane))
        });
        let mut bytes = std::mem::take(&mut self.memory.workspace.bytes);
        bytes.clear();
        let toward = match self.choice(place, lane) {
            Choice::Ordinary => Toward::Nearest,
            Choice::Low => Toward::Lower,
            Choice::High => Toward::Higher,
        };
        let written = &value[..usize::from(format.components())];
        if texel::is_normalised(format)
            && written.iter().any(|bits| f32::from_bits(*bits as u32).is_nan())
        {
            self.tell(FindingKind::UndefinedValue, lane, place, || {
                format!(
                    "a NaN is written to `{}`, whose format {format} is normalised",
                    step.image.name
                )
            });
        }
        if texel::store_toward(format, &value, toward, &mut bytes) == Held::No {
            self.tell(FindingKind::UndefinedValue, lane, place, || {
                format!(
                    "an integer that does not fit in a texel of format {format} is written to `{}`",
                    step.image.name
                )
            });
        }
        let new = bytes.iter().rev().fold(0, |all, byte| all << 8 | u128::from(*byte));
        let texel = (lane, first..first + bytes.len());
        self.observe_texel((descriptor, slot), texel, (AccessKind::Write, Some(new)), None, place);
        let trace = self.path(lane);
        let store = &mut self.memory.stores[slot.buffer];
        let words = first / 4..(first + bytes.len()).div_ceil(4);
        trace_stored(store, trace, words, Stored::Part);
        for (at, byte) in (first..).zip(&bytes) {
            // An undefined value was reported where it was written.
            store.write_byte(at, *byte, true);
        }
        self.memory.workspace.bytes = bytes;
        NOTHING
    }

    fn texel_atomic(
        &mut self,
        op: AtomicOperation,
        step: &ImageInstruction,
        descriptor: u32,
        slot: BoundRange,
        lane: usize,
        place: u32,
    ) -> Got {
        let Some(first) = self.located(step, descriptor, slot, lane, place) else { return NOTHING };
        let operand =
            |at: usize| step.texel.get(at).map_or(0, |parts| self.registers.number(*parts, lane));
        let (value, comparator) = (operand(0), operand(1));
        let words = step.form.width().words();
        let at = first / 4;
        let old =
            self.memory.stores[slot.buffer].bytes_as_number(&(first..first + 4 * words)) as u64;
        let new = op.apply(step.form, old, value, comparator);
        let touch = if new.is_some() { op.access_kind() } else { AccessKind::AtomicRead };
        let after = self.monitor.order.as_ref().map_or(0, |_| self.monitor.clock.advance_time());
        let atomic = AtomicAccess { op, after, mark: AtomicMark::InOrder };
        self.observe_texel(
            (descriptor, slot),
            (lane, first..first + 4 * words),
            (touch, new.map(u128::from)),
            Some(atomic),
            place,
        );
        let trace = self.path(lane);
        let store = &mut self.memory.stores[slot.buffer];
        trace_stored(store, trace, at..at + words, Stored::Part);
        let passes = op.returns_old_value();
        let undefined = op.reads_memory() && (at..at + words).any(|word| store.is_undefined(word));
        let changed = new.is_some_and(|new| new != old);
        if let Some(new) = new {
            for (half, word) in (at..at + words).enumerate() {
                store.words[word] = (new >> (32 * half)) as u32;
                store.set_defined(word, true);
            }
        }
        self.watch_change(AccessRoot::Descriptor(descriptor), changed);
        if undefined && self.monitor.track_undefined && !passes {
            let mut lanes = LaneMask::EMPTY;
            lanes.insert(lane);
            let message = format!(
                "an atomic operation reads an uninitialised texel of `{}`",
                step.image.name
            );
            self.report_undefined(&lanes, place, &message);
        }
        Got { value: [old, 0, 0, 0], undefined: undefined && passes }
    }

    /// What an atomic would do to a lane's texel: its buffer, its first word, the old and the new
    /// value; none where that lies outside.
    pub(crate) fn texel_effect(
        &self,
        op: AtomicOperation,
        step: &ImageInstruction,
        lane: usize,
    ) -> Option<(usize, usize, [u64; 2])> {
        let element = step
            .image
            .index
            .map_or(0, |index| self.registers.words[index.register.0 as usize][lane]);
        let descriptor = *step.image.descriptors.get(element as usize)?;
        let slot = self.memory.slots[descriptor as usize]?;
        let first = 4 * slot.first
            + slot.view.texel_offset(&self.registers.named(step, &slot.view, lane))?;
        let operand =
            |at: usize| step.texel.get(at).map_or(0, |parts| self.registers.number(*parts, lane));
        let old = self.memory.stores[slot.buffer]
            .bytes_as_number(&(first..first + 4 * step.form.width().words()))
            as u64;
        let new = op.apply(step.form, old, operand(0), operand(1)).unwrap_or(old);
        Some((slot.buffer, first / 4, [old, new]))
    }

    /// Notes an access of a lane to the bytes of a texel, and what it leaves there where that is
    /// new.
    fn observe_texel(
        &mut self,
        (descriptor, slot): (u32, BoundRange),
        (lane, bytes): (usize, Range<usize>),
        (touch, new): (AccessKind, Option<u128>),
        atomic: Option<AtomicAccess>,
        place: u32,
    ) {
        let Monitor { track_races, clock, .. } = &self.monitor;
        let moment = Moment::of(clock, MemoryKinds::IMAGES, self.registers.first_lane, place);
        let store = &mut self.memory.stores[slot.buffer];
        let held = if *track_races { store.bytes_as_number(&bytes) } else { 0 };
        let values = [held, new.unwrap_or(held)];
        self.monitor.observe(store, &moment, &LaneAccess { lane, bytes, touch, values, atomic });
        if !self.monitor.users.is_empty() {
            self.tell_users(AccessRoot::Descriptor(descriptor), place);
        }
    }

    /// Texels of a level on each axis, and layers.
    fn size(&mut self, step: &ImageInstruction, slot: BoundRange, lane: usize, place: u32) -> Got {
        let picture = match slot.view {
            DescriptorView::Texels(_, texels) => {
                return Got { value: [u64::from(texels), 0, 0, 0], undefined: false };
            }
            DescriptorView::Image(picture, _) => picture,
            DescriptorView::Bytes | DescriptorView::Sampler(_) => return NOTHING,
        };
        let at = self.registers.named(step, &slot.view, lane);
        let level = u32::try_from(at.level).ok().filter(|level| *level < picture.view.levels);
        let Some(level) = level else {
            self.tell(FindingKind::UndefinedValue, lane, place, || {
                let (name, levels) = (&step.image.name, picture.view.levels);
                format!(
                    "the size of level {} of `{name}` is asked for, which has {levels} levels",
                    at.level
                )
            });
            return NOTHING;
        };
        let axes = image_view::axis_count(picture.view.kind);
        let mut value = [0; 4];
        for (value, size) in value.iter_mut().zip(picture.level_extent(level)).take(axes) {
            *value = u64::from(size);
        }
        if image_view::is_arrayed(picture.view.kind) {
            let cube = image_view::direction_count(picture.view.kind) > axes;
            value[axes] = u64::from(picture.view.layers / if cube { 6 } else { 1 });
        }
        Got { value, undefined: false }
    }
}

fn levels(view: &DescriptorView) -> u64 {
    match view {
        DescriptorView::Image(picture, _) => u64::from(picture.view.levels),
        DescriptorView::Bytes | DescriptorView::Texels(..) | DescriptorView::Sampler(_) => 0,
    }
}

fn samples(view: &DescriptorView) -> u64 {
    match view {
        DescriptorView::Image(picture, _) => u64::from(picture.shape.samples),
        DescriptorView::Bytes | DescriptorView::Texels(..) | DescriptorView::Sampler(_) => 0,
    }
}
