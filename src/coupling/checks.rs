//! The coupling checks: does what the host does fit what the kernel is?
//!
//! Knows: the interface, the kernel's reflection, the uniformity of its barriers, the tests' uses,
//! a device's limits.
//! Promises: each check that can be asked is answered by at least one row, `holds`, `refuted` or
//! `undetermined`.
//! Does not cover: what the kernel reads and writes for which sizes (the engines' out-of-bounds
//! check does, per test); push constants (`layout`) and images (`images`).

mod buffers;
mod dispatch;
mod limits;
mod overflow;
mod specialization;

pub(super) use buffers::is_buffer;

use super::expressions::Expressions;
use super::rows::Rows;
use super::{BarrierControl, CouplingInput};
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, HostModel};
use vkcert_requirement::host::expression::{self as host, DivisionRounding, HostExpression};
use vkcert_spirv::interface::Reflection;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Everything that the checks read.
pub(super) struct Subject<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a Expressions,
}

impl Subject<'_> {
    fn reflection(&self) -> &Reflection {
        self.input.reflection
    }

    fn value(&self, expression: &HostExpression, case: &EvaluatedCase) -> i128 {
        expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut Vec::new()).value
    }

    /// What `vkCmdDispatch` is given: a `uint32_t`.
    fn groups(&self, axis: usize, case: &EvaluatedCase) -> i128 {
        host::wrap_to_type(self.value(&self.expressions.groups[axis], case), HostType::Uint32)
    }

    fn text(&self, axis: usize) -> &str {
        &self.input.interface.groups[axis]
    }

    pub(crate) fn local_size(&self, rows: &mut Rows) {
        rows.about_all();
        let actual = self.reflection().local_size;
        match self.input.interface.local_size {
            None => rows.undetermined(
                "local-size-match",
                "the interface does not state the local size that the host assumes",
            ),
            Some(assumed) if assumed == actual => {
                rows.holds(
                    "local-size-match",
                    format!("host and kernel agree on {}", size(actual)),
                );
            }
            Some(assumed) => rows.refuted(
                "local-size-match",
                format!(
                    "the host assumes a local size of {}, the kernel has {}",
                    size(assumed),
                    size(actual)
                ),
                None,
            ),
        }
    }

    pub(crate) fn barriers(&self, rows: &mut Rows) {
        let barriers = self.input.barriers;
        if barriers.is_empty() {
            rows.holds("uniform-barrier", "the kernel has no barrier");
        }
        for (index, barrier) in barriers.iter().enumerate() {
            rows.about(format!("barrier {}", index + 1));
            match &barrier.control {
                BarrierControl::Uniform => {
                    rows.holds("uniform-barrier", format!("the barrier at {} is reached by all invocations of a workgroup alike", barrier.place));
                }
                BarrierControl::Divergent { branch, reason } => rows.refuted_at(
                    "uniform-barrier",
                    format!(
                        "the barrier at {} stands under the branch at {branch}, which invocations of one workgroup can take differently: {reason}",
                        barrier.place
                    ),
                    None,
                    Some(barrier.place.clone()),
                    Some(branch.clone()),
                ),
                BarrierControl::Unknown { reason } => {
                    rows.undetermined("uniform-barrier", format!("the barrier at {}: {reason}", barrier.place));
                }
            }
        }
    }
}

fn size(local: [u32; 3]) -> String {
    format!("{} x {} x {}", local[0], local[1], local[2])
}
