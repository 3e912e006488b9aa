//! Barrier coverage: a barrier is covered where all invocations of a workgroup executed it in a
//! test that counts; what is not known is undetermined by name.

use crate::support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use support::{run, run_json, vkcert, without_driver, write};
use vkcert::exec::sequential::{Jobs, SequentialExecutor, Settings};
use vkcert::exec::{
    Completion, Executor, Job, JobDispatch, JobModule, ModuleRecording, Unobserved,
};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;
use vkcert::model::records::{MarkerTable, RecordLayout};

/// Line 9: a barrier out of a macro; 11: in a function that is called twice; 17: under a uniform
/// branch; 18: divergent for some values.
const KERNEL: &str = "#version 450
layout(local_size_x = 8) in;
layout(push_constant) uniform P { uint twice; uint only; };
layout(binding = 0) buffer Out { uint value[]; };
shared uint s[8];
#define SYNC barrier()
void turn(uint i) {
    s[i] = i + 1u;
    SYNC;
    value[i] += s[7u - i];
    barrier();
}
void unused() { barrier(); }
void main() {
    uint i = gl_LocalInvocationID.x;
    turn(i);
    if (twice > 0u) { memoryBarrier(); barrier(); turn(i); }
    if (i < only) barrier();
}
";

/// A test with these push constants.
fn test(id: &str, twice: u32, only: u32) -> String {
    format!(
        "[[{}]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 8 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], push_constants = {{ twice = {twice}, only = {only} }}, \
         bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = [{}] }}]\n\n",
        "test",
        8 * (1 + twice)
    )
}

fn procedure(folder: &Path) -> std::path::PathBuf {
    let tests = [test("TC-ONCE", 0, 0), test("TC-ALL", 1, 8), test("TC-PARTED", 0, 3)].concat();
    let tests = tests.replace("[[test]]", "[[tests]]").replace("requirements = [\"HLR-1\"]\n", "");
    let text = format!("schema = 1\n\n[kernels.k]\nsource = \"k.comp\"\n\n{tests}");
    write(folder, "k.comp", KERNEL);
    write(folder, "p.toml", text)
}

/// Place and status of each barrier.
fn barriers(coverage: &Value) -> Vec<(String, String)> {
    let rows = coverage["barriers"].as_array().expect("barriers").iter();
    let text = |row: &Value, name: &str| row[name].as_str().expect("text").to_owned();
    rows.map(|row| {
        (format!("{} {}:{}", text(row, "id"), row["line"], row["column"]), text(row, "status"))
    })
    .collect()
}

fn with_statuses(statuses: [&str; 4]) -> Vec<(String, String)> {
    let places = ["BAR1 9:5", "BAR2 11:5", "BAR3 17:40", "BAR4 18:19"];
    places
        .iter()
        .zip(statuses)
        .map(|(place, status)| ((*place).to_owned(), status.to_owned()))
        .collect()
}

#[test]
fn a_barrier_is_covered_where_all_invocations_of_a_workgroup_execute_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = procedure(folder.path());
    let result =
        run_json(without_driver(vkcert().arg("run").arg(file).args(["--engine", "sequential"])), 1);
    let of = |test: usize| &result["tests"][test]["coverage"]["k"];
    let (yes, no) = ("covered", "uncovered");
    assert_eq!(barriers(of(0)), with_statuses([yes, yes, no, no]));
    assert_eq!(barriers(of(1)), with_statuses([yes, yes, yes, yes]));
    // Three invocations wait at the last barrier and five have ended: the test is no pass, and
    // nothing of it counts.
    assert_eq!(result["tests"][2]["verdict"], "error");
    assert_eq!(barriers(of(2)), with_statuses([no, no, no, no]));
    let summary = of(0)["summary"]
        .as_array()
        .expect("a summary")
        .iter()
        .find(|row| row["criterion"] == "barrier");
    let counts =
        summary.map(|row| (row["total"].clone(), row["covered"].clone(), row["uncovered"].clone()));
    assert_eq!(counts, Some((json!(4), json!(2), json!(2))));
}

fn project(folder: &Path, tests: &[String]) {
    let settings = "schema = 1\nname = \"Barriers\"\nlevel = \"D\"\ncriteria = [\"barrier\"]\n\n[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", settings);
    write(folder, "k.comp", KERNEL);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{}", tests.concat()));
}

