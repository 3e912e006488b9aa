//! Folders that were altered, with a manifest that agrees or does not, and what is said of them.

use super::{
    EvidenceFolder, MAX_DEPTH, check_depth, examine_files, find_tampering, is_plain, load_evidence,
    may_be_omitted,
};
use crate::VerifyError;
use crate::honest::{
    KERNEL_PATH, REQUIREMENTS_PATH, folder_of, honest, honest_with, list_files, stored_folder,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use vkcert_derivation::files::{CAMPAIGN, INPUTS, MANIFEST, REPORTS, canonical_bytes};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{EVIDENCE_SCHEMA, Evidence, Manifest, ReportList, StoredFile};

const KERNEL_FILE: &str = "kernel-guard-vulkan.json";
const REPORT: &str = "report.html";

/// Honest evidence with a report beside it, which a list names.
fn with_report() -> EvidenceFolder {
    let mut folder = folder_of(&honest());
    folder.reports.insert(REPORT.to_owned(), b"a report".to_vec());
    let list = report_list_of(&folder);
    folder.report_list = Some(canonical_bytes(&list).unwrap());
    folder
}

fn report_list_of(folder: &EvidenceFolder) -> ReportList {
    let hashes = folder.reports.iter().map(|(name, bytes)| (name.clone(), sha256_digits(bytes)));
    ReportList { schema: 1, root: folder.root(), reports: hashes.collect() }
}

/// Writes the folder and what stands beside it; the evidence lies in `evidence`.
fn written(folder: &EvidenceFolder) -> (TempDir, PathBuf) {
    let above = tempfile::tempdir().unwrap();
    let evidence = above.path().join("evidence");
    std::fs::create_dir(&evidence).unwrap();
    let write = |path: PathBuf, bytes: &Vec<u8>| std::fs::write(path, bytes).unwrap();
    folder.files.iter().for_each(|(name, bytes)| write(evidence.join(name), bytes));
    folder.reports.iter().for_each(|(name, bytes)| write(above.path().join(name), bytes));
    folder.report_list.iter().for_each(|bytes| write(above.path().join(REPORTS), bytes));
    (above, evidence)
}

fn manifest_of(folder: &EvidenceFolder) -> Manifest {
    serde_json::from_slice(&folder.files[MANIFEST]).unwrap()
}

/// Replaces a file, and its hash in the manifest.
fn replace_listed(folder: &mut EvidenceFolder, name: &str, bytes: Vec<u8>) {
    let mut manifest = manifest_of(folder);
    manifest.outputs.insert(name.to_owned(), sha256_digits(&bytes));
    folder.files.insert(name.to_owned(), bytes);
    folder.files.insert(MANIFEST.to_owned(), canonical_bytes(&manifest).unwrap());
}

fn change_list(folder: &mut EvidenceFolder, change: fn(&mut ReportList)) {
    let mut list = report_list_of(folder);
    change(&mut list);
    folder.report_list = Some(canonical_bytes(&list).unwrap());
}

fn problems_of(folder: &EvidenceFolder) -> Vec<String> {
    examine_files(folder).unwrap().problems
}

#[test]
fn a_folder_is_read_as_it_was_written() {
    let honest_folder = with_report();
    let (_kept, path) = written(&honest_folder);
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.folder_name, path.display().to_string());
    assert_eq!(read.files, honest_folder.files);
    assert_eq!(
        (&read.reports, &read.report_list),
        (&honest_folder.reports, &honest_folder.report_list)
    );
    assert_eq!((read.stray_entries.len(), read.unlisted.len()), (0, 0));
    assert_eq!(read.root(), sha256_digits(&honest_folder.files[MANIFEST]));
    assert_eq!(read.list_hash(), honest_folder.report_list.as_deref().map(sha256_digits));
    assert_eq!(problems_of(&read), Vec::<String>::new());
    assert_eq!(*examine_files(&read).unwrap().evidence.unwrap(), honest());
    let (evidence, problems) = load_evidence(&path).unwrap();
    assert_eq!((evidence, problems), (honest(), Vec::new()));
}

