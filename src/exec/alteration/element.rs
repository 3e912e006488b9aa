//! Stored elements: where they start, what type they are altered as, and in which groups.
//!
//! Knows: the kernel's block, else how the test declares the buffer, else the format of the image;
//! what expectations look at.
//! Promises: elements of a group are of one buffer and one type, and the same expectations look at
//! them, so that none is altered by the scale of others that these do not look at. Integers that an
//! expectation reads as something else are altered as that.
//! Does not cover: how they are altered.

use super::watch::{ReadNumber, Wanted, Watches};
use crate::prepare::Prepared;
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::element::{DataType, ScalarClass, ScalarType};
use vkcert_model::image::TexelEncoding;
use vkcert_model::procedure::Test;

/// What an element is altered as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementKind {
    /// A number or Boolean as it stands.
    Scalar(ScalarType),
    /// A component of a texel whose whole range stands for 0 to 1, or -1 to 1.
    Normalised(ScalarType),
    /// Several numbers in so many bytes.
    Packed(usize),
}

impl ElementKind {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            ElementKind::Scalar(scalar) | ElementKind::Normalised(scalar) => scalar.size(),
            ElementKind::Packed(bytes) => bytes,
        }
    }
}

/// Elements of a buffer that the same expectations look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ElementGroup {
    /// Index into the job's buffers.
    pub buffer: usize,
    /// What the elements are altered as.
    pub kind: ElementKind,
    /// What expectations want there, as far as it is known.
    pub wanted: Wanted,
    /// Bytes, ascending.
    pub offsets: Vec<usize>,
    /// Of elements that were stored in part, by offset: the bytes that were.
    pub in_part: BTreeMap<usize, Vec<Range<usize>>>,
}

/// What tells one group from another: buffer, type, and the expectations that look at it.
type GroupKey = (usize, ElementKind, Vec<usize>);

/// The elements of a test's buffers.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    /// The test's job with its expectations.
    pub plan: &'a Prepared,
    /// The test as its file defines it.
    pub test: &'a Test,
    /// Where expectations look, and at what.
    pub watches: &'a Watches,
}

impl ElementGroup {
    /// A group of no elements.
    pub fn empty(buffer: usize, kind: ElementKind) -> Self {
        Self {
            buffer,
            kind,
            wanted: Wanted::Unknown,
            offsets: Vec::new(),
            in_part: BTreeMap::new(),
        }
    }
}

