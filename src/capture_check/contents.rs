//! What memory holds while a captured program runs, as far as the capture tells.
//!
//! Knows: contents of mapped memory where they are recorded, what the layer read in front of
//! dispatches, fills, updates and copies, images among them (`image_contents`).
//! Promises: what a dispatch may have written, or something that is not modelled, is not known, nor
//! is what the host may have written to mapped memory whose contents are not recorded, or while a
//! batch waits for it; what was recorded of memory to which a dispatch that is not known to be complete
//! may write is not, either. Of an image
//! whose memory another resource shares, or the host maps while it has linear tiling, nothing is
//! known, nor of the bytes of a buffer in which an image lies.
//! Does not cover: whether what is known is also visible where it is read (`order`).

use crate::image_contents::{KnownImages, followed_texel};
use crate::kernel::{AddressedMemory, KernelTable, Touch};
use crate::texels::buffer_rows;
use std::collections::BTreeMap;
use vkcert_capture::event::{ContentsMode, OpenEffect};
use vkcert_capture::image::BufferImageRegion;
use vkcert_capture::program::{
    Action, BoundResource, BoundView, Dispatch, Groups, MemorySpan, Operation, Program, Reading,
    SemaphoreStep, WHOLE_SIZE,
};

/// Bytes that vkCmdDispatchIndirect reads.
pub(crate) const INDIRECT_BYTES: u64 = 12;

/// Bytes of a memory that are followed at most: what lies behind is not known.
const MOST_FOLLOWED_BYTES: u64 = 1 << 30;

/// VK_IMAGE_TILING_LINEAR.
const LINEAR: i32 = 1;

/// What memory holds, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct KnownMemory {
    bytes: BTreeMap<usize, Vec<Option<u8>>>,
    images: KnownImages,
    /// What the host has mapped, by memory.
    mapped: BTreeMap<usize, MemorySpan>,
    /// Memory that is written through images, too: the same in the whole program.
    of_images: Option<Vec<MemorySpan>>,
    /// What dispatches may have written that the host does not know to be complete.
    unfinished: Vec<UnfinishedWrite>,
    /// The largest value that a batch gives each timeline semaphore.
    signaled: BTreeMap<usize, u64>,
}

/// What a batch of a queue may write, whenever it is executed.
#[derive(Debug)]
struct UnfinishedWrite {
    queue: usize,
    batch: u32,
    span: MemorySpan,
}

impl KnownMemory {
    /// The bytes of a range; none for those that are not known.
    pub(crate) fn contents(&self, span: &MemorySpan) -> Vec<Option<u8>> {
        let bytes = self.bytes.get(&span.memory).map_or(&[][..], Vec::as_slice);
        (span.start..span.end)
            .map(|index| usize::try_from(index).ok().and_then(|index| *bytes.get(index)?))
            .collect()
    }

    /// Workgroups of a dispatch; none of an indirect one whose numbers are not known.
    pub(crate) fn groups(&self, program: &Program, groups: Groups) -> Option<[u32; 3]> {
        let (buffer, offset) = match groups {
            Groups::Direct(groups) => return Some(groups),
            Groups::Indirect { buffer, offset } => (buffer, offset),
        };
        let span = program.span(buffer, offset, INDIRECT_BYTES)?;
        let bytes: Vec<u8> = self.contents(&span).into_iter().collect::<Option<_>>()?;
        let words = bytes.chunks_exact(4).map(|word| word.try_into().map(u32::from_le_bytes));
        let words: Vec<u32> = words.collect::<Result<_, _>>().ok()?;
        words.try_into().ok()
    }

    fn set(&mut self, span: &MemorySpan, values: impl Iterator<Item = Option<u8>>) {
        if span.end > MOST_FOLLOWED_BYTES {
            return;
        }
        let bytes = self.bytes.entry(span.memory).or_default();
        let (Ok(start), Ok(end)) = (usize::try_from(span.start), usize::try_from(span.end)) else {
            return;
        };
        if bytes.len() < end {
            bytes.resize(end, None);
        }
        bytes[start..end].iter_mut().zip(values).for_each(|(byte, value)| *byte = value);
        let shared = self.of_images.iter().flatten().filter(|image| image.memory == span.memory);
        for image in shared {
            let (first, last) = (image.start.max(span.start), image.end.min(span.end));
            // Within `start..end`, which are in range.
            (first..last).for_each(|index| bytes[index as usize] = None);
        }
    }

