//! What a module needs that a Vulkan SC 1.0 device lacks, decided without any device.
//!
//! Knows: Vulkan SC 1.0 is Vulkan 1.2 without sparse resources and with optional atomics (Vulkan SC
//! 1.0 specification, `VkPhysicalDeviceVulkanSC10Features` and VUID-RuntimeSpirv-OpAtomic-05091);
//! which extensions for shaders it has (its header `vulkan_sc_core.h`); the feature or property
//! behind each SPIR-V capability, atomic and float-control mode.
//! Promises: what is in no row is refused by name; each refusal names what is missing and the first
//! place that needs it.
//! Does not cover: limits of sizes and counts, and whatever an SC device fixes beforehand (pipeline
//! pools, reservations).

use super::super::module::Module;
use super::super::opcodes::{is_atomic, is_sparse};
use super::{
    AtomicKind, AtomicMemory, AtomicUse, DescriptorUse, DeviceNeeds, Indexing, feature_of,
};
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, ExecutionMode, Op};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::place::Place;
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::vulkan_sc::ScFeature;

/// The newest SPIR-V version that Vulkan SC 1.0 takes, which is Vulkan 1.2's.
const NEWEST: (u8, u8) = (1, 5);

/// What lets a capability or extension be used on Vulkan SC 1.0.
#[derive(Clone, Copy)]
enum FeatureRule {
    /// Part of every device.
    Always,
    /// Any of these features.
    Any(&'static [ScFeature]),
    /// Decided elsewhere: an extension by its capabilities, a float-control capability by its
    /// execution modes.
    Elsewhere,
}

/// Something a module needs and the target lacks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct VulkanScRefusal {
    /// SPIR-V instruction, capability, extension or version, with the missing feature.
    pub what: String,
    /// The first place that needs it; none: the module as a whole.
    pub place: Option<Place>,
}

impl std::fmt::Display for VulkanScRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        let Some(place) = &self.place else { return Ok(()) };
        match &place.function {
            Some(function) if place.file.is_some() => write!(f, " in `{function}` at {place}"),
            Some(_) | None => write!(f, " at {place}"),
        }
    }
}

/// Everything that a Vulkan SC 1.0 device with these features lacks, in the order of kinds, then of
/// the module.
pub fn vulkan_sc_refusals(
    module: &Module,
    entry_name: &str,
    features: &BTreeSet<ScFeature>,
) -> Vec<VulkanScRefusal> {
    let mut refusal_list = RefusalList { features, refusals: Vec::new() };
    refusal_list.check_version(module);
    refusal_list.check_capabilities(module);
    refusal_list.check_extensions(module);
    refusal_list.check_instructions(module);
    if let Some(device_needs) = DeviceNeeds::of_entry_point(module, entry_name, &BTreeMap::new()) {
        device_needs.atomics.iter().for_each(|atomic_use| refusal_list.check_atomic(atomic_use));
        device_needs
            .float_modes
            .iter()
            .for_each(|(mode, width)| refusal_list.check_float_mode(*mode, *width));
        device_needs
            .descriptors
            .iter()
            .for_each(|descriptor| refusal_list.check_indexing(descriptor));
        if device_needs.uses_local_size_id {
            refusal_list.add_refusal(
                "execution mode LocalSizeId (Vulkan SC 1.0 has no feature maintenance4)".to_owned(),
                None,
            );
        }
    }
    refusal_list.refusals
}

struct RefusalList<'a> {
    features: &'a BTreeSet<ScFeature>,
    refusals: Vec<VulkanScRefusal>,
}

