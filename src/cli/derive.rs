//! What is derived from stored facts, by `certify` when evidence is made and by `verify` when it is checked.

use super::kernel::{Kernel, Measurement};
use crate::coverage::{self, Approval, criteria, justification};
use crate::model::coverage::{CriterionSummary, KernelCoverage};
use crate::model::evidence::{Campaign, KernelEvidence};
use crate::model::id::{ObligationId, TestId};
use crate::model::records::{Presence, PresentMarker, RecordLayout, Records};
use crate::model::structure::KernelStructure;
use std::collections::BTreeMap;

/// Coverage of one kernel on one engine from its stored structure and counted records, before justifications.
pub fn coverage(row: &KernelEvidence) -> KernelCoverage {
    let counted = row.records.iter().filter(|test| test.counted);
    let tests: Vec<(TestId, &Records)> = counted.map(|test| (test.test.clone(), &test.records)).collect();
    if row.structure.functions.is_empty() {
        return no_source();
    }
    if row.presence.markers.is_empty() {
        // The derived modules could not be used: everything of the source is an obligation, nothing is recorded.
        return coverage::assess(&row.structure, &row.layout, &everything_present(&row.structure), &[]);
    }
    coverage::assess(&row.structure, &row.layout, &row.presence, &tests)
}

/// SPIR-V without source: no criterion of source structure can be claimed, and none may look complete for being empty.
fn no_source() -> KernelCoverage {
    let mut coverage = KernelCoverage::default();
    let undetermined = |row: CriterionSummary| CriterionSummary { total: 1, undetermined: 1, ..row };
    coverage.summary = criteria::summary(&coverage).into_iter().map(undetermined).collect();
    coverage
}

fn everything_present(structure: &KernelStructure) -> Presence {
    let roles = structure.markers.iter().enumerate();
    let markers =
        roles.map(|(number, role)| (number as u32, PresentMarker::runtime(*role)));
    Presence { markers: markers.collect() }
}

/// Applies the campaign's justifications to every kernel and notes which are rejected. A justification counts where the
/// obligation is open; it is superfluous only if no engine needs it.
pub fn justify(evidence: &mut [KernelEvidence], campaign: &mut Campaign) {
    let justifications: Vec<_> = campaign.justifications.iter().map(|row| row.justification.clone()).collect();
    let approval = Approval::for_level(&campaign.project.level);
    let mut rejections: Vec<Vec<Option<String>>> = vec![Vec::new(); justifications.len()];
    for row in evidence.iter_mut() {
        let justified = coverage::apply_justifications(&row.kernel, &row.coverage, &justifications, approval);
        if !row.structure.functions.is_empty() {
            row.coverage = justified.coverage;
        }
        for (index, rejection) in justified.rejected.into_iter().enumerate() {
            if justifications[index].kernel == row.kernel {
                rejections[index].push(rejection);
            }
        }
    }
    for (row, found) in campaign.justifications.iter_mut().zip(rejections) {
        row.rejected = match found.iter().find(|rejection| rejection.is_none()) {
            Some(_) => None,
            None => {
                let first = found.into_iter().next().flatten();
                first.or_else(|| Some(format!("the project has no kernel {}", row.justification.kernel)))
            }
        };
    }
}

/// Every obligation of a kernel, with the text behind it.
pub fn obligations(kernel: &Kernel) -> BTreeMap<ObligationId, String> {
    justification::contents(&test_coverage(kernel, &TestId(String::new()), None))
}

/// Coverage of one kernel by one test on one engine, for `vkcert run`.
pub fn test_coverage(kernel: &Kernel, test: &TestId, records: Option<&Records>) -> KernelCoverage {
    let tests: Vec<(TestId, &Records)> = records.into_iter().map(|records| (test.clone(), records)).collect();
    match &kernel.measurement {
        Measurement::Markers(measured) => {
            coverage::assess(&measured.structure, &measured.markers.layout, &measured.presence, &tests)
        }
        Measurement::NoSource => no_source(),
        Measurement::Failed { structure, .. } => {
            let layout = RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
            coverage::assess(structure, &layout, &everything_present(structure), &[])
        }
    }
}
