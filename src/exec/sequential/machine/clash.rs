//! An access that races with an earlier one.

use crate::ir::atomic::AccessKind;
use crate::memory::race_shadow::AccessStamp;
use crate::memory::racing_accesses::EarlierAccess;
use crate::memory::vector_clocks::MissingOrder;

/// Two accesses that race.
#[derive(Debug, Clone)]
pub(crate) struct Clash {
    /// The earlier one.
    pub(super) other: AccessStamp,
    /// Of the earlier and the later one.
    pub(super) touches: [AccessKind; 2],
    /// Local index of the later one's invocation.
    pub(super) invocation: u32,
    pub(super) missing: MissingOrder,
    /// What the element held before the later one, and what it read or left.
    pub(super) values: [u128; 2],
    pub(super) bytes: u32,
}

impl Clash {
    pub(super) fn new(
        earlier: EarlierAccess,
        (invocation, later): (u32, AccessKind),
        ([held, left], bytes): ([u128; 2], u32),
    ) -> Self {
        let EarlierAccess {
            stamp: other,
            access_kind: touch,
            missing_order: missing,
            written_value: wrote,
        } = earlier;
        let values = [wrote.unwrap_or(held), left];
        Self { other, touches: [touch, later], invocation, missing, values, bytes }
    }
}
