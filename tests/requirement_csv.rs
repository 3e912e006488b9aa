//! Requirements as a table: out, changed by hand or by another program, and in again.

use crate::support::{copy_tree, root, run, run_json, vkcert, write};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The demonstration without what runs write.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for part in ["glsl", "spirv", "requirements"] {
        std::fs::create_dir(folder.path().join(part)).unwrap();
        copy_tree(&root().join(part), &folder.path().join(part));
    }
    std::fs::copy(root().join("vkcert.toml"), folder.path().join("vkcert.toml")).unwrap();
    folder
}

fn table_of(project: &Path) -> String {
    let output = run(vkcert().args(["requirements", "--csv"]).arg(project), 0);
    String::from_utf8(output.stdout).unwrap()
}

/// Every file below `requirements/` with its text.
fn requirement_texts(project: &Path) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![project.join("requirements")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(project).unwrap().display().to_string();
                texts.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    texts
}

fn import(project: &Path, table: &str, exit: i32) -> Value {
    let file = write(project, "table.csv", table);
    run_json(vkcert().args(["requirements", "--import"]).arg(file).arg(project), exit)
}

#[test]
fn a_table_without_a_change_changes_nothing() {
    let folder = project();
    let before = requirement_texts(folder.path());
    let table = table_of(folder.path());
    assert_eq!(
        run_json(vkcert().args(["requirements", "--csv"]).arg(folder.path()), 0)["csv"],
        table
    );
    // As spreadsheets write it.
    for text in [table.clone(), format!("\u{feff}{}", table.replace('\n', "\r\n"))] {
        let told = import(folder.path(), &text, 0);
        assert_eq!((&told["written"], &told["absent"]), (&json!([]), &json!(0)));
        let rows = told["requirements"].as_array().unwrap();
        assert!(rows.len() > 100 && rows.iter().all(|row| row["change"] == "unchanged"));
    }
    assert_eq!(requirement_texts(folder.path()), before);
}

#[test]
fn what_changes_is_edited_in_place_and_what_is_new_is_added() {
    let folder = project();
    let before = requirement_texts(folder.path());
    let table = "uid,level,title,statement,parents,verification,file\n\
                 HLR-MM-001,HLR,\"The \"\"product\"\"\",\"Two\nlines.\",HLR-MM-002,test; review,\n\
                 LLR-NEW-1,LLR,New,It shall be new.,HLR-MM-001,test,requirements/new/one.toml\n";
    let dry = write(folder.path(), "table.csv", table);
    let arguments = ["requirements", "--dry-run", "--import"];
    run(vkcert().args(arguments).arg(dry).arg(folder.path()), 0);
    assert_eq!(requirement_texts(folder.path()), before);

    let told = import(folder.path(), table, 0);
    let keys = json!(["title", "statement", "parents", "verification"]);
    assert_eq!(told["requirements"][0]["keys"], keys);
    assert_eq!(told["requirements"][1]["change"], "added");
    let written = json!(["requirements/high_level.toml", "requirements/new/one.toml"]);
    assert_eq!(told["written"], written);

    let after = requirement_texts(folder.path());
    for (file, text) in &before {
        let changed: Vec<&str> =
            text.lines().filter(|line| !after[file].lines().any(|other| other == *line)).collect();
        match file.as_str() {
            "requirements/high_level.toml" => assert_eq!(changed.len(), 2, "{changed:?}"),
            _ => assert_eq!(&after[file], text, "{file}"),
        }
    }
    let again = import(folder.path(), table, 0);
    assert_eq!(again["written"], json!([]));
    assert!(
        table_of(folder.path()).contains("HLR-MM-001,HLR,\"The \"\"product\"\"\",\"Two\nlines.\"")
    );
}

/// A link of the demonstration with its hash, in a folder of its own.
struct PinnedLink {
    folder: tempfile::TempDir,
    child: String,
    parent: String,
    /// A requirement that the child is not linked to.
    other: &'static str,
}

