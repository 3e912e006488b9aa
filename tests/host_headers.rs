//! Headers of the host program: what is wrong with one ends in a diagnostic with its place, what
//! was read of one is part of the evidence, and evidence is verified with and without the compiler.

use crate::support::{certify_sequentially, copy_tree, forge, root, run, run_json, vkcert, write};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const HEADER: &str = "\
[[interface.header]]
file = \"host/parameters.h\"
struct = \"Parameters\"
describes = \"push_constants\"
target = \"x86_64-unknown-linux-gnu\"
standard = \"c11\"
";

const GOOD: &str =
    "#include <stdint.h>\n#include \"kind.h\"\ntypedef struct {\n    Kind count;\n} Parameters;\n";

/// The minimal project, whose push constants are read from a header.
fn project(header: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_tree(&root().join("tests/projects/minimal"), folder.path());
    let file = "requirements/double.toml";
    let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
    let stated =
        "[interface.push_constants]\nmembers = [{ name = \"count\", type = \"uint32\" }]\n";
    assert!(text.contains(stated), "{text}");
    write(folder.path(), file, text.replace(stated, HEADER));
    write(folder.path(), "host/parameters.h", header);
    write(folder.path(), "host/kind.h", "#include <stdint.h>\ntypedef uint32_t Kind;\n");
    folder
}

fn without_library(command: &mut Command) -> &mut Command {
    command.env("LIBCLANG_PATH", "/nonexistent/libclang.so")
}

/// The first error of a certification that writes nothing.
fn error_of(project: &Path, command: &mut Command, exit: i32) -> Value {
    let out = project.join("reports");
    let document = run_json(command.arg("certify").arg(project).arg("--out").arg(&out), exit);
    assert!(!out.exists(), "something was written");
    document["error"].clone()
}

#[test]
fn a_header_with_errors_is_told_with_its_place_and_nothing_is_written() {
    let deep = |opening: &str, closing: &str| opening.repeat(100_000) + &closing.repeat(100_000);
    let members: String = (0..5000).map(|number| format!("int m{number};\n")).collect();
    let cases: &[(String, u64, &str)] = &[
        ("typedef struct {\n    integer count;\n} Parameters;\n".to_owned(), 2, "unknown type"),
        ("#include \"none.h\"\n".to_owned(), 1, "'none.h' file not found"),
        ("#include \"parameters.h\"\n".to_owned(), 1, "nested too deeply"),
        ("typedef struct {".to_owned(), 1, "expected '}'"),
        (deep("struct {", "} a;"), 1, "nesting level"),
        (format!("int x = {};\n", deep("(", ")")), 1, "nesting level"),
        (format!("typedef struct {{\n{members}}} Parameters;\n"), 1, "more than 4096 members"),
        ("\0\u{fffd}struct".to_owned(), 1, ""),
        ("#pragma clang __debug crash\n".to_owned(), 1, "crash"),
        (
            "struct __attribute__((scalar_storage_order(\"big-endian\"))) Parameters { int count; };\n"
                .to_owned(),
            1,
            "unknown attribute 'scalar_storage_order' ignored",
        ),
        (
            "#pragma scalar_storage_order big-endian\nstruct Parameters { int count; };\n".to_owned(),
            1,
            "unknown pragma ignored",
        ),
    ];
    for (header, line, words) in cases {
        let project = project(header);
        let error = error_of(project.path(), &mut vkcert(), 2);
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(words), "{words}: {error}");
        assert_eq!(error["file"], "host/parameters.h", "{error}");
        assert_eq!(error["line"], *line, "{error}");
    }
}

