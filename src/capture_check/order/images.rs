//! What is asked of images beside the order of accesses: their layouts, the order of changes of
//! layout, and that nothing else lies in their memory.
//!
//! Knows: the layout of each level and layer, from the barriers that change it (Vulkan specification,
//! "Image Layout Transitions"); which resources are bound to the same bytes ("Memory Aliasing").
//! Promises: a layout is wrong only if all levels and layers that a view sees, or a command names,
//! are in another one; if some are, that is undetermined. Behind a command that is not modelled
//! layouts are not known.
//! Does not cover: images with more than [`MOST_SUBRESOURCES`] layers of levels, by name; what the
//! host does with images of linear tiling, by name.

use super::OrderCheck;
use super::ordering::Access;
use super::overlap::{Overlap, Toucher};
use super::reach::image_spans;
use super::span::AccessSpan;
use super::state::{Gap, Ordered, RangeState};
use super::uses::UseKind;
use crate::row::CaptureCheckName;
use crate::words::{layout_in_words, operation_in_words};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::command::QueueTransfer;
use vkcert_capture::image::SubresourceRange;
use vkcert_capture::program::{
    Action, BarrierPart, BarrierScope, BoundResource, BoundView, Dispatch, NamedImage, Program,
    Subresources,
};
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;

/// Layers of levels of an image whose layouts are followed at most.
const MOST_SUBRESOURCES: usize = 4_096;

/// VK_IMAGE_LAYOUT_UNDEFINED.
const UNDEFINED: i32 = 0;

/// VK_IMAGE_TILING_LINEAR.
const LINEAR: i32 = 1;

/// VK_FORMAT_D16_UNORM to VK_FORMAT_D32_SFLOAT_S8_UINT.
const DEPTH_FORMATS: std::ops::RangeInclusive<i32> = 124..=130;

/// VK_FORMAT_D16_UNORM_S8_UINT to VK_FORMAT_D32_SFLOAT_S8_UINT.
const TWO_ASPECTS: std::ops::RangeInclusive<i32> = 128..=130;

/// VK_IMAGE_ASPECT_DEPTH_BIT and VK_IMAGE_ASPECT_STENCIL_BIT.
const DEPTH_AND_STENCIL: u32 = 0x6;

/// VK_IMAGE_LAYOUT_READ_ONLY_OPTIMAL and VK_IMAGE_LAYOUT_ATTACHMENT_OPTIMAL.
const READ_ONLY_OPTIMAL: i32 = 1_000_314_000;
const ATTACHMENT_OPTIMAL: i32 = 1_000_314_001;

/// Why the layout of something that is bound need not be wrong.
const SOME_BOUND: &str = "not all that is bound need be reached";

/// Whether a dispatch reaches an image.
enum ImageReach {
    /// It does not, whatever memory holds.
    None,
    Shown,
    /// That is not known, for this reason.
    Open(String),
}

/// What is known of images.
#[derive(Debug)]
pub(super) struct ImageState {
    /// Layouts by image, of its levels and layers, those of a level together; none where one is not
    /// known.
    layouts: BTreeMap<usize, Vec<Option<i32>>>,
    /// Images of which some layouts are not known at all.
    unfollowed: BTreeSet<usize>,
    /// By image: another resource in its memory.
    shared: BTreeMap<usize, String>,
    told: BTreeSet<(ImageFault, usize, usize)>,
}

/// What is told of an image once: of the pipeline, or at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ImageFault {
    Layout,
    /// A layout that is wrong only if all that is bound is reached.
    OpenLayout,
    Shared,
    Linear,
    Unfollowed,
}

impl ImageState {
    pub(super) fn new(program: &Program) -> Self {
        let (mut layouts, mut unfollowed) = (BTreeMap::new(), BTreeSet::new());
        // With it the host changes layouts by calls that are not recorded.
        let mut extensions = program.devices.iter().flat_map(|device| &device.extensions);
        let by_host = extensions.any(|extension| extension == "VK_EXT_host_image_copy");
        let first = |layout: i32| (!by_host).then_some(layout);
        for (index, image) in program.images.iter().enumerate() {
            let count = image.made.levels as usize * image.made.layers as usize;
            if count <= MOST_SUBRESOURCES {
                layouts.insert(index, vec![first(image.made.initial_layout); count]);
            } else {
                unfollowed.insert(index);
            }
        }
        Self { layouts, unfollowed, shared: shared_memory(program), told: BTreeSet::new() }
    }

