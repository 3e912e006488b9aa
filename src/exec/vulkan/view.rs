//! What descriptors show: views of images and of texel buffers.
//!
//! Knows: the API's view for each declared dimension; where in a buffer its contents start.
//! Promises: a view goes with its owner. Does not cover: whether the view fits (`image_fit`).

use super::device::{CallFailure, Device, during};
use super::image::{self, DeviceImage};
use super::memory::GUARD;
use ash::vk;
use std::rc::Rc;
use vkcert_exec::resource::{ImageView, ViewKind};
use vkcert_model::image::ImageFormat;

pub(crate) struct DeviceImageView {
    pub raw: vk::ImageView,
    device: Rc<Device>,
}

impl DeviceImageView {
    pub(crate) fn create_view(
        device: &Rc<Device>,
        image: &DeviceImage,
        view: &ImageView,
    ) -> Result<Self, CallFailure> {
        let subresource_range = vk::ImageSubresourceRange::default()
            .aspect_mask(image::image_aspect(image.shape.format))
            .base_mip_level(view.level)
            .level_count(view.levels)
            .base_array_layer(view.layer)
            .layer_count(view.layers);
        let create_info = vk::ImageViewCreateInfo::default()
            .image(image.raw)
            .view_type(vulkan_view_type(view.kind))
            .format(image::vulkan_format(image.shape.format))
            .subresource_range(subresource_range);
        // SAFETY: the image is alive and has its memory; levels and layers are its own
        // (`image_fit::check_views`).
        let raw = unsafe { device.raw.create_image_view(&create_info, None) }
            .map_err(during("vkCreateImageView"))?;
        Ok(Self { raw, device: Rc::clone(device) })
    }
}

impl Drop for DeviceImageView {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses the view has ended, and it is destroyed once.
        unsafe { self.device.raw.destroy_image_view(self.raw, None) }
    }
}

/// Texels of a buffer.
pub(crate) struct DeviceTexels {
    pub raw: vk::BufferView,
    device: Rc<Device>,
}

impl DeviceTexels {
    /// The texels in `range` bytes from byte `offset` of the contents on.
    pub(crate) fn create_texel_view(
        device: &Rc<Device>,
        buffer: vk::Buffer,
        texel_format: ImageFormat,
        (byte_offset, byte_count): (u64, u64),
    ) -> Result<Self, CallFailure> {
        let create_info = vk::BufferViewCreateInfo::default()
            .buffer(buffer)
            .format(image::vulkan_format(texel_format))
            .offset(GUARD as u64 + byte_offset)
            .range(byte_count);
        // SAFETY: the buffer is alive, has its memory and both texel usages; range and alignment
        // have been checked (`fit_limits::check_ranges`, `image_fit::check_views`).
        let raw = unsafe { device.raw.create_buffer_view(&create_info, None) }
            .map_err(during("vkCreateBufferView"))?;
        Ok(Self { raw, device: Rc::clone(device) })
    }
}

impl Drop for DeviceTexels {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses the view has ended, and it is destroyed once.
        unsafe { self.device.raw.destroy_buffer_view(self.raw, None) }
    }
}

fn vulkan_view_type(view_kind: ViewKind) -> vk::ImageViewType {
    match view_kind {
        ViewKind::One => vk::ImageViewType::TYPE_1D,
        ViewKind::OneArray => vk::ImageViewType::TYPE_1D_ARRAY,
        ViewKind::Two => vk::ImageViewType::TYPE_2D,
        ViewKind::TwoArray => vk::ImageViewType::TYPE_2D_ARRAY,
        ViewKind::Three => vk::ImageViewType::TYPE_3D,
        ViewKind::Cube => vk::ImageViewType::CUBE,
        ViewKind::CubeArray => vk::ImageViewType::CUBE_ARRAY,
    }
}
