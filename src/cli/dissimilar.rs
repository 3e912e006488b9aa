//! `vkcert dissimilar`: kernels built as C++ programs, their outputs and their MC/DC beside those
//! of the engines.
//!
//! Promises: every kernel and specialization that a test runs has its rows; what could not be
//! compared is named and is no agreement. Exit 1 where something differs, 4 where clang is not
//! there or a kernel cannot be translated.

use super::args::{Common, Dissimilar, OutputForm};
use super::failure::Failure;
use super::output::{self, PendingFolder};
use super::plan;
use super::progress::CampaignProgress;
use super::translated::{self, TranslationSubject};
use crate::campaign::configuration::{self, Specialization};
use crate::campaign::engines::Vulkan;
use crate::campaign::profile::Target;
use crate::campaign::test_run::{PreparedTest, TestRun};
use crate::campaign::{agreement, execution, kernel_coverage, recording};
use crate::dissimilar::clang::{
    BuiltProgram, COMPILER_OPTIONS, ClangTools, INSTALL_COMMAND, RunOutcome,
};
use crate::dissimilar::comparison::{
    self, Compared, ComparedDecision, Comparison, KernelRow, OutputRow, Summary,
};
use crate::dissimilar::coverage::{MeasuredDecision, ProgramCoverage};
use crate::dissimilar::{job, table};
use crate::exec::prepare::ModuleUse;
use crate::exec::sequential::SequentialExecutor;
use crate::glsl::cpp::CppProgram;
use crate::model::coverage::KernelCoverage;
use crate::model::exit::Exit;
use crate::model::id::DecisionId;
use crate::model::records::Witnesses;
use crate::model::verdict::{EngineName, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names of what is written.
const TABLE_FILE: &str = "dissimilar.md";
const DOCUMENT_FILE: &str = "dissimilar.json";
const PROGRAMS_SECTION: &str = "dissimilar";

/// A kernel under one specialization, with its program.
struct TranslatedKernel {
    kernel: String,
    specialization: Specialization,
    configuration: String,
    program: Result<ReadyProgram, String>,
    /// Files with the execution counts of the tests that count.
    counts: Vec<PathBuf>,
    tests: Vec<String>,
    /// Why the coverage is not that of the engines' tests.
    incomparable: Option<String>,
}

/// A program with what was built of it.
struct ReadyProgram {
    program: CppProgram,
    built: BuiltProgram,
}

/// Builds, runs, measures and compares.
pub(super) fn measure_dissimilar(
    common: &Common,
    dissimilar_arguments: &Dissimilar,
) -> Result<Exit, Failure> {
    let clang_tools = ClangTools::find_in_path().map_err(|missing| Failure::Unavailable {
        message: format!("the dissimilar measurement needs clang 19: {missing}"),
        hint: Some(INSTALL_COMMAND.to_owned()),
    })?;
    let plan = plan::plan_of(common, "none")?;
    let mut subject = translated::load_subject(&dissimilar_arguments.path)?;
    let mut engines = plan::open_engines(&plan, subject.engines.as_deref(), subject.settings)?;
    recording::apply_for(
        &mut subject.kernels,
        &engines,
        None,
        Witnesses::Omitted,
        &Target::Vulkan,
    )?;
    let prepared_tests = subject.prepare_tests(&plan)?;
    let runs =
        execution::run(&prepared_tests, &mut engines, &plan, &CampaignProgress::new(common))?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::tool(format!("no temporary folder: {error}")))?;
    let engine = engines.sequential();
    let (subject, clang_tools) = (&subject, &clang_tools);
    let mut program_bench = ProgramBench {
        subject,
        tools: clang_tools,
        folder: folder.path(),
        engine,
        translated: Vec::new(),
    };
    let outputs = program_bench.run_tests(&prepared_tests, &runs)?;
    let device_name = match &engines.vulkan {
        Vulkan::Ready(executor) => {
            let device = executor.device();
            Some(format!("{} ({} {})", device.name, device.driver_name, device.driver_info))
        }
        Vulkan::NotRun { .. } | Vulkan::NotAsked => None,
    };
    let mut comparison = Comparison {
        schema: 1,
        compiler: clang_tools.version.clone(),
        options: COMPILER_OPTIONS.iter().map(|option| (*option).to_owned()).collect(),
        device: device_name,
        kernels: Vec::new(),
        outputs,
        conditions: Vec::new(),
        summary: Summary::default(),
    };
    program_bench.compare_coverage(&prepared_tests, &runs, &mut comparison)?;
    comparison.summarise();
    let table_path = write_comparison(dissimilar_arguments, &program_bench, &comparison)?;
    match common.format {
        OutputForm::Json => output::print_json(&comparison)?,
        OutputForm::Text => {
            output::print_text(&table::markdown_report(&comparison))?;
            if let Some(path) = table_path {
                super::output::print_to_stderr(format_args!("written: {}\n", path.display()));
            }
        }
    }
    Ok(exit_of_summary(&comparison.summary))
}

