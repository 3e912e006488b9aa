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

use std::ops::Range;
use vkcert_glsl::is_pure_function;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::structure::BooleanExpression;

/// Most conditions that one expression may have.
pub const MAX_CONDITIONS: usize = 128;
/// Most parentheses and negations around one condition.
const MAX_NESTING: usize = 200;
/// Longest expression text in bytes.
const MAX_TEXT: usize = 1 << 20;
/// The name that diagnostics give to the command-line argument.
pub const ARGUMENT: &str = "EXPR";

/// An expression with its conditions in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedExpression {
    pub expression: BooleanExpression,
    pub conditions: Vec<ParsedCondition>,
}

/// A condition of a parsed expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedCondition {
    /// White space collapsed to single spaces.
    pub text: String,
    /// Bytes in the expression text.
    pub span: Range<usize>,
    /// Conditions with the same number have the same text; numbers start at 0 in order of first
    /// occurrence.
    pub coupling: u32,
}

impl ParsedExpression {
    /// Coupling numbers by condition.
    pub fn coupling(&self) -> Vec<u32> {
        self.conditions.iter().map(|condition| condition.coupling).collect()
    }
}

/// Parses an expression; the diagnostic's span points into `text`.
pub fn parse(text: &str) -> Result<ParsedExpression, Diagnostic> {
    if text.len() > MAX_TEXT {
        let message = format!("the expression has {} bytes; the limit is {MAX_TEXT}", text.len());
        return Err(Diagnostic::new("expression-syntax", message));
    }
    let tokens = tokens(text)?;
    let closing = matching(text, &tokens)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        closing: &closing,
        conditions: Vec::new(),
        keys: Vec::new(),
    };
    let expression = parser.expression(0..tokens.len(), 0)?;
    Ok(ParsedExpression { expression, conditions: parser.conditions })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Identifier, keyword or number.
    Word,
    Open,
    Close,
    And,
    Or,
    Xor,
    Not,
    /// `++` and `--`: stand before or after an operand.
    Step,
    /// `+`, `-`, `~`: may stand before an operand.
    Sign,
    Dot,
    /// Any other operator between two operands.
    Binary,
    /// `=`, `+=` and the like.
    Assign,
    Comma,
    /// `?` and `:`.
    Choice,
}

#[derive(Debug, Clone)]
struct Token {
    kind: Kind,
    span: Range<usize>,
}

/// Operators, longest first, so that the first match is the right one.
const OPERATORS: &[(&str, Kind)] = &[
    ("<<=", Kind::Assign),
    (">>=", Kind::Assign),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("^^", Kind::Xor),
    ("==", Kind::Binary),
    ("!=", Kind::Binary),
    ("<=", Kind::Binary),
    (">=", Kind::Binary),
    ("<<", Kind::Binary),
    (">>", Kind::Binary),
    ("++", Kind::Step),
    ("--", Kind::Step),
    ("+=", Kind::Assign),
    ("-=", Kind::Assign),
    ("*=", Kind::Assign),
    ("/=", Kind::Assign),
    ("%=", Kind::Assign),
    ("&=", Kind::Assign),
    ("|=", Kind::Assign),
    ("^=", Kind::Assign),
    ("=", Kind::Assign),
    ("!", Kind::Not),
    ("+", Kind::Sign),
    ("-", Kind::Sign),
    ("~", Kind::Sign),
    ("<", Kind::Binary),
    (">", Kind::Binary),
    ("*", Kind::Binary),
    ("/", Kind::Binary),
    ("%", Kind::Binary),
    ("&", Kind::Binary),
    ("|", Kind::Binary),
    ("^", Kind::Binary),
    (".", Kind::Dot),
    (",", Kind::Comma),
    ("?", Kind::Choice),
    (":", Kind::Choice),
    ("(", Kind::Open),
    ("[", Kind::Open),
    (")", Kind::Close),
    ("]", Kind::Close),
];

fn tokens(text: &str) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let (kind, length) = token_at(&text[at..]).ok_or_else(|| {
            let end = at + character.len_utf8();
            syntax(text, at..end, format!("`{character}` has no meaning in an expression"))
        })?;
        tokens.push(Token { kind, span: at..at + length });
        at += length;
    }
    Ok(tokens)
}

