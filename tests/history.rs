//! The trend over stored runs: gaps that close, runs that do not hold, folders that somebody else
//! filled.

use crate::support;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use support::*;

const DAY: u64 = 86_400;
const FIRST_DAY: u64 = 1_764_000_000;

/// A copy of a small project, which its tests cover whole.
fn project(folder: &Path) -> PathBuf {
    let copy = folder.join("project");
    copy_tree(&root().join("tests/projects/minimal"), &copy);
    copy
}

/// Certifies into `runs/NAME` with the date of a day; the exit code is that of the run.
fn store(project: &Path, runs: &Path, name: &str, day: Option<u64>, exit: i32) -> PathBuf {
    let out = runs.join(name);
    let mut command = certify_sequentially(project, &out);
    if let Some(day) = day {
        command.env("SOURCE_DATE_EPOCH", (FIRST_DAY + day * DAY).to_string());
    }
    run(command.args(["--report", "json"]), exit);
    out.join("latest/evidence")
}

/// The test of the project dispatches less, so that some of the kernel stays open; `values` are what
/// is expected then.
fn with_open_branch(project: &Path) -> String {
    let file = project.join("requirements/double.toml");
    let whole = std::fs::read_to_string(&file).unwrap();
    let open = whole
        .replace("push_constants = { count = 3 }", "push_constants = { count = 4 }")
        .replace("values = [2, 4, 6, 4]", "values = [2, 4, 6, 8]");
    assert_ne!(open, whole);
    std::fs::write(&file, &open).unwrap();
    whole
}

