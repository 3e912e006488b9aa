//! The names of the scalar operations; `table` has a row for each.

/// An operation on one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    /// Negated integer (OpSNegate).
    SNegate,
    /// Negated float (OpFNegate).
    FNegate,
    /// Complement of all bits (OpNot).
    Not,
    /// Bits in reverse order (OpBitReverse).
    BitReverse,
    /// Number of bits that are 1 (OpBitCount).
    BitCount,
    /// Float to unsigned integer, toward zero (OpConvertFToU).
    ConvertFToU,
    /// Float to signed integer, toward zero (OpConvertFToS).
    ConvertFToS,
    /// Signed integer to float (OpConvertSToF).
    ConvertSToF,
    /// Unsigned integer to float (OpConvertUToF).
    ConvertUToF,
    /// Rounded to what a half can hold (OpQuantizeToF16).
    QuantizeToF16,
    /// Nearest whole number; what ties become is free (Round).
    Round,
    /// Nearest whole number, ties to even (RoundEven).
    RoundEven,
    /// Whole number toward zero (Trunc).
    Trunc,
    /// Magnitude of a float (FAbs).
    FAbs,
    /// Magnitude of a signed integer (SAbs).
    SAbs,
    /// -1, 0 or 1 by the sign of a float (FSign).
    FSign,
    /// -1, 0 or 1 by the sign of an integer (SSign).
    SSign,
    /// Greatest whole number that is not above (Floor).
    Floor,
    /// Least whole number that is not below (Ceil).
    Ceil,
    /// The number less its floor (Fract).
    Fract,
    /// Degrees to radians (Radians).
    Radians,
    /// Radians to degrees (Degrees).
    Degrees,
    /// Sine of radians (Sin).
    Sin,
    /// Cosine of radians (Cos).
    Cos,
    /// Tangent of radians (Tan).
    Tan,
    /// Arc sine in radians (Asin).
    Asin,
    /// Arc cosine in radians (Acos).
    Acos,
    /// Arc tangent in radians (Atan).
    Atan,
    /// Hyperbolic sine (Sinh).
    Sinh,
    /// Hyperbolic cosine (Cosh).
    Cosh,
    /// Hyperbolic tangent (Tanh).
    Tanh,
    /// Inverse hyperbolic sine (Asinh).
    Asinh,
    /// Inverse hyperbolic cosine (Acosh).
    Acosh,
    /// Inverse hyperbolic tangent (Atanh).
    Atanh,
    /// e to the power of the operand (Exp).
    Exp,
    /// Natural logarithm (Log).
    Log,
    /// 2 to the power of the operand (Exp2).
    Exp2,
    /// Binary logarithm (Log2).
    Log2,
    /// Square root (Sqrt).
    Sqrt,
    /// The square root of a dot product that a component is divided by.
    SqrtToNormalize,
    /// 1 divided by the square root (InverseSqrt).
    InverseSqrt,
    /// Number of the lowest bit that is 1, else -1 (FindILsb).
    FindILsb,
    /// Number of the highest bit unlike the sign, else -1 (FindSMsb).
    FindSMsb,
    /// Number of the highest bit that is 1, else -1 (FindUMsb).
    FindUMsb,
    /// The integral part, toward zero (ModfStruct, Modf).
    ModfWhole,
    /// The fraction with the operand's sign.
    ModfFraction,
    /// Significand in [0.5, 1) (FrexpStruct).
    FrexpSignificand,
    /// Exponent that belongs to that significand (FrexpStruct).
    FrexpExponent,
    /// The half in the low 16 bits as a float (UnpackHalf2x16).
    UnpackHalfLow,
    /// The half in the high 16 bits as a float (UnpackHalf2x16).
    UnpackHalfHigh,
    /// 0 or 1 to the bits 0.0 or 1.0 is a select; this gives component `n` of an unpacked
    /// normalised integer.
    UnpackSnorm4(u8),
    /// Component `n` of four unsigned ones (UnpackUnorm4x8).
    UnpackUnorm4(u8),
    /// Component `n` of two signed ones (UnpackSnorm2x16).
    UnpackSnorm2(u8),
    /// Component `n` of two unsigned ones (UnpackUnorm2x16).
    UnpackUnorm2(u8),
    /// A byte of a packed normalised integer.
    PackSnorm4,
    /// The same, unsigned (PackUnorm4x8).
    PackUnorm4,
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    /// Sum of integers, wrapped (OpIAdd).
    IAdd,
    /// Difference of integers, wrapped (OpISub).
    ISub,
    /// Product of integers, wrapped (OpIMul).
    IMul,
    /// Quotient of unsigned integers (OpUDiv).
    UDiv,
    /// Quotient of signed integers, toward zero (OpSDiv).
    SDiv,
    /// Remainder of unsigned integers (OpUMod).
    UMod,
    /// Remainder with the sign of the dividend (OpSRem).
    SRem,
    /// Remainder with the sign of the divisor (OpSMod).
    SMod,
    /// Sum of floats (OpFAdd).
    FAdd,
    /// Difference of floats (OpFSub).
    FSub,
    /// Product of floats (OpFMul).
    FMul,
    /// Quotient of floats (OpFDiv).
    FDiv,
    /// A component divided by its vector's length.
    NormalizedComponent,
    /// Remainder of floats with the sign of the dividend (OpFRem).
    FRem,
    /// Remainder of floats with the sign of the divisor (OpFMod).
    FMod,
    /// Shift to the right, zeros from the left (OpShiftRightLogical).
    ShiftRightLogical,
    /// Shift to the right, signs from the left (OpShiftRightArithmetic).
    ShiftRightArithmetic,
    /// Shift to the left, zeros from the right (OpShiftLeftLogical).
    ShiftLeftLogical,
    /// Bits that are 1 in one of the two or both (OpBitwiseOr).
    BitwiseOr,
    /// Bits that differ (OpBitwiseXor).
    BitwiseXor,
    /// Bits that are 1 in both (OpBitwiseAnd).
    BitwiseAnd,
    /// High half of an unsigned product (OpUMulExtended).
    UMulHigh,
    /// High half of a signed product (OpSMulExtended).
    SMulHigh,
    /// Carry of an unsigned addition.
    Carry,
    /// Borrow of an unsigned subtraction.
    Borrow,
    /// The first to the power of the second (Pow).
    Pow,
    /// Arc tangent of the first by the second, in radians, by quadrant (Atan2).
    Atan2,
    /// The lesser float; what NaN gives is free (FMin).
    FMin,
    /// The lesser unsigned integer (UMin).
    UMin,
    /// The lesser signed integer (SMin).
    SMin,
    /// The greater float; what NaN gives is free (FMax).
    FMax,
    /// The greater unsigned integer (UMax).
    UMax,
    /// The greater signed integer (SMax).
    SMax,
    /// The lesser float; of a NaN the other operand (NMin).
    NMin,
    /// The greater float; of a NaN the other operand (NMax).
    NMax,
    /// Edge, number: 0.0 where the number is less, else 1.0 (Step).
    Step,
    /// Float times 2 to the power of an integer (Ldexp).
    Ldexp,
    /// Two floats as halves, the first in the low bits (PackHalf2x16).
    PackHalf,
    /// Two floats as signed normalised integers, the first in the low bits (PackSnorm2x16).
    PackSnorm2,
    /// Two floats as unsigned normalised integers, the first in the low bits (PackUnorm2x16).
    PackUnorm2,
}

