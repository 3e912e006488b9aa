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

#[cfg(test)]
mod tests {
    use super::{place_of_project, places_of_evidence};
    use std::path::Path;
    use vkcert_report::ProjectPlace;

    fn shown(place: &ProjectPlace) -> Option<&str> {
        match place {
            ProjectPlace::Here => Some("."),
            ProjectPlace::At(folder) => Some(folder),
            ProjectPlace::Unknown => None,
        }
    }

    #[test]
    fn the_project_is_known_where_certify_has_written_into_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("reports/evidence");
        // No project file is there yet.
        let places = places_of_evidence(&own);
        assert_eq!(shown(&places.project), None);
        assert_eq!(places.evidence, Some(own.display().to_string()));
        std::fs::write(folder.path().join("vkcert.toml"), "").unwrap();
        let places = places_of_evidence(&own);
        assert_eq!(shown(&places.project), Some(&*folder.path().display().to_string()));
        assert_eq!(places.evidence, None);
        let elsewhere = folder.path().join("out/evidence");
        let places = places_of_evidence(&elsewhere);
        assert_eq!(shown(&places.project), None);
        assert_eq!(places.evidence, Some(elsewhere.display().to_string()));
    }

    #[test]
    fn the_present_folder_needs_no_name() {
        for (folder, place) in [("", "."), (".", "."), ("a", "a"), ("./a", "./a"), ("..", "..")] {
            assert_eq!(shown(&place_of_project(Path::new(folder))), Some(place), "{folder}");
        }
    }
}
