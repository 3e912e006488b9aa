//! Images, samplers, texel buffers, device addresses: every class of descriptor on a device, with a
//! silent validation layer; what a device or an engine lacks, by name. Without a device these tests
//! say so and do nothing, unless `VKCERT_REQUIRE_VULKAN=1` demands one.

use crate::compiled;
use crate::device;
use crate::support;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::{root, run, vkcert, write};
use vkcert::exec::prepare::prepare_test;
use vkcert::exec::{Completion, Executor, Unobserved};
use vkcert::model::procedure::Language;
use vkcert::requirement::load_procedure;

/// Whether there is a device; a line says where there is none.
fn has_device() -> bool {
    let output = vkcert()
        .args(["list", "devices", "--format", "json"])
        .output()
        .expect("the program starts");
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let found = listed.as_array().is_some_and(|devices| !devices.is_empty());
    assert!(
        found || std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(),
        "a device is demanded: {listed}"
    );
    if !found {
        eprintln!("NOT RUN: no Vulkan device");
    }
    found
}

/// Whether the device is the software driver that these tests were written with, whose features are
/// known.
fn is_lavapipe() -> bool {
    let output = vkcert()
        .args(["list", "devices", "--format", "json"])
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&output.stdout).contains("Mesa 22.3.6")
}

