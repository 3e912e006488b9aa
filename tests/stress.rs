//! Stress shaders: `tests/stress/*.comp` and generated kernels of up to 10,000 decisions, each
//! parsed, compiled, instrumented, validated and run on both engines.
//!
//! Directives in comments say how a shader runs: `groups: X Y Z`, `buffer: BINDING TYPE COUNT zero
//! | iota | random SEED MIN MAX`, `memory: NUMBER ...` (the same, reached by address alone),
//! `address: NUMBER AT TARGET OFFSET` (the address of a buffer, stored in another), `push: JSON`,
//! `spec: JSON`, `order: free` (what comes out depends on the order of the invocations: engines are
//! not compared).

use crate::large_kernel;
use crate::support;
use crate::whole_path;

use large_kernel::{Shape, kernel};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use support::{root, vkcert, write};
use vkcert::glsl::compile;
use vkcert::instrument::instrument;
use vkcert::model::structure::{Accuracy, Recording};
use vkcert::spirv::module::Module;

/// The checked-in generated kernels.
const GENERATED: [(&str, Shape, usize, u64); 3] = [
    ("large_stages_a.comp", Shape::Functions, 480, 11),
    ("large_stages_b.comp", Shape::Functions, 520, 12),
    ("large_laws.comp", Shape::Conditions, 760, 13),
];

fn folder() -> PathBuf {
    root().join("tests/stress")
}

fn shaders() -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "comp"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect();
    found.sort();
    found
}

/// The values of all directives of one name.
fn directives<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("// "));
    lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim).collect()
}

/// One test of a procedure that runs a shader as its directives say.
fn test_of(name: &str, text: &str) -> Value {
    let mut buffers = Map::new();
    let mut bindings = Vec::new();
    for (buffer, bound) in directives(text, "buffer")
        .into_iter()
        .map(|line| (line, true))
        .chain(directives(text, "memory").into_iter().map(|line| (line, false)))
    {
        let words: Vec<&str> = buffer.split_whitespace().collect();
        let [binding, kind, count, fill @ ..] = words.as_slice() else {
            panic!("{name}: {buffer}")
        };
        let number = |word: &str| word.parse::<i64>().expect("a number");
        let fill = match fill {
            ["zero"] => json!({"constant": 0}),
            ["iota"] => json!({"iota": {"start": 0, "step": 1}}),
            ["random", seed, min, max] => {
                json!({"random": {"seed": number(seed), "min": number(min), "max": number(max)}})
            }
            _ => panic!("{name}: {buffer}"),
        };
        let key = format!("b{binding}");
        buffers.insert(key.clone(), json!({"type": kind, "count": number(count), "fill": fill}));
        if bound {
            bindings.push(json!({"set": 0, "binding": number(binding), "buffer": key}));
        }
    }
    for address in directives(text, "address") {
        let words: Vec<i64> =
            address.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let [binding, at, target, offset] = words.as_slice() else { panic!("{name}: {address}") };
        let entry = json!({"at": at, "buffer": format!("b{target}"), "offset": offset});
        let buffer = buffers
            .get_mut(&format!("b{binding}"))
            .expect("a buffer")
            .as_object_mut()
            .expect("an object");
        buffer.entry("address_of").or_insert(json!([])).as_array_mut().expect("a list").push(entry);
    }
    let groups: Vec<u32> = directives(text, "groups")[0]
        .split(' ')
        .map(|word| word.parse().expect("a size"))
        .collect();
    let mut dispatch = json!({"kernel": kernel_name(name), "groups": groups, "bindings": bindings});
    for (directive, key) in [("push", "push_constants"), ("spec", "specialization")] {
        for value in directives(text, directive) {
            dispatch[key] = serde_json::from_str(value).expect("JSON");
        }
    }
    json!({"id": format!("TC-{}", kernel_name(name).to_uppercase()), "requirements": [], "buffers": buffers,
           "dispatches": [dispatch], "expect": []})
}

fn kernel_name(file: &str) -> String {
    file.trim_end_matches(".comp").to_owned()
}

#[test]
fn generated_files_are_what_the_generator_writes() {
    for (name, shape, decisions, seed) in GENERATED {
        let text = kernel(shape, decisions, seed);
        let path = folder().join(name);
        if std::env::var_os("VKCERT_WRITE").is_some() {
            std::fs::write(&path, &text).expect("written");
        }
        assert_eq!(
            std::fs::read_to_string(&path).expect("the file"),
            text,
            "{name}: run with VKCERT_WRITE=1"
        );
        assert!(text.lines().count() >= 1_000, "{name}: {} lines", text.lines().count());
    }
}

