//! Compiling: from a kernel's source, or its SPIR-V module, to the modules that run and measure it.
//!
//! Promises: every module is validated. A kernel whose derived modules cannot be used is compiled
//! all the same: its production module runs, and a finding says why nothing is measured.

use super::{CompiledKernel, Measured, MeasuredParts, Measurement, target_environment};
use crate::CampaignError;
use crate::object::ObjectCode;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_glsl::{self as glsl, KernelSource, PositionsWanted};
use vkcert_instrument::{self as instrument, RecordRequest, SourceKnowledge};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::{self, Module};
use vkcert_spirv::validate::{self, TargetEnv};

/// Compiles a GLSL kernel into its three modules.
pub fn from_glsl(
    name: &str,
    kernel_source: KernelSource,
    wanted: MeasuredParts,
) -> Result<CompiledKernel, CampaignError> {
    let positions_wanted = match wanted {
        MeasuredParts::SourceAndObject => PositionsWanted::Soon,
        MeasuredParts::Source => PositionsWanted::Perhaps,
    };
    let mut compiled = glsl::compile_with(&kernel_source, positions_wanted)
        .map_err(|problems| refused_text(name, problems))?;
    let environment = target_environment(&kernel_source.target_env)?;
    let production = Arc::new(std::mem::take(&mut compiled.production));
    let path = kernel_source.path.clone();
    // The validator takes longer than what is made of the modules meanwhile.
    let (validation, kernel) = rayon::join(
        || validate::validate(&production, environment),
        || assemble_kernel(name, kernel_source, wanted, compiled, &production, environment),
    );
    validation.map_err(|error| {
        CampaignError::tool(format!("{path}: the compiler's own module is not valid: {error}"))
    })?;
    kernel
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

fn assemble_kernel(
    name: &str,
    kernel_source: KernelSource,
    wanted: MeasuredParts,
    compiled: glsl::Compiled,
    production: &Arc<Vec<u32>>,
    environment: TargetEnv,
) -> Result<CompiledKernel, CampaignError> {
    let module = parse_module(production, &kernel_source.path)?;
    let structure = &compiled.structure;
    let object_code = || match wanted {
        MeasuredParts::SourceAndObject => ObjectCode::of_source(
            &module,
            &kernel_source.entry,
            structure,
            compiled.positions,
            environment,
        ),
        MeasuredParts::Source => ObjectCode::unmeasured(compiled.positions),
    };
    let (object, measured) = rayon::join(object_code, || {
        measure_by_markers(structure, compiled.marked, &kernel_source, environment)
    });
    let mut notes = compiled.notes;
    let (measurement, findings) = match measured {
        Ok(ByMarkers { measured, findings, notes: of_measuring }) => {
            notes.extend(of_measuring);
            (Measurement::Markers(Box::new(measured)), findings)
        }
        Err(reason) => {
            let message = format!("structural coverage of {name} cannot be measured: {reason}");
            let finding = Finding::new(FindingKind::Validation, message.as_str());
            notes.push(message);
            (Measurement::Failed { structure: Box::new(compiled.structure) }, vec![finding])
        }
    };
    Ok(CompiledKernel {
        name: name.to_owned(),
        entry: kernel_source.entry,
        target_env: kernel_source.target_env,
        defines: kernel_source.defines,
        source: kernel_source.path,
        production: Arc::clone(production),
        module: Arc::new(module),
        measurement,
        object,
        text: Some(compiled.text),
        unsupported: None,
        included: compiled.included,
        lookups: compiled.lookups,
        identity: None,
        findings,
        notes,
    })
}

/// A kernel measured by its markers, with what that showed of it.
struct ByMarkers {
    measured: Measured,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

fn measure_by_markers(
    structure: &KernelStructure,
    marked: Vec<u32>,
    kernel_source: &KernelSource,
    environment: TargetEnv,
) -> Result<ByMarkers, String> {
    let marked = Arc::new(marked);
    let module = Module::parse(Arc::clone(&marked)).map_err(|error| error.to_string())?;
    validate::validate(&marked, environment)
        .map_err(|error| format!("the marked module is not valid: {error}"))?;
    let instrumented_module = instrument::instrument_in(
        structure,
        &module,
        &kernel_source.entry,
        &RecordRequest::default(),
        environment,
    );
    let instrumented_module = instrumented_module.map_err(|error| error.to_string())?;
    let measured = Measured {
        structure: structure.clone(),
        marked,
        module: Arc::new(module),
        traced: Arc::new(instrumented_module.traced),
        instrumented: Arc::new(instrumented_module.instrumented),
        markers: Arc::new(instrumented_module.markers),
        record_buffer: instrumented_module.record_buffer,
    };
    Ok(ByMarkers {
        measured,
        findings: instrumented_module.untraced,
        notes: instrumented_module.compiler_generated,
    })
}

/// Takes a SPIR-V binary as it is.
pub fn from_spirv(
    name: &str,
    path: &str,
    bytes: &[u8],
    entry: &str,
    target_env: &str,
) -> Result<CompiledKernel, CampaignError> {
    let bad_module = |message: String| {
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
    let environment = target_environment(target_env)?;
    let unknown = module::unknown_capabilities(&production);
    let readable_words = match unknown.is_empty() {
        true => Arc::clone(&production),
        false => Arc::new(module::without_unknown_capabilities(&production)),
    };
    let unsupported = match (unknown.first(), validate::validate(&production, environment)) {
        (Some(number), _) => Some(format!("capability {number} (not known to this tool)")),
        (None, Ok(())) => None,
        (None, Err(error)) => {
            let unsupported_reason =
                not_for_validator(&error.to_string()).or_else(|| not_for_vulkan(&production));
            Some(unsupported_reason.ok_or_else(|| bad_module(error.to_string()))?)
        }
    };
    let module = match (parse_module(&readable_words, path), &unsupported) {
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
        let entry_names: Vec<_> =
            module.entry_points.iter().map(|entry_point| entry_point.name.as_str()).collect();
        let message = format!("no entry point is named `{entry}`");
        let hint = format!("entry points of this module: {}", entry_names.join(", "));
        return Err(Diagnostic::new("unknown-id", message).hint(hint).in_file(path).into());
    }
    Ok(CompiledKernel {
        name: name.to_owned(),
        entry: entry.to_owned(),
        target_env: target_env.to_owned(),
        defines: BTreeMap::new(),
        source: path.to_owned(),
        production,
        object: ObjectCode::of_module(&module, entry, &SourceKnowledge::NoSource, environment),
        module: Arc::new(module),
        measurement: Measurement::NoSource,
        text: None,
        unsupported,
        included: BTreeMap::new(),
        lookups: None,
        identity: None,
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
    let declares_kernel = module
        .instructions
        .iter()
        .any(|instruction| instruction.op == Op::Capability && instruction.operands == kernel);
    declares_kernel.then(|| "capability Kernel (an OpenCL module)".to_owned())
}

fn parse_module(words: &Arc<Vec<u32>>, path: &str) -> Result<Module, CampaignError> {
    Module::parse(Arc::clone(words))
        .map_err(|error| Diagnostic::new("bad-spirv", error.to_string()).in_file(path).into())
}
