//! What the specification leaves undefined about operations on numbers, as rules over their
//! operands.
//!
//! Knows: the sentences of SPIR-V (arithmetic, bit and conversion instructions), of Vulkan's
//! environment for SPIR-V and of GLSL.std.450 that say "undefined"; `docs/undefined.md` lists them
//! all.
//! Promises: a rule is one function of its operands, whatever their width; `table` says which
//! operations it is for. On words it is met as on numbers of 32 bits (tested in `sized`).
//! Does not cover: instructions that are no operation on numbers; inverse matrices, which are made
//! of several operations.

use super::operator::{Binary, Ternary, Unary};
pub use super::rule_operand::SizedNumber;
use super::rule_operand::{RuleFloat, RuleOperand};
use super::sized::{Operation, SizedOperator, is_too_large};

/// How much is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UndefinedExtent {
    /// The result alone: told where it is used.
    Value,
    /// What the program does from here on: told at once.
    Behaviour,
}

/// That something is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undefined {
    /// Whether the result alone is undefined, or all that follows.
    pub extent: UndefinedExtent,
    /// What is undefined, as findings tell it.
    pub why: &'static str,
}

/// A condition on operands under which something is undefined.
pub struct UndefinedRule<Test> {
    /// On words.
    pub is_met: Test,
    /// On numbers of any width; operands that an operation does not have are zeros.
    pub is_met_by: fn([SizedNumber; 3]) -> bool,
    /// Of words.
    pub then: Undefined,
    /// The same of numbers of any width.
    pub then_of_numbers: Undefined,
    /// Which operands decide whether it is met, on words.
    pub deciding: DecidingOperands,
}

/// Which operands on words decide whether a rule is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecidingOperands {
    /// All of them.
    All,
    /// The others; of the first one no more than whether it is 0 or the most negative integer.
    EndsOfFirst,
    /// All but the first.
    AllButFirst,
    /// The last one.
    Last,
}

/// On one word.
pub type Rule1 = UndefinedRule<fn(u32) -> bool>;
/// On two words.
pub type Rule2 = UndefinedRule<fn(u32, u32) -> bool>;
/// On three words.
pub type Rule3 = UndefinedRule<fn(u32, u32, u32) -> bool>;

const fn undefined_value(why: &'static str) -> Undefined {
    Undefined { extent: UndefinedExtent::Value, why }
}

const fn undefined_behaviour(why: &'static str) -> Undefined {
    Undefined { extent: UndefinedExtent::Behaviour, why }
}

/// A rule from a function of one, two or three operands and the words for it, those for words where
/// they differ.
macro_rules! rule {
    ($test:ident($($operand:ident),+), $deciding:ident, $then:expr, words: $then_of_words:expr) => {
        UndefinedRule {
            is_met: $test::<u32>,
            is_met_by: |[$($operand),+, ..]| $test::<SizedNumber>($($operand),+),
            then: $then_of_words,
            then_of_numbers: $then,
            deciding: DecidingOperands::$deciding,
        }
    };
    ($test:ident($($operand:ident),+), $deciding:ident, $then:expr) => {
        rule!($test($($operand),+), $deciding, $then, words: $then)
    };
}

// ---- one operand ----

const TO_UNSIGNED: Undefined =
    undefined_behaviour("a float outside the range of uint is converted");
const TO_SIGNED: Undefined = undefined_behaviour("a float outside the range of int is converted");
const TO_INTEGER: Undefined =
    undefined_behaviour("a float outside the range of the integer is converted");

/// A float that no unsigned integer of the result's width can hold.
pub(crate) const OUT_OF_UINT: Rule1 = rule!(is_out_of_uint(a), All, TO_INTEGER, words: TO_UNSIGNED);
/// A float that no signed integer of the result's width can hold.
pub(crate) const OUT_OF_INT: Rule1 = rule!(is_out_of_int(a), All, TO_INTEGER, words: TO_SIGNED);
/// `sqrt` of a negative number.
pub(crate) const ROOT: Rule1 =
    rule!(is_negative(a), All, undefined_value("square root of a negative number"));
