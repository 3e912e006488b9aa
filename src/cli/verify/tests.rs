//! What a forger can change without a trace, and what whoever reads evidence must survive.
//!
//! The project is small, but has a part of each kind: includes, data files, a block laid out by
//! reflection, two configurations, a failed test, findings, an interface, a justification.

use super::compiled::{rebuild_project, verify_contents, verify_folder};
use super::forgery::{
    HonestEvidence, PROJECT, certified_folder, certified_folder_with, evidence_documents,
    forged_values, mutate_place, places_in, repository_root, survive_changes, survive_evidence,
    verify_forged, with_forged_document,
};
use crate::derivation::files::MANIFEST;
use crate::model::evidence::{Evidence, Manifest};
use crate::model::random::SplitMix64;
use crate::verify::folder::{self, EvidenceFolder};
use crate::verify::{
    RebuildOutcome, Replay, Verification, VerificationOptions, consistency, telling, verify_files,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn stored(folder: &EvidenceFolder) -> Evidence {
    let examined = folder::examine_files(folder).unwrap();
    assert_eq!(examined.problems, Vec::<String>::new());
    *examined.evidence.unwrap()
}

#[test]
fn evidence_and_its_replay_verify() {
    let (folder, _) = certified_folder();
    let path = folder.path().join("reports/evidence");
    for replay in [Replay::No, Replay::Sequential] {
        let options = VerificationOptions {
            replay,
            project: Some(repository_root().join(PROJECT)),
            ..VerificationOptions::default()
        };
        let (found, _) = verify_folder(&path, &options).unwrap();
        assert_eq!((found.problems, found.not_derivable), (Vec::new(), Vec::new()));
        assert!(found.checked > 1000, "{}", found.checked);
    }
}

/// Whether anything is said of a folder without looking at what its runs came to.
fn noticed(folder: &EvidenceFolder) -> bool {
    let Ok((mut found, stored)) = verify_files(folder, &VerificationOptions::default()) else {
        return true;
    };
    stored.iter().for_each(|stored| consistency::check_always(stored, &mut found));
    !found.holds()
}

#[test]
fn no_bit_flip_goes_unnoticed() {
    let (_kept, whole) = certified_folder();
    assert!(!noticed(&whole));
    let manifest: Manifest = serde_json::from_slice(&whole.files[MANIFEST]).unwrap();
    let mut folder =
        EvidenceFolder { report_list: None, reports: BTreeMap::new(), ..whole.clone() };
    // The hashes find what is in the files, the contents of the others what is in the manifest.
    for name in whole.files.keys().filter(|name| *name != MANIFEST) {
        flip_each(&whole.files[name], 1, |bytes| {
            folder.files.insert(name.clone(), bytes.to_vec());
            assert!(!folder::find_tampering(&folder, &manifest).is_empty(), "{name}");
        });
        folder.files.insert(name.clone(), whole.files[name].clone());
    }
    flip_each(&whole.files[MANIFEST], 1, |bytes| {
        folder.files.insert(MANIFEST.to_owned(), bytes.to_vec());
        assert!(noticed(&folder), "{}", String::from_utf8_lossy(bytes));
    });
    folder.files.insert(MANIFEST.to_owned(), whole.files[MANIFEST].clone());
    flip_each(whole.report_list.as_ref().unwrap(), 1, |bytes| {
        let folder = EvidenceFolder { report_list: Some(bytes.to_vec()), ..whole.clone() };
        assert!(
            !folder::find_tampering(&folder, &manifest).is_empty(),
            "{}",
            String::from_utf8_lossy(bytes)
        );
    });
    let small = EvidenceFolder {
        files: BTreeMap::from([(MANIFEST.to_owned(), whole.files[MANIFEST].clone())]),
        ..whole.clone()
    };
    for (name, report) in &whole.reports {
        flip_each(report, 61, |bytes| {
            let mut folder = small.clone();
            folder.reports.insert(name.clone(), bytes.to_vec());
            let problems = folder::find_tampering(&folder, &manifest);
            assert!(problems.iter().any(|problem| problem.starts_with(name.as_str())), "{name}");
        });
    }
}

/// Every `stride`-th byte with one bit changed, a different one from byte to byte.
fn flip_each(bytes: &[u8], stride: usize, mut judge: impl FnMut(&[u8])) {
    let mut changed = bytes.to_vec();
    for at in (0..bytes.len()).step_by(stride) {
        changed[at] ^= 1 << (at % 8);
        judge(&changed);
        changed[at] = bytes[at];
    }
}

/// What can be forged without a trace, because it is a fact or follows from nothing that is stored:
/// file, path with `*` for any key or number, and the words that `docs/evidence.md` has for it.
const FACTS: Facts = &[
    ("campaign.json/tests/*/results/*/race_scope", "whether the races are those of every schedule"),
    ("campaign.json/tests/*/results/*/touched/**", "what a dispatch accessed of a buffer"),
    ("campaign.json/tests/*/results/*/outputs/summary/bytes", "outputs that no expectation judges"),
    ("campaign.json/tests/*/results/*/findings/*", "the invocations that showed them"),
    ("campaign.json/tests/*/results/*/findings/*/count", "their messages, counts"),
    (
        "campaign.json/tests/*/results/*/findings/*/invocations/**",
        "the invocations that showed them",
    ),
    ("kernel/lowering/*/true_count", "loops of the lowering were executed"),
    ("kernel/lowering/*/false_count", "loops of the lowering were executed"),
    ("kernel/records/*/records/barriers/**", "how often barriers"),
    ("kernel/records/*/records/witnesses/**", "which invocation is the witness of a vector"),
    ("kernel/objects/records/*/records", "how often barriers"),
    ("kernel/objects/records/*/records/barriers/**", "how often barriers"),
    (
        "kernel/objects/records/*/records/witnesses/**",
        "which invocation is the witness of a vector",
    ),
];

/// Places of one field that are forged; lists of evidence have many.
const INSTANCES: usize = 2;

/// The field that a path leads to: numbers of lists and of records are no part of it.
fn field(path: &str) -> String {
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    path.split('/')
        .map(|part| if !part.is_empty() && is_number(&part) { "*" } else { part })
        .collect::<Vec<_>>()
        .join("/")
}

/// Whether a path is one of a pattern.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) =
        (pattern.split('/').collect(), path.split('/').collect());
    let open = pattern.last() == Some(&"**");
    let fixed = pattern.len() - usize::from(open);
    (pattern.len() == path.len() || open && path.len() >= fixed)
        && pattern[..fixed].iter().zip(&path).all(|(wanted, part)| *wanted == "*" || wanted == part)
}

