//! How kernels record on a device: what the options ask for, and what the device allows.
//!
//! Promises: a mode that was asked for is used, or refused by name before any test runs.

use super::engines::{DeviceEngine, Engines};
use super::kernel::Kernel;
use super::profile::ProjectTarget;
use crate::CampaignError;
use vkcert_instrument::{DeviceAbility, DeviceParallelism, RecordRequest, RecordingDevice};
use vkcert_model::device_type::DeviceType;
use vkcert_model::evidence::Evidence;
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_model::verdict::EngineName;
use vkcert_vulkan::DeviceIdentity;

/// What the options come to on a device, with the atomics that the target of the kernels has.
pub fn record_request(
    mode: Option<RecordMode>,
    witnesses: Witnesses,
    device_identity: &DeviceIdentity,
    atomics: DeviceAbility,
) -> RecordRequest {
    let has_arithmetic =
        device_identity.subgroup_operations.iter().any(|operation| operation == "arithmetic");
    let device_identity = RecordingDevice {
        // The device itself, being one of Vulkan, has them.
        atomics,
        subgroup_arithmetic: if has_arithmetic {
            DeviceAbility::Present
        } else {
            DeviceAbility::Missing
        },
        workgroup_memory: u64::from(device_identity.limits.workgroup_memory),
        parallelism: if device_identity.kind == DeviceType::Cpu {
            DeviceParallelism::Few
        } else {
            DeviceParallelism::Thousands
        },
    };
    RecordRequest { mode, witnesses, device: device_identity }
}

/// Makes the kernels record on the device of a run, where there is one, as is asked for.
pub fn apply_for(
    kernels: &mut [Kernel],
    engines: &Engines,
    mode: Option<RecordMode>,
    witnesses: Witnesses,
    target: &ProjectTarget,
) -> Result<(), CampaignError> {
    target.check_mode(mode)?;
    match &engines.vulkan {
        DeviceEngine::Ready(executor) => {
            let request =
                record_request(mode, witnesses, executor.device(), target.atomics_ability());
            kernels.iter_mut().try_for_each(|kernel| kernel.record_as(&request))
        }
        DeviceEngine::NotRun { .. } | DeviceEngine::NotAsked => Ok(()),
    }
}

/// Makes the kernels record as stored evidence says that they did on its device.
pub fn restore_recording(
    kernels: &mut [Kernel],
    stored_evidence: &Evidence,
    target: &ProjectTarget,
) -> Result<(), CampaignError> {
    let device = stored_evidence
        .campaign
        .engines
        .iter()
        .find(|row| row.engine == EngineName::Vulkan && row.ran);
    let Some(device) = device else { return Ok(()) };
    let identity_text =
        |name: &str| device.identity.get(name).map(String::as_str).unwrap_or_default();
    for kernel in kernels {
        let mut kernel_rows =
            stored_evidence.kernels.iter().filter(|row| row.kernel.as_str() == kernel.name);
        let Some(recorded) = kernel_rows.find_map(|row| row.recording) else { continue };
        let is_grouped = recorded.mode == RecordMode::Subgroup;
        let recording_device = RecordingDevice {
            atomics: target.atomics_ability(),
            subgroup_arithmetic: if is_grouped {
                DeviceAbility::Present
            } else {
                DeviceAbility::Missing
            },
            workgroup_memory: identity_text("maxComputeSharedMemorySize")
                .parse()
                .unwrap_or_default(),
            parallelism: if DeviceType::of_identity(&device.identity) == Some(DeviceType::Cpu) {
                DeviceParallelism::Few
            } else {
                DeviceParallelism::Thousands
            },
        };
        let automatic_request =
            RecordRequest { mode: None, witnesses: recorded.witnesses, device: recording_device };
        kernel.record_as(&automatic_request)?;
        let mode = kernel.measured().map(|measured| measured.record_buffer.mode);
        if mode.is_some_and(|mode| mode != recorded.mode) {
            kernel.record_as(&RecordRequest { mode: Some(recorded.mode), ..automatic_request })?;
        }
    }
    Ok(())
}
