//! Statuses of requirements, records of analyses and reviews, links and their hashes, as certify
//! tells and verify checks them.

use crate::support;

use serde_json::Value;
use std::path::Path;
use support::*;

const KERNEL: &str = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() { o[gl_GlobalInvocationID.x] = 7u; }
";

const NO_HASH: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

fn requirement(uid: &str, parents: &[&str], verification: &str) -> String {
    let (level, parents): (_, Vec<String>) = match parents {
        [] => ("HLR", Vec::new()),
        _ => ("LLR", parents.iter().map(|uid| format!("{{ uid = \"{uid}\" }}")).collect()),
    };
    let parents = parents.join(", ");
    format!(
        "[[requirement]]\nuid = \"{uid}\"\nlevel = \"{level}\"\ntitle = \"t\"\nstatement = \"The kernel shall.\"\n\
         parents = [{parents}]\nverification = [{verification}]\n\n"
    )
}

/// A test that expects `value` where the kernel stores 7; `expect` of `None` expects nothing.
fn test(id: &str, requirements: &[&str], value: Option<u32>) -> String {
    let expect = value.map_or(String::new(), |value| {
        format!("expect = [{{ buffer = \"o\", values = [{value}] }}]\n")
    });
    format!(
        "[[test]]\nid = \"{id}\"\nrequirements = {requirements:?}\nbuffers.o = {{ type = \"uint\", data = [0] }}\n\
         dispatches = [{{ kernel = \"k\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"o\" }}] }}]\n{expect}\n"
    )
}

fn record(method: &str, uid: &str, reviewer: &str, hash: &str) -> String {
    format!(
        "[[{method}]]\nrequirement = \"{uid}\"\ndocument = \"analysis.pdf\"\nsection = \"3.1\"\nauthor = \"A. Author\"\n\
         reviewer = \"{reviewer}\"\nhash = \"{hash}\"\n\n"
    )
}

fn project(folder: &Path, level: &str, requirements: &[String]) {
    let settings = format!(
        "schema = 1\nname = \"Status\"\nlevel = \"{level}\"\n[[kernel]]\nname = \"k\"\nsource = \"k.comp\"\n"
    );
    write(folder, "vkcert.toml", settings);
    write(folder, "k.comp", KERNEL);
    write(folder, "requirements/all.toml", format!("schema = 1\n\n{}", requirements.concat()));
}

/// Certifies, verifies what came out, and gives the campaign.
fn certified(folder: &Path, options: &[&str]) -> Value {
    let out = folder.join("out");
    let mut command = vkcert();
    command
        .args(["certify", "--engine", "sequential", "--format", "json", "--out"])
        .arg(&out)
        .arg(folder)
        .args(options);
    let output = command.output().unwrap();
    let campaign: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    run(vkcert().arg("verify").arg(out.join("latest/evidence")), 0);
    campaign
}

fn row<'a>(campaign: &'a Value, uid: &str) -> &'a Value {
    let rows = campaign["requirements"].as_array().unwrap();
    rows.iter().find(|row| row["requirement"]["uid"] == uid).unwrap()
}

fn status(campaign: &Value, uid: &str) -> String {
    row(campaign, uid)["status"].as_str().unwrap().to_owned()
}

fn reasons(campaign: &Value) -> String {
    campaign["conclusion"]["reasons"].to_string()
}

fn hash(folder: &Path, uid: &str) -> String {
    let rows = run_json(vkcert().args(["list", "requirements"]).arg(folder), 0);
    let rows = rows.as_array().unwrap().clone();
    rows.iter().find(|row| row["uid"] == uid).unwrap()["hash"].as_str().unwrap().to_owned()
}

