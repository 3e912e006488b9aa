//! Debug printf: format strings and values as text (instruction set NonSemantic.DebugPrintf, whose
//! strings are those of C's printf with vectors: `%v3f`).
//!
//! Promises: a value that does not suit its conversion is printed as what it is; a `%` that begins
//! no conversion, or that has no value left, stays as it stands. Widths and precisions are at most
//! [`MOST_PLACES`].

use super::operand::id;
use crate::decode::decoder::Decoder;
use crate::decode::unsupported;
use crate::decode::unsupported::Unsupported;
use crate::ir::print_format::{Conversion, FormatPiece, MOST_PLACES, ValueKind};
use crate::ir::{LaneInstruction, PrintedLine, PrintedValue};
use rspirv::spirv::Op;
use std::sync::Arc;
use vkcert_spirv::module::{Id, Instruction};
use vkcert_spirv::operation::sized::NumberFormat;
use vkcert_spirv::types::{Signedness, Type};

/// The number of DebugPrintf in its set.
const DEBUG_PRINTF: u32 = 1;

/// One instruction of the set.
pub(crate) fn debug_printf(
    decoder: &mut Decoder<'_>,
    instruction: &Instruction,
) -> Result<(), Unsupported> {
    let number = instruction.literal(1).unwrap_or(0);
    if number != DEBUG_PRINTF {
        return Err(unsupported(format!("NonSemantic.DebugPrintf instruction {number}")));
    }
    let text = decoder.module.definition(id(instruction, 2)?).filter(|text| text.op == Op::String);
    let text = text.and_then(|text| match text.operands.first() {
        Some(rspirv::dr::Operand::LiteralString(text)) => Some(text.clone()),
        _ => None,
    });
    let text = text.ok_or_else(|| unsupported("debug printf without a format string"))?;
    let values = instruction
        .ids()
        .skip(2)
        .map(|id| printable(decoder, id))
        .collect::<Result<Vec<_>, _>>()?;
    decoder.push(LaneInstruction::Print(Arc::new(PrintedLine {
        pieces: pieces(&text).into(),
        values: values.into(),
    })));
    Ok(())
}

fn printable(decoder: &mut Decoder<'_>, id: Id) -> Result<PrintedValue, Unsupported> {
    let ty = decoder.type_of(id)?;
    let component = match decoder.types.get(ty) {
        Some(Type::Vector { component, .. }) => *component,
        _ => ty,
    };
    let kindred = match (decoder.types.get(component), decoder.form(component)) {
        (Some(Type::Bool), _) => return Ok(PrintedValue::Booleans(decoder.masks(id)?.into())),
        (Some(Type::Int { signedness: Signedness::Signed, .. }), Some(form)) => {
            ValueKind::Signed(form.width())
        }
        (_, Some(NumberFormat::Integer(width))) => ValueKind::Unsigned(width),
        (_, Some(form @ (NumberFormat::Float(_) | NumberFormat::Brain))) => ValueKind::Float(form),
        (_, None) => {
            return Err(unsupported(
                "debug printf of a value that is no number, Boolean or vector",
            ));
        }
    };
    Ok(PrintedValue::Numbers(kindred, decoder.numbers(id)?.parts.into()))
}

/// A format string in pieces.
pub(crate) fn pieces(text: &str) -> Vec<FormatPiece> {
    let mut found: Vec<FormatPiece> = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("%%") {
            plain.push('%');
            rest = behind;
        } else if let Some((conversion, length)) = conversion(rest) {
            if !plain.is_empty() {
                found.push(FormatPiece::Text(std::mem::take(&mut plain)));
            }
            found.push(FormatPiece::Value(conversion, rest[..length].to_owned()));
            rest = &rest[length..];
        } else {
            plain.push('%');
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        found.push(FormatPiece::Text(plain));
    }
    found
}

