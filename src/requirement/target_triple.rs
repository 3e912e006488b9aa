//! Target triples: `x86_64-unknown-linux-gnu`.
//!
//! Knows: the operating systems, environments and object formats that clang tells apart.
//! Promises: in a triple that passes no part is one that clang passes over and takes a default for,
//! because the defaults decide how wide `long` is and where members lie.
//! Does not cover: the architecture, whose unknown names clang refuses itself; the vendor, which
//! clang takes any name for.

use super::nearest::{nearest_name, question};

/// Operating systems; `none` and `unknown` say that there is none.
const SYSTEMS: &[&str] = &[
    "aix",
    "amdhsa",
    "amdpal",
    "bridgeos",
    "cuda",
    "cygwin",
    "darwin",
    "dragonfly",
    "driverkit",
    "elfiamcu",
    "emscripten",
    "freebsd",
    "fuchsia",
    "haiku",
    "hermit",
    "hurd",
    "ios",
    "kfreebsd",
    "linux",
    "liteos",
    "lv2",
    "macos",
    "macosx",
    "mesa3d",
    "mingw32",
    "nacl",
    "netbsd",
    "none",
    "nvcl",
    "openbsd",
    "ps4",
    "ps5",
    "rtems",
    "serenity",
    "shadermodel",
    "solaris",
    "tvos",
    "uefi",
    "unknown",
    "visionos",
    "vulkan",
    "wasi",
    "watchos",
    "win32",
    "windows",
    "xros",
    "zos",
];

/// Environments and object formats.
const ENVIRONMENTS: &[&str] = &[
    "android",
    "androideabi",
    "code16",
    "coff",
    "coreclr",
    "cygnus",
    "eabi",
    "eabihf",
    "elf",
    "gnu",
    "gnu_ilp32",
    "gnuabi64",
    "gnuabin32",
    "gnueabi",
    "gnueabihf",
    "gnueabihft64",
    "gnueabit64",
    "gnuf32",
    "gnuf64",
    "gnusf",
    "gnux32",
    "goff",
    "itanium",
    "llvm",
    "macabi",
    "macho",
    "mlibc",
    "msvc",
    "musl",
    "muslabi64",
    "muslabin32",
    "musleabi",
    "musleabihf",
    "muslf32",
    "muslsf",
    "muslx32",
    "ohos",
    "simulator",
    "unknown",
    "wasm",
    "xcoff",
];

/// What is wrong with a triple.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TripleFault {
    pub message: String,
    pub hint: String,
}

/// What clang would not take notice of in a triple; none where it knows all of it.
pub(super) fn triple_fault(triple: &str) -> Option<TripleFault> {
    let parts: Vec<&str> = triple.split('-').skip(1).collect();
    // A vendor stands in front of a system; `x86_64-linux` has none.
    let others = if parts.len() > 1 && !is_system(parts[0]) { &parts[1..] } else { &parts[..] };
    if let Some(unknown_part) = others.iter().find(|part| !is_system(part) && !is_environment(part))
    {
        let names = || SYSTEMS.iter().chain(ENVIRONMENTS).copied();
        let hint = match nearest_name(unknown_part, names()) {
            Some(near) => question(near),
            None => format!("operating systems are {}", SYSTEMS.join(", ")),
        };
        let message = format!(
            "`{triple}`: clang knows no `{unknown_part}` and would lay out for what it takes instead"
        );
        return Some(TripleFault { message, hint });
    }
    if others.iter().any(|part| is_system(part)) {
        return None;
    }
    let near = parts.first().and_then(|vendor| nearest_name(vendor, SYSTEMS.iter().copied()));
    let hint = match near {
        Some(near) => question(near),
        None => "such as x86_64-unknown-linux-gnu; `none` where there is none".to_owned(),
    };
    let message = format!("`{triple}` names no operating system that clang knows");
    Some(TripleFault { message, hint })
}

fn is_system(part: &str) -> bool {
    SYSTEMS.contains(&without_version(part))
}

fn is_environment(part: &str) -> bool {
    ENVIRONMENTS.contains(&without_version(part)) || ENVIRONMENTS.contains(&part)
}

/// `android21` as `android`; names that end in a digit stand for themselves.
fn without_version(part: &str) -> &str {
    if SYSTEMS.contains(&part) || ENVIRONMENTS.contains(&part) {
        return part;
    }
    part.trim_end_matches(|character: char| character.is_ascii_digit() || character == '.')
}

#[cfg(test)]
mod tests {
    use super::triple_fault;

    #[test]
    fn triples_of_real_hosts_pass() {
        for triple in [
            "x86_64-unknown-linux-gnu",
            "x86_64-linux-gnu",
            "x86_64-linux-gnux32",
            "aarch64-poky-linux",
            "arm-none-eabi",
            "armv7-linux-gnueabihf",
            "aarch64-linux-android21",
            "x86_64-pc-windows-msvc19.33.0",
            "x86_64-pc-win32",
            "x86_64-w64-mingw32",
            "arm64-apple-macosx10.15",
            "powerpc64le-unknown-freebsd13.2",
        ] {
            assert_eq!(triple_fault(triple), None, "{triple}");
        }
    }

    #[test]
    fn a_part_that_clang_passes_over_is_a_fault() {
        for (triple, words, hint) in [
            ("x86_64-pc-windws-msvc", "no `windws`", "`windows`"),
            ("X86_64-PC-WINDOWS-MSVC", "no `WINDOWS`", "`windows`"),
            ("x86_64-unknown-linux-gnux33", "no `gnux33`", "`gnux32`"),
            ("x86_64-linux-gnx32", "no `gnx32`", "`gnux32`"),
            ("x86_64-w64-mingw", "no `mingw`", "mingw32"),
            ("x86_64-linx-gnu", "no operating system", "`linux`"),
            ("x86_64-linx", "no `linx`", "`linux`"),
            ("x86_64", "no operating system", "`none`"),
            ("x86_64-unknown-linux-gnu-", "no ``", "operating systems are"),
        ] {
            let fault = triple_fault(triple).expect(triple);
            assert!(fault.message.contains(words), "{triple}: {fault:?}");
            assert!(fault.hint.contains(hint), "{triple}: {fault:?}");
        }
    }
}
