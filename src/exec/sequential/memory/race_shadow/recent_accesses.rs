//! The last accesses to a cell where barriers alone order its memory.
//!
//! Promises: if any access of the interval or of an earlier workgroup races, one that is kept does.

use super::{AccessStamp, CurrentAccess};

/// Accesses of one kind: two invocations of the current interval and one of another workgroup.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RecentAccesses {
    pub(super) near: AccessStamp,
    pub(super) second: AccessStamp,
    pub(super) foreign: AccessStamp,
}

impl RecentAccesses {
    #[inline]
    pub(super) fn record(&mut self, current_access: &CurrentAccess) {
        if self.near.time() == current_access.stamp.time() {
            if self.near.lane() != current_access.stamp.lane()
                && self.second.time() != current_access.stamp.time()
            {
                self.second = current_access.stamp;
            }
            return;
        }
        if current_access.is_foreign(self.near) && !current_access.is_foreign(self.foreign) {
            self.foreign = self.near;
        }
        self.near = current_access.stamp;
    }

    #[inline]
    pub(super) fn racing_stamp(&self, current_access: &CurrentAccess) -> Option<AccessStamp> {
        [self.near, self.second, self.foreign]
            .into_iter()
            .find(|stamp| current_access.races(*stamp))
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlainAccesses {
    pub(super) write: AccessStamp,
    pub(super) reads: RecentAccesses,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AtomicAccesses {
    pub(super) writes: RecentAccesses,
    pub(super) reads: RecentAccesses,
}
