use super::super::sized::NumberFormat;
use super::super::sized::Width;
use super::*;

fn on_halves(op: Binary, a: f64, b: u64) -> Option<Undefined> {
    let form = NumberFormat::Float(Width::W16);
    Operation::new(SizedOperator::Binary(op), form, form).undefined_for(form.from_float(a), b, 0)
}

/// GLSL.std.450, Ldexp: the largest exponent is that of the type.
#[test]
fn ldexp_is_undefined_beyond_the_exponents_of_its_type() {
    let met = |a: f32, b: i32| {
        Binary::Ldexp.undefined_rules().iter().any(|rule| (rule.is_met)(a.to_bits(), b as u32))
    };
    assert!(met(1e-20, 129) && met(0.0, 129) && !met(0.25, 128) && met(2.0, 127) && !met(1.0, 127));
    assert!(!met(f32::INFINITY, 3) && !met(f32::NAN, 3) && !met(1.0, -400));
    assert_eq!(on_halves(Binary::Ldexp, 0.0, 17), Some(SCALED.then));
    assert_eq!(on_halves(Binary::Ldexp, 0.25, 16), None);
    assert_eq!(on_halves(Binary::Ldexp, 2.0, 15), Some(SCALED.then));
}

/// GLSL.std.450, NClamp: of a NaN and a number the number counts.
#[test]
fn a_clamp_of_numbers_asks_its_limits_alone() {
    let met = |operands: [f32; 3]| {
        let [x, low, high] = operands.map(f32::to_bits);
        Ternary::NClamp.undefined_rules().iter().any(|rule| (rule.is_met)(x, low, high))
    };
    assert!(met([1.0, 3.0, 2.0]) && !met([f32::NAN, 2.0, 2.0]) && !met([1.0, f32::NAN, 2.0]));
}

/// A rule that a pass takes for impossible is not asked any more, so none may be met then.
#[test]
fn what_may_not_be_met_is_not_met() {
    let words = [
        0,
        1,
        2,
        31,
        32,
        33,
        0x20_0010,
        0x7fff_ffff,
        1 << 31,
        u32::MAX,
        0x3f80_0000,
        0xbf80_0000,
        0x7fc0_0000,
    ];
    for a in words {
        for b in words {
            for rule in Binary::ALL.iter().flat_map(|operation| operation.undefined_rules()) {
                let met = (rule.is_met)(a, b);
                for (a, b) in [(Some(a), Some(b)), (None, Some(b)), (Some(a), None), (None, None)] {
                    assert!(rule.may_be_met(a, b) || !met, "{}: {a:?} {b:?}", rule.then.why);
                }
            }
            for (c, rule) in words.iter().flat_map(|c| {
                Ternary::ALL
                    .iter()
                    .flat_map(|operation| operation.undefined_rules())
                    .map(move |rule| (*c, rule))
            }) {
                let met = (rule.is_met)(a, b, c);
                for (a, b) in [(Some(a), Some(b)), (None, Some(b)), (Some(a), None), (None, None)] {
                    let why = rule.then.why;
                    assert!(rule.may_be_met(a, b, Some(c)) || !met, "{why}: {a:?} {b:?} {c}");
                    assert!(rule.may_be_met(a, b, None) || !met, "{why}: {a:?} {b:?}");
                }
            }
        }
    }
}

/// By hand: the ends of the ranges in every format that is converted from.
#[test]
fn a_conversion_is_undefined_from_the_ends_of_the_range_on() {
    for (x, fits) in [
        (-1.0, false),
        (-0.99, true),
        (0.0, true),
        (4_294_967_040.0, true),
        (4_294_967_296.0, false),
    ] {
        assert_eq!((fits_unsigned(x as f32, 32), fits_unsigned(x, 32)), (fits, fits), "{x}");
    }
    let ends = [
        (-2_147_483_648.0, true),
        (2_147_483_520.0, true),
        (2_147_483_648.0, false),
        (f64::NAN, false),
    ];
    for (x, fits) in ends {
        assert_eq!((fits_signed(x as f32, 32), fits_signed(x, 32)), (fits, fits), "{x}");
    }
    assert!(fits_signed(-2_147_483_648.9_f64, 32) && !fits_signed(-2_147_483_649.0_f64, 32));
    assert!(
        fits_signed(-9_223_372_036_854_775_808.0_f64, 64)
            && !fits_signed(9_223_372_036_854_775_808.0_f64, 64)
    );
    assert!(fits_unsigned(-0.5_f64, 64) && !fits_unsigned(18_446_744_073_709_551_616.0_f64, 64));
}

#[test]
fn a_negative_remainder_has_no_value_and_one_by_zero_no_behaviour() {
    let extents = |a: i32, b: i32| {
        let rules =
            Binary::SRem.undefined_rules().iter().filter(|rule| (rule.is_met)(a as u32, b as u32));
        rules.map(|rule| rule.then.extent).collect::<Vec<_>>()
    };
    assert_eq!(extents(7, 2), []);
    assert_eq!(extents(-7, 2), [UndefinedExtent::Value]);
    assert_eq!(extents(7, -2), [UndefinedExtent::Value]);
    assert_eq!(extents(7, 0), [UndefinedExtent::Behaviour]);
    assert_eq!(extents(-7, 0), [UndefinedExtent::Behaviour]);
}
