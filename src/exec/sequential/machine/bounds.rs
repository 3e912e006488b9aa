//! Whether a lane's access lies in what is bound.

use super::addressing::Addressed;
use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::Access;
use vkcert_model::finding::{Finding, FindingKind};

impl Machine<'_> {
    /// Where a lane accesses so many units, from the root on and in units of the access; none after
    /// a finding.
    #[inline]
    pub(super) fn inside(
        &mut self,
        access: &Access,
        found: &Addressed,
        (lane, component): (usize, u32),
        size: u32,
        place: u32,
    ) -> Option<u32> {
        let at = self.memory.addresses[lane].wrapping_add(component);
        if at >= found.limit || found.limit - at < size {
            self.report_range(access, lane, at, found.limit, place);
            return None;
        }
        Some(at)
    }

    pub(super) fn report_range(
        &mut self,
        access: &Access,
        lane: usize,
        word: u32,
        limit: u32,
        place: u32,
    ) {
        let witness = self.invocation(self.registers.first_lane + lane as u32);
        self.monitor.collector.add(FindingKind::OutOfBounds, [place, NOWHERE], u32::MAX, || {
            let (name, bytes) = (&access.name, |units: u32| u64::from(units) * u64::from(access.unit.bytes()));
            // A pointer can be moved to before the start; an offset that wraps around is one of
            // these.
            let before = word.wrapping_neg();
            let message = if before < 1 << 28 {
                format!("the access is {} bytes before the start of `{name}`", bytes(before))
            } else {
                let (at, bound) = (bytes(word), bytes(limit));
                format!("the access at byte {at} of `{name}` ends behind the {bound} bytes that are bound")
            };
            let finding = Finding::new(FindingKind::OutOfBounds, message).detail("object", name.to_string());
            Finding { invocations: vec![witness], ..finding }
        });
    }
}
