//! Proofs that a test contradicts.
//!
//! Knows: what the sequential engine found out of bounds in the tests, and what they dispatch.
//! Promises: an access that is found out of bounds in a test within what the interface states is
//! left open with the name of the test, whatever the analysis proves of it.
//! Does not cover: which of both is wrong; tests beyond what the interface states.

use super::super::checks::{departing_name, tested_numbers};
use super::super::expressions::HostExpressions;
use super::super::rows::values_in_words;
use super::super::{CouplingInput, TestUse};
use super::told_offsets;
use std::collections::BTreeMap;
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel};
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression};
use vkcert_spirv::range::{AccessOutcome, JudgedAccess};

/// Leaves open what a test contradicts.
pub(super) fn open_contradicted(
    accesses: &mut [JudgedAccess],
    (input, host, expressions): (&CouplingInput<'_>, &HostModel, &HostExpressions),
    specialization: &BTreeMap<u32, u64>,
) {
    let stated = StatedHost { input, host, expressions, specialization };
    for test in input.tests.iter().filter(|test| !test.out_of_bounds.is_empty()) {
        if !stated.holds_in(test) {
            continue;
        }
        for access in accesses.iter_mut() {
            let offsets = told_offsets(input.module, access.instruction);
            let mut messages = offsets.iter().filter_map(|offset| test.out_of_bounds.get(offset));
            let Some(message) = messages.next() else { continue };
            match access.outcome {
                AccessOutcome::Within | AccessOutcome::Unreached => {
                    let reason = contradiction_words(test, message);
                    access.outcome = AccessOutcome::Open { reason, is_of_host_and_ids: false };
                }
                AccessOutcome::Open { .. } => {}
            }
        }
    }
}

fn contradiction_words(test: &TestUse, message: &str) -> String {
    let values = match test.told.is_empty() {
        true => String::new(),
        false => format!(" {}", values_in_words(&test.told)),
    };
    format!(
        "the analysis proves it, but {} finds it out of bounds{values} ({message}), so that one of both is wrong",
        test.name
    )
}

/// What the interface states of a dispatch.
struct StatedHost<'a> {
    input: &'a CouplingInput<'a>,
    host: &'a HostModel,
    expressions: &'a HostExpressions,
    specialization: &'a BTreeMap<u32, u64>,
}

impl StatedHost<'_> {
    /// Whether nothing that is known of a test is beyond what the interface states. Sizes and
    /// groups can be compared only where all parameters are known.
    fn holds_in(&self, test: &TestUse) -> bool {
        let parameters = &self.input.interface.parameters;
        let told = self.host.told_parameters(&test.told);
        let are_in_range = parameters.iter().all(|parameter| {
            let value = told.get(&parameter.name);
            value.is_none_or(|value| (parameter.min..=parameter.max).contains(value))
        });
        let are_known = parameters.iter().all(|parameter| told.contains_key(&parameter.name));
        let is_specialized_alike = self
            .specialization
            .iter()
            .all(|(id, value)| test.specialization.get(id).is_none_or(|of_test| of_test == value));
        are_in_range
            && is_specialized_alike
            && departing_name(self.input, self.host, self.expressions, test).is_none()
            && (!are_known || self.has_stated_sizes(test))
    }

    /// Whether a test dispatches no more workgroups and binds no less bytes and texels than the host.
    fn has_stated_sizes(&self, test: &TestUse) -> bool {
        let case = self.host.named_case(&self.host.told_parameters(&test.told));
        let groups = self.expressions.groups.iter().zip(test.groups);
        let buffers = self.input.interface.buffers.iter().zip(&self.expressions.buffers);
        groups.into_iter().all(|(stated, count)| i128::from(count) <= value(stated, &case))
            && buffers.into_iter().all(|(buffer, size)| {
                let bound = test.buffers.get(&(buffer.set, buffer.binding));
                bound.is_none_or(|bound| i128::from(bound.bound) >= value(size, &case))
            })
            && self.has_stated_images(test, &case)
    }

    fn has_stated_images(&self, test: &TestUse, case: &EvaluatedCase) -> bool {
        let images = self.input.interface.images.iter().zip(&self.expressions.images);
        images.into_iter().all(|(image, extent)| {
            let bound = test.images.get(&(image.set, image.binding));
            let (Some(extent), Some(bound)) = (extent, bound) else { return true };
            tested_numbers(extent, bound)
                .into_iter()
                .all(|(stated, number)| i128::from(number) >= value(stated, case))
        })
    }
}

fn value(expression: &HostExpression, case: &EvaluatedCase) -> i128 {
    expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
}
