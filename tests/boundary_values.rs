//! Boundary value coverage: a test covers the values that its push constants hold and no others,
//! and only where it passes.

use crate::call_coverage::justification;
use crate::function_coverage::kernels;
use crate::support::{run, vkcert, write};
use serde_json::Value;
use std::path::Path;

const KERNEL: &str = "#version 450
layout(local_size_x = 8) in;
layout(push_constant) uniform P { uint n; uint seed; };
layout(binding = 0) buffer Out { uint value[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) value[i] = seed;
}
";

const INTERFACE: &str = "[[interface]]
kernel = \"k\"
parameters = [
    { name = \"n\", type = \"uint32\", min = 1, max = 32 },
    { name = \"seed\", type = \"uint32\", min = 0, max = 9 },
    { name = \"elsewhere\", type = \"uint32\", min = 4, max = 4 },
]
buffers = [{ set = 0, binding = 0, size = \"32 * 4\" }]
groups = [\"(n + 7) / 8\", \"1\", \"1\"]
local_size = [8, 1, 1]
domain = [\"n\", \"1\", \"1\"]

[interface.push_constants]
members = [{ name = \"n\", type = \"uint32\" }, { name = \"seed\", type = \"uint32\" }]

";

fn test(n: u32, seed: u32, expected: u32) -> String {
    format!(
        "[[test]]\nid = \"TC-{n}-{seed}-{expected}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 32 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [{}, 1, 1], \
         push_constants = {{ n = {n}, seed = {seed} }}, bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = [{expected}] }}]\n\n",
        n.div_ceil(8)
    )
}

fn project(folder: &Path, rest: &str) {
    let head = "schema = 1\nname = \"Boundaries\"\nlevel = \"D\"\ncriteria = [\"boundary\"]\n\n";
    let listed = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}{listed}"));
    write(folder, "k.comp", KERNEL);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{rest}"));
}

/// `text: status, tests` of every boundary value.
fn rows(kernel: &Value) -> Vec<String> {
    let boundaries = kernel["coverage"]["boundaries"].as_array().expect("boundaries");
    let row = |row: &Value| {
        let tests: Vec<&str> =
            row["tests"].as_array().expect("tests").iter().filter_map(Value::as_str).collect();
        let text = |key: &str| row[key].as_str().expect("text");
        format!("{}: {} {}", text("text"), text("status"), tests.join(", ")).trim_end().to_owned()
    };
    boundaries.iter().map(row).collect()
}

#[test]
fn a_test_that_passes_covers_the_values_that_it_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    // The last one expects what the kernel does not compute: its values are not covered.
    let tests = [test(15, 0, 0), test(1, 3, 3), test(9, 4, 4), test(32, 9, 1)].concat();
    project(folder.path(), &format!("{INTERFACE}{tests}"));
    let expected = [
        "n = 1 (minimum): covered TC-1-3-3",
        "n = 32 (maximum): uncovered",
        "n one before a multiple of the local size 8: covered TC-15-0-0",
        "n one past a multiple of the local size 8: covered TC-1-3-3, TC-9-4-4",
        "seed = 0 (minimum, zero): covered TC-15-0-0",
        "seed = 9 (maximum): uncovered",
        "elsewhere = 4 (minimum, maximum): undetermined",
    ];
    let kernels = kernels(folder.path(), &["--engine", "both"]);
    assert_eq!(kernels.len(), 2);
    for kernel in &kernels {
        assert_eq!(rows(kernel), expected, "{}", kernel["engine"]);
        let uncounted = &kernel["coverage"]["boundaries"][1]["uncounted"];
        assert_eq!(*uncounted, serde_json::json!(["TC-32-9-1"]));
    }
}

#[test]
fn a_value_that_cannot_be_given_is_justified_and_a_kernel_without_interface_is_unknown() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), &format!("{INTERFACE}{}", test(1, 0, 0)));
    let justified = justification(folder.path(), "BND2", "infeasible");
    project(folder.path(), &format!("{INTERFACE}{}{justified}", test(1, 0, 0)));
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert_eq!(told[1], "n = 32 (maximum): justified");

    project(folder.path(), &test(1, 0, 0));
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert_eq!(told, ["boundary values of the inputs: undetermined"]);
}

/// The size of the domain is a local, push constants are a list or bytes, and a constant that no
/// test sets has its default.
#[test]
fn values_count_however_a_test_gives_them_and_however_the_domain_is_computed() {
    let folder = tempfile::tempdir().expect("a folder");
    let interface = INTERFACE
        .replace(
            "buffers = [",
            "locals = [{ name = \"count\", type = \"uint32\", value = \"n + 1\" }]\n\
             specialization = [{ id = 3, value = \"elsewhere\" }]\nbuffers = [",
        )
        .replace("domain = [\"n\"", "domain = [\"count\"");
    let of_list = test(15, 0, 0).replace("{ n = 15, seed = 0 }", "[15, 0]");
    let of_bytes = test(1, 3, 3).replace("{ n = 1, seed = 3 }", "{ bytes = \"AQAAAAMAAAA=\" }");
    project(folder.path(), &format!("{interface}{of_list}{of_bytes}"));
    let kernel = KERNEL
        .replace("void main", "layout(constant_id = 3) const uint ELSEWHERE = 4u;\nvoid main")
        .replace("= seed;", "= seed + (ELSEWHERE - 4u);");
    write(folder.path(), "k.comp", kernel);
    let expected = [
        "n = 1 (minimum): covered TC-1-3-3",
        "n = 32 (maximum): uncovered",
        "n one before a multiple of the local size 8: covered TC-15-0-0",
        "n one past a multiple of the local size 8: covered TC-1-3-3",
        "seed = 0 (minimum, zero): covered TC-15-0-0",
        "seed = 9 (maximum): uncovered",
        "elsewhere = 4 (minimum, maximum): covered TC-15-0-0, TC-1-3-3",
    ];
    assert_eq!(rows(&kernels(folder.path(), &["--engine", "sequential"])[0]), expected);
}

/// Ranges stand in the interface, members in a header of the host.
#[test]
fn members_of_a_header_tell_values_as_stated_ones_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let stated = INTERFACE.split("[interface.push_constants]").next().expect("an interface");
    let header = "[[interface.header]]\nfile = \"host/params.h\"\nstruct = \"Params\"\n\
                  describes = \"push_constants\"\ntarget = \"x86_64-unknown-linux-gnu\"\n\
                  standard = \"c11\"\nflags = [\"-ffreestanding\"]\n\n";
    let tests = [test(15, 0, 0), test(1, 3, 3)].concat();
    project(folder.path(), &format!("{stated}{header}{tests}"));
    let text = "#include <stdint.h>\nstruct Params { uint32_t n; uint32_t seed; };\n";
    write(folder.path(), "host/params.h", text);
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    let expected = [
        "n = 1 (minimum): covered TC-1-3-3",
        "n = 32 (maximum): uncovered",
        "n one before a multiple of the local size 8: covered TC-15-0-0",
        "n one past a multiple of the local size 8: covered TC-1-3-3",
        "seed = 0 (minimum, zero): covered TC-15-0-0",
        "seed = 9 (maximum): uncovered",
        "elsewhere = 4 (minimum, maximum): undetermined",
    ];
    assert_eq!(told, expected);
    run(vkcert().arg("verify").arg(folder.path().join("out/evidence")), 0);
}

/// One dispatch leaves a constant at its default, the other one sets it to the same value.
#[test]
fn a_default_that_a_test_states_is_no_configuration_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = "{ kernel = \"k\", groups = [4, 1, 1], push_constants = { n = 32, seed = 9 }, bindings = [{ binding = 0, buffer = \"v\" }] }";
    let second = first
        .replace("groups = [4", "specialization = { 3 = { value = 4 } }, groups = [1")
        .replace("n = 32, seed = 9", "n = 1, seed = 0");
    let twice = |second: &str| {
        format!(
            "[[test]]\nid = \"TWICE\"\nrequirements = [\"HLR-1\"]\n\
             buffers = {{ v = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 32 }} }}\n\
             dispatches = [{first}, {second}]\nexpect = [{{ buffer = \"v\", values = [0, 9] }}]\n\n"
        )
    };
    let kernel = KERNEL
        .replace("void main", "layout(constant_id = 3) const uint ELSEWHERE = 4u;\nvoid main")
        .replace("= seed;", "= seed + (ELSEWHERE - 4u);");
    let told = |rest: &str| {
        project(folder.path(), &format!("{INTERFACE}{rest}"));
        write(folder.path(), "k.comp", &kernel);
        rows(&kernels(folder.path(), &["--engine", "sequential"])[0])
    };
    let of_default = told(&twice(&second));
    assert_eq!(of_default[0], "n = 1 (minimum): covered TWICE");
    assert_eq!(of_default[1], "n = 32 (maximum): covered TWICE");
    // Under two configurations the test counts for none of their values.
    let of_two =
        told(&twice(&second.replace("value = 4", "value = 5")).replace("[0, 9]", "[1, 9]"));
    assert_eq!(of_two[0], "n = 1 (minimum): uncovered");
}
