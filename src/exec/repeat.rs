//! Repetition: one job several times on one engine, its results compared byte for byte.
//!
//! Knows: how often a job runs, which of its results agree.
//! Promises: a job whose repetitions leave different buffers or records is [`Completion::Varying`],
//! with how many agree and where the first difference is; never completed. A repetition that does
//! not complete ends the job and is named. Findings of all repetitions are kept, each once.
//! Does not cover: variation that no repetition shows; findings that come in some repetitions only
//! are reported, but are no variation of the result.

use super::comparison::run_differences;
use super::{Completion, Counts, ExecError, Job, Observer, Run, RunRequest, Unobserved};
use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;
use vkcert_model::finding::Finding;
use vkcert_model::finding_index::FindingIndex;

/// One of the different results that repetitions of a job left.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The run that left it.
    pub run: Run,
    /// The first repetition that left it, counted from 1.
    pub repetition: usize,
}

/// Runs a job as often as it is asked for, or until a run does not complete.
pub fn repeat_run(
    request: &RunRequest<'_>,
    observer: &mut dyn Observer,
    mut run_once: impl FnMut(&mut dyn Observer) -> Result<(Run, Counts), ExecError>,
) -> Result<(Results, Counts), ExecError> {
    let (first, counts) = run_once(observer)?;
    let mut results = Results::new(first);
    while results.all_completed() && results.started_count() < request.repetitions.get() {
        let (next, _) = run_once(&mut Unobserved)?;
        results.add_run(next, observer);
    }
    Ok((results, counts))
}

/// What the repetitions of a job left, up to the first that did not complete: each different result
/// once.
#[derive(Debug)]
pub struct Results {
    different: Vec<Run>,
    /// By repetition: index of its result.
    of: Vec<usize>,
    findings: Vec<Finding>,
}

/// [`Results`] in parts, to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultParts {
    /// Each different result once.
    pub different: Vec<Run>,
    /// By repetition: index of its result.
    pub of: Vec<usize>,
    /// Of all repetitions, each once.
    pub findings: Vec<Finding>,
}

/// The same for findings that are ordered alike.
fn finding_digest(finding: &Finding) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    finding.key().hash(&mut hasher);
    hasher.finish()
}

fn differ_in_count_at_most(left: &Finding, right: &Finding) -> bool {
    let Finding {
        kind,
        message,
        count: _,
        place,
        other_place,
        invocations,
        details,
        shown_in,
        kernel,
        module,
        configuration,
        numbers,
        acceptance,
    } = left;
    *kind == right.kind
        && *message == right.message
        && *place == right.place
        && *other_place == right.other_place
        && *invocations == right.invocations
        && *details == right.details
        && *shown_in == right.shown_in
        && *kernel == right.kernel
        && *module == right.module
        && *configuration == right.configuration
        && *numbers == right.numbers
        && *acceptance == right.acceptance
}

impl Results {
    /// Results of which the first repetition is known.
    pub fn new(first: Run) -> Self {
        Self { findings: first.findings.clone(), different: vec![first], of: vec![0] }
    }

    /// A repetition, counted from 0, that did not complete, after others whose results are lost.
    pub fn after_lost(repetition: u32, run: Run) -> Self {
        let mut results = Self::new(run);
        results.of.resize(repetition as usize + 1, 0);
        results
    }

    /// Their parts.
    pub fn into_parts(self) -> ResultParts {
        let Self { different, of, findings } = self;
        ResultParts { different, of, findings }
    }

    /// What these are the parts of; none where they are of nothing.
    pub fn from_parts(parts: ResultParts) -> Option<Self> {
        let ResultParts { different, of, findings } = parts;
        let names_results = of.iter().all(|index| *index < different.len());
        (names_results && !of.is_empty() && !different.is_empty()).then_some(Self {
            different,
            of,
            findings,
        })
    }

    /// Findings of all repetitions, each once.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How each of the different results ended.
    pub fn completions(&self) -> impl Iterator<Item = &Completion> {
        self.different.iter().map(|run| &run.completion)
    }

    /// Repetitions that were started.
    pub fn started_count(&self) -> u32 {
        self.of.len() as u32
    }

    /// How the last repetition that left something new ended: how all of them ended, unless one did
    /// not complete.
    pub fn last_completion(&self) -> &Completion {
        &self.different.last().expect("there is a first").completion
    }

