//! What a dispatch is bound to: slots, shadows, and who watches its memory.

use super::early::EarlyEnd;
use super::job_run::{JobSession, ReadTracking};
use super::notes::memory_limit_end;
use super::program_cache::DecodedProgram;
use super::store_contents::{descriptor_counts, leave_unwritten};
use crate::decode::{DefinednessCheck, DispatchFacts};
use crate::ir::{Addressing, LaneInstruction, MemoryClass, OrderUse, Program};
use crate::machine::speculative_parallel::{ParallelRun, WrittenBuffer};
use crate::machine::working_bytes;
use crate::memory::aliasing::Aliasing;
use crate::memory::image_view;
use crate::memory::image_view::DescriptorView;
use crate::memory::race_shadow::{AtomicUse, RaceShadow};
use crate::memory::read_tracking::ReadTracker;
use crate::memory::store::{BoundRange, Store};
use crate::settings::{Jobs, Settings};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_exec::{BufferContents, Completion, JobBuffer, JobDispatch, ModuleRecording};
use vkcert_model::finding::FindingKind;
use vkcert_model::records::RecordBuffer;
use vkcert_model::schedule::Order;

impl<'a> JobSession<'a> {
    pub(crate) fn record_binding(&self, module_index: usize) -> Option<&'a RecordBuffer> {
        match &self.job.modules[module_index].recording {
            ModuleRecording::Buffer(buffer) => Some(buffer),
            ModuleRecording::None | ModuleRecording::Markers(_) => None,
        }
    }

    /// The slot of every descriptor of the program.
    pub(crate) fn bound_slots(
        &self,
        dispatch: &JobDispatch,
        program: &Program,
    ) -> Result<Vec<Option<BoundRange>>, EarlyEnd> {
        let mut found_slots = Vec::new();
        for descriptor in &program.descriptors {
            if let (Some(record_buffer), Some(record_store)) =
                (self.record_binding(dispatch.module), self.record_stores[dispatch.module])
                && (record_buffer.set, record_buffer.binding)
                    == (descriptor.set, descriptor.binding)
            {
                found_slots.push(Some(BoundRange::whole_store(
                    record_store,
                    self.stores[record_store].words.len(),
                )));
                continue;
            }
            let job_binding = dispatch.bindings.iter().find(|job_binding| {
                (job_binding.set, job_binding.binding, job_binding.array_index)
                    == (descriptor.set, descriptor.binding, descriptor.array_index)
            });
            let Some(job_binding) = job_binding else {
                if descriptor.may_be_unbound {
                    found_slots.push(None);
                    continue;
                }
                return Err(EarlyEnd::Completion(Completion::Error {
                    reason: format!(
                        "`{}` (set {}, binding {}, array index {}) is used and not bound",
                        descriptor.name, descriptor.set, descriptor.binding, descriptor.array_index
                    ),
                }));
            };
            let bound_slot = BoundRange::from_binding(job_binding, self.job).map_err(|error| {
                EarlyEnd::Completion(Completion::Unsupported {
                    what: format!("`{}`: {error}", descriptor.name),
                })
            })?;
            if (descriptor.kept == MemoryClass::Buffer)
                != (bound_slot.view == DescriptorView::Bytes)
            {
                let (descriptor_name, class_name) = (&descriptor.name, job_binding.class.name());
                let reason = format!(
                    "a descriptor of class {class_name} is bound to `{descriptor_name}`, which is of another kind"
                );
                return Err(EarlyEnd::Completion(Completion::Error { reason }));
            }
            found_slots.push(Some(bound_slot));
        }
        Ok(found_slots)
    }

    /// Whether every image instruction can do what it does with what is bound.
    pub(crate) fn check_images(
        &self,
        program: &Program,
        bound_slots: &[Option<BoundRange>],
    ) -> Result<(), EarlyEnd> {
        let view_of = |descriptor: &u32| bound_slots[*descriptor as usize].map(|slot| slot.view);
        let all_steps = program.blocks.iter().flat_map(|block| &block.steps);
        for step in all_steps {
            let LaneInstruction::Image(step) = &step.instruction else { continue };
            for image in step.image.descriptors.iter().filter_map(view_of) {
                let combined_sampler =
                    if let DescriptorView::Image(_, sampler) = image { sampler } else { None };
                let separate_views = step
                    .sampler
                    .iter()
                    .flat_map(|sampler| sampler.descriptors.iter())
                    .filter_map(view_of);
                let mut used_samplers: Vec<Option<u32>> = separate_views
                    .map(|view| match view {
                        DescriptorView::Sampler(sampler) => Some(sampler),
                        DescriptorView::Image(_, sampler) => sampler,
                        DescriptorView::Bytes | DescriptorView::Texels(..) => None,
                    })
                    .collect();
                if used_samplers.is_empty() {
                    used_samplers.push(combined_sampler);
                }
                for sampler in used_samplers {
                    let sampler = sampler
                        .and_then(|sampler| self.job.resources.samplers.get(sampler as usize));
                    image_view::check_binding(step, &image, sampler).map_err(
                        |unsupported_use| {
                            EarlyEnd::Completion(Completion::Unsupported { what: unsupported_use })
                        },
                    )?;
                }
            }
        }
        Ok(())
    }

    /// Bytes of the smallest thing that is accessed by itself, by buffer: the program's own
    /// granule, or a texel.
    pub(super) fn buffer_granules(
        program: &Program,
        bound_slots: &[Option<BoundRange>],
    ) -> BTreeMap<usize, u32> {
        let mut by_buffer = BTreeMap::new();
        for slot in bound_slots.iter().flatten() {
            let texel_granule = slot
                .view
                .format()
                .map_or(4, |format| 1 << (format.texel_size() as u32).trailing_zeros().min(2));
            let buffer_granule = by_buffer.entry(slot.buffer).or_insert(program.granule);
            *buffer_granule = texel_granule.min(*buffer_granule);
        }
        by_buffer
    }

    /// The buffers that the program writes, by number.
    fn written_buffers(
        &self,
        program: &Program,
        bound_slots: &[Option<BoundRange>],
    ) -> Vec<WrittenBuffer> {
        let mut atomicity_by_buffer: BTreeMap<usize, AtomicUse> = BTreeMap::new();
        for (descriptor, slot) in program.descriptors.iter().zip(bound_slots) {
            if let (true, Some(slot)) = (descriptor.written, slot) {
                atomicity_by_buffer.entry(slot.buffer).or_insert(AtomicUse::PlainOnly);
            }
        }
        for (descriptor, slot) in program.descriptors.iter().zip(bound_slots) {
            if let (true, Some(atomicity)) = (
                descriptor.atomics,
                slot.and_then(|slot| atomicity_by_buffer.get_mut(&slot.buffer)),
            ) {
                *atomicity = AtomicUse::WithAtomics;
            }
        }
        let address_atomicity = match program.addresses {
            Addressing::Reads => None,
            Addressing::Writes => Some(AtomicUse::PlainOnly),
            Addressing::Atomics => Some(AtomicUse::WithAtomics),
        };
        if let Some(atomicity) = address_atomicity {
            (0..self.job.buffers.len()).for_each(|buffer_index| {
                let buffer_atomicity = atomicity_by_buffer.entry(buffer_index).or_insert(atomicity);
                *buffer_atomicity =
                    if atomicity == AtomicUse::WithAtomics { atomicity } else { *buffer_atomicity };
            });
        }
        let checks_races = self.checks.has(FindingKind::DataRace);
        let buffer_granules = Self::buffer_granules(program, bound_slots);
        let written_buffer = |(buffer_index, atomicity)| WrittenBuffer {
            buffer_index,
            atomicity,
            granule_bytes: buffer_granules.get(&buffer_index).copied().unwrap_or(program.granule),
            tracks_races: checks_races && !self.record_stores.contains(&Some(buffer_index)),
        };
        atomicity_by_buffer.into_iter().map(written_buffer).collect()
    }

    /// What is to be noted of reads in the next dispatch.
    pub(crate) fn tracked_reads(
        &self,
        program: &Program,
        bound_slots: &[Option<BoundRange>],
    ) -> Option<ReadTracker> {
        let ReadTracking::Requested(watched_reads) = &self.read_tracking else { return None };
        let buffer_granules = Self::buffer_granules(program, bound_slots);
        let byte_count = |buffer_index: usize| {
            self.job.buffers.get(buffer_index).map_or(0, |job_buffer| job_buffer.bytes.len())
        };
        ReadTracker::for_watched(watched_reads, |buffer_index| {
            (
                byte_count(buffer_index),
                buffer_granules.get(&buffer_index).copied().unwrap_or(program.granule),
            )
        })
    }

    /// What is to be noted of descriptors that overlap although one is `restrict`.
    pub(crate) fn tracked_aliasing(
        &self,
        program: &Program,
        bound_slots: &[Option<BoundRange>],
    ) -> Result<Option<Aliasing>, EarlyEnd> {
        if !self.checks.has(FindingKind::UndefinedValue) {
            return Ok(None);
        }
        let store_bytes = |buffer_index: usize| self.stores[buffer_index].words.len() * 4;
        Aliasing::for_dispatch(program, bound_slots, store_bytes)
            .map_err(|reason| EarlyEnd::Completion(Completion::Undetermined { reason }))
    }

    /// Gives each buffer that the program writes a race shadow; checks the memory limit. Gives how
    /// the dispatch may be shared.
    pub(crate) fn add_race_shadows<'d>(
        &mut self,
        decoded_program: &'d DecodedProgram,
        bound_slots: &[Option<BoundRange>],
        settings: Settings,
    ) -> Result<Option<ParallelRun<'d>>, EarlyEnd>
    where
        'a: 'd,
    {
        let program = &decoded_program.program;
        let written_buffers = self.written_buffers(program, bound_slots);
        let tracked_buffers =
            || written_buffers.iter().filter(|written_buffer| written_buffer.tracks_races);
        let mut needed_bytes: u64 =
            self.stores.iter().map(|store| store.words.len() as u64 * 4).sum();
        needed_bytes += working_bytes(program, settings.tile_width);
        needed_bytes += tracked_buffers()
            .map(|written_buffer| {
                RaceShadow::shadow_bytes(
                    self.stores[written_buffer.buffer_index].words.len(),
                    written_buffer.atomicity,
                    program,
                    written_buffer.granule_bytes,
                )
            })
            .sum::<u64>();
        let free_bytes = self.job.limits.memory_bytes.checked_sub(needed_bytes);
        let free_bytes = free_bytes
            .ok_or_else(|| memory_limit_end(needed_bytes, self.job.limits.memory_bytes))?;
        for written_buffer in tracked_buffers() {
            let store = &mut self.stores[written_buffer.buffer_index];
            store.shadow = Some(RaceShadow::new(store.words.len(), written_buffer.granule_bytes));
        }
        let is_ordered = settings.variation.is_some()
            || settings.following.schedule.workgroups != Order::InOrder;
        // Of different workgroups they race, whatever comes together of them.
        let narrow =
            matches!(&program.order, OrderUse::Exact(places) if places.has_narrow_atomics());
        let jobs = if is_ordered || narrow { Jobs::One } else { settings.jobs };
        let depends_on_order = &decoded_program.depends_on_order;
        Ok((jobs != Jobs::One).then_some(ParallelRun {
            jobs,
            written_buffers,
            free_bytes,
            depends_on_order,
            counters: &self.programs.counters,
        }))
    }

    pub(crate) fn buffer_contents(&self, buffers: &[JobBuffer]) -> Vec<BufferContents> {
        let bytes_left = |(buffer, store): (&JobBuffer, &Store)| {
            let mut stored_bytes = store.leading_bytes(buffer.bytes.len());
            if self.settings.variation.is_some() {
                leave_unwritten(&mut stored_bytes, buffer, store);
            }
            Arc::new(stored_bytes)
        };
        buffers.iter().zip(&self.stores).map(bytes_left).collect()
    }

    /// What makes checks unnecessary in this dispatch.
    pub(crate) fn known_facts(
        &self,
        dispatch: &JobDispatch,
        push_constants: &Store,
        subgroup_size: u32,
    ) -> DispatchFacts {
        let defined_bindings = dispatch
            .bindings
            .iter()
            .filter(|binding| {
                self.stores.get(binding.buffer).is_some_and(|store| store.undefined.is_none())
            })
            .map(|binding| (binding.set, binding.binding, binding.array_index))
            .chain(
                self.record_binding(dispatch.module).map(|buffer| (buffer.set, buffer.binding, 0)),
            )
            .collect();
        let undefined_kinds = [FindingKind::UninitializedRead, FindingKind::UndefinedValue];
        let checks_undefined = undefined_kinds.into_iter().any(|kind| self.checks.has(kind));
        let undefined_checked =
            if checks_undefined { DefinednessCheck::Yes } else { DefinednessCheck::No };
        DispatchFacts {
            push_constants_defined: push_constants.undefined.is_none(),
            defined_descriptors: defined_bindings,
            undefined_checked,
            memory_model: self.settings.memory_model,
            variation: self.settings.variation,
            bound_lengths: descriptor_counts(dispatch),
            subgroup_size: Some(subgroup_size),
        }
    }
}
