//! Values to places in a block, as the module lays it out.
//!
//! Knows: offsets, strides and matrix layouts of a module's types. Used for push constants and
//! `reflect` buffers.
//! Promises: the scalars that a value defines, each with its byte offset; members that the value
//! leaves out are not among them. Members that do not exist, and arrays that are too long, are
//! reported. Device addresses are collected by the name of what they point to.
//! Does not cover: which buffer has that name (`address`).

use super::address::Pointer;
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
pub struct Layout {
    pub types: Types,
    pub constants: Constants,
}

/// What a walk over a value collects.
pub(super) struct Walk<'a> {
    pub layout: &'a Layout,
    pub leaves: Vec<Leaf>,
    pub pointers: Vec<Pointer>,
    pub problems: &'a mut Problems,
}

impl<'a> Walk<'a> {
    pub(super) fn new(layout: &'a Layout, problems: &'a mut Problems) -> Self {
        Self { layout, leaves: Vec::new(), pointers: Vec::new(), problems }
    }

    /// Collects the scalars of `value`, read as type `ty` at byte `offset`.
    pub(super) fn value(
        &mut self,
        ty: Id,
        matrix: Option<MatrixLayout>,
        offset: u64,
        value: &Datum,
        origin: &Origin,
    ) {
        let layout = self.layout;
        if self.holds_address(ty)
            && let Some(pointer) = Pointer::of_value(offset, value, origin, self.problems)
        {
            return self.pointers.push(pointer);
        }
        match layout.types.get(ty) {
            Some(Type::Int { .. } | Type::Float { .. }) => self.scalar(ty, offset, value, origin),
            Some(Type::Vector { component, count }) => {
                let Some(values) = self.list(value, u64::from(*count), Length::Exact, ty, origin)
                else {
                    return;
                };
                let size = self.scalar_size(*component);
                for (index, value) in values.iter().enumerate() {
                    self.scalar(*component, offset + index as u64 * size, value, &origin.at(index));
                }
            }
            Some(Type::Matrix { column, count }) => {
                self.matrix(ty, *column, *count, matrix, offset, value, origin)
            }
            Some(Type::Array { element, length, stride }) => {
                let length = layout.constants.array_length(*length).unwrap_or(0);
                self.array(
                    ty,
                    *element,
                    matrix,
                    stride.unwrap_or(0),
                    length,
                    offset,
                    value,
                    origin,
                );
            }
            Some(Type::RuntimeArray { element, stride }) => {
                self.array(
                    ty,
                    *element,
                    matrix,
                    stride.unwrap_or(0),
                    u64::MAX,
                    offset,
                    value,
                    origin,
                );
            }
            Some(Type::Structure { members, .. }) => {
                self.structure(ty, members, offset, value, origin)
            }
            // A null pointer or any other number of 64 bits.
            Some(
                Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. },
            ) => match encode_datum(ScalarType::Uint64, value) {
                Ok(bits) => self.leaves.push(Leaf { offset, scalar: ScalarType::Uint64, bits }),
                Err(message) => {
                    let problem = origin.error("bad-value", message);
                    self.problems.push(
                        problem.hint("an address is { address_of = \"NAME\", offset = BYTES }"),
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
            | None => {
                self.problems.unsupported(format!("a value of type {}", layout.types.glsl_name(ty)))
            }
        }
    }

    /// Whether 8 bytes of this type can be an address: a pointer, a 64-bit unsigned integer, or two
    /// of 32 bits.
    fn holds_address(&self, ty: Id) -> bool {
        match self.layout.types.get(ty) {
            Some(
                Type::Pointer { .. } | Type::UntypedPointer { .. } | Type::ForwardPointer { .. },
            ) => true,
            Some(Type::Int { .. }) => {
                scalar_type(&self.layout.types, ty) == Some(ScalarType::Uint64)
            }
            Some(Type::Vector { component, count: 2 }) => {
                scalar_type(&self.layout.types, *component) == Some(ScalarType::Uint32)
            }
            Some(_) | None => false,
        }
    }

    fn scalar_size(&self, ty: Id) -> u64 {
        self.layout.types.scalar_width(ty).map_or(0, |width| u64::from(width) / 8)
    }

    fn scalar(&mut self, ty: Id, offset: u64, value: &Datum, origin: &Origin) {
        let Some(scalar) = scalar_type(&self.layout.types, ty) else {
            return self
                .problems
                .unsupported(format!("a value of type {}", self.layout.types.glsl_name(ty)));
        };
        // A Boolean of a block is a uint in SPIR-V, so that `true` may stand for one.
        let as_written = match (scalar, value) {
            (ScalarType::Uint32, Datum::Bool(value)) => &Datum::Integer((*value).into()),
            _ => value,
        };
        match encode_datum(scalar, as_written) {
            Ok(bits) => self.leaves.push(Leaf { offset, scalar, bits }),
            Err(message) => self.problems.push(origin.error("bad-value", message)),
        }
    }

    /// A matrix as an array of columns (as GLSL's constructors and indices have it).
    #[expect(clippy::too_many_arguments, reason = "the parts of a matrix type and a place")]
    fn matrix(
        &mut self,
        ty: Id,
        column: Id,
        count: u32,
        matrix: Option<MatrixLayout>,
        offset: u64,
        value: &Datum,
        origin: &Origin,
    ) {
        let (Some(layout), Some(Type::Vector { component, count: rows })) =
            (matrix, self.layout.types.get(column))
        else {
            return self.problems.unsupported("a matrix without a stride");
        };
        let (component, rows) = (*component, *rows);
        let Some(columns) = self.list(value, u64::from(count), Length::Exact, ty, origin) else {
            return;
        };
        let size = self.scalar_size(component);
        for (c, value) in columns.iter().enumerate() {
            let place = origin.at(c);
            let Some(values) = self.list(value, u64::from(rows), Length::Exact, column, &place)
            else {
                continue;
            };
            for (r, value) in values.iter().enumerate() {
                let (major, minor) = match layout.majorness {
                    Majorness::Column => (c as u64, r as u64),
                    Majorness::Row => (r as u64, c as u64),
                };
                let at = offset + major * u64::from(layout.stride) + minor * size;
                self.scalar(component, at, value, &place.at(r));
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an array type and a place")]
    fn array(
        &mut self,
        ty: Id,
        element: Id,
        matrix: Option<MatrixLayout>,
        stride: u32,
        length: u64,
        offset: u64,
        value: &Datum,
        origin: &Origin,
    ) {
        let Some(values) = self.list(value, length, Length::AtMost, ty, origin) else { return };
        for (index, value) in values.iter().enumerate() {
            let at = offset + index as u64 * u64::from(stride);
            self.value(element, matrix, at, value, &origin.at(index));
        }
    }

    fn structure(
        &mut self,
        ty: Id,
        members: &[StructureMember],
        offset: u64,
        value: &Datum,
        origin: &Origin,
    ) {
        match value {
            Datum::Record(values) => {
                for (name, value) in values {
                    let place = origin.at(name);
                    match members
                        .iter()
                        .enumerate()
                        .find(|(index, member)| is_called(member, *index, name))
                    {
                        Some((_, member)) => self.member(member, offset, value, &place),
                        None => self.unknown_member(ty, members, name, &place),
                    }
                }
            }
            Datum::List(values) => {
                if values.len() > members.len() {
                    let what = self.layout.types.glsl_name(ty);
                    let message = format!(
                        "{what} has {} members, and {} values are given",
                        members.len(),
                        values.len()
                    );
                    self.problems.push(origin.error("size", message));
                }
                for (index, (member, value)) in members.iter().zip(values).enumerate() {
                    self.member(member, offset, value, &origin.at(index));
                }
            }
            Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {
                let message = format!(
                    "expected the members of {}, found {}",
                    self.layout.types.glsl_name(ty),
                    value.kind()
                );
                self.problems.push(origin.error("wrong-type", message));
            }
        }
    }

    fn member(&mut self, member: &StructureMember, offset: u64, value: &Datum, origin: &Origin) {
        match member.offset {
            Some(at) => self.value(member.ty, member.matrix, offset + u64::from(at), value, origin),
            None => self.problems.unsupported("a block member without an offset"),
        }
    }

    fn unknown_member(&mut self, ty: Id, members: &[StructureMember], name: &str, origin: &Origin) {
        let known: Vec<String> = members
            .iter()
            .enumerate()
            .map(|(index, member)| member.name.clone().unwrap_or_else(|| index.to_string()))
            .collect();
        let message = format!("{} has no member `{name}`", self.layout.types.glsl_name(ty));
        let hint = did_you_mean(name, &known)
            .unwrap_or_else(|| format!("its members are {}", known.join(", ")));
        self.problems.push(origin.key_error("unknown-member", message).hint(hint));
    }

    fn list<'v>(
        &mut self,
        value: &'v Datum,
        length: u64,
        rule: Length,
        ty: Id,
        origin: &Origin,
    ) -> Option<&'v [Datum]> {
        let what = || self.layout.types.glsl_name(ty);
        let problem = match (value, rule) {
            (Datum::List(values), Length::Exact) if values.len() as u64 != length => origin.error(
                "size",
                format!("{} has {length} components, and {} are given", what(), values.len()),
            ),
            (Datum::List(values), Length::AtMost) if values.len() as u64 > length => origin.error(
                "size",
                format!("the array has {length} elements, and {} are given", values.len()),
            ),
            (Datum::List(values), Length::Exact | Length::AtMost) => return Some(values),
            (other, _) => origin.error(
                "wrong-type",
                format!("expected an array for {}, found {}", what(), other.kind()),
            ),
        };
        self.problems.push(problem);
        None
    }
}

#[derive(Clone, Copy)]
enum Length {
    Exact,
    AtMost,
}

/// A member is called by its name, or by its index where the module has no names.
fn is_called(member: &StructureMember, index: usize, name: &str) -> bool {
    match &member.name {
        Some(own) => own == name,
        None => name.parse() == Ok(index),
    }
}

/// The scalar type of a 8- to 64-bit integer or IEEE float type, or of a Boolean.
pub fn scalar_type(types: &Types, ty: Id) -> Option<ScalarType> {
    Some(match types.get(ty)? {
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
