//! Schedules: the rewritten form of every kernel is valid and does what the kernel did; an order is
//! followed everywhere; what depends on it is found, and what does not is not. Tests of a device
//! say so where there is none, unless `VKCERT_REQUIRE_VULKAN` demands one.

use crate::device;
use crate::filetest;
use crate::support;
#[path = "schedules/within.rs"]
mod within;

use device::device;
use filetest::FileTest;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};
use support::{root, run, run_json, vkcert, without_driver, write};
use vkcert::exec::schedule::{Dispatches, PermutableJob};
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::vulkan::VulkanExecutor;
use vkcert::exec::{
    Completion, Executor, Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording,
    Unobserved,
};
use vkcert::instrument::{NotPermuted, permute_workgroups};
use vkcert::model::finding::Checks;
use vkcert::model::procedure::Limits;
use vkcert::model::schedule::{Order, Schedule};
use vkcert::spirv::module::Module;
use vkcert::spirv::validate::{TargetEnv, validate};

fn compile(text: &str, version: shaderc::EnvVersion) -> Option<Vec<u32>> {
    thread_local!(static COMPILER: shaderc::Compiler = shaderc::Compiler::new().expect("compiler"));
    let mut options = shaderc::CompileOptions::new().expect("options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, version as u32);
    options.set_generate_debug_info();
    let kind = shaderc::ShaderKind::Compute;
    let compiled = COMPILER.with(|compiler| {
        compiler.compile_into_spirv(text, kind, "test.comp", "main", Some(&options))
    });
    Some(compiled.ok()?.as_binary().to_vec())
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder))
        .expect(folder)
        .map(|entry| entry.expect("an entry").path());
    let mut found: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|this| this == extension)).collect();
    found.sort();
    found
}

fn module(path: &Path) -> Module {
    Module::parse_bytes(&std::fs::read(path).expect("a file")).expect("a module")
}

/// Rewrites a valid module; the result is valid and reads a built-in nowhere but where an entry
/// point begins. Gives whether there was anything to rewrite.
fn check_form(name: &str, module: &Module) -> bool {
    let environment = TargetEnv::for_version(&module.words);
    if validate(&module.words, environment).is_err() {
        return false;
    }
    let Some(words) =
        permute_workgroups(module, 0, 77).unwrap_or_else(|error| panic!("{name}: {error}"))
    else {
        return false;
    };
    validate(&words, environment).unwrap_or_else(|error| panic!("{name}: {error}"));
    let permuted = Module::parse(words).expect("reads back");
    let built_in = |id: u32| {
        let decorated = permuted.decoration(id, rspirv::spirv::Decoration::BuiltIn)?;
        decorated.operands.first().cloned()
    };
    let of = |which| Some(rspirv::dr::Operand::BuiltIn(which));
    let mut hardware = 0;
    for instruction in permuted.instructions.iter().filter(|i| i.op == rspirv::spirv::Op::Load) {
        let read = instruction.id(0).and_then(built_in);
        assert_ne!(read, of(rspirv::spirv::BuiltIn::GlobalInvocationId), "{name}");
        hardware += usize::from(read == of(rspirv::spirv::BuiltIn::WorkgroupId));
    }
    assert_eq!(
        hardware,
        permuted.entry_points.len(),
        "{name}: the hardware's id is read once by each entry point"
    );
    true
}

#[test]
fn the_rewritten_form_of_every_kernel_is_valid() {
    let folders =
        ["glsl", "tests/stress", "tests/kernels", "tests/filetests/run", "tests/filetests/glsl"];
    let mut rewritten = 0;
    for path in folders.iter().flat_map(|folder| files(folder, "comp")) {
        let text = std::fs::read_to_string(&path).expect("text");
        for version in [
            shaderc::EnvVersion::Vulkan1_0,
            shaderc::EnvVersion::Vulkan1_1,
            shaderc::EnvVersion::Vulkan1_3,
        ] {
            // Some kernels need a later environment, or options that only their own tests give.
            let Some(words) = compile(&text, version) else { continue };
            let name = format!("{} for {version:?}", path.display());
            rewritten += usize::from(check_form(&name, &Module::parse(words).expect(&name)));
        }
    }
    for path in files("spirv", "spv").into_iter().chain(files("tests/schedules", "spv")) {
        // Two that are refused, and one whose single workgroup reads no place of its own.
        if !["block_member", "passed_pointer", "prefix_sum"]
            .iter()
            .any(|unchanged| path.ends_with(format!("{unchanged}.spv")))
        {
            assert!(check_form(&path.display().to_string(), &module(&path)), "{}", path.display());
            rewritten += 1;
        }
    }
    println!("{rewritten} modules");
    assert!(rewritten > 190, "{rewritten}");
}

