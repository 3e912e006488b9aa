//! `vkcert mutate`: mutants are judged alike in one module and in modules of their own; what tests do
//! not look at survives; what means nothing is refused.

use crate::small_verifier::verifier;
use crate::support::{copy_tree, forge, root, run, run_json, vkcert, write};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

fn mutants<'m>(mutation: &'m Value, kernel: &str) -> &'m Vec<Value> {
    let kernels = mutation["kernels"].as_array().unwrap();
    let row = kernels.iter().find(|row| row["kernel"] == kernel).expect("the kernel is listed");
    row["mutants"].as_array().unwrap()
}

/// What a mutant came to: its status, and whether an expectation noticed it. Which finding or limit did
/// so besides can differ: the steps of the two forms do.
fn result(mutant: &Value) -> (String, Value) {
    let status = mutant["status"].as_str().unwrap().to_owned();
    (status, Value::from(mutant["killed_by"] == "expectation"))
}

fn assert_judged_alike(kernels: &[&str]) {
    let mutate = |options: &[&str]| {
        let mut command = vkcert();
        command.arg("mutate").arg(root()).args(options);
        kernels.iter().for_each(|kernel| {
            command.args(["--kernel", kernel]);
        });
        run_json(&mut command, 0)
    };
    let (together, each) = (mutate(&["--one-module", "--matrix"]), mutate(&["--matrix"]));
    let mut differing = Vec::new();
    let mut unreached = 0;
    for kernel in kernels {
        let each_mutant = mutants(&each, kernel);
        for (together, each) in mutants(&together, kernel).iter().zip(each_mutant) {
            assert_eq!((&together["number"], &together["diff"]), (&each["number"], &each["diff"]));
            unreached += unreached_tests_that_ran(together, each);
            // A duplicate does what the mutant that it is compared with does.
            let first = each_mutant.iter().find(|row| row["number"] == each["same_as"]);
            let each = first.unwrap_or(each);
            let number = &together["number"];
            let (together, each) = (result(together), result(each));
            if together != each {
                differing.push(format!("{kernel}, mutant {number}: {together:?} and {each:?}"));
            }
        }
        let notes = |value: &Value| {
            let kernels = value["kernels"].as_array().unwrap();
            kernels.iter().map(|row| row["notes"].clone()).collect::<Vec<_>>()
        };
        // Each kernel does the same with and without its mutants.
        assert!(notes(&together).iter().all(|notes| notes.as_array().unwrap().is_empty()));
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert!(unreached > 100, "{unreached}");
}

/// How many tests do not reach a mutant. In the module with all mutants they run, and notice nothing.
fn unreached_tests_that_ran(together: &Value, each: &Value) -> usize {
    let verdicts = each["tests"].as_object().into_iter().flatten();
    let unreached = verdicts.filter(|(_, verdict)| **verdict == "not-reached");
    let of_both = unreached.map(|(test, _)| &together["tests"][test]);
    // Some are in a module of their own there, too.
    let ran = of_both.filter(|verdict| **verdict != "not-reached");
    ran.map(|verdict| assert_eq!(verdict, "not-noticed", "{together:#}")).count()
}

#[test]
fn mutants_are_judged_alike_in_one_module_and_in_modules_of_their_own() {
    assert_judged_alike(&["matmul_tiled", "histogram", "prefix_sum"]);
}

#[test]
#[ignore = "compiles five thousand mutants; run by `make soak`"]
fn mutants_of_the_whole_demonstration_are_judged_alike() {
    assert_judged_alike(&[
        "matmul_naive",
        "matmul_tiled",
        "histogram",
        "convolution",
        "prefix_sum",
        "fir_filter",
        "fft",
        "aes_round",
        "softmax",
        "wavelet",
        "rice_coder",
        "star_centroid",
        "bad_pixels",
    ]);
}

const KERNEL: &str = "#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Sums { uint sums[]; };
layout(set = 0, binding = 2, std430) writeonly buffer Products { uint products[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    sums[i] = values[i] + 3u;
    products[i] = values[i] * 5u;
}
";

const SETTINGS: &str = r#"schema = 1
name = "two outputs"
level = "C"

[[kernel]]
name = "both"
source = "glsl/both.comp"
"#;

const REQUIREMENTS: &str = r#"schema = 1

[[requirement]]
uid = "LLR-1"
level = "HLR"
title = "Sums and products"
statement = "The kernel shall store the sums and the products."
verification = ["test"]

[[test]]
id = "TC-1"
requirements = ["LLR-1"]
buffers = { values = { type = "uint", data = [1, 2, 3, 4] }, sums = { type = "uint", fill = { constant = 0 }, count = 4 }, products = { type = "uint", fill = { constant = 0 }, count = 4 } }
dispatches = [{ kernel = "both", groups = [1, 1, 1], bindings = [{ set = 0, binding = 0, buffer = "values" }, { set = 0, binding = 1, buffer = "sums" }, { set = 0, binding = 2, buffer = "products" }] }]
expect = [
    { buffer = "sums", type = "uint", values = [4, 5, 6, 7] },
    PRODUCTS
]
"#;

const PRODUCTS: &str = r#"{ buffer = "products", type = "uint", values = [5, 10, 15, 20] },"#;

/// A project whose test looks at the products as it is said.
fn project_with(folder: &Path, products: &str) {
    write(folder, "vkcert.toml", SETTINGS);
    write(folder, "glsl/both.comp", KERNEL);
    write(folder, "requirements/both.toml", REQUIREMENTS.replace("PRODUCTS", products));
}

fn surviving_lines(folder: &Path) -> BTreeSet<u64> {
    let mutation = run_json(vkcert().arg("mutate").arg(folder), 0);
    let survivors =
        mutants(&mutation, "both").iter().filter(|mutant| mutant["status"] == "survived");
    survivors.map(|mutant| mutant["line"].as_u64().unwrap()).collect()
}

#[test]
fn what_no_expectation_looks_at_survives_at_its_place() {
    let whole = tempfile::tempdir().unwrap();
    project_with(whole.path(), PRODUCTS);
    let survivors = surviving_lines(whole.path());
    assert!(!survivors.contains(&9), "{survivors:?}");
    let partly = tempfile::tempdir().unwrap();
    project_with(partly.path(), "");
    let survivors = surviving_lines(partly.path());
    assert!(survivors.contains(&9), "{survivors:?}");
    let text = run(vkcert().arg("mutate").arg(partly.path()), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(
        text.contains("-    products[i] = values[i] * 5u;\n+    products[i] = values[i] / 5u;\n")
    );
}

/// The kernel with a case that no value of the test brings about, in lines of its own.
fn kernel_with_rare_case() -> String {
    let rare = "    if (values[i] > 100u) {
        sums[i] = values[i] / 2u;
        products[i] = 9u;
    }
}
";
    KERNEL.strip_suffix("}\n").unwrap().to_owned() + rare
}

#[test]
fn what_no_test_reaches_is_told_by_its_lines() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    write(folder.path(), "glsl/both.comp", kernel_with_rare_case());
    let mutation = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    let rare = |mutant: &&Value| (11..=12).contains(&mutant["line"].as_u64().unwrap());
    let made = mutants(&mutation, "both");
    let of_case: Vec<&Value> = made.iter().filter(rare).collect();
    assert!(of_case.len() > 8, "{mutation:#}");
    for mutant in &of_case {
        let status = mutant["status"].as_str().unwrap();
        assert!(["no-coverage", "duplicate", "equivalent"].contains(&status), "{mutant:#}");
    }
    for mutant in made.iter().filter(|mutant| !rare(mutant)) {
        assert_ne!(mutant["status"], "no-coverage", "{mutant:#}");
    }
    let counts = &mutation["summary"]["counts"];
    let place = &mutation["kernels"][0]["unreached"];
    assert_eq!(
        *place,
        serde_json::json!([{ "file": "glsl/both.comp", "first_line": 11, "first_column": 9, "last_line": 12, "mutants": counts["no_coverage"] }])
    );
    // They count, and nobody killed them.
    let score = &mutation["score"];
    let open = counts["no_coverage"].as_u64().unwrap() + counts["survived"].as_u64().unwrap();
    assert_eq!(score["judged"].as_u64().unwrap() - score["killed"].as_u64().unwrap(), open);
    let text = run(vkcert().arg("mutate").arg(folder.path()), 0).stdout;
    let line = format!(
        "no-coverage glsl/both.comp:11-12: mutants of kernel both: {}; no test executes what is changed there\n",
        counts["no_coverage"]
    );
    assert!(String::from_utf8(text).unwrap().contains(&line));

    // In evidence, and in the reports made of it.
    let out = folder.path().join("out");
    let campaign = certify_with_mutants(folder.path(), &out, 1);
    assert_eq!(campaign["mutation"]["counts"]["no_coverage"], counts["no_coverage"]);
    let evidence = out.join("evidence");
    let verified = run_json(vkcert().arg("verify").arg(&evidence).arg("--replay"), 0);
    assert_eq!(verified["problems"], serde_json::json!([]));
    let report = run(vkcert().arg("report").arg(&evidence).args(["--report-format", "html"]), 0);
    let html = String::from_utf8(report.stdout).unwrap();
    assert!(html.contains("Mutants that no test reaches") && html.contains("glsl/both.comp:11-12"));

    // A value that brings the case about kills them.
    let requirements = REQUIREMENTS.replace("PRODUCTS", PRODUCTS);
    let requirements = requirements
        .replace("[1, 2, 3, 4]", "[1, 2, 3, 200]")
        .replace("[4, 5, 6, 7]", "[4, 5, 6, 100]")
        .replace("[5, 10, 15, 20]", "[5, 10, 15, 9]");
    write(folder.path(), "requirements/both.toml", requirements);
    let mutation = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    assert_eq!(mutation["summary"]["counts"]["no_coverage"], 0);
    assert_eq!(mutation["kernels"][0]["unreached"], serde_json::json!([]));
}