/// `inversesqrt` of a number that is not positive.
pub(crate) const INVERSE_ROOT: Rule1 = rule!(
    is_not_positive(a),
    All,
    undefined_value("inverse square root of a number that is not positive")
);
/// `log` and `log2` of a number that is not positive.
pub(crate) const LOGARITHM: Rule1 =
    rule!(is_not_positive(a), All, undefined_value("logarithm of a number that is not positive"));
/// `asin` of a number outside -1 to 1.
pub(crate) const ARC_SINE: Rule1 =
    rule!(is_beyond_one(a), All, undefined_value("arc sine of a number outside -1 to 1"));
/// `acos` of a number outside -1 to 1.
pub(crate) const ARC_COSINE: Rule1 =
    rule!(is_beyond_one(a), All, undefined_value("arc cosine of a number outside -1 to 1"));
/// `acosh` of a number below 1.
pub(crate) const INVERSE_COSH: Rule1 =
    rule!(is_below_one(a), All, undefined_value("inverse hyperbolic cosine of a number below 1"));
/// `atanh` of a number that is not between -1 and 1.
pub(crate) const INVERSE_TANH: Rule1 = rule!(
    is_one_or_beyond(a),
    All,
    undefined_value("inverse hyperbolic tangent of a number outside -1 to 1")
);
/// `sign` of a NaN.
pub(crate) const SIGN_OF_NAN: Rule1 = rule!(is_nan(a), All, undefined_value("sign of a NaN"));
/// `frexp` of an infinity or NaN.
pub(crate) const SPLIT: Rule1 =
    rule!(is_not_finite(a), All, undefined_value("frexp of an infinity or NaN"));

const PACKED: Undefined = undefined_value("a NaN is packed as a normalised integer");
/// One component, packed as a normalised integer, is a NaN.
pub(crate) const PACKED_NAN: Rule1 = rule!(is_nan(a), All, PACKED);

/// Whether a float truncates into the range of an unsigned integer. A power of two is exact in
/// every format of rules.
fn fits_unsigned<R: RuleFloat>(value: R, bit_width: u32) -> bool {
    value > R::of(-1.0) && value < R::power_of_two(bit_width)
}

/// The same of a signed integer.
fn fits_signed<R: RuleFloat>(value: R, bit_width: u32) -> bool {
    let (least_value, limit) =
        (R::of(0.0) - R::power_of_two(bit_width - 1), R::power_of_two(bit_width - 1));
    // Few floats need to be truncated to know: those of more digits than the integer, just below
    // the least one.
    (value >= least_value || value.trunc() == least_value) && value < limit
}

fn is_out_of_uint<O: RuleOperand>(operand: O) -> bool {
    !fits_unsigned(operand.real(), 32)
}

fn is_out_of_int<O: RuleOperand>(operand: O) -> bool {
    !fits_signed(operand.real(), 32)
}

fn is_negative<O: RuleOperand>(operand: O) -> bool {
    operand.real() < RuleFloat::of(0.0)
}

fn is_not_positive<O: RuleOperand>(operand: O) -> bool {
    operand.real() <= RuleFloat::of(0.0)
}

fn is_beyond_one<O: RuleOperand>(operand: O) -> bool {
    operand.real().abs() > RuleFloat::of(1.0)
}

fn is_one_or_beyond<O: RuleOperand>(operand: O) -> bool {
    operand.real().abs() >= RuleFloat::of(1.0)
}

fn is_below_one<O: RuleOperand>(operand: O) -> bool {
    operand.real() < RuleFloat::of(1.0)
}

fn is_nan<O: RuleOperand>(operand: O) -> bool {
    operand.real().is_nan()
}

fn is_not_finite<O: RuleOperand>(operand: O) -> bool {
    !operand.real().is_finite()
}

