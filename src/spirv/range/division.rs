//! Quotients and remainders.
//!
//! Knows: divisors that are positive everywhere, or by the facts of a place.
//! Promises: a result only where the instruction is shown to be defined.
//! Does not cover: shifts (`bits`).

use super::Walk;
use super::arithmetic::Word;
use super::atom::Origin;
use super::fact::FactList;
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::interval_at;
use rspirv::spirv::Op;

impl Walk<'_> {
    /// Quotients and remainders; none where they are not shown to be defined. Of quotients of
    /// numbers that may be negative only the magnitude is known.
    pub(super) fn divided(
        &mut self,
        facts: &FactList,
        op: Op,
        words: &[Word],
    ) -> Option<Polynomial> {
        let is_signed = matches!(op, Op::SDiv | Op::SRem | Op::SMod);
        let dividend = self.reading(facts, words.first()?, is_signed);
        let divisor = self.reading(facts, words.get(1)?, is_signed);
        let is_natural = !is_signed || self.is_at_least_zero(facts, &dividend);
        let is_positive = self.is_at_least_zero(facts, &divisor.plus_number(-1));
        if !is_positive {
            return None;
        }
        if !is_natural {
            // A remainder of a negative operand is undefined (Vulkan, "Precision and Operation of
            // SPIR-V Instructions").
            let bounds = interval_at(&self.atoms, facts, &dividend);
            let magnitude = bounds.low.abs().max(bounds.high.abs());
            let quotients = Interval::new(-magnitude, magnitude);
            return (op == Op::SDiv)
                .then(|| self.bounded_symbol(quotients, &[&dividend, &divisor]));
        }
        let is_quotient = matches!(op, Op::UDiv | Op::SDiv);
        let defined = match is_quotient {
            true => self.atoms.quotient(&dividend, &divisor),
            false => self.atoms.remainder(&dividend, &divisor),
        };
        defined.or_else(|| self.divided_here(facts, &dividend, &divisor, is_quotient))
    }

    /// The quotient or the remainder of a divisor that is positive at this place alone.
    fn divided_here(
        &mut self,
        facts: &FactList,
        dividend: &Polynomial,
        divisor: &Polynomial,
        is_quotient: bool,
    ) -> Option<Polynomial> {
        let bounds = interval_at(&self.atoms, facts, dividend);
        let quotients = Interval::new(0, bounds.high.max(0));
        let quotient = self.atoms.new_symbol("", quotients, Origin::Known);
        let product = divisor.times(&Polynomial::atom(quotient))?;
        let rest = dividend.minus(&product)?;
        self.atoms.add_fact(quotient, divisor.minus(&rest)?.plus_number(-1));
        self.atoms.add_fact(quotient, rest.clone());
        self.atoms.add_sources(quotient, dividend);
        self.atoms.add_sources(quotient, divisor);
        if is_quotient {
            return Some(Polynomial::atom(quotient));
        }
        let remainder = self.atoms.new_symbol("", quotients, Origin::Known);
        self.atoms.add_sources(remainder, dividend);
        self.atoms.add_sources(remainder, divisor);
        let difference = rest.minus(&Polynomial::atom(remainder))?;
        self.atoms.add_fact(remainder, difference.negated());
        self.atoms.add_fact(remainder, difference);
        let below = divisor.minus(&Polynomial::atom(remainder))?.plus_number(-1);
        self.atoms.add_fact(remainder, below);
        Some(Polynomial::atom(remainder))
    }
}
