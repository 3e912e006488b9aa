//! Specialization constants that a pipeline of a Vulkan SC host sets.
//!
//! Knows: the constants that the kernel declares and the values that the interface states.
//! Promises: a row on each constant that the pipeline sets, and on each that only the interface
//! sets; values are compared bit by bit as the constant's type has them, so that -0.0 is not 0.0.
//! Does not cover: what the kernel computes under a value.

use super::HostChecks;
use crate::constants::{bits_in_words, constant_bits, number_in_words, scalar_of};
use crate::rows::CheckRows;
use std::collections::BTreeMap;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::OfflinePipeline;
use vkcert_requirement::host::{HostConstant, specialized_values};
use vkcert_spirv::interface::SpecializationConstant;

const CONSTANTS: CouplingCheckName = CouplingCheckName::PipelineSpecialization;

impl HostChecks<'_> {
    pub(super) fn check_pipeline_constants(
        &self,
        rows: &mut CheckRows,
        file: &str,
        pipeline: &OfflinePipeline,
    ) {
        let stated_values = specialized_values(self.input.interface);
        let declared: BTreeMap<u32, &SpecializationConstant> =
            self.reflection().specialization.iter().map(|row| (row.spec_id, row)).collect();
        for constant in &pipeline.constants {
            let id = constant.id;
            rows.begin_subject(format!("constant {id} of {file}"));
            let Some(declared_constant) = declared.get(&id) else {
                let message =
                    format!("{file} sets specialization constant {id}; the kernel has none");
                rows.add_refuted(CONSTANTS, message, None);
                continue;
            };
            let bytes = u64::from(declared_constant.width / 8);
            if constant.bytes.len() as u64 != bytes {
                let message = format!(
                    "{file} sets constant {id} by {} bytes, its type `{}` has {bytes}",
                    constant.bytes.len(),
                    declared_constant.type_name
                );
                rows.add_refuted(CONSTANTS, message, None);
                continue;
            }
            let bits =
                constant.bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            check_value(rows, file, declared_constant, bits, stated_values.get(&id));
        }
        for id in stated_values.keys().filter(|id| declared.contains_key(id)) {
            if pipeline.constants.iter().all(|constant| constant.id != *id) {
                rows.begin_subject(format!("constant {id} of {file}"));
                let message = format!(
                    "the interface sets specialization constant {id}, {file} leaves it at its default"
                );
                rows.add_refuted(CONSTANTS, message, None);
            }
        }
    }
}

/// A value that a pipeline sets against the one that the interface states.
fn check_value(
    rows: &mut CheckRows,
    file: &str,
    constant: &SpecializationConstant,
    bits: u64,
    stated_value: Option<&Option<HostConstant>>,
) {
    let id = constant.spec_id;
    let set_value = bits_in_words(constant, bits);
    match stated_value {
        None => {
            let message = format!(
                "{file} sets constant {id} to {set_value}, the interface states no value of it"
            );
            rows.add_refuted(CONSTANTS, message, None);
        }
        Some(None) => {
            let message = format!(
                "{file} sets constant {id} to {set_value}, the interface states no one value of it"
            );
            rows.add_undetermined(CONSTANTS, message);
        }
        Some(Some(_)) if scalar_of(constant).is_none() => {
            let message = format!(
                "{file} sets constant {id} to {set_value}; values of its type `{}` are not modelled",
                constant.type_name
            );
            rows.add_undetermined(CONSTANTS, message);
        }
        Some(Some(value)) if constant_bits(constant, *value) == Some(bits) => {
            let message =
                format!("{file} sets constant {id} to {set_value}, as the interface states");
            rows.add_holding(CONSTANTS, message);
        }
        Some(Some(value)) => {
            let message = format!(
                "{file} sets constant {id} to {set_value} ({bits:#x}), the interface states {}",
                number_in_words(*value)
            );
            rows.add_refuted(CONSTANTS, message, None);
        }
    }
}