/// Verdicts of a procedure on an engine, by test; any exit code but that of a failed tool.
fn tests_of(path: &Path, engine: &str) -> Vec<Value> {
    let mut command = vkcert();
    command.arg("run").arg(path).args(["--engine", engine, "--format", "json", "--dump-buffers"]);
    let output = command.output().expect("the program starts");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let result: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {words}"));
    result["tests"].as_array().unwrap_or_else(|| panic!("{result}")).clone()
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/resources")).expect("the folder");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

#[test]
fn every_class_of_descriptor_runs_on_a_device_and_the_validation_layer_is_silent() {
    if !has_device() {
        return;
    }
    let (mut passed, mut faults) = (0, Vec::new());
    for file in files() {
        for test in tests_of(&file, "vulkan") {
            let name = format!("{} of {}", test["id"], file.file_name().expect("a name").display());
            match test["verdict"].as_str() {
                Some("pass") if test["findings"] == json!([]) => passed += 1,
                // Subgroup sizes, depth formats and linear filters are a device's own; lavapipe has
                // all that is asked for.
                Some("unsupported") if !is_lavapipe() => eprintln!("{name}: {}", test["reason"]),
                _ => faults.push(format!(
                    "{name}: {} {} {} {}",
                    test["verdict"], test["reason"], test["mismatches"], test["findings"]
                )),
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(passed >= 30, "{passed}");
}

#[test]
fn every_class_of_descriptor_runs_on_the_sequential_engine_and_gives_what_a_device_gives() {
    let on_device = has_device() && is_lavapipe();
    let (mut passed, mut equal) = (0, 0);
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("the file");
        let theirs = if on_device { tests_of(&file, "vulkan") } else { Vec::new() };
        for (index, test) in tests_of(&file, "sequential").iter().enumerate() {
            let id = test["id"].as_str().expect("an id");
            assert_eq!(
                (&test["verdict"], &test["findings"]),
                (&json!("pass"), &json!([])),
                "{test}"
            );
            passed += 1;
            // Where the expectation has a tolerance, `tests/images.rs` says by how much engines may
            // differ.
            let own = text
                .split("id = \"")
                .find(|part| part.starts_with(&format!("{id}\"")))
                .expect("the test's text");
            if let (Some(theirs), false) = (theirs.get(index), own.contains("tolerance")) {
                assert_eq!(test["buffers"], theirs["buffers"], "{id} of {}", file.display());
                equal += 1;
            }
        }
    }
    assert!(passed >= 28 && (equal >= 19 || !on_device), "{passed} {equal}");
}

/// What a device may do differently with texels is among the runs within the error bounds.
#[test]
fn samples_of_a_device_lie_within_the_error_bounds() {
    if !has_device() {
        return;
    }
    let kernel = "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) uniform sampler2D smooth_; \
        layout(binding = 1) uniform sampler2D curve;\nlayout(binding = 2) buffer Out { vec4 seen[]; };\n\
        void main() { uint i = gl_LocalInvocationIndex; vec2 at = vec2(0.013 * i, 0.37 + 0.005 * i);\n\
        seen[2 * i] = textureLod(smooth_, at, 0.031 * i); seen[2 * i + 1] = textureLod(curve, at, 0.0); }";
    let random = json!({"random": {"seed": 3, "min": 0.0, "max": 1.0}});
    let test = json!({
        "images": {"smooth": {"dim": "2d", "format": "rgba8", "extent": [8, 8], "levels": 3, "fill": random},
                   "curve": {"dim": "2d", "format": "rgba8_srgb", "extent": [8, 8], "fill": random}},
        "samplers": {"smooth": {"filter": "linear", "mipmap": "linear", "address": "repeat"}, "nearest": {}},
        "buffers": {"out": {"type": "vec4", "count": 128}},
        "dispatches": [{"bindings": [{"binding": 0, "image": "smooth", "sampler": "smooth"},
                                     {"binding": 1, "image": "curve", "sampler": "nearest"}, {"binding": 2, "buffer": "out"}]}]});
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "t.json", procedure(kernel, test).to_string());
    let seen = tests_of(&path, "both");
    for one in &seen {
        assert_eq!((&one["verdict"], &one["findings"]), (&json!("pass"), &json!([])), "{one}");
    }
    assert!(
        seen.len() == 2 && (seen[0]["buffers"] != seen[1]["buffers"] || !is_lavapipe()),
        "nothing to permit"
    );
}

#[test]
fn the_documented_procedures_pass_on_a_device() {
    if !has_device() {
        return;
    }
    let text =
        std::fs::read_to_string(root().join("docs/test-procedure.md")).expect("the document");
    let folder = tempfile::tempdir().expect("a folder");
    let mut passed = 0;
    for kind in ["toml", "json"] {
        for part in text.split(&format!("```{kind} procedure\n")).skip(1) {
            let example = part.split("```").next().expect("the text before the fence");
            for test in tests_of(&write(folder.path(), &format!("t.{kind}"), example), "vulkan") {
                assert_eq!(
                    (&test["verdict"], &test["findings"]),
                    (&json!("pass"), &json!([])),
                    "{test}"
                );
                passed += 1;
            }
        }
    }
    assert!(passed >= 3, "{passed}");
}

/// A procedure of one kernel and one test.
fn procedure(kernel: &str, test: Value) -> Value {
    let mut test = test;
    test["id"] = json!("T");
    for dispatch in test["dispatches"].as_array_mut().expect("dispatches") {
        dispatch["kernel"] = json!("k");
        if dispatch["groups"].is_null() {
            dispatch["groups"] = json!([1, 1, 1]);
        }
    }
    let kernel = json!({"source": {"text": kernel}, "target_env": "vulkan1.2"});
    json!({"schema": 1, "kernels": {"k": kernel}, "tests": [test]})
}

fn outcome(procedure: &Value) -> Value {
    outcome_on("vulkan", procedure)
}

fn outcome_on(engine: &str, procedure: &Value) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let path = write(folder.path(), "t.json", procedure.to_string());
    tests_of(&path, engine).remove(0)
}

/// Formats with their GLSL qualifier, image type prefix, and whether every device stores them
/// (Vulkan specification, "Mandatory format support: storage image").
const STORED: &[(&str, &str, bool)] = &[
    ("rgba32f", "", true),
    ("rgba16f", "", true),
    ("r32f", "", true),
    ("rgba8", "", true),
    ("rgba8_snorm", "", true),
    ("rgba32i", "i", true),
    ("rgba16i", "i", true),
    ("rgba8i", "i", true),
    ("r32i", "i", true),
    ("rgba32ui", "u", true),
    ("rgba16ui", "u", true),
    ("rgba8ui", "u", true),
    ("r32ui", "u", true),
    ("rg32f", "", false),
    ("rg16f", "", false),
    ("r11f_g11f_b10f", "", false),
    ("r16f", "", false),
    ("rgba16", "", false),
    ("rgb10_a2", "", false),
    ("rg16", "", false),
    ("rg8", "", false),
    ("r16", "", false),
    ("r8", "", false),
    ("rgba16_snorm", "", false),
    ("rg16_snorm", "", false),
    ("rg8_snorm", "", false),
    ("r16_snorm", "", false),
    ("r8_snorm", "", false),
    ("rg32i", "i", false),
    ("rg16i", "i", false),
    ("rg8i", "i", false),
    ("r16i", "i", false),
    ("r8i", "i", false),
    ("rgb10_a2ui", "u", false),
    ("rg32ui", "u", false),
    ("rg16ui", "u", false),
    ("rg8ui", "u", false),
    ("r16ui", "u", false),
    ("r8ui", "u", false),
];

/// Random texels that a format holds: whole numbers within the narrowest width, or fractions within
/// 0 to 1.
fn random_image(format: &str, prefix: &str, seed: u64) -> Value {
    let (min, max) = match prefix {
        "u" => (json!(0), json!(3)),
        "i" => (json!(-128), json!(127)),
        _ => (json!(0.0), json!(1.0)),
    };
    json!({"dim": "2d", "format": format, "extent": [5, 3], "layers": 2,
           "fill": {"random": {"seed": seed, "min": min, "max": max}}})
}

#[test]
fn every_storage_format_is_read_and_written_texel_by_texel() {
    if !has_device() {
        return;
    }
    let mut unsupported = Vec::new();
    for (index, (format, prefix, required)) in STORED.iter().enumerate() {
        let kernel = format!(
            "#version 450\nlayout(local_size_x = 5, local_size_y = 3, local_size_z = 2) in;\n\
             layout(binding = 0, {format}) uniform readonly {prefix}image2DArray from;\n\
             layout(binding = 1, {format}) uniform writeonly {prefix}image2DArray into;\n\
             void main() {{ ivec3 at = ivec3(gl_LocalInvocationID);\n\
             imageStore(into, ivec3(4 - at.x, 2 - at.y, 1 - at.z), imageLoad(from, at)); }}"
        );
        let dispatch = |from: &str, into: &str| json!({"bindings": [{"binding": 0, "image": from}, {"binding": 1, "image": into}]});
        let blank = json!({"dim": "2d", "format": format, "extent": [5, 3], "layers": 2});
        // Turned round twice it is what it was, and turned once it is not.
        let test = json!({
            "images": {"a": random_image(format, prefix, 40 + index as u64), "b": blank, "c": blank},
            "dispatches": [dispatch("a", "b"), dispatch("b", "c")],
            "expect": [{"image": "c", "equals_image": "a"}]});
        let seen = outcome(&procedure(&kernel, test.clone()));
        assert_eq!(seen["findings"], json!([]), "{format}");
        let sequential = outcome_on("sequential", &procedure(&kernel, test));
        assert_eq!(
            (&sequential["verdict"], &sequential["findings"]),
            (&json!("pass"), &json!([])),
            "{format}"
        );
        if seen["verdict"] == "pass" {
            assert_eq!(sequential["buffers"], seen["buffers"], "{format}");
        }
        match seen["verdict"].as_str() {
            Some("pass") => assert_ne!(seen["buffers"]["a"], seen["buffers"]["b"], "{format}"),
            Some("unsupported") if !required => {
                let reason = seen["reason"].as_str().expect("a reason");
                assert!(reason.contains(format) || reason.contains("Format"), "{format}: {reason}");
                unsupported.push(format!("{format}: {reason}"));
            }
            _ => panic!("{format}: {seen}"),
        }
    }
    println!("not stored here: {unsupported:#?}");
    assert!(unsupported.len() <= STORED.len() / 2, "{unsupported:#?}");
}

/// What a device reads from a texel is what this tool decodes: the kernel writes components out as
/// numbers.
#[test]
fn every_sampled_format_is_decoded_as_the_device_decodes_it() {
    if !has_device() {
        return;
    }
    let mut sampled = 0;
    let others = [("rgba8_srgb", "", false), ("d16", "", false), ("d32f", "", false)];
    for (index, (format, prefix, _)) in STORED.iter().chain(&others).enumerate() {
        let (vector, wide) = match *prefix {
            "u" => ("uvec4", "rgba32ui"),
            "i" => ("ivec4", "rgba32i"),
            _ => ("vec4", "rgba32f"),
        };
        let kernel = format!(
            "#version 450\n#extension GL_EXT_samplerless_texture_functions : require\nlayout(local_size_x = 15) in;\n\
             layout(binding = 0) uniform {prefix}texture2DArray from;\n\
             layout(binding = 1, {wide}) uniform writeonly {prefix}image2DArray into;\n\
             layout(binding = 2) buffer Out {{ {vector} seen[]; }};\n\
             void main() {{ int i = int(gl_LocalInvocationIndex); ivec3 at = ivec3(i % 5, i / 5, 1);\n\
             seen[i] = texelFetch(from, at, 0); imageStore(into, at, seen[i]); }}"
        );
        let wide = json!({"dim": "2d", "format": wide, "extent": [5, 3], "layers": 2});
        let test = json!({
            "images": {"a": random_image(format, prefix, 90 + index as u64), "wide": wide},
            "buffers": {"out": {"type": vector, "count": 15}},
            "dispatches": [{"bindings": [{"binding": 0, "image": "a"}, {"binding": 1, "image": "wide"},
                                         {"binding": 2, "buffer": "out"}]}]});
        let sequential = outcome_on("sequential", &procedure(&kernel, test.clone()));
        assert_eq!(
            (&sequential["verdict"], &sequential["findings"]),
            (&json!("pass"), &json!([])),
            "{format}"
        );
        compare_decoded(format, &sequential);
        let seen = outcome(&procedure(&kernel, test));
        assert_eq!(seen["findings"], json!([]), "{format}");
        if seen["verdict"] == "unsupported" {
            println!("{format}: {}", seen["reason"]);
            continue;
        }
        assert_eq!(seen["verdict"], "pass", "{format}: {seen}");
        compare_decoded(format, &seen);
        sampled += 1;
    }
    assert!(sampled >= 35, "{sampled}");
}

/// Compares layer 1 of the stored texels, decoded here, with what the kernel saw; sRGB within what
/// a driver may round.
fn compare_decoded(format: &str, seen: &Value) {
    use base64::Engine as _;
    use vkcert::model::image::ImageFormat;
    let bytes = |name: &str| {
        let text = seen["buffers"][name].as_str().expect("base64");
        base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
    };
    let parsed: ImageFormat = serde_json::from_value(json!(format)).expect("a format");
    let stored = bytes("a");
    let decoded = vkcert::oracle::texel::decode_texels(parsed, &stored[stored.len() / 2..]);
    let (width, components) = (parsed.component().size(), usize::from(parsed.components()));
    let out = bytes("out");
    for (index, part) in decoded.chunks_exact(width).enumerate() {
        let place = index / components * 16 + index % components * 4;
        let word: [u8; 4] = out[place..place + 4].try_into().expect("4 bytes");
        let own = |bytes: &[u8]| {
            bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte))
        };
        let agrees = match parsed.class() {
            vkcert::model::image::TexelClass::Float => {
                let here = if width == 2 {
                    half::f16::from_bits(own(part) as u16).to_f32()
                } else {
                    f32::from_le_bytes(part.try_into().expect("4 bytes"))
                };
                let bound = if format.contains("srgb") { 2e-3 } else { 1e-6 };
                (here - f32::from_le_bytes(word)).abs() <= bound
            }
            vkcert::model::image::TexelClass::Signed => {
                let shift = 64 - width * 8;
                ((own(part) << shift) as i64) >> shift == i64::from(i32::from_le_bytes(word))
            }
            vkcert::model::image::TexelClass::Unsigned => {
                own(part) == u64::from(u32::from_le_bytes(word))
            }
        };
        assert!(agrees, "{format}: component {index} is {part:x?} here and {word:x?} there");
    }
}

