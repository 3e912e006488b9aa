//! Images of a run: as large as the host makes them, with zeros.
//!
//! Knows: extents that the interface states, and how the kernel declares the images.
//! Promises: an image is bound only if the kernel can see it as it is stated and no sampler decides
//! what is read of it.
//! Does not cover: multisampled images.

use super::{MOST_BYTES, Replay, zero_buffer};
use crate::expressions::HostExtent;
use rspirv::spirv::Op;
use vkcert_exec::prepare::{image_type, view_kind};
use vkcert_exec::resource::{ImageView, JobImage, JobSampler, JobView, ViewKind};
use vkcert_exec::{Job, JobBinding};
use vkcert_model::image::{AddressMode, BorderColor, Coordinates, Filter, ImageDim, ImageShape};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::requirement::HostImage;
use vkcert_requirement::host::decide::EvaluatedCase;
use vkcert_requirement::host::expression::HostExpression;
use vkcert_spirv::interface::ReflectedResource;
use vkcert_spirv::module::Module;
use vkcert_spirv::types::Types;

/// An image of the kernel that can be bound.
pub(super) struct ShownImage<'a> {
    stated: &'a HostImage,
    extent: &'a HostExtent,
    kind: ViewKind,
    dimension: ImageDim,
}

impl Replay<'_> {
    /// What is bound where the kernel has an image; none where that is not known.
    pub(super) fn shown_image(&self, resource: &ReflectedResource) -> Option<ShownImage<'_>> {
        let has_no_sampler = match resource.class {
            DescriptorClass::StorageImage | DescriptorClass::SampledImage => true,
            DescriptorClass::Combined => !samples_images(self.input.module),
            DescriptorClass::Sampler
            | DescriptorClass::Storage
            | DescriptorClass::Uniform
            | DescriptorClass::StorageDynamic
            | DescriptorClass::UniformDynamic
            | DescriptorClass::UniformTexel
            | DescriptorClass::StorageTexel => false,
        };
        let place = (resource.set, resource.binding);
        let images = self.input.interface.images.iter().zip(&self.expressions.images);
        let (stated, extent) =
            images.into_iter().find(|(image, _)| (image.set, image.binding) == place)?;
        let (dimension, extent) = (stated.dimension?, extent.as_ref()?);
        let types = Types::of_module(self.input.module);
        let kind = view_kind(image_type(resource, &types)?)?;
        let is_usable = has_no_sampler
            && !stated.multisampled
            && stated.class == resource.class
            && (dimension, stated.layered) == dimension_of(kind);
        is_usable.then_some(ShownImage { stated, extent, kind, dimension })
    }

    /// Adds the kernel's images to a job, with their bindings and the bytes of all; none where the
    /// host binds what is no image, or too much.
    pub(super) fn bind_images(
        &self,
        job: &mut Job,
        case: &EvaluatedCase,
    ) -> Option<(Vec<JobBinding>, i128)> {
        let (mut bindings, mut byte_count) = (Vec::new(), 0);
        for resource in &self.input.reflection.resources {
            let Some(image) = self.shown_image(resource) else { continue };
            let shape = self.image_shape(&image, case)?;
            let image_bytes = shape.bytes()?;
            byte_count += i128::from(image_bytes);
            if byte_count > MOST_BYTES {
                return None;
            }
            let view = ImageView {
                kind: image.kind,
                level: 0,
                levels: if resource.class == DescriptorClass::StorageImage {
                    1
                } else {
                    shape.levels
                },
                layer: 0,
                layers: shape.layers,
            };
            let buffer = job.buffers.len();
            let mut binding = JobBinding::storage(resource.set, resource.binding, buffer, 0);
            binding.class = resource.class;
            binding.view = match resource.class == DescriptorClass::Combined {
                true => JobView::Combined(view, self.unused_sampler(job)),
                false => JobView::Image(view),
            };
            bindings.push(binding);
            let zeros = zero_buffer(resource.set, resource.binding, image_bytes as usize);
            job.buffers.push(zeros);
            job.resources.images.push(JobImage { buffer: buffer as u32, shape });
        }
        Some((bindings, byte_count))
    }

    /// The size of an image for parameter values; none where no image has it.
    fn image_shape(&self, image: &ShownImage<'_>, case: &EvaluatedCase) -> Option<ImageShape> {
        let ShownImage { stated, extent, dimension, .. } = image;
        let mut axes = [1; 3];
        for (axis, expression) in axes.iter_mut().zip(&extent.axes) {
            *axis = self.image_number(expression, case)?;
        }
        let layers = match &extent.layers {
            Some(layers) => self.image_number(layers, case)?,
            None if *dimension == ImageDim::Cube => 6,
            None => 1,
        };
        let levels = match &extent.levels {
            Some(levels) => self.image_number(levels, case)?,
            None => 1,
        };
        let shape = ImageShape {
            dim: *dimension,
            format: stated.format?,
            extent: axes,
            layers,
            levels,
            samples: 1,
        };
        let is_cube = axes[0] == axes[1] && layers.is_multiple_of(6);
        let is_possible =
            levels <= shape.most_levels() && (*dimension != ImageDim::Cube || is_cube);
        is_possible.then_some(shape)
    }

    fn image_number(&self, expression: &HostExpression, case: &EvaluatedCase) -> Option<u32> {
        u32::try_from(self.value(expression, case)).ok().filter(|number| *number >= 1)
    }

    /// The number of a sampler that is bound with an image and decides nothing.
    fn unused_sampler(&self, job: &mut Job) -> u32 {
        if job.resources.samplers.is_empty() {
            job.resources.samplers.push(JobSampler {
                name: "none".to_owned(),
                filter: Filter::Nearest,
                mipmap: Filter::Nearest,
                address: AddressMode::ClampToEdge,
                border: BorderColor::default(),
                compare: None,
                min_lod: 0.0,
                max_lod: None,
                lod_bias: 0.0,
                coordinates: Coordinates::Normalized,
            });
        }
        0
    }
}

/// Whether a module has an instruction whose result a sampler decides.
fn samples_images(module: &Module) -> bool {
    module.instructions.iter().any(|instruction| {
        matches!(
            instruction.op,
            Op::SampledImage
                | Op::ImageSampleImplicitLod
                | Op::ImageSampleExplicitLod
                | Op::ImageSampleDrefImplicitLod
                | Op::ImageSampleDrefExplicitLod
                | Op::ImageSampleProjImplicitLod
                | Op::ImageSampleProjExplicitLod
                | Op::ImageSampleProjDrefImplicitLod
                | Op::ImageSampleProjDrefExplicitLod
                | Op::ImageGather
                | Op::ImageDrefGather
                | Op::ImageQueryLod
        )
    })
}

/// The dimension and whether there are layers.
fn dimension_of(kind: ViewKind) -> (ImageDim, bool) {
    match kind {
        ViewKind::One => (ImageDim::One, false),
        ViewKind::OneArray => (ImageDim::One, true),
        ViewKind::Two => (ImageDim::Two, false),
        ViewKind::TwoArray => (ImageDim::Two, true),
        ViewKind::Three => (ImageDim::Three, false),
        ViewKind::Cube => (ImageDim::Cube, false),
        ViewKind::CubeArray => (ImageDim::Cube, true),
    }
}
