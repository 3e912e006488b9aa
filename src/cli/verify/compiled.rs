//! Verification with the compiler that is built in, for tests.

use crate::campaign::CampaignError;
use crate::campaign::verification::{Compiling, Rebuilt};
use crate::model::evidence::Evidence;
use crate::verify::{self, Options, Outcome, Verification};
use std::path::Path;

pub(super) fn rebuild(stored: &Evidence, sources: Option<&Path>) -> Outcome<Rebuilt> {
    verify::rebuild::rebuild(stored, sources, &Compiling)
}

pub(super) fn contents(
    stored: &Evidence,
    rebuilt: &Outcome<Rebuilt>,
    options: &Options,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    verify::contents(stored, rebuilt, options, &Compiling, found)
}

pub(super) fn verify_folder(
    path: &Path,
    options: &Options,
) -> Result<(Verification, Option<Box<Evidence>>), CampaignError> {
    verify::folder(path, options, &Compiling)
}
