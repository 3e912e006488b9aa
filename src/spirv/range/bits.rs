//! Shifts and bit operations on integers.
//!
//! Knows: shifts as products and quotients by powers of two, masks of low and of high bits as
//! remainders.
//! Promises: of all other bits only how many there can be is known.

use super::Walk;
use super::arithmetic::Place;
use super::atom::Origin;
use super::fact::FactList;
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::interval_at;
use rspirv::spirv::Op;
use std::rc::Rc;

impl Walk<'_> {
    pub(super) fn shifted(
        &mut self,
        place: &Place<'_>,
        op: Op,
        numbers: &[Rc<Polynomial>],
    ) -> Option<Polynomial> {
        // The amount is read without sign (SPIR-V specification, "Bit Instructions").
        let facts = &place.state.facts;
        let amount = self.reading(place, numbers.get(1)?, false);
        let greatest = i128::from(place.operand_word.width) - 1;
        let is_defined = self.is_at_least_zero(facts, &amount)
            && self.is_at_least_zero(facts, &amount.negated().plus_number(greatest));
        if !is_defined {
            return None;
        }
        let power = self.power_here(facts, &amount);
        match op {
            Op::ShiftLeftLogical => numbers.first()?.times(&power),
            Op::ShiftRightLogical => {
                let number = self.reading(place, numbers.first()?, false);
                self.atoms.quotient(&number, &power)
            }
            _ => {
                let number = self.reading(place, numbers.first()?, true);
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
        let own = Polynomial::atom(symbol);
        for difference in [own.minus(exponent), exponent.minus(&own)].into_iter().flatten() {
            self.atoms.add_fact(symbol, difference);
        }
        self.atoms.power_of_two(&own)
    }

    /// OpBitwiseAnd with a constant; else what the lesser of two natural numbers bounds.
    pub(super) fn masked(
        &mut self,
        place: &Place<'_>,
        left: &Rc<Polynomial>,
        right: &Rc<Polynomial>,
    ) -> Option<Polynomial> {
        let (number, mask) = match (left.number(), right.number()) {
            (_, Some(mask)) => (left, Some(mask)),
            (Some(mask), None) => (right, Some(mask)),
            (None, None) => (left, None),
        };
        let modulus = 1i128 << place.operand_word.width;
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
            return Some(self.bounded_symbol(Interval::new(0, mask)));
        }
        let left = self.reading(place, left, false);
        let right = self.reading(place, right, false);
        let bounds = |walk: &Self, number: &Polynomial| {
            interval_at(&walk.atoms, &place.state.facts, number).high
        };
        let greatest = bounds(self, &left).min(bounds(self, &right)).max(0);
        let result = self.bounded_symbol(Interval::new(0, greatest));
        let symbol = result.single_atom()?;
        for operand in [left, right] {
            self.atoms.add_fact(symbol, operand.minus(&result)?);
        }
        Some(result)
    }

    /// OpBitwiseOr and OpBitwiseXor: no more bits than the longer operand.
    pub(super) fn combined_bits(
        &mut self,
        place: &Place<'_>,
        numbers: &[Rc<Polynomial>],
    ) -> Option<Polynomial> {
        let left = self.reading(place, numbers.first()?, false);
        let right = self.reading(place, numbers.get(1)?, false);
        let facts = &place.state.facts;
        let greatest = interval_at(&self.atoms, facts, &left)
            .high
            .max(interval_at(&self.atoms, facts, &right).high)
            .max(0);
        let bit_count = 128 - greatest.leading_zeros();
        Some(self.bounded_symbol(Interval::new(0, (1i128 << bit_count.min(64)) - 1)))
    }

    pub(super) fn extracted_bits(
        &mut self,
        place: &Place<'_>,
        numbers: &[Rc<Polynomial>],
    ) -> Option<Polynomial> {
        let facts = &place.state.facts;
        let count = interval_at(&self.atoms, facts, numbers.get(2)?);
        let width = i128::from(place.operand_word.width);
        let is_defined = count.low >= 0 && count.high <= width;
        is_defined.then(|| self.bounded_symbol(Interval::new(0, (1i128 << count.high) - 1)))
    }
}
