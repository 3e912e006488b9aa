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
    let scope = Scope { job, number, dispatch: &job.dispatches[number] };
    let store = |flow: &MemoryFlow| StoreFlow {
        place: place(&flow.to, names),
        to: scope.ranges(&flow.to),
        members: flow.members.iter().copied().collect(),
        from: flow
            .from
            .iter()
            .flat_map(|place| scope.ranges(place))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    };
    DispatchFlow { kernel: *kernel, stores: flows.iter().map(store).collect() }
}

/// What a kernel calls what is bound to it, by set and binding.
pub type BindingNames = BTreeMap<(u32, u32), String>;

fn place(to: &FlowPlace, names: &BindingNames) -> Option<StorePlace> {
    match to {
        FlowPlace::Descriptor(DescriptorPlace { set, binding, element: _ }) => Some(StorePlace {
            set: *set,
            binding: *binding,
            name: names.get(&(*set, *binding)).cloned(),
        }),
        FlowPlace::Addressed(_) => None,
    }
}

struct Scope<'a> {
    job: &'a Job,
    number: usize,
    dispatch: &'a JobDispatch,
}

impl Scope<'_> {
    fn ranges(&self, place: &FlowPlace) -> Vec<BufferRange> {
        let mut ranges: Vec<BufferRange> = match place {
            FlowPlace::Descriptor(place) => {
                self.bound(place).flat_map(|binding| self.range_of(binding)).collect()
            }
            FlowPlace::Addressed(held) => {
                self.addressed(held).into_iter().map(|buffer| self.whole(buffer)).collect()
            }
        };
        ranges.sort();
        ranges.dedup();
        ranges
    }

    fn bound(&self, place: &DescriptorPlace) -> impl Iterator<Item = &JobBinding> {
        let DescriptorPlace { set, binding, element } = *place;
        let bindings = self.dispatch.bindings.iter();
        bindings.filter(move |bound| {
            (bound.set, bound.binding) == (set, binding)
                && element.is_none_or(|index| bound.array_index == index)
        })
    }

    fn range_of(&self, binding: &JobBinding) -> Vec<BufferRange> {
        let range = |offset, bytes| BufferRange {
            buffer: self.job.buffers[binding.buffer].name.clone(),
            offset,
            bytes,
        };
        match binding.view {
            JobView::Sampler(_) => Vec::new(),
            JobView::Bytes | JobView::Texels(_) => vec![range(first_byte(binding), binding.range)],
            JobView::Image(view) | JobView::Combined(view, _) => {
                let mut images = self.job.resources.images.iter();
                let image = images.find(|image| image.buffer as usize == binding.buffer);
                let shape = image.expect("an image is bound").shape;
                let layers = view.layer..view.layer + view.layers;
                let shown = (view.level..view.level + view.levels).filter_map(|level| {
                    let start = shape.layer_start(level, layers.start)?;
                    Some(range(start, shape.layer_start(level, layers.end)? - start))
                });
                shown.collect()
            }
        }
    }

    fn whole(&self, buffer: usize) -> BufferRange {
        let buffer = &self.job.buffers[buffer];
        BufferRange { buffer: buffer.name.clone(), offset: 0, bytes: buffer.bytes.len() as u64 }
    }

    /// The buffers that addresses held in these places name.
    fn addressed(&self, held: &BTreeSet<AddressOrigin>) -> BTreeSet<usize> {
        let mut targets: BTreeSet<usize> =
            held.iter().flat_map(|held| self.targets(held)).collect();
        if held.contains(&AddressOrigin::Addressed) {
            // Addresses that stand behind addresses, however far.
            let mut open: Vec<usize> = targets.iter().copied().collect();
            while let Some(buffer) = open.pop() {
                let further = self.held_by(buffer, |_| true).into_iter();
                open.extend(further.filter(|target| targets.insert(*target)).collect::<Vec<_>>());
            }
        }
        if targets.is_empty() {
            targets
                .extend(self.job.resources.addresses.iter().map(|address| address.target as usize));
        }
        targets
    }

    fn targets(&self, held: &AddressOrigin) -> BTreeSet<usize> {
        match held {
            AddressOrigin::Addressed => BTreeSet::new(),
            AddressOrigin::PushConstants { offset } => {
                let place = AddressPlace::PushConstants(self.number as u32);
                let addresses =
                    self.job.resources.addresses.iter().filter(|address| address.place == place);
                let addresses =
                    addresses.filter(|address| offset.is_none_or(|offset| address.at == offset));
                addresses.map(|address| address.target as usize).collect()
            }
            AddressOrigin::Descriptor { place, offset } => {
                let bound = self.bound(place).filter(|bound| bound.view == JobView::Bytes);
                let held = bound.flat_map(|bound| {
                    let start = first_byte(bound);
                    self.held_by(bound.buffer, |at| {
                        offset.is_none_or(|offset| at == start + offset)
                    })
                });
                held.collect()
            }
        }
    }

    /// The buffers whose addresses a buffer holds at chosen bytes.
    fn held_by(&self, buffer: usize, at: impl Fn(u64) -> bool) -> BTreeSet<usize> {
        let place = AddressPlace::Buffer(buffer as u32);
        let addresses = self
            .job
            .resources
            .addresses
            .iter()
            .filter(|address| address.place == place && at(address.at));
        addresses.map(|address| address.target as usize).collect()
    }
}

fn first_byte(binding: &JobBinding) -> u64 {
    binding.offset + binding.dynamic_offset
}
