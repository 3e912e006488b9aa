//! Kernels as C++ programs: what clang's programs leave and what clang counts of their decisions is what the engines
//! say.
//!
//! Needs clang 19 (`vkcert doctor` says how to install it). Without it the tests say that they did not run; with
//! `VKCERT_REQUIRE_CLANG` set that is a failure.

mod filetest;
mod support;

use filetest::FileTest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::random_kernel::{Dice, INPUTS, LOCAL_SIZE, random_kernel};
use support::{root, run, run_json, vkcert, write};
use vkcert::dissimilar::clang::{Ran, Toolchain};
use vkcert::dissimilar::{interface, job};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Completion, Executor, Job, Unobserved};
use vkcert::glsl::KernelSource;
use vkcert::glsl::cpp::{self, Program};
use vkcert::model::finding::FindingKind;
use vkcert::spirv::module::Module;

/// The tools; none where they are not there and nobody demands them, which is told.
fn clang() -> Option<Toolchain> {
    match Toolchain::find() {
        Ok(tools) => Some(tools),
        Err(missing) => {
            assert!(std::env::var_os("VKCERT_REQUIRE_CLANG").is_none(), "{missing}");
            eprintln!("NOT RUN: {missing}");
            None
        }
    }
}

fn rows<'a>(result: &'a Value, name: &str) -> &'a Vec<Value> {
    result[name].as_array().expect("a list")
}

/// Reasons for which conditions were not compared, with their number.
fn unmeasured(result: &Value) -> BTreeMap<&str, usize> {
    let mut reasons = BTreeMap::new();
    for row in rows(result, "conditions").iter().filter(|row| row["agreement"] == "not-measured") {
        *reasons.entry(row["reason"].as_str().unwrap()).or_insert(0) += 1;
    }
    reasons
}

fn outputs_are_identical(result: &Value) {
    for row in rows(result, "outputs") {
        assert_eq!(row["sequential"]["is"], "identical", "{row:#}");
        // Where no device is found, nothing was compared with it.
        assert!(row["device"]["is"] == "identical" || result["device"].is_null(), "{row:#}");
    }
}

#[test]
fn every_vector_of_the_demonstration_is_measured_alike_three_times() {
    if clang().is_none() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let result = run_json(vkcert().arg("dissimilar").arg(root()).arg("--out").arg(out.path()), 0);
    outputs_are_identical(&result);
    let kernels: BTreeSet<&str> = rows(&result, "kernels").iter().map(|row| row["kernel"].as_str().unwrap()).collect();
    assert_eq!(kernels, BTreeSet::from(["convolution", "histogram", "matmul_naive", "matmul_tiled"]));
    for kernel in rows(&result, "kernels") {
        assert_eq!(kernel["warnings"], serde_json::json!([]), "{kernel:#}");
    }
    for row in rows(&result, "conditions") {
        assert_eq!(row["agreement"], "agrees", "{row:#}");
        assert!(!row["vectors"]["clang"].as_array().unwrap().is_empty(), "{row:#}");
    }
    let stored: Value =
        serde_json::from_slice(&std::fs::read(out.path().join("dissimilar.json")).unwrap()).expect("JSON is stored");
    assert_eq!(stored["summary"], result["summary"]);
    let table = std::fs::read_to_string(out.path().join("dissimilar.md")).unwrap();
    assert_eq!(table.matches("| agrees ").count(), rows(&result, "conditions").len());
    assert!(out.path().join("dissimilar/matmul_tiled.cpp").is_file());
}

/// What clang does not measure is known by reason and number; everything else agrees.
#[test]
fn the_differential_kernels_agree_but_for_what_clang_cannot_measure() {
    if clang().is_none() {
        return;
    }
    let mut files: Vec<_> =
        std::fs::read_dir(root().join("tests/kernels")).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let (mut reasons, mut conditions): (BTreeMap<String, usize>, usize) = Default::default();
    for file in &files {
        let result = run_json(vkcert().arg("dissimilar").arg(file), 0);
        outputs_are_identical(&result);
        assert_eq!(result["summary"]["disagree"], 0, "{}: {result:#}", file.display());
        conditions += rows(&result, "conditions").len();
        for (reason, count) in unmeasured(&result) {
            *reasons.entry(reason.to_owned()).or_insert(0) += count;
        }
    }
    assert_eq!(files.len(), 12, "every kernel is translated");
    let expected = [
        ("`^^` has no counterpart in C++ (`!=` is one condition)", 5),
        ("a value without a branch: clang counts branches alone", 6),
    ];
    assert_eq!(reasons, expected.map(|(reason, count)| (reason.to_owned(), count)).into());
    println!("{} kernels, {conditions} conditions, not measured: {reasons:?}", files.len());
}

fn source(text: &str) -> KernelSource {
    KernelSource::alone("text.comp", text, "vulkan1.1")
}

/// A loop around barriers that is left and continued, branches around them, everything that is kept across.
#[test]
fn regions_around_barriers_are_measured_alike() {
    if clang().is_none() {
        return;
    }
    let result = run_json(vkcert().arg("dissimilar").arg(root().join("tests/dissimilar/regions.toml")), 0);
    outputs_are_identical(&result);
    assert!(rows(&result, "conditions").iter().all(|row| row["agreement"] == "agrees"), "{result:#}");
}

