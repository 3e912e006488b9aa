//! Vectors and marks that may follow an undefined value, invocation by invocation.
//!
//! Knows: the measuring job of a test on both engines: on the device with a slot for each
//! invocation, on the sequential engine as ever and with other undefined values.
//! Promises: a vector or mark that one engine alone recorded follows an undefined value only if
//! every invocation that has it on one engine alone has it, in one of these runs, as on the device.
//! Where that cannot be compared, none does, and why is told.
//! Does not cover: what both engines recorded, if in different invocations.

use super::{Means, ordinary_request, varied_request};
use crate::kernel::{Kernel, Variant};
use crate::left_open::{Between, Expectations, LeftOpen, Recorded};
use crate::test_run::{TestRun, job_of, judge};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::schedule::Permuted;
use vkcert_exec::{Completion, Executor, Job, Run, RunRequest};
use vkcert_instrument::DispatchSize;
use vkcert_model::finding_details::UndefinedRefusal;
use vkcert_model::invocations::{InvocationRecords, Ranks};
use vkcert_model::project::Contraction;
use vkcert_model::records::Records;
use vkcert_sequential::{ChanceTrial, SequentialExecutor, Variation};

/// What becomes of vectors and marks that may follow an undefined value, by bit.
#[derive(Debug, Default)]
pub(super) struct Excuses {
    pub following: BTreeSet<u32>,
    pub refused: BTreeMap<u32, Refusal>,
}

/// Why a vector or mark does not follow an undefined value, or is not known to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// An invocation, the first of `count`, has it on one engine alone whatever undefined values
    /// are.
    Invocation {
        dispatch: u32,
        invocation: [u32; 3],
        count: u64,
    },
    NotCompared(String),
}

impl Refusal {
    /// The end of a finding's sentence.
    pub(super) fn words(&self) -> String {
        match self {
            Refusal::Invocation { dispatch, invocation: [x, y, z], count } => {
                let others = if *count > 1 {
                    format!(" (nor on {} more)", count - 1)
                } else {
                    String::new()
                };
                format!(
                    "; no run with other undefined values agrees with vulkan on invocation ({x}, {y}, {z}) of dispatch {dispatch}{others}"
                )
            }
            Refusal::NotCompared(reason) => {
                format!(
                    "; whether it follows an undefined value of the same invocation is not known: {reason}"
                )
            }
        }
    }

    /// The same for people's programs.
    pub(super) fn detail(&self) -> UndefinedRefusal {
        match self {
            Refusal::Invocation { .. } => UndefinedRefusal::OfOtherInvocations,
            Refusal::NotCompared(_) => UndefinedRefusal::NotCompared,
        }
    }

    pub(super) fn invocation(&self) -> Option<[u32; 3]> {
        match self {
            Refusal::Invocation { invocation, .. } => Some(*invocation),
            Refusal::NotCompared(_) => None,
        }
    }
}

/// A module of a test that ran on both engines.
pub(super) struct ByInvocation<'a> {
    pub open: &'a LeftOpen<'a>,
    pub kernel: &'a Kernel,
    /// Index into the modules of the job.
    pub module: usize,
    /// What the sequential engine's and the device's runs recorded.
    pub records: [&'a Records; 2],
    pub vulkan: &'a TestRun,
}

/// Invocations by dispatch and bit.
type Invocations = BTreeMap<(u32, u32), Ranks>;

/// Invocations that have a bit on one engine alone, whatever undefined values are.
struct Unexplained {
    /// By dispatch.
    local_sizes: BTreeMap<u32, [u32; 3]>,
    /// None of the sets is empty.
    found: Invocations,
}