impl RefusalList<'_> {
    fn add_refusal(&mut self, missing_item: String, source_place: Option<Place>) {
        if self.refusals.iter().all(|refusal| refusal.what != missing_item) {
            self.refusals.push(VulkanScRefusal { what: missing_item, place: source_place });
        }
    }

    fn has_any_feature(&self, accepted_features: &[ScFeature]) -> bool {
        accepted_features.iter().any(|feature| self.features.contains(feature))
    }

    /// Refuses `what` unless one of `wanted` is declared.
    fn need_feature(
        &mut self,
        needed_item: String,
        accepted_features: &[ScFeature],
        source_place: Option<Place>,
    ) {
        if !self.has_any_feature(accepted_features) {
            self.add_refusal(
                format!(
                    "{needed_item} (feature {}, not in sc_features)",
                    feature_names(accepted_features)
                ),
                source_place,
            );
        }
    }

    fn check_version(&mut self, module: &Module) {
        let (major, minor) = module.header.version();
        if (major, minor) > NEWEST {
            let newer_version = format!(
                "SPIR-V {major}.{minor} (Vulkan SC 1.0 takes up to {}.{})",
                NEWEST.0, NEWEST.1
            );
            self.add_refusal(newer_version, None);
        }
    }

    fn check_capabilities(&mut self, module: &Module) {
        for (index, instruction) in module.instructions.iter().enumerate() {
            let Some(Operand::Capability(capability)) = instruction.operands.first() else {
                continue;
            };
            if instruction.op != Op::Capability {
                continue;
            }
            let needed_capability = format!("capability {capability:?}");
            let source_place = Some(module.place_of(index));
            match CAPABILITIES
                .iter()
                .find(|(listed_capability, _)| listed_capability == capability)
                .map(|(_, rule)| rule)
            {
                Some(FeatureRule::Always | FeatureRule::Elsewhere) => {}
                Some(FeatureRule::Any(accepted_features)) => {
                    self.need_feature(needed_capability, accepted_features, source_place)
                }
                None if *capability == Capability::SparseResidency => {
                    self.add_refusal(
                        format!("{needed_capability} (Vulkan SC 1.0 has no sparse resources)"),
                        source_place,
                    );
                }
                None => match feature_of(*capability) {
                    Some(feature) => self.add_refusal(
                        format!("{needed_capability} (Vulkan SC 1.0 has no feature {feature})"),
                        source_place,
                    ),
                    None => self.add_refusal(
                        format!("{needed_capability} (not known of Vulkan SC 1.0)"),
                        source_place,
                    ),
                },
            }
        }
    }

    fn check_extensions(&mut self, module: &Module) {
        for (index, instruction) in module.instructions.iter().enumerate() {
            let Some(Operand::LiteralString(name)) = instruction.operands.first() else { continue };
            if instruction.op != Op::Extension {
                continue;
            }
            let (needed_extension, source_place) =
                (format!("extension {name}"), Some(module.place_of(index)));
            match EXTENSIONS
                .iter()
                .find(|(listed_extension, _)| listed_extension == name)
                .map(|(_, rule)| rule)
            {
                Some(FeatureRule::Always | FeatureRule::Elsewhere) => {}
                Some(FeatureRule::Any(accepted_features)) => {
                    self.need_feature(needed_extension, accepted_features, source_place)
                }
                None => self.add_refusal(
                    format!("{needed_extension} (not part of Vulkan SC 1.0)"),
                    source_place,
                ),
            }
        }
    }

    /// Atomics stand for themselves: no capability tells of those on 32-bit integers.
    fn check_instructions(&mut self, module: &Module) {
        for (index, instruction) in module.instructions.iter().enumerate() {
            let op = instruction.op;
            let source_place = || Some(module.place_of(index));
            if is_atomic(op) {
                self.need_feature(
                    format!("instruction Op{op:?}"),
                    &[ScFeature::ShaderAtomicInstructions],
                    source_place(),
                );
            } else if is_sparse(op) {
                self.add_refusal(
                    format!("instruction Op{op:?} (Vulkan SC 1.0 has no sparse resources)"),
                    source_place(),
                );
            }
        }
    }

    /// Atomics on 64-bit integers and on floats need the feature of their memory as well.
    fn check_atomic(&mut self, wanted: &AtomicUse) {
        let AtomicUse { kind, width, memory } = *wanted;
        if kind == AtomicKind::Integer && width == 32 {
            return;
        }
        let needed_atomic = format!("{width}-bit {} atomics in {}", kind.name(), memory.name());
        match ATOMICS.iter().find(|row| (row.0, row.1, row.2) == (kind, width, memory)) {
            Some((.., feature)) => self.need_feature(needed_atomic, &[*feature], None),
            None => self.add_refusal(
                format!("{needed_atomic} (no extension of Vulkan SC 1.0 has them)"),
                None,
            ),
        }
    }

    fn check_float_mode(&mut self, mode: ExecutionMode, width: u32) {
        let needed_mode = format!("execution mode {mode:?} {width}");
        match FLOAT_MODES.iter().find(|row| (row.0, row.1) == (mode, width)) {
            Some((.., property)) => self.need_feature(needed_mode, &[*property], None),
            None => self.add_refusal(format!("{needed_mode} (not known of Vulkan SC 1.0)"), None),
        }
    }

    fn check_indexing(&mut self, descriptor: &DescriptorUse) {
        use DescriptorClass as Class;
        use ScFeature as Feature;
        let feature = match descriptor.resource.class {
            Class::Storage | Class::StorageDynamic => {
                Feature::ShaderStorageBufferArrayDynamicIndexing
            }
            Class::Uniform | Class::UniformDynamic => {
                Feature::ShaderUniformBufferArrayDynamicIndexing
            }
            Class::StorageImage => Feature::ShaderStorageImageArrayDynamicIndexing,
            Class::SampledImage | Class::Sampler | Class::Combined => {
                Feature::ShaderSampledImageArrayDynamicIndexing
            }
            Class::UniformTexel => Feature::ShaderUniformTexelBufferArrayDynamicIndexing,
            Class::StorageTexel => Feature::ShaderStorageTexelBufferArrayDynamicIndexing,
        };
        match descriptor.indexing {
            Indexing::Constant => {}
            Indexing::Dynamic => {
                self.need_feature(
                    format!("a dynamic index into the array `{}`", descriptor.name),
                    &[feature],
                    None,
                );
            }
        }
    }
}

