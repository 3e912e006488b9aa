//! Coverage recording of one dispatch: bits with their lowest witness.
//!
//! Promises: the witness of a bit is the lowest invocation, by linear workgroup index and then
//! local index, that set it, whatever the tile width and order.

use crate::ir::LOCAL_BITS;
use crate::ir::RecordedComparison;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_model::invocations::{DispatchInvocations, Ranks};
use vkcert_model::records::{MarkerTable, Records};
use vkcert_model::vector::ConditionValue;

/// An invocation's rank: linear workgroup index, then local index.
pub(crate) type Rank = u64;

pub(crate) fn invocation_rank(workgroup_index: u64, local_index: u32) -> Rank {
    workgroup_index << LOCAL_BITS | u64::from(local_index)
}

/// Linear workgroup index and local index.
pub(crate) fn parts_of_rank(rank: Rank) -> (u64, u32) {
    (rank >> LOCAL_BITS, (rank & ((1 << LOCAL_BITS) - 1)) as u32)
}

/// The bits of a kernel's decisions.
#[derive(Debug, Default)]
struct RecorderLayout {
    /// First bit of each decision.
    first_bits: Vec<u32>,
    decision_sizes: Vec<u32>,
    /// By bit of a decision's vector: which conditions that vector evaluates.
    conditions_by_bit: BTreeMap<u32, Vec<bool>>,
}

/// Bits of one kernel in one dispatch.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    layout: Arc<RecorderLayout>,
    /// Lowest rank by bit; `Rank::MAX` where the bit is not set.
    lowest_ranks: Vec<Rank>,
    operands: BTreeMap<u32, Vec<String>>,
    /// Every invocation that set some bits, where that is asked for.
    everyone: Option<DispatchInvocations>,
}

/// The conditions that each vector of the layout evaluates, by the vector's bit.
fn evaluated_conditions(table: &MarkerTable) -> BTreeMap<u32, Vec<bool>> {
    let vector_rows = table
        .layout
        .decisions
        .iter()
        .flat_map(|slot| slot.vectors.iter().map(move |row| (slot.base, row)));
    vector_rows
        .map(|(base, row)| {
            let condition_values = row.vector.values.0.iter();
            (
                base + row.sum,
                condition_values.map(|value| *value != ConditionValue::NotEvaluated).collect(),
            )
        })
        .collect()
}

impl Recorder {
    pub(crate) fn new(table: Option<&MarkerTable>) -> Self {
        let Some(table) = table else { return Self::default() };
        Self {
            layout: Arc::new(RecorderLayout {
                first_bits: table.layout.decisions.iter().map(|slot| slot.base).collect(),
                decision_sizes: table.layout.decisions.iter().map(|slot| slot.size).collect(),
                conditions_by_bit: evaluated_conditions(table),
            }),
            lowest_ranks: vec![Rank::MAX; table.layout.bits as usize],
            operands: BTreeMap::new(),
            everyone: None,
        }
    }

    /// A recorder of the same layout with nothing recorded, for a worker.
    pub(crate) fn empty_copy(&self) -> Self {
        Self {
            layout: Arc::clone(&self.layout),
            lowest_ranks: vec![Rank::MAX; self.lowest_ranks.len()],
            operands: BTreeMap::new(),
            everyone: None,
        }
    }

    /// Keeps every invocation that sets some bits. Not for workgroups on several cores.
    pub(crate) fn keep_everyone(&mut self, bits: &BTreeSet<u32>, local_size: [u32; 3]) {
        let by_bit = bits.iter().map(|bit| (*bit, Ranks::default())).collect();
        self.everyone =
            Some(DispatchInvocations { local_size, by_bit, ..DispatchInvocations::default() });
    }

    #[inline]
    pub(crate) fn keeps_everyone(&self) -> bool {
        self.everyone.is_some()
    }

    /// Notes that an invocation sets a bit, whether or not another one has set it before.
    pub(crate) fn keep_invocation(&mut self, bit: u32, rank: Rank) {
        let Some(everyone) = &mut self.everyone else { return };
        let (workgroup, local) = parts_of_rank(rank);
        let workgroup_size: u64 = everyone.local_size.iter().map(|axis| u64::from(*axis)).product();
        if let Some(ranks) = everyone.by_bit.get_mut(&bit) {
            // Dispatches whose ranks do not fit are refused before they start.
            ranks.insert((workgroup * workgroup_size) as u32 + local);
        }
    }

