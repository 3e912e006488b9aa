//! Sizes of buffers: what the host allocates against what the kernel's blocks need.
//!
//! Knows: the stated buffers, the kernel's resources, the sizes that tests bind and use.
//! Promises: a row for every buffer of either side.
//! Does not cover: images and samplers (`images`).

use super::{AXES, HostChecks};
use crate::rows::{CheckRows, values_in_words};
use crate::{BufferUse, TestUse};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::ProofResult;
use vkcert_requirement::host::expression::{self as host, HostExpression};

/// Whether a descriptor of this class is a buffer, whose size a host states.
pub(crate) fn is_buffer(class: DescriptorClass) -> bool {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => true,
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined => false,
    }
}

impl HostChecks<'_> {
    pub(crate) fn check_buffers(&self, rows: &mut CheckRows) {
        let interface = self.input.interface;
        for resource in &self.reflection().resources {
            let is_stated = interface.buffers.iter().any(|stated_buffer| {
                (stated_buffer.set, stated_buffer.binding) == (resource.set, resource.binding)
            });
            let resource_name = resource.name.as_deref().unwrap_or("-");
            // Images and samplers are compared by themselves (`images`).
            if is_stated || !is_buffer(resource.class) {
                continue;
            }
            let buffer_place = format!("{}.{} ({resource_name})", resource.set, resource.binding);
            rows.begin_subject(format!("{}.{} is not stated", resource.set, resource.binding));
            let message =
                format!("the kernel uses {buffer_place}, the interface states no buffer for it");
            rows.add_refuted(CouplingCheckName::BufferSize, message, None);
        }
        for (buffer, size_expression) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let buffer_place = format!("{}.{}", buffer.set, buffer.binding);
            rows.begin_subject(buffer_place.as_str());
            let resource = self.reflection().resources.iter().find(|candidate| {
                (candidate.set, candidate.binding) == (buffer.set, buffer.binding)
            });
            let Some(resource) = resource else {
                rows.add_holding(
                    CouplingCheckName::BufferSize,
                    format!("the kernel does not use buffer {buffer_place}"),
                );
                continue;
            };
            if !is_buffer(resource.class) {
                let class_name = resource.class.name();
                let message = format!(
                    "the interface states a buffer at {buffer_place}, where the kernel has a {class_name}"
                );
                rows.add_refuted(CouplingCheckName::BufferSize, message, None);
                continue;
            }
            let size_constants = self.varying.sizes.resources.get(&resource.variable);
            if let Some(constants) = self.varying.in_words(size_constants.into_iter().flatten()) {
                let message = format!(
                    "the least size of the kernel's block at {buffer_place} depends on {constants}"
                );
                rows.add_undetermined(CouplingCheckName::BufferSize, message);
                self.check_tested_sizes(rows, buffer.set, buffer.binding, size_expression);
                continue;
            }
            let least_bytes = i128::from(resource.fixed_bytes.max(1));
            let is_always_enough = self.host.value_interval(size_expression).low >= least_bytes;
            let proof_result = if is_always_enough {
                ProofResult::Proved
            } else {
                self.host.decide_for_all(&[size_expression], &|host_case| {
                    self.evaluated_value(size_expression, host_case) >= least_bytes
                })
            };
            let claim = format!(
                "buffer {buffer_place}, {} bytes, holds the {least_bytes} {} that the kernel's block has at least",
                buffer.size,
                if least_bytes == 1 { "byte" } else { "bytes" }
            );
            rows.add_answer(CouplingCheckName::BufferSize, proof_result, &claim, |refuting_values| {
                let host_bytes =
                    self.evaluated_value(size_expression, &self.host.named_case(refuting_values));
                format!(
                    "buffer {buffer_place} has {host_bytes} bytes, the kernel's block needs {least_bytes} ({})",
                    values_in_words(refuting_values)
                )
            });
            self.check_tested_sizes(rows, buffer.set, buffer.binding, size_expression);
        }
    }

    /// The sizes that the tests bind, against what the host would allocate for the same parameters.
    fn check_tested_sizes(
        &self,
        rows: &mut CheckRows,
        set: u32,
        binding: u32,
        size_expression: &HostExpression,
    ) {
        const CHECK: CouplingCheckName = CouplingCheckName::BufferSize;
        let (mut agreeing_count, mut larger_uses, mut open_uses) = (0, Vec::new(), Vec::new());
        for test in self.input.tests {
            let Some(buffer_use) = test.buffers.get(&(set, binding)) else { continue };
            rows.begin_subject(format!("{set}.{binding} in {}", test.name));
            match self.compare_tested_size(test, *buffer_use, size_expression) {
                TestedSize::Covered => agreeing_count += 1,
                TestedSize::Exceeded { host_bytes, used_bytes } => {
                    let parameters = self.host.told_parameters(&test.told);
                    let message = format!(
                        "buffer {set}.{binding} has {host_bytes} bytes on the host, but in {} the kernel uses {used_bytes} ({})",
                        test.name,
                        values_in_words(&parameters)
                    );
                    rows.add_refuted(CHECK, message, Some(parameters));
                }
                TestedSize::BoundBeyond(words) => larger_uses.push(words),
                TestedSize::Open(words) => open_uses.push(words),
            }
        }
        if agreeing_count > 0 {
            let tests = if agreeing_count == 1 { "test uses" } else { "tests use" };
            let message = format!(
                "buffer {set}.{binding}: the host's size covers what {agreeing_count} {tests}"
            );
            rows.add_holding(CHECK, message);
        }
        if !larger_uses.is_empty() {
            let message = format!(
                "buffer {set}.{binding}: tests bind more than the host allocates for the same parameters, and whether the kernel uses the rest is not known: {}",
                larger_uses.join(", ")
            );
            rows.add_undetermined(CHECK, message);
        }
        if !open_uses.is_empty() {
            let message = format!(
                "buffer {set}.{binding}: whether the host's size covers what tests use is not known: {}",
                open_uses.join("; ")
            );
            rows.add_undetermined(CHECK, message);
        }
    }

    /// What a test uses of a buffer against the size that the host gives it. The host's size is
    /// exceeded only where the test does as the host would with the same parameters.
    fn compare_tested_size(
        &self,
        test: &TestUse,
        buffer_use: BufferUse,
        size_expression: &HostExpression,
    ) -> TestedSize {
        let used_bytes = buffer_use.touched.unwrap_or(buffer_use.bound);
        let verb = if buffer_use.touched.is_some() { "uses" } else { "binds" };
        let parameters = self.host.told_parameters(&test.told);
        let of_parameters = self.host.told_value(size_expression, &parameters);
        // A local that the test tells counts where parameters do not settle the size.
        let told = if of_parameters.is_ok() { &parameters } else { &test.told };
        let least_bytes = self.host.told_interval(size_expression, told).low;
        let host_bytes = match self.host.told_value(size_expression, told) {
            Ok(host_bytes) => host_bytes,
            Err(_) if i128::from(used_bytes) <= least_bytes => return TestedSize::Covered,
            Err(untold) => {
                let names: Vec<&str> = untold.into_iter().collect();
                return TestedSize::Open(format!(
                    "{} {verb} {used_bytes} bytes and does not tell {}",
                    test.name,
                    names.join(" and ")
                ));
            }
        };
        if i128::from(used_bytes) <= host_bytes {
            return TestedSize::Covered;
        }
        let size_words = format!("{} ({used_bytes} bytes for {host_bytes})", test.name);
        if buffer_use.touched.is_none() {
            return TestedSize::BoundBeyond(size_words);
        }
        match (of_parameters, self.departure_from_host(test)) {
            (Ok(_), None) => TestedSize::Exceeded { host_bytes, used_bytes },
            (Ok(_), Some(departure)) => TestedSize::Open(format!("{size_words} {departure}")),
            (Err(untold), _) => {
                let names: Vec<&str> = untold.into_iter().collect();
                let names = names.join(" and ");
                TestedSize::Open(format!("{size_words} does not tell {names}"))
            }
        }
    }

    /// What a test does that the host does not do with the parameters that it tells; none where
    /// nothing is known to differ.
    fn departure_from_host(&self, test: &TestUse) -> Option<String> {
        if let Some((name, value)) = self.host.parameter_out_of_range(&test.told) {
            return Some(format!("gives {name} = {value}, which the host never does"));
        }
        let parameters = self.host.told_parameters(&test.told);
        for (name, expression) in self.host.locals() {
            let told_value = test.told.get(&name.name);
            let host_value = self.host.told_value(expression, &parameters).ok();
            let host_value = host_value.map(|value| host::wrap_to_type(value, name.width));
            if let (Some(told_value), Some(host_value)) = (told_value, host_value)
                && i128::from(*told_value) != host_value
            {
                let name = &name.name;
                return Some(format!(
                    "gives {name} = {told_value}, where the host gives {host_value}"
                ));
            }
        }
        for (axis, expression) in self.expressions.groups.iter().enumerate() {
            let dispatched = i128::from(test.groups[axis]);
            let axis_name = AXES[axis];
            match self.host.told_value(expression, &parameters) {
                Ok(count) if host::wrap_to_type(count, HostType::Uint32) == dispatched => {}
                Ok(count) => {
                    return Some(format!(
                        "dispatches {dispatched} workgroups in {axis_name}, where the host dispatches {count}"
                    ));
                }
                Err(untold) => {
                    let names: Vec<&str> = untold.into_iter().collect();
                    return Some(format!(
                        "does not tell {}, by which the host dispatches in {axis_name}",
                        names.join(" and ")
                    ));
                }
            }
        }
        None
    }
}

/// What a test uses of a buffer, against the host's size.
enum TestedSize {
    /// The size is enough.
    Covered,
    /// The kernel used more.
    Exceeded { host_bytes: i128, used_bytes: u64 },
    /// More is bound, and whether it is used is not known; with the test and both sizes.
    BoundBeyond(String),
    /// Why it is not known.
    Open(String),
}
