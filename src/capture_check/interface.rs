//! Whether what the host gives a dispatch is what its kernel declares.
//!
//! Knows: push constants, specialization, descriptors and limits (Vulkan specification, "Shader
//! Interfaces", "Limits").
//! Promises: a pipeline is told of once, with the first dispatch that shows a fault of it.

use crate::contents::KnownGroups;
use crate::kernel::{KernelFacts, KernelTable, raw_value};
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::BTreeSet;
use vkcert_capture::event::Limits;
use vkcert_capture::program::{
    BoundResource, BoundView, Dispatch, Groups, PARTIALLY_BOUND, Pipeline, Program,
};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::ReflectedResource;

/// Makes the checks of interfaces.
pub(crate) fn check_interfaces(
    program: &Program,
    kernels: &KernelTable,
    groups: &KnownGroups,
    report: &mut CaptureReport,
) {
    let limits = program.limits_of_pipelines();
    let is_asked = |(index, _): &(usize, &Dispatch)| report.scope.has_dispatch(*index);
    let dispatches: Vec<(usize, &Dispatch)> = program.dispatches().filter(is_asked).collect();
    let is_of_scope = |index: usize| report.scope.has_pipeline(index);
    let pipelines: Vec<_> =
        kernels.rows(program).filter(|(index, _, _)| is_of_scope(*index)).collect();
    let (pipeline_count, dispatch_count) = (pipelines.len(), dispatches.len());
    for (index, pipeline, kernel) in pipelines {
        match kernel {
            Ok(kernel) => {
                check_specialization(index, pipeline, kernel, report);
                check_push_range(program, index, pipeline, kernel, report);
                check_local_size(limits[index], index, kernel, report);
            }
            Err(reason) => {
                let message = format!("pipeline {}: {reason}", index + 1);
                let check = CaptureCheckName::ShaderModule;
                report.add(check, CheckStatus::Undetermined, message, &[]);
            }
        }
    }
    let mut told = BTreeSet::new();
    for (index, dispatch) in dispatches {
        check_groups(program, index, dispatch, groups.get(&index).copied(), report);
        if let Ok(kernel) = kernels.of_pipeline(dispatch.pipeline) {
            check_dispatch(program, index, dispatch, kernel, &mut told, report);
        }
    }
    for (check, what) in [
        (
            CaptureCheckName::ShaderModule,
            format!("the modules of {pipeline_count} pipelines are read"),
        ),
        (
            CaptureCheckName::SpecializationIds,
            format!("{pipeline_count} pipelines set what their kernels declare"),
        ),
        (
            CaptureCheckName::LocalSizeLimits,
            format!("{pipeline_count} pipelines are within the limits of the device"),
        ),
        (
            CaptureCheckName::DispatchLimits,
            format!("{dispatch_count} dispatches are within the limits of the device"),
        ),
        (
            CaptureCheckName::PushConstants,
            format!("{dispatch_count} dispatches have set what their kernels read"),
        ),
        (
            CaptureCheckName::Descriptors,
            format!("{dispatch_count} dispatches have a descriptor for what their kernels use"),
        ),
        (
            CaptureCheckName::BindingSize,
            format!("{dispatch_count} dispatches have ranges as large as the blocks"),
        ),
    ] {
        report.holds(check, what);
    }
}

fn refute(report: &mut CaptureReport, check: CaptureCheckName, message: String, at: &[usize]) {
    report.add(check, CheckStatus::Refuted, message, at);
}

fn check_specialization(
    index: usize,
    pipeline: &Pipeline,
    kernel: &KernelFacts,
    report: &mut CaptureReport,
) {
    const CHECK: CaptureCheckName = CaptureCheckName::SpecializationIds;
    for value in &pipeline.specialization {
        let declared =
            kernel.reflection.specialization.iter().find(|constant| constant.spec_id == value.id);
        let Some(constant) = declared else {
            let message = format!(
                "pipeline {} sets the specialization constant {}, which `{}` does not declare",
                index + 1,
                value.id,
                pipeline.entry
            );
            refute(report, CHECK, message, &[]);
            continue;
        };
        let bits = value.value.0.len() * 8;
        if bits != constant.width as usize || raw_value(value).is_none() {
            let message = format!(
                "pipeline {} sets the specialization constant {} with {bits} bits, and it has {} \
                 (VkSpecializationMapEntry)",
                index + 1,
                value.id,
                constant.width
            );
            refute(report, CHECK, message, &[]);
        }
    }
}

