//! Types of random kernels, and the dice that choose.

/// SplitMix64 (Steele, Lea, Flood 2014): enough for test texts, and the same everywhere.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

use Scalar::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

pub(crate) const INTEGERS: [Scalar; 8] = [I8, U8, I16, U16, I32, U32, I64, U64];
pub(crate) const FLOATS: [Scalar; 3] = [F16, F32, F64];

impl Scalar {
    /// Any of them, those of 32 bits more often.
    pub(crate) fn random(dice: &mut Dice) -> Self {
        dice.pick(&[Bool, I8, U8, I16, U16, I32, I32, U32, U32, I64, U64, F16, F32, F32, F64])
    }

    pub(crate) fn integer(dice: &mut Dice) -> Self {
        dice.pick(&[I8, U8, I16, U16, I32, I32, U32, U32, I64, U64])
    }

    pub(crate) fn is_float(self) -> bool {
        FLOATS.contains(&self)
    }

    pub(crate) fn is_integer(self) -> bool {
        INTEGERS.contains(&self)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, I8 | I16 | I32 | I64)
    }

    /// Bits of a number; 32 of a Boolean.
    pub(crate) fn bits(self) -> u32 {
        match self {
            I8 | U8 => 8,
            I16 | U16 | F16 => 16,
            Bool | I32 | U32 | F32 => 32,
            I64 | U64 | F64 => 64,
        }
    }

    /// GLSL names of the scalar and, without the number of components, of its vectors.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Bool => ("bool", "bvec"),
            I8 => ("int8_t", "i8vec"),
            U8 => ("uint8_t", "u8vec"),
            I16 => ("int16_t", "i16vec"),
            U16 => ("uint16_t", "u16vec"),
            I32 => ("int", "ivec"),
            U32 => ("uint", "uvec"),
            I64 => ("int64_t", "i64vec"),
            U64 => ("uint64_t", "u64vec"),
            F16 => ("float16_t", "f16vec"),
            F32 => ("float", "vec"),
            F64 => ("double", "dvec"),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        self.names().0
    }

    /// Of `n` components; of 1, the scalar.
    pub(crate) fn vector(self, n: u32) -> String {
        if n == 1 { self.names().0.to_owned() } else { format!("{}{n}", self.names().1) }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Type {
    /// A scalar (1 component) or vector.
    Numbers(Scalar, u32),
    /// Columns and rows.
    Matrix(Scalar, u32, u32),
    Array(Box<Type>, u32),
    /// By its place among the kernel's structures.
    Struct(usize),
}

impl Type {
    pub(crate) const UINT: Type = Type::Numbers(U32, 1);

    pub(crate) fn name(&self) -> String {
        match self {
            Type::Numbers(scalar, n) => scalar.vector(*n),
            Type::Matrix(scalar, columns, rows) => {
                let kind = match scalar {
                    F16 => "f16mat",
                    F64 => "dmat",
                    _ => "mat",
                };
                format!("{kind}{columns}x{rows}")
            }
            Type::Array(..) => {
                let (mut inner, mut lengths) = (self, String::new());
                while let Type::Array(element, length) = inner {
                    lengths += &format!("[{length}]");
                    inner = element;
                }
                inner.name() + &lengths
            }
            Type::Struct(number) => format!("S{number}"),
        }
    }
}

/// A number's literal; `bits` beyond the type's width do not count.
pub(crate) fn integer_literal(scalar: Scalar, bits: u64) -> String {
    let shift = 64 - scalar.bits();
    let signed = ((bits << shift) as i64) >> shift;
    let unsigned = bits << shift >> shift;
    match scalar {
        I8 | I16 => format!("{}({signed})", scalar.name()),
        I32 if signed == i64::from(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        I32 if signed < 0 => format!("({signed})"),
        I32 => format!("{signed}"),
        U32 => format!("{unsigned}u"),
        I64 | U64 => format!("{}({unsigned:#x}UL)", scalar.name()),
        U8 | U16 | Bool | F16 | F32 | F64 => format!("{}({unsigned}u)", scalar.name()),
    }
}

/// A float's literal.
pub(crate) fn float_literal(scalar: Scalar, value: f64) -> String {
    match scalar {
        F16 => format!("float16_t({value:?})"),
        F64 => format!("{value:?}lf"),
        _ => format!("{value:?}"),
    }
}
