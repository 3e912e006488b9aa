//! Right algorithms whose order of work is free, on both engines, every one several times.
//!
//! Knows: the procedures of `tests/order_free/`. Promises: each passes on every engine that is
//! there, with no finding and nothing undetermined, whatever varies; what is wrong in them is found
//! all the same.
//! Does not cover: devices on which workgroups do not run side by side.

use crate::support;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use support::*;

const FOLDER: &str = "tests/order_free";

fn procedures() -> Vec<PathBuf> {
    let files = std::fs::read_dir(root().join(FOLDER)).expect("the folder is there");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    files
}

/// The tests of a procedure on both engines, or on the sequential one where there is no device.
fn outcomes(file: &Path, more: &[&str]) -> Vec<Value> {
    let mut command = vkcert();
    command.arg("run").arg(file).args(["--repeat", "5", "--format", "json"]).args(more);
    let output = command.output().expect("the program runs");
    let result: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{}: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    });
    result["tests"].as_array().expect("tests").clone()
}

/// A driver that ends loops by itself may do so while another workgroup has no processor: then
/// nothing is known.
fn is_cut_off(outcome: &Value) -> bool {
    outcome["reason"]
        .as_str()
        .is_some_and(|reason| reason.contains("the driver ends a kernel's loops after"))
}

const ATTEMPTS: usize = 5;

#[test]
fn right_algorithms_pass_on_every_engine_whatever_varies() {
    let files = procedures();
    assert!(files.len() >= 17, "{}", files.len());
    for file in files {
        let attempts = std::iter::repeat_with(|| outcomes(&file, &[])).take(ATTEMPTS);
        let mut attempts: Vec<Vec<Value>> =
            attempts.collect_until(|rows| !rows.iter().any(is_cut_off));
        for row in attempts.pop().expect("one attempt") {
            assert_eq!(row["verdict"], "pass", "{}: {row:#}", file.display());
            assert_eq!(row["findings"], json!([]), "{}: {row:#}", file.display());
        }
    }
}

/// Takes what an iterator gives up to the first that is good.
trait CollectUntil: Iterator + Sized {
    fn collect_until(self, good: impl Fn(&Self::Item) -> bool) -> Vec<Self::Item> {
        let mut taken = Vec::new();
        for item in self {
            let done = good(&item);
            taken.push(item);
            if done {
                break;
            }
        }
        taken
    }
}

impl<I: Iterator> CollectUntil for I {}

/// Each procedure with something broken, by words of its kernel or of its expectations.
const BROKEN: &[(&str, &str, &str)] = &[
    (
        "compaction",
        "pairs[place] = uvec2(i, value)",
        "pairs[place] = uvec2(i, value + uint(place == 7u))",
    ),
    (
        "unique_numbers",
        "number[gl_GlobalInvocationID.x] = drawn",
        "number[gl_GlobalInvocationID.x] = max(drawn, 9u)",
    ),
    ("hash_insert", "at = (at + 1u) % 64u", "at = (at + 64u) % 64u"),
    (
        "linked_list",
        "node[me] = uvec2(me * 5u, next)",
        "node[me] = uvec2(me * 5u, next == 9u ? 4u : next)",
    ),
    ("bucket_scatter", "] = mine;", "] = mine == 101u ? 102u : mine;"),
    ("free_slots", "slot[3u * bit + 1u] = me * me", "slot[3u * bit + 1u] = me * 2u"),
    (
        "ticket_lock",
        "entry[at] = gl_WorkGroupID.x + 10u",
        "entry[at] = gl_WorkGroupID.x / 2u * 2u + 10u",
    ),
    ("float_sum", "+ mine", "+ mine * 1.01"),
    ("breadth_first", "next[i] < 60u", "next[i] < 58u"),
    ("work_queue", "result[taken] = value * value", "result[taken] = value * value + taken / 99u"),
];

#[test]
fn what_is_wrong_fails_whatever_its_order() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, right, wrong) in BROKEN {
        let text = std::fs::read_to_string(root().join(FOLDER).join(format!("{name}.toml")))
            .expect("a procedure");
        assert!(text.contains(right), "{name}: {right}");
        let file = write(folder.path(), &format!("{name}.toml"), text.replacen(right, wrong, 1));
        for row in outcomes(&file, &["--engine", "sequential"]) {
            assert_eq!(row["verdict"], "fail", "{name}: {row:#}");
            assert!(!row["mismatches"].as_array().expect("mismatches").is_empty(), "{name}");
        }
    }
}

/// Invocations of a subgroup that take a lock in step: who holds it waits for those who want it.
const LOCK: &str = "schema = 1
[kernels.lock]
source.text = \"\"\"
#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer L { uint lock; uint count; };
void main() {
    while (atomicCompSwap(lock, 0u, 1u) != 0u) { }
    count++;
    memoryBarrierBuffer();
    atomicExchange(lock, 0u);
}
\"\"\"
[[tests]]
id = \"T\"
buffers.l = { type = \"uint\", data = [0, 0] }
[[tests.dispatches]]
kernel = \"lock\"
groups = [1, 1, 1]
bindings = [{ binding = 0, buffer = \"l\" }]
";

#[test]
fn a_device_that_is_stuck_in_a_waiting_loop_is_told_with_its_likely_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "lock.toml", LOCK);
    let rows = outcomes(&file, &[]);
    let Some(vulkan) =
        rows.iter().find(|row| row["engine"] == "vulkan" && row["verdict"] == "timeout")
    else {
        eprintln!("NOT SHOWN: there is no device, or it lets the holder of the lock go on");
        return;
    };
    let reason = vulkan["reason"].as_str().expect("a reason");
    assert!(reason.contains("possible cause: kernel `lock` has a loop that can wait"), "{reason}");
}

/// A driver's manifest without its library is found and refused; why, the loader says.
#[test]
fn doctor_tells_why_the_loader_refused_a_driver() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "/nonexistent/libdriver.so", "api_version": "1.2.0"}}"#;
    let manifest = write(folder.path(), "driver.json", manifest);
    let mut command = vkcert();
    command.arg("doctor").env("VK_DRIVER_FILES", &manifest).env("VK_ICD_FILENAMES", &manifest);
    let told = String::from_utf8(run(&mut command, 0).stdout).expect("text");
    if told.contains("cannot be loaded") {
        eprintln!("NOT SHOWN: there is no Vulkan loader");
        return;
    }
    assert!(
        told.contains("the loader says: ") && told.contains("/nonexistent/libdriver.so"),
        "{told}"
    );
}
