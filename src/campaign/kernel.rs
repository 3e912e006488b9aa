//! A kernel in its stages: compiled, held to the target of its project, configured.
//!
//! Production comes from the untouched source and alone judges requirements; traced is the marked
//! source with its markers erased; instrumented is traced plus records. Each is validated. The
//! sequential engine measures on the marked module.

mod compile;
mod kept;

pub use compile::{from_glsl, from_spirv};
pub(crate) use kept::StoredWords;
pub use kept::from_glsl_or_cache;

use super::configuration::{KernelConfiguration, Specialization};
use super::object::ObjectCode;
use super::project::module_bytes;
use crate::CampaignError;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use vkcert_cache::CacheKey;
use vkcert_coverage::justification::{BoundConfiguration, signed_kernel_hash};
use vkcert_exec::{JobModule, ModuleRecording};
use vkcert_glsl::IncludeLookup;
use vkcert_instrument::{self as instrument, NotInstrumented, RecordRequest};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::Finding;
use vkcert_model::id::{KernelName, ModuleKey};
use vkcert_model::records::{MarkerTable, RecordBuffer, RecordMode};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::Module;
use vkcert_spirv::validate::TargetEnv;

/// A kernel with its modules.
#[derive(Debug, Clone)]
pub struct CompiledKernel {
    /// Name as in the project file.
    pub name: String,
    /// Name of the entry point.
    pub entry: String,
    /// What GLSL is compiled for: `vulkan1.1` ...
    pub target_env: String,
    /// Macros with their values.
    pub defines: BTreeMap<String, String>,
    /// Path of the source as reports show it.
    pub source: String,
    /// Words of the production module.
    pub production: Arc<Vec<u32>>,
    /// `production`, parsed.
    pub module: Arc<Module>,
    /// How its structure is measured.
    pub measurement: Measurement,
    /// The branches of `production`.
    pub object: ObjectCode,
    /// SHA-256 of its preprocessed text; none without source.
    pub text: Option<String>,
    /// What no engine can run of it, by name: a module for another interface than Vulkan.
    pub unsupported: Option<String>,
    /// Files read by `#include`.
    pub included: BTreeMap<String, String>,
    /// How its `#include` directives were resolved; none where one led to no file, and without source.
    pub lookups: Option<Vec<IncludeLookup>>,
    /// What stands in the keys of a cache for it as it was compiled, before [`record_as`](Self::record_as);
    /// none where no cache keeps it.
    pub identity: Option<CacheKey>,
    /// Untraced branches, modules that do not validate.
    pub findings: Vec<Finding>,
    /// Remarks for the report.
    pub notes: Vec<String>,
}

/// A compiled kernel of which is known what the target of its project lacks.
#[derive(Debug, Clone)]
pub struct TargetedKernel {
    compiled: CompiledKernel,
    /// What the target lacks of what the kernel needs, each with its place.
    pub refused: Vec<String>,
}

/// A kernel ready to run: with its configurations.
#[derive(Debug, Clone)]
pub struct Kernel {
    targeted: TargetedKernel,
    /// Production configurations, in the order of reports; none outside a project.
    pub configurations: Vec<KernelConfiguration>,
}

impl Deref for TargetedKernel {
    type Target = CompiledKernel;

    fn deref(&self) -> &CompiledKernel {
        &self.compiled
    }
}

impl DerefMut for TargetedKernel {
    fn deref_mut(&mut self) -> &mut CompiledKernel {
        &mut self.compiled
    }
}

impl AsRef<CompiledKernel> for TargetedKernel {
    fn as_ref(&self) -> &CompiledKernel {
        self
    }
}

impl AsRef<CompiledKernel> for Kernel {
    fn as_ref(&self) -> &CompiledKernel {
        self
    }
}

impl Deref for Kernel {
    type Target = TargetedKernel;

    fn deref(&self) -> &TargetedKernel {
        &self.targeted
    }
}

impl DerefMut for Kernel {
    fn deref_mut(&mut self) -> &mut TargetedKernel {
        &mut self.targeted
    }
}

