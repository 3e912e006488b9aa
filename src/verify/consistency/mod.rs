//! What evidence says twice: facts that must go with each other, whoever made them.
//!
//! Knows: stored evidence alone. Promises: holds for evidence of every format that is read. What
//! follows from stored inputs is derived as a whole ([`super::Toolchain::derive`]);
//! [`of_definitions`] and [`of_records`] stand in for it where that cannot be done.

mod coverage;
mod identity;
mod requirements;
mod test_results;

use self::coverage::{derived, records};
use self::identity::{identity, inputs, kernel_files, settings};
use self::requirements::{requirements, tests};
use self::test_results::{coupling, findings, refused, schedules, verdicts};
use crate::Verification;
use vkcert_derivation::agreement;
use vkcert_model::evidence::Evidence;

/// Whatever else can be derived.
pub fn always(stored: &Evidence, found: &mut Verification) {
    inputs(stored, found);
    identity(stored, found);
    kernel_files(stored, found);
    coupling(stored, found);
    schedules(stored, found);
    refused(stored, found);
    findings(stored, found);
    compared(stored, found);
}

/// What definitions that are stored in the evidence itself come to.
pub fn of_definitions(stored: &Evidence, found: &mut Verification) {
    tests(stored, found);
    requirements(stored, found);
    settings(stored, found);
}

/// What the stored records come to.
pub fn of_records(stored: &Evidence, found: &mut Verification) {
    verdicts(stored, found);
    records(stored, found);
    derived(stored, found);
}

/// The comparison of the engines.
fn compared(stored: &Evidence, found: &mut Verification) {
    let derivation = agreement::derive(stored);
    found.checked += derivation.checked;
    found.problems.extend(derivation.problems);
    found.not_derivable.extend(derivation.not_derivable);
    found.of_modules.extend(derivation.of_modules);
}
