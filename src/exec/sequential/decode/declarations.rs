//! What a module may declare: capabilities that the engine has, and the size of workgroups.

use super::unsupported::{Unsupported, unsupported};
use crate::ir::MOST_INVOCATIONS;
use rspirv::dr::Operand;
use rspirv::spirv::{Capability, Op};
use vkcert_spirv::module::Module;
use vkcert_spirv::opcodes;
use vkcert_spirv::opcodes::EngineSupport;

/// Capabilities whose features the engine has; the instructions they bring are checked one by one.
pub(super) const CAPABILITIES: &[Capability] = &[
    Capability::Matrix,
    Capability::Shader,
    Capability::ImageQuery,
    Capability::Sampled1D,
    Capability::Image1D,
    Capability::SampledBuffer,
    Capability::ImageBuffer,
    Capability::SampledCubeArray,
    Capability::ImageCubeArray,
    Capability::StorageImageMultisample,
    Capability::ImageMSArray,
    Capability::StorageImageExtendedFormats,
    Capability::StorageImageReadWithoutFormat,
    Capability::StorageImageWriteWithoutFormat,
    Capability::ImageGatherExtended,
    Capability::Int64ImageEXT,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::ShaderNonUniform,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::RoundingModeRTZ,
    Capability::DenormPreserve,
    Capability::DenormFlushToZero,
    Capability::FloatControls2,
    Capability::PhysicalStorageBufferAddresses,
    Capability::RuntimeDescriptorArray,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::WorkgroupMemoryExplicitLayoutKHR,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::CooperativeMatrixKHR,
    Capability::BFloat16TypeKHR,
    Capability::BFloat16DotProductKHR,
    Capability::BFloat16CooperativeMatrixKHR,
    Capability::VariablePointers,
    Capability::VariablePointersStorageBuffer,
    Capability::DotProduct,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
    Capability::ExpectAssumeKHR,
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::Float64,
    Capability::Int64Atomics,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat64AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::AtomicFloat64MinMaxEXT,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
    Capability::QuadControlKHR,
    Capability::SubgroupBallotKHR,
    Capability::SubgroupVoteKHR,
    Capability::GroupNonUniformPartitionedEXT,
    Capability::UntypedPointersKHR,
];

/// A workgroup has from one to [`MOST_INVOCATIONS`] invocations.
pub(crate) fn check_local_size(local_size: [u32; 3]) -> Result<(), Unsupported> {
    let invocations: u128 = local_size.iter().map(|axis_size| u128::from(*axis_size)).product();
    if (1..=u128::from(MOST_INVOCATIONS)).contains(&invocations) {
        return Ok(());
    }
    let [x, y, z] = local_size;
    Err(unsupported(format!(
        "a local size of {x} x {y} x {z} (the engine runs workgroups of 1 to {MOST_INVOCATIONS} invocations)"
    )))
}

pub(crate) fn check_declarations(module: &Module) -> Result<(), Unsupported> {
    for instruction in
        module.instructions.iter().take_while(|instruction| instruction.op != Op::Function)
    {
        if let (Op::Capability, Some(Operand::Capability(capability))) =
            (instruction.op, instruction.operands.first())
            && !CAPABILITIES.contains(capability)
        {
            return Err(unsupported(format!("capability {capability:?}")));
        }
        check_supported(instruction.op)?;
    }
    Ok(())
}

/// Refuses an instruction that the table of opcodes does not list as supported.
pub(crate) fn check_supported(op: Op) -> Result<(), Unsupported> {
    match opcodes::engine_support(op) {
        EngineSupport::Engine => Ok(()),
        EngineSupport::Not(why) => Err(unsupported(format!("Op{op:?} ({why})"))),
    }
}
