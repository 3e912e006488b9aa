//! A worker's open device: prepares jobs, runs them, reads results back.
//!
//! Knows: what must exist before the first dispatch of a job, in which order it is made, and when the host may read.
//! Promises: every job starts with freshly written buffers, guards and descriptor sets; nothing of a job outlives it but
//! cached pipelines and what `kept` holds for jobs of the same shape; the records of a dispatch whose canary word is wrong are refused.
//! Does not cover: time limits and crashes (`process`).

use super::canary;
use super::commands::{Commands, Dispatch, Timing};
use super::descriptors::DescriptorPool;
use super::device::{CallFailure, Device};
use super::fault::{FaultKind, Faults};
use super::fit::{self, Layout};
use super::identity::NoVulkan;
use super::image::Copying;
use super::image_fit;
use super::instance::{Instance, failed};
use super::kept::Kept;
use super::memory::{Placement, Storage};
use super::needs::Needs;
use super::pipeline::{Pipeline, PipelineKey, Pipelines, Program};
use super::pipeline_cache::PipelineCache;
use super::protocol::{
    Bytes, Cache, Ending, Fitness, Open, Opened, Phase, Trespass, WireBinding, WireDispatch, WireJob, WireMessage,
    WireRecords, WireRun, WireTime,
};
use super::records::{DispatchRecords, record_buffers};
use super::resources::Resources;
use crate::exec::resource::{AddressPlace, JobView};
use crate::model::procedure::DescriptorClass;
use crate::model::records::Records;
use crate::spirv::module::{Instruction, Module};
use ash::vk;
use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Why a job stops before its end.
pub enum Stop {
    Ending(Ending),
    Call(CallFailure),
}

impl From<Ending> for Stop {
    fn from(ending: Ending) -> Self {
        Self::Ending(ending)
    }
}

impl From<CallFailure> for Stop {
    fn from(failure: CallFailure) -> Self {
        Self::Call(failure)
    }
}

/// How far a job has got, for the message if a call fails.
#[derive(Clone, Copy)]
struct Station<'a> {
    job: &'a WireJob,
    dispatch: Option<usize>,
}

impl Station<'_> {
    fn ending(self, stop: Stop) -> (Ending, Fitness) {
        let failure = match stop {
            Stop::Ending(ending) => return (ending, Fitness::Fit),
            Stop::Call(failure) => failure,
        };
        let place = match self.dispatch {
            Some(index) => {
                let kernel = &self.job.modules[self.job.dispatches[index].module as usize].kernel;
                format!("dispatch {index} of kernel `{kernel}`")
            }
            None => "preparing the test".to_owned(),
        };
        let ending = match failure.result {
            vk::Result::ERROR_DEVICE_LOST => Ending::Error(format!("device lost in {place} ({failure})")),
            vk::Result::ERROR_OUT_OF_HOST_MEMORY | vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                Ending::Undetermined(format!("the device is out of memory in {place} ({failure})"))
            }
            _ => Ending::Error(format!("the driver refused {place} ({failure})")),
        };
        (ending, Fitness::Spent)
    }
}

/// A job with everything that its dispatches need.
struct Prepared<'a> {
    job: &'a WireJob,
    dispatches: Vec<Dispatch>,
    records: Vec<DispatchRecords>,
    /// Goes before the storage that its views show.
    resources: Resources,
    storage: Storage,
    /// Holds the descriptor sets of the dispatches.
    pool: DescriptorPool,
}

/// Before times count: at least so long, and so many runs of each job.
const WARMING: Duration = Duration::from_millis(300);
const WARMING_RUNS: usize = 3;

pub struct Session {
    commands: Commands,
    pipelines: Pipelines,
    kept: Kept,
    fault: Faults,
    /// Iterations after which the device ends loops by itself.
    loop_limit: Option<u32>,
    pub device: Rc<Device>,
}

impl Session {
    pub fn open(open: &Open, fault: Faults) -> Result<(Self, Opened), NoVulkan> {
        let instance = Rc::new(Instance::open(open.validation)?);
        let device = Rc::new(Device::open(instance, &open.device, open.robustness)?);
        let commands = Commands::new(&device).map_err(|failure| failed(failure.call, failure.result))?;
        let (cache, note) = PipelineCache::open(&device);
        let (pipelines, kept) = (Pipelines::new(&device, cache), Kept::new(&device));
        let mut session = Self { commands, pipelines, kept, fault, loop_limit: None, device };
        let messages = session.device.instance.messages.take();
        let mut run = session.run(&canary::job(), &mut |_| {});
        if session.fault.strikes(FaultKind::Canary, canary::NAME) {
            run.buffers.clear();
        }
        canary::judge(&run)?;
        session.loop_limit = canary::judge_loop_probe(&session.run(&canary::loop_probe(), &mut |_| {}))?;
        let loop_limit = session.loop_limit;
        let (identity, layer) = (session.device.identity.clone(), session.device.instance.layer.clone());
        Ok((session, Opened { identity, layer, loop_limit, messages, notes: note.into_iter().collect() }))
    }

