//! Whether different invocations of a workgroup can come to one element, or texel, between the same
//! barriers.
//!
//! Knows: the indices and the dominating conditions of two accesses (`expression`); which variables
//! have one value for all invocations of a workgroup between two barriers; the values that a
//! counter can have which is halved or doubled, and those that the host can hand over.
//! Promises: accesses that are said to be apart are never made to one element by two invocations
//! between the same two barriers, provided that all barriers are reached alike, that no variable is
//! used before it has a value and that indices lie within their arrays. Beyond a limit of work
//! nothing is said.
//! Does not cover: texels of arrays of images; how host values depend on each other.

use super::KernelPairs;
use super::access::SharedAccess;
use super::checks::OrderContext;
use super::expression::{AccessExpressions, Condition, Expression};
use super::held_numbers::MOST_STORES;
use super::intervals::FollowedWays;
use super::node_set::NodeSet;
use super::object::{PathRelation, PathStep};
use super::sum::{Sum, Zeros};
use super::symbol_numbers::{Bound, SymbolNumbers, symbols_of};
use super::word::{Symbol, Word, comparison};
use crate::memory_semantics::MemoryKinds;
use crate::module::Id;
use crate::uniformity::NonUniformBlocks;
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Most combinations of values of symbols.
const MOST_COMBINATIONS: usize = 1 << 10;

/// Steps of work for all comparisons of a kernel: words that are computed, and pairs of invocations
/// that are compared.
pub(super) const MOST_WORK: usize = 1 << 23;

/// The work of looking at the expressions of two accesses.
const WORK_OF_EXPRESSIONS: usize = 1 << 12;

/// Two accesses that are compared.
struct Comparison<'k, 'a> {
    kernel: &'k KernelPairs<'a>,
    sides: [AccessExpressions; 2],
    numbers: SymbolNumbers,
}

/// Values that are given to symbols.
type Assignment = BTreeMap<Symbol, u32>;

/// An invocation that can come to an access, with its indices.
struct Comer {
    number: usize,
    words: Vec<Word>,
    known_bits: Vec<(u32, u32)>,
}

