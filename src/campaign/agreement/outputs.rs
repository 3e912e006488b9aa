//! Outputs of the two engines, element by element.

use super::{disagreement, run_varied, uses_undefined};
use crate::agreement::permitted::{Blocks, Trial, VariedOutputs, find_undefined, permit};
use crate::kernel::Variant;
use crate::left_open::{Between, Expectations, LeftOpen};
use crate::test_run::{TestRun, job_of};
use std::collections::BTreeSet;
use vkcert_exec::prepare::{ExpectedContents, Prepared};
use vkcert_exec::{Job, JobModule};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::evidence::{BoundedBuffer, BoundedElement, ElementValue, ErrorBounds};
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::{DisagreementDetails, EngineComparison, OutputDisagreement};
use vkcert_model::id::KernelName;
use vkcert_model::procedure::Tolerance;
use vkcert_oracle::compare::{shown_bits, value_as_json};
use vkcert_oracle::difference::{
    NanResult, PermittedResults, ScalarDifference, ValueBasis, ZeroSigns,
};
use vkcert_sequential::{SequentialExecutor, Variation};
use vkcert_spirv::module::Module;
use vkcert_spirv::precision::PermittedRounding;

/// Most elements listed per buffer.
const LISTED: usize = 64;

/// What the outputs of a test come to.
pub(super) struct OutputComparison {
    pub outcome: AgreementOutcome,
    pub differences: Vec<String>,
    /// With the kernel that last had the buffer bound.
    pub findings: Vec<(KernelName, Finding)>,
    pub bounds: Option<ErrorBounds>,
    /// What differs where it may, in words.
    pub left_open: Vec<String>,
}

impl OutputComparison {
    fn settled(outcome: AgreementOutcome) -> Self {
        let (differences, findings, left_open) = Default::default();
        Self { outcome, differences, findings, bounds: None, left_open }
    }
}

/// `engine` is as the test ran on it.
pub(super) fn compare(
    open: &LeftOpen<'_>,
    engine: &SequentialExecutor,
    ours: &TestRun,
    theirs: &TestRun,
) -> OutputComparison {
    let (prepared, plan) = (open.prepared, open.plan);
    let Some(job) = job_of(prepared, Variant::Production) else {
        return OutputComparison::settled(AgreementOutcome::NotCompared);
    };
    if ours.outputs.is_empty() || theirs.outputs.is_empty() {
        return without_outputs(&job, plan, ours, theirs);
    }
    if ours.differing_outputs(theirs, &job).next().is_none() {
        return OutputComparison::settled(AgreementOutcome::Identical);
    }
    let blocks = Blocks::of(&job);
    let Unexcused { mut differences, within_tolerance, left_open } =
        unexcused(open, &blocks, &job, ours, theirs);
    if differences.is_empty() {
        let outcome = if within_tolerance {
            AgreementOutcome::WithinTolerance
        } else {
            AgreementOutcome::LeftOpen
        };
        return OutputComparison { left_open, ..OutputComparison::settled(outcome) };
    }
    let run = |variation| {
        let varied = run_varied(engine, prepared, &job, variation)?;
        Some(VariedOutputs { buffers: varied.run.buffers, paths: varied.paths })
    };
    if uses_undefined(ours) {
        find_undefined(&mut differences, run);
    }
    let trial = permit(&mut differences, blocks.zeros, &variations(&job), run);
    OutputComparison { left_open, ..settle(plan, &job, &blocks, &differences, trial) }
}

/// What of the outputs of two engines differs, without what the test allows.
pub(super) struct Unexcused {
    pub differences: Vec<ScalarDifference>,
    /// Whether a tolerance that both engines meet covers something.
    pub within_tolerance: bool,
    /// What differs where it may, in words.
    pub left_open: Vec<String>,
}

pub(super) fn unexcused(
    open: &LeftOpen<'_>,
    blocks: &Blocks,
    job: &Job,
    ours: &TestRun,
    theirs: &TestRun,
) -> Unexcused {
    let expectations = Expectations::of(ours.verdict, theirs.verdict);
    let both_pass = expectations == Expectations::MetByBoth;
    let mut differences = Vec::new();
    for contents in ours.differing_outputs(theirs, job) {
        differences.extend(blocks.differences(contents));
    }
    // Both engines meet the same expectation with a tolerance: the difference is what the test
    // allows.
    let before = differences.len();
    differences.retain(|difference| !(both_pass && tolerated(open.plan, difference)));
    let within_tolerance = differences.len() < before;
    let mut openings = BTreeSet::new();
    differences.retain(|difference| {
        match open.opening(difference.buffer, difference.offset, Between::Engines, expectations) {
            Some(opening) => {
                openings.insert((difference.buffer, opening));
                false
            }
            None => true,
        }
    });
    Unexcused {
        differences,
        within_tolerance,
        left_open: open.notes("sequential and vulkan", &openings),
    }
}

