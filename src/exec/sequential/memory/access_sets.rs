//! Access sets for the speculative parallel execution of workgroups: which cells of a store the
//! workgroups of one worker read, wrote or updated commutatively; and the conflict check over them.
//!
//! Knows: a cell is as large as in the race shadow. An atomic is a commutative update if its result
//! is not used, the order of such operations does not matter (sums, bits, integer minimum and
//! maximum) and the word was defined before.
//! Promises: where [`are_free_of_conflicts`] holds, no workgroup of one worker could read what
//! another worker's wrote, nor race with it, so that [`merge_copies`] leaves what one core leaves.
//! Does not cover: atomics on texels and on floats, which count as reads and writes.

use super::race_shadow::RaceShadow;
use super::store::Store;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// A commutative update of a word: operations whose order does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CommutativeUpdate {
    by: CommutativeOperator,
    part: NumberPart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommutativeOperator {
    Sum,
    Xor,
    /// An idempotent operation: applied twice it leaves what it leaves when applied once.
    Once(AtomicOperation),
}

/// Which part of a number a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberPart {
    Whole,
    Low,
    High,
}

impl CommutativeUpdate {
    /// The update of each word of the number that an atomic without a used result changes; none
    /// where order matters.
    pub(crate) fn by(op: AtomicOperation, number_format: NumberFormat) -> Option<[Self; 2]> {
        let operator = match op {
            AtomicOperation::Increment
            | AtomicOperation::Decrement
            | AtomicOperation::Add
            | AtomicOperation::Sub => CommutativeOperator::Sum,
            AtomicOperation::Xor => CommutativeOperator::Xor,
            AtomicOperation::And
            | AtomicOperation::Or
            | AtomicOperation::SMin
            | AtomicOperation::SMax
            | AtomicOperation::UMin
            | AtomicOperation::UMax => CommutativeOperator::Once(op),
            AtomicOperation::Load
            | AtomicOperation::Store
            | AtomicOperation::Exchange
            | AtomicOperation::CompareExchange
            | AtomicOperation::FAdd
            | AtomicOperation::FMin
            | AtomicOperation::FMax => return None,
        };
        let parts = match number_format {
            NumberFormat::WORD => [NumberPart::Whole; 2],
            NumberFormat::Integer(Width::W64) => [NumberPart::Low, NumberPart::High],
            NumberFormat::Integer(Width::W8 | Width::W16)
            | NumberFormat::Float(_)
            | NumberFormat::Brain => return None,
        };
        Some(parts.map(|part| Self { by: operator, part }))
    }
}

impl CommutativeOperator {
    /// The joined value of all workers so far and one more, from the value before all of them.
    fn join(
        self,
        old_value: u64,
        joined_value: u64,
        worker_value: u64,
        number_format: NumberFormat,
    ) -> u64 {
        match self {
            CommutativeOperator::Sum => {
                joined_value.wrapping_add(worker_value.wrapping_sub(old_value))
            }
            CommutativeOperator::Xor => joined_value ^ worker_value ^ old_value,
            CommutativeOperator::Once(op) => {
                op.new_value(number_format, joined_value, worker_value, 0).unwrap_or(joined_value)
            }
        }
    }
}

/// The accesses of one worker to a store.
#[derive(Debug)]
pub(crate) struct AccessSet {
    /// Cells of a word, as a power of two: the shift from a word's index to its first cell's.
    cell_shift: u32,
    /// One bit per cell.
    read: Vec<u64>,
    written: Vec<u64>,
    combined: Vec<u64>,
    /// By word; empty until there is a commutative update.
    updates: Vec<Option<CommutativeUpdate>>,
    words: usize,
}

/// Bytes of the access set of a store.
pub(crate) fn access_set_bytes(word_count: usize, granule: u32) -> u64 {
    let cell_count = word_count as u64 * u64::from(4 / granule.clamp(1, 4));
    3 * cell_count.div_ceil(64) * 8
        + word_count as u64 * size_of::<Option<CommutativeUpdate>>() as u64
}

impl AccessSet {
    /// For cells of `granule` bytes: 1, 2 or 4.
    pub(crate) fn new(word_count: usize, granule: u32) -> Self {
        let cell_shift = 2 - granule.trailing_zeros().min(2);
        let no_cells = || vec![0; (word_count << cell_shift).div_ceil(64)];
        Self {
            cell_shift,
            read: no_cells(),
            written: no_cells(),
            combined: no_cells(),
            updates: Vec::new(),
            words: word_count,
        }
    }