    /// Whether [`Self::last`] ran to its end.
    pub fn all_completed(&self) -> bool {
        *self.last_completion() == Completion::Completed
    }

    /// The next repetition left what the first did.
    pub fn add_first_again(&mut self) {
        self.of.push(0);
    }

    /// The next repetition's.
    pub fn add_run(&mut self, run: Run, observer: &mut dyn Observer) {
        let mut index = FindingIndex::default();
        self.findings
            .iter()
            .enumerate()
            .for_each(|(row, finding)| index.add(finding_digest(finding), row));
        for finding in &run.findings {
            let known = |row: usize| differ_in_count_at_most(&self.findings[row], finding);
            match index.find(&finding_digest(finding), known).map(|row| &mut self.findings[row]) {
                Some(old) => old.count = old.count.max(finding.count),
                None => {
                    observer.finding(finding);
                    index.add(finding_digest(finding), self.findings.len());
                    self.findings.push(finding.clone());
                }
            }
        }
        let same = |old: &Run| run_differences(old, &run).next().is_none();
        let index = self.different.iter().position(same).unwrap_or(self.different.len());
        if index == self.different.len() {
            self.different.push(run);
        }
        self.of.push(index);
    }

    /// What all of them come to, and the different results where completed repetitions left
    /// several.
    pub fn into_outcome(mut self, job: &Job, repetitions: NonZeroU32) -> (Run, Vec<Variant>) {
        let mut findings = std::mem::take(&mut self.findings);
        findings.sort_by(Finding::order);
        let completed = self.all_completed();
        let completion = match self.different.last().filter(|_| !completed) {
            Some(last) if self.of.len() > 1 => {
                Some(in_repetition(&last.completion, self.of.len(), repetitions))
            }
            Some(_) => None,
            None => self.variation(job).map(|reason| Completion::Varying { reason }),
        };
        let variants = match &completion {
            Some(Completion::Varying { .. }) => self.different_variants(),
            Some(_) | None => Vec::new(),
        };
        let first = self.different.swap_remove(0);
        let run = match completion {
            None => Run { findings, ..first },
            Some(completion) => Run {
                findings,
                notes: first.notes,
                printed: first.printed,
                race_scope: first.race_scope,
                ..Run::ended(completion)
            },
        };
        (run, variants)
    }

    fn different_variants(&self) -> Vec<Variant> {
        let first =
            |index: usize| self.of.iter().position(|of| *of == index).map_or(0, |at| at + 1);
        let runs = self.different.iter().enumerate();
        runs.map(|(index, run)| Variant { run: run.clone(), repetition: first(index) }).collect()
    }

    /// How the results of completed repetitions differ; none: they do not.
    fn variation(&self, job: &Job) -> Option<String> {
        if self.different.len() < 2 {
            return None;
        }
        let frequency = |index: usize| self.of.iter().filter(|of| **of == index).count();
        // The earliest of those that came equally often.
        let common = (0..self.different.len()).rev().max_by_key(|index| frequency(*index))?;
        let odd = self.of.iter().position(|of| *of != common)?;
        let (common_run, odd_run) = (&self.different[common], &self.different[self.of[odd]]);
        let first_difference = run_differences(common_run, odd_run).next()?;
        Some(format!(
            "the result varies: {} of {} repetitions agree; in repetition {} {}",
            frequency(common),
            self.of.len(),
            odd + 1,
            first_difference.in_words(job)
        ))
    }
}

