//! The images and samplers of a captured dispatch as a test procedure has them.
//!
//! Knows: what of an image each view sees. Where all views of an image see the same, the procedure's
//! image is that part; elsewhere it is the whole image.
//! Promises: what a procedure cannot say is refused by name: swizzles, views that end before the last
//! level or layer, filters and address modes that differ, anisotropy, what
//! flags and chained structures of samplers say.
//! Does not cover: what an image holds, which `image_contents` follows.

use crate::contents::KnownMemory;
use crate::kernel::KernelFacts;
use crate::procedure::Remarks;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_capture::format::image_format;
use vkcert_capture::image::{Coordinates, Sampler};
use vkcert_capture::program::{
    BoundResource, BoundView, Dispatch, Program, Subresources, ViewObject,
};
use vkcert_model::procedure::DescriptorClass;

/// Images, samplers and the bindings that name them.
#[derive(Debug, Default)]
pub(crate) struct ProcedureImages {
    pub(crate) images: Map<String, Value>,
    pub(crate) samplers: Map<String, Value>,
    pub(crate) bindings: Vec<Value>,
}

/// A descriptor that leads to an image, a sampler or both.
#[derive(Debug)]
struct BoundPlace {
    set: u32,
    binding: u32,
    element: u32,
    class: DescriptorClass,
    view: Option<usize>,
    sampler: Option<usize>,
}

/// An image of the procedure.
#[derive(Debug)]
struct CutImage {
    part: Subresources,
    /// VkFormat.
    format: i32,
    dim: &'static str,
}

/// The images and samplers of a dispatch; in words what cannot be said.
pub(crate) fn procedure_images(
    program: &Program,
    dispatch: &Dispatch,
    kernel: &KernelFacts,
    memory: &KnownMemory,
    remarks: &mut Remarks,
) -> Result<ProcedureImages, String> {
    let places = bound_places(dispatch, kernel);
    let cuts = cut_images(program, &places)?;
    let mut procedure = ProcedureImages::default();
    for (image, cut) in &cuts {
        let value = image_value(program, memory, *image, cut, remarks)?;
        procedure.images.insert(image_name(*image), value);
    }
    let has_volume = cuts.values().any(|cut| cut.dim == "3d");
    let samplers: BTreeSet<usize> = places.iter().filter_map(|place| place.sampler).collect();
    for sampler in samplers {
        let value = sampler_value(&program.samplers[sampler].made, has_volume);
        let value = value.map_err(|reason| format!("sampler {}: {reason}", sampler + 1))?;
        procedure.samplers.insert(sampler_name(sampler), value);
    }
    for place in &places {
        procedure.bindings.push(binding_value(program, &cuts, place)?);
    }
    Ok(procedure)
}

fn image_name(image: usize) -> String {
    format!("image{}", image + 1)
}

fn sampler_name(sampler: usize) -> String {
    format!("sampler{}", sampler + 1)
}

/// Descriptors that lead to images and samplers, samplers of the layout among them.
fn bound_places(dispatch: &Dispatch, kernel: &KernelFacts) -> Vec<BoundPlace> {
    let mut places = Vec::new();
    for ((set, binding), used) in &kernel.uses {
        let (set, binding, class) = (*set, *binding, used.class);
        let place = |element: u32, view: Option<usize>, sampler: Option<usize>| BoundPlace {
            set,
            binding,
            element,
            class,
            view: view.filter(|_| class != DescriptorClass::Sampler),
            sampler: sampler
                .filter(|_| matches!(class, DescriptorClass::Sampler | DescriptorClass::Combined)),
        };
        for (descriptor, _) in dispatch.descriptors_at(set, binding) {
            if let BoundResource::View(BoundView { view, sampler, .. }) = descriptor.resource {
                places.push(place(descriptor.element, view, sampler));
            }
        }
        let layout = dispatch.sets.iter().find(|bound| bound.number == set);
        let layout = layout.map(|bound| &bound.layout);
        if dispatch.descriptors_at(set, binding).next().is_none()
            && let Some(layout) = layout.filter(|layout| layout.has_own_sampler(binding))
        {
            let samplers = (0..).zip(&layout.immutable_samplers[&binding]);
            places.extend(samplers.map(|(element, sampler)| place(element, None, Some(*sampler))));
        }
    }
    places
}

