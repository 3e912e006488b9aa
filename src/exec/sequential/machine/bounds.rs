//! Whether a lane's access lies in what is bound.

use super::addressing::AddressedLanes;
use super::finding_collector::NOWHERE;
use super::state::Machine;
use crate::ir::Access;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::finding_details::OutOfBoundsDetails;

impl Machine<'_> {
    /// Where a lane accesses so many units, from the root on and in units of the access; none after
    /// a finding.
    #[inline]
    pub(super) fn checked_address(
        &mut self,
        access: &Access,
        addressed: &AddressedLanes,
        (lane, component): (usize, u32),
        unit_count: u32,
        source_index: u32,
    ) -> Option<u32> {
        let unit_index = self.memory.addresses[lane].wrapping_add(component);
        if unit_index >= addressed.root_limit || addressed.root_limit - unit_index < unit_count {
            self.report_out_of_range(access, lane, unit_index, addressed.root_limit, source_index);
            return None;
        }
        Some(unit_index)
    }

    pub(super) fn report_out_of_range(
        &mut self,
        access: &Access,
        lane: usize,
        unit_index: u32,
        access_limit: u32,
        source_index: u32,
    ) {
        let global_id = self.global_id(self.registers.first_lane + lane as u32);
        self.monitor.collector.add_occurrence(FindingKind::OutOfBounds, [source_index, NOWHERE], u32::MAX, || {
            let (object_name, bytes_of) = (&access.name, |units: u32| u64::from(units) * u64::from(access.unit.byte_count()));
            // A pointer can be moved to before the start; an offset that wraps around is one of
            // these.
            let units_before = unit_index.wrapping_neg();
            let message = if units_before < 1 << 28 {
                format!("the access is {} bytes before the start of `{object_name}`", bytes_of(units_before))
            } else {
                let (byte_index, bound_bytes) = (bytes_of(unit_index), bytes_of(access_limit));
                format!("the access at byte {byte_index} of `{object_name}` ends behind the {bound_bytes} bytes that are bound")
            };
            let details = OutOfBoundsDetails::Range { object: object_name.to_string() };
            Finding { invocations: vec![global_id], ..Finding::out_of_bounds(message, details) }
        });
    }
}