#[test]
fn a_wrong_texel_is_a_mismatch_at_its_byte_with_its_value() {
    if !has_device() {
        return;
    }
    let kernel = "#version 450\nlayout(local_size_x = 4) in;\nlayout(binding = 0, rgba8) uniform image2D img;\n\
                  void main() { imageStore(img, ivec2(gl_LocalInvocationIndex, 0), vec4(0.25, 0.5, 0.75, 1.0)); }";
    let test = json!({
        "images": {"img": {"dim": "2d", "format": "rgba8", "extent": [4, 1]}},
        "dispatches": [{"bindings": [{"binding": 0, "image": "img"}]}],
        "expect": [{"image": "img", "offset": 8, "values": [[0.25, 0.5, 0.5, 1.0]]}]});
    let seen = outcome(&procedure(kernel, test.clone()));
    assert_eq!(seen["verdict"], "fail", "{seen}");
    let mismatch = &seen["mismatches"][0];
    assert_eq!((&mismatch["buffer"], &mismatch["offset"]), (&json!("img"), &json!(10)), "{seen}");
    assert!((mismatch["actual"].as_f64().expect("a number") - 0.75).abs() < 0.01, "{seen}");
    let mut near = test;
    near["expect"][0]["tolerance"] = json!({"abs": 0.3});
    assert_eq!(outcome(&procedure(kernel, near))["verdict"], "pass");
}

