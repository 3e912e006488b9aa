//! The types of a module as values, and how many bytes they take (`layout`).
//!
//! Knows: every OpType* of a module with the decorations that lay it out (ArrayStride, Offset,
//! MatrixStride, RowMajor).
//! Promises: ids that are no type give `None`; a type that this file has no variant for is
//! [`Type::Other`] by opcode.

mod declaration;
mod layout;

use super::constants::Constants;
use super::module::{Id, Instruction, Module};
use declaration::read_type;
pub use layout::LayoutError;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Dim, ImageFormat, Op, StorageClass};
use std::collections::BTreeMap;

/// A type of a module. Ids refer to other types, lengths to constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// No value.
    Void,
    /// A truth value, without size in memory.
    Bool,
    /// `width` in bits.
    Int {
        /// Number of bits.
        width: u32,
        /// How its bits are read.
        signedness: Signedness,
    },
    /// `width` in bits.
    Float {
        /// Number of bits.
        width: u32,
    },
    /// 16 bits with the exponent of 32 (SPV_KHR_bfloat16).
    BFloat16,
    /// OpTypeVector.
    Vector {
        /// Id of the components' type.
        component: Id,
        /// Number of components.
        count: u32,
    },
    /// `column` is the type of one column, `count` the number of columns.
    Matrix {
        /// Id of the columns' vector type.
        column: Id,
        /// Number of columns.
        count: u32,
    },
    /// `length` is the id of a constant or specialization constant; `stride` in bytes where
    /// decorated.
    Array {
        /// Id of the elements' type.
        element: Id,
        /// Id of the constant.
        length: Id,
        /// Bytes from one element to the next; none without decoration.
        stride: Option<u32>,
    },
    /// Spread over the invocations of a scope; all but the component are constants.
    CooperativeMatrix {
        /// Id of the elements' type.
        component: Id,
        /// Id of the scope, a constant.
        scope: Id,
        /// Id of the number of rows.
        rows: Id,
        /// Id of the number of columns.
        columns: Id,
        /// Elements that each invocation holds; 0 as long as nobody has told.
        share: u32,
    },
    /// OpTypeRuntimeArray: its length is that of what is bound.
    RuntimeArray {
        /// Id of the elements' type.
        element: Id,
        /// Bytes from one element to the next; none without decoration.
        stride: Option<u32>,
    },
    /// OpTypeStruct.
    Structure {
        /// Its members, in order.
        members: Vec<StructureMember>,
        /// OpName of the structure.
        name: Option<String>,
        /// Whether it is the type of a resource.
        block: BlockKind,
    },
    /// OpTypePointer.
    Pointer {
        /// Storage class of what it points to.
        storage: StorageClass,
        /// Id of the type of what it points to.
        pointee: Id,
    },
    /// A pointer that does not say what it points to (SPV_KHR_untyped_pointers).
    UntypedPointer {
        /// Storage class of what it points to.
        storage: StorageClass,
    },
    /// A pointer type that is declared before the type it points to.
    ForwardPointer {
        /// Storage class of what it points to.
        storage: StorageClass,
    },
    /// OpTypeFunction.
    Function {
        /// Id of the result's type.
        result: Id,
        /// Ids of the parameters' types.
        parameters: Vec<Id>,
    },
    /// OpTypeImage.
    Image(ImageType),
    /// OpTypeSampler.
    Sampler,
    /// An image with a sampler (OpTypeSampledImage).
    SampledImage {
        /// Id of the image type.
        image: Id,
    },
    /// Any other type, by opcode; nothing here lays it out.
    Other(Op),
}

/// How an integer type reads its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Signedness {
    /// Two's complement.
    Signed,
    /// Without sign.
    Unsigned,
}

/// Whether a structure is the type of a resource (SPIR-V specification, decorations Block and
/// BufferBlock).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BlockKind {
    /// It has neither decoration.
    None,
    /// It is decorated Block.
    Block,
    /// Storage buffers of SPIR-V 1.0 in storage class Uniform.
    BufferBlock,
}

/// An image type (OpTypeImage).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageType {
    /// Id of the type of a component of a texel as it is read.
    pub sampled_type: Id,
    /// Its dimension.
    pub dim: Dim,
    /// 0: not a depth image, 1: depth, 2: unknown.
    pub depth: u32,
    /// Whether it has array layers.
    pub arrayed: bool,
    /// Whether its texels have several samples.
    pub multisampled: bool,
    /// 0: known at run time, 1: with a sampler, 2: storage.
    pub sampled: u32,
    /// Format of the texels; Unknown where the declaration does not say it.
    pub format: ImageFormat,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructureMember {
    /// Id of the member's type.
    pub ty: Id,
    /// Bytes from the start of the structure, where decorated.
    pub offset: Option<u32>,
    /// Layout of a matrix (or of an array of matrices) in this member.
    pub matrix: Option<MatrixLayout>,
    /// OpMemberName.
    pub name: Option<String>,
    /// The built-in that the member is; none of ordinary members.
    pub builtin: Option<BuiltIn>,
    /// What decorations forbid.
    pub access: MemberAccess,
}

/// NonWritable and NonReadable of one member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemberAccess {
    /// It must not be written (NonWritable).
    pub non_writable: bool,
    /// It must not be read (NonReadable).
    pub non_readable: bool,
}

