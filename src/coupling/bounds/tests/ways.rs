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

/// Of functions with their entry point.
fn rows_of_text(functions: &str) -> Vec<CouplingCheck> {
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
    bounds_rows(&compiled(&format!("{HEAD}{functions}")), &interface)
}

/// Asserts what is said of the accesses to an object.
fn assert_status(object: &str, status: CheckStatus, body: &str) {
    assert_status_of(object, status, &format!("void main() {{ {body} }}"));
}

/// The same of functions with their entry point.
fn assert_status_of(object: &str, status: CheckStatus, body: &str) {
    let rows = rows_of_text(body);
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

/// What may be undefined without an operation that leaves it so.
const UNSET: &str = "a variable of the invocation";

/// Asserts that an access is left open because its index may be undefined.
fn assert_undefined(cause: &str, body: &str) {
    let rows = rows_of_text(&format!("void main() {{ {body} }}"));
    let open = rows.iter().find(|row| row.status == UNDETERMINED);
    let message = open.map_or("", |row| &row.message);
    let expected = format!("may be an undefined value, because {cause} is not shown");
    assert!(message.contains(&expected), "{body}\n{rows:#?}");
}

#[test]
fn a_remainder_of_a_negative_number_is_no_index() {
    assert_undefined("OpSMod", "r[s % 4] = 7u;");
    assert_status("r[", REFUTED, "r[s % 4 - 4] = 7u;");
    assert_undefined("OpSMod", "r[(s % 4) & 3] = 7u;");
    assert_undefined("OpSMod", "int rest = s % 4; if (rest >= 0) r[rest] = 7u;");
    assert_undefined("OpSMod", "uint rest = uint(s % 4); if (rest < 4u) r[rest | 1u] = 7u;");
    assert_undefined(
        "OpSMod",
        "int kept = 0; for (uint k = 0u; k < n; ++k) { if (k > 3u) kept = s % 4; }
        if (kept >= 0) r[kept] = 7u;",
    );
    assert_status("r[", HOLDS, "if (s >= 0) r[s % 4] = 7u;");
}

#[test]
fn what_reaches_beyond_the_width_of_a_word_is_no_index() {
    assert_undefined("OpBitFieldUExtract", "r[bitfieldExtract(word, int(n) + 23, 2)] = 7u;");
    assert_status("r[", HOLDS, "r[bitfieldExtract(word, int(n) + 21, 2)] = 7u;");
    assert_undefined("OpShiftRightLogical", "r[(word & 7u) >> (n + 23u)] = 7u;");
    assert_status("r[", HOLDS, "r[(word & 7u) >> (n + 22u)] = 7u;");
    assert_undefined("UClamp", "r[clamp(word, i, n)] = 7u;");
    assert_status("r[", HOLDS, "if (i <= n) r[clamp(word, i, n)] = 7u;");
    assert_undefined("OpUDiv", "uint part = i / n; if (part < 9u) r[part] = 7u;");
    assert_status("r[", HOLDS, "if (n > 0u) r[i / n] = 7u;");
}

#[test]
fn the_amount_of_a_shift_is_read_with_its_own_width() {
    let body = |amount: &str| {
        format!(
            "uint16_t base = uint16_t(word & 7u); uint16_t moved = base >> ({amount});
            r[uint(moved)] = 7u;"
        )
    };
    assert_undefined("OpShiftRightLogical", &body("n + 65537u"));
    assert_status("r[", HOLDS, &body("n + 1u"));
}

#[test]
fn a_loop_that_something_unknown_ends_refutes_nothing() {
    let searched = |condition: &str, behind: &str| {
        format!("uint k = 0u; for (; k < 10u; k++) {{ if ({condition}) break; }} {behind}")
    };
    assert_status("longer[", UNDETERMINED, &searched("f > float(k)", "longer[k] = 1u;"));
    assert_status("longer[", UNDETERMINED, &searched("r[k] != 0u", "longer[k] = 1u;"));
    assert_status("longer[", REFUTED, &searched("n > k + 20u", "longer[k] = 1u;"));
    // Behind a branch that an unknown condition may leave the function from.
    let left = |condition: &str| {
        format!("if (n > 3u) {{ if ({condition}) return; }} longer[n + 5u] = 1u;")
    };
    assert_status("longer[", UNDETERMINED, &left("r[0] == 0u"));
    assert_status("longer[", REFUTED, &left("i == 7u"));
    // In a later iteration, which an unknown condition may keep from coming.
    let stored = |condition: &str| {
        format!("for (uint k = 0u; k < 20u; k++) {{ longer[k] = 1u; if ({condition}) break; }}")
    };
    assert_status("longer[", UNDETERMINED, &stored("r[k] != 0u"));
    assert_status("longer[", REFUTED, &stored("n == k + 20u"));
    // Both ways meet again: nothing unknown decides what follows.
    assert_status("longer[", REFUTED, "if (r[0] != 0u) { r[1] = 2u; } longer[n + 5u] = 1u;");
}

#[test]
fn a_number_that_a_loop_makes_of_contents_refutes_nothing() {
    let counted = |change: &str| {
        format!("uint k = 0u; for (uint t = 0u; t < 20u; t++) {{ {change} }} longer[k] = 1u;")
    };
    assert_status("longer[", UNDETERMINED, &counted("if (r[t] == 0u) k++;"));
    assert_status("longer[", UNDETERMINED, &counted("k = k * 2u + 1u - r[t];"));
    assert_status("longer[", REFUTED, &counted("if (t > n) k++;"));
    let chosen = "bool b; if (r[0] == 0u) { b = true; } else { b = n > 3u; }";
    assert_status("longer[", UNDETERMINED, &format!("{chosen} if (b) longer[n + 5u] = 1u;"));
}

/// What is known of a word that was compared is known of the same word less a number.
#[test]
fn a_guard_on_a_word_that_wraps_bounds_the_word_less_its_lowest_value() {
    let histogram = "uint v = r[0] + 3u; if (v >= 6u && v < 11u)";
    assert_status("tile[", HOLDS, &format!("{histogram} tile[v - 6u] = 1u;"));
    assert_status("tile[", UNDETERMINED, &format!("{histogram} tile[v - 5u] = 1u;"));
    assert_status("tile[", UNDETERMINED, &format!("{histogram} tile[r[0] - 6u] = 1u;"));
    assert_status("tile[", UNDETERMINED, "uint v = r[0] + 3u; if (v < 11u) tile[v - 6u] = 1u;");
    assert_status("tile[", UNDETERMINED, "uint v = r[0] + 3u; if (v >= 6u) tile[v - 6u] = 1u;");
    let with_lowest = "uint v = word + n; if (v >= i && v < i + 5u)";
    assert_status("tile[", HOLDS, &format!("{with_lowest} tile[v - i] = 1u;"));
    assert_status("tile[", REFUTED, &format!("{with_lowest} tile[v - i + 1u] = 1u;"));
    // Nothing is known of the word before it wraps, nor of a narrower or wider one.
    assert_status("tile[", REFUTED, "uint v = word + 3u; if (v < 8u) tile[word] = 1u;");
    assert_status("tile[", HOLDS, "uint v = word + 3u; if (v < 5u) tile[v] = 1u;");
    let signed = "int v = int(r[0]) + s; if (v >= -2 && v < 3)";
    assert_status("tile[", HOLDS, &format!("{signed} tile[v + 2] = 1u;"));
    assert_status("tile[", UNDETERMINED, &format!("{signed} tile[v + 3] = 1u;"));
}

#[test]
fn a_switch_on_contents_decides_like_an_if() {
    for labels in ["case 1u: return; case 5u: return;", "case 1u: case 2u: return;"] {
        let body = format!("switch (r[0]) {{ {labels} default: break; }} tile[n] = 1u;");
        assert_status("tile[", UNDETERMINED, &body);
    }
    let arms = "uint k = n; switch (r[0]) { case 0u: case 3u: k = n; break; default: k = 0u; }";
    assert_status("tile[", UNDETERMINED, &format!("{arms} tile[k] = 1u;"));
    assert_status("tile[", REFUTED, "switch (n) { case 7u: return; } tile[n] = 1u;");
    assert_status("tile[", REFUTED, "switch (n) { case 7u: case 8u: tile[n] = 1u; }");
    assert_status("tile[", HOLDS, "switch (n) { case 3u: tile[n] = 1u; }");
}

/// The access of a function is refuted only if every call that is open would be shown by a run.
#[test]
fn calls_with_contents_are_not_those_with_host_values() {
    let get = "uint get(uint k) { return tile[k]; }";
    let of_host = format!("{get} void main() {{ r[0] = get(n); }}");
    assert_status_of("tile[", REFUTED, &of_host);
    let of_both = format!("{get} void main() {{ r[0] = get(n) + get(r[1] - 1u); }}");
    assert_status_of("tile[", UNDETERMINED, &of_both);
    let of_both = format!("{get} void main() {{ r[0] = get(r[1] - 1u) + get(n); }}");
    assert_status_of("tile[", UNDETERMINED, &of_both);
    let of_right = format!("{get} void main() {{ r[0] = get(n) + get(min(r[1], 4u)); }}");
    assert_status_of("tile[", REFUTED, &of_right);
}

#[test]
fn what_chose_a_way_is_not_forgotten_behind_many_guards() {
    let guards: String = (0..60).map(|number| format!("if (word == {number}u) return; ")).collect();
    let body =
        format!("uint k; if (r[0] != 0u) {{ {guards} k = i % 5u; }} else {{ {guards} k = n; }}");
    assert_status("tile[", UNDETERMINED, &format!("{body} tile[k] = 1u;"));
}

#[test]
fn what_may_be_undefined_is_no_index_however_it_is_bounded() {
    let undefined = [
        ("OpConvertFToS", "int k = int(f); if (k >= 0 && k < 5) tile[k] = 1u;"),
        ("OpConvertFToU", "uint k = uint(f); tile[k % 5u] = 1u;"),
        (UNSET, "uint k; if (n > 5u) k = 0u; tile[k % 5u] = 1u;"),
        (UNSET, "uint k; if (n > 5u) k = 0u; tile[min(k, 4u)] = 1u;"),
        (UNSET, "uint t[2]; t[0] = n / word; t[1] = 0u; tile[t[0] % 5u] = 1u;"),
        ("OpUDiv", "uint t[2] = uint[2](n / word, 0u); tile[min(t[i & 1u], 4u)] = 1u;"),
        (UNSET, "uint t[2]; t[i & 1u] = 1u; tile[min(t[n & 1u], 4u)] = 1u;"),
        ("OpUDiv", "uvec4 v = uvec4(n / word, 1u, 1u, 1u); tile[v[n & 3u] % 5u] = 1u;"),
    ];
    for (cause, body) in undefined {
        assert_undefined(cause, body);
    }
    let defined = [
        "uint t[2] = uint[2](n, 0u); tile[min(t[i & 1u], 4u)] = 1u;",
        "const uint t[4] = uint[4](0u, 1u, 2u, 3u); tile[min(t[i & 3u], 4u)] = 1u;",
        "uint t[2] = uint[2](n, 0u); t[n & 1u] = word; tile[t[i & 1u] % 5u] = 1u;",
        "uvec4 v = uvec4(n, 1u, 1u, 1u); tile[v[n & 3u] % 5u] = 1u;",
        "uint k; if (n > 5u) k = 0u; else k = n; tile[k % 5u] = 1u;",
    ];
    for body in defined {
        assert_status("tile[", HOLDS, body);
    }
}
