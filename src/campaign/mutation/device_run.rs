//! The run of mutants on a device, beside the sequential engine.
//!
//! Promises: a test judges on the device only where it passes there by itself. Mutants of a text are selected in the module
//! with all of them, where that leaves what the kernel leaves as long as none is selected; where the device then differs from
//! the sequential engine in what expectations notice, the mutant is run again in a module of its own text, and that decides. A
//! mutant that hangs or ends the worker costs one mutant. What the sequential engine saw access memory out of bounds is not
//! run where the kernel has arrays in the memory of workgroups or invocations or follows device addresses, which no robustness
//! guards: where drivers run kernels in their own process, it damages what runs after it.
//! Does not cover: mutants without the barrier between two dispatches, which are not run; the score, which is of
//! the sequential engine.

use super::dispatch_mutants::{DispatchFault, DispatchMutant};
use super::mutant_run::{MutantBench, TestBaseline, difference_of_contents};
use super::plan::{KernelPlan, PlannedMutant};
use crate::CampaignError;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::{ExecError, Executor, Job, Run, Unobserved};
use vkcert_glsl::mutation::{MutantForm, SourceMutant, compile_alone};
use vkcert_model::evidence::{
    DeviceModule, EngineAgreement, MutantEvidence, MutantOnDevice, MutantVerdict, MutationEvidence,
    Notice,
};
use vkcert_model::finding::FindingKind;
use vkcert_spirv::module::Module;

/// How many times the seconds of the kernel itself a mutant may take on a device.
const SECONDS_FACTOR: f64 = 10.0;

/// Seconds that every mutant may take on a device.
const SECONDS_ALLOWANCE: f64 = 1.0;

/// What ends a loop without end on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LoopEnd {
    /// The driver, after so many iterations.
    Driver,
    /// Nothing but the limit of time.
    Clock,
}

/// What a device made of the mutants of a kernel.
pub(super) struct KernelOnDevice {
    /// By number.
    pub(super) mutants: BTreeMap<u32, MutantOnDevice>,
    pub(super) notes: Vec<String>,
}

/// A test as the kernel itself passes it on the device.
struct DeviceBaseline<'b> {
    baseline: &'b TestBaseline<'b>,
    run: Run,
    seconds: f64,
}

impl DeviceBaseline<'_> {
    /// With less time than the test has: for what the sequential engine saw take too many steps.
    fn shortened(&self, mut job: Job) -> Job {
        let seconds = self.seconds.mul_add(SECONDS_FACTOR, SECONDS_ALLOWANCE);
        job.limits.seconds = job.limits.seconds.min(seconds);
        job
    }
}

/// A mutant that a device is to judge.
struct DeviceTask<'m> {
    mutant: PlannedMutant<'m>,
    evidence: &'m MutantEvidence,
    made: MutantOnDevice,
}

impl DeviceTask<'_> {
    fn agreement(&self) -> EngineAgreement {
        EngineAgreement::of_runs(&self.evidence.runs, &self.made)
    }
}

/// Runs the mutants of a kernel on a device, which the sequential engine has judged.
pub(super) fn judge_on_device(
    plan: &KernelPlan<'_>,
    bench: &MutantBench<'_>,
    executor: &mut dyn Executor,
    judged: &MutationEvidence,
    loops: LoopEnd,
) -> Result<KernelOnDevice, CampaignError> {
    let mut notes = Vec::new();
    let mut baselines = Vec::new();
    for baseline in &bench.tests {
        match device_baseline(bench, baseline, executor)? {
            Ok(found) => baselines.push(found),
            Err(reason) => notes.push(format!(
                "test {} judges no mutant on the device: {reason}",
                baseline.prepared.test.id
            )),
        }
    }
    let guard = MemoryGuard::of_module(&plan.kernel.module);
    let mut device =
        MutantsOnDevice { plan, bench, executor, baselines, guard, loops, selection: None };
    if let Some(difference) = device.take_selection()? {
        notes.push(format!(
            "on the device each mutant has a module of its own: the one with all of them does not do what the kernel does \
             ({difference})"
        ));
    }
    let is_run = |mutant: &&MutantEvidence| mutant.is_for_device();
    let mut tasks: Vec<DeviceTask> =
        judged.mutants.iter().filter(is_run).map(|mutant| device.task(mutant)).collect();
    for task in &mut tasks {
        device.judge(task);
        if task.made.module == DeviceModule::AllMutants && task.agreement().is_difference() {
            task.made.module = DeviceModule::Own;
            device.judge(task);
        }
    }
    let mutants = tasks.into_iter().map(|task| (task.evidence.number, task.made));
    Ok(KernelOnDevice { mutants: mutants.collect(), notes })
}

