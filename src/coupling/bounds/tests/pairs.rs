//! Kernels in pairs: one in which an access is not within bounds, or cannot be shown to be, and the
//! same one mended.

use super::{bounds_rows, compiled, counted, is_open};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::requirement::Interface;

/// What all kernels of this file declare.
const HEAD: &str = "#version 450
    layout(local_size_x = 8) in;
    layout(std430, binding = 0) buffer A { float a[]; };
    layout(std430, binding = 1) buffer B { uint b[]; };
    layout(push_constant) uniform P { uint m; uint n; int s; };
    shared float tile[8][4];
    ";

/// A host with `m * n` floats in `a` and `n` words in `b`.
fn host(groups: &str) -> serde_json::Value {
    serde_json::json!({
        "kernel": "k",
        "parameters": [
            { "name": "m", "type": "uint32", "min": 1, "max": 4096 },
            { "name": "n", "type": "uint32", "min": 1, "max": 4096 },
            { "name": "s", "type": "int32", "min": -8, "max": 8 },
        ],
        "push_constants": { "members": [
            { "name": "m", "type": "uint32" },
            { "name": "n", "type": "uint32" },
            { "name": "s", "type": "int32" },
        ]},
        "buffers": [
            { "set": 0, "binding": 0, "size": "m * n * 4" },
            { "set": 0, "binding": 1, "size": "n * 4" },
        ],
        "groups": [groups, "1", "1"],
    })
}

fn interface(groups: &str) -> Interface {
    serde_json::from_value(host(groups)).unwrap()
}

/// Asserts that the first body has an access of this status and that all of the second are proved.
fn assert_pair(groups: &str, status: CheckStatus, failing: &str, mended: &str) {
    let rows_of = |body: &str| bounds_rows(&compiled(&format!("{HEAD}{body}")), &interface(groups));
    let rows = rows_of(failing);
    assert!(rows.iter().any(|row| row.status == status), "{failing}\n{rows:#?}");
    let rows = rows_of(mended);
    assert!(!rows.iter().any(is_open), "{mended}\n{rows:#?}");
    assert!(counted(&rows)["holds"] > 0, "{rows:#?}");
}

const REFUTED: CheckStatus = CheckStatus::Refuted;
const UNDETERMINED: CheckStatus = CheckStatus::Undetermined;
const COVERING: &str = "(n + 7) / 8";

#[test]
fn a_guard_must_be_that_of_the_buffer() {
    assert_pair(
        COVERING,
        REFUTED,
        "void main() { uint x = gl_GlobalInvocationID.x; if (x <= n) { b[x] = 1u; } }",
        "void main() { uint x = gl_GlobalInvocationID.x; if (x < n) { b[x] = 1u; } }",
    );
    assert_pair(
        COVERING,
        REFUTED,
        "void main() { b[gl_GlobalInvocationID.x] = 1u; }",
        "void main() { uint x = gl_GlobalInvocationID.x; if (x >= n) return; b[x] = 1u; }",
    );
}

#[test]
fn rows_of_a_matrix_are_bounded_by_both_sides() {
    let body = |condition: &str| {
        format!(
            "void main() {{ uint x = gl_GlobalInvocationID.x;
                for (uint y = 0u; y {condition} m; ++y) {{ if (x < n) a[y * n + x] = 1.0; }} }}"
        )
    };
    assert_pair(COVERING, REFUTED, &body("<="), &body("<"));
}

#[test]
fn the_dispatch_bounds_ids_without_a_guard() {
    assert_pair(
        "n",
        REFUTED,
        "void main() { b[gl_GlobalInvocationID.x] = 1u; }",
        "void main() { b[gl_WorkGroupID.x] = 1u; }",
    );
}

#[test]
fn tiles_are_indexed_by_local_ids() {
    assert_pair(
        "1",
        REFUTED,
        "void main() { uint lane = gl_LocalInvocationID.x; tile[lane][lane] = 1.0; }",
        "void main() { uint lane = gl_LocalInvocationID.x; tile[lane][lane % 4u] = 1.0; }",
    );
    assert_pair(
        "1",
        REFUTED,
        "void main() { uint lane = gl_LocalInvocationID.x; tile[lane + 1u][0] = 1.0; }",
        "void main() { uint lane = gl_LocalInvocationID.x; tile[lane >> 1][lane & 3u] = 1.0; }",
    );
}

#[test]
fn a_difference_without_sign_must_not_wrap() {
    assert_pair(
        COVERING,
        REFUTED,
        "void main() { uint x = gl_GlobalInvocationID.x; if (x < n) b[x - 1u] = 1u; }",
        "void main() { uint x = gl_GlobalInvocationID.x; if (x < n && x > 0u) b[x - 1u] = 1u; }",
    );
    // The sum wraps to a small number, which the guard lets pass.
    assert_pair(
        COVERING,
        REFUTED,
        "void main() { uint x = gl_GlobalInvocationID.x; uint far = x + 4294967288u;
            if (far < n || x == 0u) b[far] = 1u; }",
        "void main() { uint x = gl_GlobalInvocationID.x; uint far = x + 4294967288u;
            if (far < n) b[far] = 1u; }",
    );
}

