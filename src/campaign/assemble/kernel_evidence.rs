//! The evidence of each kernel under each of its configurations, on each engine that ran.
//!
//! Promises: only records of a test that counts are counted; structure and layout are those of the
//! modules that ran.
//! Does not cover: justifications, which are applied when the results of the tests are known.

use super::kernel_codes;
use crate::configuration::KernelConfiguration;
use crate::facts::engines_that_ran;
use crate::judged::observation_of_runs;
use crate::kernel::{Kernel, Measurement};
use crate::project::{module_bytes, module_file};
use crate::test_run::{ModuleRecords, TestRun};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::coupling::{indices_of_pairs, pairs_outside};
use vkcert_derivation::derive;
use vkcert_model::canonical::sha256_digits;
use vkcert_model::coverage::KernelCoverage;
use vkcert_model::evidence::*;
use vkcert_model::id::KernelName;
use vkcert_model::records::{Presence, RecordLayout, Recorded};
use vkcert_model::structure::{Accuracy, KernelStructure, RequestedParts, TextDigests};
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_oracle::judged::TestObservation;
use vkcert_requirement::Project;

/// Evidence of every kernel under each of its configurations on every engine that ran, before
/// justifications; records that cannot be are findings of the campaign. Kernels that are handed over
/// are given back one by one, so that the modules of all are not in memory beside all evidence.
pub fn assemble_kernels(
    project: &Project,
    kernels: Cow<'_, [Kernel]>,
    runs_by_test: &[Vec<TestRun>],
    campaign: &mut Campaign,
) -> Vec<KernelEvidence> {
    let engines = engines_that_ran(&campaign.engines);
    let codes = kernel_codes(&kernels);
    // The results of the tests are not in the campaign yet: what they altered is asked of the runs.
    let observations: Vec<TestObservation> = campaign
        .tests
        .par_iter()
        .zip(runs_by_test)
        .map(|(test, runs)| observation_of_runs((&test.expected, &test.flows), &codes, runs))
        .collect();
    let recorded_tests = RecordedTests::of_runs(runs_by_test);
    let parts = AssembledParts { project, campaign, recorded_tests, runs_by_test, observations };
    let rows_of = |kernel: &Kernel| -> Vec<KernelRow> {
        let kernel_rows = kernel.configurations.iter().flat_map(|kernel_configuration| {
            engines.iter().map(move |engine| (kernel_configuration, *engine))
        });
        let rows = kernel_rows
            .map(|(configuration, engine)| parts.kernel_row(kernel, configuration, engine));
        rows.collect()
    };
    let rows: Vec<KernelRow> = match kernels {
        Cow::Borrowed(kernels) => {
            kernels.par_iter().with_max_len(1).flat_map_iter(&rows_of).collect()
        }
        Cow::Owned(kernels) => {
            let kernels = kernels.into_par_iter().with_max_len(1);
            kernels.flat_map_iter(|kernel| rows_of(&kernel)).collect()
        }
    };
    let mut kernel_evidence = Vec::new();
    for KernelRow { evidence, contradictions } in rows {
        campaign.findings.extend(contradictions);
        kernel_evidence.push(evidence);
    }
    kernel_evidence
}

/// Evidence of a kernel under a configuration on an engine.
struct KernelRow {
    evidence: KernelEvidence,
    /// Records that cannot be.
    contradictions: Vec<KernelFinding>,
}

/// What evidence of kernels is made of beside them.
struct AssembledParts<'a> {
    project: &'a Project,
    campaign: &'a Campaign,
    recorded_tests: RecordedTests<'a>,
    runs_by_test: &'a [Vec<TestRun>],
    observations: Vec<TestObservation>,
}

/// The tests that recorded something of a kernel, by its name: their places among the tests.
pub(super) struct RecordedTests<'r>(BTreeMap<&'r str, BTreeSet<usize>>);

impl<'r> RecordedTests<'r> {
    pub(super) fn of_runs(runs_by_test: &'r [Vec<TestRun>]) -> Self {
        let mut tests_by_kernel: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (place, runs) in runs_by_test.iter().enumerate() {
            for row in runs.iter().flat_map(|run| run.records.iter().chain(&run.objects)) {
                tests_by_kernel.entry(&row.kernel).or_default().insert(place);
            }
        }
        Self(tests_by_kernel)
    }

    pub(super) fn of_kernel(&self, kernel: &str) -> impl Iterator<Item = usize> {
        self.0.get(kernel).into_iter().flatten().copied()
    }
}

