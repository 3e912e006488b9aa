//! Control-flow traces: a hash of the decisions on the way to each value that an invocation stores,
//! in varied runs.
//!
//! Knows: every discontinuous operation, whose result jumps while its operands move little: results of comparisons, of
//! operations on integers, of rounding to whole numbers; which texels are sampled; what other
//! invocations stored with theirs, and what they gave within a subgroup.
//! Promises: two runs in which a word has the same trace came to it by the same decisions, so that
//! values between theirs are within what small errors lead to.
//! Without a variation nothing here runs.
//! Does not cover: jumps inside one operation (`mod`), which the specification's own bound spans;
//! traces are 64-bit hashes, which may collide.

use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{AccessRoot, LaneInstruction, Reg, Scalar};
use crate::memory::store::Store;
use std::ops::Range;
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::ResultJump;
use vkcert_spirv::operation::sized::NumberFormat;

impl Machine<'_> {
    /// The control-flow trace of a lane; none in an ordinary run.
    #[inline]
    pub(super) fn lane_trace(&self, lane: usize) -> Option<u64> {
        self.monitor.lane_traces.get(self.registers.first_lane as usize + lane).copied()
    }

    /// Adds a decision to the trace of a lane.
    pub(super) fn extend_trace(&mut self, lane: usize, decision_hash: u64) {
        if let Some(lane_trace) =
            self.monitor.lane_traces.get_mut(self.registers.first_lane as usize + lane)
        {
            *lane_trace = mix_bits(*lane_trace ^ decision_hash);
        }
    }

    /// Adds what an instruction decided to the traces of the active lanes, once it has run.
    pub(super) fn trace_step(&mut self, action: &LaneInstruction, source_index: u32) {
        match action {
            LaneInstruction::Compare { op: _, to, a: _, b: _ }
            | LaneInstruction::Classify { op: _, to, a: _ } => {
                self.trace_mask(*to, source_index);
            }
            LaneInstruction::Unary { op, to, a } => match op.row().jump {
                ResultJump::Smooth => {}
                ResultJump::Result => self.trace_word(*to, source_index, |word| word),
                ResultJump::Floor => {
                    self.trace_word(*a, source_index, |word| f32::from_bits(word).floor().to_bits())
                }
            },
            LaneInstruction::Binary { op, to, a: _, b: _ }
                if op.row().jump != ResultJump::Smooth =>
            {
                self.trace_word(*to, source_index, |word| word)
            }
            LaneInstruction::Ternary { op, to, a: _, b: _, c: _ }
                if op.row().jump != ResultJump::Smooth =>
            {
                self.trace_word(*to, source_index, |word| word)
            }
            LaneInstruction::Relate { relation: _, form: _, to, from: _ } => {
                self.trace_mask(*to, source_index)
            }
            // Between floats nothing jumps.
            LaneInstruction::Sized { operation, to, from: _ }
                if matches!(operation.to, NumberFormat::Integer(_)) =>
            {
                to.words().for_each(|reg| self.trace_word(reg, source_index, |word| word));
            }
            LaneInstruction::Product(factors) => {
                self.trace_subgroup();
                if matches!(factors.product.result, NumberFormat::Integer(_)) {
                    let registers = factors.to.iter().flat_map(|parts| parts.words());
                    registers.for_each(|reg| self.trace_word(reg, source_index, |word| word));
                }
            }
            LaneInstruction::Dot { dot: _, to, from: _ } => {
                to.words().for_each(|reg| self.trace_word(reg, source_index, |word| word));
            }
            LaneInstruction::Group { op, to, from: _, index: _ } => {
                self.trace_subgroup();
                if op.result_jumps() {
                    to.iter().for_each(|scalar| self.trace_scalar(*scalar, source_index));
                }
            }
            LaneInstruction::Exchange { way: _, to: _, from: _, index: _ } => self.trace_subgroup(),
            _ => {}
        }
    }

    fn trace_scalar(&mut self, scalar: Scalar, source_index: u32) {
        match scalar {
            Scalar::Word(reg) => self.trace_word(reg, source_index, |word| word),
            Scalar::Mask(reg) => self.trace_mask(reg, source_index),
        }
    }

    /// Joins the traces of the active lanes of each subgroup, because each of them may take a value
    /// of every other one.
    fn trace_subgroup(&mut self) {
        if self.monitor.lane_traces.is_empty() {
            return;
        }
        for (first_lane, members) in self.subgroups_of_tile() {
            let active_lanes = || members.active_ids().map(|id| (first_lane + id) as usize);
            let joined_trace = active_lanes()
                .filter_map(|lane| self.lane_trace(lane))
                .fold(0, |joined_trace, lane_trace| mix_bits(joined_trace ^ lane_trace));
            active_lanes().for_each(|lane| self.extend_trace(lane, joined_trace));
        }
    }

    fn trace_mask(&mut self, register: Reg, source_index: u32) {
        let lane_bits: [u64; MASK_WORDS] = self.registers.mask_bits(register);
        for lane in self.registers.active_lanes.lanes() {
            self.extend_trace(
                lane,
                u64::from(source_index) << 1 | lane_bits[lane / 64] >> (lane % 64) & 1,
            );
        }
    }

    fn trace_word(&mut self, register: Reg, source_index: u32, deciding_part: impl Fn(u32) -> u32) {
        for lane in self.registers.active_lanes.lanes() {
            let value = deciding_part(self.registers.words[register.0 as usize][lane]);
            self.extend_trace(lane, u64::from(source_index) << 32 | u64::from(value));
        }
    }

    /// Adds the trace that one word of a store came with to that of the lane that reads it.
    pub(super) fn trace_stored_word(
        &mut self,
        access_root: AccessRoot,
        lane: usize,
        word_index: usize,
    ) {
        let stored_trace = self
            .memory
            .store_of(access_root)
            .control_traces
            .as_ref()
            .and_then(|word_traces| word_traces.get(word_index))
            .copied()
            .unwrap_or_default();
        if stored_trace != 0 {
            self.extend_trace(lane, stored_trace);
        }
    }

    /// Adds the traces of the words that were read to those of the lanes that read them.
    pub(super) fn trace_reads(
        &mut self,
        access_root: AccessRoot,
        lanes: &LaneMask,
        (first_word, root_limit): (usize, u32),
        component: u32,
    ) {
        for lane in lanes.lanes() {
            let word_index = self.memory.addresses[lane].wrapping_add(component);
            let stored_traces = match access_root {
                AccessRoot::Descriptor(_) | AccessRoot::Workgroup | AccessRoot::Buffer(_) => {
                    self.memory.store_of(access_root).control_traces.as_ref()
                }
                AccessRoot::Invocation
                | AccessRoot::PushConstant
                | AccessRoot::Descriptors { .. }
                | AccessRoot::Address(_)
                | AccessRoot::Pointer { .. } => None,
            };
            let stored_trace = stored_traces
                .filter(|_| word_index < root_limit)
                .map_or(0, |stored_traces| stored_traces[first_word + word_index as usize]);
            if stored_trace != 0 {
                self.extend_trace(lane, stored_trace);
            }
        }
    }
}

/// How much of its words an access stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StoredExtent {
    Whole,
    /// The rest of the word, or its old value, may be of others.
    Part,
}

/// Keeps the trace of the invocation that stores with the stored words, in a run that has traces.
#[inline]
pub(super) fn trace_stored(
    store: &mut Store,
    lane_trace: Option<u64>,
    word_range: Range<usize>,
    stored_extent: StoredExtent,
) {
    if let (Some(word_traces), Some(lane_trace)) = (&mut store.control_traces, lane_trace) {
        for word in &mut word_traces[word_range] {
            *word = match stored_extent {
                StoredExtent::Whole => lane_trace,
                StoredExtent::Part => mix_bits(*word ^ lane_trace),
            };
        }
    }
}
