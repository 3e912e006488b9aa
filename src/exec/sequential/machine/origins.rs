//! Which operation left each undefined value.

use crate::ir::Scalar;
use std::collections::HashMap;

/// An operation that left an undefined value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) place: u32,
    pub(super) why: &'static str,
}

/// Where a marked value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Home {
    /// Of an invocation, by its local index.
    Register(Scalar, u32),
    /// Word of an invocation's memory.
    Invocation(u32, u32),
    /// Byte of workgroup memory.
    Workgroup(u32),
}

/// Who left the undefined values of the workgroups that run.
#[derive(Debug, Default)]
pub(super) struct Origins {
    pub(super) all: Vec<Origin>,
    /// By workgroup and home: index into `all`.
    pub(super) homes: HashMap<(u64, Home), u32>,
}

impl Origins {
    pub(super) fn is_empty(&self) -> bool {
        self.homes.is_empty()
    }

    pub(super) fn number(&mut self, origin: Origin) -> u32 {
        let number = self.all.iter().position(|known| *known == origin).unwrap_or_else(|| {
            self.all.push(origin);
            self.all.len() - 1
        });
        number as u32
    }

    /// A workgroup has ended.
    pub(super) fn forget(&mut self, workgroup: u64) {
        if !self.homes.is_empty() {
            self.homes.retain(|(of, _), _| *of != workgroup);
        }
    }
}
