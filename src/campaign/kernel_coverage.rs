//! Coverage and obligations of a compiled kernel, before or without evidence: for `vkcert run`,
//! listings and checks of justifications.
//!
//! Promises: the same as [`vkcert_derivation::derive`] makes of the kernel's evidence where a
//! project asks for every criterion.

use super::configuration::KernelConfiguration;
use super::kernel::{Kernel, Measured, Measurement};
use std::collections::BTreeMap;
use vkcert_coverage::barrier::{self, BarrierRecords};
use vkcert_coverage::boundary;
use vkcert_coverage::coupling::{PairRecords, assess_kernel_pairs};
use vkcert_coverage::justification::{BoundConfiguration, BoundContents, BoundKernel};
use vkcert_coverage::{
    self as coverage, CoverageSubject, ProposalRules, criteria, justification, object,
};
use vkcert_derivation::derive::{
    UNUSABLE, WITHOUT_SOURCE, barrier_records, coverage_without_source, internal_error,
    pair_records, summary_without_source, unmeasured_coverage, with_objects,
};
use vkcert_model::coverage::{KernelCoverage, SimpleObligation};
use vkcert_model::finding::Finding;
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::records::Records;
use vkcert_model::verdict::EngineName;

/// The contents that justifications of a kernel's obligations are bound to, on the ground of one
/// configuration.
pub fn with_bound_contents<R>(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    coverage: &KernelCoverage,
    read: impl FnOnce(&BoundContents) -> R,
) -> R {
    let configurations = BoundConfiguration::of_all(
        kernel
            .configurations
            .iter()
            .map(|kernel_configuration| &kernel_configuration.configuration),
    );
    let structure = match &kernel.measurement {
        Measurement::Markers(measured) => Some(&measured.structure),
        Measurement::Failed { structure, .. } => Some(&**structure),
        Measurement::NoSource => None,
    };
    let (name, code) = (KernelName::from(&kernel.name), kernel.code_digits());
    let object_structure = &kernel.object.structure;
    let bound_kernel = BoundKernel {
        kernel: &name,
        structure,
        objects: object_structure,
        pairs: configuration.pairs.as_ref(),
        code: &code,
        configurations: &configurations,
    };
    read(&BoundContents::from_coverage(bound_kernel, coverage))
}

/// Every obligation of a kernel, with the text that is displayed of it.
pub fn obligation_texts(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
) -> BTreeMap<ObligationId, String> {
    let coverage = kernel_coverage(kernel, configuration, EngineName::Sequential, &[], &[]);
    let displayed_texts = justification::displayed_texts(&coverage);
    displayed_texts.into_iter().map(|(id, text)| (id, text.into_owned())).collect()
}

/// Coverage of one kernel under a configuration by tests on one engine, for `vkcert run` and
/// listings; `objects` are what the tests recorded of its object code.
pub fn kernel_coverage(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    engine_name: EngineName,
    tests: &[(TestId, &Records)],
    objects: &[(TestId, &Records)],
) -> KernelCoverage {
    let all = coverage_by_all(kernel, configuration, engine_name, tests, objects);
    if !tests.iter().chain(objects).any(|(_, records)| records.follow_undefined()) {
        return all;
    }
    let [tests, objects] = [tests, objects].map(without_undefined);
    let [tests, objects] = [&tests, &objects].map(|test_rows| borrowed_records(test_rows));
    let defined_coverage = coverage_by_all(kernel, configuration, engine_name, &tests, &objects);
    let mut coverage = coverage::leave_undetermined(defined_coverage, all);
    coverage.summary = match kernel.measurement {
        Measurement::NoSource => summary_without_source(&coverage),
        Measurement::Markers(_) | Measurement::Failed { .. } => {
            criteria::criterion_summaries(&coverage)
        }
    };
    coverage
}

fn without_undefined(rows: &[(TestId, &Records)]) -> Vec<(TestId, Records)> {
    rows.iter().map(|(test, records)| (*test, records.without_undefined())).collect()
}

fn borrowed_records(rows: &[(TestId, Records)]) -> Vec<(TestId, &Records)> {
    rows.iter().map(|(test, records)| (*test, records)).collect()
}

fn coverage_by_all(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    engine_name: EngineName,
    tests: &[(TestId, &Records)],
    objects: &[(TestId, &Records)],
) -> KernelCoverage {
    let objects = object::assess_object(&kernel.object.structure, &kernel.source, objects);
    let (coverage, barrier_knowledge) = match &kernel.measurement {
        Measurement::Markers(measured) => (
            coverage::assess(&measured_subject(measured, configuration), tests),
            barrier_records(engine_name),
        ),
        Measurement::NoSource => {
            return coverage_without_source(
                &configuration.configuration,
                objects,
                KernelCoverage {
                    functions: Some(Vec::new()),
                    boundaries: boundary_coverage(configuration, tests),
                    coupling: coupling_coverage(
                        kernel,
                        configuration,
                        PairRecords::Missing(WITHOUT_SOURCE),
                        tests,
                    ),
                    ..KernelCoverage::default()
                },
            );
        }
        Measurement::Failed { structure, .. } => {
            let coverage = unmeasured_coverage(
                structure,
                &configuration.configuration,
                ProposalRules::Current,
            );
            (coverage, BarrierRecords::Missing(UNUSABLE))
        }
    };
    let barriers = barrier::assess_barriers(&kernel.barriers(), barrier_knowledge, tests);
    let boundaries = boundary_coverage(configuration, tests);
    let coupling = coupling_coverage(kernel, configuration, pair_records(engine_name), tests);
    with_objects(KernelCoverage { barriers, boundaries, coupling, ..coverage }, objects)
}

fn coupling_coverage(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    pair_records: PairRecords<'_>,
    tests: &[(TestId, &Records)],
) -> Option<Vec<SimpleObligation>> {
    let pairs = configuration.pairs.as_ref()?;
    Some(assess_kernel_pairs(&kernel.source, pairs, pair_records, tests))
}

fn boundary_coverage(
    configuration: &KernelConfiguration,
    tests: &[(TestId, &Records)],
) -> Option<Vec<SimpleObligation>> {
    Some(boundary::assess_boundaries(configuration.boundaries.as_deref()?, tests))
}

/// Records of one test that contradict what its specialization fixes.
pub fn run_contradictions(
    kernel: &Kernel,
    configuration: &KernelConfiguration,
    test: (TestId, &Records),
) -> Vec<Finding> {
    let Some(measured) = kernel.measured() else { return Vec::new() };
    let contradictions_found =
        coverage::contradictions(&measured_subject(measured, configuration), &[test]);
    contradictions_found.iter().map(|sentence| internal_error(sentence)).collect()
}

pub(crate) fn measured_subject<'a>(
    measured: &'a Measured,
    configuration: &'a KernelConfiguration,
) -> CoverageSubject<'a> {
    CoverageSubject {
        structure: &measured.structure,
        layout: &measured.markers.layout,
        presence: &configuration.presence,
        configuration: &configuration.configuration,
        proposing: ProposalRules::Current,
    }
}
