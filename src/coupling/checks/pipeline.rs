//! Pipelines that a Vulkan SC host creates against the kernel that they are made of.
//!
//! Knows: the stated descriptions, the kernel's reflection, the specialization that the interface
//! states.
//! Promises: for each pipeline a row on its entry point, on its push constants and on each constant
//! that it sets, and one for each binding that the kernel uses.
//! Does not cover: what an offline compiler makes of the description.

use super::HostChecks;
use crate::rows::CheckRows;
use std::collections::BTreeMap;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{OfflinePipeline, PipelineBinding, StageAccess};
use vkcert_requirement::host::specialized_values;
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource, SpecializationConstant};

const IDENTITY: CouplingCheckName = CouplingCheckName::PipelineIdentity;
const LAYOUT: CouplingCheckName = CouplingCheckName::PipelineLayout;
const CONSTANTS: CouplingCheckName = CouplingCheckName::PipelineSpecialization;

impl HostChecks<'_> {
    pub(crate) fn check_pipelines(&self, rows: &mut CheckRows) {
        for (file, pipeline) in self.input.pipelines {
            rows.begin_subject(*file);
            self.check_entry(rows, file, pipeline);
            for resource in &self.reflection().resources {
                let place = format!("{}.{}", resource.set, resource.binding);
                rows.begin_subject(format!("{place} of {file}"));
                check_binding(rows, file, pipeline, resource);
            }
            rows.begin_subject(format!("push constants of {file}"));
            self.check_ranges(rows, file, pipeline);
            self.check_constants(rows, file, pipeline);
        }
        rows.end_subject();
    }

    fn check_entry(&self, rows: &mut CheckRows, file: &str, pipeline: &OfflinePipeline) {
        let entry = &self.reflection().entry;
        if pipeline.entry != *entry {
            let message = format!(
                "the pipeline of {file} starts `{}`, the kernel's entry point is `{entry}`",
                pipeline.entry
            );
            return rows.add_refuted(IDENTITY, message, None);
        }
        let identifier = match pipeline.identifier {
            Some(bytes) => bytes.map(|byte| format!("{byte:02x}")).concat(),
            None => {
                let message = format!("the pipeline of {file} has no identifier (`PipelineUUID`)");
                return rows.add_undetermined(IDENTITY, message);
            }
        };
        let shader = pipeline.shader_file.as_deref().unwrap_or("no file that is named");
        let message =
            format!("pipeline {identifier} of {file} starts `{entry}`, its shader is {shader}");
        rows.add_holding(IDENTITY, message);
    }

    /// The kernel's push constants lie in ranges that the compute stage sees.
    fn check_ranges(&self, rows: &mut CheckRows, file: &str, pipeline: &OfflinePipeline) {
        let Some(block) = &self.reflection().push_constants else {
            let message = format!("the kernel reads no push constants of {file}");
            return rows.add_holding(LAYOUT, message);
        };
        let first_byte = block.members.iter().filter_map(|member| member.offset).min();
        let (mut covered_end, end) = (u64::from(first_byte.unwrap_or(0)), block.size);
        let mut ranges: Vec<_> = pipeline
            .push_constant_ranges
            .iter()
            .filter(|range| range.stage == StageAccess::Compute)
            .map(|range| (u64::from(range.offset), u64::from(range.offset) + u64::from(range.size)))
            .collect();
        ranges.sort_unstable();
        for (start, range_end) in ranges {
            if start <= covered_end {
                covered_end = covered_end.max(range_end);
            }
        }
        if covered_end < end {
            let message = format!(
                "the kernel reads push constants up to byte {end}, the ranges of {file} for the compute stage end at {covered_end}"
            );
            rows.add_refuted(LAYOUT, message, None);
        } else {
            let message = format!("the ranges of {file} hold the {end} bytes of push constants");
            rows.add_holding(LAYOUT, message);
        }
    }

    fn check_constants(&self, rows: &mut CheckRows, file: &str, pipeline: &OfflinePipeline) {
        let stated_values = specialized_values(self.input.interface);
        let declared: BTreeMap<u32, &SpecializationConstant> =
            self.reflection().specialization.iter().map(|row| (row.spec_id, row)).collect();
        for constant in &pipeline.constants {
            let id = constant.id;
            rows.begin_subject(format!("constant {id} of {file}"));
            let Some(declared_constant) = declared.get(&id) else {
                let message =
                    format!("{file} sets specialization constant {id}; the kernel has none");
                rows.add_refuted(CONSTANTS, message, None);
                continue;
            };
            let bytes = u64::from(declared_constant.width / 8);
            if constant.bytes.len() as u64 != bytes {
                let message = format!(
                    "{file} sets constant {id} by {} bytes, its type `{}` has {bytes}",
                    constant.bytes.len(),
                    declared_constant.type_name
                );
                rows.add_refuted(CONSTANTS, message, None);
                continue;
            }
            let bits =
                constant.bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
            check_value(rows, file, declared_constant, bits, stated_values.get(&id));
        }
        for id in stated_values.keys().filter(|id| declared.contains_key(id)) {
            if pipeline.constants.iter().all(|constant| constant.id != *id) {
                rows.begin_subject(format!("constant {id} of {file}"));
                let message = format!(
                    "the interface sets specialization constant {id}, {file} leaves it at its default"
                );
                rows.add_refuted(CONSTANTS, message, None);
            }
        }
    }
}