/// Figure 5 of the first paper: the program finds its barrier in non-uniform control flow by itself.
#[test]
fn a_barrier_in_non_uniform_control_flow_stops_the_program() {
    if clang().is_none() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/paper_defects");
    let mut command = vkcert();
    command.arg("dissimilar").arg(project).args(["--engine", "sequential", "--out"]).arg(out.path());
    let result = run_json(&mut command, 1);
    let stopped: Vec<&Value> =
        rows(&result, "outputs").iter().filter(|row| row["sequential"]["is"] == "stopped").collect();
    let [one] = stopped.as_slice() else { panic!("{result:#}") };
    let why = one["sequential"]["why"].as_str().unwrap();
    assert!(why.starts_with("barrier divergence") && why.ends_with("matmul_guarded.comp:33"), "{why}");
}

/// The program of a text, its specialization as given.
fn translated(text: &str, specialization: &BTreeMap<u32, u64>) -> Result<Program, String> {
    let source = source(text);
    let compiled = vkcert::glsl::compile(&source).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let module = Module::parse(compiled.marked).unwrap();
    let interface = interface::interface(&module, "main", specialization)?;
    cpp::emit(&source, &interface, "").map_err(|unsupported| unsupported.to_string())
}

/// Builds and runs a program with the data of a job.
fn ran(tools: &Toolchain, program: &str, job: &Job) -> Result<Ran, String> {
    let folder = tempfile::tempdir().unwrap();
    let contents: Vec<Vec<u8>> = job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
    let text = job::text(job, 0..job.dispatches.len(), &contents)?;
    let built = match tools.build(folder.path(), program) {
        Ok(built) => built,
        Err(error) if error.starts_with("a constant of the kernel is undefined") => return Ok(Ran::Stopped(error)),
        Err(error) => panic!("{}: {error}", job.name),
    };
    let file = write(folder.path(), "job", text);
    tools.run(&built, &file, &folder.path().join("counts.profraw"))
}

/// Findings that the C++ program stops at.
const STOPS: [FindingKind; 3] = [FindingKind::OutOfBounds, FindingKind::UndefinedValue, FindingKind::BarrierDivergence];

/// What one file test showed.
#[derive(Debug)]
enum Shown {
    Identical,
    Stopped,
    /// The engine found what makes any output right.
    Open,
    Unsupported(String),
}

fn compare_file_test(tools: &Toolchain, path: &Path) -> Shown {
    let text = std::fs::read_to_string(path).unwrap();
    let test = FileTest::read(&shaderc::Compiler::new().unwrap(), path);
    let job = test.job();
    let program = match translated(&text, &job.dispatches[0].specialization) {
        Ok(program) => program,
        Err(what) => return Shown::Unsupported(what),
    };
    let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
    let found: BTreeSet<FindingKind> = ours.findings.iter().map(|finding| finding.kind).collect();
    let theirs = match ran(tools, &program.text, &job) {
        Ok(theirs) => theirs,
        Err(what) => return Shown::Unsupported(what),
    };
    match theirs {
        Ran::Completed(text) if found.is_empty() && ours.completion == Completion::Completed => {
            let theirs = job::outputs(&text, job.buffers.len()).unwrap();
            assert_eq!(theirs, ours.buffers, "{}\n{}", path.display(), program.text);
            assert_eq!(test.mismatches(&theirs), Vec::<String>::new(), "{}", path.display());
            Shown::Identical
        }
        Ran::Completed(_) => {
            assert!(found.iter().all(|kind| !STOPS.contains(kind)), "{}: {:#?}", path.display(), ours.findings);
            Shown::Open
        }
        Ran::Stopped(reason) => {
            let due = found.iter().any(|kind| STOPS.contains(kind) || *kind == FindingKind::UninitializedRead);
            assert!(due, "{}: {reason}: {:#?}", path.display(), ours.findings);
            Shown::Stopped
        }
    }
}

