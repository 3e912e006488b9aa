//! A pair of accesses that race.

use crate::ir::atomic::AccessKind;
use crate::memory::race_shadow::AccessStamp;
use crate::memory::racing_accesses::EarlierAccess;
use crate::memory::vector_clocks::MissingOrder;

/// Two accesses that race.
#[derive(Debug, Clone)]
pub(crate) struct RacingPair {
    /// The earlier one.
    pub(super) earlier_stamp: AccessStamp,
    /// Of the earlier and the later one.
    pub(super) touches: [AccessKind; 2],
    /// Local index of the later one's invocation.
    pub(super) later_invocation: u32,
    pub(super) missing: MissingOrder,
    /// What the element held before the later one, and what it read or left.
    pub(super) values: [u128; 2],
    pub(super) byte_count: u32,
}

impl RacingPair {
    pub(super) fn from_earlier(
        earlier: EarlierAccess,
        (invocation, later_touch): (u32, AccessKind),
        ([held_value, left_value], byte_count): ([u128; 2], u32),
    ) -> Self {
        let EarlierAccess {
            stamp: earlier_stamp,
            access_kind: touch,
            missing_order: missing,
            written_value,
        } = earlier;
        let racing_values = [written_value.unwrap_or(held_value), left_value];
        Self {
            earlier_stamp,
            touches: [touch, later_touch],
            later_invocation: invocation,
            missing,
            values: racing_values,
            byte_count,
        }
    }
}
