//! Runs every file test that a device may run on both engines: outputs meet the expectations and
//! each other.

use crate::device;
use crate::filetest;

use filetest::FileTest;
use std::path::Path;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{BufferContents, Completion, Executor, Unobserved};

/// Tests that a driver runs wrongly: name, part of the driver's identity, why (docs/agreement.md).
const KNOWN: &[(&str, &str, &str)] = &[(
    "value_kept_from_loop",
    "Mesa 22.3.6",
    "a value computed from a loop variable is computed behind the loop, from the updated variable",
)];

/// Words that differ and have no expectation; an expected float word has the tolerance of
/// `FileTest::mismatches`.
fn differences(test: &FileTest, ours: &[BufferContents], theirs: &[BufferContents]) -> Vec<String> {
    let mut found = Vec::new();
    for (index, buffer) in test.buffers.iter().enumerate() {
        let float =
            test.expect.iter().find(|one| one.binding == buffer.binding && one.kind == "float");
        for (at, (a, b)) in ours[index].chunks(4).zip(theirs[index].chunks(4)).enumerate() {
            let expected = float.and_then(|one| one.words.get(at)).is_some_and(Option::is_some);
            if a != b && !expected {
                found.push(format!(
                    "buffer {} word {at}: sequential {a:?}, device {b:?}",
                    buffer.binding
                ));
            }
        }
    }
    found
}

/// Both engines on the tests of a folder below `tests/filetests` that a device may run.
fn give_the_same(folder: &str, least: usize) {
    let Some(mut device) = device::device() else { return };
    let driver = format!("{:?}", device.identity());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests").join(folder);
    let (mut run, mut failures) = (0, Vec::new());
    for test in FileTest::read_all(&folder).into_iter().filter(|test| !test.sequential_only) {
        let mut job = test.job();
        job.limits.seconds = 60.0;
        let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
        let theirs = device.run(&job, &mut Unobserved).unwrap();
        run += 1;
        assert_eq!(ours.completion, Completion::Completed, "{}", test.name);
        if theirs.completion != Completion::Completed {
            failures.push(format!("{}: {:?}", test.name, theirs.completion));
            continue;
        }
        let problems = test.mismatches(&theirs.buffers).into_iter();
        let problems: Vec<_> =
            problems.chain(differences(&test, &ours.buffers, &theirs.buffers)).collect();
        let known =
            KNOWN.iter().find(|(name, part, _)| *name == test.name && driver.contains(part));
        if let (Some((name, _, why)), false) = (known, problems.is_empty()) {
            println!("{name}: a defect of the driver: {why}");
            continue;
        }
        let problems = problems.into_iter();
        failures.extend(problems.map(|problem| format!("{}: {problem}", test.name)));
    }
    println!("{run} file tests on both engines");
    assert!(run >= least, "{run}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn file_tests_give_the_same_on_a_device() {
    give_the_same("run", 30);
}

/// The clean ones: an outcome that depends on who comes first would differ.
#[test]
fn kernels_without_races_give_the_same_on_a_device() {
    let topics = [
        "neighbours",
        "collective",
        "barriers",
        "divergence",
        "atomics",
        "layout",
        "images",
        "workgroups",
    ];
    for topic in topics {
        give_the_same(&format!("race/{topic}"), 10);
    }
    give_the_same("race/ordered", 5);
}
