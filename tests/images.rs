//! Images, samplers and texel buffers on the sequential engine against a device.
//!
//! Reads, writes, atomics, queries, nearest filters and gathered texels are equal bit for bit; a
//! filtered value differs by no more than the precision that the device reports for weights
//! (`Precision`). Coordinates keep away from the edges between texels and from levels half-way
//! between two, where the specification leaves the choice to the device. Without a device the
//! sequential engine runs alone, unless `VKCERT_REQUIRE_VULKAN=1` demands one.

use crate::compiled;
use crate::device;

use device::device;
use serde_json::{Value, json};
use std::fmt::Write;
use vkcert::exec::prepare::prepare_test;
use vkcert::exec::sequential::{SequentialExecutor, Settings as Sequential};
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{BufferContents, Completion, Executor, Job, Run, Unobserved};
use vkcert::requirement::load_procedure;

/// How exactly a device filters values between 0 and 1.
#[derive(Clone, Copy)]
struct Precision {
    /// By which a filtered value may differ: a step of the weight on each of three axes.
    weights: f32,
    /// The same between levels.
    levels: f32,
    /// The same between levels that follow from derivatives, whose length a device may approximate.
    rough_levels: f32,
}

impl Precision {
    /// Lavapipe reports 8 bits of weights, computes with floats, and takes a rough logarithm of
    /// derivatives.
    const OF_LAVAPIPE: Precision =
        Precision { weights: 2.0e-6, levels: 2.0e-6, rough_levels: 0.04 };

    /// As the device reports it (`subTexelPrecisionBits`, `mipmapPrecisionBits`).
    fn of(device: Option<&VulkanExecutor>) -> Self {
        let Some(identity) = device.map(VulkanExecutor::device) else { return Self::OF_LAVAPIPE };
        if identity.driver_name == "llvmpipe" {
            return Self::OF_LAVAPIPE;
        }
        let step = |bits: u32| (-f64::from(bits)).exp2() as f32;
        let weights = 3.0 * step(identity.limits.sub_texel_precision_bits);
        let levels = weights + step(identity.limits.mipmap_precision_bits);
        Self { weights, levels, rough_levels: levels + Self::OF_LAVAPIPE.rough_levels }
    }
}

/// The quotient of a normalised texel may be off by a unit in the last place, and so may the mean
/// of three at a cube's corner.
const ROUNDING: f32 = 2.0e-7;

/// What a device may do differently.
#[derive(Clone, Copy, PartialEq)]
enum Latitude {
    None,
    /// Texels are quotients.
    Normalised,
    Filtered,
    /// Between levels too.
    FilteredLevels,
}

impl Latitude {
    fn of(linear: bool, levels: bool) -> Self {
        match (linear, levels) {
            (_, true) => Latitude::FilteredLevels,
            (true, false) => Latitude::Filtered,
            (false, false) => Latitude::None,
        }
    }

    /// For an instruction of `sampling_kernel`; the second one has derivatives.
    fn bound(self, instruction: usize, cube: bool, precision: Precision) -> f32 {
        match (self, instruction) {
            (Latitude::Filtered, 0..=2) => precision.weights,
            (Latitude::FilteredLevels, 0 | 2) => precision.levels,
            (Latitude::FilteredLevels, 1) => precision.rough_levels,
            (Latitude::None, 0..=2) => 0.0,
            (Latitude::None, _) if !cube => 0.0,
            _ => ROUNDING,
        }
    }
}

/// The job of one kernel and one test.
fn job(kernel: &str, mut test: Value) -> Job {
    test["id"] = json!("T");
    for dispatch in test["dispatches"].as_array_mut().expect("dispatches") {
        dispatch["kernel"] = json!("k");
    }
    let kernel = json!({"source": {"text": kernel}, "target_env": "vulkan1.1"});
    let procedure = json!({"schema": 1, "kernels": {"k": kernel}, "tests": [test]});
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    std::fs::write(&path, procedure.to_string()).expect("written");
    let procedure = load_procedure(&path).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
    let kernels = compiled::kernels(&procedure);
    let setting = compiled::setting(&kernels, &procedure.base);
    prepare_test(&procedure.tests[0], &setting)
        .unwrap_or_else(|problems| panic!("{problems:?}"))
        .job
}

