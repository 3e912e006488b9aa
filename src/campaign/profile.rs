//! The profile of a project: which API its kernels are for, and what that API lacks of what they
//! need.
//!
//! Promises: what the profile refuses is refused by name with its place, on every engine, before
//! anything runs.
//! Does not cover: what the device that tests run on lacks (`exec::vulkan`), which is asked
//! besides.

use super::kernel::{CompiledKernel, Kernel, TargetedKernel};
use super::project::{module_bytes, module_file};
use crate::CampaignError;
use std::collections::BTreeSet;
use vkcert_instrument::DeviceAbility;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::evidence::{ProfileEvidence, RefusedKernel};
use vkcert_model::id::KernelName;
use vkcert_model::image::AddressMode;
use vkcert_model::procedure::{Language, TargetEnvironment, Test};
use vkcert_model::project::ProjectFile;
use vkcert_model::records::RecordMode;
use vkcert_model::vulkan_sc::{Profile, ScFeature};
use vkcert_requirement::Project;
use vkcert_spirv::interface::vulkan_sc_refusals;
use vkcert_spirv::validate::{self, TargetEnv};

/// What kernels are for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Target {
    /// Vulkan: the device that tests run on.
    #[default]
    Vulkan,
    /// Vulkan SC 1.0, with the optional features that the target device declares.
    VulkanSc(BTreeSet<ScFeature>),
}

impl Target {
    /// The target of a project, by its profile.
    pub fn of(settings: &ProjectFile) -> Self {
        match settings.profile {
            Profile::Vulkan => Target::Vulkan,
            Profile::VulkanSc => {
                Target::VulkanSc(settings.sc_features.iter().flatten().copied().collect())
            }
        }
    }

    /// Whether coverage records may use atomics.
    pub fn atomics(&self) -> DeviceAbility {
        match self {
            Target::Vulkan => DeviceAbility::Present,
            Target::VulkanSc(features)
                if features.contains(&ScFeature::ShaderAtomicInstructions) =>
            {
                DeviceAbility::Present
            }
            Target::VulkanSc(_) => DeviceAbility::Missing,
        }
    }

    /// A record mode that was asked for and that the target has nothing for, whether or not a
    /// device is there.
    pub fn check_mode(&self, mode: Option<RecordMode>) -> Result<(), CampaignError> {
        match (mode, self.atomics()) {
            (None | Some(RecordMode::Slots), _) | (_, DeviceAbility::Present) => Ok(()),
            (
                Some(
                    RecordMode::Private
                    | RecordMode::Workgroup
                    | RecordMode::Subgroup
                    | RecordMode::Direct,
                ),
                DeviceAbility::Missing,
            ) => Err(CampaignError::Unavailable {
                message:
                    "this record mode needs shader atomics, and `sc_features` does not declare \
                          shaderAtomicInstructions"
                        .to_owned(),
                hint: Some("use `--record-mode slots`, or leave it out".to_owned()),
            }),
        }
    }

    /// What the target lacks of what a kernel's production module needs.
    pub fn refusals(&self, kernel: &CompiledKernel) -> Vec<String> {
        let Target::VulkanSc(features) = self else { return Vec::new() };
        let mut found = Vec::new();
        let newer = [TargetEnvironment::Vulkan13, TargetEnvironment::Vulkan14];
        if newer.iter().any(|environment| environment.name() == kernel.target_env) {
            found.push(format!(
                "target environment {} (Vulkan SC 1.0 is based on Vulkan 1.2)",
                kernel.target_env
            ));
        }
        found.extend(
            vulkan_sc_refusals(&kernel.module, &kernel.entry, features)
                .iter()
                .map(ToString::to_string),
        );
        // What has a refusal already may break the rules of Vulkan 1.2 because of it.
        match validate::validate(&kernel.production, TargetEnv::Vulkan1_2) {
            Ok(()) if !features.contains(&ScFeature::ScalarBlockLayout) => {
                found.extend(scalar_layout(kernel))
            }
            Err(error) if found.is_empty() => {
                found.push(format!("not for Vulkan 1.2: {}", first_line(&error.message)))
            }
            Ok(()) | Err(_) => {}
        }
        found
    }

