//! Stored elements: where they start, what type they are altered as, and in which groups.
//!
//! Knows: the kernel's block, else how the test declares the buffer, else the format of the image;
//! what expectations look at.
//! Promises: elements of a group are of one buffer and one type, and the same expectations look at
//! them, so that none is altered by the scale of others that these do not look at. Integers that an
//! expectation reads as something else are altered as that.
//! Does not cover: how they are altered.

use super::watch::{ReadNumber, WantedValues, Watches};
use crate::prepare::Prepared;
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::element::{DataType, ScalarClass, ScalarType};
use vkcert_model::image::TexelEncoding;
use vkcert_model::index_range::IndexRange;
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
    pub fn byte_size(self) -> usize {
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
    pub wanted: WantedValues,
    /// Bytes, ascending.
    pub offsets: Vec<usize>,
    /// Of elements that were stored in part, by offset: the bytes that were.
    pub in_part: BTreeMap<usize, Vec<IndexRange>>,
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
    pub fn empty_group(buffer: usize, element_kind: ElementKind) -> Self {
        Self {
            buffer,
            kind: element_kind,
            wanted: WantedValues::Unknown,
            offsets: Vec::new(),
            in_part: BTreeMap::new(),
        }
    }
}

impl Elements<'_> {
    /// The elements that these bytes of the job's buffers belong to, each once, by group.
    pub fn element_groups(&self, stored: &[Vec<Range<usize>>]) -> Vec<ElementGroup> {
        let mut groups: BTreeMap<GroupKey, ElementGroup> = BTreeMap::new();
        for (buffer_index, ranges) in stored.iter().enumerate() {
            let buffer_bytes = self.plan.job.buffers[buffer_index].bytes.len();
            let mut next_element = 0;
            for range in ranges {
                let mut byte_index = range.start.max(next_element);
                while byte_index < range.end {
                    let (element_offset, element_kind) = self.element_at(buffer_index, byte_index);
                    next_element = element_offset + element_kind.byte_size();
                    if next_element <= buffer_bytes {
                        let element_bytes = IndexRange { start: element_offset, end: next_element };
                        let group_key = (
                            buffer_index,
                            element_kind,
                            self.watches.expectations_at(buffer_index, element_bytes),
                        );
                        let wanted_values = self.watches.wanted_at(buffer_index, element_bytes);
                        let group = groups.entry(group_key).or_insert_with(|| {
                            ElementGroup::empty_group(buffer_index, element_kind)
                        });
                        group.wanted = group.wanted.max(wanted_values);
                        group.offsets.push(element_offset);
                        let stored_parts = self.stored_parts(buffer_index, element_bytes, ranges);
                        let stored_byte_count: usize =
                            stored_parts.iter().map(|part| part.len()).sum();
                        if stored_byte_count < element_bytes.len() {
                            group.in_part.insert(element_offset, stored_parts);
                        }
                    }
                    byte_index = next_element;
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
        element: IndexRange,
        stored: &[Range<usize>],
    ) -> Vec<IndexRange> {
        if self.image_element_kind(buffer).is_some() {
            return vec![element];
        }
        let first_range = stored.partition_point(|range| range.end <= element.start);
        let has_stored_byte = |part_range: IndexRange| {
            let mut near_ranges =
                stored[first_range..].iter().take_while(|range| range.start < part_range.end);
            near_ranges.any(|range| range.end > part_range.start)
        };
        let mut part_ranges = Vec::new();
        let mut byte_index = element.start;
        while byte_index < element.end {
            let ReadNumber { offset, scalar } = self.declared_number(buffer, byte_index);
            let part_end = (offset + scalar.size()).clamp(byte_index + 1, element.end);
            let part_range = IndexRange { start: byte_index, end: part_end };
            byte_index = part_end;
            if has_stored_byte(part_range) {
                part_ranges.push(part_range);
            }
        }
        part_ranges
    }

    /// The element that holds a byte: where it starts, and its type.
    fn element_at(&self, buffer: usize, byte: usize) -> (usize, ElementKind) {
        if let Some(element_kind) = self.image_element_kind(buffer) {
            return (byte - byte % element_kind.byte_size(), element_kind);
        }
        let ReadNumber { offset, scalar } = self.number_at(buffer, byte);
        (offset, ElementKind::Scalar(scalar))
    }

    /// The bytes of the element that holds a byte, as the kernel or the test has it.
    pub fn stored_at(&self, buffer: usize, byte: usize) -> Range<usize> {
        if let Some(element_kind) = self.image_element_kind(buffer) {
            let texel_start = byte - byte % element_kind.byte_size();
            return texel_start..texel_start + element_kind.byte_size();
        }
        let ReadNumber { offset, scalar } = self.declared_number(buffer, byte);
        offset..offset + scalar.size()
    }

    fn image_element_kind(&self, buffer: usize) -> Option<ElementKind> {
        let image =
            self.plan.job.resources.images.iter().find(|image| image.buffer as usize == buffer)?;
        let texel_format = image.shape.format;
        Some(match texel_format.encoding() {
            TexelEncoding::Plain(scalar) => ElementKind::Scalar(scalar),
            TexelEncoding::Unorm(scalar) | TexelEncoding::Snorm(scalar) => {
                ElementKind::Normalised(scalar)
            }
            TexelEncoding::Srgb => ElementKind::Normalised(ScalarType::Uint8),
            TexelEncoding::Rgb10A2 | TexelEncoding::Rgb10A2Uint | TexelEncoding::R11G11B10 => {
                ElementKind::Packed(texel_format.texel_size())
            }
        })
    }

    /// The number at a byte of a buffer that is no image.
    pub fn number_at(&self, buffer: usize, byte: usize) -> ReadNumber {
        let stored_number = self.declared_number(buffer, byte);
        match stored_number.scalar.class() {
            ScalarClass::Float => stored_number,
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned
                if self.is_read_as_stored(buffer, stored_number) =>
            {
                stored_number
            }
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned => {
                match read_instead(stored_number, &self.watches.readings_at(buffer, byte)) {
                    Some(read_number) => read_number,
                    // The number belongs to several that are read of its other bytes.
                    None if self.is_read_in_parts(buffer, stored_number) => {
                        ReadNumber { offset: byte, scalar: ScalarType::Uint8 }
                    }
                    None => stored_number,
                }
            }
        }
    }

    /// Whether all that is read of an integer are integers of its width: then nothing is read instead.
    fn is_read_as_stored(&self, buffer: usize, stored_number: ReadNumber) -> bool {
        let ReadNumber { offset, scalar } = stored_number;
        let bytes = IndexRange { start: offset, end: offset + scalar.size() };
        self.watches.scalars_read_in(buffer, bytes).all(|read_type| {
            read_type.class() != ScalarClass::Float && read_type.size() == scalar.size()
        })
    }

    fn is_read_in_parts(&self, buffer: usize, stored_number: ReadNumber) -> bool {
        let mut byte_indices =
            stored_number.offset..stored_number.offset + stored_number.scalar.size();
        byte_indices.any(|byte| {
            read_instead(stored_number, &self.watches.readings_at(buffer, byte)).is_some()
        })
    }

    /// The same by the kernel's block, else by the test.
    fn declared_number(&self, buffer: usize, byte: usize) -> ReadNumber {
        let bound_block = self.plan.blocks.get(buffer).and_then(Option::as_ref);
        if let Some((offset, scalar)) =
            bound_block.and_then(|bound_block| bound_block.scalar_at(byte as u64))
        {
            return ReadNumber { offset: offset as usize, scalar: stored_scalar_type(scalar) };
        }
        let buffer_name = &self.plan.job.buffers[buffer].name;
        let scalar = match self
            .test
            .buffers
            .get(buffer_name)
            .and_then(|declared_buffer| declared_buffer.data_type)
        {
            Some(DataType::Element(element)) => stored_scalar_type(element.scalar),
            Some(DataType::Reflect) | None => ScalarType::Uint32,
        };
        ReadNumber { offset: byte - byte % scalar.size(), scalar }
    }
}

/// What expectations read where the kernel stores an integer: the bits of floats before all, of the
/// same width first; an integer of another width only where none reads it as it is stored.
fn read_instead(stored_number: ReadNumber, readings: &[ReadNumber]) -> Option<ReadNumber> {
    let is_float = |read: &&ReadNumber| read.scalar.class() == ScalarClass::Float;
    let has_stored_width = |read: &&ReadNumber| read.scalar.size() == stored_number.scalar.size();
    let float_readings = || readings.iter().filter(is_float);
    let chosen_float = float_readings().find(has_stored_width).or(float_readings().next());
    let integer_reading = || {
        let mut integer_reading =
            readings.iter().filter(|read| read.scalar.class() != ScalarClass::Bool);
        integer_reading.next().filter(|_| !readings.iter().any(|read| has_stored_width(&read)))
    };
    chosen_float.or_else(integer_reading).copied()
}

/// Booleans of blocks are integers.
fn stored_scalar_type(component_type: ScalarType) -> ScalarType {
    match component_type.class() {
        ScalarClass::Bool => ScalarType::Uint32,
        ScalarClass::Signed | ScalarClass::Unsigned | ScalarClass::Float => component_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_altered_as_what_expectations_read() {
        use ScalarType::{Bool, Float16, Float32, Float64, Int32, Uint8, Uint32};
        let number = |offset: usize, component_type: ScalarType| ReadNumber {
            offset,
            scalar: component_type,
        };
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
