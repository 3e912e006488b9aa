//! One test on altered contents: which stores are altered, and what the later dispatches make of
//! them.
//!
//! Promises: the dispatches before are run once for all that is altered, as long as what they left
//! fits `KEPT_BYTES`.

use super::ranges::{in_buffer, without};
use super::strict::StrictTest;
use super::{final_contents, rows, tool};
use crate::CampaignError;
use crate::kernel::Variant;
use crate::test_run::{PreparedTest, job_of};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use vkcert_exec::alteration::{Before, ElementGroup, altered};
use vkcert_exec::prepare::{Prepared, merged};
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
    before: Before<'c>,
    /// By buffer, after the dispatch.
    contents: &'c [BufferContents],
    groups: Vec<ElementGroup>,
}

/// The contents around a dispatch, by buffer.
struct Around<'c> {
    before: Cow<'c, [BufferContents]>,
    after: Cow<'c, [BufferContents]>,
    /// The bytes that were defined before.
    defined: StoredBytes,
}

/// One test.
pub(super) struct Examination<'a> {
    test: &'a PreparedTest<'a>,
    plan: &'a Prepared,
    flows: &'a [DispatchFlow],
    engine: &'a SequentialExecutor,
    job: Job,
}

impl<'a> Examination<'a> {
    pub(super) fn of(
        test: &'a PreparedTest<'a>,
        plan: &'a Prepared,
        flows: &'a [DispatchFlow],
        engine: &'a SequentialExecutor,
    ) -> Self {
        let job = job_of(test, Variant::Production).expect("every kernel has a production module");
        Self { test, plan, flows, engine, job }
    }

    /// A row per kernel and specialization of which `by_code` judges a dispatch.
    pub(super) fn kernels(
        &self,
        by_code: &TestObservation,
        outputs: &BTreeMap<String, BufferContents>,
    ) -> Result<Vec<AlteredStores>, CampaignError> {
        let mut rows = rows(self.plan, by_code);
        let Some(left) = final_contents(self.plan, outputs) else { return Ok(rows) };
        let mut reference = |job: &Job| self.engine.clone().run(job, &mut Unobserved);
        let strict = StrictTest::resolved(self.test.test, self.plan, &left, &mut reference)?;
        let Some(strict) = strict else { return Ok(rows) };
        // Of a single dispatch all rows are one.
        if let Some(noticed) = strict.trial_of_changes(&left)? {
            rows.iter_mut().for_each(|row| row.noticed = Some(noticed));
            return Ok(rows);
        }
        let kept = self.kept(&rows);
        let Some(stores) = self.engine.stores_of_each(&self.job, &kept).map_err(tool)? else {
            return Ok(rows);
        };
        for row in &mut rows {
            row.noticed = self.noticed(&row.dispatches, &stores, &strict)?;
        }
        self.mark_overwritten(&mut rows, &stores.stored);
        for row in &mut rows {
            row.unnoticed = self.unnoticed(row, &stores, &strict)?;
        }
        Ok(rows)
    }

    /// Before which dispatches contents are kept: as far as they fit, around those that are tried.
    fn kept(&self, rows: &[AlteredStores]) -> BTreeSet<usize> {
        let bytes: usize = self.plan.job.buffers.iter().map(|buffer| buffer.bytes.len()).sum();
        let most = KEPT_BYTES / bytes.max(1);
        let mut kept = BTreeSet::new();
        for number in rows.iter().flat_map(|row| tried(&row.dispatches)) {
            let around = [number as usize, number as usize + 1];
            let more = around.iter().filter(|at| !kept.contains(*at)).count();
            if kept.len() + more <= most {
                kept.extend(around);
            }
        }
        kept
    }

    fn noticed(
        &self,
        judged: &[u32],
        stores: &DispatchedStores,
        strict: &StrictTest<'_>,
    ) -> Result<Option<NoticedAlteration>, CampaignError> {
        for dispatch in tried(judged) {
            if let Some(noticed) = self.noticed_of(dispatch, stores, strict)? {
                return Ok(Some(noticed));
            }
        }
        Ok(None)
    }

