//! What the program's own header offers of GLSL, and names that C++ or the program keep for
//! themselves.

use std::collections::BTreeSet;
use std::sync::OnceLock;

/// Built-in functions of `header.hpp` with the least and the greatest number of arguments each
/// takes.
const FUNCTIONS: [(&str, usize, usize); 122] = [
    ("abs", 1, 1),
    ("acos", 1, 1),
    ("acosh", 1, 1),
    ("all", 1, 1),
    ("any", 1, 1),
    ("asin", 1, 1),
    ("asinh", 1, 1),
    ("atan", 1, 2),
    ("atanh", 1, 1),
    ("atomicAdd", 2, 2),
    ("atomicAnd", 2, 2),
    ("atomicCompSwap", 3, 3),
    ("atomicExchange", 2, 2),
    ("atomicMax", 2, 2),
    ("atomicMin", 2, 2),
    ("atomicOr", 2, 2),
    ("atomicXor", 2, 2),
    ("bitCount", 1, 1),
    ("bitfieldExtract", 3, 3),
    ("bitfieldInsert", 4, 4),
    ("bitfieldReverse", 1, 1),
    ("ceil", 1, 1),
    ("clamp", 3, 3),
    ("cos", 1, 1),
    ("cosh", 1, 1),
    ("cross", 2, 2),
    ("degrees", 1, 1),
    ("determinant", 1, 1),
    ("distance", 2, 2),
    ("dot", 2, 2),
    ("doubleBitsToInt64", 1, 1),
    ("doubleBitsToUint64", 1, 1),
    ("equal", 2, 2),
    ("exp", 1, 1),
    ("exp2", 1, 1),
    ("faceforward", 3, 3),
    ("findLSB", 1, 1),
    ("findMSB", 1, 1),
    ("float16BitsToInt16", 1, 1),
    ("float16BitsToUint16", 1, 1),
    ("floatBitsToInt", 1, 1),
    ("floatBitsToUint", 1, 1),
    ("floor", 1, 1),
    ("fma", 3, 3),
    ("fract", 1, 1),
    ("frexp", 2, 2),
    ("greaterThan", 2, 2),
    ("greaterThanEqual", 2, 2),
    ("groupMemoryBarrier", 0, 0),
    ("imulExtended", 4, 4),
    ("int64BitsToDouble", 1, 1),
    ("int16BitsToFloat16", 1, 1),
    ("intBitsToFloat", 1, 1),
    ("inverse", 1, 1),
    ("inversesqrt", 1, 1),
    ("isinf", 1, 1),
    ("isnan", 1, 1),
    ("ldexp", 2, 2),
    ("length", 1, 1),
    ("lessThan", 2, 2),
    ("lessThanEqual", 2, 2),
    ("log", 1, 1),
    ("log2", 1, 1),
    ("matrixCompMult", 2, 2),
    ("max", 2, 2),
    ("memoryBarrier", 0, 0),
    ("memoryBarrierBuffer", 0, 0),
    ("memoryBarrierShared", 0, 0),
    ("min", 2, 2),
    ("mix", 3, 3),
    ("mod", 2, 2),
    ("modf", 2, 2),
    ("normalize", 1, 1),
    ("not", 1, 1),
    ("notEqual", 2, 2),
    ("outerProduct", 2, 2),
    ("pack16", 1, 1),
    ("pack32", 1, 1),
    ("pack64", 1, 1),
    ("packDouble2x32", 1, 1),
    ("packFloat2x16", 1, 1),
    ("packHalf2x16", 1, 1),
    ("packInt2x32", 1, 1),
    ("packSnorm2x16", 1, 1),
    ("packSnorm4x8", 1, 1),
    ("packUint2x32", 1, 1),
    ("packUnorm2x16", 1, 1),
    ("packUnorm4x8", 1, 1),
    ("pow", 2, 2),
    ("radians", 1, 1),
    ("reflect", 2, 2),
    ("refract", 3, 3),
    ("round", 1, 1),
    ("roundEven", 1, 1),
    ("sign", 1, 1),
    ("sin", 1, 1),
    ("sinh", 1, 1),
    ("smoothstep", 3, 3),
    ("sqrt", 1, 1),
    ("step", 2, 2),
    ("tan", 1, 1),
    ("tanh", 1, 1),
    ("transpose", 1, 1),
    ("trunc", 1, 1),
    ("uaddCarry", 3, 3),
    ("uint64BitsToDouble", 1, 1),
    ("uint16BitsToFloat16", 1, 1),
    ("uintBitsToFloat", 1, 1),
    ("umulExtended", 4, 4),
    ("unpack16", 1, 1),
    ("unpack32", 1, 1),
    ("unpack8", 1, 1),
    ("unpackDouble2x32", 1, 1),
    ("unpackFloat2x16", 1, 1),
    ("unpackHalf2x16", 1, 1),
    ("unpackInt2x32", 1, 1),
    ("unpackSnorm2x16", 1, 1),
    ("unpackSnorm4x8", 1, 1),
    ("unpackUint2x32", 1, 1),
    ("unpackUnorm2x16", 1, 1),
    ("unpackUnorm4x8", 1, 1),
    ("usubBorrow", 3, 3),
];

