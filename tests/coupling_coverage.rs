//! Coverage of coupling, from the command line: what passes between host, kernel and invocations is
//! an obligation before any test runs, and covered by a test whose invocations read it.

use crate::call_coverage::justification;
use crate::function_coverage::kernels;
use crate::support::{run, vkcert, write};
use serde_json::Value;
use std::path::Path;

/// Each invocation reads what its neighbour stored, but where `turn` is 0 its own.
const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform P { uint turn; uint bonus; };
layout(binding = 0) readonly buffer In { uint given[]; };
layout(binding = 1) buffer Out { uint left[]; };
shared uint tile[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    tile[i] = given[i];
    barrier();
    uint value = tile[(i + turn) % 4u];
    if (value > 8u) value += bonus;
    left[i] = value;
}
";

fn test(id: &str, turn: u32, given: [u32; 4], left: [u32; 4]) -> String {
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ g = {{ type = \"uint\", data = {given:?} }}, l = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], push_constants = {{ turn = {turn}, bonus = 1 }}, \
         bindings = [{{ binding = 0, buffer = \"g\" }}, {{ binding = 1, buffer = \"l\" }}] }}]\n\
         expect = [{{ buffer = \"l\", values = {left:?} }}]\n\n"
    )
}

fn project(folder: &Path, kernel: &str, rest: &str) {
    let head = "schema = 1\nname = \"Coupling\"\nlevel = \"D\"\ncriteria = [\"coupling\"]\n\n";
    let listed = "[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}{listed}"));
    write(folder, "k.comp", kernel);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{rest}"));
}

/// `text: status, tests` of every obligation.
fn rows(kernel: &Value) -> Vec<String> {
    let obligations = kernel["coverage"]["coupling"].as_array().expect("coupling coverage");
    let row = |row: &Value| {
        let tests: Vec<&str> =
            row["tests"].as_array().expect("tests").iter().filter_map(Value::as_str).collect();
        let text = |key: &str| row[key].as_str().expect("text");
        format!("{}: {} {}", text("text"), text("status"), tests.join(", ")).trim_end().to_owned()
    };
    obligations.iter().map(row).collect()
}

/// `class covered/total: object covered/total, ...` of every class.
fn classes(stored: &Value) -> Vec<String> {
    let share = |row: &Value| format!("{}/{}", row["covered"], row["total"]);
    let class = |row: &Value| {
        let objects = row["objects"].as_array().map_or(&[][..], Vec::as_slice);
        let object = |object: &Value| {
            format!(" {} {}", object["object"].as_str().unwrap_or("-"), share(object))
        };
        let objects: Vec<String> = objects.iter().map(object).collect();
        format!("{} {}:{}", row["class"].as_str().expect("class"), share(row), objects.join(","))
    };
    stored.as_array().expect("classes").iter().map(class).collect()
}

/// The campaign that [`kernels`] left.
fn campaign_of(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("out/evidence/campaign.json")).expect("reads");
    serde_json::from_str(&text).expect("JSON")
}

const BY_CLASS: [&str; 3] = [
    "host-to-kernel 2/3: bonus 0/1, given[] 1/1, turn 1/1",
    "invocation-to-invocation 1/1: tile[] 1/1",
    "barrier 1/1:",
];

const SMALL: [u32; 4] = [1, 2, 3, 4];
const OWN: &str = "tile[]: written at 9:13 -> read at 11:28 across barrier 1";

