//! Numbers that a variable or a phi can hold.
//!
//! Knows: constants, and what operations with a constant make of the number that is held (`reach /=
//! 2u`), as often as one likes; quotients, remainders and masks by constants, which have a bound.
//! Promises: a number that is not told is never held, but for what a variable holds that nobody has
//! stored to. Does not cover: what conditions exclude.

use super::expression::{Condition, Expression, Expressions};
use super::sum::WordRange;
use super::word::{comparison, folded};
use crate::module::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeSet;

/// Most numbers that are listed.
const MOST_LISTED: usize = 64;

/// Most stores to a variable that are looked at.
pub(super) const MOST_STORES: usize = 8;

/// Deepest chain of variables that a bound is followed through.
const MAX_DEPTH: usize = 8;

/// Numbers that a symbol can stand for.
#[derive(Debug, Clone)]
pub(super) struct PossibleNumbers {
    pub lowest: u32,
    pub highest: u32,
    /// All of them, where they are few.
    listed: Option<BTreeSet<u32>>,
}

impl PossibleNumbers {
    pub(super) fn any() -> Self {
        Self::of_range(WordRange::ANY)
    }

    pub(super) fn of_range(WordRange { low, high }: WordRange) -> Self {
        Self { lowest: low, highest: high, listed: None }
    }

    pub(super) fn range(&self) -> WordRange {
        WordRange { low: self.lowest, high: self.highest }
    }

    pub(super) fn include(&self, number: u32) -> bool {
        (self.lowest..=self.highest).contains(&number)
            && self.listed.as_ref().is_none_or(|all| all.contains(&number))
    }

    /// All of them; none where they are many.
    pub(super) fn numbers(&self) -> Option<Vec<u32>> {
        match &self.listed {
            Some(listed) => {
                Some(listed.iter().copied().filter(|number| self.include(*number)).collect())
            }
            None if (self.highest.saturating_sub(self.lowest) as usize) < MOST_LISTED => {
                Some((self.lowest..=self.highest).collect())
            }
            None => None,
        }
    }
}

/// Where a number comes from that is held.
enum NumberSource {
    Constant(u32),
    /// An operation on the number that was held before, with a constant.
    Step(Step),
    /// Something that is not higher.
    Bounded(u32),
}

struct Step {
    op: Op,
    operand: u32,
    /// Comparisons of the number that was held with a constant, and their results, without which no
    /// step is made.
    limits: Vec<(Op, u32, bool)>,
}

impl Step {
    fn is_made_from(&self, number: u32) -> bool {
        self.limits.iter().all(|(op, limit, wanted)| {
            comparison(*op, number, *limit).is_none_or(|result| result == *wanted)
        })
    }
}

/// The numbers that a variable or phi can hold.
pub(super) fn held_numbers(expressions: &Expressions<'_>, held: Id) -> PossibleNumbers {
    let Some(sources) = sources_of(expressions, held) else { return PossibleNumbers::any() };
    if let Some(listed) = listed_numbers(&sources) {
        let highest = listed.last().copied().unwrap_or(0);
        return PossibleNumbers { lowest: 0, highest, listed: Some(listed) };
    }
    let bounds = sources.iter().map(|source| match source {
        NumberSource::Constant(number) | NumberSource::Bounded(number) => *number,
        NumberSource::Step(step) if never_grows(step.op) => 0,
        NumberSource::Step(..) => u32::MAX,
    });
    let high = bounds.max().unwrap_or(u32::MAX);
    PossibleNumbers::of_range(WordRange { low: 0, high })
}

/// What is stored to a variable, or what a phi joins.
fn sources_of(expressions: &Expressions<'_>, held: Id) -> Option<Vec<NumberSource>> {
    if let Some(stores) = expressions.stores_of(held) {
        if stores.len() > MOST_STORES {
            return None;
        }
        let sources = stores.iter().map(|store| {
            limited_step(expressions, held, *store)
                .or_else(|| source_of(expressions, held, expressions.stored_value(*store)?))
        });
        return sources.collect();
    }
    let phi = expressions.definition(held).filter(|definition| definition.op == Op::Phi)?;
    let values = phi.operands.iter().step_by(2).map(Operand::id_ref_any);
    values.map(|value| source_of(expressions, held, value?)).collect()
}

