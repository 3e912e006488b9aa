//! Whether the group counts cover the domain.
//!
//! Knows: group counts, domain and local size by axis.
//! Promises: a row by axis for covering and one for divisions that drop a partial workgroup.
//! Does not cover: what the invocations beyond the domain do.

use super::{AXES, Subject};
use crate::cover::covers_by_form;
use crate::rows::{Rows, printed};
use vkcert_requirement::host::decide::{EvaluatedCase, ProofResult};
use vkcert_requirement::host::expression::{DivisionRounding, HostExpression};

impl Subject<'_> {
    pub(crate) fn dispatch(&self, rows: &mut Rows) {
        let Some(domain) = &self.expressions.domain else {
            for check in ["dispatch-covers-domain", "dispatch-not-truncated"] {
                rows.undetermined(check, "the interface states no domain");
            }
            return;
        };
        for (axis, name) in AXES.iter().enumerate() {
            rows.about(*name);
            let (groups, wanted) = (&self.expressions.groups[axis], &domain[axis]);
            let local = i128::from(self.reflection().local_size[axis]);
            let texts = (
                self.text(axis),
                &self.input.interface.domain.as_ref().expect("checked above")[axis],
            );
            let answer = if covers_by_form(self.host, groups, wanted, local) {
                ProofResult::Proved
            } else {
                let covers = |case: &EvaluatedCase| {
                    self.groups(axis, case) * local >= self.value(wanted, case)
                };
                self.host.decide_for_all(&[groups, wanted], &covers)
            };
            // What covers the domain drops nothing of it.
            let truncated = if answer == ProofResult::Proved {
                ProofResult::Proved
            } else {
                self.truncation(axis, wanted)
            };
            let claim = format!(
                "in {name}, a group count of {} and a local size of {local} cover {}",
                texts.0, texts.1
            );
            rows.answer("dispatch-covers-domain", answer, &claim, |values| {
                let case = self.host.named_case(values);
                let count = self.groups(axis, &case);
                let stated = match texts.0.trim() == count.to_string() {
                    true => count.to_string(),
                    false => format!("{} = {count}", texts.0),
                };
                format!(
                    "in {name}, a group count of {stated} times the local size {local} is {}, but the domain {} is {} ({})",
                    count * local,
                    texts.1,
                    self.value(wanted, &case),
                    printed(values)
                )
            });
            self.report_truncation(rows, axis, truncated);
        }
    }

    /// What the group count would be if divisions rounded up.
    fn rounded_up(&self, axis: usize, case: &EvaluatedCase) -> i128 {
        let rounded = self.host.rounded_up(case);
        self.expressions.groups[axis]
            .evaluate(&rounded.scope, DivisionRounding::RoundUp, &mut Vec::new())
            .value
    }

    /// A division drops a partial group if rounding it up would cover the domain, and it as it is
    /// does not.
    fn truncation(&self, axis: usize, wanted: &HostExpression) -> ProofResult {
        let groups = &self.expressions.groups[axis];
        let local = i128::from(self.reflection().local_size[axis]);
        self.host.decide_for_all(&[groups, wanted], &|case| {
            let domain = self.value(wanted, case);
            let short = self.value(groups, case) * local < domain;
            !(short && self.rounded_up(axis, case) * local >= domain)
        })
    }

    fn report_truncation(&self, rows: &mut Rows, axis: usize, answer: ProofResult) {
        let name = AXES[axis];
        let claim =
            format!("in {name}, no division in {} drops a partial workgroup", self.text(axis));
        rows.answer("dispatch-not-truncated", answer, &claim, |values| {
            let case = self.host.named_case(values);
            format!(
                "in {name}, the integer division in {} drops a partial workgroup: {} instead of {} ({})",
                self.text(axis),
                self.value(&self.expressions.groups[axis], &case),
                self.rounded_up(axis, &case),
                printed(values)
            )
        });
    }
}
