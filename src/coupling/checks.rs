//! The coupling checks: does what the host does fit what the kernel is?
//!
//! Knows: the interface, the kernel's reflection, the tests' uses, a device's limits.
//! Promises: each check that can be asked is answered by at least one row, `holds`, `refuted` or
//! `undetermined`.
//! Does not cover: what the kernel reads and writes for which sizes (the engines' out-of-bounds
//! check does, per test); push constants (`layout`), images (`images`) and barriers (`barriers`).

mod buffers;
mod dispatch;
mod images;
mod limits;
mod overflow;
mod pipeline;
mod pipeline_constants;
mod pipeline_layout;
mod specialization;
mod tested_size;
mod varying;

pub(super) use buffers::is_buffer;
pub(super) use images::{departing_name, tested_numbers};
pub(super) use varying::VaryingSizes;

use super::CouplingInput;
use super::expressions::HostExpressions;
use super::rows::CheckRows;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel};
use vkcert_requirement::host::expression::{self as host, DivisionRounding, HostExpression};
use vkcert_spirv::interface::Reflection;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Everything that the checks read.
pub(super) struct HostChecks<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a HostExpressions,
    pub varying: VaryingSizes<'a>,
}

impl HostChecks<'_> {
    fn reflection(&self) -> &Reflection {
        self.input.reflection
    }

    fn evaluated_value(&self, expression: &HostExpression, host_case: &EvaluatedCase) -> i128 {
        expression.evaluate(&host_case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
    }

    /// What `vkCmdDispatch` is given: a `uint32_t`.
    fn dispatched_groups(&self, axis: usize, host_case: &EvaluatedCase) -> i128 {
        host::wrap_to_type(
            self.evaluated_value(&self.expressions.groups[axis], host_case),
            HostType::Uint32,
        )
    }

    fn group_count_text(&self, axis: usize) -> &str {
        &self.input.interface.groups[axis]
    }

    pub(crate) fn check_local_size(&self, rows: &mut CheckRows) {
        rows.end_subject();
        let kernel_size = self.reflection().local_size;
        let size_constants = self.varying.sizes.local_size.iter().flatten();
        if let Some(constants) = self.varying.in_words(size_constants) {
            let message = format!("the kernel's local size depends on {constants}");
            return rows.add_undetermined(CouplingCheckName::LocalSizeMatch, message);
        }
        match self.input.interface.local_size {
            None => rows.add_undetermined(
                CouplingCheckName::LocalSizeMatch,
                "the interface does not state the local size that the host assumes",
            ),
            Some(assumed_size) if assumed_size == kernel_size => {
                rows.add_holding(
                    CouplingCheckName::LocalSizeMatch,
                    format!("host and kernel agree on {}", size_words(kernel_size)),
                );
            }
            Some(assumed_size) => rows.add_refuted(
                CouplingCheckName::LocalSizeMatch,
                format!(
                    "the host assumes a local size of {}, the kernel has {}",
                    size_words(assumed_size),
                    size_words(kernel_size)
                ),
                None,
            ),
        }
    }
}

fn size_words(local_size: [u32; 3]) -> String {
    format!("{} x {} x {}", local_size[0], local_size[1], local_size[2])
}
