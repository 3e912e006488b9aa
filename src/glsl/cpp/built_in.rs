//! What the program's own header offers of GLSL, and names that C++ or the program keep for themselves.

/// Built-in functions of `header.hpp` with the number of arguments each takes.
const FUNCTIONS: [(&str, usize); 54] = [
    ("abs", 1),
    ("all", 1),
    ("any", 1),
    ("atomicAdd", 2),
    ("atomicAnd", 2),
    ("atomicCompSwap", 3),
    ("atomicExchange", 2),
    ("atomicMax", 2),
    ("atomicMin", 2),
    ("atomicOr", 2),
    ("atomicXor", 2),
    ("bitCount", 1),
    ("bitfieldExtract", 3),
    ("bitfieldInsert", 4),
    ("bitfieldReverse", 1),
    ("ceil", 1),
    ("clamp", 3),
    ("cross", 2),
    ("distance", 2),
    ("dot", 2),
    ("equal", 2),
    ("findLSB", 1),
    ("findMSB", 1),
    ("floatBitsToInt", 1),
    ("floatBitsToUint", 1),
    ("floor", 1),
    ("fma", 3),
    ("fract", 1),
    ("greaterThan", 2),
    ("greaterThanEqual", 2),
    ("groupMemoryBarrier", 0),
    ("intBitsToFloat", 1),
    ("inversesqrt", 1),
    ("isinf", 1),
    ("isnan", 1),
    ("length", 1),
    ("lessThan", 2),
    ("lessThanEqual", 2),
    ("max", 2),
    ("memoryBarrier", 0),
    ("memoryBarrierBuffer", 0),
    ("memoryBarrierShared", 0),
    ("min", 2),
    ("mix", 3),
    ("mod", 2),
    ("not", 1),
    ("notEqual", 2),
    ("round", 1),
    ("roundEven", 1),
    ("sign", 1),
    ("sqrt", 1),
    ("step", 2),
    ("trunc", 1),
    ("uintBitsToFloat", 1),
];

/// Built-in variables of the header and the program.
const VARIABLES: [&str; 6] = [
    "gl_NumWorkGroups",
    "gl_WorkGroupID",
    "gl_WorkGroupSize",
    "gl_LocalInvocationID",
    "gl_GlobalInvocationID",
    "gl_LocalInvocationIndex",
];

/// Types of the header by their names in GLSL.
const TYPES: [(&str, &str); 16] = [
    ("bool", "bool"),
    ("int", "Int"),
    ("uint", "Uint"),
    ("float", "Float"),
    ("vec2", "vec2"),
    ("vec3", "vec3"),
    ("vec4", "vec4"),
    ("ivec2", "ivec2"),
    ("ivec3", "ivec3"),
    ("ivec4", "ivec4"),
    ("uvec2", "uvec2"),
    ("uvec3", "uvec3"),
    ("uvec4", "uvec4"),
    ("bvec2", "bvec2"),
    ("bvec3", "bvec3"),
    ("bvec4", "bvec4"),
];

/// Words that a name of the kernel cannot be in the program: C++ keywords that GLSL does not reserve, and what the
/// program itself writes beside the kernel's own text.
const TAKEN: [&str; 87] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "assert",
    "auto",
    "bitand",
    "bitor",
    "catch",
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
    "Parameter",
    "Invocation",
    "Job",
    "Range",
    "Vec",
];

/// How names begin that the C++ library defines as macros, or the program itself uses.
const TAKEN_PREFIXES: [&str; 16] = [
    "EXIT_",
    "FOPEN_",
    "FP_",
    "HUGE_",
    "INT",
    "INVOCATIONS",
    "MATH_",
    "MB_",
    "M_",
    "PTRDIFF_",
    "RAND_",
    "SEEK_",
    "SIZE_",
    "UINT",
    "VKCERT_",
    "WCHAR_",
];

/// Macros of the C++ library by themselves.
const MACROS: [&str; 7] = ["BUFSIZ", "EOF", "INFINITY", "NAN", "NULL", "linux", "unix"];

/// Whether the header has a built-in function that takes so many arguments.
pub fn has_function(name: &str, arguments: usize) -> bool {
    FUNCTIONS.iter().any(|(known, count)| *known == name && *count == arguments)
}

/// A built-in function in the program's spelling.
pub fn function_name(name: &str) -> &str {
    if name == "not" { "not_" } else { name }
}

/// Built-in functions that change memory.
pub fn is_atomic(name: &str) -> bool {
    name.starts_with("atomic") || name.starts_with("image")
}

pub fn has_variable(name: &str) -> bool {
    VARIABLES.contains(&name)
}

/// The header's name of a built-in type.
pub fn type_name(name: &str) -> Option<&'static str> {
    TYPES.iter().find(|(known, _)| *known == name).map(|(_, made)| *made)
}

/// A function of the kernel as the program spells it: beside a built-in function of its name C++ would look at both.
pub fn spelled_function(name: &str) -> String {
    let known = FUNCTIONS.iter().any(|(known, _)| *known == name);
    if known { format!("{name}_") } else { spelled(name) }
}

/// A name of the kernel as the program spells it.
pub fn spelled(name: &str) -> String {
    let begins = TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if TAKEN.contains(&name) || MACROS.contains(&name) || begins { format!("{name}_") } else { name.to_owned() }
}