    /// What the target lacks of what a test itself asks for.
    pub fn lacks(&self, test: &Test) -> Option<String> {
        let Target::VulkanSc(features) = self else { return None };
        let missing = |what: String, feature: ScFeature| {
            (!features.contains(&feature))
                .then(|| format!("{what} (feature {}, not in sc_features)", feature.name()))
        };
        let size = test.dispatches.iter().find_map(|dispatch| dispatch.subgroup_size);
        let size = size.and_then(|size| {
            missing(format!("subgroup size {size}"), ScFeature::SubgroupSizeControl)
        });
        let mut samplers = test.samplers.iter();
        let mirrored =
            samplers.find(|(_, sampler)| sampler.address == Some(AddressMode::MirrorClampToEdge));
        size.or_else(|| {
            let (name, _) = mirrored?;
            missing(
                format!("address mode of sampler `{name}`"),
                ScFeature::SamplerMirrorClampToEdge,
            )
        })
    }

    /// For evidence and reports.
    pub fn evidence(&self, kernels: &[Kernel]) -> ProfileEvidence {
        let Target::VulkanSc(features) = self else { return ProfileEvidence::default() };
        let mut names: Vec<String> =
            features.iter().map(|feature| feature.name().to_owned()).collect();
        names.sort();
        let refused = kernels.iter().filter(|kernel| !kernel.refused.is_empty());
        let refused = refused.map(|kernel| RefusedKernel {
            kernel: KernelName::from(&kernel.name),
            reasons: kernel.refused.clone(),
        });
        ProfileEvidence {
            name: Profile::VulkanSc.name().to_owned(),
            features: names,
            meaning: self.meaning(),
            refused: refused.collect(),
        }
    }

    fn meaning(&self) -> Vec<String> {
        let atomics = match self.atomics() {
            DeviceAbility::Present => {
                "Atomic instructions: declared (shaderAtomicInstructions); coverage records may use them."
            }
            DeviceAbility::Missing => {
                "Atomic instructions: not declared (shaderAtomicInstructions); kernels that use them are refused, and \
                 coverage is recorded without them, in mode `slots`."
            }
        };
        [
            "Kernels are for Vulkan SC 1.0: SPIR-V up to 1.5, what Vulkan 1.2 and the shader extensions of Vulkan SC \
             offer, and of the optional features only the declared ones.",
            atomics,
            "Modules are compiled beforehand: each production module is the one in spirv/, which is byte for byte what \
             the compiler makes of its source now.",
            "The device that tests ran on is a Vulkan device; no Vulkan SC implementation took part.",
        ]
        .map(str::to_owned)
        .into()
    }
}

/// A block whose layout only scalarBlockLayout permits. The module is valid otherwise.
fn scalar_layout(kernel: &CompiledKernel) -> Option<String> {
    let error =
        validate::validate_standard_layout(&kernel.production, TargetEnv::Vulkan1_2).err()?;
    let feature = ScFeature::ScalarBlockLayout.name();
    Some(format!(
        "the layout of a block (feature {feature}, not in sc_features): {}",
        first_line(&error.message)
    ))
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default().trim()
}

/// Under Vulkan SC production modules are inputs: each must be there, and must be what the compiler
/// makes now.
pub fn check_modules(project: &Project, kernels: &[TargetedKernel]) -> Result<(), CampaignError> {
    if project.settings.value.profile == Profile::Vulkan {
        return Ok(());
    }
    let mut problems = Vec::new();
    for (kernel, settings) in kernels.iter().zip(&project.settings.value.kernels) {
        if settings.language == Language::Spirv {
            continue;
        }
        let file = module_file(&kernel.name);
        let problem = match std::fs::read(project.root.join(&file)) {
            Ok(bytes) if bytes == module_bytes(&kernel.production) => continue,
            Ok(_) => Diagnostic::new(
                "stale-module",
                format!(
                    "`{file}` is not what the compiler makes of {} now, and the profile `vulkan-sc` takes modules compiled beforehand",
                    kernel.source
                ),
            ),
            Err(_) => Diagnostic::new(
                "missing-file",
                format!(
                    "there is no `{file}`, and the profile `vulkan-sc` takes modules compiled beforehand"
                ),
            ),
        };
        problems.push(problem.hint(build_command(project)).in_file(file));
    }
    if problems.is_empty() { Ok(()) } else { Err(CampaignError::Input(problems)) }
}

fn build_command(project: &Project) -> String {
    let root = project.root.display().to_string();
    match root.as_str() {
        "" | "." => "`vkcert build` writes it".to_owned(),
        _ => format!("`vkcert build {root}` writes it"),
    }
}
