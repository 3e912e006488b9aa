//! What a module says of its floating-point arithmetic: directions of rounding, denormal numbers,
//! exponents of every width. Each kernel is run on the sequential engine against a model in the
//! test that knows nothing but the machine's own arithmetic to the nearest.

use crate::assembly;

use assembly::Kernel;
use assembly::operation::{IMPORT, Operation, TYPES, WIDTHS, bits_of};
use vkcert::model::finding::FindingKind;

/// Numbers of ordinary magnitude whose last bits are set.
fn floats() -> Vec<f32> {
    let mixed = (1u32..).map(|at| at.wrapping_mul(0x9e37_79b9).rotate_left(at % 29));
    let ordinary = mixed.map(|word| {
        let exponent = 117 + word % 21;
        f32::from_bits(word & 0x8000_0000 | exponent << 23 | word >> 3 & 0x7f_ffff)
    });
    ordinary.take(64).collect()
}

fn toward_zero(exact: f64) -> f32 {
    let near = exact as f32;
    if f64::from(near).abs() <= exact.abs() { near } else { f32::from_bits(near.to_bits() - 1) }
}

/// The largest magnitude whose product with `b` is not above that of `a`; products of 24 digits are
/// exact in 53.
fn quotient_toward_zero(a: f32, b: f32) -> f32 {
    let near = a / b;
    let above = (f64::from(near) * f64::from(b)).abs() > f64::from(a).abs();
    if above { f32::from_bits(near.to_bits() - 1) } else { near }
}

fn root_toward_zero(a: f32) -> f32 {
    let near = a.sqrt();
    if f64::from(near) * f64::from(near) > f64::from(a) {
        f32::from_bits(near.to_bits() - 1)
    } else {
        near
    }
}

fn pairs() -> Vec<[f32; 3]> {
    let all = floats();
    (0..64).map(|at| [all[at], all[(at * 7 + 3) % 64], all[(at * 5 + 1) % 64]]).collect()
}

fn bits(values: &[[f32; 3]]) -> Vec<[u64; 3]> {
    values.iter().map(|triple| triple.map(|value| value.to_bits().into())).collect()
}

#[test]
fn single_precision_is_rounded_toward_zero_where_the_entry_point_says_so() {
    const NEEDS: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "RoundingModeRTZ",
        "SPV_KHR_float_controls",
    ];
    const MODES: &str = "OpExecutionMode %main RoundingModeRTZ 32";
    type Model = fn([f32; 3]) -> f32;
    let operations: [(&'static str, Model); 7] = [
        ("%r = OpFAdd %float %a %b", |[a, b, _]| toward_zero(f64::from(a) + f64::from(b))),
        ("%r = OpFSub %float %a %b", |[a, b, _]| toward_zero(f64::from(a) - f64::from(b))),
        ("%r = OpFMul %float %a %b", |[a, b, _]| toward_zero(f64::from(a) * f64::from(b))),
        ("%r = OpFDiv %float %a %b", |[a, b, _]| quotient_toward_zero(a, b)),
        ("%ia = OpBitcast %int %a\n%r = OpConvertSToF %float %ia", |[a, _, _]| {
            toward_zero(f64::from(a.to_bits() as i32))
        }),
        ("%ia = OpBitcast %uint %a\n%r = OpConvertUToF %float %ia", |[a, _, _]| {
            toward_zero(a.to_bits().into())
        }),
        (
            "%da = OpFConvert %double %a\n%db = OpFConvert %double %b\n%dm = OpFMul %double %da %db\n%r = OpFConvert %float %dm",
            |[a, b, _]| toward_zero(f64::from(a) * f64::from(b)),
        ),
    ];
    let given = pairs();
    for (text, model) in operations {
        let results = Operation::float(text).results(NEEDS, MODES, &bits(&given));
        let plain = Operation::float(text).results(WIDTHS, "", &bits(&given));
        let due: Vec<u64> = given.iter().map(|triple| model(*triple).to_bits().into()).collect();
        assert_eq!(results, due, "{text}");
        assert_ne!(plain, due, "{text}: the operands do not tell the directions apart");
    }
}