#[test]
fn what_stands_beside_evidence_is_read_as_the_list_of_reports_says() {
    let (above, path) = written(&with_report());
    let beside = |name: &str, text: &str| std::fs::write(above.path().join(name), text).unwrap();
    beside("report.pdf", "another report");
    beside("report.json", "{}");
    beside("notes.txt", "no report");
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.unlisted, ["report.json", "report.pdf"]);
    assert!(!read.has_unreadable_list());
    // Names that lead elsewhere, and those of no file, are not read.
    std::fs::create_dir(above.path().join("folder")).unwrap();
    let names = ["../report.html", "evidence/manifest.json", "folder", "gone.html", REPORT];
    let list = ReportList {
        schema: 1,
        root: read.root(),
        reports: names.map(|name| (name.to_owned(), String::new())).into(),
    };
    std::fs::write(above.path().join(REPORTS), canonical_bytes(&list).unwrap()).unwrap();
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.reports.keys().collect::<Vec<_>>(), [REPORT]);
    beside(REPORTS, "{");
    let read = EvidenceFolder::read(&path).unwrap();
    assert!(read.has_unreadable_list() && read.reports.is_empty());
    assert_eq!(read.unlisted, ["report.html", "report.json", "report.pdf"]);
    std::fs::remove_file(above.path().join(REPORTS)).unwrap();
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!((read.report_list.clone(), read.list_hash()), (None, None));
    assert!(!read.has_unreadable_list());
}

#[test]
fn pages_of_kernels_are_reports_as_well() {
    let (above, path) = written(&with_report());
    let pages = above.path().join("report-kernels");
    std::fs::create_dir(&pages).unwrap();
    for name in ["kernel-a.html", "kernel-b.html", "stray.html"] {
        std::fs::write(pages.join(name), name).unwrap();
    }
    std::fs::write(above.path().join("outside"), "").unwrap();
    let root = EvidenceFolder::read(&path).unwrap().root();
    let names = ["a", "b", "c"].map(|kernel| format!("report-kernels/kernel-{kernel}.html"));
    let climbing = "report-kernels/../outside".to_owned();
    let hashes = [sha256_digits(b"kernel-a.html"), "another".to_owned(), "gone".to_owned()];
    let mut reports: BTreeMap<String, String> = names.clone().into_iter().zip(hashes).collect();
    reports.insert(climbing.clone(), String::new());
    let list = ReportList { schema: 1, root, reports };
    std::fs::write(above.path().join(REPORTS), canonical_bytes(&list).unwrap()).unwrap();
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.reports.keys().collect::<Vec<_>>(), [&names[0], &names[1]]);
    assert_eq!(read.unlisted, ["report-kernels/stray.html", REPORT]);
    let problems = problems_of(&read);
    let due = [
        format!("{climbing} is in reports.json but not beside it"),
        format!("{} has another SHA-256 than reports.json", names[1]),
        format!("{} is in reports.json but not beside it", names[2]),
    ];
    assert_eq!(problems, due);
}

#[test]
fn an_entry_that_is_no_file_is_told() {
    let (_kept, path) = written(&with_report());
    std::fs::create_dir(path.join("b")).unwrap();
    std::fs::create_dir(path.join("a")).unwrap();
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.stray_entries, ["a", "b"]);
    let stray = ["a", "b"].map(|name| format!("{name} is in the folder but not in the manifest"));
    assert_eq!(problems_of(&read), stray);
}

#[cfg(unix)]
#[test]
fn a_file_whose_name_is_no_text_is_told() {
    use std::os::unix::ffi::OsStrExt;
    let (_kept, path) = written(&with_report());
    std::fs::write(path.join(std::ffi::OsStr::from_bytes(b"a\xff")), "").unwrap();
    let read = EvidenceFolder::read(&path).unwrap();
    assert_eq!(read.stray_entries, ["a\u{fffd}"]);
}

