//! What an operation reads and writes.

use super::scopes::{
    CLEAR_STAGE, COMPUTE_STAGE, COPY_STAGE, INDIRECT_READ, INDIRECT_STAGE, SAMPLED_READ,
    STORAGE_READ, STORAGE_WRITE, TRANSFER_READ, TRANSFER_WRITE, UNIFORM_READ,
};
use crate::contents::INDIRECT_BYTES;
use crate::kernel::{KernelTable, Touch};
use vkcert_capture::program::{Action, Dispatch, Groups, MemorySpan, Program, WHOLE_SIZE};
use vkcert_model::procedure::DescriptorClass;

/// One range that an operation reads or writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RangeUse {
    pub(super) span: MemorySpan,
    pub(super) stage: u64,
    pub(super) access: u64,
    pub(super) kind: UseKind,
    pub(super) place: UsePlace,
    /// Why it may not touch the range, in words.
    pub(super) doubt: Option<&'static str>,
}

/// Whether a use reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UseKind {
    Read,
    Write,
}

/// Where an operation names the range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsePlace {
    Binding(u32, u32),
    Indirect,
    Source,
    Target,
}

impl UsePlace {
    pub(super) fn in_words(self) -> String {
        match self {
            UsePlace::Binding(set, binding) => format!("binding {set}.{binding}"),
            UsePlace::Indirect => "its numbers of workgroups".to_owned(),
            UsePlace::Source => "its source".to_owned(),
            UsePlace::Target => "its target".to_owned(),
        }
    }
}

/// All that an operation reads and writes in memory; a dispatch with its workgroups, where they are
/// known.
pub(super) fn uses_of(
    program: &Program,
    kernels: &KernelTable,
    action: &Action,
    groups: Option<[u32; 3]>,
) -> Vec<RangeUse> {
    match action {
        Action::Dispatch(dispatch) => dispatch_uses(program, kernels, dispatch, groups),
        Action::Copy { from, to, regions } => {
            let uses = regions.iter().flat_map(|region| {
                let read = program.span(*from, region.from, region.size);
                let written = program.span(*to, region.to, region.size);
                [read.map(copy_read), written.map(|span| transfer_write(span, COPY_STAGE))]
            });
            uses.flatten().collect()
        }
        Action::Fill { buffer, offset, size, .. } => {
            let span = program.span(*buffer, *offset, *size);
            span.map(|span| transfer_write(span, CLEAR_STAGE)).into_iter().collect()
        }
        Action::Update { buffer, offset, bytes } => {
            let span = program.span(*buffer, *offset, bytes.len() as u64);
            span.map(|span| transfer_write(span, CLEAR_STAGE)).into_iter().collect()
        }
        Action::ImageCopy { read, written, .. } => {
            let doubt = Some("a copy of an image need not touch all of its buffer");
            let whole = |buffer: &Option<usize>| {
                buffer.and_then(|buffer| program.span(buffer, 0, WHOLE_SIZE))
            };
            let read = whole(read).map(|span| RangeUse { doubt, ..copy_read(span) });
            let written =
                whole(written).map(|span| RangeUse { doubt, ..transfer_write(span, COPY_STAGE) });
            read.into_iter().chain(written).collect()
        }
        Action::UnboundDispatch { .. }
        | Action::Submit
        | Action::SemaphoreWait(_)
        | Action::SemaphoreSignal(_)
        | Action::Barrier(_)
        | Action::Unsupported { .. }
        | Action::HostWait { .. }
        | Action::Map(_)
        | Action::Unmap(_)
        | Action::Flush(_)
        | Action::Invalidate(_)
        | Action::Contents { .. } => Vec::new(),
    }
}

fn copy_read(span: MemorySpan) -> RangeUse {
    RangeUse {
        span,
        stage: COPY_STAGE,
        access: TRANSFER_READ,
        kind: UseKind::Read,
        place: UsePlace::Source,
        doubt: None,
    }
}

fn transfer_write(span: MemorySpan, stage: u64) -> RangeUse {
    RangeUse {
        span,
        stage,
        access: TRANSFER_WRITE,
        kind: UseKind::Write,
        place: UsePlace::Target,
        doubt: None,
    }
}

fn dispatch_uses(
    program: &Program,
    kernels: &KernelTable,
    dispatch: &Dispatch,
    groups: Option<[u32; 3]>,
) -> Vec<RangeUse> {
    let mut uses = Vec::new();
    if let Groups::Indirect { buffer, offset } = dispatch.groups
        && let Some(span) = program.span(buffer, offset, INDIRECT_BYTES)
    {
        uses.push(RangeUse {
            span,
            stage: INDIRECT_STAGE,
            access: INDIRECT_READ,
            kind: UseKind::Read,
            place: UsePlace::Indirect,
            doubt: None,
        });
    }
    if dispatch.unseen.is_some() {
        return uses;
    }
    let Ok(kernel) = kernels.of_pipeline(dispatch.pipeline) else { return uses };
    if groups.is_some_and(|groups| groups.contains(&0)) {
        // No invocation runs.
        return uses;
    }
    for ((set, binding), used) in &kernel.uses {
        let Some((read_access, write_access)) = accesses_of(used.class) else { continue };
        let doubt = used.several.then_some("it is one of several descriptors of its binding");
        for (descriptor, dynamic_offset) in dispatch.descriptors_at(*set, *binding) {
            let bound = descriptor.buffer_range(dynamic_offset, &program.buffers);
            let span = bound.and_then(|bound| program.span(bound.buffer, bound.offset, bound.size));
            let Some(span) = span else { continue };
            let range_use = |kind: UseKind, access: u64| RangeUse {
                span,
                stage: COMPUTE_STAGE,
                access,
                kind,
                place: UsePlace::Binding(*set, *binding),
                doubt,
            };
            if used.read == Touch::Possible {
                uses.push(range_use(UseKind::Read, read_access));
            }
            if used.written == Touch::Possible {
                uses.push(range_use(UseKind::Write, write_access));
            }
        }
    }
    uses
}

/// The accesses by which a kernel reads and writes what is bound; none of what is no buffer.
fn accesses_of(class: DescriptorClass) -> Option<(u64, u64)> {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::StorageDynamic
        | DescriptorClass::StorageTexel => Some((STORAGE_READ, STORAGE_WRITE)),
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => {
            Some((UNIFORM_READ, STORAGE_WRITE))
        }
        DescriptorClass::UniformTexel => Some((SAMPLED_READ, STORAGE_WRITE)),
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined => None,
    }
}
