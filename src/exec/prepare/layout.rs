//! Values to places in a block, as the module lays it out.
//!
//! Knows: offsets, strides and matrix layouts of a module's types. Used for push constants and
//! `reflect` buffers.
//! Promises: the scalars that a value defines, each with its byte offset; members that the value
//! leaves out are not among them. Members that do not exist, and arrays that are too long, are
//! reported. Device addresses are collected by the name of what they point to.
//! Does not cover: which buffer has that name (`address`).

use super::address::NamedAddress;
use super::problems::Problems;
use vkcert_model::element::{Datum, ScalarType};
use vkcert_oracle::scalar::{Leaf, encode_datum};
use vkcert_requirement::Origin;
use vkcert_requirement::nearest::did_you_mean;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::{Majorness, MatrixLayout, Signedness, StructureMember, Type, Types};

/// Types and array lengths of a module under one specialization.
#[derive(Debug)]
pub struct ModuleLayout {
    pub types: Types,
    pub constants: Constants,
}

/// What a walk over a value collects.
pub(super) struct ValueWalk<'a> {
    pub layout: &'a ModuleLayout,
    pub scalar_leaves: Vec<Leaf>,
    pub named_addresses: Vec<NamedAddress>,
    pub problems: &'a mut Problems,
}

impl<'a> ValueWalk<'a> {
    pub(super) fn new(layout: &'a ModuleLayout, problems: &'a mut Problems) -> Self {
        Self { layout, scalar_leaves: Vec::new(), named_addresses: Vec::new(), problems }
    }

