//! The types of a module as values, and how many bytes they take.
//!
//! Knows: every OpType* of a module with the decorations that lay it out (ArrayStride, Offset,
//! MatrixStride, RowMajor).
//! Promises: ids that are no type give `None`; a type that this file has no variant for is
//! [`Type::Other`] by opcode. Sizes follow the decorations (explicit layout) or, for memory that
//! carries none, the rules of std430, which is how Vulkan counts workgroup memory (Vulkan
//! specification, "Workgroup Memory Size" of the shader interfaces chapter).
//! Does not cover: whether a layout is legal; the validator checks that.

use super::constants::Constants;
use super::module::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Dim, FPEncoding, ImageFormat, Op, StorageClass};
use std::collections::BTreeMap;

/// A type of a module. Ids refer to other types, lengths to constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Void,
    Bool,
    /// `width` in bits.
    Int {
        width: u32,
        signedness: Signedness,
    },
    /// `width` in bits.
    Float {
        width: u32,
    },
    /// 16 bits with the exponent of 32 (SPV_KHR_bfloat16).
    BFloat16,
    Vector {
        component: Id,
        count: u32,
    },
    /// `column` is the type of one column, `count` the number of columns.
    Matrix {
        column: Id,
        count: u32,
    },
    /// `length` is the id of a constant or specialization constant; `stride` in bytes where
    /// decorated.
    Array {
        element: Id,
        length: Id,
        stride: Option<u32>,
    },
    /// Spread over the invocations of a scope; all but the component are constants.
    CooperativeMatrix {
        component: Id,
        scope: Id,
        rows: Id,
        columns: Id,
        /// Elements that each invocation holds; 0 as long as nobody has told.
        share: u32,
    },
    RuntimeArray {
        element: Id,
        stride: Option<u32>,
    },
    Structure {
        members: Vec<Member>,
        /// OpName of the structure.
        name: Option<String>,
        block: BlockKind,
    },
    Pointer {
        storage: StorageClass,
        pointee: Id,
    },
    /// A pointer that does not say what it points to (SPV_KHR_untyped_pointers).
    UntypedPointer {
        storage: StorageClass,
    },
    /// A pointer type that is declared before the type it points to.
    ForwardPointer {
        storage: StorageClass,
    },
    Function {
        result: Id,
        parameters: Vec<Id>,
    },
    Image(Image),
    Sampler,
    SampledImage {
        image: Id,
    },
    /// Any other type, by opcode; nothing here lays it out.
    Other(Op),
}

/// How an integer type reads its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signedness {
    Signed,
    Unsigned,
}

/// Whether a structure is the type of a resource (SPIR-V specification, decorations Block and
/// BufferBlock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    None,
    Block,
    /// Storage buffers of SPIR-V 1.0 in storage class Uniform.
    BufferBlock,
}

/// An image type (OpTypeImage).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image {
    pub sampled_type: Id,
    pub dim: Dim,
    /// 0: not a depth image, 1: depth, 2: unknown.
    pub depth: u32,
    pub arrayed: bool,
    pub multisampled: bool,
    /// 0: known at run time, 1: with a sampler, 2: storage.
    pub sampled: u32,
    pub format: ImageFormat,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    pub ty: Id,
    /// Bytes from the start of the structure, where decorated.
    pub offset: Option<u32>,
    /// Layout of a matrix (or of an array of matrices) in this member.
    pub matrix: Option<MatrixLayout>,
    pub name: Option<String>,
    pub builtin: Option<BuiltIn>,
    pub access: MemberAccess,
}

/// NonWritable and NonReadable of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberAccess {
    pub non_writable: bool,
    pub non_readable: bool,
}

/// MatrixStride with RowMajor or ColMajor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Bytes from one column (row) to the next.
    pub stride: u32,
    pub majorness: Majorness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Majorness {
    Column,
    Row,
}

/// A type that has no size here, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("type %{ty} ({what}) has no size in memory")]
    NoSize { ty: Id, what: String },
    #[error("type %{ty} lacks the decoration {decoration}")]
    Undecorated { ty: Id, decoration: &'static str },
    #[error("the array length %{length} is not known")]
    UnknownLength { length: Id },
    #[error("type %{ty} is too large")]
    TooLarge { ty: Id },
}

/// All types of a module.
#[derive(Debug, Clone)]
pub struct Types {
    by_id: BTreeMap<Id, Type>,
}