fn assert_unreadable(result: Result<EvidenceFolder, VerifyError>, file: &Path) {
    let Err(VerifyError::Input(diagnostics)) = result else { panic!("it is read") };
    let [diagnostic] = diagnostics.as_slice() else { panic!("{diagnostics:?}") };
    assert_eq!(diagnostic.kind, "missing-file");
    let message = &diagnostic.message;
    assert!(message.starts_with("the evidence cannot be read: "), "{message}");
    assert!(diagnostic.hint.as_deref().unwrap().starts_with("run `vkcert certify` first"));
    let location = diagnostic.location.as_ref().unwrap();
    assert!(file.display().to_string().ends_with(&location.file), "{}", location.file);
}

#[test]
fn a_folder_without_a_manifest_is_no_evidence() {
    let (_kept, path) = written(&with_report());
    std::fs::remove_file(path.join(MANIFEST)).unwrap();
    assert_unreadable(EvidenceFolder::read(&path), &path.join(MANIFEST));
    let Err(error) = load_evidence(&path) else { panic!("it is read") };
    assert!(error.to_string().starts_with("the evidence cannot be read: "), "{error}");
}

#[test]
fn the_hashes_of_the_manifest_and_of_the_list_are_those_of_the_files() {
    type Alter = fn(&mut EvidenceFolder);
    let cases: [(&str, Alter, &str); 12] = [
        (
            "a file altered",
            |folder| folder.files.get_mut(CAMPAIGN).unwrap().push(b' '),
            "campaign.json has another SHA-256 than the manifest",
        ),
        (
            "a file left out",
            |folder| drop(folder.files.remove(KERNEL_FILE)),
            "kernel-guard-vulkan.json is in the manifest but not in the folder",
        ),
        (
            "a file more",
            |folder| drop(folder.files.insert("kernel-b.json".to_owned(), Vec::new())),
            "kernel-b.json is in the folder but not in the manifest",
        ),
        (
            "a folder more",
            |folder| folder.stray_entries.push("old".to_owned()),
            "old is in the folder but not in the manifest",
        ),
        (
            "a report altered",
            |folder| drop(folder.reports.insert(REPORT.to_owned(), b"another".to_vec())),
            "report.html has another SHA-256 than reports.json",
        ),
        (
            "a report left out",
            |folder| folder.reports.clear(),
            "report.html is in reports.json but not beside it",
        ),
        (
            "the manifest altered, which the list names",
            |folder| folder.files.get_mut(MANIFEST).unwrap().push(b' '),
            "reports.json is of other evidence: its root is not the SHA-256 of the manifest",
        ),
        (
            "the root of the list",
            |folder| change_list(folder, |list| list.root = "0".repeat(64)),
            "reports.json is of other evidence: its root is not the SHA-256 of the manifest",
        ),
        (
            "the format of the list",
            |folder| change_list(folder, |list| list.schema = 2),
            "reports.json is not in the form that this program writes",
        ),
        (
            "the form of the list",
            |folder| folder.report_list.as_mut().unwrap().push(b'\n'),
            "reports.json is not in the form that this program writes",
        ),
        (
            "no list",
            |folder| folder.report_list = Some(b"{}".to_vec()),
            "reports.json is not a list of reports",
        ),
        (
            "a list of something else",
            |folder| folder.report_list = Some(folder.files[CAMPAIGN].clone()),
            "reports.json is not a list of reports",
        ),
    ];
    let manifest = manifest_of(&with_report());
    assert_eq!(find_tampering(&with_report(), &manifest), Vec::<String>::new());
    for (name, alter, told) in cases {
        let mut folder = with_report();
        alter(&mut folder);
        assert_eq!(find_tampering(&folder, &manifest), [told], "{name}");
        assert!(problems_of(&folder).contains(&told.to_owned()), "{name}");
    }
}