    /// Keeps the pipelines for later workers, if enough of them are new or there is time.
    pub fn save_pipelines(&mut self, idle: impl FnOnce() -> bool) {
        self.pipelines.cache.save(idle);
    }

    /// Runs a job; `announce` is told of each phase as it begins.
    pub fn run(&mut self, job: &WireJob, announce: &mut dyn FnMut(Phase)) -> WireRun {
        let mut said = BTreeMap::new();
        let mut station = Station { job, dispatch: None };
        let mut result = WireRun::ended(Ending::Completed);
        announce(Phase::Preparing);
        if let Some(limit) = self.loop_limit {
            (result.ending, result.fitness) = self.count_loops(job, limit, announce);
        }
        if result.ending == Ending::Completed {
            let outcome = self.carry_out(job, &mut said, &mut station, &mut result, announce);
            if let Err(stop) = outcome {
                (result.ending, result.fitness) = station.ending(stop);
            }
        }
        gather(&mut said, self.device.instance.messages.take());
        result.messages = flatten(said);
        result
    }

    fn carry_out<'a>(
        &mut self,
        job: &'a WireJob,
        said: &mut Said,
        station: &mut Station<'a>,
        result: &mut WireRun,
        announce: &mut dyn FnMut(Phase),
    ) -> Result<(), Stop> {
        let mut prepared = self.prepare(job, Placement::ReadBack, said)?;
        prepared.fill();
        self.commands.copy(&prepared.resources, &prepared.storage, Copying::IntoImages)?;
        for (index, dispatch) in prepared.dispatches.iter().enumerate() {
            station.dispatch = Some(index);
            announce(Phase::Dispatched(index as u32));
            self.commands.run(&[], dispatch, Timing::Off)?;
        }
        announce(Phase::Collecting);
        self.commands.copy(&prepared.resources, &prepared.storage, Copying::IntoBuffers)?;
        if self.fault.strikes(FaultKind::Guard, &job.name) && !job.buffers.is_empty() {
            prepared.storage.disturb_guard(0);
        }
        prepared.collect(result)?;
        let Prepared { resources, storage, pool, .. } = prepared;
        drop(resources);
        Ok(self.kept.take_back(storage, pool)?)
    }

    /// Runs the census form of a job with loops. `Completed`: no loop was cut off.
    fn count_loops(&mut self, job: &WireJob, limit: u32, announce: &mut dyn FnMut(Phase)) -> (Ending, Fitness) {
        let fit = |ending| (ending, Fitness::Fit);
        let counting = match self.receive_modules(job).and_then(|()| self.census_job(job, limit)) {
            Ok(Some(counting)) => counting,
            Ok(None) => return fit(Ending::Completed),
            Err(ending) => return fit(ending),
        };
        let (mut result, mut said) = (WireRun::ended(Ending::Completed), Said::new());
        let mut station = Station { job: &counting, dispatch: None };
        let mut announce = |phase| match phase {
            Phase::Dispatched(index) => announce(Phase::Counting(index)),
            Phase::Preparing | Phase::Counting(_) | Phase::Collecting => {}
        };
        let outcome = self.carry_out(&counting, &mut said, &mut station, &mut result, &mut announce);
        // The layer's words on the census are not about the kernel.
        self.device.instance.messages.take();
        let counters = result.buffers.iter().skip(job.buffers.len());
        let cut = counters.enumerate().find(|(_, counter)| counter.0 != [0; 4]);
        match (outcome, cut) {
            // Records of the census run are of no interest.
            (Ok(()) | Err(Stop::Ending(Ending::Undetermined(_))), Some((index, _))) => {
                let kernel = &job.modules[job.dispatches[index].module as usize].kernel;
                fit(Ending::CutOff(format!(
                    "dispatch {index} of kernel `{kernel}` did not end by itself: the driver ends a kernel's loops after \
                     {limit} iterations"
                )))
            }
            (Ok(()) | Err(Stop::Ending(Ending::Undetermined(_))), None) => fit(Ending::Completed),
            (Err(stop), _) => station.ending(stop),
        }
    }

    /// The job with its modules in census form and a counter for each dispatch; none if no module has loops.
    fn census_job(&mut self, job: &WireJob, limit: u32) -> Result<Option<WireJob>, Ending> {
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
            let census = program.census(binding).map_err(|why| {
                Ending::Undetermined(format!(
                    "the driver ends a kernel's loops after {limit} iterations, and whether it did so in kernel `{}` \
                     cannot be seen: {why}",
                    module.kernel
                ))
            })?;
            module.digest = census.digest;
            module.words = (!programs.contains_key(&census.digest)).then(|| census.words.clone());
        }
        for (index, dispatch) in counting.dispatches.iter_mut().enumerate() {
            let buffer = (job.buffers.len() + index) as u32;
            counting.buffers.push(Bytes(vec![0; 4]));
            dispatch.bindings.push(storage_binding(0, binding, buffer, 4));
        }
        Ok(Some(counting))
    }

    /// Runs jobs in turn (A, B, A, B ...) and times each run; buffers are written anew before every run.
    pub fn measure(
        &mut self,
        jobs: &[WireJob],
        repetitions: u32,
        announce: &mut dyn FnMut(Phase),
    ) -> (Ending, Fitness, Vec<Vec<WireTime>>) {
        let mut times = vec![Vec::with_capacity(repetitions as usize); jobs.len()];
        let Some(first) = jobs.first() else { return (Ending::Completed, Fitness::Fit, times) };
        let mut station = Station { job: first, dispatch: None };
        announce(Phase::Preparing);
        match self.time_in_turn(jobs, repetitions, &mut station, &mut times, announce) {
            Ok(()) => (Ending::Completed, Fitness::Fit, times),
            Err(stop) => {
                let (ending, fitness) = station.ending(stop);
                (ending, fitness, Vec::new())
            }
        }
    }

    fn time_in_turn<'a>(
        &mut self,
        jobs: &'a [WireJob],
        repetitions: u32,
        station: &mut Station<'a>,
        times: &mut [Vec<WireTime>],
        announce: &mut dyn FnMut(Phase),
    ) -> Result<(), Stop> {
        let mut prepared = Vec::with_capacity(jobs.len());
        for job in jobs {
            station.job = job;
            let mut ready = self.prepare(job, Placement::Near, &mut Said::new())?;
            ready.fill();
            // The device restores the buffers: while the host did it, the device would be idle and lower its clock.
            let mut original = Storage::create(&self.device, &ready.storage.lengths(), Placement::Near, None)?;
            write_initial(job, &ready.records, &ready.resources, &mut original);
            prepared.push((ready, original));
        }
        announce(Phase::Dispatched(0));
        let start = Instant::now();
        let mut counted = 0;
        while counted < repetitions {
            // The first runs do not count: a device raises its clock, a driver finishes compiling.
            let warm = times.iter().all(|times| times.len() >= WARMING_RUNS) && start.elapsed() >= WARMING;
            if counted == 0 && warm {
                times.iter_mut().for_each(Vec::clear);
            }
            counted += u32::from(counted > 0 || warm);
            for ((job, original), times) in prepared.iter().zip(&mut *times) {
                self.commands.copy(&job.resources, &job.storage, Copying::IntoImages)?;
                station.job = job.job;
                let restored = job.storage.restored_from(original);
                let mut restored = restored.as_slice();
                let mut sum = WireTime { wall: 0.0, device: None };
                for (index, dispatch) in job.dispatches.iter().enumerate() {
                    station.dispatch = Some(index);
                    let time = self.commands.run(std::mem::take(&mut restored), dispatch, Timing::On)?;
                    sum.wall += time.wall;
                    sum.device = time.device.map(|device| sum.device.unwrap_or(0.0) + device);
                }
                times.push(sum);
            }
        }
        announce(Phase::Collecting);
        Ok(())
    }

    fn prepare<'a>(&mut self, job: &'a WireJob, placement: Placement, said: &mut Said) -> Result<Prepared<'a>, Stop> {
        self.receive_modules(job)?;
        let records = record_buffers(job, |dispatch| self.local_size(job, dispatch))?;
        let mut lengths: Vec<usize> = job.buffers.iter().map(|buffer| buffer.0.len()).collect();
        lengths.extend(records.iter().map(|records| records.length));
        let mut plans = Vec::with_capacity(job.dispatches.len());
        for (index, dispatch) in job.dispatches.iter().enumerate() {
            let records = records.iter().find(|records| records.dispatch == index);
            plans.push(self.plan(job, dispatch, records, &lengths)?);
        }
        image_fit::check_job(&self.device, job)?;
        // Everything is known to fit before the driver sees the first object of the job.
        let mut pipelines = Vec::with_capacity(plans.len());
        for plan in &plans {
            gather(said, self.device.instance.messages.take());
            let pipeline = self.pipelines.get(&plan.key, &plan.needs)?;
            gather(said, pipeline.messages.clone());
            pipelines.push(pipeline);
        }
        let storage = match placement {
            Placement::ReadBack => self.kept.storage(&lengths)?,
            Placement::Near => Storage::create(&self.device, &lengths, placement, None)?,
        };
        let layouts: Vec<&Layout> = plans.iter().map(|plan| &plan.key.layout).collect();
        let mut pool = self.kept.pool(&layouts)?;
        let mut resources = Resources::create(&self.device, job, &storage)?;
        let mut dispatches = Vec::with_capacity(plans.len());
        for (index, (plan, pipeline)) in plans.iter().zip(pipelines).enumerate() {
            dispatches.push(plan.ready(index as u32, pipeline, &storage, &mut resources, &mut pool)?);
        }
        Ok(Prepared { job, dispatches, records, resources, storage, pool })
    }

    fn receive_modules(&mut self, job: &WireJob) -> Result<(), Ending> {
        if job.cache == Cache::Forget {
            self.pipelines.clear();
        }
        for sent in &job.modules {
            if self.pipelines.programs.contains_key(&sent.digest) {
                continue;
            }
            let bytes = sent.words.as_ref().map_or(&[][..], |words| &words.0);
            let module = Module::parse_bytes(bytes)
                .map_err(|error| Ending::Error(format!("the module of kernel `{}`: {error}", sent.kernel)))?;
            self.pipelines.programs.insert(sent.digest, Program::new(module));
        }
        Ok(())
    }

    /// The local size of a dispatch's module under its specialization.
    fn local_size(&mut self, job: &WireJob, dispatch: usize) -> Option<[u32; 3]> {
        let dispatch = &job.dispatches[dispatch];
        let module = job.modules.get(dispatch.module as usize)?;
        let specialization = dispatch.specialization.iter().copied().collect();
        let program = self.pipelines.programs.get_mut(&module.digest)?;
        program.needs(&dispatch.entry, &specialization)?.local_size
    }

    /// Checks one dispatch and settles its layout and pipeline.
    fn plan<'a>(
        &mut self,
        job: &'a WireJob,
        dispatch: &'a WireDispatch,
        records: Option<&DispatchRecords>,
        lengths: &[usize],
    ) -> Result<Plan<'a>, Ending> {
        let missing = || Ending::Error("a dispatch names a module that the job does not have".to_owned());
        let module = job.modules.get(dispatch.module as usize).ok_or_else(missing)?;
        let specialization: BTreeMap<u32, u64> = dispatch.specialization.iter().copied().collect();
        let program = self.pipelines.programs.get_mut(&module.digest).ok_or_else(missing)?;
        let needs = program.needs(&dispatch.entry, &specialization).ok_or_else(|| {
            Ending::Error(format!("kernel `{}` has no entry point `{}`", module.kernel, dispatch.entry))
        })?;
        fit::check(&self.device, &needs, dispatch)?;
        let mut bindings = dispatch.bindings.clone();
        if let (Some(records), Some(slot)) = (records, module.records) {
            bindings.push(storage_binding(slot.set, slot.binding, records.buffer as u32, records.length as u64));
        }
        fit::check_ranges(&self.device, &bindings, lengths)?;
        image_fit::check_views(&self.device, &needs, job, &bindings)?;
        let layout = Layout::of(&self.device, &needs, &bindings, fit::push_size(&needs, dispatch))?;
        let key = PipelineKey {
            digest: module.digest,
            entry: dispatch.entry.clone(),
            specialization,
            layout,
            subgroup_size: dispatch.subgroup_size,
        };
        Ok(Plan { dispatch, needs, key, bindings })
    }
}

