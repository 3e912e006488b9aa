//! Runs that show an access out of bounds.
//!
//! Knows: parameter values at and beside their bounds, and what the host makes of them: sizes,
//! push constants, specialization, group counts.
//! Promises: an access is told as shown only if the sequential engine finds it out of bounds in a
//! run of the kernel under these values, with buffers and images that hold zeros. Only accesses that
//! depend on host values and ids of invocations alone are asked for, so that no contents are at
//! fault.
//! Does not cover: what cannot be run (`crate::replay`).

use super::super::CouplingInput;
use super::super::expressions::HostExpressions;
use super::super::replay::{MOST_RUNS, Replay};
use super::told_offsets;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::finding::{Checks, Finding, FindingKind};
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::range::{AccessOutcome, JudgedAccess};

/// An access that a run showed out of bounds.
pub(super) struct ShownAccess {
    pub parameters: BTreeMap<String, i64>,
    /// `in invocation (16, 0, 0) of workgroup (1, 0, 0)`
    pub invocation_words: String,
    pub finding_message: String,
}

/// Accesses that runs show out of bounds, by instruction.
pub(super) fn shown_accesses(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
    specialization: &BTreeMap<u32, u64>,
    accesses: &[JudgedAccess],
) -> BTreeMap<usize, ShownAccess> {
    let mut shown = BTreeMap::new();
    let mut wanted: BTreeMap<u32, usize> = BTreeMap::new();
    for access in accesses {
        if let AccessOutcome::Open { is_of_host_and_ids: true, .. } = access.outcome {
            let offsets = told_offsets(input.module, access.instruction);
            wanted.extend(offsets.into_iter().map(|offset| (offset, access.instruction)));
        }
    }
    let wanted_count = wanted.values().collect::<BTreeSet<_>>().len();
    let replay = Replay { input, host, expressions, specialization };
    let Some(engine) = input.replay.filter(|_| replay.can_run()) else { return shown };
    let mut run_count = 0;
    for parameters in host.probing_cases() {
        if shown.len() == wanted_count || run_count == MOST_RUNS {
            break;
        }
        let checks = Checks::of_kinds([FindingKind::OutOfBounds]);
        let Some(job) = replay.job_for(&parameters, checks) else { continue };
        run_count += 1;
        for finding in replay.findings(engine, &job) {
            if finding.kind != FindingKind::OutOfBounds {
                continue;
            }
            let offset = finding.place.as_ref().and_then(|place| place.instruction);
            let Some(instruction) = offset.and_then(|offset| wanted.get(&offset)) else { continue };
            shown.entry(*instruction).or_insert_with(|| ShownAccess {
                parameters: parameters.clone(),
                invocation_words: invocation_words(&replay, &finding),
                finding_message: finding.message.clone(),
            });
        }
    }
    shown
}

fn invocation_words(replay: &Replay<'_>, finding: &Finding) -> String {
    match replay.invocation_words(finding, 0) {
        Some(words) => {
            format!("in invocation {words}, with {} that hold zeros", replay.contents_words())
        }
        None => "in some invocation".to_owned(),
    }
}
