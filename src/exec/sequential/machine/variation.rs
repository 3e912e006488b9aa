//! Runs that differ from the ordinary one within what the specification permits.
//!
//! Knows: which operation of the specification's table (`spirv::precision`) each operation of the engine is.
//! Promises: every result that a variation gives is one that the specification permits for its operands; without a
//! variation nothing here runs. The hook is one place: `Machine::varied`, behind an operation's result.
//! Does not cover: findings on the operands of varied operations, which the ordinary run makes; expressions that are
//! rearranged other than by contraction within a block; operations that are no arithmetic on 32-bit floats.

use super::Machine;
use crate::exec::sequential::ir::lane_mask::MASK_WORDS;
use crate::exec::sequential::ir::{Action, Reg, Step};
use crate::model::random::mixed;
use crate::spirv::operation::sized::{Form, Operation as SizedOperation, Sized, Width as SizedWidth};
use crate::spirv::operation::word::Compare;
use crate::spirv::precision::{self, Denormals, Freedom, Operation, Rounding, Width};
use rspirv::spirv::Op;

/// How a run departs from the ordinary one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation {
    pub direction: Direction,
    /// `Nearest`: correctly rounded results stay as they are.
    pub rounding: Rounding,
    pub products: Products,
    pub flush: Flush,
    pub expansion: Expansion,
    pub undefined: Arbitrary,
}

/// In which order determinants and inverses are computed: the specification names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Expansion {
    /// By the first column, from its first row on; inverses as quotients.
    #[default]
    Columns,
    /// By the last column, from its last row on; inverses as quotients.
    LastColumns,
    /// By the first row; inverses as products with the reciprocal.
    Rows,
    /// By the last row; inverses as products with the reciprocal.
    LastRows,
    /// As sums of products of minors of two columns (of three rows: of whole products); inverses as products with the
    /// reciprocal.
    Pairs,
    /// The same of rows, with inverses as quotients.
    RowPairs,
}

/// Where in the range of permitted results a result is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// As the engine computes it.
    Ordinary,
    Up,
    Down,
    /// At an end or as it is, by chance, for each execution of an instruction.
    ByExecution {
        seed: u32,
    },
    /// The same for all executions of an instruction.
    ByInstruction {
        seed: u32,
    },
}

/// What becomes of a product that is added to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    Separate,
    /// One rounding for both, where no NoContraction forbids it. Of a sum of two products one is contracted.
    Contracted(Preferred),
}

/// Which of two products goes into their sum unrounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    First,
    Second,
}

/// What becomes of denormal operands and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    Keep,
    /// They become zeros, unless DenormPreserve forbids it.
    ToZero,
}

/// Which values undefined results and what nobody wrote have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbitrary {
    /// Those that the engine documents.
    Documented,
    /// Any, by chance.
    Chosen { seed: u32 },
    /// Any number of bits, by chance: small integers are as likely as large ones.
    Sized { seed: u32 },
    /// Always the same bits: numbers that chance would not meet.
    Always { word: u32 },
    /// Of an operation on words the value of this operand (of `min` either one); what nobody wrote
    /// is as documented.
    Operand { number: u32 },
}

impl Arbitrary {
    /// The value of a chance, the same for the same number; none where values do not come by chance.
    pub(super) fn by_chance(self, chance: u64) -> Option<u32> {
        match self {
            Arbitrary::Chosen { .. } => Some(mixed(chance) as u32),
            Arbitrary::Sized { .. } => {
                let drawn = mixed(chance);
                Some((drawn as u32) >> ((drawn >> 32) % 32))
            }
            Arbitrary::Documented | Arbitrary::Always { .. } | Arbitrary::Operand { .. } => None,
        }
    }
}

const fn toward(direction: Direction, rounding: Rounding, products: Products) -> Variation {
    Variation { direction, rounding, products, ..Variation::NONE }
}

const fn undefined(undefined: Arbitrary) -> Variation {
    Variation { undefined, ..Variation::NONE }
}

/// What became of a run by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChanceTrial {
    /// It was not made: nothing is open that it could settle.
    NotNeeded,
    Settled,
    Idle,
}

impl Variation {
    /// The ordinary run, with the paths of its values.
    pub const NONE: Variation = Variation {
        direction: Direction::Ordinary,
        rounding: Rounding::Nearest,
        products: Products::Separate,
        flush: Flush::Keep,
        expansion: Expansion::Columns,
        undefined: Arbitrary::Documented,
    };

    /// Variations of modules that compute determinants or inverses, tried behind the others.
    pub const MATRICES: &'static [Variation] = &expansions();