// ---- two operands ----

/// Unsigned division or remainder by 0.
pub(crate) const ZERO_DIVISOR: Rule2 =
    rule!(divides_by_zero(a, b), EndsOfFirst, undefined_behaviour("division by zero"));
/// Signed division by 0, or with a quotient that does not fit.
pub(crate) const SIGNED_DIVISION: Rule2 = rule!(
    does_not_divide(a, b),
    EndsOfFirst,
    undefined_behaviour("division by zero, or of the most negative integer by -1")
);
/// Signed remainder by 0, or where the quotient does not fit.
pub(crate) const SIGNED_REMAINDER: Rule2 = rule!(
    does_not_divide(a, b),
    EndsOfFirst,
    undefined_behaviour("remainder by zero, or of the most negative integer by -1")
);
/// Vulkan's environment for SPIR-V leaves more undefined than SPIR-V does.
pub(crate) const NEGATIVE_REMAINDER: Rule2 = rule!(
    one_is_negative(a, b),
    EndsOfFirst,
    undefined_value("remainder of or by a negative number")
);
/// Remainder of a float by 0.
pub(crate) const FLOAT_REMAINDER: Rule2 =
    rule!(second_is_zero(a, b), EndsOfFirst, undefined_value("remainder of a float by zero"));
/// Shift by the width or more.
pub const SHIFT: Rule2 = rule!(
    shifts_everything_out(a, b), EndsOfFirst,
    undefined_value("a shift by the number's width or more"),
    words: undefined_value("a shift by 32 or more")
);
/// `pow` of a negative base, or of 0 to an exponent that is not positive.
pub(crate) const POWER: Rule2 = rule!(
    has_no_power(a, b),
    All,
    undefined_value("pow of a negative base, or of zero to an exponent that is not positive")
);
/// `atan(y, x)` of two zeros.
pub(crate) const ARC_TANGENT: Rule2 =
    rule!(both_are_zero(a, b), All, undefined_value("atan of zero by zero"));
/// `min` and `max` with a NaN.
pub(crate) const EXTREMUM_OF_NAN: Rule2 =
    rule!(one_is_nan(a, b), All, undefined_value("minimum or maximum with a NaN"));
/// `ldexp` with too large an exponent or result.
pub(crate) const SCALED: Rule2 = rule!(
    is_scaled_too_far(a, b),
    All,
    undefined_value(
        "ldexp by more than the type's largest exponent, or with a result that is too large"
    )
);
/// One of two components, packed as normalised integers, is a NaN.
pub(crate) const PACKED_NANS: Rule2 = rule!(one_is_nan(a, b), All, PACKED);

fn divides_by_zero<O: RuleOperand>(_dividend: O, divisor: O) -> bool {
    divisor.bits() == 0
}

fn does_not_divide<O: RuleOperand>(dividend: O, divisor: O) -> bool {
    divisor.bits() == 0
        || (dividend.signed() == dividend.form().width().least_signed() && divisor.signed() == -1)
}

fn one_is_negative<O: RuleOperand>(first_operand: O, second_operand: O) -> bool {
    (first_operand.signed() < 0 || second_operand.signed() < 0) && second_operand.bits() != 0
}

fn second_is_zero<O: RuleOperand>(_first_operand: O, second_operand: O) -> bool {
    second_operand.real() == RuleFloat::of(0.0)
}

fn shifts_everything_out<O: RuleOperand>(shifted_number: O, shift_amount: O) -> bool {
    shift_amount.bits() >= u64::from(shifted_number.form().width().bits())
}

fn has_no_power<O: RuleOperand>(base: O, exponent: O) -> bool {
    let zero = RuleFloat::of(0.0);
    base.real() < zero || (base.real() == zero && exponent.real() <= RuleFloat::of(0.0))
}

fn both_are_zero<O: RuleOperand>(first_operand: O, second_operand: O) -> bool {
    first_operand.real() == RuleFloat::of(0.0) && second_operand.real() == RuleFloat::of(0.0)
}