#[test]
fn other_contents_that_no_expectation_looks_at_are_told_and_contradict_a_justification() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), "");
    let out = folder.path().join("out");
    let justify_and_certify = |text: &str| {
        write(folder.path(), "requirements/mutants.toml", text);
        let _ = std::fs::remove_dir_all(&out);
        certify_with_mutants(folder.path(), &out, 1)
    };
    justify_and_certify("schema = 1\n");
    let text = run(vkcert().arg("mutate").arg(folder.path()), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    let words = ": other contents of `products` in TC-1, and no expectation fails\n";
    assert!(text.contains(words), "{text}");
    let rows = listed(folder.path(), &out);
    let row = rows.iter().find(|row| row["text"] == "* → /").expect("it survives");
    let (id, hash) = (row["id"].as_str().unwrap(), row["hash"].as_str().unwrap());
    let verdict = |campaign: &Value| campaign["justifications"][0]["rejected"].clone();
    let of_kernel = |class| justification(id, class, hash).replace("clamped", "both");
    let rejected = verdict(&justify_and_certify(&of_kernel("infeasible")));
    let rejected = rejected.as_str().expect("it is contradicted");
    assert!(
        rejected.starts_with("contradicted: other contents of `products` in TC-1"),
        "{rejected}"
    );
    // Another class does not say that nothing differs.
    assert_eq!(verdict(&justify_and_certify(&of_kernel("analysis"))), Value::Null);
    let html =
        run(vkcert().arg("report").arg(out.join("evidence")).args(["--report-format", "html"]), 0);
    assert!(
        String::from_utf8(html.stdout)
            .unwrap()
            .contains("other contents of <code class=\"id\">products</code> in TC-1")
    );
}

/// A project of one kernel with one test, which gives four invocations `v`, `o` of 32 and `d`.
fn project_of_kernel(folder: &Path, declarations: &str, body: &str, test: &str) {
    let kernel = format!(
        "#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) buffer V {{ uint v[]; }};
layout(set = 0, binding = 1, std430) buffer O {{ uint o[]; }};
{declarations}
void main() {{
    uint i = gl_GlobalInvocationID.x;
{body}
}}
"
    );
    let (head, _) = REQUIREMENTS.split_once("[[test]]").unwrap();
    let bindings = "[{ set = 0, binding = 0, buffer = \"v\" }, { set = 0, binding = 1, buffer = \"o\" }, { set = 0, binding = 2, buffer = \"d\" }]";
    let test = format!(
        "{head}[[test]]\nid = \"TC-1\"\nrequirements = [\"LLR-1\"]\n{test}\n\
         dispatches = [{{ kernel = \"both\", groups = [1, 1, 1], bindings = {bindings} }}]\n"
    );
    write(folder, "vkcert.toml", SETTINGS);
    write(folder, "glsl/both.comp", kernel);
    write(folder, "requirements/both.toml", test);
}

#[test]
fn what_becomes_of_a_mutant_does_not_depend_on_which_others_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    // Without the atomic operation that no invocation comes to, the engine follows the order of accesses otherwise.
    project_of_kernel(
        folder.path(),
        "layout(set = 0, binding = 2, std430) coherent buffer D { uint flag; uint data; uint q[]; };",
        "    if (i == 0u) { data = 7u; memoryBarrierBuffer(); atomicAdd(flag, 1u); }
    else { atomicAdd(flag, 1u); memoryBarrierBuffer(); o[i] = data; }
    if (v[i] > 100u) {
        uint t = atomicAdd(flag, 5u);
        o[i + 4u] = t;
    }",
        "buffers = { v = { type = \"uint\", data = [1, 2, 3, 4] }, o = { type = \"uint\", fill = { constant = 0 }, count = 32 }, d = { type = \"uint\", fill = { constant = 0 }, count = 12 } }
expect = [{ buffer = \"o\", type = \"uint\", values = [0, 7, 7, 7] }]",
    );
    let mutate =
        |options: &[&str]| run_json(vkcert().arg("mutate").arg(folder.path()).args(options), 0);
    let all = mutate(&["--matrix"]);
    let mut compared = 0;
    for options in [
        &["--operator", "AR"][..],
        &["--operator", "AR,SYR"],
        &["--operator", "SDL"],
        &["--sample", "20", "--seed", "3"],
    ] {
        let some = mutate(options);
        for mutant in mutants(&some, "both").iter().filter(|mutant| mutant["tests"].is_object()) {
            let same = mutants(&all, "both").iter().find(|row| row["number"] == mutant["number"]);
            let same = same.unwrap();
            if same["tests"].is_object() {
                assert_eq!(mutant["tests"], same["tests"], "{options:?}: {mutant:#}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn an_order_that_is_left_open_is_no_other_contents() {
    let folder = tempfile::tempdir().unwrap();
    project_of_kernel(
        folder.path(),
        "layout(set = 0, binding = 2, std430) buffer L { uint n; uint list[]; };",
        "    if (v[i] < 3u) {
        list[atomicAdd(n, 1u)] = 1u + i * 100u;
    } else {
        list[atomicAdd(n, 1u)] = v[i] / 3u + 1u + i * 100u;
    }",
        "buffers = { v = { type = \"uint\", data = [2, 9, 1, 5] }, o = { type = \"uint\", fill = { constant = 0 }, count = 32 }, d = { type = \"uint\", fill = { constant = 0 }, count = 5 } }
expect = [{ buffer = \"d\", type = \"uint\", values = [4] }, { buffer = \"d\", type = \"uint\", offset = 4, order = \"any\", values = [1, 104, 201, 302] }]",
    );
    let mutation = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    // Both branches store the same; only the slots change.
    let made = mutants(&mutation, "both");
    let is_false = |mutant: &&Value| mutant["edits"][0]["new"] == "false";
    let never = made.iter().find(is_false).expect("a condition that is always false");
    assert_eq!(never["tests"]["TC-1"], "not-noticed", "{never:#}");
}

#[test]
fn operators_and_kernels_are_chosen_by_name() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let mutation =
        run_json(vkcert().arg("mutate").arg(folder.path()).args(["--operator", "mr"]), 0);
    let made = mutants(&mutation, "both");
    assert_eq!(made.len(), 2);
    assert!(
        made.iter().all(|mutant| mutant["operators"][0] == "MR" && mutant["status"] == "killed")
    );
    let error = run_json(vkcert().arg("mutate").arg(folder.path()).args(["--engine", "vulkan"]), 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("sequential"), "{error:#}");
    for wrong in [["--operator", "XYZ"], ["--kernel", "nobody"]] {
        let error = run_json(vkcert().arg("mutate").arg(folder.path()).args(wrong), 2);
        assert!(error["error"]["message"].as_str().unwrap().contains(wrong[1]), "{error:#}");
    }
}

#[test]
fn mutants_of_a_kernel_that_fails_by_itself_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), &PRODUCTS.replace("20", "21"));
    let error = run_json(vkcert().arg("mutate").arg(folder.path()), 2);
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("TC-1 does not pass by itself (fail)"), "{message}");
    assert!(!folder.path().join("reports").exists());
}

#[test]
fn mutants_of_included_files_and_of_definitions_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let settings = format!("{SETTINGS}defines = {{ FACTOR = \"5u\" }}\n");
    write(folder.path(), "vkcert.toml", settings);
    write(folder.path(), "glsl/step.glsl", "const uint STEP = 3u;\n");
    let head =
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"step.glsl\"\n";
    let kernel = KERNEL.replace("#version 450\n", head).replace("3u", "STEP");
    write(folder.path(), "glsl/both.comp", kernel.replace("5u", "FACTOR"));
    let mutation =
        run_json(vkcert().arg("mutate").arg(folder.path()).args(["--operator", "LIT"]), 0);
    let of_file = |file: &str| -> Vec<&Value> {
        mutants(&mutation, "both").iter().filter(|mutant| mutant["file"] == file).collect()
    };
    for file in ["glsl/step.glsl", "<defines>"] {
        let made = of_file(file);
        assert_eq!(made.len(), 4, "{file}: {mutation:#}");
        // 0, 1, one more and one less: each makes other sums or products.
        assert!(made.iter().all(|mutant| mutant["status"] == "killed"), "{file}: {made:#?}");
    }
}

