//! Observers of accesses to the bytes of a store: the check of `restrict` variables, the record of
//! reads, and reads of what the host alone has written.

use super::access_step::word_bytes;
use super::addressing::AddressedLanes;
use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::MemoryKinds;
use crate::ir::{Access, AccessRoot, RestrictQualifier};
use crate::memory::definitions::has_undefined_byte;
use crate::memory::pair_access::PairPlace;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::AliasDetails;
use vkcert_model::index_range::IndexRange;

impl Machine<'_> {
    /// Notes which lanes have accessed which bytes of a store by the instruction that runs.
    #[cold]
    pub(super) fn note_users(&mut self, access_root: AccessRoot, source_index: u32) {
        let mut noted_users = std::mem::take(&mut self.monitor.noted_users);
        for (lane, byte_range, touch) in noted_users.drain(..) {
            self.note_user(access_root, lane, byte_range, touch, source_index);
        }
        self.monitor.noted_users = noted_users;
    }

    /// Notes an access of a lane to some bytes of a store; tells of it where another variable must
    /// not see them.
    fn note_user(
        &mut self,
        access_root: AccessRoot,
        lane: usize,
        byte_range: IndexRange,
        touch: AccessKind,
        source_index: u32,
    ) {
        self.note_read(access_root, byte_range, touch, source_index);
        let AccessRoot::Descriptor(descriptor) = access_root else { return };
        let Some(aliasing) = &mut self.monitor.aliasing else { return };
        let Some(other_descriptor) = aliasing.note_access(descriptor, byte_range, touch) else {
            return;
        };
        let global_id = self.global_id(self.registers.first_lane + lane as u32);
        let (own_descriptor, other_variable) = (
            &self.program.descriptors[descriptor as usize],
            &self.program.descriptors[other_descriptor as usize],
        );
        // Two clashes of one instruction differ by the other variable.
        self.monitor.collector.add_occurrence(FindingKind::UndefinedValue, [source_index, NOWHERE], u32::MAX - 8 - other_descriptor, || {
            let (exclusive, other_access) = match own_descriptor.exclusive {
                RestrictQualifier::Declared => (own_descriptor, other_variable),
                RestrictQualifier::No => (other_variable, own_descriptor),
            };
            let message = format!(
                "the `restrict` variable `{}` and `{}` access the same bytes, and one of them stores",
                exclusive.name, other_access.name
            );
            let details = AliasDetails {
                byte: byte_range.start as u64,
                object: own_descriptor.name.clone(),
                other: other_variable.name.clone(),
            };
            Finding { invocations: vec![global_id], ..Finding::undefined_value(message, details) }
        });
    }

    /// Notes an access to some bytes of a store, where reads are watched.
    fn note_read(
        &mut self,
        access_root: AccessRoot,
        byte_range: IndexRange,
        touch: AccessKind,
        source_index: u32,
    ) {
        let Some(reads) = &mut self.monitor.reads else { return };
        let buffer_index = match access_root {
            AccessRoot::Descriptor(index) => {
                self.memory.slots[index as usize].map(|slot| slot.buffer)
            }
            AccessRoot::Buffer(index) => Some(index as usize),
            AccessRoot::Workgroup
            | AccessRoot::Invocation
            | AccessRoot::PushConstant
            | AccessRoot::Descriptors { .. }
            | AccessRoot::Address(_)
            | AccessRoot::Pointer { .. } => None,
        };
        if let Some(buffer_index) = buffer_index {
            reads.note_access(buffer_index, byte_range, touch, source_index);
        }
    }

    /// Notes that lanes read a word each of what the host alone has written: push constants, or a
    /// store whose contents are all of the host.
    pub(super) fn note_given_contents(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        component: u32,
        source_index: u32,
    ) {
        let is_pushed = access.root == AccessRoot::PushConstant;
        if !is_pushed && !self.memory.store_of(access.root).holds_host_contents() {
            return;
        }
        let addresses = std::mem::take(&mut self.memory.addresses);
        let mut inside_words = addressed
            .lanes
            .lanes()
            .map(|lane| addresses[lane].wrapping_add(component))
            .filter(|word| *word < addressed.root_limit);
        if is_pushed {
            inside_words.for_each(|word| {
                self.note_push_constant(word_bytes(word as usize, 1), source_index)
            });
        } else if inside_words.next().is_some() {
            let place = self.access_moment(access.root, source_index).pair_place();
            if let Some(pairs) = &mut self.monitor.pairs {
                pairs.note_host(place);
            }
        }
        self.memory.addresses = addresses;
    }

    /// Notes that a lane reads bytes of the push constants.
    pub(super) fn note_push_constant(&mut self, byte_range: IndexRange, source_index: u32) {
        let Some(pairs) = &mut self.monitor.pairs else { return };
        if !has_undefined_byte(self.memory.push_constants.undefined.as_ref(), byte_range) {
            let memory_kinds = MemoryKinds::NONE;
            pairs.note_host(PairPlace { source_index, descriptor: None, memory_kinds, time: 0 });
        }
    }
}
