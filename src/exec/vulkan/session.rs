//! A worker's open device: runs jobs, repeats them, times them.
//!
//! Knows: in which order the passes of a job run, and what a failure on the way means for it.
//! Promises: repetitions run one after the other, each from the job's initial contents; a job of a
//! shape that was there before takes over what was made for it (`shape`), and nothing else outlives
//! a job but cached pipelines.
//! Does not cover: time limits and crashes (`process`).

use super::commands::{Commands, Step};
use super::device::{CallFailure, Device};
use super::fault::{FaultKind, Faults};
use super::identity::NoVulkan;
use super::image::Copying;
use super::instance::{Instance, failed};
use super::kept::Kept;
use super::memory::{Placement, Storage};
use super::pass::{Bench, Pass};
use super::pipeline::{Pipelines, Program};
use super::pipeline_cache::PipelineCache;
use super::protocol::{
    Bytes, Cache, Ending, Fitness, Open, Opened, Phase, Stage, WireJob, WireMessage, WireRun,
    WireRuns, WireTime, storage_binding,
};
use super::shape::{Shape, Shapes};
use super::stop::Stop;
use super::{canary, version};
use ash::vk;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};
use vkcert_spirv::module::Module;

/// Where a job stopped.
struct Halt {
    repetition: u32,
    /// None: before the first or after the last.
    dispatch: Option<u32>,
    stop: Stop,
}

impl Halt {
    fn outside(repetition: u32) -> impl FnOnce(Stop) -> Self {
        move |stop| Self { repetition, dispatch: None, stop }
    }

    fn ending(self, job: &WireJob) -> (Ending, Fitness) {
        let failure = match self.stop {
            Stop::Ending(ending) => return (ending, Fitness::Fit),
            Stop::Call(failure) => failure,
        };
        let place = match self.dispatch {
            Some(index) => {
                let kernel = &job.modules[job.dispatches[index as usize].module as usize].kernel;
                format!("dispatch {index} of kernel `{kernel}`")
            }
            None => "preparing the test".to_owned(),
        };
        let ending = match failure.result {
            vk::Result::ERROR_DEVICE_LOST => {
                Ending::DeviceLost(format!("device lost in {place} ({failure})"))
            }
            vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                Ending::Undetermined(format!("the device is out of memory in {place} ({failure})"))
            }
            _ => Ending::Error(format!("the driver refused {place} ({failure})")),
        };
        (ending, Fitness::Spent)
    }
}

/// Before times count: at least so long, and so many runs of each job.
const WARMING: Duration = Duration::from_millis(300);
const WARMING_RUNS: usize = 3;

pub(crate) struct Session {
    shapes: Shapes,
    commands: Commands,
    pipelines: Pipelines,
    kept: Kept,
    fault: Faults,
    /// Iterations after which the device ends loops by itself.
    loop_limit: Option<u32>,
    pub device: Rc<Device>,
}

/// Hears of each phase as it begins.
type Announce<'a> = &'a mut dyn FnMut(Phase);

impl Session {
    pub(crate) fn open(open: &Open, fault: Faults) -> Result<(Self, Opened), NoVulkan> {
        let instance = Rc::new(Instance::open(open.validation, version::limit(open.api_limit))?);
        let device = Rc::new(Device::open(instance, &open.device, open.robustness)?);
        let commands =
            Commands::new(&device).map_err(|failure| failed(failure.call, failure.result))?;
        let (cache, note) = PipelineCache::open(&device);
        let (pipelines, kept, shapes) =
            (Pipelines::new(&device, cache), Kept::new(&device), Shapes::default());
        let mut session =
            Self { shapes, commands, pipelines, kept, fault, loop_limit: None, device };
        let messages = session.device.instance.messages.take();
        let mut run = session.run(&canary::job(), 1, &mut |_| {}).into_first();
        if session.fault.strikes(FaultKind::Canary, canary::NAME) {
            run.buffers.clear();
        }
        canary::judge(&run)?;
        let probe = session.run(&canary::loop_probe(), 1, &mut |_| {}).into_first();
        session.loop_limit = canary::judge_loop_probe(&probe)?;
        let loop_limit = session.loop_limit;
        let (identity, layer) =
            (session.device.identity.clone(), session.device.instance.layer.clone());
        let (robustness, notes) =
            (session.device.abilities.robustness.clone(), note.into_iter().collect());
        Ok((session, Opened { identity, layer, loop_limit, robustness, messages, notes }))
    }

    /// Keeps the pipelines for later workers, if enough of them are new or there is time.
    pub(crate) fn save_pipelines(&mut self, idle: impl FnOnce() -> bool) {
        self.pipelines.cache.save(idle);
    }

