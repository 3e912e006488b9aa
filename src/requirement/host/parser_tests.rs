//! Tests of the grammar of host expressions: binding strengths, literals, spans, faults, limits.

use super::expression::{BinaryOperator, HostExpression, HostExpressionKind, UnaryOperator};
use super::expression_tests::names;
use super::parser::parse_expression;
use vkcert_model::requirement::HostType;

/// The expression with all of its parentheses.
fn grouped(expression: &HostExpression) -> String {
    match &expression.kind {
        HostExpressionKind::Literal(value, _) => value.to_string(),
        HostExpressionKind::Variable(index) => names()[*index].name.clone(),
        HostExpressionKind::Unary(operator, operand) => {
            let sign = match operator {
                UnaryOperator::Negate => "-",
                UnaryOperator::Plus => "+",
                UnaryOperator::Complement => "~",
                UnaryOperator::Not => "!",
            };
            format!("({sign}{})", grouped(operand))
        }
        HostExpressionKind::Binary(operator, operands) => {
            let [left, right] = operands.each_ref().map(grouped);
            format!("({left} {} {right})", operator_text(*operator))
        }
        HostExpressionKind::Choice(parts) => {
            let [condition, chosen, other] = parts.each_ref().map(grouped);
            format!("({condition} ? {chosen} : {other})")
        }
        HostExpressionKind::Cast(_, operand) => format!("cast{}", grouped(operand)),
    }
}

fn operator_text(operator: BinaryOperator) -> &'static str {
    match operator {
        BinaryOperator::Or => "||",
        BinaryOperator::And => "&&",
        BinaryOperator::BitOr => "|",
        BinaryOperator::BitXor => "^",
        BinaryOperator::BitAnd => "&",
        BinaryOperator::Equal => "==",
        BinaryOperator::Unequal => "!=",
        BinaryOperator::Less => "<",
        BinaryOperator::LessEqual => "<=",
        BinaryOperator::Greater => ">",
        BinaryOperator::GreaterEqual => ">=",
        BinaryOperator::ShiftLeft => "<<",
        BinaryOperator::ShiftRight => ">>",
        BinaryOperator::Add => "+",
        BinaryOperator::Subtract => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Remainder => "%",
        BinaryOperator::Minimum => "min",
        BinaryOperator::Maximum => "max",
    }
}

/// ISO C17, 6.5.5 to 6.5.14: strongest first, each row from left to right.
const C_OPERATORS: [&[&str]; 10] = [
    &["*", "/", "%"],
    &["+", "-"],
    &["<<", ">>"],
    &["<", "<=", ">", ">="],
    &["==", "!="],
    &["&"],
    &["^"],
    &["|"],
    &["&&"],
    &["||"],
];

fn parsed(text: &str) -> HostExpression {
    parse_expression(text, &names(), "test").unwrap()
}

