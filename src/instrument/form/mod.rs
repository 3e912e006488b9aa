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
//! | 8 .. | data words, in several copies with a distance of [`copy_stride`]; then with witnesses one word per bit: the lowest rank, at first 0xffff_ffff |
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
use std::collections::{BTreeMap, BTreeSet};
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
    /// How invocations put their bits together.
    pub mode: RecordMode,
    /// Whether a witness per bit is recorded.
    pub witnesses: Witnesses,
    /// Data words.
    pub words: u32,
    /// How often they are there.
    pub copies: u32,
}

/// Words from a copy of the data words to the next. Several copies have memory lines of their own,
/// and each begins with a canary of its own.
pub(crate) fn copy_stride(data_words: u32, copy_count: u32) -> u32 {
    if copy_count > 1 { (1 + data_words).next_multiple_of(LINE) } else { data_words }
}

/// Words of a memory line that no other copy shall share.
const LINE: u32 = 32;

/// A dispatch that a mode cannot record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordLimit {
    /// Invocations have no number of 32 bits.
    #[error("record mode `{mode}`{}: {invocations} invocations cannot be numbered with 32 bits", with_witnesses(.witnesses))]
    Ranks {
        /// The mode that numbers them.
        mode: RecordMode,
        /// Whether witnesses are recorded, which numbers them too.
        witnesses: Witnesses,
        /// Invocations of the dispatch.
        invocations: u128,
    },
    /// The slots are more words than 32 bits can address.
    #[error(
        "record mode `slots`: {invocations} invocations with {words} data words each cannot be addressed with 32 bits"
    )]
    Slots {
        /// Invocations of the dispatch.
        invocations: u32,
        /// Data words of a slot.
        words: u32,
    },
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
    /// The buffer has another size than was made.
    #[error("the record buffer has {actual} words instead of {expected}")]
    Size {
        /// Words that it must have.
        expected: u64,
        /// Words that it has.
        actual: usize,
    },
    /// The first word is not the host's nonce.
    #[error("the nonce was overwritten (0x{actual:08x} instead of 0x{expected:08x})")]
    Nonce {
        /// The nonce.
        expected: u32,
        /// The word that is there.
        actual: u32,
    },
    /// A word of the header is not what the host wrote.
    #[error("word {word} of the record buffer's header was overwritten")]
    Header {
        /// Index of the word, from 0.
        word: usize,
    },
    /// The canary before a copy of the data words is wrong.
    #[error(
        "the canary of copy {copy} is not as it must be (0x{actual:08x} instead of 0x{expected:08x})"
    )]
    Copy {
        /// Index of the copy, from 0.
        copy: usize,
        /// The canary that it must have.
        expected: u32,
        /// The word that is there.
        actual: u32,
    },
    /// Words outside of what a copy holds are not 0.
    #[error("something wrote to copy {copy} of the data words, where no bit is set")]
    Between {
        /// Index of the copy, from 0.
        copy: usize,
    },
    /// The canary word is not as the module writes it.
    #[error("the canary word was not written (0x{actual:08x} instead of 0x{expected:08x})")]
    Canary {
        /// The canary that it must have.
        expected: u32,
        /// The word that is there.
        actual: u32,
    },
    /// Slots of invocations lack their canary.
    #[error(
        "{missing} of {invocations} invocations did not write the canary of their slot, the first of rank {first}"
    )]
    Slots {
        /// How many.
        missing: u32,
        /// Invocations of the dispatch.
        invocations: u32,
        /// Lowest rank of such an invocation.
        first: u32,
    },
    /// A witness is no invocation of the dispatch, or contradicts its bit.
    #[error("the witness of bit {bit} does not fit: rank {rank} of {invocations} invocations")]
    Witness {
        /// The bit.
        bit: u32,
        /// Rank that stands there.
        rank: u32,
        /// Invocations of the dispatch.
        invocations: u64,
    },
    /// A bit is set that the layout gives to nothing.
    #[error("the record buffer has bit {bit} set, which stands for nothing")]
    ImpossibleBit {
        /// The bit.
        bit: u32,
    },
}

impl RecordForm {
    /// The form of a module's record buffer.
    pub fn of_buffer(record_buffer: &RecordBuffer) -> Self {
        Self {
            mode: record_buffer.mode,
            witnesses: record_buffer.witnesses,
            words: record_buffer.words,
            copies: record_buffer.copies,
        }
    }