#[test]
fn every_shader_is_read_exactly_and_instrumented() {
    let all = shaders();
    assert!(all.len() >= 43, "only {} shaders", all.len());
    let mut decisions = BTreeMap::new();
    for (name, text) in &all {
        let compiled = compile(&whole_path::source(text))
            .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        let structure = &compiled.structure;
        assert_eq!(structure.accuracy, Accuracy::Exact, "{name}: {:?}", compiled.notes);
        let module = Module::parse(compiled.marked).expect("SPIR-V");
        let made = instrument(structure, &module, "main")
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(made.untraced.is_empty(), "{name}: {:?}", made.untraced);
        for decision in structure.decisions.iter().filter(|decision| decision.function.is_some()) {
            assert_eq!(decision.recording, Recording::Marked, "{name}: {}", decision.text);
        }
        decisions.insert(name.as_str(), structure.decisions.len());
    }
    for (name, ..) in GENERATED {
        assert!(decisions[name] >= 200, "{name}: {} decisions", decisions[name]);
    }
}

/// What one engine says of one test.
struct Said<'v> {
    verdict: &'v str,
    /// Text, vectors and outcomes of each decision, witnesses left out.
    decisions: Vec<Value>,
}

fn said(test: &Value) -> Said<'_> {
    let kernels = test["coverage"].as_object().into_iter().flatten();
    let decisions =
        kernels.flat_map(|(_, coverage)| coverage["decisions"].as_array().into_iter().flatten());
    let without_witness = |vector: &Value| json!([vector["values"], vector["outcome"]]);
    let reduced = decisions.map(|decision| {
        let vectors: Vec<Value> =
            decision["vectors"].as_array().into_iter().flatten().map(without_witness).collect();
        json!([decision["id"], decision["text"], vectors])
    });
    Said { verdict: test["verdict"].as_str().unwrap_or(""), decisions: reduced.collect() }
}

/// Shaders short enough that a software driver compiles them at once.
fn short() -> Vec<(String, String)> {
    shaders().into_iter().filter(|(_, text)| text.lines().count() < 1_000).collect()
}

/// The checked-in large kernels and a generated one in each shape.
fn long(decisions: usize) -> Vec<(String, String)> {
    let mut all = shaders();
    all.retain(|(_, text)| text.lines().count() >= 1_000);
    assert_eq!(all.len(), GENERATED.len());
    for shape in Shape::ALL {
        all.push((
            format!("generated_{}.comp", format!("{shape:?}").to_lowercase()),
            kernel(shape, decisions, 5),
        ));
    }
    all
}

/// The test procedure that the directives of shaders are.
fn procedure(all: &[(String, String)]) -> Vec<u8> {
    let kernels: Map<String, Value> = all
        .iter()
        .map(|(name, text)| {
            let source =
                json!({"source": {"text": text}, "language": "glsl", "entry": "main", "target_env": "vulkan1.3"});
            (kernel_name(name), source)
        })
        .collect();
    let tests: Vec<Value> = all.iter().map(|(name, text)| test_of(name, text)).collect();
    serde_json::to_vec(&json!({"schema": 1, "kernels": kernels, "tests": tests})).expect("JSON")
}

/// Runs shaders as their directives say and checks what came out.
fn run_all(all: &[(String, String)], engine: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "stress.json", procedure(all));
    let mut command = vkcert();
    command.args(["run", "--format", "json", "--engine", engine, "--timeout", "300"]).arg(&file);
    let output = command.output().expect("it starts");
    let result = serde_json::from_slice::<Value>(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    check_results(&result, all, engine);
}

/// `both` where a Vulkan device is found.
fn engines() -> &'static str {
    let doctor = support::run(vkcert().arg("doctor"), 0);
    if String::from_utf8_lossy(&doctor.stdout).contains("llvmpipe") { "both" } else { "sequential" }
}

#[test]
fn every_shader_runs_and_both_engines_see_the_same_vectors() {
    run_all(&short(), engines());
}

