//! Whether what the host gives a dispatch is what its kernel declares.
//!
//! Knows: push constants, specialization, descriptors (`descriptors`) and limits (Vulkan
//! specification, "Shader Interfaces", "Limits").
//! Promises: a pipeline is told of once, with the first dispatch that shows a fault of it.

use crate::contents::KnownGroups;
use crate::descriptors::SoughtResource;
use crate::kernel::{KernelFacts, KernelTable, raw_value};
use crate::row::{CaptureCheckName, CaptureReport};
use crate::words::operation_in_words;
use std::collections::BTreeSet;
use vkcert_capture::event::Limits;
use vkcert_capture::program::{Dispatch, Groups, Pipeline, Program};
use vkcert_model::evidence::CheckStatus;

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

/// What was told of a pipeline: a check with a binding, or a byte of push constants.
type Told = BTreeSet<(CaptureCheckName, usize, (u32, u32), Certainty)>;

/// How sure a fault is: what is open hides none that is sure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    Sure,
    Open,
}

impl Certainty {
    fn of(status: &CheckStatus) -> Self {
        match status {
            CheckStatus::Refuted => Certainty::Sure,
            CheckStatus::Holds | CheckStatus::Undetermined | CheckStatus::Unknown(_) => {
                Certainty::Open
            }
        }
    }
}

fn check_dispatch(
    program: &Program,
    index: usize,
    dispatch: &Dispatch,
    kernel: &KernelFacts,
    told: &mut Told,
    report: &mut CaptureReport,
) {
    if let Some(name) = &dispatch.unseen {
        let place = (u32::MAX, 0);
        if told.insert((CaptureCheckName::Descriptors, dispatch.pipeline, place, Certainty::Open)) {
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
        let place = (0, *start as u32);
        let key = (CaptureCheckName::PushConstants, dispatch.pipeline, place, Certainty::Sure);
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
        let sought = SoughtResource { dispatch, kernel, resource };
        for (check, status, fault) in sought.faults(program) {
            let certainty = Certainty::of(&status);
            let binding = (resource.set, resource.binding);
            if told.insert((check, dispatch.pipeline, binding, certainty)) {
                let operation = operation_in_words(program, index);
                let message = format!("{operation}, {}: {fault}", sought.name());
                report.add(check, status, message, &[index]);
            }
        }
    }
}
