//! Tests of host expressions: arithmetic as C has it, faults, and evaluation against intervals.

use super::expression::{DivisionRounding, HostName, TypedValue, type_range, wrap_to_type};
use super::interval::ValueInterval;
use super::parser::{BINARY_OPERATORS, parse_expression};
use proptest::prelude::*;
use vkcert_model::requirement::HostType;

fn names() -> Vec<HostName> {
    let name = |name: &str, width| HostName { name: name.to_owned(), width };
    vec![
        name("a", HostType::Uint32),
        name("b", HostType::Int32),
        name("c", HostType::Uint64),
        name("d", HostType::Uint8),
    ]
}

fn value(text: &str, values: [i128; 4]) -> (i128, HostType, usize) {
    let scope: Vec<TypedValue> = names()
        .iter()
        .zip(values)
        .map(|(name, value)| TypedValue { value, width: name.width })
        .collect();
    let mut events = Vec::new();
    let typed = parse_expression(text, &names(), "test").unwrap().evaluate(
        &scope,
        DivisionRounding::Truncate,
        &mut events,
    );
    (typed.value, typed.width, events.len())
}

#[test]
fn arithmetic_is_that_of_c() {
    let all = [10, -3, 7, 200];
    assert_eq!(value("(a + 15) / 16 * 2", all), (2, HostType::Uint32, 0));
    assert_eq!(
        value("a + b", all),
        (7, HostType::Uint32, 1),
        "-3 becomes 4294967293 and the sum wraps"
    );
    assert_eq!(value("b / 2", all), (-1, HostType::Int32, 0));
    assert_eq!(value("d + d", all), (400, HostType::Int32, 0), "bytes are promoted");
    assert_eq!(value("b < a", all), (0, HostType::Int32, 0), "compared unsigned");
    assert_eq!(value("a * 1000000000", all), (10_000_000_000 % (1 << 32), HostType::Uint32, 1));
    assert_eq!(value("uint64(a) * 1000000000", all), (10_000_000_000, HostType::Uint64, 0));
    assert_eq!(value("a > 5 ? 1 : 2", all), (1, HostType::Int32, 0));
    assert_eq!(value("a - 11", all), (0xffff_ffff, HostType::Uint32, 1));
    assert_eq!(value("1 << 4 | 3", all), (19, HostType::Int32, 0));
    let most = [0, 0, u64::MAX.into(), 0];
    assert_eq!(value("c * c", most), (1, HostType::Uint64, 1), "beyond what 127 bits hold");
    assert_eq!(value("a / 0", all), (0, HostType::Uint32, 1));
    assert_eq!(value("max(a, 12u) - min(a, 3u)", all), (9, HostType::Uint32, 0));
    assert_eq!(value("10 - 4 - 3", all), (3, HostType::Int32, 0));
    assert_eq!(value("-2 * 3 + ~0", all), (-7, HostType::Int32, 0));
    assert_eq!(value("0xffffffff", all).1, HostType::Uint32);
    assert_eq!(value("4294967295", all).1, HostType::Int64);
}

/// ISO C17, 6.3.1.1 and 6.3.1.3: operands narrower than an int are promoted; a conversion to a
/// narrow type keeps its low bits.
#[test]
fn narrow_types_overflow_where_those_of_c_do() {
    let narrow = [
        (HostType::Int8, -128, 127),
        (HostType::Uint8, 0, 255),
        (HostType::Int16, -32768, 32767),
        (HostType::Uint16, 0, 65535),
    ];
    for (width, lowest, highest) in narrow {
        assert_eq!(type_range(width), (lowest, highest), "{width:?}");
        assert_eq!(
            (wrap_to_type(highest + 1, width), wrap_to_type(lowest - 1, width)),
            (lowest, highest),
            "{width:?}"
        );
        let names = [HostName { name: "n".to_owned(), width }];
        let evaluated = |text: &str| {
            let mut events = Vec::new();
            let scope = [TypedValue { value: highest, width }];
            let typed = parse_expression(text, &names, "test").unwrap().evaluate(
                &scope,
                DivisionRounding::Truncate,
                &mut events,
            );
            let enclosed = ValueInterval { low: lowest, high: highest, width };
            let mut quiet = true;
            let interval =
                parse_expression(text, &names, "test").unwrap().enclose(&[enclosed], &mut quiet);
            assert!(
                interval.low <= typed.value && typed.value <= interval.high,
                "{text} of {width:?}"
            );
            assert!(!quiet || events.is_empty(), "{text} of {width:?}: {events:?}");
            (typed.value, typed.width, events.len())
        };
        assert_eq!(evaluated("n + 1"), (highest + 1, HostType::Int32, 0), "{width:?}");
        let (square, overflows) = match width {
            HostType::Uint16 => (highest * highest - (1 << 32), 1),
            _ => (highest * highest, 0),
        };
        assert_eq!(evaluated("n * n"), (square, HostType::Int32, overflows), "{width:?}");
    }
}

#[test]
fn faults_are_diagnostics_with_a_span() {
    for (text, span) in [
        ("", 0..0),
        ("a +", 2..3),
        ("a b", 2..3),
        ("(a", 2..2),
        ("x", 0..1),
        ("f(a)", 0..1),
        ("1z", 0..2),
        ("a $", 2..3),
        ("min(a)", 5..6),
        ("010", 0..3),
    ] {
        let diagnostic = parse_expression(text, &names(), "test").expect_err(text);
        assert_eq!(diagnostic.location.unwrap().span, Some(span), "{text}: {}", diagnostic.message);
    }
    assert!(parse_expression(&"(".repeat(4000), &names(), "test").is_err());
    assert!(parse_expression(&"-".repeat(4000), &names(), "test").is_err());
    assert!(parse_expression(&vec!["a"; 2000].join("+"), &names(), "test").is_ok());
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
