//! Sizes of buffers: what the host allocates against what the kernel's blocks need.
//!
//! Knows: the stated buffers, the kernel's resources, the sizes that tests bind and use.
//! Promises: a row for every buffer of either side.
//! Does not cover: images and samplers (`images`).

use super::Subject;
use crate::rows::{Rows, printed};
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

impl Subject<'_> {
    pub(crate) fn buffers(&self, rows: &mut Rows) {
        let interface = self.input.interface;
        for resource in &self.reflection().resources {
            let known = interface
                .buffers
                .iter()
                .any(|b| (b.set, b.binding) == (resource.set, resource.binding));
            let name = resource.name.as_deref().unwrap_or("-");
            // Images and samplers are compared by themselves (`images`).
            if known || !is_buffer(resource.class) {
                continue;
            }
            let place = format!("{}.{} ({name})", resource.set, resource.binding);
            rows.about(format!("{}.{} is not stated", resource.set, resource.binding));
            let message = format!("the kernel uses {place}, the interface states no buffer for it");
            rows.refuted("buffer-size", message, None);
        }
        for (buffer, size) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let place = format!("{}.{}", buffer.set, buffer.binding);
            rows.about(place.as_str());
            let resource = self
                .reflection()
                .resources
                .iter()
                .find(|r| (r.set, r.binding) == (buffer.set, buffer.binding));
            let Some(resource) = resource else {
                rows.holds("buffer-size", format!("the kernel does not use buffer {place}"));
                continue;
            };
            if !is_buffer(resource.class) {
                let class = resource.class.name();
                let message = format!(
                    "the interface states a buffer at {place}, where the kernel has a {class}"
                );
                rows.refuted("buffer-size", message, None);
                continue;
            }
            let least = i128::from(resource.fixed_bytes.max(1));
            let enough = self.host.value_interval(size).low >= least;
            let answer = if enough {
                ProofResult::Proved
            } else {
                self.host.decide_for_all(&[size], &|case| self.value(size, case) >= least)
            };
            let claim = format!(
                "buffer {place}, {} bytes, holds the {least} {} that the kernel's block has at least",
                buffer.size,
                if least == 1 { "byte" } else { "bytes" }
            );
            rows.answer("buffer-size", answer, &claim, |values| {
                let bytes = self.value(size, &self.host.named_case(values));
                format!(
                    "buffer {place} has {bytes} bytes, the kernel's block needs {least} ({})",
                    printed(values)
                )
            });
            self.tested_sizes(rows, buffer.set, buffer.binding, size);
        }
    }

    /// The sizes that the tests bind, against what the host would allocate for the same parameters.
    fn tested_sizes(&self, rows: &mut Rows, set: u32, binding: u32, size: &HostExpression) {
        let (mut agreeing, mut larger) = (0, Vec::new());
        for test in self.input.tests {
            let Some(used) = test.buffers.get(&(set, binding)) else { continue };
            rows.about(format!("{set}.{binding} in {}", test.name));
            let bytes = self.value(size, &self.host.named_case(&test.parameters));
            match used.touched {
                Some(touched) if i128::from(touched) > bytes => {
                    let message = format!(
                        "buffer {set}.{binding} has {bytes} bytes on the host, but in {} the kernel uses {touched} ({})",
                        test.name,
                        printed(&test.parameters)
                    );
                    rows.refuted("buffer-size", message, Some(test.parameters.clone()));
                }
                Some(_) => agreeing += 1,
                None if i128::from(used.bound) <= bytes => agreeing += 1,
                None => larger.push(format!("{} ({} bytes for {bytes})", test.name, used.bound)),
            }
        }
        if agreeing > 0 {
            rows.holds(
                "buffer-size",
                format!("buffer {set}.{binding}: the host's size covers what {agreeing} tests use"),
            );
        }
        if !larger.is_empty() {
            let message = format!(
                "buffer {set}.{binding}: tests bind more than the host allocates for the same parameters, and whether the kernel uses the rest is not known: {}",
                larger.join(", ")
            );
            rows.undetermined("buffer-size", message);
        }
    }
}
