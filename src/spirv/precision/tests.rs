//! Bounds against values derived by hand, and against brute force.

use super::BoundedOperation::{Core, Extended};
use super::*;
use half::f16;
use proptest::prelude::*;

fn range(operation: BoundedOperation, operands: &[f64]) -> PermittedRange {
    bounds_of(operation).unwrap().permitted_range(operands, FloatWidth::Single).unwrap()
}

fn single(op: GLOp, x: f64) -> PermittedRange {
    range(Extended(op), &[x])
}

const STEP: f64 = 1.0 / 8_388_608.0;

#[test]
fn one_ulp_is_what_the_specification_says() {
    // Below a power of two the numbers are twice as dense, and the least distance counts.
    assert_eq!(FloatWidth::Single.ulp_at(1.0), STEP / 2.0);
    assert_eq!(FloatWidth::Single.ulp_at(1.0 + STEP), STEP);
    assert_eq!(FloatWidth::Single.ulp_at(1.5), STEP);
    assert_eq!(FloatWidth::Single.ulp_at(-3.0), 2.0 * STEP);
    assert_eq!(FloatWidth::Single.ulp_at(0.0), 2f64.powi(-149));
    assert_eq!(FloatWidth::Single.ulp_at(2f64.powi(-126)), 2f64.powi(-149));
    assert_eq!(FloatWidth::Single.ulp_at(1e60), 2f64.powi(104));
    assert_eq!(FloatWidth::Half.ulp_at(1.5), 2f64.powi(-10));
    assert_eq!(FloatWidth::Half.ulp_at(65520.0), 32.0);
}

#[test]
fn a_quotient_may_be_two_and_a_half_ulps_away() {
    // 1/3 = 0.0101...b: its neighbours are multiples of 2^-25; the nearest is 11184811 / 2^25, 1/3
    // of a step above it.
    let quantum = 2f64.powi(-25);
    let PermittedRange { low, high } = range(Core(Op::FDiv), &[1.0, 3.0]);
    assert_eq!(low, 11_184_809.0 * quantum);
    assert_eq!(high, 11_184_813.0 * quantum);
    // An exact quotient: 2.5 of the smaller steps below 2, so 2 of them down, and one of the larger
    // ones up.
    let PermittedRange { low, high } = range(Core(Op::FDiv), &[4.0, 2.0]);
    assert_eq!((low, high), (2.0 - 2.0 * STEP, 2.0 + 2.0 * STEP));
}

#[test]
fn sums_round_to_a_neighbour_and_are_exact_where_they_can_be() {
    assert_eq!(range(Core(Op::FAdd), &[1.0, 0.25]), PermittedRange { low: 1.25, high: 1.25 });
    let PermittedRange { low, high } = range(Core(Op::FAdd), &[1.0, 2f64.powi(-30)]);
    assert_eq!((low, high), (1.0, 1.0 + STEP));
    let largest = f64::from(f32::MAX);
    assert_eq!(
        range(Core(Op::FAdd), &[largest, 2f64.powi(100)]),
        PermittedRange { low: largest, high: f64::INFINITY }
    );
}

#[test]
fn functions_have_the_bounds_of_the_table() {
    // exp(0) = 1: 3 ulps of 2^-24; the numbers above 1 are 2^-23 apart.
    assert_eq!(single(GLOp::Exp, 0.0), PermittedRange { low: 1.0 - 1.5 * STEP, high: 1.0 + STEP });
    // exp2(3) = 8: 9 ulps of 2^-21 each.
    assert_eq!(
        single(GLOp::Exp2, 3.0),
        PermittedRange { low: 8.0 - 9.0 * 4.0 * STEP, high: 8.0 + 32.0 * STEP }
    );
    // log2(1) = 0 within 2^-21; log2(4) = 2 within 3 ulps of 2^-23.
    assert_eq!(
        single(GLOp::Log2, 1.0),
        PermittedRange { low: -2f64.powi(-21), high: 2f64.powi(-21) }
    );
    assert_eq!(
        single(GLOp::Log2, 4.0),
        PermittedRange { low: 2.0 - 3.0 * STEP, high: 2.0 + 2.0 * STEP }
    );
    assert_eq!(
        single(GLOp::Sin, 0.0),
        PermittedRange { low: -2f64.powi(-11), high: 2f64.powi(-11) }
    );
    assert_eq!(
        single(GLOp::InverseSqrt, 4.0),
        PermittedRange { low: 0.5 - STEP / 2.0, high: 0.5 + STEP / 2.0 }
    );
    let arc = single(GLOp::Atan, 1.0);
    let ulp = FloatWidth::Single.ulp_at(std::f64::consts::FRAC_PI_4);
    assert!(arc.high - std::f64::consts::FRAC_PI_4 <= 4096.0 * ulp);
    assert!(arc.high - std::f64::consts::FRAC_PI_4 > 4095.0 * ulp);
}

