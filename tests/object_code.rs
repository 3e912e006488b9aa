//! Object code of real kernels: every branch, select and loop of the production modules, not
//! optimised and optimised, is instrumented, and traced to its source decision or to a closed list.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use vkcert::glsl::{Compiled, DecisionPolicy, KernelSource, Optimization, compile};
use vkcert::instrument::{InstrumentedObject, PositionTable, SourceKnowledge, instrument_object};
use vkcert::model::object::{ObjectBranch, ObjectOrigin};
use vkcert::spirv::module::Module;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every GLSL kernel of the repository that compiles by itself.
fn kernels() -> Vec<PathBuf> {
    let folders =
        ["glsl", "tests/kernels", "tests/filetests/glsl", "tests/filetests/run", "tests/stress"];
    let files =
        folders.iter().filter_map(|folder| std::fs::read_dir(root().join(folder)).ok()).flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "comp"));
    files.sort();
    files
}

fn compiled(path: &Path, text: String, optimization: Optimization) -> Option<Compiled> {
    let defines = text.lines().filter_map(|line| line.trim().strip_prefix("// define: "));
    let defines = defines.filter_map(|define| define.split_once('='));
    let defines =
        defines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    let source = KernelSource {
        path: path.strip_prefix(root()).unwrap_or(path).display().to_string(),
        text,
        include: Vec::new(),
        folder: path.parent().map(Path::to_owned),
        defines,
        entry: "main".to_owned(),
        target_env: "vulkan1.3".to_owned(),
        optimization,
        policy: DecisionPolicy::Literal,
        requested: BTreeSet::new(),
    };
    compile(&source).ok()
}

fn instrumented(compiled: &Compiled) -> InstrumentedObject {
    let production = Module::parse(compiled.production.clone()).unwrap();
    let table = PositionTable::compare_modules(&production, &compiled.positions)
        .map_err(|error| error.to_string());
    let origins = match &table {
        Ok(positions) => SourceKnowledge::Source { structure: &compiled.structure, positions },
        Err(reason) => SourceKnowledge::Unknown(reason),
    };
    instrument_object(&production, "main", &origins).unwrap_or_else(|error| panic!("{error}"))
}

fn line(branch: &ObjectBranch) -> String {
    let outcomes: Vec<&str> = branch.outcomes.iter().map(|outcome| outcome.text.as_str()).collect();
    format!(
        "{} {} {} [{}] {}",
        branch.id,
        branch.place,
        branch.kind,
        outcomes.join("|"),
        branch.origin
    )
}

/// What is not traced, by name. Optimised: a loop without any place, switches by computed selectors
/// with the same labels as others. Not optimised: a vector of Booleans that is taken apart, whose
/// text belongs to no decision of its own.
const OPEN: &[&[&str]] = &[
    &["cooperative_matrix.comp Performance: loop"],
    &["switch_forms.comp Performance: B6"],
    &["vector_conditions.comp Zero: B7"],
    &["vector_conditions.comp Performance: B7"],
    &["envelope_monitor.comp Performance: B10"],
    &["sequence_alarm.comp Performance: B2"],
];

#[test]
fn every_branch_of_every_kernel_traces_to_its_source() {
    let mut open = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in kernels() {
        for optimization in [Optimization::Zero, Optimization::Performance] {
            let text = std::fs::read_to_string(&path).unwrap();
            let Some(compiled) = compiled(&path, text, optimization) else { continue };
            let object = instrumented(&compiled);
            for branch in &object.structure.branches {
                let kind = match &branch.origin {
                    ObjectOrigin::Decisions(_) => "decisions",
                    ObjectOrigin::Switch(_) => "switch",
                    ObjectOrigin::Loop(_) => "loop",
                    ObjectOrigin::Construct(_) => "construct",
                    ObjectOrigin::CompilerMade(_) => "compiler-made",
                    ObjectOrigin::Untraced(_) | ObjectOrigin::NoSource => {
                        open.push(format!("{} {optimization:?}: {}", path.display(), line(branch)));
                        "untraced"
                    }
                };
                *counts.entry(kind).or_default() += 1;
                if std::env::var_os("VKCERT_SHOW_OBJECTS").is_some() {
                    println!("{} {optimization:?}: {}", path.display(), line(branch));
                }
            }
            for found in &object.structure.loops {
                if !matches!(found.origin, ObjectOrigin::Loop(_)) {
                    open.push(format!(
                        "{} {optimization:?}: loop at {}: {}",
                        path.display(),
                        found.place,
                        found.origin
                    ));
                }
            }
        }
    }
    println!("{counts:?}");
    let unknown: Vec<&String> = open
        .iter()
        .filter(|line| !OPEN.iter().any(|parts| parts.iter().all(|part| line.contains(part))))
        .collect();
    assert!(unknown.is_empty(), "{} of {counts:?} are open:\n{unknown:#?}", unknown.len());
    let gone: Vec<_> = OPEN
        .iter()
        .filter(|parts| !open.iter().any(|line| parts.iter().all(|part| line.contains(part))))
        .collect();
    assert!(gone.is_empty(), "these are traced now, take them off the list: {gone:#?}");
}