/// On the sequential engine, at two tile widths.
fn sequential(job: &Job) -> Run {
    let run = |tile_width| {
        let settings = Sequential { tile_width, ..Sequential::default() };
        SequentialExecutor::new(settings)
            .run(job, &mut Unobserved)
            .expect("the engine does not fail")
    };
    let (wide, narrow) = (run(64), run(1));
    assert_eq!((&wide.completion, &wide.buffers), (&narrow.completion, &narrow.buffers));
    wide
}

/// Final contents on both engines; the device's only where it can run the job.
fn both(
    what: &str,
    job: &Job,
    device: &mut Option<VulkanExecutor>,
) -> (Vec<BufferContents>, Option<Vec<BufferContents>>) {
    let ours = sequential(job);
    assert_eq!((&ours.completion, &ours.findings), (&Completion::Completed, &Vec::new()), "{what}");
    let theirs = device.as_mut().and_then(|device| {
        let run = device.run(job, &mut Unobserved).expect("the engine runs");
        match run.completion {
            Completion::Completed => Some(run.buffers),
            Completion::Unsupported { what: lacking } => {
                println!("{what}: NOT RUN on the device: {lacking}");
                None
            }
            other => panic!("{what}: {other:?} {:?}", run.findings),
        }
    });
    (ours.buffers, theirs)
}

/// A walk through numbers between 0 and 1 that is the same every time.
struct Walk(u32);

impl Walk {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }
}

/// A dimension with the image that is sampled through it.
struct Dim {
    glsl: &'static str,
    dim: &'static str,
    extent: &'static [u32],
    layers: u32,
    levels: u32,
    /// The coordinates from `c`, and derivatives from `d`.
    coordinate: &'static str,
    derivative: &'static str,
    offset: Option<&'static str>,
    gathers: bool,
}

const DIMS: &[Dim] = &[
    Dim {
        glsl: "1D",
        dim: "1d",
        extent: &[5],
        layers: 1,
        levels: 3,
        coordinate: "c.x",
        derivative: "d.y",
        offset: Some("-2"),
        gathers: false,
    },
    Dim {
        glsl: "1DArray",
        dim: "1d",
        extent: &[8],
        layers: 3,
        levels: 2,
        coordinate: "vec2(c.x, c.w)",
        derivative: "d.y",
        offset: Some("3"),
        gathers: false,
    },
    Dim {
        glsl: "2D",
        dim: "2d",
        extent: &[8, 4],
        layers: 1,
        levels: 4,
        coordinate: "c.xy",
        derivative: "vec2(d.y, 0)",
        offset: Some("ivec2(1, -3)"),
        gathers: true,
    },
    Dim {
        glsl: "2DArray",
        dim: "2d",
        extent: &[5, 3],
        layers: 4,
        levels: 2,
        coordinate: "vec3(c.xy, c.w)",
        derivative: "vec2(0, d.y)",
        offset: Some("ivec2(-1, 2)"),
        gathers: true,
    },
    Dim {
        glsl: "3D",
        dim: "3d",
        extent: &[4, 3, 5],
        layers: 1,
        levels: 2,
        coordinate: "c.xyz",
        derivative: "vec3(0, 0, d.y)",
        offset: Some("ivec3(1, 0, -1)"),
        gathers: false,
    },
    Dim {
        glsl: "Cube",
        dim: "cube",
        extent: &[4, 4],
        layers: 6,
        levels: 3,
        coordinate: "(c.xyz - 0.5)",
        derivative: "vec3(0)",
        offset: None,
        gathers: true,
    },
    Dim {
        glsl: "CubeArray",
        dim: "cube",
        extent: &[3, 3],
        layers: 12,
        levels: 1,
        coordinate: "vec4(c.xyz - 0.5, c.w)",
        derivative: "vec3(0)",
        offset: None,
        gathers: true,
    },
];

const SAMPLES: usize = 96;

