//! Memory that invocations share: buffers, workgroup memory, push constants, by 32-bit words.
//!
//! Promises: a byte is undefined while neither the test nor the kernel has written it; a word,
//! while one of its bytes is.

use super::access_sets::Marks;
use super::copy_on_write::Contents;
use super::image_view::{Picture, View};
use super::race_shadow::{Now, Shadow, Stamp};
use crate::ir::memory_semantics::OrderedMemory;
use std::ops::Range;
use vkcert_exec::resource::JobView;
use vkcert_exec::{Job, JobBinding};

/// What undefined memory reads as.
pub(crate) const UNDEFINED_WORD: u32 = 0xCDCD_CDCD;

/// A block of words.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub words: Contents<u32>,
    /// One bit per byte, 16 words to an entry; none where every byte is defined.
    pub undefined: Option<Contents<u64>>,
    pub shadow: Option<Shadow>,
    /// What was accessed, where workgroups run on several cores.
    pub marks: Option<Marks>,
    /// By word: the path by which its value came to be, 0 for what was there before; in varied runs
    /// alone.
    pub paths: Option<Vec<u64>>,
}

/// The place of some bytes of a word among the bits: entry and mask.
fn bits(word: usize, bytes: Range<u32>) -> (usize, u64) {
    let mask = ((1u64 << (bytes.end - bytes.start)) - 1) << bytes.start;
    (word / 16, mask << (word % 16 * 4))
}

impl Store {
    /// From bytes (padded with zeros to whole words) and the ranges that are defined.
    pub(crate) fn of_bytes(bytes: &[u8], defined: &[Range<usize>]) -> Self {
        let words: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| {
                let mut four = [0; 4];
                four[..chunk.len()].copy_from_slice(chunk);
                u32::from_le_bytes(four)
            })
            .collect();
        let mut undefined = vec![0u64; words.len().div_ceil(16)];
        let mut start = 0;
        for range in defined.iter().cloned().chain(std::iter::once(bytes.len()..bytes.len())) {
            for byte in start..range.start.min(bytes.len()) {
                undefined[byte / 64] |= 1 << (byte % 64);
            }
            start = range.end.min(bytes.len());
        }
        let any = undefined.iter().any(|bits| *bits != 0);
        Self { words: words.into(), undefined: any.then(|| undefined.into()), ..Self::default() }
    }

    pub(crate) fn undefined_words(words: usize) -> Self {
        let undefined = Some(vec![0; words.div_ceil(16)].into());
        let mut store = Self { words: vec![0; words].into(), undefined, ..Self::default() };
        store.reset();
        store
    }

    /// Makes every word undefined.
    pub(crate) fn reset(&mut self) {
        self.words.fill(UNDEFINED_WORD);
        if let Some(undefined) = &mut self.undefined {
            undefined.fill(u64::MAX);
        }
        if let Some(paths) = &mut self.paths {
            paths.fill(0);
        }
        if let Some(shadow) = &mut self.shadow {
            shadow.reset();
        }
    }

    /// Marks every byte as undefined and leaves it as it is: what is defined afterwards has been
    /// written since.
    pub(crate) fn forget(&mut self) {
        self.undefined = Some(vec![u64::MAX; self.words.len().div_ceil(16)].into());
    }

    #[inline]
    pub(crate) fn is_undefined(&self, word: usize) -> bool {
        self.is_part_undefined(word, 0..4)
    }

    /// Whether one of these bytes of a word is undefined.
    #[inline]
    pub(crate) fn is_part_undefined(&self, word: usize, bytes: Range<u32>) -> bool {
        let (entry, mask) = bits(word, bytes);
        self.undefined.as_ref().is_some_and(|bits| bits[entry] & mask != 0)
    }

    /// A mask of the bytes of a word that are undefined.
    pub(crate) fn undefined_bytes(&self, word: usize) -> u32 {
        let undefined =
            self.undefined.as_ref().map_or(0, |bits| bits[word / 16] >> (word % 16 * 4) & 0xf);
        (0..4)
            .filter(|byte| undefined >> byte & 1 == 1)
            .fold(0, |mask, byte| mask | 0xff << (8 * byte))
    }

    #[inline]
    pub(crate) fn define(&mut self, word: usize, defined: bool) {
        self.define_part(word, 0..4, defined);
    }

    #[inline]
    pub(crate) fn define_part(&mut self, word: usize, bytes: Range<u32>, defined: bool) {
        let (entry, mask) = bits(word, bytes);
        if let Some(bits) = &mut self.undefined {
            if defined {
                bits[entry] &= !mask;
            } else {
                bits[entry] |= mask;
            }
        }
    }

    /// Some bytes, at most 16, as a number.
    pub(crate) fn number(&self, bytes: &Range<usize>) -> u128 {
        let byte = |at: usize| u128::from(self.words[at / 4] >> (at % 4 * 8) & 0xff);
        bytes.clone().rev().fold(0, |number, at| number << 8 | byte(at))
    }

    pub(crate) fn is_any_undefined(&self, bytes: &Range<usize>) -> bool {
        bytes.clone().any(|at| {
            let part = at as u32 % 4;
            self.is_part_undefined(at / 4, part..part + 1)
        })
    }

    pub(crate) fn write_byte(&mut self, at: usize, byte: u8, defined: bool) {
        let (shift, part) = (at % 4 * 8, at as u32 % 4);
        self.words[at / 4] = (self.words[at / 4] & !(0xff << shift)) | u32::from(byte) << shift;
        self.define_part(at / 4, part..part + 1, defined);
    }

    pub(crate) fn bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(length);
        bytes
    }
}