#[test]
fn what_a_device_lacks_is_unsupported_by_the_name_of_the_feature() {
    if !has_device() {
        return;
    }
    let store = |declared: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0{declared}) uniform writeonly image2D img;\n\
             void main() {{ imageStore(img, ivec2(0), vec4(1)); }}"
        )
    };
    let image = |format: &str, extent: [u32; 2]| {
        json!({"images": {"img": {"dim": "2d", "format": format, "extent": extent}},
               "dispatches": [{"bindings": [{"binding": 0, "image": "img"}]}]})
    };
    let sampled = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) uniform usampler2D img;\n\
                   layout(binding = 1) buffer Out { uint seen; };\nvoid main() { seen = textureLod(img, vec2(0.5), 0.0).x; }";
    let texels = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0, r32ui) uniform uimageBuffer t;\n\
                  void main() { imageStore(t, 0, uvec4(1)); }";
    let combined = json!({
        "images": {"img": {"dim": "2d", "format": "r32ui", "extent": [1, 1]}}, "samplers": {"s": {"filter": "linear"}},
        "buffers": {"out": {"type": "uint", "count": 1}},
        "dispatches": [{"bindings": [{"binding": 0, "image": "img", "sampler": "s"}, {"binding": 1, "buffer": "out"}]}]});
    let misaligned = json!({
        "buffers": {"t": {"type": "uint", "count": 64}},
        "dispatches": [{"bindings": [{"binding": 0, "buffer": "t", "offset": 4}]}]});
    let cases = [
        (
            store(""),
            image("rgba8_srgb", [1, 1]),
            "image `img`: format rgba8_srgb (format feature STORAGE_IMAGE of",
        ),
        (
            store(", rgba8"),
            image("rgba8", [200_000, 1]),
            "image `img`: 200000 texels in x (maxExtent is",
        ),
        (
            sampled.to_owned(),
            combined,
            "format feature SAMPLED_IMAGE_FILTER_LINEAR of VK_FORMAT_R32_UINT",
        ),
        (
            texels.to_owned(),
            misaligned,
            "offset 4 (set 0, binding 0; minTexelBufferOffsetAlignment is ",
        ),
    ];
    for (kernel, test, expected) in cases {
        let seen = outcome(&procedure(&kernel, test));
        assert_eq!(seen["verdict"], "unsupported", "{seen}");
        assert!(
            seen["reason"].as_str().is_some_and(|reason| reason.contains(expected)),
            "{expected}: {}",
            seen["reason"]
        );
        assert_eq!(seen["findings"], json!([]), "the driver was not asked");
    }
}

