//! Format strings of debug printf, and values as text.
//!
//! Promises: a value that does not suit its conversion is printed as what it is. Widths and
//! precisions are at most [`MOST_PLACES`].

use super::instruction::{PrintedLine, PrintedValue};
use super::register::{NumberRegisters, Reg};
use std::fmt::Write as _;
use vkcert_spirv::operation::sized::{NumberFormat, Width};

/// Largest width and precision.
pub(crate) const MOST_PLACES: usize = 200;

/// Part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatPiece {
    Text(String),
    /// The next value; also how it was written, for where there is none.
    Value(Conversion, String),
}

/// How a value is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversion {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) alternative: bool,
    pub(crate) zeros: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
    pub(crate) letter: char,
}

/// What a value is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Boolean,
    Signed(Width),
    Unsigned(Width),
    Float(NumberFormat),
}

/// A line from the bits of its values' components, those of Booleans 0 or 1.
pub(crate) fn format_line(
    print: &PrintedLine,
    number: impl Fn(NumberRegisters) -> u64,
    boolean: impl Fn(Reg) -> u64,
) -> String {
    let mut text = String::new();
    let mut values = print.values.iter();
    for piece in print.pieces.iter() {
        match piece {
            FormatPiece::Text(plain) => text.push_str(plain),
            FormatPiece::Value(conversion, written) => match values.next() {
                Some(value) => {
                    let components: Vec<String> = match value {
                        PrintedValue::Booleans(all) => all
                            .iter()
                            .map(|reg| conversion.write(ValueKind::Boolean, boolean(*reg)))
                            .collect(),
                        PrintedValue::Numbers(kindred, all) => all
                            .iter()
                            .map(|parts| conversion.write(*kindred, number(*parts)))
                            .collect(),
                    };
                    text.push_str(&components.join(", "));
                }
                None => text.push_str(written),
            },
        }
    }
    text
}

impl Conversion {
    /// One number or Boolean.
    pub(crate) fn write(&self, kindred: ValueKind, bits: u64) -> String {
        let extended = |width: Width| ((bits << (64 - width.bits())) as i64) >> (64 - width.bits());
        let (sign, body) = match (kindred, self.letter) {
            (ValueKind::Boolean, 'd' | 'i' | 'u') => self.integer(false, bits),
            (ValueKind::Boolean, _) => ("", (bits != 0).to_string()),
            (ValueKind::Signed(width) | ValueKind::Unsigned(width), 'd' | 'i') => {
                let value = extended(width);
                self.integer(value < 0, value.unsigned_abs())
            }
            (ValueKind::Signed(_) | ValueKind::Unsigned(_), 'u' | 'o' | 'x' | 'X') => {
                self.digits(bits)
            }
            (ValueKind::Signed(width), _) => {
                self.integer(extended(width) < 0, extended(width).unsigned_abs())
            }
            (ValueKind::Unsigned(_), _) => self.integer(false, bits),
            (ValueKind::Float(form), _) => self.float(form.to_float(bits)),
        };
        self.pad(sign, body, matches!(kindred, ValueKind::Float(_)))
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn integer(&self, negative: bool, value: u64) -> (&'static str, String) {
        (self.sign(negative), self.at_least(value.to_string()))
    }

    fn at_least(&self, digits: String) -> String {
        format!("{digits:0>width$}", width = self.precision.unwrap_or(1))
    }

    fn digits(&self, value: u64) -> (&'static str, String) {
        let prefix = |prefix| if self.alternative && value != 0 { prefix } else { "" };
        match self.letter {
            'o' => (prefix("0"), self.at_least(format!("{value:o}"))),
            'x' => (prefix("0x"), self.at_least(format!("{value:x}"))),
            'X' => (prefix("0X"), self.at_least(format!("{value:X}"))),
            _ => ("", self.at_least(value.to_string())),
        }
    }

    fn float(&self, value: f64) -> (&'static str, String) {
        let sign = self.sign(value.is_sign_negative());
        let size = value.abs();
        let text = match self.letter.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            'e' => exponential(size, self.precision.unwrap_or(6)),
            'g' => self.shortest(size),
            'a' => hexadecimal(size),
            _ => format!("{size:.*}", self.precision.unwrap_or(6)),
        };
        (sign, if self.letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text })
    }

    /// `%g`: so many digits that count; the exponent where it is far from 0 (C, 7.21.6.1).
    fn shortest(&self, value: f64) -> String {
        let digits = self.precision.unwrap_or(6).max(1);
        let rounded = format!("{value:.*e}", digits - 1);
        let exponent: i32 =
            rounded.split('e').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        let trimmed = |text: &str| match text.contains('.') && !self.alternative {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text.to_owned(),
        };
        if exponent < -4 || exponent >= digits as i32 {
            let text = exponential(value, digits - 1);
            let (number, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
            return format!("{}e{exponent}", trimmed(number));
        }
        trimmed(&format!("{value:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
    }

    fn pad(&self, sign: &str, body: String, float: bool) -> String {
        let length = sign.len() + body.len();
        let missing = self.width.saturating_sub(length);
        let numeric = body.starts_with(|first: char| first.is_ascii_hexdigit()) && body != "false";
        let zeros = self.zeros && !self.left && numeric && (float || self.precision.is_none());
        match (self.left, zeros) {
            (true, _) => format!("{sign}{body}{}", " ".repeat(missing)),
            (false, true) => format!("{sign}{}{body}", "0".repeat(missing)),
            (false, false) => format!("{}{sign}{body}", " ".repeat(missing)),
        }
    }
}

/// C's `%e`: an exponent has a sign and two digits.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (number, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{number}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

/// C's `%a` of a double.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (whole, exponent) = match (bits >> 52 & 0x7FF) as i32 {
        0 if fraction == 0 => (0, 0),
        0 => (0, -1022),
        exponent => (1, exponent - 1023),
    };
    let mut text = format!("0x{whole}");
    if fraction != 0 {
        let digits = format!("{fraction:013x}");
        let _ = write!(text, ".{}", digits.trim_end_matches('0'));
    }
    let _ = write!(text, "p{exponent:+}");
    text
}
