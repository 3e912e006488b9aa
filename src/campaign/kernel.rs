//! From a kernel's source to its three modules, with everything that running and measuring it
//! needs.
//!
//! Production comes from the untouched source and alone judges requirements; traced is the marked
//! source with its markers erased; instrumented is traced plus records. Each is validated. The
//! sequential engine measures on the marked module.

use super::configuration::{KernelConfiguration, Specialization};
use super::object::ObjectCode;
use super::project::module_bytes;
use crate::CampaignError;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::{JobModule, ModuleRecording};
use vkcert_glsl::{self as glsl, KernelSource, PositionsWanted};
use vkcert_instrument::{self as instrument, NotInstrumented, RecordRequest, SourceKnowledge};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::ModuleKey;
use vkcert_model::records::{MarkerTable, RecordBuffer, RecordMode};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::{self, Module};
use vkcert_spirv::validate::{self, TargetEnv};

/// A kernel ready to run.
#[derive(Debug, Clone)]
pub struct Kernel {
    pub name: String,
    pub entry: String,
    pub target_env: String,
    pub defines: BTreeMap<String, String>,
    /// Path of the source as reports show it.
    pub source: String,
    pub production: Arc<Vec<u32>>,
    /// `production`, parsed.
    pub module: Arc<Module>,
    pub measurement: Measurement,
    /// The branches of `production`.
    pub object: ObjectCode,
    /// Production configurations, in the order of reports; empty outside a project.
    pub configurations: Vec<KernelConfiguration>,
    /// SHA-256 of its preprocessed text; none without source.
    pub text: Option<String>,
    /// What no engine can run of it, by name: a module for another interface than Vulkan.
    pub unsupported: Option<String>,
    /// What the target of the project lacks of what the kernel needs, each with its place.
    pub refused: Vec<String>,
    /// Files read by `#include`.
    pub included: BTreeMap<String, String>,
    /// Untraced branches, modules that do not validate.
    pub findings: Vec<Finding>,
    pub notes: Vec<String>,
}

/// How a kernel's structure is measured.
#[derive(Debug, Clone)]
pub enum Measurement {
    Markers(Box<Measured>),
    /// SPIR-V without source.
    NoSource,
    /// The derived modules cannot be used; every obligation is undetermined (a finding and a note
    /// say why).
    Failed {
        structure: Box<KernelStructure>,
    },
}

/// The modules that measure structural coverage.
#[derive(Debug, Clone)]
pub struct Measured {
    pub structure: KernelStructure,
    pub marked: Arc<Vec<u32>>,
    /// `marked`, parsed.
    pub module: Arc<Module>,
    pub traced: Arc<Vec<u32>>,
    pub instrumented: Arc<Vec<u32>>,
    pub markers: Arc<MarkerTable>,
    pub record_buffer: RecordBuffer,
}

/// What is to be measured of a kernel with source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Source,
    /// The branches of the production module besides.
    SourceAndObject,
}

/// Which of a kernel's modules to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    Production,
    Traced,
    /// With native markers (sequential engine).
    Marked,
    /// With a record buffer (device).
    Instrumented,
}

impl Kernel {
    /// SHA-256 of the production module without debug information.
    pub fn code_digits(&self) -> String {
        sha256_digits(&module_bytes(&self.module.code_words()))
    }

    /// The name of the production configuration with these values; none outside a project and for
    /// undeclared ones.
    pub fn configuration_of(&self, specialization: &Specialization) -> Option<&str> {
        let found =
            self.configurations.iter().find(|found| found.specialization == *specialization)?;
        Some(&found.configuration.name)
    }