/// What of each image the procedure has.
fn cut_images(
    program: &Program,
    places: &[BoundPlace],
) -> Result<BTreeMap<usize, CutImage>, String> {
    let mut views: BTreeMap<usize, Vec<&ViewObject>> = BTreeMap::new();
    for view in places.iter().filter_map(|place| place.view) {
        let view = &program.image_views[view];
        views.entry(view.image).or_default().push(view);
    }
    let mut cuts = BTreeMap::new();
    for (image, views) in views {
        let cut = cut_image(program, image, &views);
        cuts.insert(image, cut.map_err(|reason| format!("image {}: {reason}", image + 1))?);
    }
    Ok(cuts)
}

fn cut_image(program: &Program, image: usize, views: &[&ViewObject]) -> Result<CutImage, String> {
    let object = &program.images[image];
    let formats: BTreeSet<i32> = views.iter().map(|view| view.made.format).collect();
    let format = match formats.iter().collect::<Vec<_>>()[..] {
        [format] => *format,
        _ => return Err("its views have different formats".to_owned()),
    };
    let (own, seen) = (image_format(object.made.format), image_format(format));
    let (Some(own), Some(seen)) = (own, seen) else {
        return Err(format!("no test procedure has its format (VkFormat {format})"));
    };
    if own.texel_size() != seen.texel_size() {
        return Err("its view has texels of another size".to_owned());
    }
    if object.made.samples != 1 {
        return Err("what texels of several samples hold is not followed".to_owned());
    }
    if views.iter().any(|view| is_swizzled(view.made.components)) {
        return Err("its view exchanges components".to_owned());
    }
    let parts: Vec<Subresources> =
        views.iter().map(|view| object.subresources(&view.made.range)).collect();
    let whole = Subresources { levels: 0..object.made.levels, layers: 0..object.made.layers };
    let part = match parts.iter().all(|part| *part == parts[0]) {
        true => parts[0].clone(),
        false => whole,
    };
    let is_cube = views.iter().any(|view| matches!(view.made.view_type, VIEW_CUBE | VIEW_CUBES));
    let is_volume_cut = views.iter().any(|view| view.made.view_type != VIEW_3D);
    let dim = match object.made.image_type {
        0 => "1d",
        2 if is_volume_cut => return Err("its view sees slices of a volume".to_owned()),
        2 => "3d",
        _ if is_cube => "cube",
        _ => "2d",
    };
    Ok(CutImage { part, format, dim })
}

/// VK_IMAGE_VIEW_TYPE_3D, VK_IMAGE_VIEW_TYPE_CUBE and VK_IMAGE_VIEW_TYPE_CUBE_ARRAY.
const VIEW_3D: i32 = 2;
const VIEW_CUBE: i32 = 3;
const VIEW_CUBES: i32 = 6;

/// Whether components are not those of the format: 0 is VK_COMPONENT_SWIZZLE_IDENTITY, 3 R.
fn is_swizzled(components: [i32; 4]) -> bool {
    (3..).zip(components).any(|(own, component)| component != 0 && component != own)
}

fn image_value(
    program: &Program,
    memory: &KnownMemory,
    image: usize,
    cut: &CutImage,
    remarks: &mut Remarks,
) -> Result<Value, String> {
    let object = &program.images[image];
    let name = image_name(image);
    let format = image_format(cut.format).ok_or("its format is not known")?;
    let axes = match cut.dim {
        "1d" => 1,
        "3d" => 3,
        _ => 2,
    };
    let (levels, layers) = (cut.part.levels.clone(), cut.part.layers.clone());
    let mut value = json!({
        "dim": cut.dim,
        "format": format.name(),
        "extent": object.level_extent(levels.start)[..axes],
        "layers": layers.len(),
        "levels": levels.len(),
    });
    if (levels.len(), layers.len()) != (object.made.levels as usize, object.made.layers as usize) {
        remarks.tell(format!(
            "{name} has levels {} to {} and layers {} to {} of the captured image",
            levels.start,
            levels.end - 1,
            layers.start,
            layers.end - 1
        ));
    }
    let bytes = match memory.image_contents(program, image) {
        Ok(bytes) => bytes,
        Err(reason) => {
            remarks.tell_unknown(format!(
                "what {name} held is not in the capture ({reason}): its texels are uninitialised"
            ));
            return Ok(value);
        }
    };
    let size = format.texel_size();
    let spans = levels.flat_map(|level| {
        let first = |layer: u32| object.first_texel(level, layer) as usize * size;
        first(layers.start)..first(layers.end)
    });
    let own: Vec<Option<u8>> = spans.map(|byte| bytes.get(byte).copied().flatten()).collect();
    let unknown = own.iter().filter(|byte| byte.is_none()).count();
    if unknown > 0 {
        remarks.tell_unknown(format!(
            "{unknown} of {} bytes of {name} are not in the capture: they are given as 0",
            own.len()
        ));
    }
    let own: Vec<u8> = own.into_iter().map(|byte| byte.unwrap_or(0)).collect();
    value["bytes"] = json!(STANDARD.encode(own));
    Ok(value)
}