#[test]
fn every_status_comes_of_what_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let just_test = "\"test\"";
    let all = "\"test\", \"analysis\", \"review\"";
    let requirements = [
        requirement("VERIFIED", &[], just_test),
        requirement("FAILED", &[], just_test),
        requirement("UNTESTED", &[], just_test),
        requirement("UNDETERMINED", &[], just_test),
        requirement("LEFT-OUT", &[], just_test),
        requirement("BY-CHILDREN", &[], just_test),
        requirement("CHILD", &["BY-CHILDREN"], just_test),
        requirement("OPEN-BY-CHILD", &[], just_test),
        requirement("OPEN-CHILD", &["OPEN-BY-CHILD"], "\"test\", \"analysis\""),
        requirement("CHILDREN-NOT-TESTED", &[], just_test),
        requirement("ANALYSED-CHILD", &["CHILDREN-NOT-TESTED"], "\"analysis\""),
        requirement("NO-RECORD", &[], "\"analysis\""),
        requirement("ALL-THREE", &[], all),
        requirement("ONE-OF-THREE", &[], all),
        test(
            "T-PASS",
            &["VERIFIED", "CHILD", "OPEN-CHILD", "ALL-THREE", "ONE-OF-THREE", "LEFT-OUT"],
            Some(7),
        ),
        test("T-FAIL", &["FAILED"], Some(8)),
        test("T-NOTHING", &["UNDETERMINED"], None),
        test("T-OUT", &["LEFT-OUT"], Some(7)),
    ];
    project(folder.path(), "D", &requirements);
    let of = |uid: &str| hash(folder.path(), uid);
    let records = [
        record("analysis", "ANALYSED-CHILD", "R. Reviewer", &of("ANALYSED-CHILD")),
        record("analysis", "ALL-THREE", "R. Reviewer", &of("ALL-THREE")),
        record("review", "ALL-THREE", "R. Reviewer", &of("ALL-THREE")),
        record("review", "ONE-OF-THREE", "R. Reviewer", &of("ONE-OF-THREE")),
    ];
    project(folder.path(), "D", &[&requirements[..], &records[..]].concat());
    let campaign = certified(folder.path(), &["--without", "T-OUT"]);
    let expected = [
        ("VERIFIED", "verified"),
        ("FAILED", "failed"),
        ("UNTESTED", "untested"),
        ("UNDETERMINED", "open"),
        ("LEFT-OUT", "open"),
        ("BY-CHILDREN", "verified-by-children"),
        ("CHILD", "verified"),
        ("OPEN-BY-CHILD", "open"),
        ("OPEN-CHILD", "open"),
        ("CHILDREN-NOT-TESTED", "untested"),
        ("ANALYSED-CHILD", "by-other-means"),
        ("NO-RECORD", "open"),
        ("ALL-THREE", "verified"),
        ("ONE-OF-THREE", "open"),
    ];
    let found: Vec<(&str, String)> =
        expected.iter().map(|(uid, _)| (*uid, status(&campaign, uid))).collect();
    let expected: Vec<(&str, String)> =
        expected.iter().map(|(uid, status)| (*uid, (*status).to_owned())).collect();
    assert_eq!(found, expected);
    assert_eq!(row(&campaign, "ONE-OF-THREE")["open"], serde_json::json!(["analysis"]));
    let reasons = reasons(&campaign);
    for reason in [
        "requirement FAILED is not met by its tests",
        "requirement UNTESTED is untested",
        "requirement UNDETERMINED is open: test T-NOTHING: undetermined",
        "requirement LEFT-OUT is open: test T-OUT was left out",
        "requirement OPEN-BY-CHILD is open: its children are not verified",
        "requirement OPEN-CHILD is open: no accepted record of an analysis",
        "requirement NO-RECORD is open: no accepted record of an analysis",
        "requirement ONE-OF-THREE is open: no accepted record of an analysis",
    ] {
        assert!(reasons.contains(&format!("\"{reason}\"")), "{reason}: {reasons}");
    }
}

#[test]
fn a_record_counts_only_for_what_it_was_made_of_and_by_another_person() {
    let folder = tempfile::tempdir().unwrap();
    let requirements = [
        requirement("R", &[], "\"analysis\""),
        requirement("S", &[], "\"test\""),
        test("T", &["S"], Some(7)),
    ];
    project(folder.path(), "A", &requirements);
    let (of_r, of_s) = (hash(folder.path(), "R"), hash(folder.path(), "S"));
    let cases = [
        ("A", record("analysis", "R", "R. Reviewer", &of_r), "by-other-means", ""),
        (
            "A",
            record("analysis", "R", "a author", &of_r),
            "open",
            "author and reviewer are the same",
        ),
        ("C", record("analysis", "R", "A. Author", &of_r), "by-other-means", ""),
        ("A", record("analysis", "R", "R. Reviewer", NO_HASH), "open", "stale: R has changed"),
        (
            "A",
            record("review", "R", "R. Reviewer", &of_r),
            "open",
            "R is not to be verified by review",
        ),
        (
            "A",
            record("analysis", "S", "R. Reviewer", &of_s),
            "open",
            "S is not to be verified by analysis",
        ),
    ];
    for (level, record, wanted, reason) in cases {
        project(folder.path(), level, &[&requirements[..], std::slice::from_ref(&record)].concat());
        let campaign = certified(folder.path(), &[]);
        assert_eq!(status(&campaign, "R"), wanted, "{record}");
        assert!(reasons(&campaign).contains(reason), "{record}");
        assert_eq!(campaign["records"][0]["rejected"].is_null(), reason.is_empty(), "{record}");
    }
    for (record, message) in [
        (record("analysis", "Q", "R. Reviewer", &of_r), "there is no requirement `Q`"),
        (record("analysis", "R", " ", &of_r), "the reviewer of a record is empty"),
        (record("analysis", "R", "R. Reviewer", "sha256:12"), "`sha256:12` is no content hash"),
    ] {
        project(folder.path(), "A", &[&requirements[..], &[record]].concat());
        let refused = run_json(vkcert().arg("certify").arg(folder.path()), 2);
        assert_eq!(refused["error"]["message"], message);
    }
}

