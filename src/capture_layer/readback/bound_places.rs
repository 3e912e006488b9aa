//! What a dispatch is given and can be read in front of it.
//!
//! Promises: nothing is read that need not be valid (bindings that the kernel does not use, that need
//! not be bound wholly, that may be written after they are bound), nor an image whose layout is not
//! sure; each is named with its reason.

use super::objects::{Descriptors, ImageState, Objects, SetLayoutState, is_dynamic};
use super::recorded::{BoundSet, CommandBuffer};
use std::ops::Range;
use vkcert_capture::event::{Descriptor, ReadDescriptor};
use vkcert_capture::format::image_format;
use vkcert_capture::value::Handle;

/// VK_WHOLE_SIZE.
const WHOLE_SIZE: u64 = u64::MAX;

/// VK_IMAGE_LAYOUT_GENERAL and VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL.
pub(super) const GENERAL: i32 = 1;
const SHADER_READ_ONLY: i32 = 5;

/// Flags of bindings: UPDATE_AFTER_BIND, UPDATE_UNUSED_WHILE_PENDING and PARTIALLY_BOUND.
const UNSURE_FLAGS: u32 = 1 | 2 | 4;

/// A range of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoundRange {
    pub(super) buffer: Handle,
    pub(super) offset: u64,
    pub(super) size: u64,
}

/// Layers of levels of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoundTexels {
    pub(super) image: Handle,
    pub(super) levels: Range<u32>,
    pub(super) layers: Range<u32>,
    /// VkImageLayout that they are in.
    pub(super) layout: i32,
    /// Texels of the largest level.
    pub(super) extent: [u32; 3],
    pub(super) texel_bytes: u64,
}

/// What a dispatch is given at its descriptors.
#[derive(Default)]
pub(super) struct BoundPlaces {
    pub(super) ranges: Vec<(ReadDescriptor, BoundRange)>,
    pub(super) texels: Vec<(ReadDescriptor, BoundTexels)>,
    pub(super) unread: Vec<String>,
}

impl BoundTexels {
    /// Texels of a level.
    pub(super) fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|axis| axis.checked_shr(level).unwrap_or(0).max(1))
    }

    /// Bytes of a layer of a level.
    pub(super) fn layer_bytes(&self, level: u32) -> u64 {
        let texels = self.level_extent(level).iter().map(|axis| u64::from(*axis)).product::<u64>();
        texels.saturating_mul(self.texel_bytes)
    }
}

/// The places of a dispatch that is recorded now.
pub(super) fn bound_places(objects: &Objects, recorded: &CommandBuffer) -> BoundPlaces {
    let mut places = BoundPlaces::default();
    let Some(used) = &recorded.pipeline else { return places };
    let Some(used) = used else {
        places.unread.push("which bindings its module uses cannot be told".to_owned());
        return places;
    };
    let none = Vec::new();
    for (set, binding) in used.iter().copied() {
        let (layout, descriptors, offsets) = match recorded.sets.get(&set) {
            Some(BoundSet::Object { set, dynamic_offsets }) => match objects.sets.get(set) {
                Some(state) => (&state.layout, &state.descriptors, dynamic_offsets),
                None => continue,
            },
            Some(BoundSet::Pushed { layout, descriptors }) => (layout, descriptors, &none),
            None => continue,
        };
        let flags = layout.binding_flags.get(&binding).copied().unwrap_or(0);
        if flags & UNSURE_FLAGS != 0 {
            let reason = "may be written after it is bound, or need not be bound wholly";
            places.unread.push(format!("binding {set}.{binding} {reason}"));
            continue;
        }
        let own = (set, binding);
        places.take_binding(objects, recorded, own, (layout, descriptors, offsets));
    }
    places
}