#[test]
fn inherited_bounds_are_those_of_the_formula() {
    // sqrt(4) = 1 / inversesqrt(4): 0.5 - 2^-24 is permitted there (2 ulps of 2^-25 each), its
    // inverse is 2 + 2^-22 + ..., ulp 2^-22, of which 2.5 may be added: 3.5 ulps of 2^-22, which
    // makes 3 as a number of the format. The error is counted to both sides.
    let PermittedRange { low, high } = single(GLOp::Sqrt, 4.0);
    assert_eq!(high, 2.0 + 3.0 * 2.0 * STEP);
    assert_eq!(low, 2.0 - 6.0 * STEP);
    // pow(2, 1) = exp2(1 * log2(2)): log2(2) is within 2^-21, 4 * 2^-23, of 1; exp2 of that is 2 +
    // 4 ln 2 * 2^-22, 2.77 ulps above 2, and has 5 ulps and a little of its own.
    let PermittedRange { high, .. } = range(Extended(GLOp::Pow), &[2.0, 1.0]);
    let ulps = (high - 2.0) / (2.0 * STEP);
    assert!((7.0..=7.8).contains(&ulps), "{ulps}");
    // fma has the error of a rounded product and a rounded sum: (1 + 2^-23)^2 - 1 - 2^-22 = 2^-46,
    // whose product may be rounded up by 2^-23.
    let x = 1.0 + STEP;
    let PermittedRange { low, high } = range(Extended(GLOp::Fma), &[x, x, -1.0 - 2.0 * STEP]);
    assert!(low < 0.0 && (high - STEP).abs() < STEP / 1000.0, "{low} {high}");
    // FMod(x, x) may be x: the quotient may be below 1.
    assert!(range(Core(Op::FMod), &[3.0, 3.0]).high >= 3.0);
}

#[test]
fn what_has_one_result_has_no_range() {
    assert!(bounds_of(Core(Op::FNegate)).is_none());
    assert!(bounds_of(Extended(GLOp::Floor)).is_none());
    for operands in [[1.0, 0.0], [f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
        assert_eq!(
            bounds_of(Core(Op::FDiv)).unwrap().permitted_range(&operands, FloatWidth::Single),
            None
        );
    }
    assert_eq!(
        bounds_of(Extended(GLOp::Sqrt)).unwrap().permitted_range(&[-1.0], FloatWidth::Single),
        None
    );
}

#[test]
fn every_half_is_its_own_neighbour() {
    for bits in 0..=u16::MAX {
        let half = f16::from_bits(bits);
        if half.is_finite() {
            let x = half.to_f64();
            assert_eq!((FloatWidth::Half.at_most(x), FloatWidth::Half.at_least(x)), (x, x), "{x}");
        }
    }
}

proptest! {
    #[test]
    fn neighbours_are_those_of_the_format(x in prop_oneof![-4e38..4e38_f64, -1.0..1.0_f64, -1e-37..1e-37_f64, -1e-44..1e-44_f64]) {
        let nearest = x as f32;
        let (below, above) = (FloatWidth::Single.at_most(x), FloatWidth::Single.at_least(x));
        let expected = match f64::from(nearest).partial_cmp(&x).unwrap() {
            std::cmp::Ordering::Equal => (nearest, nearest),
            std::cmp::Ordering::Less => (nearest, nearest.next_up()),
            std::cmp::Ordering::Greater => (nearest.next_down(), nearest),
        };
        prop_assert_eq!((below, above), (f64::from(expected.0), f64::from(expected.1)));
    }

    #[test]
    fn ranges_hold_the_correctly_rounded_result_and_stay_on_the_grid(
        row in 0..TABLE.len(),
        v in [-9.0..9.0_f32, -9.0..9.0_f32, -9.0..9.0_f32],
        width in prop_oneof![Just(FloatWidth::Half), Just(FloatWidth::Single)],
    ) {
        let row = &TABLE[row].bounds;
        let operands = v.map(|value| width.at_most(f64::from(value)));
        if let Some(PermittedRange { low, high }) = row.permitted_range(&operands, width) {
            let exact = (row.exact)(&operands);
            prop_assert!(low <= width.at_least(exact) && width.at_most(exact) <= high, "{exact} {low} {high}");
            for end in [low, high].into_iter().filter(|end| end.is_finite()) {
                prop_assert_eq!(width.at_most(end), end);
            }
        }
    }
}
