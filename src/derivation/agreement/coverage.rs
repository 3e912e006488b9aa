//! Whether the stored records of two engines differ as a row says.
//!
//! Knows: the records of both engines by configuration, the findings and the row.
//! Promises: every vector and mark that one engine alone has is a finding or is left open.
//! Does not cover: why the engines differ; the module or further runs tell that.

use super::difference::record_differences;
use super::outputs::tells_of_undefined;
use super::{Derivation, StoredRows};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, FIRST_SCHEMA, KernelEvidence, KernelFinding, RowsByTest};
use vkcert_model::finding::Finding;
use vkcert_model::records::Records;
use vkcert_model::verdict::EngineName;

/// Whether the stored records of the engines are the same.
pub(super) fn check_coverage(
    stored_rows: &StoredRows,
    agreement_row: &Agreement,
    label: &str,
    derivation: &mut Derivation,
) {
    let kernels_on = |engine| {
        stored_rows.kernels.iter().filter(move |stored_kernel| {
            let kernel = stored_kernel.kernel;
            kernel.engine == engine && kernel.kernel == agreement_row.kernel
        })
    };
    let test = agreement_row.test;
    let mut all_same = None;
    for sequential_kernel in kernels_on(EngineName::Sequential) {
        let device_kernel = kernels_on(EngineName::Vulkan).find(|other_kernel| {
            other_kernel.kernel.configuration.name == sequential_kernel.kernel.configuration.name
        });
        let (Some(sequential_records), Some(device_records)) = (
            sequential_kernel.records_of(test),
            device_kernel.and_then(|kernel| kernel.records_of(test)),
        ) else {
            continue;
        };
        let same = |bit| sequential_records.has(bit) == device_records.has(bit);
        // No bit lies outside of the words.
        let word_count = sequential_records.words.len().max(device_records.words.len()) as u32;
        let same =
            (0..sequential_kernel.kernel.layout.bits.min(word_count.saturating_mul(32))).all(same);
        all_same = Some(all_same.unwrap_or(true) && same);
        // Evidence of the first format has other words.
        if stored_rows.evidence.campaign.schema != FIRST_SCHEMA {
            check_differences(
                stored_rows,
                agreement_row,
                sequential_kernel.kernel,
                [sequential_records, device_records],
                label,
                derivation,
            );
        }
    }
    if let Some(same) = all_same {
        let expected_outcome =
            if same { AgreementOutcome::Identical } else { AgreementOutcome::Different };
        // A test may run the kernel under a specialization that is no configuration; its records
        // are not stored.
        let differs_beyond_records = same
            && matches!(
                agreement_row.coverage,
                AgreementOutcome::Different
                    | AgreementOutcome::ScheduleDependent
                    | AgreementOutcome::UndefinedValue
            );
        let is_excused = match agreement_row.coverage {
            AgreementOutcome::ScheduleDependent if !same => {
                let reason =
                    format!("{label}: which vectors depend on the schedule comes from the module");
                derivation.of_modules.push(reason);
                true
            }
            AgreementOutcome::UndefinedValue if !same => {
                derivation.not_derivable.push(format!(
                    "{label}: which vectors follow undefined values comes from runs of both engines, by invocation"
                ));
                true
            }
            AgreementOutcome::Identical
            | AgreementOutcome::WithinTolerance
            | AgreementOutcome::LeftOpen
            | AgreementOutcome::WithinErrorBounds
            | AgreementOutcome::ScheduleDependent
            | AgreementOutcome::UndefinedValue
            | AgreementOutcome::Different
            | AgreementOutcome::NotCompared => false,
        };
        derivation.check(
            agreement_row.coverage == expected_outcome || differs_beyond_records || is_excused,
            || {
                format!(
                    "{label}: stored coverage {}, derived {expected_outcome}",
                    agreement_row.coverage
                )
            },
        );
    }
    if agreement_row.coverage == AgreementOutcome::UndefinedValue {
        let mut tests_of_row = stored_rows.tests.of(test).iter();
        derivation.check(tests_of_row.any(|test| tells_of_undefined(test)), || {
            format!(
                "{label}: vectors that follow undefined values without a finding that tells of one"
            )
        });
    }
}

/// Each vector and mark that one engine alone has is a finding or is left open.
fn check_differences(
    stored_rows: &StoredRows,
    agreement_row: &Agreement,
    kernel: &KernelEvidence,
    [sequential_records, device_records]: [&Records; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let findings = findings_of_row(&stored_rows.findings, agreement_row);
    for difference in record_differences(&kernel.layout, [sequential_records, device_records]) {
        let difference_words = difference.words(&kernel.structure, kernel.kernel.as_str());
        let is_in_finding = findings.iter().any(|finding| difference.is_told_by(finding));
        let is_left_open =
            agreement_row.left_open.iter().any(|line| line.starts_with(&difference_words));
        derivation.check(is_in_finding || is_left_open, || {
            format!("{label}: {difference_words}: no finding tells of it, and it is not left open")
        });
        let says_different = agreement_row.coverage == AgreementOutcome::Different;
        derivation.check(!is_in_finding || says_different, || {
            format!(
                "{label}: {difference_words}: a finding, and coverage {}",
                agreement_row.coverage
            )
        });
    }
}

/// The findings of a row's test and kernel.
pub fn findings_of_row<'e>(
    findings: &RowsByTest<'e, KernelFinding>,
    agreement_row: &Agreement,
) -> Vec<&'e Finding> {
    findings
        .of(agreement_row.test)
        .iter()
        .filter(|finding_row| finding_row.kernel == agreement_row.kernel)
        .map(|finding_row| &finding_row.finding)
        .collect()
}
