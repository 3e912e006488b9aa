//! The C++ programs of a project's kernels: built once, run with the data of every test.
//!
//! Knows: the kernels and specializations that tests run, their programs and clang.
//! Promises: a program is built when it is first asked for; a test whose programs do not run to the
//! end makes the coverage of its kernels incomparable, with the reason.
//! Does not cover: coverage (`coverage`).

use crate::campaign::agreement;
use crate::campaign::configuration::Specialization;
use crate::campaign::test_run::{PreparedTest, TestRun};
use crate::cli::failure::Failure;
use crate::cli::translated::{self, TranslationSubject};
use crate::dissimilar::clang::{BuiltProgram, ClangTools, RunOutcome};
use crate::dissimilar::comparison::{Compared, OutputRow};
use crate::dissimilar::job;
use crate::exec::BufferContents;
use crate::exec::prepare::{ModuleUse, Prepared};
use crate::exec::sequential::SequentialExecutor;
use crate::glsl::cpp::CppProgram;
use crate::model::verdict::EngineName;
use crate::oracle::contents::ContentsDifference;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A kernel under one specialization, with its program.
pub(super) struct TranslatedKernel {
    pub(super) kernel: String,
    pub(super) specialization: Specialization,
    pub(super) configuration: String,
    pub(super) program: Result<ReadyProgram, String>,
    /// Files with the execution counts of the tests that count.
    pub(super) counts: Vec<PathBuf>,
    pub(super) tests: Vec<String>,
    /// Why the coverage is not that of the engines' tests.
    pub(super) incomparable: Option<String>,
}

/// A program with what was built of it.
pub(super) struct ReadyProgram {
    pub(super) program: CppProgram,
    pub(super) built: BuiltProgram,
}

/// Everything that programs are built and run with.
pub(super) struct ProgramBench<'a> {
    pub(super) subject: &'a TranslationSubject,
    pub(super) tools: &'a ClangTools,
    /// As the tests ran on it.
    pub(super) engine: SequentialExecutor,
    pub(super) folder: &'a Path,
    pub(super) translated: Vec<TranslatedKernel>,
}

impl ProgramBench<'_> {
    /// Runs every test as C++ and compares what it leaves.
    pub(super) fn run_tests(
        &mut self,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
    ) -> Result<Vec<OutputRow>, Failure> {
        let mut rows = Vec::new();
        for (test_number, (test, engine_runs)) in prepared.iter().zip(runs).enumerate() {
            let run_result = match &test.job_plan {
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
                    (
                        contents.iter().map(|bytes| bytes.len()).sum(),
                        [against_sequential, against_device],
                    )
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
    ) -> Result<Result<Vec<BufferContents>, Compared>, Failure> {
        let plan = test.job_plan.as_ref().expect("the caller has seen that it is there");
        let sequential = engine_runs.iter().find(|run| run.engine == EngineName::Sequential);
        let is_counted = sequential.is_some_and(|run| {
            self.subject.counts_for_coverage(run.verdict, &test.test.requirements)
        });
        let mut contents: Vec<BufferContents> =
            plan.job.buffers.iter().map(|buffer| Arc::clone(&buffer.bytes)).collect();
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
        plan: &Prepared,
        dispatches: std::ops::Range<usize>,
        contents: &[BufferContents],
        file_stem: &Path,
    ) -> Result<Vec<BufferContents>, Compared> {
        let ready_program =
            self.translated[program_index].program.as_ref().map_err(|unsupported_construct| {
                Compared::Unsupported(unsupported_construct.clone())
            })?;
        let job_text =
            job::job_text(&plan.job, dispatches, contents, self.engine.settings.subgroup_size)
                .map_err(Compared::Unsupported)?;
        let job_file = file_stem.with_extension("job");
        std::fs::write(&job_file, job_text)
            .map_err(|error| Compared::NotRun(format!("{}: {error}", job_file.display())))?;
        match self.tools.run_program(
            &ready_program.built,
            &job_file,
            &file_stem.with_extension("profraw"),
        ) {
            Ok(RunOutcome::Completed(printed_text)) => {
                job::parse_outputs(&printed_text, contents.len()).map_err(Compared::Stopped)
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
        contents: &[BufferContents],
        run: Option<&TestRun>,
    ) -> Compared {
        let Some(run) = run else { return Compared::NotRun("the engine did not run".to_owned()) };
        let Ok(plan) = &test.job_plan else {
            return Compared::NotRun("the test was not laid out".to_owned());
        };
        if !run.verdict.ran() || run.outputs.is_empty() {
            return Compared::NotRun(run.reason.clone().unwrap_or_else(|| "no outputs".to_owned()));
        }
        for (buffer_index, (buffer, bytes)) in plan.job.buffers.iter().zip(contents).enumerate() {
            let Some(engine_bytes) = run.outputs.get(&buffer.name) else {
                return Compared::NotRun(format!("`{}` did not come back", buffer.name));
            };
            if let Some(difference) = ContentsDifference::between(buffer_index, bytes, engine_bytes)
            {
                return Compared::Different(format!(
                    "{} bytes of `{}`, the first at {}",
                    difference.offsets().count(),
                    buffer.name,
                    difference.first_offset()
                ));
            }
        }
        Compared::Identical
    }
}

/// The comparison, with a difference from the sequential engine's outputs recognised as one within
/// the specification's error bounds.
fn within_error_bounds(
    (test, engine): (&PreparedTest<'_>, &SequentialExecutor),
    contents: &[BufferContents],
    sequential: Option<&TestRun>,
    compared: Compared,
) -> Compared {
    match (compared, sequential, &test.job_plan) {
        (Compared::Different(difference_sentence), Some(run), Ok(plan)) => {
            let named_buffers = plan.job.buffers.iter().zip(contents);
            let outputs = named_buffers
                .map(|(buffer, bytes)| (buffer.name.clone(), Arc::clone(bytes)))
                .collect();
            if agreement::is_permitted(test, engine, run, outputs) {
                Compared::WithinBounds(difference_sentence)
            } else {
                Compared::Different(difference_sentence)
            }
        }
        (compared, _, _) => compared,
    }
}
