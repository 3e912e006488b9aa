//! Observers of accesses to the bytes of a store: the check of `restrict` variables, and the record
//! of reads.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::atomic::AccessKind;
use crate::ir::{AccessRoot, RestrictQualifier};
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
}