    /// 32-bit words of the whole buffer.
    pub fn word_count(&self, dispatch_size: &DispatchSize) -> Result<u64, RecordLimit> {
        let data_words = match self.mode {
            RecordMode::Slots => {
                let invocations = self.rank_count(dispatch_size)?;
                let slot_words = u64::from(invocations) * (1 + u64::from(self.words));
                if u32::try_from(slot_words + u64::from(HEADER_WORDS)).is_err() {
                    return Err(RecordLimit::Slots { invocations, words: self.words });
                }
                slot_words
            }
            RecordMode::Private
            | RecordMode::Workgroup
            | RecordMode::Subgroup
            | RecordMode::Direct => {
                let witnesses = match self.witnesses {
                    Witnesses::Omitted => 0,
                    Witnesses::Recorded => {
                        self.rank_count(dispatch_size)?;
                        32 * u64::from(self.words)
                    }
                };
                u64::from(self.data_word_count()) + witnesses
            }
        };
        Ok(u64::from(HEADER_WORDS) + data_words)
    }

    /// Copies that are some workgroup's: that of workgroup (x, y, z) is `(x + y + z) % copies`.
    fn used_copies(&self, dispatch_size: &DispatchSize) -> usize {
        let [x_groups, y_groups, z_groups] = dispatch_size.groups.map(u64::from);
        if x_groups * y_groups * z_groups == 0 {
            0
        } else {
            u64::from(self.copies).min(x_groups + y_groups + z_groups - 2) as usize
        }
    }

    /// Words of all copies.
    fn data_word_count(&self) -> u32 {
        self.copies * copy_stride(self.words, self.copies)
    }

    /// The number of invocations, if each has a rank.
    fn rank_count(&self, dispatch_size: &DispatchSize) -> Result<u32, RecordLimit> {
        let invocations = dispatch_size.invocation_count();
        let (mode, witnesses) = (self.mode, self.witnesses);
        let fits = u32::try_from(invocations).ok().filter(|count| *count < NOBODY);
        fits.ok_or(RecordLimit::Ranks { mode, witnesses, invocations })
    }

    /// What the host writes into a fresh buffer.
    pub fn initial_words(
        &self,
        dispatch_size: &DispatchSize,
        nonce: u32,
    ) -> Result<Vec<u32>, RecordLimit> {
        let word_count = self.word_count(dispatch_size)?;
        let mut buffer_words = vec![0; word_count as usize];
        buffer_words[..HEADER_WORDS as usize].copy_from_slice(&header_words(dispatch_size, nonce));
        if self.mode == RecordMode::Slots {
            let invocations = buffer_words[INVOCATIONS_WORD as usize] as usize;
            buffer_words[HEADER_WORDS as usize..][..invocations].fill(!(nonce ^ CANARY));
        } else {
            buffer_words[(HEADER_WORDS + self.data_word_count()) as usize..].fill(NOBODY);
            if self.copies > 1 {
                let copies =
                    &mut buffer_words[HEADER_WORDS as usize..][..self.data_word_count() as usize];
                copies
                    .iter_mut()
                    .step_by(copy_stride(self.words, self.copies) as usize)
                    .for_each(|word| *word = !(nonce ^ CANARY));
            }
        }
        Ok(buffer_words)
    }

    /// Takes the records out of words that were read back from the buffer that held `nonce`.
    pub fn read_records(
        &self,
        dispatch_size: &DispatchSize,
        buffer_words: &[u32],
        nonce: u32,
    ) -> Result<Records, CanaryError> {
        let expected_count = self.word_count(dispatch_size).unwrap_or(u64::MAX);
        if buffer_words.len() as u64 != expected_count {
            return Err(CanaryError::Size { expected: expected_count, actual: buffer_words.len() });
        }
        let (read_header, data_words) = buffer_words.split_at(HEADER_WORDS as usize);
        if read_header[0] != nonce {
            return Err(CanaryError::Nonce { expected: nonce, actual: read_header[0] });
        }
        let written_header = header_words(dispatch_size, nonce);
        if let Some(word) =
            (2..read_header.len()).find(|word| read_header[*word] != written_header[*word])
        {
            return Err(CanaryError::Header { word });
        }
        if self.mode == RecordMode::Slots {
            return self.read_slots(dispatch_size, data_words, nonce);
        }
        let expected_canary = if self.copies > 1 { written_header[1] } else { nonce ^ CANARY };
        if read_header[1] != expected_canary {
            return Err(CanaryError::Canary { expected: expected_canary, actual: read_header[1] });
        }
        let (copied_words, ranks) = data_words.split_at(self.data_word_count() as usize);
        let united_bits = self.unite_copies(dispatch_size, copied_words, nonce)?;
        let mut witnesses = BTreeMap::new();
        let invocations = dispatch_size.invocation_count();
        for (bit, rank) in ranks.iter().enumerate() {
            let (bit, is_set) = (bit as u32, united_bits[bit / 32] >> (bit % 32) & 1 == 1);
            match (is_set, *rank) {
                (false, NOBODY) => {}
                (true, rank) if u128::from(rank) < invocations => {
                    witnesses.insert(bit, dispatch_size.invocation_at(rank));
                }
                (_, rank) => {
                    let invocations = invocations.try_into().unwrap_or(u64::MAX);
                    return Err(CanaryError::Witness { bit, rank, invocations });
                }
            }
        }
        Ok(Records { words: united_bits, witnesses, ..Records::default() })
    }

