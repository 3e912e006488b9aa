//! What an expectation says that a buffer or image holds: values, bytes, a file, rules.
//!
//! Promises: contents have the length of what is judged; what cannot be compared with it is a
//! problem with its place.
//! Does not cover: tolerances and places (`expectation`), checkers and references
//! (`reference_call`).

use super::ExpectedContents;
use super::call::ResolvedCall;
use super::contents::ContentsSource;
use super::elements::encode_elements;
use super::file_contents::FilePlace;
use super::layout::ValueWalk;
use super::problems::Problems;
use super::reference_call::CalledKernel;
use super::setting::Setting;
use super::texel_elements::stored_texels;
use crate::Job;
use crate::resource::{AddressPlace, JobImage, address_symbol};
use vkcert_model::element::{DataType, Datum, ElementType, ScalarType};
use vkcert_model::image::{ImageFormat, ImageShape, TexelEncoding};
use vkcert_model::procedure::{Expectation, KernelCall, Test};
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_offset, decode_texels};
use vkcert_requirement::Origin;

pub(super) struct JudgedScope<'a> {
    pub(super) expectation: &'a Expectation,
    pub(super) job: &'a Job,
    pub(super) setting: &'a Setting<'a>,
    pub(super) origin: &'a Origin,
    pub(super) buffer: usize,
    /// Where an image is judged.
    pub(super) image: Option<JobImage>,
    /// The type of the buffer judged, where the test declares one.
    pub(super) own: Option<DataType>,
    /// Of what is compared, bytes.
    pub(super) offset: usize,
    /// Of what is compared, bytes.
    pub(super) size: usize,
}

pub(super) type ContentsAndTypes = (ExpectedContents, Vec<ScalarType>);

