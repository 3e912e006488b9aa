//! Coverage from what evidence stores.
//!
//! Knows: stored structures, layouts and records of kernels, and which of the records count.
//! Promises: what may follow undefined values is undetermined, and nothing looks complete for want
//! of source or of derived modules.
//! Does not cover: which records count (`counting`), justifications (`justifications`).

mod counting;
mod justifications;

pub use counting::{
    CodeIdentity, altered_stores, code_classes, kernel_codes, leads_to_configuration, record_fault,
    records_count, settle_requirements, test_observation, tested_code,
};
pub use justifications::{
    apply_justifications, missing_subject, signed_kernel_hashes, stored_contents,
};

use std::collections::BTreeSet;
use vkcert_coverage::barrier::{self, BarrierRecords};
use vkcert_coverage::boundary;
use vkcert_coverage::coupling::{DEVICE_KEEPS_NO_PAIRS, PairRecords, assess_kernel_pairs};
use vkcert_coverage::object::{self, ObjectCoverage};
use vkcert_coverage::{
    self as coverage, CoverageSubject, Criterion, CriterionSubject, ProposalRules, criteria,
};
use vkcert_model::coverage::{CriterionSummary, KernelCoverage, SimpleObligation};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{
    Configuration, FIRST_SCHEMA, KernelEvidence, KernelFinding, ProjectIdentity, TestRecords,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::{StatementId, TestId};
use vkcert_model::metric::{MetricName, StatementCounts};
use vkcert_model::records::{Presence, PresentMarker, RecordLayout, Records};
use vkcert_model::structure::KernelStructure;
use vkcert_model::verdict::EngineName;

/// Which of the stored records coverage is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordChoice {
    /// Those that count.
    Counted,
    /// Those of every test, whatever became of it.
    All,
}

/// Coverage of one kernel on one engine from its stored structure and counted records, before
/// justifications; functions, calls and loops are obligations only where the asked
/// criteria name them, and average statement coverage is there only where it is asked for.
pub fn derived_coverage(kernel_row: &KernelEvidence, project: &ProjectIdentity) -> KernelCoverage {
    let asked_criteria = &project.criteria;
    let coverage_by = |kernel_row: &KernelEvidence, record_choice| {
        coverage_by(kernel_row, record_choice, asked_criteria)
    };
    let mut coverage = coverage_by(kernel_row, RecordChoice::Counted);
    if kernel_row.schema != FIRST_SCHEMA && follows_undefined(kernel_row) {
        let defined_coverage = coverage_by(&by_defined_records(kernel_row), RecordChoice::Counted);
        coverage = coverage::leave_undetermined(defined_coverage, coverage);
        coverage.summary = if has_source(kernel_row) {
            criteria::criterion_summaries(&coverage)
        } else {
            summary_without_source(&coverage)
        };
    }
    let all_records = kernel_row.records.iter().chain(&kernel_row.objects.records);
    let uncounted_tests: BTreeSet<TestId> =
        all_records.filter(|test| !test.counted).map(|test| test.test).collect();
    if kernel_row.schema != FIRST_SCHEMA && !uncounted_tests.is_empty() {
        coverage::name_uncounted_tests(
            &mut coverage,
            &coverage_by(kernel_row, RecordChoice::All),
            &uncounted_tests,
        );
    }
    if project.metrics.contains(&MetricName::AverageStatement) {
        coverage.average_statement = Some(coverage::average_statement(
            &coverage.statements,
            &counted_statements(kernel_row),
        ));
    }
    coverage
}

/// Counts of the tests that count, or why a test has none.
fn counted_statements(
    kernel_row: &KernelEvidence,
) -> Vec<(TestId, Result<&StatementCounts, String>)> {
    let counted_tests = kernel_row.records.iter().filter(|test| test.counted);
    counted_tests
        .map(|test| {
            let counts = test.records.statement_counts.as_ref();
            (test.test, counts.ok_or_else(|| reason_without_counts(kernel_row.engine).to_owned()))
        })
        .collect()
}

/// What contradicts counts of a test in what it recorded of the kernel; none where nothing does.
pub fn counts_contradiction(
    kernel_row: &KernelEvidence,
    records: &Records,
    counts: &StatementCounts,
) -> Option<String> {
    coverage::assess::counts_contradiction(&coverage_subject(kernel_row), records, counts)
}

/// Statements that no invocation executed in the ordinary run of a test, by what it recorded of the
/// kernel; those of which the records do not tell are not among them.
pub fn unexecuted_statements(
    kernel_row: &KernelEvidence,
    records: &Records,
) -> BTreeSet<StatementId> {
    if !has_source(kernel_row) {
        return BTreeSet::new();
    }
    coverage::assess::unexecuted_statements(&coverage_subject(kernel_row), records)
}

