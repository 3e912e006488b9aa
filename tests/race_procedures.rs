//! Kernels as verification engineers write them (`tests/races`): reductions, scans, locks, queues,
//! look-back, hand-over by flags. The first line of each file says what races: `# RACY A-B, A-C:
//! why` by the marks `//@A` in the kernel, or `# CLEAN: why`; further lines `# scope
//! executed-schedule` what `race_scope` is, `# also KIND` which other findings there are.

use crate::support;

use rayon::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use support::*;

type Pair = (u64, u64);

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/races")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 320, "{} files", files.len());
    files
}

struct Result {
    pairs: BTreeSet<Pair>,
    others: BTreeSet<String>,
    scope: String,
    verdict: String,
}

fn result(file: &Path, more: &[&str]) -> Result {
    let output = vkcert()
        .arg("run")
        .arg(file)
        .args(["--engine", "sequential", "--format", "json"])
        .args(more)
        .output()
        .expect("the program starts");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let test = &document["tests"][0];
    assert!(test.is_object(), "{}: {document}", file.display());
    let (mut pairs, mut others) = (BTreeSet::new(), BTreeSet::new());
    for finding in test["findings"].as_array().unwrap() {
        if finding["kind"] == "data-race" {
            let lines =
                ["place", "other_place"].map(|place| finding[place]["line"].as_u64().unwrap());
            pairs.insert((lines[0].min(lines[1]), lines[0].max(lines[1])));
        } else {
            others.insert(finding["kind"].as_str().unwrap().to_owned());
        }
    }
    let text = |name: &str| test[name].as_str().unwrap_or("none").to_owned();
    Result { pairs, others, scope: text("race_scope"), verdict: text("verdict") }
}

/// Lines of the kernel by mark.
fn marks(text: &str) -> BTreeMap<&str, BTreeSet<u64>> {
    let mut marks: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    let kernels = text.split("source.text = \"\"\"\n").skip(1);
    for kernel in kernels.filter_map(|rest| rest.split("\"\"\"").next()) {
        for (line, number) in kernel.lines().zip(1..) {
            for part in line.split('@').skip(1) {
                let length = part.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(part.len());
                marks.entry(&part[..length]).or_default().insert(number);
            }
        }
    }
    marks
}

fn due(text: &str) -> BTreeSet<Pair> {
    let first = text.lines().next().unwrap();
    let Some(rest) = first.strip_prefix("# RACY ") else {
        assert!(first.starts_with("# CLEAN"), "{first}");
        return BTreeSet::new();
    };
    let (pairs, _) = rest.split_once(": ").unwrap_or((rest, ""));
    let marks = marks(text);
    let mut due = BTreeSet::new();
    for pair in pairs.split(',') {
        let (one, other) = pair.trim().split_once('-').unwrap_or_else(|| panic!("{first}"));
        for a in &marks[one] {
            due.extend(marks[other].iter().map(|b| (*a.min(b), *a.max(b))));
        }
    }
    due
}

fn stated<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .take(4)
        .find_map(|line| line.strip_prefix("# ")?.strip_prefix(key)?.strip_prefix(' '))
}

fn problem(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let (due, found) = (due(&text), result(file, &[]));
    let name = file.file_stem().unwrap().to_string_lossy();
    if found.pairs != due {
        return Some(format!("{name}: races {:?}, not {due:?}", found.pairs));
    }
    let others: Vec<&str> = found.others.iter().map(String::as_str).collect();
    if others.join(", ") != stated(&text, "also").unwrap_or_default() {
        return Some(format!("{name}: also {others:?}"));
    }
    let scope = stated(&text, "scope").is_none_or(|scope| scope == found.scope);
    (!scope || found.verdict != "pass")
        .then(|| format!("{name}: {} {}", found.scope, found.verdict))
}

#[test]
fn every_race_is_found_and_nothing_else() {
    let problems: Vec<String> = files().par_iter().filter_map(|file| problem(file)).collect();
    assert!(problems.is_empty(), "{} of them\n{}", problems.len(), problems.join("\n"));
}

/// Where the races are said to be those of every schedule, other schedules show no other ones.
#[test]
fn races_of_every_schedule_are_those_of_other_schedules() {
    let compare = |file: &PathBuf| {
        // Of two writes of one invocation the earlier one is hidden where another one reads both
        // only then.
        let hides = file.ends_with("reader_then_racing_writer_then_own_write.toml");
        let ordinary = result(file, &[]);
        if hides || ordinary.scope != "all-schedules" {
            return None;
        }
        let others = ["reversed", "reversed+tiles:1:reversed"].into_iter().filter_map(|schedule| {
            let other = result(file, &["--replay", schedule]);
            // Not everything can run at every tile width.
            let ran = other.verdict == "pass" || other.verdict == "fail";
            (ran && other.pairs != ordinary.pairs)
                .then(|| format!("{schedule}: {:?}, not {:?}", other.pairs, ordinary.pairs))
        });
        let others: Vec<String> = others.collect();
        (!others.is_empty()).then(|| {
            format!("{}: {}", file.file_stem().unwrap().to_string_lossy(), others.join("; "))
        })
    };
    let problems: Vec<String> = files().par_iter().filter_map(compare).collect();
    assert!(problems.is_empty(), "{} of them\n{}", problems.len(), problems.join("\n"));
}
