//! Sizes of buffers: what the host allocates against what the kernel's blocks need.
//!
//! Knows: the stated buffers, the kernel's resources, the sizes that tests bind and use.
//! Promises: a row for every buffer of either side.
//! Does not cover: images and samplers (`images`).

use super::HostChecks;
use crate::rows::{CheckRows, values_in_words};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::procedure::DescriptorClass;
use vkcert_requirement::host::decide::ProofResult;
use vkcert_requirement::host::expression::HostExpression;

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
        let (mut agreeing_count, mut larger_uses) = (0, Vec::new());
        for test in self.input.tests {
            let Some(buffer_use) = test.buffers.get(&(set, binding)) else { continue };
            rows.begin_subject(format!("{set}.{binding} in {}", test.name));
            let host_bytes =
                self.evaluated_value(size_expression, &self.host.named_case(&test.parameters));
            match buffer_use.touched {
                Some(touched_bytes) if i128::from(touched_bytes) > host_bytes => {
                    let message = format!(
                        "buffer {set}.{binding} has {host_bytes} bytes on the host, but in {} the kernel uses {touched_bytes} ({})",
                        test.name,
                        values_in_words(&test.parameters)
                    );
                    rows.add_refuted(
                        CouplingCheckName::BufferSize,
                        message,
                        Some(test.parameters.clone()),
                    );
                }
                Some(_) => agreeing_count += 1,
                None if i128::from(buffer_use.bound) <= host_bytes => agreeing_count += 1,
                None => larger_uses
                    .push(format!("{} ({} bytes for {host_bytes})", test.name, buffer_use.bound)),
            }
        }
        if agreeing_count > 0 {
            rows.add_holding(
                CouplingCheckName::BufferSize,
                format!(
                    "buffer {set}.{binding}: the host's size covers what {agreeing_count} tests use"
                ),
            );
        }
        if !larger_uses.is_empty() {
            let message = format!(
                "buffer {set}.{binding}: tests bind more than the host allocates for the same parameters, and whether the kernel uses the rest is not known: {}",
                larger_uses.join(", ")
            );
            rows.add_undetermined(CouplingCheckName::BufferSize, message);
        }
    }
}