impl KernelPairs<'_> {
    /// Whether two accesses are apart wherever two invocations make them between the same barriers.
    pub(super) fn are_apart_between_barriers(
        &self,
        accesses: [&SharedAccess; 2],
        ways: &FollowedWays,
        context: &OrderContext<'_>,
    ) -> bool {
        let [first, second] = accesses;
        let relation = first.path.relation(&second.path, &self.paths);
        if relation != PathRelation::SameSteps || !self.spends(WORK_OF_EXPRESSIONS) {
            return false;
        }
        let Some(sides) = self.compared_sides(accesses) else { return false };
        let expressions = self.expressions;
        let mut common = symbols_of(&sides[0]);
        common.extend(symbols_of(&sides[1]));
        let instructions = accesses.map(|access| access.index);
        common.retain(|symbol| match symbol {
            Symbol::Term(_) => true,
            Symbol::Held(held) => self.is_common(*held, instructions, ways, context.non_uniform),
        });
        let numbers = SymbolNumbers::of_sides(&sides, &common, context.terms, expressions);
        let comparison = Comparison { kernel: self, sides, numbers };
        let executors = accesses.map(|access| self.executors.of_instruction(access.index));
        !comparison.can_meet([&executors[0], &executors[1]])
    }

    /// What tells which element, or which texel, each of two accesses is made to; none where
    /// nothing does.
    fn compared_sides(&self, accesses: [&SharedAccess; 2]) -> Option<[AccessExpressions; 2]> {
        let [first, second] = accesses;
        let indices = element_indices(accesses)?;
        if self.paths.are_elements_told(&first.path) {
            let of_side =
                |side: usize| self.expressions.of_access(accesses[side].index, &indices[side]);
            return Some([of_side(0)?, of_side(1)?]);
        }
        // Which image of an array it is would have to be told, too.
        let is_one_image = self.paths.memory_kind(&first.path) == Some(MemoryKinds::IMAGES)
            && indices.iter().all(Vec::is_empty);
        let coordinates = first.coordinate.zip(second.coordinate).filter(|_| is_one_image)?;
        let first_side = self.expressions.of_texel(first.index, coordinates.0);
        let second_side = self.expressions.of_texel(second.index, coordinates.1);
        (first_side.indices.len() == second_side.indices.len()).then_some([first_side, second_side])
    }

    /// Takes from the work that is left; whether there was enough.
    fn spends(&self, work: usize) -> bool {
        let work_left = self.work_left.get();
        self.work_left.set(work_left.saturating_sub(work));
        work_left > work
    }

    /// Whether control can come from one instruction to another one without a barrier.
    fn can_follow(&self, from: usize, to: usize, ways: &FollowedWays) -> bool {
        let pieces = (self.graph.piece_of(from), self.graph.piece_of(to));
        let (Some(from_piece), Some(to_piece)) = pieces else { return true };
        from_piece == to_piece && from < to
            || self.graph.reached_behind(from_piece, ways).pieces.contains(to_piece)
    }

    /// Whether what a variable or phi holds is one value for all invocations that come to two
    /// accesses between the same barriers. All store to it alike, so that they do in the same order
    /// between the same barriers. Were the values different, one invocation would store behind its
    /// access what another one has stored before its own.
    fn is_common(
        &self,
        held: Id,
        [first, second]: [usize; 2],
        ways: &FollowedWays,
        non_uniform: &NonUniformBlocks,
    ) -> bool {
        let expressions = self.expressions;
        let changes: Vec<usize> = match expressions.stores_of(held) {
            Some(stores) if non_uniform.is_uniform_content(held) => stores.to_vec(),
            Some(_) => return false,
            None => match expressions.definition_index(held) {
                Some(phi) if is_uniform_phi(self, phi, non_uniform) => vec![phi],
                Some(_) | None => return false,
            },
        };
        let is_affordable = changes.len() <= MOST_STORES
            && self.spends(4 * changes.len() * self.graph.piece_count());
        is_affordable
            && !changes.iter().any(|change| {
                let is_between = |earlier: usize, later: usize| {
                    self.can_follow(earlier, *change, ways) && self.can_follow(*change, later, ways)
                };
                is_between(first, second) || is_between(second, first)
            })
    }
}

fn is_uniform_phi(kernel: &KernelPairs<'_>, phi: usize, non_uniform: &NonUniformBlocks) -> bool {
    let module = kernel.request.module;
    let instruction = &module.instructions[phi];
    let is_uniform = instruction.result.is_some_and(|result| non_uniform.is_uniform_value(result));
    instruction.op == Op::Phi && is_uniform && super::checks::is_uniform(module, non_uniform, phi)
}

/// The indices of two ways into one object that must be equal; none where one is not known.
fn element_indices(accesses: [&SharedAccess; 2]) -> Option<[Vec<Id>; 2]> {
    let mut indices = [Vec::new(), Vec::new()];
    for steps in accesses[0].path.steps.iter().zip(&accesses[1].path.steps) {
        match steps {
            (PathStep::Element(first), PathStep::Element(second)) => {
                indices[0].push((*first)?);
                indices[1].push((*second)?);
            }
            (PathStep::Member(_), _) | (_, PathStep::Member(_)) => {}
        }
    }
    Some(indices)
}

