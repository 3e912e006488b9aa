//! Types from the instructions that declare them.

use super::{BlockKind, Image, Majorness, MatrixLayout, Member, MemberAccess, Signedness, Type};
use crate::module::{Id, Instruction, Module};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, FPEncoding, Op};

pub(super) fn read(module: &Module, instruction: &Instruction) -> Option<Type> {
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

pub(super) fn image(instruction: &Instruction) -> Option<Image> {
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

pub(super) fn literal(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

pub(super) fn member(module: &Module, structure: Id, index: u32, ty: Id) -> Member {
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
