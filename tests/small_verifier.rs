//! `vkcert-verify` beside `vkcert verify`: the same words where no compiler is needed, and the rest
//! named as not derived.

use crate::support::{copy_tree, forge, root, run, run_json, vkcert, without_driver};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

/// The small program, which is none of this package. A run of all tests builds it; a run of this
/// package alone does not, or leaves an old one.
static VERIFIER: LazyLock<PathBuf> = LazyLock::new(|| {
    let programs = Path::new(env!("CARGO_BIN_EXE_vkcert")).parent().expect("a folder of programs");
    let program = programs.join("vkcert-verify");
    if !is_current(&program) {
        build_verifier(programs);
    }
    program
});

/// Whether a program is there, and younger than every source that cargo notes beside it.
fn is_current(program: &Path) -> bool {
    let changed = |path: &Path| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let noted = std::fs::read_to_string(program.with_extension("d"));
    match (changed(program), noted) {
        (Some(built), Ok(noted)) => {
            let mut sources = noted.split_whitespace().skip(1);
            sources.all(|source| changed(Path::new(source)).is_some_and(|time| time <= built))
        }
        (None, _) | (_, Err(_)) => false,
    }
}

/// Builds it together with the large one, so that no crate is compiled twice; that it needs no
/// compiler, the last test shows.
fn build_verifier(programs: &Path) {
    let mut build = Command::new(env!("CARGO"));
    build.args([
        "build",
        "--release",
        "--locked",
        "--offline",
        "--quiet",
        "--bin",
        "vkcert-verify",
    ]);
    build.args(["-p", "vkcert", "-p", "vkcert-verifier"]);
    build.env("CARGO_TARGET_DIR", programs.parent().expect("a target folder"));
    run(build.current_dir(root()), 0);
}

pub(crate) fn verifier() -> Command {
    let mut command = Command::new(&*VERIFIER);
    command.env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

fn output(mut command: Command, arguments: &[&str], path: &Path) -> Output {
    command.args(arguments).arg(path).output().expect("the program starts")
}

/// Both programs, which must say the same.
fn assert_same(arguments: &[&str], path: &Path, exit: i32) {
    let [large, small] = [vkcert(), verifier()].map(|program| output(program, arguments, path));
    assert_eq!(large.status.code(), Some(exit), "{arguments:?}: {large:?}");
    assert_eq!(large, small, "{arguments:?} {path:?}");
}

/// Evidence of the demonstration project, in a folder of its own.
fn demonstration() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut certify = vkcert();
    certify.arg("certify").arg(root()).args(["--engine", "sequential", "--quiet", "--out"]);
    run(without_driver(certify.arg(folder.path())), 0);
    let evidence = folder.path().join("evidence");
    (folder, evidence)
}

fn verified(mut program: Command, evidence: &Path, exit: i32) -> Value {
    run_json(program.arg("verify").arg(evidence), exit)
}

fn sentences(document: &Value, list: &str) -> Vec<String> {
    let rows = document[list].as_array().expect("a list").iter();
    rows.map(|row| row.as_str().expect("a sentence").to_owned()).collect()
}

#[test]
fn the_small_program_names_what_it_does_not_derive() {
    let (_kept, evidence) = demonstration();
    // Which altered contents fail a test that expects nothing to be stored is told by running it.
    let [large, small] =
        [(vkcert(), Some("--replay")), (verifier(), None)].map(|(mut program, replay)| {
            program.arg("verify").arg(&evidence).args(replay);
            run_json(&mut program, 0)
        });
    assert_eq!((&large["status"], &large["extent"]), (&"verified".into(), &"whole".into()));
    assert_eq!(small["status"], "verified-in-part");
    assert_eq!(small["extent"], "without-modules");
    assert_eq!((&small["verified"], &small["problems"]), (&false.into(), &serde_json::json!([])));
    assert_eq!((&large["root"], &large["reports"]), (&small["root"], &small["reports"]));
    assert!(small["checked"].as_u64().unwrap() > 1_000, "{}", small["checked"]);
    let left = sentences(&small, "not_rederivable");
    assert!(
        left[0].starts_with("what follows from the modules: they were made by vkcert "),
        "{left:?}"
    );
    let strict = output(verifier(), &["verify", "--strict"], &evidence);
    assert_eq!(strict.status.code(), Some(1));
    let words = String::from_utf8(strict.stdout).unwrap();
    assert!(words.contains("the kernels were NOT derived from their sources"), "{words}");
    // Nothing is replayed without an engine, and that is no success.
    let replayed = output(verifier(), &["verify", "--replay"], &evidence);
    assert_eq!(replayed.status.code(), Some(1));
    assert!(String::from_utf8(replayed.stdout).unwrap().contains("the tests cannot be replayed"));
    let mut compare = verifier();
    compare.arg("verify").arg(&evidence).arg("--project").arg(root());
    let compared = run_json(&mut compare, 0);
    assert_eq!(compared["project"]["same"], compared["project"]["inputs"]);
    assert_eq!(compared["project"]["kernels"], Value::Null);
}

