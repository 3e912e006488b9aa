//! Tests of reading a project folder: which files, their schema, their places, and links by hash.

use super::hash::{requirement_hash, test_hash};
use super::load::{is_requirement_file, load_project, requirement_files};
use super::load_procedure::load_procedure;
use super::pin::{LinkState, Pinning, pin_links};
use super::project_folder::{ProjectFolder, edited, kinds_and_places};
use super::trace::trace_requirements;
use std::collections::BTreeMap;
use std::path::Path;
use vkcert_model::canonical::content_hash;
use vkcert_model::evidence::{CodeTrace, RequirementStatus};
use vkcert_model::id::{RequirementId, TestId};

const PROJECT: &str = r#"schema = 1
name = "Example"
level = "C"
[[kernel]]
name = "k"
source = "./glsl//k.comp"
"#;

const PARENT: &str = r#"schema = 1
[[requirement]]
uid = "HLR-1"
level = "HLR"
title = "Results"
statement = "The kernel shall write results."
verification = ["test"]
"#;

const CHILD: &str = r#"schema = 1
[[requirement]]
uid = "LLR-1"
level = "LLR"
title = "Guard"
statement = "No store beyond."
parents = [{ uid = "HLR-1" }]
verification = ["review"]
implements = [{ file = "./glsl/k.comp", symbol = "guard" }, { file = "glsl/k.comp" }]
[[test]]
id = "TC-1"
requirements = ["LLR-1"]
buffers.r = { type = "uint", count = 4 }
[[test.dispatches]]
kernel = "k"
groups = [1, 1, 1]
bindings = [{ binding = 0, buffer = "r" }]
"#;

const KERNEL: &str = "// guard\nvoid guard() {}\nvoid main() { guard(); }\n";

fn example_folder() -> ProjectFolder {
    ProjectFolder::with_files(&[
        ("vkcert.toml", PROJECT),
        ("requirements/a/child.toml", CHILD),
        ("requirements/parent.toml", PARENT),
        ("requirements/notes.txt", "no TOML"),
        ("requirements/toml", "no TOML"),
        ("glsl/k.comp", KERNEL),
    ])
}

fn problems_of(folder: &ProjectFolder) -> Vec<String> {
    kinds_and_places(&folder.load().err().unwrap_or_default())
}

#[test]
fn files_are_read_in_the_order_of_their_paths() {
    let folder = example_folder();
    let files = ["requirements/a/child.toml", "requirements/parent.toml"];
    assert_eq!(requirement_files(&folder.path).unwrap(), files);
    let project = folder.load().unwrap();
    assert_eq!(project.settings.kernels[0].source, "glsl/k.comp");
    let uids: Vec<&str> =
        project.requirements.iter().map(|requirement| requirement.uid.as_str()).collect();
    assert_eq!(uids, ["LLR-1", "HLR-1"]);
    let read_from: Vec<String> =
        project.requirements.iter().map(|requirement| project.relative_file(requirement)).collect();
    assert_eq!(read_from, files);
    assert_eq!(project.requirements[0].implements[0].file, "glsl/k.comp");
    let inputs = [
        ("requirements/a/child.toml", CHILD),
        ("requirements/parent.toml", PARENT),
        ("vkcert.toml", PROJECT),
    ];
    let hashes = inputs.map(|(file, text)| (file.to_owned(), content_hash(text.as_bytes())));
    assert_eq!(project.inputs, BTreeMap::from(hashes));
    assert!(project.left_out.is_empty());
}

#[test]
fn a_requirement_file_is_toml_below_its_folder() {
    for path in ["requirements/a.toml", "requirements/b/c.toml"] {
        assert!(is_requirement_file(path), "{path}");
    }
    for path in [
        "requirements.toml",
        "requirements/a.txt",
        "requirements/toml",
        "requirements2/a.toml",
        "a/requirements/a.toml",
        "vkcert.toml",
        "requirements",
    ] {
        assert!(!is_requirement_file(path), "{path}");
    }
}

