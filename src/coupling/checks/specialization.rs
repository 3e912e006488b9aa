//! Specialization constants: ids and values that the host sets against those that the kernel has.
//!
//! Knows: the constants of both sides, and which of them sizes of the kernel depend on (`varying`).
//! Promises: a value that does not fit its type is refuted; a constant of no one value that sizes
//! depend on is undetermined.
//! Does not cover: what the kernel computes under a value.

use super::HostChecks;
use crate::rows::{CheckRows, values_in_words};
use std::collections::BTreeSet;
use vkcert_model::evidence::CouplingCheckName;

impl HostChecks<'_> {
    pub(crate) fn check_specialization(&self, rows: &mut CheckRows) {
        let declared_constants = &self.reflection().specialization;
        let mut given_ids = BTreeSet::new();
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
            if self.varying.depend_on(constant_id) {
                let message = format!(
                    "specialization constant {constant_id} takes {}, no one value, and sizes of the kernel depend on it",
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