/// VK_SHADER_STAGE_COMPUTE_BIT.
const COMPUTE: u32 = 0x20;

fn check_push_range(
    program: &Program,
    index: usize,
    pipeline: &Pipeline,
    kernel: &KernelFacts,
    report: &mut CaptureReport,
) {
    let ranges = program.layouts[pipeline.layout].push_constants.iter();
    let ranges: Vec<(u64, u64)> = ranges
        .filter(|range| range.stages & COMPUTE != 0)
        .map(|range| (u64::from(range.offset), u64::from(range.offset) + u64::from(range.size)))
        .collect();
    for (start, bytes) in &kernel.push_reads {
        let end = start + bytes;
        let inside = ranges.iter().any(|(first, last)| first <= start && end <= *last);
        if !inside {
            let message = format!(
                "pipeline {}: `{}` reads push constants from byte {start} to {end}, and no range \
                 of its pipeline layout has them for compute",
                index + 1,
                pipeline.entry
            );
            refute(report, CaptureCheckName::PushConstants, message, &[]);
        }
    }
}

fn check_local_size(
    limits: Option<&Limits>,
    index: usize,
    kernel: &KernelFacts,
    report: &mut CaptureReport,
) {
    let Some(limits) = limits else {
        let number = index + 1;
        let message =
            format!("pipeline {number} is dispatched nowhere: which device has it is not known");
        report.add(CaptureCheckName::LocalSizeLimits, CheckStatus::Undetermined, message, &[]);
        return;
    };
    let size = kernel.reflection.local_size;
    let invocations = size.iter().fold(1u64, |product, number| product * u64::from(*number));
    let bytes: u64 = kernel.reflection.workgroup.iter().map(|variable| variable.size).sum();
    let mut faults = Vec::new();
    if (0..3).any(|dimension| size[dimension] > limits.local_size[dimension]) {
        faults.push(format!("the local size {size:?} is above {:?}", limits.local_size));
    }
    if invocations > u64::from(limits.invocations) {
        faults.push(format!("{invocations} invocations are above {}", limits.invocations));
    }
    if bytes > u64::from(limits.workgroup_bytes) {
        faults.push(format!(
            "{bytes} bytes of workgroup memory are above {}",
            limits.workgroup_bytes
        ));
    }
    for fault in faults {
        let message = format!("pipeline {}: {fault}, the limit of the device", index + 1);
        refute(report, CaptureCheckName::LocalSizeLimits, message, &[]);
    }
}

fn check_groups(
    program: &Program,
    index: usize,
    dispatch: &Dispatch,
    groups: Option<[u32; 3]>,
    report: &mut CaptureReport,
) {
    const CHECK: CaptureCheckName = CaptureCheckName::DispatchLimits;
    let Some(limits) = program.limits_at(index) else { return };
    let name = operation_in_words(program, index);
    let Some(groups) = groups else {
        let message =
            format!("{name} is indirect: how many workgroups it has is not in the capture");
        report.add(CHECK, CheckStatus::Undetermined, message, &[index]);
        return;
    };
    if matches!(dispatch.groups, Groups::Indirect { .. }) {
        let [x, y, z] = groups;
        report.remark(format!("{name} is indirect and reads {x} x {y} x {z} workgroups"));
    }
    let above = (0..3).any(|dimension| {
        u64::from(dispatch.base[dimension]) + u64::from(groups[dimension])
            > u64::from(limits.groups[dimension])
    });
    if above {
        let limit = limits.groups;
        let message = format!("{name} has {groups:?} workgroups, above {limit:?}");
        refute(report, CHECK, message, &[index]);
    }
}

/// What was told of a pipeline: a check and a binding, or a byte of push constants.
type Told = BTreeSet<(CaptureCheckName, usize, u32, u32)>;

