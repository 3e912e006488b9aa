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
/// justifications; records that cannot be are findings of the campaign.
pub fn assemble_kernels(
    project: &Project,
    kernels: &[Kernel],
    runs_by_test: &[Vec<TestRun>],
    campaign: &mut Campaign,
) -> Vec<KernelEvidence> {
    let engines = engines_that_ran(&campaign.engines);
    let codes = kernel_codes(kernels);
    // The results of the tests are not in the campaign yet: what they altered is asked of the runs.
    let observations: Vec<TestObservation> = campaign
        .tests
        .iter()
        .zip(runs_by_test)
        .map(|(test, runs)| observation_of_runs((&test.expected, &test.flows), &codes, runs))
        .collect();
    let mut kernel_evidence = Vec::new();
    for kernel in kernels {
        let kernel_rows = kernel.configurations.iter().flat_map(|kernel_configuration| {
            engines.iter().map(move |engine| (kernel_configuration, *engine))
        });
        for (configuration, engine) in kernel_rows {
            let (structure, layout, presence) = structure_and_layout(kernel, configuration);
            let mut row = KernelEvidence {
                schema: EVIDENCE_SCHEMA,
                kernel: KernelName::from(&kernel.name),
                engine,
                source: kernel.source.clone(),
                configuration: configuration.configuration.clone(),
                modules: module_hashes(project, kernel),
                recording: device_recording(kernel, engine),
                structure,
                layout,
                presence,
                records: records_of_tests(
                    project,
                    kernel,
                    configuration,
                    engine,
                    (runs_by_test, &observations),
                    |run| &run.records,
                ),
                objects: ObjectEvidence {
                    structure: kernel.object.structure.clone(),
                    instrumented: object_hash(kernel),
                    records: records_of_tests(
                        project,
                        kernel,
                        configuration,
                        engine,
                        (runs_by_test, &observations),
                        |run| &run.objects,
                    ),
                },
                barriers: kernel.barriers(),
                boundaries: configuration.boundaries.clone(),
                pairs: configuration.pairs.clone(),
                coverage: KernelCoverage::default(),
                lowering: lowering_sums(kernel, configuration, engine, runs_by_test),
            };
            place_pairs_outside(kernel, &mut row);
            row.coverage = derive::derived_coverage(&row, &campaign.project);
            campaign.findings.extend(derive::record_contradictions(&row));
            kernel_evidence.push(row);
        }
    }
    kernel_evidence
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

/// Raw records of each test that ran the kernel under the configuration, passed or not; only those
/// of passed requirement-based tests that judge what it stores count.
fn records_of_tests(
    project: &Project,
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    engine_name: EngineName,
    (runs_by_test, observations): (&[Vec<TestRun>], &[TestObservation]),
    records_kind: fn(&TestRun) -> &Vec<ModuleRecords>,
) -> Vec<TestRecords> {
    let mut test_records = Vec::new();
    let kernel_name = KernelName::from(&kernel.name);
    for ((test, row), observation) in project.tests.iter().zip(runs_by_test).zip(observations) {
        let Some(run) = row.iter().find(|run| run.engine == engine_name) else { continue };
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

/// Counts of the lowering's own loop decisions over all tests.
fn lowering_sums(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    engine_name: EngineName,
    runs_by_test: &[Vec<TestRun>],
) -> Vec<LoweringDecision> {
    let mut decision_sums: Vec<LoweringDecision> = Vec::new();
    let runs_by_test = runs_by_test
        .iter()
        .flatten()
        .filter(|run| run.engine == engine_name && run.verdict == Verdict::Pass);
    let module_rows =
        runs_by_test.filter_map(|run| of_configuration(&run.records, kernel, configuration));
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
