//! One pass of a job over the device: its dispatches with everything they need.
//!
//! Knows: what must exist before the first dispatch, in which order it is made, and what is read
//! back after the last.
//! Promises: a pass starts with freshly written buffers, guards and nonces, however often it is
//! run; everything is known to fit before the driver sees the first object; the records of a
//! dispatch whose canary word is wrong are refused.
//! Does not cover: in which order passes run (`session`).

use super::commands::{Commands, RecordedDispatch, RecordedStep};
use super::descriptors::DescriptorPool;
use super::device::{CallFailure, Device};
use super::fit::{self, DescriptorLayout};
use super::image::Copying;
use super::kept::KeptResources;
use super::memory::{BufferStorage, Placement};
use super::pipeline::{Pipeline, PipelineCaches, PipelineKey};
pub(super) use super::protocol::storage_binding;
use super::protocol::{
    Bytes, Ending, Side, Trespass, WireBinding, WireDispatch, WireInvocations, WireJob,
    WireMessage, WireRecords, WireRun,
};
use super::records::{DispatchRecords, dispatch_nonce, record_buffers};
use super::resources::JobResources;
use super::stop::JobStop;
use super::{fit_limits, image_fit};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use vkcert_exec::resource::AddressPlace;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::records::Records;
use vkcert_spirv::interface::DeviceNeeds;

/// What passes are made with.
pub(crate) struct PassBuilder<'a> {
    pub device: &'a Rc<Device>,
    pub pipelines: &'a mut PipelineCaches,
    pub kept_resources: &'a mut KeptResources,
    pub commands: &'a Commands,
}

pub(crate) struct Pass {
    pub dispatches: Vec<RecordedDispatch>,
    /// Recorded, one for each dispatch; images are copied in the first and the last.
    pub steps: Vec<RecordedStep>,
    record_buffers: Vec<DispatchRecords>,
    /// The job's own; the record buffers lie behind them.
    buffer_count: usize,
    /// Goes before the storage that its views show.
    pub resources: JobResources,
    pub storage: BufferStorage,
    /// Holds the descriptor sets of the dispatches.
    descriptor_pool: DescriptorPool,
    /// Said while all of this was made.
    messages: Vec<WireMessage>,
}