#[test]
fn what_is_missing_is_told_by_its_path() {
    let folder = example_folder();
    std::fs::remove_dir_all(folder.path.join("requirements")).unwrap();
    assert_eq!(problems_of(&folder), ["missing-file requirements"]);
    folder.write("requirements/notes.txt", "");
    assert_eq!(problems_of(&folder), ["missing-file requirements"]);
    std::fs::remove_file(folder.path.join("vkcert.toml")).unwrap();
    let found = folder.load().unwrap_err();
    assert_eq!(kinds_and_places(&found), ["missing-file vkcert.toml", "missing-file requirements"]);
    let shown_file = folder.path.join("vkcert.toml").display().to_string();
    assert_eq!(found[0].message, format!("there is no project file `{shown_file}`"));
    let below = folder.path.join("./glsl/..");
    let shown = load_project(&below).unwrap_err().remove(0).location.unwrap().file;
    assert_eq!(shown, folder.path.join("glsl/../vkcert.toml").display().to_string());
    let found = load_project(Path::new("./no such folder")).unwrap_err();
    let files: Vec<&str> =
        found.iter().map(|problem| problem.location.as_ref().unwrap().file.as_str()).collect();
    assert_eq!(files, ["no such folder/vkcert.toml", "no such folder/requirements"]);
}

#[test]
fn the_version_of_a_format_is_looked_at_first() {
    let folder = example_folder();
    for (file, text) in [("vkcert.toml", PROJECT), ("requirements/parent.toml", PARENT)] {
        for (replacement, expected) in [
            ("schema = 2\nunknown = 3", "schema 2"),
            ("schema = \"1\"", "schema \"1\""),
            ("schemas = 1", "unknown-key schemas"),
        ] {
            folder.write(file, &edited(text, "schema = 1", replacement));
            assert_eq!(problems_of(&folder), [expected], "{replacement} in {file}");
        }
        folder.write(file, &edited(text, "schema = 1\n", ""));
        let found = folder.load().unwrap_err();
        assert_eq!((found.len(), found[0].kind), (1, "missing-key"), "{file}");
        folder.write(file, text);
    }
    folder.write("vkcert.toml", "");
    assert_eq!(problems_of(&folder), ["empty-file "]);
    folder.write("vkcert.toml", "# nothing\n");
    assert_eq!(folder.load().unwrap_err()[0].kind, "empty-file");
}

#[test]
fn keys_and_tables_of_a_requirements_file_are_known() {
    let folder = example_folder();
    let file = "requirements/parent.toml";
    folder.write(file, &edited(PARENT, "schema = 1\n", "schema = 1\ninterfaces = 1\n"));
    let found = folder.load().unwrap_err();
    assert_eq!(kinds_and_places(&found), ["unknown-key interfaces"]);
    assert_eq!(found[0].hint.as_deref(), Some("did you mean `interface`?"));
    folder.write(file, &edited(PARENT, "schema = 1\n", "schema = 1\nqqqqqq = 1\n"));
    let hint = "the keys at the top of this file are schema, requirement, test, analysis, review, \
                justification, interface";
    assert_eq!(folder.load().unwrap_err()[0].hint.as_deref(), Some(hint));
    folder.write(file, &edited(PARENT, "[[requirement]]", "[requirement]"));
    assert_eq!(problems_of(&folder), ["wrong-type [requirement]"]);
    for table in ["test", "analysis", "review", "justification", "interface"] {
        folder.write(file, &format!("{PARENT}[[{table}]]\nqqqqqq = 1\n"));
        assert!(problems_of(&folder).contains(&"unknown-key qqqqqq".to_owned()), "{table}");
    }
}

/// One bad table or file does not hide the faults of the others; what it may declare is not said
/// to be unknown.
#[test]
fn faults_of_several_files_are_told_together() {
    let folder = example_folder();
    folder.write("requirements/parent.toml", &edited(PARENT, "title", "titel"));
    folder.write("requirements/a/child.toml", &edited(CHILD, "\"Guard\"", "\"\""));
    assert_eq!(problems_of(&folder), ["unknown-key titel", "bad-value \"\""]);
    folder.write("requirements/parent.toml", "schema = ");
    let found = problems_of(&folder);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("toml-syntax") && found[1] == "bad-value \"\"", "{found:?}");
    folder.write("vkcert.toml", &edited(PROJECT, "level", "levle"));
    assert!(problems_of(&folder).contains(&"unknown-key levle".to_owned()));
    // Faults of a file stand in the order of the text, whichever check found them.
    folder.write("vkcert.toml", PROJECT);
    folder.write("requirements/parent.toml", PARENT);
    let twice = edited(CHILD, "\"No store beyond.\"", "\"\"");
    folder
        .write("requirements/a/child.toml", &edited(&twice, "uid = \"LLR-1\"", "uid = \"LLR 1\""));
    let places = ["bad-name \"LLR 1\"", "bad-value \"\"", "unknown-requirement \"LLR-1\""];
    assert_eq!(problems_of(&folder), places);
}