#[test]
fn roots_and_fused_products_are_rounded_toward_zero() {
    const NEEDS: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "RoundingModeRTZ",
        "SPV_KHR_float_controls",
    ];
    const MODES: &str = "OpExecutionMode %main RoundingModeRTZ 32";
    let given: Vec<[f32; 3]> = pairs().into_iter().map(|[a, b, _]| [a.abs(), b, a * 3.0]).collect();
    for (text, model) in [
        (
            "%r = OpExtInst %float %glsl Sqrt %a",
            (|[a, _, _]| root_toward_zero(a)) as fn([f32; 3]) -> f32,
        ),
        // Of one rounding only: what 64 bits cut off cannot reach the last of 24.
        ("%r = OpExtInst %float %glsl Fma %a %b %d", |[a, b, d]| {
            toward_zero(f64::from(a).mul_add(f64::from(b), f64::from(d)))
        }),
    ] {
        let mut kernel = Operation::float(text).kernel(NEEDS, MODES, given.len());
        kernel.imports = IMPORT;
        let input: Vec<u32> =
            bits(&given).iter().flatten().flat_map(|bits| [*bits as u32, 0]).collect();
        let words = kernel.output(&input, 128, None);
        let due: Vec<u32> = given.iter().flat_map(|triple| [model(*triple).to_bits(), 0]).collect();
        assert_eq!(words, due, "{text}");
    }
}

#[test]
fn half_precision_has_modes_of_its_own() {
    const NEEDS: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "RoundingModeRTZ",
        "SPV_KHR_float_controls",
    ];
    let given: Vec<[u64; 3]> =
        (0..64u64).map(|at| [0x3c00 + at * 37, 0x3a00 + at * 91, 0]).collect();
    let half = |bits: u64| half::f16::from_bits(bits as u16).to_f64();
    // Sums of halves are exact in 64 bits.
    let toward_zero = |exact: f64| {
        let near = half::f16::from_f32(exact as f32);
        if near.to_f64().abs() <= exact.abs() { near.to_bits() } else { near.to_bits() - 1 }
    };
    let operation = Operation {
        operands: ["half"; 3],
        result: "half",
        text: "%r = OpFAdd %half %a %b".to_owned(),
    };
    let results = operation.results(NEEDS, "OpExecutionMode %main RoundingModeRTZ 16", &given);
    let due: Vec<u64> =
        given.iter().map(|[a, b, _]| toward_zero(half(*a) + half(*b)).into()).collect();
    assert_eq!(results, due);
    // A mode of 32 bits says nothing of 16.
    let other = operation.results(NEEDS, "OpExecutionMode %main RoundingModeRTZ 32", &given);
    assert_ne!(other, due);
    assert_eq!(other, operation.results(WIDTHS, "", &given));
    // Conversions are rounded as the width of their result says.
    let narrow = Operation {
        operands: ["float"; 3],
        result: "half",
        text: "%r = OpFConvert %half %a".to_owned(),
    };
    let floats = bits(&pairs());
    let results = narrow.results(NEEDS, "OpExecutionMode %main RoundingModeRTZ 16", &floats);
    let due: Vec<u64> = pairs().iter().map(|[a, _, _]| toward_zero(f64::from(*a)).into()).collect();
    assert_eq!(results, due);
}

#[test]
fn double_precision_is_rounded_toward_zero() {
    const NEEDS: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "RoundingModeRTZ",
        "SPV_KHR_float_controls",
    ];
    const MODES: &str = "OpExecutionMode %main RoundingModeRTZ 64";
    let given: Vec<[f64; 3]> =
        pairs().iter().map(|[a, b, _]| [f64::from(*a) / 3.0, f64::from(*b) / 7.0, 0.0]).collect();
    let input: Vec<[u64; 3]> = given.iter().map(|triple| triple.map(f64::to_bits)).collect();
    let down =
        |near: f64, above: bool| if above { f64::from_bits(near.to_bits() - 1) } else { near };
    // What a product to the nearest lost is exact in a fused operation; of a sum, Knuth's two-sum
    // has it.
    let product = |a: f64, b: f64| {
        let near = a * b;
        down(near, a.mul_add(b, -near) * near.signum() < 0.0)
    };
    let sum = |a: f64, b: f64| {
        let near = a + b;
        let back = near - a;
        down(near, ((a - (near - back)) + (b - back)) * near.signum() < 0.0)
    };
    for (text, due) in [
        (
            "%r = OpFMul %double %a %b",
            given.iter().map(|[a, b, _]| product(*a, *b)).collect::<Vec<_>>(),
        ),
        ("%r = OpFAdd %double %a %b", given.iter().map(|[a, b, _]| sum(*a, *b)).collect()),
    ] {
        let operation =
            Operation { operands: ["double"; 3], result: "double", text: text.to_owned() };
        let due: Vec<u64> = due.into_iter().map(f64::to_bits).collect();
        assert_eq!(operation.results(NEEDS, MODES, &input), due, "{text}");
        assert_ne!(operation.results(WIDTHS, "", &input), due, "{text}");
    }
}

