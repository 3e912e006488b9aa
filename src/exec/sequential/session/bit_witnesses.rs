//! Who recorded some bits, in a run that asks.
//!
//! Promises: every invocation that set one of the bits is kept, of dispatches whose modules record
//! natively or in slots.
//! Does not cover: modules that record in a buffer without slots: nobody knows.

use std::collections::BTreeSet;
use vkcert_instrument::DispatchSize;
use vkcert_model::invocations::{DispatchInvocations, InvocationRecords};

/// What a run keeps.
#[derive(Debug)]
pub(super) struct Everyone {
    bits: BTreeSet<u32>,
    found: InvocationRecords,
    /// That all dispatches so far may need.
    bytes: u128,
}

impl Everyone {
    pub(super) fn of(bits: &BTreeSet<u32>) -> Self {
        Self { bits: bits.clone(), found: InvocationRecords::new(), bytes: 0 }
    }

    pub(super) fn bits(&self) -> &BTreeSet<u32> {
        &self.bits
    }

    /// Takes memory for one more dispatch; the bytes of all of them.
    pub(super) fn take(&mut self, size: &DispatchSize) -> u128 {
        self.bytes += size.invocation_count().div_ceil(8) * self.bits.len() as u128;
        self.bytes
    }

    pub(super) fn add(&mut self, dispatch: usize, kept: DispatchInvocations) {
        self.found.insert(dispatch as u32, kept);
    }

    pub(super) fn into_found(self) -> InvocationRecords {
        self.found
    }
}
