//! A worker's open device: prepares jobs, runs them, reads results back.
//!
//! Knows: what must exist before the first dispatch of a job, in which order it is made, and when the host may read.
//! Promises: every job starts with freshly written buffers; nothing of a job outlives it but cached pipelines and one
//! block of memory; the records of a dispatch whose canary word is wrong are refused.
//! Does not cover: time limits and crashes (`process`).

use super::canary;
use super::commands::{Commands, Dispatch, Timing};
use super::device::{CallFailure, Device, during};
use super::fault::{Fault, FaultKind};
use super::fit::{self, Layout, descriptor_type};
use super::identity::NoVulkan;
use super::instance::{Instance, failed};
use super::memory::{Block, GUARD, Storage};
use super::needs::Needs;
use super::pipeline::{Pipeline, PipelineKey, Pipelines, Program};
use super::protocol::{
    Bytes, Cache, Ending, Fitness, Open, Opened, Phase, RecordSlot, Trespass, WireBinding, WireDispatch, WireJob,
    WireMessage, WireRun, WireTime,
};
use crate::model::procedure::DescriptorClass;
use crate::model::records::CANARY;
use crate::spirv::module::Module;
use ash::vk;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Why a job stops before its end.
enum Stop {
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

/// A record buffer of one dispatch.
struct DispatchRecords {
    dispatch: usize,
    module: u32,
    /// Index in the storage.
    buffer: usize,
    nonce: u32,
    words: u32,
}

/// A job with everything that its dispatches need.
struct Prepared<'a> {
    job: &'a WireJob,
    dispatches: Vec<Dispatch>,
    records: Vec<DispatchRecords>,
    storage: Storage,
    /// Holds the descriptor sets of the dispatches.
    _pool: DescriptorPool,
}

pub struct Session {
    commands: Commands,
    pipelines: Pipelines,
    spare: Option<Block>,
    fault: Fault,
    pub device: Rc<Device>,
}

impl Session {
    pub fn open(open: &Open, fault: Fault) -> Result<(Self, Opened), NoVulkan> {
        let instance = Rc::new(Instance::open(open.validation)?);
        let device = Rc::new(Device::open(instance, &open.device, open.robustness)?);
        let commands = Commands::new(&device).map_err(|failure| failed(failure.call, failure.result))?;
        let pipelines = Pipelines::new(&device);
        let mut session = Self { commands, pipelines, spare: None, fault, device };
        let messages = session.device.instance.messages.take();
        let mut run = session.run(&canary::job(), &mut |_| {});
        if session.fault.strikes(FaultKind::Canary, canary::NAME) {
            run.buffers.clear();
        }
        canary::judge(&run)?;
        let (identity, layer) = (session.device.identity.clone(), session.device.instance.layer.clone());
        Ok((session, Opened { identity, layer, messages }))
    }

    /// Runs a job; `announce` is told of each phase as it begins.
    pub fn run(&mut self, job: &WireJob, announce: &mut dyn FnMut(Phase)) -> WireRun {
        let mut said = BTreeMap::new();
        let mut station = Station { job, dispatch: None };
        let mut result = WireRun::ended(Ending::Completed);
        announce(Phase::Preparing);
        let outcome = self.carry_out(job, &mut said, &mut station, &mut result, announce);
        if let Err(stop) = outcome {
            (result.ending, result.fitness) = station.ending(stop);
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
        let mut prepared = self.prepare(job, said)?;
        prepared.fill();
        for (index, dispatch) in prepared.dispatches.iter().enumerate() {
            station.dispatch = Some(index);
            announce(Phase::Dispatched(index as u32));
            self.commands.run(dispatch, Timing::Off)?;
        }
        announce(Phase::Collecting);
        if self.fault.strikes(FaultKind::Guard, &job.name) && !job.buffers.is_empty() {
            prepared.storage.disturb_guard(0);
        }
        prepared.collect(result)?;
        self.spare = prepared.storage.into_block();
        Ok(())
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
            prepared.push(self.prepare(job, &mut Said::new())?);
        }
        announce(Phase::Dispatched(0));
        for _ in 0..repetitions {
            for (job, times) in prepared.iter_mut().zip(&mut *times) {
                job.fill();
                station.job = job.job;
                let mut sum = WireTime { wall: 0.0, device: None };
                for (index, dispatch) in job.dispatches.iter().enumerate() {
                    station.dispatch = Some(index);
                    let time = self.commands.run(dispatch, Timing::On)?;
                    sum.wall += time.wall;
                    sum.device = time.device.map(|device| sum.device.unwrap_or(0.0) + device);
                }
                times.push(sum);
            }
        }
        announce(Phase::Collecting);
        Ok(())
    }