/// The manifest agrees with what was altered.
#[test]
fn files_have_the_form_that_this_program_writes() {
    type Alter = fn(&mut EvidenceFolder);
    let cases: [(&str, Alter, &str); 7] = [
        (
            "a file in another form",
            |folder| {
                let bytes = [folder.files[CAMPAIGN].as_slice(), b"\n"].concat();
                replace_listed(folder, CAMPAIGN, bytes);
            },
            "campaign.json is not in the form that this program writes",
        ),
        (
            "a key that there is none of",
            |folder| {
                let text = String::from_utf8(folder.files[KERNEL_FILE].clone()).unwrap();
                let text = text.replacen('{', "{\n  \"a\": 1,", 1);
                replace_listed(folder, KERNEL_FILE, text.into_bytes());
            },
            "kernel-guard-vulkan.json is not in the form that this program writes",
        ),
        (
            "a manifest in another form",
            |folder| folder.files.get_mut(MANIFEST).unwrap().push(b'\n'),
            "manifest.json is not in the form that this program writes",
        ),
        (
            "another name",
            |folder| rename(folder, "kernel-a.json"),
            "kernel-a.json is none of the files of this evidence",
        ),
        (
            "the name that is left",
            |folder| rename(folder, "kernel-a.json"),
            "kernel-guard-vulkan.json is missing: the evidence has it under another name",
        ),
        (
            "a file more",
            |folder| replace_listed(folder, "old.json", Vec::new()),
            "old.json is none of the files of this evidence",
        ),
        (
            "a kernel twice",
            |folder| {
                let bytes = folder.files[KERNEL_FILE].clone();
                replace_listed(folder, "kernel-guard.json", bytes);
            },
            "kernel-guard.json is none of the files of this evidence",
        ),
    ];
    for (name, alter, told) in cases {
        let mut folder = folder_of(&honest());
        alter(&mut folder);
        let problems = problems_of(&folder);
        assert!(problems.contains(&told.to_owned()), "{name}: {problems:#?}");
    }
}

/// Another name of a kernel's file, also in the manifest.
fn rename(folder: &mut EvidenceFolder, name: &str) {
    let mut manifest = manifest_of(folder);
    manifest.outputs.remove(KERNEL_FILE);
    folder.files.insert(MANIFEST.to_owned(), canonical_bytes(&manifest).unwrap());
    let bytes = folder.files.remove(KERNEL_FILE).unwrap();
    replace_listed(folder, name, bytes);
}

#[test]
fn all_files_are_of_one_format_that_is_read() {
    type Forge = fn(&mut Evidence);
    let cases: [(&str, Forge); 5] = [
        ("a later format", |forged| {
            let later = EVIDENCE_SCHEMA + 1;
            (forged.manifest.schema, forged.campaign.schema) = (later, later);
            forged.kernels.iter_mut().for_each(|kernel| kernel.schema = later);
            forged.inputs.as_mut().unwrap().schema = later;
        }),
        ("another format of the manifest", |forged| forged.manifest.schema = 1),
        ("another format of the campaign", |forged| forged.campaign.schema = 1),
        ("another format of a kernel", |forged| forged.kernels[1].schema = 1),
        ("another format of the inputs", |forged| forged.inputs.as_mut().unwrap().schema = 1),
    ];
    for (name, forge) in cases {
        let mut forged = honest();
        forge(&mut forged);
        list_files(&mut forged);
        assert_eq!(problems_of(&folder_of(&forged)), ["version of the evidence format"], "{name}");
    }
}

#[test]
fn older_evidence_keeps_the_bytes_that_its_program_wrote() {
    for format in ["format_1", "format_2"] {
        let folder = EvidenceFolder::read(&stored_folder(format)).unwrap();
        assert_eq!(problems_of(&folder), Vec::<String>::new(), "{format}");
    }
}