impl PassBuilder<'_> {
    /// A pass of a job that lies where the host reads fast, recorded.
    pub(crate) fn recorded_pass(&mut self, job: &WireJob) -> Result<Pass, JobStop> {
        let mut new_pass = self.prepare_pass(job, Placement::ReadBack)?;
        let last_index = new_pass.dispatches.len().saturating_sub(1);
        for (dispatch_index, dispatch) in new_pass.dispatches.iter().enumerate() {
            let image_copies = |copying| {
                (new_pass.resources.has_images()).then_some((
                    &new_pass.resources,
                    &new_pass.storage,
                    copying,
                ))
            };
            let copies_before = image_copies(Copying::IntoImages).filter(|_| dispatch_index == 0);
            let copies_after =
                image_copies(Copying::IntoBuffers).filter(|_| dispatch_index == last_index);
            new_pass.steps.push(self.commands.record_step(
                dispatch,
                copies_before,
                copies_after,
            )?);
        }
        new_pass.messages.extend(self.device.instance.messages.take_messages());
        Ok(new_pass)
    }

    /// A pass of a job, not recorded.
    pub(crate) fn prepare_pass(
        &mut self,
        job: &WireJob,
        placement: Placement,
    ) -> Result<Pass, JobStop> {
        let all_records = record_buffers(job, |dispatch| self.local_size(job, dispatch))?;
        let mut buffer_lengths: Vec<usize> =
            job.buffers.iter().map(|buffer| buffer.0.len()).collect();
        buffer_lengths
            .extend(all_records.iter().map(|dispatch_records| dispatch_records.byte_count));
        let mut dispatch_plans = Vec::with_capacity(job.dispatches.len());
        for (dispatch_index, dispatch) in job.dispatches.iter().enumerate() {
            let dispatch_records = all_records
                .iter()
                .find(|dispatch_records| dispatch_records.dispatch_index == dispatch_index);
            dispatch_plans.push(self.plan_dispatch(
                job,
                dispatch,
                dispatch_records,
                &buffer_lengths,
            )?);
        }
        image_fit::check_resources(self.device, job)?;
        // Everything is known to fit before the driver sees the first object of the job.
        let mut messages = self.device.instance.messages.take_messages();
        let mut pipelines = Vec::with_capacity(dispatch_plans.len());
        for plan in &dispatch_plans {
            let pipeline = self.pipelines.pipeline_for(&plan.pipeline_key, &plan.device_needs)?;
            messages.extend(pipeline.messages.iter().cloned());
            messages.extend(self.device.instance.messages.take_messages());
            pipelines.push(pipeline);
        }
        let storage = match placement {
            Placement::ReadBack => self.kept_resources.storage_for(&buffer_lengths)?,
            Placement::Near => {
                BufferStorage::create_buffers(self.device, &buffer_lengths, placement, None)?
            }
        };
        let layouts: Vec<&DescriptorLayout> =
            dispatch_plans.iter().map(|plan| &plan.pipeline_key.layout).collect();
        let mut descriptor_pool = self.kept_resources.pool_for(&layouts)?;
        let mut resources = JobResources::create_resources(self.device, job, &storage)?;
        let mut dispatches = Vec::with_capacity(dispatch_plans.len());
        for (dispatch_index, (plan, pipeline)) in dispatch_plans.iter().zip(pipelines).enumerate() {
            dispatches.push(plan.ready_dispatch(
                dispatch_index as u32,
                pipeline,
                &storage,
                &mut resources,
                &mut descriptor_pool,
            )?);
        }
        let (no_steps, buffer_count) = (Vec::new(), job.buffers.len());
        Ok(Pass {
            dispatches,
            steps: no_steps,
            record_buffers: all_records,
            buffer_count,
            resources,
            storage,
            descriptor_pool,
            messages,
        })
    }

    /// The local size of a dispatch's module under its specialization.
    fn local_size(&mut self, job: &WireJob, dispatch_index: usize) -> Option<[u32; 3]> {
        let dispatch_index = &job.dispatches[dispatch_index];
        let module = job.modules.get(dispatch_index.module as usize)?;
        let specialization_values = dispatch_index.specialization.iter().copied().collect();
        let program = self.pipelines.programs.get_mut(&module.digest)?;
        program.needs(&dispatch_index.entry, &specialization_values)?.local_size
    }

    /// Checks one dispatch and settles its layout and pipeline.
    fn plan_dispatch<'a>(
        &mut self,
        job: &'a WireJob,
        dispatch: &'a WireDispatch,
        dispatch_records: Option<&DispatchRecords>,
        buffer_lengths: &[usize],
    ) -> Result<DispatchPlan<'a>, Ending> {
        let missing_module =
            || Ending::Error("a dispatch names a module that the job does not have".to_owned());
        let module = job.modules.get(dispatch.module as usize).ok_or_else(missing_module)?;
        let specialization: BTreeMap<u32, u64> = dispatch.specialization.iter().copied().collect();
        let program = self.pipelines.programs.get_mut(&module.digest).ok_or_else(missing_module)?;
        let device_needs = program.needs(&dispatch.entry, &specialization).ok_or_else(|| {
            Ending::Error(format!(
                "kernel `{}` has no entry point `{}`",
                module.kernel, dispatch.entry
            ))
        })?;
        fit::check_dispatch(self.device, &device_needs, dispatch)?;
        let mut all_bindings = dispatch.bindings.clone();
        if let (Some(dispatch_records), Some(record_slot)) = (dispatch_records, module.records) {
            all_bindings.push(storage_binding(
                record_slot.set,
                record_slot.binding,
                dispatch_records.buffer_index as u32,
                dispatch_records.byte_count as u64,
            ));
        }
        fit_limits::check_ranges(self.device, &all_bindings, buffer_lengths)?;
        image_fit::check_views(self.device, &device_needs, job, &all_bindings)?;
        let descriptor_layout = DescriptorLayout::for_bindings(
            self.device,
            &device_needs,
            &all_bindings,
            fit::push_constant_size(&device_needs, dispatch),
        )?;
        let pipeline_key = PipelineKey {
            digest: module.digest,
            entry: dispatch.entry.clone(),
            specialization,
            layout: descriptor_layout,
            subgroup_size: dispatch.subgroup_size,
        };
        Ok(DispatchPlan { dispatch, device_needs, pipeline_key, bindings: all_bindings })
    }
}

/// A dispatch that is known to fit.
struct DispatchPlan<'a> {
    dispatch: &'a WireDispatch,
    device_needs: Rc<DeviceNeeds>,
    pipeline_key: PipelineKey,
    /// The test's bindings and the record buffer's.
    bindings: Vec<WireBinding>,
}

