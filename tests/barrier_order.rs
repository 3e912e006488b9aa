//! What the check `barrier-order` says against what the sequential engine finds: no write and read
//! that race within a workgroup are said to be ordered, or never to meet.

use crate::filetest;

use filetest::FileTest;
use filetest::judge::run;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert::model::finding::FindingKind;
use vkcert::model::finding_details::{AccessKind, RaceReach};
use vkcert::model::project::MemoryModel;
use vkcert::spirv::module::Module;
use vkcert::spirv::pairs::{HostRanges, PairRequest, conflicting_accesses};

/// Pairs of instructions, by where they stand in the module, that are not said to be ordered.
fn open_pairs(test: &FileTest, module: &Module) -> BTreeSet<[u32; 2]> {
    let memory_model = if test.spec_memory_model { MemoryModel::Spec } else { MemoryModel::Idiom };
    let request = PairRequest {
        module,
        entry: "main",
        specialization: &test.specialization.iter().copied().collect::<BTreeMap<_, _>>(),
        memory_model,
        unwritten_by_host: &BTreeSet::new(),
        aliased: &BTreeSet::new(),
    };
    let conflicts = conflicting_accesses(&request, &HostRanges::default());
    let conflicts = conflicts.unwrap_or_else(|error| panic!("{}: {error}", test.name));
    let open = conflicts.iter().filter(|conflict| !conflict.order.is_shown());
    let words = open.map(|conflict| {
        let [first, second] =
            [conflict.write, conflict.other].map(|index| module.instructions[index].offset);
        [first.min(second), first.max(second)]
    });
    words.collect()
}

#[derive(Debug, Default)]
struct Tally {
    files: usize,
    races: usize,
    clean_files: usize,
    clean_and_shown: usize,
}

/// Holds the check to a run of each file of a folder. One buffer under two names is another
/// matter, which the check leaves out.
fn hold_to_runs(folder: &Path, tally: &mut Tally, faults: &mut Vec<String>) {
    for test in FileTest::read_all(folder).iter().filter(|test| test.aliases.is_empty()) {
        let Ok(module) = Module::parse(test.words.clone()) else { continue };
        let open = open_pairs(test, &module);
        tally.files += 1;
        let finished_run = run(test, 64);
        let mut has_race = false;
        for finding in &finished_run.findings {
            let Some(race) = finding.details.race() else { continue };
            debug_assert_eq!(finding.kind, FindingKind::DataRace);
            has_race = true;
            let is_read = |kind: &AccessKind| *kind == AccessKind::Read;
            if race.reach != RaceReach::WithinWorkgroup || !race.accesses.iter().any(is_read) {
                continue;
            }
            let words = [&finding.place, &finding.other_place]
                .map(|place| place.as_ref().and_then(|place| place.instruction).unwrap_or(0));
            tally.races += 1;
            if !open.contains(&[words[0].min(words[1]), words[0].max(words[1])]) {
                faults.push(format!("{}: {}: {open:?} {words:?}", test.name, finding.message));
            }
        }
        if !has_race {
            tally.clean_files += 1;
            tally.clean_and_shown += usize::from(open.is_empty());
        }
    }
}

#[test]
fn nothing_that_races_is_said_to_be_ordered() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/race");
    let (mut tally, mut faults) = (Tally::default(), Vec::new());
    let mut topics: Vec<_> = std::fs::read_dir(corpus)
        .expect("readable")
        .map(|topic| topic.expect("readable").path())
        .collect();
    topics.sort();
    for topic in topics {
        hold_to_runs(&topic, &mut tally, &mut faults);
    }
    println!("{tally:?}");
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    assert!(tally.files > 500 && tally.races > 200, "{tally:?}");
    // Worth something only if much of what is right is shown.
    assert!(tally.clean_and_shown * 2 > tally.clean_files, "{tally:?}");
}
