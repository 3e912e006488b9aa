//! The words of a record buffer.
//!
//! Knows: for every mode what stands where, what the host writes before a dispatch and how the
//! words are read back.
//!
//! | words | contents |
//! | --- | --- |
//! | 0 | nonce, written by the host |
//! | 1 | canary: the kernel makes it nonce ^ `CANARY`; in mode `slots` each slot has one instead, and so has each of several copies |
//! | 2 | invocations of a workgroup |
//! | 3, 4 | workgroups in x; in x and y together |
//! | 5 | invocations of the dispatch |
//! | 6, 7 | zero |
//! | 8 .. | data words, in several copies with a distance of [`stride`]; then with witnesses one word per bit: the lowest rank, at first 0xffff_ffff |
//! | 8 .. (slots) | a row of canaries, then a row per data word; a row has one word per invocation, by rank |
//!
//! The rank of an invocation is the linear index of its workgroup times the workgroup's invocations
//! plus its local index: the order in which the sequential engine counts.
//! Promises: what the host must refuse (ranks beyond 32 bits) is refused before anything is
//! written.
//! Does not cover: which bit means what (`decode`).

mod size;

use serde::{Deserialize, Serialize};
pub use size::DispatchSize;
use std::collections::BTreeSet;
use vkcert_model::invocations::{DispatchInvocations, Ranks};
use vkcert_model::records::{CANARY, HEADER_WORDS, RecordBuffer, RecordMode, Records, Witnesses};

/// Word 2: invocations of a workgroup.
pub(crate) const LOCAL_WORD: u32 = 2;
/// Word 3: workgroups in x.
pub(crate) const ROW_WORD: u32 = 3;
/// Word 4: workgroups in x and y together.
pub(crate) const PLANE_WORD: u32 = 4;
/// Word 5: invocations of the dispatch.
pub(crate) const INVOCATIONS_WORD: u32 = 5;
/// Rank of no invocation.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The form of a record buffer, without the meaning of its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordForm {
    pub mode: RecordMode,
    pub witnesses: Witnesses,
    /// Data words.
    pub words: u32,
    /// How often they are there.
    pub copies: u32,
}

/// Words from a copy of the data words to the next. Several copies have memory lines of their own,
/// and each begins with a canary of its own.
pub(crate) fn stride(words: u32, copies: u32) -> u32 {
    if copies > 1 { (1 + words).next_multiple_of(LINE) } else { words }
}

/// Words of a memory line that no other copy shall share.
const LINE: u32 = 32;

/// A dispatch that a mode cannot record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordLimit {
    #[error("record mode `{mode}`{}: {invocations} invocations cannot be numbered with 32 bits", with_witnesses(.witnesses))]
    Ranks { mode: RecordMode, witnesses: Witnesses, invocations: u128 },
    #[error(
        "record mode `slots`: {invocations} invocations with {words} data words each cannot be addressed with 32 bits"
    )]
    Slots { invocations: u32, words: u32 },
}

fn with_witnesses(witnesses: &Witnesses) -> &'static str {
    match witnesses {
        Witnesses::Omitted => "",
        Witnesses::Recorded => " with witnesses",
    }
}

/// The contents of a record buffer cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanaryError {
    #[error("the record buffer has {actual} words instead of {expected}")]
    Size { expected: u64, actual: usize },
    #[error("the nonce was overwritten (0x{actual:08x} instead of 0x{expected:08x})")]
    Nonce { expected: u32, actual: u32 },
    #[error("word {word} of the record buffer's header was overwritten")]
    Header { word: usize },
    #[error(
        "the canary of copy {copy} is not as it must be (0x{actual:08x} instead of 0x{expected:08x})"
    )]
    Copy { copy: usize, expected: u32, actual: u32 },
    #[error("something wrote to copy {copy} of the data words, where no bit is set")]
    Between { copy: usize },
    #[error("the canary word was not written (0x{actual:08x} instead of 0x{expected:08x})")]
    Canary { expected: u32, actual: u32 },
    #[error(
        "{missing} of {invocations} invocations did not write the canary of their slot, the first of rank {first}"
    )]
    Slots { missing: u32, invocations: u32, first: u32 },
    #[error("the witness of bit {bit} does not fit: rank {rank} of {invocations} invocations")]
    Witness { bit: u32, rank: u32, invocations: u64 },
    #[error("the record buffer has bit {bit} set, which stands for nothing")]
    ImpossibleBit { bit: u32 },
}

