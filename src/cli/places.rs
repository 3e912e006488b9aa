//! How commands that are advised name the project and the evidence of the present command.

use super::args::List;
use crate::report::{Places, ProjectPlace};
use crate::requirement::PROJECT_FILE;
use std::path::Path;
pub(super) use vkcert_verifier::places::{DEFAULT_EVIDENCE_PATH, place_of_project};

/// Of a run on the project in `dir` that wrote into `out`.
pub(super) fn places_of_run(project_folder: &Path, output_folder: Option<&Path>) -> Places {
    let evidence = output_folder
        .map(|output_folder| output_folder.join("evidence"))
        .filter(|evidence| *evidence != project_folder.join(DEFAULT_EVIDENCE_PATH));
    Places {
        project: place_of_project(project_folder),
        evidence: evidence.map(|evidence| evidence.display().to_string()),
    }
}

/// Of a listing.
pub(super) fn places_of_list(list: &List) -> Places {
    let is_project = list.dir.join(PROJECT_FILE).is_file();
    Places {
        project: if is_project { place_of_project(&list.dir) } else { ProjectPlace::Unknown },
        evidence: list.evidence.as_ref().map(|evidence| evidence.display().to_string()),
    }
}
