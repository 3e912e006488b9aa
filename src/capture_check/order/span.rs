//! What accesses touch: bytes of memory, or texels of an image.
//!
//! Promises: texels are numbered as the image has them (`vkcert_capture::program::ImageObject`), so
//! that each level and layer is a range of its own. Where texels lie in memory is not known: an
//! image is apart from what else lies in its memory, which `images` tells of.

use vkcert_capture::program::{MemorySpan, Program};

/// What a span is a part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpanPlace {
    /// Index of the memory.
    Memory(usize),
    /// Index of the image.
    Image(usize),
}

/// Bytes of memory or texels of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AccessSpan {
    pub(super) place: SpanPlace,
    /// The first.
    pub(super) start: u64,
    /// Behind the last.
    pub(super) end: u64,
}

impl From<MemorySpan> for AccessSpan {
    fn from(span: MemorySpan) -> Self {
        let MemorySpan { memory, start, end } = span;
        Self { place: SpanPlace::Memory(memory), start, end }
    }
}

impl AccessSpan {
    /// The bytes of memory; none of texels.
    pub(super) fn bytes(&self) -> Option<MemorySpan> {
        match self.place {
            SpanPlace::Memory(memory) => {
                Some(MemorySpan { memory, start: self.start, end: self.end })
            }
            SpanPlace::Image(_) => None,
        }
    }

    /// `memory 1, bytes 0 to 256`; `image 1, level 0, layer 2`
    pub(super) fn in_words(&self, program: &Program) -> String {
        let (start, end) = (self.start, self.end);
        match self.place {
            SpanPlace::Memory(memory) => format!("memory {}, bytes {start} to {end}", memory + 1),
            SpanPlace::Image(image) => {
                let (level, layer) = program.images[image].subresource_at(start);
                format!("image {}, level {level}, layer {layer}", image + 1)
            }
        }
    }
}
