//! The objects of the program that readings need, as its records tell of them.
//!
//! Promises: an object that was destroyed is not found, and memory that was freed is nobody's.
//! Does not cover: whether a set is written at a time that Vulkan forbids.

use super::uses::{UsedBindings, used_bindings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use vkcert_capture::event::{
    Binding, BufferView, ComputePipeline, Descriptor, DescriptorCopy, DescriptorWrite, Destroyed,
    Event, Image, ImageView, ObjectKind, PipelineLayout, SetLayout,
};
use vkcert_capture::value::{Bytes, Handle};

/// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, whose elements are bytes.
const INLINE_UNIFORM_BLOCK: i32 = 1_000_138_000;

/// A buffer.
pub(super) struct BufferState {
    pub(super) size: u64,
    memory: Option<u64>,
}

/// An image.
pub(super) struct ImageState {
    pub(super) made: Image,
    memory: Option<u64>,
}

/// The layout of a set.
#[derive(Clone, Default)]
pub(super) struct SetLayoutState {
    /// VkDescriptorType and count by binding.
    pub(super) bindings: BTreeMap<u32, (i32, u32)>,
    pub(super) binding_flags: BTreeMap<u32, u32>,
}

/// Descriptors by binding and element, with their types.
pub(super) type Descriptors = BTreeMap<(u32, u32), (i32, Descriptor)>;

/// A descriptor set.
pub(super) struct SetState {
    pool: Handle,
    pub(super) layout: Arc<SetLayoutState>,
    pub(super) descriptors: Descriptors,
}

/// Objects by their handles.
#[derive(Default)]
pub(super) struct Objects {
    /// Property flags of the memory types of each device.
    pub(super) memory_types: BTreeMap<Handle, Vec<u32>>,
    memories: BTreeMap<Handle, u64>,
    live_memories: BTreeSet<u64>,
    buffers: BTreeMap<Handle, BufferState>,
    pub(super) buffer_views: BTreeMap<Handle, BufferView>,
    images: BTreeMap<Handle, ImageState>,
    pub(super) views: BTreeMap<Handle, ImageView>,
    modules: BTreeMap<Handle, Bytes>,
    /// None of a module whose bindings cannot be told.
    pub(super) pipelines: BTreeMap<Handle, Option<Arc<UsedBindings>>>,
    set_layouts: BTreeMap<Handle, Arc<SetLayoutState>>,
    pipeline_layouts: BTreeMap<Handle, Vec<Arc<SetLayoutState>>>,
    pub(super) sets: BTreeMap<Handle, SetState>,
    /// Why a buffer or an image is not read.
    pub(super) refusals: BTreeMap<Handle, String>,
}

impl SetLayoutState {
    /// Descriptors that take dynamic offsets, of the bindings before one.
    pub(super) fn dynamic_before(&self, binding: u32) -> usize {
        let before = self.bindings.range(..binding);
        let dynamic = before.filter(|(_, (class, _))| is_dynamic(*class));
        dynamic.fold(0, |sum: usize, (_, (_, count))| sum.saturating_add(*count as usize))
    }

    /// So many places from one on, into the bindings that follow it (Vulkan specification,
    /// "VkWriteDescriptorSet").
    fn places(&self, (binding, element): (u32, u32), count: usize) -> Vec<(u32, u32)> {
        let mut places = Vec::new();
        let mut element = element;
        for (number, (_, size)) in self.bindings.range(binding..) {
            let own = (element..*size).take(count - places.len());
            places.extend(own.map(|element| (*number, element)));
            if places.len() == count {
                break;
            }
            element = element.saturating_sub(*size);
        }
        places
    }
}

/// UNIFORM_BUFFER_DYNAMIC, STORAGE_BUFFER_DYNAMIC.
pub(super) fn is_dynamic(descriptor_type: i32) -> bool {
    matches!(descriptor_type, 8 | 9)
}

/// Puts what a write holds in its places.
pub(super) fn write(layout: &SetLayoutState, held: &mut Descriptors, write: &DescriptorWrite) {
    if write.descriptor_type == INLINE_UNIFORM_BLOCK {
        return;
    }
    let places = layout.places((write.binding, write.element), write.descriptors.len());
    for (place, descriptor) in places.into_iter().zip(&write.descriptors) {
        held.insert(place, (write.descriptor_type, descriptor.clone()));
    }
}

impl Objects {
    /// A buffer that has memory.
    pub(super) fn buffer(&self, handle: Handle) -> Option<&BufferState> {
        let buffer = self.buffers.get(&handle)?;
        self.live_memories.contains(&buffer.memory?).then_some(buffer)
    }

    /// An image that has memory.
    pub(super) fn image(&self, handle: Handle) -> Option<&ImageState> {
        let image = self.images.get(&handle)?;
        self.live_memories.contains(&image.memory?).then_some(image)
    }

    /// The image of a handle, whether it has memory or not.
    pub(super) fn made_image(&self, handle: Handle) -> Option<&Image> {
        self.images.get(&handle).map(|image| &image.made)
    }

    pub(super) fn layout_of_set(&self, layout: Handle, set: u32) -> Option<Arc<SetLayoutState>> {
        self.pipeline_layouts.get(&layout)?.get(set as usize).cloned()
    }

    /// Takes notice of an event; those of command buffers are taken elsewhere.
    pub(super) fn take(&mut self, record: u64, event: &Event) {
        match event {
            Event::Device(device) => {
                self.memory_types.insert(device.device, device.memory_types.clone());
            }
            Event::Memory(memory) => {
                self.memories.insert(memory.memory, record);
                self.live_memories.insert(record);
            }
            Event::Buffer(made) => {
                let buffer = BufferState { size: made.size, memory: None };
                self.buffers.insert(made.buffer, buffer);
            }
            Event::BindBuffer(Binding { resource, memory, .. }) => {
                let memory = self.memories.get(memory).copied();
                if let Some(buffer) = self.buffers.get_mut(resource) {
                    buffer.memory = memory;
                }
            }
            Event::BindImage(Binding { resource, memory, .. }) => {
                let memory = self.memories.get(memory).copied();
                if let Some(image) = self.images.get_mut(resource) {
                    image.memory = memory;
                }
            }
            Event::BufferView(view) => {
                self.buffer_views.insert(view.view, view.clone());
            }
            Event::ImageMade(made) => {
                let image = ImageState { made: (**made).clone(), memory: None };
                self.images.insert(made.image, image);
            }
            Event::ImageView(view) => {
                self.views.insert(view.view, view.clone());
            }
            Event::ShaderModule(module) => {
                self.modules.insert(module.module, module.code.clone());
            }
            Event::ComputePipeline(pipeline) => self.take_pipeline(pipeline),
            Event::Destroyed(destroyed) => self.take_destroyed(destroyed),
            _ => self.take_descriptor_event(event),
        }
    }

    fn take_pipeline(&mut self, pipeline: &ComputePipeline) {
        let module = self.modules.get(&pipeline.module);
        let used = module.and_then(|module| used_bindings(&module.0, &pipeline.entry));
        self.pipelines.insert(pipeline.pipeline, used.map(Arc::new));
    }

    fn take_destroyed(&mut self, Destroyed { kind, handle }: &Destroyed) {
        match kind {
            ObjectKind::Device => {
                self.memory_types.remove(handle);
            }
            ObjectKind::Memory => {
                let gone = self.memories.remove(handle);
                gone.iter().for_each(|gone| {
                    self.live_memories.remove(gone);
                });
            }
            ObjectKind::Buffer => {
                self.buffers.remove(handle);
                self.refusals.remove(handle);
            }
            ObjectKind::Image => {
                self.images.remove(handle);
                self.refusals.remove(handle);
            }
            ObjectKind::BufferView => {
                self.buffer_views.remove(handle);
            }
            ObjectKind::ImageView => {
                self.views.remove(handle);
            }
            ObjectKind::ShaderModule => {
                self.modules.remove(handle);
            }
            ObjectKind::Pipeline => {
                self.pipelines.remove(handle);
            }
            ObjectKind::SetLayout => {
                self.set_layouts.remove(handle);
            }
            ObjectKind::PipelineLayout => {
                self.pipeline_layouts.remove(handle);
            }
            ObjectKind::DescriptorSet
            | ObjectKind::Instance
            | ObjectKind::Queue
            | ObjectKind::CommandBuffer
            | ObjectKind::Fence
            | ObjectKind::Semaphore
            | ObjectKind::Sampler => {}
        }
    }

    fn take_descriptor_event(&mut self, event: &Event) {
        match event {
            Event::SetLayout(layout) => self.take_set_layout(layout),
            Event::BindingFlags(flags) => {
                if let Some(layout) = self.set_layouts.get_mut(&flags.layout) {
                    let flagged = flags.bindings.iter().copied();
                    Arc::make_mut(layout).binding_flags = flagged.collect();
                }
            }
            Event::PipelineLayout(layout) => self.take_pipeline_layout(layout),
            Event::DescriptorSets(made) => {
                for (set, layout) in &made.sets {
                    let layout = self.set_layouts.get(layout).cloned().unwrap_or_default();
                    let descriptors = Descriptors::new();
                    self.sets.insert(*set, SetState { pool: made.pool, layout, descriptors });
                }
            }
            Event::WriteDescriptors(writes) => {
                for own in writes {
                    if let Some(SetState { layout, descriptors, .. }) = self.sets.get_mut(&own.set)
                    {
                        write(layout, descriptors, own);
                    }
                }
            }
            Event::CopyDescriptors(copies) => {
                copies.iter().for_each(|copy| self.take_copy(copy));
            }
            Event::FreeDescriptorSets(sets) => {
                sets.iter().for_each(|set| {
                    self.sets.remove(set);
                });
            }
            Event::EmptyDescriptorPool(pool) => self.sets.retain(|_, set| set.pool != *pool),
            _ => {}
        }
    }

    fn take_set_layout(&mut self, layout: &SetLayout) {
        let bindings = layout.bindings.iter();
        let bindings = bindings.map(|own| (own.binding, (own.descriptor_type, own.count)));
        let (bindings, binding_flags) = (bindings.collect(), BTreeMap::new());
        let state = SetLayoutState { bindings, binding_flags };
        self.set_layouts.insert(layout.layout, Arc::new(state));
    }

    fn take_pipeline_layout(&mut self, layout: &PipelineLayout) {
        let sets = layout.sets.iter();
        let sets = sets.map(|set| self.set_layouts.get(set).cloned().unwrap_or_default());
        self.pipeline_layouts.insert(layout.layout, sets.collect());
    }

    fn take_copy(&mut self, copy: &DescriptorCopy) {
        let count = copy.count as usize;
        let (source, binding, element) = copy.from;
        let Some(source) = self.sets.get(&source) else { return };
        let places = source.layout.places((binding, element), count);
        let read: Vec<_> =
            places.iter().map(|place| source.descriptors.get(place).cloned()).collect();
        let (target, binding, element) = copy.to;
        let Some(target) = self.sets.get_mut(&target) else { return };
        for (place, descriptor) in
            target.layout.places((binding, element), count).into_iter().zip(read)
        {
            match descriptor {
                Some(descriptor) => target.descriptors.insert(place, descriptor),
                None => target.descriptors.remove(&place),
            };
        }
    }
}
