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
pub(crate) fn check_dispatch(
    device: &Device,
    device_needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    check_module(device, device_needs)?;
    check_sizes(device, device_needs, dispatch)?;
    check_subgroup(device, device_needs, dispatch)?;
    match dispatch
        .specialization
        .iter()
        .find(|(id, _)| !device_needs.specialization.contains_key(id))
    {
        Some((id, _)) => error(format!("the module has no specialization constant with id {id}")),
        None => Ok(()),
    }
}

fn check_module(device: &Device, device_needs: &DeviceNeeds) -> Result<(), Ending> {
    if device_needs.model != ExecutionModel::GLCompute {
        return unsupported(format!("execution model {:?}", device_needs.model));
    }
    let abilities = &device.abilities;
    let spirv14 =
        if abilities.features.has(khr::spirv_1_4::NAME) { Spirv14::On } else { Spirv14::Off };
    if let Some(missing_feature) =
        version::missing_spirv_version(device_needs.version, device.version, spirv14)
    {
        return unsupported(missing_feature);
    }
    if let Some(missing_feature) = device_needs
        .capabilities
        .iter()
        .find_map(|capability| abilities.lacks_capability(*capability))
    {
        return unsupported(missing_feature);
    }
    if let Some(missing_feature) =
        device_needs.extensions.iter().find_map(|extension| abilities.lacks_extension(extension))
    {
        return unsupported(missing_feature);
    }
    if let Some(missing_feature) =
        device_needs.atomics.iter().find_map(|atomic| abilities.lacks_atomic(atomic))
    {
        return unsupported(missing_feature);
    }
    if let Some(missing_feature) = device_needs
        .float_modes
        .iter()
        .find_map(|(mode, width)| abilities.lacks_float_mode(*mode, *width))
    {
        return unsupported(missing_feature);
    }
    if device_needs.uses_local_size_id && abilities.features.v13.maintenance4 == vk::FALSE {
        return unsupported("execution mode LocalSizeId (feature maintenance4)");
    }
    Ok(())
}

/// Bytes of the push-constant range: what the test gives and what the block holds, whole words.
pub(crate) fn push_constant_size(device_needs: &DeviceNeeds, dispatch: &WireDispatch) -> u32 {
    let given_bytes = dispatch.push_constants.0.len() as u32;
    given_bytes.max(device_needs.push_constants.unwrap_or(0)).next_multiple_of(4)
}

fn check_subgroup(
    device: &Device,
    device_needs: &DeviceNeeds,
    dispatch: &WireDispatch,
) -> Result<(), Ending> {
    let Some(wanted_size) = dispatch.subgroup_size else { return Ok(()) };
    let Some([least_size, greatest_size]) = device.identity.subgroup_size_range else {
        return unsupported(format!("subgroup size {wanted_size} (feature subgroupSizeControl)"));
    };
    if !wanted_size.is_power_of_two() || !(least_size..=greatest_size).contains(&wanted_size) {
        return unsupported(format!(
            "subgroup size {wanted_size} (the device offers {least_size} to {greatest_size})"
        ));
    }
    let invocation_count: u64 = device_needs
        .local_size
        .map_or(1, |size| size.iter().map(|axis| u64::from(*axis)).product());
    let subgroup_count = invocation_count.div_ceil(u64::from(wanted_size));
    match device.identity.limits.workgroup_subgroups {
        Some(most_subgroups) if subgroup_count > u64::from(most_subgroups) => unsupported(format!(
            "{subgroup_count} subgroups in a workgroup (maxComputeWorkgroupSubgroups is {most_subgroups})"
        )),
        Some(_) | None => Ok(()),
    }
}

/// A binding of a descriptor-set layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LayoutSlot {
    pub class: DescriptorClass,
    pub count: u32,
}

/// What a pipeline layout is made of: bindings by set, with the gaps, and the push-constant range.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DescriptorLayout {
    pub sets: Vec<BTreeMap<u32, LayoutSlot>>,
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

