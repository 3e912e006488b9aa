//! Specialization constants: ids and values that the host sets against those that the kernel has.
//!
//! Knows: the constants of both sides, and which of them sizes of the kernel depend on (`varying`).
//! Promises: a value that does not fit its type is refuted; a constant of no one value that sizes
//! depend on is undetermined.
//! Does not cover: what the kernel computes under a value.

use super::HostChecks;
use crate::constants::{bits_in_words, constant_bits, scalar_of};
use crate::rows::{CheckRows, values_in_words};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::decide::ProofResult;
use vkcert_requirement::host::expression::HostExpression;
use vkcert_requirement::host::{HostConstant, decimal_number};
use vkcert_spirv::interface::SpecializationConstant;

impl HostChecks<'_> {
    /// Whether a constant can hold all values of an expression.
    fn decide_fit(
        &self,
        expression: &HostExpression,
        constant: &SpecializationConstant,
    ) -> ProofResult {
        let Some((lowest, highest)) = scalar_of(constant).map(integers_of) else {
            let reason = format!("values of the type `{}` are not modelled", constant.type_name);
            return ProofResult::Open(reason);
        };
        self.host.decide_for_all(&[expression], &|host_case| {
            (lowest..=highest).contains(&self.evaluated_value(expression, host_case))
        })
    }

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
            let proof_result = match value {
                Some(expression) => self.decide_fit(expression, declared_constant),
                None => decimal_fit(&constant.value, declared_constant),
            };
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
                    declared_constant.spec_id,
                    bits_in_words(declared_constant, declared_constant.default)
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

/// Whether a constant can hold a decimal number.
fn decimal_fit(text: &str, constant: &SpecializationConstant) -> ProofResult {
    let number = decimal_number(text).map(HostConstant::Real);
    match number.and_then(|number| constant_bits(constant, number)) {
        Some(_) => ProofResult::Proved,
        None => ProofResult::Refuted(BTreeMap::new()),
    }
}

/// The least and the greatest integer that a type can hold; of floats the ones that do not round
/// to infinity.
fn integers_of(scalar: ScalarType) -> (i128, i128) {
    const LARGEST_HALF: i128 = 65_519;
    match scalar.class() {
        ScalarClass::Bool => (0, 1),
        ScalarClass::Signed | ScalarClass::Unsigned => {
            scalar.integer_range().expect("an integer type has a range")
        }
        ScalarClass::Float if scalar == ScalarType::Float16 => (-LARGEST_HALF, LARGEST_HALF),
        // A host expression has 64 bits.
        ScalarClass::Float => (i128::MIN, i128::MAX),
    }
}