    fn prepare<'a>(&mut self, job: &'a WireJob, said: &mut Said) -> Result<Prepared<'a>, Stop> {
        self.receive_modules(job)?;
        let records = record_buffers(job);
        let mut lengths: Vec<usize> = job.buffers.iter().map(|buffer| buffer.0.len()).collect();
        lengths.extend(records.iter().map(|records| (2 + records.words as usize) * 4));
        let mut plans = Vec::with_capacity(job.dispatches.len());
        for (index, dispatch) in job.dispatches.iter().enumerate() {
            let records = records.iter().find(|records| records.dispatch == index);
            plans.push(self.plan(job, dispatch, records, &lengths)?);
        }
        // Everything is known to fit before the driver sees the first object of the job.
        let mut pipelines = Vec::with_capacity(plans.len());
        for plan in &plans {
            gather(said, self.device.instance.messages.take());
            let pipeline = self.pipelines.get(&plan.key, &plan.needs)?;
            gather(said, pipeline.messages.clone());
            pipelines.push(pipeline);
        }
        let storage = Storage::create(&self.device, &lengths, self.spare.take())?;
        let mut pool = DescriptorPool::create(&self.device, &plans)?;
        let mut dispatches = Vec::with_capacity(plans.len());
        for (plan, pipeline) in plans.iter().zip(pipelines) {
            dispatches.push(plan.ready(pipeline, &storage, &mut pool)?);
        }
        Ok(Prepared { job, dispatches, records, storage, _pool: pool })
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
            bindings.push(record_binding(records, slot));
        }
        fit::check_ranges(&self.device, &bindings, lengths)?;
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

/// One record buffer for each dispatch of a recording module, placed behind the job's own buffers.
fn record_buffers(job: &WireJob) -> Vec<DispatchRecords> {
    let mut records = Vec::new();
    for (dispatch, wanted) in job.dispatches.iter().enumerate() {
        let slot = job.modules.get(wanted.module as usize).and_then(|module| module.records);
        if let Some(RecordSlot { words, .. }) = slot {
            let buffer = job.buffers.len() + records.len();
            let nonce = nonce(&job.name, dispatch);
            records.push(DispatchRecords { dispatch, module: wanted.module, buffer, nonce, words });
        }
    }
    records
}

/// Different for each dispatch, the same in every run.
fn nonce(job: &str, dispatch: usize) -> u32 {
    let hash = Sha256::new().chain_update(job).chain_update([0]).chain_update((dispatch as u64).to_le_bytes());
    let hash = hash.finalize();
    u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]])
}