#[test]
fn a_test_covers_what_its_invocations_read_of_others() {
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody reads what another one stored, nor the bonus.
    project(folder.path(), KERNEL, &test("OWN", 0, SMALL, SMALL));
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert_eq!(
        told,
        [
            "given[]: given by the host -> read at 9:21: covered OWN".to_owned(),
            "turn: given by the host -> read at 11:28: covered OWN".to_owned(),
            format!("{OWN}: uncovered"),
            "bonus: given by the host -> read at 12:30: uncovered".to_owned(),
        ]
    );
    let tests = [
        test("OWN", 0, SMALL, SMALL),
        test("TURNED", 1, SMALL, [2, 3, 4, 1]),
        // What a test that fails has read covers nothing.
        test("WRONG", 1, [9, 9, 9, 9], [0, 0, 0, 0]),
    ];
    project(folder.path(), KERNEL, &tests.concat());
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert_eq!(told[2], format!("{OWN}: covered TURNED"));
    let evidence = kernels(folder.path(), &["--engine", "both"]);
    assert_eq!(classes(&evidence[0]["coverage"]["coupling_classes"]), BY_CLASS);
    let campaign = campaign_of(folder.path());
    assert_eq!(
        classes(&campaign["conclusion"]["coupling_classes"]),
        ["host-to-kernel 2/3:", "invocation-to-invocation 1/1:", "barrier 1/1:"]
    );
    assert_eq!(told[3], "bonus: given by the host -> read at 12:30: uncovered");
    let tests = tests.concat() + &test("LARGE", 1, [9, 9, 9, 9], [10, 10, 10, 10]);
    project(folder.path(), KERNEL, &tests);
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert_eq!(told[3], "bonus: given by the host -> read at 12:30: covered LARGE");
}

