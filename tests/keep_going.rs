//! `certify --keep-going`: kernels that do not compile are set aside, everything says so, and the others are certified.

use crate::small_verifier::verifier;
use crate::support::{
    assert_same_results, certify_sequentially, forge, result_files, run, run_json, vkcert, write,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const GOOD: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
void main() { values[gl_GlobalInvocationID.x] += 1u; }
";

const BROKEN: &str = "#version 450
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
void main() { values[gl_GlobalInvocationID.x] += step; }
";

fn including(name: &str) -> String {
    GOOD.replace(
        "layout(local",
        &format!(
            "#extension GL_GOOGLE_include_directive : require\n#include \"{name}\"\nlayout(local"
        ),
    )
}

/// A project with these kernels, each with a requirement and a test of its own.
struct TestProject {
    folder: tempfile::TempDir,
    settings: String,
    requirements: String,
}

impl TestProject {
    fn new(kernels: &[(&str, &str)]) -> Self {
        let settings = "schema = 1\nname = \"Batch\"\nlevel = \"D\"\ncriteria = [\"statement\"]\n";
        let mut project = Self {
            folder: tempfile::tempdir().unwrap(),
            settings: settings.to_owned(),
            requirements: "schema = 1\n".to_owned(),
        };
        for (name, text) in kernels {
            project.write(&format!("glsl/{name}.comp"), text);
            project.settings.push_str(&format!(
                "[[kernel]]\nname = \"{name}\"\nsource = \"glsl/{name}.comp\"\n"
            ));
            project.add_test(&format!("TC-{name}"), &[name], &format!("LLR-{name}"), "");
        }
        project.write_files();
        project
    }

    /// A test that dispatches kernels one after the other, of a requirement of its own.
    fn add_test(&mut self, test: &str, kernels: &[&str], requirement: &str, more: &str) {
        self.requirements.push_str(&format!(
            "[[requirement]]\nuid = \"{requirement}\"\nlevel = \"LLR\"\ntitle = \"Adding\"\n\
             statement = \"It shall add.\"\nverification = [\"test\"]\nderived = true\n\
             safety_rationale = \"None.\"\n{more}\n\
             [[test]]\nid = \"{test}\"\nrequirements = [\"{requirement}\"]\n\
             [test.buffers]\nvalues = {{ type = \"uint\", data = [1, 2, 3, 4] }}\n"
        ));
        for kernel in kernels {
            self.requirements.push_str(&format!(
                "[[test.dispatches]]\nkernel = \"{kernel}\"\ngroups = [1, 1, 1]\n\
                 bindings = [{{ set = 0, binding = 0, buffer = \"values\" }}]\n"
            ));
        }
        let values: Vec<usize> = (1..=4).map(|value| value + kernels.len()).collect();
        self.requirements
            .push_str(&format!("[[test.expect]]\nbuffer = \"values\"\nvalues = {values:?}\n"));
    }

    fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        write(&self.path("project"), name, contents)
    }

    fn write_files(&self) {
        self.write("vkcert.toml", &self.settings);
        self.write("requirements/all.toml", &self.requirements);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn certify(&self, out: &str, options: &[&str]) -> Command {
        let mut command = certify_sequentially(&self.path("project"), &self.path(out));
        command.args(options);
        command
    }

    fn keep_going(&self, out: &str) -> Command {
        self.certify(out, &["--keep-going"])
    }

    fn evidence(&self, out: &str) -> PathBuf {
        self.path(out).join("evidence")
    }

    fn campaign(&self, out: &str) -> Value {
        read(&self.evidence(out).join("campaign.json"))
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn names(rows: &Value, key: &str) -> Vec<String> {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row[key].as_str().unwrap().to_owned()).collect()
}

fn reasons(campaign: &Value) -> String {
    campaign["conclusion"]["reasons"].to_string()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// What a verification finds wrong.
fn problems(command: &mut Command) -> String {
    run_json(command, 1)["problems"].to_string()
}

fn verify(evidence: &Path) -> Command {
    let mut command = vkcert();
    command.arg("verify").arg(evidence);
    command
}

/// Three kernels that do not compile beside two that do.
fn mixed() -> TestProject {
    let (lost, inner) = (including("lost.glsl"), including("inner.glsl"));
    let kernels =
        [("first", GOOD), ("broken", BROKEN), ("lost", &lost), ("inner", &inner), ("last", GOOD)];
    let project = TestProject::new(&kernels);
    project.write("glsl/inner.glsl", "// Fine.\nuint wrong( { return 1u; }\n");
    project
}

#[test]
fn kernels_that_do_not_compile_are_set_aside_and_told_everywhere() {
    let project = mixed();
    let events = project.path("events");
    let output = run(project.keep_going("out").arg("--events").arg(&events), 1);
    let campaign = project.campaign("out");
    assert_eq!(names(&campaign["set_aside"], "kernel"), ["broken", "lost", "inner"]);
    assert_eq!(names(&campaign["settings"]["kernel"], "name"), ["first", "last"]);
    assert_eq!(names(&campaign["tests"], "id"), ["TC-first", "TC-last"]);
    assert_eq!(campaign["set_aside"][0]["tests"], json!(["TC-broken"]));
    assert!(campaign.get("left_out").is_none());
    let told = &campaign["set_aside"][0]["diagnostics"][0];
    assert_eq!(told["message"], "'step' : undeclared identifier", "{told}");
    assert_eq!(
        (&told["file"], &told["line"], &told["column"]),
        (&json!("glsl/broken.comp"), &json!(4), &json!(50))
    );
    let told = campaign["set_aside"][1]["diagnostics"].to_string();
    assert!(told.contains("lost.glsl") && told.contains("was found neither beside"), "{told}");
    assert_eq!(campaign["set_aside"][2]["diagnostics"][0]["file"], "glsl/inner.glsl");
    assert_eq!(campaign["set_aside"][2]["included"], json!(["glsl/inner.glsl"]));
    let text = campaign.to_string();
    assert!(!text.contains(project.folder.path().to_str().unwrap()), "{text}");
    // It counts.
    let reasons = reasons(&campaign);
    for name in ["broken", "lost", "inner"] {
        let counted = format!("open item kernel-set-aside {name}: kernel {name} does not compile");
        assert!(reasons.contains(&counted), "{reasons}");
        let open = format!("requirement LLR-{name} is open: test TC-{name} was left out");
        assert!(reasons.contains(&open), "{reasons}");
    }
    assert!(!reasons.contains("LLR-first") && !reasons.contains("LLR-last"), "{reasons}");
    let limits = campaign["limits"].to_string();
    assert!(limits.contains("(--keep-going): broken, lost, inner."), "{limits}");
    assert!(campaign["unsought"].to_string().contains("kernels-set-aside"));
    // It is told: what the compiler says, and that the run goes on.
    let stderr = stderr(&output);
    assert!(stderr.contains("undeclared identifier"), "{stderr}");
    assert!(stderr.contains("kernel broken does not compile and is set aside"), "{stderr}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("3 of 5 kernels do not compile and were set aside"), "{printed}");
    let events = std::fs::read_to_string(events).unwrap();
    let of_kind = |name: &str| events.lines().position(|line| line.contains(name)).unwrap();
    assert_eq!(events.matches("\"event\":\"kernel-set-aside\"").count(), 3);
    assert!(of_kind("kernel-set-aside") < of_kind("prepared"), "{events}");
    assert!(events.contains("glsl/broken.comp:4:50: 'step' : undeclared identifier"), "{events}");
    let html = std::fs::read_to_string(project.path("out").join("report.html")).unwrap();
    let told = "3 of 5 kernels do not compile and were set aside";
    for words in [told, "All kernels that compile", "Kernels that do not compile"] {
        assert!(html.contains(words), "{words}");
    }
    // What is written verifies, in each way.
    run(&mut verify(&project.evidence("out")), 0);
    run(verify(&project.evidence("out")).args(["--replay", "--strict"]), 0);
    run(verify(&project.evidence("out")).arg("--project").arg(project.path("project")), 0);
    run(&mut project.keep_going("again"), 1);
    assert_same_results(&project.path("out"), &project.path("again"));
}

#[test]
fn without_the_option_the_run_ends_as_before() {
    let project = mixed();
    let ended = run(&mut project.certify("out", &[]), 2);
    assert!(!project.path("out").exists());
    let stderr = stderr(&ended);
    assert!(stderr.contains("undeclared identifier") && !stderr.contains("set aside"), "{stderr}");
    // Where everything compiles the option changes nothing.
    let project = TestProject::new(&[("first", GOOD), ("last", GOOD)]);
    run(&mut project.certify("plain", &[]), 0);
    run(&mut project.keep_going("kept"), 0);
    assert_same_results(&project.path("plain"), &project.path("kept"));
}

#[test]
fn where_nothing_compiles_the_run_ends_as_before() {
    let project = TestProject::new(&[("first", BROKEN), ("last", BROKEN)]);
    let ended = run(&mut project.certify("out", &[]), 2);
    let kept = run(&mut project.keep_going("out"), 2);
    assert_eq!(stderr(&ended), stderr(&kept));
    assert!(!project.path("out").exists());
}

#[test]
fn what_is_wrong_with_the_project_ends_the_run() {
    let mut project = mixed();
    project.settings.push_str("[[kernel]]\nname = \"absent\"\nsource = \"glsl/absent.comp\"\n");
    project.write_files();
    let stderr = stderr(&run(&mut project.keep_going("out"), 2));
    assert!(stderr.contains("there is no file `glsl/absent.comp`"), "{stderr}");
}

/// Whatever names a kernel that does not compile says nothing; a requirement whose code is part of one is not verified.
#[test]
fn what_names_a_kernel_that_does_not_compile_is_left_out() {
    let mut project = TestProject::new(&[("good", GOOD), ("broken", BROKEN)]);
    project.add_test("TC-both", &["good", "broken"], "LLR-both", "");
    let implements = "implements = [{ file = \"glsl/broken.comp\" }]";
    project.add_test("TC-code", &["good"], "LLR-code", implements);
    project.add_test("TC-checked", &["good"], "LLR-checked", "");
    let last = "values = [2, 3, 4, 5]\n";
    project.requirements.truncate(project.requirements.len() - last.len());
    project.requirements.push_str(
        "reference = { kernel = \"broken\", groups = [1, 1, 1], bindings = [{ set = 0, binding = 0, buffer = \"values\" }] }\n",
    );
    project.requirements.push_str(&format!(
        "[[justification]]\nkernel = \"broken\"\nobligation = \"S1\"\nclass = \"defensive\"\nreason = \"r\"\n\
         author = \"a\"\napprover = \"b\"\nhash = \"sha256:{}\"\n",
        "0".repeat(64)
    ));
    project.write_files();
    run(&mut project.keep_going("out"), 1);
    let campaign = project.campaign("out");
    assert_eq!(names(&campaign["tests"], "id"), ["TC-good", "TC-code"]);
    assert_eq!(campaign["set_aside"][0]["tests"], json!(["TC-broken", "TC-both", "TC-checked"]));
    let reasons = reasons(&campaign);
    let open =
        "requirement LLR-code is open: no test of it judges glsl/broken.comp, which it names";
    for told in [open, "requirement LLR-both is open", "requirement LLR-checked is open"] {
        assert!(reasons.contains(told), "{told}: {reasons}");
    }
    run(verify(&project.evidence("out")).arg("--strict"), 0);
    // What the command line leaves out is told as such, and so is what is set aside.
    run(&mut project.certify("less", &["--keep-going", "--without", "TC-both,TC-code"]), 1);
    let campaign = project.campaign("less");
    assert_eq!(campaign["left_out"], json!(["TC-both", "TC-code"]));
    assert_eq!(campaign["set_aside"][0]["tests"], json!(["TC-broken", "TC-checked"]));
    run(verify(&project.evidence("less")).arg("--strict"), 0);
}

#[test]
fn files_that_cannot_be_included_are_inputs_too() {
    let unreadable = including("data.glsl");
    let mut project = TestProject::new(&[("good", GOOD), ("unreadable", &unreadable)]);
    project.write("glsl/data.glsl", [0xFF, 0xFE, 0x00]);
    project.write("glsl/module.spv", [1, 2, 3]);
    project.write("glsl/latin.comp", [0xE9, b'\n']);
    project.settings.push_str(
        "[[kernel]]\nname = \"module\"\nlanguage = \"spirv\"\nsource = \"glsl/module.spv\"\n\
         [[kernel]]\nname = \"latin\"\nsource = \"glsl/latin.comp\"\n",
    );
    project.write_files();
    run(&mut project.keep_going("out"), 1);
    let campaign = project.campaign("out");
    assert_eq!(names(&campaign["set_aside"], "kernel"), ["unreadable", "module", "latin"]);
    let kinds = |index: usize| names(&campaign["set_aside"][index]["diagnostics"], "kind");
    assert_eq!((kinds(1), kinds(2)), (vec!["bad-spirv".into()], vec!["encoding".into()]));
    run(verify(&project.evidence("out")).arg("--strict"), 0);
    run(verify(&project.evidence("out")).arg("--project").arg(project.path("project")), 0);
}

#[test]
fn evidence_that_sets_aside_what_compiles_is_no_evidence() {
    let project = TestProject::new(&[("good", GOOD), ("broken", BROKEN)]);
    run(&mut project.keep_going("out"), 1);
    let evidence = project.evidence("out");
    let forged = |change: fn(&Path)| {
        let copy = tempfile::tempdir().unwrap();
        crate::support::copy_tree(&evidence, copy.path());
        change(copy.path());
        (problems(&mut verify(copy.path())), copy)
    };
    // Every file says the same, and the kernel compiles.
    let (told, copy) = forged(|evidence| {
        forge(evidence, "inputs.json", |inputs| {
            inputs["files"]["glsl/broken.comp"] = json!({ "text": GOOD });
        });
        let mut manifest = read(&evidence.join("manifest.json"));
        let hash = manifest["inputs"]["glsl/good.comp"].clone();
        manifest["inputs"]["glsl/broken.comp"] = hash;
        write(evidence, "manifest.json", format!("{manifest:#}\n"));
    });
    assert!(told.contains("kernel broken is set aside, and it compiles"), "{told}");
    // Without a compiler that is not known, and told so.
    let mut small = verifier();
    let checked = run_json(small.args(["verify"]).arg(copy.path()), 0);
    assert_eq!(checked["status"], "verified-in-part", "{checked}");
    let unknown = "kernel broken, which was set aside: that it does not compile";
    assert!(checked["not_rederivable"].to_string().contains(unknown), "{checked}");
    let (told, _) = forged(|evidence| {
        forge(evidence, "campaign.json", |campaign| {
            campaign["set_aside"][0]["diagnostics"][0]["message"] = "nothing much".into();
        });
    });
    assert!(told.contains("set_aside/0/diagnostics/0/message"), "{told}");
    let (told, _) = forged(|evidence| {
        forge(evidence, "campaign.json", |campaign| {
            campaign["set_aside"][0]["diagnostics"] = json!([]);
        });
    });
    assert!(told.contains("kernel broken is set aside without a diagnostic"), "{told}");
    let (told, _) = forged(|evidence| {
        forge(evidence, "campaign.json", |campaign| {
            campaign.as_object_mut().unwrap().remove("set_aside");
        });
    });
    assert!(told.contains("the stored inputs cannot be compiled"), "{told}");
    let (told, copy) = forged(|evidence| {
        forge(evidence, "campaign.json", |campaign| {
            let mut row = campaign["set_aside"][0].clone();
            row["kernel"] = "nobody".into();
            campaign["set_aside"].as_array_mut().unwrap().push(row);
        });
    });
    assert!(told.contains("set_aside/1"), "{told}");
    // The small program holds the list to the project.
    let mut small = verifier();
    let told = problems(small.args(["verify"]).arg(copy.path()));
    assert!(told.contains("kernels that were set aside"), "{told}");
}

#[test]
fn a_project_in_which_the_kernel_compiles_by_now_is_not_that_of_the_evidence() {
    let project = mixed();
    run(&mut project.keep_going("out"), 1);
    // No input has changed: the file was not there.
    project.write("glsl/lost.glsl", "// Found.\n");
    let mut command = verify(&project.evidence("out"));
    let told = problems(command.arg("--project").arg(project.path("project")));
    assert!(told.contains("kernel lost is set aside, and it compiles in"), "{told}");
    run(&mut verify(&project.evidence("out")), 0);
}

#[test]
fn parts_are_the_run() {
    let mut project = mixed();
    project.add_test("TC-both", &["first", "broken"], "LLR-both", "");
    project.write_files();
    run(&mut project.keep_going("whole"), 1);
    let part = |number: u32| {
        let out = format!("part-{number}");
        run(project.keep_going(&out).args(["--shard", &format!("{number}/3")]), 1);
        project.path(&out)
    };
    let parts = [part(1), part(2), part(3)];
    let merge = |parts: &[PathBuf]| {
        let mut command = vkcert();
        command.arg("merge").args(parts).arg("--out").arg(project.path("merged"));
        command
    };
    run(&mut merge(&parts), 1);
    assert_same_results(&project.path("whole"), &project.path("merged"));
    // A part of a run in which another kernel compiled is of another run.
    project.write("glsl/lost.glsl", "// Found.\n");
    let other = [parts[0].clone(), parts[1].clone(), part(3)];
    let told = run_json(&mut merge(&other), 2).to_string();
    assert!(told.contains("only one of them sets kernel lost aside"), "{told}");
}

#[test]
fn results_stand_until_a_kernel_compiles() {
    let project = mixed();
    let cached = |events: &str| {
        let mut command = project.keep_going("out");
        command.arg("--cache").arg(project.path("cache"));
        command.arg("--events").arg(project.path(events));
        run(&mut command, 1)
    };
    let first = cached("first");
    let files = result_files(&project.path("out"));
    let second = cached("second");
    assert!(stderr(&second).contains("nothing has changed"), "{}", stderr(&second));
    assert_eq!(first.stdout, second.stdout);
    assert!(stderr(&second).contains("glsl/broken.comp:4:50: 'step' : undeclared identifier"));
    let events = std::fs::read_to_string(project.path("second")).unwrap();
    assert_eq!(events.matches("\"event\":\"kernel-set-aside\"").count(), 3);
    // Another question.
    let mut command = project.certify("out", &[]);
    run(command.arg("--cache").arg(project.path("cache")), 2);
    assert_eq!(files, result_files(&project.path("out")));
    project.write("glsl/lost.glsl", "// Found.\n");
    assert!(!stderr(&cached("third")).contains("nothing has changed"));
    assert_eq!(names(&project.campaign("out")["set_aside"], "kernel"), ["broken", "inner"]);
}

/// A file outside of the project that is not there may be there tomorrow.
#[test]
fn results_do_not_stand_where_a_file_outside_is_missing() {
    let outside = including("../../outside.glsl");
    let project = TestProject::new(&[("good", GOOD), ("broken", &outside)]);
    let cached = || {
        let mut command = project.keep_going("out");
        run(command.arg("--cache").arg(project.path("cache")), 1)
    };
    cached();
    assert!(!stderr(&cached()).contains("nothing has changed"));
}

/// A kernel that compiles may look outside of the project, too, before it finds a file inside.
#[test]
fn results_do_not_stand_where_a_file_outside_would_be_found_first() {
    let include = including("../../shared/step.glsl").replace("1u", "STEP");
    let mut project = TestProject::new(&[("good", &include)]);
    project.settings.push_str("include = [\"inc/one/two\"]\n");
    project.write_files();
    project.write("inc/shared/step.glsl", "#define STEP 1u\n");
    project.write("inc/one/two/empty", "");
    let cached = |exit: i32| {
        let mut command = project.certify("out", &[]);
        run(command.arg("--cache").arg(project.path("cache")), exit)
    };
    cached(0);
    write(project.folder.path(), "shared/step.glsl", "#define STEP 2u\n");
    cached(1);
}

/// A folder of which no file is an input is passed on the way to one: evidence verifies, and names no
/// such folder.
#[test]
fn evidence_verifies_where_includes_pass_folders_without_inputs() {
    let from_folder = including("sub/../step.glsl").replace("1u", "STEP");
    let from_include = including("../shared/other.glsl").replace("1u", "OTHER");
    let broken = including("gone/../step.glsl").replace("1u", "STEP");
    let mut project =
        TestProject::new(&[("one", &from_folder), ("two", &from_include), ("three", &broken)]);
    project.settings = project.settings.replace(
        "source = \"glsl/two.comp\"\n",
        "source = \"glsl/two.comp\"\ninclude = [\"inc/empty\"]\n",
    );
    project.write_files();
    project.write("glsl/step.glsl", "#define STEP 1u\n");
    project.write("inc/shared/other.glsl", "#define OTHER 1u\n");
    project.write("glsl/sub/note.txt", "no input\n");
    project.write("inc/empty/note.txt", "no input\n");
    run(&mut project.keep_going("out"), 1);
    let campaign = project.campaign("out");
    let verdicts = campaign["tests"].as_array().unwrap().iter();
    assert!(verdicts.clone().all(|test| test["results"][0]["verdict"] == "pass"), "{campaign}");
    assert_eq!(verdicts.count(), 2, "the third kernel does not compile");
    run(vkcert().arg("verify").arg(project.evidence("out")), 0);
}

/// Where our own reading of a text ends before the compiler's, what the compiler includes counts.
#[test]
fn what_the_compiler_alone_includes_is_an_input() {
    let unread = format!("#pragma told(\"a\") /* x */\n#if {}1\n#endif\n#include", "!".repeat(300));
    let text = including("step.glsl").replace("#include", &unread).replace("1u", "STEP");
    let project = TestProject::new(&[("good", &text)]);
    let step = |value: &str| project.write("glsl/step.glsl", format!("#define STEP {value}\n"));
    // Nothing is measured of such a text, so that the run is not complete.
    let verdict = || {
        let mut command = project.certify("out", &[]);
        run(command.arg("--cache").arg(project.path("cache")), 1);
        let campaign = project.campaign("out");
        campaign["tests"][0]["results"][0]["verdict"].as_str().unwrap().to_owned()
    };
    step("1u");
    assert_eq!(verdict(), "pass");
    let inputs = &read(&project.evidence("out").join("manifest.json"))["inputs"];
    assert!(inputs["glsl/step.glsl"].is_string(), "{inputs}");
    step("2u");
    assert_eq!(verdict(), "fail");
}

/// A requirement that names a kernel is open where that kernel does not compile, whatever can be told
/// of its files.
#[test]
fn code_of_a_kernel_that_the_compiler_is_not_given_is_open() {
    let lib = "uint f(uint x) { return x + 1u; }\n";
    let calling = including("lib.glsl").replace("+= 1u", "= f(values[gl_GlobalInvocationID.x])");
    let with_mark = format!("\u{feff}{calling}");
    let mut project = TestProject::new(&[("good", &calling), ("broken", &with_mark)]);
    project.write("glsl/lib.glsl", lib);
    for (number, kernels) in ["kernels = [\"good\", \"broken\"]", ""].into_iter().enumerate() {
        let link = format!(
            "implements = [{{ file = \"glsl/lib.glsl\", symbol = \"f\"{}{kernels} }}]",
            if kernels.is_empty() { "" } else { ", " }
        );
        project.add_test(
            &format!("TC-code-{number}"),
            &["good"],
            &format!("LLR-code-{number}"),
            &link,
        );
    }
    project.write_files();
    run(project.keep_going("out").args(["--report", "json,lcov,cobertura"]), 1);
    let campaign = project.campaign("out");
    let statuses =
        campaign["requirements"].as_array().unwrap().iter().map(|row| {
            (row["requirement"]["uid"].as_str().unwrap(), row["status"].as_str().unwrap())
        });
    let open: Vec<&str> =
        statuses.filter(|(_, status)| *status != "verified").map(|(uid, _)| uid).collect();
    assert_eq!(open, ["LLR-broken", "LLR-code-0", "LLR-code-1"]);
    for file in ["lcov.info", "cobertura.xml"] {
        let text = std::fs::read_to_string(project.path("out").join(file)).unwrap();
        assert!(text.contains("kernel broken does not compile and was set aside"), "{text}");
    }
    let item = &campaign["open_items"].as_array().unwrap()[0]["sentence"];
    assert!(item.to_string().contains("did not run on any kernel: TC-broken"), "{item}");
}

#[test]
fn campaigns_side_by_side_name_kernels_that_they_are_without() {
    let project = mixed();
    for out in ["one", "two"] {
        run(&mut project.keep_going(out), 1);
    }
    let mut merge = vkcert();
    merge.args(["merge", "--campaigns"]).args(["one", "two"].map(|out| project.path(out)));
    let told = run(&mut merge, 1).stdout;
    let told = String::from_utf8_lossy(&told).into_owned();
    let words: Vec<&str> = told.split_whitespace().collect();
    assert_eq!(words.join(" ").matches("broken").count(), 2, "{told}");
}

#[test]
fn a_kernel_that_was_certified_before_is_lost() {
    let project = TestProject::new(&[("good", GOOD), ("other", GOOD)]);
    run(&mut project.certify("first", &[]), 0);
    project.write("glsl/other.comp", BROKEN);
    let mut command = project.keep_going("second");
    command.arg("--baseline").arg(project.evidence("first"));
    let document = run_json(command.args(["--fail-on", "regression"]), 1);
    let changes = document["baseline"]["changes"].as_array().unwrap().iter();
    let worse: Vec<String> = changes
        .filter(|change| change["effect"] == "worse")
        .map(|change| {
            format!("{} {}", change["area"].as_str().unwrap(), change["subject"].as_str().unwrap())
        })
        .collect();
    for lost in [
        "kernel other",
        "kernel other on sequential",
        "requirement LLR-other",
        "test TC-other on sequential",
        "settings test TC-other",
        "open-item kernel-set-aside other",
    ] {
        assert!(worse.iter().any(|row| row == lost), "{lost}: {worse:#?}");
    }
    // The way back.
    project.write("glsl/other.comp", GOOD);
    let mut command = project.keep_going("third");
    command.arg("--baseline").arg(project.evidence("second"));
    let document = run_json(command.args(["--fail-on", "regression"]), 0);
    assert!(!document["baseline"]["changes"].to_string().contains("worse"), "{document}");
}

/// What a kernel that does not compile leaves to another one is not known, and does not count as shown.
#[test]
fn what_an_earlier_kernel_leaves_is_undetermined() {
    let mut project = TestProject::new(&[("later", GOOD), ("broken", BROKEN)]);
    project.settings =
        project.settings.replace("criteria = [\"statement\"]", "criteria = [\"coupling\"]");
    let interface = |kernel: &str| {
        format!(
            "[[interface]]\nkernel = \"{kernel}\"\ngroups = [\"1\", \"1\", \"1\"]\nlocal_size = [4, 1, 1]\n\
             buffers = [{{ set = 0, binding = 0, size = \"16\" }}]\n"
        )
    };
    project.requirements.push_str(&interface("later"));
    project.requirements.push_str(
        "[[interface.earlier]]\nkernel = \"broken\"\nshared = [{ from = { set = 0, binding = 0 }, to = { set = 0, binding = 0 } }]\n",
    );
    project.requirements.push_str(&interface("broken"));
    project.write_files();
    run(&mut project.keep_going("out"), 1);
    let campaign = project.campaign("out");
    let checks = campaign["coupling"][0]["checks"].as_array().unwrap();
    let told = "what broken leaves here is not known: it does not compile and was set aside";
    let row = checks.iter().find(|row| row["message"] == told).expect("a row");
    assert_eq!(
        (&row["check"], &row["status"]),
        (&json!("earlier-dispatches"), &json!("undetermined"))
    );
    let kernel = read(&project.evidence("out").join("kernel-later-sequential.json"));
    let rows = kernel["coverage"]["coupling"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0]["status"], "undetermined");
    assert!(rows[0]["reason"].as_str().unwrap().contains("what kernel broken"), "{rows:?}");
    run(verify(&project.evidence("out")).arg("--strict"), 0);
}
