//! Record buffers of a job's dispatches.
//!
//! Knows: nonces, and which dispatch has a record buffer of which size.
//! Promises: records are given out only if nonce, canary and guards are as they must be.
//! Does not cover: what stands in which word (`instrument`).

use super::memory::BufferStorage;
use super::protocol::{Ending, RecordSlot, WireJob};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use vkcert_instrument::{DispatchSize, RecordForm};
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::records::Records;

/// A record buffer of one dispatch.
pub(crate) struct DispatchRecords {
    pub dispatch_index: usize,
    pub module_index: u32,
    /// Index in the storage.
    pub buffer_index: usize,
    pub nonce: u32,
    pub record_form: RecordForm,
    pub dispatch_size: DispatchSize,
    /// Bytes.
    pub byte_count: usize,
}

/// One record buffer for each dispatch of a recording module, placed behind the job's own buffers.
/// `local_size` gives that of a dispatch by its index, where it is known.
pub(crate) fn record_buffers(
    job: &WireJob,
    mut local_size: impl FnMut(usize) -> Option<[u32; 3]>,
) -> Result<Vec<DispatchRecords>, Ending> {
    let mut dispatch_records = Vec::new();
    let mut total_bytes: u64 = job.buffers.iter().map(|contents| contents.0.len() as u64).sum();
    for (dispatch_index, wire_dispatch) in job.dispatches.iter().enumerate() {
        let record_slot =
            job.modules.get(wire_dispatch.module as usize).and_then(|module| module.records);
        let Some(RecordSlot { form, .. }) = record_slot else { continue };
        let local_size = local_size(dispatch_index).ok_or_else(|| {
            Ending::Unsupported(
                "recording a kernel whose local size cannot be read from its module".to_owned(),
            )
        })?;
        let dispatch_size = DispatchSize { groups: wire_dispatch.groups, local_size };
        let word_count = form
            .word_count(&dispatch_size)
            .map_err(|limit| Ending::Unsupported(limit.to_string()))?;
        total_bytes += word_count * 4;
        if total_bytes > job.memory_bytes {
            let memory_limit = job.memory_bytes;
            return Err(Ending::Undetermined(format!(
                "record mode `{}`: buffers and records take {total_bytes} bytes, and the test's memory_bytes is {memory_limit}",
                form.mode
            )));
        }
        let buffer_index = job.buffers.len() + dispatch_records.len();
        let dispatch_nonce = dispatch_nonce(&job.name, dispatch_index);
        let byte_count = word_count as usize * 4;
        dispatch_records.push(DispatchRecords {
            dispatch_index,
            module_index: wire_dispatch.module,
            buffer_index,
            nonce: dispatch_nonce,
            record_form: form,
            dispatch_size,
            byte_count,
        });
    }
    Ok(dispatch_records)
}

/// Different for each dispatch, the same in every run.
pub(crate) fn dispatch_nonce(job_name: &str, dispatch_index: usize) -> u32 {
    let job_hash = Sha256::new()
        .chain_update(job_name)
        .chain_update([0])
        .chain_update((dispatch_index as u64).to_le_bytes());
    let job_hash = job_hash.finalize();
    u32::from_le_bytes([job_hash[0], job_hash[1], job_hash[2], job_hash[3]])
}

impl DispatchRecords {
    /// What the buffer holds before the dispatch.
    pub(crate) fn initial_bytes(&self) -> Vec<u8> {
        let initial_words = self
            .record_form
            .initial_words(&self.dispatch_size, self.nonce)
            .expect("its length is known to fit");
        initial_words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl BufferStorage {
    /// The records in a buffer whose canary and guards are as they must be, and who recorded
    /// `asked` where it has slots.
    pub(crate) fn trusted_records(
        &mut self,
        records: &DispatchRecords,
        asked_bits: &BTreeSet<u32>,
    ) -> Result<(Records, Option<DispatchInvocations>), String> {
        if !self.guard_changes(records.buffer_index).is_empty() {
            return Err("something wrote beside the record buffer".to_owned());
        }
        let record_words = self.buffer_contents(records.buffer_index).chunks_exact(4);
        let record_words: Vec<u32> = record_words
            .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
            .collect();
        let (record_form, dispatch_size) = (&records.record_form, &records.dispatch_size);
        let trusted_words = record_form
            .read_records(dispatch_size, &record_words, records.nonce)
            .map_err(|error| error.to_string())?;
        let invocations = if asked_bits.is_empty() {
            None
        } else {
            record_form.by_invocation(dispatch_size, &record_words, asked_bits)
        };
        Ok((trusted_words, invocations))
    }
}