    fn forget(&mut self, span: &MemorySpan) {
        // What was never known needs no room.
        if self.bytes.contains_key(&span.memory) {
            self.set(span, std::iter::repeat(None));
        }
    }

    /// Takes notice of what an operation does.
    pub(crate) fn take(&mut self, program: &Program, kernels: &KernelTable, operation: &Operation) {
        let Operation { batch, queue, action } = operation;
        self.of_images.get_or_insert_with(|| {
            let images = 0..program.images.len();
            images.filter_map(|image| image_memory(program, image)).collect()
        });
        match action {
            Action::Contents { memory, offset, bytes } => {
                let end = offset + bytes.len() as u64;
                let span = MemorySpan { memory: *memory, start: *offset, end };
                self.set(&span, bytes.iter().copied().map(Some));
                self.forget_unfinished(&span);
            }
            Action::Copy { from, to, regions } => {
                for region in regions.iter() {
                    let read = program.span(*from, region.from, region.size);
                    let written = program.span(*to, region.to, region.size);
                    if let (Some(read), Some(written)) = (read, written) {
                        let bytes = self.contents(&read);
                        self.set(&written, bytes.into_iter());
                    }
                }
            }
            Action::Fill { buffer, offset, size, word } => {
                if let Some(span) = program.span(*buffer, *offset, *size) {
                    self.set(&span, word.to_le_bytes().into_iter().cycle().map(Some));
                }
            }
            Action::Update { buffer, offset, bytes } => {
                if let Some(span) = program.span(*buffer, *offset, bytes.len() as u64) {
                    self.set(&span, bytes.iter().copied().map(Some));
                }
            }
            Action::CopyToImage { from, to, regions } => {
                for region in regions.iter() {
                    self.copy_to_image(program, *from, to.image, region);
                }
                self.drop_shared(program, to.image);
            }
            Action::CopyFromImage { from, to, regions } => {
                for region in regions.iter() {
                    self.copy_from_image(program, from.image, *to, region);
                }
            }
            Action::CopyImage { from, to, regions } => {
                for region in regions.iter() {
                    self.images.copy(program, from.image, to.image, region);
                }
                self.drop_shared(program, to.image);
            }
            Action::ClearImage { to, color, ranges } => {
                for range in ranges.iter() {
                    self.images.clear(program, to.image, *color, range);
                }
                self.drop_shared(program, to.image);
            }
            Action::ImageContents { image, level, layer, bytes } => {
                self.images.set_layer(program, *image, (*level, *layer), bytes);
                self.drop_shared(program, *image);
            }
            Action::UnreadImage { image, reason } => self.images.note_unread(*image, reason),
            Action::Barrier(parts) => self.images.take_barrier(program, parts),
            Action::ImageCopy { written, .. } => {
                let span = written.and_then(|buffer| program.span(buffer, 0, WHOLE_SIZE));
                span.iter().for_each(|span| self.forget(span));
            }
            Action::Dispatch(dispatch) => {
                self.take_readings(program, dispatch);
                let place = (*queue, batch.unwrap_or(0));
                self.take_dispatch(program, kernels, (dispatch, place));
            }
            Action::Map(span) => {
                self.mapped.insert(span.memory, *span);
            }
            Action::Unmap(memory) => {
                self.forget_unrecorded(program);
                self.mapped.remove(memory);
            }
            Action::Submit => self.forget_unrecorded(program),
            // A pipeline that was bound in a way that is not modelled may write anything.
            Action::UnboundDispatch { unseen: Some(_) } => self.forget_all(),
            Action::Unsupported { effect: OpenEffect::Accesses, .. } => self.forget_all(),
            Action::HostWait { completed } => self.unfinished.retain(|write| {
                !completed.iter().any(|(queue, last)| *queue == write.queue && write.batch <= *last)
            }),
            Action::SemaphoreSignal(SemaphoreStep { semaphore, value: Some(value), .. }) => {
                let signaled = self.signaled.entry(*semaphore).or_default();
                *signaled = (*signaled).max(*value);
            }
            Action::SemaphoreWait(SemaphoreStep { semaphore, value: Some(value), .. }) => {
                // The host may write until it lets the batch go on.
                if self.signaled.get(semaphore).is_none_or(|signaled| signaled < value) {
                    self.forget_mapped();
                }
            }
            Action::UnboundDispatch { unseen: None }
            | Action::SemaphoreWait(_)
            | Action::SemaphoreSignal(_)
            | Action::Unsupported { .. }
            | Action::Flush(_)
            | Action::Invalidate(_) => {}
        }
    }