impl AssembledParts<'_> {
    fn kernel_row(
        &self,
        kernel: &Kernel,
        configuration: &KernelConfiguration,
        engine: EngineName,
    ) -> KernelRow {
        let (structure, layout, presence) = structure_and_layout(kernel, configuration);
        let mut evidence = KernelEvidence {
            schema: EVIDENCE_SCHEMA,
            kernel: KernelName::from(&kernel.name),
            engine,
            source: kernel.source.clone(),
            configuration: configuration.configuration.clone(),
            modules: module_hashes(self.project, kernel),
            recording: device_recording(kernel, engine),
            structure,
            layout,
            presence,
            records: self.records_of_tests(kernel, configuration, engine, |run| &run.records),
            objects: ObjectEvidence {
                structure: kernel.object.structure.clone(),
                instrumented: object_hash(kernel),
                records: self.records_of_tests(kernel, configuration, engine, |run| &run.objects),
            },
            barriers: kernel.barriers(),
            boundaries: configuration.boundaries.clone(),
            pairs: configuration.pairs.clone(),
            coverage: KernelCoverage::default(),
            lowering: self.lowering_sums(kernel, configuration, engine),
        };
        place_pairs_outside(kernel, &mut evidence);
        evidence.coverage = derive::derived_coverage(&evidence, &self.campaign.project);
        let contradictions = derive::record_contradictions(&evidence);
        KernelRow { evidence, contradictions }
    }

    /// Raw records of each test that ran the kernel under the configuration, passed or not; only those
    /// of passed requirement-based tests that judge what it stores count.
    fn records_of_tests(
        &self,
        kernel: &Kernel,
        configuration: &KernelConfiguration,
        engine_name: EngineName,
        records_kind: fn(&TestRun) -> &Vec<ModuleRecords>,
    ) -> Vec<TestRecords> {
        let mut test_records = Vec::new();
        let kernel_name = KernelName::from(&kernel.name);
        for place in self.recorded_tests.of_kernel(&kernel.name) {
            let runs = &self.runs_by_test[place];
            let (test, observation) = (&self.project.tests[place], &self.observations[place]);
            let Some(run) = runs.iter().find(|run| run.engine == engine_name) else { continue };
            if let Some(ModuleRecords { records: Ok(records), .. }) =
                of_configuration(records_kind(run), kernel, configuration)
            {
                test_records.push(TestRecords {
                    test: test.id,
                    verdict: run.verdict,
                    counted: derive::records_count(
                        run.verdict,
                        test,
                        observation,
                        (&kernel_name, &configuration.configuration),
                    ),
                    records: records.clone(),
                });
            }
        }
        test_records
    }

    /// Counts of the lowering's own loop decisions over all tests.
    fn lowering_sums(
        &self,
        kernel: &Kernel,
        configuration: &KernelConfiguration,
        engine_name: EngineName,
    ) -> Vec<LoweringDecision> {
        let mut decision_sums: Vec<LoweringDecision> = Vec::new();
        let runs = self
            .recorded_tests
            .of_kernel(&kernel.name)
            .flat_map(|place| &self.runs_by_test[place])
            .filter(|run| run.engine == engine_name && run.verdict == Verdict::Pass);
        let module_rows =
            runs.filter_map(|run| of_configuration(&run.records, kernel, configuration));
        for decision in module_rows.flat_map(|row| &row.lowering) {
            match decision_sums
                .iter_mut()
                .find(|sum| sum.id == decision.id && sum.text == decision.text)
            {
                Some(sum) => {
                    sum.true_count += decision.true_count;
                    sum.false_count += decision.false_count;
                }
                None => decision_sums.push(decision.clone()),
            }
        }
        decision_sums
    }
}

/// Pairs that tests showed and no obligation has, with the places of their instructions.
fn place_pairs_outside(kernel: &Kernel, kernel_row: &mut KernelEvidence) {
    let Some(pairs) = &mut kernel_row.pairs else { return };
    let records = kernel_row.records.iter().map(|row| &row.records);
    pairs.pairs_outside = pairs_outside(pairs, records);
    let indices = indices_of_pairs(&pairs.pairs_outside).into_iter();
    pairs.places_outside =
        indices.map(|index| (index, kernel.place_of_instruction(index))).collect();
}

fn structure_and_layout(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
) -> (KernelStructure, RecordLayout, Presence) {
    let empty_layout = || RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    match &kernel.measurement {
        Measurement::Markers(measured) => (
            measured.structure.clone(),
            measured.markers.layout.clone(),
            configuration.presence.clone(),
        ),
        Measurement::Failed { structure, .. } => {
            ((**structure).clone(), empty_layout(), Presence::default())
        }
        Measurement::NoSource => {
            let structure = KernelStructure {
                files: Vec::new(),
                entry: kernel.entry.clone(),
                functions: Vec::new(),
                decisions: Vec::new(),
                switches: Vec::new(),
                accuracy: Accuracy::LinesOnly,
                markers: Vec::new(),
                value_marker: String::new(),
                mark_marker: String::new(),
                texts: TextDigests::default(),
                requested: RequestedParts::default(),
            };
            (structure, empty_layout(), Presence::default())
        }
    }
}

fn object_hash(kernel: &Kernel) -> String {
    let modules = kernel.object.modules.as_ref();
    modules.map_or_else(String::new, |modules| sha256_digits(&module_bytes(&modules.instrumented)))
}

/// What each test recorded of a kernel under a configuration.
fn of_configuration<'a>(
    module_rows: &'a [ModuleRecords],
    kernel: &Kernel,
    configuration: &KernelConfiguration,
) -> Option<&'a ModuleRecords> {
    let is_of_configuration = |row: &&ModuleRecords| {
        row.kernel == kernel.name && row.specialization == configuration.specialization
    };
    module_rows.iter().find(is_of_configuration)
}

fn module_hashes(project: &Project, kernel: &Kernel) -> ModuleHashes {
    let module_path = module_file(&kernel.name);
    let stored_module = project.root.join(&module_path).is_file().then_some(module_path);
    let measured = kernel.measured();
    let sha256_words = |words: &[u32]| sha256_digits(&module_bytes(words));
    ModuleHashes {
        production: sha256_words(&kernel.production),
        code: kernel.code_digits(),
        text: kernel.text.clone(),
        production_file: stored_module,
        traced: measured.map_or_else(String::new, |measured| sha256_words(&measured.traced)),
        instrumented: measured
            .map_or_else(String::new, |measured| sha256_words(&measured.instrumented)),
    }
}

/// How a kernel records on an engine.
pub(super) fn device_recording(kernel: &Kernel, engine_name: EngineName) -> Option<Recorded> {
    match engine_name {
        EngineName::Sequential => None,
        EngineName::Vulkan => Some(kernel.measured()?.record_buffer.recorded()),
    }
}
