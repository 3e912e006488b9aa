//! What schedules have shown, as findings.
//!
//! Knows: the simplest schedule that shows a difference, and the ordinary one beside it.
//! Promises: the details are those of `docs/findings.md`.
//! Does not cover: which schedules were run.

use super::element::{BufferScalars, ContentsChange, FloatDistance};
use super::trial::{ScheduleTrial, ShownContents, ShownCoverage};
use crate::CampaignError;
use crate::test_run::judge_run;
use std::collections::BTreeSet;
use vkcert_derivation::agreement::difference::OnlyIn;
use vkcert_exec::Run;
use vkcert_exec::comparison::differing_contents;
use vkcert_model::finding::Finding;
use vkcert_model::finding_details::{
    ChangedContents, ChangedCoverage, CoveredAlone, IncompleteRun, ScheduleDetails, ScheduleEffect,
};
use vkcert_model::id::KernelName;
use vkcert_model::schedule::{Order, Schedule, Turns};
use vkcert_oracle::compare::{shown_bits, value_as_json};
use vkcert_oracle::scalar::read_scalar;

fn schedule_finding(message: String, schedule: Schedule, effect: ScheduleEffect) -> Finding {
    let details = ScheduleDetails { schedule, baseline: Schedule::IN_ORDER, effect };
    Finding::schedule_dependent_output(message, details)
}

/// `a, b`
fn kernel_words(kernels: &[KernelName]) -> String {
    kernels.iter().map(KernelName::as_str).collect::<Vec<_>>().join(", ")
}

/// What a schedule puts in another order.
fn permuted_in_words(schedule: Schedule) -> &'static str {
    match (schedule.workgroups, schedule.tiles) {
        _ if schedule.turns == Turns::WaitersFirst => {
            "the order of the invocations that wait for each other"
        }
        (_, None) => "the order of the workgroups",
        (Order::InOrder, Some(_)) => "the order of the invocations within workgroups",
        (Order::Reversed | Order::First(_) | Order::Random { .. }, Some(_)) => {
            "the order of the workgroups and of the invocations within them"
        }
    }
}

/// How far floats lie apart, in words: the first that differ, and the most of all.
fn distance_in_words(sizes: [Option<FloatDistance>; 2]) -> String {
    match sizes {
        [Some(size), Some(largest)] => {
            format!(", which lie {size} apart, and none more than {largest}")
        }
        [None, Some(largest)] => format!(", and floats differ by up to {largest}"),
        [_, None] => String::new(),
    }
}

impl ScheduleTrial<'_, '_> {
    /// The kernels of these dispatches, each once.
    fn kernels_of_dispatches(&self, dispatches: impl Iterator<Item = usize>) -> Vec<KernelName> {
        let job = self.means.job();
        let names: BTreeSet<_> = dispatches
            .map(|index| self.job_plan.modules[job.dispatches[index].module].kernel)
            .collect();
        names.into_iter().collect()
    }

    fn permuted_kernels(&self) -> Vec<KernelName> {
        self.kernels_of_dispatches(self.means.permuted_dispatches().into_iter())
    }

