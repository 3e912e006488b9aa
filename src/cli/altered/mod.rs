//! Altered contents: whether a test that passed would fail if its kernels had stored something else.
//!
//! Knows: tests that passed on the sequential engine, and which of their dispatches they judge by the kernels' code.
//! Promises: for each kernel (under each specialization), from its last dispatch on, what that dispatch stored is altered,
//! the later dispatches run again, and the expectations are judged again, until an alteration fails the test. A failed
//! expectation counts as noticed, and a run that does not end; not one that breaks. Nothing is recorded and no finding is
//! looked for; the limits are the test's own.
//! Does not cover: which values would be right; engines other than the sequential one.

use super::assemble::{self, LaidOut};
use super::failure::Failure;
use super::kernel::{Kernel, Variant};
use super::test_run::{PreparedTest, TestRun, job_of, judge};
use crate::exec::alteration::{StoredElement, altered, elements, without_misreading};
use crate::exec::judge::resolved;
use crate::exec::judged::Observation;
use crate::exec::prepare::{ExpectedContents, Prepared};
use crate::exec::resource::AddressPlace;
use crate::exec::sequential::{LastStores, SequentialExecutor, StoredBytes, byte_ranges};
use crate::exec::{Completion, ExecError, Executor, Job, Run, Unobserved};
use crate::model::altered::{Alteration, AlteredExtent, AlteredStores, NoticedAlteration, held_to};
use crate::model::flow::{BufferRange, DispatchFlow};
use crate::model::verdict::{EngineName, Verdict};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Dispatches of one kernel that are tried, the last so many and then the first: one is enough in all but odd tests.
const MOST_DISPATCHES: usize = 16;

/// Instructions of an altered run before other alterations are tried: stores that others loop by may never end.
const FIRST_STEPS: u64 = 200_000_000;

/// Alters the stores of every test that passed, and keeps what that showed.
pub fn examine(
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs: &mut [Vec<TestRun>],
    engine: &SequentialExecutor,
) -> Result<(), Failure> {
    let codes = assemble::codes(kernels);
    let examined = |(test, row): (&PreparedTest, &mut Vec<TestRun>)| -> Result<(), Failure> {
        let Some((expected, flows)) = laid_out.get(&test.test.id) else { return Ok(()) };
        let passed = |run: &&mut TestRun| run.engine == EngineName::Sequential && run.verdict == Verdict::Pass;
        let (Some(run), Ok(plan)) = (row.iter_mut().find(passed), &test.plan) else { return Ok(()) };
        let by_code = Observation::of(expected, flows, &codes);
        if by_code.says_nothing().is_none() {
            run.altered = Examination { test, plan, flows, engine }.kernels(&by_code, &run.outputs)?;
        }
        Ok(())
    };
    prepared.par_iter().zip(runs.par_iter_mut()).map(examined).collect()
}

/// What stored runs say of altered contents, as far as it follows from their outputs and the kernels' code: rows without an
/// engine, and the names of the tests of which it takes one to know what is noticed.
pub fn derive(
    prepared: &[PreparedTest],
    laid_out: &LaidOut,
    kernels: &[Kernel],
    runs: &mut [Vec<TestRun>],
) -> Vec<String> {
    let codes = assemble::codes(kernels);
    let mut unknown = Vec::new();
    for (test, row) in prepared.iter().zip(runs) {
        let Some((expected, flows)) = laid_out.get(&test.test.id) else { continue };
        let told =
            |run: &&mut TestRun| run.engine == EngineName::Sequential && held_to(run.verdict, &run.altered).is_some();
        let (Some(run), Ok(plan)) = (row.iter_mut().find(told), &test.plan) else { continue };
        let by_code = Observation::of(expected, flows, &codes);
        let stored = std::mem::take(&mut run.altered);
        if by_code.says_nothing().is_some() {
            continue;
        }
        let derived = derived_noticed(test, plan, &run.outputs);
        for mut due in rows(plan, &by_code) {
            let same = |row: &&AlteredStores| (&row.kernel, &row.dispatches) == (&due.kernel, &due.dispatches);
            let stored = stored.iter().find(same);
            due.noticed = derived.or(stored.and_then(|row| row.noticed));
            // Of a single dispatch nothing is overwritten.
            if let (None, Some(row)) = (derived, stored) {
                due.overwritten.clone_from(&row.overwritten);
            }
            run.altered.push(due);
        }
        if derived.is_none() {
            unknown.push(format!("test {} on {}", test.test.id, run.engine));
        }
    }
    unknown
}

/// What the outputs of a test with one dispatch show without an engine.
fn derived_noticed(
    test: &PreparedTest,
    plan: &Prepared,
    outputs: &BTreeMap<String, Vec<u8>>,
) -> Option<NoticedAlteration> {
    let needs_engine = |contents: &ExpectedContents| match contents {
        ExpectedContents::Values(_) | ExpectedContents::Buffer { .. } => false,
        ExpectedContents::Reference { .. } | ExpectedContents::Check { .. } => true,
    };
    if plan.expected.iter().any(|expected| needs_engine(&expected.contents)) {
        return None;
    }
    trial_of_changes(test, plan, &without_misreading(plan), &final_contents(plan, outputs)?).ok()?
}