fn one_is_nan<O: RuleOperand>(first_operand: O, second_operand: O) -> bool {
    first_operand.real().is_nan() || second_operand.real().is_nan()
}

fn is_scaled_too_far<O: RuleOperand>(scaled_number: O, exponent: O) -> bool {
    is_too_large(scaled_number.form(), scaled_number.bits(), exponent.bits())
}

// ---- three operands ----

const LIMITS: Undefined = undefined_value("clamp whose lower limit is above the upper");
/// `clamp` of floats whose limits cross.
pub(crate) const FLOAT_LIMITS: Rule3 = rule!(floats_cross(x, low, high), AllButFirst, LIMITS);
/// `clamp` of unsigned integers whose limits cross.
pub(crate) const UNSIGNED_LIMITS: Rule3 = rule!(unsigned_cross(x, low, high), AllButFirst, LIMITS);
/// `clamp` of signed integers whose limits cross.
pub(crate) const SIGNED_LIMITS: Rule3 = rule!(signed_cross(x, low, high), AllButFirst, LIMITS);
/// `clamp` with a NaN, or with limits that cross.
pub(crate) const CLAMPED_NAN: Rule3 = rule!(
    has_no_clamp(x, low, high),
    All,
    undefined_value("clamp with a NaN, or whose lower limit is above the upper")
);
/// `smoothstep` whose edges do not ascend.
pub(crate) const EDGES: Rule3 = rule!(
    has_no_step(low, high, x),
    All,
    undefined_value("smoothstep with a NaN, or whose lower edge is not below the upper")
);

const WIDE_FIELD: Undefined = undefined_value("a bit field that reaches beyond the number");
const WORD_FIELD: Undefined = undefined_value("a bit field that reaches beyond 32 bits");
/// Of an integer, an offset and a count.
pub(crate) const FIELD: Rule3 =
    rule!(reaches_beyond(base, offset, count), AllButFirst, WIDE_FIELD, words: WORD_FIELD);
/// Of two integers and a position (`offset | count << 16`).
pub(crate) const PACKED_FIELD: Rule3 =
    rule!(packed_reaches_beyond(base, insert, position), Last, WIDE_FIELD, words: WORD_FIELD);

fn floats_cross<O: RuleOperand>(_x: O, lower_limit: O, upper_limit: O) -> bool {
    lower_limit.real() > upper_limit.real()
}

fn unsigned_cross<O: RuleOperand>(_x: O, lower_limit: O, upper_limit: O) -> bool {
    lower_limit.bits() > upper_limit.bits()
}

fn signed_cross<O: RuleOperand>(_x: O, lower_limit: O, upper_limit: O) -> bool {
    lower_limit.signed() > upper_limit.signed()
}

fn has_no_clamp<O: RuleOperand>(clamped_value: O, lower_limit: O, upper_limit: O) -> bool {
    lower_limit.real() > upper_limit.real()
        || [clamped_value, lower_limit, upper_limit].iter().any(|operand| operand.real().is_nan())
}

/// The edges, or the clamp of which the function is made.
fn has_no_step<O: RuleOperand>(lower_edge: O, upper_edge: O, step_operand: O) -> bool {
    let (lower_edge, upper_edge, step_operand) =
        (lower_edge.real(), upper_edge.real(), step_operand.real());
    lower_edge >= upper_edge || ((step_operand - lower_edge) / (upper_edge - lower_edge)).is_nan()
}

fn reaches_beyond<O: RuleOperand>(base: O, field_offset: O, bit_count: O) -> bool {
    field_offset.bits().saturating_add(bit_count.bits()) > u64::from(base.form().width().bits())
}

fn packed_reaches_beyond<O: RuleOperand>(base: O, _insert: O, field_position: O) -> bool {
    let field_position = field_position.bits();
    (field_position & 0xffff) + (field_position >> 16) > u64::from(base.form().width().bits())
}

