//! Projects of many small kernels of five shapes, with four tests each, whose expected values are
//! computed here: for tests and measurements of runs over many kernels.
//!
//! Promises: a kernel and its files depend on its number alone, so that a larger project holds the
//! files of a smaller one; texts and modules of two numbers differ. Every test passes, and every
//! decision is covered.

use std::fmt::Write as _;
use std::path::Path;

/// Elements of a buffer that no test expects to change.
const UNTOUCHED: u32 = 77;

/// One kernel: its text and what its requirements file says of it.
struct Shape {
    name: &'static str,
    glsl: &'static str,
    /// Members of the push constants that follow `count`.
    members: &'static [&'static str],
    /// Values of them by test; CONSTANT stands for the number of the kernel.
    values: [&'static [u32]; 4],
    /// Invocations of a workgroup.
    local_size: u32,
    /// What the kernel leaves in the output.
    model: fn(&Run) -> Vec<u32>,
}

/// What a test gives to a kernel.
struct Run<'a> {
    input: &'a [u32],
    /// Behind `count`.
    values: &'a [u32],
    /// The constant in the text.
    constant: u32,
}

const SHAPES: [Shape; 5] = [
    Shape {
        name: "scale",
        glsl: "layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Target { uint target[]; };
layout(push_constant) uniform Parameters { uint count; uint limit; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint value = source[i] * CONSTANTu;
    if (value > limit && limit != 0u) {
        value = limit;
    }
    target[i] = value;
}
",
        members: &["limit"],
        values: [&[0], &[40], &[100], &[1]],
        local_size: 64,
        model: |run| {
            let limited = |value: &u32| match (value.wrapping_mul(run.constant), run.values[0]) {
                (product, limit) if limit != 0 && product > limit => limit,
                (product, _) => product,
            };
            run.input.iter().map(limited).collect()
        },
    },
    Shape {
        name: "reduce",
        glsl: "layout(local_size_x = 32) in;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Target { uint target[]; };
layout(push_constant) uniform Parameters { uint count; };
shared uint partial[32];
void main() {
    uint lane = gl_LocalInvocationID.x;
    uint i = gl_GlobalInvocationID.x;
    partial[lane] = i < count ? source[i] + CONSTANTu : 0u;
    barrier();
    for (uint reach = 16u; reach > 0u; reach >>= 1) {
        if (lane < reach) {
            partial[lane] += partial[lane + reach];
        }
        barrier();
    }
    if (lane == 0u) {
        target[gl_WorkGroupID.x] = partial[0];
    }
}
",
        members: &[],
        values: [&[], &[], &[], &[]],
        local_size: 32,
        model: |run| {
            let sum = |group: &[u32]| group.iter().map(|value| value + run.constant).sum();
            run.input.chunks(32).map(sum).collect()
        },
    },
    Shape {
        name: "stencil",
        glsl: "layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Target { uint target[]; };
layout(push_constant) uniform Parameters { uint count; uint weight; };
void main() {
    uint x = gl_GlobalInvocationID.x;
    if (x >= count) {
        return;
    }
    uint sum = source[x] * weight;
    if (x > 0u) {
        sum += source[x - 1u];
    }
    if (x + 1u < count) {
        sum += source[x + 1u];
    }
    target[x] = sum / (weight + CONSTANTu);
}
",
        members: &["weight"],
        values: [&[2], &[1], &[3], &[7]],
        local_size: 64,
        model: |run| {
            let at =
                |index: Option<usize>| index.and_then(|index| run.input.get(index)).unwrap_or(&0);
            let weight = run.values[0];
            let sum = |x: usize| run.input[x] * weight + at(x.checked_sub(1)) + at(Some(x + 1));
            (0..run.input.len()).map(|x| sum(x) / (weight + run.constant)).collect()
        },
    },
    Shape {
        name: "histogram",
        glsl: "layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Target { uint target[]; };
layout(push_constant) uniform Parameters { uint count; uint bins; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint value = source[i] + CONSTANTu;
    if (value >= CONSTANTu + 3u && value < CONSTANTu + 3u + bins) {
        atomicAdd(target[value - (CONSTANTu + 3u)], 1u);
    }
}
",
        members: &["bins"],
        values: [&[5], &[5], &[5], &[5]],
        local_size: 64,
        model: |run| {
            let counted =
                |bin: u32| run.input.iter().filter(|value| **value == bin + 3).count() as u32;
            (0..5).map(counted).collect()
        },
    },
    Shape {
        name: "rotate",
        glsl: "layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Source { uint source[]; };
layout(std430, set = 0, binding = 1) buffer Target { uint target[]; };
layout(push_constant) uniform Parameters { uint count; uint rounds; };
uint mixed(uint value, uint key) {
    return (value << 5 | value >> 27) ^ key;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count) {
        uint value = source[i];
        for (uint round = 0u; round < rounds; round++) {
            value = mixed(value, round + CONSTANTu);
        }
        target[i] = value;
    }
}
",
        members: &["rounds"],
        values: [&[1], &[4], &[0], &[9]],
        local_size: 64,
        model: |run| {
            let mixed = |value: &u32| {
                let key = |round: u32| round + run.constant;
                (0..run.values[0]).fold(*value, |value, round| value.rotate_left(5) ^ key(round))
            };
            run.input.iter().map(mixed).collect()
        },
    },
];

