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
use vkcert_model::vulkan_sc::{NO_VULKAN_SC_RAN, Profile, ScFeature};
use vkcert_requirement::Project;
use vkcert_spirv::interface::vulkan_sc_refusals;
use vkcert_spirv::validate::{self, TargetEnv};

/// What kernels are for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ProjectTarget {
    /// Vulkan: the device that tests run on.
    #[default]
    Vulkan,
    /// Vulkan SC 1.0, with the optional features that the target device declares.
    VulkanSc(BTreeSet<ScFeature>),
}

impl ProjectTarget {
    /// The target of a project, by its profile.
    pub fn of_project(project_settings: &ProjectFile) -> Self {
        match project_settings.profile {
            Profile::Vulkan => ProjectTarget::Vulkan,
            Profile::VulkanSc => ProjectTarget::VulkanSc(
                project_settings.sc_features.iter().flatten().copied().collect(),
            ),
        }
    }

    /// Whether coverage records may use atomics.
    pub fn atomics_ability(&self) -> DeviceAbility {
        match self {
            ProjectTarget::Vulkan => DeviceAbility::Present,
            ProjectTarget::VulkanSc(features)
                if features.contains(&ScFeature::ShaderAtomicInstructions) =>
            {
                DeviceAbility::Present
            }
            ProjectTarget::VulkanSc(_) => DeviceAbility::Missing,
        }
    }

    /// A record mode that was asked for and that the target has nothing for, whether or not a
    /// device is there.
    pub fn check_mode(&self, mode: Option<RecordMode>) -> Result<(), CampaignError> {
        match (mode, self.atomics_ability()) {
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
    pub fn refusals_of_kernel(&self, kernel: &CompiledKernel) -> Vec<String> {
        let ProjectTarget::VulkanSc(features) = self else { return Vec::new() };
        let mut refusals = Vec::new();
        let newer_environments = [TargetEnvironment::Vulkan13, TargetEnvironment::Vulkan14];
        if newer_environments.iter().any(|environment| environment.name() == kernel.target_env) {
            refusals.push(format!(
                "target environment {} (Vulkan SC 1.0 is based on Vulkan 1.2)",
                kernel.target_env
            ));
        }
        refusals.extend(
            vulkan_sc_refusals(&kernel.module, &kernel.entry, features)
                .iter()
                .map(ToString::to_string),
        );
        // What has a refusal already may break the rules of Vulkan 1.2 because of it.
        match validate::validate(&kernel.production, TargetEnv::Vulkan1_2) {
            Ok(()) if !features.contains(&ScFeature::ScalarBlockLayout) => {
                refusals.extend(scalar_layout(kernel))
            }
            Err(error) if refusals.is_empty() => {
                refusals.push(format!("not for Vulkan 1.2: {}", first_line(&error.message)))
            }
            Ok(()) | Err(_) => {}
        }
        refusals
    }

    /// What the target lacks of what a test itself asks for.
    pub fn refusal_of_test(&self, test: &Test) -> Option<String> {
        let ProjectTarget::VulkanSc(features) = self else { return None };
        let missing_feature = |what: String, feature: ScFeature| {
            (!features.contains(&feature))
                .then(|| format!("{what} (feature {}, not in sc_features)", feature.name()))
        };
        let subgroup_size = test.dispatches.iter().find_map(|dispatch| dispatch.subgroup_size);
        let subgroup_size = subgroup_size.and_then(|subgroup_size| {
            missing_feature(
                format!("subgroup size {subgroup_size}"),
                ScFeature::SubgroupSizeControl,
            )
        });
        let mut samplers = test.samplers.iter();
        let mirrored_sampler =
            samplers.find(|(_, sampler)| sampler.address == Some(AddressMode::MirrorClampToEdge));
        subgroup_size.or_else(|| {
            let (name, _) = mirrored_sampler?;
            missing_feature(
                format!("address mode of sampler `{name}`"),
                ScFeature::SamplerMirrorClampToEdge,
            )
        })
    }

    /// For evidence and reports.
    pub fn profile_evidence(&self, kernels: &[Kernel]) -> ProfileEvidence {
        let ProjectTarget::VulkanSc(features) = self else { return ProfileEvidence::default() };
        let mut feature_names: Vec<String> =
            features.iter().map(|feature| feature.name().to_owned()).collect();
        feature_names.sort();
        let refused_kernels = kernels.iter().filter(|kernel| !kernel.refused.is_empty());
        let refused_kernels = refused_kernels.map(|kernel| RefusedKernel {
            kernel: KernelName::from(&kernel.name),
            reasons: kernel.refused.clone(),
        });
        ProfileEvidence {
            name: Profile::VulkanSc.name().to_owned(),
            features: feature_names,
            meaning: self.meaning_in_words(),
            refused: refused_kernels.collect(),
        }
    }

    fn meaning_in_words(&self) -> Vec<String> {
        let atomics = match self.atomics_ability() {
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
            NO_VULKAN_SC_RAN,
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
        let module_path = module_file(&kernel.name);
        let problem = match std::fs::read(project.root.join(&module_path)) {
            Ok(bytes) if bytes == module_bytes(&kernel.production) => continue,
            Ok(_) => Diagnostic::new(
                "stale-module",
                format!(
                    "`{module_path}` is not what the compiler makes of {} now, and the profile `vulkan-sc` takes modules compiled beforehand",
                    kernel.source
                ),
            ),
            Err(_) => Diagnostic::new(
                "missing-file",
                format!(
                    "there is no `{module_path}`, and the profile `vulkan-sc` takes modules compiled beforehand"
                ),
            ),
        };
        problems.push(problem.hint(build_command(project)).in_file(module_path));
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