    fn noticed_of(
        &self,
        dispatch: u32,
        stores: &DispatchedStores,
        strict: &StrictTest<'_>,
    ) -> Result<Option<NoticedAlteration>, CampaignError> {
        let number = dispatch as usize;
        let Some(around) = self.around(number, stores)? else { return Ok(None) };
        for stores in self.altered_extents(number, &stores.stored[number], &around, strict) {
            if let Some(alteration) = self.trial(&stores, strict)? {
                return Ok(Some(NoticedAlteration { dispatch, extent: stores.extent, alteration }));
            }
        }
        Ok(None)
    }

    /// Of a few dispatches of which one is noticed: those that are not, and that are not
    /// overwritten. Of many the first alone is tried.
    fn unnoticed(
        &self,
        row: &AlteredStores,
        stores: &DispatchedStores,
        strict: &StrictTest<'_>,
    ) -> Result<Vec<u32>, CampaignError> {
        let mut unnoticed = Vec::new();
        let Some(noticed) = row.noticed else { return Ok(unnoticed) };
        let few = row.dispatches.len() <= FEW_DISPATCHES;
        let tried = if few { row.dispatches.as_slice() } else { &row.dispatches[..1] };
        let others = tried.iter().filter(|number| !row.overwritten.contains(number));
        for number in others {
            // Those behind were tried before.
            if *number > noticed.dispatch
                || (*number < noticed.dispatch
                    && self.noticed_of(*number, stores, strict)?.is_none())
            {
                unnoticed.push(*number);
            }
        }
        Ok(unnoticed)
    }