impl Types {
    /// Collects the types of `module`.
    pub fn of(module: &Module) -> Self {
        let mut by_id = BTreeMap::new();
        for instruction in &module.instructions {
            if instruction.op == Op::Function {
                break;
            }
            if let Op::TypeForwardPointer = instruction.op {
                if let (Some(id), Some(Operand::StorageClass(storage))) =
                    (instruction.id(0), instruction.operands.get(1))
                {
                    by_id.insert(id, Type::ForwardPointer { storage: *storage });
                }
            } else if let (true, Some(id)) = (instruction.op.is_type(), instruction.result) {
                by_id.insert(id, read(module, instruction).unwrap_or(Type::Other(instruction.op)));
            }
        }
        Self { by_id }
    }

    pub fn get(&self, id: Id) -> Option<&Type> {
        self.by_id.get(&id)
    }

    /// All types, by id.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Type)> {
        self.by_id.iter().map(|(id, ty)| (*id, ty))
    }

    /// The id of the first type equal to `wanted` (layout included).
    pub fn find(&self, wanted: &Type) -> Option<Id> {
        self.by_id.iter().find(|(_, ty)| *ty == wanted).map(|(id, _)| *id)
    }

    /// What a pointer type points to.
    pub fn pointee(&self, pointer: Id) -> Option<Id> {
        match self.get(pointer)? {
            Type::Pointer { pointee, .. } => Some(*pointee),
            _ => None,
        }
    }

    /// The storage class of a variable and the type of what it holds; none for other instructions,
    /// and where an untyped variable does not say it.
    pub fn variable(&self, instruction: &Instruction) -> Option<(StorageClass, Id)> {
        match (instruction.op, instruction.operands.first()?) {
            (Op::Variable, Operand::StorageClass(storage)) => {
                Some((*storage, self.pointee(instruction.result_type?)?))
            }
            (Op::UntypedVariableKHR, Operand::StorageClass(storage)) => {
                Some((*storage, instruction.id(1)?))
            }
            _ => None,
        }
    }

    /// The storage class of a pointer type.
    pub fn storage(&self, pointer: Id) -> Option<StorageClass> {
        match self.get(pointer)? {
            Type::Pointer { storage, .. } | Type::UntypedPointer { storage } => Some(*storage),
            _ => None,
        }
    }

    /// Bits of a scalar; `None` for anything else. Booleans have no bits in memory and count as 1.
    pub fn scalar_width(&self, id: Id) -> Option<u32> {
        match self.get(id)? {
            Type::Bool => Some(1),
            Type::Int { width, .. } | Type::Float { width } => Some(*width),
            Type::BFloat16 => Some(16),
            _ => None,
        }
    }

    /// Type of the component at `index` of a composite: vector component, column, element or
    /// member.
    pub fn component(&self, id: Id, index: u32) -> Option<Id> {
        match self.get(id)? {
            Type::Vector { component, count } => (index < *count).then_some(*component),
            Type::Matrix { column, count } => (index < *count).then_some(*column),
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => Some(*element),
            Type::CooperativeMatrix { component, share, .. } => {
                (index < *share).then_some(*component)
            }
            Type::Structure { members, .. } => members.get(index as usize).map(|member| member.ty),
            _ => None,
        }
    }

    /// Tells how many elements of each cooperative matrix an invocation holds.
    pub fn share_matrices<E>(
        &mut self,
        share: impl Fn([Id; 3]) -> Result<u32, E>,
    ) -> Result<(), E> {
        for ty in self.by_id.values_mut() {
            if let Type::CooperativeMatrix { component: _, scope, rows, columns, share: own } = ty {
                *own = share([*scope, *rows, *columns])?;
            }
        }
        Ok(())
    }

    /// Number of components of a composite; `None` for scalars, runtime arrays and unknown lengths.
    pub fn component_count(&self, id: Id, constants: &Constants) -> Option<u64> {
        match self.get(id)? {
            Type::Vector { count, .. } | Type::Matrix { count, .. } => Some(u64::from(*count)),
            Type::Array { length, .. } => constants.array_length(*length),
            Type::Structure { members, .. } => Some(members.len() as u64),
            _ => None,
        }
    }

    /// The innermost scalar type of a scalar, vector, matrix or array.
    pub fn scalar_of(&self, id: Id) -> Option<Id> {
        match self.get(id)? {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::BFloat16 => Some(id),
            Type::Vector { component: inner, .. }
            | Type::Matrix { column: inner, .. }
            | Type::Array { element: inner, .. }
            | Type::RuntimeArray { element: inner, .. } => self.scalar_of(*inner),
            _ => None,
        }
    }

    /// How the type is called in GLSL, for messages: `uint`, `vec3`, `mat4x3`, `float[]`, a
    /// structure's own name.
    pub fn name(&self, id: Id) -> String {
        let Some(ty) = self.get(id) else { return format!("%{id}") };
        match ty {
            Type::Void => "void".to_owned(),
            Type::Bool => "bool".to_owned(),
            Type::Int { width: 32, signedness: Signedness::Signed } => "int".to_owned(),
            Type::Int { width: 32, signedness: Signedness::Unsigned } => "uint".to_owned(),
            Type::Int { width, signedness: Signedness::Signed } => format!("int{width}"),
            Type::Int { width, signedness: Signedness::Unsigned } => format!("uint{width}"),
            Type::Float { width: 64 } => "double".to_owned(),
            Type::Float { width: 32 } => "float".to_owned(),
            Type::Float { width } => format!("float{width}"),
            Type::BFloat16 => "bfloat16".to_owned(),
            Type::Vector { component, count } => vector_name(&self.name(*component), *count),
            Type::Matrix { column, count } => match self.get(*column) {
                Some(Type::Vector { count: rows, .. }) => format!("mat{count}x{rows}"),
                _ => format!("mat{count}"),
            },
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => {
                format!("{}[]", self.name(*element))
            }
            Type::Structure { name, .. } => name.clone().unwrap_or_else(|| format!("struct %{id}")),
            Type::Pointer { pointee, .. } => format!("pointer to {}", self.name(*pointee)),
            Type::UntypedPointer { .. } => "untyped pointer".to_owned(),
            Type::ForwardPointer { .. } => "pointer".to_owned(),
            Type::Function { .. } => "function".to_owned(),
            Type::Image(_) => "image".to_owned(),
            Type::Sampler => "sampler".to_owned(),
            Type::SampledImage { .. } => "sampled image".to_owned(),
            Type::CooperativeMatrix { component, .. } => {
                format!("cooperative matrix of {}", self.name(*component))
            }
            Type::Other(op) => format!("{op:?}"),
        }
    }

    /// Bytes that an object of explicitly laid-out type `id` takes, array and matrix strides
    /// counted in full; a runtime array counts nothing. `matrix` is the layout of the member that
    /// holds it.
    pub fn byte_size(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit(id, matrix, constants, Trailing::Counted)
    }

    /// Bytes from the start of an object to the end of its last component, without padding behind
    /// it: what a buffer must at least have for every component to be inside.
    pub fn byte_extent(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
    ) -> Result<u64, LayoutError> {
        self.explicit(id, matrix, constants, Trailing::Omitted)
    }

    fn explicit(
        &self,
        id: Id,
        matrix: Option<MatrixLayout>,
        constants: &Constants,
        trailing: Trailing,
    ) -> Result<u64, LayoutError> {
        let inner = |id, matrix| self.explicit(id, matrix, constants, trailing);
        let repeated = |stride: u32, count: u64, last: u64| -> Result<u64, LayoutError> {
            let strides = match trailing {
                Trailing::Counted => {
                    return u64::from(stride)
                        .checked_mul(count)
                        .ok_or(LayoutError::TooLarge { ty: id });
                }
                Trailing::Omitted if count == 0 => return Ok(0),
                Trailing::Omitted => u64::from(stride).checked_mul(count - 1),
            };
            strides
                .and_then(|bytes| bytes.checked_add(last))
                .ok_or(LayoutError::TooLarge { ty: id })
        };
        match self.get(id) {
            Some(Type::Int { width, .. } | Type::Float { width }) => Ok(u64::from(*width / 8)),
            Some(Type::BFloat16) => Ok(2),
            Some(Type::Vector { component, count }) => {
                Ok(inner(*component, None)? * u64::from(*count))
            }
            Some(Type::Matrix { column, count }) => {
                let layout = matrix
                    .ok_or(LayoutError::Undecorated { ty: id, decoration: "MatrixStride" })?;
                let (vectors, components) = match (layout.majorness, self.get(*column)) {
                    (Majorness::Column, Some(Type::Vector { count: rows, .. })) => (*count, *rows),
                    (Majorness::Row, Some(Type::Vector { count: rows, .. })) => (*rows, *count),
                    (_, _) => return Err(self.no_size(id)),
                };
                let scalar = self.scalar_of(*column).ok_or_else(|| self.no_size(id))?;
                repeated(
                    layout.stride,
                    u64::from(vectors),
                    inner(scalar, None)? * u64::from(components),
                )
            }
            Some(Type::Array { element, length, stride }) => {
                let stride =
                    stride.ok_or(LayoutError::Undecorated { ty: id, decoration: "ArrayStride" })?;
                let count = constants
                    .array_length(*length)
                    .ok_or(LayoutError::UnknownLength { length: *length })?;
                repeated(stride, count, inner(*element, matrix)?)
            }
            Some(Type::RuntimeArray { .. }) => Ok(0),
            Some(Type::Structure { members, .. }) => {
                members.iter().try_fold(0, |size: u64, member| {
                    let offset = member
                        .offset
                        .ok_or(LayoutError::Undecorated { ty: id, decoration: "Offset" })?;
                    Ok(size.max(u64::from(offset) + inner(member.ty, member.matrix)?))
                })
            }
            Some(Type::Pointer { storage: StorageClass::PhysicalStorageBuffer, .. })
            | Some(Type::UntypedPointer { storage: StorageClass::PhysicalStorageBuffer })
            | Some(Type::ForwardPointer { storage: StorageClass::PhysicalStorageBuffer }) => Ok(8),
            _ => Err(self.no_size(id)),
        }
    }

    /// Size and alignment in bytes by the std430 rules, for memory whose types carry no layout;
    /// Booleans take 4 bytes.
    pub fn natural_layout(&self, id: Id, constants: &Constants) -> Result<(u64, u64), LayoutError> {
        match self.get(id) {
            Some(Type::Bool) => Ok((4, 4)),
            Some(Type::Int { width, .. } | Type::Float { width }) => {
                Ok((u64::from(*width / 8), u64::from(*width / 8)))
            }
            Some(Type::BFloat16) => Ok((2, 2)),
            Some(Type::Vector { component, count }) => {
                let (size, _) = self.natural_layout(*component, constants)?;
                let aligned = if *count == 3 { 4 } else { u64::from(*count) };
                Ok((size * u64::from(*count), size * aligned))
            }
            Some(Type::Matrix { column, count }) => {
                let (size, alignment) = self.natural_layout(*column, constants)?;
                Ok((size.next_multiple_of(alignment) * u64::from(*count), alignment))
            }
            Some(Type::Array { element, length, .. }) => {
                let (size, alignment) = self.natural_layout(*element, constants)?;
                let count = constants
                    .array_length(*length)
                    .ok_or(LayoutError::UnknownLength { length: *length })?;
                let total = size.next_multiple_of(alignment).checked_mul(count);
                Ok((total.ok_or(LayoutError::TooLarge { ty: id })?, alignment))
            }
            Some(Type::Structure { members, .. }) => {
                let (mut end, mut widest) = (0u64, 1);
                for member in members {
                    let (size, alignment) = self.natural_layout(member.ty, constants)?;
                    end = end
                        .next_multiple_of(alignment)
                        .checked_add(size)
                        .ok_or(LayoutError::TooLarge { ty: id })?;
                    widest = widest.max(alignment);
                }
                Ok((end.next_multiple_of(widest), widest))
            }
            _ => Err(self.no_size(id)),
        }
    }

    fn no_size(&self, id: Id) -> LayoutError {
        LayoutError::NoSize { ty: id, what: self.name(id) }
    }
}

