//! How a run departs from the ordinary one, within what the specification permits.

use vkcert_model::random::mix_bits;
use vkcert_spirv::precision::PermittedRounding;

/// How a run departs from the ordinary one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variation {
    /// Where in the range of permitted results a result is taken.
    pub direction: Direction,
    /// `Nearest`: correctly rounded results stay as they are.
    pub rounding: PermittedRounding,
    /// What becomes of a product that is added to something.
    pub products: Products,
    /// What becomes of denormal operands and results.
    pub flush: Flush,
    /// How determinants and inverses of matrices are computed.
    pub expansion: Expansion,
    /// Which values undefined results and unwritten memory have.
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
    /// As sums of products of minors of two columns (of three rows: of whole products); inverses as
    /// products with the reciprocal.
    Pairs,
    /// The same of rows, with inverses as quotients.
    RowPairs,
}

/// Where in the range of permitted results a result is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// As the engine computes it.
    Ordinary,
    /// The greatest permitted result.
    Up,
    /// The least permitted result.
    Down,
    /// At an end or as it is, by chance, for each execution of an instruction.
    ByExecution {
        /// What chance is drawn from.
        seed: u32,
    },
    /// The same for all executions of an instruction.
    ByInstruction {
        /// What chance is drawn from.
        seed: u32,
    },
}

/// What becomes of a product that is added to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Products {
    /// Product and sum are rounded each.
    Separate,
    /// One rounding for both, where no NoContraction forbids it. Of a sum of two products one is
    /// contracted.
    Contracted(Preferred),
}

/// Which of two products goes into their sum unrounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preferred {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What becomes of denormal operands and results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flush {
    /// They stay.
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
    Chosen {
        /// What chance is drawn from.
        seed: u32,
    },
    /// Any number of bits, by chance: small integers are as likely as large ones.
    Sized {
        /// What chance is drawn from.
        seed: u32,
    },
    /// Always the same bits: numbers that chance would not meet.
    Always {
        /// The bits of every 32-bit word.
        word: u32,
    },
    /// Of an operation on words the value of this operand (of `min` either one); what nobody wrote
    /// is as documented.
    Operand {
        /// Number of the operand, from 0.
        number: u32,
    },
}

impl Arbitrary {
    /// The value of a chance, the same for the same number; none where values do not come by
    /// chance.
    pub fn by_chance(self, chance: u64) -> Option<u32> {
        match self {
            Arbitrary::Chosen { .. } => Some(mix_bits(chance) as u32),
            Arbitrary::Sized { .. } => {
                let drawn_bits = mix_bits(chance);
                Some((drawn_bits as u32) >> ((drawn_bits >> 32) % 32))
            }
            Arbitrary::Documented | Arbitrary::Always { .. } | Arbitrary::Operand { .. } => None,
        }
    }
}

const fn toward_direction(
    direction: Direction,
    rounding: PermittedRounding,
    products: Products,
) -> Variation {
    Variation { direction, rounding, products, ..Variation::NONE }
}

const fn with_undefined(undefined: Arbitrary) -> Variation {
    Variation { undefined, ..Variation::NONE }
}

/// What became of a run by chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChanceTrial {
    /// It was not made: nothing is open that it could settle.
    NotNeeded,
    /// Something that was open is settled by it.
    Settled,
    /// It settled nothing.
    Idle,
}

/// Runs of `OF_UNDEFINED` by chance: seeds from 1.
const CHANCES: u32 = 6;

const EXPANSIONS: [Expansion; 5] = [
    Expansion::LastColumns,
    Expansion::Rows,
    Expansion::LastRows,
    Expansion::Pairs,
    Expansion::RowPairs,
];

const ROUNDINGS: [(Direction, Products); 6] = [
    (Direction::Ordinary, Products::Separate),
    (Direction::Ordinary, Products::Contracted(Preferred::First)),
    (Direction::Ordinary, Products::Contracted(Preferred::Second)),
    (Direction::Up, Products::Separate),
    (Direction::Down, Products::Separate),
    (Direction::ByExecution { seed: 9 }, Products::Separate),
];

/// Every other expansion with every way of rounding.
const fn matrix_variations() -> [Variation; EXPANSIONS.len() * ROUNDINGS.len()] {
    let mut all_variations = [Variation::NONE; EXPANSIONS.len() * ROUNDINGS.len()];
    let mut variation_index = 0;
    while variation_index < all_variations.len() {
        let (direction, products) = ROUNDINGS[variation_index / EXPANSIONS.len()];
        let rounding = match direction {
            Direction::ByExecution { .. } => PermittedRounding::Any,
            _ => PermittedRounding::Nearest,
        };
        all_variations[variation_index] = Variation {
            expansion: EXPANSIONS[variation_index % EXPANSIONS.len()],
            ..toward_direction(direction, rounding, products)
        };
        variation_index += 1;
    }
    all_variations
}

