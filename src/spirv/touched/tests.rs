//! What dispatches of small kernels touch.

use super::{
    DispatchNumbers, Sample, SampledLevel, TouchKind, Touched, TouchedBytes, TouchingKernel,
};
use crate::compile_tests::compile;
use crate::module::Module;
use crate::validate::TargetEnv;
use std::collections::BTreeMap;
use std::sync::Arc;

const BLOCKS: &str = "layout(local_size_x = 4) in;
    layout(binding = 0) buffer A { uint a[]; };
    layout(binding = 1) buffer B { uint b[]; };
    layout(binding = 2, r32ui) uniform uimage2DArray pixels;
    layout(binding = 3, r32ui) uniform uimage1DArray lines;
    layout(binding = 4, r32ui) uniform uimageCubeArray cubes;
    layout(binding = 5) uniform usampler2D levels;
    layout(binding = 6) uniform utexture2D alone;
    layout(binding = 7) uniform sampler apart;
    layout(push_constant) uniform Push { uint start; int count; } push;
    shared uint tile[4];\n";

/// What two workgroups touch of 64 bytes at each binding.
fn touched(main: &str, start: u32, count: u32) -> TouchedBytes {
    let module = Module::parse(compile(&format!("{BLOCKS}{main}"), TargetEnv::Vulkan1_2)).unwrap();
    let kernel = TouchingKernel::new(Arc::new(module), "main", &BTreeMap::new()).unwrap();
    let pushed: Vec<Option<u8>> =
        [start.to_le_bytes(), count.to_le_bytes()].concat().into_iter().map(Some).collect();
    let numbers = DispatchNumbers {
        base: [0; 3],
        groups: [2, 1, 1],
        local_size: [4, 1, 1],
        push_constants: &pushed,
        bound_bytes: &BTreeMap::from([((0, 0), 64), ((0, 1), 64)]),
        bound_images: &BTreeMap::from([
            ((0, 2), [4, 2, 3]),
            ((0, 3), [4, 1, 3]),
            ((0, 4), [2, 2, 12]),
            ((0, 5), [4, 4, 1]),
        ]),
    };
    kernel.touched_bytes(&numbers, &mut 100_000)
}

fn spans(touched: &TouchedBytes, binding: u32, kind: TouchKind) -> &[(u64, u64)] {
    touched.spans.get(&(0, binding, kind)).map_or(&[], Vec::as_slice)
}

fn reason(touched: &TouchedBytes) -> &str {
    match &touched.extent {
        Touched::All => "",
        Touched::Open(reason) => reason,
    }
}

#[test]
fn elements_follow_from_push_constants_ids_and_guards() {
    let main = "void main() {
        uint i = gl_GlobalInvocationID.x;
        if (int(i) < push.count) { a[push.start + i] = b[2 * i] + 1; }
    }";
    let shown = touched(main, 8, 6);
    assert_eq!(shown.extent, Touched::All);
    assert_eq!(spans(&shown, 0, TouchKind::Write), [(32, 56)]);
    assert_eq!(spans(&shown, 0, TouchKind::Read), []);
    let read: Vec<(u64, u64)> = (0..6).map(|i| (8 * i, 8 * i + 4)).collect();
    assert_eq!(spans(&shown, 1, TouchKind::Read), read);
}

#[test]
fn loops_calls_lengths_and_workgroup_memory_are_followed() {
    let main = "uint place(uint i, inout uint sum) { sum += i; return sum; }
    void main() {
        tile[gl_LocalInvocationIndex] = b[0];
        barrier();
        uint sum = 0;
        for (int i = 0; i < push.count; i++) { uint at = place(1, sum); a[at] = tile[0]; }
        if (gl_GlobalInvocationID.x == a.length() - 16) { atomicAdd(b[15], 1); }
    }";
    let shown = touched(main, 0, 3);
    assert_eq!(shown.extent, Touched::All);
    assert_eq!(spans(&shown, 0, TouchKind::Write), [(4, 16)]);
    assert_eq!(spans(&shown, 1, TouchKind::Read), [(0, 4)]);
    assert_eq!(spans(&shown, 1, TouchKind::Write), []);
    assert_eq!(spans(&shown, 1, TouchKind::Atomic), [(60, 64)]);
}

#[test]
fn what_depends_on_memory_is_open_and_what_comes_before_is_shown() {
    let by_index = touched("void main() { a[0] = 1; a[b[gl_LocalInvocationIndex]] = 2; }", 0, 0);
    assert!(reason(&by_index).contains("which element of binding 0.0"), "{by_index:?}");
    assert_eq!(spans(&by_index, 0, TouchKind::Write), [(0, 4)]);
    let by_branch = touched("void main() { a[1] = 1; if (b[3] > 4) { a[2] = 2; } }", 0, 0);
    assert!(reason(&by_branch).contains("what is executed depends"), "{by_branch:?}");
    assert_eq!(spans(&by_branch, 0, TouchKind::Write), [(4, 8)]);
    assert_eq!(spans(&by_branch, 1, TouchKind::Read), [(12, 16)]);
}

