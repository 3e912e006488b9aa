//! JSON (RFC 8259) to the common tree.
//!
//! An own reader, because a certification input needs what the usual ones do not give: the place of
//! every value, and an error for a key that occurs twice.

use super::{DocumentFault, FaultKind, Node, TableEntry, Value};
use std::collections::BTreeMap;
use vkcert_model::index_range::IndexRange;

/// Deepest nesting of arrays and objects.
const DEPTH_LIMIT: usize = 128;

struct JsonReader<'a> {
    text: &'a str,
    position: usize,
    depth: usize,
    duplicates: Vec<DocumentFault>,
}

type ReadResult<T> = Result<T, DocumentFault>;

/// Parses a document; duplicate keys are all reported, a syntax error ends the reading.
pub(super) fn parse_json(text: &str) -> Result<Node, Vec<DocumentFault>> {
    let mut reader = JsonReader { text, position: 0, depth: 0, duplicates: Vec::new() };
    let document = reader.read_value().and_then(|node| {
        reader.skip_space();
        match reader.peek() {
            None => Ok(node),
            Some(_) => Err(reader.fault_here("the document ends before this")),
        }
    });
    match document {
        Ok(node) if reader.duplicates.is_empty() => Ok(node),
        Ok(_) => Err(reader.duplicates),
        Err(fault) => {
            reader.duplicates.push(fault);
            Err(reader.duplicates)
        }
    }
}

