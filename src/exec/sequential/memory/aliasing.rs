//! Bytes that a dispatch reaches through two variables of which one says that there is no other way
//! to them (`restrict`).
//!
//! Knows: which variables are `restrict`, and what is bound to each descriptor of a program.
//! Promises: where one of two such variables stores to a byte and the other one accesses it, in any
//! invocation of the dispatch and in either order, the later access is a finding. A dispatch whose
//! bound ranges do not overlap pays nothing. Elements of one array of descriptors count as
//! variables of their own.
//! Does not cover: variables of which none is `restrict`, which GLSL lets alias; device addresses.

use super::store::Slot;
use crate::ir::RestrictQualifier;
use crate::ir::atomic::AccessKind;
use crate::ir::{Descriptor, Program};
use std::collections::BTreeMap;
use std::ops::Range;

/// Most descriptors of one buffer that are told apart.
const MOST_SHARING: usize = u32::BITS as usize;

/// A descriptor among those that overlap in one buffer.
#[derive(Debug, Clone, Copy)]
struct Sharer {
    buffer: usize,
    bit: u32,
    /// Bits of those with which it may share no byte that is stored to.
    apart: u32,
}

/// Bits of the descriptors through which a byte was accessed.
#[derive(Debug, Clone, Copy, Default)]
struct Users {
    read: u32,
    written: u32,
}

/// Who accessed what, in a dispatch that has such descriptors.
#[derive(Debug)]
pub(crate) struct Aliasing {
    /// By descriptor.
    sharers: Vec<Option<Sharer>>,
    /// By buffer and byte.
    users: BTreeMap<usize, Vec<Users>>,
}

impl Aliasing {
    /// None where no two descriptors clash; `bytes` says how long a buffer is. Fails where too many
    /// do.
    pub(crate) fn of(
        program: &Program,
        slots: &[Option<Slot>],
        bytes: impl Fn(usize) -> usize,
    ) -> Result<Option<Self>, String> {
        let mut aliasing = Self { sharers: vec![None; slots.len()], users: BTreeMap::new() };
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let clashing = clashing(&program.descriptors, slots);
        for index in clashing.iter().flatten() {
            let Some(slot) = slots[*index].filter(|_| aliasing.sharers[*index].is_none()) else {
                continue;
            };
            let count = counts.entry(slot.buffer).or_default();
            if *count == MOST_SHARING {
                let name = &program.descriptors[*index].name;
                return Err(format!(
                    "more than {MOST_SHARING} descriptors overlap `{name}`, some of them `restrict`"
                ));
            }
            aliasing.sharers[*index] =
                Some(Sharer { buffer: slot.buffer, bit: 1 << *count, apart: 0 });
            *count += 1;
        }
        for [one, other] in clashing {
            let bits =
                [one, other].map(|index| aliasing.sharers[index].map_or(0, |sharer| sharer.bit));
            for (index, bit) in [(one, bits[1]), (other, bits[0])] {
                if let Some(sharer) = &mut aliasing.sharers[index] {
                    sharer.apart |= bit;
                    let length = bytes(sharer.buffer);
                    aliasing
                        .users
                        .entry(sharer.buffer)
                        .or_insert_with(|| vec![Users::default(); length]);
                }
            }
        }
        Ok((!aliasing.users.is_empty()).then_some(aliasing))
    }

    /// Notes an access to some bytes of a descriptor's buffer; gives another descriptor with which
    /// it clashes there.
    pub(crate) fn note(
        &mut self,
        descriptor: u32,
        bytes: Range<usize>,
        touch: AccessKind,
    ) -> Option<u32> {
        let sharer = self.sharers[descriptor as usize]?;
        let users = self.users.get_mut(&sharer.buffer)?.get_mut(bytes)?;
        let mut clashing = 0;
        for user in users {
            match touch {
                AccessKind::Read | AccessKind::AtomicRead => {
                    clashing |= user.written;
                    user.read |= sharer.bit;
                }
                AccessKind::Write | AccessKind::AtomicWrite => {
                    clashing |= user.read | user.written;
                    user.written |= sharer.bit;
                }
            }
        }
        let clashing = clashing & sharer.apart;
        let is_other = |other: &Option<Sharer>| {
            other.is_some_and(|other| other.buffer == sharer.buffer && other.bit & clashing != 0)
        };
        self.sharers.iter().position(is_other).map(|other| other as u32)
    }
}

/// Pairs of descriptors that overlap, of which one is `restrict`, and through one of which the
/// program stores.
fn clashing(descriptors: &[Descriptor], slots: &[Option<Slot>]) -> Vec<[usize; 2]> {
    let mut by_buffer: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, slot) in slots.iter().enumerate() {
        if let Some(slot) = slot.filter(|slot| slot.bytes > 0) {
            by_buffer.entry(slot.buffer).or_default().push(index);
        }
    }
    let mut pairs = Vec::new();
    for sharing in by_buffer.into_values().filter(|sharing| sharing.len() > 1) {
        for (at, one) in sharing.iter().enumerate() {
            let clashes = |other: &&usize| {
                let both = [&descriptors[*one], &descriptors[**other]];
                let exclusive = both
                    .iter()
                    .any(|descriptor| descriptor.exclusive == RestrictQualifier::Declared);
                let stores = both.iter().any(|descriptor| descriptor.written || descriptor.atomics);
                exclusive && stores && overlap(slots[*one], slots[**other])
            };
            pairs.extend(sharing[at + 1..].iter().filter(clashes).map(|other| [*one, *other]));
        }
    }
    pairs
}

fn overlap(slot: Option<Slot>, other: Option<Slot>) -> bool {
    let extent = |slot: Slot| 4 * slot.first..4 * slot.first + slot.bytes as usize;
    slot.map(extent)
        .zip(other.map(extent))
        .is_some_and(|(own, others)| own.start < others.end && others.start < own.end)
}

#[cfg(test)]
mod tests {
    use super::super::image_view::View;
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

    fn slot(buffer: usize, first: usize) -> Option<Slot> {
        Some(Slot { buffer, first, words: 4, bytes: 16, view: View::Bytes })
    }

    #[test]
    fn descriptors_clash_where_they_overlap_one_is_restrict_and_one_stores() {
        let told = |exclusive, written, slots: [Option<Slot>; 2]| {
            clashing(
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