/// Built-in variables of the header and the program.
const VARIABLES: [&str; 15] = [
    "gl_NumWorkGroups",
    "gl_WorkGroupID",
    "gl_WorkGroupSize",
    "gl_LocalInvocationID",
    "gl_GlobalInvocationID",
    "gl_LocalInvocationIndex",
    "gl_SubgroupSize",
    "gl_SubgroupInvocationID",
    "gl_SubgroupID",
    "gl_NumSubgroups",
    "gl_SubgroupEqMask",
    "gl_SubgroupGeMask",
    "gl_SubgroupGtMask",
    "gl_SubgroupLeMask",
    "gl_SubgroupLtMask",
];

/// What the invocations of a subgroup do together, with the number of arguments.
const OPERATIONS: [(&str, usize); 56] = [
    ("subgroupAdd", 1),
    ("subgroupAll", 1),
    ("subgroupAllEqual", 1),
    ("subgroupAnd", 1),
    ("subgroupAny", 1),
    ("subgroupBallot", 1),
    ("subgroupBallotBitCount", 1),
    ("subgroupBallotBitExtract", 2),
    ("subgroupBallotExclusiveBitCount", 1),
    ("subgroupBallotFindLSB", 1),
    ("subgroupBallotFindMSB", 1),
    ("subgroupBallotInclusiveBitCount", 1),
    ("subgroupBroadcast", 2),
    ("subgroupBroadcastFirst", 1),
    ("subgroupClusteredAdd", 2),
    ("subgroupClusteredAnd", 2),
    ("subgroupClusteredMax", 2),
    ("subgroupClusteredMin", 2),
    ("subgroupClusteredMul", 2),
    ("subgroupClusteredOr", 2),
    ("subgroupClusteredXor", 2),
    ("subgroupElect", 0),
    ("subgroupExclusiveAdd", 1),
    ("subgroupExclusiveAnd", 1),
    ("subgroupExclusiveMax", 1),
    ("subgroupExclusiveMin", 1),
    ("subgroupExclusiveMul", 1),
    ("subgroupExclusiveOr", 1),
    ("subgroupExclusiveXor", 1),
    ("subgroupInclusiveAdd", 1),
    ("subgroupInclusiveAnd", 1),
    ("subgroupInclusiveMax", 1),
    ("subgroupInclusiveMin", 1),
    ("subgroupInclusiveMul", 1),
    ("subgroupInclusiveOr", 1),
    ("subgroupInclusiveXor", 1),
    ("subgroupInverseBallot", 1),
    ("subgroupMax", 1),
    ("subgroupMemoryBarrier", 0),
    ("subgroupMemoryBarrierBuffer", 0),
    ("subgroupMemoryBarrierImage", 0),
    ("subgroupMemoryBarrierShared", 0),
    ("subgroupMin", 1),
    ("subgroupMul", 1),
    ("subgroupOr", 1),
    ("subgroupQuadBroadcast", 2),
    ("subgroupQuadSwapDiagonal", 1),
    ("subgroupQuadSwapHorizontal", 1),
    ("subgroupQuadSwapVertical", 1),
    ("subgroupShuffle", 2),
    ("subgroupShuffleDown", 2),
    ("subgroupShuffleUp", 2),
    ("subgroupShuffleXor", 2),
    ("subgroupXor", 1),
    ("subgroupClusteredRotate", 3),
    ("subgroupRotate", 2),
];

