//! Captures that a project states: what the host program did is held against interface, header and
//! module by `couple` and `certify`, and verified again.
//!
//! Needs what `capture` needs; without it the tests say that they did not run.

use crate::capture::{Host, host};
use crate::support::{certify_sequentially, forge, root, run, run_json, vkcert, write};
use serde_json::Value;
use std::path::{Path, PathBuf};
use vkcert_capture::event::Event;
use vkcert_capture::file::{CaptureReader, append_frame, head};

const CAPTURE: &str = "host/scale.capture";

/// The struct as the host declares it.
const PARAMETERS: &str =
    "#include <stdint.h>\nstruct Parameters {\n    uint32_t count;\n    float factor;\n};\n";
/// The same the other way round.
const SWAPPED: &str =
    "#include <stdint.h>\nstruct Parameters {\n    float factor;\n    uint32_t count;\n};\n";

/// Numbers that a host pushes as it likes: no range says more than their type.
const ANY_COUNT: &str = "min = 0, max = 4294967295";

/// A project that states its host, as files.
struct StatedHost {
    header: &'static str,
    range: &'static str,
    capture: String,
}

impl Default for StatedHost {
    fn default() -> Self {
        let capture = format!("[[interface.capture]]\nfile = \"{CAPTURE}\"\n");
        Self { header: PARAMETERS, range: "min = 1, max = 4096", capture }
    }
}