    /// Runs a job so many times, or until a repetition does not complete.
    pub(crate) fn run(&mut self, job: &WireJob, repetitions: u32, announce: Announce) -> WireRuns {
        announce(Phase::START);
        let mut runs = WireRuns::default();
        if let Err(halt) = self.repeat(job, repetitions, &mut runs, announce) {
            let repetition = halt.repetition;
            let (ending, fitness) = halt.ending(job);
            match runs.of.len() == repetition as usize {
                true => runs.add(WireRun::ended(ending)),
                false => runs = WireRuns::ended(repetition, ending, fitness),
            }
            runs.fitness = fitness;
        }
        // Said while the job ran, by whichever of its passes.
        let said = self.device.instance.messages.take();
        if let Some(first) = runs.different.first_mut() {
            first.messages.extend(said);
        }
        runs.different
            .iter_mut()
            .for_each(|run| run.messages = united(std::mem::take(&mut run.messages)));
        runs
    }

    fn repeat(
        &mut self,
        job: &WireJob,
        repetitions: u32,
        runs: &mut WireRuns,
        announce: Announce,
    ) -> Result<(), Halt> {
        self.receive_modules(job).map_err(Halt::outside(0))?;
        let at_once = Shape::repetitions(job, repetitions);
        for first in (0..repetitions).step_by(at_once as usize) {
            if first > 0 {
                announce(Phase { repetition: first, stage: Stage::Preparing });
            }
            let mut shape = match self.shapes.take(job, at_once) {
                Some(shape) => shape,
                None => self.shape(job, at_once).map_err(Halt::outside(first))?,
            };
            let outcome = self.carry_out(&mut shape, job, first, runs, announce)?;
            self.shapes.keep(shape, &mut self.kept).map_err(Halt::outside(first))?;
            if outcome == Outcome::Over {
                break;
            }
        }
        Ok(())
    }

    /// Makes everything that repetitions of a job need.
    fn shape(&mut self, job: &WireJob, repetitions: u32) -> Result<Shape, Stop> {
        let loop_count = match self.loop_limit {
            Some(limit) => self.loop_counting_job(job, limit)?,
            None => None,
        };
        let mut bench = self.bench();
        let mut passes =
            |job| (0..repetitions).map(|_| bench.pass(job)).collect::<Result<Vec<_>, _>>();
        let counting = loop_count.as_ref().map_or(Ok(Vec::new()), &mut passes)?;
        // The layer's words on the loop count are not about the kernel: they stay with its passes.
        Ok(Shape::new(job, counting, passes(job)?))
    }

