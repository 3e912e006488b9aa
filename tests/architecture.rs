//! The layers of ARCHITECTURE.md hold in the source: data flows one way, single modules name single libraries, and every
//! file that the document names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of one crate that name a library, where not the whole crate may.
const PLACES: &[(&str, &[&str])] = &[
    ("shaderc", &["src/glsl/compile.rs", "src/spirv/validate.rs"]),
    ("ash", &["src/exec/vulkan"]),
    ("printpdf", &["src/report/pdf"]),
    ("libc", &["src/crash"]),
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

/// A row of the table of layers in ARCHITECTURE.md.
struct Layer {
    /// Relative to the root.
    folder: String,
    /// The libraries that it alone depends on.
    alone: Vec<String>,
}

/// The table, from top to bottom.
fn layers() -> Vec<Layer> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text.split("## Layers").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `src/"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let alone = cells.last().unwrap().trim_end_matches('|').split(',').map(str::trim);
        Layer {
            folder: cells[0].trim_matches('`').trim_end_matches('/').to_owned(),
            alone: alone.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        }
    })
    .collect()
}

/// The command line is the package at the root.
fn manifest(folder: &str) -> toml::Table {
    let place = if folder == "src/cli" { root() } else { root().join(folder) };
    fs::read_to_string(place.join("Cargo.toml")).unwrap().parse().unwrap()
}

fn package_name(manifest: &toml::Table) -> String {
    manifest["package"]["name"].as_str().unwrap().to_owned()
}

/// What a crate is built of; what its tests need besides does not count.
fn dependencies(manifest: &toml::Table) -> BTreeSet<String> {
    manifest
        .get("dependencies")
        .and_then(|table| table.as_table())
        .into_iter()
        .flat_map(|table| table.keys().cloned())
        .collect()
}

#[test]
fn every_crate_has_a_row_and_depends_on_rows_above_its_own() {
    let manifests: Vec<toml::Table> = layers().iter().map(|layer| manifest(&layer.folder)).collect();
    let names: Vec<String> = manifests.iter().map(package_name).collect();
    assert!(names.len() > 10, "the table was not read: {names:?}");
    let mut wrong = Vec::new();
    for (rank, manifest) in manifests.iter().enumerate() {
        for used in dependencies(manifest).iter().filter(|name| name.starts_with("vkcert-")) {
            if !names[..rank].contains(used) {
                wrong.push(format!("{} depends on {used}, which does not stand above it", names[rank]));
            }
        }
    }
    let workspace = manifest("src/cli");
    let members = workspace["workspace"]["members"].as_array().unwrap().iter();
    for member in members.map(|member| member.as_str().unwrap()) {
        let name = package_name(&manifest(member));
        if !names.contains(&name) && name != "vkcert-sample" {
            wrong.push(format!("{name} has no row in ARCHITECTURE.md"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn libraries_of_one_layer_are_dependencies_of_it_alone() {
    let layers = layers();
    let mut wrong = Vec::new();
    for layer in &layers {
        for library in &layer.alone {
            assert!(
                dependencies(&manifest(&layer.folder)).contains(library),
                "{} does not name {library}",
                layer.folder
            );
            for other in layers.iter().filter(|other| other.folder != layer.folder) {
                if dependencies(&manifest(&other.folder)).contains(library) {
                    wrong.push(format!("{} depends on {library}, too", other.folder));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn single_places_name_single_libraries() {
    let mut wrong = Vec::new();
    for (path, text) in all_sources() {
        for (library, places) in PLACES {
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
    let lock: toml::Table = fs::read_to_string(root().join("fuzz/Cargo.lock")).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let versions = manifest("src/cli");
    let versions = versions["workspace"]["dependencies"].as_table().unwrap();
    for layer in layers() {
        let manifest = manifest(&layer.folder);
        let name = package_name(&manifest);
        let renamed = |name: &String| versions.get(name)?.get("package")?.as_str().map(str::to_owned);
        let wanted: BTreeSet<String> =
            dependencies(&manifest).iter().map(|name| renamed(name).unwrap_or(name.clone())).collect();
        let own = packages.iter().find(|package| package["name"].as_str() == Some(&name)).unwrap();
        let locked = own.get("dependencies").and_then(|list| list.as_array()).into_iter().flatten();
        let locked: BTreeSet<String> =
            locked.filter_map(|row| row.as_str()).map(|row| row.split(' ').next().unwrap_or(row).to_owned()).collect();
        assert_eq!(locked, wanted, "{name}: `cargo metadata --offline` in fuzz/ brings its lock file up to date");
    }
}

#[test]
fn unsafe_stands_in_three_places_alone() {
    let allowed = ["src/exec/vulkan", "src/spirv/validate", "src/crash"];
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