/// Whether the padding between the last component and the end of its stride counts.
#[derive(Clone, Copy)]
enum Trailing {
    Counted,
    Omitted,
}

fn vector_name(component: &str, count: u32) -> String {
    match component {
        "float" => format!("vec{count}"),
        "double" => format!("dvec{count}"),
        "int" => format!("ivec{count}"),
        "uint" => format!("uvec{count}"),
        "bool" => format!("bvec{count}"),
        other => format!("{other}x{count}"),
    }
}

fn read(module: &Module, instruction: &Instruction) -> Option<Type> {
    let id = instruction.result?;
    let stride = || literal(module.decoration(id, Decoration::ArrayStride)?.operands.first()?);
    Some(match instruction.op {
        Op::TypeVoid => Type::Void,
        Op::TypeBool => Type::Bool,
        Op::TypeInt => Type::Int {
            width: instruction.literal(0)?,
            signedness: if instruction.literal(1)? == 1 {
                Signedness::Signed
            } else {
                Signedness::Unsigned
            },
        },
        // A second operand names an encoding other than IEEE 754 (bfloat16, 8-bit floats): not this
        // variant.
        Op::TypeFloat if instruction.operands.len() == 1 => {
            Type::Float { width: instruction.literal(0)? }
        }
        Op::TypeFloat
            if matches!(
                instruction.operands[1..],
                [Operand::FPEncoding(FPEncoding::BFloat16KHR)]
            ) =>
        {
            Type::BFloat16
        }
        Op::TypeVector => {
            Type::Vector { component: instruction.id(0)?, count: instruction.literal(1)? }
        }
        Op::TypeMatrix => {
            Type::Matrix { column: instruction.id(0)?, count: instruction.literal(1)? }
        }
        Op::TypeCooperativeMatrixKHR => Type::CooperativeMatrix {
            component: instruction.id(0)?,
            scope: instruction.id(1)?,
            rows: instruction.id(2)?,
            columns: instruction.id(3)?,
            share: 0,
        },
        Op::TypeArray => Type::Array {
            element: instruction.id(0)?,
            length: instruction.id(1)?,
            stride: stride(),
        },
        Op::TypeRuntimeArray => {
            Type::RuntimeArray { element: instruction.id(0)?, stride: stride() }
        }
        Op::TypeStruct => Type::Structure {
            members: instruction
                .ids()
                .enumerate()
                .map(|(index, ty)| member(module, id, index as u32, ty))
                .collect(),
            name: module.name(id).filter(|name| !name.is_empty()).map(str::to_owned),
            block: if module.decoration(id, Decoration::BufferBlock).is_some() {
                BlockKind::BufferBlock
            } else if module.decoration(id, Decoration::Block).is_some() {
                BlockKind::Block
            } else {
                BlockKind::None
            },
        },
        Op::TypePointer => match (instruction.operands.first()?, instruction.id(1)?) {
            (Operand::StorageClass(storage), pointee) => {
                Type::Pointer { storage: *storage, pointee }
            }
            _ => return None,
        },
        Op::TypeUntypedPointerKHR => match instruction.operands.first()? {
            Operand::StorageClass(storage) => Type::UntypedPointer { storage: *storage },
            _ => return None,
        },
        Op::TypeFunction => Type::Function {
            result: instruction.id(0)?,
            parameters: instruction.ids().skip(1).collect(),
        },
        Op::TypeImage => Type::Image(image(instruction)?),
        Op::TypeSampler => Type::Sampler,
        Op::TypeSampledImage => Type::SampledImage { image: instruction.id(0)? },
        _ => return None,
    })
}

