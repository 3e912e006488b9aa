//! The trace of a project: requirement to children, tests and code.

use super::code::SourceTexts;
use super::document::Located;
use super::hash::{is_suspect, requirement_hash};
use super::load::Project;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::element::Datum;
use vkcert_model::evidence::{
    Campaign, CodeTrace, RequirementEvidence, RequirementStatus, TestEvidence, TestResult,
};
use vkcert_model::id::{KernelName, RequirementId, TestId};
use vkcert_model::procedure::{Dispatch, Test};
use vkcert_model::requirement::{CodeLink, Requirement};
use vkcert_model::verdict::Verdict;

/// The verdicts of every test that was asked for, one per engine. A test that is missing did not
/// run.
pub type Verdicts = BTreeMap<TestId, Vec<Verdict>>;

/// The verdicts of stored tests. An engine that was not there says nothing of any test.
pub fn stored_verdicts(campaign: &Campaign) -> Verdicts {
    let counts =
        |result: &&TestResult| result.verdict != Verdict::NotRun || campaign.has_not_begun(result);
    let test_verdicts = |test: &TestEvidence| {
        test.results.iter().filter(counts).map(|result| result.verdict).collect()
    };
    campaign.tests.iter().map(|test| (test.id, test_verdicts(test))).collect()
}

/// Every requirement, in project order, with what it traces to; its status is settled later
/// (`status`).
pub fn trace_requirements(project: &Project) -> Vec<RequirementEvidence> {
    let by_uid: BTreeMap<&RequirementId, &Located<Requirement>> =
        project.requirements.iter().map(|requirement| (&requirement.uid, requirement)).collect();
    let children = child_requirements(project);
    let (tests, left_out_tests) = (tests_by_uid(&project.tests), tests_by_uid(&project.left_out));
    let sources = SourceTexts::of_project(project);
    project
        .requirements
        .par_iter()
        .map(|located| {
            let suspect_links = located.parents.iter().filter(|link| {
                by_uid.get(&link.uid).is_some_and(|parent| is_suspect(link, parent))
            });
            RequirementEvidence {
                requirement: located.value.clone(),
                hash: requirement_hash(located),
                file: project.relative_file(located),
                suspect_parents: suspect_links.map(|link| link.uid).collect(),
                children: children.get(&located.uid).cloned().unwrap_or_default(),
                tests: tests.get(&located.uid).cloned().unwrap_or_default(),
                left_out_tests: left_out_tests.get(&located.uid).cloned().unwrap_or_default(),
                code: code_traces(project, located, &sources),
                status: RequirementStatus::Untested,
                open: Vec::new(),
                untested_code: Vec::new(),
                untested_kernels: Vec::new(),
            }
        })
        .collect()
}

/// By parent, each child once, in project order.
fn child_requirements(project: &Project) -> BTreeMap<RequirementId, Vec<RequirementId>> {
    let mut children: BTreeMap<RequirementId, Vec<RequirementId>> = BTreeMap::new();
    for requirement in &project.requirements {
        for link in &requirement.parents {
            let known = children.entry(link.uid).or_default();
            if known.last() != Some(&requirement.uid) {
                known.push(requirement.uid);
            }
        }
    }
    children
}

/// By requirement, each test that names it once, in the order of tests.
fn tests_by_uid(tests: &[Located<Test>]) -> BTreeMap<RequirementId, Vec<TestId>> {
    let mut tests_of: BTreeMap<RequirementId, Vec<TestId>> = BTreeMap::new();
    for test in tests {
        for uid in &test.requirements {
            let known = tests_of.entry(*uid).or_default();
            if known.last() != Some(&test.id) {
                known.push(test.id);
            }
        }
    }
    tests_of
}

fn code_traces(
    project: &Project,
    requirement: &Requirement,
    sources: &SourceTexts<'_>,
) -> Vec<CodeTrace> {
    let mut traces = Vec::new();
    for link in &requirement.implements {
        let path = project.root.join(&link.file);
        let symbol_line =
            link.symbol.as_ref().and_then(|symbol| sources.symbol_line(&link.file, symbol));
        let is_found = match (&link.symbol, sources.text(&link.file)) {
            (None, _) | (Some(_), None) => path.is_file(),
            (Some(_), Some(_)) => symbol_line.is_some(),
        };
        let CodeLink { file, symbol, kernels } = link.clone();
        traces.push(CodeTrace { file, symbol, line: symbol_line, found: is_found, kernels });
    }
    traces
}

/// The kernels that a test dispatches, in order, each once (references are not under test).
pub fn kernels_of(test: &Test) -> Vec<KernelName> {
    let mut kernels: Vec<KernelName> = Vec::new();
    for dispatch in &test.dispatches {
        if !kernels.contains(&dispatch.kernel) {
            kernels.push(dispatch.kernel);
        }
    }
    kernels
}

/// The tests that dispatch each kernel, in their order.
pub fn tests_by_kernel(tests: &[Located<Test>]) -> BTreeMap<KernelName, Vec<&Located<Test>>> {
    let mut by_kernel: BTreeMap<KernelName, Vec<&Located<Test>>> = BTreeMap::new();
    for test in tests {
        for kernel in kernels_of(test) {
            by_kernel.entry(kernel).or_default().push(test);
        }
    }
    by_kernel
}

