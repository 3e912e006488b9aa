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
        for sum in self.atoms.readings_plus_rest(number, word.width) {
            if self.is_within(facts, &sum, range) {
                return sum;
            }
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
        known.unwrap_or_else(|| self.value_without_rule(type_id, &origin, operands))
    }

    /// A value of which nothing is known but what it depends on.
    fn value_without_rule(
        &mut self,
        type_id: Id,
        origin: &Origin,
        operands: &[(Value, Id)],
    ) -> Value {
        let value = self.fresh_value(type_id, origin);
        let Value::Integer(number) = &value else { return value };
        for (operand, operand_type) in operands {
            let source = self.integer_of(operand, *operand_type);
            for symbol in number.atoms() {
                self.atoms.add_sources(symbol, &source);
            }
        }
        value
    }

    /// What a result without a rule is told to come from.
    fn result_origin(&self, instruction: &Instruction, operands: &[(Value, Id)]) -> Origin {
        if let Some(name) = self.name_if_undefined(instruction) {
            return Origin::Undefined(name);
        }
        let is_float = |type_id: &Id| {
            let scalar = self.types.scalar_of(*type_id).and_then(|id| self.types.get(id));
            matches!(scalar, Some(Type::Float { .. } | Type::BFloat16))
        };
        if operands.iter().any(|(_, type_id)| is_float(type_id)) {
            return Origin::FloatingPoint;
        }
        Origin::Instruction(format!("Op{:?}", instruction.op))
    }

    /// The name of an instruction whose result is not defined for all operands.
    fn name_if_undefined(&self, instruction: &Instruction) -> Option<String> {
        match instruction.op {
            Op::UDiv
            | Op::SDiv
            | Op::UMod
            | Op::SMod
            | Op::SRem
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::BitFieldInsert
            | Op::BitFieldSExtract
            | Op::BitFieldUExtract
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::Undef => Some(format!("Op{:?}", instruction.op)),
            Op::ExtInst if instruction.id(0) == self.glsl_set => {
                let clamps = [GlslStd450Op::UClamp, GlslStd450Op::SClamp];
                let number = instruction.literal(1)?;
                let clamp = clamps.into_iter().find(|clamp| *clamp as u32 == number)?;
                Some(format!("{clamp:?}"))
            }
            _ => None,
        }
    }

    /// A truth value computed of operands; none where no rule gives it.
    pub(super) fn truth(
        &mut self,
        state: &State,
        op: Op,
        operands: &[(Value, Id)],
    ) -> Option<Value> {
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
        let mut words = Vec::new();
        for (value, operand_type) in operands {
            let width = self.word_type(*operand_type)?.width;
            words.push(Word { number: self.integer_of(value, *operand_type), width });
        }
        let facts = &state.facts;
        let first = words.first()?;
        let result = match instruction.op {
            Op::ExtInst => self.extended(facts, instruction, &words)?,
            Op::IAdd => first.number.plus(&words.get(1)?.number)?,
            Op::ISub => first.number.minus(&words.get(1)?.number)?,
            Op::IMul => first.number.times(&words.get(1)?.number)?,
            Op::SNegate => first.number.negated(),
            Op::Not => first.number.negated().plus_number(-1),
            Op::Bitcast if first.width == word.width => (*first.number).clone(),
            Op::UConvert => self.reading(facts, first, false),
            Op::SConvert => self.reading(facts, first, true),
            Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod => {
                self.divided(facts, instruction.op, &words)?
            }
            Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
                self.shifted(facts, instruction.op, &words)?
            }
            Op::BitwiseAnd => self.masked(facts, first, words.get(1)?)?,
            Op::BitwiseOr | Op::BitwiseXor => self.combined_bits(facts, &words)?,
            Op::BitFieldUExtract => self.extracted_bits(facts, &words)?,
            Op::BitCount => {
                let bit_counts = Interval::new(0, i128::from(first.width));
                self.bounded_symbol(bit_counts, &[&first.number])
            }
            Op::BitReverse => self.bounded_symbol(word.interval(), &[&first.number]),
            _ => return None,
        };
        Some(Value::integer(result.as_word(word.width)))
    }

    /// A number of its own within an interval, computed of others.
    pub(super) fn bounded_symbol(
        &mut self,
        interval: Interval,
        operands: &[&Polynomial],
    ) -> Polynomial {
        let origin = Origin::Instruction("bit arithmetic".to_owned());
        let symbol = self.atoms.new_symbol("", interval, origin);
        for operand in operands {
            self.atoms.add_sources(symbol, operand);
        }
        Polynomial::atom(symbol)
    }

    /// The number that an operand is read as.
    pub(super) fn reading(
        &mut self,
        facts: &FactList,
        operand: &Word,
        is_signed: bool,
    ) -> Polynomial {
        let word = WordType { width: operand.width, is_signed };
        self.reading_of(facts, &operand.number, word)
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

    /// Instructions of GLSL.std.450.
    fn extended(
        &mut self,
        facts: &FactList,
        instruction: &Instruction,
        words: &[Word],
    ) -> Option<Polynomial> {
        if instruction.id(0) != self.glsl_set {
            return None;
        }
        let number = instruction.literal(1)?;
        let is = |op: GlslStd450Op| number == op as u32;
        let is_signed =
            is(GlslStd450Op::SMin) || is(GlslStd450Op::SMax) || is(GlslStd450Op::SClamp);
        if is(GlslStd450Op::FindILsb) || is(GlslStd450Op::FindSMsb) || is(GlslStd450Op::FindUMsb) {
            let operand = words.first()?;
            let positions = Interval::new(-1, i128::from(operand.width) - 1);
            return Some(self.bounded_symbol(positions, &[&operand.number]));
        }
        if is(GlslStd450Op::SAbs) {
            let reading = self.reading(facts, words.first()?, true);
            return self.atoms.maximum(&reading, &reading.negated());
        }
        let first = self.reading(facts, words.first()?, is_signed);
        let second = self.reading(facts, words.get(1)?, is_signed);
        if is(GlslStd450Op::UMin) || is(GlslStd450Op::SMin) {
            return self.atoms.minimum(&first, &second);
        }
        if is(GlslStd450Op::UMax) || is(GlslStd450Op::SMax) {
            return self.atoms.maximum(&first, &second);
        }
        if is(GlslStd450Op::UClamp) || is(GlslStd450Op::SClamp) {
            let third = self.reading(facts, words.get(2)?, is_signed);
            // Undefined where the least exceeds the greatest.
            let is_defined = self.is_at_least_zero(facts, &third.minus(&second)?);
            if !is_defined {
                return None;
            }
            return self.clamped(facts, &first, (&second, &third));
        }
        None
    }

    /// A number that is not below the least and not above the greatest.
    fn clamped(
        &mut self,
        facts: &FactList,
        number: &Polynomial,
        (least, greatest): (&Polynomial, &Polynomial),
    ) -> Option<Polynomial> {
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

/// An integer operand: what it holds modulo 2 to the power of its own width.
pub(super) struct Word {
    pub number: Rc<Polynomial>,
    pub width: u32,
}

/// The truth value; none of other values.
pub(super) fn condition_of(value: &Value) -> Option<&Rc<Condition>> {
    match value {
        Value::Boolean(condition) => Some(condition),
        Value::Integer(_)
        | Value::Composite(_)
        | Value::Pointer(_)
        | Value::Image(_)
        | Value::Unknown(_) => None,
    }
}
