//! Files that no person writes: pipes, devices, files beyond every limit, lines of any length. Each
//! is refused at once, with a diagnostic that a person can read; none of them makes the program
//! wait or end in a panic.

use crate::support;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::*;

/// A procedure whose buffer is the contents of `file`.
fn procedure_with_file(folder: &Path, file: &str) -> std::path::PathBuf {
    let text = format!(
        "schema = 1\n[kernels.k]\nsource = {{ text = \"#version 450\\nlayout(set=0, binding=0) buffer A {{ uint a[]; }};\\nvoid main() {{ a[0] = 1u; }}\" }}\n\
         [[tests]]\nid = \"T\"\nbuffers.a = {{ file = {file:?} }}\n[[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\n\
         bindings = [{{ set = 0, binding = 0, buffer = \"a\" }}]\n"
    );
    write(folder, "t.toml", &text)
}

/// A procedure whose kernel includes `file`.
fn procedure_with_include(folder: &Path, file: &str) -> std::path::PathBuf {
    write(folder, "k.comp", format!("#version 450\n#include \"{file}\"\nvoid main() {{}}\n"));
    let text = "schema = 1\nkernels.k = { source = \"k.comp\" }\n[[tests]]\nid = \"T\"\n[[tests.dispatches]]\n\
                kernel = \"k\"\ngroups = [1, 1, 1]\n";
    write(folder, "include.toml", text)
}

/// What a command prints to standard error; it must end with code 2 within the time that a person
/// waits.
fn refused(command: &mut Command) -> String {
    let started = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    loop {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{command:?} still runs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
    text
}

#[test]
fn pipes_and_devices_are_refused_unread() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.toml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let text = refused(vkcert().arg("run").arg(&pipe));
    assert!(text.contains("is a pipe"), "{text}");
    let text = refused(vkcert().args(["run", "/dev/zero"]));
    assert!(text.contains("is a device"), "{text}");
    let text = refused(vkcert().arg("run").arg(folder.path()));
    assert!(text.contains("is a folder"), "{text}");
    let text = refused(vkcert().arg("run").arg(procedure_with_file(folder.path(), "pipe.toml")));
    assert!(text.contains("is a pipe"), "{text}");
}

#[test]
fn files_beyond_their_limit_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    // A file with a hole takes no room on the disk.
    File::create(folder.path().join("large.bin")).unwrap().set_len(3 << 30).unwrap();
    let text = refused(vkcert().arg("run").arg(procedure_with_file(folder.path(), "large.bin")));
    assert!(text.contains("larger than"), "{text}");
    File::create(folder.path().join("large.toml")).unwrap().set_len(3 << 30).unwrap();
    let text = refused(vkcert().arg("run").arg(folder.path().join("large.toml")));
    assert!(text.contains("larger than"), "{text}");
    File::create(folder.path().join("large.glsl")).unwrap().set_len(3 << 30).unwrap();
    let text =
        refused(vkcert().arg("run").arg(procedure_with_include(folder.path(), "large.glsl")));
    assert!(text.contains("larger than"), "{text}");
    std::fs::write(folder.path().join("latin.glsl"), b"// \xe4\n").unwrap();
    let text =
        refused(vkcert().arg("run").arg(procedure_with_include(folder.path(), "latin.glsl")));
    assert!(text.contains("not UTF-8"), "{text}");
    let long = format!("schema = 1\nname = \"{}\"\n", "x".repeat(50 << 20));
    let text = refused(vkcert().arg("run").arg(write(folder.path(), "string.toml", &long)));
    assert!(text.contains("larger than"), "{text}");
}

#[test]
fn a_line_of_any_length_is_quoted_in_part() {
    let folder = tempfile::tempdir().unwrap();
    for columns in [150, 250, 65_534, 65_535, 65_536, 200_000] {
        let padding = format!("{}1", "1,".repeat(columns / 2));
        let text = format!("{{\"schema\": 1, \"kernels\": [{padding}] oops}}");
        let said = refused(vkcert().arg("run").arg(write(folder.path(), "t.json", &text)));
        assert!(said.len() < 3_000, "{} bytes for a line of {columns} columns", said.len());
        let column = text.find("oops").unwrap() + 1;
        assert!(said.contains(&format!("t.json:1:{column}")), "{columns}: {said}");
    }
    // The fault at the start of a long line, between long lines, and in a text of characters of
    // several bytes.
    let long = "ä".repeat(40_000);
    let text = format!("a = \"{long}\"\nschema = oops # {long}\nb = \"{long}\"\n");
    let said = refused(vkcert().arg("run").arg(write(folder.path(), "t.toml", &text)));
    assert!(said.len() < 3_000 && said.contains(":2:10"), "{said}");
    // A value that is quoted in the message itself.
    let text = format!("{{\"schema\": {:?}}}", "y".repeat(1 << 20));
    let said = refused(vkcert().arg("run").arg(write(folder.path(), "value.json", &text)));
    assert!(said.len() < 6_000, "{} bytes", said.len());
}