impl ByInvocation<'_> {
    /// Which of some bits follow an undefined value in every invocation.
    pub(super) fn excuse(&self, means: &mut Means, bits: &BTreeSet<u32>) -> Excuses {
        let unexplained = match self.unexplained(means, bits) {
            Ok(unexplained) => unexplained,
            Err(reason) => {
                let refused =
                    bits.iter().map(|bit| (*bit, Refusal::NotCompared(reason.clone()))).collect();
                return Excuses { following: BTreeSet::new(), refused };
            }
        };
        let mut refused = BTreeMap::new();
        for bit in bits {
            let mut of_bit = unexplained.found.iter().filter(|((_, of), _)| of == bit);
            let Some(((dispatch, _), ranks)) = of_bit.next() else { continue };
            let size = DispatchSize {
                groups: self.open.plan.job.dispatches[*dispatch as usize].groups,
                local_size: unexplained.local_sizes[dispatch],
            };
            let invocation = size.invocation_at(ranks.lowest().unwrap_or_default());
            let count = ranks.count() + of_bit.map(|(_, ranks)| ranks.count()).sum::<u64>();
            refused.insert(*bit, Refusal::Invocation { dispatch: *dispatch, invocation, count });
        }
        let following = bits.iter().copied().filter(|bit| !refused.contains_key(bit)).collect();
        Excuses { following, refused }
    }

    /// The invocations that have a bit on one engine alone, in no run with other undefined values
    /// as on the device.
    fn unexplained(&self, means: &mut Means, bits: &BTreeSet<u32>) -> Result<Unexplained, String> {
        let theirs = self.on_device(means, bits)?;
        let job =
            job_of(self.open.prepared, Variant::Marked).ok_or("a kernel cannot be measured")?;
        let request = ordinary_request(self.open.prepared, &job);
        let (run, ours) = self
            .run(&mut means.sequential, &request, bits)
            .map_err(|why| format!("on the sequential engine {why}"))?;
        self.same_records(&run, self.records[0])
            .map_err(|why| format!("on the sequential engine {why}"))?;
        let local_sizes = local_sizes(&ours);
        if local_sizes != self::local_sizes(&theirs) {
            return Err("the engines number the invocations differently".to_owned());
        }
        let mut unexplained = Unexplained { local_sizes, found: differing(&ours, &theirs) };
        for variation in Variation::OF_UNDEFINED {
            self.explain(&mut means.sequential, &job, *variation, &theirs, &mut unexplained.found);
        }
        Variation::try_by_chance(|variation| {
            if unexplained.found.is_empty() {
                return ChanceTrial::NotNeeded;
            }
            match self.explain(
                &mut means.sequential,
                &job,
                variation,
                &theirs,
                &mut unexplained.found,
            ) {
                true => ChanceTrial::Settled,
                false => ChanceTrial::Idle,
            }
        });
        Ok(unexplained)
    }

    /// Strikes out the invocations that have a bit in a run with other undefined values as on the
    /// device; whether there are any.
    fn explain(
        &self,
        engine: &mut SequentialExecutor,
        job: &Job,
        variation: Variation,
        theirs: &InvocationRecords,
        unexplained: &mut Invocations,
    ) -> bool {
        if unexplained.is_empty() {
            return false;
        }
        let bits = unexplained.keys().map(|(_, bit)| *bit).collect();
        let request = varied_request(self.open.prepared, job, variation);
        // A run that does not complete shows nothing.
        let Ok((_, varied)) = self.run(engine, &request, &bits) else { return false };
        let mut settled = false;
        unexplained.retain(|(dispatch, bit), ranks| {
            let still = recorded(&varied, *dispatch, *bit)
                .differing(recorded(theirs, *dispatch, *bit))
                .shared(ranks);
            settled |= still != *ranks;
            *ranks = still;
            !ranks.is_empty()
        });
        settled
    }

    /// Who recorded the bits on the device, where it records and leaves what it did before.
    fn on_device(
        &self,
        means: &mut Means,
        bits: &BTreeSet<u32>,
    ) -> Result<InvocationRecords, String> {
        let device = means.device.as_deref_mut().ok_or("the device is not there")?;
        let prepared = self.open.prepared;
        let mut job = job_of(prepared, Variant::Traced).ok_or("a kernel cannot be measured")?;
        let module = &mut job.modules[self.module];
        let slots = self.kernel.slots_module()?;
        (module.words, module.recording) = (slots.words, slots.recording);
        let request = RunRequest::once(&job);
        let ran = match prepared.replay {
            Some(schedule) => {
                self.run(&mut Permuted::new(device, schedule.workgroups), &request, bits)
            }
            None => self.run(device, &request, bits),
        };
        let told = |why: String| format!("with a slot for each invocation, on the device {why}");
        let (run, found) = ran.map_err(told)?;
        self.same_records(&run, self.records[1]).map_err(told)?;
        self.same_contents(&run).map_err(told)?;
        Ok(found)
    }

    /// A completed run with who recorded the bits in dispatches of the module.
    fn run(
        &self,
        engine: &mut dyn Executor,
        request: &RunRequest<'_>,
        bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), String> {
        let (run, mut found) =
            engine.run_by_invocation(request, bits).map_err(|error| error.to_string())?;
        found
            .retain(|dispatch, _| request.job.dispatches[*dispatch as usize].module == self.module);
        match (&run.completion, run.completion.reason()) {
            (_, None) => Ok((run, found)),
            (Completion::Unsupported { what }, _) => Err(format!("the run is unsupported: {what}")),
            (_, Some(reason)) => Err(format!("the run did not complete: {reason}")),
        }
    }

    /// What is recorded again must be what the first run recorded, but for what depends on the
    /// schedule.
    fn same_records(&self, run: &Run, first: &Records) -> Result<(), String> {
        let key = &self.open.plan.job.modules[self.module].key;
        let again = run.records.get(key).ok_or("there are no records")?;
        let same = self.open.scheduled_bits(
            Recorded::Source,
            key,
            [&bits_alone(again), &bits_alone(first)],
        );
        if same.is_some() { Ok(()) } else { Err("other records came than before".to_owned()) }
    }

    /// What the device leaves must be what production left, as of every module that records.
    fn same_contents(&self, run: &Run) -> Result<(), String> {
        let plan = self.open.plan;
        let judged = judge(plan, run).map_err(|_| "its outputs cannot be judged".to_owned());
        let verdict = judged?.verdict;
        if self.open.prepared.contraction == Contraction::Allowed && verdict == self.vulkan.verdict
        {
            return Ok(());
        }
        let production = self.vulkan.contents_of(&plan.job).ok_or("there are no outputs")?;
        let expectations = Expectations::of(self.vulkan.verdict, verdict);
        match self.open.contents(&production, &run.buffers, Between::Modules, expectations).closed {
            false => Ok(()),
            true => Err("other outputs came than before".to_owned()),
        }
    }
}

fn bits_alone(records: &Records) -> Records {
    Records { words: records.words.clone(), ..Records::default() }
}

fn local_sizes(records: &InvocationRecords) -> BTreeMap<u32, [u32; 3]> {
    records.iter().map(|(dispatch, found)| (*dispatch, found.local_size)).collect()
}

/// Who recorded a bit in a dispatch.
fn recorded(records: &InvocationRecords, dispatch: u32, bit: u32) -> &Ranks {
    records.get(&dispatch).and_then(|found| found.by_bit.get(&bit)).unwrap_or(Ranks::NONE)
}

/// Who recorded a bit on one of two engines alone.
fn differing(ours: &InvocationRecords, theirs: &InvocationRecords) -> Invocations {
    let bits = ours
        .iter()
        .flat_map(|(dispatch, found)| found.by_bit.keys().map(move |bit| (*dispatch, *bit)));
    let alone = |(dispatch, bit)| {
        let ranks = recorded(ours, dispatch, bit).differing(recorded(theirs, dispatch, bit));
        ((dispatch, bit), ranks)
    };
    bits.map(alone).filter(|(_, ranks)| !ranks.is_empty()).collect()
}
