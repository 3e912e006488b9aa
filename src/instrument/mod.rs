//! Coverage records in SPIR-V (stub).

use crate::model::finding::Finding;
use crate::model::records::{MarkerTable, Presence, RecordBuffer};
use crate::model::structure::KernelStructure;
use crate::spirv::module::Module;

/// The modules derived from a marked one.
#[derive(Debug, Clone)]
pub struct Instrumented {
    /// The marked module with its markers erased.
    pub traced: Vec<u32>,
    /// Traced plus records.
    pub instrumented: Vec<u32>,
    /// For the sequential engine, which runs the marked module.
    pub markers: MarkerTable,
    pub record_buffer: RecordBuffer,
    pub presence: Presence,
    /// `untraced-branch` findings.
    pub untraced: Vec<Finding>,
    /// Branches and selects that the compiler made with no decision behind them (the closed list), as sentences.
    pub compiler_generated: Vec<String>,
}

/// The marked module does not have the form that the front end promises: a defect of the tool.
#[derive(Debug, Clone, thiserror::Error)]
#[error("instrumentation failed: {message}")]
pub struct InstrumentError {
    pub message: String,
}

/// Erases markers, inserts records, checks that every branch traces to a marker.
pub fn instrument(
    _structure: &KernelStructure,
    _marked: &Module,
    _entry: &str,
) -> Result<Instrumented, InstrumentError> {
    unimplemented!("instrument")
}