fn check_dispatch(
    program: &Program,
    index: usize,
    dispatch: &Dispatch,
    kernel: &KernelFacts,
    told: &mut Told,
    report: &mut CaptureReport,
) {
    if let Some(name) = &dispatch.unseen {
        if told.insert((CaptureCheckName::Descriptors, dispatch.pipeline, u32::MAX, 0)) {
            let operation = operation_in_words(program, index);
            let message =
                format!("{operation}: what is bound is not known behind {name}, not modelled");
            let check = CaptureCheckName::Descriptors;
            report.add(check, CheckStatus::Undetermined, message, &[index]);
        }
        return;
    }
    for (start, bytes) in &kernel.push_reads {
        let unset = (*start..start + bytes).find(|byte| {
            let byte = usize::try_from(*byte).ok();
            byte.and_then(|byte| dispatch.push_constants.get(byte).copied().flatten()).is_none()
        });
        let Some(byte) = unset else { continue };
        let key = (CaptureCheckName::PushConstants, dispatch.pipeline, 0, *start as u32);
        if told.insert(key) {
            let message = format!(
                "{} reads push constants from byte {start} to {}, and byte {byte} is read and \
                 never set",
                operation_in_words(program, index),
                start + bytes
            );
            refute(report, CaptureCheckName::PushConstants, message, &[index]);
        }
    }
    for resource in &kernel.reflection.resources {
        check_resource(program, index, dispatch, resource, told, report);
    }
}

fn check_resource(
    program: &Program,
    index: usize,
    dispatch: &Dispatch,
    resource: &ReflectedResource,
    told: &mut Told,
    report: &mut CaptureReport,
) {
    let (set, binding) = (resource.set, resource.binding);
    let name = || {
        let shown = resource.name.as_deref().unwrap_or("without a name");
        format!("binding {set}.{binding} ({shown})")
    };
    let mut tell = |check: CaptureCheckName, status: CheckStatus, fault: String| {
        if told.insert((check, dispatch.pipeline, set, binding)) {
            let operation = operation_in_words(program, index);
            let message = format!("{operation}, {}: {fault}", name());
            report.add(check, status, message, &[index]);
        }
    };
    let mut descriptors = dispatch.descriptors_at(set, binding).peekable();
    if descriptors.peek().is_none() {
        let layout = dispatch.sets.iter().find(|bound| bound.number == set);
        let layout = layout.map(|bound| &bound.layout);
        // A sampler of the layout needs no write.
        if layout.is_some_and(|layout| layout.has_own_sampler(binding)) {
            return;
        }
        if layout.is_some_and(|layout| layout.has_binding_flag(binding, PARTIALLY_BOUND)) {
            let fault = "no descriptor was written, and whether the kernel reaches it is not known \
                         (PARTIALLY_BOUND)";
            tell(CaptureCheckName::Descriptors, CheckStatus::Undetermined, fault.to_owned());
            return;
        }
        let fault = if dispatch.disturbed.contains(&set) {
            "its set was bound with a pipeline layout that is not compatible with that of the \
             pipeline, or with that of sets that were bound later (Vulkan specification, \
             \"Pipeline Layout Compatibility\")"
        } else {
            "no descriptor was written, and the kernel uses it"
        };
        let fault = fault.to_owned();
        tell(CaptureCheckName::Descriptors, CheckStatus::Refuted, fault);
        return;
    }
    for (descriptor, dynamic_offset) in descriptors {
        if !fits(resource.class, descriptor.descriptor_type) {
            let fault = format!(
                "the descriptor is of type {}, and the kernel declares {:?}",
                descriptor.descriptor_type, resource.class
            );
            tell(CaptureCheckName::Descriptors, CheckStatus::Refuted, fault);
            continue;
        }
        match &descriptor.resource {
            BoundResource::Buffer { .. } => {
                let bound = descriptor.buffer_range(dynamic_offset, &program.buffers);
                let size = bound.map_or(0, |bound| bound.size);
                if size < resource.fixed_bytes {
                    let fault = format!(
                        "{size} bytes are bound, and the block has {}",
                        resource.fixed_bytes
                    );
                    tell(CaptureCheckName::BindingSize, CheckStatus::Refuted, fault);
                }
            }
            BoundResource::Inline(bytes) => {
                let layout = dispatch.sets.iter().find(|bound| bound.number == set);
                let described = layout.and_then(|bound| bound.layout.bindings.get(&binding));
                let size = described.map_or(0, |(_, size)| u64::from(*size));
                let written = bytes.iter().flatten().count();
                if size < resource.fixed_bytes {
                    let fault = format!(
                        "the binding has {size} bytes, and the block has {}",
                        resource.fixed_bytes
                    );
                    tell(CaptureCheckName::BindingSize, CheckStatus::Refuted, fault);
                } else if (written as u64) < resource.fixed_bytes {
                    let fault = format!(
                        "{written} bytes are written inline, the block has {}, and whether the \
                         kernel reads the others is not known",
                        resource.fixed_bytes
                    );
                    tell(CaptureCheckName::BindingSize, CheckStatus::Undetermined, fault);
                }
            }
            BoundResource::Image => {}
            BoundResource::View(bound) => {
                if let Some(fault) = view_fault(program, resource, bound) {
                    tell(CaptureCheckName::Descriptors, CheckStatus::Refuted, fault);
                }
            }
            BoundResource::Null => {
                let fault = "the descriptor is null, and whether the kernel reaches it is not \
                             known"
                    .to_owned();
                tell(CaptureCheckName::Descriptors, CheckStatus::Undetermined, fault);
            }
            BoundResource::Other => {
                let fault = "the descriptor is of a kind that is not modelled".to_owned();
                tell(CaptureCheckName::Descriptors, CheckStatus::Undetermined, fault);
            }
        }
    }
}

