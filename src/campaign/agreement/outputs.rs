//! Outputs of the two engines, element by element.

use super::{disagreement_finding, run_varied, uses_undefined};
use crate::agreement::permitted::{
    BoundBlocks, VariationTrial, VariedOutputs, find_undefined, permit_by_variations,
};
use crate::kernel::ModuleVariant;
use crate::left_open::{ComparedResults, Expectations, LeftOpen};
use crate::test_run::{TestRun, job_of};
use std::collections::BTreeSet;
use vkcert_exec::prepare::{Expected, ExpectedContents, Prepared};
use vkcert_exec::{Job, JobModule};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::element::{ScalarClass, ScalarType};
use vkcert_model::evidence::{
    BoundedBuffer, BoundedElement, ElementValue, ErrorBounds, RunRounding,
};
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
    fn with_outcome(outcome: AgreementOutcome) -> Self {
        let (differences, findings, left_open) = Default::default();
        Self { outcome, differences, findings, bounds: None, left_open }
    }
}

/// The engine is as the test ran on it.
pub(super) fn compare_outputs(
    open: &LeftOpen<'_>,
    sequential_engine: &SequentialExecutor,
    sequential_run: &TestRun,
    other_run: &TestRun,
) -> OutputComparison {
    let (prepared, plan) = (open.prepared_test, open.job_plan);
    let Some(job) = job_of(prepared, ModuleVariant::Production) else {
        return OutputComparison::with_outcome(AgreementOutcome::NotCompared);
    };
    if sequential_run.outputs.is_empty() || other_run.outputs.is_empty() {
        return without_outputs(&job, plan, sequential_run, other_run);
    }
    if sequential_run.differing_outputs(other_run, &job).next().is_none() {
        return OutputComparison::with_outcome(AgreementOutcome::Identical);
    }
    let blocks = BoundBlocks::of_job(&job);
    let UnexcusedDifferences { mut differences, within_tolerance, left_open } =
        unexcused_differences(open, &blocks, &job, sequential_run, other_run);
    if differences.is_empty() {
        let outcome = if within_tolerance {
            AgreementOutcome::WithinTolerance
        } else {
            AgreementOutcome::LeftOpen
        };
        return OutputComparison { left_open, ..OutputComparison::with_outcome(outcome) };
    }
    let run_variation = |variation| {
        let varied_run = run_varied(sequential_engine, prepared, &job, variation)?;
        Some(VariedOutputs { buffers: varied_run.run.buffers, paths: varied_run.paths })
    };
    if uses_undefined(sequential_run) {
        find_undefined(&mut differences, run_variation);
    }
    let trial = permit_by_variations(
        &mut differences,
        blocks.zeros,
        &permitted_variations(&job),
        run_variation,
    );
    OutputComparison { left_open, ..settle_differences(plan, &job, &blocks, &differences, trial) }
}

/// What of the outputs of two engines differs, without what the test allows.
pub(super) struct UnexcusedDifferences {
    pub differences: Vec<ScalarDifference>,
    /// Whether a tolerance that both engines meet covers something.
    pub within_tolerance: bool,
    /// What differs where it may, in words.
    pub left_open: Vec<String>,
}

pub(super) fn unexcused_differences(
    left_open: &LeftOpen<'_>,
    blocks: &BoundBlocks,
    job: &Job,
    sequential_run: &TestRun,
    other_run: &TestRun,
) -> UnexcusedDifferences {
    let expectations = Expectations::of_verdicts(sequential_run.verdict, other_run.verdict);
    let both_pass = expectations == Expectations::MetByBoth;
    let mut differences = Vec::new();
    for contents in sequential_run.differing_outputs(other_run, job) {
        differences.extend(blocks.scalar_differences(contents));
    }
    // Both engines meet the same expectation with a tolerance: the difference is what the test
    // allows.
    let before = differences.len();
    differences.retain(|difference| !(both_pass && is_tolerated(left_open.job_plan, difference)));
    let within_tolerance = differences.len() < before;
    let mut openings = BTreeSet::new();
    differences.retain(|difference| {
        match left_open.opening_at(
            difference.buffer,
            difference.offset,
            ComparedResults::Engines,
            expectations,
        ) {
            Some(opening) => {
                openings.insert((difference.buffer, opening));
                false
            }
            None => true,
        }
    });
    UnexcusedDifferences {
        differences,
        within_tolerance,
        left_open: left_open.notes_on_openings("sequential and vulkan", &openings),
    }
}

