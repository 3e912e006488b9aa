//! Which record mode a module gets.
//!
//! Knows: what each mode needs of module and device.
//! Promises: a mode that was asked for is used or refused by name with the reason; the automatic
//! choice always finds one.
//! Does not cover: limits of single dispatches (`form`, the engines).

use crate::form::copy_stride;
use std::collections::BTreeMap;
use vkcert_model::records::{RecordMode, Witnesses};
use vkcert_spirv::interface::Reflection;
use vkcert_spirv::module::Module;

/// Copies of the data words on a device with many invocations at once.
const COPIES: u32 = 64;

/// Most words that copies may take together.
const COPIED_WORDS: u32 = 1 << 18;

/// Most data words that are gathered in private words by choice.
const PRIVATE_WORDS: usize = 128;

/// What is asked of the records of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordRequest {
    /// None: chosen by module and device.
    pub mode: Option<RecordMode>,
    /// Whether a witness per bit is asked for.
    pub witnesses: Witnesses,
    /// What records may use.
    pub device: RecordingDevice,
}

impl RecordRequest {
    /// Whether it leads to the same records as the default: what a device has beyond atomics
    /// matters to forced modes alone.
    pub fn is_automatic(&self) -> bool {
        self.mode.is_none()
            && self.witnesses == Witnesses::Omitted
            && self.device.atomics == DeviceAbility::Present
            && self.device.parallelism == DeviceParallelism::Few
    }
}

/// Whether a device has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAbility {
    /// The device has it.
    Present,
    /// The device lacks it.
    Missing,
}

/// What records may use on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingDevice {
    /// 32-bit atomics on storage buffers: part of Vulkan, optional in Vulkan SC
    /// (shaderAtomicInstructions).
    pub atomics: DeviceAbility,
    /// Subgroup operations of the class ARITHMETIC in compute shaders.
    pub subgroup_arithmetic: DeviceAbility,
    /// maxComputeSharedMemorySize in bytes.
    pub workgroup_memory: u64,
    /// How many invocations the device runs at the same time.
    pub parallelism: DeviceParallelism,
}

/// How many invocations a device runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceParallelism {
    /// So few that they do not get into each other's way at the same words.
    #[default]
    Few,
    /// Many thousands: words that all of them test are in several copies.
    Thousands,
}

impl Default for RecordingDevice {
    /// A Vulkan device of which nothing is known (Vulkan specification, "Required Limits").
    fn default() -> Self {
        Self {
            atomics: DeviceAbility::Present,
            subgroup_arithmetic: DeviceAbility::Present,
            workgroup_memory: 16_384,
            parallelism: DeviceParallelism::Few,
        }
    }
}

/// A record mode that was asked for and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record mode `{mode}` cannot be used: {reason}")]
pub struct RefusedMode {
    /// The mode that was asked for.
    pub mode: RecordMode,
    /// What module or device lacks, in words.
    pub reason: String,
}

/// The mode for a module that gathers bits in `words` data words.
pub(super) fn choose_mode(
    record_request: &RecordRequest,
    module: &Module,
    entry_name: &str,
    word_count: usize,
) -> Result<RecordMode, RefusedMode> {
    if let Some(mode) = record_request.mode {
        return match mode_refusal(mode, &record_request.device, module, entry_name, word_count) {
            Some(reason) => Err(RefusedMode { mode, reason }),
            None => Ok(mode),
        };
    }
    let mode_fits = |mode: &RecordMode| {
        mode_refusal(*mode, &record_request.device, module, entry_name, word_count).is_none()
    };
    let preferred_mode =
        if word_count <= PRIVATE_WORDS { RecordMode::Private } else { RecordMode::Direct };
    // Slots ask nothing of a device.
    Ok([preferred_mode].into_iter().find(mode_fits).unwrap_or(RecordMode::Slots))
}

/// How many copies of `words` data words there are.
pub(crate) fn copy_count(mode: RecordMode, device: &RecordingDevice, data_words: u32) -> u32 {
    match (mode, device.parallelism) {
        (RecordMode::Slots, _) | (_, DeviceParallelism::Few) => 1,
        (
            RecordMode::Private | RecordMode::Workgroup | RecordMode::Subgroup | RecordMode::Direct,
            DeviceParallelism::Thousands,
        ) => {
            let fitting_copies = COPIED_WORDS / copy_stride(data_words, COPIES).max(1);
            1 << fitting_copies.clamp(1, COPIES).ilog2()
        }
    }
}

fn mode_refusal(
    mode: RecordMode,
    device: &RecordingDevice,
    module: &Module,
    entry_name: &str,
    word_count: usize,
) -> Option<String> {
    if mode == RecordMode::Slots {
        return None;
    }
    if device.atomics == DeviceAbility::Missing {
        return Some("there are no shader atomics (feature shaderAtomicInstructions)".to_owned());
    }
    match mode {
        RecordMode::Private | RecordMode::Direct | RecordMode::Slots => None,
        RecordMode::Workgroup => {
            let used_bytes: u64 = Reflection::of_entry_point(module, entry_name, &BTreeMap::new())
                .map_or(0, |reflection| {
                    reflection.workgroup.iter().map(|variable| variable.size).sum()
                });
            let needed_bytes = used_bytes + 4 * word_count as u64;
            let most_bytes = device.workgroup_memory;
            (needed_bytes > most_bytes).then(|| {
                format!(
                    "it takes {needed_bytes} bytes of workgroup memory with the kernel's own {used_bytes} (the limit is {most_bytes})"
                )
            })
        }
        RecordMode::Subgroup if module.header.version() < (1, 3) => {
            let (major, minor) = module.header.version();
            Some(format!(
                "subgroup operations need SPIR-V 1.3, and the module is SPIR-V {major}.{minor}"
            ))
        }
        RecordMode::Subgroup => (device.subgroup_arithmetic == DeviceAbility::Missing).then(|| {
            "the device has no subgroup operations of the class ARITHMETIC in compute shaders"
                .to_owned()
        }),
    }
}
