//! From a SPIR-V module to a register program.
//!
//! Knows: blocks, calls, phis, loops; the instructions themselves are the table in `ops`.
//! Promises: functions are inlined, so a block belongs to one call path; a loop that encloses a
//! barrier counts its iterations, which gives the barrier its dynamic instance. Whatever has no row
//! in the table is [`Unsupported`] by name.
//! Does not cover: pointers that are known only at run time (`ops::pointer`,
//! `ops::variable_pointer`).

pub(crate) mod access_facts;
mod barriers;
pub(crate) mod block_order;
mod declarations;
mod decoder;
mod edges;
mod float_controls;
mod inlining;
mod known;
pub(crate) mod layout;
pub(crate) mod ops;
mod ordering_need;
pub(crate) mod source_text;
pub mod support;
mod unsupported;
mod value;
mod values;
mod variables;

use super::ir::*;
use declarations::{check_declarations, check_local_size};
use decoder::Decoder;
use float_controls::FloatTreatment;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use unsupported::unsupported;
use vkcert_model::records::MarkerTable;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Module;
use vkcert_spirv::precision::ImplementationFreedom;
use vkcert_spirv::types::Types;

pub(crate) use barriers::functions_with_barrier;
pub(crate) use known::{DefinednessCheck, DispatchFacts};
pub use unsupported::Unsupported;

/// Decodes the entry point `entry` under a specialization.
pub(crate) fn decode_kernel(
    module: &Module,
    entry_point: &str,
    specialization: &BTreeMap<u32, u64>,
    markers: Option<&MarkerTable>,
    dispatch_facts: &DispatchFacts,
) -> Result<Program, Unsupported> {
    let entry_point = module
        .entry_point(entry_point)
        .ok_or_else(|| unsupported(format!("entry point `{entry_point}` (not found)")))?;
    if entry_point.model != rspirv::spirv::ExecutionModel::GLCompute {
        return Err(unsupported(format!("execution model {:?}", entry_point.model)));
    }
    check_declarations(module)?;
    let mut types = Types::of_module(module);
    let constants = Constants::evaluate(module, &types, specialization)
        .map_err(|error| unsupported(error.to_string()))?;
    let subgroup_size =
        dispatch_facts.subgroup_size.unwrap_or(super::settings::Settings::default().subgroup_size);
    ops::cooperative_matrix::set_matrix_shares(&mut types, &constants, subgroup_size)?;
    let mut decoder = Decoder::new(module, types, constants, markers);
    decoder.program.local_size = decoder.local_size(entry_point.function)?;
    check_local_size(decoder.program.local_size)?;
    decoder.subgroup_size = subgroup_size;
    decoder.float_treatment = FloatTreatment::for_entry_point(module, entry_point.function);
    decoder.bound_lengths = Some(&dispatch_facts.bound_lengths);
    if let Some(variation) = dispatch_facts.variation {
        decoder.program.freedom =
            ImplementationFreedom::of_entry_point(module, entry_point.function);
        decoder.expansion = variation.expansion;
    }
    let start_label = decoder.new_label();
    decoder.inline_function(start_label, entry_point.function, Vec::new(), None, Arc::new([]))?;
    decoder.into_program(dispatch_facts)
}

impl<'a> Decoder<'a> {
    /// Resolves labels to block indices and completes the program.
    fn into_program(mut self, dispatch_facts: &DispatchFacts) -> Result<Program, Unsupported> {
        let positions: FxHashMap<u32, u32> = self
            .emitted_labels
            .iter()
            .enumerate()
            .map(|(position, label)| (*label, position as u32))
            .collect();
        let resolve_label = |label: &mut u32| match positions.get(label) {
            Some(position) => {
                *label = *position;
                Ok(())
            }
            None => Err(unsupported("a branch to a block that was not decoded")),
        };
        for block in &mut self.program.blocks {
            match &mut block.terminator {
                Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => {
                    resolve_label(to)?
                }
                Terminator::Branch { yes, no, condition: _ } => {
                    resolve_label(yes)?;
                    resolve_label(no)?;
                }
                Terminator::Switch { cases, default, selector: _ } => {
                    let mut resolved_cases = cases.to_vec();
                    resolved_cases.iter_mut().try_for_each(|(_, to)| resolve_label(to))?;
                    *cases = resolved_cases.into();
                    resolve_label(default)?;
                }
                Terminator::End | Terminator::Unreachable => {}
            }
        }
        for object in &self.program.objects {
            if let AccessRoot::Descriptor(index) = object.root {
                self.written_descriptors
                    .extend((self.pointer_use >= Addressing::Writes).then_some(index));
                self.atomic_descriptors
                    .extend((self.pointer_use == Addressing::Atomics).then_some(index));
            }
        }
        for (index, descriptor) in self.program.descriptors.iter_mut().enumerate() {
            descriptor.written = self.written_descriptors.contains(&(index as u32));
            descriptor.atomics = self.atomic_descriptors.contains(&(index as u32));
        }
        self.program.uniforms = self.uniforms.into_iter().collect();
        self.program.uniform_masks = self.uniform_masks.into_iter().collect();
        self.program.per_lane = self.per_lane.into_iter().collect();
        self.program.zeroed_words = self.sum_registers.into_values().collect();
        ordering_need::choose_order(
            &mut self.program,
            self.module,
            (&self.types, &self.constants),
            dispatch_facts.memory_model,
        );
        Ok(self.program)
    }
}
