//! A block of the kernel with the places of its members.
//!
//! Knows: the decorations that lay a block out (offsets, array strides, matrix strides, majorness)
//! under one specialization.
//! Promises: what has no layout that a host can be compared with is kept by name.
//! Does not cover: whether the layout is legal; the validator checks that.

use vkcert_model::block_layout::MatrixOrder;
use vkcert_model::requirement::HostType;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::types::{Majorness, MatrixLayout, Signedness, StructureMember, Type, Types};

/// A member of a block or of a struct in it.
pub(super) struct KernelMember {
    /// `#2` where the module gives no name.
    pub name: String,
    /// Bytes from the start of the struct that holds it; none where it is not decorated.
    pub offset: Option<u64>,
    pub contents: KernelContents,
}

/// What a member is made of.
pub(super) enum KernelContents {
    Numbers(Numbers),
    Array {
        /// None: as many as the buffer has room for.
        length: Option<u64>,
        stride: u64,
        element: Box<KernelContents>,
    },
    Structure(Vec<KernelMember>),
    /// By its name in GLSL.
    Unsupported(String),
}

/// A scalar, a vector or a matrix.
pub(super) struct Numbers {
    pub scalar: HostType,
    pub shape: NumberShape,
}

#[derive(Clone, Copy)]
pub(super) enum NumberShape {
    Scalar,
    Vector {
        components: u32,
    },
    /// `vectors` of `components` each, a column or a row each by `order`.
    Matrix {
        vectors: u32,
        components: u32,
        stride: u32,
        order: MatrixOrder,
    },
}

impl Numbers {
    /// The places of all numbers, in bytes from the first, with what they are called.
    pub(super) fn places(&self) -> Vec<(u64, String)> {
        let size = u64::from(self.scalar.size_in_bytes());
        match self.shape {
            NumberShape::Scalar => vec![(0, String::new())],
            NumberShape::Vector { components } => (0..components)
                .map(|component| (u64::from(component) * size, component_name(component)))
                .collect(),
            NumberShape::Matrix { vectors, components, stride, order } => {
                let mut places = Vec::new();
                for vector in 0..vectors {
                    for component in 0..components {
                        let (column, row) = match order {
                            MatrixOrder::Columns => (vector, component),
                            MatrixOrder::Rows => (component, vector),
                        };
                        let offset =
                            u64::from(vector) * u64::from(stride) + u64::from(component) * size;
                        places.push((offset, format!("[{column}]{}", component_name(row))));
                    }
                }
                places
            }
        }
    }
}

fn component_name(component: u32) -> String {
    match ["x", "y", "z", "w"].get(component as usize) {
        Some(name) => format!(".{name}"),
        None => format!("[{component}]"),
    }
}

impl KernelContents {
    /// Bytes up to the end of the last number; none of what has no end here.
    pub(super) fn extent(&self) -> Option<u64> {
        match self {
            KernelContents::Numbers(numbers) => {
                let last_place = numbers.places().iter().map(|(offset, _)| *offset).max()?;
                Some(last_place + u64::from(numbers.scalar.size_in_bytes()))
            }
            KernelContents::Array { length, stride, element } => match (*length)?.checked_sub(1) {
                Some(last) => last.checked_mul(*stride)?.checked_add(element.extent()?),
                None => Some(0),
            },
            KernelContents::Structure(members) => {
                let mut ends = members
                    .iter()
                    .map(|member| member.offset?.checked_add(member.contents.extent()?));
                ends.try_fold(0, |end, member_end| Some(end.max(member_end?)))
            }
            KernelContents::Unsupported(_) => None,
        }
    }

    /// Whether it is more than one number.
    pub(super) fn is_composite(&self) -> bool {
        match self {
            KernelContents::Numbers(Numbers { shape: NumberShape::Scalar, .. })
            | KernelContents::Unsupported(_) => false,
            KernelContents::Numbers(_)
            | KernelContents::Array { .. }
            | KernelContents::Structure(_) => true,
        }
    }

    /// The innermost numbers of arrays; none of structs.
    pub(super) fn innermost_numbers(&self) -> Option<&Numbers> {
        match self {
            KernelContents::Numbers(numbers) => Some(numbers),
            KernelContents::Array { element, .. } => element.innermost_numbers(),
            KernelContents::Structure(_) | KernelContents::Unsupported(_) => None,
        }
    }
}

/// Reads blocks of one module under one specialization.
#[derive(Clone, Copy)]
pub(super) struct BlockReader<'a> {
    pub types: &'a Types,
    pub constants: &'a Constants,
}