    /// Runs the repetitions of a shape, the first of which is `first` among the job's.
    fn carry_out(
        &mut self,
        shape: &mut Shape,
        job: &WireJob,
        first: u32,
        runs: &mut WireRuns,
        announce: Announce,
    ) -> Result<Outcome, Halt> {
        for pass in shape.counting.iter_mut().chain(&mut shape.own) {
            pass.fill(&job.name, &job.buffers);
        }
        // A kernel that is cut off takes long: one loop count tells, before anything else runs.
        if let Some(loop_count) = shape.counting.first_mut() {
            self.follow(
                &[Leg { pass: loop_count, repetition: first, form: Form::LoopCounting }],
                announce,
            )?;
            if let Some(ending) = self.cut_off(loop_count, job) {
                runs.add(WireRun::ended(ending));
                return Ok(Outcome::Over);
            }
        }
        let mut legs = Vec::new();
        for (index, pass) in shape.own.iter().enumerate() {
            let repetition = first + index as u32;
            let loop_count = shape.counting.get(index).filter(|_| index > 0);
            legs.extend(loop_count.map(|pass| Leg { pass, repetition, form: Form::LoopCounting }));
            legs.push(Leg { pass, repetition, form: Form::Own });
        }
        self.follow(&legs, announce)?;
        let last = first + shape.own.len() as u32 - 1;
        announce(Phase { repetition: last, stage: Stage::Collecting });
        for (index, pass) in shape.own.iter_mut().enumerate() {
            if let Some(ending) =
                shape.counting.get_mut(index).and_then(|loop_count| self.cut_off(loop_count, job))
            {
                runs.add(WireRun::ended(ending));
                return Ok(Outcome::Over);
            }
            if self.fault.strikes(FaultKind::Guard, &job.name) && !job.buffers.is_empty() {
                pass.storage.disturb_guard(0);
            }
            if self.fault.strikes(FaultKind::Stray, &job.name) {
                pass.disturb_last();
            }
            let mut run = pass.collect(job);
            self.fault.strike_after(&job.name, &mut run);
            let outcome =
                if run.ending == Ending::Completed { Outcome::Goes } else { Outcome::Over };
            runs.add(run);
            if outcome == Outcome::Over {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Goes)
    }

    /// Runs passes one after the other. Where each is a single dispatch, the device gets all of
    /// them at once; else every dispatch is waited for, so that it is known in which one a device
    /// stops.
    fn follow(&self, legs: &[Leg], announce: Announce) -> Result<(), Halt> {
        if legs.iter().all(|leg| leg.pass.steps.len() == 1) {
            let steps: Vec<&Step> = legs.iter().flat_map(|leg| &leg.pass.steps).collect();
            legs.first().into_iter().for_each(|leg| announce(leg.phase(0)));
            let outcome = self.commands.follow(&steps, &mut |index| announce(legs[index].phase(0)));
            return outcome.map_err(|(index, failure)| legs[index].halt(0, failure));
        }
        for leg in legs {
            for (step, index) in leg.pass.steps.iter().zip(0..) {
                announce(leg.phase(index));
                let outcome = self.commands.follow(&[step], &mut |_| {});
                outcome.map_err(|(_, failure)| leg.halt(index, failure))?;
            }
        }
        Ok(())
    }

    /// What a loop count tells that is not zero in the end.
    fn cut_off(&self, loop_count: &mut Pass, job: &WireJob) -> Option<Ending> {
        let own = job.buffers.len();
        let cut =
            (0..job.dispatches.len()).find(|index| loop_count.contents(own + index) != [0; 4])?;
        let kernel = &job.modules[job.dispatches[cut].module as usize].kernel;
        let limit = self.loop_limit.unwrap_or_default();
        Some(Ending::CutOff(format!(
            "dispatch {cut} of kernel `{kernel}` did not end by itself: the driver ends a kernel's loops after {limit} \
             iterations"
        )))
    }

    /// The job with its modules in loop-counting form and a counter for each dispatch; none if no
    /// module has loops.
    fn loop_counting_job(&mut self, job: &WireJob, limit: u32) -> Result<Option<WireJob>, Stop> {
        let programs = &mut self.pipelines.programs;
        let mut looping = |digest| programs.get_mut(digest).is_some_and(Program::has_loops);
        if !job.modules.iter().any(|module| looping(&module.digest)) {
            return Ok(None);
        }
        let mut counting = job.clone();
        counting.cache = Cache::Keep;
        let own = job.modules.iter().filter_map(|module| programs.get(&module.digest));
        let binding = free_binding(job, own.map(|program| &program.module));
        for module in &mut counting.modules {
            let Some(program) = programs.get_mut(&module.digest) else { continue };
            let loop_count = program.loop_count(binding).map_err(|why| {
                Ending::Undetermined(format!(
                    "the driver ends a kernel's loops after {limit} iterations, and whether it did so in kernel `{}` \
                     cannot be seen: {why}",
                    module.kernel
                ))
            })?;
            module.digest = loop_count.digest;
            module.words =
                (!programs.contains_key(&loop_count.digest)).then(|| loop_count.words.clone());
        }
        for (index, dispatch) in counting.dispatches.iter_mut().enumerate() {
            let buffer = (job.buffers.len() + index) as u32;
            counting.buffers.push(Bytes::from(vec![0; 4]));
            dispatch.bindings.push(storage_binding(0, binding, buffer, 4));
        }
        self.receive_modules(&counting)?;
        Ok(Some(counting))
    }

    /// Runs jobs in turn (A, B, A, B ...) and times each run; buffers are written anew before every
    /// run.
    pub(crate) fn measure(
        &mut self,
        jobs: &[WireJob],
        repetitions: u32,
        announce: Announce,
    ) -> (Ending, Fitness, Vec<Vec<WireTime>>) {
        let mut times = vec![Vec::with_capacity(repetitions as usize); jobs.len()];
        let Some(first) = jobs.first() else { return (Ending::Completed, Fitness::Fit, times) };
        let mut station = (first, None);
        announce(Phase::START);
        match self.time_in_turn(jobs, repetitions, &mut station, &mut times, announce) {
            Ok(()) => (Ending::Completed, Fitness::Fit, times),
            Err(stop) => {
                let (job, dispatch) = station;
                let (ending, fitness) = Halt { repetition: 0, dispatch, stop }.ending(job);
                (ending, fitness, Vec::new())
            }
        }
    }

    fn time_in_turn<'a>(
        &mut self,
        jobs: &'a [WireJob],
        repetitions: u32,
        station: &mut (&'a WireJob, Option<u32>),
        times: &mut [Vec<WireTime>],
        announce: Announce,
    ) -> Result<(), Stop> {
        let mut prepared = Vec::with_capacity(jobs.len());
        for job in jobs {
            station.0 = job;
            self.receive_modules(job)?;
            let mut ready = self.bench().prepare(job, Placement::Near)?;
            ready.fill(&job.name, &job.buffers);
            // The device restores the buffers: while the host did it, the device would be idle and
            // lower its clock.
            let mut original =
                Storage::create(&self.device, &ready.storage.lengths(), Placement::Near, None)?;
            ready.fill_other(&job.name, &job.buffers, &mut original);
            prepared.push((job, ready, original));
        }
        announce(Phase { repetition: 0, stage: Stage::Dispatched(0) });
        let start = Instant::now();
        let mut counted = 0;
        while counted < repetitions {
            // The first runs do not count: a device raises its clock, a driver finishes compiling.
            let warm =
                times.iter().all(|times| times.len() >= WARMING_RUNS) && start.elapsed() >= WARMING;
            if counted == 0 && warm {
                times.iter_mut().for_each(Vec::clear);
            }
            counted += u32::from(counted > 0 || warm);
            for ((job, pass, original), times) in prepared.iter().zip(&mut *times) {
                self.commands.copy(&pass.resources, &pass.storage, Copying::IntoImages)?;
                station.0 = job;
                let restored = pass.storage.restored_from(original);
                let mut restored = restored.as_slice();
                let mut sum = WireTime { wall: 0.0, device: None };
                for (dispatch, index) in pass.dispatches.iter().zip(0..) {
                    station.1 = Some(index);
                    let time = self.commands.run(std::mem::take(&mut restored), dispatch)?;
                    sum.wall += time.wall;
                    sum.device = time.device.map(|device| sum.device.unwrap_or(0.0) + device);
                }
                times.push(sum);
            }
        }
        announce(Phase { repetition: 0, stage: Stage::Collecting });
        Ok(())
    }

    fn receive_modules(&mut self, job: &WireJob) -> Result<(), Stop> {
        if job.cache == Cache::Forget {
            self.shapes.clear(&mut self.kept)?;
            self.pipelines.clear();
        }
        for sent in &job.modules {
            if self.pipelines.programs.contains_key(&sent.digest) {
                continue;
            }
            let bytes = sent.words.as_ref().map_or(&[][..], |words| &words.0);
            let module = Module::parse_bytes(bytes).map_err(|error| {
                Ending::Error(format!("the module of kernel `{}`: {error}", sent.kernel))
            })?;
            self.pipelines.programs.insert(sent.digest, Program::new(module));
        }
        Ok(())
    }

    fn bench(&mut self) -> Bench<'_> {
        let Self { device, pipelines, kept, commands, .. } = self;
        Bench { device, pipelines, kept, commands }
    }
}