#[test]
fn a_procedure_is_read_beside_its_files() {
    let text = "schema = 1\n[kernels.k]\nsource = \"k.comp\"\n[[tests]]\nid = \"T\"\n\
                [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\n";
    let folder = ProjectFolder::with_files(&[("p/run.toml", text)]);
    let path = folder.path.join("p/run.toml");
    let read = load_procedure(&path).unwrap();
    assert_eq!(read.base, folder.path.join("p"));
    assert_eq!(read.procedure.origin.file(), path.display().to_string());
    assert_eq!((read.tests.len(), read.procedure.tests.len()), (1, 1));
    folder.write("p/run.toml", &edited(text, "schema = 1", "schema = 3"));
    assert_eq!(kinds_and_places(&load_procedure(&path).unwrap_err()), ["schema 3"]);
    let absent = load_procedure(&folder.path.join("absent.toml")).unwrap_err();
    assert_eq!(kinds_and_places(&absent), ["missing-file absent.toml"]);
}

#[test]
fn a_trace_leads_to_children_tests_and_code() {
    let folder = example_folder();
    let more = "[[requirement]]\nuid = \"LLR-2\"\nlevel = \"LLR\"\ntitle = \"t\"\nstatement = \"s\"\n\
                parents = [{ uid = \"HLR-1\" }, { uid = \"LLR-1\" }]\nverification = [\"test\"]\n";
    folder.write("requirements/z.toml", &format!("schema = 1\n{more}"));
    let mut project = folder.load().unwrap();
    let mut left_out = project.tests[0].clone();
    left_out.value.id = TestId::from("TC-2");
    left_out.value.requirements = vec!["HLR-1".into()];
    project.left_out.push(left_out);
    let traces = trace_requirements(&project);
    let [guard, results, second] = traces.as_slice() else { panic!("three requirements") };
    let ids =
        |names: &[&str]| names.iter().map(|name| RequirementId::from(*name)).collect::<Vec<_>>();
    assert_eq!(results.children, ids(&["LLR-1", "LLR-2"]));
    assert_eq!((&guard.children, &second.children), (&ids(&["LLR-2"]), &ids(&[])));
    assert_eq!((guard.tests.as_slice(), guard.left_out_tests.len()), (&["TC-1".into()][..], 0));
    assert_eq!((results.tests.len(), results.left_out_tests.as_slice()), (0, &["TC-2".into()][..]));
    assert_eq!(guard.file, "requirements/a/child.toml");
    assert_eq!(guard.hash, requirement_hash(&guard.requirement));
    assert_eq!(guard.status, RequirementStatus::Untested);
    let trace = |symbol: Option<&str>, line: Option<u32>, found: bool| CodeTrace {
        file: "glsl/k.comp".to_owned(),
        symbol: symbol.map(str::to_owned),
        line,
        found,
        kernels: Vec::new(),
    };
    assert_eq!(guard.code, [trace(Some("guard"), Some(2), true), trace(None, None, true)]);
    // The code may change behind the project.
    folder.write("glsl/k.comp", "void main() {}\n");
    let code = &trace_requirements(&project)[0].code;
    assert_eq!(*code, [trace(Some("guard"), None, false), trace(None, None, true)]);
    std::fs::remove_file(folder.path.join("glsl/k.comp")).unwrap();
    let code = &trace_requirements(&project)[0].code;
    assert_eq!(*code, [trace(Some("guard"), None, false), trace(None, None, false)]);
    // In a binary file no symbol can be looked for.
    std::fs::write(folder.path.join("glsl/k.comp"), [0xff, 0xfe]).unwrap();
    let code = &trace_requirements(&project)[0].code;
    assert_eq!(*code, [trace(Some("guard"), None, true), trace(None, None, true)]);
}