    #[inline]
    fn set_cells(bits: &mut [u64], cell_shift: u32, word_index: usize) {
        let word_cells = (1u64 << (1 << cell_shift)) - 1;
        let first_cell = word_index << cell_shift;
        bits[first_cell / 64] |= word_cells << (first_cell % 64);
    }

    #[inline]
    pub(crate) fn read(&mut self, word_index: usize) {
        Self::set_cells(&mut self.read, self.cell_shift, word_index);
    }

    #[inline]
    pub(crate) fn mark_write(&mut self, word_index: usize) {
        Self::set_cells(&mut self.written, self.cell_shift, word_index);
    }

    /// An access to some bytes; an atomic that reads and writes is both.
    pub(crate) fn mark_bytes(
        &mut self,
        access_kind: AccessKind,
        first_byte: usize,
        byte_count: usize,
    ) {
        let (reads, writes) = match access_kind {
            AccessKind::Read | AccessKind::AtomicRead => (true, false),
            AccessKind::Write => (false, true),
            AccessKind::AtomicWrite => (true, true),
        };
        let shift = 2 - self.cell_shift;
        for cell in first_byte >> shift..(first_byte + byte_count).div_ceil(1 << shift) {
            self.read[cell / 64] |= u64::from(reads) << (cell % 64);
            self.written[cell / 64] |= u64::from(writes) << (cell % 64);
        }
    }

    /// An atomic on some words, with its update where it is a commutative one.
    pub(crate) fn mark_atomic(
        &mut self,
        op: AtomicOperation,
        words: std::ops::Range<usize>,
        update: Option<[CommutativeUpdate; 2]>,
    ) {
        if let Some(update) = update {
            if self.updates.is_empty() {
                self.updates = vec![None; self.words];
            }
            let mut earlier_updates = self.updates[words.start..words.end].iter().zip(&update);
            if earlier_updates.all(|(earlier_update, word_update)| {
                earlier_update.is_none_or(|earlier_update| earlier_update == *word_update)
            }) {
                for (word_index, word_update) in words.zip(update) {
                    self.updates[word_index] = Some(word_update);
                    Self::set_cells(&mut self.combined, self.cell_shift, word_index);
                }
                return;
            }
        }
        for word_index in words {
            if op.reads_memory() {
                self.read(word_index);
            }
            if op != AtomicOperation::Load {
                self.mark_write(word_index);
            }
        }
    }
}

/// The conflict check: whether the accesses of the workers, each to its own copy of a store, are
/// independent of each other and, where races are looked for, race with no access before them.
pub(crate) fn are_free_of_conflicts(
    worker_sets: &[&AccessSet],
    earlier_accesses: Option<&RaceShadow>,
) -> bool {
    let entry_count = worker_sets.first().map_or(0, |marks| marks.read.len());
    (0..entry_count).all(|entry| {
        let (mut plain_accesses, mut written_cells, mut combined_cells) = (0, 0, 0);
        for marks in worker_sets {
            let [own_reads, own_writes, own_combined] =
                [marks.read[entry], marks.written[entry], marks.combined[entry]];
            let own_accesses = own_reads | own_writes;
            let against_writes = (own_accesses | own_combined) & written_cells;
            let against_others = own_writes & (plain_accesses | combined_cells);
            let mixed = (own_combined & plain_accesses) | (own_accesses & combined_cells);
            if against_writes | against_others | mixed != 0 {
                return false;
            }
            plain_accesses |= own_accesses;
            written_cells |= own_writes;
            combined_cells |= own_combined;
        }
        updates_agree(worker_sets, entry, combined_cells)
            && earlier_accesses
                .is_none_or(|shadow| are_free_of_earlier_races(shadow, entry, worker_sets))
    })
}

/// Whether all workers that updated a word commutatively did so by the same operation.
fn updates_agree(worker_sets: &[&AccessSet], entry: usize, combined_cells: u64) -> bool {
    crate::ir::lane_mask::set_bits(combined_cells).all(|bit| {
        let update_of = |marks: &&AccessSet| {
            marks.updates.get((64 * entry + bit) >> marks.cell_shift).copied().flatten()
        };
        let mut word_updates = worker_sets.iter().filter_map(update_of);
        word_updates.next().is_none_or(|first_update| {
            word_updates.all(|other_update| other_update == first_update)
        })
    })
}

