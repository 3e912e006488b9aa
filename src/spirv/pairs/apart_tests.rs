//! Reductions and butterflies whose invocations keep apart, and the same with a fault in each.

use super::tests::{compiled, unordered_accesses, unordered_within};
use super::{HostRanges, WordRange};
use std::collections::BTreeMap;

const HEADER: &str = "#version 460
    layout(local_size_x = 16) in;
    layout(std430, binding = 0) readonly buffer Source { uint source[]; };
    layout(std430, binding = 1) buffer Target { uint target[]; };
    layout(push_constant) uniform Values { uint n; uint stages; int width; };
    shared uint s[64];
    shared uint t[16][2];
    shared int z[64];
    uint held;
    void halve() { held /= 2u; }
    void main() {
        uint lane = gl_LocalInvocationID.x;
        s[lane] = source[lane];
        z[lane] = int(lane);
        barrier();
    ";

/// How many pairs of accesses are not shown to be ordered or apart.
fn open_count(body: &str) -> usize {
    unordered_accesses(&compiled(&format!("{HEADER}{body}\n}}"))).len()
}

fn assert_apart(bodies: &[&str]) {
    for body in bodies {
        assert_eq!(open_count(body), 0, "{body}");
    }
}

fn assert_open(bodies: &[&str]) {
    for body in bodies {
        assert_ne!(open_count(body), 0, "{body}");
    }
}

#[test]
fn halving_reductions_keep_apart() {
    assert_apart(&[
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            barrier();
        } target[0] = s[0];",
        "for (uint reach = 8u; reach > 0u; reach >>= 1) {
            uint other = lane + reach;
            if (lane < reach && s[other] > s[lane]) { s[lane] = s[other]; }
            barrier();
        } target[0] = s[0];",
        // Whoever is not below passes on.
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (!(lane >= reach)) { s[lane] += s[lane + reach]; }
            barrier();
        }",
        "for (uint reach = 1u; reach < 16u; reach *= 2u) {
            if (lane % (2u * reach) == 0u) { s[lane] += s[lane + reach]; }
            barrier();
        }",
        "for (uint reach = 1u; reach < 16u; reach <<= 1) {
            uint place = 2u * reach * lane;
            if (place < 16u) { s[place] += s[place + reach]; }
            barrier();
        }",
        // The host decides where it begins.
        "for (uint reach = n / 2u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            barrier();
        }",
        "for (int reach = 8; reach > 0; reach /= 2) {
            if (int(lane) < reach) { z[lane] += z[int(lane) + reach]; }
            barrier();
        }",
        // Without a loop.
        "if (lane < 8u) { s[lane] += s[lane + 8u]; } barrier();
        if (lane < 4u) { s[lane] += s[lane + 4u]; } barrier(); target[0] = s[0];",
        "uint reach = 8u; if (lane < reach) { s[lane] += s[lane + reach]; } barrier();
        reach = 4u; if (lane < reach) { s[lane] += s[lane + reach]; } barrier();",
        "if (n < 17u && lane < n) { s[lane] += s[lane + n]; }",
    ]);
}

#[test]
fn reductions_with_a_fault_stay_open() {
    assert_open(&[
        // One too many.
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane <= reach) { s[lane] += s[lane + reach]; }
            barrier();
        }",
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach - 1u]; }
            barrier();
        }",
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            s[lane] += s[lane + reach];
            barrier();
        }",
        // The barrier is missing, or stands before the step alone.
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
        }",
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            if (n > 3u) { barrier(); }
        }",
        // The reach is changed between the guard and the access, or behind it.
        "for (uint reach = 8u; reach > 0u;) {
            bool takes = lane < reach;
            uint other = lane + reach;
            reach /= 2u;
            if (lane < reach + reach + 1u) { s[lane] += s[other]; }
            barrier();
        }",
        "for (uint reach = 8u; reach > 0u;) {
            if (lane < reach) { reach /= 2u; s[lane] += s[lane + reach]; }
            barrier();
        }",
        "uint reach = 8u; if (lane < reach) { s[lane] += s[lane + reach]; }
        reach = 4u; if (lane < reach) { s[lane] += s[lane + reach]; }",
        "held = 8u; for (uint turn = 0u; turn < 4u; ++turn) {
            if (lane < held) { halve(); s[lane] += s[lane + held]; }
            barrier();
        }",
        "held = 8u; for (uint turn = 0u; turn < 4u; ++turn) {
            uint guard = held; halve();
            if (lane < guard) { s[lane] += s[lane + held]; }
            barrier();
        }",
        // What is left over from the round before.
        "uint other = 0u; for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[other]; }
            other = lane + reach;
            barrier();
        }",
        // The first step is right, and the next one is wrong.
        "for (uint reach = 16u; reach > 4u; reach /= 2u) {
            s[lane] += s[lane + reach];
            barrier();
        }",
        // Some do not wait.
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            if (lane < 12u) { barrier(); }
        }",
        // They do not wait for each other.
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            if (lane < 12u) { barrier(); } else { barrier(); }
        }",
        // Each invocation has a reach of its own.
        "for (uint reach = 8u + lane % 2u; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
        }",
        "uint reach = 8u; if (source[lane] > 3u) { reach = 4u; }
        if (lane < reach) { s[lane] += s[lane + reach]; }",
        // A sum that wraps.
        "if (lane < n) { s[lane] += s[lane + n]; }",
        "for (uint reach = n; reach > 0u; reach /= 2u) {
            if (lane < reach) { s[lane] += s[lane + reach]; }
            barrier();
        }",
        "for (int reach = width; reach != 0; reach /= 2) {
            if (int(lane) != reach) { z[lane] += z[int(lane) + reach]; }
            barrier();
        }",
    ]);
}

