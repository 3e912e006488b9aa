//! The opcodes of SPIR-V: what each does to the state that other invocations or later instructions
//! can see, and whether the sequential engine runs it.
//!
//! Knows: every opcode of the grammar of the pinned rspirv, in one group here or in
//! [`foreign`](super::foreign).
//! Promises: an opcode that is in neither fails a test, so that a new grammar is looked at before
//! it is used. The engine dispatches by this table: what is not its own here never reaches a
//! handler, and `docs/spirv-support.md` is written from it.
//! Does not cover: which operand is the pointer, and of what scope a barrier is; readers of the
//! instruction see that.

use super::foreign::FOREIGN;
use rspirv::spirv::Op;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The effect class of an opcode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// Declares something or structures the text; nothing happens when it is passed.
    Declaration,
    /// The result depends on the operands alone.
    Pure,
    /// Computes where something is, or how much there is of it; touches no contents.
    Address,
    /// Reads memory, an image or a clock.
    Read,
    /// Writes memory or an image.
    Write,
    /// May do either: copies, and extended instructions, of which some write through a pointer.
    ReadWrite,
    /// Reads and writes memory in one step that other invocations see whole.
    Atomic,
    /// Orders memory or holds invocations.
    Barrier,
    /// The result depends on what other invocations of the subgroup do.
    Subgroup,
    Call,
    /// Goes to another block.
    Branch,
    /// Leaves the function or ends the invocation.
    End,
}

/// Whether the sequential engine runs an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It runs it, or heeds what it declares.
    Engine,
    /// A kernel that holds one is `unsupported` by name; what the instruction belongs to.
    Not(&'static str),
}

/// Opcodes that are alike.
#[derive(Debug)]
pub struct Group {
    /// A title of `docs/spirv-support.md`; several groups may share one.
    pub title: &'static str,
    pub effect: Effect,
    pub support: Support,
    pub ops: &'static [Op],
}

/// The effect of `op`; `None` where this tool does not model it ([`FOREIGN`]).
pub fn effect(op: Op) -> Option<Effect> {
    GROUP_OF.get(&op).map(|group| group.effect)
}

/// Whether `op` says nothing but what things are called and where they come from: the first of the
/// groups.
pub fn is_debug(op: Op) -> bool {
    GROUPS[0].ops.contains(&op)
}

/// Whether the sequential engine runs `op`.
pub fn support(op: Op) -> Support {
    match GROUP_OF.get(&op) {
        Some(group) => group.support,
        None => {
            let foreign = FOREIGN.iter().find(|foreign| foreign.ops.contains(&op));
            Support::Not(foreign.map_or("of a newer grammar", |foreign| foreign.why))
        }
    }
}

static GROUP_OF: LazyLock<HashMap<Op, &'static Group>> = LazyLock::new(|| {
    GROUPS.iter().flat_map(|group| group.ops.iter().map(move |op| (*op, group))).collect()
});

