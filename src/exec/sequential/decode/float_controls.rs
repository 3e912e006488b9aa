//! How the instruction being decoded treats floats.
//!
//! Knows: what its entry point declares by width, and what decorates its result.
//! Promises: a module that declares nothing of the kind is plain, and costs nothing.
//! Does not cover: steps that compare or select inside a composed function.

use rspirv::spirv::FPFastMathMode;
use vkcert_oracle::float::RoundingDirection;
use vkcert_spirv::float_controls::{self, DenormalMode, FloatControls};
use vkcert_spirv::module::{Id, Instruction, Module};
use vkcert_spirv::operation::sized::NumberFormat;
use vkcert_spirv::types::Types;

/// What holds for an instruction.
#[derive(Debug, Clone)]
pub(crate) struct Floats {
    controls: FloatControls,
    /// Whether any result of the module has a decoration of this kind.
    decorated: Decorated,
    /// The direction that decorates the instruction's result.
    rounding: Option<RoundingDirection>,
    /// What it may assume of its operands and result.
    pub assumed: FPFastMathMode,
    plain: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decorated {
    None,
    Some,
}

impl Default for Floats {
    fn default() -> Self {
        let assumed = FPFastMathMode::NONE;
        let controls = FloatControls::default();
        Self { controls, decorated: Decorated::None, rounding: None, assumed, plain: true }
    }
}

impl Floats {
    /// What holds in the functions of an entry point.
    pub(crate) fn of(module: &Module, entry: Id) -> Self {
        let controls = FloatControls::of_entry_point(module, entry);
        let decorated = if float_controls::decorates_results(module) {
            Decorated::Some
        } else {
            Decorated::None
        };
        let plain = controls == FloatControls::default();
        Self { controls, decorated, plain, ..Self::default() }
    }

    /// Goes on to an instruction.
    pub(crate) fn enter(&mut self, module: &Module, types: &Types, instruction: &Instruction) {
        let declared = self.controls != FloatControls::default();
        if self.decorated == Decorated::None && !declared {
            return;
        }
        self.rounding =
            instruction.result.and_then(|id| float_controls::decorated_rounding(module, id));
        let flags = self.controls.fast_math(module, types, instruction);
        self.assumed = flags.unwrap_or(FPFastMathMode::NONE);
        self.plain = !declared && self.rounding.is_none() && self.assumed.is_empty();
    }

    /// Whether nothing holds but the defaults.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Which way a result of this form is rounded.
    pub(crate) fn rounding(&self, form: NumberFormat) -> RoundingDirection {
        match form {
            NumberFormat::Float(width) => {
                self.rounding.unwrap_or(self.controls.for_width(width.bits()).rounding)
            }
            NumberFormat::Brain => self.rounding.unwrap_or_default(),
            NumberFormat::Integer(_) => RoundingDirection::Nearest,
        }
    }

    /// What becomes of denormal numbers of this form.
    pub(crate) fn denormals(&self, form: NumberFormat) -> DenormalMode {
        match form {
            NumberFormat::Float(width) => self.controls.for_width(width.bits()).denormals,
            NumberFormat::Integer(_) | NumberFormat::Brain => DenormalMode::Kept,
        }
    }
}