#[test]
fn what_cannot_be_rewritten_is_refused_by_name() {
    let refusal = |name: &str| {
        permute_workgroups(&module(&root().join("tests/schedules").join(name)), 0, 0).unwrap_err()
    };
    assert_eq!(refusal("block_member.spv"), NotPermuted::Member { built_in: "WorkgroupId" });
    let told = refusal("passed_pointer.spv").to_string();
    assert_eq!(told, "the built-in WorkgroupId is used by OpFunctionCall");
}

/// A job on one module with storage buffers of words at their bindings of set 0.
fn job(
    words: Vec<u32>,
    entry: &str,
    groups: [u32; 3],
    spec: &[(u32, u64)],
    buffers: &[(u32, Vec<u32>)],
) -> Job {
    let buffer = |(binding, words): &(u32, Vec<u32>)| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let defined = std::iter::once(0..bytes.len()).collect();
        JobBuffer { name: binding.to_string(), bytes: bytes.into(), defined }
    };
    let binding = |(index, (binding, words)): (usize, &(u32, Vec<u32>))| {
        JobBinding::storage(0, *binding, index, words.len() as u64 * 4)
    };
    Job {
        name: "T".to_owned(),
        modules: vec![JobModule {
            key: "k".into(),
            words: Arc::new(words),
            recording: ModuleRecording::None,
        }],
        buffers: buffers.iter().map(buffer).collect(),
        resources: Default::default(),
        dispatches: vec![JobDispatch {
            module: 0,
            entry: entry.to_owned(),
            groups,
            bindings: buffers.iter().enumerate().map(binding).collect(),
            push_constants: Vec::new(),
            push_constants_defined: Vec::new(),
            specialization: spec.iter().copied().collect(),
            subgroup_size: None,
        }],
        limits: Limits::default(),
        checks: Checks::none(),
    }
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("4 bytes")))
        .collect()
}

/// The final words of each buffer, on the sequential engine, which starts workgroups from first to
/// last.
fn final_words(job: &Job) -> Vec<Vec<u32>> {
    let run = SequentialExecutor::default().run(job, &mut Unobserved).expect("runs");
    assert_eq!(run.completion, Completion::Completed);
    run.buffers.iter().map(|bytes| words_of(bytes)).collect()
}

/// Notes which workgroup comes when, and whether every invocation's ids fit together wherever they
/// are read.
const IDS: &str = "#version 450
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(binding = 0) buffer Next { uint next; };
layout(binding = 1) buffer Order { uint order[]; };
layout(binding = 2) buffer Right { uint right[]; };
uint linear(uvec3 at, uvec3 size) { return (at.z * size.y + at.y) * size.x + at.x; }
uint part(uint which) { return gl_GlobalInvocationID[which]; }
void note() { order[atomicAdd(next, 1u)] = linear(gl_WorkGroupID, gl_NumWorkGroups); }
void main() {
    if (gl_LocalInvocationIndex == 0u) note();
    uvec3 at = uvec3(part(0u), gl_GlobalInvocationID.y, part(2u));
    bool fits = at == gl_WorkGroupID * gl_WorkGroupSize + gl_LocalInvocationID;
    atomicAdd(right[linear(at, gl_NumWorkGroups * gl_WorkGroupSize)], fits ? 1u : 1000u);
}";

static IDS_1_0: LazyLock<Vec<u32>> =
    LazyLock::new(|| compile(IDS, shaderc::EnvVersion::Vulkan1_0).expect("compiles"));
static IDS_1_3: LazyLock<Vec<u32>> =
    LazyLock::new(|| compile(IDS, shaderc::EnvVersion::Vulkan1_3).expect("compiles"));

