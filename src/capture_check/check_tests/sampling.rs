//! Sampled images: which texels are read is not known, that some are is.

use super::images::Images;
use super::script::{COMPUTE, QUEUE, SHADER_READ, SHADER_WRITE, Script, barrier};
use super::{assert_all_hold, only_refuted, report, told};
use crate::row::CaptureCheckName;
use vkcert_capture::command::Command;
use vkcert_capture::event::*;
use vkcert_capture::image::{Coordinates, FloatBits, SubresourceRange};
use vkcert_capture::value::Handle;
use vkcert_model::evidence::CheckStatus;

const CHECK: CaptureCheckName = CaptureCheckName::DeviceDependency;

const COMBINED: i32 = 1;
const STORAGE: i32 = 3;
const GENERAL: i32 = 1;
const READ_ONLY: i32 = 5;
const CLAMP_TO_EDGE: i32 = 2;
const CLAMP_TO_BORDER: i32 = 3;

/// Stores to rows of an image of four columns and two rows.
fn store(rows: u32) -> String {
    format!(
        "layout(local_size_x = 4, local_size_y = {rows}) in;\n\
         layout(binding = 0, r32ui) uniform writeonly uimage2D image;\n\
         void main() {{ imageStore(image, ivec2(gl_GlobalInvocationID.xy), uvec4(1)); }}"
    )
}

/// Samples at coordinates that memory holds.
fn sample(statement: &str) -> String {
    format!(
        "layout(binding = 0) uniform usampler2D image;\n\
         layout(binding = 1) buffer A {{ vec4 a[]; }};\n\
         void main() {{ a[0] = {statement}; }}"
    )
}

const TEXTURE: &str = "texture(image, a[1].xy)";

/// What differs between the programs.
#[derive(Debug, Clone)]
struct Case {
    rows: u32,
    statement: &'static str,
    address: i32,
    /// mipLodBias and minLod.
    lod: [f32; 2],
    /// Levels and layers that the sampled view sees.
    seen: [u32; 2],
    /// Layout that is named for it.
    layout: i32,
}

const CASE: Case = Case {
    rows: 2,
    statement: TEXTURE,
    address: CLAMP_TO_EDGE,
    lod: [0.0; 2],
    seen: [1, 1],
    layout: GENERAL,
};

/// Which of the two kernels runs first.
enum First {
    Store,
    Sample,
}

fn program(case: &Case, first: First, between: Vec<Command>) -> Script {
    let mut images = Images::new();
    let [image, sampler] = [(); 2].map(|()| images.script.handle());
    images.script.push(Event::ImageMade(Box::new(Image {
        image,
        flags: 0,
        image_type: 1,
        format: 98,
        extent: [4, 2, 1],
        levels: 2,
        layers: 2,
        samples: 1,
        tiling: 0,
        usage: 0xf,
        initial_layout: GENERAL,
        memory_bytes: 0,
    })));
    let [bias, least] = case.lod;
    images.script.push(Event::Sampler(Sampler {
        sampler,
        filters: [0; 2],
        mipmap: 0,
        address: [case.address; 3],
        border: 0,
        anisotropy: None,
        compare: None,
        lod: [bias, least, 10.0].map(|number: f32| FloatBits(number.to_bits())),
        coordinates: Coordinates::Normalized,
        extended: false,
    }));
    let stored = view(&mut images, image, [1, 1]);
    let sampled = view(&mut images, image, case.seen);
    let [own, other] = [(); 2].map(|()| images.script.buffer());
    let store = images.pipeline(&store(case.rows), (STORAGE, stored, GENERAL), other);
    let glsl = sample(case.statement);
    let sample = images.pipeline(&glsl, (COMBINED, sampled, case.layout), own);
    images.script.push(Event::WriteDescriptors(vec![DescriptorWrite {
        set: sample.set,
        binding: 0,
        element: 0,
        descriptor_type: COMBINED,
        descriptors: vec![Descriptor::View { view: sampled, sampler, layout: case.layout }],
    }]));
    let dispatches = match first {
        First::Store => [store.dispatch(), between, sample.dispatch()],
        First::Sample => [sample.dispatch(), between, store.dispatch()],
    };
    images.script.submit(QUEUE, dispatches.concat());
    images.script
}