/// The opcodes whose effect is known.
pub const GROUPS: &[Group] = &[
    Group {
        title: "Names and debug information",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[
            Op::Nop,
            Op::SourceContinued,
            Op::Source,
            Op::SourceExtension,
            Op::Name,
            Op::MemberName,
            Op::String,
            Op::Line,
            Op::NoLine,
            Op::ModuleProcessed,
            Op::DecorateString,
            Op::MemberDecorateString,
        ],
    },
    Group {
        title: "Modules",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[
            Op::Extension,
            Op::ExtInstImport,
            Op::MemoryModel,
            Op::EntryPoint,
            Op::ExecutionMode,
            Op::ExecutionModeId,
            Op::Capability,
            Op::Decorate,
            Op::MemberDecorate,
            Op::DecorationGroup,
            Op::GroupDecorate,
            Op::GroupMemberDecorate,
            Op::DecorateId,
        ],
    },
    Group {
        title: "Types",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[
            Op::TypeVoid,
            Op::TypeBool,
            Op::TypeInt,
            Op::TypeFloat,
            Op::TypeVector,
            Op::TypeMatrix,
            Op::TypeImage,
            Op::TypeSampler,
            Op::TypeSampledImage,
            Op::TypeArray,
            Op::TypeRuntimeArray,
            Op::TypeStruct,
            Op::TypePointer,
            Op::TypeFunction,
            Op::TypeForwardPointer,
            Op::TypeUntypedPointerKHR,
        ],
    },
    Group {
        title: "Constants",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[
            Op::Undef,
            Op::ConstantTrue,
            Op::ConstantFalse,
            Op::Constant,
            Op::ConstantComposite,
            Op::ConstantNull,
            Op::ConstantCompositeReplicateEXT,
            Op::SpecConstantTrue,
            Op::SpecConstantFalse,
            Op::SpecConstant,
            Op::SpecConstantComposite,
            Op::SpecConstantCompositeReplicateEXT,
            Op::SpecConstantOp,
        ],
    },
    Group {
        title: "Functions and variables",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[
            Op::Function,
            Op::FunctionParameter,
            Op::FunctionEnd,
            Op::Variable,
            Op::UntypedVariableKHR,
        ],
    },
    Group {
        title: "Functions and variables",
        effect: Effect::Call,
        support: Support::Engine,
        ops: &[Op::FunctionCall],
    },
    Group {
        title: "Control flow",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[Op::Label, Op::LoopMerge, Op::SelectionMerge],
    },
    Group {
        title: "Control flow",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::Phi],
    },
    Group {
        title: "Control flow",
        effect: Effect::Branch,
        support: Support::Engine,
        ops: &[Op::Branch, Op::BranchConditional, Op::Switch],
    },
    Group {
        title: "Control flow",
        effect: Effect::End,
        support: Support::Engine,
        ops: &[Op::Return, Op::ReturnValue, Op::Kill, Op::TerminateInvocation, Op::Unreachable],
    },
    Group { title: "Memory", effect: Effect::Read, support: Support::Engine, ops: &[Op::Load] },
    Group { title: "Memory", effect: Effect::Write, support: Support::Engine, ops: &[Op::Store] },
    Group {
        title: "Memory",
        effect: Effect::ReadWrite,
        support: Support::Engine,
        ops: &[Op::CopyMemory, Op::CopyMemorySized],
    },
    Group {
        title: "Memory",
        effect: Effect::Address,
        support: Support::Engine,
        ops: &[Op::AccessChain, Op::InBoundsAccessChain, Op::ArrayLength],
    },
    Group {
        title: "Pointers and addresses",
        effect: Effect::Address,
        support: Support::Engine,
        ops: &[
            Op::PtrAccessChain,
            Op::InBoundsPtrAccessChain,
            Op::UntypedAccessChainKHR,
            Op::UntypedInBoundsAccessChainKHR,
            Op::UntypedPtrAccessChainKHR,
            Op::UntypedInBoundsPtrAccessChainKHR,
            Op::UntypedArrayLengthKHR,
        ],
    },
    Group {
        title: "Pointers and addresses",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::PtrEqual, Op::PtrNotEqual, Op::ConvertPtrToU, Op::ConvertUToPtr],
    },
    Group {
        title: "Composites",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[
            Op::CompositeConstruct,
            Op::CompositeExtract,
            Op::CompositeInsert,
            Op::VectorShuffle,
            Op::VectorExtractDynamic,
            Op::VectorInsertDynamic,
            Op::CopyObject,
            Op::CopyLogical,
            Op::Transpose,
        ],
    },
    Group {
        title: "Conversions",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[
            Op::ConvertFToU,
            Op::ConvertFToS,
            Op::ConvertSToF,
            Op::ConvertUToF,
            Op::UConvert,
            Op::SConvert,
            Op::FConvert,
            Op::QuantizeToF16,
            Op::Bitcast,
        ],
    },
    Group {
        title: "Arithmetic",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[
            Op::SNegate,
            Op::FNegate,
            Op::IAdd,
            Op::FAdd,
            Op::ISub,
            Op::FSub,
            Op::IMul,
            Op::FMul,
            Op::UDiv,
            Op::SDiv,
            Op::FDiv,
            Op::UMod,
            Op::SRem,
            Op::SMod,
            Op::FRem,
            Op::FMod,
            Op::VectorTimesScalar,
            Op::MatrixTimesScalar,
            Op::VectorTimesMatrix,
            Op::MatrixTimesVector,
            Op::MatrixTimesMatrix,
            Op::OuterProduct,
            Op::Dot,
            Op::IAddCarry,
            Op::ISubBorrow,
            Op::UMulExtended,
            Op::SMulExtended,
        ],
    },
    Group {
        title: "Bits",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[
            Op::ShiftRightLogical,
            Op::ShiftRightArithmetic,
            Op::ShiftLeftLogical,
            Op::BitwiseOr,
            Op::BitwiseXor,
            Op::BitwiseAnd,
            Op::Not,
            Op::BitFieldInsert,
            Op::BitFieldSExtract,
            Op::BitFieldUExtract,
            Op::BitReverse,
            Op::BitCount,
        ],
    },
    Group {
        title: "Comparisons and logic",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[
            Op::Any,
            Op::All,
            Op::IsNan,
            Op::IsInf,
            Op::LessOrGreater,
            Op::Ordered,
            Op::Unordered,
            Op::LogicalEqual,
            Op::LogicalNotEqual,
            Op::LogicalOr,
            Op::LogicalAnd,
            Op::LogicalNot,
            Op::Select,
            Op::IEqual,
            Op::INotEqual,
            Op::UGreaterThan,
            Op::SGreaterThan,
            Op::UGreaterThanEqual,
            Op::SGreaterThanEqual,
            Op::ULessThan,
            Op::SLessThan,
            Op::ULessThanEqual,
            Op::SLessThanEqual,
            Op::FOrdEqual,
            Op::FUnordEqual,
            Op::FOrdNotEqual,
            Op::FUnordNotEqual,
            Op::FOrdLessThan,
            Op::FUnordLessThan,
            Op::FOrdGreaterThan,
            Op::FUnordGreaterThan,
            Op::FOrdLessThanEqual,
            Op::FUnordLessThanEqual,
            Op::FOrdGreaterThanEqual,
            Op::FUnordGreaterThanEqual,
        ],
    },
    Group {
        title: "Extended instructions",
        effect: Effect::ReadWrite,
        support: Support::Engine,
        ops: &[Op::ExtInst],
    },
    Group {
        title: "Atomics",
        effect: Effect::Atomic,
        support: Support::Engine,
        ops: &[
            Op::AtomicLoad,
            Op::AtomicStore,
            Op::AtomicExchange,
            Op::AtomicCompareExchange,
            Op::AtomicIIncrement,
            Op::AtomicIDecrement,
            Op::AtomicIAdd,
            Op::AtomicISub,
            Op::AtomicSMin,
            Op::AtomicUMin,
            Op::AtomicSMax,
            Op::AtomicUMax,
            Op::AtomicAnd,
            Op::AtomicOr,
            Op::AtomicXor,
            Op::AtomicFMinEXT,
            Op::AtomicFMaxEXT,
            Op::AtomicFAddEXT,
        ],
    },
    Group {
        title: "Barriers",
        effect: Effect::Barrier,
        support: Support::Engine,
        ops: &[Op::ControlBarrier, Op::MemoryBarrier],
    },
    Group {
        title: "Images",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::SampledImage, Op::Image],
    },
    Group {
        title: "Images",
        effect: Effect::Address,
        support: Support::Engine,
        ops: &[Op::ImageTexelPointer],
    },
    Group {
        title: "Images",
        effect: Effect::Read,
        support: Support::Engine,
        ops: &[
            Op::ImageSampleExplicitLod,
            Op::ImageSampleDrefExplicitLod,
            Op::ImageSampleProjExplicitLod,
            Op::ImageSampleProjDrefExplicitLod,
            Op::ImageFetch,
            Op::ImageGather,
            Op::ImageDrefGather,
            Op::ImageRead,
            Op::ImageQuerySizeLod,
            Op::ImageQuerySize,
            Op::ImageQueryLevels,
            Op::ImageQuerySamples,
        ],
    },
    Group {
        title: "Images",
        effect: Effect::Write,
        support: Support::Engine,
        ops: &[Op::ImageWrite],
    },
    Group {
        title: "Subgroups",
        effect: Effect::Subgroup,
        support: Support::Engine,
        ops: &[
            Op::GroupNonUniformElect,
            Op::GroupNonUniformAll,
            Op::GroupNonUniformAny,
            Op::GroupNonUniformAllEqual,
            Op::GroupNonUniformBroadcast,
            Op::GroupNonUniformBroadcastFirst,
            Op::GroupNonUniformBallot,
            Op::GroupNonUniformInverseBallot,
            Op::GroupNonUniformBallotBitExtract,
            Op::GroupNonUniformBallotBitCount,
            Op::GroupNonUniformBallotFindLSB,
            Op::GroupNonUniformBallotFindMSB,
            Op::GroupNonUniformShuffle,
            Op::GroupNonUniformShuffleXor,
            Op::GroupNonUniformShuffleUp,
            Op::GroupNonUniformShuffleDown,
            Op::GroupNonUniformIAdd,
            Op::GroupNonUniformFAdd,
            Op::GroupNonUniformIMul,
            Op::GroupNonUniformFMul,
            Op::GroupNonUniformSMin,
            Op::GroupNonUniformUMin,
            Op::GroupNonUniformFMin,
            Op::GroupNonUniformSMax,
            Op::GroupNonUniformUMax,
            Op::GroupNonUniformFMax,
            Op::GroupNonUniformBitwiseAnd,
            Op::GroupNonUniformBitwiseOr,
            Op::GroupNonUniformBitwiseXor,
            Op::GroupNonUniformLogicalAnd,
            Op::GroupNonUniformLogicalOr,
            Op::GroupNonUniformLogicalXor,
            Op::GroupNonUniformQuadBroadcast,
            Op::GroupNonUniformQuadSwap,
            Op::SubgroupBallotKHR,
            Op::SubgroupFirstInvocationKHR,
            Op::SubgroupAllKHR,
            Op::SubgroupAnyKHR,
            Op::SubgroupAllEqualKHR,
            Op::GroupNonUniformRotateKHR,
            Op::SubgroupReadInvocationKHR,
        ],
    },
    Group {
        title: "Not run",
        effect: Effect::Read,
        support: Support::Not("derivatives (fragment shaders, SPV_KHR_compute_shader_derivatives)"),
        ops: &[
            Op::ImageSampleImplicitLod,
            Op::ImageSampleDrefImplicitLod,
            Op::ImageSampleProjImplicitLod,
            Op::ImageSampleProjDrefImplicitLod,
            Op::ImageQueryLod,
        ],
    },
    Group {
        title: "Not run",
        effect: Effect::Read,
        support: Support::Not("sparse images"),
        ops: &[
            Op::ImageSparseSampleImplicitLod,
            Op::ImageSparseSampleExplicitLod,
            Op::ImageSparseSampleDrefImplicitLod,
            Op::ImageSparseSampleDrefExplicitLod,
            Op::ImageSparseFetch,
            Op::ImageSparseGather,
            Op::ImageSparseDrefGather,
            Op::ImageSparseTexelsResident,
            Op::ImageSparseRead,
        ],
    },
    Group {
        title: "Not run",
        effect: Effect::Read,
        support: Support::Not("OpenCL kernels"),
        ops: &[Op::ImageQueryFormat, Op::ImageQueryOrder],
    },
    Group {
        title: "Not run",
        effect: Effect::Pure,
        support: Support::Not("OpenCL kernels"),
        ops: &[Op::IsFinite, Op::IsNormal, Op::SignBitSet],
    },
    Group {
        title: "Not run",
        effect: Effect::Atomic,
        support: Support::Not("OpenCL kernels"),
        ops: &[Op::AtomicCompareExchangeWeak, Op::AtomicFlagTestAndSet, Op::AtomicFlagClear],
    },
    Group {
        title: "Not run",
        effect: Effect::Declaration,
        support: Support::Not("opaque types of OpenCL"),
        ops: &[Op::TypeOpaque],
    },
    Group {
        title: "Integer dot products",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::SDot, Op::UDot, Op::SUDot, Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat],
    },
    Group {
        title: "Cooperative matrices",
        effect: Effect::Declaration,
        support: Support::Engine,
        ops: &[Op::TypeCooperativeMatrixKHR],
    },
    Group {
        title: "Cooperative matrices",
        effect: Effect::Read,
        support: Support::Engine,
        ops: &[Op::CooperativeMatrixLoadKHR],
    },
    Group {
        title: "Cooperative matrices",
        effect: Effect::Write,
        support: Support::Engine,
        ops: &[Op::CooperativeMatrixStoreKHR],
    },
    Group {
        title: "Cooperative matrices",
        effect: Effect::Subgroup,
        support: Support::Engine,
        ops: &[Op::CooperativeMatrixMulAddKHR],
    },
    Group {
        title: "Cooperative matrices",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::CooperativeMatrixLengthKHR],
    },
    Group {
        title: "Hints",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::AssumeTrueKHR, Op::ExpectKHR],
    },
    Group {
        title: "Subgroups",
        effect: Effect::Subgroup,
        support: Support::Engine,
        ops: &[
            Op::GroupNonUniformQuadAllKHR,
            Op::GroupNonUniformQuadAnyKHR,
            Op::GroupNonUniformPartitionEXT,
        ],
    },
    Group {
        title: "Not run",
        effect: Effect::Read,
        support: Support::Not("clocks"),
        ops: &[Op::ReadClockKHR],
    },
    Group {
        title: "Pointers and addresses",
        effect: Effect::Pure,
        support: Support::Engine,
        ops: &[Op::PtrDiff],
    },
    Group {
        title: "Not run",
        effect: Effect::Pure,
        support: Support::Not("SPV_KHR_fma"),
        ops: &[Op::FmaKHR],
    },
    Group {
        title: "Not run",
        effect: Effect::Pure,
        support: Support::Not("SPV_EXT_replicated_composites"),
        ops: &[Op::CompositeConstructReplicateEXT],
    },
    Group {
        title: "Not run",
        effect: Effect::ReadWrite,
        support: Support::Not("forward references of debug information"),
        ops: &[Op::ExtInstWithForwardRefsKHR],
    },
];

