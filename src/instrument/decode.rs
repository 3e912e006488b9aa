//! What the bits of a record buffer stand for.
//!
//! Knows: the layout of a kernel's bits.
//! Promises: records with a bit that no vector or mark stands for are refused.
//! Does not cover: whether the words can be trusted at all (`form`).

use super::form::{CanaryError, DispatchSize, RecordForm};
use vkcert_model::records::{RecordBuffer, RecordLayout, Records};

/// Takes the records of one dispatch out of `words`, which were read back from the buffer that held
/// `nonce`.
pub fn decode_records(
    record_buffer: &RecordBuffer,
    dispatch_size: &DispatchSize,
    words: &[u32],
    nonce: u32,
) -> Result<Records, CanaryError> {
    let records = RecordForm::of_buffer(record_buffer).read_records(dispatch_size, words, nonce)?;
    check_bits(&record_buffer.layout, &records)?;
    Ok(records)
}

/// Refuses a bit that stands for nothing.
pub fn check_bits(record_layout: &RecordLayout, records: &Records) -> Result<(), CanaryError> {
    let mut possible_bits = vec![0_u32; records.words.len()];
    let vector_bits = record_layout
        .decisions
        .iter()
        .flat_map(|slot| slot.vectors.iter().map(|row| slot.base + row.sum));
    for bit in vector_bits.chain(record_layout.marks.iter().copied()) {
        if let Some(word) = possible_bits.get_mut(bit as usize / 32) {
            *word |= 1 << (bit % 32);
        }
    }
    let impossible_word = records
        .words
        .iter()
        .zip(&possible_bits)
        .enumerate()
        .find(|(_, (word, possible_word))| *word & !*possible_word != 0);
    match impossible_word {
        Some((index, (word, possible_word))) => Err(CanaryError::ImpossibleBit {
            bit: index as u32 * 32 + (word & !possible_word).trailing_zeros(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::records::{CANARY, RecordMode, Witnesses};

    #[test]
    fn bits_without_a_meaning_are_refused() {
        let layout = RecordLayout { decisions: Vec::new(), marks: vec![0, 1, 2], bits: 3 };
        let (mode, witnesses) = (RecordMode::Private, Witnesses::Omitted);
        let buffer =
            RecordBuffer { set: 0, binding: 0, words: 1, layout, mode, witnesses, copies: 1 };
        let size = DispatchSize { groups: [1; 3], local_size: [1; 3] };
        let read = |bits: u32| {
            let mut words = RecordForm::of_buffer(&buffer).initial_words(&size, 9).unwrap();
            (words[1], words[8]) = (9 ^ CANARY, bits);
            decode_records(&buffer, &size, &words, 9)
        };
        let records = read(0b101).unwrap();
        assert_eq!((records.has(0), records.has(1), records.has(2)), (true, false, true));
        assert_eq!(read(0b1000), Err(CanaryError::ImpossibleBit { bit: 3 }));
    }
}
