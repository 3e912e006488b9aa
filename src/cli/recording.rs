//! How kernels record on a device: what the options ask for, and what the device allows.
//!
//! Promises: a mode that was asked for is used, or refused by name before any test runs.

use super::args::RecordModeChoice;
use super::engines::{Engines, Vulkan};
use super::failure::Failure;
use super::kernel::Kernel;
use super::profile::Target;
use crate::exec::vulkan::DeviceIdentity;
use crate::instrument::{Ability, Parallelism, RecordRequest, RecordingDevice};
use crate::model::records::{RecordMode, Witnesses};

/// What the options come to on a device, with the atomics that the target of the kernels has.
pub fn request(
    mode: RecordModeChoice,
    witnesses: Witnesses,
    device: &DeviceIdentity,
    atomics: Ability,
) -> RecordRequest {
    let mode = match mode {
        RecordModeChoice::Auto => None,
        RecordModeChoice::Private => Some(RecordMode::Private),
        RecordModeChoice::Workgroup => Some(RecordMode::Workgroup),
        RecordModeChoice::Subgroup => Some(RecordMode::Subgroup),
        RecordModeChoice::Direct => Some(RecordMode::Direct),
        RecordModeChoice::Slots => Some(RecordMode::Slots),
    };
    let arithmetic = device.subgroup_operations.iter().any(|operation| operation == "arithmetic");
    let device = RecordingDevice {
        // The device itself, being one of Vulkan, has them.
        atomics,
        subgroup_arithmetic: if arithmetic { Ability::Present } else { Ability::Missing },
        workgroup_memory: u64::from(device.limits.workgroup_memory),
        parallelism: if device.kind == "cpu" { Parallelism::Few } else { Parallelism::Thousands },
    };
    RecordRequest { mode, witnesses, device }
}

/// Makes the kernels' instrumented modules anew where the request asks for other records than they have.
pub fn apply(kernels: &mut [Kernel], request: &RecordRequest) -> Result<(), Failure> {
    kernels.iter_mut().try_for_each(|kernel| kernel.record_as(request))
}

/// The same for the device of a run, where there is one.
pub fn apply_for(
    kernels: &mut [Kernel],
    engines: &Engines,
    mode: RecordModeChoice,
    witnesses: Witnesses,
    target: &Target,
) -> Result<(), Failure> {
    target.check_mode(mode)?;
    match &engines.vulkan {
        Vulkan::Ready(executor) => apply(kernels, &request(mode, witnesses, executor.device(), target.atomics())),
        Vulkan::NotRun { .. } | Vulkan::NotAsked => Ok(()),
    }
}