impl JsonReader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.position += 1;
        }
    }

    /// A fault at the current character.
    fn fault_here(&self, message: impl Into<String>) -> DocumentFault {
        let length = self.text[self.position..].chars().next().map_or(0, char::len_utf8);
        DocumentFault::new(FaultKind::JsonSyntax, message).at(self.position..self.position + length)
    }

    fn unexpected_text(&self, expected: &str) -> DocumentFault {
        match self.text[self.position..].chars().next() {
            Some(character) => self
                .fault_here(format!("expected {expected}, found `{}`", character.escape_default())),
            None => self.fault_here(format!("expected {expected}, but the file ends here")),
        }
    }

    fn expect_byte(&mut self, byte: u8) -> ReadResult<()> {
        self.skip_space();
        if self.peek() != Some(byte) {
            return Err(self.unexpected_text(&format!("`{}`", byte as char)));
        }
        self.position += 1;
        Ok(())
    }

    fn read_value(&mut self) -> ReadResult<Node> {
        self.skip_space();
        let value_start = self.position;
        let value = match self.peek() {
            Some(b'{') => self.read_nested(Self::read_object)?,
            Some(b'[') => self.read_nested(Self::read_array)?,
            Some(b'"') => Value::Text(self.read_string()?),
            Some(b'-' | b'0'..=b'9') => self.read_number()?,
            Some(b't') => self.read_word("true", Value::Bool(true))?,
            Some(b'f') => self.read_word("false", Value::Bool(false))?,
            Some(b'n') => self.read_word("null", Value::Null)?,
            _ => return Err(self.unexpected_text("a value")),
        };
        Ok(Node { span: (value_start..self.position).into(), value })
    }

    fn read_nested(&mut self, read_inner: fn(&mut Self) -> ReadResult<Value>) -> ReadResult<Value> {
        if self.depth == DEPTH_LIMIT {
            return Err(self.fault_here(format!("nested deeper than {DEPTH_LIMIT} levels")));
        }
        self.depth += 1;
        self.position += 1;
        let value = read_inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn read_word(&mut self, expected_word: &str, value: Value) -> ReadResult<Value> {
        if !self.text[self.position..].starts_with(expected_word) {
            return Err(self.unexpected_text("a value"));
        }
        self.position += expected_word.len();
        Ok(value)
    }

    fn read_array(&mut self) -> ReadResult<Value> {
        let mut values = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.position += 1;
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.read_value()?);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b']') => {
                    self.position += 1;
                    return Ok(Value::Array(values));
                }
                _ => return Err(self.unexpected_text("`,` or `]`")),
            }
        }
    }

    fn read_object(&mut self) -> ReadResult<Value> {
        let mut entries = Vec::new();
        let mut seen_keys = BTreeMap::new();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.position += 1;
            return Ok(Value::Table(entries));
        }
        loop {
            self.skip_space();
            let key_start = self.position;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected_text("a key in double quotes"));
            }
            let key = self.read_string()?;
            let key_span = IndexRange { start: key_start, end: self.position };
            if seen_keys.insert(key.clone(), ()).is_some() {
                let fault = DocumentFault::new(
                    FaultKind::DuplicateKey,
                    format!("the key `{key}` occurs twice"),
                )
                .at(key_span);
                self.duplicates.push(fault.hint(Some("write each key once".to_owned())));
            }
            self.expect_byte(b':')?;
            let node = self.read_value()?;
            entries.push(TableEntry { key, key_span, node });
            self.skip_space();
            match self.peek() {
                Some(b',') => self.position += 1,
                Some(b'}') => {
                    self.position += 1;
                    return Ok(Value::Table(entries));
                }
                _ => return Err(self.unexpected_text("`,` or `}`")),
            }
        }
    }

    fn read_string(&mut self) -> ReadResult<String> {
        let opening_quote = self.position;
        self.position += 1;
        let mut text = String::new();
        loop {
            let remaining_text = &self.text[self.position..];
            let plain_length = remaining_text
                .find(|character: char| character == '"' || character == '\\' || character < ' ');
            let Some(length) = plain_length else {
                return Err(DocumentFault::new(
                    FaultKind::JsonSyntax,
                    "this string has no closing `\"`",
                )
                .at(opening_quote..self.text.len()));
            };
            text.push_str(&remaining_text[..length]);
            self.position += length;
            match self.peek() {
                Some(b'"') => {
                    self.position += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.read_escape()?),
                _ => {
                    return Err(
                        self.fault_here("a control character stands in a string only as an escape")
                    );
                }
            }
        }
    }

    fn read_escape(&mut self) -> ReadResult<char> {
        self.position += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.read_unicode_escape(),
            _ => return Err(self.unexpected_text("one of \" \\ / b f n r t u")),
        };
        self.position += 1;
        Ok(character)
    }

    fn read_unicode_escape(&mut self) -> ReadResult<char> {
        let escape_start = self.position - 1;
        let mut code_units = vec![self.read_hexadecimal()?];
        if (0xD800..0xDC00).contains(&code_units[0])
            && self.text[self.position..].starts_with("\\u")
        {
            self.position += 1;
            code_units.push(self.read_hexadecimal()?);
        }
        let mut decoded = char::decode_utf16(code_units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(DocumentFault::new(
                FaultKind::JsonSyntax,
                "this escape is half of a surrogate pair",
            )
            .at(escape_start..self.position)),
        }
    }

    /// `u` and four hexadecimal digits.
    fn read_hexadecimal(&mut self) -> ReadResult<u16> {
        self.position += 1;
        let digits = self
            .text
            .as_bytes()
            .get(self.position..self.position + 4)
            .filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else {
            return Err(self.unexpected_text("four hexadecimal digits"));
        };
        self.position += 4;
        Ok(digits
            .iter()
            .fold(0, |unit, digit| unit * 16 + (*digit as char).to_digit(16).unwrap_or(0) as u16))
    }

    fn read_digits(&mut self) -> ReadResult<()> {
        let digits_start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        if self.position == digits_start { Err(self.unexpected_text("a digit")) } else { Ok(()) }
    }

    fn read_number(&mut self) -> ReadResult<Value> {
        let number_start = self.position;
        if self.peek() == Some(b'-') {
            self.position += 1;
        }
        match self.peek() {
            Some(b'0') => self.position += 1,
            _ => self.read_digits()?,
        }
        if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.fault_here("a number does not start with 0 and another digit"));
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.position += 1;
            self.read_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.position += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.position += 1;
            }
            self.read_digits()?;
        }
        let number_text = &self.text[number_start..self.position];
        // No integer keeps the sign of a zero.
        is_integer &= number_text != "-0";
        let integer_value =
            if is_integer { number_text.parse().ok().map(Value::Integer) } else { None };
        let value = integer_value.or_else(|| {
            number_text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Value::Float)
        });
        value.ok_or_else(|| {
            DocumentFault::new(FaultKind::JsonSyntax, "this number is too large")
                .at(number_start..self.position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tree as the independent reader would give it.
    fn plain(node: &Node) -> serde_json::Value {
        match &node.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => value.into(),
                (_, Ok(value)) => value.into(),
                _ => (*value as f64).into(),
            },
            Value::Float(value) => (*value).into(),
            Value::Text(value) => value.clone().into(),
            Value::Array(values) => values.iter().map(plain).collect(),
            Value::Table(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.clone(), plain(&entry.node))).collect(),
            ),
        }
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            any::<f64>().prop_filter("finite", |value| value.is_finite()).prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn reads_what_another_writer_wrote(value in json()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(plain(&parse_json(&text).unwrap()), value);
        }

        #[test]
        fn damaged_text_is_accepted_exactly_where_another_reader_accepts_it(value in json(), at in any::<prop::sample::Index>(), with in "[\\[\\]{},:\"0-9eE.+tfn\\\\ u-]") {
            let mut text = serde_json::to_string(&value).unwrap();
            let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
            let place = places[at.index(places.len())];
            let length = text[place..].chars().next().unwrap().len_utf8();
            text.replace_range(place..place + length, &with);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match parse_json(&text) {
                Ok(node) => prop_assert_eq!(Some(plain(&node)), theirs.ok(), "{}", text),
                Err(faults) => prop_assert!(theirs.is_err() || faults.iter().any(|fault| fault.kind == FaultKind::DuplicateKey), "{} {:?}", text, faults),
            }
        }
    }

    #[test]
    fn numbers_keep_their_sign_and_are_integers_up_to_128_bits() {
        for (text, value) in [
            ("0", Value::Integer(0)),
            ("-7", Value::Integer(-7)),
            ("18446744073709551616", Value::Integer(1 << 64)),
            ("-170141183460469231731687303715884105728", Value::Integer(i128::MIN)),
            ("170141183460469231731687303715884105728", Value::Float(2f64.powi(127))),
            ("0.0", Value::Float(0.0)),
            ("1e2", Value::Float(100.0)),
            ("12.5E-1", Value::Float(1.25)),
        ] {
            assert_eq!(parse_json(text).unwrap().value, value, "{text}");
        }
        for text in ["-0", "-0.0", "-0e5"] {
            let Value::Float(zero) = parse_json(text).unwrap().value else { panic!("{text}") };
            assert!(zero == 0.0 && zero.is_sign_negative(), "{text}");
        }
        let faults = parse_json("[1, 1e999]").unwrap_err();
        assert_eq!(faults[0].message, "this number is too large");
        assert_eq!(faults[0].span, Some((4..9).into()));
    }

    /// Of texts that are no JSON, what is said and of which bytes.
    #[test]
    fn a_fault_stands_where_the_text_goes_wrong() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse_json(&nested(128)).is_ok());
        assert!(parse_json(&format!("[{0},{0}]", nested(127))).is_ok());
        assert!(parse_json(&format!("[[{}[]]]", "[],".repeat(200))).is_ok());
        let too_deep = nested(129);
        for (text, message, span) in [
            ("", "expected a value, but the file ends here", 0..0),
            ("{} x", "the document ends before this", 3..4),
            ("é", "expected a value, found `\\u{e9}`", 0..2),
            ("nul", "expected a value, found `n`", 0..1),
            ("[1 2]", "expected `,` or `]`, found `2`", 3..4),
            ("[1,]", "expected a value, found `]`", 3..4),
            ("{a: 1}", "expected a key in double quotes, found `a`", 1..2),
            ("{\"a\" 1}", "expected `:`, found `1`", 5..6),
            ("{\"a\": 1; }", "expected `,` or `}`, found `;`", 7..8),
            ("{\"a\": 1,}", "expected a key in double quotes, found `}`", 8..9),
            ("[\"abc", "this string has no closing `\"`", 1..5),
            ("\"a\nb\"", "a control character stands in a string only as an escape", 2..3),
            ("\"\\x\"", "expected one of \" \\ / b f n r t u, found `x`", 2..3),
            ("\"\\u12g4\"", "expected four hexadecimal digits, found `1`", 3..4),
            ("\"\\u12", "expected four hexadecimal digits, found `1`", 3..4),
            ("\"\\ud800\"", "this escape is half of a surrogate pair", 1..7),
            ("\"\\ud800\\u0041\"", "this escape is half of a surrogate pair", 1..13),
            ("\"\\udc00\"", "this escape is half of a surrogate pair", 1..7),
            ("01", "a number does not start with 0 and another digit", 1..2),
            ("-", "expected a digit, but the file ends here", 1..1),
            ("1.", "expected a digit, but the file ends here", 2..2),
            ("1e+x", "expected a digit, found `x`", 3..4),
            (too_deep.as_str(), "nested deeper than 128 levels", 128..129),
        ] {
            let faults = parse_json(text).unwrap_err();
            let [fault] = faults.as_slice() else { panic!("{text}: {faults:?}") };
            assert_eq!(fault.kind, FaultKind::JsonSyntax, "{text}");
            assert_eq!(fault.message, message, "{text}");
            assert_eq!(fault.span, Some(span.into()), "{text}");
        }
    }

    #[test]
    fn escapes_and_spans_are_those_of_the_text() {
        let text = " {\"a\\n\" : \"\\u00e9\\uD83D\\uDE00\\/\\b\\f\\r\\t\\\\\\\"\", \"b\":[ true , null,false]} ";
        let node = parse_json(text).unwrap();
        assert_eq!(node.span, (1..text.len() - 1).into());
        let entry = node.entry("a\n").unwrap();
        assert_eq!(&text[entry.key_span.range()], "\"a\\n\"");
        assert_eq!(entry.node.value, Value::Text("é😀/\u{8}\u{c}\r\t\\\"".to_owned()));
        assert_eq!(entry.node.span, (10..44).into());
        let list = &node.entry("b").unwrap().node;
        let parts: Vec<&str> =
            list.elements().iter().map(|element| &text[element.span.range()]).collect();
        assert_eq!(parts, ["true", "null", "false"]);
        let hexadecimal = parse_json("\"\\u1234\\uABCD\\u0fF9\"").unwrap();
        assert_eq!(hexadecimal.value, Value::Text("\u{1234}\u{abcd}\u{ff9}".to_owned()));
    }

    #[test]
    fn a_duplicate_key_is_shown_at_its_second_place() {
        let faults = parse_json("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}").unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(
            (faults[0].kind.name(), faults[0].span),
            ("duplicate-key", Some((24..27).into()))
        );
    }
}
