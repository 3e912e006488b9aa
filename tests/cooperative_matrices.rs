//! Cooperative matrices on the sequential engine. No local device has them: due values are a matrix
//! product written out in the test, for several subgroup sizes.

use crate::assembly;

use assembly::{Kernel, sequential, words};
use std::fmt::Write;
use vkcert::exec::Completion;
use vkcert::exec::sequential::Settings;
use vkcert::model::finding::FindingKind;

const M: usize = 4;
const K: usize = 8;
const N: usize = 16;

/// Types: component of A and B, of C and the result; both with a pointer to it and the blocks `%a`,
/// `%b`, `%c`.
struct Types {
    factor: &'static str,
    bits: u32,
    sum: &'static str,
    sum_bits: u32,
}

const HALF: Types =
    Types { factor: "OpTypeFloat 16", bits: 16, sum: "OpTypeFloat 32", sum_bits: 32 };
const BRAIN: Types =
    Types { factor: "OpTypeFloat 16 BFloat16KHR", bits: 16, sum: "OpTypeFloat 32", sum_bits: 32 };
const BYTES: Types =
    Types { factor: "OpTypeInt 8 0", bits: 8, sum: "OpTypeInt 32 0", sum_bits: 32 };
const NARROW: Types =
    Types { factor: "OpTypeInt 8 0", bits: 8, sum: "OpTypeInt 16 0", sum_bits: 16 };

/// A kernel whose input holds A (4 by 8), B (8 by 16) and C (4 by 16) one after the other in 1 KiB
/// each (`%fa`, `%fb` and `%sc` are their arrays), and whose output (`%so`) holds words of the
/// sum's type; `%ma`, `%mb`, `%mc` are matrix types.
fn kernel(types: &Types, body: &str, size: u32) -> Kernel {
    let Types { factor, bits, sum, sum_bits } = types;
    // A type of the harness must not be declared twice.
    let sum_type = if *sum == "OpTypeInt 32 0" { "%uint" } else { "%sum" };
    let declared = if *sum == "OpTypeInt 32 0" { String::new() } else { format!("%sum = {sum}\n") };
    let pointer = if *sum == "OpTypeInt 32 0" { "%pu" } else { "%ps" };
    let pointers = if *sum == "OpTypeInt 32 0" {
        String::new()
    } else {
        "%ps = OpTypePointer StorageBuffer %sum\n".to_owned()
    };
    let declarations = format!(
        "%factor = {factor}
{declared}%c16 = OpConstant %uint 16
%c24 = OpConstant %uint 24
%row = OpConstant %uint 0
%column = OpConstant %uint 1
%kf = OpConstant %uint {}
%ks = OpConstant %uint {}
%afactor = OpTypeArray %factor %kf
%asum = OpTypeArray {sum_type} %ks
%inputs = OpTypeStruct %afactor %afactor %asum
%pin = OpTypePointer StorageBuffer %inputs
%in = OpVariable %pin StorageBuffer
%rsum = OpTypeRuntimeArray {sum_type}
%outputs = OpTypeStruct %rsum
%pout = OpTypePointer StorageBuffer %outputs
%out = OpVariable %pout StorageBuffer
%pf = OpTypePointer StorageBuffer %factor
{pointers}%ma = OpTypeCooperativeMatrixKHR %factor %c3 %c4 %c8 %c0
%mb = OpTypeCooperativeMatrixKHR %factor %c3 %c8 %c16 %c1
%mc = OpTypeCooperativeMatrixKHR {sum_type} %c3 %c4 %c16 %c2
%fmc = OpTypePointer Function %mc
%fsum = OpTypePointer Function {sum_type}
%shared_array = OpTypeArray %factor %kf
%pshared = OpTypePointer Workgroup %shared_array
%pshared_factor = OpTypePointer Workgroup %factor
%shared = OpVariable %pshared Workgroup
",
        1024 * 8 / bits,
        1024 * 8 / sum_bits
    );
    let mut decorations = String::new();
    for (array, stride) in [("afactor", bits / 8), ("asum", sum_bits / 8), ("rsum", sum_bits / 8)] {
        let _ = writeln!(decorations, "OpDecorate %{array} ArrayStride {stride}");
    }
    Kernel {
        needs: &[
            "Float16",
            "Int8",
            "Int16",
            "StorageBuffer16BitAccess",
            "StorageBuffer8BitAccess",
            "VulkanMemoryModel",
            "CooperativeMatrixKHR",
            "BFloat16TypeKHR",
            "BFloat16CooperativeMatrixKHR",
            "SPV_KHR_bfloat16",
            "SPV_KHR_cooperative_matrix",
            "SPV_KHR_16bit_storage",
            "SPV_KHR_8bit_storage",
        ],
        interface: "%in %out %shared",
        decorations: format!(
            "{decorations}OpDecorate %inputs Block
OpMemberDecorate %inputs 0 Offset 0
OpMemberDecorate %inputs 1 Offset 1024
OpMemberDecorate %inputs 2 Offset 2048
OpDecorate %outputs Block
OpMemberDecorate %outputs 0 Offset 0
OpDecorate %in DescriptorSet 0
OpDecorate %in Binding 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 1"
        )
        .leak(),
        declarations,
        variables: "%held = OpVariable %fmc Function",
        body: format!(
            "%pa = OpAccessChain %pf %in %c0 %c0
%pb0 = OpAccessChain %pf %in %c1 %c0
%pc = OpAccessChain {pointer} %in %c2 %c0
%po = OpAccessChain {pointer} %out %c0 %c0
{body}"
        )
        .replace("%SUM", sum_type)
        .replace("%PSUM", pointer),
        size,
        ..Kernel::default()
    }
}