/// Kind and length in bytes of the token that `rest` starts with.
fn token_at(rest: &str) -> Option<(Kind, usize)> {
    let bytes = rest.as_bytes();
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let number = bytes[0].is_ascii_digit()
        || (bytes[0] == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit));
    if number {
        return Some((Kind::Word, number_length(bytes)));
    }
    if word(&bytes[0]) {
        return Some((Kind::Word, bytes.iter().take_while(|byte| word(byte)).count()));
    }
    OPERATORS
        .iter()
        .find(|(operator, _)| rest.starts_with(operator))
        .map(|(operator, kind)| (*kind, operator.len()))
}

/// A number goes on over letters, digits and points, and over a sign behind the `e` of a decimal
/// exponent.
fn number_length(bytes: &[u8]) -> usize {
    let hexadecimal = bytes.len() > 1 && bytes[0] == b'0' && bytes[1].eq_ignore_ascii_case(&b'x');
    let mut length = 1;
    while let Some(byte) = bytes.get(length) {
        let exponent = !hexadecimal && bytes[length - 1].eq_ignore_ascii_case(&b'e');
        let sign = exponent && matches!(byte, b'+' | b'-');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || sign) {
            break;
        }
        length += 1;
    }
    length
}

/// For every opening bracket the index of its closing one (for other tokens: their own index).
fn matching(text: &str, tokens: &[Token]) -> Result<Vec<usize>, Diagnostic> {
    let mut closing: Vec<usize> = (0..tokens.len()).collect();
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => open.push(index),
            Kind::Close => {
                let here = &text[token.span.clone()];
                let partner = open.pop().filter(|&start| {
                    let opened = &text[tokens[start].span.clone()];
                    (opened == "(") == (here == ")")
                });
                let start = partner.ok_or_else(|| {
                    syntax(
                        text,
                        token.span.clone(),
                        format!("`{here}` closes nothing that is open here"),
                    )
                })?;
                closing[start] = index;
            }
            Kind::Word
            | Kind::And
            | Kind::Or
            | Kind::Xor
            | Kind::Not
            | Kind::Step
            | Kind::Sign
            | Kind::Dot
            | Kind::Binary
            | Kind::Assign
            | Kind::Comma
            | Kind::Choice => {}
        }
    }
    match open.pop() {
        None => Ok(closing),
        Some(start) => {
            let span = tokens[start].span.clone();
            let message = format!("`{}` is never closed", &text[span.clone()]);
            Err(syntax(text, span, message))
        }
    }
}

fn syntax(text: &str, span: Range<usize>, message: String) -> Diagnostic {
    Diagnostic::new("expression-syntax", message).at_span(ARGUMENT, text, span)
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    closing: &'a [usize],
    conditions: Vec<ParsedCondition>,
    /// Normalised text of each coupling number; none for a condition with side effects, which is
    /// coupled to nothing.
    keys: Vec<Option<String>>,
}