#[test]
fn butterflies_keep_apart() {
    let butterfly = |offset: &str, upper: &str| {
        format!(
            "if (stages > 5u) {{ return; }}
            for (uint stage = 0u; stage < stages; ++stage) {{
                uint reach = 1u << stage;
                for (uint butterfly = lane; butterfly < 32u; butterfly += 16u) {{
                    uint offset = {offset};
                    uint upper = {upper};
                    uint turned = s[upper + reach];
                    s[upper + reach] = s[upper] - turned;
                    s[upper] += turned;
                }}
                barrier();
            }}"
        )
    };
    let upper = "(butterfly - offset) * 2u + offset";
    assert_apart(&[
        &butterfly("butterfly % reach", upper),
        &butterfly("butterfly & (reach - 1u)", "((butterfly - offset) << 1) | offset"),
        &butterfly("butterfly % reach", "butterfly / reach * reach * 2u + offset"),
    ]);
    let unbounded =
        butterfly("butterfly % reach", upper).replace("if (stages > 5u) { return; }", "");
    assert_open(&[
        &butterfly("butterfly % reach", "butterfly + offset"),
        &butterfly("butterfly % (reach * 2u)", upper),
        &butterfly("butterfly % reach", "(butterfly - offset) + offset"),
        &butterfly("butterfly % 3u", upper),
        &unbounded,
        &butterfly("butterfly % reach", upper).replace("+= 16u", "+= 8u"),
        &butterfly("butterfly % reach", upper).replace("= 1u << stage", "= 1u << lane"),
        &butterfly("butterfly % reach", upper).replace("barrier();", ""),
    ]);
}

#[test]
fn rows_and_columns_are_compared_together() {
    assert_apart(&[
        "for (uint reach = 8u; reach > 0u; reach /= 2u) {
            if (lane < reach) { t[lane][0] += t[lane + reach][0] + t[lane][1]; }
            barrier();
        }",
        "t[lane][n & 1u] = t[lane][stages & 1u];",
    ]);
    assert_open(&["if (lane < 8u) { t[lane][n & 1u] = t[lane + 7u][stages & 1u]; }"]);
}

/// The same where the host pushes an `n` from a range.
fn open_count_within(body: &str, low: u32, high: u32) -> usize {
    let push_constants = BTreeMap::from([(0, WordRange { low, high })]);
    let host = HostRanges { push_constants, ..HostRanges::default() };
    unordered_within(&compiled(&format!("{HEADER}{body}\n}}")), &host).len()
}

