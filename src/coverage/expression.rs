//! Reads the Boolean expression of `vkcert mcdc EXPR`.
//!
//! Knows: the operators `!`, `&&`, `^^`, `||` with the precedence of GLSL (GLSL 4.60, section 5.1:
//! `!` binds tighter than the relational operators, those tighter than `&&`, then `^^`, then `||`),
//! parentheses, and where a condition ends.
//! Promises: every condition is a maximal text without Boolean operators of its own level (`x < k`,
//! `f(a, b)`, `v[i].x`); conditions whose texts are equal token by token are coupled; deep or long
//! input is a diagnostic, never an overflow.
//! Does not cover: types (`a < b < c` is taken as it stands) and decisions nested inside a
//! condition, for example in an argument: these are decisions of their own in a kernel, here they
//! are part of the condition's text.

mod parser;
mod token;

pub use parser::ParsedCondition;
use parser::Parser;
pub use token::ARGUMENT;
use token::{expression_tokens, matching_brackets};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::structure::BooleanExpression;

/// Longest expression text in bytes.
const MAX_TEXT: usize = 1 << 20;

/// An expression with its conditions in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedExpression {
    /// The operators over the conditions' indices.
    pub expression: BooleanExpression,
    /// The conditions, which the expression names by 0-based index.
    pub conditions: Vec<ParsedCondition>,
}

impl ParsedExpression {
    /// Coupling numbers by condition.
    pub fn coupling_numbers(&self) -> Vec<u32> {
        self.conditions.iter().map(|condition| condition.coupling).collect()
    }
}

/// Parses an expression; the diagnostic's span points into `text`.
pub fn parse(text: &str) -> Result<ParsedExpression, Diagnostic> {
    if text.len() > MAX_TEXT {
        let message = format!("the expression has {} bytes; the limit is {MAX_TEXT}", text.len());
        return Err(Diagnostic::new("expression-syntax", message));
    }
    let tokens = expression_tokens(text)?;
    let closing_brackets = matching_brackets(text, &tokens)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        closing_brackets: &closing_brackets,
        conditions: Vec::new(),
        coupling_keys: Vec::new(),
    };
    let expression = parser.parse_expression(0..tokens.len(), 0)?;
    Ok(ParsedExpression { expression, conditions: parser.conditions })
}

#[cfg(test)]
mod tests {
    use super::*;
    use BooleanExpression as E;

    fn texts(text: &str) -> Vec<String> {
        parse(text).unwrap().conditions.into_iter().map(|condition| condition.text).collect()
    }

    fn leaf(index: u32) -> Box<E> {
        Box::new(E::Condition(index))
    }

    #[test]
    fn precedence_is_that_of_glsl() {
        let expected = E::Or(
            leaf(0),
            Box::new(E::Xor(leaf(1), Box::new(E::And(leaf(2), Box::new(E::Not(leaf(3))))))),
        );
        assert_eq!(parse("a || b ^^ c && !d").unwrap().expression, expected);
    }

    #[test]
    fn operators_associate_to_the_left() {
        let expected = E::And(Box::new(E::And(leaf(0), leaf(1))), leaf(2));
        assert_eq!(parse("a && b && c").unwrap().expression, expected);
    }

    #[test]
    fn a_condition_reaches_to_the_next_boolean_operator() {
        assert_eq!(
            texts("x  <  k && f(a, b && c)[2].xy == g() || (p + 1) * 2 > -1.0e-3"),
            ["x < k", "f(a, b && c)[2].xy == g()", "(p + 1) * 2 > -1.0e-3"]
        );
    }

    #[test]
    fn negation_of_a_comparison_operand_stays_in_the_condition() {
        assert_eq!(texts("!a == b && !(c == d)"), ["!a == b", "c == d"]);
    }

    #[test]
    fn equal_texts_are_coupled_whatever_their_spacing() {
        assert_eq!(parse("x<k && y || x < k && (x< k)").unwrap().coupling_numbers(), [0, 1, 0, 0]);
    }

    #[test]
    fn calls_are_coupled_where_the_function_is_known_to_have_no_effect() {
        assert_eq!(parse("f(x) && f(x)").unwrap().coupling_numbers(), [0, 1]);
        assert_eq!(
            parse("isnan(x) && isnan(x) && vec2(x).y > 0.0 && vec2(x).y > 0.0")
                .unwrap()
                .coupling_numbers(),
            [0, 0, 1, 1]
        );
    }

    #[test]
    fn an_assignment_alone_or_in_parentheses_is_a_condition() {
        assert_eq!(texts("(x = y) && z"), ["x = y", "z"]);
        assert_eq!(texts("x = y"), ["x = y"]);
    }

    #[test]
    fn side_effects_are_never_coupled() {
        assert_eq!(parse("i++ < 3 && i++ < 3").unwrap().coupling_numbers(), [0, 1]);
    }

    #[test]
    fn faults_are_diagnostics_with_a_span() {
        for (text, span) in [
            ("", 0..0),
            ("a &&", 2..4),
            ("a && && b", 5..7),
            ("&& b", 0..2),
            ("(a && b", 0..1),
            ("a) && b", 1..2),
            ("a[0) && b", 3..4),
            ("a b", 2..3),
            ("a && x <", 7..8),
            ("a ? b : c", 2..3),
            ("a, b", 1..2),
            ("a @ b", 2..3),
            ("ä", 0..2),
            ("()", 0..1),
            ("!", 0..1),
            ("a !b", 2..3),
            ("f(a,) && b", 4..5),
            ("x = y && z", 2..3),
            ("a && x += y", 7..9),
            ("(x = y || w) && z", 3..4),
        ] {
            let diagnostic = parse(text).expect_err(text);
            assert_eq!(
                diagnostic.location.unwrap().span,
                Some(span),
                "{text}: {}",
                diagnostic.message
            );
        }
    }

    #[test]
    fn deep_and_long_expressions_are_diagnostics() {
        let deep = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(parse(&deep).unwrap_err().message.contains("parentheses"));
        assert!(
            parse(&format!("{}a", "!".repeat(100_000))).unwrap_err().message.contains("negations")
        );
        assert!(parse(&vec!["a"; 100_000].join("&&")).unwrap_err().message.contains("conditions"));
        assert!(parse(&"a ".repeat(1_000_000)).unwrap_err().message.contains("bytes"));
        assert!(parse(&format!("f{}{}", "(".repeat(100_000), ")".repeat(100_000))).is_err());
    }
}
