//! Command buffers: what is recorded into them, with the handles of that moment, and what they come
//! to when they are submitted.

use super::bound::{BoundSlots, BoundState};
use super::build::Builder;
use super::{
    Action, BarrierPart, BarrierScope, Dispatch, Groups, NamedImage, Operation, WHOLE_SIZE,
};
use crate::command::{Command, CopyRegion, Dependency, DependencyScope, binds_unseen};
use crate::event::{Event, ObjectKind, OpenEffect, RecordedCommand};
use crate::image::ImageInLayout;
use crate::value::Handle;
use std::sync::Arc;

/// How deep command buffers execute others.
const MOST_NESTING: u32 = 8;

/// A command buffer.
#[derive(Debug, Default)]
pub(super) struct CommandBuffer {
    pool: Handle,
    handle: Handle,
    steps: Arc<Vec<Step>>,
    recording: Vec<Step>,
    pub(super) state: BoundState,
}

/// A command with its objects.
#[derive(Debug, Clone)]
enum Step {
    Dispatch(Box<DispatchStep>),
    Action(Action),
    Execute(Vec<usize>),
}

#[derive(Debug, Clone)]
struct DispatchStep {
    pipeline: usize,
    base: [u32; 3],
    groups: Groups,
    push_constants: Arc<Vec<Option<u8>>>,
    bound: BoundSlots,
    unseen: Option<Arc<str>>,
}

