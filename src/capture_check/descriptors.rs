//! Whether the descriptors of a dispatch are what its kernel declares at a binding.
//!
//! Knows: types of descriptors, ranges and bytes of blocks, usages of images; what is declared of
//! their views is held against them in `image_views`.
//! Promises: every fault is told; a descriptor that need not be reached makes no fault that rests on
//! being reached.

use crate::image_views::{ImageUse, image_fault};
use crate::kernel::KernelFacts;
use crate::row::CaptureCheckName;
use vkcert_capture::program::{
    BoundDescriptor, BoundResource, BoundView, Dispatch, PARTIALLY_BOUND, Program, SetLayout,
};
use vkcert_model::evidence::CheckStatus;
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::{DescriptorCount, ReflectedResource};

/// A fault of a binding: the check that it is one of, how sure it is, and what it is.
pub(crate) type BindingFault = (CaptureCheckName, CheckStatus, String);

/// A binding of a kernel, and the dispatch that is to have it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SoughtResource<'a> {
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) kernel: &'a KernelFacts,
    pub(crate) resource: &'a ReflectedResource,
}

fn descriptor_fault(status: CheckStatus, words: impl Into<String>) -> BindingFault {
    (CaptureCheckName::Descriptors, status, words.into())
}

fn size_fault(status: CheckStatus, words: String) -> BindingFault {
    (CaptureCheckName::BindingSize, status, words)
}

impl SoughtResource<'_> {
    /// What the binding is called.
    pub(crate) fn name(&self) -> String {
        let ReflectedResource { set, binding, name, .. } = self.resource;
        let shown = name.as_deref().unwrap_or("without a name");
        format!("binding {set}.{binding} ({shown})")
    }

    /// All that is wrong, or open, at the binding.
    pub(crate) fn faults(&self, program: &Program) -> Vec<BindingFault> {
        let (set, binding) = (self.resource.set, self.resource.binding);
        let descriptors: Vec<_> = self.dispatch.descriptors_at(set, binding).collect();
        if descriptors.is_empty() {
            return self.missing_fault().into_iter().collect();
        }
        let is_single =
            matches!(self.resource.count, DescriptorCount::One | DescriptorCount::Array(0..=1));
        let need = match is_single && descriptors.len() == 1 && !self.is_partially_bound() {
            true => ReachNeed::Whole,
            false => ReachNeed::Open,
        };
        let mut faults = Vec::new();
        for (descriptor, dynamic_offset) in descriptors {
            if fits(self.resource.class, descriptor.descriptor_type) {
                self.add_faults(program, (descriptor, dynamic_offset), need, &mut faults);
            } else {
                let words = format!(
                    "the descriptor is of type {}, and the kernel declares {:?}",
                    descriptor.descriptor_type, self.resource.class
                );
                faults.push(descriptor_fault(CheckStatus::Refuted, words));
            }
        }
        faults
    }

    fn layout(&self) -> Option<&SetLayout> {
        let set = self.dispatch.sets.iter().find(|bound| bound.number == self.resource.set);
        set.map(|bound| &*bound.layout)
    }

    fn is_partially_bound(&self) -> bool {
        let binding = self.resource.binding;
        self.layout().is_some_and(|layout| layout.has_binding_flag(binding, PARTIALLY_BOUND))
    }

    fn missing_fault(&self) -> Option<BindingFault> {
        let (set, binding) = (self.resource.set, self.resource.binding);
        // A sampler of the layout needs no write.
        if self.layout().is_some_and(|layout| layout.has_own_sampler(binding)) {
            return None;
        }
        if self.is_partially_bound() {
            let words = "no descriptor was written, and whether the kernel reaches it is not known \
                         (PARTIALLY_BOUND)";
            return Some(descriptor_fault(CheckStatus::Undetermined, words));
        }
        let words = if self.dispatch.disturbed.contains(&set) {
            "its set was bound with a pipeline layout that is not compatible with that of the \
             pipeline, or with that of sets that were bound later (Vulkan specification, \
             \"Pipeline Layout Compatibility\")"
        } else {
            "no descriptor was written, and the kernel uses it"
        };
        Some(descriptor_fault(CheckStatus::Refuted, words))
    }

    fn add_faults(
        &self,
        program: &Program,
        (descriptor, dynamic_offset): (&BoundDescriptor, u32),
        need: ReachNeed,
        faults: &mut Vec<BindingFault>,
    ) {
        match &descriptor.resource {
            BoundResource::Buffer { .. } => {
                let bound = descriptor.buffer_range(dynamic_offset, &program.buffers);
                faults.extend(self.range_fault(bound.map_or(0, |bound| bound.size)));
                faults.extend(self.texel_fault());
            }
            BoundResource::Inline(bytes) => {
                let written = bytes.iter().flatten().count();
                faults.extend(self.inline_fault(written as u64));
            }
            BoundResource::Image => {}
            BoundResource::View(bound) => {
                let usage = view_fault(program, self.resource, bound);
                faults.extend(usage.map(|words| descriptor_fault(CheckStatus::Refuted, words)));
                faults.extend(self.image_fault(program, bound, need));
            }
            BoundResource::Null => {
                let words =
                    "the descriptor is null, and whether the kernel reaches it is not known";
                faults.push(descriptor_fault(CheckStatus::Undetermined, words));
            }
            BoundResource::Other => {
                let words = "the descriptor is of a kind that is not modelled";
                faults.push(descriptor_fault(CheckStatus::Undetermined, words));
            }
        }
    }

    fn range_fault(&self, size: u64) -> Option<BindingFault> {
        let needed = self.resource.fixed_bytes;
        (size < needed).then(|| {
            let words = format!("{size} bytes are bound, and the block has {needed}");
            size_fault(CheckStatus::Refuted, words)
        })
    }

    /// The record of a buffer view has no format.
    fn texel_fault(&self) -> Option<BindingFault> {
        self.kernel.images.contains_key(&self.resource.variable).then(|| {
            let words = "the format of its buffer view is not in the capture, so that it is not \
                         held against what the kernel declares";
            descriptor_fault(CheckStatus::Undetermined, words)
        })
    }

    fn inline_fault(&self, written: u64) -> Option<BindingFault> {
        let needed = self.resource.fixed_bytes;
        let described =
            self.layout().and_then(|layout| layout.bindings.get(&self.resource.binding));
        let size = described.map_or(0, |(_, size)| u64::from(*size));
        if size < needed {
            let words = format!("the binding has {size} bytes, and the block has {needed}");
            Some(size_fault(CheckStatus::Refuted, words))
        } else if written < needed {
            let words = format!(
                "{written} bytes are written inline, the block has {needed}, and whether the kernel \
                 reads the others is not known"
            );
            Some(size_fault(CheckStatus::Undetermined, words))
        } else {
            None
        }
    }

    fn image_fault(
        &self,
        program: &Program,
        bound: &BoundView,
        need: ReachNeed,
    ) -> Option<BindingFault> {
        let declared = self.kernel.images.get(&self.resource.variable)?;
        let view = &program.image_views[bound.view?];
        let used = ImageUse { class: self.resource.class, access: self.resource.access };
        let samples = program.images[view.image].made.samples;
        let (status, words) = image_fault(declared, used, view, samples)?;
        let words = format!("image {}: {words}", view.image + 1);
        Some(match (status, need) {
            (CheckStatus::Refuted, ReachNeed::Open) => {
                let doubt = "undetermined, because it is one of several descriptors or of a binding \
                             that need not be bound wholly";
                descriptor_fault(CheckStatus::Undetermined, format!("{words}; {doubt}"))
            }
            (status, ReachNeed::Open | ReachNeed::Whole) => descriptor_fault(status, words),
        })
    }
}