/// A change in few words.
fn change(original: &Value, forged: &Value) -> String {
    match (original, forged) {
        (Value::Object(one), Value::Object(other)) => one
            .keys()
            .filter(|key| !other.contains_key(*key))
            .map(|key| format!("without {key}"))
            .collect(),
        (Value::Array(one), Value::Array(other)) => {
            format!("{} elements for {}", other.len(), one.len())
        }
        (_, _) => forged.to_string(),
    }
}

/// What forging every field that is chosen comes to.
#[derive(Default)]
pub(super) struct Walk {
    tried: usize,
    /// Fields that were forged.
    pub(super) fields: BTreeSet<String>,
    /// Patterns of the table of facts that stood for a forgery which was not found.
    used: BTreeSet<&'static str>,
    unnoticed: BTreeMap<String, String>,
}

pub(super) type Facts = &'static [(&'static str, &'static str)];

/// Forges every field that is chosen, once or twice each.
pub(super) fn walk(honest: &HonestEvidence, facts: Facts, is_chosen: fn(&str) -> bool) -> Walk {
    let mut walk = Walk::default();
    let mut instances: BTreeMap<String, usize> = BTreeMap::new();
    for (name, document) in evidence_documents(&honest.0) {
        let mut all = Vec::new();
        places_in(&document, "", &mut all);
        for path in all.into_iter().filter(|path| is_chosen(path)) {
            let known = instances.entry(format!("{name}{}", field(&path))).or_default();
            *known += 1;
            if *known > INSTANCES {
                continue;
            }
            let original = document.pointer(&path).unwrap();
            for forged in forged_values(original) {
                let mut changed = document.clone();
                *changed.pointer_mut(&path).unwrap() = forged.clone();
                if name == MANIFEST {
                    changed["outputs"] = serde_json::to_value(&honest.0.manifest.outputs).unwrap();
                }
                let Some(evidence) = with_forged_document(&honest.0, &name, &changed) else {
                    continue;
                };
                if evidence == honest.0 {
                    continue;
                }
                walk.tried += 1;
                walk.fields.insert(field(&path));
                if !verify_forged(&evidence, honest).holds() {
                    continue;
                }
                let place =
                    format!("{}{path}", if name.starts_with("kernel-") { "kernel" } else { &name });
                match facts.iter().find(|(pattern, _)| fits(pattern, &place)) {
                    Some((pattern, _)) => drop(walk.used.insert(*pattern)),
                    None => drop(walk.unnoticed.insert(place, change(original, &forged))),
                }
            }
        }
    }
    walk
}

