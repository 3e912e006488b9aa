//! A test that judges no output of its kernels verifies nothing and covers nothing; what is judged
//! follows the data through later dispatches.

#[path = "judged/attack.rs"]
mod attack;
#[path = "judged/notes.rs"]
mod notes;
#[path = "judged/parts.rs"]
mod parts;
#[path = "judged/reads.rs"]
mod reads;
#[path = "judged/scales.rs"]
mod scales;
use crate::support;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use support::*;

const PASS: &str = "pass";
const NOTHING: &str = "undetermined";

/// o[g] = whether a[g] lies between 0 and 5.
const K: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const bool STORES = true;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { int o[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    int r = 0;
    if (a[g] > 0 && a[g] < 5) r = 1;
    if (STORES) o[g] = r;
}
";

const COPY: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer From { int from[]; };
layout(std430, binding = 1) buffer To { int to[]; };
layout(std430, binding = 2) buffer Other { int other[]; };
layout(std430, binding = 3) buffer Beside { int beside[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    to[g] = from[g];
    beside[g] = other[g];
}
";

/// Stores nothing where `limit` is 0.
const GUARDED: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { int o[]; } outs[2];
layout(push_constant) uniform P { uint limit; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    if (g < limit) atomicAdd(outs[1].o[g], 1);
}
";

const ADDRESSES: &str = "#version 460
#extension GL_EXT_buffer_reference : enable
layout(local_size_x = 4) in;
layout(buffer_reference, std430) buffer Ints { int v[]; };
layout(push_constant) uniform P { Ints source; Ints target; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    target.v[g] = 2 * source.v[g];
}
";

const IMAGE: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0, rgba8) uniform image2D seen;
layout(binding = 1, rgba8) uniform image2D made;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    imageStore(made, at, imageLoad(seen, at));
}
";

/// Stores 7 whatever stands there.
const FILL: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer Out { int o[]; };
void main() { o[gl_GlobalInvocationID.x] = 7; }
";

/// f[g] = a[g] / 2, or the same in another way.
const HALVES: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { float f[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
#ifdef PRODUCT
    f[g] = float(a[g]) * 0.5;
#else
    f[g] = float(a[g]) / 2.0;
#endif
}
";

/// Copies, and raises a flag for large numbers.
const FLAGGED: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, binding = 0) buffer In { int a[]; };
layout(std430, binding = 1) buffer Out { int o[]; };
layout(std430, binding = 2) buffer Flag { uint raised[]; };
void main() {
    uint g = gl_GlobalInvocationID.x;
    o[g] = a[g];
    if (a[g] > 100) raised[0] = 1u;
}
";

/// Looks at `o` and finds it right whatever it is.
const BLIND: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Out { int o[]; };
layout(std430, binding = 1) buffer Verdict { uint right[]; };
void main() {
    uint parity = 0;
    for (int i = 0; i < 4; i++) parity += uint(o[i] & 1) + uint(~o[i] & 1);
    right[0] = parity / 4;
}
";

/// A test of the table: its id, what it does, its verdict, and the kernels that its records count
/// for.
struct Row {
    id: &'static str,
    verdict: &'static str,
    counted: &'static [&'static str],
    body: String,
}

