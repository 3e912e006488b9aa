//! What one dispatch writes and a later one reads.
//!
//! Knows: both kernels, and which of their bindings one buffer or image is bound to.
//! Promises: each write of the earlier one with each read of the later one that are to the same
//! buffer; where both declare blocks that are laid out alike, members that differ make no pair.
//! Does not cover: what a third dispatch writes between; what device addresses name, unless both
//! kernels use such: then each with each.

use super::access::SharedAccess;
use super::object::{PathStep, SharedObject};
use super::{KernelPairs, MOST_PAIRS, PairError, PairRequest, StaticPair, with_kernel};
use crate::flow::DecidedBranches;
use crate::types::Type;
use std::collections::BTreeSet;
use vkcert_model::access_pair::{Passage, ReadDescriptor};
use vkcert_model::id::ModuleKey;

/// A write of a kernel to memory that outlasts the dispatch.
struct LastingWrite {
    index: usize,
    object: SharedObject,
    /// Bytes from the start of the binding, indices of arrays taken as 0; none where it is not
    /// known.
    place: Option<PartPlace>,
}

/// Which bytes of a binding a part can have.
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
/// `later`, where each pair of `shared` names bindings of the two kernels that hold one buffer or
/// image.
pub fn dispatch_pairs(
    (earlier, earlier_key): (&PairRequest<'_>, ModuleKey),
    later: &PairRequest<'_>,
    shared: &BTreeSet<(ReadDescriptor, ReadDescriptor)>,
) -> Result<Vec<StaticPair>, PairError> {
    let writes = with_kernel(earlier, DecidedBranches::Specialized, lasting_writes)?;
    let pairs = with_kernel(later, DecidedBranches::Specialized, |kernel| {
        let mut pairs = Vec::new();
        for read in &kernel.accesses.reads {
            for write in writes.iter().filter(|write| is_shared(write.object, read, shared)) {
                let places = (write.place, kernel.part_place(read));
                if let (Some(written), Some(read)) = places
                    && !written.may_overlap(read)
                {
                    continue;
                }
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
    })??;
    Ok(pairs)
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

fn is_shared(
    written: SharedObject,
    read: &SharedAccess,
    shared: &BTreeSet<(ReadDescriptor, ReadDescriptor)>,
) -> bool {
    match (written, read.path.object) {
        (SharedObject::Descriptor(written), SharedObject::Descriptor(read)) => {
            shared.contains(&(written, read))
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

impl PartPlace {
    /// Whether two parts can have a byte in common for some indices. Parts in arrays of different
    /// strides can wherever the arrays do.
    fn may_overlap(self, other: PartPlace) -> bool {
        if self.end <= other.start || other.end <= self.start {
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
    /// Where a part of a block lies. Parts behind two levels of arrays, and those whose layout the
    /// module does not tell, have no place.
    fn part_place(&self, access: &SharedAccess) -> Option<PartPlace> {
        let types = self.pointers.types;
        let declaration = self.request.module.definition(access.path.declaration)?;
        let mut contents = types.variable_contents(declaration)?.1;
        let constants = self.pointers.constants;
        let (mut start, mut stride, mut array_end) = (0, 0, None);
        for step in &access.path.steps {
            let length = types.component_count(contents, constants);
            match (types.get(contents)?, step) {
                (Type::Structure { members, .. }, PathStep::Member(member)) => {
                    let member = members.get(*member as usize)?;
                    start += u64::from(member.offset?);
                    contents = member.ty;
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
                (Type::Vector { .. } | Type::Matrix { .. }, PathStep::Element(_)) => break,
                _ => return None,
            }
        }
        let size = types.byte_extent(contents, None, constants).ok()?;
        let end = array_end.unwrap_or(start + size);
        (size > 0).then_some(PartPlace { start, size, stride, end })
    }
}

#[cfg(test)]
mod tests {
    use super::PartPlace;

    fn part(start: u64, size: u64, stride: u64) -> PartPlace {
        PartPlace { start, size, stride, end: 1024 }
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