    /// A schedule that left other contents.
    pub(super) fn contents_finding(
        &self,
        simplest: &ShownContents,
        alone: &[usize],
    ) -> Result<Finding, CampaignError> {
        let ShownContents { schedule, difference: ContentsChange { buffer, offset, bytes }, run } =
            simplest;
        let job = self.means.job();
        let buffer_name = &job.buffers[*buffer].name;
        let elements = BufferScalars::of_buffer(self.prepared_test, self.job_plan, job, *buffer);
        let (scalar, start) = elements.element_at(*offset);
        let bits_in =
            |run: &Run| read_scalar(&run.buffers[*buffer], scalar, start).unwrap_or_default();
        let (ours, theirs) = (bits_in(self.production), bits_in(run));
        let kernels = match alone {
            // No dispatch alone changes anything: all of them together do.
            [] => self.permuted_kernels(),
            _ => self.kernels_of_dispatches(alone.iter().copied()),
        };
        let verdict = judge_run(self.job_plan, run)?.verdict;
        let differing_bytes =
            if *bytes == 1 { "1 byte differs".to_owned() } else { format!("{bytes} bytes differ") };
        let distances =
            [FloatDistance::of_floats(scalar, ours, theirs), self.largest_distance(run)];
        let distance_text = distance_in_words(distances);
        let message = format!(
            "{} of {} changes the result: with schedule `{schedule}` {differing_bytes}, the first in buffer `{buffer_name}` at offset \
             {start}: {} in place of {} ({scalar}){distance_text}; judged as it stands, this result is a {verdict}",
            permuted_in_words(*schedule),
            kernel_words(&kernels),
            value_as_json(scalar, theirs),
            value_as_json(scalar, ours)
        );
        let [first_distance, largest_distance] = distances;
        let contents = ChangedContents {
            kernels,
            schedules: self.outputs.schedules.clone(),
            buffers: self.all.buffers.iter().cloned().collect(),
            verdicts: self.all.verdicts.values().copied().collect(),
            dispatches: alone.to_vec(),
            buffer: buffer_name.clone(),
            offset: start,
            type_name: scalar.to_string(),
            expected: value_as_json(scalar, ours),
            actual: value_as_json(scalar, theirs),
            expected_bits: shown_bits(scalar, ours),
            actual_bits: shown_bits(scalar, theirs),
            bytes: *bytes,
            verdict,
            abs: first_distance.map(|distance| distance.abs.into()),
            ulps: first_distance.map(|distance| distance.ulps),
            largest_abs: largest_distance.map(|distance| distance.abs.into()),
            largest_ulps: largest_distance.map(|distance| distance.ulps),
        };
        let finding =
            schedule_finding(message, *schedule, ScheduleEffect::Contents(Box::new(contents)));
        Ok(Finding { count: self.outputs.schedules.len() as u64, ..finding })
    }

    /// The greatest sizes by which floats differ, over all buffers.
    fn largest_distance(&self, run: &Run) -> Option<FloatDistance> {
        let differing = differing_contents(&self.production.buffers, &run.buffers);
        let sizes = differing.filter_map(|contents| {
            BufferScalars::of_buffer(
                self.prepared_test,
                self.job_plan,
                self.means.job(),
                contents.buffer,
            )
            .largest_size(contents)
        });
        sizes.reduce(FloatDistance::max)
    }

    /// A schedule that recorded other coverage.
    pub(super) fn coverage_finding(&self, covered: &ShownCoverage) -> Finding {
        let ShownCoverage { schedule, differences } = covered;
        let kernels: BTreeSet<KernelName> =
            differences.iter().map(|difference| difference.kernel).collect();
        let kernels: Vec<KernelName> = kernels.into_iter().collect();
        let schedule_alone = |only: OnlyIn| match only {
            OnlyIn::Left => Schedule::IN_ORDER,
            OnlyIn::Right => *schedule,
        };
        let difference_texts: Vec<String> = differences
            .iter()
            .map(|difference| {
                let alone = schedule_alone(difference.only);
                format!("{}: {} with `{alone}` alone", difference.kernel, difference.what)
            })
            .collect();
        let more_text = match difference_texts.len() {
            0 | 1 => String::new(),
            number => format!(" (and {} more)", number - 1),
        };
        let message = format!(
            "{} of {} changes what is covered: with schedule `{schedule}`, {}{more_text}",
            permuted_in_words(*schedule),
            kernel_words(&kernels),
            difference_texts.first().map_or("", String::as_str)
        );
        let first = differences.first().map(|first| CoveredAlone {
            only_in: schedule_alone(first.only),
            item: first.item.clone(),
        });
        let coverage = ChangedCoverage {
            kernels,
            schedules: self.coverage.schedules.clone(),
            coverage: difference_texts,
            changed: self.all.covered.iter().cloned().collect(),
            first,
        };
        let finding = schedule_finding(message, *schedule, ScheduleEffect::Coverage(coverage));
        Finding { count: self.coverage.schedules.len() as u64, ..finding }
    }

    /// A schedule with which the job no longer does what it does from first to last.
    pub(super) fn ending_finding(&self, schedule: Schedule, what: &str, reason: &str) -> Finding {
        let kernels = self.permuted_kernels();
        let message = format!(
            "whether {} {what} depends on {}: from first to last it does, with schedule `{schedule}` it does not: {reason}",
            kernel_words(&kernels),
            permuted_in_words(schedule)
        );
        let run = IncompleteRun { kernels, ended: reason.to_owned() };
        schedule_finding(message, schedule, ScheduleEffect::Ended(run))
    }
}
