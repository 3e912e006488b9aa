//! Images of a host program that is captured: what the layer records of them, the checks of their
//! order, and a captured dispatch as a test procedure with its texels.
//!
//! Needs a C compiler, the headers of Vulkan and a device, like `capture.rs`.

use crate::support;
use crate::support::captured_host::{built_kernel, built_program, completed, unless_missing};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use support::{run, run_json, vkcert, write};
use vkcert_capture::program::{Action, PARTIALLY_BOUND, Program, Reading};

/// The C program and its kernel.
struct Host {
    folder: tempfile::TempDir,
    program: PathBuf,
    kernel: PathBuf,
}

fn built_host() -> Result<Host, String> {
    let folder = tempfile::tempdir().unwrap();
    let program = built_program(folder.path(), "images", &[])?;
    let kernel = built_kernel(folder.path(), "images");
    completed(Command::new(&program).arg(&kernel))?;
    Ok(Host { folder, program, kernel })
}

/// The program; none where it cannot be built or run and nobody demands it, which is told.
fn host() -> Option<&'static Host> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    unless_missing(HOST.get_or_init(built_host))
}

/// Captures the program with a fault; what it prints comes back.
fn capture(host: &Host, fault: &str) -> (PathBuf, Vec<u8>) {
    let file = host.folder.path().join(format!("{fault}.capture"));
    let mut command = vkcert();
    command.args(["capture", "--contents", "--output"]).arg(&file).arg("--");
    let output = run(command.arg(&host.program).arg(&host.kernel).arg(fault), 0);
    (file, output.stdout)
}

fn refuted(file: &Path) -> Vec<String> {
    let checked = run_json(vkcert().args(["capture", "--check"]).arg(file), 1);
    let rows = checked["checks"].as_array().unwrap().clone();
    let open: Vec<Value> = rows.into_iter().filter(|row| row["status"] != "holds").collect();
    assert!(open.iter().all(|row| row["status"] == "refuted"), "{open:#?}");
    open.iter().map(|row| row["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn images_are_recorded_with_what_sees_and_fills_them() {
    let Some(host) = host() else { return };
    let alone = Command::new(&host.program).arg(&host.kernel).output().unwrap();
    let (file, printed) = capture(host, "none");
    assert_eq!(printed, alone.stdout, "the program's output is its own");
    run(vkcert().args(["capture", "--check"]).arg(&file), 0);
    let program = Program::read(&file).unwrap();
    assert!(program.unsupported.is_empty(), "{:?}", program.unsupported);
    let [source, result] = &program.images[..] else { panic!("{:?}", program.images) };
    assert_eq!((source.made.format, result.made.format), (37, 98), "R8G8B8A8_UNORM and R32_UINT");
    assert_eq!((source.made.extent, source.made.usage), ([8, 4, 1], 0x7));
    assert!(source.memory.is_some() && source.made.memory_bytes >= 128, "{source:?}");
    assert_eq!((program.image_views.len(), program.samplers.len()), (2, 1));
    assert_eq!(flags_of(&program), []);
    let names = program.operations.iter().filter_map(|operation| match &operation.action {
        Action::CopyToImage { .. } => Some("to image"),
        Action::ClearImage { .. } => Some("clear"),
        Action::CopyFromImage { .. } => Some("from image"),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["to image", "clear", "from image"]);
    // Of one in a layout from which it must be brought to be copied, and of one in GENERAL.
    let (_, dispatch) = program.dispatches().next().unwrap();
    let texels: Vec<u8> = (0..128).collect();
    let cleared = [7, 0, 0, 0].repeat(32);
    let read = [(0, texels), (1, cleared)].map(|(image, bytes)| Reading::Texels {
        image,
        level: 0,
        layer: 0,
        bytes: Arc::new(bytes),
    });
    assert_eq!((&dispatch.readings[..], &dispatch.unread[..]), (&read[..], &[][..]));
}

/// Flags of the bindings of the one set.
fn flags_of(program: &Program) -> Vec<(u32, u32)> {
    let flags = program.layouts[0].sets[0].binding_flags.clone().unwrap();
    flags.into_iter().collect()
}

#[test]
fn flags_of_bindings_are_recorded() {
    let Some(host) = host() else { return };
    let (file, _) = capture(host, "flagged-binding");
    assert_eq!(flags_of(&Program::read(&file).unwrap()), [(2, PARTIALLY_BOUND)]);
}

#[test]
fn missing_barriers_and_wrong_layouts_of_images_are_refuted() {
    let Some(host) = host() else { return };
    let (file, _) = capture(host, "missing-barrier");
    let messages = refuted(&file);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert!(messages[0].contains("reads its source (image 2, level 0, layer 0)"), "{messages:?}");
    assert!(messages[0].contains("no dependency orders the two"), "{messages:?}");
    let (file, _) = capture(host, "wrong-layout");
    let messages = refuted(&file);
    assert_eq!(messages.len(), 1, "{messages:#?}");
    assert!(
        messages[0].contains("binding 0.0 names image 1 in the layout GENERAL"),
        "{messages:?}"
    );
}

#[test]
fn a_dispatch_with_images_is_a_test_procedure_that_comes_to_the_same() {
    let Some(host) = host() else { return };
    let (file, printed) = capture(host, "none");
    let mut command = vkcert();
    command.args(["capture", "--procedure"]).arg(&file).args(["--dispatch", "1"]);
    let procedure = run(&mut command, 0).stdout;
    let procedure = write(host.folder.path(), "procedure.json", procedure);
    let mut sums = Vec::new();
    for engine in ["sequential", "vulkan"] {
        let mut command = vkcert();
        command.arg("run").arg(&procedure).args(["--engine", engine, "--dump-buffers"]);
        let result = run_json(&mut command, 0);
        assert_eq!(result["tests"][0]["verdict"], "pass", "{result:#}");
        let left = result["tests"][0]["buffers"]["image2"].as_str().unwrap();
        let left =
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, left).unwrap();
        let texels = left.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
        sums.push(texels.sum::<u32>());
    }
    // Each texel was cleared to 7, and each red is a multiple of 4.
    let expected: u32 = (0..32).map(|texel| 7 + 4 * texel).sum();
    assert_eq!(sums, [expected; 2]);
    assert_eq!(printed, format!("sum {expected}\n").into_bytes());
}