    /// Forgets what is mapped where its contents are not recorded: the host may have written it.
    fn forget_unrecorded(&mut self, program: &Program) {
        match program.contents() {
            ContentsMode::Recorded => {}
            ContentsMode::Omitted => self.forget_mapped(),
        }
    }

    fn forget_mapped(&mut self) {
        let mapped: Vec<MemorySpan> = self.mapped.values().copied().collect();
        mapped.iter().for_each(|span| self.forget(span));
    }

    fn note_unfinished(&mut self, write: UnfinishedWrite) {
        let is_same =
            |known: &&mut UnfinishedWrite| known.queue == write.queue && known.span == write.span;
        match self.unfinished.iter_mut().find(is_same) {
            Some(known) => known.batch = write.batch,
            None => self.unfinished.push(write),
        }
    }

    /// Forgets of a range what a dispatch may still write, or has written behind what was recorded.
    fn forget_unfinished(&mut self, recorded: &MemorySpan) {
        let of_memory = self.unfinished.iter().filter(|write| write.span.memory == recorded.memory);
        let parts = of_memory.map(|write| MemorySpan {
            memory: recorded.memory,
            start: write.span.start.max(recorded.start),
            end: write.span.end.min(recorded.end),
        });
        let parts: Vec<MemorySpan> = parts.filter(|part| part.start < part.end).collect();
        parts.iter().for_each(|part| self.forget(part));
    }

    /// Takes notice of what the layer read in front of a dispatch.
    pub(crate) fn take_readings(&mut self, program: &Program, dispatch: &Dispatch) {
        for reading in &dispatch.readings {
            match reading {
                Reading::Range { buffer, offset, bytes } => {
                    if let Some(span) = program.span(*buffer, *offset, bytes.len() as u64) {
                        self.set(&span, bytes.iter().copied().map(Some));
                    }
                }
                Reading::Texels { image, level, layer, bytes } => {
                    self.images.set_layer(program, *image, (*level, *layer), bytes);
                    self.drop_shared(program, *image);
                }
            }
        }
    }

    fn take_dispatch(
        &mut self,
        program: &Program,
        kernels: &KernelTable,
        (dispatch, (queue, batch)): (&Dispatch, (usize, u32)),
    ) {
        let kernel = kernels.of_pipeline(dispatch.pipeline).ok();
        let followed = kernel.filter(|kernel| {
            kernel.addresses == AddressedMemory::None && dispatch.unseen.is_none()
        });
        let Some(kernel) = followed else {
            // It may have written anything.
            self.forget_all();
            return;
        };
        for ((set, binding), used) in &kernel.uses {
            if used.written == Touch::Never {
                continue;
            }
            for (descriptor, offset) in dispatch.descriptors_at(*set, *binding) {
                let bound = descriptor.buffer_range(offset, &program.buffers);
                let span =
                    bound.and_then(|bound| program.span(bound.buffer, bound.offset, bound.size));
                if let Some(span) = span {
                    self.forget(&span);
                    self.note_unfinished(UnfinishedWrite { queue, batch, span });
                }
                if let BoundResource::View(BoundView { view: Some(view), .. }) = descriptor.resource
                {
                    let view = &program.image_views[view];
                    self.images.forget(program, view.image, &view.made.range);
                }
            }
        }
    }

    /// Keeps nothing of an image that may be written unseen, so that no copy carries it on.
    fn drop_shared(&mut self, program: &Program, image: usize) {
        if other_writer(program, image).is_some() {
            self.images.forget_image(image);
        }
    }

    fn forget_all(&mut self) {
        self.bytes.clear();
        self.images.forget_all();
    }

