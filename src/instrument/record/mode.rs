//! Which record mode a module gets.
//!
//! Knows: what each mode needs of module and device.
//! Promises: a mode that was asked for is used or refused by name with the reason; the automatic
//! choice always finds one.
//! Does not cover: limits of single dispatches (`form`, the engines).

use crate::form::stride;
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
    pub witnesses: Witnesses,
    pub device: RecordingDevice,
}

impl RecordRequest {
    /// Whether it leads to the same records as the default: what a device has beyond atomics
    /// matters to forced modes alone.
    pub fn is_automatic(&self) -> bool {
        self.mode.is_none()
            && self.witnesses == Witnesses::Omitted
            && self.device.atomics == Ability::Present
            && self.device.parallelism == Parallelism::Few
    }
}

/// Whether a device has something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    Present,
    Missing,
}

/// What records may use on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingDevice {
    /// 32-bit atomics on storage buffers: part of Vulkan, optional in Vulkan SC
    /// (shaderAtomicInstructions).
    pub atomics: Ability,
    /// Subgroup operations of the class ARITHMETIC in compute shaders.
    pub subgroup_arithmetic: Ability,
    /// maxComputeSharedMemorySize in bytes.
    pub workgroup_memory: u64,
    pub parallelism: Parallelism,
}

/// How many invocations a device runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallelism {
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
            atomics: Ability::Present,
            subgroup_arithmetic: Ability::Present,
            workgroup_memory: 16_384,
            parallelism: Parallelism::Few,
        }
    }
}

/// A record mode that was asked for and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("record mode `{mode}` cannot be used: {reason}")]
pub struct RefusedMode {
    pub mode: RecordMode,
    pub reason: String,
}

/// The mode for a module that gathers bits in `words` data words.
pub(super) fn choose(
    request: &RecordRequest,
    module: &Module,
    entry: &str,
    words: usize,
) -> Result<RecordMode, RefusedMode> {
    if let Some(mode) = request.mode {
        return match refusal(mode, &request.device, module, entry, words) {
            Some(reason) => Err(RefusedMode { mode, reason }),
            None => Ok(mode),
        };
    }
    let fits = |mode: &RecordMode| refusal(*mode, &request.device, module, entry, words).is_none();
    let wished = if words <= PRIVATE_WORDS { RecordMode::Private } else { RecordMode::Direct };
    // Slots ask nothing of a device.
    Ok([wished].into_iter().find(fits).unwrap_or(RecordMode::Slots))
}

/// How many copies of `words` data words there are.
pub(crate) fn copies(mode: RecordMode, device: &RecordingDevice, words: u32) -> u32 {
    match (mode, device.parallelism) {
        (RecordMode::Slots, _) | (_, Parallelism::Few) => 1,
        (
            RecordMode::Private | RecordMode::Workgroup | RecordMode::Subgroup | RecordMode::Direct,
            Parallelism::Thousands,
        ) => {
            let fitting = COPIED_WORDS / stride(words, COPIES).max(1);
            1 << fitting.clamp(1, COPIES).ilog2()
        }
    }
}

fn refusal(
    mode: RecordMode,
    device: &RecordingDevice,
    module: &Module,
    entry: &str,
    words: usize,
) -> Option<String> {
    if mode == RecordMode::Slots {
        return None;
    }
    if device.atomics == Ability::Missing {
        return Some("there are no shader atomics (feature shaderAtomicInstructions)".to_owned());
    }
    match mode {
        RecordMode::Private | RecordMode::Direct | RecordMode::Slots => None,
        RecordMode::Workgroup => {
            let used: u64 = Reflection::of_entry_point(module, entry, &BTreeMap::new())
                .map_or(0, |reflection| {
                    reflection.workgroup.iter().map(|variable| variable.size).sum()
                });
            let needed = used + 4 * words as u64;
            let most = device.workgroup_memory;
            (needed > most).then(|| {
                format!(
                    "it takes {needed} bytes of workgroup memory with the kernel's own {used} (the limit is {most})"
                )
            })
        }
        RecordMode::Subgroup if module.header.version() < (1, 3) => {
            let (major, minor) = module.header.version();
            Some(format!(
                "subgroup operations need SPIR-V 1.3, and the module is SPIR-V {major}.{minor}"
            ))
        }
        RecordMode::Subgroup => (device.subgroup_arithmetic == Ability::Missing).then(|| {
            "the device has no subgroup operations of the class ARITHMETIC in compute shaders"
                .to_owned()
        }),
    }
}
