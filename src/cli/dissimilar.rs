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
use super::progress::Progress;
use super::translated::{self, Subject};
use crate::campaign::configuration::{self, Specialization};
use crate::campaign::engines::Vulkan;
use crate::campaign::profile::Target;
use crate::campaign::test_run::{PreparedTest, TestRun};
use crate::campaign::{agreement, execution, kernel_coverage, recording};
use crate::dissimilar::clang::{Built, INSTALL, OPTIONS, Ran, Toolchain};
use crate::dissimilar::comparison::{
    self, Compared, Comparison, KernelRow, OutputRow, Seen, Summary,
};
use crate::dissimilar::coverage::{Coverage, Measured};
use crate::dissimilar::{job, table};
use crate::exec::prepare::ModuleUse;
use crate::exec::sequential::SequentialExecutor;
use crate::glsl::cpp::Program;
use crate::model::coverage::KernelCoverage;
use crate::model::exit::Exit;
use crate::model::id::DecisionId;
use crate::model::records::Witnesses;
use crate::model::verdict::{EngineName, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names of what is written.
const TABLE: &str = "dissimilar.md";
const DOCUMENT: &str = "dissimilar.json";
const PROGRAMS: &str = "dissimilar";

/// A kernel under one specialization, with its program.
struct Translated {
    kernel: String,
    specialization: Specialization,
    configuration: String,
    program: Result<Ready, String>,
    /// Of the tests that count: where their runs left what they counted.
    counts: Vec<PathBuf>,
    tests: Vec<String>,
    /// Why the coverage is not that of the engines' tests.
    incomparable: Option<String>,
}

/// A program with what was built of it.
struct Ready {
    program: Program,
    built: Built,
}

/// Builds, runs, measures and compares.
pub(super) fn command(common: &Common, asked: &Dissimilar) -> Result<Exit, Failure> {
    let tools = Toolchain::find().map_err(|missing| Failure::Unavailable {
        message: format!("the dissimilar measurement needs clang 19: {missing}"),
        hint: Some(INSTALL.to_owned()),
    })?;
    let plan = plan::plan_of(common, "none")?;
    let mut subject = translated::load(&asked.path)?;
    let mut engines = plan::open_engines(&plan, subject.engines.as_deref(), subject.settings)?;
    recording::apply_for(
        &mut subject.kernels,
        &engines,
        None,
        Witnesses::Omitted,
        &Target::Vulkan,
    )?;
    let prepared = subject.prepare(&plan)?;
    let runs = execution::run(&prepared, &mut engines, &plan, &Progress::new(common))?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::tool(format!("no temporary folder: {error}")))?;
    let engine = engines.sequential();
    let (subject, tools) = (&subject, &tools);
    let mut bench = Bench { subject, tools, folder: folder.path(), engine, translated: Vec::new() };
    let outputs = bench.run_all(&prepared, &runs)?;
    let device = match &engines.vulkan {
        Vulkan::Ready(executor) => {
            let device = executor.device();
            Some(format!("{} ({} {})", device.name, device.driver_name, device.driver_info))
        }
        Vulkan::NotRun { .. } | Vulkan::NotAsked => None,
    };
    let mut comparison = Comparison {
        schema: 1,
        compiler: tools.version.clone(),
        options: OPTIONS.iter().map(|option| (*option).to_owned()).collect(),
        device,
        kernels: Vec::new(),
        outputs,
        conditions: Vec::new(),
        summary: Summary::default(),
    };
    bench.compare(&prepared, &runs, &mut comparison)?;
    comparison.summarise();
    let written = write(asked, &bench, &comparison)?;
    match common.format {
        OutputForm::Json => output::print_json(&comparison)?,
        OutputForm::Text => {
            output::print(&table::markdown(&comparison))?;
            if let Some(path) = written {
                super::output::tell(format_args!("written: {}\n", path.display()));
            }
        }
    }
    Ok(exit_of(&comparison.summary))
}

fn exit_of(summary: &Summary) -> Exit {
    let unlike = summary.disagree + summary.different_outputs + summary.stopped;
    let different = if unlike > 0 { Exit::Failed } else { Exit::Success };
    different.and(if summary.unsupported > 0 { Exit::Unavailable } else { Exit::Success })
}

