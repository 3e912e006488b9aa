//! Images of a job in the device's own memory, filled from and read back into the job's buffers.
//!
//! Knows: the format of the API for each texel format; how an image's contents stand in its staging
//! buffer; which layout an image has while kernels run: that of storage images where any dispatch
//! stores to it, else that of sampled ones.
//! Promises: contents are written anew before every run of a job, level by level with all layers;
//! image and memory go with their owner.
//! Does not cover: whether the device takes the image (`image_fit`), views (`view`).

use super::device::{CallFailure, Device, during};
use super::memory::{BufferStorage, GUARD};
use super::protocol::WireImage;
use ash::vk;
use std::rc::Rc;
use vkcert_model::image::{ImageDim, ImageFormat, ImageShape};

/// The API's format.
pub(crate) fn vulkan_format(format: ImageFormat) -> vk::Format {
    match format {
        ImageFormat::Rgba32f => vk::Format::R32G32B32A32_SFLOAT,
        ImageFormat::Rgba16f => vk::Format::R16G16B16A16_SFLOAT,
        ImageFormat::Rg32f => vk::Format::R32G32_SFLOAT,
        ImageFormat::Rg16f => vk::Format::R16G16_SFLOAT,
        ImageFormat::R11fG11fB10f => vk::Format::B10G11R11_UFLOAT_PACK32,
        ImageFormat::R32f => vk::Format::R32_SFLOAT,
        ImageFormat::R16f => vk::Format::R16_SFLOAT,
        ImageFormat::Rgba16 => vk::Format::R16G16B16A16_UNORM,
        ImageFormat::Rgb10A2 => vk::Format::A2B10G10R10_UNORM_PACK32,
        ImageFormat::Rgba8 => vk::Format::R8G8B8A8_UNORM,
        ImageFormat::Rg16 => vk::Format::R16G16_UNORM,
        ImageFormat::Rg8 => vk::Format::R8G8_UNORM,
        ImageFormat::R16 => vk::Format::R16_UNORM,
        ImageFormat::R8 => vk::Format::R8_UNORM,
        ImageFormat::Rgba16Snorm => vk::Format::R16G16B16A16_SNORM,
        ImageFormat::Rgba8Snorm => vk::Format::R8G8B8A8_SNORM,
        ImageFormat::Rg16Snorm => vk::Format::R16G16_SNORM,
        ImageFormat::Rg8Snorm => vk::Format::R8G8_SNORM,
        ImageFormat::R16Snorm => vk::Format::R16_SNORM,
        ImageFormat::R8Snorm => vk::Format::R8_SNORM,
        ImageFormat::Rgba32i => vk::Format::R32G32B32A32_SINT,
        ImageFormat::Rgba16i => vk::Format::R16G16B16A16_SINT,
        ImageFormat::Rgba8i => vk::Format::R8G8B8A8_SINT,
        ImageFormat::Rg32i => vk::Format::R32G32_SINT,
        ImageFormat::Rg16i => vk::Format::R16G16_SINT,
        ImageFormat::Rg8i => vk::Format::R8G8_SINT,
        ImageFormat::R32i => vk::Format::R32_SINT,
        ImageFormat::R16i => vk::Format::R16_SINT,
        ImageFormat::R8i => vk::Format::R8_SINT,
        ImageFormat::Rgba32ui => vk::Format::R32G32B32A32_UINT,
        ImageFormat::Rgba16ui => vk::Format::R16G16B16A16_UINT,
        ImageFormat::Rgb10A2ui => vk::Format::A2B10G10R10_UINT_PACK32,
        ImageFormat::Rgba8ui => vk::Format::R8G8B8A8_UINT,
        ImageFormat::Rg32ui => vk::Format::R32G32_UINT,
        ImageFormat::Rg16ui => vk::Format::R16G16_UINT,
        ImageFormat::Rg8ui => vk::Format::R8G8_UINT,
        ImageFormat::R32ui => vk::Format::R32_UINT,
        ImageFormat::R16ui => vk::Format::R16_UINT,
        ImageFormat::R8ui => vk::Format::R8_UINT,
        ImageFormat::R64i => vk::Format::R64_SINT,
        ImageFormat::R64ui => vk::Format::R64_UINT,
        ImageFormat::Rgba8Srgb => vk::Format::R8G8B8A8_SRGB,
        ImageFormat::D16 => vk::Format::D16_UNORM,
        ImageFormat::D32f => vk::Format::D32_SFLOAT,
    }
}

