//! The names of the scalar operations; `table` has a row for each.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    SNegate,
    FNegate,
    Not,
    BitReverse,
    BitCount,
    ConvertFToU,
    ConvertFToS,
    ConvertSToF,
    ConvertUToF,
    QuantizeToF16,
    Round,
    RoundEven,
    Trunc,
    FAbs,
    SAbs,
    FSign,
    SSign,
    Floor,
    Ceil,
    Fract,
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    /// The square root of a dot product that a component is divided by.
    SqrtToNormalize,
    InverseSqrt,
    FindILsb,
    FindSMsb,
    FindUMsb,
    /// The integral part, toward zero (ModfStruct, Modf).
    ModfWhole,
    /// The fraction with the operand's sign.
    ModfFraction,
    /// Significand in [0.5, 1) (FrexpStruct).
    FrexpSignificand,
    FrexpExponent,
    UnpackHalfLow,
    UnpackHalfHigh,
    /// 0 or 1 to the bits 0.0 or 1.0 is a select; this gives component `n` of an unpacked
    /// normalised integer.
    UnpackSnorm4(u8),
    UnpackUnorm4(u8),
    UnpackSnorm2(u8),
    UnpackUnorm2(u8),
    /// A byte of a packed normalised integer.
    PackSnorm4,
    PackUnorm4,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    IAdd,
    ISub,
    IMul,
    UDiv,
    SDiv,
    UMod,
    SRem,
    SMod,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// A component divided by its vector's length.
    NormalizedComponent,
    FRem,
    FMod,
    ShiftRightLogical,
    ShiftRightArithmetic,
    ShiftLeftLogical,
    BitwiseOr,
    BitwiseXor,
    BitwiseAnd,
    UMulHigh,
    SMulHigh,
    /// Carry of an unsigned addition.
    Carry,
    /// Borrow of an unsigned subtraction.
    Borrow,
    Pow,
    Atan2,
    FMin,
    UMin,
    SMin,
    FMax,
    UMax,
    SMax,
    NMin,
    NMax,
    Step,
    Ldexp,
    PackHalf,
    PackSnorm2,
    PackUnorm2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ternary {
    FClamp,
    UClamp,
    SClamp,
    NClamp,
    FMix,
    SmoothStep,
    Fma,
    /// `a * b + c`, made of a product and a sum.
    ContractedAdd,
    /// `a * b - c`
    ContractedSub,
    /// `c - a * b`
    ContractedSubFrom,
    /// Base, offset, count.
    BitFieldSExtract,
    BitFieldUExtract,
    /// Base, insert, offset packed with count (`offset | count << 16`).
    BitFieldInsert,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    IEqual,
    INotEqual,
    UGreaterThan,
    SGreaterThan,
    UGreaterThanEqual,
    SGreaterThanEqual,
    ULessThan,
    SLessThan,
    ULessThanEqual,
    SLessThanEqual,
    FOrdEqual,
    FUnordEqual,
    FOrdNotEqual,
    FUnordNotEqual,
    FOrdLessThan,
    FUnordLessThan,
    FOrdGreaterThan,
    FUnordGreaterThan,
    FOrdLessThanEqual,
    FUnordLessThanEqual,
    FOrdGreaterThanEqual,
    FUnordGreaterThanEqual,
    Ordered,
    Unordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classify {
    IsNan,
    IsInf,
}
