//! The barriers of a kernel, as obligations of barrier coverage have them.
//!
//! Promises: every barrier of a workgroup that the marked module reaches, in source order.
//! Does not cover: kernels without source, whose criteria of the source are undetermined as a
//! whole.

use super::kernel::{CompiledKernel, Measurement};
use vkcert_model::coverage::KernelBarrier;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::barriers::{WorkgroupBarrier, workgroup_barriers};

impl CompiledKernel {
    /// The barriers that the kernel reaches; of the production module where there is no marked one
    /// that can be used.
    pub fn barriers(&self) -> Vec<KernelBarrier> {
        let (module, structure) = match &self.measurement {
            Measurement::Markers(measured) => (&measured.module, &measured.structure),
            Measurement::Failed { structure } => (&self.module, &**structure),
            Measurement::NoSource => return Vec::new(),
        };
        let Some(entry) = module.entry_point(&self.entry) else { return Vec::new() };
        let kernel_barrier = |found: WorkgroupBarrier| {
            let (file, line) = (
                found.place.file.unwrap_or_else(|| self.source.clone()),
                found.place.line.unwrap_or(0),
            );
            let column = column_of_barrier(structure, &file, line);
            let function = found.place.function.unwrap_or_default();
            KernelBarrier { number: found.number, file, line, column, function }
        };
        let mut barriers: Vec<KernelBarrier> =
            workgroup_barriers(module, entry.function).into_iter().map(kernel_barrier).collect();
        barriers.sort_by_key(|barrier| {
            let file = structure.files.iter().position(|file| file.path == barrier.file);
            (file, barrier.line, barrier.column, barrier.number)
        });
        barriers
    }
}

/// Column of the call on a line, from 1; of its first token where there is none; 0 without the
/// line.
fn column_of_barrier(structure: &KernelStructure, file: &str, line: u32) -> u32 {
    let file = structure.files.iter().find(|source_file| source_file.path == file);
    let line_text = file.and_then(|file| file.text.lines().nth(line.checked_sub(1)? as usize));
    line_text
        .and_then(|line_text| barrier_call(line_text).or_else(|| first_token(line_text)))
        .map_or(0, |byte_offset| byte_offset as u32 + 1)
}

/// Where a line first calls a barrier of the workgroup.
fn barrier_call(line_text: &str) -> Option<usize> {
    ["barrier", "controlBarrier"].iter().filter_map(|name| call_of(line_text, name)).min()
}

/// Where the first token of a line begins.
fn first_token(line_text: &str) -> Option<usize> {
    line_text.find(|character: char| !character.is_whitespace())
}

/// Where a function of this name is called.
fn call_of(text: &str, name: &str) -> Option<usize> {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let call_offsets = text.match_indices(name).filter(|(call_offset, _)| {
        let (text_before, text_behind) =
            (&text[..*call_offset], text[call_offset + name.len()..].trim_start());
        !text_before.ends_with(is_name) && text_behind.starts_with('(')
    });
    call_offsets.map(|(call_offset, _)| call_offset).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_no_part_of_another_name() {
        assert_eq!(call_of("memoryBarrier(); barrier ();", "barrier"), Some(17));
        assert_eq!(call_of("my_barrier(); barrier_count(1);", "barrier"), None);
    }
}