fn feature_names(features: &[ScFeature]) -> String {
    features.iter().map(|feature| feature.name()).collect::<Vec<_>>().join(" or ")
}

macro_rules! rows {
    ($($capability:ident => $($feature:ident)|+;)*) => {
        &[$((Capability::$capability, FeatureRule::Any(&[$(ScFeature::$feature),+]))),*]
    };
}

/// Capabilities of a compute kernel that a Vulkan SC 1.0 device has, or may have.
const CAPABILITIES: &[(Capability, FeatureRule)] = &{
    const ALWAYS: [Capability; 10] = [
        Capability::Shader,
        Capability::Matrix,
        Capability::DeviceGroup,
        Capability::ImageQuery,
        Capability::Sampled1D,
        Capability::Image1D,
        Capability::SampledBuffer,
        Capability::ImageBuffer,
        Capability::ShaderNonUniform,
        Capability::GroupNonUniform,
    ];
    const FLOAT_CONTROLS: [Capability; 5] = [
        Capability::DenormPreserve,
        Capability::DenormFlushToZero,
        Capability::SignedZeroInfNanPreserve,
        Capability::RoundingModeRTE,
        Capability::RoundingModeRTZ,
    ];
    const LENGTH: usize = ALWAYS.len() + FLOAT_CONTROLS.len() + BY_FEATURE.len();
    let mut rows = [(Capability::Shader, FeatureRule::Always); LENGTH];
    let mut at = 0;
    while at < LENGTH {
        rows[at] = if at < ALWAYS.len() {
            (ALWAYS[at], FeatureRule::Always)
        } else if at < ALWAYS.len() + FLOAT_CONTROLS.len() {
            (FLOAT_CONTROLS[at - ALWAYS.len()], FeatureRule::Elsewhere)
        } else {
            BY_FEATURE[at - ALWAYS.len() - FLOAT_CONTROLS.len()]
        };
        at += 1;
    }
    rows
};

