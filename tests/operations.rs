//! Every scalar function that the sequential engine claims, against a device and, for floats,
//! against 64-bit arithmetic.
//!
//! Integers and exact float operations must be equal bit for bit (a zero may have either sign, a
//! NaN any bits). The others must be within the bounds of the Vulkan specification, "Precision and
//! Operation of SPIR-V Instructions", on both engines; where a bound there is inherited from a
//! longer expression, the bound here is wide enough for it. Inputs outside an operation's domain,
//! and denormal inputs and results, are left out.

use crate::device;
use crate::filetest;

use device::device;
use filetest::{Buffer, FileTest};
use std::fmt::Write;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{Completion, Executor, Unobserved};
use vkcert::model::procedure::DescriptorClass;

const INTEGERS: [u32; 15] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    255,
    0x7fff,
    0x8000,
    0x1234_5678,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff9,
    0xffff_ffff,
];
const FLOATS: [f32; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    0.25,
    0.75,
    1.5,
    -2.5,
    2.0,
    3.0,
    -7.0,
    10.25,
    0.1,
    -0.3,
    1e-10,
    1e10,
    -1e10,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::INFINITY,
];

/// GLSL on `a`, `b`, `c` (uint) or `x`, `y`, `z` (float), giving a uint, and where it is defined.
struct Bits(&'static str, fn([u32; 3]) -> bool);

fn any(_: [u32; 3]) -> bool {
    true
}

fn signed_division([a, b, _]: [u32; 3]) -> bool {
    // GLSL leaves `%` undefined where an operand is negative; OpSDiv overflows for the last pair.
    b != 0 && !(a == 0x8000_0000 && b == u32::MAX)
}

fn in_range([a, _, _]: [u32; 3], low: f32, high: f32) -> bool {
    (low..=high).contains(&f32::from_bits(a))
}

const INTEGER: &[Bits] = &[
    Bits("a + b", any),
    Bits("a - b", any),
    Bits("a * b", any),
    Bits("a / b", |[_, b, _]| b != 0),
    Bits("a % b", |[_, b, _]| b != 0),
    Bits("uint(int(a) / int(b))", signed_division),
    Bits("uint(int(a) % int(b))", |[a, b, _]| (a as i32) >= 0 && (b as i32) > 0),
    Bits("uint(-int(a))", any),
    Bits("~a", any),
    Bits("a & b", any),
    Bits("a | b", any),
    Bits("a ^ b", any),
    Bits("a << b", |[_, b, _]| b < 32),
    Bits("a >> b", |[_, b, _]| b < 32),
    Bits("uint(int(a) >> b)", |[_, b, _]| b < 32),
    Bits("bitfieldReverse(a)", any),
    Bits("uint(bitCount(a))", any),
    Bits("uint(findLSB(a))", any),
    Bits("uint(findMSB(a))", any),
    Bits("uint(findMSB(int(a)))", any),
    Bits("uint(abs(int(a)))", |[a, _, _]| a != 0x8000_0000),
    Bits("uint(sign(int(a)))", any),
    Bits("min(a, b)", any),
    Bits("max(a, b)", any),
    Bits("uint(min(int(a), int(b)))", any),
    Bits("uint(max(int(a), int(b)))", any),
    Bits("clamp(a, b, c)", |[_, b, c]| b <= c),
    Bits("uint(clamp(int(a), int(b), int(c)))", |[_, b, c]| b as i32 <= c as i32),
    Bits("bitfieldExtract(a, int(b), int(c))", |[_, b, c]| b <= 32 && c <= 32 && b + c <= 32),
    Bits("uint(bitfieldExtract(int(a), int(b), int(c)))", |[_, b, c]| {
        b <= 32 && c <= 32 && b + c <= 32
    }),
    Bits("bitfieldInsert(a, 0x5a5a5a5au, int(b), int(c))", |[_, b, c]| {
        b <= 32 && c <= 32 && b + c <= 32
    }),
    Bits("carry(a, b)", any),
    Bits("borrow(a, b)", any),
    Bits("high(a, b)", any),
    Bits("signedHigh(a, b)", any),
    Bits(
        "uint(a < b) | uint(a <= b) << 1 | uint(a > b) << 2 | uint(a >= b) << 3 | uint(a == b) << 4",
        any,
    ),
    Bits("uint(int(a) < int(b)) | uint(int(a) <= int(b)) << 1 | uint(int(a) >= int(b)) << 2", any),
    Bits(
        "floatBitsToUint(unpackSnorm4x8(a).x) ^ floatBitsToUint(unpackSnorm4x8(a).w)",
        |[a, _, _]| {
            // Only exact quotients: elsewhere the division may round either way.
            [a as u8, (a >> 24) as u8].iter().all(|byte| [0, 127, 128, 129].contains(byte))
        },
    ),
    Bits("floatBitsToUint(float(a))", |[a, _, _]| a < 1 << 24),
    Bits("floatBitsToUint(float(int(a)))", |[a, _, _]| (a as i32).unsigned_abs() < 1 << 24),
    Bits("packSnorm2x16(vec2(x, y))", |[a, b, _]| whole(a) && whole(b)),
    Bits("packUnorm2x16(vec2(x, y))", |[a, b, _]| whole(a) && whole(b)),
];

/// Packing these does not depend on the rounding of a half.
fn whole(bits: u32) -> bool {
    let value = f32::from_bits(bits);
    value == value.trunc() && value.is_finite()
}

fn exact_half(bits: u32) -> bool {
    let value = f32::from_bits(bits);
    half::f16::from_f32(value).to_f32().to_bits() == bits && (value == 0.0 || value.abs() > 1e-4)
}

const FLOAT_BITS: &[Bits] = &[
    Bits(
        "uint(x < y) | uint(x <= y) << 1 | uint(x > y) << 2 | uint(x >= y) << 3 | uint(x == y) << 4",
        any,
    ),
    Bits("uint(x != y)", any),
    Bits("uint(x)", |a| in_range(a, 0.0, 4e9)),
    Bits("uint(int(x))", |a| in_range(a, -2e9, 2e9)),
    Bits("uint(isnan(x)) | uint(isinf(x)) << 1", any),
    Bits("packHalf2x16(vec2(x, y))", |[a, b, _]| exact_half(a) && exact_half(b)),
    Bits("exponent(x)", |[a, _, _]| f32::from_bits(a).is_finite()),
    Bits("uint(int(whole(x)))", |a| in_range(a, -2e9, 2e9)),
];

/// How far a result may be from the value computed in 64 bits.
#[derive(Clone, Copy)]
enum Bound {
    /// Correctly rounded.
    Rounded,
    Ulp(f64),
    Absolute(f64),
}
use Bound::{Absolute, Rounded, Ulp};

/// GLSL giving a float, its value, its bound, its domain.
struct Real(&'static str, fn(f64, f64) -> f64, Bound, fn(f64, f64) -> bool);

fn always(_: f64, _: f64) -> bool {
    true
}

fn within_ten(x: f64, _: f64) -> bool {
    x.abs() <= 10.5
}

fn unit(x: f64, _: f64) -> bool {
    x.abs() <= 1.0
}

/// Bounds in units in the last place for chains of operations follow from the parts' bounds at the
/// largest input used.
const REAL: &[Real] = &[
    Real("x + y", |x, y| x + y, Rounded, always),
    Real("x - y", |x, y| x - y, Rounded, always),
    Real("x * y", |x, y| x * y, Rounded, always),
    Real("x / y", |x, y| x / y, Ulp(2.5), |_, y| y != 0.0 && y.is_finite() && y.abs() < 8e37),
    Real("-x", |x, _| -x, Rounded, always),
    Real("abs(x)", |x, _| x.abs(), Rounded, always),
    Real("sign(x)", |x, _| if x == 0.0 { 0.0 } else { x.signum() }, Rounded, always),
    Real("floor(x)", |x, _| x.floor(), Rounded, always),
    Real("ceil(x)", |x, _| x.ceil(), Rounded, always),
    Real("trunc(x)", |x, _| x.trunc(), Rounded, always),
    Real("roundEven(x)", |x, _| x.round_ties_even(), Rounded, always),
    Real("round(x)", |x, _| x.round(), Rounded, |x, _| x.fract().abs() != 0.5),
    Real(
        "fract(x)",
        |x, _| x - x.floor(),
        Rounded,
        |x, _| x.is_finite() && !(x < 0.0 && x > -1e-6),
    ),
    Real("min(x, y)", f64::min, Rounded, always),
    Real("max(x, y)", f64::max, Rounded, always),
    Real("clamp(x, -2.0, 3.0)", |x, _| x.clamp(-2.0, 3.0), Rounded, always),
    Real("step(x, y)", |x, y| f64::from(u8::from(y >= x)), Rounded, always),
    Real(
        "mix(x, y, 0.25)",
        |x, y| x * 0.75 + y * 0.25,
        Absolute(4e-6),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "smoothstep(-1.0, 3.0, x)",
        |x, _| {
            let t = ((x + 1.0) / 4.0).clamp(0.0, 1.0);
            t * t * (3.0 - 2.0 * t)
        },
        Absolute(1e-6),
        always,
    ),
    Real(
        "fma(x, y, 0.5)",
        |x, y| x * y + 0.5,
        Absolute(2e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "mod(x, y)",
        |x, y| x - y * (x / y).floor(),
        Absolute(2e-5),
        |x, y| {
            x.abs() <= 11.0
                && (0.25..11.0).contains(&y.abs())
                && ((x / y).fract().abs() - 0.5).abs() < 0.49
        },
    ),
    Real("sqrt(x)", |x, _| x.sqrt(), Ulp(5.0), |x, _| x >= 0.0 && x.is_finite()),
    Real("inversesqrt(x)", |x, _| 1.0 / x.sqrt(), Ulp(2.0), |x, _| x > 0.0 && x.is_finite()),
    Real("radians(x)", |x, _| x.to_radians(), Ulp(3.0), |x, _| x.abs() < 1e30),
    Real("degrees(x)", |x, _| x.to_degrees(), Ulp(3.0), |x, _| x.abs() < 1e30),
    Real("sin(x)", |x, _| x.sin(), Absolute(4.9e-4), |x, _| x.abs() <= std::f64::consts::PI),
    Real("cos(x)", |x, _| x.cos(), Absolute(4.9e-4), |x, _| x.abs() <= std::f64::consts::PI),
    Real("tan(x)", |x, _| x.tan(), Absolute(2e-3), |x, _| x.abs() <= 1.0),
    Real("asin(x)", |x, _| x.asin(), Absolute(1e-3), unit),
    Real("acos(x)", |x, _| x.acos(), Absolute(1e-3), unit),
    Real("atan(x)", |x, _| x.atan(), Ulp(4096.0), always),
    Real("atan(x, y)", f64::atan2, Ulp(4096.0), |x, y| {
        // SPIR-V leaves both zero undefined; signs of zeros and infinities are not demanded.
        x != 0.0 && y != 0.0 && x.abs() < 1e5 && y.abs() < 1e5 && (x / y).abs() > 1e-6
    }),
    Real("exp(x)", |x, _| x.exp(), Ulp(24.0), within_ten),
    Real("exp2(x)", |x, _| x.exp2(), Ulp(24.0), within_ten),
    Real(
        "log(x)",
        |x, _| x.ln(),
        Ulp(3.0),
        |x, _| x.is_finite() && (x > 2.0 || (x > 0.0 && x < 0.5)),
    ),
    Real(
        "log2(x)",
        |x, _| x.log2(),
        Ulp(3.0),
        |x, _| x.is_finite() && (x > 2.0 || (x > 0.0 && x < 0.5)),
    ),
    Real("log(x)", |x, _| x.ln(), Absolute(4.8e-7), |x, _| (0.5..=2.0).contains(&x)),
    Real("log2(x)", |x, _| x.log2(), Absolute(4.8e-7), |x, _| (0.5..=2.0).contains(&x)),
    Real("pow(x, y)", f64::powf, Ulp(256.0), |x, y| {
        x > 0.0 && x <= 11.0 && x > 1e-3 && y.abs() <= 11.0
    }),
    Real("sinh(x)", |x, _| x.sinh(), Ulp(64.0), |x, _| (0.25..10.5).contains(&x.abs())),
    Real("cosh(x)", |x, _| x.cosh(), Ulp(64.0), within_ten),
    Real("tanh(x)", |x, _| x.tanh(), Ulp(128.0), |x, _| (0.25..10.5).contains(&x.abs())),
    Real("asinh(x)", |x, _| x.asinh(), Absolute(1e-5), within_ten),
    Real("acosh(x)", |x, _| x.acosh(), Absolute(1e-5), |x, _| (1.0..10.5).contains(&x)),
    Real("atanh(x)", |x, _| x.atanh(), Absolute(1e-5), |x, _| x.abs() <= 0.75),
    Real("ldexp(x, 3)", |x, _| x * 8.0, Rounded, |x, _| x.abs() < 1e30),
    Real("fraction(x)", |x, _| x.fract(), Rounded, |x, _| x.is_finite()),
    Real("whole(x)", |x, _| x.trunc(), Rounded, |x, _| x.is_finite()),
    Real(
        "length(vec2(x, y))",
        |x, y| x.hypot(y),
        Ulp(16.0),
        |x, y| {
            // Smaller squares are denormal.
            (1e-15..=1e4).contains(&x.abs()) && y.abs() <= 1e4
        },
    ),
    Real(
        "distance(vec2(x, 1.0), vec2(-1.0, y))",
        |x, y| (x + 1.0).hypot(1.0 - y),
        Absolute(5e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "dot(vec2(x, y), vec2(2.0, -3.0))",
        |x, y| 2.0 * x - 3.0 * y,
        Absolute(2e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "determinant(mat2(x, 2.0, 3.0, y))",
        |x, y| x * y - 6.0,
        Absolute(5e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "cross(vec3(x, y, 1.0), vec3(2.0, 3.0, 4.0)).z",
        |x, y| 3.0 * x - 2.0 * y,
        Absolute(2e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real(
        "normalize(vec2(x, y)).y",
        |x, y| y / x.hypot(y),
        Absolute(2e-6),
        |x, y| (0.01..1e4).contains(&x.abs()) && (0.01..1e4).contains(&y.abs()),
    ),
    Real(
        "reflect(vec2(x, y), vec2(0.0, 1.0)).y",
        |_, y| -y,
        Absolute(1e-5),
        |x, y| x.abs() <= 11.0 && y.abs() <= 11.0,
    ),
    Real("faceforward(vec2(x, y), vec2(1.0, 0.0), vec2(-1.0, 0.0)).x", |x, _| x, Rounded, always),
];

fn kernel(body: &str) -> Vec<u32> {
    let text = format!(
        "#version 450
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) readonly buffer I {{ uint i[]; }};
layout(std430, set = 0, binding = 1) writeonly buffer O {{ uint o[]; }};
uint carry(uint a, uint b) {{ uint r; uaddCarry(a, b, r); return r; }}
uint borrow(uint a, uint b) {{ uint r; usubBorrow(a, b, r); return r; }}
uint high(uint a, uint b) {{ uint h, l; umulExtended(a, b, h, l); return h ^ (l * 3u); }}
uint signedHigh(uint a, uint b) {{ int h, l; imulExtended(int(a), int(b), h, l); return uint(h); }}
uint exponent(float x) {{ int e; float m = frexp(x, e); return uint(e) ^ floatBitsToUint(m); }}
float whole(float x) {{ float w; modf(x, w); return w; }}
float fraction(float x) {{ float w; return modf(x, w); }}
void main() {{
    uint n = gl_GlobalInvocationID.x;
    uint a = i[3u * n], b = i[3u * n + 1u], c = i[3u * n + 2u];
    float x = uintBitsToFloat(a), y = uintBitsToFloat(b), z = uintBitsToFloat(c);
    o[n] = {body};
}}
"
    );
    filetest::compile("operation", &text)
}

/// Results on the sequential engine, and on the device if there is one.
fn results(
    body: &str,
    inputs: &[[u32; 3]],
    device: Option<&mut VulkanExecutor>,
) -> Vec<(&'static str, Vec<u32>)> {
    let buffer =
        |binding, words| Buffer { binding, class: DescriptorClass::Storage, words, range: None };
    let test = FileTest {
        name: body.to_owned(),
        words: kernel(body),
        groups: [inputs.len() as u32, 1, 1],
        buffers: vec![
            buffer(0, inputs.iter().flatten().map(|word| Some(*word)).collect()),
            buffer(1, vec![Some(0); inputs.len()]),
        ],
        ..FileTest::default()
    };
    let mut job = test.job();
    job.limits.seconds = 60.0;
    let mut runs =
        vec![("sequential", SequentialExecutor::default().run(&job, &mut Unobserved).unwrap())];
    if let Some(device) = device {
        runs.push(("device", device.run(&job, &mut Unobserved).unwrap()));
    }
    runs.into_iter()
        .map(|(name, run)| {
            assert_eq!(run.completion, Completion::Completed, "{body} on {name}");
            assert!(run.findings.is_empty(), "{body} on {name}: {:#?}", run.findings);
            let words =
                run.buffers[1].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
            (name, words.collect())
        })
        .collect()
}

fn tuples(values: &[u32]) -> Vec<[u32; 3]> {
    let pairs = values.iter().flat_map(|a| values.iter().map(move |b| (*a, *b)));
    pairs.flat_map(|(a, b)| [0, 5, 24, u32::MAX >> 1].map(|c| [a, b, c])).collect()
}

#[test]
fn integer_operations_are_equal_bit_for_bit() {
    let mut device = device();
    let mut failures = String::new();
    let float_values: Vec<u32> = FLOATS.iter().map(|value| value.to_bits()).collect();
    let tables = INTEGER
        .iter()
        .map(|one| (one, &INTEGERS[..]))
        .chain(FLOAT_BITS.iter().map(|one| (one, &float_values[..])));
    for (Bits(body, defined), values) in tables {
        // Packing takes floats though it stands among the integers.
        let values = if body.starts_with("pack") { &float_values[..] } else { values };
        let inputs: Vec<_> = tuples(values).into_iter().filter(|input| defined(*input)).collect();
        assert!(inputs.len() >= 4, "{body}: {}", inputs.len());
        let results = results(body, &inputs, device.as_mut());
        let [(_, ours), (_, theirs)] = &results[..] else { continue };
        let differing: Vec<_> = (0..inputs.len()).filter(|at| ours[*at] != theirs[*at]).collect();
        if let Some(at) = differing.first() {
            let [a, b, c] = inputs[*at];
            writeln!(
                failures,
                "{body}: {} of {}, first {a:#x} {b:#x} {c:#x} ({} {}): sequential {:#x}, device {:#x}",
                differing.len(),
                inputs.len(),
                f32::from_bits(a),
                f32::from_bits(b),
                ours[*at],
                theirs[*at]
            )
            .unwrap();
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

fn near(actual: f32, exact: f64, bound: Bound) -> bool {
    let rounded = exact as f32;
    if actual == rounded || (actual.is_nan() && exact.is_nan()) {
        return true;
    }
    let denormal = exact.abs() < f64::from(f32::MIN_POSITIVE) && actual.abs() <= f32::MIN_POSITIVE;
    // One unit in the last place at the value's magnitude.
    let ulp = 2f64.powi(exact.abs().log2().floor() as i32 - 23);
    let error = (f64::from(actual) - exact).abs();
    // An overflow may round to the largest finite number (either rounding direction is allowed).
    let overflow = rounded.is_infinite()
        && exact.is_finite()
        && f64::from(actual) == f64::from(f32::MAX) * exact.signum();
    denormal
        || overflow
        || match bound {
            Rounded => false,
            Ulp(count) => error <= (count + 0.5) * ulp,
            Absolute(most) => error <= most,
        }
}

#[test]
fn float_operations_are_within_the_bounds_of_the_specification() {
    let mut device = device();
    let mut failures = String::new();
    let bits: Vec<u32> = FLOATS.iter().map(|value| value.to_bits()).collect();
    let pairs: Vec<_> = bits.iter().flat_map(|a| bits.iter().map(move |b| [*a, *b, 0])).collect();
    for Real(body, function, bound, domain) in REAL {
        let value = |bits: u32| f64::from(f32::from_bits(bits));
        let exact = |input: &[u32; 3]| function(value(input[0]), value(input[1]));
        let defined =
            |input: &&[u32; 3]| domain(value(input[0]), value(input[1])) && !exact(input).is_nan();
        let inputs: Vec<_> = pairs.iter().filter(defined).copied().collect();
        assert!(inputs.len() >= 10, "{body}: {}", inputs.len());
        for (engine, words) in
            results(&format!("floatBitsToUint({body})"), &inputs, device.as_mut())
        {
            let wrong = |at: &usize| !near(f32::from_bits(words[*at]), exact(&inputs[*at]), *bound);
            let wrong: Vec<_> = (0..inputs.len()).filter(wrong).collect();
            if let Some(at) = wrong.first() {
                let [x, y, _] = inputs[*at].map(f32::from_bits);
                writeln!(
                    failures,
                    "{body} on {engine}: {} of {}, first x={x:?} y={y:?}: {:?}, exactly {:?}",
                    wrong.len(),
                    inputs.len(),
                    f32::from_bits(words[*at]),
                    exact(&inputs[*at])
                )
                .unwrap();
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
