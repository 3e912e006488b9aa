//! Results that are kept between runs: evidence is the same with them and without, only what has
//! changed runs again, and nothing that is damaged, torn or false gets into evidence.

use crate::many_kernels::{kernel_name, write_project};
use crate::support::{
    provenance, replace_in, result_files, reused_count, root, run, run_json, vkcert,
};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use vkcert::cache::{CacheKey, CacheStore, Recheck, RunCache};
use vkcert::campaign::certification::{CampaignRequest, certify};
use vkcert::campaign::facts::SealedEvidence;
use vkcert::campaign::plan::{EngineChoice, EngineRequest, RunPlan};
use vkcert::campaign::project::load_project;
use vkcert::model::provenance::{Host, ProvenanceTool, RunOrigin};

/// A project of generated kernels with a cache beside it.
struct CachedProject {
    folder: tempfile::TempDir,
}

impl CachedProject {
    fn of_kernels(count: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_project(&folder.path().join("project"), count);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn certify(&self, reports: &str) -> Command {
        let mut command = vkcert();
        command.arg("certify").arg(self.path("project")).arg("--out").arg(self.path(reports));
        command.args(["--report", "json"]);
        command
    }

    fn certify_sequentially(&self, reports: &str) -> Command {
        let mut command = self.certify(reports);
        command.args(["--engine", "sequential"]);
        command
    }

    fn with_cache(&self, mut command: Command) -> Command {
        command.arg("--cache").arg(self.path("cache"));
        command
    }

    /// Runs with the cache, and gives what `provenance.json` tells of it.
    fn reuse_of(&self, reports: &str) -> Value {
        run(&mut self.with_cache(self.certify_sequentially(reports)), 0);
        reuse(&self.path(reports))
    }

    fn files(&self, reports: &str) -> BTreeMap<String, Vec<u8>> {
        result_files(&self.path(reports))
    }

    /// Files of the cache, but for those that are no entries.
    fn entries(&self) -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> = walkdir::WalkDir::new(self.path("cache"))
            .min_depth(3)
            .into_iter()
            .map(|entry| entry.unwrap().into_path())
            .collect();
        entries.sort();
        entries
    }
}

fn reuse(reports: &Path) -> Value {
    provenance(reports)["reuse"].clone()
}