/// Whether a coordinate lies well inside a texel, and between texels, of every level of an axis.
fn is_clear(s: f32, size: u32) -> bool {
    (0..4).all(|level| {
        let u = s * (size >> level).max(1) as f32;
        let near = |at: f32| (at - at.round()).abs() < 0.02;
        !near(u) && !near(u - 0.5)
    })
}

/// Coordinates (four numbers) and level with derivative (four numbers) of each sample.
fn inputs(dim: &Dim, walk: &mut Walk) -> Vec<f32> {
    let mut all = Vec::new();
    while all.len() < SAMPLES * 8 {
        let mut at = [walk.next(), walk.next(), walk.next(), walk.next() * 5.0 - 1.0];
        let is_cube = dim.dim == "cube";
        if is_cube {
            // Only directions with one axis that is clearly the largest, away from edges between
            // texels.
            let [x, y, z] = [at[0] - 0.5, at[1] - 0.5, at[2] - 0.5];
            let mut sizes = [x.abs(), y.abs(), z.abs()];
            sizes.sort_by(f32::total_cmp);
            let on_face = |c: f32| 0.5 * c / sizes[2] + 0.5;
            let others = [x, y, z].into_iter().filter(|c| c.abs() < sizes[2]);
            if sizes[2] - sizes[1] < 0.002
                || !others.into_iter().all(|c| is_clear(on_face(c), dim.extent[0]))
            {
                continue;
            }
        } else {
            at[..3].iter_mut().for_each(|s| *s = *s * 4.0 - 1.5);
            if !at.iter().zip(dim.extent).all(|(s, size)| is_clear(*s, *size)) {
                continue;
            }
        }
        let lod = walk.next() * 4.0 - 1.0;
        if (lod - lod.floor() - 0.5).abs() < 0.05 || (at[3] - at[3].floor() - 0.5).abs() < 0.05 {
            continue;
        }
        // A derivative of 2^k / 8 with k clear of a half: levels from below 0 on.
        let derivative = 2.0_f32.powf((walk.next() * 4.0).round() - 3.0) / 8.0 * 1.1;
        all.extend(at);
        all.extend([lod, derivative, 0.0, 0.0]);
    }
    all
}

fn sampling_kernel(dim: &Dim, prefix: &str) -> String {
    let Dim { glsl, coordinate, derivative, .. } = dim;
    let offset = dim.offset.map_or_else(
        || format!("textureLod(image, {coordinate}, d.x)"),
        |offset| format!("textureLodOffset(image, {coordinate}, d.x, {offset})"),
    );
    let gather = if dim.gathers {
        format!("textureGather(image, {coordinate}, 1)")
    } else {
        format!("{prefix}vec4(0)")
    };
    format!(
        "#version 450
layout(local_size_x = 8) in;
layout(binding = 0) uniform {prefix}sampler{glsl} image;
layout(binding = 1) readonly buffer In {{ vec4 given[]; }};
layout(binding = 2) buffer Out {{ {prefix}vec4 seen[]; }};
void main() {{
    uint i = gl_GlobalInvocationID.x;
    vec4 c = given[2 * i], d = given[2 * i + 1];
    seen[4 * i] = textureLod(image, {coordinate}, d.x);
    seen[4 * i + 1] = textureGrad(image, {coordinate}, {derivative}, {derivative} * 0.0);
    seen[4 * i + 2] = {offset};
    seen[4 * i + 3] = {gather};
}}
"
    )
}

fn sampled(dim: &Dim, format: &str, prefix: &str, sampler: Value, walk: &mut Walk) -> Job {
    let (min, max) = match prefix {
        "u" => (json!(0), json!(250)),
        "i" => (json!(-120), json!(120)),
        _ => (json!(0.0), json!(1.0)),
    };
    let image = json!({"dim": dim.dim, "format": format, "extent": dim.extent, "layers": dim.layers, "levels": dim.levels,
                       "fill": {"random": {"seed": walk.0, "min": min, "max": max}}});
    let given = inputs(dim, walk);
    let test = json!({
        "images": {"image": image}, "samplers": {"how": sampler},
        "buffers": {"given": {"type": "float", "data": given},
                    "out": {"type": format!("{prefix}vec4"), "fill": {"constant": 0}, "count": SAMPLES * 4}},
        "dispatches": [{"groups": [SAMPLES / 8, 1, 1], "bindings": [
            {"binding": 0, "image": "image", "sampler": "how"}, {"binding": 1, "buffer": "given"},
            {"binding": 2, "buffer": "out"}]}]});
    job(&sampling_kernel(dim, prefix), test)
}