/// `line: kind [outcomes] origin` of a kernel's branches.
fn traced(text: &str, optimization: Optimization) -> Vec<String> {
    let compiled = compiled(&root().join("kernel.comp"), text.to_owned(), optimization).unwrap();
    let structure = instrumented(&compiled).structure;
    let text = |branch: &ObjectBranch| {
        let outcomes: Vec<&str> =
            branch.outcomes.iter().map(|outcome| outcome.text.as_str()).collect();
        format!("{} {} {}", branch.kind, outcomes.join("|"), branch.origin)
    };
    structure.branches.iter().map(text).collect()
}

const VARIABLES: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    bool a = v[0] > 0, b = v[1] > 0;
    if (a) v[2] = 1;
    if (b && a) v[3] = 1;
    if (a) v[4] = 1;
    v[5] = a ? 1 : 2;
    v[6] = int(a);
    while (b) { b = false; }
}
";

#[test]
fn branches_on_variables_alone_are_told_apart_by_their_order() {
    let expected = [
        "branch true|false D3",
        "branch true|false D4",
        "branch true|false D5",
        "select true|false D6",
        "select true|false a Boolean is converted to a number or stored in a buffer",
        "branch true|false D8",
    ];
    let found = traced(VARIABLES, Optimization::Zero);
    let decisions: Vec<String> =
        compiled(&root().join("kernel.comp"), VARIABLES.to_owned(), Optimization::Zero)
            .unwrap()
            .structure
            .decisions
            .iter()
            .map(|decision| format!("{} {}", decision.id, decision.text))
            .collect();
    assert_eq!(found, expected, "{decisions:#?}");
}

/// Where more than one order fits, what a condition is computed of and where it stands tell.
#[test]
fn branches_that_several_orders_fit_are_those_of_their_own_text() {
    let kernel = |statements: &str| {
        format!(
            "#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const bool A = true;
layout(constant_id = 1) const int N = 2;
layout(std430, binding = 0) buffer Data {{ uint x[]; }};
void main() {{
    uint i = gl_GlobalInvocationID.x, v = x[i];
    bool b = i < 9u;
    {statements}
    x[i] = v;
}}
"
        )
    };
    let cases: [(&str, &[&str]); 3] = [
        // The first is computed as a whole; the second asks `b` before it loads.
        (
            "if (b && v > 3u)\n v += 10u;\n if (b && x[0] > 3u)\n v += 20u;",
            &["branch true|false D2", "branch true|false D3", "branch true|false D3"],
        ),
        // Of the first the compiler makes an operation on constants.
        ("v += A ? 1u : 2u;\n v ^= A ? v : i;", &["select true|false D3"]),
        (
            "if (N > 1 || A)\n v += 1u;\n if (A)\n v += 2u;\n if (!(A && A) || N > 1)\n v += 3u;",
            &["branch true|false D2", "branch true|false D3", "branch true|false D4"],
        ),
    ];
    for (statements, expected) in cases {
        assert_eq!(traced(&kernel(statements), Optimization::Zero), expected, "{statements}");
    }
}

