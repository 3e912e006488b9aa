//! Campaigns in which tests misbehave: each costs its own verdict and nothing else. Without a
//! device these tests say so and do nothing, unless `VKCERT_REQUIRE_VULKAN=1` demands one.

use crate::support::vkcert;
use serde_json::json;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vkcert::exec::vulkan::{DeviceChoice, Settings, VulkanExecutor, WORKER_FAULT};
use vkcert::exec::{
    Completion, ExecError, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule,
    ModuleRecording, Run, RunRequest, Unobserved,
};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;

const WORKER: &str = env!("CARGO_BIN_EXE_vkcert");
const TESTS: usize = 200;

/// By index of a test: what befalls it.
const MISBEHAVIOUR: [(usize, Misbehaviour); 20] = [
    (3, Misbehaviour::Fault("abort")),
    (14, Misbehaviour::Fault("panic")),
    (15, Misbehaviour::Fault("garbage")),
    (27, Misbehaviour::Fault("flood")),
    (40, Misbehaviour::Fault("truncate")),
    (41, Misbehaviour::Fault("hang")),
    (42, Misbehaviour::Fault("hang-exit")),
    (55, Misbehaviour::Fault("allocate")),
    (68, Misbehaviour::Fault("waver")),
    (81, Misbehaviour::Endless),
    (94, Misbehaviour::Lengthy),
    (107, Misbehaviour::Fault("abort")),
    (108, Misbehaviour::Fault("abort")),
    (121, Misbehaviour::Fault("garbage")),
    (134, Misbehaviour::Fault("panic")),
    (147, Misbehaviour::Fault("flood")),
    (160, Misbehaviour::Fault("hang-exit")),
    (173, Misbehaviour::Fault("waver")),
    (198, Misbehaviour::Fault("truncate")),
    (199, Misbehaviour::Endless),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Misbehaviour {
    /// Of the worker.
    Fault(&'static str),
    /// The kernel has a loop without end.
    Endless,
    /// The dispatch takes longer than anyone waits, without a loop.
    Lengthy,
}

/// How the verdict that is due begins.
fn due(misbehaviour: Misbehaviour) -> &'static str {
    match misbehaviour {
        Misbehaviour::Fault("abort") => {
            "error: the device worker was lost while kernel `scale` was prepared: it died (signal: 6"
        }
        Misbehaviour::Fault("panic") => {
            "tool: the vulkan engine failed: the device worker: it failed: "
        }
        Misbehaviour::Fault("garbage") => {
            "error: the device worker was lost while kernel `scale` was prepared: it wrote bytes that are no frame"
        }
        Misbehaviour::Fault("flood") => {
            "error: the device worker was lost while kernel `scale` was prepared: it wrote a frame of"
        }
        Misbehaviour::Fault("truncate") => {
            "error: the device worker was lost while kernel `scale` was prepared: it died (exit status: 0)"
        }
        Misbehaviour::Fault("hang") => {
            "timeout: the driver did not answer while kernel `scale` was prepared"
        }
        Misbehaviour::Fault("hang-exit") => {
            "timeout: dispatch 0 of kernel `scale` did not end within 1 s"
        }
        Misbehaviour::Fault("allocate") => {
            "undetermined: the device worker took more memory than it may while kernel `scale` was prepared"
        }
        Misbehaviour::Fault("waver") => {
            "varying: the result varies: 2 of 3 repetitions agree; in repetition 2 buffer `out` differs, first at byte 0"
        }
        Misbehaviour::Endless => "timeout: dispatch 0 of kernel `endless` did not end",
        Misbehaviour::Lengthy => "timeout: dispatch 0 of kernel `lengthy` did not end within 1 s",
        Misbehaviour::Fault(other) => panic!("{other}"),
    }
}

fn is_demanded() -> bool {
    std::env::var("VKCERT_REQUIRE_VULKAN").as_deref() == Ok("1")
}

fn compile(source: &str) -> Arc<Vec<u32>> {
    let compiler = shaderc::Compiler::new().expect("compiler");
    let kind = shaderc::ShaderKind::Compute;
    let mut options = shaderc::CompileOptions::new().expect("options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_1 as u32);
    let binary = compiler
        .compile_into_spirv(source, kind, "test.comp", "main", Some(&options))
        .expect("compiles");
    Arc::new(binary.as_binary().to_vec())
}

/// The kernels of the campaign by name: `in` at binding 0, `out` at binding 1.
const KERNELS: [(&str, &str); 3] = [
    ("scale", "uint i = gl_GlobalInvocationID.x; b[i] = a[i] * 3 + i;"),
    ("endless", "while (a[0] == 0) { b[0] += 1; } b[1] = 1;"),
    ("lengthy", "b[1] += a[0]; b[1] *= 3; b[1] += a[0]; b[1] *= 5;"),
];

fn source(body: &str) -> String {
    format!(
        "#version 450
        layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) readonly buffer In {{ volatile uint a[]; }};
        layout(set = 0, binding = 1) buffer Out {{ volatile uint b[]; }};
        void main() {{ {body} }}"
    )
}

/// What befalls a test.
fn befalls(index: usize) -> Option<Misbehaviour> {
    MISBEHAVIOUR.iter().find(|(of, _)| *of == index).map(|(_, what)| *what)
}

/// Kernel and workgroups of a test, and the factor of its input.
fn dispatched(index: usize) -> (&'static str, [u32; 3], usize) {
    match befalls(index) {
        None | Some(Misbehaviour::Fault(_)) => ("scale", [1, 1, 1], index),
        Some(Misbehaviour::Endless) => ("endless", [1, 1, 1], 0),
        Some(Misbehaviour::Lengthy) => ("lengthy", [65535, 65535, 1], 0),
    }
}

/// The faults that workers are told, where `of` says what befalls a test.
fn faults(of: impl Fn(usize) -> Option<Misbehaviour>) -> String {
    let told = (0..TESTS).filter_map(|index| match of(index)? {
        Misbehaviour::Fault(kind) => Some(format!("{kind}@T{index}")),
        Misbehaviour::Endless | Misbehaviour::Lengthy => None,
    });
    told.collect::<Vec<_>>().join(",")
}

fn job(index: usize, kernels: &BTreeMap<&'static str, Arc<Vec<u32>>>) -> Job {
    let (kernel, groups, first) = dispatched(index);
    let first = first as u32;
    let bytes = |words: Vec<u32>| words.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let buffer = |name: &str, bytes: Vec<u8>| JobBuffer {
        name: name.to_owned(),
        defined: std::iter::once(0..bytes.len()).collect(),
        bytes: bytes.into(),
    };
    let bind = |binding: u32| JobBinding::storage(0, binding, binding as usize, 256);
    Job {
        name: format!("T{index}"),
        modules: vec![JobModule {
            key: kernel.into(),
            words: Arc::clone(&kernels[kernel]),
            recording: ModuleRecording::None,
        }],
        buffers: vec![
            buffer("in", bytes((0..64).map(|n| n * first).collect())),
            buffer("out", bytes(vec![0; 64])),
        ],
        resources: Default::default(),
        dispatches: vec![JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups,
            bindings: vec![bind(0), bind(1)],
            push_constants: Vec::new(),
            push_constants_defined: Vec::new(),
            specialization: BTreeMap::new(),
            subgroup_size: None,
        }],
        limits: Limits { seconds: 1.0, memory_bytes: 1 << 20, ..Limits::default() },
        checks: Checks::all(),
    }
}

