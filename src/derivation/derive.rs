//! Coverage from what evidence stores.
//!
//! Knows: stored structures, layouts and records of kernels, and which of the records count.
//! Promises: what may follow undefined values is undetermined, and nothing looks complete for want
//! of source or of derived modules.
//! Does not cover: which records count (`counting`), justifications (`justifications`).

mod counting;
mod justifications;

pub use counting::{
    CodeIdentity, altered_stores, code_classes, codes, counts, is_of, observation, record_fault,
    settle_requirements, tested_code,
};
pub use justifications::{justify, nothing, stored_contents};

use std::collections::BTreeSet;
use vkcert_coverage::barrier::{self, BarrierRecords};
use vkcert_coverage::object::{self, ObjectCoverage};
use vkcert_coverage::{
    self as coverage, CoverageSubject, Criterion, CriterionSubject, ProposalRules, criteria,
};
use vkcert_model::coverage::{CriterionSummary, KernelCoverage};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{
    Configuration, FIRST_SCHEMA, KernelEvidence, KernelFinding, TestRecords,
};
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::id::TestId;
use vkcert_model::records::{Presence, PresentMarker, RecordLayout, Records};
use vkcert_model::structure::KernelStructure;
use vkcert_model::verdict::EngineName;

/// Which of the stored records coverage is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chosen {
    /// Those that count.
    Counted,
    /// Those of every test, whatever became of it.
    All,
}

/// Coverage of one kernel on one engine from its stored structure and counted records, before
/// justifications.
pub fn coverage(row: &KernelEvidence) -> KernelCoverage {
    let mut coverage = coverage_by(row, Chosen::Counted);
    if row.schema != FIRST_SCHEMA && follows_undefined(row) {
        let defined = coverage_by(&by_defined_records(row), Chosen::Counted);
        coverage = coverage::leave_undetermined(defined, coverage);
        coverage.summary = if has_source(row) {
            criteria::criterion_summaries(&coverage)
        } else {
            summary_without_source(&coverage)
        };
    }
    let all = row.records.iter().chain(&row.objects.records);
    let uncounted: BTreeSet<TestId> =
        all.filter(|test| !test.counted).map(|test| test.test).collect();
    if row.schema != FIRST_SCHEMA && !uncounted.is_empty() {
        coverage::name_uncounted_tests(&mut coverage, &coverage_by(row, Chosen::All), &uncounted);
    }
    coverage
}

/// Whether anything that counts was recorded that may follow an undefined value.
fn follows_undefined(row: &KernelEvidence) -> bool {
    let mut counted = row.records.iter().chain(&row.objects.records).filter(|test| test.counted);
    counted.any(|test| test.records.follow_undefined())
}

/// The same kernel with what its tests recorded whatever undefined values are.
fn by_defined_records(row: &KernelEvidence) -> KernelEvidence {
    let mut row = row.clone();
    for test in row.records.iter_mut().chain(&mut row.objects.records) {
        test.records = test.records.without_undefined();
    }
    row
}

fn coverage_by(row: &KernelEvidence, chosen: Chosen) -> KernelCoverage {
    let tests = records_of(&row.records, chosen);
    let objects = object::assess_object(
        &row.objects.structure,
        &row.source,
        &records_of(&row.objects.records, chosen),
    );
    if !has_source(row) {
        return no_source(&row.configuration, objects);
    }
    let (coverage, told) = if row.presence.markers.is_empty() {
        let proposing = ProposalRules::for_schema(row.schema);
        (
            unmeasured(&row.structure, &row.configuration, proposing),
            BarrierRecords::Missing(UNUSABLE),
        )
    } else {
        (coverage::assess(&subject(row), &tests), barrier_records(row.engine))
    };
    with_objects(
        KernelCoverage {
            barriers: barrier::assess_barriers(&row.barriers, told, &tests),
            ..coverage
        },
        objects,
    )
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

fn has_source(row: &KernelEvidence) -> bool {
    !row.structure.functions.is_empty()
}

fn records_of(records: &[TestRecords], chosen: Chosen) -> Vec<(TestId, &Records)> {
    let taken = records.iter().filter(|test| match chosen {
        Chosen::Counted => test.counted,
        Chosen::All => true,
    });
    taken.map(|test| (test.test, &test.records)).collect()
}

/// Coverage together with that of object code, counted.
pub fn with_objects(mut coverage: KernelCoverage, objects: ObjectCoverage) -> KernelCoverage {
    (coverage.objects, coverage.additional) = (objects.outcomes, objects.additional);
    coverage.summary = criteria::criterion_summaries(&coverage);
    coverage
}

fn subject(row: &KernelEvidence) -> CoverageSubject<'_> {
    let KernelEvidence { structure, layout, presence, configuration, .. } = row;
    CoverageSubject {
        structure,
        layout,
        presence,
        configuration,
        proposing: ProposalRules::for_schema(row.schema),
    }
}

/// Records of passed tests that contradict what the configuration fixes.
pub fn contradictions(row: &KernelEvidence) -> Vec<KernelFinding> {
    let tests = row.records.iter().filter(|test| test.counted);
    tests
        .flat_map(|test| {
            let found = coverage::contradictions(&subject(row), &[(test.test, &test.records)]);
            found.into_iter().map(|sentence| KernelFinding {
                kernel: row.kernel,
                engine: Some(row.engine),
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
pub fn unmeasured(
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
/// structure can be claimed, and none may look complete for being empty.
pub fn no_source(configuration: &Configuration, objects: ObjectCoverage) -> KernelCoverage {
    let empty =
        KernelCoverage { configuration: configuration.name.clone(), ..KernelCoverage::default() };
    let mut coverage = with_objects(empty, objects);
    coverage.branches.clone_from(&coverage.objects);
    coverage.summary = summary_without_source(&coverage);
    coverage
}

/// Counts by criterion; without source nothing of its structure may look complete.
pub fn summary_without_source(coverage: &KernelCoverage) -> Vec<CriterionSummary> {
    let row = |row: CriterionSummary| match criteria::criterion_named(&row.criterion)
        .map(Criterion::subject)
    {
        Some(CriterionSubject::Object) => row,
        Some(CriterionSubject::Source) | None => {
            CriterionSummary { total: 1, undetermined: 1, ..row }
        }
    };
    let branches = criteria::criterion_summaries(coverage).into_iter();
    branches
        .map(|found| if found.criterion == CriterionName::Branch { found } else { row(found) })
        .collect()
}

fn everything_present(structure: &KernelStructure) -> Presence {
    let roles = structure.markers.iter().enumerate();
    let markers = roles.map(|(number, role)| (number as u32, PresentMarker::runtime(*role)));
    Presence { markers: markers.collect() }
}
