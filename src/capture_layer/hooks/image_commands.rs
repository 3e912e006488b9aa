//! Copies and clears of images, of both versions recorded in one form.
//!
//! Promises: a command about an image that the program did not make is recorded by its name, with
//! the buffer that it reads or writes.

use super::commands::{record_command, record_unmodelled};
use super::images::{is_known, recorded_range};
use crate::chain::{elements, handle};
use crate::device_table::below;
use ash::vk;
use vkcert_capture::command::Command;
use vkcert_capture::event::OpenEffect;
use vkcert_capture::image::{BufferImageRegion, ImageInLayout, ImageRegion, TexelBox};

fn named(image: vk::Image, layout: vk::ImageLayout) -> ImageInLayout {
    ImageInLayout { image: handle(image), layout: layout.as_raw() }
}

fn texels(
    part: &vk::ImageSubresourceLayers,
    offset: vk::Offset3D,
    extent: vk::Extent3D,
) -> TexelBox {
    TexelBox {
        aspects: part.aspect_mask.as_raw(),
        level: part.mip_level,
        layer: part.base_array_layer,
        layers: part.layer_count,
        offset: [offset.x, offset.y, offset.z],
        extent: [extent.width, extent.height, extent.depth],
    }
}

/// The members that both versions of a region of a buffer and an image have.
macro_rules! buffer_region {
    ($region:expr) => {
        BufferImageRegion {
            buffer_offset: $region.buffer_offset,
            row_length: $region.buffer_row_length,
            image_height: $region.buffer_image_height,
            texels: texels(&$region.image_subresource, $region.image_offset, $region.image_extent),
        }
    };
}

/// The members that both versions of a region of two images have.
macro_rules! image_region {
    ($region:expr) => {
        ImageRegion {
            from: texels(&$region.src_subresource, $region.src_offset, $region.extent),
            to: texels(&$region.dst_subresource, $region.dst_offset, $region.extent),
        }
    };
}

fn record_upload(
    command_buffer: vk::CommandBuffer,
    name: &str,
    buffer: vk::Buffer,
    (image, layout): (vk::Image, vk::ImageLayout),
    regions: impl FnOnce() -> Vec<BufferImageRegion>,
) {
    record_command(command_buffer, || {
        let from = handle(buffer);
        match is_known(image) {
            true => {
                Command::CopyBufferToImage { from, to: named(image, layout), regions: regions() }
            }
            false => Command::ImageCopy { name: name.to_owned(), read: Some(from), written: None },
        }
    });
}

fn record_download(
    command_buffer: vk::CommandBuffer,
    name: &str,
    (image, layout): (vk::Image, vk::ImageLayout),
    buffer: vk::Buffer,
    regions: impl FnOnce() -> Vec<BufferImageRegion>,
) {
    record_command(command_buffer, || {
        let to = handle(buffer);
        match is_known(image) {
            true => {
                Command::CopyImageToBuffer { from: named(image, layout), to, regions: regions() }
            }
            false => Command::ImageCopy { name: name.to_owned(), read: None, written: Some(to) },
        }
    });
}

pub(crate) unsafe extern "system" fn copy_buffer_to_image(
    command_buffer: vk::CommandBuffer,
    buffer: vk::Buffer,
    image: vk::Image,
    layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    let below = below!(command_buffer, cmd_copy_buffer_to_image);
    record_upload(command_buffer, "vkCmdCopyBufferToImage", buffer, (image, layout), || {
        let regions = unsafe { elements(regions, count) }.iter();
        regions.map(|region| buffer_region!(region)).collect()
    });
    unsafe { below(command_buffer, buffer, image, layout, count, regions) }
}

pub(crate) unsafe extern "system" fn copy_image_to_buffer(
    command_buffer: vk::CommandBuffer,
    image: vk::Image,
    layout: vk::ImageLayout,
    buffer: vk::Buffer,
    count: u32,
    regions: *const vk::BufferImageCopy,
) {
    let below = below!(command_buffer, cmd_copy_image_to_buffer);
    record_download(command_buffer, "vkCmdCopyImageToBuffer", (image, layout), buffer, || {
        let regions = unsafe { elements(regions, count) }.iter();
        regions.map(|region| buffer_region!(region)).collect()
    });
    unsafe { below(command_buffer, image, layout, buffer, count, regions) }
}

