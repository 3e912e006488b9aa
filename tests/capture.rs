//! Host programs that are captured: a C program that is right, and the same with one fault.
//!
//! Needs a C compiler, the headers of Vulkan and a device. Without them the tests say that they did
//! not run; with `VKCERT_REQUIRE_VULKAN` set that is a failure.

use crate::support;
use crate::support::captured_host::{built_kernel, built_program, completed, unless_missing};

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{root, run, run_json, vkcert, without_driver, write};
use vkcert_capture::program::Program;

/// The C program and its kernel.
pub(crate) struct Host {
    _folder: tempfile::TempDir,
    pub(crate) program: PathBuf,
    pub(crate) kernel: PathBuf,
}

fn built_host() -> Result<Host, String> {
    let folder = tempfile::tempdir().unwrap();
    let program = built_program(folder.path(), "host", &["-D_POSIX_C_SOURCE=199309L"])?;
    let kernel = built_kernel(folder.path(), "scale");
    completed(Command::new(&program).arg(&kernel))?;
    Ok(Host { _folder: folder, program, kernel })
}

/// The program; none where it cannot be built or run and nobody demands it, which is told.
pub(crate) fn host() -> Option<&'static Host> {
    static HOST: OnceLock<Result<Host, String>> = OnceLock::new();
    unless_missing(HOST.get_or_init(built_host))
}

/// The command that captures the program with a fault.
fn capture_command(host: &Host, file: &Path, arguments: &[&str]) -> Command {
    let mut command = vkcert();
    command.args(["capture", "--contents", "--output"]).arg(file).arg("--");
    command.arg(&host.program).arg(&host.kernel).args(arguments);
    command
}

/// Captures with the result in JSON; the program's arguments come last.
fn capture_json(file: &Path, program: &[&str], host: &Host, exit: i32) -> Value {
    let mut command = vkcert();
    command.args(["--format", "json", "capture", "--output"]).arg(file).arg("--").args(program);
    let output = run(command.arg(&host.program).arg(&host.kernel), exit);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check(file: &Path, exit: i32) -> Value {
    run_json(vkcert().args(["capture", "--check"]).arg(file), exit)
}

/// Rows that do not hold.
fn open_rows(checked: &Value) -> Vec<&Value> {
    let rows = checked["checks"].as_array().unwrap();
    rows.iter().filter(|row| row["status"] != "holds").collect()
}

#[test]
fn a_program_that_is_right_runs_as_before_and_is_recorded_whole() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("right.capture");
    let alone = Command::new(&host.program).arg(&host.kernel).output().unwrap();
    let captured = run(&mut capture_command(host, &file, &["none"]), 0);
    assert_eq!(captured.stdout, alone.stdout, "the program's output is its own");
    let summary = String::from_utf8(captured.stderr).unwrap();
    assert!(summary.contains("1 submission, 2 dispatches, 2 barriers"), "{summary}");
    let names = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 1, "nothing lies beside the capture");

    let program = Program::read(&file).unwrap();
    assert_eq!(*program.modules[0], std::fs::read(&host.kernel).unwrap());
    let (_, dispatch) = program.dispatches().next().unwrap();
    let pushed: Vec<u8> = dispatch.push_constants.iter().map(|byte| byte.unwrap()).collect();
    assert_eq!(pushed, [&1000u32.to_le_bytes()[..], &2.0f32.to_le_bytes()].concat());
    assert_eq!(program.pipelines[0].specialization[0].value.0, 64u32.to_le_bytes());

    let checked = check(&file, 0);
    assert_eq!(open_rows(&checked), Vec::<&Value>::new());
    assert_eq!(checked["remarks"].as_array().unwrap().len(), 0);
}

