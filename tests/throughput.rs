//! How many test procedures a second the Vulkan engine runs, and that the pipeline cache changes
//! nothing but time. Without a device these tests say so and do nothing, unless
//! `VKCERT_REQUIRE_VULKAN=1` demands one.

use crate::support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use support::{root, run, vkcert, write};
use vkcert::exec::ExecError;
use vkcert::exec::vulkan::{DeviceChoice, PIPELINE_CACHE, Settings, VulkanExecutor};

/// One workgroup of 64 invocations.
const KERNEL: &str = "#version 450
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < b.length()) {
        EFFECT
    }
}";

/// A statement, and what it writes for an element.
struct Effect {
    name: &'static str,
    glsl: &'static str,
    value: fn(u32) -> u32,
}

const EFFECTS: [Effect; 2] = [
    Effect {
        name: "without loops",
        glsl: "b[i] = a[i] > 100u ? a[i] * 3u : a[i] + 7u;",
        value: |a| if a > 100 { a * 3 } else { a + 7 },
    },
    Effect {
        name: "with a loop",
        glsl: "uint s = 0; for (uint k = 0; k < 4; k++) { s += a[i] >> k; } b[i] = s;",
        value: |a| (0..4).map(|k| a >> k).sum(),
    },
];

/// A file of `count` tests of one kernel, each with data and expectations of its own.
fn procedure(effect: &Effect, count: u32) -> Value {
    let test = |number: u32| {
        let data: Vec<u32> = (0..64).map(|i| (i * 7 + number * 13) % 256).collect();
        let values: Vec<u32> = data.iter().map(|a| (effect.value)(*a)).collect();
        let bind =
            |binding: u32, buffer: &str| json!({"set": 0, "binding": binding, "buffer": buffer});
        json!({
            "id": format!("T-{number:05}"),
            "buffers": {"a": {"type": "uint", "data": data}, "b": {"type": "uint", "count": 64}},
            "dispatches": [{"kernel": "k", "groups": [1, 1, 1], "bindings": [bind(0, "a"), bind(1, "b")]}],
            "expect": [{"buffer": "b", "type": "uint", "values": values}],
        })
    };
    let tests: Vec<Value> = (0..count).map(test).collect();
    json!({"schema": 1, "kernels": {"k": {"source": {"text": KERNEL.replace("EFFECT", effect.glsl)}}}, "tests": tests})
}