    /// The module of a variant; none where the kernel cannot be measured.
    pub fn job_module(&self, variant: Variant) -> Option<JobModule> {
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
            (Variant::Production, _) => module(&self.production, ModuleRecording::None),
            (Variant::Traced, Some(measured)) => module(&measured.traced, ModuleRecording::None),
            (Variant::Marked, Some(measured)) => {
                module(&measured.marked, ModuleRecording::Markers(Arc::clone(&measured.markers)))
            }
            (Variant::Instrumented, Some(measured)) => module(
                &measured.instrumented,
                ModuleRecording::Buffer(measured.record_buffer.clone()),
            ),
            (Variant::Traced | Variant::Marked | Variant::Instrumented, None) => None,
        }
    }

    /// The measured module with a slot for each invocation; an error says why there is none.
    pub fn slots_module(&self) -> Result<JobModule, String> {
        let measured = self.measured().ok_or("the kernel is not measured")?;
        let environment =
            TargetEnv::from_name(&self.target_env).ok_or("its target environment is not known")?;
        let request = RecordRequest { mode: Some(RecordMode::Slots), ..RecordRequest::default() };
        let Measured { structure, module, .. } = measured;
        let made = instrument::instrument_in(structure, module, &self.entry, &request, environment);
        let made = made.map_err(|error| error.to_string())?;
        let recording = ModuleRecording::Buffer(made.record_buffer);
        Ok(JobModule {
            key: ModuleKey::from(self.name.as_str()),
            words: Arc::new(made.instrumented),
            recording,
        })
    }

    /// Makes the instrumented modules anew where the request asks for other records than they have.
    pub fn record_as(&mut self, request: &RecordRequest) -> Result<(), CampaignError> {
        if request.is_automatic() {
            return Ok(());
        }
        let environment = environment(&self.target_env)?;
        let name = &self.name;
        let failure = |error: NotInstrumented| match error {
            NotInstrumented::Refused(refused) => CampaignError::Unavailable {
                message: format!("kernel `{name}`: {refused}"),
                hint: Some("use `--record-mode auto`".to_owned()),
            },
            NotInstrumented::Defect(defect) => {
                CampaignError::tool(format!("kernel `{name}`: {defect}"))
            }
        };
        self.object.record_as(&self.module, &self.entry, request, environment).map_err(failure)?;
        let Measurement::Markers(measured) = &mut self.measurement else { return Ok(()) };
        let made = instrument::instrument_in(
            &measured.structure,
            &measured.module,
            &self.entry,
            request,
            environment,
        );
        let made = made.map_err(failure)?;
        measured.instrumented = Arc::new(made.instrumented);
        measured.record_buffer = made.record_buffer;
        Ok(())
    }

    /// Why no engine runs it, by name; none: engines do.
    pub fn not_run(&self) -> Option<String> {
        let reasons: Vec<&str> =
            self.unsupported.iter().chain(&self.refused).map(String::as_str).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    pub fn measured(&self) -> Option<&Measured> {
        match &self.measurement {
            Measurement::Markers(measured) => Some(measured),
            Measurement::NoSource | Measurement::Failed { .. } => None,
        }
    }
}

/// Compiles a GLSL kernel into its three modules.
pub fn from_glsl(
    name: &str,
    source: &KernelSource,
    wanted: Wanted,
) -> Result<Kernel, CampaignError> {
    let positions = match wanted {
        Wanted::SourceAndObject => PositionsWanted::Soon,
        Wanted::Source => PositionsWanted::Perhaps,
    };
    let mut compiled =
        glsl::compile_with(source, positions).map_err(|problems| refused_text(name, problems))?;
    let environment = environment(&source.target_env)?;
    let production = Arc::new(std::mem::take(&mut compiled.production));
    // The validator takes longer than what is made of the modules meanwhile.
    std::thread::scope(|scope| {
        let valid = scope.spawn(|| validate::validate(&production, environment));
        let kernel = assemble(name, source, wanted, compiled, &production, environment);
        let valid = valid.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        valid.map_err(|error| {
            CampaignError::tool(format!(
                "{}: the compiler's own module is not valid: {error}",
                source.path
            ))
        })?;
        kernel
    })
}