/// Scalar types of the header by their names in GLSL.
const SCALARS: [(&str, &str); 16] = [
    ("bool", "bool"),
    ("int", "Int"),
    ("uint", "Uint"),
    ("float", "Float"),
    ("double", "Double"),
    ("int8_t", "Int8"),
    ("uint8_t", "Uint8"),
    ("int16_t", "Int16"),
    ("uint16_t", "Uint16"),
    ("int32_t", "Int"),
    ("uint32_t", "Uint"),
    ("int64_t", "Int64"),
    ("uint64_t", "Uint64"),
    ("float16_t", "Half"),
    ("float32_t", "Float"),
    ("float64_t", "Double"),
];

/// How the names of vectors and matrices begin, with what they are made of.
const FAMILIES: [(&str, &str); 16] = [
    ("", "Float"),
    ("i", "Int"),
    ("u", "Uint"),
    ("b", "bool"),
    ("d", "Double"),
    ("i8", "Int8"),
    ("u8", "Uint8"),
    ("i16", "Int16"),
    ("u16", "Uint16"),
    ("i32", "Int"),
    ("u32", "Uint"),
    ("i64", "Int64"),
    ("u64", "Uint64"),
    ("f16", "Half"),
    ("f32", "Float"),
    ("f64", "Double"),
];

/// Words that a name of the kernel cannot be in the program: C++ keywords that GLSL does not
/// reserve, and what the program itself writes beside the kernel's own text.
const TAKEN: [&str; 124] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "assert",
    "auto",
    "bitand",
    "bitor",
    "catch",
    "char8_t",
    "co_await",
    "co_return",
    "co_yield",
    "concept",
    "consteval",
    "constinit",
    "requires",
    "char",
    "char16_t",
    "char32_t",
    "compl",
    "const_cast",
    "constexpr",
    "decltype",
    "delete",
    "dynamic_cast",
    "errno",
    "explicit",
    "export",
    "friend",
    "mutable",
    "new",
    "noexcept",
    "not",
    "not_",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "register",
    "reinterpret_cast",
    "signed",
    "static_assert",
    "static_cast",
    "thread_local",
    "throw",
    "try",
    "typeid",
    "typename",
    "virtual",
    "wchar_t",
    "xor",
    "xor_eq",
    "main",
    "std",
    "stdin",
    "stdout",
    "stderr",
    "vkcert",
    "kernel",
    "raw",
    "swizzle",
    "swizzled",
    "stop",
    "load",
    "enter",
    "self",
    "workgroup",
    "dispatch",
    "invocations",
    "local_x",
    "local_y",
    "local_z",
    "Presence",
    "is_here",
    "goes_to",
    "ends",
    "come_back",
    "change_over",
    "nobody_is_here",
    "meet",
    "Int",
    "Uint",
    "Float",
    "Array",
    "Member",
    "Elements",
    "gathered",
    "Slot",
    "Zero",
    "handed",
    "zero",
    "first_of",
    "subgroup_size",
    "Copied",
    "Copies",
    "Copy",
    "copied",
    "copying",
    "Parameter",
    "Invocation",
    "Job",
    "Range",
    "Vec",
    "label",
    "Gap",
    "Mat",
    "Real",
    "Integer",
    "Half",
    "half",
    "Double",
    "Int8",
    "Uint8",
    "Int16",
    "Uint16",
    "Int64",
    "Uint64",
    "invocation_of",
    "linux",
    "unix",
];

/// Arguments of built-in functions that are written, by index.
const WRITTEN: [(&str, &[usize]); 6] = [
    ("frexp", &[1]),
    ("modf", &[1]),
    ("uaddCarry", &[2]),
    ("usubBorrow", &[2]),
    ("umulExtended", &[2, 3]),
    ("imulExtended", &[2, 3]),
];

