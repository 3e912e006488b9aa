//! From a SPIR-V module to a program that the machine runs: decoding, then the passes.

use super::decode::{Known, Unsupported, decode};
use super::ir::Program;
use crate::model::records::MarkerTable;
use crate::passes;
use crate::spirv::module::Module;
use std::collections::BTreeMap;

/// Compiles the entry point `entry` under a specialization.
pub fn compile(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    markers: Option<&MarkerTable>,
    known: &Known,
) -> Result<Program, Unsupported> {
    let mut program = decode(module, entry, specialization, markers, known)?;
    passes::run(&mut program, known);
    Ok(program)
}
