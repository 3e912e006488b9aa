//! A program is run with the capture layer.
//!
//! Knows: where the layer lies, and how the loader is told of it (its documents "LoaderLayerInterface"
//! and "LoaderInterfaceArchitecture"): a manifest in a folder that an environment variable names, and
//! the layer's name in another.

use super::shown;
use crate::cli::args::{Capture, Common, OutputForm};
use crate::cli::failure::Failure;
use crate::cli::output;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::path::{display_path, folder_of};
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use vkcert_capture::file::{Completeness, cut_torn_frame};
use vkcert_capture::program::Program;

const LAYER_NAME: &str = "VK_LAYER_VKCERT_capture";
const LAYER_FILE: &str = "libvkcert_capture_layer.so";

/// Runs the program and keeps what was recorded.
pub(super) fn record_program(common: &Common, arguments: &Capture) -> Result<Exit, Failure> {
    let layer = layer_file()?;
    let program = Path::new(&arguments.program[0]);
    let target = arguments.output.clone().unwrap_or_else(|| {
        let mut name = program.file_name().unwrap_or(OsStr::new("program")).to_owned();
        name.push(".capture");
        PathBuf::from(name)
    });
    let parent = folder_of(&target);
    let folder = tempfile::Builder::new().prefix(".vkcert-capture-").tempdir_in(parent);
    let folder = folder.map_err(|error| Failure::unwritable(parent, &error))?;
    write_manifest(folder.path(), &layer)?;
    let mut command = layered_command(common, arguments, folder.path())?;
    let child = command.spawn().map_err(|error| {
        let message = format!("cannot run `{}`: {error}", program.display());
        Diagnostic::new("usage", message)
    })?;
    let process = child.id();
    let (status, interrupted) = wait_for(child)?;
    let captures = keep_captures(folder.path(), &target, process)?;
    if captures.is_empty() {
        return Err(nothing_captured(program, status));
    }
    let exit = tell_captures(common, &captures, status)?;
    Ok(interrupted.unwrap_or(exit))
}

fn nothing_captured(program: &Path, status: ExitStatus) -> Failure {
    let message = format!(
        "nothing was captured: no Vulkan loader loaded the layer in `{}` ({})",
        program.display(),
        status_in_words(status)
    );
    let hint = "the program may not use Vulkan, may be privileged (loaders then ignore their \
                environment), or its loader may be older than 1.3.207";
    Failure::Unavailable { message, hint: Some(hint.to_owned()) }
}

/// Tells what was recorded. Exit 1 where the program failed or a capture is incomplete.
fn tell_captures(
    common: &Common,
    captures: &[PathBuf],
    status: ExitStatus,
) -> Result<Exit, Failure> {
    let mut exit = if status.success() { Exit::Success } else { Exit::Failed };
    let mut documents = Vec::new();
    let mut text = String::new();
    for capture in captures {
        let read = Program::read(capture)?;
        if let Completeness::Incomplete(_) = read.completeness {
            exit = exit.and(Exit::Failed);
        }
        let shown_path = display_path(capture);
        text.push_str(&format!("captured {} in {shown_path}\n", read.start.program));
        text.push_str(&shown::summary_in_words(&read));
        documents.push(json!({ "file": shown_path, "capture": shown::summary(&read) }));
        // A million parts are not given back one by one at the end of the process.
        std::mem::forget(read);
    }
    if !status.success() {
        text.push_str(&format!("the program ended with {}\n", status_in_words(status)));
    }
    match common.form() {
        OutputForm::Json => output::print_json(&json!({
            "schema": 1,
            "program": status_document(status),
            "captures": documents,
        }))?,
        OutputForm::Text => output::print_to_stderr(&text),
    }
    Ok(exit)
}

/// The layer, beside this program or where packages put it.
fn layer_file() -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::tool(format!("cannot find this program itself: {error}")))?;
    let own = own.canonicalize().unwrap_or(own);
    let folder = own.parent().unwrap_or(Path::new("."));
    // Where cargo builds, what stands in `deps` is never older.
    let places = ["deps", "", "../lib/vkcert", "../lib"].map(|place| folder.join(place));
    let found = places.iter().map(|place| place.join(LAYER_FILE)).find(|file| file.is_file());
    found.and_then(|file| file.canonicalize().ok()).ok_or_else(|| {
        let looked: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
        Failure::Unavailable {
            message: format!("the capture layer {LAYER_FILE} is not in {}", looked.join(", ")),
            hint: Some("`make build` builds it beside the program".to_owned()),
        }
    })
}

fn write_manifest(folder: &Path, layer: &Path) -> Result<(), Failure> {
    let manifest = json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": LAYER_NAME,
            "type": "GLOBAL",
            "library_path": layer,
            "api_version": "1.3.281",
            "implementation_version": "1",
            "description": "Records what a host program does with Vulkan",
        }
    });
    let file = folder.join("vkcert_capture.json");
    fs::write(&file, format!("{manifest:#}\n")).map_err(|error| Failure::unwritable(&file, &error))
}

