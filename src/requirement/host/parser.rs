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
pub fn parse(text: &str, names: &[Name], place: &str) -> Result<Expression, Diagnostic> {
    let mut parser = Parser { text, at: 0, names, place, depth: 0 };
    if text.len() > MAX_TEXT {
        return Err(parser.error(
            0..0,
            format!("the expression has {} bytes; the limit is {MAX_TEXT}", text.len()),
        ));
    }
    let expression = parser.expression(0)?;
    parser.space();
    if parser.at < text.len() {
        let rest = parser.at..parser.at + parser.next().map_or(1, char::len_utf8);
        return Err(parser.error(rest.clone(), format!("`{}` is not expected here", &text[rest])));
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
        let found = self.text[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), Diagnostic> {
        if self.take(token) {
            return Ok(());
        }
        let end = (self.at + self.next().map_or(0, char::len_utf8)).min(self.text.len());
        Err(self.error(self.at..end, format!("`{token}` is expected here")))
    }

    /// Parses operators that bind more strongly than `above`.
    fn expression(&mut self, above: u8) -> Result<Expression, Diagnostic> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(
                self.error(self.at..self.at, format!("more than {MAX_DEPTH} levels of operators"))
            );
        }
        let mut left = self.operand()?;
        loop {
            self.space();
            let rest = &self.text[self.at..];
            if above == 0 && rest.starts_with('?') {
                left = self.choice(left)?;
                continue;
            }
            let operator = BINARY.iter().find(|(token, ..)| rest.starts_with(token));
            let Some((token, operator, strength)) =
                operator.filter(|(.., strength)| *strength > above)
            else {
                break;
            };
            self.at += token.len();
            let right = self.expression(*strength)?;
            let span = left.span.start..right.span.end;
            left =
                Expression::new(Kind::Binary(*operator, Box::new([left, right])), self.names, span);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn choice(&mut self, condition: Expression) -> Result<Expression, Diagnostic> {
        self.expect("?")?;
        let yes = self.expression(0)?;
        self.expect(":")?;
        let no = self.expression(0)?;
        let span = condition.span.start..no.span.end;
        Ok(Expression::new(Kind::Choice(Box::new([condition, yes, no])), self.names, span))
    }

    fn operand(&mut self) -> Result<Expression, Diagnostic> {
        self.space();
        let start = self.at;
        for (token, operator) in
            [("-", Unary::Negate), ("+", Unary::Plus), ("~", Unary::Complement), ("!", Unary::Not)]
        {
            if self.take(token) {
                // Stronger than every binary operator.
                let operand = self.expression(u8::MAX)?;
                let span = start..operand.span.end;
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
                let inside = self.expression(0)?;
                self.expect(")")?;
                Ok(Expression { span: start..self.at, ..inside })
            }
            Some(character) if character.is_ascii_digit() => self.literal(),
            Some(character) if character.is_ascii_alphabetic() || character == '_' => self.named(),
            Some(character) => {
                let span = start..start + character.len_utf8();
                Err(self.error(span, format!("`{character}` is not expected here")))
            }
            None => Err(self.error(
                start.saturating_sub(1)..start,
                "an operand is missing at the end".to_owned(),
            )),
        }
    }

    fn word(&mut self) -> Range<usize> {
        let start = self.at;
        let word = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
        while let Some(character) = self.next().filter(word) {
            self.at += character.len_utf8();
        }
        start..self.at
    }

    fn literal(&mut self) -> Result<Expression, Diagnostic> {
        let span = self.word();
        let text = self.text[span.clone()].to_ascii_lowercase();
        let hexadecimal = text.strip_prefix("0x");
        let digits = hexadecimal.unwrap_or(&text).trim_end_matches(['u', 'l']);
        let suffix = &hexadecimal.unwrap_or(&text)[digits.len()..];
        let radix = if hexadecimal.is_some() { 16 } else { 10 };
        let known = matches!(suffix, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu");
        let value = i128::from_str_radix(digits, radix).ok().filter(|_| known);
        let fault = || {
            self.error(
                span.clone(),
                format!("`{}` is no integer literal", &self.text[span.clone()]),
            )
        };
        let value = value.ok_or_else(fault)?;
        if radix == 10 && digits.len() > 1 && digits.starts_with('0') {
            let message =
                "a literal that starts with 0 is octal in C; write it in decimal".to_owned();
            return Err(self.error(span.clone(), message));
        }
        let unsigned = suffix.contains('u');
        let long = suffix.contains('l');
        // ISO C17, section 6.4.4.1: the first type of the list in which the value fits; hexadecimal
        // may be unsigned.
        let types = [HostType::Int32, HostType::Uint32, HostType::Int64, HostType::Uint64];
        let fits = types.into_iter().find(|width| {
            let (bits, signed) = integer(*width).unwrap_or((64, true));
            let sign = if unsigned { !signed } else { signed || radix == 16 };
            sign && (!long || bits == 64) && value <= range(*width).1
        });
        let width = fits.ok_or_else(|| {
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
        let found = self.names.iter().position(|name| name.name == word);
        let index = found.ok_or_else(|| {
            let known: Vec<&str> = self.names.iter().map(|name| name.name.as_str()).collect();
            self.error(span.clone(), format!("`{word}` is not declared")).hint(format!(
                "declared before it: {}",
                if known.is_empty() { "nothing".to_owned() } else { known.join(", ") }
            ))
        })?;
        Ok(Expression::new(Kind::Variable(index), self.names, span))
    }

    fn call(&mut self, word: String, name: Range<usize>) -> Result<Expression, Diagnostic> {
        let first = self.expression(0)?;
        let cast = TYPES.iter().find(|(name, _)| *name == word);
        if let Some((_, width)) = cast {
            self.expect(")")?;
            if integer(*width).is_none() {
                return Err(self.error(name, "expressions are of integers".to_owned()));
            }
            return Ok(Expression::new(
                Kind::Cast(*width, Box::new(first)),
                self.names,
                name.start..self.at,
            ));
        }
        let operator = match word.as_str() {
            "min" => Binary::Minimum,
            "max" => Binary::Maximum,
            _ => {
                return Err(self
                    .error(name, format!("`{word}` is no function"))
                    .hint("min, max and the type names (uint64(m) * n) can be called"));
            }
        };
        self.expect(",")?;
        let second = self.expression(0)?;
        self.expect(")")?;
        Ok(Expression::new(
            Kind::Binary(operator, Box::new([first, second])),
            self.names,
            name.start..self.at,
        ))
    }
}