/// Whether no access of the workers to these cells races with one that the shadow has recorded.
fn are_free_of_earlier_races(
    shadow: &RaceShadow,
    entry: usize,
    worker_sets: &[&AccessSet],
) -> bool {
    let union_bits = |bits_of: fn(&AccessSet) -> &Vec<u64>| {
        worker_sets.iter().fold(0, |union_bits, marks| union_bits | bits_of(marks)[entry])
    };
    let (read_cells, written_cells) =
        (union_bits(|marks| &marks.read), union_bits(|marks| &marks.written));
    let combined_cells = union_bits(|marks| &marks.combined);
    let incompatible_atomics = shadow.has_incompatible_atomics();
    crate::ir::lane_mask::set_bits(read_cells | written_cells | combined_cells).all(|bit| {
        let cell_history = shadow.cell_history(64 * entry + bit);
        let has = |bits: u64| bits >> bit & 1 == 1;
        let was_written = cell_history.written || cell_history.atomically_written;
        let was_plain = cell_history.read
            || cell_history.written
            || (incompatible_atomics && cell_history.has_any());
        !(has(written_cells) && cell_history.has_any()
            || has(read_cells) && was_written
            || has(combined_cells) && was_plain)
    })
}

/// Merges the copies of workers without a conflict into the store that they were copied from.
pub(crate) fn merge_copies(store: &mut Store, workers: &[(&AccessSet, &Store)]) {
    let Some((first_set, _)) = workers.first() else { return };
    let (cell_shift, entry_count) = (first_set.cell_shift, first_set.written.len());
    for entry in 0..entry_count {
        for (marks, worker_copy) in workers {
            crate::ir::lane_mask::set_bits(marks.written[entry])
                .for_each(|bit| copy_cell(store, worker_copy, 64 * entry + bit, cell_shift));
        }
        let (mut combined_once, mut combined_often) = (0, 0);
        for combined in workers.iter().map(|(marks, _)| marks.combined[entry]) {
            combined_often |= combined_once & combined;
            combined_once |= combined;
        }
        // A cell that one worker alone updated has that worker's value.
        for (marks, worker_copy) in workers {
            let unshared_cells = marks.combined[entry] & !combined_often & !marks.written[entry];
            crate::ir::lane_mask::set_bits(unshared_cells)
                .for_each(|bit| copy_cell(store, worker_copy, 64 * entry + bit, cell_shift));
        }
        let mut last_word = None;
        for word_index in crate::ir::lane_mask::set_bits(combined_often)
            .map(|bit| (64 * entry + bit) >> cell_shift)
        {
            if last_word.replace(word_index) != Some(word_index) {
                join_word(store, workers, word_index);
            }
        }
    }
}

fn copy_cell(store: &mut Store, worker_copy: &Store, cell_index: usize, cell_shift: u32) {
    let (word_index, byte_count) = (cell_index >> cell_shift, 4 >> cell_shift);
    let first_byte = (cell_index as u32 & ((1 << cell_shift) - 1)) * byte_count;
    let mask = (u32::MAX >> (32 - 8 * byte_count)) << (8 * first_byte);
    store.words[word_index] =
        (store.words[word_index] & !mask) | (worker_copy.words[word_index] & mask);
    for byte_index in first_byte..first_byte + byte_count {
        store.set_bytes_defined(
            word_index,
            byte_index..byte_index + 1,
            !worker_copy.are_bytes_undefined(word_index, byte_index..byte_index + 1),
        );
    }
}

/// Joins the workers' values of a word, or of the two words of a number. The store must still hold
/// the value before them.
fn join_word(store: &mut Store, workers: &[(&AccessSet, &Store)], word_index: usize) {
    let update_of = |marks: &AccessSet| marks.updates.get(word_index).copied().flatten();
    let Some(CommutativeUpdate { by: operator, part }) =
        workers.iter().find_map(|(marks, _)| update_of(marks))
    else {
        return;
    };
    let number_format = match part {
        NumberPart::Whole => NumberFormat::WORD,
        NumberPart::Low => NumberFormat::Integer(Width::W64),
        // Joined together with the low half.
        NumberPart::High => return,
    };
    let is_wide = part == NumberPart::Low;
    let number_in = |words: &[u32]| {
        u64::from(words[word_index])
            | if is_wide { u64::from(words[word_index + 1]) << 32 } else { 0 }
    };
    let old_value = number_in(&store.words);
    let took_part = workers.iter().filter(|(marks, _)| update_of(marks).is_some());
    let joined_value = took_part.fold(old_value, |joined_value, (_, worker_copy)| {
        operator.join(old_value, joined_value, number_in(&worker_copy.words), number_format)
    });
    store.words[word_index] = joined_value as u32;
    if is_wide {
        store.words[word_index + 1] = (joined_value >> 32) as u32;
    }
}
