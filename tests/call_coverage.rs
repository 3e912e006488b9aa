//! Call coverage: a call is covered where a test that counts executes it; nothing is derived where
//! the project does not ask.

use crate::function_coverage::kernels;
use crate::support;

use serde_json::{Value, json};
use std::path::Path;
use support::{run_json, vkcert, write};

/// Calls nested in arguments, on the right of `&&`, in the arms of `?:`, out of a macro, of
/// overloads, at file level, in what is never reached, and under a condition that is false.
const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform P { uint mode; };
layout(binding = 0) buffer Out { uint value[]; };
struct Pair { uint a; uint b; };
Pair pair(uint x) { return Pair(x, 2u * x); }
uint[2] both(uint x) { return uint[2](x, x + 1u); }
uint twice(uint x) { return 2u * x; }
float twice(float x) { return 2.0 * x; }
void put(uint i, inout uint x) { value[i] += x; x = 0u; }
bool is_two(uint x) { return x == 2u; }
uint unused() { return twice(1u); }
#define DOUBLE(x) twice(x)
uint offset = twice(3u);
void main() {
    uint i = gl_LocalInvocationID.x;
    uint x = twice(twice(i));
    if (mode > 0u && is_two(mode)) put(i, x);
    x += mode == 1u ? uint(twice(1.5)) : pair(i).b;
    if (mode == 3u) x += both(i)[1] + DOUBLE(5u);
    if (false) x += twice(7u);
    value[i] += x + offset;
}
";

/// The obligations in source order, as the report names them; the macro's where its text stands.
const CALLS: [&str; 10] = [
    "CALL2 14 twice(3u)",
    "CALL3 17 twice(twice(i))",
    "CALL4 17 twice(i)",
    "CALL5 18 is_two(mode)",
    "CALL6 18 put(i, x)",
    "CALL7 19 twice(1.5)",
    "CALL8 19 pair(i)",
    "CALL9 20 both(i)",
    "CALL10 13 twice(x)",
    "CALL11 21 twice(7u)",
];

/// What invocation `i` leaves.
fn expected(mode: u32) -> [u32; 4] {
    [0, 1, 2, 3].map(|i| {
        let (put, x) = if mode == 2 { (4 * i, 0) } else { (0, 4 * i) };
        let x = x + if mode == 1 { 3 } else { 2 * i };
        let x = x + if mode == 3 { i + 1 + 10 } else { 0 };
        put + x + 6
    })
}

fn test(mode: u32) -> String {
    format!(
        "[[test]]\nid = \"TC-{mode}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 4 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], push_constants = {{ mode = {mode} }}, \
         bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = {:?} }}]\n\n",
        expected(mode)
    )
}

/// A justification with the hash that the obligation has now.
pub(crate) fn justification(folder: &Path, obligation: &str, class: &str) -> String {
    let rows = run_json(vkcert().args(["list", "obligations"]).arg(folder), 0);
    let row = rows.as_array().expect("rows").iter().find(|row| row["id"] == obligation);
    let hash = row.expect("the obligation is listed")["hash"].as_str().expect("a hash");
    let argument = match class {
        "infeasible" => "argument = \"The form of the loop.\"\n",
        _ => "",
    };
    format!(
        "[[justification]]\nkernel = \"k\"\nobligation = \"{obligation}\"\nclass = \"{class}\"\n{argument}\
         reason = \"Reviewed.\"\nauthor = \"A\"\napprover = \"B\"\nhash = \"{hash}\"\n\n"
    )
}

fn project(folder: &Path, criteria: &str, modes: &[u32], more: &str) {
    let head = "schema = 1\nname = \"Calls\"\nlevel = \"D\"\n";
    let kernel = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}criteria = {criteria}\n\n{kernel}"));
    write(folder, "k.comp", KERNEL);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    let tests: String = modes.iter().map(|mode| test(*mode)).collect();
    write(folder, "requirements/k.toml", format!("{requirement}{tests}{more}"));
}

/// Status of each call, and the number that are covered as the summary has it.
fn assert_calls(kernel: &Value, covered: &[&str]) {
    let coverage = &kernel["coverage"];
    let rows = coverage["calls"].as_array().expect("calls");
    let text = |row: &Value, key: &str| row[key].as_str().expect("text").to_owned();
    let named: Vec<String> = rows
        .iter()
        .map(|row| format!("{} {} {}", text(row, "id"), row["line"], text(row, "text")))
        .collect();
    assert_eq!(named, CALLS);
    let covered_rows = rows.iter().filter(|row| row["status"] == "covered");
    let covered_ids: Vec<String> = covered_rows.map(|row| text(row, "id")).collect();
    assert_eq!(covered_ids, covered, "{}", kernel["engine"]);
    let summary = coverage["summary"].as_array().expect("a summary");
    let row = summary.iter().find(|row| row["criterion"] == "call").expect("a row");
    assert_eq!((&row["total"], &row["covered"]), (&json!(10), &json!(covered.len())));
}

#[test]
fn a_call_is_covered_where_a_test_executes_it_on_both_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows: [(&[u32], &[&str]); 5] = [
        (&[0], &["CALL2", "CALL3", "CALL4", "CALL8"]),
        (&[1], &["CALL2", "CALL3", "CALL4", "CALL5", "CALL7"]),
        (&[2], &["CALL2", "CALL3", "CALL4", "CALL5", "CALL6", "CALL8"]),
        (&[3], &["CALL2", "CALL3", "CALL4", "CALL5", "CALL8", "CALL9", "CALL10"]),
        (
            &[0, 1, 2, 3],
            &["CALL2", "CALL3", "CALL4", "CALL5", "CALL6", "CALL7", "CALL8", "CALL9", "CALL10"],
        ),
    ];
    for (modes, covered) in rows {
        project(folder.path(), "[\"call\"]", modes, "");
        let kernels = kernels(folder.path(), &["--engine", "both"]);
        assert_eq!(kernels.len(), 2);
        kernels.iter().for_each(|kernel| assert_calls(kernel, covered));
        // The function of the first call is never called; nothing leads to the last.
        assert_eq!(kernels[0]["coverage"]["not_reached"], json!(["unused"]));
        let last = &kernels[0]["coverage"]["calls"][9];
        let reason = last["reason"].as_str().expect("a reason");
        assert!(reason.starts_with("never executed, as `false` ("), "{last}");
    }
}

#[test]
fn a_call_is_code_so_that_infeasible_does_not_close_it() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"call\"]", &[0], "");
    for (class, status) in [("analysis", "justified"), ("infeasible", "uncovered")] {
        let justification = justification(folder.path(), "CALL9", class);
        project(folder.path(), "[\"call\"]", &[0], &justification);
        let kernels = kernels(folder.path(), &["--engine", "sequential"]);
        assert_eq!(kernels[0]["coverage"]["calls"][7]["status"], status, "{class}");
    }
}

#[test]
fn calls_are_marked_and_derived_only_where_the_project_asks_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "[\"statement\"]", &[0], "");
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let coverage = kernels[0]["coverage"].as_object().expect("coverage");
    assert!(!coverage.contains_key("calls"));
    assert!(!kernels[0]["structure"].as_object().expect("a structure").contains_key("requested"));
}
