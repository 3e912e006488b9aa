//! Vectors and marks that may follow an undefined value, invocation by invocation.
//!
//! Knows: the measuring job of a test on both engines: on the device with a slot for each
//! invocation, on the sequential engine as ever and with other undefined values.
//! Promises: a vector or mark that one engine alone recorded follows an undefined value only if
//! every invocation that has it on one engine alone has it, in one of these runs, as on the device.
//! Where that cannot be compared, none does, and why is told.
//! Does not cover: what both engines recorded, if in different invocations.

use super::{ComparisonEngines, ordinary_request, varied_request};
use crate::kernel::{Kernel, ModuleVariant};
use crate::left_open::{ComparedResults, Expectations, LeftOpen, RecordedCode};
use crate::test_run::{TestRun, job_of, judge_run};
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
    pub refused: BTreeMap<u32, ExcuseRefusal>,
}

/// Why a vector or mark does not follow an undefined value, or is not known to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ExcuseRefusal {
    /// An invocation, the first of `count`, has it on one engine alone whatever undefined values
    /// are.
    Invocation {
        dispatch: u32,
        invocation: [u32; 3],
        count: u64,
    },
    NotCompared(String),
}

impl ExcuseRefusal {
    /// The end of a finding's sentence.
    pub(super) fn in_words(&self) -> String {
        match self {
            ExcuseRefusal::Invocation { dispatch, invocation: [x, y, z], count } => {
                let others = if *count > 1 {
                    format!(" (nor on {} more)", count - 1)
                } else {
                    String::new()
                };
                format!(
                    "; no run with other undefined values agrees with vulkan on invocation ({x}, {y}, {z}) of dispatch {dispatch}{others}"
                )
            }
            ExcuseRefusal::NotCompared(reason) => {
                format!(
                    "; whether it follows an undefined value of the same invocation is not known: {reason}"
                )
            }
        }
    }

    /// The same for people's programs.
    pub(super) fn detail(&self) -> UndefinedRefusal {
        match self {
            ExcuseRefusal::Invocation { .. } => UndefinedRefusal::OfOtherInvocations,
            ExcuseRefusal::NotCompared(_) => UndefinedRefusal::NotCompared,
        }
    }

    pub(super) fn invocation(&self) -> Option<[u32; 3]> {
        match self {
            ExcuseRefusal::Invocation { invocation, .. } => Some(*invocation),
            ExcuseRefusal::NotCompared(_) => None,
        }
    }
}

/// A module of a test that ran on both engines.
pub(super) struct ByInvocation<'a> {
    pub left_open: &'a LeftOpen<'a>,
    pub kernel: &'a Kernel,
    /// Index into the modules of the job.
    pub module: usize,
    /// What the sequential engine's and the device's runs recorded.
    pub records: [&'a Records; 2],
    pub device_run: &'a TestRun,
}

/// Invocations by dispatch and bit.
type RanksByBit = BTreeMap<(u32, u32), Ranks>;

/// Invocations that have a bit on one engine alone, whatever undefined values are.
struct UnexplainedInvocations {
    /// By dispatch.
    local_sizes: BTreeMap<u32, [u32; 3]>,
    /// None of the sets is empty.
    found: RanksByBit,
}

