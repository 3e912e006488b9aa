//! Feature structures that say on an older API version what the structures of a newer one say in
//! one piece.
//!
//! Knows: per structure the extension that brings it, and the version whose structure holds its
//! features from then on (Vulkan specification, "Promotion" of each extension).
//! Promises: no feature is in a chain twice: a structure is used only below the version that has
//! taken it up, and only where its extension is offered; extensions are switched on only below the
//! version that has taken them up.
//! Does not cover: VK_KHR_buffer_device_address, whose call has another name in the extension:
//! device addresses need Vulkan 1.2.

use super::features::Features;
use super::newer;
use super::version::API_VERSION_1_4;
use ash::{ext, khr, nv, vk};
use std::ffi::CStr;

/// An extension is part of no version.
const NEVER: u32 = u32::MAX;

/// VK_KHR_robustness2, which is younger than the bindings; its structure is that of
/// VK_EXT_robustness2.
pub(crate) const KHR_ROBUSTNESS2: &CStr = c"VK_KHR_robustness2";

/// Extensions that this engine makes use of, with the version that each is part of.
pub(crate) const EXTENSIONS: &[(&CStr, u32)] = &[
    (ext::shader_atomic_float::NAME, NEVER),
    (khr::shader_clock::NAME, NEVER),
    (khr::workgroup_memory_explicit_layout::NAME, NEVER),
    (khr::cooperative_matrix::NAME, NEVER),
    (ext::shader_atomic_float2::NAME, NEVER),
    (ext::shader_image_atomic_int64::NAME, NEVER),
    (khr::shader_subgroup_rotate::NAME, API_VERSION_1_4),
    (khr::shader_expect_assume::NAME, API_VERSION_1_4),
    (khr::shader_subgroup_uniform_control_flow::NAME, NEVER),
    (khr::shader_maximal_reconvergence::NAME, NEVER),
    (khr::shader_quad_control::NAME, NEVER),
    (khr::shader_float_controls2::NAME, API_VERSION_1_4),
    (ext::shader_subgroup_ballot::NAME, NEVER),
    (ext::shader_subgroup_vote::NAME, NEVER),
    (nv::shader_subgroup_partitioned::NAME, NEVER),
    (newer::UNTYPED_POINTERS, NEVER),
    (newer::BFLOAT16, NEVER),
    (ext::robustness2::NAME, NEVER),
    (KHR_ROBUSTNESS2, NEVER),
    (khr::_8bit_storage::NAME, vk::API_VERSION_1_2),
    (khr::shader_float16_int8::NAME, vk::API_VERSION_1_2),
    (khr::shader_atomic_int64::NAME, vk::API_VERSION_1_2),
    (ext::descriptor_indexing::NAME, vk::API_VERSION_1_2),
    (ext::scalar_block_layout::NAME, vk::API_VERSION_1_2),
    (khr::uniform_buffer_standard_layout::NAME, vk::API_VERSION_1_2),
    (khr::shader_subgroup_extended_types::NAME, vk::API_VERSION_1_2),
    (khr::vulkan_memory_model::NAME, vk::API_VERSION_1_2),
    (khr::shader_float_controls::NAME, vk::API_VERSION_1_2),
    (khr::spirv_1_4::NAME, vk::API_VERSION_1_2),
    (khr::driver_properties::NAME, vk::API_VERSION_1_2),
    (khr::sampler_mirror_clamp_to_edge::NAME, vk::API_VERSION_1_2),
    (ext::subgroup_size_control::NAME, vk::API_VERSION_1_3),
    (ext::shader_demote_to_helper_invocation::NAME, vk::API_VERSION_1_3),
    (khr::shader_terminate_invocation::NAME, vk::API_VERSION_1_3),
    (khr::zero_initialize_workgroup_memory::NAME, vk::API_VERSION_1_3),
    (khr::shader_integer_dot_product::NAME, vk::API_VERSION_1_3),
    (khr::shader_non_semantic_info::NAME, vk::API_VERSION_1_3),
    (khr::maintenance4::NAME, vk::API_VERSION_1_3),
    (ext::image_robustness::NAME, vk::API_VERSION_1_3),
];

/// What of a device's extensions this engine uses.
#[derive(Clone, Default)]
pub(crate) struct OfferedExtensions {
    version: u32,
    /// In the order of [`EXTENSIONS`].
    extension_names: Vec<&'static CStr>,
}

