//! Evidence of the demonstration project: it verifies, is reproducible, and tampering shows.

use crate::support;

use serde_json::Value;
use std::path::Path;
use support::*;

fn certify(project: &Path, out: &Path, arguments: &[&str], exit: i32) -> Value {
    run_json(vkcert().arg("certify").arg(project).arg("--out").arg(out).args(arguments), exit)
}

#[test]
fn the_evidence_of_the_demonstration_verifies_and_its_reports_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    certify(&root(), &out, &[], 0);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
    let size = |name: &str| std::fs::metadata(out.join(name)).unwrap().len();
    assert!(size("report.pdf") > 20_000 && size("report.html") > 20_000);
}

#[test]
fn the_robustness_of_the_project_is_in_force_and_in_the_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let plain = std::fs::read_to_string(project.join("vkcert.toml")).unwrap();
    for (setting, on) in [("off", [false, false]), ("basic", [true, false]), ("best", [true, true])]
    {
        let text =
            plain.replace("level = \"A\"", &format!("level = \"A\"\nrobustness = \"{setting}\""));
        write(&project, "vkcert.toml", text);
        let campaign = certify(&project, &folder.path().join(setting), &[], 0);
        let engines = campaign["engines"].as_array().unwrap();
        let Some(device) =
            engines.iter().find(|engine| engine["engine"] == "vulkan" && engine["ran"] == true)
        else {
            eprintln!("not run: no device");
            return;
        };
        let identity = &device["identity"];
        let state = |name: &str| identity[name] == "on";
        assert_eq!(state("robustBufferAccess"), on[0], "{setting}");
        // `best` is what the device has.
        let strict = state("robustBufferAccess2") && state("robustImageAccess2");
        let lavapipe = identity["device"].as_str().unwrap().contains("llvmpipe");
        assert!(strict == on[1] || setting == "best" && !lavapipe, "{setting}: {identity:#}");
    }
    let text = plain.replace("level = \"A\"", "level = \"A\"\nrobustness = \"strickt\"");
    write(&project, "vkcert.toml", text);
    let refused = certify(&project, &folder.path().join("none"), &[], 2);
    assert_eq!(refused["error"]["hint"], "did you mean `strict`?");
}

#[test]
fn two_runs_give_byte_identical_evidence() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    certify(&root(), &one, &[], 0);
    certify(&root(), &two, &["--jobs", "1"], 0);
    let mut compared = 0;
    for entry in std::fs::read_dir(one.join("evidence")).unwrap() {
        let path = entry.unwrap().path();
        let other = two.join("evidence").join(path.file_name().unwrap());
        assert_eq!(
            std::fs::read(&path).unwrap(),
            std::fs::read(other).unwrap(),
            "{}",
            path.display()
        );
        compared += 1;
    }
    assert!(compared >= 6);
    assert_eq!(
        std::fs::read(one.join("report.pdf")).unwrap(),
        std::fs::read(two.join("report.pdf")).unwrap()
    );
}

#[test]
fn tampered_evidence_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    certify(&root(), &out, &["--engine", "sequential"], 0);
    let evidence = out.join("evidence");
    let extra = evidence.join("stray.json");
    std::fs::write(&extra, "{}").unwrap();
    run(vkcert().arg("verify").arg(&evidence), 1);
    std::fs::remove_file(&extra).unwrap();
    // A record that claims more than was seen, with the manifest adjusted to it: hashes alone would
    // not show it.
    forge(&evidence, "kernel-matmul_naive-sequential.json", |kernel| {
        let statement = &mut kernel["coverage"]["summary"][0];
        statement["covered"] = Value::from(statement["covered"].as_u64().unwrap() + 1);
    });
    let output = run(vkcert().arg("verify").arg(&evidence), 1);
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("matmul_naive"), "{said}");
}

/// Evidence of the small project that says of a failed test that it passed.
fn unverified(folder: &Path) -> std::path::PathBuf {
    let out = folder.join("out");
    let mut command = vkcert();
    command.arg("certify").arg(root().join("tests/projects/failing")).args([
        "--engine",
        "sequential",
        "--quiet",
    ]);
    run(command.arg("--out").arg(&out), 1);
    forge(&out.join("evidence"), "campaign.json", |campaign| {
        campaign["tests"][0]["results"][0]["verdict"] = "pass".into();
    });
    out.join("evidence")
}