/// A value that a pipeline sets against the one that the interface states.
fn check_value(
    rows: &mut CheckRows,
    file: &str,
    constant: &SpecializationConstant,
    bits: u64,
    stated_value: Option<&Option<i128>>,
) {
    let id = constant.spec_id;
    let mask = if constant.width >= 64 { u64::MAX } else { (1 << constant.width) - 1 };
    match stated_value {
        None => {
            let message = format!(
                "{file} sets constant {id} to {bits:#x}, the interface states no value of it"
            );
            rows.add_refuted(CONSTANTS, message, None);
        }
        Some(None) => {
            let message = format!(
                "{file} sets constant {id} to {bits:#x}, the interface states no one value of it"
            );
            rows.add_undetermined(CONSTANTS, message);
        }
        // The bits of a negative value are those of its two's complement.
        Some(Some(value)) if (*value as u64) & mask == bits => {
            let message = format!("{file} sets constant {id} to {value}, as the interface states");
            rows.add_holding(CONSTANTS, message);
        }
        Some(Some(value)) => {
            let message =
                format!("{file} sets constant {id} to {bits:#x}, the interface states {value}");
            rows.add_refuted(CONSTANTS, message, None);
        }
    }
}

fn check_binding(
    rows: &mut CheckRows,
    file: &str,
    pipeline: &OfflinePipeline,
    resource: &ReflectedResource,
) {
    let place = format!(
        "{}.{} ({})",
        resource.set,
        resource.binding,
        resource.name.as_deref().unwrap_or("-")
    );
    let set = pipeline.sets.get(resource.set as usize);
    let binding =
        set.and_then(|bindings| bindings.iter().find(|row| row.binding == resource.binding));
    let Some(binding) = binding else {
        let message = format!("the kernel uses {place}, of which {file} has no binding");
        return rows.add_refuted(LAYOUT, message, None);
    };
    match binding_fault(binding, resource) {
        Some(fault_words) => {
            rows.add_refuted(LAYOUT, format!("{place} of {file}: {fault_words}"), None);
        }
        None => {
            let type_name = &binding.type_name;
            rows.add_holding(
                LAYOUT,
                format!("{place} of {file}: {type_name}, as the kernel has it"),
            );
        }
    }
}

fn binding_fault(binding: &PipelineBinding, resource: &ReflectedResource) -> Option<String> {
    let kernel_class = resource.class.name();
    if binding.class.map(fixed_class) != Some(fixed_class(resource.class)) {
        let type_name = &binding.type_name;
        return Some(format!("the pipeline has a {type_name}, the kernel a {kernel_class}"));
    }
    if binding.stage == StageAccess::Others {
        return Some("the compute stage does not see it (`stageFlags`)".to_owned());
    }
    let needed_count = match resource.count {
        DescriptorCount::One | DescriptorCount::Runtime => 1,
        DescriptorCount::Array(count) => count,
    };
    (binding.count < needed_count).then(|| {
        format!("the pipeline has {} descriptors, the kernel {needed_count}", binding.count)
    })
}

/// Whether the host moves a buffer at each dispatch is no matter of the kernel.
fn fixed_class(class: DescriptorClass) -> DescriptorClass {
    match class {
        DescriptorClass::StorageDynamic => DescriptorClass::Storage,
        DescriptorClass::UniformDynamic => DescriptorClass::Uniform,
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => class,
    }
}
