//! Who else is told of an access to bytes of a store: the check of `restrict` variables, and the
//! record of reads.

use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::atomic::AccessKind;
use crate::ir::{AccessRoot, RestrictQualifier};
use std::ops::Range;
use vkcert_model::finding::{Finding, FindingKind};

impl Machine<'_> {
    /// Notes who has accessed which bytes of a store by the instruction at hand.
    #[cold]
    pub(super) fn tell_users(&mut self, root: AccessRoot, place: u32) {
        let mut users = std::mem::take(&mut self.monitor.users);
        for (lane, bytes, touch) in users.drain(..) {
            self.note_user(root, lane, bytes, touch, place);
        }
        self.monitor.users = users;
    }

    /// Notes an access of a lane to some bytes of a store; tells of it where another variable must
    /// not see them.
    fn note_user(
        &mut self,
        root: AccessRoot,
        lane: usize,
        bytes: Range<usize>,
        touch: AccessKind,
        place: u32,
    ) {
        self.note_read(root, bytes.clone(), touch, place);
        let AccessRoot::Descriptor(descriptor) = root else { return };
        let Some(aliasing) = &mut self.monitor.aliasing else { return };
        let first = bytes.start;
        let Some(other) = aliasing.note_access(descriptor, bytes, touch) else { return };
        let witness = self.invocation(self.registers.first_lane + lane as u32);
        let (own, others) = (
            &self.program.descriptors[descriptor as usize],
            &self.program.descriptors[other as usize],
        );
        // Two clashes of one instruction differ by the other variable.
        self.monitor.collector.add(FindingKind::UndefinedValue, [place, NOWHERE], u32::MAX - 8 - other, || {
            let (exclusive, kept) = match own.exclusive {
                RestrictQualifier::Declared => (own, others),
                RestrictQualifier::No => (others, own),
            };
            let message = format!(
                "the `restrict` variable `{}` and `{}` access the same bytes, and one of them stores",
                exclusive.name, kept.name
            );
            let finding = Finding::new(FindingKind::UndefinedValue, message)
                .detail("object", own.name.clone())
                .detail("other", others.name.clone())
                .detail("byte", first as u64);
            Finding { invocations: vec![witness], ..finding }
        });
    }

    /// Notes an access to some bytes of a store, where reads are watched.
    fn note_read(&mut self, root: AccessRoot, bytes: Range<usize>, touch: AccessKind, place: u32) {
        let Some(reads) = &mut self.monitor.reads else { return };
        let buffer = match root {
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
        if let Some(buffer) = buffer {
            reads.note_access(buffer, bytes, touch, place);
        }
    }
}