/// A test on the device, or why it judges nothing there.
fn device_baseline<'b>(
    bench: &MutantBench<'_>,
    baseline: &'b TestBaseline<'b>,
    executor: &mut dyn Executor,
) -> Result<Result<DeviceBaseline<'b>, String>, CampaignError> {
    let job = baseline.limited_job();
    let run = executor.run(&job, &mut Unobserved).map_err(tool_failure)?;
    let begun = std::time::Instant::now();
    let again = executor.run(&job, &mut Unobserved).map_err(tool_failure)?;
    let seconds = begun.elapsed().as_secs_f64();
    if again.buffers != run.buffers {
        return Ok(Err("two runs of it differ".to_owned()));
    }
    Ok(match baseline.verdict_of(&bench.engine, Ok(run.clone()), &run) {
        MutantVerdict::NotNoticed | MutantVerdict::OtherContents(_) | MutantVerdict::NotReached => {
            Ok(DeviceBaseline { baseline, run, seconds })
        }
        MutantVerdict::Noticed(_) => Err("it does not pass there by itself".to_owned()),
        MutantVerdict::Undecided(reason) => Err(reason),
    })
}

fn tool_failure(error: ExecError) -> CampaignError {
    CampaignError::tool(error.to_string())
}

/// The mutants of a kernel on a device.
struct MutantsOnDevice<'b, 'd> {
    plan: &'b KernelPlan<'b>,
    bench: &'b MutantBench<'b>,
    executor: &'d mut dyn Executor,
    baselines: Vec<DeviceBaseline<'b>>,
    guard: MemoryGuard,
    loops: LoopEnd,
    /// The module with all mutants; none where it is not used.
    selection: Option<Arc<Vec<u32>>>,
}

impl<'b> MutantsOnDevice<'b, '_> {
    /// Takes the module with all mutants, where there is one that does what the kernel does; else the reason.
    fn take_selection(&mut self) -> Result<Option<String>, CampaignError> {
        let Some(selection) = &self.plan.mutated.selection else { return Ok(None) };
        let words = Arc::new(selection.words.clone());
        let difference = self.difference_of_selection(&words)?;
        if difference.is_none() {
            self.selection = Some(words);
        }
        Ok(difference)
    }

    /// What the module with all mutants does otherwise than the kernel where none is selected.
    fn difference_of_selection(
        &mut self,
        words: &Arc<Vec<u32>>,
    ) -> Result<Option<String>, CampaignError> {
        for own in &self.baselines {
            let Some(job) = own.baseline.selection_job(&self.plan.mutated, words, 0) else {
                continue;
            };
            let run = self.executor.run(&job, &mut Unobserved).map_err(tool_failure)?;
            if let Some(difference) = difference_of_contents(&own.run, &run) {
                let name = own.baseline.prepared.test.id;
                return Ok(Some(format!("test {name}: {difference}")));
            }
        }
        Ok(None)
    }

    fn task(&self, evidence: &'b MutantEvidence) -> DeviceTask<'b> {
        let mutant = self.plan.mutant(evidence.number as usize - 1);
        let module = match mutant {
            PlannedMutant::OfText(mutant)
                if self.selection.is_some() && mutant.form == MutantForm::Selected =>
            {
                DeviceModule::AllMutants
            }
            PlannedMutant::OfText(_) | PlannedMutant::OfDispatches(_) => DeviceModule::Own,
        };
        let made = MutantOnDevice { tests: BTreeMap::new(), module };
        DeviceTask { mutant, evidence, made }
    }

    /// Places of the tests that may run with a mutant; first the one whose expectation the sequential engine saw fail.
    fn places_of_tests(&self, evidence: &MutantEvidence) -> Vec<usize> {
        let mut places = Vec::new();
        for (place, own) in self.baselines.iter().enumerate() {
            let test = &own.baseline.prepared.test.id;
            let Some(verdict) = evidence.runs.verdict_of(test) else { continue };
            let notices = verdict.notices();
            if notices.iter().any(|notice| self.guard.lets_damage(notice)) {
                continue;
            }
            match notices.contains(&Notice::Expectation) {
                true => places.insert(0, place),
                false => places.push(place),
            }
        }
        places
    }

    /// Whether nothing but the clock will end a mutant in a test, as far as the sequential engine tells. All others
    /// have the time of the test: a driver may compile a module, for seconds, when it is dispatched.
    fn ends_by_the_clock(&self, evidence: &MutantEvidence, own: &DeviceBaseline<'_>) -> bool {
        let verdict = evidence.runs.verdict_of(&own.baseline.prepared.test.id);
        self.loops == LoopEnd::Clock
            && verdict.is_some_and(|verdict| verdict.notices().contains(&Notice::Time))
    }

    /// Runs the tests with a mutant, up to the first that notices it.
    fn judge(&mut self, task: &mut DeviceTask<'_>) {
        task.made.tests.clear();
        for place in self.places_of_tests(task.evidence) {
            let own = &self.baselines[place];
            let verdict = match self.job(task, own) {
                // Another test has the fault.
                Ok(None) => continue,
                Ok(Some(job)) => {
                    let job = match self.ends_by_the_clock(task.evidence, own) {
                        true => own.shortened(job),
                        false => job,
                    };
                    let run = self.executor.run(&job, &mut Unobserved);
                    own.baseline.verdict_of(&self.bench.engine, run, &own.run)
                }
                Err(reason) => MutantVerdict::Undecided(reason),
            };
            let is_noticed = !verdict.notices().is_empty();
            task.made.tests.insert(own.baseline.prepared.test.id, verdict);
            if is_noticed {
                break;
            }
        }
    }

    /// The job of a test with a mutant; none where the test is what it is.
    fn job(&self, task: &DeviceTask<'_>, own: &DeviceBaseline<'_>) -> Result<Option<Job>, String> {
        match (task.mutant, task.made.module, &self.selection) {
            (PlannedMutant::OfDispatches(mutant), _, _) => dispatch_job(mutant, own.baseline),
            (PlannedMutant::OfText(_), DeviceModule::AllMutants, Some(words)) => {
                Ok(own.baseline.selection_job(&self.plan.mutated, words, task.evidence.number))
            }
            (PlannedMutant::OfText(mutant), _, _) => {
                Ok(Some(own.baseline.job_with(&self.own_module(mutant)?)))
            }
        }
    }

    fn own_module(&self, mutant: &SourceMutant) -> Result<Arc<Vec<u32>>, String> {
        let source = self.plan.source.as_ref().ok_or("the kernel has no text")?;
        let compiled = compile_alone(source, &self.plan.mutated, mutant);
        compiled.map(Arc::new).map_err(|not_compiled| not_compiled.to_string())
    }
}

