//! Bytes that a dispatch reaches through two variables of which one says that there is no other way
//! to them (`restrict`).
//!
//! Knows: which variables are `restrict`, and what is bound to each descriptor of a program.
//! Promises: where one of two such variables stores to a byte and the other one accesses it, in any
//! invocation of the dispatch and in either order, the later access is a finding. A dispatch whose
//! bound ranges do not overlap pays nothing. Elements of one array of descriptors count as
//! variables of their own.
//! Does not cover: variables of which none is `restrict`, which GLSL lets alias; device addresses.

use super::store::BoundRange;
use crate::ir::RestrictQualifier;
use crate::ir::atomic::AccessKind;
use crate::ir::{Descriptor, Program};
use std::collections::BTreeMap;
use std::ops::Range;
use vkcert_model::index_range::IndexRange;

/// Most overlapping descriptors of one buffer: each has a bit of a word.
const MOST_SHARING: usize = u32::BITS as usize;

/// A descriptor whose range overlaps another one's in the same buffer.
#[derive(Debug, Clone, Copy)]
struct OverlappingDescriptor {
    buffer: usize,
    bit: u32,
    /// Bits of the descriptors with which it may share no byte that is stored to, because one of
    /// the two is `restrict`.
    restricted_against: u32,
}

/// Bits of the descriptors through which a byte was accessed.
#[derive(Debug, Clone, Copy, Default)]
struct ByteUsers {
    read: u32,
    written: u32,
}

/// The accesses of a dispatch through descriptors that overlap, by byte.
#[derive(Debug)]
pub(crate) struct Aliasing {
    /// By descriptor.
    sharers: Vec<Option<OverlappingDescriptor>>,
    /// By buffer and byte.
    users: BTreeMap<usize, Vec<ByteUsers>>,
}

impl Aliasing {
    /// None where no `restrict` descriptor overlaps another; `buffer_bytes` gives the length of a
    /// buffer. Fails where too many overlap.
    pub(crate) fn for_dispatch(
        program: &Program,
        slots: &[Option<BoundRange>],
        buffer_bytes: impl Fn(usize) -> usize,
    ) -> Result<Option<Self>, String> {
        let mut aliasing = Self { sharers: vec![None; slots.len()], users: BTreeMap::new() };
        let mut descriptor_counts: BTreeMap<usize, usize> = BTreeMap::new();
        let clashing = clashing_pairs(&program.descriptors, slots);
        for index in clashing.iter().flatten() {
            let Some(slot) = slots[*index].filter(|_| aliasing.sharers[*index].is_none()) else {
                continue;
            };
            let count = descriptor_counts.entry(slot.buffer).or_default();
            if *count == MOST_SHARING {
                let name = &program.descriptors[*index].name;
                return Err(format!(
                    "more than {MOST_SHARING} descriptors overlap `{name}`, some of them `restrict`"
                ));
            }
            aliasing.sharers[*index] = Some(OverlappingDescriptor {
                buffer: slot.buffer,
                bit: 1 << *count,
                restricted_against: 0,
            });
            *count += 1;
        }
        for [first_index, second_index] in clashing {
            let bits = [first_index, second_index]
                .map(|index| aliasing.sharers[index].map_or(0, |sharer| sharer.bit));
            for (index, bit) in [(first_index, bits[1]), (second_index, bits[0])] {
                if let Some(sharer) = &mut aliasing.sharers[index] {
                    sharer.restricted_against |= bit;
                    let buffer_length = buffer_bytes(sharer.buffer);
                    aliasing
                        .users
                        .entry(sharer.buffer)
                        .or_insert_with(|| vec![ByteUsers::default(); buffer_length]);
                }
            }
        }
        Ok((!aliasing.users.is_empty()).then_some(aliasing))
    }