impl RecordForm {
    pub fn of(buffer: &RecordBuffer) -> Self {
        Self {
            mode: buffer.mode,
            witnesses: buffer.witnesses,
            words: buffer.words,
            copies: buffer.copies,
        }
    }

    /// 32-bit words of the whole buffer.
    pub fn length(&self, size: &DispatchSize) -> Result<u64, RecordLimit> {
        let data = match self.mode {
            RecordMode::Slots => {
                let invocations = self.ranks(size)?;
                let slots = u64::from(invocations) * (1 + u64::from(self.words));
                if u32::try_from(slots + u64::from(HEADER_WORDS)).is_err() {
                    return Err(RecordLimit::Slots { invocations, words: self.words });
                }
                slots
            }
            RecordMode::Private
            | RecordMode::Workgroup
            | RecordMode::Subgroup
            | RecordMode::Direct => {
                let witnesses = match self.witnesses {
                    Witnesses::Omitted => 0,
                    Witnesses::Recorded => {
                        self.ranks(size)?;
                        32 * u64::from(self.words)
                    }
                };
                u64::from(self.data()) + witnesses
            }
        };
        Ok(u64::from(HEADER_WORDS) + data)
    }

    /// Copies that are some workgroup's: that of workgroup (x, y, z) is `(x + y + z) % copies`.
    fn used_copies(&self, size: &DispatchSize) -> usize {
        let [x, y, z] = size.groups.map(u64::from);
        if x * y * z == 0 { 0 } else { u64::from(self.copies).min(x + y + z - 2) as usize }
    }

    /// Words of all copies.
    fn data(&self) -> u32 {
        self.copies * stride(self.words, self.copies)
    }

    /// The number of invocations, if each has a rank.
    fn ranks(&self, size: &DispatchSize) -> Result<u32, RecordLimit> {
        let invocations = size.invocations();
        let (mode, witnesses) = (self.mode, self.witnesses);
        let fits = u32::try_from(invocations).ok().filter(|count| *count < NOBODY);
        fits.ok_or(RecordLimit::Ranks { mode, witnesses, invocations })
    }

    /// What the host writes into a fresh buffer.
    pub fn initial(&self, size: &DispatchSize, nonce: u32) -> Result<Vec<u32>, RecordLimit> {
        let length = self.length(size)?;
        let mut words = vec![0; length as usize];
        words[..HEADER_WORDS as usize].copy_from_slice(&header(size, nonce));
        if self.mode == RecordMode::Slots {
            let invocations = words[INVOCATIONS_WORD as usize] as usize;
            words[HEADER_WORDS as usize..][..invocations].fill(!(nonce ^ CANARY));
        } else {
            words[(HEADER_WORDS + self.data()) as usize..].fill(NOBODY);
            if self.copies > 1 {
                let copies = &mut words[HEADER_WORDS as usize..][..self.data() as usize];
                copies
                    .iter_mut()
                    .step_by(stride(self.words, self.copies) as usize)
                    .for_each(|word| *word = !(nonce ^ CANARY));
            }
        }
        Ok(words)
    }

    /// Takes the records out of words that were read back from the buffer that held `nonce`.
    pub fn read(
        &self,
        size: &DispatchSize,
        words: &[u32],
        nonce: u32,
    ) -> Result<Records, CanaryError> {
        let expected = self.length(size).unwrap_or(u64::MAX);
        if words.len() as u64 != expected {
            return Err(CanaryError::Size { expected, actual: words.len() });
        }
        let (head, data) = words.split_at(HEADER_WORDS as usize);
        if head[0] != nonce {
            return Err(CanaryError::Nonce { expected: nonce, actual: head[0] });
        }
        let written = header(size, nonce);
        if let Some(word) = (2..head.len()).find(|word| head[*word] != written[*word]) {
            return Err(CanaryError::Header { word });
        }
        if self.mode == RecordMode::Slots {
            return self.read_slots(size, data, nonce);
        }
        let expected = if self.copies > 1 { written[1] } else { nonce ^ CANARY };
        if head[1] != expected {
            return Err(CanaryError::Canary { expected, actual: head[1] });
        }
        let (copies, ranks) = data.split_at(self.data() as usize);
        let bits = self.unite(size, copies, nonce)?;
        let mut records = Records { words: bits.clone(), ..Records::default() };
        let invocations = size.invocations();
        for (bit, rank) in ranks.iter().enumerate() {
            let (bit, set) = (bit as u32, bits[bit / 32] >> (bit % 32) & 1 == 1);
            match (set, *rank) {
                (false, NOBODY) => {}
                (true, rank) if u128::from(rank) < invocations => {
                    records.witnesses.insert(bit, size.invocation(rank));
                }
                (_, rank) => {
                    let invocations = invocations.try_into().unwrap_or(u64::MAX);
                    return Err(CanaryError::Witness { bit, rank, invocations });
                }
            }
        }
        Ok(records)
    }

