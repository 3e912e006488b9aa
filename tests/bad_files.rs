//! Every file of `tests/filetests/bad` gives the diagnostics that it names: `# expect: KIND LINE`
//! in TOML, a sidecar `NAME.expect` with `KIND LINE` rows for JSON.

use crate::compiled;

use std::fs;
use std::path::{Path, PathBuf};
use vkcert::exec::prepare::{PrepareError, prepare_test};
use vkcert::model::diagnostic::Diagnostic;
use vkcert::requirement::{load_procedure, load_project};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests").join(folder);
    let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "toml" || extension == "json")
        })
        .collect();
    files.sort();
    files
}

fn expected(path: &Path) -> Vec<(String, u32)> {
    let row = |row: &str| {
        let (kind, line) = row.trim().split_once(' ').unwrap();
        (kind.to_owned(), line.parse().unwrap())
    };
    match path.extension().unwrap().to_str() {
        Some("json") => fs::read_to_string(path.with_extension("json.expect"))
            .unwrap()
            .lines()
            .map(row)
            .collect(),
        _ => fs::read_to_string(path)
            .unwrap()
            .lines()
            .filter_map(|line| line.strip_prefix("# expect: "))
            .map(row)
            .collect(),
    }
}

fn found(diagnostics: &[Diagnostic]) -> Vec<(String, u32)> {
    diagnostics
        .iter()
        .map(|diagnostic| {
            let position = diagnostic.location.as_ref().and_then(|location| location.position);
            (diagnostic.kind.to_owned(), position.map_or(0, |position| position.line))
        })
        .collect()
}

fn compare(path: &Path, diagnostics: &[Diagnostic], faults: &mut Vec<String>) {
    let (mut expected, found) = (expected(path), found(diagnostics));
    expected.sort_by_key(|(_, line)| *line);
    if expected != found || expected.is_empty() {
        let messages: Vec<&str> =
            diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        let name = path.file_name().unwrap().display();
        faults.push(format!("{name}: expected {expected:?}, found {found:?} {messages:?}"));
    }
}

fn procedure_diagnostics(path: &Path) -> Vec<Diagnostic> {
    let procedure = match load_procedure(path) {
        Ok(procedure) => procedure,
        Err(diagnostics) => return diagnostics,
    };
    let kernels = compiled::kernels(&procedure);
    match prepare_test(&procedure.tests[0], &compiled::setting(&kernels, &procedure.base)) {
        Ok(_) => Vec::new(),
        Err(PrepareError::Input(diagnostics)) => diagnostics,
        Err(unsupported) => panic!("{}: {unsupported}", path.display()),
    }
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_bad_procedure_is_refused_at_its_place() {
    let mut faults = Vec::new();
    let files = files("bad/procedure");
    assert!(files.len() >= 40);
    for path in files {
        compare(&path, &procedure_diagnostics(&path), &mut faults);
    }
    report(&faults);
}

#[test]
fn the_good_procedures_behind_the_bad_ones_are_accepted() {
    for path in files("good") {
        let diagnostics = procedure_diagnostics(&path);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", path.display());
    }
}

const KERNEL: &str = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n";
const PROJECT: &str =
    "schema = 1\nname = \"P\"\nlevel = \"A\"\n[[kernel]]\nname = \"k\"\nsource = \"glsl/k.comp\"\n";
const HIGH: &str = "schema = 1\n[[requirement]]\nuid = \"HLR-001\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\nverification = [\"test\"]\n";

fn project(settings: &str, requirements: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("glsl")).unwrap();
    fs::create_dir_all(folder.path().join("requirements/deep")).unwrap();
    fs::write(folder.path().join("glsl/k.comp"), KERNEL).unwrap();
    fs::write(folder.path().join("vkcert.toml"), settings).unwrap();
    for (name, text) in requirements {
        fs::write(folder.path().join("requirements").join(name), text).unwrap();
    }
    folder
}

fn project_diagnostics(folder: &tempfile::TempDir) -> Vec<Diagnostic> {
    load_project(folder.path()).err().unwrap_or_default()
}

#[test]
fn every_bad_requirements_file_is_refused_at_its_place() {
    let mut faults = Vec::new();
    for path in files("bad/requirements") {
        let text = fs::read_to_string(&path).unwrap();
        let folder = project(PROJECT, &[("a_high.toml", HIGH), ("deep/low.toml", &text)]);
        compare(&path, &project_diagnostics(&folder), &mut faults);
    }
    report(&faults);
}

#[test]
fn every_bad_project_file_is_refused_at_its_place() {
    let mut faults = Vec::new();
    for path in files("bad/project") {
        let text = fs::read_to_string(&path).unwrap();
        let folder = project(&text, &[("high.toml", HIGH)]);
        compare(&path, &project_diagnostics(&folder), &mut faults);
    }
    report(&faults);
}

#[test]
fn empty_and_missing_files_say_so() {
    let good = project(PROJECT, &[("high.toml", HIGH)]);
    assert!(load_project(good.path()).is_ok());
    for empty in ["", "\n# nothing\n"] {
        let diagnostics = project_diagnostics(&project(empty, &[("high.toml", HIGH)]));
        assert_eq!(diagnostics.iter().map(|found| found.kind).collect::<Vec<_>>(), ["empty-file"]);
    }
    fs::remove_dir_all(good.path().join("requirements")).unwrap();
    let diagnostics = project_diagnostics(&good);
    assert!(diagnostics[0].message.contains("requirements"), "{diagnostics:?}");
    fs::remove_file(good.path().join("vkcert.toml")).unwrap();
    assert_eq!(project_diagnostics(&good).len(), 2);
}

#[test]
fn hints_name_the_nearest_name() {
    let hint = |path: &str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests/bad/procedure").join(path);
        procedure_diagnostics(&path).remove(0).hint.unwrap()
    };
    assert_eq!(hint("unknown_key.toml"), "did you mean `kind`?");
    assert_eq!(hint("bad_class.toml"), "did you mean `storage`?");
    assert_eq!(hint("unknown_member.toml"), "did you mean `m`?");
    assert!(hint("unknown_specialization.toml").contains("0 (`TILE`)"));
    assert!(hint("missing_binding.toml").contains("binding = 2"));
}
