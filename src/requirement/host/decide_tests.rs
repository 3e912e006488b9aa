//! Tests of proofs about all values of parameters: which cases are looked at, and what is said.

use super::decide::{EXHAUSTIVE_LIMIT, EvaluatedCase, HostModel, ProofResult};
use super::expression::{ArithmeticEvent, HostName};
use super::interval::ValueInterval;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::random::SplitMix64;
use vkcert_model::requirement::{HostType, Interface};

const LOCAL_SIZE: [u32; 3] = [24, 40, 1];

/// Name, type, least and greatest value of a parameter.
type ParameterRow<'a> = (&'a str, &'a str, i64, i64);

/// Name, type and value of a local.
type LocalRow<'a> = (&'a str, &'a str, &'a str);

fn interface(parameters: &[ParameterRow], locals: &[LocalRow]) -> Interface {
    let parameters: Vec<Value> = parameters
        .iter()
        .map(|(name, width, min, max)| {
            json!({ "name": name, "type": width, "min": min, "max": max })
        })
        .collect();
    let locals: Vec<Value> = locals
        .iter()
        .map(|(name, width, value)| json!({ "name": name, "type": width, "value": value }))
        .collect();
    let interface = json!({
        "kernel": "k", "parameters": parameters, "locals": locals, "groups": ["1", "1", "1"],
    });
    serde_json::from_value(interface).unwrap()
}

fn model(parameters: &[ParameterRow], locals: &[LocalRow]) -> HostModel {
    HostModel::from_interface(&interface(parameters, locals), LOCAL_SIZE).unwrap()
}

/// The outcome for a predicate over the values of all names that concerns `text`, and the values
/// that were tried, in order.
fn decide(
    model: &HostModel,
    text: &str,
    holds: impl Fn(&[i128]) -> bool,
) -> (ProofResult, Vec<Vec<i128>>) {
    let expression = model.parse_expression(text, "test").unwrap();
    let tried = RefCell::new(Vec::new());
    let result = model.decide_for_all(&[&expression], &|case| {
        let values: Vec<i128> = case.scope.iter().map(|typed| typed.value).collect();
        let is_true = holds(&values);
        tried.borrow_mut().push(values);
        is_true
    });
    (result, tried.into_inner())
}

