//! What an operation reads and writes.

use super::reach::image_spans;
use super::scopes::{
    CLEAR_STAGE, COMPUTE_STAGE, COPY_STAGE, INDIRECT_READ, INDIRECT_STAGE, SAMPLED_READ,
    STORAGE_READ, STORAGE_WRITE, TRANSFER_READ, TRANSFER_WRITE, UNIFORM_READ,
};
use super::span::{AccessSpan, SpanPlace};
use crate::contents::INDIRECT_BYTES;
use crate::kernel::{KernelTable, Touch};
use crate::texels::{buffer_rows, texel_bytes};
use vkcert_capture::image::{BufferImageRegion, TexelBox};
use vkcert_capture::program::{
    Action, BoundDescriptor, BoundResource, BoundView, Dispatch, Groups, ImageObject, Program,
    WHOLE_SIZE,
};
use vkcert_model::procedure::DescriptorClass;

/// One range that an operation reads or writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct RangeUse {
    pub(super) span: AccessSpan,
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
                let written = written.map(|span| transfer_write(span.into(), COPY_STAGE));
                [read.map(|span| copy_read(span.into())), written]
            });
            uses.flatten().collect()
        }
        Action::Fill { buffer, offset, size, .. } => {
            let span = program.span(*buffer, *offset, *size);
            span.map(|span| transfer_write(span.into(), CLEAR_STAGE)).into_iter().collect()
        }
        Action::Update { buffer, offset, bytes } => {
            let span = program.span(*buffer, *offset, bytes.len() as u64);
            span.map(|span| transfer_write(span.into(), CLEAR_STAGE)).into_iter().collect()
        }
        Action::ImageCopy { read, written, .. } => {
            let doubt = Some("a copy of an image need not touch all of its buffer");
            let whole = |buffer: &Option<usize>| {
                buffer.and_then(|buffer| program.span(buffer, 0, WHOLE_SIZE))
            };
            let read = whole(read).map(|span| RangeUse { doubt, ..copy_read(span.into()) });
            let written = whole(written)
                .map(|span| RangeUse { doubt, ..transfer_write(span.into(), COPY_STAGE) });
            read.into_iter().chain(written).collect()
        }
        Action::CopyToImage { from, to, regions } => {
            let regions = regions.iter().flat_map(|region| {
                let read = buffer_spans(program, *from, (to.image, region));
                let written = box_uses(program, to.image, &region.texels);
                let read = read.into_iter().map(copy_read_of);
                read.chain(written.map(|used| write_of(used, COPY_STAGE)))
            });
            regions.collect()
        }
        Action::CopyFromImage { from, to, regions } => {
            let regions = regions.iter().flat_map(|region| {
                let written = buffer_spans(program, *to, (from.image, region));
                let read = box_uses(program, from.image, &region.texels).map(copy_read_of);
                read.chain(written.into_iter().map(|used| write_of(used, COPY_STAGE)))
            });
            regions.collect()
        }
        Action::CopyImage { from, to, regions } => {
            let regions = regions.iter().flat_map(|region| {
                let read = box_uses(program, from.image, &region.from).map(copy_read_of);
                let written = box_uses(program, to.image, &region.to);
                read.chain(written.map(|used| write_of(used, COPY_STAGE)))
            });
            regions.collect()
        }
        Action::ClearImage { to, ranges, .. } => {
            let spans = ranges.iter().flat_map(|range| image_spans(program, to.image, range));
            spans.map(|span| transfer_write(span, CLEAR_STAGE)).collect()
        }
        Action::ImageContents { .. }
        | Action::UnreadImage { .. }
        | Action::UnboundDispatch { .. }
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