fn any_order() -> impl Strategy<Value = Order> {
    prop_oneof![
        Just(Order::InOrder),
        Just(Order::Reversed),
        (0_u32..60).prop_map(Order::First),
        (any::<u64>(), 1_u32..9).prop_map(|(seed, number)| Order::Random { seed, number }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn workgroups_come_in_the_order_of_the_schedule(
        groups in [1_u32..5, 1_u32..4, 1_u32..4],
        size in [1_u64..4, 1_u64..3, 1_u64..3],
        order in any_order(),
        newest in any::<bool>(),
    ) {
        let count = groups.iter().product::<u32>();
        let invocations = count as usize * size.iter().product::<u64>() as usize;
        let spec: Vec<(u32, u64)> = (0..).zip(size).collect();
        let words = if newest { IDS_1_3.clone() } else { IDS_1_0.clone() };
        let buffers = [(0, vec![0]), (1, vec![0; count as usize]), (2, vec![0; invocations])];
        let job = job(words, "main", groups, &spec, &buffers);
        match PermutableJob::of_production(&job).expect("can be permuted") {
            None => prop_assert_eq!(count, 1),
            Some(permutable) => {
                let left = final_words(&permutable.in_order(order, Dispatches::All));
                prop_assert_eq!(&left[1], &order.permutation(count));
                prop_assert_eq!(&left[2], &vec![1; invocations]);
                let untouched = permutable.in_order(order, Dispatches::One(1));
                prop_assert_eq!(&final_words(&untouched)[1], &Order::InOrder.permutation(count));
            }
        }
    }
}

#[test]
fn pointers_to_the_ids_are_followed_through_copies_chains_and_functions() {
    let words = module(&root().join("tests/schedules/signed_copies.spv")).words.to_vec();
    let job = job(words, "main", [5, 1, 1], &[], &[(0, vec![7; 10])]);
    let permutable =
        PermutableJob::of_production(&job).expect("can be permuted").expect("has workgroups");
    for schedule in ["in-order", "reversed", "first:3", "random:1:1"] {
        let order = schedule.parse::<Schedule>().expect("a schedule").workgroups;
        let job = permutable.in_order(order, Dispatches::All);
        assert_eq!(final_words(&job)[0], [1; 10], "{schedule}");
    }
}

#[test]
fn every_entry_point_is_permuted_with_its_own_variables() {
    let words = module(&root().join("tests/schedules/size_ids.spv")).words.to_vec();
    for (entry, start) in [("first", 1), ("second", 101)] {
        let job = job(words.clone(), entry, [3, 1, 1], &[(0, 2)], &[(3, vec![0; 6])]);
        let permutable =
            PermutableJob::of_production(&job).expect("can be permuted").expect("has workgroups");
        let due: Vec<u32> = (0..6).map(|id| id / 2 + start).collect();
        for order in [Order::InOrder, Order::Reversed] {
            assert_eq!(
                final_words(&permutable.in_order(order, Dispatches::All))[0],
                due,
                "{entry} {order}"
            );
        }
    }
}

/// The file tests that any engine may run, with the job in the first-to-last order of the rewritten
/// module.
fn rewritten_file_tests() -> Vec<(FileTest, Job, Job)> {
    let tests = FileTest::read_all(&root().join("tests/filetests/run"));
    let mut found = Vec::new();
    for test in tests.into_iter().filter(|test| !test.sequential_only) {
        let mut job = test.job();
        job.limits.seconds = 60.0;
        // Even one workgroup tells whether the rewritten form does what the kernel did: another one
        // is added for it.
        let mut several = job.clone();
        several.dispatches[0].groups[0] += 1;
        let Some(permutable) = PermutableJob::of_production(&several)
            .unwrap_or_else(|error| panic!("{}: {error}", test.name))
        else {
            continue;
        };
        if job.dispatches[0].groups.iter().product::<u32>() > 1 {
            let of_test = PermutableJob::of_production(&job)
                .expect("can be permuted")
                .expect("has workgroups");
            found.push((test, job, of_test.job().clone()));
        } else {
            let mut single = permutable.job().clone();
            single.dispatches[0].groups = job.dispatches[0].groups;
            found.push((test, job, single));
        }
    }
    assert!(found.len() >= 5, "{}", found.len());
    found
}

#[test]
fn from_first_to_last_the_rewritten_form_does_what_the_kernel_did() {
    let mut device = device();
    for (test, job, rewritten) in rewritten_file_tests() {
        let buffers = job.buffers.len();
        let ours = final_words(&job);
        assert_eq!(ours, final_words(&rewritten)[..buffers], "{}", test.name);
        let Some(device) = &mut device else { continue };
        let plain = device.run(&job, &mut Unobserved).expect("runs");
        let permuted = device.run(&rewritten, &mut Unobserved).expect("runs");
        assert_eq!(plain.completion, permuted.completion, "{}", test.name);
        assert_eq!(plain.buffers, permuted.buffers[..buffers], "{}", test.name);
        assert_eq!(permuted.findings, [], "{}", test.name);
    }
}

/// The kernels of `tests/kernels` are right in every order.
#[test]
fn kernels_without_races_do_not_depend_on_the_order() {
    if device().is_none() {
        return;
    }
    let mut equal = 0;
    for path in files("tests/kernels", "toml") {
        let result = run_json(
            orderly().arg("run").arg(&path).args(["--engine", "vulkan", "--schedules", "4"]),
            0,
        );
        for (id, test) in by_id(&result) {
            let status = test["schedules"]["status"].as_str().expect("a status");
            assert!(
                ["equal", "nothing-to-permute"].contains(&status),
                "{id}: {}",
                test["schedules"]
            );
            equal += usize::from(status == "equal");
        }
    }
    println!("{equal} tests");
    assert!(equal >= 10, "{equal}");
}

/// Whether the device is Mesa's llvmpipe, which runs workgroups from first to last on one thread if
/// it is told to.
fn is_orderly(device: &VulkanExecutor) -> bool {
    device.identity().get("device").is_some_and(|name| name.contains("llvmpipe"))
}

/// `vkcert` on the device with workgroups one after the other.
fn orderly() -> Command {
    let mut command = vkcert();
    command.env("LP_NUM_THREADS", "0").current_dir(root());
    command
}

fn by_id(result: &Value) -> BTreeMap<String, Value> {
    let tests = result["tests"].as_array().expect("tests").iter();
    tests.map(|test| (test["id"].as_str().expect("an id").to_owned(), test.clone())).collect()
}

const SHOW: &[&str] = &["TC-TICKET", "TC-LAST", "TC-NEIGHBOUR", "TC-ROUNDING", "TC-TWO"];

#[test]
fn what_depends_on_the_order_is_found_and_what_does_not_is_not() {
    let Some(device) = device() else { return };
    let strict = is_orderly(&device);
    drop(device);
    let command = [
        "run",
        "tests/schedules/order.toml",
        "--engine",
        "vulkan",
        "--schedules",
        "6",
        "--seed",
        "3",
    ];
    let result = by_id(&run_json(orderly().args(command), 1));
    let status =
        |id: &str| result[id]["schedules"]["status"].as_str().expect("a status").to_owned();
    for id in ["TC-SUM", "TC-VOLUME"] {
        assert_eq!(
            (status(id).as_str(), &result[id]["findings"]),
            ("equal", &Value::Array(Vec::new())),
            "{id}"
        );
        assert_eq!(result[id]["schedules"]["ran"].as_array().map(Vec::len), Some(6), "{id}");
    }
    for id in ["TC-ONE", "TC-NAMELESS"] {
        assert_eq!(
            (status(id).as_str(), &result[id]["verdict"]),
            ("nothing-to-permute", &"pass".into()),
            "{id}"
        );
    }
    assert_eq!(
        (status("TC-MANY").as_str(), &result["TC-MANY"]["verdict"]),
        ("undetermined", &"undetermined".into())
    );
    assert!(
        result["TC-MANY"]["reason"].to_string().contains("1114095 workgroups"),
        "{}",
        result["TC-MANY"]
    );
    for id in SHOW.iter().chain(&["TC-WAITING"]) {
        // Where a device starts workgroups as it likes, the result may vary by itself, or not at
        // all.
        if strict {
            assert_eq!(status(id), "different", "{id}: {}", result[*id]);
        }
    }
    if strict {
        check_details(&result);
    }
}

fn check_details(result: &BTreeMap<String, Value>) {
    let details = |id: &str| {
        let findings = result[id]["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{id}: {findings:#?}");
        assert_eq!(findings[0]["kind"], "schedule-dependent-output", "{id}");
        findings[0]["details"].clone()
    };
    let ticket = details("TC-TICKET");
    for (name, value) in [
        ("schedule", Value::from("reversed")),
        ("baseline", "in-order".into()),
        ("buffer", "place".into()),
        ("offset", 0.into()),
        ("type", "uint".into()),
        ("expected", 0.into()),
        ("actual", 7.into()),
        ("bytes", 8.into()),
        ("kernels", vec!["ticket"].into()),
        ("dispatches", vec![0].into()),
        ("verdict", "pass".into()),
    ] {
        assert_eq!(ticket[name], value, "{name}");
    }
    assert_eq!(result["TC-TICKET"]["schedules"]["different"], ticket["schedules"]);
    // `winner` is (1, -1) after the last workgroup and (0, 0) after the first.
    let last = details("TC-LAST");
    assert_eq!(
        (&last["type"], &last["expected"], &last["actual"]),
        (&"int".into(), &1.into(), &0.into())
    );
    let rounding = details("TC-ROUNDING");
    assert_eq!((&rounding["type"], &rounding["expected"]), (&"float".into(), &0.0.into()));
    let two = details("TC-TWO");
    assert_eq!((&two["kernels"], &two["dispatches"]), (&vec!["ticket"].into(), &vec![1].into()));
    let waiting = details("TC-WAITING");
    assert_eq!(waiting["schedule"], "reversed");
    assert!(waiting["ended"].as_str().expect("text").starts_with("timeout, "), "{waiting}");
    let reason = "none is run after `reversed`, which does not complete";
    assert_eq!(result["TC-WAITING"]["schedules"]["reason"], reason);
}

#[test]
fn schedules_need_no_device_and_are_not_run_unasked() {
    let command = ["run", "tests/schedules/order.toml", "--only", "TC-SUM", "--schedules", "2"];
    let result = run_json(without_driver(orderly().args(command)), 0);
    let sequential = &result["tests"][0]["schedules"];
    assert_eq!(sequential["status"], "equal", "{sequential}");
    assert_eq!(sequential["ran"], serde_json::json!(["reversed", "in-order+tiles:1:reversed"]));
    assert!(
        result["tests"][1].get("schedules").is_none(),
        "an engine that is not there runs none: {result:#}"
    );
    let none = run_json(without_driver(orderly().args(&command[..4])), 0);
    assert!(none["tests"][0].get("schedules").is_none(), "{none:#}");
}

#[test]
fn a_finding_that_is_not_looked_for_costs_no_run() {
    if device().is_none() {
        return;
    }
    let command =
        ["run", "tests/schedules/order.toml", "--engine", "vulkan", "--only", "TC-TICKET"];
    let result =
        run_json(orderly().args(command).args(["--schedules", "2", "--check", "validation"]), 0);
    let schedules = &result["tests"][0]["schedules"];
    assert_eq!(
        schedules["reason"], "--check leaves schedule-dependent-output out",
        "{schedules:#}"
    );
}

#[test]
fn numbers_of_schedules_are_checked() {
    for (option, wrong) in
        [("--schedules", "1001"), ("--schedules", "-1"), ("--seed", "x"), ("--seed", "-1")]
    {
        let output = run(orderly().args(["certify", &format!("{option}={wrong}")]), 2);
        assert!(String::from_utf8_lossy(&output.stderr).contains(option), "{output:?}");
    }
    let folder = project("schedules = { count = 1001 }\n", SAFE);
    let output = run(vkcert().arg("certify").arg(folder.path()), 2);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("1000 schedules at most"),
        "{output:?}"
    );
}

const SAFE: &str = "total += 0u";
const ORDERED: &str = "total = gl_WorkGroupID.x";

/// A project of one kernel with four workgroups.
fn project(settings: &str, statement: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        "vkcert.toml",
        format!(
            "schema = 1\nname = \"Order\"\nlevel = \"D\"\n{settings}\n[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n"
        ),
    );
    let kernel = format!(
        "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer Out {{ uint total; uint all[]; }};\n\
         void main() {{\n    all[gl_GlobalInvocationID.x] = 1u;\n    {statement};\n}}\n"
    );
    write(folder.path(), "k.comp", kernel);
    write(
        folder.path(),
        "requirements/k.toml",
        "schema = 1\n\n[[test]]\nid = \"TC-1\"\nbuffers = { out = { type = \"uint\", fill = { constant = 0 }, count = 5 } }\n\
         dispatches = [{ kernel = \"k\", groups = [4, 1, 1], bindings = [{ binding = 0, buffer = \"out\" }] }]\n",
    );
    folder
}