impl Comparison<'_, '_> {
    /// Whether two of these invocations can come to one element.
    fn can_meet(&self, executors: [&NodeSet; 2]) -> bool {
        let mut symbols = BTreeSet::new();
        let indices = self.sides.iter().flat_map(|side| &side.indices);
        indices.for_each(|index| index.add_symbols(&mut symbols));
        let mut assignments = vec![Assignment::new()];
        for symbol in symbols {
            let Some(numbers) = self.numbers.listed(symbol) else { continue };
            if assignments.len() * numbers.len() > MOST_COMBINATIONS {
                continue;
            }
            let with_number = |assignment: &Assignment, number: u32| {
                let mut assignment = assignment.clone();
                assignment.insert(symbol, number);
                assignment
            };
            let extended = assignments
                .iter()
                .flat_map(|assignment| numbers.iter().map(move |it| with_number(assignment, *it)));
            assignments = extended.collect();
        }
        assignments.iter().any(|assignment| self.can_meet_under(assignment, executors))
    }

    fn can_meet_under(&self, assignment: &Assignment, executors: [&NodeSet; 2]) -> bool {
        let count = executors.iter().map(|executors| executors.count()).sum::<usize>();
        if !self.kernel.spends(count * 16) {
            return true;
        }
        let comers = [0, 1].map(|side| {
            let numbers = executors[side].numbers();
            let comers = numbers.filter_map(|number| self.comer(side, number, assignment));
            comers.collect::<Vec<Comer>>()
        });
        if !self.kernel.spends(comers[0].len() * comers[1].len()) {
            return true;
        }
        comers[0].iter().any(|first| {
            let others = comers[1].iter().filter(|second| second.number != first.number);
            let mut others = others.filter(|second| !first.differs_by_bits(second));
            others.any(|second| self.can_meet_at([first, second], assignment))
        })
    }

    /// Whether two invocations that are not known to differ can come to one element. Where they do
    /// for one value of a symbol alone, this must be a value with which both come there.
    fn can_meet_at(&self, comers: [&Comer; 2], assignment: &Assignment) -> bool {
        let mut only = None;
        for words in comers[0].words.iter().zip(&comers[1].words) {
            match self.equality(words) {
                Zeros::None => return false,
                Zeros::Only(symbol, value) => only = Some((symbol, value)),
                Zeros::Possible => {}
            }
        }
        if self.are_parted_by_bounds(comers, assignment) {
            return false;
        }
        let Some((symbol, value)) = only else { return true };
        if !self.numbers.include(symbol, value) {
            return false;
        }
        if !self.kernel.spends(32) {
            return true;
        }
        let mut assignment = assignment.clone();
        assignment.insert(symbol, value);
        let comers = [0, 1].map(|side| self.comer(side, comers[side].number, &assignment));
        let [Some(first), Some(second)] = comers else { return false };
        !first.differs_by_bits(&second) && self.can_meet_at([&first, &second], &assignment)
    }

    /// Whether two numbers lie further from each other than those that are at most as high as the
    /// bounds of both sides.
    fn are_parted_by_bounds(&self, comers: [&Comer; 2], assignment: &Assignment) -> bool {
        let [first_bounds, second_bounds] = &self.numbers.bounds;
        if !self.kernel.spends(8 * first_bounds.len() * second_bounds.len()) {
            return false;
        }
        let of_side = |side: usize| {
            let local_id = self.kernel.executors.local_ids()[comers[side].number];
            let bounds = self.numbers.bounds[side].iter();
            bounds.filter_map(move |bound| self.bounded_word(bound, side, local_id, assignment))
        };
        let second_words: Vec<(Sum, u32)> = of_side(1).collect();
        of_side(0).any(|(first, first_highest)| {
            second_words.iter().any(|(second, second_highest)| {
                let distance = first.plus(second, u32::MAX).constant_value();
                distance.is_some_and(|distance| {
                    distance > first_highest && distance.wrapping_neg() > *second_highest
                })
            })
        })
    }

    /// What a bound bounds, and the highest number that this can be.
    fn bounded_word(
        &self,
        bound: &Bound,
        side: usize,
        local_id: [u32; 3],
        assignment: &Assignment,
    ) -> Option<(Sum, u32)> {
        let [lower, upper] = [&bound.lower, &bound.upper]
            .map(|expression| self.word(side, expression, local_id, assignment));
        let range = upper.sum()?.range(&|factor| self.numbers.range_of_factor(factor));
        Some((lower.sum()?.clone(), range.high.saturating_sub(bound.gap)))
    }

