//! What makes a result say less than its level asks for is on page 1 of every report and counts,
//! unless the project accepts it by name.

use crate::support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::*;

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn minimal() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_tree(&root().join("tests/projects/minimal"), folder.path());
        Self { folder }
    }

    /// With more lines below the level in `vkcert.toml`.
    fn with(settings: &str) -> Self {
        let project = Self::minimal();
        project.change("vkcert.toml", "level = \"A\"\n", &format!("level = \"A\"\n{settings}\n"));
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn reports(&self) -> PathBuf {
        self.path().join("reports")
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let path = self.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{file} has no `{from}`");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Certifies without a device; the evidence verifies.
    fn certify(&self, more: &[&str], exit: i32) -> Value {
        let campaign =
            run_json(without_driver(vkcert().arg("certify").arg(self.path())).args(more), exit);
        run(vkcert().arg("verify").arg(self.reports().join("evidence")), 0);
        campaign
    }

    /// The summary of stored evidence as a terminal of 100 columns shows it, white space collapsed.
    fn summary(&self) -> String {
        let evidence = self.reports().join("evidence");
        let output =
            run(vkcert().arg("report").arg(evidence).args(["--report-format", "terminal"]), 0);
        collapsed(&String::from_utf8(output.stdout).unwrap())
    }

    fn page(&self) -> String {
        std::fs::read_to_string(self.reports().join("report.html")).unwrap()
    }
}

fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn items(campaign: &Value) -> Vec<&str> {
    let items = campaign["open_items"].as_array().unwrap();
    items.iter().map(|item| item["name"].as_str().unwrap()).collect()
}

const ACCEPTED: &str = "\n[[accept]]\nitem = \"ITEM\"\nreason = \"The display has no decision of its own.\"\n\
    author = \"Ann Author\"\napprover = \"Bob Reviewer\"\n";

#[test]
fn the_projects_that_are_shown_are_complete() {
    let folder = tempfile::tempdir().unwrap();
    let new = folder.path().join("new");
    run(vkcert().arg("init").arg(&new), 0);
    for project in [root(), root().join("tests/projects/minimal"), new] {
        let out = folder.path().join("reports");
        let campaign = run_json(
            without_driver(vkcert().arg("certify").arg(&project)).arg("--out").arg(&out),
            0,
        );
        // Where the coder of the demonstration puts bits depends on contents of memory.
        let accepted: &[&str] = match project == root() {
            true => &["index-bounds-not-shown rice_coder:5"],
            false => &[],
        };
        assert_eq!(items(&campaign), accepted, "{}", project.display());
    }
}

#[test]
fn less_than_the_level_asks_for_is_told_everywhere_and_counts() {
    for (settings, item) in [
        (
            "criteria = [\"statement\", \"decision\", \"mcdc-masking\", \"coupling\"]",
            "criterion-not-asked additional-code",
        ),
        ("decision_policy = \"control-flow\"", "decision-policy"),
        ("validation = \"off\"", "validation-off"),
        ("contraction = \"allowed\"", "contraction-allowed"),
    ] {
        let project = Project::with(settings);
        let campaign = project.certify(&[], 1);
        assert_eq!(items(&campaign), [item]);
        let reasons = campaign["conclusion"]["reasons"].as_array().unwrap();
        assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().contains(item), "{reasons:?}");
        let (summary, page) = (project.summary(), project.page());
        for text in [&summary, &page] {
            assert!(text.contains(item) && text.contains("The evidence is not complete"), "{text}");
        }
    }
}