fn certify_with_mutants(project: &Path, out: &Path, code: i32) -> Value {
    let mut command = vkcert();
    command.arg("certify").arg(project).args(["--engine", "sequential", "--mutation", "--out"]);
    run_json(command.arg(out), code)
}

#[test]
fn evidence_holds_what_each_test_made_of_each_mutant_and_verify_derives_the_score() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let second = REQUIREMENTS.split_once("[[test]]").unwrap().1.replace("TC-1", "TC-2");
    let requirements = REQUIREMENTS.replace("PRODUCTS", PRODUCTS);
    let both = format!("{requirements}\n[[test]]{}", second.replace("PRODUCTS", ""));
    write(folder.path(), "requirements/both.toml", both);
    let out = folder.path().join("out");
    // The project has no interface, which is an open item.
    let campaign = certify_with_mutants(folder.path(), &out, 1);
    let evidence = out.join("evidence");
    let kernel: Value =
        serde_json::from_slice(&std::fs::read(evidence.join("mutation-both.json")).unwrap())
            .unwrap();
    let rows = kernel["mutants"].as_array().unwrap();
    assert_eq!(kernel["population"], rows.len());
    let judged = rows.iter().filter(|mutant| mutant["runs"]["judged"].is_object());
    assert!(judged.clone().count() > 20);
    for mutant in judged {
        let tests: Vec<&String> = mutant["runs"]["judged"].as_object().unwrap().keys().collect();
        assert_eq!(tests, ["TC-1", "TC-2"], "the whole matrix is stored");
    }
    // Counted again from the rows.
    let count = |status: &str| rows.iter().filter(|mutant| mutant["status"] == status).count();
    let counts = &campaign["mutation"]["counts"];
    assert_eq!(counts["killed"], count("killed"));
    assert_eq!(counts["survived"], count("survived"));
    // The second test looks at less: it kills nothing that the first one does not.
    let tests = campaign["mutation"]["by_test"].as_array().unwrap();
    assert_eq!((&tests[0]["test"], &tests[1]["alone"]), (&"TC-1".into(), &0.into()));
    assert!(tests[0]["alone"].as_u64() > Some(0), "{tests:#?}");
    let requirement = &campaign["mutation"]["by_requirement"][0];
    assert_eq!(requirement["killed"], counts["killed"]);
    let verification = run_json(vkcert().arg("verify").arg(&evidence), 0);
    assert_eq!(verification["problems"], serde_json::json!([]));
    run_json(vkcert().arg("verify").arg(&evidence).arg("--replay"), 0);
    let report = run(vkcert().arg("report").arg(&evidence).args(["--report-format", "html"]), 0);
    let html = String::from_utf8(report.stdout).unwrap();
    assert!(html.contains("Mutation testing") && html.contains("Mutation score"));
}

#[test]
fn a_score_below_the_threshold_fails_and_the_report_names_the_place() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), "");
    let with_threshold = |threshold: &str| {
        let settings = format!("{SETTINGS}\n[mutation]\nthreshold = {threshold}\n");
        write(folder.path(), "vkcert.toml", settings);
    };
    with_threshold("10");
    run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    with_threshold("99.5");
    let low = run_json(vkcert().arg("mutate").arg(folder.path()), 1);
    assert_eq!(low["threshold"], 99.5);
    let text = run(vkcert().arg("mutate").arg(folder.path()), 1).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("below the threshold of 99.5 %"), "{text}");
    for refused in ["100.5", "-1", "nan"] {
        with_threshold(refused);
        let error = run_json(vkcert().arg("mutate").arg(folder.path()), 2);
        let file = error["error"]["file"].as_str().unwrap();
        assert!(file.ends_with("vkcert.toml"), "{error:#}");
    }
}

#[test]
fn a_sample_is_drawn_alike_and_tells_its_limits() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let sample = |seed: &str| {
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).args(["--sample", "10", "--seed", seed]);
        run_json(&mut command, 0)
    };
    let (first, again, other) = (sample("1"), sample("1"), sample("2"));
    assert_eq!(first, again);
    assert_eq!(mutants(&first, "both").len(), 10);
    assert_ne!(mutants(&first, "both"), mutants(&other, "both"));
    let interval = &first["score"]["interval"];
    let percent = first["score"]["percent"].as_f64().unwrap();
    assert!(interval["low"].as_f64().unwrap() < percent && interval["confidence"] == 95);
    let all = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    assert!(all["score"]["interval"].is_null());
    run(vkcert().arg("mutate").arg(folder.path()).args(["--seed", "2"]), 2);
    // As many as there are, or more, is no sample.
    let population = mutants(&all, "both").len();
    for count in [population, population + 1] {
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).args(["--sample", &count.to_string()]);
        assert_eq!(run_json(&mut command, 0), all);
    }
}

#[test]
fn some_mutants_alone_do_not_show_that_a_threshold_is_reached() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    write(folder.path(), "vkcert.toml", format!("{settings}\n[mutation]\nthreshold = 100\n"));
    let all = run_json(vkcert().arg("mutate").arg(folder.path()), 1);
    assert_eq!(all["reaches_threshold"], false);
    let killed = mutants(&all, "both").iter().find(|row| row["status"] == "killed").unwrap();
    let code = killed["operators"][0].as_str().unwrap();
    let of_code = |row: &&Value| row["operators"].as_array().unwrap().iter().any(|own| own == code);
    let alike = mutants(&all, "both").iter().filter(of_code);
    assert!(alike.clone().all(|row| row["status"] == "killed"), "{code}");
    let mut command = vkcert();
    let some = command.arg("mutate").arg(folder.path()).args(["--operator", code]);
    let some = run_json(some, 0);
    assert_eq!(
        (&some["score"]["percent"], &some["reaches_threshold"]),
        (&100.0.into(), &Value::Null)
    );
    let mut command = vkcert();
    let printed = run(command.arg("mutate").arg(folder.path()).args(["--operator", code]), 0);
    let printed = String::from_utf8(printed.stdout).unwrap();
    assert!(printed.contains(&format!(", of operator {code} alone;")), "{printed}");
    assert!(printed.contains("whether their score reaches it is not known"), "{printed}");
    let out = folder.path().join("out");
    let mut command = vkcert();
    command.arg("certify").arg(folder.path()).args(["--engine", "sequential", "--mutation"]);
    let campaign = run_json(command.args(["--operator", code, "--out"]).arg(&out), 1);
    let reasons = campaign["reasons"].to_string();
    assert!(!reasons.contains("mutation score"), "{reasons}");
    let notes = campaign["notes"].to_string();
    assert!(notes.contains(&format!("asked for of operator {code} alone")), "{notes}");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(html.contains(&format!("of operator {code} alone")));
    assert!(!html.contains("That reaches the threshold"));
}

#[test]
fn requirements_are_judged_by_their_own_tests() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let mutate = |requirement: &str, code: i32| {
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).args(["--requirement", requirement]);
        run_json(&mut command, code)
    };
    let judged = mutate("LLR-1", 0);
    assert_eq!(judged["summary"]["asked"]["requirements"], serde_json::json!(["LLR-1"]));
    let error = mutate("LLR-9", 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("LLR-9"), "{error:#}");
    let both = ["--requirement", "LLR-1", "--kernel", "both"];
    run(vkcert().arg("mutate").arg(folder.path()).args(both), 0);
    // Options of mutants, and a report of them, mean nothing where these are not asked for.
    let mut command = vkcert();
    command.arg("certify").arg(folder.path()).args(["--report", "mutants"]);
    let error = run_json(&mut command, 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("--mutation"), "{error:#}");
    let mut command = vkcert();
    command.arg("certify").arg(folder.path()).args(["--sample", "3"]);
    let error = run_json(&mut command, 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("--mutation"), "{error:#}");
}

#[test]
fn what_is_the_same_for_all_values_is_proved_equivalent() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let kernel = KERNEL.replace("values[i] + 3u", "(values[i] > 0u ? values[i] + 3u : 9u)");
    write(folder.path(), "glsl/both.comp", kernel);
    let mutation = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    let proved: Vec<&Value> =
        mutants(&mutation, "both").iter().filter(|mutant| mutant["proof"].is_string()).collect();
    let shown =
        |new: &str| proved.iter().any(|mutant| mutant["diff"].as_str().unwrap().contains(new));
    assert!(shown("+    sums[i] = (values[i] != 0u ?"), "{proved:#?}");
    assert!(proved.iter().all(|mutant| mutant["status"] == "equivalent"));
    // Above 0 and above 1 differ in a value that no test has: nothing proves that away.
    let survivors = mutants(&mutation, "both").iter().filter(|row| row["status"] == "survived");
    let survivors: Vec<&str> = survivors.map(|row| row["diff"].as_str().unwrap()).collect();
    assert!(survivors.iter().any(|diff| diff.contains("(values[i] >= 0u ?")), "{survivors:?}");
}