    /// What follows may be in any layout.
    pub(super) fn forget_layouts(&mut self) {
        self.layouts.values_mut().for_each(|layouts| layouts.fill(None));
    }

    /// The layouts of levels and layers.
    fn of_part<'a>(
        &'a mut self,
        program: &Program,
        image: usize,
        part: &Subresources,
    ) -> Vec<&'a mut Option<i32>> {
        let layers = program.images[image].made.layers;
        let wanted = |index: usize| {
            let (level, layer) = (index as u32 / layers, index as u32 % layers);
            part.levels.contains(&level) && part.layers.contains(&layer)
        };
        let layouts = self.layouts.get_mut(&image).map_or(&mut [][..], Vec::as_mut_slice);
        layouts
            .iter_mut()
            .enumerate()
            .filter(|(index, _)| wanted(*index))
            .map(|(_, own)| own)
            .collect()
    }
}

/// Images that lie in memory together with another resource, which is named.
fn shared_memory(program: &Program) -> BTreeMap<usize, String> {
    let buffers = program.buffers.iter().enumerate().filter_map(|(index, buffer)| {
        let (memory, start) = buffer.memory?;
        let end = start.saturating_add(buffer.size);
        Some((memory, start, end, None, format!("buffer {}", index + 1)))
    });
    let images = program.images.iter().enumerate().filter_map(|(index, image)| {
        let (memory, start) = image.memory?;
        let end = start.saturating_add(image.made.memory_bytes);
        Some((memory, start, end, Some(index), format!("image {}", index + 1)))
    });
    let mut bound: Vec<_> = buffers.chain(images).collect();
    bound.sort();
    let mut shared = BTreeMap::new();
    // The resource that reaches farthest so far, and the image that does.
    let mut farthest: [Option<usize>; 2] = [None; 2];
    for (position, (memory, start, end, image, name)) in bound.iter().enumerate() {
        for other in farthest.into_iter().flatten().filter(|_| start < end) {
            let (other_memory, _, other_end, other_image, other_name) = &bound[other];
            if other_memory == memory && start < other_end {
                image.map(|image| shared.entry(image).or_insert_with(|| other_name.clone()));
                other_image.map(|image| shared.entry(image).or_insert_with(|| name.clone()));
            }
        }
        for (slot, counts) in [(0, true), (1, image.is_some())] {
            let is_farther = farthest[slot]
                .is_none_or(|other: usize| bound[other].0 != *memory || bound[other].2 < *end);
            if counts && is_farther {
                farthest[slot] = Some(position);
            }
        }
    }
    shared
}