const STAMP: &str = "NOT VERIFIED: this evidence does not verify";

#[test]
fn a_report_of_evidence_that_does_not_verify_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = unverified(folder.path());
    let file = folder.path().join("report");
    for format in ["terminal", "json", "html", "pdf"] {
        let mut command = vkcert();
        command.arg("report").arg(&evidence).args(["--report-format", format]);
        let printed = run(&mut command, 1);
        assert_eq!(String::from_utf8_lossy(&printed.stdout), "", "{format}");
        let told = String::from_utf8_lossy(&printed.stderr).into_owned();
        assert!(
            told.contains("the evidence does not verify: ") && told.contains("campaign.json"),
            "{told}"
        );
        run(command.arg("--output").arg(&file), 1);
        assert!(!file.exists(), "{format}");
    }
    let refused =
        run_json(vkcert().arg("report").arg(&evidence).args(["--report-format", "html"]), 1);
    assert_eq!(refused["error"]["kind"], "unverified");
    assert_ne!(refused["problems"], Value::Array(Vec::new()));
}

#[test]
fn a_report_of_evidence_that_does_not_verify_is_stamped_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let evidence = unverified(folder.path());
    let rendered = |format: &str| {
        let mut command = vkcert();
        command.arg("report").arg(&evidence).args(["--report-format", format, "--unverified"]);
        run(&mut command, 1).stdout
    };
    let terminal = String::from_utf8(rendered("terminal")).unwrap();
    assert_eq!(terminal.matches(STAMP).count(), 2, "at the top and at the end: {terminal}");
    let html = String::from_utf8(rendered("html")).unwrap();
    // What is fixed stands on every page that a browser prints.
    assert!(
        html.contains(&format!("<p class=\"stamp\" role=\"alert\"><strong>{STAMP}</strong>")),
        "{html}"
    );
    assert!(html.contains(".stamp { position: fixed;"));
    let json: Value = serde_json::from_slice(&rendered("json")).unwrap();
    assert_eq!(json["verified"], false);
    assert_ne!(json["problems"], Value::Array(Vec::new()));
    assert!(rendered("pdf").starts_with(b"%PDF"));
}

#[test]
fn a_test_without_requirement_covers_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("minimal");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let file = project.join("requirements/double.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let link: Vec<&str> = text.lines().filter(|line| line.starts_with("requirements = ")).collect();
    assert!(!link.is_empty(), "{text}");
    let unlinked: Vec<&str> = text.lines().filter(|line| !link.contains(line)).collect();
    std::fs::write(&file, unlinked.join("\n")).unwrap();
    let campaign =
        certify(&project, &folder.path().join("reports"), &["--engine", "sequential"], 1);
    let rows = campaign["conclusion"]["summary"][0]["criteria"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["covered"] == 0), "{rows:#?}");
    run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")), 0);
}

/// A project whose kernel is an `else if` chain of `links` links (the SPIR-V validator takes
/// minutes for a thousand).
fn chain_project(folder: &Path, links: usize) {
    copy_tree(&root().join("tests/projects/minimal"), folder);
    let mut source = String::from(
        "#version 450\nlayout(local_size_x = 4) in;\nlayout(set = 0, binding = 0) buffer Values { uint values[]; };\n\
         layout(push_constant) uniform Parameters { uint count; };\nvoid main() {\n    uint i = gl_GlobalInvocationID.x;\n    ",
    );
    for link in 0..links {
        source.push_str(&format!(
            "if (i + count == {}u) {{ values[i] = {link}u; }}\n    else ",
            link + 3
        ));
    }
    source.push_str("{ values[i] = 7u; }\n}\n");
    write(folder, "glsl/double.comp", source);
    let file = folder.join("requirements").join(
        std::fs::read_dir(folder.join("requirements"))
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .file_name(),
    );
    let text = std::fs::read_to_string(&file).unwrap().replace("[2, 4, 6, 4]", "[0, 1, 2, 3]");
    std::fs::write(&file, text).unwrap();
}