/// A link is suspect once its parent's content is another than the one that its hash is of.
#[test]
fn links_are_pinned_and_suspect_by_the_parents_content() {
    let folder = example_folder();
    let project = folder.load().unwrap();
    let hash = requirement_hash(&project.requirements[1]);
    let pinned_text =
        edited(CHILD, "{ uid = \"HLR-1\" }", &format!("{{ uid = \"HLR-1\", hash = \"{hash}\" }}"));
    let file = "requirements/a/child.toml";
    let link_states = |pinning: Pinning| {
        let (links, files) = pin_links(&folder.load().unwrap(), pinning);
        let [link] = links.as_slice() else { panic!("one link") };
        assert_eq!((link.requirement.as_str(), link.parent.as_str()), ("LLR-1", "HLR-1"));
        assert_eq!(link.file, file);
        assert_eq!(link.changed, !files.is_empty());
        (link.state, link.hash.clone(), files.get(file).cloned())
    };
    let unchanged = |state: LinkState, hash: &str| (state, hash.to_owned(), None);
    assert_eq!(link_states(Pinning::None), unchanged(LinkState::NotPinned, &hash));
    for pinning in [Pinning::Missing, Pinning::MissingAndSuspect] {
        let expected = (LinkState::Pinned, hash.clone(), Some(pinned_text.clone()));
        assert_eq!(link_states(pinning), expected);
    }
    let suspect_parents = || trace_requirements(&folder.load().unwrap())[0].suspect_parents.clone();
    assert!(suspect_parents().is_empty(), "it was never reviewed against a content");
    folder.write(file, &pinned_text);
    for pinning in [Pinning::None, Pinning::Missing, Pinning::MissingAndSuspect] {
        assert_eq!(link_states(pinning), unchanged(LinkState::Pinned, &hash));
    }
    assert!(suspect_parents().is_empty());
    folder.write("requirements/parent.toml", &edited(PARENT, "shall write", "shall store"));
    let new_hash = requirement_hash(&folder.load().unwrap().requirements[1]);
    for pinning in [Pinning::None, Pinning::Missing] {
        assert_eq!(link_states(pinning), unchanged(LinkState::Suspect, &new_hash));
    }
    assert_eq!(suspect_parents(), ["HLR-1".into()]);
    let repinned = edited(&pinned_text, &hash, &new_hash);
    let expected = (LinkState::Pinned, new_hash.clone(), Some(repinned));
    assert_eq!(link_states(Pinning::MissingAndSuspect), expected);
}

/// What a hash is of: SHA-256 of canonical JSON, as `hash` says it.
#[test]
fn a_content_hash_is_of_the_canonical_content() {
    let folder = example_folder();
    let project = folder.load().unwrap();
    let guard = "{\"derived\":false,\"level\":\"LLR\",\"rationale\":null,\"safety_rationale\":null,\
                 \"statement\":\"No store beyond.\",\"title\":\"Guard\",\"uid\":\"LLR-1\",\
                 \"verification\":[\"review\"]}";
    assert_eq!(requirement_hash(&project.requirements[0]), content_hash(guard.as_bytes()));
    let before = test_hash(&project.tests[0]);
    let mut test = project.tests[0].value.clone();
    assert_eq!(test_hash(&test), before);
    test.dispatches[0].groups = [2, 1, 1];
    assert_ne!(test_hash(&test), before);
    assert!(vkcert_model::canonical::is_content_hash(&before));
}

/// The whole of it, without faults.
const IDENTITY: &str = r#"
[target]
device = "GPU"
driver = "its driver"
driver_info = "1.0"
[document]
number = "SVR-1"
revision = "B"
date = "2026-01-31"
authors = ["A. Author"]
approval = [{ role = "Verification", name = "C. Approver" }]
history = [
    { revision = "A", date = "2025-11-03", author = "A. Author", change = "First issue" },
    { revision = "B", date = "2026-01-31", author = "A. Author", change = "More" },
]
reference = [{ id = "SVP", title = "Plan" }, { id = "SDP", title = "Plan" }]
acronyms = { SVP = "Plan" }
[document.svcp]
number = "SVCP-4"
revision = "C"
title = "Cases of the unit"
date = "2026-02-01"
history = [{ revision = "C", date = "2026-02-01", author = "A. Author", change = "Third" }]
[document.trace]
number = "TRC-5"
revision = "A"
"#;

