//! Notes on what a reader of page 1 could take as seen and nobody saw: functions that nothing
//! reaches, expected values that nobody wrote down, tests of what is no configuration.
//!
//! Knows: kernels with what they reach, tests as their files define them.
//! Promises: a function is named only if no kernel reaches it; an expected value counts as written
//! down if the test has it as `values` or `file` of the same buffer or image.
//! Does not cover: whether any of it is right.

use super::StoredCampaign;
use super::notes::listed_names;
use crate::derive::leads_to_configuration;
use std::collections::BTreeSet;
use vkcert_model::evidence::{KernelEvidence, TestEvidence};
use vkcert_model::open_item::{CampaignNote, NoteKind};
use vkcert_model::procedure::{Dispatch, Expectation};
use vkcert_requirement::reach::{CodeFunction, reached_functions};

/// Dead source text is no obligation, so that a whole share says nothing of it.
pub(super) fn functions_not_reached(stored: &StoredCampaign) -> Option<CampaignNote> {
    let reached: BTreeSet<CodeFunction> =
        stored.kernels.iter().flat_map(reached_functions).collect();
    let mut unreached: BTreeSet<CodeFunction> = BTreeSet::new();
    // Of function coverage they are obligations, and stand as uncovered.
    let measures_functions = |kernel: &&KernelEvidence| kernel.coverage.functions.is_some();
    for kernel in stored.kernels.iter().filter(|kernel| !measures_functions(kernel)) {
        for function in &kernel.structure.functions {
            let file = kernel.structure.files.get(function.span.file.0 as usize);
            let Some(file) = file.filter(|_| kernel.coverage.not_reached.contains(&function.name))
            else {
                continue;
            };
            unreached.insert(CodeFunction { file: &file.path, name: &function.name });
        }
    }
    let names: Vec<String> = unreached
        .difference(&reached)
        .map(|function| format!("{} in {}", function.name, function.file))
        .collect();
    let sentence = format!(
        "Functions in the source that no kernel reaches, and that are no obligation of any criterion: {} ({}).",
        names.len(),
        listed_names(&names)
    );
    (!names.is_empty()).then_some(CampaignNote { kind: NoteKind::FunctionsNotReached, sentence })
}

/// A reference that shares an error with the kernel agrees with it.
pub(super) fn values_not_written_down(stored: &StoredCampaign) -> Option<CampaignNote> {
    let tests = &stored.campaign.tests;
    let names: Vec<String> = tests
        .iter()
        .filter(|test| rests_on_references(&test.definition.expect))
        .map(|test| test.id.to_string())
        .collect();
    let sentence = format!(
        "Tests whose expected values another kernel of the project computes (`reference`), and nobody wrote down: {} of {} ({}). \
         That these values are what the requirement asks for is not shown.",
        names.len(),
        tests.len(),
        listed_names(&names)
    );
    (!names.is_empty()).then_some(CampaignNote { kind: NoteKind::ValuesNotWrittenDown, sentence })
}

/// Whether an expectation has its values from a reference, and no other of the test has any of the
/// same contents.
fn rests_on_references(expectations: &[Expectation]) -> bool {
    let is_written_down = |judged: &str| {
        let mut written =
            expectations.iter().filter(|row| row.values.is_some() || row.file.is_some());
        written.any(|row| row.judged() == judged)
    };
    let mut computed = expectations.iter().filter(|row| row.reference.is_some());
    computed.any(|row| !is_written_down(row.judged()))
}

/// Coverage belongs to declared configurations; such a test shows nothing of what production is.
pub(super) fn configurations_not_declared(stored: &StoredCampaign) -> Option<CampaignNote> {
    let tests = &stored.campaign.tests;
    let runs_stranger = |test: &&TestEvidence| {
        let mut dispatches = test.definition.dispatches.iter();
        dispatches.any(|dispatch| is_of_no_configuration(stored, dispatch))
    };
    let names: Vec<String> =
        tests.iter().filter(runs_stranger).map(|test| test.id.to_string()).collect();
    let sentence = format!(
        "Tests that run a kernel with specialization values that are no configuration of it: {} of {} ({}). What they record there \
         counts for no coverage.",
        names.len(),
        tests.len(),
        listed_names(&names)
    );
    (!names.is_empty())
        .then_some(CampaignNote { kind: NoteKind::ConfigurationNotDeclared, sentence })
}

fn is_of_no_configuration(stored: &StoredCampaign, dispatch: &Dispatch) -> bool {
    let mut rows =
        stored.kernels.iter().filter(|kernel| kernel.kernel == dispatch.kernel).peekable();
    rows.peek().is_some()
        && rows
            .all(|kernel| !leads_to_configuration(&kernel.configuration, &dispatch.specialization))
}
