//! Consistency of `[[interface.header]]`.
//!
//! Promises: what passes can be handed to a compiler as it stands: no value is taken for an option,
//! and no path leaves the project.
//! Does not cover: whether files and folders are there (`campaign::headers`), and what the header
//! holds (`header`).

use super::document::Origin;
use super::target_triple::triple_fault;
use std::path::{Component, Path};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::requirement::{HeaderUse, HostHeader, Interface};

/// Flags that change where members lie, or which headers there are; all others would let an interface
/// run what it likes.
const ABI_FLAGS: &[&str] = &[
    // Not of the layout: what the compiler ignores is stated to change none.
    "-Wno-ignored-attributes",
    "-Wno-unknown-attributes",
    "-Wno-unknown-pragmas",
    "-ffreestanding",
    "-fms-extensions",
    "-fno-short-enums",
    "-fpack-struct",
    "-fpack-struct=1",
    "-fpack-struct=2",
    "-fpack-struct=4",
    "-fpack-struct=8",
    "-fpack-struct=16",
    "-fshort-enums",
    "-fshort-wchar",
    "-fsigned-char",
    "-funsigned-char",
    "-malign-double",
    "-mms-bitfields",
    "-mno-ms-bitfields",
];

pub(super) fn check_headers(
    origin: &Origin,
    interface: &Interface,
    problems: &mut Vec<Diagnostic>,
) {
    for (index, header) in interface.header.iter().enumerate() {
        let place = origin.at("header").at(index);
        problems.extend(check_object(&place, interface, header));
        problems.extend(check_words(&place, header));
    }
}

/// What the header describes: push constants have no binding, buffers one that is stated.
fn check_object(place: &Origin, interface: &Interface, header: &HostHeader) -> Option<Diagnostic> {
    match (header.describes, header.set, header.binding) {
        (HeaderUse::PushConstants, None, None) => None,
        (HeaderUse::PushConstants, _, _) => {
            let message = "push constants have neither set nor binding";
            Some(place.at("describes").error("bad-value", message))
        }
        (HeaderUse::Block | HeaderUse::Element, Some(set), Some(binding)) => {
            let is_buffer = |buffer: &vkcert_model::requirement::HostBuffer| {
                (buffer.set, buffer.binding) == (set, binding)
            };
            if interface.buffers.iter().any(is_buffer) {
                return None;
            }
            let message = format!("the interface states no buffer at set {set} binding {binding}");
            Some(place.at("binding").error("unknown-buffer", message))
        }
        (HeaderUse::Block | HeaderUse::Element, _, _) => {
            let message = "what stands in a buffer has its `set` and `binding`";
            Some(place.at("describes").error("missing-key", message))
        }
    }
}

fn check_words(place: &Origin, header: &HostHeader) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut require = |holds: bool, key: &str, message: String| {
        if !holds {
            problems.push(place.at(key).error("bad-value", message));
        }
    };
    let is_word = |text: &str, others: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || others.contains(c);
        !text.is_empty() && !text.starts_with('-') && text.chars().all(is_part)
    };
    let standard = header.standard.strip_prefix("gnu").or(header.standard.strip_prefix('c'));
    let version = standard.map(|rest| rest.strip_prefix("++").unwrap_or(rest));
    let is_version =
        |version: &str| version.starts_with(|c: char| c.is_ascii_digit()) && is_word(version, "");
    let prefixes = ["struct ", "typedef "];
    let name = prefixes.iter().find_map(|prefix| header.structure.strip_prefix(prefix));
    require(
        is_word(name.unwrap_or(&header.structure), "_:"),
        "struct",
        format!("`{}` is no name of a struct", header.structure),
    );
    require(
        is_word(&header.target, "_-."),
        "target",
        format!("`{}` is no target triple", header.target),
    );
    require(
        version.is_some_and(is_version),
        "standard",
        format!("`{}` is no language standard, such as c11 or c++17", header.standard),
    );
    let is_file = !header.file.contains(['"', '\n']) && is_inside(&header.file);
    require(is_file, "file", format!("`{}` is no file of the project", header.file));
    for name in header.defines.keys() {
        require(is_word(name, "_"), "defines", format!("`{name}` is no name of a macro"));
    }
    for folder in &header.include {
        let message = format!("`{folder}` is no folder of the project");
        require(is_folder_inside(folder), "include", message);
    }
    if let Some(sysroot) = &header.sysroot {
        let message = format!("`{sysroot}` is no folder of the project");
        require(is_folder_inside(sysroot), "sysroot", message);
    }
    if is_word(&header.target, "_-.") {
        problems
            .extend(triple_fault(&header.target).map(|fault| {
                place.at("target").error("bad-value", fault.message).hint(fault.hint)
            }));
    }
    for flag in header.flags.iter().filter(|flag| !ABI_FLAGS.contains(&flag.as_str())) {
        let message = format!("`{flag}` is no flag that changes where members lie");
        let known = format!("the flags are {}", ABI_FLAGS.join(", "));
        problems.push(place.at("flags").error("bad-value", message).hint(known));
    }
    problems
}

/// Whether a path leads to a file below the folder that it is relative to.
pub(super) fn is_inside(path: &str) -> bool {
    let parts = || Path::new(path).components();
    let is_part = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let names_a_file = parts().any(|part| matches!(part, Component::Normal(_)));
    names_a_file && !path.contains('\0') && !path.starts_with('-') && parts().all(is_part)
}

/// The same of a folder, which may be the project's own.
fn is_folder_inside(path: &str) -> bool {
    path == "." || is_inside(path)
}
