//! The corpus of races and barriers (`tests/filetests/race`), racy kernels beside clean ones, by topic: every racing pair
//! of places is found at every tile width, and nothing else.

mod filetest;

use filetest::FileTest;
use filetest::judge::{Findings, WIDTHS, problems, run};
use std::path::{Path, PathBuf};

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
    holds("neighbours", 30);
}

#[test]
fn sums_scans_and_sorts() {
    holds("collective", 30);
}

#[test]
fn barriers_and_fences_beside_them() {
    holds("barriers", 30);
}

#[test]
fn barriers_that_not_all_reach() {
    holds("divergence", 10);
}

#[test]
fn atomics_and_plain_accesses() {
    holds("atomics", 20);
}

#[test]
fn numbers_structures_and_aliases() {
    holds("layout", 30);
}

#[test]
fn images_and_texel_buffers() {
    holds("images", 10);
}

#[test]
fn workgroups_beside_each_other() {
    holds("workgroups", 20);
}

#[test]
fn subgroups_and_their_barriers() {
    holds("subgroups", 15);
}

#[test]
#[ignore = "the engine takes atomics and fences apart from barriers as ordering nothing yet"]
fn flags_fences_and_scopes() {
    holds("ordered", 50);
}
