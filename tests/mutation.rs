//! `vkcert mutate`: mutants are judged alike in one module and in modules of their own; what tests do
//! not look at survives; what means nothing is refused.

use crate::support::{root, run, run_json, vkcert, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn mutants<'m>(mutation: &'m Value, kernel: &str) -> &'m Vec<Value> {
    let kernels = mutation["kernels"].as_array().unwrap();
    let row = kernels.iter().find(|row| row["kernel"] == kernel).expect("the kernel is listed");
    row["mutants"].as_array().unwrap()
}

/// What a mutant came to: its status, and whether an expectation noticed it. Which finding or limit did
/// so besides can differ: the steps of the two forms do.
fn result(mutant: &Value) -> (String, Value) {
    (mutant["status"].as_str().unwrap().to_owned(), mutant["by"]["expectation"].clone())
}

fn assert_judged_alike(kernels: &[&str]) {
    let mutate = |options: &[&str]| {
        let mut command = vkcert();
        command.arg("mutate").arg(root()).args(options);
        kernels.iter().for_each(|kernel| {
            command.args(["--kernel", kernel]);
        });
        run_json(&mut command, 0)
    };
    let (together, each) = (mutate(&["--one-module"]), mutate(&[]));
    let mut differing = Vec::new();
    for kernel in kernels {
        let rows = mutants(&together, kernel).iter().zip(mutants(&each, kernel));
        for (together, each) in rows {
            assert_eq!((&together["number"], &together["diff"]), (&each["number"], &each["diff"]));
            let number = &together["number"];
            let (together, each) = (result(together), result(each));
            if together != each {
                differing.push(format!("{kernel}, mutant {number}: {together:?} and {each:?}"));
            }
        }
        let notes = |value: &Value| {
            let kernels = value["kernels"].as_array().unwrap();
            kernels.iter().map(|row| row["notes"].clone()).collect::<Vec<_>>()
        };
        // Each kernel does the same with and without its mutants.
        assert!(notes(&together).iter().all(|notes| notes.as_array().unwrap().is_empty()));
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn mutants_are_judged_alike_in_one_module_and_in_modules_of_their_own() {
    assert_judged_alike(&["matmul_tiled", "histogram", "prefix_sum"]);
}

#[test]
#[ignore = "compiles five thousand mutants; run by `make soak`"]
fn mutants_of_the_whole_demonstration_are_judged_alike() {
    assert_judged_alike(&[
        "matmul_naive",
        "matmul_tiled",
        "histogram",
        "convolution",
        "prefix_sum",
        "fir_filter",
        "fft",
        "aes_round",
        "softmax",
        "wavelet",
        "rice_coder",
        "star_centroid",
        "bad_pixels",
    ]);
}

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Products { uint products[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    sums[i] = values[i] + 3u;
    products[i] = values[i] * 5u;
}
";

const SETTINGS: &str = r#"schema = 1
name = "two outputs"
level = "C"

[[kernel]]
name = "both"
source = "glsl/both.comp"
"#;

const REQUIREMENTS: &str = r#"schema = 1

[[requirement]]
uid = "LLR-1"
level = "HLR"
title = "Sums and products"
statement = "The kernel shall store the sums and the products."
verification = ["test"]

[[test]]
id = "TC-1"
requirements = ["LLR-1"]
buffers = { values = { type = "uint", data = [1, 2, 3, 4] }, sums = { type = "uint", fill = { constant = 0 }, count = 4 }, products = { type = "uint", fill = { constant = 0 }, count = 4 } }
dispatches = [{ kernel = "both", groups = [1, 1, 1], bindings = [{ set = 0, binding = 0, buffer = "values" }, { set = 0, binding = 1, buffer = "sums" }, { set = 0, binding = 2, buffer = "products" }] }]
expect = [
    { buffer = "sums", type = "uint", values = [4, 5, 6, 7] },
    PRODUCTS
]
"#;

const PRODUCTS: &str = r#"{ buffer = "products", type = "uint", values = [5, 10, 15, 20] },"#;

/// A project whose test looks at the products as it is said.
fn project_with(folder: &Path, products: &str) {
    write(folder, "vkcert.toml", SETTINGS);
    write(folder, "glsl/both.comp", KERNEL);
    write(folder, "requirements/both.toml", REQUIREMENTS.replace("PRODUCTS", products));
}

fn surviving_lines(folder: &Path) -> BTreeSet<u64> {
    let mutation = run_json(vkcert().arg("mutate").arg(folder), 0);
    let survivors =
        mutants(&mutation, "both").iter().filter(|mutant| mutant["status"] == "survived");
    survivors.map(|mutant| mutant["line"].as_u64().unwrap()).collect()
}

#[test]
fn what_no_expectation_looks_at_survives_at_its_place() {
    let whole = tempfile::tempdir().unwrap();
    project_with(whole.path(), PRODUCTS);
    let survivors = surviving_lines(whole.path());
    assert!(!survivors.contains(&9), "{survivors:?}");
    let partly = tempfile::tempdir().unwrap();
    project_with(partly.path(), "");
    let survivors = surviving_lines(partly.path());
    assert!(survivors.contains(&9), "{survivors:?}");
    let text = run(vkcert().arg("mutate").arg(partly.path()), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("-    products[i] = values[i] * 5u;\n+    products[i] = values[i] / 5u;\n")
    );
}

#[test]
fn operators_and_kernels_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let mutation =
        run_json(vkcert().arg("mutate").arg(folder.path()).args(["--operator", "mr"]), 0);
    let made = mutants(&mutation, "both");
    assert_eq!(made.len(), 2);
    assert!(
        made.iter().all(|mutant| mutant["operators"][0] == "MR" && mutant["status"] == "killed")
    );
    for device in [["--engine", "vulkan"], ["--engine", "both"], ["--device", "0"]] {
        let error = run_json(vkcert().arg("mutate").arg(folder.path()).args(device), 2);
        assert!(error["error"]["message"].as_str().unwrap().contains("sequential"), "{error:#}");
    }
    for wrong in [["--operator", "XYZ"], ["--kernel", "nobody"]] {
        let error = run_json(vkcert().arg("mutate").arg(folder.path()).args(wrong), 2);
        assert!(error["error"]["message"].as_str().unwrap().contains(wrong[1]), "{error:#}");
    }
}

#[test]
fn mutants_of_a_kernel_that_fails_by_itself_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), &PRODUCTS.replace("20", "21"));
    let error = run_json(vkcert().arg("mutate").arg(folder.path()), 2);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("TC-1 does not pass by itself (fail)"), "{message}");
    assert!(!folder.path().join("reports").exists());
}

#[test]
fn mutants_of_included_files_and_of_definitions_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let settings = format!("{SETTINGS}defines = {{ FACTOR = \"5u\" }}\n");
    write(folder.path(), "vkcert.toml", settings);
    write(folder.path(), "glsl/step.glsl", "const uint STEP = 3u;\n");
    let head =
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"step.glsl\"\n";
    let kernel = KERNEL.replace("#version 450\n", head).replace("3u", "STEP");
    write(folder.path(), "glsl/both.comp", kernel.replace("5u", "FACTOR"));
    let mutation =
        run_json(vkcert().arg("mutate").arg(folder.path()).args(["--operator", "LIT"]), 0);
    let of_file = |file: &str| -> Vec<&Value> {
        mutants(&mutation, "both").iter().filter(|mutant| mutant["file"] == file).collect()
    };
    for file in ["glsl/step.glsl", "<defines>"] {
        let made = of_file(file);
        assert_eq!(made.len(), 4, "{file}: {mutation:#}");
        // 0, 1, one more and one less: each makes other sums or products.
        assert!(made.iter().all(|mutant| mutant["status"] == "killed"), "{file}: {made:#?}");
    }
}
