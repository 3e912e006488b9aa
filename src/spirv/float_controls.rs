//! What a module says of its floating-point arithmetic: which way results are rounded, what becomes
//! of denormal numbers, and what may be assumed of operands.
//!
//! Knows: the execution modes of SPV_KHR_float_controls by entry point and width, FPFastMathDefault
//! by type (SPV_KHR_float_controls2), the decorations FPRoundingMode and FPFastMathMode.
//! Promises: what an entry point or a result does not declare is what the specification has as the
//! default. Modes of a width hold for IEEE 754 formats, not for bfloat16.
//! Does not cover: what an operation does with it.

use super::module::{Id, Instruction, Module};
use super::types::Types;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, ExecutionMode, FPFastMathMode, FPRoundingMode, Op};
use std::collections::BTreeMap;
use vkcert_oracle::float::RoundingDirection;

/// What becomes of denormal operands and results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DenormalMode {
    /// They stay, or an implementation may flush them.
    #[default]
    Kept,
    /// They become zeros of their sign (DenormFlushToZero).
    Flushed,
}

/// The modes of one width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WidthControls {
    /// How results are rounded that lie between two numbers.
    pub rounding: RoundingDirection,
    /// What becomes of denormal numbers.
    pub denormals: DenormalMode,
}

/// The arithmetic of one entry point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FloatControls {
    /// Of 16, 32 and 64 bits.
    widths: [WidthControls; 3],
    /// By scalar type; empty where the entry point has no FPFastMathDefault.
    fast_math: BTreeMap<Id, FPFastMathMode>,
}

impl FloatControls {
    /// What the entry point with this function declares.
    pub fn of_entry_point(module: &Module, entry_function: Id) -> Self {
        let mut controls = Self::default();
        let declarations =
            module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
        for mode in declarations.filter(|instruction| instruction.id(0) == Some(entry_function)) {
            match (mode.op, mode.operands.get(1)) {
                (Op::ExecutionMode, Some(Operand::ExecutionMode(declared_mode))) => {
                    controls.declare_mode(*declared_mode, mode.literal(2))
                }
                (
                    Op::ExecutionModeId,
                    Some(Operand::ExecutionMode(ExecutionMode::FPFastMathDefault)),
                ) => {
                    let flags =
                        mode.id(3).and_then(|id| module.definition(id)).and_then(fast_math_flags);
                    controls
                        .fast_math
                        .extend(mode.id(2).map(|ty| (ty, flags.unwrap_or(FPFastMathMode::NONE))));
                }
                _ => {}
            }
        }
        controls
    }

    fn declare_mode(&mut self, mode: ExecutionMode, bit_width: Option<u32>) {
        let Some(controls) =
            bit_width.and_then(width_index).map(|width_index| &mut self.widths[width_index])
        else {
            return;
        };
        match mode {
            ExecutionMode::RoundingModeRTE => controls.rounding = RoundingDirection::Nearest,
            ExecutionMode::RoundingModeRTZ => controls.rounding = RoundingDirection::TowardZero,
            ExecutionMode::DenormFlushToZero => controls.denormals = DenormalMode::Flushed,
            _ => {}
        }
    }

    /// The modes of the IEEE 754 format of so many bits.
    pub fn for_width(&self, bits: u32) -> WidthControls {
        width_index(bits).map_or_else(WidthControls::default, |place| self.widths[place])
    }

    /// What may be assumed of an operation on floats: the flags of all their types; none where the
    /// module leaves that to the interface (SPIR-V, "FP Fast Math Mode").
    pub fn fast_math(
        &self,
        module: &Module,
        types: &Types,
        operation: &Instruction,
    ) -> Option<FPFastMathMode> {
        let decorated =
            operation.result.and_then(|id| module.decoration(id, Decoration::FPFastMathMode));
        if let Some(Operand::FPFastMathMode(flags)) =
            decorated.and_then(|decorated| decorated.operands.first())
        {
            return Some(*flags);
        }
        if self.fast_math.is_empty() {
            return None;
        }
        let operands = operation.ids().filter_map(|id| module.definition(id)?.result_type);
        let scalars = operands.chain(operation.result_type).filter_map(|ty| types.scalar_of(ty));
        let flags = scalars.filter_map(|ty| self.fast_math.get(&ty).copied());
        Some(flags.fold(FPFastMathMode::NONE, |union, flags_of_type| union | flags_of_type))
    }

    /// Whether [`Self::fast_math`] can give anything for a module whose results have no decoration.
    pub(crate) fn has_fast_math(&self) -> bool {
        !self.fast_math.is_empty()
    }
}

/// Whether some result of a module has FPRoundingMode or FPFastMathMode.
pub fn decorates_results(module: &Module) -> bool {
    let declarations =
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function);
    declarations.filter(|instruction| instruction.op == Op::Decorate).any(|instruction| {
        let decoration_operand = instruction.operands.get(1);
        matches!(
            decoration_operand,
            Some(Operand::Decoration(Decoration::FPRoundingMode | Decoration::FPFastMathMode))
        )
    })
}

fn width_index(bits: u32) -> Option<usize> {
    [16, 32, 64].iter().position(|width| *width == bits)
}

/// The flags in the constant of an FPFastMathDefault.
fn fast_math_flags(constant: &Instruction) -> Option<FPFastMathMode> {
    match constant.op {
        Op::Constant => constant.literal(0).map(FPFastMathMode::from_bits_truncate),
        _ => Some(FPFastMathMode::NONE),
    }
}

/// The direction that decorates a result (FPRoundingMode).
pub fn decorated_rounding(module: &Module, result: Id) -> Option<RoundingDirection> {
    match module.decoration(result, Decoration::FPRoundingMode)?.operands.first()? {
        Operand::FPRoundingMode(FPRoundingMode::RTE) => Some(RoundingDirection::Nearest),
        Operand::FPRoundingMode(FPRoundingMode::RTZ) => Some(RoundingDirection::TowardZero),
        Operand::FPRoundingMode(FPRoundingMode::RTP) => Some(RoundingDirection::Up),
        Operand::FPRoundingMode(FPRoundingMode::RTN) => Some(RoundingDirection::Down),
        _ => None,
    }
}