/// Two parents; the second one changes after the link was pinned.
#[test]
fn a_changed_parent_makes_the_link_suspect_whichever_it_is_and_the_result_not_complete() {
    let folder = tempfile::tempdir().unwrap();
    let texts = |second: &str| {
        [
            requirement("P", &[], "\"test\""),
            requirement("Q", &[], "\"test\"").replace("The kernel shall.", second),
            requirement("L", &["P", "Q"], "\"test\""),
            test("T", &["P", "Q", "L"], Some(7)),
        ]
    };
    project(folder.path(), "D", &texts("As it was."));
    let campaign = certified(folder.path(), &[]);
    let notes = campaign["notes"].to_string();
    assert!(notes.contains("2 of 2 links not pinned"), "{notes}");
    assert_eq!(campaign["conclusion"]["exit_code"], 0, "{:#}", campaign["conclusion"]);
    let pinned = run_json(vkcert().args(["requirements", "--pin"]).arg(folder.path()), 0);
    assert_eq!(pinned["written"], serde_json::json!(["requirements/all.toml"]));
    let campaign = certified(folder.path(), &[]);
    assert!(!campaign["notes"].to_string().contains("not pinned"));
    // Pinning again changes nothing, and a suspect link stays as it is.
    let file = folder.path().join("requirements/all.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let again = run_json(vkcert().args(["requirements", "--pin"]).arg(folder.path()), 0);
    assert_eq!(
        (again["written"].clone(), std::fs::read_to_string(&file).unwrap()),
        (serde_json::json!([]), text.clone())
    );
    let changed = text.replace("As it was.", "As it is now.");
    write(folder.path(), "requirements/all.toml", &changed);
    let left = run_json(vkcert().args(["requirements", "--pin"]).arg(folder.path()), 1);
    assert_eq!(left["links"][1]["state"], "suspect");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), changed);
    let campaign = certified(folder.path(), &[]);
    assert_eq!(campaign["conclusion"]["exit_code"], 1);
    assert_eq!(reasons(&campaign), "[\"link L -> Q is suspect: Q has changed\"]");
    assert_eq!(row(&campaign, "L")["suspect_parents"], serde_json::json!(["Q"]));
    let pinned =
        run_json(vkcert().args(["requirements", "--pin", "--suspect"]).arg(folder.path()), 0);
    assert_eq!(
        (&pinned["links"][0]["changed"], &pinned["links"][1]["changed"]),
        (&Value::from(false), &Value::from(true))
    );
    assert_eq!(certified(folder.path(), &[])["conclusion"]["exit_code"], 0);
}

#[test]
fn a_high_level_requirement_that_no_test_names_is_an_open_item_at_every_level() {
    let folder = tempfile::tempdir().unwrap();
    let requirements = [
        requirement("H", &[], "\"test\""),
        requirement("L", &["H"], "\"test\""),
        test("T", &["L"], Some(7)),
    ];
    for level in ["A", "B", "C", "D"] {
        project(folder.path(), level, &requirements);
        let campaign = certified(folder.path(), &[]);
        assert_eq!(status(&campaign, "H"), "verified-by-children");
        assert!(campaign["open_items"].to_string().contains("\"hlr-without-test H\""), "{level}");
    }
    project(folder.path(), "A", &[&requirements[..2], &[test("T", &["H", "L"], Some(7))]].concat());
    let campaign = certified(folder.path(), &[]);
    assert_eq!(status(&campaign, "H"), "verified");
    assert!(!campaign["open_items"].to_string().contains("hlr-without-test"));
}

#[test]
fn forged_statuses_and_records_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let requirements =
        [requirement("R", &[], "\"test\", \"analysis\""), test("T", &["R"], Some(7))];
    project(
        folder.path(),
        "A",
        &[&requirements[..], &[record("analysis", "R", "A. Author", NO_HASH)]].concat(),
    );
    certified(folder.path(), &[]);
    let evidence = folder.path().join("out/latest/evidence");
    type Forgery<'a> = (&'a str, &'a dyn Fn(&mut Value));
    let forgeries: [Forgery; 4] = [
        ("requirements/0/status: stored \"verified\", derived \"open\"", &|campaign| {
            campaign["requirements"][0]["status"] = "verified".into();
        }),
        ("requirements/0/open: not stored, derived [\"analysis\"]", &|campaign| {
            campaign["requirements"][0]["open"] = serde_json::json!([]);
        }),
        ("records/0/rejected: stored null, derived \"stale: R has changed", &|campaign| {
            campaign["records"][0]["rejected"] = Value::Null;
        }),
        ("requirements/0/tests/0: not stored, derived \"T\"", &|campaign| {
            campaign["requirements"][0]["tests"] = serde_json::json!([]);
        }),
    ];
    for (place, change) in forgeries {
        let copy = folder.path().join("forged");
        copy_tree(&evidence, &copy);
        forge(&copy, "campaign.json", change);
        let output = run(vkcert().arg("verify").arg(&copy), 1);
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            told.contains(&format!("differs           campaign.json/{place}")),
            "{place}: {told}"
        );
    }
}