#[test]
fn mutants_that_are_compiled_to_one_module_count_once() {
    let options = ["--kernel", "prefix_sum", "--operator", "LIT,LST,LBO,ERT"];
    let mutation = run_json(vkcert().arg("mutate").arg(root()).args(options), 0);
    let rows = mutants(&mutation, "prefix_sum");
    let duplicates: Vec<&Value> =
        rows.iter().filter(|mutant| mutant["status"] == "duplicate").collect();
    // A literal that is one more, and the value that is stored and is one more.
    assert!(duplicates.len() >= 3, "{duplicates:#?}");
    for duplicate in &duplicates {
        let first = rows.iter().find(|row| row["number"] == duplicate["same_as"]).unwrap();
        assert!(first["number"].as_u64() < duplicate["number"].as_u64());
        assert!(first["tests"].is_object() && duplicate["tests"].is_null(), "{first:#?}");
        assert_ne!(first["diff"], duplicate["diff"]);
    }
    let counts = &mutation["summary"]["counts"];
    assert_eq!(counts["duplicate"], duplicates.len());
    let judged = rows.iter().filter(|mutant| mutant["tests"].is_object()).count();
    let uncounted = counts["equivalent"].as_u64().unwrap() + counts["accepted"].as_u64().unwrap();
    assert_eq!(mutation["score"]["judged"], judged - uncounted as usize);
}

#[test]
fn sizes_that_the_host_gives_tell_mutants_apart() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let kernel = KERNEL.replace("local_size_x = 4", "local_size_x_id = 0, local_size_y_id = 1");
    assert_ne!(kernel, KERNEL);
    write(folder.path(), "glsl/both.comp", kernel);
    let requirements = REQUIREMENTS.replace("PRODUCTS", PRODUCTS);
    let sized = requirements.replace(
        "groups = [1, 1, 1],",
        "groups = [1, 1, 1], specialization = { 0 = { type = \"uint\", value = 4 } },",
    );
    assert_ne!(sized, requirements);
    write(folder.path(), "requirements/both.toml", sized);
    let mutation =
        run_json(vkcert().arg("mutate").arg(folder.path()).args(["--operator", "AS"]), 0);
    for row in mutants(&mutation, "both") {
        assert_ne!(row["status"], "duplicate", "{row:#}");
    }
}

#[test]
fn certify_draws_a_sample_with_a_seed() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let certify = |seed: &str, out: &str| {
        let mut command = vkcert();
        command.arg("certify").arg(folder.path()).args(["--engine", "sequential", "--mutation"]);
        command.args(["--sample", "9", "--seed", seed, "--out"]).arg(folder.path().join(out));
        let campaign = run_json(&mut command, 1);
        run_json(vkcert().arg("verify").arg(folder.path().join(out).join("evidence")), 0);
        campaign["mutation"]["asked"]["sample"].clone()
    };
    assert_eq!(certify("5", "one"), serde_json::json!({ "count": 9, "seed": 5 }));
    // Without a sample it is the seed of schedules, of which none are asked for.
    let mut command = vkcert();
    command.arg("certify").arg(folder.path()).args(["--engine", "sequential", "--mutation"]);
    run(command.args(["--seed", "5"]), 2);
}

#[test]
fn kernels_that_have_not_changed_since_the_baseline_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/mutants"), folder.path());
    let second = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap()
        + "\n[[kernel]]\nname = \"both\"\nsource = \"glsl/both.comp\"\n";
    write(folder.path(), "vkcert.toml", second);
    write(folder.path(), "glsl/both.comp", KERNEL);
    let tests = REQUIREMENTS.replace("PRODUCTS", PRODUCTS).replace("LLR-1", "LLR-3");
    write(folder.path(), "requirements/both.toml", tests.replace("TC-1", "TC-3"));
    let out = folder.path().join("out");
    certify_with_mutants(folder.path(), &out, 0);
    let evidence = out.join("evidence");
    let mutate = || {
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).arg("--baseline").arg(&evidence);
        run_json(&mut command, 0)
    };
    let nothing = mutate();
    assert_eq!(nothing["unchanged"], serde_json::json!(["both", "clamped"]));
    assert_eq!(nothing["kernels"], serde_json::json!([]));
    let mut command = vkcert();
    command.arg("mutate").arg(folder.path()).arg("--baseline").arg(&evidence);
    let printed = run(command.args(["--kernel", "both"]), 0);
    let printed = String::from_utf8(printed.stdout).unwrap();
    let note = "nothing has changed since the baseline; its mutants count as they did there";
    assert!(printed.contains(&format!("note: kernel both: {note}")), "{printed}");
    assert!(!printed.contains("note: kernel clamped"), "{printed}");
    // They count as they did.
    let all = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    assert_eq!((&nothing["score"], &nothing["summary"]), (&all["score"], &all["summary"]));
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    let strict = settings.replace("threshold = 50", "threshold = 100");
    assert_ne!(strict, settings);
    write(folder.path(), "vkcert.toml", strict);
    let mut command = vkcert();
    command.arg("mutate").arg(folder.path()).arg("--baseline").arg(&evidence);
    assert_eq!(run_json(&mut command, 1)["reaches_threshold"], false);
    write(folder.path(), "vkcert.toml", settings);
    write(folder.path(), "glsl/both.comp", KERNEL.replace("* 5u", "* 5u * 1u"));
    let changed = mutate();
    assert_eq!(changed["unchanged"], serde_json::json!(["clamped"]));
    assert!(!mutants(&changed, "both").is_empty());
    // A test that looks at less is a change as well.
    write(folder.path(), "glsl/both.comp", KERNEL);
    let test = std::fs::read_to_string(folder.path().join("requirements/clamped.toml")).unwrap();
    let weaker = test.replace("values = [5, 6, 7, 8]", "values = [5, 6, 7]");
    assert_ne!(weaker, test);
    write(folder.path(), "requirements/clamped.toml", weaker);
    assert_eq!(mutate()["unchanged"], serde_json::json!(["both"]));
    let mut other = vkcert();
    other.arg("mutate").arg(root()).arg("--baseline").arg(&evidence);
    let error = run_json(&mut other, 2);
    assert!(error["error"]["message"].as_str().unwrap().contains("`Mutants`"), "{error:#}");
}

#[test]
fn mutants_are_reported_in_the_schema_of_other_programs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let project = root().join("tests/projects/mutants");
    let mut command = vkcert();
    command.arg("certify").arg(&project).args(["--engine", "sequential", "--mutation"]);
    run(command.args(["--report", "mutants", "--out"]).arg(&out), 0);
    let text = std::fs::read_to_string(out.join("mutants.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let file = &report["files"]["glsl/clamped.comp"];
    let source = file["source"].as_str().unwrap();
    let rows = file["mutants"].as_array().unwrap();
    let status = |word: &str| rows.iter().filter(|row| row["status"] == word).count();
    assert!(status("Killed") > 30 && status("Survived") > 0 && status("CompileError") > 0);
    let ids: BTreeSet<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rows.len());
    for row in rows {
        // The place is in the source, and what replaces it is another text.
        let at = |end: &str| {
            let place = &row["location"][end];
            let line = place["line"].as_u64().unwrap() as usize;
            let column = place["column"].as_u64().unwrap() as usize;
            let before: usize = source.split_inclusive('\n').take(line - 1).map(str::len).sum();
            before + column - 1
        };
        let (start, end) = (at("start"), at("end"));
        assert!(start <= end && end <= source.len(), "{row:#}");
        assert_ne!(row["replacement"], source[start..end]);
        if row["status"] == "Killed" {
            assert!(!row["killedBy"].as_array().unwrap().is_empty(), "{row:#}");
        }
    }
    assert_eq!(report["thresholds"]["high"], 50.0);
    assert_eq!(report["testFiles"]["requirements/clamped.toml"]["tests"][0]["id"], "TC-1");
}

/// The thesis of the operators' names has 6 of 11 removed barriers killed and 6 of 9 removals of
/// workgroup memory: where findings count, none is left.
#[test]
fn removed_barriers_and_private_tiles_of_the_literature_kernels_are_noticed() {
    let project = root().join("tests/projects/thesis_kernels");
    let mutation = run_json(vkcert().arg("mutate").arg(project).args(["--operator", "SYR,SHR"]), 0);
    let rows = mutation["summary"]["by_operator"].as_array().unwrap();
    for code in ["SYR", "SHR"] {
        let row = rows.iter().find(|row| row["operator"] == code).unwrap();
        assert!(row["counts"]["killed"].as_u64() > Some(10), "{row:#}");
        let open = (&row["counts"]["survived"], &row["counts"]["undecided"]);
        assert_eq!(open, (&0.into(), &0.into()));
    }
}

