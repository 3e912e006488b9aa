//! The files of a project that a run reads again before it seals its evidence: what was compiled
//! counts, and a file that has changed meanwhile is an error.

use crate::many_kernels::{kernel_name, write_project};
use crate::support::replace_in;
use std::path::Path;
use vkcert::campaign::CampaignError;
use vkcert::campaign::inputs::{ProjectInputs, gather_inputs};
use vkcert::campaign::project::{compile_kernels, load_project};
use vkcert::model::evidence::StoredFile;

/// Inputs of a project of one kernel that includes a file, after a change that is made once all is
/// compiled.
fn gathered_after(change: impl FnOnce(&Path)) -> Result<ProjectInputs, CampaignError> {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    write_project(project, 1);
    let kernel = project.join(format!("glsl/{}.comp", kernel_name(1)));
    let text = std::fs::read_to_string(&kernel).unwrap();
    let (version, rest) = text.split_once('\n').unwrap();
    let including = format!(
        "{version}\n#extension GL_GOOGLE_include_directive : require\n#include \"shared.glsl\"\n{rest}"
    );
    std::fs::write(&kernel, including).unwrap();
    std::fs::write(project.join("glsl/shared.glsl"), "const uint SHARED = 1u;\n").unwrap();
    let requirements = project.join(format!("requirements/{}.toml", kernel_name(1)));
    replace_in(&requirements, "implements = [", "implements = [{ file = \"glsl/shared.glsl\" }, ");
    let loaded = load_project(project).unwrap();
    let kernels = compile_kernels(&loaded).unwrap();
    change(project);
    gather_inputs(&loaded, &kernels)
}

fn append(path: &Path, text: &str) {
    let before = std::fs::read_to_string(path).unwrap();
    std::fs::write(path, before + text).unwrap();
}

#[test]
fn an_included_file_is_stored_as_it_was_compiled() {
    let change = |project: &Path| append(&project.join("glsl/shared.glsl"), "// later\n");
    let inputs = gathered_after(change).unwrap().stored_inputs();
    let stored = &inputs.files["glsl/shared.glsl"];
    assert_eq!(*stored, StoredFile::Text("const uint SHARED = 1u;\n".to_owned()));
}

#[test]
fn a_file_that_has_changed_since_it_was_read_is_an_error() {
    assert!(gathered_after(|_| {}).is_ok());
    let name = kernel_name(1);
    for file in
        [format!("glsl/{name}.comp"), format!("requirements/{name}.toml"), "vkcert.toml".to_owned()]
    {
        let Err(CampaignError::Input(found)) =
            gathered_after(|project| append(&project.join(&file), "\n"))
        else {
            panic!("{file} has changed");
        };
        let kinds: Vec<&str> = found.iter().map(|diagnostic| diagnostic.kind).collect();
        assert_eq!(kinds, ["changed-file"], "{file}");
    }
}
