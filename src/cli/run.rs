//! `vkcert run FILE`: one test-procedure file, or a dispatch of a capture, outside any project.

use super::args::{Common, OutputForm, Run};
use super::failure::Failure;
use super::plan;
use super::progress::CampaignProgress;
use super::{capture, output, save};
use crate::campaign::agreement::{self, ComparisonEngines};
use crate::campaign::engines::EngineSettings;
use crate::campaign::execution::{self, TestBench};
use crate::campaign::kernel::{self, CompiledKernel, Kernel, MeasuredParts};
use crate::campaign::profile::ProjectTarget;
use crate::campaign::test_run::{ModuleRecords, TestRun};
use crate::campaign::{configuration, judged, kernel_coverage, project, recording};
use crate::glsl::KernelSource;
use crate::model::coverage::KernelCoverage;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::Mismatch;
use crate::model::exit::Exit;
use crate::model::id::{KernelName, TestId};
use crate::model::path::display_path;
use crate::model::printed::Printed;
use crate::model::procedure::{self, KernelText, Language, Test};
use crate::model::project::{Contraction, DecisionPolicy, Optimization, ProjectLimits};
use crate::model::result::{RunResult, TestOutcome};
use crate::model::schedule::Schedules;
use crate::model::verdict::Verdict;
use crate::report::{self, ProcedurePlaces};
use crate::requirement::document::{decode_text, read_bytes};
use crate::requirement::{self, Located, ProcedureFile};
use base64::Engine as _;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Runs every test of the file; the exit code follows from verdicts and findings.
pub(super) fn run_procedure(common: &Common, run: &Run) -> Result<Exit, Failure> {
    let plan = plan::plan_of(common, &run.check)?;
    let mut file = procedure_to_run(run)?;
    choose_tests(&mut file, &run.only)?;
    let mut kernels = compile_kernels(&file)?;
    let engine_settings = EngineSettings {
        repeat: run.repetition.repeat,
        replay: run.schedules.replay,
        ..EngineSettings::default()
    };
    let opened_engines = plan::open_engines(&plan, None, engine_settings);
    let recording_applied = opened_engines.as_ref().map_or(Ok(()), |engines| {
        recording::apply_for(
            &mut kernels,
            engines,
            run.recording.record_mode.mode(),
            run.recording.witnesses(),
            &ProjectTarget::Vulkan,
        )
    });
    let (schedules, replay) = run.schedules.over(Schedules::default())?;
    let bench = TestBench {
        kernels: &kernels,
        base: &file.base,
        limits: ProjectLimits::default(),
        contraction: Contraction::Forbidden,
        target: ProjectTarget::Vulkan,
        schedules,
        replay,
        metrics: &[],
    };
    let prepared_tests = execution::prepare_tests(&file.tests, &bench, &plan)?;
    // Faults of the input are reported before engines that this machine lacks.
    let mut engines = opened_engines?;
    recording_applied?;
    let runs =
        execution::run_tests(&prepared_tests, &mut engines, &plan, &CampaignProgress::new(common))?;
    if let Some(folder) = &run.save_outputs {
        save::save_outputs(
            folder,
            &prepared_tests,
            &judged::lay_open(&prepared_tests, &kernels)?,
            &runs,
        )?;
    }
    let mut exit_status = Exit::Success;
    let mut outcomes = Vec::new();
    let mut comparison_means = ComparisonEngines::of_engines(&mut engines);
    for ((test, prepared_test), engine_runs) in file.tests.iter().zip(&prepared_tests).zip(runs) {
        let (disagreement_findings, agreement_remarks) =
            agreement::of_test(prepared_test, &engine_runs, &mut comparison_means);
        for mut run_on_engine in engine_runs {
            if run_on_engine.verdict != Verdict::NotRun {
                run_on_engine.findings.extend(disagreement_findings.iter().cloned());
                run_on_engine.notes.extend(agreement_remarks.iter().cloned());
            }
            run_on_engine.findings.extend(module_findings(&kernels, &run_on_engine));
            let coverage = coverage_by_kernel(&test.id, &mut run_on_engine, &kernels)?;
            run_on_engine.findings.retain(|finding| plan.checks.has(finding.kind));
            exit_status = exit_status.and(exit_of_run(&run_on_engine));
            outcomes.push(test_outcome(&test.id, run_on_engine, coverage, run));
        }
    }
    let result = RunResult { schema: procedure::SCHEMA, tests: outcomes };
    if let Some(form) = common.line_form() {
        let mut places = procedure_places(&file, &run.file);
        if run.dispatch.is_some() {
            // The text of the test is made of the capture, and nobody sees its lines.
            places.tests.clear();
        }
        output::print_text(&report::outcome_lines(&result, &places, form))?;
        return Ok(exit_status);
    }
    match common.form() {
        OutputForm::Json => {
            // Written as a stream, because a tree of values and its text would take several times
            // the memory of everything else.
            output::print_json(&result)?;
        }
        OutputForm::Text => output::print_text(&result_in_words(&result))?,
    }
    Ok(exit_status)
}