/// Every forgery was found or is of a fact, every row of facts is needed, and the documents name
/// each.
pub(super) fn assert_told(walk: &Walk, facts: Facts) {
    let list: Vec<String> =
        walk.unnoticed.iter().map(|(place, forged)| format!("{place} = {forged}")).collect();
    assert!(
        list.is_empty(),
        "forged without a trace ({} of {}):\n{}",
        list.len(),
        walk.tried,
        list.join("\n")
    );
    let idle =
        facts.iter().map(|(pattern, _)| *pattern).filter(|pattern| !walk.used.contains(pattern));
    let idle: Vec<&str> = idle.collect();
    assert!(idle.is_empty(), "these are found by now, and need no row: {idle:?}");
    let text = std::fs::read_to_string(repository_root().join("docs/evidence.md")).unwrap();
    for (pattern, words) in facts {
        assert!(
            text.contains(words),
            "docs/evidence.md does not say that {words} can be forged ({pattern})"
        );
    }
}

fn rebuilt(folder: &EvidenceFolder) -> HonestEvidence {
    let evidence = stored(folder);
    let rebuilt = rebuild_project(&evidence, None);
    assert!(matches!(rebuilt, RebuildOutcome::Whole(_)));
    let honest: HonestEvidence = (evidence, rebuilt);
    assert_eq!(verify_forged(&honest.0, &honest).problems, Vec::<String>::new());
    honest
}

#[test]
fn every_forged_field_is_found_or_a_fact() {
    let (_kept, folder) = certified_folder();
    let walk = walk(&rebuilt(&folder), FACTS, |_| true);
    assert!(walk.tried > 1000, "{}", walk.tried);
    assert_told(&walk, FACTS);
}

/// Of schedules: what they can be forged to say without a trace.
const SCHEDULE_FACTS: Facts = &[
    ("campaign.json/tests/*/results/*/schedules/asked", "how many other schedules were asked for"),
    ("campaign.json/tests/*/results/*/schedules/seed", "how many other schedules were asked for"),
    ("campaign.json/tests/*/results/*/schedules/reason", "how many other schedules were asked for"),
];

/// Schedules that were asked for, and what who waits first has shown.
#[test]
fn every_forged_field_of_schedules_is_found_or_a_fact() {
    let (_kept, folder) = certified_folder_with(
        "tests/projects/waiting",
        &["--engine", "sequential", "--schedules", "1"],
    );
    let walk = walk(&rebuilt(&folder), SCHEDULE_FACTS, |path| {
        path.contains("/directed") || path.contains("/schedules")
    });
    for field in [
        "/tests/*/results/*/directed/*/schedule",
        "/tests/*/results/*/directed/*/of",
        "/tests/*/results/*/directed/*/shown",
        "/tests/*/results/*/schedules/asked",
        "/tests/*/results/*/schedules/ran",
        "/tests/*/results/*/schedules/status",
        "/records/*/records/directed",
        "/objects/records/*/records/directed",
        "/coverage/decisions/*/vectors/*/directed",
    ] {
        assert!(walk.fields.contains(field), "{field} was not forged: {:?}", walk.fields);
    }
    assert_told(&walk, SCHEDULE_FACTS);
}

