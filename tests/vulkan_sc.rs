//! The Vulkan SC profile: every file of `tests/filetests/sc` is refused for exactly the reasons
//! that it names, the demonstration runs under the profile with records that use no atomics, and
//! offline modules must be there and fresh.

use crate::support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use support::*;

/// What a file says about itself, in `//!` lines.
struct Case {
    name: String,
    text: String,
    target: String,
    features: Vec<String>,
    refused: Vec<String>,
}

fn case(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let words = |directive: &str| -> Vec<String> {
        let prefix = format!("//! {directive} ");
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    Case {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        target: words("target").pop().unwrap_or("vulkan1.1".to_owned()),
        features: words("features")
            .iter()
            .flat_map(|line| line.split(' '))
            .map(str::to_owned)
            .collect(),
        refused: words("refused"),
        text,
    }
}

fn cases() -> Vec<Case> {
    let entries = std::fs::read_dir(root().join("tests/filetests/sc")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

const REQUIREMENT: &str = "schema = 1\n[[requirement]]\nuid = \"HLR-SC-001\"\nlevel = \"HLR\"\ntitle = \"t\"\n\
                           statement = \"s\"\nverification = [\"review\"]\n";

/// What `vkcert list kernels` says of a case under the profile.
fn refusals(case: &Case) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{}.comp", case.name);
    write(folder.path(), &source, &case.text);
    write(folder.path(), "requirements/r.toml", REQUIREMENT);
    let project = format!(
        "schema = 1\nname = \"P\"\nlevel = \"D\"\nprofile = \"vulkan-sc\"\nsc_features = {:?}\n\
         [[kernel]]\nname = \"k\"\nsource = \"{source}\"\ntarget_env = \"{}\"\n",
        case.features, case.target
    );
    write(folder.path(), "vkcert.toml", project);
    let rows = run_json(vkcert().args(["list", "kernels"]).arg(folder.path()), 0);
    rows[0]["refused"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reason| reason.as_str().unwrap().to_owned())
        .collect()
}

/// Whether `found` is `shown`, where ` _` at the end of `shown` is anything.
fn is(shown: &str, found: &str) -> bool {
    match shown.strip_suffix(" _") {
        Some(start) => found.starts_with(start),
        None => found == shown,
    }
}

#[test]
fn each_module_is_refused_for_exactly_what_vulkan_sc_lacks() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    let cases = cases();
    for case in &cases {
        let found = refusals(case);
        let all = found.len() == case.refused.len()
            && case.refused.iter().zip(&found).all(|(s, f)| is(s, f));
        if !all {
            wrong.push(format!("{}: {found:#?}", case.name));
        }
        refused += usize::from(!found.is_empty());
        let accepted = case.name.ends_with("_accepted") || case.name.ends_with("_declared");
        assert_eq!(case.refused.is_empty(), accepted, "{} says what it is in its name", case.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused >= 12 && cases.len() - refused >= 6, "{refused} of {}", cases.len());
}

/// The machine's device is asked where there is one.
fn engines() -> &'static str {
    let output = vkcert().args(["list", "devices", "--format", "json"]).output().unwrap();
    let found = output.status.success();
    assert!(found || std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "a device is demanded");
    if found { "both" } else { "sequential" }
}

/// Puts lines behind the `level` of a project file.
fn set(project: &Path, lines: &str) {
    let file = project.join("vkcert.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let (head, rest) = text.split_once("level = \"A\"\n").expect("a project of level A");
    std::fs::write(&file, format!("{head}level = \"A\"\n{lines}\n{rest}")).unwrap();
}

fn certify(project: &Path, options: &[&str], exit: i32) -> Value {
    run_json(
        vkcert()
            .arg("certify")
            .arg(project)
            .arg("--out")
            .arg(project.join("reports"))
            .args(options),
        exit,
    )
}

#[test]
fn modules_must_lie_in_spirv_and_be_what_the_compiler_makes_now() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    set(&project, "profile = \"vulkan-sc\"");
    let sequential = ["--engine", "sequential"];
    let refused = |kind: &str| {
        let answer = certify(&project, &sequential, 2);
        assert_eq!(answer["error"]["kind"], kind, "{answer:#}");
        assert_eq!(answer["error"]["file"], "spirv/double.spv");
        let hint = answer["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(&format!("vkcert build {}", project.display())), "{hint}");
        assert!(!project.join("reports").exists(), "nothing is written");
    };
    refused("missing-file");
    run(vkcert().arg("build").arg(&project), 0);
    let source = project.join("glsl/double.comp");
    let text = std::fs::read_to_string(&source).unwrap();
    std::fs::write(
        &source,
        format!("{}\n{}", "#version 450\n// A line more.", text.split_once('\n').unwrap().1),
    )
    .unwrap();
    refused("stale-module");
    run(vkcert().arg("build").arg(&project), 0);
    let campaign = certify(&project, &sequential, 0);
    let profile = &campaign["project"]["profile"];
    assert_eq!(profile["name"], "vulkan-sc");
    assert!(profile["meaning"].to_string().contains("shaderAtomicInstructions"), "{profile:#}");
    let manifest = std::fs::read(project.join("reports/evidence/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert!(
        manifest["inputs"]["spirv/double.spv"].is_string(),
        "the module is an input: {manifest:#}"
    );
    run(vkcert().arg("verify").arg(project.join("reports/evidence")), 0);
}

fn demonstration(folder: &Path) -> PathBuf {
    let project = folder.join("demonstration");
    for part in ["glsl", "requirements", "spirv"] {
        copy_tree(&root().join(part), &project.join(part));
    }
    std::fs::copy(root().join("vkcert.toml"), project.join("vkcert.toml")).unwrap();
    project
}

/// The kernels of the demonstration that call atomic functions, which the profile leaves to the
/// device.
fn kernels_with_atomics() -> BTreeSet<String> {
    let sources =
        std::fs::read_dir(root().join("glsl")).unwrap().map(|entry| entry.unwrap().path());
    let calls_atomics = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.contains("atomicAdd(") || text.contains("atomicOr(")
    };
    let kernels = sources.filter(calls_atomics);
    kernels.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect()
}

/// A kernel file of the evidence.
fn evidence(project: &Path, kernel: &str, engine: &str) -> Value {
    let file = project.join(format!("reports/evidence/kernel-{kernel}-{engine}.json"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

#[test]
fn the_demonstration_under_the_profile_has_the_same_coverage_without_atomics() {
    let folder = tempfile::tempdir().unwrap();
    let project = demonstration(folder.path());
    let engine = engines();
    certify(&project, &["--engine", engine], 0);
    let names: &[&str] = if engine == "both" { &["sequential", "vulkan"] } else { &["sequential"] };
    let kernels = ["matmul_naive", "matmul_tiled", "convolution"];
    let files = kernels.iter().flat_map(|kernel| names.iter().map(move |name| (*kernel, *name)));
    let before: Vec<_> =
        files.map(|(kernel, name)| (kernel, name, evidence(&project, kernel, name))).collect();

    set(&project, "profile = \"vulkan-sc\"");
    // Tests of a refused kernel fail their requirements, which goes before `unsupported` in the
    // exit code.
    let campaign = certify(&project, &["--engine", engine], 1);
    for (kernel, name, plain) in &before {
        let restricted = evidence(&project, kernel, name);
        assert_eq!(restricted["coverage"], plain["coverage"], "{kernel} on {name}");
        assert_eq!(
            restricted["modules"]["production"], plain["modules"]["production"],
            "{kernel} on {name}"
        );
        if *name == "vulkan" {
            assert_eq!(plain["recording"]["mode"], "private", "{kernel}");
            assert_eq!(restricted["recording"]["mode"], "slots", "{kernel}");
        }
    }
    let mut unsupported = 0;
    let refused_kernels = kernels_with_atomics();
    for test in campaign["tests"].as_array().unwrap() {
        let kernel = test["kernels"][0].as_str().unwrap();
        let is_refused = refused_kernels.contains(kernel);
        for result in test["results"].as_array().unwrap() {
            let verdict = result["verdict"].as_str().unwrap();
            assert_eq!(verdict, if is_refused { "unsupported" } else { "pass" }, "{test:#}");
            if is_refused {
                let reason = result["reason"].as_str().unwrap();
                assert!(reason.contains("instruction OpAtomic"), "{reason}");
                assert!(reason.contains("(feature shaderAtomicInstructions"), "{reason}");
                assert!(reason.contains(&format!("at glsl/{kernel}.comp:")), "{reason}");
                unsupported += 1;
            }
        }
    }
    assert!(unsupported >= names.len(), "{unsupported}");
    let refused = &campaign["project"]["profile"]["refused"];
    let refused_names: BTreeSet<&str> =
        refused.as_array().unwrap().iter().map(|row| row["kernel"].as_str().unwrap()).collect();
    assert_eq!(refused_names, refused_kernels.iter().map(String::as_str).collect(), "{refused:#}");
    assert!(
        campaign["conclusion"]["reasons"]
            .to_string()
            .contains("kernel histogram is refused by the profile")
    );
    let histogram = evidence(&project, "histogram", "sequential");
    let covered =
        histogram["coverage"]["summary"].as_array().unwrap().iter().map(|row| &row["covered"]);
    assert!(covered.into_iter().all(|covered| *covered == 0), "{histogram:#}");
    run(vkcert().arg("verify").arg(project.join("reports/evidence")), 0);
    let report = std::fs::read_to_string(project.join("reports/report.html")).unwrap();
    assert!(report.contains("Kernels that the profile refuses") && report.contains("vulkan-sc"));

    // Frames of 16-bit pixels are images of an extended format.
    let features = ["shaderAtomicInstructions", "shaderStorageImageExtendedFormats"];
    set(&project, &format!("sc_features = {features:?}"));
    let campaign = certify(&project, &["--engine", engine], 0);
    assert_eq!(campaign["project"]["profile"]["features"], serde_json::json!(features));
    assert_eq!(campaign["project"]["profile"]["refused"], serde_json::json!([]));
    for (kernel, name, plain) in &before {
        assert_eq!(
            evidence(&project, kernel, name)["coverage"],
            plain["coverage"],
            "{kernel} on {name}"
        );
    }
}

#[test]
fn a_record_mode_that_needs_atomics_is_refused_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    set(&project, "profile = \"vulkan-sc\"");
    run(vkcert().arg("build").arg(&project), 0);
    for mode in ["private", "workgroup", "subgroup", "direct"] {
        let answer = certify(&project, &["--record-mode", mode], 4);
        assert!(
            answer["error"]["message"].as_str().unwrap().contains("shaderAtomicInstructions"),
            "{answer:#}"
        );
    }
    certify(&project, &["--record-mode", "slots"], 0);
    set(&project, "sc_features = [\"shaderAtomicInstructions\"]");
    certify(&project, &["--record-mode", "direct"], 0);
}

/// A project of level D with a kernel that holds and one that no test runs.
fn two_kernels(folder: &Path) -> PathBuf {
    let project = folder.join("two");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let source = root().join("tests/filetests/sc/atomic_add_refused.comp");
    std::fs::copy(source, project.join("glsl/atomic.comp")).unwrap();
    set(&project, "profile = \"vulkan-sc\"");
    let file = project.join("vkcert.toml");
    let text = std::fs::read_to_string(&file).unwrap().replace("level = \"A\"", "level = \"D\"");
    std::fs::write(
        &file,
        text + "\n[[kernel]]\nname = \"atomic\"\nsource = \"glsl/atomic.comp\"\n",
    )
    .unwrap();
    project
}

#[test]
fn a_refused_kernel_without_tests_is_unsupported_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let project = two_kernels(folder.path());
    let built = run_json(vkcert().arg("build").arg(&project), 4);
    assert_eq!(built["modules"][0]["refused"], serde_json::json!([]));
    let reason = built["modules"][1]["refused"][0].as_str().unwrap();
    assert_eq!(
        reason,
        "instruction OpAtomicIAdd (feature shaderAtomicInstructions, not in sc_features) in `main` at glsl/atomic.comp:7"
    );
    assert!(project.join("spirv/atomic.spv").is_file(), "it is written all the same");
    let campaign = certify(&project, &["--engine", "sequential"], 4);
    let reasons = campaign["conclusion"]["reasons"].as_array().unwrap();
    assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().contains(reason), "{reasons:#?}");
    run(vkcert().arg("verify").arg(project.join("reports/evidence")), 0);
}

#[test]
fn what_a_test_itself_asks_for_must_be_declared() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    set(&project, "profile = \"vulkan-sc\"");
    run(vkcert().arg("build").arg(&project), 0);
    let file = project.join("requirements/double.toml");
    let plain = std::fs::read_to_string(&file).unwrap();
    let reason = |text: String, exit: i32| {
        std::fs::write(&file, text).unwrap();
        let campaign = certify(&project, &["--engine", "sequential"], exit);
        campaign["tests"][0]["results"][0]["reason"].as_str().unwrap_or_default().to_owned()
    };
    let sized = plain.replace("groups = [1, 1, 1]", "groups = [1, 1, 1]\nsubgroup_size = 8");
    assert_eq!(
        reason(sized.clone(), 1),
        "subgroup size 8 (feature subgroupSizeControl, not in sc_features)"
    );
    let mirrored = plain.replace(
        "[[test.dispatches]]",
        "[test.samplers]\ns = { address = \"mirror_clamp_to_edge\" }\n\n[[test.dispatches]]",
    );
    assert_eq!(
        reason(mirrored, 1),
        "address mode of sampler `s` (feature samplerMirrorClampToEdge, not in sc_features)"
    );
    set(&project, "sc_features = [\"subgroupSizeControl\"]");
    assert_eq!(reason(sized, 0), "");
}
