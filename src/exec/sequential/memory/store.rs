//! Memory that invocations share: buffers, workgroup memory, push constants, by 32-bit words.
//!
//! Promises: a byte is undefined while neither the test nor the kernel has written it; a word,
//! while one of its bytes is.

use super::access_sets::AccessSet;
use super::copy_on_write::CopyOnWrite;
use super::definitions::{Definitions, FirstWriter};
use super::image_view::{DescriptorView, ImageSubresource};
use super::race_shadow::{AccessStamp, CurrentAccess, RaceShadow};
use crate::ir::memory_semantics::OrderedMemory;
use std::ops::Range;
use vkcert_exec::resource::JobView;
use vkcert_exec::{Job, JobBinding};
use vkcert_model::index_range::IndexRange;

/// What undefined memory reads as.
pub(crate) const UNDEFINED_WORD: u32 = 0xCDCD_CDCD;

/// A block of words.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub words: CopyOnWrite<u32>,
    /// One bit per byte, 16 words to an entry; none where every byte is defined.
    pub undefined: Option<CopyOnWrite<u64>>,
    pub shadow: Option<RaceShadow>,
    /// The access set, where workgroups run on several cores.
    pub access_set: Option<AccessSet>,
    /// Who wrote it last, where that is followed.
    pub definitions: Option<Definitions>,
    /// By word: the control-flow trace hash of its value, 0 for a value from before the dispatch;
    /// only in varied runs.
    pub control_traces: Option<Vec<u64>>,
}

/// Where the bits of some bytes of a word are: index of the entry, and mask.
fn undefined_bit_mask(word_index: usize, byte_range: Range<u32>) -> (usize, u64) {
    let byte_mask = ((1u64 << (byte_range.end - byte_range.start)) - 1) << byte_range.start;
    (word_index / 16, byte_mask << (word_index % 16 * 4))
}

impl Store {
    /// From bytes (padded with zeros to whole words) and the ranges that are defined.
    pub(crate) fn from_bytes(bytes: &[u8], defined_ranges: &[Range<usize>]) -> Self {
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| {
                let mut word_bytes = [0; 4];
                word_bytes[..chunk.len()].copy_from_slice(chunk);
                u32::from_le_bytes(word_bytes)
            })
            .collect();
        let mut undefined = vec![0u64; words.len().div_ceil(16)];
        let mut start = 0;
        for range in defined_ranges.iter().cloned().chain(std::iter::once(bytes.len()..bytes.len()))
        {
            for byte in start..range.start.min(bytes.len()) {
                undefined[byte / 64] |= 1 << (byte % 64);
            }
            start = range.end.min(bytes.len());
        }
        let any_undefined = undefined.iter().any(|bits| *bits != 0);
        Self {
            words: words.into(),
            undefined: any_undefined.then(|| undefined.into()),
            ..Self::default()
        }
    }

    pub(crate) fn undefined_words(word_count: usize) -> Self {
        let undefined = Some(vec![0; word_count.div_ceil(16)].into());
        let mut store = Self { words: vec![0; word_count].into(), undefined, ..Self::default() };
        store.make_undefined();
        store
    }

    /// Makes every word undefined.
    pub(crate) fn make_undefined(&mut self) {
        self.words.fill(UNDEFINED_WORD);
        if let Some(undefined) = &mut self.undefined {
            undefined.fill(u64::MAX);
        }
        if let Some(paths) = &mut self.control_traces {
            paths.fill(0);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.reset();
        }
        if let Some(definitions) = &mut self.definitions {
            definitions.clear();
        }
    }

    /// Marks every byte as undefined and leaves it as it is: what is defined afterwards has been
    /// written since.
    pub(crate) fn mark_all_undefined(&mut self) {
        self.undefined = Some(vec![u64::MAX; self.words.len().div_ceil(16)].into());
    }

    #[inline]
    pub(crate) fn is_undefined(&self, word_index: usize) -> bool {
        self.are_bytes_undefined(word_index, 0..4)
    }

    /// Whether one of these bytes of a word is undefined.
    #[inline]
    pub(crate) fn are_bytes_undefined(&self, word_index: usize, byte_range: Range<u32>) -> bool {
        let (entry, byte_mask) = undefined_bit_mask(word_index, byte_range);
        self.undefined.as_ref().is_some_and(|bits| bits[entry] & byte_mask != 0)
    }

    /// A mask of the bytes of a word that are undefined.
    pub(crate) fn undefined_bytes(&self, word_index: usize) -> u32 {
        let undefined = self
            .undefined
            .as_ref()
            .map_or(0, |bits| bits[word_index / 16] >> (word_index % 16 * 4) & 0xf);
        (0..4)
            .filter(|byte| undefined >> byte & 1 == 1)
            .fold(0, |mask, byte| mask | 0xff << (8 * byte))
    }

    /// Whether the host defined every byte and no kernel has written any, as far as writers are
    /// followed.
    #[inline]
    pub(crate) fn holds_host_contents(&self) -> bool {
        self.undefined.is_none()
            && self.definitions.as_ref().is_some_and(|definitions| {
                definitions.is_unwritten() && definitions.first_writer == FirstWriter::Host
            })
    }

    #[inline]
    pub(crate) fn set_defined(&mut self, word_index: usize, defined: bool) {
        self.set_bytes_defined(word_index, 0..4, defined);
    }

    #[inline]
    pub(crate) fn set_bytes_defined(
        &mut self,
        word_index: usize,
        byte_range: Range<u32>,
        defined: bool,
    ) {
        let (entry, byte_mask) = undefined_bit_mask(word_index, byte_range);
        if let Some(bits) = &mut self.undefined {
            if defined {
                bits[entry] &= !byte_mask;
            } else {
                bits[entry] |= byte_mask;
            }
        }
    }

    /// Some bytes, at most 16, as a number.
    pub(crate) fn bytes_as_number(&self, byte_range: IndexRange) -> u128 {
        let byte_at = |byte_index: usize| {
            u128::from(self.words[byte_index / 4] >> (byte_index % 4 * 8) & 0xff)
        };
        byte_range.into_iter().rev().fold(0, |number, byte_index| number << 8 | byte_at(byte_index))
    }

    pub(crate) fn has_undefined_byte(&self, byte_range: IndexRange) -> bool {
        byte_range.into_iter().any(|byte_index| {
            let byte_in_word = byte_index as u32 % 4;
            self.are_bytes_undefined(byte_index / 4, byte_in_word..byte_in_word + 1)
        })
    }

    pub(crate) fn write_byte(&mut self, byte_index: usize, byte: u8, defined: bool) {
        let (shift, byte_in_word) = (byte_index % 4 * 8, byte_index as u32 % 4);
        self.words[byte_index / 4] =
            (self.words[byte_index / 4] & !(0xff << shift)) | u32::from(byte) << shift;
        self.set_bytes_defined(byte_index / 4, byte_in_word..byte_in_word + 1, defined);
    }

    pub(crate) fn leading_bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        bytes
    }
}

