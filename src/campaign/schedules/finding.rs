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
use vkcert_model::finding::{Finding, FindingKind};
use vkcert_model::schedule::{Order, Schedule, Turns};
use vkcert_oracle::compare::{shown_bits, value_as_json};
use vkcert_oracle::scalar::read_scalar;

fn finding(message: String, schedule: Schedule, kernels: Vec<String>) -> Finding {
    Finding::new(FindingKind::ScheduleDependentOutput, message)
        .detail("schedule", schedule.to_string())
        .detail("baseline", Schedule::IN_ORDER.to_string())
        .detail("kernels", kernels)
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

fn texts(schedules: &[Schedule]) -> Vec<String> {
    schedules.iter().map(ToString::to_string).collect()
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

/// The same as details.
fn sized(finding: Finding, [size, largest]: [Option<Size>; 2]) -> Finding {
    let with = |finding: Finding, size: Option<Size>, [abs, ulps]: [&str; 2]| match size {
        Some(size) => finding.detail(abs, size.abs).detail(ulps, size.ulps),
        None => finding,
    };
    with(with(finding, size, ["abs", "ulps"]), largest, ["largest_abs", "largest_ulps"])
}

impl Trial<'_, '_> {
    /// The kernels of these dispatches, each once.
    fn kernels(&self, dispatches: impl Iterator<Item = usize>) -> Vec<String> {
        let job = self.means.job();
        let names: BTreeSet<_> = dispatches
            .map(|index| self.plan.modules[job.dispatches[index].module].kernel.to_string())
            .collect();
        names.into_iter().collect()
    }

    fn permuted_kernels(&self) -> Vec<String> {
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
            kernels.join(", "),
            value_as_json(scalar, theirs),
            value_as_json(scalar, ours)
        );
        let finding = finding(message, *schedule, kernels)
            .detail("schedules", texts(&self.outputs.schedules))
            .detail("buffers", self.all.buffers.iter().cloned().collect::<Vec<_>>())
            .detail("verdicts", self.all.verdicts.iter().cloned().collect::<Vec<_>>())
            .detail("dispatches", alone.to_vec())
            .detail("buffer", name.as_str())
            .detail("offset", start)
            .detail("type", scalar.to_string())
            .detail("expected", value_as_json(scalar, ours))
            .detail("actual", value_as_json(scalar, theirs))
            .detail("expected_bits", shown_bits(scalar, ours))
            .detail("actual_bits", shown_bits(scalar, theirs))
            .detail("bytes", *bytes)
            .detail("verdict", verdict.to_string());
        Ok(Finding { count: self.outputs.schedules.len() as u64, ..sized(finding, sizes) })
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
        let kernels: BTreeSet<&str> =
            differences.iter().map(|difference| difference.kernel.as_str()).collect();
        let kernels: Vec<String> = kernels.into_iter().map(str::to_owned).collect();
        let only = |only: OnlyIn| match only {
            OnlyIn::Left => Schedule::IN_ORDER.to_string(),
            OnlyIn::Right => schedule.to_string(),
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
            kernels.join(", "),
            told.first().map_or("", String::as_str)
        );
        let mut finding = finding(message, *schedule, kernels)
            .detail("schedules", texts(&self.coverage.schedules))
            .detail("coverage", told)
            .detail("changed", self.all.covered.iter().cloned().collect::<Vec<_>>());
        if let Some(first) = differences.first() {
            for (name, value) in &first.details {
                finding = finding.detail(name, value.clone());
            }
            finding = finding.detail("only_in", only(first.only));
        }
        Finding { count: self.coverage.schedules.len() as u64, ..finding }
    }

    /// A schedule with which the job no longer does what it does from first to last.
    pub(super) fn uncertain(&self, schedule: Schedule, what: &str, reason: &str) -> Finding {
        let kernels = self.permuted_kernels();
        let message = format!(
            "whether {} {what} depends on {}: from first to last it does, with schedule `{schedule}` it does not: {reason}",
            kernels.join(", "),
            permuted(schedule)
        );
        finding(message, schedule, kernels).detail("ended", reason)
    }
}