const BY_FEATURE: &[(Capability, FeatureRule)] = rows! {
    Int64 => ShaderInt64;
    Float64 => ShaderFloat64;
    Int16 => ShaderInt16;
    Float16 => ShaderFloat16;
    Int8 => ShaderInt8;
    StorageImageExtendedFormats => ShaderStorageImageExtendedFormats;
    StorageImageReadWithoutFormat => ShaderStorageImageReadWithoutFormat;
    StorageImageWriteWithoutFormat => ShaderStorageImageWriteWithoutFormat;
    ImageCubeArray => ImageCubeArray;
    SampledCubeArray => ImageCubeArray;
    ImageGatherExtended => ShaderImageGatherExtended;
    MinLod => ShaderResourceMinLod;
    UniformBufferArrayDynamicIndexing => ShaderUniformBufferArrayDynamicIndexing;
    SampledImageArrayDynamicIndexing => ShaderSampledImageArrayDynamicIndexing;
    StorageBufferArrayDynamicIndexing => ShaderStorageBufferArrayDynamicIndexing;
    StorageImageArrayDynamicIndexing => ShaderStorageImageArrayDynamicIndexing;
    UniformTexelBufferArrayDynamicIndexing => ShaderUniformTexelBufferArrayDynamicIndexing;
    StorageTexelBufferArrayDynamicIndexing => ShaderStorageTexelBufferArrayDynamicIndexing;
    UniformBufferArrayNonUniformIndexing => ShaderUniformBufferArrayNonUniformIndexing;
    SampledImageArrayNonUniformIndexing => ShaderSampledImageArrayNonUniformIndexing;
    StorageBufferArrayNonUniformIndexing => ShaderStorageBufferArrayNonUniformIndexing;
    StorageImageArrayNonUniformIndexing => ShaderStorageImageArrayNonUniformIndexing;
    UniformTexelBufferArrayNonUniformIndexing => ShaderUniformTexelBufferArrayNonUniformIndexing;
    StorageTexelBufferArrayNonUniformIndexing => ShaderStorageTexelBufferArrayNonUniformIndexing;
    RuntimeDescriptorArray => RuntimeDescriptorArray;
    StorageBuffer16BitAccess => StorageBuffer16BitAccess;
    UniformAndStorageBuffer16BitAccess => UniformAndStorageBuffer16BitAccess;
    StoragePushConstant16 => StoragePushConstant16;
    StorageBuffer8BitAccess => StorageBuffer8BitAccess;
    UniformAndStorageBuffer8BitAccess => UniformAndStorageBuffer8BitAccess;
    StoragePushConstant8 => StoragePushConstant8;
    VariablePointersStorageBuffer => VariablePointersStorageBuffer;
    VariablePointers => VariablePointers;
    VulkanMemoryModel => VulkanMemoryModel;
    VulkanMemoryModelDeviceScope => VulkanMemoryModelDeviceScope;
    PhysicalStorageBufferAddresses => BufferDeviceAddress;
    DemoteToHelperInvocation => ShaderDemoteToHelperInvocation;
    ShaderClockKHR => ShaderSubgroupClock | ShaderDeviceClock;
    Int64Atomics => ShaderBufferInt64Atomics | ShaderSharedInt64Atomics | ShaderImageInt64Atomics;
    Int64ImageEXT => ShaderImageInt64Atomics;
    AtomicFloat32AddEXT => ShaderBufferFloat32AtomicAdd | ShaderSharedFloat32AtomicAdd | ShaderImageFloat32AtomicAdd;
    AtomicFloat64AddEXT => ShaderBufferFloat64AtomicAdd | ShaderSharedFloat64AtomicAdd;
    GroupNonUniformVote => SubgroupVote;
    GroupNonUniformArithmetic => SubgroupArithmetic;
    GroupNonUniformBallot => SubgroupBallot;
    GroupNonUniformShuffle => SubgroupShuffle;
    GroupNonUniformShuffleRelative => SubgroupShuffleRelative;
    GroupNonUniformClustered => SubgroupClustered;
    GroupNonUniformQuad => SubgroupQuad;
};

/// SPIR-V extensions that Vulkan SC 1.0 takes: those of Vulkan 1.2, and those behind its own shader
/// extensions.
const EXTENSIONS: &[(&str, FeatureRule)] = &[
    ("SPV_KHR_storage_buffer_storage_class", FeatureRule::Always),
    ("SPV_KHR_device_group", FeatureRule::Always),
    ("SPV_KHR_multiview", FeatureRule::Always),
    ("SPV_KHR_shader_draw_parameters", FeatureRule::Always),
    ("SPV_KHR_no_integer_wrap_decoration", FeatureRule::Always),
    ("SPV_KHR_float_controls", FeatureRule::Elsewhere),
    ("SPV_KHR_variable_pointers", FeatureRule::Elsewhere),
    ("SPV_KHR_16bit_storage", FeatureRule::Elsewhere),
    ("SPV_KHR_8bit_storage", FeatureRule::Elsewhere),
    ("SPV_KHR_physical_storage_buffer", FeatureRule::Elsewhere),
    ("SPV_EXT_physical_storage_buffer", FeatureRule::Elsewhere),
    ("SPV_EXT_descriptor_indexing", FeatureRule::Elsewhere),
    ("SPV_KHR_vulkan_memory_model", FeatureRule::Elsewhere),
    ("SPV_KHR_shader_clock", FeatureRule::Elsewhere),
    ("SPV_EXT_shader_atomic_float_add", FeatureRule::Elsewhere),
    ("SPV_EXT_shader_image_int64", FeatureRule::Elsewhere),
    ("SPV_EXT_demote_to_helper_invocation", FeatureRule::Elsewhere),
    ("SPV_KHR_terminate_invocation", FeatureRule::Any(&[ScFeature::ShaderTerminateInvocation])),
];