fn image(instruction: &Instruction) -> Option<Image> {
    let (Operand::Dim(dim), Operand::ImageFormat(format)) =
        (instruction.operands.get(1)?, instruction.operands.get(6)?)
    else {
        return None;
    };
    Some(Image {
        sampled_type: instruction.id(0)?,
        dim: *dim,
        depth: instruction.literal(2)?,
        arrayed: instruction.literal(3)? == 1,
        multisampled: instruction.literal(4)? == 1,
        sampled: instruction.literal(5)?,
        format: *format,
    })
}

fn literal(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn member(module: &Module, structure: Id, index: u32, ty: Id) -> Member {
    let decoration = |decoration| module.member_decoration(structure, index, decoration);
    let number = |wanted| literal(decoration(wanted)?.operands.first()?);
    let majorness =
        if decoration(Decoration::RowMajor).is_some() { Majorness::Row } else { Majorness::Column };
    Member {
        ty,
        offset: number(Decoration::Offset),
        matrix: number(Decoration::MatrixStride).map(|stride| MatrixLayout { stride, majorness }),
        name: module
            .member_name(structure, index)
            .filter(|name| !name.is_empty())
            .map(str::to_owned),
        builtin: decoration(Decoration::BuiltIn).and_then(|decorated| {
            match decorated.operands.first() {
                Some(Operand::BuiltIn(builtin)) => Some(*builtin),
                _ => None,
            }
        }),
        access: MemberAccess {
            non_writable: decoration(Decoration::NonWritable).is_some(),
            non_readable: decoration(Decoration::NonReadable).is_some(),
        },
    }
}