#[test]
fn a_product_that_can_wrap_is_not_taken_for_the_number() {
    // m * n * n * n exceeds 32 bits: the guard holds for the word, and the word is the index.
    assert_pair(
        "1",
        UNDETERMINED,
        "void main() { uint word = m * n * n * n; if (word < n) { b[word + 1u] = 1u; } }",
        "void main() { uint word = m * n * n * n; if (word < n) { b[word] = 1u; } }",
    );
}

#[test]
fn signed_indices_must_not_be_negative() {
    assert_pair(
        "1",
        REFUTED,
        "void main() { if (s < int(n)) b[s] = 1u; }",
        "void main() { if (s >= 0 && s < int(n)) b[s] = 1u; }",
    );
    assert_pair(
        "1",
        REFUTED,
        "void main() { b[clamp(s, -1, int(n) - 1)] = 1u; }",
        "void main() { b[clamp(s, 0, int(n) - 1)] = 1u; }",
    );
}

#[test]
fn contents_of_memory_are_bounded_only_by_what_the_kernel_does_to_them() {
    let body =
        |index: &str| format!("void main() {{ uint x = gl_WorkGroupID.x; b[{index}] = 2u; }}");
    for bounded in ["min(b[x], n - 1u)", "b[x] % n", "b[x] < n ? b[x] & 0u : 0u"] {
        assert_pair("n", UNDETERMINED, &body("b[x]"), &body(bounded));
    }
}

#[test]
fn loops_are_followed_with_their_strides() {
    let body = |step: &str| {
        format!(
            "void main() {{ for (uint i = gl_LocalInvocationID.x; i < n; i += 8u) {{ b[i{step}] = 1u; }} }}"
        )
    };
    assert_pair("1", REFUTED, &body(" + 1u"), &body(""));
    let halving = |start: &str| {
        format!(
            "void main() {{ uint lane = gl_LocalInvocationID.x;
                for (uint reach = {start}; reach > 0u; reach /= 2u) {{
                    if (lane < reach) tile[lane + reach][0] = 1.0; }} }}"
        )
    };
    assert_pair("1", REFUTED, &halving("8u"), &halving("4u"));
    let descending = |start: &str| {
        format!("void main() {{ for (uint i = {start}; i > 0u; --i) {{ b[i - 1u] = 1u; }} }}")
    };
    assert_pair("1", REFUTED, &descending("n + 1u"), &descending("n"));
}

#[test]
fn a_counter_that_wraps_around_is_not_taken_to_stay_in_range() {
    let body = |turns: &str| {
        format!(
            "void main() {{ uint i = 7u;
                for (uint turn = 0u; turn < {turns}; ++turn) {{ tile[i][0] = 1.0; i -= 1u; }} }}"
        )
    };
    assert_pair("1", REFUTED, &body("9u"), &body("8u"));
}

#[test]
fn calls_are_followed_each_with_its_arguments() {
    let body = |second: &str| {
        format!(
            "void put(uint place) {{ b[place] = 1u; }}
            void main() {{ uint x = gl_GlobalInvocationID.x; if (x < n) {{ put(x); put({second}); }} }}"
        )
    };
    assert_pair(COVERING, REFUTED, &body("x + 1u"), &body("n - 1u - x"));
}

#[test]
fn the_length_of_a_buffer_guards_it() {
    assert_pair(
        COVERING,
        REFUTED,
        "void main() { uint x = gl_GlobalInvocationID.x; if (x < a.length()) b[x] = 1u; }",
        "void main() { uint x = gl_GlobalInvocationID.x; if (x < b.length()) b[x] = 1u; }",
    );
}

#[test]
fn arrays_of_one_invocation_have_bounds_too() {
    let body = |mask: &str| {
        format!(
            "void main() {{ float own[6]; for (uint i = 0u; i < 6u; ++i) own[i] = 0.0;
                a[0] = own[m & {mask}]; }}"
        )
    };
    assert_pair("1", REFUTED, &body("7u"), &body("3u"));
}

#[test]
fn a_store_in_a_loop_is_seen_behind_it() {
    let body = |mask: &str| {
        format!(
            "void main() {{ uint kept = 0u;
                for (uint i = 0u; i < n; ++i) {{ kept = i & {mask}; }} tile[kept][0] = 1.0; }}"
        )
    };
    assert_pair("1", REFUTED, &body("15u"), &body("7u"));
}

