//! The documents say what the program does: every example is run, every field has its place, every
//! row of a table its test.

use crate::support;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use support::{certify_sequentially, root, run, vkcert};
use vkcert::model::finding::FindingKind;
use vkcert::model::schedule::{MOST_WORKGROUPS, Schedule, Schedules};
use vkcert::requirement::schema::schema_text;

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join("docs").join(name)).unwrap()
}

/// A fenced block: the words behind the fence, and its text.
struct Block {
    tag: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in document.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(tag), None) => open = Some(Block { tag: tag.to_owned(), text: String::new() }),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// Where an actual document does not contain a shown one: objects may have more members, `"..."` is
/// anything, and as the last element of a list any further elements.
fn difference(shown: &Value, actual: &Value, at: &str) -> Option<String> {
    match (shown, actual) {
        (Value::String(text), _) if text == "..." => None,
        (Value::Object(shown), Value::Object(actual)) => {
            let member = |(name, value): (&String, &Value)| match actual.get(name) {
                Some(other) => difference(value, other, &format!("{at}/{name}")),
                None => Some(format!("{at}/{name} does not exist")),
            };
            shown.iter().find_map(member)
        }
        (Value::Array(shown), Value::Array(actual)) => {
            let more = shown.last().is_some_and(|last| last == "...");
            let listed = &shown[..shown.len() - usize::from(more)];
            if actual.len() < listed.len() || (!more && actual.len() > listed.len()) {
                return Some(format!("{at} has {} elements", actual.len()));
            }
            let element = |(index, (one, other))| difference(one, other, &format!("{at}/{index}"));
            listed.iter().zip(actual).enumerate().find_map(element)
        }
        _ => (shown != actual).then(|| format!("{at} is {actual}, not {shown}")),
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// `vkcert` with the words of a command line; single quotes hold a word together.
fn command(line: &str) -> Command {
    let mut words: Vec<String> = Vec::new();
    for (index, part) in line.trim().split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    assert_eq!(words[0], "vkcert", "{line}");
    let mut command = vkcert();
    command.args(&words[1..]).current_dir(root());
    command
}

#[test]
fn the_examples_of_the_calculus_are_what_the_program_prints() {
    let blocks = blocks(&document("mcdc.md"));
    let mut compared = 0;
    for pair in blocks.windows(2).filter(|pair| pair[0].tag == "sh run") {
        let (line, expected) = (&pair[0].text, &pair[1]);
        let exit = if expected.tag == "json error" { 2 } else { 0 };
        let output = run(&mut command(line), exit);
        let printed = String::from_utf8(output.stdout).unwrap();
        match expected.tag.as_str() {
            "json output" | "json error" => {
                let found = difference(&json(&expected.text), &json(&printed), "");
                assert_eq!(found, None, "{line}{printed}");
            }
            "text output" => {
                let trimmed = |text: &str| {
                    text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
                };
                assert_eq!(trimmed(&printed), trimmed(&expected.text), "{line}{printed}");
            }
            other => panic!("`{other}` behind {line}"),
        }
        compared += 1;
    }
    assert!(compared >= 6, "{compared}");
}

#[test]
fn the_examples_of_vulkan_sc_are_what_the_program_prints() {
    let blocks = blocks(&document("vulkan-sc.md"));
    let mut compared = 0;
    for pair in blocks.windows(2).filter(|pair| pair[0].tag == "sh run") {
        let exit = if pair[1].tag == "json error" { 2 } else { 0 };
        let output = run(&mut command(&pair[0].text), exit);
        let printed = json(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(
            difference(&json(&pair[1].text), &printed, ""),
            None,
            "{}{printed:#}",
            pair[0].text
        );
        compared += 1;
    }
    assert_eq!(compared, 2);
    // The project file of the example is read and accepted.
    assert_eq!(blocks[0].tag, "toml");
    let folder = tempfile::tempdir().unwrap();
    support::copy_tree(&root().join("tests/projects/minimal"), folder.path());
    let kernel = "[[kernel]]\nname = \"double\"\nsource = \"glsl/double.comp\"\n";
    support::write(folder.path(), "vkcert.toml", format!("{}{kernel}", blocks[0].text));
    run(vkcert().args(["list", "kernels"]).arg(folder.path()), 0);
}

/// Every line runs, and each format of the table is a file after the line that asks for it.
#[test]
fn the_pipeline_of_the_document_runs_and_writes_what_its_table_names() {
    let text = document("pipelines.md");
    let blocks = blocks(&text);
    let block = blocks.iter().find(|block| block.tag == "sh pipeline").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let ends = [".info`", ".xml`", ".sarif`"];
    let is_format =
        |line: &&str| line.starts_with("| `") && ends.iter().any(|end| line.contains(end));
    let rows = text.lines().filter(is_format);
    let named: Vec<Vec<&str>> =
        rows.map(|line| line.split('`').skip(1).step_by(2).take(2).collect()).collect();
    assert_eq!(named.len(), 4, "{named:?}");
    let mut asked_formats = 0;
    for line in block.text.lines() {
        run(command(line).current_dir(folder.path()), 0);
        let Some((_, words)) = line.split_once("--report ") else { continue };
        for row in named.iter().filter(|row| words.split(',').any(|word| word == row[0])) {
            assert!(folder.path().join("scale/reports").join(row[1]).is_file(), "{row:?}");
            asked_formats += 1;
        }
    }
    assert_eq!(asked_formats, named.len());
    let cobertura = std::fs::read_to_string(folder.path().join("cobertura.xml")).unwrap();
    assert!(cobertura.contains("<coverage line-rate=\"1"), "{cobertura}");
}

#[test]
fn every_command_of_the_documents_on_pipelines_and_caches_runs() {
    for (name, due) in [("pipelines.md", 17), ("cache.md", 6)] {
        let folder = tempfile::tempdir().unwrap();
        let text = document(name);
        let blocks = blocks(&text);
        let lines = blocks.iter().filter(|block| block.tag == "sh pipeline");
        let lines: Vec<&str> = lines.flat_map(|block| block.text.lines()).collect();
        assert_eq!(lines.len(), due, "{name}: {lines:?}");
        for line in lines {
            run(command(line).current_dir(folder.path()), 0);
        }
    }
}

/// The tables of the document name each key and value that the schema has.
#[test]
fn every_setting_of_a_project_is_explained() {
    let explained = named(&document("project.md"));
    let schema = json(&schema_text("project").unwrap());
    let own = schema["properties"].as_object().unwrap();
    let open: Vec<_> = own.keys().filter(|key| !explained.contains(*key)).collect();
    assert!(open.is_empty(), "docs/project.md does not explain {open:?}");
}

#[test]
fn the_examples_of_configurations_are_what_the_program_prints() {
    let blocks = blocks(&document("project.md"));
    let mut compared = 0;
    for pair in blocks.windows(2).filter(|pair| pair[0].tag == "sh run") {
        assert_eq!(pair[1].tag, "json output-rows");
        let output = run(&mut command(&pair[0].text), 0);
        let printed = json(&String::from_utf8(output.stdout).unwrap());
        for row in json(&pair[1].text).as_array().unwrap() {
            let there = printed
                .as_array()
                .unwrap()
                .iter()
                .any(|found| difference(row, found, "").is_none());
            assert!(there, "{row:#} is not in {printed:#}");
            compared += 1;
        }
    }
    assert!(compared >= 1, "{compared}");
}

#[test]
fn the_examples_of_evidence_are_in_the_evidence_of_the_demonstration() {
    let out = tempfile::tempdir().unwrap();
    let reports = out.path().join("reports");
    // Results of one engine: an example must not depend on whether this machine has a device.
    run(&mut certify_sequentially(&root(), &reports), 0);
    let mut compared = 0;
    for block in blocks(&document("evidence.md")) {
        let mut words = block.tag.split(' ');
        assert_eq!((words.next(), words.next()), (Some("json"), Some("evidence")), "{}", block.tag);
        let file = reports.join("evidence").join(words.next().unwrap());
        let actual = json(&std::fs::read_to_string(&file).unwrap());
        let pointer = words.next().unwrap_or("");
        let part = actual.pointer(pointer).unwrap_or_else(|| panic!("{} is not there", block.tag));
        assert_eq!(difference(&json(&block.text), part, pointer), None, "{}", block.tag);
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

fn properties(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            let own = members.get("properties").and_then(Value::as_object);
            names.extend(own.into_iter().flat_map(|own| own.keys().cloned()));
            members.values().for_each(|member| properties(member, names));
        }
        Value::Array(values) => values.iter().for_each(|value| properties(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Names in code spans, alone or as the start of a longer span.
fn named(text: &str) -> BTreeSet<String> {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
    text.split('`')
        .skip(1)
        .step_by(2)
        .flat_map(|span| span.split(word))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_field_of_the_evidence_is_explained() {
    let text = document("evidence.md") + &document("mcdc.md") + &document("findings.md");
    let explained = named(&text);
    let inputs =
        document("test-procedure.md") + &document("requirements.md") + &document("project.md");
    let input_words: BTreeSet<&str> =
        inputs.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).collect();
    for file in ["manifest", "campaign", "kernel", "inputs", "reports", "provenance"] {
        let mut names = BTreeSet::new();
        properties(&json(&schema_text(file).unwrap()), &mut names);
        assert!(names.len() >= 3, "{file}");
        let open: Vec<_> = names
            .iter()
            .filter(|name| !explained.contains(*name) && !input_words.contains(name.as_str()))
            .collect();
        assert!(open.is_empty(), "{file}: docs/evidence.md does not explain {open:?}");
    }
}

#[test]
fn every_kind_of_finding_is_explained_with_an_example_that_shows_it() {
    let text = document("findings.md");
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    let titles: Vec<&str> = sections.iter().filter_map(|section| section.lines().next()).collect();
    assert_eq!(titles, FindingKind::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>());
    let mut examples = 0;
    for (section, title) in sections.iter().zip(titles) {
        let flat = section.split_whitespace().collect::<Vec<_>>().join(" ");
        let Some(example) =
            flat.split("*Example:* `").nth(1).and_then(|rest| rest.split('`').next())
        else {
            continue;
        };
        let shown = file_test(example);
        assert!(shown.contains(&format!("//! finding {title} ")), "{example} shows no {title}");
        examples += 1;
    }
    assert!(examples >= 6, "{examples}");
}

fn file_test(name: &str) -> String {
    let path = Path::new("tests/filetests/run").join(format!("{name}.comp"));
    std::fs::read_to_string(root().join(&path))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The file tests themselves run in `tests/sequential.rs`; here the table is held to them.
#[test]
fn every_row_of_the_memory_models_has_a_file_test_per_setting() {
    let mut listed = BTreeSet::new();
    for line in document("memory-model.md").lines().filter(|line| line.contains("(`order_")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, idiom, spec] = cells.as_slice() else { panic!("{line}") };
        for (cell, model) in [(idiom, "idiom"), (spec, "spec")] {
            let name = cell.split('`').nth(1).unwrap();
            assert!(name.ends_with(model), "{line}");
            let test = file_test(name);
            assert_eq!(test.contains("//! spec-memory-model"), model == "spec", "{name}");
            assert_eq!(test.contains("//! finding data-race"), cell.starts_with("race"), "{name}");
            listed.insert(format!("{name}.comp"));
        }
        let noted = idiom.starts_with("ordered") && !spec.starts_with("ordered");
        assert_eq!(idiom.contains("note"), noted, "{line}");
    }
    let files = std::fs::read_dir(root().join("tests/filetests/run")).unwrap();
    let files: BTreeSet<String> = files
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with("order_"))
        .collect();
    assert_eq!(listed, files);
}

/// Whether there is Mesa's llvmpipe, which starts workgroups from first to last if it has one
/// thread.
fn has_orderly_device() -> bool {
    let listed = vkcert().args(["list", "devices", "--format", "json"]).output().unwrap();
    String::from_utf8_lossy(&listed.stdout).contains("llvmpipe")
}

#[test]
fn the_examples_of_schedules_are_what_the_program_prints() {
    let text = document("schedules.md");
    let rows = text.lines().filter_map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let schedule = cells.next()?.trim_matches('`').parse::<Schedule>().ok()?;
        Some((
            schedule,
            cells.next()?.split(' ').map(|index| index.parse().unwrap()).collect::<Vec<u32>>(),
        ))
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 5);
    for (schedule, order) in rows {
        assert_eq!(schedule.workgroups.permutation(8), order, "{schedule}");
    }
    assert!(text.contains("1,048,576 workgroups") && MOST_WORKGROUPS == 1_048_576);
    assert_eq!(
        Schedules { count: 9, seed: 0 }.workgroup_orders(&[3]).len(),
        5,
        "three workgroups have five other orders"
    );
    let blocks = blocks(&text);
    let pairs: Vec<_> = blocks.windows(2).filter(|pair| pair[0].tag == "sh run").collect();
    let shows = |pair: &[Block], exit: i32| {
        let output = run(command(&pair[0].text).env("LP_NUM_THREADS", "0"), exit);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(difference(&json(&pair[1].text), &json(&printed), ""), None, "{printed}");
    };
    assert_eq!(pairs.len(), 3, "one directed, one on a device, one on the sequential engine");
    shows(pairs[0], 0);
    shows(pairs[2], 1);
    if !has_orderly_device() {
        assert!(std::env::var_os("VKCERT_REQUIRE_VULKAN").is_none(), "no llvmpipe");
        eprintln!("NOT RUN: no llvmpipe");
        return;
    }
    shows(pairs[1], 1);
}
