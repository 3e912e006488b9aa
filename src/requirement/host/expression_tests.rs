//! Tests of the evaluation of host expressions: arithmetic as C has it, and what it reports.

use super::expression::{
    ArithmeticEvent, DivisionRounding, HOST_TYPES, HostName, TypedValue, type_name, type_range,
    wrap_to_type,
};
use super::interval::ValueInterval;
use super::parser::parse_expression;
use std::collections::BTreeSet;
use vkcert_model::requirement::HostType;

pub(super) fn names() -> Vec<HostName> {
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

/// What an expression of two names gives, and what it reports.
pub(super) struct Evaluated {
    pub(super) value: i128,
    pub(super) width: HostType,
    pub(super) events: Vec<ArithmeticEvent>,
}

/// The operands `a` and `b` with their types.
type Operands = [TypedValue; 2];

pub(super) fn evaluate_pair(
    text: &str,
    operands: Operands,
    division: DivisionRounding,
) -> Evaluated {
    let names = operand_names(operands.map(|operand| operand.width));
    let expression = parse_expression(text, &names, "test").unwrap();
    let mut events = Vec::new();
    let typed = expression.evaluate(&operands, division, &mut events);
    assert_eq!(typed.width, expression.width, "{text}");
    Evaluated { value: typed.value, width: typed.width, events }
}

pub(super) fn operand_names(widths: [HostType; 2]) -> [HostName; 2] {
    let [first, second] = widths;
    [
        HostName { name: "a".to_owned(), width: first },
        HostName { name: "b".to_owned(), width: second },
    ]
}

/// What the machine gives for operands of one native type, and whether that is the exact result;
/// 0 for a division by zero.
macro_rules! native_arithmetic {
    ($function:ident, $native:ty) => {
        fn $function(operator: &str, a: i128, b: i128) -> (i128, bool) {
            let (a, b) = (a as $native, b as $native);
            let (value, is_exact) = match operator {
                "+" => (a.wrapping_add(b), a.checked_add(b).is_some()),
                "-" => (a.wrapping_sub(b), a.checked_sub(b).is_some()),
                "*" => (a.wrapping_mul(b), a.checked_mul(b).is_some()),
                "/" if b == 0 => (0, false),
                "/" => (a.wrapping_div(b), a.checked_div(b).is_some()),
                "%" if b == 0 => (0, false),
                "%" => (a.wrapping_rem(b), a.checked_rem(b).is_some()),
                "|" => (a | b, true),
                "^" => (a ^ b, true),
                "&" => (a & b, true),
                other => panic!("{other}"),
            };
            (i128::from(value), is_exact)
        }
    };
}

native_arithmetic!(int32_arithmetic, i32);
native_arithmetic!(uint32_arithmetic, u32);
native_arithmetic!(int64_arithmetic, i64);
native_arithmetic!(uint64_arithmetic, u64);

pub(super) const WIDE_TYPES: [HostType; 4] =
    [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64];

/// ISO C17, 6.3.1.8, for types that are not promoted: rows and columns as in `WIDE_TYPES`.
const COMMON_TYPES: [[HostType; 4]; 4] = [
    [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64],
    [HostType::Uint32, HostType::Uint32, HostType::Int64, HostType::Uint64],
    [HostType::Int64, HostType::Int64, HostType::Int64, HostType::Uint64],
    [HostType::Uint64, HostType::Uint64, HostType::Uint64, HostType::Uint64],
];

/// Values of a type at and beside its bounds and 0, ascending.
pub(super) fn telling_values(host_type: HostType) -> Vec<i128> {
    let (lowest, highest) = type_range(host_type);
    let values = [lowest, lowest + 1, -7, -3, -2, -1, 0, 1, 2, 3, 7, 100, highest - 1, highest];
    let of_type = values.into_iter().filter(|value| (lowest..=highest).contains(value));
    of_type.collect::<BTreeSet<i128>>().into_iter().collect()
}

/// All pairs of telling values of all pairs of types that are not promoted, with the common type.
fn telling_operands() -> Vec<(Operands, HostType)> {
    let mut pairs = Vec::new();
    for (row, left_type) in WIDE_TYPES.into_iter().enumerate() {
        for (column, right_type) in WIDE_TYPES.into_iter().enumerate() {
            for left in telling_values(left_type) {
                for right in telling_values(right_type) {
                    let operands = [
                        TypedValue { value: left, width: left_type },
                        TypedValue { value: right, width: right_type },
                    ];
                    pairs.push((operands, COMMON_TYPES[row][column]));
                }
            }
        }
    }
    pairs
}

#[test]
fn arithmetic_of_every_type_is_that_of_the_machine() {
    for (operands, common_type) in telling_operands() {
        let native = match common_type {
            HostType::Int32 => int32_arithmetic,
            HostType::Uint32 => uint32_arithmetic,
            HostType::Int64 => int64_arithmetic,
            _ => uint64_arithmetic,
        };
        for operator in ["+", "-", "*", "/", "%", "|", "^", "&"] {
            let text = format!("a {operator} b");
            let evaluated = evaluate_pair(&text, operands, DivisionRounding::Truncate);
            let [a, b] = operands.map(|operand| operand.value);
            let (value, is_exact) = native(operator, a, b);
            assert_eq!((evaluated.value, evaluated.width), (value, common_type), "{a} {text} {b}");
            assert_eq!(evaluated.events.is_empty(), is_exact, "{a} {text} {b}, {common_type:?}");
        }
    }
}

#[test]
fn comparisons_are_of_values_in_the_common_type() {
    for (operands, common_type) in telling_operands() {
        let [a, b] = operands.map(|operand| operand.value);
        let converted = |value: i128| match common_type {
            HostType::Int32 => i128::from(value as i32),
            HostType::Uint32 => i128::from(value as u32),
            HostType::Int64 => i128::from(value as i64),
            _ => i128::from(value as u64),
        };
        let (left, right) = (converted(a), converted(b));
        let truths = [
            ("==", left == right),
            ("!=", left != right),
            ("<", left < right),
            ("<=", left <= right),
            (">", left > right),
            (">=", left >= right),
            ("&&", a != 0 && b != 0),
            ("||", a != 0 || b != 0),
        ];
        for (operator, is_true) in truths {
            let text = format!("a {operator} b");
            let evaluated = evaluate_pair(&text, operands, DivisionRounding::Truncate);
            assert_eq!(evaluated.value, i128::from(is_true), "{a} {operator} {b}, {common_type:?}");
            assert_eq!((evaluated.width, evaluated.events.len()), (HostType::Int32, 0));
        }
        for (text, value) in [("min(a, b)", left.min(right)), ("max(a, b)", left.max(right))] {
            let evaluated = evaluate_pair(text, operands, DivisionRounding::Truncate);
            assert_eq!((evaluated.value, evaluated.width), (value, common_type), "{text} {a} {b}");
            assert!(evaluated.events.is_empty());
        }
    }
}

/// ISO C17, 6.5.13 and 6.5.14: what is decided by the left operand leaves the right one out.
#[test]
fn a_truth_value_that_is_decided_evaluates_nothing_more() {
    for (text, result, events) in [
        ("0 && 1 / 0", 0, 0),
        ("1 && 1 / 0", 0, 1),
        ("1 || 1 / 0", 1, 0),
        ("0 || 1 / 0", 0, 1),
        ("2 || 1 / 0", 1, 0),
        ("a != 10 && 100 / (a - 10) > 0", 0, 0),
        ("1 ? 2 : 1 / 0", 2, 0),
        ("0 ? 1 / 0 : 3", 3, 0),
        ("1 / 0 ? 2 : 3", 3, 1),
        ("1 || 0 && 0", 1, 0),
    ] {
        let evaluated = value(text, [10, 0, 0, 0]);
        assert_eq!((evaluated.0, evaluated.2), (result, events), "{text}");
        assert_eq!(evaluated.1, HostType::Int32, "{text}");
    }
}

/// ISO C17, 6.5.7: the type is that of the promoted left operand, and the amount is less than its
/// width.
#[test]
fn shifts_stay_within_the_type_of_the_left_operand() {
    for left_type in WIDE_TYPES {
        let bit_width: i128 = match left_type {
            HostType::Int32 | HostType::Uint32 => 32,
            _ => 64,
        };
        let (lowest, highest) = type_range(left_type);
        for left in telling_values(left_type) {
            for amount in [-1, 0, 1, 31, 32, 63, 64] {
                let operands = [
                    TypedValue { value: left, width: left_type },
                    TypedValue { value: amount, width: HostType::Int64 },
                ];
                let [to_left, to_right] = ["a << b", "a >> b"]
                    .map(|text| evaluate_pair(text, operands, DivisionRounding::Truncate));
                assert_eq!((to_left.width, to_right.width), (left_type, left_type));
                if !(0..bit_width).contains(&amount) {
                    assert_eq!((to_left.value, to_right.value), (0, 0), "{left} by {amount}");
                    for shifted in [to_left, to_right] {
                        let [ArithmeticEvent::ShiftTooFar { amount: told, .. }] =
                            shifted.events[..]
                        else {
                            panic!("{left} by {amount}: {:?}", shifted.events);
                        };
                        assert_eq!(told, amount);
                    }
                    continue;
                }
                let scale = 2i128.pow(amount as u32);
                let exact = left * scale;
                assert_eq!(to_right.value, left.div_euclid(scale), "{left} >> {amount}");
                assert!(to_right.events.is_empty());
                assert_eq!(to_left.events.is_empty(), (lowest..=highest).contains(&exact));
                assert_eq!((to_left.value - exact) % 2i128.pow(bit_width as u32), 0);
                assert!((lowest..=highest).contains(&to_left.value), "{left} << {amount}");
            }
        }
    }
}

#[test]
fn unary_operators_are_of_the_promoted_type() {
    for (type_name, host_type) in HOST_TYPES.iter().take(8) {
        let promoted = match host_type {
            HostType::Int8 | HostType::Uint8 | HostType::Int16 | HostType::Uint16 => {
                HostType::Int32
            }
            wide => *wide,
        };
        let (lowest, highest) = type_range(promoted);
        for value in telling_values(*host_type) {
            let operands = [TypedValue { value, width: *host_type }; 2];
            let evaluated = |text: &str| evaluate_pair(text, operands, DivisionRounding::Truncate);
            let kept = evaluated("+a");
            assert_eq!((kept.value, kept.width), (value, promoted), "{type_name}");
            let negated = evaluated("-a");
            assert_eq!((negated.value + value) % (highest - lowest + 1), 0, "{type_name}");
            assert_eq!(negated.width, promoted);
            assert_eq!(negated.events.is_empty(), (lowest..=highest).contains(&-value));
            // In two's complement, and in an unsigned type, ~a is the greatest pattern less a.
            let complement = evaluated("~a");
            let expected = if lowest < 0 { -1 - value } else { highest - value };
            assert_eq!((complement.value, complement.width), (expected, promoted), "{type_name}");
            let denied = evaluated("!a");
            assert_eq!((denied.value, denied.width), (i128::from(value == 0), HostType::Int32));
            assert_eq!(
                (kept.events.len(), complement.events.len(), denied.events.len()),
                (0, 0, 0)
            );
        }
    }
}

/// What an event tells: the operation alone, and its result before it wraps.
#[test]
fn an_event_tells_the_operation_and_its_exact_result() {
    let names = operand_names([HostType::Int32, HostType::Int32]);
    let cases: [(&str, i128, i128, ArithmeticEvent); 6] = [
        (
            "1 + (a + b)",
            0x7fff_ffff,
            1,
            ArithmeticEvent::Overflow {
                span: (4..11).into(),
                exact: 0x8000_0000,
                width: HostType::Int32,
            },
        ),
        (
            "1 - -a",
            -0x8000_0000,
            0,
            ArithmeticEvent::Overflow {
                span: (4..6).into(),
                exact: 0x8000_0000,
                width: HostType::Int32,
            },
        ),
        (
            "a / b",
            -0x8000_0000,
            -1,
            ArithmeticEvent::Overflow {
                span: (0..5).into(),
                exact: 0x8000_0000,
                width: HostType::Int32,
            },
        ),
        (
            "a % b",
            -0x8000_0000,
            -1,
            ArithmeticEvent::QuotientOverflow {
                span: (0..5).into(),
                quotient: 0x8000_0000,
                width: HostType::Int32,
            },
        ),
        ("2 * (a % b)", 3, 0, ArithmeticEvent::DivisionByZero { span: (4..11).into() }),
        ("5 | a << b", 3, 32, ArithmeticEvent::ShiftTooFar { span: (4..10).into(), amount: 32 }),
    ];
    for (text, a, b, event) in cases {
        let expression = parse_expression(text, &names, "test").unwrap();
        let scope = [a, b].map(|value| TypedValue { value, width: HostType::Int32 });
        let mut events = Vec::new();
        expression.evaluate(&scope, DivisionRounding::Truncate, &mut events);
        assert_eq!(events.first(), Some(&event), "{text} with {a} and {b}");
    }
}

/// Rounded up, a quotient is the least integer that is not below the exact one.
#[test]
fn a_division_that_rounds_up_drops_nothing() {
    for a in -12i128..=12 {
        for b in (-5i128..=5).filter(|b| *b != 0) {
            let operands = [a, b].map(|value| TypedValue { value, width: HostType::Int32 });
            let ceiling = (-100..=100).find(|quotient| match b > 0 {
                true => quotient * b >= a,
                false => quotient * b <= a,
            });
            let rounded = evaluate_pair("a / b", operands, DivisionRounding::RoundUp);
            assert_eq!(Some(rounded.value), ceiling, "{a} / {b}");
            let truncated = evaluate_pair("a / b", operands, DivisionRounding::Truncate);
            assert_eq!(truncated.value, (a as i32 / b as i32).into(), "{a} / {b}");
        }
    }
}

#[test]
fn a_cast_keeps_the_low_bits_and_reports_nothing() {
    let bits = 0x1_89ab_cdef_u64;
    for (text, kept) in [
        ("int8(a)", i128::from(bits as i8)),
        ("uint8(a)", i128::from(bits as u8)),
        ("int16(a)", i128::from(bits as i16)),
        ("uint16(a)", i128::from(bits as u16)),
        ("int32(a)", i128::from(bits as i32)),
        ("uint32(a)", i128::from(bits as u32)),
        ("int64(a)", i128::from(bits as i64)),
        ("uint64(a)", i128::from(bits)),
        ("uint64(int8(a))", i128::from(bits as i8 as u64)),
        ("0 ? a : int8(a)", i128::from(bits as i8 as u64)),
    ] {
        let operands = [TypedValue { value: bits.into(), width: HostType::Uint64 }; 2];
        let evaluated = evaluate_pair(text, operands, DivisionRounding::Truncate);
        assert_eq!((evaluated.value, evaluated.events.len()), (kept, 0), "{text}");
    }
}

#[test]
fn types_have_the_names_and_ranges_that_interfaces_write() {
    let ranges = [
        ("int8", i128::from(i8::MIN), i128::from(i8::MAX)),
        ("uint8", 0, u8::MAX.into()),
        ("int16", i16::MIN.into(), i16::MAX.into()),
        ("uint16", 0, u16::MAX.into()),
        ("int32", i32::MIN.into(), i32::MAX.into()),
        ("uint32", 0, u32::MAX.into()),
        ("int64", i64::MIN.into(), i64::MAX.into()),
        ("uint64", 0, u64::MAX.into()),
    ];
    for (name, lowest, highest) in ranges {
        let host_type: HostType = serde_json::from_value(name.into()).unwrap();
        assert_eq!((type_name(host_type), type_range(host_type)), (name, (lowest, highest)));
        for beyond in [lowest - 1, highest + 1] {
            let wrapped = wrap_to_type(beyond, host_type);
            assert_eq!((wrapped - beyond).abs(), highest - lowest + 1, "{name}");
        }
        for inside in telling_values(host_type) {
            assert_eq!(wrap_to_type(inside, host_type), inside, "{name}");
        }
    }
    assert_eq!(type_name(HostType::Float64), "float64");
}