fn exit_of_summary(summary: &Summary) -> Exit {
    let unlike_count = summary.disagree + summary.different_outputs + summary.stopped;
    let different = if unlike_count > 0 { Exit::Failed } else { Exit::Success };
    different.and(if summary.unsupported > 0 { Exit::Unavailable } else { Exit::Success })
}

/// Writes table, document and programs; gives the table's path where something was written.
fn write_comparison(
    dissimilar_arguments: &Dissimilar,
    program_bench: &ProgramBench<'_>,
    comparison: &Comparison,
) -> Result<Option<PathBuf>, Failure> {
    let output_folder = match &dissimilar_arguments.out {
        Some(output_folder) => output_folder.clone(),
        None if dissimilar_arguments.path.is_dir() => dissimilar_arguments.path.join("reports"),
        None => return Ok(None),
    };
    let folder = PendingFolder::start(&output_folder, PROGRAMS_SECTION)?;
    folder.write(TABLE_FILE, table::markdown_report(comparison).as_bytes())?;
    let document = serde_json::to_string_pretty(comparison)
        .map_err(|error| Failure::tool(error.to_string()))?;
    folder.write(DOCUMENT_FILE, format!("{document}\n").as_bytes())?;
    for (program_number, translated) in program_bench.translated.iter().enumerate() {
        let Ok(ready_program) = &translated.program else { continue };
        let same_kernel_count = program_bench.translated[..program_number]
            .iter()
            .filter(|other_program| other_program.kernel == translated.kernel)
            .count();
        let suffix = if same_kernel_count == 0 {
            String::new()
        } else {
            format!("-{}", same_kernel_count + 1)
        };
        folder.write(
            &format!("{}{suffix}.cpp", translated.kernel),
            ready_program.program.text.as_bytes(),
        )?;
    }
    folder.finish(&[TABLE_FILE, DOCUMENT_FILE])?;
    Ok(Some(output_folder.join(TABLE_FILE)))
}

/// The comparison, with a difference from the sequential engine's outputs recognised as one within
/// the specification's error bounds.
fn within_error_bounds(
    (test, engine): (&PreparedTest<'_>, &SequentialExecutor),
    contents: &[Vec<u8>],
    sequential: Option<&TestRun>,
    compared: Compared,
) -> Compared {
    match (compared, sequential, &test.plan) {
        (Compared::Different(difference_sentence), Some(run), Ok(plan)) => {
            let named_buffers = plan.job.buffers.iter().zip(contents);
            let outputs =
                named_buffers.map(|(buffer, bytes)| (buffer.name.clone(), bytes.clone())).collect();
            if agreement::is_permitted(test, engine, run, outputs) {
                Compared::WithinBounds(difference_sentence)
            } else {
                Compared::Different(difference_sentence)
            }
        }
        (compared, _, _) => compared,
    }
}

/// Everything that programs are built and run with.
struct ProgramBench<'a> {
    subject: &'a TranslationSubject,
    tools: &'a ClangTools,
    /// As the tests ran on it.
    engine: SequentialExecutor,
    folder: &'a Path,
    translated: Vec<TranslatedKernel>,
}

