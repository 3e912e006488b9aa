//! Elements as the file gives them: listed, filled by a rule, as base64.
//!
//! Promises: a value that does not fit its type is reported with its place, the first ones of a
//! list.

use super::problems::Problems;
use super::random::{RandomBounds, SplitMix64, random_component};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::element::{Datum, ElementType, ScalarClass};
use vkcert_model::procedure::{Fill, Iota, Random};
use vkcert_oracle::scalar::{
    append_scalar, decode_float, decode_integer, encode_datum, float_bits,
};
use vkcert_requirement::Origin;

/// Faults listed for one array of values.
pub(super) const MOST_LISTED: usize = 16;

/// Standard base64 with padding.
pub(super) fn decode_base64(
    base64_text: &str,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match STANDARD.decode(base64_text) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            problems.push(
                origin
                    .error("base64", format!("this is no base64: {error}"))
                    .hint("RFC 4648, with padding"),
            );
            None
        }
    }
}

/// The values of an array that are refused; the first of them are problems each.
#[derive(Default)]
struct RefusedValues {
    count: usize,
}

impl RefusedValues {
    fn refuse(&mut self, problem: Diagnostic, problems: &mut Problems) {
        self.count += 1;
        if self.count <= MOST_LISTED {
            problems.push(problem);
        }
    }
}

/// An array of elements, flat or with one array per vector, to bytes.
pub(super) fn encode_elements(
    element_type: ElementType,
    data: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let Datum::List(given_values) = data else {
        problems.push(origin.error(
            "wrong-type",
            format!("expected an array of {element_type}, found {}", data.kind()),
        ));
        return None;
    };
    let mut bytes = Vec::with_capacity(given_values.len() * element_type.scalar.size());
    let mut refused_values = RefusedValues::default();
    for (value_index, value) in given_values.iter().enumerate() {
        let component_values = match value {
            Datum::List(vector_parts) if element_type.components > 1 => {
                if vector_parts.len() != element_type.components as usize {
                    let message = format!(
                        "{element_type} has {} components, and {} are given",
                        element_type.components,
                        vector_parts.len()
                    );
                    refused_values.refuse(origin.at(value_index).error("size", message), problems);
                    continue;
                }
                vector_parts.as_slice()
            }
            single_value => std::slice::from_ref(single_value),
        };
        for (component_index, component) in component_values.iter().enumerate() {
            match encode_datum(element_type.scalar, component) {
                Ok(bits) => append_scalar(&mut bytes, element_type.scalar, bits),
                Err(message) => {
                    let value_origin = origin.at(value_index);
                    let value_origin = if matches!(value, Datum::List(_)) {
                        value_origin.at(component_index)
                    } else {
                        value_origin
                    };
                    refused_values.refuse(value_origin.error("bad-value", message), problems);
                }
            }
        }
    }
    if refused_values.count == 0 && !bytes.len().is_multiple_of(element_type.size()) {
        let component_count = bytes.len() / element_type.scalar.size();
        let message = format!("{component_count} components are no whole number of {element_type}");
        refused_values.refuse(origin.error("size", message), problems);
    }
    if refused_values.count > MOST_LISTED {
        problems.push(origin.error(
            "bad-value",
            format!("{} more values are wrong", refused_values.count - MOST_LISTED),
        ));
    }
    (refused_values.count == 0).then_some(bytes)
}

pub(super) fn fill_elements(
    element_type: ElementType,
    fill_rule: &Fill,
    element_count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match fill_rule {
        Fill::Constant(value) => {
            constant_elements(element_type, value, element_count, &origin.at("constant"), problems)
        }
        Fill::Iota(number_rule) => {
            iota_elements(element_type, number_rule, element_count, &origin.at("iota"), problems)
        }
        Fill::Random(number_rule) => random_elements(
            element_type,
            number_rule,
            element_count,
            &origin.at("random"),
            problems,
        ),
    }
}

pub(super) fn constant_elements(
    element_type: ElementType,
    given_value: &Datum,
    element_count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let element_bytes = match given_value {
        Datum::List(_) => encode_elements(element_type, given_value, origin, problems)?,
        single_value => {
            let bits = encoded_bits(element_type, single_value, origin, problems)?;
            let mut component_bytes = Vec::with_capacity(element_type.scalar.size());
            append_scalar(&mut component_bytes, element_type.scalar, bits);
            component_bytes.repeat(element_type.components as usize)
        }
    };
    if element_bytes.len() != element_type.size() {
        problems.push(origin.error("size", format!("a constant is one {element_type}")));
        return None;
    }
    Some(element_bytes.repeat(element_count as usize))
}