fn buffer(job: &Job, name: &str) -> usize {
    job.buffers.iter().position(|buffer| buffer.name == name).expect("a buffer")
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

/// Compares samples; gives the largest difference of the filtered ones.
fn compare(
    what: &str,
    job: &Job,
    latitude: Latitude,
    device: &mut Option<VulkanExecutor>,
    failures: &mut String,
) -> f32 {
    let precision = Precision::of(device.as_ref());
    let (ours, theirs) = both(what, job, device);
    let Some(theirs) = theirs else { return 0.0 };
    let (out, given) = (buffer(job, "out"), buffer(job, "given"));
    let (ours, theirs, given) = (words(&ours[out]), words(&theirs[out]), words(&ours[given]));
    let mut most = 0.0_f32;
    let (mut wrong, mut first) = (0, String::new());
    for (at, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let instruction = at / 4 % 4;
        let [left, right] = [ours, theirs].map(|bits| f32::from_bits(*bits));
        let difference = (left - right).abs();
        let bound = latitude.bound(instruction, what.starts_with("Cube"), precision);
        if ours == theirs {
            continue;
        }
        if difference.is_finite() && (precision.weights..precision.rough_levels).contains(&bound) {
            most = most.max(difference);
        }
        if bound == 0.0 || difference.is_nan() || difference > bound {
            wrong += 1;
            if first.is_empty() {
                let sample = at / 16;
                let input: Vec<f32> = given[8 * sample..8 * sample + 6]
                    .iter()
                    .map(|bits| f32::from_bits(*bits))
                    .collect();
                first = format!(
                    "instruction {instruction}, component {}, {input:?}: {left} here, {right} there",
                    at % 4
                );
            }
        }
    }
    if wrong > 0 {
        let _ = writeln!(failures, "{what}: {wrong} values differ, {first}");
    }
    most
}

const ADDRESSES: &[&str] =
    &["repeat", "mirrored_repeat", "clamp_to_edge", "clamp_to_border", "mirror_clamp_to_edge"];

#[test]
fn samples_are_those_of_the_device() {
    let (mut device, mut failures, mut walk) = (device(), String::new(), Walk(7));
    let mut most = 0.0_f32;
    for dim in DIMS {
        for (index, address) in ADDRESSES.iter().enumerate() {
            if dim.dim == "cube" && index > 1 {
                continue;
            }
            for filter in ["nearest", "linear"] {
                let mipmap = ["nearest", "linear"][index % 2];
                let border = ["opaque_white", "opaque_black", "transparent_black"][index % 3];
                let sampler = json!({"filter": filter, "mipmap": mipmap, "address": address, "border": border});
                let latitude = Latitude::of(filter == "linear", mipmap == "linear");
                let what = format!("{} {filter} {mipmap} {address}", dim.glsl);
                let job = sampled(dim, "rgba32f", "", sampler, &mut walk);
                most = most.max(compare(&what, &job, latitude, &mut device, &mut failures));
            }
        }
    }
    println!("largest difference of filtered values of rgba32f: {most}");
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn sampled_formats_and_levels_of_detail_are_those_of_the_device() {
    let (mut device, mut failures, mut walk) = (device(), String::new(), Walk(11));
    let dim = &DIMS[2];
    let edges = json!({"min_lod": 0.6, "max_lod": 1.9, "address": "repeat"});
    let bias = json!({"lod_bias": 0.8, "address": "clamp_to_border", "border": "opaque_white"});
    let integers = json!({"address": "clamp_to_border", "border": "int_opaque_white"});
    let cases = [
        ("r8", "", edges.clone()),
        ("rg16", "", edges.clone()),
        ("rgba8_snorm", "", bias.clone()),
        ("rgba16f", "", bias.clone()),
        ("r11f_g11f_b10f", "", bias.clone()),
        ("rgb10_a2", "", bias),
        ("rgba8ui", "u", integers.clone()),
        ("r32ui", "u", integers.clone()),
        ("rg16i", "i", integers.clone()),
        ("rgb10_a2ui", "u", integers),
    ];
    for (format, prefix, sampler) in cases {
        let job = if format == "rgb10_a2ui" {
            // Alpha has two bits.
            let image = json!({"dim": "2d", "format": format, "extent": [8, 4], "levels": 4,
                               "fill": {"random": {"seed": 3, "min": 0, "max": 3}}});
            let given = inputs(dim, &mut walk);
            let test = json!({"images": {"image": image}, "samplers": {"how": sampler},
                "buffers": {"given": {"type": "float", "data": given},
                            "out": {"type": "uvec4", "fill": {"constant": 0}, "count": SAMPLES * 4}},
                "dispatches": [{"groups": [SAMPLES / 8, 1, 1], "bindings": [
                    {"binding": 0, "image": "image", "sampler": "how"}, {"binding": 1, "buffer": "given"},
                    {"binding": 2, "buffer": "out"}]}]});
            job(&sampling_kernel(dim, prefix), test)
        } else {
            sampled(dim, format, prefix, sampler, &mut walk)
        };
        compare(format, &job, Latitude::Normalised, &mut device, &mut failures);
    }
    let mut most = 0.0_f32;
    for format in ["rgba8", "rgba16f", "rg8_snorm", "rgb10_a2"] {
        let sampler = json!({"filter": "linear", "mipmap": "linear", "address": "mirrored_repeat", "lod_bias": -0.5});
        let job = sampled(dim, format, "", sampler, &mut walk);
        most = most.max(compare(
            &format!("{format} linear"),
            &job,
            Latitude::FilteredLevels,
            &mut device,
            &mut failures,
        ));
    }
    println!("largest difference of filtered values of other formats: {most}");
    assert!(failures.is_empty(), "\n{failures}");
}

/// Kernels that write what they see to `o`, with images and buffers by binding. Each runs as one
/// workgroup of 8.
struct Kernel {
    name: &'static str,
    /// What stands before `main`'s text.
    declared: &'static str,
    body: &'static str,
    resources: &'static str,
}

/// Equal bit for bit in all buffers and images.
const EXACT: &[Kernel] = &[
    Kernel {
        name: "stores saturate and round",
        declared: "layout(binding = 1, rgba8) uniform writeonly image2D a; layout(binding = 2, rgba16f) uniform writeonly image2D b;
            layout(binding = 3, rgba8_snorm) uniform writeonly image2D c; layout(binding = 4, r32f) uniform writeonly image2D d;
            const float values[8] = float[](-2.0, -0.3, 0.0, 0.1, 0.4999, 0.77, 1.0, 70000.5);",
        body: "vec4 v = vec4(values[i], values[7u - i], 0.25, values[(i + 3u) % 8u]);
            imageStore(a, ivec2(i, 0), v); imageStore(b, ivec2(i, 0), floor(clamp(v, -2.0, 2.0) * 4.0) / 8.0);
            imageStore(c, ivec2(i, 0), v); imageStore(d, ivec2(i, 0), v); o[i] = vec4(0);",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "rgba8", "extent": [8, 1]},
            "b": {"dim": "2d", "format": "rgba16f", "extent": [8, 1]}, "c": {"dim": "2d", "format": "rgba8_snorm", "extent": [8, 1]},
            "d": {"dim": "2d", "format": "r32f", "extent": [8, 1]}},
            "bindings": [{"binding": 1, "image": "a"}, {"binding": 2, "image": "b"}, {"binding": 3, "image": "c"},
                         {"binding": 4, "image": "d"}]}"#,
    },
    Kernel {
        name: "atomics on texels",
        declared: "layout(binding = 1, r32ui) uniform uimage2D a; layout(binding = 2, r32i) uniform iimage1DArray b;
            layout(binding = 3, r32ui) uniform uimageBuffer t;",
        body: "uint x = imageAtomicAdd(a, ivec2(0, 0), i + 1u);
            imageAtomicMax(a, ivec2(1, 0), i * 7u); imageAtomicMin(a, ivec2(2, 0), 900u - i); imageAtomicAnd(a, ivec2(3, 0), ~(1u << i));
            imageAtomicOr(a, ivec2(0, 1), 1u << i); imageAtomicXor(a, ivec2(1, 1), 3u << i);
            uint y = imageAtomicExchange(a, ivec2(2, 1 + int(i)), i); uint z = imageAtomicCompSwap(a, ivec2(3, 1 + int(i)), i % 2u, 77u);
            imageAtomicMax(b, ivec2(1, 2), int(i) - 4); imageAtomicMin(b, ivec2(0, 1), 3 - int(i)); imageAtomicAdd(t, 3, 5u);
            o[i] = vec4(x, y, z, float(imageSize(b).y * 10 + imageSize(t)));",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "r32ui", "extent": [4, 9], "fill": {"constant": 1}},
            "b": {"dim": "1d", "format": "r32i", "extent": [2], "layers": 3, "fill": {"constant": -3}}},
            "buffers": {"t": {"type": "uint", "fill": {"iota": {}}, "count": 6}},
            "bindings": [{"binding": 1, "image": "a"}, {"binding": 2, "image": "b"}, {"binding": 3, "buffer": "t"}]}"#,
    },
    Kernel {
        name: "sizes and levels",
        declared: "layout(binding = 1) uniform sampler2DArray a; layout(binding = 2) uniform samplerCubeArray c;
            layout(binding = 3) uniform sampler3D v; layout(binding = 4, r32f) uniform readonly imageCube s;
            layout(binding = 5) uniform isamplerBuffer t; layout(binding = 6, r32f) uniform readonly image2DArray p;",
        // Lavapipe takes the level of the first invocation for all: each level is asked for by
        // itself.
        body: "o[i] = vec4(imageSize(s).x * 100 + imageSize(p).x, imageSize(s).y + imageSize(p).y, imageSize(p).z, textureSize(t));
            if (i == 0u) o[i] = vec4(textureSize(a, 0), textureQueryLevels(a)); if (i == 1u) o[i] = vec4(textureSize(a, 1), 9);
            if (i == 2u) o[i] = vec4(textureSize(c, 0), textureQueryLevels(c)); if (i == 3u) o[i] = vec4(textureSize(c, 1), 9);
            if (i == 4u) o[i] = vec4(textureSize(v, 0), textureQueryLevels(v)); if (i == 5u) o[i] = vec4(textureSize(v, 2), 9);",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "rgba8", "extent": [7, 5], "layers": 3, "levels": 3, "fill": {"constant": 0}},
            "c": {"dim": "cube", "format": "rgba8", "extent": [6, 6], "layers": 18, "levels": 2, "fill": {"constant": 0}},
            "v": {"dim": "3d", "format": "rgba8", "extent": [9, 3, 5], "levels": 3, "fill": {"constant": 0}},
            "s": {"dim": "cube", "format": "r32f", "extent": [2, 2], "fill": {"constant": 0}},
            "p": {"dim": "2d", "format": "r32f", "extent": [8, 4], "layers": 5, "levels": 3, "fill": {"constant": 0}}},
            "samplers": {"how": {}}, "buffers": {"t": {"type": "int", "fill": {"constant": 0}, "count": 11}},
            "bindings": [{"binding": 1, "image": "a", "level": 1, "sampler": "how"}, {"binding": 2, "image": "c", "layer": 6, "sampler": "how"},
                         {"binding": 3, "image": "v", "sampler": "how"}, {"binding": 4, "image": "s"},
                         {"binding": 5, "buffer": "t", "format": "r32i"}, {"binding": 6, "image": "p", "level": 1, "layer": 2}]}"#,
    },
    Kernel {
        name: "fetches, offsets, projections, arrays",
        declared: "layout(binding = 1) uniform sampler2D a[2]; layout(binding = 2) uniform texture2D b; layout(binding = 3) uniform sampler s[2];
            layout(binding = 4) uniform sampler1D l;",
        body: "ivec2 at = ivec2(i % 3u, i / 4u);
            o[i] = texelFetch(a[0], at / 2, int(i % 2u)) + 2.0 * texelFetchOffset(a[0], at, 0, ivec2(1, 2))
                + 4.0 * textureProjLod(a[0], vec3(i + 0.25, 0.4, 2.0), 0.0) + 8.0 * textureProjLod(l, vec4(i + 0.3, 9, 9, 4.0), 0.0)
                + 16.0 * textureLodOffset(sampler2D(b, s[0]), vec2(i * 0.26 + 0.03, 0.8), 0.0, ivec2(-1, 1))
                + textureGatherOffset(a[1], vec2(i * 0.21 + 0.01, 0.41), ivec2(3, -2), 2);",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "rgba32f", "extent": [6, 5], "levels": 3, "fill": {"iota": {}}},
            "b": {"dim": "2d", "format": "rgba32f", "extent": [4, 4], "fill": {"iota": {"start": 1000}}},
            "l": {"dim": "1d", "format": "rgba32f", "extent": [4], "fill": {"iota": {"start": -50}}}},
            "samplers": {"edge": {}, "again": {"address": "repeat"}},
            "bindings": [{"binding": 1, "image": "a", "sampler": "edge"}, {"binding": 1, "array_index": 1, "image": "b", "sampler": "again"},
                         {"binding": 2, "image": "b"}, {"binding": 3, "sampler": "again"}, {"binding": 3, "array_index": 1, "sampler": "edge"},
                         {"binding": 4, "image": "l", "sampler": "again"}]}"#,
    },
    Kernel {
        name: "comparisons with depths",
        declared: "layout(binding = 1) uniform sampler2DShadow a; layout(binding = 2) uniform sampler2DArrayShadow b;
            layout(binding = 3) uniform samplerCubeShadow c;",
        body: "float d = float(i) / 7.0 - 0.03;
            o[i] = vec4(textureLod(a, vec3(0.1 + 0.11 * i, 0.4, d), 0.0), textureGather(a, vec2(0.3, 0.1 * i), d).x
                + 2.0 * textureGather(a, vec2(0.3, 0.1 * i), d).w, textureGrad(b, vec4(0.15 + 0.1 * i, 0.6, 1.0, d), vec2(0), vec2(0)),
                textureGrad(c, vec4(1.0, 0.3 - 0.1 * i, 0.2, d), vec3(0), vec3(0)));",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "d32f", "extent": [4, 4], "fill": {"random": {"seed": 5, "min": 0.0, "max": 1.0}}},
            "b": {"dim": "2d", "format": "d16", "extent": [4, 4], "layers": 2, "fill": {"random": {"seed": 6, "min": 0.0, "max": 1.0}}},
            "c": {"dim": "cube", "format": "d32f", "extent": [4, 4], "fill": {"random": {"seed": 7, "min": 0.0, "max": 1.0}}}},
            "samplers": {"less": {"compare": "less", "address": "repeat"}, "not": {"compare": "greater_or_equal", "address": "clamp_to_border", "border": "opaque_white"}},
            "bindings": [{"binding": 1, "image": "a", "sampler": "less"}, {"binding": 2, "image": "b", "sampler": "not"},
                         {"binding": 3, "image": "c", "sampler": "not"}]}"#,
    },
    Kernel {
        name: "unnormalized coordinates",
        declared: "layout(binding = 1) uniform sampler2D a;",
        body: "o[i] = textureLod(a, vec2(float(i) - 1.3, 1.6), 0.0);",
        resources: r#"{"images": {"a": {"dim": "2d", "format": "rgba32f", "extent": [5, 3], "fill": {"iota": {}}}},
            "samplers": {"texels": {"coordinates": "unnormalized"}}, "bindings": [{"binding": 1, "image": "a", "sampler": "texels"}]}"#,
    },
    // Alone: lavapipe takes the first image of a kernel for four offsets, whichever is meant.
    Kernel {
        name: "four offsets",
        declared: "layout(binding = 1) uniform sampler2D b;
            const ivec2 offsets[4] = ivec2[](ivec2(0, 0), ivec2(2, 1), ivec2(-3, 2), ivec2(1, -4));",
        body: "o[i] = textureGatherOffsets(b, vec2(0.13 * i + 0.02, 0.7), offsets, 1);",
        resources: r#"{"images": {"b": {"dim": "2d", "format": "rgba32f", "extent": [5, 3], "fill": {"iota": {"start": 1000}}}},
            "samplers": {"mirror": {"address": "mirrored_repeat"}}, "bindings": [{"binding": 1, "image": "b", "sampler": "mirror"}]}"#,
    },
];

