use super::*;
use crate::operation::number::nearest_half;
use proptest::prelude::*;

const WORD: NumberFormat = NumberFormat::Integer(Width::W32);
const FLOAT: NumberFormat = NumberFormat::Float(Width::W32);

fn value(op: SizedOperator, form: NumberFormat, operands: [u32; 3]) -> u32 {
    let [a, b, c] = operands.map(u64::from);
    Operation::new(op, form, form).result_bits(a, b, c).expect("it exists") as u32
}

const UNARY: &[Unary] = &[
    Unary::SNegate,
    Unary::Not,
    Unary::BitReverse,
    Unary::BitCount,
    Unary::SAbs,
    Unary::SSign,
    Unary::FindILsb,
    Unary::FindSMsb,
    Unary::FindUMsb,
];
const BINARY: &[Binary] = &[
    Binary::IAdd,
    Binary::ISub,
    Binary::IMul,
    Binary::UDiv,
    Binary::SDiv,
    Binary::UMod,
    Binary::SRem,
    Binary::SMod,
    Binary::ShiftRightLogical,
    Binary::ShiftRightArithmetic,
    Binary::ShiftLeftLogical,
    Binary::BitwiseOr,
    Binary::BitwiseXor,
    Binary::BitwiseAnd,
    Binary::UMulHigh,
    Binary::SMulHigh,
    Binary::Carry,
    Binary::Borrow,
    Binary::UMin,
    Binary::UMax,
    Binary::SMin,
    Binary::SMax,
];
const TERNARY: &[Ternary] = &[
    Ternary::UClamp,
    Ternary::SClamp,
    Ternary::BitFieldSExtract,
    Ternary::BitFieldUExtract,
    Ternary::BitFieldInsert,
];
const REALS: &[Binary] = &[
    Binary::FAdd,
    Binary::FSub,
    Binary::FMul,
    Binary::FDiv,
    Binary::FRem,
    Binary::FMod,
    Binary::Step,
    Binary::Ldexp,
];
const ROUNDED: &[Unary] = &[
    Unary::FNegate,
    Unary::FAbs,
    Unary::FSign,
    Unary::Floor,
    Unary::Ceil,
    Unary::Trunc,
    Unary::RoundEven,
    Unary::Fract,
    Unary::Sqrt,
    Unary::ModfFraction,
    Unary::FrexpSignificand,
];

fn interesting() -> impl Strategy<Value = u32> {
    prop_oneof![
        any::<u32>(),
        0_u32..40,
        Just(0x8000_0000),
        Just(u32::MAX),
        any::<f32>().prop_map(f32::to_bits)
    ]
}

