//! Numbers of 8, 16 and 64 bits: every operation on the sequential engine against a device, and
//! where the specification demands one result, bit for bit.
//!
//! Inputs that leave a result undefined are left out, and denormal floats of 16 bits, which a
//! device may flush. A NaN may have any bits, a zero either sign.

use crate::device;
use crate::filetest;

use device::device;
use filetest::{Buffer, FileTest};
use std::fmt::Write;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{Completion, Executor, Run, Unobserved};
use vkcert::model::finding::FindingKind;
use vkcert::model::procedure::DescriptorClass;

const HEADER: &str = "#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_scalar_block_layout : require
";

/// A type with values that are worth trying, as bits.
struct Type {
    glsl: &'static str,
    bits: u32,
    values: &'static [u64],
}

const I8: &[u64] = &[0, 1, 2, 7, 0x55, 0x7f, 0x80, 0x81, 0xf9, 0xff];
const I16: &[u64] = &[0, 1, 3, 15, 0xff, 0x1234, 0x7fff, 0x8000, 0x8001, 0xfff9, 0xffff];
const I64: &[u64] = &[
    0,
    1,
    3,
    31,
    63,
    0xffff_ffff,
    0x1_0000_0000,
    0x1234_5678_9abc_def0,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_0000_0000,
    0xffff_ffff_ffff_fff9,
    u64::MAX,
];
/// 0, -0, 1, -1, 0.5, 1.5, -2.5, 3, 1000, 2049 is no such number: 2048, the greatest, infinity,
/// NaN, 0.1, -7.
const F16: &[u64] = &[
    0, 0x8000, 0x3c00, 0xbc00, 0x3800, 0x3e00, 0xc100, 0x4200, 0x63d0, 0x6800, 0x7bff, 0x7c00,
    0x7e00, 0x2e66, 0xc700,
];
const F64: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    3.0,
    0.1,
    -7.0,
    1e10,
    -1e-10,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    4_294_967_297.0,
];

/// GLSL on `a`, `b`, `c` of a type, its result's type, and where it is defined.
struct Expression(&'static str, &'static str, fn([u64; 3], u32) -> bool);

fn always(_: [u64; 3], _: u32) -> bool {
    true
}

fn signed(value: u64, bits: u32) -> i64 {
    ((value << (64 - bits)) as i64) >> (64 - bits)
}

fn divides([a, b, _]: [u64; 3], bits: u32) -> bool {
    signed(b, bits) != 0 && !(signed(b, bits) == -1 && a == 1 << (bits - 1))
}

fn shifts([_, b, _]: [u64; 3], bits: u32) -> bool {
    b < u64::from(bits)
}

const SIGNED: &[Expression] = &[
    Expression("a + b", "T", always),
    Expression("a - b", "T", always),
    Expression("a * b", "T", always),
    Expression("a / b", "T", divides),
    Expression("a % b", "T", |[a, b, c], bits| {
        divides([a, b, c], bits) && signed(a, bits) >= 0 && signed(b, bits) > 0
    }),
    Expression("-a", "T", always),
    Expression("~a", "T", always),
    Expression("a & b", "T", always),
    Expression("a | b", "T", always),
    Expression("a ^ b", "T", always),
    Expression("a << b", "T", shifts),
    Expression("a >> b", "T", shifts),
    Expression("a < b ? b : a", "T", always),
    Expression(
        "uint(a < b) | uint(a <= b) << 1 | uint(a > b) << 2 | uint(a >= b) << 3 | uint(a == b) << 4 | uint(a != b) << 5",
        "uint",
        always,
    ),
    Expression("int(a)", "int", always),
    Expression("uint(a)", "uint", always),
    Expression("int8_t(a)", "int8_t", always),
    Expression("uint16_t(a)", "uint16_t", always),
    Expression("int64_t(a)", "int64_t", always),
    Expression("uint64_t(a)", "uint64_t", always),
    Expression("float(a)", "float", |[a, _, _], bits| signed(a, bits).unsigned_abs() < 1 << 24),
    Expression("float64_t(a)", "float64_t", |[a, _, _], bits| {
        signed(a, bits).unsigned_abs() < 1 << 53
    }),
    Expression("bool(a) ? T(1) : T(2)", "T", always),
    Expression("min(a, b)", "T", always),
    Expression("max(a, b)", "T", always),
    Expression("abs(a)", "T", |[a, _, _], bits| a != 1 << (bits - 1)),
    Expression("sign(a)", "T", always),
    Expression("clamp(a, b, c)", "T", |[_, b, c], bits| signed(b, bits) <= signed(c, bits)),
];