#[test]
fn an_accepted_item_stays_on_page_1_with_who_accepts_it() {
    let settings = "decision_policy = \"control-flow\"";
    let accepted = ACCEPTED.replace("ITEM", "decision-policy");
    let project = Project::with(&format!("{settings}\n{accepted}"));
    let campaign = project.certify(&[], 0);
    assert_eq!(campaign["open_items"][0]["acceptance"]["approver"], "Bob Reviewer");
    for text in [project.summary(), project.page()] {
        for word in [
            "decision-policy",
            "accepted",
            "The display has no decision of its own.",
            "Ann Author",
            "Bob Reviewer",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert!(text.contains("but for 1 accepted open item"), "{text}");
    }
    project.change("vkcert.toml", "Bob Reviewer", "ann author");
    let campaign = project.certify(&[], 1);
    assert!(
        campaign["rejected_acceptances"][0]["reason"].as_str().unwrap().contains("independence")
    );
    // Nothing to accept: the acceptance is left over.
    project.change("vkcert.toml", "ann author", "Bob Reviewer");
    project.change("vkcert.toml", settings, "");
    let campaign = project.certify(&[], 1);
    let reason = campaign["conclusion"]["reasons"][0].as_str().unwrap();
    assert!(reason.starts_with("acceptance of decision-policy: not needed"), "{reason}");
}

#[test]
fn the_host_and_the_requirement_of_a_kernel_are_asked_for_down_to_level_c() {
    for (level, due) in [("A", 1), ("B", 1), ("C", 1), ("D", 0)] {
        let project = Project::minimal();
        project.change("vkcert.toml", "level = \"A\"", &format!("level = \"{level}\""));
        let text =
            std::fs::read_to_string(project.path().join("requirements/double.toml")).unwrap();
        let (kept, _) = text.split_once("[[interface]]").unwrap();
        let kept =
            kept.replace("implements = [{ file = \"glsl/double.comp\", symbol = \"main\" }]\n", "");
        write(project.path(), "requirements/double.toml", kept);
        let campaign = project.certify(&[], due);
        let all = [
            "kernel-without-interface double",
            "function-without-requirement glsl/double.comp:main",
        ];
        assert_eq!(items(&campaign), all[..2 * due as usize], "{level}");
    }
}

/// A function that is called needs a requirement, one that nobody calls does not.
#[test]
fn functions_count_as_far_as_the_entry_point_reaches_them() {
    let project = Project::minimal();
    let called =
        "uint twice(uint x) { return 2u * x; }\nuint thrice(uint x) { return 3u * x; }\nvoid main";
    project.change("glsl/double.comp", "void main", called);
    project.change("glsl/double.comp", "2u * values[i]", "twice(values[i])");
    assert_eq!(
        items(&project.certify(&[], 1)),
        ["function-without-requirement glsl/double.comp:twice"]
    );
}

#[test]
fn what_the_command_line_leaves_out_cannot_be_accepted() {
    for (options, item) in [
        (&["--check", "none"][..], "checks-left-out"),
        (&["--without", "TC-DBL-01"], "test-left-out TC-DBL-01"),
        (&["--replay", "reversed"], "schedule-replayed"),
    ] {
        let project = Project::minimal();
        let settings = std::fs::read_to_string(project.path().join("vkcert.toml")).unwrap();
        write(project.path(), "vkcert.toml", settings + &ACCEPTED.replace("ITEM", item));
        let campaign = project.certify(options, 1);
        assert_eq!(items(&campaign), [item]);
        let rejected = campaign["rejected_acceptances"][0]["reason"].as_str().unwrap();
        assert!(rejected.contains("cannot be accepted"), "{rejected}");
        assert!(project.summary().contains(item) && project.page().contains(item));
    }
}

#[test]
fn fewer_repetitions_or_schedules_than_the_project_asks_for_are_open() {
    let project = Project::with("repeat = 2\nschedules = { count = 2 }");
    assert_eq!(items(&project.certify(&[], 0)), [""; 0]);
    let campaign = project.certify(&["--repeat", "1", "--schedules", "1"], 1);
    assert_eq!(items(&campaign), ["schedules-left-out", "repetitions-left-out sequential"]);
    assert_eq!(items(&project.certify(&["--repeat", "3", "--schedules", "3"], 0)), [""; 0]);
}

/// A requirement is not verified while a test of it is left out, nor are its parents by it.
#[test]
fn a_requirement_whose_test_is_left_out_is_open() {
    let project = Project::minimal();
    let text = std::fs::read_to_string(project.path().join("requirements/double.toml")).unwrap();
    let (_, test) = text.split_once("[[test]]").unwrap();
    let (test, _) = test.split_once("[[interface]]").unwrap();
    let again = test.replace("TC-DBL-01", "TC-DBL-02").replace("\"HLR-DBL-001\", ", "");
    write(project.path(), "requirements/again.toml", format!("schema = 1\n[[test]]{again}"));
    let campaign = project.certify(&["--without", "TC-DBL-02"], 1);
    let low_level = &campaign["requirements"][1];
    assert_eq!(
        (&low_level["status"], &low_level["left_out_tests"][0]),
        (&"open".into(), &"TC-DBL-02".into())
    );
    let reasons = campaign["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("requirement LLR-DBL-001 is open"), "{reasons}");
    assert!(project.page().contains("TC-DBL-02 (left out)"));
    assert!(!project.page().contains("they passed on every engine"));
}

/// Without a device the result stands, and page 1 says what nobody looked for.
#[test]
fn no_device_is_a_note_and_no_finding_is_told_of_the_kinds_looked_for() {
    let project = Project::minimal();
    project.certify(&[], 0);
    for text in [project.summary(), collapsed(&project.page())] {
        assert!(
            text.contains("Not run on the engine vulkan") && text.contains("engine-disagreement"),
            "{text}"
        );
        assert!(!text.contains("No finding stands"), "{text}");
    }
    assert!(project.page().contains("No finding of the kinds looked for stands."));
    project.certify(&["--check", "none"], 1);
    assert!(project.summary().contains("Findings not looked for"));
}

#[test]
fn forged_open_items_do_not_verify() {
    let project = Project::with("validation = \"off\"");
    project.certify(&[], 1);
    let evidence = project.reports().join("evidence");
    let intact = std::fs::read(evidence.join("campaign.json")).unwrap();
    let forgeries: &[fn(&mut Value)] = &[
        |campaign| campaign["open_items"] = serde_json::json!([]),
        |campaign| campaign["open_items"][0]["sentence"] = "nothing".into(),
        |campaign| campaign["notes"] = serde_json::json!([]),
        |campaign| campaign["unsought"] = serde_json::json!([]),
        |campaign| {
            let approval = serde_json::json!({"reason": "r", "author": "a", "approver": "b"});
            campaign["open_items"][0]["acceptance"] = approval;
        },
        |campaign| drop(campaign.as_object_mut().unwrap().remove("settings")),
    ];
    for change in forgeries {
        write(&evidence, "campaign.json", &intact);
        forge(&evidence, "campaign.json", change);
        run(vkcert().arg("verify").arg(&evidence), 1);
    }
}

/// How many mismatches are listed is a matter of the report alone.
#[test]
fn a_failure_stays_one_where_no_mismatch_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/failing"), folder.path());
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    write(folder.path(), "vkcert.toml", settings + "\n[limits]\nmismatches = 0\n");
    let campaign = run_json(without_driver(vkcert().arg("certify").arg(folder.path())), 1);
    let result = &campaign["tests"][0]["results"][0];
    assert_eq!(
        (&result["verdict"], &result["mismatches"]),
        (&"fail".into(), &serde_json::json!([]))
    );
    assert!(
        campaign["conclusion"]["reasons"]
            .to_string()
            .contains("test TC-DBL-01 on sequential: fail")
    );
    run(vkcert().arg("verify").arg(folder.path().join("reports/evidence")), 0);
}

#[test]
fn a_file_has_one_name_however_its_path_is_written() {
    let project = Project::minimal();
    project.change(
        "vkcert.toml",
        "source = \"glsl/double.comp\"",
        "source = \"./glsl//double.comp\"",
    );
    project.change(
        "requirements/double.toml",
        "file = \"glsl/double.comp\"",
        "file = \"glsl/./double.comp\"",
    );
    let campaign = project.certify(&[], 0);
    assert_eq!(items(&campaign), [""; 0]);
    let kernel = &campaign["project"];
    assert!(!kernel.to_string().contains("./glsl"), "{kernel:#}");
}

/// `^^` over the lowest bits of `number`, each a condition.
fn parity(number: &str, bits: u32) -> String {
    let conditions: Vec<String> =
        (0..bits).map(|bit| format!("({number} & {}u) != 0u", 1 << bit)).collect();
    conditions.join(" ^^ ")
}

/// The obligations of multiple-condition coverage of a kernel run with so many workgroups of 64
/// invocations.
fn combinations(body: &str, groups: u32) -> Vec<(String, String, Value)> {
    let text = format!(
        "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B {{ uint o[]; }};\n\
         void main() {{ uint i = gl_GlobalInvocationID.x; {body} }}"
    );
    let procedure = serde_json::json!({
        "schema": 1,
        "kernels": {"k": {"source": {"text": text}, "language": "glsl"}},
        "tests": [{
            "id": "T",
            "buffers": {"o": {"type": "uint", "count": 64 * groups}},
            "dispatches": [{"kernel": "k", "groups": [groups, 1, 1],
                "bindings": [{"set": 0, "binding": 0, "buffer": "o"}]}],
        }]
    });
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "combinations.json", procedure.to_string());
    let result = run_json(vkcert().arg("run").arg(file).args(["--engine", "sequential"]), 0);
    let decisions = result["tests"][0]["coverage"]["k"]["decisions"].as_array().unwrap();
    let all = decisions.iter().flat_map(|decision| decision["combinations"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    all.map(|item| (text(&item["id"]), text(&item["status"]), item["reason"].clone())).collect()
}

#[test]
fn multiple_condition_coverage_asks_for_every_vector_of_every_decision() {
    let chain = "if (i > 90u && i > 80u && i > 70u && i > 60u && i > 50u && i > 40u) o[i] = 1u;";
    let ids: Vec<_> = combinations(chain, 1)
        .into_iter()
        .map(|(id, status, _)| format!("{id} {status}"))
        .collect();
    let open =
        ["D1.V.TTTTTT", "D1.V.TTTTTF", "D1.V.TTTTF-", "D1.V.TTTF--", "D1.V.TTF---", "D1.V.TF----"];
    let mut expected: Vec<_> = open.iter().map(|id| format!("{id} uncovered")).collect();
    expected.push("D1.V.F----- covered".to_owned());
    assert_eq!(ids, expected);
    let nine = format!("if ({}) o[i] = 1u;", parity("i", 9));
    let whole = |status: &str, reason: Value| [("D1.V".to_owned(), status.to_owned(), reason)];
    assert_eq!(combinations(&nine, 8), whole("covered", Value::Null));
    assert_eq!(combinations(&nine, 7), whole("uncovered", "448 of 512 vectors shown".into()));
    let many = format!("if ({}) o[i] = 1u;", parity("i", 17));
    let [(id, status, reason)] = combinations(&many, 1).try_into().expect("one obligation");
    assert_eq!((id.as_str(), status.as_str()), ("D1.V", "undetermined"));
    assert!(reason.is_string(), "{reason}");
}

/// A decision of many conditions counts in the share and is open by name.
#[test]
fn a_decision_with_too_many_vectors_is_open_where_multiple_condition_coverage_is_asked_for() {
    let criteria = "criteria = [\"statement\", \"branch\", \"decision\", \"mcdc-unique-cause\", \"additional-code\", \
         \"multiple-condition\", \"coupling\"]";
    let project = Project::with(criteria);
    project.certify(&[], 0);
    let guard = format!("(i < count) ^^ (i < count) ^^ {}", parity("i >> 9", 16));
    project.change("glsl/double.comp", "if (i < count)", &format!("if (i < count && !({guard}))"));
    let campaign = project.certify(&[], 1);
    let reasons = campaign["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("multiple-condition"), "{reasons}");
    assert!(project.page().contains("D1.V"), "page 1 names it");
}

/// The project with a constant, whose host and whose test set it or not.
fn specialized(host: &str, test: &str) -> Project {
    let project = Project::minimal();
    project.change("glsl/double.comp", "2u * values", "FACTOR * values");
    project.change(
        "glsl/double.comp",
        "void main",
        "layout(constant_id = 3) const uint FACTOR = 2u;\n\nvoid main",
    );
    let requirements = "requirements/double.toml";
    project.change(requirements, "domain =", &format!("{host}domain ="));
    project.change(
        requirements,
        "push_constants = { count = 3 }",
        &format!("push_constants = {{ count = 3 }}\n{test}"),
    );
    project
}

#[test]
fn what_the_host_specializes_a_kernel_to_is_run() {
    let item = ["interface-specialization-not-run double"];
    let sets_host = "specialization = [{ id = 3, value = \"2\" }]\n";
    let same_test = "specialization = { 3 = { value = 2 } }\n";
    for (host, test) in [("", ""), (sets_host, ""), ("", same_test), (sets_host, same_test)] {
        assert!(items(&specialized(host, test).certify(&[], 0)).is_empty(), "{host} {test}");
    }
    let other_host = sets_host.replace('2', "5");
    let unrun = specialized(&other_host, "");
    assert_eq!(items(&unrun.certify(&[], 1)), item);
    assert!(
        unrun.summary().contains("(3 = 5) is no configuration of the project, and no test runs it")
    );
    unrun.change(
        "vkcert.toml",
        "level = \"A\"\n",
        &format!("level = \"A\"\n{ACCEPTED}").replace("ITEM", item[0]),
    );
    unrun.certify(&[], 0);
    // The host leaves the constant alone, and the tests do not.
    let doubled = specialized("", &same_test.replace("value = 2", "value = 3"));
    doubled.change("requirements/double.toml", "values = [2, 4, 6, 4]", "values = [3, 6, 9, 4]");
    assert_eq!(items(&doubled.certify(&[], 1)), item);
}

const TINT: &str = "#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, rgba8) uniform image2D picture;
void main() {
    ivec2 at = ivec2(gl_GlobalInvocationID.x, 0);
    imageStore(picture, at, 1.0 - imageLoad(picture, at));
}
";

#[test]
fn a_kernel_with_images_can_be_complete() {
    let project = Project::minimal();
    write(project.path(), "glsl/double.comp", TINT);
    let requirements = project.path().join("requirements/double.toml");
    let text = std::fs::read_to_string(&requirements).unwrap();
    let kept = &text[..text.find("[[test]]").unwrap()];
    let rest = "[[test]]\nid = \"TC-1\"\nrequirements = [\"HLR-DBL-001\", \"LLR-DBL-001\"]\n\
        images.p = { dim = \"2d\", format = \"rgba8\", extent = [4, 1], fill = { constant = 1.0 } }\n\
        [[test.dispatches]]\nkernel = \"double\"\ngroups = [1, 1, 1]\nbindings = [{ binding = 0, image = \"p\" }]\n\
        [[test.expect]]\nimage = \"p\"\nvalues = [0.0, 0.0, 0.0, 0.0]\n\
        [[interface]]\nkernel = \"double\"\ngroups = [\"1\", \"1\", \"1\"]\nlocal_size = [4, 1, 1]\ndomain = [\"4\", \"1\", \"1\"]\n";
    let image = "images = [{ set = 0, binding = 0, class = \"storage_image\", format = \"rgba8\", dimension = \"2d\" }]\n";
    std::fs::write(&requirements, format!("{kept}{rest}{image}")).unwrap();
    // No interface states how large an image is, and the kernel does not ask.
    let bounds_item = "index-bounds-not-shown double:2";
    assert_eq!(items(&project.certify(&[], 1)), [bounds_item]);
    let settings = project.path().join("vkcert.toml");
    let accepting =
        std::fs::read_to_string(&settings).unwrap() + &ACCEPTED.replace("ITEM", bounds_item);
    std::fs::write(&settings, accepting).unwrap();
    assert_eq!(items(&project.certify(&[], 0)), [bounds_item]);
    project.change("requirements/double.toml", "dimension = \"2d\" }", "dimension = \"3d\" }");
    let reasons = project.certify(&[], 1)["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("1 coupling finding"), "{reasons}");
    std::fs::write(&requirements, format!("{kept}{rest}")).unwrap();
    let reasons = project.certify(&[], 1)["conclusion"]["reasons"].to_string();
    assert!(reasons.contains("image-descriptor is undetermined"), "{reasons}");
}

/// `couple` alone: what is open, what the project accepts, and an acceptance of what is not there.
#[test]
fn couple_tells_what_the_project_accepts_of_coupling() {
    let project = Project::minimal();
    project.change("glsl/double.comp", "void main", "shared uint kept[4];\nvoid main");
    // Which element is read, contents decide.
    let kept =
        "kept[gl_LocalInvocationID.x] = 2u * values[i];\n    values[i] = kept[values[i] & 3u];";
    project.change("glsl/double.comp", "values[i] = 2u * values[i];", kept);
    let couple = |form: &str, exit: i32| {
        let mut command = vkcert();
        command.arg("couple").arg(project.path()).args(["--engine", "sequential"]);
        let output = run(command.args(["--format", form]), exit);
        String::from_utf8(output.stdout).unwrap()
    };
    let item = "barrier-order-not-shown double:1";
    let text = collapsed(&couple("text", 1));
    assert!(text.contains(&format!(" open {item}: 1 of 1 pairs of a write and a read")), "{text}");
    assert!(text.contains("which contents the host writes is not known"), "{text}");
    assert!(couple("short", 1).contains("coupling-undetermined"));

    let settings = project.path().join("vkcert.toml");
    let plain = std::fs::read_to_string(&settings).unwrap();
    let accepted = ACCEPTED.replace("ITEM", item);
    std::fs::write(&settings, format!("{plain}{accepted}")).unwrap();
    let text = collapsed(&couple("text", 0));
    assert!(text.contains(&format!(" accepted {item}: 1 of 1 pairs")), "{text}");
    let signed = "no decision of its own. (Ann Author, approved by Bob Reviewer)";
    assert!(text.contains(signed), "{text}");
    assert_eq!(couple("short", 0), "");
    let document: Value = serde_json::from_str(&couple("json", 0)).unwrap();
    assert_eq!(document["open_items"][0]["name"], item);
    assert_eq!(document["open_items"][0]["acceptance"]["approver"], "Bob Reviewer");
    assert_eq!(document["rejected_acceptances"], serde_json::json!([]));

    // Of what is not there; acceptances of other things are left alone.
    let other = ACCEPTED.replace("ITEM", "index-bounds-not-shown double:2");
    let criterion = ACCEPTED.replace("ITEM", "criterion-not-asked mcdc-masking");
    std::fs::write(&settings, format!("{plain}{accepted}{other}{criterion}")).unwrap();
    let document: Value = serde_json::from_str(&couple("json", 1)).unwrap();
    let rejected = document["rejected_acceptances"].as_array().unwrap();
    assert_eq!(rejected.len(), 1, "{rejected:?}");
    assert_eq!(rejected[0]["item"], "index-bounds-not-shown double:2");
    let text = collapsed(&couple("text", 1));
    let refused = " rejected acceptance of index-bounds-not-shown double:2: not needed";
    assert!(text.contains(refused), "{text}");
}