/// Small kernels for everything that the sequential engine does: identical, stopped where the engine has a finding, or
/// unsupported by name.
#[test]
fn file_tests_leave_the_same_bytes_or_are_unsupported_by_name() {
    let Some(tools) = clang() else { return };
    // Kernels that never end, or that are beyond a limit of the engine, have nothing to compare.
    let left_out = ["endless_loop", "function_array_too_large", "register_value_too_large"];
    let mut paths: Vec<_> =
        std::fs::read_dir(root().join("tests/filetests/run")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "comp"));
    paths.retain(|path| !left_out.contains(&&*path.file_stem().unwrap().to_string_lossy()));
    // What orders memory between invocations is nothing to a program that runs one after the other.
    paths.retain(|path| !path.file_stem().unwrap().to_string_lossy().starts_with("order_"));
    paths.sort();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let shown = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let one = compare_file_test(&tools, path);
                    shown.lock().unwrap().insert(path.file_stem().unwrap().to_string_lossy().into_owned(), one);
                }
            });
        }
    });
    let shown = shown.into_inner().unwrap();
    let count = |wanted: fn(&Shown) -> bool| shown.values().filter(|one| wanted(one)).count();
    let identical = count(|one| matches!(one, Shown::Identical));
    let stopped = count(|one| matches!(one, Shown::Stopped));
    let open = count(|one| matches!(one, Shown::Open));
    let unsupported: Vec<_> = shown.iter().filter(|(_, one)| matches!(one, Shown::Unsupported(_))).collect();
    for (name, one) in &shown {
        let Shown::Unsupported(what) = one else { continue };
        let placed = what.contains(" at text.comp:") || what.contains("descriptor") || what.contains("local size");
        assert!(placed, "{name}: {what}");
    }
    println!(
        "{identical} identical, {stopped} stopped, {open} open, {} unsupported: {unsupported:#?}",
        unsupported.len()
    );
    assert_eq!(shown.len(), paths.len());
    assert!(identical >= 26 && stopped >= 13 && unsupported.len() <= 23, "{shown:#?}");
}

/// Random kernels with nested decisions, workgroup memory and barriers: outputs, verdicts and vectors.
#[test]
fn random_kernels_are_measured_alike() {
    if clang().is_none() {
        return;
    }
    let count: u64 = std::env::var("VKCERT_DISSIMILAR_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(8);
    let folder = tempfile::tempdir().unwrap();
    let mut procedure = "schema = 1\n".to_owned();
    for seed in 1..=count {
        write(folder.path(), &format!("random{seed}.comp"), random_kernel(seed).text);
        procedure.push_str(&random_test(seed));
    }
    let file = write(folder.path(), "random.toml", procedure);
    let output = vkcert().args(["dissimilar", "--format", "json"]).arg(&file).output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    // A driver that is known to run a kernel wrongly is alone against the other two.
    let known: BTreeSet<String> = include_str!("agreement_known.txt")
        .lines()
        .filter_map(|line| line.split(" | ").next().and_then(|seed| seed.parse::<u64>().ok()))
        .map(|seed| format!("random{seed}"))
        .collect();
    for row in rows(&result, "conditions").iter().filter(|row| row["agreement"] == "disagrees") {
        assert!(
            known.contains(row["kernel"].as_str().unwrap()) && row["reason"] == "the device alone differs",
            "{row:#}"
        );
    }
    for row in rows(&result, "outputs") {
        assert_eq!(row["sequential"]["is"], "identical", "{row:#}");
        let alike = row["device"]["is"] == "identical" || result["device"].is_null();
        if !alike {
            println!("{}: {}", row["test"], row["device"]);
        }
        assert!(alike || known.contains(row["kernels"][0].as_str().unwrap()), "{row:#}");
    }
    println!("{:#}\nnot measured: {:#?}", result["summary"], unmeasured(&result));
    assert!(result["summary"]["agree"].as_u64().unwrap() > 5 * count);
}

fn random_test(seed: u64) -> String {
    const GROUPS: u32 = 2;
    let mut dice = Dice(seed ^ 0xABCD);
    let inputs: Vec<String> = (0..INPUTS).map(|_| (dice.roll() % 40).to_string()).collect();
    let (p0, p1) = (dice.roll() % 12, (dice.roll() % 12) as i32 - 4);
    let (p2, s0) = ((dice.roll() % 16) as f32 * 0.5, dice.roll() % 7);
    format!(
        "[kernels.random{seed}]\nsource = \"random{seed}.comp\"\n\
         [[tests]]\nid = \"TC-{seed}\"\nkind = \"normal\"\n\
         buffers.input = {{ type = \"uint\", data = [{}] }}\n\
         buffers.output = {{ type = \"uint\", count = {}, fill = {{ constant = 0 }} }}\n\
         buffers.counter = {{ type = \"uint\", data = [0] }}\n\
         [[tests.dispatches]]\nkernel = \"random{seed}\"\ngroups = [{GROUPS}, 1, 1]\n\
         bindings = [{{ set = 0, binding = 0, buffer = \"input\", class = \"storage\" }}, \
         {{ set = 0, binding = 1, buffer = \"output\", class = \"storage\" }}, \
         {{ set = 0, binding = 2, buffer = \"counter\", class = \"storage\" }}]\n\
         push_constants = {{ p0 = {p0}, p1 = {p1}, p2 = {p2:?} }}\n\
         specialization = {{ \"0\" = {{ type = \"uint\", value = {s0} }} }}\n",
        inputs.join(", "),
        GROUPS * LOCAL_SIZE,
    )
}

#[test]
fn what_has_no_counterpart_is_unsupported_by_name_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let head = "#version 450\nlayout(local_size_x = 4) in;\nlayout(std430, binding = 0) buffer R { uint r[]; };\n";
    for (body, what) in [
        ("void main() { mat2 m = mat2(1.0); r[0] = uint(m[0][0]); }", "the type `mat2`"),
        ("void main() { double d = 1.0LF; r[0] = uint(d); }", "the type `double`"),
        ("void main() { r[0] = uint(sin(1.0)); }", "the function `sin`"),
        (
            "void share() { barrier(); }\nvoid main() { share(); r[0] = 1u; }",
            "the function `share`, which holds a barrier",
        ),
        ("void main() { uint i = 0u; r[i++] = i; }", "an expression whose value depends on the order of evaluation"),
        (
            "void both(inout uint a, inout uint b) { a = 1u; b = 2u; }\nvoid main() { uint i = 0u; both(i, i); r[0] = i; }",
            "a call that writes parts of one variable twice",
        ),
        (
            "uint next() { r[1] += 1u; return r[1]; }\nvoid main() { r[0] = next() + r[1]; }",
            "an expression whose value depends on the order of evaluation",
        ),
        (
            "shared uint s;\nvoid main() { s = 1u; r[0] = atomicAdd(s, 1u) - atomicAdd(s, 1u); }",
            "an expression whose value depends on the order of evaluation",
        ),
        ("uint x = 1u;\nvoid main() { uint x = x + 1u; r[0] = x; }", "`x` in its own initialiser"),
        (
            "void main() { switch (r[0]) { case 0u: barrier(); break; default: r[0] = 1u; } }",
            "a barrier inside a switch",
        ),
    ] {
        let file = write(folder.path(), "kernel.comp", format!("{head}{body}\n"));
        let output = run(vkcert().arg("lower").arg(&file).args(["--emit", "cpp"]), 4);
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("unsupported: {what}")), "{body}\n{said}");
        assert!(said.replace(' ', "").contains("kernel.comp:"), "{said}");
    }
}