    /// Runs that differ from the ordinary one in undefined values alone: what differs between them depends on one.
    pub const OF_UNDEFINED: &'static [Variation] = &[
        undefined(Arbitrary::Chosen { seed: 1 }),
        undefined(Arbitrary::Chosen { seed: 2 }),
        undefined(Arbitrary::Chosen { seed: 3 }),
        undefined(Arbitrary::Chosen { seed: 4 }),
        undefined(Arbitrary::Chosen { seed: 5 }),
        undefined(Arbitrary::Chosen { seed: 6 }),
        undefined(Arbitrary::Always { word: 0 }),
        undefined(Arbitrary::Always { word: 1 }),
        undefined(Arbitrary::Always { word: u32::MAX }),
        undefined(Arbitrary::Always { word: 1.0_f32.to_bits() }),
        undefined(Arbitrary::Always { word: (-1.0_f32).to_bits() }),
        undefined(Arbitrary::Always { word: f32::MAX.to_bits() }),
        undefined(Arbitrary::Always { word: f32::NAN.to_bits() }),
        undefined(Arbitrary::Operand { number: 0 }),
        undefined(Arbitrary::Operand { number: 1 }),
    ];

    /// Most runs by chance behind these.
    const MOST_BY_CHANCE: u32 = 128;
    /// How many of them may settle nothing before they end.
    pub const PATIENCE: u32 = 24;

    /// One more such run, by chance.
    fn of_undefined_by_chance(number: u32) -> Variation {
        let seed = CHANCES + 1 + number;
        undefined(if number.is_multiple_of(2) { Arbitrary::Chosen { seed } } else { Arbitrary::Sized { seed } })
    }

    /// More such runs by chance, one after the other, until one is not needed or too many in a row have settled nothing.
    pub fn try_by_chance(mut trial: impl FnMut(Variation) -> ChanceTrial) {
        let mut idle = 0;
        for number in 0..Self::MOST_BY_CHANCE {
            match trial(Self::of_undefined_by_chance(number)) {
                ChanceTrial::NotNeeded => return,
                ChanceTrial::Settled => idle = 0,
                ChanceTrial::Idle => idle += 1,
            }
            if idle == Self::PATIENCE {
                return;
            }
        }
    }

    /// The variations of a comparison, in the order in which they are tried: first those that round to the nearest as devices
    /// do, then those that round up and down as the specification permits.
    pub const ALL: &'static [Variation] = &[
        toward(Direction::Up, Rounding::Nearest, Products::Separate),
        toward(Direction::Down, Rounding::Nearest, Products::Separate),
        toward(Direction::Ordinary, Rounding::Nearest, Products::Contracted(Preferred::First)),
        toward(Direction::Ordinary, Rounding::Nearest, Products::Contracted(Preferred::Second)),
        Variation { flush: Flush::ToZero, ..Variation::NONE },
        toward(Direction::Up, Rounding::Nearest, Products::Contracted(Preferred::First)),
        toward(Direction::Down, Rounding::Nearest, Products::Contracted(Preferred::First)),
        toward(Direction::Up, Rounding::Nearest, Products::Contracted(Preferred::Second)),
        toward(Direction::Down, Rounding::Nearest, Products::Contracted(Preferred::Second)),
        toward(Direction::ByInstruction { seed: 1 }, Rounding::Nearest, Products::Separate),
        toward(Direction::ByInstruction { seed: 2 }, Rounding::Nearest, Products::Contracted(Preferred::First)),
        toward(Direction::ByExecution { seed: 3 }, Rounding::Nearest, Products::Separate),
        toward(Direction::ByExecution { seed: 4 }, Rounding::Nearest, Products::Contracted(Preferred::Second)),
        toward(Direction::Up, Rounding::Any, Products::Separate),
        toward(Direction::Down, Rounding::Any, Products::Separate),
        toward(Direction::ByInstruction { seed: 5 }, Rounding::Any, Products::Separate),
        toward(Direction::ByInstruction { seed: 6 }, Rounding::Any, Products::Separate),
        Variation {
            flush: Flush::ToZero,
            ..toward(Direction::ByExecution { seed: 7 }, Rounding::Any, Products::Contracted(Preferred::First))
        },
        toward(Direction::ByExecution { seed: 8 }, Rounding::Any, Products::Separate),
    ];
}

/// Runs of `OF_UNDEFINED` by chance: seeds from 1.
const CHANCES: u32 = 6;

const EXPANSIONS: [Expansion; 5] =
    [Expansion::LastColumns, Expansion::Rows, Expansion::LastRows, Expansion::Pairs, Expansion::RowPairs];

const ROUNDINGS: [(Direction, Products); 6] = [
    (Direction::Ordinary, Products::Separate),
    (Direction::Ordinary, Products::Contracted(Preferred::First)),
    (Direction::Ordinary, Products::Contracted(Preferred::Second)),
    (Direction::Up, Products::Separate),
    (Direction::Down, Products::Separate),
    (Direction::ByExecution { seed: 9 }, Products::Separate),
];

