//! Reads a record buffer back.
//!
//! Knows: the buffer's layout (`model::records::RecordBuffer`).
//! Promises: records are given out only if the canary proves that the buffer was bound, written by the kernel and read
//! back, and if no bit is set that no vector or mark stands for.
//! Does not cover: witnesses; a device does not tell which invocation set a bit.

use crate::model::records::{CANARY, RecordBuffer, RecordLayout, Records};
use std::collections::BTreeMap;

/// The contents of a record buffer cannot be trusted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanaryError {
    #[error("the record buffer has {actual} words instead of {expected}")]
    Size { expected: usize, actual: usize },
    #[error(
        "the record buffer's nonce is 0x{actual:08x} instead of 0x{expected:08x}: it is not the buffer that was bound"
    )]
    Nonce { expected: u32, actual: u32 },
    #[error("no invocation wrote the record buffer's canary (0x{actual:08x} instead of 0x{expected:08x})")]
    Canary { expected: u32, actual: u32 },
    #[error("the record buffer has bit {bit} set, which stands for nothing")]
    ImpossibleBit { bit: u32 },
}

/// The words that the host writes into a fresh record buffer.
pub fn initial_words(buffer: &RecordBuffer, nonce: u32) -> Vec<u32> {
    let mut words = vec![0; buffer.words as usize + 2];
    words[0] = nonce;
    // Whatever the nonce, word 1 must not hold the right answer by itself.
    words[1] = nonce;
    words
}

/// Takes the records out of `words`, which were read back from the buffer that held `nonce`.
pub fn decode(buffer: &RecordBuffer, words: &[u32], nonce: u32) -> Result<Records, CanaryError> {
    let expected = buffer.words as usize + 2;
    if words.len() != expected {
        return Err(CanaryError::Size { expected, actual: words.len() });
    }
    if words[0] != nonce {
        return Err(CanaryError::Nonce { expected: nonce, actual: words[0] });
    }
    if words[1] != nonce ^ CANARY {
        return Err(CanaryError::Canary { expected: nonce ^ CANARY, actual: words[1] });
    }
    let records = Records { words: words[2..].to_vec(), witnesses: BTreeMap::new(), operands: BTreeMap::new() };
    match impossible_bit(&buffer.layout, &records) {
        Some(bit) => Err(CanaryError::ImpossibleBit { bit }),
        None => Ok(records),
    }
}

fn impossible_bit(layout: &RecordLayout, records: &Records) -> Option<u32> {
    let mut possible = vec![0_u32; records.words.len()];
    let vectors = layout.decisions.iter().flat_map(|slot| slot.vectors.iter().map(|row| slot.base + row.sum));
    for bit in vectors.chain(layout.marks.iter().copied()) {
        if let Some(word) = possible.get_mut(bit as usize / 32) {
            *word |= 1 << (bit % 32);
        }
    }
    let wrong = records.words.iter().zip(&possible).enumerate().find(|(_, (word, possible))| *word & !*possible != 0);
    wrong.map(|(index, (word, possible))| index as u32 * 32 + (word & !possible).trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer() -> RecordBuffer {
        let layout = RecordLayout { decisions: Vec::new(), marks: vec![0, 1, 2], bits: 3 };
        RecordBuffer { set: 0, binding: 0, words: 1, layout }
    }

    #[test]
    fn untouched_buffer_is_refused() {
        for nonce in [0, CANARY, 7] {
            let words = initial_words(&buffer(), nonce);
            assert!(matches!(decode(&buffer(), &words, nonce), Err(CanaryError::Canary { .. })));
        }
    }

    #[test]
    fn written_buffer_gives_its_data_words() {
        let records = decode(&buffer(), &[9, 9 ^ CANARY, 0b101], 9).unwrap();
        assert_eq!((records.has(0), records.has(1), records.has(2)), (true, false, true));
    }

    #[test]
    fn foreign_or_damaged_buffers_are_refused() {
        let error = |words: &[u32]| decode(&buffer(), words, 9).unwrap_err();
        assert_eq!(error(&[8, 9 ^ CANARY, 0]), CanaryError::Nonce { expected: 9, actual: 8 });
        assert_eq!(error(&[9, 9 ^ CANARY, 0b1000]), CanaryError::ImpossibleBit { bit: 3 });
        assert_eq!(error(&[9, 9 ^ CANARY]), CanaryError::Size { expected: 3, actual: 2 });
    }
}