impl PinnedLink {
    fn of_project() -> Self {
        let folder = project();
        run(vkcert().args(["requirements", "--pin"]).arg(folder.path()), 0);
        let links = run_json(vkcert().arg("requirements").arg(folder.path()), 0);
        let end = |key: &str| links["links"][0][key].as_str().unwrap().to_owned();
        let (child, parent) = (end("requirement"), end("parent"));
        let other = if parent == "HLR-MM-001" { "HLR-CNV-001" } else { "HLR-MM-001" };
        Self { folder, child, parent, other }
    }
}

#[test]
fn links_keep_the_hashes_of_parents_that_stay() {
    let PinnedLink { folder, child, parent, other } = PinnedLink::of_project();
    import(folder.path(), &format!("uid,parents\n{child},{parent}; {other}\n"), 0);
    let links = run_json(vkcert().arg("requirements").arg(folder.path()), 0);
    let state = |parent: &str| {
        let links = links["links"].as_array().unwrap().iter();
        let mut links =
            links.filter(|link| link["requirement"] == child.as_str() && link["parent"] == parent);
        links.next().unwrap()["state"].clone()
    };
    assert_eq!((state(&parent), state(other)), (json!("pinned"), json!("not-pinned")));
}

#[test]
fn a_link_that_is_taken_out_and_added_again_is_told_to_have_lost_its_hash() {
    let PinnedLink { folder, child, parent, other } = PinnedLink::of_project();
    let out = import(folder.path(), &format!("uid,parents\n{child},{other}\n"), 0);
    let row = &out["requirements"][0];
    assert_eq!((&row["pins_lost"], &row["not_pinned"]), (&json!([parent]), &json!([other])));
    let again = import(folder.path(), &format!("uid,parents\n{child},{parent}\n"), 0);
    let row = &again["requirements"][0];
    assert_eq!((&row["pins_lost"], &row["not_pinned"]), (&json!([]), &json!([parent])));
}

#[test]
fn who_needs_no_robustness_test_is_in_the_table() {
    let folder = project();
    let table = "uid,no_robustness_reason,no_robustness_author,no_robustness_approver\n\
                 HLR-MM-001,\"Every input is in range, by type.\",A. Author,B. Approver\n";
    let told = import(folder.path(), table, 0);
    assert_eq!(told["requirements"][0]["keys"], json!(["no_robustness_test"]));
    let written = table_of(folder.path());
    let signed = "\"Every input is in range, by type.\",A. Author,B. Approver,requirements/";
    assert_eq!(written.matches(signed).count(), 1, "{written}");
    assert_eq!(import(folder.path(), &written, 0)["written"], json!([]));
    // An old table does not bring back what was withdrawn since, though it is no part of the content.
    let withdrawn =
        table.replace("\"Every input is in range, by type.\",A. Author,B. Approver", ",,");
    let told = import(folder.path(), &withdrawn, 0);
    assert_eq!(told["requirements"][0]["change"], "changed");
    let without = requirement_texts(folder.path());
    assert!(without.values().all(|text| !text.contains("B. Approver")));
    let told = import(folder.path(), &written, 2);
    assert_eq!(told["error"]["kind"], "stale", "{told}");
    assert_eq!(requirement_texts(folder.path()), without);
}

#[test]
fn files_are_replaced_together_or_not_at_all() {
    let folder = project();
    let before = requirement_texts(folder.path());
    let table = "uid,level,title,statement,parents,verification,file\n\
                 HLR-MM-001,HLR,Another title,Another statement.,,test,\n\
                 LLR-NEW-1,LLR,New,It shall be new.,HLR-MM-001,test,requirements/a/new.toml\n";
    let table = write(folder.path(), "table.csv", table);
    // The new file is smaller than what the system lets a process write, the changed one is larger.
    let limited = "trap '' XFSZ; ulimit -f 4; exec \"$0\" requirements --import \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.arg("-c").arg(limited).arg(vkcert().get_program()).arg(&table).arg(folder.path());
    let told = run_json(&mut shell, 3);
    assert_eq!(told["error"]["kind"], "tool", "{told}");
    assert!(told["error"]["file"].as_str().unwrap().ends_with("high_level.toml"), "{told}");
    assert_eq!(requirement_texts(folder.path()), before);
    assert!(!folder.path().join("requirements/a").exists());
    run(vkcert().args(["requirements", "--import"]).arg(&table).arg(folder.path()), 0);
    assert!(folder.path().join("requirements/a/new.toml").exists());
}

