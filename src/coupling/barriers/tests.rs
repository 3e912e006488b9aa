//! Kernels in pairs: one in which a barrier is missing or stands in the wrong place, and the same
//! one mended.

mod random;

use crate::bounds::tests::{compiled, rows_of_check};
use vkcert_model::evidence::{CheckStatus, CouplingCheck};
use vkcert_model::requirement::Interface;

const REFUTED: CheckStatus = CheckStatus::Refuted;
const UNDETERMINED: CheckStatus = CheckStatus::Undetermined;

/// What all kernels of this file declare.
const HEAD: &str = "#version 450
    layout(local_size_x = 8) in;
    layout(std430, binding = 0) buffer A { uint a[]; };
    layout(std430, binding = 1) readonly buffer B { uint b[]; };
    layout(push_constant) uniform P { uint n; };
    shared uint tile[16];
    ";

fn interface() -> Interface {
    serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": 4096 }],
        "push_constants": { "members": [{ "name": "n", "type": "uint32" }] },
        "buffers": [
            { "set": 0, "binding": 0, "size": "n * 4 + 64" },
            { "set": 0, "binding": 1, "size": "n * 4 + 64" },
        ],
        "groups": ["(n + 7) / 8", "1", "1"],
    }))
    .unwrap()
}

fn rows_of(check: &str, body: &str) -> Vec<CouplingCheck> {
    let text = format!(
        "{HEAD}void main() {{\nuint lane = gl_LocalInvocationID.x, x = gl_GlobalInvocationID.x;\n{body} }}"
    );
    rows_of_check(&compiled(&text), &interface(), check)
}

/// Asserts that the first body has a row of this status, that all rows of the second hold, and
/// returns the former.
fn assert_pair(check: &str, status: CheckStatus, failing: &str, mended: &str) -> CouplingCheck {
    let failing_rows = rows_of(check, failing);
    let row = failing_rows.iter().find(|row| row.status == status);
    let row = row.unwrap_or_else(|| panic!("{failing}\n{failing_rows:#?}"));
    let rows = rows_of(check, mended);
    assert!(rows.iter().all(|row| row.status == CheckStatus::Holds), "{mended}\n{rows:#?}");
    row.clone()
}

#[test]
fn a_barrier_under_a_guard_is_shown_by_two_invocations() {
    let row = assert_pair(
        "uniform-barrier",
        REFUTED,
        "if (x < n) { tile[lane] = b[x];\n barrier();\n a[x] = tile[7u - lane]; }",
        "if (x < n) { tile[lane] = b[x]; }\n barrier();\n if (x < n) { a[x] = tile[7u - lane]; }",
    );
    let values = row.counterexample.as_ref().unwrap();
    assert!(values["n"] % 8 != 0, "{row:#?}");
    assert!(row.message.contains("and (") && row.message.contains("of workgroup ("), "{row:#?}");
}

#[test]
fn a_return_before_a_barrier_must_be_of_the_whole_workgroup() {
    assert_pair(
        "uniform-barrier",
        REFUTED,
        "if (x >= n) return;\n barrier();",
        "if (gl_WorkGroupID.x >= n) return;\n barrier();",
    );
}

/// Rows of a kernel whose specialization constant takes a value of the host, with what it adds to
/// an index.
fn rows_with_constant(reach: &str, value: &str, most: i64) -> Vec<CouplingCheck> {
    let text = "#version 450
        layout(local_size_x = 8) in;
        layout(constant_id = 2) const uint REACH = 8u;
        layout(std430, binding = 0) buffer A { uint a[]; };
        shared uint wide[128];
        void main() {
            uint lane = gl_LocalInvocationID.x;
            wide[lane] = lane;
            barrier();
            wide[lane] += wide[lane + (WAY)];
            a[lane] = wide[lane];
        }"
    .replace("WAY", reach);
    let interface: Interface = serde_json::from_value(serde_json::json!({
        "kernel": "k",
        "parameters": [{ "name": "n", "type": "uint32", "min": 1, "max": most }],
        "specialization": [{ "id": 2, "value": value }],
        "buffers": [{ "set": 0, "binding": 0, "size": "32" }],
        "groups": ["1", "1", "1"],
    }))
    .unwrap();
    rows_of_check(&compiled(&text), &interface, "barrier-order")
}

