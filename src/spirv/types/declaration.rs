//! Types from the instructions that declare them.

use super::{
    BlockKind, ImageType, Majorness, MatrixLayout, MemberAccess, Signedness, StructureMember, Type,
};
use crate::module::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, FPEncoding, Op};

pub(super) fn read_type(module: &Module, instruction: &Instruction) -> Option<Type> {
    let declared_id = instruction.result?;
    let array_stride =
        || literal_word(module.decoration(declared_id, Decoration::ArrayStride)?.operands.first()?);
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
            stride: array_stride(),
        },
        Op::TypeRuntimeArray => {
            Type::RuntimeArray { element: instruction.id(0)?, stride: array_stride() }
        }
        Op::TypeStruct => Type::Structure {
            members: instruction
                .ids()
                .enumerate()
                .map(|(index, ty)| read_member(module, declared_id, index as u32, ty))
                .collect(),
            name: module
                .debug_name(declared_id)
                .filter(|type_name| !type_name.is_empty())
                .map(str::to_owned),
            block: if module.decoration(declared_id, Decoration::BufferBlock).is_some() {
                BlockKind::BufferBlock
            } else if module.decoration(declared_id, Decoration::Block).is_some() {
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
        Op::TypeImage => Type::Image(read_image(instruction)?),
        Op::TypeSampler => Type::Sampler,
        Op::TypeSampledImage => Type::SampledImage { image: instruction.id(0)? },
        _ => return None,
    })
}

fn read_image(instruction: &Instruction) -> Option<ImageType> {
    let (Operand::Dim(dim), Operand::ImageFormat(format)) =
        (instruction.operands.get(1)?, instruction.operands.get(6)?)
    else {
        return None;
    };
    Some(ImageType {
        sampled_type: instruction.id(0)?,
        dim: *dim,
        depth: instruction.literal(2)?,
        arrayed: instruction.literal(3)? == 1,
        multisampled: instruction.literal(4)? == 1,
        sampled: instruction.literal(5)?,
        format: *format,
    })
}

fn literal_word(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn read_member(
    module: &Module,
    structure_type: Id,
    member_index: u32,
    type_id: Id,
) -> StructureMember {
    let decoration_of =
        |decoration| module.member_decoration(structure_type, member_index, decoration);
    let decoration_number =
        |wanted_decoration| literal_word(decoration_of(wanted_decoration)?.operands.first()?);
    let majorness = if decoration_of(Decoration::RowMajor).is_some() {
        Majorness::Row
    } else {
        Majorness::Column
    };
    StructureMember {
        ty: type_id,
        offset: decoration_number(Decoration::Offset),
        matrix: decoration_number(Decoration::MatrixStride)
            .map(|stride| MatrixLayout { stride, majorness }),
        name: module
            .member_name(structure_type, member_index)
            .filter(|name| !name.is_empty())
            .map(str::to_owned),
        builtin: decoration_of(Decoration::BuiltIn).and_then(|decorated| {
            match decorated.operands.first() {
                Some(Operand::BuiltIn(builtin)) => Some(*builtin),
                _ => None,
            }
        }),
        access: MemberAccess {
            non_writable: decoration_of(Decoration::NonWritable).is_some(),
            non_readable: decoration_of(Decoration::NonReadable).is_some(),
        },
    }
}