/// Every kernel that a test names: those that it dispatches, references and checkers.
pub fn named_kernels(test: &Test) -> BTreeSet<KernelName> {
    let dispatched = test.dispatches.iter().map(|dispatch| dispatch.kernel);
    let judging = test.expect.iter().flat_map(|expectation| {
        let reference = expectation.reference.as_ref().map(|reference| reference.kernel);
        reference.into_iter().chain(expectation.check.as_ref().map(|checker| checker.kernel))
    });
    dispatched.chain(judging).collect()
}

/// Names of the buffers whose device addresses a test gives, in buffers or in push constants.
pub fn addressed_buffers(test: &Test) -> BTreeSet<&str> {
    let addressed_in_buffers = test
        .buffers
        .values()
        .flat_map(|buffer| &buffer.address_of)
        .map(|address| address.buffer.as_str());
    let mut buffer_names: BTreeSet<&str> = addressed_in_buffers.collect();
    let push_constants =
        test.dispatches.iter().filter_map(|dispatch| dispatch.push_constants.as_ref());
    for contents in
        push_constants.chain(test.buffers.values().filter_map(|buffer| buffer.data.as_ref()))
    {
        addresses_in(contents, &mut buffer_names);
    }
    buffer_names
}

fn addresses_in<'a>(contents: &'a Datum, buffer_names: &mut BTreeSet<&'a str>) {
    match contents {
        Datum::List(values) => values.iter().for_each(|value| addresses_in(value, buffer_names)),
        Datum::Record(values) => {
            for (key, value) in values {
                match value {
                    Datum::Text(name) if key == "address_of" => {
                        buffer_names.insert(name);
                    }
                    _ => addresses_in(value, buffer_names),
                }
            }
        }
        Datum::Bool(_) | Datum::Integer(_) | Datum::Float(_) | Datum::Text(_) => {}
    }
}

/// What a test does, a line per dispatch: `matmul_naive 2x1x1 groups, {k = 4, m = 3, n = 2}`.
pub fn describe_test(test: &Test) -> Vec<String> {
    test.dispatches.iter().map(describe_dispatch).collect()
}

fn describe_dispatch(dispatch: &Dispatch) -> String {
    let [x, y, z] = dispatch.groups;
    let mut description = format!("{} {x}x{y}x{z} groups", dispatch.kernel);
    if let Some(constants) = &dispatch.push_constants {
        description.push_str(&format!(", {constants}"));
    }
    for (id, value) in &dispatch.specialization {
        let value = value
            .value
            .as_ref()
            .or(value.bits.as_ref())
            .map(ToString::to_string)
            .unwrap_or_default();
        description.push_str(&format!(", specialization {id} = {value}"));
    }
    description
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn test_of(value: serde_json::Value) -> Test {
        serde_json::from_value(value).unwrap()
    }

    fn dispatch(kernel: &str, more: serde_json::Value) -> serde_json::Value {
        let mut row = json!({ "kernel": kernel, "groups": [2, 1, 3] });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    }

    #[test]
    fn a_test_is_described_by_its_dispatches() {
        let test = test_of(json!({ "id": "T", "dispatches": [
            dispatch("b", json!({ "push_constants": { "m": 3, "k": 4 } })),
            dispatch("a", json!({ "specialization": {
                "0": { "type": "uint", "value": 16 }, "7": { "bits": 32 },
            } })),
            dispatch("b", json!({})),
        ] }));
        assert_eq!(kernels_of(&test), ["b".into(), "a".into()]);
        let constants = test.dispatches[0].push_constants.as_ref().unwrap();
        let expected = [
            format!("b 2x1x3 groups, {constants}"),
            "a 2x1x3 groups, specialization 0 = 16, specialization 7 = 32".to_owned(),
            "b 2x1x3 groups".to_owned(),
        ];
        assert_eq!(describe_test(&test), expected);
    }

    #[test]
    fn addresses_are_those_of_buffers_and_of_constants() {
        let test = test_of(json!({
            "id": "T",
            "buffers": {
                "a": { "type": "uint", "count": 4, "address_of": [{ "at": 0, "buffer": "b" }] },
                "c": { "type": "reflect", "data": {
                    "rows": [{ "next": { "address_of": "d", "offset": 8 } }, { "buffer": "x" }],
                } },
                "e": { "type": "uint", "data": ["address_of", 1] },
            },
            "dispatches": [dispatch("k", json!({ "push_constants": {
                "p": { "address_of": "f" }, "address_of": { "q": { "address_of": "g" } }, "n": "y",
            } }))],
        }));
        let expected = ["b", "d", "f", "g"];
        assert_eq!(addressed_buffers(&test), BTreeSet::from(expected));
        let plain = test_of(json!({ "id": "T", "dispatches": [dispatch("k", json!({}))] }));
        assert_eq!(addressed_buffers(&plain), BTreeSet::new());
    }
}