#[test]
fn products_with_host_values_are_compared_by_their_ranges() {
    let strided = "for (uint place = lane; place < 64u; place += 16u) {
        target[7u + place * n] += stages;
    }";
    let by_two = strided.replace("* n", "* (n / 2u)");
    let rows = "uint row = lane / 4u, column = lane % 4u;
        if (column < n) { target[row * n + column] += stages; }";
    let whole_rows = rows.replace("if (column < n)", "");
    let global = "uint place = gl_GlobalInvocationID.x; target[place * n] += stages;";
    for (body, low, high) in [
        (strided, 1, 4096),
        (strided, 3, 3),
        (&by_two, 2, 4096),
        (rows, 1, 4096),
        (&whole_rows, 4, 4096),
        (&whole_rows, 4, 4),
        (global, 1, 1 << 28),
    ] {
        assert_eq!(open_count_within(body, low, high), 0, "{body} {low} {high}");
    }
    for (body, low, high) in [
        (strided, 0, 4096),
        // 4 times 2 to the power of 30 is 0.
        (strided, 1, 1 << 30),
        (&by_two, 1, 4096),
        (&strided.replace("* n", "+ n * lane"), 1, 4096),
        (&strided.replace("16u", "n"), 1, 4096),
        (&rows.replace("column <", "row <"), 1, 4096),
        (&rows.replace("column <", "column <="), 1, 4096),
        (&rows.replace("+ column", "+ column - row"), 1, 4096),
        (&whole_rows, 3, 4096),
        (&whole_rows, 1, 3),
        (global, 0, 1 << 28),
        (global, 1, 1 << 29),
        (rows, 0, u32::MAX),
    ] {
        assert_ne!(open_count_within(body, low, high), 0, "{body} {low} {high}");
    }
}

#[test]
fn numbers_of_workgroups_bound_what_follows_from_them() {
    let body = "target[lane * (gl_NumWorkGroups.x + gl_WorkGroupID.x)] += stages;";
    let module = compiled(&format!("{HEADER}{body}\n}}"));
    let within = |low: u32, high: u32| {
        let groups = [Some(WordRange { low, high }), None, None];
        unordered_within(&module, &HostRanges { groups, ..HostRanges::default() }).len()
    };
    assert_eq!((within(1, 4096), within(1, 1 << 28)), (0, 1));
    assert_eq!(unordered_accesses(&module).len(), 1);
}

#[test]
fn transforms_and_reductions_of_the_demonstration_keep_apart() {
    for (name, open) in [("fft", 0), ("softmax", 0), ("star_centroid", 0), ("wavelet", 1)] {
        let path = format!("{}/../../glsl/{name}.comp", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a kernel of the demonstration");
        assert_eq!(unordered_accesses(&compiled(&text)).len(), open, "{name}");
    }
}

/// The same for texels of an image, of which `own` is the invocation's and `other` another one.
fn open_texel_count(declaration: &str, body: &str) -> usize {
    let text = format!(
        "#version 460
        #extension GL_KHR_memory_scope_semantics : require
        layout(local_size_x = 16) in;
        layout(binding = 0, r32ui) uniform coherent {declaration} pixels;
        layout(std430, binding = 1) readonly buffer Source {{ uint source[]; }};
        void wait() {{
            controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsImage,
                gl_SemanticsAcquireRelease);
        }}
        void main() {{
            uint lane = gl_LocalInvocationID.x;
            {body}
        }}"
    );
    unordered_accesses(&compiled(&text)).len()
}

#[test]
fn reductions_of_texels_keep_apart_like_those_of_elements() {
    let reduction = |guard: &str, own: &str, other: &str| {
        format!(
            "for (uint reach = 8u; reach > 0u; reach /= 2u) {{
                if ({guard}) {{
                    uint sum = imageLoad(pixels, {own}).x + imageLoad(pixels, {other}).x;
                    imageStore(pixels, {own}, uvec4(sum));
                }}
                wait();
            }}"
        )
    };
    let planes = |guard: &str, own: &str, other: &str| {
        open_texel_count("uimage2D", &reduction(guard, own, other))
    };
    let (own, other) = ("ivec2(lane, 3)", "ivec2(lane + reach, 3)");
    assert_eq!(planes("lane < reach", own, other), 0);
    assert_eq!(planes("lane < reach", "ivec2(3, lane)", "ivec2(3, lane + reach)"), 0);
    // Another row is another texel, whatever the column is.
    assert_eq!(planes("true", own, "ivec2(source[lane], 4)"), 0);
    // A guard that lets more in, and rows that depend on contents.
    assert_ne!(planes("lane <= reach", own, other), 0);
    assert_ne!(planes("true", own, other), 0);
    assert_ne!(planes("true", own, "ivec2(lane + reach, source[lane])"), 0);
    let lines = |guard: &str| {
        open_texel_count("uimage1D", &reduction(guard, "int(lane)", "int(lane + reach)"))
    };
    assert_eq!(lines("lane < reach"), 0);
    assert_ne!(lines("lane < 2u * reach"), 0);
}
