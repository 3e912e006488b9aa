//! What a module leaves to an implementation, beside the bounds of single operations.
//!
//! Knows: the execution modes and decorations of SPV_KHR_float_controls and
//! SPV_KHR_float_controls2, NoContraction and RelaxedPrecision.

use crate::float_controls::{FloatControls, decorates_results};
use crate::module::{Id, Module};
use crate::types::{Type, Types};
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, Op};
use std::collections::BTreeSet;
use vkcert_oracle::difference::ZeroSigns;

/// What a module leaves to an implementation, beside the bounds of single operations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImplementationFreedom {
    /// Whether the entry point fixes how correctly rounded results are rounded (RoundingModeRTE,
    /// RoundingModeRTZ).
    pub rounding: PermittedRounding,
    /// What becomes of denormal operands and results.
    pub denormals: PermittedDenormals,
    /// Whether the sign of a zero must be kept.
    pub zeros: ZeroSigns,
    /// Indices of instructions whose result must not be combined with another (NoContraction, or no
    /// AllowContract where the module says what is allowed).
    pub separate: BTreeSet<u32>,
    /// Indices of instructions that may be carried out in half precision (RelaxedPrecision).
    pub relaxed: BTreeSet<u32>,
}

/// Which way correctly rounded results may be rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum PermittedRounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Toward zero.
    TowardZero,
    /// Up or down.
    #[default]
    Any,
}

/// Whether denormal numbers may become zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PermittedDenormals {
    /// They must stay.
    Preserved,
    /// They must become zeros.
    Flushed,
    /// They may stay or become zeros.
    #[default]
    MayBeFlushed,
}

/// Whether an entry point (the id of its function) declares a mode for 32-bit floats.
fn declares_mode(module: &Module, entry_function: Id, wanted_mode: ExecutionMode) -> bool {
    let wanted_operands = [
        Operand::IdRef(entry_function),
        Operand::ExecutionMode(wanted_mode),
        Operand::LiteralBit32(32),
    ];
    let mut declarations =
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    declarations.any(|instruction| {
        instruction.op == Op::ExecutionMode && instruction.operands.as_slice() == wanted_operands
    })
}

/// Indexes of the instructions whose results have a decoration.
fn decorated_results(module: &Module, decoration: Decoration) -> BTreeSet<u32> {
    let numbered_instructions = (0..).zip(&module.instructions);
    let decorated_instructions = numbered_instructions.filter(|(_, instruction)| {
        instruction.result.is_some_and(|id| module.decoration(id, decoration).is_some())
    });
    decorated_instructions.map(|(index, _)| index).collect()
}

impl ImplementationFreedom {
    /// What an entry point (the id of its function) declares for 32-bit floats, and the decorations
    /// of the module.
    pub fn of_entry_point(module: &Module, entry_function: Id) -> Self {
        let declares_mode = |mode| declares_mode(module, entry_function, mode);
        let mut separate_results = decorated_results(module, Decoration::NoContraction);
        let fast_math = FastMath::of_entry_point(module, entry_function);
        separate_results.extend(fast_math.separate);
        Self {
            rounding: match (
                declares_mode(ExecutionMode::RoundingModeRTE),
                declares_mode(ExecutionMode::RoundingModeRTZ),
            ) {
                (true, _) => PermittedRounding::Nearest,
                (false, true) => PermittedRounding::TowardZero,
                (false, false) => PermittedRounding::Any,
            },
            denormals: match (
                declares_mode(ExecutionMode::DenormPreserve),
                declares_mode(ExecutionMode::DenormFlushToZero),
            ) {
                (true, _) => PermittedDenormals::Preserved,
                (false, true) => PermittedDenormals::Flushed,
                (false, false) => PermittedDenormals::MayBeFlushed,
            },
            zeros: match declares_mode(ExecutionMode::SignedZeroInfNanPreserve) {
                true => ZeroSigns::Signed,
                false => fast_math.zeros,
            },
            separate: separate_results,
            relaxed: decorated_results(module, Decoration::RelaxedPrecision),
        }
    }
}

/// What a module says of the liberties of single operations (SPV_KHR_float_controls2).
#[derive(Default)]
pub(super) struct FastMath {
    pub(super) zeros: ZeroSigns,
    pub(super) separate: BTreeSet<u32>,
}

impl FastMath {
    fn of_entry_point(module: &Module, entry_function: Id) -> Self {
        let float_controls = FloatControls::of_entry_point(module, entry_function);
        if !float_controls.has_fast_math() && !decorates_results(module) {
            return Self::default();
        }
        let types = Types::of_module(module);
        let mut fast_math = Self::default();
        for (index, instruction) in module.instructions.iter().enumerate() {
            let scalar_type = instruction.result_type.and_then(|result| types.scalar_of(result));
            let Some(Type::Float { .. }) = scalar_type.and_then(|scalar| types.get(scalar)) else {
                continue;
            };
            let Some(fast_math_flags) = float_controls.fast_math(module, &types, instruction)
            else {
                continue;
            };
            if !fast_math_flags.contains(FPFastMathMode::ALLOW_CONTRACT) {
                fast_math.separate.insert(index as u32);
            }
            if !fast_math_flags.contains(FPFastMathMode::NSZ) {
                fast_math.zeros = ZeroSigns::Signed;
            }
        }
        fast_math
    }
}