#[test]
fn a_missing_barrier_and_a_missing_host_barrier_are_refuted() {
    let Some(host) = host() else { return };
    for (fault, name, says) in [
        ("missing-barrier", "device-dependency", "no dependency orders the two"),
        ("missing-host-barrier", "host-read", "dstStageMask HOST and dstAccessMask HOST_READ"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("fault.capture");
        run(&mut capture_command(host, &file, &[fault]), 0);
        let checked = check(&file, 1);
        let open = open_rows(&checked);
        assert_eq!(open.len(), 1, "{open:#?}");
        assert_eq!((&open[0]["check"], &open[0]["status"]), (&name.into(), &"refuted".into()));
        assert!(open[0]["message"].as_str().unwrap().contains(says), "{open:#?}");
        assert_eq!(open[0]["operations"].as_array().unwrap().len(), 2);
    }
}

/// A project that states what the program pushes.
fn stated_project(folder: &Path) -> PathBuf {
    let project = folder.join("project");
    let kernel = std::fs::read(root().join("tests/capture/scale.comp")).unwrap();
    write(&project, "glsl/scale.comp", kernel);
    write(
        &project,
        "vkcert.toml",
        "schema = 1\nname = \"scale\"\nlevel = \"D\"\n\n[[kernel]]\nname = \"scale\"\n\
         source = \"glsl/scale.comp\"\n",
    );
    write(
        &project,
        "requirements/host.toml",
        "schema = 1\n\n[[interface]]\nkernel = \"scale\"\ngroups = [\"(count + 63) / 64\", \
         \"1\", \"1\"]\nparameters = [{ name = \"count\", type = \"uint32\", min = 1, max = 4096 \
         }]\npush_constants = { members = [{ name = \"count\", type = \"uint32\" }, { name = \
         \"factor\", type = \"float32\" }] }\n",
    );
    project
}

#[test]
fn a_struct_that_lies_otherwise_than_stated_is_found() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let project = stated_project(folder.path());
    // The project's kernels are compiled as `vkcert build` does.
    run(vkcert().arg("build").arg(&project), 0);
    let kernel = project.join("spirv/scale.spv");
    for (fault, exit) in [("none", 0), ("swapped-struct", 1)] {
        let file = folder.path().join("stated.capture");
        let mut command = vkcert();
        command.args(["capture", "--output"]).arg(&file).arg("--").arg(&host.program);
        run(command.arg(&kernel).arg(fault), 0);
        let mut command = vkcert();
        command.args(["capture", "--check"]).arg(&file).arg("--project").arg(&project);
        let checked = run_json(&mut command, exit);
        let open = open_rows(&checked);
        assert_eq!(open.len(), usize::try_from(exit).unwrap(), "{open:#?}");
        for row in open {
            assert_eq!(row["check"], "push-constant-values");
            let message = row["message"].as_str().unwrap();
            assert!(
                message.contains("reads count = 1073741824, and its interface states 1 to 4096")
            );
        }
    }
}

#[test]
fn a_captured_dispatch_is_a_test_procedure_that_runs() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("right.capture");
    run(&mut capture_command(host, &file, &["none"]), 0);
    let mut command = vkcert();
    command.args(["capture", "--procedure"]).arg(&file).args(["--dispatch", "1"]);
    let procedure = write(folder.path(), "procedure.json", run(&mut command, 0).stdout);
    let mut command = vkcert();
    command.arg("run").arg(&procedure).args(["--engine", "sequential", "--dump-buffers"]);
    let result = run_json(&mut command, 0);
    assert_eq!(result["tests"][0]["verdict"], "pass");
    let left = result["tests"][0]["buffers"]["buffer1"].as_str().unwrap();
    let left = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, left).unwrap();
    // The first dispatch doubles 0, 1, 2 ...
    let expected: Vec<u8> = (0..1000u16).flat_map(|i| (f32::from(i) * 2.0).to_le_bytes()).collect();
    assert_eq!(left, expected);
}

#[test]
fn what_was_not_captured_is_not_called_captured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.capture");
    let mut command = vkcert();
    command.args(["capture", "--output"]).arg(&file).args(["--", "true"]);
    let output = run(&mut command, 4);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("nothing was captured"), "{message}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    run(vkcert().args(["capture", "--", "/nonexistent/program"]), 2);
    run(vkcert().args(["capture", "--output", "/nonexistent/file", "--", "true"]), 3);
    run(vkcert().args(["capture", "--check", "/nonexistent/file"]), 2);
}

#[test]
fn a_program_that_fails_is_told_of() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("failed.capture");
    let script = "\"$0\" /nonexistent/kernel.spv";
    let result = capture_json(&file, &["sh", "-c", script], host, 1);
    assert_eq!(result["program"]["exit"], 66);
    assert_eq!(result["captures"][0]["capture"]["dispatches"], 0);
    let output = run(&mut capture_command(host, &file, &["none", "0"]), 0);
    let summary = String::from_utf8(output.stderr).unwrap();
    assert!(summary.contains("1 submission, 0 dispatches"), "{summary}");
    // Without a driver no instance is made, and the layer has nothing to record.
    let mut command = capture_command(host, &file, &[]);
    run(without_driver(&mut command), 4);
}

#[test]
fn a_layer_that_cannot_write_leaves_the_program_alone() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    // The captured program removes the folder that its capture goes to, before it starts Vulkan.
    let script = "rm -rf \"$VKCERT_CAPTURE_FOLDER\"/*.nothing; \
                  VKCERT_CAPTURE_FOLDER=/nonexistent exec \"$0\" \"$@\"";
    let mut command = vkcert();
    command.args(["capture", "--output"]).arg(folder.path().join("none.capture"));
    command.args(["--", "sh", "-c", script]).arg(&host.program).arg(&host.kernel);
    let output = run(&mut command, 4);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "sum 499500.0\n");
}

#[test]
fn a_limit_of_file_sizes_ends_the_capture_and_not_the_program() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("limited.capture");
    // 4 blocks of 512 bytes, less than one kernel and its commands.
    let result = capture_json(&file, &["sh", "-c", "ulimit -f 4; exec \"$0\" \"$@\""], host, 1);
    assert_eq!(result["program"]["exit"], 0);
    let capture = &result["captures"][0]["capture"];
    assert!(capture["incomplete"].is_string(), "{capture}");
    assert!(std::fs::metadata(&file).unwrap().len() <= 2048);
}

