//! Which element a byte belongs to, as far as it was asked before.
//!
//! Promises: the same answers as asking the block for each byte.
//! Does not cover: arrays whose elements are large; their bytes are asked for one by one.

use super::parts::StoreTarget;
use std::ops::Range;
use vkcert_exec::alteration::Elements;
use vkcert_exec::prepare::{BoundBlock, MemberArray};

/// The bytes of an element, and where its member begins; none between members.
pub(super) type KnownElement = Option<(Range<usize>, u64)>;

/// Bytes from one element of an array to the next up to which all of one is remembered.
const MOST_STRIDE: u64 = 1 << 16;

/// Elements of a target by their bytes. Of an array the first element tells what is in all.
pub(super) struct ElementCache<'a> {
    target: &'a StoreTarget,
    elements: &'a Elements<'a>,
    array: Option<MemberArray>,
    /// By byte of the first element of the array, from its start on.
    known: Vec<Option<KnownElement>>,
}

impl<'a> ElementCache<'a> {
    /// Of what a store can reach; nothing is known yet.
    pub(super) fn of_target(target: &'a StoreTarget, elements: &'a Elements<'a>) -> Self {
        Self { target, elements, array: None, known: Vec::new() }
    }

    /// The bytes of the element that a byte belongs to, and where its member begins; none between
    /// members.
    pub(super) fn element_at_byte(&mut self, byte: usize) -> KnownElement {
        let Some(block) = &self.target.block else {
            return Some((self.elements.stored_at(self.target.buffer, byte), 0));
        };
        if !self.array.as_ref().is_some_and(|array| array.bytes.contains(&(byte as u64))) {
            self.array = block.array_at(byte as u64).filter(|array| array.stride <= MOST_STRIDE);
            self.known = vec![None; self.array.as_ref().map_or(0, |array| array.stride as usize)];
        }
        let Some(array) = &self.array else { return element_at(block, byte) };
        let start = array.bytes.start as usize;
        let byte_in_element = (byte - start) % array.stride as usize;
        let element_start = byte - start - byte_in_element;
        let (element, member) = self.known[byte_in_element]
            .get_or_insert_with(|| element_at(block, start + byte_in_element))
            .as_ref()?;
        Some((element.start + element_start..element.end + element_start, *member))
    }
}

fn element_at(block: &BoundBlock, byte: usize) -> KnownElement {
    let (offset, scalar) = block.scalar_at(byte as u64)?;
    let offset = offset as usize;
    Some((offset..offset + scalar.size(), block.member_start(byte as u64)?))
}