impl BoundPlaces {
    fn take_binding(
        &mut self,
        objects: &Objects,
        recorded: &CommandBuffer,
        (set, binding): (u32, u32),
        (layout, descriptors, offsets): (&SetLayoutState, &Descriptors, &[u32]),
    ) {
        let first = layout.dynamic_before(binding);
        for ((_, element), (class, held)) in descriptors.range((binding, 0)..=(binding, u32::MAX)) {
            let descriptor = ReadDescriptor { set, binding, element: *element };
            let offset = match is_dynamic(*class) {
                true => offsets.get(first + *element as usize).copied().unwrap_or(0),
                false => 0,
            };
            let taken = match held {
                Descriptor::Buffer { buffer, .. } if buffer.is_null() => Ok(()),
                Descriptor::Buffer { buffer, offset: start, range } => {
                    let start = start.saturating_add(u64::from(offset));
                    self.take_range(objects, descriptor, (*buffer, start, *range))
                }
                Descriptor::BufferView(view) => match objects.buffer_views.get(view) {
                    Some(view) => {
                        let range = (view.buffer, view.offset, view.range);
                        self.take_range(objects, descriptor, range)
                    }
                    None => Ok(()),
                },
                Descriptor::View { view, layout, .. } => {
                    self.take_view(objects, recorded, descriptor, (*view, *layout))
                }
                Descriptor::Image | Descriptor::Inline(_) | Descriptor::Other => Ok(()),
            };
            if let Err(reason) = taken {
                self.unread.push(format!("binding {set}.{binding}: {reason}"));
            }
        }
    }

    fn take_range(
        &mut self,
        objects: &Objects,
        descriptor: ReadDescriptor,
        (buffer, offset, range): (Handle, u64, u64),
    ) -> Result<(), String> {
        let state = objects.buffer(buffer).ok_or("its buffer, or its memory, is gone")?;
        if let Some(reason) = objects.refusals.get(&buffer) {
            return Err(reason.clone());
        }
        let rest = state.size.saturating_sub(offset);
        let size = if range == WHOLE_SIZE { rest } else { range.min(rest) };
        let bound = BoundRange { buffer, offset, size };
        if size > 0 && !self.ranges.iter().any(|(_, other)| *other == bound) {
            self.ranges.push((descriptor, bound));
        }
        Ok(())
    }

    fn take_view(
        &mut self,
        objects: &Objects,
        recorded: &CommandBuffer,
        descriptor: ReadDescriptor,
        (view, layout): (Handle, i32),
    ) -> Result<(), String> {
        // A sampler alone, or a view that the program did not make.
        let Some(view) = objects.views.get(&view) else { return Ok(()) };
        // What the record of the image says already is not said again.
        if objects.refusals.contains_key(&view.image) {
            return Ok(());
        }
        let image = objects.image(view.image).ok_or("its image, or its memory, is gone")?;
        let made = &image.made;
        let levels =
            view.range.level..view.range.level.saturating_add(view.range.levels).min(made.levels);
        let layers = match made.image_type {
            // Layers of a view of a volume may be its slices.
            VOLUME => 0..1,
            _ => {
                view.range.layer
                    ..view.range.layer.saturating_add(view.range.layers).min(made.layers)
            }
        };
        let texels = bound_texels(image, levels, layers, layout)?;
        check_layout(recorded, &texels)?;
        if !self.texels.iter().any(|(_, other)| *other == texels) {
            self.texels.push((descriptor, texels));
        }
        Ok(())
    }
}

/// VK_IMAGE_TYPE_3D.
const VOLUME: i32 = 2;

fn bound_texels(
    image: &ImageState,
    levels: Range<u32>,
    layers: Range<u32>,
    layout: i32,
) -> Result<BoundTexels, String> {
    let made = &image.made;
    let format = image_format(made.format).ok_or("texels of its format are not followed")?;
    let texel_bytes = format.texel_size() as u64;
    let (image, extent) = (made.image, made.extent);
    Ok(BoundTexels { image, levels, layers, layout, extent, texel_bytes })
}

/// That an image is sure to be in the layout that its descriptor names, in which or from which it is
/// copied. To read it in another one would give anything, and to bring it from there could spoil it.
fn check_layout(recorded: &CommandBuffer, texels: &BoundTexels) -> Result<(), String> {
    let layout = texels.layout;
    if layout != GENERAL && layout != SHADER_READ_ONLY {
        return Err(format!("its image is in the layout {layout}, which is not read"));
    }
    let (levels, layers) = (texels.levels.clone(), texels.layers.clone());
    let mut parts = levels.flat_map(|level| layers.clone().map(move |layer| (level, layer)));
    let is_one = texels.levels.len() == 1 && texels.layers.len() == 1;
    let known = parts.all(|(level, layer)| match recorded.layout(texels.image, level, layer) {
        Some(known) => known == layout,
        // What a dispatch uses is in the layout that is named, and nothing is written to it.
        None => is_one && layout == GENERAL,
    });
    known.then_some(()).ok_or_else(|| {
        "no barrier of the same command buffer brings its image to the layout that is named"
            .to_owned()
    })
}
