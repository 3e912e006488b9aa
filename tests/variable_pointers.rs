//! Variable pointers into storage buffers and workgroup memory: selected, carried by phis,
//! returned, stored, stepped along, compared; against values derived by hand and the device, and
//! the findings that only the sequential engine makes.

use crate::assembly;
use crate::device;

use assembly::Kernel;
use device::device;
use vkcert::model::finding::FindingKind;

const NEEDS: &[&str] = &["VariablePointers", "SPV_KHR_variable_pointers"];

/// `%s` and `%t` are arrays of 8 words in workgroup memory, `%fp` and `%fs` types of pointers to
/// variables that hold pointers.
const DECLARATIONS: &str = "%c16 = OpConstant %uint 16
%c31 = OpConstant %uint 31
%m2 = OpConstant %int -2
%words = OpTypeArray %uint %c8
%pws = OpTypePointer Workgroup %words
%pwu = OpTypePointer Workgroup %uint
%s = OpVariable %pws Workgroup
%t = OpVariable %pws Workgroup
%fp = OpTypePointer Function %pu
%fs = OpTypePointer Function %pwu
%choose_type = OpTypeFunction %pu %uint
%none = OpConstantNull %pu
%u64 = OpTypeInt 64 0
%i64 = OpTypeInt 64 1
%k88 = OpConstant %uint 264
";

/// A kernel of four invocations; `%pi` is a pointer to word `x` of the input, `%po` one of the
/// output.
fn kernel(body: &str) -> Kernel {
    Kernel {
        needs: &["VariablePointers", "Int64", "SPV_KHR_variable_pointers"],
        interface: "%s %t",
        decorations: "OpDecorate %pu ArrayStride 4",
        declarations: DECLARATIONS.to_owned(),
        variables: "%held = OpVariable %fp Function\n%held_s = OpVariable %fs Function",
        body: format!(
            "%ai = OpAccessChain %pu %i %c0 %x
%ao = OpAccessChain %pu %o %c0 %x
%value = OpLoad %uint %ai
%odd_bit = OpBitwiseAnd %uint %x %c1
%odd = OpIEqual %bool %odd_bit %c1
{body}"
        ),
        functions: "%choose = OpFunction %pu None %choose_type
%chosen = OpFunctionParameter %uint
%choose_start = OpLabel
%small = OpULessThan %bool %chosen %c2
OpSelectionMerge %choose_end None
OpBranchConditional %small %first %second
%first = OpLabel
%a = OpAccessChain %pu %i %c0 %chosen
OpReturnValue %a
%second = OpLabel
%b = OpAccessChain %pu %o %c0 %chosen
OpReturnValue %b
%choose_end = OpLabel
OpUnreachable
OpFunctionEnd",
        size: 4,
        ..Kernel::default()
    }
}

const INPUT: &[u32] = &[10, 20, 30, 40, 50, 60, 70, 80];