#[test]
fn evidence_of_a_long_chain_and_of_deep_nesting_is_read_back() {
    let mut sizes = Vec::new();
    for links in [60, 240] {
        let folder = tempfile::tempdir().unwrap();
        chain_project(&folder.path().join("project"), links);
        let out = folder.path().join("reports");
        certify(&folder.path().join("project"), &out, &["--engine", "sequential"], 1);
        let evidence = out.join("evidence");
        run(vkcert().arg("verify").arg(&evidence), 0);
        run(
            vkcert().arg("report").arg(&evidence).args([
                "--report-format",
                "json",
                "-o",
                "/dev/null",
            ]),
            0,
        );
        let file = evidence.join("kernel-double-sequential.json");
        sizes.push(std::fs::metadata(file).unwrap().len());
    }
    assert!(sizes[1] < 5 * sizes[0], "the size grows with the length alone: {sizes:?}");
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let source = std::fs::read_to_string(project.join("glsl/double.comp")).unwrap();
    let deep = format!(
        "{}values[i] = 2u * values[i];{}",
        "if (count > 0u) { ".repeat(60),
        " }".repeat(60)
    );
    write(&project, "glsl/double.comp", source.replace("values[i] = 2u * values[i];", &deep));
    let out = folder.path().join("reports");
    certify(&project, &out, &["--engine", "sequential"], 1);
    run(vkcert().arg("verify").arg(out.join("evidence")), 0);
}

#[test]
fn evidence_nested_beyond_every_kernel_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("reports");
    certify(&root().join("tests/projects/minimal"), &out, &["--engine", "sequential"], 0);
    let file = out.join("evidence/kernel-double-sequential.json");
    std::fs::write(&file, "[".repeat(10_000_000)).unwrap();
    let report = ["--report-format", "terminal"];
    let result = run_json(vkcert().arg("report").arg(out.join("evidence")).args(report), 2);
    assert!(result["error"]["message"].as_str().unwrap().contains("nested"), "{result:#}");
}

#[test]
fn an_unwritable_output_folder_is_found_before_any_test_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "taken", "not a folder");
    // The endless project would take its whole time limit.
    let started = std::time::Instant::now();
    let endless = ["--engine", "sequential", "--quiet", "--max-steps", "100000000000"];
    let result = certify(&root().join("tests/projects/endless"), &file, &endless, 3);
    assert!(result["error"]["message"].as_str().unwrap().contains("taken"), "{result:#}");
    let below = file.join("reports");
    let result = certify(&root().join("tests/projects/endless"), &below, &endless, 3);
    assert!(result["error"]["file"].as_str().unwrap().contains("taken"), "{result:#}");
    assert!(started.elapsed().as_secs() < 60, "the tests ran first");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "not a folder");
}

fn justified(obligation: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    copy_tree(&root().join("tests/projects/minimal"), &project);
    let text = format!(
        "schema = 1\n\n[[justification]]\nkernel = \"double\"\nobligation = \"{obligation}\"\nclass = \"analysis\"\n\
         reason = \"r\"\nauthor = \"a\"\napprover = \"b\"\nhash = \"sha256:{}\"\n",
        "0".repeat(64)
    );
    write(&project, "requirements/justified.toml", text);
    (folder, project)
}

#[test]
fn a_justification_of_an_obligation_that_does_not_exist_is_a_wrong_input() {
    let (folder, project) = justified("D1.TT");
    let result = certify(&project, &folder.path().join("reports"), &["--engine", "sequential"], 2);
    assert_eq!(
        (&result["error"]["kind"], &result["error"]["line"]),
        (&"unknown-id".into(), &5.into()),
        "{result:#}"
    );
    assert!(result["error"]["hint"].as_str().unwrap().contains("D1.T"), "{result:#}");
    // One whose obligation has other content is stale: a failed result, not a wrong input.
    let (folder, project) = justified("D1.T");
    let result = certify(&project, &folder.path().join("reports"), &["--engine", "sequential"], 1);
    assert!(
        result["conclusion"]["reasons"][0].as_str().unwrap().contains("stale"),
        "{:#}",
        result["conclusion"]
    );
}

