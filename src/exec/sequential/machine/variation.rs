//! Runs that differ from the ordinary one within what the specification permits.
//!
//! Knows: which operation of the specification's table (`spirv::precision`) each operation of the
//! engine is.
//! Promises: every result that a variation gives is one that the specification permits for its
//! operands; without a variation nothing here runs. The hook is one place:
//! `Machine::run_varied_step`, behind an operation's result.
//! Does not cover: findings on the operands of varied operations, which the ordinary run makes;
//! expressions that are rearranged other than by contraction within a block; operations that are no
//! arithmetic on 32-bit floats.

use super::choice::PermittedChoice;
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
struct VariedExecution<'a> {
    variation: Variation,
    freedom: &'a ImplementationFreedom,
    operation: BoundedOperation,
    source_index: u32,
    /// Differs from execution to execution.
    execution_moment: u64,
}

impl VariedExecution<'_> {
    fn flushes(&self) -> bool {
        self.variation.flush == Flush::ToZero
            && self.freedom.denormals == PermittedDenormals::MayBeFlushed
    }

    /// Moves results to where the variation wants them. `from` are the operands that `out` was
    /// computed from.
    fn vary_results<const N: usize>(&self, lane_values: &mut [u32], operand_words: [&[u32]; N]) {
        if self.variation.direction != Direction::Ordinary {
            self.move_results(lane_values, operand_words);
        }
        if self.flushes() {
            lane_values.iter_mut().for_each(|word| *word = flush_denormal(*word));
        }
    }

    fn move_results<const N: usize>(&self, lane_values: &mut [u32], operand_words: [&[u32]; N]) {
        let Some(error_bounds) = precision::bounds_of(self.operation) else { return };
        let is_correctly_rounded =
            matches!(error_bounds.single, precision::ErrorBound::CorrectlyRounded);
        let rounds_to_nearest = self.variation.rounding == PermittedRounding::Nearest
            || self.freedom.rounding != PermittedRounding::Any;
        let float_width = if self.freedom.relaxed.contains(&self.source_index) {
            FloatWidth::Half
        } else {
            FloatWidth::Single
        };
        if is_correctly_rounded && rounds_to_nearest && float_width == FloatWidth::Single {
            return;
        }
        for (lane, lane_value) in lane_values.iter_mut().enumerate() {
            let operands: [f64; N] = std::array::from_fn(|operand_index| {
                operand_value(self.operation, operand_words[operand_index][lane])
            });
            let Some(permitted_range) = error_bounds.permitted_range(&operands, float_width) else {
                continue;
            };
            let range_end = match chosen_result(
                self.variation.direction,
                self.source_index,
                self.execution_moment,
                lane,
            ) {
                PermittedChoice::Computed => continue,
                PermittedChoice::Low => permitted_range.low,
                PermittedChoice::High => permitted_range.high,
            };
            // A number of the format, or an infinity: the conversion is exact.
            *lane_value = (range_end as f32).to_bits();
        }
    }
}

/// Which result a lane takes of the permitted ones of an execution of the instruction at
/// `source_index`.
fn chosen_result(
    direction: Direction,
    source_index: u32,
    execution_moment: u64,
    lane: usize,
) -> PermittedChoice {
    match direction {
        Direction::Ordinary => PermittedChoice::Computed,
        Direction::Up => PermittedChoice::High,
        Direction::Down => PermittedChoice::Low,
        Direction::ByInstruction { seed } => choice_by_chance(seed, source_index, 0),
        Direction::ByExecution { seed } => {
            choice_by_chance(seed, source_index, mix_bits(execution_moment) ^ lane as u64)
        }
    }
}

fn choice_by_chance(seed: u32, source_index: u32, execution_salt: u64) -> PermittedChoice {
    let instruction_salt = u64::from(seed) << 32 | u64::from(source_index);
    match mix_bits(mix_bits(instruction_salt) ^ execution_salt) % 8 {
        0 | 1 => PermittedChoice::Computed,
        2..=4 => PermittedChoice::Low,
        _ => PermittedChoice::High,
    }
}

/// What an operand stands for.
fn operand_value(operation: BoundedOperation, operand_bits: u32) -> f64 {
    match operation {
        BoundedOperation::Core(Op::ConvertSToF) => f64::from(operand_bits as i32),
        BoundedOperation::Core(Op::ConvertUToF) => f64::from(operand_bits),
        _ => f64::from(f32::from_bits(operand_bits)),
    }
}

/// Whether the operands are integers, whose bits are no denormal numbers.
fn has_integer_operands(operation: BoundedOperation) -> bool {
    matches!(operation, BoundedOperation::Core(Op::ConvertSToF | Op::ConvertUToF))
}

/// A denormal number becomes a zero of its sign.
fn flush_denormal(float_bits: u32) -> u32 {
    if float_bits & 0x7f80_0000 == 0 { float_bits & 0x8000_0000 } else { float_bits }
}

