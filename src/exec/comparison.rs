//! What two runs of one job left, compared.
//!
//! Knows: runs and what they recorded.
//! Promises: whoever compares two runs asks here: repetitions, modules, engines, schedules, altered
//! and dissimilar runs. Contents are compared byte for byte, records bit for bit.
//! Does not cover: findings, notes and what was printed; whether a difference is permitted.

use super::{BufferContents, Job, Run};
use std::collections::BTreeSet;
use vkcert_model::id::ModuleKey;
use vkcert_model::records::Records;
use vkcert_oracle::contents::ContentsDifference;

/// One thing that differs between what two runs of a job left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunDifference<'r> {
    /// They left other contents of a buffer.
    Contents(ContentsDifference<'r>),
    /// They recorded otherwise of a module.
    Records(RecordsDifference),
    /// One run gave more buffers back.
    NumberOfBuffers,
    /// They ended otherwise.
    Completion,
}

/// How what two runs recorded of one module differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordsDifference {
    /// The kernel under one specialization.
    pub module: ModuleKey,
    /// What of the records differs.
    pub kind: RecordsDifferenceKind,
}

/// What of two runs' records of one module differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordsDifferenceKind {
    /// One of the runs alone has records of the module.
    OfOneRun,
    /// Words of bits differ, the first of which is named.
    Words {
        /// Index of the word.
        first: usize,
    },
    /// The bits are the same, what is known of them is not.
    Witnesses,
}

/// The buffers of which two runs left different contents, ascending.
pub fn differing_contents<'r>(
    left: &'r [BufferContents],
    right: &'r [BufferContents],
) -> impl Iterator<Item = ContentsDifference<'r>> {
    let pairs = left.iter().zip(right).enumerate();
    pairs
        .filter(|(_, (left, right))| left != right)
        .map(|(buffer, (left, right))| ContentsDifference { buffer, left, right })
}

/// Everything that differs between what two runs left: contents before records.
pub fn run_differences<'r>(
    left: &'r Run,
    right: &'r Run,
) -> impl Iterator<Item = RunDifference<'r>> {
    let contents = differing_contents(&left.buffers, &right.buffers).map(RunDifference::Contents);
    let only_right = right.records.keys().filter(|module| !left.records.contains_key(module));
    let records = left.records.keys().chain(only_right).filter_map(|module| {
        RecordsDifference::between(*module, left.records.get(module), right.records.get(module))
    });
    let number =
        (left.buffers.len() != right.buffers.len()).then_some(RunDifference::NumberOfBuffers);
    let completion = (left.completion != right.completion).then_some(RunDifference::Completion);
    contents.chain(records.map(RunDifference::Records)).chain(number).chain(completion)
}

/// Bits of two records of one module that differ, or whose witnesses do.
pub fn differing_bits(left: &Records, right: &Records) -> BTreeSet<u32> {
    let bit_count = left.words.len().max(right.words.len()) as u32 * 32;
    let mut differing: BTreeSet<u32> =
        (0..bit_count).filter(|bit| left.has(*bit) != right.has(*bit)).collect();
    let witnessed = left.witnesses.keys().chain(right.witnesses.keys());
    differing.extend(witnessed.filter(|bit| left.witnesses.get(bit) != right.witnesses.get(bit)));
    differing
}

impl RunDifference<'_> {
    /// Where it is, as a sentence without its end.
    pub fn in_words(&self, job: &Job) -> String {
        match self {
            Self::Contents(difference) => {
                let buffer = job.buffers.get(difference.buffer);
                let name = buffer.map_or("?", |buffer| buffer.name.as_str());
                let first_byte = difference.first_offset();
                format!("buffer `{name}` differs, first at byte {first_byte}")
            }
            Self::Records(RecordsDifference { module, kind }) => match kind {
                RecordsDifferenceKind::OfOneRun => {
                    format!("there are no records of kernel `{module}`, or there alone")
                }
                RecordsDifferenceKind::Words { first } => {
                    format!("the records of kernel `{module}` differ, first in word {first}")
                }
                RecordsDifferenceKind::Witnesses => {
                    format!("the witnesses in the records of kernel `{module}` differ")
                }
            },
            Self::NumberOfBuffers => "another number of buffers came back".to_owned(),
            Self::Completion => "the run ended otherwise".to_owned(),
        }
    }
}

impl RecordsDifference {
    /// None where both runs recorded the same of the module.
    fn between(module: ModuleKey, left: Option<&Records>, right: Option<&Records>) -> Option<Self> {
        let kind = match (left, right) {
            (None, None) => return None,
            (Some(left), Some(right)) if left == right => return None,
            (Some(left), Some(right)) if left.words != right.words => {
                RecordsDifferenceKind::Words { first: first_differing_word(left, right) }
            }
            (Some(_), Some(_)) => RecordsDifferenceKind::Witnesses,
            (Some(_), None) | (None, Some(_)) => RecordsDifferenceKind::OfOneRun,
        };
        Some(Self { module, kind })
    }
}

/// The number of words of the shorter records where these begin the longer.
fn first_differing_word(left: &Records, right: &Records) -> usize {
    let mut pairs = left.words.iter().zip(&right.words);
    pairs.position(|(left, right)| left != right).unwrap_or(left.words.len().min(right.words.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Completion;
    use std::collections::BTreeMap;

    fn run(contents: &[u8], words: &[u32]) -> Run {
        let records = Records { words: words.to_vec(), ..Records::default() };
        Run {
            buffers: vec![contents.to_vec().into()],
            records: BTreeMap::from([(ModuleKey::from("k"), records)]),
            ..Run::ended(Completion::Completed)
        }
    }

    #[test]
    fn contents_records_and_endings_are_each_compared() {
        let left = run(&[1, 2], &[7, 7]);
        assert_eq!(run_differences(&left, &left.clone()).next(), None);
        let other_records = run(&[1, 2], &[7, 6]);
        let kind = RecordsDifferenceKind::Words { first: 1 };
        let records = RecordsDifference { module: ModuleKey::from("k"), kind };
        let found: Vec<_> = run_differences(&left, &other_records).collect();
        assert_eq!(found, [RunDifference::Records(records)]);
        let other_contents = run(&[1, 3], &[7, 7]);
        let first = run_differences(&left, &other_contents).next();
        assert!(matches!(first, Some(RunDifference::Contents(contents)) if contents.buffer == 0));
        let nothing = Run::ended(Completion::Timeout { reason: String::new() });
        let found: Vec<_> = run_differences(&left, &nothing).collect();
        let without_records =
            RecordsDifference { kind: RecordsDifferenceKind::OfOneRun, ..records };
        let expected = [
            RunDifference::Records(without_records),
            RunDifference::NumberOfBuffers,
            RunDifference::Completion,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn bits_differ_by_their_witnesses_alone_too() {
        let records = |words: &[u32], witness| Records {
            words: words.to_vec(),
            witnesses: BTreeMap::from([(3, [witness, 0, 0])]),
            ..Records::default()
        };
        let differing = differing_bits(&records(&[0b1000], 1), &records(&[0b1001, 1], 2));
        assert_eq!(differing, BTreeSet::from([0, 3, 32]));
    }
}
