//! Multisampled images in test procedures: how samples lie in data, files and results, and what is
//! refused. What instructions do with them is in `filetests/run`.

use crate::compiled;
use crate::support;

use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use support::{run_json, vkcert, write};
use vkcert::exec::prepare::prepare_test;
use vkcert::exec::sequential::{SequentialExecutor, Settings};
use vkcert::exec::{Completion, Executor, Unobserved};
use vkcert::requirement::load_procedure;

/// Copies every sample of `a` to `b`.
const COPY: &str = "#version 450
layout(local_size_x = 2) in;
layout(binding = 0, r8ui) uniform uimage2DMS a;
layout(binding = 1, r8ui) uniform uimage2DMS b;
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    for (int s = 0; s < imageSamples(a); ++s) imageStore(b, p, s, imageLoad(a, p, s));
}
";

/// A test of `COPY`: 2 by 2 texels of 4 samples.
fn procedure(given: Value, expected: &Value) -> Value {
    let image = |mut more: Value| {
        more["dim"] = json!("2d");
        more["format"] = json!("r8ui");
        more["extent"] = json!([2, 2]);
        more["samples"] = json!(4);
        more
    };
    let mut expect = expected.clone();
    expect["image"] = json!("b");
    json!({"schema": 1, "kernels": {"copy": {"source": {"text": COPY}}}, "tests": [{
        "id": "T", "images": {"a": image(given), "b": image(json!({}))},
        "dispatches": [{"kernel": "copy", "groups": [1, 2, 1],
                        "bindings": [{"binding": 0, "image": "a"}, {"binding": 1, "image": "b"}]}],
        "expect": [expect]}]})
}

fn run_on(engine: &str, folder: &Path, procedure: &Value, exit: i32) -> Value {
    let file = write(folder, "t.json", procedure.to_string());
    run_json(vkcert().arg("run").arg(file).args(["--engine", engine]), exit)
}

fn sequential(folder: &Path, procedure: &Value, exit: i32) -> Value {
    run_on("sequential", folder, procedure, exit)
}

/// A `.npy` file of bytes.
fn npy(shape: &str, body: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00".as_slice(), &(header.len() as u16).to_le_bytes(), header.as_bytes(), body]
        .concat()
}

const SAMPLES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

#[test]
fn samples_of_a_texel_stand_together_in_data_and_results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let right = json!({"values": SAMPLES});
    let passed = sequential(folder, &procedure(json!({"data": SAMPLES}), &right), 0);
    assert_eq!(passed["tests"][0]["verdict"], "pass");
    // The last texel from its sample 1 on; sample 2 is not 9.
    let wrong = json!({"offset": 13, "values": [13, 9, 15]});
    let failed = sequential(folder, &procedure(json!({"data": SAMPLES}), &wrong), 1);
    let mismatch = &failed["tests"][0]["mismatches"][0];
    let place = json!({"level": 0, "layer": 0, "texel": [1, 1, 0], "sample": 2, "component": 0});
    assert_eq!((&mismatch["texel"], &mismatch["actual"]), (&place, &json!(14)), "{mismatch:#}");
    let short = sequential(folder, &procedure(json!({"data": [1, 2, 3, 4]}), &right), 2);
    let message = short["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`a` has 16 samples of texels over all levels and layers"),
        "{message}"
    );
}

#[test]
fn arrays_in_files_have_the_samples_as_an_axis() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "samples.npy", npy("(2, 2, 4)", &SAMPLES));
    let given = json!({"file": "samples.npy"});
    let passed = sequential(folder, &procedure(given.clone(), &given), 0);
    assert_eq!(passed["tests"][0]["verdict"], "pass");
    write(folder, "first.npy", npy("(4, 2, 2)", &SAMPLES));
    write(folder, "wide.npy", npy("(4, 4)", &SAMPLES));
    write(folder, "list.npy", npy("(16,)", &SAMPLES));
    write(folder, "picture.pgm", [b"P5 2 2 255 ".as_slice(), &[1, 2, 3, 4]].concat());
    for (file, words) in [
        ("first.npy", "an array of shape (4, 2, 2) is not the image, whose shape is (2, 2, 4)"),
        ("wide.npy", "an array of shape (4, 4) is not the image, whose shape is (2, 2, 4)"),
        ("list.npy", "an array of shape (16) is not the image, whose shape is (2, 2, 4)"),
        ("picture.pgm", "the image has 4 samples per texel, and a picture has one"),
    ] {
        for (image, expected) in [(file, "samples.npy"), ("samples.npy", file)] {
            let refused = sequential(
                folder,
                &procedure(json!({"file": image}), &json!({"file": expected})),
                2,
            );
            let message = refused["error"]["message"].as_str().unwrap();
            assert!(message.contains(words), "{message}");
        }
    }
    // What is saved is read again.
    let file = write(folder, "t.json", procedure(given.clone(), &given).to_string());
    let mut saving = vkcert();
    saving
        .arg("run")
        .arg(file)
        .args(["--engine", "sequential", "--save-outputs"])
        .arg(folder.join("saved"));
    run_json(&mut saving, 0);
    let saved = json!({"file": "saved/T/sequential/b.npy"});
    sequential(folder, &procedure(saved.clone(), &saved), 0);
    assert!(!folder.join("saved/T/sequential/b.png").exists());
}

