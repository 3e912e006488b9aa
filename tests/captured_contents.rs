//! Contents that the layer reads on the device: a dispatch that is given what an earlier one wrote is
//! a test procedure with its real data.
//!
//! Needs a C compiler, the headers of Vulkan and a device, like `capture.rs`.

use crate::support;
use crate::support::captured_host::{built_kernel, built_program, completed, unless_missing};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{run, run_json, vkcert, write};
use vkcert_capture::program::{Groups, Program, Reading};

/// The C program and its kernel.
struct Host {
    _folder: tempfile::TempDir,
    program: PathBuf,
    kernel: PathBuf,
}

fn built_host() -> Result<Host, String> {
    let folder = tempfile::tempdir().unwrap();
    let program = built_program(folder.path(), "chain", &[])?;
    let kernel = built_kernel(folder.path(), "chain");
    completed(Command::new(&program).arg(&kernel))?;
    Ok(Host { _folder: folder, program, kernel })
}

/// The program; none where it cannot be built or run and nobody demands it, which is told.
fn host() -> Option<&'static Host> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    unless_missing(HOST.get_or_init(built_host))
}

/// Captures the program with contents. It prints what it prints alone, and no check is refuted.
fn captured(host: &Host, folder: &Path, way: &str) -> (PathBuf, String) {
    let alone = Command::new(&host.program).arg(&host.kernel).arg(way).output().unwrap();
    let file = folder.join("chain.capture");
    let mut command = vkcert();
    command.args(["capture", "--contents", "--output"]).arg(&file).arg("--");
    let output = run(command.arg(&host.program).arg(&host.kernel).arg(way), 0);
    assert_eq!(output.stdout, alone.stdout, "{way}: the program's output is its own");
    let checked = vkcert().args(["--format", "json", "capture", "--check"]).arg(&file).output();
    let checked: Value = serde_json::from_slice(&checked.unwrap().stdout).unwrap();
    let mut rows = checked["checks"].as_array().unwrap().iter();
    assert!(rows.all(|row| row["status"] != "refuted"), "{way}: {checked:#}");
    (file, String::from_utf8(output.stdout).unwrap())
}

/// The procedure of the second dispatch, and what is said of it.
fn second_procedure(file: &Path, folder: &Path) -> (PathBuf, Vec<String>) {
    let mut command = vkcert();
    command.args(["capture", "--procedure"]).arg(file).args(["--dispatch", "2"]);
    let output = run(&mut command, 0);
    let remarks = String::from_utf8(output.stderr).unwrap();
    let procedure = write(folder, "second.json", output.stdout);
    (procedure, remarks.lines().map(str::to_owned).collect())
}

/// What the kernel leaves in the buffer that the program prints.
fn left_by(engine: &str, procedure: &Path) -> String {
    let mut command = vkcert();
    command.arg("run").arg(procedure).args(["--engine", engine, "--dump-buffers"]);
    let result = run_json(&mut command, 0);
    assert_eq!(result["tests"][0]["verdict"], "pass", "{engine}: {result:#}");
    let left = result["tests"][0]["buffers"]["buffer3"].as_str().unwrap();
    let left = STANDARD.decode(left).unwrap();
    let words = left.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    words.map(|word| format!("{word}\n")).collect()
}

#[test]
fn a_dispatch_behind_another_one_is_a_procedure_with_its_real_data() {
    let Some(host) = host() else { return };
    for way in ["one", "two", "again", "indirect"] {
        let folder = tempfile::tempdir().unwrap();
        let (file, printed) = captured(host, folder.path(), way);
        let (procedure, remarks) = second_procedure(&file, folder.path());
        assert_eq!(remarks.len(), 1, "{way}: {remarks:#?}");
        assert!(remarks[0].contains("expected values are left to a person"), "{remarks:?}");
        for engine in ["sequential", "vulkan"] {
            assert_eq!(left_by(engine, &procedure), printed, "{way} on {engine}");
        }
    }
}

/// Workgroups that the device reads are known, though a copy on the device put them there.
#[test]
fn workgroups_of_an_indirect_dispatch_are_read() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (file, _) = captured(host, folder.path(), "indirect");
    let program = Program::read(&file).unwrap();
    let (_, second) = program.dispatches().nth(1).unwrap();
    let Groups::Indirect { buffer: own, .. } = second.groups else { panic!("{second:?}") };
    let words = second.readings.iter().filter_map(|reading| match reading {
        Reading::Range { buffer, offset: 0, bytes } if *buffer == own => Some(bytes.to_vec()),
        Reading::Range { .. } | Reading::Texels { .. } => None,
    });
    let one = 1u32.to_le_bytes();
    assert_eq!(words.collect::<Vec<_>>(), [[one, one, one].concat()]);
}

#[test]
fn what_is_not_read_is_named_with_its_reason() {
    let Some(host) = host() else { return };
    for (way, expected) in [
        ("secondary", "not read on the device: it was recorded into a secondary command buffer"),
        ("simultaneous", "its command buffer may be executed several times at once"),
        ("levels", "binding 0.1: no barrier of the same command buffer brings its image"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = captured(host, folder.path(), way);
        let (_, remarks) = second_procedure(&file, folder.path());
        assert!(remarks.iter().any(|remark| remark.contains(expected)), "{way}: {remarks:#?}");
        let unknown = remarks.iter().filter(|remark| remark.contains("not in the capture"));
        assert!(unknown.count() > 0, "{way}: {remarks:#?}");
    }
}

/// Without contents nothing is read, and nothing of the program is made otherwise.
#[test]
fn nothing_is_read_without_contents() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plain.capture");
    let mut command = vkcert();
    command.args(["capture", "--output"]).arg(&file).arg("--");
    run(command.arg(&host.program).arg(&host.kernel), 0);
    let program = Program::read(&file).unwrap();
    let is_bare = |(_, dispatch): (usize, &vkcert_capture::program::Dispatch)| {
        dispatch.readings.is_empty() && dispatch.unread.is_empty()
    };
    assert!(program.dispatches().all(is_bare));
    let (_, remarks) = second_procedure(&file, folder.path());
    assert!(remarks.iter().all(|remark| !remark.contains("on the device")), "{remarks:#?}");
}