#[test]
fn target_and_document_say_something_or_are_refused_in_their_place() {
    let with = |settings: String| {
        ProjectFolder::with_files(&[
            ("vkcert.toml", settings.as_str()),
            ("requirements/a/child.toml", CHILD),
            ("requirements/parent.toml", PARENT),
            ("glsl/k.comp", KERNEL),
        ])
    };
    let whole = format!("{PROJECT}author = \"A\"\nreviewer = \"B\"\n{IDENTITY}");
    assert_eq!(problems_of(&with(whole.clone())), Vec::<String>::new());
    for (old, new, kind) in [
        ("driver = \"its driver\"", "driver = \"  \"", "bad-value"),
        ("driver_info = \"1.0\"\n", "", "missing-key"),
        ("driver_info", "driver_version", "missing-key"),
        ("number = \"SVR-1\"", "number = \"\"", "bad-value"),
        (
            "revision = \"B\"\ndate = \"2026-01-31\"",
            "revision = \"B\"\ndate = \"2026-02-30\"",
            "bad-value",
        ),
        ("revision = \"B\"\ndate", "revision = \"C\"\ndate", "bad-value"),
        ("{ revision = \"A\",", "{ revision = \"B\",", "duplicate-id"),
        ("date = \"2025-11-03\"", "date = \"3 November\"", "bad-value"),
        ("[\"A. Author\"]", "[\"A. Author\", \" \"]", "bad-value"),
        ("name = \"C. Approver\"", "name = \"\"", "bad-value"),
        ("id = \"SDP\"", "id = \"SVP\"", "duplicate-id"),
        ("title = \"Plan\" }]", "title = \"-\" }]", "bad-value"),
        ("[document.svcp]", "[document.report]", "unknown-key"),
        ("title = \"Cases", "heading = \"Cases", "unknown-key"),
        ("number = \"SVCP-4\"\n", "", "missing-key"),
        ("number = \"SVCP-4\"", "number = \"svr-1\"", "duplicate-id"),
        ("number = \"SVCP-4\"", "number = \"SVR\\u200b-1\"", "bad-value"),
        ("number = \"SVCP-4\"", "number = \"SVR-1\\u00a0\"", "bad-value"),
        ("number = \"SVCP-4\"", "number = \"TRC-5\"", "duplicate-id"),
        // The number that is made for the document without one of its own.
        ("number = \"SVCP-4\"", "number = \"SVR-1-coupling\"", "duplicate-id"),
        ("title = \"Cases of the unit\"", "title = \" \"", "bad-value"),
        ("revision = \"C\"\ntitle", "revision = \"D\"\ntitle", "bad-value"),
        ("date = \"2026-02-01\"\nhistory", "date = \"2026-02-31\"\nhistory", "bad-value"),
        ("reviewer = \"B\"", "reviewer = \"\"", "bad-value"),
    ] {
        assert!(whole.contains(old), "{old}");
        let problems = problems_of(&with(whole.replacen(old, new, 1)));
        assert!(problems.iter().any(|problem| problem.starts_with(kind)), "{new}: {problems:?}");
    }
}

