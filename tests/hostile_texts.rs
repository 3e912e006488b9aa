//! Projects whose texts no reader could take in, or that show something else than they hold: refused
//! at their place, and nothing is written. What a project allows to be long is printed whole.

use crate::support::{run, run_json, vkcert, write};
use std::path::Path;

const KERNEL: &str = "#version 450
layout(local_size_x = 1) in;
layout(binding = 0) buffer Out { uint value[]; };
void main() { value[0] = 7u; }
";

/// Texts of a project, by what they are.
#[derive(Clone)]
struct Texts {
    kernel: String,
    uid: String,
    title: String,
    statement: String,
    test: String,
    test_title: String,
    number: String,
    change: String,
    acronym: String,
    meaning: String,
    reason: String,
    limits: String,
}

fn harmless() -> Texts {
    let text = |text: &str| text.to_owned();
    Texts {
        kernel: text("k"),
        uid: text("HLR-1"),
        title: text("Seven"),
        statement: text("It shall be seven."),
        test: text("T"),
        test_title: text("Is it seven?"),
        number: text("DOC-1"),
        change: text("First issue."),
        acronym: text("GPU"),
        meaning: text("graphics processing unit"),
        reason: text("No input."),
        limits: String::new(),
    }
}

fn project(folder: &Path, texts: &Texts) {
    let Texts { kernel, uid, title, statement, test, test_title, .. } = texts;
    let Texts { number, change, acronym, meaning, reason, limits, .. } = texts;
    let document = format!(
        "[document]\nnumber = \"{number}\"\nrevision = \"1\"\n\
         history = [{{ revision = \"1\", date = \"2026-01-31\", author = \"A\", change = \"{change}\" }}]\n\
         acronyms = {{ \"{acronym}\" = \"{meaning}\" }}\n"
    );
    let head = format!("schema = 1\nname = \"Texts\"\nlevel = \"D\"\n{limits}\n");
    let kernels = format!("[[kernel]]\nname = \"{kernel}\"\nsource = \"k.comp\"\n");
    write(folder, "vkcert.toml", format!("{head}{document}{kernels}"));
    write(folder, "k.comp", KERNEL);
    let requirement = format!(
        "[[requirement]]\nuid = \"{uid}\"\nlevel = \"HLR\"\ntitle = \"{title}\"\nstatement = \"{statement}\"\n\
         verification = [\"test\"]\n\
         no_robustness_test = {{ reason = \"{reason}\", author = \"A\", approver = \"B\" }}\n"
    );
    let test = format!(
        "[[test]]\nid = \"{test}\"\ntitle = \"{test_title}\"\nrequirements = [\"{uid}\"]\n\
         buffers = {{ v = {{ type = \"uint\", count = 1 }} }}\n\
         dispatches = [{{ kernel = \"{kernel}\", groups = [1, 1, 1], bindings = [{{ binding = 0, buffer = \"v\" }}] }}]\n\
         expect = [{{ buffer = \"v\", values = [7] }}]\n"
    );
    write(folder, "requirements/r.toml", format!("schema = 1\n{requirement}{test}"));
}

/// Kind, file and line of the first fault; the program writes nothing.
fn refused(texts: &Texts) -> (String, String, u64) {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), texts);
    let mut certify = vkcert();
    certify.args(["certify", "--engine", "sequential"]).arg(folder.path());
    let told = run_json(&mut certify, 2);
    assert!(!folder.path().join("reports").exists());
    assert!(told.to_string().len() < 20_000, "the diagnostic quotes the text whole");
    let error = &told["error"];
    let file = Path::new(error["file"].as_str().unwrap()).file_name().unwrap();
    let file = file.to_str().unwrap().to_owned();
    (error["kind"].as_str().unwrap().to_owned(), file, error["line"].as_u64().unwrap())
}

/// Gives one of the texts other words.
type Change = fn(&mut Texts, String);