/// An engine with a cache folder, or a line that says why the test was not run.
fn engine(caches: &Path) -> Option<VulkanExecutor> {
    let environment =
        BTreeMap::from([("XDG_CACHE_HOME".to_owned(), caches.to_string_lossy().into_owned())]);
    let settings = Settings { environment, ..Settings::new(env!("CARGO_BIN_EXE_vkcert")) };
    match VulkanExecutor::new(DeviceChoice::Best, settings) {
        Ok(engine) => Some(engine),
        Err(ExecError::NoDevice { reason, .. })
            if std::env::var("VKCERT_REQUIRE_VULKAN").as_deref() != Ok("1") =>
        {
            eprintln!("NOT RUN: no Vulkan device ({reason})");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Runs all tests of a file, asserts that they pass, and gives them by the second, start and
/// compilation included.
fn procedures_per_second(
    effect: &Effect,
    count: u32,
    settle: impl Fn(&mut Command) -> &mut Command,
) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "run.json", procedure(effect, count).to_string());
    let start = Instant::now();
    let mut program = vkcert();
    let arguments = ["--engine", "vulkan", "--format", "json"];
    let output = run(settle(program.arg("run").arg(file).args(arguments)), 0);
    let seconds = start.elapsed().as_secs_f64();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    let tests = result["tests"].as_array().unwrap();
    assert_eq!(tests.len(), count as usize);
    assert!(tests.iter().all(|test| test["verdict"] == "pass" && test["findings"] == json!([])));
    f64::from(count) / seconds
}

#[test]
fn a_hundred_procedures_a_second_run_even_on_a_loaded_machine() {
    let folder = tempfile::tempdir().unwrap();
    if engine(folder.path()).is_none() {
        return;
    }
    for effect in &EFFECTS {
        let rate = procedures_per_second(effect, 500, |program| program);
        assert!(rate >= 100.0, "{}: {rate:.0} test procedures a second", effect.name);
    }
}

/// `cargo test --release --test integration throughput:: -- --ignored --nocapture`: the figures of
/// docs/performance.md.
#[test]
#[ignore = "a measurement"]
fn measure_procedures_per_second() {
    let folder = tempfile::tempdir().unwrap();
    if engine(folder.path()).is_none() {
        return;
    }
    for effect in &EFFECTS {
        for (layer, path) in [("installed layers", None), ("no layer", Some(folder.path()))] {
            let measured = |_| {
                procedures_per_second(effect, 2000, |program| match path {
                    Some(path) => program.env("VK_LAYER_PATH", path),
                    None => program,
                })
            };
            let rates: Vec<String> =
                (0..3).map(measured).map(|rate| format!("{rate:.0}")).collect();
            eprintln!("{}, {layer}: {} test procedures a second", effect.name, rates.join(", "));
        }
    }
}

/// The one cache file in a cache folder.
fn cache_file(caches: &Path) -> PathBuf {
    let entries = std::fs::read_dir(caches.join("vkcert")).expect("the folder was made");
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn a_pipeline_cache_is_kept_and_a_damaged_one_is_named_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let Some(engine_of_none) = engine(folder.path()) else { return };
    assert_eq!(engine_of_none.notes(), [""; 0], "no file is no fault");
    engine_of_none.close().expect("closes");
    let file = cache_file(folder.path());
    let whole = std::fs::read(&file).unwrap();

    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for (bytes, said) in [
        (damaged, "damaged"),
        (whole[..20].to_vec(), "no pipeline cache"),
        (Vec::new(), "no pipeline"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let engine_of_damaged = engine(folder.path()).expect("the device is still there");
        let notes = engine_of_damaged.notes().join("; ");
        assert!(notes.contains(said) && notes.contains("is not used"), "{notes}");
        engine_of_damaged.close().expect("closes");
        let again = engine(folder.path()).expect("the device is still there");
        assert_eq!(again.notes(), [""; 0], "the file was written anew");
        again.close().expect("closes");
        cache_file(folder.path());
    }
}

#[test]
fn evidence_does_not_depend_on_the_pipeline_cache() {
    let folder = tempfile::tempdir().unwrap();
    let caches = folder.path().join("caches");
    let Some(found) = engine(&caches) else { return };
    found.close().expect("closes");
    let damage = || std::fs::write(cache_file(&caches), "damaged").unwrap();
    let evidence = |name: &str, cache: Option<&str>| -> BTreeMap<PathBuf, Vec<u8>> {
        let out = folder.path().join(name);
        let mut program = vkcert();
        program.arg("certify").arg(root()).arg("--out").arg(&out).args(["--format", "json"]);
        program.env("XDG_CACHE_HOME", &caches);
        cache.map(|value| program.env(PIPELINE_CACHE, value));
        run(&mut program, 0);
        let files = walkdir::WalkDir::new(out.join("evidence")).into_iter().map(Result::unwrap);
        let files = files.filter(|entry| entry.file_type().is_file());
        let row = |entry: walkdir::DirEntry| {
            (
                entry.path().strip_prefix(&out).unwrap().to_owned(),
                std::fs::read(entry.path()).unwrap(),
            )
        };
        files.map(row).collect()
    };
    let warm = evidence("warm", None);
    let off = evidence("off", Some("off"));
    damage();
    let damaged = evidence("damaged", None);
    assert!(!warm.is_empty());
    assert!(warm == off, "with and without a cache");
    assert!(warm == damaged, "with a whole and a damaged cache");
}