impl BlockReader<'_> {
    /// The members of a block, in its order.
    pub(super) fn members(self, members: &[StructureMember]) -> Vec<KernelMember> {
        let numbered_members = members.iter().enumerate();
        numbered_members
            .map(|(number, member)| KernelMember {
                name: member.name.clone().unwrap_or_else(|| format!("#{number}")),
                offset: member.offset.map(u64::from),
                contents: self.contents(member.ty, member.matrix),
            })
            .collect()
    }

    /// `matrix` is the layout of the member that holds the type.
    fn contents(self, type_id: u32, matrix: Option<MatrixLayout>) -> KernelContents {
        let known_contents = match self.types.get(type_id) {
            Some(Type::Int { .. } | Type::Float { .. }) => {
                self.numbers(type_id, NumberShape::Scalar)
            }
            Some(Type::Vector { component, count }) => {
                self.numbers(*component, NumberShape::Vector { components: *count })
            }
            Some(Type::Matrix { column, count }) => self.matrix(*column, *count, matrix),
            Some(Type::Array { element, length, stride }) => {
                let length = self.constants.array_length(*length);
                length.and_then(|length| self.array(*element, Some(length), *stride, matrix))
            }
            Some(Type::RuntimeArray { element, stride }) => {
                self.array(*element, None, *stride, matrix)
            }
            Some(Type::Structure { members, .. }) => {
                Some(KernelContents::Structure(self.members(members)))
            }
            Some(
                Type::Void
                | Type::Bool
                | Type::BFloat16
                | Type::Pointer { .. }
                | Type::UntypedPointer { .. }
                | Type::ForwardPointer { .. }
                | Type::Function { .. }
                | Type::Image(_)
                | Type::Sampler
                | Type::SampledImage { .. }
                | Type::CooperativeMatrix { .. }
                | Type::Other(_),
            )
            | None => None,
        };
        known_contents.unwrap_or_else(|| KernelContents::Unsupported(self.types.glsl_name(type_id)))
    }

    fn numbers(self, scalar: u32, shape: NumberShape) -> Option<KernelContents> {
        let scalar = scalar_type(self.types, scalar)?;
        Some(KernelContents::Numbers(Numbers { scalar, shape }))
    }

    fn array(
        self,
        element: u32,
        length: Option<u64>,
        stride: Option<u32>,
        matrix: Option<MatrixLayout>,
    ) -> Option<KernelContents> {
        let element = Box::new(self.contents(element, matrix));
        Some(KernelContents::Array { length, stride: u64::from(stride?), element })
    }

    fn matrix(
        self,
        column: u32,
        columns: u32,
        layout: Option<MatrixLayout>,
    ) -> Option<KernelContents> {
        let Some(Type::Vector { component, count: rows }) = self.types.get(column) else {
            return None;
        };
        let MatrixLayout { stride, majorness } = layout?;
        let (vectors, components, order) = match majorness {
            Majorness::Column => (columns, *rows, MatrixOrder::Columns),
            Majorness::Row => (*rows, columns, MatrixOrder::Rows),
        };
        self.numbers(*component, NumberShape::Matrix { vectors, components, stride, order })
    }
}

/// The host type of a scalar.
fn scalar_type(types: &Types, ty: u32) -> Option<HostType> {
    let (width, integer_signedness) = match types.get(ty)? {
        Type::Int { width, signedness } => (*width, Some(*signedness)),
        Type::Float { width } => (*width, None),
        Type::BFloat16
        | Type::Void
        | Type::Bool
        | Type::Vector { .. }
        | Type::Matrix { .. }
        | Type::Array { .. }
        | Type::RuntimeArray { .. }
        | Type::Structure { .. }
        | Type::Pointer { .. }
        | Type::UntypedPointer { .. }
        | Type::ForwardPointer { .. }
        | Type::Function { .. }
        | Type::Image(..)
        | Type::Sampler
        | Type::SampledImage { .. }
        | Type::CooperativeMatrix { .. }
        | Type::Other(..) => return None,
    };
    match (width, integer_signedness) {
        (8, Some(Signedness::Signed)) => Some(HostType::Int8),
        (8, Some(Signedness::Unsigned)) => Some(HostType::Uint8),
        (16, Some(Signedness::Signed)) => Some(HostType::Int16),
        (16, Some(Signedness::Unsigned)) => Some(HostType::Uint16),
        (32, Some(Signedness::Signed)) => Some(HostType::Int32),
        (32, Some(Signedness::Unsigned)) => Some(HostType::Uint32),
        (64, Some(Signedness::Signed)) => Some(HostType::Int64),
        (64, Some(Signedness::Unsigned)) => Some(HostType::Uint64),
        (16, None) => Some(HostType::Float16),
        (32, None) => Some(HostType::Float32),
        (64, None) => Some(HostType::Float64),
        (_, _) => None,
    }
}