/// A descriptor's range of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BoundRange {
    pub buffer: usize,
    /// First word in the buffer.
    pub first: usize,
    /// Whole words in the range.
    pub words: u32,
    /// Bytes in the range.
    pub bytes: u32,
    pub view: DescriptorView,
}

impl BoundRange {
    /// All of a store.
    pub(crate) fn whole_store(buffer: usize, word_count: usize) -> Self {
        Self {
            buffer,
            first: 0,
            words: word_count as u32,
            bytes: word_count as u32 * 4,
            view: DescriptorView::Bytes,
        }
    }
}

/// Why a binding cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BindingError {
    #[error(
        "levels or layers that the image does not have, or an image that the job does not have"
    )]
    View,
    #[error("binding offset {0} is no multiple of 4")]
    Offset(u64),
    #[error("the bound range ends behind its buffer")]
    Range,
}

impl BoundRange {
    /// What a binding shows of the job's buffers; dynamic offsets count for the dynamic classes,
    /// whose alone they are.
    pub(crate) fn from_binding(binding: &JobBinding, job: &Job) -> Result<Self, BindingError> {
        let held_bytes =
            |buffer: usize| job.buffers.get(buffer).map(|buffer| buffer.bytes.len() as u64);
        let (offset, range) = match binding.view {
            JobView::Bytes | JobView::Texels(_) => (
                binding.offset.checked_add(binding.dynamic_offset).ok_or(BindingError::Range)?,
                binding.range,
            ),
            JobView::Image(_) | JobView::Combined(..) => {
                (0, held_bytes(binding.buffer).ok_or(BindingError::Range)?)
            }
            JobView::Sampler(sampler) => {
                let is_known = (sampler as usize) < job.resources.samplers.len();
                let empty_slot = Self {
                    buffer: 0,
                    first: 0,
                    words: 0,
                    bytes: 0,
                    view: DescriptorView::Sampler(sampler),
                };
                return if is_known { Ok(empty_slot) } else { Err(BindingError::View) };
            }
        };
        if offset % 4 != 0 {
            return Err(BindingError::Offset(offset));
        }
        let buffer_size = held_bytes(binding.buffer).ok_or(BindingError::Range)?;
        if offset.checked_add(range).is_none_or(|end| end > buffer_size) {
            return Err(BindingError::Range);
        }
        let to_word = |bytes: u64| u32::try_from(bytes).map_err(|_| BindingError::Range);
        let view = match binding.view {
            JobView::Bytes | JobView::Sampler(_) => DescriptorView::Bytes,
            JobView::Texels(format) => {
                DescriptorView::Texels(format, to_word(range / format.texel_size() as u64)?)
            }
            JobView::Image(_) => DescriptorView::Image(bound_subresource(binding, job)?, None),
            JobView::Combined(_, sampler) => {
                DescriptorView::Image(bound_subresource(binding, job)?, Some(sampler))
            }
        };
        let (words, bytes) = (to_word(range / 4)?, to_word(range)?);
        Ok(Self { buffer: binding.buffer, first: (offset / 4) as usize, words, bytes, view })
    }
}