const TWO_REGIONS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer R { uint r[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint mine = r[i];
    for (uint round = 0u; round < 3u; ++round) {
        s[i] = mine + round;
        barrier();
        mine += s[3u - i];
        barrier();
    }
    r[i] = mine;
}
";

fn small_job(words: &[u32]) -> Job {
    let mut test = FileTest { groups: [1; 3], ..FileTest::default() };
    let class = vkcert::model::procedure::DescriptorClass::Storage;
    let words_in = (1..=4).map(Some).collect();
    test.buffers.push(filetest::Buffer { binding: 0, class, words: words_in, range: None });
    test.words = words.to_vec();
    test.job()
}

/// The comparison can fail: figure 6 of the published sequential version, and other mistakes that an emitter could
/// make, leave other bytes than the engine.
#[test]
fn mistakes_of_the_emitter_would_be_seen() {
    let Some(tools) = clang() else { return };
    let words = filetest::compile("two", TWO_REGIONS);
    let job = small_job(&words);
    let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
    assert!(ours.findings.is_empty(), "{:#?}", ours.findings);
    let program = translated(TWO_REGIONS, &BTreeMap::new()).unwrap().text;
    let left = |text: &str| match ran(&tools, text, &job) {
        Ok(Ran::Completed(text)) => Ok(job::outputs(&text, 1).unwrap()),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(left(&program).as_ref(), Ok(&ours.buffers), "{program}");
    let consuming = program.split("// Region from ").find(|part| part.contains("mine += s[")).unwrap();
    let consuming = consuming.split("all_here").next().unwrap();
    for (what, wrong) in [
        // All rounds are loaded before any is consumed: the consuming region stands behind the loop.
        (
            "figure 6",
            program.replacen(consuming, "\n", 1).replace(
                "    // Region from text.comp:14",
                &format!("    // {consuming}\n    // Region from text.comp:14"),
            ),
        ),
        ("no variable per invocation", program.replace("auto &mine = self.mine;", "static Uint mine;")),
        (
            "a region that only the first invocation runs",
            program.replace("mine += s[3_u - i];", "if (local_x == 0) mine += s[3_u - i];"),
        ),
        ("another literal", program.replace("round < 3_u", "round < 2_u")),
    ] {
        assert_ne!(wrong, program, "{what}: nothing was replaced\n{program}");
        assert_ne!(left(&wrong).ok().as_ref(), Some(&ours.buffers), "{what} is not seen\n{wrong}");
    }
}

/// Programs in one, so that the header is compiled once.
struct Together {
    folder: tempfile::TempDir,
    program: std::path::PathBuf,
}

impl Together {
    fn build(programs: &[String]) -> Self {
        let header = programs[0].split("namespace kernel {").next().unwrap();
        let mut text = header.to_owned();
        let mut cases = String::new();
        for (number, program) in programs.iter().enumerate() {
            let kernel =
                program.split("namespace kernel {").nth(1).unwrap().split("} // namespace kernel").next().unwrap();
            text += &format!(
                "namespace kernel_{number} {{{}}}\n",
                kernel.replace("kernel::", &format!("kernel_{number}::"))
            );
            cases += &format!("case {number}: vkcert::run_job(job, kernel_{number}::dispatch); break;\n");
        }
        text += "int main(int, char **arguments) {\nstd::ifstream job(arguments[2]);\n";
        text += &format!("switch (std::atoi(arguments[1])) {{\n{cases}}}\n}}\n");
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (write(folder.path(), "all.cpp", text), folder.path().join("all"));
        let mut command = std::process::Command::new("clang++-19");
        run(command.args(["-std=c++17", "-ffp-contract=off", "-o"]).arg(&program).arg(&source), 0);
        Self { folder, program }
    }

    fn run(&self, number: usize, job: &Job) -> Ran {
        let contents: Vec<Vec<u8>> = job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let text = job::text(job, 0..job.dispatches.len(), &contents).unwrap();
        let file = write(self.folder.path(), "job", text);
        let left = std::process::Command::new(&self.program).arg(number.to_string()).arg(file).output().unwrap();
        let said = String::from_utf8(left.stderr).unwrap();
        match left.status.code() {
            Some(0) => Ran::Completed(String::from_utf8(left.stdout).unwrap()),
            Some(3) => Ran::Stopped(said.trim().strip_prefix("stopped: ").unwrap().to_owned()),
            code => panic!("{code:?}: {said}"),
        }
    }
}

/// Control flow around barriers, with what it comes to.
struct Flow(&'static str, &'static str, Meeting);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meeting {
    /// All invocations meet at every barrier.
    All,
    /// Some barrier is reached by some of them.
    Some,
}

const FLOWS: &[Flow] = &[
    Flow(
        "continue by some behind the barrier",
        "for (uint k = 0u; k < 2u; k++) { barrier(); if (i == 0u) continue; s[i] += 1u; }",
        Meeting::All,
    ),
    Flow(
        "continue by some between barriers and behind the last",
        "for (uint k = 0u; k < 3u; k++) { barrier(); uint n = s[(i + 1u) & 3u]; barrier(); if (n > 2u && i < 2u || k == 1u) s[i] += n; else continue; mine += 1u; }",
        Meeting::All,
    ),
    Flow(
        "continue by some before the barrier",
        "for (uint k = 0u; k < 2u; k++) { if (i == 0u) continue; barrier(); s[i] += 1u; }",
        Meeting::Some,
    ),
    Flow(
        "continue by some between two barriers",
        "for (uint k = 0u; k < 2u; k++) { barrier(); if (i == 0u) continue; barrier(); }",
        Meeting::Some,
    ),
    Flow(
        "continue by all before the barrier",
        "for (uint k = 0u; k < 3u; k++) { if (k == 1u) continue; barrier(); s[i] += k; }",
        Meeting::All,
    ),
    Flow(
        "break by all",
        "for (uint k = 0u;; k++) { barrier(); s[i] += k; if (k == 2u) break; barrier(); }",
        Meeting::All,
    ),
    Flow(
        "break by some in the last iteration",
        "for (uint k = 0u; k < 2u; k++) { barrier(); if (k == 1u && i == 0u) break; s[i] += 1u; }",
        Meeting::All,
    ),
    Flow(
        "break by some before the last iteration",
        "for (uint k = 0u; k < 2u; k++) { barrier(); if (k == 0u && i == 0u) break; s[i] += 1u; }",
        Meeting::Some,
    ),
    Flow(
        "return by some behind the last barrier",
        "for (uint k = 0u; k < 2u; k++) { barrier(); r[i] = k; if (k == 1u && i == 0u) return; s[i] += 1u; }",
        Meeting::All,
    ),
    Flow(
        "return by some before a barrier",
        "for (uint k = 0u; k < 2u; k++) { barrier(); r[i] = k; if (i == 0u) return; s[i] += 1u; }",
        Meeting::Some,
    ),
    Flow(
        "return by all, each in its own way",
        "for (uint k = 0u;; k++) { barrier(); r[i] = k; if (i == 0u) return; if (i == 1u) break; if (k == 0u) { r[i] = 9u; return; } } s[i] = 7u;",
        Meeting::All,
    ),
    Flow(
        "while, continue by some behind",
        "uint k = 0u; while (k < 3u) { k++; barrier(); if (i > k) continue; s[i] += k; }",
        Meeting::All,
    ),
    Flow(
        "while, continue by some before",
        "uint k = 0u; while (k < 3u) { k++; if (i > k) continue; barrier(); s[i] += k; }",
        Meeting::Some,
    ),
    Flow(
        "do while, continue by some behind",
        "uint k = 0u; do { barrier(); k++; if (i == k) continue; s[i] += k; } while (k < 3u);",
        Meeting::All,
    ),
    Flow(
        "do while, continue by some before",
        "uint k = 0u; do { k++; if (i == k) continue; barrier(); s[i] += k; } while (k < 3u);",
        Meeting::Some,
    ),
    Flow("do while, conditions that differ", "uint k = 0u; do { barrier(); k++; } while (k <= i);", Meeting::Some),
    Flow(
        "do while, break by some in the only iteration",
        "do { barrier(); if (i == 2u) break; s[i] += 1u; } while (false); barrier(); mine += s[3u - i];",
        Meeting::All,
    ),
    Flow(
        "an inner loop without a barrier",
        "for (uint k = 0u; k < 2u; k++) { barrier(); for (uint j = 0u; j < 4u; j++) { if (j == i) continue; if (j > i + 1u) break; s[i] += j; } barrier(); }",
        Meeting::All,
    ),
    Flow(
        "an inner loop without a barrier, then continue",
        "for (uint k = 0u; k < 2u; k++) { barrier(); uint j = 0u; while (true) { if (j > i) break; j++; } if (j == 2u) continue; s[i] += j; }",
        Meeting::All,
    ),
    Flow(
        "an inner loop with a barrier",
        "for (uint k = 0u; k < 2u; k++) { for (uint j = 0u; j < 2u; j++) { barrier(); if (i == j) continue; s[i] += 1u; } if (i == k) continue; s[i] += 10u; }",
        Meeting::All,
    ),
    Flow(
        "an inner loop with a barrier that some leave early",
        "for (uint k = 0u; k < 2u; k++) { for (uint j = 0u; j < 2u; j++) { barrier(); if (i == k) break; s[i] += 1u; } }",
        Meeting::Some,
    ),
    Flow(
        "an inner loop with a barrier behind continue by some",
        "for (uint k = 0u; k < 2u; k++) { if (i == k) continue; for (uint j = 0u; j < 2u; j++) { barrier(); } }",
        Meeting::Some,
    ),
    Flow(
        "an inner loop with a barrier that nobody comes to",
        "for (uint k = 0u; k < 2u; k++) { for (uint j = 2u; j < 2u; j++) { barrier(); } if (i == k) break; s[i] += 1u; }",
        Meeting::All,
    ),
    Flow(
        "a switch behind the barrier",
        "for (uint k = 0u; k < 2u; k++) { barrier(); switch (i) { case 0u: continue; case 1u: s[i] += 1u; break; default: s[i] += 2u; } s[i] += 4u; }",
        Meeting::All,
    ),
    Flow(
        "a switch before the barrier",
        "for (uint k = 0u; k < 2u; k++) { switch (i) { case 0u: continue; case 1u: s[i] += 1u; break; default: s[i] += 2u; } barrier(); }",
        Meeting::Some,
    ),
    Flow("a branch that some take", "if (i < 2u) { barrier(); s[i] += 1u; }", Meeting::Some),
    Flow("two branches with a barrier each", "if (i < 2u) { barrier(); } else { barrier(); }", Meeting::Some),
    Flow(
        "a branch that is left before its barrier",
        "if (i == 0u) { r[i] = 5u; if (mine > 0u) return; barrier(); } else s[i] += 3u;",
        Meeting::All,
    ),
    Flow(
        "a branch whose else only is left before its barrier",
        "for (uint k = 0u; k < 2u; k++) { if (i < 4u) { barrier(); s[i] += 1u; } else { barrier(); } if (i == 1u) continue; s[i] += 2u; }",
        Meeting::All,
    ),
    Flow(
        "trip counts that differ, and no barrier behind",
        "for (uint k = 0u; k < (i == 0u ? 1u : 2u); k++) { if (k == 1u) break; barrier(); s[i] += 1u; }",
        Meeting::All,
    ),
    Flow(
        "names that the program has itself",
        "uint ended = mine, awaits = 1u, meet = 2u, left_at = 3u; for (uint ends = 0u; ends < 2u; ends++) { barrier(); if (i == 0u) continue; ended += awaits + meet + left_at; } mine += ended;",
        Meeting::All,
    ),
];

/// Only a barrier that some invocations miss is divergence; everything else ends as the engine ends it.
#[test]
fn programs_stop_at_barriers_that_some_invocations_miss_and_nowhere_else() {
    if clang().is_none() {
        return;
    }
    let texts: Vec<String> = FLOWS.iter().map(Flow::text).collect();
    let translated =
        texts.iter().map(|text| translated(text, &BTreeMap::new()).unwrap_or_else(|what| panic!("{what}\n{text}")));
    let programs: Vec<String> = translated.map(|program| program.text).collect();
    let together = Together::build(&programs);
    for (number, Flow(name, _, meeting)) in FLOWS.iter().enumerate() {
        let job = small_job(&filetest::compile(name, &texts[number]));
        let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
        let found: BTreeSet<FindingKind> = ours.findings.iter().map(|finding| finding.kind).collect();
        let kernel = programs[number].split("// One workgroup").nth(1).unwrap_or_default();
        match (together.run(number, &job), meeting) {
            (Ran::Completed(left), Meeting::All) => {
                assert!(found.is_empty(), "{name}: {:#?}", ours.findings);
                assert_eq!(job::outputs(&left, 1).unwrap(), ours.buffers, "{name}\n{kernel}");
            }
            (Ran::Stopped(why), Meeting::Some) => {
                assert_eq!(found, BTreeSet::from([FindingKind::BarrierDivergence]), "{name}: {:#?}", ours.findings);
                assert!(why.starts_with("barrier divergence") && why.contains("text.comp:6"), "{name}: {why}");
            }
            (left, _) => panic!("{name}: {left:?}, but {meeting:?}\n{kernel}"),
        }
    }
}

impl Flow {
    fn text(&self) -> String {
        let Flow(_, body, _) = self;
        format!(
            "#version 450\nlayout(local_size_x = 4) in;\nlayout(std430, binding = 0) buffer R {{ uint r[]; }};\nshared uint s[4];\n\
             void main() {{ uint i = gl_LocalInvocationIndex, mine = r[i]; s[i] = i + 1u;\n{body}\nr[i] = mine * 100u + s[i]; }}\n"
        )
    }
}

/// What GLSL leaves undefined or open stops the program by name, in constant expressions too, where the compiler has
/// folded it for the engines.
#[test]
fn what_is_undefined_or_open_stops_the_program_by_name() {
    if clang().is_none() {
        return;
    }
    const NEGATIVE: &str = "a remainder of a negative number";
    const HALF: &str = "`round` of a half";
    let cases = [
        ("int x = int(r[0]); r[1] = uint(-x % 3);", Some(NEGATIVE)),
        ("int x = int(r[0]); r[1] = uint(7 % -x);", Some(NEGATIVE)),
        ("ivec2 x = ivec2(r[0]); x %= ivec2(1, -1); r[1] = uint(x.y);", Some(NEGATIVE)),
        ("int x = int(r[0]); r[1] = uint(7 % x);", None),
        ("r[1] = 0xFFFFFFFFu % (r[0] + 1u);", None),
        ("r[1] = uint((-7) % 3);", Some(NEGATIVE)),
        ("const int K = -7; r[1] = uint(K % 3);", Some(NEGATIVE)),
        ("r[1] = uint(round(float(r[0]) - 0.5));", Some(HALF)),
        ("r[1] = uint(round(vec2(1.0, -1.5) * float(r[0])).x);", Some(HALF)),
        ("r[1] = uint(round(0.5));", Some(HALF)),
        ("const float K = round(2.5); r[1] = uint(K);", Some(HALF)),
        ("r[1] = uint(round(float(r[0]) + 0.25) + roundEven(1.5) + round(8388609.0));", None),
    ];
    let text = |body: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer R {{ uint r[]; }};\nvoid main() {{ {body} }}\n"
        )
    };
    let programs = cases.map(|(body, _)| translated(&text(body), &BTreeMap::new()).unwrap().text);
    let together = Together::build(&programs);
    for (number, (body, due)) in cases.into_iter().enumerate() {
        let job = small_job(&filetest::compile("open", &text(body)));
        match (together.run(number, &job), due) {
            (Ran::Stopped(why), Some(due)) => assert!(why.starts_with(due), "{body}: {why}"),
            (Ran::Completed(left), None) => {
                let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
                assert_eq!(job::outputs(&left, 1).unwrap(), ours.buffers, "{body}");
            }
            (left, due) => panic!("{body}: {left:?}, not {due:?}"),
        }
    }
}

