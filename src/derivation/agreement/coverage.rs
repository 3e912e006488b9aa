//! Whether the stored records of two engines differ as a row says.
//!
//! Knows: the records of both engines by configuration, the findings and the row.
//! Promises: every vector and mark that one engine alone has is a finding or is left open.
//! Does not cover: why the engines differ; the module or further runs tell that.

use super::Derivation;
use super::difference::differing;
use super::outputs::tells_of_undefined;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, Evidence, FIRST_SCHEMA, KernelEvidence, KernelFinding};
use vkcert_model::finding::Finding;
use vkcert_model::records::Records;
use vkcert_model::verdict::EngineName;

/// Whether the stored records of the engines are the same.
pub(super) fn coverage(
    stored: &Evidence,
    row: &Agreement,
    label: &str,
    derivation: &mut Derivation,
) {
    let of = |engine| {
        stored.kernels.iter().filter(move |one| one.engine == engine && one.kernel == row.kernel)
    };
    let of_test = |kernel: &KernelEvidence| {
        kernel.records.iter().find(|one| one.test == row.test).map(|one| one.records.clone())
    };
    let mut compared = None;
    for ours in of(EngineName::Sequential) {
        let theirs = of(EngineName::Vulkan)
            .find(|other| other.configuration.name == ours.configuration.name);
        let (Some(left), Some(right)) = (of_test(ours), theirs.and_then(of_test)) else { continue };
        let same = |bit| Records::has(&left, bit) == right.has(bit);
        // No bit lies outside of the words.
        let words = left.words.len().max(right.words.len()) as u32;
        let same = (0..ours.layout.bits.min(words.saturating_mul(32))).all(same);
        compared = Some(compared.unwrap_or(true) && same);
        // Evidence of the first format has other words.
        if stored.campaign.schema != FIRST_SCHEMA {
            tell_of_each(stored, row, ours, [&left, &right], label, derivation);
        }
    }
    if let Some(same) = compared {
        let expected = if same { AgreementOutcome::Identical } else { AgreementOutcome::Different };
        // A test may run the kernel under a specialization that is no configuration; its records
        // are not stored.
        let beyond = same
            && matches!(
                row.coverage,
                AgreementOutcome::Different
                    | AgreementOutcome::ScheduleDependent
                    | AgreementOutcome::UndefinedValue
            );
        let excused = match row.coverage {
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
        derivation.check(row.coverage == expected || beyond || excused, || {
            format!("{label}: stored coverage {}, derived {expected}", row.coverage)
        });
    }
    if row.coverage == AgreementOutcome::UndefinedValue {
        let mut tests = stored.campaign.tests.iter().filter(|test| test.id == row.test);
        derivation.check(tests.any(tells_of_undefined), || {
            format!(
                "{label}: vectors that follow undefined values without a finding that tells of one"
            )
        });
    }
}

/// Each vector and mark that one engine alone has is a finding or is left open.
fn tell_of_each(
    stored: &Evidence,
    row: &Agreement,
    kernel: &KernelEvidence,
    [ours, theirs]: [&Records; 2],
    label: &str,
    derivation: &mut Derivation,
) {
    let findings = findings_of(stored, row);
    for difference in differing(&kernel.layout, [ours, theirs]) {
        let words = difference.words(&kernel.structure, kernel.kernel.as_str());
        let found = findings.iter().any(|finding| difference.is_told_by(finding));
        let open = row.left_open.iter().any(|line| line.starts_with(&words));
        derivation.check(found || open, || {
            format!("{label}: {words}: no finding tells of it, and it is not left open")
        });
        let different = row.coverage == AgreementOutcome::Different;
        derivation.check(!found || different, || {
            format!("{label}: {words}: a finding, and coverage {}", row.coverage)
        });
    }
}

/// The findings of a row's test and kernel.
pub fn findings_of<'e>(stored: &'e Evidence, row: &Agreement) -> Vec<&'e Finding> {
    let is_of =
        |one: &&KernelFinding| one.test.as_ref() == Some(&row.test) && one.kernel == row.kernel;
    stored.campaign.findings.iter().filter(is_of).map(|one| &one.finding).collect()
}
