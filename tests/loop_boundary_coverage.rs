//! Loop boundary coverage, held against counts that the kernel itself writes: each test covers the
//! cases that its invocations' numbers of iterations and ways out make, and no others.

use crate::call_coverage::justification;
use crate::function_coverage::kernels;
use crate::support;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use support::write;

/// Each function runs one loop and tells 4 times the number of iterations, and 1 where a `break`
/// and 2 where a `return` ended it; the nested one by its inner loop.
const KERNEL: &str = "#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 2) in;
layout(push_constant) uniform P { uint n; uint stop; uint leave; };
layout(binding = 0) buffer Out { uint value[]; };
uint by_for(uint n) {
    uint c = 0u, r = 0u;
    for (uint i = 0u; i < n; i++) {
        c++;
        if (i == stop) { r = 1u; break; }
        if (i == leave) return 4u * c + 2u;
    }
    return 4u * c + r;
}
uint by_while(uint n) {
    uint c = 0u, r = 0u;
    [[dont_unroll]] while (c < n)
        switch (c++ == stop ? 1 : 0) {
            case 1: if (stop == leave) return 4u * c + 2u; r = 1u; break;
            default: if (c - 1u == leave) return 4u * c + 2u; else continue;
        }
    return 4u * c;
}
uint by_do(uint n) {
    uint c = 0u;
    do if (c++ == stop) return 4u * c + 2u; else if (c - 1u == leave) break; while (c < n);
    return 4u * c + (c - 1u == leave ? 1u : 0u);
}
uint endless(uint n) {
    uint c = 0u;
    for (;;) { if (c++ == stop) break; if (c - 1u == leave) return 4u * c + 2u; }
    return 4u * c + 1u;
}
uint nested(uint n) {
    uint c = 0u;
    for (uint i = 0u; i < 1u; i++)
        for (uint j = 0u; j < n; j++)
            if (c++ == leave) return 4u * c + 2u;
    return 4u * c;
}
void main() {
    uint i = gl_LocalInvocationID.x;
    value[5u * i] = by_for(n + i);
    value[5u * i + 1u] = by_while(n + i);
    value[5u * i + 2u] = by_do(n + i);
    value[5u * i + 3u] = endless(n + i);
    value[5u * i + 4u] = nested(n + i);
}
";

/// What ended a loop.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Condition,
    Break,
    Return,
}

/// Iterations and end of a loop that runs up to `n` times unless one of these iterations, counted
/// from 0, ends it; the first named is asked first.
fn loop_run(n: u32, ends: &[(u32, End)]) -> (u32, End) {
    for iteration in 0..n {
        if let Some((_, end)) = ends.iter().find(|(at, _)| *at == iteration) {
            return (iteration + 1, *end);
        }
    }
    (n, End::Condition)
}

/// What an invocation's loops do, in the order of the functions.
fn runs(n: u32, stop: u32, leave: u32) -> [(u32, End); 5] {
    [
        loop_run(n, &[(stop, End::Break), (leave, End::Return)]),
        // The `break` is the switch's.
        loop_run(n, &[(leave, End::Return)]),
        loop_run(n.max(1), &[(stop, End::Return), (leave, End::Break)]),
        loop_run(u32::MAX, &[(stop, End::Break), (leave, End::Return)]),
        loop_run(n, &[(leave, End::Return)]),
    ]
}

fn told((count, end): (u32, End)) -> u32 {
    4 * count + end as u32
}

/// The cases that a run of a loop shows, as ids end.
fn cases((count, end): (u32, End)) -> Vec<&'static str> {
    let of_count = [vec!["zero"], vec!["once"], vec!["more"]][count.min(2) as usize].clone();
    let boundary = (count > 0 && end == End::Condition).then_some("boundary");
    of_count.into_iter().chain(boundary).collect()
}

/// Ids of what invocations with these parameters show. `LOOP5` is around `LOOP6` and runs once.
fn shown(n: u32, stop: u32, leave: u32) -> BTreeSet<String> {
    let mut shown = BTreeSet::new();
    for n in [n, n + 1] {
        for (number, run) in ["1", "2", "3", "4", "6"].iter().zip(runs(n, stop, leave)) {
            shown.extend(cases(run).iter().map(|case| format!("LOOP{number}.{case}")));
        }
        let (_, end) = runs(n, stop, leave)[4];
        shown.extend(cases((1, end)).iter().map(|case| format!("LOOP5.{case}")));
    }
    shown
}

fn test(n: u32, stop: u32, leave: u32) -> String {
    let values: Vec<u32> =
        [n, n + 1].into_iter().flat_map(|n| runs(n, stop, leave).map(told)).collect();
    format!(
        "[[test]]\nid = \"TC-{n}-{stop}-{leave}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 10 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], \
         push_constants = {{ n = {n}, stop = {stop}, leave = {leave} }}, \
         bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = {values:?} }}]\n\n"
    )
}