/// Writes table, document and programs; gives the table's path where something was written.
fn write(
    asked: &Dissimilar,
    bench: &Bench<'_>,
    comparison: &Comparison,
) -> Result<Option<PathBuf>, Failure> {
    let out = match &asked.out {
        Some(out) => out.clone(),
        None if asked.path.is_dir() => asked.path.join("reports"),
        None => return Ok(None),
    };
    let folder = PendingFolder::start(&out, PROGRAMS)?;
    folder.write(TABLE, table::markdown(comparison).as_bytes())?;
    let document = serde_json::to_string_pretty(comparison)
        .map_err(|error| Failure::tool(error.to_string()))?;
    folder.write(DOCUMENT, format!("{document}\n").as_bytes())?;
    for (number, translated) in bench.translated.iter().enumerate() {
        let Ok(made) = &translated.program else { continue };
        let same = bench.translated[..number]
            .iter()
            .filter(|other| other.kernel == translated.kernel)
            .count();
        let suffix = if same == 0 { String::new() } else { format!("-{}", same + 1) };
        folder
            .write(&format!("{}{suffix}.cpp", translated.kernel), made.program.text.as_bytes())?;
    }
    folder.finish(&[TABLE, DOCUMENT])?;
    Ok(Some(out.join(TABLE)))
}

/// A difference from the sequential engine's outputs, as one within the specification's error
/// bounds where it is that.
fn permitted(
    (test, engine): (&PreparedTest<'_>, &SequentialExecutor),
    contents: &[Vec<u8>],
    sequential: Option<&TestRun>,
    compared: Compared,
) -> Compared {
    match (compared, sequential, &test.plan) {
        (Compared::Different(why), Some(run), Ok(plan)) => {
            let named = plan.job.buffers.iter().zip(contents);
            let outputs =
                named.map(|(buffer, bytes)| (buffer.name.clone(), bytes.clone())).collect();
            if agreement::is_permitted(test, engine, run, outputs) {
                Compared::WithinBounds(why)
            } else {
                Compared::Different(why)
            }
        }
        (compared, _, _) => compared,
    }
}

/// What programs are built and run with.
struct Bench<'a> {
    subject: &'a Subject,
    tools: &'a Toolchain,
    /// As the tests ran on it.
    engine: SequentialExecutor,
    folder: &'a Path,
    translated: Vec<Translated>,
}

