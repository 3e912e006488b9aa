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
    fn logic(&mut self, table: u8, to: Reg, a: Reg, b: Reg) {
        let (a, b) = (self.bits(a), self.bits(b));
        let row = |index: u8| if table >> index & 1 == 1 { u64::MAX } else { 0 };
        let rows = [row(0), row(1), row(2), row(3)];
        let bits = std::array::from_fn(|word| {
            let (a, b) = (a[word], b[word]);
            (rows[0] & !a & !b) | (rows[1] & !a & b) | (rows[2] & a & !b) | (rows[3] & a & b)
        });
        self.write_mask(to, &bits);
    }

    fn relate(
        &mut self,
        relation: Relation,
        form: NumberFormat,
        to: Reg,
        from: &[NumberRegisters],
    ) {
        let mut bits = [0; MASK_WORDS];
        for lane in 0..self.width {
            let [a, b, _] = self.operands(from, lane);
            bits[lane / 64] |= u64::from(relation.holds(form, a, b)) << (lane % 64);
        }
        self.write_mask(to, &bits);
    }
}

impl Machine<'_> {
    /// Runs one step. Looks at the definedness of its operands first.
    #[inline]
    pub(super) fn step(&mut self, step: &LocatedInstruction) {
        if self.monitor.track_undefined && !step.operands_to_check.is_empty() {
            self.check_defined(&step.operands_to_check, step.source_index);
        }
        let place = step.source_index;
        match &step.instruction {
            LaneInstruction::Copy { to, from } => self.copy(*to, *from),
            LaneInstruction::CopyMask { to, from } => self.copy_mask(*to, *from),
            LaneInstruction::Unary { op, to, a } => {
                self.registers
                    .write(*to, |out, words| op.apply_to_lanes(out, &words[a.0 as usize]));
                self.judge(step);
            }
            LaneInstruction::Binary { op, to, a, b } => {
                self.registers.write(*to, |out, words| {
                    op.apply_to_lanes(out, &words[a.0 as usize], &words[b.0 as usize])
                });
                self.judge(step);
            }
            LaneInstruction::Ternary { op, to, a, b, c } => {
                self.registers.write(*to, |out, words| {
                    op.apply_to_lanes(
                        out,
                        &words[a.0 as usize],
                        &words[b.0 as usize],
                        &words[c.0 as usize],
                    );
                });
                self.judge(step);
            }
            LaneInstruction::Compare { op, to, a, b } => {
                let mut bits = [0; MASK_WORDS];
                op.apply_to_lanes(
                    &mut bits[..self.registers.mask_words],
                    &self.registers.words[a.0 as usize],
                    &self.registers.words[b.0 as usize],
                );
                self.registers.write_mask(*to, &bits);
            }
            LaneInstruction::Classify { op, to, a } => {
                let mut bits = [0; MASK_WORDS];
                op.apply_to_lanes(
                    &mut bits[..self.registers.mask_words],
                    &self.registers.words[a.0 as usize],
                );
                self.registers.write_mask(*to, &bits);
            }
            LaneInstruction::Sized { operation, to, from } => {
                self.sized(*operation, *to, from);
                if step.may_be_undefined {
                    self.judge_sized(*operation, *to, from, place);
                }
            }
            LaneInstruction::Dot { dot, to, from } => self.dot(*dot, *to, from, place),
            LaneInstruction::Relate { relation, form, to, from } => {
                self.registers.relate(*relation, *form, *to, from)
            }
            LaneInstruction::Logic { table, to, a, b } => self.registers.logic(*table, *to, *a, *b),
            LaneInstruction::Not { to, a } => {
                let bits = self.registers.bits(*a).map(|bits| !bits);
                self.registers.write_mask(*to, &bits);
            }
            LaneInstruction::Select { to, condition, a, b } => self.select(*to, *condition, *a, *b),
            LaneInstruction::SelectMask { to, condition, a, b } => {
                self.select_mask(*to, *condition, *a, *b)
            }
            LaneInstruction::Product(factors) => self.product(factors, place),
            LaneInstruction::Converged => self.check_converged(place),
            LaneInstruction::UndefinedWhere { to, value, condition, why } => {
                self.doubt(*to, *value, (*condition, *why), place)
            }
            LaneInstruction::Assume { condition, otherwise } => {
                let bits = self.registers.bits(*condition);
                let lanes =
                    self.registers.lanes_where(|lane| bits[lane / 64] >> (lane % 64) & 1 == 0);
                self.report_value(&lanes, place, FindingKind::UndefinedValue, otherwise);
            }
            LaneInstruction::ToWord { to, a } => {
                let bits = self.registers.bits(*a);
                let words = self.registers.mask_words;
                self.registers.write(*to, |out, _| {
                    spread_bits(out, &bits[..words]);
                    out.iter_mut().for_each(|word| *word &= 1);
                });
            }
            LaneInstruction::ToMask { to, a } => {
                let mut bits = [0; MASK_WORDS];
                let words = &self.registers.words[a.0 as usize];
                vkcert_spirv::operation::word::pack_bits(
                    &mut bits[..self.registers.mask_words],
                    words,
                    words,
                    |a, _| a != 0,
                );
                self.registers.write_mask(*to, &bits);
            }
            LaneInstruction::ExtractDynamic { to, from, index } => {
                self.pick(*to, from, *index, place)
            }
            LaneInstruction::InsertDynamic { to, old, value, index, position } => {
                self.put(*to, [*old, *value], *index, *position)
            }
            LaneInstruction::Load { access, to } => self.load(access, to, place),
            LaneInstruction::Store { access, from } => self.store(access, from, place),
            LaneInstruction::Atomic { op, form, access, to, a, b } => {
                self.atomic((*op, *form), access, [*to, *a, *b], place)
            }
            LaneInstruction::Image(image) => self.image(image, place),
            LaneInstruction::ArrayLength { descriptor, base, stride, to } => {
                let bytes = self.memory.slots[*descriptor as usize].map_or(0, |slot| slot.bytes);
                let length = bytes.saturating_sub(*base) / (*stride).max(1);
                self.registers.write(*to, |out, _| out.fill(length));
            }
            LaneInstruction::Undefine { to } => {
                let (unwritten, first) = (self.unwritten_now(), self.registers.first_lane);
                self.registers.write(*to, |out, _| unwritten.fill_lanes(out, to.0, first));
                self.set_undefined(Scalar::Word(*to), &[u64::MAX; MASK_WORDS]);
            }
            LaneInstruction::UndefineMask { to } => {
                let mut bits = [0; MASK_WORDS];
                self.unwritten_now().fill_masks(
                    &mut bits[..self.registers.mask_words],
                    to.0,
                    self.registers.first_lane,
                );
                self.registers.write_mask(*to, &bits);
                self.set_undefined(Scalar::Mask(*to), &[u64::MAX; MASK_WORDS]);
            }
            LaneInstruction::UndefineMemory { base, words } => self.undefine_memory(*base, *words),
            LaneInstruction::LoopReset { counter } => {
                self.registers.write(*counter, |out, _| out.fill(0))
            }
            LaneInstruction::LoopNext { counter } => {
                let counter = &mut self.registers.words[counter.0 as usize];
                self.registers
                    .active
                    .lanes()
                    .for_each(|lane| counter[lane] = counter[lane].wrapping_add(1));
            }
            LaneInstruction::Condition { slot: _, sum, value, weights } => {
                self.registers.condition(*sum, *value, *weights)
            }
            LaneInstruction::Decision { slot, sum, compared } => {
                self.decision(*slot, *sum, compared)
            }
            LaneInstruction::SingleCondition { slot, value, weights, compared } => {
                self.single(*slot, *value, *weights, compared)
            }
            LaneInstruction::Group { op, to, from, index } => {
                self.group(*op, to, from, *index, place)
            }
            LaneInstruction::Exchange { way, to, from, index } => {
                self.exchange_values(*way, to, from, *index, place)
            }
            LaneInstruction::Print(print) => self.print(print, place),
            LaneInstruction::SubgroupBarrier { fences } => self.subgroup_barrier(*fences),
            LaneInstruction::Fence { fence } => self.fence(*fence),
            LaneInstruction::RecordBit { bit } => {
                if let Some(lane) = self.registers.lowest(&self.registers.active.0) {
                    let rank = self.rank(lane);
                    self.monitor.recorder.set(*bit, rank);
                }
                self.keep(Some(*bit), self.registers.active.0);
            }
        }
    }

    fn sized(&mut self, operation: Operation, to: NumberRegisters, from: &[NumberRegisters]) {
        self.write_number(to, |machine, lane| {
            let [a, b, c] = machine.registers.operands(from, lane);
            operation.result_bits(a, b, c).expect("decoding has asked whether it exists")
        });
    }

    /// Computes a number lane by lane.
    pub(super) fn write_number(
        &mut self,
        to: NumberRegisters,
        value: impl Fn(&Self, usize) -> u64,
    ) {
        let mut halves = [
            std::mem::take(&mut self.registers.staging),
            std::mem::take(&mut self.registers.staging_high),
        ];
        let [low, high] = &mut halves;
        for (lane, (low, high)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
            let value = value(self, lane);
            (*low, *high) = (value as u32, (value >> 32) as u32);
        }
        for (reg, half) in to.registers().zip(&halves) {
            self.registers.write(reg, |out, _| out.copy_from_slice(half));
        }
        [self.registers.staging, self.registers.staging_high] = halves;
    }

    #[inline]
    pub(super) fn set_undefined(&mut self, scalar: Scalar, bits: &[u64; MASK_WORDS]) {
        if !self.monitor.track_undefined {
            return;
        }
        let (all, reg) = match scalar {
            Scalar::Word(reg) => (&mut self.registers.undefined_words, reg),
            Scalar::Mask(reg) => (&mut self.registers.undefined_masks, reg),
        };
        let old =
            &mut all[reg.0 as usize * self.registers.mask_words..][..self.registers.mask_words];
        let mut any = 0;
        for ((old, new), active) in old.iter_mut().zip(bits).zip(&self.registers.active.0) {
            *old = (*old & !active) | (new & active);
            any |= new & active;
        }
        if any != 0 && !self.monitor.origins.is_empty() {
            let marks = std::array::from_fn(|word| bits[word] & self.registers.active.0[word]);
            self.forget_origins(scalar, &marks);
        }
    }

    pub(super) fn copy(&mut self, to: Reg, from: Reg) {
        if to == from {
            return;
        }
        self.registers.write(to, |out, words| out.copy_from_slice(&words[from.0 as usize]));
        self.carry(Scalar::Word(to), &[(Scalar::Word(from), EVERY_LANE)]);
    }

    fn copy_mask(&mut self, to: Reg, from: Reg) {
        let bits = self.registers.bits(from);
        self.registers.write_mask(to, &bits);
        if to != from {
            self.carry(Scalar::Mask(to), &[(Scalar::Mask(from), EVERY_LANE)]);
        }
    }

    fn select(&mut self, to: Reg, condition: Reg, a: Reg, b: Reg) {
        let bits = self.registers.bits(condition);
        let words = self.registers.mask_words;
        self.registers.write(to, |out, all| {
            spread_bits(out, &bits[..words]);
            for ((out, a), b) in out.iter_mut().zip(&all[a.0 as usize]).zip(&all[b.0 as usize]) {
                *out = (*a & *out) | (*b & !*out);
            }
        });
        self.carry(
            Scalar::Word(to),
            &[(Scalar::Word(a), bits), (Scalar::Word(b), bits.map(|bits| !bits))],
        );
    }

    fn select_mask(&mut self, to: Reg, condition: Reg, a: Reg, b: Reg) {
        let choose = |condition: [u64; MASK_WORDS], a: [u64; MASK_WORDS], b: [u64; MASK_WORDS]| {
            std::array::from_fn(|word| (a[word] & condition[word]) | (b[word] & !condition[word]))
        };
        let bits = self.registers.bits(condition);
        let chosen = choose(bits, self.registers.bits(a), self.registers.bits(b));
        self.registers.write_mask(to, &chosen);
        self.carry(
            Scalar::Mask(to),
            &[(Scalar::Mask(a), bits), (Scalar::Mask(b), bits.map(|bits| !bits))],
        );
    }

    /// OpVectorExtractDynamic; an index outside the vector is undefined behaviour (SPIR-V) and
    /// gives 0 here.
    fn pick(&mut self, to: Reg, from: &[Reg], index: Reg, place: u32) {
        let mut outside = LaneMask::EMPTY;
        let mut sources: Vec<_> =
            from.iter().map(|reg| (Scalar::Word(*reg), [0; MASK_WORDS])).collect();
        for lane in self.registers.active.lanes() {
            match sources.get_mut(self.registers.words[index.0 as usize][lane] as usize) {
                Some((_, lanes)) => lanes[lane / 64] |= 1 << (lane % 64),
                None => outside.insert(lane),
            }
        }
        self.registers.write(to, |out, words| {
            for (lane, out) in out.iter_mut().enumerate() {
                let position = words[index.0 as usize][lane] as usize;
                *out = from.get(position).map_or(0, |reg| words[reg.0 as usize][lane]);
            }
        });
        self.carry(Scalar::Word(to), &sources);
        self.report_value(
            &outside,
            place,
            FindingKind::OutOfBounds,
            "the index lies outside the vector",
        );
    }

    fn put(&mut self, to: Reg, [old, value]: [Reg; 2], index: Reg, position: u32) {
        let mut bits = [0; MASK_WORDS];
        let indices = &self.registers.words[index.0 as usize];
        vkcert_spirv::operation::word::pack_bits(
            &mut bits[..self.registers.mask_words],
            indices,
            indices,
            |a, _| a == position,
        );
        self.registers.write(to, |out, words| {
            let indices = &words[index.0 as usize];
            for (((out, index), old), value) in out
                .iter_mut()
                .zip(indices)
                .zip(&words[old.0 as usize])
                .zip(&words[value.0 as usize])
            {
                *out = if *index == position { *value } else { *old };
            }
        });
        self.carry(
            Scalar::Word(to),
            &[(Scalar::Word(value), bits), (Scalar::Word(old), bits.map(|bits| !bits))],
        );
    }

    fn undefine_memory(&mut self, base: u32, words: u32) {
        let (unwritten, first) = (self.unwritten_now(), self.registers.first_lane);
        for word in base as usize..(base + words) as usize {
            self.forget_memory(word as u32);
            let bits = &mut self.registers.private_undefined[word * self.registers.mask_words..]
                [..self.registers.mask_words];
            bits.iter_mut()
                .zip(&self.registers.active.0)
                .for_each(|(bits, active)| *bits |= active);
            for lane in self.registers.active.lanes() {
                self.registers.private[word * self.registers.width + lane] =
                    unwritten.of_invocation(word as u32, first + lane as u32);
            }
        }
    }
}