/// Every other expansion with every way of rounding.
const fn expansions() -> [Variation; EXPANSIONS.len() * ROUNDINGS.len()] {
    let mut all = [Variation::NONE; EXPANSIONS.len() * ROUNDINGS.len()];
    let mut at = 0;
    while at < all.len() {
        let (direction, products) = ROUNDINGS[at / EXPANSIONS.len()];
        let rounding = match direction {
            Direction::ByExecution { .. } => Rounding::Any,
            _ => Rounding::Nearest,
        };
        all[at] = Variation { expansion: EXPANSIONS[at % EXPANSIONS.len()], ..toward(direction, rounding, products) };
        at += 1;
    }
    all
}

/// One execution of an operation, over all lanes.
struct Execution<'a> {
    variation: Variation,
    freedom: &'a Freedom,
    operation: Operation,
    place: u32,
    /// Differs from execution to execution.
    moment: u64,
}

impl Execution<'_> {
    fn flushes(&self) -> bool {
        self.variation.flush == Flush::ToZero && self.freedom.denormals == Denormals::MayBeFlushed
    }

    /// Moves results to where the variation wants them. `from` are the operands that `out` was computed from.
    fn vary<const N: usize>(&self, out: &mut [u32], from: [&[u32]; N]) {
        if self.variation.direction != Direction::Ordinary {
            self.perturb(out, from);
        }
        if self.flushes() {
            out.iter_mut().for_each(|word| *word = flushed(*word));
        }
    }

    fn perturb<const N: usize>(&self, out: &mut [u32], from: [&[u32]; N]) {
        let Some(row) = precision::row_of(self.operation) else { return };
        let rounded = matches!(row.single, precision::Bound::CorrectlyRounded);
        let nearest = self.variation.rounding == Rounding::Nearest || self.freedom.rounding != Rounding::Any;
        let width = if self.freedom.relaxed.contains(&self.place) { Width::Half } else { Width::Single };
        if rounded && nearest && width == Width::Single {
            return;
        }
        for (lane, out) in out.iter_mut().enumerate() {
            let operands: [f64; N] = std::array::from_fn(|at| value(self.operation, from[at][lane]));
            let Some(range) = row.range(&operands, width) else { continue };
            let end = match self.variation.chosen(self.place, self.moment, lane) {
                Choice::Ordinary => continue,
                Choice::Low => range.low,
                Choice::High => range.high,
            };
            // A number of the format, or an infinity: the conversion is exact.
            *out = (end as f32).to_bits();
        }
    }
}

impl Variation {
    /// Which result a lane takes of the permitted ones of an execution of the instruction at `place`.
    fn chosen(&self, place: u32, moment: u64, lane: usize) -> Choice {
        let chance = |seed: u32, moment: u64| {
            let salt = u64::from(seed) << 32 | u64::from(place);
            match mixed(mixed(salt) ^ moment) % 8 {
                0 | 1 => Choice::Ordinary,
                2..=4 => Choice::Low,
                _ => Choice::High,
            }
        };
        match self.direction {
            Direction::Ordinary => Choice::Ordinary,
            Direction::Up => Choice::High,
            Direction::Down => Choice::Low,
            Direction::ByInstruction { seed } => chance(seed, 0),
            Direction::ByExecution { seed } => chance(seed, mixed(moment) ^ lane as u64),
        }
    }
}

/// Of a range of permitted results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Ordinary,
    Low,
    High,
}

/// What an operand stands for.
fn value(operation: Operation, bits: u32) -> f64 {
    match operation {
        Operation::Core(Op::ConvertSToF) => f64::from(bits as i32),
        Operation::Core(Op::ConvertUToF) => f64::from(bits),
        _ => f64::from(f32::from_bits(bits)),
    }
}

/// Whether the operands are integers, whose bits are no denormal numbers.
fn of_integers(operation: Operation) -> bool {
    matches!(operation, Operation::Core(Op::ConvertSToF | Op::ConvertUToF))
}

/// A denormal number becomes a zero of its sign.
fn flushed(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }
}