fn reason_without_counts(engine: EngineName) -> &'static str {
    match engine {
        EngineName::Sequential => "no counts are stored",
        EngineName::Vulkan => "a device does not record how many invocations executed a statement",
    }
}

/// Whether anything that counts was recorded that may follow an undefined value.
fn follows_undefined(kernel_row: &KernelEvidence) -> bool {
    let mut counted_records =
        kernel_row.records.iter().chain(&kernel_row.objects.records).filter(|test| test.counted);
    counted_records.any(|test| test.records.follow_undefined())
}

/// The same kernel with what its tests recorded whatever undefined values are.
fn by_defined_records(kernel_row: &KernelEvidence) -> KernelEvidence {
    let mut kernel_row = kernel_row.clone();
    for test in kernel_row.records.iter_mut().chain(&mut kernel_row.objects.records) {
        test.records = test.records.without_undefined();
    }
    kernel_row
}

fn coverage_by(
    kernel_row: &KernelEvidence,
    record_choice: RecordChoice,
    asked_criteria: &[StoredCriterion],
) -> KernelCoverage {
    let asks_for =
        |criterion: CriterionName| asked_criteria.iter().any(|asked| *asked == criterion);
    let chosen_records = records_of(&kernel_row.records, record_choice);
    let object_coverage = object::assess_object(
        &kernel_row.objects.structure,
        &kernel_row.source,
        &records_of(&kernel_row.objects.records, record_choice),
    );
    if !has_source(kernel_row) {
        let mut empty_coverage = KernelCoverage {
            functions: Some(Vec::new()),
            calls: Some(Vec::new()),
            loops: Some(Vec::new()),
            boundaries: boundary_coverage(kernel_row, &chosen_records),
            coupling: coupling_coverage(kernel_row, &chosen_records),
            ..KernelCoverage::default()
        };
        leave_requested(&mut empty_coverage, asks_for);
        return coverage_without_source(&kernel_row.configuration, object_coverage, empty_coverage);
    }
    let (mut coverage, told_barriers) = if kernel_row.presence.markers.is_empty() {
        let proposal_rules = ProposalRules::for_schema(kernel_row.schema);
        (
            unmeasured_coverage(&kernel_row.structure, &kernel_row.configuration, proposal_rules),
            BarrierRecords::Missing(UNUSABLE),
        )
    } else {
        (
            coverage::assess(&coverage_subject(kernel_row), &chosen_records),
            barrier_records(kernel_row.engine),
        )
    };
    coverage.boundaries = boundary_coverage(kernel_row, &chosen_records);
    coverage.coupling = coupling_coverage(kernel_row, &chosen_records);
    leave_requested(&mut coverage, asks_for);
    with_objects(
        KernelCoverage {
            barriers: barrier::assess_barriers(
                &kernel_row.barriers,
                told_barriers,
                &chosen_records,
            ),
            ..coverage
        },
        object_coverage,
    )
}

fn boundary_coverage(
    kernel_row: &KernelEvidence,
    chosen_records: &[(TestId, &Records)],
) -> Option<Vec<SimpleObligation>> {
    let boundary_values = kernel_row.boundaries.as_deref()?;
    Some(boundary::assess_boundaries(boundary_values, chosen_records))
}

fn coupling_coverage(
    kernel_row: &KernelEvidence,
    chosen_records: &[(TestId, &Records)],
) -> Option<Vec<SimpleObligation>> {
    let pairs = kernel_row.pairs.as_ref()?;
    let pair_records = if has_source(kernel_row) {
        pair_records(kernel_row.engine)
    } else {
        PairRecords::Missing(WITHOUT_SOURCE)
    };
    Some(assess_kernel_pairs(&kernel_row.source, pairs, pair_records, chosen_records))
}

/// Why no pairs are kept of a kernel without source.
pub const WITHOUT_SOURCE: &str = "nothing is recorded of a kernel without source";

/// What an engine tells of pairs.
pub fn pair_records(engine: EngineName) -> PairRecords<'static> {
    match engine {
        EngineName::Sequential => PairRecords::Kept,
        EngineName::Vulkan => PairRecords::Missing(DEVICE_KEEPS_NO_PAIRS),
    }
}

/// Leaves of the lists that are derived on request those that are asked for; calls are obligations
/// of coupling, too.
fn leave_requested(coverage: &mut KernelCoverage, asks_for: impl Fn(CriterionName) -> bool) {
    let criteria = coverage.requested().map(|(criterion, _)| criterion);
    for (criterion, obligations) in criteria.into_iter().zip(coverage.requested_mut()) {
        let is_coupling = criterion == CriterionName::Call && asks_for(CriterionName::Coupling);
        if !asks_for(criterion) && !is_coupling {
            *obligations = None;
        }
    }
}

