//! Shifts and bit operations on integers.
//!
//! Knows: shifts as products and quotients by powers of two, masks of low and of high bits as
//! remainders.
//! Promises: of all other bits only how many there can be is known.

use super::Walk;
use super::arithmetic::Word;
use super::atom::Origin;
use super::fact::FactList;
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::interval_at;
use rspirv::spirv::Op;

impl Walk<'_> {
    pub(super) fn shifted(
        &mut self,
        facts: &FactList,
        op: Op,
        words: &[Word],
    ) -> Option<Polynomial> {
        let base = words.first()?;
        // The amount is read without sign, and may have another width (SPIR-V specification, "Bit
        // Instructions").
        let amount = self.reading(facts, words.get(1)?, false);
        let greatest = i128::from(base.width) - 1;
        let is_defined = self.is_at_least_zero(facts, &amount)
            && self.is_at_least_zero(facts, &amount.negated().plus_number(greatest));
        if !is_defined {
            return None;
        }
        let power = self.power_here(facts, &amount);
        match op {
            Op::ShiftLeftLogical => base.number.times(&power),
            Op::ShiftRightLogical => {
                let number = self.reading(facts, base, false);
                self.atoms.quotient(&number, &power)
            }
            _ => {
                let number = self.reading(facts, base, true);
                self.atoms.quotient(&number, &power)
            }
        }
    }

    /// 2 to the power of a number that is from 0 to 63 at this place.
    fn power_here(&mut self, facts: &FactList, exponent: &Polynomial) -> Polynomial {
        if self.atoms.interval_of(exponent).is_closed() {
            return self.atoms.power_of_two(exponent);
        }
        let bounds = interval_at(&self.atoms, facts, exponent).meet(Interval::new(0, 63));
        if bounds.is_empty() {
            return self.atoms.power_of_two(exponent);
        }
        // The number as a symbol of its own, whose interval is that of this place.
        let symbol = self.atoms.new_symbol("", bounds, Origin::Known);
        self.atoms.add_sources(symbol, exponent);
        let own = Polynomial::atom(symbol);
        for difference in [own.minus(exponent), exponent.minus(&own)].into_iter().flatten() {
            self.atoms.add_fact(symbol, difference);
        }
        self.atoms.power_of_two(&own)
    }

    /// OpBitwiseAnd with a constant; else what the lesser of two natural numbers bounds.
    pub(super) fn masked(
        &mut self,
        facts: &FactList,
        left: &Word,
        right: &Word,
    ) -> Option<Polynomial> {
        let (number, mask) = match (left.number.number(), right.number.number()) {
            (_, Some(mask)) => (&left.number, Some(mask)),
            (Some(mask), None) => (&right.number, Some(mask)),
            (None, None) => (&left.number, None),
        };
        let modulus = 1i128 << left.width;
        if let Some(mask) = mask {
            let mask = mask.rem_euclid(modulus);
            // Low bits: the remainder, which no wrapping changes.
            if (mask + 1).count_ones() == 1 && mask + 1 < modulus {
                return self.atoms.remainder(number, &Polynomial::constant(mask + 1));
            }
            let low_bits = modulus - mask;
            if mask != 0 && low_bits.count_ones() == 1 {
                let remainder = self.atoms.remainder(number, &Polynomial::constant(low_bits))?;
                return number.minus(&remainder);
            }
            return Some(self.bounded_symbol(Interval::new(0, mask), &[number]));
        }
        let left = self.reading(facts, left, false);
        let right = self.reading(facts, right, false);
        let greatest = interval_at(&self.atoms, facts, &left)
            .high
            .min(interval_at(&self.atoms, facts, &right).high)
            .max(0);
        let result = self.bounded_symbol(Interval::new(0, greatest), &[&left, &right]);
        let symbol = result.single_atom()?;
        for operand in [left, right] {
            self.atoms.add_fact(symbol, operand.minus(&result)?);
        }
        Some(result)
    }

    /// OpBitwiseOr and OpBitwiseXor: no more bits than the longer operand.
    pub(super) fn combined_bits(&mut self, facts: &FactList, words: &[Word]) -> Option<Polynomial> {
        let left = self.reading(facts, words.first()?, false);
        let right = self.reading(facts, words.get(1)?, false);
        let greatest = interval_at(&self.atoms, facts, &left)
            .high
            .max(interval_at(&self.atoms, facts, &right).high)
            .max(0);
        let bit_count = 128 - greatest.leading_zeros();
        let interval = Interval::new(0, (1i128 << bit_count.min(64)) - 1);
        Some(self.bounded_symbol(interval, &[&left, &right]))
    }

    /// OpBitFieldUExtract, whose offset and count are read without sign; none where they may reach
    /// beyond the base.
    pub(super) fn extracted_bits(
        &mut self,
        facts: &FactList,
        words: &[Word],
    ) -> Option<Polynomial> {
        let base = words.first()?;
        let offset = self.reading(facts, words.get(1)?, false);
        let count = self.reading(facts, words.get(2)?, false);
        let room = Polynomial::constant(i128::from(base.width)).minus(&offset)?.minus(&count)?;
        if !self.is_at_least_zero(facts, &room) {
            return None;
        }
        let most_bits = interval_at(&self.atoms, facts, &count).high.min(i128::from(base.width));
        let interval = Interval::new(0, (1i128 << most_bits.max(0)) - 1);
        Some(self.bounded_symbol(interval, &[&base.number, &offset, &count]))
    }
}
