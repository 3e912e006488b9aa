//! Views of images against what kernels declare of them: each fault beside a view that is right.

use super::images::{Images, TestPipeline};
use super::script::{QUEUE, Script};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::event::*;
use vkcert_capture::image::SubresourceRange;
use vkcert_capture::program::PARTIALLY_BOUND;
use vkcert_capture::value::Handle;
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::Descriptors;

const SAMPLED: i32 = 2;
const STORAGE: i32 = 3;
const TEXELS: i32 = 4;
const GENERAL: i32 = 1;

const RGBA8: i32 = 37;
const BGRA8: i32 = 44;
const R32_UINT: i32 = 98;
const R32_SINT: i32 = 99;
const R32_SFLOAT: i32 = 100;
const R64_UINT: i32 = 110;
const D24_S8: i32 = 129;
const G8B8G8R8_422: i32 = 1_000_156_000;

/// A view and the image that it is of.
#[derive(Debug, Clone, Copy)]
struct Seen {
    view_type: i32,
    format: i32,
    samples: u32,
    components: [i32; 4],
    aspects: u32,
}

const PLANE: Seen =
    Seen { view_type: 1, format: R32_UINT, samples: 1, components: [0; 4], aspects: 1 };

fn view(images: &mut Images, seen: Seen) -> Handle {
    let [image, view] = [(); 2].map(|()| images.script.handle());
    let is_cube = matches!(seen.view_type, 3 | 6);
    let layers = if is_cube { 6 } else { 1 };
    let image_type = match seen.view_type {
        0 | 4 => 0,
        2 => 2,
        _ => 1,
    };
    images.script.push(Event::ImageMade(Box::new(Image {
        image,
        flags: 0,
        image_type,
        format: seen.format,
        extent: if image_type == 0 { [4, 1, 1] } else { [4, 4, 1] },
        levels: 1,
        layers,
        samples: seen.samples,
        tiling: 0,
        usage: 0xf,
        initial_layout: GENERAL,
        memory_bytes: 0,
    })));
    let range = SubresourceRange { aspects: seen.aspects, level: 0, levels: 1, layer: 0, layers };
    let Seen { view_type, format, components, .. } = seen;
    let made = ImageView { view, image, view_type, format, components, range };
    images.script.push(Event::ImageView(made));
    view
}

/// A kernel with an image at binding 0 and a buffer behind it.
fn kernel(declaration: &str, statement: &str) -> String {
    format!(
        "#extension GL_EXT_samplerless_texture_functions : require\n\
         #extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n\
         #extension GL_EXT_shader_image_int64 : require\n\
         layout(binding = 0{declaration} image;\n\
         layout(binding = 1) buffer A {{ uint a[]; }};\n\
         void main() {{ {statement} }}"
    )
}

/// A dispatch that is given a view for what a kernel declares.
fn bound(class: i32, declaration: &str, statement: &str, seen: Seen) -> Script {
    let mut images = Images::new();
    let (view, buffer) = (view(&mut images, seen), images.script.buffer());
    let glsl = kernel(declaration, statement);
    let pipeline = images.pipeline(&glsl, (class, view, GENERAL), buffer);
    images.script.submit(QUEUE, pipeline.dispatch());
    images.script
}

fn fetched(declaration: &str, statement: &str, seen: Seen) -> Script {
    bound(SAMPLED, &format!(") uniform {declaration}"), statement, seen)
}

fn stored(format: &str, declaration: &str, statement: &str, seen: Seen) -> Script {
    bound(STORAGE, &format!("{format}) uniform {declaration}"), statement, seen)
}

const FETCH: &str = "a[0] = texelFetch(image, ivec2(0), 0).x;";