impl DispatchPlan<'_> {
    fn ready_dispatch(
        &self,
        dispatch_index: u32,
        pipeline: Rc<Pipeline>,
        storage: &BufferStorage,
        resources: &mut JobResources,
        descriptor_pool: &mut DescriptorPool,
    ) -> Result<RecordedDispatch, JobStop> {
        let descriptor_sets = descriptor_pool.allocate_sets(&pipeline.layout.sets)?;
        for binding in &self.bindings {
            descriptor_pool.write_descriptor(
                descriptor_sets[binding.set as usize],
                binding,
                &resources.descriptor_for(binding, storage)?,
            );
        }
        let mut push_constants = self.dispatch.push_constants.0.to_vec();
        push_constants.resize(self.pipeline_key.layout.push_constants as usize, 0xCD);
        resources
            .addresses
            .insert_addresses(AddressPlace::PushConstants(dispatch_index), &mut push_constants);
        let (dynamic_offsets, workgroup_counts) = (self.dynamic_offsets(), self.dispatch.groups);
        Ok(RecordedDispatch {
            pipeline,
            sets: descriptor_sets,
            dynamic_offsets,
            push_constants,
            groups: workgroup_counts,
        })
    }

    /// In order of set, binding and array element (Vulkan specification, vkCmdBindDescriptorSets).
    fn dynamic_offsets(&self) -> Vec<u32> {
        let is_dynamic = |class| {
            matches!(class, DescriptorClass::StorageDynamic | DescriptorClass::UniformDynamic)
        };
        let dynamic_bindings = self.bindings.iter().filter(|binding| is_dynamic(binding.class));
        let ordered_offsets: BTreeMap<_, _> = dynamic_bindings
            .map(|b| ((b.set, b.binding, b.array_index), b.dynamic_offset as u32))
            .collect();
        ordered_offsets.into_values().collect()
    }
}

impl Pass {
    /// Writes the contents of a test's buffers, zero into buffers that the test does not have,
    /// nonces and guards.
    pub(crate) fn fill_buffers(&mut self, test_name: &str, initial_contents: &[Bytes]) {
        write_initial(
            test_name,
            initial_contents,
            self.buffer_count,
            &mut self.record_buffers,
            &self.resources,
            &mut self.storage,
        );
    }

    /// The same into another storage with buffers of the same lengths.
    pub(crate) fn fill_storage(
        &mut self,
        test_name: &str,
        initial_contents: &[Bytes],
        storage: &mut BufferStorage,
    ) {
        write_initial(
            test_name,
            initial_contents,
            self.buffer_count,
            &mut self.record_buffers,
            &self.resources,
            storage,
        );
    }

    /// Changes the last byte of the job's last buffer, so that a test can show that the change is
    /// found.
    pub(crate) fn disturb_last(&mut self) {
        if let Some(byte) = self
            .buffer_count
            .checked_sub(1)
            .and_then(|last_buffer| self.storage.buffer_contents(last_buffer).last_mut())
        {
            *byte ^= 0xFF;
        }
    }

    /// The final contents of a buffer.
    pub(crate) fn buffer_contents(&mut self, buffer_index: usize) -> &[u8] {
        self.storage.buffer_contents(buffer_index)
    }

    /// Reads contents, guards and records back. The outputs are kept even if the records are
    /// refused.
    pub(crate) fn collect_run(&mut self, job: &WireJob) -> WireRun {
        let mut run =
            WireRun { messages: self.messages.clone(), ..WireRun::ended(Ending::Completed) };
        for buffer_index in 0..job.buffers.len() {
            let mut buffer_contents = self.storage.buffer_contents(buffer_index).to_vec();
            self.resources.addresses.replace_by_symbols(buffer_index, &mut buffer_contents);
            run.buffers.push(Bytes::from(buffer_contents));
            let guard_changes = self.storage.guard_changes(buffer_index).into_iter();
            run.trespasses.extend(guard_changes.map(|guard_change| Trespass {
                buffer: buffer_index as u32,
                side: guard_change.side,
                distance: guard_change.distance,
                bytes: guard_change.bytes,
            }));
            run.trespasses.extend(unbound_changes(job, buffer_index, &run.buffers[buffer_index].0));
        }
        match self.trusted_records(job) {
            Ok((records, invocations)) => (run.records, run.invocations) = (records, invocations),
            Err(refused_ending) => run.ending = refused_ending,
        }
        run
    }

    fn trusted_records(
        &mut self,
        job: &WireJob,
    ) -> Result<(Vec<WireRecords>, Vec<WireInvocations>), Ending> {
        let mut invocations = Vec::new();
        let mut records_by_module: BTreeMap<u32, Records> = BTreeMap::new();
        for records in &self.record_buffers {
            let (new_records, by_invocation) =
                self.storage.trusted_records(records, &job.asked).map_err(|distrust_reason| {
                    let (kernel, dispatch) = (
                        &job.modules[records.module_index as usize].kernel,
                        records.dispatch_index,
                    );
                    Ending::Undetermined(format!(
                        "records cannot be trusted: dispatch {dispatch} of kernel `{kernel}`: {distrust_reason}"
                    ))
                })?;
            records_by_module.entry(records.module_index).or_default().merge(&new_records);
            invocations.extend(by_invocation.map(|invocation_records| WireInvocations {
                dispatch: records.dispatch_index as u32,
                local_size: invocation_records.local_size,
                by_bit: invocation_records.by_bit,
            }));
        }
        let sent_records = records_by_module.into_iter().map(|(module, records)| {
            let witnesses = records.witnesses.into_iter().collect();
            WireRecords { module, words: records.words, witnesses }
        });
        Ok((sent_records.collect(), invocations))
    }

