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
use crate::exec::prepare::image::stored_element;
use crate::exec::prepare::{npy, picture};
use crate::model::element::{DataType, ElementType, ScalarType};
use crate::model::flow::DispatchFlow;
use crate::model::image::ImageShape;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Writes the outputs of every test on every engine.
pub(super) fn outputs(
    folder: &Path,
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    runs: &[Vec<TestRun>],
) -> Result<(), Failure> {
    for (test, row) in prepared.iter().zip(runs) {
        let flows = laid_out.get(&test.test.id).map_or(&[][..], |(_, flows)| flows);
        let stored: BTreeSet<&str> = flows.iter().flat_map(stored_to).collect();
        for run in row.iter().filter(|run| !run.outputs.is_empty()) {
            let place = folder.join(test.test.id.as_str()).join(run.engine.to_string());
            fs::create_dir_all(&place).map_err(|error| Failure::unwritable(&place, &error))?;
            for (name, bytes) in
                run.outputs.iter().filter(|(name, _)| stored.contains(name.as_str()))
            {
                let stem: String = name
                    .chars()
                    .map(|c| if c == '/' || c.is_control() { '_' } else { c })
                    .collect();
                let write = |ending: &str, contents: &[u8]| {
                    output::write_file(&place.join(format!("{stem}.{ending}")), contents)
                };
                match shape_of(test, name) {
                    Some(shape) => {
                        write(
                            "npy",
                            &npy::written(
                                stored_element(shape.format).scalar,
                                &axes(&shape),
                                bytes,
                            ),
                        )?;
                        picture::written(bytes, &shape)
                            .map_or(Ok(()), |file| write("png", &file))?;
                    }
                    None => write("npy", &buffer_file(test, name, bytes))?,
                }
            }
        }
    }
    Ok(())
}

fn stored_to(flow: &DispatchFlow) -> impl Iterator<Item = &str> {
    flow.stores.iter().flat_map(|store| &store.to).map(|range| range.buffer.as_str())
}

/// The shape of an image; none for a buffer.
fn shape_of(test: &PreparedTest, name: &str) -> Option<ImageShape> {
    let job = &test.plan.as_ref().ok()?.job;
    let images = &job.resources.images;
    images
        .iter()
        .find(|image| job.buffers[image.buffer as usize].name == name)
        .map(|image| image.shape)
}

/// Lengths of an image's axes, the slowest first; levels are of different sizes, so that several
/// are one list.
fn axes(shape: &ImageShape) -> Vec<usize> {
    let element = stored_element(shape.format);
    let components = element.components as usize;
    if shape.levels > 1 {
        let texels = shape.bytes().unwrap_or(0) as usize / shape.format.texel_size();
        return vec![texels, components];
    }
    let [width, height, depth] = shape.extent.map(|length| length as usize);
    let outer = [shape.layers as usize, depth].into_iter().filter(|length| *length != 1);
    let inner = [shape.samples as usize, components].into_iter().filter(|length| *length != 1);
    outer.chain([height, width]).chain(inner).collect()
}

fn buffer_file(test: &PreparedTest, name: &str, bytes: &[u8]) -> Vec<u8> {
    let declared = test.test.buffers.get(name).and_then(|buffer| buffer.data_type);
    let element = match declared {
        Some(DataType::Element(element)) if bytes.len().is_multiple_of(element.size()) => element,
        Some(DataType::Element(_) | DataType::Reflect) | None => {
            ElementType::scalar(ScalarType::Uint8)
        }
    };
    let count = bytes.len() / element.size();
    let components = element.components as usize;
    let shape = if components == 1 { vec![count] } else { vec![count, components] };
    npy::written(element.scalar, &shape, bytes)
}
