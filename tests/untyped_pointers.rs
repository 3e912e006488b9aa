//! Untyped pointers (SPV_KHR_untyped_pointers): data read and written as other types than its
//! variable's, against values derived by hand, at several tile widths; and what is found and
//! refused.

use crate::assembly;

use assembly::Kernel;
use vkcert::model::finding::FindingKind;

/// `%any` is an untyped pointer into storage buffers; `%halves` and `%bytes` blocks of 16 and 8
/// bits.
const DECLARATIONS: &str = "%any = OpTypeUntypedPointerKHR StorageBuffer
%stepped = OpTypeUntypedPointerKHR StorageBuffer
%shared = OpTypeUntypedPointerKHR Workgroup
%float = OpTypeFloat 32
%half = OpTypeInt 16 0
%byte = OpTypeInt 8 0
%long = OpTypeInt 64 0
%v2 = OpTypeVector %uint 2
%v4b = OpTypeVector %byte 4
%half_array = OpTypeRuntimeArray %half
%halves = OpTypeStruct %half_array
%three = OpTypeArray %uint %c3
%packed = OpTypeStruct %three
%pp = OpTypePointer Function %three
%own_block = OpTypeStruct %eight
%eight = OpTypeArray %uint %c8
%own = OpUntypedVariableKHR %any StorageBuffer %block
%group = OpUntypedVariableKHR %shared Workgroup %own_block
%n12 = OpConstant %uint 12
%n6 = OpConstant %uint 6
%scope = OpConstant %uint 1
%none = OpConstant %uint 0
";

fn kernel(body: &str) -> Kernel {
    let declarations = DECLARATIONS.replace(
        "%own_block = OpTypeStruct %eight\n%eight = OpTypeArray %uint %c8",
        "%eight = OpTypeArray %uint %c8\n%own_block = OpTypeStruct %eight",
    );
    Kernel {
        needs: &[
            "Int8",
            "Int16",
            "Int64",
            "UntypedPointersKHR",
            "VariablePointers",
            "WorkgroupMemoryExplicitLayoutKHR",
            "StorageBuffer16BitAccess",
            "StorageBuffer8BitAccess",
            "SPV_KHR_16bit_storage",
            "SPV_KHR_8bit_storage",
            "SPV_KHR_variable_pointers",
            "SPV_KHR_untyped_pointers",
            "SPV_KHR_workgroup_memory_explicit_layout",
        ],
        interface: "%own %group",
        decorations: "OpDecorate %stepped ArrayStride 4
OpDecorate %half_array ArrayStride 2
OpMemberDecorate %halves 0 Offset 0
OpDecorate %halves Block
OpDecorate %three ArrayStride 4
OpDecorate %eight ArrayStride 4
OpMemberDecorate %packed 0 Offset 0
OpMemberDecorate %own_block 0 Offset 0
OpDecorate %own_block Block
OpDecorate %own DescriptorSet 0
OpDecorate %own Binding 0",
        declarations,
        body: body.to_owned(),
        size: 4,
        ..Kernel::default()
    }
}

const INPUT: &[u32] =
    &[0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4080_0000, 0x0002_0001, 0x0004_0003, 70, 80];

