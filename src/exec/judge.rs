//! The verdict on a run.
//!
//! Knows: a prepared test's expectations and a run's final buffers. Promises: a verdict from the
//! expectations alone; findings do not change it. Mismatches are listed up to a bound and counted
//! in full.
//! Does not cover: exit codes, and what findings mean for them.

use super::prepare::{Expected, ExpectedContents, Prepared};
use super::{Completion, ExecError, Job, Run};
use std::borrow::Cow;
use std::sync::Arc;
use vkcert_model::element::ScalarType;
use vkcert_model::evidence::Mismatch;
use vkcert_model::image::TexelPlace;
use vkcert_model::verdict::Verdict;
use vkcert_oracle::compare::{shown_bits, value_as_json};
use vkcert_oracle::comparison::{Disagreement, Placement, compare_contents};
use vkcert_oracle::scalar::{Leaf, read_scalar};
use vkcert_oracle::texel::{compared_contents, stored_offset};

/// What a run comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What the run says of the expectations.
    pub verdict: Verdict,
    /// Why it is not a pass.
    pub reason: Option<String>,
    /// In the order of the expectations, then of offsets; a bounded number per expectation.
    pub mismatches: Vec<Mismatch>,
    /// How many there are in all.
    pub mismatch_count: u64,
}

/// Runs the job of a reference on the sequential engine.
pub trait ReferenceRunner {
    /// Runs the job once. Fails where the engine fails.
    fn run(&mut self, job: &Job) -> Result<Run, ExecError>;
}

impl<F: FnMut(&Job) -> Result<Run, ExecError>> ReferenceRunner for F {
    fn run(&mut self, job: &Job) -> Result<Run, ExecError> {
        self(job)
    }
}

/// Judges `run` by what `prepared` expects. No expectation: completing is a pass.
pub fn judge_run(
    prepared: &Prepared,
    run: &Run,
    reference: &mut dyn ReferenceRunner,
) -> Result<Judgement, ExecError> {
    if let Some((verdict, reason)) = incomplete_verdict(&run.completion) {
        return Ok(Judgement {
            verdict,
            reason: Some(reason),
            mismatches: Vec::new(),
            mismatch_count: 0,
        });
    }
    let mut comparison = Comparison { prepared, run, mismatches: Vec::new(), counts: Vec::new() };
    for expected in &prepared.expected {
        if let Err(stop_reason) = comparison.compare_expectation(expected, reference)? {
            let (verdict, reason) = stop_reason;
            let mismatch_count = comparison.counts.iter().map(|count| count.wrong).sum();
            return Ok(Judgement {
                verdict,
                reason: Some(reason),
                mismatches: comparison.mismatches,
                mismatch_count,
            });
        }
    }
    Ok(comparison.into_judgement())
}

/// The same test with what its references compute in their places; none where one does not
/// complete.
pub fn with_resolved_references(
    prepared: &Prepared,
    reference: &mut dyn ReferenceRunner,
) -> Result<Option<Prepared>, ExecError> {
    let mut resolved_test = prepared.clone();
    for expected in &mut resolved_test.expected {
        let ExpectedContents::Reference { job, scalar, offset, length } = &expected.contents else {
            continue;
        };
        let run = reference.run(job)?;
        if run.completion != Completion::Completed || !run.findings.is_empty() {
            return Ok(None);
        }
        let reference_bytes = compared_contents(
            expected.format,
            run.buffers
                .get(expected.buffer)
                .map_or(&[][..], |stored_contents| stored_contents.as_slice()),
        );
        let reference_bytes = reference_bytes.get(*offset..*offset + *length).unwrap_or(&[]);
        expected.contents = ExpectedContents::Values(leaves_of(reference_bytes, *scalar, *offset));
    }
    Ok(Some(resolved_test))
}

/// The verdict on a run that did not complete, with the reason.
fn incomplete_verdict(completion: &Completion) -> Option<(Verdict, String)> {
    let verdict = match completion {
        Completion::Completed => return None,
        Completion::Timeout { .. } | Completion::NoTermination { .. } => Verdict::Timeout,
        Completion::Unsupported { .. } => Verdict::Unsupported,
        Completion::Error { .. } | Completion::DeviceLost { .. } => Verdict::Error,
        Completion::Undetermined { .. } | Completion::Varying { .. } => Verdict::Undetermined,
    };
    completion.reason().map(|reason| (verdict, reason.to_owned()))
}

struct Comparison<'a> {
    prepared: &'a Prepared,
    run: &'a Run,
    mismatches: Vec<Mismatch>,
    /// Per expectation with mismatches.
    counts: Vec<MismatchCount>,
}

/// What an expectation found wrong.
struct MismatchCount {
    buffer: String,
    placement: Placement,
    source: JudgingSource,
    wrong: u64,
    all: u64,
}

/// Who says what is right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JudgingSource {
    Values,
    Checker,
}

/// Why no comparison could be made.
type StopReason = (Verdict, String);