/// The shaders as C++ programs (`docs/dissimilar.md`): identical outputs and vectors, or
/// unsupported by name.
#[test]
fn every_shader_is_measured_alike_by_clang_or_unsupported_by_name() {
    if let Err(missing) = vkcert::dissimilar::clang::ClangTools::find_in_path() {
        assert!(std::env::var_os("VKCERT_REQUIRE_CLANG").is_none(), "{missing}");
        return eprintln!("NOT RUN: {missing}");
    }
    let mut all = short();
    // What invocations do in another order may leave other bytes.
    all.retain(|(_, text)| directives(text, "order") != ["free"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "stress.json", procedure(&all));
    let output =
        vkcert().args(["dissimilar", "--format", "json"]).arg(&file).output().expect("it starts");
    let result = serde_json::from_slice::<Value>(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let rows = |name: &str| result[name].as_array().expect("rows").clone();
    let unsupported: BTreeMap<String, Value> = rows("kernels")
        .iter()
        .filter(|row| !row["unsupported"].is_null())
        .map(|row| (row["kernel"].to_string(), row["unsupported"].clone()))
        .collect();
    println!("{:#}\n{unsupported:#?}", result["summary"]);
    for row in rows("conditions").iter().filter(|row| row["agreement"] == "disagrees") {
        println!(
            "{} {} {}: {} {}",
            row["kernel"], row["condition"], row["text"], row["reason"], row["vectors"]
        );
    }
    for row in rows("outputs") {
        let is = row["sequential"]["is"].as_str().expect("a word").to_owned();
        assert!(is == "identical" || is == "unsupported", "{} {}", row["test"], row["sequential"]);
    }
    assert_eq!(result["summary"]["disagree"], 0);
    assert!(unsupported.len() <= 6, "{unsupported:#?}");
}

#[test]
fn large_kernels_run_on_the_sequential_engine() {
    run_all(&long(1_000), "sequential");
}

#[test]
#[ignore = "a minute and a gigabyte"]
fn kernels_of_ten_thousand_decisions_run_on_the_sequential_engine() {
    run_all(&long(10_000), "sequential");
}

#[test]
#[ignore = "a software driver compiles a function of thousands of blocks for minutes"]
fn large_kernels_run_on_both_engines() {
    run_all(&long(0)[..GENERATED.len()], engines());
}

fn check_results(result: &Value, all: &[(String, String)], engine: &str) {
    let count = all.len();
    let tests = result["tests"].as_array().unwrap_or_else(|| panic!("{result}"));
    let mut by_test: BTreeMap<&str, Vec<(&str, &Value)>> = BTreeMap::new();
    for test in tests {
        let (id, engine) =
            (test["id"].as_str().expect("an id"), test["engine"].as_str().expect("an engine"));
        by_test.entry(id).or_default().push((engine, test));
    }
    assert_eq!(by_test.len(), count);
    let free: BTreeSet<String> = all
        .iter()
        .filter(|(_, text)| directives(text, "order") == ["free"])
        .map(|(name, _)| format!("TC-{}", kernel_name(name).to_uppercase()))
        .collect();
    let (mut ran, mut unsupported, mut compared) = (0, Vec::new(), 0);
    for (id, engines) in &by_test {
        let all: Vec<Said> = engines.iter().map(|(_, test)| said(test)).collect();
        for ((engine, test), said) in engines.iter().zip(&all) {
            match said.verdict {
                "pass" => ran += 1,
                "unsupported" => unsupported.push(format!("{id} on {engine}: {}", test["reason"])),
                other => panic!("{id} on {engine}: {other}: {}", test["reason"]),
            }
            let findings: Vec<&Value> = test["findings"].as_array().into_iter().flatten().collect();
            assert!(findings.is_empty() || free.contains(*id), "{id} on {engine}: {}", findings[0]);
        }
        if let [one, other] = all.as_slice()
            && one.verdict == "pass"
            && other.verdict == "pass"
        {
            assert!(!one.decisions.is_empty(), "{id}: nothing was measured");
            assert!(
                one.decisions == other.decisions || free.contains(*id),
                "{id}: the engines saw other vectors"
            );
            compared += 1;
        }
    }
    println!("{ran} runs, {compared} compared, unsupported: {unsupported:#?}");
    assert!(ran >= count * 8 / 10, "{unsupported:#?}");
    assert!(engine == "sequential" || compared >= count * 8 / 10, "{unsupported:#?}");
}

/// Ten times the decisions may take up to twenty-five times as long (a generous bound: quadratic
/// time takes a hundred). The compiler's part does not count: it checks its graph of calls in
/// quadratic time. What every day watches are allocations (`tests/growth.rs`); a time says
/// something on an idle machine alone.
#[test]
#[ignore = "a benchmark: needs an idle machine"]
fn time_grows_with_the_number_of_decisions() {
    for shape in Shape::ALL {
        let seconds = |decisions| {
            let text = kernel(shape, decisions, 3);
            let start = std::time::Instant::now();
            let outline = vkcert::glsl::outline_of_text(&text).expect("it has an outline");
            assert!(
                outline.decisions.len() >= shape.decisions(decisions),
                "{shape:?}: {} decisions",
                outline.decisions.len()
            );
            start.elapsed().as_secs_f64()
        };
        let (before, after) = (seconds(1_000).max(0.02), seconds(10_000));
        assert!(
            after < before * 25.0,
            "{shape:?}: outline in {before} s for 1,000 decisions, {after} s for 10,000"
        );
    }
    for shape in Shape::ALL {
        behind_the_compiler_time_grows_with_decisions(shape);
    }
}

fn behind_the_compiler_time_grows_with_decisions(shape: Shape) {
    let own = |decisions| {
        let taken = whole_path::take(&kernel(shape, decisions, 3));
        assert!(taken.decisions >= shape.decisions(decisions), "{} decisions", taken.decisions);
        let own =
            taken.steps.iter().filter(|(name, _)| *name != "front end").map(|(_, seconds)| seconds);
        own.sum::<f64>().max(0.05)
    };
    let (before, after) = (own(500), own(5_000));
    assert!(
        after < before * 25.0,
        "{shape:?}, behind the compiler: {before} s for 500 decisions, {after} s for 5,000"
    );
}
