//! Results that runs of the sequential engine permit, and those that none does.

use super::blocks::texel_differences;
use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::element::ScalarType;
use vkcert_model::image::ImageFormat;
use vkcert_oracle::difference::{NanResult, PermittedResults};

fn float(ours: f32, theirs: f32, others: &[f32]) -> ScalarDifference {
    let bits = |value: f32| u64::from(value.to_bits());
    let mut difference = ScalarDifference {
        buffer: 0,
        offset: 0,
        scalar: ScalarType::Float32,
        texel: None,
        ours: bits(ours),
        theirs: bits(theirs),
        permitted: PermittedResults::Between { spans: BTreeMap::new(), nan: NanResult::Absent },
        basis: ValueBasis::Defined,
    };
    [ours].iter().chain(others).for_each(|value| difference.permit_result(bits(*value), 0));
    difference
}

#[test]
fn zeros_and_nans_are_compared_as_the_module_declares() {
    assert!(float(0.0, -0.0, &[]).device_value_is_permitted(ZeroSigns::Equal));
    assert!(!float(0.0, -0.0, &[]).device_value_is_permitted(ZeroSigns::Signed));
    assert!(float(0.0, -0.0, &[-1e-30]).device_value_is_permitted(ZeroSigns::Signed));
    assert!(!float(1.0, f32::NAN, &[2.0]).device_value_is_permitted(ZeroSigns::Equal));
    assert!(float(1.0, f32::NAN, &[f32::NAN]).device_value_is_permitted(ZeroSigns::Equal));
    assert!(!float(f32::NAN, 1.0, &[]).device_value_is_permitted(ZeroSigns::Equal));
    assert!(
        float(1.0, f32::INFINITY, &[f32::INFINITY]).device_value_is_permitted(ZeroSigns::Equal)
    );
}

#[test]
fn an_integer_is_permitted_only_if_a_run_left_it() {
    let permitted = PermittedResults::OneOf(Vec::new());
    let (scalar, texel, basis) = (ScalarType::Int32, None, ValueBasis::Defined);
    let mut one = ScalarDifference {
        buffer: 0,
        offset: 0,
        scalar,
        texel,
        ours: 3,
        theirs: 4,
        permitted,
        basis,
    };
    one.permit_result(3, 0);
    one.permit_result(5, 1);
    assert!(!one.device_value_is_permitted(ZeroSigns::Equal));
    one.permit_result(4, 2);
    assert!(one.device_value_is_permitted(ZeroSigns::Equal));
    assert_eq!(one.permitted, PermittedResults::OneOf(vec![3, 4, 5]));
}

#[test]
fn no_more_runs_are_made_than_are_needed() {
    let mut made = 0;
    let mut differences = [float(1.0, 1.5, &[])];
    let trial =
        permit_by_variations(&mut differences, ZeroSigns::Equal, Variation::ALL, |variation| {
            made += u32::from(variation != Variation::NONE);
            let value: f32 = if variation == Variation::ALL[2] { 2.0 } else { 1.0 };
            Some(VariedOutputs {
                buffers: vec![Arc::new(value.to_le_bytes().to_vec())],
                paths: Vec::new(),
            })
        });
    assert_eq!((made, trial.runs), (3, 3));
    assert!(differences[0].device_value_is_permitted(ZeroSigns::Equal));
    // Runs that do not complete count for nothing.
    let mut differences = [float(1.0, 1.5, &[])];
    assert_eq!(
        permit_by_variations(&mut differences, ZeroSigns::Equal, Variation::ALL, |_| None).runs,
        0
    );
    assert!(!differences[0].device_value_is_permitted(ZeroSigns::Equal));
}

#[test]
fn what_other_undefined_values_change_may_be_anything() {
    let run = |value: f32| VariedOutputs {
        buffers: vec![Arc::new(value.to_le_bytes().to_vec())],
        paths: Vec::new(),
    };
    for (left, basis) in
        [(1.0, ValueBasis::Defined), (7.0, ValueBasis::Undefined { bits: u64::MAX })]
    {
        let mut differences = [float(1.0, 1e9, &[])];
        find_undefined(&mut differences, |_| Some(run(left)));
        assert_eq!(
            (differences[0].basis, differences[0].device_value_is_permitted(ZeroSigns::Equal)),
            (basis, left == 7.0)
        );
    }
    let mut differences = [float(1.0, 1e9, &[])];
    find_undefined(&mut differences, |_| None);
    assert_eq!(differences[0].basis, ValueBasis::Defined);
}