fn view(images: &mut Images, image: Handle, [levels, layers]: [u32; 2]) -> Handle {
    let view = images.script.handle();
    let range = SubresourceRange { aspects: 1, level: 0, levels, layer: 0, layers };
    let (view_type, format) = (if layers == 1 { 1 } else { 5 }, 98);
    let made = ImageView { view, image, view_type, format, components: [0; 4], range };
    images.script.push(Event::ImageView(made));
    view
}

fn right() -> Vec<Command> {
    vec![barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_READ))]
}

/// Whatever the coordinates are, a texel is read that was written.
#[test]
fn no_sample_misses_a_write_of_all_texels() {
    assert_all_hold(&program(&CASE, First::Store, right()));
    let message = only_refuted(&program(&CASE, First::Store, Vec::new()), CHECK);
    let expected = "dispatch 2 (operation 3) reads binding 0.0 (image 1, level 0, layer 0), which \
                    dispatch 1 (operation 2) writes, and no dependency orders the two";
    assert!(message.starts_with(expected), "{message}");
    let without_visibility = vec![barrier((COMPUTE, SHADER_WRITE), (COMPUTE, 0))];
    let message = only_refuted(&program(&CASE, First::Store, without_visibility), CHECK);
    assert!(message.contains("does not make the write visible there"), "{message}");
    // The other way round an execution dependency is enough.
    let execution = vec![barrier((COMPUTE, 0), (COMPUTE, 0))];
    assert_all_hold(&program(&CASE, First::Sample, execution));
    let message = only_refuted(&program(&CASE, First::Sample, Vec::new()), CHECK);
    assert!(message.contains("writes binding 0.0 (image 1, level 0, layer 0)"), "{message}");
    let gathered = Case { statement: "textureGather(image, a[1].xy)", ..CASE };
    only_refuted(&program(&gathered, First::Store, Vec::new()), CHECK);
}

/// Where a sample may read a texel that was not written, or none, the pair is open, and a barrier
/// that is right holds.
#[test]
fn samples_that_may_miss_a_write_are_open() {
    let cases = [
        Case { rows: 1, ..CASE },
        Case { address: CLAMP_TO_BORDER, ..CASE },
        Case { statement: "textureLod(image, a[1].xy, a[1].z)", seen: [2, 1], ..CASE },
        Case { lod: [1.0, 0.0], seen: [2, 1], ..CASE },
        Case { lod: [0.0, 1.0], seen: [2, 1], ..CASE },
    ];
    for case in cases {
        let report = report(&program(&case, First::Store, Vec::new()));
        let refuted = told(&report, CHECK, CheckStatus::Refuted);
        assert_eq!(refuted, Vec::<String>::new(), "{case:?}");
        let open = told(&report, CHECK, CheckStatus::Undetermined);
        let expected = "that both touch the same bytes is not shown: which texels of the image at \
                        0.0 are sampled is not followed";
        assert!(open.len() == 1 && open[0].ends_with(expected), "{case:?}: {open:#?}");
        assert_all_hold(&program(&case, First::Store, right()));
    }
}

/// Of a view with several levels the first one alone is sampled where nothing asks for another.
#[test]
fn the_level_that_is_sampled_is_known_where_sampler_and_kernel_tell_it() {
    for case in [
        Case { seen: [2, 1], ..CASE },
        Case { statement: "textureLod(image, a[1].xy, 0.0)", seen: [2, 1], ..CASE },
    ] {
        let message = only_refuted(&program(&case, First::Store, Vec::new()), CHECK);
        assert!(message.contains("reads binding 0.0 (image 1, level 0, layer 0)"), "{message}");
    }
}

/// What is sampled is reached, so that its layout counts.
#[test]
fn the_layout_of_what_is_sampled_counts() {
    let in_other_layout = Case { layout: READ_ONLY, ..CASE };
    let message = only_refuted(&program(&in_other_layout, First::Store, right()), CHECK);
    let expected = "binding 0.0 names image 1 in the layout SHADER_READ_ONLY_OPTIMAL, and it is in \
                    GENERAL";
    assert!(message.contains(expected), "{message}");
}