/// A step that is made from what the variable holds where the store is executed.
fn limited_step(expressions: &Expressions<'_>, held: Id, store: usize) -> Option<NumberSource> {
    let (value, conditions) = expressions.of_store(store)?;
    let Expression::Operation(op, operands) = value else { return None };
    let [Expression::Held(variable, _), Expression::Form(operand)] = &operands[..] else {
        return None;
    };
    let operand = operand.constant_value().filter(|_| *variable == held)?;
    let mut limits = Vec::new();
    conditions.iter().for_each(|condition| add_limits(condition, held, &mut limits));
    Some(NumberSource::Step(Step { op, operand, limits }))
}

fn add_limits(condition: &Condition, held: Id, limits: &mut Vec<(Op, u32, bool)>) {
    match condition {
        Condition::Comparison(
            op,
            [Expression::Held(variable, _), Expression::Form(form)],
            wanted,
        ) if *variable == held => {
            limits.extend(form.constant_value().map(|limit| (*op, limit, *wanted)));
        }
        Condition::All(parts) => parts.iter().for_each(|part| add_limits(part, held, limits)),
        Condition::Comparison(..) | Condition::Any(_) | Condition::Unknown => {}
    }
}

fn source_of(expressions: &Expressions<'_>, held: Id, value: Id) -> Option<NumberSource> {
    if let Some(constant) = expressions.constant(value) {
        return Some(NumberSource::Constant(constant));
    }
    let definition = expressions.definition(value)?;
    let is_held = |operand: Id| {
        let load = expressions.definition(operand).filter(|load| load.op == Op::Load);
        operand == held || load.is_some_and(|load| load.id(0) == Some(held))
    };
    if let (Some(operand), Some(number)) =
        (definition.id(0), constant_operand(expressions, definition))
        && is_held(operand)
        && folded(definition.op, 1, 1).is_some()
    {
        let step = Step { op: definition.op, operand: number, limits: Vec::new() };
        return Some(NumberSource::Step(step));
    }
    bound_of(expressions, value, MAX_DEPTH).map(NumberSource::Bounded)
}

fn constant_operand(expressions: &Expressions<'_>, operation: &Instruction) -> Option<u32> {
    expressions.constant(operation.id(1)?)
}

/// All numbers that are held, where each source is known and they are few.
fn listed_numbers(sources: &[NumberSource]) -> Option<BTreeSet<u32>> {
    let mut pending = Vec::new();
    let mut steps = Vec::new();
    for source in sources {
        match source {
            NumberSource::Constant(number) => pending.push(*number),
            NumberSource::Step(step) => steps.push(step),
            NumberSource::Bounded(_) => return None,
        }
    }
    let mut numbers = BTreeSet::new();
    while let Some(number) = pending.pop() {
        if !numbers.insert(number) {
            continue;
        }
        if numbers.len() > MOST_LISTED {
            return None;
        }
        for step in steps.iter().filter(|step| step.is_made_from(number)) {
            pending.push(folded(step.op, number, step.operand)?);
        }
    }
    (!numbers.is_empty()).then_some(numbers)
}

fn never_grows(op: Op) -> bool {
    matches!(op, Op::UDiv | Op::UMod | Op::ShiftRightLogical | Op::BitwiseAnd)
}

/// A number that a value is not above.
fn bound_of(expressions: &Expressions<'_>, value: Id, depth: usize) -> Option<u32> {
    let definition = expressions.definition(value).filter(|_| depth > 0)?;
    let operand = constant_operand(expressions, definition);
    match (definition.op, operand) {
        (Op::UDiv, Some(divisor)) => u32::MAX.checked_div(divisor),
        (Op::UMod, Some(divisor)) => divisor.checked_sub(1),
        (Op::ShiftRightLogical, Some(count)) => u32::MAX.checked_shr(count),
        (Op::BitwiseAnd, Some(mask)) => Some(mask),
        (Op::Load, _) => match expressions.stores_of(definition.id(0)?)? {
            [store] => bound_of(expressions, expressions.stored_value(*store)?, depth - 1),
            _ => None,
        },
        _ => None,
    }
}
