//! What a dispatch is bound to: slots, shadows, and who watches its memory.

use super::early::Early;
use super::job_run::{Reading, Session};
use super::notes::over_memory;
use super::program_cache::Decoded;
use super::store_contents::{bound, leave_unwritten};
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

impl<'a> Session<'a> {
    pub(crate) fn record_binding(&self, module: usize) -> Option<&'a RecordBuffer> {
        match &self.job.modules[module].recording {
            ModuleRecording::Buffer(buffer) => Some(buffer),
            ModuleRecording::None | ModuleRecording::Markers(_) => None,
        }
    }

    /// The slot of every descriptor of the program.
    pub(crate) fn slots(
        &self,
        dispatch: &JobDispatch,
        program: &Program,
    ) -> Result<Vec<Option<BoundRange>>, Early> {
        let mut slots = Vec::new();
        for descriptor in &program.descriptors {
            if let (Some(buffer), Some(store)) =
                (self.record_binding(dispatch.module), self.record_stores[dispatch.module])
                && (buffer.set, buffer.binding) == (descriptor.set, descriptor.binding)
            {
                slots.push(Some(BoundRange::whole_store(store, self.stores[store].words.len())));
                continue;
            }
            let binding = dispatch.bindings.iter().find(|binding| {
                (binding.set, binding.binding, binding.array_index)
                    == (descriptor.set, descriptor.binding, descriptor.array_index)
            });
            let Some(binding) = binding else {
                if descriptor.may_be_unbound {
                    slots.push(None);
                    continue;
                }
                return Err(Early::Completion(Completion::Error {
                    reason: format!(
                        "`{}` (set {}, binding {}, array index {}) is used and not bound",
                        descriptor.name, descriptor.set, descriptor.binding, descriptor.array_index
                    ),
                }));
            };
            let slot = BoundRange::from_binding(binding, self.job).map_err(|error| {
                Early::Completion(Completion::Unsupported {
                    what: format!("`{}`: {error}", descriptor.name),
                })
            })?;
            if (descriptor.kept == MemoryClass::Buffer) != (slot.view == DescriptorView::Bytes) {
                let (name, class) = (&descriptor.name, binding.class.name());
                let reason = format!(
                    "a descriptor of class {class} is bound to `{name}`, which is of another kind"
                );
                return Err(Early::Completion(Completion::Error { reason }));
            }
            slots.push(Some(slot));
        }
        Ok(slots)
    }

    /// Whether every image instruction can do what it does with what is bound.
    pub(crate) fn check_images(
        &self,
        program: &Program,
        slots: &[Option<BoundRange>],
    ) -> Result<(), Early> {
        let shown = |descriptor: &u32| slots[*descriptor as usize].map(|slot| slot.view);
        let steps = program.blocks.iter().flat_map(|block| &block.steps);
        for step in steps {
            let LaneInstruction::Image(step) = &step.instruction else { continue };
            for image in step.image.descriptors.iter().filter_map(shown) {
                let own =
                    if let DescriptorView::Image(_, sampler) = image { sampler } else { None };
                let apart = step
                    .sampler
                    .iter()
                    .flat_map(|sampler| sampler.descriptors.iter())
                    .filter_map(shown);
                let mut samplers: Vec<Option<u32>> = apart
                    .map(|view| match view {
                        DescriptorView::Sampler(sampler) => Some(sampler),
                        DescriptorView::Image(_, sampler) => sampler,
                        DescriptorView::Bytes | DescriptorView::Texels(..) => None,
                    })
                    .collect();
                if samplers.is_empty() {
                    samplers.push(own);
                }
                for sampler in samplers {
                    let sampler = sampler
                        .and_then(|sampler| self.job.resources.samplers.get(sampler as usize));
                    image_view::check_binding(step, &image, sampler)
                        .map_err(|what| Early::Completion(Completion::Unsupported { what }))?;
                }
            }
        }
        Ok(())
    }

    /// Bytes of the smallest thing that is accessed by itself, by buffer: the program's own
    /// granule, or a texel.
    fn granules(program: &Program, slots: &[Option<BoundRange>]) -> BTreeMap<usize, u32> {
        let mut granules = BTreeMap::new();
        for slot in slots.iter().flatten() {
            let texel = slot
                .view
                .format()
                .map_or(4, |format| 1 << (format.texel_size() as u32).trailing_zeros().min(2));
            let granule = granules.entry(slot.buffer).or_insert(program.granule);
            *granule = texel.min(*granule);
        }
        granules
    }

    /// The buffers that the program writes, by number.
    fn written(&self, program: &Program, slots: &[Option<BoundRange>]) -> Vec<WrittenBuffer> {
        let mut wanted: BTreeMap<usize, AtomicUse> = BTreeMap::new();
        for (descriptor, slot) in program.descriptors.iter().zip(slots) {
            if let (true, Some(slot)) = (descriptor.written, slot) {
                wanted.entry(slot.buffer).or_insert(AtomicUse::PlainOnly);
            }
        }
        for (descriptor, slot) in program.descriptors.iter().zip(slots) {
            if let (true, Some(atomicity)) =
                (descriptor.atomics, slot.and_then(|slot| wanted.get_mut(&slot.buffer)))
            {
                *atomicity = AtomicUse::WithAtomics;
            }
        }
        let through_addresses = match program.addresses {
            Addressing::Reads => None,
            Addressing::Writes => Some(AtomicUse::PlainOnly),
            Addressing::Atomics => Some(AtomicUse::WithAtomics),
        };
        if let Some(atomicity) = through_addresses {
            (0..self.job.buffers.len()).for_each(|buffer| {
                let one = wanted.entry(buffer).or_insert(atomicity);
                *one = if atomicity == AtomicUse::WithAtomics { atomicity } else { *one };
            });
        }
        let checked = self.job.checks.has(FindingKind::DataRace);
        let granules = Self::granules(program, slots);
        let written = |(buffer, atomicity)| WrittenBuffer {
            buffer_index: buffer,
            atomicity,
            granule_bytes: granules.get(&buffer).copied().unwrap_or(program.granule),
            tracks_races: checked && !self.record_stores.contains(&Some(buffer)),
        };
        wanted.into_iter().map(written).collect()
    }

    /// What is to be noted of reads in the next dispatch.
    pub(crate) fn reads(
        &self,
        program: &Program,
        slots: &[Option<BoundRange>],
    ) -> Option<ReadTracker> {
        let Reading::Next(watched) = &self.reads else { return None };
        let granules = Self::granules(program, slots);
        let bytes =
            |buffer: usize| self.job.buffers.get(buffer).map_or(0, |buffer| buffer.bytes.len());
        ReadTracker::for_watched(watched, |buffer| {
            (bytes(buffer), granules.get(&buffer).copied().unwrap_or(program.granule))
        })
    }

    /// What is to be noted of descriptors that overlap although one is `restrict`.
    pub(crate) fn aliasing(
        &self,
        program: &Program,
        slots: &[Option<BoundRange>],
    ) -> Result<Option<Aliasing>, Early> {
        if !self.job.checks.has(FindingKind::UndefinedValue) {
            return Ok(None);
        }
        let bytes = |buffer: usize| self.stores[buffer].words.len() * 4;
        Aliasing::for_dispatch(program, slots, bytes)
            .map_err(|reason| Early::Completion(Completion::Undetermined { reason }))
    }

    /// Gives each buffer that the program writes a race shadow; checks the memory limit. Gives how
    /// the dispatch may be shared.
    pub(crate) fn shadows<'d>(
        &mut self,
        decoded: &'d Decoded,
        slots: &[Option<BoundRange>],
        settings: Settings,
    ) -> Result<Option<ParallelRun<'d>>, Early>
    where
        'a: 'd,
    {
        let program = &decoded.program;
        let written = self.written(program, slots);
        let watched = || written.iter().filter(|one| one.tracks_races);
        let mut bytes: u64 = self.stores.iter().map(|store| store.words.len() as u64 * 4).sum();
        bytes += working_bytes(program, settings.tile_width);
        bytes += watched()
            .map(|one| {
                RaceShadow::shadow_bytes(
                    self.stores[one.buffer_index].words.len(),
                    one.atomicity,
                    program,
                    one.granule_bytes,
                )
            })
            .sum::<u64>();
        let room = self.job.limits.memory_bytes.checked_sub(bytes);
        let room = room.ok_or_else(|| over_memory(bytes, self.job.limits.memory_bytes))?;
        for one in watched() {
            let store = &mut self.stores[one.buffer_index];
            store.shadow =
                Some(RaceShadow::new(store.words.len(), one.atomicity, one.granule_bytes));
        }
        let alone = settings.variation.is_some()
            || settings.following.schedule.workgroups != Order::InOrder;
        // Of different workgroups they race, whatever comes together of them.
        let narrow =
            matches!(&program.order, OrderUse::Exact(places) if places.has_narrow_atomics());
        let jobs = if alone || narrow { Jobs::One } else { settings.jobs };
        let dependent = &decoded.dependent;
        Ok((jobs != Jobs::One).then_some(ParallelRun {
            jobs,
            written_buffers: written,
            free_bytes: room,
            depends_on_order: dependent,
            counters: &self.programs.counters,
        }))
    }

    pub(crate) fn contents(&self, buffers: &[JobBuffer]) -> Vec<BufferContents> {
        let left = |(buffer, store): (&JobBuffer, &Store)| {
            let mut bytes = store.leading_bytes(buffer.bytes.len());
            if self.settings.variation.is_some() {
                leave_unwritten(&mut bytes, buffer, store);
            }
            Arc::new(bytes)
        };
        buffers.iter().zip(&self.stores).map(left).collect()
    }

    /// What makes checks unnecessary in this dispatch.
    pub(crate) fn known(
        &self,
        dispatch: &JobDispatch,
        push_constants: &Store,
        subgroup_size: u32,
    ) -> DispatchFacts {
        let defined = dispatch
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
        let looked_for = [FindingKind::UninitializedRead, FindingKind::UndefinedValue];
        let looks = looked_for.into_iter().any(|kind| self.job.checks.has(kind));
        let checked = if looks { DefinednessCheck::Yes } else { DefinednessCheck::No };
        DispatchFacts {
            push_constants_defined: push_constants.undefined.is_none(),
            defined_descriptors: defined,
            undefined_checked: checked,
            memory_model: self.settings.memory_model,
            variation: self.settings.variation,
            bound_lengths: bound(dispatch),
            subgroup_size: Some(subgroup_size),
        }
    }
}
