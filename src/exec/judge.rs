//! The verdict on a run.
//!
//! Knows: a prepared test's expectations and a run's final buffers. Promises: a verdict from the
//! expectations alone; findings do not change it. Mismatches are listed up to a bound and counted
//! in full.
//! Does not cover: exit codes, and what findings mean for them.

use super::prepare::{Expected, ExpectedContents, Prepared};
use super::{Completion, ExecError, Job, Run};
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
pub fn judge(
    prepared: &Prepared,
    run: &Run,
    reference: &mut dyn ReferenceRunner,
) -> Result<Judgement, ExecError> {
    if let Some((verdict, reason)) = incomplete(&run.completion) {
        return Ok(Judgement {
            verdict,
            reason: Some(reason),
            mismatches: Vec::new(),
            mismatch_count: 0,
        });
    }
    let mut comparison = Comparison { prepared, run, mismatches: Vec::new(), counts: Vec::new() };
    for expected in &prepared.expected {
        if let Err(stopped) = comparison.expectation(expected, reference)? {
            let (verdict, reason) = stopped;
            let mismatch_count = comparison.counts.iter().map(|count| count.wrong).sum();
            return Ok(Judgement {
                verdict,
                reason: Some(reason),
                mismatches: comparison.mismatches,
                mismatch_count,
            });
        }
    }
    Ok(comparison.judgement())
}

/// The same test with what its references compute in their places; none where one does not
/// complete.
pub fn resolved(
    prepared: &Prepared,
    reference: &mut dyn ReferenceRunner,
) -> Result<Option<Prepared>, ExecError> {
    let mut resolved = prepared.clone();
    for expected in &mut resolved.expected {
        let ExpectedContents::Reference { job, scalar, offset, length } = &expected.contents else {
            continue;
        };
        let run = reference.run(job)?;
        if run.completion != Completion::Completed {
            return Ok(None);
        }
        let bytes = compared_contents(
            expected.format,
            run.buffers.get(expected.buffer).map_or(&[][..], |bytes| bytes.as_slice()),
        );
        let bytes = bytes.get(*offset..*offset + *length).unwrap_or(&[]);
        expected.contents = ExpectedContents::Values(leaves(bytes, *scalar, *offset));
    }
    Ok(Some(resolved))
}

/// The verdict on a run that did not complete, with the reason.
fn incomplete(completion: &Completion) -> Option<(Verdict, String)> {
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
    counts: Vec<Count>,
}

/// What an expectation found wrong.
struct Count {
    buffer: String,
    placement: Placement,
    source: Source,
    wrong: u64,
    all: u64,
}

/// Who says what is right.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Values,
    Checker,
}

/// Why no comparison could be made.
type Stopped = (Verdict, String);

