//! From the tree to the types of `model`, through serde, so that one definition serves TOML, JSON
//! and the schemas.
//!
//! Promises: every fault carries the place of the key or value at fault, and a hint where a name is
//! nearly right.

use super::{Document, DocumentFault, FaultKind, Node, Origin, TableEntry, Value};
use crate::nearest::{did_you_mean, likely_meant, question};
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use std::fmt;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::index_range::IndexRange;

/// Reads a `T` from the node at `origin`. All unknown keys are reported, and the first fault of any
/// other kind; a key that is missing because it is misspelt is reported once, as the unknown key.
pub fn read_node<T: DeserializeOwned>(
    document: &Document,
    node: &Node,
) -> Result<T, Vec<Diagnostic>> {
    let mut faults: Vec<DocumentFault> = Vec::new();
    let mut repaired = None;
    loop {
        let fault = match T::deserialize(NodeDeserializer(repaired.as_ref().unwrap_or(node))) {
            Ok(value) if faults.is_empty() => return Ok(value),
            Ok(_) => break,
            // A fault without a place comes from a whole table (`try_from`), which is this node.
            Err(fault) => DocumentFault { span: fault.span.or(Some(node.span)), ..fault },
        };
        let unknown_key_span =
            fault.span.filter(|_| matches!(fault.kind, FaultKind::UnknownKey { .. }));
        faults.push(fault);
        let Some(span) = unknown_key_span else { break };
        let repaired_tree = repaired.get_or_insert_with(|| node.clone());
        if !remove_entry(repaired_tree, span) {
            break;
        }
    }
    if let [unknown_keys @ .., last_fault] = faults.as_slice()
        && last_fault.is_misspelt_in(unknown_keys)
    {
        faults.pop();
    }
    Err(faults
        .into_iter()
        .map(|fault| fault.into_diagnostic(&document.file, &document.text))
        .collect())
}

/// Takes the entry whose key stands at `span` out of a tree.
fn remove_entry(node: &mut Node, key_span: IndexRange) -> bool {
    match &mut node.value {
        Value::Array(nodes) => nodes.iter_mut().any(|node| remove_entry(node, key_span)),
        Value::Table(entries) => {
            let count_before = entries.len();
            entries.retain(|entry| entry.key_span != key_span);
            entries.len() < count_before
                || entries.iter_mut().any(|entry| remove_entry(&mut entry.node, key_span))
        }
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
            false
        }
    }
}

impl fmt::Display for DocumentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DocumentFault {}

impl de::Error for DocumentFault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DocumentFault::new(FaultKind::BadValue, message.to_string())
    }
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DocumentFault::new(
            FaultKind::WrongType,
            format!("expected {}, found {}", expected_words(expected), serde_type_name(unexpected)),
        )
    }
    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DocumentFault::new(
            FaultKind::BadValue,
            format!("expected {}, found {}", expected_words(expected), serde_type_name(unexpected)),
        )
    }
    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        DocumentFault::new(FaultKind::BadValue, format!("expected {expected}, found {length}"))
    }
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let hint = did_you_mean(variant, expected).unwrap_or_else(|| allowed_values(expected));
        DocumentFault::new(
            FaultKind::BadValue,
            format!("`{variant}` is none of the values allowed here"),
        )
        .hint(Some(hint))
    }
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let likely_key = likely_meant(field, expected);
        let hint = match &likely_key {
            Some(likely_key) => question(likely_key),
            None => format!("the keys here are {}", quoted_list(expected)),
        };
        let message = format!("the key `{field}` is not known here");
        DocumentFault::new(FaultKind::UnknownKey { likely_key }, message).hint(Some(hint))
    }
    fn missing_field(field: &'static str) -> Self {
        let message = format!("the key `{field}` is missing");
        DocumentFault::new(FaultKind::MissingKey { key: field.to_owned() }, message)
    }
    fn duplicate_field(field: &'static str) -> Self {
        DocumentFault::new(FaultKind::DuplicateKey, format!("the key `{field}` occurs twice"))
    }
}

