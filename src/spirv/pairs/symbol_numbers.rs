//! Which numbers the symbols of two accesses can stand for.
//!
//! Knows: what the host hands over, what variables and phis can hold, and the comparisons that
//! hold wherever an access is executed.
//! Promises: a symbol never stands for a number outside of its range while both accesses are made.
//! Does not cover: comparisons with sign, and of sums.

use super::expression::{AccessExpressions, Condition, Expression, Expressions};
use super::held_numbers::{PossibleNumbers, held_numbers};
use super::host_ranges::TermRanges;
use super::sum::{Factor, WordRange};
use super::word::Symbol;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of the symbols of two accesses.
pub(super) struct SymbolNumbers {
    /// Of symbols that stand for one value on both sides.
    common: BTreeMap<Symbol, PossibleNumbers>,
    /// By side: of what variables and phis hold that each invocation has for itself.
    own: [BTreeMap<Symbol, PossibleNumbers>; 2],
    /// By side: the comparisons by which it is bounded.
    pub bounds: [Vec<Bound>; 2],
}

/// A number that is lower than another one.
pub(super) struct Bound {
    pub lower: Expression,
    pub upper: Expression,
    /// By how much they differ at least.
    pub gap: u32,
}

/// All symbols of an access.
pub(super) fn symbols_of(side: &AccessExpressions) -> BTreeSet<Symbol> {
    let mut symbols = BTreeSet::new();
    side.indices.iter().for_each(|index| index.add_symbols(&mut symbols));
    side.conditions.iter().for_each(|condition| condition.add_symbols(&mut symbols));
    symbols
}

impl SymbolNumbers {
    /// What the host, the stores to variables and conditions leave of symbols: of common ones the
    /// conditions of both accesses, of what each invocation has for itself those of its own.
    pub(super) fn of_sides(
        sides: &[AccessExpressions; 2],
        common: &BTreeSet<Symbol>,
        terms: &TermRanges<'_>,
        expressions: &Expressions<'_>,
    ) -> Self {
        let numbers_of = |symbol: &Symbol| match symbol {
            Symbol::Term(term) => PossibleNumbers::of_range(terms.of_term(*term)),
            Symbol::Held(held) => held_numbers(expressions, *held),
        };
        let own = sides.each_ref().map(|side| {
            let symbols = symbols_of(side);
            symbols.difference(common).map(|symbol| (*symbol, numbers_of(symbol))).collect()
        });
        let bounds = sides.each_ref().map(bounds_of_side);
        let common = common.iter().map(|symbol| (*symbol, numbers_of(symbol))).collect();
        let mut numbers = Self { common, own, bounds };
        // A bound may follow from another one: `stage < stages` and `stages <= 5`.
        for side in [0, 1].into_iter().cycle().take(8) {
            let bounds = numbers.bounds[side].iter();
            let ranges: Vec<_> = bounds.flat_map(|bound| numbers.ranges_by(bound, side)).collect();
            ranges.into_iter().for_each(|(symbol, range)| numbers.narrow(symbol, range, side));
        }
        numbers
    }

    /// What a bound leaves of the symbols on its two sides.
    fn ranges_by(&self, bound: &Bound, side: usize) -> [(Option<Symbol>, WordRange); 2] {
        let Bound { lower, upper, gap } = bound;
        let high = self.range(upper, side).high.saturating_sub(*gap);
        let low = self.range(lower, side).low.saturating_add(*gap);
        [
            (symbol_of(lower), WordRange { low: 0, high }),
            (symbol_of(upper), WordRange { low, high: u32::MAX }),
        ]
    }

    fn narrow(&mut self, symbol: Option<Symbol>, range: WordRange, side: usize) {
        let Some(symbol) = symbol else { return };
        let common = self.common.get_mut(&symbol);
        if let Some(numbers) = common.or_else(|| self.own[side].get_mut(&symbol)) {
            numbers.lowest = numbers.lowest.max(range.low);
            numbers.highest = numbers.highest.min(range.high);
        }
    }

    /// The numbers that an expression of a side can be.
    fn range(&self, expression: &Expression, side: usize) -> WordRange {
        if let Expression::Form(form) = expression
            && let Some(value) = form.constant_value()
        {
            return WordRange { low: value, high: value };
        }
        symbol_of(expression).map_or(WordRange::ANY, |symbol| self.range_of(symbol, side))
    }

    fn range_of(&self, symbol: Symbol, side: usize) -> WordRange {
        let numbers = self.common.get(&symbol).or_else(|| self.own[side].get(&symbol));
        numbers.map_or(WordRange::ANY, PossibleNumbers::range)
    }

    pub(super) fn range_of_factor(&self, factor: Factor) -> WordRange {
        match factor {
            Factor::Common(symbol) => self.range_of(symbol, 0),
            Factor::Own { side, held, .. } => self.range_of(Symbol::Held(held), side),
        }
    }

    pub(super) fn is_common(&self, symbol: Symbol) -> bool {
        self.common.contains_key(&symbol)
    }

    /// All numbers of a common symbol, where they are few.
    pub(super) fn listed(&self, symbol: Symbol) -> Option<Vec<u32>> {
        self.common.get(&symbol).and_then(PossibleNumbers::numbers)
    }

    /// Whether a common symbol can stand for a number.
    pub(super) fn include(&self, symbol: Symbol, number: u32) -> bool {
        self.common.get(&symbol).is_none_or(|numbers| numbers.include(number))
    }
}

/// The unsigned comparisons that hold wherever an access is executed.
fn bounds_of_side(side: &AccessExpressions) -> Vec<Bound> {
    let mut bounds = Vec::new();
    side.conditions.iter().for_each(|condition| add_bounds(condition, &mut bounds));
    bounds
}

fn add_bounds(condition: &Condition, bounds: &mut Vec<Bound>) {
    match condition {
        Condition::Comparison(op, sides, wanted) => {
            bounds.extend(ordered_sides(*op, sides, *wanted).map(|(lower, upper, gap)| Bound {
                lower: lower.clone(),
                upper: upper.clone(),
                gap,
            }));
        }
        Condition::All(parts) => parts.iter().for_each(|part| add_bounds(part, bounds)),
        Condition::Any(_) | Condition::Unknown => {}
    }
}

/// Of an unsigned comparison: the side that is the lower one, the upper one, and by how much they
/// differ at least.
fn ordered_sides(
    op: Op,
    [left, right]: &[Expression; 2],
    is_true: bool,
) -> Option<(&Expression, &Expression, u32)> {
    match (op, is_true) {
        (Op::ULessThan, true) | (Op::UGreaterThanEqual, false) => Some((left, right, 1)),
        (Op::ULessThanEqual, true) | (Op::UGreaterThan, false) => Some((left, right, 0)),
        (Op::UGreaterThan, true) | (Op::ULessThanEqual, false) => Some((right, left, 1)),
        (Op::UGreaterThanEqual, true) | (Op::ULessThan, false) => Some((right, left, 0)),
        _ => None,
    }
}

/// The symbol that an expression is.
fn symbol_of(expression: &Expression) -> Option<Symbol> {
    match expression {
        Expression::Held(held, _) => Some(Symbol::Held(*held)),
        Expression::Form(form) => form.only_term().map(Symbol::Term),
        Expression::LowBits(_) | Expression::Operation(..) | Expression::Unknown => None,
    }
}
