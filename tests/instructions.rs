//! Instructions that no GLSL reaches, or that the pinned compiler does not emit: each on the
//! sequential engine against values derived in the test, and against a device that has them.

use crate::assembly;
use crate::device;

use assembly::Kernel;
use device::device;
use std::fmt::Write;
use vkcert::model::finding::FindingKind;

/// Words that are worth trying, and some more.
fn samples(count: usize) -> Vec<u32> {
    let corners =
        [0x7f80_ff01, 0x8000_0000, 0x7fff_ffff, u32::MAX, 0, 0x0101_0101, 0x8080_8080, 0x7f7f_7f7f];
    let mixed = (0u32..).map(|at| at.wrapping_mul(0x9e37_79b9).rotate_left(at % 31) ^ 0x2545_f491);
    let all = (0u32..)
        .zip(mixed)
        .map(|(at, word)| if at % 3 == 0 { corners[at as usize / 3 % 8] } else { word });
    all.take(count).collect()
}

/// Operands in memory of one dot product: two vectors of `words` words each, an accumulator of two
/// words.
const RECORD: usize = 10;

/// A vector of `count` integers of `width` bits, or four of 8 bits in a word where `count` is 1.
#[derive(Clone, Copy)]
struct Vectors {
    width: u32,
    count: u32,
}

impl Vectors {
    fn words(self) -> u32 {
        (self.width * self.count).div_ceil(32)
    }

    /// Component `at` of a vector that begins at a word.
    fn component(self, words: &[u32], at: u32) -> u64 {
        let bits = if self.count == 1 { 8 } else { self.width };
        (0..bits).fold(0, |value, bit| {
            let place = at * bits + bit;
            value | u64::from(words[place as usize / 32] >> (place % 32) & 1) << bit
        })
    }

    fn component_bits(self) -> u32 {
        if self.count == 1 { 8 } else { self.width }
    }
}

fn read(value: u64, bits: u32, signed: bool) -> i128 {
    let value = i128::from(value) & ((1 << bits) - 1);
    if signed && value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value }
}

/// Instructions that load a vector of `vectors` from word `%{name}_at` of `%i` as `%{name}`.
fn load(name: &str, vectors: Vectors, text: &mut String) {
    let words = vectors.words();
    for word in 0..words {
        let _ = writeln!(
            text,
            "%{name}_k{word} = OpIAdd %uint %{name}_at %c{word}
%{name}_p{word} = OpAccessChain %pu %i %c0 %{name}_k{word}
%{name}_w{word} = OpLoad %uint %{name}_p{word}"
        );
    }
    let parts: String = (0..words).map(|word| format!(" %{name}_w{word}")).collect();
    let (v, w) = (vectors.count, vectors.width);
    let _ = match (v, w) {
        (1, _) => writeln!(text, "%{name} = OpCopyObject %uint{parts}"),
        (_, 32) => writeln!(text, "%{name} = OpCompositeConstruct %v{v}u32{parts}"),
        _ if words == 1 => writeln!(text, "%{name} = OpBitcast %v{v}u{w}{parts}"),
        _ => writeln!(
            text,
            "%{name}_all = OpCompositeConstruct %v{words}u32{parts}\n%{name} = OpBitcast %v{v}u{w} %{name}_all"
        ),
    };
}

fn dot_kernel(op: &str, vectors: Vectors, result: u32) -> Kernel {
    let mut body = String::new();
    let _ = writeln!(
        body,
        "%a_at = OpIMul %uint %x %c10\n%b_at = OpIAdd %uint %a_at %c4\n%c_at = OpIAdd %uint %a_at %c8"
    );
    load("a", vectors, &mut body);
    load("b", vectors, &mut body);
    load("c", Vectors { width: 32, count: 2 }, &mut body);
    let format = if vectors.count == 1 { " PackedVectorFormat4x8Bit" } else { "" };
    let accumulator = if op.ends_with("AccSat") { " %acc" } else { "" };
    let _ = writeln!(
        body,
        "%wide = OpBitcast %u64 %c
%acc = {} %u{result} %wide
%r = {op} %u{result} %a %b{accumulator}{format}
%r_wide = {} %u64 %r
%r_words = OpBitcast %v2u32 %r_wide
%low = OpCompositeExtract %uint %r_words 0
%high = OpCompositeExtract %uint %r_words 1
%o_at = OpIMul %uint %x %c2
%o_next = OpIAdd %uint %o_at %c1
%o_low = OpAccessChain %pu %o %c0 %o_at
%o_high = OpAccessChain %pu %o %c0 %o_next
OpStore %o_low %low
OpStore %o_high %high",
        if result == 64 { "OpCopyObject" } else { "OpUConvert" },
        if result == 64 { "OpCopyObject" } else { "OpUConvert" },
    );
    let mut declarations =
        "%u8 = OpTypeInt 8 0\n%u16 = OpTypeInt 16 0\n%u64 = OpTypeInt 64 0\n%c10 = OpConstant %uint 10\n".to_owned();
    for width in [8, 16, 32, 64] {
        let component = if width == 32 { "uint".to_owned() } else { format!("u{width}") };
        (2..5).for_each(|count| {
            let _ = writeln!(declarations, "%v{count}u{width} = OpTypeVector %{component} {count}");
        });
    }
    Kernel {
        needs: &[
            "Int8",
            "Int16",
            "Int64",
            "DotProduct",
            "DotProductInputAll",
            "DotProductInput4x8Bit",
            "DotProductInput4x8BitPacked",
            "SPV_KHR_integer_dot_product",
        ],
        declarations,
        body: body.replace("%u32 ", "%uint "),
        size: 32,
        ..Kernel::default()
    }
}