fn report(evidence: &Path, runs: &Path, more: &[&str], exit: i32) -> (String, String) {
    let mut command = vkcert();
    command.arg("report").arg(evidence).arg("--history").arg(runs).args(more);
    let output = run(&mut command, exit);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The chapter on stored runs of an HTML report, without its markup.
fn trend_of(html: &str) -> String {
    let chapter = html.split("id=\"chapter:trend\"").nth(1).expect("there is a trend");
    let chapter = chapter.split("<footer").next().unwrap().replace("<wbr>", "");
    let mut text = String::new();
    let mut is_markup = true;
    for letter in chapter.chars() {
        match letter {
            '<' => is_markup = true,
            '>' => {
                is_markup = false;
                text.push(' ');
            }
            letter if !is_markup => text.push(letter),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The statement and decision shares of the one kernel, as stored.
fn shares_of(evidence: &Path) -> Vec<String> {
    let campaign: serde_json::Value =
        serde_json::from_slice(&std::fs::read(evidence.join("campaign.json")).unwrap()).unwrap();
    let rows = campaign["conclusion"]["summary"][0]["criteria"].as_array().unwrap();
    let counts = rows.iter().filter(|row| row["criterion"] == "decision");
    counts.map(|row| format!("{}/{} (", row["covered"], row["total"])).collect()
}

fn root_of(evidence: &Path) -> String {
    let manifest = std::fs::read(evidence.join("manifest.json")).unwrap();
    vkcert::model::canonical::sha256_digits(&manifest)
}

#[test]
fn gaps_close_from_run_to_run_in_every_report() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let whole = with_open_branch(&project);
    // The newest run has the name that comes first.
    let first = store(&project, &runs, "c", Some(1), 1);
    let second = store(&project, &runs, "b", Some(2), 1);
    std::fs::write(project.join("requirements/double.toml"), whole).unwrap();
    let out = runs.join("a");
    let mut command = certify_sequentially(&project, &out);
    command.env("SOURCE_DATE_EPOCH", (FIRST_DAY + 3 * DAY).to_string());
    run(command.args(["--report", "html,pdf", "--history"]).arg(&runs), 0);
    let third = out.join("latest/evidence");
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    let trend = trend_of(&html);
    assert!(trend.contains("2 stored runs and the one of this report, in the order of the date"));
    let (open, closed) = (shares_of(&first), shares_of(&third));
    assert_ne!(open, closed);
    for share in open.iter().chain(&closed) {
        assert!(trend.replace('\u{a0}', " ").contains(share), "{share}: {trend}");
    }
    let places: Vec<usize> = [&first, &second, &third]
        .map(|evidence| {
            let root = root_of(evidence);
            trend.find(&root[..12]).unwrap_or_else(|| panic!("{root}: {trend}"))
        })
        .to_vec();
    assert!(places.is_sorted(), "{places:?}");
    assert!(trend.contains("a/latest/evidence (this report)"), "{trend}");
    assert!(!trend.contains("Left out"), "{trend}");
    // The run is known by its root: from the stored evidence the same reports are made again.
    let (again, _) = report(&third, &runs, &["--report-format", "html"], 0);
    assert!(again == html, "another report");
    let pdf = folder.path().join("again.pdf");
    report(&third, &runs, &["--report-format", "pdf", "-o", pdf.to_str().unwrap()], 0);
    assert!(std::fs::read(&pdf).unwrap() == std::fs::read(out.join("report.pdf")).unwrap());
    let text = std::process::Command::new("pdftotext").arg("-layout").arg(&pdf).arg("-").output();
    let text = String::from_utf8(text.expect("pdftotext (poppler-utils)").stdout).unwrap();
    let last_chapter = text.rsplit("Trend over stored runs").next().unwrap();
    for evidence in [&first, &second, &third] {
        assert!(last_chapter.contains(&root_of(evidence)[..12]));
    }
    for share in open.iter().chain(&closed) {
        assert!(last_chapter.replace('\u{a0}', " ").contains(share), "{share}: {last_chapter}");
    }
    run(vkcert().arg("verify").arg(&third), 0);
}

#[test]
fn runs_without_date_are_ordered_by_the_numbers_in_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let whole = with_open_branch(&project);
    let tenth = store(&project, &runs, "run-10", None, 1);
    std::fs::write(project.join("requirements/double.toml"), whole).unwrap();
    let second = store(&project, &runs, "run-2", None, 0);
    let (html, _) = report(&second, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("the names of their folders, because not every run is dated"));
    let place = |evidence: &Path| trend.find(&root_of(evidence)[..12]).unwrap();
    assert!(place(&second) < place(&tenth), "{trend}");
    // The same evidence again is named, not drawn again.
    copy_tree(&tenth, &runs.join("copy/evidence"));
    copy_tree(&second, &runs.join("run-3/evidence"));
    let (html, told) = report(&second, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    for words in [
        "run-10/latest/evidence its manifest is that of copy/evidence",
        "run-3/evidence its manifest is that of this report",
        "1 stored run and the one of this report",
    ] {
        assert!(trend.contains(words), "{words}: {trend}");
    }
    assert!(told.contains("note: --history leaves out run-3/evidence"), "{told}");
}

#[test]
fn another_measure_is_named_and_not_joined() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    store(&project, &runs, "1", Some(1), 0);
    let settings = project.join("vkcert.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text.replace("level = \"A\"", "level = \"B\"")).unwrap();
    let second = store(&project, &runs, "2", Some(2), 0);
    let (html, _) = report(&second, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("As measure 1, but for level:"), "{trend}");
    assert!(trend.contains("no line joins them"), "{trend}");
    // Both runs cover all: a line that joined them would be there.
    let chapter = html.split("id=\"chapter:trend\"").nth(1).unwrap();
    assert!(!chapter.contains("stroke:var(--accent)"));
}

#[test]
fn what_does_not_hold_is_left_out_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let whole = with_open_branch(&project);
    let open = store(&project, &runs, "open", Some(1), 1);
    std::fs::write(project.join("requirements/double.toml"), whole).unwrap();
    let present = store(&project, &runs, "present", Some(9), 0);
    let copied = |name: &str| {
        let copy = runs.join(name).join("evidence");
        copy_tree(&open, &copy);
        copy
    };
    let changed = copied("changed");
    let kernel = changed.join("kernel-double-sequential.json");
    let text = std::fs::read_to_string(&kernel).unwrap();
    std::fs::write(&kernel, text.replacen("\"counted\": true", "\"counted\": false", 1)).unwrap();
    // The manifest is made right, so that only the records tell.
    forge(&copied("forged"), "campaign.json", |campaign| {
        for row in campaign["conclusion"]["summary"][0]["criteria"].as_array_mut().unwrap() {
            row["covered"] = row["total"].clone();
            row["uncovered"] = 0.into();
        }
        campaign["conclusion"]["exit_code"] = 0.into();
        campaign["conclusion"]["reasons"] = serde_json::json!([]);
    });
    // A manifest that lists what is not there, and one that is none.
    let lying = copied("lying").join("manifest.json");
    let text = std::fs::read_to_string(&lying).unwrap();
    std::fs::write(
        &lying,
        text.replacen("\"outputs\": {", "\"outputs\": {\n    \"more.json\": \"0\",", 1),
    )
    .unwrap();
    write(&runs, "website/manifest.json", "{ \"name\": \"a site\", \"icons\": [] }");
    write(&copied("extra"), "notes.txt", "mine");
    let (html, told) = report(&present, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("1 stored run and the one of this report"), "{trend}");
    for (name, reason) in [
        ("changed/evidence", "kernel-double-sequential.json has another SHA-256"),
        ("forged/evidence", "it does not verify ("),
        ("lying/evidence", "more.json is in the manifest but not in the folder"),
        ("website", "manifest.json: not an evidence file"),
        ("extra/evidence", "notes.txt is in the folder but not in the manifest"),
    ] {
        let row = trend.find(&format!("{name} ")).unwrap_or_else(|| panic!("{name}: {trend}"));
        let rest = &trend[row..];
        assert!(rest[..rest.len().min(500)].contains(reason), "{name}: {rest}");
        assert!(told.contains(&format!("leaves out {name}")), "{told}");
    }
}

