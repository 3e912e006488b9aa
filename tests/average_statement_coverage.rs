//! Average statement coverage, held against flags that the kernels themselves write: a random
//! kernel sets one beside each statement, by line and invocation, and the counts are those flags.

use crate::function_coverage::kernels;
use crate::support;

use base64::Engine as _;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use support::{run, vkcert, write};

const METRIC: &str = "metrics = [\"average-statement\"]\n";

fn project(folder: &Path, settings: &str, kernel: &str, tests: &str) {
    let head = "schema = 1\nname = \"Averages\"\nlevel = \"D\"\n";
    let listed = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}{settings}\n{listed}"));
    write(folder, "k.comp", kernel);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{tests}"));
}

/// The example of Liu, "Testing and Mutation Testing for GPU Kernels", 5.2.
const EXAMPLE: &str = "#version 450
layout(local_size_x = 32) in;
layout(binding = 0) buffer A { uint a[]; };
layout(binding = 1) buffer B { uint b[]; };
layout(binding = 2) buffer C { uint c[]; };
#define id gl_GlobalInvocationID.x
void main() {
    if (id > 127u) {
        return;
    } else {
        if (id < 32u) {
            c[id] = a[id] + b[id];
        } else {
            c[id] = a[id] - b[id];
            c[id] = c[id] + 1u;
        }
    }
}
";

fn example_test(id: &str, groups: u32) -> String {
    let values: Vec<u32> = (0..128).map(|index| if index < 32 { 10 } else { 5 }).collect();
    let input =
        |value: u32| format!("{{ type = \"uint\", fill = {{ constant = {value} }}, count = 128 }}");
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ a = {}, b = {}, c = {} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [{groups}, 1, 1], bindings = [\
         {{ binding = 0, buffer = \"a\" }}, {{ binding = 1, buffer = \"b\" }}, {{ binding = 2, buffer = \"c\" }}] }}]\n\
         expect = [{{ buffer = \"c\", values = {values:?} }}]\n\n",
        input(7),
        input(3),
        input(0)
    )
}

#[test]
fn the_example_of_the_thesis_comes_to_its_average() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), METRIC, EXAMPLE, &example_test("TC-1", 4));
    let kernels = kernels(folder.path(), &["--engine", "both"]);
    assert_eq!(kernels.len(), 2);
    for kernel in kernels {
        let average = &kernel["coverage"]["average_statement"];
        if kernel["engine"] == "vulkan" {
            let reason = "a device does not record how many invocations executed a statement";
            assert_eq!(average["average"], Value::Null);
            assert_eq!(average["not_measured"], reason);
            assert_eq!(average["tests"][0]["not_measured"], reason);
            continue;
        }
        let share = json!({
            "statements": 6, "dispatched": 128, "numerator": 480, "denominator": 768, "unknown": 0
        });
        assert_eq!(average["average"], share);
        assert_eq!(average["tests"], json!([{ "test": "TC-1", "average": share }]));
        let executed = average["statements"].as_array().expect("statements").iter();
        let executed: Vec<u64> =
            executed.map(|row| row["executed"].as_u64().expect("a number")).collect();
        assert_eq!(executed, [128, 0, 128, 32, 96, 96]);
    }
    for format in ["terminal", "html"] {
        let mut report = vkcert();
        report.arg("report").arg(folder.path().join("out/evidence"));
        let output = run(report.args(["--report-format", format]), 0);
        let text = String::from_utf8(output.stdout).expect("a text").replace('\u{a0}', " ");
        let words = "62.5 % (480/768: 6 statements × 128 invocations)";
        assert!(text.contains(words), "{format}: {text}");
        assert!(
            text.contains("not measured, because a device does not record"),
            "{format}: {text}"
        );
    }
}