#[test]
fn a_device_does_not_tell_and_what_cannot_be_read_is_justified() {
    let folder = tempfile::tempdir().expect("a folder");
    project(folder.path(), KERNEL, &test("OWN", 0, SMALL, SMALL));
    let justified: String =
        ["P3", "P4"].map(|id| justification(folder.path(), id, "infeasible")).concat();
    project(folder.path(), KERNEL, &format!("{}{justified}", test("OWN", 0, SMALL, SMALL)));
    let both = kernels(folder.path(), &["--engine", "both"]);
    let statuses = |kernel: &Value| {
        let rows = kernel["coverage"]["coupling"].as_array().expect("rows").iter();
        rows.map(|row| row["status"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let of_engine = |engine: &str| both.iter().find(|kernel| kernel["engine"] == engine).unwrap();
    assert_eq!(statuses(of_engine("sequential")), ["covered", "covered", "justified", "justified"]);
    assert!(statuses(of_engine("vulkan")).iter().all(|status| status != "covered"));
    // Text that only moves changes nothing.
    let moved = KERNEL.replace("void main", "// What follows moves.\n\nvoid main");
    project(folder.path(), &moved, &format!("{}{justified}", test("OWN", 0, SMALL, SMALL)));
    let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
    assert_eq!(statuses(kernel), ["covered", "covered", "justified", "justified"]);
    // Where a test reads it all the same, the justification is rejected.
    let tests = test("TURNED", 1, SMALL, [2, 3, 4, 1]);
    project(folder.path(), KERNEL, &format!("{tests}{justified}"));
    let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
    assert_eq!(statuses(kernel)[2], "covered");
}

/// The first atomic of an invocation can read what the second one of another has left only where
/// that one comes first; with each instruction for all invocations at once nobody does.
const TURNS: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer B { uint bits; };
void main() {
    atomicOr(bits, 1u);
    atomicOr(bits, 2u << gl_LocalInvocationIndex);
}
";

#[test]
fn atomics_are_followed_in_other_orders_of_invocations() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = "[[test]]\nid = \"BITS\"\nrequirements = [\"HLR-1\"]\n\
                buffers = { b = { type = \"uint\", data = [0] } }\n\
                dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"b\" }] }]\n\
                expect = [{ buffer = \"b\", values = [31] }]\n\n";
    project(folder.path(), TURNS, test);
    let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
    let turned = "bits: written at 6:49 -> read at 5:22 by atomics: covered BITS";
    assert!(rows(kernel).contains(&turned.to_owned()), "{:?}", rows(kernel));
    let records = &kernel["records"][0]["records"];
    let directed = records["directed_pairs"]["in-order+tiles:1"].as_array().expect("pairs");
    assert_eq!(directed.len(), 1, "{records:#}");
    let text = std::fs::read_to_string(folder.path().join("out/evidence/campaign.json"));
    let campaign: Value = serde_json::from_str(&text.expect("readable")).expect("JSON");
    let result = &campaign["tests"][0]["results"][0]["directed"];
    // No order lets the second atomic read what the host gave: the others look for it in vain.
    let shown: Vec<&Value> =
        result.as_array().expect("results").iter().map(|row| &row["shown"]).collect();
    assert_eq!(shown, [1, 0, 0, 0]);
    assert_eq!(result[0]["of"], "accesses");
    let notes = campaign["notes"].to_string();
    assert!(notes.contains("run one by one: pairs of atomics 1 (k)"), "{notes}");
}

/// Nothing orders the store of the flag and its load, whatever atomics and fences stand beside.
const RACE: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer B { uint count; uint seen[]; };
shared uint flag;
void main() {
    uint i = gl_LocalInvocationIndex;
    atomicAdd(count, 1u);
    memoryBarrierShared();
    if (i == 0u) flag = 1u;
    seen[i] = flag;
}
";

#[test]
fn a_data_race_covers_no_pair() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = "[[test]]\nid = \"RACE\"\nrequirements = [\"HLR-1\"]\n\
                buffers = { b = { type = \"uint\", data = [0, 0, 0, 0, 0] } }\n\
                dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"b\" }] }]\n\
                expect = [{ buffer = \"b\", values = [4] }]\n\n";
    project(folder.path(), RACE, test);
    let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
    let raced = "flag: written at 9:23 -> read at 10:15 by atomics: uncovered";
    assert!(rows(kernel).contains(&raced.to_owned()), "{:?}", rows(kernel));
}

/// Stores under a constant of its own what the next one reads.
const FIRST: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const uint STEP = 1u;
layout(binding = 0) readonly buffer In { uint given[]; };
layout(binding = 1) buffer Out { uint sum; uint each[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    each[i] = given[i] + STEP;
    if (i == 0u) sum = given[0] + given[1];
}
";

/// Reads the sum only where `use_sum` is not 0.
const SECOND: &str = "#version 450
layout(local_size_x = 4) in;
layout(push_constant) uniform P { uint use_sum; };
layout(binding = 0) readonly buffer Mid { uint total; uint parts[]; };
layout(binding = 1) buffer Out { uint left[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    left[i] = parts[i];
    if (use_sum != 0u) left[i] += total;
}
";

fn two_kernels(folder: &Path, rest: &str) {
    let head = "schema = 1\nname = \"Hand over\"\nlevel = \"D\"\ncriteria = [\"coupling\"]\n\n";
    let configurations = "configuration = [{ name = \"one\", specialization = {} }, \
        { name = \"two\", specialization = { 0 = { value = 2 } } }]\n";
    let listed = format!(
        "[[kernel]]\nname = \"first\"\nsource = \"first.comp\"\n{configurations}\n\
         [[kernel]]\nname = \"second\"\nsource = \"second.comp\"\n"
    );
    write(folder, "vkcert.toml", format!("{head}{listed}"));
    write(folder, "first.comp", FIRST);
    write(folder, "second.comp", SECOND);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    write(folder, "requirements/k.toml", format!("{requirement}{rest}"));
}

/// The first kernel and then the second, which reads what the first left in `m`.
fn chain(id: &str, step: u32, use_sum: u32, left: [u32; 4]) -> String {
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ g = {{ type = \"uint\", data = [1, 2, 3, 4] }}, m = {{ type = \"uint\", count = 5 }}, \
         l = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"first\", groups = [1, 1, 1], specialization = {{ 0 = {{ value = {step} }} }}, \
         bindings = [{{ binding = 0, buffer = \"g\" }}, {{ binding = 1, buffer = \"m\" }}] }}, \
         {{ kernel = \"second\", groups = [1, 1, 1], push_constants = {{ use_sum = {use_sum} }}, \
         bindings = [{{ binding = 0, buffer = \"m\" }}, {{ binding = 1, buffer = \"l\" }}] }}]\n\
         expect = [{{ buffer = \"l\", values = {left:?} }}]\n\n"
    )
}

/// The second kernel alone.
fn alone(id: &str) -> String {
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ m = {{ type = \"uint\", data = [9, 1, 2, 3, 4] }}, l = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"second\", groups = [1, 1, 1], push_constants = {{ use_sum = 0 }}, \
         bindings = [{{ binding = 0, buffer = \"m\" }}, {{ binding = 1, buffer = \"l\" }}] }}]\n\
         expect = [{{ buffer = \"l\", values = [1, 2, 3, 4] }}]\n\n"
    )
}

/// The rows of the second kernel.
fn rows_of_second(folder: &Path, rest: &str, options: &[&str]) -> Vec<String> {
    two_kernels(folder, rest);
    let options = [&["--engine", "sequential"], options].concat();
    let evidence = kernels(folder, &options);
    let second = evidence.iter().find(|kernel| kernel["kernel"] == "second").expect("the kernel");
    rows(second)
}

#[test]
fn what_tests_dispatch_before_a_kernel_is_an_obligation_for_all_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = rows_of_second(folder.path(), &alone("ALONE"), &[]);
    assert!(told.iter().all(|row| row.contains("given by the host")), "{told:?}");
    // The second configuration of the first kernel is the only one that the test runs.
    let chained = alone("ALONE") + &chain("CHAIN", 2, 0, [3, 4, 5, 6]);
    let parts = "parts[]: written by first at first.comp:8:13 -> read at 8:21";
    let total = "total: written by first at first.comp:9:22 -> read at 9:35";
    let told = rows_of_second(folder.path(), &chained, &[]);
    let between: Vec<&String> = told.iter().filter(|row| row.contains("by first")).collect();
    assert_eq!(between, [&format!("{parts}: covered CHAIN"), &format!("{total}: uncovered")]);
    // Numbers of the others are what they were.
    assert!(told[..told.len() - 2].iter().all(|row| row.contains("by the host")), "{told:?}");
    let summed = chained.clone() + &chain("SUM", 1, 1, [5, 6, 7, 8]);
    let told = rows_of_second(folder.path(), &summed, &[]);
    assert!(told.contains(&format!("{total}: covered SUM")), "{told:?}");
    assert!(told.contains(&format!("{parts}: covered CHAIN, SUM")), "{told:?}");
    // What a test that is left out dispatches stays an obligation.
    let told = rows_of_second(folder.path(), &chained, &["--without", "CHAIN"]);
    assert!(told.contains(&format!("{parts}: uncovered")), "{told:?}");
}

/// The host of the second kernel, which writes neither of its buffers.
const INTERFACE: &str = "[[interface]]\nkernel = \"second\"\ngroups = [\"1\", \"1\", \"1\"]\nlocal_size = [4, 1, 1]\n\
    buffers = [{ set = 0, binding = 0, size = \"20\", host_writes = false }, \
    { set = 0, binding = 1, size = \"16\", host_writes = false }]\n\
    push_constants = { members = [{ name = \"use_sum\", type = \"uint32\" }] }\n\
    parameters = [{ name = \"use_sum\", type = \"uint32\", min = 0, max = 1 }]\n\n";

#[test]
fn what_an_interface_says_of_earlier_kernels_is_an_obligation_without_a_test_of_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let earlier = |kernel: &str, from: u32| {
        format!(
            "{INTERFACE}[[interface.earlier]]\nkernel = \"{kernel}\"\n\
             shared = [{{ from = {{ binding = {from} }}, to = {{ binding = 0 }} }}]\n\n{}",
            alone("ALONE")
        )
    };
    let check = |folder: &Path| -> Value {
        let campaign = campaign_of(folder);
        let checks = campaign["coupling"][0]["checks"].as_array().expect("checks").iter();
        let mut own = checks.filter(|row| row["check"] == "earlier-dispatches");
        own.next().expect("a row").clone()
    };
    let told = rows_of_second(folder.path(), &earlier("first", 1), &[]);
    let expected = [
        "use_sum: given by the host -> read at 9:9: covered ALONE",
        "parts[]: written by first at first.comp:8:13 -> read at 8:21: uncovered",
        "total: written by first at first.comp:9:22 -> read at 9:35: uncovered",
    ];
    assert_eq!(told, expected);
    assert_eq!(check(folder.path())["status"], "holds");
    // Nothing passes through what the first kernel only reads.
    let told = rows_of_second(folder.path(), &earlier("first", 0), &[]);
    assert_eq!(told, expected[..1]);
    assert_eq!(
        check(folder.path())["message"],
        "first cannot write 0.0, which it is stated to leave here"
    );
    two_kernels(folder.path(), &earlier("nobody", 1));
    let output = vkcert().arg("certify").arg(folder.path()).output().expect("runs");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nobody"));
}

#[test]
fn what_the_host_never_writes_is_no_obligation_of_the_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let tests = format!("{INTERFACE}{}{}", alone("ALONE"), chain("SUM", 1, 1, [5, 6, 7, 8]));
    let told = rows_of_second(folder.path(), &tests, &[]);
    let of_host: Vec<&String> = told.iter().filter(|row| row.contains("by the host")).collect();
    assert_eq!(of_host, ["use_sum: given by the host -> read at 9:9: covered ALONE, SUM"]);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|row| row.contains("covered")), "{told:?}");
}

