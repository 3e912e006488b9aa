//! The file that a pipeline takes its shader from.
//!
//! Knows: `ShaderFileNames`. Promises: a file is looked for beside the description, then from the
//! project's root on, and never outside of the project, wherever links lead. Does not cover: what is
//! in it.

use super::form::{ComputeStateForm, ShaderFile};
use super::{PipelineReader, Reading};
use crate::document::read_bytes;
use std::path::{Component, Path};
use vkcert_model::requirement::{PipelineShader, ShaderContents};

impl PipelineReader<'_> {
    pub(super) fn shader(&self, state: &ComputeStateForm) -> Reading<PipelineShader> {
        let Some(listed) = &state.shader_files else { return Ok(PipelineShader::Unlisted) };
        let is_compute = |file: &&ShaderFile| file.stage == "VK_SHADER_STAGE_COMPUTE_BIT";
        let mut of_stage = listed.files().iter().filter(is_compute);
        let Some(named) = of_stage.next() else {
            let is_empty = listed.files().is_empty();
            return Ok(match is_empty {
                true => PipelineShader::EmptyList,
                false => PipelineShader::OtherStages,
            });
        };
        if of_stage.next().is_some() {
            let message = "a pipeline has one shader of the compute stage";
            let place = self.origin.at("ShaderFileNames");
            return Err(Box::new(place.error("bad-value", message)));
        }
        let contents = self.shader_contents(&named.filename)?;
        Ok(PipelineShader::Named(named.filename.clone(), contents))
    }

    fn shader_contents(&self, name: &str) -> Reading<ShaderContents> {
        let folder = Path::new(self.file).parent().unwrap_or(Path::new(""));
        let paths = [project_path(&folder.join(name)), project_path(Path::new(name))];
        if !name.is_empty() && paths.iter().all(Option::is_none) {
            return Ok(ShaderContents::Outside);
        }
        for path in paths.into_iter().flatten() {
            let file = self.root.join(&path);
            if file.is_file() && !is_below(self.root, &file) {
                return Ok(ShaderContents::Outside);
            }
            if file.is_file() {
                let bytes = read_bytes(&file, &path).map_err(Box::new)?;
                return Ok(ShaderContents::Read(path, bytes));
            }
        }
        Ok(ShaderContents::Absent)
    }
}

/// Whether a file is in a folder when links are followed.
fn is_below(folder: &Path, file: &Path) -> bool {
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) => file.starts_with(folder),
        (_, _) => false,
    }
}

/// A path without `.` and `..`; none of one that leads out of the project.
fn project_path(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => {
                parts.push(part.to_str().filter(|part| !part.contains('\0'))?)
            }
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project_folder::ProjectFolder;

    #[test]
    fn a_link_leads_out_of_the_project_or_stays_in_it() {
        let folder = ProjectFolder::with_files(&[("k.spv", ""), ("project/own.spv", "")]);
        let (project, outside) = (folder.path.join("project"), folder.path.join("k.spv"));
        let link = |target: &Path, name: &str| {
            std::os::unix::fs::symlink(target, project.join(name)).unwrap();
            is_below(&project, &project.join(name))
        };
        assert!(!link(&outside, "outside.spv"));
        assert!(link(&project.join("own.spv"), "inside.spv"));
        assert!(
            !link(&folder.path, "folder") && !is_below(&project, &project.join("folder/k.spv"))
        );
    }

    #[test]
    fn a_path_stays_in_the_project_or_is_none() {
        let path = |text: &str| project_path(Path::new(text));
        assert_eq!(path("pipelines/../spirv/./k.spv").as_deref(), Some("spirv/k.spv"));
        assert_eq!(path("pipelines/../../k.spv"), None);
        assert_eq!(path("/k.spv"), None);
        assert_eq!(path("spirv/k\0.spv"), None);
    }
}
