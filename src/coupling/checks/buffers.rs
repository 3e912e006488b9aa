//! Sizes of buffers: what the host allocates against what the kernel's blocks need.
//!
//! Knows: the stated buffers, the kernel's resources, the sizes that tests bind and use.
//! Promises: a row for every buffer of either side.
//! Does not cover: images and samplers (`images`).

use super::tested_size::{SizeWords, TestedSizes};
use super::{AXES, HostChecks};
use crate::layout::{counted, end_of_contents};
use crate::merging::{SharedObject, StoredForm};
use crate::rows::{CheckRows, values_in_words};
use crate::{BufferUse, TestUse};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{HeaderUse, HostBuffer, HostType};
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
            match self.varying.in_words(size_constants.into_iter().flatten()) {
                Some(constants) => rows.add_undetermined(
                    CouplingCheckName::BufferSize,
                    format!(
                        "the least size of the kernel's block at {buffer_place} depends on {constants}"
                    ),
                ),
                None => {
                    self.check_block_bytes(rows, (buffer, size_expression), resource.fixed_bytes);
                }
            }
            self.check_stored_bytes(rows, (buffer, size_expression));
            self.check_tested_sizes(rows, buffer.set, buffer.binding, size_expression);
        }
    }

    /// Whether the buffer has room for what the kernel's block has before an array without length.
    fn check_block_bytes(
        &self,
        rows: &mut CheckRows,
        (buffer, size_expression): (&HostBuffer, &HostExpression),
        fixed_bytes: u64,
    ) {
        let buffer_place = format!("{}.{}", buffer.set, buffer.binding);
        let least_bytes = i128::from(fixed_bytes.max(1));
        let claim = match fixed_bytes {
            0 => format!(
                "buffer {buffer_place}, {} bytes, is never empty; what the kernel uses of it has no fixed size",
                buffer.size
            ),
            _ => format!(
                "buffer {buffer_place}, {} bytes, holds the {} that the kernel's block has at least",
                buffer.size,
                counted(fixed_bytes, "byte")
            ),
        };
        let proof_result = self.decide_least_size(size_expression, least_bytes);
        rows.add_answer(CouplingCheckName::BufferSize, proof_result, &claim, |refuting_values| {
            let host_bytes =
                self.evaluated_value(size_expression, &self.host.named_case(refuting_values));
            let least_bytes = counted(fixed_bytes.max(1), "byte");
            format!(
                "buffer {buffer_place} has {host_bytes} bytes, the kernel needs {least_bytes} at least ({})",
                values_in_words(refuting_values)
            )
        });
    }

    /// Whether the buffer has room for what the host stores there: a struct, or one element.
    fn check_stored_bytes(
        &self,
        rows: &mut CheckRows,
        (buffer, size_expression): (&HostBuffer, &HostExpression),
    ) {
        let (set, binding) = (buffer.set, buffer.binding);
        let stored_form = self.input.stated.stored_form(SharedObject::Buffer { set, binding });
        let Some(StoredForm { describes, name, contents, .. }) = stored_form else { return };
        let (whole_bytes, member_bytes) = (contents.size(), end_of_contents(&contents));
        if whole_bytes == 0 {
            // Of what has no known size the layout checks tell.
            return;
        }
        let stored_thing = match describes {
            HeaderUse::Element => format!("an element of type `{name}`"),
            HeaderUse::Block | HeaderUse::PushConstants => format!("`{name}`"),
        };
        let claim = format!(
            "buffer {set}.{binding}, {} bytes, holds the {} of {stored_thing}",
            buffer.size,
            counted(whole_bytes, "byte")
        );
        match self.decide_least_size(size_expression, i128::from(whole_bytes)) {
            ProofResult::Proved => rows.add_holding(CouplingCheckName::BufferSize, claim),
            ProofResult::Open(reason) => rows.add_undetermined(
                CouplingCheckName::BufferSize,
                format!("{claim}: not decided; {reason}"),
            ),
            ProofResult::Refuted(_) => {
                match self.decide_least_size(size_expression, i128::from(member_bytes)) {
                    ProofResult::Proved | ProofResult::Open(_) => rows.add_undetermined(
                        CouplingCheckName::BufferSize,
                        format!(
                            "{claim}: not for all parameters; whether the host stores the padding behind its members, which end at byte {member_bytes}, is not stated"
                        ),
                    ),
                    ProofResult::Refuted(values) => {
                        let host_case = self.host.named_case(&values);
                        let host_bytes = self.evaluated_value(size_expression, &host_case);
                        let message = format!(
                            "buffer {set}.{binding} has {host_bytes} bytes; {stored_thing}, which the host stores there, has {whole_bytes} ({})",
                            values_in_words(&values)
                        );
                        rows.add_refuted(CouplingCheckName::BufferSize, message, Some(values));
                    }
                }
            }
        }
    }

    /// Whether a size is never less than some bytes.
    fn decide_least_size(&self, size: &HostExpression, least_bytes: i128) -> ProofResult {
        if self.host.value_interval(size).low >= least_bytes {
            return ProofResult::Proved;
        }
        self.host.decide_for_all(&[size], &|host_case| {
            self.evaluated_value(size, host_case) >= least_bytes
        })
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
        let mut sizes = TestedSizes::default();
        for test in self.input.tests {
            let Some(buffer_use) = test.buffers.get(&(set, binding)) else { continue };
            rows.begin_subject(format!("{set}.{binding} in {}", test.name));
            match self.compare_tested_size(test, *buffer_use, size_expression) {
                TestedSize::Covered => sizes.covered_count += 1,
                TestedSize::Exceeded { host_bytes, used_bytes } => {
                    let parameters = self.host.told_parameters(&test.told);
                    let message = format!(
                        "buffer {set}.{binding} has {host_bytes} bytes on the host, but in {} the kernel uses {used_bytes} ({})",
                        test.name,
                        values_in_words(&parameters)
                    );
                    rows.add_refuted(CHECK, message, Some(parameters));
                }
                TestedSize::BoundBeyond(words) => sizes.larger.push(words),
                TestedSize::Open(words) => sizes.open.push(words),
            }
        }
        let place = format!("buffer {set}.{binding}");
        let words = SizeWords { place, verb: "use", participle: "used" };
        sizes.add_covered(rows, CHECK, &words);
        sizes.add_undecided(rows, CHECK, &words);
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
