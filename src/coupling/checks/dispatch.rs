//! Whether the group counts cover the domain.
//!
//! Knows: group counts, domain and local size by axis.
//! Promises: a row by axis for covering and one for divisions that drop a partial workgroup.
//! Does not cover: what the invocations beyond the domain do.

use super::{AXES, HostChecks};
use crate::cover::covers_by_form;
use crate::rows::{CheckRows, values_in_words};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::decide::{EvaluatedCase, ProofResult};
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression};

impl HostChecks<'_> {
    pub(crate) fn check_dispatch(&self, rows: &mut CheckRows) {
        let Some(domain) = &self.expressions.domain else {
            for check in
                [CouplingCheckName::DispatchCoversDomain, CouplingCheckName::DispatchNotTruncated]
            {
                rows.add_undetermined(check, "the interface states no domain");
            }
            return;
        };
        for (axis, axis_name) in AXES.iter().enumerate() {
            rows.begin_subject(*axis_name);
            if let Some(constants) = self.varying.in_words(&self.varying.sizes.local_size[axis]) {
                let message = format!("in {axis_name}, the local size depends on {constants}");
                rows.add_undetermined(CouplingCheckName::DispatchCoversDomain, message.as_str());
                rows.add_undetermined(CouplingCheckName::DispatchNotTruncated, message);
                continue;
            }
            let (groups, domain_size) = (&self.expressions.groups[axis], &domain[axis]);
            let local_size = i128::from(self.reflection().local_size[axis]);
            let texts = (
                self.group_count_text(axis),
                &self.input.interface.domain.as_ref().expect("checked above")[axis],
            );
            let cover_result = if covers_by_form(self.host, groups, domain_size, local_size) {
                ProofResult::Proved
            } else {
                let covers = |host_case: &EvaluatedCase| {
                    self.dispatched_groups(axis, host_case) * local_size
                        >= self.evaluated_value(domain_size, host_case)
                };
                self.host.decide_for_all(&[groups, domain_size], &covers)
            };
            // What covers the domain drops nothing of it.
            let truncation_result = if cover_result == ProofResult::Proved {
                ProofResult::Proved
            } else {
                self.truncation_proof(axis, domain_size)
            };
            let claim = format!(
                "in {axis_name}, a group count of {} and a local size of {local_size} cover {}",
                texts.0, texts.1
            );
            rows.add_answer(CouplingCheckName::DispatchCoversDomain, cover_result, &claim, |refuting_values| {
                let host_case = self.host.named_case(refuting_values);
                let group_count = self.dispatched_groups(axis, &host_case);
                let count_words = match texts.0.trim() == group_count.to_string() {
                    true => group_count.to_string(),
                    false => format!("{} = {group_count}", texts.0),
                };
                format!(
                    "in {axis_name}, a group count of {count_words} times the local size {local_size} is {}, but the domain {} is {} ({})",
                    group_count * local_size,
                    texts.1,
                    self.evaluated_value(domain_size, &host_case),
                    values_in_words(refuting_values)
                )
            });
            self.report_truncation(rows, axis, truncation_result);
        }
    }

    /// What the group count would be if divisions rounded up.
    fn rounded_up(&self, axis: usize, host_case: &EvaluatedCase) -> i128 {
        let rounded_case = self.host.rounded_up(host_case);
        self.expressions.groups[axis]
            .evaluate(&rounded_case.scope, DivisionRounding::RoundUp, &mut Vec::new())
            .value
    }

    /// A division drops a partial group if rounding it up would cover the domain, and it as it is
    /// does not.
    fn truncation_proof(&self, axis: usize, domain_size: &HostExpression) -> ProofResult {
        let groups = &self.expressions.groups[axis];
        let local_size = i128::from(self.reflection().local_size[axis]);
        self.host.decide_for_all(&[groups, domain_size], &|host_case| {
            let domain_value = self.evaluated_value(domain_size, host_case);
            let falls_short = self.evaluated_value(groups, host_case) * local_size < domain_value;
            !(falls_short && self.rounded_up(axis, host_case) * local_size >= domain_value)
        })
    }

    fn report_truncation(&self, rows: &mut CheckRows, axis: usize, proof_result: ProofResult) {
        let axis_name = AXES[axis];
        let claim = format!(
            "in {axis_name}, no division in {} drops a partial workgroup",
            self.group_count_text(axis)
        );
        rows.add_answer(CouplingCheckName::DispatchNotTruncated, proof_result, &claim, |refuting_values| {
            let host_case = self.host.named_case(refuting_values);
            format!(
                "in {axis_name}, the integer division in {} drops a partial workgroup: {} instead of {} ({})",
                self.group_count_text(axis),
                self.evaluated_value(&self.expressions.groups[axis], &host_case),
                self.rounded_up(axis, &host_case),
                values_in_words(refuting_values)
            )
        });
    }
}