    /// The bytes of an image, level by level, layer by layer; none for those that are not known. In
    /// words why none is known.
    pub(crate) fn image_contents(
        &self,
        program: &Program,
        image: usize,
    ) -> Result<Vec<Option<u8>>, String> {
        match other_writer(program, image) {
            Some(reason) => Err(reason),
            None => self.images.contents(program, image),
        }
    }

    fn copy_to_image(
        &mut self,
        program: &Program,
        buffer: usize,
        image: usize,
        region: &BufferImageRegion,
    ) {
        let object = &program.images[image];
        let Some(size) = followed_texel(object) else { return };
        let (rows, own) = (object.rows(&region.texels), buffer_rows(object, region, size));
        for row in 0..rows.count() {
            let bytes = match program.span(buffer, own.start(row), own.bytes) {
                Some(span) if span.end - span.start == own.bytes => self.contents(&span),
                Some(_) | None => Vec::new(),
            };
            let bytes = bytes.into_iter().chain(std::iter::repeat(None));
            self.images.set(object, image, (rows.start(row), rows.width), bytes);
        }
    }

    fn copy_from_image(
        &mut self,
        program: &Program,
        image: usize,
        buffer: usize,
        region: &BufferImageRegion,
    ) {
        let object = &program.images[image];
        let Some(size) = followed_texel(object) else {
            let span = program.span(buffer, region.buffer_offset, WHOLE_SIZE);
            span.iter().for_each(|span| self.forget(span));
            return;
        };
        let (rows, own) = (object.rows(&region.texels), buffer_rows(object, region, size));
        for row in 0..rows.count() {
            let Some(span) = program.span(buffer, own.start(row), own.bytes) else { continue };
            let bytes = self.images.row(image, size, (rows.start(row), rows.width));
            self.set(&span, bytes.into_iter());
        }
    }
}

/// What may write the memory of an image in a way that is not followed: another resource that lies
/// in it, or the host where it has linear tiling.
fn other_writer(program: &Program, image: usize) -> Option<String> {
    let own = image_memory(program, image)?;
    let overlaps = |other: &MemorySpan| {
        other.memory == own.memory && other.start < own.end && own.start < other.end
    };
    let buffers = (0..program.buffers.len())
        .filter(|buffer| program.span(*buffer, 0, WHOLE_SIZE).is_some_and(|span| overlaps(&span)))
        .map(|buffer| format!("buffer {}", buffer + 1));
    let images = (0..program.images.len())
        .filter(|other| *other != image)
        .filter(|other| image_memory(program, *other).is_some_and(|span| overlaps(&span)))
        .map(|other| format!("image {}", other + 1));
    if let Some(other) = buffers.chain(images).next() {
        return Some(format!("{other} lies in the same memory"));
    }
    let is_linear = program.images[image].made.tiling == LINEAR;
    let is_mapped = program.operations.iter().any(
        |operation| matches!(operation.action, Action::Map(span) if span.memory == own.memory),
    );
    (is_linear && is_mapped)
        .then(|| "it has linear tiling, and the host mapped its memory".to_owned())
}

/// The memory that an image takes; all behind its beginning where its size is not known.
fn image_memory(program: &Program, image: usize) -> Option<MemorySpan> {
    let object = &program.images[image];
    let (memory, start) = object.memory?;
    let end = match object.made.memory_bytes {
        0 => u64::MAX,
        bytes => start.saturating_add(bytes),
    };
    Some(MemorySpan { memory, start, end })
}

/// Workgroups of dispatches by operation; those of indirect ones where the capture has what they read.
pub(crate) type KnownGroups = BTreeMap<usize, [u32; 3]>;

/// Workgroups of all dispatches of a program.
pub(crate) fn known_groups(program: &Program, kernels: &KernelTable) -> KnownGroups {
    let is_indirect = |dispatch: &Dispatch| matches!(dispatch.groups, Groups::Indirect { .. });
    let follows = program.dispatches().any(|(_, dispatch)| is_indirect(dispatch));
    let mut memory = KnownMemory::default();
    let mut known = BTreeMap::new();
    for (index, operation) in program.operations.iter().enumerate() {
        if let Action::Dispatch(dispatch) = &operation.action {
            if follows {
                memory.take_readings(program, dispatch);
            }
            known.extend(memory.groups(program, dispatch.groups).map(|groups| (index, groups)));
        }
        if follows {
            memory.take(program, kernels, operation);
        }
    }
    known
}