    /// The words of all copies in a single one. Each copy that is some workgroup's must have its
    /// canary, and what lies between the copies must be as it was.
    fn unite_copies(
        &self,
        dispatch_size: &DispatchSize,
        copied_words: &[u32],
        nonce: u32,
    ) -> Result<Vec<u32>, CanaryError> {
        if self.copies == 1 {
            return Ok(copied_words.to_vec());
        }
        let used_copies = self.used_copies(dispatch_size);
        let mut united_words = vec![0; self.words as usize];
        for (copy, words) in
            copied_words.chunks(copy_stride(self.words, self.copies) as usize).enumerate()
        {
            let (canary_word, words) = words.split_at(1);
            let (words, words_between) = words.split_at(self.words as usize);
            let expected_canary =
                if copy < used_copies { nonce ^ CANARY } else { !(nonce ^ CANARY) };
            if canary_word[0] != expected_canary {
                return Err(CanaryError::Copy {
                    copy,
                    expected: expected_canary,
                    actual: canary_word[0],
                });
            }
            if words_between.iter().any(|word| *word != 0)
                || copy >= used_copies && words.iter().any(|word| *word != 0)
            {
                return Err(CanaryError::Between { copy });
            }
            for (united_word, word) in united_words.iter_mut().zip(words) {
                *united_word |= word;
            }
        }
        Ok(united_words)
    }

    /// Who set some bits, in words that `read` takes; none in modes without slots, where nobody
    /// knows.
    pub fn by_invocation(
        &self,
        dispatch_size: &DispatchSize,
        buffer_words: &[u32],
        wanted_bits: &BTreeSet<u32>,
    ) -> Option<DispatchInvocations> {
        let invocations =
            self.rank_count(dispatch_size).ok().filter(|_| self.mode == RecordMode::Slots)?
                as usize;
        let ranks = |bit: &u32| {
            let row_start = HEADER_WORDS as usize + (1 + *bit as usize / 32) * invocations;
            let word_row = buffer_words.get(row_start..row_start + invocations).unwrap_or_default();
            let mut ranks = Ranks::default();
            let setting_ranks =
                (0..).zip(word_row).filter(|(_, word)| **word >> (bit % 32) & 1 == 1);
            setting_ranks.for_each(|(rank, _)| ranks.insert(rank));
            (*bit, ranks)
        };
        let by_bit = wanted_bits.iter().map(ranks).collect();
        Some(DispatchInvocations {
            local_size: dispatch_size.local_size,
            by_bit,
            ..DispatchInvocations::default()
        })
    }

    fn read_slots(
        &self,
        dispatch_size: &DispatchSize,
        data_words: &[u32],
        nonce: u32,
    ) -> Result<Records, CanaryError> {
        let invocations = (data_words.len() / (1 + self.words as usize)).max(1);
        let mut word_rows = data_words.chunks_exact(invocations);
        let slot_canaries = word_rows.next().unwrap_or(&[]);
        let mut missing_ranks = (0..)
            .zip(slot_canaries)
            .filter(|(_, canary)| **canary != nonce ^ CANARY)
            .map(|(rank, _)| rank);
        if let Some(first_rank) = missing_ranks.next() {
            return Err(CanaryError::Slots {
                missing: 1 + missing_ranks.count() as u32,
                invocations: slot_canaries.len() as u32,
                first: first_rank,
            });
        }
        let mut records = Records::default();
        for (word, word_row) in word_rows.enumerate() {
            let mut united_bits = 0;
            for (rank, bits) in (0..).zip(word_row) {
                let new_bits = bits & !united_bits;
                if new_bits != 0 && self.witnesses == Witnesses::Recorded {
                    let first_bit = 32 * word as u32;
                    let set_bits = (0..32).filter(|bit| new_bits >> bit & 1 == 1);
                    records.witnesses.extend(
                        set_bits.map(|bit| (first_bit + bit, dispatch_size.invocation_at(rank))),
                    );
                }
                united_bits |= new_bits;
            }
            records.words.push(united_bits);
        }
        Ok(records)
    }
}

/// Words that the host writes and the kernel may not change, but for the second.
fn header_words(dispatch_size: &DispatchSize, nonce: u32) -> [u32; HEADER_WORDS as usize] {
    // What does not fit is refused where it is needed.
    let low_word = |value: u128| value as u32;
    let plane_groups = u128::from(dispatch_size.groups[0]) * u128::from(dispatch_size.groups[1]);
    let (local_invocations, invocations) =
        (low_word(dispatch_size.per_workgroup()), low_word(dispatch_size.invocation_count()));
    // Whatever the nonce, word 1 must not hold the right answer by itself.
    [
        nonce,
        !(nonce ^ CANARY),
        local_invocations,
        dispatch_size.groups[0],
        low_word(plane_groups),
        invocations,
        0,
        0,
    ]
}

#[cfg(test)]
mod tests;