impl OfferedExtensions {
    /// `all` are the extensions of a device that is used with API version `version`.
    pub(crate) fn from_extensions(version: u32, device_extensions: &[String]) -> Self {
        let is_offered = |name: &CStr| {
            device_extensions.iter().any(|offered| offered.as_bytes() == name.to_bytes())
        };
        Self {
            version,
            extension_names: EXTENSIONS
                .iter()
                .map(|(name, _)| *name)
                .filter(|name| is_offered(name))
                .collect(),
        }
    }

    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// Whether what the extension brings is there: by itself, or as part of the version.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.extension_names.contains(&name) || self.version >= core_version(name)
    }

    /// The extensions to switch on.
    pub(crate) fn to_switch_on(&self) -> Vec<&'static CStr> {
        self.extension_names
            .iter()
            .copied()
            .filter(|name| self.version < core_version(name))
            .collect()
    }

    /// Whether a structure of the extension is used: below `from`, the version whose structure has
    /// its features.
    fn uses_structure(&self, extension: Option<&CStr>, core_version: u32) -> bool {
        self.version < core_version
            && extension.is_none_or(|name| self.extension_names.contains(&name))
    }
}

/// The version that an extension is part of.
fn core_version(name: &CStr) -> u32 {
    EXTENSIONS
        .iter()
        .find(|(known_extension, _)| *known_extension == name)
        .map_or(NEVER, |(_, version)| *version)
}

macro_rules! older {
    ($($name:ident: $structure:ident, $extension:expr, $from:ident => $core:ident { $($field:ident),+ })*) => {
        /// Structures of extensions, and of Vulkan 1.1 what 1.2 has in one structure.
        #[derive(Default)]
        pub(crate) struct Older {
            $($name: vk::$structure<'static>,)*
        }

        impl Older {
            /// The structures that switch on what `features` has on.
            pub(crate) fn of(features: &Features) -> Self {
                let mut older = Self::default();
                $($(older.$name.$field = features.$core.$field;)+)*
                older
            }

            /// Chains those that are used.
            pub(crate) fn chain<'a>(
                &'a mut self,
                offered: &OfferedExtensions,
                mut chain: vk::PhysicalDeviceFeatures2<'a>,
            ) -> vk::PhysicalDeviceFeatures2<'a> {
                $(if offered.uses_structure($extension, vk::$from) { chain = chain.push_next(&mut self.$name); })*
                chain
            }

            /// A structure that was in no chain is all false and changes nothing.
            pub(crate) fn merge_into(&self, features: &mut Features) {
                $($(features.$core.$field |= self.$name.$field;)+)*
            }
        }
    };
}

