//! Whether a dispatch fits a device, asked before anything runs.
//!
//! Knows: features, limits and the rules that tie descriptors to resources (Vulkan specification,
//! "Limits", "Resource Interface"); which descriptor sets a pipeline layout must have.
//! Promises: what the device lacks is `Unsupported` by name with the values; a job that contradicts
//! its module is `Error` by name. Neither reaches the driver.
//! Does not cover: rules that the validation layer alone checks.

use super::device::Device;
use super::fit_limits::{check_counts, check_sizes};
use super::protocol::{Ending, WireBinding, WireDispatch};
use super::version::{self, Spirv14};
use ash::{khr, vk};
use rspirv::spirv::ExecutionModel;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::procedure::DescriptorClass;
use vkcert_spirv::interface::{DescriptorCount, DescriptorUse, DeviceNeeds, Indexing};

pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T, Ending> {
    Err(Ending::Unsupported(what.into()))
}

pub(crate) fn error<T>(reason: impl Into<String>) -> Result<T, Ending> {
    Err(Ending::Error(reason.into()))
}

/// Checks everything that needs no descriptor.
pub(crate) fn check(
    device: &Device,
    needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    check_module(device, needs)?;
    check_sizes(device, needs, dispatch)?;
    check_subgroup(device, needs, dispatch)?;
    match dispatch.specialization.iter().find(|(id, _)| !needs.specialization.contains_key(id)) {
        Some((id, _)) => error(format!("the module has no specialization constant with id {id}")),
        None => Ok(()),
    }
}

fn check_module(device: &Device, needs: &DeviceNeeds) -> Result<(), Ending> {
    if needs.model != ExecutionModel::GLCompute {
        return unsupported(format!("execution model {:?}", needs.model));
    }
    let abilities = &device.abilities;
    let spirv14 =
        if abilities.features.has(khr::spirv_1_4::NAME) { Spirv14::On } else { Spirv14::Off };
    if let Some(lack) = version::lack(needs.version, device.version, spirv14) {
        return unsupported(lack);
    }
    if let Some(lack) =
        needs.capabilities.iter().find_map(|capability| abilities.lacks(*capability))
    {
        return unsupported(lack);
    }
    if let Some(lack) =
        needs.extensions.iter().find_map(|extension| abilities.lacks_extension(extension))
    {
        return unsupported(lack);
    }
    if let Some(lack) = needs.atomics.iter().find_map(|atomic| abilities.lacks_atomic(atomic)) {
        return unsupported(lack);
    }
    if let Some(lack) =
        needs.float_modes.iter().find_map(|(mode, width)| abilities.float_mode(*mode, *width))
    {
        return unsupported(lack);
    }
    if needs.uses_local_size_id && abilities.features.v13.maintenance4 == vk::FALSE {
        return unsupported("execution mode LocalSizeId (feature maintenance4)");
    }
    Ok(())
}

/// Bytes of the push-constant range: what the test gives and what the block holds, whole words.
pub(crate) fn push_size(needs: &DeviceNeeds, dispatch: &WireDispatch) -> u32 {
    let given = dispatch.push_constants.0.len() as u32;
    given.max(needs.push_constants.unwrap_or(0)).next_multiple_of(4)
}

fn check_subgroup(
    device: &Device,
    needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    let Some(wanted) = dispatch.subgroup_size else { return Ok(()) };
    let Some([least, most]) = device.identity.subgroup_size_range else {
        return unsupported(format!("subgroup size {wanted} (feature subgroupSizeControl)"));
    };
    if !wanted.is_power_of_two() || !(least..=most).contains(&wanted) {
        return unsupported(format!(
            "subgroup size {wanted} (the device offers {least} to {most})"
        ));
    }
    let invocations: u64 =
        needs.local_size.map_or(1, |size| size.iter().map(|axis| u64::from(*axis)).product());
    let subgroups = invocations.div_ceil(u64::from(wanted));
    match device.identity.limits.workgroup_subgroups {
        Some(most) if subgroups > u64::from(most) => unsupported(format!(
            "{subgroups} subgroups in a workgroup (maxComputeWorkgroupSubgroups is {most})"
        )),
        Some(_) | None => Ok(()),
    }
}

