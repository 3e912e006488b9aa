//! Differential tests: every kernel of `tests/kernels` gives the expected values on both engines,
//! without a finding.
//!
//! The expected values were computed apart from the kernels, from the definition of each function.
//! Needs a Vulkan device (`make setup` installs one in software); its absence is a failure here,
//! not a pass.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn run(file: &Path, engine: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vkcert"))
        .args(["run", "--format", "json", "--engine", engine])
        .arg(file)
        .output()
        .expect("the program starts")
}

/// Results of all tests of a procedure file, with exit code 0 demanded.
fn passed_results(file: &Path, engine: &str) -> Vec<Value> {
    let output = run(file, engine);
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{}\n{text}\n{errors}", file.display());
    let document: Value =
        serde_json::from_str(&text).expect("standard output is one JSON document");
    document["tests"].as_array().expect("a list of results").clone()
}

fn passes_on_both_engines(kernel: &str) {
    let results = passed_results(&folder("kernels").join(format!("{kernel}.toml")), "both");
    for engine in ["sequential", "vulkan"] {
        let of_engine: Vec<&Value> =
            results.iter().filter(|result| result["engine"] == engine).collect();
        assert!(!of_engine.is_empty(), "no result of the {engine} engine");
        for result in of_engine {
            assert_eq!(result["verdict"], "pass", "{result}");
            assert_eq!(result["findings"].as_array().map(Vec::len), Some(0), "{result}");
        }
    }
}

/// One test per kernel, so that they run side by side and fail apart.
macro_rules! kernels {
    ($($kernel:ident),* $(,)?) => {
        $(
            #[test]
            fn $kernel() {
                passes_on_both_engines(stringify!($kernel));
            }
        )*
        const KERNELS: &[&str] = &[$(stringify!($kernel)),*];
    };
}

kernels!(
    bitonic_step,
    fir,
    interpolation,
    matrix_vector,
    prefix_sum,
    reduction,
    saturate,
    sobel,
    stencil,
    tracker,
    transpose,
    voter,
);

#[test]
fn every_procedure_file_of_the_folder_has_a_test_here() {
    let mut found: Vec<String> = std::fs::read_dir(folder("kernels"))
        .expect("the folder exists")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, KERNELS);
}

#[test]
fn a_loop_longer_than_a_device_executes_passes_on_the_sequential_engine() {
    let results = passed_results(&folder("device").join("long_loop.toml"), "sequential");
    assert!(results.iter().all(|result| result["verdict"] == "pass"), "{results:?}");
}