/// MatrixStride with RowMajor or ColMajor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatrixLayout {
    /// Bytes from one column (row) to the next.
    pub stride: u32,
    /// Whether columns or rows lie together.
    pub majorness: Majorness,
}

/// Which numbers of a matrix lie beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Majorness {
    /// Those of a column (ColMajor).
    Column,
    /// Those of a row (RowMajor).
    Row,
}

/// All types of a module.
#[derive(Debug, Clone)]
pub struct Types {
    by_id: BTreeMap<Id, Type>,
}

impl Types {
    /// Collects the types of `module`.
    pub fn of_module(module: &Module) -> Self {
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
                by_id.insert(
                    id,
                    read_type(module, instruction).unwrap_or(Type::Other(instruction.op)),
                );
            }
        }
        Self { by_id }
    }

    /// The type with this id; none where the id is no type.
    pub fn get(&self, type_id: Id) -> Option<&Type> {
        self.by_id.get(&type_id)
    }

    /// All types, by id.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Type)> {
        self.by_id.iter().map(|(id, ty)| (*id, ty))
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
    pub fn variable_contents(&self, instruction: &Instruction) -> Option<(StorageClass, Id)> {
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
    pub(crate) fn storage_class(&self, pointer: Id) -> Option<StorageClass> {
        match self.get(pointer)? {
            Type::Pointer { storage, .. } | Type::UntypedPointer { storage } => Some(*storage),
            _ => None,
        }
    }

    /// Bits of a scalar; `None` for anything else. Booleans have no bits in memory and count as 1.
    pub fn scalar_width(&self, type_id: Id) -> Option<u32> {
        match self.get(type_id)? {
            Type::Bool => Some(1),
            Type::Int { width, .. } | Type::Float { width } => Some(*width),
            Type::BFloat16 => Some(16),
            _ => None,
        }
    }

    /// Type of the component at `index` of a composite: vector component, column, element or
    /// member.
    pub fn component_type(&self, type_id: Id, component_index: u32) -> Option<Id> {
        match self.get(type_id)? {
            Type::Vector { component, count } => (component_index < *count).then_some(*component),
            Type::Matrix { column, count } => (component_index < *count).then_some(*column),
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => Some(*element),
            Type::CooperativeMatrix { component, share, .. } => {
                (component_index < *share).then_some(*component)
            }
            Type::Structure { members, .. } => {
                members.get(component_index as usize).map(|member| member.ty)
            }
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
    pub fn component_count(&self, type_id: Id, constants: &Constants) -> Option<u64> {
        match self.get(type_id)? {
            Type::Vector { count, .. } | Type::Matrix { count, .. } => Some(u64::from(*count)),
            Type::Array { length, .. } => constants.array_length(*length),
            Type::Structure { members, .. } => Some(members.len() as u64),
            _ => None,
        }
    }

    /// The innermost scalar type of a scalar, vector, matrix or array.
    pub fn scalar_of(&self, type_id: Id) -> Option<Id> {
        match self.get(type_id)? {
            Type::Bool | Type::Int { .. } | Type::Float { .. } | Type::BFloat16 => Some(type_id),
            Type::Vector { component: inner, .. }
            | Type::Matrix { column: inner, .. }
            | Type::Array { element: inner, .. }
            | Type::RuntimeArray { element: inner, .. } => self.scalar_of(*inner),
            _ => None,
        }
    }

    /// How the type is called in GLSL, for messages: `uint`, `vec3`, `mat4x3`, `float[]`, a
    /// structure's own name.
    pub fn glsl_name(&self, type_id: Id) -> String {
        let Some(ty) = self.get(type_id) else { return format!("%{type_id}") };
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
            Type::Vector { component, count } => vector_name(&self.glsl_name(*component), *count),
            Type::Matrix { column, count } => match self.get(*column) {
                Some(Type::Vector { count: rows, .. }) => format!("mat{count}x{rows}"),
                _ => format!("mat{count}"),
            },
            Type::Array { element, .. } | Type::RuntimeArray { element, .. } => {
                format!("{}[]", self.glsl_name(*element))
            }
            Type::Structure { name, .. } => {
                name.clone().unwrap_or_else(|| format!("struct %{type_id}"))
            }
            Type::Pointer { pointee, .. } => format!("pointer to {}", self.glsl_name(*pointee)),
            Type::UntypedPointer { .. } => "untyped pointer".to_owned(),
            Type::ForwardPointer { .. } => "pointer".to_owned(),
            Type::Function { .. } => "function".to_owned(),
            Type::Image(_) => "image".to_owned(),
            Type::Sampler => "sampler".to_owned(),
            Type::SampledImage { .. } => "sampled image".to_owned(),
            Type::CooperativeMatrix { component, .. } => {
                format!("cooperative matrix of {}", self.glsl_name(*component))
            }
            Type::Other(op) => format!("{op:?}"),
        }
    }
}

fn vector_name(component_name: &str, component_count: u32) -> String {
    match component_name {
        "float" => format!("vec{component_count}"),
        "double" => format!("dvec{component_count}"),
        "int" => format!("ivec{component_count}"),
        "uint" => format!("uvec{component_count}"),
        "bool" => format!("bvec{component_count}"),
        other => format!("{other}x{component_count}"),
    }
}
