//! Waiting loops on the sequential engine: that somebody waits is shown by a directed schedule, and
//! told as such.
//!
//! Knows: the procedures of `tests/waiting/` and `tests/order_free/`, the project
//! `tests/projects/waiting`.
//! Promises: each fails without the directed schedules, or with what they show told as if the
//! ordinary one had.
//! Does not cover: devices.

use crate::support;

use serde_json::{Value, json};
use std::path::Path;
use support::*;

const DIRECTED: &str = "reversed+waiters-first";

/// The tests of a procedure on the sequential engine, which all pass.
fn passed(file: &str, more: &[&str]) -> Vec<Value> {
    let mut command = vkcert();
    command.arg("run").arg(root().join(file)).args(["--engine", "sequential"]).args(more);
    let tests = run_json(&mut command, 0)["tests"].as_array().expect("tests").clone();
    for test in &tests {
        assert_eq!(
            (&test["verdict"], &test["findings"]),
            (&json!("pass"), &json!([])),
            "{file}: {test:#}"
        );
    }
    tests
}

/// The vectors of a decision that a test recorded, each with the directed schedule that shows it.
fn vectors(test: &Value, text: &str) -> Vec<(String, Option<String>)> {
    let kernels = test["coverage"].as_object().expect("coverage").values();
    let mut decisions =
        kernels.flat_map(|kernel| kernel["decisions"].as_array().expect("decisions"));
    let decision = decisions
        .find(|decision| decision["text"] == text)
        .unwrap_or_else(|| panic!("no {text}: {test:#}"));
    let vectors = decision["vectors"].as_array().expect("vectors").iter();
    let vector = |vector: &Value| {
        let directed = vector["directed"].get(0).and_then(Value::as_str).map(str::to_owned);
        (vector["values"].as_str().expect("values").to_owned(), directed)
    };
    vectors.map(vector).collect()
}

/// Procedure, test, decision of the loop, and its vectors: those that a directed schedule shows
/// alone with `*`.
const LOOPS: &[(&str, &str, &str, &[&str])] = &[
    ("order_free/grid_barrier", "grid-barrier", "LOOK64(arrived) < 2u", &["T", "F"]),
    ("order_free/handed_queue", "handed-queue", "LOOK64(full[place]) == 0u", &["T*", "F"]),
    ("order_free/look_back_scan", "look-back-scan", "kind == 2u", &["T", "F*"]),
    // Only the first part could show kind 1 without anybody before, and it never waits.
    ("order_free/look_back_scan", "look-back-scan", "kind == 1u && back > 0u", &["TT*", "F-*"]),
    (
        "order_free/message_chain",
        "message-chain",
        "atomicOr(flag[turn - 1u], 0u) != 1u",
        &["T*", "F"],
    ),
    ("order_free/ticket_lock", "ticket-lock", "atomicOr(serving, 0u) != mine", &["T*", "F"]),
    ("order_free/workgroup_flag", "workgroup-flag", "atomicOr(flag, 0u) == 0u", &["T*", "F"]),
    ("order_free/float_sum", "float-sum", "before == seen", &["T", "F"]),
    ("waiting/locks", "exchanged", "atomicExchange(lock, 1u) != 0u", &["T*", "F"]),
    ("waiting/locks", "crowd", "atomicCompSwap(lock, 0u, 1u) != 0u", &["T", "F"]),
    ("waiting/locks", "counted", "atomicCompSwap(flag, 1u, 1u) != 1u", &["T*", "F"]),
    ("waiting/locks", "summed", "before == seen", &["T", "F*"]),
    ("waiting/locks", "glance", "atomicOr(ready, 0u) == 1u", &["T", "F*"]),
    ("waiting/locks", "glance", "tries < 10u && atomicOr(ready, 0u) == 0u", &["TT*", "TF", "F-*"]),
    ("waiting/locks", "listed", "atomicOr(serving, 0u) != mine", &["T*", "F"]),
    ("waiting/memories", "texel", "imageAtomicOr(flags, at, 0u) == 0u", &["T*", "F"]),
    ("waiting/memories", "address", "atomicAdd(flag.set, 0u) == 0u", &["T*", "F"]),
    ("waiting/memories", "wide", "atomicMax(flag, 0ul) == 0ul", &["T*", "F"]),
    ("waiting/memories", "subgroups", "atomicOr(flag, 0u) == 0u", &["T*", "F"]),
    ("waiting/phases", "phases", "atomicAdd(phase, 0u) <= target", &["T", "F"]),
    ("waiting/phases", "neighbours", "atomicOr(flag[(me + 1u) % 8u], 0u) == 0u", &["T*", "F"]),
    ("waiting/phases", "last-gives", "got == 0u", &["T", "F"]),
];