#[test]
fn evidence_is_the_same_with_a_cache_and_without() {
    let project = CachedProject::of_kernels(5);
    run(project.certify("without").arg("--no-cache"), 0);
    run(&mut project.with_cache(project.certify("first")), 0);
    run(&mut project.with_cache(project.certify("second")), 0);
    assert_eq!(project.files("without"), project.files("first"));
    assert_eq!(project.files("without"), project.files("second"));
    assert_eq!(reuse(&project.path("without")), Value::Null);
    let [first, second] = ["first", "second"].map(|reports| reuse(&project.path(reports)));
    let ran = first["ran"].as_u64().unwrap();
    assert!(ran >= 20, "{first}");
    assert_eq!((reused_count(&first), second["ran"].as_u64()), (0, Some(0)));
    assert_eq!(reused_count(&second), ran);
    // Where they are from.
    let origin = &second["reused"][0]["origin"];
    let words: Vec<&str> =
        origin["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    assert!(words.iter().any(|word| word.ends_with("first")), "{words:?}");
    assert_eq!(origin["tool"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn the_demonstration_is_the_same_from_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    let [cache, first, second] = ["cache", "first", "second"].map(|name| folder.path().join(name));
    for reports in [&first, &second] {
        let mut command = vkcert();
        command.arg("certify").arg(root()).arg("--out").arg(reports).args(["--report", "json"]);
        run(command.arg("--cache").arg(&cache), 0);
    }
    assert_eq!(result_files(&first), result_files(&second));
    let [first, second] = [first, second].map(|reports| reuse(&reports));
    assert_eq!(second["ran"], 0);
    assert_eq!(second["coupling"]["analysed"], 0, "{second}");
    assert_eq!(reused_count(&second["coupling"]), first["coupling"]["analysed"].as_u64().unwrap());
}

#[test]
fn what_has_changed_runs_again_and_nothing_else() {
    let project = CachedProject::of_kernels(5);
    let whole = project.reuse_of("reports")["ran"].as_u64().unwrap();
    let kernel = project.path("project").join(format!("glsl/{}.comp", kernel_name(1)));
    let text = std::fs::read_to_string(&kernel).unwrap();

    // Another text of the source is another module: findings name its lines.
    std::fs::write(&kernel, format!("{text}// a comment\n")).unwrap();
    let after = project.reuse_of("reports");
    let ran = after["ran"].as_u64().unwrap();
    assert!(0 < ran && ran * 4 <= whole, "{ran} of {whole}");
    assert_eq!(ran + reused_count(&after), whole);
    std::fs::write(&kernel, text).unwrap();
    assert_eq!(project.reuse_of("reports")["ran"], 0, "what it was before is still there");

    // Other limits are other runs.
    let mut limited = project.with_cache(project.certify_sequentially("limited"));
    run(limited.args(["--max-steps", "1000000"]), 0);
    assert_eq!(reused_count(&reuse(&project.path("limited"))), 0);
}

#[test]
fn damaged_entries_are_made_anew() {
    let project = CachedProject::of_kernels(2);
    project.reuse_of("whole");
    let entries = project.entries();
    assert!(entries.len() > 8, "{entries:?}");
    for (number, entry) in entries.iter().enumerate() {
        let mut bytes = std::fs::read(entry).unwrap();
        let place = number * 7919 % bytes.len();
        match number % 4 {
            0 => bytes.truncate(place),
            1 => bytes.push(b' '),
            2 => bytes.clear(),
            _ => bytes[place] ^= 1,
        }
        std::fs::write(entry, bytes).unwrap();
    }
    let after = project.reuse_of("damaged");
    assert_eq!(project.files("whole"), project.files("damaged"));
    assert_eq!(reused_count(&after), 0);
    // But for the origin of the first run and what it came to, which nothing asked for.
    assert_eq!(after["damaged"].as_u64().unwrap() + 2, entries.len() as u64);
    assert_eq!(project.reuse_of("mended")["ran"], 0);
    assert_eq!(project.files("whole"), project.files("mended"));
}

#[test]
fn entries_under_another_name_are_not_used() {
    let project = CachedProject::of_kernels(2);
    project.reuse_of("whole");
    let entries = project.entries();
    let first = std::fs::read(&entries[0]).unwrap();
    for pair in entries.windows(2) {
        std::fs::copy(&pair[1], &pair[0]).unwrap();
    }
    std::fs::write(entries.last().unwrap(), first).unwrap();
    let after = project.reuse_of("exchanged");
    assert_eq!(reused_count(&after), 0);
    assert_eq!(project.files("whole"), project.files("exchanged"));
}

#[test]
fn where_nothing_has_changed_the_results_stand() {
    let project = CachedProject::of_kernels(3);
    let told = |name: &str| std::fs::read(project.path("reports/latest").join(name)).unwrap();
    let certify = || {
        let output = run(&mut project.with_cache(project.certify_sequentially("reports")), 0);
        (output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    certify();
    // Whether the run left what was there, and printed what the run that made it has printed.
    let stands = || {
        let file_before = written(&project.path("reports/latest/provenance.json"));
        let (printed, notes) = certify();
        let stands = notes.contains("nothing has changed since");
        let file_after = written(&project.path("reports/latest/provenance.json"));
        assert_eq!(stands, file_after == file_before, "{notes}");
        let hash = vkcert::model::canonical::sha256_digits(&told("provenance.json"));
        assert!(String::from_utf8(printed).unwrap().contains(&hash));
        stands
    };
    assert!(stands());
    assert!(stands());
    // Whatever of the results is not as it was written.
    let whole = project.files("reports");
    for name in ["report.json", "reports.json", "evidence/inputs.json", "evidence/manifest.json"] {
        let path = project.path("reports/latest").join(name);
        std::fs::write(&path, [told(name), b" ".to_vec()].concat()).unwrap();
        assert!(!stands(), "{name}");
        assert_eq!(whole, project.files("reports"));
        assert!(stands(), "{name}");
    }
    // Whatever of the project: a file that a run would read, and one that an include could find.
    let kernel = project.path("project").join(format!("glsl/{}.comp", kernel_name(1)));
    let text = std::fs::read_to_string(&kernel).unwrap();
    std::fs::write(&kernel, format!("{text}// a comment\n")).unwrap();
    assert!(!stands());
    std::fs::write(&kernel, text).unwrap();
    assert!(!stands(), "what is there is of the comment");
    std::fs::write(project.path("project/glsl/new.glsl"), "").unwrap();
    assert!(!stands());
    // Other options, and a run that is to run.
    for options in [["--check", "none"], ["--report", "json,lcov"], ["--repeat", "2"]] {
        let mut command = project.with_cache(project.certify_sequentially("reports"));
        let output = run(command.args(options), if options[0] == "--check" { 1 } else { 0 });
        assert!(!String::from_utf8_lossy(&output.stderr).contains("nothing has changed"));
    }
    let output = run(project.certify_sequentially("reports").arg("--no-cache"), 0);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("nothing has changed"));
}

/// When a file was written and where it lies: two runs within a second may write the same bytes.
fn written(path: &Path) -> (u64, SystemTime) {
    let metadata = std::fs::metadata(path).unwrap();
    (metadata.ino(), metadata.modified().unwrap())
}

/// The lock stays beside a results folder that was removed, and is no file of the project.
#[test]
fn results_stand_that_took_the_place_of_removed_ones() {
    let project = CachedProject::of_kernels(1);
    let stands = || {
        let mut command = project.with_cache(project.certify_sequentially("project/reports"));
        let notes = String::from_utf8(run(&mut command, 0).stderr).unwrap();
        notes.contains("nothing has changed since")
    };
    assert!(!stands(), "the first run");
    std::fs::remove_dir_all(project.path("project/reports")).unwrap();
    assert!(!stands(), "its results are gone");
    assert!(stands(), "those of the second");
}

#[test]
fn results_stand_only_where_it_is_known_what_a_run_reads() {
    let project = CachedProject::of_kernels(1);
    let kernel = project.path("project").join(format!("glsl/{}.comp", kernel_name(1)));
    let text = std::fs::read_to_string(&kernel).unwrap();
    let stands = |due: bool, why: &str| {
        let output = run(&mut project.with_cache(project.certify_sequentially("reports")), 0);
        let notes = String::from_utf8(output.stderr).unwrap();
        assert_eq!(notes.contains("nothing has changed since"), due, "{why}: {notes}");
    };
    stands(false, "the first run");
    stands(true, "the second");
    // A link to the results is gone; the run makes it again.
    std::fs::remove_file(project.path("reports/evidence")).unwrap();
    stands(false, "a link is missing");
    assert!(project.path("reports/evidence").exists());
    // What an include leads to outside of the project may change.
    std::fs::write(project.path("outside.glsl"), "").unwrap();
    let line =
        "#extension GL_GOOGLE_include_directive : require\n#include \"../../outside.glsl\"\n";
    let including = text.replacen('\n', &format!("\n{line}"), 1);
    std::fs::write(&kernel, including).unwrap();
    stands(false, "an include");
    stands(false, "a file outside");
    std::fs::write(&kernel, &text).unwrap();
    stands(false, "as it was");
    // Links can lead anywhere.
    let link = project.path("project/link.glsl");
    std::os::unix::fs::symlink(project.path("outside.glsl"), &link).unwrap();
    stands(false, "a link");
    stands(false, "a link that stays");
    std::fs::remove_file(&link).unwrap();
    // The results may stand at once: where all runs began within a second, they are the same bytes.
    run(&mut project.with_cache(project.certify_sequentially("reports")), 0);
    stands(true, "no link");
}

#[test]
fn files_that_are_no_entries_stay() {
    let project = CachedProject::of_kernels(1);
    project.reuse_of("reports");
    let file = project.path("cache/v1/users/handler.py");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "").unwrap();
    let prune = |folder: &Path, exit: i32| {
        run(vkcert().args(["cache", "prune", "--most-bytes", "0", "--cache"]).arg(folder), exit);
    };
    prune(&project.path("cache"), 0);
    assert!(file.exists());
    // Neither is a folder that is no cache touched.
    prune(&project.path("project"), 2);
    run(vkcert().args(["cache", "stats", "--cache"]).arg(project.path("project")), 2);
    assert!(!project.path("project/CACHEDIR.TAG").exists());
}

fn origin() -> RunOrigin {
    RunOrigin {
        tool: ProvenanceTool { name: "test".to_owned(), version: "0".to_owned() },
        build_commit: "unknown".to_owned(),
        binary_sha256: "0".repeat(64),
        host: Host::default(),
        argv: Vec::new(),
        started: "2026-01-01T00:00:00Z".to_owned(),
    }
}

/// A campaign on the sequential engine with a cache of one origin.
fn campaign_with(project: &CachedProject, recheck: Recheck) -> (SealedEvidence, Arc<RunCache>) {
    let store = CacheStore::open(&project.path("cache")).unwrap();
    let cache = Arc::new(RunCache::new(store, &origin(), recheck));
    let plan = RunPlan {
        engines: EngineRequest::Explicit(EngineChoice::Sequential),
        ..RunPlan::default()
    };
    let request =
        CampaignRequest { plan, cache: Some(Arc::clone(&cache)), ..CampaignRequest::default() };
    let sealed = certify(load_project(&project.path("project")).unwrap(), &request).unwrap();
    (sealed, cache)
}

#[test]
fn a_false_result_is_found_where_it_runs_again() {
    let project = CachedProject::of_kernels(2);
    let (honest, _) = campaign_with(&project, Recheck::Never);
    // Whoever can write the folder can write what is whole and false.
    assert!(project.entries().iter().any(|entry| forge_result(&project, entry)));

    let (_, all_rechecked) = campaign_with(&project, Recheck::OneIn { share: 1, seed: 0 });
    let differing = all_rechecked.differing();
    assert_eq!(differing.len(), 1, "{differing:?}");
    let reuse = all_rechecked.reuse();
    assert!(reuse.compared > 8 && reuse.reused.is_empty(), "{reuse:?}");
    // It holds what is true now.
    let (mended, again) = campaign_with(&project, Recheck::Never);
    assert_eq!(again.reuse().ran, 0);
    assert_eq!(honest.files, mended.files);
}

/// Puts another byte into the first buffer of the results of a test; false: the entry holds none.
fn forge_result(project: &CachedProject, entry: &Path) -> bool {
    const BEFORE: &str = "\"buffers\":[\"";
    let text = std::fs::read_to_string(entry).unwrap();
    let (_, content) = text.split_once('\n').unwrap();
    let Some(start) = content.find(BEFORE).map(|start| start + BEFORE.len()) else { return false };
    let other = if content[start..].starts_with('A') { "B" } else { "A" };
    let mut forged = content.to_owned();
    forged.replace_range(start..=start, other);
    save_under_name_of(project, entry, forged.as_bytes());
    true
}

#[test]
fn nothing_is_saved_where_the_cache_held_something_else() {
    let project = CachedProject::of_kernels(6);
    project.reuse_of("whole");
    let [saved, out] = ["saved", "verified"].map(|name| project.path(name));
    // Which results run again is drawn by chance; of so many nearly always one.
    let refused = (0..20).find_map(|_| {
        let forged = project.entries().iter().filter(|entry| forge_result(&project, entry)).count();
        assert_eq!(forged, 24, "one for each test");
        let mut command = project.with_cache(project.certify_sequentially("verified"));
        command.args(["--cache", "verify", "--save-outputs"]).arg(&saved);
        let output = command.output().unwrap();
        if output.status.code() == Some(3) {
            return Some(output);
        }
        for folder in [&saved, &out] {
            std::fs::remove_dir_all(folder).unwrap();
        }
        None
    });
    let told = String::from_utf8(refused.unwrap().stderr).unwrap();
    assert!(told.contains("the cache held something else"), "{told}");
    assert!(!saved.exists() && !out.exists());
}

#[test]
fn a_false_kernel_is_found_where_it_is_compiled_again() {
    let project = CachedProject::of_kernels(2);
    let (honest, _) = campaign_with(&project, Recheck::Never);
    let entry = project
        .entries()
        .into_iter()
        .find(|entry| std::fs::read_to_string(entry).unwrap().contains("\"instrumented\":"))
        .unwrap();
    let text = std::fs::read_to_string(&entry).unwrap();
    let (_, content) = text.split_once('\n').unwrap();
    let forged = content.replace("\"notes\":[]", "\"notes\":[\"forged\"]");
    assert_ne!(content, forged);
    save_under_name_of(&project, &entry, forged.as_bytes());

    let (_, all_rechecked) = campaign_with(&project, Recheck::OneIn { share: 1, seed: 0 });
    let differing = all_rechecked.differing();
    assert!(differing.len() == 1 && differing[0].starts_with("kernel "), "{differing:?}");
    let kernels = all_rechecked.reuse().kernels;
    assert_eq!((kernels.compiled, kernels.compared), (2, 1));
    let (mended, again) = campaign_with(&project, Recheck::Never);
    assert_eq!(again.reuse().kernels.compiled, 0);
    assert_eq!(honest.files, mended.files);
}

/// Writes what is whole into an entry that is there, as whoever can write the folder can.
fn save_under_name_of(project: &CachedProject, entry: &Path, content: &[u8]) {
    let digits = entry.iter().rev().take(2).map(|part| part.to_str().unwrap());
    let digits: Vec<&str> = digits.collect();
    let key = CacheKey::parse(&format!("{}{}", digits[1], digits[0])).unwrap();
    let store = CacheStore::open(&project.path("cache")).unwrap();
    store.save(&key, &key, content).unwrap();
}

#[test]
fn a_kernel_is_compiled_again_where_what_it_includes_has_changed() {
    let project = CachedProject::of_kernels(2);
    let glsl = project.path("project").join("glsl");
    let kernel = glsl.join(format!("{}.comp", kernel_name(1)));
    let text = std::fs::read_to_string(&kernel).unwrap();
    let (version, rest) = text.split_once('\n').unwrap();
    let including = format!(
        "{version}\n#extension GL_GOOGLE_include_directive : require\n#include \"shared.glsl\"\n{rest}"
    );
    std::fs::write(&kernel, including).unwrap();
    let included = glsl.join("shared.glsl");
    std::fs::write(&included, "const uint SHARED = 1u;\n").unwrap();
    let compiled = |reports: &str| {
        let reuse = project.reuse_of(reports);
        let mut fresh = project.certify_sequentially("fresh");
        run(fresh.arg("--no-cache"), 0);
        assert_eq!(project.files("fresh"), project.files(reports), "{reports}");
        reuse["kernels"]["compiled"].as_u64().unwrap()
    };
    assert_eq!(compiled("first"), 2);
    assert_eq!(compiled("again"), 0);
    std::fs::write(&included, "const uint SHARED = 2u;\n").unwrap();
    assert_eq!(compiled("changed"), 1);
    // The same text in another file is another place.
    std::fs::rename(&included, glsl.join("other.glsl")).unwrap();
    std::fs::write(&included, "#include \"other.glsl\"\n").unwrap();
    assert_eq!(compiled("moved"), 1);
    assert_eq!(compiled("last"), 0);
}

/// Changes a file of the project.
fn edit(project: &CachedProject, file: &str, words: &str, others: &str) {
    replace_in(&project.path("project").join(file), words, others);
}

#[test]
fn coupling_is_analysed_again_where_what_it_rests_on_has_changed() {
    let project = CachedProject::of_kernels(2);
    let [file, other_file] =
        [1, 2].map(|number| format!("requirements/{}.toml", kernel_name(number)));
    let analysed = |step: &str, exit: i32| {
        let [reports, fresh] = ["cached", "fresh"].map(|name| format!("{step} {name}"));
        run(&mut project.with_cache(project.certify_sequentially(&reports)), exit);
        run(project.certify_sequentially(&fresh).arg("--no-cache"), exit);
        assert_eq!(project.files(&reports), project.files(&fresh), "{step}");
        let coupling = reuse(&project.path(&reports))["coupling"].clone();
        let analysed = coupling["analysed"].as_u64().unwrap();
        assert_eq!(analysed + reused_count(&coupling), 2, "{step}");
        analysed
    };
    assert_eq!(analysed("first", 0), 2);
    assert_eq!(analysed("again", 0), 0);
    edit(&project, &file, "max = 65536", "max = 65535");
    assert_eq!(analysed("another range", 0), 1);
    // Rows name the place of the interface.
    edit(&project, &file, "\n[[interface]]", "\n\n[[interface]]");
    assert_eq!(analysed("another line", 0), 1);
    edit(&project, &file, "title = \"Kernel 1\"", "title = \"The first kernel\"");
    assert_eq!(analysed("another title", 0), 0);
    edit(&project, "vkcert.toml", "level = \"A\"", "level = \"A\"\nmemory_model = \"spec\"");
    assert_eq!(analysed("another memory model", 0), 2);
    // A kernel that comes before, as it is and then changed; no test dispatches both.
    let domain = "domain = [\"count\", \"1\", \"1\"]";
    let earlier = format!(
        "{domain}\nearlier = [{{ kernel = \"{}\", shared = [{{ from = {{ binding = 1 }}, to = {{ binding = 0 }} }}] }}]",
        kernel_name(2)
    );
    edit(&project, &file, domain, &earlier);
    assert_eq!(analysed("a kernel before", 1), 1);
    edit(&project, &other_file, "max = 65536", "max = 65534");
    assert_eq!(analysed("another range before", 1), 2);
    let kernel = format!("glsl/{}.comp", kernel_name(2));
    let text = std::fs::read_to_string(project.path("project").join(&kernel)).unwrap();
    let (version, _) = text.split_once('\n').unwrap();
    edit(&project, &kernel, version, &format!("{version}\n"));
    assert_eq!(analysed("another kernel before", 1), 2);
    // What a test dispatches: a workgroup more than it needs.
    edit(&project, &file, "groups = [1, 1, 1]", "groups = [2, 1, 1]");
    assert_eq!(analysed("another dispatch", 1), 1);
    assert_eq!(analysed("last", 1), 0);
}

#[test]
fn refuted_coupling_is_analysed_each_time() {
    let project = CachedProject::of_kernels(1);
    let file = format!("requirements/{}.toml", kernel_name(1));
    edit(&project, &file, "size = \"count * 4\"", "size = \"count * 4 - 4\"");
    for reports in ["first", "again"] {
        run(&mut project.with_cache(project.certify_sequentially(reports)), 1);
        let coupling = reuse(&project.path(reports))["coupling"].clone();
        assert_eq!((coupling["analysed"].as_u64(), reused_count(&coupling)), (Some(1), 0));
    }
    assert_eq!(project.files("first"), project.files("again"));
}

#[test]
fn false_coupling_is_found_where_it_is_analysed_again() {
    let project = CachedProject::of_kernels(2);
    let (honest, _) = campaign_with(&project, Recheck::Never);
    let is_coupling_that_holds = |entry: &PathBuf| {
        let text = std::fs::read_to_string(entry).unwrap();
        text.contains("\"check\":\"index-bounds\"") && text.contains("\"status\":\"holds\"")
    };
    let entry = project.entries().into_iter().find(is_coupling_that_holds).unwrap();
    let text = std::fs::read_to_string(&entry).unwrap();
    let (_, content) = text.split_once('\n').unwrap();
    let forged = content.replacen("\"status\":\"holds\"", "\"status\":\"undetermined\"", 1);
    save_under_name_of(&project, &entry, forged.as_bytes());
    let (_, all_rechecked) = campaign_with(&project, Recheck::OneIn { share: 1, seed: 0 });
    let differing = all_rechecked.differing();
    assert!(differing.len() == 1 && differing[0].starts_with("coupling of "), "{differing:?}");
    let coupling = all_rechecked.reuse().coupling;
    assert_eq!((coupling.analysed, coupling.compared), (2, 1));
    let (mended, again) = campaign_with(&project, Recheck::Never);
    assert_eq!(again.reuse().coupling.analysed, 0);
    assert_eq!(honest.files, mended.files);
}

#[test]
fn a_share_of_what_is_found_runs_again() {
    let project = CachedProject::of_kernels(4);
    let whole = project.reuse_of("whole")["ran"].as_u64().unwrap();
    let mut command = project.with_cache(project.certify_sequentially("rechecked"));
    run(command.args(["--cache", "verify"]), 0);
    let rechecked = reuse(&project.path("rechecked"));
    assert_eq!(rechecked["ran"], rechecked["compared"]);
    assert_eq!(rechecked["kernels"]["compiled"], rechecked["kernels"]["compared"]);
    assert_eq!(rechecked["coupling"]["analysed"], rechecked["coupling"]["compared"]);
    assert_eq!(rechecked["ran"].as_u64().unwrap() + reused_count(&rechecked), whole);
    assert_eq!(project.files("whole"), project.files("rechecked"));
}

#[test]
fn a_cache_that_cannot_be_used_stops_nothing_unless_it_was_asked_for() {
    let project = CachedProject::of_kernels(1);
    let file = project.path("file");
    std::fs::write(&file, "no folder").unwrap();
    let refused = run(project.certify_sequentially("refused").arg("--cache").arg(&file), 3);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.contains("the cache in") && !project.path("refused").exists(), "{told}");
    let output = run(project.certify_sequentially("noted").env("VKCERT_CACHE", &file), 0);
    assert!(String::from_utf8_lossy(&output.stderr).contains("; no cache is used\n"));
    // One in which nothing can be written any more.
    let full = project.path("cache/v1");
    std::fs::create_dir_all(&full).unwrap();
    for number in 0..=255 {
        std::fs::write(full.join(format!("{number:02x}")), "").unwrap();
    }
    let told = project.reuse_of("full");
    assert!(told["not_kept"].is_string(), "{told}");
    assert_eq!(project.files("noted"), project.files("full"));
    for options in [["--cache", "a", "--cache", "b"], ["--cache", "a", "--no-cache", "-q"]] {
        run(project.certify_sequentially("never").args(options), 2);
    }
}

#[test]
fn two_runs_share_a_cache_at_once() {
    let project = CachedProject::of_kernels(4);
    let start = |reports: &str| {
        let mut command = project.with_cache(project.certify_sequentially(reports));
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    let children = ["one", "two", "three"].map(start);
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(project.files("one"), project.files("two"));
    assert_eq!(project.files("one"), project.files("three"));
    assert_eq!(project.reuse_of("after")["ran"], 0);
}

#[test]
fn a_run_leaves_no_more_than_its_limit() {
    const ENTRY: usize = 4_000;
    let folder = tempfile::tempdir().unwrap();
    let run_that_adds = |number: u32| {
        let store = CacheStore::open(folder.path()).unwrap();
        let cache = RunCache::new(store, &origin(), Recheck::Never);
        cache.keep_bytes(&CacheKey::of_bytes(&number.to_le_bytes()), &[0; ENTRY]);
        cache
    };
    let limit = 3 * ENTRY as u64;
    assert_eq!(run_that_adds(1).shrink(limit).unwrap(), 0);
    // One that ends early looks for no limit.
    drop(run_that_adds(2));
    let third = run_that_adds(3);
    assert!(third.shrink(limit).unwrap() > 0, "three entries are more than three contents");
    assert_eq!(third.shrink(limit).unwrap(), 0);
    drop(third);
    // What tells nothing is counted.
    for text in ["", "0\n"] {
        std::fs::write(folder.path().join("v1/sizes"), text).unwrap();
        assert!(run_that_adds(4).shrink(ENTRY as u64).unwrap() > 0, "{text:?}");
    }
}

#[test]
fn entries_that_are_long_unused_or_too_many_are_removed() {
    let project = CachedProject::of_kernels(1);
    project.reuse_of("whole");
    let cache = project.path("cache");
    let stats =
        |words: &[&str]| run_json(vkcert().arg("cache").args(words).arg("--cache").arg(&cache), 0);
    let whole = stats(&["stats"]);
    assert_eq!(whole["entries"].as_u64().unwrap(), project.entries().len() as u64);
    assert_eq!(stats(&["prune", "--older-than", "1"])["removed"], 0);
    let half = whole["bytes"].as_u64().unwrap() / 2;
    let pruned = stats(&["prune", "--most-bytes", &half.to_string()]);
    assert!(pruned["bytes"].as_u64().unwrap() <= half, "{pruned}");
    assert!(pruned["removed"].as_u64().unwrap() > 0 && pruned["entries"] != 0, "{pruned}");
    assert_eq!(stats(&["prune", "--older-than", "0"])["entries"], 0);
    run(vkcert().args(["cache", "prune"]), 2);
}

/// Kills a run after a time; the tests that it had finished on the sequential engine.
fn finished_before_kill(project: &CachedProject, after: Duration) -> usize {
    let events = project.path("events");
    let mut command = project.with_cache(project.certify_sequentially("reports"));
    command.arg("--events").arg(&events).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    let told = std::fs::read_to_string(&events).unwrap_or_default();
    told.lines().filter(|line| line.contains("\"test-finished\"") && line.ends_with('}')).count()
}

/// Kills runs at evenly spread moments; how often that was between the first test and the last.
fn killed_between_tests(project: &CachedProject, moments: u32) -> usize {
    let start = Instant::now();
    run(project.certify_sequentially("whole").arg("--no-cache"), 0);
    let (whole, time) = (project.files("whole"), start.elapsed());
    let mut killed_between = 0;
    for moment in 0..moments {
        let _ = std::fs::remove_dir_all(project.path("cache"));
        let finished = finished_before_kill(project, time * moment / moments);
        killed_between += usize::from(finished > 0);
        let _ = std::fs::remove_dir_all(project.path("resumed"));
        let told = project.reuse_of("resumed");
        // Each of them took two runs or more.
        assert!(reused_count(&told) >= 2 * finished as u64, "{finished} at {moment}: {told}");
        assert_eq!(told["damaged"], 0);
        assert_eq!(whole, project.files("resumed"), "killed at {moment} of {moments}");
    }
    killed_between
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was() {
    killed_between_tests(&CachedProject::of_kernels(5), 6);
}

#[test]
#[ignore = "50 moments take a minute"]
fn a_run_that_was_killed_at_any_moment_goes_on_where_it_was() {
    assert!(killed_between_tests(&CachedProject::of_kernels(20), 50) > 5);
}

/// A library that ends the process with SIGKILL at a rename: before it, or after.
fn killer(folder: &Path) -> PathBuf {
    let source = folder.join("killer.c");
    std::fs::write(
        &source,
        r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int renames;
int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    const char *place = getenv("KILL_AT");
    int number = __sync_add_and_fetch(&renames, 1);
    int is_last = place && atoi(place) / 2 == number;
    if (is_last && atoi(place) % 2 == 0) kill(getpid(), SIGKILL);
    int result = real(from, to);
    if (is_last) kill(getpid(), SIGKILL);
    return result;
}
"#,
    )
    .unwrap();
    let library = folder.join("libkiller.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &source])
        .args(["-ldl"])
        .status();
    assert!(built.expect("a C compiler").success());
    library
}

#[test]
fn a_run_that_was_killed_at_any_rename_leaves_nothing_torn() {
    let project = CachedProject::of_kernels(1);
    run(project.certify_sequentially("whole").arg("--no-cache"), 0);
    let whole = project.files("whole");
    let library = killer(project.folder.path());
    let mut kills = 0;
    for place in 2.. {
        let mut command = project.with_cache(project.certify_sequentially("reports"));
        command.args(["--jobs", "1"]);
        command.env("LD_PRELOAD", &library).env("KILL_AT", place.to_string());
        let output = command.output().unwrap();
        if output.status.success() {
            break;
        }
        assert_eq!(output.status.signal(), Some(9), "{output:?}");
        kills += 1;
        if project.path("reports/latest").exists() {
            assert_eq!(whole, project.files("reports"), "killed at {place}");
        }
        let told = project.reuse_of("after");
        assert_eq!(told["damaged"], 0, "killed at {place}");
        assert_eq!(whole, project.files("after"), "killed at {place}");
        let _ = std::fs::remove_dir_all(project.path("cache"));
        let _ = std::fs::remove_dir_all(project.path("reports"));
    }
    // Two kills for each of the origin, the tests and the reports.
    assert!(kills >= 2 * (1 + 4 + 1), "{kills}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_file_of_any_bytes_is_no_entry(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let folder = tempfile::tempdir().unwrap();
        let store = CacheStore::open(folder.path()).unwrap();
        let key = CacheKey::of_bytes(&bytes);
        store.save(&key, &key, b"content").unwrap();
        let entry = walkdir::WalkDir::new(folder.path()).min_depth(3).into_iter().next();
        std::fs::write(entry.unwrap().unwrap().path(), &bytes).unwrap();
        prop_assert_eq!(store.load(&key), vkcert::cache::store::Loaded::Damaged);
        prop_assert_eq!(store.load(&key), vkcert::cache::store::Loaded::Missing);
    }
}