impl Unary {
    /// When something about it is undefined, the most severe first; empty: never.
    pub fn undefined_rules(self) -> &'static [Rule1] {
        self.row().undefined
    }
}

impl Binary {
    /// When something about it is undefined, the most severe first; empty: never.
    pub fn undefined_rules(self) -> &'static [Rule2] {
        self.row().undefined
    }
}

impl Ternary {
    /// When something about it is undefined, the most severe first; empty: never.
    pub fn undefined_rules(self) -> &'static [Rule3] {
        self.row().undefined
    }
}

impl Rule1 {
    /// Whether the rule may be met by an operand that may be known.
    pub fn may_be_met(&self, a: Option<u32>) -> bool {
        a.is_none_or(self.is_met)
    }
}

impl Rule2 {
    /// Whether the rule may be met by operands of which some are known.
    pub fn may_be_met(&self, a: Option<u32>, b: Option<u32>) -> bool {
        match (a, b, self.deciding) {
            (Some(a), Some(b), _) => (self.is_met)(a, b),
            (None, Some(b), DecidingOperands::EndsOfFirst) => {
                (self.is_met)(0, b) || (self.is_met)(1 << 31, b)
            }
            (None, Some(b), DecidingOperands::AllButFirst | DecidingOperands::Last) => {
                (self.is_met)(0, b)
            }
            (_, _, _) => true,
        }
    }
}

impl Rule3 {
    /// Whether the rule may be met by operands of which some are known.
    pub fn may_be_met(&self, a: Option<u32>, b: Option<u32>, c: Option<u32>) -> bool {
        match (a, b, c, self.deciding) {
            (Some(a), Some(b), Some(c), _) => (self.is_met)(a, b, c),
            (_, _, Some(c), DecidingOperands::Last) => (self.is_met)(0, 0, c),
            (None, Some(b), Some(c), DecidingOperands::AllButFirst) => (self.is_met)(0, b, c),
            (_, _, _, _) => true,
        }
    }
}

impl Operation {
    /// Whether something can be undefined at all.
    pub fn may_be_undefined(self) -> bool {
        match self.op {
            SizedOperator::Unary(op) => !op.undefined_rules().is_empty(),
            SizedOperator::Binary(op) => !op.undefined_rules().is_empty(),
            SizedOperator::Ternary(op) => !op.undefined_rules().is_empty(),
            SizedOperator::ToUnsigned | SizedOperator::ToSigned => true,
            _ => false,
        }
    }

    /// What is undefined for operands given as bits, if anything.
    pub fn undefined_for(
        self,
        first_bits: u64,
        second_bits: u64,
        third_bits: u64,
    ) -> Option<Undefined> {
        let operands =
            [first_bits, second_bits, third_bits].map(|bits| SizedNumber { form: self.from, bits });
        match self.op {
            SizedOperator::Unary(op) => first_met(op.undefined_rules(), operands),
            SizedOperator::Binary(op) => first_met(op.undefined_rules(), operands),
            SizedOperator::Ternary(op) => first_met(op.undefined_rules(), operands),
            // 2^width is exact in 32 bits, and in 64.
            SizedOperator::ToUnsigned => {
                (!fits_unsigned(self.from.to_float(first_bits), self.to.width().bits()))
                    .then_some(TO_INTEGER)
            }
            SizedOperator::ToSigned => {
                (!fits_signed(self.from.to_float(first_bits), self.to.width().bits()))
                    .then_some(TO_INTEGER)
            }
            _ => None,
        }
    }
}

fn first_met<Test>(
    rules: &[UndefinedRule<Test>],
    number_operands: [SizedNumber; 3],
) -> Option<Undefined> {
    rules.iter().find(|rule| (rule.is_met_by)(number_operands)).map(|rule| rule.then_of_numbers)
}

#[cfg(test)]
#[path = "undefined_tests.rs"]
mod tests;