impl Bench<'_> {
    /// Runs every test as C++ and compares what it leaves.
    fn run_all(
        &mut self,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
    ) -> Result<Vec<OutputRow>, Failure> {
        let mut rows = Vec::new();
        for (number, (test, row)) in prepared.iter().zip(runs).enumerate() {
            let made = match &test.plan {
                Ok(_) => self.run_test(number, test, row)?,
                Err(what) => Err(Compared::Unsupported(what.clone())),
            };
            let kernels = test.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            let of = |engine| row.iter().find(|run| run.engine == engine);
            let (sequential, device) = (of(EngineName::Sequential), of(EngineName::Vulkan));
            let (bytes, [against, on_device]) = match made {
                Ok(contents) => {
                    let against = permitted(
                        (test, &self.engine),
                        &contents,
                        sequential,
                        self.against(test, &contents, sequential),
                    );
                    let on_device = match (self.against(test, &contents, device), &against) {
                        (
                            Compared::Different(why),
                            Compared::Identical | Compared::WithinBounds(_),
                        ) => Compared::DifferentOnTheDevice(why),
                        (other, _) => other,
                    };
                    (contents.iter().map(Vec::len).sum(), [against, on_device])
                }
                Err(reason) => (0, [reason.clone(), reason]),
            };
            rows.push(OutputRow {
                test: test.test.id.to_string(),
                kernels,
                bytes,
                sequential: against,
                device: on_device,
            });
        }
        Ok(rows)
    }

    /// The final contents of a test's buffers as its programs leave them.
    fn run_test(
        &mut self,
        number: usize,
        test: &PreparedTest<'_>,
        row: &[TestRun],
    ) -> Result<Result<Vec<Vec<u8>>, Compared>, Failure> {
        let plan = test.plan.as_ref().expect("the caller has seen that it is there");
        let sequential = row.iter().find(|run| run.engine == EngineName::Sequential);
        let counted =
            sequential.is_some_and(|run| self.subject.counts(run.verdict, &test.test.requirements));
        let mut contents: Vec<Vec<u8>> =
            plan.job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let mut at = 0;
        let mut failed = None;
        while at < plan.job.dispatches.len() && failed.is_none() {
            let module = plan.job.dispatches[at].module;
            let same = plan.job.dispatches[at..]
                .iter()
                .take_while(|dispatch| dispatch.module == module)
                .count();
            let which = self.translated(&plan.modules[module])?;
            let files = self.folder.join(format!("test-{number}-{at}"));
            match self.run_program(which, plan, at..at + same, &contents, &files) {
                Ok(left) => contents = left,
                Err(reason) => failed = Some(reason),
            }
            let translated = &mut self.translated[which];
            if counted {
                let id = test.test.id.to_string();
                if !translated.tests.contains(&id) {
                    translated.tests.push(id.clone());
                }
                translated.counts.push(files.with_extension("profraw"));
                if failed.is_some() {
                    translated.incomparable = Some(format!("{id} was not run as C++ to its end"));
                }
            }
            at += same;
        }
        if counted && failed.is_some() {
            self.doubt_rest(plan.modules.as_slice(), &test.test.id.to_string())?;
        }
        Ok(failed.map_or(Ok(contents), Err))
    }

    /// Kernels that a test did not come to have not been measured by it.
    fn doubt_rest(&mut self, modules: &[ModuleUse], test: &str) -> Result<(), Failure> {
        for module in modules {
            let which = self.translated(module)?;
            self.translated[which]
                .incomparable
                .get_or_insert_with(|| format!("{test} was not run as C++ to its end"));
        }
        Ok(())
    }

    fn run_program(
        &self,
        which: usize,
        plan: &crate::exec::prepare::Prepared,
        dispatches: std::ops::Range<usize>,
        contents: &[Vec<u8>],
        files: &Path,
    ) -> Result<Vec<Vec<u8>>, Compared> {
        let made = self.translated[which]
            .program
            .as_ref()
            .map_err(|what| Compared::Unsupported(what.clone()))?;
        let text = job::text(&plan.job, dispatches, contents, self.engine.settings.subgroup_size)
            .map_err(Compared::Unsupported)?;
        let file = files.with_extension("job");
        std::fs::write(&file, text)
            .map_err(|error| Compared::NotRun(format!("{}: {error}", file.display())))?;
        match self.tools.run(&made.built, &file, &files.with_extension("profraw")) {
            Ok(Ran::Completed(text)) => {
                job::outputs(&text, contents.len()).map_err(Compared::Stopped)
            }
            Ok(Ran::Stopped(reason)) | Err(reason) => Err(Compared::Stopped(reason)),
        }
    }

    /// The number of the program of a kernel under a specialization; it is made and built when it
    /// is first asked for.
    fn translated(&mut self, module: &ModuleUse) -> Result<usize, Failure> {
        let (name, specialization) = (module.kernel.as_str(), &module.specialization);
        let known = (self.translated.iter())
            .position(|known| known.kernel == name && known.specialization == *specialization);
        if let Some(known) = known {
            return Ok(known);
        }
        let kernel = self.subject.kernel(name);
        let kernel = kernel
            .ok_or_else(|| Failure::tool(format!("`{name}` is dispatched but not compiled")))?;
        let program = match self.subject.sources.get(name) {
            Some(source) => translated::translate(kernel, source, specialization, ""),
            None => Err(translated::NO_SOURCE.to_owned()),
        };
        let folder = self.folder.join(format!("kernel-{}", self.translated.len()));
        let program = program.and_then(|program| {
            std::fs::create_dir(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            let built = self.tools.build(&folder, &program.text)?;
            Ok(Ready { program, built })
        });
        self.translated.push(Translated {
            kernel: name.to_owned(),
            specialization: specialization.clone(),
            configuration: translated::configuration_name(kernel, specialization)?.name,
            program,
            counts: Vec::new(),
            tests: Vec::new(),
            incomparable: None,
        });
        Ok(self.translated.len() - 1)
    }

    fn against(
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
            let Some(theirs) = run.outputs.get(&buffer.name) else {
                return Compared::NotRun(format!("`{}` did not come back", buffer.name));
            };
            let differing =
                bytes.iter().zip(theirs).filter(|(ours, theirs)| ours != theirs).count();
            if differing > 0 || bytes.len() != theirs.len() {
                let first = bytes
                    .iter()
                    .zip(theirs)
                    .position(|(ours, theirs)| ours != theirs)
                    .unwrap_or(bytes.len());
                return Compared::Different(format!(
                    "{differing} bytes of `{}`, the first at {first}",
                    buffer.name
                ));
            }
        }
        Compared::Identical
    }

    /// Adds a row for every condition of every kernel and specialization that tests ran.
    fn compare(
        &self,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
        comparison: &mut Comparison,
    ) -> Result<(), Failure> {
        for translated in &self.translated {
            let mut row = KernelRow {
                kernel: translated.kernel.clone(),
                configuration: translated.configuration.clone(),
                unsupported: translated.program.as_ref().err().cloned(),
                warnings: Vec::new(),
                tests: translated.tests.clone(),
            };
            if let Ok(made) = &translated.program {
                let engines = [EngineName::Sequential, EngineName::Vulkan];
                let [sequential, device] =
                    engines.map(|engine| self.coverage(translated, engine, prepared, runs));
                let (measured, incomparable) = self.measured(translated, made)?;
                row.warnings = Coverage::other_warnings(&made.built.said);
                let device = device?;
                let sequential = sequential?;
                let Some((sequential, counted)) = sequential else { continue };
                let same_tests = device.as_ref().is_none_or(|(_, on_device)| *on_device == counted);
                let incomparable = incomparable.or_else(|| {
                    (!same_tests).then(|| "other tests count on the device".to_owned())
                });
                for decision in &sequential.decisions {
                    let on_device = device.as_ref().and_then(|(coverage, _)| {
                        coverage.decisions.iter().find(|other| other.id == decision.id)
                    });
                    let absent =
                        Measured::Not { reason: "the program does not hold it".to_owned() };
                    let seen = Seen {
                        kernel: &translated.kernel,
                        configuration: &translated.configuration,
                        sequential: decision,
                        device: on_device,
                        incomparable: incomparable.as_deref(),
                    };
                    comparison.conditions.extend(comparison::rows(
                        &seen,
                        measured.get(&decision.id).unwrap_or(&absent),
                    ));
                }
            }
            comparison.kernels.push(row);
        }
        Ok(())
    }

    /// What clang measured, and why it cannot be compared.
    fn measured(
        &self,
        translated: &Translated,
        made: &Ready,
    ) -> Result<(BTreeMap<DecisionId, Measured>, Option<String>), Failure> {
        let there: Vec<PathBuf> =
            translated.counts.iter().filter(|path| path.is_file()).cloned().collect();
        if there.is_empty() {
            return Ok((BTreeMap::new(), Some("no test counts that was run as C++".to_owned())));
        }
        let failed = |what: String| Failure::tool(format!("{}: {what}", translated.kernel));
        let reports = self.tools.reports(&made.built, &there).map_err(failed)?;
        let coverage = Coverage::read(&made.program, &reports, &made.built.said).map_err(failed)?;
        Ok((coverage.measured(), translated.incomparable.clone()))
    }

    /// Coverage by the tests that count on an engine, with those tests; none where it did not run.
    fn coverage(
        &self,
        translated: &Translated,
        engine: EngineName,
        prepared: &[PreparedTest<'_>],
        runs: &[Vec<TestRun>],
    ) -> Result<Option<(KernelCoverage, Vec<String>)>, Failure> {
        let Some(kernel) = self.subject.kernel(&translated.kernel) else { return Ok(None) };
        let (mut tests, mut ran) = (Vec::new(), false);
        for (test, row) in prepared.iter().zip(runs) {
            let of_engine =
                row.iter().filter(|run| run.engine == engine && run.verdict != Verdict::NotRun);
            for run in of_engine {
                ran = true;
                if !self.subject.counts(run.verdict, &test.test.requirements) {
                    continue;
                }
                let mine = run.records.iter().filter(|records| {
                    records.kernel == translated.kernel
                        && records.specialization == translated.specialization
                });
                tests.extend(mine.filter_map(|records| {
                    Some((test.test.id.clone(), records.records.as_ref().ok()?))
                }));
            }
        }
        if !ran {
            return Ok(None);
        }
        let under = configuration::under(
            kernel,
            &translated.specialization,
            Some(&translated.configuration),
        )?;
        let names = tests.iter().map(|(id, _)| id.to_string()).collect();
        Ok(Some((kernel_coverage::kernel_coverage(kernel, &under, engine, &tests, &[]), names)))
    }
}
