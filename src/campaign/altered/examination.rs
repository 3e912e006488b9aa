//! One test on altered contents: which stores are altered, and what the later dispatches make of
//! them.
//!
//! Promises: the dispatches before are run once for all that is altered, as long as what they left
//! fits `KEPT_BYTES`.

use super::ranges::{in_buffer, subtract_ranges};
use super::strict::StrictTest;
use super::{final_contents, rows_of_kernels, tool_failure};
use crate::CampaignError;
use crate::kernel::ModuleVariant;
use crate::test_run::{PreparedTest, job_of};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vkcert_exec::alteration::{EarlierContents, ElementGroup, altered_contents};
use vkcert_exec::prepare::{Prepared, merged_ranges};
use vkcert_exec::resource::AddressPlace;
use vkcert_exec::{BufferContents, Completion, Executor, Job, JobBuffer, Run, Unobserved};
use vkcert_model::altered::{Alteration, AlteredExtent, AlteredStores, NoticedAlteration};
use vkcert_model::flow::{BufferRange, DispatchFlow};
use vkcert_oracle::judged::TestObservation;
use vkcert_sequential::{DispatchedStores, SequentialExecutor, StoredBytes};

/// Dispatches of one kernel that are tried, the last so many and then the first: one is enough in
/// all but odd tests.
const MOST_DISPATCHES: usize = 16;

/// Dispatches of one kernel that are each tried: of more one and the first, for each trial runs all
/// that are behind.
const FEW_DISPATCHES: usize = 8;

/// Instructions of an altered run before other alterations are tried: stores that others loop by
/// may never end.
const FIRST_STEPS: u64 = 200_000_000;

/// Contents between dispatches that one test keeps; what is not kept is run again.
const KEPT_BYTES: usize = 256 << 20;

/// What the alterations of one dispatch start from.
struct DispatchStores<'c> {
    number: usize,
    extent: AlteredExtent,
    before: EarlierContents<'c>,
    /// By buffer, after the dispatch.
    contents: &'c [BufferContents],
    groups: Vec<ElementGroup>,
}

/// The contents around a dispatch, by buffer.
struct ContentsAround<'c> {
    before: Cow<'c, [BufferContents]>,
    after: Cow<'c, [BufferContents]>,
    /// The bytes that were defined before.
    defined: StoredBytes,
}

/// One test.
pub(super) struct Examination<'a> {
    prepared_test: &'a PreparedTest<'a>,
    job_plan: &'a Prepared,
    flows: &'a [DispatchFlow],
    engine: &'a SequentialExecutor,
    job: Job,
}

impl<'a> Examination<'a> {
    pub(super) fn of_test(
        prepared_test: &'a PreparedTest<'a>,
        job_plan: &'a Prepared,
        flows: &'a [DispatchFlow],
        sequential_engine: &'a SequentialExecutor,
    ) -> Self {
        let job = job_of(prepared_test, ModuleVariant::Production)
            .expect("every kernel has a production module");
        Self { prepared_test, job_plan, flows, engine: sequential_engine, job }
    }

    /// A row per kernel and specialization of which `by_code` judges a dispatch.
    pub(super) fn examine_kernels(
        &self,
        by_code: &TestObservation,
        outputs: &BTreeMap<String, BufferContents>,
    ) -> Result<Vec<AlteredStores>, CampaignError> {
        let mut altered_rows = rows_of_kernels(self.job_plan, by_code);
        let Some(left_contents) = final_contents(self.job_plan, outputs) else {
            return Ok(altered_rows);
        };
        let mut reference = |job: &Job| self.engine.clone().run(job, &mut Unobserved);
        let strict = StrictTest::with_references(
            self.prepared_test.test,
            self.job_plan,
            &left_contents,
            &mut reference,
        )?;
        let Some(strict) = strict else { return Ok(altered_rows) };
        // Of a single dispatch all rows are one.
        if let Some(noticed) = strict.trial_of_changes(&left_contents)? {
            altered_rows.iter_mut().for_each(|row| row.noticed = Some(noticed));
            return Ok(altered_rows);
        }
        let kept_numbers = self.kept_dispatches(&altered_rows);
        let Some(stores) =
            self.engine.stores_of_each(&self.job, &kept_numbers).map_err(tool_failure)?
        else {
            return Ok(altered_rows);
        };
        for row in &mut altered_rows {
            row.noticed = self.first_noticed(&row.dispatches, &stores, &strict)?;
        }
        self.mark_overwritten(&mut altered_rows, &stores.stored);
        for row in &mut altered_rows {
            row.unnoticed = self.unnoticed_dispatches(row, &stores, &strict)?;
        }
        Ok(altered_rows)
    }