const UNSIGNED: &[Expression] = &[
    Expression("a + b", "T", always),
    Expression("a * b", "T", always),
    Expression("a / b", "T", |[_, b, _], _| b != 0),
    Expression("a % b", "T", |[_, b, _], _| b != 0),
    Expression("a << b", "T", shifts),
    Expression("a >> b", "T", shifts),
    Expression(
        "uint(a < b) | uint(a <= b) << 1 | uint(a > b) << 2 | uint(a >= b) << 3",
        "uint",
        always,
    ),
    Expression("int(a)", "int", always),
    Expression("int64_t(a)", "int64_t", always),
    Expression("uint8_t(a)", "uint8_t", always),
    Expression("float(a)", "float", |[a, _, _], _| a < 1 << 24),
    Expression("float64_t(a)", "float64_t", |[a, _, _], _| a < 1 << 53),
    Expression("min(a, b)", "T", always),
    Expression("clamp(a, b, c)", "T", |[_, b, c], _| b <= c),
];

const FLOAT: &[Expression] = &[
    Expression("-a", "T", always),
    Expression("a + b", "T", always),
    Expression("a - b", "T", always),
    Expression("a * b", "T", always),
    Expression("abs(a)", "T", always),
    Expression(
        "uint(a < b) | uint(a <= b) << 1 | uint(a > b) << 2 | uint(a >= b) << 3 | uint(a == b) << 4",
        "uint",
        always,
    ),
    Expression("uint(isnan(a)) | uint(isinf(a)) << 1", "uint", always),
    Expression("floor(a)", "T", always),
    Expression("ceil(a)", "T", always),
    Expression("trunc(a)", "T", always),
    Expression("roundEven(a)", "T", always),
    Expression("sign(a)", "T", |[a, _, _], bits| !is_nan(a, bits)),
    Expression("step(a, b)", "T", |[a, b, _], bits| !is_nan(a, bits) && !is_nan(b, bits)),
    Expression("min(a, b)", "T", |[a, b, _], bits| !is_nan(a, bits) && !is_nan(b, bits)),
    Expression("max(a, b)", "T", |[a, b, _], bits| !is_nan(a, bits) && !is_nan(b, bits)),
    Expression("float(a)", "float", |[a, _, _], bits| exact_float(a, bits)),
    Expression("float16_t(a)", "float16_t", |[a, _, _], bits| exact_half(a, bits)),
    Expression("float64_t(a)", "float64_t", always),
    Expression("int(a)", "int", |[a, _, _], bits| value(a, bits).abs() < 2e9),
    Expression("uint(a)", "uint", |[a, _, _], bits| value(a, bits) > -1.0 && value(a, bits) < 4e9),
    Expression("int64_t(a)", "int64_t", |[a, _, _], bits| value(a, bits).abs() < 9e18),
];

fn value(bits: u64, width: u32) -> f64 {
    if width == 16 { half::f16::from_bits(bits as u16).to_f64() } else { f64::from_bits(bits) }
}

fn is_nan(bits: u64, width: u32) -> bool {
    value(bits, width).is_nan()
}

fn exact_float(bits: u64, width: u32) -> bool {
    let value = value(bits, width);
    f64::from(value as f32) == value
}

fn exact_half(bits: u64, width: u32) -> bool {
    let value = value(bits, width);
    half::f16::from_f64(value).to_f64() == value && (value == 0.0 || value.abs() > 1e-4)
}

fn bytes_of(name: &str) -> usize {
    match name {
        "int8_t" | "uint8_t" => 1,
        "int16_t" | "uint16_t" | "float16_t" => 2,
        "int" | "uint" | "float" => 4,
        "int64_t" | "uint64_t" | "float64_t" => 8,
        other => panic!("{other}"),
    }
}