fn same_float(ours: u32, theirs: u32) -> bool {
    let (ours, theirs) = (f32::from_bits(ours), f32::from_bits(theirs));
    ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The quick operations of `word` compute the same on words, and find the same results
    /// undefined.
    #[test]
    fn on_words_both_ways_are_one(a in interesting(), b in interesting(), c in interesting()) {
        for op in UNARY {
            let mut out = [0];
            op.apply_to_lanes(&mut out, &[a]);
            prop_assert_eq!(value(SizedOperator::Unary(*op), WORD, [a, b, c]), out[0], "{:?} {:x}", op, a);
        }
        for op in BINARY {
            let mut out = [0];
            op.apply_to_lanes(&mut out, &[a], &[b]);
            prop_assert_eq!(value(SizedOperator::Binary(*op), WORD, [a, b, c]), out[0], "{:?} {:x} {:x}", op, a, b);
            let found = Operation::new(SizedOperator::Binary(*op), WORD, WORD).undefined_for(a.into(), b.into(), 0);
            let due = op.undefined_rules().iter().find(|rule| (rule.is_met)(a, b)).map(|rule| rule.then.extent);
            prop_assert_eq!(found.map(|found| found.extent), due, "{:?} {:x} {:x}", op, a, b);
        }
        for op in TERNARY {
            let mut out = [0];
            op.apply_to_lanes(&mut out, &[a], &[b], &[c]);
            prop_assert_eq!(value(SizedOperator::Ternary(*op), WORD, [a, b, c]), out[0], "{:?} {:x} {:x} {:x}", op, a, b, c);
        }
        for op in ROUNDED {
            let mut out = [0];
            op.apply_to_lanes(&mut out, &[a]);
            let ours = value(SizedOperator::Unary(*op), FLOAT, [a, b, c]);
            prop_assert!(same_float(ours, out[0]), "{:?} {:x}: {:x} {:x}", op, a, ours, out[0]);
        }
        for op in REALS {
            let mut out = [0];
            op.apply_to_lanes(&mut out, &[a], &[b]);
            let ours = value(SizedOperator::Binary(*op), FLOAT, [a, b, c]);
            prop_assert!(same_float(ours, out[0]), "{:?} {:x} {:x}: {:x} {:x}", op, a, b, ours, out[0]);
            let found = Operation::new(SizedOperator::Binary(*op), FLOAT, FLOAT).undefined_for(a.into(), b.into(), 0);
            let due = op.undefined_rules().iter().any(|rule| (rule.is_met)(a, b));
            prop_assert_eq!(found.is_some(), due, "{:?} {:x} {:x}", op, a, b);
        }
        let mut out = [0];
        Ternary::Fma.apply_to_lanes(&mut out, &[a], &[b], &[c]);
        prop_assert!(same_float(value(SizedOperator::Ternary(Ternary::Fma), FLOAT, [a, b, c]), out[0]));
    }

    /// Against rounding a value that has twice the digits: the next floats of 16 bits on both
    /// sides are no nearer.
    #[test]
    fn a_half_is_the_nearest(bits in any::<u64>(), exponent in -30_i32..20) {
        let value = f64::from_bits((bits & !(0x7ff << 52)) | ((1023 + exponent) as u64) << 52);
        let half = half::f16::from_bits(nearest_half(value));
        if half.is_finite() {
            let error = (half.to_f64() - value).abs();
            for step in [-1_i32, 1] {
                let other = half::f16::from_bits((i32::from(half.to_bits()) + step) as u16);
                let other_error = (other.to_f64() - value).abs();
                prop_assert!(!other.is_finite() || error < other_error || (error == other_error && half.to_bits() & 1 == 0));
            }
        } else {
            prop_assert!(value.abs() >= 65520.0);
        }
    }

    /// Products and sums of halves, exact as integers of the least half.
    #[test]
    fn a_fused_half_is_rounded_once(a in any::<u16>(), b in any::<u16>(), c in any::<u16>()) {
        let halves = [a, b, c].map(half::f16::from_bits);
        prop_assume!(halves.iter().all(|half| half.is_finite()));
        // In units of 2^-48.
        let units = |half: half::f16| (half.to_f64() * 2f64.powi(24)) as i128;
        let exact = units(halves[0]) * units(halves[1]) + (units(halves[2]) << 24);
        let form = NumberFormat::Float(Width::W16);
        let operation = Operation::new(SizedOperator::Ternary(Ternary::Fma), form, form);
        let result = operation.result_bits(a.into(), b.into(), c.into()).expect("it exists");
        let result = half::f16::from_bits(result as u16);
        if result.is_finite() {
            let error = |half: half::f16| ((units(half) << 24) - exact).unsigned_abs();
            for step in [-1_i32, 1] {
                let other = half::f16::from_bits((i32::from(result.to_bits()) + step) as u16);
                let nearer = other.is_finite() && error(other) < error(result);
                let tie = other.is_finite() && error(other) == error(result) && result.to_bits() & 1 == 1;
                prop_assert!(!nearer && !tie, "{:?}: {:?}, and {:?} is nearer", halves, result, other);
            }
        } else {
            prop_assert!(exact.unsigned_abs() >= 65520 << 48);
        }
    }
}
