//! Descriptor sets: what was written to them.

use super::build::Builder;
use super::{BoundDescriptor, BoundResource, BoundView, SetLayout, SetLife};
use crate::event::{
    BindingFlags, Descriptor, DescriptorCopy, DescriptorSets, DescriptorWrite, ImmutableSamplers,
    ObjectKind, SetLayout as MadeSetLayout,
};
use crate::value::Handle;
use std::collections::BTreeMap;
use std::sync::Arc;

/// VK_DESCRIPTOR_TYPE_INLINE_UNIFORM_BLOCK, whose count is bytes of one descriptor.
const INLINE_UNIFORM_BLOCK: i32 = 1_000_138_000;

/// The version of the format from which on flags of bindings are recorded.
const FIRST_VERSION_WITH_FLAGS: u32 = 2;

/// Descriptors of a set at most: what a set holds is copied for its dispatches.
const MOST_DESCRIPTORS: usize = 1 << 20;

/// Whether a descriptor type takes a dynamic offset: UNIFORM_BUFFER_DYNAMIC, STORAGE_BUFFER_DYNAMIC.
pub(super) fn is_dynamic(descriptor_type: i32) -> bool {
    matches!(descriptor_type, 8 | 9)
}

/// What is written to a set.
#[derive(Debug, Clone, Default)]
pub(super) struct SetContents {
    written: BTreeMap<(u32, u32), (i32, BoundResource)>,
    /// The same as dispatches have it; none after a write.
    shared: Option<Arc<Vec<BoundDescriptor>>>,
    /// Writes so far.
    writes: u64,
    /// The number of the last write to each binding.
    last_writes: BTreeMap<u32, u64>,
}

/// A descriptor set.
#[derive(Debug)]
pub(super) struct DescriptorSet {
    pub(super) pool: Handle,
    pub(super) handle: Handle,
    pub(super) layout: Arc<SetLayout>,
    pub(super) contents: SetContents,
    pub(super) life: SetLife,
}

impl SetContents {
    /// How many writes there were so far.
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }

    /// Bindings that were written since there were so many writes.
    pub(super) fn written_since(&self, writes: u64) -> Vec<u32> {
        let later = self.last_writes.iter().filter(|(_, last)| **last > writes);
        later.map(|(binding, _)| *binding).collect()
    }

    fn note_write(&mut self, binding: u32) {
        self.shared = None;
        self.writes += 1;
        self.last_writes.insert(binding, self.writes);
    }

    /// What a dispatch finds.
    pub(super) fn shared(&mut self) -> Arc<Vec<BoundDescriptor>> {
        if let Some(shared) = &self.shared {
            return shared.clone();
        }
        let descriptors =
            self.written.iter().map(|((binding, element), (class, resource))| BoundDescriptor {
                binding: *binding,
                element: *element,
                descriptor_type: *class,
                resource: resource.clone(),
            });
        let shared = Arc::new(descriptors.collect());
        self.shared = Some(Arc::clone(&shared));
        shared
    }

    /// Writes descriptors, from a binding on into those that follow it.
    pub(super) fn write(
        &mut self,
        layout: &SetLayout,
        write: &DescriptorWrite,
        resources: Vec<BoundResource>,
    ) -> Result<(), String> {
        if binding_of(layout, write.binding)?.0 == INLINE_UNIFORM_BLOCK {
            return resources.iter().try_for_each(|resource| match resource {
                BoundResource::Inline(bytes) => {
                    self.write_inline(layout, (write.binding, write.element), bytes)
                }
                _ => Err(format!("binding {} is an inline uniform block", write.binding)),
            });
        }
        let first = (write.binding, write.element);
        let places = places(layout, first, resources.len())?;
        let written = resources.into_iter().map(|resource| Some((write.descriptor_type, resource)));
        self.put(&places, written)
    }

    /// Puts descriptors in their places; none where nothing was ever written.
    fn put(
        &mut self,
        places: &[(u32, u32)],
        descriptors: impl Iterator<Item = Option<(i32, BoundResource)>>,
    ) -> Result<(), String> {
        for (place, descriptor) in places.iter().zip(descriptors) {
            self.note_write(place.0);
            match descriptor {
                Some(descriptor) => self.written.insert(*place, descriptor),
                None => self.written.remove(place),
            };
        }
        if self.written.len() > MOST_DESCRIPTORS {
            return Err(format!("a set has more than {MOST_DESCRIPTORS} descriptors"));
        }
        Ok(())
    }

    /// Writes bytes of an inline uniform block, whose element is a byte (Vulkan specification,
    /// "VkWriteDescriptorSet").
    fn write_inline(
        &mut self,
        layout: &SetLayout,
        (binding, first): (u32, u32),
        bytes: &[Option<u8>],
    ) -> Result<(), String> {
        let (start, end) = (first as usize, (first as usize).saturating_add(bytes.len()));
        let most = MOST_DESCRIPTORS.min(binding_of(layout, binding)?.1 as usize);
        if end > most {
            return Err(format!(
                "an inline uniform block of {most} bytes is written to byte {end}"
            ));
        }
        self.note_write(binding);
        let mut content = self.inline_bytes(binding).to_vec();
        content.resize(content.len().max(end), None);
        content[start..end].copy_from_slice(bytes);
        let resource = BoundResource::Inline(Arc::new(content));
        self.written.insert((binding, 0), (INLINE_UNIFORM_BLOCK, resource));
        Ok(())
    }

    /// What an inline uniform block holds.
    fn inline_bytes(&self, binding: u32) -> &[Option<u8>] {
        match self.written.get(&(binding, 0)) {
            Some((_, BoundResource::Inline(bytes))) => bytes,
            Some(_) | None => &[],
        }
    }
}