fn refuted(values: &[(&str, i64)]) -> ProofResult {
    ProofResult::Refuted(values.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
}

#[test]
fn few_combinations_are_all_looked_at() {
    let model = model(&[("a", "int8", -3, 2), ("b", "uint8", 7, 7), ("c", "int64", 0, 3)], &[]);
    let (result, tried) = decide(&model, "a + b + c", |_| true);
    assert_eq!(result, ProofResult::Proved);
    let mut all = Vec::new();
    for a in -3..=2 {
        all.extend((0..=3).map(|c| vec![a, 7, c]));
    }
    assert_eq!(tried, all, "the last parameter fastest");
    for failing in &all {
        let (result, tried) = decide(&model, "a + b + c", |values| values != failing.as_slice());
        let [a, b, c] = failing[..] else { panic!("three names") };
        assert_eq!(result, refuted(&[("a", a as i64), ("b", b as i64), ("c", c as i64)]));
        assert_eq!(tried.last(), Some(failing));
    }
}

/// What a statement does not depend on is left at its least value and named in no counterexample;
/// such locals are not evaluated.
#[test]
fn only_parameters_that_are_used_are_varied() {
    let model = model(
        &[("a", "int32", 5, 9), ("b", "int32", -2, 1), ("c", "int32", 3, 1000)],
        &[("d", "int32", "b * 10"), ("e", "int32", "d + 1"), ("f", "int32", "c + a")],
    );
    let (result, tried) = decide(&model, "e", |values| values[4] != 1);
    assert_eq!(result, refuted(&[("b", 0)]));
    let expected: Vec<Vec<i128>> = (-2..=0).map(|b| vec![5, b, 3, b * 10, b * 10 + 1, 0]).collect();
    assert_eq!(tried, expected);
    let (result, tried) = decide(&model, "7", |_| false);
    assert_eq!((result, tried.len()), (refuted(&[]), 1));
    let names_of =
        |text: &str| model.dependencies_of(&[&model.parse_expression(text, "test").unwrap()]);
    assert_eq!(names_of("e"), BTreeSet::from([1, 3, 4]));
    assert_eq!(names_of("f - (a < 2 ? -c : uint8(b))"), BTreeSet::from([0, 1, 2, 5]));
    assert_eq!(names_of("2 * 3"), BTreeSet::new());
}

/// A counterexample that no boundary and no usual value is tells whether every value was tried.
#[test]
fn beyond_the_limit_a_statement_stays_open() {
    assert_eq!(EXHAUSTIVE_LIMIT, 1_048_576);
    const ODD_VALUE: i128 = 77_776;
    let most = 1_048_575;
    for (least, greatest, is_exhaustive) in
        [(0, most, true), (0, most + 1, false), (-1, most - 1, true), (-1, most, false)]
    {
        let model = model(&[("n", "int32", least, greatest)], &[]);
        let (result, tried) = decide(&model, "n", |values| values[0] != ODD_VALUE);
        if is_exhaustive {
            assert_eq!(result, refuted(&[("n", ODD_VALUE as i64)]), "{least} to {greatest}");
            assert_eq!(tried.len() as i128, ODD_VALUE - i128::from(least) + 1);
        } else {
            let ProofResult::Open(reason) = result else { panic!("{result:?}") };
            assert_eq!(
                reason,
                "no counterexample among boundary and sampled values of n, but more combinations \
                 than 1048576 can occur and no bound proves it"
            );
        }
    }
    let far = model(&[("n", "int64", 1 << 40, (1 << 40) + 10)], &[]);
    assert_eq!(decide(&far, "n", |_| true).0, ProofResult::Proved);
    let below = model(&[("n", "int64", -(1 << 40), 10 - (1 << 40))], &[]);
    assert_eq!(decide(&below, "n", |_| true).0, ProofResult::Proved);
    let pair = model(&[("a", "int32", 0, 1024), ("b", "int32", 0, 1023)], &[]);
    let ProofResult::Open(reason) = decide(&pair, "a + b", |_| true).0 else { panic!("open") };
    assert!(reason.contains(" values of a, b, but"), "{reason}");
}

/// Beyond the limit: the bounds with their neighbours and one more than a local size; then 0,
/// powers of two and local sizes with their neighbours; then the published generator's numbers.
#[test]
fn beyond_the_limit_bounds_powers_and_sampled_values_are_looked_at() {
    let (min, max) = (-1000i128, i128::from(u32::MAX));
    let model = model(&[("n", "int64", -1000, u32::MAX.into())], &[]);
    let (result, tried) = decide(&model, "n", |_| true);
    assert!(matches!(result, ProofResult::Open(_)));
    let tried: Vec<i128> = tried.into_iter().map(|values| values[0]).collect();
    let boundary = [min, min + 1, 2, 25, 41, max - 1, max];
    assert_eq!(tried[..boundary.len()], boundary);
    let mut centres = vec![min, max, 0, 24, 40, 1];
    centres.extend((0..64).map(|bit| 2i128.pow(bit)));
    let near = centres.iter().flat_map(|centre| centre - 1..=centre + 1);
    let usual: BTreeSet<i128> = near.filter(|value| (min..=max).contains(value)).collect();
    let usual: Vec<i128> = usual.into_iter().collect();
    let behind_boundary = &tried[boundary.len()..];
    assert_eq!(behind_boundary[..usual.len()], usual);
    let mut generator = SplitMix64::new(0x5643_4552);
    let sampled = &behind_boundary[usual.len()..];
    assert_eq!(sampled.len(), 20_000);
    for value in sampled {
        let draw = i128::from(generator.draw());
        assert_eq!(*value, min + draw % (max - min + 1));
    }
}

/// Every found counterexample fails, wherever the search finds it.
#[test]
fn a_counterexample_beyond_the_limit_is_one_that_was_tried() {
    let model = model(
        &[("a", "int64", -5, 1 << 40), ("b", "int64", 3, 1 << 40)],
        &[("sum", "int64", "a + b")],
    );
    let is_boundary = |values: &[i128]| values[0] == -4 && values[1] == 41;
    let (result, _) = decide(&model, "sum", |values| !is_boundary(values));
    assert_eq!(result, refuted(&[("a", -4), ("b", 41)]));
    let (result, _) = decide(&model, "sum", |values| values[0] != 65 || values[1] != 1023);
    assert_eq!(result, refuted(&[("a", 65), ("b", 1023)]));
    // No bound and no power of two leaves the remainder 77 of 100 for both.
    let has_odd_rest = |values: &[i128]| values[..2].iter().all(|value| value % 100 == 77);
    let (result, tried) = decide(&model, "sum", |values| !has_odd_rest(values));
    let ProofResult::Refuted(found) = result else { panic!("{result:?}") };
    let last: Vec<i128> = tried.last().unwrap().clone();
    assert!(has_odd_rest(&last));
    assert_eq!(found, BTreeMap::from([("a".into(), last[0] as i64), ("b".into(), last[1] as i64)]));
    let case = model.named_case(&found);
    assert_eq!(case.scope.iter().map(|typed| typed.value).collect::<Vec<_>>(), last);
}

#[test]
fn a_parameter_has_a_range_of_its_type() {
    for (width, lowest, highest) in [
        ("int8", -128, 127),
        ("uint8", 0, 255),
        ("int32", i32::MIN.into(), i32::MAX.into()),
        ("uint32", 0, u32::MAX.into()),
        ("int64", i64::MIN, i64::MAX),
        ("uint64", 0, i64::MAX),
    ] {
        let is_range = |min: i64, max: i64| {
            HostModel::from_interface(&interface(&[("n", width, min, max)], &[]), LOCAL_SIZE)
                .is_ok()
        };
        assert!(
            is_range(lowest, highest) && is_range(lowest, lowest) && is_range(highest, highest)
        );
        assert!(!is_range(highest, lowest) && !is_range(8, 7) && is_range(7, 7));
        if let Some(below) = lowest.checked_sub(1) {
            assert!(!is_range(below, highest) && !is_range(below, below), "{width}");
        }
        if let Some(above) = highest.checked_add(1) {
            assert!(!is_range(lowest, above) && !is_range(above, above), "{width}");
        }
    }
    let bad = interface(&[("n", "uint8", 0, 256)], &[]);
    let diagnostic = HostModel::from_interface(&bad, LOCAL_SIZE).unwrap_err();
    assert_eq!(diagnostic.message, "parameter `n`: 0 to 256 is no range of uint8");
}

#[test]
fn names_are_declared_once_and_before_their_use() {
    let message = |parameters: &[ParameterRow], locals: &[LocalRow]| {
        HostModel::from_interface(&interface(parameters, locals), LOCAL_SIZE).unwrap_err().message
    };
    let n = ("n", "int32", 0, 1);
    assert_eq!(message(&[n, n], &[]), "`n` is declared twice in the interface");
    assert_eq!(message(&[n], &[("n", "int32", "1")]), "`n` is declared twice in the interface");
    assert_eq!(message(&[n], &[("m", "int32", "m")]), "local `m`: `m` is not declared");
    assert_eq!(
        message(&[n], &[("m", "int32", "k"), ("k", "int32", "1")]),
        "local `m`: `k` is not declared"
    );
    let floating = "has a floating-point type; parameters and locals of an interface are integers";
    assert_eq!(message(&[("x", "float32", 0, 1)], &[]), format!("`x` {floating}"));
    assert_eq!(message(&[n], &[("y", "float64", "1")]), format!("`y` {floating}"));
}

/// A local keeps what its type can hold, and what it drops is an event.
#[test]
fn locals_are_evaluated_in_order_and_keep_their_type() {
    let model = model(
        &[("a", "int32", 0, 400), ("b", "int32", 1, 9)],
        &[("bytes", "uint8", "a * 2"), ("groups", "int32", "(bytes + 3) / b")],
    );
    let case =
        |a: i64, b: i64| model.named_case(&BTreeMap::from([("a".into(), a), ("b".into(), b)]));
    let values = |case: &EvaluatedCase| -> Vec<i128> {
        case.scope.iter().map(|typed| typed.value).collect()
    };
    let fitting = case(127, 4);
    assert_eq!((values(&fitting), fitting.events.len()), (vec![127, 4, 254, 64], 0));
    assert_eq!(values(&model.rounded_up(&fitting)), [127, 4, 254, 65]);
    let wrapped = case(129, 4);
    assert_eq!(values(&wrapped), [129, 4, 2, 1]);
    let event =
        ArithmeticEvent::Overflow { span: (0..5).into(), exact: 258, width: HostType::Uint8 };
    assert_eq!(wrapped.events, [event]);
    let least = model.named_case(&BTreeMap::from([("a".into(), 1)]));
    assert_eq!(values(&least), [1, 1, 2, 5], "what is not named has its least value");
    let widths: Vec<HostType> = fitting.scope.iter().map(|typed| typed.width).collect();
    let declared = [HostType::Int32, HostType::Int32, HostType::Uint8, HostType::Int32];
    assert_eq!(widths, declared);
    let names = |index: usize| model.local_expression(index).map(|expression| expression.span);
    assert_eq!([0, 1, 4].map(names), [None; 3], "parameters are no locals");
    assert_eq!([2, 3].map(names), [Some((0..5).into()), Some((0..15).into())]);
    let locals: Vec<(&HostName, _)> =
        model.locals().map(|(name, local)| (name, local.span)).collect();
    assert_eq!(locals, [(&model.names[2], (0..5).into()), (&model.names[3], (0..15).into())]);
}

#[test]
fn intervals_of_locals_go_through_their_types() {
    let interval = |low: i128, high: i128, width: HostType| ValueInterval { low, high, width };
    let quiet = model(&[("a", "int32", 2, 100)], &[("twice", "uint8", "a * 2")]);
    let scope = [interval(2, 100, HostType::Int32), interval(4, 200, HostType::Uint8)];
    assert_eq!(quiet.enclose_names(), (scope.to_vec(), true));
    let sum = quiet.parse_expression("twice + a", "test").unwrap();
    assert_eq!(quiet.value_interval(&sum), interval(6, 300, HostType::Int32));
    let wrapping = model(&[("a", "int32", 2, 200)], &[("twice", "uint8", "a * 2")]);
    let scope = [interval(2, 200, HostType::Int32), interval(0, 255, HostType::Uint8)];
    assert_eq!(wrapping.enclose_names(), (scope.to_vec(), false));
    let dividing = model(&[("a", "int32", 0, 2)], &[("rest", "int32", "7 % a")]);
    assert!(!dividing.enclose_names().1);
}