/// Bodies, with what they leave in eight words of output that begin as 0.
const KERNELS: &[(&str, &str, [u32; 8])] = &[
    (
        "select",
        "%p = OpSelect %pu %odd %ai %ao
%v = OpLoad %uint %p
%n = OpIAdd %uint %v %c7
%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
OpStore %q %n",
        [0, 0, 0, 0, 7, 27, 7, 47],
    ),
    (
        "store through a selected pointer",
        "%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
%p = OpSelect %pu %odd %q %ao
OpStore %p %value",
        [10, 0, 30, 0, 0, 20, 0, 40],
    ),
    (
        "returned and held in a variable",
        "%p = OpFunctionCall %pu %choose %x
OpStore %held %p
OpStore %ao %x
%again = OpLoad %pu %held
%v = OpLoad %uint %again
%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
OpStore %q %v",
        [0, 1, 2, 3, 10, 20, 2, 3],
    ),
    (
        "a phi steps along the buffer",
        "%i0 = OpAccessChain %pu %i %c0 %c0
OpBranch %header
%header = OpLabel
%p = OpPhi %pu %i0 %start %next %continue
%sum = OpPhi %uint %c0 %start %more %continue
%k = OpPhi %uint %c0 %start %k1 %continue
OpLoopMerge %done %continue None
OpBranch %test
%test = OpLabel
%going = OpULessThanEqual %bool %k %x
OpBranchConditional %going %body %done
%body = OpLabel
%v = OpLoad %uint %p
%more = OpIAdd %uint %sum %v
OpBranch %continue
%continue = OpLabel
%k1 = OpIAdd %uint %k %c1
%next = OpPtrAccessChain %pu %p %c1
OpBranch %header
%done = OpLabel
OpStore %ao %sum",
        [10, 30, 60, 100, 0, 0, 0, 0],
    ),
    (
        "backwards, and differences",
        "%end = OpAccessChain %pu %i %c0 %c7
%back = OpPtrAccessChain %pu %end %m2
%v = OpLoad %uint %back
%d = OpPtrDiff %int %ai %end
%d64 = OpPtrDiff %i64 %end %ai
%du = OpBitcast %uint %d
%n = OpSConvert %int %d64
%nu = OpBitcast %uint %n
OpStore %ao %du
%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
%sum = OpIAdd %uint %v %nu
OpStore %q %sum",
        [-7i32 as u32, -6i32 as u32, -5i32 as u32, -4i32 as u32, 67, 66, 65, 64],
    ),
    (
        "equality and null",
        "%other = OpSelect %pu %odd %ao %none
%third = OpSelect %pu %odd %ao %ai
%e0 = OpPtrEqual %bool %other %none
%e1 = OpPtrNotEqual %bool %third %ao
%e2 = OpPtrEqual %bool %third %ai
%b0 = OpSelect %uint %e0 %c1 %c0
%b1 = OpSelect %uint %e1 %c2 %c0
%b2 = OpSelect %uint %e2 %c4 %c0
%b3 = OpBitwiseOr %uint %b0 %b1
%b4 = OpBitwiseOr %uint %b3 %b2
OpStore %ao %b4",
        [7, 0, 7, 0, 0, 0, 0, 0],
    ),
    (
        "workgroup memory",
        "%ps = OpAccessChain %pwu %s %x
%pt = OpAccessChain %pwu %t %x
%twice = OpIMul %uint %value %c2
OpStore %ps %value
OpStore %pt %twice
%p = OpSelect %pwu %odd %ps %pt
OpStore %held_s %p
%again = OpLoad %pwu %held_s
%v = OpLoad %uint %again
%old = OpAtomicIAdd %uint %again %c1 %c0 %c5
%new = OpLoad %uint %again
OpStore %ao %v
%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
OpStore %q %new",
        [20, 20, 60, 40, 25, 25, 65, 45],
    ),
    (
        "elements of workgroup memory before a barrier",
        "%ps = OpAccessChain %pwu %s %x
OpStore %ps %value
OpControlBarrier %c2 %c2 %k88
%s0 = OpAccessChain %pwu %s %c0
%s3 = OpAccessChain %pwu %s %c3
%back = OpISub %uint %c0 %x
%p = OpPtrAccessChain %pwu %s3 %back
%q = OpPtrAccessChain %pwu %s0 %x
%r = OpSelect %pwu %odd %p %q
%v = OpLoad %uint %r
OpStore %ao %v",
        [10, 30, 30, 10, 0, 0, 0, 0],
    ),
    (
        "atomics through a chosen pointer",
        "%o0 = OpAccessChain %pu %o %c0 %c0
%o1 = OpAccessChain %pu %o %c0 %c1
%p = OpSelect %pu %odd %o1 %o0
%old = OpAtomicIAdd %uint %p %c1 %c0 %value",
        [40, 60, 0, 0, 0, 0, 0, 0],
    ),
    (
        "a pointer to the whole block",
        "%p = OpSelect %pb %odd %i %o
%e = OpAccessChain %pu %p %c0 %x
%v = OpLoad %uint %e
%far = OpIAdd %uint %x %c4
%q = OpAccessChain %pu %o %c0 %far
OpStore %q %v",
        [0, 0, 0, 0, 0, 20, 0, 40],
    ),
];

#[test]
fn pointers_are_values() {
    let mut device = device();
    for (name, body, due) in KERNELS {
        let ours = kernel(body).output(INPUT, 8, device.as_mut());
        assert_eq!(ours, due, "{name}");
    }
}

/// The kinds and messages of what is found in a body.
fn found(body: &str) -> Vec<(FindingKind, String)> {
    kernel(body).findings(INPUT, 8)
}

