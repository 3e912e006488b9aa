//! How the instruction being decoded treats floats.
//!
//! Knows: what its entry point declares by width, and what decorates its result.
//! Promises: a module that declares nothing of the kind is plain, and costs nothing.
//! Does not cover: comparisons and selections inside a composed function.

use rspirv::spirv::FPFastMathMode;
use vkcert_oracle::float::RoundingDirection;
use vkcert_spirv::float_controls::{self, DenormalMode, FloatControls};
use vkcert_spirv::module::{Id, Instruction, Module};
use vkcert_spirv::operation::sized::NumberFormat;
use vkcert_spirv::types::Types;

/// Rounding, denormals and fast-math assumptions of the current instruction.
#[derive(Debug, Clone)]
pub(crate) struct FloatTreatment {
    controls: FloatControls,
    /// Whether any result of the module has a decoration of this kind.
    decorated: ResultDecorations,
    /// The direction that decorates the instruction's result.
    rounding: Option<RoundingDirection>,
    /// What it may assume of its operands and result.
    pub assumed: FPFastMathMode,
    is_plain_arithmetic: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResultDecorations {
    None,
    Some,
}

impl Default for FloatTreatment {
    fn default() -> Self {
        let assumed = FPFastMathMode::NONE;
        let controls = FloatControls::default();
        Self {
            controls,
            decorated: ResultDecorations::None,
            rounding: None,
            assumed,
            is_plain_arithmetic: true,
        }
    }
}

impl FloatTreatment {
    /// From the execution modes of an entry point.
    pub(crate) fn for_entry_point(module: &Module, entry_point: Id) -> Self {
        let controls = FloatControls::of_entry_point(module, entry_point);
        let decorated = if float_controls::decorates_results(module) {
            ResultDecorations::Some
        } else {
            ResultDecorations::None
        };
        let plain = controls == FloatControls::default();
        Self { controls, decorated, is_plain_arithmetic: plain, ..Self::default() }
    }

    /// Takes up the decorations of the next instruction.
    pub(crate) fn enter_instruction(
        &mut self,
        module: &Module,
        types: &Types,
        instruction: &Instruction,
    ) {
        let is_declared = self.controls != FloatControls::default();
        if self.decorated == ResultDecorations::None && !is_declared {
            return;
        }
        self.rounding =
            instruction.result.and_then(|id| float_controls::decorated_rounding(module, id));
        let math_flags = self.controls.fast_math(module, types, instruction);
        self.assumed = math_flags.unwrap_or(FPFastMathMode::NONE);
        self.is_plain_arithmetic =
            !is_declared && self.rounding.is_none() && self.assumed.is_empty();
    }

    /// Whether nothing departs from the defaults.
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain_arithmetic
    }

    /// Rounding direction of a result in this number format.
    pub(crate) fn rounding(&self, number_format: NumberFormat) -> RoundingDirection {
        match number_format {
            NumberFormat::Float(width) => {
                self.rounding.unwrap_or(self.controls.for_width(width.bits()).rounding)
            }
            NumberFormat::Brain => self.rounding.unwrap_or_default(),
            NumberFormat::Integer(_) => RoundingDirection::Nearest,
        }
    }

    /// Whether denormals of this number format are kept or flushed.
    pub(crate) fn denormal_mode(&self, number_format: NumberFormat) -> DenormalMode {
        match number_format {
            NumberFormat::Float(width) => self.controls.for_width(width.bits()).denormals,
            NumberFormat::Integer(_) | NumberFormat::Brain => DenormalMode::Kept,
        }
    }
}