/// A row per kernel and specialization of which a dispatch is judged by its code, with nothing noticed yet.
fn rows(plan: &Prepared, by_code: &Observation) -> Vec<AlteredStores> {
    let row = |(module, of): (usize, &crate::exec::prepare::ModuleUse)| {
        let of_module = plan.job.dispatches.iter().enumerate().filter(|(_, dispatch)| dispatch.module == module);
        let judged = of_module.filter(|(number, _)| by_code.judges(*number));
        let dispatches: Vec<u32> = judged.map(|(number, _)| number as u32).collect();
        (!dispatches.is_empty()).then(|| AlteredStores {
            kernel: of.kernel.clone(),
            dispatches,
            noticed: None,
            overwritten: Vec::new(),
        })
    };
    plan.modules.iter().enumerate().filter_map(row).collect()
}

/// Final contents by buffer of the job; none where one is not there.
fn final_contents(plan: &Prepared, outputs: &BTreeMap<String, Vec<u8>>) -> Option<Vec<Vec<u8>>> {
    plan.job.buffers.iter().map(|buffer| outputs.get(&buffer.name).cloned()).collect()
}

/// The alterations of what the only dispatch of a test has changed: the first that fails it, without running anything.
fn trial_of_changes(
    test: &PreparedTest,
    plan: &Prepared,
    strict: &Prepared,
    left: &[Vec<u8>],
) -> Result<Option<NoticedAlteration>, Failure> {
    if plan.job.dispatches.len() != 1 {
        return Ok(None);
    }
    let changes =
        plan.job.buffers.iter().zip(left).map(|(buffer, left)| {
            byte_ranges(buffer.bytes.len().min(left.len()), |byte| buffer.bytes[byte] != left[byte])
        });
    let stored: Vec<Vec<Range<usize>>> = changes.collect();
    for alteration in Alteration::ALL {
        let contents = altered(left, &elements(plan, test.test, &stored), alteration);
        if contents != left && fails(strict, contents)? {
            return Ok(Some(NoticedAlteration { dispatch: 0, extent: AlteredExtent::Changed, alteration }));
        }
    }
    Ok(None)
}

/// Whether these final contents fail the expectations.
fn fails(strict: &Prepared, buffers: Vec<Vec<u8>>) -> Result<bool, Failure> {
    let run = Run { buffers, ..Run::ended(Completion::Completed) };
    Ok(judge(strict, &run)?.verdict == Verdict::Fail)
}

/// What the alterations of one dispatch start from.
struct DispatchStores {
    number: usize,
    extent: AlteredExtent,
    /// By buffer, after the dispatch.
    contents: Vec<Vec<u8>>,
    elements: Vec<StoredElement>,
}

/// One test.
struct Examination<'a> {
    test: &'a PreparedTest<'a>,
    plan: &'a Prepared,
    flows: &'a [DispatchFlow],
    engine: &'a SequentialExecutor,
}