#[test]
fn accesses_are_ordered_under_every_value_of_a_constant_or_not_shown_to_be() {
    let holds = |rows: &[CouplingCheck]| rows.iter().all(|row| row.status == CheckStatus::Holds);
    assert!(holds(&rows_with_constant("REACH", "n + 7", 64)));
    // With 1 to 7 they are not, whatever the kernel's own value is.
    for (value, words) in [
        ("n", "for n = 1, specialization constant 2 = 1, a run shows it"),
        ("n + 6", "for n = 1, specialization constant 2 = 7, a run shows it"),
    ] {
        let rows = rows_with_constant("REACH", value, 64);
        let row = rows.iter().find(|row| row.status == REFUTED).expect("a value that is wrong");
        assert!(row.message.contains(words), "{row:#?}");
    }
    // One value in the midst may be wrong alone.
    assert!(holds(&rows_with_constant("REACH == 65u ? 1u : 8u", "n", 64)));
    let rows = rows_with_constant("REACH == 37u ? 1u : 8u", "n", 64);
    let row = rows.iter().find(|row| row.status == REFUTED).expect("37 is wrong");
    let words = "for n = 37, specialization constant 2 = 37, a run shows it";
    assert!(row.message.contains(words), "{row:#?}");
    // The last value alone, or the first one, is wrong.
    assert!(holds(&rows_with_constant("24u - REACH", "n", 16)));
    assert!(!holds(&rows_with_constant("24u - REACH", "n", 17)));
    let rows = rows_with_constant("REACH", "n + 7", 65);
    let row = rows.iter().find(|row| row.status == UNDETERMINED).expect("too many values");
    assert!(
        row.message.contains("constant 2 to no one value") && row.message.contains("more than 64"),
        "{row:#?}"
    );
}

#[test]
fn ranges_of_host_values_keep_elements_apart() {
    let text = "#version 450
        layout(local_size_x = 8) in;
        layout(std430, binding = 0) buffer A { uint a[]; };
        layout(push_constant) uniform P { uint rows; uint columns; };
        void main() {
            uint row = gl_LocalInvocationID.x / 4u, column = gl_GlobalInvocationID.x % 4u;
            if (column < columns) { a[row * columns + column] += rows; }
        }";
    let rows_for = |least: i64, value: &str| {
        let interface: Interface = serde_json::from_value(serde_json::json!({
            "kernel": "k",
            "parameters": [{ "name": "n", "type": "uint32", "min": least, "max": 64 }],
            "push_constants": { "members": [
                { "name": "rows", "type": "uint32", "value": "1" },
                { "name": "columns", "type": "uint32", "value": value },
            ] },
            "buffers": [{ "set": 0, "binding": 0, "size": "4096" }],
            "groups": ["1", "1", "1"],
        }))
        .unwrap();
        let rows = rows_of_check(&compiled(text), &interface, "barrier-order");
        rows.iter().all(|row| row.status == CheckStatus::Holds)
    };
    assert!(rows_for(1, "n") && rows_for(0, "n + 3"));
    // What wraps may be any number.
    assert!(!rows_for(0, "n - 1"));
}

#[test]
fn barriers_of_one_line_are_told_apart() {
    let rows = rows_of(
        "uniform-barrier",
        "tile[lane] = b[x]; barrier(); if (lane < 4u) { barrier(); }\n barrier();",
    );
    let heads = rows.iter().filter_map(|row| row.message.split_once(") "));
    let ends: Vec<&str> = heads.map(|(head, _)| head.split_once(" (").unwrap().1).collect();
    assert_eq!(ends, ["1 of 2 there", "2 of 2 there"], "{rows:#?}");
    assert!(rows[2].message.contains(" is reached by all"), "{rows:#?}");
    assert_eq!([&rows[0].status, &rows[1].status], [&CheckStatus::Holds, &REFUTED], "{rows:#?}");
}