impl Comparison<'_> {
    fn compare_expectation(
        &mut self,
        expected: &Expected,
        reference: &mut dyn ReferenceRunner,
    ) -> Result<Result<(), StopReason>, ExecError> {
        let buffer_name = &self.prepared.job.buffers[expected.buffer].name;
        let Some(actual_bytes) = self.run.buffers.get(expected.buffer) else {
            return Ok(Err((
                Verdict::Undetermined,
                format!("the engine returned no contents of `{buffer_name}`"),
            )));
        };
        let (leaves, actual_bytes) = match &expected.contents {
            ExpectedContents::Values(leaves) => {
                (Cow::Borrowed(&leaves[..]), Arc::clone(actual_bytes))
            }
            ExpectedContents::Buffer { other, scalar, offset, length } => {
                match self.run.buffers.get(*other) {
                    Some(other_bytes) => {
                        let other_bytes = compared_contents(expected.format, other_bytes);
                        let leaves = leaves_of(
                            other_bytes.get(..*length).unwrap_or(&other_bytes),
                            *scalar,
                            *offset,
                        );
                        (Cow::Owned(leaves), Arc::clone(actual_bytes))
                    }
                    None => {
                        return Ok(Err((
                            Verdict::Undetermined,
                            "the engine returned too few buffers".to_owned(),
                        )));
                    }
                }
            }
            ExpectedContents::Reference { job, scalar, offset, length } => {
                let reference_run = reference.run(job)?;
                if let Some(stop_reason) =
                    stop_reason(&reference_run, &format!("the reference for `{buffer_name}`"))
                {
                    return Ok(Err(stop_reason));
                }
                if let Some(finding) = reference_run.findings.first() {
                    let reason = format!(
                        "the reference for `{buffer_name}` itself has findings, the first: {}",
                        finding.message
                    );
                    return Ok(Err((Verdict::Undetermined, reason)));
                }
                let other_bytes = reference_run
                    .buffers
                    .get(expected.buffer)
                    .map_or(&[][..], |other_bytes| other_bytes.as_slice());
                let other_bytes = compared_contents(expected.format, other_bytes);
                let leaves = leaves_of(
                    other_bytes.get(*offset..*offset + *length).unwrap_or(&[]),
                    *scalar,
                    *offset,
                );
                (Cow::Owned(leaves), Arc::clone(actual_bytes))
            }
            ExpectedContents::Check { job } => {
                let reference_run = reference.run(&checker_job(job, expected.buffer, self.run))?;
                if let Some(stop_reason) =
                    stop_reason(&reference_run, &format!("the checker `{}`", job.modules[0].key))
                {
                    return Ok(Err(stop_reason));
                }
                if let Some(finding) = reference_run.findings.first() {
                    let reason =
                        format!("the checker itself has findings, the first: {}", finding.message);
                    return Ok(Err((Verdict::Undetermined, reason)));
                }
                let verdict_bytes =
                    reference_run.buffers.get(expected.buffer).cloned().unwrap_or_default();
                let byte_count = self.prepared.job.buffers[expected.buffer].bytes.len();
                (Cow::Owned(all_ones(byte_count)), verdict_bytes)
            }
        };
        Ok(self.compare_leaves(
            expected,
            &compared_contents(expected.format, &actual_bytes),
            &leaves,
        ))
    }

    fn compare_leaves(
        &mut self,
        expected: &Expected,
        actual: &[u8],
        leaves: &[Leaf],
    ) -> Result<(), StopReason> {
        let buffer_name = &self.prepared.job.buffers[expected.buffer].name;
        let outcome = compare_contents(
            actual,
            leaves,
            &expected.tolerance,
            expected.placement,
            self.prepared.listed,
        )
        .map_err(|comparison_error| {
            (Verdict::Undetermined, format!("`{buffer_name}`: {comparison_error}"))
        })?;
        let source = match expected.contents {
            ExpectedContents::Check { .. } => JudgingSource::Checker,
            ExpectedContents::Values(_)
            | ExpectedContents::Buffer { .. }
            | ExpectedContents::Reference { .. } => JudgingSource::Values,
        };
        for disagreement in &outcome.listed {
            let shows_bits = expected.tolerance.bits && source == JudgingSource::Values;
            let mismatch = shown_mismatch(buffer_name, disagreement, shows_bits);
            let texel = texel_place(self.prepared, expected.buffer, mismatch.offset);
            let offset = expected
                .format
                .map_or(mismatch.offset, |format| stored_offset(format, mismatch.offset));
            let bound_block = self.prepared.blocks.get(expected.buffer).and_then(Option::as_ref);
            let member = bound_block.and_then(|bound_block| bound_block.member_at(offset));
            self.mismatches.push(Mismatch { offset, texel, member, ..mismatch });
        }
        if outcome.disagreeing > 0 {
            let (wrong_count, all_count) = (outcome.disagreeing, outcome.compared);
            self.counts.push(MismatchCount {
                buffer: buffer_name.clone(),
                placement: expected.placement,
                source,
                wrong: wrong_count,
                all: all_count,
            });
        }
        Ok(())
    }

    fn into_judgement(self) -> Judgement {
        let mismatch_count = self.counts.iter().map(|count| count.wrong).sum();
        let count_sentences: Vec<String> =
            self.counts.iter().map(MismatchCount::count_sentence).collect();
        let verdict = if mismatch_count == 0 { Verdict::Pass } else { Verdict::Fail };
        let reason = (!count_sentences.is_empty()).then(|| count_sentences.join("; "));
        Judgement { verdict, reason, mismatches: self.mismatches, mismatch_count }
    }
}

