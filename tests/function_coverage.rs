//! Function coverage: a function is covered where a test that counts enters it; one that the entry
//! point does not reach is uncovered, and nothing is derived where the project does not ask.

use crate::support;

use serde_json::{Value, json};
use std::path::Path;
use support::{run, vkcert, write};

/// `F1` is empty, `F2` and `F3` are overloads, `F4` is called where a branch is taken, `F5` by a
/// function that nobody calls, `F6` by nobody, `F7` by the right side of `&&`, `F8` out of a macro.
const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform P { uint mode; };
layout(binding = 0) buffer Out { uint value[]; };
void nothing() {}
uint scaled(uint x) { return 2u * x; }
uint scaled(uint x, uint by) { return by * x; }
void leave() { return; }
uint leaf() { return 7u; }
uint unused() { return leaf(); }
bool is_two(uint x) { return x == 2u; }
#define MADE(name) uint name() { return 1u; }
MADE(made)
void main() {
    uint i = gl_LocalInvocationID.x;
    nothing();
    if (mode > 0u) leave();
    if (mode > 0u && is_two(mode)) { value[i] = scaled(i, made()); return; }
    value[i] = scaled(i);
}
";

/// The obligations in source order, as the report names them.
const FUNCTIONS: [&str; 9] = [
    "F1 5 void nothing()",
    "F2 6 uint scaled(uint x)",
    "F3 7 uint scaled(uint x, uint by)",
    "F4 8 void leave()",
    "F5 9 uint leaf()",
    "F6 10 uint unused()",
    "F7 11 bool is_two(uint x)",
    "F8 12 made",
    "F9 14 void main()",
];

fn test(id: &str, mode: u32, values: [u32; 4]) -> String {
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 9 }}, count = 4 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], push_constants = {{ mode = {mode} }}, \
         bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = {values:?} }}]\n\n"
    )
}

fn project(folder: &Path, settings: &str, tests: &[String]) {
    let kernel = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    let head = "schema = 1\nname = \"Functions\"\nlevel = \"D\"\n";
    write(folder, "vkcert.toml", format!("{head}{settings}\n\n{kernel}"));
    write(folder, "k.comp", KERNEL);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{}", tests.concat()));
}

const ASKED: &str = "criteria = [\"function\"]";

/// Certifies, verifies, and gives the kernel's evidence on each engine that ran.
pub(crate) fn kernels(folder: &Path, options: &[&str]) -> Vec<Value> {
    let out = folder.join("out");
    let mut command = vkcert();
    command.args(["certify", "--quiet", "--format", "json", "--out"]).arg(&out).arg(folder);
    let output = command.args(options).output().expect("runs");
    assert!(output.status.code() < Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    let evidence = out.join("evidence");
    run(vkcert().arg("verify").arg(&evidence), 0);
    let files = walkdir::WalkDir::new(&evidence).sort_by_file_name().into_iter();
    let files = files.map(|entry| entry.expect("a file").into_path());
    let texts = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let documents = texts.map(|path| {
        let text = std::fs::read_to_string(path).expect("readable");
        serde_json::from_str::<Value>(&text).expect("JSON")
    });
    documents.filter(|document| document["coverage"]["statements"].is_array()).collect()
}

/// Status of each function, and the number that are covered as the summary has it.
fn assert_functions(kernel: &Value, covered: &[usize]) {
    let coverage = &kernel["coverage"];
    let rows = coverage["functions"].as_array().expect("functions");
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().expect("text").to_owned();
            format!("{} {} {}: {}", text("id"), row["line"], text("text"), text("status"))
        })
        .collect();
    let expected: Vec<String> = FUNCTIONS
        .iter()
        .enumerate()
        .map(|(index, function)| {
            let is_covered = covered.contains(&(index + 1));
            format!("{function}: {}", if is_covered { "covered" } else { "uncovered" })
        })
        .collect();
    assert_eq!(told, expected, "{}", kernel["engine"]);
    let summary = coverage["summary"].as_array().expect("a summary").iter();
    let row = summary.clone().find(|row| row["criterion"] == "function").expect("a row");
    assert_eq!((&row["total"], &row["covered"]), (&json!(9), &json!(covered.len())));
}

#[test]
fn a_function_is_covered_where_a_test_enters_it_on_both_engines() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [
        test("TC-PLAIN", 0, [0, 2, 4, 6]),
        test("TC-ODD", 1, [0, 2, 4, 6]),
        test("TC-EVEN", 2, [0, 1, 2, 3]),
    ];
    let rows: [(&[String], &[usize]); 4] = [
        (&all[..1], &[1, 2, 9]),
        (&all[1..2], &[1, 2, 4, 7, 9]),
        (&all[2..], &[1, 3, 4, 7, 8, 9]),
        (&all, &[1, 2, 3, 4, 7, 8, 9]),
    ];
    for (tests, covered) in rows {
        project(folder.path(), ASKED, tests);
        let kernels = kernels(folder.path(), &["--engine", "both"]);
        assert_eq!(kernels.len(), 2);
        kernels.iter().for_each(|kernel| assert_functions(kernel, covered));
        assert_eq!(kernels[0]["coverage"]["not_reached"], json!(["leaf", "unused"]));
    }
}

#[test]
fn a_test_that_fails_covers_no_function() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), ASKED, &[test("TC-WRONG", 0, [1, 1, 1, 1])]);
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    assert_functions(&kernels[0], &[]);
    assert_eq!(kernels[0]["coverage"]["functions"][0]["uncounted"], json!(["TC-WRONG"]));
}

#[test]
fn functions_are_derived_only_where_the_project_asks_for_them() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "criteria = [\"statement\"]", &[test("TC-PLAIN", 0, [0, 2, 4, 6])]);
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let coverage = kernels[0]["coverage"].as_object().expect("coverage");
    assert!(!coverage.contains_key("functions"));
    let rows = coverage["summary"].as_array().expect("a summary");
    assert!(rows.iter().all(|row| row["criterion"] != "function"));
}

#[test]
fn an_unknown_criterion_is_refused_with_the_list() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "criteria = [\"calls-made\"]", &[test("TC-PLAIN", 0, [0, 2, 4, 6])]);
    let output = run(vkcert().args(["list", "kernels"]).arg(folder.path()), 2);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("`calls-made`") && told.contains("`function`"), "{told}");
}
