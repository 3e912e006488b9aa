//! What the program is built of: sources and licences of all packages, as `Cargo.lock` and their
//! manifests tell them.

use crate::support::root;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// Licences under which code may be linked into a tool whose own is MIT.
const PERMITTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether a licence expression (SPDX, with the older `/` for `OR`) can be met with permitted
/// licences alone.
fn is_permitted(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(" WITH LLVM-exception", "");
    let tokens: Vec<String> = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    let mut position = 0;
    let permitted = any_of(&tokens, &mut position);
    permitted && position == tokens.len()
}

fn any_of(tokens: &[String], position: &mut usize) -> bool {
    let mut permitted = all_of(tokens, position);
    while tokens.get(*position).is_some_and(|token| token == "OR") {
        *position += 1;
        permitted |= all_of(tokens, position);
    }
    permitted
}

fn all_of(tokens: &[String], position: &mut usize) -> bool {
    let mut permitted = one_licence(tokens, position);
    while tokens.get(*position).is_some_and(|token| token == "AND") {
        *position += 1;
        permitted &= one_licence(tokens, position);
    }
    permitted
}

fn one_licence(tokens: &[String], position: &mut usize) -> bool {
    let token = tokens.get(*position).map_or("", String::as_str);
    *position += 1;
    if token != "(" {
        return PERMITTED.contains(&token);
    }
    let permitted = any_of(tokens, position);
    *position += 1;
    permitted
}

#[test]
fn licence_expressions_are_read() {
    for expression in
        ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "(MIT OR GPL-2.0-only) AND Zlib"]
    {
        assert!(is_permitted(expression), "{expression}");
    }
    for expression in
        ["", "GPL-3.0-only", "MIT AND GPL-3.0-only", "(MIT OR Zlib) AND MPL-2.0", "MIT)"]
    {
        assert!(!is_permitted(expression), "{expression}");
    }
}

#[test]
fn every_package_has_a_permitted_licence() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command.current_dir(root()).args([
        "metadata",
        "--offline",
        "--locked",
        "--format-version",
        "1",
    ]);
    // Packages for other systems are in the lock file, but never fetched.
    command.args(["--filter-platform", &format!("{}-unknown-linux-gnu", std::env::consts::ARCH)]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{} packages", packages.len());
    let licence =
        |package: &serde_json::Value| package["license"].as_str().unwrap_or_default().to_owned();
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !is_permitted(&licence(package)))
        .map(|package| format!("{}: {:?}", package["name"], licence(package)))
        .collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn every_package_comes_from_the_registry_with_a_checksum() {
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let lock: toml::Table = fs::read_to_string(root().join(lock)).unwrap().parse().unwrap();
        let mut names = BTreeSet::new();
        for package in lock["package"].as_array().unwrap() {
            let name = package["name"].as_str().unwrap();
            let source = package.get("source").and_then(|source| source.as_str());
            match source {
                Some(source) => {
                    assert_eq!(
                        source, "registry+https://github.com/rust-lang/crates.io-index",
                        "{name}"
                    );
                    assert!(package.get("checksum").is_some(), "{name} has no checksum");
                }
                None => assert!(name.starts_with("vkcert"), "{name} comes from a folder"),
            }
            names.insert(name);
        }
        assert!(names.len() > 100, "{} packages", names.len());
    }
}