#[test]
fn every_invocation_of_every_test_weighs_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let tests = [example_test("TC-1", 4), example_test("TC-2", 6)].concat();
    project(folder.path(), METRIC, EXAMPLE, &tests);
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let average = &kernels[0]["coverage"]["average_statement"];
    // Of the second test's 192 invocations 64 end at the first `return`.
    let second = 192 + 64 + 128 + 32 + 96 + 96;
    assert_eq!(average["tests"][1]["average"]["numerator"], second);
    assert_eq!(average["average"]["numerator"], 480 + second);
    assert_eq!(average["average"]["denominator"], 6 * (128 + 192));
}

#[test]
fn nothing_is_counted_where_the_project_does_not_ask() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), "", EXAMPLE, &example_test("TC-1", 4));
    kernels(folder.path(), &["--engine", "sequential"]);
    for entry in walkdir::WalkDir::new(folder.path().join("out/evidence")) {
        let entry = entry.expect("a file");
        if entry.file_type().is_file() {
            let text = std::fs::read_to_string(entry.path()).expect("a text");
            for key in ["\"average_statement\"", "\"statement_counts\"", "\"metrics\""] {
                assert!(!text.contains(key), "{key} in {}", entry.path().display());
            }
        }
    }
}

#[test]
fn what_may_follow_an_undefined_value_is_not_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer A { uint a[]; };
layout(binding = 1) buffer B { uint b[]; };
void main() {
    if (b[0] / a[0] > 9u) a[1] = 1u;
    a[2] = 5u;
}
";
    let test = "[[test]]\nid = \"TC-1\"\nrequirements = [\"HLR-1\"]\n\
        buffers = { a = { type = \"uint\", fill = { constant = 0 }, count = 3 }, b = { type = \"uint\", data = [8] } }\n\
        dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"a\" }, { binding = 1, buffer = \"b\" }] }]\n\
        expect = [{ buffer = \"a\", offset = 8, values = [5] }]\n\n";
    project(folder.path(), METRIC, kernel, test);
    let kernels = kernels(folder.path(), &["--engine", "sequential"]);
    let average = &kernels[0]["coverage"]["average_statement"];
    let reason = "what the test recorded may follow an undefined value";
    assert_eq!(average["not_measured"], reason, "{average}");
    assert_eq!(average["average"], Value::Null);
}

/// Numbers by chance, the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % bound
    }
}

/// Lines that a kernel can hold: the flags of an invocation.
const LINES: u64 = 256;

/// A random kernel in the making: every statement but those of `main`'s head has a flag before it
/// on its line, so that all of a line is executed by the same invocations.
struct RandomKernel {
    chance: Chance,
    lines: Vec<String>,
    /// Functions that are complete and can be called.
    functions: u64,
    names: u64,
}

/// Where a statement stands.
#[derive(Clone, Copy)]
struct Around {
    depth: u32,
    in_loop: bool,
    in_switch: bool,
}

impl RandomKernel {
    fn text(seed: u64) -> String {
        let mut kernel = Self { chance: Chance(seed), lines: Vec::new(), functions: 0, names: 0 };
        for line in [
            "#version 450",
            "layout(local_size_x = 5) in;",
            "layout(push_constant) uniform P { uint seed; };",
            "layout(binding = 0) buffer Seen { uint seen[]; };",
            "layout(binding = 1) buffer Done { uint done[]; };",
            "uint o;",
            "uint x;",
            "uint next() { x = x * 1664525u + 1013904223u; return x >> 16; }",
        ] {
            kernel.lines.push(line.to_owned());
        }
        while kernel.functions < 3 {
            kernel.lines.push(format!("void f{}() {{", kernel.functions));
            kernel.block(Around { depth: 0, in_loop: false, in_switch: false });
            kernel.lines.push("}".to_owned());
            kernel.functions += 1;
        }
        for line in [
            "void main() {",
            "o = gl_GlobalInvocationID.x * 256u;",
            "x = gl_GlobalInvocationID.x * 7919u + seed;",
            "f1();",
            "f2();",
            "done[gl_GlobalInvocationID.x] = 1u;",
            "}",
        ] {
            kernel.lines.push(line.to_owned());
        }
        assert!((kernel.lines.len() as u64) < LINES);
        kernel.lines.join("\n") + "\n"
    }

