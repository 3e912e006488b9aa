//! Folders that a compiler passes on its way to an included file: `sub` of `sub/../a.glsl`.
//!
//! Knows: the texts of a project and the folders that its kernels include from. Promises: such folders
//! are there when the project is made again, although they hold no input, because a path leads
//! nowhere through a folder that is missing; nothing is made outside of the project's folder.
//! Does not cover: names of included files that macros give.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use vkcert_model::evidence::StoredFile;
use vkcert_requirement::Project;

/// Makes the folders in `root`. What kernels include that were set aside is left as it is: these may
/// not compile because a folder is missing.
pub(super) fn make_passed_folders(
    root: &Path,
    project: &Project,
    files: &BTreeMap<String, StoredFile>,
) {
    let kernels = &project.settings.value.kernels;
    let include_folders: BTreeSet<&str> =
        kernels.iter().flat_map(|kernel| &kernel.include).map(String::as_str).collect();
    let set_aside: BTreeSet<&str> =
        project.set_aside.iter().map(|row| row.settings.source.as_str()).collect();
    for (path, file) in files {
        let StoredFile::Text(text) = file else { continue };
        if set_aside.contains(path.as_str()) {
            continue;
        }
        let own_folder = Path::new(path).parent().unwrap_or(Path::new(""));
        for name in names_with_steps_up(text) {
            make_folders_passed(root, &own_folder.join(name));
            for folder in &include_folders {
                make_folders_passed(root, &Path::new(folder).join(name));
            }
        }
    }
}

/// Names in the include directives of a text that lead through `..`, as they stand there.
fn names_with_steps_up(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| line.contains("include") && line.contains(".."));
    lines.filter_map(|line| {
        let start = line.find(['"', '<'])?;
        let name = &line[start + 1..];
        name.find(['"', '>']).map(|end| &name[..end])
    })
}

/// Makes each folder that a path leaves by `..`, up to where it would leave the root.
fn make_folders_passed(root: &Path, path: &Path) {
    let mut passed = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => passed.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                // What cannot be made could not be passed.
                let _ = std::fs::create_dir_all(root.join(&passed));
                if !passed.pop() {
                    return;
                }
            }
            Component::RootDir | Component::Prefix(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders_made(path: &str) -> Vec<String> {
        let root = tempfile::tempdir().expect("a temporary folder");
        let project = root.path().join("around/project");
        std::fs::create_dir_all(&project).expect("a folder");
        make_folders_passed(&project, Path::new(path));
        let mut made: Vec<String> = walk(root.path(), root.path());
        made.retain(|folder| folder != "around" && folder != "around/project");
        made.sort();
        made
    }

    fn walk(root: &Path, folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        entries
            .flat_map(|entry| {
                let path = entry.path();
                let own = path.strip_prefix(root).expect("below").display().to_string();
                [vec![own], walk(root, &path)].concat()
            })
            .collect()
    }

    #[test]
    fn folders_are_made_that_a_path_leaves_again() {
        assert_eq!(
            folders_made("glsl/sub/../a.glsl"),
            ["around/project/glsl", "around/project/glsl/sub"]
        );
        assert_eq!(folders_made("glsl/a.glsl"), [""; 0]);
        assert_eq!(folders_made("a/../../other/../b.glsl"), ["around/project/a"]);
        assert_eq!(folders_made("/a/../b.glsl"), [""; 0]);
    }

    #[test]
    fn names_are_those_of_directives_that_step_up() {
        let text = "#include \"a.glsl\"\n# include <x/../b.glsl>\n#include \"../c.glsl\" // d\n";
        assert!(names_with_steps_up(text).eq(["x/../b.glsl", "../c.glsl"]));
    }
}
