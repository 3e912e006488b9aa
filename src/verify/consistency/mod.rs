//! What evidence says twice: statements that must agree with each other, whoever made the evidence.
//!
//! Knows: stored evidence alone. Promises: holds for evidence of every format that is read. What
//! follows from stored inputs is derived as a whole ([`super::Toolchain::derive`]);
//! [`check_definitions`] and [`check_records`] stand in for it where that cannot be done.

mod coverage;
mod identity;
mod mutation;
mod requirements;
mod test_results;

use self::coverage::{check_derived, check_record_counting};
use self::identity::{check_identity, check_inputs, check_kernel_files, check_settings};
use self::mutation::check_mutation;
use self::requirements::{check_requirements, check_tests};
use self::test_results::{
    check_coupling, check_findings, check_refused, check_schedules, check_verdicts,
};
use crate::Verification;
use vkcert_derivation::agreement;
use vkcert_model::evidence::Evidence;

/// The checks that are made whether or not the project could be rebuilt.
pub fn check_always(stored: &Evidence, verification: &mut Verification) {
    check_inputs(stored, verification);
    check_identity(stored, verification);
    check_kernel_files(stored, verification);
    check_coupling(stored, verification);
    check_schedules(stored, verification);
    check_refused(stored, verification);
    check_findings(stored, verification);
    check_agreement(stored, verification);
    check_set_aside(stored, verification);
    check_mutation(stored, verification);
}

/// What follows from the definitions that are stored in the evidence itself.
pub fn check_definitions(stored: &Evidence, verification: &mut Verification) {
    check_tests(stored, verification);
    check_requirements(stored, verification);
    check_settings(stored, verification);
}

/// What follows from the stored records.
pub fn check_records(stored: &Evidence, verification: &mut Verification) {
    check_verdicts(stored, verification);
    check_record_counting(stored, verification);
    check_derived(stored, verification);
}

/// Kernels that were set aside: what the compiler says against them only a compiler can tell again.
fn check_set_aside(stored: &Evidence, verification: &mut Verification) {
    for row in &stored.campaign.set_aside {
        verification.check(!row.diagnostics.is_empty(), || {
            format!("kernel {} is set aside without a diagnostic", row.kernel)
        });
        verification
            .not_derived_from_modules
            .push(format!("kernel {}, which was set aside: that it does not compile", row.kernel));
    }
}

/// The comparison of the engines.
fn check_agreement(stored: &Evidence, verification: &mut Verification) {
    let derivation = agreement::derive_agreement(stored);
    verification.checked += derivation.checked;
    verification.problems.extend(derivation.problems);
    verification.not_derivable.extend(derivation.not_derivable);
    verification.not_derived_from_modules.extend(derivation.of_modules);
}

#[cfg(test)]
mod tests {
    use super::check_agreement;
    use crate::Verification;
    use crate::honest::{Forgery, assert_told, honest};
    use vkcert_derivation::agreement::derive_agreement;
    use vkcert_model::agreement::AgreementOutcome;

    #[test]
    fn engines_agree_as_their_outputs_and_records_do() {
        assert_told(
            &honest(),
            &[
                Forgery::new(
                    "a comparison left out",
                    |forged| forged.campaign.agreement.truncate(1),
                    "agreement of guard on T2: 0 rows where both engines ended",
                ),
                Forgery::new(
                    "a comparison of no test",
                    |forged| forged.campaign.agreement[0].test = "T9".into(),
                    "agreement of guard on T9: there is no such test",
                ),
                Forgery::new(
                    "a difference without a finding",
                    |forged| forged.campaign.agreement[0].coverage = AgreementOutcome::Different,
                    "agreement of guard on T1: a difference without a finding",
                ),
            ],
        );
    }

    #[test]
    fn what_agreement_checks_is_counted_and_what_it_cannot_derive_is_named() {
        let mut evidence = honest();
        let outcomes = [AgreementOutcome::UndefinedValue, AgreementOutcome::ScheduleDependent];
        for (test, outcome) in outcomes.into_iter().enumerate() {
            evidence.campaign.agreement[test].coverage = outcome;
            evidence.kernels[1].records[test].records.words[0] ^= 2;
        }
        let derivation = derive_agreement(&evidence);
        assert!(derivation.checked > 0);
        assert_eq!((derivation.not_derivable.len(), derivation.of_modules.len()), (1, 1));
        let mut verification = Verification { checked: 5, ..Verification::default() };
        check_agreement(&evidence, &mut verification);
        assert_eq!(verification.checked, 5 + derivation.checked);
        assert_eq!(verification.not_derivable, derivation.not_derivable);
        assert_eq!(verification.not_derived_from_modules, derivation.of_modules);
    }
}
