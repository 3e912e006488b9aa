//! The verdict on a run.
//!
//! Knows: a prepared test's expectations and a run's final buffers. Promises: a verdict from the expectations alone;
//! findings do not change it. Mismatches are listed up to a bound and counted in full.
//! Does not cover: exit codes, and what findings mean for them.

use super::compare::{agrees, shown, shown_bits};
use super::prepare::scalar::read;
use super::prepare::{Expected, ExpectedContents, Leaf, Prepared};
use super::texel::{compared, stored_offset};
use super::{Completion, ExecError, Job, Run};
use crate::model::element::ScalarType;
use crate::model::evidence::Mismatch;
use crate::model::verdict::Verdict;

/// What a run comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
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
    fn run(&mut self, job: &Job) -> Result<Run, ExecError>;
}

impl<F: FnMut(&Job) -> Result<Run, ExecError>> ReferenceRunner for F {
    fn run(&mut self, job: &Job) -> Result<Run, ExecError> {
        self(job)
    }
}

/// Judges `run` by what `prepared` expects. No expectation: completing is a pass.
pub fn judge(prepared: &Prepared, run: &Run, reference: &mut dyn ReferenceRunner) -> Result<Judgement, ExecError> {
    if let Some((verdict, reason)) = incomplete(&run.completion) {
        return Ok(Judgement { verdict, reason: Some(reason), mismatches: Vec::new(), mismatch_count: 0 });
    }
    let mut comparison = Comparison { prepared, run, mismatches: Vec::new(), counts: Vec::new() };
    for expected in &prepared.expected {
        if let Err(stopped) = comparison.expectation(expected, reference)? {
            let (verdict, reason) = stopped;
            let mismatch_count = comparison.counts.iter().map(|(_, wrong, _)| wrong).sum();
            return Ok(Judgement { verdict, reason: Some(reason), mismatches: comparison.mismatches, mismatch_count });
        }
    }
    Ok(comparison.judgement())
}

/// The verdict on a run that did not complete, with the reason.
fn incomplete(completion: &Completion) -> Option<(Verdict, String)> {
    match completion {
        Completion::Completed => None,
        Completion::Timeout { reason } | Completion::NoTermination { reason } => {
            Some((Verdict::Timeout, reason.clone()))
        }
        Completion::Unsupported { what } => Some((Verdict::Unsupported, what.clone())),
        Completion::Error { reason } => Some((Verdict::Error, reason.clone())),
        Completion::Undetermined { reason } | Completion::Varying { reason } => {
            Some((Verdict::Undetermined, reason.clone()))
        }
    }
}

struct Comparison<'a> {
    prepared: &'a Prepared,
    run: &'a Run,
    mismatches: Vec<Mismatch>,
    /// Per expectation with mismatches: buffer, number of mismatches, number of elements.
    counts: Vec<(String, u64, u64)>,
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
            return Ok(Err((Verdict::Undetermined, format!("the engine returned no contents of `{name}`"))));
        };
        let leaves = match &expected.contents {
            ExpectedContents::Values(leaves) => leaves.clone(),
            ExpectedContents::Buffer { other, scalar, offset } => match self.run.buffers.get(*other) {
                Some(bytes) => leaves(&compared(expected.format, bytes), *scalar, *offset),
                None => return Ok(Err((Verdict::Undetermined, "the engine returned too few buffers".to_owned()))),
            },
            ExpectedContents::Reference { job, scalar, offset } => {
                let run = reference.run(job)?;
                if let Some((verdict, reason)) = incomplete(&run.completion) {
                    // That the reference breaks says nothing about the kernel under test.
                    let verdict = match verdict {
                        Verdict::Unsupported => Verdict::Unsupported,
                        _ => Verdict::Undetermined,
                    };
                    return Ok(Err((verdict, format!("the reference for `{name}` did not complete: {reason}"))));
                }
                let bytes = run.buffers.get(expected.buffer).map_or(&[][..], Vec::as_slice);
                let bytes = compared(expected.format, bytes);
                leaves(bytes.get(*offset..).unwrap_or(&[]), *scalar, *offset)
            }
        };
        self.compare(expected, &compared(expected.format, actual), &leaves);
        Ok(Ok(()))
    }

    fn compare(&mut self, expected: &Expected, actual: &[u8], leaves: &[Leaf]) {
        let name = &self.prepared.job.buffers[expected.buffer].name;
        let mut wrong = 0;
        for leaf in leaves {
            let found = read(actual, leaf.scalar, leaf.offset as usize);
            if found.is_some_and(|found| agrees(leaf.scalar, leaf.bits, found, &expected.tolerance)) {
                continue;
            }
            wrong += 1;
            if wrong <= self.prepared.listed as u64 {
                let mismatch = mismatch(name, leaf, found, expected.tolerance.bits);
                let offset = expected.format.map_or(leaf.offset, |format| stored_offset(format, leaf.offset));
                self.mismatches.push(Mismatch { offset, ..mismatch });
            }
        }
        if wrong > 0 {
            self.counts.push((name.clone(), wrong, leaves.len() as u64));
        }
    }

    fn judgement(self) -> Judgement {
        let mismatch_count = self.counts.iter().map(|(_, wrong, _)| wrong).sum();
        let sentences: Vec<String> = (self.counts.iter())
            .map(|(name, wrong, all)| format!("{wrong} of {all} elements of `{name}` differ from what is expected"))
            .collect();
        let verdict = if mismatch_count == 0 { Verdict::Pass } else { Verdict::Fail };
        let reason = (!sentences.is_empty()).then(|| sentences.join("; "));
        Judgement { verdict, reason, mismatches: self.mismatches, mismatch_count }
    }
}

/// Every scalar of `bytes`, which stand at byte `offset` of the buffer judged.
fn leaves(bytes: &[u8], scalar: ScalarType, offset: usize) -> Vec<Leaf> {
    (0..bytes.len())
        .step_by(scalar.size())
        .filter_map(|at| Some(Leaf { offset: (offset + at) as u64, scalar, bits: read(bytes, scalar, at)? }))
        .collect()
}

/// With equal bits asked for, the expected value is shown by its bits: the values may look the same.
fn mismatch(buffer: &str, leaf: &Leaf, actual: Option<u64>, bits: bool) -> Mismatch {
    let expected = if bits { shown_bits(leaf.scalar, leaf.bits).into() } else { shown(leaf.scalar, leaf.bits) };
    Mismatch {
        buffer: buffer.to_owned(),
        offset: leaf.offset,
        expected,
        actual: actual.map_or(serde_json::Value::Null, |actual| shown(leaf.scalar, actual)),
        bits: actual.map_or(String::new(), |actual| shown_bits(leaf.scalar, actual)),
    }
}