/// What the specification says of one record: the result, and whether it is defined for every order
/// of the additions.
fn expected(op: &str, vectors: Vectors, result: u32, record: &[u32]) -> (u64, bool) {
    let (first, second) = (op.starts_with("OpS"), op.starts_with("OpSDot"));
    let (bits, count) =
        (vectors.component_bits(), if vectors.count == 1 { 4 } else { vectors.count });
    let products: Vec<i128> = (0..count)
        .map(|at| {
            let [a, b] = [0, 4].map(|start| vectors.component(&record[start..], at));
            // The greatest product of unsigned numbers of 64 bits is taken modulo 2^64 before it is
            // added.
            read(a, bits, first).checked_mul(read(b, bits, second)).unwrap_or(i128::MAX)
        })
        .collect();
    let modulus = 1i128 << result;
    if !op.ends_with("AccSat") {
        let exact = (0..count).fold(0u64, |sum, at| {
            let [a, b] = [0, 4].map(|start| vectors.component(&record[start..], at));
            sum.wrapping_add(
                (read(a, bits, first) as u64).wrapping_mul(read(b, bits, second) as u64),
            )
        });
        return (exact & (modulus - 1) as u64, true);
    }
    let (least, most) = if first { (-(modulus / 2), modulus / 2 - 1) } else { (0, modulus - 1) };
    let inside = |value: i128| value >= least && value <= most;
    let mut defined = products.iter().all(|product| inside(*product));
    for chosen in 0u32..1 << count {
        let some = products.iter().zip(0..).filter(|(_, at)| chosen >> at & 1 == 1);
        let sum = some.fold(0i128, |sum, (product, _)| sum.saturating_add(*product));
        defined &= inside(sum);
    }
    let accumulator = read(u64::from(record[8]) | u64::from(record[9]) << 32, result, first);
    let sum = products.iter().fold(0i128, |sum, product| sum.saturating_add(*product));
    ((sum.saturating_add(accumulator).clamp(least, most) & (modulus - 1)) as u64, defined)
}

const SHAPES: &[Vectors] = &[
    Vectors { width: 32, count: 1 },
    Vectors { width: 8, count: 4 },
    Vectors { width: 16, count: 2 },
    Vectors { width: 16, count: 4 },
    Vectors { width: 32, count: 2 },
    Vectors { width: 32, count: 3 },
    Vectors { width: 32, count: 4 },
    Vectors { width: 64, count: 2 },
];