#[test]
fn the_safety_rationale_is_part_of_the_hash() {
    use vkcert::model::requirement::Requirement;
    use vkcert::requirement::hash::requirement_hash;
    let plain = serde_json::json!({
        "uid": "R", "level": "LLR", "title": "t", "statement": "s", "derived": true, "safety_rationale": "why",
        "rationale": "r", "verification": ["test"], "parents": [{ "uid": "P" }], "implements": [{ "file": "k.comp" }],
    });
    let hash_with = |key: &str, value: Value| {
        let mut changed = plain.clone();
        changed[key] = value;
        requirement_hash(&serde_json::from_value::<Requirement>(changed).unwrap())
    };
    let hash = requirement_hash(&serde_json::from_value(plain.clone()).unwrap());
    for (key, value) in [
        ("uid", "S".into()),
        ("level", "HLR".into()),
        ("title", "u".into()),
        ("statement", "u".into()),
        ("rationale", "u".into()),
        ("derived", false.into()),
        ("safety_rationale", "another".into()),
        ("verification", serde_json::json!(["review"])),
    ] {
        assert_ne!(hash_with(key, value), hash, "{key}");
    }
    assert_eq!(hash_with("parents", serde_json::json!([])), hash);
    assert_eq!(hash_with("implements", serde_json::json!([])), hash);
}

/// Kernels `a` and `b` use their header alone, `c` is made of both; no kernel is made of
/// `host.cpp`.
fn project_of_three_kernels(folder: &Path, requirements: &str) {
    let mut settings = "schema = 1\nname = \"Code\"\nlevel = \"D\"\n".to_owned();
    for (name, headers) in [("a", &["a"][..]), ("b", &["b"]), ("c", &["a", "b"])] {
        settings += &format!(
            "[[kernel]]\nname = \"{name}\"\nsource = \"{name}.comp\"\ninclude = [\".\"]\n"
        );
        let includes: String =
            headers.iter().map(|header| format!("#include \"{header}.glsl\"\n")).collect();
        let calls: Vec<String> = headers.iter().map(|header| format!("in_{header}()")).collect();
        let text = KERNEL.replace(
            "450\n",
            &format!("450\n#extension GL_GOOGLE_include_directive : enable\n{includes}"),
        );
        write(
            folder,
            &format!("{name}.comp"),
            text.replace("7u", &format!("7u + 0u * ({})", calls.join(" + "))),
        );
    }
    write(
        folder,
        "a.glsl",
        "#define LIMIT 1u\nuint rare() { return 4u; }\n\
         uint in_a() { return gl_NumWorkGroups.x > 99u ? rare() : LIMIT; }\nuint nobody() { return 3u; }\n",
    );
    write(folder, "b.glsl", "uint in_b() { return 2u; }\n");
    write(folder, "host.cpp", "int launch() { return 0; }\n");
    write(folder, "vkcert.toml", settings);
    write(folder, "requirements/all.toml", format!("schema = 1\n\n{requirements}"));
}

