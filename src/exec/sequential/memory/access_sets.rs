//! What the workgroups of one worker did to a store: which cells they read, wrote, or combined
//! something with.
//!
//! Knows: a cell is as large as in the race shadow. An atomic combines where its result is not used
//! and the order of such operations does not matter (sums, bits, integer minimum and maximum) and
//! the word was defined before.
//! Promises: where [`agree`] finds nothing, no workgroup of one worker could see anything of
//! another worker's, nor race with it, and [`merge`] leaves what one core leaves.
//! Does not cover: atomics on texels and on floats, which count as reads and writes.

use super::race_shadow::Shadow;
use super::store::Store;
use crate::ir::atomic::{AccessKind, AtomicOperation};
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// How a word was combined with operands, whatever their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Combined {
    by: Combining,
    part: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combining {
    Sum,
    Xor,
    /// What is done twice is done once.
    Once(AtomicOperation),
}

/// Which part of a number a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Low,
    High,
}

impl Combined {
    /// By word of the number that an atomic without a used result changes; none where order
    /// matters.
    pub(crate) fn by(op: AtomicOperation, form: NumberFormat) -> Option<[Self; 2]> {
        let by = match op {
            AtomicOperation::Increment
            | AtomicOperation::Decrement
            | AtomicOperation::Add
            | AtomicOperation::Sub => Combining::Sum,
            AtomicOperation::Xor => Combining::Xor,
            AtomicOperation::And
            | AtomicOperation::Or
            | AtomicOperation::SMin
            | AtomicOperation::SMax
            | AtomicOperation::UMin
            | AtomicOperation::UMax => Combining::Once(op),
            AtomicOperation::Load
            | AtomicOperation::Store
            | AtomicOperation::Exchange
            | AtomicOperation::CompareExchange
            | AtomicOperation::FAdd
            | AtomicOperation::FMin
            | AtomicOperation::FMax => return None,
        };
        let parts = match form {
            NumberFormat::WORD => [Part::Whole; 2],
            NumberFormat::Integer(Width::W64) => [Part::Low, Part::High],
            NumberFormat::Integer(Width::W8 | Width::W16)
            | NumberFormat::Float(_)
            | NumberFormat::Brain => return None,
        };
        Some(parts.map(|part| Self { by, part }))
    }
}

impl Combining {
    /// What all have left, of what was there before and what one more has left; numbers of `form`.
    fn join(self, before: u64, all: u64, one: u64, form: NumberFormat) -> u64 {
        match self {
            Combining::Sum => all.wrapping_add(one.wrapping_sub(before)),
            Combining::Xor => all ^ one ^ before,
            Combining::Once(op) => op.apply(form, all, one, 0).unwrap_or(all),
        }
    }
}

/// The marks of a store.
#[derive(Debug)]
pub(crate) struct Marks {
    /// Cells of a word, as a power of two.
    finer: u32,
    /// One bit per cell.
    read: Vec<u64>,
    written: Vec<u64>,
    combined: Vec<u64>,
    /// By word; empty until something is combined.
    ways: Vec<Option<Combined>>,
    words: usize,
}

/// Bytes of the marks of a store.
pub(crate) fn bytes(words: usize, granule: u32) -> u64 {
    let cells = words as u64 * u64::from(4 / granule.clamp(1, 4));
    3 * cells.div_ceil(64) * 8 + words as u64 * size_of::<Option<Combined>>() as u64
}

impl Marks {
    /// For cells of `granule` bytes: 1, 2 or 4.
    pub(crate) fn new(words: usize, granule: u32) -> Self {
        let finer = 2 - granule.trailing_zeros().min(2);
        let none = vec![0; (words << finer).div_ceil(64)];
        Self {
            finer,
            read: none.clone(),
            written: none.clone(),
            combined: none,
            ways: Vec::new(),
            words,
        }
    }

    #[inline]
    fn set(bits: &mut [u64], finer: u32, word: usize) {
        let cells = (1u64 << (1 << finer)) - 1;
        let first = word << finer;
        bits[first / 64] |= cells << (first % 64);
    }

    #[inline]
    pub(crate) fn read(&mut self, word: usize) {
        Self::set(&mut self.read, self.finer, word);
    }

    #[inline]
    pub(crate) fn write(&mut self, word: usize) {
        Self::set(&mut self.written, self.finer, word);
    }

    /// An access to some bytes; of an atomic, the order counts.
    pub(crate) fn touch(&mut self, touch: AccessKind, first: usize, bytes: usize) {
        let (reads, writes) = match touch {
            AccessKind::Read | AccessKind::AtomicRead => (true, false),
            AccessKind::Write => (false, true),
            AccessKind::AtomicWrite => (true, true),
        };
        let shift = 2 - self.finer;
        for cell in first >> shift..(first + bytes).div_ceil(1 << shift) {
            self.read[cell / 64] |= u64::from(reads) << (cell % 64);
            self.written[cell / 64] |= u64::from(writes) << (cell % 64);
        }
    }

    /// An atomic on some words; `way` where its place among others does not matter.
    pub(crate) fn atomic(
        &mut self,
        op: AtomicOperation,
        words: std::ops::Range<usize>,
        way: Option<[Combined; 2]>,
    ) {
        if let Some(way) = way {
            if self.ways.is_empty() {
                self.ways = vec![None; self.words];
            }
            let mut parts = words.clone().zip(way);
            if parts.all(|(word, part)| self.ways[word].is_none_or(|other| other == part)) {
                for (word, part) in words.zip(way) {
                    self.ways[word] = Some(part);
                    Self::set(&mut self.combined, self.finer, word);
                }
                return;
            }
        }
        for word in words {
            if op.reads_memory() {
                self.read(word);
            }
            if op != AtomicOperation::Load {
                self.write(word);
            }
        }
    }
}