/// The three matrices as bytes where the kernel has them.
fn input(types: &Types, [a, b, c]: [&[u64]; 3]) -> Vec<u32> {
    let mut bytes = vec![0u8; 3072];
    let mut write = |start: usize, bits: u32, values: &[u64]| {
        let size = bits as usize / 8;
        for (at, value) in values.iter().enumerate() {
            bytes[start + at * size..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
        }
    };
    write(0, types.bits, a);
    write(1024, types.bits, b);
    write(2048, types.sum_bits, c);
    words(&bytes)
}

/// The output words for subgroups of several sizes; all must be equal, and nothing is found.
fn output(kernel: &Kernel, input: &[u32], count: usize) -> Vec<u32> {
    let runs = [8, 16, 32].map(|subgroup_size| {
        // One subgroup: several would store the same elements.
        let job = Kernel { size: subgroup_size, ..kernel.clone() }.job(input, count);
        let run = sequential(&job, Settings { subgroup_size, ..Settings::default() });
        assert_eq!(
            (&run.completion, run.findings.as_slice()),
            (&Completion::Completed, &[][..]),
            "{}",
            kernel.text()
        );
        words(&run.buffers[1])
    });
    assert!(runs.iter().all(|run| *run == runs[0]));
    runs[0].clone()
}

/// Loads all three, by rows with strides of their own lengths.
const LOADED: &str = "%A = OpCooperativeMatrixLoadKHR %ma %pa %row %c8
%B = OpCooperativeMatrixLoadKHR %mb %pb0 %row %c16
%C = OpCooperativeMatrixLoadKHR %mc %pc %row %c16
";

fn numbers(count: usize, mix: u64) -> Vec<u64> {
    (0..count as u64)
        .map(|at| (at * 37 + mix).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 0xff)
        .collect()
}

#[test]
fn products_of_integers_are_the_naive_ones() {
    let (a, b, c) = (numbers(M * K, 1), numbers(K * N, 2), numbers(M * N, 3));
    let data = input(&BYTES, [&a, &b, &c]);
    for (operands, signs) in [
        ("", [false, false]),
        (" MatrixASignedComponentsKHR", [true, false]),
        (" MatrixBSignedComponentsKHR", [false, true]),
        (
            " MatrixASignedComponentsKHR|MatrixBSignedComponentsKHR|MatrixCSignedComponentsKHR|MatrixResultSignedComponentsKHR",
            [true, true],
        ),
    ] {
        let body = format!(
            "{LOADED}%R = OpCooperativeMatrixMulAddKHR %mc %A %B %C{operands}\nOpCooperativeMatrixStoreKHR %po %R %row %c16"
        );
        let read = |value: u64, signed: bool| {
            if signed { i64::from(value as u8 as i8) } else { value as i64 }
        };
        let mut due = Vec::new();
        for row in 0..M {
            for column in 0..N {
                let products = (0..K)
                    .map(|at| read(a[row * K + at], signs[0]) * read(b[at * N + column], signs[1]));
                due.push((products.sum::<i64>() + c[row * N + column] as i64) as u32);
            }
        }
        assert_eq!(output(&kernel(&BYTES, &body, 32), &data, M * N), due, "{operands}");
    }
}

/// The product of floats of 16 bits, with a sum of 32 bits that is rounded in each step.
fn float_product(types: &Types, encode: fn(f32) -> u16, decode: fn(u16) -> f32) {
    let bits = |value: u64| {
        u64::from(encode((value as f32 / 8.0 - 11.0) * 1.37 * f32::from(1u16 << (value % 7))))
    };
    let a: Vec<u64> = numbers(M * K, 4).into_iter().map(bits).collect();
    let b: Vec<u64> = numbers(K * N, 5).into_iter().map(bits).collect();
    let c: Vec<u64> = numbers(M * N, 6)
        .into_iter()
        .map(|value| u64::from((value as f32 * 1.1).to_bits()))
        .collect();
    let body = format!(
        "{LOADED}%R = OpCooperativeMatrixMulAddKHR %mc %A %B %C\nOpCooperativeMatrixStoreKHR %po %R %row %c16"
    );
    let mut due = Vec::new();
    for row in 0..M {
        for column in 0..N {
            let product =
                |at: usize| decode(a[row * K + at] as u16) * decode(b[at * N + column] as u16);
            let sum = (1..K).fold(product(0), |sum, at| sum + product(at));
            due.push((sum + f32::from_bits(c[row * N + column] as u32)).to_bits());
        }
    }
    assert_eq!(output(&kernel(types, &body, 32), &input(types, [&a, &b, &c]), M * N), due);
}

#[test]
fn products_of_floats_are_rounded_in_order() {
    float_product(
        &HALF,
        |value| half::f16::from_f32(value).to_bits(),
        |bits| half::f16::from_bits(bits).to_f32(),
    );
    float_product(
        &BRAIN,
        |value| half::bf16::from_f32(value).to_bits(),
        |bits| half::bf16::from_bits(bits).to_f32(),
    );
}

#[test]
fn layouts_and_strides_reach_the_elements_they_name() {
    let c: Vec<u64> = (0..200).map(|at| 1000 + at).collect();
    let data = input(&BYTES, [&[], &[], &c]);
    // From columns of 4 with 5 between them, to rows of 16 with 24 between them.
    let body = "%C = OpCooperativeMatrixLoadKHR %mc %pc %column %c5\nOpCooperativeMatrixStoreKHR %po %C %row %c24";
    let mut due = vec![0; 24 * M];
    (0..M).for_each(|row| {
        (0..N).for_each(|column| due[row * 24 + column] = 1000 + (column * 5 + row) as u32)
    });
    assert_eq!(output(&kernel(&BYTES, body, 32), &data, 24 * M), due);
    // Through workgroup memory, one word for each byte there.
    let a = numbers(M * K, 9);
    let body = "%s0 = OpAccessChain %pshared_factor %shared %c3
%A = OpCooperativeMatrixLoadKHR %ma %pa %row %c8
OpCooperativeMatrixStoreKHR %s0 %A %column %c5
OpControlBarrier %c2 %c2 %barrier
%again = OpCooperativeMatrixLoadKHR %ma %s0 %column %c5
%wide = OpUConvert %msum %again
OpCooperativeMatrixStoreKHR %po %wide %row %c8";
    let mut kernel = kernel(&BYTES, body, 32);
    kernel
        .declarations
        .push_str("%barrier = OpConstant %uint 264\n%msum = OpTypeCooperativeMatrixKHR %uint %c3 %c4 %c8 %c0\n");
    let due: Vec<u32> = a.iter().map(|value| *value as u32).collect();
    assert_eq!(output(&kernel, &input(&BYTES, [&a, &[], &[]]), M * K), due);
}

#[test]
fn elements_are_computed_with_one_by_one() {
    let c: Vec<u64> = (0..M as u64 * N as u64).collect();
    let data = input(&BYTES, [&[], &[], &c]);
    let body = "%C = OpCooperativeMatrixLoadKHR %mc %pc %row %c16
%sevens = OpCompositeConstruct %mc %c7
%more = OpIAdd %mc %C %sevens
%times = OpMatrixTimesScalar %mc %more %c3
%less = OpISub %mc %times %ones
OpStore %held %less
%first = OpAccessChain %fsum %held %c0
%old = OpLoad %SUM %first
%new = OpIMul %SUM %old %c2
OpStore %first %new
%again = OpLoad %mc %held
%length = OpCooperativeMatrixLengthKHR %uint %mc
%second = OpCompositeExtract %SUM %again 1
%sum = OpIAdd %SUM %second %length
%done = OpCompositeInsert %mc %sum %again 1
OpCooperativeMatrixStoreKHR %po %done %row %c16";
    let mut kernel = kernel(&BYTES, body, 16);
    kernel.declarations.push_str("%ones = OpConstantComposite %mc %c1\n");
    let job = kernel.job(&data, M * N);
    // Element `at` is that of invocation `at mod 16`, as its element `at / 16`.
    let run = sequential(&job, Settings { subgroup_size: 16, ..Settings::default() });
    assert_eq!((&run.completion, run.findings.as_slice()), (&Completion::Completed, &[][..]));
    let due: Vec<u32> = (0..64)
        .map(|at| {
            let value = (at + 7) * 3 - 1;
            match at / 16 {
                0 => value * 2,
                1 => value + 4,
                _ => value,
            }
        })
        .collect();
    assert_eq!(words(&run.buffers[1]), due);
}

#[test]
fn saturating_accumulation_saturates_the_last_addition() {
    let body = format!(
        "{LOADED}%R = OpCooperativeMatrixMulAddKHR %mc %A %B %C MatrixResultSignedComponentsKHR|MatrixASignedComponentsKHR|SaturatingAccumulationKHR
OpCooperativeMatrixStoreKHR %po %R %row %c16"
    );
    let kernel = kernel(&NARROW, &body, 32);
    // Rows of A: 1, -1, 2 and 0 eight times; B: 100; C: 32,000, read as signed.
    let a: Vec<u64> = [1u64, 0xff, 2, 0].iter().flat_map(|value| [*value; K]).collect();
    let data = input(&NARROW, [&a, &[100; K * N], &[32_000; M * N]]);
    let due: Vec<u32> = [32_767u32, 31_200, 32_767, 32_000]
        .iter()
        .flat_map(|value| [value << 16 | value; N / 2])
        .collect();
    assert_eq!(output(&kernel, &data, M * N / 2), due);
    // 8 * 120 * 255 does not fit before C is added.
    let data = input(&NARROW, [&[120; M * K], &[255; K * N], &[0; M * N]]);
    let found = kernel.findings(&data, M * N / 2);
    assert_eq!(
        found.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::UndefinedValue],
        "{found:?}"
    );
    assert!(found[0].1.contains("does not fit"), "{found:?}");
}

