//! Descriptor sets of one job.
//!
//! Knows: how many descriptors of which type a job's layouts want.
//! Promises: the sets live until the pool is reset, at the end of the job.
//! Does not cover: whether bindings and layouts agree (`fit`).

use super::device::{CallFailure, Device, during};
use super::fit::{DescriptorLayout, descriptor_type};
use super::protocol::WireBinding;
use super::resources::Descriptor;
use super::stop::JobStop;
use ash::vk;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a pool has room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolRoom {
    set_count: u32,
    counts_by_type: BTreeMap<vk::DescriptorType, u32>,
}

impl PoolRoom {
    pub(crate) fn for_layouts(layouts: &[&DescriptorLayout]) -> Self {
        let mut counts_by_type: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        let mut set_count = 0;
        for layout in layouts {
            set_count += layout.sets.len() as u32;
            for slot in layout.sets.iter().flat_map(BTreeMap::values) {
                *counts_by_type.entry(descriptor_type(slot.class)).or_insert(0) += slot.count;
            }
        }
        // A pool must have room for something, even if the job binds nothing.
        counts_by_type.entry(vk::DescriptorType::STORAGE_BUFFER).or_insert(1);
        Self { set_count: set_count.max(1), counts_by_type }
    }
}

/// The descriptor pool of one job at a time.
pub(crate) struct DescriptorPool {
    raw: vk::DescriptorPool,
    pub pool_room: PoolRoom,
    device: Rc<Device>,
}

impl DescriptorPool {
    pub(crate) fn create_pool(device: &Rc<Device>, pool_room: PoolRoom) -> Result<Self, JobStop> {
        let pool_sizes: Vec<_> = (pool_room.counts_by_type.iter())
            .map(|(descriptor_type, descriptor_count)| {
                vk::DescriptorPoolSize::default()
                    .ty(*descriptor_type)
                    .descriptor_count(*descriptor_count)
            })
            .collect();
        let create_info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(pool_room.set_count)
            .pool_sizes(&pool_sizes);
        // SAFETY: the sizes live until the call returns.
        let raw = unsafe { device.raw.create_descriptor_pool(&create_info, None) }
            .map_err(during("vkCreateDescriptorPool"))?;
        Ok(Self { raw, pool_room, device: Rc::clone(device) })
    }

    /// Frees all sets; every dispatch that uses one has ended.
    pub(crate) fn free_sets(&self) -> Result<(), CallFailure> {
        // SAFETY: the pool is alive, and no submitted work is pending.
        unsafe {
            self.device.raw.reset_descriptor_pool(self.raw, vk::DescriptorPoolResetFlags::empty())
        }
        .map_err(during("vkResetDescriptorPool"))
    }

    pub(crate) fn allocate_sets(
        &mut self,
        set_layouts: &[vk::DescriptorSetLayout],
    ) -> Result<Vec<vk::DescriptorSet>, JobStop> {
        if set_layouts.is_empty() {
            return Ok(Vec::new());
        }
        let allocate_info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.raw)
            .set_layouts(set_layouts);
        // SAFETY: pool and layouts are alive.
        let allocated_sets = unsafe { self.device.raw.allocate_descriptor_sets(&allocate_info) };
        Ok(allocated_sets.map_err(during("vkAllocateDescriptorSets"))?)
    }

    pub(crate) fn write_descriptor(
        &self,
        descriptor_set: vk::DescriptorSet,
        binding: &WireBinding,
        descriptor: &Descriptor,
    ) {
        let descriptor_write = vk::WriteDescriptorSet::default()
            .dst_set(descriptor_set)
            .dst_binding(binding.binding)
            .dst_array_element(binding.array_index)
            .descriptor_type(descriptor_type(binding.class));
        let descriptor_write = match descriptor {
            Descriptor::Buffer(buffer) => {
                descriptor_write.buffer_info(std::slice::from_ref(buffer))
            }
            Descriptor::Image(image) => descriptor_write.image_info(std::slice::from_ref(image)),
            Descriptor::Texels(texel_view) => {
                descriptor_write.texel_buffer_view(std::slice::from_ref(texel_view))
            }
        };
        // SAFETY: the set is alive and not in use; what the descriptor shows is alive (`Resources`,
        // `Storage`), and it is of the class's kind (`image_fit::check_kind`), with its range in
        // the buffer (`fit_limits::check_ranges`).
        unsafe { self.device.raw.update_descriptor_sets(&[descriptor_write], &[]) };
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses a set of the pool has ended.
        unsafe { self.device.raw.destroy_descriptor_pool(self.raw, None) }
    }
}
