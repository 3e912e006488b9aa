//! The layers of ARCHITECTURE.md hold in the source: data flows one way, single modules name single libraries, and every
//! file that the document names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From top to bottom; a module uses only what stands above it (and itself).
const LAYERS: &[&str] = &[
    "model",
    "oracle",
    "requirement",
    "glsl",
    "coverage",
    "report",
    "spirv",
    "instrument",
    "exec",
    "coupling",
    "dissimilar",
    "campaign",
    "cli",
];

/// Layers that see less than everything above them.
const NARROW: &[(&str, &[&str])] =
    &[("oracle", &["model"]), ("requirement", &["model"]), ("report", &["model"]), ("coverage", &["model", "glsl"])];

/// Libraries that one place alone names.
const ALONE: &[(&str, &[&str])] = &[
    ("shaderc", &["src/glsl/compile.rs"]),
    ("ash", &["src/exec/vulkan"]),
    ("printpdf", &["src/report/pdf"]),
    ("libc", &["src/crash.rs"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&root().join("src"), &mut found);
    found
        .into_iter()
        .map(|path| {
            let shown = path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
            (shown, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The layers that a source text names as `crate::layer`.
fn used_layers(text: &str) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        for rest in code.split("crate::").skip(1) {
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if LAYERS.contains(&name.as_str()) {
                used.push((number + 1, name));
            }
        }
        if let Some(group) = code.split("crate::{").nth(1) {
            for part in group.split(',') {
                let name: String = part.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if LAYERS.contains(&name.as_str()) {
                    used.push((number + 1, name));
                }
            }
        }
    }
    used
}

#[test]
fn no_module_uses_a_layer_below_itself() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        let Some(layer) = path.split('/').nth(1).filter(|part| LAYERS.contains(part)) else { continue };
        let rank = |name: &str| LAYERS.iter().position(|layer| *layer == name).unwrap();
        let narrow = NARROW.iter().find(|(name, _)| *name == layer).map(|(_, allowed)| *allowed);
        for (line, used) in used_layers(&text) {
            let allowed =
                used == layer || narrow.map_or(rank(&used) < rank(layer), |list| list.contains(&used.as_str()));
            if !allowed {
                wrong.push(format!("{path}:{line}: {layer} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "upward uses:\n{}", wrong.join("\n"));
}

#[test]
fn single_places_name_single_libraries() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        for (library, places) in ALONE {
            // Unit tests may compile kernels of their own.
            let tests = path.ends_with("tests.rs");
            if tests || places.iter().any(|place| path.starts_with(place)) {
                continue;
            }
            for (number, line) in text.lines().enumerate() {
                let code = line.split("//").next().unwrap_or("");
                if code.contains(&format!("{library}::")) && !code.contains(&format!("_{library}::")) {
                    let word_before = code.split(&format!("{library}::")).next().unwrap().chars().last();
                    if !word_before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"') {
                        wrong.push(format!("{path}:{}: names {library}", number + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "libraries named elsewhere:\n{}", wrong.join("\n"));
}

/// The fuzz targets are a workspace of their own, with a lock file of its own, and no build of the suite reads it.
#[test]
fn the_fuzz_targets_are_locked_to_what_the_program_needs() {
    let read = |file: &str| -> toml::Table { fs::read_to_string(root().join(file)).unwrap().parse().unwrap() };
    let manifest = read("Cargo.toml");
    let wanted = manifest["dependencies"].as_table().unwrap().iter();
    let wanted: BTreeSet<String> = wanted
        .map(|(name, given)| given.get("package").and_then(|package| package.as_str()).unwrap_or(name).to_owned())
        .collect();
    let lock = read("fuzz/Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let own = packages.iter().find(|package| package["name"].as_str() == Some("vkcert")).unwrap();
    let locked = own["dependencies"].as_array().unwrap().iter().filter_map(|row| row.as_str());
    let locked: BTreeSet<String> = locked.map(|row| row.split(' ').next().unwrap_or(row).to_owned()).collect();
    assert_eq!(locked, wanted, "`cargo metadata --offline` in fuzz/ brings its lock file up to date");
}

#[test]
fn unsafe_stands_in_three_places_alone() {
    let allowed = ["src/exec/vulkan", "src/spirv/validate", "src/crash.rs"];
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        let inside = allowed.iter().any(|place| path.starts_with(place));
        let uses = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or("");
            code.contains("unsafe {")
                || code.contains("unsafe fn")
                || code.contains("unsafe extern")
                || code.contains("unsafe impl")
        });
        if uses && !inside {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "unsafe outside {allowed:?}: {wrong:?}");
}

#[test]
fn every_file_that_the_document_names_exists() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut missing = Vec::new();
    for quoted in text.split('`').skip(1).step_by(2) {
        let path = quoted.trim_end_matches('/');
        let is_path = ["src/", "tests/", "docs/", "tools/", "glsl/", "requirements/", "spirv/", "examples/", ".ci/"]
            .iter()
            .any(|start| path.starts_with(start))
            && !path.contains(['*', ' ', '<']);
        if is_path && !root().join(path).exists() {
            missing.push(path.to_owned());
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that do not exist: {missing:?}");
}