#[test]
fn integer_dot_products_are_what_the_specification_says() {
    let mut device = device();
    let (mut plain, mut saturated) = (0, 0);
    for op in ["OpSDot", "OpUDot", "OpSUDot", "OpSDotAccSat", "OpUDotAccSat", "OpSUDotAccSat"] {
        for vectors in SHAPES {
            for result in
                [8, 16, 32, 64].into_iter().filter(|bits| *bits >= vectors.component_bits())
            {
                let records: Vec<Vec<u32>> = samples(RECORD * 400)
                    .chunks(RECORD)
                    .filter(|record| expected(op, *vectors, result, record).1)
                    .take(32)
                    .map(<[u32]>::to_vec)
                    .collect();
                // Small components, where large ones overflow.
                let small = (0..32).map(|at| {
                    (0..RECORD as u32).map(|word| ((at * 7 + word) % 5) << (at % 4)).collect()
                });
                let records: Vec<Vec<u32>> = (records.into_iter().chain(small))
                    .filter(|record| expected(op, *vectors, result, record).1)
                    .take(32)
                    .collect();
                if records.is_empty() {
                    continue;
                }
                let input: Vec<u32> = records.iter().cycle().take(32).flatten().copied().collect();
                let due: Vec<u32> = input
                    .chunks(RECORD)
                    .map(|record| expected(op, *vectors, result, record).0)
                    .flat_map(|value| [value as u32, (value >> 32) as u32])
                    .collect();
                let ours = dot_kernel(op, *vectors, result).output(&input, 64, device.as_mut());
                assert_eq!(ours, due, "{op} of {}x{} to {result}", vectors.count, vectors.width);
                if op.ends_with("AccSat") { saturated += 1 } else { plain += 1 }
            }
        }
    }
    assert!(plain >= 60 && saturated >= 50, "{plain} {saturated}");
}

#[test]
fn sums_that_do_not_fit_before_the_last_addition_are_found() {
    let kernel = dot_kernel("OpSDotAccSat", Vectors { width: 8, count: 4 }, 8);
    let found = kernel.findings(&samples(RECORD * 32), 64);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, FindingKind::UndefinedValue);
    assert!(found[0].1.contains("dot product"), "{found:?}");
    // Four products of 8 bits fit in 32: nothing is found, whatever the accumulator.
    let kernel = dot_kernel("OpSDotAccSat", Vectors { width: 32, count: 1 }, 32);
    assert_eq!(kernel.findings(&samples(RECORD * 32), 64), []);
}

/// Instructions that store `%{value}` at word `at` of the output.
fn put(at: u32, value: &str) -> String {
    format!("%q{at} = OpAccessChain %pu %o %c0 %c{at}\nOpStore %q{at} %{value}\n")
}

/// Instructions that load word `at` of the input as `%w{at}`, through `%p{at}`.
fn get(at: u32) -> String {
    format!("%p{at} = OpAccessChain %pu %i %c0 %c{at}\n%w{at} = OpLoad %uint %p{at}\n")
}

const ASSUMING: &[&str] = &["ExpectAssumeKHR", "SPV_KHR_expect_assume"];

#[test]
fn expected_values_pass_and_false_assumptions_are_found() {
    let body = format!(
        "{}{}%e = OpExpectKHR %uint %w0 %c3\n%v = OpIAdd %uint %e %w1\n%b = OpULessThan %bool %w0 %w1\nOpAssumeTrueKHR %b\n{}",
        get(0),
        get(1),
        put(0, "v")
    );
    let kernel = Kernel { needs: ASSUMING, body, ..Kernel::default() };
    assert_eq!(kernel.output(&[20, 22], 1, device().as_mut()), [42]);
    let found = kernel.findings(&[22, 22], 1);
    assert_eq!(
        found.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(),
        [FindingKind::UndefinedValue]
    );
    assert!(found[0].1.contains("OpAssumeTrueKHR"), "{found:?}");
}

#[test]
fn what_is_not_to_be_reached_is_told_where_it_is() {
    let body = format!(
        "{}%b = OpULessThan %bool %w0 %c3\nOpSelectionMerge %end None\nOpBranchConditional %b %end %never\n\
         %never = OpLabel\nOpUnreachable\n%end = OpLabel\n{}",
        get(0),
        put(0, "w0")
    );
    let kernel = Kernel { body, ..Kernel::default() };
    assert_eq!(kernel.findings(&[2], 1), []);
    let found = kernel.findings(&[3], 1);
    assert!(
        found[0].0 == FindingKind::UndefinedValue && found[0].1.contains("OpUnreachable"),
        "{found:?}"
    );
}