/// The table names what was undefined, and calls no output different for it.
#[test]
fn the_table_names_what_is_undefined_in_constants() {
    if clang().is_none() {
        return;
    }
    for (body, code, shown) in [
        ("const int K = -7; r[0] = K % 3;", 1, "0 different ones, in 1 a program stopped"),
        ("r[0] = (-7) % 3;", 1, "| STOPPED: a remainder of a negative number |"),
        (
            "const int K = -7; const int M = K % 3; r[0] = M;",
            4,
            "unsupported: a constant of the kernel is undefined: a remainder of a negative number",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let head = "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer R { int r[]; };\n";
        write(folder.path(), "constant.comp", format!("{head}void main() {{ {body} }}\n"));
        let procedure = "schema = 1\nkernels.constant.source = \"constant.comp\"\n\
             [[tests]]\nid = \"TC-1\"\nkind = \"normal\"\nbuffers.r = { type = \"int\", data = [0] }\n\
             [[tests.dispatches]]\nkernel = \"constant\"\ngroups = [1, 1, 1]\n\
             bindings = [{ set = 0, binding = 0, buffer = \"r\", class = \"storage\" }]\n";
        let file = write(folder.path(), "constant.toml", procedure);
        let mut command = vkcert();
        command.arg("dissimilar").arg(&file).args(["--engine", "sequential", "--out"]).arg(folder.path());
        run(&mut command, code);
        let table = std::fs::read_to_string(folder.path().join("dissimilar.md")).unwrap();
        assert!(table.contains(shown) && !table.contains("DIFFERENT"), "{body}\n{table}");
    }
}

/// Whatever a job holds, the program ends with exit code 3 and says which line is wrong.
#[test]
fn bad_jobs_end_with_a_message() {
    let Some(tools) = clang() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = translated(TWO_REGIONS, &BTreeMap::new()).unwrap();
    let built = tools.build(folder.path(), &program.text).unwrap();
    let run = |text: &str| {
        let file = write(folder.path(), "job", text);
        tools.run(&built, &file, &folder.path().join("counts.profraw"))
    };
    let words = "00".repeat(16);
    let good = format!("# four words\nbuffer 0 {words}\nbind 0 0 0 0 16\npush -\n\ndispatch 1 1 1\n");
    assert!(matches!(run(&good), Ok(Ran::Completed(_))), "{:?}", run(&good));
    let bound = format!("buffer 0 {words}\nbind 0 0 0 0 16\n");
    for (text, due) in [
        ("buffer 0 zz\n".to_owned(), "line 1 of the job: a character that is no hexadecimal digit"),
        ("buffer 0 0g\n".to_owned(), "a character that is no hexadecimal digit"),
        ("buffer 0 -1\n".to_owned(), "a character that is no hexadecimal digit"),
        ("buffer 0 000\n".to_owned(), "an odd number of hexadecimal digits"),
        ("buffer 0\n".to_owned(), "it is not complete"),
        ("buffer\n".to_owned(), "it is not complete"),
        ("buffer 1 00\n".to_owned(), "the buffers are not numbered in order"),
        ("buffer x 00\n".to_owned(), "a word that is no number"),
        ("buffer -1 00\n".to_owned(), "a word that is no number"),
        ("buffer 0 00 00\n".to_owned(), "more words than belong there"),
        ("push 0x00\n".to_owned(), "a character that is no hexadecimal digit"),
        ("\n\nbend 0 0 0 0 16\n".to_owned(), "line 3 of the job: it is not understood"),
        ("bind 0 0 0 0 16\n".to_owned(), "a binding of a buffer that is not there"),
        (format!("buffer 0 {words}\nbind 0 0 0 4 16\n"), "a binding beyond its buffer"),
        (format!("buffer 0 {words}\nbind 0 0 0 17 0\n"), "a binding beyond its buffer"),
        (format!("buffer 0 {words}\nbind 0 0 0 18446744073709551615 2\n"), "a binding beyond its buffer"),
        (format!("buffer 0 {words}\nbind 0 0 0 18446744073709551616 2\n"), "a number that is too large"),
        (format!("buffer 0 {words}\nbind 4294967296 0 0 0 16\n"), "a number that is too large"),
        (format!("buffer 0 {words}\ndispatch 1 1 1\n"), "the job binds no buffer to set 0, binding 0"),
        (format!("{bound}dispatch 4294967296 1 1\n"), "line 3 of the job: a number that is too large"),
        (format!("{bound}dispatch 1 1\n"), "it is not complete"),
        (format!("{bound}dispatch 1 1 -1\n"), "a word that is no number"),
        (format!("buffer 0 00\nbind 0 0 0 0 1\ndispatch 1 1 1\n"), "an access beyond a buffer"),
        (bound.clone(), "the job dispatches nothing"),
        (String::new(), "the job dispatches nothing"),
    ] {
        match run(&text) {
            Ok(Ran::Stopped(why)) => assert!(why.contains(due) && !why.contains('\n'), "{text}: {why}"),
            other => panic!("{text}: {other:?}, not {due}"),
        }
    }
}

/// Warnings of `-Wall -Wextra` are for mistakes of the program, not for what a kernel does not use.
#[test]
fn compilers_accept_programs_without_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let plain = "#version 450\nlayout(local_size_x = 4) in;\nlayout(std430, binding = 0) buffer R { uint r[]; };\n\
         uint unused(uint x) { uint y; return 1u; }\n\
         void main() { uint i = gl_LocalInvocationIndex, z; bool b; if (r[i] > 1u && i == 0u || i == 2u) r[i] = r[i] << 1u + i & 3u; r[i] == 1u; b = i == 1u; switch (i) { case 0u: z = 1u; default: z = 2u; } }\n";
    for (name, text) in [("regions.cpp", TWO_REGIONS), ("plain.cpp", plain)] {
        let file = write(folder.path(), name, translated(text, &BTreeMap::new()).unwrap().text);
        for compiler in ["clang++-19", "g++"] {
            let mut command = std::process::Command::new(compiler);
            command.args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"]).arg(&file);
            match command.output() {
                Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
                Err(error) => eprintln!("NOT RUN: {compiler}: {error}"),
            }
        }
    }
}

