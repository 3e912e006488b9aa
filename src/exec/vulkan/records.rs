//! Record buffers of a job's dispatches.
//!
//! Knows: nonces, and what proves that a record buffer was bound, written and read back.
//! Promises: words are given out only if nonce, canary word and guards are as they must be.
//! Does not cover: the meaning of the words (`instrument`).

use super::memory::Storage;
use super::protocol::{RecordSlot, WireJob};
use crate::model::records::CANARY;
use sha2::{Digest as _, Sha256};

/// A record buffer of one dispatch.
pub struct DispatchRecords {
    pub dispatch: usize,
    pub module: u32,
    /// Index in the storage.
    pub buffer: usize,
    pub nonce: u32,
    pub words: u32,
}

/// One record buffer for each dispatch of a recording module, placed behind the job's own buffers.
pub fn record_buffers(job: &WireJob) -> Vec<DispatchRecords> {
    let mut records = Vec::new();
    for (dispatch, wanted) in job.dispatches.iter().enumerate() {
        let slot = job.modules.get(wanted.module as usize).and_then(|module| module.records);
        if let Some(RecordSlot { words, .. }) = slot {
            let buffer = job.buffers.len() + records.len();
            let nonce = nonce(&job.name, dispatch);
            records.push(DispatchRecords { dispatch, module: wanted.module, buffer, nonce, words });
        }
    }
    records
}

/// Different for each dispatch, the same in every run.
fn nonce(job: &str, dispatch: usize) -> u32 {
    let hash = Sha256::new().chain_update(job).chain_update([0]).chain_update((dispatch as u64).to_le_bytes());
    let hash = hash.finalize();
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}

impl DispatchRecords {
    /// What the buffer holds before the dispatch.
    pub fn initial(&self) -> Vec<u8> {
        let mut contents = vec![0; (2 + self.words as usize) * 4];
        contents[..4].copy_from_slice(&self.nonce.to_le_bytes());
        // Whatever the nonce, not the answer that proves the buffer alive.
        contents[4..8].copy_from_slice(&(!(self.nonce ^ CANARY)).to_le_bytes());
        contents
    }
}

impl Storage {
    /// Data words of a record buffer whose canary word and guards are as they must be.
    pub fn trusted_words(&mut self, records: &DispatchRecords) -> Result<Vec<u32>, String> {
        if !self.guard_changes(records.buffer).is_empty() {
            return Err("something wrote beside the record buffer".to_owned());
        }
        let words = self.contents(records.buffer).chunks_exact(4);
        let words: Vec<u32> = words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
        let expected = records.nonce ^ CANARY;
        match words.as_slice() {
            [nonce, ..] if *nonce != records.nonce => Err("the nonce was overwritten".to_owned()),
            [_, canary, ..] if *canary != expected => Err("the canary word was not written".to_owned()),
            [_, _, data @ ..] => Ok(data.to_vec()),
            _ => Err("the record buffer is too short".to_owned()),
        }
    }
}