const A_AND_O: &str = "buffers.a = { type = \"int\", data = [0, 3, 9, 1] }
buffers.o = { type = \"int\", fill = { constant = -1 }, count = 4 }
buffers.p = { type = \"int\", fill = { constant = -1 }, count = 4 }
buffers.q = { type = \"int\", data = [0, 1, 0, 1] }
";

fn dispatch(kernel: &str, bound: &[&str]) -> String {
    let bindings = bound
        .iter()
        .enumerate()
        .map(|(at, name)| format!("{{ binding = {at}, buffer = \"{name}\" }}"));
    let bindings = bindings.collect::<Vec<_>>().join(", ");
    format!(
        "[[test.dispatches]]\nkernel = \"{kernel}\"\ngroups = [1, 1, 1]\nbindings = [{bindings}]\n"
    )
}

fn expect(what: &str) -> String {
    format!("[[test.expect]]\n{what}\n")
}

/// `k` from `a` to `o`, with expectations.
fn of_k(id: &'static str, verdict: &'static str, expectations: &[&str]) -> Row {
    let expectations: String = expectations.iter().map(|what| expect(what)).collect();
    let counted: &[&str] = if verdict == PASS { &["k"] } else { &[] };
    Row {
        id,
        verdict,
        counted,
        body: format!("{A_AND_O}{}{expectations}", dispatch("k", &["a", "o"])),
    }
}

fn simple_rows() -> Vec<Row> {
    let reference = |kernel: &str, from: &str| {
        format!(
            "buffer = \"o\"\nreference = {{ kernel = \"{kernel}\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"{from}\" }}, {{ binding = 1, buffer = \"o\" }}] }}"
        )
    };
    vec![
        of_k("values", PASS, &["buffer = \"o\"\nvalues = [0, 1, 0, 1]"]),
        of_k("one-element", PASS, &["buffer = \"o\"\noffset = 8\nvalues = [0]"]),
        of_k(
            "beside-an-idle-one",
            PASS,
            &["buffer = \"a\"\nvalues = [0]", "buffer = \"o\"\nvalues = [0]"],
        ),
        of_k("another-buffer", PASS, &["buffer = \"o\"\nequals_buffer = \"q\""]),
        of_k("another-buffer-turned", PASS, &["buffer = \"q\"\nequals_buffer = \"o\""]),
        of_k("other-reference", PASS, &[&reference("model", "a")]),
        of_k("nothing", NOTHING, &[]),
        of_k("itself", NOTHING, &["buffer = \"o\"\nequals_buffer = \"o\""]),
        of_k("input", NOTHING, &["buffer = \"a\"\nvalues = [0, 3, 9, 1]"]),
        of_k(
            "unbound",
            NOTHING,
            &["buffer = \"p\"\nvalues = [-1]", "buffer = \"q\"\nequals_buffer = \"q\""],
        ),
        of_k(
            "two-unwritten",
            NOTHING,
            &["buffer = \"p\"\nequals_buffer = \"p\"", "buffer = \"a\"\nequals_buffer = \"a\""],
        ),
        of_k("same-reference", NOTHING, &[&reference("k", "a")]),
        of_k("twin-reference", NOTHING, &[&reference("twin", "a")]),
        of_k(
            "wide-integers",
            NOTHING,
            &["buffer = \"o\"\nvalues = [0, 1, 0, 1]\ntolerance = { abs = 4294967295.0 }"],
        ),
        of_k(
            "wide-bytes",
            NOTHING,
            &["buffer = \"o\"\ntype = \"uint8\"\nvalues = [0, 0]\ntolerance = { abs = 255.0 }"],
        ),
        of_k(
            "wide-floats",
            NOTHING,
            &[
                "buffer = \"o\"\ntype = \"float\"\nvalues = [1.0]\ntolerance = { rel = 1e39 }",
                "buffer = \"o\"\ntype = \"float\"\nvalues = [0.0]\ntolerance = { ulp = 4294967295 }",
            ],
        ),
        of_k(
            "wide-but-exact-zero",
            PASS,
            &["buffer = \"o\"\nvalues = [0, 1]\ntolerance = { rel = 1e39 }"],
        ),
        of_k(
            "wide-comparison",
            NOTHING,
            &[
                "buffer = \"o\"\ntype = \"uint8\"\nequals_buffer = \"q\"\ntolerance = { abs = 255.0 }",
            ],
        ),
    ]
}

fn chain(
    id: &'static str,
    verdict: &'static str,
    counted: &'static [&'static str],
    steps: &[String],
) -> Row {
    Row { id, verdict, counted, body: format!("{A_AND_O}{}", steps.concat()) }
}

fn chain_rows() -> Vec<Row> {
    let k = || dispatch("k", &["a", "o"]);
    vec![
        chain(
            "copied",
            PASS,
            &["copy", "k"],
            &[
                k(),
                dispatch("copy", &["o", "p", "a", "r"]),
                expect("buffer = \"p\"\nvalues = [0, 1, 0, 1]"),
            ],
        ),
        // Only what does not come of `o` is judged.
        chain(
            "copied-beside",
            PASS,
            &["copy"],
            &[
                k(),
                dispatch("copy", &["o", "p", "a", "r"]),
                expect("buffer = \"r\"\nvalues = [0, 3, 9, 1]"),
            ],
        ),
        // The copy is judged by what it copies, and the kernel is not.
        chain(
            "copy-of-output",
            PASS,
            &["copy"],
            &[
                k(),
                dispatch("copy", &["o", "p", "a", "r"]),
                expect("buffer = \"p\"\nequals_buffer = \"o\""),
            ],
        ),
        chain(
            "by-itself-twice",
            NOTHING,
            &[],
            &[k(), dispatch("k", &["a", "p"]), expect("buffer = \"o\"\nequals_buffer = \"p\"")],
        ),
        chain(
            "by-its-twin",
            NOTHING,
            &[],
            &[k(), dispatch("twin", &["a", "p"]), expect("buffer = \"o\"\nequals_buffer = \"p\"")],
        ),
        chain(
            "by-its-model",
            PASS,
            &["k", "model"],
            &[k(), dispatch("model", &["a", "p"]), expect("buffer = \"o\"\nequals_buffer = \"p\"")],
        ),
        // Of two dispatches of one kernel one is judged: its records hold both.
        chain(
            "half",
            PASS,
            &[],
            &[k(), dispatch("k", &["a", "p"]), expect("buffer = \"p\"\nvalues = [0, 1, 0, 1]")],
        ),
        chain(
            "before",
            NOTHING,
            &[],
            &[dispatch("copy", &["o", "p", "a", "r"]), expect("buffer = \"o\"\nvalues = [-1]")],
        ),
    ]
}

/// What the kernels' code does not tell, and altered contents do.
fn altered_rows() -> Vec<Row> {
    let k = || dispatch("k", &["a", "o"]);
    let with = |more: &str, steps: &[String]| format!("{A_AND_O}{more}{}", steps.concat());
    let floats = "buffers.f = { type = \"float\", fill = { constant = -3.0 }, count = 4 }\n\
                  buffers.g = { type = \"float\", data = [0.0, 1.5, 4.5, 0.5] }\n";
    let halves =
        |expectation: &str| with(floats, &[dispatch("halves", &["a", "f"]), expect(expectation)]);
    let row = |id, verdict, counted, body| Row { id, verdict, counted, body };
    let by = |kernel: &str, rest: &str| {
        halves(&format!(
            "buffer = \"f\"\nreference = {{ kernel = \"{kernel}\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"a\" }}, {{ binding = 1, buffer = \"f\" }}] }}\n{rest}"
        ))
    };
    let check = "[[test.expect]]\n[test.expect.check]\nkernel = \"blind\"\ngroups = [1, 1, 1]\nverdict = \"v\"\nbindings = [{ binding = 0, buffer = \"o\" }, { binding = 1, buffer = \"v\" }]\n";
    let longer = A_AND_O.replace("count = 4", "count = 8");
    vec![
        row(
            "overwritten",
            PASS,
            &["fill"],
            with("", &[k(), dispatch("fill", &["o"]), expect("buffer = \"o\"\nvalues = [7, 7, 7, 7]")]),
        ),
        row(
            "overwritten-by-itself",
            PASS,
            &[],
            with("", &[k(), dispatch("k", &["a", "o"]), expect("buffer = \"o\"\nvalues = [0, 1, 0, 1]")]),
        ),
        row(
            "partly-overwritten",
            PASS,
            &["fill", "k"],
            format!(
                "{longer}{}{}groups = [1, 1, 1]\nbindings = [{{ binding = 0, buffer = \"o\" }}]\n{}",
                k().replace("groups = [1", "groups = [2").replacen("data = [0, 3, 9, 1]", "", 0),
                "[[test.dispatches]]\nkernel = \"fill\"\n",
                expect("buffer = \"o\"\noffset = 12\nvalues = [7, 0]")
            )
            .replacen("data = [0, 3, 9, 1]", "data = [0, 3, 9, 1, 0, 1, 2, 3]", 1),
        ),
        row(
            "flag-that-stays-down",
            PASS,
            &["flagged"],
            with(
                "buffers.v = { type = \"uint\", data = [0] }\n",
                &[dispatch("flagged", &["a", "o", "v"]), expect("buffer = \"v\"\nvalues = [0]")],
            ),
        ),
        row(
            "flag-behind-a-flag",
            PASS,
            &["flagged"],
            with(
                "buffers.v = { type = \"uint\", data = [0] }\nbuffers.w = { type = \"uint\", data = [0] }\n",
                &[
                    dispatch("flagged", &["a", "o", "w"]),
                    dispatch("flagged", &["o", "p", "v"]),
                    expect("buffer = \"v\"\nvalues = [0]"),
                ],
            ),
        ),
        row(
            "blind-checker",
            NOTHING,
            &[],
            with("buffers.v = { type = \"uint\", data = [0] }\n", &[k(), check.to_owned()]),
        ),
        row(
            "part-that-stays-as-it-was",
            PASS,
            &["k"],
            format!("{longer}{}{}", k(), expect("buffer = \"o\"\noffset = 16\nvalues = [-1, -1, -1, -1]")),
        ),
        row(
            "what-stood-there-before",
            PASS,
            &["k"],
            format!(
                "{}{}{}",
                A_AND_O.replace("constant = -1", "constant = 0"),
                k(),
                expect("buffer = \"o\"\noffset = 8\nvalues = [0]")
            ),
        ),
        row(
            "zeros",
            PASS,
            &["k"],
            format!(
                "{}{}{}",
                A_AND_O.replace("[0, 3, 9, 1]", "[0, 7, 9, 8]"),
                k(),
                expect("buffer = \"o\"\nvalues = [0, 0, 0, 0]")
            ),
        ),
        row(
            "floats",
            PASS,
            &["halves"],
            halves("buffer = \"f\"\nvalues = [0.0, 1.5, 4.5, 0.5]\ntolerance = { abs = 1e-3 }"),
        ),
        row(
            "floats-at-their-own-scale",
            PASS,
            &["halves"],
            halves("buffer = \"f\"\nvalues = [0.0, 1.5, 4.5, 0.5]\ntolerance = { abs = 4.0 }"),
        ),
        row(
            "any-float-below-1e30",
            NOTHING,
            &[],
            halves("buffer = \"f\"\nvalues = [0.0, 1.5, 4.5, 0.5]\ntolerance = { abs = 1e30 }"),
        ),
        row(
            "any-float-of-another-buffer",
            NOTHING,
            &[],
            halves("buffer = \"f\"\nequals_buffer = \"g\"\ntolerance = { abs = 10.0 }"),
        ),
        row(
            "float-as-boolean",
            NOTHING,
            &[],
            halves("buffer = \"f\"\ntype = \"bool\"\nvalues = [false, true, true, true]"),
        ),
        row("float-as-halves", NOTHING, &[], halves("buffer = \"f\"\ntype = \"float16\"\nvalues = [0.0, 0.0]")),
        row("float-as-bits", PASS, &["halves"], halves("buffer = \"f\"\ntype = \"uint\"\nvalues = [0, 1069547520]")),
        row("wide-reference", NOTHING, &[], by("product", "tolerance = { abs = 100.0 }")),
        row("narrow-reference", PASS, &["halves"], by("product", "tolerance = { rel = 1e-5 }")),
        row("reference-optimised", NOTHING, &[], by("optimised", "")),
        row("reference-for-another-target", NOTHING, &[], by("newer", "")),
        row("reference-with-an-idle-definition", NOTHING, &[], by("idle_definition", "")),
    ]
}

fn special_rows() -> Vec<Row> {
    let guarded = |expectation: &str| {
        format!(
            "buffers.x = {{ type = \"int\", data = [5, 5, 5, 5] }}\nbuffers.y = {{ type = \"int\", data = [7, 7, 7, 7, 8, 8, 8, 8] }}\n\
             [[test.dispatches]]\nkernel = \"guarded\"\ngroups = [1, 1, 1]\npush_constants = {{ limit = 0 }}\nbindings = [{{ binding = 0, buffer = \"x\" }}, {{ binding = 0, array_index = 1, buffer = \"y\", range = 16 }}]\n{expectation}"
        )
    };
    let addressed = |expectation: &str| {
        format!(
            "buffers.x = {{ type = \"int\", data = [1, 2, 3, 4] }}\nbuffers.y = {{ type = \"int\", data = [0, 0, 0, 0] }}\n\
             [[test.dispatches]]\nkernel = \"addresses\"\ngroups = [1, 1, 1]\npush_constants = {{ source = {{ address_of = \"x\" }}, target = {{ address_of = \"y\" }} }}\n{expectation}"
        )
    };
    let image = |expectation: &str| {
        format!(
            "[test.images]\ns = {{ dim = \"2d\", format = \"rgba8\", extent = [4, 1], fill = {{ constant = 1.0 }} }}\nm = {{ dim = \"2d\", format = \"rgba8\", extent = [4, 1], levels = 2, fill = {{ constant = 0.0 }} }}\n\
             [[test.dispatches]]\nkernel = \"image\"\ngroups = [1, 1, 1]\nbindings = [{{ binding = 0, image = \"s\" }}, {{ binding = 1, image = \"m\" }}]\n{expectation}"
        )
    };
    let switched_off = |expectation: &str| {
        let dispatch = dispatch("k", &["a", "o"]);
        format!("{A_AND_O}{dispatch}specialization = {{ 0 = {{ value = false }} }}\n{expectation}")
    };
    let row = |id, verdict, counted, body| Row { id, verdict, counted, body };
    let guard: &[&str] = &["guarded"];
    vec![
        row(
            "stores-nothing",
            PASS,
            guard,
            guarded(&expect("buffer = \"y\"\nvalues = [7, 7, 7, 7]")),
        ),
        row(
            "other-element",
            NOTHING,
            &[],
            guarded(&expect("buffer = \"x\"\nvalues = [5, 5, 5, 5]")),
        ),
        row(
            "outside-of-the-range",
            NOTHING,
            &[],
            guarded(&expect("buffer = \"y\"\noffset = 16\nvalues = [8, 8, 8, 8]")),
        ),
        row(
            "address",
            PASS,
            &["addresses"],
            addressed(&expect("buffer = \"y\"\nvalues = [2, 4, 6, 8]")),
        ),
        row(
            "address-of-input",
            NOTHING,
            &[],
            addressed(&expect("buffer = \"x\"\nvalues = [1, 2, 3, 4]")),
        ),
        row(
            "texels",
            PASS,
            &["image"],
            image(&expect("image = \"m\"\nvalues = [1.0, 1.0, 1.0, 1.0]")),
        ),
        row(
            "texels-read",
            NOTHING,
            &[],
            image(&expect("image = \"s\"\nvalues = [1.0, 1.0, 1.0, 1.0]")),
        ),
        row(
            "texels-of-another-level",
            NOTHING,
            &[],
            image(&expect("image = \"m\"\nlevel = 1\nvalues = [0.0, 0.0, 0.0, 0.0]")),
        ),
        row(
            "any-texel",
            NOTHING,
            &[],
            image(&expect(
                "image = \"m\"\nvalues = [0.5, 0.5, 0.5, 0.5]\ntolerance = { abs = 1.0 }",
            )),
        ),
        row(
            "store-switched-off",
            PASS,
            &["k"],
            switched_off(&expect("buffer = \"o\"\nvalues = [-1]")),
        ),
        row(
            "switched-off-elsewhere",
            NOTHING,
            &[],
            switched_off(&expect("buffer = \"a\"\nvalues = [0]")),
        ),
    ]
}

fn rows() -> Vec<Row> {
    [
        simple_rows(),
        chain_rows(),
        special_rows(),
        altered_rows(),
        scales::rows(),
        attack::rows(),
        parts::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn project(folder: &Path, rows: &[Row]) {
    let kernels = [
        ("k", K.to_owned()),
        (
            "twin",
            K.replacen("#version 450", "#version 450\n// Another file with the same code.", 1),
        ),
        ("model", K.replace("a[g] > 0 && a[g] < 5", "a[g] >= 1 && !(a[g] > 4)")),
        ("copy", COPY.to_owned()),
        ("guarded", GUARDED.to_owned()),
        ("addresses", ADDRESSES.to_owned()),
        ("image", IMAGE.to_owned()),
        ("fill", FILL.to_owned()),
        ("halves", HALVES.to_owned()),
        ("blind", BLIND.to_owned()),
        ("flagged", FLAGGED.to_owned()),
        ("huge", scales::HUGE.to_owned()),
        ("tail", scales::TAIL.to_owned()),
        ("near", scales::NEAR.to_owned()),
        ("bits", scales::BITS.to_owned()),
        ("residuals", scales::RESIDUALS.to_owned()),
        ("black", scales::BLACK.to_owned()),
        ("low", attack::LOW.to_owned()),
        ("high", attack::HIGH.to_owned()),
        ("counts", attack::COUNTS.to_owned()),
        ("sorted", attack::SORTED.to_owned()),
        ("ascending", attack::ASCENDING.to_owned()),
        ("finite", attack::FINITE.to_owned()),
        ("damp", attack::DAMP.to_owned()),
        ("partial", attack::PARTIAL.to_owned()),
        ("odd", attack::ODD.to_owned()),
        ("tally", attack::TALLY.to_owned()),
        ("parts", parts::PARTS.to_owned()),
        ("mixed", parts::MIXED.to_owned()),
        ("again", parts::AGAIN.to_owned()),
        ("never", parts::NEVER.to_owned()),
        ("status", parts::STATUS.to_owned()),
    ];
    let mut settings = "schema = 1\nname = \"Judged\"\nlevel = \"D\"\n".to_owned();
    for (name, text) in &kernels {
        settings += &format!(
            "[[kernel]]\nname = \"{name}\"\nsource = \"glsl/{name}.comp\"\ntarget_env = \"vulkan1.2\"\n"
        );
        write(folder, &format!("glsl/{name}.comp"), text);
    }
    // The same source as `halves`.
    for (name, target, more) in [
        ("optimised", "vulkan1.2", "optimization = \"performance\""),
        ("newer", "vulkan1.3", ""),
        ("idle_definition", "vulkan1.2", "defines = { IDLE = \"1\" }"),
        ("product", "vulkan1.2", "defines = { PRODUCT = \"1\" }"),
    ] {
        settings += &format!(
            "[[kernel]]\nname = \"{name}\"\nsource = \"glsl/halves.comp\"\ntarget_env = \"{target}\"\n{more}\n"
        );
    }
    write(folder, "vkcert.toml", settings);
    let mut tests = "schema = 1\n".to_owned();
    for row in rows {
        tests += &format!(
            "[[requirement]]\nuid = \"HLR-{0}\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n",
            row.id
        );
    }
    for row in rows {
        // Buffers that only some tests need.
        let more = if row.body.contains("\"r\"") {
            "buffers.r = { type = \"int\", fill = { constant = -2 }, count = 4 }\n"
        } else {
            ""
        };
        tests += &format!(
            "[[test]]\nid = \"{0}\"\nrequirements = [\"HLR-{0}\"]\n{more}{1}",
            row.id, row.body
        );
    }
    write(folder, "requirements/all.toml", tests);
}

/// By test: the kernels that its records count for, on the sequential engine.
fn counted(evidence: &Path) -> BTreeMap<String, Vec<String>> {
    let mut counted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut files: Vec<_> =
        std::fs::read_dir(evidence).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files
        .iter()
        .filter(|file| file.file_name().unwrap().to_string_lossy().starts_with("kernel-"))
    {
        let kernel: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for records in kernel["records"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|records| records["counted"] == true)
        {
            let test = records["test"].as_str().unwrap().to_owned();
            counted.entry(test).or_default().push(kernel["kernel"].as_str().unwrap().to_owned());
        }
    }
    counted
}

#[test]
fn what_no_expectation_looks_at_is_neither_verified_nor_covered() {
    let folder = tempfile::tempdir().unwrap();
    let rows = rows();
    project(folder.path(), &rows);
    let out = folder.path().join("out");
    let campaign = run_json(&mut certify_sequentially(folder.path(), &out), 1);
    let counted = counted(&out.join("latest/evidence"));
    let mut wrong = Vec::new();
    for row in &rows {
        let tests = campaign["tests"].as_array().unwrap();
        let test = tests.iter().find(|test| test["id"] == row.id).unwrap();
        let result = &test["results"][0];
        let requirements = campaign["requirements"].as_array().unwrap();
        let of_row =
            |requirement: &&Value| requirement["requirement"]["uid"] == format!("HLR-{}", row.id);
        let verified = requirements.iter().find(of_row).unwrap()["status"] == "verified";
        let kernels = counted.get(row.id).cloned().unwrap_or_default();
        if result["verdict"] != row.verdict
            || verified != (row.verdict == PASS)
            || kernels != row.counted
        {
            wrong.push(format!(
                "{}: {} {} {kernels:?}",
                row.id, result["verdict"], result["reason"]
            ));
        }
        let reason = result["reason"].as_str().unwrap_or_default();
        let told =
            ["no output of its kernels is judged: ", "none of the tried alterations of what `"];
        if row.verdict == NOTHING && !told.iter().any(|start| reason.starts_with(start)) {
            wrong.push(format!("{}: the reason `{reason}`", row.id));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    run(vkcert().arg("verify").arg(out.join("latest/evidence")), 0);
}

#[test]
fn a_run_outside_of_a_project_passes_without_expectation() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "k.comp", K);
    let text = format!(
        "schema = 1\n[kernels.k]\nsource = \"k.comp\"\n[[tests]]\nid = \"T\"\n{}{}",
        A_AND_O,
        dispatch("k", &["a", "o"]).replace("test.", "tests.")
    );
    let file = write(folder.path(), "t.toml", text);
    let result = run_json(vkcert().arg("run").arg(file).args(["--engine", "sequential"]), 0);
    assert_eq!(result["tests"][0]["verdict"], "pass");
}

#[test]
fn forged_flows_and_verdicts_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> =
        rows().into_iter().filter(|row| ["values", "input"].contains(&row.id)).collect();
    project(folder.path(), &rows);
    let out = folder.path().join("out");
    let mut command = vkcert();
    run(
        command
            .arg("certify")
            .arg(folder.path())
            .arg("--out")
            .arg(&out)
            .args(["--engine", "sequential"]),
        1,
    );
    let evidence = out.join("latest/evidence");
    let test = |campaign: &Value, id: &str| -> usize {
        let tests = campaign["tests"].as_array().unwrap();
        tests.iter().position(|test| test["id"] == id).unwrap()
    };
    type Forgery<'a> = (&'a str, &'a dyn Fn(&mut Value));
    let input = test(
        &serde_json::from_slice(&std::fs::read(evidence.join("campaign.json")).unwrap()).unwrap(),
        "input",
    );
    let forgeries: [Forgery; 3] = [
        (
            "campaign.json/tests/INPUT/results/0/verdict: stored \"pass\", derived \"undetermined\"",
            &|campaign| {
                let at = test(campaign, "input");
                campaign["tests"][at]["results"][0]["verdict"] = "pass".into();
            },
        ),
        (
            "campaign.json/tests/INPUT/flows/0/stores/0/to/0/buffer: stored \"p\", derived \"o\"",
            &|campaign| {
                let at = test(campaign, "input");
                campaign["tests"][at]["flows"][0]["stores"][0]["to"][0]["buffer"] = "p".into();
            },
        ),
        ("campaign.json/tests/VALUES/flows: not stored, derived [{", &|campaign| {
            let at = test(campaign, "values");
            campaign["tests"][at]["flows"] = Value::Array(Vec::new());
        }),
    ];
    for (told, change) in forgeries {
        let told =
            told.replace("INPUT", &input.to_string()).replace("VALUES", &(1 - input).to_string());
        let copy = folder.path().join("forged");
        copy_tree(&evidence, &copy);
        forge(&copy, "campaign.json", change);
        let output = run(vkcert().arg("verify").arg(&copy), 1);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains(&format!("differs           {told}")), "{told}: {said}");
    }
}

#[test]
fn an_empty_block_is_no_expectation() {
    let folder = tempfile::tempdir().unwrap();
    for values in ["{}", "{ o = [] }", "[]"] {
        let expectation = format!("buffer = \"o\"\ntype = \"reflect\"\nvalues = {values}");
        let row = Row {
            body: format!("{A_AND_O}{}{}", dispatch("k", &["a", "o"]), expect(&expectation)),
            ..of_k("t", NOTHING, &[])
        };
        project(folder.path(), &[row]);
        let refused = run_json(vkcert().arg("certify").arg(folder.path()), 2);
        assert_eq!(refused["error"]["message"], "no value is expected", "{values}");
    }
}
