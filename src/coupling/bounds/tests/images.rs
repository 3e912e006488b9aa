//! Accesses of images whose extents the host states, in pairs: out of bounds, and mended.

use super::{bounds_rows, compiled, counted, is_open};
use serde_json::{Value, json};
use vkcert_model::evidence::{CheckStatus, CouplingCheck};

/// A host with one image at binding 0, a `width` by `height` of 8 to 64 texels that it pushes, and
/// workgroups of 8 by 8 that cover them.
fn rows_of(image: Value, kernel: &str) -> Vec<CouplingCheck> {
    let mut stated = json!({ "set": 0, "binding": 0, "format": "r32ui" });
    stated.as_object_mut().unwrap().extend(image.as_object().unwrap().clone());
    let host = json!({
        "kernel": "k",
        "parameters": [
            { "name": "width", "type": "uint32", "min": 8, "max": 64 },
            { "name": "height", "type": "uint32", "min": 8, "max": 64 },
        ],
        "push_constants": { "members": [
            { "name": "width", "type": "uint32" },
            { "name": "height", "type": "uint32" },
        ]},
        "images": [stated],
        "buffers": [{ "set": 0, "binding": 1, "size": "4" }],
        "groups": ["(width + 7) / 8", "(height + 7) / 8", "1"],
    });
    let text = format!(
        "#version 450
        layout(local_size_x = 8, local_size_y = 8) in;
        layout(push_constant) uniform P {{ uint width; uint height; }};
        layout(std430, binding = 1) buffer O {{ uint o; }};
        {kernel}"
    );
    bounds_rows(&compiled(&text), &serde_json::from_value(host).unwrap())
}

/// Asserts that the first kernel has an access of this status, and that all of the second are
/// proved; the message that the first is told with.
fn assert_pair(image: &Value, status: CheckStatus, failing: &str, mended: &str) -> String {
    let rows = rows_of(image.clone(), failing);
    let told = rows.iter().find(|row| row.status == status);
    let message = told.unwrap_or_else(|| panic!("{failing}\n{rows:#?}")).message.clone();
    let rows = rows_of(image.clone(), mended);
    assert!(!rows.iter().any(is_open), "{mended}\n{rows:#?}");
    assert!(counted(&rows)["holds"] > 0, "{rows:#?}");
    message
}

const REFUTED: CheckStatus = CheckStatus::Refuted;
const UNDETERMINED: CheckStatus = CheckStatus::Undetermined;

fn storage(dimension: &str, extent: &[&str]) -> Value {
    json!({ "class": "storage_image", "dimension": dimension, "extent": extent })
}

#[test]
fn an_image_is_guarded_by_what_the_host_makes_it() {
    let kernel = |condition: &str| {
        format!(
            "layout(binding = 0, r32ui) uniform uimage2D picture;
            void main() {{
                uvec2 place = gl_GlobalInvocationID.xy;
                if ({condition}) imageStore(picture, ivec2(place), uvec4(1u));
            }}"
        )
    };
    let image = storage("2d", &["width", "height"]);
    let right = kernel("place.x < width && place.y < height");
    let message =
        assert_pair(&image, REFUTED, &kernel("place.x < width && place.y <= height"), &right);
    assert!(message.contains("lies outside of `picture`"), "{message}");
    assert!(message.contains("with buffers and images that hold zeros"), "{message}");
    // Without guard the dispatch is larger than the image, unless the image has whole workgroups.
    assert_pair(&image, REFUTED, &kernel("true"), &right);
    let whole = storage("2d", &["(width + 7) / 8 * 8", "(height + 7) / 8 * 8"]);
    let rows = rows_of(whole, &kernel("true"));
    assert!(!rows.iter().any(is_open), "{rows:#?}");
    // The other way round.
    let turned = storage("2d", &["height", "width"]);
    assert_pair(&turned, REFUTED, &right, &kernel("place.x < height && place.y < width"));
    // What the kernel asks for is what the host states.
    let asked = "all(lessThan(ivec2(place), imageSize(picture)))";
    assert_pair(&turned, REFUTED, &right, &kernel(asked));
}