/// Whether an instruction is an atomic operation, of whatever extension.
pub fn is_atomic(op: Op) -> bool {
    effect(op) == Some(Effect::Atomic)
}

/// Whether an instruction reads an image that may be resident in part.
pub fn is_sparse(op: Op) -> bool {
    matches!(
        op,
        Op::ImageSparseSampleImplicitLod
            | Op::ImageSparseSampleExplicitLod
            | Op::ImageSparseSampleDrefImplicitLod
            | Op::ImageSparseSampleDrefExplicitLod
            | Op::ImageSparseSampleProjImplicitLod
            | Op::ImageSparseSampleProjExplicitLod
            | Op::ImageSparseSampleProjDrefImplicitLod
            | Op::ImageSparseSampleProjDrefExplicitLod
            | Op::ImageSparseFetch
            | Op::ImageSparseGather
            | Op::ImageSparseDrefGather
            | Op::ImageSparseTexelsResident
            | Op::ImageSparseRead
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_opcode_of_the_grammar_stands_in_exactly_one_group() {
        let mut groups: BTreeMap<Op, usize> = BTreeMap::new();
        let modelled = GROUPS.iter().flat_map(|group| group.ops.iter());
        let listed = modelled.chain(FOREIGN.iter().flat_map(|foreign| foreign.ops.iter()));
        listed.for_each(|op| *groups.entry(*op).or_default() += 1);
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            assert_eq!(groups.get(&row.opcode), Some(&1), "{:?}", row.opcode);
        }
    }

    #[test]
    fn atomic_and_sparse_instructions_are_those_that_the_grammar_calls_so() {
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            let name = format!("{:?}", row.opcode);
            assert_eq!(is_atomic(row.opcode), name.starts_with("Atomic"), "{name}");
            assert_eq!(is_sparse(row.opcode), name.starts_with("ImageSparse"), "{name}");
        }
    }

    #[test]
    fn terminators_are_branches_and_ends() {
        for row in rspirv::grammar::INSTRUCTION_TABLE.iter() {
            let class = effect(row.opcode);
            if class.is_some() {
                let ends = matches!(class, Some(Effect::Branch | Effect::End));
                assert_eq!(ends, crate::module::is_terminator(row.opcode), "{:?}", row.opcode);
            }
        }
    }
}