#[test]
fn accesses_out_of_range_and_runs_without_end_are_open() {
    let outside = touched("void main() { a[gl_LocalInvocationIndex + 14] = 1; }", 0, 0);
    assert!(reason(&outside).contains("leaves the 64 bytes"), "{outside:?}");
    assert_eq!(spans(&outside, 0, TouchKind::Write), [(56, 64)]);
    let endless =
        touched("void main() { for (uint i = 0; i < 2; i += push.start) { a[0] = i; } }", 0, 0);
    assert!(reason(&endless).contains("too many"), "{endless:?}");
    assert_eq!(spans(&endless, 0, TouchKind::Write), [(0, 4)]);
}

#[test]
fn texels_follow_from_coordinates_and_the_size_of_the_image() {
    let main = "void main() {
        ivec3 texel = ivec3(gl_GlobalInvocationID.x, 1, 2);
        if (any(greaterThanEqual(texel, imageSize(pixels)))) return;
        imageStore(pixels, texel, uvec4(imageLoad(pixels, ivec3(0)).x));
    }";
    let shown = touched(main, 0, 0);
    assert_eq!(shown.extent, Touched::All, "imageSize is known");
    // Four columns, two rows, three layers: the last row of the last layer.
    assert_eq!(spans(&shown, 2, TouchKind::Write), [(20, 24)]);
    assert_eq!(spans(&shown, 2, TouchKind::Read), [(0, 1)]);
    let outside = touched("void main() { imageStore(pixels, ivec3(4, 0, 0), uvec4(1)); }", 0, 0);
    assert_eq!(reason(&outside), "it leaves the image at 0.2");
    let open = touched("void main() { imageStore(pixels, ivec3(a[0], 0, 0), uvec4(1)); }", 0, 0);
    assert_eq!(
        reason(&open),
        "which texel of the image at 0.2 it touches depends on more than what the host gives"
    );
}

/// Layers count behind all texels of one; an array of cubes counts its cubes.
#[test]
fn layers_of_lines_and_cubes_have_numbers() {
    let line = touched("void main() { imageStore(lines, ivec2(1, 2), uvec4(1)); }", 0, 0);
    assert_eq!((spans(&line, 3, TouchKind::Write), &line.extent), (&[(9, 10)][..], &Touched::All));
    let main = "void main() {
        ivec3 size = imageSize(cubes);
        imageStore(cubes, ivec3(size.x - 1, size.y - 1, 6 * size.z - 1), uvec4(1));
    }";
    let last = touched(main, 0, 0);
    assert_eq!((spans(&last, 4, TouchKind::Write), &last.extent), (&[(47, 48)][..], &Touched::All));
}

#[test]
fn other_levels_than_the_first_are_open() {
    let first = touched("void main() { a[0] = texelFetch(levels, ivec2(3, 1), 0).x; }", 0, 0);
    assert_eq!((spans(&first, 5, TouchKind::Read), &first.extent), (&[(7, 8)][..], &Touched::All));
    let second = touched("void main() { a[0] = texelFetch(levels, ivec2(1, 1), 1).x; }", 0, 0);
    let expected = "which level, sample or texel of the image at 0.5 it touches is not followed";
    assert_eq!(reason(&second), expected);
}

/// Of what is sampled no texel is told, but that some is.
#[test]
fn samples_are_told_with_their_samplers_and_levels() {
    let samples_of = |statement: &str| {
        let main = format!("void main() {{ a[0] = {statement}; }}");
        let sampled = touched(&main, 0, 0);
        assert_eq!(spans(&sampled, 5, TouchKind::Read), []);
        let binding = if statement.contains("alone") { 6 } else { 5 };
        let expected =
            format!("which texels of the image at 0.{binding} are sampled is not followed");
        assert_eq!(reason(&sampled), expected);
        sampled.samples.into_iter().collect::<Vec<_>>()
    };
    let combined = |level: SampledLevel| vec![Sample { image: (0, 5), sampler: (0, 5), level }];
    let (first, any) = (combined(SampledLevel::First), combined(SampledLevel::Any));
    assert_eq!(samples_of("texture(levels, vec2(0.5)).x"), first);
    assert_eq!(samples_of("textureGather(levels, vec2(a[1])).x"), first);
    assert_eq!(samples_of("textureLod(levels, vec2(a[1]), 0).x"), first);
    assert_eq!(samples_of("textureLod(levels, vec2(0.5), 1).x"), any);
    assert_eq!(samples_of("textureLod(levels, vec2(0.5), a[1]).x"), any);
    assert_eq!(samples_of("textureGrad(levels, vec2(0.5), vec2(0), vec2(0)).x"), any);
    let separate = Sample { image: (0, 6), sampler: (0, 7), level: SampledLevel::First };
    assert_eq!(samples_of("texture(usampler2D(alone, apart), vec2(0.5)).x"), [separate]);
    let hidden = touched("void main() { if (a[1] > 2) a[0] = texture(levels, vec2(0)).x; }", 0, 0);
    assert!(hidden.samples.is_empty(), "whether it is sampled depends on memory");
}