/// An operation on three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ternary {
    /// Number, least, greatest: a float held within limits; what NaN gives is free (FClamp).
    FClamp,
    /// The same of unsigned integers (UClamp).
    UClamp,
    /// The same of signed integers (SClamp).
    SClamp,
    /// The same of floats, where a NaN gives the other operand (NClamp).
    NClamp,
    /// `x * (1 - a) + y * a` (FMix).
    FMix,
    /// Low edge, high edge, number: 0 to 1 by a cubic between the edges (SmoothStep).
    SmoothStep,
    /// `a * b + c` as written by the kernel (Fma).
    Fma,
    /// `a * b + c`, made of a product and a sum.
    ContractedAdd,
    /// `a * b - c`
    ContractedSub,
    /// `c - a * b`
    ContractedSubFrom,
    /// Base, offset, count.
    BitFieldSExtract,
    /// The same without sign (OpBitFieldUExtract).
    BitFieldUExtract,
    /// Base, insert, offset packed with count (`offset | count << 16`).
    BitFieldInsert,
}

/// A comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Equal integers (OpIEqual).
    IEqual,
    /// Different integers (OpINotEqual).
    INotEqual,
    /// Greater, unsigned (OpUGreaterThan).
    UGreaterThan,
    /// Greater, signed (OpSGreaterThan).
    SGreaterThan,
    /// Greater or equal, unsigned (OpUGreaterThanEqual).
    UGreaterThanEqual,
    /// Greater or equal, signed (OpSGreaterThanEqual).
    SGreaterThanEqual,
    /// Less, unsigned (OpULessThan).
    ULessThan,
    /// Less, signed (OpSLessThan).
    SLessThan,
    /// Less or equal, unsigned (OpULessThanEqual).
    ULessThanEqual,
    /// Less or equal, signed (OpSLessThanEqual).
    SLessThanEqual,
    /// Equal, and no NaN (OpFOrdEqual).
    FOrdEqual,
    /// Equal, or a NaN (OpFUnordEqual).
    FUnordEqual,
    /// Different, and no NaN (OpFOrdNotEqual).
    FOrdNotEqual,
    /// Different, or a NaN (OpFUnordNotEqual).
    FUnordNotEqual,
    /// Less, and no NaN (OpFOrdLessThan).
    FOrdLessThan,
    /// Less, or a NaN (OpFUnordLessThan).
    FUnordLessThan,
    /// Greater, and no NaN (OpFOrdGreaterThan).
    FOrdGreaterThan,
    /// Greater, or a NaN (OpFUnordGreaterThan).
    FUnordGreaterThan,
    /// Less or equal, and no NaN (OpFOrdLessThanEqual).
    FOrdLessThanEqual,
    /// Less or equal, or a NaN (OpFUnordLessThanEqual).
    FUnordLessThanEqual,
    /// Greater or equal, and no NaN (OpFOrdGreaterThanEqual).
    FOrdGreaterThanEqual,
    /// Greater or equal, or a NaN (OpFUnordGreaterThanEqual).
    FUnordGreaterThanEqual,
    /// No NaN (OpOrdered).
    Ordered,
    /// A NaN (OpUnordered).
    Unordered,
}

/// A question about one float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classify {
    /// Whether it is a NaN (OpIsNan).
    IsNan,
    /// Whether it is an infinity (OpIsInf).
    IsInf,
}