#[test]
fn a_decorated_conversion_is_rounded_as_its_decoration_says() {
    let kernel = |direction: &str, mode: &'static str| {
        Kernel {
        needs: &[
            "Int16",
            "StorageBuffer16BitAccess",
            "RoundingModeRTE",
            "RoundingModeRTZ",
            "SPV_KHR_16bit_storage",
            "SPV_KHR_float_controls",
        ],
        modes: mode,
        decorations: match direction {
            "RTZ" => "OpDecorate %r FPRoundingMode RTZ\nOpMemberDecorate %hb 0 Offset 0\nOpDecorate %hb Block\nOpDecorate %h DescriptorSet 0\nOpDecorate %h Binding 1",
            _ => "OpDecorate %r FPRoundingMode RTE\nOpMemberDecorate %hb 0 Offset 0\nOpDecorate %hb Block\nOpDecorate %h DescriptorSet 0\nOpDecorate %h Binding 1",
        },
        declarations: "%half = OpTypeFloat 16\n%float = OpTypeFloat 32\n%hb = OpTypeStruct %half\n%phb = OpTypePointer StorageBuffer %hb
%ph = OpTypePointer StorageBuffer %half\n%h = OpVariable %phb StorageBuffer"
            .to_owned(),
        interface: "%h",
        body: "%p = OpAccessChain %pu %i %c0 %c0\n%w = OpLoad %uint %p\n%f = OpBitcast %float %w\n%r = OpFConvert %half %f
%q = OpAccessChain %ph %h %c0\nOpStore %q %r"
            .to_owned(),
        ..Kernel::default()
    }
    };
    // 1 and 7 eighths of the last place of 16 bits.
    let run = |direction: &str, mode: &'static str| {
        kernel(direction, mode).output(&[0x3f80_1c00], 1, None)[0]
    };
    assert_eq!(run("RTZ", ""), 0x3c00);
    assert_eq!(run("RTE", ""), 0x3c01);
    // It goes before the mode of the entry point.
    assert_eq!(run("RTE", "OpExecutionMode %main RoundingModeRTZ 16"), 0x3c01);
    assert_eq!(run("RTZ", "OpExecutionMode %main RoundingModeRTE 16"), 0x3c00);
}