/// A descriptor's range of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub buffer: usize,
    /// First word in the buffer.
    pub first: usize,
    /// Whole words in the range.
    pub words: u32,
    /// Bytes in the range.
    pub bytes: u32,
    pub view: View,
}

impl Slot {
    /// All of a store.
    pub(crate) fn whole(buffer: usize, words: usize) -> Self {
        Self { buffer, first: 0, words: words as u32, bytes: words as u32 * 4, view: View::Bytes }
    }
}

/// Why a binding cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SlotError {
    #[error(
        "levels or layers that the image does not have, or an image that the job does not have"
    )]
    View,
    #[error("binding offset {0} is no multiple of 4")]
    Offset(u64),
    #[error("the bound range ends behind its buffer")]
    Range,
}

impl Slot {
    /// What a binding shows of the job's buffers; dynamic offsets count for the dynamic classes,
    /// whose alone they are.
    pub(crate) fn of(binding: &JobBinding, job: &Job) -> Result<Self, SlotError> {
        let held = |buffer: usize| job.buffers.get(buffer).map(|buffer| buffer.bytes.len() as u64);
        let (offset, range) = match binding.view {
            JobView::Bytes | JobView::Texels(_) => (
                binding.offset.checked_add(binding.dynamic_offset).ok_or(SlotError::Range)?,
                binding.range,
            ),
            JobView::Image(_) | JobView::Combined(..) => {
                (0, held(binding.buffer).ok_or(SlotError::Range)?)
            }
            JobView::Sampler(sampler) => {
                let known = (sampler as usize) < job.resources.samplers.len();
                let none =
                    Self { buffer: 0, first: 0, words: 0, bytes: 0, view: View::Sampler(sampler) };
                return if known { Ok(none) } else { Err(SlotError::View) };
            }
        };
        if offset % 4 != 0 {
            return Err(SlotError::Offset(offset));
        }
        let size = held(binding.buffer).ok_or(SlotError::Range)?;
        if offset.checked_add(range).is_none_or(|end| end > size) {
            return Err(SlotError::Range);
        }
        let narrow = |bytes: u64| u32::try_from(bytes).map_err(|_| SlotError::Range);
        let view = match binding.view {
            JobView::Bytes | JobView::Sampler(_) => View::Bytes,
            JobView::Texels(format) => {
                View::Texels(format, narrow(range / format.texel_size() as u64)?)
            }
            JobView::Image(_) => View::Image(picture(binding, job)?, None),
            JobView::Combined(_, sampler) => View::Image(picture(binding, job)?, Some(sampler)),
        };
        let (words, bytes) = (narrow(range / 4)?, narrow(range)?);
        Ok(Self { buffer: binding.buffer, first: (offset / 4) as usize, words, bytes, view })
    }
}