/// Kinds and messages of what is found in subgroups of 32.
fn found(body: &str, size: u32, output: usize) -> Vec<(FindingKind, String)> {
    kernel(&BYTES, body, size).findings(&vec![1; 768], output)
}

#[test]
fn accesses_and_control_flow_are_checked() {
    let store = "OpCooperativeMatrixStoreKHR %po %C %row %c16";
    let load = "%C = OpCooperativeMatrixLoadKHR %mc %pc %row %c16";
    assert_eq!(found(&format!("{load}\n{store}"), 32, 64), []);
    let outside = found(&format!("{load}\n{store}"), 32, 60);
    assert_eq!(
        outside.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::OutOfBounds],
        "{outside:?}"
    );
    // Two subgroups store the same.
    let race = found(&format!("{load}\n{store}"), 64, 64);
    assert_eq!(
        race.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::DataRace],
        "{race:?}"
    );
    let unset = found(&format!("%C = OpLoad %mc %held\n{store}"), 32, 64);
    assert_eq!(
        unset.iter().map(|one| one.0).collect::<Vec<_>>(),
        [FindingKind::UninitializedRead; 1],
        "{unset:?}"
    );
    let apart = found(
        &format!(
            "%some = OpULessThan %bool %x %c9\nOpSelectionMerge %end None\nOpBranchConditional %some %inside %end\n%inside = OpLabel\n{load}\n{store}\nOpBranch %end\n%end = OpLabel"
        ),
        32,
        64,
    );
    assert!(apart.iter().all(|one| one.0 == FindingKind::UndefinedValue), "{apart:?}");
    assert!(!apart.is_empty() && apart[0].1.contains("not all invocations"), "{apart:?}");
    // A subgroup that is not full is never together.
    let partial = found(&format!("{load}\n{store}"), 40, 64);
    assert!(partial.iter().any(|one| one.0 == FindingKind::UndefinedValue), "{partial:?}");
}