#[test]
fn pairs_of_killed_mutants_are_judged_beside_the_score() {
    let mut command = vkcert();
    command.arg("mutate").arg(root().join("tests/projects/mutants")).args(["--order", "2"]);
    let mutation = run_json(&mut command, 0);
    let killed: BTreeSet<u64> = mutants(&mutation, "clamped")
        .iter()
        .filter(|mutant| mutant["status"] == "killed")
        .map(|mutant| mutant["number"].as_u64().unwrap())
        .collect();
    let pairs = mutation["second_order"].as_array().unwrap();
    for relation in ["place", "data-flow"] {
        assert!(pairs.iter().filter(|pair| pair["relation"] == relation).count() > 5, "{relation}");
    }
    for pair in pairs {
        let parts = pair["parts"].as_array().unwrap();
        assert!(parts.iter().all(|part| killed.contains(&part.as_u64().unwrap())), "{pair}");
    }
    assert!(pairs.iter().filter(|pair| pair["status"] == "killed").count() * 2 > pairs.len());
    let alone = run_json(vkcert().arg("mutate").arg(root().join("tests/projects/mutants")), 0);
    assert_eq!(mutation["score"], alone["score"]);
    run(vkcert().arg("mutate").arg(root()).args(["--order", "3"]), 2);
    // One that no test noticed is shown with both changes.
    let printed = run(
        vkcert().arg("mutate").arg(root().join("tests/projects/mutants")).args(["--order", "2"]),
        0,
    );
    let printed = String::from_utf8(printed.stdout).unwrap();
    let told = "survived glsl/clamped.comp:11:56: mutants NCR.57 and LIT.66 of kernel clamped at once\n--- glsl/clamped.comp\n";
    assert!(printed.contains(told), "{printed}");
    let both =
        "+    clamped[i] = (value > 20u ? 20u : value) + (before <= 1u ? before * 100u : 0u);\n";
    assert!(printed.contains(both), "{printed}");
}

#[test]
fn evidence_holds_pairs_and_verify_finds_those_that_are_due() {
    let project = root().join("tests/projects/mutants");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let certify = |options: &[&str], code: i32| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential", "--out"]);
        run_json(command.arg(&out).args(options), code)
    };
    certify(&["--order", "2"], 2);
    let campaign = certify(&["--mutation", "--order", "2"], 0);
    let evidence = out.join("evidence");
    let stored = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(evidence.join(name)).unwrap()).unwrap()
    };
    let kernel = stored("mutation-clamped.json");
    let pairs = kernel["pairs"].as_array().unwrap();
    // They are those of `mutate`, and were judged alike.
    let mut command = vkcert();
    let mutation = run_json(command.arg("mutate").arg(&project).args(["--order", "2"]), 0);
    let listed =
        |pair: &Value| (pair["parts"].clone(), pair["relation"].clone(), pair["status"].clone());
    let printed = mutation["second_order"].as_array().unwrap().iter();
    let printed: Vec<_> = printed.filter(|pair| pair["kernel"] == "clamped").map(listed).collect();
    assert_eq!(pairs.iter().map(listed).collect::<Vec<_>>(), printed);
    let by_relation = campaign["mutation"]["by_relation"].as_array().unwrap();
    assert_eq!(by_relation.len(), 2, "{campaign:#}");
    let of_place = pairs.iter().filter(|pair| pair["relation"] == "place");
    let killed_of_place = of_place.filter(|pair| pair["status"] == "killed").count();
    assert!(by_relation[0]["counts"]["killed"].as_u64() >= Some(killed_of_place as u64));
    for options in [&[][..], &["--replay"]] {
        let verified = run_json(vkcert().arg("verify").arg(&evidence).args(options), 0);
        assert_eq!(verified["problems"], serde_json::json!([]));
    }
    let report = run(vkcert().arg("report").arg(&evidence).args(["--report-format", "html"]), 0);
    let report = String::from_utf8(report.stdout).unwrap();
    let (_, chapter) = report.split_once("Pairs that no test noticed").unwrap();
    let first = ["NCR.57", "clamped.comp:11:56<wbr></code>: ", "becomes"];
    for words in first {
        assert!(chapter.contains(words), "{words}");
    }
    let killed = pairs.iter().position(|pair| pair["status"] == "killed").unwrap();
    let whole = std::fs::read(evidence.join("mutation-clamped.json")).unwrap();
    for forged in forged_pairs(&kernel, killed) {
        forge(&evidence, "mutation-clamped.json", |kernel| *kernel = forged.clone());
        let verified = run_json(vkcert().arg("verify").arg(&evidence), 1);
        assert_ne!(verified["problems"], serde_json::json!([]), "{}", forged["pairs"]);
        // What numbers and counts tell is found without a compiler.
        run(verifier().arg("verify").arg(&evidence), 1);
        std::fs::write(evidence.join("mutation-clamped.json"), &whole).unwrap();
    }
    // Without a device nothing is noted but what a replay notes.
    let note = serde_json::json!(["a device judged them as well"]);
    forge(&evidence, "mutation-clamped.json", |kernel| kernel["engine_notes"] = note);
    let verified = run_json(vkcert().arg("verify").arg(&evidence).arg("--replay"), 1);
    assert_ne!(verified["problems"], serde_json::json!([]));
}

/// A kernel's mutants in which a pair is taken away, is of others, is said to survive, and has other verdicts.
fn forged_pairs(kernel: &Value, pair: usize) -> [Value; 4] {
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut kernel = kernel.clone();
        change(&mut kernel["pairs"]);
        kernel
    };
    [
        changed(&|pairs| drop(pairs.as_array_mut().unwrap().remove(pair))),
        changed(&|pairs| pairs[pair]["parts"] = serde_json::json!([1, 1])),
        changed(&|pairs| pairs[pair]["status"] = "survived".into()),
        changed(&|pairs| {
            let verdicts = pairs[pair]["runs"]["judged"].as_object_mut().unwrap();
            verdicts.values_mut().for_each(|verdict| *verdict = "not-noticed".into());
        }),
    ]
}

/// A justification of a mutant of the project `mutants`.
fn justification(mutant: &str, class: &str, hash: &str) -> String {
    let argument = match class {
        "infeasible" => "argument = \"Both give 20.\"\n",
        _ => "",
    };
    format!(
        "schema = 1\n[[justification]]\nkernel = \"clamped\"\nmutant = \"{mutant}\"\nclass = \"{class}\"\n{argument}\
         reason = \"It does what the kernel does.\"\nauthor = \"A. Author\"\napprover = \"B. Reviewer\"\nhash = \"{hash}\"\n"
    )
}

/// The rows of `vkcert list mutants` of evidence.
fn listed(project: &Path, out: &Path) -> Vec<Value> {
    let mut command = vkcert();
    command.args(["list", "mutants"]).arg(project).arg("--evidence").arg(out.join("evidence"));
    run_json(&mut command, 0).as_array().unwrap().clone()
}

#[test]
fn a_justification_accepts_the_mutant_of_its_name_and_content_alone() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    copy_tree(&root().join("tests/projects/mutants"), &project);
    let out = folder.path().join("out");
    let certify = |code: i32| {
        let _ = std::fs::remove_dir_all(&out);
        certify_with_mutants(&project, &out, code)["mutation"]["counts"].clone()
    };
    let rejected = || -> Value {
        let campaign = std::fs::read(out.join("evidence/campaign.json")).unwrap();
        let campaign: Value = serde_json::from_slice(&campaign).unwrap();
        campaign["justifications"][0]["rejected"].clone()
    };
    let justify = |text: &str| write(&project, "requirements/mutants.toml", text);
    justify("schema = 1\n");
    let before = certify(0);
    assert_eq!((&before["accepted"], &before["survived"]), (&0.into(), &5.into()));
    let rows = listed(&project, &out);
    let row = rows.iter().find(|row| row["text"] == "> → >=").expect("a survivor");
    let (id, hash) = (row["id"].as_str().unwrap(), row["hash"].as_str().unwrap());
    let other = rows.iter().find(|row| row["text"] == "20u → 19u").expect("another");

    justify(&justification(id, "infeasible", hash));
    let after = certify(0);
    assert_eq!((&after["accepted"], &after["survived"]), (&1.into(), &4.into()));
    assert_eq!(rejected(), Value::Null);
    let state = listed(&project, &out).into_iter().find(|row| row["id"] == id).unwrap();
    assert_eq!(state["state"], "accepted", "{state:#}");
    let verified = run_json(vkcert().arg("verify").arg(out.join("evidence")).arg("--replay"), 0);
    assert_eq!(verified["problems"], serde_json::json!([]));
    let mutation = run_json(vkcert().arg("mutate").arg(&project), 0);
    assert_eq!(mutation["summary"]["counts"]["accepted"], 1);

    // Text that moves and comments above change nothing.
    let kernel = project.join("glsl/clamped.comp");
    let text = std::fs::read_to_string(&kernel).unwrap();
    std::fs::write(&kernel, text.replace("void main", "// A comment.\n\nvoid main")).unwrap();
    assert_eq!(certify(0)["accepted"], 1);
    // Other code makes it stale.
    std::fs::write(&kernel, text.replace("* 100u", "* 50u * 2u")).unwrap();
    let stale = certify(1);
    assert_eq!(stale["accepted"], 0);
    assert!(rejected().as_str().unwrap().contains("stale"), "{}", rejected());
    std::fs::write(&kernel, &text).unwrap();

    // The hash of another mutant, and a mutant that a test kills.
    justify(&justification(id, "infeasible", other["hash"].as_str().unwrap()));
    assert_eq!(certify(1)["accepted"], 0);
    let told = format!("what was signed is mutant {}", other["id"].as_str().unwrap());
    assert!(rejected().as_str().unwrap().contains(&told), "{}", rejected());
    let killed = mutants(&mutation, "clamped").iter().find(|mutant| mutant["status"] == "killed");
    let killed = killed.unwrap()["id"].as_str().unwrap();
    justify(&justification(killed, "infeasible", hash));
    certify(1);
    assert!(rejected().as_str().unwrap().contains("what was signed is mutant"), "{}", rejected());
    let zeros = format!("sha256:{}", "0".repeat(64));
    for (class, word) in [("infeasible", "contradicted: TC-"), ("analysis", "not needed: TC-")] {
        justify(&justification(killed, class, &zeros));
        certify(1);
        assert!(rejected().as_str().unwrap().starts_with(word), "{}", rejected());
    }
}