/// The allowed values in words; the schema lists them where they are many.
fn allowed_values(allowed_values: &[&str]) -> String {
    match allowed_values.len() {
        0..=24 => format!("one of {}", quoted_list(allowed_values)),
        many => format!("one of {many} values, which `vkcert schema` lists"),
    }
}

fn quoted_list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// What is expected, integers by their range and tables as such: the names of their types are those
/// of this program.
fn expected_words(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    let (least, greatest) = match expected.as_str() {
        "u8" => (0, i128::from(u8::MAX)),
        "u16" => (0, i128::from(u16::MAX)),
        "u32" => (0, i128::from(u32::MAX)),
        "u64" | "usize" => (0, i128::from(u64::MAX)),
        "i32" => (i128::from(i32::MIN), i128::from(i32::MAX)),
        "i64" => (i128::from(i64::MIN), i128::from(i64::MAX)),
        name if name.starts_with("struct ") => return "an object".to_owned(),
        _ => return expected,
    };
    format!("an integer from {least} to {greatest}")
}

/// serde's own names are Rust's (`sequence`, `map`); files have arrays and objects.
fn serde_type_name(unexpected: Unexpected<'_>) -> String {
    match unexpected {
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Map => "an object".to_owned(),
        Unexpected::Unit => "null".to_owned(),
        other => other.to_string(),
    }
}

struct NodeDeserializer<'a>(&'a Node);

impl<'de> Deserializer<'de> for NodeDeserializer<'_> {
    type Error = DocumentFault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentFault> {
        let result = match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => visitor.visit_i64(value),
                (_, Ok(value)) => visitor.visit_u64(value),
                // Larger integers are what a float field may still hold.
                _ => visitor.visit_f64(*value as f64),
            },
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::Array(nodes) => visit_elements(nodes, visitor),
            Value::Table(entries) => {
                visitor.visit_map(MemberAccess { entries: entries.iter(), current: None })
            }
        };
        result.map_err(|fault| fault.or_at_span(self.0.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DocumentFault> {
        match &self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        visitor.visit_newtype_struct(self)
    }

    /// A list is no table: serde would take its elements for the members, in the order in which
    /// this program declares them.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        match &self.0.value {
            Value::Array(_) => {
                let fault: DocumentFault = de::Error::invalid_type(Unexpected::Seq, &"an object");
                Err(fault.at(self.0.span))
            }
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Table(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        let result = match &self.0.value {
            Value::Text(variant) => {
                let empty_table = Node { span: self.0.span, value: Value::Table(Vec::new()) };
                visitor.visit_enum(UnitVariantName { variant, node: &empty_table })
            }
            Value::Table(entries) => match entries.as_slice() {
                [entry] => visitor.visit_enum(KeyedVariant(entry)),
                _ => Err(DocumentFault::new(
                    FaultKind::BadValue,
                    "expected an object with exactly one key",
                )),
            },
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Array(_) => {
                return self.deserialize_any(visitor);
            }
        };
        result.map_err(|fault: DocumentFault| fault.or_at_span(self.0.span))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map identifier ignored_any
    }
}

/// Visits an array; elements that the visitor leaves over are a fault, as are missing ones.
fn visit_elements<'de, V: Visitor<'de>>(
    nodes: &[Node],
    visitor: V,
) -> Result<V::Value, DocumentFault> {
    let mut remaining_nodes = nodes.iter();
    let value = visitor.visit_seq(ElementAccess(&mut remaining_nodes))?;
    match remaining_nodes.next() {
        None => Ok(value),
        Some(surplus) => {
            let taken_count = nodes.len() - remaining_nodes.len() - 1;
            let message =
                format!("expected an array of {taken_count} elements, found {}", nodes.len());
            Err(DocumentFault::new(FaultKind::BadValue, message).at(surplus.span))
        }
    }
}

struct ElementAccess<'n, 'a>(&'n mut std::slice::Iter<'a, Node>);

impl<'de> SeqAccess<'de> for ElementAccess<'_, '_> {
    type Error = DocumentFault;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DocumentFault> {
        self.0
            .next()
            .map(|node| {
                seed.deserialize(NodeDeserializer(node)).map_err(|f| f.or_at_span(node.span))
            })
            .transpose()
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

struct MemberAccess<'a> {
    entries: std::slice::Iter<'a, TableEntry>,
    current: Option<&'a TableEntry>,
}

impl<'de> MapAccess<'de> for MemberAccess<'_> {
    type Error = DocumentFault;
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DocumentFault> {
        self.current = self.entries.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key: StrDeserializer<'_, DocumentFault> = entry.key.as_str().into_deserializer();
        seed.deserialize(key).map(Some).map_err(|fault| fault.or_at_span(entry.key_span))
    }
    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, DocumentFault> {
        let entry = self.current.expect("serde asks for a value after its key");
        seed.deserialize(NodeDeserializer(&entry.node))
            .map_err(|fault| fault.or_at_span(entry.node.span))
    }
}

/// An enum value written as its name: one that has contents has all of them by default (`"iota"` is
/// `{"iota": {}}`).
struct UnitVariantName<'a> {
    variant: &'a str,
    node: &'a Node,
}