impl Machine<'_> {
    /// Which result a lane takes of an instruction's permitted ones.
    pub(super) fn choice(&self, place: u32, lane: usize) -> Choice {
        self.variation.map_or(Choice::Ordinary, |variation| variation.chosen(place, self.steps_left, lane))
    }

    /// Runs a step of a run that departs from the ordinary one, if it is one that such a run changes or follows; whether it is.
    #[cold]
    pub(super) fn varied_step(&mut self, step: &Step) -> bool {
        let Some(variation) = self.variation else { return false };
        let how = (step.place, variation);
        match &step.action {
            Action::Unary { op, to, a } => {
                self.varied(how, (*to, [*a]), op.row().bounded_operation(), |out, [a]| op.apply(out, a));
            }
            Action::Binary { op, to, a, b } => {
                self.varied(how, (*to, [*a, *b]), op.row().bounded_operation(), |out, [a, b]| op.apply(out, a, b));
            }
            Action::Ternary { op, to, a, b, c } => {
                self.varied(how, (*to, [*a, *b, *c]), op.row().bounded_operation(), |out, [a, b, c]| {
                    op.apply(out, a, b, c)
                });
            }
            Action::Compare { op, to, a, b } => self.compare(variation, *op, *to, [*a, *b]),
            Action::Classify { op, to, a } => {
                let mut bits = [0; MASK_WORDS];
                op.apply(&mut bits[..self.mask_words], &self.words[a.0 as usize]);
                self.write_mask(*to, &bits);
            }
            Action::Sized { operation, to, from } => match (named(*operation), &**from) {
                (Some(name), [a]) => self.varied(how, (to.low, [a.low]), Some(name), |out, [a]| {
                    sized_words(*operation, out, [a, a, a]);
                }),
                (Some(name), [a, b]) => self.varied(how, (to.low, [a.low, b.low]), Some(name), |out, [a, b]| {
                    sized_words(*operation, out, [a, b, b]);
                }),
                (Some(name), [a, b, c]) => {
                    self.varied(how, (to.low, [a.low, b.low, c.low]), Some(name), |out, operands| {
                        sized_words(*operation, out, operands);
                    });
                }
                _ => self.step(step),
            },
            Action::Relate { .. } => self.step(step),
            _ => return false,
        }
        self.judge(step);
        self.follow_step(&step.action, step.place);
        true
    }

    /// Computes a register from others, lane by lane, and moves results to where the variation wants them.
    fn varied<const N: usize>(
        &mut self,
        (place, variation): (u32, Variation),
        (to, from): (Reg, [Reg; N]),
        operation: Option<Operation>,
        apply: impl Fn(&mut [u32], [&[u32]; N]),
    ) {
        let Some(operation) = operation else {
            return self.write(to, |out, words| apply(out, from.map(|reg| &*words[reg.0 as usize])));
        };
        let program = self.program;
        let moment = self.steps_left;
        let execution = Execution { variation, freedom: &program.freedom, operation, place, moment };
        self.write(to, |out, words| {
            if execution.flushes() && !of_integers(operation) {
                let operands = from.map(|reg| flushed_words(&words[reg.0 as usize]));
                let operands = std::array::from_fn(|at| &*operands[at]);
                apply(out, operands);
                execution.vary(out, operands);
            } else {
                let operands = from.map(|reg| &*words[reg.0 as usize]);
                apply(out, operands);
                execution.vary(out, operands);
            }
        });
    }

    /// Compares two registers; of floats denormals count as zeros where the run flushes them.
    fn compare(&mut self, variation: Variation, op: Compare, to: Reg, from: [Reg; 2]) {
        let mut bits = [0; MASK_WORDS];
        let words = from.map(|reg| &*self.words[reg.0 as usize]);
        let free = self.program.freedom.denormals == Denormals::MayBeFlushed && op.float_symbol().is_some();
        let flushes = free && variation.flush == Flush::ToZero;
        let [a, b] = words.map(|words| if flushes { flushed_words(words) } else { words.to_vec() });
        op.apply(&mut bits[..self.mask_words], &a, &b);
        self.write_mask(to, &bits);
    }
}

/// The operation of the specification's table that one on floats of 32 bits is, where it is rounded in a way of its own.
fn named(operation: SizedOperation) -> Option<Operation> {
    let single = Form::Float(SizedWidth::W32);
    if operation.from != single || operation.to != single {
        return None;
    }
    match operation.op {
        Sized::Unary(op) => op.row().bounded_operation(),
        Sized::Binary(op) => op.row().bounded_operation(),
        Sized::Ternary(op) => op.row().bounded_operation(),
        Sized::FromUnsigned | Sized::FromSigned | Sized::ToUnsigned | Sized::ToSigned | Sized::Round | Sized::Flush => {
            None
        }
    }
}

/// An operation on words, lane by lane.
fn sized_words(operation: SizedOperation, out: &mut [u32], [a, b, c]: [&[u32]; 3]) {
    for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        let value = operation.value(u64::from(*a), u64::from(*b), u64::from(*c));
        *out = value.expect("decoding has asked whether it exists") as u32;
    }
}

fn flushed_words(words: &[u32]) -> Vec<u32> {
    words.iter().map(|word| flushed(*word)).collect()
}