#[test]
fn names_that_differ_in_capitals_alone_are_refused() {
    let with = |settings: &str, child: &str| {
        problems_of(&ProjectFolder::with_files(&[
            ("vkcert.toml", settings),
            ("requirements/a/child.toml", child),
            ("requirements/parent.toml", PARENT),
            ("glsl/k.comp", KERNEL),
        ]))
    };
    assert_eq!(with(PROJECT, CHILD), Vec::<String>::new());
    let kernel = "[[kernel]]\nname = \"K\"\nsource = \"glsl/k.comp\"\n";
    let configurations = "[[kernel.configuration]]\nname = \"c\"\nspecialization = {}\n\
                          [[kernel.configuration]]\nname = \"C\"\nspecialization = {}\n";
    let (_, test) = CHILD.split_once("[[test]]").unwrap();
    let requirement = PARENT.replace("schema = 1\n", "").replace("HLR-1", "hlr-1");
    for (settings, child) in [
        (format!("{PROJECT}{kernel}"), CHILD.to_owned()),
        (format!("{PROJECT}{configurations}"), CHILD.to_owned()),
        (PROJECT.to_owned(), format!("{CHILD}[[test]]{}", test.replace("TC-1", "tc-1"))),
        (PROJECT.to_owned(), format!("{CHILD}{requirement}")),
    ] {
        let problems = with(&settings, &child);
        assert!(problems.len() == 1 && problems[0].starts_with("duplicate-id"), "{problems:?}");
    }
}

#[test]
fn reviews_of_tests_stand_beside_those_of_requirements() {
    let review = format!(
        "schema = 1\n[[review]]\nof = \"procedures\"\ntests = [{{ id = \"TC-1\", hash = \"sha256:{}\" }}]\n\
         document = \"V-17\"\nsection = \"3\"\nreviewer = \"B\"\n",
        "0".repeat(64)
    );
    let with = |review: &str| {
        ProjectFolder::with_files(&[
            ("vkcert.toml", PROJECT),
            ("requirements/a/child.toml", CHILD),
            ("requirements/parent.toml", PARENT),
            ("requirements/review.toml", review),
            ("glsl/k.comp", KERNEL),
        ])
    };
    let project = with(&review).load().unwrap();
    assert_eq!((project.reviews.len(), project.test_reviews.len()), (0, 1));
    for (old, new, kind) in [
        ("\"TC-1\"", "\"TC-2\"", "unknown-test"),
        ("sha256:00", "sha256:0", "bad-hash"),
        ("procedures", "everything", "bad-value"),
        ("reviewer = \"B\"", "reviewer = \".\"", "bad-value"),
        ("reviewer = \"B\"", "reviewer = \"B\"\ndate = \"2026-02-30\"", "bad-value"),
        ("reviewer = \"B\"", "reviewer = \"B\"\ndocument_hash = \"sha256:0\"", "bad-hash"),
        ("reviewer = \"B\"", "author = \"B\"", "unknown-key"),
    ] {
        let problems = problems_of(&with(&review.replacen(old, new, 1)));
        assert!(problems.iter().any(|problem| problem.starts_with(kind)), "{new}: {problems:?}");
    }
    let row = review.split_once("tests = ").unwrap().1.split_once('\n').unwrap().0;
    let none = problems_of(&with(&review.replacen(row, "[]", 1)));
    assert!(none.iter().any(|problem| problem.starts_with("bad-value")), "{none:?}");
    let twice = row.replacen("}]", &format!("}}, {}]", &row[1..row.len() - 1]), 1);
    let twice = problems_of(&with(&review.replacen(row, &twice, 1)));
    assert!(twice.iter().any(|problem| problem.starts_with("duplicate-id")), "{twice:?}");
}

#[test]
fn earlier_kernels_exist_and_share_something_once() {
    let pair = "{ from = { binding = 1 }, to = { set = 2, binding = 0 } }";
    let with = |earlier: &str| {
        let interface = format!(
            "{PARENT}[[interface]]\nkernel = \"k\"\ngroups = [\"1\", \"1\", \"1\"]\n{earlier}"
        );
        let folder = example_folder();
        folder.write("requirements/parent.toml", &interface);
        folder
    };
    let earlier = |kernel: &str, pairs: &str| {
        format!("[[interface.earlier]]\nkernel = \"{kernel}\"\nshared = [{pairs}]\n")
    };
    // A kernel may come before itself.
    let project = with(&earlier("k", pair)).load().unwrap();
    let shared = project.interfaces[0].earlier[0].shared[0];
    assert_eq!((shared.from.to_string(), shared.to.to_string()), ("0.1".into(), "2.0".into()));
    for (text, problem) in [
        (earlier("q", pair), "unknown-kernel \"q\""),
        (earlier("k", ""), "missing-key []"),
        (earlier("k", &format!("{pair}, {pair}")), &*format!("duplicate-id {pair}")),
        (earlier("k", pair) + &earlier("k", pair), "duplicate-id \"k\""),
        (earlier("k", "{ from = { binding = 1 } }"), "missing-key"),
    ] {
        let problems = problems_of(&with(&text));
        assert!(problems.len() == 1 && problems[0].starts_with(problem), "{text}: {problems:?}");
    }
}

