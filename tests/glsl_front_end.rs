//! File tests of the GLSL front end: `tests/filetests/glsl/*.comp`, each compiled by the real
//! compiler.
//!
//! Directives in line comments say what must come out. All decisions of a file must be listed, in
//! order: `decision: ID CONTEXT "TEXT" conditions=N [couple=0,1,0] [const=constant] [unmarked]
//! [via=MACRO] [file=PATH]`, `switch: ID "SELECTOR" LABEL|LABEL`, `exits: FUNCTION N`, `statements:
//! N`, `unreached: FUNCTION`, `policy: control-flow`, `define: NAME=VALUE`, `include: FOLDER`,
//! `target: vulkanN.N`, `accuracy: lines-only`. Every file must also go through instrumentation:
//! traced and instrumented modules validate, and no branch is untraced. `VKCERT_FILE=NAME` runs one
//! file alone.

use proptest::prelude::*;
use rspirv::dr::Operand;
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vkcert::glsl::{
    Compiled, DecisionPolicy, KernelSource, Optimization, compile, compiler_identity,
};
use vkcert::model::diagnostic::Diagnostic;
use vkcert::model::structure::{
    Accuracy, Constness, Decision, Exit, KernelStructure, MARKER_PAGE, MarkerRole, Recording,
    Statement, StatementKind,
};
use vkcert::spirv::module::{Id, Module};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/glsl")
}

fn source(path: &str, text: &str) -> KernelSource {
    KernelSource::alone(path, text, "vulkan1.3")
}

/// The values of all directives of one name.
fn directives<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("// "));
    lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::trim).collect()
}

fn described(structure: &KernelStructure, decision: &Decision) -> String {
    let context = serde_json::to_value(decision.context).expect("an enum of names");
    let mut line = format!(
        "{} {} \"{}\" conditions={}",
        decision.id,
        context.as_str().expect("a name"),
        decision.text,
        decision.conditions.len()
    );
    let classes: Vec<String> =
        decision.conditions.iter().map(|condition| condition.coupling.to_string()).collect();
    let distinct = decision
        .conditions
        .iter()
        .enumerate()
        .all(|(at, condition)| condition.coupling == at as u32);
    if !distinct {
        line += &format!(" couple={}", classes.join(","));
    }
    match decision.constness {
        Constness::Constant => line += " const=constant",
        Constness::Specialization => line += " const=specialization",
        Constness::Runtime => {}
    }
    if let Recording::Unmarked { .. } = decision.recording {
        line += " unmarked";
    }
    if !decision.expansion.is_empty() {
        let names: Vec<&str> =
            decision.expansion.iter().map(|expansion| expansion.macro_name.as_str()).collect();
        line += &format!(" via={}", names.join(","));
    }
    if decision.span.file.0 > 0
        && structure.files[decision.span.file.0 as usize].path != "<defines>"
    {
        line += &format!(" file={}", structure.files[decision.span.file.0 as usize].path);
    }
    line
}

/// Calls of a marker function by the number passed.
fn calls(module: &Module, function: &str) -> BTreeMap<u32, u32> {
    let number = |id: Id| {
        module.definition(id).and_then(|constant| {
            constant.literal(0).or(match constant.operands[0] {
                rspirv::dr::Operand::LiteralBit32(value) => Some(value),
                _ => None,
            })
        })
    };
    let mut found = BTreeMap::new();
    for call in module.instructions.iter().filter(|instruction| instruction.op == Op::FunctionCall)
    {
        let callee = call.id(0).and_then(|id| module.debug_name(id)).unwrap_or("");
        if callee.split('(').next() == Some(function) {
            let part = |index| {
                call.id(index)
                    .and_then(number)
                    .expect("a constant marker number is passed directly")
            };
            let number = part(1) * MARKER_PAGE + part(2);
            *found.entry(number).or_insert(0) += 1;
        }
    }
    found
}

fn function_of(structure: &KernelStructure, role: MarkerRole) -> Option<String> {
    let by_id = |decision| {
        let function = structure.decision(decision).function?;
        structure
            .functions
            .iter()
            .find(|known| known.id == function)
            .map(|known| known.name.clone())
    };
    match role {
        MarkerRole::Condition { decision, .. }
        | MarkerRole::Decision { decision }
        | MarkerRole::Single { decision } => by_id(decision),
        MarkerRole::Mark { mark } => {
            let entry = structure.functions.iter().find(|function| function.entry_mark == mark);
            entry.map(|function| function.name.clone())
        }
        MarkerRole::MarkWhere { .. } => None,
    }
}

/// The list of markers holds what the decisions, functions and labels demand, each once.
fn check_roles(name: &str, structure: &KernelStructure) {
    let mut expected = Vec::new();
    for found in structure.decisions.iter().filter(|found| found.recording == Recording::Marked) {
        let decision = found.id;
        if found.conditions.len() == 1 {
            expected.push(MarkerRole::Single { decision });
            continue;
        }
        expected.push(MarkerRole::Decision { decision });
        expected.extend(
            (0..found.conditions.len() as u32)
                .map(|condition| MarkerRole::Condition { decision, condition }),
        );
    }
    expected.extend(
        structure.functions.iter().map(|function| MarkerRole::Mark { mark: function.entry_mark }),
    );
    let labels = structure.switches.iter().flat_map(|switch| &switch.labels);
    expected.extend(labels.filter_map(|label| label.mark).map(|mark| MarkerRole::Mark { mark }));
    let mut listed = structure.markers.clone();
    expected.sort();
    listed.sort();
    assert_eq!(listed, expected, "{name}: roles");
}