/// Kernels by their names.
pub(crate) type KernelsByName<'k> = BTreeMap<KernelName, &'k Kernel>;

pub(crate) fn kernels_by_name(kernels: &[Kernel]) -> KernelsByName<'_> {
    kernels.iter().map(|kernel| (KernelName::from(&kernel.name), kernel)).collect()
}

/// How a kernel's structure is measured.
#[derive(Debug, Clone)]
pub enum Measurement {
    /// By marked, traced and instrumented modules.
    Markers(Box<Measured>),
    /// SPIR-V without source.
    NoSource,
    /// The derived modules cannot be used; every obligation is undetermined (a finding and a note
    /// say why).
    Failed {
        /// What the front end read from the source.
        structure: Box<KernelStructure>,
    },
}

/// The modules that measure structural coverage.
#[derive(Debug, Clone)]
pub struct Measured {
    /// What the front end read from the source.
    pub structure: KernelStructure,
    /// Words of the marked module.
    pub marked: Arc<Vec<u32>>,
    /// `marked`, parsed.
    pub module: Arc<Module>,
    /// Words of the traced module.
    pub traced: Arc<Vec<u32>>,
    /// Words of the instrumented module.
    pub instrumented: Arc<Vec<u32>>,
    /// What the marker calls of the marked module mean.
    pub markers: Arc<MarkerTable>,
    /// Where the instrumented module expects its records.
    pub record_buffer: RecordBuffer,
}

/// What is to be measured of a kernel with source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredParts {
    /// Statements, decisions and conditions of the source.
    Source,
    /// The branches of the production module besides.
    SourceAndObject,
}

/// Which of a kernel's modules to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleVariant {
    /// The module of the untouched source, which alone judges requirements.
    Production,
    /// The marked module with its markers erased.
    Traced,
    /// With native markers (sequential engine).
    Marked,
    /// With a record buffer (device).
    Instrumented,
}

impl TargetedKernel {
    /// A kernel that a target was asked about.
    pub fn new(compiled: CompiledKernel, refused: Vec<String>) -> Self {
        Self { compiled, refused }
    }

    /// The kernel without what its target lacks.
    pub fn into_compiled(self) -> CompiledKernel {
        self.compiled
    }

    /// Why no engine runs it, by name; none: engines do.
    pub fn not_run(&self) -> Option<String> {
        let reasons: Vec<&str> =
            self.unsupported.iter().chain(&self.refused).map(String::as_str).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }
}

impl Kernel {
    /// What justifications are bound to of it: the hash of its code and of its configurations.
    pub fn signed_hash(&self) -> String {
        let configurations = self.configurations.iter().map(|row| &row.configuration);
        signed_kernel_hash(&self.code_digits(), &BoundConfiguration::of_all(configurations))
    }

    /// A kernel of a project, under these configurations.
    pub fn configured(targeted: TargetedKernel, configurations: Vec<KernelConfiguration>) -> Self {
        Self { targeted, configurations }
    }

    /// A kernel of a project, for what asks for no configuration of it.
    pub fn unconfigured(targeted: TargetedKernel) -> Self {
        Self::configured(targeted, Vec::new())
    }

    /// A kernel of no project: no target refuses it, and no configuration is declared.
    pub fn outside_project(compiled: CompiledKernel) -> Self {
        Self::unconfigured(TargetedKernel::new(compiled, Vec::new()))
    }

    /// The name of the production configuration with these values; none outside a project and for
    /// undeclared ones.
    pub fn configuration_of(&self, specialization: &Specialization) -> Option<&str> {
        let kernel_configuration = self
            .configurations
            .iter()
            .find(|kernel_configuration| kernel_configuration.specialization == *specialization)?;
        Some(&kernel_configuration.configuration.name)
    }
}

impl CompiledKernel {
    /// What the front end read from its source; none of a binary module.
    pub fn structure(&self) -> Option<&KernelStructure> {
        match &self.measurement {
            Measurement::Markers(measured) => Some(&measured.structure),
            Measurement::Failed { structure } => Some(structure),
            Measurement::NoSource => None,
        }
    }

