//! One pass of a job over the device: its dispatches with everything they need.
//!
//! Knows: what must exist before the first dispatch, in which order it is made, and what is read
//! back after the last.
//! Promises: a pass starts with freshly written buffers, guards and nonces, however often it is
//! run; everything is known to fit before the driver sees the first object; the records of a
//! dispatch whose canary word is wrong are refused.
//! Does not cover: in which order passes run (`session`).

use super::commands::{Commands, Dispatch, Step};
use super::descriptors::DescriptorPool;
use super::device::{CallFailure, Device};
use super::fit::{self, Layout};
use super::image::Copying;
use super::kept::Kept;
use super::memory::{Placement, Storage};
use super::pipeline::{Pipeline, PipelineKey, Pipelines};
pub(super) use super::protocol::storage_binding;
use super::protocol::{
    Bytes, Ending, Side, Trespass, WireBinding, WireDispatch, WireInvocations, WireJob,
    WireMessage, WireRecords, WireRun,
};
use super::records::{DispatchRecords, nonce, record_buffers};
use super::resources::Resources;
use super::stop::Stop;
use super::{fit_limits, image_fit};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use vkcert_exec::resource::AddressPlace;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::records::Records;
use vkcert_spirv::interface::DeviceNeeds;

/// What passes are made with.
pub(crate) struct Bench<'a> {
    pub device: &'a Rc<Device>,
    pub pipelines: &'a mut Pipelines,
    pub kept: &'a mut Kept,
    pub commands: &'a Commands,
}

pub(crate) struct Pass {
    pub dispatches: Vec<Dispatch>,
    /// Recorded, one for each dispatch; images are copied in the first and the last.
    pub steps: Vec<Step>,
    records: Vec<DispatchRecords>,
    /// The job's own; the record buffers lie behind them.
    buffers: usize,
    /// Goes before the storage that its views show.
    pub resources: Resources,
    pub storage: Storage,
    /// Holds the descriptor sets of the dispatches.
    pool: DescriptorPool,
    /// Said while all of this was made.
    messages: Vec<WireMessage>,
}

