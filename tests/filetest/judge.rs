//! Runs a file test on the sequential engine and compares what it does with the directives.

use super::{Completed, Expected, FileTest};
use vkcert::exec::sequential::{MemoryModel, SequentialExecutor, Settings};
use vkcert::exec::{Completion, Executor, Run, Unobserved};
use vkcert::model::finding::{Finding, FindingKind};
use vkcert::model::place::Place;
use vkcert::model::printed::PrintedLine;

/// Tile widths at which every file test runs.
pub(crate) const WIDTHS: [u32; 5] = [64, 1, 3, 128, 1024];

/// How the listed findings are compared with those that are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Findings {
    /// The later place first; where the result may depend on the width, only kinds at other widths
    /// than 64.
    AsListed,
    /// The two places of a data race in either order, and exactly these pairs at every width. Where
    /// the result may depend on the width, a read that races may come before what it should read:
    /// then it reads what nobody wrote.
    InEitherOrder,
}

pub(crate) fn run(test: &FileTest, tile_width: u32) -> Run {
    let memory_model = if test.spec_memory_model { MemoryModel::Spec } else { MemoryModel::Idiom };
    let settings = Settings { tile_width, memory_model, ..Settings::default() };
    SequentialExecutor::new(settings)
        .run(&test.job(), &mut Unobserved)
        .expect("the engine does not fail")
}

fn line(place: &Option<Place>) -> Option<u32> {
    place.as_ref().and_then(|place| place.line)
}

/// As the directive `print` has it.
fn printed_line(line: &PrintedLine) -> String {
    let [x, y, z] = line.invocation;
    format!("{x} {y} {z} @{} {}", line.place.line.unwrap_or(0), line.text.trim_end())
}

fn completes(test: &FileTest, run: &Run) -> bool {
    match (&run.completion, &test.completion) {
        (Completion::Completed, Completed::Wholly)
        | (Completion::Error { .. } | Completion::DeviceLost { .. }, Completed::Error)
        | (Completion::NoTermination { .. }, Completed::NoTermination)
        | (Completion::Undetermined { .. }, Completed::Undetermined) => true,
        (Completion::Unsupported { what }, Completed::Unsupported(name)) => {
            what.contains(name.as_str())
        }
        _ => false,
    }
}

fn is_expected(expected: &Expected, finding: &Finding, findings: Findings) -> bool {
    let (here, there) = (line(&finding.place), line(&finding.other_place));
    let at = |one: Option<u32>, other: Option<u32>| {
        one == Some(expected.line) && expected.other.is_none_or(|line| other == Some(line))
    };
    let turned = match findings {
        Findings::AsListed => false,
        Findings::InEitherOrder => expected.kind == "data-race" && at(there, here),
    };
    finding.kind.to_string() == expected.kind && (at(here, there) || turned)
}

/// Listed findings that were not made, and made findings that are not listed.
fn wrong_findings(test: &FileTest, width: u32, run: &Run, findings: Findings) -> Vec<String> {
    let tolerated =
        |made: &Finding| made.kind == FindingKind::UninitializedRead && may_vary(test, width);
    let missing = test
        .findings
        .iter()
        .filter(|one| !run.findings.iter().any(|made| is_expected(one, made, findings)));
    let more = run
        .findings
        .iter()
        .filter(|made| !test.findings.iter().any(|one| is_expected(one, made, findings)));
    let more = more.filter(|made| !tolerated(made));
    let missing = missing.map(|one| format!("missing finding {one:?}"));
    let more = more.map(|made| {
        let places = (line(&made.place), line(&made.other_place));
        format!("unexpected finding {} {places:?}: {}", made.kind, made.message)
    });
    missing.chain(more).collect()
}

/// Whether the outcome at this width may be another than the expected one.
fn may_vary(test: &FileTest, width: u32) -> bool {
    test.unordered && width != 64
}

/// Kinds that were not found at all.
fn missing_kinds(test: &FileTest, run: &Run) -> Vec<String> {
    let kinds: Vec<String> = run.findings.iter().map(|finding| finding.kind.to_string()).collect();
    test.findings
        .iter()
        .filter(|one| !kinds.contains(&one.kind))
        .map(|one| format!("no {one:?}"))
        .collect()
}

/// What a run at a tile width does other than the directives say.
pub(crate) fn problems(test: &FileTest, width: u32, run: &Run, findings: Findings) -> Vec<String> {
    if may_vary(test, width) && findings == Findings::AsListed {
        // Which of two racing accesses comes first depends on the width; that they race does not.
        return missing_kinds(test, run);
    }
    let mut problems = wrong_findings(test, width, run, findings);
    if !completes(test, run) {
        problems.push(format!("completion {:?}, expected {:?}", run.completion, test.completion));
    }
    for (kind, name, value) in &test.details {
        let has = |finding: &Finding| {
            finding.kind.to_string() == *kind
                && finding
                    .stored_details()
                    .get(name)
                    .is_some_and(|one| one.to_string().trim_matches('"') == *value)
        };
        if !run.findings.iter().any(has) {
            problems.push(format!("no {kind} with {name} {value}"));
        }
    }
    let printed: Vec<String> = run.printed.lines.iter().map(printed_line).collect();
    if printed != test.prints {
        problems.push(format!("printed {printed:#?}, expected {:#?}", test.prints));
    }
    if !may_vary(test, width) {
        problems.extend(test.mismatches(&run.buffers));
    }
    problems
}
