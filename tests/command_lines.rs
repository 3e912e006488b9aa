//! `--format short` and `--format github` of `vkcert run` and `vkcert couple`: lines for all that
//! counts, at places that exist, and none where the exit code is 0.

use crate::support::{certify_sequentially, root, run, run_json, vkcert, write};
use serde_json::Value;
use std::path::Path;

const PROCEDURE: &str = r#"schema = 1

[kernels.k]
source = "k.comp"

[kernels.inner]
source = { text = """
SHADER""" }

[[tests]]
id = "TC-1"
buffers = { data = { type = "uint", data = [1, 2, 3, 4] } }
dispatches = [{ kernel = "KERNEL", groups = [1, 1, 1], bindings = [{ set = 0, binding = 0, buffer = "data" }] }]
expect = [{ buffer = "data", type = "uint", values = [2, 3, 4, LAST] }]
"#;

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Data { uint data[]; };
void main() {
    data[gl_GlobalInvocationID.x EXTRA] += 1u;
}
";

/// The lines of a procedure of one test, whose last expected element and index are given.
fn run_lines(
    folder: &Path,
    kernel: &str,
    last: &str,
    extra: &str,
    form: &str,
    exit: i32,
) -> String {
    let shader = KERNEL.replace("EXTRA", extra);
    write(folder, "k.comp", &shader);
    let text = PROCEDURE.replace("SHADER", &shader).replace("KERNEL", kernel).replace("LAST", last);
    let file = write(folder, "procedure.toml", text);
    let mut command = vkcert();
    command.arg("run").arg(file).args(["--engine", "sequential", "--format", form]);
    String::from_utf8(run(&mut command, exit).stdout).unwrap()
}

#[test]
fn a_run_tells_nothing_where_nothing_counts() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(run_lines(folder.path(), "k", "5", "", "short", 0), "");
    assert_eq!(run_lines(folder.path(), "k", "5", "", "github", 0), "");
}

#[test]
fn a_run_tells_what_failed_where_the_test_has_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("procedure.toml");
    let lines = run_lines(folder.path(), "k", "9", "", "short", 1);
    let start = format!("{}:17:6: test-failed: test TC-1 on sequential: fail", file.display());
    assert!(lines.starts_with(&start), "{lines}");
    assert!(lines.contains("expected 9, actual 5"), "{lines}");
    assert_eq!(lines.lines().count(), 1, "{lines}");
    let github = run_lines(folder.path(), "k", "9", "", "github", 1);
    let start = format!("::error file={},line=17,col=6,title=test-failed::", file.display());
    assert!(github.starts_with(&start), "{github}");
}

#[test]
fn a_finding_stands_in_its_kernel_and_never_at_a_line_that_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = folder.path().join("k.comp");
    let lines = run_lines(folder.path(), "k", "4", "+ 1u", "short", 1);
    let start = format!("{}:5:", kernel.display());
    let finding = lines.lines().find(|line| line.starts_with(&start));
    assert!(finding.is_some_and(|line| line.contains(" out-of-bounds: ")), "{lines}");
    // The text of this kernel is in the procedure, where line 5 is something else.
    let lines = run_lines(folder.path(), "inner", "4", "+ 1u", "short", 1);
    let procedure =
        format!("{}: out-of-bounds: inner.comp:5:", folder.path().join("procedure.toml").display());
    assert!(lines.lines().any(|line| line.starts_with(&procedure)), "{lines}");
}

#[test]
fn faults_of_the_input_have_lines_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "procedure.toml", "schema = 1\nkernles = 1\n");
    let mut command = vkcert();
    let output = run(command.arg("run").arg(&file).args(["--format", "short"]), 2);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.starts_with(&format!("{}:2:1: unknown-key: ", file.display())), "{lines}");
}

fn couple(project: &Path, form: &str, exit: i32) -> String {
    let mut command = vkcert();
    command.arg("couple").arg(project).args(["--engine", "sequential", "--format", form]);
    String::from_utf8(run(&mut command, exit).stdout).unwrap()
}

#[test]
fn coupling_lines_are_as_many_as_checks_that_do_not_hold() {
    let project = root().join("tests/projects/paper_defects");
    let mut command = vkcert();
    command.arg("couple").arg(&project).args(["--engine", "sequential"]);
    let document = run_json(&mut command, 1);
    let kernels = document["kernels"].as_array().unwrap();
    let statuses: Vec<&Value> = kernels
        .iter()
        .flat_map(|kernel| kernel["checks"].as_array().unwrap())
        .map(|check| &check["status"])
        .collect();
    let count = |word: &str| statuses.iter().filter(|status| **status == word).count();
    let lines = couple(&project, "short", 1);
    let of_kind = |kind: &str| lines.lines().filter(|line| line.contains(kind)).count();
    assert!(count("refuted") > 3);
    assert_eq!(of_kind(": coupling: "), count("refuted"), "{lines}");
    assert_eq!(of_kind(": coupling-undetermined: "), count("undetermined"), "{lines}");
    for line in lines.lines() {
        let file = line.split(':').next().unwrap();
        assert!(Path::new(file).is_file(), "{line}");
    }
    // The host's source is named in words, and its defects stand where the interface is stated.
    let host = lines.lines().find(|line| line.contains("figure 2, lines 5")).unwrap();
    assert!(host.contains("/requirements/") && host.contains(": coupling: figure 2"), "{host}");
    let github = couple(&project, "github", 1);
    assert_eq!(github.lines().count(), lines.lines().count());
    assert!(github.lines().all(|line| line.starts_with("::error file=")), "{github}");
}

#[test]
fn coupling_that_holds_has_no_line_and_graphs_have_none() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    run(vkcert().arg("init").arg(&project), 0);
    assert_eq!(couple(&project, "short", 0), "");
    let mut command = vkcert();
    command.arg("couple").arg(&project).args(["--graph", "dot", "--format", "short"]);
    let refused = run(&mut command, 2);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("--graph prints graphs"));
}

#[test]
fn lines_of_a_campaign_name_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut command =
        certify_sequentially(&root().join("tests/projects/paper_defects"), folder.path());
    let output = run(command.args(["--report", "sarif", "--format", "short"]), 1);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert!(lines.lines().any(|line| line.contains(": coupling: ")), "{lines}");
    for line in lines.lines() {
        let file = line.split(':').next().unwrap();
        assert!(Path::new(file).is_file(), "{line}");
    }
}