impl Variation {
    /// The ordinary run, with the paths of its values.
    pub const NONE: Variation = Variation {
        direction: Direction::Ordinary,
        rounding: PermittedRounding::Nearest,
        products: Products::Separate,
        flush: Flush::Keep,
        expansion: Expansion::Columns,
        undefined: Arbitrary::Documented,
    };

    /// Variations of modules that compute determinants or inverses, tried behind the others.
    pub const MATRICES: &'static [Variation] = &matrix_variations();

    /// Runs that differ from the ordinary one in undefined values alone: what differs between them
    /// depends on one.
    pub const OF_UNDEFINED: &'static [Variation] = &[
        with_undefined(Arbitrary::Chosen { seed: 1 }),
        with_undefined(Arbitrary::Chosen { seed: 2 }),
        with_undefined(Arbitrary::Chosen { seed: 3 }),
        with_undefined(Arbitrary::Chosen { seed: 4 }),
        with_undefined(Arbitrary::Chosen { seed: 5 }),
        with_undefined(Arbitrary::Chosen { seed: 6 }),
        with_undefined(Arbitrary::Always { word: 0 }),
        with_undefined(Arbitrary::Always { word: 1 }),
        with_undefined(Arbitrary::Always { word: u32::MAX }),
        with_undefined(Arbitrary::Always { word: 1.0_f32.to_bits() }),
        with_undefined(Arbitrary::Always { word: (-1.0_f32).to_bits() }),
        with_undefined(Arbitrary::Always { word: f32::MAX.to_bits() }),
        with_undefined(Arbitrary::Always { word: f32::NAN.to_bits() }),
        with_undefined(Arbitrary::Operand { number: 0 }),
        with_undefined(Arbitrary::Operand { number: 1 }),
    ];

    /// Most runs by chance behind these.
    const MOST_BY_CHANCE: u32 = 128;

    /// How many of them may settle nothing before they end.
    pub const PATIENCE: u32 = 24;

    /// One more such run, by chance.
    fn of_undefined_by_chance(trial_number: u32) -> Variation {
        let seed = CHANCES + 1 + trial_number;
        with_undefined(if trial_number.is_multiple_of(2) {
            Arbitrary::Chosen { seed }
        } else {
            Arbitrary::Sized { seed }
        })
    }

    /// More such runs by chance, one after the other, until one is not needed or too many in a row
    /// have settled nothing.
    pub fn try_by_chance(mut trial: impl FnMut(Variation) -> ChanceTrial) {
        let mut idle_trials = 0;
        for trial_number in 0..Self::MOST_BY_CHANCE {
            match trial(Self::of_undefined_by_chance(trial_number)) {
                ChanceTrial::NotNeeded => return,
                ChanceTrial::Settled => idle_trials = 0,
                ChanceTrial::Idle => idle_trials += 1,
            }
            if idle_trials == Self::PATIENCE {
                return;
            }
        }
    }

    /// The variations of a comparison, in the order in which they are tried: first those that round
    /// to the nearest as devices do, then those that round up and down as the specification
    /// permits.
    pub const ALL: &'static [Variation] = &[
        toward_direction(Direction::Up, PermittedRounding::Nearest, Products::Separate),
        toward_direction(Direction::Down, PermittedRounding::Nearest, Products::Separate),
        toward_direction(
            Direction::Ordinary,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::First),
        ),
        toward_direction(
            Direction::Ordinary,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::Second),
        ),
        Variation { flush: Flush::ToZero, ..Variation::NONE },
        toward_direction(
            Direction::Up,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::First),
        ),
        toward_direction(
            Direction::Down,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::First),
        ),
        toward_direction(
            Direction::Up,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::Second),
        ),
        toward_direction(
            Direction::Down,
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::Second),
        ),
        toward_direction(
            Direction::ByInstruction { seed: 1 },
            PermittedRounding::Nearest,
            Products::Separate,
        ),
        toward_direction(
            Direction::ByInstruction { seed: 2 },
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::First),
        ),
        toward_direction(
            Direction::ByExecution { seed: 3 },
            PermittedRounding::Nearest,
            Products::Separate,
        ),
        toward_direction(
            Direction::ByExecution { seed: 4 },
            PermittedRounding::Nearest,
            Products::Contracted(Preferred::Second),
        ),
        toward_direction(Direction::Up, PermittedRounding::Any, Products::Separate),
        toward_direction(Direction::Down, PermittedRounding::Any, Products::Separate),
        toward_direction(
            Direction::ByInstruction { seed: 5 },
            PermittedRounding::Any,
            Products::Separate,
        ),
        toward_direction(
            Direction::ByInstruction { seed: 6 },
            PermittedRounding::Any,
            Products::Separate,
        ),
        Variation {
            flush: Flush::ToZero,
            ..toward_direction(
                Direction::ByExecution { seed: 7 },
                PermittedRounding::Any,
                Products::Contracted(Preferred::First),
            )
        },
        toward_direction(
            Direction::ByExecution { seed: 8 },
            PermittedRounding::Any,
            Products::Separate,
        ),
    ];
}