#[test]
fn views_are_of_the_dimension_and_with_the_layers_that_are_declared() {
    const SIZE: &str = "a[0] = uint(textureSize(image, 0).x);";
    let declarations = [
        ("utexture1D", 0, "1D"),
        ("utexture2D", 1, "2D"),
        ("utexture3D", 2, "3D"),
        ("utextureCube", 3, "CUBE"),
        ("utexture1DArray", 4, "1D_ARRAY"),
        ("utexture2DArray", 5, "2D_ARRAY"),
        ("utextureCubeArray", 6, "CUBE_ARRAY"),
    ];
    for (declaration, own_type, own_name) in declarations {
        for (_, view_type, name) in declarations {
            let script = fetched(declaration, SIZE, Seen { view_type, ..PLANE });
            let faults = told(&report(&script), CHECK, CheckStatus::Refuted);
            let expected = format!(
                "image 1: its view is of the type {name}, and the kernel declares an image that is \
                 seen as {own_name} (VUID-vkCmdDispatch-viewType-07752)"
            );
            match view_type == own_type {
                true => assert_eq!(faults, Vec::<String>::new(), "{declaration}"),
                false => {
                    assert!(faults.len() == 1 && faults[0].ends_with(&expected), "{faults:#?}")
                }
            }
        }
    }
    assert_all_hold(&fetched("utexture2D", FETCH, PLANE));
    let message =
        only_refuted(&fetched("utexture2D", FETCH, Seen { view_type: 5, ..PLANE }), CHECK);
    assert!(message.starts_with("dispatch 1 (operation 2), binding 0.0 (image): "), "{message}");
    let unknown = report(&fetched("utexture2D", FETCH, Seen { view_type: 9, ..PLANE }));
    let messages = told(&unknown, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("of the type 9, which is not known"), "{messages:#?}");
}

#[test]
fn samples_are_several_on_both_sides_or_on_neither() {
    let several = |declaration: &str, samples: u32| {
        let statement = match declaration {
            "utexture2DMS" => "a[0] = texelFetch(image, ivec2(0), 1).x;",
            _ => FETCH,
        };
        let script = fetched(declaration, statement, Seen { samples, ..PLANE });
        told(&report(&script), CHECK, CheckStatus::Refuted)
    };
    let none = Vec::<String>::new();
    assert_eq!((several("utexture2D", 1), several("utexture2DMS", 4)), (none.clone(), none));
    let message = &several("utexture2D", 4)[0];
    assert!(message.contains("has 4 samples for each texel, and the kernel declares one"));
    let message = &several("utexture2DMS", 1)[0];
    assert!(message.contains("has one sample for each texel, and the kernel declares several"));
}

#[test]
fn texels_are_of_the_class_and_the_width_that_are_declared() {
    let through = |declaration: &str, seen: Seen| {
        fetched(declaration, "a[0] = uint(texelFetch(image, ivec2(0), 0).x);", seen)
    };
    let of = |format: i32| Seen { format, ..PLANE };
    for (declaration, format) in [
        ("utexture2D", R32_UINT),
        ("itexture2D", R32_SINT),
        ("texture2D", R32_SFLOAT),
        ("texture2D", BGRA8),
    ] {
        assert_all_hold(&through(declaration, of(format)));
    }
    for (declaration, format, expected) in [
        (
            "utexture2D",
            R32_SINT,
            "has signed integer texels (VkFormat 99), and the kernel's are unsigned",
        ),
        (
            "itexture2D",
            R32_UINT,
            "has unsigned integer texels (VkFormat 98), and the kernel's are signed",
        ),
        (
            "texture2D",
            R32_UINT,
            "has unsigned integer texels (VkFormat 98), and the kernel's are floating",
        ),
        (
            "utexture2D",
            RGBA8,
            "has floating-point texels (VkFormat 37), and the kernel's are unsigned",
        ),
        (
            "utexture2D",
            R64_UINT,
            "components of 64 bits (VkFormat 110), and the kernel's have fewer",
        ),
    ] {
        let message = only_refuted(&through(declaration, of(format)), CHECK);
        assert!(message.contains(expected), "{message}");
    }
    // Of depth and stencil the aspect tells.
    let stencil = |aspects: u32| {
        let seen = Seen { format: D24_S8, aspects, ..PLANE };
        told(&report(&through("utexture2D", seen)), CHECK, CheckStatus::Refuted).len()
    };
    assert_eq!((stencil(4), stencil(2)), (0, 1));
    let unknown = report(&through("utexture2D", of(G8B8G8R8_422)));
    let messages = told(&unknown, CHECK, CheckStatus::Undetermined);
    assert!(messages[0].contains("(VkFormat 1000156000) are is not known here"), "{messages:#?}");
}

