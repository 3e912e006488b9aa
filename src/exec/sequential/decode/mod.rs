//! From a SPIR-V module to a register program.
//!
//! Knows: blocks, calls, phis, loops; the instructions themselves are the table in `ops`.
//! Promises: functions are inlined, so a block belongs to one call path; a loop that encloses a
//! barrier counts its iterations, which gives the barrier its dynamic instance. Whatever has no row
//! in the table is [`Unsupported`] by name.
//! Does not cover: pointers that are not known here (`ops::pointer`, `ops::variable_pointer`).

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
use float_controls::Floats;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use unsupported::unsupported;
use vkcert_model::records::MarkerTable;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::module::Module;
use vkcert_spirv::precision::ImplementationFreedom;
use vkcert_spirv::types::Types;

pub(crate) use barriers::functions_with_barrier;
pub(crate) use known::{Checked, Known};
pub use unsupported::Unsupported;

/// Decodes the entry point `entry` under a specialization.
pub(crate) fn decode(
    module: &Module,
    entry: &str,
    specialization: &BTreeMap<u32, u64>,
    markers: Option<&MarkerTable>,
    known: &Known,
) -> Result<Program, Unsupported> {
    let entry = module
        .entry_point(entry)
        .ok_or_else(|| unsupported(format!("entry point `{entry}` (not found)")))?;
    if entry.model != rspirv::spirv::ExecutionModel::GLCompute {
        return Err(unsupported(format!("execution model {:?}", entry.model)));
    }
    check_declarations(module)?;
    let mut types = Types::of_module(module);
    let constants = Constants::evaluate(module, &types, specialization)
        .map_err(|error| unsupported(error.to_string()))?;
    let subgroup_size =
        known.subgroup_size.unwrap_or(super::settings::Settings::default().subgroup_size);
    ops::cooperative_matrix::share(&mut types, &constants, subgroup_size)?;
    let mut decoder = Decoder::new(module, types, constants, markers);
    decoder.program.local_size = decoder.local_size(entry.function)?;
    check_local_size(decoder.program.local_size)?;
    decoder.subgroup_size = subgroup_size;
    decoder.floats = Floats::of(module, entry.function);
    decoder.bound = known.bound.clone();
    if let Some(variation) = known.variation {
        decoder.program.freedom = ImplementationFreedom::of_entry_point(module, entry.function);
        decoder.expansion = variation.expansion;
    }
    let start = decoder.new_label();
    decoder.inline(start, entry.function, Vec::new(), None, Arc::new([]))?;
    decoder.complete(known)
}

impl<'a> Decoder<'a> {
    /// Resolves labels.
    fn complete(mut self, known: &Known) -> Result<Program, Unsupported> {
        let positions: HashMap<u32, u32> =
            self.emitted.iter().enumerate().map(|(at, label)| (*label, at as u32)).collect();
        let resolve = |label: &mut u32| match positions.get(label) {
            Some(at) => {
                *label = *at;
                Ok(())
            }
            None => Err(unsupported("a branch to a block that was not decoded")),
        };
        for block in &mut self.program.blocks {
            match &mut block.terminator {
                Terminator::Jump { to } | Terminator::Barrier { to, barrier: _ } => resolve(to)?,
                Terminator::Branch { yes, no, condition: _ } => {
                    resolve(yes)?;
                    resolve(no)?;
                }
                Terminator::Switch { cases, default, selector: _ } => {
                    let mut all = cases.to_vec();
                    all.iter_mut().try_for_each(|(_, to)| resolve(to))?;
                    *cases = all.into();
                    resolve(default)?;
                }
                Terminator::End | Terminator::Unreachable => {}
            }
        }
        for object in &self.program.objects {
            if let AccessRoot::Descriptor(index) = object.root {
                self.written.extend((self.pointed >= Addressing::Writes).then_some(index));
                self.atomics.extend((self.pointed == Addressing::Atomics).then_some(index));
            }
        }
        for (index, descriptor) in self.program.descriptors.iter_mut().enumerate() {
            descriptor.written = self.written.contains(&(index as u32));
            descriptor.atomics = self.atomics.contains(&(index as u32));
        }
        self.program.uniforms = self.uniforms.into_iter().collect();
        self.program.uniform_masks = self.uniform_masks.into_iter().collect();
        self.program.per_lane = self.per_lane.into_iter().collect();
        self.program.zeroed = self.sums.into_values().collect();
        ordering_need::choose(
            &mut self.program,
            self.module,
            (&self.types, &self.constants),
            known.memory_model,
        );
        Ok(self.program)
    }
}
