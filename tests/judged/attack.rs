//! Tests that look as if they judged, and right ones of the kinds that projects have.

use super::*;

/// Low and high words of doubles, by one kernel each.
pub(super) const LOW: &str = "#version 450
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer Doubles { uvec2 d[]; };
void main() { d[gl_GlobalInvocationID.x].x = 7; }
";

pub(super) const HIGH: &str = "#version 450
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer Doubles { uvec2 d[]; };
void main() { d[gl_GlobalInvocationID.x].y = 0x40080000; }
";

/// Counts in the low halves of words whose high halves nobody looks at.
pub(super) const COUNTS: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { uint counts[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    counts[g] = 0xABCD0000 + uint(a[g]);
}
";

/// Ascending for any input, and which it was.
pub(super) const SORTED: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { uint o[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    uint rank = 0;
    for (uint i = 0; i < 4; i++) if (a[i] < a[g] || a[i] == a[g] && i < g) rank++;
    o[rank] = uint(a[g]);
}
";

/// Finds numbers in ascending order right.
pub(super) const ASCENDING: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
layout(std430, binding = 1) buffer Verdict { uint right[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    right[g] = g == 0 || o[g - 1] <= o[g] ? 1 : 0;
}
";

/// Finds what is a number, and not infinite, right.
pub(super) const FINITE: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { float f[]; };
layout(std430, binding = 1) buffer Verdict { uint right[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    right[g] = isnan(f[g]) || isinf(f[g]) ? 0 : 1;
}
";

/// Halves in place.
pub(super) const DAMP: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer State { float s[]; };
void main() { s[gl_GlobalInvocationID.x] *= 0.5; }
";

/// The sum of all, through partial sums.
pub(super) const PARTIAL: &str = "#version 450
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer In { float f[]; };
layout(std430, binding = 1) buffer Out { float sums[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    sums[g] = f[2 * g] + f[2 * g + 1];
}
";

/// What is no number where the input is odd.
pub(super) const ODD: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { float f[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    f[g] = (a[g] & 1) == 1 ? uintBitsToFloat(0x7FC00000) : 0.0;
}
";

/// Counts by atomics.
pub(super) const TALLY: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { uint above; uint below; };
void main() {
    if (a[gl_GlobalInvocationID.x] > 2) atomicAdd(above, 1); else atomicAdd(below, 1);
}
";

fn row(id: &'static str, counted: &'static [&'static str], steps: &[String]) -> Row {
    let verdict = if counted.is_empty() { NOTHING } else { PASS };
    Row { id, verdict, counted, body: format!("{A_AND_O}{}", steps.concat()) }
}

fn floats(name: &str, data: &str) -> String {
    format!("buffers.{name} = {{ type = \"float\", data = {data} }}\n")
}

fn check(kernel: &str, buffer: &str) -> String {
    format!(
        "[[test.expect]]\n[test.expect.check]\nkernel = \"{kernel}\"\ngroups = [1, 1, 1]\nverdict = \"v\"\nbindings = [{{ binding = 0, buffer = \"{buffer}\" }}, {{ binding = 1, buffer = \"v\" }}]\n"
    )
}

fn words(counted: &'static [&'static str], id: &'static str, kernels: &[&str]) -> Row {
    let buffer =
        "buffers.d = { type = \"uint\", data = [0, 1074266112, 0, 1074266112] }\n".to_owned();
    let dispatches: String = kernels.iter().map(|kernel| dispatch(kernel, &["d"])).collect();
    let doubles = expect(
        "buffer = \"d\"\ntype = \"float64\"\nvalues = [3.0, 3.0]\ntolerance = { abs = 1e-3 }",
    );
    row(id, counted, &[buffer, dispatches, doubles])
}

fn vacuous() -> Vec<Row> {
    let verdict = || "buffers.v = { type = \"uint\", data = [0, 0, 0, 0] }\n".to_owned();
    let counts =
        "buffer = \"c\"\ntype = \"uint16\"\noffset = 4\nvalues = [3]\ntolerance = { abs = 100.0 }";
    let halves = |values: &str, tolerance: &str| {
        let wide = format!("buffer = \"f\"\nvalues = {values}\ntolerance = {{ {tolerance} }}");
        [floats("f", "[0.0, 0.0, 0.0, 0.0]"), dispatch("halves", &["a", "f"]), expect(&wide)]
    };
    vec![
        row(
            "bytes-beside-counts",
            &[],
            &[
                "buffers.c = { type = \"uint\", count = 4 }\n".to_owned(),
                dispatch("counts", &["a", "c"]),
                expect(counts),
            ],
        ),
        row(
            "finite-is-enough",
            &[],
            &[
                floats("f", "[0.0, 0.0, 0.0, 0.0]"),
                verdict(),
                dispatch("halves", &["a", "f"]),
                check("finite", "f"),
            ],
        ),
        row("expected-elsewhere", &[], &halves("[1e6, 1e6, 1e6, 1e6]", "abs = 2e6")),
        row("twice-as-wide-as-all", &[], &halves("[0.0, 1.5, 4.5, 0.5]", "rel = 2.0, abs = 9.0")),
        row("any-steps", &[], &halves("[0.0, 1.5, 4.5, 0.5]", "ulp = 2200000000")),
        row(
            "damped-to-anything",
            &[],
            &[
                floats("s", "[8.0, 4.0, 2.0, 1e9]"),
                dispatch("damp", &["s"]),
                expect("buffer = \"s\"\nvalues = [4.0, 2.0, 1.0]\ntolerance = { abs = 1000.0 }"),
            ],
        ),
        row(
            "sums-of-anything",
            &[],
            &[
                floats("f", "[1.0, 2.0, 3.0, 1e9]"),
                floats("s", "[0.0, 0.0]"),
                dispatch("partial", &["f", "s"]),
                expect("buffer = \"s\"\nvalues = [3.0]\ntolerance = { abs = 10.0 }"),
            ],
        ),
        row(
            "zeros-within-their-start",
            &[],
            &[
                floats("z", "[0.5, 0.5, 0.5, 0.5]"),
                dispatch("residuals", &["a", "z"]),
                expect("buffer = \"z\"\nvalues = [0.0, 0.0, 0.0, 0.0]\ntolerance = { abs = 0.75 }"),
            ],
        ),
        row(
            "zeros-over-large-start-of-others",
            &[],
            &[
                floats("z", "[1.0, 0.0, 0.0, 0.0]"),
                dispatch("residuals", &["a", "z"]),
                expect(
                    "buffer = \"z\"\noffset = 4\nvalues = [0.0, 0.0, 0.0]\ntolerance = { abs = 1e-3 }",
                ),
            ],
        ),
    ]
}

fn right() -> Vec<Row> {
    let verdict = || "buffers.v = { type = \"uint\", data = [0, 0, 0, 0] }\n".to_owned();
    let sorted = |expectation: String| {
        let buffer = "buffers.u = { type = \"uint\", count = 4 }\n".to_owned();
        [buffer, verdict(), dispatch("sorted", &["a", "u"]), expectation]
    };
    let tally = "buffers.n = { type = \"uint\", data = [0, 0] }\n".to_owned();
    vec![
        // The low words of doubles are below the tolerance; that the high ones stay is judged.
        words(&["low"], "low-words", &["low"]),
        words(&["high"], "high-words", &["low", "high"]),
        row(
            "counts",
            &["counts"],
            &[
                "buffers.c = { type = \"uint\", count = 4 }\n".to_owned(),
                dispatch("counts", &["a", "c"]),
                expect(
                    "buffer = \"c\"\ntype = \"uint16\"\noffset = 4\nvalues = [3]\ntolerance = { abs = 1.0 }",
                ),
            ],
        ),
        row("checked-ascending", &["sorted"], &sorted(check("ascending", "u"))),
        row("sorted", &["sorted"], &sorted(expect("buffer = \"u\"\nvalues = [0, 1, 3, 9]"))),
        row(
            "in-any-order",
            &["sorted"],
            &sorted(expect("buffer = \"u\"\norder = \"any\"\nvalues = [9, 3, 1, 0]")),
        ),
        row(
            "damped-thrice",
            &["damp"],
            &[
                floats("s", "[8.0, 4.0, 2.0, 1e9]"),
                dispatch("damp", &["s"]).repeat(3),
                expect("buffer = \"s\"\nvalues = [1.0, 0.5, 0.25]\ntolerance = { rel = 1e-6 }"),
            ],
        ),
        row(
            "sum-through-sums",
            &["partial"],
            &[
                floats("f", "[1.0, 2.0, 3.0, 4.0]"),
                floats("s", "[0.0, 0.0, 0.0, 0.0]"),
                floats("t", "[0.0, 0.0]"),
                dispatch("partial", &["f", "s"]),
                dispatch("partial", &["s", "t"]),
                expect("buffer = \"t\"\nvalues = [10.0, 0.0]\ntolerance = { abs = 1e-3 }"),
            ],
        ),
        row(
            "no-numbers",
            &["odd"],
            &[
                floats("f", "[0.0, 0.0, 0.0, 0.0]"),
                dispatch("odd", &["a", "f"]),
                expect("buffer = \"f\"\noffset = 4\nvalues = [\"NaN\", \"NaN\", \"NaN\"]"),
            ],
        ),
        row(
            "tallied",
            &["tally"],
            &[tally, dispatch("tally", &["a", "n"]), expect("buffer = \"n\"\nvalues = [2, 2]")],
        ),
        row(
            "residuals-of-start",
            &["residuals"],
            &[
                floats("z", "[0.0, 0.0, -1.0, 0.0]"),
                dispatch("residuals", &["a", "z"]),
                expect("buffer = \"z\"\nvalues = [0.0, 0.0, 0.0, 0.0]\ntolerance = { abs = 1e-3 }"),
            ],
        ),
    ]
}

pub(super) fn rows() -> Vec<Row> {
    [vacuous(), right()].into_iter().flatten().collect()
}