/// Messages by all but their count.
type Said = BTreeMap<WireMessage, u64>;

fn gather(said: &mut Said, messages: Vec<WireMessage>) {
    for message in messages {
        let count = message.count;
        *said.entry(WireMessage { count: 0, ..message }).or_insert(0) += count;
    }
}

fn flatten(said: Said) -> Vec<WireMessage> {
    said.into_iter().map(|(message, count)| WireMessage { count, ..message }).collect()
}

/// A storage buffer of `range` bytes, bound whole.
fn storage_binding(set: u32, binding: u32, buffer: u32, range: u64) -> WireBinding {
    let (class, array_index, offset, dynamic_offset) = (DescriptorClass::Storage, 0, 0, 0);
    let view = JobView::Bytes;
    WireBinding { set, binding, array_index, class, view, buffer, offset, range, dynamic_offset }
}

/// A binding of set 0 that neither the job nor any module uses.
fn free_binding<'a>(job: &WireJob, modules: impl Iterator<Item = &'a Module>) -> u32 {
    let bound = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings).map(|binding| binding.binding);
    let recorded = job.modules.iter().filter_map(|module| module.records).map(|slot| slot.binding);
    let declared = modules.flat_map(declared_bindings);
    bound.chain(recorded).chain(declared).max().map_or(0, |most| most + 1)
}

