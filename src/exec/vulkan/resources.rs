//! Everything a job binds beside its buffers, with what lets descriptors show it.
//!
//! Knows: images, samplers and views of one job, and the real addresses of its buffers.
//! Promises: all of it goes at the end of the job, views before what they show; nothing is kept for
//! the next one.
//! Does not cover: whether the device takes it (`image_fit`); the bytes of buffers (`memory`).

use super::address::Addresses;
use super::device::{CallFailure, Device};
use super::image::{Copying, DeviceImage};
use super::image_fit::usage;
use super::memory::{GUARD, Storage};
use super::protocol::{WireBinding, WireJob};
use super::sampler::DeviceSampler;
use super::stop::Stop;
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

pub(crate) struct Resources {
    // In the order in which they must go.
    image_views: Vec<DeviceImageView>,
    texel_views: Vec<DeviceTexels>,
    samplers: Vec<DeviceSampler>,
    images: Vec<DeviceImage>,
    pub addresses: Addresses,
    device: Rc<Device>,
}

impl Resources {
    pub(crate) fn create(
        device: &Rc<Device>,
        job: &WireJob,
        storage: &Storage,
    ) -> Result<Self, CallFailure> {
        let mut resources = Self {
            image_views: Vec::new(),
            texel_views: Vec::new(),
            samplers: Vec::new(),
            images: Vec::new(),
            addresses: Addresses::of(device, job, storage),
            device: device.clone(),
        };
        for image in &job.images {
            resources.images.push(DeviceImage::create(device, image, usage(job, image.buffer))?);
        }
        for sampler in &job.samplers {
            resources.samplers.push(DeviceSampler::create(device, sampler)?);
        }
        Ok(resources)
    }

    /// What a binding shows; its views live as long as `self`.
    pub(crate) fn descriptor(
        &mut self,
        binding: &WireBinding,
        storage: &Storage,
    ) -> Result<Descriptor, Stop> {
        let lost = || {
            super::protocol::Ending::Error("a binding names what the job does not have".to_owned())
        };
        match binding.view {
            JobView::Bytes => {
                // Contents start behind the guard zone.
                let info = vk::DescriptorBufferInfo::default()
                    .buffer(storage.buffer(binding.buffer as usize));
                Ok(Descriptor::Buffer(
                    info.offset(GUARD as u64 + binding.offset).range(binding.range),
                ))
            }
            JobView::Texels(format) => {
                let (buffer, range) =
                    (storage.buffer(binding.buffer as usize), (binding.offset, binding.range));
                let view = DeviceTexels::create(&self.device, buffer, format, range)?;
                let raw = view.raw;
                self.texel_views.push(view);
                Ok(Descriptor::Texels(raw))
            }
            JobView::Image(view) => Ok(Descriptor::Image(self.shown(binding, &view)?)),
            JobView::Sampler(sampler) => {
                let sampler = self.samplers.get(sampler as usize).ok_or_else(lost)?;
                Ok(Descriptor::Image(vk::DescriptorImageInfo::default().sampler(sampler.raw)))
            }
            JobView::Combined(view, sampler) => {
                let sampler = self.samplers.get(sampler as usize).ok_or_else(lost)?.raw;
                Ok(Descriptor::Image(self.shown(binding, &view)?.sampler(sampler)))
            }
        }
    }

    fn shown(
        &mut self,
        binding: &WireBinding,
        view: &ImageView,
    ) -> Result<vk::DescriptorImageInfo, Stop> {
        let lost = || {
            super::protocol::Ending::Error(
                "a binding names an image that the job does not have".to_owned(),
            )
        };
        let image = self
            .images
            .iter()
            .find(|image| image.buffer == binding.buffer as usize)
            .ok_or_else(lost)?;
        let view = DeviceImageView::create(&self.device, image, view)?;
        let info =
            vk::DescriptorImageInfo::default().image_view(view.raw).image_layout(image.layout);
        self.image_views.push(view);
        Ok(info)
    }

    pub(crate) fn has_images(&self) -> bool {
        !self.images.is_empty()
    }

    /// Records the copies of all images.
    pub(crate) fn record(&self, commands: vk::CommandBuffer, storage: &Storage, copying: Copying) {
        self.images.iter().for_each(|image| image.record(commands, storage, copying));
    }
}
