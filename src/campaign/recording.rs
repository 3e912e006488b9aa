//! How kernels record on a device: what the options ask for, and what the device allows.
//!
//! Promises: a mode that was asked for is used, or refused by name before any test runs.

use super::engines::{Engines, Vulkan};
use super::kernel::Kernel;
use super::profile::Target;
use crate::CampaignError;
use vkcert_instrument::{DeviceAbility, DeviceParallelism, RecordRequest, RecordingDevice};
use vkcert_model::evidence::Evidence;
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_model::verdict::EngineName;
use vkcert_vulkan::DeviceIdentity;

/// What the options come to on a device, with the atomics that the target of the kernels has.
pub fn request(
    mode: Option<RecordMode>,
    witnesses: Witnesses,
    device: &DeviceIdentity,
    atomics: DeviceAbility,
) -> RecordRequest {
    let arithmetic = device.subgroup_operations.iter().any(|operation| operation == "arithmetic");
    let device = RecordingDevice {
        // The device itself, being one of Vulkan, has them.
        atomics,
        subgroup_arithmetic: if arithmetic {
            DeviceAbility::Present
        } else {
            DeviceAbility::Missing
        },
        workgroup_memory: u64::from(device.limits.workgroup_memory),
        parallelism: if device.kind == "cpu" {
            DeviceParallelism::Few
        } else {
            DeviceParallelism::Thousands
        },
    };
    RecordRequest { mode, witnesses, device }
}

/// Makes the kernels record on the device of a run, where there is one, as is asked for.
pub fn apply_for(
    kernels: &mut [Kernel],
    engines: &Engines,
    mode: Option<RecordMode>,
    witnesses: Witnesses,
    target: &Target,
) -> Result<(), CampaignError> {
    target.check_mode(mode)?;
    match &engines.vulkan {
        Vulkan::Ready(executor) => {
            let request = request(mode, witnesses, executor.device(), target.atomics());
            kernels.iter_mut().try_for_each(|kernel| kernel.record_as(&request))
        }
        Vulkan::NotRun { .. } | Vulkan::NotAsked => Ok(()),
    }
}

/// Makes the kernels record as stored evidence says that they did on its device.
pub fn restore(
    kernels: &mut [Kernel],
    stored: &Evidence,
    target: &Target,
) -> Result<(), CampaignError> {
    let device =
        stored.campaign.engines.iter().find(|row| row.engine == EngineName::Vulkan && row.ran);
    let Some(device) = device else { return Ok(()) };
    let text = |name: &str| device.identity.get(name).map(String::as_str).unwrap_or_default();
    for kernel in kernels {
        let mut rows = stored.kernels.iter().filter(|row| row.kernel.as_str() == kernel.name);
        let Some(recorded) = rows.find_map(|row| row.recording) else { continue };
        let grouped = recorded.mode == RecordMode::Subgroup;
        let device = RecordingDevice {
            atomics: target.atomics(),
            subgroup_arithmetic: if grouped {
                DeviceAbility::Present
            } else {
                DeviceAbility::Missing
            },
            workgroup_memory: text("maxComputeSharedMemorySize").parse().unwrap_or_default(),
            parallelism: if text("device type") == "cpu" {
                DeviceParallelism::Few
            } else {
                DeviceParallelism::Thousands
            },
        };
        let automatic = RecordRequest { mode: None, witnesses: recorded.witnesses, device };
        kernel.record_as(&automatic)?;
        let mode = kernel.measured().map(|measured| measured.record_buffer.mode);
        if mode.is_some_and(|mode| mode != recorded.mode) {
            kernel.record_as(&RecordRequest { mode: Some(recorded.mode), ..automatic })?;
        }
    }
    Ok(())
}