#[test]
fn whole_texels_are_those_of_the_device() {
    let (mut device, mut refused) = (device(), 0);
    for kernel in EXACT {
        let text = format!(
            "#version 450\n#extension GL_EXT_samplerless_texture_functions : enable\nlayout(local_size_x = 8) in;\n\
             layout(binding = 0) buffer Out {{ vec4 o[]; }};\n{}\n\
             void main() {{ uint i = gl_LocalInvocationIndex;\n{}\n}}\n",
            kernel.declared, kernel.body
        );
        let mut test: Value = serde_json::from_str(kernel.resources).expect("JSON");
        let mut bindings = test["bindings"].take();
        test.as_object_mut().expect("an object").remove("bindings");
        bindings.as_array_mut().expect("a list").push(json!({"binding": 0, "buffer": "out"}));
        test["buffers"]["out"] = json!({"type": "vec4", "count": 8, "fill": {"constant": 0}});
        test["dispatches"] = json!([{"groups": [1, 1, 1], "bindings": bindings}]);
        let job = job(&text, test);
        let (ours, theirs) = both(kernel.name, &job, &mut device);
        assert!(
            words(&ours[buffer(&job, "out")]).iter().any(|word| *word != 0)
                || kernel.name.starts_with("stores")
        );
        let Some(theirs) = theirs else {
            refused += 1;
            continue;
        };
        for ((ours, theirs), buffer) in ours.iter().zip(&theirs).zip(&job.buffers) {
            let shown =
                |bytes: &[u8]| words(bytes).into_iter().map(f32::from_bits).collect::<Vec<f32>>();
            assert!(
                ours == theirs,
                "{}, `{}`:\n{:?} here\n{:?} there\n{ours:x?}\n{theirs:x?}",
                kernel.name,
                buffer.name,
                shown(ours),
                shown(theirs)
            );
        }
    }
    // What a device lacks it has told by name (`both`); none lacks most of it.
    assert!(device.is_none() || refused <= EXACT.len() / 2, "{refused}");
}