#[test]
fn storage_images_have_the_format_that_is_declared_and_no_swizzle() {
    const STORE: &str = "imageStore(image, ivec2(0), uvec4(1));";
    const STORE_FLOATS: &str = "imageStore(image, ivec2(0), vec4(1));";
    const STORE_WIDE: &str = "imageStore(image, ivec2(0), u64vec4(1));";
    assert_all_hold(&stored(", r32ui", "writeonly uimage2D", STORE, PLANE));
    let of = |format: i32| Seen { format, ..PLANE };
    let wide = |format| stored(", r64ui", "writeonly u64image2D", STORE_WIDE, of(format));
    assert_all_hold(&wide(R64_UINT));
    let message = only_refuted(&wide(R32_UINT), CHECK);
    assert!(message.contains("fewer than 64 bits (VkFormat 98), and the kernel's have 64 bits"));
    let named = |format| stored(", rgba8", "writeonly image2D", STORE_FLOATS, of(format));
    assert_all_hold(&named(RGBA8));
    let message = only_refuted(&named(BGRA8), CHECK);
    assert!(
        message.contains("is of VkFormat 44, and the kernel declares Rgba8, VkFormat 37"),
        "{message}"
    );
    let swizzled =
        |components| stored(", r32ui", "writeonly uimage2D", STORE, Seen { components, ..PLANE });
    assert_all_hold(&swizzled([3, 0, 5, 6]));
    assert!(only_refuted(&swizzled([4, 4, 5, 6]), CHECK).contains("exchanges components"));
    // What is fetched may be exchanged.
    assert_all_hold(&fetched("utexture2D", FETCH, Seen { components: [4, 4, 5, 6], ..PLANE }));
}

#[test]
fn what_a_device_can_do_without_a_format_is_open() {
    let messages = |declaration: &str, statement: &str| {
        let glsl = format!(
            "#extension GL_EXT_shader_image_load_formatted : require\n{}",
            kernel(&format!(") uniform {declaration}"), statement)
        );
        let mut images = Images::new();
        let (view, buffer) = (view(&mut images, PLANE), images.script.buffer());
        let pipeline = images.pipeline(&glsl, (STORAGE, view, GENERAL), buffer);
        images.script.submit(QUEUE, pipeline.dispatch());
        told(&report(&images.script), CHECK, CheckStatus::Undetermined)
    };
    let store = "imageStore(image, ivec2(0), uvec4(1));";
    let load = "a[0] = imageLoad(image, ivec2(0)).x;";
    for (declaration, statement, expected) in [
        ("writeonly uimage2D", store, "the kernel writes it without declaring a format"),
        ("readonly uimage2D", load, "the kernel reads it without declaring a format"),
        ("uimage2D", load, "the kernel reads and writes it without declaring a format"),
    ] {
        let messages = messages(declaration, statement);
        assert!(messages.len() == 1 && messages[0].contains(expected), "{messages:#?}");
    }
}

/// Writes a view to an element of the first binding.
fn write(images: &mut Images, pipeline: TestPipeline, element: u32, view: Handle) {
    images.script.push(Event::WriteDescriptors(vec![DescriptorWrite {
        set: pipeline.set,
        binding: 0,
        element,
        descriptor_type: SAMPLED,
        descriptors: vec![Descriptor::View { view, sampler: Handle(0), layout: GENERAL }],
    }]));
}