#[test]
fn what_a_swapped_host_pushes_is_what_the_kernel_indexes_by() {
    // The kernel's m is the host's n.
    let mut swapped = host("1");
    let members = swapped["push_constants"]["members"].as_array_mut().unwrap();
    members.swap(0, 1);
    let module = compiled(&format!("{HEAD}void main() {{ b[n - 1u] = 1u; }}"));
    let rows = bounds_rows(&module, &serde_json::from_value(swapped).unwrap());
    assert!(rows.iter().any(|row| row.status == REFUTED), "{rows:#?}");
    let rows = bounds_rows(&module, &interface("1"));
    assert!(!rows.iter().any(is_open), "{rows:#?}");
}

#[test]
fn a_refutation_names_values_that_a_run_shows() {
    let module = compiled(&format!(
        "{HEAD}void main() {{ uint x = gl_GlobalInvocationID.x; if (x < n + 1u) b[x] = 1u; }}"
    ));
    let rows = bounds_rows(&module, &interface(COVERING));
    let refuted: Vec<_> = rows.iter().filter(|row| row.status == REFUTED).collect();
    let [row] = refuted.as_slice() else { panic!("{rows:#?}") };
    let values = row.counterexample.as_ref().unwrap();
    // Only where n is no multiple of 8 an invocation has the index n.
    assert!(values["n"] % 8 != 0, "{values:?}");
    let place =
        format!("in invocation ({}, 0, 0) of workgroup ({}, 0, 0)", values["n"], values["n"] / 8);
    assert!(row.message.contains(&place), "{}", row.message);
}

#[test]
fn sizes_that_nobody_states_are_told_by_name() {
    let mut host = host("1");
    host["buffers"].as_array_mut().unwrap().pop();
    let module = compiled(&format!("{HEAD}void main() {{ b[0] = 1u; }}"));
    let rows = bounds_rows(&module, &serde_json::from_value(host).unwrap());
    let open: Vec<_> = rows.iter().filter(|row| is_open(row)).collect();
    assert_eq!(open.len(), 1, "{rows:#?}");
    assert!(open[0].message.contains("the interface does not state its size"), "{rows:#?}");
}

#[test]
fn images_are_guarded_by_their_size() {
    let text = |condition: &str| {
        format!(
            "#version 450
            layout(local_size_x = 8, local_size_y = 8) in;
            layout(binding = 0, r32ui) uniform uimage2D picture;
            void main() {{ ivec2 place = ivec2(gl_GlobalInvocationID.xy);
                if (all({condition})) imageStore(picture, place, uvec4(1u)); }}"
        )
    };
    let interface: Interface = serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": 64 }],
        "images": [{ "set": 0, "binding": 0, "class": "storage_image", "format": "r32ui", "dimension": "2d" }],
        "groups": ["n", "n", "1"],
    }))
    .unwrap();
    for (condition, is_proved) in [
        ("lessThan(place, imageSize(picture))", true),
        ("lessThanEqual(place, imageSize(picture))", false),
        ("lessThan(place, imageSize(picture).yx)", false),
    ] {
        let rows = bounds_rows(&compiled(&text(condition)), &interface);
        assert_eq!(!rows.iter().any(is_open), is_proved, "{condition}: {rows:#?}");
    }
}

#[test]
fn specialization_of_no_one_value_is_a_number_of_the_host() {
    let text = |index: &str| {
        format!(
            "#version 450
            layout(local_size_x = 1) in;
            layout(constant_id = 3) const uint N = 4u;
            layout(std430, binding = 0) buffer A {{ uint a[]; }};
            void main() {{ for (uint i = 0u; i < N; ++i) a[{index}] = 1u; }}"
        )
    };
    let interface: Interface = serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": 64 }],
        "buffers": [{ "set": 0, "binding": 0, "size": "n * 4" }],
        "groups": ["1", "1", "1"],
        "specialization": [{ "id": 3, "value": "n" }],
    }))
    .unwrap();
    let open = |index: &str| bounds_rows(&compiled(&text(index)), &interface).iter().any(is_open);
    assert!(!open("i"));
    assert!(open("i + 1u"));
}

#[test]
fn an_image_has_a_texel() {
    let text = |index: &str| {
        format!(
            "#version 450
            layout(local_size_x = 1) in;
            layout(binding = 0, r32ui) uniform uimage1D picture;
            void main() {{ imageStore(picture, {index}, uvec4(1u)); }}"
        )
    };
    let interface: Interface = serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "images": [{ "set": 0, "binding": 0, "class": "storage_image", "format": "r32ui", "dimension": "1d" }],
        "groups": ["1", "1", "1"],
    }))
    .unwrap();
    for (index, is_proved) in
        [("imageSize(picture) - 1", true), ("imageSize(picture) - 2", false), ("0", true)]
    {
        let rows = bounds_rows(&compiled(&text(index)), &interface);
        assert_eq!(!rows.iter().any(is_open), is_proved, "{index}: {rows:#?}");
    }
}