impl ProgramBench<'_> {
    /// Runs every test as C++ and compares what it leaves.
    fn run_tests(
        &mut self,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
    ) -> Result<Vec<OutputRow>, Failure> {
        let mut rows = Vec::new();
        for (test_number, (test, engine_runs)) in prepared.iter().zip(runs).enumerate() {
            let run_result = match &test.plan {
                Ok(_) => self.run_test(test_number, test, engine_runs)?,
                Err(unsupported_construct) => {
                    Err(Compared::Unsupported(unsupported_construct.clone()))
                }
            };
            let kernels = test.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            let run_on = |engine| engine_runs.iter().find(|run| run.engine == engine);
            let (sequential, device) = (run_on(EngineName::Sequential), run_on(EngineName::Vulkan));
            let (bytes, [against_sequential, against_device]) = match run_result {
                Ok(contents) => {
                    let against_sequential = within_error_bounds(
                        (test, &self.engine),
                        &contents,
                        sequential,
                        self.compare_outputs(test, &contents, sequential),
                    );
                    let against_device = match (
                        self.compare_outputs(test, &contents, device),
                        &against_sequential,
                    ) {
                        (
                            Compared::Different(difference_sentence),
                            Compared::Identical | Compared::WithinBounds(_),
                        ) => Compared::DifferentOnTheDevice(difference_sentence),
                        (other_result, _) => other_result,
                    };
                    (contents.iter().map(Vec::len).sum(), [against_sequential, against_device])
                }
                Err(reason) => (0, [reason.clone(), reason]),
            };
            rows.push(OutputRow {
                test: test.test.id.to_string(),
                kernels,
                bytes,
                sequential: against_sequential,
                device: against_device,
            });
        }
        Ok(rows)
    }

    /// The final contents of a test's buffers as its programs leave them.
    fn run_test(
        &mut self,
        test_number: usize,
        test: &PreparedTest<'_>,
        engine_runs: &[TestRun],
    ) -> Result<Result<Vec<Vec<u8>>, Compared>, Failure> {
        let plan = test.plan.as_ref().expect("the caller has seen that it is there");
        let sequential = engine_runs.iter().find(|run| run.engine == EngineName::Sequential);
        let is_counted = sequential.is_some_and(|run| {
            self.subject.counts_for_coverage(run.verdict, &test.test.requirements)
        });
        let mut contents: Vec<Vec<u8>> =
            plan.job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let mut dispatch_index = 0;
        let mut failure_reason = None;
        while dispatch_index < plan.job.dispatches.len() && failure_reason.is_none() {
            let module = plan.job.dispatches[dispatch_index].module;
            let dispatch_count = plan.job.dispatches[dispatch_index..]
                .iter()
                .take_while(|dispatch| dispatch.module == module)
                .count();
            let program_index = self.translated(&plan.modules[module])?;
            let file_stem = self.folder.join(format!("test-{test_number}-{dispatch_index}"));
            match self.run_program(
                program_index,
                plan,
                dispatch_index..dispatch_index + dispatch_count,
                &contents,
                &file_stem,
            ) {
                Ok(left_contents) => contents = left_contents,
                Err(reason) => failure_reason = Some(reason),
            }
            let translated = &mut self.translated[program_index];
            if is_counted {
                let id = test.test.id.to_string();
                if !translated.tests.contains(&id) {
                    translated.tests.push(id.clone());
                }
                translated.counts.push(file_stem.with_extension("profraw"));
                if failure_reason.is_some() {
                    translated.incomparable = Some(format!("{id} was not run as C++ to its end"));
                }
            }
            dispatch_index += dispatch_count;
        }
        if is_counted && failure_reason.is_some() {
            self.mark_incomparable(plan.modules.as_slice(), &test.test.id.to_string())?;
        }
        Ok(failure_reason.map_or(Ok(contents), Err))
    }

    /// Marks kernels that a stopped test did not reach: it has not measured them.
    fn mark_incomparable(&mut self, modules: &[ModuleUse], test: &str) -> Result<(), Failure> {
        for module in modules {
            let program_index = self.translated(module)?;
            self.translated[program_index]
                .incomparable
                .get_or_insert_with(|| format!("{test} was not run as C++ to its end"));
        }
        Ok(())
    }

    fn run_program(
        &self,
        program_index: usize,
        plan: &crate::exec::prepare::Prepared,
        dispatches: std::ops::Range<usize>,
        contents: &[Vec<u8>],
        file_stem: &Path,
    ) -> Result<Vec<Vec<u8>>, Compared> {
        let ready_program =
            self.translated[program_index].program.as_ref().map_err(|unsupported_construct| {
                Compared::Unsupported(unsupported_construct.clone())
            })?;
        let text =
            job::job_text(&plan.job, dispatches, contents, self.engine.settings.subgroup_size)
                .map_err(Compared::Unsupported)?;
        let job_file = file_stem.with_extension("job");
        std::fs::write(&job_file, text)
            .map_err(|error| Compared::NotRun(format!("{}: {error}", job_file.display())))?;
        match self.tools.run_program(
            &ready_program.built,
            &job_file,
            &file_stem.with_extension("profraw"),
        ) {
            Ok(RunOutcome::Completed(text)) => {
                job::parse_outputs(&text, contents.len()).map_err(Compared::Stopped)
            }
            Ok(RunOutcome::StoppedItself(reason)) | Err(reason) => Err(Compared::Stopped(reason)),
        }
    }

    /// The number of the program of a kernel under a specialization; it is made and built when it
    /// is first asked for.
    fn translated(&mut self, module: &ModuleUse) -> Result<usize, Failure> {
        let (kernel_name, specialization) = (module.kernel.as_str(), &module.specialization);
        let known_program = (self.translated.iter()).position(|known_program| {
            known_program.kernel == kernel_name && known_program.specialization == *specialization
        });
        if let Some(known_program) = known_program {
            return Ok(known_program);
        }
        let kernel = self.subject.kernel_named(kernel_name);
        let kernel = kernel.ok_or_else(|| {
            Failure::tool(format!("`{kernel_name}` is dispatched but not compiled"))
        })?;
        let program = match self.subject.sources.get(kernel_name) {
            Some(source) => translated::translate_kernel(kernel, source, specialization, ""),
            None => Err(translated::NO_SOURCE.to_owned()),
        };
        let folder = self.folder.join(format!("kernel-{}", self.translated.len()));
        let program = program.and_then(|program| {
            std::fs::create_dir(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            let built = self.tools.build_program(&folder, &program.text)?;
            Ok(ReadyProgram { program, built })
        });
        self.translated.push(TranslatedKernel {
            kernel: kernel_name.to_owned(),
            specialization: specialization.clone(),
            configuration: translated::configuration_named(kernel, specialization)?.name,
            program,
            counts: Vec::new(),
            tests: Vec::new(),
            incomparable: None,
        });
        Ok(self.translated.len() - 1)
    }

    fn compare_outputs(
        &self,
        test: &PreparedTest<'_>,
        contents: &[Vec<u8>],
        run: Option<&TestRun>,
    ) -> Compared {
        let Some(run) = run else { return Compared::NotRun("the engine did not run".to_owned()) };
        let Ok(plan) = &test.plan else {
            return Compared::NotRun("the test was not laid out".to_owned());
        };
        if !run.verdict.ran() || run.outputs.is_empty() {
            return Compared::NotRun(run.reason.clone().unwrap_or_else(|| "no outputs".to_owned()));
        }
        for (buffer, bytes) in plan.job.buffers.iter().zip(contents) {
            let Some(engine_bytes) = run.outputs.get(&buffer.name) else {
                return Compared::NotRun(format!("`{}` did not come back", buffer.name));
            };
            let differing_count = bytes
                .iter()
                .zip(engine_bytes)
                .filter(|(program_byte, engine_bytes)| program_byte != engine_bytes)
                .count();
            if differing_count > 0 || bytes.len() != engine_bytes.len() {
                let first_difference = bytes
                    .iter()
                    .zip(engine_bytes)
                    .position(|(program_byte, engine_bytes)| program_byte != engine_bytes)
                    .unwrap_or(bytes.len());
                return Compared::Different(format!(
                    "{differing_count} bytes of `{}`, the first at {first_difference}",
                    buffer.name
                ));
            }
        }
        Compared::Identical
    }

    /// Adds a row for every condition of every kernel and specialization that tests ran.
    fn compare_coverage(
        &self,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
        comparison: &mut Comparison,
    ) -> Result<(), Failure> {
        for translated_kernel in &self.translated {
            let mut kernel_row = KernelRow {
                kernel: translated_kernel.kernel.clone(),
                configuration: translated_kernel.configuration.clone(),
                unsupported: translated_kernel.program.as_ref().err().cloned(),
                warnings: Vec::new(),
                tests: translated_kernel.tests.clone(),
            };
            if let Ok(ready_program) = &translated_kernel.program {
                let engines = [EngineName::Sequential, EngineName::Vulkan];
                let [sequential, device] = engines
                    .map(|engine| self.engine_coverage(translated_kernel, engine, prepared, runs));
                let (measured_decisions, incomparable) =
                    self.measured_by_clang(translated_kernel, ready_program)?;
                kernel_row.warnings =
                    ProgramCoverage::other_warnings(&ready_program.built.compiler_messages);
                let device = device?;
                let sequential = sequential?;
                let Some((sequential, counted_tests)) = sequential else { continue };
                let counts_same_tests =
                    device.as_ref().is_none_or(|(_, device_tests)| *device_tests == counted_tests);
                let incomparable = incomparable
                    .or_else(|| (!counts_same_tests).then_some("other tests count on the device"));
                for decision in &sequential.decisions {
                    let device_decision = device.as_ref().and_then(|(coverage, _)| {
                        coverage
                            .decisions
                            .iter()
                            .find(|other_decision| other_decision.id == decision.id)
                    });
                    let absent_decision = MeasuredDecision::NotMeasured {
                        reason: "the program does not hold it".to_owned(),
                    };
                    let compared_decision = ComparedDecision {
                        kernel: &translated_kernel.kernel,
                        configuration: &translated_kernel.configuration,
                        sequential: decision,
                        device: device_decision,
                        incomparable,
                    };
                    comparison.conditions.extend(comparison::condition_rows(
                        &compared_decision,
                        measured_decisions.get(&decision.id).unwrap_or(&absent_decision),
                    ));
                }
            }
            comparison.kernels.push(kernel_row);
        }
        Ok(())
    }

    /// What clang measured, and why it cannot be compared.
    fn measured_by_clang<'t>(
        &self,
        translated: &'t TranslatedKernel,
        ready_program: &ReadyProgram,
    ) -> Result<(BTreeMap<DecisionId, MeasuredDecision>, Option<&'t str>), Failure> {
        let count_files: Vec<PathBuf> =
            translated.counts.iter().filter(|path| path.is_file()).cloned().collect();
        if count_files.is_empty() {
            return Ok((BTreeMap::new(), Some("no test counts that was run as C++")));
        }
        let tool_failure =
            |tool_message: String| Failure::tool(format!("{}: {tool_message}", translated.kernel));
        let reports = self
            .tools
            .coverage_reports(&ready_program.built, &count_files)
            .map_err(tool_failure)?;
        let coverage = ProgramCoverage::from_reports(
            &ready_program.program,
            &reports,
            &ready_program.built.compiler_messages,
        )
        .map_err(tool_failure)?;
        Ok((coverage.measured_decisions(), translated.incomparable.as_deref()))
    }

    /// Coverage by the tests that count on an engine, with those tests; none where it did not run.
    fn engine_coverage(
        &self,
        translated: &TranslatedKernel,
        engine: EngineName,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
    ) -> Result<Option<(KernelCoverage, Vec<String>)>, Failure> {
        let Some(kernel) = self.subject.kernel_named(&translated.kernel) else { return Ok(None) };
        let (mut tests, mut has_run) = (Vec::new(), false);
        for (test, engine_runs) in prepared.iter().zip(runs) {
            let completed_runs = engine_runs
                .iter()
                .filter(|run| run.engine == engine && run.verdict != Verdict::NotRun);
            for run in completed_runs {
                has_run = true;
                if !self.subject.counts_for_coverage(run.verdict, &test.test.requirements) {
                    continue;
                }
                let kernel_records = run.records.iter().filter(|records| {
                    records.kernel == translated.kernel
                        && records.specialization == translated.specialization
                });
                tests
                    .extend(kernel_records.filter_map(|records| {
                        Some((test.test.id, records.records.as_ref().ok()?))
                    }));
            }
        }
        if !has_run {
            return Ok(None);
        }
        let kernel_configuration = configuration::under(
            kernel,
            &translated.specialization,
            Some(&translated.configuration),
        )?;
        let test_names = tests.iter().map(|(id, _)| id.to_string()).collect();
        Ok(Some((
            kernel_coverage::kernel_coverage(kernel, &kernel_configuration, engine, &tests, &[]),
            test_names,
        )))
    }
}