#[test]
fn a_requirement_is_verified_only_by_tests_that_judge_the_code_that_it_names() {
    let cases: &[(&str, &str, &[&str])] = &[
        ("{ file = \"a.comp\", symbol = \"main\" }", "a", &[]),
        ("{ file = \"a.comp\" }", "a", &[]),
        ("{ file = \"b.comp\", symbol = \"main\" }", "a", &["b.comp:main"]),
        ("{ file = \"b.comp\" }", "a", &["b.comp"]),
        // Whoever reaches the function of the header.
        ("{ file = \"a.glsl\", symbol = \"in_a\" }", "c", &[]),
        ("{ file = \"a.glsl\", symbol = \"LIMIT\" }", "c", &[]),
        ("{ file = \"a.glsl\" }", "b", &["a.glsl"]),
        ("{ file = \"a.glsl\", symbol = \"LIMIT\" }", "b", &["a.glsl:LIMIT"]),
        ("{ file = \"a.glsl\", symbol = \"nobody\" }", "a", &["a.glsl:nobody"]),
        // The kernel reaches it, and no test enters it.
        ("{ file = \"a.glsl\", symbol = \"rare\" }", "a", &["a.glsl:rare"]),
        // Each part that it names, and nothing of what no kernel is made of.
        ("{ file = \"a.comp\" }, { file = \"b.comp\" }", "a", &["b.comp"]),
        ("{ file = \"host.cpp\", symbol = \"launch\" }", "a", &[]),
    ];
    let mut tables = String::new();
    for (number, (code, kernel, _)) in cases.iter().enumerate() {
        let uid = format!("R{number}");
        tables += &requirement(&uid, &[], "\"test\"")
            .replace("\n\n", &format!("\nimplements = [{code}]\n\n"));
        let of_kernel = test(&format!("T{number}"), &[&uid], Some(7));
        tables += &of_kernel.replace("kernel = \"k\"", &format!("kernel = \"{kernel}\""));
    }
    // One that no test names, of a child whose test runs another kernel.
    tables += &requirement("P", &[], "\"test\"")
        .replace("\n\n", "\nimplements = [{ file = \"b.comp\" }]\n\n");
    tables += &requirement("C", &["P"], "\"test\"");
    tables += &test("TC", &["C"], Some(7)).replace("kernel = \"k\"", "kernel = \"a\"");
    // And one whose child is not tested either: that child's child is.
    tables += &requirement("PP", &[], "\"test\"")
        .replace("\n\n", "\nimplements = [{ file = \"b.comp\" }]\n\n");
    tables += &requirement("CP", &["PP"], "\"test\"");
    tables += &requirement("CC", &["CP"], "\"test\"");
    tables += &test("TCC", &["CC"], Some(7)).replace("kernel = \"k\"", "kernel = \"a\"");
    let folder = tempfile::tempdir().unwrap();
    project_of_three_kernels(folder.path(), &tables);
    let campaign = certified(folder.path(), &[]);
    for (number, (code, kernel, untested)) in cases.iter().enumerate() {
        let uid = format!("R{number}");
        let expected = if untested.is_empty() { "verified" } else { "open" };
        assert_eq!(
            status(&campaign, &uid),
            expected,
            "{code} by a test of {kernel}: {}",
            row(&campaign, &uid)
        );
        for name in *untested {
            let reason =
                format!("requirement {uid} is open: no test of it judges {name}, which it names");
            assert!(reasons(&campaign).contains(&reason), "{reason}\n{}", reasons(&campaign));
        }
        let stored = row(&campaign, &uid)["untested_code"].as_array().map_or(0, Vec::len);
        assert_eq!(stored, untested.len(), "{code}");
    }
    for parent in ["P", "PP"] {
        assert_eq!(status(&campaign, parent), "open");
        let reason =
            format!("requirement {parent} is open: no test of it judges b.comp, which it names");
        assert!(reasons(&campaign).contains(&reason), "{reason}\n{}", reasons(&campaign));
    }
    let evidence = folder.path().join("out/latest/evidence");
    forge(&evidence, "campaign.json", |campaign| {
        let rows = campaign["requirements"].as_array_mut().unwrap();
        let row = rows.iter_mut().find(|row| row["requirement"]["uid"] == "R2").unwrap();
        row["status"] = "verified".into();
        row.as_object_mut().unwrap().remove("untested_code");
        row.as_object_mut().unwrap().remove("open");
    });
    run(vkcert().arg("verify").arg(&evidence), 1);
}

/// Two kernels of `k.comp`, which differ in their definitions, and a third one of another file that
/// shares its header.
fn project_of_variants(folder: &Path, requirements: &str) {
    let mut settings = "schema = 1\nname = \"Variants\"\nlevel = \"D\"\n".to_owned();
    for (name, source, define) in [("one", "k", "1u"), ("two", "k", "2u"), ("other", "other", "1u")]
    {
        settings += &format!(
            "[[kernel]]\nname = \"{name}\"\nsource = \"{source}.comp\"\ninclude = [\".\"]\ndefines = {{ LIMIT = \"{define}\" }}\n"
        );
    }
    let include = "450\n#extension GL_GOOGLE_include_directive : enable\n#include \"h.glsl\"\n";
    let text = KERNEL.replace("450\n", include);
    write(folder, "k.comp", text.replace("7u", "plain(limited() - LIMIT + 7u)"));
    write(folder, "other.comp", text.replace("7u", "plain(7u * least + 0u * second(0u))"));
    write(
        folder,
        "h.glsl",
        "const uint least = LIMIT;\nuint plain(uint least) { return least; }\nuint second(uint x) { return x; }\n\
         uint limited() { return plain(1u) * least; }\n",
    );
    write(folder, "vkcert.toml", settings);
    write(folder, "requirements/all.toml", format!("schema = 1\n\n{requirements}"));
}

type KernelsAndTexts<'a> = Vec<(&'a str, &'a str)>;

