//! Where libclang is.
//!
//! Knows: the variable `LIBCLANG_PATH`, where distributions put the library, its versions.
//! Promises: the newest version wins, so that the choice is the same at every start.
//! Does not cover: loading it, which happens in a process of its own.

use std::path::{Path, PathBuf};

/// The packages that hold the library and the compiler's own headers (`<stdint.h>`), on Debian and
/// Ubuntu.
pub const INSTALL_COMMAND: &str = "sudo apt-get install libclang1-19 libclang-common-19-dev";

/// Names the library's file, or the folder that it is in, before all other places.
const PATH_VARIABLE: &str = "LIBCLANG_PATH";

/// Folders of one version each, `{}` for its number, and of none.
const FOLDERS: &[&str] = &[
    "/usr/lib/llvm-{}/lib",
    "/usr/lib/llvm{}/lib",
    "/usr/lib64/llvm{}/lib64",
    "/opt/homebrew/opt/llvm@{}/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/lib",
];

/// Versions that are looked for; before 10 the library cannot tell what is asked of it.
const VERSIONS: std::ops::RangeInclusive<u32> = 10..=40;

/// The library's file; none where it is not installed.
pub fn find_library() -> Option<PathBuf> {
    let named_place = std::env::var_os(PATH_VARIABLE).filter(|place| !place.is_empty());
    match named_place.map(PathBuf::from) {
        Some(place) if place.is_dir() => {
            VERSIONS.rev().find_map(|version| in_folder(&place, version))
        }
        Some(place) => Some(place).filter(|place| place.is_file()),
        None => VERSIONS.rev().find_map(|version| {
            FOLDERS.iter().find_map(|folder| {
                let folder = folder.replace("{}", &version.to_string());
                in_folder(Path::new(&folder), version)
            })
        }),
    }
}

fn in_folder(folder: &Path, version: u32) -> Option<PathBuf> {
    let is_of_version =
        folder.to_str().is_some_and(|name| name.contains(&format!("llvm-{version}/")));
    let numbered_names = [
        format!("libclang-{version}.so.1"),
        format!("libclang-{version}.so.{version}"),
        format!("libclang-{version}.so"),
        format!("libclang.so.{version}"),
    ];
    let plain_names = ["libclang.so.1", "libclang.so"].map(str::to_owned);
    let plain_names = plain_names.into_iter().filter(|_| is_of_version);
    let mut names = numbered_names.into_iter().chain(plain_names);
    names.find_map(|name| Some(folder.join(name)).filter(|path| path.is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_by_its_number() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(in_folder(folder.path(), 19), None);
        std::fs::write(folder.path().join("libclang.so.1"), "").unwrap();
        assert_eq!(in_folder(folder.path(), 19), None);
        std::fs::write(folder.path().join("libclang-18.so.1"), "").unwrap();
        assert_eq!(in_folder(folder.path(), 19), None);
        assert_eq!(in_folder(folder.path(), 18), Some(folder.path().join("libclang-18.so.1")));
        let of_version = folder.path().join("llvm-19/lib");
        std::fs::create_dir_all(&of_version).unwrap();
        std::fs::write(of_version.join("libclang.so.1"), "").unwrap();
        assert_eq!(in_folder(&of_version, 19), Some(of_version.join("libclang.so.1")));
    }
}