/// The file as a procedure: as it is, or a dispatch of a capture.
fn procedure_to_run(run: &Run) -> Result<ProcedureFile, Failure> {
    match run.dispatch {
        Some(dispatch) => capture::dispatch_to_run(&run.file, dispatch),
        None if capture::is_capture(&run.file) => {
            let message = "a capture holds many dispatches, and none is named";
            let diagnostic = Diagnostic::new("usage", message).in_file(display_path(&run.file));
            Err(diagnostic.hint("--dispatch N; `vkcert capture --show` lists them").into())
        }
        None => Ok(requirement::load_procedure(&run.file)?),
    }
}

/// Where tests and kernels of a procedure stand, for lines that name places.
fn procedure_places(file: &ProcedureFile, path: &Path) -> ProcedurePlaces {
    let id_position = |test: &Located<Test>| Some((test.id, test.origin.at("id").position()?));
    let inner_source = |(name, kernel): (&KernelName, &procedure::Kernel)| match &kernel.source {
        KernelText::Path(_) => None,
        KernelText::Contents(_) => Some(inner_source_name(name.as_str(), kernel.language)),
    };
    ProcedurePlaces {
        file: display_path(path),
        folder: file.base.clone(),
        tests: file.tests.iter().filter_map(id_position).collect(),
        inner_sources: file.procedure.value.kernels.iter().filter_map(inner_source).collect(),
    }
}

/// What a source that stands inside of a procedure is called in places.
fn inner_source_name(kernel: &str, language: Language) -> String {
    let extension = match language {
        Language::Glsl => "comp",
        Language::Spirv => "spv",
    };
    format!("{kernel}.{extension}")
}

fn choose_tests(file: &mut ProcedureFile, only_ids: &[String]) -> Result<(), Failure> {
    for id in only_ids {
        if !file.tests.iter().any(|test| test.id.as_str() == id) {
            let known_ids: Vec<&str> = file.tests.iter().map(|test| test.id.as_str()).collect();
            let hint = requirement::nearest::did_you_mean(id, &known_ids);
            let diagnostic =
                Diagnostic::new("unknown-id", format!("--only: the file has no test `{id}`"));
            return Err(Diagnostic { hint, ..diagnostic }.into());
        }
    }
    if !only_ids.is_empty() {
        file.tests.retain(|test| only_ids.iter().any(|id| test.id.as_str() == id));
    }
    Ok(())
}

fn exit_of_run(run: &TestRun) -> Exit {
    let verdict_exit = match run.verdict {
        Verdict::Pass | Verdict::NotRun => Exit::Success,
        Verdict::Fail | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => Exit::Failed,
        Verdict::Unsupported => Exit::Unavailable,
    };
    verdict_exit.and(if run.findings.is_empty() { Exit::Success } else { Exit::Failed })
}

/// Findings of the kernels' modules, reported with each test that ran them.
fn module_findings(kernels: &[Kernel], run: &TestRun) -> Vec<crate::model::finding::Finding> {
    let used_kernels =
        kernels.iter().filter(|kernel| run.records.iter().any(|row| row.kernel == kernel.name));
    used_kernels.flat_map(|kernel| kernel.findings.iter().cloned()).collect()
}