#[test]
fn a_changed_file_leaves_its_run_out() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let stored = store(&project, &runs, "1", Some(1), 0);
    let present = store(&project, &folder.path().join("elsewhere"), "2", Some(2), 0);
    let kernel = stored.join("kernel-double-sequential.json");
    let text = std::fs::read_to_string(&kernel).unwrap();
    std::fs::write(&kernel, text.replacen("\"counted\": true", "\"counted\": false", 1)).unwrap();
    let (html, _) = report(&present, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("kernel-double-sequential.json has another SHA-256"), "{trend}");
    assert!(trend.contains("No other run is stored that could be shown"), "{trend}");
    assert!(!trend.contains(&root_of(&stored)[..12]), "{trend}");
}

#[test]
fn evidence_of_another_project_is_refused_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let settings = project.join("vkcert.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let present = store(&project, &folder.path().join("own"), "1", None, 0);
    let name = text.lines().find(|line| line.starts_with("name = ")).unwrap();
    std::fs::write(&settings, text.replace(name, "name = \"Another\"")).unwrap();
    store(&project, &runs, "1", None, 0);
    std::fs::write(&settings, text).unwrap();
    let told = run_json(
        vkcert()
            .arg("report")
            .arg(&present)
            .args(["--report-format", "html", "--history"])
            .arg(&runs),
        2,
    );
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("is of the project `Another`"), "{told}");
    let file = told["error"]["file"].as_str().unwrap();
    assert!(file.ends_with("1/latest/evidence/campaign.json"), "{told}");
    let out = folder.path().join("out");
    run(certify_sequentially(&project, &out).arg("--history").arg(&runs), 2);
    assert!(!out.exists());
}

#[test]
fn a_trend_goes_with_reports_that_have_its_chapter() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let evidence = store(&project, &runs, "1", None, 0);
    for (more, words) in [
        (&["--report-format", "json"][..], "--history goes with --report-format html or pdf alone"),
        (&["--report-format", "html", "--document", "tool"], "the documents all, svr, coverage"),
    ] {
        let (_, told) = report(&evidence, &runs, more, 2);
        assert!(told.contains(words), "{told}");
    }
    let (_, told) = report(&evidence, &runs.join("none"), &["--report-format", "html"], 2);
    assert!(told.contains("the folder of stored runs cannot be read"), "{told}");
    let out = folder.path().join("out");
    let mut command = certify_sequentially(&project, &out);
    run(command.args(["--report", "json", "--history"]).arg(&runs), 2);
    for document in ["svr", "coverage"] {
        let more = ["--report-format", "html", "--document", document];
        assert!(report(&evidence, &runs, &more, 0).0.contains("chapter:trend"));
    }
}