/// Writes 64 numbers and one behind them, through a binding that begins where the test says.
const NUMBERS: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer A { uint number[64]; uint last; };
void main() {
    uint i = gl_LocalInvocationIndex;
    number[i] = i + 1u;
    if (i == 0u) last = 9u;
}
";

/// Reads two numbers of the same buffer.
const TWO_OF_THEM: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) readonly buffer B { uint head; uint tail[4]; };
layout(binding = 1) buffer C { uint left[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    left[i] = head;
    left[i] += tail[i];
}
";

/// The rows of the later kernel with what the earlier one leaves, where each binds the buffer from
/// a byte on.
fn rows_at(folder: &Path, [written, read]: [u32; 2], left: [u32; 4]) -> Vec<String> {
    let head = "schema = 1\nname = \"Offsets\"\nlevel = \"D\"\ncriteria = [\"coupling\"]\n\n";
    let listed = "[[kernel]]\nname = \"first\"\nsource = \"first.comp\"\n\n\
                  [[kernel]]\nname = \"second\"\nsource = \"second.comp\"\n";
    write(folder, "vkcert.toml", format!("{head}{listed}"));
    write(folder, "first.comp", NUMBERS);
    write(folder, "second.comp", TWO_OF_THEM);
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    let test = format!(
        "[[test]]\nid = \"AT\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ b = {{ type = \"uint\", data = {:?} }}, l = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"first\", groups = [1, 1, 1], \
         bindings = [{{ binding = 0, buffer = \"b\", offset = {written} }}] }}, \
         {{ kernel = \"second\", groups = [1, 1, 1], \
         bindings = [{{ binding = 0, buffer = \"b\", offset = {read} }}, {{ binding = 1, buffer = \"l\" }}] }}]\n\
         expect = [{{ buffer = \"l\", values = {left:?} }}]\n\n",
        vec![0; 160]
    );
    write(folder, "requirements/k.toml", format!("{requirement}{test}"));
    let evidence = kernels(folder, &["--engine", "sequential"]);
    let second = evidence.iter().find(|kernel| kernel["kernel"] == "second").expect("the kernel");
    let mut told = rows(second);
    told.retain(|row| !row.contains("by the host"));
    told
}

#[test]
fn a_buffer_that_is_bound_at_two_offsets_couples_by_the_bytes_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let number = "written by first at first.comp:6:15 -> read at";
    let last = "written by first at first.comp:7:23 -> read at";
    let told = rows_at(folder.path(), [256, 256], [3, 4, 5, 1]);
    assert_eq!(
        told,
        [format!("head: {number} 7:15: covered AT"), format!("tail[]: {number} 8:21: covered AT")]
    );
    // The last number lies where `head` is; what is behind it nobody has written.
    let told = rows_at(folder.path(), [0, 256], [9; 4]);
    assert_eq!(told, [format!("head: {last} 7:15: covered AT")]);
    // The other way round, `tail` ends before anything is written.
    assert_eq!(rows_at(folder.path(), [256, 0], [0; 4]), Vec::<String>::new());
    // It reaches over the end of the numbers.
    let told = rows_at(folder.path(), [256, 504], [0, 9, 0, 0]);
    assert_eq!(
        told,
        [
            format!("head: {number} 7:15: uncovered"),
            format!("tail[]: {number} 8:21: uncovered"),
            format!("tail[]: {last} 8:21: covered AT"),
        ]
    );
}