/// The places of so many descriptors, from one on into the bindings that follow (Vulkan
/// specification, "Descriptor Set Updates": consecutive binding updates).
fn places(layout: &SetLayout, first: (u32, u32), count: usize) -> Result<Vec<(u32, u32)>, String> {
    if count > MOST_DESCRIPTORS {
        return Err(format!("more than {MOST_DESCRIPTORS} descriptors are written at once"));
    }
    let (mut binding, mut element) = first;
    let mut places = Vec::new();
    for _ in 0..count {
        if element >= binding_of(layout, binding)?.1 {
            let next = layout.bindings.range(binding + 1..).find(|(_, (_, count))| *count > 0);
            let Some((next, _)) = next else {
                return Err(format!("descriptors are written behind binding {binding}"));
            };
            (binding, element) = (*next, 0);
        }
        places.push((binding, element));
        element += 1;
    }
    Ok(places)
}

fn binding_of(layout: &SetLayout, binding: u32) -> Result<(i32, u32), String> {
    let described = layout.bindings.get(&binding).copied();
    described.ok_or_else(|| format!("the layout of the set has no binding {binding}"))
}

impl Builder {
    pub(super) fn take_set_layout(&mut self, made: &MadeSetLayout) {
        let bindings = made.bindings.iter();
        let stages = bindings.clone().map(|binding| (binding.binding, binding.stages));
        let bindings =
            bindings.map(|binding| (binding.binding, (binding.descriptor_type, binding.count)));
        self.live.insert(ObjectKind::SetLayout, made.layout, self.set_layouts.len());
        self.set_layouts.push(Arc::new(SetLayout {
            bindings: bindings.collect(),
            stages: stages.collect(),
            flags: made.flags,
            binding_flags: (self.version >= FIRST_VERSION_WITH_FLAGS).then(BTreeMap::new),
            immutable_samplers: BTreeMap::new(),
        }));
    }

    pub(super) fn take_binding_flags(&mut self, flags: &BindingFlags) -> Result<(), String> {
        let layout = self.live.find(ObjectKind::SetLayout, flags.layout)?;
        let bindings = flags.bindings.iter().copied().collect();
        Arc::make_mut(&mut self.set_layouts[layout]).binding_flags = Some(bindings);
        Ok(())
    }

    pub(super) fn take_immutable_samplers(
        &mut self,
        samplers: &ImmutableSamplers,
    ) -> Result<(), String> {
        let layout = self.live.find(ObjectKind::SetLayout, samplers.layout)?;
        let mut bindings = BTreeMap::new();
        for (binding, handles) in &samplers.bindings {
            let own = handles.iter().map(|sampler| self.live.find(ObjectKind::Sampler, *sampler));
            bindings.insert(*binding, own.collect::<Result<Vec<usize>, String>>()?);
        }
        Arc::make_mut(&mut self.set_layouts[layout]).immutable_samplers = bindings;
        Ok(())
    }

    pub(super) fn allocate_sets(&mut self, allocated: &DescriptorSets) -> Result<(), String> {
        for (set, layout) in &allocated.sets {
            let layout = self.live.find(ObjectKind::SetLayout, *layout)?;
            let index = self.sets.len();
            self.sets.push(DescriptorSet {
                pool: allocated.pool,
                handle: *set,
                layout: Arc::clone(&self.set_layouts[layout]),
                contents: SetContents::default(),
                life: SetLife::Allocated,
            });
            self.sets_of_pools.entry(allocated.pool).or_default().push(index);
            self.live.insert(ObjectKind::DescriptorSet, *set, index);
        }
        Ok(())
    }

    pub(super) fn free_sets(&mut self, sets: &[Handle]) -> Result<(), String> {
        for set in sets {
            let index = self.live.find(ObjectKind::DescriptorSet, *set)?;
            self.sets[index].life = SetLife::Freed;
            self.live.remove(ObjectKind::DescriptorSet, *set);
        }
        Ok(())
    }