/// Coverage by kernel; a kernel that the test runs under several specializations has an entry for
/// each, `mm [TILE=16]`.
fn coverage_by_kernel(
    id: &TestId,
    run: &mut TestRun,
    kernels: &[Kernel],
) -> Result<BTreeMap<String, KernelCoverage>, Failure> {
    let mut measured_coverage = BTreeMap::new();
    for module_records in &run.records {
        let Some(kernel) = kernels.iter().find(|kernel| kernel.name == module_records.kernel)
        else {
            continue;
        };
        let configuration =
            configuration::configuration_under(kernel, &module_records.specialization, None)?;
        let test_records: Vec<_> =
            module_records.records.iter().map(|records| (*id, records)).collect();
        let is_same_module = |other_records: &&ModuleRecords| {
            other_records.kernel == module_records.kernel
                && other_records.specialization == module_records.specialization
        };
        let object_records = run
            .objects
            .iter()
            .find(is_same_module)
            .and_then(|other_records| other_records.records.as_ref().ok());
        let object_records: Vec<_> =
            object_records.map(|records| (*id, records)).into_iter().collect();
        let coverage = kernel_coverage::kernel_coverage(
            kernel,
            &configuration,
            run.engine,
            &test_records,
            &object_records,
        );
        for test in test_records {
            run.findings.extend(kernel_coverage::run_contradictions(kernel, &configuration, test));
        }
        let has_several = run
            .records
            .iter()
            .filter(|other_records| other_records.kernel == module_records.kernel)
            .count()
            > 1;
        let kernel_label = if has_several {
            format!("{} [{}]", module_records.kernel, coverage.configuration)
        } else {
            module_records.kernel.clone()
        };
        measured_coverage.insert(kernel_label, coverage);
    }
    Ok(measured_coverage)
}

fn test_outcome(
    id: &TestId,
    run: TestRun,
    coverage: BTreeMap<String, KernelCoverage>,
    options: &Run,
) -> TestOutcome {
    let base64_of = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
    let undefined_pass = undefined_pass_note(&run);
    let buffers = match options.dump_buffers {
        true => run.outputs.into_iter().map(|(name, bytes)| (name, base64_of(&bytes))).collect(),
        false => BTreeMap::new(),
    };
    TestOutcome {
        id: *id,
        engine: run.engine,
        verdict: run.verdict,
        reason: run.reason,
        repetitions: run.repetitions,
        mismatches: run.mismatches,
        findings: run.findings,
        race_scope: run.race_scope,
        notes: run.notes.into_iter().chain(run.left_open).chain(undefined_pass).collect(),
        printed: run.printed,
        schedule: run.schedule,
        schedules: run.schedules,
        directed: run.directed,
        buffers,
        coverage,
    }
}

fn undefined_pass_note(run: &TestRun) -> Option<String> {
    let note = "it passes by an undefined value: with others it does not, or does not complete";
    run.rests_on_undefined.then(|| note.to_owned())
}

/// Compiles every kernel of the file; all diagnostics together.
pub(super) fn compile_kernels(file: &ProcedureFile) -> Result<Vec<Kernel>, Failure> {
    let kernels = file.procedure.value.kernels.iter();
    let compiled = project::all_or_diagnostics(
        kernels.map(|(name, kernel)| compile_kernel(name.as_str(), kernel, &file.base)).collect(),
    )?;
    Ok(compiled.into_iter().map(Kernel::outside_project).collect())
}

fn compile_kernel(
    name: &str,
    kernel: &procedure::Kernel,
    base: &Path,
) -> Result<CompiledKernel, Failure> {
    let (path, bytes, folder) = kernel_contents(name, kernel, base)?;
    if kernel.language == Language::Spirv {
        return kernel::from_spirv(name, &path, &bytes, &kernel.entry, kernel.target_env.name());
    }
    kernel::from_glsl(
        name,
        glsl_source((path, bytes, folder), kernel, base)?,
        MeasuredParts::Source,
    )
}

/// The text of a kernel with everything that decides what it compiles to; none for SPIR-V.
pub(super) fn source_of(
    name: &str,
    kernel: &procedure::Kernel,
    base: &Path,
) -> Result<Option<KernelSource>, Failure> {
    match kernel.language {
        Language::Glsl => {
            Ok(Some(glsl_source(kernel_contents(name, kernel, base)?, kernel, base)?))
        }
        Language::Spirv => Ok(None),
    }
}

/// Path as it is shown, contents, and folder of a kernel's source.
type SourceContents = (String, Vec<u8>, Option<PathBuf>);

