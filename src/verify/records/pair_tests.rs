//! Pairs of accesses that no run of the tests could have left.

use crate::honest::{Forgery, assert_told, honest_at_level, verified};
use serde_json::json;
use vkcert_model::access_pair::{AccessPair, Passage, ShownPairs};
use vkcert_model::coverage::Status;
use vkcert_model::evidence::Evidence;
use vkcert_model::pair_obligation::KernelPairs;

const SETTINGS: &str = "level = \"C\"\ncriteria = [\"statement\", \"coupling\"]";

fn host_pair(use_index: u32) -> AccessPair {
    AccessPair { use_index, descriptor: None, passage: Passage::Host }
}

fn shown(pairs: &[AccessPair]) -> Option<ShownPairs> {
    Some(ShownPairs::Shown(pairs.iter().copied().collect()))
}

/// Two values that the host gives.
fn kernel_pairs() -> KernelPairs {
    let obligation = |number: u32, use_index: u32| {
        let place = json!({
            "file": "glsl/guard.comp", "line": 9, "column": 5, "function": "main",
            "instruction": use_index,
        });
        json!({
            "id": format!("P{number}"), "class": "host-to-kernel", "object": "n", "use": place,
            "pairs": [host_pair(use_index)],
        })
    };
    serde_json::from_value(json!({ "obligations": [obligation(1, 20), obligation(2, 30)] }))
        .unwrap()
}

/// The first test shows one of them, the second none.
fn followed() -> Evidence {
    honest_at_level(SETTINGS, |facts| {
        facts.kernels.iter_mut().for_each(|kernel| kernel.pairs = Some(kernel_pairs()));
        facts.kernels[0].records[0].records.pairs = shown(&[host_pair(20)]);
        facts.kernels[0].records[1].records.pairs = shown(&[]);
    })
}

fn statuses(evidence: &Evidence, kernel: usize) -> Vec<Status> {
    let rows = evidence.kernels[kernel].coverage.coupling.as_ref().expect("coupling coverage");
    rows.iter().map(|row| row.status).collect()
}

#[test]
fn coverage_of_coupling_follows_from_pairs() {
    let evidence = followed();
    assert_eq!(verified(&evidence).problems, Vec::<String>::new());
    assert_eq!(statuses(&evidence, 0), [Status::Covered, Status::Uncovered]);
    // A device does not tell who wrote what an invocation reads.
    assert_eq!(statuses(&evidence, 1), [Status::Undetermined; 2]);
}

#[test]
fn forged_pairs_are_told() {
    const PRESENCE: &str =
        "guard on sequential: records of T1: whether pairs of accesses were followed";
    assert_told(
        &followed(),
        &[
            Forgery::new(
                "a pair more",
                |forged| {
                    forged.kernels[0].records[1].records.pairs = shown(&[host_pair(30)]);
                },
                "guard on sequential: coupling coverage",
            ),
            Forgery::new(
                "no pairs",
                |forged| forged.kernels[0].records[0].records.pairs = None,
                PRESENCE,
            ),
            Forgery::new(
                "pairs of a device",
                |forged| forged.kernels[1].records[0].records.pairs = shown(&[host_pair(20)]),
                "guard on vulkan: records of T1: whether pairs of accesses were followed",
            ),
            Forgery::new(
                "pairs of object code",
                |forged| {
                    forged.kernels[0].objects.records[0].records.pairs = shown(&[]);
                },
                "guard on sequential: records of T1: pairs of accesses beside records of object code",
            ),
            Forgery::new(
                "a pair that the kernel does not have",
                |forged| {
                    forged.kernels[0].records[0].records.pairs =
                        shown(&[host_pair(20), host_pair(21)]);
                },
                "guard on sequential: records of T1: a pair of accesses that the kernel does not have",
            ),
            Forgery::new(
                "an obligation less",
                |forged| drop(forged.kernels[0].pairs.as_mut().unwrap().obligations.pop()),
                "guard on sequential: coupling coverage",
            ),
        ],
    );
}