#[test]
fn stored_inputs_are_those_of_the_manifest() {
    fn inputs(forged: &mut Evidence) -> &mut BTreeMap<String, StoredFile> {
        &mut forged.inputs.as_mut().unwrap().files
    }
    type Forge = fn(&mut Evidence);
    let cases: [(&str, Forge, &str); 7] = [
        (
            "the text of an input",
            |forged| {
                inputs(forged).insert(KERNEL_PATH.to_owned(), StoredFile::Text("x".to_owned()));
            },
            "the stored input glsl/guard.comp has another SHA-256 than the manifest",
        ),
        (
            "the bytes of an input",
            |forged| {
                inputs(forged).insert(KERNEL_PATH.to_owned(), StoredFile::Bytes("eA==".to_owned()));
            },
            "the stored input glsl/guard.comp has another SHA-256 than the manifest",
        ),
        (
            "bytes that are no base64",
            |forged| {
                inputs(forged).insert(KERNEL_PATH.to_owned(), StoredFile::Bytes("*".to_owned()));
            },
            "the stored input glsl/guard.comp has another SHA-256 than the manifest",
        ),
        (
            "an input left out",
            |forged| drop(inputs(forged).remove(KERNEL_PATH)),
            "the input glsl/guard.comp of the manifest is not stored",
        ),
        (
            "a source as if it were too large",
            |forged| {
                let omitted = StoredFile::Omitted { bytes: u64::MAX };
                inputs(forged).insert(KERNEL_PATH.to_owned(), omitted);
            },
            "the input glsl/guard.comp is always stored, and is not",
        ),
        (
            "an input that the manifest does not name",
            |forged| {
                inputs(forged).insert("a.bin".to_owned(), StoredFile::Text(String::new()));
            },
            "the stored input a.bin is not in the manifest",
        ),
        (
            "a small file as if it were too large",
            |forged| {
                inputs(forged).insert("a.bin".to_owned(), StoredFile::Omitted { bytes: 1 });
                forged.manifest.inputs.insert("a.bin".to_owned(), sha256_digits(b"1"));
            },
            "the input a.bin is always stored, and is not",
        ),
    ];
    for (name, forge, told) in cases {
        let mut forged = honest();
        forge(&mut forged);
        list_files(&mut forged);
        assert_eq!(problems_of(&folder_of(&forged)), [told], "{name}");
    }
    let mut large = honest();
    inputs(&mut large).insert("a.bin".to_owned(), StoredFile::Omitted { bytes: u64::MAX });
    large.manifest.inputs.insert("a.bin".to_owned(), sha256_digits(b"1"));
    list_files(&mut large);
    assert_eq!(problems_of(&folder_of(&large)), Vec::<String>::new());
}

#[test]
fn large_data_may_be_left_out_and_nothing_else() {
    let mut evidence = honest();
    let settings = evidence.campaign.settings.as_mut().unwrap();
    settings.kernels[0].source = "main.comp".to_owned();
    let limit = settings.limits.output_bytes;
    evidence.kernels[0].structure.files[0].path = "included.glsl".to_owned();
    for (path, bytes, may_be) in [
        ("data.bin", limit + 1, true),
        ("data.bin", limit, false),
        ("data.bin", 0, false),
        ("vkcert.toml", limit + 1, false),
        (REQUIREMENTS_PATH, limit + 1, false),
        ("main.comp", limit + 1, false),
        ("included.glsl", limit + 1, false),
    ] {
        assert_eq!(may_be_omitted(&evidence, path, bytes), may_be, "{path} {bytes}");
    }
    evidence.campaign.settings = None;
    assert!(!may_be_omitted(&evidence, "data.bin", limit + 1));
}