/// One invocation for each of 32 inputs; the result tells which case was taken.
fn switch_kernel(width: u32, signedness: u32, cases: &[i64]) -> Kernel {
    let ty = if width == 32 { ["%uint", "%int"][signedness as usize] } else { "%selector" };
    let declarations = match width {
        32 => "%u64 = OpTypeInt 64 0\n%v2u = OpTypeVector %uint 2\n".to_owned(),
        64 if signedness == 0 => {
            "%selector = OpTypeInt 64 0\n%u64 = OpTypeInt 64 1\n%v2u = OpTypeVector %uint 2\n"
                .to_owned()
        }
        64 => "%selector = OpTypeInt 64 1\n%u64 = OpTypeInt 64 0\n%v2u = OpTypeVector %uint 2\n"
            .to_owned(),
        _ => {
            format!(
                "%selector = OpTypeInt {width} {signedness}\n%u64 = OpTypeInt 64 0\n%v2u = OpTypeVector %uint 2\n"
            )
        }
    };
    let results: String =
        (0..cases.len()).map(|at| format!("%k{at} = OpConstant %uint {}\n", 100 + at)).collect();
    let targets: String =
        cases.iter().zip(0..).map(|(case, at)| format!(" {case} %case{at}")).collect();
    let blocks: String =
        (0..cases.len()).map(|at| format!("%case{at} = OpLabel\nOpBranch %merge\n")).collect();
    let values: String = (0..cases.len()).map(|at| format!(" %k{at} %case{at}")).collect();
    let narrow = if width == 64 { "OpBitcast" } else { "OpUConvert" };
    let narrow = if width == 32 { "OpBitcast" } else { narrow };
    let source = if width == 64 { "pair" } else { "low" };
    let unsigned = if width < 32 && signedness == 1 { "OpSConvert" } else { narrow };
    let body = format!(
        "%at = OpIMul %uint %x %c2
%next = OpIAdd %uint %at %c1
%pl = OpAccessChain %pu %i %c0 %at
%ph = OpAccessChain %pu %i %c0 %next
%low = OpLoad %uint %pl
%high = OpLoad %uint %ph
%pair = OpCompositeConstruct %v2u %low %high
%s = {unsigned} {ty} %{source}
OpNop
OpSelectionMerge %merge None
OpSwitch %s %default{targets}
{blocks}%default = OpLabel
OpBranch %merge
%merge = OpLabel
%result = OpPhi %uint %c7 %default{values}
%out = OpAccessChain %pu %o %c0 %x
OpStore %out %result"
    );
    let needs: &[&str] = match width {
        8 => &["Int8", "Int64"],
        16 => &["Int16", "Int64"],
        _ => &["Int64"],
    };
    Kernel {
        needs,
        declarations: format!("{declarations}{results}"),
        body,
        size: 32,
        ..Kernel::default()
    }
}

#[test]
fn switches_select_by_numbers_of_every_width() {
    let mut device = device();
    for width in [8u32, 16, 32, 64] {
        for signedness in [0, 1] {
            let most =
                if signedness == 0 { u64::MAX >> (64 - width) } else { u64::MAX >> (65 - width) };
            let least = if signedness == 0 { 0 } else { !most };
            let mut values = vec![0, 1, 5, most, most - 1, least, 0x7f, 0x55];
            if signedness == 1 {
                values.extend([u64::MAX, u64::MAX - 2]);
            }
            if width == 64 {
                values.extend([0x1_0000_0000, 0x1_0000_0005, 0x5_0000_0000, 0x7fff_ffff]);
            }
            // Half of the values are cases, some of them with the same target.
            let mut cases: Vec<i64> = values.iter().step_by(2).map(|value| *value as i64).collect();
            cases.sort_unstable();
            cases.dedup();
            if signedness == 0 && width == 64 {
                // The assembler's text is unsigned.
                cases.retain(|case| *case >= 0);
            }
            let narrow = |value: u64| value & u64::MAX >> (64 - width);
            let due = (0..32).map(|at| {
                let value = narrow(values[at % values.len()]);
                let found = cases.iter().position(|case| narrow(*case as u64) == value);
                found.map_or(7, |at| 100 + at as u32)
            });
            let input: Vec<u32> = (0..32)
                .flat_map(|at| [0, 32].map(|shift| (values[at % values.len()] >> shift) as u32))
                .collect();
            let ours = switch_kernel(width, signedness, &cases).output(&input, 32, device.as_mut());
            assert_eq!(
                ours,
                due.collect::<Vec<_>>(),
                "{width} bits, signedness {signedness}: {cases:?} of {values:?}"
            );
        }
    }
}