/// The runs that a comparison may take: those of matrices only where a kernel has something that
/// they change.
fn permitted_variations(job: &Job) -> Vec<Variation> {
    let all_variations = Variation::ALL.to_vec();
    let of_matrices = |module: &JobModule| {
        Module::parse(module.words.to_vec()).is_ok_and(|module| module.computes_determinants())
    };
    if job.modules.iter().any(of_matrices) {
        [all_variations, Variation::MATRICES.to_vec()].concat()
    } else {
        all_variations
    }
}

/// An engine left nothing to compare: verdicts alone.
fn without_outputs(
    job: &Job,
    job_plan: &Prepared,
    sequential_run: &TestRun,
    other_run: &TestRun,
) -> OutputComparison {
    let mut comparison = OutputComparison::with_outcome(AgreementOutcome::NotCompared);
    if sequential_run.verdict != other_run.verdict {
        let message = format!(
            "verdicts differ: {} on sequential, {} on vulkan",
            sequential_run.verdict, other_run.verdict
        );
        let kernel = job.dispatches.last().map(|dispatch| job_plan.modules[dispatch.module].kernel);
        comparison
            .findings
            .extend(kernel.map(|kernel| (kernel, disagreement_finding(message.clone()))));
        comparison.differences.push(message);
    }
    comparison
}

/// Whether an expectation with a tolerance judges the element.
fn is_tolerated(job_plan: &Prepared, scalar_difference: &ScalarDifference) -> bool {
    let has_tolerance = |tolerance: &Tolerance| {
        tolerance.abs.is_some() || tolerance.rel.is_some() || tolerance.ulp.is_some()
    };
    job_plan
        .expected
        .iter()
        .filter(|expected_buffer| {
            expected_buffer.buffer == scalar_difference.buffer
                && has_tolerance(&expected_buffer.tolerance)
        })
        .any(|expected| match &expected.contents {
            ExpectedContents::Values(leaves) => {
                let judged_offset = judged_offset(expected, scalar_difference);
                leaves.iter().any(|leaf| leaf.offset == judged_offset)
            }
            ExpectedContents::Buffer { other: _, scalar: _, offset, length }
            | ExpectedContents::Reference { job: _, scalar: _, offset, length } => {
                let judged_bytes = *offset as u64..(*offset + *length) as u64;
                judged_bytes.contains(&judged_offset(expected, scalar_difference))
            }
            ExpectedContents::Check { .. } => false,
        })
}

/// Where expectations have the scalar: of an image whose texels are no plain scalars, offsets count
/// its decoded components.
fn judged_offset(expected: &Expected, scalar_difference: &ScalarDifference) -> u64 {
    match (expected.format, scalar_difference.texel) {
        (Some(format), Some(texel)) => {
            let texel_index = scalar_difference.offset / format.texel_size() as u64;
            let component_index =
                texel_index * u64::from(format.components()) + u64::from(texel.component);
            component_index * format.component().size() as u64
        }
        (Some(_) | None, _) => scalar_difference.offset,
    }
}

fn settle_differences(
    job_plan: &Prepared,
    job: &Job,
    blocks: &BoundBlocks,
    scalar_differences: &[ScalarDifference],
    trial: VariationTrial,
) -> OutputComparison {
    let mut comparison = OutputComparison::with_outcome(AgreementOutcome::WithinErrorBounds);
    let mut buffers = Vec::new();
    for (index, buffer) in job.buffers.iter().enumerate() {
        let of_buffer: Vec<_> =
            scalar_differences.iter().filter(|difference| difference.buffer == index).collect();
        if of_buffer.is_empty() {
            continue;
        }
        let bounded_row = bounded_buffer(&buffer.name, blocks, &of_buffer);
        if bounded_row.outside > 0 {
            comparison.outcome = AgreementOutcome::Different;
            let message = buffer_in_words(&bounded_row, &bounded_row.listed[0], trial);
            let kernel = last_kernel(job_plan, job, index);
            comparison.findings.push((
                kernel,
                buffer_finding(&bounded_row, &bounded_row.listed[0], trial, &message),
            ));
            comparison.differences.push(message);
        }
        buffers.push(bounded_row);
    }
    comparison.bounds =
        Some(ErrorBounds { runs: trial.runs, rounding: run_rounding(trial.rounding), buffers });
    comparison
}

