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
pub struct Freedom {
    /// Whether the entry point fixes how correctly rounded results are rounded (RoundingModeRTE,
    /// RoundingModeRTZ).
    pub rounding: Rounding,
    pub denormals: Denormals,
    pub zeros: ZeroSigns,
    /// Indices of instructions whose result must not be combined with another (NoContraction, or no
    /// AllowContract where the module says what is allowed).
    pub separate: BTreeSet<u32>,
    /// Indices of instructions that may be carried out in half precision (RelaxedPrecision).
    pub relaxed: BTreeSet<u32>,
}

/// Which way correctly rounded results may be rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    TowardZero,
    /// Up or down.
    #[default]
    Any,
}

/// Whether denormal numbers may become zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Denormals {
    Preserved,
    /// They must become zeros.
    Flushed,
    #[default]
    MayBeFlushed,
}

impl Freedom {
    /// What an entry point (the id of its function) declares for 32-bit floats, and the decorations
    /// of the module.
    pub fn of(module: &Module, entry: Id) -> Self {
        let declares = |wanted: ExecutionMode| {
            module.instructions.iter().take_while(|instruction| instruction.op != Op::Function).any(
                |instruction| {
                    instruction.op == Op::ExecutionMode
                        && instruction.operands.as_slice()
                            == [
                                Operand::IdRef(entry),
                                Operand::ExecutionMode(wanted),
                                Operand::LiteralBit32(32),
                            ]
                },
            )
        };
        let decorated = |wanted: Decoration| {
            let all = module.instructions.iter().enumerate();
            let all = all.filter(|(_, one)| {
                one.result.is_some_and(|id| module.decoration(id, wanted).is_some())
            });
            all.map(|(index, _)| index as u32).collect()
        };
        let mut separate: BTreeSet<u32> = decorated(Decoration::NoContraction);
        let fast_math = FastMath::of(module, entry);
        separate.extend(fast_math.separate);
        Self {
            rounding: match (
                declares(ExecutionMode::RoundingModeRTE),
                declares(ExecutionMode::RoundingModeRTZ),
            ) {
                (true, _) => Rounding::Nearest,
                (false, true) => Rounding::TowardZero,
                (false, false) => Rounding::Any,
            },
            denormals: match (
                declares(ExecutionMode::DenormPreserve),
                declares(ExecutionMode::DenormFlushToZero),
            ) {
                (true, _) => Denormals::Preserved,
                (false, true) => Denormals::Flushed,
                (false, false) => Denormals::MayBeFlushed,
            },
            zeros: match declares(ExecutionMode::SignedZeroInfNanPreserve) {
                true => ZeroSigns::Signed,
                false => fast_math.zeros,
            },
            separate,
            relaxed: decorated(Decoration::RelaxedPrecision),
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
    pub(super) fn of(module: &Module, entry: Id) -> Self {
        let controls = FloatControls::of_entry_point(module, entry);
        if !controls.has_fast_math() && !decorates_results(module) {
            return Self::default();
        }
        let types = Types::of_module(module);
        let of_floats = |ty: Id| {
            types
                .scalar_of(ty)
                .and_then(|ty| types.get(ty))
                .map(|ty| matches!(ty, Type::Float { .. }))
        };
        let mut found = Self::default();
        for (index, instruction) in module.instructions.iter().enumerate() {
            if instruction.result_type.and_then(of_floats) != Some(true) {
                continue;
            }
            let Some(flags) = controls.fast_math(module, &types, instruction) else { continue };
            if !flags.contains(FPFastMathMode::ALLOW_CONTRACT) {
                found.separate.insert(index as u32);
            }
            if !flags.contains(FPFastMathMode::NSZ) {
                found.zeros = ZeroSigns::Signed;
            }
        }
        found
    }
}
