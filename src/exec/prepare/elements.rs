//! Elements as the file gives them: listed, filled by a rule, as base64.
//!
//! Promises: a value that does not fit its type is reported with its place, the first ones of a
//! list.

use super::problems::Problems;
use super::random::{Bounds, SplitMix64, random_component};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use vkcert_model::element::{Datum, ElementType, ScalarClass};
use vkcert_model::procedure::{Fill, Iota, Random};
use vkcert_oracle::scalar::{
    append_scalar, decode_float, decode_integer, encode_datum, float_bits,
};
use vkcert_requirement::Origin;

/// Faults listed for one array of values.
pub(super) const LISTED: usize = 16;

/// Standard base64 with padding.
pub(super) fn decode_base64(
    text: &str,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match STANDARD.decode(text) {
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

/// An array of elements, flat or with one array per vector, to bytes.
pub(super) fn elements(
    element: ElementType,
    data: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let Datum::List(values) = data else {
        problems.push(
            origin.error(
                "wrong-type",
                format!("expected an array of {element}, found {}", data.kind()),
            ),
        );
        return None;
    };
    let mut bytes = Vec::with_capacity(values.len() * element.scalar.size());
    let faults = std::cell::Cell::new(0);
    let refuse = |origin: Origin, kind, message: String, problems: &mut Problems| {
        faults.set(faults.get() + 1);
        if faults.get() <= LISTED {
            problems.push(origin.error(kind, message));
        }
    };
    for (index, value) in values.iter().enumerate() {
        let nested = match value {
            Datum::List(parts) if element.components > 1 => {
                if parts.len() != element.components as usize {
                    let message = format!(
                        "{element} has {} components, and {} are given",
                        element.components,
                        parts.len()
                    );
                    refuse(origin.at(index), "size", message, problems);
                    continue;
                }
                parts.as_slice()
            }
            other => std::slice::from_ref(other),
        };
        for (part, component) in nested.iter().enumerate() {
            match encode_datum(element.scalar, component) {
                Ok(bits) => append_scalar(&mut bytes, element.scalar, bits),
                Err(message) => {
                    let place = origin.at(index);
                    let place =
                        if matches!(value, Datum::List(_)) { place.at(part) } else { place };
                    refuse(place, "bad-value", message, problems);
                }
            }
        }
    }
    if faults.get() == 0 && !bytes.len().is_multiple_of(element.size()) {
        let count = bytes.len() / element.scalar.size();
        refuse(
            origin.clone(),
            "size",
            format!("{count} components are no whole number of {element}"),
            problems,
        );
    }
    if faults.get() > LISTED {
        problems.push(
            origin.error("bad-value", format!("{} more values are wrong", faults.get() - LISTED)),
        );
    }
    (faults.get() == 0).then_some(bytes)
}

pub(super) fn filled(
    element: ElementType,
    fill: &Fill,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    match fill {
        Fill::Constant(value) => constant(element, value, count, &origin.at("constant"), problems),
        Fill::Iota(rule) => iota(element, rule, count, &origin.at("iota"), problems),
        Fill::Random(rule) => random(element, rule, count, &origin.at("random"), problems),
    }
}

pub(super) fn constant(
    element: ElementType,
    value: &Datum,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let one = match value {
        Datum::List(_) => elements(element, value, origin, problems)?,
        single => {
            let all = Datum::List(vec![single.clone(); element.components as usize]);
            match encode_datum(element.scalar, single) {
                Ok(_) => elements(element, &all, origin, problems)?,
                Err(message) => {
                    problems.push(origin.error("bad-value", message));
                    return None;
                }
            }
        }
    };
    if one.len() != element.size() {
        problems.push(origin.error("size", format!("a constant is one {element}")));
        return None;
    }
    Some(one.repeat(count as usize))
}

pub(super) fn iota(
    element: ElementType,
    rule: &Iota,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let start = rule.start.clone().unwrap_or(Datum::Integer(0));
    let step = rule.step.clone().unwrap_or(Datum::Integer(1));
    let components = count * u64::from(element.components);
    let mut bytes = Vec::with_capacity(count as usize * element.size());
    match element.scalar.class() {
        ScalarClass::Float => {
            let start = bits(element, &start, &origin.at("start"), problems)?;
            let step = bits(element, &step, &origin.at("step"), problems)?;
            let (start, step) =
                (decode_float(element.scalar, start), decode_float(element.scalar, step));
            for index in 0..components {
                append_scalar(
                    &mut bytes,
                    element.scalar,
                    float_bits(element.scalar, start + index as f64 * step),
                );
            }
        }
        ScalarClass::Signed | ScalarClass::Unsigned => {
            let (Some(start), Some(step)) = (whole(&start), whole(&step)) else {
                problems.push(
                    origin
                        .error("bad-value", "`start` and `step` of an integer buffer are integers"),
                );
                return None;
            };
            let last = start + i128::from(components.saturating_sub(1)) * step;
            let range = element.scalar.integer_range().expect("an integer type has a range");
            if [start, last].iter().any(|value| *value < range.0 || *value > range.1) {
                problems.push(origin.error(
                    "bad-value",
                    format!("{start} to {last} does not fit in {}", element.scalar),
                ));
                return None;
            }
            for index in 0..components {
                append_scalar(
                    &mut bytes,
                    element.scalar,
                    (start + i128::from(index) * step) as u64,
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

pub(super) fn whole(value: &Datum) -> Option<i128> {
    match value {
        Datum::Integer(value) => Some(*value),
        Datum::Text(text) => text
            .parse::<i64>()
            .map(i128::from)
            .or_else(|_| text.parse::<u64>().map(i128::from))
            .ok(),
        Datum::Bool(_) | Datum::Float(_) | Datum::List(_) | Datum::Record(_) => None,
    }
}

pub(super) fn bits(
    element: ElementType,
    value: &Datum,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<u64> {
    encode_datum(element.scalar, value)
        .map_err(|message| problems.push(origin.error("bad-value", message)))
        .ok()
}

pub(super) fn random(
    element: ElementType,
    rule: &Random,
    count: u64,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<Vec<u8>> {
    let scalar = element.scalar;
    let bound = |value: &Option<Datum>, key: &str, problems: &mut Problems| match value {
        None => Some(None),
        Some(value) => bits(element, value, &origin.at(key), problems).map(Some),
    };
    let (min, max) = (bound(&rule.min, "min", problems)?, bound(&rule.max, "max", problems)?);
    let (bounds, ordered) = match scalar.integer_range() {
        Some((least, most)) => {
            let least = min.map_or(least, |bits| decode_integer(scalar, bits));
            let most = max.map_or(most, |bits| decode_integer(scalar, bits));
            (Bounds::Integer(least, most), least <= most)
        }
        None => {
            let least = min.map_or(0.0, |bits| decode_float(scalar, bits));
            let most = max.map_or(1.0, |bits| decode_float(scalar, bits));
            (Bounds::Float(least, most), least <= most && (most - least).is_finite())
        }
    };
    if !ordered {
        problems.push(origin.error("bad-value", "`min` is at most `max`, and both are finite"));
        return None;
    }
    let mut generator = SplitMix64::new(rule.seed);
    let mut bytes = Vec::with_capacity(count as usize * element.size());
    for _ in 0..count * u64::from(element.components) {
        append_scalar(&mut bytes, scalar, random_component(&mut generator, scalar, bounds));
    }
    Some(bytes)
}
