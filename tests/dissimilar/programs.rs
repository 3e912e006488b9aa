//! Small kernels as C++ programs: where they stop, and how they take bad jobs.

use super::{TWO_REGIONS, clang, small_job, translated};
use crate::filetest;
use crate::support::{run, vkcert, write};
use std::collections::{BTreeMap, BTreeSet};
use vkcert::dissimilar::clang::RunOutcome;
use vkcert::dissimilar::job;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Executor, Job, Unobserved};
use vkcert::model::finding::FindingKind;

/// Programs in one, so that the header is compiled once.
pub(super) struct Together {
    folder: tempfile::TempDir,
    program: std::path::PathBuf,
}

impl Together {
    fn build(programs: &[String]) -> Self {
        Self::build_with(programs, "clang++-19")
    }

    /// One text that runs the program whose number it is given.
    fn joined(programs: &[String]) -> String {
        let header = programs[0].split("namespace kernel {").next().unwrap();
        let mut text = header.to_owned();
        let mut cases = String::new();
        for (number, program) in programs.iter().enumerate() {
            let kernel = program
                .split("namespace kernel {")
                .nth(1)
                .unwrap()
                .split("} // namespace kernel")
                .next()
                .unwrap();
            text += &format!(
                "namespace kernel_{number} {{{}}}\n",
                kernel.replace("kernel::", &format!("kernel_{number}::"))
            );
            cases += &format!(
                "case {number}: vkcert::run_job(job, kernel_{number}::dispatch); break;\n"
            );
        }
        text += "int main(int, char **arguments) {\nstd::ifstream job(arguments[2]);\n";
        text += &format!("switch (std::atoi(arguments[1])) {{\n{cases}}}\n}}\n");
        text
    }

    pub(super) fn build_with(programs: &[String], compiler: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (source, program) =
            (write(folder.path(), "all.cpp", Self::joined(programs)), folder.path().join("all"));
        let mut command = std::process::Command::new(compiler);
        command.args([
            "-std=c++17",
            "-ffp-contract=off",
            "-fno-strict-aliasing",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-o",
        ]);
        run(command.arg(&program).arg(&source), 0);
        Self { folder, program }
    }

    /// Whether a compiler takes the programs without a warning.
    pub(super) fn check(programs: &[String], compiler: &str) {
        let folder = tempfile::tempdir().unwrap();
        let source = write(folder.path(), "all.cpp", Self::joined(programs));
        let mut command = std::process::Command::new(compiler);
        run(
            command
                .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"])
                .arg(&source),
            0,
        );
    }