#[test]
fn composites_are_copied_selected_and_compared_as_wholes() {
    let mut device = device();
    let declarations = "%v2 = OpTypeVector %uint 2
%bv2 = OpTypeVector %bool 2
%arr = OpTypeArray %uint %c2
%laid = OpTypeArray %uint %c2
%in = OpTypeStruct %v2 %laid
%own = OpTypeStruct %v2 %arr
%pin = OpTypePointer StorageBuffer %in
%fown = OpTypePointer Function %own
%t = OpVariable %pin2 StorageBuffer
";
    let declarations = declarations.replace(
        "%t = OpVariable %pin2 StorageBuffer\n",
        "%wrap = OpTypeStruct %in\n%pw = OpTypePointer StorageBuffer %wrap\n%t = OpVariable %pw StorageBuffer\n",
    );
    let body = format!(
        "{}{}%pt = OpAccessChain %pin %t %c0
%whole = OpLoad %in %pt
%copied = OpCopyLogical %own %whole
OpStore %f %copied
%swapped = OpCompositeInsert %own %c9 %copied 0 1
%less = OpULessThan %bool %w0 %w1
%chosen = OpSelect %own %less %copied %swapped
%e = OpCompositeExtract %uint %chosen 0 1
%a1 = OpCompositeExtract %uint %chosen 1 1
%fv = OpLoad %own %f
%back = OpCopyLogical %in %fv
OpStore %pt %back
%u = OpUndef %uint
%one = OpCompositeConstruct %v2 %w0 %u
%w = OpCompositeExtract %uint %one 0
%less2 = OpCompositeConstruct %bv2 %less %less
%vs = OpSelect %v2 %less2 %one %one
{}{}{}",
        get(0),
        get(1),
        put(0, "e"),
        put(1, "a1"),
        put(2, "w")
    );
    let kernel = Kernel {
        interface: "%t",
        decorations: "OpDecorate %laid ArrayStride 4
OpMemberDecorate %in 0 Offset 0
OpMemberDecorate %in 1 Offset 8
OpMemberDecorate %wrap 0 Offset 0
OpDecorate %wrap Block
OpDecorate %t DescriptorSet 0
OpDecorate %t Binding 0",
        variables: "%f = OpVariable %fown Function",
        declarations,
        body,
        ..Kernel::default()
    };
    assert_eq!(kernel.output(&[3, 4, 5, 6], 3, device.as_mut()), [4, 6, 3]);
    assert_eq!(kernel.output(&[4, 3, 5, 6], 3, device.as_mut()), [9, 6, 4]);
}

#[test]
fn what_belongs_to_other_environments_is_refused_by_name() {
    // Assembled, not validated: Vulkan has none of them.
    for (needs, body, what) in [
        (&["Addresses"][..], "OpCopyMemorySized %f %f %c4", "capability Addresses"),
        (
            &["Kernel"][..],
            "%r = OpAtomicCompareExchangeWeak %uint %f %c1 %c0 %c0 %c1 %c0",
            "capability Kernel",
        ),
        (&[][..], "OpCopyMemorySized %f %f %c4", "OpCopyMemorySized"),
        (
            &[][..],
            "%r = OpAtomicCompareExchangeWeak %uint %f %c1 %c0 %c0 %c1 %c0",
            "OpAtomicCompareExchangeWeak",
        ),
        (&[][..], "%r = OpPtrDiff %int %f %f", "OpPtrDiff"),
    ] {
        let kernel = Kernel {
            needs,
            variables: "%f = OpVariable %fu Function",
            body: body.to_owned(),
            ..Kernel::default()
        };
        let said = kernel.refused();
        assert!(said.contains(what), "{said}");
    }
}

#[test]
fn votes_of_quads_count_the_active_invocations_of_a_quad() {
    let body = "%pi0 = OpAccessChain %pu %i %c0 %x
%value = OpLoad %uint %pi0
%yes = OpUGreaterThan %bool %value %c4
%active = OpINotEqual %bool %x %c5
OpSelectionMerge %end None
OpBranchConditional %active %inside %end
%inside = OpLabel
%every = OpGroupNonUniformQuadAllKHR %bool %yes
%some = OpGroupNonUniformQuadAnyKHR %bool %yes
%a = OpSelect %uint %every %c1 %c0
%b = OpSelect %uint %some %c2 %c0
%both = OpBitwiseOr %uint %a %b
%po = OpAccessChain %pu %o %c0 %x
OpStore %po %both
OpBranch %end
%end = OpLabel";
    let kernel = Kernel {
        needs: &[
            "GroupNonUniform",
            "GroupNonUniformVote",
            "QuadControlKHR",
            "SPV_KHR_quad_control",
        ],
        body: body.to_owned(),
        size: 12,
        ..Kernel::default()
    };
    // Invocation 5 does not vote.
    let mut device = device();
    let input = [9, 9, 9, 9, 9, 0, 9, 9, 0, 0, 5, 0];
    assert_eq!(kernel.output(&input, 12, device.as_mut()), [3, 3, 3, 3, 3, 0, 3, 3, 2, 2, 2, 2]);
    let input = [0, 0, 0, 0, 0, 9, 0, 0, 9, 0, 9, 9];
    assert_eq!(kernel.output(&input, 12, device.as_mut()), [0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2]);
    let input = [9, 9, 9, 9, 0, 9, 9, 9, 9, 9, 9, 9];
    assert_eq!(kernel.output(&input, 12, device.as_mut()), [3, 3, 3, 3, 2, 0, 2, 2, 3, 3, 3, 3]);
    assert_eq!(kernel.output(&[0; 12], 12, None), [0; 12]);
}