/// What of a descriptor is missing for its kernel.
fn view_fault(
    program: &Program,
    resource: &ReflectedResource,
    bound: &BoundView,
) -> Option<String> {
    let (usage_bit, needs_sampler) = match resource.class {
        DescriptorClass::Sampler => (None, true),
        DescriptorClass::Combined => (Some(SAMPLED_USAGE), true),
        DescriptorClass::SampledImage => (Some(SAMPLED_USAGE), false),
        DescriptorClass::StorageImage => (Some(STORAGE_USAGE), false),
        DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel
        | DescriptorClass::Uniform
        | DescriptorClass::UniformDynamic
        | DescriptorClass::Storage
        | DescriptorClass::StorageDynamic => (None, false),
    };
    if (usage_bit.is_some() && bound.view.is_none()) || (needs_sampler && bound.sampler.is_none()) {
        return Some(
            "the descriptor has no image, or no sampler, and the kernel declares both what \
                     it is written for"
                .to_owned(),
        );
    }
    let usage_bit = usage_bit?;
    let image = program.image_views[bound.view?].image;
    let usage = program.images[image].made.usage;
    (usage & usage_bit == 0).then(|| {
        format!("image {} was made for another usage ({usage:#x}, VkImageUsageFlags)", image + 1)
    })
}

/// VK_IMAGE_USAGE_SAMPLED_BIT and VK_IMAGE_USAGE_STORAGE_BIT.
const SAMPLED_USAGE: u32 = 0x4;
const STORAGE_USAGE: u32 = 0x8;

/// Whether a VkDescriptorType is what a module asks for ("DescriptorSet and Binding Assignment").
fn fits(class: DescriptorClass, descriptor_type: i32) -> bool {
    const INLINE_UNIFORM_BLOCK: i32 = 1_000_138_000;
    let types: &[i32] = match class {
        DescriptorClass::Sampler => &[0],
        DescriptorClass::Combined => &[1],
        DescriptorClass::SampledImage => &[2],
        DescriptorClass::StorageImage => &[3],
        DescriptorClass::UniformTexel => &[4],
        DescriptorClass::StorageTexel => &[5],
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => &[6, 8, INLINE_UNIFORM_BLOCK],
        DescriptorClass::Storage | DescriptorClass::StorageDynamic => &[7, 9],
    };
    types.contains(&descriptor_type)
}