    /// A line with a flag before its statement.
    fn flagged(&mut self, statement: &str) {
        let line = self.lines.len() + 1;
        self.lines.push(format!("seen[o + {line}u] = 1u; {statement}"));
    }

    fn condition(&mut self) -> String {
        let one = |chance: &mut Chance| {
            format!(
                "(next() & 3u) {} {}u",
                ["==", "<", ">"][chance.below(3) as usize],
                chance.below(4)
            )
        };
        let (left, right) = (one(&mut self.chance), one(&mut self.chance));
        match self.chance.below(4) {
            0 => format!("{left} && {right}"),
            1 => format!("!({left} || {right})"),
            _ => left,
        }
    }

    fn block(&mut self, around: Around) {
        for _ in 0..1 + self.chance.below(3) {
            self.statement(around);
        }
    }

    fn statement(&mut self, around: Around) {
        let inner = Around { depth: around.depth + 1, ..around };
        let kinds = if around.depth < 3 { 12 } else { 6 };
        match self.chance.below(kinds) {
            0 if self.chance.below(3) == 0 => self.flagged("return;"),
            1 if around.in_loop => self.flagged("continue;"),
            2 if around.in_loop || around.in_switch => self.flagged("break;"),
            3 if self.functions > 0 => {
                let call = format!("f{}();", self.chance.below(self.functions));
                self.flagged(&call);
            }
            0..=5 => self.flagged("x ^= 5u;"),
            6 => self.loop_statement("for", inner),
            7 => self.loop_statement("while", inner),
            8 => self.loop_statement("do", inner),
            9 => self.switch_statement(inner),
            _ => {
                let condition = self.condition();
                self.flagged(&format!("if ({condition}) {{"));
                self.block(inner);
                if self.chance.below(2) == 0 {
                    self.lines.push("} else {".to_owned());
                    self.block(inner);
                }
                self.lines.push("}".to_owned());
            }
        }
    }

    fn loop_statement(&mut self, kind: &str, inner: Around) {
        self.names += 1;
        let (name, condition) = (format!("n{}", self.names), self.condition());
        let body = Around { in_loop: true, in_switch: false, ..inner };
        if kind != "for" {
            self.flagged(&format!("uint {name} = 0u;"));
        }
        let (head, tail) = match kind {
            "for" => (
                format!("for (uint {name} = 0u; {name} < 3u && {condition}; {name}++) {{"),
                "}".to_owned(),
            ),
            "while" => (format!("while ({name}++ < 3u && {condition}) {{"), "}".to_owned()),
            _ => ("do {".to_owned(), format!("}} while ({name}++ < 2u && {condition});")),
        };
        self.flagged(&head);
        let head_line = self.lines.len();
        self.block(body);
        // A `do` statement has its place here, and is executed where its head is.
        self.lines.push(format!("{tail} // o + {head_line}u"));
    }

    fn switch_statement(&mut self, inner: Around) {
        self.flagged("switch (next() & 3u) {");
        for label in 0..1 + self.chance.below(3) {
            self.lines.push(format!("case {label}u:"));
            self.block(Around { in_switch: true, ..inner });
        }
        if self.chance.below(2) == 0 {
            self.lines.push("default:".to_owned());
            self.block(Around { in_switch: true, ..inner });
        }
        self.lines.push("}".to_owned());
    }
}

/// Groups of 5 invocations of the two dispatches of the test.
const GROUPS: [u64; 2] = [3, 14];