#[test]
fn that_somebody_waits_is_shown_with_the_schedule_that_shows_it() {
    let mut file = ("", Vec::new());
    for (procedure, id, text, wanted) in LOOPS {
        if file.0 != *procedure {
            file = (procedure, passed(&format!("tests/{procedure}.toml"), &[]));
        }
        let test = file.1.iter().find(|test| test["id"] == *id).expect("the test");
        let shown = vectors(test, text);
        let shown: Vec<String> = shown
            .iter()
            .map(|(values, directed)| match directed.as_deref() {
                None => values.clone(),
                Some(schedule) => {
                    assert_eq!(schedule, DIRECTED, "{id}");
                    format!("{values}*")
                }
            })
            .collect();
        assert_eq!(shown, *wanted, "{procedure}: {id}: {text}");
        let told = test["directed"]
            .as_array()
            .is_some_and(|told| told.iter().any(|row| row["shown"] != 0));
        assert_eq!(
            told,
            test.to_string().contains("\"directed\":[\""),
            "{id}: {:#}",
            test["directed"]
        );
    }
}

#[test]
fn nothing_runs_where_nothing_is_open() {
    let closed = ["phases", "last-gives", "crowd"];
    let tests = [passed("tests/waiting/phases.toml", &[]), passed("tests/waiting/locks.toml", &[])]
        .concat();
    let closed = tests.iter().filter(|test| closed.iter().any(|id| test["id"] == *id));
    assert_eq!(closed.map(|test| test.get("directed")).collect::<Vec<_>>(), [None; 3]);
}

#[test]
fn a_directed_schedule_can_be_replayed() {
    let tests = passed("tests/waiting/locks.toml", &["--replay", DIRECTED]);
    let counted = tests.iter().find(|test| test["id"] == "counted").expect("the test");
    let both = [("T".to_owned(), None), ("F".to_owned(), None)];
    assert_eq!(vectors(counted, "atomicCompSwap(flag, 1u, 1u) != 1u"), both);
    assert_eq!((counted.get("directed"), &counted["schedule"]), (None, &json!(DIRECTED)));
}

#[test]
fn a_test_that_fails_where_somebody_waits_is_found_and_covers_nothing_by_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        std::fs::read_to_string(root().join("tests/waiting/locks.toml")).expect("the procedure");
    // Nobody has been slow.
    let (right, wrong) =
        ("{ buffer = \"ready\", values = [1] }", "{ buffer = \"ready\", values = [1, 1, 0] }");
    assert!(text.contains(right));
    let file = write(folder.path(), "glance.toml", text.replacen(right, wrong, 1));
    let tested = |more: &[&str], exit| {
        let mut command = vkcert();
        command
            .arg("run")
            .arg(&file)
            .args(["--engine", "sequential", "--only", "glance"])
            .args(more);
        run_json(&mut command, exit)["tests"][0].clone()
    };
    // A finding only where other schedules are asked for; the reason is told in any case.
    let asked = tested(&["--schedules", "1"], 1);
    let of_directed = |finding: &&Value| finding["details"]["schedule"] == DIRECTED;
    let finding = asked["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .find(of_directed)
        .expect("a finding");
    let told = (&finding["kind"], &finding["details"]["verdict"]);
    assert_eq!(told, (&json!("schedule-dependent-output"), &json!("fail")), "{asked:#}");
    let test = tested(&[], 0);
    assert_eq!(test["findings"], json!([]), "{test:#}");
    assert!(
        test["directed"].to_string().contains("it leaves other contents in `ready`"),
        "{test:#}"
    );
    let both = [("T".to_owned(), None)];
    assert_eq!(
        (&test["verdict"], vectors(&test, "atomicOr(ready, 0u) == 1u")),
        (&json!("pass"), both.to_vec())
    );
    assert_eq!(test["directed"][0]["reason"], "it leaves other contents in `ready`");
}

