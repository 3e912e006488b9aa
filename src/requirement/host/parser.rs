//! Recursive-descent parser of host expressions, by binding strength of the operators.
//!
//! Promises: an expression outside the grammar is a diagnostic with its place in the text; nesting
//! and length have limits, so that no text exhausts the stack.
//! Does not cover: what an expression means (`expression`).

use super::expression::{
    BinaryOperator, HOST_TYPES, HostExpression, HostExpressionKind, HostName, UnaryOperator,
    integer_format, type_range,
};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::index_range::IndexRange;
use vkcert_model::requirement::HostType;

/// Deepest nesting of operators.
const MAX_DEPTH: usize = 100;
/// Longest text of an expression, in bytes.
const MAX_TEXT: usize = 4_096;

/// Operators by binding strength, weakest first; longest texts first within the table.
pub(super) const BINARY_OPERATORS: &[(&str, BinaryOperator, u8)] = &[
    ("||", BinaryOperator::Or, 1),
    ("&&", BinaryOperator::And, 2),
    ("==", BinaryOperator::Equal, 6),
    ("!=", BinaryOperator::Unequal, 6),
    ("<<", BinaryOperator::ShiftLeft, 8),
    (">>", BinaryOperator::ShiftRight, 8),
    ("<=", BinaryOperator::LessEqual, 7),
    (">=", BinaryOperator::GreaterEqual, 7),
    ("<", BinaryOperator::Less, 7),
    (">", BinaryOperator::Greater, 7),
    ("|", BinaryOperator::BitOr, 3),
    ("^", BinaryOperator::BitXor, 4),
    ("&", BinaryOperator::BitAnd, 5),
    ("+", BinaryOperator::Add, 9),
    ("-", BinaryOperator::Subtract, 9),
    ("*", BinaryOperator::Multiply, 10),
    ("/", BinaryOperator::Divide, 10),
    ("%", BinaryOperator::Remainder, 10),
];

/// Parses an expression over `names`; `place` names it in diagnostics (`groups[0]`).
pub fn parse_expression(
    expression_text: &str,
    names: &[HostName],
    diagnostic_place: &str,
) -> Result<HostExpression, Diagnostic> {
    let mut parser = ExpressionParser {
        text: expression_text,
        position: 0,
        names,
        place: diagnostic_place,
        depth: 0,
    };
    if expression_text.len() > MAX_TEXT {
        return Err(parser.error_at(
            0..0,
            format!("the expression has {} bytes; the limit is {MAX_TEXT}", expression_text.len()),
        ));
    }
    let expression = parser.parse_operators(0)?;
    parser.skip_space();
    if parser.position < expression_text.len() {
        let unexpected_span = IndexRange::from(
            parser.position..parser.position + parser.next_character().map_or(1, char::len_utf8),
        );
        return Err(parser.error_at(
            unexpected_span,
            format!("`{}` is not expected here", parser.text_of(unexpected_span)),
        ));
    }
    Ok(expression)
}

struct ExpressionParser<'a> {
    text: &'a str,
    position: usize,
    names: &'a [HostName],
    place: &'a str,
    depth: usize,
}

impl<'a> ExpressionParser<'a> {
    fn error_at(&self, span: impl Into<IndexRange>, message: String) -> Diagnostic {
        Diagnostic::new("expression-syntax", format!("{}: {message}", self.place)).at_span(
            self.place,
            self.text,
            span.into().range(),
        )
    }

