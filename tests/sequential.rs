//! Runs every file test on the sequential engine, at several tile widths.

use crate::filetest;

use filetest::FileTest;
use filetest::judge::{Findings, WIDTHS, problems, run};
use std::path::Path;
use std::sync::Arc;
use vkcert::exec::sequential::{SequentialExecutor, Settings};
use vkcert::exec::{Completion, Executor, ModuleRecording, Run, Unobserved};
use vkcert::model::id::DecisionId;
use vkcert::model::records::{DecisionSlot, MarkerTable, RecordLayout};
use vkcert::model::structure::{MarkIndex, MarkerRole};
use vkcert::spirv::module::Module;

#[test]
fn file_tests_hold_at_every_tile_width() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run");
    let tests = FileTest::read_all(&folder);
    assert!(tests.len() >= 40, "{} file tests", tests.len());
    let mut failures = Vec::new();
    for test in &tests {
        for width in WIDTHS {
            let run = run(test, width);
            for problem in problems(test, width, &run, Findings::AsListed) {
                failures.push(format!("{} (width {width}): {problem}", test.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// The file test that `docs/undefined.md` names, or whether a test function stands where it says.
fn shown_as(test: &str, kind: &str, names: &[&str], compiler: &shaderc::Compiler) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if let [file, function] = names {
        let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        let stands = text.contains(&format!("fn {function}("));
        return if stands { Vec::new() } else { vec![format!("{file}: no test {function}")] };
    }
    let path = root.join("tests/filetests/undefined").join(format!("{test}.comp"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        return vec![format!("no file test {test}")];
    };
    let file = FileTest::of(compiler, test, &text);
    let neighbour = FileTest::neighbour(compiler, test, &text);
    let mut found = Vec::new();
    if !file.findings.iter().any(|expected| expected.kind == kind) {
        found.push(format!("{test} shows no {kind}"));
    }
    for width in [1, 64] {
        found.extend(problems(&file, width, &run(&file, width), Findings::AsListed));
        let findings = run(&neighbour, width).findings;
        found.extend(
            findings.iter().map(|finding| format!("{test}: its neighbour has {finding:?}")),
        );
    }
    found
}

/// Every row that tells of something names what shows it, and every file test stands in the table.
#[test]
fn every_sentence_about_undefined_results_is_shown() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("docs/undefined.md")).unwrap();
    let compiler = shaderc::Compiler::new().unwrap();
    let (mut named, mut failures) = (std::collections::BTreeSet::new(), Vec::new());
    for line in table.lines().filter(|line| {
        line.starts_with("| ") && !line.starts_with("| what") && !line.starts_with("| ---")
    }) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, extent, told, tests] = cells[..] else { panic!("{line}") };
        let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        if told.starts_with('`') {
            assert!(!names.is_empty(), "{line}");
        }
        let kind = told.split('`').nth(1).unwrap_or("uninitialized-read");
        assert!(names.is_empty() || extent.starts_with("value") || extent == "behaviour", "{line}");
        let rows: Vec<Vec<&str>> = match names.first() {
            Some(file) if file.ends_with(".rs") => vec![names],
            _ => names.iter().map(|name| vec![*name]).collect(),
        };
        for row in rows {
            named.insert(row[0].to_owned());
            failures.extend(shown_as(row[0], kind, &row, &compiler));
        }
    }
    let files = std::fs::read_dir(root.join("tests/filetests/undefined")).unwrap();
    for file in
        files.map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
    {
        assert!(named.contains(&file), "{file} stands in no row");
    }
    assert!(named.len() > 60, "{named:?}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// `(x < k && y < m)` around a loop, as the front end marks it, recorded against a scalar loop over
/// all invocations.
#[test]
fn markers_record_every_vector_with_its_lowest_witness() {
    let text = "#version 450
layout(local_size_x = 5, local_size_y = 3) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
bool vkcert_value(const uint id, const bool v) { return v; }
void vkcert_mark(const uint id) {}
bool inner(uint v) { vkcert_mark(5u); return vkcert_value(4u, v > 3u); }
void main() {
    uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y;
    if (vkcert_value(2u, vkcert_value(0u, x < 7u) && vkcert_value(1u, inner(y)))) {
        for (uint i = 0u; vkcert_value(3u, i < x); i++) atomicAdd(r[0], 1u);
    }
}
";
    let words = filetest::compile("markers", text);
    let module = Module::parse(words.clone()).unwrap();
    let function = |name: &str| {
        let named = |function: &&vkcert::spirv::module::Function| {
            module.debug_name(function.id).is_some_and(|full| full.starts_with(name))
        };
        module.functions.iter().find(named).map(|function| function.id)
    };
    let decision = DecisionId;
    let slot = |id, base, size, weights: &[[u32; 2]]| DecisionSlot {
        decision: decision(id),
        base,
        size,
        weights: weights.to_vec(),
        vectors: Vec::new(),
    };
    // Sums of `a && b`: F- 0, TF 1, TT 2.
    let table = MarkerTable {
        value_function: function("vkcert_value"),
        mark_function: function("vkcert_mark"),
        roles: vec![
            MarkerRole::Condition { decision: decision(1), condition: 0 },
            MarkerRole::Condition { decision: decision(1), condition: 1 },
            MarkerRole::Decision { decision: decision(1) },
            MarkerRole::Single { decision: decision(2) },
            MarkerRole::Single { decision: decision(3) },
            MarkerRole::Mark { mark: MarkIndex(0) },
        ],
        layout: RecordLayout {
            decisions: vec![
                slot(1, 0, 3, &[[1, 0], [1, 0]]),
                slot(2, 3, 2, &[[1, 0]]),
                slot(3, 5, 2, &[[1, 0]]),
            ],
            marks: vec![7],
            bits: 8,
        },
    };
    let mut test =
        FileTest { name: "markers".to_owned(), words, groups: [2, 2, 1], ..FileTest::default() };
    test.buffers.push(filetest::Buffer {
        binding: 0,
        class: vkcert::model::procedure::DescriptorClass::Storage,
        words: vec![Some(0)],
        range: None,
    });
    let mut expected: std::collections::BTreeMap<u32, [u32; 3]> = Default::default();
    for (gy, gx) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for local in 0..15u32 {
            let id = [gx * 5 + local % 5, gy * 3 + local / 5, 0];
            let mut set = |bit: u32| {
                expected.entry(bit).or_insert(id);
            };
            let (a, b) = (id[0] < 7, id[1] > 3);
            if a {
                set(7);
                set(5 + u32::from(b));
            }
            set(if !a { 0 } else { 1 + u32::from(b) });
            if a && b {
                if id[0] > 0 {
                    set(4);
                }
                set(3);
            }
        }
    }
    for tile_width in [1, 4, 7, 64] {
        let mut job = test.job();
        job.modules[0].recording = ModuleRecording::Markers(Arc::new(table.clone()));
        let settings = Settings { tile_width, ..Settings::default() };
        let executor = SequentialExecutor::new(settings);
        let counted = executor.run_with_lowering_counts(&job, &mut Unobserved).unwrap();
        assert_eq!(counted.run.findings, []);
        let records = &counted.run.records[&"markers".into()];
        assert_eq!(records.witnesses, expected, "width {tile_width}");
        let bits = expected.keys().fold(0, |word, bit| word | 1u32 << bit);
        assert_eq!(records.words, [bits]);
        // The loops that the lowering adds are each taken and left.
        for decision in &counted.lowering[&"markers".into()] {
            assert!(decision.true_count > 0 && decision.false_count > 0, "{decision:?}");
        }
    }
}

#[test]
fn the_lowering_keeps_a_loop_with_barriers_outside_the_invocation_loops() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run/barrier_in_loop.comp");
    let compiler = shaderc::Compiler::new().unwrap();
    let test = FileTest::read(&compiler, &folder);
    let module = Module::parse(test.words).unwrap();
    let text = vkcert::exec::sequential::lower_kernel(&module, "main").unwrap().to_string();
    println!("{text}");
    let at =
        |what: &str| text.find(what).unwrap_or_else(|| panic!("`{what}` is missing in\n{text}"));
    assert!(at("workgroup.x < groups.x") < at("region 1"));
    let kept = at("loop with barriers");
    assert!(at("region 1") < kept && kept < at("region 2") && at("region 2") < at("region 3"));
    assert!(text.contains("L12"), "{text}");
}

/// Records of the marked module, executed natively, against the instrumented module, executed as
/// ordinary SPIR-V.
#[test]
fn instrumented_modules_record_what_marked_modules_record() {
    use vkcert::glsl::{self, KernelSource};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run");
    let mut compared = 0;
    for test in FileTest::read_all(&folder).into_iter().filter(|test| !test.sequential_only) {
        let text = std::fs::read_to_string(folder.join(format!("{}.comp", test.name))).unwrap();
        let kernel = KernelSource::alone(format!("{}.comp", test.name), text, "vulkan1.1");
        let compiled =
            glsl::compile(&kernel).unwrap_or_else(|errors| panic!("{}: {errors:?}", test.name));
        let marked = Module::parse(compiled.marked.clone()).unwrap();
        let instrumented = vkcert::instrument::instrument(&compiled.structure, &marked, "main")
            .unwrap_or_else(|error| panic!("{}: {error}", test.name));
        let run = |words: Vec<u32>, recording: ModuleRecording| {
            let mut job = test.job();
            job.modules[0].words = Arc::new(words);
            job.modules[0].recording = recording;
            SequentialExecutor::default().run(&job, &mut Unobserved).unwrap()
        };
        let natively =
            run(compiled.marked, ModuleRecording::Markers(Arc::new(instrumented.markers)));
        let by_buffer =
            run(instrumented.instrumented, ModuleRecording::Buffer(instrumented.record_buffer));
        let traced = run(instrumented.traced, ModuleRecording::None);
        assert_eq!(by_buffer.completion, Completion::Completed, "{}", test.name);
        assert_eq!(natively.completion, Completion::Completed, "{}", test.name);
        assert_eq!(natively.buffers, by_buffer.buffers, "{}", test.name);
        assert_eq!(traced.buffers, by_buffer.buffers, "{}", test.name);
        let words = |run: &Run| {
            run.records
                .get(&test.name.as_str().into())
                .map(|records| records.words.clone())
                .unwrap_or_default()
        };
        assert_eq!(words(&natively), words(&by_buffer), "{}", test.name);
        compared += usize::from(words(&natively).iter().any(|word| *word != 0));
    }
    assert!(compared > 20, "{compared}");
}

/// A condition that was short-circuited away has no operands; the one evaluation before it must not
/// show through.
#[test]
fn operands_are_those_of_evaluated_conditions() {
    use vkcert::glsl::{self, KernelSource};
    let text = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer R { float r[]; };
void main() {
    float x = r[gl_LocalInvocationIndex];
    float y = x * 10.0;
    for (uint i = 0u; i < 2u; i++) {
        if (x > 1.5 && y < 25.0) r[gl_LocalInvocationIndex] = 0.0;
        x -= 1.0;
    }
}
";
    let kernel = KernelSource::alone("operands.comp", text, "vulkan1.1");
    let compiled = glsl::compile(&kernel).unwrap();
    let marked = Module::parse(compiled.marked.clone()).unwrap();
    let made = vkcert::instrument::instrument(&compiled.structure, &marked, "main").unwrap();
    let mut test = FileTest {
        name: "operands".to_owned(),
        words: compiled.marked,
        groups: [1; 3],
        ..FileTest::default()
    };
    test.buffers.push(filetest::Buffer {
        binding: 0,
        class: vkcert::model::procedure::DescriptorClass::Storage,
        words: [4.0f32, 3.0, 2.0, 1.0].map(|value| Some(value.to_bits())).to_vec(),
        range: None,
    });
    for tile_width in [1, 64] {
        let mut job = test.job();
        job.modules[0].recording = ModuleRecording::Markers(Arc::new(made.markers.clone()));
        let settings = Settings { tile_width, ..Settings::default() };
        let run = SequentialExecutor::new(settings).run(&job, &mut Unobserved).unwrap();
        let records = &run.records[&"operands".into()];
        let slots = made.markers.layout.decisions.iter().filter(|slot| slot.weights.len() == 2);
        let rows = slots.flat_map(|slot| {
            slot.vectors.iter().map(|row| (row.vector.values.to_string(), slot.base + row.sum))
        });
        let mut seen = 0;
        for (values, bit) in rows {
            let lines = records.operands.get(&bit).cloned().unwrap_or_default();
            println!("{values}: {lines:?}");
            let has = |name: &str| lines.iter().any(|line| line.contains(name));
            assert_eq!(
                lines.len(),
                values.chars().filter(|value| *value != '-').count(),
                "{values} {lines:?}"
            );
            assert!(has("x > 1.5"), "{values} {lines:?}");
            assert_eq!(has("y < 25.0"), !values.ends_with('-'), "{values} {lines:?}");
            seen += 1;
        }
        assert_eq!(seen, 3, "vectors F-, TF, TT");
    }
}

#[test]
fn the_idiom_is_noted_where_the_specification_wants_more() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/run");
    let tests = FileTest::read_all(&folder);
    let test = |name: &str| {
        tests.iter().find(|test| test.name == name).unwrap_or_else(|| panic!("no {name}"))
    };
    let noted = run(test("order_buffer_fence_before_idiom"), 64);
    assert!(matches!(noted.notes.as_slice(), [note] if note.contains(":10 ")), "{:?}", noted.notes);
    assert_eq!(noted.findings, []);
    for silent in [
        "order_buffer_fences_around_idiom",
        "order_barrier_alone_idiom",
        "order_buffer_fence_before_spec",
    ] {
        assert_eq!(run(test(silent), 64).notes, [""; 0], "{silent}");
    }
}
