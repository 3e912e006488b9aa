//! Operands whose result the specification leaves undefined.

use super::finding_collector::NOWHERE;
use super::registers::Registers;
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS};
use crate::ir::{LaneInstruction, LocatedInstruction, NumberRegisters, Reg, Scalar, word_scalars};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_spirv::operation::sized::Operation;
use vkcert_spirv::operation::undefined::{Undefined, UndefinedExtent, UndefinedRule};

impl Registers {
    /// In which lanes rules are met, at most one of an extent.
    fn met<Test>(
        &self,
        rules: &[UndefinedRule<Test>],
        is_met: impl Fn(&UndefinedRule<Test>, usize) -> bool,
    ) -> [Option<(Undefined, LaneMask)>; 2] {
        let mut found = [None, None];
        for rule in rules {
            let lanes = self.lanes_where(|lane| is_met(rule, lane));
            if !lanes.is_empty() {
                found[rule.then.extent as usize] = Some((rule.then, lanes));
            }
        }
        found
    }
}

impl Machine<'_> {
    pub(super) fn judge_sized(
        &mut self,
        operation: Operation,
        to: NumberRegisters,
        from: &[NumberRegisters],
        place: u32,
    ) {
        let mut found: [Option<(Undefined, LaneMask)>; 2] = [None, None];
        for lane in self.registers.active.lanes() {
            let [a, b, c] = self.registers.operands(from, lane);
            if let Some(undefined) = operation.undefined_for(a, b, c) {
                found[undefined.extent as usize]
                    .get_or_insert((undefined, LaneMask::EMPTY))
                    .1
                    .insert(lane);
            }
        }
        self.leave(&word_scalars(&[to]), found, place);
    }

    /// What an operation leaves undefined: lanes by extent, the others have values.
    pub(super) fn leave(
        &mut self,
        to: &[Scalar],
        found: [Option<(Undefined, LaneMask)>; 2],
        place: u32,
    ) {
        to.iter().for_each(|scalar| self.set_undefined(*scalar, &[0; MASK_WORDS]));
        for (undefined, lanes) in found.into_iter().flatten() {
            self.leave_undefined(to, &lanes, undefined, place);
        }
    }

    /// Tells or marks what an operation on words left undefined.
    pub(super) fn judge(&mut self, step: &LocatedInstruction) {
        if !step.may_be_undefined {
            return;
        }
        let words = |reg: Reg| &*self.registers.words[reg.0 as usize];
        let (to, found) = match &step.instruction {
            LaneInstruction::Unary { op, to, a } => {
                let a = words(*a);
                (*to, self.registers.met(op.undefined_rules(), |rule, lane| (rule.is_met)(a[lane])))
            }
            LaneInstruction::Binary { op, to, a, b } => {
                let (a, b) = (words(*a), words(*b));
                (
                    *to,
                    self.registers
                        .met(op.undefined_rules(), |rule, lane| (rule.is_met)(a[lane], b[lane])),
                )
            }
            LaneInstruction::Ternary { op, to, a, b, c } => {
                let (a, b, c) = (words(*a), words(*b), words(*c));
                (
                    *to,
                    self.registers.met(op.undefined_rules(), |rule, lane| {
                        (rule.is_met)(a[lane], b[lane], c[lane])
                    }),
                )
            }
            _ => return,
        };
        for (_, lanes) in found.iter().flatten() {
            self.take_operand(&step.instruction, lanes);
        }
        self.leave(&[Scalar::Word(to)], found, step.source_index);
    }

    /// Passes a value on that is undefined where a condition holds.
    pub(super) fn doubt(
        &mut self,
        to: Reg,
        value: Reg,
        (condition, why): (Reg, &'static str),
        place: u32,
    ) {
        self.copy(to, value);
        let bits = self.registers.bits(condition);
        let lanes = self.registers.lanes_where(|lane| bits[lane / 64] >> (lane % 64) & 1 == 1);
        self.leave_undefined(
            &[Scalar::Word(to)],
            &lanes,
            Undefined { extent: UndefinedExtent::Value, why },
            place,
        );
    }

    pub(super) fn report_value(
        &mut self,
        lanes: &LaneMask,
        place: u32,
        kind: FindingKind,
        message: &str,
    ) {
        if lanes.is_empty() {
            return;
        }
        for lane in lanes.lanes() {
            let witness = self.invocation(self.registers.first_lane + lane as u32);
            self.monitor.collector.add(kind, [place, NOWHERE], 0, || Finding {
                invocations: vec![witness],
                ..Finding::new(kind, message)
            });
        }
    }
}