#[test]
fn justifications_of_mutants_are_checked_before_anything_runs_and_not_judged_without_mutants() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    copy_tree(&root().join("tests/projects/mutants"), &project);
    let out = folder.path().join("out");
    let certify = |code: i32| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(["--engine", "sequential", "--out"]);
        run_json(command.arg(&out), code)
    };
    let campaign = certify(0);
    let row = &campaign["justifications"][0];
    assert_eq!(row["rejected"], Value::Null);
    assert!(row["not_judged"].as_str().unwrap().contains("no mutant of clamped"), "{row:#}");
    run_json(vkcert().arg("list").arg("mutants").arg(&project).arg("--evidence").arg(&out), 2);
    let zeros = format!("sha256:{}", "0".repeat(64));
    let accepted = justification("CBR.36", "infeasible", &zeros);
    for (text, told) in [
        (justification("CBR.999", "infeasible", &zeros), "no mutant `CBR.999`"),
        (justification("MR.36", "infeasible", &zeros), "mutant 36 is `CBR.36`"),
        (justification("CBR.36", "dead", &zeros), "not as dead"),
        (accepted.replace("mutant =", "obligation = \"S1\"\nmutant ="), "only one"),
        (format!("{accepted}configuration = \"default\"\n"), "all configurations"),
        (format!("{accepted}{}", accepted.replace("schema = 1", "")), "justified twice"),
    ] {
        write(&project, "requirements/mutants.toml", &text);
        let error = certify(2).to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
}

const CHAIN: &str = r#"schema = 1

[[requirement]]
uid = "LLR-1"
level = "HLR"
title = "Doubled and raised"
statement = "The kernels shall store each value doubled, and one more than that."
verification = ["test"]

[[test]]
id = "TC-1"
requirements = ["LLR-1"]
buffers = { values = { type = "uint", data = [1, 2, 3, 4, 5, 6, 7, 8] }, doubled = { type = "uint", fill = { constant = 0 }, count = 8 }, raised = { type = "uint", fill = { constant = 0 }, count = 8 }, kept = { type = "uint", fill = { constant = 7 }, count = 8 } }
expect = [{ buffer = "EXPECTED", type = "uint", values = [VALUES] }]

[[test.dispatches]]
kernel = "double"
groups = [2, 1, 1]
bindings = [{ set = 0, binding = 0, buffer = "values" }, { set = 0, binding = 1, buffer = "doubled" }]

[[test.dispatches]]
kernel = "raise"
groups = [2, 1, 1]
bindings = [{ set = 0, binding = 0, buffer = "doubled" }, { set = 0, binding = 1, buffer = "raised" }]

[[test.dispatches]]
kernel = "raise"
groups = [2, 1, 1]
bindings = [{ set = 0, binding = 0, buffer = "values" }, { set = 0, binding = 1, buffer = "kept" }]
"#;

/// A project with two kernels, of which the second reads what the first has stored, and the second once more on other
/// buffers.
fn chain_with(folder: &Path, expected: &str, values: &str) {
    let settings = "schema = 1\nname = \"Chain\"\nlevel = \"D\"\n\n[[kernel]]\nname = \"double\"\nsource = \"glsl/double.comp\"\n\n\
                    [[kernel]]\nname = \"raise\"\nsource = \"glsl/raise.comp\"\n";
    write(folder, "vkcert.toml", settings);
    for (name, result) in [("double", "* 2u"), ("raise", "+ 1u")] {
        let text = format!(
            "#version 450\nlayout(local_size_x = 4) in;\n\
             layout(set = 0, binding = 0, std430) readonly buffer In {{ uint values[]; }};\n\
             layout(set = 0, binding = 1, std430) writeonly buffer Out {{ uint results[]; }};\n\
             void main() {{\n    uint i = gl_GlobalInvocationID.x;\n    results[i] = values[i] {result};\n}}\n"
        );
        write(folder, &format!("glsl/{name}.comp"), text);
    }
    let text = CHAIN.replace("EXPECTED", expected).replace("VALUES", values);
    write(folder, "requirements/chain.toml", text);
}

/// The mutants of dispatches of a kernel, each with its operator and its first change.
fn of_dispatches<'m>(mutation: &'m Value, kernel: &str) -> Vec<(String, String, &'m Value)> {
    let own = mutants(mutation, kernel).iter();
    let own = own.filter(|mutant| mutant["file"].as_str().unwrap().ends_with(".toml"));
    let told = own.map(|mutant| {
        let operator = mutant["operators"][0].as_str().unwrap().to_owned();
        (operator, mutant["edits"][0]["new"].as_str().unwrap().to_owned(), mutant)
    });
    told.collect()
}

#[test]
fn counts_of_workgroups_are_mutated_in_the_dispatches_of_tests() {
    let folder = tempfile::tempdir().unwrap();
    chain_with(folder.path(), "raised", "3, 5, 7, 9, 11, 13, 15, 17");
    let mutation = run_json(vkcert().arg("mutate").arg(folder.path()), 0);
    let told = of_dispatches(&mutation, "double");
    let groups: Vec<(&str, &str)> =
        told.iter().map(|(operator, new, _)| (operator.as_str(), new.as_str())).collect();
    assert_eq!(
        groups,
        [
            ("AS", "[1, 2, 1]"),
            ("AS", "[1, 1, 2]"),
            ("AI", "[3, 1, 1]"),
            ("AI", "[2, 2, 1]"),
            ("AI", "[2, 1, 2]"),
            ("AD", "[1, 1, 1]"),
            ("AD", "[2, 0, 1]"),
            ("AD", "[2, 1, 0]"),
        ]
    );
    for (operator, new, mutant) in &told {
        assert_eq!(mutant["status"], "killed", "{operator} {new}: {mutant:#}");
        let by_expectation = operator == "AD" || new == "[1, 2, 1]" || new == "[1, 1, 2]";
        let due = if by_expectation { "expectation" } else { "finding" };
        assert_eq!(mutant["killed_by"], due, "{operator} {new}: {mutant:#}");
    }
    let mutant = told[0].2;
    assert_eq!((&mutant["line"], &mutant["column"]), (&18.into(), &10.into()));
    let diff = mutant["diff"].as_str().unwrap();
    assert!(diff.contains("-groups = [2, 1, 1]\n+groups = [1, 2, 1]\n"), "{diff}");
    // Both dispatches of the other kernel change together.
    let both = of_dispatches(&mutation, "raise");
    assert_eq!(both[0].2["edits"].as_array().unwrap().len(), 2);
}

#[test]
fn a_mutant_of_dispatches_is_judged_by_the_tests_that_have_its_fault() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    copy_tree(&root().join("tests/projects/mutants"), &project);
    write(&project, "requirements/mutants.toml", "schema = 1\n");
    // TC-1 alone has two workgroups, so that exchanging counts changes nothing in TC-2.
    let mutate = |options: &[&str]| {
        let mut command = vkcert();
        command.arg("mutate").arg(&project).args(["--operator", "AS", "--matrix"]).args(options);
        run_json(&mut command, 0)
    };
    let mutation = mutate(&[]);
    let told = of_dispatches(&mutation, "clamped");
    assert_eq!(told.len(), 2, "{mutation:#}");
    for (_, _, mutant) in told {
        let judging: Vec<&String> = mutant["tests"].as_object().unwrap().keys().collect();
        assert_eq!(judging, ["TC-1"], "{mutant:#}");
        assert_eq!(mutant["status"], "killed", "{mutant:#}");
    }
    assert!(of_dispatches(&mutate(&["--requirement", "LLR-2"]), "clamped").is_empty());
    assert_eq!(of_dispatches(&mutate(&["--requirement", "LLR-1"]), "clamped").len(), 2);
}

