//! Kernels as C++ programs: what clang's programs leave and what clang counts of their decisions is
//! what the engines say.
//!
//! Needs clang 19 (`vkcert doctor` says how to install it). Without it the tests say that they did
//! not run; with `VKCERT_REQUIRE_CLANG` set that is a failure.

#[path = "dissimilar/corpus.rs"]
mod corpus;
use crate::filetest;
use std::sync::Arc;
#[path = "dissimilar/forms.rs"]
mod forms;
#[path = "dissimilar/programs.rs"]
mod programs;
use crate::support;

use filetest::FileTest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::random_kernel::{Dice, INPUTS, LOCAL_SIZE, random_kernel};
use support::{root, run, run_json, vkcert, write};
use vkcert::dissimilar::clang::{ClangTools, RunOutcome};
use vkcert::dissimilar::{interface, job};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Completion, Executor, Job, Unobserved};
use vkcert::glsl::KernelSource;
use vkcert::glsl::cpp::{self, CppProgram};
use vkcert::model::finding::FindingKind;
use vkcert::spirv::module::Module;

/// The tools; none where they are not there and nobody demands them, which is told.
fn clang() -> Option<ClangTools> {
    match ClangTools::find_in_path() {
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
    rows(result, "outputs").iter().for_each(|row| output_is_identical(row, result));
}

fn output_is_identical(row: &Value, result: &Value) {
    assert_eq!(row["sequential"]["is"], "identical", "{row:#}");
    // Where no device is found, nothing was compared with it.
    assert!(row["device"]["is"] == "identical" || result["device"].is_null(), "{row:#}");
}

/// The kernel of the demonstration that has images, which programs do not have.
const KERNEL_WITH_IMAGES: &str = "bad_pixels";

#[test]
fn every_vector_of_the_demonstration_is_measured_alike_three_times() {
    if clang().is_none() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let result = run_json(vkcert().arg("dissimilar").arg(root()).arg("--out").arg(out.path()), 4);
    for row in rows(&result, "outputs") {
        if row["kernels"] == serde_json::json!([KERNEL_WITH_IMAGES]) {
            assert_eq!(row["sequential"]["is"], "unsupported", "{row:#}");
        } else {
            output_is_identical(row, &result);
        }
    }
    let kernels: BTreeSet<&str> =
        rows(&result, "kernels").iter().map(|row| row["kernel"].as_str().unwrap()).collect();
    let sources = std::fs::read_dir(root().join("glsl")).unwrap();
    let names: BTreeSet<String> = sources
        .map(|source| source.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(kernels, names.iter().map(String::as_str).collect());
    for kernel in rows(&result, "kernels") {
        assert_eq!(kernel["warnings"], serde_json::json!([]), "{kernel:#}");
        let is_unsupported = kernel["kernel"] == KERNEL_WITH_IMAGES;
        assert_eq!(!kernel["unsupported"].is_null(), is_unsupported, "{kernel:#}");
    }
    for row in rows(&result, "conditions") {
        assert_eq!(row["agreement"], "agrees", "{row:#}");
        assert!(!row["vectors"]["clang"].as_array().unwrap().is_empty(), "{row:#}");
    }
    let stored: Value =
        serde_json::from_slice(&std::fs::read(out.path().join("dissimilar.json")).unwrap())
            .expect("JSON is stored");
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
    let mut files: Vec<_> = std::fs::read_dir(root().join("tests/kernels"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
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

/// A loop around barriers that is left and continued, branches around them, everything that is kept
/// across.
#[test]
fn regions_around_barriers_are_measured_alike() {
    if clang().is_none() {
        return;
    }
    let result =
        run_json(vkcert().arg("dissimilar").arg(root().join("tests/dissimilar/regions.toml")), 0);
    outputs_are_identical(&result);
    assert!(
        rows(&result, "conditions").iter().all(|row| row["agreement"] == "agrees"),
        "{result:#}"
    );
}

/// Determinants and inverses are calculated in another way than the engine's: results differ, as
/// the specification permits.
#[test]
fn results_that_the_specification_permits_are_no_differences() {
    if clang().is_none() {
        return;
    }
    let result =
        run_json(vkcert().arg("dissimilar").arg(root().join("tests/dissimilar/bounds.toml")), 0);
    assert_eq!(rows(&result, "outputs")[0]["sequential"]["is"], "within-bounds", "{result:#}");
    assert_eq!(result["summary"]["outputs_within_bounds"], 1);
}

/// Figure 5 of the first paper: the program finds its barrier in non-uniform control flow by
/// itself.
#[test]
fn a_barrier_in_non_uniform_control_flow_stops_the_program() {
    if clang().is_none() {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let project = root().join("tests/projects/paper_defects");
    let mut command = vkcert();
    command
        .arg("dissimilar")
        .arg(project)
        .args(["--engine", "sequential", "--out"])
        .arg(out.path());
    let result = run_json(&mut command, 1);
    let stopped: Vec<&Value> = rows(&result, "outputs")
        .iter()
        .filter(|row| row["sequential"]["is"] == "stopped")
        .collect();
    let [one] = stopped.as_slice() else { panic!("{result:#}") };
    let why = one["sequential"]["why"].as_str().unwrap();
    assert!(
        why.starts_with("barrier divergence") && why.ends_with("matmul_guarded.comp:33"),
        "{why}"
    );
}

/// The program of a text, its specialization as given.
fn translated(text: &str, specialization: &BTreeMap<u32, u64>) -> Result<CppProgram, String> {
    translated_source(&source(text), specialization)
}

fn translated_source(
    source: &KernelSource,
    specialization: &BTreeMap<u32, u64>,
) -> Result<CppProgram, String> {
    let compiled = vkcert::glsl::compile(source)
        .unwrap_or_else(|errors| panic!("{errors:?}\n{}", source.text));
    let module = Module::parse(compiled.marked).unwrap();
    let interface = interface::kernel_interface(&module, "main", specialization)?;
    cpp::emit_program(source, &interface, "").map_err(|unsupported| unsupported.to_string())
}

/// Builds and runs a program with the data of a job.
fn ran(tools: &ClangTools, program: &str, job: &Job) -> Result<RunOutcome, String> {
    let folder = tempfile::tempdir().unwrap();
    let contents: Vec<_> = job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
    let text = job::job_text(job, 0..job.dispatches.len(), &contents, job::SUBGROUP_SIZE)?;
    let built = match tools.build_program(folder.path(), program) {
        Ok(built) => built,
        Err(error) if error.starts_with("a constant of the kernel is undefined") => {
            return Ok(RunOutcome::StoppedItself(error));
        }
        Err(error) => panic!("{}: {error}", job.name),
    };
    let file = write(folder.path(), "job", text);
    tools.run_program(&built, &file, &folder.path().join("counts.profraw"))
}

/// Findings that the C++ program stops at.
const STOPS: [FindingKind; 3] =
    [FindingKind::OutOfBounds, FindingKind::UndefinedValue, FindingKind::BarrierDivergence];

/// What one file test showed.
#[derive(Debug)]
enum Shown {
    Identical,
    Stopped,
    /// The engine found what makes any output right.
    Open,
    Unsupported(String),
    /// Something else than the engine says.
    #[allow(dead_code, reason = "read by Debug")]
    Wrong(String),
}

/// The environment that a file test is compiled for.
fn environment(test: &FileTest) -> &'static str {
    match test.environment {
        None => "vulkan1.1",
        Some(shaderc::EnvVersion::Vulkan1_2) => "vulkan1.2",
        Some(other) => panic!("{}: {other:?}", test.name),
    }
}

fn compare_file_test(tools: &ClangTools, path: &Path) -> Shown {
    let text = std::fs::read_to_string(path).unwrap();
    let test = FileTest::read(&shaderc::Compiler::new().unwrap(), path);
    let job = test.job();
    let source = KernelSource::alone("text.comp", text, environment(&test));
    let program = match translated_source(&source, &job.dispatches[0].specialization) {
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
        RunOutcome::Completed(text)
            if found.is_empty() && ours.completion == Completion::Completed =>
        {
            let theirs = job::parse_outputs(&text, job.buffers.len()).unwrap();
            let mismatches = test.mismatches(&theirs);
            if theirs == ours.buffers && mismatches.is_empty() {
                Shown::Identical
            } else {
                Shown::Wrong(format!("other bytes: {mismatches:?}"))
            }
        }
        RunOutcome::Completed(_) if found.iter().any(|kind| STOPS.contains(kind)) => {
            Shown::Wrong(format!("it goes on: {:#?}", ours.findings))
        }
        RunOutcome::Completed(_) => Shown::Open,
        RunOutcome::StoppedItself(reason) => {
            let due = found
                .iter()
                .any(|kind| STOPS.contains(kind) || *kind == FindingKind::UninitializedRead);
            if due {
                Shown::Stopped
            } else {
                Shown::Wrong(format!("{reason}: {:#?}", ours.findings))
            }
        }
    }
}

/// Small kernels for everything that the sequential engine does: identical, stopped where the
/// engine has a finding, or unsupported by name.
#[test]
fn file_tests_leave_the_same_bytes_or_are_unsupported_by_name() {
    let Some(tools) = clang() else { return };
    // Kernels that never end, or that are beyond a limit of the engine, have nothing to compare.
    let mut left_out = vec!["endless_loop", "function_array_too_large", "register_value_too_large"];
    // The program stops at an undefined result whether or not it is used.
    left_out.push("undefined_results_unused");
    let mut paths: Vec<_> = std::fs::read_dir(root().join("tests/filetests/run"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
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
                while let Some(path) =
                    paths.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let one = compare_file_test(&tools, path);
                    shown
                        .lock()
                        .unwrap()
                        .insert(path.file_stem().unwrap().to_string_lossy().into_owned(), one);
                }
            });
        }
    });
    let shown = shown.into_inner().unwrap();
    let count = |wanted: fn(&Shown) -> bool| shown.values().filter(|one| wanted(one)).count();
    let identical = count(|one| matches!(one, Shown::Identical));
    let stopped = count(|one| matches!(one, Shown::Stopped));
    let open = count(|one| matches!(one, Shown::Open));
    let unsupported: Vec<_> =
        shown.iter().filter(|(_, one)| matches!(one, Shown::Unsupported(_))).collect();
    for (name, one) in &shown {
        let Shown::Unsupported(what) = one else { continue };
        let placed = what.contains(" at text.comp:")
            || what.contains("descriptor")
            || what.contains("local size");
        assert!(placed, "{name}: {what}");
    }
    println!(
        "{identical} identical, {stopped} stopped, {open} open, {} unsupported: {unsupported:#?}",
        unsupported.len()
    );
    let wrong: Vec<_> = shown.iter().filter(|(_, one)| matches!(one, Shown::Wrong(_))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(shown.len(), paths.len());
    assert!(identical >= 35 && stopped >= 17 && unsupported.len() <= 29, "{shown:#?}");
}

/// Random kernels with nested decisions, workgroup memory and barriers: outputs, verdicts and
/// vectors.
#[test]
fn random_kernels_are_measured_alike() {
    if clang().is_none() {
        return;
    }
    let count: u64 = std::env::var("VKCERT_DISSIMILAR_KERNELS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(8);
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
            known.contains(row["kernel"].as_str().unwrap())
                && row["reason"] == "the device alone differs",
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
        (
            "layout(r32f, binding = 1) uniform image2D picture;\nvoid main() { r[0] = uint(imageSize(picture).x); }",
            "the uniform variable `picture`",
        ),
        (
            "void main() { vec4 v = vec4(r[0]); v.xy[r[1]] = 2.0; r[0] = uint(v.x); }",
            "an index of a swizzle that is written",
        ),
        (
            "layout(std140, binding = 1) buffer M { mat2 m; };\nvoid main() { m = mat2(r[0]); }",
            "the layout of `m` (columns of 2 rows every 16 bytes)",
        ),
        (
            "layout(row_major, binding = 1) buffer M { mat4 m; };\nvoid main() { m = mat4(r[0]); }",
            "the layout of `m` (a matrix that lies row by row)",
        ),
        (
            "bool share() { barrier(); return true; }\nvoid main() { if (r[0] > 1u && share()) r[0] = 1u; }",
            "`share`, to which not all of an expression comes",
        ),
        (
            "uint share(uint x) { barrier(); return x; }\nvoid main() { uint i = 1u; r[i++] = share(2u); }",
            "a write beside a call that all invocations make together",
        ),
        (
            "uint kind(int x) { return 1u; }\nuint kind(float x) { return 2u; }\nvoid main() { r[0] = kind(+3); }",
            "a call of `kind`, of whose overloads conversions choose one",
        ),
        (
            "void main() { uint i = 0u; r[i++] = i; }",
            "an expression whose value depends on the order of evaluation",
        ),
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
        (
            "uint x = 1u;\nvoid main() { uint x = x + 1u; barrier(); r[0] = x; }",
            "`x` in its own initialiser",
        ),
        (
            "void main() { switch (r[0]) { case 0u: barrier(); break; default: r[0] = 1u; } }",
            "a barrier inside a switch",
        ),
    ] {
        let file = write(folder.path(), "kernel.comp", format!("{head}{body}\n"));
        let output = run(vkcert().arg("lower").arg(&file).args(["--emit", "cpp"]), 4);
        let said = String::from_utf8_lossy(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
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

/// The comparison can fail: figure 6 of the published sequential version, and other mistakes that
/// an emitter could make, leave other bytes than the engine.
#[test]
fn mistakes_of_the_emitter_would_be_seen() {
    let Some(tools) = clang() else { return };
    let words = filetest::compile("two", TWO_REGIONS);
    let job = small_job(&words);
    let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
    assert!(ours.findings.is_empty(), "{:#?}", ours.findings);
    let program = translated(TWO_REGIONS, &BTreeMap::new()).unwrap().text;
    let left = |text: &str| match ran(&tools, text, &job) {
        Ok(RunOutcome::Completed(text)) => Ok(job::parse_outputs(&text, 1).unwrap()),
        other => Err(format!("{other:?}")),
    };
    assert_eq!(left(&program).as_ref(), Ok(&ours.buffers), "{program}");
    let consuming =
        program.split("// Region from ").find(|part| part.contains("mine += s[")).unwrap();
    let consuming = consuming.split("all_here").next().unwrap();
    for (what, wrong) in [
        // All rounds are loaded before any is consumed: the consuming region stands behind the
        // loop.
        (
            "figure 6",
            program.replacen(consuming, "\n", 1).replace(
                "    // Region from text.comp:14",
                &format!("    // {consuming}\n    // Region from text.comp:14"),
            ),
        ),
        (
            "no variable per invocation",
            program.replace("auto &mine = self.mine;", "static Uint mine;"),
        ),
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
    let printed =
        String::from_utf8(run(&mut std::process::Command::new(&program), 0).stdout).unwrap();
    let result = run_json(
        vkcert()
            .args(["run", "--engine", "sequential", "--dump-buffers", "--only", "TC-SAT-01"])
            .arg(root().join("tests/kernels/saturate.toml")),
        0,
    );
    let buffers = result["tests"][0]["buffers"].as_object().unwrap();
    let expected: Vec<_> =
        buffers.values().map(|text| Arc::new(decoded(text.as_str().unwrap()))).collect();
    assert_eq!(job::parse_outputs(&printed, expected.len()).unwrap(), expected);
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
        said.contains("clang++-19")
            && said.contains("apt-get install clang-19 llvm-19 libclang-rt-19-dev"),
        "{said}"
    );
}