    pub(super) fn run(&self, number: usize, job: &Job) -> RunOutcome {
        let contents: Vec<_> = job.buffers.iter().map(|buffer| buffer.bytes.clone()).collect();
        let text =
            job::job_text(job, 0..job.dispatches.len(), &contents, job::SUBGROUP_SIZE).unwrap();
        let file = write(self.folder.path(), "job", text);
        let left = std::process::Command::new(&self.program)
            .arg(number.to_string())
            .arg(file)
            .output()
            .unwrap();
        let said = String::from_utf8(left.stderr).unwrap();
        match left.status.code() {
            Some(0) => RunOutcome::Completed(String::from_utf8(left.stdout).unwrap()),
            Some(3) => {
                RunOutcome::StoppedItself(said.trim().strip_prefix("stopped: ").unwrap().to_owned())
            }
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
    Flow(
        "do while, conditions that differ",
        "uint k = 0u; do { barrier(); k++; } while (k <= i);",
        Meeting::Some,
    ),
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
    Flow(
        "two branches with a barrier each",
        "if (i < 2u) { barrier(); } else { barrier(); }",
        Meeting::Some,
    ),
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

/// Only a barrier that some invocations miss is divergence; everything else ends as the engine ends
/// it.
#[test]
fn programs_stop_at_barriers_that_some_invocations_miss_and_nowhere_else() {
    if clang().is_none() {
        return;
    }
    let texts: Vec<String> = FLOWS.iter().map(Flow::text).collect();
    let translated = texts.iter().map(|text| {
        translated(text, &BTreeMap::new()).unwrap_or_else(|what| panic!("{what}\n{text}"))
    });
    let programs: Vec<String> = translated.map(|program| program.text).collect();
    let together = Together::build(&programs);
    for (number, Flow(name, _, meeting)) in FLOWS.iter().enumerate() {
        let job = small_job(&filetest::compile(name, &texts[number]));
        let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
        let found: BTreeSet<FindingKind> =
            ours.findings.iter().map(|finding| finding.kind).collect();
        let kernel = programs[number].split("// One workgroup").nth(1).unwrap_or_default();
        match (together.run(number, &job), meeting) {
            (RunOutcome::Completed(left), Meeting::All) => {
                assert!(found.is_empty(), "{name}: {:#?}", ours.findings);
                assert_eq!(job::parse_outputs(&left, 1).unwrap(), ours.buffers, "{name}\n{kernel}");
            }
            (RunOutcome::StoppedItself(why), Meeting::Some) => {
                assert_eq!(
                    found,
                    BTreeSet::from([FindingKind::BarrierDivergence]),
                    "{name}: {:#?}",
                    ours.findings
                );
                assert!(
                    why.starts_with("barrier divergence") && why.contains("text.comp:6"),
                    "{name}: {why}"
                );
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

/// What GLSL leaves undefined or open stops the program by name, in constant expressions too, where
/// the compiler has folded it for the engines.
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
            (RunOutcome::StoppedItself(why), Some(due)) => {
                assert!(why.starts_with(due), "{body}: {why}")
            }
            (RunOutcome::Completed(left), None) => {
                let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
                assert_eq!(job::parse_outputs(&left, 1).unwrap(), ours.buffers, "{body}");
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
        command
            .arg("dissimilar")
            .arg(&file)
            .args(["--engine", "sequential", "--out"])
            .arg(folder.path());
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
    let built = tools.build_program(folder.path(), &program.text).unwrap();
    let run = |text: &str| {
        let file = write(folder.path(), "job", text);
        tools.run_program(&built, &file, &folder.path().join("counts.profraw"))
    };
    let words = "00".repeat(16);
    let good =
        format!("# four words\nbuffer 0 {words}\nbind 0 0 0 0 16\npush -\n\ndispatch 1 1 1\n");
    assert!(matches!(run(&good), Ok(RunOutcome::Completed(_))), "{:?}", run(&good));
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
        (
            format!("buffer 0 {words}\nbind 0 0 0 18446744073709551615 2\n"),
            "a binding beyond its buffer",
        ),
        (
            format!("buffer 0 {words}\nbind 0 0 0 18446744073709551616 2\n"),
            "a number that is too large",
        ),
        (format!("buffer 0 {words}\nbind 4294967296 0 0 0 16\n"), "a number that is too large"),
        (
            format!("buffer 0 {words}\ndispatch 1 1 1\n"),
            "the job binds no buffer to set 0, binding 0",
        ),
        (
            format!("{bound}dispatch 4294967296 1 1\n"),
            "line 3 of the job: a number that is too large",
        ),
        (format!("{bound}dispatch 1 1\n"), "it is not complete"),
        (format!("{bound}dispatch 1 1 -1\n"), "a word that is no number"),
        ("buffer 0 00\nbind 0 0 0 0 1\ndispatch 1 1 1\n".to_owned(), "an access beyond a buffer"),
        (bound.clone(), "the job dispatches nothing"),
        (String::new(), "the job dispatches nothing"),
    ] {
        match run(&text) {
            Ok(RunOutcome::StoppedItself(why)) => {
                assert!(why.contains(due) && !why.contains('\n'), "{text}: {why}")
            }
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
            command
                .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null"])
                .arg(&file);
            match command.output() {
                Ok(output) => {
                    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr))
                }
                Err(error) => eprintln!("NOT RUN: {compiler}: {error}"),
            }
        }
    }
}