impl StatedHost {
    fn write_to(&self, project: &Path) {
        let kernel = std::fs::read(root().join("tests/capture/scale.comp")).unwrap();
        write(project, "glsl/scale.comp", kernel);
        let settings = "schema = 1\nname = \"scale\"\nlevel = \"D\"\n\n[[kernel]]\nname = \
                        \"scale\"\nsource = \"glsl/scale.comp\"\n";
        write(project, "vkcert.toml", settings);
        write(project, "host/parameters.h", self.header);
        let (range, capture) = (self.range, &self.capture);
        let interface = format!(
            "schema = 1

[[interface]]
kernel = \"scale\"
source = \"host/scale.c:86\"
parameters = [{{ name = \"count\", type = \"uint32\", {range} }}]
groups = [\"(count + 63) / 64\", \"1\", \"1\"]
local_size = [64, 1, 1]
domain = [\"count\", \"1\", \"1\"]
buffers = [{{ set = 0, binding = 0, name = \"values\", size = \"count * 4\", element = \"float32\" }}]
specialization = [{{ id = 0, value = \"64\" }}]

[[interface.header]]
file = \"host/parameters.h\"
struct = \"Parameters\"
describes = \"push_constants\"
target = \"x86_64-unknown-linux-gnu\"
standard = \"c11\"

{capture}
[[requirement]]
uid = \"HLR-1\"
level = \"HLR\"
title = \"Scaling\"
statement = \"Each value shall be multiplied by the factor.\"
verification = [\"test\"]

[[test]]
id = \"TC-1\"
title = \"Three of four\"
requirements = [\"HLR-1\"]

[test.buffers]
values = {{ type = \"float\", data = [1.0, 2.0, 4.0, 8.0] }}

[[test.dispatches]]
kernel = \"scale\"
groups = [1, 1, 1]
bindings = [{{ set = 0, binding = 0, buffer = \"values\", class = \"storage\" }}]
push_constants = {{ count = 3, factor = 2.0 }}
specialization = {{ 0 = {{ type = \"uint\", value = 64 }} }}

[[test.expect]]
buffer = \"values\"
values = [2.0, 4.0, 8.0, 8.0]
"
        );
        write(project, "requirements/host.toml", interface);
    }
}

/// A project whose capture is that of the program with a fault.
fn project(host: &Host, stated: &StatedHost, fault: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    stated.write_to(folder.path());
    run(vkcert().arg("build").arg(folder.path()), 0);
    let mut command = vkcert();
    command.args(["capture", "--output"]).arg(folder.path().join(CAPTURE)).arg("--");
    run(command.arg(&host.program).arg(folder.path().join("spirv/scale.spv")).arg(fault), 0);
    folder
}

fn couple(project: &Path, exit: i32) -> Value {
    let mut command = vkcert();
    command.arg("couple").arg(project).args(["--engine", "sequential"]);
    run_json(&mut command, exit)
}

/// Check and message of the rows of a status.
fn rows_of(coupled: &Value, status: &str) -> Vec<(String, String)> {
    let rows = coupled["kernels"][0]["checks"].as_array().unwrap();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.iter()
        .filter(|row| row["status"] == status)
        .map(|row| (text(row, "check"), text(row, "message")))
        .collect()
}

/// The messages of the rows that do not hold, which are all of one check.
fn only_refuted(coupled: &Value, check: &str) -> Vec<String> {
    assert_eq!(rows_of(coupled, "undetermined"), []);
    let refuted = rows_of(coupled, "refuted");
    assert!(!refuted.is_empty() && refuted.iter().all(|row| row.0 == check), "{refuted:#?}");
    refuted.into_iter().map(|row| row.1).collect()
}

#[test]
fn a_program_that_does_what_is_stated_holds() {
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "none");
    let coupled = couple(project.path(), 0);
    let holding = rows_of(&coupled, "holds");
    let told = |check: &str, words: &str| {
        let is_told = |row: &&(String, String)| row.0 == check && row.1.contains(words);
        assert!(holding.iter().any(|row| is_told(&row)), "{check}: {words}: {holding:#?}");
    };
    told("capture-complete", "`host/scale.capture`: all ");
    told("device-dependency", "all 2 pairs of conflicting accesses");
    told("host-read", "what 1 read of the host needs is available");
    told("push-constant-values", "what 2 dispatches push in count is what the interface states");
    told("host-facts", "buffer 0.0, local size, specialization constant 0, workgroups in x");
    let reading = &coupled["kernels"][0]["captures"][0];
    assert_eq!(reading["modules"]["production"], serde_json::json!([1]));
    assert_eq!(reading["dispatch_count"], 2);
    let dispatches = reading["dispatches"].as_array().unwrap();
    assert_eq!(dispatches.len(), 2, "they differ in their factors");
    let given = &dispatches[0]["given"];
    assert_eq!(given["groups"], serde_json::json!([16, 1, 1]));
    assert_eq!(given["push_constants"], "e803000000000040");
    assert_eq!(given["buffers"][0]["bytes"], 4000);
}

#[test]
fn a_missing_barrier_and_a_missing_host_barrier_are_found() {
    let Some(host) = host() else { return };
    for (fault, check, words) in [
        ("missing-barrier", "device-dependency", "no dependency orders the two"),
        ("missing-host-barrier", "host-read", "dstStageMask HOST and dstAccessMask HOST_READ"),
    ] {
        let project = project(host, &StatedHost::default(), fault);
        let coupled = couple(project.path(), 1);
        let messages = only_refuted(&coupled, check);
        assert_eq!(messages.len(), 1, "{messages:#?}");
        assert!(messages[0].starts_with("`host/scale.capture`: "), "{messages:#?}");
        assert!(messages[0].contains(words), "{messages:#?}");
        let finding = &coupled["findings"][0];
        assert_eq!(finding["place"]["file"], CAPTURE, "{finding}");
        assert_eq!(finding["other_place"]["file"], "requirements/host.toml", "{finding}");
    }
}

/// Rewrites a capture.
fn rewrite(file: &Path, change: impl Fn(&mut Event)) {
    let mut reader = CaptureReader::open(file).unwrap();
    let mut bytes = head().to_vec();
    while let Some((_, mut record)) = reader.next_record().unwrap() {
        change(&mut record.event);
        append_frame(&record, &mut bytes).unwrap();
    }
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn memory_that_is_not_coherent_is_flushed_and_invalidated() {
    const HOST_COHERENT: u32 = 0x4;
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "none");
    // The same calls on a device whose memory is not coherent.
    rewrite(&project.path().join(CAPTURE), |event| {
        if let Event::Device(device) = event {
            device.memory_types.iter_mut().for_each(|flags| *flags &= !HOST_COHERENT);
        }
    });
    let refuted = rows_of(&couple(project.path(), 1), "refuted");
    let told = |check: &str, words: &str| {
        let is_told = |row: &&(String, String)| row.0 == check && row.1.contains(words);
        assert!(refuted.iter().any(|row| is_told(&row)), "{check}: {words}: {refuted:#?}");
    };
    told("host-read", "without vkInvalidateMappedMemoryRanges");
    told("host-write", "vkFlushMappedMemoryRanges is needed");
    assert_eq!(refuted.len(), 2, "{refuted:#?}");
}

#[test]
fn a_swapped_struct_shows_in_its_header_and_in_what_is_pushed() {
    let Some(host) = host() else { return };
    // The header is the program's: host and kernel disagree, and what is pushed is what is stated.
    let stated = StatedHost { header: SWAPPED, ..StatedHost::default() };
    let swapped = project(host, &stated, "swapped-struct");
    let coupled = couple(swapped.path(), 1);
    let refuted = rows_of(&coupled, "refuted");
    assert_eq!(refuted.len(), 1, "{refuted:#?}");
    assert_eq!(refuted[0].0, "push-constant-layout", "{refuted:#?}");
    assert!(refuted[0].1.contains("count"), "{refuted:#?}");
    let finding = &coupled["findings"][0];
    assert_eq!(finding["place"]["file"], "host/parameters.h", "{finding}");

    // The header is that of the kernel: what is pushed contradicts what is stated.
    let swapped = project(host, &StatedHost::default(), "swapped-struct");
    let coupled = couple(swapped.path(), 1);
    let refuted = rows_of(&coupled, "refuted");
    let values: Vec<_> = refuted.iter().filter(|row| row.0 == "push-constant-values").collect();
    assert_eq!(values.len(), 1, "{refuted:#?}");
    for words in [
        "dispatch 1 (operation ",
        "pushes count = 1073741824 at byte 0",
        "the interface states 1 to 4096 for count",
        "so in 1 dispatches more",
        "the interface is at requirements/host.toml:3",
        "the member at host/parameters.h:3",
    ] {
        assert!(values[0].1.contains(words), "{words}: {values:#?}");
    }
}

#[test]
fn a_swapped_struct_shows_without_a_range() {
    let Some(host) = host() else { return };
    let stated = StatedHost { range: ANY_COUNT, ..StatedHost::default() };
    let facts_of = |fault: &str| {
        let project = project(host, &stated, fault);
        let refuted = rows_of(&couple(project.path(), 1), "refuted");
        refuted.into_iter().filter(|row| row.0 == "host-facts").map(|row| row.1).collect::<Vec<_>>()
    };
    assert_eq!(facts_of("none"), Vec::<String>::new());
    let facts = facts_of("swapped-struct");
    assert_eq!(facts.len(), 2, "{facts:#?}");
    let buffer = "has 4000 bytes bound at 0.0, and the interface states count * 4, which is 0 for \
                  count = 1073741824";
    assert!(facts[0].contains(buffer), "{facts:#?}");
    let groups = "has 16 workgroups in x, and the interface states (count + 63) / 64, which is \
                  16777216 for count = 1073741824";
    assert!(facts[1].contains(groups), "{facts:#?}");
}

#[test]
fn another_program_or_another_build_is_told_of() {
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "none");
    let text = std::fs::read_to_string(root().join("tests/capture/scale.comp")).unwrap();
    // Another build: the same kernel with one more statement.
    let changed = text.replace("*= factor;", "*= factor + 0.0;");
    assert_ne!(changed, text);
    write(project.path(), "glsl/scale.comp", &changed);
    let open = rows_of(&couple(project.path(), 1), "undetermined");
    assert_eq!(open.len(), 1, "{open:#?}");
    assert!(open[0].1.contains("no shader module is the production module"), "{open:#?}");
    let state_module = |module: &str| {
        let capture = format!("[[interface.capture]]\nfile = \"{CAPTURE}\"\nmodule = {module}\n");
        StatedHost { capture, ..StatedHost::default() }.write_to(project.path());
    };
    state_module("1");
    couple(project.path(), 0);
    write(project.path(), "glsl/scale.comp", &changed);
    let open = rows_of(&couple(project.path(), 1), "undetermined");
    assert_eq!(open.len(), 1, "{open:#?}");
    assert_eq!(open[0].0, "shader-module");
    assert!(open[0].1.contains("is another build than the production module"), "{open:#?}");
    state_module("2");
    let error = couple(project.path(), 2);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("there is no shader module 2: the capture has 1"), "{error}");
    assert_eq!(
        error["error"]["file"],
        format!("{}/requirements/host.toml", project.path().display())
    );
}

#[test]
fn what_a_capture_tells_is_evidence_that_is_derived_again() {
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "missing-barrier");
    let certify = |name: &str| {
        let reports = project.path().join(name);
        certify_sequentially(project.path(), &reports).output().unwrap();
        reports.join("evidence")
    };
    let (evidence, again) = (certify("reports"), certify("again"));
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["campaign.json", "inputs.json"] {
        assert_eq!(read(&evidence, name), read(&again, name), "{name}");
    }
    let manifest: Value = serde_json::from_slice(&read(&evidence, "manifest.json")).unwrap();
    assert!(manifest["inputs"][CAPTURE].is_string(), "{manifest}");
    let campaign: Value = serde_json::from_slice(&read(&evidence, "campaign.json")).unwrap();
    let findings = campaign["findings"].as_array().unwrap();
    assert!(
        findings.iter().any(|row| row["finding"]["details"]["check"] == "device-dependency"),
        "{findings:#?}"
    );
    let verify = |options: &[&std::ffi::OsStr], exit: i32| {
        let output = run(vkcert().arg("verify").arg(&evidence).args(options), exit);
        String::from_utf8(output.stdout).unwrap()
    };
    verify(&[], 0);
    let with_project = ["--project".as_ref(), project.path().as_os_str()];
    verify(&with_project, 0);
    let capture = project.path().join(CAPTURE);
    let whole = std::fs::read(&capture).unwrap();
    std::fs::write(&capture, [&whole[..], &[0]].concat()).unwrap();
    assert!(verify(&with_project, 1).contains(CAPTURE));
    forge(&evidence, "campaign.json", |campaign| {
        let checks = campaign["coupling"][0]["checks"].as_array_mut().unwrap();
        let row = checks.iter_mut().find(|row| row["check"] == "host-read").unwrap();
        row["message"] = "all is well".into();
    });
    assert!(verify(&[], 1).contains("coupling"));
}

#[test]
fn captures_that_are_damaged_end_in_a_diagnostic_and_nothing_is_written() {
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "none");
    let file = project.path().join(CAPTURE);
    let whole = std::fs::read(&file).unwrap();
    let mut lying = whole.clone();
    lying[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let out: PathBuf = project.path().join("reports");
    for damaged in [&whole[..whole.len() - 1], &whole[..5], b"not a capture", &lying] {
        std::fs::write(&file, damaged).unwrap();
        let error = couple(project.path(), 2);
        assert_eq!(error["error"]["file"], CAPTURE, "{error}");
        let mut command = vkcert();
        run(command.arg("certify").arg(project.path()).arg("--out").arg(&out), 2);
        assert!(!out.exists(), "something was written");
    }
    std::fs::remove_file(&file).unwrap();
    assert_eq!(couple(project.path(), 2)["error"]["file"], CAPTURE);
    let outside = "[[interface.capture]]\nfile = \"../scale.capture\"\n".to_owned();
    StatedHost { capture: outside, ..StatedHost::default() }.write_to(project.path());
    let error = couple(project.path(), 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("no file of the project"));
}

#[test]
fn the_graph_has_captured_dispatches_and_what_orders_them() {
    let Some(host) = host() else { return };
    let graph_of = |fault: &str, form: &str, exit: i32| {
        let project = project(host, &StatedHost::default(), fault);
        let mut command = vkcert();
        command.arg("couple").arg(project.path()).args(["--engine", "sequential", "--graph", form]);
        String::from_utf8(run(&mut command, exit).stdout).unwrap()
    };
    let right = graph_of("none", "text", 0);
    for words in [
        "captured-dispatch:host/scale.capture:1 (captured dispatch): dispatch 1: 16 x 1 x 1 workgroups, \
         operation ",
        "    <- captured-dispatch:host/scale.capture:1 (flows-to, binding 0.0)",
        "(pipeline barrier): ",
        "COMPUTE_SHADER / SHADER_WRITE to COMPUTE_SHADER / SHADER_READ | SHADER_WRITE, all memory",
        "    <- captured-dispatch:host/scale.capture:1 (orders, is waited for)",
        "    <- captured-dispatch:host/scale.capture:2 (flows-to, the host)",
        "    <- captured-dispatch:host/scale.capture:2 (controls, starts)",
    ] {
        assert!(right.contains(words), "{words}: {right}");
    }
    let unordered = graph_of("missing-barrier", "text", 1);
    assert!(unordered.contains("(flows-to, binding 0.0, ordered by nothing)"), "{unordered}");
    assert!(graph_of("none", "svg", 0).contains("vkMapMemory (operation"));
}

/// Kinds of the findings of a captured dispatch that is run.
fn findings_of_run(host: &Host, fault: &str, exit: i32) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.capture");
    let mut command = vkcert();
    command.args(["capture", "--contents", "--output"]).arg(&file).arg("--");
    run(command.arg(&host.program).arg(&host.kernel).arg(fault), 0);
    let mut command = vkcert();
    command.arg("run").arg(&file).args(["--dispatch", "1", "--engine", "sequential"]);
    let result = run_json(&mut command, exit);
    let findings = result["tests"][0]["findings"].as_array().unwrap();
    findings.iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_captured_dispatch_is_run_and_a_swapped_struct_leaves_its_buffer() {
    let Some(host) = host() else { return };
    assert_eq!(findings_of_run(host, "none", 0), Vec::<String>::new());
    let found = findings_of_run(host, "swapped-struct", 1);
    assert!(!found.is_empty() && found.iter().all(|kind| kind == "out-of-bounds"), "{found:?}");
}

#[test]
fn a_capture_is_run_by_the_number_of_a_dispatch_that_it_has() {
    let Some(host) = host() else { return };
    let project = project(host, &StatedHost::default(), "none");
    let file = project.path().join(CAPTURE);
    let message_of = |arguments: &[&str]| {
        let error = run_json(vkcert().arg("run").arg(&file).args(arguments), 2);
        error["error"]["message"].as_str().unwrap().to_owned()
    };
    assert!(message_of(&[]).contains("none is named"));
    assert!(message_of(&["--dispatch", "3"]).contains("there is no dispatch 3"));
    let settings = project.path().join("vkcert.toml");
    let mut command = vkcert();
    run_json(command.arg("run").arg(settings).args(["--dispatch", "1"]), 2);
}