    /// Collects the scalars of `value`, read as type `ty` at byte `offset`.
    pub(super) fn collect_value(
        &mut self,
        type_id: Id,
        matrix_layout: Option<MatrixLayout>,
        byte_offset: u64,
        given_value: &Datum,
        origin: &Origin,
    ) {
        let layout = self.layout;
        if self.holds_address(type_id)
            && let Some(pointer) =
                NamedAddress::of_value(byte_offset, given_value, origin, self.problems)
        {
            return self.named_addresses.push(pointer);
        }
        match layout.types.get(type_id) {
            Some(Type::Int { .. } | Type::Float { .. }) => {
                self.collect_scalar(type_id, byte_offset, given_value, origin)
            }
            Some(Type::Vector { component, count }) => {
                let Some(component_values) = self.checked_list(
                    given_value,
                    u64::from(*count),
                    LengthRule::Exactly,
                    type_id,
                    origin,
                ) else {
                    return;
                };
                let component_size = self.scalar_size(*component);
                for (index, given_value) in component_values.iter().enumerate() {
                    self.collect_scalar(
                        *component,
                        byte_offset + index as u64 * component_size,
                        given_value,
                        &origin.at(index),
                    );
                }
            }
            Some(Type::Matrix { column, count }) => self.collect_matrix(
                type_id,
                *column,
                *count,
                matrix_layout,
                byte_offset,
                given_value,
                origin,
            ),
            Some(Type::Array { element, length: array_length, stride }) => {
                let array_length = layout.constants.array_length(*array_length).unwrap_or(0);
                self.collect_array(
                    type_id,
                    *element,
                    matrix_layout,
                    stride.unwrap_or(0),
                    array_length,
                    byte_offset,
                    given_value,
                    origin,
                );
            }
            Some(Type::RuntimeArray { element, stride }) => {
                self.collect_array(
                    type_id,
                    *element,
                    matrix_layout,
                    stride.unwrap_or(0),
                    u64::MAX,
                    byte_offset,
                    given_value,
                    origin,
                );
            }
            Some(Type::Structure { members, .. }) => {
                self.collect_structure(type_id, members, byte_offset, given_value, origin)
            }
            // A null pointer or any other number of 64 bits.
            Some(
                Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. },
            ) => match encode_datum(ScalarType::Uint64, given_value) {
                Ok(bits) => self.scalar_leaves.push(Leaf {
                    offset: byte_offset,
                    scalar: ScalarType::Uint64,
                    bits,
                }),
                Err(message) => {
                    let value_problem = origin.error("bad-value", message);
                    self.problems.push(
                        value_problem
                            .hint("an address is { address_of = \"NAME\", offset = BYTES }"),
                    );
                }
            },
            Some(
                Type::Void
                | Type::Bool
                | Type::BFloat16
                | Type::Function { .. }
                | Type::Image(_)
                | Type::Sampler
                | Type::SampledImage { .. }
                | Type::CooperativeMatrix { .. }
                | Type::Other(_),
            )
            | None => self
                .problems
                .unsupported(format!("a value of type {}", layout.types.glsl_name(type_id))),
        }
    }

    /// Whether 8 bytes of this type can be an address: a pointer, a 64-bit unsigned integer, or two
    /// of 32 bits.
    fn holds_address(&self, type_id: Id) -> bool {
        match self.layout.types.get(type_id) {
            Some(
                Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. },
            ) => true,
            Some(Type::Int { .. }) => {
                scalar_type(&self.layout.types, type_id) == Some(ScalarType::Uint64)
            }
            Some(Type::Vector { component, count: 2 }) => {
                scalar_type(&self.layout.types, *component) == Some(ScalarType::Uint32)
            }
            Some(_) | None => false,
        }
    }

    fn scalar_size(&self, type_id: Id) -> u64 {
        self.layout.types.scalar_width(type_id).map_or(0, |width| u64::from(width) / 8)
    }

    fn collect_scalar(
        &mut self,
        type_id: Id,
        byte_offset: u64,
        given_value: &Datum,
        origin: &Origin,
    ) {
        let Some(component_type) = scalar_type(&self.layout.types, type_id) else {
            return self
                .problems
                .unsupported(format!("a value of type {}", self.layout.types.glsl_name(type_id)));
        };
        // A Boolean of a block is a uint in SPIR-V, so that `true` may stand for one.
        let as_written = match (component_type, given_value) {
            (ScalarType::Uint32, Datum::Bool(given_value)) => {
                &Datum::Integer((*given_value).into())
            }
            _ => given_value,
        };
        match encode_datum(component_type, as_written) {
            Ok(bits) => {
                self.scalar_leaves.push(Leaf { offset: byte_offset, scalar: component_type, bits })
            }
            Err(message) => self.problems.push(origin.error("bad-value", message)),
        }
    }

    /// A matrix as an array of columns (as GLSL's constructors and indices have it).
    #[expect(clippy::too_many_arguments, reason = "the parts of a matrix type and a place")]
    fn collect_matrix(
        &mut self,
        type_id: Id,
        column_type: Id,
        column_count: u32,
        matrix_layout: Option<MatrixLayout>,
        byte_offset: u64,
        component_value: &Datum,
        origin: &Origin,
    ) {
        let (Some(layout), Some(Type::Vector { component, count: row_count })) =
            (matrix_layout, self.layout.types.get(column_type))
        else {
            return self.problems.unsupported("a matrix without a stride");
        };
        let (component, row_count) = (*component, *row_count);
        let Some(column_values) = self.checked_list(
            component_value,
            u64::from(column_count),
            LengthRule::Exactly,
            type_id,
            origin,
        ) else {
            return;
        };
        let component_size = self.scalar_size(component);
        for (column_index, component_value) in column_values.iter().enumerate() {
            let column_origin = origin.at(column_index);
            let Some(values) = self.checked_list(
                component_value,
                u64::from(row_count),
                LengthRule::Exactly,
                column_type,
                &column_origin,
            ) else {
                continue;
            };
            for (row_index, component_value) in values.iter().enumerate() {
                let (vector_index, component_index) = match layout.majorness {
                    Majorness::Column => (column_index as u64, row_index as u64),
                    Majorness::Row => (row_index as u64, column_index as u64),
                };
                let component_offset = byte_offset
                    + vector_index * u64::from(layout.stride)
                    + component_index * component_size;
                self.collect_scalar(
                    component,
                    component_offset,
                    component_value,
                    &column_origin.at(row_index),
                );
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an array type and a place")]
    fn collect_array(
        &mut self,
        type_id: Id,
        element_type: Id,
        matrix_layout: Option<MatrixLayout>,
        array_stride: u32,
        array_length: u64,
        byte_offset: u64,
        given_value: &Datum,
        origin: &Origin,
    ) {
        let Some(values) =
            self.checked_list(given_value, array_length, LengthRule::AtMost, type_id, origin)
        else {
            return;
        };
        for (element_index, given_value) in values.iter().enumerate() {
            let element_offset = byte_offset + element_index as u64 * u64::from(array_stride);
            self.collect_value(
                element_type,
                matrix_layout,
                element_offset,
                given_value,
                &origin.at(element_index),
            );
        }
    }

    fn collect_structure(
        &mut self,
        type_id: Id,
        members: &[StructureMember],
        byte_offset: u64,
        given_value: &Datum,
        origin: &Origin,
    ) {
        match given_value {
            Datum::Record(values) => {
                for (member_name, given_value) in values {
                    let member_origin = origin.at(member_name);
                    match members
                        .iter()
                        .enumerate()
                        .find(|(index, member)| is_named(member, *index, member_name))
                    {
                        Some((_, member)) => {
                            self.collect_member(member, byte_offset, given_value, &member_origin)
                        }
                        None => self.report_unknown_member(
                            type_id,
                            members,
                            member_name,
                            &member_origin,
                        ),
                    }
                }
            }
            Datum::List(values) => {
                if values.len() > members.len() {
                    let structure_name = self.layout.types.glsl_name(type_id);
                    let message = format!(
                        "{structure_name} has {} members, and {} values are given",
                        members.len(),
                        values.len()
                    );
                    self.problems.push(origin.error("size", message));
                }
                for (index, (member, given_value)) in members.iter().zip(values).enumerate() {
                    self.collect_member(member, byte_offset, given_value, &origin.at(index));
                }
            }
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {
                let message = format!(
                    "expected the members of {}, found {}",
                    self.layout.types.glsl_name(type_id),
                    given_value.kind()
                );
                self.problems.push(origin.error("wrong-type", message));
            }
        }
    }

    fn collect_member(
        &mut self,
        member: &StructureMember,
        byte_offset: u64,
        given_value: &Datum,
        origin: &Origin,
    ) {
        match member.offset {
            Some(member_offset) => self.collect_value(
                member.ty,
                member.matrix,
                byte_offset + u64::from(member_offset),
                given_value,
                origin,
            ),
            None => self.problems.unsupported("a block member without an offset"),
        }
    }

    fn report_unknown_member(
        &mut self,
        type_id: Id,
        members: &[StructureMember],
        member_name: &str,
        origin: &Origin,
    ) {
        let known_members: Vec<String> = members
            .iter()
            .enumerate()
            .map(|(index, member)| member.name.clone().unwrap_or_else(|| index.to_string()))
            .collect();
        let message =
            format!("{} has no member `{member_name}`", self.layout.types.glsl_name(type_id));
        let hint = did_you_mean(member_name, &known_members)
            .unwrap_or_else(|| format!("its members are {}", known_members.join(", ")));
        self.problems.push(origin.key_error("unknown-member", message).hint(hint));
    }

    fn checked_list<'v>(
        &mut self,
        value: &'v Datum,
        list_length: u64,
        length_rule: LengthRule,
        type_id: Id,
        origin: &Origin,
    ) -> Option<&'v [Datum]> {
        let type_name = || self.layout.types.glsl_name(type_id);
        let list_problem = match (value, length_rule) {
            (Datum::List(values), LengthRule::Exactly) if values.len() as u64 != list_length => {
                origin.error(
                    "size",
                    format!(
                        "{} has {list_length} components, and {} are given",
                        type_name(),
                        values.len()
                    ),
                )
            }
            (Datum::List(values), LengthRule::AtMost) if values.len() as u64 > list_length => {
                origin.error(
                    "size",
                    format!("the array has {list_length} elements, and {} are given", values.len()),
                )
            }
            (Datum::List(values), LengthRule::Exactly | LengthRule::AtMost) => return Some(values),
            (other_value, _) => origin.error(
                "wrong-type",
                format!("expected an array for {}, found {}", type_name(), other_value.kind()),
            ),
        };
        self.problems.push(list_problem);
        None
    }
}