pub(super) fn iota_elements(
    element_type: ElementType,
    rule: &Iota,
    element_count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let (first_start, unit_step) = (Datum::Integer(0), Datum::Integer(1));
    let start_value = rule.start.as_ref().unwrap_or(&first_start);
    let step_value = rule.step.as_ref().unwrap_or(&unit_step);
    let component_count = element_count * u64::from(element_type.components);
    let mut bytes = Vec::with_capacity(element_count as usize * element_type.size());
    match element_type.scalar.class() {
        ScalarClass::Float => {
            let start_value =
                encoded_bits(element_type, start_value, &origin.at("start"), problems)?;
            let step_value = encoded_bits(element_type, step_value, &origin.at("step"), problems)?;
            let (start_value, step_value) = (
                decode_float(element_type.scalar, start_value),
                decode_float(element_type.scalar, step_value),
            );
            for component_index in 0..component_count {
                append_scalar(
                    &mut bytes,
                    element_type.scalar,
                    float_bits(
                        element_type.scalar,
                        start_value + component_index as f64 * step_value,
                    ),
                );
            }
        }
        ScalarClass::Signed | ScalarClass::Unsigned => {
            let (Some(start_value), Some(step_value)) =
                (whole_number(start_value), whole_number(step_value))
            else {
                problems.push(
                    origin
                        .error("bad-value", "`start` and `step` of an integer buffer are integers"),
                );
                return None;
            };
            let last_value =
                start_value + i128::from(component_count.saturating_sub(1)) * step_value;
            let integer_range =
                element_type.scalar.integer_range().expect("an integer type has a range");
            if [start_value, last_value]
                .iter()
                .any(|value| *value < integer_range.0 || *value > integer_range.1)
            {
                problems.push(origin.error(
                    "bad-value",
                    format!(
                        "{start_value} to {last_value} does not fit in {}",
                        element_type.scalar
                    ),
                ));
                return None;
            }
            for component_index in 0..component_count {
                append_scalar(
                    &mut bytes,
                    element_type.scalar,
                    (start_value + i128::from(component_index) * step_value) as u64,
                );
            }
        }
        ScalarClass::Bool => {
            problems.push(origin.error("bad-value", "Booleans cannot be counted up"));
            return None;
        }
    }
    Some(bytes)
}

pub(super) fn whole_number(given_value: &Datum) -> Option<i128> {
    match given_value {
        Datum::Integer(given_value) => Some(*given_value),
        Datum::Text(text) => text
            .parse::<i64>()
            .map(i128::from)
            .or_else(|_| text.parse::<u64>().map(i128::from))
            .ok(),
        Datum::Bool(_) | Datum::Float(_) | Datum::List(_) | Datum::Record(_) => None,
    }
}

pub(super) fn encoded_bits(
    element_type: ElementType,
    given_value: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<u64> {
    encode_datum(element_type.scalar, given_value)
        .map_err(|message| problems.push(origin.error("bad-value", message)))
        .ok()
}

pub(super) fn random_elements(
    element_type: ElementType,
    rule: &Random,
    element_count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let component_type = element_type.scalar;
    let optional_bits = |value: &Option<Datum>, key: &str, problems: &mut Problems| match value {
        None => Some(None),
        Some(value) => encoded_bits(element_type, value, &origin.at(key), problems).map(Some),
    };
    let (min_bits, max_bits) =
        (optional_bits(&rule.min, "min", problems)?, optional_bits(&rule.max, "max", problems)?);
    let (value_bounds, is_ordered) = match component_type.integer_range() {
        Some((least_value, most_value)) => {
            let least_value =
                min_bits.map_or(least_value, |bits| decode_integer(component_type, bits));
            let most_value =
                max_bits.map_or(most_value, |bits| decode_integer(component_type, bits));
            (RandomBounds::Integer(least_value, most_value), least_value <= most_value)
        }
        None => {
            let least_value = min_bits.map_or(0.0, |bits| decode_float(component_type, bits));
            let most_value = max_bits.map_or(1.0, |bits| decode_float(component_type, bits));
            (
                RandomBounds::Float(least_value, most_value),
                least_value <= most_value && (most_value - least_value).is_finite(),
            )
        }
    };
    if !is_ordered {
        problems.push(origin.error("bad-value", "`min` is at most `max`, and both are finite"));
        return None;
    }
    let mut generator = SplitMix64::new(rule.seed);
    let mut bytes = Vec::with_capacity(element_count as usize * element_type.size());
    for _ in 0..element_count * u64::from(element_type.components) {
        append_scalar(
            &mut bytes,
            component_type,
            random_component(&mut generator, component_type, value_bounds),
        );
    }
    Some(bytes)
}