impl OrderCheck<'_> {
    /// Tells of an image once, whatever uses it.
    fn tell_image(&mut self, fault: ImageFault, index: usize, image: usize, words: &str) {
        if self.images.told.insert((fault, image, 0)) {
            let operation = operation_in_words(self.program, index);
            let message = format!("{operation} uses image {}: {words}", image + 1);
            self.report.add_to_all(CHECK, CheckStatus::Undetermined, message, &[index]);
        }
    }

    /// What of an image is not followed.
    fn tell_image_limits(&mut self, index: usize, image: usize) {
        let object = &self.program.images[image];
        if let Some(other) = self.images.shared.get(&image).cloned() {
            let words = format!(
                "{other} lies in the same memory, and accesses of the one are not compared with \
                 those of the other"
            );
            self.tell_image(ImageFault::Shared, index, image, &words);
        }
        if object.made.memory_bytes == 0 && object.memory.is_some() {
            let words = "how many bytes of memory it takes is not known, and another resource may \
                         lie in them";
            self.tell_image(ImageFault::Shared, index, image, words);
        }
        let mapped = object.memory.is_some_and(|(memory, _)| self.host.was_mapped(memory));
        if object.made.tiling == LINEAR && mapped {
            let words = "it has linear tiling and lies in memory that the host mapped, and what the \
                         host reads and writes of it is not followed";
            self.tell_image(ImageFault::Linear, index, image, words);
        }
        if self.images.unfollowed.contains(&image) {
            let words = "it has so many levels and layers that their layouts are not followed";
            self.tell_image(ImageFault::Unfollowed, index, image, words);
        }
    }

    /// Whether the images of a dispatch are in the layouts that their descriptors name.
    pub(super) fn check_bound_layouts(&mut self, index: usize, dispatch: &Dispatch) {
        if dispatch.unseen.is_some() || self.program.images.is_empty() {
            return;
        }
        let kernels = self.kernels;
        let Ok(kernel) = kernels.of_pipeline(dispatch.pipeline) else { return };
        for ((set, binding), used) in &kernel.uses {
            for (descriptor, _) in dispatch.descriptors_at(*set, *binding) {
                let BoundResource::View(BoundView { view: Some(view), layout, .. }) =
                    descriptor.resource
                else {
                    continue;
                };
                let view = &self.program.image_views[view];
                let part = self.program.images[view.image].subresources(&view.made.range);
                let named = NamedImage { image: view.image, layout };
                let place = format!("binding {set}.{binding} names");
                self.tell_image_limits(index, view.image);
                let spans = image_spans(self.program, view.image, &view.made.range);
                let doubt = match self.reach_of(index, &spans) {
                    ImageReach::None => continue,
                    ImageReach::Shown if used.several => Some(SOME_BOUND.to_owned()),
                    ImageReach::Shown => None,
                    ImageReach::Open(reason) => Some(reason),
                };
                let key = (view.image, dispatch.pipeline + 1);
                self.check_layout(index, key, named, &part, (&place, doubt));
            }
        }
    }

    /// Whether a dispatch reaches texels of an image: only then its layout counts (Vulkan
    /// specification, VkDescriptorImageInfo: when the image is accessed through the descriptor).
    fn reach_of(&mut self, operation: usize, spans: &[AccessSpan]) -> ImageReach {
        let mut reach = ImageReach::None;
        for span in spans {
            for kind in [UseKind::Read, UseKind::Write] {
                match self.touches.overlap_with_all(span, Toucher { operation, kind }) {
                    Overlap::Shown(_) => return ImageReach::Shown,
                    Overlap::Open(reason) => reach = ImageReach::Open(reason),
                    Overlap::Apart | Overlap::Atomic => {}
                }
            }
        }
        reach
    }

    /// Whether the images of a command are in the layouts that it names.
    pub(super) fn check_named_layouts(&mut self, index: usize, action: &Action) {
        let program = self.program;
        let mut named: Vec<(NamedImage, Subresources)> = Vec::new();
        let part_of = |image: &NamedImage, texels| {
            (*image, program.images[image.image].subresources_of(texels))
        };
        match action {
            Action::CopyToImage { to, regions, .. } => {
                named.extend(regions.iter().map(|region| part_of(to, &region.texels)));
            }
            Action::CopyFromImage { from, regions, .. } => {
                named.extend(regions.iter().map(|region| part_of(from, &region.texels)));
            }
            Action::CopyImage { from, to, regions } => {
                named.extend(regions.iter().map(|region| part_of(from, &region.from)));
                named.extend(regions.iter().map(|region| part_of(to, &region.to)));
            }
            Action::ClearImage { to, ranges, .. } => {
                let object = &program.images[to.image];
                named.extend(ranges.iter().map(|range| (*to, object.subresources(range))));
            }
            // What these name is asked for elsewhere, or they name no layout.
            Action::Contents { .. }
            | Action::Copy { .. }
            | Action::Fill { .. }
            | Action::Update { .. }
            | Action::ImageContents { .. }
            | Action::UnreadImage { .. }
            | Action::Barrier(_)
            | Action::ImageCopy { .. }
            | Action::Dispatch(_)
            | Action::UnboundDispatch { .. }
            | Action::Unsupported { .. }
            | Action::Map(_)
            | Action::Unmap(_)
            | Action::Submit
            | Action::SemaphoreWait(_)
            | Action::SemaphoreSignal(_)
            | Action::HostWait { .. }
            | Action::Flush(_)
            | Action::Invalidate(_) => {}
        }
        for (image, part) in named {
            self.tell_image_limits(index, image.image);
            self.check_layout(index, (image.image, 0), image, &part, ("it names", None));
        }
    }

    fn check_layout(
        &mut self,
        index: usize,
        (image, pipeline): (usize, usize),
        named: NamedImage,
        part: &Subresources,
        (place, doubt): (&str, Option<String>),
    ) {
        let layouts: Vec<Option<i32>> =
            self.images.of_part(self.program, image, part).iter().map(|layout| **layout).collect();
        let mut others = layouts.iter().flatten().filter(|layout| **layout != named.layout);
        let Some(other) = others.next() else { return };
        // A command reaches all that it names.
        let is_reached = pipeline == 0 || others.count() + 1 == layouts.len();
        let mut message = format!(
            "{}: {place} image {} in the layout {}, and it is in {} (Vulkan specification, \"Image \
             Layouts\")",
            operation_in_words(self.program, index),
            image + 1,
            layout_in_words(named.layout),
            layout_in_words(*other),
        );
        let stands_for_others =
            |layout: i32| layout == READ_ONLY_OPTIMAL || layout == ATTACHMENT_OPTIMAL;
        let doubt = if DEPTH_FORMATS.contains(&self.program.images[image].made.format) {
            Some("some layouts of depth and stencil stand for others".to_owned())
        } else if stands_for_others(named.layout) || stands_for_others(*other) {
            Some("a layout for any aspect can stand for that of colours".to_owned())
        } else {
            doubt.or_else(|| (!is_reached).then(|| SOME_BOUND.to_owned()))
        };
        // What is undetermined hides no fault that is sure.
        let fault = if doubt.is_none() { ImageFault::Layout } else { ImageFault::OpenLayout };
        if !self.images.told.insert((fault, image, pipeline)) {
            return;
        }
        let status = match doubt {
            None => CheckStatus::Refuted,
            Some(reason) => {
                message.push_str(&format!("; undetermined, because {reason}"));
                CheckStatus::Undetermined
            }
        };
        self.report.add(CHECK, status, message, &[index]);
    }

    /// Whether what was done to images before a barrier is ordered before the change of layout that
    /// it makes.
    pub(super) fn check_transitions(
        &mut self,
        index: usize,
        (queue, batch): (usize, u32),
        parts: &[BarrierPart],
    ) {
        for part in parts {
            self.check_old_layout(index, part);
            let Some((image, range)) = changed_part(part) else { continue };
            let access =
                Access { operation: index, queue, batch, stage: 0, access: 0, doubt: None };
            for span in image_spans(self.program, image, &range) {
                let mut unordered = Vec::new();
                for (range, state) in self.ranges.of_span(&span, self.log.len()) {
                    state.catch_up(&self.log, &range, self.program);
                    let own = state.unordered_before(&access, part, parts, &range, self.program);
                    unordered.extend(
                        own.into_iter().map(|(kind, earlier, gap)| (range, kind, earlier, gap)),
                    );
                }
                for (range, kind, earlier, gap) in unordered {
                    let toucher = Toucher { operation: earlier.access.operation, kind };
                    let overlap = self.touches.overlap_with_all(&range, toucher);
                    self.tell_transition(index, &earlier, (kind, gap), overlap, &range);
                }
            }
        }
    }

    fn tell_transition(
        &mut self,
        index: usize,
        earlier: &Ordered,
        (kind, gap): (UseKind, Gap),
        overlap: Overlap,
        range: &AccessSpan,
    ) {
        let unknown = earlier.unknown.as_ref();
        let unknown = unknown.map(|name| format!("{name} stands between them, not modelled"));
        let earlier = earlier.access;
        let reason = match overlap {
            // What changes a layout touches all of the range.
            _ if earlier.is_transition() => unknown,
            Overlap::Apart | Overlap::Atomic => return,
            Overlap::Open(reason) => Some(reason),
            Overlap::Shown(_) => unknown.or(earlier.doubt.map(str::to_owned)),
        };
        let pair = (CHECK, earlier.operation, index);
        let is_new = match reason {
            None => self.told.insert(pair),
            Some(_) => !self.told.contains(&pair) && self.told_open.insert(pair),
        };
        if !is_new {
            return;
        }
        let verb = match (kind, earlier.is_transition()) {
            (_, true) => "brings into another layout",
            (UseKind::Read, false) => "reads",
            (UseKind::Write, false) => "writes",
        };
        let mut message = format!(
            "{} changes the layout of {}, which {} {verb}, and {}: its first scope is to hold that \
             access (Vulkan specification, \"Image Layout Transitions\")",
            operation_in_words(self.program, index),
            range.in_words(self.program),
            operation_in_words(self.program, earlier.operation),
            gap.in_words(),
        );
        let status = match reason {
            None => CheckStatus::Refuted,
            Some(reason) => {
                message.push_str(&format!("; undetermined, because {reason}"));
                CheckStatus::Undetermined
            }
        };
        self.report.add(CHECK, status, message, &[earlier.operation, index]);
    }

    fn check_old_layout(&mut self, index: usize, part: &BarrierPart) {
        let BarrierScope::ImagePart { image, range, layouts, transfer } = part.scope else {
            return;
        };
        let [before, behind] = layouts;
        if before == UNDEFINED || transfer != QueueTransfer::None {
            return;
        }
        let doubt = (before == behind).then(|| SAME_LAYOUTS.to_owned());
        let part = self.program.images[image].subresources(&range);
        let named = NamedImage { image, layout: before };
        self.check_layout(index, (image, 0), named, &part, ("it takes", doubt));
    }

    /// Takes notice of changes of layout, once their barrier has ordered what is before it.
    pub(super) fn take_transitions(
        &mut self,
        index: usize,
        (queue, batch): (usize, u32),
        parts: &[BarrierPart],
    ) {
        for part in parts {
            self.take_new_layout(part);
            let Some((image, range)) = changed_part(part) else { continue };
            let access =
                Access { operation: index, queue, batch, stage: 0, access: 0, doubt: None };
            for span in image_spans(self.program, image, &range) {
                for (range, state) in self.ranges.of_span(&span, self.log.len()) {
                    state.catch_up(&self.log, &range, self.program);
                    state.take_transition(access, part);
                }
            }
        }
    }

    fn take_new_layout(&mut self, part: &BarrierPart) {
        let BarrierScope::ImagePart { image, range, layouts: [before, behind], transfer } =
            part.scope
        else {
            return;
        };
        // It changes none: with synchronization2 both are ignored.
        if before == behind && transfer == QueueTransfer::None {
            return;
        }
        let object = &self.program.images[image];
        let is_known = transfer == QueueTransfer::None
            && !(TWO_ASPECTS.contains(&object.made.format) && range.aspects != DEPTH_AND_STENCIL);
        let part = object.subresources(&range);
        for layout in self.images.of_part(self.program, image, &part) {
            *layout = is_known.then_some(behind);
        }
    }
}