#[test]
fn evidence_says_what_schedules_showed_and_verifies() {
    let Some(device) = device() else { return };
    let strict = is_orderly(&device);
    drop(device);
    for (statement, status) in [(SAFE, "equal"), (ORDERED, "different")] {
        if status == "different" && !strict {
            continue;
        }
        let folder = project("schedules = { count = 3, seed = 5 }", statement);
        let out = folder.path().join("out");
        let certify = |options: &[&str]| {
            let mut command = orderly();
            command
                .args(["certify", "--quiet", "--format", "json", "--out"])
                .arg(&out)
                .arg(folder.path())
                .args(options);
            let output = command.output().expect("runs");
            let evidence: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
            run(orderly().arg("verify").arg(out.join("evidence")), 0);
            evidence
        };
        let evidence = certify(&[]);
        let results = &evidence["tests"][0]["results"];
        assert_eq!(results[0]["schedules"]["status"], status);
        assert_eq!(
            results[0]["schedules"]["ran"],
            serde_json::json!(["reversed", "first:2", "random:5:2"])
        );
        let schedules = &results[1]["schedules"];
        assert_eq!(
            (&schedules["status"], &schedules["asked"], &schedules["seed"]),
            (&status.into(), &3.into(), &5.into())
        );
        // `random:5:1` of four workgroups is one of the orders before it.
        assert_eq!(schedules["ran"], serde_json::json!(["reversed", "first:2", "random:5:2"]));
        let conclusion = evidence["conclusion"]["reasons"].to_string();
        assert_eq!(
            conclusion.contains("schedule-dependent-output"),
            status == "different",
            "{conclusion}"
        );
        assert_eq!(certify(&[]), evidence, "the evidence is the same in both runs");
        let page = std::fs::read_to_string(out.join("report.html")).expect("a report");
        let shown = if status == "equal" {
            "schedules: 3, seed 5, all equal"
        } else {
            "schedules: 3, seed 5, 2 different"
        };
        assert!(page.contains(shown), "{shown}");
        let summary = run(
            orderly().arg("report").arg(out.join("evidence")).args(["--report-format", "terminal"]),
            0,
        );
        let summary = String::from_utf8_lossy(&summary.stdout).into_owned();
        for line in [
            format!("vulkan      up to 3, seed 5: 1 {status}"),
            format!("sequential  up to 3, seed 5: 1 {status}"),
        ] {
            assert!(summary.contains(&line), "{line}\n{summary}");
        }
        let none = certify(&["--schedules", "0"]);
        assert!(none["tests"][0]["results"][1].get("schedules").is_none());
    }
}

