//! Tests of enclosing intervals, against the values that evaluation gives.

use super::expression::{DivisionRounding, HOST_TYPES, TypedValue, type_range};
use super::expression_tests::{WIDE_TYPES, names, operand_names, telling_values};
use super::interval::{ValueInterval, interval_of_type};
use super::parser::{BINARY_OPERATORS, parse_expression};
use proptest::prelude::*;
use vkcert_model::requirement::HostType;

/// All values that an expression takes where its operands range over two intervals, and whether
/// none of them is reported.
fn enumerate_values(
    text: &str,
    bounds: [[i128; 2]; 2],
    widths: [HostType; 2],
) -> (Vec<i128>, bool) {
    let expression = parse_expression(text, &operand_names(widths), "test").unwrap();
    let [left, right] = bounds;
    let mut values = Vec::new();
    let mut events = Vec::new();
    for a in left[0]..=left[1] {
        for b in right[0]..=right[1] {
            let operands = [
                TypedValue { value: a, width: widths[0] },
                TypedValue { value: b, width: widths[1] },
            ];
            let typed = expression.evaluate(&operands, DivisionRounding::Truncate, &mut events);
            values.push(typed.value);
        }
    }
    values.sort_unstable();
    (values, events.is_empty())
}

fn enclose_pair(
    text: &str,
    bounds: [[i128; 2]; 2],
    widths: [HostType; 2],
) -> (ValueInterval, bool) {
    let expression = parse_expression(text, &operand_names(widths), "test").unwrap();
    let scope = [0, 1].map(|index| ValueInterval {
        low: bounds[index][0],
        high: bounds[index][1],
        width: widths[index],
    });
    let mut is_quiet = true;
    (expression.enclose(&scope, &mut is_quiet), is_quiet)
}

fn small_ranges() -> Vec<[i128; 2]> {
    let bounds = [-9, -4, -1, 0, 1, 3, 8];
    let mut ranges = Vec::new();
    for low in bounds {
        ranges.extend(bounds.into_iter().filter(|high| low <= *high).map(|high| [low, high]));
    }
    ranges
}

/// The least and the greatest value are taken, not only enclosed.
#[test]
fn intervals_of_operations_without_wrap_are_exact() {
    let int32 = [HostType::Int32; 2];
    let texts = ["a + b", "a - b", "a * b", "a / b", "min(a, b)", "max(a, b)", "a << b", "a >> b"];
    let unary_texts = ["-a", "+a", "~a", "int32(uint8(a))", "b < 0 || b >= 0 ? a : a"];
    for left in small_ranges() {
        for right in small_ranges() {
            for text in texts.iter().chain(&unary_texts) {
                let (values, values_are_quiet) = enumerate_values(text, [left, right], int32);
                let (interval, is_quiet) = enclose_pair(text, [left, right], int32);
                assert_eq!(is_quiet, values_are_quiet, "{text} of {left:?} and {right:?}");
                let keeps_values = is_quiet && (*text != "int32(uint8(a))" || left[0] >= 0);
                let bounds = match (keeps_values, is_quiet) {
                    (true, _) => (values[0], values[values.len() - 1]),
                    // A range that wraps is one of all values.
                    (false, true) => (0, 255),
                    (false, false) => type_range(HostType::Int32),
                };
                assert_eq!(
                    (interval.low, interval.high, interval.width),
                    (bounds.0, bounds.1, HostType::Int32),
                    "{text} of {left:?} and {right:?}"
                );
            }
        }
    }
}

/// What the interval arithmetic knows of remainders and of bits.
#[test]
fn intervals_of_remainders_and_bits_have_the_bounds_that_the_operands_give() {
    let int32 = [HostType::Int32; 2];
    let whole = type_range(HostType::Int32);
    for left in small_ranges() {
        for right in small_ranges() {
            let ranges = format!("{left:?} and {right:?}");
            let (interval, is_quiet) = enclose_pair("a % b", [left, right], int32);
            let divides_by_zero = right[0] <= 0 && right[1] >= 0;
            assert_eq!(is_quiet, !divides_by_zero, "{ranges}");
            // A remainder lies between 0 and the dividend, so that the dividends from 0 on count.
            let dividends = [left[0].min(0), left[1].max(0)];
            let remainders = || enumerate_values("a % b", [dividends, right], int32).0;
            let bounds = if divides_by_zero {
                whole
            } else {
                (remainders()[0], *remainders().last().unwrap())
            };
            assert_eq!((interval.low, interval.high), bounds, "{ranges}");
            let is_negative = left[0] < 0 || right[0] < 0;
            let mut all_ones = 0;
            while all_ones < left[1].max(right[1]) {
                all_ones = 2 * all_ones + 1;
            }
            for (text, highest) in
                [("a & b", left[1].min(right[1])), ("a | b", all_ones), ("a ^ b", all_ones)]
            {
                let (interval, is_quiet) = enclose_pair(text, [left, right], int32);
                let bounds = if is_negative { whole } else { (0, highest) };
                assert_eq!((interval.low, interval.high), bounds, "{text} of {ranges}");
                assert!(is_quiet, "{text} of {ranges}");
            }
        }
    }
}

