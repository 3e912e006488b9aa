//! Element types of buffers and the values that test procedures write for them.
//!
//! Knows: the names of the contract (`float`, `uvec4`, `int64` ...), their sizes, and how a value stands in a file.
//! Promises: `Display` of a type is its canonical name and parses back to the same type.
//! Does not cover: the conversion of values to bytes (`exec::prepare`) and their comparison (`exec::judge`).

use schemars::JsonSchema;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The type of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarType {
    /// 4 bytes: 0 is false, 1 is true (GLSL stores a Boolean of a block as `uint`).
    Bool,
    /// Signed, 1 byte.
    Int8,
    /// Signed, 2 bytes.
    Int16,
    /// Signed, 4 bytes (`int`).
    Int32,
    /// Signed, 8 bytes.
    Int64,
    /// Unsigned, 1 byte.
    Uint8,
    /// Unsigned, 2 bytes.
    Uint16,
    /// Unsigned, 4 bytes (`uint`).
    Uint32,
    /// Unsigned, 8 bytes.
    Uint64,
    /// IEEE 754 binary16, 2 bytes.
    Float16,
    /// IEEE 754 binary32, 4 bytes (`float`).
    Float32,
    /// IEEE 754 binary64, 8 bytes (`double`).
    Float64,
}

/// What arithmetic a scalar type belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScalarClass {
    /// Truth values.
    Bool,
    /// Signed integers, two's complement.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// Floating-point numbers.
    Float,
}

impl ScalarType {
    /// Every scalar type with its canonical name, its other names, and the prefix of its vectors (GLSL 4.60, 4.1).
    pub const ALL: &'static [(ScalarType, &'static str, &'static [&'static str], &'static str)] = &[
        (ScalarType::Bool, "bool", &[], "bvec"),
        (ScalarType::Int8, "int8", &["int8_t"], "i8vec"),
        (ScalarType::Int16, "int16", &["int16_t"], "i16vec"),
        (ScalarType::Int32, "int", &["int32", "int32_t"], "ivec"),
        (ScalarType::Int64, "int64", &["int64_t"], "i64vec"),
        (ScalarType::Uint8, "uint8", &["uint8_t"], "u8vec"),
        (ScalarType::Uint16, "uint16", &["uint16_t"], "u16vec"),
        (ScalarType::Uint32, "uint", &["uint32", "uint32_t"], "uvec"),
        (ScalarType::Uint64, "uint64", &["uint64_t"], "u64vec"),
        (ScalarType::Float16, "float16", &["float16_t"], "f16vec"),
        (ScalarType::Float32, "float", &["float32", "float32_t"], "vec"),
        (ScalarType::Float64, "float64", &["double", "float64_t"], "dvec"),
    ];

    fn row(self) -> &'static (ScalarType, &'static str, &'static [&'static str], &'static str) {
        Self::ALL.iter().find(|row| row.0 == self).expect("ALL lists every scalar type")
    }

    /// By its canonical name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            ScalarType::Int8 | ScalarType::Uint8 => 1,
            ScalarType::Int16 | ScalarType::Uint16 | ScalarType::Float16 => 2,
            ScalarType::Bool | ScalarType::Int32 | ScalarType::Uint32 | ScalarType::Float32 => 4,
            ScalarType::Int64 | ScalarType::Uint64 | ScalarType::Float64 => 8,
        }
    }

    /// What arithmetic the type belongs to.
    pub fn class(self) -> ScalarClass {
        match self {
            ScalarType::Bool => ScalarClass::Bool,
            ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64 => {
                ScalarClass::Signed
            }
            ScalarType::Uint8 | ScalarType::Uint16 | ScalarType::Uint32 | ScalarType::Uint64 => {
                ScalarClass::Unsigned
            }
            ScalarType::Float16 | ScalarType::Float32 | ScalarType::Float64 => ScalarClass::Float,
        }
    }

    /// Smallest and largest value of an integer type; 0 and 1 for `bool`; none for floats.
    pub fn integer_range(self) -> Option<(i128, i128)> {
        let bits = self.size() as u32 * 8;
        match self.class() {
            ScalarClass::Bool => Some((0, 1)),
            ScalarClass::Signed => Some((-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1)),
            ScalarClass::Unsigned => Some((0, (1_i128 << bits) - 1)),
            ScalarClass::Float => None,
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.row().1)
    }
}

