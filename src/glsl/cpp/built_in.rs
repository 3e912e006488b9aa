//! What the program's own header offers of GLSL, and names that C++ or the program keep for
//! themselves.

use super::built_in_tables::{
    FUNCTION_ARITIES, SCALAR_TYPES, SUBGROUP_OPERATIONS, TAKEN_NAMES, TYPE_FAMILIES,
    VARIABLE_NAMES, WRITTEN_ARGUMENTS,
};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// A vector or matrix of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Composite {
    Vector { element: &'static str, size: u32 },
    Matrix { element: &'static str, columns: u32, rows: u32 },
}

/// The size of a vector or of one side of a matrix: one digit.
fn parse_size(text: &str) -> Option<u32> {
    text.parse().ok().filter(|size| (2..=4).contains(size) && text.len() == 1)
}

/// The prefix of vectors that the header names as GLSL does.
fn short_prefix(element: &str) -> Option<&'static str> {
    match element {
        "Float" => Some(""),
        "Int" => Some("i"),
        "Uint" => Some("u"),
        "bool" => Some("b"),
        _ => None,
    }
}

impl Composite {
    /// By its name in GLSL.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        let family_length = name.find("vec").or_else(|| name.find("mat"))?;
        let (family_prefix, size_text) = name.split_at(family_length);
        let (_, element) =
            TYPE_FAMILIES.iter().find(|(known_family, _)| *known_family == family_prefix)?;
        if let Some(size) = size_text.strip_prefix("vec") {
            return Some(Self::Vector { element, size: parse_size(size)? });
        }
        let matrix_sizes = size_text.strip_prefix("mat")?;
        let (columns, rows) = matrix_sizes.split_once('x').unwrap_or((matrix_sizes, matrix_sizes));
        let is_real = matches!(*element, "Half" | "Float" | "Double");
        is_real.then_some(Self::Matrix {
            element,
            columns: parse_size(columns)?,
            rows: parse_size(rows)?,
        })
    }

    /// As the program spells it.
    pub(super) fn cpp_type(self) -> String {
        match self {
            Self::Vector { element, size } if short_prefix(element).is_some() => {
                format!("{}vec{size}", short_prefix(element).unwrap_or_default())
            }
            Self::Matrix { element: "Float", columns, rows } if columns == rows => {
                format!("mat{columns}")
            }
            Self::Matrix { element: "Float", columns, rows } => format!("mat{columns}x{rows}"),
            Self::Vector { element, size } => format!("Vec<{element}, {size}>"),
            Self::Matrix { element, columns, rows } => format!("Mat<{element}, {columns}, {rows}>"),
        }
    }
}

/// Whether the header has a built-in function that takes so many arguments.
pub(super) fn has_function(name: &str, argument_count: usize) -> bool {
    FUNCTION_ARITIES.iter().any(|(known_name, least_count, greatest_count)| {
        *known_name == name && (*least_count..=*greatest_count).contains(&argument_count)
    })
}

/// The arguments that a built-in function writes.
pub(super) fn written_arguments(name: &str) -> &'static [usize] {
    WRITTEN_ARGUMENTS
        .iter()
        .find(|(known_name, _)| *known_name == name)
        .map_or(&[], |(_, written_indices)| written_indices)
}

/// A built-in function in the program's spelling.
pub(super) fn function_name(name: &str) -> &str {
    if name == "not" { "not_" } else { name }
}

/// Built-in functions that change memory.
pub(super) fn is_atomic(name: &str) -> bool {
    name.starts_with("atomic") || name.starts_with("image")
}

/// Whether invocations wait for others in a built-in function.
pub(super) fn is_collective(name: &str) -> bool {
    matches!(name, "barrier" | "controlBarrier" | "subgroupBarrier")
        || SUBGROUP_OPERATIONS.iter().any(|(operation, _)| *operation == name)
}

/// Whether the header has a subgroup operation that takes so many arguments.
pub(super) fn has_operation(name: &str, argument_count: usize) -> bool {
    SUBGROUP_OPERATIONS.contains(&(name, argument_count))
}

/// Subgroup operations without a value: invocations run one after the other, so that memory is
/// always in order.
pub(super) fn is_void_operation(name: &str) -> bool {
    name.starts_with("subgroupMemoryBarrier")
}