    fn text_of(&self, span: IndexRange) -> &'a str {
        &self.text[span.start..span.end]
    }

    fn next_character(&self) -> Option<char> {
        self.text[self.position..].chars().next()
    }

    fn skip_space(&mut self) {
        while let Some(character) =
            self.next_character().filter(|character| character.is_whitespace())
        {
            self.position += character.len_utf8();
        }
    }

    fn take_token(&mut self, token: &str) -> bool {
        self.skip_space();
        let is_next = self.text[self.position..].starts_with(token);
        if is_next {
            self.position += token.len();
        }
        is_next
    }

    fn expect_token(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.take_token(token) {
            return Ok(());
        }
        let span_end =
            (self.position + self.next_character().map_or(0, char::len_utf8)).min(self.text.len());
        Err(self.error_at(self.position..span_end, format!("`{token}` is expected here")))
    }

    /// Parses operators that bind more strongly than `above`.
    fn parse_operators(&mut self, binding_strength: u8) -> Result<HostExpression, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error_at(
                self.position..self.position,
                format!("more than {MAX_DEPTH} levels of operators"),
            ));
        }
        let mut left_operand = self.parse_operand()?;
        loop {
            self.skip_space();
            let remaining_text = &self.text[self.position..];
            if binding_strength == 0 && remaining_text.starts_with('?') {
                left_operand = self.parse_choice(left_operand)?;
                continue;
            }
            let operator =
                BINARY_OPERATORS.iter().find(|(token, ..)| remaining_text.starts_with(token));
            let Some((token, operator, strength)) =
                operator.filter(|(.., strength)| *strength > binding_strength)
            else {
                break;
            };
            self.position += token.len();
            let right_operand = self.parse_operators(*strength)?;
            let span = IndexRange::from(left_operand.span.start..right_operand.span.end);
            left_operand = HostExpression::new(
                HostExpressionKind::Binary(*operator, Box::new([left_operand, right_operand])),
                self.names,
                span,
            );
        }
        self.depth -= 1;
        Ok(left_operand)
    }

    fn parse_choice(&mut self, condition: HostExpression) -> Result<HostExpression, Diagnostic> {
        self.expect_token("?")?;
        let value_if_true = self.parse_operators(0)?;
        self.expect_token(":")?;
        let value_if_false = self.parse_operators(0)?;
        let span = IndexRange::from(condition.span.start..value_if_false.span.end);
        Ok(HostExpression::new(
            HostExpressionKind::Choice(Box::new([condition, value_if_true, value_if_false])),
            self.names,
            span,
        ))
    }

    fn parse_operand(&mut self) -> Result<HostExpression, Diagnostic> {
        self.skip_space();
        let operand_start = self.position;
        for (token, operator) in [
            ("-", UnaryOperator::Negate),
            ("+", UnaryOperator::Plus),
            ("~", UnaryOperator::Complement),
            ("!", UnaryOperator::Not),
        ] {
            if self.take_token(token) {
                // Stronger than every binary operator.
                let operand = self.parse_operators(u8::MAX)?;
                let span = IndexRange::from(operand_start..operand.span.end);
                return Ok(HostExpression::new(
                    HostExpressionKind::Unary(operator, Box::new(operand)),
                    self.names,
                    span,
                ));
            }
        }
        match self.next_character() {
            Some('(') => {
                self.position += 1;
                let inner_expression = self.parse_operators(0)?;
                self.expect_token(")")?;
                Ok(HostExpression {
                    span: (operand_start..self.position).into(),
                    ..inner_expression
                })
            }
            Some(character) if character.is_ascii_digit() => self.parse_literal(),
            Some(character) if character.is_ascii_alphabetic() || character == '_' => {
                self.parse_named()
            }
            Some(character) => {
                let span = IndexRange::from(operand_start..operand_start + character.len_utf8());
                Err(self.error_at(span, format!("`{character}` is not expected here")))
            }
            None => Err(self.error_at(
                operand_start.saturating_sub(1)..operand_start,
                "an operand is missing at the end".to_owned(),
            )),
        }
    }

    fn read_word(&mut self) -> IndexRange {
        let word_start = self.position;
        while let Some(character) = self.next_character().filter(is_word_character) {
            self.position += character.len_utf8();
        }
        (word_start..self.position).into()
    }

    fn parse_literal(&mut self) -> Result<HostExpression, Diagnostic> {
        let span = self.read_word();
        let literal_text = self.text_of(span).to_ascii_lowercase();
        let hexadecimal_digits = literal_text.strip_prefix("0x");
        let digits = hexadecimal_digits.unwrap_or(&literal_text).trim_end_matches(['u', 'l']);
        let suffix = &hexadecimal_digits.unwrap_or(&literal_text)[digits.len()..];
        let radix = if hexadecimal_digits.is_some() { 16 } else { 10 };
        let is_known_suffix = matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
        let value = i128::from_str_radix(digits, radix).ok().filter(|_| is_known_suffix);
        let literal_error =
            || self.error_at(span, format!("`{}` is no integer literal", self.text_of(span)));
        let value = value.ok_or_else(literal_error)?;
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let message =
                "a literal that starts with 0 is octal in C; write it in decimal".to_owned();
            return Err(self.error_at(span, message));
        }
        let is_unsigned = suffix.contains('u');
        let is_long = suffix.contains('l');
        // ISO C17, section 6.4.4.1: the first type of the list in which the value fits; hexadecimal
        // may be unsigned.
        let candidate_types =
            [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64];
        let fitting_type = candidate_types.into_iter().find(|width| {
            let (bit_width, is_signed) = integer_format(*width).unwrap_or((64, true));
            let signedness_fits = if is_unsigned { !is_signed } else { is_signed || radix == 16 };
            signedness_fits && (!is_long || bit_width == 64) && value <= type_range(*width).1
        });
        let width = fitting_type
            .ok_or_else(|| self.error_at(span, "the literal fits no 64-bit type".to_owned()))?;
        Ok(HostExpression::new(HostExpressionKind::Literal(value, width), self.names, span))
    }

    fn parse_named(&mut self) -> Result<HostExpression, Diagnostic> {
        let span = self.read_word();
        let word = self.text_of(span);
        if word == "sizeof" {
            return Err(self
                .error_at(span, "`sizeof` is not known here".to_owned())
                .hint("write the number of bytes, which the target decides"));
        }
        if self.take_token("(") {
            return self.parse_call(word.to_owned(), span);
        }
        let name_index = self.names.iter().position(|name| name.name == word);
        let index = name_index.ok_or_else(|| {
            let known_names: Vec<&str> = self.names.iter().map(|name| name.name.as_str()).collect();
            let hint = hint_for_c(word).unwrap_or_else(|| {
                let known_names = if known_names.is_empty() {
                    "nothing".to_owned()
                } else {
                    known_names.join(", ")
                };
                format!("declared before it: {known_names}")
            });
            self.error_at(span, format!("`{word}` is not declared")).hint(hint)
        })?;
        Ok(HostExpression::new(HostExpressionKind::Variable(index), self.names, span))
    }

    fn parse_call(
        &mut self,
        function_name: String,
        name_span: IndexRange,
    ) -> Result<HostExpression, Diagnostic> {
        let first_argument = self.parse_operators(0)?;
        let cast_type = HOST_TYPES.iter().find(|(type_name, _)| *type_name == function_name);
        if let Some((_, host_type)) = cast_type {
            self.expect_token(")")?;
            if integer_format(*host_type).is_none() {
                return Err(self.error_at(name_span, "expressions are of integers".to_owned()));
            }
            return Ok(HostExpression::new(
                HostExpressionKind::Cast(*host_type, Box::new(first_argument)),
                self.names,
                (name_span.start..self.position).into(),
            ));
        }
        let operator = match function_name.as_str() {
            "min" => BinaryOperator::Minimum,
            "max" => BinaryOperator::Maximum,
            _ => {
                let hint = hint_for_c(&function_name).unwrap_or_else(|| {
                    "min, max and the type names (uint64(m) * n) can be called".to_owned()
                });
                return Err(self
                    .error_at(name_span, format!("`{function_name}` is no function"))
                    .hint(hint));
            }
        };
        self.expect_token(",")?;
        let second_argument = self.parse_operators(0)?;
        self.expect_token(")")?;
        Ok(HostExpression::new(
            HostExpressionKind::Binary(operator, Box::new([first_argument, second_argument])),
            self.names,
            (name_span.start..self.position).into(),
        ))
    }
}

/// How what C writes with this word is written here.
fn hint_for_c(word: &str) -> Option<String> {
    let other_words =
        ["char", "short", "int", "long", "unsigned", "signed", "size_t", "VkDeviceSize"];
    let type_name =
        word.strip_suffix("_t").filter(|name| HOST_TYPES.iter().any(|row| row.0 == *name));
    match type_name {
        Some(name) => Some(format!("a conversion is written as a call: {name}(m) * n")),
        None if other_words.contains(&word) => {
            Some("a conversion is written as a call of a type: uint64(m) * n".to_owned())
        }
        None => None,
    }
}

fn is_word_character(character: &char) -> bool {
    character.is_ascii_alphanumeric() || *character == '_'
}
