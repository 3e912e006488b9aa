//! TOML (v1.1) to the common tree, with the spans of the `toml` crate's own parser.

use super::{DocumentFault, FaultKind, Node, TableEntry, Value};
use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};
use vkcert_model::index_range::IndexRange;

/// Parses a document; on failure every error that the parser recovered from.
pub(super) fn parse_toml(text: &str) -> Result<Node, Vec<DocumentFault>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut faults: Vec<DocumentFault> = errors.iter().map(fault_of_error).collect();
    let span = table.span();
    let root = Node {
        span: IndexRange { start: 0, end: span.end.min(text.len()) },
        value: table_value(table.get_ref(), &mut faults),
    };
    if faults.is_empty() { Ok(root) } else { Err(reported_faults(faults)) }
}

/// The faults to report: all duplicate keys, but only the first syntax error, because what follows
/// it is mostly its consequence.
fn reported_faults(mut faults: Vec<DocumentFault>) -> Vec<DocumentFault> {
    faults.sort_by_key(|fault| fault.span.as_ref().map_or(0, |span| span.start));
    match faults.iter().position(|fault| fault.kind != FaultKind::DuplicateKey) {
        Some(first_error) => vec![faults.swap_remove(first_error)],
        None => faults,
    }
}

fn fault_of_error(error: &::toml::de::Error) -> DocumentFault {
    let message = error.message();
    let is_duplicate = message.contains("duplicate key");
    let kind = if is_duplicate { FaultKind::DuplicateKey } else { FaultKind::TomlSyntax };
    let mut fault = DocumentFault::new(kind, message);
    fault.span = error.span().map(IndexRange::from);
    fault.hint(is_duplicate.then(|| "write each key once".to_owned()))
}

fn table_value(table: &DeTable<'_>, faults: &mut Vec<DocumentFault>) -> Value {
    let mut entries: Vec<TableEntry> = table
        .iter()
        .map(|(key, value)| TableEntry {
            key: key.get_ref().to_string(),
            key_span: key.span().into(),
            node: node_of_value(value, faults),
        })
        .collect();
    // The parser's map is sorted by key; the order of the text is the order of diagnostics.
    entries.sort_by_key(|entry| entry.key_span.start);
    Value::Table(entries)
}

fn node_of_value(spanned: &Spanned<DeValue<'_>>, faults: &mut Vec<DocumentFault>) -> Node {
    let span = spanned.span().into();
    let value = match spanned.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(integer) => {
            match i128::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => too_large(span, faults),
            }
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(value) if value.is_infinite() && !float.as_str().contains("inf") => {
                too_large(span, faults)
            }
            Ok(value) => Value::Float(value),
            Err(_) => too_large(span, faults),
        },
        DeValue::Boolean(value) => Value::Bool(*value),
        // No field of ours is a date: as a string it is refused by whatever field it stands in.
        DeValue::Datetime(value) => Value::Text(value.to_string()),
        DeValue::Array(values) => {
            Value::Array(values.iter().map(|value| node_of_value(value, faults)).collect())
        }
        DeValue::Table(table) => table_value(table, faults),
    };
    Node { span, value }
}

fn too_large(span: IndexRange, faults: &mut Vec<DocumentFault>) -> Value {
    faults.push(DocumentFault::new(FaultKind::TomlSyntax, "this number is too large").at(span));
    Value::Null
}