impl Comparison<'_> {
    fn expectation(
        &mut self,
        expected: &Expected,
        reference: &mut dyn ReferenceRunner,
    ) -> Result<Result<(), Stopped>, ExecError> {
        let name = &self.prepared.job.buffers[expected.buffer].name;
        let Some(actual) = self.run.buffers.get(expected.buffer) else {
            return Ok(Err((
                Verdict::Undetermined,
                format!("the engine returned no contents of `{name}`"),
            )));
        };
        let (leaves, actual) = match &expected.contents {
            ExpectedContents::Values(leaves) => (leaves.clone(), actual.clone()),
            ExpectedContents::Buffer { other, scalar, offset, length } => {
                match self.run.buffers.get(*other) {
                    Some(bytes) => {
                        let bytes = compared_contents(expected.format, bytes);
                        (
                            leaves(bytes.get(..*length).unwrap_or(&bytes), *scalar, *offset),
                            actual.clone(),
                        )
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
                let run = reference.run(job)?;
                if let Some(stopped) = stopped(&run, &format!("the reference for `{name}`")) {
                    return Ok(Err(stopped));
                }
                let bytes =
                    run.buffers.get(expected.buffer).map_or(&[][..], |bytes| bytes.as_slice());
                let bytes = compared_contents(expected.format, bytes);
                (
                    leaves(bytes.get(*offset..*offset + *length).unwrap_or(&[]), *scalar, *offset),
                    actual.clone(),
                )
            }
            ExpectedContents::Check { job } => {
                let run = reference.run(&checking(job, expected.buffer, self.run))?;
                if let Some(stopped) =
                    stopped(&run, &format!("the checker `{}`", job.modules[0].key))
                {
                    return Ok(Err(stopped));
                }
                if let Some(finding) = run.findings.first() {
                    let reason =
                        format!("the checker itself has findings, the first: {}", finding.message);
                    return Ok(Err((Verdict::Undetermined, reason)));
                }
                let verdict = run.buffers.get(expected.buffer).cloned().unwrap_or_default();
                (ones(self.prepared.job.buffers[expected.buffer].bytes.len()), verdict)
            }
        };
        Ok(self.compare(expected, &compared_contents(expected.format, &actual), &leaves))
    }

    fn compare(
        &mut self,
        expected: &Expected,
        actual: &[u8],
        leaves: &[Leaf],
    ) -> Result<(), Stopped> {
        let name = &self.prepared.job.buffers[expected.buffer].name;
        let outcome = compare_contents(
            actual,
            leaves,
            &expected.tolerance,
            expected.placement,
            self.prepared.listed,
        )
        .map_err(|why| (Verdict::Undetermined, format!("`{name}`: {why}")))?;
        let source = match expected.contents {
            ExpectedContents::Check { .. } => Source::Checker,
            ExpectedContents::Values(_)
            | ExpectedContents::Buffer { .. }
            | ExpectedContents::Reference { .. } => Source::Values,
        };
        for disagreement in &outcome.listed {
            let bits = expected.tolerance.bits && source == Source::Values;
            let mismatch = mismatch(name, disagreement, bits);
            let texel = texel_place(self.prepared, expected.buffer, mismatch.offset);
            let offset = expected
                .format
                .map_or(mismatch.offset, |format| stored_offset(format, mismatch.offset));
            let block = self.prepared.blocks.get(expected.buffer).and_then(Option::as_ref);
            let member = block.and_then(|block| block.member_at(offset));
            self.mismatches.push(Mismatch { offset, texel, member, ..mismatch });
        }
        if outcome.disagreeing > 0 {
            let (wrong, all) = (outcome.disagreeing, outcome.compared);
            self.counts.push(Count {
                buffer: name.clone(),
                placement: expected.placement,
                source,
                wrong,
                all,
            });
        }
        Ok(())
    }

    fn judgement(self) -> Judgement {
        let mismatch_count = self.counts.iter().map(|count| count.wrong).sum();
        let sentences: Vec<String> = self.counts.iter().map(Count::sentence).collect();
        let verdict = if mismatch_count == 0 { Verdict::Pass } else { Verdict::Fail };
        let reason = (!sentences.is_empty()).then(|| sentences.join("; "));
        Judgement { verdict, reason, mismatches: self.mismatches, mismatch_count }
    }
}

impl Count {
    fn sentence(&self) -> String {
        let Count { buffer, placement, source, wrong, all } = self;
        match (source, placement) {
            (Source::Checker, _) => {
                format!("the checker refuses {wrong} of {all} elements of its verdict `{buffer}`")
            }
            (Source::Values, Placement::InPlace) => {
                format!("{wrong} of {all} elements of `{buffer}` differ from what is expected")
            }
            (Source::Values, Placement::AnyOrder { .. }) => {
                format!(
                    "{wrong} of {all} records that are expected in `{buffer}`, in any order, are not there"
                )
            }
        }
    }
}

/// Why a run beside the test gives nothing to judge by. That it breaks says nothing about the
/// kernel under test.
fn stopped(run: &Run, who: &str) -> Option<Stopped> {
    let (verdict, reason) = incomplete(&run.completion)?;
    let verdict = match verdict {
        Verdict::Unsupported => Verdict::Unsupported,
        Verdict::Pass
        | Verdict::Fail
        | Verdict::Error
        | Verdict::NotRun
        | Verdict::Timeout
        | Verdict::Undetermined => Verdict::Undetermined,
    };
    Some((verdict, format!("{who} did not complete: {reason}")))
}

/// The job of a checker on what a run has left; its verdict is zeros, so that what it does not
/// write does not hold.
fn checking(job: &Job, verdict: usize, run: &Run) -> Job {
    let mut job = job.clone();
    for (index, (buffer, left)) in job.buffers.iter_mut().zip(&run.buffers).enumerate() {
        buffer.bytes =
            if index == verdict { Arc::new(vec![0; left.len()]) } else { Arc::clone(left) };
        buffer.defined = std::iter::once(0..left.len()).collect();
    }
    job
}

/// A verdict of so many bytes in which everything holds.
fn ones(bytes: usize) -> Vec<Leaf> {
    let scalar = ScalarType::Uint32;
    (0..bytes)
        .step_by(scalar.size())
        .map(|at| Leaf { offset: at as u64, scalar, bits: 1 })
        .collect()
}

/// Every scalar of `bytes`, which stand at byte `offset` of the buffer judged.
fn leaves(bytes: &[u8], scalar: ScalarType, offset: usize) -> Vec<Leaf> {
    (0..bytes.len())
        .step_by(scalar.size())
        .filter_map(|at| {
            Some(Leaf {
                offset: (offset + at) as u64,
                scalar,
                bits: read_scalar(bytes, scalar, at)?,
            })
        })
        .collect()
}

/// With equal bits asked for, the expected value is shown by its bits: the values may look the
/// same.
fn mismatch(buffer: &str, disagreement: &Disagreement, by_bits: bool) -> Mismatch {
    let value = |(scalar, bits): &(ScalarType, u64)| {
        if by_bits { shown_bits(*scalar, *bits).into() } else { value_as_json(*scalar, *bits) }
    };
    let actual = disagreement.actual.as_ref();
    let bits =
        actual.iter().flat_map(|all| all.iter()).map(|(scalar, bits)| shown_bits(*scalar, *bits));
    Mismatch {
        buffer: buffer.to_owned(),
        offset: disagreement.offset,
        expected: together(disagreement.expected.iter().map(value).collect()),
        actual: actual.map_or(serde_json::Value::Null, |all| {
            together(all.iter().map(|(scalar, bits)| value_as_json(*scalar, *bits)).collect())
        }),
        bits: bits.collect::<Vec<_>>().join(" "),
        texel: None,
        member: None,
    }
}

/// The texel and component at a byte of what is compared, in an image.
fn texel_place(prepared: &Prepared, buffer: usize, offset: u64) -> Option<TexelPlace> {
    let shape =
        prepared.job.resources.images.iter().find(|image| image.buffer as usize == buffer)?.shape;
    let (number, components) =
        (offset / shape.format.component().size() as u64, u64::from(shape.format.components()));
    shape.texel_place(number / components, (number % components) as u32)
}

/// A number, or the numbers of a record.
fn together(mut values: Vec<serde_json::Value>) -> serde_json::Value {
    match values.len() {
        1 => values.remove(0),
        _ => values.into(),
    }
}