/// A completion that names its repetition, counted from 1.
fn in_repetition(completion: &Completion, repetition: usize, of: NonZeroU32) -> Completion {
    let place = format!("in repetition {repetition} of {of}, where those before it completed");
    let reason = completion.reason().unwrap_or_default();
    completion.with_reason(format!("{reason} ({place})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobBuffer;
    use proptest::prelude::*;
    use vkcert_model::finding::{Checks, FindingKind};
    use vkcert_model::records::Records;

    fn job() -> Job {
        let buffer = |name: &str| JobBuffer {
            name: name.to_owned(),
            bytes: vec![0; 4].into(),
            defined: Vec::new(),
        };
        Job {
            name: "T".to_owned(),
            modules: Vec::new(),
            buffers: vec![buffer("in"), buffer("out")],
            resources: Default::default(),
            dispatches: Vec::new(),
            limits: Default::default(),
            checks: Checks::all(),
        }
    }

    fn left(out: u8, record: u32) -> Run {
        let records = Records { words: vec![7, record], ..Records::default() };
        Run {
            buffers: vec![vec![1; 4].into(), vec![0, 0, out, out].into()],
            records: [("k".into(), records)].into(),
            ..Run::ended(Completion::Completed)
        }
    }

    fn outcome(runs: Vec<Run>) -> Run {
        let times = NonZeroU32::new(runs.len() as u32).expect("some");
        let mut runs = runs.into_iter();
        let mut results = Results::new(runs.next().expect("one"));
        runs.for_each(|run| results.add_run(run, &mut Unobserved));
        results.into_outcome(&job(), times).0
    }

    fn reason(runs: Vec<Run>) -> String {
        match outcome(runs) {
            Run { completion: Completion::Varying { reason }, buffers, records, .. } => {
                assert!(buffers.is_empty() && records.is_empty(), "a result that varies is none");
                reason
            }
            other => panic!("{:?}", other.completion),
        }
    }

    #[test]
    fn a_difference_is_named_with_buffer_byte_and_repetition() {
        let told = "the result varies: 2 of 3 repetitions agree; in repetition";
        let buffer = "buffer `out` differs, first at byte 2";
        assert_eq!(reason(vec![left(1, 0), left(2, 0), left(1, 0)]), format!("{told} 2 {buffer}"));
        assert_eq!(reason(vec![left(1, 0), left(2, 0), left(2, 0)]), format!("{told} 1 {buffer}"));
        let records = "the records of kernel `k` differ, first in word 1";
        assert_eq!(reason(vec![left(1, 0), left(1, 0), left(1, 4)]), format!("{told} 3 {records}"));
        assert!(
            reason(vec![left(1, 0), left(2, 0), left(3, 0)])
                .starts_with("the result varies: 1 of 3")
        );
    }

    #[test]
    fn a_shorter_buffer_and_missing_records_are_differences() {
        let mut short = left(1, 0);
        std::sync::Arc::make_mut(&mut short.buffers[1]).pop();
        assert!(reason(vec![left(1, 0), short]).ends_with("buffer `out` differs, first at byte 3"));
        let mut without = left(1, 0);
        without.records.clear();
        assert!(reason(vec![left(1, 0), without]).contains("no records of kernel `k`"));
    }

    #[test]
    fn a_repetition_that_does_not_complete_is_named_unless_it_is_the_first() {
        let late = || Run::ended(Completion::Timeout { reason: "late".to_owned() });
        let second = "late (in repetition 2 of 2, where those before it completed)".to_owned();
        assert_eq!(
            outcome(vec![left(1, 0), late()]).completion,
            Completion::Timeout { reason: second }
        );
        assert_eq!(outcome(vec![late()]), late());
    }

    #[test]
    fn a_finding_of_any_repetition_is_kept_once() {
        let with = |message: &str, count| {
            let mut finding = Finding::new(FindingKind::Validation, message.to_owned());
            finding.count = count;
            Run { findings: vec![finding], ..left(1, 0) }
        };
        let run = outcome(vec![with("b", 1), with("a", 1), with("b", 4)]);
        assert_eq!(run.completion, Completion::Completed);
        let told: Vec<_> =
            run.findings.iter().map(|finding| (finding.message.as_str(), finding.count)).collect();
        assert_eq!(told, [("a", 1), ("b", 4)]);
    }

    proptest! {
        #[test]
        fn a_job_completes_only_if_all_agree(values in proptest::collection::vec((0_u8..3, 0_u32..2), 1..7)) {
            let run = outcome(values.iter().map(|(out, record)| left(*out, *record)).collect());
            let most = values.iter().map(|one| values.iter().filter(|other| *other == one).count()).max();
            match run.completion {
                Completion::Completed => {
                    prop_assert_eq!(most, Some(values.len()));
                    prop_assert_eq!(run, left(values[0].0, values[0].1));
                }
                Completion::Varying { reason } => {
                    let told = format!("the result varies: {} of {} repetitions agree", most.unwrap_or(0), values.len());
                    prop_assert!(most < Some(values.len()) && reason.starts_with(&told), "{}", reason);
                }
                other => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