fn record_binding(records: &DispatchRecords, slot: RecordSlot) -> WireBinding {
    WireBinding {
        set: slot.set,
        binding: slot.binding,
        array_index: 0,
        class: DescriptorClass::Storage,
        buffer: records.buffer as u32,
        offset: 0,
        range: (2 + u64::from(slot.words)) * 4,
        dynamic_offset: 0,
    }
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
    fn ready(&self, pipeline: Rc<Pipeline>, storage: &Storage, pool: &mut DescriptorPool) -> Result<Dispatch, Stop> {
        let sets = pool.allocate(&pipeline.layout.sets)?;
        for binding in &self.bindings {
            pool.write(sets[binding.set as usize], binding, storage.buffer(binding.buffer as usize))?;
        }
        let mut push_constants = self.dispatch.push_constants.0.clone();
        push_constants.resize(self.key.layout.push_constants as usize, 0xCD);
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

impl Prepared<'_> {
    /// Writes initial contents, nonces and guards.
    fn fill(&mut self) {
        for (index, buffer) in self.job.buffers.iter().enumerate() {
            self.storage.fill(index, &buffer.0);
        }
        for records in &self.records {
            let mut contents = vec![0; (2 + records.words as usize) * 4];
            contents[..4].copy_from_slice(&records.nonce.to_le_bytes());
            // Whatever the nonce, not the answer that proves the buffer alive.
            contents[4..8].copy_from_slice(&(!(records.nonce ^ CANARY)).to_le_bytes());
            self.storage.fill(records.buffer, &contents);
        }
    }

    /// Reads contents, guards and records back. The outputs are kept even if the records are refused.
    fn collect(&mut self, result: &mut WireRun) -> Result<(), Ending> {
        for index in 0..self.job.buffers.len() {
            result.buffers.push(Bytes(self.storage.contents(index).to_vec()));
            let changes = self.storage.guard_changes(index).into_iter();
            result.trespasses.extend(changes.map(|change| Trespass {
                buffer: index as u32,
                side: change.side,
                distance: change.distance,
                bytes: change.bytes,
            }));
        }
        let mut united: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for records in &self.records {
            let words = self.storage.trusted_words(records).map_err(|why| {
                let (kernel, dispatch) = (&self.job.modules[records.module as usize].kernel, records.dispatch);
                Ending::Undetermined(format!(
                    "records cannot be trusted: dispatch {dispatch} of kernel `{kernel}`: {why}"
                ))
            })?;
            let all = united.entry(records.module).or_insert_with(|| vec![0; words.len()]);
            all.iter_mut().zip(words).for_each(|(all, word)| *all |= word);
        }
        result.records = united.into_iter().collect();
        Ok(())
    }
}

impl Storage {
    /// Data words of a record buffer whose canary word and guards are as they must be.
    fn trusted_words(&mut self, records: &DispatchRecords) -> Result<Vec<u32>, String> {
        if !self.guard_changes(records.buffer).is_empty() {
            return Err("something wrote beside the record buffer".to_owned());
        }
        let words = self.contents(records.buffer).chunks_exact(4);
        let words: Vec<u32> = words.map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes"))).collect();
        let expected = records.nonce ^ CANARY;
        match words.as_slice() {
            [nonce, ..] if *nonce != records.nonce => Err("the nonce was overwritten".to_owned()),
            [_, canary, ..] if *canary != expected => Err("the canary word was not written".to_owned()),
            [_, _, data @ ..] => Ok(data.to_vec()),
            _ => Err("the record buffer is too short".to_owned()),
        }
    }
}

/// The descriptor pool of one job.
struct DescriptorPool {
    raw: vk::DescriptorPool,
    device: Rc<Device>,
}

impl DescriptorPool {
    fn create(device: &Rc<Device>, plans: &[Plan<'_>]) -> Result<Self, Stop> {
        let mut counts: BTreeMap<vk::DescriptorType, u32> = BTreeMap::new();
        let mut sets = 0;
        for plan in plans {
            sets += plan.key.layout.sets.len() as u32;
            for slot in plan.key.layout.sets.iter().flat_map(BTreeMap::values) {
                *counts.entry(descriptor_type(slot.class)?).or_insert(0) += slot.count;
            }
        }
        // A pool must have room for something, even if the job binds nothing.
        counts.entry(vk::DescriptorType::STORAGE_BUFFER).or_insert(1);
        let sizes: Vec<_> = counts
            .into_iter()
            .map(|(class, count)| vk::DescriptorPoolSize::default().ty(class).descriptor_count(count))
            .collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(sets.max(1)).pool_sizes(&sizes);
        // SAFETY: the sizes live until the call returns.
        let raw =
            unsafe { device.raw.create_descriptor_pool(&info, None) }.map_err(during("vkCreateDescriptorPool"))?;
        Ok(Self { raw, device: device.clone() })
    }

    fn allocate(&mut self, layouts: &[vk::DescriptorSetLayout]) -> Result<Vec<vk::DescriptorSet>, Stop> {
        if layouts.is_empty() {
            return Ok(Vec::new());
        }
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(self.raw).set_layouts(layouts);
        // SAFETY: pool and layouts are alive.
        let sets = unsafe { self.device.raw.allocate_descriptor_sets(&info) };
        Ok(sets.map_err(during("vkAllocateDescriptorSets"))?)
    }

    fn write(&self, set: vk::DescriptorSet, binding: &WireBinding, buffer: vk::Buffer) -> Result<(), Ending> {
        // Contents start behind the guard zone.
        let offset = GUARD as u64 + binding.offset;
        let buffers = [vk::DescriptorBufferInfo::default().buffer(buffer).offset(offset).range(binding.range)];
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding.binding)
            .dst_array_element(binding.array_index)
            .descriptor_type(descriptor_type(binding.class)?)
            .buffer_info(&buffers);
        // SAFETY: set and buffer are alive, the set is not in use, and the range lies in the buffer (`fit::check_ranges`).
        unsafe { self.device.raw.update_descriptor_sets(&[write], &[]) };
        Ok(())
    }
}

impl Drop for DescriptorPool {
    fn drop(&mut self) {
        // SAFETY: every dispatch that uses a set of the pool has ended.
        unsafe { self.device.raw.destroy_descriptor_pool(self.raw, None) }
    }
}