#[test]
fn reports_of_the_small_program_say_that_the_kernels_were_not_derived() {
    let (_kept, evidence) = demonstration();
    let arguments = ["report", "--report-format", "terminal"];
    let [large, small] =
        [vkcert(), verifier()].map(|program| output(program, &arguments, &evidence));
    assert_eq!((large.status.code(), small.status.code()), (Some(0), Some(0)));
    let [large, small] = [large, small].map(|output| String::from_utf8(output.stdout).unwrap());
    let stamp = "  VERIFIED IN PART: much of this evidence could not be derived again\n";
    assert_eq!((large.matches(stamp).count(), small.matches(stamp).count()), (0, 2), "{small}");
    // The stamp apart, it is the same report.
    assert_eq!(large, small.replace(stamp, ""));
}

#[test]
fn both_programs_find_the_same_forgery() {
    let (_kept, evidence) = demonstration();
    let copy = tempfile::tempdir().unwrap();
    // Files that do not agree with the manifest; reports are not beside a copy.
    let tampered = copy.path().join("tampered");
    copy_tree(&evidence, &tampered);
    let campaign = std::fs::read_to_string(tampered.join("campaign.json")).unwrap();
    let changed = campaign.replacen("\"verdict\": \"pass\"", "\"verdict\": \"fail\"", 1);
    std::fs::write(tampered.join("campaign.json"), changed).unwrap();
    // A manifest that agrees, so that only derivation finds it.
    let forged = copy.path().join("forged");
    copy_tree(&evidence, &forged);
    let kernel = "kernel-matmul_naive-sequential.json";
    forge(&forged, kernel, |row| {
        row["coverage"]["statements"][0]["status"] = "uncovered".into();
    });
    let coverage = |sentence: &String| sentence.contains("coverage");
    for (folder, told) in [(&tampered, "campaign.json has another SHA-256"), (&forged, "")] {
        let [large, small] = [vkcert(), verifier()].map(|program| verified(program, folder, 1));
        for document in [&large, &small] {
            assert_eq!(document["status"], "not-verified");
            let problems = sentences(document, "problems");
            let right = |sentence: &String| match told {
                "" => coverage(sentence),
                told => sentence.starts_with(told),
            };
            assert!(problems.iter().any(right), "{problems:?}");
        }
        assert_same(&["report", "--report-format", "xml"], folder, 2);
        let refused = output(verifier(), &["report", "--report-format", "html"], folder);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    }
}

/// No program of today can compile the kernels of older evidence as they were.
#[test]
fn both_programs_say_the_same_of_older_evidence() {
    for format in ["format_1", "format_2"] {
        let evidence = root().join("tests/stored").join(format).join("evidence");
        assert_same(&["verify"], &evidence, 0);
        assert_same(&["verify", "--strict", "--format", "json"], &evidence, 1);
        assert_same(&["report", "--report-format", "html"], &evidence, 0);
    }
}

#[test]
fn both_programs_refuse_alike() {
    let nowhere = Path::new("there/is/none");
    assert_same(&["verify"], nowhere, 2);
    assert_same(&["verify", "--format", "json"], nowhere, 2);
    assert_same(&["report", "--report-format", "terminal"], nowhere, 2);
}

#[test]
fn both_programs_have_the_same_arguments() {
    for command in ["verify", "report"] {
        let [large, small] = [vkcert(), verifier()].map(|mut program| {
            let help = program.args([command, "--help"]).output().expect("the program starts");
            String::from_utf8(help.stdout).unwrap()
        });
        let line = format!("vkcert {command}");
        assert!(large.contains(&line), "{large}");
        assert_eq!(large.replace(&line, &format!("vkcert-verify {command}")), small);
    }
}

/// What a qualification of the small program would rest on.
#[test]
fn the_small_program_is_built_without_compiler_engine_and_c() {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--locked", "--offline", "-p", "vkcert-verifier"]);
    tree.args(["-e", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let listed = run(tree.current_dir(root()), 0).stdout;
    let listed = String::from_utf8(listed).unwrap();
    let crates: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"vkcert-derivation"), "{listed}");
    let barred = ["cc", "cmake", "shaderc", "mimalloc", "ash", "rspirv", "petgraph"];
    let layers = ["spirv", "instrument", "exec", "sequential", "vulkan", "campaign", "crash"];
    let layers = layers.map(|layer| format!("vkcert-{layer}"));
    for name in barred.into_iter().chain(layers.iter().map(String::as_str)) {
        assert!(!crates.contains(&name), "{name} is a dependency of the small program");
    }
}