fn run_rounding(rounding: PermittedRounding) -> RunRounding {
    match rounding {
        PermittedRounding::Nearest => RunRounding::Nearest,
        PermittedRounding::TowardZero => RunRounding::TowardZero,
        PermittedRounding::Any => RunRounding::Any,
    }
}

/// The kernel of the last dispatch that has a buffer bound.
fn last_kernel(job_plan: &Prepared, job: &Job, buffer: usize) -> KernelName {
    let binds_buffer = |index: &usize| {
        job.dispatches[*index].bindings.iter().any(|binding| binding.buffer == buffer)
    };
    let last_dispatch = (0..job.dispatches.len()).rev().find(binds_buffer).unwrap_or(0);
    job_plan.modules[job.dispatches[last_dispatch].module].kernel
}

fn bounded_buffer(
    name: &str,
    blocks: &BoundBlocks,
    scalar_differences: &[&ScalarDifference],
) -> BoundedBuffer {
    let (within_bounds, outside_bounds): (Vec<&ScalarDifference>, Vec<&ScalarDifference>) =
        scalar_differences
            .iter()
            .partition(|difference| difference.device_value_is_permitted(blocks.zeros));
    let listed = outside_bounds.iter().chain(&within_bounds).take(LISTED);
    BoundedBuffer {
        buffer: name.to_owned(),
        elements: scalar_differences.len() as u64,
        outside: outside_bounds.len() as u64,
        undefined: scalar_differences.iter().filter(|difference| difference.is_undefined()).count()
            as u64,
        worst_ulp: scalar_differences
            .iter()
            .filter_map(|difference| difference.distance_in_ulps())
            .max(),
        listed: listed
            .map(|difference| bounded_element(blocks, difference, blocks.zeros))
            .collect(),
    }
}

fn bounded_element(
    blocks: &BoundBlocks,
    scalar_difference: &ScalarDifference,
    zeros: ZeroSigns,
) -> BoundedElement {
    let scalar = scalar_difference.scalar;
    let value = |bits: &u64| element_value(scalar, *bits);
    let (permitted_ranges, nan) = match &scalar_difference.permitted {
        PermittedResults::Between { spans, nan } => {
            (spans.values().map(|ends| ends.iter().map(value).collect()).collect(), *nan)
        }
        PermittedResults::OneOf(values) => {
            (values.iter().map(|bits| vec![value(bits)]).collect(), NanResult::Absent)
        }
    };
    BoundedElement {
        element: blocks.path_in_program(scalar_difference),
        texel: blocks.texel_place(scalar_difference),
        offset: scalar_difference.offset,
        type_name: scalar.to_string(),
        within: scalar_difference.device_value_is_permitted(zeros),
        sequential: value(&scalar_difference.ours),
        vulkan: value(&scalar_difference.theirs),
        permitted: permitted_ranges,
        nan_permitted: nan == NanResult::Present,
        undefined: scalar_difference.is_undefined(),
        undefined_bits: undefined_bits(scalar_difference),
    }
}

/// Of an integer.
fn undefined_bits(scalar_difference: &ScalarDifference) -> Option<String> {
    match (scalar_difference.basis, scalar_difference.scalar.class()) {
        (ValueBasis::Defined, _) | (ValueBasis::Undefined { .. }, ScalarClass::Float) => None,
        (
            ValueBasis::Undefined { bits },
            ScalarClass::Bool | ScalarClass::Signed | ScalarClass::Unsigned,
        ) => Some(shown_bits(scalar_difference.scalar, bits)),
    }
}

fn element_value(scalar: ScalarType, bits: u64) -> ElementValue {
    ElementValue { value: value_as_json(scalar, bits), bits: shown_bits(scalar, bits) }
}

