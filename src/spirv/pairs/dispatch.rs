//! What one dispatch writes and a later one reads.
//!
//! Knows: both kernels, which of their bindings one buffer or image is bound to, and which bytes of
//! the buffer each of them holds.
//! Promises: each write of the earlier one with each read of the later one that can be to the same
//! bytes of a buffer; where layouts do not tell, to the same buffer. What the configuration of one
//! of the two switches off stays, and is called so.
//! Does not cover: what a third dispatch writes between; what device addresses name, unless both
//! kernels use such: then each with each.

use super::access::SharedAccess;
use super::object::{PathStep, SharedObject};
use super::{
    KernelPairs, MOST_PAIRS, PairError, PairRequest, StaticPair, with_excluded, with_kernel,
};
use crate::flow::DecidedBranches;
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::access_pair::{Passage, ReadDescriptor};
use vkcert_model::id::ModuleKey;

/// The bytes of a buffer that a binding holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoundBytes {
    /// The first one.
    pub start: u64,
    /// Behind the last one; `u64::MAX`: all that the buffer has.
    pub end: u64,
}

/// The bytes of one buffer that two bindings hold, those of the earlier kernel first. Both are
/// counted from the lesser of the two starts, so that equal distances are told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BoundTogether {
    written: BoundBytes,
    read: BoundBytes,
}

/// Bindings of an earlier and of a later kernel that hold one buffer or image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharedBindings {
    /// By the binding of the earlier kernel and that of the later one.
    by_descriptors: BTreeMap<(ReadDescriptor, ReadDescriptor), BTreeSet<BoundTogether>>,
}

impl BoundBytes {
    /// All of a buffer; of an image, whose bytes are not told apart.
    pub const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Whether two ranges have a byte in common.
    fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    fn counted_from(self, start: u64) -> Self {
        let end = if self.end == u64::MAX { self.end } else { self.end - start };
        Self { start: self.start - start, end }
    }
}

impl SharedBindings {
    /// Both bindings hold these bytes of one buffer or image, that of the earlier kernel first.
    /// Ranges that lie apart share nothing.
    pub fn share(
        &mut self,
        (written, written_bytes): (ReadDescriptor, BoundBytes),
        (read, read_bytes): (ReadDescriptor, BoundBytes),
    ) {
        if !written_bytes.overlaps(read_bytes) {
            return;
        }
        let start = written_bytes.start.min(read_bytes.start);
        let together = BoundTogether {
            written: written_bytes.counted_from(start),
            read: read_bytes.counted_from(start),
        };
        self.by_descriptors.entry((written, read)).or_default().insert(together);
    }

    /// The bindings of the earlier and of the later kernel that share bytes.
    pub fn descriptors(&self) -> impl Iterator<Item = (ReadDescriptor, ReadDescriptor)> + '_ {
        self.by_descriptors.keys().copied()
    }

    /// What another order of dispatches shares is shared, too.
    pub fn join(&mut self, other: Self) {
        for (descriptors, together) in other.by_descriptors {
            self.by_descriptors.entry(descriptors).or_default().extend(together);
        }
    }

    /// Whether a write can be to what is read; parts without a place can be anywhere.
    fn may_bring(
        &self,
        write: &LastingWrite,
        read: &SharedAccess,
        place: Option<PartPlace>,
    ) -> bool {
        match (write.object, read.path.object) {
            (SharedObject::Descriptor(written), SharedObject::Descriptor(read)) => {
                let together = self.by_descriptors.get(&(written, read)).into_iter().flatten();
                let mut overlaps = together.map(|bytes| match (write.place, place) {
                    (Some(written), Some(read)) => {
                        written.bound_to(bytes.written).may_overlap(read.bound_to(bytes.read))
                    }
                    (Some(_) | None, None) | (None, Some(_)) => true,
                });
                overlaps.any(|overlap| overlap)
            }
            (SharedObject::Addressed, SharedObject::Addressed) => true,
            (
                SharedObject::Workgroup(_)
                | SharedObject::Descriptor(_)
                | SharedObject::Addressed
                | SharedObject::PushConstants
                | SharedObject::SpecializationConstant(_)
                | SharedObject::NumWorkgroups,
                _,
            ) => false,
        }
    }
}

