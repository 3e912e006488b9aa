//! A worker's open device: runs jobs, repeats them, times them (`timing`), counts
//! the iterations of their loops (`loop_counting`).
//!
//! Knows: in which order the passes of a job run, and what a failure on the way means for it.
//! Promises: repetitions run one after the other, each from the job's initial contents; a job of a
//! shape that was there before takes over what was made for it (`shape`), and nothing else outlives
//! a job but cached pipelines.
//! Does not cover: time limits and crashes (`process`).

mod loop_counting;
mod timing;

use super::commands::{Commands, RecordedStep};
use super::device::{CallFailure, Device};
use super::fault::{FaultKind, Faults};
use super::identity::NoVulkan;
use super::instance::{Instance, call_failed};
use super::kept::KeptResources;
use super::pass::{Pass, PassBuilder};
use super::pipeline::{PipelineCaches, ShaderProgram};
use super::pipeline_cache::PipelineCache;
use super::protocol::{
    Cache, Ending, Fitness, Open, Opened, Phase, Stage, WireJob, WireMessage, WireRun, WireRuns,
};
use super::settings::LoopCounting;
use super::shape::{JobShape, KeptShapes};
use super::stop::JobStop;
use super::{canary, version};
use ash::vk;
use std::collections::BTreeMap;
use std::rc::Rc;
use vkcert_spirv::module::Module;

/// Where a job stopped.
struct JobHalt {
    repetition: u32,
    /// None: before the first or after the last.
    dispatch: Option<u32>,
    stop: JobStop,
}

impl JobHalt {
    fn outside_dispatches(repetition: u32) -> impl FnOnce(JobStop) -> Self {
        move |stop| Self { repetition, dispatch: None, stop }
    }

    fn ending_for(self, job: &WireJob) -> (Ending, Fitness) {
        let call_failure = match self.stop {
            JobStop::Ending(ending) => return (ending, Fitness::Fit),
            JobStop::Call(call_failure) => call_failure,
        };
        let halt_place = match self.dispatch {
            Some(dispatch_index) => {
                let kernel =
                    &job.modules[job.dispatches[dispatch_index as usize].module as usize].kernel;
                format!("dispatch {dispatch_index} of kernel `{kernel}`")
            }
            None => "preparing the test".to_owned(),
        };
        let ending = match call_failure.result {
            vk::Result::ERROR_DEVICE_LOST => {
                Ending::DeviceLost(format!("device lost in {halt_place} ({call_failure})"))
            }
            vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                Ending::Undetermined(format!(
                    "the device is out of memory in {halt_place} ({call_failure})"
                ))
            }
            _ => Ending::Error(format!("the driver refused {halt_place} ({call_failure})")),
        };
        (ending, Fitness::Spent)
    }
}

pub(crate) struct DeviceSession {
    shapes: KeptShapes,
    commands: Commands,
    pipelines: PipelineCaches,
    kept_resources: KeptResources,
    fault: Faults,
    /// Iterations after which the device ends loops by itself.
    loop_limit: Option<u32>,
    pub device: Rc<Device>,
}

/// Hears of each phase as it begins.
type PhaseListener<'a> = &'a mut dyn FnMut(Phase);

impl DeviceSession {
    pub(crate) fn open(
        open_request: &Open,
        worker_faults: Faults,
    ) -> Result<(Self, Opened), NoVulkan> {
        let instance = Rc::new(Instance::open(
            open_request.validation,
            version::version_limit(open_request.api_limit),
        )?);
        let device =
            Rc::new(Device::open(instance, &open_request.device, open_request.robustness)?);
        let device_commands =
            Commands::new(&device).map_err(|failure| call_failed(failure.call, failure.result))?;
        let (pipeline_cache, cache_note) = PipelineCache::open_cache(&device);
        let (pipelines, kept_resources, shapes) = (
            PipelineCaches::new(&device, pipeline_cache),
            KeptResources::new(&device),
            KeptShapes::default(),
        );
        let mut new_session = Self {
            shapes,
            commands: device_commands,
            pipelines,
            kept_resources,
            fault: worker_faults,
            loop_limit: None,
            device,
        };
        let start_messages = new_session.device.instance.messages.take_messages();
        let mut canary_run =
            new_session.run_job(&canary::canary_job(), 1, &mut |_| {}).into_first();
        if new_session.fault.strikes(FaultKind::Canary, canary::NAME) {
            canary_run.buffers.clear();
        }
        canary::check_canary(&canary_run)?;
        let probe_run = new_session.run_job(&canary::loop_probe_job(), 1, &mut |_| {}).into_first();
        new_session.loop_limit = canary::check_loop_probe(&probe_run)?;
        let loop_limit = new_session.loop_limit;
        let (identity, layer_name) =
            (new_session.device.identity.clone(), new_session.device.instance.layer.clone());
        let (robustness, notes) =
            (new_session.device.abilities.robustness.clone(), cache_note.into_iter().collect());
        Ok((
            new_session,
            Opened {
                identity,
                layer: layer_name,
                loop_limit,
                robustness,
                messages: start_messages,
                notes,
            },
        ))
    }