#[test]
fn an_interface_states_that_what_the_compiler_ignores_changes_no_layout() {
    let header = GOOD.replace("Kind count", "Kind count __attribute__((of_another_compiler))");
    let project = project(&header);
    let error = error_of(project.path(), &mut vkcert(), 2);
    assert!(error["hint"].as_str().unwrap().contains("-Wno-unknown-attributes"), "{error}");
    let file = "requirements/double.toml";
    let text = std::fs::read_to_string(project.path().join(file)).unwrap();
    let stated = "c11\"\nflags = [\"-Wno-unknown-attributes\"]";
    write(project.path(), file, text.replace("c11\"", stated));
    run(vkcert().args(["couple", "--engine", "sequential"]).arg(project.path()), 0);
}

#[test]
fn a_header_that_switches_warnings_off_is_refused() {
    let ignored = GOOD.replace("Kind count", "Kind count __attribute__((of_another_compiler))");
    for line in [
        "#pragma GCC diagnostic ignored \"-Wattributes\"",
        "_Pragma(\"clang diagnostic ignored \\\"-Wunknown-attributes\\\"\")",
        "# 1 \"other.h\" 1 3",
    ] {
        let project = project(&format!("{line}\n{ignored}"));
        let error = error_of(project.path(), &mut vkcert(), 2);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("can switch warnings off"), "{line}: {error}");
        assert_eq!(error["line"], 1, "{line}: {error}");
    }
}

#[test]
fn a_header_that_includes_a_pipe_ends_at_once() {
    let project = project(&format!("#include \"pipe.h\"\n{GOOD}"));
    let made = Command::new("mkfifo").arg(project.path().join("host/pipe.h")).status().unwrap();
    assert!(made.success());
    let start = std::time::Instant::now();
    let error = error_of(project.path(), &mut vkcert(), 2);
    assert!(error["message"].as_str().unwrap().contains("no regular file"), "{error}");
    // The limit of wall-clock time alone would be 30 s.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn an_interface_names_a_header_that_there_is_and_a_struct_that_it_declares() {
    let of = |from: &str, to: &str| {
        let project = project(GOOD);
        let file = "requirements/double.toml";
        let text = std::fs::read_to_string(project.path().join(file)).unwrap();
        assert!(text.contains(from), "{from}");
        write(project.path(), file, text.replace(from, to));
        let error = error_of(project.path(), &mut vkcert(), 2);
        (error["message"].as_str().unwrap().to_owned(), error["hint"].clone())
    };
    let (message, hint) = of("struct = \"Parameters\"", "struct = \"Parameter\"");
    assert_eq!(message, "`host/parameters.h` declares no struct `Parameter`");
    assert_eq!(hint, "did you mean `Parameters`?");
    assert!(of("host/parameters.h", "host/none.h").0.contains("host/none.h"));
    assert!(of("host/parameters.h", "../parameters.h").0.contains("no file of the project"));
    assert!(of("c11\"", "c11 -w\"").0.contains("no language standard"));
    assert!(of("\"x86_64-unknown", "\"-fplugin=x86_64-unknown").0.contains("no target triple"));
    let (message, hint) = of("linux-gnu", "linx-gnu");
    assert!(message.contains("clang knows no `linx`"), "{message}");
    assert_eq!(hint, "did you mean `linux`?");
    let nonsense = of("\"x86_64-unknown-linux-gnu\"", "\"nonsense-linux\"").0;
    assert!(nonsense.contains("`nonsense-linux`"), "{nonsense}");
    let with = |key: &str| of("standard =", &format!("{key}\nstandard =")).0;
    assert_eq!(with("include = [\"host\", \"hots\"]"), "there is no folder `hots`");
    assert_eq!(with("sysroot = \"sysroot\""), "there is no folder `sysroot`");
    for outside in ["include = [\"../host\"]", "include = [\"/usr/include\"]", "sysroot = \"..\""] {
        assert!(with(outside).contains("is no folder of the project"), "{outside}");
    }
    let missing = of("target = \"x86_64-unknown-linux-gnu\"\n", "").0;
    assert_eq!(missing, "the key `target` is missing");
    let unbound = of("\"push_constants\"", "\"element\"").0;
    assert!(unbound.contains("has its `set` and `binding`"), "{unbound}");
    let unknown = of("\"push_constants\"", "\"block\"\nset = 3\nbinding = 1").0;
    assert!(unknown.contains("states no buffer at set 3 binding 1"), "{unknown}");
}