    /// Notes an access to some bytes of a descriptor's buffer. Returns another descriptor whose
    /// access to one of these bytes violates `restrict` together with this one.
    pub(crate) fn note_access(
        &mut self,
        descriptor: u32,
        byte_range: IndexRange,
        access_kind: AccessKind,
    ) -> Option<u32> {
        let sharer = self.sharers[descriptor as usize]?;
        let byte_users = self.users.get_mut(&sharer.buffer)?.get_mut(byte_range.range())?;
        let mut clashing_bits = 0;
        for user in byte_users {
            match access_kind {
                AccessKind::Read | AccessKind::AtomicRead => {
                    clashing_bits |= user.written;
                    user.read |= sharer.bit;
                }
                AccessKind::Write | AccessKind::AtomicWrite => {
                    clashing_bits |= user.read | user.written;
                    user.written |= sharer.bit;
                }
            }
        }
        let clashing_bits = clashing_bits & sharer.restricted_against;
        let is_other = |other_sharer: &Option<OverlappingDescriptor>| {
            other_sharer.is_some_and(|other_sharer| {
                other_sharer.buffer == sharer.buffer && other_sharer.bit & clashing_bits != 0
            })
        };
        self.sharers.iter().position(is_other).map(|other_sharer| other_sharer as u32)
    }
}

/// Pairs of descriptors that overlap, of which one is `restrict`, and through one of which the
/// program stores.
fn clashing_pairs(descriptors: &[Descriptor], slots: &[Option<BoundRange>]) -> Vec<[usize; 2]> {
    let mut by_buffer: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        if let Some(slot) = slot.filter(|slot| slot.bytes > 0) {
            by_buffer.entry(slot.buffer).or_default().push(index);
        }
    }
    let mut pairs = Vec::new();
    for sharing_indices in
        by_buffer.into_values().filter(|sharing_indices| sharing_indices.len() > 1)
    {
        for (position, first_index) in sharing_indices.iter().enumerate() {
            let clashes = |second_index: &&usize| {
                let descriptor_pair = [&descriptors[*first_index], &descriptors[**second_index]];
                let exclusive = descriptor_pair
                    .iter()
                    .any(|descriptor| descriptor.exclusive == RestrictQualifier::Declared);
                let stores = descriptor_pair
                    .iter()
                    .any(|descriptor| descriptor.written || descriptor.atomics);
                exclusive && stores && ranges_overlap(slots[*first_index], slots[**second_index])
            };
            pairs.extend(
                sharing_indices[position + 1..]
                    .iter()
                    .filter(clashes)
                    .map(|second_index| [*first_index, *second_index]),
            );
        }
    }
    pairs
}

/// Bytes of its buffer that a descriptor is bound to.
fn byte_extent(slot: BoundRange) -> Range<usize> {
    4 * slot.first..4 * slot.first + slot.bytes as usize
}

fn ranges_overlap(first_slot: Option<BoundRange>, second_slot: Option<BoundRange>) -> bool {
    first_slot.map(byte_extent).zip(second_slot.map(byte_extent)).is_some_and(
        |(first_extent, second_extent)| {
            first_extent.start < second_extent.end && second_extent.start < first_extent.end
        },
    )
}

#[cfg(test)]
mod tests {
    use super::super::image_view::DescriptorView;
    use super::*;
    use crate::ir::MemoryClass;

    fn descriptor(array_index: u32, exclusive: RestrictQualifier, written: bool) -> Descriptor {
        Descriptor {
            set: 0,
            binding: 0,
            array_index,
            name: "A".to_owned(),
            kept: MemoryClass::Buffer,
            written,
            atomics: false,
            exclusive,
            may_be_unbound: false,
        }
    }

    fn slot(buffer: usize, first: usize) -> Option<BoundRange> {
        Some(BoundRange { buffer, first, words: 4, bytes: 16, view: DescriptorView::Bytes })
    }

    #[test]
    fn descriptors_clash_where_they_overlap_one_is_restrict_and_one_stores() {
        let told = |exclusive, written, slots: [Option<BoundRange>; 2]| {
            clashing_pairs(
                &[descriptor(0, exclusive, false), descriptor(1, RestrictQualifier::No, written)],
                &slots,
            )
        };
        let overlapping = [slot(0, 0), slot(0, 3)];
        assert_eq!(told(RestrictQualifier::Declared, true, overlapping), [[0, 1]]);
        assert_eq!(told(RestrictQualifier::No, true, overlapping), [[0; 2]; 0]);
        assert_eq!(told(RestrictQualifier::Declared, false, overlapping), [[0; 2]; 0]);
        assert_eq!(told(RestrictQualifier::Declared, true, [slot(0, 0), slot(0, 4)]), [[0; 2]; 0]);
        assert_eq!(told(RestrictQualifier::Declared, true, [slot(0, 0), slot(1, 0)]), [[0; 2]; 0]);
        assert_eq!(told(RestrictQualifier::Declared, true, [slot(0, 0), None]), [[0; 2]; 0]);
    }
}
