//! Specialization constants: ids and values that the host sets against those that the kernel has.
//!
//! Knows: the constants of both sides, and what sizes the kernel has under other values.
//! Promises: a value that does not fit its type is refuted; a constant of no one value that sizes
//! depend on is undetermined.
//! Does not cover: what the kernel computes under a value.

use super::HostChecks;
use crate::rows::{CheckRows, values_in_words};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::specialized_values;
use vkcert_spirv::interface::{Reflection, SpecializationConstant};

impl HostChecks<'_> {
    /// Whether a constant changes the local size, or the size of anything that the host binds. Two
    /// other values are tried.
    fn sizes_depend_on(&self, constant: &SpecializationConstant) -> bool {
        let sizes_under = |value: u64| {
            let set_values = BTreeMap::from([(constant.spec_id, value)]);
            let specialized_kernel = Reflection::of_entry_point(
                self.input.module,
                &self.reflection().entry,
                &set_values,
            )
            .ok()?;
            Some((
                specialized_kernel.local_size,
                specialized_kernel.resources,
                specialized_kernel.push_constants,
                specialized_kernel.workgroup,
            ))
        };
        let default_sizes = sizes_under(constant.default);
        [constant.default ^ 1, constant.default ^ 8]
            .into_iter()
            .any(|value| sizes_under(value) != default_sizes)
    }

    pub(crate) fn check_specialization(&self, rows: &mut CheckRows) {
        let declared_constants = &self.reflection().specialization;
        let mut given_ids = BTreeSet::new();
        let varying_ids: BTreeSet<u32> = specialized_values(self.input.interface)
            .into_iter()
            .filter(|(_, value)| value.is_none())
            .map(|(constant_id, _)| constant_id)
            .collect();
        for (constant, value) in
            self.input.interface.specialization.iter().zip(&self.expressions.specialization)
        {
            let constant_id = constant.id;
            rows.begin_subject(format!("constant {constant_id}"));
            let Some(declared_constant) = declared_constants
                .iter()
                .find(|declared_constant| declared_constant.spec_id == constant_id)
            else {
                rows.add_refuted(
                    CouplingCheckName::SpecializationIds,
                    format!(
                        "the host sets specialization constant {constant_id}; the kernel has none"
                    ),
                    None,
                );
                continue;
            };
            if !given_ids.insert(constant_id) {
                rows.add_refuted(
                    CouplingCheckName::SpecializationIds,
                    format!("the host sets specialization constant {constant_id} twice"),
                    None,
                );
            }
            let (lowest, highest) =
                specialization_range(&declared_constant.type_name, declared_constant.width);
            let proof_result = self.host.decide_for_all(&[value], &|host_case| {
                (lowest..=highest).contains(&self.evaluated_value(value, host_case))
            });
            let claim = format!(
                "specialization constant {constant_id} ({}) takes {}",
                declared_constant.type_name, constant.value
            );
            rows.add_answer(
                CouplingCheckName::SpecializationIds,
                proof_result,
                &claim,
                |refuting_values| {
                    format!(
                        "specialization constant {constant_id} is a {}, and {} does not fit ({})",
                        declared_constant.type_name,
                        constant.value,
                        values_in_words(refuting_values)
                    )
                },
            );
            if varying_ids.contains(&constant_id) && self.sizes_depend_on(declared_constant) {
                let sizes_sentence =
                    "sizes were taken from the kernel's default, and nothing is shown of others";
                let message = format!(
                    "specialization constant {constant_id} takes {}, no one value: {sizes_sentence}",
                    constant.value
                );
                rows.add_undetermined(CouplingCheckName::SpecializationIds, message);
            }
        }
        let defaulted_constants: Vec<String> = declared_constants
            .iter()
            .filter(|declared_constant| !given_ids.contains(&declared_constant.spec_id))
            .map(|declared_constant| {
                format!(
                    "{} keeps its default {}",
                    declared_constant.spec_id, declared_constant.default
                )
            })
            .collect();
        if !defaulted_constants.is_empty() {
            rows.add_holding(
                CouplingCheckName::SpecializationIds,
                format!("not set by the host: {}", defaulted_constants.join(", ")),
            );
        }
    }
}

fn specialization_range(type_name: &str, width: u32) -> (i128, i128) {
    match type_name {
        "bool" => (0, 1),
        name if name.starts_with("int") => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, (1i128 << width) - 1),
    }
}
