//! Debug printf: format strings and values as text (instruction set NonSemantic.DebugPrintf, whose
//! strings are those of C's printf with vectors: `%v3f`).
//!
//! Promises: a value that does not suit its conversion is printed as what it is; a `%` that begins
//! no conversion, or that has no value left, stays as it stands. Widths and precisions are at most
//! [`MOST_PLACES`].

use super::operand::operand_id;
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
    let instruction_number = instruction.literal(1).unwrap_or(0);
    if instruction_number != DEBUG_PRINTF {
        return Err(unsupported(format!(
            "NonSemantic.DebugPrintf instruction {instruction_number}"
        )));
    }
    let format_string = decoder
        .module
        .definition(operand_id(instruction, 2)?)
        .filter(|definition| definition.op == Op::String);
    let format_text = format_string.and_then(|definition| match definition.operands.first() {
        Some(rspirv::dr::Operand::LiteralString(format_text)) => Some(format_text.as_str()),
        _ => None,
    });
    let format_text =
        format_text.ok_or_else(|| unsupported("debug printf without a format string"))?;
    let values = instruction
        .ids()
        .skip(2)
        .map(|id| printed_value(decoder, id))
        .collect::<Result<Vec<_>, _>>()?;
    decoder.push_instruction(LaneInstruction::Print(Arc::new(PrintedLine {
        pieces: format_pieces(format_text).into(),
        values: values.into(),
    })));
    Ok(())
}

fn printed_value(decoder: &mut Decoder<'_>, value_id: Id) -> Result<PrintedValue, Unsupported> {
    let value_type = decoder.type_of(value_id)?;
    let component_type = match decoder.types.get(value_type) {
        Some(Type::Vector { component: component_type, .. }) => *component_type,
        _ => value_type,
    };
    let value_kind = match (decoder.types.get(component_type), decoder.form(component_type)) {
        (Some(Type::Bool), _) => {
            return Ok(PrintedValue::Booleans(decoder.masks_of(value_id)?.into()));
        }
        (Some(Type::Int { signedness: Signedness::Signed, .. }), Some(number_format)) => {
            ValueKind::Signed(number_format.width())
        }
        (_, Some(NumberFormat::Integer(width))) => ValueKind::Unsigned(width),
        (_, Some(number_format @ (NumberFormat::Float(_) | NumberFormat::Brain))) => {
            ValueKind::Float(number_format)
        }
        (_, None) => {
            return Err(unsupported(
                "debug printf of a value that is no number, Boolean or vector",
            ));
        }
    };
    Ok(PrintedValue::Numbers(value_kind, decoder.numbers_of(value_id)?.parts.into()))
}

/// A format string in pieces.
pub(crate) fn format_pieces(format_text: &str) -> Vec<FormatPiece> {
    let mut format_pieces: Vec<FormatPiece> = Vec::new();
    let mut plain_text = String::new();
    let mut rest_text = format_text;
    while let Some(position) = rest_text.find('%') {
        plain_text.push_str(&rest_text[..position]);
        rest_text = &rest_text[position..];
        if let Some(text_behind) = rest_text.strip_prefix("%%") {
            plain_text.push('%');
            rest_text = text_behind;
        } else if let Some((conversion, length)) = parse_conversion(rest_text) {
            if !plain_text.is_empty() {
                format_pieces.push(FormatPiece::Text(std::mem::take(&mut plain_text)));
            }
            format_pieces.push(FormatPiece::Value(conversion, rest_text[..length].to_owned()));
            rest_text = &rest_text[length..];
        } else {
            plain_text.push('%');
            rest_text = &rest_text[1..];
        }
    }
    plain_text.push_str(rest_text);
    if !plain_text.is_empty() {
        format_pieces.push(FormatPiece::Text(plain_text));
    }
    format_pieces
}

/// The decimal number at `position`, which is moved behind it; 0 where there is none.
fn parse_number(bytes: &[u8], position: &mut usize) -> usize {
    let mut value = 0;
    while let Some(digit) = bytes.get(*position).filter(|byte| byte.is_ascii_digit()) {
        value = (value * 10 + usize::from(digit - b'0')).min(MOST_PLACES);
        *position += 1;
    }
    value
}

/// The conversion that `text` begins with, and its length in bytes; `text` starts with `%`.
pub(crate) fn parse_conversion(text: &str) -> Option<(Conversion, usize)> {
    let bytes = text.as_bytes();
    let mut position = 1;
    let mut parsed = Conversion::default();
    loop {
        match bytes.get(position)? {
            b'-' => parsed.left_aligned = true,
            b'+' => parsed.always_signed = true,
            b' ' => parsed.space = true,
            b'#' => parsed.alternative = true,
            b'0' => parsed.zero_padded = true,
            _ => break,
        }
        position += 1;
    }
    parsed.width = parse_number(bytes, &mut position);
    if bytes.get(position) == Some(&b'.') {
        position += 1;
        parsed.precision = Some(parse_number(bytes, &mut position));
    }
    if bytes.get(position) == Some(&b'v') && matches!(bytes.get(position + 1), Some(b'2'..=b'4')) {
        position += 2;
    }
    // A number's own type says how wide it is. `ul` is this set's way to write C's `lu`.
    while matches!(bytes.get(position), Some(b'h' | b'l')) {
        position += 1;
    }
    parsed.letter = char::from(*bytes.get(position)?);
    position += 1;
    if parsed.letter == 'u' && bytes.get(position) == Some(&b'l') {
        position += 1;
    }
    "diouxXaAeEfFgG".contains(parsed.letter).then_some((parsed, position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;
    use vkcert_spirv::operation::sized::Width;

    fn written(format: &str, value_kind: ValueKind, bits: u64) -> String {
        match format_pieces(format).as_slice() {
            [FormatPiece::Value(conversion, _)] => conversion.write_value(value_kind, bits),
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
            format_pieces(text).into_iter().map(name).collect()
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
        let printf_output =
            Command::new("printf").arg(format).args(rows.iter().map(|(_, value)| value)).output();
        let printf_output = printf_output.expect("printf is a part of every system");
        String::from_utf8(printf_output.stdout)
            .expect("digits")
            .lines()
            .map(str::to_owned)
            .collect()
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