/// Which of several decisions on one variable or constant a branch was, an optimised module does
/// not tell.
#[test]
fn optimised_branches_name_every_decision_that_they_may_come_of() {
    let expected = [
        "branch true|false D1, D3, D4, D5, D6, D7",
        "branch true|false D4",
        "branch true|false D1, D3, D4, D5, D6, D7",
        "select true|false D1, D3, D4, D5, D6, D7",
        "select true|false a Boolean is converted to a number or stored in a buffer",
    ];
    assert_eq!(traced(VARIABLES, Optimization::Performance), expected);
    let specialized = |statements: &str| {
        let text = format!(
            "#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const bool A = true;
layout(constant_id = 1) const bool B = true;
layout(std430, binding = 0) buffer Data {{ uint x[]; }};
void main() {{
    uint i = gl_GlobalInvocationID.x;
    {statements}
}}
"
        );
        traced(&text, Optimization::Performance)
    };
    assert_eq!(specialized("if (A && B) x[i] = 1u;"), ["branch true|false D1"]);
    let either = specialized("if (A) x[i] = 1u; if (A || x[i] > 3u) x[i] = 2u;");
    assert_eq!(
        either,
        ["branch true|false D1, D2", "branch true|false D1, D2", "branch true|false D2"]
    );
    let variable = specialized("if (A) x[i] = 1u; bool p = A; if (p) x[i] = 2u; if (B) x[i] = 3u;");
    assert_eq!(
        variable,
        ["branch true|false D1, D2, D3", "branch true|false D1, D2, D3", "branch true|false D4"]
    );
    // What holds the constant on its way, and the decision that it comes to.
    let ways = [
        ("bool b[2]; b[0] = A; b[1] = false;", "b[0]"),
        ("S s; s.a = A; s.c = 1u;", "s.a"),
        ("bvec2 v = bvec2(A, x[4] > 2u);", "v.x"),
        ("bool r = returned();", "r"),
        ("bool o; give(o);", "o"),
        ("", "of_all"),
    ];
    for (before, condition) in ways {
        let text = format!(
            "#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const bool A = true;
layout(std430, binding = 0) buffer Data {{ uint x[]; }};
struct S {{ bool a; uint c; }};
bool of_all = A;
bool returned() {{ return A; }}
void give(out bool o) {{ o = A; }}
void main() {{
    uint i = gl_GlobalInvocationID.x;
    {before}
    if ({condition}) x[i] = 2u;
}}
"
        );
        let decisions =
            compiled(&root().join("kernel.comp"), text.clone(), Optimization::Performance)
                .unwrap()
                .structure;
        let wanted = decisions
            .decisions
            .iter()
            .find(|decision| decision.text == condition)
            .unwrap()
            .id
            .to_string();
        let branches = traced(&text, Optimization::Performance);
        let names = |line: &String| {
            line.rsplit("|false ").next().unwrap().split(", ").any(|name| name == wanted)
        };
        assert!(branches.iter().any(names), "{condition} is {wanted}: {branches:#?}");
    }
}

/// HLSL, compiled by another front end: for this tool a module without source.
const HLSL: &str = "RWStructuredBuffer<int> data : register(u0);
[numthreads(8, 1, 1)]
void main(uint3 id : SV_DispatchThreadID) {
    int x = data[id.x];
    if (x > 3 && id.x < 6) data[id.x] = 1;
    switch (x) {
    case 1: data[id.x] = 10; break;
    case -2: case 7: data[id.x] = 20; break;
    default: data[id.x] += 1; break;
    }
    for (int i = 0; i < x; i++) {
        if (i == 100) break;
        data[id.x] += i % 2 == 0 ? 1 : 2;
    }
}
";

fn hlsl() -> Vec<u8> {
    let mut options = shaderc::CompileOptions::new().unwrap();
    options.set_source_language(shaderc::SourceLanguage::HLSL);
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_1 as u32);
    options.set_generate_debug_info();
    let compiler = shaderc::Compiler::new().unwrap();
    let made = compiler.compile_into_spirv(
        HLSL,
        shaderc::ShaderKind::Compute,
        "k.hlsl",
        "main",
        Some(&options),
    );
    made.unwrap().as_binary_u8().to_vec()
}

