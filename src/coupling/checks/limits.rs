//! What the kernel and the dispatch need against a device's limits.
//!
//! Knows: the limits of a device, or those that every Vulkan device has.
//! Promises: what exceeds the guaranteed limits is undetermined without a device.
//! Does not cover: limits of descriptors and of buffer sizes.

use super::{AXES, HostChecks};
use crate::DeviceLimits;
use crate::rows::{CheckRows, values_in_words};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::decide::ProofResult;
use vkcert_requirement::host::interval::ValueInterval;

impl HostChecks<'_> {
    pub(crate) fn check_limits(&self, rows: &mut CheckRows) {
        let guaranteed = DeviceLimits::GUARANTEED;
        let device = self.input.device;
        let sizes = &self.varying.sizes;
        let mut check_fixed = |quantity_words: &str,
                               varying_constants: Option<String>,
                               value: u64,
                               guaranteed_limit: u64,
                               device_limit: Option<u64>| {
            rows.begin_subject(quantity_words);
            if let Some(constants) = varying_constants {
                let message = format!("{quantity_words} depends on {constants}");
                return rows.add_undetermined(CouplingCheckName::DeviceLimits, message);
            }
            if value <= guaranteed_limit {
                return rows.add_holding(
                    CouplingCheckName::DeviceLimits,
                    format!("{quantity_words} {value} is within the {guaranteed_limit} that every device has"),
                );
            }
            match device_limit {
                Some(limit) if value <= limit => rows.add_holding(
                    CouplingCheckName::DeviceLimits,
                    format!("{quantity_words} {value} is within this device's {limit}; a device need have only {guaranteed_limit}"),
                ),
                Some(limit) => {
                    rows.add_refuted(CouplingCheckName::DeviceLimits, format!("{quantity_words} {value} exceeds this device's {limit}"), None)
                }
                None => rows.add_undetermined(
                    CouplingCheckName::DeviceLimits,
                    format!("{quantity_words} {value} is more than the {guaranteed_limit} that every device has; it depends on the device"),
                ),
            }
        };
        let local_size = self.reflection().local_size;
        for (axis, axis_name) in AXES.iter().enumerate() {
            let device_limit = device.map(|device| u64::from(device.local_size[axis]));
            check_fixed(
                &format!("local size in {axis_name}"),
                self.varying.in_words(&sizes.local_size[axis]),
                u64::from(local_size[axis]),
                u64::from(guaranteed.local_size[axis]),
                device_limit,
            );
        }
        let invocations = local_size.iter().map(|size| u64::from(*size)).product();
        check_fixed(
            "invocations per workgroup",
            self.varying.in_words(sizes.local_size.iter().flatten()),
            invocations,
            u64::from(guaranteed.invocations),
            device.map(|device_limits| u64::from(device_limits.invocations)),
        );
        let workgroup_bytes =
            self.reflection().workgroup.iter().map(|variable| variable.size).sum();
        check_fixed(
            "bytes of workgroup memory",
            self.varying.in_words(&sizes.workgroup_memory),
            workgroup_bytes,
            u64::from(guaranteed.workgroup_bytes),
            device.map(|device_limits| u64::from(device_limits.workgroup_bytes)),
        );
        let push_constant_bytes =
            self.reflection().push_constants.as_ref().map_or(0, |block| block.size);
        check_fixed(
            "bytes of push constants",
            self.varying.in_words(&sizes.push_constants),
            push_constant_bytes,
            u64::from(guaranteed.push_constant_bytes),
            device.map(|device_limits| u64::from(device_limits.push_constant_bytes)),
        );
        for axis in 0..3 {
            self.check_group_limit(rows, axis);
        }
    }

    /// Group counts for all parameter values, against the device or, without one, against what
    /// every device has.
    fn check_group_limit(&self, rows: &mut CheckRows, axis: usize) {
        let guaranteed_limit = DeviceLimits::GUARANTEED.groups[axis];
        let limit = self
            .input
            .device
            .map_or(guaranteed_limit, |device| device.groups[axis].max(guaranteed_limit));
        let expression = &self.expressions.groups[axis];
        // The count itself, not what a conversion to 32 bits leaves of it (host-overflow has that).
        let is_within = |limit: u32| -> ProofResult {
            let permitted = 0..=i128::from(limit);
            let ValueInterval { low, high, .. } = self.host.value_interval(expression);
            if permitted.contains(&low) && permitted.contains(&high) {
                return ProofResult::Proved;
            }
            self.host.decide_for_all(&[expression], &|host_case| {
                permitted.contains(&self.evaluated_value(expression, host_case))
            })
        };
        let axis_name = AXES[axis];
        rows.begin_subject(format!("groups in {axis_name}"));
        let mut claim =
            format!("in {axis_name}, {} is at most {limit}", self.group_count_text(axis));
        let proof_result = is_within(limit);
        if proof_result == ProofResult::Proved
            && limit > guaranteed_limit
            && is_within(guaranteed_limit) != ProofResult::Proved
        {
            claim.push_str(&format!(" of this device; a device need have only {guaranteed_limit}"));
        }
        let limit_owner =
            if self.input.device.is_some() { "this device allows" } else { "every device allows" };
        rows.add_answer(CouplingCheckName::DeviceLimits, proof_result, &claim, |refuting_values| {
            let host_case = self.host.named_case(refuting_values);
            let group_count = self.evaluated_value(expression, &host_case);
            let dispatched_words = if group_count < 0 {
                let dispatched = self.dispatched_groups(axis, &host_case);
                format!(", which the dispatch takes for {dispatched}")
            } else {
                String::new()
            };
            format!(
                "in {axis_name}, the group count {} is {group_count}{dispatched_words}; {limit_owner} {limit} ({})",
                self.group_count_text(axis),
                values_in_words(refuting_values)
            )
        });
    }
}
