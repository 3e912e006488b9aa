//! Records become a program, one by one.

use super::BatchPlace;
use super::commands::CommandBuffer;
use super::descriptors::DescriptorSet;
use super::images::{ImageObject, SamplerObject, ViewObject};
use super::objects::Live;
use super::readings::ReadingState;
use super::submissions::{FenceState, QueueState, SemaphoreState};
use super::{
    Action, AddressUse, BufferObject, Layout, MOST_OPERATIONS, MemoryObject, MemorySpan, ObjectEnd,
    Operation, Pipeline, Program, SetLayout, WHOLE_SIZE,
};
use crate::event::{
    Binding, Buffer, BufferView, ComputePipeline, ContentsMode, Destroyed, Device, Event, Memory,
    MemoryRange, ObjectKind, OpenEffect, PipelineLayout, Queue, ShaderModule, Start,
};
use crate::file::{CaptureReader, Completeness};
use crate::value::Handle;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) live: Live,
    start: Option<Start>,
    devices: Vec<Device>,
    pub(super) queues: Vec<QueueState>,
    modules: Vec<Arc<Vec<u8>>>,
    pipelines: Vec<Pipeline>,
    pub(super) layouts: Vec<Layout>,
    pub(super) set_layouts: Vec<Arc<SetLayout>>,
    pub(super) memories: Vec<MemoryObject>,
    pub(super) buffers: Vec<BufferObject>,
    /// Memory that is mapped now.
    mapped: BTreeSet<usize>,
    pub(super) views: Vec<(usize, u64, u64)>,
    pub(super) images: Vec<ImageObject>,
    pub(super) image_views: Vec<ViewObject>,
    pub(super) samplers: Vec<SamplerObject>,
    pub(super) sets: Vec<DescriptorSet>,
    pub(super) sets_of_pools: HashMap<Handle, Vec<usize>>,
    pub(super) command_buffers: Vec<CommandBuffer>,
    pub(super) fences: Vec<FenceState>,
    pub(super) semaphores: Vec<SemaphoreState>,
    pub(super) submissions: u32,
    pub(super) batches: Vec<BatchPlace>,
    pub(super) dispatches: u32,
    /// Version of the file's format.
    pub(super) version: u32,
    /// Batches of submissions that the driver refused.
    pub(super) refused: BTreeSet<u32>,
    pub(super) operations: Vec<Operation>,
    pub(super) readings: ReadingState,
    unsupported: BTreeMap<String, (OpenEffect, u64)>,
}

/// Reads all records.
pub(super) fn program_of(mut reader: CaptureReader) -> Result<Program, Diagnostic> {
    let mut builder = Builder { version: reader.version(), ..Builder::default() };
    while let Some((place, record)) = reader.next_record()? {
        builder.readings.record = place.record;
        let taken = match (&record.event, builder.start.is_some()) {
            (Event::Start(start), false) => {
                builder.readings.mode = start.contents;
                builder.start = Some(start.clone());
                Ok(())
            }
            (Event::Start(_), true) => Err("the capture begins a second time".to_owned()),
            (_, false) => Err("the capture does not begin with the record of its start".to_owned()),
            (_, true) => builder.take_event(record.event),
        };
        taken.map_err(|message| reader.fault(place, &message))?;
        if builder.operations.len() > MOST_OPERATIONS {
            let message = format!("the program does more than {MOST_OPERATIONS} operations");
            return Err(reader.fault(place, &message));
        }
    }
    Ok(builder.finished(reader.completeness()))
}

impl Builder {
    fn finished(mut self, completeness: Completeness) -> Program {
        let refused = std::mem::take(&mut self.refused);
        let is_done =
            |operation: &Operation| operation.batch.is_none_or(|batch| !refused.contains(&batch));
        let mut kept_before = vec![0; self.operations.len() + 1];
        for (index, operation) in self.operations.iter().enumerate() {
            kept_before[index + 1] = kept_before[index] + usize::from(is_done(operation));
        }
        self.object_ends().for_each(|end| {
            if let ObjectEnd::Before(first) = end {
                *first = kept_before[*first];
            }
        });
        self.operations.retain(is_done);
        let unknown_start =
            Start { layer: String::new(), program: String::new(), contents: ContentsMode::Omitted };
        Program {
            start: self.start.unwrap_or(unknown_start),
            devices: self.devices,
            queues: self.queues.iter().map(|queue| queue.device).collect(),
            modules: self.modules,
            pipelines: self.pipelines,
            layouts: self.layouts,
            memories: self.memories,
            buffers: self.buffers,
            images: self.images,
            image_views: self.image_views,
            samplers: self.samplers,
            operations: self.operations,
            batches: self.batches,
            unsupported: self.unsupported,
            completeness,
        }
    }