#[test]
fn a_bad_table_is_refused_at_its_line_and_nothing_is_written() {
    let folder = project();
    let before = requirement_texts(folder.path());
    let stale = table_of(folder.path()).replacen("Matrix product,", "Another title,", 1);
    let stale = stale.replacen("sha256:", "sha256:0", 1);
    let first_column = |line: &str| line.split(',').next().unwrap().to_owned();
    assert_eq!(first_column(stale.lines().nth(1).unwrap()), "HLR-MM-001");
    let cases: &[(&str, &str, u64)] = &[
        ("", "csv-column", 1),
        ("title\nx\n", "csv-column", 1),
        ("uid,titel\nHLR-MM-001,x\n", "csv-column", 1),
        ("uid;title\nHLR-MM-001;x\n", "csv-column", 1),
        ("uid,title,title\nHLR-MM-001,x,y\n", "csv-column", 1),
        ("uid,title\nHLR-MM-001,x\nHLR-MM-002\n", "csv-syntax", 3),
        ("uid,title\r\nHLR-MM-001,x\r\nHLR-MM-002,\r\n", "csv-value", 3),
        ("uid,title\nHLR-MM-001,\"x\n", "csv-syntax", 2),
        ("uid,title\nHLR-MM-001,x\nHLR-MM-001,y\n", "duplicate-id", 3),
        ("uid,level\nHLR-MM-001,high\n", "csv-value", 2),
        ("uid,derived\nHLR-MM-001,perhaps\n", "csv-value", 2),
        ("uid,verification\nHLR-MM-001,hope\n", "csv-value", 2),
        ("uid,title\n../x,y\n", "csv-value", 2),
        ("uid,no_robustness_reason\nHLR-MM-001,x\n", "csv-column", 1),
        (
            "uid,no_robustness_reason,no_robustness_author,no_robustness_approver\nHLR-MM-001,x,,B\n",
            "csv-value",
            2,
        ),
        ("uid,title\nLLR-NEW,y\n", "missing-key", 2),
        ("uid,parents\nHLR-MM-001,HLR-NONE\n", "unknown-id", 2),
        ("uid,parents\nHLR-MM-001,HLR-MM-002\nHLR-MM-002,HLR-MM-001\n", "cycle", 2),
        ("uid,file\nHLR-MM-001,requirements/other.toml\n", "unsupported", 2),
        (
            "uid,level,title,statement,verification,file\nHLR-N,HLR,t,s,test,../out.toml\n",
            "bad-path",
            2,
        ),
        (&stale, "stale", 2),
    ];
    for (table, kind, line) in cases {
        let told = import(folder.path(), table, 2);
        let shown = &table[..table.len().min(80)];
        assert_eq!(told["error"]["kind"], *kind, "{shown}: {told}");
        assert_eq!(told["error"]["line"], *line, "{shown}: {told}");
        assert_eq!(requirement_texts(folder.path()), before, "{shown}");
    }
    // What only the whole project shows is refused as well: a low-level requirement without parent.
    let told = import(folder.path(), "uid,parents\nLLR-MMN-001,\n", 2);
    assert!(told["error"]["file"].as_str().unwrap().ends_with(".toml"), "{told}");
    assert_eq!(requirement_texts(folder.path()), before);
    let binary = folder.path().join("table.csv");
    std::fs::write(&binary, [b'u', 0xff, 0xfe]).unwrap();
    run(vkcert().args(["requirements", "--import"]).arg(&binary).arg(folder.path()), 2);
}