impl Examination<'_> {
    /// A row per kernel and specialization of which `by_code` judges a dispatch.
    fn kernels(
        &self,
        by_code: &Observation,
        outputs: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Vec<AlteredStores>, Failure> {
        let mut reference = |job: &Job| self.engine.clone().run(job, &mut Unobserved);
        let strict = without_misreading(self.plan);
        let strict = resolved(&Prepared { listed: 0, ..strict }, &mut reference).map_err(tool)?;
        let left = final_contents(self.plan, outputs);
        let job = job_of(self.test, Variant::Production).expect("every kernel has a production module");
        let mut rows = rows(self.plan, by_code);
        if let (Some(strict), Some(left)) = (&strict, &left) {
            for row in &mut rows {
                row.noticed = self.noticed(&row.dispatches, &job, strict, left)?;
            }
            self.mark_overwritten(&mut rows, &job)?;
        }
        Ok(rows)
    }

    fn noticed(
        &self,
        judged: &[u32],
        job: &Job,
        strict: &Prepared,
        left: &[Vec<u8>],
    ) -> Result<Option<NoticedAlteration>, Failure> {
        if let Some(noticed) = trial_of_changes(self.test, self.plan, strict, left)? {
            return Ok(Some(noticed));
        }
        let first = judged.iter().take(judged.len().saturating_sub(MOST_DISPATCHES)).take(MOST_DISPATCHES);
        for number in judged.iter().rev().take(MOST_DISPATCHES).chain(first) {
            for stores in self.stores_of(*number as usize, job)? {
                if let Some(alteration) = self.trial(&stores, job, strict)? {
                    let (dispatch, extent) = (*number, stores.extent);
                    return Ok(Some(NoticedAlteration { dispatch, extent, alteration }));
                }
            }
        }
        Ok(None)
    }

    /// What a dispatch stored, then what it can store to and did not: that nothing is stored there is a result too.
    fn stores_of(&self, number: usize, job: &Job) -> Result<Vec<DispatchStores>, Failure> {
        let first = Job { dispatches: job.dispatches[..=number].to_vec(), ..job.clone() };
        let Some(LastStores { contents, stored }) = self.engine.stores_of_last(&first).map_err(tool)? else {
            return Ok(Vec::new());
        };
        let storable = self.storable(number).into_iter().zip(&stored);
        let storable: Vec<_> = storable.map(|(storable, stored)| without(&storable, stored)).collect();
        let extents = [(AlteredExtent::Stored, stored), (AlteredExtent::Storable, storable)].into_iter();
        let stores = |(extent, bytes): (AlteredExtent, Vec<Vec<Range<usize>>>)| {
            let elements = elements(self.plan, self.test.test, &bytes);
            DispatchStores { number, extent, contents: contents.clone(), elements }
        };
        Ok(extents.map(stores).filter(|stores| !stores.elements.is_empty()).collect())
    }

    /// Names the dispatches whose stores later ones overwrite wholly, before any of them can read them by its code.
    fn mark_overwritten(&self, rows: &mut [AlteredStores], job: &Job) -> Result<(), Failure> {
        // Nothing is behind the last dispatch, and without a row nothing is judged.
        let asked = |number: u32| rows.iter().any(|row| row.noticed.is_some() && row.dispatches.contains(&number));
        if !(1..job.dispatches.len() as u32).map(|next| next - 1).any(asked) {
            return Ok(());
        }
        let Some(stored) = self.engine.stores_of_each(job).map_err(tool)? else { return Ok(()) };
        for row in rows {
            let lost = row.dispatches.iter().filter(|number| self.is_overwritten(**number as usize, &stored));
            row.overwritten = lost.copied().collect();
        }
        Ok(())
    }

    /// Whether nothing is left of what a dispatch stored, and no later one can have read it. `stored`: bytes by dispatch and
    /// buffer.
    fn is_overwritten(&self, number: usize, stored: &[StoredBytes]) -> bool {
        let mut left = stored[number].clone();
        if left.iter().all(Vec::is_empty) {
            return false;
        }
        for (flow, stores) in self.flows.iter().zip(stored).skip(number + 1) {
            for (buffer, left) in self.plan.job.buffers.iter().zip(&left) {
                let reads = flow.stores.iter().flat_map(|store| &store.from).filter(|read| read.buffer == buffer.name);
                let is_read = |read: &BufferRange| left.iter().any(|bytes| read.holds_part_of(bytes));
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
    fn storable(&self, number: usize) -> Vec<Vec<Range<usize>>> {
        let ranges = self.flows[number].stores.iter().flat_map(|store| &store.to);
        let of_buffer = |buffer: &crate::exec::JobBuffer| {
            let length = buffer.bytes.len() as u64;
            let named = ranges.clone().filter(|range| range.buffer == buffer.name);
            let bounded = named.map(|range| range.offset..range.offset.saturating_add(range.bytes).min(length));
            let mut bounded: Vec<Range<usize>> =
                bounded.map(|range| range.start as usize..range.end as usize).collect();
            bounded.sort_by_key(|range| (range.start, range.end));
            bounded
        };
        self.plan.job.buffers.iter().map(of_buffer).collect()
    }

    /// The first alteration of a dispatch's stores that fails the test. Runs that are cut short are tried to their end last.
    fn trial(&self, stores: &DispatchStores, job: &Job, strict: &Prepared) -> Result<Option<Alteration>, Failure> {
        let mut open: Vec<Alteration> = Alteration::ALL.to_vec();
        for steps in [job.limits.steps.min(FIRST_STEPS), job.limits.steps] {
            for alteration in std::mem::take(&mut open) {
                let contents = altered(&stores.contents, &stores.elements, alteration);
                if contents == stores.contents {
                    continue;
                }
                let run = self.rest(stores.number, job, contents, steps)?;
                match run.completion {
                    Completion::Completed if fails(strict, run.buffers)? => return Ok(Some(alteration)),
                    Completion::NoTermination { .. } if steps < job.limits.steps => open.push(alteration),
                    // The test itself would end so, and not pass.
                    Completion::NoTermination { .. } => return Ok(Some(alteration)),
                    Completion::Completed
                    | Completion::Timeout { .. }
                    | Completion::Unsupported { .. }
                    | Completion::Error { .. }
                    | Completion::Undetermined { .. }
                    | Completion::Varying { .. } => {}
                }
            }
        }
        Ok(None)
    }

    /// Runs the dispatches behind `number` on contents.
    fn rest(&self, number: usize, job: &Job, contents: Vec<Vec<u8>>, steps: u64) -> Result<Run, Failure> {
        let first = number + 1;
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

fn tool(error: ExecError) -> Failure {
    Failure::tool(error.to_string())
}

/// The bytes of some ranges that are not in others, which are sorted and disjoint.
fn without(ranges: &[Range<usize>], others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = Vec::new();
    for range in ranges {
        let mut start = range.start;
        for other in others.iter().filter(|other| other.start < range.end && other.end > range.start) {
            if start < other.start {
                left.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < range.end {
            left.push(start..range.end);
        }
    }
    left
}
