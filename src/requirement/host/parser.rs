//! Recursive-descent parser of host expressions, by binding strength of the operators.
//!
//! Promises: an expression outside the grammar is a diagnostic with its place in the text; nesting
//! and length have limits, so that no text exhausts the stack.
//! Does not cover: what an expression means (`expression`).

use super::expression::{Binary, Expression, Kind, Name, TYPES, Unary, integer, range};
use std::ops::Range;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::HostType;

/// Deepest nesting of operators.
const MAX_DEPTH: usize = 100;
/// Longest text of an expression, in bytes.
const MAX_TEXT: usize = 4_096;

/// Operators by binding strength, weakest first; longest texts first within the table.
pub(super) const BINARY: &[(&str, Binary, u8)] = &[
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("==", Binary::Equal, 6),
    ("!=", Binary::Unequal, 6),
    ("<<", Binary::ShiftLeft, 8),
    (">>", Binary::ShiftRight, 8),
    ("<=", Binary::LessEqual, 7),
    (">=", Binary::GreaterEqual, 7),
    ("<", Binary::Less, 7),
    (">", Binary::Greater, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("+", Binary::Add, 9),
    ("-", Binary::Subtract, 9),
    ("*", Binary::Multiply, 10),
    ("/", Binary::Divide, 10),
    ("%", Binary::Remainder, 10),
];

/// Parses an expression over `names`; `place` names it in diagnostics (`groups[0]`).
pub fn parse(
    expression_text: &str,
    names: &[Name],
    diagnostic_place: &str,
) -> Result<Expression, Diagnostic> {
    let mut parser =
        Parser { text: expression_text, at: 0, names, place: diagnostic_place, depth: 0 };
    if expression_text.len() > MAX_TEXT {
        return Err(parser.error(
            0..0,
            format!("the expression has {} bytes; the limit is {MAX_TEXT}", expression_text.len()),
        ));
    }
    let expression = parser.expression(0)?;
    parser.space();
    if parser.at < expression_text.len() {
        let unexpected_span = parser.at..parser.at + parser.next().map_or(1, char::len_utf8);
        return Err(parser.error(
            unexpected_span.clone(),
            format!("`{}` is not expected here", &expression_text[unexpected_span]),
        ));
    }
    Ok(expression)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    names: &'a [Name],
    place: &'a str,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, span: Range<usize>, message: String) -> Diagnostic {
        Diagnostic::new("expression-syntax", format!("{}: {message}", self.place))
            .at_span(self.place, self.text, span)
    }

    fn next(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn space(&mut self) {
        while let Some(character) = self.next().filter(|character| character.is_whitespace()) {
            self.at += character.len_utf8();
        }
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let is_next = self.text[self.at..].starts_with(token);
        if is_next {
            self.at += token.len();
        }
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.take(token) {
            return Ok(());
        }
        let span_end = (self.at + self.next().map_or(0, char::len_utf8)).min(self.text.len());
        Err(self.error(self.at..span_end, format!("`{token}` is expected here")))
    }

    /// Parses operators that bind more strongly than `above`.
    fn expression(&mut self, binding_strength: u8) -> Result<Expression, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.error(self.at..self.at, format!("more than {MAX_DEPTH} levels of operators"))
            );
        }
        let mut left_operand = self.operand()?;
        loop {
            self.space();
            let remaining_text = &self.text[self.at..];
            if binding_strength == 0 && remaining_text.starts_with('?') {
                left_operand = self.choice(left_operand)?;
                continue;
            }
            let operator = BINARY.iter().find(|(token, ..)| remaining_text.starts_with(token));
            let Some((token, operator, strength)) =
                operator.filter(|(.., strength)| *strength > binding_strength)
            else {
                break;
            };
            self.at += token.len();
            let right_operand = self.expression(*strength)?;
            let span = left_operand.span.start..right_operand.span.end;
            left_operand = Expression::new(
                Kind::Binary(*operator, Box::new([left_operand, right_operand])),
                self.names,
                span,
            );
        }
        self.depth -= 1;
        Ok(left_operand)
    }

    fn choice(&mut self, condition: Expression) -> Result<Expression, Diagnostic> {
        self.expect("?")?;
        let value_if_true = self.expression(0)?;
        self.expect(":")?;
        let value_if_false = self.expression(0)?;
        let span = condition.span.start..value_if_false.span.end;
        Ok(Expression::new(
            Kind::Choice(Box::new([condition, value_if_true, value_if_false])),
            self.names,
            span,
        ))
    }

    fn operand(&mut self) -> Result<Expression, Diagnostic> {
        self.space();
        let operand_start = self.at;
        for (token, operator) in
            [("-", Unary::Negate), ("+", Unary::Plus), ("~", Unary::Complement), ("!", Unary::Not)]
        {
            if self.take(token) {
                // Stronger than every binary operator.
                let operand = self.expression(u8::MAX)?;
                let span = operand_start..operand.span.end;
                return Ok(Expression::new(
                    Kind::Unary(operator, Box::new(operand)),
                    self.names,
                    span,
                ));
            }
        }
        match self.next() {
            Some('(') => {
                self.at += 1;
                let inner_expression = self.expression(0)?;
                self.expect(")")?;
                Ok(Expression { span: operand_start..self.at, ..inner_expression })
            }
            Some(character) if character.is_ascii_digit() => self.literal(),
            Some(character) if character.is_ascii_alphabetic() || character == '_' => self.named(),
            Some(character) => {
                let span = operand_start..operand_start + character.len_utf8();
                Err(self.error(span, format!("`{character}` is not expected here")))
            }
            None => Err(self.error(
                operand_start.saturating_sub(1)..operand_start,
                "an operand is missing at the end".to_owned(),
            )),
        }
    }

    fn word(&mut self) -> Range<usize> {
        let word_start = self.at;
        let is_word_character =
            |character: &char| character.is_ascii_alphanumeric() || *character == '_';
        while let Some(character) = self.next().filter(is_word_character) {
            self.at += character.len_utf8();
        }
        word_start..self.at
    }

    fn literal(&mut self) -> Result<Expression, Diagnostic> {
        let span = self.word();
        let literal_text = self.text[span.clone()].to_ascii_lowercase();
        let hexadecimal_digits = literal_text.strip_prefix("0x");
        let digits = hexadecimal_digits.unwrap_or(&literal_text).trim_end_matches(['u', 'l']);
        let suffix = &hexadecimal_digits.unwrap_or(&literal_text)[digits.len()..];
        let radix = if hexadecimal_digits.is_some() { 16 } else { 10 };
        let is_known_suffix = matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
        let value = i128::from_str_radix(digits, radix).ok().filter(|_| is_known_suffix);
        let literal_error = || {
            self.error(
                span.clone(),
                format!("`{}` is no integer literal", &self.text[span.clone()]),
            )
        };
        let value = value.ok_or_else(literal_error)?;
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let message =
                "a literal that starts with 0 is octal in C; write it in decimal".to_owned();
            return Err(self.error(span.clone(), message));
        }
        let is_unsigned = suffix.contains('u');
        let is_long = suffix.contains('l');
        // ISO C17, section 6.4.4.1: the first type of the list in which the value fits; hexadecimal
        // may be unsigned.
        let candidate_types =
            [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64];
        let fitting_type = candidate_types.into_iter().find(|width| {
            let (bit_width, is_signed) = integer(*width).unwrap_or((64, true));
            let signedness_fits = if is_unsigned { !is_signed } else { is_signed || radix == 16 };
            signedness_fits && (!is_long || bit_width == 64) && value <= range(*width).1
        });
        let width = fitting_type.ok_or_else(|| {
            self.error(span.clone(), "the literal fits no 64-bit type".to_owned())
        })?;
        Ok(Expression::new(Kind::Literal(value, width), self.names, span))
    }

    fn named(&mut self) -> Result<Expression, Diagnostic> {
        let span = self.word();
        let word = &self.text[span.clone()];
        if self.take("(") {
            return self.call(word.to_owned(), span);
        }
        let name_index = self.names.iter().position(|name| name.name == word);
        let index = name_index.ok_or_else(|| {
            let known_names: Vec<&str> = self.names.iter().map(|name| name.name.as_str()).collect();
            self.error(span.clone(), format!("`{word}` is not declared")).hint(format!(
                "declared before it: {}",
                if known_names.is_empty() { "nothing".to_owned() } else { known_names.join(", ") }
            ))
        })?;
        Ok(Expression::new(Kind::Variable(index), self.names, span))
    }

    fn call(
        &mut self,
        function_name: String,
        name_span: Range<usize>,
    ) -> Result<Expression, Diagnostic> {
        let first_argument = self.expression(0)?;
        let cast_type = TYPES.iter().find(|(type_name, _)| *type_name == function_name);
        if let Some((_, host_type)) = cast_type {
            self.expect(")")?;
            if integer(*host_type).is_none() {
                return Err(self.error(name_span, "expressions are of integers".to_owned()));
            }
            return Ok(Expression::new(
                Kind::Cast(*host_type, Box::new(first_argument)),
                self.names,
                name_span.start..self.at,
            ));
        }
        let operator = match function_name.as_str() {
            "min" => Binary::Minimum,
            "max" => Binary::Maximum,
            _ => {
                return Err(self
                    .error(name_span, format!("`{function_name}` is no function"))
                    .hint("min, max and the type names (uint64(m) * n) can be called"));
            }
        };
        self.expect(",")?;
        let second_argument = self.expression(0)?;
        self.expect(")")?;
        Ok(Expression::new(
            Kind::Binary(operator, Box::new([first_argument, second_argument])),
            self.names,
            name_span.start..self.at,
        ))
    }
}