impl DescriptorLayout {
    /// The layout for `bindings`, checked against what the entry point uses.
    pub(crate) fn for_bindings(
        device: &Device,
        device_needs: &DeviceNeeds,
        bindings: &[WireBinding],
        push_constants: u32,
    ) -> Result<Self, Ending> {
        check_duplicates(bindings)?;
        let most_sets = device.identity.limits.descriptor_sets;
        let mut layout_sets: Vec<BTreeMap<u32, LayoutSlot>> = Vec::new();
        for binding in bindings {
            if binding.set >= most_sets {
                return unsupported(format!(
                    "descriptor set {} (maxBoundDescriptorSets is {most_sets})",
                    binding.set
                ));
            }
            let set_index = binding.set as usize;
            if layout_sets.len() <= set_index {
                layout_sets.resize(set_index + 1, BTreeMap::new());
            }
            let empty_slot = LayoutSlot { class: binding.class, count: 0 };
            let layout_slot = layout_sets[set_index].entry(binding.binding).or_insert(empty_slot);
            if layout_slot.class != binding.class {
                return error(format!(
                    "{} is bound with two descriptor classes",
                    binding_name(binding.set, binding.binding)
                ));
            }
            layout_slot.count = layout_slot.count.max(binding.array_index.saturating_add(1));
        }
        if let Some(descriptor) = device_needs.unsupported.first() {
            let (resource_name, binding_name) =
                (&descriptor.name, binding_name(descriptor.set, descriptor.binding));
            return unsupported(format!(
                "`{resource_name}` ({binding_name}): a resource of type Op{:?}",
                descriptor.op
            ));
        }
        for descriptor in &device_needs.descriptors {
            check_resource(descriptor, &layout_sets)?;
            check_indexing(device, descriptor)?;
            let resource = &descriptor.resource;
            let layout_slot = layout_sets
                .get_mut(resource.set as usize)
                .and_then(|set_slots| set_slots.get_mut(&resource.binding));
            let layout_slot = layout_slot.expect("check_resource found it");
            layout_slot.count = layout_slot.count.max(least_count(resource.count));
        }
        check_elements(&layout_sets, bindings)?;
        check_counts(device, &layout_sets)?;
        Ok(Self { sets: layout_sets, push_constants })
    }
}

pub(crate) fn binding_name(set: u32, binding: u32) -> String {
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

/// Vulkan specification, "Shader Resource and Descriptor Type Correspondence".
fn check_resource(
    descriptor: &DescriptorUse,
    sets: &[BTreeMap<u32, LayoutSlot>],
) -> Result<(), Ending> {
    use DescriptorClass as Class;
    let (resource_name, resource_class) = (&descriptor.name, descriptor.resource.class);
    let (set_number, binding_number) = (descriptor.resource.set, descriptor.resource.binding);
    let binding_place = binding_name(set_number, binding_number);
    let Some(layout_slot) =
        sets.get(set_number as usize).and_then(|set_slots| set_slots.get(&binding_number))
    else {
        let resource_noun = match resource_class {
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
            "the kernel uses `{resource_name}` ({binding_place}), and the test binds no {resource_noun} there"
        ));
    };
    let declared_name = resource_class.name();
    let class_fits = layout_slot.class.declared_in_shader() == resource_class;
    if !class_fits {
        return error(format!(
            "the kernel declares `{resource_name}` ({binding_place}) as {declared_name}, and the test binds another class"
        ));
    }
    Ok(())
}

/// An array of descriptors that is indexed by what is no constant.
fn check_indexing(device: &Device, descriptor: &DescriptorUse) -> Result<(), Ending> {
    use DescriptorClass as Class;
    let (core, v12) = (&device.abilities.features.core, &device.abilities.features.v12);
    let (feature, feature_on) = match descriptor.resource.class {
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
    if descriptor.indexing == Indexing::Dynamic && feature_on == vk::FALSE {
        let (resource_name, binding_place) =
            (&descriptor.name, binding_name(descriptor.resource.set, descriptor.resource.binding));
        return unsupported(format!(
            "a dynamic index into the array `{resource_name}` ({binding_place}; feature {feature})"
        ));
    }
    Ok(())
}

fn check_duplicates(bindings: &[WireBinding]) -> Result<(), Ending> {
    let mut bound_elements = BTreeSet::new();
    match bindings.iter().find(|b| !bound_elements.insert((b.set, b.binding, b.array_index))) {
        Some(b) => error(format!(
            "element {} of {} is bound twice",
            b.array_index,
            binding_name(b.set, b.binding)
        )),
        None => Ok(()),
    }
}

/// Every element of a descriptor array must be bound: which of them a kernel reads is known only at
/// run time.
fn check_elements(
    sets: &[BTreeMap<u32, LayoutSlot>],
    bindings: &[WireBinding],
) -> Result<(), Ending> {
    let bound_elements: BTreeSet<_> =
        bindings.iter().map(|b| (b.set, b.binding, b.array_index)).collect();
    for (set_index, slots) in sets.iter().enumerate() {
        for (binding, layout_slot) in slots {
            let missing_element = (0..layout_slot.count)
                .find(|element| !bound_elements.contains(&(set_index as u32, *binding, *element)));
            if let Some(element) = missing_element {
                let binding_place = binding_name(set_index as u32, *binding);
                return unsupported(format!(
                    "descriptor array {binding_place} with element {element} unbound"
                ));
            }
        }
    }
    Ok(())
}