/// File names are sorted, and the project's order is another one.
#[test]
fn kernels_stand_in_the_order_of_the_conclusion() {
    let mut evidence = honest_with(|facts| {
        for engine in [0, 1] {
            for (kernel, configuration) in [("guard", "N=1"), ("after", "N=2"), ("after", "N=1")] {
                let mut row = facts.kernels[engine].clone();
                row.kernel = kernel.into();
                row.configuration.name = configuration.to_owned();
                facts.kernels.push(row);
            }
        }
        facts.kernels.reverse();
    });
    let order_of = |evidence: &Evidence| -> Vec<_> {
        let label = |row: &vkcert_model::evidence::KernelEvidence| {
            (row.kernel, row.configuration.name.clone(), row.engine)
        };
        evidence.kernels.iter().map(label).collect()
    };
    for rotation in 0..8 {
        let read = examine_files(&folder_of(&evidence)).unwrap().evidence.unwrap();
        assert_eq!(order_of(&read), order_of(&evidence), "{rotation}");
        evidence.kernels.rotate_left(1);
        evidence.campaign.conclusion.summary.rotate_left(1);
        list_files(&mut evidence);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_told_with_its_place() {
    let cases: [(&str, &[u8], &str); 5] = [
        (CAMPAIGN, b"{\n  \"schema\": x", "expected value at line 2 column 13"),
        (CAMPAIGN, b"{}", "missing field `schema` at line 1 column 2"),
        (KERNEL_FILE, b"1", "invalid type: integer `1`, expected struct KernelEvidence"),
        (INPUTS, b"{\"schema\": 2, \"files\": {}} x", "trailing characters at line 1 column 28"),
        (INPUTS, b"", "EOF while parsing a value"),
    ];
    for (name, bytes, told) in cases {
        let mut folder = folder_of(&honest());
        replace_listed(&mut folder, name, bytes.to_vec());
        let examined = examine_files(&folder).unwrap();
        assert!(examined.evidence.is_none(), "{name}");
        let told = format!("not an evidence file of this version: {told}");
        let problems = examined.problems;
        assert!(problems.len() == 1 && problems[0].starts_with(&told), "{name}: {problems:?}");
    }
    let mut folder = folder_of(&honest());
    folder.files.insert(MANIFEST.to_owned(), b"{\n x".to_vec());
    let Err(VerifyError::Input(diagnostics)) = examine_files(&folder) else {
        panic!("the manifest is read")
    };
    let location = diagnostics[0].location.as_ref().unwrap();
    assert!(Path::new(&location.file).ends_with(Path::new("evidence").join(MANIFEST)));
    let position = location.position.unwrap();
    assert_eq!((position.line, position.column), (2, 2));
    let mut folder = folder_of(&honest());
    folder.files.remove(CAMPAIGN);
    let told = "the evidence cannot be read: it holds no campaign.json";
    assert!(problems_of(&folder).contains(&told.to_owned()));
}

#[test]
fn brackets_nest_up_to_a_limit_and_count_outside_of_texts_alone() {
    let open = |count: usize| "[".repeat(count);
    for (name, text, is_read) in [
        ("as deep as can be", open(MAX_DEPTH), true),
        ("deeper", open(MAX_DEPTH + 1), false),
        ("braces", "{".repeat(MAX_DEPTH + 1), false),
        ("side by side", "[]".repeat(MAX_DEPTH + 1), true),
        ("in a text", format!("\"{}", open(MAX_DEPTH + 1)), true),
        ("behind a quoted quote", format!("\"\\\"{}", open(MAX_DEPTH + 1)), true),
        ("behind a quoted backslash", format!("\"\\\\\"{}", open(MAX_DEPTH + 1)), false),
        ("behind a text", format!("\"a\"{}", open(MAX_DEPTH + 1)), false),
        ("a text that closes nothing", format!("{}\"]\"[", open(MAX_DEPTH)), false),
        ("a backslash outside of a text", format!("{}\\[", open(MAX_DEPTH)), false),
        ("more closed than open", format!("]{}", open(MAX_DEPTH + 1)), false),
    ] {
        let result = check_depth(text.as_bytes());
        assert_eq!(result.is_ok(), is_read, "{name}");
        if let Err(error) = result {
            assert_eq!(error.to_string(), format!("nested more than {MAX_DEPTH} deep"));
        }
    }
    let mut folder = folder_of(&honest());
    replace_listed(&mut folder, CAMPAIGN, open(MAX_DEPTH + 1).into_bytes());
    assert!(problems_of(&folder)[0].ends_with("nested more than 20000 deep"));
}

#[test]
fn a_report_lies_beside_its_list() {
    for (name, is_beside) in [
        ("report.html", true),
        ("a b", true),
        ("", false),
        (".", false),
        ("..", false),
        ("/a", false),
        ("a/", false),
        ("./a", false),
        ("a/b", false),
        ("../a", false),
    ] {
        assert_eq!(is_plain(name), is_beside, "{name:?}");
    }
}
