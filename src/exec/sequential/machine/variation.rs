//! Runs that differ from the ordinary one within what the specification permits.
//!
//! Knows: which operation of the specification's table (`spirv::precision`) each operation of the
//! engine is.
//! Promises: every result that a variation gives is one that the specification permits for its
//! operands; without a variation nothing here runs. The hook is one place: `Machine::varied`,
//! behind an operation's result.
//! Does not cover: findings on the operands of varied operations, which the ordinary run makes;
//! expressions that are rearranged other than by contraction within a block; operations that are no
//! arithmetic on 32-bit floats.

use super::choice::Choice;
use super::state::Machine;
use crate::ir::lane_mask::MASK_WORDS;
use crate::ir::{LaneInstruction, LocatedInstruction, Reg};
use crate::settings::variation::{Direction, Flush, Variation};
use rspirv::spirv::Op;
use vkcert_model::random::mix_bits;
use vkcert_spirv::operation::operator::Compare;
use vkcert_spirv::operation::sized::{
    NumberFormat, Operation as SizedOperation, SizedOperator, Width as SizedWidth,
};
use vkcert_spirv::precision::{
    self, BoundedOperation, FloatWidth, ImplementationFreedom, PermittedDenormals,
    PermittedRounding,
};

/// One execution of an operation, over all lanes.
struct Execution<'a> {
    variation: Variation,
    freedom: &'a ImplementationFreedom,
    operation: BoundedOperation,
    place: u32,
    /// Differs from execution to execution.
    moment: u64,
}

impl Execution<'_> {
    fn flushes(&self) -> bool {
        self.variation.flush == Flush::ToZero
            && self.freedom.denormals == PermittedDenormals::MayBeFlushed
    }

    /// Moves results to where the variation wants them. `from` are the operands that `out` was
    /// computed from.
    fn vary<const N: usize>(&self, out: &mut [u32], from: [&[u32]; N]) {
        if self.variation.direction != Direction::Ordinary {
            self.perturb(out, from);
        }
        if self.flushes() {
            out.iter_mut().for_each(|word| *word = flushed(*word));
        }
    }

    fn perturb<const N: usize>(&self, out: &mut [u32], from: [&[u32]; N]) {
        let Some(row) = precision::bounds_of(self.operation) else { return };
        let rounded = matches!(row.single, precision::ErrorBound::CorrectlyRounded);
        let nearest = self.variation.rounding == PermittedRounding::Nearest
            || self.freedom.rounding != PermittedRounding::Any;
        let width = if self.freedom.relaxed.contains(&self.place) {
            FloatWidth::Half
        } else {
            FloatWidth::Single
        };
        if rounded && nearest && width == FloatWidth::Single {
            return;
        }
        for (lane, out) in out.iter_mut().enumerate() {
            let operands: [f64; N] =
                std::array::from_fn(|at| value(self.operation, from[at][lane]));
            let Some(range) = row.permitted_range(&operands, width) else { continue };
            let end = match chosen_result(self.variation.direction, self.place, self.moment, lane) {
                Choice::Ordinary => continue,
                Choice::Low => range.low,
                Choice::High => range.high,
            };
            // A number of the format, or an infinity: the conversion is exact.
            *out = (end as f32).to_bits();
        }
    }
}

/// Which result a lane takes of the permitted ones of an execution of the instruction at `place`.
fn chosen_result(direction: Direction, place: u32, moment: u64, lane: usize) -> Choice {
    let chance = |seed: u32, moment: u64| {
        let salt = u64::from(seed) << 32 | u64::from(place);
        match mix_bits(mix_bits(salt) ^ moment) % 8 {
            0 | 1 => Choice::Ordinary,
            2..=4 => Choice::Low,
            _ => Choice::High,
        }
    };
    match direction {
        Direction::Ordinary => Choice::Ordinary,
        Direction::Up => Choice::High,
        Direction::Down => Choice::Low,
        Direction::ByInstruction { seed } => chance(seed, 0),
        Direction::ByExecution { seed } => chance(seed, mix_bits(moment) ^ lane as u64),
    }
}

/// What an operand stands for.
fn value(operation: BoundedOperation, bits: u32) -> f64 {
    match operation {
        BoundedOperation::Core(Op::ConvertSToF) => f64::from(bits as i32),
        BoundedOperation::Core(Op::ConvertUToF) => f64::from(bits),
        _ => f64::from(f32::from_bits(bits)),
    }
}

/// Whether the operands are integers, whose bits are no denormal numbers.
fn of_integers(operation: BoundedOperation) -> bool {
    matches!(operation, BoundedOperation::Core(Op::ConvertSToF | Op::ConvertUToF))
}

/// A denormal number becomes a zero of its sign.
fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