/// Whether a kernel that uses a binding reaches each descriptor of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReachNeed {
    /// There is one, and it is to be valid.
    Whole,
    /// Some may be left out.
    Open,
}

/// What of a descriptor is missing for its kernel.
fn view_fault(
    program: &Program,
    resource: &ReflectedResource,
    bound: &BoundView,
) -> Option<String> {
    let (usage_bit, needs_sampler) = match resource.class {
        DescriptorClass::Sampler => (None, true),
        DescriptorClass::Combined => (Some(SAMPLED_USAGE), true),
        DescriptorClass::SampledImage => (Some(SAMPLED_USAGE), false),
        DescriptorClass::StorageImage => (Some(STORAGE_USAGE), false),
        DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel
        | DescriptorClass::Uniform
        | DescriptorClass::UniformDynamic
        | DescriptorClass::Storage
        | DescriptorClass::StorageDynamic => (None, false),
    };
    if (usage_bit.is_some() && bound.view.is_none()) || (needs_sampler && bound.sampler.is_none()) {
        return Some(
            "the descriptor has no image, or no sampler, and the kernel declares what it lacks"
                .to_owned(),
        );
    }
    let usage_bit = usage_bit?;
    let image = program.image_views[bound.view?].image;
    let usage = program.images[image].made.usage;
    (usage & usage_bit == 0).then(|| {
        format!("image {} was made for another usage ({usage:#x}, VkImageUsageFlags)", image + 1)
    })
}

/// VK_IMAGE_USAGE_SAMPLED_BIT and VK_IMAGE_USAGE_STORAGE_BIT.
const SAMPLED_USAGE: u32 = 0x4;
const STORAGE_USAGE: u32 = 0x8;

/// Whether a VkDescriptorType is what a module asks for ("DescriptorSet and Binding Assignment").
fn fits(class: DescriptorClass, descriptor_type: i32) -> bool {
    const INLINE_UNIFORM_BLOCK: i32 = 1_000_138_000;
    let types: &[i32] = match class {
        DescriptorClass::Sampler => &[0],
        DescriptorClass::Combined => &[1],
        DescriptorClass::SampledImage => &[2],
        DescriptorClass::StorageImage => &[3],
        DescriptorClass::UniformTexel => &[4],
        DescriptorClass::StorageTexel => &[5],
        DescriptorClass::Uniform | DescriptorClass::UniformDynamic => &[6, 8, INLINE_UNIFORM_BLOCK],
        DescriptorClass::Storage | DescriptorClass::StorageDynamic => &[7, 9],
    };
    types.contains(&descriptor_type)
}
