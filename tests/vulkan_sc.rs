//! The Vulkan SC profile: every file of `tests/filetests/sc` is refused for exactly the reasons that it names, the
//! demonstration runs under the profile with records that use no atomics, and offline modules must be there and fresh.

mod support;

use serde_json::Value;
use std::path::{Path, PathBuf};
use support::*;

/// What a file says about itself, in `//!` lines.
struct Case {
    name: String,
    text: String,
    target: String,
    features: Vec<String>,
    refused: Vec<String>,
}

fn case(path: &Path) -> Case {
    let text = std::fs::read_to_string(path).unwrap();
    let words = |directive: &str| -> Vec<String> {
        let prefix = format!("//! {directive} ");
        text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).collect()
    };
    Case {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned(),
        target: words("target").pop().unwrap_or("vulkan1.1".to_owned()),
        features: words("features").iter().flat_map(|line| line.split(' ')).map(str::to_owned).collect(),
        refused: words("refused"),
        text,
    }
}

fn cases() -> Vec<Case> {
    let entries = std::fs::read_dir(root().join("tests/filetests/sc")).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| case(path)).collect()
}

const REQUIREMENT: &str = "schema = 1\n[[requirement]]\nuid = \"HLR-SC-001\"\nlevel = \"HLR\"\ntitle = \"t\"\n\
                           statement = \"s\"\nverification = [\"review\"]\n";

/// What `vkcert list kernels` says of a case under the profile.
fn refusals(case: &Case) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("{}.comp", case.name);
    write(folder.path(), &source, &case.text);
    write(folder.path(), "requirements/r.toml", REQUIREMENT);
    let project = format!(
        "schema = 1\nname = \"P\"\nlevel = \"D\"\nprofile = \"vulkan-sc\"\nsc_features = {:?}\n\
         [[kernel]]\nname = \"k\"\nsource = \"{source}\"\ntarget_env = \"{}\"\n",
        case.features, case.target
    );
    write(folder.path(), "vkcert.toml", project);
    let rows = run_json(vkcert().args(["list", "kernels"]).arg(folder.path()), 0);
    rows[0]["refused"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap().to_owned()).collect()
}

/// Whether `found` is `shown`, where ` _` at the end of `shown` is anything.
fn is(shown: &str, found: &str) -> bool {
    match shown.strip_suffix(" _") {
        Some(start) => found.starts_with(start),
        None => found == shown,
    }
}

#[test]
fn each_module_is_refused_for_exactly_what_vulkan_sc_lacks() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    let cases = cases();
    for case in &cases {
        let found = refusals(case);
        let all = found.len() == case.refused.len() && case.refused.iter().zip(&found).all(|(s, f)| is(s, f));
        if !all {
            wrong.push(format!("{}: {found:#?}", case.name));
        }
        refused += usize::from(!found.is_empty());
        let accepted = case.name.ends_with("_accepted") || case.name.ends_with("_declared");
        assert_eq!(case.refused.is_empty(), accepted, "{} says what it is in its name", case.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(refused >= 12 && cases.len() - refused >= 6, "{refused} of {}", cases.len());
}