/// Of the features that `capabilities_run_or_are_named` asks for, those that `vulkaninfo` does not
/// show for Mesa 22.3.6.
const LAVAPIPE_LACKS: &[&str] = &[
    "shaderStorageImageReadWithoutFormat",
    "shaderImageInt64Atomics",
    "shaderSampledImageArrayDynamicIndexing",
    "StorageImageArray",
];

/// Each kernel either runs or names the feature; never anything else, and the layer is silent.
#[test]
fn capabilities_run_or_are_named() {
    if !has_device() {
        return;
    }
    let head = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : enable\n\
                #extension GL_EXT_shader_image_int64 : enable\n#extension GL_EXT_shader_image_load_formatted : enable\n\
                #extension GL_EXT_shader_atomic_float : enable\n#extension GL_EXT_nonuniform_qualifier : enable\n\
                #extension GL_EXT_samplerless_texture_functions : enable\n#extension GL_EXT_shader_atomic_int64 : enable\n\
                layout(local_size_x = 1) in;\nlayout(binding = 1) buffer Out { uint seen; };\n";
    let image = |format: &str| json!({"dim": "2d", "format": format, "extent": [2, 2], "fill": {"constant": 0}});
    let one = |kernel: &str, format: &str| {
        (kernel.to_owned(), json!({"img": image(format)}), json!([{"binding": 0, "image": "img"}]))
    };
    let two =
        json!([{"binding": 0, "image": "img"}, {"binding": 0, "array_index": 1, "image": "other"}]);
    let pair = |kernel: &str, format: &str| {
        (kernel.to_owned(), json!({"img": image(format), "other": image(format)}), two.clone())
    };
    let cases = [
        (
            one(
                "layout(binding = 0) uniform image2D img; void main() { seen = uint(imageLoad(img, ivec2(0)).x); }",
                "rgba8",
            ),
            "shaderStorageImageReadWithoutFormat",
        ),
        (
            one(
                "layout(binding = 0, r64ui) uniform u64image2D img; void main() { seen = uint(imageAtomicAdd(img, ivec2(0), 1ul)); }",
                "r64ui",
            ),
            "shaderImageInt64Atomics",
        ),
        (
            one(
                "layout(binding = 0, r32f) uniform image2D img; void main() { seen = uint(imageAtomicAdd(img, ivec2(0), 1.0)); }",
                "r32f",
            ),
            "shaderImageFloat32AtomicAdd",
        ),
        (
            one(
                "layout(binding = 0, r32ui) uniform uimage2D img; void main() { seen = imageAtomicAdd(img, ivec2(0), 1u); }",
                "r32ui",
            ),
            "STORAGE_IMAGE_ATOMIC",
        ),
        (
            pair(
                "layout(binding = 0) uniform texture2D img[2]; void main() { seen = uint(texelFetch(img[gl_WorkGroupID.x], ivec2(0), 0).x); }",
                "rgba8",
            ),
            "shaderSampledImageArrayDynamicIndexing",
        ),
        (
            pair(
                "layout(binding = 0, r32f) uniform image2D img[2]; void main() { seen = uint(imageLoad(img[nonuniformEXT(gl_WorkGroupID.x)], ivec2(0)).x); }",
                "r32f",
            ),
            "StorageImageArray",
        ),
        (
            one(
                "shared uint64_t sum; layout(binding = 0, r32f) uniform image2D img; void main() { sum = 0ul; seen = uint(atomicAdd(sum, 1ul)); imageStore(img, ivec2(0), vec4(0)); }",
                "r32f",
            ),
            "Int64",
        ),
    ];
    for ((kernel, images, mut bindings), feature) in cases {
        bindings.as_array_mut().expect("a list").push(json!({"binding": 1, "buffer": "out"}));
        let test = json!({"images": images, "buffers": {"out": {"type": "uint", "count": 1}},
                          "dispatches": [{"bindings": bindings}]});
        let seen = outcome(&procedure(&format!("{head}{kernel}\n"), test));
        assert_eq!(seen["findings"], json!([]), "{feature}");
        let lacking = match (seen["verdict"].as_str(), seen["reason"].as_str()) {
            (Some("pass"), _) => false,
            (Some("unsupported"), Some(reason)) if reason.contains(feature) => true,
            _ => panic!("{feature}: {seen}"),
        };
        if is_lavapipe() {
            assert_eq!(lacking, LAVAPIPE_LACKS.contains(&feature), "{feature}: {seen}");
        }
    }
}