/// What is open of an earlier dispatch hides no fault of a later one of the same pipeline.
#[test]
fn an_open_view_hides_no_wrong_one() {
    let mut images = Images::new();
    let buffer = images.script.buffer();
    let open = view(&mut images, Seen { format: G8B8G8R8_422, ..PLANE });
    let wrong = view(&mut images, Seen { format: R32_SFLOAT, ..PLANE });
    let glsl = kernel(") uniform utexture2D", FETCH);
    let pipeline = images.pipeline(&glsl, (SAMPLED, open, GENERAL), buffer);
    images.script.submit(QUEUE, pipeline.dispatch());
    write(&mut images, pipeline, 0, wrong);
    images.script.submit(QUEUE, pipeline.dispatch());
    let report = report(&images.script);
    for (status, dispatch) in
        [(CheckStatus::Undetermined, "dispatch 1 "), (CheckStatus::Refuted, "dispatch 2 ")]
    {
        let messages = told(&report, CHECK, status);
        assert!(messages.iter().any(|message| message.starts_with(dispatch)), "{messages:#?}");
    }
}

/// Where a descriptor need not be reached, a view that does not fit need not be a fault.
#[test]
fn a_view_that_need_not_be_reached_is_open() {
    let wrong = Seen { format: R32_SFLOAT, ..PLANE };
    let messages = |declaration: &str, statement: &str, binding_flags: u32| {
        let mut images = Images::new();
        images.script.binding_flags = binding_flags;
        let (view, buffer) = (view(&mut images, wrong), images.script.buffer());
        let glsl = kernel(") uniform utexture2D", statement).replace(" image;", declaration);
        let pipeline = images.pipeline(&glsl, (SAMPLED, view, GENERAL), buffer);
        images.script.submit(QUEUE, pipeline.dispatch());
        let report = report(&images.script);
        [CheckStatus::Refuted, CheckStatus::Undetermined].map(|status| told(&report, CHECK, status))
    };
    let [refuted, open] = messages(" image;", FETCH, 0);
    assert_eq!((refuted.len(), open.len()), (1, 0));
    const ELEMENT: &str = "a[0] = texelFetch(image[0], ivec2(0), 0).x;";
    for [refuted, open] in
        [messages(" image[2];", ELEMENT, 0), messages(" image;", FETCH, PARTIALLY_BOUND)]
    {
        assert_eq!((refuted.len(), open.len()), (0, 1));
        assert!(open[0].contains("the kernel's are unsigned integer"), "{open:#?}");
        assert!(open[0].contains("undetermined, because it is one of several"), "{open:#?}");
    }
}

/// The record of a buffer view has no format.
#[test]
fn formats_of_texel_buffers_are_open() {
    let mut images = Images::new();
    let (texels, buffer) = (images.script.buffer(), images.script.buffer());
    let view = images.script.handle();
    let (offset, range) = (0, u64::MAX);
    images.script.push(Event::BufferView(BufferView {
        view,
        buffer: texels.buffer,
        offset,
        range,
    }));
    let glsl = "layout(binding = 0) uniform usamplerBuffer texels;\n\
                layout(binding = 1) buffer A { uint a[]; };\n\
                void main() { a[0] = texelFetch(texels, 0).x; }";
    let pipeline = images.pipeline(glsl, (TEXELS, Handle(0), GENERAL), buffer);
    images.script.push(Event::WriteDescriptors(vec![DescriptorWrite {
        set: pipeline.set,
        binding: 0,
        element: 0,
        descriptor_type: TEXELS,
        descriptors: vec![Descriptor::BufferView(view)],
    }]));
    images.script.submit(QUEUE, pipeline.dispatch());
    let messages = told(&report(&images.script), CHECK, CheckStatus::Undetermined);
    let expected = "binding 0.0 (texels): the format of its buffer view is not in the capture";
    assert!(messages.len() == 1 && messages[0].contains(expected), "{messages:#?}");
}