/// A scalar or a vector of 2 to 4 components, tightly packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementType {
    /// Type of each component.
    pub scalar: ScalarType,
    /// 1 to 4.
    pub components: u8,
}

impl ElementType {
    /// A type of one component.
    pub fn scalar(scalar: ScalarType) -> Self {
        Self { scalar, components: 1 }
    }

    /// Bytes, without padding: a `vec3` has 12.
    pub fn size(self) -> usize {
        self.scalar.size() * self.components as usize
    }

    /// All names that parse, canonical names first.
    pub fn all_names() -> Vec<String> {
        let vector_names =
            |prefix: &'static str| (2..=4).map(move |components| format!("{prefix}{components}"));
        let canonical_names = ScalarType::ALL.iter().flat_map(|(_, name, _, prefix)| {
            std::iter::once((*name).to_owned()).chain(vector_names(prefix))
        });
        let other_names =
            ScalarType::ALL.iter().flat_map(|row| row.2.iter().map(|name| (*name).to_owned()));
        canonical_names.chain(other_names).collect()
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.components {
            1 => fmt::Display::fmt(&self.scalar, f),
            components => f.pad(&format!("{}{components}", self.scalar.row().3)),
        }
    }
}

/// A name that is no element type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no element type")]
pub struct ElementTypeError {
    /// The text as it was given.
    pub name: String,
}

impl FromStr for ElementType {
    type Err = ElementTypeError;
    fn from_str(name: &str) -> Result<Self, ElementTypeError> {
        for (scalar, canonical_name, other_names, prefix) in ScalarType::ALL {
            if name == *canonical_name || other_names.contains(&name) {
                return Ok(Self::scalar(*scalar));
            }
            if let Some(components @ ("2" | "3" | "4")) = name.strip_prefix(prefix) {
                return Ok(Self { scalar: *scalar, components: components.as_bytes()[0] - b'0' });
            }
        }
        Err(ElementTypeError { name: name.to_owned() })
    }
}

/// How the `type` of a buffer or an expectation reads: an element type, or `reflect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DataType {
    /// Tightly packed elements of one type.
    Element(ElementType),
    /// Laid out as the block of the kernel that the buffer is bound to.
    Reflect,
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataType::Element(element) => fmt::Display::fmt(element, f),
            DataType::Reflect => f.pad("reflect"),
        }
    }
}

impl FromStr for DataType {
    type Err = ElementTypeError;
    fn from_str(name: &str) -> Result<Self, ElementTypeError> {
        if name == "reflect" { Ok(DataType::Reflect) } else { name.parse().map(DataType::Element) }
    }
}

/// Stores a type by its name and lists the names in its schema.
macro_rules! named_type {
    ($name:ident, $names:expr) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = String::deserialize(deserializer)?;
                name.parse().map_err(|_| serde::de::Error::unknown_variant(&name, Self::expected()))
            }
        }
        impl $name {
            /// The names as a list that lives as long as the program, for error messages.
            fn expected() -> &'static [&'static str] {
                static NAMES: std::sync::OnceLock<Vec<&'static str>> = std::sync::OnceLock::new();
                NAMES.get_or_init(|| {
                    let names: Vec<String> = $names;
                    names.into_iter().map(|name| &*name.leak()).collect()
                })
            }
        }
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": Self::expected() })
            }
        }
    };
}
named_type!(ElementType, ElementType::all_names());
named_type!(DataType, ElementType::all_names().into_iter().chain(["reflect".to_owned()]).collect());

/// A value as a file writes it: a number, a Boolean, a string (`"NaN"`, `"0x7fc00000"`, a 64-bit integer), or these
/// in arrays and in objects by member name.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent.
    Integer(i128),
    /// A number with fraction or exponent.
    Float(f64),
    /// A string: a special float, raw bits or a 64-bit integer.
    Text(String),
    /// An array: components, elements, array members.
    List(Vec<Datum>),
    /// An object by member name, for `reflect` and push constants.
    Record(BTreeMap<String, Datum>),
}

impl Datum {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Datum::Bool(_) => "a Boolean",
            Datum::Integer(_) => "an integer",
            Datum::Float(_) => "a floating-point number",
            Datum::Text(_) => "a string",
            Datum::List(_) => "an array",
            Datum::Record(_) => "an object",
        }
    }
}