fn word(ours: u32, theirs: u32) -> ScalarDifference {
    let permitted = PermittedResults::OneOf(vec![u64::from(ours)]);
    let (scalar, texel, basis) = (ScalarType::Uint32, None, ValueBasis::Defined);
    ScalarDifference {
        buffer: 0,
        offset: 0,
        scalar,
        texel,
        ours: ours.into(),
        theirs: theirs.into(),
        permitted,
        basis,
    }
}

#[test]
fn bits_of_an_integer_that_no_undefined_value_changes_are_compared() {
    let run = |bytes: u32| {
        Some(VariedOutputs {
            buffers: vec![Arc::new(bytes.to_le_bytes().to_vec())],
            paths: Vec::new(),
        })
    };
    for (theirs, within) in [(0xf1, true), (0x71, false), (0xf3, false)] {
        let mut differences = [word(0xf0, theirs)];
        let mut made = 0;
        find_undefined(&mut differences, |_| {
            made += 1;
            run(0xf0 | made & 1)
        });
        assert_eq!(differences[0].basis, ValueBasis::Undefined { bits: 1 });
        assert_eq!(
            differences[0].device_value_is_permitted(ZeroSigns::Equal),
            within,
            "{theirs:#x}"
        );
        let all = Variation::OF_UNDEFINED.len() as u32 + Variation::PATIENCE;
        assert_eq!(made, if within { 1 } else { all });
    }
}

#[test]
fn further_runs_by_chance_find_further_bits() {
    let mut differences = [word(0, 4)];
    let run = |variation| {
        let left: u32 = if Variation::OF_UNDEFINED.contains(&variation) { 10 } else { 7 };
        Some(VariedOutputs {
            buffers: vec![Arc::new(left.to_le_bytes().to_vec())],
            paths: Vec::new(),
        })
    };
    find_undefined(&mut differences, run);
    assert_eq!(differences[0].basis, ValueBasis::Undefined { bits: 15 });
    assert!(differences[0].is_undefined());
}

/// Of a packed format the bytes of a texel are no bits of its components.
#[test]
fn a_texel_that_no_undefined_value_changes_is_defined() {
    let (format, scalar) = (ImageFormat::Rgba8, ScalarType::Float32);
    let [ours, theirs, others] = [[255, 0, 0, 255], [254, 0, 0, 255], [128, 0, 0, 255]];
    let differing = || texel_differences(0, format, &ours, &theirs);
    assert_eq!((differing().len(), differing()[0].scalar), (1, scalar));
    for (left, basis) in
        [(ours, ValueBasis::Defined), (others, ValueBasis::Undefined { bits: u64::MAX })]
    {
        let mut differences = differing();
        let run = || VariedOutputs { buffers: vec![Arc::new(left.to_vec())], paths: Vec::new() };
        find_undefined(&mut differences, |_| Some(run()));
        assert_eq!(differences[0].basis, basis);
    }
}

#[test]
fn results_of_different_decisions_permit_nothing_between_them() {
    let bits = |value: f32| u64::from(value.to_bits());
    let mut one = float(0.0, 0.5, &[]);
    one.permit_result(bits(1.0), 7);
    assert!(!one.device_value_is_permitted(ZeroSigns::Equal));
    one.permit_result(bits(0.25), 7);
    assert!(one.device_value_is_permitted(ZeroSigns::Equal));
}

proptest! {
    #[test]
    fn the_hull_is_what_lies_between_the_results(values in proptest::collection::vec(any::<f32>(), 1..8), theirs in any::<f32>()) {
        let difference = float(values[0], theirs, &values[1..]);
        let numbers = values.iter().filter(|value| !value.is_nan());
        let expected = if theirs.is_nan() {
            values.iter().any(|value| value.is_nan())
        } else {
            numbers.clone().any(|value| *value <= theirs) && numbers.clone().any(|value| *value >= theirs)
        };
        prop_assert_eq!(difference.device_value_is_permitted(ZeroSigns::Equal), expected);
        for value in &values {
            let same = ScalarDifference { theirs: u64::from(value.to_bits()), ..difference.clone() };
            prop_assert!(same.device_value_is_permitted(ZeroSigns::Signed));
        }
    }
}