#[test]
fn a_run_passes_over_what_it_replaces() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let whole = with_open_branch(&project);
    store(&project, &runs, "1", None, 1);
    std::fs::write(project.join("requirements/double.toml"), whole).unwrap();
    let out = runs.join("1");
    let html = || {
        let mut command = certify_sequentially(&project, &out);
        run(command.args(["--report", "html", "--history"]).arg(&runs), 0);
        std::fs::read_to_string(out.join("report.html")).unwrap()
    };
    let first = html();
    assert!(trend_of(&first).contains("No other run is stored that could be shown"));
    assert!(html() == first);
}

/// Folders that loop, are many, deep, unreadable or full of what is no file: an answer comes soon,
/// and nothing outside is read.
#[test]
fn hostile_folders_end_with_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let present = store(&project, &runs, "1", Some(1), 0);
    let outside = store(&project, &folder.path().join("outside"), "2", Some(2), 0);
    for name in ["loop", "1/loop", "a/b/loop"] {
        std::fs::create_dir_all(runs.join(name).parent().unwrap()).unwrap();
        symlink(&runs, runs.join(name)).unwrap();
    }
    symlink(&outside, runs.join("linked")).unwrap();
    for number in 0..1_000 {
        std::fs::create_dir(runs.join(format!("empty-{number}"))).unwrap();
    }
    std::fs::create_dir_all(runs.join("d/d/d/d/d/d/d/d/d/d/d/d")).unwrap();
    let copied = |name: &str| {
        let copy = runs.join(name).join("evidence");
        copy_tree(&outside, &copy);
        copy
    };
    // A tebibyte that takes no room.
    let huge = copied("huge").join("kernel-double-sequential.json");
    std::fs::OpenOptions::new().write(true).open(huge).unwrap().set_len(1 << 40).unwrap();
    for (name, file) in [("huge-manifest", "manifest.json"), ("huge-campaign", "campaign.json")] {
        let file = write(&runs, &format!("{name}/{file}"), "{");
        write(file.parent().unwrap(), "notes.txt", "");
        std::fs::OpenOptions::new().write(true).open(file).unwrap().set_len(1 << 40).unwrap();
    }
    let pipe = write(&runs, "pipe/notes.txt", "").with_file_name("manifest.json");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    std::fs::create_dir_all(runs.join("folder/manifest.json")).unwrap();
    let (html, _) = report(&present, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("No other run is stored that could be shown"), "{trend}");
    assert!(!trend.contains(&root_of(&outside)[..12]), "{trend}");
    for (name, reason) in [
        ("huge/evidence", "its evidence has 1099511"),
        ("huge-manifest", "manifest.json has 1099511627776 bytes"),
        ("pipe", "manifest.json is no file"),
        ("folder", "manifest.json is no file"),
    ] {
        assert!(trend.contains(&format!("{name} {reason}")), "{name} {reason}: {trend}");
    }
    assert!(trend.contains("1 folder is too deep to be looked into"), "{trend}");
    assert!(!trend.contains("empty-") && !trend.contains("loop"), "{trend}");
}

/// Of more runs than a figure has room for the last ones are shown, and those before are counted.
#[test]
fn of_many_runs_the_last_forty_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (project, runs) = (project(folder.path()), folder.path().join("runs"));
    let first = store(&project, &runs, "run-0", Some(0), 0);
    for day in 1..43 {
        let copy = runs.join(format!("run-{day}/latest/evidence"));
        copy_tree(&first, &copy);
        let date = format!("2027-{:02}-{:02}T00:00:00Z", 1 + day / 28, 1 + day % 28);
        forge(&copy, "campaign.json", |campaign| campaign["project"]["date"] = date.into());
    }
    let newest = runs.join("run-42/latest/evidence");
    let (html, _) = report(&newest, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("39 stored runs and the one of this report"), "{trend}");
    assert!(trend.contains("3 more runs are stored before them: at most 40 are shown"), "{trend}");
    assert!(trend.contains("run-3/latest") && !trend.contains("run-2/latest"), "{trend}");
    // The run of the report is shown, however old it is.
    let oldest = runs.join("run-0/latest/evidence");
    let (html, _) = report(&oldest, &runs, &["--report-format", "html"], 0);
    let trend = trend_of(&html);
    assert!(trend.contains("run-0/latest/evidence (this report)"), "{trend}");
    assert!(trend.contains("39 stored runs and the one of this report"), "{trend}");
}
