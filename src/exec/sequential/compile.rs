//! From a SPIR-V module to a program that the machine runs: decoding, then the passes.

use super::decode::{DispatchFacts, Unsupported, decode_kernel};
use super::ir::Program;
use crate::passes;
use std::collections::BTreeMap;
use vkcert_model::records::MarkerTable;
use vkcert_spirv::module::Module;

/// Compiles the entry point `entry` under a specialization.
pub(crate) fn compile(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    markers: Option<&MarkerTable>,
    known: &DispatchFacts,
) -> Result<Program, Unsupported> {
    let mut program = decode_kernel(module, entry, specialization, markers, known)?;
    passes::run_passes(&mut program, known);
    Ok(program)
}