/// The runs that a comparison may take: those of matrices only where a kernel has something that
/// they change.
fn variations(job: &Job) -> Vec<Variation> {
    let all = Variation::ALL.to_vec();
    let of_matrices = |module: &JobModule| {
        Module::parse(module.words.to_vec()).is_ok_and(|module| module.computes_determinants())
    };
    if job.modules.iter().any(of_matrices) {
        [all, Variation::MATRICES.to_vec()].concat()
    } else {
        all
    }
}

/// An engine left nothing to compare: verdicts alone.
fn without_outputs(
    job: &Job,
    plan: &Prepared,
    ours: &TestRun,
    theirs: &TestRun,
) -> OutputComparison {
    let mut comparison = OutputComparison::settled(AgreementOutcome::NotCompared);
    if ours.verdict != theirs.verdict {
        let message = format!(
            "verdicts differ: {} on sequential, {} on vulkan",
            ours.verdict, theirs.verdict
        );
        let kernel = job.dispatches.last().map(|dispatch| plan.modules[dispatch.module].kernel);
        comparison.findings.extend(kernel.map(|kernel| (kernel, disagreement(message.clone()))));
        comparison.differences.push(message);
    }
    comparison
}

/// Whether an expectation with a tolerance judges the element.
fn tolerated(plan: &Prepared, difference: &ScalarDifference) -> bool {
    let wide = |tolerance: &Tolerance| {
        tolerance.abs.is_some() || tolerance.rel.is_some() || tolerance.ulp.is_some()
    };
    plan.expected.iter().filter(|one| one.buffer == difference.buffer && wide(&one.tolerance)).any(
        |expected| {
            match &expected.contents {
                // Of an image the offsets are those of decoded components.
                _ if expected.format.is_some() => true,
                ExpectedContents::Values(leaves) => {
                    leaves.iter().any(|leaf| leaf.offset == difference.offset)
                }
                ExpectedContents::Buffer { other: _, scalar: _, offset, length }
                | ExpectedContents::Reference { job: _, scalar: _, offset, length } => {
                    (*offset as u64..(*offset + *length) as u64).contains(&difference.offset)
                }
                ExpectedContents::Check { .. } => false,
            }
        },
    )
}

fn settle(
    plan: &Prepared,
    job: &Job,
    blocks: &Blocks,
    differences: &[ScalarDifference],
    trial: Trial,
) -> OutputComparison {
    let mut comparison = OutputComparison::settled(AgreementOutcome::WithinErrorBounds);
    let mut buffers = Vec::new();
    for (index, buffer) in job.buffers.iter().enumerate() {
        let of_buffer: Vec<_> =
            differences.iter().filter(|difference| difference.buffer == index).collect();
        if of_buffer.is_empty() {
            continue;
        }
        let row = bounded(&buffer.name, blocks, &of_buffer);
        if row.outside > 0 {
            comparison.outcome = AgreementOutcome::Different;
            let message = sentence(&row, &row.listed[0], trial);
            let kernel = last_kernel(plan, job, index);
            comparison.findings.push((kernel, finding(&row, &row.listed[0], trial, &message)));
            comparison.differences.push(message);
        }
        buffers.push(row);
    }
    comparison.bounds = Some(ErrorBounds {
        runs: trial.runs,
        rounding: rounding(trial.rounding).to_owned(),
        buffers,
    });
    comparison
}

fn rounding(rounding: PermittedRounding) -> &'static str {
    match rounding {
        PermittedRounding::Nearest => "nearest",
        PermittedRounding::TowardZero => "toward zero",
        PermittedRounding::Any => "any",
    }
}

/// The kernel of the last dispatch that has a buffer bound.
fn last_kernel(plan: &Prepared, job: &Job, buffer: usize) -> KernelName {
    let binds = |index: &usize| {
        job.dispatches[*index].bindings.iter().any(|binding| binding.buffer == buffer)
    };
    let last = (0..job.dispatches.len()).rev().find(binds).unwrap_or(0);
    plan.modules[job.dispatches[last].module].kernel
}

fn bounded(name: &str, blocks: &Blocks, differences: &[&ScalarDifference]) -> BoundedBuffer {
    let (within, outside): (Vec<&ScalarDifference>, Vec<&ScalarDifference>) = differences
        .iter()
        .partition(|difference| difference.device_value_is_permitted(blocks.zeros));
    let listed = outside.iter().chain(&within).take(LISTED);
    BoundedBuffer {
        buffer: name.to_owned(),
        elements: differences.len() as u64,
        outside: outside.len() as u64,
        undefined: differences.iter().filter(|difference| difference.is_undefined()).count() as u64,
        worst_ulp: differences.iter().filter_map(|difference| difference.distance_in_ulps()).max(),
        listed: listed.map(|difference| element(blocks, difference, blocks.zeros)).collect(),
    }
}

