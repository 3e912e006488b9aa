//! What the files are called that a compiler reads.
//!
//! Promises: files of the project by their paths in it, others as `#include <...>` names them: no
//! place of this machine is told.

use super::syntax_tree::TranslationUnit;
use std::collections::BTreeSet;
use std::path::Path;
use vkcert_model::path::lexically_clean;

/// The name of a text that uses the header and is in no file.
pub(super) const USER_FILE: &str = "vkcert-user.cpp";

/// Files of the project that were read, and those outside that its files include.
pub(super) fn files_of(unit: &TranslationUnit) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut project_files, mut outside_files) = (BTreeSet::new(), BTreeSet::new());
    for file in unit.files() {
        match project_path(&file.name) {
            Some(path) if path == USER_FILE => {}
            Some(path) => {
                project_files.insert(path);
            }
            None if file.included_in.as_deref().is_some_and(|by| project_path(by).is_some()) => {
                outside_files.insert(outside_name(&file.name));
            }
            None => {}
        }
    }
    (project_files, outside_files)
}

/// The path in the project, which is the folder that the process runs in.
fn project_path(name: &str) -> Option<String> {
    let folder = std::env::current_dir().ok()?;
    let path = lexically_clean(&folder.join(name));
    let inside = path.strip_prefix(lexically_clean(&folder)).ok()?;
    let parts = inside.iter().map(|part| part.to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

/// A file outside of the project as `#include <...>` names it: no place of this machine.
fn outside_name(name: &str) -> String {
    let behind_include = name.rsplit_once("/include/").map(|(_, rest)| rest);
    let file_name = || Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or(name);
    behind_include.unwrap_or_else(file_name).to_owned()
}

pub(super) fn shown_name(name: &str) -> String {
    project_path(name).unwrap_or_else(|| outside_name(name))
}