/// A text of the project with the file and line that it is refused at.
type TextPlace = (Change, &'static str, u64);

/// In each of these places these words are refused, as a fault of this kind.
fn assert_refused(places: &[TextPlace], words: &str, kind: &str) {
    for (change, file, line) in places {
        let mut texts = harmless();
        change(&mut texts, words.to_owned());
        let told = refused(&texts);
        let shown = words.get(..words.len().min(80));
        assert_eq!(told, (kind.to_owned(), (*file).to_owned(), *line), "{shown:?}");
    }
}

#[test]
fn texts_of_any_length_are_refused_at_their_place() {
    let places: &[TextPlace] = &[
        (|texts, long| texts.kernel = long, "vkcert.toml", 11),
        (|texts, long| texts.number = long, "vkcert.toml", 6),
        (|texts, long| texts.change = long, "vkcert.toml", 8),
        (|texts, long| texts.acronym = long, "vkcert.toml", 9),
        (|texts, long| texts.meaning = long, "vkcert.toml", 9),
        (|texts, long| texts.uid = long, "r.toml", 3),
        (|texts, long| texts.title = long, "r.toml", 5),
        (|texts, long| texts.statement = long, "r.toml", 6),
        (|texts, long| texts.reason = long, "r.toml", 8),
        (|texts, long| texts.test = long, "r.toml", 10),
        (|texts, long| texts.test_title = long, "r.toml", 11),
    ];
    for length in [1 << 16, 1 << 20] {
        assert_refused(places, &"x".repeat(length + 1), "limit");
    }
    // A name is part of file names.
    assert_refused(&[(|texts, long| texts.uid = long, "r.toml", 3)], &"R".repeat(101), "limit");
}

#[test]
fn texts_that_show_something_else_than_they_hold_are_refused() {
    let places: &[TextPlace] = &[
        (|texts, text| texts.number = text, "vkcert.toml", 6),
        (|texts, text| texts.acronym = text, "vkcert.toml", 9),
        (|texts, text| texts.title = text, "r.toml", 5),
        (|texts, text| texts.statement = text, "r.toml", 6),
        (|texts, text| texts.reason = text, "r.toml", 8),
        (|texts, text| texts.test_title = text, "r.toml", 11),
    ];
    for character in ["\\u0000", "\\u001b[2J", "\\u0085", "\\u202e", "\u{2067}", "\u{7f}"] {
        // TOML has no DEL outside of escapes (TOML 1.0, Comment and String).
        let kind = if character == "\u{7f}" { "toml-syntax" } else { "bad-text" };
        assert_refused(places, &format!("before {character} behind"), kind);
    }
}

#[test]
fn files_that_are_not_utf_8_are_refused_by_name() {
    for file in ["vkcert.toml", "requirements/r.toml"] {
        let folder = tempfile::tempdir().unwrap();
        project(folder.path(), &harmless());
        let mut bytes = std::fs::read(folder.path().join(file)).unwrap();
        bytes.extend(b"# \xff\xfe\n");
        write(folder.path(), file, bytes);
        let told = run_json(vkcert().arg("certify").arg(folder.path()), 2);
        assert_eq!(told["error"]["kind"], "encoding", "{told}");
        assert!(told["error"]["file"].as_str().unwrap().ends_with(file), "{told}");
        assert!(!folder.path().join("reports").exists());
    }
}

/// The words of a text of which none can be left out unseen.
fn numbered_words(count: usize) -> String {
    (0..count).map(|number| format!("word{number:06}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_a_project_allows_to_be_long_is_printed_whole() {
    let folder = tempfile::tempdir().unwrap();
    let words = numbered_words(8_000);
    let mut texts = harmless();
    texts.limits = "limits = { text_bytes = 100000, title_bytes = 5000 }".to_owned();
    texts.statement.clone_from(&words);
    texts.title = numbered_words(400);
    project(folder.path(), &texts);
    let formats = ["--report", "html", "--engine", "sequential"];
    run(vkcert().arg("certify").args(formats).arg(folder.path()), 0);
    let html = std::fs::read_to_string(folder.path().join("reports/report.html")).unwrap();
    assert!(html.contains(&words));
    let pdf = folder.path().join("report.pdf");
    let mut report = vkcert();
    report.args(["report", "--report-format", "pdf", "--output"]).arg(&pdf);
    run(report.arg(folder.path().join("reports/evidence")), 0);
    let Ok(text) = std::process::Command::new("pdftotext").arg(&pdf).arg("-").output() else {
        eprintln!("skipped: pdftotext (poppler-utils) is not installed");
        return;
    };
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    let absent = words.split(' ').filter(|word| !text.contains(word)).count();
    assert_eq!(absent, 0, "of 8,000 words");
}

/// A hundred thousand faults are told at once, the last one at its line.
#[test]
fn as_many_faults_as_a_file_holds_are_told_in_time() {
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), &harmless());
    let requirement = |number: usize| {
        format!(
            "[[requirement]]\nuid = \"HLR-X{number}\"\nlevel = \"HLR\"\ntitle = \"t\"\nstatement = \"s\"\n\
             verification = [\"test\"]\nparents = [{{ uid = \"HLR-GONE\" }}]\n"
        )
    };
    // Each is there twice.
    let count = 20_000;
    let requirements: String = (0..count).map(|place| requirement(place % (count / 2))).collect();
    let text = format!("schema = 1\n{requirements}");
    write(folder.path(), "requirements/twice.toml", text);
    let started = std::time::Instant::now();
    let told = run_json(vkcert().arg("certify").arg(folder.path()), 2);
    let errors = told["errors"].as_array().unwrap();
    let of_kind = |kind: &str| errors.iter().filter(|error| error["kind"] == kind).count();
    assert_eq!(of_kind("duplicate-id"), count / 2);
    assert_eq!(of_kind("unknown-requirement"), count);
    // A hint looks through all names: some have one.
    let has_hint = |error: &&serde_json::Value| !error["hint"].is_null();
    let hinted =
        errors.iter().filter(|error| error["kind"] == "unknown-requirement").filter(has_hint);
    assert!(hinted.count() <= 100);
    assert_eq!(errors.last().unwrap()["line"], 1 + 7 * count as u64);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