/// The conversion that `text` begins with, and its length in bytes; `text` starts with `%`.
pub(crate) fn conversion(text: &str) -> Option<(Conversion, usize)> {
    let bytes = text.as_bytes();
    let mut at = 1;
    let mut found = Conversion::default();
    loop {
        match bytes.get(at)? {
            b'-' => found.left = true,
            b'+' => found.plus = true,
            b' ' => found.space = true,
            b'#' => found.alternative = true,
            b'0' => found.zeros = true,
            _ => break,
        }
        at += 1;
    }
    let number = |at: &mut usize| {
        let mut value = 0;
        while let Some(digit) = bytes.get(*at).filter(|byte| byte.is_ascii_digit()) {
            value = (value * 10 + usize::from(digit - b'0')).min(MOST_PLACES);
            *at += 1;
        }
        value
    };
    found.width = number(&mut at);
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        found.precision = Some(number(&mut at));
    }
    if bytes.get(at) == Some(&b'v') && matches!(bytes.get(at + 1), Some(b'2'..=b'4')) {
        at += 2;
    }
    // A number's own type says how wide it is. `ul` is this set's way to write C's `lu`.
    while matches!(bytes.get(at), Some(b'h' | b'l')) {
        at += 1;
    }
    found.letter = char::from(*bytes.get(at)?);
    at += 1;
    if found.letter == 'u' && bytes.get(at) == Some(&b'l') {
        at += 1;
    }
    "diouxXaAeEfFgG".contains(found.letter).then_some((found, at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;
    use vkcert_spirv::operation::sized::Width;

    fn written(format: &str, kindred: ValueKind, bits: u64) -> String {
        match pieces(format).as_slice() {
            [FormatPiece::Value(conversion, _)] => conversion.write(kindred, bits),
            other => panic!("{format}: {other:?}"),
        }
    }

    #[test]
    fn a_format_string_falls_into_text_and_conversions() {
        let names = |text: &str| -> Vec<String> {
            let name = |piece: FormatPiece| match piece {
                FormatPiece::Text(text) => format!("text {text}"),
                FormatPiece::Value(conversion, written) => {
                    format!("{written} {}", conversion.letter)
                }
            };
            pieces(text).into_iter().map(name).collect()
        };
        assert_eq!(names("a%%b %d%v3f"), ["text a%b ", "%d d", "%v3f f"]);
        assert_eq!(
            names("%ul %lu %lx %1.2v4f"),
            ["%ul u", "text  ", "%lu u", "text  ", "%lx x", "text  ", "%1.2v4f f"]
        );
        assert_eq!(names("100% %s %"), ["text 100% %s %"]);
    }

    #[test]
    fn a_value_that_does_not_suit_its_conversion_is_printed_as_what_it_is() {
        let float = ValueKind::Float(NumberFormat::Float(Width::W32));
        assert_eq!(written("%d", float, u64::from(1.5f32.to_bits())), "1.500000");
        assert_eq!(written("%f", ValueKind::Signed(Width::W16), 0xFFFE), "-2");
        assert_eq!(written("%f", ValueKind::Boolean, 1), "true");
        assert_eq!(written("%u", ValueKind::Boolean, 1), "1");
        assert_eq!(written("%u", ValueKind::Unsigned(Width::W64), u64::MAX), u64::MAX.to_string());
        assert_eq!(
            written("%a", ValueKind::Float(NumberFormat::Float(Width::W64)), 1.5f64.to_bits()),
            "0x1.8p+0"
        );
    }

    #[test]
    fn widths_are_bounded() {
        assert_eq!(written("%999999999999d", ValueKind::Signed(Width::W32), 1).len(), MOST_PLACES);
        assert!(
            written("%.999999999f", ValueKind::Float(NumberFormat::Float(Width::W64)), 1).len()
                <= MOST_PLACES + 2
        );
    }

    /// What the system's printf makes of all of them at once, a line each.
    fn of_system(rows: &[(String, String)]) -> Vec<String> {
        let format: String = rows.iter().map(|(format, _)| format!("{format}\\n")).collect();
        let output =
            Command::new("printf").arg(format).args(rows.iter().map(|(_, value)| value)).output();
        let output = output.expect("printf is a part of every system");
        String::from_utf8(output.stdout).expect("digits").lines().map(str::to_owned).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn numbers_are_written_as_c_writes_them(
            flags in "[-+ #0]{0,3}", width in 0usize..14, precision in proptest::option::of(0usize..9),
            whole in any::<i32>(), float in any::<f32>(), near in -1e6f32..1e6,
        ) {
            let places = precision.map_or(String::new(), |places| format!(".{places}"));
            let spec = |letter: char| format!("%{flags}{}{places}{letter}", if width == 0 { String::new() } else { width.to_string() });
            let (mut rows, mut ours) = (Vec::new(), Vec::new());
            for letter in ['d', 'i'] {
                rows.push((spec(letter), whole.to_string()));
                ours.push(written(&spec(letter), ValueKind::Signed(Width::W32), u64::from(whole as u32)));
            }
            for letter in ['u', 'x', 'X'] {
                rows.push((spec(letter), (whole as u32).to_string()));
                ours.push(written(&spec(letter), ValueKind::Unsigned(Width::W32), u64::from(whole as u32)));
            }
            for value in [float, near] {
                // The shell's printf computes with long double: what an f32 is exactly, all of them
                // write alike.
                prop_assume!(value.is_finite());
                for letter in ['f', 'e', 'g', 'E', 'G'] {
                    // C keeps the point with `#` where no digits follow it; here it goes.
                    if flags.contains('#') {
                        continue;
                    }
                    rows.push((spec(letter), format!("{:.150}", f64::from(value))));
                    ours.push(written(&spec(letter), ValueKind::Float(NumberFormat::Float(Width::W32)), u64::from(value.to_bits())));
                }
            }
            let system = of_system(&rows);
            for ((row, ours), theirs) in rows.iter().zip(&ours).zip(&system) {
                prop_assert_eq!(ours, theirs, "{:?}", row);
            }
        }
    }
}