#[test]
fn a_justification_of_a_mutant_of_dispatches_signs_tests_and_other_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let (project, out) = (folder.path().join("project"), folder.path().join("out"));
    // What `raise` stores is not looked at, so that another count of it survives.
    chain_with(&project, "doubled", "2, 4, 6, 8, 10, 12, 14, 16");
    let accepted = |code: i32| {
        let _ = std::fs::remove_dir_all(&out);
        certify_with_mutants(&project, &out, code)["mutation"]["counts"]["accepted"].clone()
    };
    assert_eq!(accepted(0), 0);
    let rows = listed(&project, &out);
    let of_dispatch = |row: &&Value| row["place"].as_str().unwrap().contains(".toml");
    let row = rows.iter().find(of_dispatch).expect("a survivor");
    let (id, hash) = (row["id"].as_str().unwrap(), row["hash"].as_str().unwrap());
    let text =
        justification(id, "analysis", hash).replace("clamped", row["kernel"].as_str().unwrap());
    write(&project, "requirements/mutants.toml", &text);
    assert_eq!(accepted(0), 1);
    // A comment above moves the text, and another part of the campaign has the same names.
    let chain = project.join("requirements/chain.toml");
    let tests = std::fs::read_to_string(&chain).unwrap();
    std::fs::write(&chain, tests.replace("[[test]]", "# A comment.\n\n[[test]]")).unwrap();
    assert_eq!(accepted(0), 1);
    let mut command = vkcert();
    command.arg("certify").arg(&project).args([
        "--engine",
        "sequential",
        "--without",
        "TC-1",
        "--out",
    ]);
    let code = command.arg(&out).output().unwrap().status.code();
    assert_ne!(code, Some(2), "the names are known where the test is left out");
    // Other data, and another kernel in front.
    std::fs::write(&chain, tests.replace("constant = 7", "constant = 9")).unwrap();
    assert_eq!(accepted(1), 0);
    std::fs::write(&chain, &tests).unwrap();
    let double = project.join("glsl/double.comp");
    let kernel = std::fs::read_to_string(&double).unwrap();
    std::fs::write(&double, kernel.replace("* 2u", "+ values[i]")).unwrap();
    assert_eq!(accepted(1), 0);
}

#[test]
fn without_the_barrier_between_two_dispatches_they_race() {
    let folder = tempfile::tempdir().unwrap();
    let removed = |expected: &str, values: &str| {
        chain_with(folder.path(), expected, values);
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).args(["--operator", "SCR", "--kernel", "raise"]);
        run_json(&mut command, 0)
    };
    // The two dispatches of `raise` have nothing of which one is stored in common.
    let mutation = removed("raised", "3, 5, 7, 9, 11, 13, 15, 17");
    let told = of_dispatches(&mutation, "raise");
    assert_eq!(told.len(), 1, "{mutation:#}");
    let mutant = told[0].2;
    assert_eq!(mutant["edits"][0]["new"], "# no barrier in front of this dispatch\n");
    let verdict = serde_json::json!({ "noticed": ["expectation", { "finding": "data-race" }] });
    assert_eq!(mutant["tests"]["TC-1"], verdict, "{mutant:#}");
    // Whatever is expected, they race.
    let mutation = removed("doubled", "2, 4, 6, 8, 10, 12, 14, 16");
    let mutant = of_dispatches(&mutation, "raise")[0].2;
    let verdict = serde_json::json!({ "noticed": [{ "finding": "data-race" }] });
    assert_eq!(mutant["tests"]["TC-1"], verdict, "{mutant:#}");
    let out = folder.path().join("out");
    certify_with_mutants(folder.path(), &out, 0);
    let verified = run_json(vkcert().arg("verify").arg(out.join("evidence")).arg("--replay"), 0);
    assert_eq!(verified["problems"], serde_json::json!([]));
}

#[test]
fn dispatches_race_past_one_between_them_that_is_unordered_as_well() {
    let folder = tempfile::tempdir().unwrap();
    chain_with(folder.path(), "raised", "");
    let (head, _) = CHAIN.split_once("[[test]]").unwrap();
    // The third reads what the first writes, and neither has anything of the second.
    let buffers = "buffers = { first = { type = \"uint\", data = [1, 2, 3, 4, 5, 6, 7, 8] }, second = { type = \"uint\", fill = { constant = 0 }, count = 8 }, third = { type = \"uint\", fill = { constant = 0 }, count = 4 } }";
    let dispatch = |from: &str, to: &str| {
        format!("{{ kernel = \"double\", groups = [1, 1, 1], bindings = [{from}, {to}] }}")
    };
    let part = |binding: u32, buffer: &str, offset: u32| {
        format!(
            "{{ set = 0, binding = {binding}, buffer = \"{buffer}\", offset = {offset}, range = 16 }}"
        )
    };
    let dispatches = [
        dispatch(&part(0, "first", 0), &part(1, "second", 0)),
        dispatch(&part(0, "first", 16), &part(1, "second", 16)),
        dispatch(&part(0, "second", 0), &part(1, "third", 0)),
    ];
    let test = format!(
        "{head}[[test]]\nid = \"TC-1\"\nrequirements = [\"LLR-1\"]\n{buffers}\ndispatches = [{}]\n\
         expect = [{{ buffer = \"third\", values = [4, 8, 12, 16] }}]\n",
        dispatches.join(", ")
    );
    write(folder.path(), "requirements/chain.toml", test);
    let mut command = vkcert();
    command.arg("mutate").arg(folder.path()).args(["--operator", "SCR", "--kernel", "double"]);
    let mutation = run_json(&mut command, 0);
    let told = of_dispatches(&mutation, "double");
    assert_eq!(told.len(), 1, "{mutation:#}");
    let verdict = serde_json::json!({ "noticed": ["expectation", { "finding": "data-race" }] });
    assert_eq!(told[0].2["tests"]["TC-1"], verdict, "{mutation:#}");
}

#[test]
fn the_limit_of_mutants_is_that_of_their_tests() {
    let steps = ["--max-steps", "1000000"];
    let project = root().join("tests/projects/mutants");
    let refused = [
        run_json(vkcert().arg("mutate").arg(&project).args(steps), 2),
        run_json(vkcert().arg("certify").arg(&project).arg("--mutation").args(steps), 2),
    ];
    for error in refused {
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains("--max-steps does not go with mutants"), "{error:#}");
    }
}

#[test]
fn a_header_that_is_found_first_is_a_change_though_the_text_comes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    project_with(folder.path(), PRODUCTS);
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    let source = "source = \"glsl/both.comp\"";
    assert!(settings.contains(source));
    let settings = settings.replace(source, &format!("{source}\ninclude = [\"near\", \"far\"]"));
    write(folder.path(), "vkcert.toml", settings);
    let including =
        "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include \"step.glsl\"\n";
    let kernel = KERNEL.replacen("#version 450\n", including, 1).replacen("+ 3u", "+ step3()", 1);
    assert!(kernel.contains("step.glsl") && kernel.contains("step3()"));
    write(folder.path(), "glsl/both.comp", kernel);
    write(folder.path(), "far/step.glsl", "\nuint step3() { return 3u; }\n");
    write(folder.path(), "near/other.glsl", "");
    let out = folder.path().join("out");
    certify_with_mutants(folder.path(), &out, 1);
    let unchanged = || {
        let mut command = vkcert();
        command.arg("mutate").arg(folder.path()).arg("--baseline").arg(out.join("evidence"));
        run_json(&mut command, 0)["unchanged"].clone()
    };
    assert_eq!(unchanged(), serde_json::json!(["both"]));
    write(folder.path(), "near/step.glsl", "#define THREE 3u\nuint step3() { return THREE; }\n");
    assert_eq!(unchanged(), serde_json::json!([]));
}

