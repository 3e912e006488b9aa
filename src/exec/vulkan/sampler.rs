//! Samplers of a job.
//!
//! Knows: the API's names for what a test says of a sampler.
//! Promises: a sampler goes with its owner. Does not cover: whether the device takes it
//! (`image_fit`).

use super::device::{CallFailure, Device, during};
use ash::vk;
use std::rc::Rc;
use vkcert_exec::resource::JobSampler;
use vkcert_model::image::{AddressMode, BorderColor, CompareOperator, Coordinates, Filter};

pub(crate) struct DeviceSampler {
    pub raw: vk::Sampler,
    device: Rc<Device>,
}

impl DeviceSampler {
    pub(crate) fn create_sampler(
        device: &Rc<Device>,
        sampler: &JobSampler,
    ) -> Result<Self, CallFailure> {
        let address_mode = vulkan_address_mode(sampler.address);
        let is_unnormalized = sampler.coordinates == Coordinates::Unnormalized;
        let max_lod =
            if is_unnormalized { 0.0 } else { sampler.max_lod.unwrap_or(vk::LOD_CLAMP_NONE) };
        let create_info = vk::SamplerCreateInfo::default()
            .mag_filter(vulkan_filter(sampler.filter))
            .min_filter(vulkan_filter(sampler.filter))
            .mipmap_mode(match sampler.mipmap {
                Filter::Nearest => vk::SamplerMipmapMode::NEAREST,
                Filter::Linear => vk::SamplerMipmapMode::LINEAR,
            })
            .address_mode_u(address_mode)
            .address_mode_v(address_mode)
            .address_mode_w(address_mode)
            .mip_lod_bias(sampler.lod_bias)
            .compare_enable(sampler.compare.is_some())
            .compare_op(sampler.compare.map_or(vk::CompareOp::NEVER, vulkan_compare_op))
            .min_lod(sampler.min_lod)
            .max_lod(max_lod)
            .border_color(vulkan_border_color(sampler.border))
            .unnormalized_coordinates(is_unnormalized);
        // SAFETY: the device is open; what it may refuse has been checked (`image_fit`).
        let raw = unsafe { device.raw.create_sampler(&create_info, None) }
            .map_err(during("vkCreateSampler"))?;
        Ok(Self { raw, device: Rc::clone(device) })
    }
}

impl Drop for DeviceSampler {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses the sampler has ended, and it is destroyed once.
        unsafe { self.device.raw.destroy_sampler(self.raw, None) }
    }
}

fn vulkan_filter(filter: Filter) -> vk::Filter {
    match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    }
}

fn vulkan_address_mode(address_mode: AddressMode) -> vk::SamplerAddressMode {
    match address_mode {
        AddressMode::Repeat => vk::SamplerAddressMode::REPEAT,
        AddressMode::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        AddressMode::ClampToEdge => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        AddressMode::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        AddressMode::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    }
}

fn vulkan_border_color(border_color: BorderColor) -> vk::BorderColor {
    match border_color {
        BorderColor::TransparentBlack => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        BorderColor::OpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        BorderColor::OpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        BorderColor::IntTransparentBlack => vk::BorderColor::INT_TRANSPARENT_BLACK,
        BorderColor::IntOpaqueBlack => vk::BorderColor::INT_OPAQUE_BLACK,
        BorderColor::IntOpaqueWhite => vk::BorderColor::INT_OPAQUE_WHITE,
    }
}

fn vulkan_compare_op(compare_operator: CompareOperator) -> vk::CompareOp {
    match compare_operator {
        CompareOperator::Never => vk::CompareOp::NEVER,
        CompareOperator::Less => vk::CompareOp::LESS,
        CompareOperator::Equal => vk::CompareOp::EQUAL,
        CompareOperator::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        CompareOperator::Greater => vk::CompareOp::GREATER,
        CompareOperator::NotEqual => vk::CompareOp::NOT_EQUAL,
        CompareOperator::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        CompareOperator::Always => vk::CompareOp::ALWAYS,
    }
}