#[test]
fn a_program_with_embedded_data_prints_what_the_test_expects() {
    if clang().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = run(
        vkcert()
            .args(["lower", "saturate", "--emit", "cpp", "--test", "TC-SAT-01", "--procedure"])
            .arg(root().join("tests/kernels/saturate.toml")),
        0,
    );
    let source = write(folder.path(), "saturate.cpp", output.stdout);
    let program = folder.path().join("saturate");
    run(
        std::process::Command::new("clang++-19")
            .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(&source),
        0,
    );
    let printed = String::from_utf8(run(&mut std::process::Command::new(&program), 0).stdout).unwrap();
    let result = run_json(
        vkcert()
            .args(["run", "--engine", "sequential", "--dump-buffers", "--only", "TC-SAT-01"])
            .arg(root().join("tests/kernels/saturate.toml")),
        0,
    );
    let buffers = result["tests"][0]["buffers"].as_object().unwrap();
    let expected: Vec<Vec<u8>> = buffers.values().map(|text| decoded(text.as_str().unwrap())).collect();
    assert_eq!(job::outputs(&printed, expected.len()).unwrap(), expected);
}

fn decoded(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn without_clang_the_command_says_how_to_install_it() {
    let output = run(vkcert().arg("dissimilar").arg(root()).env("PATH", "/nonexistent"), 4);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("clang++-19") && said.contains("apt-get install clang-19 llvm-19 libclang-rt-19-dev"),
        "{said}"
    );
}