#[test]
fn denormal_numbers_are_flushed_by_arithmetic_and_kept_by_moves() {
    const NEEDS: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "DenormFlushToZero",
        "SPV_KHR_float_controls",
    ];
    const MODES: &str = "OpExecutionMode %main DenormFlushToZero 32";
    let tiny = 0x0040_0000u64;
    let least = 0x0080_0000u64;
    let one = u64::from(1.0f32.to_bits());
    let sign = 0x8000_0000u64;
    let half = u64::from(0.5f32.to_bits());
    // Operands, and what becomes of them where denormal numbers are flushed and where they are
    // kept.
    for (text, [a, b], flushed, kept) in [
        ("%r = OpFAdd %float %a %b", [tiny, tiny], 0, least),
        ("%r = OpFMul %float %a %b", [least, half], 0, tiny),
        ("%r = OpFMul %float %a %b", [least | sign, half], sign, tiny | sign),
        ("%r = OpFSub %float %a %b", [least, tiny], least, tiny),
        ("%r = OpFNegate %float %a", [tiny, 0], sign, tiny | sign),
        ("%c = OpFOrdLessThan %bool %b %a\n%r = OpSelect %float %c %a %b", [tiny, 0], 0, tiny),
        ("%c = OpFOrdGreaterThan %bool %a %b\n%r = OpSelect %float %c %b %a", [tiny, 0], tiny, 0),
        ("%r = OpCopyObject %float %a", [tiny, one], tiny, tiny),
    ] {
        let operation = Operation::float(text);
        assert_eq!(operation.results(NEEDS, MODES, &[[a, b, 0]]), [flushed], "{text} {a:x} {b:x}");
        assert_eq!(operation.results(WIDTHS, "", &[[a, b, 0]]), [kept], "{text} {a:x} {b:x}");
    }
    for (text, [a, b], flushed, kept) in [
        ("%r = OpExtInst %float %glsl FMax %a %b", [tiny, 0], 0, tiny),
        ("%r = OpExtInst %float %glsl FAbs %a", [tiny | sign, 0], 0, tiny),
        ("%r = OpExtInst %float %glsl FSign %a", [tiny, 0], 0, one),
        ("%r = OpExtInst %float %glsl Ldexp %a %ib", [least, u64::from(u32::MAX)], 0, tiny),
        (
            "%v = OpExtInst %v2f %glsl UnpackHalf2x16 %ia\n%r = OpCompositeExtract %float %v 1",
            [0x0001_0000, 0],
            0x3380_0000,
            0x3380_0000,
        ),
    ] {
        let mut operation = Operation::float(text);
        let text = format!("%ib = OpBitcast %int %b\n%ia = OpBitcast %uint %a\n{text}");
        operation.text = text;
        for (needs, modes, due) in [(NEEDS, MODES, flushed), (WIDTHS, "", kept)] {
            let mut kernel = operation.kernel(needs, modes, 1);
            kernel.imports = IMPORT;
            let words = kernel.output(&[a as u32, 0, b as u32, 0, 0, 0], 2, None);
            assert_eq!(u64::from(words[0]), due, "{} {modes}", operation.text);
        }
    }
    // What a packed word holds has 16 bits.
    let mut kernel = Operation::float(
        "%ia = OpBitcast %uint %a\n%v = OpExtInst %v2f %glsl UnpackHalf2x16 %ia\n%r = OpCompositeExtract %float %v 1",
    )
    .kernel(NEEDS, "OpExecutionMode %main DenormFlushToZero 16", 1);
    kernel.imports = IMPORT;
    assert_eq!(kernel.output(&[0x0001_3c00, 0, 0, 0, 0, 0], 2, None)[0], 0);
}

#[test]
fn exponents_of_ldexp_have_any_width() {
    let exponents: [i64; 12] = [0, 1, -1, 5, -7, 20, -30, 100, -100, 127, -126, -128];
    for (exponent, values) in
        [("byte", 1.0f64), ("short", 1.5), ("long", -3.0), ("int", 0.75), ("ubyte", 1.0)]
    {
        let width = bits_of(exponent);
        let mask = u64::MAX >> (64 - width);
        for (float, to_bits) in [
            ("float", (|value: f64| u64::from((value as f32).to_bits())) as fn(f64) -> u64),
            ("double", f64::to_bits),
            ("half", |value: f64| half::f16::from_f32(value as f32).to_bits().into()),
        ] {
            let text = match float {
                "float" => "%r = OpExtInst %float %glsl Ldexp %a %b",
                "double" => "%r = OpExtInst %double %glsl Ldexp %a %b",
                _ => "%r = OpExtInst %half %glsl Ldexp %a %b",
            };
            let operation = Operation {
                operands: [float, exponent, "uint"],
                result: float,
                text: text.to_owned(),
            };
            let mut kernel = operation.kernel(WIDTHS, "", exponents.len());
            kernel.imports = IMPORT;
            let given = exponents.iter().map(|power| [to_bits(values), *power as u64 & mask, 0]);
            let input: Vec<u32> =
                given.flatten().flat_map(|bits| [bits as u32, (bits >> 32) as u32]).collect();
            let run = kernel.run(&input, 2 * exponents.len());
            let words = assembly::words(&run.buffers[1]);
            let due = exponents.map(|power| to_bits(values * 2f64.powi(power as i32)));
            let results: Vec<u64> =
                words.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect();
            assert_eq!(results, due, "{float} {exponent}");
        }
    }
}

