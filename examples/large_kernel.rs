//! Time and memory of everything that is done with a kernel's text: `cargo run --release --example large_kernel [N]`
//! prints, for generated kernels of N decisions in three shapes, milliseconds per step and the process's peak memory.
//! Without N: 100, 1,000 and 10,000, each in a process of its own.

#[path = "../tests/support/large_kernel.rs"]
mod large_kernel;
#[path = "../tests/support/whole_path.rs"]
mod whole_path;

use large_kernel::Shape;

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [number, shape] = arguments.as_slice() {
        let decisions: usize = number.parse().expect("a number of decisions");
        let shape = Shape::ALL[shape.parse::<usize>().expect("a shape's number")];
        let text = large_kernel::kernel(shape, decisions, 1);
        let (lines, bytes) = (text.lines().count(), text.len());
        let taken = whole_path::take(&text);
        let total: f64 = taken.steps.iter().map(|(_, seconds)| seconds).sum();
        let steps: Vec<String> =
            taken.steps.iter().map(|(name, seconds)| format!("{name} {:.0}", seconds * 1e3)).collect();
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
            let ended = std::process::Command::new(&program).args([number, &shape.to_string()]).status();
            assert!(ended.is_ok_and(|status| status.success()), "{number} decisions, shape {shape}");
        }
    }
}