/// What one kernel shows of a function says something of another kernel only where the text is the
/// same.
#[test]
fn code_is_tested_in_each_kernel_or_the_kernel_is_named() {
    let same: &[(&str, &str)] = &[("one", "same"), ("two", "same"), ("other", "same")];
    let without = |tested: &[&str]| -> KernelsAndTexts<'_> {
        same.iter().filter(|(kernel, _)| !tested.contains(kernel)).copied().collect()
    };
    let main = "{ file = \"k.comp\", symbol = \"main\" }";
    let cases: &[(&str, &[&str], KernelsAndTexts<'_>)] = &[
        // `plain` has a parameter of the name of what differs.
        ("{ file = \"h.glsl\", symbol = \"plain\" }", &["one"], without(&["one"])),
        ("{ file = \"h.glsl\", symbol = \"plain\" }", &["one", "two", "other"], vec![]),
        // Its own text is the same; what it uses is not.
        ("{ file = \"h.glsl\", symbol = \"limited\" }", &["one"], vec![("two", "other")]),
        ("{ file = \"h.glsl\", symbol = \"limited\" }", &["one", "two"], vec![]),
        (main, &["one"], vec![("two", "other")]),
        (main, &["two"], vec![("one", "other")]),
        ("{ file = \"k.comp\" }", &["one"], vec![("two", "other")]),
        // The kernel `other` alone reaches `second`; a link to the file is about it, too.
        ("{ file = \"h.glsl\" }", &["one", "two"], vec![("other", "other")]),
        ("{ file = \"h.glsl\" }", &["one", "two", "other"], vec![]),
        // The requirement is about one of the kernels.
        ("{ file = \"k.comp\", symbol = \"main\", kernels = [\"one\"] }", &["one"], vec![]),
    ];
    let mut tables = String::new();
    for (number, (code, kernels, _)) in cases.iter().enumerate() {
        let uid = format!("R{number}");
        tables += &requirement(&uid, &[], "\"test\"")
            .replace("\n\n", &format!("\nimplements = [{code}]\n\n"));
        for kernel in *kernels {
            let of_kernel = test(&format!("T{number}-{kernel}"), &[&uid], Some(7));
            tables += &of_kernel.replace("kernel = \"k\"", &format!("kernel = \"{kernel}\""));
        }
    }
    // It names a kernel that its test does not run.
    tables += &requirement("S", &[], "\"test\"")
        .replace("\n\n", "\nimplements = [{ file = \"k.comp\", kernels = [\"two\"] }]\n\n");
    tables += &test("TS", &["S"], Some(7)).replace("kernel = \"k\"", "kernel = \"one\"");
    let folder = tempfile::tempdir().unwrap();
    project_of_variants(folder.path(), &tables);
    let campaign = certified(folder.path(), &[]);
    for (number, (code, tested, due)) in cases.iter().enumerate() {
        let uid = format!("R{number}");
        let row = row(&campaign, &uid);
        let named = row["untested_kernels"].as_array().cloned().unwrap_or_default();
        let named: Vec<_> = named
            .iter()
            .map(|one| (one["kernel"].as_str().unwrap(), one["text"].as_str().unwrap()))
            .collect();
        assert_eq!(named, *due, "{code} tested in {tested:?}");
        let open = due.iter().any(|(_, text)| *text == "other");
        assert_eq!(
            status(&campaign, &uid),
            if open { "open" } else { "verified" },
            "{code} tested in {tested:?}"
        );
    }
    assert_eq!(status(&campaign, "S"), "open");
    let reasons = reasons(&campaign);
    for reason in [
        "requirement R4 is open: no test of it judges k.comp:main in two, whose text is another than where it is tested",
        "requirement S is open: no test of it judges k.comp of two, which it names",
    ] {
        assert!(reasons.contains(reason), "{reason}: {reasons}");
    }
    let notes = campaign["notes"].to_string();
    assert!(
        notes.contains(
            "its text is the same there: h.glsl:plain in two (R0), h.glsl:plain in other (R0)"
        ),
        "{notes}"
    );
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(page.contains("(not judged in two, which has other text)"));
    let evidence = folder.path().join("out/latest/evidence");
    forge(&evidence, "campaign.json", |campaign| {
        let rows = campaign["requirements"].as_array_mut().unwrap();
        let row = rows.iter_mut().find(|row| row["requirement"]["uid"] == "R0").unwrap();
        row.as_object_mut().unwrap().remove("untested_kernels");
    });
    run(vkcert().arg("verify").arg(&evidence), 1);
    let unknown = tables.replace("[\"two\"]", "[\"three\"]");
    write(folder.path(), "requirements/all.toml", format!("schema = 1\n\n{unknown}"));
    let refused = run_json(vkcert().arg("certify").arg(folder.path()), 2);
    assert!(refused["error"]["message"].as_str().unwrap().contains("three"), "{refused}");
}

/// Texts that cannot be taken apart are not said to differ.
#[test]
fn code_beside_text_that_cannot_be_read_is_open_for_that_reason() {
    let link = "\nimplements = [{ file = \"h.glsl\", symbol = \"plain\" }]\n\n";
    let tables = requirement("R", &[], "\"test\"").replace("\n\n", link)
        + &test("T", &["R"], Some(7)).replace("kernel = \"k\"", "kernel = \"one\"");
    let folder = tempfile::tempdir().unwrap();
    project_of_variants(folder.path(), &tables);
    // The compiler takes what is nested deeper than our parser reads.
    let path = folder.path().join("k.comp");
    let (text, deep) = (std::fs::read_to_string(&path).unwrap(), 900);
    let nested = format!("const float deep = {}1.0{};\n", "(".repeat(deep), ")".repeat(deep));
    let line = text.lines().take_while(|line| !line.contains("void main")).count() + 1;
    write(folder.path(), "k.comp", text.replace("void main", &format!("{nested}void main")));
    let campaign = certified(folder.path(), &[]);
    let named = &row(&campaign, "R")["untested_kernels"];
    let unread = format!("k.comp:{line} (nested more than 1500 deep)");
    for (at, kernel) in ["two", "other"].into_iter().enumerate() {
        let row = &named[at];
        assert_eq!(
            (&row["kernel"], &row["text"], &row["unread"]),
            (&kernel.into(), &"unread".into(), &unread.clone().into())
        );
        let reason = format!(
            "no test of it judges h.glsl:plain in {kernel}, and whether its text is that which is tested is not known: {unread} \
             could not be read"
        );
        assert!(reasons(&campaign).contains(&reason), "{reason}: {}", reasons(&campaign));
    }
    let page = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    assert!(
        page.contains(&format!("not judged in two, whose text could not be compared: {unread}"))
    );
    run(vkcert().arg("verify").arg(folder.path().join("out/latest/evidence")), 0);
}