#[test]
fn an_image_with_as_many_texels_but_other_samples_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let mut other = procedure(json!({"data": SAMPLES}), &json!({"equals_image": "c"}));
    other["tests"][0]["images"]["c"] =
        json!({"dim": "2d", "format": "r8ui", "extent": [4, 4], "data": SAMPLES});
    let refused = sequential(folder.path(), &other, 2);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("another number of texels or samples"), "{message}");
}

#[test]
fn a_multisampled_type_needs_samples() {
    let folder = tempfile::tempdir().unwrap();
    let mut single = procedure(json!({"fill": {"constant": 1}}), &json!({"values": [1]}));
    single["tests"][0]["images"]["a"]["samples"] = json!(1);
    let refused = sequential(folder.path(), &single, 2);
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(
        message.ends_with("(`a`) is a multisampled image, and `a` has one sample per texel"),
        "{message}"
    );
}

#[test]
fn a_device_is_not_asked_for_multisampled_images() {
    let output = vkcert()
        .args(["list", "devices", "--format", "json"])
        .output()
        .expect("the program starts");
    let listed: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    if listed.as_array().is_none_or(Vec::is_empty) {
        assert!(
            std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(),
            "a device is demanded: {listed}"
        );
        eprintln!("NOT RUN: no Vulkan device");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let copied = procedure(json!({"data": SAMPLES}), &json!({"values": SAMPLES}));
    let test = &run_on("vulkan", folder.path(), &copied, 4)["tests"][0];
    let reason = "multisampled images on the device engine (`a` has 4 samples per texel)";
    assert_eq!(
        (&test["verdict"], &test["reason"]),
        (&json!("unsupported"), &json!(reason)),
        "{test:#}"
    );
}

/// OpImageRead and its length without the image operands.
const IMAGE_READ: u32 = 98;
const WITHOUT_OPERANDS: usize = 5;

#[test]
fn an_access_without_its_sample_is_unsupported_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let text = procedure(json!({"data": SAMPLES}), &json!({"values": SAMPLES})).to_string();
    let procedure = load_procedure(&write(folder.path(), "t.json", text)).unwrap();
    let kernels = compiled::kernels(&procedure);
    let setting = compiled::setting(&kernels, &procedure.base);
    let mut job = prepare_test(&procedure.tests[0], &setting)
        .unwrap_or_else(|problems| panic!("{problems:?}"))
        .job;
    let words = &job.modules[0].words;
    let mut changed = words[..5].to_vec();
    let mut at = 5;
    while at < words.len() {
        let (length, op) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        if op == IMAGE_READ {
            assert_eq!(length, WITHOUT_OPERANDS + 2, "a mask and a sample");
            changed.push((WITHOUT_OPERANDS as u32) << 16 | op);
            changed.extend(&words[at + 1..at + WITHOUT_OPERANDS]);
        } else {
            changed.extend(&words[at..at + length]);
        }
        at += length;
    }
    job.modules[0].words = Arc::new(changed);
    let ran = SequentialExecutor::new(Settings::default()).run(&job, &mut Unobserved).unwrap();
    let what = "OpImageRead of a multisampled image without image operand Sample".to_owned();
    assert!(
        matches!(&ran.completion, Completion::Unsupported { what: lacking } if lacking.contains(&what)),
        "{ran:?}"
    );
}
