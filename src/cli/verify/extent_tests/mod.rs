//! What `verify` says where not all can be derived again: another compiler, inputs that are not
//! there, format 1, and reports.

mod project;

use crate::cli::verify::compiled::{rebuild_project, verify_contents, verify_folder};
use crate::cli::verify::forgery::{
    HonestEvidence, PROJECT_FILES, certified_folder, repository_root, verify_forged,
};
use crate::model::evidence::{Evidence, RecordEvidence, RequirementStatus, StoredFile};
use crate::model::project::SoftwareLevel;
use crate::model::requirement::{VerificationMethod, VerificationRecord};
use crate::verify::folder::EvidenceFolder;
use crate::verify::{
    DerivationExtent, RootCover, SuccessDemand, Verification, VerificationOptions,
    VerificationStatus, folder, telling,
};
use serde_json::Value;

fn honest() -> HonestEvidence {
    let (_kept, folder) = certified_folder();
    let evidence = *folder::examine_files(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild_project(&evidence, None);
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
    let found = verify_forged(&of_another_compiler(&honest.0), &honest);
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(
        (found.status(), found.extent),
        (VerificationStatus::InPart, DerivationExtent::WithoutModules)
    );
    assert_eq!(
        (found.satisfies(SuccessDemand::NoDifference), found.satisfies(SuccessDemand::Everything)),
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
    let document = telling::json_document(&found);
    assert_eq!(
        (&document["verified"], &document["status"]),
        (&Value::from(false), &Value::from("verified-in-part"))
    );
    assert_eq!(document["extent"], "without-modules");
    // With the compiler that is here all of it is derived.
    let found = verify_forged(&honest.0, &honest);
    assert_eq!(
        (found.status(), found.extent),
        (VerificationStatus::Verified, DerivationExtent::Whole)
    );
    assert!(found.satisfies(SuccessDemand::Everything));
    assert!(headline(&found).starts_with("verified: all "), "{}", headline(&found));
    assert_eq!(telling::json_document(&found)["verified"], true);
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
                    requirement: evidence.campaign.requirements[0].requirement.uid,
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
        |evidence| evidence.campaign.project.level = SoftwareLevel::D,
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
            let found = verify_forged(&forged, &honest);
            assert_eq!(found.status(), VerificationStatus::NotVerified, "{number}");
            assert!(headline(&found).starts_with("NOT verified"), "{number}");
            let is_told = found.problems.iter().any(|problem| problem.contains(told));
            assert!(
                is_told || found.extent == DerivationExtent::Whole,
                "{number}: {told}\n{}",
                found.problems.join("\n")
            );
        }
    }
}

#[test]
fn an_input_that_is_always_stored_cannot_be_left_out() {
    let honest = honest();
    for path in PROJECT_FILES {
        for bytes in [1, 1 << 40] {
            let mut forged = honest.0.clone();
            let inputs = forged.inputs.as_mut().unwrap();
            inputs.files.insert(path.to_owned(), StoredFile::Omitted { bytes }).unwrap();
            let found = verify_forged(&forged, &honest);
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
                    (VerificationStatus::InPart, DerivationExtent::WithoutModules),
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
    let found = verify_forged(&evidence, &honest);
    assert_eq!(
        (found.status(), found.extent),
        (VerificationStatus::InPart, DerivationExtent::WithoutModules)
    );
    evidence.campaign.requirements[1].code[0].found = false;
    assert_eq!(verify_forged(&evidence, &honest).status(), VerificationStatus::NotVerified);
}

/// Evidence that the first version of the program wrote.
fn first_format() -> Evidence {
    let folder =
        EvidenceFolder::read(&repository_root().join("tests/stored/format_1/evidence")).unwrap();
    *folder::examine_files(&folder).unwrap().evidence.unwrap()
}

fn without_inputs(evidence: &Evidence) -> Verification {
    let mut found = Verification::default();
    verify_contents(
        evidence,
        &rebuild_project(evidence, None),
        &VerificationOptions::default(),
        &mut found,
    )
    .unwrap();
    found
}

#[test]
fn format_1_says_what_was_not_derived() {
    let found = without_inputs(&first_format());
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(
        (found.status(), found.extent),
        (VerificationStatus::InPart, DerivationExtent::WithoutInputs)
    );
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
    assert_eq!(telling::json_document(&found)["verified"], false);
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
    let mut listed = Verification { reports_hash: Some(String::new()), ..Verification::default() };
    verify_contents(
        &first,
        &rebuild_project(&first, None),
        &VerificationOptions::default(),
        &mut listed,
    )
    .unwrap();
    assert!(!listed.holds());
}

#[test]
fn it_is_said_whether_reports_are_covered() {
    let (kept, read) = certified_folder();
    let path = kept.path().join("reports/evidence");
    let verified = |root: Option<String>| {
        verify_folder(&path, &VerificationOptions { root, ..VerificationOptions::default() })
            .unwrap()
            .0
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
        (RootCover::Evidence, VerificationStatus::Verified)
    );
    assert!(told(&of_evidence).contains("does not cover them"), "{}", told(&of_evidence));
    assert_eq!(telling::json_document(&of_evidence)["root_covers"], "evidence");
    let of_both = verified(read.list_hash());
    assert_eq!(of_both.root_cover, RootCover::EvidenceAndReports);
    assert!(
        told(&of_both)
            .ends_with("report.pdf checked against reports.json, whose SHA-256 is the one given")
    );
    assert_eq!(telling::json_document(&of_both)["root_covers"], "evidence-and-reports");
    assert_eq!(telling::json_document(&of_both)["report_files"]["listed"][0], "report.html");
    let strange = verified(Some("0".repeat(64)));
    assert_eq!(
        (strange.root_cover, strange.status()),
        (RootCover::Nothing, VerificationStatus::NotVerified)
    );
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
    assert_eq!(telling::json_document(&alone)["report_files"]["listed"], Value::Null);
    assert!(told(&alone).contains("not checked: there is no reports.json"), "{}", told(&alone));
}