/// A vector or matrix of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Composite {
    Vector { element: &'static str, size: u32 },
    Matrix { element: &'static str, columns: u32, rows: u32 },
}

impl Composite {
    /// By its name in GLSL.
    pub(super) fn of(name: &str) -> Option<Self> {
        let at = name.find("vec").or_else(|| name.find("mat"))?;
        let (family, rest) = name.split_at(at);
        let (_, element) = FAMILIES.iter().find(|(known, _)| *known == family)?;
        let digit = |text: &str| {
            text.parse::<u32>().ok().filter(|size| (2..=4).contains(size) && text.len() == 1)
        };
        if let Some(size) = rest.strip_prefix("vec") {
            return Some(Self::Vector { element, size: digit(size)? });
        }
        let sizes = rest.strip_prefix("mat")?;
        let (columns, rows) = sizes.split_once('x').unwrap_or((sizes, sizes));
        let is_real = matches!(*element, "Half" | "Float" | "Double");
        is_real.then_some(Self::Matrix { element, columns: digit(columns)?, rows: digit(rows)? })
    }

    /// As the program spells it.
    pub(super) fn spelled(self) -> String {
        let short = |element: &str| match element {
            "Float" => Some(""),
            "Int" => Some("i"),
            "Uint" => Some("u"),
            "bool" => Some("b"),
            _ => None,
        };
        match self {
            Self::Vector { element, size } if short(element).is_some() => {
                format!("{}vec{size}", short(element).unwrap_or_default())
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
pub(super) fn has_function(name: &str, arguments: usize) -> bool {
    FUNCTIONS
        .iter()
        .any(|(known, least, most)| *known == name && (*least..=*most).contains(&arguments))
}

/// The arguments that a built-in function writes.
pub(super) fn written_arguments(name: &str) -> &'static [usize] {
    WRITTEN.iter().find(|(known, _)| *known == name).map_or(&[], |(_, written)| written)
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
        || OPERATIONS.iter().any(|(operation, _)| *operation == name)
}

/// Whether the header has a subgroup operation that takes so many arguments.
pub(super) fn has_operation(name: &str, arguments: usize) -> bool {
    OPERATIONS.contains(&(name, arguments))
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
    name != "bool" && SCALARS.iter().any(|(_, class)| *class == name)
}

/// Whether a type is that of one number or Boolean.
pub(super) fn is_scalar(name: &str) -> bool {
    SCALARS.iter().any(|(known, _)| *known == name)
}

pub(super) fn has_variable(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// The header's name of a built-in type.
pub(super) fn type_name(name: &str) -> Option<String> {
    let scalar =
        SCALARS.iter().find(|(known, _)| *known == name).map(|(_, made)| (*made).to_owned());
    scalar.or_else(|| Composite::of(name).map(Composite::spelled))
}

/// A function of the kernel as the program spells it: beside a function of the header C++ would
/// look at both, because their arguments are types of the header.
pub(super) fn spelled_function(name: &str) -> String {
    let spelled = spelled(name);
    let is_like_header = header_names().contains(name.trim_end_matches('_'));
    if spelled == name && is_like_header { format!("{name}_") } else { spelled }
}

/// Every word of the header.
fn header_names() -> &'static BTreeSet<&'static str> {
    static NAMES: OnceLock<BTreeSet<&'static str>> = OnceLock::new();
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    NAMES
        .get_or_init(|| include_str!("header.hpp").split(|character| !is_word(character)).collect())
}

/// A name of the kernel as the program spells it: no keyword of C++, nothing that the program
/// itself writes, and no name without small letters, which may be a macro of the C++ library.
/// Different names stay different.
pub(super) fn spelled(name: &str) -> String {
    let plain = name.trim_end_matches('_');
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
    let is_own = is_like_kept.iter().any(|start| name.starts_with(start));
    match (is_reserved, is_macro || is_own || TAKEN.contains(&plain)) {
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
            assert_ne!(spelled(name), name);
        }
        for name in ["x", "N", "value", "tile_size", "lowHigh", "new_x"] {
            assert_eq!(spelled(name), name);
        }
        let different: BTreeSet<String> =
            ["new", "new_", "new__", "N_", "TILE", "TILE_"].map(spelled).into();
        assert_eq!(different.len(), 6);
    }

    #[test]
    fn every_listed_function_stands_in_the_header() {
        for (name, ..) in FUNCTIONS {
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
