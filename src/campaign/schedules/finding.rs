//! What schedules have shown, as findings.
//!
//! Knows: the simplest schedule that shows a difference, and the ordinary one beside it.
//! Promises: the details are those of `docs/findings.md`.
//! Does not cover: which schedules were run.

use super::element::{Difference, Elements, Size};
use super::trial::{Covered, Shown, Trial};
use crate::CampaignError;
use crate::test_run::judge;
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

fn finding(message: String, schedule: Schedule, effect: ScheduleEffect) -> Finding {
    let details = ScheduleDetails { schedule, baseline: Schedule::IN_ORDER, effect };
    Finding::schedule_dependent_output(message, details)
}

/// `a, b`
fn kernel_words(kernels: &[KernelName]) -> String {
    kernels.iter().map(KernelName::as_str).collect::<Vec<_>>().join(", ")
}

/// What a schedule puts in another order.
fn permuted(schedule: Schedule) -> &'static str {
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
fn apart(sizes: [Option<Size>; 2]) -> String {
    match sizes {
        [Some(size), Some(largest)] => {
            format!(", which lie {size} apart, and none more than {largest}")
        }
        [None, Some(largest)] => format!(", and floats differ by up to {largest}"),
        [_, None] => String::new(),
    }
}

impl Trial<'_, '_> {
    /// The kernels of these dispatches, each once.
    fn kernels(&self, dispatches: impl Iterator<Item = usize>) -> Vec<KernelName> {
        let job = self.means.job();
        let names: BTreeSet<_> = dispatches
            .map(|index| self.plan.modules[job.dispatches[index].module].kernel)
            .collect();
        names.into_iter().collect()
    }

    fn permuted_kernels(&self) -> Vec<KernelName> {
        self.kernels(self.means.dispatches().into_iter())
    }

    /// A schedule that left other contents.
    pub(super) fn different(
        &self,
        simplest: &Shown,
        alone: &[usize],
    ) -> Result<Finding, CampaignError> {
        let Shown { schedule, difference: Difference { buffer, offset, bytes }, run } = simplest;
        let job = self.means.job();
        let name = &job.buffers[*buffer].name;
        let elements = Elements::of(self.prepared, self.plan, job, *buffer);
        let (scalar, start) = elements.at(*offset);
        let bits =
            |run: &Run| read_scalar(&run.buffers[*buffer], scalar, start).unwrap_or_default();
        let (ours, theirs) = (bits(self.production), bits(run));
        let kernels = match alone {
            // No dispatch alone changes anything: all of them together do.
            [] => self.permuted_kernels(),
            _ => self.kernels(alone.iter().copied()),
        };
        let verdict = judge(self.plan, run)?.verdict;
        let differ =
            if *bytes == 1 { "1 byte differs".to_owned() } else { format!("{bytes} bytes differ") };
        let sizes = [Size::of(scalar, ours, theirs), self.largest(run)];
        let apart = apart(sizes);
        let message = format!(
            "{} of {} changes the result: with schedule `{schedule}` {differ}, the first in buffer `{name}` at offset \
             {start}: {} in place of {} ({scalar}){apart}; judged as it stands, this result is a {verdict}",
            permuted(*schedule),
            kernel_words(&kernels),
            value_as_json(scalar, theirs),
            value_as_json(scalar, ours)
        );
        let [size, largest] = sizes;
        let contents = ChangedContents {
            kernels,
            schedules: self.outputs.schedules.clone(),
            buffers: self.all.buffers.iter().cloned().collect(),
            verdicts: self.all.verdicts.values().copied().collect(),
            dispatches: alone.to_vec(),
            buffer: name.clone(),
            offset: start,
            type_name: scalar.to_string(),
            expected: value_as_json(scalar, ours),
            actual: value_as_json(scalar, theirs),
            expected_bits: shown_bits(scalar, ours),
            actual_bits: shown_bits(scalar, theirs),
            bytes: *bytes,
            verdict,
            abs: size.map(|size| size.abs.into()),
            ulps: size.map(|size| size.ulps),
            largest_abs: largest.map(|size| size.abs.into()),
            largest_ulps: largest.map(|size| size.ulps),
        };
        let finding = finding(message, *schedule, ScheduleEffect::Contents(Box::new(contents)));
        Ok(Finding { count: self.outputs.schedules.len() as u64, ..finding })
    }

    /// The greatest sizes by which floats differ, over all buffers.
    fn largest(&self, run: &Run) -> Option<Size> {
        let differing = differing_contents(&self.production.buffers, &run.buffers);
        let sizes = differing.filter_map(|contents| {
            Elements::of(self.prepared, self.plan, self.means.job(), contents.buffer)
                .largest(contents)
        });
        sizes.reduce(Size::max)
    }

    /// A schedule that recorded other coverage.
    pub(super) fn covered(&self, covered: &Covered) -> Finding {
        let Covered { schedule, differences } = covered;
        let kernels: BTreeSet<KernelName> =
            differences.iter().map(|difference| KernelName::from(&difference.kernel)).collect();
        let kernels: Vec<KernelName> = kernels.into_iter().collect();
        let only = |only: OnlyIn| match only {
            OnlyIn::Left => Schedule::IN_ORDER,
            OnlyIn::Right => *schedule,
        };
        let told: Vec<String> = differences
            .iter()
            .map(|one| format!("{}: {} with `{}` alone", one.kernel, one.what, only(one.only)))
            .collect();
        let more = match told.len() {
            0 | 1 => String::new(),
            number => format!(" (and {} more)", number - 1),
        };
        let message = format!(
            "{} of {} changes what is covered: with schedule `{schedule}`, {}{more}",
            permuted(*schedule),
            kernel_words(&kernels),
            told.first().map_or("", String::as_str)
        );
        let first = differences
            .first()
            .map(|first| CoveredAlone { only_in: only(first.only), item: first.item.clone() });
        let coverage = ChangedCoverage {
            kernels,
            schedules: self.coverage.schedules.clone(),
            coverage: told,
            changed: self.all.covered.iter().cloned().collect(),
            first,
        };
        let finding = finding(message, *schedule, ScheduleEffect::Coverage(coverage));
        Finding { count: self.coverage.schedules.len() as u64, ..finding }
    }

    /// A schedule with which the job no longer does what it does from first to last.
    pub(super) fn uncertain(&self, schedule: Schedule, what: &str, reason: &str) -> Finding {
        let kernels = self.permuted_kernels();
        let message = format!(
            "whether {} {what} depends on {}: from first to last it does, with schedule `{schedule}` it does not: {reason}",
            kernel_words(&kernels),
            permuted(schedule)
        );
        let run = IncompleteRun { kernels, ended: reason.to_owned() };
        finding(message, schedule, ScheduleEffect::Ended(run))
    }
}