    /// Hands back what passes of the same kind can use.
    pub(crate) fn retire_pass(self, kept_resources: &mut KeptResources) -> Result<(), CallFailure> {
        let Self { steps, resources, storage, descriptor_pool: pool, .. } = self;
        drop(steps);
        drop(resources);
        kept_resources.take_back(storage, pool)
    }
}

/// Changes in a buffer where nothing binds it. A job with addresses can come to any byte.
fn unbound_changes(job: &WireJob, buffer_index: usize, contents: &[u8]) -> Option<Trespass> {
    let holds_image = job.images.iter().any(|image| image.buffer as usize == buffer_index);
    if holds_image || !job.addresses.is_empty() {
        return None;
    }
    let initial_bytes = job.buffers[buffer_index].0.as_slice();
    let unbound_ranges = unbound_ranges(job, buffer_index, initial_bytes.len());
    let mut changed_bytes = unbound_ranges
        .into_iter()
        .flatten()
        .filter(|byte_index| initial_bytes[*byte_index] != contents[*byte_index]);
    let first_changed = changed_bytes.next()?;
    let (buffer_index, distance, changed_count) =
        (buffer_index as u32, first_changed as u64, 1 + changed_bytes.count() as u64);
    Some(Trespass { buffer: buffer_index, side: Side::Within, distance, bytes: changed_count })
}

/// The bytes of a buffer that no dispatch binds, in order.
fn unbound_ranges(job: &WireJob, buffer_index: usize, buffer_length: usize) -> Vec<Range<usize>> {
    let bindings = job.dispatches.iter().flat_map(|dispatch| &dispatch.bindings);
    let own_bindings =
        bindings.filter(|binding| binding.buffer as usize == buffer_index && binding.range > 0);
    let bound_start = |binding: &WireBinding| (binding.offset + binding.dynamic_offset) as usize;
    let mut bound_ranges: Vec<(usize, usize)> = own_bindings
        .map(|binding| (bound_start(binding), bound_start(binding) + binding.range as usize))
        .collect();
    bound_ranges.sort_unstable();
    bound_ranges.push((buffer_length, buffer_length));
    let (mut free_ranges, mut bound_end) = (Vec::new(), 0);
    for (range_start, range_end) in bound_ranges {
        if range_start > bound_end {
            free_ranges.push(bound_end..range_start.min(buffer_length));
        }
        bound_end = bound_end.max(range_end);
    }
    free_ranges
}

fn write_initial(
    test_name: &str,
    initial_contents: &[Bytes],
    buffer_count: usize,
    all_records: &mut [DispatchRecords],
    resources: &JobResources,
    storage: &mut BufferStorage,
) {
    for buffer_index in 0..buffer_count {
        match initial_contents.get(buffer_index) {
            Some(bytes) => storage.fill_buffer(buffer_index, &bytes.0),
            None => storage.clear_buffer(buffer_index),
        }
        resources.addresses.insert_addresses(
            AddressPlace::Buffer(buffer_index as u32),
            storage.buffer_contents(buffer_index),
        );
    }
    for dispatch_records in all_records {
        dispatch_records.nonce = dispatch_nonce(test_name, dispatch_records.dispatch_index);
        storage.fill_buffer(dispatch_records.buffer_index, &dispatch_records.initial_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_is_bound_or_unbound(ranges in proptest::collection::vec((0_u64..40, 1_u64..20, 0_u64..3), 0..5)) {
            let mut job = super::super::canary::canary_job();
            let mut bindings = Vec::new();
            for (offset, range, dynamic_offset) in &ranges {
                let binding = storage_binding(0, 0, 0, *range);
                bindings.push(WireBinding { offset: *offset, dynamic_offset: *dynamic_offset, ..binding });
            }
            bindings.push(storage_binding(0, 1, 1, 64));
            job.dispatches[0].bindings = bindings;
            let free: Vec<usize> = unbound_ranges(&job, 0, 64).into_iter().flatten().collect();
            let is_bound = |place: &usize| ranges.iter().any(|(offset, range, dynamic)| {
                (offset + dynamic..offset + dynamic + range).contains(&(*place as u64))
            });
            prop_assert_eq!(free, (0..64).filter(|place| !is_bound(place)).collect::<Vec<_>>());
        }
    }
}
