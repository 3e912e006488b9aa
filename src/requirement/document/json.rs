//! JSON (RFC 8259) to the common tree.
//!
//! An own reader, because a certification input needs what the usual ones do not give: the place of
//! every value, and an error for a key that occurs twice.

use super::{Entry, Fault, Node, Value};
use std::collections::BTreeMap;

/// Deepest nesting of arrays and objects.
const DEPTH: usize = 128;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    duplicates: Vec<Fault>,
}

type Read<T> = Result<T, Fault>;

/// Parses a document; duplicate keys are all reported, a syntax error ends the reading.
pub(super) fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    let mut reader = Reader { text, at: 0, depth: 0, duplicates: Vec::new() };
    let document = reader.value().and_then(|node| {
        reader.space();
        match reader.peek() {
            None => Ok(node),
            Some(_) => Err(reader.fault("the document ends before this")),
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

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// A fault at the current character.
    fn fault(&self, message: impl Into<String>) -> Fault {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        Fault::new("json-syntax", message).at(self.at..self.at + length)
    }

    fn unexpected(&self, expected: &str) -> Fault {
        match self.text[self.at..].chars().next() {
            Some(character) => {
                self.fault(format!("expected {expected}, found `{}`", character.escape_default()))
            }
            None => self.fault(format!("expected {expected}, but the file ends here")),
        }
    }

    fn expect(&mut self, byte: u8) -> Read<()> {
        self.space();
        if self.peek() != Some(byte) {
            return Err(self.unexpected(&format!("`{}`", byte as char)));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self) -> Read<Node> {
        self.space();
        let value_start = self.at;
        let value = match self.peek() {
            Some(b'{') => self.nested(Self::object)?,
            Some(b'[') => self.nested(Self::array)?,
            Some(b'"') => Value::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { span: value_start..self.at, value })
    }

    fn nested(&mut self, read_inner: fn(&mut Self) -> Read<Value>) -> Read<Value> {
        if self.depth == DEPTH {
            return Err(self.fault(format!("nested deeper than {DEPTH} levels")));
        }
        self.depth += 1;
        self.at += 1;
        let value = read_inner(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self, expected_word: &str, value: Value) -> Read<Value> {
        if !self.text[self.at..].starts_with(expected_word) {
            return Err(self.unexpected("a value"));
        }
        self.at += expected_word.len();
        Ok(value)
    }

    fn array(&mut self) -> Read<Value> {
        let mut values = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(values));
        }
        loop {
            values.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::Array(values));
                }
                _ => return Err(self.unexpected("`,` or `]`")),
            }
        }
    }

    fn object(&mut self) -> Read<Value> {
        let mut entries = Vec::new();
        let mut seen_keys = BTreeMap::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Table(entries));
        }
        loop {
            self.space();
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.unexpected("a key in double quotes"));
            }
            let key = self.string()?;
            let key_span = key_start..self.at;
            if seen_keys.insert(key.clone(), ()).is_some() {
                let fault = Fault::new("duplicate-key", format!("the key `{key}` occurs twice"))
                    .at(key_span.clone());
                self.duplicates.push(fault.hint(Some("write each key once".to_owned())));
            }
            self.expect(b':')?;
            let node = self.value()?;
            entries.push(Entry { key, key_span, node });
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Table(entries));
                }
                _ => return Err(self.unexpected("`,` or `}`")),
            }
        }
    }

    fn string(&mut self) -> Read<String> {
        let opening_quote = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let remaining_text = &self.text[self.at..];
            let plain_length = remaining_text
                .find(|character: char| character == '"' || character == '\\' || character < ' ');
            let Some(length) = plain_length else {
                return Err(Fault::new("json-syntax", "this string has no closing `\"`")
                    .at(opening_quote..self.text.len()));
            };
            text.push_str(&remaining_text[..length]);
            self.at += length;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => {
                    return Err(
                        self.fault("a control character stands in a string only as an escape")
                    );
                }
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        self.at += 1;
        let character = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(),
            _ => return Err(self.unexpected("one of \" \\ / b f n r t u")),
        };
        self.at += 1;
        Ok(character)
    }

    fn unicode(&mut self) -> Read<char> {
        let escape_start = self.at - 1;
        let mut code_units = vec![self.hexadecimal()?];
        if (0xD800..0xDC00).contains(&code_units[0]) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            code_units.push(self.hexadecimal()?);
        }
        let mut decoded = char::decode_utf16(code_units);
        match (decoded.next(), decoded.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(Fault::new("json-syntax", "this escape is half of a surrogate pair")
                .at(escape_start..self.at)),
        }
    }

    /// `u` and four hexadecimal digits.
    fn hexadecimal(&mut self) -> Read<u16> {
        self.at += 1;
        let digits = self
            .text
            .as_bytes()
            .get(self.at..self.at + 4)
            .filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let Some(digits) = digits else { return Err(self.unexpected("four hexadecimal digits")) };
        self.at += 4;
        Ok(digits
            .iter()
            .fold(0, |unit, digit| unit * 16 + (*digit as char).to_digit(16).unwrap_or(0) as u16))
    }

    fn digits(&mut self) -> Read<()> {
        let digits_start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == digits_start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Read<Value> {
        let number_start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return Err(self.fault("a number does not start with 0 and another digit"));
        }
        let mut is_integer = true;
        if self.peek() == Some(b'.') {
            is_integer = false;
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_integer = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let number_text = &self.text[number_start..self.at];
        let integer_value =
            if is_integer { number_text.parse().ok().map(Value::Integer) } else { None };
        let value = integer_value.or_else(|| {
            number_text.parse::<f64>().ok().filter(|value| value.is_finite()).map(Value::Float)
        });
        value.ok_or_else(|| {
            Fault::new("json-syntax", "this number is too large").at(number_start..self.at)
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
            prop_assert_eq!(plain(&parse(&text).unwrap()), value);
        }

        #[test]
        fn damaged_text_is_accepted_exactly_where_another_reader_accepts_it(value in json(), at in any::<prop::sample::Index>(), with in "[\\[\\]{},:\"0-9eE.+tfn\\\\ u-]") {
            let mut text = serde_json::to_string(&value).unwrap();
            let places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
            let place = places[at.index(places.len())];
            let length = text[place..].chars().next().unwrap().len_utf8();
            text.replace_range(place..place + length, &with);
            let theirs = serde_json::from_str::<serde_json::Value>(&text);
            match parse(&text) {
                Ok(node) => prop_assert_eq!(Some(plain(&node)), theirs.ok(), "{}", text),
                Err(faults) => prop_assert!(theirs.is_err() || faults.iter().any(|fault| fault.kind == "duplicate-key"), "{} {:?}", text, faults),
            }
        }
    }

    #[test]
    fn a_duplicate_key_is_shown_at_its_second_place() {
        let faults = parse("{\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}").unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!((faults[0].kind, faults[0].span.clone()), ("duplicate-key", Some(24..27)));
    }
}