pub(crate) fn image_aspect(format: ImageFormat) -> vk::ImageAspectFlags {
    if format.is_depth() { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR }
}

/// What an image is created as.
pub(crate) fn image_create_info(
    shape: &ImageShape,
    image_usage: vk::ImageUsageFlags,
) -> vk::ImageCreateInfo<'static> {
    let (image_type, image_flags) = match shape.dim {
        ImageDim::One => (vk::ImageType::TYPE_1D, vk::ImageCreateFlags::empty()),
        ImageDim::Two => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::empty()),
        ImageDim::Three => (vk::ImageType::TYPE_3D, vk::ImageCreateFlags::empty()),
        ImageDim::Cube => (vk::ImageType::TYPE_2D, vk::ImageCreateFlags::CUBE_COMPATIBLE),
    };
    let [width, height, depth] = shape.extent;
    vk::ImageCreateInfo::default()
        .flags(image_flags)
        .image_type(image_type)
        .format(vulkan_format(shape.format))
        .extent(vk::Extent3D { width, height, depth })
        .mip_levels(shape.levels)
        .array_layers(shape.layers)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::OPTIMAL)
        .usage(image_usage)
        .sharing_mode(vk::SharingMode::EXCLUSIVE)
        .initial_layout(vk::ImageLayout::UNDEFINED)
}

/// Which way contents go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copying {
    IntoImages,
    IntoBuffers,
}

/// An image with its memory.
pub(crate) struct DeviceImage {
    pub raw: vk::Image,
    memory: vk::DeviceMemory,
    /// Index of its contents among the job's buffers.
    pub buffer: usize,
    pub shape: ImageShape,
    /// While kernels run.
    pub layout: vk::ImageLayout,
    device: Rc<Device>,
}

impl DeviceImage {
    /// An image for `usage`, which the device is known to take.
    pub(crate) fn create_image(
        device: &Rc<Device>,
        image: &WireImage,
        image_usage: vk::ImageUsageFlags,
    ) -> Result<Self, CallFailure> {
        let sampled_only = !image_usage.contains(vk::ImageUsageFlags::STORAGE)
            && image_usage.contains(vk::ImageUsageFlags::SAMPLED);
        let mut new_image = Self {
            raw: vk::Image::null(),
            memory: vk::DeviceMemory::null(),
            buffer: image.buffer as usize,
            shape: image.shape,
            layout: if sampled_only {
                vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL
            } else {
                vk::ImageLayout::GENERAL
            },
            device: Rc::clone(device),
        };
        let create_info = image_create_info(&image.shape, image_usage);
        // SAFETY: the device is open; `image_fit` has asked it whether it takes such an image.
        new_image.raw = unsafe { device.raw.create_image(&create_info, None) }
            .map_err(during("vkCreateImage"))?;
        // SAFETY: the image is alive.
        let requirements = unsafe { device.raw.get_image_memory_requirements(new_image.raw) };
        let allocate_info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(device.image_memory_type(requirements.memory_type_bits));
        // SAFETY: the memory type is one of the device's.
        new_image.memory = unsafe { device.raw.allocate_memory(&allocate_info, None) }
            .map_err(during("vkAllocateMemory"))?;
        // SAFETY: the image has no memory yet; size, alignment (offset 0) and type are as its
        // requirements say.
        unsafe { device.raw.bind_image_memory(new_image.raw, new_image.memory, 0) }
            .map_err(during("vkBindImageMemory"))?;
        Ok(new_image)
    }