/// Binding numbers that a module declares, of any set.
fn declared_bindings(module: &Module) -> Vec<u32> {
    let decorations = module.instructions.iter().filter(|instruction| instruction.op == Op::Decorate);
    let is_binding = |i: &&Instruction| i.operands.get(1) == Some(&Operand::Decoration(Decoration::Binding));
    decorations.filter(is_binding).filter_map(|instruction| instruction.literal(2)).collect()
}

/// A dispatch that is known to fit.
struct Plan<'a> {
    dispatch: &'a WireDispatch,
    needs: Rc<Needs>,
    key: PipelineKey,
    /// The test's bindings and the record buffer's.
    bindings: Vec<WireBinding>,
}

impl Plan<'_> {
    fn ready(
        &self,
        index: u32,
        pipeline: Rc<Pipeline>,
        storage: &Storage,
        resources: &mut Resources,
        pool: &mut DescriptorPool,
    ) -> Result<Dispatch, Stop> {
        let sets = pool.allocate(&pipeline.layout.sets)?;
        for binding in &self.bindings {
            pool.write(sets[binding.set as usize], binding, &resources.descriptor(binding, storage)?);
        }
        let mut push_constants = self.dispatch.push_constants.0.clone();
        push_constants.resize(self.key.layout.push_constants as usize, 0xCD);
        resources.addresses.put(AddressPlace::PushConstants(index), &mut push_constants);
        let (dynamic_offsets, groups) = (self.dynamic_offsets(), self.dispatch.groups);
        Ok(Dispatch { pipeline, sets, dynamic_offsets, push_constants, groups })
    }

    /// In order of set, binding and array element (Vulkan specification, vkCmdBindDescriptorSets).
    fn dynamic_offsets(&self) -> Vec<u32> {
        let is_dynamic = |class| matches!(class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic);
        let dynamic = self.bindings.iter().filter(|binding| is_dynamic(binding.class));
        let ordered: BTreeMap<_, _> =
            dynamic.map(|b| ((b.set, b.binding, b.array_index), b.dynamic_offset as u32)).collect();
        ordered.into_values().collect()
    }
}

