//! Time and memory of everything that is done with a kernel's text: `cargo run --release --example
//! large_kernel [N]` prints, for generated kernels of N decisions in six shapes, milliseconds per
//! step and the process's peak memory. Without N: 100, 1,000 and 10,000, each in a process of its
//! own. `large_kernel N SHAPE DIR` writes such a kernel as a project, and as a procedure
//! (`run.json`) for `vkcert run`; SHAPE is 0 to 3, or 4 and 5 for kernels of N lines without
//! decisions.

#[path = "../tests/support/large_kernel.rs"]
mod large_kernel;
#[path = "../tests/support/whole_path.rs"]
mod whole_path;

use large_kernel::Shape;

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0)
        / 1024
}

/// One requirement, one test that runs the kernel and expects nothing of its output.
const REQUIREMENTS: &str = r#"schema = 1
[[requirement]]
uid = "HLR-LARGE-001"
level = "HLR"
title = "Large"
statement = "The software shall work on 64 samples."
verification = ["test"]

[[requirement]]
uid = "LLR-LARGE-001"
level = "LLR"
title = "Large"
statement = "The kernel shall end."
parents = [{ uid = "HLR-LARGE-001" }]
verification = ["test"]
implements = [{ file = "glsl/large.comp", symbol = "main" }]

[[test]]
id = "TC-LARGE-01"
title = "Large"
kind = "normal"
requirements = ["LLR-LARGE-001"]
buffers.source = { type = "int", count = 64, fill = { random = { seed = 7, min = -100, max = 100 } } }
buffers.target = { type = "int", count = 64, fill = { constant = 0 } }

[[test.dispatches]]
kernel = "large"
groups = [2, 1, 1]
bindings = [{ set = 0, binding = 0, buffer = "source" }, { set = 0, binding = 1, buffer = "target" }]
push_constants = { mode = 1 }
"#;

const PROCEDURE: &str = r#"{ "schema": 1,
  "kernels": { "large": { "source": "glsl/large.comp", "language": "glsl", "entry": "main", "target_env": "vulkan1.3" } },
  "tests": [ { "id": "TC-LARGE-01", "requirements": ["LLR-LARGE-001"],
    "buffers": { "source": { "type": "int", "count": 64, "fill": { "random": { "seed": 7, "min": -100, "max": 100 } } },
                 "target": { "type": "int", "count": 64, "fill": { "constant": 0 } } },
    "dispatches": [ { "kernel": "large", "groups": [2, 1, 1], "push_constants": { "mode": 1 },
        "bindings": [ { "set": 0, "binding": 0, "buffer": "source" }, { "set": 0, "binding": 1, "buffer": "target" } ] } ],
    "expect": [] } ] }
"#;

const SETTINGS: &str = "schema = 1\nname = \"large\"\nlevel = \"A\"\n\n[[kernel]]\nname = \"large\"\nsource = \"glsl/large.comp\"\n";

fn write_project(folder: &std::path::Path, text: &str) -> std::io::Result<()> {
    for name in ["glsl", "requirements"] {
        std::fs::create_dir_all(folder.join(name))?;
    }
    std::fs::write(folder.join("vkcert.toml"), SETTINGS)?;
    std::fs::write(folder.join("requirements/large.toml"), REQUIREMENTS)?;
    std::fs::write(folder.join("glsl/large.comp"), text)?;
    std::fs::write(folder.join("run.json"), PROCEDURE)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [number, shape, folder] = arguments.as_slice() {
        let decisions: usize = number.parse().expect("a number of decisions");
        let shape = Shape::ALL[shape.parse::<usize>().expect("a shape's number")];
        let text = large_kernel::kernel(shape, decisions, 1);
        write_project(std::path::Path::new(folder), &text).expect("a folder that can be written");
        return;
    }
    if let [number, shape] = arguments.as_slice() {
        let decisions: usize = number.parse().expect("a number of decisions");
        let shape = Shape::ALL[shape.parse::<usize>().expect("a shape's number")];
        let text = large_kernel::kernel(shape, decisions, 1);
        let (lines, bytes) = (text.lines().count(), text.len());
        let taken = whole_path::take(&text);
        assert!(taken.decisions >= shape.decisions(decisions), "{} decisions", taken.decisions);
        let total: f64 = taken.steps.iter().map(|(_, seconds)| seconds).sum();
        let steps: Vec<String> = taken
            .steps
            .iter()
            .map(|(name, seconds)| format!("{name} {:.0}", seconds * 1e3))
            .collect();
        println!(
            "{shape:?}: {} decisions, {lines} lines, {bytes} bytes: {:.2} s, {} MB ({} ms)",
            taken.decisions,
            total,
            peak_megabytes(),
            steps.join(", ")
        );
        return;
    }
    let program = std::env::current_exe().expect("this program");
    for number in ["100", "1000", "10000"] {
        for shape in 0..Shape::ALL.len() {
            let ended =
                std::process::Command::new(&program).args([number, &shape.to_string()]).status();
            assert!(
                ended.is_ok_and(|status| status.success()),
                "{number} decisions, shape {shape}"
            );
        }
    }
}