    /// Keeps the pipelines for later workers, if enough of them are new or there is time.
    pub(crate) fn save_pipelines(&mut self, is_idle: impl FnOnce() -> bool) {
        self.pipelines.cache.save_cache(is_idle);
    }

    /// Runs a job so many times, or until a repetition does not complete.
    pub(crate) fn run_job(
        &mut self,
        job: &WireJob,
        repetition_count: u32,
        announce: PhaseListener,
    ) -> WireRuns {
        announce(Phase::START);
        let mut wire_runs = WireRuns::default();
        if let Err(halt) = self.run_repetitions(job, repetition_count, &mut wire_runs, announce) {
            let repetition = halt.repetition;
            let (ending, fitness) = halt.ending_for(job);
            match wire_runs.of.len() == repetition as usize {
                true => wire_runs.add_run(WireRun::ended(ending)),
                false => wire_runs = WireRuns::ended_in(repetition, ending, fitness),
            }
            wire_runs.fitness = fitness;
        }
        // Said while the job ran, by whichever of its passes.
        let job_messages = self.device.instance.messages.take_messages();
        if let Some(first_run) = wire_runs.different.first_mut() {
            first_run.messages.extend(job_messages);
        }
        wire_runs
            .different
            .iter_mut()
            .for_each(|run| run.messages = unite_messages(std::mem::take(&mut run.messages)));
        wire_runs
    }

    fn run_repetitions(
        &mut self,
        job: &WireJob,
        repetition_count: u32,
        runs: &mut WireRuns,
        announce: PhaseListener,
    ) -> Result<(), JobHalt> {
        self.receive_modules(job).map_err(JobHalt::outside_dispatches(0))?;
        let repetitions_at_once = JobShape::repetitions_at_once(job, repetition_count);
        for first_repetition in (0..repetition_count).step_by(repetitions_at_once as usize) {
            if first_repetition > 0 {
                announce(Phase { repetition: first_repetition, stage: Stage::Preparing });
            }
            let mut shape = match self.shapes.take_shape(job, repetitions_at_once) {
                Some(shape) => shape,
                None => self
                    .new_shape(job, repetitions_at_once)
                    .map_err(JobHalt::outside_dispatches(first_repetition))?,
            };
            let shape_outcome =
                self.run_shape(&mut shape, job, first_repetition, runs, announce)?;
            self.shapes
                .keep_shape(shape, &mut self.kept_resources)
                .map_err(JobHalt::outside_dispatches(first_repetition))?;
            if shape_outcome == ShapeOutcome::Ended {
                break;
            }
        }
        Ok(())
    }

    /// Makes everything that repetitions of a job need.
    fn new_shape(&mut self, job: &WireJob, repetition_count: u32) -> Result<JobShape, JobStop> {
        let loop_count = match self.loop_limit {
            Some(loop_limit) => self.loop_counting_job(job, loop_limit)?,
            None => None,
        };
        let mut pass_builder = self.pass_builder();
        let mut record_passes = |passed_job| {
            (0..repetition_count)
                .map(|_| pass_builder.recorded_pass(passed_job))
                .collect::<Result<Vec<_>, _>>()
        };
        if let (Some(counting_job), LoopCounting::Within) = (&loop_count, job.loop_counting) {
            return Ok(JobShape::counting_within(job, record_passes(counting_job)?));
        }
        let counting_passes = loop_count.as_ref().map_or(Ok(Vec::new()), &mut record_passes)?;
        // The layer's words on the loop count are not about the kernel: they stay with its passes.
        Ok(JobShape::new(job, counting_passes, record_passes(job)?))
    }

    /// Runs the repetitions of a shape, the first of which is `first` among the job's.
    fn run_shape(
        &mut self,
        shape: &mut JobShape,
        job: &WireJob,
        first_repetition: u32,
        runs: &mut WireRuns,
        announce: PhaseListener,
    ) -> Result<ShapeOutcome, JobHalt> {
        for pass in shape.counting_passes.iter_mut().chain(&mut shape.own_passes) {
            pass.fill_buffers(&job.name, &job.buffers);
        }
        // A kernel that is cut off takes long: one loop count tells, before anything else runs.
        if let Some(loop_count) = shape.counting_passes.first_mut() {
            self.run_legs(
                &[PassLeg {
                    pass: loop_count,
                    repetition: first_repetition,
                    form: PassForm::LoopCounting,
                }],
                announce,
            )?;
            if let Some(ending) = self.cut_off_ending(loop_count, job) {
                runs.add_run(WireRun::ended(ending));
                return Ok(ShapeOutcome::Ended);
            }
        }
        let mut pass_legs = Vec::new();
        for (pass_index, pass) in shape.own_passes.iter().enumerate() {
            let repetition = first_repetition + pass_index as u32;
            let loop_count = shape.counting_passes.get(pass_index).filter(|_| pass_index > 0);
            pass_legs.extend(loop_count.map(|pass| PassLeg {
                pass,
                repetition,
                form: PassForm::LoopCounting,
            }));
            pass_legs.push(PassLeg { pass, repetition, form: PassForm::Own });
        }
        self.run_legs(&pass_legs, announce)?;
        let last_repetition = first_repetition + shape.own_passes.len() as u32 - 1;
        announce(Phase { repetition: last_repetition, stage: Stage::Collecting });
        for (pass_index, pass) in shape.own_passes.iter_mut().enumerate() {
            let loop_count = match shape.loop_counting {
                LoopCounting::Within => Some(&mut *pass),
                LoopCounting::Ahead => shape.counting_passes.get_mut(pass_index),
            };
            if let Some(ending) =
                loop_count.and_then(|loop_count| self.cut_off_ending(loop_count, job))
            {
                runs.add_run(WireRun::ended(ending));
                return Ok(ShapeOutcome::Ended);
            }
            if self.fault.strikes(FaultKind::Guard, &job.name) && !job.buffers.is_empty() {
                pass.storage.disturb_guard(0);
            }
            if self.fault.strikes(FaultKind::Stray, &job.name) {
                pass.disturb_last();
            }
            let mut run = pass.collect_run(job);
            self.fault.strike_after(&job.name, &mut run);
            let run_outcome = if run.ending == Ending::Completed {
                ShapeOutcome::AllCompleted
            } else {
                ShapeOutcome::Ended
            };
            runs.add_run(run);
            if run_outcome == ShapeOutcome::Ended {
                return Ok(run_outcome);
            }
        }
        Ok(ShapeOutcome::AllCompleted)
    }