    /// Records the copy between the image and its staging buffer, with the transitions around it.
    /// Everything submitted before has ended.
    pub(crate) fn record_copy(
        &self,
        command_buffer: vk::CommandBuffer,
        storage: &BufferStorage,
        copying: Copying,
    ) {
        let staging_buffer = storage.buffer(self.buffer);
        let (layout_before, layout_during, layout_after) = match copying {
            // What the image held does not matter: all of it is written.
            Copying::IntoImages => {
                (vk::ImageLayout::UNDEFINED, vk::ImageLayout::TRANSFER_DST_OPTIMAL, self.layout)
            }
            Copying::IntoBuffers => {
                (self.layout, vk::ImageLayout::TRANSFER_SRC_OPTIMAL, self.layout)
            }
        };
        let copy_regions = self.copy_regions();
        self.record_transition(command_buffer, layout_before, layout_during);
        // SAFETY: the command buffer is recording; image and buffer are alive, have the usage, and
        // the regions lie in both (`regions` covers the image's levels and layers, and the contents
        // have `ImageShape::bytes` behind the guard zone, as `image_fit::check_images` has
        // checked).
        unsafe {
            match copying {
                Copying::IntoImages => {
                    self.device.raw.cmd_copy_buffer_to_image(
                        command_buffer,
                        staging_buffer,
                        self.raw,
                        layout_during,
                        &copy_regions,
                    );
                }
                Copying::IntoBuffers => {
                    self.device.raw.cmd_copy_image_to_buffer(
                        command_buffer,
                        self.raw,
                        layout_during,
                        staging_buffer,
                        &copy_regions,
                    );
                }
            }
        }
        self.record_transition(command_buffer, layout_during, layout_after);
    }

    /// One region per level, each with all layers.
    fn copy_regions(&self) -> Vec<vk::BufferImageCopy> {
        let level_region = |level| {
            let [width, height, depth] = self.shape.level_extent(level);
            let level_start = self.shape.layer_start(level, 0).unwrap_or(0);
            vk::BufferImageCopy::default()
                .buffer_offset(GUARD as u64 + level_start)
                .image_subresource(
                    vk::ImageSubresourceLayers::default()
                        .aspect_mask(image_aspect(self.shape.format))
                        .mip_level(level)
                        .layer_count(self.shape.layers),
                )
                .image_extent(vk::Extent3D { width, height, depth })
        };
        (0..self.shape.levels).map(level_region).collect()
    }

    /// A full barrier that changes the layout.
    fn record_transition(
        &self,
        command_buffer: vk::CommandBuffer,
        old_layout: vk::ImageLayout,
        new_layout: vk::ImageLayout,
    ) {
        let all_access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let image_barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(all_access)
            .dst_access_mask(all_access)
            .old_layout(old_layout)
            .new_layout(new_layout)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.raw)
            .subresource_range(
                vk::ImageSubresourceRange::default()
                    .aspect_mask(image_aspect(self.shape.format))
                    .level_count(self.shape.levels)
                    .layer_count(self.shape.layers),
            );
        let (all_stages, no_dependency) =
            (vk::PipelineStageFlags::ALL_COMMANDS, vk::DependencyFlags::empty());
        // SAFETY: the command buffer is recording; the range is the whole image, whose layout is
        // `from` (or does not matter).
        unsafe {
            self.device.raw.cmd_pipeline_barrier(
                command_buffer,
                all_stages,
                all_stages,
                no_dependency,
                &[],
                &[],
                &[image_barrier],
            )
        }
    }
}

impl Drop for DeviceImage {
    fn drop(&mut self) {
        // SAFETY: no submitted work is pending, the image's views are gone (`Resources` drops them
        // first), each handle is destroyed once; null handles are allowed.
        unsafe {
            self.device.raw.destroy_image(self.raw, None);
            self.device.raw.free_memory(self.memory, None);
        }
    }
}
