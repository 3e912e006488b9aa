//! Record buffers of a job's dispatches.
//!
//! Knows: nonces, and which dispatch has a record buffer of which size.
//! Promises: records are given out only if nonce, canary and guards are as they must be.
//! Does not cover: what stands in which word (`instrument`).

use super::memory::Storage;
use super::protocol::{Ending, RecordSlot, WireJob};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use vkcert_instrument::{DispatchSize, RecordForm};
use vkcert_model::invocations::DispatchInvocations;
use vkcert_model::records::Records;

/// A record buffer of one dispatch.
pub(crate) struct DispatchRecords {
    pub dispatch: usize,
    pub module: u32,
    /// Index in the storage.
    pub buffer: usize,
    pub nonce: u32,
    pub form: RecordForm,
    pub size: DispatchSize,
    /// Bytes.
    pub length: usize,
}

/// One record buffer for each dispatch of a recording module, placed behind the job's own buffers.
/// `local_size` gives that of a dispatch by its index, where it is known.
pub(crate) fn record_buffers(
    job: &WireJob,
    mut local_size: impl FnMut(usize) -> Option<[u32; 3]>,
) -> Result<Vec<DispatchRecords>, Ending> {
    let mut records = Vec::new();
    let mut bytes: u64 = job.buffers.iter().map(|buffer| buffer.0.len() as u64).sum();
    for (dispatch, wanted) in job.dispatches.iter().enumerate() {
        let slot = job.modules.get(wanted.module as usize).and_then(|module| module.records);
        let Some(RecordSlot { form, .. }) = slot else { continue };
        let local_size = local_size(dispatch).ok_or_else(|| {
            Ending::Unsupported(
                "recording a kernel whose local size cannot be read from its module".to_owned(),
            )
        })?;
        let size = DispatchSize { groups: wanted.groups, local_size };
        let words =
            form.word_count(&size).map_err(|limit| Ending::Unsupported(limit.to_string()))?;
        bytes += words * 4;
        if bytes > job.memory_bytes {
            let most = job.memory_bytes;
            return Err(Ending::Undetermined(format!(
                "record mode `{}`: buffers and records take {bytes} bytes, and the test's memory_bytes is {most}",
                form.mode
            )));
        }
        let buffer = job.buffers.len() + records.len();
        let nonce = nonce(&job.name, dispatch);
        let length = words as usize * 4;
        records.push(DispatchRecords {
            dispatch,
            module: wanted.module,
            buffer,
            nonce,
            form,
            size,
            length,
        });
    }
    Ok(records)
}

/// Different for each dispatch, the same in every run.
pub(crate) fn nonce(job: &str, dispatch: usize) -> u32 {
    let hash = Sha256::new()
        .chain_update(job)
        .chain_update([0])
        .chain_update((dispatch as u64).to_le_bytes());
    let hash = hash.finalize();
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}

impl DispatchRecords {
    /// What the buffer holds before the dispatch.
    pub(crate) fn initial(&self) -> Vec<u8> {
        let words =
            self.form.initial_words(&self.size, self.nonce).expect("its length is known to fit");
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

impl Storage {
    /// The records in a buffer whose canary and guards are as they must be, and who recorded
    /// `asked` where it has slots.
    pub(crate) fn trusted_records(
        &mut self,
        records: &DispatchRecords,
        asked: &BTreeSet<u32>,
    ) -> Result<(Records, Option<DispatchInvocations>), String> {
        if !self.guard_changes(records.buffer).is_empty() {
            return Err("something wrote beside the record buffer".to_owned());
        }
        let words = self.contents(records.buffer).chunks_exact(4);
        let words: Vec<u32> =
            words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
        let (form, size) = (&records.form, &records.size);
        let read =
            form.read_records(size, &words, records.nonce).map_err(|error| error.to_string())?;
        let invocations =
            if asked.is_empty() { None } else { form.by_invocation(size, &words, asked) };
        Ok((read, invocations))
    }
}