impl Elements<'_> {
    /// The elements that these bytes of the job's buffers belong to, each once, by group.
    pub fn groups(&self, stored: &[Vec<Range<usize>>]) -> Vec<ElementGroup> {
        let mut groups: BTreeMap<GroupKey, ElementGroup> = BTreeMap::new();
        for (buffer, ranges) in stored.iter().enumerate() {
            let length = self.plan.job.buffers[buffer].bytes.len();
            let mut next = 0;
            for range in ranges {
                let mut at = range.start.max(next);
                while at < range.end {
                    let (offset, kind) = self.at(buffer, at);
                    next = offset + kind.size();
                    if next <= length {
                        let bytes = offset..next;
                        let key = (buffer, kind, self.watches.expectations(buffer, &bytes));
                        let wanted = self.watches.wanted(buffer, &bytes);
                        let group =
                            groups.entry(key).or_insert_with(|| ElementGroup::empty(buffer, kind));
                        group.wanted = group.wanted.max(wanted);
                        group.offsets.push(offset);
                        let parts = self.stored_parts(buffer, &bytes, ranges);
                        if parts.iter().map(Range::len).sum::<usize>() < bytes.len() {
                            group.in_part.insert(offset, parts);
                        }
                    }
                    at = next;
                }
            }
        }
        groups.into_values().collect()
    }

    /// The numbers of an element, by the kernel's block, that some stored byte belongs to: where an
    /// expectation reads several as one.
    fn stored_parts(
        &self,
        buffer: usize,
        element: &Range<usize>,
        stored: &[Range<usize>],
    ) -> Vec<Range<usize>> {
        if self.of_image(buffer).is_some() {
            return vec![element.clone()];
        }
        let first = stored.partition_point(|range| range.end <= element.start);
        let is_stored = |part: &Range<usize>| {
            let mut near = stored[first..].iter().take_while(|range| range.start < part.end);
            near.any(|range| range.end > part.start)
        };
        let mut parts = Vec::new();
        let mut at = element.start;
        while at < element.end {
            let ReadNumber { offset, scalar } = self.declared_number(buffer, at);
            let part = at..(offset + scalar.size()).clamp(at + 1, element.end);
            at = part.end;
            if is_stored(&part) {
                parts.push(part);
            }
        }
        parts
    }

    /// The element that holds a byte: where it starts, and its type.
    fn at(&self, buffer: usize, byte: usize) -> (usize, ElementKind) {
        if let Some(kind) = self.of_image(buffer) {
            return (byte - byte % kind.size(), kind);
        }
        let ReadNumber { offset, scalar } = self.number_at(buffer, byte);
        (offset, ElementKind::Scalar(scalar))
    }

    /// The bytes of the element that holds a byte, as the kernel or the test has it.
    pub fn stored_at(&self, buffer: usize, byte: usize) -> Range<usize> {
        if let Some(kind) = self.of_image(buffer) {
            let start = byte - byte % kind.size();
            return start..start + kind.size();
        }
        let ReadNumber { offset, scalar } = self.declared_number(buffer, byte);
        offset..offset + scalar.size()
    }

    fn of_image(&self, buffer: usize) -> Option<ElementKind> {
        let image =
            self.plan.job.resources.images.iter().find(|image| image.buffer as usize == buffer)?;
        let format = image.shape.format;
        Some(match format.encoding() {
            TexelEncoding::Plain(scalar) => ElementKind::Scalar(scalar),
            TexelEncoding::Unorm(scalar) | TexelEncoding::Snorm(scalar) => {
                ElementKind::Normalised(scalar)
            }
            TexelEncoding::Srgb => ElementKind::Normalised(ScalarType::Uint8),
            TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
                ElementKind::Packed(format.texel_size())
            }
        })
    }

    /// The number at a byte of a buffer that is no image.
    pub fn number_at(&self, buffer: usize, byte: usize) -> ReadNumber {
        let stored = self.declared_number(buffer, byte);
        match stored.scalar.class() {
            ScalarClass::Float => stored,
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                match read_instead(stored, &self.watches.readings(buffer, byte)) {
                    Some(read) => read,
                    // The number belongs to several that are read of its other bytes.
                    None if self.is_read_in_parts(buffer, stored) => {
                        ReadNumber { offset: byte, scalar: ScalarType::Uint8 }
                    }
                    None => stored,
                }
            }
        }
    }

    fn is_read_in_parts(&self, buffer: usize, stored: ReadNumber) -> bool {
        let mut bytes = stored.offset..stored.offset + stored.scalar.size();
        bytes.any(|byte| read_instead(stored, &self.watches.readings(buffer, byte)).is_some())
    }

    /// The same by the kernel's block, else by the test.
    fn declared_number(&self, buffer: usize, byte: usize) -> ReadNumber {
        let block = self.plan.blocks.get(buffer).and_then(Option::as_ref);
        if let Some((offset, scalar)) = block.and_then(|block| block.scalar_at(byte as u64)) {
            return ReadNumber { offset: offset as usize, scalar: whole_number(scalar) };
        }
        let name = &self.plan.job.buffers[buffer].name;
        let scalar = match self.test.buffers.get(name).and_then(|buffer| buffer.data_type) {
            Some(DataType::Element(element)) => whole_number(element.scalar),
            Some(DataType::Reflect) | None => ScalarType::Uint32,
        };
        ReadNumber { offset: byte - byte % scalar.size(), scalar }
    }
}

/// What expectations read where the kernel stores an integer: the bits of floats before all, of the
/// same width first; an integer of another width only where none reads it as it is stored.
fn read_instead(stored: ReadNumber, readings: &[ReadNumber]) -> Option<ReadNumber> {
    let is_float = |read: &&ReadNumber| read.scalar.class() == ScalarClass::Float;
    let as_wide = |read: &&ReadNumber| read.scalar.size() == stored.scalar.size();
    let floats = || readings.iter().filter(is_float);
    let float = floats().find(as_wide).or(floats().next());
    let integers = || {
        let mut integers = readings.iter().filter(|read| read.scalar.class() != ScalarClass::Bool);
        integers.next().filter(|_| !readings.iter().any(|read| as_wide(&read)))
    };
    float.or_else(integers).copied()
}

/// Booleans of blocks are integers.
fn whole_number(scalar: ScalarType) -> ScalarType {
    match scalar.class() {
        ScalarClass::Bool => ScalarType::Uint32,
        ScalarClass::Signed | ScalarClass::Unsigned | ScalarClass::Float => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_altered_as_what_expectations_read() {
        use ScalarType::{Bool, Float16, Float32, Float64, Int32, Uint8, Uint32};
        let number = |offset: usize, scalar: ScalarType| ReadNumber { offset, scalar };
        let stored = number(4, Uint32);
        let read = |readings: &[ReadNumber]| read_instead(stored, readings);
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[number(4, Float32)]), Some(number(4, Float32)));
        assert_eq!(read(&[number(6, Float16)]), Some(number(6, Float16)));
        assert_eq!(read(&[number(0, Float64), number(4, Float32)]), Some(number(4, Float32)));
        assert_eq!(read(&[number(4, Uint32), number(0, Float64)]), Some(number(0, Float64)));
        assert_eq!(read(&[number(5, Uint8)]), Some(number(5, Uint8)));
        assert_eq!(read(&[number(5, Uint8), number(4, Int32)]), None);
        assert_eq!(read(&[number(4, Bool)]), None);
    }
}