impl fmt::Display for Datum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Datum::Bool(value) => write!(f, "{value}"),
            Datum::Integer(value) => write!(f, "{value}"),
            Datum::Float(value) => write!(f, "{value:?}"),
            Datum::Text(value) => write!(f, "{value:?}"),
            Datum::List(values) => {
                f.write_str("[")?;
                for (member_index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if member_index > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Datum::Record(members) => {
                f.write_str("{")?;
                for (member_index, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{name} = {value}", if member_index > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Datum::Bool(value) => serializer.serialize_bool(*value),
            Datum::Integer(value) => match (i64::try_from(*value), u64::try_from(*value)) {
                (Ok(value), _) => serializer.serialize_i64(value),
                (_, Ok(value)) => serializer.serialize_u64(value),
                _ => serializer.collect_str(value),
            },
            Datum::Float(value) if value.is_nan() => serializer.serialize_str("NaN"),
            Datum::Float(value) if value.is_infinite() && *value > 0.0 => {
                serializer.serialize_str("Infinity")
            }
            Datum::Float(value) if value.is_infinite() => serializer.serialize_str("-Infinity"),
            Datum::Float(value) => serializer.serialize_f64(*value),
            Datum::Text(value) => serializer.serialize_str(value),
            Datum::List(values) => {
                let mut sequence = serializer.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| sequence.serialize_element(value))?;
                sequence.end()
            }
            Datum::Record(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

struct DatumVisitor;

impl<'de> Visitor<'de> for DatumVisitor {
    type Value = Datum;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a Boolean, a string, an array or an object")
    }
    fn visit_bool<E>(self, value: bool) -> Result<Datum, E> {
        Ok(Datum::Bool(value))
    }
    fn visit_i64<E>(self, value: i64) -> Result<Datum, E> {
        Ok(Datum::Integer(value.into()))
    }
    fn visit_u64<E>(self, value: u64) -> Result<Datum, E> {
        Ok(Datum::Integer(value.into()))
    }
    fn visit_i128<E>(self, value: i128) -> Result<Datum, E> {
        Ok(Datum::Integer(value))
    }
    fn visit_f64<E>(self, value: f64) -> Result<Datum, E> {
        Ok(Datum::Float(value))
    }
    fn visit_str<E>(self, value: &str) -> Result<Datum, E> {
        Ok(Datum::Text(value.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Datum, A::Error> {
        let mut element_values = Vec::with_capacity(sequence.size_hint().unwrap_or(0).min(1 << 20));
        while let Some(value) = sequence.next_element()? {
            element_values.push(value);
        }
        Ok(Datum::List(element_values))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Datum, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry()? {
            members.insert(name, value);
        }
        Ok(Datum::Record(members))
    }
}

impl<'de> Deserialize<'de> for Datum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DatumVisitor)
    }
}

impl JsonSchema for Datum {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Datum".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["number", "boolean", "string", "array", "object"],
            "description": "a number, a Boolean, \"NaN\", \"Infinity\", \"-Infinity\", raw bits \"0x...\", a 64-bit integer as a string, or these in arrays or objects"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_name_parses_to_a_type_whose_name_parses_back() {
        for name in ElementType::all_names() {
            let element: ElementType = name.parse().unwrap();
            assert_eq!(element.to_string().parse::<ElementType>().unwrap(), element, "{name}");
        }
        assert_eq!("vec3".parse::<ElementType>().unwrap().size(), 12);
        assert_eq!("i64vec2".parse::<ElementType>().unwrap().size(), 16);
        assert!("vec5".parse::<ElementType>().is_err());
        assert!("vec".parse::<ElementType>().is_err());
    }

    #[test]
    fn integer_ranges_are_those_of_the_rust_types() {
        assert_eq!(ScalarType::Int8.integer_range(), Some((i8::MIN.into(), i8::MAX.into())));
        assert_eq!(ScalarType::Int64.integer_range(), Some((i64::MIN.into(), i64::MAX.into())));
        assert_eq!(ScalarType::Uint64.integer_range(), Some((0, u64::MAX.into())));
        assert_eq!(ScalarType::Uint32.integer_range(), Some((0, u32::MAX.into())));
    }

    #[test]
    fn a_datum_survives_json() {
        for text in
            ["[1,2.5,\"NaN\",true]", "{\"a\":[[1],[18446744073709551615]]}", "-9223372036854775808"]
        {
            let datum: Datum = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&datum).unwrap(), text);
        }
    }
}