/// Elements of the input by test: within one workgroup, over its bounds, one, and several workgroups.
const COUNTS: [u32; 4] = [50, 70, 1, 130];

/// Writes the project of so many kernels: `vkcert.toml`, `glsl/` and `requirements/`.
pub(crate) fn write_project(folder: &Path, kernels: u32) {
    let mut settings = "schema = 1\nname = \"Many kernels\"\nlevel = \"A\"\n".to_owned();
    for number in 1..=kernels {
        let name = kernel_name(number);
        writeln!(settings, "\n[[kernel]]\nname = \"{name}\"\nsource = \"glsl/{name}.comp\"")
            .unwrap();
        write_kernel(folder, number);
    }
    write_file(&folder.join("vkcert.toml"), &settings);
}

/// The name of a kernel, after its shape and number (from 1).
pub(crate) fn kernel_name(number: u32) -> String {
    format!("{}_{number:05}", shape(number).name)
}

fn shape(number: u32) -> &'static Shape {
    &SHAPES[number as usize % SHAPES.len()]
}

fn write_kernel(folder: &Path, number: u32) {
    let (shape, name) = (shape(number), kernel_name(number));
    let text = shape.glsl.replace("CONSTANT", &number.to_string());
    let glsl = format!("#version 450\n\n// Kernel {number} of many.\n{text}");
    write_file(&folder.join(format!("glsl/{name}.comp")), &glsl);
    let symbols =
        ["main", "mixed"].into_iter().filter(|symbol| text.contains(&format!(" {symbol}(")));
    let implements: Vec<String> = symbols
        .map(|symbol| format!("{{ file = \"glsl/{name}.comp\", symbol = \"{symbol}\" }}"))
        .collect();
    let implements = implements.join(", ");
    let mut requirements = format!(
        r#"schema = 1

[[requirement]]
uid = "HLR-{number:05}"
level = "HLR"
title = "Function {number}"
statement = "The software shall compute function {number} of a series of samples."
verification = ["test"]

[[requirement]]
uid = "LLR-{number:05}"
level = "LLR"
title = "Kernel {number}"
statement = "The kernel shall store function {number} of the samples below count, and nothing behind them."
parents = [{{ uid = "HLR-{number:05}" }}]
verification = ["test"]
implements = [{implements}]
"#
    );
    for (test, count) in COUNTS.iter().enumerate() {
        requirements.push_str(&test_text(number, test, *count));
    }
    requirements.push_str(&interface_text(shape, &name));
    write_file(&folder.join(format!("requirements/{name}.toml")), &requirements);
}

fn test_text(number: u32, test: usize, count: u32) -> String {
    let (shape, name) = (shape(number), kernel_name(number));
    let input: Vec<u32> = (0..count).map(|i| (i * 7 + test as u32) % 11).collect();
    let values = shape.values[test];
    let run = Run { input: &input, values, constant: number };
    let mut expected = (shape.model)(&run);
    let mut before = vec![0; expected.len()];
    before.push(UNTOUCHED);
    expected.push(UNTOUCHED);
    let groups = count.div_ceil(shape.local_size);
    let members = shape.members.iter().zip(values);
    let constants: String = members.map(|(name, value)| format!(", {name} = {value}")).collect();
    let kind = if test < 2 { "normal" } else { "robustness" };
    format!(
        r#"
[[test]]
id = "TC-{number:05}-{}"
title = "{count} samples"
kind = "{kind}"
requirements = ["HLR-{number:05}", "LLR-{number:05}"]
buffers.source = {{ type = "uint", data = {input:?} }}
buffers.target = {{ type = "uint", data = {before:?} }}

[[test.dispatches]]
kernel = "{name}"
groups = [{groups}, 1, 1]
bindings = [{{ set = 0, binding = 0, buffer = "source" }}, {{ set = 0, binding = 1, buffer = "target" }}]
push_constants = {{ count = {count}{constants} }}

[[test.expect]]
buffer = "target"
type = "uint"
values = {expected:?}
"#,
        test + 1
    )
}

fn interface_text(shape: &Shape, name: &str) -> String {
    let local_size = shape.local_size;
    let outputs = match shape.name {
        "reduce" => "(count + 31) / 32 * 4 + 4",
        "histogram" => "24",
        _ => "count * 4 + 4",
    };
    let members = std::iter::once(&"count").chain(shape.members);
    let members: Vec<String> =
        members.map(|member| format!("{{ name = \"{member}\", type = \"uint32\" }}")).collect();
    let bounds = |member: &&str| {
        format!(
            ", {{ name = \"{member}\", type = \"uint32\", min = 0, max = {} }}",
            if **member == *"bins" { 5 } else { 100 }
        )
    };
    let ranges: String = shape.members.iter().map(bounds).collect();
    format!(
        r#"
[[interface]]
kernel = "{name}"
parameters = [{{ name = "count", type = "uint32", min = 1, max = 65536 }}{ranges}]
buffers = [
    {{ set = 0, binding = 0, name = "source", size = "count * 4" }},
    {{ set = 0, binding = 1, name = "target", size = "{outputs}" }},
]
groups = ["(count + {}) / {local_size}", "1", "1"]
local_size = [{local_size}, 1, 1]
domain = ["count", "1", "1"]

[interface.push_constants]
members = [{}]
"#,
        local_size - 1,
        members.join(", ")
    )
}

fn write_file(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
    std::fs::write(path, text).expect("writable");
}
