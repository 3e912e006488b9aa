//! Of which texels a sample reads some, whatever its coordinates are.
//!
//! Knows: coordinates are wrapped into the image, but where the sampler clamps them to its border
//! (Vulkan specification, "Wrapping Operation"), and levels into those of the view ("Level-of-Detail
//! Operation"); filters give the texels that they read weights whose sum is 1.
//! Does not cover: samplers of which flags or chained structures say more, and such as are not in the
//! capture.

use super::reach::image_spans;
use super::span::AccessSpan;
use vkcert_capture::image::{Sampler, SubresourceRange};
use vkcert_capture::program::{BoundResource, BoundView, Dispatch, Program};
use vkcert_spirv::touched::{Sample, SampledLevel};

/// VK_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER.
const CLAMP_TO_BORDER: i32 = 3;

/// The last VkSamplerAddressMode, VK_SAMPLER_ADDRESS_MODE_MIRROR_CLAMP_TO_EDGE.
const LAST_ADDRESS_MODE: i32 = 4;

/// The texels of which a sample reads some; none where it may read none, or that is not known.
pub(super) fn sampled_texels(
    program: &Program,
    dispatch: &Dispatch,
    sample: &Sample,
) -> Option<Vec<AccessSpan>> {
    let view = &program.image_views[only_view(dispatch, sample.image)?.view?];
    let sampler = only_view(dispatch, sample.sampler)?.sampler?;
    let sampler = &program.samplers[sampler].made;
    if !stays_inside(sampler) {
        return None;
    }
    let range = match sample.level {
        SampledLevel::First if keeps_first_level(sampler) => {
            SubresourceRange { levels: 1, ..view.made.range }
        }
        SampledLevel::First | SampledLevel::Any => view.made.range,
    };
    let texels = image_spans(program, view.image, &range);
    (!texels.is_empty()).then_some(texels)
}

/// What is bound where there is one descriptor.
fn only_view(dispatch: &Dispatch, (set, binding): (u32, u32)) -> Option<BoundView> {
    let mut descriptors = dispatch.descriptors_at(set, binding);
    let (descriptor, _) = descriptors.next()?;
    match (&descriptor.resource, descriptors.next()) {
        (BoundResource::View(bound), None) => Some(*bound),
        (_, _) => None,
    }
}

fn stays_inside(sampler: &Sampler) -> bool {
    let wraps = |mode: &i32| (0..=LAST_ADDRESS_MODE).contains(mode) && *mode != CLAMP_TO_BORDER;
    !sampler.extended && sampler.address.iter().all(wraps)
}

/// Whether level 0 stays the one that is asked for.
fn keeps_first_level(sampler: &Sampler) -> bool {
    let [bias, least, _] = sampler.lod.map(|number| number.value());
    bias == 0.0 && least <= 0.0
}