/// A binding of a descriptor-set layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub class: DescriptorClass,
    pub count: u32,
}

/// What a pipeline layout is made of: bindings by set, with the gaps, and the push-constant range.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Layout {
    pub sets: Vec<BTreeMap<u32, Slot>>,
    pub push_constants: u32,
}

/// The API's name for a class.
pub(crate) fn descriptor_type(class: DescriptorClass) -> vk::DescriptorType {
    match class {
        DescriptorClass::Storage => vk::DescriptorType::STORAGE_BUFFER,
        DescriptorClass::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        DescriptorClass::StorageDynamic => vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
        DescriptorClass::UniformDynamic => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        DescriptorClass::StorageImage => vk::DescriptorType::STORAGE_IMAGE,
        DescriptorClass::SampledImage => vk::DescriptorType::SAMPLED_IMAGE,
        DescriptorClass::Sampler => vk::DescriptorType::SAMPLER,
        DescriptorClass::Combined => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        DescriptorClass::UniformTexel => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        DescriptorClass::StorageTexel => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

impl Layout {
    /// The layout for `bindings`, checked against what the entry point uses.
    pub(crate) fn of(
        device: &Device,
        needs: &DeviceNeeds,
        bindings: &[WireBinding],
        push_constants: u32,
    ) -> Result<Self, Ending> {
        check_duplicates(bindings)?;
        let most = device.identity.limits.descriptor_sets;
        let mut sets: Vec<BTreeMap<u32, Slot>> = Vec::new();
        for binding in bindings {
            if binding.set >= most {
                return unsupported(format!(
                    "descriptor set {} (maxBoundDescriptorSets is {most})",
                    binding.set
                ));
            }
            let set = binding.set as usize;
            if sets.len() <= set {
                sets.resize(set + 1, BTreeMap::new());
            }
            let new = Slot { class: binding.class, count: 0 };
            let slot = sets[set].entry(binding.binding).or_insert(new);
            if slot.class != binding.class {
                return error(format!(
                    "{} is bound with two descriptor classes",
                    place(binding.set, binding.binding)
                ));
            }
            slot.count = slot.count.max(binding.array_index.saturating_add(1));
        }
        if let Some(descriptor) = needs.unsupported.first() {
            let (name, at) = (&descriptor.name, place(descriptor.set, descriptor.binding));
            return unsupported(format!(
                "`{name}` ({at}): a resource of type Op{:?}",
                descriptor.op
            ));
        }
        for descriptor in &needs.descriptors {
            check_resource(descriptor, &sets)?;
            check_indexing(device, descriptor)?;
            let resource = &descriptor.resource;
            let slot =
                sets.get_mut(resource.set as usize).and_then(|set| set.get_mut(&resource.binding));
            let slot = slot.expect("check_resource found it");
            slot.count = slot.count.max(least_count(resource.count));
        }
        check_elements(&sets, bindings)?;
        check_counts(device, &sets)?;
        Ok(Self { sets, push_constants })
    }
}

pub(crate) fn place(set: u32, binding: u32) -> String {
    format!("set {set}, binding {binding}")
}

/// Descriptors at least needed; of a runtime-sized array those that are bound.
fn least_count(count: DescriptorCount) -> u32 {
    match count {
        DescriptorCount::One => 1,
        DescriptorCount::Array(count) => count,
        DescriptorCount::Runtime => 0,
    }
}

/// The class by which a shader declares what is bound with `class`: dynamic offsets are the host's
/// alone.
fn declared_class(class: DescriptorClass) -> DescriptorClass {
    match class {
        DescriptorClass::StorageDynamic => DescriptorClass::Storage,
        DescriptorClass::UniformDynamic => DescriptorClass::Uniform,
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => class,
    }
}

/// Vulkan specification, "Shader Resource and Descriptor Type Correspondence".
fn check_resource(descriptor: &DescriptorUse, sets: &[BTreeMap<u32, Slot>]) -> Result<(), Ending> {
    use DescriptorClass as Class;
    let (name, class) = (&descriptor.name, descriptor.resource.class);
    let (set, binding) = (descriptor.resource.set, descriptor.resource.binding);
    let place = place(set, binding);
    let Some(slot) = sets.get(set as usize).and_then(|set| set.get(&binding)) else {
        let takes = match class {
            Class::StorageImage | Class::SampledImage | Class::Combined => "image",
            Class::Sampler => "sampler",
            Class::Storage
            | Class::StorageDynamic
            | Class::Uniform
            | Class::UniformDynamic
            | Class::UniformTexel
            | Class::StorageTexel => "buffer",
        };
        return error(format!(
            "the kernel uses `{name}` ({place}), and the test binds no {takes} there"
        ));
    };
    let declared = class.name();
    let fits = declared_class(slot.class) == class;
    if !fits {
        return error(format!(
            "the kernel declares `{name}` ({place}) as {declared}, and the test binds another class"
        ));
    }
    Ok(())
}

/// An array of descriptors that is indexed by what is no constant.
fn check_indexing(device: &Device, descriptor: &DescriptorUse) -> Result<(), Ending> {
    use DescriptorClass as Class;
    let (core, v12) = (&device.abilities.features.core, &device.abilities.features.v12);
    let (feature, on) = match descriptor.resource.class {
        Class::Storage | Class::StorageDynamic => (
            "shaderStorageBufferArrayDynamicIndexing",
            core.shader_storage_buffer_array_dynamic_indexing,
        ),
        Class::Uniform | Class::UniformDynamic => (
            "shaderUniformBufferArrayDynamicIndexing",
            core.shader_uniform_buffer_array_dynamic_indexing,
        ),
        Class::StorageImage => (
            "shaderStorageImageArrayDynamicIndexing",
            core.shader_storage_image_array_dynamic_indexing,
        ),
        Class::SampledImage | Class::Sampler | Class::Combined => (
            "shaderSampledImageArrayDynamicIndexing",
            core.shader_sampled_image_array_dynamic_indexing,
        ),
        Class::UniformTexel => (
            "shaderUniformTexelBufferArrayDynamicIndexing",
            v12.shader_uniform_texel_buffer_array_dynamic_indexing,
        ),
        Class::StorageTexel => (
            "shaderStorageTexelBufferArrayDynamicIndexing",
            v12.shader_storage_texel_buffer_array_dynamic_indexing,
        ),
    };
    if descriptor.indexing == Indexing::Dynamic && on == vk::FALSE {
        let (name, at) =
            (&descriptor.name, place(descriptor.resource.set, descriptor.resource.binding));
        return unsupported(format!(
            "a dynamic index into the array `{name}` ({at}; feature {feature})"
        ));
    }
    Ok(())
}

fn check_duplicates(bindings: &[WireBinding]) -> Result<(), Ending> {
    let mut bound = BTreeSet::new();
    match bindings.iter().find(|b| !bound.insert((b.set, b.binding, b.array_index))) {
        Some(b) => error(format!(
            "element {} of {} is bound twice",
            b.array_index,
            place(b.set, b.binding)
        )),
        None => Ok(()),
    }
}

/// Every element of a descriptor array must be bound: which of them a kernel reads is known only at
/// run time.
fn check_elements(sets: &[BTreeMap<u32, Slot>], bindings: &[WireBinding]) -> Result<(), Ending> {
    let bound: BTreeSet<_> = bindings.iter().map(|b| (b.set, b.binding, b.array_index)).collect();
    for (set, slots) in sets.iter().enumerate() {
        for (binding, slot) in slots {
            let missing =
                (0..slot.count).find(|element| !bound.contains(&(set as u32, *binding, *element)));
            if let Some(element) = missing {
                let place = place(set as u32, *binding);
                return unsupported(format!(
                    "descriptor array {place} with element {element} unbound"
                ));
            }
        }
    }
    Ok(())
}