impl Builder {
    pub(super) fn take_command_event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::CommandBuffers(allocated) => {
                for handle in allocated.command_buffers {
                    let index = self.command_buffers.len();
                    self.live.insert(ObjectKind::CommandBuffer, handle, index);
                    let pool = allocated.pool;
                    self.command_buffers.push(CommandBuffer {
                        pool,
                        handle,
                        ..CommandBuffer::default()
                    });
                }
                Ok(())
            }
            Event::FreeCommandBuffers(gone) => {
                for handle in gone {
                    let index = self.live.find(ObjectKind::CommandBuffer, handle)?;
                    self.command_buffers[index].clear();
                    self.live.remove(ObjectKind::CommandBuffer, handle);
                }
                Ok(())
            }
            Event::ResetCommandPool(pool) => {
                self.of_pool(pool).for_each(CommandBuffer::clear);
                Ok(())
            }
            Event::DestroyCommandPool(pool) => {
                let gone: Vec<Handle> = self
                    .of_pool(pool)
                    .map(|command_buffer| {
                        command_buffer.clear();
                        command_buffer.pool = Handle(0);
                        command_buffer.handle
                    })
                    .collect();
                for handle in gone {
                    self.live.remove(ObjectKind::CommandBuffer, handle);
                }
                Ok(())
            }
            Event::Begin(begin) => self.command_buffer(begin.command_buffer).map(|begun| {
                begun.clear();
            }),
            Event::EndRecording(handle) => self.command_buffer(handle).map(|ended| {
                ended.steps = Arc::new(std::mem::take(&mut ended.recording));
                ended.state = BoundState::default();
            }),
            Event::ResetCommandBuffer(handle) => {
                self.command_buffer(handle).map(CommandBuffer::clear)
            }
            Event::Command(recorded) => self.take_command(recorded),
            _ => Ok(()),
        }
    }

    fn of_pool(&mut self, pool: Handle) -> impl Iterator<Item = &mut CommandBuffer> {
        self.command_buffers
            .iter_mut()
            .filter(move |command_buffer| command_buffer.pool == pool && !pool.is_null())
    }

    fn command_buffer(&mut self, handle: Handle) -> Result<&mut CommandBuffer, String> {
        let index = self.live.find(ObjectKind::CommandBuffer, handle)?;
        Ok(&mut self.command_buffers[index])
    }

    fn take_command(&mut self, recorded: RecordedCommand) -> Result<(), String> {
        let index = self.live.find(ObjectKind::CommandBuffer, recorded.command_buffer)?;
        let step = match recorded.command {
            Command::BindPipeline(_)
            | Command::BindSets { .. }
            | Command::PushDescriptors { .. }
            | Command::PushConstants { .. } => {
                return self.take_state_command(index, recorded.command);
            }
            Command::Dispatch { base, groups } => {
                Some(self.dispatch_step(index, base, Groups::Direct(groups))?)
            }
            Command::DispatchIndirect { buffer, offset } => {
                let buffer = self.live.find(ObjectKind::Buffer, buffer)?;
                Some(self.dispatch_step(index, [0; 3], Groups::Indirect { buffer, offset })?)
            }
            Command::Execute(executed) => {
                let executed = executed.iter();
                let indices =
                    executed.map(|handle| self.live.find(ObjectKind::CommandBuffer, *handle));
                let indices = indices.collect::<Result<Vec<_>, _>>()?;
                self.command_buffers[index].state = BoundState::default();
                Some(Step::Execute(indices))
            }
            Command::Unsupported { name, effect } => {
                let name: Arc<str> = Arc::from(name);
                if binds_unseen(&name, effect) {
                    self.command_buffers[index].state.unseen = Some(Arc::clone(&name));
                }
                Some(Step::Action(Action::Unsupported { name, effect }))
            }
            Command::CopyBuffer { .. }
            | Command::FillBuffer { .. }
            | Command::UpdateBuffer { .. }
            | Command::ImageCopy { .. }
            | Command::CopyBufferToImage { .. }
            | Command::CopyImageToBuffer { .. }
            | Command::CopyImage { .. }
            | Command::ClearColor { .. }
            | Command::Barrier(_) => Some(Step::Action(self.action_of(recorded.command)?)),
        };
        self.command_buffers[index].recording.extend(step);
        Ok(())
    }

    fn action_of(&self, command: Command) -> Result<Action, String> {
        Ok(match command {
            Command::CopyBuffer { from, to, regions } => {
                let from = self.live.find(ObjectKind::Buffer, from)?;
                let to = self.live.find(ObjectKind::Buffer, to)?;
                for CopyRegion { from: read, to: written, size } in &regions {
                    self.check_range(from, *read, *size)?;
                    self.check_range(to, *written, *size)?;
                }
                Action::Copy { from, to, regions: Arc::new(regions) }
            }
            Command::FillBuffer { buffer, offset, size, word } => {
                let buffer = self.live.find(ObjectKind::Buffer, buffer)?;
                let rest = self.buffers[buffer].size.saturating_sub(offset);
                let size = if size == WHOLE_SIZE { rest / 4 * 4 } else { size };
                self.check_range(buffer, offset, size)?;
                Action::Fill { buffer, offset, size, word }
            }
            Command::UpdateBuffer { buffer, offset, bytes } => {
                let buffer = self.live.find(ObjectKind::Buffer, buffer)?;
                self.check_range(buffer, offset, bytes.0.len() as u64)?;
                Action::Update { buffer, offset, bytes: Arc::new(bytes.0) }
            }
            Command::ImageCopy { name, read, written } => {
                let find = |handle: Option<Handle>| {
                    handle.map(|handle| self.live.find(ObjectKind::Buffer, handle)).transpose()
                };
                let (read, written) = (find(read)?, find(written)?);
                Action::ImageCopy { name: Arc::from(name), read, written }
            }
            Command::CopyBufferToImage { from, to, regions } => {
                let from = self.live.find(ObjectKind::Buffer, from)?;
                let to = self.named_image(to)?;
                let mut boxes = regions.iter().map(|region| &region.texels);
                boxes.try_for_each(|texels| self.check_box(to.image, texels))?;
                Action::CopyToImage { from, to, regions: Arc::new(regions) }
            }
            Command::CopyImageToBuffer { from, to, regions } => {
                let from = self.named_image(from)?;
                let to = self.live.find(ObjectKind::Buffer, to)?;
                let mut boxes = regions.iter().map(|region| &region.texels);
                boxes.try_for_each(|texels| self.check_box(from.image, texels))?;
                Action::CopyFromImage { from, to, regions: Arc::new(regions) }
            }
            Command::CopyImage { from, to, regions } => {
                let (from, to) = (self.named_image(from)?, self.named_image(to)?);
                for region in &regions {
                    self.check_box(from.image, &region.from)?;
                    self.check_box(to.image, &region.to)?;
                }
                Action::CopyImage { from, to, regions: Arc::new(regions) }
            }
            Command::ClearColor { to, color, ranges } => {
                let to = self.named_image(to)?;
                Action::ClearImage { to, color, ranges: Arc::new(ranges) }
            }
            Command::Barrier(dependencies) => {
                let parts = dependencies.iter().map(|dependency| self.barrier_part(dependency));
                Action::Barrier(Arc::new(parts.collect::<Result<Vec<_>, _>>()?))
            }
            Command::Unsupported { .. }
            | Command::BindPipeline(_)
            | Command::BindSets { .. }
            | Command::PushDescriptors { .. }
            | Command::PushConstants { .. }
            | Command::Dispatch { .. }
            | Command::DispatchIndirect { .. }
            | Command::Execute(_) => return Err("the command is no action".to_owned()),
        })
    }

    fn named_image(&self, named: ImageInLayout) -> Result<NamedImage, String> {
        self.image(named.image).map(|image| NamedImage { image, layout: named.layout })
    }

    fn check_range(&self, buffer: usize, offset: u64, size: u64) -> Result<(), String> {
        match offset.checked_add(size) {
            Some(end) if end <= self.buffers[buffer].size => Ok(()),
            Some(_) | None => Err(format!(
                "{size} bytes at {offset} reach beyond a buffer of {} bytes",
                self.buffers[buffer].size
            )),
        }
    }

    fn barrier_part(&self, dependency: &Dependency) -> Result<BarrierPart, String> {
        let scope = match &dependency.scope {
            DependencyScope::Execution => BarrierScope::Execution,
            DependencyScope::All => BarrierScope::All,
            DependencyScope::Image(_) => BarrierScope::Image,
            DependencyScope::ImagePart(part) => BarrierScope::ImagePart {
                image: self.image(part.image)?,
                range: part.range,
                layouts: part.layouts,
                transfer: part.transfer,
            },
            DependencyScope::Buffer { buffer, offset, size, transfer } => {
                let buffer = self.live.find(ObjectKind::Buffer, *buffer)?;
                let (offset, size, transfer) = (*offset, *size, *transfer);
                BarrierScope::Buffer { buffer, offset, size, transfer }
            }
        };
        let Dependency { source_stages, source_access, target_stages, target_access, .. } =
            *dependency;
        Ok(BarrierPart { source_stages, source_access, target_stages, target_access, scope })
    }

    /// Takes a command that only changes what is bound.
    fn take_state_command(&mut self, index: usize, command: Command) -> Result<(), String> {
        match command {
            Command::BindPipeline(pipeline) => {
                let pipeline = self.live.find(ObjectKind::Pipeline, pipeline)?;
                self.command_buffers[index].state.pipeline = Some(pipeline);
                Ok(())
            }
            Command::BindSets { layout, first, sets, dynamic_offsets } => {
                self.bind_sets(index, layout, first, &sets, &dynamic_offsets)
            }
            Command::PushDescriptors { layout, set, writes } => {
                self.push_descriptors(index, layout, set, &writes)
            }
            Command::PushConstants { layout, offset, values, .. } => {
                let layout = self.live.find(ObjectKind::PipelineLayout, layout)?;
                self.push_constants(index, layout, offset, &values.0)
            }
            _ => Err("the command changes nothing that is bound".to_owned()),
        }
    }

    fn dispatch_step(
        &mut self,
        index: usize,
        base: [u32; 3],
        groups: Groups,
    ) -> Result<Step, String> {
        let Some(pipeline) = self.command_buffers[index].state.pipeline else {
            let unseen = self.command_buffers[index].state.unseen.clone();
            return Ok(Step::Action(Action::UnboundDispatch { unseen }));
        };
        let layout = self.layout_of_pipeline(pipeline);
        let bound = self.bound_slots(index, layout);
        let state = &self.command_buffers[index].state;
        let layouts = &self.layouts;
        let compatible = state.push_layout.is_none_or(|pushed| {
            pushed == layout || layouts[pushed].has_pushes_of(&layouts[layout])
        });
        let push_constants =
            if compatible { Arc::clone(&state.push_constants) } else { Arc::default() };
        let unseen = state.unseen.clone();
        let step = DispatchStep { pipeline, base, groups, push_constants, bound, unseen };
        Ok(Step::Dispatch(Box::new(step)))
    }

    /// Appends what a command buffer does when it is executed.
    pub(super) fn execute(
        &mut self,
        command_buffer: usize,
        queue: usize,
        nesting: u32,
    ) -> Result<(), String> {
        if nesting > MOST_NESTING {
            return Err("command buffers execute each other in a circle".to_owned());
        }
        let steps = Arc::clone(&self.command_buffers[command_buffer].steps);
        for step in steps.iter() {
            if self.operations.len() > super::MOST_OPERATIONS {
                return Ok(());
            }
            let action = match step {
                Step::Execute(executed) => {
                    for secondary in executed {
                        self.execute(*secondary, queue, nesting + 1)?;
                    }
                    continue;
                }
                Step::Dispatch(dispatch) => {
                    Action::Dispatch(self.submitted_dispatch(dispatch, nesting))
                }
                Step::Action(action) => {
                    if let Action::Unsupported { name, effect } = action {
                        self.note_unsupported(name, *effect);
                    }
                    if let Action::ImageCopy { name, .. } = action {
                        self.note_unsupported(name, OpenEffect::Accesses);
                    }
                    action.clone()
                }
            };
            if nesting == 0 {
                self.readings.note_operation(self.operations.len(), &action);
            }
            let batch = Some(self.last_batch());
            self.operations.push(Operation { batch, queue, action });
        }
        Ok(())
    }

    fn submitted_dispatch(&mut self, step: &DispatchStep, nesting: u32) -> Box<Dispatch> {
        self.dispatches += 1;
        let sets = self.submitted_sets(&step.bound);
        Box::new(Dispatch {
            number: self.dispatches,
            pipeline: step.pipeline,
            base: step.base,
            groups: step.groups,
            push_constants: Arc::clone(&step.push_constants),
            sets,
            disturbed: Arc::clone(&step.bound.disturbed),
            unseen: step.unseen.clone(),
            readings: Vec::new(),
            unread: self.readings.unread_by_nesting(nesting),
        })
    }
}

impl CommandBuffer {
    fn clear(&mut self) {
        self.steps = Arc::default();
        self.recording.clear();
        self.state = BoundState::default();
    }
}