    /// SHA-256 of the production module without debug information.
    pub fn code_digits(&self) -> String {
        sha256_digits(&module_bytes(&self.module.code_words()))
    }

    /// The module of a variant; none where the kernel cannot be measured.
    pub fn job_module(&self, variant: ModuleVariant) -> Option<JobModule> {
        let module = |words: &Arc<Vec<u32>>, recording| {
            Some(JobModule {
                key: ModuleKey::from(self.name.as_str()),
                words: Arc::clone(words),
                recording,
            })
        };
        let measured = match &self.measurement {
            Measurement::Markers(measured) => Some(measured),
            Measurement::NoSource | Measurement::Failed { .. } => None,
        };
        match (variant, measured) {
            (ModuleVariant::Production, _) => module(&self.production, ModuleRecording::None),
            (ModuleVariant::Traced, Some(measured)) => {
                module(&measured.traced, ModuleRecording::None)
            }
            (ModuleVariant::Marked, Some(measured)) => {
                module(&measured.marked, ModuleRecording::Markers(Arc::clone(&measured.markers)))
            }
            (ModuleVariant::Instrumented, Some(measured)) => module(
                &measured.instrumented,
                ModuleRecording::Buffer(measured.record_buffer.clone()),
            ),
            (ModuleVariant::Traced | ModuleVariant::Marked | ModuleVariant::Instrumented, None) => {
                None
            }
        }
    }

    /// The measured module with a slot for each invocation; an error says why there is none.
    pub fn slots_module(&self) -> Result<JobModule, String> {
        let measured = self.measured().ok_or("the kernel is not measured")?;
        let environment =
            TargetEnv::from_name(&self.target_env).ok_or("its target environment is not known")?;
        let request = RecordRequest { mode: Some(RecordMode::Slots), ..RecordRequest::default() };
        let Measured { structure, module, .. } = measured;
        let instrumented_module =
            instrument::instrument_in(structure, module, &self.entry, &request, environment);
        let instrumented_module = instrumented_module.map_err(|error| error.to_string())?;
        let recording = ModuleRecording::Buffer(instrumented_module.record_buffer);
        Ok(JobModule {
            key: ModuleKey::from(self.name.as_str()),
            words: Arc::new(instrumented_module.instrumented),
            recording,
        })
    }

    /// Makes the instrumented modules anew where the request asks for other records than they have.
    pub fn record_as(&mut self, record_request: &RecordRequest) -> Result<(), CampaignError> {
        if record_request.is_automatic() {
            return Ok(());
        }
        let environment = target_environment(&self.target_env)?;
        let name = &self.name;
        let recording_failure = |error: NotInstrumented| match error {
            NotInstrumented::Refused(refused) => CampaignError::Unavailable {
                message: format!("kernel `{name}`: {refused}"),
                hint: Some("use `--record-mode auto`".to_owned()),
            },
            NotInstrumented::Defect(defect) => {
                CampaignError::tool(format!("kernel `{name}`: {defect}"))
            }
        };
        self.object
            .record_as(&self.module, &self.entry, record_request, environment)
            .map_err(recording_failure)?;
        let Measurement::Markers(measured) = &mut self.measurement else { return Ok(()) };
        let instrumented_module = instrument::instrument_in(
            &measured.structure,
            &measured.module,
            &self.entry,
            record_request,
            environment,
        );
        let instrumented_module = instrumented_module.map_err(recording_failure)?;
        measured.instrumented = Arc::new(instrumented_module.instrumented);
        measured.record_buffer = instrumented_module.record_buffer;
        Ok(())
    }

    /// The modules that measure the source; none where it is not measured.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.measurement {
            Measurement::Markers(measured) => Some(measured),
            Measurement::NoSource | Measurement::Failed { .. } => None,
        }
    }
}

fn target_environment(name: &str) -> Result<TargetEnv, CampaignError> {
    TargetEnv::from_name(name).ok_or_else(|| {
        let message = format!("`{name}` is no target environment");
        Diagnostic::new("usage", message)
            .hint("use one of vulkan1.0, vulkan1.1, vulkan1.2, vulkan1.3, vulkan1.4")
            .into()
    })
}