    /// The words of all copies in a single one. Each copy that is some workgroup's must have its
    /// canary, and what lies between the copies must be as it was.
    fn unite(
        &self,
        size: &DispatchSize,
        copies: &[u32],
        nonce: u32,
    ) -> Result<Vec<u32>, CanaryError> {
        if self.copies == 1 {
            return Ok(copies.to_vec());
        }
        let used = self.used_copies(size);
        let mut united = vec![0; self.words as usize];
        for (copy, words) in copies.chunks(stride(self.words, self.copies) as usize).enumerate() {
            let (canary, words) = words.split_at(1);
            let (words, between) = words.split_at(self.words as usize);
            let expected = if copy < used { nonce ^ CANARY } else { !(nonce ^ CANARY) };
            if canary[0] != expected {
                return Err(CanaryError::Copy { copy, expected, actual: canary[0] });
            }
            if between.iter().any(|word| *word != 0)
                || copy >= used && words.iter().any(|word| *word != 0)
            {
                return Err(CanaryError::Between { copy });
            }
            for (all, word) in united.iter_mut().zip(words) {
                *all |= word;
            }
        }
        Ok(united)
    }

    /// Who set some bits, in words that `read` takes; none in modes without slots, where nobody
    /// knows.
    pub fn by_invocation(
        &self,
        size: &DispatchSize,
        words: &[u32],
        bits: &BTreeSet<u32>,
    ) -> Option<DispatchInvocations> {
        let invocations =
            self.ranks(size).ok().filter(|_| self.mode == RecordMode::Slots)? as usize;
        let ranks = |bit: &u32| {
            let start = HEADER_WORDS as usize + (1 + *bit as usize / 32) * invocations;
            let row = words.get(start..start + invocations).unwrap_or_default();
            let mut ranks = Ranks::default();
            let setting = (0..).zip(row).filter(|(_, word)| **word >> (bit % 32) & 1 == 1);
            setting.for_each(|(rank, _)| ranks.insert(rank));
            (*bit, ranks)
        };
        let by_bit = bits.iter().map(ranks).collect();
        Some(DispatchInvocations {
            local_size: size.local_size,
            by_bit,
            ..DispatchInvocations::default()
        })
    }

    fn read_slots(
        &self,
        size: &DispatchSize,
        data: &[u32],
        nonce: u32,
    ) -> Result<Records, CanaryError> {
        let invocations = (data.len() / (1 + self.words as usize)).max(1);
        let mut rows = data.chunks_exact(invocations);
        let canaries = rows.next().unwrap_or(&[]);
        let mut missing = (0..)
            .zip(canaries)
            .filter(|(_, canary)| **canary != nonce ^ CANARY)
            .map(|(rank, _)| rank);
        if let Some(first) = missing.next() {
            let missing = 1 + missing.count() as u32;
            return Err(CanaryError::Slots { missing, invocations: canaries.len() as u32, first });
        }
        let mut records = Records::default();
        for (word, row) in rows.enumerate() {
            let mut united = 0;
            for (rank, bits) in (0..).zip(row) {
                let new = bits & !united;
                if new != 0 && self.witnesses == Witnesses::Recorded {
                    let first = 32 * word as u32;
                    let bits = (0..32).filter(|bit| new >> bit & 1 == 1);
                    records.witnesses.extend(bits.map(|bit| (first + bit, size.invocation(rank))));
                }
                united |= new;
            }
            records.words.push(united);
        }
        Ok(records)
    }
}

/// Words that the host writes and the kernel may not change, but for the second.
fn header(size: &DispatchSize, nonce: u32) -> [u32; HEADER_WORDS as usize] {
    // What does not fit is refused where it is needed.
    let word = |value: u128| value as u32;
    let plane = u128::from(size.groups[0]) * u128::from(size.groups[1]);
    let (local, invocations) = (word(size.per_workgroup()), word(size.invocations()));
    // Whatever the nonce, word 1 must not hold the right answer by itself.
    [nonce, !(nonce ^ CANARY), local, size.groups[0], word(plane), invocations, 0, 0]
}

#[cfg(test)]
mod tests;
