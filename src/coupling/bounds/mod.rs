//! Index bounds: every access of the kernel against the size of what it accesses.
//!
//! Knows: what the host hands over (`host_numbers`); the range analysis of modules
//! (`vkcert_spirv::range`).
//! Promises: `holds` only by proof, for all parameter values, workgroups and invocations; `refuted`
//! only with parameter values for which a run on the sequential engine shows the access out of
//! bounds (`replay`); all else is `undetermined` with its reason, also what is proved and a test
//! finds out of bounds (`contradiction`). Every access place is counted in one row.
//! Does not cover: what another invocation writes.

mod contradiction;
mod host_numbers;
mod replay;
#[cfg(test)]
pub(crate) mod tests;

use super::CouplingInput;
use super::constants::host_constants;
use super::expressions::HostExpressions;
use super::rows::{CheckRows, values_in_words};
use rspirv::spirv::Op;
use std::collections::BTreeMap;
use vkcert_model::evidence::CouplingCheckName;
use vkcert_requirement::host::decide::HostModel;
use vkcert_spirv::module::Module;
use vkcert_spirv::range::{AccessKind, AccessOutcome, JudgedAccess, judge_accesses};

const CHECK: CouplingCheckName = CouplingCheckName::IndexBounds;

/// Places that a row names.
const MOST_PLACES_NAMED: usize = 6;

/// Adds the rows of all access places.
pub(super) fn check_index_bounds(
    rows: &mut CheckRows,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) {
    rows.end_subject();
    let numbers = host_numbers::host_numbers(input, host, expressions);
    let settled_constants = host_constants(input.interface, &input.reflection.specialization);
    let mut accesses =
        judge_accesses(input.module, input.reflection.function, &settled_constants, numbers);
    if accesses.is_empty() {
        rows.add_holding(CHECK, "the kernel has no access that could leave what it accesses");
        return;
    }
    let stated = (input, host, expressions);
    contradiction::open_contradicted(&mut accesses, stated, &settled_constants);
    let shown = replay::shown_accesses(input, host, expressions, &settled_constants, &accesses);
    add_holding_rows(rows, input.module, &accesses);
    add_open_rows(rows, input.module, &accesses, &shown);
    add_refuted_rows(rows, input.module, &accesses, &shown);
}

/// Where the engine tells of an access, as word offsets: of a texel that atomics use it tells at the
/// atomics.
fn told_offsets(module: &Module, access: usize) -> Vec<u32> {
    let instruction = &module.instructions[access];
    match (instruction.op, instruction.result) {
        (Op::ImageTexelPointer, Some(pointer)) => {
            let atomics = module.instructions.iter();
            let atomics = atomics.filter(|atomic| atomic.ids().next() == Some(pointer));
            atomics.map(|atomic| atomic.offset).collect()
        }
        (_, _) => vec![instruction.offset],
    }
}

/// A row for each object with the accesses that are within it.
fn add_holding_rows(rows: &mut CheckRows, module: &Module, accesses: &[JudgedAccess]) {
    let mut by_object: BTreeMap<&str, Vec<&JudgedAccess>> = BTreeMap::new();
    let mut unreached = Vec::new();
    for access in accesses {
        match access.outcome {
            AccessOutcome::Within => by_object.entry(&access.object).or_default().push(access),
            AccessOutcome::Unreached => unreached.push(access),
            AccessOutcome::Open { .. } => {}
        }
    }
    for (object, within) in by_object {
        let (noun, verb) = noun_and_verb(within.len());
        let places = places_in_words(module, &within);
        let message = format!("{} {noun} of {object} {verb} within it: {places}", within.len());
        rows.add_holding(CHECK, message);
        rows.count_accesses(within.len());
    }
    if !unreached.is_empty() {
        let (noun, verb) = noun_and_verb(unreached.len());
        let places = places_in_words(module, &unreached);
        let message = format!(
            "{} {noun} {verb} never executed, whatever the parameters: {places}",
            unreached.len()
        );
        rows.add_holding(CHECK, message);
        rows.count_accesses(unreached.len());
    }
}

fn noun_and_verb(access_count: usize) -> (&'static str, &'static str) {
    if access_count == 1 { ("access", "is") } else { ("accesses", "are") }
}

/// `read at a.comp:9 in main, write at a.comp:11 in main`
fn places_in_words(module: &Module, accesses: &[&JudgedAccess]) -> String {
    let mut places: Vec<String> = Vec::new();
    for access in accesses {
        let place = place_in_words(module, access);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let more = places.len().saturating_sub(MOST_PLACES_NAMED);
    places.truncate(MOST_PLACES_NAMED);
    let mut words = places.join(", ");
    if more > 0 {
        words.push_str(&format!(" and at {more} places more"));
    }
    words
}

fn place_in_words(module: &Module, access: &JudgedAccess) -> String {
    let kind = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
    };
    format!("{kind} at {}", module.place_of(access.instruction))
}

/// A row for each place that is not decided; equal ones of a line are one row.
fn add_open_rows(
    rows: &mut CheckRows,
    module: &Module,
    accesses: &[JudgedAccess],
    shown: &BTreeMap<usize, replay::ShownAccess>,
) {
    let mut messages: Vec<(String, String, usize)> = Vec::new();
    for access in accesses {
        let AccessOutcome::Open { reason, .. } = &access.outcome else { continue };
        if shown.contains_key(&access.instruction) {
            continue;
        }
        let place = place_in_words(module, access);
        let message = format!("{} ({place}) is not shown to be within it: {reason}", access.object);
        match messages.iter_mut().find(|(_, known_message, _)| *known_message == message) {
            Some((_, _, count)) => *count += 1,
            None => messages.push((subject_words(module, access), message, 1)),
        }
    }
    for (subject_words, message, count) in messages {
        rows.begin_subject(subject_words);
        let message = match count {
            1 => message,
            count => format!("{message} ({count} accesses)"),
        };
        rows.add_undetermined(CHECK, message);
        rows.count_accesses(count);
    }
    rows.end_subject();
}

/// `tile[..] in main`
fn subject_words(module: &Module, access: &JudgedAccess) -> String {
    let place = module.place_of(access.instruction);
    format!("{} in {}", access.object, place.function.as_deref().unwrap_or("-"))
}

fn add_refuted_rows(
    rows: &mut CheckRows,
    module: &Module,
    accesses: &[JudgedAccess],
    shown: &BTreeMap<usize, replay::ShownAccess>,
) {
    for access in accesses {
        let Some(shown_access) = shown.get(&access.instruction) else { continue };
        let message = format!(
            "{} ({}) is out of bounds {}, {}: {}",
            access.object,
            place_in_words(module, access),
            values_in_words(&shown_access.parameters),
            shown_access.invocation_words,
            shown_access.finding_message,
        );
        let place = module.place_of(access.instruction);
        rows.begin_subject(subject_words(module, access));
        let values = Some(shown_access.parameters.clone());
        rows.add_refuted_at(CHECK, message, values, Some(place), None);
        rows.count_accesses(1);
    }
    rows.end_subject();
}