    /// Before which dispatches contents are kept: as far as they fit, around those that are tried.
    fn kept_dispatches(&self, altered_rows: &[AlteredStores]) -> BTreeSet<usize> {
        let bytes: usize = self.job_plan.job.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let most_kept = KEPT_BYTES / bytes.max(1);
        let mut kept_numbers = BTreeSet::new();
        for number in altered_rows.iter().flat_map(|row| tried_dispatches(&row.dispatches)) {
            let around = [number as usize, number as usize + 1];
            let newly_kept = around
                .iter()
                .filter(|boundary_number| !kept_numbers.contains(*boundary_number))
                .count();
            if kept_numbers.len() + newly_kept <= most_kept {
                kept_numbers.extend(around);
            }
        }
        kept_numbers
    }

    fn first_noticed(
        &self,
        judged_dispatches: &[u32],
        dispatched_stores: &DispatchedStores,
        strict_test: &StrictTest<'_>,
    ) -> Result<Option<NoticedAlteration>, CampaignError> {
        for dispatch in tried_dispatches(judged_dispatches) {
            if let Some(noticed) =
                self.noticed_in_dispatch(dispatch, dispatched_stores, strict_test)?
            {
                return Ok(Some(noticed));
            }
        }
        Ok(None)
    }

    fn noticed_in_dispatch(
        &self,
        dispatch: u32,
        dispatched_stores: &DispatchedStores,
        strict_test: &StrictTest<'_>,
    ) -> Result<Option<NoticedAlteration>, CampaignError> {
        let dispatch_index = dispatch as usize;
        let Some(contents_around) = self.contents_around(dispatch_index, dispatched_stores)? else {
            return Ok(None);
        };
        for extent_stores in self.altered_extents(
            dispatch_index,
            &dispatched_stores.stored[dispatch_index],
            &contents_around,
            strict_test,
        ) {
            if let Some(alteration) = self.failing_alteration(&extent_stores, strict_test)? {
                return Ok(Some(NoticedAlteration {
                    dispatch,
                    extent: extent_stores.extent,
                    alteration,
                }));
            }
        }
        Ok(None)
    }

    /// Of a few dispatches of which one is noticed: those that are not, and that are not
    /// overwritten. Of many the first alone is tried.
    fn unnoticed_dispatches(
        &self,
        altered_row: &AlteredStores,
        dispatched_stores: &DispatchedStores,
        strict_test: &StrictTest<'_>,
    ) -> Result<Vec<u32>, CampaignError> {
        let mut unnoticed = Vec::new();
        let Some(noticed) = altered_row.noticed else { return Ok(unnoticed) };
        let are_few = altered_row.dispatches.len() <= FEW_DISPATCHES;
        let tried_numbers =
            if are_few { altered_row.dispatches.as_slice() } else { &altered_row.dispatches[..1] };
        let other_dispatches =
            tried_numbers.iter().filter(|number| !altered_row.overwritten.contains(number));
        for number in other_dispatches {
            // Those behind were tried before.
            if *number > noticed.dispatch
                || (*number < noticed.dispatch
                    && self.noticed_in_dispatch(*number, dispatched_stores, strict_test)?.is_none())
            {
                unnoticed.push(*number);
            }
        }
        Ok(unnoticed)
    }