impl ByInvocation<'_> {
    /// Which of some bits follow an undefined value in every invocation.
    pub(super) fn excuse_bits(
        &self,
        comparison_engines: &mut ComparisonEngines,
        record_bits: &BTreeSet<u32>,
    ) -> Excuses {
        let unexplained = match self.unexplained_invocations(comparison_engines, record_bits) {
            Ok(unexplained) => unexplained,
            Err(reason) => {
                let refusals_by_bit = record_bits
                    .iter()
                    .map(|bit| (*bit, ExcuseRefusal::NotCompared(reason.clone())))
                    .collect();
                return Excuses { following: BTreeSet::new(), refused: refusals_by_bit };
            }
        };
        let mut refusals_by_bit = BTreeMap::new();
        for bit in record_bits {
            let mut of_bit =
                unexplained.found.iter().filter(|((_, other_bit), _)| other_bit == bit);
            let Some(((dispatch, _), ranks)) = of_bit.next() else { continue };
            let dispatch_size = DispatchSize {
                groups: self.left_open.job_plan.job.dispatches[*dispatch as usize].groups,
                local_size: unexplained.local_sizes[dispatch],
            };
            let invocation = dispatch_size.invocation_at(ranks.lowest().unwrap_or_default());
            let count =
                ranks.count() + of_bit.map(|(_, other_ranks)| other_ranks.count()).sum::<u64>();
            refusals_by_bit
                .insert(*bit, ExcuseRefusal::Invocation { dispatch: *dispatch, invocation, count });
        }
        let following_bits =
            record_bits.iter().copied().filter(|bit| !refusals_by_bit.contains_key(bit)).collect();
        Excuses { following: following_bits, refused: refusals_by_bit }
    }

    /// The invocations that have a bit on one engine alone, in no run with other undefined values
    /// as on the device.
    fn unexplained_invocations(
        &self,
        comparison_engines: &mut ComparisonEngines,
        record_bits: &BTreeSet<u32>,
    ) -> Result<UnexplainedInvocations, String> {
        let device_records = self.on_device(comparison_engines, record_bits)?;
        let job = job_of(self.left_open.prepared_test, ModuleVariant::Marked)
            .ok_or("a kernel cannot be measured")?;
        let request = ordinary_request(self.left_open.prepared_test, &job);
        let (run, sequential_records) = self
            .run_to_completion(&mut comparison_engines.sequential, &request, record_bits)
            .map_err(|failure_reason| format!("on the sequential engine {failure_reason}"))?;
        self.same_records(&run, self.records[0])
            .map_err(|failure_reason| format!("on the sequential engine {failure_reason}"))?;
        let local_sizes = local_sizes(&sequential_records);
        if local_sizes != self::local_sizes(&device_records) {
            return Err("the engines number the invocations differently".to_owned());
        }
        let mut unexplained = UnexplainedInvocations {
            local_sizes,
            found: differing_invocations(&sequential_records, &device_records),
        };
        for variation in Variation::OF_UNDEFINED {
            self.strike_out_explained(
                &mut comparison_engines.sequential,
                &job,
                *variation,
                &device_records,
                &mut unexplained.found,
            );
        }
        Variation::try_by_chance(|variation| {
            if unexplained.found.is_empty() {
                return ChanceTrial::NotNeeded;
            }
            match self.strike_out_explained(
                &mut comparison_engines.sequential,
                &job,
                variation,
                &device_records,
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
    fn strike_out_explained(
        &self,
        sequential_engine: &mut SequentialExecutor,
        job: &Job,
        variation: Variation,
        device_records: &InvocationRecords,
        unexplained: &mut RanksByBit,
    ) -> bool {
        if unexplained.is_empty() {
            return false;
        }
        let bits = unexplained.keys().map(|(_, bit)| *bit).collect();
        let request = varied_request(self.left_open.prepared_test, job, variation);
        // A run that does not complete shows nothing.
        let Ok((_, varied_records)) = self.run_to_completion(sequential_engine, &request, &bits)
        else {
            return false;
        };
        let mut has_settled = false;
        unexplained.retain(|(dispatch, bit), ranks| {
            let still_differing = ranks_that_recorded(&varied_records, *dispatch, *bit)
                .differing(ranks_that_recorded(device_records, *dispatch, *bit))
                .shared(ranks);
            has_settled |= still_differing != *ranks;
            *ranks = still_differing;
            !ranks.is_empty()
        });
        has_settled
    }

    /// Who recorded the bits on the device, where it records and leaves what it did before.
    fn on_device(
        &self,
        comparison_engines: &mut ComparisonEngines,
        record_bits: &BTreeSet<u32>,
    ) -> Result<InvocationRecords, String> {
        let device = comparison_engines.device.as_deref_mut().ok_or("the device is not there")?;
        let prepared = self.left_open.prepared_test;
        let mut job =
            job_of(prepared, ModuleVariant::Traced).ok_or("a kernel cannot be measured")?;
        let module = &mut job.modules[self.module];
        let slots_module = self.kernel.slots_module()?;
        (module.words, module.recording) = (slots_module.words, slots_module.recording);
        let request = RunRequest::once(&job);
        let run_result = match prepared.replay {
            Some(schedule) => self.run_to_completion(
                &mut Permuted::new(device, schedule.workgroups),
                &request,
                record_bits,
            ),
            None => self.run_to_completion(device, &request, record_bits),
        };
        let with_place = |failure_reason: String| {
            format!("with a slot for each invocation, on the device {failure_reason}")
        };
        let (run, invocation_records) = run_result.map_err(with_place)?;
        self.same_records(&run, self.records[1]).map_err(with_place)?;
        self.same_contents(&run).map_err(with_place)?;
        Ok(invocation_records)
    }

    /// A completed run with who recorded the bits in dispatches of the module.
    fn run_to_completion(
        &self,
        executor: &mut dyn Executor,
        run_request: &RunRequest<'_>,
        record_bits: &BTreeSet<u32>,
    ) -> Result<(Run, InvocationRecords), String> {
        let (run, mut invocation_records) = executor
            .run_by_invocation(run_request, record_bits)
            .map_err(|error| error.to_string())?;
        invocation_records.retain(|dispatch, _| {
            run_request.job.dispatches[*dispatch as usize].module == self.module
        });
        match (&run.completion, run.completion.reason()) {
            (_, None) => Ok((run, invocation_records)),
            (Completion::Unsupported { what }, _) => Err(format!("the run is unsupported: {what}")),
            (_, Some(reason)) => Err(format!("the run did not complete: {reason}")),
        }
    }

    /// What is recorded again must be what the first run recorded, but for what depends on the
    /// schedule.
    fn same_records(&self, run: &Run, first_records: &Records) -> Result<(), String> {
        let key = &self.left_open.job_plan.job.modules[self.module].key;
        let repeated_records = run.records.get(key).ok_or("there are no records")?;
        let scheduled_bits = self.left_open.scheduled_bits(
            RecordedCode::Source,
            key,
            [&bits_alone(repeated_records), &bits_alone(first_records)],
        );
        if scheduled_bits.is_some() {
            Ok(())
        } else {
            Err("other records came than before".to_owned())
        }
    }

    /// What the device leaves must be what production left, as of every module that records.
    fn same_contents(&self, run: &Run) -> Result<(), String> {
        let plan = self.left_open.job_plan;
        let judged = judge_run(plan, run).map_err(|_| "its outputs cannot be judged".to_owned());
        let verdict = judged?.verdict;
        if self.left_open.prepared_test.contraction == Contraction::Allowed
            && verdict == self.device_run.verdict
        {
            return Ok(());
        }
        let production = self.device_run.contents_of(&plan.job).ok_or("there are no outputs")?;
        let expectations = Expectations::of_verdicts(self.device_run.verdict, verdict);
        match self
            .left_open
            .compare_contents(&production, &run.buffers, ComparedResults::Modules, expectations)
            .closed
        {
            false => Ok(()),
            true => Err("other outputs came than before".to_owned()),
        }
    }
}

fn bits_alone(records: &Records) -> Records {
    Records { words: records.words.clone(), ..Records::default() }
}

fn local_sizes(records: &InvocationRecords) -> BTreeMap<u32, [u32; 3]> {
    records
        .iter()
        .map(|(dispatch, dispatch_records)| (*dispatch, dispatch_records.local_size))
        .collect()
}

/// Who recorded a bit in a dispatch.
fn ranks_that_recorded(records: &InvocationRecords, dispatch: u32, bit: u32) -> &Ranks {
    records
        .get(&dispatch)
        .and_then(|dispatch_records| dispatch_records.by_bit.get(&bit))
        .unwrap_or(Ranks::NONE)
}

/// Who recorded a bit on one of two engines alone.
fn differing_invocations(
    sequential_records: &InvocationRecords,
    device_records: &InvocationRecords,
) -> RanksByBit {
    let bits = sequential_records.iter().flat_map(|(dispatch, dispatch_records)| {
        dispatch_records.by_bit.keys().map(move |bit| (*dispatch, *bit))
    });
    let differing_ranks = |(dispatch, bit)| {
        let ranks = ranks_that_recorded(sequential_records, dispatch, bit)
            .differing(ranks_that_recorded(device_records, dispatch, bit));
        ((dispatch, bit), ranks)
    };
    bits.map(differing_ranks).filter(|(_, ranks)| !ranks.is_empty()).collect()
}