/// Bodies, with what they leave in eight words that begin as 0.
const KERNELS: &[(&str, [u32; 8])] = &[
    // Floats of words, through a typed base.
    (
        "%p = OpUntypedAccessChainKHR %any %block %i %c0 %x
%f = OpLoad %float %p
%g = OpFAdd %float %f %f
%q = OpUntypedInBoundsAccessChainKHR %any %block %o %c0 %x
OpStore %q %g",
        [0x4000_0000, 0x4080_0000, 0x40c0_0000, 0x4100_0000, 0, 0, 0, 0],
    ),
    // Numbers of 16 bits of a block of words, through an untyped variable.
    (
        "%at = OpIAdd %uint %x %c8
%p = OpUntypedAccessChainKHR %any %halves %own %c0 %at
%h = OpLoad %half %p
%w = OpUConvert %uint %h
%q = OpAccessChain %pu %o %c0 %x
OpStore %q %w",
        [1, 2, 3, 4, 0, 0, 0, 0],
    ),
    // A vector, and four bytes of a word.
    (
        "%even = OpShiftLeftLogical %uint %x %c1
%p = OpUntypedAccessChainKHR %any %block %own %c0 %even
%v = OpLoad %v2 %p
%y = OpCompositeExtract %uint %v 1
%q = OpAccessChain %pu %o %c0 %x
OpStore %q %y
%at = OpIAdd %uint %x %c4
%s = OpUntypedAccessChainKHR %any %block %o %c0 %at
%b = OpBitcast %v4b %x
OpStore %s %b",
        [0x4000_0000, 0x4080_0000, 0x0004_0003, 80, 0, 1, 2, 3],
    ),
    // Atomics.
    (
        "%p = OpUntypedAccessChainKHR %any %block %o %c0 %c0
%old = OpAtomicIAdd %uint %p %scope %none %c2
%q = OpUntypedAccessChainKHR %any %block %o %c0 %c1
OpAtomicStore %q %scope %none %c5",
        [8, 5, 0, 0, 0, 0, 0, 0],
    ),
    // Copies: as much as the typed side has, and so many bytes.
    (
        "%one = OpIEqual %bool %x %c0
OpSelectionMerge %end None
OpBranchConditional %one %first %end
%first = OpLabel
%from = OpUntypedAccessChainKHR %any %block %own %c0 %c4
%to = OpUntypedAccessChainKHR %any %block %o %c0 %c1
OpCopyMemorySized %to %from %n12
%last = OpUntypedAccessChainKHR %any %block %o %c0 %c5
OpCopyMemorySized %last %from %n6
%typed = OpAccessChain %pu %i %c0 %c7
%there = OpUntypedAccessChainKHR %any %block %o %c0 %c7
OpCopyMemory %there %typed
OpBranch %end
%end = OpLabel",
        [0, 0x0002_0001, 0x0004_0003, 70, 0, 0x0002_0001, 3, 80],
    ),
    // The length, a step along, a choice.
    (
        "%n = OpUntypedArrayLengthKHR %uint %block %own 0
%q = OpAccessChain %pu %o %c0 %x
OpStore %q %n
%start = OpUntypedAccessChainKHR %stepped %block %own %c0 %c4
%p = OpUntypedPtrAccessChainKHR %stepped %uint %start %x
%other = OpUntypedAccessChainKHR %stepped %block %own %c0 %c7
%odd_bit = OpBitwiseAnd %uint %x %c1
%odd = OpIEqual %bool %odd_bit %c1
%chosen = OpSelect %stepped %odd %p %other
%v = OpLoad %uint %chosen
%at = OpIAdd %uint %x %c4
%r = OpAccessChain %pu %o %c0 %at
OpStore %r %v",
        [8, 8, 8, 8, 80, 0x0004_0003, 80, 80],
    ),
    // Workgroup memory.
    (
        "%p = OpUntypedAccessChainKHR %shared %own_block %group %c0 %x
OpStore %p %x
%f = OpLoad %float %p
%b = OpBitcast %uint %f
%q = OpAccessChain %pu %o %c0 %x
OpStore %q %b",
        [0, 1, 2, 3, 0, 0, 0, 0],
    ),
];

#[test]
fn data_is_what_the_instruction_takes_it_for() {
    for (body, due) in KERNELS {
        let body = body
            .replace("%start = OpUntyped", "%begin = OpUntyped")
            .replace("%uint %start %x", "%uint %begin %x");
        assert_eq!(kernel(&body).output(INPUT, 8, None), due, "{body}");
    }
}

#[test]
fn accesses_beyond_what_is_bound_are_found() {
    let body = "%at = OpIAdd %uint %x %c6
%p = OpUntypedAccessChainKHR %any %block %own %c0 %at
%v = OpLoad %uint %p
%q = OpAccessChain %pu %o %c0 %x
OpStore %q %v";
    let findings = kernel(body).findings(INPUT, 8);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].0, FindingKind::OutOfBounds);
    assert!(findings[0].1.contains("index 8"), "{findings:?}");
}

#[test]
fn races_are_found_through_untyped_pointers() {
    let body = "%p = OpUntypedAccessChainKHR %any %block %o %c0 %c0\nOpStore %p %x";
    let findings = kernel(body).findings(INPUT, 8);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].0, FindingKind::DataRace);
}