#[test]
fn a_missing_library_is_told_with_the_command_that_installs_it() {
    let project = project(GOOD);
    let error = error_of(project.path(), without_library(&mut vkcert()), 4);
    assert_eq!(error["hint"], "sudo apt-get install libclang1-19 libclang-common-19-dev");
    // What is wrong with the input comes first, and who names no header needs no library.
    std::fs::remove_file(project.path().join("host/parameters.h")).unwrap();
    error_of(project.path(), without_library(&mut vkcert()), 2);
    let minimal = root().join("tests/projects/minimal");
    let options = ["--engine", "sequential"];
    run(without_library(vkcert().arg("couple").arg(minimal).args(options)), 0);
    let doctor = run_json(without_library(vkcert().arg("doctor")), 0);
    let rows = doctor["checks"].as_array().unwrap();
    let row = rows.iter().find(|row| row["what"] == "libclang").unwrap();
    assert_eq!((&row["usable"], &row["install"]), (&json!(false), &error["hint"]));
}

#[test]
fn what_was_read_is_evidence_that_is_read_again() {
    let project = project(GOOD);
    let certify = |name: &str| {
        let reports = project.path().join(name);
        certify_sequentially(project.path(), &reports).output().unwrap();
        reports.join("evidence")
    };
    let (evidence, again) = (certify("reports"), certify("again"));
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).unwrap();
    for name in ["campaign.json", "inputs.json"] {
        assert_eq!(read(&evidence, name), read(&again, name), "{name}");
    }
    let campaign: Value = serde_json::from_slice(&read(&evidence, "campaign.json")).unwrap();
    let reading = &campaign["coupling"][0]["headers"][0];
    let member = &reading["contents"]["structure"]["members"][0];
    assert_eq!(member["contents"]["scalar"], "uint32", "{reading}");
    assert_eq!(member["spelling"], "Kind");
    assert_eq!(reading["outside"], json!(["stdint.h"]));
    let manifest: Value = serde_json::from_slice(&read(&evidence, "manifest.json")).unwrap();
    for file in ["host/parameters.h", "host/kind.h"] {
        assert!(manifest["inputs"][file].is_string(), "{manifest}");
        assert!(reading["files"][file].is_string(), "{reading}");
    }
    let verify = |exit: i32, library: bool| {
        let mut command = vkcert();
        command.arg("verify").arg(&evidence);
        if !library {
            without_library(&mut command);
        }
        let output = run(&mut command, exit);
        String::from_utf8(output.stdout).unwrap()
    };
    let told = "double: what `host/parameters.h` says of `Parameters`: ";
    assert!(!verify(0, true).contains(told));
    let open = verify(0, false);
    assert!(open.contains(&format!("not re-derivable  {told}")), "{open}");
    // Another layout, told by nobody.
    forge(&evidence, "campaign.json", |campaign| {
        let contents = &mut campaign["coupling"][0]["headers"][0]["contents"]["structure"];
        contents["members"][0]["spelling"] = "unsigned".into();
    });
    let forged = verify(1, true);
    assert!(forged.contains("is read otherwise by the same compiler"), "{forged}");
}

#[test]
fn evidence_knows_when_a_header_has_changed() {
    let project = project(GOOD);
    let reports = project.path().join("reports");
    certify_sequentially(project.path(), &reports).output().unwrap();
    let verify = |exit: i32| {
        let mut command = vkcert();
        command.arg("verify").arg(reports.join("evidence")).arg("--project").arg(project.path());
        let output = run(&mut command, exit);
        String::from_utf8(output.stdout).unwrap()
    };
    verify(0);
    write(project.path(), "host/kind.h", "typedef unsigned Kind;\n");
    let told = verify(1);
    assert!(told.contains("host/kind.h"), "{told}");
}