#[test]
fn shapes_that_do_not_fit_a_subgroup_are_refused_by_name() {
    let job = kernel(&BYTES, LOADED, 128).job(&[0; 768], 64);
    let run = sequential(&job, Settings { subgroup_size: 128, ..Settings::default() });
    let Completion::Unsupported { what } = run.completion else { panic!("{:?}", run.completion) };
    assert_eq!(what, "a cooperative matrix of 4 by 8 among 128 invocations");
}

#[test]
fn elements_of_a_matrix_are_not_uniform() {
    let body = "%C = OpCooperativeMatrixLoadKHR %mc %pc %row %c16
%element = OpCompositeExtract %SUM %C 0
%guard = OpIEqual %bool %element %c0
OpSelectionMerge %end None
OpBranchConditional %guard %inside %end
%inside = OpLabel
OpControlBarrier %c2 %c2 %barrier
OpBranch %end
%end = OpLabel";
    let mut kernel = kernel(&BYTES, body, 32);
    kernel.declarations.push_str("%barrier = OpConstant %uint 264\n");
    let module = vkcert::spirv::module::Module::parse(kernel.words()).unwrap();
    let entry = module.entry_point("main").unwrap().function;
    assert_eq!(vkcert::spirv::uniformity::divergent_barriers(&module, entry).len(), 1);
}