#[test]
fn what_is_not_shown_marks_the_node_that_it_is_about() {
    let body = "tile[lane] = b[x];\n barrier();\n if (x < n) { a[x] = tile[b[lane] & 15u]; }
        tile[b[lane] & 7u] += 1u; a[b[x]] = 2u;";
    for (check, expected) in
        [("barrier-order", "workgroup:tile"), ("index-bounds", "buffer-member:0.0+0")]
    {
        let rows = rows_of(check, body);
        let open: Vec<_> = rows.iter().filter(|row| row.status == UNDETERMINED).collect();
        assert!(!open.is_empty(), "{rows:#?}");
        for row in open {
            assert_eq!(row.subjects, [expected], "{row:#?}");
        }
    }
}

#[test]
fn contents_that_decide_a_barrier_refute_nothing() {
    // All elements are zero where it is run, so that no run shows it.
    let row = assert_pair(
        "uniform-barrier",
        UNDETERMINED,
        "if (a[x] > 3u) { barrier(); }",
        "if (b[0] > 3u) { barrier(); }",
    );
    assert!(row.message.contains("no run of the kernel"), "{row:#?}");
    // Zeros show it, but the host may never write a zero there.
    let row = assert_pair(
        "uniform-barrier",
        UNDETERMINED,
        "if (b[x] + lane < 3u) { barrier(); }",
        "barrier();",
    );
    assert!(row.message.contains("which contents the host writes is not known"), "{row:#?}");
}

#[test]
fn a_value_of_another_invocation_needs_a_barrier() {
    let row = assert_pair(
        "barrier-order",
        REFUTED,
        "tile[lane] = b[x];\n a[x] = tile[7u - lane];",
        "tile[lane] = b[x];\n barrier();\n a[x] = tile[7u - lane];",
    );
    assert!(row.message.contains("tile[] (write at k.comp:"), "{row:#?}");
    assert!(row.message.contains("with invocations ("), "{row:#?}");
    assert_eq!(row.accesses, Some(1));
}

#[test]
fn elements_of_its_own_need_no_barrier() {
    assert_pair(
        "barrier-order",
        REFUTED,
        "tile[lane] = b[x];\n a[x] = tile[lane ^ 1u];",
        "tile[lane] = b[x];\n a[x] = tile[lane];",
    );
}

#[test]
fn the_barrier_must_stand_on_every_way() {
    let row = assert_pair(
        "barrier-order",
        REFUTED,
        "tile[lane] = b[x];\n if (n > 16u) {\n barrier(); } else {\n a[x] = 3u; }\n a[x] = tile[7u - lane];",
        "tile[lane] = b[x];\n if (n > 16u) {\n barrier(); } else {\n barrier(); }\n a[x] = tile[7u - lane];",
    );
    assert!(row.message.contains("a way without one leads by lines"), "{row:#?}");
    assert!(row.counterexample.as_ref().unwrap()["n"] <= 16, "{row:#?}");
}

#[test]
fn the_next_round_of_a_loop_needs_a_barrier_too() {
    let round = |end: &str| {
        format!(
            "for (uint i = 0u; i < n; ++i) {{\n tile[lane] = i;\n barrier();\n a[x] += tile[7u - lane];\n {end} }}"
        )
    };
    assert_pair("barrier-order", REFUTED, &round(""), &round("barrier();"));
}

#[test]
fn the_barrier_must_order_the_kind_of_memory() {
    assert_pair(
        "barrier-order",
        REFUTED,
        "a[x] = b[x];\n barrier();\n tile[lane] = a[x ^ 7u];",
        "a[x] = b[x];\n memoryBarrierBuffer();\n barrier();\n tile[lane] = a[x ^ 7u];",
    );
}

#[test]
fn all_invocations_must_not_write_one_element() {
    assert_pair(
        "barrier-order",
        REFUTED,
        "tile[0] = lane;\n barrier();\n a[x] = tile[0];",
        "if (lane == 0u) tile[0] = lane;\n barrier();\n a[x] = tile[0];",
    );
}