    /// Runs passes one after the other. Where each is a single dispatch, the device gets all of
    /// them at once; else every dispatch is waited for, so that it is known in which one a device
    /// stops.
    fn run_legs(&self, legs: &[PassLeg], announce: PhaseListener) -> Result<(), JobHalt> {
        if legs.iter().all(|leg| leg.pass.steps.len() == 1) {
            let recorded_steps: Vec<&RecordedStep> =
                legs.iter().flat_map(|leg| &leg.pass.steps).collect();
            legs.first().into_iter().for_each(|leg| announce(leg.phase_at(0)));
            let submit_outcome =
                self.commands.submit_and_finish(&recorded_steps, &mut |dispatch_index| {
                    announce(legs[dispatch_index].phase_at(0))
                });
            return submit_outcome
                .map_err(|(dispatch_index, failure)| legs[dispatch_index].halt_at(0, failure));
        }
        for leg in legs {
            for (step, dispatch_index) in leg.pass.steps.iter().zip(0..) {
                announce(leg.phase_at(dispatch_index));
                let submit_outcome = self.commands.submit_and_finish(&[step], &mut |_| {});
                submit_outcome.map_err(|(_, failure)| leg.halt_at(dispatch_index, failure))?;
            }
        }
        Ok(())
    }

    fn receive_modules(&mut self, job: &WireJob) -> Result<(), JobStop> {
        if job.cache == Cache::Forget {
            self.shapes.retire_all(&mut self.kept_resources)?;
            self.pipelines.clear_pipelines();
        }
        for wire_module in &job.modules {
            if self.pipelines.programs.contains_key(&wire_module.digest) {
                continue;
            }
            let module_bytes = wire_module.words.as_ref().map_or(&[][..], |words| &words.0);
            let module = Module::parse_bytes(module_bytes).map_err(|error| {
                Ending::Error(format!("the module of kernel `{}`: {error}", wire_module.kernel))
            })?;
            self.pipelines.programs.insert(wire_module.digest, ShaderProgram::new(module));
        }
        Ok(())
    }

    fn pass_builder(&mut self) -> PassBuilder<'_> {
        let Self { device, pipelines, kept_resources, commands, .. } = self;
        PassBuilder { device, pipelines, kept_resources, commands }
    }
}

/// How a job stands after some of its repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeOutcome {
    /// All of them completed.
    AllCompleted,
    /// One did not.
    Ended,
}

/// In which form a pass runs.
#[derive(Debug, Clone, Copy)]
enum PassForm {
    LoopCounting,
    Own,
}

/// A pass that runs for a repetition.
struct PassLeg<'a> {
    pass: &'a Pass,
    repetition: u32,
    form: PassForm,
}

impl PassLeg<'_> {
    fn phase_at(&self, dispatch_index: u32) -> Phase {
        let stage = match self.form {
            PassForm::LoopCounting => Stage::Counting(dispatch_index),
            PassForm::Own => Stage::Dispatched(dispatch_index),
        };
        Phase { repetition: self.repetition, stage }
    }

    fn halt_at(&self, dispatch_index: u32, failure: CallFailure) -> JobHalt {
        JobHalt {
            repetition: self.repetition,
            dispatch: Some(dispatch_index),
            stop: failure.into(),
        }
    }
}

/// Each message once, with how often it came.
fn unite_messages(messages: Vec<WireMessage>) -> Vec<WireMessage> {
    let mut counts_by_message: BTreeMap<WireMessage, u64> = BTreeMap::new();
    for message in messages {
        let count = message.count;
        *counts_by_message.entry(WireMessage { count: 0, ..message }).or_insert(0) += count;
    }
    counts_by_message.into_iter().map(|(message, count)| WireMessage { count, ..message }).collect()
}