impl Bench<'_> {
    /// A pass of a job that lies where the host reads fast, recorded.
    pub(crate) fn pass(&mut self, job: &WireJob) -> Result<Pass, Stop> {
        let mut pass = self.prepare(job, Placement::ReadBack)?;
        let last = pass.dispatches.len().saturating_sub(1);
        for (index, dispatch) in pass.dispatches.iter().enumerate() {
            let image = |copying| {
                (pass.resources.has_images()).then_some((&pass.resources, &pass.storage, copying))
            };
            let before = image(Copying::IntoImages).filter(|_| index == 0);
            let after = image(Copying::IntoBuffers).filter(|_| index == last);
            pass.steps.push(self.commands.record(dispatch, before, after)?);
        }
        pass.messages.extend(self.device.instance.messages.take());
        Ok(pass)
    }

    /// A pass of a job, not recorded.
    pub(crate) fn prepare(&mut self, job: &WireJob, placement: Placement) -> Result<Pass, Stop> {
        let records = record_buffers(job, |dispatch| self.local_size(job, dispatch))?;
        let mut lengths: Vec<usize> = job.buffers.iter().map(|buffer| buffer.0.len()).collect();
        lengths.extend(records.iter().map(|records| records.length));
        let mut plans = Vec::with_capacity(job.dispatches.len());
        for (index, dispatch) in job.dispatches.iter().enumerate() {
            let records = records.iter().find(|records| records.dispatch == index);
            plans.push(self.plan(job, dispatch, records, &lengths)?);
        }
        image_fit::check_job(self.device, job)?;
        // Everything is known to fit before the driver sees the first object of the job.
        let mut messages = self.device.instance.messages.take();
        let mut pipelines = Vec::with_capacity(plans.len());
        for plan in &plans {
            let pipeline = self.pipelines.get(&plan.key, &plan.needs)?;
            messages.extend(pipeline.messages.iter().cloned());
            messages.extend(self.device.instance.messages.take());
            pipelines.push(pipeline);
        }
        let storage = match placement {
            Placement::ReadBack => self.kept.storage(&lengths)?,
            Placement::Near => Storage::create(self.device, &lengths, placement, None)?,
        };
        let layouts: Vec<&Layout> = plans.iter().map(|plan| &plan.key.layout).collect();
        let mut pool = self.kept.pool(&layouts)?;
        let mut resources = Resources::create(self.device, job, &storage)?;
        let mut dispatches = Vec::with_capacity(plans.len());
        for (index, (plan, pipeline)) in plans.iter().zip(pipelines).enumerate() {
            dispatches.push(plan.ready(
                index as u32,
                pipeline,
                &storage,
                &mut resources,
                &mut pool,
            )?);
        }
        let (steps, buffers) = (Vec::new(), job.buffers.len());
        Ok(Pass { dispatches, steps, records, buffers, resources, storage, pool, messages })
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
        let missing =
            || Ending::Error("a dispatch names a module that the job does not have".to_owned());
        let module = job.modules.get(dispatch.module as usize).ok_or_else(missing)?;
        let specialization: BTreeMap<u32, u64> = dispatch.specialization.iter().copied().collect();
        let program = self.pipelines.programs.get_mut(&module.digest).ok_or_else(missing)?;
        let needs = program.needs(&dispatch.entry, &specialization).ok_or_else(|| {
            Ending::Error(format!(
                "kernel `{}` has no entry point `{}`",
                module.kernel, dispatch.entry
            ))
        })?;
        fit::check(self.device, &needs, dispatch)?;
        let mut bindings = dispatch.bindings.clone();
        if let (Some(records), Some(slot)) = (records, module.records) {
            bindings.push(storage_binding(
                slot.set,
                slot.binding,
                records.buffer as u32,
                records.length as u64,
            ));
        }
        fit_limits::check_ranges(self.device, &bindings, lengths)?;
        image_fit::check_views(self.device, &needs, job, &bindings)?;
        let layout = Layout::of(self.device, &needs, &bindings, fit::push_size(&needs, dispatch))?;
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

/// A dispatch that is known to fit.
struct Plan<'a> {
    dispatch: &'a WireDispatch,
    needs: Rc<DeviceNeeds>,
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
            pool.write(
                sets[binding.set as usize],
                binding,
                &resources.descriptor(binding, storage)?,
            );
        }
        let mut push_constants = self.dispatch.push_constants.0.to_vec();
        push_constants.resize(self.key.layout.push_constants as usize, 0xCD);
        resources.addresses.put(AddressPlace::PushConstants(index), &mut push_constants);
        let (dynamic_offsets, groups) = (self.dynamic_offsets(), self.dispatch.groups);
        Ok(Dispatch { pipeline, sets, dynamic_offsets, push_constants, groups })
    }

    /// In order of set, binding and array element (Vulkan specification, vkCmdBindDescriptorSets).
    fn dynamic_offsets(&self) -> Vec<u32> {
        let is_dynamic = |class| {
            matches!(class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic)
        };
        let dynamic = self.bindings.iter().filter(|binding| is_dynamic(binding.class));
        let ordered: BTreeMap<_, _> =
            dynamic.map(|b| ((b.set, b.binding, b.array_index), b.dynamic_offset as u32)).collect();
        ordered.into_values().collect()
    }
}

impl Pass {
    /// Writes the contents of a test's buffers, zero into buffers that the test does not have,
    /// nonces and guards.
    pub(crate) fn fill(&mut self, test: &str, contents: &[Bytes]) {
        write_initial(
            test,
            contents,
            self.buffers,
            &mut self.records,
            &self.resources,
            &mut self.storage,
        );
    }

    /// The same into another storage with buffers of the same lengths.
    pub(crate) fn fill_other(&mut self, test: &str, contents: &[Bytes], storage: &mut Storage) {
        write_initial(test, contents, self.buffers, &mut self.records, &self.resources, storage);
    }

    /// Changes the last byte of the job's last buffer, so that a test can show that the change is
    /// found.
    pub(crate) fn disturb_last(&mut self) {
        if let Some(byte) =
            self.buffers.checked_sub(1).and_then(|last| self.storage.contents(last).last_mut())
        {
            *byte ^= 0xFF;
        }
    }

    /// The final contents of a buffer.
    pub(crate) fn contents(&mut self, index: usize) -> &[u8] {
        self.storage.contents(index)
    }

    /// Reads contents, guards and records back. The outputs are kept even if the records are
    /// refused.
    pub(crate) fn collect(&mut self, job: &WireJob) -> WireRun {
        let mut run =
            WireRun { messages: self.messages.clone(), ..WireRun::ended(Ending::Completed) };
        for index in 0..job.buffers.len() {
            let mut contents = self.storage.contents(index).to_vec();
            self.resources.addresses.take_out(index, &mut contents);
            run.buffers.push(Bytes::from(contents));
            let changes = self.storage.guard_changes(index).into_iter();
            run.trespasses.extend(changes.map(|change| Trespass {
                buffer: index as u32,
                side: change.side,
                distance: change.distance,
                bytes: change.bytes,
            }));
            run.trespasses.extend(strays(job, index, &run.buffers[index].0));
        }
        match self.trusted_records(job) {
            Ok((records, invocations)) => (run.records, run.invocations) = (records, invocations),
            Err(refused) => run.ending = refused,
        }
        run
    }

