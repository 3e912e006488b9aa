//! How commands that are advised name the project and the evidence of the present command.

use std::path::Path;
use vkcert_report::{Places, ProjectPlace};
use vkcert_requirement::PROJECT_FILE;

/// Where `certify` writes evidence, from the folder of the project.
pub const DEFAULT_EVIDENCE_PATH: &str = "reports/evidence";

/// Of evidence alone: its project is known where `certify` has written it into the project's own
/// folder.
pub fn places_of_evidence(evidence: &Path) -> Places {
    let unknown_place =
        Places { project: ProjectPlace::Unknown, evidence: Some(evidence.display().to_string()) };
    let mut ancestors_of_evidence = evidence.ancestors();
    if !evidence.ends_with(DEFAULT_EVIDENCE_PATH) {
        return unknown_place;
    }
    match ancestors_of_evidence.nth(2) {
        Some(folder) if folder.join(PROJECT_FILE).is_file() => {
            Places { project: place_of_project(folder), evidence: None }
        }
        Some(_) | None => unknown_place,
    }
}

/// Of a folder that a command was given for a project.
pub fn place_of_project(dir: &Path) -> ProjectPlace {
    match dir.as_os_str().is_empty() || dir == Path::new(".") {
        true => ProjectPlace::Here,
        false => ProjectPlace::At(dir.display().to_string()),
    }
}