fn binding_value(
    program: &Program,
    cuts: &BTreeMap<usize, CutImage>,
    place: &BoundPlace,
) -> Result<Value, String> {
    let BoundPlace { set, binding, element, class, view, sampler } = place;
    let mut value = json!({
        "set": set,
        "binding": binding,
        "class": class.name(),
        "array_index": element,
    });
    if let Some(view) = view {
        let view = &program.image_views[*view];
        let part = program.images[view.image].subresources(&view.made.range);
        let cut = &cuts[&view.image];
        check_reach(&part, cut, view.made.view_type, *class)
            .map_err(|reason| format!("binding {set}.{binding}: {reason}"))?;
        value["image"] = json!(image_name(view.image));
        value["level"] = json!(part.levels.start - cut.part.levels.start);
        value["layer"] = json!(part.layers.start - cut.part.layers.start);
    }
    if let Some(sampler) = sampler {
        value["sampler"] = json!(sampler_name(*sampler));
    }
    Ok(value)
}

/// A binding of a procedure sees all levels from its first on, and an array all layers.
fn check_reach(
    part: &Subresources,
    cut: &CutImage,
    view_type: i32,
    class: DescriptorClass,
) -> Result<(), String> {
    let is_array = matches!(view_type, 4..=VIEW_CUBES);
    if class != DescriptorClass::StorageImage && part.levels.end != cut.part.levels.end {
        return Err("its view ends before the last level, and another one does not".to_owned());
    }
    if is_array && part.layers.end != cut.part.layers.end {
        return Err("its view ends before the last layer, and another one does not".to_owned());
    }
    Ok(())
}

fn named<'a>(names: &[&'a str], number: i32, noun: &str) -> Result<&'a str, String> {
    let name = usize::try_from(number).ok().and_then(|number| names.get(number).copied());
    name.ok_or_else(|| format!("no test procedure has its {noun} ({number})"))
}

/// VK_LOD_CLAMP_NONE.
const EVERY_LEVEL: f32 = 1000.0;

fn sampler_value(sampler: &Sampler, has_volume: bool) -> Result<Value, String> {
    const FILTERS: &[&str] = &["nearest", "linear"];
    const ADDRESSES: &[&str] =
        &["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge"];
    const BORDERS: &[&str] = &[
        "transparent_black",
        "int_transparent_black",
        "opaque_black",
        "int_opaque_black",
        "opaque_white",
        "int_opaque_white",
    ];
    const COMPARISONS: &[&str] = &[
        "never",
        "less",
        "equal",
        "less_or_equal",
        "greater",
        "not_equal",
        "greater_or_equal",
        "always",
    ];
    if sampler.filters[0] != sampler.filters[1] {
        return Err("it enlarges with another filter than it reduces with".to_owned());
    }
    let axes = if has_volume { 3 } else { 2 };
    if sampler.address[..axes].iter().any(|address| *address != sampler.address[0]) {
        return Err("its axes have different address modes".to_owned());
    }
    if sampler.extended {
        return Err("flags or chained structures say more of it".to_owned());
    }
    if sampler.anisotropy.is_some() {
        return Err("it is anisotropic".to_owned());
    }
    let [bias, least, most] = sampler.lod.map(|bits| bits.value());
    let mut value = json!({
        "filter": named(FILTERS, sampler.filters[0], "filter")?,
        "mipmap": named(FILTERS, sampler.mipmap, "mipmap mode")?,
        "address": named(ADDRESSES, sampler.address[0], "address mode")?,
        "min_lod": least,
        "lod_bias": bias,
        "coordinates": match sampler.coordinates {
            Coordinates::Normalized => "normalized",
            Coordinates::Unnormalized => "unnormalized",
        },
    });
    if value["address"] == "clamp_to_border" {
        value["border"] = json!(named(BORDERS, sampler.border, "border color")?);
    }
    if let Some(compare) = sampler.compare {
        value["compare"] = json!(named(COMPARISONS, compare, "comparison")?);
    }
    if most < EVERY_LEVEL {
        value["max_lod"] = json!(most);
    }
    Ok(value)
}