    fn trusted_records(
        &mut self,
        job: &WireJob,
    ) -> Result<(Vec<WireRecords>, Vec<WireInvocations>), Ending> {
        let mut invocations = Vec::new();
        let mut united: BTreeMap<u32, Records> = BTreeMap::new();
        for records in &self.records {
            let (new, by_invocation) =
                self.storage.trusted_records(records, &job.asked).map_err(|why| {
                    let (kernel, dispatch) =
                        (&job.modules[records.module as usize].kernel, records.dispatch);
                    Ending::Undetermined(format!(
                        "records cannot be trusted: dispatch {dispatch} of kernel `{kernel}`: {why}"
                    ))
                })?;
            united.entry(records.module).or_default().merge(&new);
            invocations.extend(by_invocation.map(|found| WireInvocations {
                dispatch: records.dispatch as u32,
                local_size: found.local_size,
                by_bit: found.by_bit,
            }));
        }
        let sent = united.into_iter().map(|(module, records)| {
            let witnesses = records.witnesses.into_iter().collect();
            WireRecords { module, words: records.words, witnesses }
        });
        Ok((sent.collect(), invocations))
    }

    /// Hands back what passes of the same kind can use.
    pub(crate) fn retire(self, kept: &mut Kept) -> Result<(), CallFailure> {
        let Self { steps, resources, storage, pool, .. } = self;
        drop(steps);
        drop(resources);
        kept.take_back(storage, pool)
    }
}

/// Changes in a buffer where nothing binds it. A job with addresses can come to any byte.
fn strays(job: &WireJob, buffer: usize, contents: &[u8]) -> Option<Trespass> {
    let holds_image = job.images.iter().any(|image| image.buffer as usize == buffer);
    if holds_image || !job.addresses.is_empty() {
        return None;
    }
    let initial = job.buffers[buffer].0.as_slice();
    let unbound = unbound(job, buffer, initial.len());
    let mut changed =
        unbound.into_iter().flatten().filter(|place| initial[*place] != contents[*place]);
    let first = changed.next()?;
    let (buffer, distance, bytes) = (buffer as u32, first as u64, 1 + changed.count() as u64);
    Some(Trespass { buffer, side: Side::Within, distance, bytes })
}

/// The bytes of a buffer that no dispatch binds, in order.
fn unbound(job: &WireJob, buffer: usize, length: usize) -> Vec<Range<usize>> {
    let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
    let own = bindings.filter(|binding| binding.buffer as usize == buffer && binding.range > 0);
    let start = |binding: &WireBinding| (binding.offset + binding.dynamic_offset) as usize;
    let mut bound: Vec<(usize, usize)> =
        own.map(|binding| (start(binding), start(binding) + binding.range as usize)).collect();
    bound.sort_unstable();
    bound.push((length, length));
    let (mut free, mut end) = (Vec::new(), 0);
    for (from, to) in bound {
        if from > end {
            free.push(end..from.min(length));
        }
        end = end.max(to);
    }
    free
}

fn write_initial(
    test: &str,
    contents: &[Bytes],
    buffers: usize,
    records: &mut [DispatchRecords],
    resources: &Resources,
    storage: &mut Storage,
) {
    for index in 0..buffers {
        match contents.get(index) {
            Some(bytes) => storage.fill(index, &bytes.0),
            None => storage.clear(index),
        }
        resources.addresses.put(AddressPlace::Buffer(index as u32), storage.contents(index));
    }
    for records in records {
        records.nonce = nonce(test, records.dispatch);
        storage.fill(records.buffer, &records.initial());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_is_bound_or_unbound(ranges in proptest::collection::vec((0_u64..40, 1_u64..20, 0_u64..3), 0..5)) {
            let mut job = super::super::canary::job();
            let mut bindings = Vec::new();
            for (offset, range, dynamic_offset) in &ranges {
                let binding = storage_binding(0, 0, 0, *range);
                bindings.push(WireBinding { offset: *offset, dynamic_offset: *dynamic_offset, ..binding });
            }
            bindings.push(storage_binding(0, 1, 1, 64));
            job.dispatches[0].bindings = bindings;
            let free: Vec<usize> = unbound(&job, 0, 64).into_iter().flatten().collect();
            let is_bound = |place: &usize| ranges.iter().any(|(offset, range, dynamic)| {
                (offset + dynamic..offset + dynamic + range).contains(&(*place as u64))
            });
            prop_assert_eq!(free, (0..64).filter(|place| !is_bound(place)).collect::<Vec<_>>());
        }
    }
}