impl Parser<'_> {
    /// Parses the tokens of `range`, all of them.
    fn expression(
        &mut self,
        range: Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if depth > MAX_NESTING {
            let message =
                format!("more than {MAX_NESTING} parentheses and negations around one condition");
            return Err(self.error(range, message));
        }
        let operators = self.operators(&range)?;
        self.refuse_assignment(&range, &operators)?;
        let mut disjunction = None;
        let mut exclusive = None;
        let mut conjunction = None;
        let mut start = range.start;
        for end in operators.into_iter().chain([range.end]) {
            let operand = self.operand(start..end, &range, depth)?;
            conjunction = Some(join(conjunction, operand, BooleanExpression::And));
            let next = if end < range.end { self.tokens[end].kind } else { Kind::Close };
            if next != Kind::And {
                let finished = conjunction.take().expect("an operand was just joined");
                exclusive = Some(join(exclusive, finished, BooleanExpression::Xor));
            }
            if next != Kind::And && next != Kind::Xor {
                let finished = exclusive.take().expect("an operand was just joined");
                disjunction = Some(join(disjunction, finished, BooleanExpression::Or));
            }
            start = end + 1;
        }
        Ok(disjunction.expect("the last operand closes every level"))
    }

    /// Indexes of the Boolean operators that stand outside brackets in `range`.
    fn operators(&self, range: &Range<usize>) -> Result<Vec<usize>, Diagnostic> {
        let mut operators = Vec::new();
        let mut index = range.start;
        while index < range.end {
            let token = &self.tokens[index];
            match token.kind {
                Kind::And | Kind::Or | Kind::Xor => operators.push(index),
                Kind::Choice => {
                    let message =
                        "`?:` makes two decisions of this; give the part before the `?`".to_owned();
                    return Err(syntax(self.text, token.span.clone(), message));
                }
                Kind::Comma => {
                    let message = "one expression is expected, `,` separates two".to_owned();
                    return Err(syntax(self.text, token.span.clone(), message));
                }
                Kind::Word
                | Kind::Open
                | Kind::Close
                | Kind::Not
                | Kind::Step
                | Kind::Sign
                | Kind::Dot
                | Kind::Binary
                | Kind::Assign => {}
            }
            index = self.closing[index] + 1;
        }
        Ok(operators)
    }

    /// An assignment binds weaker than every Boolean operator (GLSL 4.60, section 5.1): `x = y &&
    /// z` assigns `y && z`, so that no condition ends beside the `&&`.
    fn refuse_assignment(
        &self,
        range: &Range<usize>,
        operators: &[usize],
    ) -> Result<(), Diagnostic> {
        let mut index = range.start;
        while index < range.end && !operators.is_empty() {
            let token = &self.tokens[index];
            if token.kind == Kind::Assign {
                let sign = &self.text[token.span.clone()];
                let message = format!("`{sign}` binds weaker than the Boolean operators beside it");
                let hint = format!(
                    "give the right side of `{sign}` alone, or put the assignment into parentheses"
                );
                return Err(syntax(self.text, token.span.clone(), message).hint(hint));
            }
            index = self.closing[index] + 1;
        }
        Ok(())
    }

    /// Parses one operand of a Boolean operator; `around` is for the message where it is empty.
    fn operand(
        &mut self,
        range: Range<usize>,
        around: &Range<usize>,
        depth: usize,
    ) -> Result<BooleanExpression, Diagnostic> {
        if range.is_empty() {
            return Err(self.missing_operand(range.start, around));
        }
        let first = range.start;
        let whole = self.tokens[first].kind == Kind::Open && self.closing[first] + 1 == range.end;
        if whole && self.is(first, "(") {
            let inside = first + 1..range.end - 1;
            return self.expression(inside, depth + 1);
        }
        if self.tokens[first].kind == Kind::Not && self.is_unary(first + 1..range.end) {
            if depth >= MAX_NESTING {
                let message = format!(
                    "more than {MAX_NESTING} parentheses and negations around one condition"
                );
                return Err(self.error(range, message));
            }
            let negated = self.operand(first + 1..range.end, around, depth + 1)?;
            return Ok(BooleanExpression::Not(Box::new(negated)));
        }
        self.condition(range)
    }

    /// Whether the tokens are one operand of a prefix operator: no binary operator outside
    /// brackets. (In `!a == b` the `!` belongs to `a` alone, so that the comparison is the
    /// condition.)
    fn is_unary(&self, range: Range<usize>) -> bool {
        let mut index = range.start;
        while index < range.end
            && matches!(self.tokens[index].kind, Kind::Not | Kind::Sign | Kind::Step)
        {
            index += 1;
        }
        while index < range.end {
            if matches!(
                self.tokens[index].kind,
                Kind::Binary | Kind::Sign | Kind::Assign | Kind::Not
            ) {
                return false;
            }
            index = self.closing[index] + 1;
        }
        true
    }

    fn condition(&mut self, range: Range<usize>) -> Result<BooleanExpression, Diagnostic> {
        if self.conditions.len() == MAX_CONDITIONS {
            return Err(
                self.error(range, format!("more than {MAX_CONDITIONS} conditions in one decision"))
            );
        }
        self.check_condition(&range)?;
        let span = self.tokens[range.start].span.start..self.tokens[range.end - 1].span.end;
        let text = self.text[span.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
        let kinds = || self.tokens[range.clone()].iter();
        let effects = kinds().any(|token| matches!(token.kind, Kind::Step | Kind::Assign))
            || self.calls(&range);
        let key: String =
            kinds().map(|token| format!("{} ", &self.text[token.span.clone()])).collect();
        let known = self.keys.iter().position(|other| !effects && other.as_ref() == Some(&key));
        let coupling = known.unwrap_or_else(|| {
            self.keys.push((!effects).then_some(key));
            self.keys.len() - 1
        });
        self.conditions.push(ParsedCondition { text, span, coupling: coupling as u32 });
        Ok(BooleanExpression::Condition(self.conditions.len() as u32 - 1))
    }

    /// Whether a function is called that is not known to be free of side effects.
    fn calls(&self, range: &Range<usize>) -> bool {
        self.tokens[range.clone()].windows(2).any(|pair| {
            let called = pair[0].kind == Kind::Word && &self.text[pair[1].span.clone()] == "(";
            called && !is_pure_function(&self.text[pair[0].span.clone()])
        })
    }

    /// Operands and operators must alternate, at every level of brackets.
    fn check_condition(&self, range: &Range<usize>) -> Result<(), Diagnostic> {
        let mut operand_before = false;
        for index in range.clone() {
            let token = &self.tokens[index];
            let here = &self.text[token.span.clone()];
            let fault = match token.kind {
                Kind::Word if operand_before => {
                    Some(format!("an operator is missing before `{here}`"))
                }
                Kind::Open if !operand_before && here == "[" => {
                    Some("`[` stands behind an array".to_owned())
                }
                Kind::Close if !operand_before && !self.is_empty_call(index) => {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Binary
                | Kind::Assign
                | Kind::Dot
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Comma
                    if !operand_before =>
                {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Choice if !operand_before => {
                    Some(format!("an operand is missing before `{here}`"))
                }
                Kind::Not if operand_before => Some("an operator is missing before `!`".to_owned()),
                Kind::Word
                | Kind::Open
                | Kind::Close
                | Kind::Binary
                | Kind::Assign
                | Kind::Dot
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Comma
                | Kind::Choice
                | Kind::Not
                | Kind::Step
                | Kind::Sign => None,
            };
            if let Some(message) = fault {
                return Err(syntax(self.text, token.span.clone(), message));
            }
            operand_before = match token.kind {
                Kind::Word | Kind::Close => true,
                // Behind an operand `++` leaves an operand; before one it waits for it.
                Kind::Step => operand_before,
                Kind::Open
                | Kind::And
                | Kind::Or
                | Kind::Xor
                | Kind::Not
                | Kind::Sign
                | Kind::Dot
                | Kind::Binary
                | Kind::Assign
                | Kind::Comma
                | Kind::Choice => false,
            };
        }
        if operand_before {
            return Ok(());
        }
        let last = self.tokens[range.end - 1].span.clone();
        let message = format!("an operand is missing behind `{}`", &self.text[last.clone()]);
        Err(syntax(self.text, last, message))
    }

    /// Whether the closing bracket at `index` ends the empty argument list of a call.
    fn is_empty_call(&self, index: usize) -> bool {
        index >= 2
            && self.is(index - 1, "(")
            && self.is(index, ")")
            && self.tokens[index - 2].kind == Kind::Word
    }

    fn is(&self, index: usize, text: &str) -> bool {
        &self.text[self.tokens[index].span.clone()] == text
    }

    fn missing_operand(&self, at: usize, around: &Range<usize>) -> Diagnostic {
        if at < around.end {
            let span = self.tokens[at].span.clone();
            let message = format!("an operand is missing before `{}`", &self.text[span.clone()]);
            return syntax(self.text, span, message);
        }
        match at.checked_sub(1) {
            None => syntax(self.text, 0..self.text.len(), "the expression is empty".to_owned())
                .hint("give a Boolean expression such as \"x < k && y < m\""),
            Some(before) => {
                let span = self.tokens[before].span.clone();
                let message =
                    format!("an operand is missing behind `{}`", &self.text[span.clone()]);
                syntax(self.text, span, message)
            }
        }
    }

    fn error(&self, range: Range<usize>, message: String) -> Diagnostic {
        let start = self.tokens[range.start.min(self.tokens.len() - 1)].span.clone();
        syntax(self.text, start, message)
    }
}

fn join(
    left: Option<BooleanExpression>,
    right: BooleanExpression,
    operator: fn(Box<BooleanExpression>, Box<BooleanExpression>) -> BooleanExpression,
) -> BooleanExpression {
    match left {
        None => right,
        Some(left) => operator(Box::new(left), Box::new(right)),
    }
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
        assert_eq!(parse("x<k && y || x < k && (x< k)").unwrap().coupling(), [0, 1, 0, 0]);
    }

    #[test]
    fn calls_are_coupled_where_the_function_is_known_to_have_no_effect() {
        assert_eq!(parse("f(x) && f(x)").unwrap().coupling(), [0, 1]);
        assert_eq!(
            parse("isnan(x) && isnan(x) && vec2(x).y > 0.0 && vec2(x).y > 0.0").unwrap().coupling(),
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
        assert_eq!(parse("i++ < 3 && i++ < 3").unwrap().coupling(), [0, 1]);
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
