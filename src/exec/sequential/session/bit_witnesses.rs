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
pub(super) struct BitWitnesses {
    bits: BTreeSet<u32>,
    invocation_records: InvocationRecords,
    /// That all dispatches so far may need.
    reserved_bytes: u128,
}

impl BitWitnesses {
    pub(super) fn for_bits(record_bits: &BTreeSet<u32>) -> Self {
        Self {
            bits: record_bits.clone(),
            invocation_records: InvocationRecords::new(),
            reserved_bytes: 0,
        }
    }

    pub(super) fn bits(&self) -> &BTreeSet<u32> {
        &self.bits
    }

    /// Takes memory for one more dispatch; the bytes of all of them.
    pub(super) fn reserve_dispatch(&mut self, dispatch_size: &DispatchSize) -> u128 {
        self.reserved_bytes +=
            dispatch_size.invocation_count().div_ceil(8) * self.bits.len() as u128;
        self.reserved_bytes
    }

    pub(super) fn add_dispatch(
        &mut self,
        dispatch_index: usize,
        kept_invocations: DispatchInvocations,
    ) {
        self.invocation_records.insert(dispatch_index as u32, kept_invocations);
    }

    pub(super) fn into_records(self) -> InvocationRecords {
        self.invocation_records
    }
}