/// A span that a command names, and why it may not touch all of it.
type NamedSpan = (AccessSpan, Option<&'static str>);

fn copy_read_of((span, doubt): NamedSpan) -> RangeUse {
    RangeUse { doubt, ..copy_read(span) }
}

fn write_of((span, doubt): NamedSpan, stage: u64) -> RangeUse {
    RangeUse { doubt, ..transfer_write(span, stage) }
}

/// Rows of a box that are told apart at most.
const MOST_ROWS: u64 = 4_096;

const ONE_ASPECT: &str = "it need not touch the same aspect of the image";
const MANY_ROWS: &str = "it need not touch all of the rows between the first and the last";

/// VK_IMAGE_ASPECT_COLOR_BIT.
const COLOR: u32 = 0x1;

/// The texels of a box; all of a level and layer where it is whole, else its rows.
fn box_uses(program: &Program, image: usize, texels: &TexelBox) -> impl Iterator<Item = NamedSpan> {
    let object = &program.images[image];
    let place = SpanPlace::Image(image);
    // Formats that are known have one aspect.
    let is_whole = texels.aspects == COLOR || texel_bytes(object).is_some();
    let aspect_doubt = (!is_whole).then_some(ONE_ASPECT);
    let rows = object.rows(texels);
    let span = |row: u64| {
        let start = rows.start(row);
        AccessSpan { place, start, end: start + rows.width }
    };
    let spans: Vec<NamedSpan> = if object.is_whole(texels) {
        let spans = object.spans(&object.subresources_of(texels)).into_iter();
        spans.map(|(start, end)| (AccessSpan { place, start, end }, aspect_doubt)).collect()
    } else if rows.count() <= MOST_ROWS {
        (0..rows.count()).map(|row| (span(row), aspect_doubt)).collect()
    } else {
        let (start, end) = (rows.start(0), span(rows.count() - 1).end);
        vec![(AccessSpan { place, start, end }, Some(MANY_ROWS))]
    };
    spans.into_iter()
}

/// The bytes of a buffer that a copy between it and an image names.
fn buffer_spans(
    program: &Program,
    buffer: usize,
    (image, region): (usize, &BufferImageRegion),
) -> Vec<NamedSpan> {
    let object = &program.images[image];
    let Some(texel_bytes) = texel_bytes(object) else {
        let whole = program.span(buffer, region.buffer_offset, WHOLE_SIZE);
        let doubt = Some("how many bytes its texels take is not known");
        return whole.into_iter().map(|span| (span.into(), doubt)).collect();
    };
    let rows = buffer_rows(object, region, texel_bytes);
    let count = object.rows(&region.texels).count();
    let (first, last) = (rows.start(0), rows.start(count.saturating_sub(1)));
    let end = last.saturating_add(rows.bytes);
    let spans = if rows.is_tight() || count > MOST_ROWS {
        vec![(first, end)]
    } else {
        (0..count)
            .map(|row| (rows.start(row), rows.start(row).saturating_add(rows.bytes)))
            .collect()
    };
    let doubt = (!rows.is_tight() && count > MOST_ROWS).then_some(MANY_ROWS);
    let spans = spans.into_iter().filter(|_| count > 0);
    let spans = spans.filter_map(|(start, end)| program.span(buffer, start, end - start));
    spans.map(|span| (span.into(), doubt)).collect()
}

fn copy_read(span: AccessSpan) -> RangeUse {
    RangeUse {
        span,
        stage: COPY_STAGE,
        access: TRANSFER_READ,
        kind: UseKind::Read,
        place: UsePlace::Source,
        doubt: None,
    }
}

fn transfer_write(span: AccessSpan, stage: u64) -> RangeUse {
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
            span: span.into(),
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
        let several = used.several.then_some("it is one of several descriptors of its binding");
        for (descriptor, dynamic_offset) in dispatch.descriptors_at(*set, *binding) {
            for (span, doubt) in bound_spans(program, descriptor, dynamic_offset) {
                let range_use = |kind: UseKind, access: u64| RangeUse {
                    span,
                    stage: COMPUTE_STAGE,
                    access,
                    kind,
                    place: UsePlace::Binding(*set, *binding),
                    doubt: several.or(doubt),
                };
                if used.read == Touch::Possible {
                    uses.push(range_use(UseKind::Read, read_access));
                }
                if used.written == Touch::Possible {
                    uses.push(range_use(UseKind::Write, write_access));
                }
            }
        }
    }
    uses
}

/// What a descriptor leads to.
fn bound_spans(
    program: &Program,
    descriptor: &BoundDescriptor,
    dynamic_offset: u32,
) -> Vec<NamedSpan> {
    if let BoundResource::View(BoundView { view: Some(view), .. }) = descriptor.resource {
        let view = &program.image_views[view];
        let range = &view.made.range;
        let is_whole = range.aspects == COLOR || texel_bytes(&program.images[view.image]).is_some();
        let doubt = if !is_whole {
            Some(ONE_ASPECT)
        } else {
            is_sliced(&program.images[view.image], view.made.view_type).then_some(SLICES)
        };
        let spans = image_spans(program, view.image, range).into_iter();
        return spans.map(|span| (span, doubt)).collect();
    }
    let bound = descriptor.buffer_range(dynamic_offset, &program.buffers);
    let span = bound.and_then(|bound| program.span(bound.buffer, bound.offset, bound.size));
    span.into_iter().map(|span| (span.into(), None)).collect()
}

const SLICES: &str = "its view sees slices of a volume, which are not told apart";

/// VK_IMAGE_VIEW_TYPE_3D.
const VIEW_3D: i32 = 2;

/// Whether a view sees slices of a volume as layers.
fn is_sliced(image: &ImageObject, view_type: i32) -> bool {
    image.is_volume() && view_type != VIEW_3D
}

/// An image that is bound, and how its texels are numbered where a kernel names them.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundTexels {
    /// Index of the image.
    pub(super) image: usize,
    /// Texels of the view's first level in x and y, slices or layers; and the number of the first
    /// texel. None where the view numbers them otherwise.
    pub(super) texels: Option<([u32; 3], u64)>,
}

/// The image of a descriptor.
pub(super) fn bound_image(program: &Program, descriptor: &BoundDescriptor) -> Option<BoundTexels> {
    let BoundResource::View(BoundView { view: Some(view), .. }) = descriptor.resource else {
        return None;
    };
    let view = &program.image_views[view];
    let object = &program.images[view.image];
    let part = object.subresources(&view.made.range);
    let level = part.levels.start;
    let [width, height, depth] = object.level_extent(level);
    let slices = if object.is_volume() { depth } else { part.layers.len() as u32 };
    let first = object.first_texel(level, part.layers.start);
    let is_plain = !is_sliced(object, view.made.view_type)
        && view.made.range.aspects == COLOR
        && object.made.samples == 1
        && texel_bytes(object).is_some();
    let texels = is_plain.then_some(([width, height, slices], first));
    Some(BoundTexels { image: view.image, texels })
}

/// The accesses by which a kernel reads and writes what is bound; none of what has no contents.
fn accesses_of(class: DescriptorClass) -> Option<(u64, u64)> {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::StorageDynamic
        | DescriptorClass::StorageTexel
        | DescriptorClass::StorageImage => Some((STORAGE_READ, STORAGE_WRITE)),
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => {
            Some((UNIFORM_READ, STORAGE_WRITE))
        }
        DescriptorClass::UniformTexel
        | DescriptorClass::SampledImage
        | DescriptorClass::Combined => Some((SAMPLED_READ, STORAGE_WRITE)),
        DescriptorClass::Sampler => None,
    }
}
