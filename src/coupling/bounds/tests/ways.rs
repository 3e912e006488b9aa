//! What holds on one way only, and what is not defined: it proves nothing elsewhere.

use super::{bounds_rows, compiled};
use vkcert_model::evidence::{CheckStatus, CouplingCheck};
use vkcert_model::requirement::Interface;

/// What all kernels of this file declare.
const HEAD: &str = "#version 450
    #extension GL_EXT_shader_explicit_arithmetic_types : require
    layout(local_size_x = 4) in;
    layout(std430, binding = 0) buffer R { uint r[]; };
    layout(push_constant) uniform P { uint n; uint i; uint word; int s; float f; };
    shared uint tile[5];
    shared uint longer[10];
    ";

fn rows_of(body: &str) -> Vec<CouplingCheck> {
    let interface: Interface = serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [
            { "name": "n", "type": "uint32", "min": 0, "max": 9 },
            { "name": "i", "type": "uint32", "min": 0, "max": 9 },
            { "name": "word", "type": "uint32", "min": 0, "max": 4_294_967_295u32 },
            { "name": "s", "type": "int32", "min": -5, "max": 30_000 },
        ],
        "push_constants": { "members": [
            { "name": "n", "type": "uint32" },
            { "name": "i", "type": "uint32" },
            { "name": "word", "type": "uint32" },
            { "name": "s", "type": "int32" },
        ]},
        "buffers": [{ "set": 0, "binding": 0, "size": "400000" }],
        "groups": ["1", "1", "1"],
    }))
    .unwrap();
    bounds_rows(&compiled(&format!("{HEAD}void main() {{ {body} }}")), &interface)
}

/// Asserts what is said of the accesses to an object.
fn assert_status(object: &str, status: CheckStatus, body: &str) {
    let rows = rows_of(body);
    let of_object: Vec<_> = rows.iter().filter(|row| row.message.contains(object)).collect();
    assert!(!of_object.is_empty(), "{body}\n{rows:#?}");
    assert!(of_object.iter().all(|row| row.status == status), "{body}\n{of_object:#?}");
}

const HOLDS: CheckStatus = CheckStatus::Holds;
const REFUTED: CheckStatus = CheckStatus::Refuted;
const UNDETERMINED: CheckStatus = CheckStatus::Undetermined;

#[test]
fn a_clamp_behind_a_guard_bounds_nothing_where_the_guard_fails() {
    let body = "uint j = 0u; if (n > 0u) { j = clamp(i, 0u, n - 1u); }";
    assert_status("longer[", REFUTED, &format!("{body} longer[n - 1u - j] = 1u;"));
    assert_status("longer[", HOLDS, &format!("{body} if (n > 0u) longer[n - 1u - j] = 1u;"));
    assert_status("longer[", HOLDS, &format!("{body} longer[j] = 1u;"));
    let body = "uint j = 0u; if (n >= 5u) { j = clamp(i, 5u, n); }";
    assert_status("tile[", REFUTED, &format!("{body} if (j <= n + 1u) tile[9u - n] = 1u;"));
    assert_status("tile[", HOLDS, &format!("{body} if (j > 0u) tile[j - 5u] = 1u;"));
}

#[test]
fn a_mask_behind_a_guard_bounds_nothing_where_the_guard_fails() {
    let body = "uint rest = 0u; if (i >= 5u) { rest = (i - 5u) & word; }";
    assert_status("tile[", UNDETERMINED, &format!("{body} if (rest <= i) tile[9u - i] = 1u;"));
    let taken = format!("{body} if (rest + i <= 4u) tile[i + 5000u] = 1u;");
    assert_status("tile[", UNDETERMINED, &taken);
    assert_status("tile[", HOLDS, &format!("{body} if (rest > 0u) tile[i - 5u - rest] = 1u;"));
}

#[test]
fn a_shift_behind_a_guard_bounds_nothing_where_the_guard_fails() {
    let body = |guard: &str| {
        format!(
            "for (uint k = 0u; k < n; ++k) {{ uint bit = 0u; if (k < 5u) {{ bit = 1u << k; }}
                if (bit {guard} k) tile[k] = 1u; }}"
        )
    };
    assert_status("tile[", REFUTED, &body("<="));
}

#[test]
fn a_remainder_behind_a_guard_bounds_nothing_where_the_guard_fails() {
    let body = "uint rest = 0u; if (n > 0u) { rest = gl_LocalInvocationID.x % n; }";
    assert_status("longer[", REFUTED, &format!("{body} if (rest <= n) longer[10u - n] = 1u;"));
    assert_status("longer[", HOLDS, &format!("{body} if (rest > 0u) longer[n - 1u - rest] = 1u;"));
}

#[test]
fn an_index_of_16_bits_that_wraps_around_is_not_the_number() {
    assert_status("r[", REFUTED, "int16_t place = int16_t(s) + int16_t(s); r[place] = 7u;");
    assert_status("r[", HOLDS, "int16_t place = int16_t(i) + int16_t(i); r[place] = 7u;");
    // Indices are read with sign (SPIR-V, OpAccessChain).
    assert_status("r[", UNDETERMINED, "uint16_t place = uint16_t(word); r[place] = 7u;");
    assert_status("r[", HOLDS, "uint16_t place = uint16_t(word & 32767u); r[place] = 7u;");
}