#[test]
fn a_shadow_sampler_needs_a_comparison_and_a_depth_format() {
    let kernel = |declared: &str, sampled: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 1) in;\n{declared}\nlayout(binding = 1) buffer Out {{ float seen; }};\n\
             void main() {{ seen = textureLod({sampled}, vec3(0.5), 0.0); }}"
        )
    };
    let test = |format: &str, compare: Value, bindings: Value| {
        json!({"images": {"img": {"dim": "2d", "format": format, "extent": [1, 1], "fill": {"constant": 0.25}}},
               "samplers": {"s": compare}, "buffers": {"out": {"type": "float", "count": 1}},
               "dispatches": [{"bindings": bindings}], "expect": [{"buffer": "out", "values": [0]}]})
    };
    let folder = tempfile::tempdir().expect("a folder");
    let own = kernel("layout(binding = 0) uniform sampler2DShadow img;", "img");
    let together =
        json!([{"binding": 0, "image": "img", "sampler": "s"}, {"binding": 1, "buffer": "out"}]);
    let path = write(
        folder.path(),
        "t.json",
        procedure(&own, test("d32f", json!({}), together)).to_string(),
    );
    let refused =
        run(vkcert().arg("run").arg(path).args(["--engine", "sequential", "--format", "json"]), 2);
    assert!(String::from_utf8_lossy(&refused.stdout).contains("the sampler `s` has no `compare`"));
    if !has_device() {
        return;
    }
    let apart = kernel(
        "layout(binding = 0) uniform texture2D img; layout(binding = 2) uniform samplerShadow s;",
        "sampler2DShadow(img, s)",
    );
    let bindings = json!([{"binding": 0, "image": "img"}, {"binding": 2, "sampler": "s"}, {"binding": 1, "buffer": "out"}]);
    let less = json!({"compare": "less", "max_lod": 2});
    let seen = outcome(&procedure(&apart, test("r32f", less.clone(), bindings.clone())));
    assert_eq!(seen["verdict"], "unsupported", "{seen}");
    assert!(
        seen["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("SAMPLED_IMAGE_DEPTH_COMPARISON")),
        "{seen}"
    );
    let seen = outcome(&procedure(&apart, test("d32f", less, bindings)));
    assert!(seen["verdict"] == "pass" || !is_lavapipe(), "{seen}");
    assert_eq!(seen["findings"], json!([]));
}