/// The program with what makes its loader load the layer.
fn layered_command(
    common: &Common,
    arguments: &Capture,
    folder: &Path,
) -> Result<Command, Failure> {
    let folder = folder.canonicalize().map_err(|error| Failure::unwritable(folder, &error))?;
    let mut command = Command::new(&arguments.program[0]);
    command.args(&arguments.program[1..]);
    // VK_LAYER_PATH takes the place of all other folders, and VK_ADD_LAYER_PATH with them.
    let path_variable = match std::env::var_os("VK_LAYER_PATH") {
        Some(path) if !path.is_empty() => "VK_LAYER_PATH",
        _ => "VK_ADD_LAYER_PATH",
    };
    command.env(path_variable, in_front(folder.as_os_str(), path_variable));
    command.env("VK_INSTANCE_LAYERS", in_front(OsStr::new(LAYER_NAME), "VK_INSTANCE_LAYERS"));
    command.env("VKCERT_CAPTURE_FOLDER", &folder);
    command.env_remove("VKCERT_CAPTURE_CONTENTS");
    if arguments.contents {
        command.env("VKCERT_CAPTURE_CONTENTS", "1");
    }
    if common.form() == OutputForm::Json {
        let stderr = std::io::stderr().as_fd().try_clone_to_owned();
        let stderr = stderr.map_err(|error| Failure::tool(format!("no stderr: {error}")))?;
        command.stdout(Stdio::from(stderr));
    }
    Ok(command)
}

/// A list of an environment variable with one more entry in front.
fn in_front(first: &OsStr, variable: &str) -> OsString {
    let mut list = first.to_owned();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}

/// Waits until the program ends. An interruption from the terminal reaches it by itself; a request
/// to end is passed on.
fn wait_for(mut child: Child) -> Result<(ExitStatus, Option<Exit>), Failure> {
    let unwatched = |error| Failure::tool(format!("cannot watch signals: {error}"));
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map_err(unwatched)?;
    let watching = signals.handle();
    let seen = Arc::new(AtomicI32::new(0));
    let noted = Arc::clone(&seen);
    let process = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let watcher = std::thread::spawn(move || {
        for signal in signals.forever() {
            noted.store(signal, Ordering::Relaxed);
            if let (SIGTERM, Some(process)) = (signal, process) {
                // The program may have ended already.
                let _ = rustix::process::kill_process(process, rustix::process::Signal::TERM);
            }
        }
    });
    let status = child.wait();
    watching.close();
    // It ends when it is closed.
    let _ = watcher.join();
    let status =
        status.map_err(|error| Failure::tool(format!("cannot wait for the program: {error}")))?;
    let interrupted = match seen.load(Ordering::Relaxed) {
        SIGINT => Some(Exit::Interrupted),
        SIGTERM => Some(Exit::Terminated),
        _ => None,
    };
    Ok((status, interrupted))
}

/// Puts captures in their place: the first of the program itself, or the only one, under the name
/// that was asked for; others beside it, named by their process and, where a process was replaced
/// by another program, by the number of the program in it.
fn keep_captures(folder: &Path, target: &Path, process: u32) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |error: std::io::Error| Failure::unwritable(folder, &error);
    let mut recorded: Vec<(bool, (u32, u32), PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension() != Some(OsStr::new("capture")) {
            continue;
        }
        // What a program that was killed left unfinished at the end is no record.
        cut_torn_frame(&file).map_err(|error| Failure::unwritable(&file, &error))?;
        let number = process_of(&file);
        recorded.push((number.0 != process, number, file));
    }
    recorded.sort();
    let mut kept = Vec::new();
    for (index, (_, (process, program), file)) in recorded.into_iter().enumerate() {
        let mut place = target.to_owned().into_os_string();
        if index > 0 {
            place.push(format!(".{process}"));
        }
        if index > 0 && program > 0 {
            place.push(format!(".{program}"));
        }
        let place = PathBuf::from(place);
        fs::rename(&file, &place).map_err(|error| Failure::unwritable(&place, &error))?;
        kept.push(place);
    }
    Ok(kept)
}

/// The process of a capture and the number of the program in it, from its name: `12.capture`,
/// `12.1.capture`.
fn process_of(file: &Path) -> (u32, u32) {
    let stem = file.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let (process, program) = stem.split_once('.').unwrap_or((stem, "0"));
    (process.parse().unwrap_or(0), program.parse().unwrap_or(0))
}

fn status_in_words(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

fn status_document(status: ExitStatus) -> Value {
    json!({ "exit": status.code(), "signal": status.signal() })
}