fn write_initial(job: &WireJob, records: &[DispatchRecords], resources: &Resources, storage: &mut Storage) {
    for (index, buffer) in job.buffers.iter().enumerate() {
        storage.fill(index, &buffer.0);
        resources.addresses.put(AddressPlace::Buffer(index as u32), storage.contents(index));
    }
    for records in records {
        storage.fill(records.buffer, &records.initial());
    }
}

impl Prepared<'_> {
    /// Writes initial contents, nonces and guards.
    fn fill(&mut self) {
        write_initial(self.job, &self.records, &self.resources, &mut self.storage);
    }

    /// Reads contents, guards and records back. The outputs are kept even if the records are refused.
    fn collect(&mut self, result: &mut WireRun) -> Result<(), Ending> {
        for index in 0..self.job.buffers.len() {
            let mut contents = self.storage.contents(index).to_vec();
            self.resources.addresses.take_out(index, &mut contents);
            result.buffers.push(Bytes(contents));
            let changes = self.storage.guard_changes(index).into_iter();
            result.trespasses.extend(changes.map(|change| Trespass {
                buffer: index as u32,
                side: change.side,
                distance: change.distance,
                bytes: change.bytes,
            }));
        }
        let mut united: BTreeMap<u32, Records> = BTreeMap::new();
        for records in &self.records {
            let new = self.storage.trusted_records(records).map_err(|why| {
                let (kernel, dispatch) = (&self.job.modules[records.module as usize].kernel, records.dispatch);
                Ending::Undetermined(format!(
                    "records cannot be trusted: dispatch {dispatch} of kernel `{kernel}`: {why}"
                ))
            })?;
            united.entry(records.module).or_default().merge(&new);
        }
        let sent = united.into_iter().map(|(module, records)| {
            let witnesses = records.witnesses.into_iter().collect();
            WireRecords { module, words: records.words, witnesses }
        });
        result.records = sent.collect();
        Ok(())
    }
}