fn element(blocks: &Blocks, difference: &ScalarDifference, zeros: ZeroSigns) -> BoundedElement {
    let scalar = difference.scalar;
    let value = |bits: &u64| value(scalar, *bits);
    let (permitted, nan) = match &difference.permitted {
        PermittedResults::Between { spans, nan } => {
            (spans.values().map(|ends| ends.iter().map(value).collect()).collect(), *nan)
        }
        PermittedResults::OneOf(values) => {
            (values.iter().map(|bits| vec![value(bits)]).collect(), NanResult::Absent)
        }
    };
    BoundedElement {
        element: blocks.path(difference),
        texel: blocks.texel(difference),
        offset: difference.offset,
        type_name: scalar.to_string(),
        within: difference.device_value_is_permitted(zeros),
        sequential: value(&difference.ours),
        vulkan: value(&difference.theirs),
        permitted,
        nan_permitted: nan == NanResult::Present,
        undefined: difference.is_undefined(),
        undefined_bits: undefined_bits(difference),
    }
}

/// Of an integer.
fn undefined_bits(difference: &ScalarDifference) -> Option<String> {
    match (difference.basis, difference.scalar.class()) {
        (ValueBasis::Defined, _) | (ValueBasis::Undefined { .. }, ScalarClass::Float) => None,
        (
            ValueBasis::Undefined { bits },
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned,
        ) => Some(shown_bits(difference.scalar, bits)),
    }
}

fn value(scalar: ScalarType, bits: u64) -> ElementValue {
    ElementValue { value: value_as_json(scalar, bits), bits: shown_bits(scalar, bits) }
}

/// The ranges of what is permitted, and NaN where it is.
fn permitted_values(element: &BoundedElement) -> String {
    let span = |ends: &Vec<ElementValue>| {
        ends.iter().map(|end| end.value.to_string()).collect::<Vec<_>>().join(" to ")
    };
    let spans = element.permitted.iter().map(span).collect::<Vec<_>>().join(", ");
    match (spans.is_empty(), element.nan_permitted) {
        (true, true) => "NaN".to_owned(),
        (true, false) => "nothing".to_owned(),
        (false, true) => format!("{spans} or NaN"),
        (false, false) => spans,
    }
}

/// The first element outside, and how many there are.
fn sentence(row: &BoundedBuffer, first: &BoundedElement, trial: Trial) -> String {
    let permitted = permitted_values(first);
    let values = format!(
        "buffer `{}`: `{}` ({}, offset {}) is {} on sequential and {} on vulkan",
        row.buffer,
        first.element,
        first.type_name,
        first.offset,
        first.sequential.value,
        first.vulkan.value,
    );
    let (runs, outside, all) = (trial.runs, row.outside, row.elements);
    let values = match &first.undefined_bits {
        None => values,
        Some(bits) => format!(
            "{values}, which differ in more bits than depend on an undefined value ({bits})"
        ),
    };
    match runs {
        0 => format!(
            "{values}; no other run within the error bounds of the specification was made; {outside} of {all} elements differ"
        ),
        _ => format!(
            "{values}; {runs} runs within the error bounds of the specification give {permitted}; {outside} of {all} differing elements lie outside"
        ),
    }
}

fn finding(row: &BoundedBuffer, first: &BoundedElement, trial: Trial, message: &str) -> Finding {
    let span =
        |ends: &Vec<ElementValue>| ends.iter().map(|end| end.value.clone()).collect::<Vec<_>>();
    let permitted: Vec<_> = first.permitted.iter().map(span).collect();
    let details = OutputDisagreement {
        comparison: EngineComparison::SequentialWithVulkan,
        buffer: row.buffer.clone(),
        element: first.element.clone(),
        offset: first.offset,
        type_name: first.type_name.clone(),
        sequential: first.sequential.value.clone(),
        sequential_bits: first.sequential.bits.clone(),
        vulkan: first.vulkan.value.clone(),
        vulkan_bits: first.vulkan.bits.clone(),
        permitted,
        nan_permitted: first.nan_permitted,
        runs: trial.runs,
        elements: row.elements,
        outside: row.outside,
        undefined_bits: first.undefined_bits.clone(),
    };
    let details = DisagreementDetails::Output(Box::new(details));
    Finding { count: row.outside, ..Finding::engine_disagreement(message.to_owned(), details) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_alone_is_told_without_a_range() {
        let number = |value: f64| ElementValue { value: value.into(), bits: String::new() };
        let told = |permitted: &[[f64; 2]], nan_permitted| {
            permitted_values(&BoundedElement {
                element: "values[0]".to_owned(),
                offset: 0,
                type_name: "float".to_owned(),
                within: false,
                sequential: number(1.0),
                vulkan: number(2.0),
                permitted: permitted.iter().map(|ends| ends.map(number).to_vec()).collect(),
                nan_permitted,
                texel: None,
                undefined: false,
                undefined_bits: None,
            })
        };
        assert_eq!(told(&[], true), "NaN");
        assert_eq!(told(&[[1.0, 2.0]], true), "1.0 to 2.0 or NaN");
        assert_eq!(told(&[[1.0, 2.0], [4.0, 5.0]], false), "1.0 to 2.0, 4.0 to 5.0");
    }
}