    fn around<'c>(
        &self,
        number: usize,
        stores: &'c DispatchedStores,
    ) -> Result<Option<Around<'c>>, CampaignError> {
        let defined = self.defined_before(number, &stores.stored);
        let kept =
            |at: usize| stores.contents.get(&at).map(|contents| Cow::Borrowed(contents.as_slice()));
        if let (Some(before), Some(after)) = (kept(number), kept(number + 1)) {
            return Ok(Some(Around { before, after, defined }));
        }
        let first = Job { dispatches: self.job.dispatches[..=number].to_vec(), ..self.job.clone() };
        let again = self
            .engine
            .stores_of_each(&first, &BTreeSet::from([number, number + 1]))
            .map_err(tool)?;
        Ok(again.and_then(|mut again| {
            let mut kept = |at: usize| again.contents.remove(&at).map(Cow::Owned);
            Some(Around { before: kept(number)?, after: kept(number + 1)?, defined })
        }))
    }

    /// The bytes that the test defines or a dispatch before `number` has stored, by buffer.
    fn defined_before(&self, number: usize, stored: &[StoredBytes]) -> StoredBytes {
        let of_buffer = |(index, buffer): (usize, &JobBuffer)| {
            let before = stored[..number].iter().flat_map(|stored| stored[index].iter().cloned());
            merged(buffer.defined.iter().cloned().chain(before).collect())
        };
        self.job.buffers.iter().enumerate().map(of_buffer).collect()
    }

    /// What a dispatch stored, then what it can store to and did not: that nothing is stored there
    /// is a result too.
    fn altered_extents<'c>(
        &self,
        number: usize,
        stored: &StoredBytes,
        around: &'c Around<'_>,
        strict: &StrictTest<'_>,
    ) -> Vec<DispatchStores<'c>> {
        let storable = self.storable(number).into_iter().zip(stored);
        let storable: StoredBytes =
            storable.map(|(storable, stored)| without(&storable, stored)).collect();
        let extents =
            [(AlteredExtent::Stored, stored), (AlteredExtent::Storable, &storable)].into_iter();
        let stores = extents.map(|(extent, bytes)| DispatchStores {
            number,
            extent,
            before: Before { contents: &around.before, defined: &around.defined },
            contents: &around.after,
            groups: strict.groups(bytes),
        });
        stores.filter(|stores| !stores.groups.is_empty()).collect()
    }

    /// Names the dispatches whose stores later ones overwrite wholly, before any of them can read
    /// them by its code.
    fn mark_overwritten(&self, rows: &mut [AlteredStores], stored: &[StoredBytes]) {
        // Nothing is behind the last dispatch, and without a row nothing is judged.
        let last = self.job.dispatches.len() as u32 - 1;
        let asked = |row: &AlteredStores| {
            row.noticed.is_some() && row.dispatches.iter().any(|number| *number < last)
        };
        if !rows.iter().any(asked) {
            return;
        }
        for row in rows {
            let lost = row
                .dispatches
                .iter()
                .filter(|number| self.is_overwritten(**number as usize, stored));
            row.overwritten = lost.copied().collect();
        }
    }

    /// Whether nothing is left of what a dispatch stored, and no later one can have read it.
    /// `stored`: bytes by dispatch and buffer.
    fn is_overwritten(&self, number: usize, stored: &[StoredBytes]) -> bool {
        let mut left = stored[number].clone();
        if left.iter().all(Vec::is_empty) {
            return false;
        }
        for (flow, stores) in self.flows.iter().zip(stored).skip(number + 1) {
            for (buffer, left) in self.plan.job.buffers.iter().zip(&left) {
                let reads = flow
                    .stores
                    .iter()
                    .flat_map(|store| &store.from)
                    .filter(|read| read.buffer == buffer.name);
                let is_read =
                    |read: &BufferRange| left.iter().any(|bytes| read.holds_part_of(bytes));
                if reads.into_iter().any(is_read) {
                    return false;
                }
            }
            left = left.iter().zip(stores).map(|(left, stores)| without(left, stores)).collect();
            if left.iter().all(Vec::is_empty) {
                return true;
            }
        }
        false
    }

    /// Bytes that a dispatch can store to by its code, by buffer of the job.
    fn storable(&self, number: usize) -> StoredBytes {
        let ranges = self.flows[number].stores.iter().flat_map(|store| &store.to);
        let of_buffer = |buffer: &JobBuffer| {
            let named = ranges.clone().filter(|range| range.buffer == buffer.name);
            let mut bounded: Vec<Range<usize>> =
                named.map(|range| in_buffer(range, buffer)).collect();
            bounded.sort_by_key(|range| (range.start, range.end));
            bounded
        };
        self.plan.job.buffers.iter().map(of_buffer).collect()
    }

    /// The first alteration of a dispatch's stores that fails the test. Runs that are cut short are
    /// tried to their end last.
    fn trial(
        &self,
        stores: &DispatchStores<'_>,
        strict: &StrictTest<'_>,
    ) -> Result<Option<Alteration>, CampaignError> {
        let most = self.job.limits.steps;
        let mut open: Vec<Alteration> = Alteration::ALL.to_vec();
        for steps in [most.min(FIRST_STEPS), most] {
            for alteration in std::mem::take(&mut open) {
                let contents = altered(stores.contents, stores.before, &stores.groups, alteration);
                if contents == stores.contents {
                    continue;
                }
                let run = self.rest(stores.number, contents, steps)?;
                match run.completion {
                    Completion::Completed if strict.fails(run.buffers)? => {
                        return Ok(Some(alteration));
                    }
                    Completion::NoTermination { .. } if steps < most => open.push(alteration),
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

    /// Runs the dispatches behind `number` on contents.
    fn rest(
        &self,
        number: usize,
        contents: Vec<BufferContents>,
        steps: u64,
    ) -> Result<Run, CampaignError> {
        let (first, job) = (number + 1, &self.job);
        if first == job.dispatches.len() {
            return Ok(Run { buffers: contents, ..Run::ended(Completion::Completed) });
        }
        let mut rest = Job { dispatches: job.dispatches[first..].to_vec(), ..job.clone() };
        rest.limits.steps = steps;
        for (buffer, bytes) in rest.buffers.iter_mut().zip(contents) {
            buffer.defined = std::iter::once(0..bytes.len()).collect();
            buffer.bytes = bytes;
        }
        rest.resources.addresses.retain_mut(|address| match &mut address.place {
            AddressPlace::Buffer(_) => true,
            AddressPlace::PushConstants(dispatch) => match dispatch.checked_sub(first as u32) {
                Some(later) => {
                    *dispatch = later;
                    true
                }
                None => false,
            },
        });
        self.engine.clone().run(&rest, &mut Unobserved).map_err(tool)
    }
}

/// The dispatches of a kernel that are tried, in order.
fn tried(judged: &[u32]) -> impl Iterator<Item = u32> {
    let first =
        judged.iter().take(judged.len().saturating_sub(MOST_DISPATCHES)).take(MOST_DISPATCHES);
    judged.iter().rev().take(MOST_DISPATCHES).chain(first).copied()
}