/// Whether all that a kernel indexes is in memory that robustness guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MemoryGuard {
    /// They are.
    Whole,
    /// It has arrays, matrices or the like in the memory of workgroups or invocations, or follows device addresses.
    Partial,
}

impl MemoryGuard {
    fn of_module(module: &Module) -> Self {
        let has_arrays = module.instructions.iter().any(|instruction| {
            let is_own_memory = matches!(
                instruction.operands.first(),
                Some(Operand::StorageClass(
                    StorageClass::Workgroup | StorageClass::Private | StorageClass::Function
                ))
            );
            let is_addressed = matches!(
                instruction.operands.first(),
                Some(Operand::StorageClass(StorageClass::PhysicalStorageBuffer))
            );
            let pointee = || instruction.id(1).and_then(|id| module.definition(id));
            instruction.op == Op::TypePointer
                && pointee().is_some_and(|row| {
                    let is_composite = matches!(
                        row.op,
                        Op::TypeArray | Op::TypeStruct | Op::TypeMatrix | Op::TypeVector
                    );
                    is_addressed || is_own_memory && is_composite
                })
        });
        match has_arrays {
            true => MemoryGuard::Partial,
            false => MemoryGuard::Whole,
        }
    }

    /// Whether a mutant that was noticed so can damage the process that a driver runs it in. An undefined value can
    /// be an index.
    fn lets_damage(self, notice: &Notice) -> bool {
        let is_wild = matches!(
            notice,
            Notice::Finding(FindingKind::OutOfBounds | FindingKind::UndefinedValue)
        );
        self == MemoryGuard::Partial && is_wild
    }
}

/// The job with the counts of workgroups that a mutant has.
fn dispatch_job(
    mutant: &DispatchMutant,
    baseline: &TestBaseline<'_>,
) -> Result<Option<Job>, String> {
    let Some(faults) = mutant.faults.get(&baseline.prepared.test.id) else { return Ok(None) };
    let mut job = baseline.limited_job();
    for fault in faults {
        match fault {
            DispatchFault::Groups { dispatch, groups } => {
                if groups.contains(&0) {
                    return Err(
                        "a device is not asked for a dispatch without workgroups".to_owned()
                    );
                }
                job.dispatches[*dispatch].groups = *groups;
            }
            DispatchFault::NoBarrier { .. } => {
                return Err("dispatches are not run at once on a device".to_owned());
            }
        }
    }
    Ok(Some(job))
}