/// What the `scale` kernel of a test leaves.
fn right(index: usize, run: &Run) -> bool {
    let word = |n: u32| n * index as u32 * 3 + n;
    let expected: Vec<u8> = (0..64).flat_map(|n| word(n).to_le_bytes()).collect();
    run.findings.is_empty() && run.buffers.get(1).is_some_and(|left| **left == expected)
}

/// The verdict in words, to be compared with what is due.
fn told(index: usize, result: Result<Run, ExecError>) -> String {
    let run = match result {
        Ok(run) => run,
        Err(error) => return format!("tool: {error}"),
    };
    match &run.completion {
        Completion::Completed if right(index, &run) => "right".to_owned(),
        Completion::Completed => "wrong".to_owned(),
        Completion::Timeout { reason } => format!("timeout: {reason}"),
        Completion::NoTermination { reason } => format!("no termination: {reason}"),
        Completion::Unsupported { what } => format!("unsupported: {what}"),
        Completion::Error { reason } | Completion::DeviceLost { reason } => {
            format!("error: {reason}")
        }
        Completion::Undetermined { reason } => format!("undetermined: {reason}"),
        Completion::Varying { reason } => format!("varying: {reason}"),
    }
}

#[test]
fn of_200_tests_20_misbehave_and_each_has_its_own_verdict() {
    let settings = Settings {
        environment: BTreeMap::from([(WORKER_FAULT.to_owned(), faults(befalls))]),
        preparation: Duration::from_secs(5),
        memory: 1 << 30,
        ..Settings::new(WORKER)
    };
    let mut engine = match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(engine) => engine,
        Err(ExecError::NoDevice { reason, .. }) if !is_demanded() => {
            eprintln!("NOT RUN: no Vulkan device ({reason})");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let kernels = KERNELS.map(|(name, body)| (name, compile(&source(body)))).into();
    let start = Instant::now();
    let mut wrong = Vec::new();
    for index in 0..TESTS {
        let job = job(index, &kernels);
        let repetitions = NonZeroU32::new(3).expect("not zero");
        let request = RunRequest { repetitions, ..RunRequest::once(&job) };
        let outcome = engine.answer(&request, &mut Unobserved);
        let started = outcome.as_ref().map_or(1, |outcome| outcome.started);
        let told = told(index, outcome.map(|outcome| outcome.run));
        let due = befalls(index).map_or("right", due);
        if !told.starts_with(due) || (due == "right" && started != 3) {
            wrong.push(format!("T{index}: {told}\n    where this is due: {due}"));
        }
    }
    let taken = start.elapsed();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(taken < Duration::from_secs(120), "{taken:?}");
    assert_eq!(engine.close().expect("closes"), []);
    eprintln!("{TESTS} tests, {} of which misbehave: {taken:?}", MISBEHAVIOUR.len());
}

/// The same campaign as a user runs it: from a file, with the workers of a pool.
fn campaign_file() -> serde_json::Value {
    let test = |index: usize| {
        let (kernel, groups, first) = dispatched(index);
        let data: Vec<usize> = (0..64).map(|n| n * first).collect();
        let values: Vec<usize> = (0..64).map(|n| n * first * 3 + n).collect();
        let bind =
            |binding: u32, buffer: &str| json!({"set": 0, "binding": binding, "buffer": buffer});
        json!({
            "id": format!("T{index}"), "limits": {"seconds": 1.0},
            "buffers": {"in": {"type": "uint", "data": data}, "out": {"type": "uint", "count": 64}},
            "dispatches": [{"kernel": kernel, "groups": groups, "bindings": [bind(0, "in"), bind(1, "out")]}],
            "expect": if kernel == "scale" { json!([{"buffer": "out", "type": "uint", "values": values}]) } else { json!([]) },
        })
    };
    let kernel =
        |(name, body): (&str, &str)| (name.to_owned(), json!({"source": {"text": source(body)}}));
    let kernels: serde_json::Map<_, _> = KERNELS.map(kernel).into_iter().collect();
    json!({"schema": 1, "kernels": kernels, "tests": (0..TESTS).map(test).collect::<Vec<_>>()})
}

/// What befalls a test of the campaign that a user runs: nobody waits a minute for a driver that
/// does not answer, nor for memory to run out.
fn misbehaviour(index: usize) -> Option<Misbehaviour> {
    match befalls(index) {
        Some(Misbehaviour::Fault("hang" | "allocate")) => Some(Misbehaviour::Fault("garbage")),
        other => other,
    }
}

/// The verdict that a user gets, and what its reason contains.
fn told_to_a_user(misbehaviour: Misbehaviour) -> (&'static str, String) {
    let (kind, reason) = due(misbehaviour).split_once(": ").expect("a kind and a reason");
    match kind {
        "tool" => ("undetermined", format!("the tool failed, not the kernel: {reason}")),
        // A repetition that fails is a failure, whatever the others came to.
        "varying" => ("fail", "where others pass: ".to_owned()),
        verdict => (verdict, reason.to_owned()),
    }
}

#[test]
fn a_user_gets_180_right_and_20_precise_verdicts_whatever_the_number_of_workers() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    std::fs::write(&file, campaign_file().to_string()).expect("written");
    let faults = faults(misbehaviour);
    let run = |jobs: &str| {
        let mut command = vkcert();
        command
            .arg("run")
            .arg(&file)
            .args(["--engine", "vulkan", "--format", "json", "--jobs", jobs]);
        command.env(WORKER_FAULT, &faults).output().expect("runs")
    };
    let start = Instant::now();
    let output = run("4");
    if output.status.code() == Some(4) && !is_demanded() {
        eprintln!("NOT RUN: no Vulkan device");
        return;
    }
    eprintln!("{TESTS} tests on a pool: {:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a result");
    let tests = result["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), TESTS);
    for (index, test) in tests.iter().enumerate() {
        let (verdict, reason) = misbehaviour(index).map_or(("pass", String::new()), told_to_a_user);
        assert_eq!(test["id"], format!("T{index}"));
        let told = test["reason"].as_str().unwrap_or_default();
        assert!(
            test["verdict"] == verdict && told.contains(&reason),
            "T{index}: {} {told}",
            test["verdict"]
        );
    }
    assert!(output.stdout == run("1").stdout, "one worker leaves the same");
}

/// Certifies the minimal project with a faulty worker; what is written must verify.
fn certify(fault: &str, options: &[&str]) -> Option<(Output, serde_json::Value)> {
    let out = tempfile::tempdir().expect("a folder");
    let mut command = vkcert();
    command
        .args(["certify", "tests/projects/minimal", "--quiet", "--format", "json", "--out"])
        .arg(out.path());
    let output = command.args(options).env(WORKER_FAULT, fault).output().expect("runs");
    if output.status.code() == Some(4) && !is_demanded() {
        eprintln!("NOT RUN: no Vulkan device");
        return None;
    }
    let evidence = serde_json::from_slice(&output.stdout);
    let evidence =
        evidence.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let verified = vkcert().arg("verify").arg(out.path().join("evidence")).output().expect("runs");
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    Some((output, evidence))
}

fn result(evidence: &serde_json::Value) -> (&str, &str, u64) {
    let result = &evidence["tests"][0]["results"][0];
    let text = |key: &str| result[key].as_str().unwrap_or_default();
    (text("verdict"), text("reason"), result["repetitions"].as_u64().expect("a number"))
}

/// Obligations that are covered, over all kernels and criteria.
fn covered(evidence: &serde_json::Value) -> u64 {
    let rows = evidence["conclusion"]["summary"].as_array().into_iter().flatten();
    let criteria = rows.flat_map(|row| row["criteria"].as_array().into_iter().flatten());
    criteria.map(|row| row["covered"].as_u64().expect("a number")).sum()
}

#[test]
fn a_result_that_varies_is_no_pass_and_covers_nothing() {
    let vulkan = ["--engine", "vulkan"];
    let Some((output, evidence)) = certify("", &vulkan) else { return };
    assert_eq!(result(&evidence), ("pass", "", 3), "three times by default");
    assert_eq!(output.status.code(), Some(1), "a device alone looks for no races");
    let reasons = evidence["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("engine-left-out sequential"), "{reasons}");
    assert!(covered(&evidence) > 0);
    for (fault, options, due_verdict, due, times) in [
        ("waver", &[][..], "fail", "in repetition 2, where others pass: ", 3),
        ("waver", &["--repeat", "5"], "fail", "in repetition 2, where others pass: ", 5),
        (
            "waver-records",
            &[],
            "undetermined",
            "measured module: the result varies: 2 of 3 repetitions agree; in repetition 2 the records of kernel `",
            3,
        ),
    ] {
        let (output, evidence) =
            certify(fault, &[&vulkan, options].concat()).expect("a device is there");
        let (verdict, reason, repetitions) = result(&evidence);
        assert_eq!((verdict, repetitions), (due_verdict, times), "{fault}: {reason}");
        assert!(reason.starts_with(due), "{fault}: {reason}");
        assert_eq!((output.status.code(), covered(&evidence)), (Some(1), 0), "{fault}");
        let (_, again) = certify(fault, &[&vulkan, options].concat()).expect("a device is there");
        assert_eq!(evidence, again, "the evidence is the same in both runs");
    }
    let (_, evidence) =
        certify("waver", &["--engine", "vulkan", "--repeat", "1"]).expect("a device is there");
    assert_eq!(result(&evidence), ("pass", "", 1), "one run shows no variation");
}

#[test]
fn a_failure_of_the_tool_in_one_test_is_undetermined_and_ends_no_campaign() {
    let Some((output, evidence)) = certify("panic", &["--engine", "vulkan"]) else { return };
    let (verdict, reason, _) = result(&evidence);
    assert_eq!((verdict, output.status.code()), ("undetermined", Some(1)));
    assert!(
        reason.starts_with("the tool failed, not the kernel: the vulkan engine failed"),
        "{reason}"
    );
    assert!(evidence["conclusion"]["reasons"].to_string().contains("the tool failed"));
}

#[test]
fn the_sequential_engine_runs_once_unless_told_otherwise() {
    for (options, times) in [(&[][..], 1), (&["--repeat", "2"], 2)] {
        let (_, evidence) =
            certify("", &[&["--engine", "sequential"], options].concat()).expect("needs no device");
        assert_eq!(result(&evidence), ("pass", "", times));
    }
}

#[test]
fn a_number_of_repetitions_is_checked() {
    for wrong in ["0", "1001", "x"] {
        let output = vkcert().args(["certify", "--repeat", wrong]).output().expect("runs");
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("from 1 to 1000"), "{output:?}");
    }
}

#[test]
fn a_project_says_how_often_its_tests_run_and_the_command_line_goes_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let copied =
        Command::new("cp").args(["-r", "tests/projects/minimal/."]).arg(folder.path()).status();
    assert!(copied.expect("copies").success());
    let file = folder.path().join("vkcert.toml");
    let settings = std::fs::read_to_string(&file).expect("text");
    let certify = |repeat: &str, options: &[&str]| {
        std::fs::write(&file, format!("repeat = {repeat}\n{settings}")).expect("written");
        let mut command = vkcert();
        command
            .args(["certify", "--engine", "sequential", "--quiet", "--format", "json"])
            .args(options);
        command.arg(folder.path()).output().expect("runs")
    };
    for (repeat, options, times) in [("2", &[][..], 2), ("2", &["--repeat", "4"], 4)] {
        let evidence: serde_json::Value =
            serde_json::from_slice(&certify(repeat, options).stdout).expect("the campaign");
        assert_eq!(result(&evidence), ("pass", "", times));
    }
    for wrong in ["0", "1001"] {
        let output = certify(wrong, &[]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {output:?}");
    }
}