#[test]
fn a_worker_keeps_nothing_of_a_job() {
    let Some(mut engine) = device::device() else { return };
    let (mut ran, mut seen) = (0, Vec::new());
    for file in files() {
        let procedure =
            load_procedure(&file).unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        if procedure.procedure.kernels.values().any(|kernel| kernel.language != Language::Glsl) {
            continue;
        }
        let kernels = compiled::kernels(&procedure);
        for test in &procedure.tests {
            let prepared = prepare_test(test, &compiled::setting(&kernels, &procedure.base))
                .expect("prepares");
            for _ in 0..3 {
                let done = engine.run(&prepared.job, &mut Unobserved).expect("the engine runs");
                assert_eq!(
                    (done.completion, done.findings),
                    (Completion::Completed, Vec::new()),
                    "{}",
                    test.id
                );
                seen.push(done.buffers);
                ran += 1;
            }
            assert!(
                seen.windows(2).all(|pair| pair[0] == pair[1]),
                "{}: outputs differ from run to run",
                test.id
            );
            seen.clear();
        }
    }
    assert!(ran >= 60, "{ran}");
    // What was not destroyed the layer names when the device goes.
    assert_eq!(engine.close().expect("closes"), []);
}

const ADDRESSED: &str = "#version 460\n#extension GL_EXT_buffer_reference : require\nlayout(local_size_x = 1) in;\n\
    layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };\n\
    layout(push_constant) uniform P { Words into; uint at; };\nvoid main() { into.word[at] = 77u; }";

