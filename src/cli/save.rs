//! The actual outputs of tests as files that other tools read: `DIR/TEST/ENGINE/BUFFER.npy`.
//!
//! Promises: every buffer and image that a dispatch of the test can store to, by the code of its
//! kernel, is there, in the type that the test declares for it (bytes where it declares none), an
//! image in its shape; images that a PNG file can hold bit by bit are there as PNG as well.
//! Does not cover: judging them. The files are no evidence; evidence stores its own copy.

use super::failure::Failure;
use super::output;
use crate::campaign::assemble::LaidOut;
use crate::campaign::test_run::{PreparedTest, TestRun};
use crate::exec::prepare::{npy, picture, stored_element};
use crate::model::element::{DataType, ElementType, ScalarType};
use crate::model::flow::DispatchFlow;
use crate::model::image::ImageShape;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes the outputs of every test on every engine.
pub(super) fn save_outputs(
    folder: &Path,
    prepared_tests: &[PreparedTest],
    laid_out: &LaidOut,
    runs: &[Vec<TestRun>],
) -> Result<(), Failure> {
    for (test, engine_runs) in prepared_tests.iter().zip(runs) {
        let flows =
            laid_out.get(&test.test.id).map_or(&[][..], |laid_out_test| &laid_out_test.flows);
        let stored_buffers: BTreeSet<&str> = flows.iter().flat_map(buffers_stored_to).collect();
        for run in engine_runs.iter().filter(|run| !run.outputs.is_empty()) {
            let output_folder = folder.join(test.test.id.as_str()).join(run.engine.to_string());
            fs::create_dir_all(&output_folder)
                .map_err(|error| Failure::unwritable(&output_folder, &error))?;
            for (name, bytes) in
                run.outputs.iter().filter(|(name, _)| stored_buffers.contains(name.as_str()))
            {
                let file_stem: String =
                    name.chars()
                        .map(|character| {
                            if character == '/' || character.is_control() { '_' } else { character }
                        })
                        .collect();
                let write_output = |file_extension: &str, contents: &[u8]| {
                    output::write_file(
                        &output_folder.join(format!("{file_stem}.{file_extension}")),
                        contents,
                    )
                };
                match image_shape_of(test, name) {
                    Some(shape) => {
                        write_output(
                            "npy",
                            &npy::write_npy(
                                stored_element(shape.format).scalar,
                                &axis_lengths(&shape),
                                bytes,
                            ),
                        )?;
                        picture::write_png(bytes, &shape)
                            .map_or(Ok(()), |file| write_output("png", &file))?;
                    }
                    None => write_output("npy", &buffer_as_npy(test, name, bytes))?,
                }
            }
        }
    }
    Ok(())
}

fn buffers_stored_to(flow: &DispatchFlow) -> impl Iterator<Item = &str> {
    flow.stores.iter().flat_map(|store| &store.to).map(|range| range.buffer.as_str())
}

/// The shape of an image; none for a buffer.
fn image_shape_of(test: &PreparedTest, name: &str) -> Option<ImageShape> {
    let job = &test.job_plan.as_ref().ok()?.job;
    let images = &job.resources.images;
    images
        .iter()
        .find(|image| job.buffers[image.buffer as usize].name == name)
        .map(|image| image.shape)
}

/// Lengths of an image's axes, the slowest first. Several levels are one list of texels, because
/// their sizes differ.
fn axis_lengths(shape: &ImageShape) -> Vec<usize> {
    let element = stored_element(shape.format);
    let components = element.components as usize;
    if shape.levels > 1 {
        let texels = shape.bytes().unwrap_or(0) as usize / shape.format.texel_size();
        return vec![texels, components];
    }
    let [width, height, depth] = shape.extent.map(|length| length as usize);
    let outer_axes = [shape.layers as usize, depth].into_iter().filter(|length| *length != 1);
    let inner_axes = [shape.samples as usize, components].into_iter().filter(|length| *length != 1);
    outer_axes.chain([height, width]).chain(inner_axes).collect()
}

fn buffer_as_npy(test: &PreparedTest, name: &str, bytes: &[u8]) -> Vec<u8> {
    let declared_type = test.test.buffers.get(name).and_then(|buffer| buffer.data_type);
    let element = match declared_type {
        Some(DataType::Element(element)) if bytes.len().is_multiple_of(element.size()) => element,
        Some(DataType::Element(_) | DataType::Reflect) | None => {
            ElementType::scalar(ScalarType::Uint8)
        }
    };
    let count = bytes.len() / element.size();
    let components = element.components as usize;
    let shape = if components == 1 { vec![count] } else { vec![count, components] };
    npy::write_npy(element.scalar, &shape, bytes)
}
