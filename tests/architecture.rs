//! The layers of ARCHITECTURE.md hold in the source: data flows one way, single modules name single
//! libraries, and every file that the document names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

mod uses;

/// Folders of one crate that name a library, where not the whole crate may.
const PLACES: &[(&str, &[&str])] = &[
    ("shaderc", &["src/glsl/compile", "src/spirv/validate.rs"]),
    ("ash", &["src/exec/vulkan", "src/capture_layer"]),
    ("krilla", &["src/report/pdf"]),
    ("skrifa", &["src/report/pdf/face.rs"]),
    ("libc", &["src/crash", "src/deep_stack"]),
    ("clang-sys", &["src/header/syntax_tree.rs"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
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
    let manifests: Vec<toml::Table> =
        layers().iter().map(|layer| manifest(&layer.folder)).collect();
    let names: Vec<String> = manifests.iter().map(package_name).collect();
    assert!(names.len() > 10, "the table was not read: {names:?}");
    let mut wrong = Vec::new();
    for (rank, manifest) in manifests.iter().enumerate() {
        for used in dependencies(manifest).iter().filter(|name| name.starts_with("vkcert-")) {
            if !names[..rank].contains(used) {
                wrong.push(format!(
                    "{} depends on {used}, which does not stand above it",
                    names[rank]
                ));
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
            // A library may be of several rows that name it, and of no other.
            for other in layers.iter().filter(|other| !other.alone.contains(library)) {
                if dependencies(&manifest(&other.folder)).contains(library) {
                    wrong.push(format!("{} depends on {library}, too", other.folder));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The order of the modules inside a crate, from top to bottom; the root of the crate may use all
/// and be used by all.
const MODULES: &[(&str, &[&str])] = &[(
    "src/exec",
    &[
        "resource",
        "comparison",
        "variation",
        "repeat",
        "schedule",
        "prepare",
        "flow",
        "access_pairs",
        "judged_bytes",
        "stored",
        "judge",
        "alteration",
    ],
)];

/// Most modules that use each other in a circle.
const MOST_IN_A_CYCLE: usize = 8;

/// The folders of the sequential engine, in the order of their table in ARCHITECTURE.md.
fn engine_folders() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text
        .split("| folder of `src/exec/sequential/` |")
        .nth(1)
        .unwrap()
        .split("\n\n")
        .next()
        .unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        row.split('`').next().unwrap().trim_end_matches('/').trim_end_matches(".rs").to_owned()
    })
    .collect()
}

/// A crate's modules by path, with their texts. Unit tests in files of their own do not count.
fn modules_of(folder: &str) -> BTreeMap<Vec<String>, (String, String)> {
    let nested: Vec<String> = layers().into_iter().map(|layer| layer.folder).collect();
    let inside = |path: &String| {
        let own = path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let other =
            |other: &String| other.len() > folder.len() && path.starts_with(&format!("{other}/"));
        own && !nested.iter().any(other) && !path.ends_with("tests.rs")
    };
    all_sources()
        .into_iter()
        .filter(|(path, _)| inside(path))
        .map(|(path, text)| {
            let name = path[folder.len() + 1..]
                .trim_end_matches(".rs")
                .trim_end_matches("/mod")
                .to_owned();
            let module = if name == "lib" {
                Vec::new()
            } else {
                name.split('/').map(str::to_owned).collect()
            };
            (module, (path, text))
        })
        .collect()
}

/// What each module of a crate names of the crate, as the longest path that is a module, with the
/// line.
fn edges_of(
    modules: &BTreeMap<Vec<String>, (String, String)>,
) -> Vec<(&Vec<String>, usize, Vec<String>)> {
    let mut edges = Vec::new();
    // `use crate as exec;` at the root gives the crate another name.
    let root = modules.get(&Vec::new()).map_or("", |(_, text)| text);
    let alias = root.split("use crate as ").nth(1).and_then(|rest| rest.split(';').next());
    for (module, (_, text)) in modules {
        let is_child =
            |other: &&Vec<String>| other.len() == module.len() + 1 && other.starts_with(module);
        let children: Vec<String> =
            modules.keys().filter(is_child).filter_map(|child| child.last().cloned()).collect();
        for named in uses::named(text, module, &children) {
            let mut path = named.path;
            if path.first().map(String::as_str) == alias {
                path.remove(0);
            }
            while !modules.contains_key(&path) && path.pop().is_some() {}
            // What the root names is mostly another crate.
            if path != *module && !path.is_empty() {
                edges.push((module, named.line, path));
            }
        }
    }
    edges
}

/// Uses of a module by one that stands above it.
fn upward_uses(modules: &BTreeMap<Vec<String>, (String, String)>, order: &[String]) -> Vec<String> {
    let rank = |module: &[String]| order.iter().position(|name| Some(name) == module.first());
    let mut wrong = Vec::new();
    for module in modules.keys().filter(|module| !module.is_empty() && rank(module).is_none()) {
        wrong.push(format!("{} has no place in the order", module.join("::")));
    }
    for (module, line, used) in edges_of(modules) {
        if let (Some(own), Some(other)) = (rank(module), rank(&used))
            && other > own
        {
            wrong.push(format!(
                "{}:{line}: {} uses {}",
                modules[module].0,
                module[0],
                used.join("::")
            ));
        }
    }
    wrong
}

/// Modules that reach each other, the largest such set.
fn largest_cycle(modules: &BTreeMap<Vec<String>, (String, String)>) -> Vec<String> {
    let mut uses: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
    for (module, _, used) in edges_of(modules) {
        uses.entry(module).or_default().insert(used);
    }
    let reached = |from: &Vec<String>| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            for next in uses.get(&module).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        modules.keys().map(|one| (one, reached(one))).collect();
    let circle = |module: &Vec<String>| -> Vec<String> {
        let mutual = reach[module].iter().filter(|other| reach[*other].contains(module));
        mutual.map(|other| other.join("::")).collect()
    };
    modules.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
}

#[test]
fn modules_of_a_crate_use_only_what_stands_above_them() {
    let mut wrong = Vec::new();
    for (folder, order) in MODULES {
        let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
        wrong.extend(upward_uses(&modules_of(folder), &order));
    }
    let engine = modules_of("src/exec/sequential");
    assert!(engine.len() > 80, "the engine was not read");
    wrong.extend(upward_uses(&engine, &engine_folders()));
    assert!(wrong.is_empty(), "upward uses:\n{}", wrong.join("\n"));
    let cycle = largest_cycle(&engine);
    assert!(
        cycle.len() <= MOST_IN_A_CYCLE,
        "{} modules use each other in a circle: {cycle:?}",
        cycle.len()
    );
}

/// However a path is written, it is seen.
#[test]
fn upward_uses_are_seen_in_every_form() {
    let order = ["ir", "decode", "machine"].map(str::to_owned);
    let of = |text: &str| {
        let module = |path: &[&str], text: &str| {
            let path: Vec<String> = path.iter().map(|part| (*part).to_owned()).collect();
            (path.clone(), (path.join("/"), text.to_owned()))
        };
        BTreeMap::from([
            module(&[], "mod decode;\nmod ir;\nmod machine;\n"),
            module(&["ir"], ""),
            module(&["decode"], "mod ops;\nmod layout;\n"),
            module(&["decode", "ops"], text),
            module(&["decode", "layout"], ""),
            module(&["machine"], ""),
        ])
    };
    let upward = |text: &str| upward_uses(&of(text), &order).len();
    for seen in [
        "use super::super::machine::Machine;",
        "use crate::machine;",
        "use crate::{\n    ir::Reg,\n    machine::{\n        Machine as Engine,\n        Tile,\n    },\n};",
        "use crate::{ir::Reg, machine};",
        "fn run() -> crate::machine::Machine { todo!() }",
        "fn run() { super::super::machine::run(\"{\") }",
        "const BRACE: char = '{';\nfn run<'a>(text: &'a str) { super::super::machine::run(text) }",
        "#[cfg(test)]\nmod tests {\n    use super::super::super::machine::Machine;\n}",
        "mod inner {\n    fn f() {}\n}\nuse super::super::machine::Machine;",
        "pub use self::super::super::machine::Machine;",
    ] {
        assert!(upward(seen) > 0, "not seen: {seen}");
    }
    for permitted in [
        "use super::layout::Kind;\nuse crate::ir::{Reg, Scalar};",
        "// use crate::machine::Machine;\n/* crate::machine */",
        "const TEXT: &str = \"crate::machine::Machine\";\nconst RAW: &str = r#\"super::super::machine\"#;",
        "use super::super::ir;\nmod inner {\n    use super::super::layout;\n}",
    ] {
        assert_eq!(upward(permitted), 0, "{permitted}");
    }
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
                if code.contains(&format!("{library}::"))
                    && !code.contains(&format!("_{library}::"))
                {
                    let word_before =
                        code.split(&format!("{library}::")).next().unwrap().chars().last();
                    if !word_before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '"') {
                        wrong.push(format!("{path}:{}: names {library}", number + 1));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "libraries named elsewhere:\n{}", wrong.join("\n"));
}

/// The fuzz targets are a workspace of their own, with a lock file of its own, and no build of the
/// suite reads it.
#[test]
fn the_fuzz_targets_are_locked_to_what_the_program_needs() {
    let lock: toml::Table =
        fs::read_to_string(root().join("fuzz/Cargo.lock")).unwrap().parse().unwrap();
    let packages = lock["package"].as_array().unwrap();
    let versions = manifest("src/cli");
    let versions = versions["workspace"]["dependencies"].as_table().unwrap();
    let manifests: Vec<toml::Table> =
        layers().iter().map(|layer| manifest(&layer.folder)).collect();
    let used: BTreeSet<String> = manifests.iter().flat_map(dependencies).collect();
    for manifest in manifests {
        let name = package_name(&manifest);
        if name != "vkcert" && !used.contains(&name) {
            // What no program is built of (the layer is loaded by others) is in no lock file of one.
            continue;
        }
        let renamed =
            |name: &String| versions.get(name)?.get("package")?.as_str().map(str::to_owned);
        let wanted: BTreeSet<String> = dependencies(&manifest)
            .iter()
            .map(|name| renamed(name).unwrap_or(name.clone()))
            .collect();
        let own = packages.iter().find(|package| package["name"].as_str() == Some(&name)).unwrap();
        let locked = own.get("dependencies").and_then(|list| list.as_array()).into_iter().flatten();
        let locked: BTreeSet<String> = locked
            .filter_map(|row| row.as_str())
            .map(|row| row.split(' ').next().unwrap_or(row).to_owned())
            .collect();
        assert_eq!(
            locked, wanted,
            "{name}: `cargo metadata --offline` in fuzz/ brings its lock file up to date"
        );
    }
}

#[test]
fn unsafe_stands_in_six_places_alone() {
    let allowed = [
        "src/exec/vulkan",
        "src/spirv/validate",
        "src/crash",
        "src/deep_stack",
        "src/header/syntax_tree",
        "src/capture_layer",
    ];
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
        let is_path = [
            "src/",
            "tests/",
            "docs/",
            "tools/",
            "glsl/",
            "requirements/",
            "spirv/",
            "examples/",
            ".ci/",
        ]
        .iter()
        .any(|start| path.starts_with(start))
            && !path.contains(['*', ' ', '<']);
        if is_path && !root().join(path).exists() {
            missing.push(path.to_owned());
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that do not exist: {missing:?}");
}