fn project(folder: &Path, criteria: &str, kernel: &str, rest: &str) {
    let head = "schema = 1\nname = \"Loops\"\nlevel = \"D\"\n";
    let listed = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}criteria = {criteria}\n\n{listed}"));
    write(folder, "k.comp", kernel);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{rest}"));
}

fn loops(kernel: &Value) -> &Vec<Value> {
    kernel["coverage"]["loops"].as_array().expect("loops")
}

#[test]
fn a_test_covers_the_cases_that_the_counts_of_its_invocations_make() {
    let mut parameters = Vec::new();
    for n in 0..4 {
        for stop in [0, 1, 2, 9] {
            parameters.extend([0, 1, 3, 8].map(|leave| (n, stop, leave)));
        }
    }
    let tests: String = parameters.iter().map(|(n, stop, leave)| test(*n, *stop, *leave)).collect();
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"loop-boundary\"]", KERNEL, &tests);
    let kernels = kernels(folder.path(), &["--engine", "both"]);
    assert_eq!(kernels.len(), 2);
    for kernel in &kernels {
        let rows = loops(kernel);
        assert_eq!(rows.len(), 6 * 4);
        for row in rows {
            let id = row["id"].as_str().expect("an id");
            let mut expected: Vec<String> = parameters
                .iter()
                .filter(|(n, stop, leave)| shown(*n, *stop, *leave).contains(id))
                .map(|(n, stop, leave)| format!("TC-{n}-{stop}-{leave}"))
                .collect();
            let listed = row["tests"].as_array().expect("tests").iter();
            let mut listed: Vec<&str> = listed.map(|test| test.as_str().expect("an id")).collect();
            expected.sort();
            listed.sort();
            assert_eq!(listed, expected, "{id} on {}", kernel["engine"]);
        }
    }
}

/// Loops whose form or condition leaves out cases.
const FIXED: &str = "#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const uint LIMIT = 0u;
layout(push_constant) uniform P { uint n; };
layout(binding = 0) buffer Out { uint value[]; };
void main() {
    uint c = 0u;
    do c++; while (c < n);
    for (;;) { c++; if (c > n) break; }
    while (true) { c++; if (c > 2u * n) break; }
    while (false) c++;
    for (uint i = 0u; LIMIT > 3u; i++) { c++; break; }
    if (LIMIT > 5u) for (uint i = 0u; i < n; i++) c++;
    for (uint i = 0u; i < 2u; i++) c++;
    value[0] = c;
}
";

const FIXED_TEST: &str = "[[test]]\nid = \"TC-1\"\nrequirements = [\"HLR-1\"]\n\
    buffers = { v = { type = \"uint\", fill = { constant = 0 }, count = 1 } }\n\
    dispatches = [{ kernel = \"k\", groups = [1, 1, 1], push_constants = { n = 1 }, \
    bindings = [{ binding = 0, buffer = \"v\" }] }]\n\
    expect = [{ buffer = \"v\", values = [5] }]\n\n";

#[test]
fn a_case_is_ruled_out_only_where_form_or_condition_prove_it() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"loop-boundary\"]", FIXED, FIXED_TEST);
    let kernels = kernels(folder.path(), &["--engine", "both"]);
    assert_eq!(kernels.len(), 2);
    for kernel in &kernels {
        let told: Vec<String> = loops(kernel)
            .iter()
            .map(|row| {
                let proposed = row["proposal"]["class"].as_str().unwrap_or("-");
                let text = |key: &str| row[key].as_str().expect("text");
                format!("{} {} {proposed}", text("id"), text("status"))
            })
            .collect();
        insta::assert_snapshot!("cases_that_are_ruled_out", told.join("\n"));
    }
}

#[test]
fn a_case_that_no_input_shows_is_justified_as_infeasible_unless_records_show_it() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"loop-boundary\"]", FIXED, FIXED_TEST);
    let justifications: String = ["LOOP1.zero", "LOOP7.zero", "LOOP7.more"]
        .map(|obligation| justification(folder.path(), obligation, "infeasible"))
        .concat();
    project(folder.path(), "[\"loop-boundary\"]", FIXED, &format!("{FIXED_TEST}{justifications}"));
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let status = |id: &str| {
        let row = loops(&kernels[0]).iter().find(|row| row["id"] == id).expect("a row");
        row["status"].clone()
    };
    let statuses = ["LOOP1.zero", "LOOP7.zero", "LOOP7.more"].map(status);
    assert_eq!(statuses, ["justified", "justified", "covered"]);
}

#[test]
fn loops_are_marked_and_derived_only_where_the_project_asks_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"statement\", \"call\"]", FIXED, FIXED_TEST);
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let coverage = kernels[0]["coverage"].as_object().expect("coverage");
    assert!(!coverage.contains_key("loops"));
    let requested = &kernels[0]["structure"]["requested"];
    assert_eq!(requested, &json!({ "calls": [] }));
}
