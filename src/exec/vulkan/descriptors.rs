//! Descriptor sets of one job.
//!
//! Knows: how many descriptors of which type a job's layouts want.
//! Promises: the sets live until the pool is reset, at the end of the job.
//! Does not cover: whether bindings and layouts agree (`fit`).

use super::device::{CallFailure, Device, during};
use super::fit::{Layout, descriptor_type};
use super::protocol::WireBinding;
use super::resources::Descriptor;
use super::stop::Stop;
use ash::vk;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a pool has room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Room {
    sets: u32,
    descriptors: BTreeMap<vk::DescriptorType, u32>,
}

impl Room {
    pub(crate) fn of(layouts: &[&Layout]) -> Self {
        let mut descriptors: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        let mut sets = 0;
        for layout in layouts {
            sets += layout.sets.len() as u32;
            for slot in layout.sets.iter().flat_map(BTreeMap::values) {
                *descriptors.entry(descriptor_type(slot.class)).or_insert(0) += slot.count;
            }
        }
        // A pool must have room for something, even if the job binds nothing.
        descriptors.entry(vk::DescriptorType::STORAGE_BUFFER).or_insert(1);
        Self { sets: sets.max(1), descriptors }
    }
}

/// The descriptor pool of one job at a time.
pub(crate) struct DescriptorPool {
    raw: vk::DescriptorPool,
    pub room: Room,
    device: Rc<Device>,
}

impl DescriptorPool {
    pub(crate) fn create(device: &Rc<Device>, room: Room) -> Result<Self, Stop> {
        let sizes: Vec<_> = (room.descriptors.iter())
            .map(|(class, count)| {
                vk::DescriptorPoolSize::default().ty(*class).descriptor_count(*count)
            })
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(room.sets).pool_sizes(&sizes);
        // SAFETY: the sizes live until the call returns.
        let raw = unsafe { device.raw.create_descriptor_pool(&info, None) }
            .map_err(during("vkCreateDescriptorPool"))?;
        Ok(Self { raw, room, device: device.clone() })
    }

    /// Frees all sets; every dispatch that uses one has ended.
    pub(crate) fn reset(&self) -> Result<(), CallFailure> {
        // SAFETY: the pool is alive, and no submitted work is pending.
        unsafe {
            self.device.raw.reset_descriptor_pool(self.raw, vk::DescriptorPoolResetFlags::empty())
        }
        .map_err(during("vkResetDescriptorPool"))
    }

    pub(crate) fn allocate(
        &mut self,
        layouts: &[vk::DescriptorSetLayout],
    ) -> Result<Vec<vk::DescriptorSet>, Stop> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let info =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.raw).set_layouts(layouts);
        // SAFETY: pool and layouts are alive.
        let sets = unsafe { self.device.raw.allocate_descriptor_sets(&info) };
        Ok(sets.map_err(during("vkAllocateDescriptorSets"))?)
    }

    pub(crate) fn write(
        &self,
        set: vk::DescriptorSet,
        binding: &WireBinding,
        descriptor: &Descriptor,
    ) {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding.binding)
            .dst_array_element(binding.array_index)
            .descriptor_type(descriptor_type(binding.class));
        let write = match descriptor {
            Descriptor::Buffer(buffer) => write.buffer_info(std::slice::from_ref(buffer)),
            Descriptor::Image(image) => write.image_info(std::slice::from_ref(image)),
            Descriptor::Texels(view) => write.texel_buffer_view(std::slice::from_ref(view)),
        };
        // SAFETY: the set is alive and not in use; what the descriptor shows is alive (`Resources`,
        // `Storage`), and it is of the class's kind (`image_fit::check_kind`), with its range in
        // the buffer (`fit_limits::check_ranges`).
        unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses a set of the pool has ended.
        unsafe { self.device.raw.destroy_descriptor_pool(self.raw, None) }
    }
}