#[test]
fn operators_bind_as_those_of_c() {
    for (first_row, first_operators) in C_OPERATORS.iter().enumerate() {
        for (second_row, second_operators) in C_OPERATORS.iter().enumerate() {
            for first in *first_operators {
                for second in *second_operators {
                    let expected = if first_row <= second_row {
                        format!("((a {first} b) {second} c)")
                    } else {
                        format!("(a {first} (b {second} c))")
                    };
                    for text in [format!("a {first} b {second} c"), format!("a{first}b{second}c")] {
                        assert_eq!(grouped(&parsed(&text)), expected, "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn unary_operators_choices_and_calls_group_as_in_c() {
    for (text, expected) in [
        ("-a * b", "((-a) * b)"),
        ("a * -b", "(a * (-b))"),
        ("!a == b", "((!a) == b)"),
        ("~-+!a", "(~(-(+(!a))))"),
        ("a - -b", "(a - (-b))"),
        ("-(a + b)", "(-(a + b))"),
        ("a ? b : c", "(a ? b : c)"),
        ("a || b ? c : d + a", "((a || b) ? c : (d + a))"),
        ("a ? b : c ? d : a", "(a ? b : (c ? d : a))"),
        ("a ? b ? c : d : a", "(a ? (b ? c : d) : a)"),
        ("(a ? b : c) + d", "((a ? b : c) + d)"),
        ("((a))", "a"),
        ("min(a + 1, b) * max(c, d)", "(((a + 1) min b) * (c max d))"),
        ("uint64(a + b) * c", "(cast(a + b) * c)"),
        (" \t\n a \u{a0}+ b ", "(a + b)"),
    ] {
        assert_eq!(grouped(&parsed(text)), expected, "{text}");
    }
}

/// ISO C17, 6.4.4.1: the first type of the list in which the value fits.
#[test]
fn literals_have_the_type_that_c_gives_them() {
    for (text, value, host_type) in [
        ("0", 0, HostType::Int32),
        ("2147483647", 0x7fff_ffff, HostType::Int32),
        ("2147483648", 0x8000_0000, HostType::Int64),
        ("9223372036854775807", 0x7fff_ffff_ffff_ffff, HostType::Int64),
        ("0x7fffffff", 0x7fff_ffff, HostType::Int32),
        ("0x80000000", 0x8000_0000, HostType::Uint32),
        ("0xFFFFFFFF", 0xffff_ffff, HostType::Uint32),
        ("0X100000000", 0x1_0000_0000, HostType::Int64),
        ("0x8000000000000000", 0x8000_0000_0000_0000, HostType::Uint64),
        ("0x00ff", 255, HostType::Int32),
        ("1u", 1, HostType::Uint32),
        ("4294967295U", 0xffff_ffff, HostType::Uint32),
        ("4294967296u", 0x1_0000_0000, HostType::Uint64),
        ("0x1u", 1, HostType::Uint32),
        ("1l", 1, HostType::Int64),
        ("1LL", 1, HostType::Int64),
        ("0x80000000l", 0x8000_0000, HostType::Int64),
        ("0xffffffffffffffffL", 0xffff_ffff_ffff_ffff, HostType::Uint64),
        ("1ul", 1, HostType::Uint64),
        ("1LU", 1, HostType::Uint64),
        ("1ull", 1, HostType::Uint64),
        ("1LLU", 1, HostType::Uint64),
        ("18446744073709551615ul", 0xffff_ffff_ffff_ffff, HostType::Uint64),
    ] {
        let literal = parsed(text);
        assert_eq!(literal.kind, HostExpressionKind::Literal(value, host_type), "{text}");
        assert_eq!((literal.width, literal.span), (host_type, (0..text.len()).into()), "{text}");
    }
    for text in [
        "00",
        "017",
        "0u8",
        "0b1",
        "0x",
        "0xg",
        "1lul",
        "1uu",
        "1_000",
        "1e3",
        "9223372036854775808",
        "9223372036854775808l",
        "18446744073709551616u",
        "0x10000000000000000",
        "99999999999999999999999999999999999999999",
    ] {
        let diagnostic = parse_expression(text, &names(), "test").expect_err(text);
        assert_eq!(diagnostic.location.unwrap().span, Some(0..text.len()), "{text}");
    }
}

#[test]
fn a_span_holds_the_whole_of_an_expression() {
    for (text, part_text) in [
        (" a ", "a"),
        (" a + b ", "a + b"),
        (" (a + b) ", "(a + b)"),
        (" - a ", "- a"),
        ("a ? b : (c) ", "a ? b : (c)"),
        (" min( a , b ) ", "min( a , b )"),
        (" uint64( a ) ", "uint64( a )"),
        (" 12ul ", "12ul"),
    ] {
        let span = parsed(text).span;
        assert_eq!(&text[span.range()], part_text);
    }
    let HostExpressionKind::Binary(_, operands) = parsed("(a) + b * (c - 1)").kind else {
        panic!("a sum");
    };
    assert_eq!(operands.map(|operand| operand.span), [(0..3).into(), (6..17).into()]);
}

#[test]
fn names_are_words_of_letters_digits_and_underscores() {
    let name =
        |name: &str| super::expression::HostName { name: name.to_owned(), width: HostType::Int32 };
    let names = [name("n"), name("_n_1"), name("Nx")];
    for (text, index) in [("n", 0), ("_n_1", 1), ("Nx", 2)] {
        let expression = parse_expression(text, &names, "test").unwrap();
        assert_eq!(expression.kind, HostExpressionKind::Variable(index));
    }
    let diagnostic = parse_expression("n_2", &names, "groups[0]").unwrap_err();
    assert_eq!(diagnostic.message, "groups[0]: `n_2` is not declared");
    assert_eq!(diagnostic.hint.as_deref(), Some("declared before it: n, _n_1, Nx"));
    let diagnostic = parse_expression("n", &[], "groups[0]").unwrap_err();
    assert_eq!(diagnostic.hint.as_deref(), Some("declared before it: nothing"));
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
        ("é", 0..2),
        ("a é", 2..4),
        ("(aé", 2..4),
        ("a ? b", 5..5),
        ("a ? b ; c", 6..7),
        ("max(a, b", 8..8),
        ("uint64(a, b)", 8..9),
        ("float32(a)", 0..7),
        ("a + )", 4..5),
        ("a < = b", 4..5),
        ("_", 0..1),
    ] {
        let diagnostic = parse_expression(text, &names(), "test").expect_err(text);
        assert_eq!(diagnostic.location.unwrap().span, Some(span), "{text}: {}", diagnostic.message);
    }
}

#[test]
fn a_fault_tells_what_stands_at_its_place() {
    for (text, message) in [
        ("a é", "groups[1]: `é` is not expected here"),
        ("$", "groups[1]: `$` is not expected here"),
        ("1z", "groups[1]: `1z` is no integer literal"),
        ("(a", "groups[1]: `)` is expected here"),
        ("f(a)", "groups[1]: `f` is no function"),
    ] {
        let diagnostic = parse_expression(text, &names(), "groups[1]").expect_err(text);
        assert_eq!((diagnostic.kind, diagnostic.message.as_str()), ("expression-syntax", message));
        assert_eq!(diagnostic.location.unwrap().file, "groups[1]");
    }
}

#[test]
fn nesting_and_length_have_limits() {
    let parses = |text: &str| parse_expression(text, &names(), "test").is_ok();
    // The whole expression is a level, too.
    let nested = |levels: usize| format!("{}a{}", "(".repeat(levels), ")".repeat(levels));
    assert!(parses(&nested(99)) && !parses(&nested(100)));
    assert!(parses(&format!("{}a", "-".repeat(99))) && !parses(&format!("{}a", "-".repeat(100))));
    assert!(!parses(&"(".repeat(4000)) && !parses(&"-".repeat(4000)));
    // Levels that have ended do not count.
    assert!(parses(&vec![nested(50); 30].join("+")));
    assert!(parses(&vec!["a"; 2000].join("+")));
    assert!(
        parses(&format!("a{}", " ".repeat(4095))) && !parses(&format!("a{}", " ".repeat(4096)))
    );
}

#[test]
fn what_c_writes_otherwise_is_told_with_the_form_that_works() {
    let hint_of = |text: &str| {
        let diagnostic = parse_expression(text, &names(), "size").unwrap_err();
        diagnostic.hint.unwrap()
    };
    assert_eq!(hint_of("(uint64_t)a * 4"), "a conversion is written as a call: uint64(m) * n");
    assert_eq!(hint_of("uint16_t(a)"), "a conversion is written as a call: uint16(m) * n");
    let call = "a conversion is written as a call of a type: uint64(m) * n";
    assert_eq!(hint_of("(unsigned)a * 4"), call);
    assert_eq!(hint_of("(VkDeviceSize)a"), call);
    let number = "write the number of bytes, which the target decides";
    assert_eq!(hint_of("a * sizeof(Params)"), number);
    assert_eq!(hint_of("a * sizeof a"), number);
    assert!(parse_expression("uint64(a) * 4", &names(), "size").is_ok());
}