#[test]
fn a_wide_exponent_is_not_cut() {
    let operation = Operation {
        operands: ["double", "long", "uint"],
        result: "double",
        text: "%r = OpExtInst %double %glsl Ldexp %a %b".to_owned(),
    };
    let mut kernel = operation.kernel(WIDTHS, "", 2);
    kernel.imports = IMPORT;
    let one = 1.0f64.to_bits();
    // 2^32 and -2^32 would be 0 in a word.
    let given = [[one, 1 << 32, 0], [one, (-(1i64 << 32)) as u64, 0]];
    let input: Vec<u32> =
        given.iter().flatten().flat_map(|bits| [*bits as u32, (bits >> 32) as u32]).collect();
    let words = assembly::words(&kernel.run(&input, 4).buffers[1]);
    assert_eq!(words, [0, 0x7ff0_0000, 0, 0]);
}

#[test]
fn vectors_take_an_exponent_for_each_component() {
    let text = "%u = OpUConvert %ushort %w\n%e = OpBitcast %v2b %u\n%f = OpCompositeConstruct %v2f %one %one
%r = OpExtInst %v2f %glsl Ldexp %f %e\n%r0 = OpCompositeExtract %float %r 0\n%r1 = OpCompositeExtract %float %r 1
%b0 = OpBitcast %uint %r0\n%b1 = OpBitcast %uint %r1\n%q0 = OpAccessChain %pu %o %c0 %c0\n%q1 = OpAccessChain %pu %o %c0 %c1
OpStore %q0 %b0\nOpStore %q1 %b1";
    let kernel = Kernel {
        needs: WIDTHS,
        imports: IMPORT,
        declarations: format!("{TYPES}%one = OpConstant %float 1"),
        body: format!("%p = OpAccessChain %pu %i %c0 %c0\n%w = OpLoad %uint %p\n{text}"),
        ..Kernel::default()
    };
    assert_eq!(kernel.output(&[0x02ff], 2, None), [0.5f32.to_bits(), 4.0f32.to_bits()]);
}

#[test]
fn constants_are_converted_as_the_module_says() {
    // A little above the middle of two halves, by less than 32 bits hold.
    let kernel = |needs, modes| {
        Kernel {
        needs,
        modes,
        declarations: format!(
            "{TYPES}%d = OpSpecConstant %double 1.00048828125000022\n%h = OpSpecConstantOp %half FConvert %d"
        ),
        body: "%u = OpBitcast %ushort %h\n%w = OpUConvert %uint %u\n%q = OpAccessChain %pu %o %c0 %c0\nOpStore %q %w"
            .to_owned(),
        ..Kernel::default()
    }
    };
    const TOWARD_ZERO: &[&str] = &[
        "Int8",
        "Int16",
        "Int64",
        "Float16",
        "Float64",
        "RoundingModeRTZ",
        "SPV_KHR_float_controls",
    ];
    assert_eq!(kernel(WIDTHS, "").output(&[0], 1, None), [0x3c01]);
    assert_eq!(
        kernel(TOWARD_ZERO, "OpExecutionMode %main RoundingModeRTZ 16").output(&[0], 1, None),
        [0x3c00]
    );
}

#[test]
fn an_operation_that_may_assume_there_is_no_nan_is_told_where_there_is_one() {
    let kernel = Kernel {
        needs: &["FloatControls2", "SPV_KHR_float_controls2"],
        decorations: "OpDecorate %r FPFastMathMode NotNaN",
        declarations: "%float = OpTypeFloat 32".to_owned(),
        body:
            "%p = OpAccessChain %pu %i %c0 %c0\n%w = OpLoad %uint %p\n%a = OpBitcast %float %w\n%r = OpFAdd %float %a %a
%b = OpBitcast %uint %r\n%q = OpAccessChain %pu %o %c0 %c0\nOpStore %q %b"
                .to_owned(),
        ..Kernel::default()
    };
    assert_eq!(kernel.output(&[0x3f80_0000], 1, None), [0x4000_0000]);
    let findings = kernel.findings(&[0x7fc0_0000], 1);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].0, FindingKind::UndefinedValue);
    assert!(findings[0].1.contains("NotNaN"), "{findings:?}");
}
