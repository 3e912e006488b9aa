//! Which operand an instruction reads or writes memory through.

use super::pointer::PointerAnalysis;
use crate::module::{Id, Instruction, Module};
use crate::opcodes::{Effect, effect_of};
use crate::types::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{GlslStd450Op, Op};

/// The pointer or image that an instruction writes through.
pub(crate) fn written_pointer(module: &Module, instruction: &Instruction) -> Option<Id> {
    match (effect_of(instruction.op)?, instruction.op) {
        (Effect::Atomic, Op::AtomicLoad) => None,
        (Effect::ReadWrite, Op::ExtInst) => output_operand(module, instruction),
        (Effect::Write | Effect::ReadWrite | Effect::Atomic, _) => instruction.id(0),
        (
            Effect::Declaration
            | Effect::Pure
            | Effect::Address
            | Effect::Read
            | Effect::Barrier
            | Effect::Subgroup
            | Effect::Call
            | Effect::Branch
            | Effect::End,
            _,
        ) => None,
    }
}

/// `modf` and `frexp` write their second result through a pointer.
fn output_operand(module: &Module, call: &Instruction) -> Option<Id> {
    let set = module.definition(call.id(0)?)?;
    let is_glsl = set.operands.first() == Some(&Operand::LiteralString("GLSL.std.450".to_owned()));
    let writes =
        [GlslStd450Op::Modf as u32, GlslStd450Op::Frexp as u32].contains(&call.literal(1)?);
    (is_glsl && writes).then(|| call.id(3)).flatten()
}

/// The pointer or image whose contents an instruction reads.
pub(crate) fn read_pointer(pointers: &PointerAnalysis, instruction: &Instruction) -> Option<Id> {
    match (effect_of(instruction.op)?, instruction.op) {
        (
            _,
            Op::ImageQuerySize
            | Op::ImageQuerySizeLod
            | Op::ImageQueryLevels
            | Op::ImageQuerySamples,
        ) => None,
        (_, Op::AtomicStore | Op::ExtInst) => None,
        // An image or a sampler has no contents until it is read; a pointer does.
        (_, Op::Load) => {
            let ty = pointers.types.get(instruction.result_type?);
            let opaque =
                matches!(ty, Some(Type::Image(_) | Type::SampledImage { .. } | Type::Sampler));
            (!opaque).then(|| instruction.id(0)).flatten()
        }
        (Effect::ReadWrite, _) => instruction.id(1),
        (Effect::Read | Effect::Atomic, _) => instruction.id(0),
        (
            Effect::Declaration
            | Effect::Pure
            | Effect::Address
            | Effect::Write
            | Effect::Barrier
            | Effect::Subgroup
            | Effect::Call
            | Effect::Branch
            | Effect::End,
            _,
        ) => None,
    }
}
