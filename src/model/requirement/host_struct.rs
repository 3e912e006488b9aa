//! Structs of the host program as `[[interface]]` states them.
//!
//! Knows: members with their types, counts and places, structs that other members name.
//! Does not cover: where C places what has no stated offset (`host_layout` is what comes of it).

use super::HostType;
use crate::block_layout::MatrixOrder;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A struct as the host lays it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostStruct {
    /// Bytes; none: the end of the last member.
    #[serde(default)]
    pub size: Option<u32>,
    /// In declaration order.
    pub members: Vec<HostMember>,
}

/// A struct that members and buffers name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedStruct {
    /// What members and buffers call it.
    pub name: String,
    /// Bytes; none: the end of the last member, rounded up to the alignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Alignment in bytes (`alignas`); none: that of the most aligned member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<u32>,
    /// In declaration order.
    pub members: Vec<HostMember>,
}

/// A member of a struct of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostMember {
    /// Name of the member on the host.
    pub name: String,
    /// A scalar type, which gives size and alignment, or the name of a struct of the interface.
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    pub member_type: MemberType,
    /// Number of elements of an array, or one number for each of its dimensions, the outermost
    /// first; none: the member is no array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<ElementCount>,
    /// Bytes; none: placed after the previous member by C's alignment rules.
    #[serde(default)]
    pub offset: Option<u32>,
    /// Bytes from one element of the innermost dimension to the next; none: the element's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stride: Option<u32>,
    /// Of a matrix: what of it the host stores one behind the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<MatrixOrder>,
    /// What the host stores there; none: the parameter or local of the same name.
    #[serde(default)]
    pub value: Option<String>,
    /// Whether it is there for its bytes alone, so that no kernel reads it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub padding: bool,
}

impl HostMember {
    /// A scalar that stands where C puts it and holds the variable of its own name.
    pub fn scalar(name: &str, scalar_type: HostType) -> Self {
        Self {
            name: name.to_owned(),
            member_type: MemberType::Scalar(scalar_type),
            count: None,
            offset: None,
            stride: None,
            order: None,
            value: None,
            padding: false,
        }
    }

    /// `float32[4][4]`
    pub fn type_words(&self) -> String {
        let dimensions = self.count.iter().flat_map(|count| &count.0);
        let dimensions: String = dimensions.map(|count| format!("[{count}]")).collect();
        String::from(self.member_type.clone()) + &dimensions
    }

    /// The integer or floating-point type of a member that is one scalar.
    pub fn scalar_type(&self) -> Option<HostType> {
        match (&self.member_type, &self.count) {
            (MemberType::Scalar(scalar_type), None) => Some(*scalar_type),
            (MemberType::Scalar(_), Some(_)) | (MemberType::Structure(_), _) => None,
        }
    }
}

/// What a member or an element is: a scalar, or a struct by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum MemberType {
    /// A type of [`HostType::ALL`].
    Scalar(HostType),
    /// The name of a struct; whether there is one is checked when the interface is.
    Structure(String),
}

impl From<String> for MemberType {
    fn from(type_name: String) -> Self {
        match HostType::of_name(&type_name) {
            Some(scalar_type) => MemberType::Scalar(scalar_type),
            None => MemberType::Structure(type_name),
        }
    }
}

impl From<MemberType> for String {
    fn from(member_type: MemberType) -> Self {
        match member_type {
            MemberType::Scalar(scalar_type) => scalar_type.name().to_owned(),
            MemberType::Structure(name) => name,
        }
    }
}

/// How many elements an array has in each of its dimensions, the outermost first; in files one
/// number or a list.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "CountForm")]
pub struct ElementCount(pub Vec<u32>);

/// The two ways to write a count.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number of elements, or a list of them")]
enum CountForm {
    /// One dimension.
    Single(u32),
    /// One number for each dimension.
    Dimensions(Vec<u32>),
}

impl Serialize for ElementCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [count] => CountForm::Single(*count).serialize(serializer),
            dimensions => CountForm::Dimensions(dimensions.to_vec()).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElementCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match CountForm::deserialize(deserializer)? {
            CountForm::Single(count) => ElementCount(vec![count]),
            CountForm::Dimensions(dimensions) => ElementCount(dimensions),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_member_is_written_as_it_is_stated() {
        let plain = json!({ "name": "m", "type": "uint32", "offset": null, "value": null });
        let member: HostMember = serde_json::from_value(plain.clone()).unwrap();
        assert_eq!(member, HostMember::scalar("m", HostType::Uint32));
        assert_eq!(serde_json::to_value(&member).unwrap(), plain);
        for count in [json!(3), json!([3, 4])] {
            let stated = json!({
                "name": "l", "type": "Light", "count": count, "offset": 16, "stride": 32,
                "order": "rows", "value": null, "padding": true,
            });
            let member: HostMember = serde_json::from_value(stated.clone()).unwrap();
            assert_eq!(member.member_type, MemberType::Structure("Light".to_owned()));
            assert_eq!(serde_json::to_value(&member).unwrap(), stated);
        }
    }
}