impl Machine<'_> {
    /// Which result a lane takes of an instruction's permitted ones.
    pub(super) fn permitted_choice(&self, source_index: u32, lane: usize) -> PermittedChoice {
        match self.settings.variation {
            Some(variation) => {
                chosen_result(variation.direction, source_index, self.scheduler.steps_left, lane)
            }
            None => PermittedChoice::Computed,
        }
    }

    /// Runs a step of a run that departs from the ordinary one, if it is one that such a run
    /// changes or follows; whether it is.
    #[cold]
    pub(super) fn run_varied_step(&mut self, step: &LocatedInstruction) -> bool {
        let Some(variation) = self.settings.variation else { return false };
        let source_variation = (step.source_index, variation);
        match &step.instruction {
            LaneInstruction::Unary { op, to, a } => {
                self.run_varied(
                    source_variation,
                    (*to, [*a]),
                    op.row().bounded_operation(),
                    |lane_values, [a]| op.apply_to_lanes(lane_values, a),
                );
            }
            LaneInstruction::Binary { op, to, a, b } => {
                self.run_varied(
                    source_variation,
                    (*to, [*a, *b]),
                    op.row().bounded_operation(),
                    |lane_values, [a, b]| op.apply_to_lanes(lane_values, a, b),
                );
            }
            LaneInstruction::Ternary { op, to, a, b, c } => {
                self.run_varied(
                    source_variation,
                    (*to, [*a, *b, *c]),
                    op.row().bounded_operation(),
                    |lane_values, [a, b, c]| op.apply_to_lanes(lane_values, a, b, c),
                );
            }
            LaneInstruction::Compare { op, to, a, b } => {
                self.compare_varied(variation, *op, *to, [*a, *b])
            }
            LaneInstruction::Classify { op, to, a } => {
                let mut lane_bits = [0; MASK_WORDS];
                op.apply_to_lanes(
                    &mut lane_bits[..self.registers.mask_words],
                    &self.registers.words[a.0 as usize],
                );
                self.registers.write_mask(*to, &lane_bits);
            }
            LaneInstruction::Sized { operation, to, from } => {
                match (bounded_by_table(*operation), &**from) {
                    (Some(bounded_operation), [a]) => self.run_varied(
                        source_variation,
                        (to.low, [a.low]),
                        Some(bounded_operation),
                        |lane_values, [a]| {
                            sized_words(*operation, lane_values, [a, a, a]);
                        },
                    ),
                    (Some(bounded_operation), [a, b]) => self.run_varied(
                        source_variation,
                        (to.low, [a.low, b.low]),
                        Some(bounded_operation),
                        |lane_values, [a, b]| {
                            sized_words(*operation, lane_values, [a, b, b]);
                        },
                    ),
                    (Some(bounded_operation), [a, b, c]) => {
                        self.run_varied(
                            source_variation,
                            (to.low, [a.low, b.low, c.low]),
                            Some(bounded_operation),
                            |lane_values, operands| {
                                sized_words(*operation, lane_values, operands);
                            },
                        );
                    }
                    _ => self.run_step(step),
                }
            }
            LaneInstruction::Relate { .. } => self.run_step(step),
            _ => return false,
        }
        self.report_undefined_words(step);
        self.trace_step(&step.instruction, step.source_index);
        true
    }

    /// Computes a register from others, lane by lane, and moves results to where the variation
    /// wants them.
    fn run_varied<const N: usize>(
        &mut self,
        (place, variation): (u32, Variation),
        (result_register, operand_registers): (Reg, [Reg; N]),
        bounded_operation: Option<BoundedOperation>,
        apply_operation: impl Fn(&mut [u32], [&[u32]; N]),
    ) {
        let Some(bounded_operation) = bounded_operation else {
            return self.registers.write_register(result_register, |lane_values, words| {
                apply_operation(lane_values, operand_registers.map(|reg| &*words[reg.0 as usize]))
            });
        };
        let program = self.program;
        let execution_moment = self.scheduler.steps_left;
        let execution = VariedExecution {
            variation,
            freedom: &program.freedom,
            operation: bounded_operation,
            source_index: place,
            execution_moment,
        };
        self.registers.write_register(result_register, |lane_values, words| {
            if execution.flushes() && !has_integer_operands(bounded_operation) {
                let operands = operand_registers.map(|reg| flushed_words(&words[reg.0 as usize]));
                let operands = std::array::from_fn(|operand_index| &*operands[operand_index]);
                apply_operation(lane_values, operands);
                execution.vary_results(lane_values, operands);
            } else {
                let operands = operand_registers.map(|reg| &*words[reg.0 as usize]);
                apply_operation(lane_values, operands);
                execution.vary_results(lane_values, operands);
            }
        });
    }

    /// Compares two registers; of floats denormals count as zeros where the run flushes them.
    fn compare_varied(
        &mut self,
        variation: Variation,
        op: Compare,
        result_register: Reg,
        operand_registers: [Reg; 2],
    ) {
        let mut lane_bits = [0; MASK_WORDS];
        let operand_words = operand_registers.map(|reg| &*self.registers.words[reg.0 as usize]);
        let may_be_flushed = self.program.freedom.denormals == PermittedDenormals::MayBeFlushed
            && op.float_symbol().is_some();
        let flushes = may_be_flushed && variation.flush == Flush::ToZero;
        let [a, b] = operand_words.map(|register_words| {
            if flushes { flushed_words(register_words) } else { register_words.to_vec() }
        });
        op.apply_to_lanes(&mut lane_bits[..self.registers.mask_words], &a, &b);
        self.registers.write_mask(result_register, &lane_bits);
    }
}

/// The operation of the specification's table that one on floats of 32 bits is, where it is rounded
/// in a way of its own.
fn bounded_by_table(operation: SizedOperation) -> Option<BoundedOperation> {
    let single_float = NumberFormat::Float(SizedWidth::W32);
    if operation.from != single_float || operation.to != single_float {
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
fn sized_words(operation: SizedOperation, lane_values: &mut [u32], [a, b, c]: [&[u32]; 3]) {
    for (((lane_value, a), b), c) in lane_values.iter_mut().zip(a).zip(b).zip(c) {
        let result_bits = operation.result_bits(u64::from(*a), u64::from(*b), u64::from(*c));
        *lane_value = result_bits.expect("decoding has asked whether it exists") as u32;
    }
}

fn flushed_words(register_words: &[u32]) -> Vec<u32> {
    register_words.iter().map(|word| flush_denormal(*word)).collect()
}
