//! TOML (v1.1) to the common tree, with the spans of the `toml` crate's own parser.

use super::{Entry, Fault, Node, Value};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use std::ops::Range;

/// Parses a document; on failure every error that the parser recovered from.
pub(super) fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut faults: Vec<Fault> = errors.iter().map(fault).collect();
    let span = table.span();
    let root =
        Node { span: 0..span.end.min(text.len()), value: entries(table.get_ref(), &mut faults) };
    if faults.is_empty() { Ok(root) } else { Err(told(faults)) }
}

/// The faults to report: all duplicate keys, but only the first syntax error, because what follows
/// it is mostly its consequence.
fn told(mut faults: Vec<Fault>) -> Vec<Fault> {
    faults.sort_by_key(|fault| fault.span.as_ref().map_or(0, |span| span.start));
    match faults.iter().position(|fault| fault.kind != "duplicate-key") {
        Some(first_error) => vec![faults.swap_remove(first_error)],
        None => faults,
    }
}

fn fault(error: &::toml::de::Error) -> Fault {
    let message = error.message();
    let is_duplicate = message.contains("duplicate key");
    let mut fault = Fault::new(if is_duplicate { "duplicate-key" } else { "toml-syntax" }, message);
    fault.span = error.span();
    fault.hint(is_duplicate.then(|| "write each key once".to_owned()))
}

fn entries(table: &DeTable<'_>, faults: &mut Vec<Fault>) -> Value {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            node: node(value, faults),
        })
        .collect();
    // The parser's map is sorted by key; the order of the text is the order of diagnostics.
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}

fn node(spanned: &Spanned<DeValue<'_>>, faults: &mut Vec<Fault>) -> Node {
    let span = spanned.span();
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => too_large(span.clone(), faults),
            }
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(value) if value.is_infinite() && !float.as_str().contains("inf") => {
                too_large(span.clone(), faults)
            }
            Ok(value) => Value::Float(value),
            Err(_) => too_large(span.clone(), faults),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        // No field of ours is a date: as a string it is refused by whatever field it stands in.
        DeValue::Datetime(value) => Value::Text(value.to_string()),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| node(value, faults)).collect())
        }
        DeValue::Table(table) => entries(table, faults),
    };
    Node { span, value }
}

fn too_large(span: Range<usize>, faults: &mut Vec<Fault>) -> Value {
    faults.push(Fault::new("toml-syntax", "this number is too large").at(span));
    Value::Null
}