/// A kernel beside one that its test is judged by, as a reference or as a checker.
fn project_judged_by(folder: &Path, judge: &str, expect: &str) {
    let rows = format!("{SETTINGS}\n[[kernel]]\nname = \"judge\"\nsource = \"glsl/judge.comp\"\n");
    let (head, _) = REQUIREMENTS.split_once("[[test]]").unwrap();
    let test = format!(
        "{head}[[test]]\nid = \"TC-1\"\nrequirements = [\"LLR-1\"]\n\
         buffers = {{ v = {{ type = \"uint\", data = [1, 2, 3, 4] }}, o = {{ type = \"uint\", fill = {{ constant = 0 }}, count = 4 }}, w = {{ type = \"uint\", count = 4 }} }}\n\
         dispatches = [{{ kernel = \"both\", groups = [1, 1, 1], bindings = [{{ set = 0, binding = 0, buffer = \"v\" }}, {{ set = 0, binding = 1, buffer = \"o\" }}] }}]\n\
         {expect}\n"
    );
    let text = |last: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 4) in;\n\
             layout(set = 0, binding = 0, std430) readonly buffer V {{ uint v[]; }};\n\
             layout(set = 0, binding = 1, std430) buffer O {{ uint o[]; }};\n{last}"
        )
    };
    write(folder, "vkcert.toml", rows);
    write(
        folder,
        "glsl/both.comp",
        text("void main() { uint i = gl_GlobalInvocationID.x; o[i] = v[i] * 2u; }\n"),
    );
    write(folder, "glsl/judge.comp", text(judge));
    write(folder, "requirements/both.toml", test);
}

#[test]
fn a_kernel_whose_test_is_judged_by_another_one_has_changed_with_it() {
    let bindings =
        "[{ set = 0, binding = 0, buffer = \"v\" }, { set = 0, binding = 1, buffer = \"o\" }";
    let reference = "void main() { uint i = gl_GlobalInvocationID.x; o[i] = v[i] * 2u; }\n";
    let checker = "layout(set = 0, binding = 2, std430) buffer W { uint w[]; };\n\
                   void main() { uint i = gl_GlobalInvocationID.x; w[i] = o[i] == v[i] * 2u ? 1u : 0u; }\n";
    let by_reference = format!(
        "expect = [{{ buffer = \"o\", tolerance = {{ abs = 3 }}, reference = {{ kernel = \"judge\", groups = [1, 1, 1], bindings = {bindings}] }} }}]"
    );
    let by_checker = format!(
        "expect = [{{ check = {{ kernel = \"judge\", groups = [1, 1, 1], bindings = {bindings}, {{ set = 0, binding = 2, buffer = \"w\" }}], verdict = \"w\" }} }}]"
    );
    let weaker = checker.replace("o[i] == v[i] * 2u", "o[i] <= v[i] * 2u");
    let other = reference.replace("* 2u", "* 2u + 1u");
    for (judge, expect, changed) in
        [(reference, &by_reference, other.as_str()), (checker, &by_checker, weaker.as_str())]
    {
        let folder = tempfile::tempdir().unwrap();
        project_judged_by(folder.path(), judge, expect);
        let out = folder.path().join("out");
        certify_with_mutants(folder.path(), &out, 1);
        let evidence = out.join("evidence");
        run(verifier().arg("verify").arg(&evidence), 0);
        let unchanged = || {
            let mut command = vkcert();
            command.arg("mutate").arg(folder.path()).arg("--baseline").arg(&evidence);
            run_json(command.args(["--kernel", "both"]), 0)["unchanged"].clone()
        };
        assert_eq!(unchanged(), serde_json::json!(["both", "judge"]));
        project_judged_by(folder.path(), changed, expect);
        assert_eq!(unchanged(), serde_json::json!([]));
    }
}

/// Whether there is a device; without one a test that needs it says so.
fn has_device() -> bool {
    let listed = run(vkcert().args(["list", "devices", "--format", "json"]), 0);
    let is_there = String::from_utf8_lossy(&listed.stdout).trim() != "[]";
    if !is_there {
        assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "no device");
        eprintln!("NOT RUN: no device");
    }
    is_there
}

#[test]
fn a_mutant_that_a_driver_compiles_for_long_is_not_killed_by_time() {
    if !has_device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // llvmpipe compiles when it dispatches, and one of these for more than a second.
    let mut command = vkcert();
    command.env("MESA_SHADER_CACHE_DISABLE", "true").env("VKCERT_CACHE", folder.path());
    command.arg("mutate").arg(root()).args(["--kernel", "wavelet", "--operator", "LIT"]);
    // The machine may be busy, but not for a minute.
    let mutation = run_json(command.args(["--engine", "both", "--timeout", "60"]), 0);
    let rows = mutation["device"]["mutants"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["agreement"] == "killed-on-both"), "{rows:#?}");
    let alone = rows.iter().filter(|row| row["agreement"] == "killed-on-device");
    assert_eq!(alone.collect::<Vec<_>>(), Vec::<&Value>::new());
}

#[test]
fn a_device_judges_mutants_beside_the_sequential_engine() {
    let project = root().join("tests/projects/mutants");
    let mutate = |options: &[&str], code: i32| {
        let mut command = vkcert();
        command.arg("mutate").arg(&project).args(options);
        run_json(&mut command, code)
    };
    assert!(mutate(&["--engine", "vulkan"], 2).to_string().contains("--engine both"));
    mutate(&["--engine", "sequential", "--device", "0"], 2);
    let alone = mutate(&[], 0);
    assert_eq!(alone["device"], Value::Null);
    if !has_device() {
        return;
    }
    let both = mutate(&["--engine", "both"], 0);
    // The device changes nothing of what the sequential engine says.
    let without_device = |mutation: &Value| {
        let mut summary = mutation["summary"].clone();
        summary["asked"].as_object_mut().unwrap().remove("engines");
        summary.as_object_mut().unwrap().remove("by_agreement");
        summary
    };
    assert_eq!(without_device(&both), without_device(&alone));
    let rows = both["device"]["mutants"].as_array().unwrap();
    let compiled = mutants(&both, "clamped").iter().filter(|row| row["status"] != "not-compiled");
    assert_eq!(rows.len(), compiled.count());
    let status_of = |id: &Value| {
        let own = mutants(&both, "clamped").iter().find(|row| row["id"] == *id).unwrap();
        own["status"].as_str().unwrap().to_owned()
    };
    let mut selected = 0;
    for row in rows {
        let status = status_of(&row["id"]);
        // Nothing of this kernel depends on the engine.
        let due: &[&str] = match status.as_str() {
            "killed" => &["killed-on-both", "killed-by-sequential-finding", "undecided"],
            _ => &["killed-on-neither"],
        };
        assert!(due.contains(&row["agreement"].as_str().unwrap()), "{status}: {row:#}");
        // It was a dispatch without workgroups.
        if row["agreement"] == "undecided" {
            assert!(row["id"].as_str().unwrap().starts_with("AD."), "{row:#}");
        }
        selected += u32::from(row["module"] == "all-mutants");
    }
    assert!(selected > 20, "{both:#}");
    let text = run(vkcert().arg("mutate").arg(&project).args(["--engine", "both"]), 0).stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("killed on both engines"), "{text}");
}

#[test]
fn evidence_holds_what_a_device_made_of_mutants() {
    let project = root().join("tests/projects/mutants");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let certify = |options: &[&str], code: i32| {
        let mut command = vkcert();
        command.arg("certify").arg(&project).args(options).arg("--out").arg(&out);
        run_json(&mut command, code)
    };
    // Nothing is written where there is none that could judge.
    certify(&["--mutants-on-device"], 2);
    certify(&["--mutation", "--mutants-on-device", "--engine", "sequential"], 4);
    assert!(!out.exists());
    if !has_device() {
        return;
    }
    let campaign = certify(&["--mutation", "--mutants-on-device"], 0);
    let summary = &campaign["mutation"];
    assert_eq!(summary["asked"]["engines"], "both");
    let evidence = out.join("evidence");
    let path = evidence.join("mutation-clamped.json");
    let kernel: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let rows = kernel["mutants"].as_array().unwrap();
    let on_device = rows.iter().filter(|row| row["on_device"]["tests"].is_object()).count() as u64;
    let agreed = summary["by_agreement"].as_array().unwrap().iter();
    assert_eq!(agreed.map(|row| row["mutants"].as_u64().unwrap()).sum::<u64>(), on_device);
    assert!(on_device > 20, "{summary:#}");
    for options in [&[][..], &["--replay"]] {
        let verified = run_json(vkcert().arg("verify").arg(&evidence).args(options), 0);
        assert_eq!(verified["problems"], serde_json::json!([]));
    }
    let report = run(vkcert().arg("report").arg(&evidence).args(["--report-format", "html"]), 0);
    assert!(String::from_utf8(report.stdout).unwrap().contains("killed on both engines"));
    // A mutant that the device alone would have killed is shown; the counts that evidence has say otherwise.
    let survivor = rows.iter().position(|row| row["status"] == "survived").unwrap();
    let mut forged = kernel.clone();
    let tests = forged["mutants"][survivor]["on_device"]["tests"].as_object_mut().unwrap();
    tests
        .values_mut()
        .for_each(|verdict| *verdict = serde_json::json!({ "noticed": ["expectation"] }));
    std::fs::write(&path, serde_json::to_vec_pretty(&forged).unwrap()).unwrap();
    let verified = run_json(vkcert().arg("verify").arg(&evidence), 1);
    assert!(verified.to_string().contains("the counts of mutants do not follow"), "{verified:#}");
}