    /// Where two words are equal.
    fn equality(&self, (first, second): (&Word, &Word)) -> Zeros {
        if first.differs_by_bits(second) {
            return Zeros::None;
        }
        let Some((sum, other)) = first.sum().zip(second.sum()) else { return Zeros::Possible };
        sum.plus(other, u32::MAX).zeros(&|factor| self.numbers.range_of_factor(factor))
    }

    /// An invocation at a side; none where it does not come there.
    fn comer(&self, side: usize, number: usize, assignment: &Assignment) -> Option<Comer> {
        let local_id = self.kernel.executors.local_ids()[number];
        let access = &self.sides[side];
        let comes = access
            .conditions
            .iter()
            .all(|condition| self.may_hold(side, condition, local_id, assignment));
        if !comes {
            return None;
        }
        let words = access.indices.iter().map(|index| self.word(side, index, local_id, assignment));
        let words: Vec<Word> = words.collect();
        let known_bits = words.iter().map(Word::known_bits).collect();
        Some(Comer { number, words, known_bits })
    }

    fn may_hold(
        &self,
        side: usize,
        condition: &Condition,
        id: [u32; 3],
        assignment: &Assignment,
    ) -> bool {
        let part_may_hold = |part: &Condition| self.may_hold(side, part, id, assignment);
        match condition {
            Condition::Unknown => true,
            Condition::All(parts) => parts.iter().all(part_may_hold),
            Condition::Any(parts) => parts.iter().any(part_may_hold),
            Condition::Comparison(op, operands, wanted) => {
                let [left, right] = [0, 1].map(|it| self.word(side, &operands[it], id, assignment));
                let values = left.value().zip(right.value());
                let result = values.and_then(|(left, right)| comparison(*op, left, right));
                result.is_none_or(|result| result == *wanted)
            }
        }
    }

    fn word(
        &self,
        side: usize,
        expression: &Expression,
        id: [u32; 3],
        assignment: &Assignment,
    ) -> Word {
        let symbol_word = |symbol: Symbol| match assignment.get(&symbol) {
            Some(value) => Word::constant(*value),
            None => Word::common(symbol),
        };
        match expression {
            Expression::Unknown => Word::unknown(),
            Expression::Form(form) => {
                let local = Word::constant(form.local_value(id));
                form.terms().fold(local, |sum, (term, factor)| {
                    let factor = Word::constant(factor);
                    let product =
                        Word::of_operation(Op::IMul, &[symbol_word(Symbol::Term(term)), factor]);
                    Word::of_operation(Op::IAdd, &[sum, product])
                })
            }
            Expression::LowBits(form) => Word::with_low_bits(form.local_value(id), form.low_bits()),
            Expression::Held(held, _) if self.numbers.is_common(Symbol::Held(*held)) => {
                symbol_word(Symbol::Held(*held))
            }
            Expression::Held(held, form) => {
                let low_bits = form.as_ref().map_or(0, |form| form.low_bits());
                let low_value = form.as_ref().map_or(0, |form| form.local_value(id));
                Word::own(side, *held, low_value, low_bits)
            }
            Expression::Operation(op, operands) => {
                let words = operands.iter().map(|operand| self.word(side, operand, id, assignment));
                Word::of_operation(*op, &words.collect::<Vec<_>>())
            }
        }
    }
}

impl Comer {
    fn differs_by_bits(&self, other: &Comer) -> bool {
        let mut pairs = self.known_bits.iter().zip(&other.known_bits);
        pairs.any(|((mask, value), (other_mask, other_value))| {
            (value ^ other_value) & mask & other_mask != 0
        })
    }
}
