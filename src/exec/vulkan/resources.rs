//! Everything a job binds beside its buffers, with what lets descriptors show it.
//!
//! Knows: images, samplers and views of one job, and the real addresses of its buffers.
//! Promises: all of it goes at the end of the job, views before what they show; nothing is kept for
//! the next one.
//! Does not cover: whether the device takes it (`image_fit`); the bytes of buffers (`memory`).

use super::address::DeviceAddresses;
use super::device::{CallFailure, Device};
use super::image::{Copying, DeviceImage};
use super::image_fit::image_usage;
use super::memory::{BufferStorage, GUARD};
use super::protocol::{WireBinding, WireJob};
use super::sampler::DeviceSampler;
use super::stop::JobStop;
use super::view::{DeviceImageView, DeviceTexels};
use ash::vk;
use std::rc::Rc;
use vkcert_exec::resource::{ImageView, JobView};

/// What a descriptor is written with.
pub(crate) enum Descriptor {
    Buffer(vk::DescriptorBufferInfo),
    Image(vk::DescriptorImageInfo),
    Texels(vk::BufferView),
}

pub(crate) struct JobResources {
    // In the order in which they must go.
    image_views: Vec<DeviceImageView>,
    texel_views: Vec<DeviceTexels>,
    samplers: Vec<DeviceSampler>,
    images: Vec<DeviceImage>,
    pub addresses: DeviceAddresses,
    device: Rc<Device>,
}

impl JobResources {
    pub(crate) fn create_resources(
        device: &Rc<Device>,
        job: &WireJob,
        storage: &BufferStorage,
    ) -> Result<Self, CallFailure> {
        let mut new_resources = Self {
            image_views: Vec::new(),
            texel_views: Vec::new(),
            samplers: Vec::new(),
            images: Vec::new(),
            addresses: DeviceAddresses::for_job(device, job, storage),
            device: Rc::clone(device),
        };
        for image in &job.images {
            new_resources.images.push(DeviceImage::create_image(
                device,
                image,
                image_usage(job, image.buffer),
            )?);
        }
        for sampler in &job.samplers {
            new_resources.samplers.push(DeviceSampler::create_sampler(device, sampler)?);
        }
        Ok(new_resources)
    }

    /// What a binding shows; its views live as long as `self`.
    pub(crate) fn descriptor_for(
        &mut self,
        binding: &WireBinding,
        storage: &BufferStorage,
    ) -> Result<Descriptor, JobStop> {
        let missing_resource = || {
            super::protocol::Ending::Error("a binding names what the job does not have".to_owned())
        };
        match binding.view {
            JobView::Bytes => {
                // Contents start behind the guard zone.
                let buffer_info = vk::DescriptorBufferInfo::default()
                    .buffer(storage.buffer(binding.buffer as usize));
                Ok(Descriptor::Buffer(
                    buffer_info.offset(GUARD as u64 + binding.offset).range(binding.range),
                ))
            }
            JobView::Texels(format) => {
                let (texel_buffer, byte_range) =
                    (storage.buffer(binding.buffer as usize), (binding.offset, binding.range));
                let image_view = DeviceTexels::create_texel_view(
                    &self.device,
                    texel_buffer,
                    format,
                    byte_range,
                )?;
                let raw_view = image_view.raw;
                self.texel_views.push(image_view);
                Ok(Descriptor::Texels(raw_view))
            }
            JobView::Image(image_view) => {
                Ok(Descriptor::Image(self.image_descriptor(binding, &image_view)?))
            }
            JobView::Sampler(job_sampler) => {
                let job_sampler =
                    self.samplers.get(job_sampler as usize).ok_or_else(missing_resource)?;
                Ok(Descriptor::Image(vk::DescriptorImageInfo::default().sampler(job_sampler.raw)))
            }
            JobView::Combined(image_view, job_sampler) => {
                let job_sampler =
                    self.samplers.get(job_sampler as usize).ok_or_else(missing_resource)?.raw;
                Ok(Descriptor::Image(
                    self.image_descriptor(binding, &image_view)?.sampler(job_sampler),
                ))
            }
        }
    }

    fn image_descriptor(
        &mut self,
        binding: &WireBinding,
        image_view: &ImageView,
    ) -> Result<vk::DescriptorImageInfo, JobStop> {
        let missing_image = || {
            super::protocol::Ending::Error(
                "a binding names an image that the job does not have".to_owned(),
            )
        };
        let image = self
            .images
            .iter()
            .find(|image| image.buffer == binding.buffer as usize)
            .ok_or_else(missing_image)?;
        let image_view = DeviceImageView::create_view(&self.device, image, image_view)?;
        let image_info = vk::DescriptorImageInfo::default()
            .image_view(image_view.raw)
            .image_layout(image.layout);
        self.image_views.push(image_view);
        Ok(image_info)
    }

    pub(crate) fn has_images(&self) -> bool {
        !self.images.is_empty()
    }

    /// Records the copies of all images.
    pub(crate) fn record_copies(
        &self,
        command_buffer: vk::CommandBuffer,
        storage: &BufferStorage,
        copying: Copying,
    ) {
        self.images.iter().for_each(|image| image.record_copy(command_buffer, storage, copying));
    }
}