/// What is missing and no open item is a note, with numbers and names.
#[test]
fn tests_and_code_that_requirements_lack_are_told_and_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let linked = |uid: &str| requirement(uid, &["H"], "\"test\"");
    let named = linked("L2")
        .replace("\n\n", "\nimplements = [{ file = \"k.comp\", symbol = \"main\" }]\n\n");
    let tables = [
        requirement("H", &[], "\"test\""),
        linked("L1"),
        named,
        test("T1", &["H", "L1", "L2"], Some(7)),
    ];
    let robust =
        test("T2", &["L2"], Some(7)).replace("id = \"T2\"", "id = \"T2\"\nkind = \"robustness\"");
    // One that repeats a normal test is none.
    let repeated = robust.clone();
    let robust = robust.replace("data = [0]", "data = [9]");
    let code = "objective 5): 1 of 2 to be verified by test: L1";
    let none = "No test is a robustness test";
    for (level, more, due) in [
        ("C", None, vec!["requirements to be verified by test: 3", none, code]),
        ("C", Some(&repeated), vec![none, "expects the same as a normal one"]),
        ("C", Some(&robust), vec!["6.4.2.2): 2 of 3 to be verified by test: H, L1.", code]),
        // Of level D the standard asks robustness tests of high-level requirements alone, and no
        // links to code.
        ("D", None, vec![none, "requirements to be verified by test: 1"]),
        ("D", Some(&robust), vec!["6.4.2.2): 1 of 1 to be verified by test: H"]),
    ] {
        let tables: Vec<String> = tables.iter().chain(more).cloned().collect();
        project(folder.path(), level, &tables);
        let campaign = certified(folder.path(), &[]);
        let notes = campaign["notes"].to_string();
        due.iter().for_each(|part| assert!(notes.contains(part), "{level} {part}: {notes}"));
        assert_eq!(notes.contains("name no code"), level == "C", "{notes}");
        assert!(!reasons(&campaign).contains("robustness"));
        if level == "D" {
            assert_eq!(campaign["conclusion"]["exit_code"], 0);
        }
    }
}