/// What the compiler says of long vectors names them, not the tokens that it did not expect.
fn refused_text(name: &str, problems: Vec<Diagnostic>) -> CampaignError {
    let is_named = |problem: &Diagnostic| {
        problem.message.contains("GL_EXT_long_vector")
            || problem.message.starts_with("'vector' : undeclared identifier")
    };
    if !problems.iter().any(is_named) {
        return problems.into();
    }
    CampaignError::Unavailable {
        message: format!(
            "kernel `{name}`: long vectors (`vector<T, N>`, GL_EXT_long_vector, SPV_EXT_long_vector) are unsupported"
        ),
        hint: Some("use arrays, or vectors of up to four components".to_owned()),
    }
}

fn assemble(
    name: &str,
    source: &KernelSource,
    wanted: Wanted,
    compiled: glsl::Compiled,
    production: &Arc<Vec<u32>>,
    environment: TargetEnv,
) -> Result<Kernel, CampaignError> {
    let module = parse(production, &source.path)?;
    let mut kernel = Kernel {
        name: name.to_owned(),
        entry: source.entry.clone(),
        target_env: source.target_env.clone(),
        defines: source.defines.clone(),
        source: source.path.clone(),
        production: Arc::clone(production),
        module: Arc::new(module),
        measurement: Measurement::NoSource,
        object: ObjectCode::default(),
        configurations: Vec::new(),
        text: Some(compiled.text),
        unsupported: None,
        refused: Vec::new(),
        included: compiled.included,
        findings: Vec::new(),
        notes: compiled.notes,
    };
    let structure = &compiled.structure;
    let object_code = || match wanted {
        Wanted::SourceAndObject => ObjectCode::of_source(
            &kernel.module,
            &kernel.entry,
            structure,
            compiled.positions,
            environment,
        ),
        Wanted::Source => ObjectCode::unmeasured(compiled.positions),
    };
    let (object, measured) =
        rayon::join(object_code, || measure(structure, compiled.marked, source, environment));
    kernel.object = object;
    kernel.measurement = match measured {
        Ok(ByMarkers { measured, findings, notes }) => {
            kernel.findings.extend(findings);
            kernel.notes.extend(notes);
            Measurement::Markers(Box::new(measured))
        }
        Err(reason) => {
            let message = format!("structural coverage of {name} cannot be measured: {reason}");
            kernel.notes.push(message.clone());
            kernel.findings.push(Finding::new(FindingKind::Validation, message));
            Measurement::Failed { structure: Box::new(compiled.structure) }
        }
    };
    Ok(kernel)
}