/// The image that a binding shows.
fn bound_subresource(binding: &JobBinding, job: &Job) -> Result<ImageSubresource, BindingError> {
    let image = job.resources.images.iter().find(|image| image.buffer as usize == binding.buffer);
    let (Some(image), Some(view)) = (image, binding.view.image()) else {
        return Err(BindingError::View);
    };
    let shape = image.shape;
    let held_bytes = job.buffers[binding.buffer].bytes.len() as u64;
    let is_inside = range_fits(view.level, view.levels, shape.levels)
        && range_fits(view.layer, view.layers, shape.layers);
    if is_inside && shape.bytes() == Some(held_bytes) {
        Ok(ImageSubresource { shape, view })
    } else {
        Err(BindingError::View)
    }
}

/// Whether a range of levels or layers is not empty and ends within all of them.
fn range_fits(first: u32, count: u32, all: u32) -> bool {
    count > 0 && first.checked_add(count).is_some_and(|end| end <= all)
}

/// Whether a dispatch sees some memory both as bytes and as texels: barriers then order it as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedViews {
    No,
    Yes,
}

/// Whether some buffer is bound both as bytes and as texels.
pub(crate) fn shared_views(slots: &[Option<BoundRange>]) -> SharedViews {
    let bound_buffers = |as_bytes: bool| {
        let is_bound_so = move |slot: &&BoundRange| match slot.view {
            DescriptorView::Bytes => as_bytes,
            DescriptorView::Texels(..) | DescriptorView::Image(..) => !as_bytes,
            DescriptorView::Sampler(_) => false,
        };
        slots.iter().flatten().filter(is_bound_so).map(|slot| slot.buffer)
    };
    if bound_buffers(true)
        .any(|buffer| bound_buffers(false).any(|texel_buffer| texel_buffer == buffer))
    {
        SharedViews::Yes
    } else {
        SharedViews::No
    }
}

/// The scalar clock of race detection by intervals (see `race_shadow`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct IntervalClock {
    latest: u32,
    buffers: u32,
    images: u32,
    workgroup: u32,
    first_of_workgroup: u32,
    shared: SharedViews,
}

impl IntervalClock {
    /// Time 0 is before everything.
    pub(crate) fn new(shared: SharedViews) -> Self {
        Self { latest: 0, buffers: 0, images: 0, workgroup: 0, first_of_workgroup: 0, shared }
    }

    /// A workgroup starts; gives its first time.
    pub(crate) fn start_workgroup(&mut self) -> u32 {
        self.latest += 1;
        self.buffers = self.latest;
        self.images = self.latest;
        self.workgroup = self.latest;
        self.first_of_workgroup = self.latest;
        self.latest
    }

    /// What is ordered where one memory may be both buffer and image: then either only with the
    /// other.
    pub(crate) fn coupled_memory(&self, ordered_memory: OrderedMemory) -> OrderedMemory {
        match self.shared {
            SharedViews::Yes => {
                let both_ordered = ordered_memory.buffers && ordered_memory.images;
                OrderedMemory { buffers: both_ordered, images: both_ordered, ..ordered_memory }
            }
            SharedViews::No => ordered_memory,
        }
    }

    /// A barrier orders the memories named.
    pub(crate) fn pass_barrier(&mut self, ordered_memory: OrderedMemory) {
        self.latest += 1;
        let ordered_memory = self.coupled_memory(ordered_memory);
        if ordered_memory.images {
            self.images = self.latest;
        }
        if ordered_memory.buffers {
            self.buffers = self.latest;
        }
        if ordered_memory.workgroup {
            self.workgroup = self.latest;
        }
    }

    /// The latest time so far.
    pub(crate) fn latest(&self) -> u32 {
        self.latest
    }

    /// A time of its own, for what orders some invocations only.
    pub(crate) fn advance_time(&mut self) -> u32 {
        self.latest += 1;
        self.latest
    }

    pub(crate) fn access_in_buffers(&self, lane: u32, source_index: u32) -> CurrentAccess {
        CurrentAccess {
            stamp: AccessStamp::new(self.buffers, lane, source_index),
            workgroup_start: self.first_of_workgroup,
            first_racing_time: 1,
        }
    }

    pub(crate) fn access_in_images(&self, lane: u32, source_index: u32) -> CurrentAccess {
        CurrentAccess {
            stamp: AccessStamp::new(self.images, lane, source_index),
            workgroup_start: self.first_of_workgroup,
            first_racing_time: 1,
        }
    }

    pub(crate) fn access_in_workgroup(&self, lane: u32, source_index: u32) -> CurrentAccess {
        let first_time = self.first_of_workgroup;
        CurrentAccess {
            stamp: AccessStamp::new(self.workgroup, lane, source_index),
            workgroup_start: first_time,
            first_racing_time: first_time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_one_undefined_byte_is_undefined() {
        let store = Store::from_bytes(&[0; 16], &[0..4, 5..8, 8..12]);
        let undefined: Vec<bool> = (0..4).map(|word| store.is_undefined(word)).collect();
        assert_eq!(undefined, [false, true, false, true]);
    }

    #[test]
    fn a_wholly_defined_buffer_keeps_no_bits() {
        assert!(Store::from_bytes(&[0; 6], std::slice::from_ref(&(0..6))).undefined.is_none());
    }
}
