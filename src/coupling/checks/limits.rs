//! What the kernel and the dispatch need against a device's limits.
//!
//! Knows: the limits of a device, or those that every Vulkan device has.
//! Promises: what exceeds the guaranteed limits is undetermined without a device.
//! Does not cover: limits of descriptors and of buffer sizes.

use super::{AXES, Subject};
use crate::DeviceLimits;
use crate::rows::{Rows, printed};
use vkcert_requirement::host::decide::ProofResult;

impl Subject<'_> {
    pub(crate) fn limits(&self, rows: &mut Rows) {
        let guaranteed = DeviceLimits::GUARANTEED;
        let device = self.input.device;
        let mut fixed = |what: &str, value: u64, least: u64, here: Option<u64>| {
            rows.about(what);
            if value <= least {
                return rows.holds(
                    "device-limits",
                    format!("{what} {value} is within the {least} that every device has"),
                );
            }
            match here {
                Some(limit) if value <= limit => rows.holds(
                    "device-limits",
                    format!("{what} {value} is within this device's {limit}; a device need have only {least}"),
                ),
                Some(limit) => {
                    rows.refuted("device-limits", format!("{what} {value} exceeds this device's {limit}"), None)
                }
                None => rows.undetermined(
                    "device-limits",
                    format!("{what} {value} is more than the {least} that every device has; it depends on the device"),
                ),
            }
        };
        let local = self.reflection().local_size;
        for (axis, name) in AXES.iter().enumerate() {
            let here = device.map(|device| u64::from(device.local_size[axis]));
            fixed(
                &format!("local size in {name}"),
                u64::from(local[axis]),
                u64::from(guaranteed.local_size[axis]),
                here,
            );
        }
        let invocations = local.iter().map(|size| u64::from(*size)).product();
        fixed(
            "invocations per workgroup",
            invocations,
            u64::from(guaranteed.invocations),
            device.map(|d| u64::from(d.invocations)),
        );
        let workgroup = self.reflection().workgroup.iter().map(|variable| variable.size).sum();
        fixed(
            "bytes of workgroup memory",
            workgroup,
            u64::from(guaranteed.workgroup_bytes),
            device.map(|d| u64::from(d.workgroup_bytes)),
        );
        let constants = self.reflection().push_constants.as_ref().map_or(0, |block| block.size);
        fixed(
            "bytes of push constants",
            constants,
            u64::from(guaranteed.push_constant_bytes),
            device.map(|d| u64::from(d.push_constant_bytes)),
        );
        for axis in 0..3 {
            self.group_limit(rows, axis);
        }
    }

    /// Group counts for all parameter values, against the device or, without one, against what
    /// every device has.
    fn group_limit(&self, rows: &mut Rows, axis: usize) {
        let least = DeviceLimits::GUARANTEED.groups[axis];
        let limit = self.input.device.map_or(least, |device| device.groups[axis].max(least));
        let expression = &self.expressions.groups[axis];
        // The count itself, not what a conversion to 32 bits leaves of it (host-overflow has that).
        let within = |limit: u32| -> ProofResult {
            if self.host.value_interval(expression).high <= i128::from(limit) {
                return ProofResult::Proved;
            }
            self.host.decide_for_all(&[expression], &|case| {
                self.value(expression, case) <= i128::from(limit)
            })
        };
        let name = AXES[axis];
        rows.about(format!("groups in {name}"));
        let mut claim = format!("in {name}, {} is at most {limit}", self.text(axis));
        let answer = within(limit);
        if answer == ProofResult::Proved && limit > least && within(least) != ProofResult::Proved {
            claim.push_str(&format!(" of this device; a device need have only {least}"));
        }
        let whose =
            if self.input.device.is_some() { "this device allows" } else { "every device allows" };
        rows.answer("device-limits", answer, &claim, |values| {
            let count = self.value(expression, &self.host.named_case(values));
            format!(
                "in {name}, the group count {} is {count}; {whose} {limit} ({})",
                self.text(axis),
                printed(values)
            )
        });
    }
}