const ATOMICS: &[(AtomicKind, u32, AtomicMemory, ScFeature)] = {
    use AtomicKind::{FloatAdd, FloatExchange, Integer};
    use AtomicMemory::{Buffer, Image, Workgroup};
    use ScFeature as Feature;
    &[
        (Integer, 64, Buffer, Feature::ShaderBufferInt64Atomics),
        (Integer, 64, Workgroup, Feature::ShaderSharedInt64Atomics),
        (Integer, 64, Image, Feature::ShaderImageInt64Atomics),
        (FloatExchange, 32, Buffer, Feature::ShaderBufferFloat32Atomics),
        (FloatExchange, 32, Workgroup, Feature::ShaderSharedFloat32Atomics),
        (FloatExchange, 32, Image, Feature::ShaderImageFloat32Atomics),
        (FloatExchange, 64, Buffer, Feature::ShaderBufferFloat64Atomics),
        (FloatExchange, 64, Workgroup, Feature::ShaderSharedFloat64Atomics),
        (FloatAdd, 32, Buffer, Feature::ShaderBufferFloat32AtomicAdd),
        (FloatAdd, 32, Workgroup, Feature::ShaderSharedFloat32AtomicAdd),
        (FloatAdd, 32, Image, Feature::ShaderImageFloat32AtomicAdd),
        (FloatAdd, 64, Buffer, Feature::ShaderBufferFloat64AtomicAdd),
        (FloatAdd, 64, Workgroup, Feature::ShaderSharedFloat64AtomicAdd),
    ]
};

const FLOAT_MODES: &[(ExecutionMode, u32, ScFeature)] = {
    use ExecutionMode as Mode;
    use ScFeature as Feature;
    &[
        (Mode::SignedZeroInfNanPreserve, 16, Feature::ShaderSignedZeroInfNanPreserveFloat16),
        (Mode::SignedZeroInfNanPreserve, 32, Feature::ShaderSignedZeroInfNanPreserveFloat32),
        (Mode::SignedZeroInfNanPreserve, 64, Feature::ShaderSignedZeroInfNanPreserveFloat64),
        (Mode::DenormPreserve, 16, Feature::ShaderDenormPreserveFloat16),
        (Mode::DenormPreserve, 32, Feature::ShaderDenormPreserveFloat32),
        (Mode::DenormPreserve, 64, Feature::ShaderDenormPreserveFloat64),
        (Mode::DenormFlushToZero, 16, Feature::ShaderDenormFlushToZeroFloat16),
        (Mode::DenormFlushToZero, 32, Feature::ShaderDenormFlushToZeroFloat32),
        (Mode::DenormFlushToZero, 64, Feature::ShaderDenormFlushToZeroFloat64),
        (Mode::RoundingModeRTE, 16, Feature::ShaderRoundingModeRteFloat16),
        (Mode::RoundingModeRTE, 32, Feature::ShaderRoundingModeRteFloat32),
        (Mode::RoundingModeRTE, 64, Feature::ShaderRoundingModeRteFloat64),
        (Mode::RoundingModeRTZ, 16, Feature::ShaderRoundingModeRtzFloat16),
        (Mode::RoundingModeRTZ, 32, Feature::ShaderRoundingModeRtzFloat32),
        (Mode::RoundingModeRTZ, 64, Feature::ShaderRoundingModeRtzFloat64),
    ]
};

#[cfg(test)]
#[path = "safety_critical_tests.rs"]
mod tests;
