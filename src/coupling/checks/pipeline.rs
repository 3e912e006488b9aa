//! Pipelines that a Vulkan SC host creates against the kernel that they are made of.
//!
//! Knows: the stated descriptions, the kernel's production module and its reflection.
//! Promises: for each pipeline a row on its entry point with its identifier and one on its shader;
//! that it is made of the kernel is said only where the bytes of its shader are those of the
//! production module. Layouts and constants are in `pipeline_layout` and `pipeline_constants`.
//! Does not cover: what an offline compiler makes of the description.

use super::HostChecks;
use crate::StatedPipeline;
use crate::rows::CheckRows;
use vkcert_model::canonical::hexadecimal_digits;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::requirement::{PipelinePart, PipelineShader, ShaderContents};

const IDENTITY: CouplingCheckName = CouplingCheckName::PipelineIdentity;
const LAYOUT: CouplingCheckName = CouplingCheckName::PipelineLayout;

impl HostChecks<'_> {
    pub(crate) fn check_pipelines(&self, rows: &mut CheckRows) {
        for stated in self.input.pipelines {
            let StatedPipeline { file, pipeline, .. } = stated;
            rows.begin_subject(*file);
            check_structures(rows, stated);
            self.check_entry(rows, stated);
            rows.begin_subject(format!("shader of {file}"));
            self.check_shader(rows, file, &pipeline.shader);
            self.check_pipeline_layout(rows, file, pipeline);
            self.check_pipeline_constants(rows, file, pipeline);
        }
        rows.end_subject();
    }

    fn check_entry(&self, rows: &mut CheckRows, stated: &StatedPipeline<'_>) {
        let StatedPipeline { file, pipeline, same_identifier } = stated;
        let entry = &self.reflection().entry;
        if pipeline.entry != *entry {
            let message = format!(
                "the pipeline of {file} starts `{}`, the kernel's entry point is `{entry}`",
                pipeline.entry
            );
            return rows.add_refuted(IDENTITY, message, None);
        }
        let Some(bytes) = pipeline.identifier else {
            let message = format!("the pipeline of {file} has no identifier (`PipelineUUID`)");
            return rows.add_undetermined(IDENTITY, message);
        };
        if bytes == [0; 16] {
            let message = format!(
                "the identifier of {file} is all zeros (`PipelineUUID`), which tells no pipeline \
                 from others"
            );
            return rows.add_refuted(IDENTITY, message, None);
        }
        let identifier = hexadecimal_digits(&bytes);
        if !same_identifier.is_empty() {
            let message = format!(
                "the identifier {identifier} of {file} is that of {}, too (`PipelineUUID`)",
                same_identifier.join(", ")
            );
            return rows.add_refuted(IDENTITY, message, None);
        }
        let message = format!("pipeline {identifier} of {file} starts `{entry}`");
        rows.add_holding(IDENTITY, message);
    }

    /// Whether the pipeline is made of the production module.
    fn check_shader(&self, rows: &mut CheckRows, file: &str, shader: &PipelineShader) {
        const UNKNOWN: &str = "whether it is made of the production module is not known";
        let (name, contents) = match shader {
            PipelineShader::Unlisted => {
                let message = format!("{file} names no shader (`ShaderFileNames`): {UNKNOWN}");
                return rows.add_undetermined(IDENTITY, message);
            }
            PipelineShader::EmptyList => {
                let message = format!(
                    "the list of shaders of {file} is empty (`ShaderFileNames`): {UNKNOWN}"
                );
                return rows.add_undetermined(IDENTITY, message);
            }
            PipelineShader::OtherStages => {
                let message = format!(
                    "{file} names shaders of other stages alone (`ShaderFileNames`), none of \
                     VK_SHADER_STAGE_COMPUTE_BIT"
                );
                return rows.add_refuted(IDENTITY, message, None);
            }
            PipelineShader::Named(name, contents) => (name, contents),
        };
        match contents {
            ShaderContents::Absent => {
                let message = format!(
                    "the shader `{name}` of {file} is no file of the project, neither beside \
                     {file} nor from the project's folder on: {UNKNOWN}"
                );
                rows.add_undetermined(IDENTITY, message);
            }
            ShaderContents::Outside => {
                let message =
                    format!("the shader `{name}` of {file} lies outside of the project: {UNKNOWN}");
                rows.add_undetermined(IDENTITY, message);
            }
            ShaderContents::Read(path, bytes) if is_module(bytes, &self.input.module.words) => {
                let message = format!("the shader {path} of {file} is the production module");
                rows.add_holding(IDENTITY, message);
            }
            ShaderContents::Read(path, bytes) => {
                let message = format!(
                    "the shader {path} of {file} ({} bytes) is not the kernel's production module \
                     ({} bytes)",
                    bytes.len(),
                    self.input.module.words.len() * 4
                );
                rows.add_refuted(IDENTITY, message, None);
            }
        }
    }
}

/// Whether bytes are a module's words, in either order of bytes.
fn is_module(bytes: &[u8], words: &[u32]) -> bool {
    let (as_words, _) = bytes.as_chunks::<4>();
    let all = |is_word: fn(&[u8; 4], u32) -> bool| {
        as_words.iter().zip(words).all(|(bytes, word)| is_word(bytes, *word))
    };
    bytes.len() == words.len() * 4
        && (all(|bytes, word| u32::from_le_bytes(*bytes) == word)
            || all(|bytes, word| u32::from_be_bytes(*bytes) == word))
}

/// Structures that say that they are others.
fn check_structures(rows: &mut CheckRows, stated: &StatedPipeline<'_>) {
    for fault in &stated.pipeline.structure_faults {
        let check = match fault.part {
            PipelinePart::Stage => IDENTITY,
            PipelinePart::Layout => LAYOUT,
        };
        let message = format!(
            "`sType` of {} in {} is `{}`, not {}",
            fault.place, stated.file, fault.stated, fault.needed
        );
        rows.add_refuted(check, message, None);
    }
}