/// Every marker stands in the marked module exactly once, but for functions that nothing calls.
fn check_markers(name: &str, compiled: &Compiled, unreached: &[&str]) {
    let structure = &compiled.structure;
    check_roles(name, structure);
    let module = Module::parse(compiled.marked.clone()).expect("the marked module is SPIR-V");
    let mut found = calls(&module, &structure.value_marker);
    found.extend(calls(&module, &structure.mark_marker));
    for (number, role) in structure.markers.iter().enumerate() {
        let times = found.remove(&(number as u32)).unwrap_or(0);
        let skipped = function_of(structure, *role)
            .is_some_and(|function| unreached.contains(&function.as_str()));
        assert_eq!(times, u32::from(!skipped), "{name}: marker {number} ({role:?})");
    }
    assert!(found.is_empty(), "{name}: calls of unknown markers {found:?}");
    let production =
        Module::parse(compiled.production.clone()).expect("the production module is SPIR-V");
    assert!(
        calls(&production, &structure.value_marker).is_empty(),
        "{name}: production holds markers"
    );
}

/// Traced and instrumented modules are made and validate, and every branch comes from a decision.
fn check_instrumented(name: &str, compiled: &Compiled) {
    let module = Module::parse(compiled.marked.clone()).expect("the marked module is SPIR-V");
    let made = vkcert::instrument::instrument(&compiled.structure, &module, "main");
    let made = made.unwrap_or_else(|error| panic!("{name}: {error}"));
    let places: Vec<_> =
        made.untraced.iter().map(|finding| (&finding.message, finding.place.as_ref())).collect();
    assert!(places.is_empty(), "{name}: {places:?} {:#?}", compiled.notes);
}

fn statements<'s>(statement: &'s Statement, found: &mut Vec<&'s Statement>) {
    if !matches!(statement.kind, StatementKind::DoWhile { .. }) && statement.id.is_some() {
        found.push(statement);
    }
    match &statement.kind {
        StatementKind::Block { block } | StatementKind::Switch { body: block, .. } => {
            block.0.iter().for_each(|inner| statements(inner, found));
        }
        StatementKind::If { then, otherwise, .. } => {
            statements(then, found);
            otherwise.iter().for_each(|inner| statements(inner, found));
        }
        StatementKind::While { body, .. } | StatementKind::For { body, .. } => {
            statements(body, found)
        }
        StatementKind::DoWhile { body, .. } => {
            statements(body, found);
            found.push(statement);
        }
        _ => {}
    }
}