/// Reads through one binding what it wrote through the other, where a test binds one buffer twice.
const TWO_NAMES: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer A { uint written[]; };
layout(binding = 1) buffer B { uint read[]; };
layout(binding = 2) buffer C { uint left[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    written[i] = i + 1u;
    memoryBarrierBuffer();
    barrier();
    left[i] = read[3u - i];
}
";

#[test]
fn a_buffer_that_a_test_binds_twice_couples_by_both_bindings() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = |id: &str, second: &str, left: [u32; 4]| {
        format!(
            "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\n\
             buffers = {{ b = {{ type = \"uint\", data = [0, 0, 0, 0] }}, \
             d = {{ type = \"uint\", data = [0, 0, 0, 0] }}, l = {{ type = \"uint\", data = [9, 9, 9, 9] }} }}\n\
             dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"b\" }}, \
             {{ binding = 1, buffer = \"{second}\" }}, {{ binding = 2, buffer = \"l\" }}] }}]\n\
             expect = [{{ buffer = \"l\", values = {left:?} }}]\n\n"
        )
    };
    let host = "read[]: given by the host -> read at 11:25: covered APART";
    let apart = test("APART", "d", [0; 4]);
    project(folder.path(), TWO_NAMES, &apart);
    assert_eq!(rows(&kernels(folder.path(), &["--engine", "sequential"])[0]), [host]);
    project(folder.path(), TWO_NAMES, &format!("{apart}{}", test("TWICE", "b", [4, 3, 2, 1])));
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    let across = "read[]: written at 8:16 -> read at 11:25 across barrier 1: covered TWICE";
    assert_eq!(told, [host, across]);
}