#[test]
fn kernels_are_set_aside_with_all_that_names_them() {
    let kernels: String = ["a", "b", "c", "d"]
        .map(|name| format!("[[kernel]]\nname = \"{name}\"\nsource = \"glsl/k.comp\"\n"))
        .concat();
    let settings = format!("schema = 1\nname = \"Example\"\nlevel = \"D\"\n{kernels}");
    let test = |id: &str, kernels: &[&str]| {
        let dispatch = |kernel: &&str| {
            format!("[[test.dispatches]]\nkernel = \"{kernel}\"\ngroups = [1, 1, 1]\n")
        };
        let dispatches: String = kernels.iter().map(dispatch).collect();
        format!(
            "[[test]]\nid = \"{id}\"\nrequirements = [\"HLR-1\"]\nbuffers.r = {{ type = \"uint\", count = 4 }}\n{dispatches}"
        )
    };
    let interface = |kernel: &str, earlier: &str| {
        format!(
            "[[interface]]\nkernel = \"{kernel}\"\ngroups = [\"1\", \"1\", \"1\"]\nlocal_size = [1, 1, 1]\n\
             earlier = [{earlier}]\n"
        )
    };
    let tests = [
        test("TC-B", &["b"]),
        test("TC-C", &["c", "a"]),
        test("TC-D", &["d"]),
        test("TC-LATER", &["d", "b"]),
    ];
    let shared = "shared = [{ from = { binding = 0 }, to = { binding = 0 } }]";
    let interfaces =
        [interface("a", &format!("{{ kernel = \"c\", {shared} }}")), interface("c", "")];
    let text = format!("{PARENT}{}{}", tests.concat(), interfaces.concat());
    let folder = ProjectFolder::with_files(&[
        ("vkcert.toml", &settings),
        ("requirements/all.toml", &text),
        ("glsl/k.comp", KERNEL),
    ]);
    let mut project = folder.load().unwrap();
    let asked = project.tests.iter().position(|test| test.id.as_str() == "TC-LATER").unwrap();
    let asked = project.tests.remove(asked);
    project.left_out.push(asked);
    project.set_kernels_aside(&["a", "c"].map(Into::into).into());
    let names = |kernels: &[vkcert_model::project::ProjectKernel]| -> Vec<String> {
        kernels.iter().map(|kernel| kernel.name.to_string()).collect()
    };
    assert_eq!(names(&project.settings.kernels), ["b", "d"]);
    let ids = |tests: &[super::document::Located<vkcert_model::procedure::Test>]| -> Vec<String> {
        tests.iter().map(|test| test.id.to_string()).collect()
    };
    assert_eq!(
        (ids(&project.tests), ids(&project.left_out)),
        (vec!["TC-B".into(), "TC-D".into()], vec!["TC-LATER".into(), "TC-C".into()])
    );
    assert_eq!(project.left_out_on_request(), [TestId::from("TC-LATER")]);
    let tests_of: Vec<_> =
        project.set_aside.iter().map(|row| (row.place, row.tests.len())).collect();
    assert_eq!(tests_of, [(0, 1), (2, 1)]);
    // Each is where the file states it.
    for (index, line) in [(0, 7), (1, 13)] {
        let place = project.kernel_origin(index).position().expect("a place");
        assert_eq!(place.line, line, "kernel {index}");
    }
    assert!(project.interfaces.is_empty());
    assert!(project.set_aside_before().is_empty());
    // One that is dispatched before another one, in an interface and in a test.
    let mut project = folder.load().unwrap();
    project.set_kernels_aside(&["c", "d"].map(Into::into).into());
    let before = project.set_aside_before();
    assert_eq!(before, BTreeMap::from([("a".into(), "c".into()), ("b".into(), "d".into())]));
    assert_eq!(project.interfaces.len(), 1);
}
