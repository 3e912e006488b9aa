//! What `verify` says where not all can be derived again: another compiler, inputs that are not
//! there, format 1, and reports.

use super::compiled::{contents, rebuild, verify_folder};
use super::forgery::{Honest, PROJECT, certified, root, verified};
use crate::campaign::project::module_bytes;
use crate::campaign::verification::Compiling;
use crate::model::evidence::{Evidence, RecordEvidence, RequirementStatus, StoredFile};
use crate::model::requirement::{VerificationMethod, VerificationRecord};
use crate::verify::folder::{self, Folder};
use crate::verify::{
    Demand, Extent, Options, Outcome, ProjectCheck, RootCover, Status, Verification, sources,
    telling,
};
use serde_json::Value;

fn honest() -> Honest {
    let (_kept, folder) = certified();
    let evidence = *folder::examine(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild(&evidence, None);
    (evidence, rebuilt)
}

/// The same evidence as a program with another compiler would have written it.
fn of_another_compiler(evidence: &Evidence) -> Evidence {
    let mut evidence = evidence.clone();
    evidence.campaign.project.compiler.push_str(" of tomorrow");
    evidence.manifest.compiler.clone_from(&evidence.campaign.project.compiler);
    evidence
}

/// The last line, which is what a hurried reader sees.
fn headline(found: &Verification) -> String {
    telling::in_words(found).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn evidence_of_another_compiler_is_verified_in_part_and_the_rest_is_named() {
    let honest = honest();
    let found = verified(&of_another_compiler(&honest.0), &honest);
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!((found.status(), found.extent), (Status::InPart, Extent::WithoutModules));
    assert_eq!(
        (found.satisfies(Demand::NoDifference), found.satisfies(Demand::Everything)),
        (true, false)
    );
    assert!(found.not_derivable[0].starts_with("what follows from the modules: they were made by"));
    let line = headline(&found);
    assert!(
        line.starts_with("verified in part")
            && line.contains("NOT derived")
            && !line.contains(" all "),
        "{line}"
    );
    let document = telling::document(&found);
    assert_eq!(
        (&document["verified"], &document["status"]),
        (&Value::from(false), &Value::from("verified-in-part"))
    );
    assert_eq!(document["extent"], "without-modules");
    // With the compiler that is here all of it is derived.
    let found = verified(&honest.0, &honest);
    assert_eq!((found.status(), found.extent), (Status::Verified, Extent::Whole));
    assert!(found.satisfies(Demand::Everything));
    assert!(headline(&found).starts_with("verified: all "), "{}", headline(&found));
    assert_eq!(telling::document(&found)["verified"], true);
}

type Change = fn(&mut Evidence);

/// What follows from the project's files, whoever compiled the kernels, with part of what is said
/// of it.
const FROM_FILES: &[(Change, &str)] = &[
    (
        |evidence| evidence.campaign.requirements[1].code[0].found = false,
        "requirements/1/code/0/found",
    ),
    (
        |evidence| evidence.campaign.requirements[1].code[0].line = Some(1),
        "requirements/1/code/0/line",
    ),
    (
        |evidence| {
            evidence.campaign.records.push(RecordEvidence {
                method: VerificationMethod::Review,
                record: VerificationRecord {
                    requirement: evidence.campaign.requirements[0].requirement.uid.clone(),
                    document: "d".to_owned(),
                    section: "s".to_owned(),
                    author: "a".to_owned(),
                    reviewer: "r".to_owned(),
                    hash: evidence.campaign.requirements[0].hash.clone(),
                },
                file: "requirements/scale.toml".to_owned(),
                rejected: None,
            });
        },
        "campaign.json/records/0",
    ),
    (
        |evidence| {
            evidence.campaign.coupling[0].definition.as_mut().expect("a definition").buffers.clear()
        },
        "campaign.json/coupling/0/buffers/0",
    ),
    (
        |evidence| evidence.campaign.project.compiler_options.push_str("; fast"),
        "campaign.json/project/compiler_options",
    ),
    (
        |evidence| evidence.campaign.project.level = "D".to_owned(),
        "does not follow from its settings",
    ),
    (|evidence| evidence.kernels[0].source.push('x'), "scale on sequential/source"),
    (
        |evidence| evidence.kernels[0].configuration.defines.clear(),
        "scale on sequential/defines/STEP",
    ),
    (|evidence| evidence.kernels[0].configuration.include.clear(), "scale on sequential/include/0"),
    (|evidence| evidence.kernels[0].configuration.entry.push('x'), "scale on sequential/entry"),
    (
        |evidence| evidence.kernels[0].configuration.target_env.push('x'),
        "scale on sequential/target_env",
    ),
    (
        |evidence| evidence.campaign.justifications[0].justification.reason.push('x'),
        "justifications/0/0/reason",
    ),
    (
        |evidence| evidence.campaign.tests[0].definition.title = Some("x".to_owned()),
        "tests/0/definition/title",
    ),
    (
        |evidence| evidence.campaign.requirements[0].status = RequirementStatus::Verified,
        "requirements/0/status",
    ),
];

#[test]
fn what_follows_from_files_is_derived_whoever_compiled_them() {
    let honest = honest();
    for (number, (change, told)) in FROM_FILES.iter().enumerate() {
        for honest_start in [honest.0.clone(), of_another_compiler(&honest.0)] {
            let mut forged = honest_start.clone();
            change(&mut forged);
            assert_ne!(forged, honest_start, "{number}");
            let found = verified(&forged, &honest);
            assert_eq!(found.status(), Status::NotVerified, "{number}");
            assert!(headline(&found).starts_with("NOT verified"), "{number}");
            let is_told = found.problems.iter().any(|problem| problem.contains(told));
            assert!(
                is_told || found.extent == Extent::Whole,
                "{number}: {told}\n{}",
                found.problems.join("\n")
            );
        }
    }
}

#[test]
fn an_input_that_is_always_stored_cannot_be_left_out() {
    let honest = honest();
    for path in [
        "vkcert.toml",
        "requirements/scale.toml",
        "glsl/scale.comp",
        "inc/scaled.glsl",
        "data/expected.bin",
    ] {
        for bytes in [1, 1 << 40] {
            let mut forged = honest.0.clone();
            let inputs = forged.inputs.as_mut().unwrap();
            inputs.files.insert(path.to_owned(), StoredFile::Omitted { bytes }).unwrap();
            let found = verified(&forged, &honest);
            let told = format!("the input {path} is always stored, and is not");
            // Data may be larger than the limit.
            let data = path.starts_with("data/") && bytes > 1;
            assert_eq!(
                !found.problems.contains(&told),
                data,
                "{path}: {}",
                found.problems.join("\n")
            );
            if data {
                assert_eq!(
                    (found.status(), found.extent),
                    (Status::InPart, Extent::WithoutModules),
                    "{path}"
                );
            }
        }
    }
}

#[test]
fn an_input_outside_of_the_project_hides_nothing_that_follows_from_the_others() {
    let honest = honest();
    let mut evidence = honest.0.clone();
    let outside = "../outside.glsl";
    let hash = crate::model::canonical::sha256_digits(b"");
    evidence.manifest.inputs.insert(outside.to_owned(), hash);
    evidence
        .inputs
        .as_mut()
        .unwrap()
        .files
        .insert(outside.to_owned(), StoredFile::Text(String::new()));
    let found = verified(&evidence, &honest);
    assert_eq!((found.status(), found.extent), (Status::InPart, Extent::WithoutModules));
    evidence.campaign.requirements[1].code[0].found = false;
    assert_eq!(verified(&evidence, &honest).status(), Status::NotVerified);
}

/// Evidence that the first version of the program wrote.
fn first_format() -> Evidence {
    let folder = Folder::read(&root().join("tests/stored/format_1/evidence")).unwrap();
    *folder::examine(&folder).unwrap().evidence.unwrap()
}

fn without_inputs(evidence: &Evidence) -> Verification {
    let mut found = Verification::default();
    contents(evidence, &rebuild(evidence, None), &Options::default(), &mut found).unwrap();
    found
}

#[test]
fn format_1_says_what_was_not_derived() {
    let found = without_inputs(&first_format());
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!((found.status(), found.extent), (Status::InPart, Extent::WithoutInputs));
    assert!(
        found.not_derivable[0].starts_with("format 1: the project file"),
        "{:?}",
        found.not_derivable
    );
    let line = headline(&found);
    assert!(
        line.starts_with("verified in part")
            && line.contains("nothing was derived from the project's files"),
        "{line}"
    );
    assert_eq!(telling::document(&found)["verified"], false);
}

/// Evidence of a later format that says it is of format 1.
#[test]
fn format_1_holds_nothing_of_later_formats() {
    let (first, later) = (first_format(), honest().0);
    let mut rewritten = later.clone();
    rewritten.campaign.schema = 1;
    rewritten.manifest.schema = 1;
    rewritten.kernels.iter_mut().for_each(|kernel| kernel.schema = 1);
    let told = |evidence: &Evidence| without_inputs(evidence).problems;
    for part in [
        "stored inputs",
        "the project file",
        "open items",
        "notes of page 1",
        "kinds of findings that were not looked for",
        "what dispatches store",
        "what dispatches accessed",
        "typed subjects of findings",
    ] {
        let sentence = format!("format 1 has {part}, which came with a later format");
        assert!(told(&rewritten).contains(&sentence), "{part}: {}", told(&rewritten).join("\n"));
        assert!(!told(&first).contains(&sentence), "{part}");
    }
    let mut newer = first.clone();
    newer.campaign.project.tool_version = "0.2.0".to_owned();
    assert!(
        told(&newer).contains(&"format 1 is not what vkcert 0.2.0 writes".to_owned()),
        "{:?}",
        told(&newer)
    );
    let mut listed = Verification { list: Some(String::new()), ..Verification::default() };
    contents(&first, &rebuild(&first, None), &Options::default(), &mut listed).unwrap();
    assert!(!listed.holds());
}

#[test]
fn files_of_another_project_are_not_blamed_on_the_records() {
    let (kept, _) = certified();
    let elsewhere = tempfile::tempdir().unwrap();
    for path in [
        "vkcert.toml",
        "requirements/scale.toml",
        "glsl/scale.comp",
        "inc/scaled.glsl",
        "data/expected.bin",
    ] {
        let copy = elsewhere.path().join(path);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        std::fs::copy(root().join(PROJECT).join(path), copy).unwrap();
    }
    std::fs::write(elsewhere.path().join("data/expected.bin"), "another").unwrap();
    let options = Options { project: Some(elsewhere.path().to_owned()), ..Options::default() };
    let found = verify_folder(&kept.path().join("reports/evidence"), &options).unwrap().0;
    let of_project = |problem: &String| problem.contains(&*elsewhere.path().to_string_lossy());
    assert!(
        !found.problems.is_empty() && found.problems.iter().all(of_project),
        "{:?}",
        found.problems
    );
    let line = headline(&found);
    assert!(
        line.starts_with("NOT verified: ") && line.ends_with("statements do not hold"),
        "{line}"
    );
}

#[test]
fn it_is_said_whether_reports_are_covered() {
    let (kept, read) = certified();
    let path = kept.path().join("reports/evidence");
    let verified = |root: Option<String>| {
        verify_folder(&path, &Options { root, ..Options::default() }).unwrap().0
    };
    let told = |found: &Verification| {
        let text = telling::in_words(found);
        text.lines().find(|line| line.starts_with("reports  ")).unwrap_or_default().to_owned()
    };
    let bare = verified(None);
    assert_eq!(bare.root_cover, RootCover::NotGiven);
    assert!(told(&bare).contains("and nothing else"), "{}", told(&bare));
    let of_evidence = verified(Some(read.root()));
    assert_eq!(
        (of_evidence.root_cover, of_evidence.status()),
        (RootCover::Evidence, Status::Verified)
    );
    assert!(told(&of_evidence).contains("does not cover them"), "{}", told(&of_evidence));
    assert_eq!(telling::document(&of_evidence)["root_covers"], "evidence");
    let of_both = verified(read.list_hash());
    assert_eq!(of_both.root_cover, RootCover::EvidenceAndReports);
    assert!(
        told(&of_both)
            .ends_with("report.pdf checked against reports.json, whose SHA-256 is the one given")
    );
    assert_eq!(telling::document(&of_both)["root_covers"], "evidence-and-reports");
    assert_eq!(telling::document(&of_both)["report_files"]["listed"][0], "report.html");
    let strange = verified(Some("0".repeat(64)));
    assert_eq!((strange.root_cover, strange.status()), (RootCover::Nothing, Status::NotVerified));
    // A list that was emptied holds no report that lies there; without a list nothing is known.
    let list = kept.path().join("reports/latest/reports.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&list).unwrap()).unwrap();
    document["reports"] = serde_json::json!({});
    std::fs::write(&list, crate::model::canonical::canonical_lines(&document).unwrap()).unwrap();
    let emptied = verified(Some(read.root()));
    assert_eq!(emptied.reports.unlisted, ["report.html", "report.json", "report.pdf"]);
    assert!(
        told(&emptied).contains("; not checked: report.html, report.json, report.pdf"),
        "{}",
        told(&emptied)
    );
    std::fs::write(&list, "{").unwrap();
    assert!(
        told(&verified(None))
            .starts_with("reports           not checked: reports.json cannot be read")
    );
    std::fs::remove_file(&list).unwrap();
    let alone = verified(None);
    assert_eq!(telling::document(&alone)["report_files"]["listed"], Value::Null);
    assert!(told(&alone).contains("not checked: there is no reports.json"), "{}", told(&alone));
}

/// What verifies says what it was held against, and how much of that was compared.
#[test]
fn a_verification_says_what_it_was_held_against() {
    let (kept, read) = certified();
    let path = kept.path().join("reports/evidence");
    let count = folder::examine(&read).unwrap().evidence.unwrap().manifest.inputs.len();
    let project = root().join(PROJECT);
    let told = |options: &Options| {
        let found = verify_folder(&path, options).unwrap().0;
        (telling::in_words(&found), telling::document(&found))
    };
    let line = |text: &str, label: &str| {
        let found = text.lines().find(|line| line.starts_with(&format!("{label:<18}")));
        found.map(|line| line[18..].to_owned()).unwrap_or_default()
    };
    let (bare, document) = told(&Options::default());
    assert_eq!((line(&bare, "project"), line(&bare, "root given")), (String::new(), String::new()));
    assert_eq!(document["project"], Value::Null);
    let (same, document) = told(&Options { project: Some(project.clone()), ..Options::default() });
    let due = format!(
        "all {count} input files of the evidence have the same SHA-256 in `{}`",
        project.display()
    );
    assert!(line(&same, "project").starts_with(&due), "{same}");
    let due = "; it has no requirement file that the run did not read; \
               1 of its 1 kernel includes the same files, 1 of 1 compile to the same production module";
    assert!(line(&same, "project").ends_with(due), "{same}");
    let numbers = serde_json::json!({
        "folder": project.display().to_string(), "inputs": count, "same": count, "unread_requirement_files": 0,
        "kernels": { "compiled": 1, "same_files": 1, "same_modules": 1 },
    });
    assert_eq!(document["project"], numbers);
    let (of_evidence, _) = told(&Options { root: Some(read.root()), ..Options::default() });
    let given = line(&of_evidence, "root given");
    assert!(
        given.contains(&read.root()) && given.contains("is that of the manifest"),
        "{of_evidence}"
    );
    let (of_both, _) = told(&Options { root: read.list_hash(), ..Options::default() });
    assert!(
        line(&of_both, "root given").contains("is that of the report list, which holds the root"),
        "{of_both}"
    );
    let (of_none, _) = told(&Options { root: Some("0".repeat(64)), ..Options::default() });
    assert!(line(&of_none, "root given").contains("is neither"), "{of_none}");
    // Files that differ are counted as such.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("requirements")).unwrap();
    std::fs::write(other.path().join("requirements/more.toml"), "schema = 1\n").unwrap();
    let (different, document) =
        told(&Options { project: Some(other.path().to_owned()), ..Options::default() });
    let due = format!(
        "0 of {count} input files of the evidence have the same SHA-256 in `{}`",
        other.path().display()
    );
    assert!(line(&different, "project").starts_with(&due), "{different}");
    let due = "; 1 requirement file there was not read by the run; \
               its kernels were not compared: its files are not those of the evidence";
    assert!(line(&different, "project").ends_with(due), "{different}");
    assert_eq!(document["project"]["kernels"], Value::Null);
    assert_eq!(
        (&document["project"]["same"], &document["project"]["unread_requirement_files"]),
        (&0.into(), &1.into())
    );
}

/// A copy of the project in a folder of its own.
fn copied_project() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(root().join(PROJECT)) {
        let entry = entry.unwrap();
        let target = copy.path().join(entry.path().strip_prefix(root().join(PROJECT)).unwrap());
        match entry.file_type().is_dir() {
            true => std::fs::create_dir_all(target).unwrap(),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
    copy
}

/// Evidence that is held against a project to which files were added.
fn held_against(evidence: &Evidence, added: &[(&str, &[u8])]) -> Verification {
    let copy = copied_project();
    for (path, bytes) in added {
        std::fs::create_dir_all(copy.path().join(path).parent().unwrap()).unwrap();
        std::fs::write(copy.path().join(path), bytes).unwrap();
    }
    let mut found = Verification::default();
    let compared = sources::compare(evidence, copy.path(), &Compiling, &mut found).unwrap();
    assert_eq!(compared.same, compared.inputs);
    found.project = ProjectCheck::Compared(compared);
    found
}

/// Every input is as it was, and a kernel is another one all the same.
#[test]
fn a_file_that_comes_in_before_an_include_is_found() {
    let (evidence, _) = honest();
    assert_eq!(held_against(&evidence, &[]).problems, Vec::<String>::new());
    let header = std::fs::read(root().join(PROJECT).join("inc/scaled.glsl")).unwrap();
    let other =
        String::from_utf8(header.clone()).unwrap().replace("return", "return 1u +").into_bytes();
    // The module names its files.
    for shadow in [header, other] {
        let found = held_against(&evidence, &[("glsl/scaled.glsl", &shadow)]);
        let told = |words: &str| found.problems.iter().any(|problem| problem.contains(words));
        assert!(
            told("its includes lead to glsl/scaled.glsl instead of inc/scaled.glsl"),
            "{:?}",
            found.problems
        );
        assert!(told("glsl/scaled.glsl is in "), "{:?}", found.problems);
        assert!(told("compiles to another production module"), "{:?}", found.problems);
        let none = serde_json::json!({ "compiled": 1, "same_files": 0, "same_modules": 0 });
        assert_eq!(telling::document(&found)["project"]["kernels"], none);
    }
}

#[test]
fn a_module_on_disk_may_come_in_if_it_is_what_is_compiled() {
    let (evidence, rebuilt) = honest();
    let Outcome::Whole(rebuilt) = rebuilt else {
        panic!("the kernels are compiled by this program")
    };
    let module = module_bytes(&rebuilt.kernels[0].production);
    assert_eq!(
        held_against(&evidence, &[("spirv/scale.spv", &module)]).problems,
        Vec::<String>::new()
    );
    let stale = held_against(&evidence, &[("spirv/scale.spv", &module[4..])]);
    assert_eq!(stale.problems.len(), 1, "{:?}", stale.problems);
    assert!(
        stale.problems[0].ends_with("and it is not what its kernel compiles to"),
        "{:?}",
        stale.problems
    );
}

#[test]
fn modules_of_another_compiler_are_not_compared_and_includes_are() {
    let (evidence, _) = honest();
    let mut other = of_another_compiler(&evidence);
    other.kernels.iter_mut().for_each(|row| row.modules.production = "0".to_owned());
    let found = held_against(&other, &[]);
    assert_eq!(found.problems, Vec::<String>::new());
    let words = telling::in_words(&found);
    assert!(
        words.contains("includes the same files; production modules were not compared: vkcert"),
        "{words}"
    );
    assert_eq!(telling::document(&found)["project"]["kernels"]["same_modules"], Value::Null);
    let shadowed =
        held_against(&other, &[("glsl/scaled.glsl", b"uint scaled(uint a, uint b) { return a; }")]);
    assert!(
        shadowed.problems.iter().any(|problem| problem.contains("its includes lead to")),
        "{shadowed:?}"
    );
}