    /// All invocations of a workgroup execute a barrier of the program together.
    pub(crate) fn keep_barrier(&mut self, barrier: u32, workgroup_index: u64) {
        if let Some(everyone) = &mut self.everyone {
            everyone.barriers.entry(barrier).or_default().insert(workgroup_index as u32);
        }
    }

    /// Takes the invocations that were kept, barriers by their index in the program.
    pub(crate) fn take_everyone(&mut self) -> Option<DispatchInvocations> {
        self.everyone.take()
    }

    /// Adds what was recorded in other workgroups.
    pub(crate) fn join_workgroups(&mut self, mut other_recorder: Recorder) {
        for (record_bit, rank) in
            other_recorder.lowest_ranks.iter().enumerate().filter(|(_, rank)| **rank != Rank::MAX)
        {
            let record_bit = record_bit as u32;
            if self.lower_witness(record_bit, *rank) {
                match other_recorder.operands.remove(&record_bit) {
                    Some(operands) => drop(self.operands.insert(record_bit, operands)),
                    None => drop(self.operands.remove(&record_bit)),
                }
            }
        }
    }

    /// Sets a bit; whether `rank` is lower than every earlier witness and so becomes the witness.
    #[inline]
    pub(crate) fn lower_witness(&mut self, record_bit: u32, rank: Rank) -> bool {
        match self.lowest_ranks.get_mut(record_bit as usize) {
            Some(lowest_rank) if rank < *lowest_rank => {
                *lowest_rank = rank;
                true
            }
            _ => false,
        }
    }

    /// The bit of a decision's sum; none for a sum that cannot occur.
    #[inline]
    pub(crate) fn record_bit(&self, decision_slot: u32, vector_sum: u32) -> Option<u32> {
        let decision_slot = decision_slot as usize;
        (vector_sum < self.layout.decision_sizes[decision_slot])
            .then(|| self.layout.first_bits[decision_slot] + vector_sum)
    }

    /// Keeps what was compared when a bit got its witness. A condition that the vector
    /// short-circuits away compared nothing: the registers of its operands hold what an earlier
    /// evaluation, or none, left there.
    pub(crate) fn operands(
        &mut self,
        bit: u32,
        compared_operands: &[RecordedComparison],
        value: impl Fn(crate::ir::Reg) -> u32,
    ) {
        let evaluated_conditions = self.layout.conditions_by_bit.get(&bit);
        let is_evaluated = |comparison: &&RecordedComparison| {
            evaluated_conditions
                .and_then(|by_condition| by_condition.get(comparison.condition as usize))
                .is_some_and(|was_evaluated| *was_evaluated)
        };
        let operand_lines: Vec<String> = compared_operands
            .iter()
            .filter(is_evaluated)
            .map(|comparison| {
                let [left, right] =
                    [comparison.left, comparison.right].map(|reg| f32::from_bits(value(reg)));
                let [a, b] = &comparison.names;
                format!("{a} {} {b} with {a}={left:?} {b}={right:?}", comparison.symbol)
            })
            .collect();
        if operand_lines.is_empty() {
            self.operands.remove(&bit);
        } else {
            self.operands.insert(bit, operand_lines);
        }
    }

    /// The records; `global_id` gives the global invocation id of a workgroup and a local index.
    pub(crate) fn into_records(
        self,
        record_words: usize,
        global_id: impl Fn(u64, u32) -> [u32; 3],
    ) -> Records {
        let mut records = Records { words: vec![0; record_words], ..Records::default() };
        for (bit, rank) in
            self.lowest_ranks.iter().enumerate().filter(|(_, rank)| **rank != Rank::MAX)
        {
            records.words[bit / 32] |= 1 << (bit % 32);
            let (workgroup, local_index) = parts_of_rank(*rank);
            records.witnesses.insert(bit as u32, global_id(workgroup, local_index));
        }
        records.operands = self.operands;
        records
    }
}
