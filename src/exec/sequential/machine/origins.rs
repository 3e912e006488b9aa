//! Which operation left each undefined value.

use crate::ir::Scalar;
use std::collections::HashMap;

/// An operation that left an undefined value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UndefinedOrigin {
    pub(super) source_index: u32,
    pub(super) why: &'static str,
}

/// Where a marked value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ValueLocation {
    /// Of an invocation, by its local index.
    Register(Scalar, u32),
    /// Word of an invocation's memory.
    Invocation(u32, u32),
    /// Byte of workgroup memory.
    Workgroup(u32),
}

/// The operations that left the undefined values of the workgroups that run.
#[derive(Debug, Default)]
pub(super) struct UndefinedOrigins {
    pub(super) known_origins: Vec<UndefinedOrigin>,
    /// By workgroup and location: index into `known_origins`.
    pub(super) by_location: HashMap<(u64, ValueLocation), u32>,
}

impl UndefinedOrigins {
    pub(super) fn is_empty(&self) -> bool {
        self.by_location.is_empty()
    }

    pub(super) fn origin_number(&mut self, origin: UndefinedOrigin) -> u32 {
        let origin_index = self
            .known_origins
            .iter()
            .position(|known_origin| *known_origin == origin)
            .unwrap_or_else(|| {
                self.known_origins.push(origin);
                self.known_origins.len() - 1
            });
        origin_index as u32
    }

    /// Forgets the values of a workgroup that has ended.
    pub(super) fn forget_workgroup(&mut self, workgroup_index: u64) {
        if !self.by_location.is_empty() {
            self.by_location
                .retain(|(owning_workgroup, _), _| *owning_workgroup != workgroup_index);
        }
    }
}