/// A kernel measured by its markers, with what that showed of it.
struct ByMarkers {
    measured: Measured,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

fn measure(
    structure: &KernelStructure,
    marked: Vec<u32>,
    source: &KernelSource,
    environment: TargetEnv,
) -> Result<ByMarkers, String> {
    let marked = Arc::new(marked);
    let module = Module::parse(Arc::clone(&marked)).map_err(|error| error.to_string())?;
    validate::validate(&marked, environment)
        .map_err(|error| format!("the marked module is not valid: {error}"))?;
    let made = instrument::instrument_in(
        structure,
        &module,
        &source.entry,
        &RecordRequest::default(),
        environment,
    );
    let made = made.map_err(|error| error.to_string())?;
    let measured = Measured {
        structure: structure.clone(),
        marked,
        module: Arc::new(module),
        traced: Arc::new(made.traced),
        instrumented: Arc::new(made.instrumented),
        markers: Arc::new(made.markers),
        record_buffer: made.record_buffer,
    };
    Ok(ByMarkers { measured, findings: made.untraced, notes: made.compiler_generated })
}

/// Takes a SPIR-V binary as it is.
pub fn from_spirv(
    name: &str,
    path: &str,
    bytes: &[u8],
    entry: &str,
    target_env: &str,
) -> Result<Kernel, CampaignError> {
    let bad = |message: String| {
        CampaignError::from(
            Diagnostic::new("bad-spirv", format!("{path}: {message}")).in_file(path),
        )
    };
    if !bytes.len().is_multiple_of(4) || bytes.len() < 20 {
        let hint = "a SPIR-V module is a whole number of 4-byte words, five at least; `spirv-val` tells more";
        let message = format!("{} bytes are no SPIR-V module", bytes.len());
        return Err(Diagnostic::new("bad-spirv", message).hint(hint).in_file(path).into());
    }
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|chunk| u32::from_le_bytes(chunk.try_into().expect("4 bytes")))
        .collect();
    let production = Arc::new(words);
    let environment = environment(target_env)?;
    let unknown = module::unknown_capabilities(&production);
    let readable = match unknown.is_empty() {
        true => Arc::clone(&production),
        false => Arc::new(module::without_unknown_capabilities(&production)),
    };
    let unsupported = match (unknown.first(), validate::validate(&production, environment)) {
        (Some(number), _) => Some(format!("capability {number} (not known to this tool)")),
        (None, Ok(())) => None,
        (None, Err(error)) => {
            let why = not_for_validator(&error.to_string()).or_else(|| not_for_vulkan(&production));
            Some(why.ok_or_else(|| bad(error.to_string()))?)
        }
    };
    let module = match (parse(&readable, path), &unsupported) {
        // What a newer capability brings may be unknown, too.
        (Err(_), Some(what)) => {
            return Err(CampaignError::Unavailable {
                message: format!("kernel `{name}`: unsupported: {what}"),
                hint: None,
            });
        }
        (module, _) => module?,
    };
    if module.entry_point(entry).is_none() {
        let names: Vec<_> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        let message = format!("no entry point is named `{entry}`");
        let hint = format!("entry points of this module: {}", names.join(", "));
        return Err(Diagnostic::new("unknown-id", message).hint(hint).in_file(path).into());
    }
    Ok(Kernel {
        name: name.to_owned(),
        entry: entry.to_owned(),
        target_env: target_env.to_owned(),
        defines: BTreeMap::new(),
        source: path.to_owned(),
        production,
        object: ObjectCode::of(&module, entry, &SourceKnowledge::NoSource, environment),
        module: Arc::new(module),
        measurement: Measurement::NoSource,
        configurations: Vec::new(),
        text: None,
        unsupported,
        refused: Vec::new(),
        included: BTreeMap::new(),
        findings: Vec::new(),
        notes: vec![format!("{name} has no source: MC/DC is undetermined (no-source)")],
    })
}

/// The capability that the grammar has and the pinned validator has not, by its message.
fn not_for_validator(message: &str) -> Option<String> {
    let (_, number) = message.split_once("Invalid capability operand: ")?;
    let number: u32 = number.trim_end().parse().ok()?;
    let capability = Capability::from_u32(number)?;
    Some(format!("capability {capability:?} ({number}, not known to the pinned validator)"))
}

/// The capability that makes a valid module one for OpenCL; none for every other module.
fn not_for_vulkan(words: &Arc<Vec<u32>>) -> Option<String> {
    validate::validate(words, TargetEnv::Universal1_6).ok()?;
    let module = Module::parse(Arc::clone(words)).ok()?;
    let kernel = [Operand::Capability(Capability::Kernel)];
    let found = module.instructions.iter().any(|i| i.op == Op::Capability && i.operands == kernel);
    found.then(|| "capability Kernel (an OpenCL module)".to_owned())
}

fn parse(words: &Arc<Vec<u32>>, path: &str) -> Result<Module, CampaignError> {
    Module::parse(Arc::clone(words))
        .map_err(|error| Diagnostic::new("bad-spirv", error.to_string()).in_file(path).into())
}

fn environment(name: &str) -> Result<TargetEnv, CampaignError> {
    TargetEnv::from_name(name).ok_or_else(|| {
        let message = format!("`{name}` is no target environment");
        Diagnostic::new("usage", message)
            .hint("use one of vulkan1.0, vulkan1.1, vulkan1.2, vulkan1.3, vulkan1.4")
            .into()
    })
}
