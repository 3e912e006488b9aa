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
    /// The next value, and the conversion's own text, printed if no value is left.
    Value(Conversion, String),
}

/// How a value is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conversion {
    pub(crate) left_aligned: bool,
    pub(crate) always_signed: bool,
    pub(crate) space: bool,
    pub(crate) alternative: bool,
    pub(crate) zero_padded: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
    pub(crate) letter: char,
}

/// Type of the components of a printed value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    Boolean,
    Signed(Width),
    Unsigned(Width),
    Float(NumberFormat),
}

/// Formats a line. `number_bits` and `boolean_bits` give the bits of a component; a Boolean is 0 or
/// 1.
pub(crate) fn format_line(
    print: &PrintedLine,
    number_bits: impl Fn(NumberRegisters) -> u64,
    boolean_bits: impl Fn(Reg) -> u64,
) -> String {
    let mut text = String::new();
    let mut values = print.values.iter();
    for piece in print.pieces.iter() {
        match piece {
            FormatPiece::Text(plain_text) => text.push_str(plain_text),
            FormatPiece::Value(conversion, written_form) => match values.next() {
                Some(value) => {
                    let components: Vec<String> = match value {
                        PrintedValue::Booleans(all) => all
                            .iter()
                            .map(|reg| {
                                conversion.write_value(ValueKind::Boolean, boolean_bits(*reg))
                            })
                            .collect(),
                        PrintedValue::Numbers(value_kind, all) => all
                            .iter()
                            .map(|parts| conversion.write_value(*value_kind, number_bits(*parts)))
                            .collect(),
                    };
                    text.push_str(&components.join(", "));
                }
                None => text.push_str(written_form),
            },
        }
    }
    text
}

impl Conversion {
    /// One number or Boolean.
    pub(crate) fn write_value(&self, value_kind: ValueKind, bits: u64) -> String {
        let sign_extended =
            |width: Width| ((bits << (64 - width.bits())) as i64) >> (64 - width.bits());
        let (sign, body) = match (value_kind, self.letter) {
            (ValueKind::Boolean, 'd' | 'i' | 'u') => self.integer_text(false, bits),
            (ValueKind::Boolean, _) => ("", (bits != 0).to_string()),
            (ValueKind::Signed(width) | ValueKind::Unsigned(width), 'd' | 'i') => {
                let value = sign_extended(width);
                self.integer_text(value < 0, value.unsigned_abs())
            }
            (ValueKind::Signed(_) | ValueKind::Unsigned(_), 'u' | 'o' | 'x' | 'X') => {
                self.digits_text(bits)
            }
            (ValueKind::Signed(width), _) => {
                self.integer_text(sign_extended(width) < 0, sign_extended(width).unsigned_abs())
            }
            (ValueKind::Unsigned(_), _) => self.integer_text(false, bits),
            (ValueKind::Float(form), _) => self.float_text(form.to_float(bits)),
        };
        self.pad_to_width(sign, body, matches!(value_kind, ValueKind::Float(_)))
    }

    fn sign_text(&self, negative: bool) -> &'static str {
        match (negative, self.always_signed, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn integer_text(&self, negative: bool, value: u64) -> (&'static str, String) {
        (self.sign_text(negative), self.padded_digits(value.to_string()))
    }

    fn padded_digits(&self, digits: String) -> String {
        format!("{digits:0>width$}", width = self.precision.unwrap_or(1))
    }

    fn digits_text(&self, value: u64) -> (&'static str, String) {
        let prefix = |prefix| if self.alternative && value != 0 { prefix } else { "" };
        match self.letter {
            'o' => (prefix("0"), self.padded_digits(format!("{value:o}"))),
            'x' => (prefix("0x"), self.padded_digits(format!("{value:x}"))),
            'X' => (prefix("0X"), self.padded_digits(format!("{value:X}"))),
            _ => ("", self.padded_digits(value.to_string())),
        }
    }

    fn float_text(&self, value: f64) -> (&'static str, String) {
        let sign_text = self.sign_text(value.is_sign_negative());
        let magnitude = value.abs();
        let text = match self.letter.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if value.is_infinite() => "inf".to_owned(),
            'e' => exponential_text(magnitude, self.precision.unwrap_or(6)),
            'g' => self.shortest_text(magnitude),
            'a' => hexadecimal_text(magnitude),
            _ => format!("{magnitude:.*}", self.precision.unwrap_or(6)),
        };
        (sign_text, if self.letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text })
    }

    /// `%g`: so many digits that count; the exponent where it is far from 0 (C, 7.21.6.1).
    fn shortest_text(&self, value: f64) -> String {
        let significant_digits = self.precision.unwrap_or(6).max(1);
        let rounded_text = format!("{value:.*e}", significant_digits - 1);
        let exponent: i32 =
            rounded_text.split('e').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        let trimmed_text = |text: &str| match text.contains('.') && !self.alternative {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text.to_owned(),
        };
        if exponent < -4 || exponent >= significant_digits as i32 {
            let text = exponential_text(value, significant_digits - 1);
            let (number, exponent_text) = text.split_once('e').unwrap_or((&text, "+00"));
            return format!("{}e{exponent_text}", trimmed_text(number));
        }
        trimmed_text(&format!(
            "{value:.*}",
            (significant_digits as i32 - 1 - exponent).max(0) as usize
        ))
    }

    fn pad_to_width(&self, sign: &str, body: String, is_float: bool) -> String {
        let text_length = sign.len() + body.len();
        let padding_width = self.width.saturating_sub(text_length);
        let is_numeric =
            body.starts_with(|first: char| first.is_ascii_hexdigit()) && body != "false";
        let pads_zeros = self.zero_padded
            && !self.left_aligned
            && is_numeric
            && (is_float || self.precision.is_none());
        match (self.left_aligned, pads_zeros) {
            (true, _) => format!("{sign}{body}{}", " ".repeat(padding_width)),
            (false, true) => format!("{sign}{}{body}", "0".repeat(padding_width)),
            (false, false) => format!("{}{sign}{body}", " ".repeat(padding_width)),
        }
    }
}

/// C's `%e`: an exponent has a sign and two digits.
fn exponential_text(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa_text, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!(
        "{mantissa_text}e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.unsigned_abs()
    )
}

/// C's `%a` of a double.
fn hexadecimal_text(value: f64) -> String {
    let bits = value.to_bits();
    let fraction_bits = bits & ((1 << 52) - 1);
    let (leading_digit, exponent) = match (bits >> 52 & 0x7FF) as i32 {
        0 if fraction_bits == 0 => (0, 0),
        0 => (0, -1022),
        exponent => (1, exponent - 1023),
    };
    let mut text = format!("0x{leading_digit}");
    if fraction_bits != 0 {
        let fraction_digits = format!("{fraction_bits:013x}");
        let _ = write!(text, ".{}", fraction_digits.trim_end_matches('0'));
    }
    let _ = write!(text, "p{exponent:+}");
    text
}