    fn contents_around<'c>(
        &self,
        dispatch_index: usize,
        stores: &'c DispatchedStores,
    ) -> Result<Option<ContentsAround<'c>>, CampaignError> {
        let defined = self.defined_before(dispatch_index, &stores.stored);
        let kept_contents = |boundary_number: usize| {
            stores.contents.get(&boundary_number).map(|contents| Cow::Borrowed(contents.as_slice()))
        };
        if let (Some(before), Some(after)) =
            (kept_contents(dispatch_index), kept_contents(dispatch_index + 1))
        {
            return Ok(Some(ContentsAround { before, after, defined }));
        }
        let truncated_job =
            Job { dispatches: self.job.dispatches[..=dispatch_index].to_vec(), ..self.job.clone() };
        let stores_again = self
            .engine
            .stores_of_each(&truncated_job, &BTreeSet::from([dispatch_index, dispatch_index + 1]))
            .map_err(tool_failure)?;
        Ok(stores_again.and_then(|mut stores_again| {
            let mut contents_again = |boundary_number: usize| {
                stores_again.contents.remove(&boundary_number).map(Cow::Owned)
            };
            Some(ContentsAround {
                before: contents_again(dispatch_index)?,
                after: contents_again(dispatch_index + 1)?,
                defined,
            })
        }))
    }

    /// The bytes that the test defines or a dispatch before `dispatch_index` has stored, by buffer.
    fn defined_before(
        &self,
        dispatch_index: usize,
        stored_by_dispatch: &[StoredBytes],
    ) -> StoredBytes {
        let of_buffer = |(index, buffer): (usize, &JobBuffer)| {
            let stored_before = stored_by_dispatch[..dispatch_index]
                .iter()
                .flat_map(|stored_by_dispatch| stored_by_dispatch[index].iter().cloned());
            merged_ranges(buffer.defined.iter().cloned().chain(stored_before).collect())
        };
        self.job.buffers.iter().enumerate().map(of_buffer).collect()
    }

    /// What a dispatch stored, then what it can store to and did not: that nothing is stored there
    /// is a result too.
    fn altered_extents<'c>(
        &self,
        dispatch_index: usize,
        stored: &StoredBytes,
        around: &'c ContentsAround<'_>,
        strict_test: &StrictTest<'_>,
    ) -> Vec<DispatchStores<'c>> {
        let storable = self.storable_bytes(dispatch_index).into_iter().zip(stored);
        let storable: StoredBytes = storable
            .map(|(ranges, stored_ranges)| subtract_ranges(&ranges, stored_ranges))
            .collect();
        let extents =
            [(AlteredExtent::Stored, stored), (AlteredExtent::Storable, &storable)].into_iter();
        let stores = extents.map(|(extent, bytes)| DispatchStores {
            number: dispatch_index,
            extent,
            before: EarlierContents { contents: &around.before, defined: &around.defined },
            contents: &around.after,
            groups: strict_test.element_groups(bytes),
        });
        stores.filter(|stores| !stores.groups.is_empty()).collect()
    }

    /// Names the dispatches whose stores later ones overwrite wholly, before any of them can read
    /// them by its code.
    fn mark_overwritten(
        &self,
        altered_rows: &mut [AlteredStores],
        stored_by_dispatch: &[StoredBytes],
    ) {
        // Nothing is behind the last dispatch, and without a row nothing is judged.
        let last_dispatch = self.job.dispatches.len() as u32 - 1;
        let is_asked = |altered_row: &AlteredStores| {
            altered_row.noticed.is_some()
                && altered_row.dispatches.iter().any(|number| *number < last_dispatch)
        };
        if !altered_rows.iter().any(is_asked) {
            return;
        }
        for altered_row in altered_rows {
            let overwritten_numbers = altered_row
                .dispatches
                .iter()
                .filter(|number| self.is_overwritten(**number as usize, stored_by_dispatch));
            altered_row.overwritten = overwritten_numbers.copied().collect();
        }
    }

    /// Whether nothing is left of what a dispatch stored, and no later one can have read it.
    /// `stored_by_dispatch`: bytes by dispatch and buffer.
    fn is_overwritten(&self, dispatch_index: usize, stored_by_dispatch: &[StoredBytes]) -> bool {
        let mut bytes_left = Cow::Borrowed(stored_by_dispatch[dispatch_index].as_slice());
        if bytes_left.iter().all(Vec::is_empty) {
            return false;
        }
        for (flow, stores) in self.flows.iter().zip(stored_by_dispatch).skip(dispatch_index + 1) {
            for (buffer, ranges_left) in self.job_plan.job.buffers.iter().zip(&*bytes_left) {
                let later_reads = flow
                    .stores
                    .iter()
                    .flat_map(|store| &store.from)
                    .filter(|read| read.buffer == buffer.name);
                let is_read =
                    |read: &BufferRange| ranges_left.iter().any(|bytes| read.holds_part_of(bytes));
                if later_reads.into_iter().any(is_read) {
                    return false;
                }
            }
            let parts_left = bytes_left
                .iter()
                .zip(stores)
                .map(|(ranges_left, stored_ranges)| subtract_ranges(ranges_left, stored_ranges));
            bytes_left = Cow::Owned(parts_left.collect());
            if bytes_left.iter().all(Vec::is_empty) {
                return true;
            }
        }
        false
    }

    /// Bytes that a dispatch can store to by its code, by buffer of the job.
    fn storable_bytes(&self, dispatch_index: usize) -> StoredBytes {
        let ranges = self.flows[dispatch_index].stores.iter().flat_map(|store| &store.to);
        let of_buffer = |buffer: &JobBuffer| {
            let named_ranges = ranges.clone().filter(|range| range.buffer == buffer.name);
            let mut bounded_ranges: Vec<Range<usize>> =
                named_ranges.map(|range| in_buffer(range, buffer)).collect();
            bounded_ranges.sort_by_key(|range| (range.start, range.end));
            bounded_ranges
        };
        self.job_plan.job.buffers.iter().map(of_buffer).collect()
    }

    /// The first alteration of a dispatch's stores that fails the test. Runs that are cut short are
    /// tried to their end last.
    fn failing_alteration(
        &self,
        stores: &DispatchStores<'_>,
        strict_test: &StrictTest<'_>,
    ) -> Result<Option<Alteration>, CampaignError> {
        let step_limit = self.job.limits.steps;
        let mut open_alterations: Vec<Alteration> = Alteration::ALL.to_vec();
        for steps in [step_limit.min(FIRST_STEPS), step_limit] {
            for alteration in std::mem::take(&mut open_alterations) {
                let contents =
                    altered_contents(stores.contents, stores.before, &stores.groups, alteration);
                if contents == stores.contents {
                    continue;
                }
                let run = self.run_later_dispatches(stores.number, contents, steps)?;
                match run.completion {
                    Completion::Completed if strict_test.contents_fail(run.buffers)? => {
                        return Ok(Some(alteration));
                    }
                    Completion::NoTermination { .. } if steps < step_limit => {
                        open_alterations.push(alteration)
                    }
                    // The test itself would end so, and not pass.
                    Completion::NoTermination { .. } => return Ok(Some(alteration)),
                    Completion::Completed
                    | Completion::Timeout { .. }
                    | Completion::Unsupported { .. }
                    | Completion::Error { .. }
                    | Completion::DeviceLost { .. }
                    | Completion::Undetermined { .. }
                    | Completion::Varying { .. } => {}
                }
            }
        }
        Ok(None)
    }

    /// Runs the dispatches behind `dispatch_index` on contents.
    fn run_later_dispatches(
        &self,
        dispatch_index: usize,
        contents: Vec<BufferContents>,
        steps: u64,
    ) -> Result<Run, CampaignError> {
        let (first_later, job) = (dispatch_index + 1, &self.job);
        if first_later == job.dispatches.len() {
            return Ok(Run { buffers: contents, ..Run::ended(Completion::Completed) });
        }
        let mut later_job =
            Job { dispatches: job.dispatches[first_later..].to_vec(), ..job.clone() };
        later_job.limits.steps = steps;
        for (buffer, bytes) in later_job.buffers.iter_mut().zip(contents) {
            buffer.defined = std::iter::once(0..bytes.len()).collect();
            buffer.bytes = bytes;
        }
        later_job.resources.addresses.retain_mut(|address| match &mut address.place {
            AddressPlace::Buffer(_) => true,
            AddressPlace::PushConstants(dispatch) => match dispatch.checked_sub(first_later as u32)
            {
                Some(later) => {
                    *dispatch = later;
                    true
                }
                None => false,
            },
        });
        self.engine.clone().run(&later_job, &mut Unobserved).map_err(tool_failure)
    }
}

/// The dispatches of a kernel that are tried, in order.
fn tried_dispatches(judged_dispatches: &[u32]) -> impl Iterator<Item = u32> {
    let first_dispatches = judged_dispatches
        .iter()
        .take(judged_dispatches.len().saturating_sub(MOST_DISPATCHES))
        .take(MOST_DISPATCHES);
    judged_dispatches.iter().rev().take(MOST_DISPATCHES).chain(first_dispatches).copied()
}
