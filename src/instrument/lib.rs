//! Coverage records: markers are erased from a marked module, records are put in their place, and
//! what a device wrote is read back. Beside them: modules whose workgroups are permuted
//! (`permute`).
//!
//! Knows: the marked module of the front end (`glsl`) and the structure that says what each marker
//! stands for.
//! Promises: *traced* is the marked module without markers; *instrumented* is traced plus records,
//! and both pass the validator; stripping the records gives traced back, which is checked for every
//! kernel, not only in tests. No branch is passed over: each traces to a marker, is on the closed
//! list of compiler-made ones, or is a finding.
//! Does not cover: the sequential engine's own recording, which runs the marked module by
//! [`MarkerTable`].

mod decode;
mod erase;
mod form;
mod markers;
mod object;
mod permute;
mod record;
mod resolve;
mod trace;

#[cfg(test)]
#[path = "../spirv/compile_tests.rs"]
mod compile_tests;
#[cfg(test)]
mod execution_tests;
#[cfg(test)]
mod expression_tests;
#[cfg(test)]
mod front_end_tests;
#[cfg(test)]
mod tests;

pub use decode::{check_bits, decode_records};
pub use erase::{normalised_equal, strip_records};
pub use form::{CanaryError, DispatchSize, RecordForm, RecordLimit};
pub use markers::{MarkedValue, MarkerArguments, MarkerFunction, marked_values};
pub use object::{
    InstrumentedObject, PositionTable, SourceKnowledge, instrument_object, instrument_object_as,
    unrecorded_structure,
};
pub use permute::{NotPermuted, PERMUTATION_HEADER, permutation_words, permute_workgroups};
pub use record::{DeviceAbility, DeviceParallelism, RecordRequest, RecordingDevice, RefusedMode};
pub use resolve::marker_presence;

use markers::MarkerCalls;
use record::RecordedModule;
use std::collections::BTreeMap;
use vkcert_model::finding::Finding;
use vkcert_model::records::{MarkerTable, Presence, RecordBuffer};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::interface::compute_entry;
use vkcert_spirv::module::Module;
use vkcert_spirv::types::Types;
use vkcert_spirv::validate::{TargetEnv, validate};

/// The modules derived from a marked one.
#[derive(Debug, Clone)]
pub struct Instrumented {
    /// The marked module with its markers erased.
    pub traced: Vec<u32>,
    /// Traced plus records.
    pub instrumented: Vec<u32>,
    /// For the sequential engine, which runs the marked module.
    pub markers: MarkerTable,
    /// Where the instrumented module expects its records.
    pub record_buffer: RecordBuffer,
    /// Which markers the module holds.
    pub presence: Presence,
    /// `untraced-branch` findings.
    pub untraced: Vec<Finding>,
    /// Branches and selects that the compiler made with no decision behind them (the closed list),
    /// as sentences.
    pub compiler_generated: Vec<String>,
}

/// The marked module does not have the form that the front end promises: a defect of the tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("instrumentation failed: {message}")]
pub struct InstrumentError {
    /// What is not as promised, in one sentence.
    pub message: String,
}

impl InstrumentError {
    pub(crate) fn caused_by(error: impl std::fmt::Display) -> Self {
        Self { message: error.to_string() }
    }
}

/// Why a module was not instrumented.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotInstrumented {
    /// The marked module has another form than the front end promises.
    #[error(transparent)]
    Defect(#[from] InstrumentError),
    /// The record mode that was asked for does not fit module or device.
    #[error(transparent)]
    Refused(#[from] RefusedMode),
}

impl From<NotInstrumented> for InstrumentError {
    fn from(error: NotInstrumented) -> Self {
        match error {
            NotInstrumented::Defect(defect) => defect,
            NotInstrumented::Refused(refused) => Self { message: refused.to_string() },
        }
    }
}

/// Erases markers, inserts records in the mode that fits the module, checks that every branch
/// traces to a marker. The modules made are validated by the rules of the oldest environment that
/// takes their SPIR-V version.
pub fn instrument(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    entry_name: &str,
) -> Result<Instrumented, InstrumentError> {
    instrument_as(kernel_structure, marked_module, entry_name, &RecordRequest::default())
        .map_err(InstrumentError::from)
}

/// The same with a record mode, witnesses or a device in view.
pub fn instrument_as(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    entry_name: &str,
    record_request: &RecordRequest,
) -> Result<Instrumented, NotInstrumented> {
    instrument_in(
        kernel_structure,
        marked_module,
        entry_name,
        record_request,
        TargetEnv::for_version(&[0, marked_module.header.version]),
    )
}

/// As [`instrument_as`], by the rules of `environment`.
pub fn instrument_in(
    kernel_structure: &KernelStructure,
    marked_module: &Module,
    entry_name: &str,
    record_request: &RecordRequest,
    environment: TargetEnv,
) -> Result<Instrumented, NotInstrumented> {
    let types = Types::of_module(marked_module);
    let constants = Constants::evaluate(marked_module, &types, &BTreeMap::new())
        .map_err(InstrumentError::caused_by)?;
    let entry_name =
        compute_entry(marked_module, entry_name).map_err(InstrumentError::caused_by)?.function;
    let marker_calls = MarkerCalls::find_all(kernel_structure, marked_module, &constants)?;
    let presence = resolve::resolve_markers(
        kernel_structure,
        marked_module,
        &marker_calls,
        (&types, &constants),
        entry_name,
    );
    let layout = vkcert_coverage::layout::record_layout(kernel_structure, &presence);
    let traced = erase::erase_markers(marked_module, &marker_calls);
    let recorded =
        record::record_coverage(marked_module, &marker_calls, &layout, entry_name, record_request)?;
    // The validator takes longer than everything else here, so both modules are in its hands at
    // once.
    let (traced_check, instrumented_check) = rayon::join(
        || check_module("traced", &traced, environment),
        || check_module("instrumented", &recorded.words, environment),
    );
    instrumented_check.and(traced_check)?;
    check_stripped(&traced, &recorded)?;
    let trace = trace::trace_branches(
        kernel_structure,
        marked_module,
        &marker_calls,
        &constants,
        entry_name,
    );
    let markers = MarkerTable {
        value_function: marker_calls.value_function,
        mark_function: marker_calls.mark_function,
        roles: kernel_structure.markers.clone(),
        layout,
    };
    Ok(Instrumented {
        traced,
        instrumented: recorded.words,
        markers,
        record_buffer: recorded.buffer,
        presence,
        untraced: trace.untraced,
        compiler_generated: trace.compiler_generated,
    })
}

fn check_module(
    module_kind: &str,
    module_words: &[u32],
    target_env: TargetEnv,
) -> Result<(), InstrumentError> {
    validate(module_words, target_env).map_err(|error| InstrumentError {
        message: format!("the {module_kind} module is {error}"),
    })
}

/// The records must be all that instrumentation has added. One module less is held at a time than
/// there are.
fn check_stripped(traced: &[u32], recorded: &RecordedModule) -> Result<(), InstrumentError> {
    let traced_bound = traced.get(3).copied().unwrap_or(0);
    let stripped_words =
        strip_records(&parse_module(recorded.words.clone())?, traced_bound, &recorded.capabilities);
    if normalised_equal(&parse_module(stripped_words)?, &parse_module(traced.to_vec())?) {
        Ok(())
    } else {
        Err(InstrumentError {
            message: "stripping the records does not give the traced module back".to_owned(),
        })
    }
}

fn parse_module(words: Vec<u32>) -> Result<Module, InstrumentError> {
    Module::parse(words).map_err(InstrumentError::caused_by)
}
