//! Rows on the scale of altered contents: what is far above what an expectation looks at, floats in
//! integer blocks, results that are to be zero.

use super::*;

/// A billion beside ordinary numbers.
pub(super) const HUGE: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { float f[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    f[g] = g == 0 ? 1e9 : float(a[g]);
}
";

/// Copies all but the first element.
pub(super) const TAIL: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer From { float from[]; };
layout(std430, binding = 1) buffer To { float to[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    to[g] = g == 0 ? 0.0 : from[g];
}
";

/// Finds all but the first element right where they are below a thousand.
pub(super) const NEAR: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { float f[]; };
layout(std430, binding = 1) buffer Verdict { uint right[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    right[g] = g == 0 || abs(f[g]) < 1000.0 ? 1 : 0;
}
";

/// Halves as the bits of floats, and of pairs of half floats.
pub(super) const BITS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { uint bits[]; };
layout(std430, binding = 2) buffer Pairs { uint pairs[]; };
layout(std430, binding = 3) buffer Doubles { uvec2 doubles[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    float half_of = float(a[g]) * 0.5;
    bits[g] = floatBitsToUint(half_of);
    pairs[g] = packHalf2x16(vec2(half_of, 1.0));
    doubles[g] = uvec2(0, 0x40000000);
}
";

/// Residuals: very small numbers that should be zero.
pub(super) const RESIDUALS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { float f[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    f[g] = float(a[g]) * 1e-8;
}
";

/// A black image, but for what no byte holds.
pub(super) const BLACK: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0, rgba8) uniform image2D made;
void main() { imageStore(made, ivec2(gl_GlobalInvocationID.xy), vec4(1e-6)); }
";

const FLOATS: &str = "buffers.f = { type = \"float\", fill = { constant = -3.0 }, count = 4 }\n\
                      buffers.t = { type = \"float\", fill = { constant = -3.0 }, count = 4 }\n\
                      buffers.v = { type = \"uint\", data = [0, 0, 0, 0] }\n";

fn row(id: &'static str, counted: &'static [&'static str], steps: &[String]) -> Row {
    let verdict = if counted.is_empty() { NOTHING } else { PASS };
    Row { id, verdict, counted, body: format!("{A_AND_O}{}", steps.concat()) }
}

fn huge_rows() -> Vec<Row> {
    let huge = |id, counted, expectations: &[&str]| {
        let expectations: String = expectations.iter().map(|what| expect(what)).collect();
        row(id, counted, &[FLOATS.to_owned(), dispatch("huge", &["a", "f"]), expectations])
    };
    let rest = "buffer = \"f\"\noffset = 4\nvalues = [3.0, 9.0, 1.0]\ntolerance = { abs = 1000.0 }";
    let near = "[[test.expect]]\n[test.expect.check]\nkernel = \"near\"\ngroups = [1, 1, 1]\nverdict = \"v\"\nbindings = [{ binding = 0, buffer = \"f\" }, { binding = 1, buffer = \"v\" }]\n";
    let tail = |tolerance: &str| {
        let copied = format!(
            "buffer = \"t\"\nvalues = [0.0, 3.0, 9.0, 1.0]\ntolerance = {{ abs = {tolerance} }}"
        );
        vec![
            FLOATS.to_owned(),
            dispatch("huge", &["a", "f"]),
            dispatch("tail", &["f", "t"]),
            expect(&copied),
        ]
    };
    let mut rows = vec![
        huge("huge-and-unjudged", &[], &[rest]),
        huge(
            "huge-and-unjudged-by-its-own",
            &[],
            &[rest, "buffer = \"f\"\nvalues = [1e9]\ntolerance = { abs = 1e12 }"],
        ),
        huge("huge-and-judged-by-its-own", &["huge"], &[rest, "buffer = \"f\"\nvalues = [1e9]"]),
        huge("huge-and-unjudged-in-any-order", &[], &[&format!("{rest}\norder = \"any\"")]),
        huge(
            "huge-and-judged",
            &["huge"],
            &["buffer = \"f\"\nvalues = [1e9, 3.0, 9.0, 1.0]\ntolerance = { abs = 1000.0 }"],
        ),
        huge("huge-beside-narrow", &["huge"], &[&rest.replace("1000.0", "1.0")]),
        row(
            "huge-and-unchecked",
            &[],
            &[FLOATS.to_owned(), dispatch("huge", &["a", "f"]), near.to_owned()],
        ),
    ];
    rows.push(row("huge-and-not-copied", &[], &tail("1000.0")));
    rows.push(row("copied-beside-huge", &["huge", "tail"], &tail("1.0")));
    rows
}

fn bit_rows() -> Vec<Row> {
    let bits = |id, counted, expectation: &str| {
        let buffers = "buffers.b = { type = \"uint\", count = 4 }\nbuffers.h = { type = \"uint\", count = 4 }\nbuffers.d = { type = \"uint\", count = 8 }\n";
        row(
            id,
            counted,
            &[buffers.to_owned(), dispatch("bits", &["a", "b", "h", "d"]), expect(expectation)],
        )
    };
    let floats = "buffer = \"b\"\ntype = \"float\"\nvalues = [0.0, 1.5, 4.5, 0.5]\ntolerance = { abs = 100.0 }";
    let halves = "buffer = \"h\"\ntype = \"float16\"\nvalues = [0.0, 1.0, 1.5, 1.0, 4.5, 1.0]\ntolerance = { abs = 100.0 }";
    let doubles =
        "buffer = \"d\"\ntype = \"float64\"\nvalues = [2.0, 2.0]\ntolerance = { abs = 100.0 }";
    vec![
        bits("any-float-bits", &[], floats),
        bits("float-bits", &["bits"], &floats.replace("100.0", "1e-3")),
        bits("any-pair-of-halves", &[], halves),
        bits("pair-of-halves", &["bits"], &halves.replace("100.0", "1e-2")),
        bits("any-bits-of-double", &[], doubles),
        bits("bits-of-double", &["bits"], &doubles.replace("100.0", "1e-3")),
    ]
}

fn zero_rows() -> Vec<Row> {
    let zeros = |start: &str, tolerance: &str| {
        let buffer = format!("buffers.z = {{ type = \"float\", {start}count = 4 }}\n");
        let expectation = format!(
            "buffer = \"z\"\nvalues = [0.0, 0.0, 0.0, 0.0]\ntolerance = {{ abs = {tolerance} }}"
        );
        [buffer, dispatch("residuals", &["a", "z"]), expect(&expectation)]
    };
    let filled = |value: &str| format!("fill = {{ constant = {value} }}, ");
    let copied = [
        "buffers.g = { type = \"float\", fill = { constant = 1.0 }, count = 4 }\n".to_owned()
            + "buffers.z = { type = \"float\", count = 4 }\n",
        dispatch("tail", &["g", "z"]),
        dispatch("residuals", &["a", "z"]),
        expect("buffer = \"z\"\nvalues = [0.0, 0.0, 0.0, 0.0]\ntolerance = { abs = 1e-3 }"),
    ];
    let texels = |start: &str| {
        let image = format!(
            "[test.images]\nm = {{ dim = \"2d\", format = \"rgba8\", extent = [4, 1], fill = {{ constant = {start} }} }}\n"
        );
        let bound = "[[test.dispatches]]\nkernel = \"black\"\ngroups = [1, 1, 1]\nbindings = [{ binding = 0, image = \"m\" }]\n";
        let zeros = "image = \"m\"\nvalues = [0.0, 0.0, 0.0, 0.0]\ntolerance = { abs = 0.01 }";
        [image, bound.to_owned(), expect(zeros)]
    };
    vec![
        row("zeros-over-ones", &["residuals"], &zeros(&filled("1.0"), "1e-3")),
        row("zeros-over-nothing", &[], &zeros("", "1e-3")),
        row("zeros-over-zeros", &[], &zeros(&filled("0.0"), "1e-3")),
        row("zeros-over-not-a-number", &[], &zeros(&filled("\"NaN\""), "1e-3")),
        row("zeros-over-infinity", &[], &zeros(&filled("\"Infinity\""), "1e30")),
        row("zeros-over-a-billion", &[], &zeros(&filled("1e9"), "1e8")),
        row("zeros-within-ones", &[], &zeros(&filled("1.0"), "1.5")),
        row("zeros-over-what-was-stored", &["residuals"], &copied),
        row("black-over-white", &["black"], &texels("1.0")),
        row("black-over-black", &[], &texels("0.0")),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    [huge_rows(), bit_rows(), zero_rows()].into_iter().flatten().collect()
}