#[test]
fn a_stated_reason_why_no_robustness_test_is_needed_is_told_beside_its_lack() {
    let folder = tempfile::tempdir().unwrap();
    let exempt = |uid: &str| {
        let record = "no_robustness_test = { reason = \"All words are inputs.\", author = \"A\", approver = \"B\" }";
        requirement(uid, &[], "\"test\"").replace("\n\n", &format!("\n{record}\n\n"))
    };
    let robust = test("T2", &["H3"], Some(7))
        .replace("id = \"T2\"", "id = \"T2\"\nkind = \"robustness\"")
        .replace("data = [0]", "data = [9]");
    let normal = test("T1", &["H1", "H2", "H3"], Some(7));
    for (second, words) in [
        (
            requirement("H2", &[], "\"test\""),
            "H1, H2; for 1 of them a reason why none is needed is stated.",
        ),
        (exempt("H2"), "H1, H2; a reason why none is needed is stated for each."),
    ] {
        let third = requirement("H3", &[], "\"test\"");
        project(folder.path(), "C", &[exempt("H1"), second, third, normal.clone(), robust.clone()]);
        let notes = certified(folder.path(), &[])["notes"].to_string();
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

/// With one level of requirements each is a high-level and a low-level one, whatever its row says.
#[test]
fn requirements_of_a_single_level_need_no_parents_and_what_both_levels_need() {
    let folder = tempfile::tempdir().unwrap();
    let parentless = |uid: &str| requirement(uid, &[], "\"test\"").replace("HLR", "LLR");
    let tables = [parentless("R1"), parentless("R2"), test("T1", &["R1"], Some(7))];
    project(folder.path(), "C", &tables);
    let command = || {
        let mut command = vkcert();
        command.arg("list").arg("requirements").arg(folder.path());
        command
    };
    let refusal = run(&mut command(), 2);
    assert!(
        String::from_utf8_lossy(&refusal.stderr).contains("missing-parent"),
        "{}",
        String::from_utf8_lossy(&refusal.stderr)
    );
    assert!(String::from_utf8_lossy(&refusal.stderr).contains("requirement_levels = \"single\""));

    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    let settings = settings.replace("level =", "requirement_levels = \"single\"\nlevel =");
    write(folder.path(), "vkcert.toml", settings);
    run(&mut command(), 0);
    let campaign = certified(folder.path(), &[]);
    let item = "no test case names the requirement R2, which is to be verified by test";
    assert!(campaign["open_items"].to_string().contains(item), "{}", campaign["open_items"]);
    let notes = campaign["notes"].to_string();
    for note in [
        "\"Requirements that name no code in `implements`",
        "2 of 2 to be verified by test: R1, R2",
        "DO-178C 6.4.2.2; requirements to be verified by test: 2",
    ] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let objectives = campaign["objectives"].as_array().unwrap();
    for number in ["A-7.3", "A-7.4"] {
        let row = objectives.iter().find(|row| row["objective"] == number).unwrap();
        assert!(row["missing"].to_string().to_lowercase().contains(&item.to_lowercase()), "{row}");
    }
}

/// Parameter data items are what the host sets: its interface states that, or nothing does.
#[test]
fn specialization_values_are_held_against_what_the_host_sets() {
    const SPECIALIZED: &str = "#version 450
layout(local_size_x = 1) in;
layout(constant_id = 3) const uint VALUE = 7u;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() { o[gl_GlobalInvocationID.x] = VALUE; }
";
    let interface = |value: u32| {
        format!(
            "\n[[interface]]\nkernel = \"k\"\nsource = \"host.c\"\ngroups = [\"1\", \"1\", \"1\"]\nlocal_size = [1, 1, 1]\n\
             domain = [\"1\", \"1\", \"1\"]\nbuffers = [{{ set = 0, binding = 0, name = \"o\", size = \"4\" }}]\n\
             specialization = [{{ id = 3, value = \"{value}\" }}]\n"
        )
    };
    for (stated, field, words) in [
        (None, "missing", "no [[interface]] states which values the host sets"),
        (Some(interface(7)), "shown", "the values that the host sets, as the project states it"),
        (Some(interface(8)), "missing", "the host, as the project states it, sets other values"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let tables = [requirement("H", &[], "\"test\""), test("T1", &["H"], Some(7))];
        let tables: Vec<String> = tables.into_iter().chain(stated).collect();
        project(folder.path(), "C", &tables);
        write(folder.path(), "k.comp", SPECIALIZED);
        let campaign = certified(folder.path(), &[]);
        let objectives = campaign["objectives"].as_array().unwrap();
        let row = objectives.iter().find(|row| row["objective"] == "A-5.8").unwrap();
        assert!(row[field].to_string().contains(words), "{field} {words}: {row}");
        assert_ne!(row["status"], "met");
        // A test of them that fails verifies none of them.
        let failing = [requirement("H", &[], "\"test\""), test("T1", &["H"], Some(9))];
        project(folder.path(), "C", &failing);
        write(folder.path(), "k.comp", SPECIALIZED);
        let campaign = certified(folder.path(), &[]);
        let objectives = campaign["objectives"].as_array().unwrap();
        let row = objectives.iter().find(|row| row["objective"] == "A-5.9").unwrap();
        let sentence = "did not pass wherever they ran: T1.";
        assert!(row["missing"].to_string().contains(sentence), "{row}");
        assert_eq!(row["status"], "open");
    }
}

/// What a reference computes is the expected result, so that it has to be defined.
#[test]
fn a_reference_with_a_finding_leaves_its_test_undetermined() {
    const RACY: &str = "#version 450
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer Out { uint o[]; };
void main() { if (gl_LocalInvocationID.x < o.length() + 1) o[0] = 7u; }
";
    let folder = tempfile::tempdir().unwrap();
    let expected = "expect = [{ buffer = \"o\", type = \"uint\", reference = { kernel = \"r\", groups = [1, 1, 1], \
                    bindings = [{ binding = 0, buffer = \"o\" }] } }]";
    let by_reference =
        test("T", &["H"], Some(7)).replace("expect = [{ buffer = \"o\", values = [7] }]", expected);
    project(folder.path(), "C", &[requirement("H", &[], "\"test\""), by_reference]);
    let settings = std::fs::read_to_string(folder.path().join("vkcert.toml")).unwrap();
    let reference_kernel = "[[kernel]]\nname = \"r\"\nsource = \"r.comp\"\n";
    write(folder.path(), "vkcert.toml", settings + reference_kernel);
    write(folder.path(), "r.comp", RACY.replace("o.length() + 1", "1u"));
    assert_eq!(status(&certified(folder.path(), &[]), "H"), "verified");
    write(folder.path(), "r.comp", RACY);
    let campaign = certified(folder.path(), &[]);
    let result = &campaign["tests"][0]["results"][0];
    assert_eq!(result["verdict"], "undetermined", "{result}");
    let reason = result["reason"].as_str().unwrap();
    assert!(reason.starts_with("the reference for `o` itself has findings"), "{reason}");
}