pub(crate) unsafe extern "system" fn copy_buffer_to_image2(
    command_buffer: vk::CommandBuffer,
    copy: *const vk::CopyBufferToImageInfo2<'_>,
) {
    let below = below!(command_buffer, cmd_copy_buffer_to_image2);
    if let Some(copy) = unsafe { copy.as_ref() } {
        let image = (copy.dst_image, copy.dst_image_layout);
        let name = "vkCmdCopyBufferToImage2";
        record_upload(command_buffer, name, copy.src_buffer, image, || {
            let regions = unsafe { elements(copy.p_regions, copy.region_count) }.iter();
            regions.map(|region| buffer_region!(region)).collect()
        });
    }
    unsafe { below(command_buffer, copy) }
}

pub(crate) unsafe extern "system" fn copy_image_to_buffer2(
    command_buffer: vk::CommandBuffer,
    copy: *const vk::CopyImageToBufferInfo2<'_>,
) {
    let below = below!(command_buffer, cmd_copy_image_to_buffer2);
    if let Some(copy) = unsafe { copy.as_ref() } {
        let image = (copy.src_image, copy.src_image_layout);
        let name = "vkCmdCopyImageToBuffer2";
        record_download(command_buffer, name, image, copy.dst_buffer, || {
            let regions = unsafe { elements(copy.p_regions, copy.region_count) }.iter();
            regions.map(|region| buffer_region!(region)).collect()
        });
    }
    unsafe { below(command_buffer, copy) }
}

fn record_image_copy(
    command_buffer: vk::CommandBuffer,
    name: &str,
    (from, from_layout): (vk::Image, vk::ImageLayout),
    (to, to_layout): (vk::Image, vk::ImageLayout),
    regions: impl FnOnce() -> Vec<ImageRegion>,
) {
    if !is_known(from) || !is_known(to) {
        record_unmodelled(command_buffer, name, OpenEffect::Accesses);
        return;
    }
    record_command(command_buffer, || Command::CopyImage {
        from: named(from, from_layout),
        to: named(to, to_layout),
        regions: regions(),
    });
}

pub(crate) unsafe extern "system" fn copy_image(
    command_buffer: vk::CommandBuffer,
    from: vk::Image,
    from_layout: vk::ImageLayout,
    to: vk::Image,
    to_layout: vk::ImageLayout,
    count: u32,
    regions: *const vk::ImageCopy,
) {
    let below = below!(command_buffer, cmd_copy_image);
    record_image_copy(
        command_buffer,
        "vkCmdCopyImage",
        (from, from_layout),
        (to, to_layout),
        || {
            let regions = unsafe { elements(regions, count) }.iter();
            regions.map(|region| image_region!(region)).collect()
        },
    );
    unsafe { below(command_buffer, from, from_layout, to, to_layout, count, regions) }
}

pub(crate) unsafe extern "system" fn copy_image2(
    command_buffer: vk::CommandBuffer,
    copy: *const vk::CopyImageInfo2<'_>,
) {
    let below = below!(command_buffer, cmd_copy_image2);
    if let Some(copy) = unsafe { copy.as_ref() } {
        let from = (copy.src_image, copy.src_image_layout);
        let to = (copy.dst_image, copy.dst_image_layout);
        record_image_copy(command_buffer, "vkCmdCopyImage2", from, to, || {
            let regions = unsafe { elements(copy.p_regions, copy.region_count) }.iter();
            regions.map(|region| image_region!(region)).collect()
        });
    }
    unsafe { below(command_buffer, copy) }
}

pub(crate) unsafe extern "system" fn clear_color_image(
    command_buffer: vk::CommandBuffer,
    image: vk::Image,
    layout: vk::ImageLayout,
    color: *const vk::ClearColorValue,
    count: u32,
    ranges: *const vk::ImageSubresourceRange,
) {
    let below = below!(command_buffer, cmd_clear_color_image);
    match unsafe { color.as_ref() }.filter(|_| is_known(image)) {
        Some(color) => record_command(command_buffer, || Command::ClearColor {
            to: named(image, layout),
            // Safety: all members are words, of which each pattern of bits is a value.
            color: unsafe { color.uint32 },
            ranges: unsafe { elements(ranges, count) }.iter().map(recorded_range).collect(),
        }),
        None => record_unmodelled(command_buffer, "vkCmdClearColorImage", OpenEffect::Accesses),
    }
    unsafe { below(command_buffer, image, layout, color, count, ranges) }
}