#[test]
fn an_atomic_is_an_access_of_its_texel() {
    let kernel = |x: &str| {
        format!(
            "layout(binding = 0, r32ui) uniform uimage1D counts;
            void main() {{ imageAtomicAdd(counts, int({x}), 1u); }}"
        )
    };
    let image = storage("1d", &["width"]);
    assert_pair(&image, REFUTED, &kernel("height"), &kernel("width - 1u"));
}

#[test]
fn layers_and_slices_have_bounds_too() {
    let layered = json!({
        "class": "storage_image", "dimension": "2d", "layered": true,
        "extent": ["8", "8"], "layers": "width / 8"
    });
    let kernel = |kind: &str, z: &str| {
        format!(
            "layout(binding = 0, r32ui) uniform {kind} field;
            void main() {{
                uvec3 place = uvec3(gl_LocalInvocationID.xy, {z});
                imageStore(field, ivec3(place), uvec4(1u));
            }}"
        )
    };
    let group = "gl_WorkGroupID.x";
    assert_pair(
        &layered,
        REFUTED,
        &kernel("uimage2DArray", group),
        &kernel("uimage2DArray", "min(gl_WorkGroupID.x, width / 8u - 1u)"),
    );
    let volume = storage("3d", &["8", "8", "(width + 7) / 8"]);
    assert_pair(&volume, REFUTED, &kernel("uimage3D", "width"), &kernel("uimage3D", group));
}

#[test]
fn a_level_has_half_as_many_texels_and_must_be_there() {
    let combined = |levels: &str| {
        json!({
            "class": "combined", "dimension": "2d",
            "extent": ["width", "height"], "levels": levels
        })
    };
    let kernel = |place: &str, level: &str| {
        format!(
            "layout(binding = 0) uniform usampler2D picture;
            void main() {{
                int level = int({level});
                o = texelFetch(picture, ivec2({place}), level).x;
            }}"
        )
    };
    let last = "max(1u, width >> 1) - 1u, 0";
    assert_pair(&combined("4"), REFUTED, &kernel("width / 2u, 0", "1"), &kernel(last, "1"));
    // A level that the image has not.
    assert_pair(&combined("2"), REFUTED, &kernel("0, 0", "2"), &kernel("0, 0", "1"));
    let of_group = "max(1u, width >> level) - 1u, 0";
    assert_pair(
        &combined("3"),
        REFUTED,
        &kernel(of_group, "gl_WorkGroupID.x"),
        &kernel(of_group, "min(gl_WorkGroupID.x, 2u)"),
    );
    // What is asked for of a level that is there.
    let asked = "textureSize(picture, level).x - 1, 0";
    assert_pair(
        &combined("4"),
        REFUTED,
        &kernel("textureSize(picture, level).x, 0", "3"),
        &kernel(asked, "3"),
    );
}

#[test]
fn what_samples_is_not_run() {
    let image = json!({
        "class": "combined", "dimension": "2d", "extent": ["width", "height"]
    });
    let kernel = |x: &str| {
        format!(
            "layout(binding = 0) uniform usampler2D picture;
            void main() {{
                o = texelFetch(picture, ivec2({x}, 0), 0).x + textureLod(picture, vec2(0.5), 0.0).x;
            }}"
        )
    };
    let message = assert_pair(&image, UNDETERMINED, &kernel("width"), &kernel("width - 1u"));
    assert!(message.contains("it may exceed width - 1"), "{message}");
}

#[test]
fn an_extent_that_no_image_has_bounds_nothing() {
    let kernel = "layout(binding = 0, r32ui) uniform uimage1D line;
        void main() { imageStore(line, 0, uvec4(1u)); imageStore(line, 4, uvec4(1u)); }";
    let rows = rows_of(storage("1d", &["width - 8"]), kernel);
    let counts = counted(&rows);
    assert_eq!(
        (counts.get("holds"), counts.get("undetermined")),
        (Some(&1), Some(&1)),
        "{rows:#?}"
    );
    assert_eq!(counts.get("refuted"), None, "{rows:#?}");
}