/// Why a barrier whose layouts are not that of the image need not be wrong.
const SAME_LAYOUTS: &str = "it names one layout twice, which is ignored where the feature \
                            synchronization2 is enabled, and that is not recorded";

/// The part of an image whose layout a barrier changes. Where the image passes between queue
/// families, two barriers name the change, which is made once: what they order is not followed.
fn changed_part(part: &BarrierPart) -> Option<(usize, SubresourceRange)> {
    match part.scope {
        BarrierScope::ImagePart { image, range, layouts: [before, behind], transfer } => {
            let is_changed = before != behind && transfer == QueueTransfer::None;
            is_changed.then_some((image, range))
        }
        BarrierScope::Execution
        | BarrierScope::All
        | BarrierScope::Buffer { .. }
        | BarrierScope::Image => None,
    }
}

impl RangeState {
    /// What stands before a barrier and is not in the first scope of the part that changes a layout.
    fn unordered_before(
        &self,
        transition: &Access,
        part: &BarrierPart,
        parts: &[BarrierPart],
        span: &AccessSpan,
        program: &Program,
    ) -> Vec<(UseKind, Ordered, Gap)> {
        let mut unordered = Vec::new();
        for write in self.writes() {
            let gap = write.gap_before(transition.queue, part, parts, span, program);
            unordered.extend(gap.map(|gap| (UseKind::Write, write.ordered.clone(), gap)));
        }
        for read in &self.reads {
            if !read.is_in_scope_of(transition.queue, part) {
                unordered.push((UseKind::Read, read.clone(), Gap::Execution));
            }
        }
        unordered
    }
}
