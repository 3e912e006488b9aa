//! A test as altered contents are held to it: without what misreads them, with what its references
//! compute in their places.
//!
//! Does not cover: where altered contents come from (`examination`).

use super::start_of;
use crate::CampaignError;
use crate::test_run::judge_run;
use std::ops::Range;
use vkcert_exec::alteration::{
    EarlierContents, ElementGroup, Elements, Watches, altered_contents, without_misreading,
};
use vkcert_exec::judge::{ReferenceRunner, with_resolved_references};
use vkcert_exec::prepare::Prepared;
use vkcert_exec::{BufferContents, Completion, Run};
use vkcert_model::altered::{Alteration, AlteredExtent, NoticedAlteration};
use vkcert_model::procedure::Test;
use vkcert_model::verdict::Verdict;
use vkcert_sequential::byte_ranges;

pub(super) struct StrictTest<'a> {
    test: &'a Test,
    plan: Prepared,
    watches: Watches,
}

impl<'a> StrictTest<'a> {
    /// Of a test that left these contents, by buffer of its job.
    pub(super) fn of_test(
        test: &'a Test,
        job_plan: &Prepared,
        left_contents: &[BufferContents],
    ) -> Self {
        let given_watches = Watches::of_test(job_plan, left_contents);
        let strict_plan = Prepared {
            listed: 0,
            ..without_misreading(&Elements { plan: job_plan, test, watches: &given_watches })
        };
        let watches = Watches::of_test(&strict_plan, left_contents);
        Self { test, plan: strict_plan, watches }
    }

    /// The same with references resolved; none where one does not complete.
    pub(super) fn with_references(
        test: &'a Test,
        job_plan: &Prepared,
        left_contents: &[BufferContents],
        reference: &mut dyn ReferenceRunner,
    ) -> Result<Option<Self>, CampaignError> {
        let strict = Self::of_test(test, job_plan, left_contents);
        let resolved_plan =
            with_resolved_references(&strict.plan, reference).map_err(super::tool_failure)?;
        Ok(resolved_plan.map(|plan| Self {
            watches: Watches::of_test(&plan, left_contents),
            plan,
            ..strict
        }))
    }

    /// The elements that these bytes of the job's buffers belong to.
    pub(super) fn element_groups(&self, stored: &[Vec<Range<usize>>]) -> Vec<ElementGroup> {
        Elements { plan: &self.plan, test: self.test, watches: &self.watches }
            .element_groups(stored)
    }

    /// Whether these final contents fail the expectations.
    pub(super) fn contents_fail(
        &self,
        buffers: Vec<BufferContents>,
    ) -> Result<bool, CampaignError> {
        let run = Run { buffers, ..Run::ended(Completion::Completed) };
        Ok(judge_run(&self.plan, &run)?.verdict == Verdict::Fail)
    }

    /// Whether every alteration of these bytes, by buffer, passes.
    pub(super) fn accepts_all(
        &self,
        left_contents: &[BufferContents],
        storable: &[Vec<Range<usize>>],
    ) -> Result<bool, CampaignError> {
        let (contents, defined) = start_of(&self.plan.job);
        let before = EarlierContents { contents: &contents, defined: &defined };
        let groups = self.element_groups(storable);
        for alteration in Alteration::ALL {
            let altered = altered_contents(left_contents, before, &groups, alteration);
            if altered != left_contents && self.contents_fail(altered)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The alterations of what the only dispatch of the test has changed: the first that fails it,
    /// without running anything.
    pub(super) fn trial_of_changes(
        &self,
        left_contents: &[BufferContents],
    ) -> Result<Option<NoticedAlteration>, CampaignError> {
        let job = &self.plan.job;
        if job.dispatches.len() != 1 {
            return Ok(None);
        }
        let (contents, defined) = start_of(&self.plan.job);
        let changed_ranges = contents.iter().zip(left_contents).map(|(start_bytes, left_bytes)| {
            byte_ranges(start_bytes.len().min(left_bytes.len()), |byte| {
                start_bytes[byte] != left_bytes[byte]
            })
        });
        let groups = self.element_groups(&changed_ranges.collect::<Vec<_>>());
        let before = EarlierContents { contents: &contents, defined: &defined };
        for alteration in Alteration::ALL {
            let altered = altered_contents(left_contents, before, &groups, alteration);
            if altered != left_contents && self.contents_fail(altered)? {
                return Ok(Some(NoticedAlteration {
                    dispatch: 0,
                    extent: AlteredExtent::Changed,
                    alteration,
                }));
            }
        }
        Ok(None)
    }
}