#[test]
fn a_program_that_is_killed_leaves_what_it_submitted() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("killed.capture");
    let mut command = vkcert();
    command.args(["--format", "json", "capture", "--output"]).arg(&file).arg("--");
    command.arg(&host.program).arg(&host.kernel).arg("killed");
    let output = run(&mut command, 1);
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(result["program"]["signal"], 9);
    let capture = &result["captures"][0]["capture"];
    assert_eq!(capture["dispatches"], 2);
    assert!(capture["incomplete"].as_str().unwrap().contains("before the capture was closed"));
    // Nothing is said to hold of the whole.
    let checked = check(&file, 1);
    let open = open_rows(&checked);
    assert_eq!(open.len(), 1, "{open:#?}");
    assert_eq!(open[0]["check"], "capture-complete");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 1]).unwrap();
    run(vkcert().args(["capture", "--check"]).arg(&file), 2);
}

#[test]
fn ten_thousand_dispatches_are_recorded_and_checked() {
    let Some(host) = host() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("many.capture");
    let mut command = vkcert();
    command.args(["capture", "--output"]).arg(&file).arg("--");
    command.arg(&host.program).arg(&host.kernel).args(["none", "10000"]);
    run(&mut command, 0);
    let checked = check(&file, 0);
    assert_eq!(checked["capture"]["dispatches"], 10_000);
    assert_eq!(checked["capture"]["barriers"], 10_000);
}

/// Ticks of processor time that all children of this process took that it waited for.
fn ticks_of_children() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind_name = stat.rsplit_once(')').unwrap().1;
    // The fields 16 and 17 of proc(5), of which the first one behind the name is the third.
    let fields: Vec<&str> = behind_name.split_whitespace().collect();
    fields[13].parse::<u64>().unwrap() + fields[14].parse::<u64>().unwrap()
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// What runs of a program took: each one by the clock, all of them in ticks of processor time.
#[derive(Default)]
struct Cost {
    seconds: Vec<f64>,
    ticks: u64,
}

impl Cost {
    fn measure(&mut self, command: &mut Command) {
        let (ticks, start) = (ticks_of_children(), std::time::Instant::now());
        run(command.env("LP_NUM_THREADS", "1"), 0);
        self.seconds.push(start.elapsed().as_secs_f64());
        self.ticks += ticks_of_children() - ticks;
    }

    fn median(&self) -> f64 {
        median(self.seconds.clone())
    }

    /// The median of the ratios of runs that came one after the other.
    fn ratio_to(&self, other: &Cost) -> f64 {
        let pairs = self.seconds.iter().zip(&other.seconds);
        median(pairs.map(|(own, other)| own / other).collect())
    }
}

/// A command with the layer, as `vkcert capture` sets it up; the manifest is written to the folder.
fn layered(command: &mut Command, folder: &Path) {
    let own = PathBuf::from(vkcert().get_program());
    let layer = own.parent().unwrap().join("deps/libvkcert_capture_layer.so");
    let manifest = serde_json::json!({
        "file_format_version": "1.2.0",
        "layer": {
            "name": "VK_LAYER_VKCERT_capture",
            "type": "GLOBAL",
            "library_path": layer,
            "api_version": "1.3.281",
            "implementation_version": "1",
            "description": "",
        }
    });
    write(folder, "layer.json", manifest.to_string());
    command.env("VK_ADD_LAYER_PATH", folder).env("VK_INSTANCE_LAYERS", "VK_LAYER_VKCERT_capture");
    command.env("VKCERT_CAPTURE_FOLDER", folder);
}

/// `cargo test --release --test integration capture::the_cost -- --ignored --nocapture`: prints how
/// much longer a program runs with the layer, and under `vkcert capture`, whose start and summary are
/// then included: medians of the ratios of runs one after the other.
#[test]
#[ignore = "a measurement"]
fn the_cost_of_capturing() {
    let Some(host) = host() else { return };
    for dispatches in ["2", "400", "10000"] {
        let [mut alone, mut layered_runs, mut captured] = [(); 3].map(|()| Cost::default());
        for _ in 0..31 {
            let folder = tempfile::tempdir().unwrap();
            let mut command = Command::new(&host.program);
            alone.measure(command.arg(&host.kernel).args(["none", dispatches]));
            let mut command = Command::new(&host.program);
            layered(command.arg(&host.kernel).args(["none", dispatches]), folder.path());
            layered_runs.measure(&mut command);
            let mut command = vkcert();
            command.args(["capture", "--output"]).arg(folder.path().join("cost.capture"));
            command.arg("--").arg(&host.program).arg(&host.kernel).args(["none", dispatches]);
            captured.measure(&mut command);
        }
        println!("{dispatches} dispatches: {:.1} ms alone", alone.median() * 1e3);
        for (name, runs) in [("layer", &layered_runs), ("vkcert capture", &captured)] {
            println!(
                "  {name}: ratio {:.3}; processor time ratio {:.3}",
                runs.ratio_to(&alone),
                runs.ticks as f64 / alone.ticks as f64
            );
        }
    }
}
