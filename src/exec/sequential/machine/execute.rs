//! The actions of the machine, each over all active lanes.
//!
//! Promises: a register that outlives its block changes in active lanes alone; one that does not is
//! written in every lane, which is faster and cannot be seen. The destination of an element-wise
//! action is none of its operands (`decode` sees to it).

use super::registers::Registers;
use super::state::Machine;
use crate::ir::lane_mask::{LaneMask, MASK_WORDS, spread_bits};
use crate::ir::{LaneInstruction, LocatedInstruction, NumberRegisters, Reg, Scalar};
use vkcert_model::finding::FindingKind;
use vkcert_spirv::operation::sized::{NumberFormat, Operation, Relation};

/// For a source that every lane takes its value from.
const EVERY_LANE: [u64; MASK_WORDS] = [u64::MAX; MASK_WORDS];

impl Registers {
    fn apply_truth_table(&mut self, truth_table: u8, result_register: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.mask_bits(a), self.mask_bits(b));
        let row_mask = |row_index: u8| if truth_table >> row_index & 1 == 1 { u64::MAX } else { 0 };
        let row_masks = [row_mask(0), row_mask(1), row_mask(2), row_mask(3)];
        let result_lanes = std::array::from_fn(|word| {
            let (a, b) = (a[word], b[word]);
            (row_masks[0] & !a & !b)
                | (row_masks[1] & !a & b)
                | (row_masks[2] & a & !b)
                | (row_masks[3] & a & b)
        });
        self.write_mask(result_register, &result_lanes);
    }

    fn relate_lanes(
        &mut self,
        relation: Relation,
        form: NumberFormat,
        result_register: Reg,
        operand_parts: &[NumberRegisters],
    ) {
        let mut lane_bits = [0; MASK_WORDS];
        for lane in 0..self.width {
            let [a, b, _] = self.operands_at(operand_parts, lane);
            lane_bits[lane / 64] |= u64::from(relation.holds(form, a, b)) << (lane % 64);
        }
        self.write_mask(result_register, &lane_bits);
    }
}