#[test]
fn what_a_pointer_leads_to_is_checked() {
    let outside = found(
        "%p = OpSelect %pu %odd %ai %ao\n%q = OpPtrAccessChain %pu %p %c5\n%v = OpLoad %uint %q\nOpStore %ao %v",
    );
    assert_eq!(outside.len(), 1, "{outside:?}");
    assert_eq!(outside[0].0, FindingKind::OutOfBounds);
    assert!(outside[0].1.contains("`i` ends behind the 32 bytes"), "{outside:?}");
    let before = found("%q = OpPtrAccessChain %pu %ai %m2\n%v = OpLoad %uint %q\nOpStore %ao %v");
    assert_eq!(
        before.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::OutOfBounds],
        "{before:?}"
    );
    // One variable of workgroup memory is not reached from another.
    let both = "%ss = OpAccessChain %pwu %s %x\nOpStore %ss %c1\n%tt = OpAccessChain %pwu %t %x\nOpStore %tt %c1\n";
    let after = |body: &str| found(&format!("{both}{body}"));
    let next =
        after("%ps = OpAccessChain %pwu %s %x\n%q = OpPtrAccessChain %pwu %ps %c8\nOpStore %q %c1");
    assert_eq!(
        next.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::OutOfBounds],
        "{next:?}"
    );
    assert!(next[0].1.contains("`s`") || next[0].1.contains("`%"), "{next:?}");
    let previous = after(
        "%pt = OpAccessChain %pwu %t %c0\n%q = OpPtrAccessChain %pwu %pt %m2\nOpStore %q %c1",
    );
    assert_eq!(
        previous.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::OutOfBounds],
        "{previous:?}"
    );
    assert!(previous[0].1.contains("8 bytes before"), "{previous:?}");
    let null = found("%p = OpSelect %pu %odd %ai %none\n%v = OpLoad %uint %p\nOpStore %ao %v");
    assert_eq!(null.len(), 1, "{null:?}");
    assert!(null[0].1.contains("is null"), "{null:?}");
    let unset = found("%p = OpLoad %pu %held\n%v = OpLoad %uint %p\nOpStore %ao %v");
    assert!(unset.iter().any(|one| one.0 == FindingKind::UninitializedRead), "{unset:?}");
}

#[test]
fn races_and_uninitialised_reads_through_pointers_are_found() {
    let race =
        found("%o0 = OpAccessChain %pu %o %c0 %c0\n%p = OpSelect %pu %odd %o0 %ao\nOpStore %p %x");
    assert_eq!(
        race.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::DataRace],
        "{race:?}"
    );
    let shared = found(
        "%s0 = OpAccessChain %pwu %s %c0\n%t0 = OpAccessChain %pwu %t %x\n%p = OpSelect %pwu %odd %s0 %t0\nOpStore %p %x",
    );
    assert_eq!(
        shared.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::DataRace],
        "{shared:?}"
    );
    let unset = found(
        "%s0 = OpAccessChain %pwu %s %x\n%t0 = OpAccessChain %pwu %t %x\n%p = OpSelect %pwu %odd %s0 %t0\n%v = OpLoad %uint %p\nOpStore %ao %v",
    );
    assert_eq!(
        unset.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::UninitializedRead],
        "{unset:?}"
    );
    // An undefined value may lie in workgroup memory as long as nobody reads it.
    let idle = found(
        "%u = OpUndef %uint\n%s0 = OpAccessChain %pwu %s %x\n%t0 = OpAccessChain %pwu %t %x\n%p = OpSelect %pwu %odd %s0 %t0\nOpStore %p %u",
    );
    assert_eq!(idle, []);
}

#[test]
fn a_difference_between_buffers_is_undefined() {
    let apart =
        found("%p = OpSelect %pu %odd %ao %ai\n%d = OpPtrDiff %uint %p %ai\nOpStore %ao %d");
    assert_eq!(
        apart.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::UndefinedValue],
        "{apart:?}"
    );
    assert!(apart[0].1.contains("OpPtrDiff"), "{apart:?}");
}

#[test]
fn pointers_that_are_no_such_values_are_refused_by_name() {
    let function = Kernel {
        variables: "%f = OpVariable %fu Function\n%g = OpVariable %fu Function",
        needs: NEEDS,
        body: "%yes = OpIEqual %bool %x %c0\n%p = OpSelect %fu %yes %f %g\n%v = OpLoad %uint %p"
            .to_owned(),
        ..Kernel::default()
    };
    let said = function.refused();
    assert!(said.contains("pointer"), "{said}");
}