/// A buffer that a kernel sees both as bytes and as texels: only a barrier for both orders its
/// accesses.
#[test]
fn memory_seen_in_two_ways_is_ordered_as_one() {
    let findings = |fence: &str| {
        let text = format!(
            "#version 450\nlayout(local_size_x = 4) in;\nlayout(binding = 0, r32ui) uniform uimageBuffer texels;\n\
             layout(binding = 1) buffer R {{ uint r[]; }};\nlayout(binding = 2) buffer O {{ uint o[]; }};\n\
             void main() {{ int i = int(gl_LocalInvocationIndex);\nimageStore(texels, i, uvec4(i));\n{fence} barrier();\n\
             o[i] = r[i ^ 1]; }}\n"
        );
        let zeros = json!({"type": "uint", "fill": {"constant": 0}, "count": 4});
        let job = job(
            &text,
            json!({"buffers": {"both": zeros, "out": zeros}, "dispatches": [{"groups": [1, 1, 1], "bindings": [
                {"binding": 0, "buffer": "both"}, {"binding": 1, "buffer": "both"}, {"binding": 2, "buffer": "out"}]}]}),
        );
        let run = SequentialExecutor::default()
            .run(&job, &mut Unobserved)
            .expect("the engine does not fail");
        assert_eq!(words(&run.buffers[buffer(&job, "out")]), [1, 0, 3, 2], "{fence}");
        run.findings.iter().map(|finding| finding.kind).collect::<Vec<_>>()
    };
    let race = [vkcert::model::finding::FindingKind::DataRace];
    for fence in ["", "memoryBarrierImage();", "memoryBarrierBuffer();"] {
        assert_eq!(findings(fence), race, "{fence}");
    }
    assert_eq!(findings("memoryBarrier();"), []);
}