impl Machine<'_> {
    /// Which result a lane takes of an instruction's permitted ones.
    pub(super) fn choice(&self, place: u32, lane: usize) -> Choice {
        match self.settings.variation {
            Some(variation) => {
                chosen_result(variation.direction, place, self.scheduler.steps_left, lane)
            }
            None => Choice::Ordinary,
        }
    }

    /// Runs a step of a run that departs from the ordinary one, if it is one that such a run
    /// changes or follows; whether it is.
    #[cold]
    pub(super) fn varied_step(&mut self, step: &LocatedInstruction) -> bool {
        let Some(variation) = self.settings.variation else { return false };
        let how = (step.source_index, variation);
        match &step.instruction {
            LaneInstruction::Unary { op, to, a } => {
                self.varied(how, (*to, [*a]), op.row().bounded_operation(), |out, [a]| {
                    op.apply_to_lanes(out, a)
                });
            }
            LaneInstruction::Binary { op, to, a, b } => {
                self.varied(how, (*to, [*a, *b]), op.row().bounded_operation(), |out, [a, b]| {
                    op.apply_to_lanes(out, a, b)
                });
            }
            LaneInstruction::Ternary { op, to, a, b, c } => {
                self.varied(
                    how,
                    (*to, [*a, *b, *c]),
                    op.row().bounded_operation(),
                    |out, [a, b, c]| op.apply_to_lanes(out, a, b, c),
                );
            }
            LaneInstruction::Compare { op, to, a, b } => {
                self.compare(variation, *op, *to, [*a, *b])
            }
            LaneInstruction::Classify { op, to, a } => {
                let mut bits = [0; MASK_WORDS];
                op.apply_to_lanes(
                    &mut bits[..self.registers.mask_words],
                    &self.registers.words[a.0 as usize],
                );
                self.registers.write_mask(*to, &bits);
            }
            LaneInstruction::Sized { operation, to, from } => match (named(*operation), &**from) {
                (Some(name), [a]) => self.varied(how, (to.low, [a.low]), Some(name), |out, [a]| {
                    sized_words(*operation, out, [a, a, a]);
                }),
                (Some(name), [a, b]) => {
                    self.varied(how, (to.low, [a.low, b.low]), Some(name), |out, [a, b]| {
                        sized_words(*operation, out, [a, b, b]);
                    })
                }
                (Some(name), [a, b, c]) => {
                    self.varied(
                        how,
                        (to.low, [a.low, b.low, c.low]),
                        Some(name),
                        |out, operands| {
                            sized_words(*operation, out, operands);
                        },
                    );
                }
                _ => self.step(step),
            },
            LaneInstruction::Relate { .. } => self.step(step),
            _ => return false,
        }
        self.judge(step);
        self.follow_step(&step.instruction, step.source_index);
        true
    }

    /// Computes a register from others, lane by lane, and moves results to where the variation
    /// wants them.
    fn varied<const N: usize>(
        &mut self,
        (place, variation): (u32, Variation),
        (to, from): (Reg, [Reg; N]),
        operation: Option<BoundedOperation>,
        apply: impl Fn(&mut [u32], [&[u32]; N]),
    ) {
        let Some(operation) = operation else {
            return self
                .registers
                .write(to, |out, words| apply(out, from.map(|reg| &*words[reg.0 as usize])));
        };
        let program = self.program;
        let moment = self.scheduler.steps_left;
        let execution =
            Execution { variation, freedom: &program.freedom, operation, place, moment };
        self.registers.write(to, |out, words| {
            if execution.flushes() && !of_integers(operation) {
                let operands = from.map(|reg| flushed_words(&words[reg.0 as usize]));
                let operands = std::array::from_fn(|at| &*operands[at]);
                apply(out, operands);
                execution.vary(out, operands);
            } else {
                let operands = from.map(|reg| &*words[reg.0 as usize]);
                apply(out, operands);
                execution.vary(out, operands);
            }
        });
    }

    /// Compares two registers; of floats denormals count as zeros where the run flushes them.
    fn compare(&mut self, variation: Variation, op: Compare, to: Reg, from: [Reg; 2]) {
        let mut bits = [0; MASK_WORDS];
        let words = from.map(|reg| &*self.registers.words[reg.0 as usize]);
        let free = self.program.freedom.denormals == PermittedDenormals::MayBeFlushed
            && op.float_symbol().is_some();
        let flushes = free && variation.flush == Flush::ToZero;
        let [a, b] = words.map(|words| if flushes { flushed_words(words) } else { words.to_vec() });
        op.apply_to_lanes(&mut bits[..self.registers.mask_words], &a, &b);
        self.registers.write_mask(to, &bits);
    }
}

/// The operation of the specification's table that one on floats of 32 bits is, where it is rounded
/// in a way of its own.
fn named(operation: SizedOperation) -> Option<BoundedOperation> {
    let single = NumberFormat::Float(SizedWidth::W32);
    if operation.from != single || operation.to != single {
        return None;
    }
    match operation.op {
        SizedOperator::Unary(op) => op.row().bounded_operation(),
        SizedOperator::Binary(op) => op.row().bounded_operation(),
        SizedOperator::Ternary(op) => op.row().bounded_operation(),
        SizedOperator::FromUnsigned
        | SizedOperator::FromSigned
        | SizedOperator::ToUnsigned
        | SizedOperator::ToSigned
        | SizedOperator::Round
        | SizedOperator::Flush => None,
    }
}

/// An operation on words, lane by lane.
fn sized_words(operation: SizedOperation, out: &mut [u32], [a, b, c]: [&[u32]; 3]) {
    for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        let value = operation.result_bits(u64::from(*a), u64::from(*b), u64::from(*c));
        *out = value.expect("decoding has asked whether it exists") as u32;
    }
}

fn flushed_words(words: &[u32]) -> Vec<u32> {
    words.iter().map(|word| flushed(*word)).collect()
}