    fn object_ends(&mut self) -> impl Iterator<Item = &mut ObjectEnd> {
        let buffers = self.buffers.iter_mut().map(|buffer| &mut buffer.end);
        let memories = self.memories.iter_mut().map(|memory| &mut memory.end);
        let pipelines = self.pipelines.iter_mut().map(|pipeline| &mut pipeline.end);
        let images = self.images.iter_mut().map(|image| &mut image.end);
        let views = self.image_views.iter_mut().map(|view| &mut view.end);
        let samplers = self.samplers.iter_mut().map(|sampler| &mut sampler.end);
        buffers.chain(memories).chain(pipelines).chain(images).chain(views).chain(samplers)
    }

    fn take_event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Start(_) | Event::Lost(_) | Event::End(_) => Ok(()),
            Event::Instance(instance) => {
                self.live.insert(ObjectKind::Instance, instance.instance, 0);
                Ok(())
            }
            Event::Device(device) => {
                self.live.insert(ObjectKind::Device, device.device, self.devices.len());
                self.devices.push(*device);
                Ok(())
            }
            Event::Queue(queue) => self.take_queue(&queue),
            Event::Memory(memory) => self.take_memory(&memory),
            Event::Map(range) => self.host_range(&range).map(|span| {
                self.mapped.insert(span.memory);
                self.host(Action::Map(span));
            }),
            Event::Unmap(memory) => {
                let memory = self.live.find(ObjectKind::Memory, memory)?;
                self.unmap(memory);
                Ok(())
            }
            Event::Flush(ranges) => self.take_ranges(&ranges, Action::Flush),
            Event::Invalidate(ranges) => self.take_ranges(&ranges, Action::Invalidate),
            Event::Buffer(buffer) => {
                self.take_buffer(&buffer);
                Ok(())
            }
            Event::BindBuffer(binding) => self.bind_buffer(&binding),
            Event::BufferAddress(buffer) => {
                let buffer = self.live.find(ObjectKind::Buffer, buffer)?;
                self.buffers[buffer].address = AddressUse::Asked;
                Ok(())
            }
            Event::BufferView(view) => self.take_view(&view),
            Event::Image(image) => {
                self.take_undescribed_image(image);
                Ok(())
            }
            Event::BindImage(binding) => self.bind_image(&binding),
            Event::ImageMade(made) => self.take_image(*made),
            Event::ImageView(made) => self.take_image_view(made),
            Event::Sampler(made) => {
                self.take_sampler(made);
                Ok(())
            }
            Event::ImageContents(contents) => {
                let image = self.image_of_contents(&contents)?;
                let (level, layer) = (contents.level, contents.layer);
                let bytes = Arc::new(contents.bytes.0);
                self.host(Action::ImageContents { image, level, layer, bytes });
                Ok(())
            }
            Event::UnreadImage(unread) => {
                let image = self.image(unread.image)?;
                self.host(Action::UnreadImage { image, reason: Arc::from(unread.reason) });
                Ok(())
            }
            Event::ShaderModule(module) => {
                self.take_module(module);
                Ok(())
            }
            Event::SetLayout(layout) => {
                self.take_set_layout(&layout);
                Ok(())
            }
            Event::BindingFlags(flags) => self.take_binding_flags(&flags),
            Event::ImmutableSamplers(samplers) => self.take_immutable_samplers(&samplers),
            Event::PipelineLayout(layout) => self.take_layout(&layout),
            Event::ComputePipeline(pipeline) => self.take_pipeline(pipeline),
            Event::DescriptorSets(sets) => self.allocate_sets(&sets),
            Event::WriteDescriptors(writes) => self.write_descriptors(&writes),
            Event::CopyDescriptors(copies) => self.copy_descriptors(&copies),
            Event::FreeDescriptorSets(sets) => self.free_sets(&sets),
            Event::EmptyDescriptorPool(pool) => {
                self.empty_pool(pool);
                Ok(())
            }
            Event::CommandBuffers(_)
            | Event::FreeCommandBuffers(_)
            | Event::ResetCommandPool(_)
            | Event::DestroyCommandPool(_)
            | Event::Begin(_)
            | Event::EndRecording(_)
            | Event::ResetCommandBuffer(_)
            | Event::Command(_) => self.take_command_event(event),
            Event::Fence(_)
            | Event::Semaphore(_)
            | Event::Submit(_)
            | Event::SubmitFailed(_)
            | Event::FencesSignaled(_)
            | Event::ResetFences(_)
            | Event::QueueIdle(_)
            | Event::DeviceIdle(_)
            | Event::SemaphoresReached(_)
            | Event::SemaphoreSignaled(_) => self.take_submission_event(event),
            Event::Contents(contents) => {
                let memory = self.live.find(ObjectKind::Memory, contents.memory)?;
                let end = contents.offset.checked_add(contents.bytes.0.len() as u64);
                if end.is_none_or(|end| end > self.memories[memory].size) {
                    return Err("contents reach beyond their memory".to_owned());
                }
                let bytes = Arc::new(contents.bytes.0);
                self.host(Action::Contents { memory, offset: contents.offset, bytes });
                Ok(())
            }
            Event::DispatchContents(contents) => self.take_reading(contents),
            Event::UnreadDispatch(unread) => self.take_unread(&unread),
            Event::Destroyed(destroyed) => self.destroy(&destroyed),
            Event::Unsupported(unsupported) => {
                self.note_unsupported(&unsupported.name, unsupported.effect);
                let name = Arc::from(unsupported.name);
                self.host(Action::Unsupported { name, effect: unsupported.effect });
                Ok(())
            }
        }
    }

    /// Appends what the host does.
    pub(super) fn host(&mut self, action: Action) {
        self.operations.push(Operation { batch: None, queue: 0, action });
    }

    pub(super) fn note_unsupported(&mut self, name: &str, effect: OpenEffect) {
        match self.unsupported.get_mut(name) {
            Some((_, count)) => *count += 1,
            None => {
                self.unsupported.insert(name.to_owned(), (effect, 1));
            }
        }
    }

    fn unmap(&mut self, memory: usize) {
        if self.mapped.remove(&memory) {
            self.host(Action::Unmap(memory));
        }
    }

    pub(super) fn layout_of_pipeline(&self, pipeline: usize) -> usize {
        self.pipelines[pipeline].layout
    }

    fn take_queue(&mut self, queue: &Queue) -> Result<(), String> {
        let device = self.live.find(ObjectKind::Device, queue.device)?;
        // A queue may be asked for again.
        let known = self.live.find(ObjectKind::Queue, queue.queue);
        if known.is_ok_and(|known| self.queues[known].device == device) {
            return Ok(());
        }
        self.live.insert(ObjectKind::Queue, queue.queue, self.queues.len());
        self.queues.push(QueueState { device, last_batches: 0..1, completed: 0 });
        Ok(())
    }

    fn take_memory(&mut self, memory: &Memory) -> Result<(), String> {
        let device = self.live.find(ObjectKind::Device, memory.device)?;
        let device = &self.devices[device];
        let flags = device.memory_types.get(memory.memory_type as usize).copied();
        let flags =
            flags.ok_or_else(|| format!("the device has no memory type {}", memory.memory_type))?;
        let atom = device.limits.non_coherent_atom;
        self.live.insert(ObjectKind::Memory, memory.memory, self.memories.len());
        let end = ObjectEnd::Never;
        self.memories.push(MemoryObject { size: memory.size, flags, atom, end });
        Ok(())
    }

    /// The bytes of a range that the host names.
    fn host_range(&self, range: &MemoryRange) -> Result<MemorySpan, String> {
        let memory = self.live.find(ObjectKind::Memory, range.memory)?;
        let size = self.memories[memory].size;
        let end = if range.size == WHOLE_SIZE {
            Some(size)
        } else {
            range.offset.checked_add(range.size)
        };
        // A flush may be rounded up to whole atoms behind the end.
        match end.map(|end| end.min(size)) {
            Some(end) if range.offset <= end => Ok(MemorySpan { memory, start: range.offset, end }),
            Some(_) | None => Err("a range of memory begins behind its end".to_owned()),
        }
    }

    fn take_ranges(
        &mut self,
        ranges: &[MemoryRange],
        action: fn(MemorySpan) -> Action,
    ) -> Result<(), String> {
        for range in ranges {
            let span = self.host_range(range)?;
            self.host(action(span));
        }
        Ok(())
    }

    fn take_buffer(&mut self, buffer: &Buffer) {
        self.live.insert(ObjectKind::Buffer, buffer.buffer, self.buffers.len());
        self.buffers.push(BufferObject {
            size: buffer.size,
            usage: buffer.usage,
            memory: None,
            address: AddressUse::None,
            end: ObjectEnd::Never,
        });
    }

    fn bind_buffer(&mut self, binding: &Binding) -> Result<(), String> {
        let buffer = self.live.find(ObjectKind::Buffer, binding.resource)?;
        let memory = self.live.find(ObjectKind::Memory, binding.memory)?;
        let end = binding.offset.checked_add(self.buffers[buffer].size);
        if end.is_none_or(|end| end > self.memories[memory].size) {
            return Err("a buffer reaches beyond the memory that it is bound to".to_owned());
        }
        self.buffers[buffer].memory = Some((memory, binding.offset));
        Ok(())
    }

    fn take_view(&mut self, view: &BufferView) -> Result<(), String> {
        let buffer = self.live.find(ObjectKind::Buffer, view.buffer)?;
        self.live.insert(ObjectKind::BufferView, view.view, self.views.len());
        self.views.push((buffer, view.offset, view.range));
        Ok(())
    }

    fn take_module(&mut self, module: ShaderModule) {
        self.live.insert(ObjectKind::ShaderModule, module.module, self.modules.len());
        self.modules.push(Arc::new(module.code.0));
    }

    fn take_layout(&mut self, layout: &PipelineLayout) -> Result<(), String> {
        let set_of = |handle: &Handle| {
            // A layout may leave a set out (VK_EXT_graphics_pipeline_library).
            let set = self.live.find_or_null(ObjectKind::SetLayout, *handle)?;
            Ok(match set {
                Some(set) => Arc::clone(&self.set_layouts[set]),
                None => Arc::default(),
            })
        };
        let sets = layout.sets.iter().map(set_of).collect::<Result<Vec<_>, String>>()?;
        self.live.insert(ObjectKind::PipelineLayout, layout.layout, self.layouts.len());
        self.layouts.push(Layout { sets, push_constants: layout.push_constants.clone() });
        Ok(())
    }

    fn take_pipeline(&mut self, pipeline: ComputePipeline) -> Result<(), String> {
        let layout = self.live.find(ObjectKind::PipelineLayout, pipeline.layout)?;
        let module = self.live.find_or_null(ObjectKind::ShaderModule, pipeline.module)?;
        self.live.insert(ObjectKind::Pipeline, pipeline.pipeline, self.pipelines.len());
        let ComputePipeline { entry, specialization, .. } = pipeline;
        let end = ObjectEnd::Never;
        self.pipelines.push(Pipeline { layout, module, entry, specialization, end });
        Ok(())
    }

    /// Notes when an object that operations use was destroyed.
    fn end_object(&mut self, kind: ObjectKind, index: usize) {
        if kind == ObjectKind::Memory {
            // Memory that is freed while it is mapped is unmapped.
            self.unmap(index);
        }
        let end = ObjectEnd::Before(self.operations.len());
        match kind {
            ObjectKind::Memory => self.memories[index].end = end,
            ObjectKind::Buffer => self.buffers[index].end = end,
            ObjectKind::Pipeline => self.pipelines[index].end = end,
            ObjectKind::ImageView => self.image_views[index].end = end,
            ObjectKind::Sampler => self.samplers[index].end = end,
            ObjectKind::Image => {
                if let Some(image) = self.images.get_mut(index) {
                    image.end = end;
                }
            }
            ObjectKind::Instance
            | ObjectKind::Device
            | ObjectKind::Queue
            | ObjectKind::BufferView
            | ObjectKind::ShaderModule
            | ObjectKind::SetLayout
            | ObjectKind::PipelineLayout
            | ObjectKind::DescriptorSet
            | ObjectKind::CommandBuffer
            | ObjectKind::Fence
            | ObjectKind::Semaphore => {}
        }
    }

    fn destroy(&mut self, destroyed: &Destroyed) -> Result<(), String> {
        // Pipelines of other bind points, images of swapchains and views of these were never followed.
        let must_be_known = match destroyed.kind {
            ObjectKind::Pipeline | ObjectKind::Image | ObjectKind::ImageView => false,
            ObjectKind::Instance
            | ObjectKind::Device
            | ObjectKind::Queue
            | ObjectKind::Memory
            | ObjectKind::Buffer
            | ObjectKind::BufferView
            | ObjectKind::ShaderModule
            | ObjectKind::SetLayout
            | ObjectKind::PipelineLayout
            | ObjectKind::DescriptorSet
            | ObjectKind::CommandBuffer
            | ObjectKind::Fence
            | ObjectKind::Semaphore
            | ObjectKind::Sampler => true,
        };
        let known = self.live.find(destroyed.kind, destroyed.handle);
        if must_be_known {
            known.clone()?;
        }
        if let Ok(index) = known {
            self.end_object(destroyed.kind, index);
        }
        self.live.remove(destroyed.kind, destroyed.handle);
        Ok(())
    }
}