older! {
    storage16: PhysicalDevice16BitStorageFeatures, None, API_VERSION_1_2 =>
        v11 { storage_buffer16_bit_access, uniform_and_storage_buffer16_bit_access, storage_push_constant16 }
    variable_pointers: PhysicalDeviceVariablePointersFeatures, None, API_VERSION_1_2 =>
        v11 { variable_pointers_storage_buffer, variable_pointers }
    storage8: PhysicalDevice8BitStorageFeatures, Some(khr::_8bit_storage::NAME), API_VERSION_1_2 =>
        v12 { storage_buffer8_bit_access, uniform_and_storage_buffer8_bit_access, storage_push_constant8 }
    small_types: PhysicalDeviceShaderFloat16Int8Features, Some(khr::shader_float16_int8::NAME), API_VERSION_1_2 =>
        v12 { shader_float16, shader_int8 }
    atomic64: PhysicalDeviceShaderAtomicInt64Features, Some(khr::shader_atomic_int64::NAME), API_VERSION_1_2 =>
        v12 { shader_buffer_int64_atomics, shader_shared_int64_atomics }
    indexing: PhysicalDeviceDescriptorIndexingFeatures, Some(ext::descriptor_indexing::NAME), API_VERSION_1_2 =>
        v12 {
            shader_uniform_texel_buffer_array_dynamic_indexing, shader_storage_texel_buffer_array_dynamic_indexing,
            shader_uniform_buffer_array_non_uniform_indexing, shader_sampled_image_array_non_uniform_indexing,
            shader_storage_buffer_array_non_uniform_indexing, shader_storage_image_array_non_uniform_indexing,
            shader_uniform_texel_buffer_array_non_uniform_indexing,
            shader_storage_texel_buffer_array_non_uniform_indexing, runtime_descriptor_array
        }
    scalar_layout: PhysicalDeviceScalarBlockLayoutFeatures, Some(ext::scalar_block_layout::NAME), API_VERSION_1_2 =>
        v12 { scalar_block_layout }
    uniform_layout: PhysicalDeviceUniformBufferStandardLayoutFeatures,
        Some(khr::uniform_buffer_standard_layout::NAME), API_VERSION_1_2 =>
        v12 { uniform_buffer_standard_layout }
    subgroup_types: PhysicalDeviceShaderSubgroupExtendedTypesFeatures,
        Some(khr::shader_subgroup_extended_types::NAME), API_VERSION_1_2 =>
        v12 { shader_subgroup_extended_types }
    memory_model: PhysicalDeviceVulkanMemoryModelFeatures, Some(khr::vulkan_memory_model::NAME), API_VERSION_1_2 =>
        v12 {
            vulkan_memory_model, vulkan_memory_model_device_scope,
            vulkan_memory_model_availability_visibility_chains
        }
    subgroup_size: PhysicalDeviceSubgroupSizeControlFeatures, Some(ext::subgroup_size_control::NAME), API_VERSION_1_3 =>
        v13 { subgroup_size_control, compute_full_subgroups }
    demote: PhysicalDeviceShaderDemoteToHelperInvocationFeatures,
        Some(ext::shader_demote_to_helper_invocation::NAME), API_VERSION_1_3 =>
        v13 { shader_demote_to_helper_invocation }
    terminate: PhysicalDeviceShaderTerminateInvocationFeatures,
        Some(khr::shader_terminate_invocation::NAME), API_VERSION_1_3 =>
        v13 { shader_terminate_invocation }
    zero_initialize: PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures,
        Some(khr::zero_initialize_workgroup_memory::NAME), API_VERSION_1_3 =>
        v13 { shader_zero_initialize_workgroup_memory }
    dot_product: PhysicalDeviceShaderIntegerDotProductFeatures,
        Some(khr::shader_integer_dot_product::NAME), API_VERSION_1_3 =>
        v13 { shader_integer_dot_product }
    maintenance: PhysicalDeviceMaintenance4Features, Some(khr::maintenance4::NAME), API_VERSION_1_3 =>
        v13 { maintenance4 }
    image_robustness: PhysicalDeviceImageRobustnessFeatures, Some(ext::image_robustness::NAME), API_VERSION_1_3 =>
        v13 { robust_image_access }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Structure types of a chain, in order.
    fn chained(features: &mut Features, older: &mut Older) -> Vec<vk::StructureType> {
        let chain = features.chain_structures(older);
        let mut types = Vec::new();
        let mut next = chain.p_next.cast::<vk::BaseOutStructure>();
        // SAFETY: a chain of the builder's own making: each pointer is null or leads to a live
        // structure that begins so.
        while let Some(structure) = unsafe { next.as_ref() } {
            types.push(structure.s_type);
            next = structure.p_next;
        }
        types
    }

    fn all_extensions() -> Vec<String> {
        EXTENSIONS.iter().map(|(name, _)| name.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn no_feature_is_chained_twice_and_none_beyond_the_version() {
        use vk::StructureType as Type;
        let versions =
            [vk::API_VERSION_1_1, vk::API_VERSION_1_2, vk::API_VERSION_1_3, API_VERSION_1_4];
        let (mut with, mut without) = (Vec::new(), Vec::new());
        for version in versions {
            for (extensions, lengths) in [(all_extensions(), &mut with), (Vec::new(), &mut without)]
            {
                let mut features = Features::query_device(version, &extensions, |_| {});
                let types = chained(&mut features, &mut Older::default());
                assert_eq!(types.iter().collect::<BTreeSet<_>>().len(), types.len(), "{types:?}");
                let core = [
                    (Type::PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, vk::API_VERSION_1_2),
                    (Type::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, vk::API_VERSION_1_2),
                    (Type::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, vk::API_VERSION_1_3),
                    (Type::PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES_KHR, API_VERSION_1_4),
                ];
                for (structure, from) in core {
                    let own =
                        structure == Type::PHYSICAL_DEVICE_SHADER_SUBGROUP_ROTATE_FEATURES_KHR;
                    let expected = version >= from || own && !extensions.is_empty();
                    assert_eq!(
                        types.contains(&structure),
                        expected,
                        "{structure:?} at {version:#x}"
                    );
                }
                let apart = [
                    (Type::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, vk::API_VERSION_1_2),
                    (Type::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES, vk::API_VERSION_1_2),
                    (Type::PHYSICAL_DEVICE_IMAGE_ROBUSTNESS_FEATURES, vk::API_VERSION_1_3),
                    (Type::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES, vk::API_VERSION_1_3),
                ];
                for (structure, until) in apart {
                    let always = structure == Type::PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES;
                    let expected = version < until && (always || !extensions.is_empty());
                    assert_eq!(
                        types.contains(&structure),
                        expected,
                        "{structure:?} at {version:#x}"
                    );
                }
                lengths.push(types.len());
            }
        }
        // 1.1: 17 structures of extensions and of 1.1 itself, 15 of the engine's own; 1.2 and 1.3
        // take up 10 and 7.
        assert_eq!(with, [32, 24, 18, 18]);
        // Of the own ones 1.4 has some without an extension.
        assert_eq!(without, [2, 2, 3, 6]);
    }

    #[test]
    fn extensions_are_switched_on_below_the_version_that_has_them() {
        let all = all_extensions();
        let on = |version| OfferedExtensions::from_extensions(version, &all).to_switch_on();
        assert_eq!(on(vk::API_VERSION_1_1).len(), EXTENSIONS.len());
        assert!(on(vk::API_VERSION_1_1).contains(&khr::spirv_1_4::NAME));
        assert!(!on(vk::API_VERSION_1_2).contains(&khr::spirv_1_4::NAME));
        assert!(on(vk::API_VERSION_1_2).contains(&khr::maintenance4::NAME));
        assert!(!on(vk::API_VERSION_1_3).contains(&khr::maintenance4::NAME));
        assert!(on(vk::API_VERSION_1_3).contains(&khr::shader_expect_assume::NAME));
        assert!(!on(API_VERSION_1_4).contains(&khr::shader_expect_assume::NAME));
        assert!(on(API_VERSION_1_4).contains(&ext::robustness2::NAME));
        // What no device offers is switched on nowhere, and is there only as part of a version.
        let none = OfferedExtensions::from_extensions(vk::API_VERSION_1_3, &[]);
        assert!(none.to_switch_on().is_empty());
        assert!(none.has(khr::maintenance4::NAME) && !none.has(khr::shader_expect_assume::NAME));
        assert!(
            OfferedExtensions::from_extensions(API_VERSION_1_4, &[])
                .has(khr::shader_expect_assume::NAME)
        );
    }

    #[test]
    fn a_feature_has_one_name_whichever_structure_it_came_from() {
        let answer = |chain: &mut vk::PhysicalDeviceFeatures2<'_>| {
            let mut next = chain.p_next.cast::<vk::BaseOutStructure>();
            // SAFETY: as in `chained`; every structure of the chain has its Boolean words behind
            // the header of 16 bytes, and each of those written to is of the size that its type
            // says.
            unsafe {
                while let Some(structure) = next.as_mut() {
                    let base: *mut vk::BaseOutStructure<'_> = structure;
                    match structure.s_type {
                        vk::StructureType::PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES => {
                            (*base.cast::<vk::PhysicalDevice8BitStorageFeatures>())
                                .storage_buffer8_bit_access = 1;
                        }
                        vk::StructureType::PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES => {
                            (*base.cast::<vk::PhysicalDeviceMaintenance4Features>()).maintenance4 =
                                1;
                        }
                        vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_2_FEATURES => {
                            (*base.cast::<vk::PhysicalDeviceVulkan12Features>())
                                .storage_buffer8_bit_access = 1;
                        }
                        vk::StructureType::PHYSICAL_DEVICE_VULKAN_1_3_FEATURES => {
                            (*base.cast::<vk::PhysicalDeviceVulkan13Features>()).maintenance4 = 1;
                        }
                        _ => {}
                    }
                    next = structure.p_next;
                }
            }
        };
        for version in
            [vk::API_VERSION_1_1, vk::API_VERSION_1_2, vk::API_VERSION_1_3, API_VERSION_1_4]
        {
            let features = Features::query_device(version, &all_extensions(), answer);
            assert_eq!(
                (features.v12.storage_buffer8_bit_access, features.v13.maintenance4),
                (1, 1),
                "{version:#x}"
            );
            let older = Older::of(&features);
            assert_eq!(
                (older.storage8.storage_buffer8_bit_access, older.maintenance.maintenance4),
                (1, 1)
            );
        }
    }
}
