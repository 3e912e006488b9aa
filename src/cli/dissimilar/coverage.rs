//! The MC/DC that clang measured beside that of the engines.
//!
//! Knows: the programs with their execution counts, and the engines' runs.
//! Promises: a row for every condition of every program that ran; what is not of the same tests is
//! not compared.
//! Does not cover: outputs (`programs`).

use super::programs::{ProgramBench, ReadyProgram, TranslatedKernel};
use crate::campaign::test_run::{PreparedTest, TestRun};
use crate::campaign::{configuration, kernel_coverage};
use crate::cli::failure::Failure;
use crate::dissimilar::comparison::{self, ComparedDecision, Comparison, KernelRow};
use crate::dissimilar::coverage::{MeasuredDecision, ProgramCoverage};
use crate::model::coverage::KernelCoverage;
use crate::model::id::DecisionId;
use crate::model::verdict::{EngineName, Verdict};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl ProgramBench<'_> {
    /// Adds a row for every condition of every kernel and specialization that tests ran.
    pub(super) fn compare_coverage(
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
        let kernel_configuration = configuration::configuration_under(
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