#[derive(Clone, Copy)]
enum LengthRule {
    Exactly,
    AtMost,
}

/// A member is called by its name, or by its index where the module has no names.
fn is_named(member: &StructureMember, member_index: usize, item_name: &str) -> bool {
    match &member.name {
        Some(member_name) => member_name == item_name,
        None => item_name.parse() == Ok(member_index),
    }
}

/// The scalar type of a 8- to 64-bit integer or IEEE float type, or of a Boolean.
pub fn scalar_type(types: &Types, type_id: Id) -> Option<ScalarType> {
    Some(match types.get(type_id)? {
        Type::Bool => ScalarType::Bool,
        Type::Int { width, signedness } => match (width, signedness) {
            (8, Signedness::Signed) => ScalarType::Int8,
            (16, Signedness::Signed) => ScalarType::Int16,
            (32, Signedness::Signed) => ScalarType::Int32,
            (64, Signedness::Signed) => ScalarType::Int64,
            (8, Signedness::Unsigned) => ScalarType::Uint8,
            (16, Signedness::Unsigned) => ScalarType::Uint16,
            (32, Signedness::Unsigned) => ScalarType::Uint32,
            (64, Signedness::Unsigned) => ScalarType::Uint64,
            _ => return None,
        },
        Type::Float { width: 16 } => ScalarType::Float16,
        Type::Float { width: 32 } => ScalarType::Float32,
        Type::Float { width: 64 } => ScalarType::Float64,
        _ => return None,
    })
}