#[test]
fn contents_that_choose_an_element_leave_it_open() {
    let row = assert_pair(
        "barrier-order",
        UNDETERMINED,
        "tile[lane] = b[x];\n a[x] = tile[b[x] & 7u];",
        "tile[lane] = b[x];\n barrier();\n a[x] = tile[b[x] & 7u];",
    );
    assert!(row.message.contains("which contents the host writes is not known"), "{row:#?}");
}

#[test]
fn a_barrier_that_is_not_reached_alike_orders_nothing_for_certain() {
    let rows = rows_of(
        "barrier-order",
        "tile[lane] = b[x];\n if (a[x] > 3u) { barrier(); }\n barrier();\n tile[lane + 8u] = tile[7u - lane];",
    );
    assert!(rows.iter().all(|row| row.status != CheckStatus::Holds), "{rows:#?}");
}

#[test]
fn a_barrier_that_orders_nothing_is_noted() {
    let body = |first: &str| {
        format!("tile[lane] = b[x];\n {first}\n barrier();\n a[x] = tile[7u - lane];")
    };
    let notes = |body: &str| {
        let rows = rows_of("uniform-barrier", body);
        assert!(rows.iter().all(|row| row.status == CheckStatus::Holds), "{rows:#?}");
        rows.iter().filter(|row| row.message.contains("it orders no two accesses")).count()
    };
    assert_eq!(notes(&body("barrier();")), 1);
    assert_eq!(notes(&body("")), 0);
}

#[test]
fn a_constant_of_no_one_value_is_refuted_by_one_of_its_values() {
    let text = "#version 450
        layout(local_size_x = 8) in;
        layout(constant_id = 3) const bool APART = true;
        layout(std430, binding = 0) buffer A { uint a[]; };
        shared uint tile[8];
        void main() { uint lane = gl_LocalInvocationID.x; tile[lane] = a[lane];
            if (APART) barrier();
            a[lane] = tile[7u - lane]; }";
    let with_value = |value: &str| -> Interface {
        serde_json::from_value(serde_json::json!({
            "kernel": "k",
            "parameters": [{ "name": "n", "type": "uint32", "min": 0, "max": 1 }],
            "buffers": [{ "set": 0, "binding": 0, "size": "64" }],
            "groups": ["1", "1", "1"],
            "specialization": [{ "id": 3, "value": value }],
        }))
        .unwrap()
    };
    let status = |value: &str| {
        let rows = rows_of_check(&compiled(text), &with_value(value), "barrier-order");
        rows.iter().map(|row| row.status.clone()).collect::<Vec<_>>()
    };
    assert_eq!(status("1"), [CheckStatus::Holds]);
    assert_eq!(status("0"), [REFUTED]);
    assert_eq!(status("n"), [REFUTED]);
}

/// A kernel whose size a constant decides is not run with each of its values.
#[test]
fn a_constant_of_no_one_value_that_decides_a_size_is_not_run() {
    let text = "#version 450
        layout(local_size_x_id = 4) in;
        layout(std430, binding = 0) buffer A { uint a[]; };
        shared uint tile[64];
        void main() { uint lane = gl_LocalInvocationID.x; tile[lane] = a[lane];
            a[lane] = tile[gl_WorkGroupSize.x - 1u - lane]; }";
    let rows = |value: &str| {
        let interface: Interface = serde_json::from_value(serde_json::json!({
            "kernel": "k",
            "parameters": [{ "name": "n", "type": "uint32", "min": 8, "max": 9 }],
            "buffers": [{ "set": 0, "binding": 0, "size": "64" }],
            "groups": ["1", "1", "1"],
            "specialization": [{ "id": 4, "value": value }],
        }))
        .unwrap();
        rows_of_check(&compiled(text), &interface, "barrier-order")
    };
    let status = |value: &str| rows(value).iter().map(|row| row.status.clone()).collect::<Vec<_>>();
    assert_eq!(status("n"), [UNDETERMINED]);
    assert!(rows("n")[0].message.contains("nothing was run to show it"), "{:#?}", rows("n"));
}