/// The type of a built-in variable.
pub(super) fn type_of_variable(name: &str) -> Option<&'static str> {
    let is_known = has_variable(name);
    is_known.then(|| match name {
        "gl_LocalInvocationIndex"
        | "gl_SubgroupSize"
        | "gl_SubgroupInvocationID"
        | "gl_SubgroupID"
        | "gl_NumSubgroups" => "uint",
        _ if name.starts_with("gl_Subgroup") => "uvec4",
        _ => "uvec3",
    })
}

/// Whether the program has a class of numbers of this name.
pub(super) fn is_number_class(name: &str) -> bool {
    name != "bool" && SCALAR_TYPES.iter().any(|(_, number_class)| *number_class == name)
}

/// Whether a type is that of one number or Boolean.
pub(super) fn is_scalar(name: &str) -> bool {
    SCALAR_TYPES.iter().any(|(known_name, _)| *known_name == name)
}

pub(super) fn has_variable(name: &str) -> bool {
    VARIABLE_NAMES.contains(&name)
}

/// The header's name of a built-in type.
pub(super) fn type_name(name: &str) -> Option<String> {
    let scalar_type = SCALAR_TYPES
        .iter()
        .find(|(known_name, _)| *known_name == name)
        .map(|(_, spelled_type)| (*spelled_type).to_owned());
    scalar_type.or_else(|| Composite::from_name(name).map(Composite::cpp_type))
}

/// A function of the kernel as the program spells it: beside a function of the header C++ would
/// look at both, because their arguments are types of the header.
pub(super) fn spelled_function(name: &str) -> String {
    let spelled_name = spelled_name(name);
    let is_like_header = header_names().contains(name.trim_end_matches('_'));
    if spelled_name == name && is_like_header { format!("{name}_") } else { spelled_name }
}

/// Every word of the header.
fn header_names() -> &'static BTreeSet<&'static str> {
    static NAMES: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        include_str!("header.hpp").split(|character| !is_word_character(character)).collect()
    })
}

fn is_word_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// A name of the kernel as the program spells it: no keyword of C++, nothing that the program
/// itself writes, and no name without small letters, which may be a macro of the C++ library.
/// Different names stay different.
pub(super) fn spelled_name(name: &str) -> String {
    let plain_name = name.trim_end_matches('_');
    let is_macro =
        name.len() > 1 && !name.contains(|character: char| character.is_ascii_lowercase());
    let is_reserved = name.starts_with('_') || name.starts_with("VKCERT_");
    let is_like_kept = [
        "kept_",
        "given_",
        "private_",
        "initial_",
        "at_",
        "gap_",
        "call_",
        "together_",
        "result_",
        "own_",
        "under_",
    ];
    let is_program_prefix = is_like_kept.iter().any(|start| name.starts_with(start));
    match (is_reserved, is_macro || is_program_prefix || TAKEN_NAMES.contains(&plain_name)) {
        (true, _) => format!("under{name}_"),
        (false, true) => format!("{name}_"),
        (false, false) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_cpp_or_the_program_keep_are_spelled_otherwise() {
        for name in
            ["new", "NAN", "INT_MAX", "M_PI", "EOF", "linux", "Vec", "raw", "kept_x", "_X", "TILE"]
        {
            assert_ne!(spelled_name(name), name);
        }
        for name in ["x", "N", "value", "tile_size", "lowHigh", "new_x"] {
            assert_eq!(spelled_name(name), name);
        }
        let different: BTreeSet<String> =
            ["new", "new_", "new__", "N_", "TILE", "TILE_"].map(spelled_name).into();
        assert_eq!(different.len(), 6);
    }

    #[test]
    fn every_listed_function_stands_in_the_header() {
        for (name, ..) in FUNCTION_ARITIES {
            assert!(header_names().contains(function_name(name)), "{name}");
        }
    }

    #[test]
    fn types_are_spelled_as_the_header_has_them() {
        let spelled = |name| type_name(name).unwrap_or_default();
        assert_eq!(
            [
                "vec3", "uvec2", "i64vec4", "mat3", "dmat4x2", "int8_t", "f16vec2", "vec5",
                "imat2", "mat"
            ]
            .map(spelled),
            [
                "vec3",
                "uvec2",
                "Vec<Int64, 4>",
                "mat3",
                "Mat<Double, 4, 2>",
                "Int8",
                "Vec<Half, 2>",
                "",
                "",
                ""
            ]
        );
    }
}