/// The ranges of what is permitted, and NaN where it is.
fn permitted_values(element: &BoundedElement) -> String {
    let span_text = |ends: &Vec<ElementValue>| {
        ends.iter().map(|end| end.value.to_string()).collect::<Vec<_>>().join(" to ")
    };
    let span_texts = element.permitted.iter().map(span_text).collect::<Vec<_>>().join(", ");
    match (span_texts.is_empty(), element.nan_permitted) {
        (true, true) => "NaN".to_owned(),
        (true, false) => "nothing".to_owned(),
        (false, true) => format!("{span_texts} or NaN"),
        (false, false) => span_texts,
    }
}

/// The first element outside, and how many there are.
fn buffer_in_words(
    bounded_buffer: &BoundedBuffer,
    first_element: &BoundedElement,
    trial: VariationTrial,
) -> String {
    let permitted = permitted_values(first_element);
    let values = format!(
        "buffer `{}`: `{}` ({}, offset {}) is {} on sequential and {} on vulkan",
        bounded_buffer.buffer,
        first_element.element,
        first_element.type_name,
        first_element.offset,
        first_element.sequential.value,
        first_element.vulkan.value,
    );
    let (run_count, outside_count, all_elements) =
        (trial.runs, bounded_buffer.outside, bounded_buffer.elements);
    let values = match &first_element.undefined_bits {
        None => values,
        Some(bits) => format!(
            "{values}, which differ in more bits than depend on an undefined value ({bits})"
        ),
    };
    match run_count {
        0 => format!(
            "{values}; no other run within the error bounds of the specification was made; {outside_count} of {all_elements} elements differ"
        ),
        _ => format!(
            "{values}; {run_count} runs within the error bounds of the specification give {permitted}; {outside_count} of {all_elements} differing elements lie outside"
        ),
    }
}

fn buffer_finding(
    bounded_buffer: &BoundedBuffer,
    first_element: &BoundedElement,
    trial: VariationTrial,
    message: &str,
) -> Finding {
    let span_values =
        |ends: &Vec<ElementValue>| ends.iter().map(|end| end.value.clone()).collect::<Vec<_>>();
    let permitted: Vec<_> = first_element.permitted.iter().map(span_values).collect();
    let details = OutputDisagreement {
        comparison: EngineComparison::SequentialWithVulkan,
        buffer: bounded_buffer.buffer.clone(),
        element: first_element.element.clone(),
        offset: first_element.offset,
        type_name: first_element.type_name.clone(),
        sequential: first_element.sequential.value.clone(),
        sequential_bits: first_element.sequential.bits.clone(),
        vulkan: first_element.vulkan.value.clone(),
        vulkan_bits: first_element.vulkan.bits.clone(),
        permitted,
        nan_permitted: first_element.nan_permitted,
        runs: trial.runs,
        elements: bounded_buffer.elements,
        outside: bounded_buffer.outside,
        undefined_bits: first_element.undefined_bits.clone(),
    };
    let details = DisagreementDetails::Output(Box::new(details));
    Finding {
        count: bounded_buffer.outside,
        ..Finding::engine_disagreement(message.to_owned(), details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::image::ImageFormat;
    use vkcert_oracle::comparison::Placement;
    use vkcert_oracle::difference::{PermittedResults, TexelComponent, ValueBasis};

    /// Only what an expectation lists is tolerated, so that a component is known by its own place.
    #[test]
    fn a_component_is_judged_at_its_place_among_the_decoded_ones() {
        let format = ImageFormat::Rgba8;
        let expected = Expected {
            buffer: 0,
            format: Some(format),
            tolerance: Tolerance::default(),
            placement: Placement::InPlace,
            contents: ExpectedContents::Values(Vec::new()),
        };
        let difference_at = |offset: u64, component: u32| ScalarDifference {
            buffer: 0,
            offset,
            scalar: format.component(),
            texel: Some(TexelComponent { format, component }),
            ours: 0,
            theirs: 1,
            permitted: PermittedResults::none_for(format.component()),
            basis: ValueBasis::Defined,
        };
        // Blue of the second texel of four bytes, red of the last one of four.
        let (blue, red) = (difference_at(4 + 2, 2), difference_at(3 * 4, 0));
        assert_eq!(judged_offset(&expected, &blue), (4 + 2) * 4);
        assert_eq!(judged_offset(&expected, &red), (3 * 4) * 4);
    }

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