impl<'de, 'a> EnumAccess<'de> for UnitVariantName<'a> {
    type Error = DocumentFault;
    type Variant = UnitVariantBody<'a>;
    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, UnitVariantBody<'a>), DocumentFault> {
        let name: StrDeserializer<'_, DocumentFault> = self.variant.into_deserializer();
        Ok((seed.deserialize(name)?, UnitVariantBody(self.node)))
    }
}

/// No contents, in the shape of an empty object.
struct UnitVariantBody<'a>(&'a Node);

impl<'de> VariantAccess<'de> for UnitVariantBody<'_> {
    type Error = DocumentFault;
    fn unit_variant(self) -> Result<(), DocumentFault> {
        Ok(())
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DocumentFault> {
        seed.deserialize(NodeDeserializer(self.0))
    }
    fn tuple_variant<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        NodeDeserializer(self.0).deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        NodeDeserializer(self.0).deserialize_struct("", members, visitor)
    }
}

/// An enum value written as an object with one key.
struct KeyedVariant<'a>(&'a TableEntry);

impl<'de, 'a> EnumAccess<'de> for KeyedVariant<'a> {
    type Error = DocumentFault;
    type Variant = VariantBody<'a>;
    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, VariantBody<'a>), DocumentFault> {
        let key: StrDeserializer<'_, DocumentFault> = self.0.key.as_str().into_deserializer();
        let variant = seed.deserialize(key).map_err(|fault| fault.or_at_span(self.0.key_span))?;
        Ok((variant, VariantBody(&self.0.node)))
    }
}

struct VariantBody<'a>(&'a Node);

impl<'de> VariantAccess<'de> for VariantBody<'_> {
    type Error = DocumentFault;
    fn unit_variant(self) -> Result<(), DocumentFault> {
        Err(DocumentFault::new(FaultKind::WrongType, "this name stands alone, as a string")
            .at(self.0.span))
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DocumentFault> {
        seed.deserialize(NodeDeserializer(self.0))
    }
    fn tuple_variant<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        NodeDeserializer(self.0).deserialize_any(visitor)
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        members: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DocumentFault> {
        NodeDeserializer(self.0).deserialize_struct("", members, visitor)
    }
}

impl Origin {
    /// Reads a `T` from the value at this place.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Vec<Diagnostic>> {
        let document = self.document.as_ref().expect("only a place in a file can be read");
        read_node(document, self.node(document).0)
    }
}