impl JudgedScope<'_> {
    /// The format of an image whose texels are compared as decoded components.
    pub(super) fn decoded_format(&self) -> Option<ImageFormat> {
        let texel_format = self.image?.shape.format;
        match texel_format.encoding() {
            TexelEncoding::Plain(_) => None,
            TexelEncoding::Unorm(_)
            | TexelEncoding::Snorm(_)
            | TexelEncoding::Srgb
            | TexelEncoding::Rgb10A2
            | TexelEncoding::Rgb10A2Uint
            | TexelEncoding::R11G11B10 => Some(texel_format),
        }
    }

    /// Texels as their format holds the values given.
    pub(super) fn texel_contents(
        &self,
        image_shape: &ImageShape,
        given_values: &Datum,
        problems: &mut Problems,
    ) -> Option<ContentsAndTypes> {
        let values_origin = self.origin.at("values");
        let components = encode_elements(
            texel_element_type(image_shape),
            given_values,
            &values_origin,
            problems,
        )?;
        let texel_bytes = stored_texels(image_shape.format, &components, &values_origin, problems)?;
        self.element_contents(
            image_shape.format.component(),
            &decode_texels(image_shape.format, &texel_bytes),
            "values",
            problems,
        )
    }

    /// Elements one after the other from the offset on.
    pub(super) fn element_contents(
        &self,
        component_type: ScalarType,
        element_bytes: &[u8],
        contents_key: &str,
        problems: &mut Problems,
    ) -> Option<ContentsAndTypes> {
        if element_bytes.len() > self.size - self.offset {
            let message = format!(
                "{} bytes are expected from byte {} on, and `{}` has {}",
                element_bytes.len(),
                self.offset,
                self.expectation.judged(),
                self.size
            );
            problems.push(self.origin.at(contents_key).error("size", message));
            return None;
        }
        if element_bytes.is_empty() || !element_bytes.len().is_multiple_of(component_type.size()) {
            let message =
                format!("{} bytes are no whole number of {component_type}", element_bytes.len());
            problems.push(self.origin.at(contents_key).error("size", message));
            return None;
        }
        if let Some(count) = self.expectation.count
            && self.counted_bytes(count, component_type) != Some(element_bytes.len())
        {
            let message = format!(
                "`{contents_key}` has {} bytes, and {count} elements are to be judged",
                element_bytes.len()
            );
            problems.push(self.origin.at("count").error("size", message));
            return None;
        }
        let scalar_leaf = |byte_index| Leaf {
            offset: (self.offset + byte_index) as u64,
            scalar: component_type,
            bits: read_scalar(element_bytes, component_type, byte_index)
                .expect("a whole number of elements"),
        };
        let scalar_leaves =
            (0..element_bytes.len()).step_by(component_type.size()).map(scalar_leaf).collect();
        Some((ExpectedContents::Values(scalar_leaves), vec![component_type]))
    }

    /// Bytes of so many elements; without a type, of so many bytes.
    fn counted_bytes(&self, element_count: u64, component_type: ScalarType) -> Option<usize> {
        let judged_type = self.expectation.data_type.or(self.own);
        let component_count = match (self.image, judged_type) {
            (Some(image), _) => u64::from(image.shape.format.components()),
            (None, Some(DataType::Element(element))) => u64::from(element.components),
            (None, Some(DataType::Reflect) | None) => 1,
        };
        usize::try_from(
            element_count.checked_mul(component_count)?.checked_mul(component_type.size() as u64)?,
        )
        .ok()
    }

    /// Members of the kernel's own block.
    pub(super) fn reflected_contents(
        &self,
        given_values: &Datum,
        test: &Test,
        resolved_calls: &[ResolvedCall],
        problems: &mut Problems,
    ) -> Option<ContentsAndTypes> {
        let buffer_name = self.expectation.judged();
        let block = test.dispatches.iter().zip(resolved_calls).find_map(|(dispatch, called)| {
            let binding = dispatch
                .bindings
                .iter()
                .find(|binding| binding.buffer.as_deref() == Some(buffer_name))?;
            called.descriptor_block(binding.set, binding.binding)
        });
        let Some(block) = block else {
            let problem = self.origin.error(
                "no-block",
                format!("no dispatch binds the buffer `{buffer_name}` to a block"),
            );
            problems.push(problem);
            return None;
        };
        let problems_before = problems.count();
        let mut value_walk = ValueWalk::new(block.layout, problems);
        value_walk.collect_value(
            block.ty,
            None,
            self.offset as u64,
            given_values,
            &self.origin.at("values"),
        );
        let (mut scalar_leaves, named_addresses) =
            (value_walk.scalar_leaves, value_walk.named_addresses);
        for named_address in named_addresses {
            let address_place = AddressPlace::Buffer(self.buffer as u32);
            let job_address = named_address.resolve_address(
                address_place,
                &self.job.buffers,
                &self.job.resources,
                problems,
            )?;
            let bits = address_symbol(job_address.target, job_address.offset);
            scalar_leaves.push(Leaf { offset: job_address.at, scalar: ScalarType::Uint64, bits });
        }
        let values_end = scalar_leaves
            .iter()
            .map(|leaf| leaf.offset as usize + leaf.scalar.size())
            .max()
            .unwrap_or(0);
        if values_end > self.size {
            let message = format!(
                "the values reach to byte {values_end}, and `{buffer_name}` has {}",
                self.size
            );
            problems.push(self.origin.at("values").error("size", message));
        }
        if scalar_leaves.is_empty() && problems.count() == problems_before {
            problems.push(self.origin.at("values").error("size", "no value is expected"));
        }
        let scalars = scalar_leaves.iter().map(|leaf| leaf.scalar).collect();
        (problems.count() == problems_before)
            .then_some((ExpectedContents::Values(scalar_leaves), scalars))
    }

    /// A file, another buffer or a reference; without a type, byte by byte.
    pub(super) fn unreflected_contents(
        &self,
        element_type: Option<ElementType>,
        problems: &mut Problems,
    ) -> Option<ContentsAndTypes> {
        let component_type =
            element_type.map_or(ScalarType::Uint8, |element_type| element_type.scalar);
        if let Some(file_path) = &self.expectation.file {
            let contents_source = ContentsSource {
                base_folder: self.setting.base,
                byte_limit: self.job.limits.memory_bytes,
            };
            if let Some(image) = self.image {
                let (format, file_origin) = (image.shape.format, self.origin.at("file"));
                let (_, bytes) = contents_source.file_contents(
                    file_path,
                    FilePlace::Texels(&image.shape),
                    &file_origin,
                    problems,
                )?;
                return self.element_contents(
                    component_type,
                    &decode_texels(format, &bytes),
                    "file",
                    problems,
                );
            }
            let (found_type, bytes) = contents_source.file_contents(
                file_path,
                FilePlace::Elements(element_type),
                &self.origin.at("file"),
                problems,
            )?;
            return self.element_contents(
                found_type.map_or(component_type, |found_type| found_type.scalar),
                &bytes,
                "file",
                problems,
            );
        }
        let compared_bytes = match self.expectation.count {
            None => self.size - self.offset,
            Some(count) => self.judged_bytes(count, component_type, problems)?,
        };
        if !compared_bytes.is_multiple_of(component_type.size()) {
            let message = format!(
                "the last {compared_bytes} bytes of `{}` are no whole number of {component_type}",
                self.expectation.judged()
            );
            problems.push(self.origin.error("size", message));
            return None;
        }
        if let (Some(resource_name), Some(image)) = (&self.expectation.equals_image, self.image) {
            return self.same_image_contents(
                resource_name,
                &image.shape,
                component_type,
                compared_bytes,
                problems,
            );
        }
        if let Some(resource_name) = &self.expectation.equals_buffer {
            let other_buffer = named_resource(
                resource_name,
                ResourceKind::Buffer,
                self.job,
                &self.origin.at("equals_buffer"),
                problems,
            )?;
            let other_length = self.job.buffers[other_buffer].bytes.len();
            if self.lengths_differ(other_length, compared_bytes) {
                let message = format!(
                    "`{resource_name}` has {other_length} bytes, and {compared_bytes} bytes of `{}` are compared",
                    self.expectation.judged()
                );
                problems.push(self.origin.at("equals_buffer").error("size", message));
                return None;
            }
            let contents = ExpectedContents::Buffer {
                other: other_buffer,
                scalar: component_type,
                offset: self.offset,
                length: compared_bytes,
            };
            return Some((contents, vec![component_type]));
        }
        let Some(reference) = &self.expectation.reference else {
            let message = "an expectation has exactly one of `values`, `file`, `equals_buffer`, `reference` and `check`";
            problems.push(self.origin.error("contradiction", message));
            return None;
        };
        let file_origin = self.origin.at("reference");
        let reference_call = CalledKernel {
            setting: self.setting,
            call: KernelCall::of_reference(reference),
            role_name: "reference",
        };
        let reference_job =
            reference_call.reference_job(self.job, self.buffer, &file_origin, problems)?;
        let contents = ExpectedContents::Reference {
            job: Box::new(reference_job),
            scalar: component_type,
            offset: self.offset,
            length: compared_bytes,
        };
        Some((contents, vec![component_type]))
    }

    /// Whether another buffer of so many bytes cannot be what so many bytes are compared with.
    fn lengths_differ(&self, other_length: usize, compared_bytes: usize) -> bool {
        match self.expectation.count {
            None => other_length != compared_bytes,
            Some(_) => other_length < compared_bytes,
        }
    }

    /// Bytes of so many elements, which must lie inside of what is judged.
    fn judged_bytes(
        &self,
        element_count: u64,
        component_type: ScalarType,
        problems: &mut Problems,
    ) -> Option<usize> {
        let byte_count = self
            .counted_bytes(element_count, component_type)
            .filter(|byte_count| *byte_count > 0 && *byte_count <= self.size - self.offset);
        if byte_count.is_none() {
            let message = format!(
                "{element_count} elements from byte {} on, and `{}` has {} bytes",
                self.offset,
                self.expectation.judged(),
                self.size
            );
            problems.push(self.origin.at("count").error("size", message));
        }
        byte_count
    }

    /// Another image of the same format, number of texels and of samples.
    fn same_image_contents(
        &self,
        image_name: &str,
        image_shape: &ImageShape,
        component_type: ScalarType,
        compared_bytes: usize,
        problems: &mut Problems,
    ) -> Option<ContentsAndTypes> {
        let value_origin = self.origin.at("equals_image");
        let other_buffer =
            named_resource(image_name, ResourceKind::Image, self.job, &value_origin, problems)?;
        let other_shape = self
            .job
            .resources
            .images
            .iter()
            .find(|image| image.buffer as usize == other_buffer)?
            .shape;
        let other_length =
            compared_offset(other_shape.format, self.job.buffers[other_buffer].bytes.len() as u64)
                as usize;
        let same_texels =
            (other_shape.format, other_shape.samples) == (image_shape.format, image_shape.samples);
        if !same_texels || self.lengths_differ(other_length, compared_bytes) {
            let message = format!(
                "`{image_name}` has another format or another number of texels or samples than what is compared"
            );
            problems.push(value_origin.error("size", message));
            return None;
        }
        Some((
            ExpectedContents::Buffer {
                other: other_buffer,
                scalar: component_type,
                offset: self.offset,
                length: compared_bytes,
            },
            vec![component_type],
        ))
    }
}

/// A texel's components.
pub(super) fn texel_element_type(image_shape: &ImageShape) -> ElementType {
    ElementType {
        scalar: image_shape.format.component(),
        components: image_shape.format.components(),
    }
}

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ResourceKind {
    Buffer,
    Image,
}

pub(super) fn named_resource(
    resource_name: &str,
    resource_kind: ResourceKind,
    job: &Job,
    origin: &Origin,
    problems: &mut Problems,
) -> Option<usize> {
    let is_image = |index| job.resources.images.iter().any(|image| image.buffer as usize == index);
    let kind_fits = |index| is_image(index) == (resource_kind == ResourceKind::Image);
    let mut buffers = job.buffers.iter().enumerate();
    let resource_index = buffers
        .find(|(index, buffer)| buffer.name == resource_name && kind_fits(*index))
        .map(|(index, _)| index);
    if resource_index.is_none() {
        let (problem_id, kind_name) = match resource_kind {
            ResourceKind::Buffer => ("unknown-buffer", "buffer"),
            ResourceKind::Image => ("unknown-id", "image"),
        };
        problems
            .push(origin.error(problem_id, format!("there is no {kind_name} `{resource_name}`")));
    }
    resource_index
}