fn random_test() -> String {
    let zeros =
        |count: u64| format!("{{ type = \"uint\", fill = {{ constant = 0 }}, count = {count} }}");
    let buffers = [0, 1].map(|index| {
        let invocations = 5 * GROUPS[index];
        format!("s{index} = {}, d{index} = {}", zeros(LINES * invocations), zeros(invocations))
    });
    let dispatches = [0, 1].map(|index| {
        format!(
            "{{ kernel = \"k\", groups = [{}, 1, 1], push_constants = {{ seed = {index} }}, bindings = [\
             {{ binding = 0, buffer = \"s{index}\" }}, {{ binding = 1, buffer = \"d{index}\" }}] }}",
            GROUPS[index]
        )
    });
    let expected = [0, 1].map(|index| {
        format!("{{ buffer = \"d{index}\", values = {:?} }}", vec![1; 5 * GROUPS[index] as usize])
    });
    format!(
        "[[test]]\nid = \"TC-1\"\nrequirements = [\"HLR-1\"]\nbuffers = {{ {} }}\ndispatches = [{}]\nexpect = [{}]\n\n",
        buffers.join(", "),
        dispatches.join(", "),
        expected.join(", ")
    )
}

/// How many invocations set the flag of each line, in both dispatches.
fn flags_by_line(folder: &Path) -> BTreeMap<u64, u64> {
    let campaign = std::fs::read(folder.join("out/evidence/campaign.json")).expect("a file");
    let campaign: Value = serde_json::from_slice(&campaign).expect("JSON");
    let result = &campaign["tests"][0]["results"][0];
    assert_eq!(result["verdict"], "pass", "{}", result["reason"]);
    let mut flags = BTreeMap::new();
    for buffer in ["s0", "s1"] {
        let output = &result["outputs"][buffer];
        let text = output["bytes"].as_str().unwrap_or_else(|| panic!("bytes: {output}"));
        let bytes = base64::engine::general_purpose::STANDARD.decode(text).expect("base64");
        for (index, word) in bytes.chunks_exact(4).enumerate() {
            *flags.entry(index as u64 % LINES).or_insert(0) += u64::from(word[0]);
        }
    }
    flags
}

/// The line whose flag tells of a line's statements; none of those that all invocations execute.
fn flag_of(line_text: &str) -> Option<u64> {
    let (_, behind) = line_text.split_once("o + ")?;
    behind.split_once('u')?.0.parse().ok()
}

#[test]
fn counts_are_the_flags_that_random_kernels_write() {
    let invocations: u64 = 5 * GROUPS.iter().sum::<u64>();
    let (mut partly_executed, mut never_executed) = (0, 0);
    for seed in 0..16 {
        let folder = tempfile::tempdir().expect("a folder");
        let text = RandomKernel::text(seed);
        project(folder.path(), METRIC, &text, &random_test());
        let kernels = kernels(folder.path(), &["--engine", "sequential"]);
        let coverage = &kernels[0]["coverage"];
        let average = &coverage["average_statement"];
        let flags = flags_by_line(folder.path());
        let rows = average["statements"].as_array().expect("statements");
        let statements = coverage["statements"].as_array().expect("statements");
        assert_eq!(rows.len(), statements.len());
        let mut numerator = 0;
        for (row, statement) in rows.iter().zip(statements) {
            assert_eq!(row["statement"], statement["id"]);
            let line = statement["line"].as_u64().expect("a line");
            let line_text = text.lines().nth(line as usize - 1).expect("a line");
            // The function of chance is called wherever a flag stands; the head of `main` always.
            if line_text.starts_with("uint next()") {
                numerator += row["executed"].as_u64().expect("a number");
                continue;
            }
            let expected = flag_of(line_text).map_or(invocations, |flag| flags[&flag]);
            assert_eq!(row["executed"], expected, "seed {seed}: {line_text}\n{text}");
            numerator += expected;
            partly_executed += u32::from(expected > 0 && expected < invocations);
            never_executed += u32::from(expected == 0);
        }
        let share = &average["average"];
        assert_eq!(share["numerator"], numerator);
        assert_eq!(share["denominator"], statements.len() as u64 * invocations);
        assert_eq!(share["unknown"], 0);
    }
    assert!(partly_executed > 100 && never_executed > 20, "{partly_executed}, {never_executed}");
}