#[test]
fn no_evidence_makes_the_reader_panic() {
    let (_kept, folder) = certified_folder();
    let evidence = stored(&folder);
    let rebuilt = rebuild_project(&evidence, None);
    let honest: HonestEvidence = (evidence, rebuilt);
    let names: Vec<String> =
        evidence_documents(&honest.0).into_iter().map(|(name, _)| name).collect();
    let mutations: u64 =
        std::env::var("VKCERT_FORGERIES").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    let mut read = 0;
    for seed in 0..mutations {
        let mut random = SplitMix64::new(seed);
        let mut forged = honest.0.clone();
        for _ in 0..1 + seed % 4 {
            let name = &names[(random.draw() % names.len() as u64) as usize];
            // A kernel whose name was forged has a file of another name.
            let documents = evidence_documents(&forged);
            let Some((_, mut document)) = documents.into_iter().find(|(known, _)| known == name)
            else {
                continue;
            };
            if name == MANIFEST {
                document["outputs"] = Value::from(serde_json::Map::new());
            }
            mutate_place(&mut document, &mut |count| {
                (random.draw() % count.max(1) as u64) as usize
            });
            if let Some(changed) = with_forged_document(&forged, name, &document) {
                forged = changed;
            }
        }
        if forged == honest.0 {
            continue;
        }
        read += 1;
        survive_evidence(&forged, &honest);
    }
    assert!(read > mutations / 4, "{read} of {mutations}");
}

#[test]
fn the_fuzz_target_changes_evidence_and_survives() {
    let mut random = SplitMix64::new(7);
    for _ in 0..20 {
        let bytes: Vec<u8> = (0..12).map(|_| random.draw() as u8).collect();
        survive_changes(&bytes);
    }
}

#[test]
fn older_evidence_is_still_read() {
    let path = repository_root().join("tests/stored/format_1/evidence");
    let (found, stored) = verify_folder(&path, &VerificationOptions::default()).unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    assert!(stored.is_some());
}

/// Made by version 0.1.0, when one of the kernels that a function is part of was enough.
#[test]
fn evidence_of_the_version_before_verifies_in_part() {
    let path = repository_root().join("tests/stored/format_2/evidence");
    let (found, stored) = verify_folder(&path, &VerificationOptions::default()).unwrap();
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(found.status().name(), "verified-in-part");
    let words = telling::in_words(&found);
    let (first, last) = (words.lines().next().unwrap(), words.lines().last().unwrap());
    assert!(first.starts_with("result            verified in part, NOT as a whole"), "{words}");
    assert!(last.starts_with("verified in part, NOT as a whole:"), "{words}");
    // Under the rules of this version it would say too much.
    let mut renamed = *stored.unwrap();
    renamed.campaign.project.tool_version = "0.1.1".to_owned();
    let (mut found, rebuilt) = (Verification::default(), rebuild_project(&renamed, None));
    verify_contents(&renamed, &rebuilt, &VerificationOptions::default(), &mut found).unwrap();
    assert!(
        found.problems.iter().any(|problem| problem.contains("requirement R: its status")),
        "{found:?}"
    );
}

#[test]
fn a_root_is_that_of_the_manifest_or_of_the_list_of_reports() {
    let (kept, folder) = certified_folder();
    let path: &Path = &kept.path().join("reports/evidence");
    let verified = |root: &str| {
        let options =
            VerificationOptions { root: Some(root.to_owned()), ..VerificationOptions::default() };
        verify_folder(path, &options).unwrap().0.holds()
    };
    assert!(verified(&folder.root()));
    assert!(verified(&format!("sha256:{}", folder.list_hash().unwrap().to_uppercase())));
    for wrong in [
        "0".repeat(64),
        folder.root()[..63].to_owned(),
        format!("{}0", folder.root()),
        String::new(),
    ] {
        assert!(!verified(&wrong), "{wrong}");
    }
}