/// A barrier behind a condition that was loaded from the input, which `body` may have changed.
fn guarded(body: &str) -> Vec<u32> {
    kernel(&format!(
        "{body}
%i0 = OpAccessChain %pu %i %c0 %c0
%first_word = OpLoad %uint %i0
%guard = OpIEqual %bool %first_word %c0
OpSelectionMerge %end None
OpBranchConditional %guard %inside %end
%inside = OpLabel
OpControlBarrier %c2 %c2 %k88
OpBranch %end
%end = OpLabel"
    ))
    .words()
}

#[test]
fn what_is_written_through_a_pointer_is_not_uniform() {
    let barriers = |words: Vec<u32>| {
        let module = vkcert::spirv::module::Module::parse(words).unwrap();
        let entry = module.entry_point("main").unwrap().function;
        vkcert::spirv::uniformity::divergent_barriers(&module, entry).len()
    };
    assert_eq!(barriers(guarded("OpStore %ao %x")), 0);
    assert_eq!(barriers(guarded("%p = OpSelect %pu %odd %ai %ao\nOpStore %p %x")), 1);
    let loaded = "%i1 = OpAccessChain %pu %i %c0 %c1\n%p = OpSelect %pu %odd %i1 %ao\n%v = OpLoad %uint %p\nOpStore %ao %v";
    assert_eq!(barriers(guarded(loaded)), 0);
}

#[test]
fn the_length_behind_a_chosen_pointer_is_refused_by_name() {
    let length =
        kernel("%p = OpSelect %pb %odd %i %o\n%n = OpArrayLength %uint %p 0\nOpStore %ao %n");
    assert_eq!(length.unsupported(), "OpArrayLength of a variable pointer");
}

/// Columns of a column-major matrix, rows of a row-major one (which are no columns in memory), and
/// their elements.
#[test]
fn pointers_into_matrices_have_the_layout_of_the_matrix() {
    let kernel = |majorness: &'static str, body: &str| {
        Kernel {
        needs: NEEDS,
        decorations: match majorness {
            "RowMajor" => {
                "OpMemberDecorate %mb 0 Offset 0\nOpMemberDecorate %mb 0 RowMajor\nOpMemberDecorate %mb 0 MatrixStride 8\nOpDecorate %mb Block\nOpDecorate %m DescriptorSet 0\nOpDecorate %m Binding 0"
            }
            _ => {
                "OpMemberDecorate %mb 0 Offset 0\nOpMemberDecorate %mb 0 ColMajor\nOpMemberDecorate %mb 0 MatrixStride 8\nOpDecorate %mb Block\nOpDecorate %m DescriptorSet 0\nOpDecorate %m Binding 0"
            }
        },
        interface: "%m",
        declarations:
            "%float = OpTypeFloat 32\n%v2 = OpTypeVector %float 2\n%mat = OpTypeMatrix %v2 2\n%mb = OpTypeStruct %mat
%pmb = OpTypePointer StorageBuffer %mb\n%pv = OpTypePointer StorageBuffer %v2\n%pf = OpTypePointer StorageBuffer %float
%m = OpVariable %pmb StorageBuffer"
                .to_owned(),
        body: format!(
            "%odd = OpIEqual %bool %x %c1\n{body}\n%w = OpBitcast %uint %f\n%q = OpAccessChain %pu %o %c0 %x\nOpStore %q %w"
        ),
        size: 2,
        ..Kernel::default()
    }
    };
    let column = "%a = OpAccessChain %pv %m %c0 %c0\n%b = OpAccessChain %pv %m %c0 %c1\n%p = OpSelect %pv %odd %a %b
%v = OpLoad %v2 %p\n%f = OpCompositeExtract %float %v 1";
    let element =
        "%a = OpAccessChain %pf %m %c0 %c0 %c1\n%b = OpAccessChain %pf %m %c0 %c1 %c0\n%p = OpSelect %pf %odd %a %b
%f = OpLoad %float %p";
    let input = [10, 11, 20, 21];
    // Component 1 of column 1, and of column 0.
    assert_eq!(kernel("ColMajor", column).output(&input, 2, None), [21, 11]);
    assert_eq!(kernel("RowMajor", column).output(&input, 2, None), [21, 20]);
    // Element 0 of column 1, and element 1 of column 0.
    assert_eq!(kernel("ColMajor", element).output(&input, 2, None), [20, 11]);
    assert_eq!(kernel("RowMajor", element).output(&input, 2, None), [11, 20]);
}
