//! The registers of an instruction, visited in one place: reads before writes.
//!
//! Promises: every register that an instruction names is visited, with how it is used.

use super::instruction::{LaneInstruction, PrintedLine, PrintedValue, RecordedComparison};
use super::register::{NumberRegisters, RegisterUse, Scalar, visit_mask, visit_word};
use std::sync::Arc;

impl LaneInstruction {
    /// Calls `visit` for every register field, reads before writes.
    pub fn visit_registers(&mut self, visit: &mut dyn FnMut(&mut Scalar, RegisterUse)) {
        use RegisterUse::{Forward, Operand, Update, Write};
        match self {
            LaneInstruction::Copy { to, from } => {
                visit_word(visit, from, Forward);
                visit_word(visit, to, Write);
            }
            LaneInstruction::CopyMask { to, from } => {
                visit_mask(visit, from, Forward);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Unary { to, a, op: _ } => {
                visit_word(visit, a, Operand);
                visit_word(visit, to, Write);
            }
            LaneInstruction::Binary { to, a, b, op: _ } => {
                visit_word(visit, a, Operand);
                visit_word(visit, b, Operand);
                visit_word(visit, to, Write);
            }
            LaneInstruction::Ternary { to, a, b, c, op: _ } => {
                [a, b, c].into_iter().for_each(|reg| visit_word(visit, reg, Operand));
                visit_word(visit, to, Write);
            }
            LaneInstruction::Compare { op: _, to, a, b } => {
                visit_word(visit, a, Operand);
                visit_word(visit, b, Operand);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Classify { op: _, to, a } | LaneInstruction::ToMask { to, a } => {
                visit_word(visit, a, Operand);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Sized { operation: _, to, from }
            | LaneInstruction::Dot { dot: _, to, from } => {
                *from = visit_numbers(from, visit);
                to.visit_registers(visit, Write);
            }
            LaneInstruction::Relate { relation: _, form: _, to, from } => {
                *from = visit_numbers(from, visit);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Logic { table: _, to, a, b } => {
                visit_mask(visit, a, Operand);
                visit_mask(visit, b, Operand);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Not { to, a } => {
                visit_mask(visit, a, Operand);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Select { to, condition, a, b } => {
                visit_mask(visit, condition, Operand);
                visit_word(visit, a, Forward);
                visit_word(visit, b, Forward);
                visit_word(visit, to, Write);
            }
            LaneInstruction::SelectMask { to, condition, a, b } => {
                visit_mask(visit, condition, Operand);
                visit_mask(visit, a, Forward);
                visit_mask(visit, b, Forward);
                visit_mask(visit, to, Write);
            }
            LaneInstruction::Product(factors) => {
                let factors = Arc::make_mut(factors);
                let factor_registers =
                    factors.a.iter_mut().chain(&mut factors.b).chain(&mut factors.c);
                factor_registers.for_each(|parts| parts.visit_registers(visit, Operand));
                factors.to.iter_mut().for_each(|parts| parts.visit_registers(visit, Write));
            }
            LaneInstruction::Converged => {}
            LaneInstruction::UndefinedWhere { to, value, condition, why: _ } => {
                visit_mask(visit, condition, Operand);
                visit_word(visit, value, Forward);
                visit_word(visit, to, Write);
            }
            LaneInstruction::Assume { condition, otherwise: _ } => {
                visit_mask(visit, condition, Operand)
            }
            LaneInstruction::ToWord { to, a } => {
                visit_mask(visit, a, Operand);
                visit_word(visit, to, Write);
            }
            LaneInstruction::ExtractDynamic { to, from, index } => {
                visit_word(visit, index, Operand);
                let mut registers = from.to_vec();
                registers.iter_mut().for_each(|reg| visit_word(visit, reg, Forward));
                *from = registers.into();
                visit_word(visit, to, Write);
            }
            LaneInstruction::InsertDynamic { to, old, value, index, position: _ } => {
                visit_word(visit, index, Operand);
                visit_word(visit, old, Forward);
                visit_word(visit, value, Forward);
                visit_word(visit, to, Write);
            }
            LaneInstruction::ArrayLength { to, descriptor: _, base: _, stride: _ }
            | LaneInstruction::Undefine { to }
            | LaneInstruction::LoopReset { counter: to } => visit_word(visit, to, Write),
            LaneInstruction::UndefineMask { to } => visit_mask(visit, to, Write),
            LaneInstruction::LoopNext { counter } => visit_word(visit, counter, Update),
            LaneInstruction::UndefineMemory { base: _, words: _ }
            | LaneInstruction::RecordBit { bit: _ }
            | LaneInstruction::SubgroupBarrier { fences: _ }
            | LaneInstruction::Fence { fence: _ } => {}
            LaneInstruction::Group { op: _, to, from, index } => {
                *from = visit_scalars(from, Operand, visit);
                index.iter_mut().for_each(|index| visit_word(visit, index, Operand));
                *to = visit_scalars(to, Write, visit);
            }
            LaneInstruction::Exchange { way: _, to, from, index } => {
                *from = visit_scalars(from, Forward, visit);
                index.iter_mut().for_each(|index| visit_word(visit, index, Operand));
                *to = visit_scalars(to, Write, visit);
            }
            LaneInstruction::Atomic { op: _, form: _, access, to, a, b } => {
                *access = Arc::new(access.with_registers(visit));
                a.iter_mut()
                    .chain(b.iter_mut())
                    .for_each(|parts| parts.visit_registers(visit, Operand));
                to.iter_mut().for_each(|parts| parts.visit_registers(visit, Write));
            }
            LaneInstruction::Print(print) => {
                let mut new_line = PrintedLine::clone(print);
                let value = |value: &PrintedValue| match value {
                    PrintedValue::Booleans(masks) => {
                        let mut masks = masks.to_vec();
                        masks.iter_mut().for_each(|reg| visit_mask(visit, reg, Operand));
                        PrintedValue::Booleans(masks.into())
                    }
                    PrintedValue::Numbers(kindred, numbers) => {
                        PrintedValue::Numbers(*kindred, visit_numbers(numbers, visit))
                    }
                };
                new_line.values = new_line.values.iter().map(value).collect();
                *print = Arc::new(new_line);
            }
            LaneInstruction::Image(step) => *step = Arc::new(step.with_registers(visit)),
            LaneInstruction::Load { access, to } => {
                *access = Arc::new(access.with_registers(visit));
                *to = visit_scalars(to, Write, visit);
            }
            LaneInstruction::Store { access, from } => {
                *access = Arc::new(access.with_registers(visit));
                let register_use = if access.root.is_buffer() { Operand } else { Forward };
                *from = visit_scalars(from, register_use, visit);
            }
            LaneInstruction::Condition { slot: _, sum, value, weights: _ } => {
                visit_mask(visit, value, Forward);
                visit_word(visit, sum, Update);
            }
            LaneInstruction::Decision { slot: _, sum, compared } => {
                *compared =
                    compared.iter().map(|comparison| comparison.with_registers(visit)).collect();
                visit_word(visit, sum, Update);
            }
            LaneInstruction::RecordBitWhere { bit: _, value } => visit_mask(visit, value, Forward),
            LaneInstruction::SingleCondition { slot: _, value, weights: _, compared } => {
                *compared =
                    compared.iter().map(|comparison| comparison.with_registers(visit)).collect();
                visit_mask(visit, value, Forward);
            }
        }
    }
}

impl RecordedComparison {
    fn with_registers(
        &self,
        visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
    ) -> RecordedComparison {
        let mut new = self.clone();
        visit_word(visit, &mut new.left, RegisterUse::Forward);
        visit_word(visit, &mut new.right, RegisterUse::Forward);
        new
    }
}

pub(crate) fn visit_numbers(
    numbers: &[NumberRegisters],
    visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
) -> Arc<[NumberRegisters]> {
    let mut numbers = numbers.to_vec();
    numbers.iter_mut().for_each(|parts| parts.visit_registers(visit, RegisterUse::Operand));
    numbers.into()
}

pub(crate) fn visit_scalars(
    list: &[Scalar],
    register_use: RegisterUse,
    visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
) -> Arc<[Scalar]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|scalar| visit(scalar, register_use));
    list.into()
}