    /// Every set of a pool is gone.
    pub(super) fn empty_pool(&mut self, pool: Handle) {
        for index in self.sets_of_pools.remove(&pool).unwrap_or_default() {
            self.sets[index].life = SetLife::Freed;
            let set = &self.sets[index];
            // Its handle may be that of a set of another pool by now.
            if self.live.find(ObjectKind::DescriptorSet, set.handle) == Ok(index)
                && set.pool == pool
            {
                self.live.remove(ObjectKind::DescriptorSet, set.handle);
            }
        }
    }

    pub(super) fn write_descriptors(&mut self, writes: &[DescriptorWrite]) -> Result<(), String> {
        for write in writes {
            let set = self.live.find(ObjectKind::DescriptorSet, write.set)?;
            let layout = Arc::clone(&self.sets[set].layout);
            let resources = self.resources_of(write, &layout)?;
            self.sets[set].contents.write(&layout, write, resources)?;
        }
        Ok(())
    }

    /// What the descriptors of a write lead to.
    pub(super) fn resources_of(
        &self,
        write: &DescriptorWrite,
        layout: &SetLayout,
    ) -> Result<Vec<BoundResource>, String> {
        let immutable = layout.immutable_samplers.get(&write.binding);
        let immutable = immutable.map_or(&[][..], Vec::as_slice);
        let descriptors = write.descriptors.iter().enumerate();
        let resource = |(index, descriptor)| {
            let element = write.element as usize + index;
            self.resource_of(descriptor, immutable.get(element).copied())
        };
        descriptors.map(resource).collect()
    }

    fn resource_of(
        &self,
        descriptor: &Descriptor,
        immutable_sampler: Option<usize>,
    ) -> Result<BoundResource, String> {
        Ok(match descriptor {
            Descriptor::Buffer { buffer, offset, range } => {
                match self.live.find_or_null(ObjectKind::Buffer, *buffer)? {
                    None => BoundResource::Null,
                    Some(buffer) => {
                        BoundResource::Buffer { buffer, offset: *offset, range: *range }
                    }
                }
            }
            Descriptor::BufferView(view) => {
                match self.live.find_or_null(ObjectKind::BufferView, *view)? {
                    None => BoundResource::Null,
                    Some(view) => {
                        let (buffer, offset, range) = self.views[view];
                        BoundResource::Buffer { buffer, offset, range }
                    }
                }
            }
            Descriptor::Image => BoundResource::Image,
            Descriptor::View { view, sampler, layout } => {
                let view = self.live.find_or_null(ObjectKind::ImageView, *view)?;
                // Where the layout has a sampler, that of the write is ignored and may be anything.
                let sampler = match immutable_sampler {
                    Some(immutable) => Some(immutable),
                    None => self.live.find_or_null(ObjectKind::Sampler, *sampler)?,
                };
                match (view, sampler) {
                    (None, None) => BoundResource::Null,
                    (view, sampler) => {
                        BoundResource::View(BoundView { view, sampler, layout: *layout })
                    }
                }
            }
            Descriptor::Inline(bytes) => {
                BoundResource::Inline(Arc::new(bytes.0.iter().copied().map(Some).collect()))
            }
            Descriptor::Other => BoundResource::Other,
        })
    }

    pub(super) fn copy_descriptors(&mut self, copies: &[DescriptorCopy]) -> Result<(), String> {
        for copy in copies {
            let source = self.live.find(ObjectKind::DescriptorSet, copy.from.0)?;
            let target = self.live.find(ObjectKind::DescriptorSet, copy.to.0)?;
            self.copy_between(source, target, copy)?;
        }
        Ok(())
    }

    fn copy_between(
        &mut self,
        source: usize,
        target: usize,
        copy: &DescriptorCopy,
    ) -> Result<(), String> {
        let from = &self.sets[source];
        let count = copy.count as usize;
        let (from_place, to_place) = ((copy.from.1, copy.from.2), (copy.to.1, copy.to.2));
        let layout = Arc::clone(&self.sets[target].layout);
        if binding_of(&from.layout, from_place.0)?.0 == INLINE_UNIFORM_BLOCK {
            let bytes = from.contents.inline_bytes(from_place.0);
            let bytes = bytes.iter().skip(from_place.1 as usize).take(count);
            let bytes: Vec<Option<u8>> = bytes.copied().collect();
            return self.sets[target].contents.write_inline(&layout, to_place, &bytes);
        }
        let places_from = places(&from.layout, from_place, count)?;
        let places_to = places(&layout, to_place, count)?;
        let written = places_from.iter().map(|place| from.contents.written.get(place).cloned());
        let written: Vec<Option<(i32, BoundResource)>> = written.collect();
        self.sets[target].contents.put(&places_to, written.into_iter())
    }
}