fn reasons(folder: &Path, options: &[&str]) -> String {
    let out = folder.join("out");
    let mut command = vkcert();
    command
        .args(["certify", "--quiet", "--format", "json", "--out"])
        .arg(&out)
        .arg(folder)
        .args(options);
    let output = command.output().expect("runs");
    let evidence: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    evidence["conclusion"]["reasons"].to_string()
}

#[test]
fn a_project_that_asks_for_barriers_must_cover_them_and_a_device_beside_does_not_count() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), &[test("TC-ONCE", 0, 0)]);
    let told = reasons(folder.path(), &["--engine", "sequential"]);
    assert!(told.contains("k on sequential: 2 of 4 barrier obligations not covered"), "{told}");
    project(folder.path(), &[test("TC-ONCE", 0, 0), test("TC-ALL", 1, 8)]);
    // With a device, where there is one.
    for options in [&["--engine", "sequential"][..], &[]] {
        let told = reasons(folder.path(), options);
        assert!(!told.contains("barrier"), "{told}");
    }
    let listed = run(vkcert().args(["list", "obligations"]).arg(folder.path()), 0);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("BAR4") && !listed.contains("BAR5"), "{listed}");
}

/// The engine's own counts: a barrier at which invocations are missing counts for nothing, though
/// it is passed.
#[test]
fn a_barrier_at_which_some_are_missing_is_not_counted() {
    let text = "#version 450
        layout(local_size_x = 8) in;
        shared uint s[8];
        void main() {
            uint i = gl_LocalInvocationID.x;
            for (uint turn = 0u; turn < 2u; turn++) { s[i] = turn; barrier(); }
            if (i < 3u) { s[i] = 0u; barrier(); }
        }";
    let mut options = shaderc::CompileOptions::new().expect("options");
    options.set_generate_debug_info();
    let compiler = shaderc::Compiler::new().expect("compiler");
    let kind = shaderc::ShaderKind::Compute;
    let words = compiler
        .compile_into_spirv(text, kind, "k.comp", "main", Some(&options))
        .expect("compiles");
    let layout = RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    let table =
        MarkerTable { value_function: None, mark_function: None, roles: Vec::new(), layout };
    let module = JobModule {
        key: "k".into(),
        words: Arc::new(words.as_binary().to_vec()),
        recording: ModuleRecording::Markers(Arc::new(table)),
    };
    let dispatch = JobDispatch {
        module: 0,
        entry: "main".to_owned(),
        groups: [5, 1, 1],
        bindings: Vec::new(),
        push_constants: Vec::new(),
        push_constants_defined: Vec::new(),
        specialization: BTreeMap::new(),
        subgroup_size: None,
    };
    let job = Job {
        name: "T".to_owned(),
        modules: vec![module],
        buffers: Vec::new(),
        resources: Default::default(),
        dispatches: vec![dispatch],
        limits: Limits::default(),
        checks: Checks::none(),
    };
    for jobs in [Jobs::One, Jobs::Dealt { workers: 2, alone: 1, batch: 1 }] {
        let mut engine = SequentialExecutor::new(Settings { jobs, ..Settings::default() });
        let run = engine.run(&job, &mut Unobserved).expect("runs");
        assert_eq!(run.completion, Completion::Error { reason: "barrier divergence".to_owned() });
        // Five workgroups, two turns; never the second one.
        assert_eq!(run.records[&"k".into()].barriers, [(0, 10)].into(), "{jobs:?}");
    }
}

#[test]
fn a_device_alone_tells_nothing_of_barriers() {
    let listed = run(vkcert().args(["list", "devices", "--format", "json"]), 0);
    if String::from_utf8_lossy(&listed.stdout).trim() == "[]" {
        assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "no device");
        eprintln!("NOT RUN: no device");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), &[test("TC-ALL", 1, 8)]);
    let told = reasons(folder.path(), &["--engine", "vulkan"]);
    assert!(
        told.contains(
            "k on vulkan: 4 of 4 barrier obligations not covered, 4 of them undetermined"
        ),
        "{told}"
    );
}