/// Ids count up in source order, and spans are the text that reports print.
fn check_structure(name: &str, structure: &KernelStructure) -> usize {
    let mut all = Vec::new();
    for function in &structure.functions {
        function.body.0.iter().for_each(|statement| statements(statement, &mut all));
        let exact = structure.accuracy == Accuracy::Exact && function.expansion.is_empty();
        assert!(!exact || structure.text(function.span).ends_with('}'), "{name}");
        for exit in &function.exits {
            match exit {
                Exit::Return { statement } => {
                    assert!(all.iter().any(|known| known.id == Some(*statement)), "{name}")
                }
                Exit::EndOfBody { span } => assert_eq!(structure.text(*span), "}", "{name}"),
            }
        }
    }
    for (index, statement) in all.iter().enumerate() {
        assert_eq!(
            statement.id.expect("listed for its id").0 as usize,
            index + 1,
            "{name}: {statement:?}"
        );
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    for decision in &structure.decisions {
        if !structure.text(decision.span).contains("/*")
            && !structure.text(decision.span).contains('\\')
        {
            assert_eq!(squeezed(structure.text(decision.span)), squeezed(&decision.text), "{name}");
        }
        for condition in &decision.conditions {
            let inside = condition.span.start >= decision.span.start
                && condition.span.end <= decision.span.end;
            assert!(
                inside || !decision.expansion.is_empty() || condition.span != decision.span,
                "{name}"
            );
            assert!(!condition.text.is_empty(), "{name}");
        }
    }
    all.len()
}

fn check_file(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a test file");
    let name = path.file_name().expect("a name").to_string_lossy().into_owned();
    let mut kernel = source(&name, &text);
    kernel.folder = Some(folder());
    if directives(&text, "policy") == ["control-flow"] {
        kernel.policy = DecisionPolicy::ControlFlow;
    }
    for define in directives(&text, "define") {
        let (defined, value) = define.split_once('=').expect("NAME=VALUE");
        kernel.defines.insert(defined.to_owned(), value.to_owned());
    }
    kernel.include = directives(&text, "include")
        .into_iter()
        .map(|folder_name| folder().join(folder_name))
        .collect();
    for target in directives(&text, "target") {
        kernel.target_env = target.to_owned();
    }
    let compiled = match compile(&kernel) {
        Ok(compiled) => compiled,
        Err(errors) => panic!("{name}: {errors:#?}"),
    };
    let structure = &compiled.structure;
    check_instrumented(&name, &compiled);
    let lines_only = directives(&text, "accuracy") == ["lines-only"];
    let accuracy = if lines_only { Accuracy::LinesOnly } else { Accuracy::Exact };
    assert_eq!(structure.accuracy, accuracy, "{name}: {:?}", compiled.notes);
    let made: Vec<String> =
        structure.decisions.iter().map(|decision| described(structure, decision)).collect();
    let expected = directives(&text, "decision");
    assert!(
        made == expected,
        "{name}\nexpected\n{}\nfound\n{}",
        expected.join("\n"),
        made.join("\n")
    );
    let unreached = directives(&text, "unreached");
    check_markers(&name, &compiled, &unreached);
    let count = check_structure(&name, structure);
    for expected in directives(&text, "statements") {
        assert_eq!(count.to_string(), expected, "{name}: statements");
    }
    for expected in directives(&text, "exits") {
        let (function, number) = expected.split_once(' ').expect("FUNCTION N");
        let function =
            structure.functions.iter().find(|known| known.name == function).expect("a function");
        assert_eq!(function.exits.len().to_string(), number, "{name}: exits of {}", function.name);
    }
    let switches: Vec<String> = structure
        .switches
        .iter()
        .map(|switch| {
            let labels: Vec<&str> = switch.labels.iter().map(|label| label.text.as_str()).collect();
            format!("{} \"{}\" {}", switch.id, switch.text, labels.join("|"))
        })
        .collect();
    assert_eq!(switches, directives(&text, "switch"), "{name}");
}

#[test]
fn every_file_gives_the_decisions_it_lists() {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "comp"));
    paths.sort();
    if let Ok(only) = std::env::var("VKCERT_FILE") {
        return check_file(&folder().join(only));
    }
    assert!(paths.len() >= 25, "only {} files", paths.len());
    let failures: Vec<String> = paths
        .iter()
        .filter_map(|path| {
            let panic = std::panic::catch_unwind(|| check_file(path)).err()?;
            let message = panic.downcast_ref::<String>().cloned();
            Some(message.unwrap_or_else(|| format!("{}: {panic:?}", path.display())))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

const HEAD: &str = "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer Data { int v[]; };\n";

#[test]
fn syntax_error_names_line_and_span() {
    let text = format!("{HEAD}void main() {{\n    v[0] = missing + 1;\n}}\n");
    let errors = compile(&source("glsl/broken.comp", &text)).expect_err("an undeclared name");
    let error = &errors[0];
    assert_eq!(error.kind, "glsl-syntax");
    let location = error.location.as_ref().expect("a place");
    assert_eq!(location.file, "glsl/broken.comp");
    let span = location.span.clone().expect("a span");
    assert_eq!(&text[span], "missing");
    assert_eq!(location.position.expect("a position").line, 5);
    assert!(error.hint.is_some());
}

#[test]
fn error_in_an_included_file_names_that_file() {
    let text = format!("{HEAD}#include \"include/broken.glsl\"\nvoid main() {{ v[0] = f(); }}\n");
    let mut kernel = source("including.comp", &text);
    kernel.folder = Some(folder());
    let errors = compile(&kernel).expect_err("the included file is broken");
    let location = errors[0].location.as_ref().expect("a place");
    assert_eq!(
        (location.file.as_str(), location.position.expect("a position").line),
        ("include/broken.glsl", 3)
    );
}

#[test]
fn missing_include_is_a_diagnostic() {
    let text = format!("{HEAD}#include \"nowhere.glsl\"\nvoid main() {{ }}\n");
    let errors = compile(&source("including.comp", &text)).expect_err("no such file");
    assert!(errors[0].message.contains("nowhere.glsl"), "{errors:?}");
}

#[test]
fn text_that_is_no_text_is_a_diagnostic() {
    for text in ["\0", "", "#version 450\nvoid main() {", "#version 450 \u{1F980}"] {
        assert!(compile(&source("odd.comp", text)).is_err(), "{text:?}");
    }
    let mut kernel = source("odd.comp", HEAD);
    kernel.target_env = "vulkan9".to_owned();
    assert_eq!(compile(&kernel).expect_err("no such target")[0].kind, "usage");
}

#[test]
fn included_files_are_given_with_project_relative_names() {
    let text = std::fs::read_to_string(folder().join("includes.comp")).expect("a test file");
    let mut kernel = source("tests/filetests/glsl/includes.comp", &text);
    kernel.folder = Some(folder());
    let compiled = compile(&kernel).expect("the file compiles");
    let names: Vec<&str> = compiled.included.keys().map(String::as_str).collect();
    let base = "tests/filetests/glsl/include/";
    assert_eq!(names, [format!("{base}nested.glsl"), format!("{base}shared.glsl")]);
}

/// Writes files below a folder and gives a kernel of the first, with the folders that it includes
/// from.
fn kernel_of_files(root: &Path, files: &[(&str, &str)], include: &[PathBuf]) -> KernelSource {
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let (path, text) = files[0];
    let own = Path::new(path).strip_prefix("project").expect("the kernel lies in the project");
    let mut kernel = source(own.to_str().expect("a name"), text);
    kernel.folder = Some(root.join(path).parent().expect("a folder").to_owned());
    kernel.include = include.to_vec();
    kernel
}

/// The values of the integer constants that are stored, in order.
fn stored_constants(words: &[u32]) -> Vec<u32> {
    let module = Module::parse(words.to_vec()).expect("a module");
    let value_of = |id: Id| {
        let defining =
            module.instructions.iter().find(|instruction| instruction.result == Some(id))?;
        match (defining.op, defining.operands.as_slice()) {
            (Op::Constant, [Operand::LiteralBit32(value)]) => Some(*value),
            _ => None,
        }
    };
    let stores = module.instructions.iter().filter(|instruction| instruction.op == Op::Store);
    let stored = stores.filter_map(|store| match store.operands.as_slice() {
        [_, Operand::IdRef(value), ..] => value_of(*value),
        _ => None,
    });
    stored.collect()
}

#[test]
fn files_of_one_name_in_two_include_folders_are_two_files() {
    const HEADER: &str =
        "#include \"detail.h\"\n#define NAME DETAIL\nvoid NAME_F() { v[AT] = NAME; }\n";
    let text = "#version 450\n#extension GL_GOOGLE_include_directive : require\n\
        layout(local_size_x = 1) in;\nlayout(binding = 0) buffer B { uint v[]; };\n\
        #include \"a.h\"\n#include \"b.h\"\nvoid main() { first(); second(); }\n";
    let a = HEADER.replace("NAME_F", "first").replace("AT", "0");
    let b = format!(
        "#undef DETAIL\n#undef NAME\n{}",
        HEADER.replace("NAME_F", "second").replace("AT", "1")
    );
    let files = [
        ("project/glsl/k.comp", text),
        ("one/inc/a.h", &a),
        ("one/inc/detail.h", "#define DETAIL 11u\n"),
        ("two/inc/b.h", &b),
        ("two/inc/detail.h", "#define DETAIL 22u\n"),
    ];
    let root = tempfile::tempdir().expect("a folder");
    // Named from the root of the disk, and by a way through another folder.
    for way in ["one/inc", "project/../one/inc"] {
        let include = [root.path().join(way), root.path().join("two/inc")];
        let compiled =
            compile(&kernel_of_files(root.path(), &files, &include)).expect("the text compiles");
        let names: Vec<&str> = compiled.included.keys().map(String::as_str).collect();
        assert_eq!(
            names,
            ["../one/inc/a.h", "../one/inc/detail.h", "../two/inc/b.h", "../two/inc/detail.h"]
        );
        assert_eq!(compiled.included["../two/inc/detail.h"], "#define DETAIL 22u\n");
        assert_eq!(stored_constants(&compiled.production), [11, 22]);
        assert_eq!(compiled.structure.accuracy, Accuracy::Exact);
    }
}

#[test]
fn an_include_on_a_last_line_without_end_keeps_places_exact() {
    let root = tempfile::tempdir().expect("a folder");
    let head = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"a.h\"";
    let inner = "layout(local_size_x = 1) in;\nlayout(binding = 0) buffer B { uint v[]; };\n\
        void main() { if (v[1] > 2u && v[2] < 3u) v[0] = 1u; }";
    let files = [
        ("project/k.comp", head),
        ("project/a.h", "#define LIMIT 3u\n#include \"b.h\""),
        ("project/b.h", inner),
    ];
    let compiled = compile(&kernel_of_files(root.path(), &files, &[])).expect("the text compiles");
    assert_eq!(compiled.notes, Vec::<String>::new());
    assert_eq!(compiled.structure.accuracy, Accuracy::Exact);
    assert!(compiled.positions.tokens.iter().all(|token| token.column.is_some()));
    assert_eq!(compiled.structure.decisions[0].text, "v[1] > 2u && v[2] < 3u");
}

#[test]
fn narrow_constructors_that_the_compiler_gets_wrong_are_refused() {
    let compiled = |extension: &str, stored: &str, body: &str| {
        let text = format!(
            "#version 450\n#extension GL_EXT_shader_16bit_storage : require\n\
             #extension GL_EXT_shader_8bit_storage : require\n{extension}\nlayout(local_size_x = 1) in;\n\
             layout(binding = 0) buffer B {{ {stored} v[]; }};\nconst int COUNT = 3;\nconst float HALF = 0.5;\n\
             struct Pair {{ int number; float weight; }};\nconst Pair PAIR = Pair(1, 2.0);\n\
             #define ZERO 0\nvoid main() {{ {body} }}\n"
        );
        compile(&source("narrow.comp", &text))
    };
    let wrong = [
        ("float16_t", "float16_t(0)"),
        ("float16_t", "float16_t(7u)"),
        ("float16_t", "float16_t(true)"),
        ("float16_t", "float16_t(-ZERO)"),
        ("float16_t", "float16_t(COUNT + 1)"),
        ("float16_t", "float16_t(1 < COUNT)"),
        ("float16_t", "float16_t(int(2.0))"),
        ("float16_t", "float16_t(PAIR.number)"),
        ("float16_t", "float16_t(max(1, COUNT))"),
        ("float16_t", "float16_t(gl_WorkGroupSize.x)"),
        ("float16_t", "float16_t(int[2](1, 2).length())"),
        ("f16vec2", "f16vec2(0)"),
        ("f16vec2", "f16vec2(ivec2(1, 2))"),
        ("int16_t", "int16_t(1.5)"),
        ("u16vec2", "u16vec2(vec2(HALF))"),
        ("uint8_t", "uint8_t(PAIR.weight)"),
        ("int8_t", "int8_t(sqrt(4.0))"),
    ];
    for (stored, value) in wrong {
        let refused = compiled("", stored, &format!("v[0] = {value};")).expect_err(value);
        assert_eq!(
            (refused.len(), refused[0].kind),
            (1, "compiler-defect"),
            "{value}: {refused:?}"
        );
        assert!(
            refused[0].hint.as_ref().is_some_and(|hint| hint.contains("arithmetic_types")),
            "{refused:?}"
        );
        let place = refused[0].location.as_ref().expect("a place");
        let span = place.span.clone().expect("a span");
        assert_eq!(&place.text.as_ref().expect("the text")[span], value);
    }
    let right = [
        ("float16_t", "float16_t(0.0)"),
        ("float16_t", "float16_t(HALF * 3)"),
        ("float16_t", "float16_t(float(COUNT))"),
        ("f16vec2", "f16vec2(vec2(1, COUNT))"),
        ("int16_t", "int16_t(COUNT)"),
        ("uint8_t", "uint8_t(true)"),
        ("int16_t", "int16_t(int(v[1]) + 1)"),
    ];
    for (stored, value) in right {
        compiled("", stored, &format!("v[0] = {value};"))
            .unwrap_or_else(|errors| panic!("{value}: {errors:?}"));
    }
    // With arithmetic on the type the compiler converts the constants.
    for extension in [
        "GL_EXT_shader_explicit_arithmetic_types_float16",
        "GL_EXT_shader_explicit_arithmetic_types",
    ] {
        let extension = format!("#extension {extension} : require");
        compiled(&extension, "float16_t", "v[0] = float16_t(7);")
            .expect("the constant is converted");
    }
}

/// A kernel with calls that take a scope and semantics.
fn scoped(call: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let text = format!(
        "#version 450\n#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 1) in;\n\
         layout(binding = 0) buffer B {{ uint cell; uint rest[]; }};\nlayout(binding = 1, r32ui) uniform uimage2D image;\n\
         layout(constant_id = 0) const int SPECIAL = 64;\nconst int BUFFER = gl_StorageSemanticsBuffer;\n\
         const int KINDS[2] = int[2](gl_SemanticsRelease, gl_SemanticsAcquire);\n\
         struct Way {{ int scope; int semantics; }};\nconst Way WAY = Way(gl_ScopeDevice, gl_SemanticsRelaxed);\n\
         #define RELEASE BUFFER, gl_SemanticsRelease\nint given() {{ return 64; }}\n\
         void called(int s, const int c) {{ int v = 64; const int kept = v; const int local = BUFFER | 0; {call}; }}\n\
         void main() {{ called(64, 64); }}\n"
    );
    compile(&source("scoped.comp", &text))
}

#[test]
fn scopes_and_semantics_that_are_no_constants_are_refused() {
    let wrong = [
        ("atomicStore(cell, 1u, gl_ScopeDevice, BUFFER, {})", "gl_SemanticsRelease | s"),
        ("atomicStore(cell, 1u, {}, BUFFER, 0)", "s"),
        ("cell = atomicLoad(cell, gl_ScopeDevice, {}, 0)", "c"),
        ("atomicAdd(cell, 1u, gl_ScopeDevice, {}, 0)", "v"),
        ("atomicExchange(cell, 1u, gl_ScopeDevice, {}, 0)", "kept"),
        ("atomicMin(cell, 1u, gl_ScopeDevice, {}, 0)", "SPECIAL"),
        ("atomicMax(cell, 1u, gl_ScopeDevice, {}, 0)", "KINDS[s]"),
        ("atomicAnd(cell, 1u, gl_ScopeDevice, {}, 0)", "given()"),
        ("atomicOr(cell, 1u, gl_ScopeDevice, {}, 0)", "int(rest[1])"),
        ("atomicXor(cell, 1u, gl_ScopeDevice, {}, 0)", "int(gl_LocalInvocationIndex)"),
        ("atomicCompSwap(cell, 1u, 2u, gl_ScopeDevice, {}, 0, BUFFER, 0)", "true ? s : 64"),
        ("atomicCompSwap(cell, 1u, 2u, gl_ScopeDevice, BUFFER, 0, BUFFER, {})", "s - s"),
        ("imageAtomicAdd(image, ivec2(0), 1u, gl_ScopeDevice, {}, 0)", "s"),
        ("imageAtomicStore(image, ivec2(0), 1u, gl_ScopeDevice, 0, {})", "s"),
        ("cell = imageAtomicLoad(image, ivec2(0), gl_ScopeDevice, {}, 0)", "s"),
        ("imageAtomicCompSwap(image, ivec2(0), 1u, 2u, gl_ScopeDevice, 0, 0, {}, 0)", "s"),
        ("memoryBarrier(gl_ScopeDevice, {}, gl_SemanticsRelease)", "s"),
        ("controlBarrier({}, gl_ScopeWorkgroup, 0, 0)", "s"),
        ("if (s == 1 && atomicAdd(cell, 1u, gl_ScopeDevice, {}, 0) == 1u) cell = 2u", "s++"),
    ];
    for (call, argument) in wrong {
        let refused = scoped(&call.replace("{}", argument)).expect_err(call);
        assert_eq!((refused.len(), refused[0].kind), (1, "glsl-syntax"), "{call}: {refused:?}");
        assert!(refused[0].message.contains("no constant expression"), "{call}: {refused:?}");
        let place = refused[0].location.as_ref().expect("a place");
        let span = place.span.clone().expect("a span");
        assert_eq!(&place.text.as_ref().expect("the text")[span], argument);
    }
    let right = [
        "atomicStore(cell, uint(s), gl_ScopeDevice, RELEASE)",
        "atomicStore(cell, 1u, WAY.scope, local, KINDS[0])",
        "atomicAdd(rest[s], 1u, 1, BUFFER | gl_StorageSemanticsShared, max(0x4, 2))",
        "atomicAdd(rest[s], uint(v))",
        "atomicCompSwap(cell, uint(s), uint(c), gl_ScopeDevice, BUFFER, KINDS[1], BUFFER, WAY.semantics)",
        "imageAtomicAdd(image, ivec2(s, v), uint(c))",
        "imageAtomicCompSwap(image, ivec2(s, v), uint(c), uint(s))",
        "imageAtomicAdd(image, ivec2(s), uint(c), gl_ScopeDevice, 0, 0)",
        "memoryBarrier(gl_ScopeDevice, true ? BUFFER : 0, (gl_SemanticsRelease))",
        "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, -(-64), KINDS[KINDS.length() - 2])",
    ];
    for call in right {
        scoped(call).unwrap_or_else(|errors| panic!("{call}: {errors:?}"));
    }
    // A marker would make a constant none.
    let compiled = scoped("memoryBarrier(gl_ScopeDevice, true ? BUFFER : 0, gl_SemanticsRelease)")
        .expect("compiles");
    let [decision] = &compiled.structure.decisions[..] else {
        panic!("{:#?}", compiled.structure.decisions)
    };
    assert!(matches!(decision.recording, Recording::Unmarked { .. }), "{decision:#?}");
}

/// The pinned compiler leaves such operands out of the module, as if the text did not ask for them.
#[test]
fn matrix_operands_that_are_no_constants_are_refused() {
    let compiled = |argument: &str| {
        let text = format!(
            "#version 460\n#extension GL_KHR_cooperative_matrix : require\n\
             #extension GL_KHR_memory_scope_semantics : require\n\
             #extension GL_EXT_shader_explicit_arithmetic_types : require\nlayout(local_size_x = 32) in;\n\
             layout(constant_id = 1) const int SPECIAL = 16;\nconst int SATURATE = gl_MatrixOperandsSaturatingAccumulation;\n\
             struct Ops {{ int none; int sat; }};\nconst Ops OPS = Ops(0, 16);\nconst int TABLE[2] = int[2](0, 16);\n\
             const ivec2 VEC = ivec2(16, 0);\nshared int special[SPECIAL];\n\
             layout(std430, binding = 0) buffer C {{ int c[]; }};\nlayout(push_constant) uniform P {{ int pushed; }};\n\
             void called(int o) {{\nint array[16]; const Ops listed = {{ 0, 16 }}; const int counted = bitCount(0xFFFF);\n\
             coopmat<int8_t, gl_ScopeSubgroup, 16, 32, gl_MatrixUseA> x;\n\
             coopmat<int8_t, gl_ScopeSubgroup, 32, 16, gl_MatrixUseB> y;\n\
             coopmat<int, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> z;\n\
             const int kept = o; const int local = 8 + 8;\n\
             z = coopMatMulAdd(x, y, z{argument});\n\
             coopMatStore(z, c, 0, 16, gl_CooperativeMatrixLayoutRowMajor);\n}}\nvoid main() {{ called(16); }}\n"
        );
        compile(&KernelSource {
            target_env: "vulkan1.3".to_owned(),
            ..source("multiplied.comp", &text)
        })
    };
    /// The operands of the multiplication in the production module.
    fn operands(compiled: &Compiled) -> Vec<u32> {
        const MULTIPLY_ADD: u32 = 4459;
        let (words, mut at) = (&compiled.production, 5);
        while at < words.len() {
            let count = (words[at] >> 16) as usize;
            if words[at] & 0xffff == MULTIPLY_ADD {
                return words[at + 6..at + count].to_vec();
            }
            at += count;
        }
        panic!("no multiplication")
    }
    for wrong in [
        "o",
        "pushed",
        "SPECIAL",
        "SPECIAL + 0",
        "kept",
        "pushed > 0 ? 16 : 0",
        "(1, 16)",
        "special.length()",
        "c.length()",
        "bitCount(0xFFFF)",
        "findMSB(0x10000)",
        "findLSB(0x10000)",
        "floatBitsToInt(2.24207754e-44)",
        "int(packUnorm2x16(vec2(0)) + 16u)",
        "mix(0, 16, true)",
        "bitfieldExtract(256, 4, 8)",
        "bitfieldInsert(0, 1, 4, 1)",
        "bitfieldReverse(0x08000000)",
        "int(ldexp(1.0, 4))",
        "int(fma(4.0, 4.0, 0.0))",
        "int(determinant(mat2(4)))",
        "int(transpose(mat2(16))[0][0])",
        "int(inverse(mat2(1))[0][0]) * 16",
        "int(unpackHalf2x16(0x4C00u).x)",
        "counted",
        "abs(int64_t(-16)) == 16l ? 16 : 0",
        "abs(true ? -16 : -16l) == 16l ? 16 : 0",
    ] {
        let refused = compiled(&format!(", {wrong}")).expect_err(wrong);
        assert_eq!((refused.len(), refused[0].kind), (1, "glsl-syntax"), "{wrong}: {refused:?}");
        let asked = "constant that the compiler surely keeps, as the matrix operands of `coopMatMulAdd` must be";
        assert_eq!(refused[0].message, format!("`{wrong}` is no {asked}"));
        assert!(
            refused[0].hint.as_ref().is_some_and(|hint| hint.contains("without a word")),
            "{refused:?}"
        );
    }
    let without = operands(&compiled("").expect("compiles"));
    for right in [
        "16",
        "SATURATE",
        "gl_MatrixOperandsSaturatingAccumulation",
        "local",
        "true ? 16 : 0",
        "TABLE[1]",
        "OPS.sat",
        "VEC.yx.y",
        "VEC[0]",
        "int(16u)",
        "int(16.0)",
        "int8_t(16)",
        "max(0, 16)",
        "min(16, gl_MaxComputeWorkGroupSize.x)",
        "abs(-16)",
        "1 << 4",
        "8 | 16 & ~8",
        "-(-16)",
        "16 ^ 0",
        "35 % 19",
        "array.length()",
        "TABLE.length() * 8",
        "int[3](0, 1, 16)[2]",
        "ivec4(1, 2, 3, 16).w",
        "Ops(0, 16).sat",
        "mat2(16)[0][0] > 3.0 ? 16 : 0",
        "listed.sat",
        "!false ^^ false && 5 >= 3 ? SATURATE : 0",
        "int(mix(0.0, 16.0, 1.0))",
        "int(all(bvec2(true)) && any(not(bvec2(false)))) * 16",
        "int(any(lessThan(ivec2(0), ivec2(1))) && any(greaterThan(ivec2(1), ivec2(0)))) * 16",
        "int(any(equal(ivec2(0), ivec2(0)))) * 16",
        "int(clamp(16.5, 0.0, 20.0))",
        "int(cross(vec3(1, 0, 0), vec3(0, 1, 0)).z) * 16",
        "int(distance(vec2(0), vec2(16, 0)))",
        "int(dot(vec2(4), vec2(2)))",
        "int(exp2(4.0))",
        "int(faceforward(vec2(16), vec2(1), vec2(-1)).x)",
        "int(floor(16.5))",
        "int(isnan(1.0)) + 16",
        "int(length(vec2(16, 0)))",
        "int(matrixCompMult(mat2(4), mat2(4))[0][0])",
        "int(normalize(vec2(1, 0)).x) * 16",
        "int(outerProduct(vec2(4), vec2(4))[0][0])",
        "int(pow(4.0, 2.0))",
        "int(reflect(vec2(-16, 0), vec2(1, 0)).x)",
        "int(round(16.0))",
        "sign(5) * 16",
        "int(smoothstep(0., 1., 2.)) * 16",
        "int(step(0.0, 1.0)) * 16",
        "int(gl_WorkGroupSize.x) / 2",
    ] {
        let with = operands(&compiled(&format!(", {right}")).expect(right));
        assert_eq!(with.iter().map(|mask| mask & !16).collect::<Vec<_>>(), without, "{right}");
        assert_eq!(with[0] & 16, 16, "{right}");
    }
    assert_eq!(without[0] & 16, 0);
    // Nothing is known of operands in text that is nested too deep to be read.
    let deep = format!(", {}bitCount(0xFFFF){}", "(".repeat(900), ")".repeat(900));
    let refused = compiled(&deep).expect_err("too deep");
    let message = "the matrix operands of `coopMatMulAdd` stand in text that could not be read";
    assert_eq!((refused.len(), refused[0].message.as_str()), (1, message), "{refused:?}");
}

/// A text may give a built-in name another function.
#[test]
fn functions_of_the_text_take_what_they_like() {
    let text = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer B { uint cell; };\n\
                void memoryBarrier(uint a, uint b, uint c) { cell = a + b + c; }\n\
                void main() { memoryBarrier(cell, cell, cell); }\n";
    compile(&source("own.comp", text)).expect("the compiler takes it");
}

/// `!` is an operator and the leaf below it the condition, in parentheses or not.
#[test]
fn negations_in_parentheses_are_operators() {
    for (text, values) in [
        ("(!a) && b", "not and"),
        ("!(a) && b", "not and"),
        ("((!((a)))) && (b)", "not and"),
        ("!(!(a)) && b", "not not and"),
        ("!((!a) && (b))", "not and not"),
    ] {
        let text = format!(
            "{HEAD}void main() {{ bool a = v[0] > 1, b = v[1] > 2; if ({text}) v[2] = 1; }}\n"
        );
        let compiled = compile(&source("negated.comp", &text)).expect("the text compiles");
        let decision = compiled.structure.decisions.last().expect("a decision");
        let leaves: Vec<&str> =
            decision.conditions.iter().map(|condition| condition.text.as_str()).collect();
        assert_eq!(leaves, ["a", "b"], "{text}");
        let shown = serde_json::to_string(&decision.expression).expect("an expression");
        assert_eq!(shown.matches("not").count(), values.matches("not").count(), "{text}: {shown}");
    }
}

#[test]
fn text_beyond_the_nesting_limit_keeps_its_obligations() {
    let deep = 900;
    let nested = format!("{}v[0]{}", "(".repeat(deep), ")".repeat(deep));
    let text = format!("{HEAD}void main() {{ if ({nested} > 1 && v[1] > 2) v[2] = 1; }}\n");
    let compiled = compile(&source("deep.comp", &text)).expect("the compiler accepts it");
    let structure = &compiled.structure;
    assert_eq!(structure.decisions.len(), 1);
    assert!(
        matches!(&structure.decisions[0].recording, Recording::Unmarked { reason } if reason.contains("nested"))
    );
    assert!(!compiled.notes.is_empty());
}

#[test]
fn long_chains_are_measured() {
    let chain: Vec<String> = (0..300).map(|index| format!("v[{index}] > 0")).collect();
    let arms: Vec<String> =
        (0..200).map(|index| format!("if (v[{index}] == 1) v[0] = {index};")).collect();
    let text = format!(
        "{HEAD}void main() {{ if ({}) v[0] = 1; {} }}\n",
        chain.join(" || "),
        arms.join(" else ")
    );
    let compiled = compile(&source("long.comp", &text)).expect("the compiler accepts it");
    assert_eq!(compiled.structure.decisions[0].conditions.len(), 300);
    assert_eq!(compiled.structure.decisions.len(), 201);
    check_markers("long.comp", &compiled, &[]);
    let stored = serde_json::to_string(&compiled.structure.decisions[0]).expect("it can be stored");
    assert!(
        serde_json::from_str::<Decision>(&stored).is_ok(),
        "the expression is stored too deep to be read back"
    );
}

#[test]
fn identity_names_compiler_and_language_versions() {
    assert!(compiler_identity().starts_with("shaderc 20"), "{}", compiler_identity());
}

#[test]
fn optimised_production_is_another_module_than_plain() {
    let text = format!("{HEAD}void main() {{ int a = v[0]; int b = a * 2; v[1] = b + b; }}\n");
    let plain = source("plain.comp", &text);
    let optimised = KernelSource { optimization: Optimization::Performance, ..plain.clone() };
    let (plain, optimised) =
        (compile(&plain).expect("plain"), compile(&optimised).expect("optimised"));
    assert!(optimised.production.len() < plain.production.len());
    assert_eq!(optimised.marked, plain.marked);
}

/// The optimiser of the linked compiler loses a value of this text; without it the text compiles.
#[test]
fn a_fault_of_the_compiler_is_not_told_as_one_of_the_text() {
    let text = format!(
        "{HEAD}layout(constant_id = 0) const bool A = true;\nvoid main() {{\n    \
         v[0] += ((A && (A || A)) || (!(A) && A)) ? 1 : 2;\n}}\n"
    );
    let plain = source("glsl/right.comp", &text);
    let optimised = KernelSource { optimization: Optimization::Performance, ..plain.clone() };
    compile(&plain).expect("right text");
    let refused = compile(&optimised).expect_err("the compiler's optimiser fails");
    assert_eq!(
        refused.iter().map(|one| one.kind).collect::<Vec<_>>(),
        ["compiler-fault"],
        "{refused:?}"
    );
    assert!(
        refused[0].message.starts_with("the linked compiler failed on its own: "),
        "{refused:?}"
    );
    assert_eq!(
        refused[0].location.as_ref().map(|place| place.file.as_str()),
        Some("glsl/right.comp")
    );
}

#[test]
fn marked_text_keeps_the_lines_of_the_original() {
    let text = format!(
        "{HEAD}#define SET(i) v[i] = \\\n i\n\n\n// far\n\n\n\n\n\n\n\n\n\nvoid main() {{\n  if (v[1] > 2)\n    SET(3);\n}}\n"
    );
    let compiled = compile(&source("lines.comp", &text)).expect("it compiles");
    let lines = |words: &Vec<u32>| {
        let module = Module::parse(words.clone()).expect("a module");
        let stores = module
            .instructions
            .iter()
            .enumerate()
            .filter(|(_, instruction)| instruction.op == Op::Store);
        stores
            .filter_map(|(index, _)| module.line_of(index))
            .map(|line| line.line)
            .collect::<Vec<_>>()
    };
    let in_production = lines(&compiled.production);
    assert!(!in_production.is_empty());
    for line in &in_production {
        assert!(
            lines(&compiled.marked).contains(line),
            "{in_production:?} against {:?}",
            lines(&compiled.marked)
        );
    }
}

/// Writes random programs; every choice comes from `seed`.
struct Author {
    seed: u64,
    text: String,
    depth: u32,
    loops: u32,
}

impl Author {
    fn roll(&mut self, sides: u64) -> u64 {
        // Knuth's MMIX generator.
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) % sides
    }

    fn integer(&mut self, depth: u32) -> String {
        match self.roll(if depth == 0 { 3 } else { 8 }) {
            0 => format!("v[{}]", self.roll(9)),
            1 => "n".to_owned(),
            2 => self.roll(9).to_string(),
            3 => format!(
                "({} ? {} : {})",
                self.boolean(depth - 1),
                self.integer(depth - 1),
                self.integer(depth - 1)
            ),
            4 => format!("int({})", self.boolean(depth - 1)),
            5 => format!("v[{} & 7]", self.integer(depth - 1)),
            6 => format!("max({}, {})", self.integer(depth - 1), self.integer(depth - 1)),
            _ => format!("{} + {}", self.integer(depth - 1), self.integer(depth - 1)),
        }
    }

    fn boolean(&mut self, depth: u32) -> String {
        match self.roll(if depth == 0 { 3 } else { 11 }) {
            0 => "p".to_owned(),
            1 => format!("{} < {}", self.integer(0), self.integer(0)),
            2 => "q".to_owned(),
            3 => format!("({} && {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            4 => format!("({} || {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            5 => format!("({} ^^ {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            6 => format!("!({})", self.boolean(depth - 1)),
            7 => format!("both({}, {})", self.boolean(depth - 1), self.integer(depth - 1)),
            8 => format!(
                "({} ? {} : {})",
                self.boolean(depth - 1),
                self.boolean(depth - 1),
                self.boolean(depth - 1)
            ),
            9 => format!("({} == {})", self.boolean(depth - 1), self.boolean(depth - 1)),
            _ => format!("(q = {})", self.boolean(depth - 1)),
        }
    }

    fn statement(&mut self) {
        self.depth += 1;
        let deep = self.depth > 4;
        match self.roll(if deep { 4 } else { 13 }) {
            0 => {
                let line = format!("v[1] = {};\n", self.integer(2));
                self.text += &line;
            }
            1 => {
                let line = format!("p = {};\n", self.boolean(3));
                self.text += &line;
            }
            2 => {
                let line = format!("{{ bool r = {}; q = r; }}\n", self.boolean(2));
                self.text += &line;
            }
            3 if self.loops > 0 => {
                let line = format!("if ({}) {{ continue; }}\n", self.boolean(2));
                self.text += &line;
            }
            3 => self.text += ";\n",
            4 => {
                {
                    let line = format!("if ({}) ", self.boolean(3));
                    self.text += &line;
                }
                self.block();
            }
            5 => {
                {
                    let line = format!("if ({}) ", self.boolean(2));
                    self.text += &line;
                }
                self.block();
                self.text += " else ";
                self.statement();
            }
            6 => {
                {
                    let line = format!("for (int i = 0; i < 3 && {}; i++) ", self.boolean(1));
                    self.text += &line;
                }
                self.looped();
            }
            7 => {
                {
                    let line = format!("while ({}) ", self.boolean(2));
                    self.text += &line;
                }
                self.looped();
            }
            8 => {
                self.text += "do ";
                self.looped();
                {
                    let line = format!(" while ({});\n", self.boolean(2));
                    self.text += &line;
                }
            }
            9 => self.switch(),
            10 => {
                let line = format!("bump({});\n", self.integer(2));
                self.text += &line;
            }
            11 => {
                let line = format!("n = {}, v[2] = n;\n", self.integer(2));
                self.text += &line;
            }
            _ => self.block(),
        }
        self.depth -= 1;
    }

    fn block(&mut self) {
        self.text += "{\n";
        for _ in 0..self.roll(3) {
            self.statement();
        }
        self.text += "}\n";
    }

    fn looped(&mut self) {
        self.loops += 1;
        self.block();
        self.loops -= 1;
    }

    fn switch(&mut self) {
        {
            let line = format!("switch ({}) {{\n", self.integer(2));
            self.text += &line;
        }
        for case in 0..self.roll(3) {
            self.text += &format!("case {case}: v[{case}] = 1;\n");
            self.statement();
            if self.roll(2) == 0 {
                self.text += "break;\n";
            }
        }
        if self.roll(2) == 0 {
            self.text += "default: v[3] = 2;\n";
            self.statement();
        }
        self.text += "}\n";
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_marker_of_a_random_program_is_in_its_module_once(seed in any::<u64>(), flow in any::<bool>()) {
        let mut author = Author { seed, text: String::new(), depth: 0, loops: 0 };
        for _ in 0..6 {
            author.statement();
        }
        let text = format!(
            "{HEAD}bool q = false;\nbool both(bool a, int x) {{ return a && x > 1; }}\n\
             void bump(int x) {{ v[4] += x; }}\n\
             void main() {{ int n = v[5]; bool p = both(n > 2, n); bump(n);\n{}}}\n",
            author.text
        );
        let mut kernel = source("random.comp", &text);
        if flow {
            kernel.policy = DecisionPolicy::ControlFlow;
        }
        let compiled = compile(&kernel).map_err(|errors| TestCaseError::fail(format!("{errors:?}\n{text}")))?;
        prop_assert_eq!(compiled.structure.accuracy, Accuracy::Exact, "{:?}", compiled.notes);
        prop_assert!(compiled.notes.is_empty(), "{:?}\n{}", compiled.notes, text);
        check_markers("random.comp", &compiled, &[]);
        check_structure("random.comp", &compiled.structure);
    }
}