impl Machine<'_> {
    /// Runs one step. Looks at the definedness of its operands first.
    #[inline]
    pub(super) fn run_step(&mut self, step: &LocatedInstruction) {
        if self.monitor.track_undefined && !step.operands_to_check.is_empty() {
            self.check_defined(&step.operands_to_check, step.source_index);
        }
        let place = step.source_index;
        match &step.instruction {
            LaneInstruction::Copy { to, from } => self.copy_register(*to, *from),
            LaneInstruction::CopyMask { to, from } => self.copy_mask(*to, *from),
            LaneInstruction::Unary { op, to, a } => {
                self.registers.write_register(*to, |lane_values, words| {
                    op.apply_to_lanes(lane_values, &words[a.0 as usize])
                });
                self.report_undefined_words(step);
            }
            LaneInstruction::Binary { op, to, a, b } => {
                self.registers.write_register(*to, |lane_values, words| {
                    op.apply_to_lanes(lane_values, &words[a.0 as usize], &words[b.0 as usize])
                });
                self.report_undefined_words(step);
            }
            LaneInstruction::Ternary { op, to, a, b, c } => {
                self.registers.write_register(*to, |lane_values, words| {
                    op.apply_to_lanes(
                        lane_values,
                        &words[a.0 as usize],
                        &words[b.0 as usize],
                        &words[c.0 as usize],
                    );
                });
                self.report_undefined_words(step);
            }
            LaneInstruction::Compare { op, to, a, b } => {
                let mut lane_bits = [0; MASK_WORDS];
                op.apply_to_lanes(
                    &mut lane_bits[..self.registers.mask_words],
                    &self.registers.words[a.0 as usize],
                    &self.registers.words[b.0 as usize],
                );
                self.registers.write_mask(*to, &lane_bits);
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
                self.run_sized(*operation, *to, from);
                if step.may_be_undefined {
                    self.report_undefined_sized(*operation, *to, from, place);
                }
            }
            LaneInstruction::Dot { dot, to, from } => self.multiply_dot(*dot, *to, from, place),
            LaneInstruction::Relate { relation, form, to, from } => {
                self.registers.relate_lanes(*relation, *form, *to, from)
            }
            LaneInstruction::Logic { table, to, a, b } => {
                self.registers.apply_truth_table(*table, *to, *a, *b)
            }
            LaneInstruction::Not { to, a } => {
                let lane_bits = self.registers.mask_bits(*a).map(|mask_word| !mask_word);
                self.registers.write_mask(*to, &lane_bits);
            }
            LaneInstruction::Select { to, condition, a, b } => {
                self.select_words(*to, *condition, *a, *b)
            }
            LaneInstruction::SelectMask { to, condition, a, b } => {
                self.select_masks(*to, *condition, *a, *b)
            }
            LaneInstruction::Product(factors) => self.multiply_matrices(factors, place),
            LaneInstruction::Converged => self.check_converged(place),
            LaneInstruction::UndefinedWhere { to, value, condition, why } => {
                self.copy_with_undefined(*to, *value, (*condition, *why), place)
            }
            LaneInstruction::Assume { condition, otherwise } => {
                let lane_bits = self.registers.mask_bits(*condition);
                let lanes =
                    self.registers.lanes_where(|lane| lane_bits[lane / 64] >> (lane % 64) & 1 == 0);
                self.report_lanes(&lanes, place, FindingKind::UndefinedValue, otherwise);
            }
            LaneInstruction::ToWord { to, a } => {
                let lane_bits = self.registers.mask_bits(*a);
                let words = self.registers.mask_words;
                self.registers.write_register(*to, |lane_values, _| {
                    spread_bits(lane_values, &lane_bits[..words]);
                    lane_values.iter_mut().for_each(|word| *word &= 1);
                });
            }
            LaneInstruction::ToMask { to, a } => {
                let mut lane_bits = [0; MASK_WORDS];
                let words = &self.registers.words[a.0 as usize];
                vkcert_spirv::operation::word::pack_bits(
                    &mut lane_bits[..self.registers.mask_words],
                    words,
                    words,
                    |word, _| word != 0,
                );
                self.registers.write_mask(*to, &lane_bits);
            }
            LaneInstruction::ExtractDynamic { to, from, index } => {
                self.extract_dynamic(*to, from, *index, place)
            }
            LaneInstruction::InsertDynamic { to, old, value, index, position } => {
                self.insert_dynamic(*to, [*old, *value], *index, *position)
            }
            LaneInstruction::Load { access, to } => self.load_memory(access, to, place),
            LaneInstruction::Store { access, from } => self.store_memory(access, from, place),
            LaneInstruction::Atomic { op, form, access, to, a, b } => {
                self.run_atomic((*op, *form), access, [*to, *a, *b], place)
            }
            LaneInstruction::Image(image) => self.run_image(image, place),
            LaneInstruction::ArrayLength { descriptor, base, stride, to } => {
                let bytes = self.memory.slots[*descriptor as usize].map_or(0, |slot| slot.bytes);
                let length = bytes.saturating_sub(*base) / (*stride).max(1);
                self.registers.write_register(*to, |lane_values, _| lane_values.fill(length));
            }
            LaneInstruction::Undefine { to } => {
                let (unwritten, first) = (self.unwritten_now(), self.registers.first_lane);
                self.registers.write_register(*to, |lane_values, _| {
                    unwritten.fill_lanes(lane_values, to.0, first)
                });
                self.set_undefined_lanes(Scalar::Word(*to), &[u64::MAX; MASK_WORDS]);
            }
            LaneInstruction::UndefineMask { to } => {
                let mut lane_bits = [0; MASK_WORDS];
                self.unwritten_now().fill_masks(
                    &mut lane_bits[..self.registers.mask_words],
                    to.0,
                    self.registers.first_lane,
                );
                self.registers.write_mask(*to, &lane_bits);
                self.set_undefined_lanes(Scalar::Mask(*to), &[u64::MAX; MASK_WORDS]);
            }
            LaneInstruction::UndefineMemory { base, words } => self.undefine_memory(*base, *words),
            LaneInstruction::LoopReset { counter } => {
                self.registers.write_register(*counter, |lane_values, _| lane_values.fill(0))
            }
            LaneInstruction::LoopNext { counter } => {
                let counter = &mut self.registers.words[counter.0 as usize];
                self.registers
                    .active_lanes
                    .lanes()
                    .for_each(|lane| counter[lane] = counter[lane].wrapping_add(1));
            }
            LaneInstruction::Condition { slot: _, sum, value, weights } => {
                self.registers.add_condition_weight(*sum, *value, *weights)
            }
            LaneInstruction::Decision { slot, sum, compared } => {
                self.record_decision(*slot, *sum, compared)
            }
            LaneInstruction::SingleCondition { slot, value, weights, compared } => {
                self.record_single_condition(*slot, *value, *weights, compared)
            }
            LaneInstruction::Group { op, to, from, index } => {
                self.run_group(*op, to, from, *index, place)
            }
            LaneInstruction::Exchange { way, to, from, index } => {
                self.exchange_values(*way, to, from, *index, place)
            }
            LaneInstruction::Print(print) => self.print_lines(print, place),
            LaneInstruction::SubgroupBarrier { fences } => self.subgroup_barrier(*fences),
            LaneInstruction::Fence { fence } => self.fence_lanes(*fence),
            LaneInstruction::RecordBit { bit } => {
                self.record_mark(*bit, self.registers.active_lanes.0)
            }
            LaneInstruction::RecordBitWhere { bit, value } => self.record_mark_where(*bit, *value),
        }
    }

    fn run_sized(
        &mut self,
        operation: Operation,
        result_parts: NumberRegisters,
        operand_parts: &[NumberRegisters],
    ) {
        self.write_number(result_parts, |machine, lane| {
            let [a, b, c] = machine.registers.operands_at(operand_parts, lane);
            operation.result_bits(a, b, c).expect("decoding has asked whether it exists")
        });
    }

    /// Computes a number lane by lane.
    pub(super) fn write_number(
        &mut self,
        result_parts: NumberRegisters,
        value: impl Fn(&Self, usize) -> u64,
    ) {
        let mut result_halves = [
            std::mem::take(&mut self.registers.staging_words),
            std::mem::take(&mut self.registers.staging_high),
        ];
        let [low, high] = &mut result_halves;
        for (lane, (low_word, high_word)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
            let value = value(self, lane);
            (*low_word, *high_word) = (value as u32, (value >> 32) as u32);
        }
        for (reg, half) in result_parts.words().zip(&result_halves) {
            self.registers.write_register(reg, |lane_values, _| lane_values.copy_from_slice(half));
        }
        [self.registers.staging_words, self.registers.staging_high] = result_halves;
    }

    #[inline]
    pub(super) fn set_undefined_lanes(&mut self, scalar: Scalar, lane_bits: &[u64; MASK_WORDS]) {
        if !self.monitor.track_undefined {
            return;
        }
        let (all_marks, reg) = match scalar {
            Scalar::Word(reg) => (&mut self.registers.undefined_words, reg),
            Scalar::Mask(reg) => (&mut self.registers.undefined_masks, reg),
        };
        let register_marks = &mut all_marks[reg.0 as usize * self.registers.mask_words..]
            [..self.registers.mask_words];
        let mut any_undefined = 0;
        for ((mark_word, new), active) in
            register_marks.iter_mut().zip(lane_bits).zip(&self.registers.active_lanes.0)
        {
            *mark_word = (*mark_word & !active) | (new & active);
            any_undefined |= new & active;
        }
        if any_undefined != 0 && !self.monitor.origins.is_empty() {
            let new_marks =
                std::array::from_fn(|word| lane_bits[word] & self.registers.active_lanes.0[word]);
            self.forget_origins(scalar, &new_marks);
        }
    }

    pub(super) fn copy_register(&mut self, result_register: Reg, source_register: Reg) {
        if result_register == source_register {
            return;
        }
        self.registers.write_register(result_register, |lane_values, words| {
            lane_values.copy_from_slice(&words[source_register.0 as usize])
        });
        self.carry_marks(
            Scalar::Word(result_register),
            &[(Scalar::Word(source_register), EVERY_LANE)],
        );
    }

    fn copy_mask(&mut self, result_register: Reg, source_register: Reg) {
        let lane_bits = self.registers.mask_bits(source_register);
        self.registers.write_mask(result_register, &lane_bits);
        if result_register != source_register {
            self.carry_marks(
                Scalar::Mask(result_register),
                &[(Scalar::Mask(source_register), EVERY_LANE)],
            );
        }
    }

    fn select_words(&mut self, result_register: Reg, condition_register: Reg, a: Reg, b: Reg) {
        let lane_bits = self.registers.mask_bits(condition_register);
        let words = self.registers.mask_words;
        self.registers.write_register(result_register, |lane_values, all| {
            spread_bits(lane_values, &lane_bits[..words]);
            for ((lane_value, a), b) in
                lane_values.iter_mut().zip(&all[a.0 as usize]).zip(&all[b.0 as usize])
            {
                *lane_value = (*a & *lane_value) | (*b & !*lane_value);
            }
        });
        self.carry_marks(
            Scalar::Word(result_register),
            &[
                (Scalar::Word(a), lane_bits),
                (Scalar::Word(b), lane_bits.map(|mask_word| !mask_word)),
            ],
        );
    }

    fn select_masks(&mut self, result_register: Reg, condition_register: Reg, a: Reg, b: Reg) {
        let lane_bits = self.registers.mask_bits(condition_register);
        let (a_bits, b_bits) = (self.registers.mask_bits(a), self.registers.mask_bits(b));
        let chosen_lanes = std::array::from_fn(|word| {
            (a_bits[word] & lane_bits[word]) | (b_bits[word] & !lane_bits[word])
        });
        self.registers.write_mask(result_register, &chosen_lanes);
        self.carry_marks(
            Scalar::Mask(result_register),
            &[
                (Scalar::Mask(a), lane_bits),
                (Scalar::Mask(b), lane_bits.map(|mask_word| !mask_word)),
            ],
        );
    }

    /// OpVectorExtractDynamic; an index outside the vector is undefined behaviour (SPIR-V) and
    /// gives 0 here.
    fn extract_dynamic(
        &mut self,
        result_register: Reg,
        component_registers: &[Reg],
        index_register: Reg,
        source_index: u32,
    ) {
        let mut outside_lanes = LaneMask::EMPTY;
        let mut component_sources: Vec<_> =
            component_registers.iter().map(|reg| (Scalar::Word(*reg), [0; MASK_WORDS])).collect();
        for lane in self.registers.active_lanes.lanes() {
            match component_sources
                .get_mut(self.registers.words[index_register.0 as usize][lane] as usize)
            {
                Some((_, lanes)) => lanes[lane / 64] |= 1 << (lane % 64),
                None => outside_lanes.insert(lane),
            }
        }
        self.registers.write_register(result_register, |lane_values, words| {
            for (lane, lane_value) in lane_values.iter_mut().enumerate() {
                let component_index = words[index_register.0 as usize][lane] as usize;
                *lane_value = component_registers
                    .get(component_index)
                    .map_or(0, |reg| words[reg.0 as usize][lane]);
            }
        });
        self.carry_marks(Scalar::Word(result_register), &component_sources);
        self.report_lanes(
            &outside_lanes,
            source_index,
            FindingKind::OutOfBounds,
            "the index lies outside the vector",
        );
    }

    fn insert_dynamic(
        &mut self,
        result_register: Reg,
        [old_register, value_register]: [Reg; 2],
        index_register: Reg,
        component_index: u32,
    ) {
        let mut lane_bits = [0; MASK_WORDS];
        let lane_indices = &self.registers.words[index_register.0 as usize];
        vkcert_spirv::operation::word::pack_bits(
            &mut lane_bits[..self.registers.mask_words],
            lane_indices,
            lane_indices,
            |lane_index, _| lane_index == component_index,
        );
        self.registers.write_register(result_register, |lane_values, words| {
            for (((lane_value, lane_index), old_value), inserted_value) in lane_values
                .iter_mut()
                .zip(&words[index_register.0 as usize])
                .zip(&words[old_register.0 as usize])
                .zip(&words[value_register.0 as usize])
            {
                *lane_value =
                    if *lane_index == component_index { *inserted_value } else { *old_value };
            }
        });
        self.carry_marks(
            Scalar::Word(result_register),
            &[
                (Scalar::Word(value_register), lane_bits),
                (Scalar::Word(old_register), lane_bits.map(|mask_word| !mask_word)),
            ],
        );
    }

    fn undefine_memory(&mut self, first_word: u32, word_count: u32) {
        let (unwritten_words, first_lane) = (self.unwritten_now(), self.registers.first_lane);
        for word in first_word as usize..(first_word + word_count) as usize {
            self.forget_memory_origins(word as u32);
            let undefined_bits = &mut self.registers.private_undefined
                [word * self.registers.mask_words..][..self.registers.mask_words];
            undefined_bits
                .iter_mut()
                .zip(&self.registers.active_lanes.0)
                .for_each(|(undefined_word, active_word)| *undefined_word |= active_word);
            for lane in self.registers.active_lanes.lanes() {
                self.registers.private_words[word * self.registers.width + lane] =
                    unwritten_words.word_of_invocation(word as u32, first_lane + lane as u32);
            }
        }
    }
}
