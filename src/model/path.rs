//! Paths as texts say them.
//!
//! Promises: the disk is not asked. Does not cover: links, and which of two names a file system
//! takes for one.

use std::path::{Component, Path, PathBuf};

/// Removes `.` and resolves `..` without looking at the disk.
pub fn lexically_clean(path: &Path) -> PathBuf {
    let mut clean_path = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if clean_path.file_name().is_some() => {
                clean_path.pop();
            }
            Component::ParentDir
            | Component::Prefix(_)
            | Component::RootDir
            | Component::Normal(_) => {
                clean_path.push(component);
            }
        }
    }
    clean_path
}

/// The folder that holds what a path names; the current one where the path names none.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// A path as the user would name it: without `./` for the current folder.
pub fn display_path(path: &Path) -> String {
    let shown_path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if shown_path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        shown_path.display().to_string()
    }
}

/// A project-relative path with `/` between its parts, so that `./glsl/k.comp` and `glsl/k.comp`
/// are one name. `..` stays, since what it leads to behind a link is not known; so does a path that
/// is absolute or empty.
pub fn canonical_name(path: &str) -> String {
    let name_components = Path::new(path).components().filter(|part| *part != Component::CurDir);
    let name_parts: Option<Vec<&str>> =
        name_components.map(|part| part.as_os_str().to_str()).collect();
    match name_parts {
        Some(name_parts) if Path::new(path).is_relative() && !name_parts.is_empty() => {
            name_parts.join("/")
        }
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{canonical_name, folder_of};
    use std::path::Path;

    #[test]
    fn what_a_path_names_is_in_a_folder() {
        for (path, folder) in
            [("a/b.c", "a"), ("/b", "/"), ("b", "."), ("./b", "."), ("/", "."), ("", ".")]
        {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
    }

    #[test]
    fn a_file_has_one_name() {
        for path in ["glsl/k.comp", "./glsl/k.comp", "glsl/./k.comp", "glsl//k.comp"] {
            assert_eq!(canonical_name(path), "glsl/k.comp");
        }
        for path in ["../k.comp", "glsl/old/../k.comp", "/glsl/k.comp", "", "."] {
            assert_eq!(canonical_name(path), path);
        }
    }
}
