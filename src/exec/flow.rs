//! What a dispatch can store to the buffers of its test.
//!
//! Knows: which range of which buffer stands behind a descriptor or a device address of a dispatch.
//! Promises: an image counts by the levels and layers that its view shows. Where it is not known
//! from where a kernel has an address, it may be any address that the test gives.
//! Does not cover: which bytes of a range are stored to.

use super::resource::{AddressPlace, JobView};
use super::{Job, JobBinding, JobDispatch};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::flow::{BufferRange, DispatchFlow, StoreFlow, StorePlace};
use vkcert_model::id::KernelName;
use vkcert_spirv::flow::{AddressOrigin, DescriptorPlace, FlowPlace, MemoryFlow};

/// Dispatch `number` of a job, whose kernel has these flows and names.
pub fn of_dispatch(
    job: &Job,
    number: usize,
    kernel: &KernelName,
    flows: &[MemoryFlow],
    names: &BindingNames,
) -> DispatchFlow {
    let dispatch_scope = DispatchScope { job, number, dispatch: &job.dispatches[number] };
    let store_flow = |flow: &MemoryFlow| StoreFlow {
        place: store_place(&flow.to, names),
        to: dispatch_scope.accessed_ranges(&flow.to),
        members: flow.members.iter().copied().collect(),
        from: flow
            .from
            .iter()
            .flat_map(|place| dispatch_scope.accessed_ranges(place))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    };
    DispatchFlow { kernel: *kernel, stores: flows.iter().map(store_flow).collect() }
}

/// What a kernel calls what is bound to it, by set and binding.
pub type BindingNames = BTreeMap<(u32, u32), String>;

fn store_place(to: &FlowPlace, names: &BindingNames) -> Option<StorePlace> {
    match to {
        FlowPlace::Descriptor(DescriptorPlace { set, binding, element: _ }) => Some(StorePlace {
            set: *set,
            binding: *binding,
            name: names.get(&(*set, *binding)).cloned(),
        }),
        FlowPlace::Addressed(_) => None,
    }
}

struct DispatchScope<'a> {
    job: &'a Job,
    number: usize,
    dispatch: &'a JobDispatch,
}

impl DispatchScope<'_> {
    fn accessed_ranges(&self, place: &FlowPlace) -> Vec<BufferRange> {
        let mut buffer_ranges: Vec<BufferRange> = match place {
            FlowPlace::Descriptor(place) => {
                self.bindings_at(place).flat_map(|binding| self.range_of(binding)).collect()
            }
            FlowPlace::Addressed(address_origins) => self
                .addressed_buffers(address_origins)
                .into_iter()
                .map(|buffer| self.whole_buffer(buffer))
                .collect(),
        };
        buffer_ranges.sort();
        buffer_ranges.dedup();
        buffer_ranges
    }

    fn bindings_at(&self, place: &DescriptorPlace) -> impl Iterator<Item = &JobBinding> {
        let DescriptorPlace { set, binding, element } = *place;
        let all_bindings = self.dispatch.bindings.iter();
        all_bindings.filter(move |job_binding| {
            (job_binding.set, job_binding.binding) == (set, binding)
                && element.is_none_or(|index| job_binding.array_index == index)
        })
    }

    fn range_of(&self, binding: &JobBinding) -> Vec<BufferRange> {
        let buffer_range = |offset, bytes| BufferRange {
            buffer: self.job.buffers[binding.buffer].name.clone(),
            offset,
            bytes,
        };
        match binding.view {
            JobView::Sampler(_) => Vec::new(),
            JobView::Bytes | JobView::Texels(_) => {
                vec![buffer_range(first_byte(binding), binding.range)]
            }
            JobView::Image(view) | JobView::Combined(view, _) => {
                let mut job_images = self.job.resources.images.iter();
                let bound_image =
                    job_images.find(|bound_image| bound_image.buffer as usize == binding.buffer);
                let image_shape = bound_image.expect("an image is bound").shape;
                let layer_range = view.layer..view.layer + view.layers;
                let level_ranges = (view.level..view.level + view.levels).filter_map(|level| {
                    let level_start = image_shape.layer_start(level, layer_range.start)?;
                    Some(buffer_range(
                        level_start,
                        image_shape.layer_start(level, layer_range.end)? - level_start,
                    ))
                });
                level_ranges.collect()
            }
        }
    }

    fn whole_buffer(&self, job_buffer: usize) -> BufferRange {
        let job_buffer = &self.job.buffers[job_buffer];
        BufferRange {
            buffer: job_buffer.name.clone(),
            offset: 0,
            bytes: job_buffer.bytes.len() as u64,
        }
    }

    /// The buffers that addresses held in these places name.
    fn addressed_buffers(&self, address_origins: &BTreeSet<AddressOrigin>) -> BTreeSet<usize> {
        let mut target_buffers: BTreeSet<usize> = address_origins
            .iter()
            .flat_map(|address_origin| self.targets_of(address_origin))
            .collect();
        if address_origins.contains(&AddressOrigin::Addressed) {
            // Addresses that stand behind addresses, however far.
            let mut pending_buffers: Vec<usize> = target_buffers.iter().copied().collect();
            while let Some(buffer_index) = pending_buffers.pop() {
                let further_targets = self.targets_held_by(buffer_index, |_| true).into_iter();
                pending_buffers.extend(
                    further_targets
                        .filter(|target| target_buffers.insert(*target))
                        .collect::<Vec<_>>(),
                );
            }
        }
        if target_buffers.is_empty() {
            target_buffers
                .extend(self.job.resources.addresses.iter().map(|address| address.target as usize));
        }
        target_buffers
    }

    fn targets_of(&self, held_targets: &AddressOrigin) -> BTreeSet<usize> {
        match held_targets {
            AddressOrigin::Addressed => BTreeSet::new(),
            AddressOrigin::PushConstants { offset } => {
                let address_place = AddressPlace::PushConstants(self.number as u32);
                let job_addresses = self
                    .job
                    .resources
                    .addresses
                    .iter()
                    .filter(|address| address.place == address_place);
                let job_addresses = job_addresses
                    .filter(|address| offset.is_none_or(|offset| address.at == offset));
                job_addresses.map(|address| address.target as usize).collect()
            }
            AddressOrigin::Descriptor { place: address_place, offset } => {
                let byte_bindings = self
                    .bindings_at(address_place)
                    .filter(|binding| binding.view == JobView::Bytes);
                let held_targets = byte_bindings.flat_map(|binding| {
                    let bound_start = first_byte(binding);
                    self.targets_held_by(binding.buffer, |byte_offset| {
                        offset.is_none_or(|offset| byte_offset == bound_start + offset)
                    })
                });
                held_targets.collect()
            }
        }
    }

    /// The buffers whose addresses a buffer holds at chosen bytes.
    fn targets_held_by(&self, buffer: usize, is_chosen: impl Fn(u64) -> bool) -> BTreeSet<usize> {
        let address_place = AddressPlace::Buffer(buffer as u32);
        let chosen_addresses = self
            .job
            .resources
            .addresses
            .iter()
            .filter(|address| address.place == address_place && is_chosen(address.at));
        chosen_addresses.map(|address| address.target as usize).collect()
    }
}

fn first_byte(binding: &JobBinding) -> u64 {
    binding.offset + binding.dynamic_offset
}
