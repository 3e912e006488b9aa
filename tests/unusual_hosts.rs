//! Host programs that do what few programs do: the layer leaves them alone, and tells what it missed.
//!
//! Needs a C compiler, the headers of Vulkan and a device. Without them the tests say that they did
//! not run; with `VKCERT_REQUIRE_VULKAN` set that is a failure.

use crate::support;
use crate::support::captured_host::{built_program, completed, unless_missing};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use support::vkcert;

/// The C program (`tests/capture/unusual.c`).
struct Unusual {
    _folder: tempfile::TempDir,
    program: PathBuf,
}

fn built_unusual() -> Result<Unusual, String> {
    let folder = tempfile::tempdir().unwrap();
    let program = built_program(folder.path(), "unusual", &["-pthread"])?;
    completed(Command::new(&program).arg("plain"))?;
    Ok(Unusual { _folder: folder, program })
}

/// The program; none where it cannot be built or run and nobody demands it, which is told.
fn unusual() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Result<Unusual, String>> = OnceLock::new();
    unless_missing(PROGRAM.get_or_init(built_unusual)).map(|unusual| unusual.program.as_path())
}

/// What a captured run printed and recorded.
struct CapturedRun {
    folder: tempfile::TempDir,
    output: Output,
    result: Value,
}

/// Captures the program. In JSON its own output goes to stderr.
fn captured(program: &Path, what: &[&str], mode: &[&str]) -> CapturedRun {
    let folder = tempfile::tempdir().unwrap();
    let mut command = vkcert();
    command.args(["--format", "json", "capture"]).args(mode).arg("--output");
    command.arg(folder.path().join("unusual.capture")).arg("--").arg(program).args(what);
    let output = command.current_dir(folder.path()).output().unwrap();
    let result = serde_json::from_slice(&output.stdout).unwrap();
    CapturedRun { folder, output, result }
}

/// Submissions of each capture, and whether it is complete.
fn recorded(run: &CapturedRun) -> Vec<(u64, bool)> {
    let captures = run.result["captures"].as_array().unwrap().iter();
    let figures = captures.map(|capture| {
        let capture = &capture["capture"];
        (capture["submissions"].as_u64().unwrap(), capture["incomplete"].is_null())
    });
    figures.collect()
}

/// What the program does alone and under the layer is the same, and nothing of it is refuted.
fn runs_as_before(program: &Path, what: &[&str], expected: &[(u64, bool)]) -> CapturedRun {
    let folder = tempfile::tempdir().unwrap();
    let alone = Command::new(program).args(what).current_dir(folder.path()).output().unwrap();
    assert_eq!(alone.status.code(), Some(0), "{what:?} alone");
    for mode in [&[][..], &["--contents"]] {
        let run = captured(program, what, mode);
        assert_eq!(run.result["program"]["exit"], 0, "{what:?}: {}", run.result);
        assert_eq!(run.output.stderr, alone.stdout, "{what:?}");
        assert_eq!(recorded(&run), expected, "{what:?}: {}", run.result);
        for capture in run.result["captures"].as_array().unwrap() {
            let mut command = vkcert();
            command.args(["--format", "json", "capture", "--check"]);
            command.arg(run.folder.path().join(capture["file"].as_str().unwrap()));
            let checked: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
            for row in checked["checks"].as_array().unwrap() {
                assert_ne!(row["status"], "refuted", "{what:?}: {row:#}");
            }
        }
    }
    captured(program, what, &[])
}

#[test]
fn a_program_that_closes_all_descriptors_keeps_its_own_files() {
    let Some(program) = unusual() else { return };
    let run = runs_as_before(program, &["close-files", "own.txt"], &[(3, true)]);
    assert_eq!(std::fs::read(run.folder.path().join("own.txt")).unwrap(), b"own\n");
}

#[test]
fn a_file_that_has_the_name_of_the_capture_is_left_alone() {
    let Some(program) = unusual() else { return };
    let run = captured(program, &["replaced"], &[]);
    // The program looks itself whether its file is whole, and takes it away.
    assert!(run.output.stderr.starts_with(b"right\n"), "{:?}", run.output);
}

#[test]
fn descriptors_have_the_numbers_that_they_have_alone() {
    let Some(program) = unusual() else { return };
    runs_as_before(program, &["few-files"], &[(1, true)]);
}

#[test]
fn a_process_that_is_forked_has_a_capture_of_its_own() {
    let Some(program) = unusual() else { return };
    runs_as_before(program, &["fork"], &[(2, true), (1, true)]);
}

#[test]
fn a_program_that_becomes_another_leaves_two_captures() {
    let Some(program) = unusual() else { return };
    // The first one never comes to its end.
    runs_as_before(program, &["exec"], &[(1, false), (1, true)]);
}

#[test]
fn no_thread_ends_in_the_layer() {
    let Some(program) = unusual() else { return };
    runs_as_before(program, &["cancel"], &[(1, true)]);
}

#[test]
fn what_is_done_at_the_exit_is_captured() {
    let Some(program) = unusual() else { return };
    runs_as_before(program, &["at-exit"], &[(2, true)]);
}

#[test]
fn threads_with_devices_of_their_own_are_captured() {
    let Some(program) = unusual() else { return };
    runs_as_before(program, &["threads"], &[(4, true)]);
}

#[test]
fn a_program_that_aborts_leaves_what_it_submitted() {
    let Some(program) = unusual() else { return };
    let run = captured(program, &["abort"], &[]);
    assert_eq!(run.result["program"]["signal"], 6);
    assert_eq!(recorded(&run), [(1, false)]);
}