/// Runs the module on one buffer of eight; status of every branch obligation by engine.
fn branches(module: &[u8], data: [i32; 8], engine: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.spv"), module).unwrap();
    let procedure = serde_json::json!({
        "schema": 1,
        "kernels": {"k": {"source": "k.spv", "language": "spirv", "target_env": "vulkan1.1"}},
        "tests": [{"id": "T", "buffers": {"d": {"type": "int", "data": data}}, "dispatches": [{
            "kernel": "k", "groups": [1, 1, 1],
            "bindings": [{"set": 0, "binding": 0, "buffer": "d", "class": "storage"}]}]}]
    });
    let file = folder.path().join("t.json");
    std::fs::write(&file, procedure.to_string()).unwrap();
    let result =
        support::run_json(support::vkcert().args(["run", "--engine", engine]).arg(&file), 0);
    let coverage = &result["tests"][0]["coverage"]["k"];
    assert_eq!(coverage["branches"], coverage["objects"]);
    let criteria = coverage["summary"].as_array().unwrap();
    let masking = criteria.iter().find(|row| row["criterion"] == "mcdc-masking").unwrap();
    assert_eq!(
        masking["undetermined"], 1,
        "MC/DC of a module without source is undetermined: {masking}"
    );
    let rows = coverage["branches"].as_array().unwrap().iter();
    rows.map(|row| {
        assert!(row["line"].as_u64().unwrap() > 3, "the module has debug lines: {row}");
        (row["id"].as_str().unwrap().to_owned(), row["status"].as_str().unwrap().to_owned())
    })
    .collect()
}

#[test]
fn a_module_without_source_gets_branch_coverage() {
    let module = hlsl();
    let covered = |data, engine| -> Vec<String> {
        let rows = branches(&module, data, engine).into_iter();
        rows.filter(|(_, status)| status == "covered").map(|(id, _)| id).collect()
    };
    // Never above 3, always case 1; the loop runs once, at i = 0.
    let once = covered([1; 8], "sequential");
    assert_eq!(once, ["B1.F", "B2.L1", "B3.F", "B3.T", "B4.F", "B5.T"]);
    // The case labels share a target, the loop runs on to i = 6.
    let seven = covered([7, 7, 7, 7, 7, 7, 7, -2], "sequential");
    assert_eq!(seven, ["B1.F", "B1.T", "B2.L2", "B3.F", "B3.T", "B4.F", "B5.F", "B5.T"]);
    let rest = covered([200, 0, 0, 0, 0, 0, 0, 0], "sequential");
    assert_eq!(rest, ["B1.F", "B1.T", "B2.L3", "B3.F", "B3.T", "B4.F", "B4.T", "B5.F", "B5.T"]);
}

#[test]
fn a_device_records_the_same_branches() {
    let listed = support::vkcert().args(["list", "devices"]).output().unwrap();
    if listed.status.code() == Some(4) {
        assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "{listed:?}");
        eprintln!("not run: there is no Vulkan device here");
        return;
    }
    let module = hlsl();
    for data in [[1; 8], [7, 7, 7, 7, 7, 7, 7, -2], [200, 0, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(
            branches(&module, data, "sequential"),
            branches(&module, data, "vulkan"),
            "{data:?}"
        );
    }
}

/// A decision of one condition and the branch that traces to it must have seen the same outcomes.
#[test]
fn branches_see_what_their_decisions_see() {
    let folder = tempfile::tempdir().unwrap();
    let engine = ["--engine", "sequential"];
    support::run(
        support::vkcert().arg("certify").arg(root()).args(engine).arg("--out").arg(folder.path()),
        0,
    );
    let mut compared = 0;
    for entry in std::fs::read_dir(folder.path().join("evidence")).unwrap() {
        let file = entry.unwrap().path();
        if !file.file_name().unwrap().to_string_lossy().starts_with("kernel-") {
            continue;
        }
        let row: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let tests = |items: &serde_json::Value, prefix: &str| -> Vec<Vec<String>> {
            let items = items.as_array().unwrap().iter();
            let mine = items.filter(|item| item["id"].as_str().unwrap().starts_with(prefix));
            let mut tests: Vec<Vec<String>> = mine
                .map(|item| {
                    item["tests"].as_array().unwrap().iter().map(|test| test.to_string()).collect()
                })
                .collect();
            tests.sort();
            tests
        };
        for branch in row["objects"]["structure"]["branches"].as_array().unwrap() {
            let Some([only]) = branch["origin"]["decisions"].as_array().map(Vec::as_slice) else {
                continue;
            };
            let decisions = row["coverage"]["decisions"].as_array().unwrap();
            let decision = decisions.iter().find(|decision| decision["id"] == *only).unwrap();
            if decision["conditions"].as_array().unwrap().len() == 1 {
                let id = branch["id"].as_str().unwrap();
                let object = tests(&row["coverage"]["objects"], &format!("{id}."));
                assert_eq!(object, tests(&decision["outcomes"], ""), "{id} and {only}");
                compared += 1;
            }
        }
    }
    assert!(compared >= 10, "{compared}");
}