/// A test of some kernels, each called once by four workgroups. They count in `next` and have a
/// word `seen`.
fn of_kernels(bodies: &[&str], exit: i32) -> Value {
    of_kernels_leaving(bodies, "[4]", exit)
}

/// The same, with what the first leaves in its two words.
fn of_kernels_leaving(bodies: &[&str], left: &str, exit: i32) -> Value {
    let mut text = "schema = 1\n".to_owned();
    let mut dispatches = Vec::new();
    for (number, body) in bodies.iter().enumerate() {
        text.push_str(&format!(
            "\n[kernels.k{number}]\nsource.text = \"\"\"\n#version 450\nlayout(local_size_x = 1) in;\n\
             layout(binding = 0) buffer Next {{ uint next; uint seen; }};\n\
             layout(binding = 1) buffer Last {{ uint last; }};\nvoid main() {{\n{body}\n}}\n\"\"\"\n"
        ));
        let bindings = format!(
            "{{ binding = 0, buffer = \"b{number}\" }}, {{ binding = 1, buffer = \"last\" }}"
        );
        dispatches.push(format!(
            "{{ kernel = \"k{number}\", groups = [4, 1, 1], bindings = [{bindings}] }}"
        ));
    }
    text.push_str("\n[[tests]]\nid = \"T\"\nbuffers.last = { type = \"uint\", data = [0] }\n");
    for number in 0..bodies.len() {
        text.push_str(&format!("buffers.b{number} = {{ type = \"uint\", data = [0, 0] }}\n"));
    }
    text.push_str(&format!("dispatches = [{}]\n", dispatches.join(", ")));
    text.push_str(&format!("expect = [{{ buffer = \"b0\", values = {left} }}]\n"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(folder.path(), "k.toml", text);
    run_json(vkcert().arg("run").arg(file).args(["--engine", "sequential"]), exit)["tests"][0]
        .clone()
}

/// Nobody has another number than that of its workgroup if all come in order.
const NUMBERED: &str =
    "uint mine = atomicAdd(next, 1u); if (mine == gl_WorkGroupID.x) { atomicOr(seen, 1u); }";

fn shown_by_directed(test: &Value) -> u64 {
    test["directed"]
        .as_array()
        .expect("directed")
        .iter()
        .map(|row| row["shown"].as_u64().expect("a number"))
        .sum()
}

/// What a race decides is none of what depends on the schedule: the race is the finding.
#[test]
fn a_directed_schedule_covers_nothing_that_a_race_decides() {
    // In the end everybody leaves the same.
    let race = format!(
        "last = gl_WorkGroupID.x; {NUMBERED} if (last != gl_WorkGroupID.x) {{ atomicOr(seen, 1u); }} last = 9u;"
    );
    let test = of_kernels(&[&race], 1);
    let raced = test["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .any(|finding| finding["kind"] == "data-race");
    assert!(raced && test["verdict"] == "pass", "{test:#}");
    let directed = Some(DIRECTED.to_owned());
    assert_eq!(
        vectors(&test, "mine == gl_WorkGroupID.x"),
        [("T".to_owned(), None), ("F".to_owned(), directed)]
    );
    assert_eq!(vectors(&test, "last != gl_WorkGroupID.x"), [("F".to_owned(), None)]);
}

#[test]
fn what_directed_schedules_show_is_counted_over_all_kernels() {
    assert_eq!(shown_by_directed(&of_kernels(&[NUMBERED], 0)), 1);
    assert_eq!(shown_by_directed(&of_kernels(&[NUMBERED, "atomicAdd(next, 1u);"], 0)), 1);
    assert_eq!(shown_by_directed(&of_kernels(&[NUMBERED, NUMBERED], 0)), 2);
}

/// What a workgroup has computed before it holds is its own behind it.
#[test]
fn who_holds_goes_on_with_its_own_values() {
    // The first operand stands before the atomic, and the result of both behind it.
    let both =
        "if ((gl_WorkGroupID.x < 2u) == (atomicAdd(next, 1u) < 100u)) { atomicAdd(seen, 1u); }";
    let test = of_kernels_leaving(&[both], "[4, 2]", 0);
    let rows = test["directed"].as_array().expect("directed");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["reason"].is_null()), "{test:#}");
}

/// A label may be open where no decision is.
#[test]
fn a_label_that_nobody_has_come_to_is_looked_for() {
    let switch = "switch (atomicAdd(next, 1u) - gl_WorkGroupID.x) { case 0u: atomicOr(seen, 1u); break; default: break; }";
    assert_eq!(shown_by_directed(&of_kernels(&[switch], 0)), 1);
}

fn certified(out: &Path, jobs: &str) {
    let mut command = vkcert();
    command.args([
        "certify",
        "tests/projects/waiting",
        "--engine",
        "sequential",
        "--quiet",
        "--jobs",
        jobs,
    ]);
    run(command.current_dir(root()).arg("--out").arg(out), 0);
}

/// Every file of a folder with its contents.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .map(|entry| entry.expect("an entry"));
    // Where and when a run was made differs from run to run.
    let is_compared = |entry: &walkdir::DirEntry| entry.file_name() != "provenance.json";
    let files = entries.filter(|entry| entry.file_type().is_file() && is_compared(entry));
    let name = |path: &Path| path.strip_prefix(folder).expect("inside").display().to_string();
    files.map(|file| (name(file.path()), std::fs::read(file.path()).expect("a file"))).collect()
}