/// Why nothing is recorded where the derived modules could not be used.
pub const UNUSABLE: &str = "the derived modules cannot be used";

/// What an engine tells of executed barriers.
pub fn barrier_records(engine: EngineName) -> BarrierRecords<'static> {
    match engine {
        EngineName::Sequential => BarrierRecords::Kept,
        EngineName::Vulkan => BarrierRecords::Missing(barrier::DEVICE_KEEPS_NO_BARRIER_RECORDS),
    }
}

fn has_source(kernel_row: &KernelEvidence) -> bool {
    !kernel_row.structure.functions.is_empty()
}

fn records_of(records: &[TestRecords], record_choice: RecordChoice) -> Vec<(TestId, &Records)> {
    let chosen_records = records.iter().filter(|test| match record_choice {
        RecordChoice::Counted => test.counted,
        RecordChoice::All => true,
    });
    chosen_records.map(|test| (test.test, &test.records)).collect()
}

/// Coverage together with that of object code, counted.
pub fn with_objects(mut coverage: KernelCoverage, objects: ObjectCoverage) -> KernelCoverage {
    (coverage.objects, coverage.additional) = (objects.outcomes, objects.additional);
    coverage.summary = criteria::criterion_summaries(&coverage);
    coverage
}

fn coverage_subject(kernel_row: &KernelEvidence) -> CoverageSubject<'_> {
    let KernelEvidence { structure, layout, presence, configuration, .. } = kernel_row;
    CoverageSubject {
        structure,
        layout,
        presence,
        configuration,
        proposing: ProposalRules::for_schema(kernel_row.schema),
    }
}

/// Records of passed tests that contradict what the configuration fixes.
pub fn record_contradictions(kernel_row: &KernelEvidence) -> Vec<KernelFinding> {
    let counted_tests = kernel_row.records.iter().filter(|test| test.counted);
    counted_tests
        .flat_map(|test| {
            let contradicting_sentences = coverage::contradictions(
                &coverage_subject(kernel_row),
                &[(test.test, &test.records)],
            );
            contradicting_sentences.into_iter().map(|sentence| KernelFinding {
                kernel: kernel_row.kernel,
                engine: Some(kernel_row.engine),
                test: Some(test.test),
                finding: internal_error(&sentence),
            })
        })
        .collect()
}

/// A defect of this tool, of the compiler or of the device, told as a finding so that it counts
/// against the result.
pub fn internal_error(sentence: &str) -> Finding {
    Finding::new(FindingKind::Validation, format!("internal error: {sentence}"))
}

/// The derived modules could not be used: everything of the source is an obligation, nothing is
/// recorded.
pub fn unmeasured_coverage(
    structure: &KernelStructure,
    configuration: &Configuration,
    proposing: ProposalRules,
) -> KernelCoverage {
    let layout = &RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    let presence = &everything_present(structure);
    coverage::assess(
        &CoverageSubject { structure, layout, presence, configuration, proposing },
        &[],
    )
}

/// SPIR-V without source: its branches are those of the object code; no other criterion of source
/// structure can be claimed, and none may look complete for being empty. `empty_coverage` holds the
/// lists that were asked for.
pub fn coverage_without_source(
    configuration: &Configuration,
    objects: ObjectCoverage,
    empty_coverage: KernelCoverage,
) -> KernelCoverage {
    let empty_coverage =
        KernelCoverage { configuration: configuration.name.clone(), ..empty_coverage };
    let mut coverage = with_objects(empty_coverage, objects);
    coverage.branches.clone_from(&coverage.objects);
    coverage.summary = summary_without_source(&coverage);
    coverage
}

/// Counts by criterion; without source nothing of its structure may look complete.
pub fn summary_without_source(coverage: &KernelCoverage) -> Vec<CriterionSummary> {
    let criterion_rows = criteria::criterion_summaries(coverage).into_iter();
    criterion_rows
        .map(|criterion_row| {
            if criterion_row.criterion == CriterionName::Branch {
                criterion_row
            } else {
                undetermined_unless_object(criterion_row)
            }
        })
        .collect()
}

/// The counts themselves of object code; of the source that they are not known.
fn undetermined_unless_object(summary: CriterionSummary) -> CriterionSummary {
    match criteria::criterion_named(&summary.criterion).map(Criterion::subject) {
        Some(CriterionSubject::Object | CriterionSubject::Interface) => summary,
        Some(CriterionSubject::Source) | None => {
            CriterionSummary { total: 1, undetermined: 1, ..summary }
        }
    }
}

fn everything_present(structure: &KernelStructure) -> Presence {
    let numbered_roles = structure.markers.iter().enumerate();
    let markers = numbered_roles
        .map(|(marker_number, role)| (marker_number as u32, PresentMarker::runtime(*role)));
    Presence { markers: markers.collect() }
}