fn pack(values: impl Iterator<Item = (u64, usize)>) -> Vec<u32> {
    let mut bytes: Vec<u8> =
        values.flat_map(|(value, size)| value.to_le_bytes()[..size].to_vec()).collect();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn test(text: &str, groups: u32, buffers: Vec<Vec<u32>>) -> FileTest {
    let buffer = |(words, binding): (Vec<u32>, u32)| Buffer {
        binding,
        class: DescriptorClass::Storage,
        words: words.into_iter().map(Some).collect(),
        range: None,
    };
    FileTest {
        name: "widths".to_owned(),
        words: filetest::compile("widths", text),
        groups: [groups, 1, 1],
        buffers: buffers.into_iter().zip(0..).map(buffer).collect(),
        ..FileTest::default()
    }
}

/// Runs on the sequential engine, and on the device if there is one that can.
fn runs(
    text: &str,
    groups: u32,
    buffers: Vec<Vec<u32>>,
    device: Option<&mut VulkanExecutor>,
) -> Vec<Run> {
    let test = test(text, groups, buffers);
    let mut runs = vec![SequentialExecutor::default().run(&test.job(), &mut Unobserved).unwrap()];
    assert_eq!(runs[0].completion, Completion::Completed, "{text}");
    assert!(runs[0].findings.is_empty(), "{text}: {:#?}", runs[0].findings);
    if let Some(device) = device {
        let run = device.run(&test.job(), &mut Unobserved).unwrap();
        match &run.completion {
            Completion::Unsupported { what } => eprintln!("NOT RUN on the device: {what}"),
            Completion::Completed => runs.push(run),
            other => panic!("{text}: {other:?}"),
        }
    }
    runs
}

/// Equal bits; floats: two NaN or two zeros as well.
fn same(left: &[u8], right: &[u8], ty: &str) -> bool {
    let bits =
        |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let (left, right) = (bits(left), bits(right));
    let float = |bits: u64| match ty {
        "float16_t" => Some(value(bits, 16)),
        "float" => Some(f64::from(f32::from_bits(bits as u32))),
        "float64_t" => Some(f64::from_bits(bits)),
        _ => None,
    };
    match (float(left), float(right)) {
        (Some(left), Some(right)) => left == right || (left.is_nan() && right.is_nan()),
        _ => left == right,
    }
}

fn compare(
    ty: &Type,
    expressions: &[Expression],
    device: &mut Option<VulkanExecutor>,
    failures: &mut String,
) {
    let values = ty.values;
    let triples: Vec<[u64; 3]> = (values.iter())
        .flat_map(|a| values.iter().map(move |b| [*a, *b]))
        .flat_map(|[a, b]| [values[1], values[values.len() - 3]].map(|c| [a, b, c]))
        .collect();
    for Expression(body, result, defined) in expressions {
        let result = if *result == "T" { ty.glsl } else { result };
        let inputs: Vec<[u64; 3]> =
            triples.iter().copied().filter(|input| defined(*input, ty.bits)).collect();
        assert!(inputs.len() >= 4, "{body} on {}: {}", ty.glsl, inputs.len());
        let text = format!(
            "{HEADER}
layout(local_size_x = 1) in;
#define T {}
layout(std430, set = 0, binding = 0) readonly buffer I {{ T i[]; }};
layout(std430, set = 0, binding = 1) buffer O {{ {result} o[]; }};
void main() {{
    uint n = gl_GlobalInvocationID.x;
    T a = i[3u * n], b = i[3u * n + 1u], c = i[3u * n + 2u];
    o[n] = {result}({body});
}}",
            ty.glsl
        );
        let size = bytes_of(result);
        let input = pack(inputs.iter().flatten().map(|value| (*value, ty.bits as usize / 8)));
        let output = vec![0; (inputs.len() * size).div_ceil(4)];
        let runs = runs(&text, inputs.len() as u32, vec![input, output], device.as_mut());
        let [ours, theirs] = &runs[..] else { continue };
        let chunk = |run: &Run, at: usize| run.buffers[1][at * size..(at + 1) * size].to_vec();
        let wrong: Vec<usize> = (0..inputs.len())
            .filter(|at| !same(&chunk(ours, *at), &chunk(theirs, *at), result))
            .collect();
        if let Some(at) = wrong.first() {
            let _ = writeln!(
                failures,
                "{body} on {}: {} of {}, first {:x?}: sequential {:x?}, device {:x?}",
                ty.glsl,
                wrong.len(),
                inputs.len(),
                inputs[*at],
                chunk(ours, *at),
                chunk(theirs, *at)
            );
        }
    }
}

#[test]
fn operations_on_narrow_and_wide_numbers_are_equal_bit_for_bit() {
    let (mut device, mut failures) = (device(), String::new());
    for (glsl, bits, values) in [("int8_t", 8, I8), ("int16_t", 16, I16), ("int64_t", 64, I64)] {
        compare(&Type { glsl, bits, values }, SIGNED, &mut device, &mut failures);
    }
    for (glsl, bits, values) in [("uint8_t", 8, I8), ("uint16_t", 16, I16), ("uint64_t", 64, I64)] {
        compare(&Type { glsl, bits, values }, UNSIGNED, &mut device, &mut failures);
    }
    let doubles: Vec<u64> = F64.iter().map(|value| value.to_bits()).collect();
    let doubles = doubles.leak();
    for (glsl, bits, values) in [("float16_t", 16, F16), ("float64_t", 64, &*doubles)] {
        compare(&Type { glsl, bits, values }, FLOAT, &mut device, &mut failures);
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Kernels that use memory in other ways than one number at a time. Each reads and writes `o`, 64
/// words.
const KERNELS: &[(&str, &str)] = &[
    (
        "structures of all sizes, std430",
        "struct S { uint8_t a; uint16_t b; uint c; uint64_t d; u8vec3 e; f16vec3 f; dvec2 g; };
         layout(std430, set = 0, binding = 0) buffer B { S s[2]; uint16_t tail[16]; };
         void main() {
             S one = s[0];
             one.a += uint8_t(1); one.b *= one.b; one.c ^= 5u; one.d += 1ul << 40; one.e.zx = one.e.xy;
             one.f = f16vec3(1.5hf, -2.0hf, 0.25hf); one.g.y = 3.0lf - double(one.c & 7u);
             s[1] = one;
             tail[3] = uint16_t(one.d >> 40); tail[4] = tail[3] + uint16_t(7);
         }",
    ),
    (
        "structures of all sizes, scalar",
        "struct S { uint8_t a; uint16_t b; uint8_t c; uint d; u16vec3 e; };
         layout(scalar, set = 0, binding = 0) buffer B { S s[8]; };
         void main() {
             for (uint k = 1u; k < 8u; k++) { s[k].e[k % 3u] = s[k - 1u].b; s[k].b = uint16_t(k) * s[0].b; s[k].c = s[k - 1u].a; s[k].a = uint8_t(k); }
         }",
    ),
    (
        "matrices of doubles, by rows and by columns",
        "layout(std430, set = 0, binding = 0) buffer B { layout(row_major) dmat2x3 r; layout(column_major) dmat2x3 c; };
         void main() {
             for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) r[i][j] = double(i * 10 + j) + 0.5lf;
             c = r; c[1] += r[0]; c[0] = c[0] * 2.0lf; r[1] = c[0].zxy;
         }",
    ),
    (
        "workgroup memory",
        "shared int8_t s[8]; shared double d[4];
         layout(std430, set = 0, binding = 0) buffer B { int64_t o[32]; };
         void main() {
             for (int k = 0; k < 8; k++) s[k] = int8_t(k - 3);
             for (int k = 0; k < 4; k++) d[k] = double(k) / 4.0lf;
             for (int k = 0; k < 8; k++) o[k] = int64_t(s[k]) << 33 | int64_t(s[7 - k]);
             o[12] = int64_t(d[3] * 1000.0lf); o[13] = doubleBitsToInt64(d[1]);
         }",
    ),
    (
        "bits in other pieces",
        "layout(std430, set = 0, binding = 0) buffer B { uint64_t o[32]; };
         void main() {
             u32vec2 w = u32vec2(0x89abcdefu, 0x01234567u);
             uint64_t q = pack64(w); o[0] = q; o[1] = uint64_t(unpack16(q).y); o[2] = uint64_t(unpack8(w.x).z);
             o[3] = pack64(u16vec4(1us, 2us, 3us, 4us)); o[4] = uint64_t(pack32(u8vec4(9, 8, 7, 6)));
             o[5] = uint64_t(pack16(u8vec2(0x12, 0x34))); o[6] = doubleBitsToUint64(packDouble2x32(w)); o[7] = uint64_t(unpackDouble2x32(packDouble2x32(w)).y);
             o[8] = uint64_t(float16BitsToUint16(uint16BitsToFloat16(0x3c01us) + 1.0hf));
             o[9] = uint64_t(packFloat2x16(f16vec2(1.0hf, -2.0hf))); o[10] = uint64_t(packSnorm4x8(vec4(1.0, 0.0, 0.2, -1.0))); o[11] = uint64_t(packUnorm4x8(vec4(1.0, 0.0, 0.2, 0.6)));
         }",
    ),
    (
        "vectors with dynamic indices and conditions",
        "layout(std430, set = 0, binding = 0) buffer B { double o[32]; };
         void main() {
             dvec4 v = dvec4(0.5lf, 1.5lf, 2.5lf, 3.5lf); i64vec3 i = i64vec3(7l, -8l, 9l); bvec3 b = bvec3(false);
             for (uint k = 0u; k < 4u; k++) { o[k] = v[k]; v[3u - k] = double(k); o[4u + k] = v[k]; }
             for (uint k = 0u; k < 3u; k++) { b[k] = i[k] > 0l; o[8u + k] = double(i[k]) * (b[k] ? 1.0lf : 2.0lf); }
             o[12] = dot(v, v); o[13] = double(mix(i, i64vec3(1l), b).x); f16vec2 h = f16vec2(3.0hf, 4.0hf); o[14] = double(dot(h, h)); o[15] = double(any(equal(i, i64vec3(9l))));
         }",
    ),
    (
        "functions that split and compose",
        "layout(std430, set = 0, binding = 0) buffer B { double o[32]; };
         void main() {
             double whole; o[0] = modf(-3.75lf, whole); o[1] = whole; int e; o[2] = frexp(48.0lf, e); o[3] = double(e); o[4] = ldexp(0.75lf, 70);
             float f = frexp(0.15625, e); o[5] = double(f); o[6] = double(e); o[7] = determinant(dmat2(4.0lf, 2.0lf, 1.0lf, 3.0lf));
             mat4 m = mat4(2, 0, 0, 1, 0, 4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1); o[8] = double(determinant(m)); m = inverse(m); o[9] = double(m[0][0]); o[10] = double(m[0][3]); o[11] = double(m[2][2]);
             dmat3 d = inverse(dmat3(2, 0, 0, 0, 4, 0, 1, 0, 8)); o[12] = d[2][0]; o[13] = d[1][1]; o[14] = length(dvec2(3.0lf, 4.0lf)); o[15] = double(fma(1.5hf, 2.0hf, 0.25hf));
             vec2 r = refract(vec2(0.0, -1.0), vec2(0.0, 1.0), 0.5); o[16] = double(r.x); o[17] = double(r.y); r = refract(vec2(1.0, 0.0), vec2(0.0, 1.0), 2.0); o[18] = double(r.x);
         }",
    ),
];

#[test]
fn memory_of_mixed_widths_is_the_device_s() {
    let mut device = device();
    for (name, body) in KERNELS {
        let text = format!("{HEADER}layout(local_size_x = 1) in;\n{body}");
        let words: Vec<u32> =
            (0..64_u32).map(|at| at.wrapping_mul(0x0101_0305) ^ 0x3c2a_1804).collect();
        let runs = runs(&text, 1, vec![words.clone()], device.as_mut());
        let initial: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert!(*runs[0].buffers[0] != initial, "{name}: nothing was written");
        if let [ours, theirs] = &runs[..] {
            let at = ours.buffers[0]
                .iter()
                .zip(theirs.buffers[0].iter())
                .position(|(left, right)| left != right);
            let around = |run: &Run| {
                let first = at.unwrap_or(0) & !7;
                run.buffers[0][first..first + 8].to_vec()
            };
            assert_eq!(
                at,
                None,
                "{name}: byte {at:?} of {:x?} and {:x?}",
                around(ours),
                around(theirs)
            );
        }
    }
}

#[test]
fn atomics_on_64_bits_and_on_floats_are_the_device_s() {
    let mut device = device();
    let text = "#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) buffer B { uint64_t sum; int64_t least; uint64_t most; uint64_t bits; uint64_t swap; float f; };
void main() {
    uint n = gl_LocalInvocationIndex;
    atomicAdd(sum, uint64_t(n) << 31);
    atomicMin(least, int64_t(n) * -5000000000l);
    atomicMax(most, uint64_t(n) << 40);
    atomicXor(bits, 1ul << (2 * n));
    atomicCompSwap(swap, 0ul, 0x100000000ul + uint64_t(n) * 0ul);
    atomicAdd(f, 0.5);
}";
    let runs = runs(text, 1, vec![vec![0; 12]], device.as_mut());
    let ours: Vec<u64> = runs[0].buffers[0]
        .chunks(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
        .collect();
    assert_eq!(ours[0], (0..32_u64).sum::<u64>() << 31);
    assert_eq!((ours[1] as i64, ours[2]), (-155_000_000_000, 31 << 40));
    assert_eq!((ours[3], ours[4]), (0x5555_5555_5555_5555, 1 << 32));
    assert_eq!(f32::from_bits(ours[5] as u32), 16.0);
    if let [ours, theirs] = &runs[..] {
        assert_eq!(ours.buffers, theirs.buffers);
    }
}

fn findings(body: &str, defined: Vec<Option<u32>>) -> Vec<(FindingKind, String)> {
    let mut test = test(&format!("{HEADER}{body}"), 1, vec![Vec::new()]);
    test.buffers[0].words = defined;
    let run = SequentialExecutor::default().run(&test.job(), &mut Unobserved).unwrap();
    assert_eq!(run.completion, Completion::Completed);
    run.findings.into_iter().map(|finding| (finding.kind, finding.message)).collect()
}

#[test]
fn neighbouring_bytes_are_elements_of_their_own() {
    let kernel = |index: &str| {
        format!(
            "layout(local_size_x = 8) in;
             layout(std430, set = 0, binding = 0) buffer B {{ uint8_t b[]; }};
             void main() {{ b[{index}] = uint8_t(gl_LocalInvocationIndex); }}"
        )
    };
    assert_eq!(
        findings(&kernel("gl_LocalInvocationIndex"), vec![Some(0); 2]),
        [],
        "four bytes of a word do not race"
    );
    let races = findings(&kernel("gl_LocalInvocationIndex / 2u"), vec![Some(0); 2]);
    assert_eq!(races.first().map(|(kind, _)| *kind), Some(FindingKind::DataRace), "{races:?}");
    let outside = findings(&kernel("gl_LocalInvocationIndex + 1u"), vec![Some(0); 2]);
    assert_eq!(outside.len(), 1);
    assert!(outside[0].1.contains("outside the 8 elements"), "{outside:?}");
}

#[test]
fn a_byte_that_nobody_wrote_is_uninitialised_and_its_neighbours_are_not() {
    let kernel = |read: u32| {
        format!(
            "layout(local_size_x = 1) in;
             layout(std430, set = 0, binding = 0) buffer B {{ uint8_t b[]; }};
             void main() {{ b[1] = uint8_t(3); b[0] = b[{read}] + uint8_t(1); }}"
        )
    };
    assert_eq!(findings(&kernel(1), vec![None, None]), []);
    let found = findings(&kernel(2), vec![None, None]);
    assert_eq!(
        found.first().map(|(kind, _)| *kind),
        Some(FindingKind::UninitializedRead),
        "{found:?}"
    );
}

#[test]
fn undefined_results_are_found_by_the_width_of_their_operands() {
    let kernel = |ty: &str, body: &str| {
        format!(
            "layout(local_size_x = 1) in;
             layout(std430, set = 0, binding = 0) buffer B {{ {ty} v[4]; }};
             void main() {{ v[0] = {body}; }}"
        )
    };
    let words = |values: [u64; 4], size: usize| -> Vec<Option<u32>> {
        pack(values.into_iter().map(|value| (value, size))).into_iter().map(Some).collect()
    };
    for (ty, size, body, values, due) in [
        (
            "int8_t",
            1,
            "v[1] / v[2]",
            [0, 0x80, 0xff, 0],
            Some("division by zero, or of the most negative"),
        ),
        ("int8_t", 1, "v[1] / v[2]", [0, 0x81, 0xff, 0], None),
        ("int16_t", 2, "v[1] << v[2]", [0, 1, 16, 0], Some("a shift by the number's width")),
        ("int16_t", 2, "v[1] << v[2]", [0, 1, 15, 0], None),
        ("uint64_t", 8, "v[1] >> v[2]", [0, 1, 63, 0], None),
        ("uint64_t", 8, "v[1] >> v[2]", [0, 1, 64, 0], Some("a shift by the number's width")),
        ("uint64_t", 8, "v[1] % v[2]", [0, 1, 0, 0], Some("division by zero")),
        (
            "int",
            4,
            "v[1] % v[2]",
            [0, 7, 0xffff_fffd, 0],
            Some("remainder of or by a negative number"),
        ),
        ("int", 4, "v[1] % v[2]", [0, 0x7fff_ffff, 1, 0], None),
        (
            "int",
            4,
            "v[1] % 3",
            [0, 0x8000_0000, 0, 0],
            Some("remainder of or by a negative number"),
        ),
        (
            "int",
            4,
            "v[1] % 3",
            [0, 0xffff_ffff, 0, 0],
            Some("remainder of or by a negative number"),
        ),
        (
            "int",
            4,
            "7 % v[1]",
            [0, 0xffff_ffff, 0, 0],
            Some("remainder of or by a negative number"),
        ),
        ("int8_t", 1, "v[1] % v[2]", [0, 0x80, 3, 0], Some("remainder of or by a negative number")),
        (
            "int8_t",
            1,
            "v[1] % v[2]",
            [0, 0x7f, 0xff, 0],
            Some("remainder of or by a negative number"),
        ),
        ("int8_t", 1, "v[1] % v[2]", [0, 0x7f, 0x7f, 0], None),
        (
            "int16_t",
            2,
            "v[1] % v[2]",
            [0, 0x8001, 7, 0],
            Some("remainder of or by a negative number"),
        ),
        ("int16_t", 2, "v[1] % v[2]", [0, 0x7fff, 7, 0], None),
        (
            "int64_t",
            8,
            "v[1] % v[2]",
            [0, 1 << 63, 7, 0],
            Some("remainder of or by a negative number"),
        ),
        ("int64_t", 8, "v[1] % v[2]", [0, 0xffff_ffff, 7, 0], None),
        (
            "int64_t",
            8,
            "v[1] % v[2]",
            [0, 7, 0, 0],
            Some("remainder by zero, or of the most negative integer by -1"),
        ),
        ("uint", 4, "v[1] % v[2]", [0, 0xffff_fff9, 0xffff_fffd, 0], None),
        (
            "double",
            8,
            "double(int8_t(v[1]))",
            [0, 128.0f64.to_bits(), 0, 0],
            Some("outside the range of the integer"),
        ),
        ("double", 8, "double(int8_t(v[1]))", [0, (-128.9f64).to_bits(), 0, 0], None),
        (
            "double",
            8,
            "sqrt(v[1])",
            [0, (-1.0f64).to_bits(), 0, 0],
            Some("square root of a negative number"),
        ),
    ] {
        let found = findings(&kernel(ty, body), words(values, size));
        let told = found.first().map(|(_, message)| message.as_str());
        assert_eq!(told.is_some(), due.is_some(), "{body} on {ty}: {found:?}");
        assert!(
            told.unwrap_or_default().contains(due.unwrap_or_default()),
            "{body} on {ty}: {found:?}"
        );
    }
}