/// A change of stored evidence.
type Forgery = fn(&mut Value);

#[test]
fn a_campaign_says_what_a_directed_schedule_completes_and_verifies() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
    certified(&one, "1");
    certified(&two, "2");
    assert!(contents(&one) == contents(&two), "two runs differ");
    let evidence = one.join("evidence");
    run(vkcert().arg("verify").arg(&evidence), 0);
    let report: Value =
        serde_json::from_slice(&std::fs::read(one.join("report.json")).expect("a report"))
            .expect("JSON");
    let notes = report["campaign"]["notes"].to_string();
    assert!(notes.contains("vectors and marks 1, outcomes of object code 1 (lock)"), "{notes}");
    let html = std::fs::read_to_string(one.join("report.html")).expect("a report");
    assert!(
        html.contains(&format!("in {DIRECTED}")) && html.contains("directed schedule"),
        "the HTML report"
    );
    let kernel = "kernel-lock-sequential.json";
    let forgeries: [(&str, Forgery); 4] = [
        (kernel, |kernel| kernel["records"][0]["records"]["directed"]["1"] = json!("reversed")),
        (kernel, |kernel| {
            drop(
                kernel["records"][0]["records"]
                    .as_object_mut()
                    .expect("records")
                    .remove("directed"),
            )
        }),
        ("campaign.json", |campaign| {
            let result = campaign["tests"][0]["results"][0].as_object_mut().expect("a result");
            result.remove("directed");
        }),
        ("campaign.json", |campaign| {
            campaign["tests"][0]["results"][0]["directed"][0]["shown"] = json!(2)
        }),
    ];
    for (index, (name, change)) in forgeries.into_iter().enumerate() {
        let forged = folder.path().join(format!("forged{index}"));
        copy_tree(&evidence, &forged);
        forge(&forged, name, change);
        run(vkcert().arg("verify").arg(&forged), 1);
    }
}