/// The library does what the program does, and runs no device without a program for it.
#[test]
fn a_campaign_without_the_program_seals_the_same_evidence() {
    use vkcert::campaign::certification::{CampaignRequest, certify};
    use vkcert::campaign::plan::{EngineChoice, EngineRequest, RunPlan};
    use vkcert::campaign::{CampaignError, project};
    for (name, exit) in [("configurations", 1), ("failing", 1), ("minimal", 0)] {
        let folder = root().join("tests/projects").join(name);
        let out = tempfile::tempdir().unwrap();
        let program = ["--engine", "sequential", "--out", out.path().to_str().unwrap()];
        let by_program = run_json(vkcert().arg("certify").arg(&folder).args(program), exit);
        let request = |engines: EngineRequest| CampaignRequest {
            plan: RunPlan { engines, ..RunPlan::default() },
            ..CampaignRequest::default()
        };
        let sequential = request(EngineRequest::Explicit(EngineChoice::Sequential));
        let sealed = certify(project::load_project(&folder).unwrap(), &sequential).unwrap();
        assert_eq!(sealed.evidence.root().unwrap(), by_program["root"].as_str().unwrap(), "{name}");
        for (file, bytes) in &sealed.files {
            assert_eq!(
                *bytes,
                std::fs::read(out.path().join("evidence").join(file)).unwrap(),
                "{name}: {file}"
            );
        }
        let without_worker =
            certify(project::load_project(&folder).unwrap(), &CampaignRequest::default()).unwrap();
        let reasons: Vec<_> = without_worker
            .evidence
            .campaign
            .engines
            .iter()
            .map(|row| row.reason.as_deref())
            .collect();
        assert_eq!(reasons, [None, Some("no program is named that runs a device")]);
        let demanded = request(EngineRequest::Explicit(EngineChoice::Both));
        let refused = certify(project::load_project(&folder).unwrap(), &demanded).err().unwrap();
        assert!(matches!(refused, CampaignError::Unavailable { .. }), "{refused}");
    }
    let wrong = project::load_project(&root().join("tests/projects")).err().unwrap();
    assert!(matches!(wrong, CampaignError::Input(_)), "{wrong}");
}

#[test]
fn reports_for_other_programs_name_the_lines_and_are_red_beside_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (folder.path().join("project"), folder.path().join("out"));
    run(vkcert().arg("init").arg(&project), 0);
    let place_of = |file: &str, words: &str| {
        let text = std::fs::read_to_string(project.join(file)).unwrap();
        let index = text.lines().position(|line| line.contains(words)).unwrap();
        format!("{}:{}:", project.join(file).display(), index + 1)
    };
    let lines = |exit: i32, form: &str| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential", "--format", form]);
        let output = command.arg("--out").arg(&out).args(["--report", "junit,sarif"]).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(exit));
        String::from_utf8(output.stdout).unwrap()
    };
    let report = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    assert_eq!(lines(0, "short"), "");
    assert!(!report("junit.xml").contains("<failure"));
    let kernel = std::fs::read_to_string(project.join("glsl/scale.comp")).unwrap();
    let never = "    if (value == 77.0) { value = 1.0; }\n    result[i] = value;";
    write(&project, "glsl/scale.comp", kernel.replace("    result[i] = value;", never));
    let tests = std::fs::read_to_string(project.join("requirements/scale.toml")).unwrap();
    write(&project, "requirements/scale.toml", tests.replace("[0, 10, 0, 10,", "[0, 10, 0, 11,"));
    let short = lines(1, "short");
    let failed = format!("{}6: test-failed: ", place_of("requirements/scale.toml", "TC-SCALE-02"));
    let uncovered = format!("{}26: uncovered-statement: ", place_of("glsl/scale.comp", "77.0"));
    for start in [failed, uncovered] {
        assert!(short.lines().any(|line| line.starts_with(&start)), "{start}: {short}");
    }
    assert!(lines(1, "github").contains("::error file="));
    assert!(report("junit.xml").contains("<failure type=\"fail\""));
    let sarif: Value = serde_json::from_str(&report("report.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["invocations"][0]["exitCode"], 1);
    write(&project, "vkcert.toml", "schema = 1\n\nnmae = 1\n");
    let start = format!("{}:3:1: unknown-key: ", project.join("vkcert.toml").display());
    assert!(lines(2, "short").lines().any(|line| line.starts_with(&start)));
    let mut refused = vkcert();
    run(refused.arg("build").arg(&project).args(["--format", "short"]), 2);
}