/// A write of a kernel to memory that outlasts the dispatch.
struct LastingWrite {
    index: usize,
    object: SharedObject,
    /// Bytes from the start of the binding, indices of arrays taken as 0; none where it is not
    /// known.
    place: Option<PartPlace>,
}

/// Which bytes of a binding a part can have, or of the buffer that is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PartPlace {
    /// From where on, with index 0 of the array around it.
    start: u64,
    size: u64,
    /// Bytes between elements of the array around it; 0 without one.
    stride: u64,
    /// End of the part, or of the array around it.
    end: u64,
}

/// The pairs between the stores of `earlier`, known to runs as `earlier_key`, and the reads of
/// `later`, where the two kernels share these bindings.
pub fn dispatch_pairs(
    (earlier, earlier_key): (&PairRequest<'_>, ModuleKey),
    later: &PairRequest<'_>,
    shared: &SharedBindings,
) -> Result<Vec<StaticPair>, PairError> {
    let pairs_on = |branches| pairs_on_branches((earlier, earlier_key), later, shared, branches);
    let reached = pairs_on(DecidedBranches::Specialized)?;
    let possible = pairs_on(DecidedBranches::Unspecialized)?;
    Ok(with_excluded(reached, possible))
}

fn pairs_on_branches(
    (earlier, earlier_key): (&PairRequest<'_>, ModuleKey),
    later: &PairRequest<'_>,
    shared: &SharedBindings,
    branches: DecidedBranches,
) -> Result<Vec<StaticPair>, PairError> {
    let writes = with_kernel(earlier, branches, lasting_writes)?;
    with_kernel(later, branches, |kernel| {
        let mut pairs = Vec::new();
        for read in &kernel.accesses.reads {
            let place = kernel.part_place(read);
            for write in writes.iter().filter(|write| shared.may_bring(write, read, place)) {
                let passage = Passage::Dispatch {
                    kernel: earlier_key.kernel,
                    specialization: earlier_key.specialization,
                    store: write.index as u32,
                };
                pairs.push(kernel.static_pair(read, passage, &read.path));
                if pairs.len() > MOST_PAIRS {
                    return Err(PairError::TooMany);
                }
            }
        }
        Ok(pairs)
    })?
}

fn lasting_writes(kernel: &KernelPairs<'_>) -> Vec<LastingWrite> {
    let writes = kernel.accesses.writes.iter();
    writes
        .map(|write| LastingWrite {
            index: write.index,
            object: write.path.object,
            place: kernel.part_place(write),
        })
        .collect()
}

impl PartPlace {
    /// Of a part of a binding, the part of the buffer: nothing behind what is bound.
    fn bound_to(self, bytes: BoundBytes) -> PartPlace {
        PartPlace {
            start: self.start.saturating_add(bytes.start),
            end: self.end.saturating_add(bytes.start).min(bytes.end),
            ..self
        }
    }

    /// Whether two parts can have a byte in common for some indices. Parts in arrays of different
    /// strides can wherever the arrays do.
    fn may_overlap(self, other: PartPlace) -> bool {
        let is_bound = self.start < self.end && other.start < other.end;
        if !is_bound || self.end <= other.start || other.end <= self.start {
            return false;
        }
        if self.stride != other.stride || self.stride == 0 {
            return true;
        }
        // An element of this array begins so many bytes behind one of the other, and the element
        // before it so many bytes before it.
        let behind =
            (self.start % self.stride + self.stride - other.start % self.stride) % self.stride;
        behind < other.size || self.stride - behind < self.size
    }
}

impl KernelPairs<'_> {
    /// Where a part of a block lies; behind two levels of arrays all of the inner one. Parts whose
    /// layout the module does not tell have no place.
    fn part_place(&self, access: &SharedAccess) -> Option<PartPlace> {
        let types = self.pointers.types;
        let declaration = self.request.module.definition(access.path.declaration)?;
        let mut contents = types.variable_contents(declaration)?.1;
        let constants = self.pointers.constants;
        let (mut start, mut stride, mut array_end, mut matrix) = (0, 0, None, None);
        for step in &access.path.steps {
            let length = types.component_count(contents, constants);
            match (types.get(contents)?, step) {
                (Type::Structure { members, .. }, PathStep::Member(member)) => {
                    let member = members.get(*member as usize)?;
                    start += u64::from(member.offset?);
                    (contents, matrix) = (member.ty, member.matrix);
                }
                (
                    Type::Array { element, stride: own_stride, .. }
                    | Type::RuntimeArray { element, stride: own_stride },
                    PathStep::Element(_),
                ) if stride == 0 => {
                    // An array of descriptors has no stride, and its elements no common place.
                    stride = u64::from((*own_stride)?);
                    let bytes = length.map_or(u64::MAX, |length| length.saturating_mul(stride));
                    array_end = Some(bytes.saturating_add(start));
                    contents = *element;
                }
                (
                    Type::Array { .. } | Type::Vector { .. } | Type::Matrix { .. },
                    PathStep::Element(_),
                ) => break,
                _ => return None,
            }
        }
        let size = types.byte_extent(contents, matrix, constants).ok()?;
        let end = array_end.unwrap_or(start + size);
        (size > 0).then_some(PartPlace { start, size, stride, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(start: u64, size: u64, stride: u64) -> PartPlace {
        PartPlace { start, size, stride, end: 1024 }
    }

    fn part_alone(start: u64, size: u64) -> PartPlace {
        PartPlace { start, size, stride: 0, end: start + size }
    }

    /// Whether an element of one array and one of the other have a byte in common.
    fn have_common_byte(left: PartPlace, right: PartPlace) -> bool {
        let starts = |part: PartPlace| (0..8).map(move |index| part.start + index * part.stride);
        starts(left).any(|own| {
            starts(right).any(|other| own < other + right.size && other < own + left.size)
        })
    }

    #[test]
    fn a_part_that_reaches_into_the_next_element_overlaps_what_lies_there() {
        assert!(part(8, 16, 16).may_overlap(part(0, 4, 16)));
        assert!(part(0, 4, 16).may_overlap(part(8, 16, 16)));
        assert!(!part(8, 8, 16).may_overlap(part(0, 8, 16)));
    }

    fn bound(start: u64, end: u64) -> BoundBytes {
        BoundBytes { start, end }
    }

    #[test]
    fn parts_of_a_buffer_that_is_bound_at_two_offsets_are_compared_there() {
        // The first element of an array of 4 bytes each, and a number of 4 bytes.
        let (element, number) = (PartPlace { end: 256, ..part(0, 4, 4) }, part_alone(0, 4));
        let overlaps = |written: BoundBytes, read: BoundBytes| {
            element.bound_to(written).may_overlap(number.bound_to(read))
        };
        assert!(overlaps(bound(0, u64::MAX), bound(252, u64::MAX)));
        assert!(!overlaps(bound(0, u64::MAX), bound(256, u64::MAX)));
        assert!(overlaps(bound(256, u64::MAX), bound(508, u64::MAX)));
        assert!(!overlaps(bound(256, u64::MAX), bound(252, u64::MAX)));
        // What lies behind the bytes that are bound is not reached.
        assert!(!overlaps(bound(0, 128), bound(128, u64::MAX)));
        assert!(overlaps(bound(0, 129), bound(128, u64::MAX)));
        assert!(!part_alone(64, 4).bound_to(bound(0, 64)).may_overlap(part_alone(0, 1024)));
    }

    #[test]
    fn bindings_at_one_distance_are_shared_once() {
        let at = |binding| ReadDescriptor { set: 0, binding };
        let mut shared = SharedBindings::default();
        for start in [0, 64, 128] {
            let read = bound(start + 16, start + 64);
            shared.share((at(0), bound(start, start + 64)), (at(1), read));
        }
        shared.share((at(0), bound(0, 64)), (at(2), bound(64, 128)));
        let together: Vec<_> = shared.by_descriptors.iter().collect();
        let expected = BoundTogether { written: bound(0, 64), read: bound(16, 64) };
        assert_eq!(together, [(&(at(0), at(1)), &BTreeSet::from([expected]))]);
    }

    #[test]
    fn parts_of_arrays_of_one_stride_overlap_where_elements_do() {
        let places = || (0..20).flat_map(|start| (1..20).map(move |size| part(start, size, 8)));
        for left in places() {
            for right in places() {
                let overlap = have_common_byte(left, right);
                assert_eq!(left.may_overlap(right), overlap, "{left:?} {right:?}");
            }
        }
    }
}