/// How a job stands after some of its repetitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// All of them completed.
    Goes,
    /// One did not.
    Over,
}

/// In which form a pass runs.
#[derive(Debug, Clone, Copy)]
enum Form {
    LoopCounting,
    Own,
}

/// A pass that runs for a repetition.
struct Leg<'a> {
    pass: &'a Pass,
    repetition: u32,
    form: Form,
}

impl Leg<'_> {
    fn phase(&self, dispatch: u32) -> Phase {
        let stage = match self.form {
            Form::LoopCounting => Stage::Counting(dispatch),
            Form::Own => Stage::Dispatched(dispatch),
        };
        Phase { repetition: self.repetition, stage }
    }

    fn halt(&self, dispatch: u32, failure: CallFailure) -> Halt {
        Halt { repetition: self.repetition, dispatch: Some(dispatch), stop: failure.into() }
    }
}

/// Each message once, with how often it came.
fn united(messages: Vec<WireMessage>) -> Vec<WireMessage> {
    let mut said: BTreeMap<WireMessage, u64> = BTreeMap::new();
    for message in messages {
        let count = message.count;
        *said.entry(WireMessage { count: 0, ..message }).or_insert(0) += count;
    }
    said.into_iter().map(|(message, count)| WireMessage { count, ..message }).collect()
}

/// A binding of set 0 that neither the job nor any module uses.
fn free_binding<'a>(job: &WireJob, modules: impl Iterator<Item = &'a Module>) -> u32 {
    let bound = job
        .dispatches
        .iter()
        .flat_map(|dispatch| &dispatch.bindings)
        .map(|binding| binding.binding);
    let recorded = job.modules.iter().filter_map(|module| module.records).map(|slot| slot.binding);
    let declared = modules.flat_map(Module::binding_numbers);
    bound.chain(recorded).chain(declared).max().map_or(0, |most| most + 1)
}
