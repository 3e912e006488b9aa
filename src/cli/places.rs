//! How the commands that this program advises name the project and the evidence of the command that
//! was given.

use super::args::List;
use crate::report::{Places, ProjectPlace};
use crate::requirement::PROJECT_FILE;
use std::path::Path;
pub(super) use vkcert_verifier::places::{EVIDENCE, of_project};

/// Of a run on the project in `dir` that wrote into `out`.
pub(super) fn of_run(dir: &Path, out: Option<&Path>) -> Places {
    let evidence =
        out.map(|out| out.join("evidence")).filter(|evidence| *evidence != dir.join(EVIDENCE));
    Places {
        project: of_project(dir),
        evidence: evidence.map(|evidence| evidence.display().to_string()),
    }
}

/// Of a listing.
pub(super) fn of_list(list: &List) -> Places {
    let is_project = list.dir.join(PROJECT_FILE).is_file();
    Places {
        project: if is_project { of_project(&list.dir) } else { ProjectPlace::Unknown },
        evidence: list.evidence.as_ref().map(|evidence| evidence.display().to_string()),
    }
}
