//! The text by which a program receives a test's data and returns its buffers.
//!
//! Knows: the lines that `header.hpp` describes. Promises: [`parse_outputs`] reads what the program
//! prints, whole or not at all.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;
use vkcert_exec::resource::JobView;
use vkcert_exec::{BufferContents, Job, JobBinding, JobDispatch};
use vkcert_model::procedure::DescriptorClass;

/// Invocations of a subgroup where a job does not give its size.
pub const SUBGROUP_SIZE: u32 = 32;

/// The text of some dispatches of a job, all of one module, on buffers with these contents.
/// Dispatches without a subgroup size get `subgroup_size`.
///
/// # Errors
/// The name of a resource that programs do not support.
pub fn job_text(
    job: &Job,
    dispatches: Range<usize>,
    contents: &[BufferContents],
    subgroup_size: u32,
) -> Result<String, String> {
    if !job.resources.addresses.is_empty() {
        return Err("device addresses".to_owned());
    }
    let mut text = String::new();
    for (number, bytes) in contents.iter().enumerate() {
        writeln!(text, "buffer {number} {}", hex_digits(bytes)).expect("a string takes everything");
    }
    let mut current_subgroup_size = SUBGROUP_SIZE;
    for dispatch in &job.dispatches[dispatches] {
        let wanted_subgroup_size = dispatch.subgroup_size.unwrap_or(subgroup_size);
        if wanted_subgroup_size != current_subgroup_size {
            writeln!(text, "subgroup {wanted_subgroup_size}").expect("a string takes everything");
            current_subgroup_size = wanted_subgroup_size;
        }
        for binding in &dispatch.bindings {
            writeln!(text, "{}", binding_line(binding)?).expect("a string takes everything");
        }
        let JobDispatch { push_constants, groups: [x, y, z], .. } = dispatch;
        writeln!(text, "push {}\ndispatch {x} {y} {z}", hex_digits(push_constants))
            .expect("a string takes everything");
    }
    Ok(text)
}

fn binding_line(job_binding: &JobBinding) -> Result<String, String> {
    let JobBinding {
        set,
        binding,
        array_index,
        class,
        view,
        buffer,
        offset,
        range,
        dynamic_offset,
    } = job_binding;
    match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => {}
        other_class => {
            return Err(format!(
                "a descriptor of class {other_class:?} at set {set}, binding {binding}"
            ));
        }
    }
    if *view != JobView::Bytes || *array_index != 0 {
        return Err(format!("an array of descriptors at set {set}, binding {binding}"));
    }
    Ok(format!("bind {set} {binding} {buffer} {} {range}", offset + dynamic_offset))
}

fn hex_digits(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes everything");
        text
    })
}

/// The final contents of the buffers, in order.
///
/// # Errors
/// A line that is no buffer, or another number of buffers than `buffer_count`.
pub fn parse_outputs(text: &str, buffer_count: usize) -> Result<Vec<BufferContents>, String> {
    let mut buffers = Vec::new();
    for line in text.lines() {
        let malformed = || format!("the program printed a line that is no buffer: `{line}`");
        let mut words = line.split(' ');
        let (Some("buffer"), Some(number), Some(digits), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(malformed());
        };
        if number.parse() != Ok(buffers.len()) {
            return Err(malformed());
        }
        buffers.push(Arc::new(parse_hex(digits).ok_or_else(malformed)?));
    }
    if buffers.len() == buffer_count {
        Ok(buffers)
    } else {
        Err(format!("{} buffers of {buffer_count} came back", buffers.len()))
    }
}

fn parse_hex(digits: &str) -> Option<Vec<u8>> {
    if digits == "-" {
        return Some(Vec::new());
    }
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    (0..digits.len())
        .step_by(2)
        .map(|digit_index| u8::from_str_radix(digits.get(digit_index..digit_index + 2)?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_read_whole_or_not_at_all() {
        assert_eq!(
            parse_outputs("buffer 0 00ff\nbuffer 1 -\n", 2),
            Ok(vec![vec![0, 255].into(), Vec::new().into()])
        );
        for wrong in [
            "buffer 0 00ff\n",
            "buffer 0 0\nbuffer 1 -\n",
            "buffer 1 -\nbuffer 0 -\n",
            "buffer 0 -\nx\n",
        ] {
            assert!(parse_outputs(wrong, 2).is_err(), "{wrong}");
        }
    }
}
