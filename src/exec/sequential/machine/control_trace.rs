//! Which way an invocation came to the values that it stores, in runs that depart from the ordinary
//! one.
//!
//! Knows: everything that jumps while its operands move little: results of comparisons, of
//! operations on integers, of rounding to whole numbers; which texels are sampled; what other
//! invocations stored with theirs, and what they gave within a subgroup.
//! Promises: two runs in which a word has the same path came to
//! it by the same decisions, so that what lies between their values is what small errors lead to.
//! Without a variation nothing here runs.
//! Does not cover: jumps inside one operation (`mod`), which the specification's own bound spans;
//! paths are 64-bit hashes.

use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{AccessRoot, LaneInstruction, Reg, Scalar};
use crate::memory::store::Store;
use std::ops::Range;
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::ResultJump;
use vkcert_spirv::operation::sized::NumberFormat;

impl Machine<'_> {
    /// The path of a lane; none in an ordinary run.
    #[inline]
    pub(super) fn path(&self, lane: usize) -> Option<u64> {
        self.monitor.paths.get(self.registers.first_lane as usize + lane).copied()
    }

    /// Adds a decision to the path of a lane.
    pub(super) fn follow(&mut self, lane: usize, decided: u64) {
        if let Some(path) = self.monitor.paths.get_mut(self.registers.first_lane as usize + lane) {
            *path = mix_bits(*path ^ decided);
        }
    }

    /// What a step decided, once it has run.
    pub(super) fn follow_step(&mut self, action: &LaneInstruction, place: u32) {
        match action {
            LaneInstruction::Compare { op: _, to, a: _, b: _ }
            | LaneInstruction::Classify { op: _, to, a: _ } => {
                self.follow_mask(*to, place);
            }
            LaneInstruction::Unary { op, to, a } => match op.row().jump {
                ResultJump::Smooth => {}
                ResultJump::Result => self.follow_word(*to, place, |word| word),
                ResultJump::Floor => {
                    self.follow_word(*a, place, |word| f32::from_bits(word).floor().to_bits())
                }
            },
            LaneInstruction::Binary { op, to, a: _, b: _ }
                if op.row().jump != ResultJump::Smooth =>
            {
                self.follow_word(*to, place, |word| word)
            }
            LaneInstruction::Ternary { op, to, a: _, b: _, c: _ }
                if op.row().jump != ResultJump::Smooth =>
            {
                self.follow_word(*to, place, |word| word)
            }
            LaneInstruction::Relate { relation: _, form: _, to, from: _ } => {
                self.follow_mask(*to, place)
            }
            // Between floats nothing jumps.
            LaneInstruction::Sized { operation, to, from: _ }
                if matches!(operation.to, NumberFormat::Integer(_)) =>
            {
                to.registers().for_each(|reg| self.follow_word(reg, place, |word| word));
            }
            LaneInstruction::Product(factors) => {
                self.follow_subgroup();
                if matches!(factors.product.result, NumberFormat::Integer(_)) {
                    let registers = factors.to.iter().flat_map(|parts| parts.registers());
                    registers.for_each(|reg| self.follow_word(reg, place, |word| word));
                }
            }
            LaneInstruction::Dot { dot: _, to, from: _ } => {
                to.registers().for_each(|reg| self.follow_word(reg, place, |word| word));
            }
            LaneInstruction::Group { op, to, from: _, index: _ } => {
                self.follow_subgroup();
                if op.result_jumps() {
                    to.iter().for_each(|scalar| self.follow_scalar(*scalar, place));
                }
            }
            LaneInstruction::Exchange { way: _, to: _, from: _, index: _ } => {
                self.follow_subgroup()
            }
            _ => {}
        }
    }

    fn follow_scalar(&mut self, scalar: Scalar, place: u32) {
        match scalar {
            Scalar::Word(reg) => self.follow_word(reg, place, |word| word),
            Scalar::Mask(reg) => self.follow_mask(reg, place),
        }
    }

    /// What comes from other invocations of the subgroup comes with the paths of all that are
    /// active.
    fn follow_subgroup(&mut self) {
        if self.monitor.paths.is_empty() {
            return;
        }
        for (first, members) in self.subgroups() {
            let lanes = || members.ids().map(|id| (first + id) as usize);
            let all = lanes()
                .filter_map(|lane| self.path(lane))
                .fold(0, |all, path| mix_bits(all ^ path));
            lanes().for_each(|lane| self.follow(lane, all));
        }
    }

    fn follow_mask(&mut self, reg: Reg, place: u32) {
        let bits: [u64; MASK_WORDS] = self.registers.bits(reg);
        for lane in self.registers.active.lanes() {
            self.follow(lane, u64::from(place) << 1 | bits[lane / 64] >> (lane % 64) & 1);
        }
    }

    fn follow_word(&mut self, reg: Reg, place: u32, part: impl Fn(u32) -> u32) {
        for lane in self.registers.active.lanes() {
            let value = part(self.registers.words[reg.0 as usize][lane]);
            self.follow(lane, u64::from(place) << 32 | u64::from(value));
        }
    }

    /// The same of one word of a store.
    pub(super) fn follow_part(&mut self, root: AccessRoot, lane: usize, word: usize) {
        let path = self
            .memory
            .store_of(root)
            .control_traces
            .as_ref()
            .and_then(|paths| paths.get(word))
            .copied()
            .unwrap_or_default();
        if path != 0 {
            self.follow(lane, path);
        }
    }

    /// What was read comes with the path of who stored it.
    pub(super) fn follow_read(
        &mut self,
        root: AccessRoot,
        lanes: &LaneMask,
        (first, limit): (usize, u32),
        component: u32,
    ) {
        for lane in lanes.lanes() {
            let word = self.memory.addresses[lane].wrapping_add(component);
            let paths = match root {
                AccessRoot::Descriptor(_) | AccessRoot::Workgroup | AccessRoot::Buffer(_) => {
                    self.memory.store_of(root).control_traces.as_ref()
                }
                AccessRoot::Invocation
                | AccessRoot::PushConstant
                | AccessRoot::Descriptors { .. }
                | AccessRoot::Address(_)
                | AccessRoot::Pointer { .. } => None,
            };
            let path =
                paths.filter(|_| word < limit).map_or(0, |paths| paths[first + word as usize]);
            if path != 0 {
                self.follow(lane, path);
            }
        }
    }
}

/// How much of its words an access stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    Whole,
    /// The rest of the word, or its old value, may be of others.
    Part,
}

/// What is stored comes with the trace of who stored it; a trace only in a run that has them.
#[inline]
pub(super) fn trace_stored(
    store: &mut Store,
    trace: Option<u64>,
    words: Range<usize>,
    stored: Stored,
) {
    if let (Some(traces), Some(trace)) = (&mut store.control_traces, trace) {
        for word in &mut traces[words] {
            *word = match stored {
                Stored::Whole => trace,
                Stored::Part => mix_bits(*word ^ trace),
            };
        }
    }
}
