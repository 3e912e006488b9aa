//! Pipeline layouts of Vulkan SC hosts against the kernel, and against what Vulkan permits.
//!
//! Knows: the bindings and push constants of both sides, a device's limits.
//! Promises: a row for each binding that the kernel uses, one on whether the ranges of push
//! constants are permitted where there are any, and one on whether they hold what the kernel reads.
//! Does not cover: bindings and ranges of other stages.

use super::HostChecks;
use crate::DeviceLimits;
use crate::rows::CheckRows;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::{OfflinePipeline, PipelineBinding, PipelineRange, StageAccess};
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource};

const LAYOUT: CouplingCheckName = CouplingCheckName::PipelineLayout;

impl HostChecks<'_> {
    pub(super) fn check_pipeline_layout(
        &self,
        rows: &mut CheckRows,
        file: &str,
        pipeline: &OfflinePipeline,
    ) {
        for resource in &self.reflection().resources {
            let place = format!("{}.{}", resource.set, resource.binding);
            rows.begin_subject(format!("{place} of {file}"));
            check_binding(rows, file, pipeline, resource);
        }
        let ranges = &pipeline.push_constant_ranges;
        rows.begin_subject(format!("ranges of {file}"));
        check_stages(rows, file, ranges);
        self.check_range_end(rows, file, ranges);
        rows.begin_subject(format!("push constants of {file}"));
        self.check_ranges(rows, file, ranges);
    }

    /// Vulkan specification, VkPushConstantRange: a range ends within maxPushConstantsSize.
    fn check_range_end(&self, rows: &mut CheckRows, file: &str, ranges: &[PipelineRange]) {
        let ends = ranges.iter().map(|range| u64::from(range.offset) + u64::from(range.size));
        let Some(end) = ends.max() else { return };
        let guaranteed = u64::from(DeviceLimits::GUARANTEED.push_constant_bytes);
        if end <= guaranteed {
            return;
        }
        let words = format!("a range of push constants of {file} ends at byte {end}");
        match self.input.device.map(|device| u64::from(device.push_constant_bytes)) {
            Some(limit) if end > limit => {
                let message = format!("{words}, this device has {limit} bytes");
                rows.add_refuted(LAYOUT, message, None);
            }
            Some(limit) => rows.add_holding(
                LAYOUT,
                format!(
                    "{words}, this device has {limit} bytes; a device need have only {guaranteed}"
                ),
            ),
            None => rows.add_undetermined(
                LAYOUT,
                format!(
                    "{words}, every device has {guaranteed} bytes; it depends on the device \
                     whether there are more"
                ),
            ),
        }
    }

    /// The kernel's push constants lie in ranges that the compute stage sees.
    fn check_ranges(&self, rows: &mut CheckRows, file: &str, ranges: &[PipelineRange]) {
        let Some(block) = &self.reflection().push_constants else {
            let message = format!("the kernel reads no push constants of {file}");
            return rows.add_holding(LAYOUT, message);
        };
        let first_byte = block.members.iter().filter_map(|member| member.offset).min();
        let (first, end) = (u64::from(first_byte.unwrap_or(0)), block.size);
        let mut spans: Vec<_> = ranges
            .iter()
            .filter(|range| range.stage == StageAccess::Compute)
            .map(|range| (u64::from(range.offset), u64::from(range.offset) + u64::from(range.size)))
            .collect();
        spans.sort_unstable();
        let mut covered_end = first;
        for (start, span_end) in spans {
            if start <= covered_end {
                covered_end = covered_end.max(span_end);
            }
        }
        if covered_end < end {
            let message = format!(
                "the kernel reads push constants from byte {first} up to byte {end}; no range of \
                 {file} for the compute stage holds byte {covered_end}"
            );
            rows.add_refuted(LAYOUT, message, None);
        } else {
            let message = format!("the ranges of {file} hold the {end} bytes of push constants");
            rows.add_holding(LAYOUT, message);
        }
    }
}

/// Stages of ranges (Vulkan specification, VkPushConstantRange and VkPipelineLayoutCreateInfo).
fn check_stages(rows: &mut CheckRows, file: &str, ranges: &[PipelineRange]) {
    if ranges.iter().any(|range| range.stages.is_empty()) {
        let message = format!(
            "a range of push constants of {file} is for no stage \
             (VUID-VkPushConstantRange-stageFlags-requiredbitmask)"
        );
        rows.add_refuted(LAYOUT, message, None);
    }
    for (index, range) in ranges.iter().enumerate() {
        let Some(other) = ranges[..index].iter().find(|other| share_stage(range, other)) else {
            continue;
        };
        let message = format!(
            "two ranges of push constants of {file} are for one stage, bytes {} to {} and bytes \
             {} to {} (VUID-VkPipelineLayoutCreateInfo-pPushConstantRanges-00292)",
            other.offset,
            other.offset + other.size,
            range.offset,
            range.offset + range.size,
        );
        return rows.add_refuted(LAYOUT, message, None);
    }
}

fn share_stage(one: &PipelineRange, other: &PipelineRange) -> bool {
    const ALL: &str = "VK_SHADER_STAGE_ALL";
    const GRAPHICS: &str = "VK_SHADER_STAGE_ALL_GRAPHICS";
    const COMPUTE: &str = "VK_SHADER_STAGE_COMPUTE_BIT";
    let covers = |stage: &String, beside: &String| match stage.as_str() {
        ALL => true,
        GRAPHICS => beside != COMPUTE,
        _ => stage == beside,
    };
    one.stages.iter().any(|stage| {
        other.stages.iter().any(|beside| covers(stage, beside) || covers(beside, stage))
    })
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
            let is_dynamic = binding.class.is_some_and(|class| class.declared_in_shader() != class);
            let words = if is_dynamic {
                "as the kernel has it but for its offset, which is the host's matter"
            } else {
                "as the kernel has it"
            };
            rows.add_holding(LAYOUT, format!("{place} of {file}: {type_name}, {words}"));
        }
    }
}

fn binding_fault(binding: &PipelineBinding, resource: &ReflectedResource) -> Option<String> {
    if binding.class.map(DescriptorClass::declared_in_shader)
        != Some(resource.class.declared_in_shader())
    {
        let type_name = &binding.type_name;
        let kernel_words = class_in_words(resource.class);
        return Some(format!("the pipeline has a {type_name}, the kernel {kernel_words}"));
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

fn class_in_words(class: DescriptorClass) -> &'static str {
    match class {
        DescriptorClass::Storage | DescriptorClass::StorageDynamic => "a storage buffer",
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => "a uniform buffer",
        DescriptorClass::StorageImage => "a storage image",
        DescriptorClass::SampledImage => "a sampled image",
        DescriptorClass::Sampler => "a sampler",
        DescriptorClass::Combined => "a combined image and sampler",
        DescriptorClass::UniformTexel => "a uniform texel buffer",
        DescriptorClass::StorageTexel => "a storage texel buffer",
    }
}