/// The image that a binding shows.
fn picture(binding: &JobBinding, job: &Job) -> Result<Picture, SlotError> {
    let image = job.resources.images.iter().find(|image| image.buffer as usize == binding.buffer);
    let (Some(image), Some(view)) = (image, binding.view.image()) else {
        return Err(SlotError::View);
    };
    let fits = |first: u32, count: u32, all: u32| {
        count > 0 && first.checked_add(count).is_some_and(|end| end <= all)
    };
    let shape = image.shape;
    let held = job.buffers[binding.buffer].bytes.len() as u64;
    let inside =
        fits(view.level, view.levels, shape.levels) && fits(view.layer, view.layers, shape.layers);
    if inside && shape.bytes() == Some(held) {
        Ok(Picture { shape, view })
    } else {
        Err(SlotError::View)
    }
}

/// Whether a dispatch sees some memory both as bytes and as texels: barriers then order it as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shared {
    No,
    Yes,
}

/// Whether some buffer is bound both as bytes and as texels.
pub(crate) fn shared_memory(slots: &[Option<Slot>]) -> Shared {
    let bound = |as_bytes: bool| {
        let one = move |slot: &&Slot| match slot.view {
            View::Bytes => as_bytes,
            View::Texels(..) | View::Image(..) => !as_bytes,
            View::Sampler(_) => false,
        };
        slots.iter().flatten().filter(one).map(|slot| slot.buffer)
    };
    if bound(true).any(|buffer| bound(false).any(|other| other == buffer)) {
        Shared::Yes
    } else {
        Shared::No
    }
}

/// The times of race detection (see `race_shadow`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    latest: u32,
    buffers: u32,
    images: u32,
    workgroup: u32,
    first_of_workgroup: u32,
    shared: Shared,
}

impl Clock {
    /// Time 0 is before everything.
    pub(crate) fn new(shared: Shared) -> Self {
        Self { latest: 0, buffers: 0, images: 0, workgroup: 0, first_of_workgroup: 0, shared }
    }

    /// A workgroup starts; gives its first time.
    pub(crate) fn workgroup_starts(&mut self) -> u32 {
        self.latest += 1;
        self.buffers = self.latest;
        self.images = self.latest;
        self.workgroup = self.latest;
        self.first_of_workgroup = self.latest;
        self.latest
    }

    /// What is ordered where one memory may be both buffer and image: then either only with the
    /// other.
    pub(crate) fn coupled(&self, ordered: OrderedMemory) -> OrderedMemory {
        match self.shared {
            Shared::Yes => {
                let both = ordered.buffers && ordered.images;
                OrderedMemory { buffers: both, images: both, ..ordered }
            }
            Shared::No => ordered,
        }
    }

    /// A barrier orders the memories named.
    pub(crate) fn barrier(&mut self, ordered: OrderedMemory) {
        self.latest += 1;
        let ordered = self.coupled(ordered);
        if ordered.images {
            self.images = self.latest;
        }
        if ordered.buffers {
            self.buffers = self.latest;
        }
        if ordered.workgroup {
            self.workgroup = self.latest;
        }
    }

    /// The latest time so far.
    pub(crate) fn latest(&self) -> u32 {
        self.latest
    }

    /// A time of its own, for what orders some invocations only.
    pub(crate) fn tick(&mut self) -> u32 {
        self.latest += 1;
        self.latest
    }

    pub(crate) fn in_buffers(&self, lane: u32, place: u32) -> Now {
        Now {
            stamp: Stamp::new(self.buffers, lane, place),
            workgroup: self.first_of_workgroup,
            epoch: 1,
        }
    }

    pub(crate) fn in_images(&self, lane: u32, place: u32) -> Now {
        Now {
            stamp: Stamp::new(self.images, lane, place),
            workgroup: self.first_of_workgroup,
            epoch: 1,
        }
    }

    pub(crate) fn in_workgroup(&self, lane: u32, place: u32) -> Now {
        let first = self.first_of_workgroup;
        Now { stamp: Stamp::new(self.workgroup, lane, place), workgroup: first, epoch: first }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_one_undefined_byte_is_undefined() {
        let store = Store::of_bytes(&[0; 16], &[0..4, 5..8, 8..12]);
        let undefined: Vec<bool> = (0..4).map(|word| store.is_undefined(word)).collect();
        assert_eq!(undefined, [false, true, false, true]);
    }

    #[test]
    fn a_wholly_defined_buffer_keeps_no_bits() {
        assert!(Store::of_bytes(&[0; 6], std::slice::from_ref(&(0..6))).undefined.is_none());
    }
}
