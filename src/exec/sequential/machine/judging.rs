//! Operations whose operands make the result undefined.

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
    fn lanes_meeting_rules<Test>(
        &self,
        rules: &[UndefinedRule<Test>],
        is_met: impl Fn(&UndefinedRule<Test>, usize) -> bool,
    ) -> [Option<(Undefined, LaneMask)>; 2] {
        let mut undefined_lanes = [None, None];
        for rule in rules {
            let met_lanes = self.lanes_where(|lane| is_met(rule, lane));
            if !met_lanes.is_empty() {
                undefined_lanes[rule.then.extent as usize] = Some((rule.then, met_lanes));
            }
        }
        undefined_lanes
    }
}

impl Machine<'_> {
    pub(super) fn report_undefined_sized(
        &mut self,
        operation: Operation,
        result_parts: NumberRegisters,
        operand_parts: &[NumberRegisters],
        source_index: u32,
    ) {
        let mut undefined_lanes: [Option<(Undefined, LaneMask)>; 2] = [None, None];
        for lane in self.registers.active_lanes.lanes() {
            let [a, b, c] = self.registers.operands_at(operand_parts, lane);
            if let Some(undefined) = operation.undefined_for(a, b, c) {
                undefined_lanes[undefined.extent as usize]
                    .get_or_insert((undefined, LaneMask::EMPTY))
                    .1
                    .insert(lane);
            }
        }
        self.leave_undefined_lanes(&word_scalars(&[result_parts]), undefined_lanes, source_index);
    }

    /// What an operation leaves undefined: lanes by extent, the others have values.
    pub(super) fn leave_undefined_lanes(
        &mut self,
        result_scalars: &[Scalar],
        undefined_lanes: [Option<(Undefined, LaneMask)>; 2],
        source_index: u32,
    ) {
        result_scalars
            .iter()
            .for_each(|scalar| self.set_undefined_lanes(*scalar, &[0; MASK_WORDS]));
        for (undefined, lanes) in undefined_lanes.into_iter().flatten() {
            self.leave_undefined(result_scalars, &lanes, undefined, source_index);
        }
    }

    /// Reports or marks what an operation on words left undefined.
    pub(super) fn report_undefined_words(&mut self, step: &LocatedInstruction) {
        if !step.may_be_undefined {
            return;
        }
        let register_words = |register: Reg| &*self.registers.words[register.0 as usize];
        let (result_register, undefined_lanes) = match &step.instruction {
            LaneInstruction::Unary { op, to: result_register, a } => {
                let a = register_words(*a);
                (
                    *result_register,
                    self.registers.lanes_meeting_rules(op.undefined_rules(), |rule, lane| {
                        (rule.is_met)(a[lane])
                    }),
                )
            }
            LaneInstruction::Binary { op, to: result_register, a, b } => {
                let (a, b) = (register_words(*a), register_words(*b));
                (
                    *result_register,
                    self.registers.lanes_meeting_rules(op.undefined_rules(), |rule, lane| {
                        (rule.is_met)(a[lane], b[lane])
                    }),
                )
            }
            LaneInstruction::Ternary { op, to: result_register, a, b, c } => {
                let (a, b, c) = (register_words(*a), register_words(*b), register_words(*c));
                (
                    *result_register,
                    self.registers.lanes_meeting_rules(op.undefined_rules(), |rule, lane| {
                        (rule.is_met)(a[lane], b[lane], c[lane])
                    }),
                )
            }
            _ => return,
        };
        for (_, lanes) in undefined_lanes.iter().flatten() {
            self.take_operand_value(&step.instruction, lanes);
        }
        self.leave_undefined_lanes(
            &[Scalar::Word(result_register)],
            undefined_lanes,
            step.source_index,
        );
    }

    /// Passes a value on that is undefined where a condition holds.
    pub(super) fn copy_with_undefined(
        &mut self,
        result_register: Reg,
        value_register: Reg,
        (condition, why): (Reg, &'static str),
        source_index: u32,
    ) {
        self.copy_register(result_register, value_register);
        let lane_bits = self.registers.mask_bits(condition);
        let undefined_lanes =
            self.registers.lanes_where(|lane| lane_bits[lane / 64] >> (lane % 64) & 1 == 1);
        self.leave_undefined(
            &[Scalar::Word(result_register)],
            &undefined_lanes,
            Undefined { extent: UndefinedExtent::Value, why },
            source_index,
        );
    }

    pub(super) fn report_lanes(
        &mut self,
        lanes: &LaneMask,
        source_index: u32,
        kind: FindingKind,
        message: &str,
    ) {
        if lanes.is_empty() {
            return;
        }
        for lane in lanes.lanes() {
            let global_id = self.global_id(self.registers.first_lane + lane as u32);
            self.monitor.collector.add_occurrence(kind, [source_index, NOWHERE], 0, || Finding {
                invocations: vec![global_id],
                ..Finding::new(kind, message)
            });
        }
    }
}