#[test]
fn the_exit_code_stands_when_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let failing = root().join("tests/projects/failing");
    let code = |command: &mut Command| {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        drop(child.stdout.take());
        child.wait().unwrap().code()
    };
    for format in ["text", "json"] {
        let mut certify = vkcert();
        certify
            .arg("certify")
            .arg(&failing)
            .args(["--engine", "sequential", "--format", format, "--out"])
            .arg(&out);
        assert_eq!(code(&mut certify), Some(1), "{format}");
        let mut wrong = vkcert();
        assert_eq!(
            code(wrong.args(["run", "no such file", "--format", format])),
            Some(2),
            "{format}"
        );
    }
    let campaign = out.join("evidence/campaign.json");
    let forged = std::fs::read_to_string(&campaign).unwrap().replace("\"fail\"", "\"pass\"");
    File::create(&campaign).unwrap().write_all(forged.as_bytes()).unwrap();
    assert_eq!(code(vkcert().arg("verify").arg(out.join("evidence"))), Some(1));
    // What has nothing to conclude ends quietly.
    assert_eq!(code(vkcert().args(["list", "criteria"])), Some(0));
    assert_eq!(code(vkcert().args(["schema", "procedure"])), Some(0));
}

#[test]
fn a_time_limit_ends_a_long_test_on_the_sequential_engine() {
    let folder = tempfile::tempdir().unwrap();
    let kernel = "#version 450\\nlayout(local_size_x = 64) in;\\nlayout(set=0, binding=0) buffer A { uint a[]; };\\n\
                  void main() { uint x = 1u; for (uint i = 0u; i < 4000000000u; i++) x = x * 3u + i; a[gl_GlobalInvocationID.x] = x; }";
    let text = format!(
        "schema = 1\nkernels.k.source = {{ text = \"{kernel}\" }}\n[[tests]]\nid = \"T\"\nlimits.steps = 1000000000000000\n\
         buffers.a = {{ type = \"uint\", count = 64 }}\n\
         [[tests.dispatches]]\nkernel = \"k\"\ngroups = [1, 1, 1]\nbindings = [{{ set = 0, binding = 0, buffer = \"a\" }}]\n"
    );
    let file = write(folder.path(), "t.toml", &text);
    let started = Instant::now();
    let result = run_json(
        vkcert().arg("run").arg(file).args(["--engine", "sequential", "--timeout", "0.3"]),
        1,
    );
    let test = &result["tests"][0];
    assert_eq!(test["verdict"], "timeout", "{result:#}");
    assert!(test["reason"].as_str().unwrap().contains("0.3 s"), "{result:#}");
    // A kernel that is slow is not one that never ends.
    assert_eq!(test["findings"].as_array().unwrap().len(), 0, "{result:#}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

/// A text on which the pinned compiler crashes: it takes a mask for a constant without a look.
const CRASHES: &str = "#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
layout(local_size_x = 32) in;
layout(binding = 0) buffer A { float v[]; };
float add(const in float a, const in float b) { return a + b; }
void main() {
  int mask = int(gl_LocalInvocationID.x);
  coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> m, r;
  coopMatReduceNV(r, m, mask, add);
  coopMatStore(r, v, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
}
";

#[test]
fn a_crash_of_the_compiler_is_told_and_leaves_results_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "glsl/good.comp",
        "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
    );
    write(folder.path(), "glsl/crash.comp", CRASHES);
    write(folder.path(), "requirements/none.toml", "schema = 1\n");
    let project = |name: &str| {
        format!(
            "schema = 1\nname = \"crash\"\nlevel = \"D\"\n[[kernel]]\nname = \"k\"\nsource = \"glsl/{name}.comp\"\n\
             target_env = \"vulkan1.3\"\n"
        )
    };
    let spirv = folder.path().join("spirv");
    write(folder.path(), "vkcert.toml", project("good"));
    run(vkcert().arg("build").arg(folder.path()), 0);
    let names = || {
        let entries = std::fs::read_dir(&spirv).unwrap().map(|entry| entry.unwrap());
        let mut names: Vec<_> =
            entries.map(|entry| (entry.file_name(), std::fs::read(entry.path()).ok())).collect();
        names.sort();
        names
    };
    let before = names();
    write(folder.path(), "vkcert.toml", project("crash"));
    let told = "vkcert: the GLSL compiler crashed on glsl/crash.comp (SIG";
    for command in ["build", "certify"] {
        let output = run(vkcert().arg(command).arg(folder.path()), 3);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            said.lines().filter(|line| line.starts_with(told)).count(),
            1,
            "{command}: {said}"
        );
        assert!(output.stdout.is_empty(), "{command}");
        assert_eq!(names(), before, "{command}");
    }
    let output = run(vkcert().args(["--format", "json", "build"]).arg(folder.path()), 3);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["error"]["kind"], "tool", "{document:#}");
    assert_eq!(document["error"]["file"], "glsl/crash.comp", "{document:#}");
}
