//! Verification with the compiler that is built in, for tests.

use crate::campaign::CampaignError;
use crate::campaign::verification::{Compiling, RebuiltProject};
use crate::model::evidence::Evidence;
use crate::verify::{self, RebuildOutcome, Verification, VerificationOptions};
use std::path::Path;

pub(super) fn rebuild_project(
    stored: &Evidence,
    sources: Option<&Path>,
) -> RebuildOutcome<RebuiltProject> {
    verify::rebuild::rebuild_project(stored, sources, &Compiling::default())
}

pub(super) fn verify_contents(
    stored: &Evidence,
    rebuilt: &RebuildOutcome<RebuiltProject>,
    options: &VerificationOptions,
    found: &mut Verification,
) -> Result<(), CampaignError> {
    verify::verify_contents(stored, rebuilt, options, &Compiling::default(), found)
}

pub(super) fn verify_folder(
    path: &Path,
    options: &VerificationOptions,
) -> Result<(Verification, Option<Box<Evidence>>), CampaignError> {
    verify::verify_folder(path, options, &Compiling::default())
}
