//! Integer arithmetic and comparisons.
//!
//! Knows: words of any width. Sums, differences and products are polynomials modulo 2 to the power
//! of the width, which wrapping does not change; what compares, divides or shifts right needs the
//! number itself, which is read only where it is proved to be in range.
//! Promises: a result that no rule gives is a number of which only the type is known.

use super::Walk;
use super::atom::{Alternative, AtomKind, Origin};
use super::condition::Condition;
use super::fact::{Fact, FactList};
use super::interval::Interval;
use super::polynomial::Polynomial;
use super::proof::{Effort, interval_at, is_at_least_zero};
use super::state::{State, WordType};
use super::value::Value;
use super::walk::Frame;
use crate::module::{Id, Instruction};
use crate::types::Type;
use rspirv::spirv::{GlslStd450Op, Op};
use std::rc::Rc;

impl Walk<'_> {
    /// A proof on the way, with little effort.
    pub(super) fn is_at_least_zero(&mut self, facts: &FactList, goal: &Polynomial) -> bool {
        is_at_least_zero(&self.atoms, facts, goal, Effort::Small, &mut self.proof_work)
    }

    /// The number that a word is read as: the polynomial itself or one that differs by a multiple
    /// of 2 to the power of the width, where it is proved to be in range; else an atom.
    pub(super) fn reading_of(
        &mut self,
        facts: &FactList,
        number: &Rc<Polynomial>,
        word: WordType,
    ) -> Polynomial {
        let range = word.interval();
        let interval = self.atoms.interval_of(number);
        if range.contains(interval) {
            return (**number).clone();
        }
        if interval.is_closed() {
            let modulus = 1i128 << word.width;
            let windows = (interval.low - range.low).div_euclid(modulus);
            let shifted = number.plus_number(-windows * modulus);
            if range.contains(self.atoms.interval_of(&shifted)) {
                return shifted;
            }
        }
        if self.is_within(facts, number, range) {
            return (**number).clone();
        }
        self.atoms.reading(number, word.width, word.is_signed)
    }

    /// Whether a number is proved to be within an interval.
    fn is_within(&mut self, facts: &FactList, number: &Polynomial, range: Interval) -> bool {
        if range.contains(interval_at(&self.atoms, facts, number)) {
            return true;
        }
        let kind = number.single_atom().map(|atom| self.atoms.kind(atom).clone());
        if let Some(AtomKind::Minimum(left, right) | AtomKind::Maximum(left, right)) = kind {
            return self.is_within(facts, &left, range) && self.is_within(facts, &right, range);
        }
        self.is_at_least_zero(facts, &number.plus_number(-range.low))
            && self.is_at_least_zero(facts, &number.negated().plus_number(range.high))
    }

    /// The result of an instruction without memory, component by component.
    pub(super) fn computed(
        &mut self,
        frame: &Frame,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
    ) -> Value {
        let operand_ids: Vec<Id> = match instruction.op {
            Op::ExtInst => instruction.ids().skip(1).collect(),
            _ => instruction.ids().collect(),
        };
        let mut operands = Vec::new();
        for id in operand_ids {
            operands.push((self.value_of(frame, id), self.type_of(id).unwrap_or(0)));
        }
        if matches!(instruction.op, Op::Any | Op::All) {
            return self.reduced(instruction.op, &operands);
        }
        let Some(Type::Vector { component, count }) = self.types.get(type_id).cloned() else {
            return self.computed_scalar(state, instruction, type_id, &operands);
        };
        let mut parts = Vec::new();
        for position in 0..count {
            let mut part_operands = Vec::new();
            for (value, operand_type) in &operands {
                part_operands.push(match self.types.get(*operand_type).cloned() {
                    Some(Type::Vector { component, .. }) => {
                        (self.part_of(value, component, position), component)
                    }
                    _ => (value.clone(), *operand_type),
                });
            }
            parts.push(self.computed_scalar(state, instruction, component, &part_operands));
        }
        Value::Composite(Rc::new(parts))
    }

    /// OpAny and OpAll.
    fn reduced(&mut self, op: Op, operands: &[(Value, Id)]) -> Value {
        let parts: Option<Vec<Rc<Condition>>> = match operands.first() {
            Some((Value::Composite(parts), _)) => {
                parts.iter().map(|part| condition_of(part).cloned()).collect()
            }
            Some(_) | None => None,
        };
        let condition = match (parts, op) {
            (Some(parts), Op::Any) => Condition::any(parts),
            (Some(parts), _) => Condition::all(parts),
            (None, _) => None,
        };
        Value::Boolean(Rc::new(match condition {
            Some(condition) => condition,
            None => self.unknown_condition(&Origin::Variable),
        }))
    }

    fn computed_scalar(
        &mut self,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
        operands: &[(Value, Id)],
    ) -> Value {
        let origin = self.result_origin(instruction, operands);
        let known = match self.types.get(type_id) {
            Some(Type::Bool) => self.truth(state, instruction.op, operands),
            Some(Type::Int { .. }) => self.integer_result(state, instruction, type_id, operands),
            _ => return self.fresh_value(type_id, &origin),
        };
        known.unwrap_or_else(|| self.fresh_value(type_id, &origin))
    }

    /// What a result without a rule is told to come from.
    fn result_origin(&self, instruction: &Instruction, operands: &[(Value, Id)]) -> Origin {
        let is_float = |type_id: &Id| {
            let scalar = self.types.scalar_of(*type_id).and_then(|id| self.types.get(id));
            matches!(scalar, Some(Type::Float { .. } | Type::BFloat16))
        };
        match operands.iter().any(|(_, type_id)| is_float(type_id)) {
            true => Origin::FloatingPoint,
            false => Origin::Instruction(format!("Op{:?}", instruction.op)),
        }
    }

    fn truth(&mut self, state: &State, op: Op, operands: &[(Value, Id)]) -> Option<Value> {
        let condition = match op {
            Op::LogicalNot => condition_of(&operands.first()?.0)?.negated(),
            Op::LogicalAnd | Op::LogicalOr => {
                let parts = vec![
                    condition_of(&operands.first()?.0)?.clone(),
                    condition_of(&operands.get(1)?.0)?.clone(),
                ];
                Rc::new(match op {
                    Op::LogicalAnd => Condition::all(parts)?,
                    _ => Condition::any(parts)?,
                })
            }
            Op::IEqual | Op::INotEqual => Rc::new(self.equality(state, op, operands)?),
            _ => Rc::new(self.order(state, op, operands)?),
        };
        Some(Value::Boolean(condition))
    }

    fn equality(&mut self, state: &State, op: Op, operands: &[(Value, Id)]) -> Option<Condition> {
        let word = self.word_type(operands.first()?.1)?;
        let (left, right) = self.two_readings(state, operands, word)?;
        let difference = left.minus(&right)?;
        let interval = self.atoms.interval_of(&difference);
        let is_equal = op == Op::IEqual;
        if interval == Interval::of_number(0) {
            return Some(Condition::Known(is_equal));
        }
        if interval.low > 0 || interval.high < 0 {
            return Some(Condition::Known(!is_equal));
        }
        Some(match is_equal {
            true => Condition::Zero(difference),
            false => Condition::NonZero(difference),
        })
    }

    fn two_readings(
        &mut self,
        state: &State,
        operands: &[(Value, Id)],
        word: WordType,
    ) -> Option<(Polynomial, Polynomial)> {
        let (left, right) = (operands.first()?, operands.get(1)?);
        let left = self.integer_of(&left.0, left.1);
        let right = self.integer_of(&right.0, right.1);
        Some((
            self.reading_of(&state.facts, &left, word),
            self.reading_of(&state.facts, &right, word),
        ))
    }

    fn order(&mut self, state: &State, op: Op, operands: &[(Value, Id)]) -> Option<Condition> {
        let is_signed = match op {
            Op::ULessThan | Op::ULessThanEqual | Op::UGreaterThan | Op::UGreaterThanEqual => false,
            Op::SLessThan | Op::SLessThanEqual | Op::SGreaterThan | Op::SGreaterThanEqual => true,
            _ => return None,
        };
        let width = self.word_type(operands.first()?.1)?.width;
        let (left, right) = self.two_readings(state, operands, WordType { width, is_signed })?;
        let difference = match op {
            Op::ULessThan | Op::SLessThan => right.minus(&left)?.plus_number(-1),
            Op::ULessThanEqual | Op::SLessThanEqual => right.minus(&left)?,
            Op::UGreaterThan | Op::SGreaterThan => left.minus(&right)?.plus_number(-1),
            _ => left.minus(&right)?,
        };
        let interval = self.atoms.interval_of(&difference);
        Some(match (interval.low >= 0, interval.high < 0) {
            (true, _) => Condition::Known(true),
            (_, true) => Condition::Known(false),
            (false, false) => Condition::AtLeastZero(difference),
        })
    }

    fn integer_result(
        &mut self,
        state: &State,
        instruction: &Instruction,
        type_id: Id,
        operands: &[(Value, Id)],
    ) -> Option<Value> {
        let word = self.word_type(type_id)?;
        if instruction.op == Op::Select {
            return self.selected(state, operands, word);
        }
        let mut numbers = Vec::new();
        for (value, operand_type) in operands {
            self.word_type(*operand_type)?;
            numbers.push(self.integer_of(value, *operand_type));
        }
        let operand_word = self.word_type(operands.first()?.1)?;
        let place = Place { state, operand_word };
        let result = match instruction.op {
            Op::ExtInst => self.extended(&place, instruction, &numbers)?,
            Op::IAdd => numbers.first()?.plus(numbers.get(1)?)?,
            Op::ISub => numbers.first()?.minus(numbers.get(1)?)?,
            Op::IMul => numbers.first()?.times(numbers.get(1)?)?,
            Op::SNegate => numbers.first()?.negated(),
            Op::Not => numbers.first()?.negated().plus_number(-1),
            Op::Bitcast if operand_word.width == word.width => (**numbers.first()?).clone(),
            Op::UConvert => self.reading(&place, numbers.first()?, false),
            Op::SConvert => self.reading(&place, numbers.first()?, true),
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
                self.divided(&place, instruction.op, &numbers)?
            }
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                self.shifted(&place, instruction.op, &numbers)?
            }
            Op::BitwiseAnd => self.masked(&place, numbers.first()?, numbers.get(1)?)?,
            Op::BitwiseOr | Op::BitwiseXor => self.combined_bits(&place, &numbers)?,
            Op::BitFieldUExtract => self.extracted_bits(&place, &numbers)?,
            Op::BitCount => self.bounded_symbol(Interval::new(0, i128::from(operand_word.width))),
            Op::BitReverse => self.bounded_symbol(word.interval()),
            _ => return None,
        };
        Some(Value::integer(result.as_word(word.width)))
    }

    /// A number of its own within an interval, computed of known ones.
    pub(super) fn bounded_symbol(&mut self, interval: Interval) -> Polynomial {
        let origin = Origin::Instruction("bit arithmetic".to_owned());
        Polynomial::atom(self.atoms.new_symbol("", interval, origin))
    }

    pub(super) fn reading(
        &mut self,
        place: &Place<'_>,
        number: &Rc<Polynomial>,
        is_signed: bool,
    ) -> Polynomial {
        let word = WordType { width: place.operand_word.width, is_signed };
        self.reading_of(&place.state.facts, number, word)
    }

    /// OpSelect of integers.
    fn selected(
        &mut self,
        state: &State,
        operands: &[(Value, Id)],
        word: WordType,
    ) -> Option<Value> {
        let condition = condition_of(&operands.first()?.0)?.clone();
        let mut alternatives = Vec::new();
        let mut interval: Option<Interval> = None;
        for (position, truth) in [(1, true), (2, false)] {
            let (value, operand_type) = operands.get(position)?;
            let number = self.integer_of(value, *operand_type);
            let Some(assumed) = self.assumed_state(state, &condition, truth) else { continue };
            let reading = self.reading_of(&assumed.facts, &number, word);
            let bounds = interval_at(&self.atoms, &assumed.facts, &reading);
            interval = Some(interval.map_or(bounds, |interval| interval.hull(bounds)));
            let facts: Vec<Fact> = assumed.facts.beyond(&state.facts);
            alternatives.push(Alternative { facts: Rc::new(facts), value: reading });
        }
        if let [only] = alternatives.as_slice() {
            return Some(Value::integer(only.value.as_word(word.width)));
        }
        let interval = interval?.meet(word.interval());
        let atom = self.atoms.new_joined(alternatives, interval);
        Some(Value::integer(Polynomial::atom(atom)))
    }

    /// Quotients and remainders. Of numbers that may be negative only the magnitude is known.
    fn divided(
        &mut self,
        place: &Place<'_>,
        op: Op,
        numbers: &[Rc<Polynomial>],
    ) -> Option<Polynomial> {
        let is_signed = matches!(op, Op::SDiv | Op::SRem | Op::SMod);
        let dividend = self.reading(place, numbers.first()?, is_signed);
        let divisor = self.reading(place, numbers.get(1)?, is_signed);
        let facts = &place.state.facts;
        let is_natural = !is_signed || self.is_at_least_zero(facts, &dividend);
        let is_positive = self.is_at_least_zero(facts, &divisor.plus_number(-1));
        if !is_positive {
            return None;
        }
        if !is_natural {
            let bounds = interval_at(&self.atoms, facts, &dividend);
            let magnitude = bounds.low.abs().max(bounds.high.abs());
            let of_divisor = interval_at(&self.atoms, facts, &divisor).high - 1;
            return Some(match op {
                Op::SDiv => self.bounded_symbol(Interval::new(-magnitude, magnitude)),
                Op::SRem => self.bounded_symbol(Interval::new(-of_divisor, of_divisor)),
                _ => self.bounded_symbol(Interval::new(0, of_divisor)),
            });
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
        if is_quotient {
            return Some(Polynomial::atom(quotient));
        }
        let remainder = self.atoms.new_symbol("", quotients, Origin::Known);
        let difference = rest.minus(&Polynomial::atom(remainder))?;
        self.atoms.add_fact(remainder, difference.negated());
        self.atoms.add_fact(remainder, difference);
        let below = divisor.minus(&Polynomial::atom(remainder))?.plus_number(-1);
        self.atoms.add_fact(remainder, below);
        Some(Polynomial::atom(remainder))
    }

    /// Instructions of GLSL.std.450.
    fn extended(
        &mut self,
        place: &Place<'_>,
        instruction: &Instruction,
        numbers: &[Rc<Polynomial>],
    ) -> Option<Polynomial> {
        if instruction.id(0) != self.glsl_set {
            return None;
        }
        let number = instruction.literal(1)?;
        let is = |op: GlslStd450Op| number == op as u32;
        let is_signed =
            is(GlslStd450Op::SMin) || is(GlslStd450Op::SMax) || is(GlslStd450Op::SClamp);
        if is(GlslStd450Op::FindILsb) || is(GlslStd450Op::FindSMsb) || is(GlslStd450Op::FindUMsb) {
            let highest = i128::from(place.operand_word.width) - 1;
            return Some(self.bounded_symbol(Interval::new(-1, highest)));
        }
        if is(GlslStd450Op::SAbs) {
            let reading = self.reading(place, numbers.first()?, true);
            return self.atoms.maximum(&reading, &reading.negated());
        }
        let first = self.reading(place, numbers.first()?, is_signed);
        let second = self.reading(place, numbers.get(1)?, is_signed);
        if is(GlslStd450Op::UMin) || is(GlslStd450Op::SMin) {
            return self.atoms.minimum(&first, &second);
        }
        if is(GlslStd450Op::UMax) || is(GlslStd450Op::SMax) {
            return self.atoms.maximum(&first, &second);
        }
        if is(GlslStd450Op::UClamp) || is(GlslStd450Op::SClamp) {
            let third = self.reading(place, numbers.get(2)?, is_signed);
            // Undefined where the least exceeds the greatest.
            let is_defined = self.is_at_least_zero(&place.state.facts, &third.minus(&second)?);
            if !is_defined {
                return None;
            }
            return self.clamped(place, &first, (&second, &third));
        }
        None
    }

    /// A number that is not below the least and not above the greatest.
    fn clamped(
        &mut self,
        place: &Place<'_>,
        number: &Polynomial,
        (least, greatest): (&Polynomial, &Polynomial),
    ) -> Option<Polynomial> {
        let facts = &place.state.facts;
        let low = interval_at(&self.atoms, facts, least).low;
        let high = interval_at(&self.atoms, facts, greatest).high;
        let ways = [
            (number, vec![number.minus(least)?, greatest.minus(number)?]),
            (least, vec![least.minus(number)?]),
            (greatest, vec![number.minus(greatest)?]),
        ];
        let alternatives = ways.into_iter().map(|(value, inequalities)| Alternative {
            facts: Rc::new(inequalities.into_iter().map(Fact::AtLeastZero).collect()),
            value: value.clone(),
        });
        let alternatives = alternatives.collect();
        let symbol = self.atoms.new_joined(alternatives, Interval::new(low, high));
        let result = Polynomial::atom(symbol);
        self.atoms.add_fact(symbol, result.minus(least)?);
        self.atoms.add_fact(symbol, greatest.minus(&result)?);
        Some(result)
    }
}

/// Where an integer instruction stands and what its operands are.
pub(super) struct Place<'a> {
    pub state: &'a State,
    pub operand_word: WordType,
}

fn condition_of(value: &Value) -> Option<&Rc<Condition>> {
    match value {
        Value::Boolean(condition) => Some(condition),
        Value::Integer(_)
        | Value::Composite(_)
        | Value::Pointer(_)
        | Value::Image(_)
        | Value::Unknown(_) => None,
    }
}