/// Reads by a device address.
const BY_ADDRESS: &str = "#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 4) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer R { uint v[]; };
layout(push_constant) uniform P { R p; };
layout(binding = 0) buffer A { uint written[]; };
layout(binding = 1) buffer C { uint left[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    written[i] = i + 1u;
    memoryBarrierBuffer();
    barrier();
    left[i] = p.v[3u - i];
}
";

#[test]
fn what_no_justification_is_accepted_for_has_no_hash_and_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = "[[test]]\nid = \"TWICE\"\nrequirements = [\"HLR-1\"]\n\
                buffers = { b = { type = \"uint\", data = [0, 0, 0, 0] }, l = { type = \"uint\", count = 4 } }\n\
                dispatches = [{ kernel = \"k\", groups = [1, 1, 1], push_constants = { p = { address_of = \"b\" } }, \
                bindings = [{ binding = 0, buffer = \"b\" }, { binding = 1, buffer = \"l\" }] }]\n\
                expect = [{ buffer = \"l\", values = [4, 3, 2, 1] }]\n\n";
    project(folder.path(), BY_ADDRESS, test);
    let told = rows(&kernels(folder.path(), &["--engine", "sequential"])[0]);
    assert!(told.iter().any(|row| row.ends_with("undetermined TWICE")), "{told:?}");
    let listed = |options: &[&str]| {
        let evidence = folder.path().join("out/evidence");
        let mut command = vkcert();
        command.args(["list", "obligations", "--evidence"]).arg(evidence);
        let output = command.args(options).arg(folder.path()).output().expect("runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let text = listed(&["--status", "open", "--hash"]);
    let row = text.lines().find(|line| line.starts_with("PX1")).expect("a row");
    assert!(!row.contains("sha256:"), "{row}");
    let sentence =
        "No justification is accepted for PX1 of k: the reason says what leaves it open.";
    assert!(text.contains(sentence), "{text}");
    let rows: Value =
        serde_json::from_str(&listed(&["--status", "open", "--format", "json"])).unwrap();
    let of_px = rows.as_array().unwrap().iter().find(|row| row["id"] == "PX1").expect("a row");
    assert_eq!((&of_px["hash"], &of_px["justifiable"]), (&Value::Null, &Value::Bool(false)));
    assert!(rows.as_array().unwrap().iter().any(|row| row["justifiable"] == Value::Bool(true)));
}

/// One barrier of a function that is called twice, and one of the kernel itself.
const CALLED_BARRIER: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer C { uint c[]; };
shared uint s[4];
void sync() {
    barrier();
}
void main() { uint i = gl_LocalInvocationIndex;
    s[i] = c[i];
    sync();
    uint a = s[3u - i];
    sync();
    s[i] = a + 1u;
    barrier();
    c[i] = s[3u - i];
}
";

#[test]
fn copies_of_a_barrier_that_is_inlined_have_its_number_and_verify() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = "[[test]]\nid = \"A\"\nrequirements = [\"HLR-1\"]\n\
                buffers = { c = { type = \"uint\", data = [1, 2, 3, 1] } }\n\
                dispatches = [{ kernel = \"k\", groups = [1, 1, 1], bindings = [{ binding = 0, buffer = \"c\" }] }]\n\
                expect = [{ buffer = \"c\", values = [2, 3, 4, 2] }]\n\n";
    project(folder.path(), CALLED_BARRIER, test);
    let settings = folder.path().join("vkcert.toml");
    let text = std::fs::read_to_string(&settings).expect("reads");
    write(folder.path(), "vkcert.toml", format!("{text}optimization = \"performance\"\n"));
    let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
    assert_eq!(
        rows(kernel),
        [
            "c[]: given by the host -> read at 9:14: covered A",
            "s[]: written at 9:10 -> read at 11:21 across barrier 1: covered A",
            "s[]: written at 9:10 -> read at 15:19 across barrier 1: uncovered",
            "s[]: written at 13:10 -> read at 15:19 across barrier 2: covered A",
        ]
    );
    // Object code has three barriers.
    let of_object = &kernel["objects"]["records"][0]["records"]["barriers"];
    assert_eq!(*of_object, serde_json::json!({ "0": 1, "1": 1, "2": 1 }));
    let evidence = folder.path().join("out/evidence");
    run(vkcert().args(["verify", "--strict", "--replay"]).arg(&evidence), 0);
}

/// Both stores where `ON`, and both reads.
const SWITCHED_WRITER: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const bool ON = true;
layout(binding = 0) buffer A { uint a[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    a[i] = 1u;
    if (ON) a[i] = 2u;
}
";

const SWITCHED_READER: &str = "#version 450
layout(local_size_x = 4) in;
layout(constant_id = 0) const bool ON = true;
layout(binding = 0) readonly buffer A { uint a[]; };
layout(binding = 1) buffer C { uint c[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    c[i] = a[3u - i];
    if (ON) c[i] += a[i];
}
";

#[test]
fn pairs_of_dispatches_that_a_specialization_switches_off_stay_with_a_proposal() {
    let folder = tempfile::tempdir().expect("a folder");
    let listed = "[[kernel]]\nname = \"w\"\nsource = \"w.comp\"\n\n";
    let head = "schema = 1\nname = \"Off\"\nlevel = \"D\"\ncriteria = [\"coupling\"]\n\n";
    write(folder.path(), "vkcert.toml", format!("{head}{listed}{}", listed.replace('w', "r")));
    write(folder.path(), "w.comp", SWITCHED_WRITER);
    write(folder.path(), "r.comp", SWITCHED_READER);
    let off = "specialization = { 0 = { type = \"bool\", value = false } }";
    let requirement = "schema = 1\n\n[[requirement]]\nuid = \"HLR-1\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n\n";
    let test = format!(
        "[[test]]\nid = \"OFF\"\nrequirements = [\"HLR-1\"]\n\
         buffers = {{ b = {{ type = \"uint\", count = 4 }}, c = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"w\", groups = [1, 1, 1], {off}, bindings = [{{ binding = 0, buffer = \"b\" }}] }}, \
         {{ kernel = \"r\", groups = [1, 1, 1], {off}, \
         bindings = [{{ binding = 0, buffer = \"b\" }}, {{ binding = 1, buffer = \"c\" }}] }}]\n\
         expect = [{{ buffer = \"c\", values = [1, 1, 1, 1] }}]\n\n"
    );
    write(folder.path(), "requirements/k.toml", format!("{requirement}{test}"));
    let evidence = kernels(folder.path(), &["--engine", "sequential"]);
    let reader = evidence.iter().find(|kernel| kernel["kernel"] == "r").expect("the kernel");
    let obligations = reader["coverage"]["coupling"].as_array().expect("rows").iter();
    let of_dispatch = obligations.filter(|row| row["text"].as_str().unwrap().contains("by w"));
    let told: Vec<(String, bool)> = of_dispatch
        .map(|row| {
            let text = row["text"].as_str().expect("text").to_owned();
            (format!("{text}: {}", row["status"].as_str().unwrap()), !row["proposal"].is_null())
        })
        .collect();
    let row = |store: &str, read: &str, status: &str, is_proposed| {
        let text = format!("a[]: written by w at w.comp:{store} -> read at {read}: {status}");
        (text, is_proposed)
    };
    assert_eq!(
        told,
        [
            row("7:10", "8:19", "covered", false),
            row("8:18", "8:19", "uncovered", true),
            row("7:10", "9:23", "uncovered", true),
            row("8:18", "9:23", "uncovered", true),
        ]
    );
}

/// The place of a slot is given by an atomic: with all invocations at once each reads its own.
const PLACES: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer A { uint kept[]; };
shared uint cnt; shared uint slot[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0u) cnt = 0u;
    barrier();
    uint place = atomicAdd(cnt, 1u);
    slot[place] = i + 1u;
    barrier();
    kept[i] = slot[i] != 0u ? 1u : 0u;
}
";

/// Two atomics on ways of their own: the first invocation alone reads what the host gave.
const TWO_WAYS: &str = "#version 450
layout(local_size_x = 4) in;
layout(binding = 0) buffer A { uint cnt; uint kept[4]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint t;
    if ((i & 1u) == 0u) {
        t = atomicAdd(cnt, 1u);
    } else {
        t = atomicAdd(cnt, 1u);
    }
    kept[i] = t < 4u ? 1u : 0u;
}
";

#[test]
fn what_passes_across_barriers_and_from_the_host_is_sought_in_other_orders() {
    let folder = tempfile::tempdir().expect("a folder");
    let test = |data: &[u32], kept: &[u32]| {
        format!(
            "[[test]]\nid = \"ORDER\"\nrequirements = [\"HLR-1\"]\n\
             buffers = {{ b = {{ type = \"uint\", data = {data:?} }} }}\n\
             dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"b\" }}] }}]\n\
             expect = [{{ buffer = \"b\", values = {kept:?} }}]\n\n"
        )
    };
    let passages = |kernel: &Value| -> Vec<String> {
        let directed = kernel["records"][0]["records"]["directed_pairs"].as_object();
        let pairs = directed.into_iter().flat_map(|by_schedule| by_schedule.values());
        let kinds = pairs.flat_map(|pairs| pairs.as_array().expect("pairs"));
        kinds.map(|pair| pair["passage"]["kind"].as_str().expect("kind").to_owned()).collect()
    };
    for (text, sought, tests) in [
        (PLACES, "barrier", test(&[0; 4], &[1; 4])),
        (TWO_WAYS, "host", test(&[0; 5], &[4, 1, 1, 1, 1])),
    ] {
        project(folder.path(), text, &tests);
        let kernel = &kernels(folder.path(), &["--engine", "sequential"])[0];
        let told = rows(kernel);
        assert!(told.iter().all(|row| row.ends_with("covered ORDER")), "{told:#?}");
        assert!(passages(kernel).iter().any(|kind| kind == sought), "{:?}", passages(kernel));
        let notes = campaign_of(folder.path())["notes"].to_string();
        assert!(notes.contains("pairs across barriers and from the host"), "{notes}");
        let evidence = folder.path().join("out/evidence");
        run(vkcert().args(["verify", "--strict", "--replay"]).arg(&evidence), 0);
    }
}