impl MismatchCount {
    fn count_sentence(&self) -> String {
        let MismatchCount { buffer, placement, source, wrong, all } = self;
        match (source, placement) {
            (JudgingSource::Checker, _) => {
                format!("the checker refuses {wrong} of {all} elements of its verdict `{buffer}`")
            }
            (JudgingSource::Values, Placement::InPlace) => {
                format!("{wrong} of {all} elements of `{buffer}` differ from what is expected")
            }
            (JudgingSource::Values, Placement::AnyOrder { .. }) => {
                format!(
                    "{wrong} of {all} records that are expected in `{buffer}`, in any order, are not there"
                )
            }
        }
    }
}

/// Why a run beside the test gives nothing to judge by. That it breaks says nothing about the
/// kernel under test.
fn stop_reason(run: &Run, stopped_part: &str) -> Option<StopReason> {
    let (verdict, reason) = incomplete_verdict(&run.completion)?;
    let verdict = match verdict {
        Verdict::Unsupported => Verdict::Unsupported,
        Verdict::Pass
        | Verdict::Fail
        | Verdict::Error
        | Verdict::NotRun
        | Verdict::Timeout
        | Verdict::Undetermined => Verdict::Undetermined,
    };
    Some((verdict, format!("{stopped_part} did not complete: {reason}")))
}

/// The job of a checker on what a run has left; its verdict is zeros, so that what it does not
/// write does not hold.
fn checker_job(job: &Job, verdict_buffer: usize, run: &Run) -> Job {
    let mut job = job.clone();
    for (buffer_index, (buffer, final_bytes)) in
        job.buffers.iter_mut().zip(&run.buffers).enumerate()
    {
        buffer.bytes = if buffer_index == verdict_buffer {
            Arc::new(vec![0; final_bytes.len()])
        } else {
            Arc::clone(final_bytes)
        };
        buffer.defined = std::iter::once(0..final_bytes.len()).collect();
    }
    job
}

/// A verdict of so many bytes in which everything holds.
fn all_ones(byte_count: usize) -> Vec<Leaf> {
    let scalar = ScalarType::Uint32;
    (0..byte_count)
        .step_by(scalar.size())
        .map(|byte_offset| Leaf { offset: byte_offset as u64, scalar, bits: 1 })
        .collect()
}

/// Every scalar of `bytes`, which stand at byte `offset` of the buffer judged.
fn leaves_of(bytes: &[u8], scalar: ScalarType, offset: usize) -> Vec<Leaf> {
    (0..bytes.len())
        .step_by(scalar.size())
        .filter_map(|byte_index| {
            Some(Leaf {
                offset: (offset + byte_index) as u64,
                scalar,
                bits: read_scalar(bytes, scalar, byte_index)?,
            })
        })
        .collect()
}

/// With equal bits asked for, the expected value is shown by its bits: the values may look the
/// same.
fn shown_mismatch(buffer: &str, disagreement: &Disagreement, by_bits: bool) -> Mismatch {
    let shown_value = |(scalar, bits): &(ScalarType, u64)| {
        if by_bits { shown_bits(*scalar, *bits).into() } else { value_as_json(*scalar, *bits) }
    };
    let actual_scalars = disagreement.actual.as_ref();
    let bits = actual_scalars
        .iter()
        .flat_map(|all_scalars| all_scalars.iter())
        .map(|(scalar, bits)| shown_bits(*scalar, *bits));
    Mismatch {
        buffer: buffer.to_owned(),
        offset: disagreement.offset,
        expected: number_or_list(disagreement.expected.iter().map(shown_value).collect()),
        actual: actual_scalars.map_or(serde_json::Value::Null, |all_scalars| {
            number_or_list(
                all_scalars
                    .iter()
                    .map(|(scalar, scalar_bits)| value_as_json(*scalar, *scalar_bits))
                    .collect(),
            )
        }),
        bits: bits.collect::<Vec<_>>().join(" "),
        texel: None,
        member: None,
    }
}

/// The texel and component at a byte of what is compared, in an image.
fn texel_place(prepared: &Prepared, buffer: usize, offset: u64) -> Option<TexelPlace> {
    let image_shape =
        prepared.job.resources.images.iter().find(|image| image.buffer as usize == buffer)?.shape;
    let (component_index, component_count) = (
        offset / image_shape.format.component().size() as u64,
        u64::from(image_shape.format.components()),
    );
    image_shape
        .texel_place(component_index / component_count, (component_index % component_count) as u32)
}

/// A number, or the numbers of a record.
fn number_or_list(mut values: Vec<serde_json::Value>) -> serde_json::Value {
    match values.len() {
        1 => values.remove(0),
        _ => values.into(),
    }
}