#[test]
fn what_has_no_result_that_could_be_compared_is_refused_by_name() {
    let clock = Kernel {
        needs: &["Int64", "ShaderClockKHR", "SPV_KHR_shader_clock"],
        declarations: "%u64 = OpTypeInt 64 0\n".to_owned(),
        body: "%now = OpReadClockKHR %u64 %c3".to_owned(),
        ..Kernel::default()
    };
    assert_eq!(clock.unsupported(), "capability ShaderClockKHR");
}

/// Nearest, ties to even, on the bits of a float of 32 bits.
fn brain(bits: u32) -> u32 {
    if f32::from_bits(bits).is_nan() {
        bits >> 16 | 0x40
    } else {
        (bits + 0x7fff + (bits >> 16 & 1)) >> 16
    }
}

#[test]
fn floats_with_eight_digits_are_converted_and_multiplied() {
    let body = "%four = OpIMul %uint %x %c4
%p0 = OpAccessChain %pu %i %c0 %x
%w0 = OpLoad %uint %p0
%single = OpBitcast %float %w0
%short = OpFConvert %brain %single
%back = OpFConvert %float %short
%bits = OpBitcast %uint %back
%two = OpFConvert %brain %constant
%pair = OpCompositeConstruct %v2 %short %two
%dot = OpDot %brain %pair %pair
%wide = OpFConvert %float %dot
%sum = OpBitcast %uint %wide
%q0 = OpAccessChain %pu %o %c0 %x
OpStore %q0 %bits
%next = OpIAdd %uint %x %c32
%q1 = OpAccessChain %pu %o %c0 %next
OpStore %q1 %sum";
    let kernel = Kernel {
        needs: &["BFloat16TypeKHR", "BFloat16DotProductKHR", "SPV_KHR_bfloat16"],
        declarations: "%float = OpTypeFloat 32
%brain = OpTypeFloat 16 BFloat16KHR
%v2 = OpTypeVector %brain 2
%constant = OpConstant %float 1.5
%c32 = OpConstant %uint 32
"
        .to_owned(),
        body: body.to_owned(),
        size: 32,
        ..Kernel::default()
    };
    let input: Vec<u32> = (0..32u32)
        .map(|at| match at {
            0 => 0x3f80_8000, // a tie, down to even
            1 => 0x3f81_8000, // a tie, up to even
            2 => 0x7f7f_ffff, // above the greatest
            3 => 0x0000_8001, // less than the least normal number
            4 => 0xff80_0000,
            5 => 0x8000_0000,
            _ => (at.wrapping_mul(0x9e37_79b9) & 0x807f_ffff) | (110 + at % 30) << 23,
        })
        .collect();
    let due = input.iter().map(|bits| brain(*bits) << 16);
    let round = |value: f32| f32::from_bits(brain(value.to_bits()) << 16);
    let sums = input.iter().map(|bits| {
        let short = f32::from_bits(brain(*bits) << 16);
        round(round(short * short) + 2.25).to_bits()
    });
    assert_eq!(kernel.output(&input, 64, None), due.clone().chain(sums).collect::<Vec<u32>>());
}

/// Values of these types have no numbers; that they are undefined matters only to what uses them.
#[test]
fn undefined_images_samplers_and_runtime_arrays_are_no_reason_to_refuse() {
    let declarations = "%float = OpTypeFloat 32
%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%sampler = OpTypeSampler
%both = OpTypeSampledImage %image
%no_image = OpUndef %image
%no_sampler = OpUndef %sampler
%no_array = OpUndef %array";
    let body = "%mine = OpUndef %image
%same = OpCopyObject %image %mine
%other = OpCopyObject %image %no_image
%third = OpCopyObject %sampler %no_sampler
%q = OpAccessChain %pu %o %c0 %c0
OpStore %q %c7";
    let kernel = Kernel {
        declarations: declarations.to_owned(),
        body: body.to_owned(),
        ..Kernel::default()
    };
    assert_eq!(kernel.output(&[0], 1, None), [7]);
}
