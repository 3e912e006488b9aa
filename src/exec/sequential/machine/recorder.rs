//! Coverage recording of one dispatch: bits with their lowest witness.
//!
//! Promises: the witness of a bit is the lowest invocation, by linear workgroup index and then
//! local index, that set it, whatever the tile width and order.

use crate::ir::LOCAL_BITS;
use crate::ir::RecordedComparison;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::invocations::{DispatchInvocations, Ranks};
use vkcert_model::records::{MarkerTable, Records};
use vkcert_model::vector::ConditionValue;

/// An invocation's rank: linear workgroup index, then local index.
pub(crate) type Rank = u64;

pub(crate) fn rank(workgroup: u64, local: u32) -> Rank {
    workgroup << LOCAL_BITS | u64::from(local)
}

/// Linear workgroup index and local index.
pub(crate) fn parts_of_rank(rank: Rank) -> (u64, u32) {
    (rank >> LOCAL_BITS, (rank & ((1 << LOCAL_BITS) - 1)) as u32)
}

/// Bits of one kernel in one dispatch.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    /// First bit of each decision of the layout.
    pub bases: Vec<u32>,
    sizes: Vec<u32>,
    /// Lowest rank by bit; `Rank::MAX` where the bit is not set.
    lowest: Vec<Rank>,
    operands: BTreeMap<u32, Vec<String>>,
    /// By bit of a decision's vector: which conditions that vector evaluates.
    evaluated: BTreeMap<u32, Vec<bool>>,
    /// Everyone who set some bits, where that is asked for.
    everyone: Option<DispatchInvocations>,
}

/// The conditions that each vector of the layout evaluates, by the vector's bit.
fn evaluated(table: &MarkerTable) -> BTreeMap<u32, Vec<bool>> {
    let rows = table
        .layout
        .decisions
        .iter()
        .flat_map(|slot| slot.vectors.iter().map(move |row| (slot.base, row)));
    rows.map(|(base, row)| {
        let values = row.vector.values.0.iter();
        (base + row.sum, values.map(|value| *value != ConditionValue::NotEvaluated).collect())
    })
    .collect()
}

impl Recorder {
    pub(crate) fn new(table: Option<&MarkerTable>) -> Self {
        let Some(table) = table else { return Self::default() };
        Self {
            bases: table.layout.decisions.iter().map(|slot| slot.base).collect(),
            sizes: table.layout.decisions.iter().map(|slot| slot.size).collect(),
            lowest: vec![Rank::MAX; table.layout.bits as usize],
            operands: BTreeMap::new(),
            evaluated: evaluated(table),
            everyone: None,
        }
    }

    /// One with nothing recorded yet.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            bases: self.bases.clone(),
            sizes: self.sizes.clone(),
            lowest: vec![Rank::MAX; self.lowest.len()],
            operands: BTreeMap::new(),
            evaluated: self.evaluated.clone(),
            everyone: None,
        }
    }

    /// Keeps everyone who sets some bits. Not for workgroups on several cores.
    pub(crate) fn keep_everyone(&mut self, bits: &BTreeSet<u32>, local_size: [u32; 3]) {
        let by_bit = bits.iter().map(|bit| (*bit, Ranks::default())).collect();
        self.everyone =
            Some(DispatchInvocations { local_size, by_bit, ..DispatchInvocations::default() });
    }

    #[inline]
    pub(crate) fn keeps_everyone(&self) -> bool {
        self.everyone.is_some()
    }

    /// Someone sets a bit, be it the first or not.
    pub(crate) fn keep(&mut self, bit: u32, rank: Rank) {
        let Some(everyone) = &mut self.everyone else { return };
        let (workgroup, local) = parts_of_rank(rank);
        let size: u64 = everyone.local_size.iter().map(|axis| u64::from(*axis)).product();
        if let Some(ranks) = everyone.by_bit.get_mut(&bit) {
            // Dispatches whose ranks do not fit are refused before they start.
            ranks.insert((workgroup * size) as u32 + local);
        }
    }

    /// All invocations of a workgroup execute a barrier of the program together.
    pub(crate) fn keep_barrier(&mut self, barrier: u32, workgroup: u64) {
        if let Some(everyone) = &mut self.everyone {
            everyone.barriers.entry(barrier).or_default().insert(workgroup as u32);
        }
    }

    /// Everyone who was kept, barriers by their index in the program; gives them away.
    pub(crate) fn take_everyone(&mut self) -> Option<DispatchInvocations> {
        self.everyone.take()
    }

    /// Adds what was recorded in other workgroups.
    pub(crate) fn join(&mut self, mut other: Recorder) {
        for (bit, rank) in other.lowest.iter().enumerate().filter(|(_, rank)| **rank != Rank::MAX) {
            let bit = bit as u32;
            if self.set(bit, *rank) {
                match other.operands.remove(&bit) {
                    Some(operands) => drop(self.operands.insert(bit, operands)),
                    None => drop(self.operands.remove(&bit)),
                }
            }
        }
    }

    /// Sets a bit; whether `rank` is its new witness.
    #[inline]
    pub(crate) fn set(&mut self, bit: u32, rank: Rank) -> bool {
        match self.lowest.get_mut(bit as usize) {
            Some(lowest) if rank < *lowest => {
                *lowest = rank;
                true
            }
            _ => false,
        }
    }

    /// The bit of a decision's sum; none for a sum that cannot occur.
    #[inline]
    pub(crate) fn bit(&self, slot: u32, sum: u32) -> Option<u32> {
        (sum < self.sizes[slot as usize]).then(|| self.bases[slot as usize] + sum)
    }

    /// Keeps what was compared when a bit got its witness. A condition that the vector
    /// short-circuits away compared nothing: the registers of its operands hold what an earlier
    /// evaluation, or none, left there.
    pub(crate) fn operands(
        &mut self,
        bit: u32,
        compared: &[RecordedComparison],
        value: impl Fn(crate::ir::Reg) -> u32,
    ) {
        let evaluated = self.evaluated.get(&bit);
        let holds = |one: &&RecordedComparison| {
            evaluated
                .and_then(|all| all.get(one.condition as usize))
                .is_some_and(|evaluated| *evaluated)
        };
        let lines: Vec<String> = compared
            .iter()
            .filter(holds)
            .map(|one| {
                let [left, right] = [one.left, one.right].map(|reg| f32::from_bits(value(reg)));
                let [a, b] = &one.names;
                format!("{a} {} {b} with {a}={left:?} {b}={right:?}", one.symbol)
            })
            .collect();
        if lines.is_empty() {
            self.operands.remove(&bit);
        } else {
            self.operands.insert(bit, lines);
        }
    }

    /// The records; `invocation` gives the global invocation id of a workgroup and a local index.
    pub(crate) fn finish(self, words: usize, invocation: impl Fn(u64, u32) -> [u32; 3]) -> Records {
        let mut records = Records { words: vec![0; words], ..Records::default() };
        for (bit, rank) in self.lowest.iter().enumerate().filter(|(_, rank)| **rank != Rank::MAX) {
            records.words[bit / 32] |= 1 << (bit % 32);
            let (workgroup, local) = parts_of_rank(*rank);
            records.witnesses.insert(bit as u32, invocation(workgroup, local));
        }
        records.operands = self.operands;
        records
    }
}