fn glsl_source(
    (path, bytes, folder): SourceContents,
    kernel: &procedure::Kernel,
    base_folder: &Path,
) -> Result<KernelSource, Failure> {
    let text = decode_text(bytes, &path)?;
    Ok(KernelSource {
        path,
        text,
        include: kernel
            .include
            .iter()
            .map(|include_folder| base_folder.join(include_folder))
            .collect(),
        folder,
        defines: kernel.defines.clone(),
        entry: kernel.entry.clone(),
        target_env: kernel.target_env.name().to_owned(),
        optimization: Optimization::Zero,
        policy: DecisionPolicy::Literal,
        requested: BTreeSet::new(),
    })
}

fn kernel_contents(
    name: &str,
    kernel: &procedure::Kernel,
    base_folder: &Path,
) -> Result<SourceContents, Failure> {
    match &kernel.source {
        KernelText::Path(path) => {
            let source_file = base_folder.join(path);
            let folder = source_file.parent().map(Path::to_owned);
            Ok((path.clone(), read_bytes(&source_file, path)?, folder))
        }
        KernelText::Contents(contents) => {
            let bytes = match (&contents.text, &contents.bytes) {
                (Some(text), _) => text.clone().into_bytes(),
                (None, Some(bytes)) => {
                    base64::engine::general_purpose::STANDARD.decode(bytes).map_err(|error| {
                        Diagnostic::new(
                            "bad-spirv",
                            format!("the bytes of kernel `{name}` are not base64: {error}"),
                        )
                    })?
                }
                (None, None) => Vec::new(),
            };
            let path = inner_source_name(name, kernel.language);
            Ok((path, bytes, Some(base_folder.to_owned())))
        }
    }
}

/// Printed lines that people see at once.
const SHOWN_LINES: usize = 20;

/// What a test printed, a line per invocation; control characters are shown as escapes.
fn printed_lines(printed: &Printed) -> String {
    let mut text = String::new();
    for line in printed.lines.iter().take(SHOWN_LINES) {
        let [x, y, z] = line.invocation;
        let shown_text = line
            .text
            .trim_end_matches('\n')
            .escape_debug()
            .to_string()
            .replace("\\\"", "\"")
            .replace("\\'", "'");
        text.push_str(&format!("    printed by ({x}, {y}, {z}) at {}: {shown_text}\n", line.place));
    }
    let further_lines = printed.lines.len().saturating_sub(SHOWN_LINES) as u64 + printed.omitted;
    if further_lines > 0 {
        text.push_str(&format!(
            "    and {further_lines} more printed lines ({} of them with --format json)\n",
            further_lines - printed.omitted
        ));
    }
    text
}

/// Verdicts, mismatches, findings and what the vectors show, for people.
fn result_in_words(result: &RunResult) -> String {
    let mut text = String::new();
    for test in &result.tests {
        let reason_suffix =
            test.reason.as_deref().map(|reason| format!("  {reason}")).unwrap_or_default();
        text.push_str(&format!(
            "{:<13} {:<11} {}{reason_suffix}\n",
            test.verdict.to_string(),
            test.engine.to_string(),
            test.id
        ));
        for mismatch in &test.mismatches {
            let Mismatch { buffer, expected, actual, bits, .. } = mismatch;
            let place = mismatch.place();
            text.push_str(&format!(
                "    {buffer}, {place}: expected {expected}, found {actual} ({bits})\n"
            ));
        }
        for finding in &test.findings {
            let place =
                finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            text.push_str(&format!("    {}: {place}{}\n", finding.kind, finding.message));
        }
        test.schedule
            .iter()
            .for_each(|schedule| text.push_str(&format!("    run in schedule {schedule}\n")));
        test.schedules.iter().for_each(|schedules| text.push_str(&format!("    {schedules}\n")));
        text.push_str(&printed_lines(&test.printed));
        test.notes.iter().for_each(|note| text.push_str(&format!("    note: {note}\n")));
        for (kernel, coverage) in &test.coverage {
            for decision in &coverage.decisions {
                let vectors: Vec<String> = decision
                    .vectors
                    .iter()
                    .map(|vector| format!("{}={}", vector.values, vector.outcome))
                    .collect();
                let vectors =
                    if vectors.is_empty() { "no vector".to_owned() } else { vectors.join(" ") };
                text.push_str(&format!(
                    "    {kernel} {} `{}`: {vectors}\n",
                    decision.id, decision.text
                ));
            }
        }
    }
    text
}