/// At the bounds of every type: each value lies inside, and what is quiet reports nothing.
#[test]
fn intervals_at_the_bounds_of_types_enclose_every_value() {
    for left_type in WIDE_TYPES {
        for right_type in WIDE_TYPES {
            for left in telling_values(left_type).windows(2).filter(|pair| pair[1] - pair[0] < 5) {
                for right in
                    telling_values(right_type).windows(2).filter(|pair| pair[1] - pair[0] < 5)
                {
                    let bounds = [[left[0], left[1]], [right[0], right[1]]];
                    let widths = [left_type, right_type];
                    for operator in ["+", "-", "*", "/", "%", "|", "^", "&", "<<", ">>", "<", "&&"]
                    {
                        let text = format!("a {operator} b");
                        let (values, values_are_quiet) = enumerate_values(&text, bounds, widths);
                        let (interval, is_quiet) = enclose_pair(&text, bounds, widths);
                        assert!(
                            interval.low <= values[0]
                                && values[values.len() - 1] <= interval.high
                                && (!is_quiet || values_are_quiet),
                            "{text} of {bounds:?}: {interval:?}, {values:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn an_interval_is_cut_to_its_type_only_where_it_does_not_fit() {
    for (low, high, fits) in [
        (0, 255, true),
        (0, 256, false),
        (-1, 255, false),
        (-1, 256, false),
        (7, 7, true),
        (300, 400, false),
    ] {
        let mut is_quiet = true;
        let interval = interval_of_type(low, high, HostType::Uint8, &mut is_quiet);
        let bounds = if fits { (low, high) } else { (0, 255) };
        assert_eq!((interval.low, interval.high, is_quiet), (bounds.0, bounds.1, fits));
        let mut stays_loud = false;
        interval_of_type(low, high, HostType::Uint8, &mut stays_loud);
        assert!(!stays_loud);
    }
}

proptest! {
    /// Whatever the operators: the value lies in the interval, and a quiet interval means no
    /// event.
    #[test]
    fn the_interval_encloses_the_value(
        operators in prop::collection::vec(0usize..BINARY_OPERATORS.len(), 1..5),
        operands in prop::collection::vec(0usize..9, 6),
        bounds in prop::collection::vec((-40i128..40, 0i128..60, 0i128..60), 4),
        large in 0u32..3,
    ) {
        let texts = ["a", "b", "c", "d", "5", "(a - b)", "(a > b ? c : d)", "min(a, c)", "uint8(max(b, c))"];
        let mut text = texts[operands[0]].to_owned();
        for (operator, operand) in operators.iter().zip(&operands[1..]) {
            text = format!("({text} {} {})", BINARY_OPERATORS[*operator].0, texts[*operand]);
        }
        let expression = parse_expression(&text, &names(), "test").unwrap();
        let mut scope = Vec::new();
        let mut enclosure = Vec::new();
        for (name, (low, length, place)) in names().iter().zip(bounds) {
            let scale = if large == 0 { type_range(name.width).1 / 64 } else { 1 };
            let (lowest, highest) = type_range(name.width);
            let clamp = |value: i128| (value * scale).clamp(lowest, highest);
            let (low, high, value) = (clamp(low), clamp(low + length), clamp(low + place.min(length)));
            scope.push(TypedValue { value, width: name.width });
            enclosure.push(ValueInterval { low, high, width: name.width });
        }
        let mut events = Vec::new();
        let typed = expression.evaluate(&scope, DivisionRounding::Truncate, &mut events);
        let mut quiet = true;
        let interval = expression.enclose(&enclosure, &mut quiet);
        prop_assert_eq!(typed.width, interval.width);
        prop_assert_eq!(typed.width, expression.width);
        prop_assert!(interval.low <= typed.value && typed.value <= interval.high, "{} = {:?} not in {:?}", text, typed, interval);
        prop_assert!(!quiet || events.is_empty(), "{} {:?}", text, events);
    }
}

/// An interval has the type that C gives the expression, of narrow operands, too.
#[test]
fn an_interval_has_the_type_of_its_expression() {
    let texts = [
        "a",
        "+a",
        "-a",
        "~a",
        "!a",
        "a + b",
        "a - b",
        "a * b",
        "a / 3",
        "a % 3",
        "a & b",
        "a | b",
        "a ^ b",
        "a << 1",
        "a >> 1",
        "a < b",
        "a && b",
        "min(a, b)",
        "max(a, b)",
        "a ? a : b",
        "int8(a)",
        "uint64(a)",
        "a / b",
        "a << b",
    ];
    for (_, left_type) in &HOST_TYPES[..8] {
        for (_, right_type) in &HOST_TYPES[..8] {
            let widths = [*left_type, *right_type];
            for text in texts {
                let expression = parse_expression(text, &operand_names(widths), "test").unwrap();
                let (interval, _) = enclose_pair(text, [[0, 5], [0, 7]], widths);
                assert_eq!(interval.width, expression.width, "{text} of {widths:?}");
            }
        }
    }
}