#[test]
fn a_status_that_does_not_follow_is_found() {
    let Some(device) = device() else { return };
    drop(device);
    let folder = project("schedules = { count = 3 }", SAFE);
    let out = folder.path().join("out");
    let mut command = orderly();
    command
        .args(["certify", "--engine", "vulkan", "--quiet", "--out"])
        .arg(&out)
        .arg(folder.path());
    command.output().expect("runs");
    let campaign = out.join("evidence/campaign.json");
    let text = std::fs::read_to_string(&campaign).expect("evidence");
    let showed = "test TC-1 on vulkan: what its schedules showed (schedules: ";
    // The test is no pass for another reason, so that the status may be; what was looked for then
    // was not.
    let unsought = "campaign.json/unsought/6/kind: stored \"engine-disagreement\", derived \"schedule-dependent-output\"";
    for (from, to, due) in [
        ("\"status\": \"equal\"", "\"status\": \"different\"", showed),
        ("\"status\": \"equal\"", "\"status\": \"undetermined\"", unsought),
        ("\"status\": \"equal\"", "\"status\": \"not-run\"", showed),
        ("\"asked\": 3", "\"asked\": 2", showed),
    ] {
        assert!(text.contains(from), "{text}");
        std::fs::write(&campaign, text.replace(from, to)).expect("written");
        let output = run(orderly().arg("verify").arg(out.join("evidence")), 1);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains(&format!("differs           {due}")), "{to}: {told}");
    }
}