#[test]
fn a_write_beside_an_addressed_buffer_is_found_by_its_guard_zone() {
    if !has_device() {
        return;
    }
    let at = |at: u32| {
        let test = json!({
            "buffers": {"into": {"type": "uint", "fill": {"constant": 0}, "count": 4}},
            "dispatches": [{"push_constants": {"into": {"address_of": "into"}, "at": at}}],
            "expect": [{"buffer": "into", "values": [0, 0, 0, 77]}]});
        outcome(&procedure(ADDRESSED, test))
    };
    let inside = at(3);
    if inside["verdict"] == "unsupported" {
        assert_eq!(inside["reason"], "device addresses (feature bufferDeviceAddress)");
        return;
    }
    assert_eq!((&inside["verdict"], &inside["findings"]), (&json!("pass"), &json!([])));
    let beyond = at(6);
    assert_eq!(beyond["verdict"], "fail");
    let kinds: Vec<&Value> = beyond["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .map(|finding| &finding["kind"])
        .collect();
    assert!(kinds.contains(&&json!("out-of-bounds")), "{beyond}");
}

#[test]
fn outputs_with_addresses_are_the_same_in_every_run() {
    if !has_device() {
        return;
    }
    let file = root().join("tests/resources/addresses.toml");
    let buffers =
        |tests: Vec<Value>| tests.iter().map(|test| test["buffers"].clone()).collect::<Vec<_>>();
    let first = buffers(tests_of(&file, "vulkan"));
    assert!(
        first.iter().any(|buffers| buffers.as_object().is_some_and(|buffers| !buffers.is_empty()))
    );
    assert_eq!(first, buffers(tests_of(&file, "vulkan")));
}

#[test]
fn the_report_of_an_image_test_is_verified_again_from_its_stored_outputs() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = "#version 450\nlayout(local_size_x = 2) in;\nlayout(binding = 0, rg8) uniform image1D img;\n\
                  void main() { int i = int(gl_LocalInvocationIndex); imageStore(img, i, vec4(0.2 * float(i), 1, 0, 0)); }\n";
    write(folder.path(), "glsl/k.comp", kernel);
    write(
        folder.path(),
        "vkcert.toml",
        "schema = 1\nname = \"P\"\nlevel = \"D\"\n[[kernel]]\nname = \"k\"\nsource = \"glsl/k.comp\"\n",
    );
    let requirement = "schema = 1\n[[requirement]]\nuid = \"HLR-001\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\n\
        verification = [\"test\"]\n[[test]]\nid = \"TC-1\"\nrequirements = [\"HLR-001\"]\n\
        images.img = { dim = \"1d\", format = \"rg8\", extent = [2] }\n\
        dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, image = \"img\" }] }]\n\
        expect = [{ image = \"img\", values = [[0, 1], [0.2, 1]] }]\n";
    write(folder.path(), "requirements/r.toml", requirement);
    run(vkcert().arg("build").arg(folder.path()), 0);
    let out = folder.path().join("reports");
    let output = vkcert()
        .arg("certify")
        .arg(folder.path())
        .args(["--engine", "vulkan", "--out"])
        .arg(&out)
        .output()
        .expect("starts");
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(out.join("evidence/manifest.json").is_file(), "{said}");
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    let evidence = std::fs::read_dir(out.join("evidence")).expect("evidence");
    let texts: Vec<String> = evidence
        .filter_map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).ok())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("\"format\":\"rg8\"") || text.contains("\"format\": \"rg8\"")),
        "{said}"
    );
}