/// Whether workers that left these marks on a store, each in its own copy, did so independently of
/// each other and, where races are looked for, of what the shadow saw before.
pub(crate) fn agree(workers: &[&Marks], before: Option<&Shadow>) -> bool {
    let entries = workers.first().map_or(0, |marks| marks.read.len());
    (0..entries).all(|entry| {
        let (mut plain, mut written, mut combined) = (0, 0, 0);
        for marks in workers {
            let [r, w, c] = [marks.read[entry], marks.written[entry], marks.combined[entry]];
            let own = r | w;
            let against_writes = (own | c) & written;
            let against_others = w & (plain | combined);
            let mixed = (c & plain) | (own & combined);
            if against_writes | against_others | mixed != 0 {
                return false;
            }
            plain |= own;
            written |= w;
            combined |= c;
        }
        ways_agree(workers, entry, combined)
            && before.is_none_or(|shadow| unseen(shadow, entry, workers))
    })
}

/// Whether words that several combined were combined in one way.
fn ways_agree(workers: &[&Marks], entry: usize, combined: u64) -> bool {
    crate::ir::lane_mask::set_bits(combined).all(|bit| {
        let way =
            |marks: &&Marks| marks.ways.get((64 * entry + bit) >> marks.finer).copied().flatten();
        let mut ways = workers.iter().filter_map(way);
        ways.next().is_none_or(|first| ways.all(|other| other == first))
    })
}

/// Whether nothing that the workers did to these cells is a race with what was done before them.
fn unseen(shadow: &Shadow, entry: usize, workers: &[&Marks]) -> bool {
    let all =
        |of: fn(&Marks) -> &Vec<u64>| workers.iter().fold(0, |all, marks| all | of(marks)[entry]);
    let (read, written) = (all(|marks| &marks.read), all(|marks| &marks.written));
    let combined = all(|marks| &marks.combined);
    let apart = shadow.has_atomics_apart();
    crate::ir::lane_mask::set_bits(read | written | combined).all(|bit| {
        let seen = shadow.seen(64 * entry + bit);
        let has = |bits: u64| bits >> bit & 1 == 1;
        let wrote = seen.written || seen.atomically_written;
        let plain = seen.read || seen.written || (apart && seen.any());
        !(has(written) && seen.any() || has(read) && wrote || has(combined) && plain)
    })
}

/// Puts what the workers left in their copies into the store that they were copied from. They
/// agree.
pub(crate) fn merge(store: &mut Store, workers: &[(&Marks, &Store)]) {
    let Some((first, _)) = workers.first() else { return };
    let (finer, entries) = (first.finer, first.written.len());
    for entry in 0..entries {
        for (marks, own) in workers {
            crate::ir::lane_mask::set_bits(marks.written[entry])
                .for_each(|bit| copy_cell(store, own, 64 * entry + bit, finer));
        }
        let (mut once, mut often) = (0, 0);
        for combined in workers.iter().map(|(marks, _)| marks.combined[entry]) {
            often |= once & combined;
            once |= combined;
        }
        // Whoever was alone with a cell has its value, whatever else it did there.
        for (marks, own) in workers {
            let alone = marks.combined[entry] & !often & !marks.written[entry];
            crate::ir::lane_mask::set_bits(alone)
                .for_each(|bit| copy_cell(store, own, 64 * entry + bit, finer));
        }
        let mut last = None;
        for word in crate::ir::lane_mask::set_bits(often).map(|bit| (64 * entry + bit) >> finer) {
            if last.replace(word) != Some(word) {
                join_word(store, workers, word);
            }
        }
    }
}

fn copy_cell(store: &mut Store, own: &Store, cell: usize, finer: u32) {
    let (word, bytes) = (cell >> finer, 4 >> finer);
    let first = (cell as u32 & ((1 << finer) - 1)) * bytes;
    let mask = (u32::MAX >> (32 - 8 * bytes)) << (8 * first);
    store.words[word] = (store.words[word] & !mask) | (own.words[word] & mask);
    for part in first..first + bytes {
        store.define_part(word, part..part + 1, !own.is_part_undefined(word, part..part + 1));
    }
}

/// Combines what the workers left in a word, or in the two words of a number. The store still holds
/// what was there before.
fn join_word(store: &mut Store, workers: &[(&Marks, &Store)], word: usize) {
    let way = |marks: &Marks| marks.ways.get(word).copied().flatten();
    let Some(Combined { by, part }) = workers.iter().find_map(|(marks, _)| way(marks)) else {
        return;
    };
    let form = match part {
        Part::Whole => NumberFormat::WORD,
        Part::Low => NumberFormat::Integer(Width::W64),
        // Done with the low half.
        Part::High => return,
    };
    let wide = part == Part::Low;
    let number = |store: &Store| {
        u64::from(store.words[word]) | if wide { u64::from(store.words[word + 1]) << 32 } else { 0 }
    };
    let before = number(store);
    let took_part = workers.iter().filter(|(marks, _)| way(marks).is_some());
    let all = took_part.fold(before, |all, (_, own)| by.join(before, all, number(own), form));
    store.words[word] = all as u32;
    if wide {
        store.words[word + 1] = (all >> 32) as u32;
    }
}
