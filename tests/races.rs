//! The corpus of races and barriers (`tests/filetests/race`), racy kernels beside clean ones, by
//! topic: every racing pair of places is found at every tile width, and nothing else.

use crate::filetest;

use filetest::FileTest;
use filetest::judge::{Findings, WIDTHS, problems, run};
use std::path::{Path, PathBuf};
use vkcert::model::finding::FindingKind;

const TOPICS: [&str; 9] = [
    "neighbours",
    "collective",
    "barriers",
    "divergence",
    "atomics",
    "layout",
    "images",
    "workgroups",
    "subgroups",
];

fn folder(topic: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/race").join(topic)
}

/// Runs a topic of at least so many files. `VKCERT_RACE` chooses one file.
fn holds(topic: &str, least: usize) {
    let only = std::env::var("VKCERT_RACE").ok();
    let tests = FileTest::read_all(&folder(topic));
    assert!(tests.len() >= least, "{topic}: {} files", tests.len());
    let mut failures = Vec::new();
    for test in tests.iter().filter(|test| only.as_ref().is_none_or(|name| *name == test.name)) {
        for width in WIDTHS {
            let run = run(test, width);
            for problem in problems(test, width, &run, Findings::InEitherOrder) {
                failures.push(format!("{topic}/{} (width {width}): {problem}", test.name));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn neighbours_and_tiles() {
    holds("neighbours", 54);
}

#[test]
fn sums_scans_and_sorts() {
    holds("collective", 59);
}

#[test]
fn barriers_and_fences_beside_them() {
    holds("barriers", 67);
}

#[test]
fn barriers_that_not_all_reach() {
    holds("divergence", 24);
}

#[test]
fn atomics_and_plain_accesses() {
    holds("atomics", 40);
}

#[test]
fn numbers_structures_and_aliases() {
    holds("layout", 62);
}

#[test]
fn images_and_texel_buffers() {
    holds("images", 30);
}

#[test]
fn workgroups_beside_each_other() {
    holds("workgroups", 40);
}

#[test]
fn subgroups_and_their_barriers() {
    holds("subgroups", 35);
}

#[test]
fn flags_fences_and_scopes() {
    holds("ordered", 159);
}

/// Where calls of barriers and fences stand in a text: first byte, byte behind the semicolon.
fn barriers(text: &str) -> Vec<[usize; 2]> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("arrier") {
        let name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
        let first = at - text[..at].chars().rev().take_while(name).count();
        let behind = at + text[at..].chars().take_while(name).count();
        let called = text[behind..].starts_with('(') && !text[..first].ends_with("void ");
        let line = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
        if let (true, false, Some(end)) =
            (called, text[line..first].contains("//"), text[behind..].find(");"))
        {
            found.push([first, behind + end + 2]);
        }
    }
    found
}

/// Takes each barrier and each fence out of the kernels without a race; tells those that have none
/// then either. How many were taken out.
fn without_barriers(topic: &str, failures: &mut Vec<String>) -> usize {
    let compiler = shaderc::Compiler::new().unwrap();
    let mut taken = 0;
    for test in FileTest::read_all(&folder(topic)).iter().filter(|test| test.findings.is_empty()) {
        let text =
            std::fs::read_to_string(folder(topic).join(format!("{}.comp", test.name))).unwrap();
        for [first, behind] in barriers(&text) {
            let line = 1 + text[..first].matches('\n').count() as u32;
            let call = &text[first..behind];
            // Lines stay where they are.
            let kept: String = call.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
            let mutant = FileTest::of(
                &compiler,
                &test.name,
                &format!("{}{{}}{kept}{}", &text[..first], &text[behind..]),
            );
            let races = run(&mutant, 64)
                .findings
                .iter()
                .any(|finding| finding.kind == FindingKind::DataRace);
            if races == test.spare.contains(&line) {
                let without = if races { "races, and is called spare:" } else { "has no race" };
                failures
                    .push(format!("{topic}/{} {without} without {call} in line {line}", test.name));
            }
            taken += 1;
        }
    }
    taken
}

#[test]
fn a_kernel_without_one_of_its_barriers_races() {
    let mut failures = Vec::new();
    let taken: usize = TOPICS.iter().map(|topic| without_barriers(topic, &mut failures)).sum();
    println!("{taken} barriers taken out");
    assert!(taken >= 180, "{taken}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_kernel_without_one_of_its_fences_races() {
    let mut failures = Vec::new();
    let taken = without_barriers("ordered", &mut failures);
    println!("{taken} fences and barriers taken out");
    assert!(taken >= 100, "{taken}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
