//! Types of values by name: what indexing, components, operators and built-in functions make of
//! them.
//!
//! Knows: the names of GLSL's scalars, vectors and matrices, the types of its built-in functions
//! and variables (GLSL 4.60, chapters 4, 5, 7 and 8), and the explicit sizes of the extensions.
//! Promises: a type is told only where it is certain, but that `isnan` and `isinf` of what is not
//! known count as one Boolean: a marker that the compiler refuses leaves an obligation, a missing
//! one would leave a gap.
//! Does not cover: structures and functions of the text (`names`).

use std::sync::LazyLock;

/// The type of a value: a type name and the number of array dimensions around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ValueType<'a> {
    pub name: &'a str,
    pub dimensions: usize,
}

impl<'a> ValueType<'a> {
    pub(crate) fn scalar(name: &'a str) -> Self {
        Self { name, dimensions: 0 }
    }

    /// One Boolean value.
    pub(crate) fn is_boolean(self) -> bool {
        self.dimensions == 0 && self.name == "bool"
    }

    fn type_shape(self) -> Option<TypeShape> {
        if self.dimensions > 0 { None } else { TypeShape::from_name(self.name) }
    }

    /// Whether a value of this type may be passed where one of `other` is taken.
    pub(crate) fn converts_to(self, target_type: Self) -> bool {
        if self.dimensions != target_type.dimensions {
            return false;
        }
        match (TypeShape::from_name(self.name), TypeShape::from_name(target_type.name)) {
            (Some(own_shape), Some(target_shape)) => {
                let same_shape = (own_shape.columns, own_shape.rows)
                    == (target_shape.columns, target_shape.rows);
                let is_boolean = ElementKind::Boolean == own_shape.element
                    || ElementKind::Boolean == target_shape.element;
                let element_converts = if is_boolean {
                    own_shape.element == target_shape.element
                } else {
                    own_shape.element <= target_shape.element
                };
                same_shape && element_converts
            }
            (None, None) => self.name == target_type.name,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// Kind of the components of a scalar, vector or matrix, in the order in which operands are
/// converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ElementKind {
    Boolean,
    Int8,
    Uint8,
    Int16,
    Uint16,
    Int,
    Uint,
    Int64,
    Uint64,
    Half,
    Float,
    Double,
}

/// Element, name of the scalar, and the prefixes of vectors and matrices of it.
const ELEMENT_NAMES: [(ElementKind, &[&str], &[&str]); 12] = [
    (ElementKind::Boolean, &["bool"], &["b"]),
    (ElementKind::Int8, &["int8_t"], &["i8"]),
    (ElementKind::Uint8, &["uint8_t"], &["u8"]),
    (ElementKind::Int16, &["int16_t"], &["i16"]),
    (ElementKind::Uint16, &["uint16_t"], &["u16"]),
    (ElementKind::Int, &["int", "int32_t"], &["i", "i32"]),
    (ElementKind::Uint, &["uint", "uint32_t"], &["u", "u32"]),
    (ElementKind::Int64, &["int64_t"], &["i64"]),
    (ElementKind::Uint64, &["uint64_t"], &["u64"]),
    (ElementKind::Half, &["float16_t"], &["f16"]),
    (ElementKind::Float, &["float", "float32_t"], &["", "f32"]),
    (ElementKind::Double, &["double", "float64_t"], &["d", "f64"]),
];

/// A scalar (one column and row), a vector (one column) or a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TypeShape {
    element: ElementKind,
    columns: usize,
    rows: usize,
}

/// The names of the elements' shapes, in the order of `ELEMENT_NAMES`, by columns and rows.
static SHAPE_NAMES: LazyLock<[[[String; 4]; 4]; 12]> = LazyLock::new(|| {
    ELEMENT_NAMES.map(|(_, scalars, prefixes)| {
        std::array::from_fn(|column| {
            std::array::from_fn(|row| match (column + 1, row + 1) {
                (1, 1) => scalars[0].to_owned(),
                (1, rows) => format!("{}vec{rows}", prefixes[0]),
                (columns, rows) => format!("{}mat{columns}x{rows}", prefixes[0]),
            })
        })
    })
});

/// The components of vectors and matrices with this prefix of their names.
fn element_of_prefix(prefix: &str) -> Option<ElementKind> {
    let row = ELEMENT_NAMES.iter().find(|(_, _, prefixes)| prefixes.contains(&prefix))?;
    Some(row.0)
}

fn parse_size(digit: &str) -> Option<usize> {
    digit.parse().ok().filter(|size| (1..=4).contains(size))
}

impl TypeShape {
    fn from_name(name: &str) -> Option<Self> {
        if let Some((element, ..)) =
            ELEMENT_NAMES.iter().find(|(_, scalars, _)| scalars.contains(&name))
        {
            return Some(Self { element: *element, columns: 1, rows: 1 });
        }
        if let Some((prefix, rows)) = name.split_once("vec") {
            return Some(Self {
                element: element_of_prefix(prefix)?,
                columns: 1,
                rows: parse_size(rows)?,
            });
        }
        let (prefix, sizes) = name.split_once("mat")?;
        let (columns, rows) = sizes.split_once('x').unwrap_or((sizes, sizes));
        Some(Self {
            element: element_of_prefix(prefix)?,
            columns: parse_size(columns)?,
            rows: parse_size(rows)?,
        })
    }

    fn scalar(element: ElementKind) -> Self {
        Self { element, columns: 1, rows: 1 }
    }

    fn is_scalar(self) -> bool {
        self.columns == 1 && self.rows == 1
    }

    fn value_type(self) -> ValueType<'static> {
        let element_row = ELEMENT_NAMES
            .iter()
            .position(|row| row.0 == self.element)
            .expect("every element has a row");
        ValueType::scalar(&SHAPE_NAMES[element_row][self.columns - 1][self.rows - 1])
    }

    /// Of an operation by components, in which a scalar stands for every component.
    fn joined_with(self, other_shape: Self) -> Self {
        let element = self.element.max(other_shape.element);
        let wider_shape = if self.is_scalar() { other_shape } else { self };
        Self { element, ..wider_shape }
    }

    /// Of `*` between matrices and vectors.
    fn product_with(self, right_shape: Self) -> Self {
        let element = self.element.max(right_shape.element);
        match (self.columns > 1, right_shape.columns > 1) {
            (true, true) => Self { element, columns: right_shape.columns, rows: self.rows },
            (true, false) if !right_shape.is_scalar() => {
                Self { element, columns: 1, rows: self.rows }
            }
            (false, true) if !self.is_scalar() => {
                Self { element, columns: 1, rows: right_shape.columns }
            }
            (true, false) | (false, true) | (false, false) => self.joined_with(right_shape),
        }
    }
}

/// The type of a literal.
pub(crate) fn literal_type(literal_text: &str) -> ValueType<'static> {
    let lower_text = literal_text.to_ascii_lowercase();
    let is_hexadecimal = lower_text.starts_with("0x");
    ValueType::scalar(match lower_text.as_str() {
        "true" | "false" => "bool",
        number if !is_hexadecimal && (number.contains(['.', 'e']) || number.ends_with('f')) => {
            match number {
                _ if number.ends_with("lf") => "double",
                _ if number.ends_with("hf") => "float16_t",
                _ => "float",
            }
        }
        integer if integer.ends_with("ul") => "uint64_t",
        integer if integer.ends_with("us") => "uint16_t",
        integer if integer.ends_with('l') => "int64_t",
        integer if integer.ends_with('s') => "int16_t",
        integer if integer.ends_with('u') => "uint",
        _ => "int",
    })
}

/// The type of a built-in variable of compute kernels.
pub(crate) fn built_in_variable_type(name: &str) -> Option<ValueType<'static>> {
    let name = match name {
        "gl_GlobalInvocationID"
        | "gl_LocalInvocationID"
        | "gl_WorkGroupID"
        | "gl_NumWorkGroups"
        | "gl_WorkGroupSize" => "uvec3",
        "gl_SubgroupEqMask" | "gl_SubgroupGeMask" | "gl_SubgroupGtMask" | "gl_SubgroupLeMask"
        | "gl_SubgroupLtMask" => "uvec4",
        "gl_LocalInvocationIndex"
        | "gl_NumSubgroups"
        | "gl_SubgroupID"
        | "gl_SubgroupSize"
        | "gl_SubgroupInvocationID" => "uint",
        _ => return None,
    };
    Some(ValueType::scalar(name))
}

/// Whether a binary operator gives one Boolean, whatever its operands are.
pub(crate) fn is_truth_operator(operator: &str) -> bool {
    ["&&", "||", "^^", "==", "!=", "<", ">", "<=", ">="].contains(&operator)
}

/// The type of any other binary operation.
pub(crate) fn arithmetic_type(
    operator: &str,
    left: ValueType,
    right: Option<ValueType>,
) -> Option<ValueType<'static>> {
    let left_shape = left.type_shape()?;
    if matches!(operator, "<<" | ">>") {
        return Some(left_shape.value_type());
    }
    let right_shape = right?.type_shape()?;
    Some(
        if operator == "*" {
            left_shape.product_with(right_shape)
        } else {
            left_shape.joined_with(right_shape)
        }
        .value_type(),
    )
}

/// The type of one element of an array, column of a matrix or component of a vector.
pub(crate) fn element_type(base: ValueType) -> Option<ValueType> {
    if base.dimensions > 0 {
        return Some(ValueType { dimensions: base.dimensions - 1, ..base });
    }
    let base_shape = TypeShape::from_name(base.name)?;
    let element_rows = if base_shape.columns > 1 { base_shape.rows } else { 1 };
    Some(TypeShape { columns: 1, rows: element_rows, ..base_shape }.value_type())
}

/// The type of a swizzle of a vector or scalar.
pub(crate) fn swizzle_type(base: ValueType, letters: &str) -> Option<ValueType<'static>> {
    let base_shape = base.type_shape().filter(|base_shape| base_shape.columns == 1)?;
    let is_swizzle = letters.chars().all(|letter| "xyzwrgbastpq".contains(letter));
    (is_swizzle && (1..=4).contains(&letters.len()))
        .then(|| TypeShape { rows: letters.len(), ..base_shape }.value_type())
}

/// The type of a call of a built-in function with arguments of these types.
pub(crate) fn built_in_call_type<'a>(
    name: &'a str,
    arguments: &[Option<ValueType<'a>>],
) -> Option<ValueType<'a>> {
    if let Some(result_name) = fixed_result(name) {
        return Some(ValueType::scalar(result_name));
    }
    if name.contains("sampler") {
        // A texture and a sampler become one.
        return Some(ValueType::scalar(name));
    }
    let first_type = *arguments.first()?;
    if matches!(name, "isnan" | "isinf")
        && first_type.and_then(|first_type| first_type.type_shape()).is_none()
    {
        return Some(ValueType::scalar("bool"));
    }
    let first_type = first_type?;
    if keeps_type(name) {
        return Some(first_type);
    }
    if let Some(result_type) = texel_result_type(name, first_type) {
        return Some(result_type);
    }
    let first_shape = first_type.type_shape()?;
    let with_element = |element| Some(TypeShape { element, ..first_shape }.value_type());
    match name {
        "isnan" | "isinf" | "lessThan" | "lessThanEqual" | "greaterThan" | "greaterThanEqual"
        | "equal" | "notEqual" | "not" => with_element(ElementKind::Boolean),
        "length" | "distance" | "dot" | "determinant" => {
            Some(TypeShape::scalar(first_shape.element).value_type())
        }
        "floatBitsToInt" | "bitCount" | "findLSB" | "findMSB" => with_element(ElementKind::Int),
        "floatBitsToUint" => with_element(ElementKind::Uint),
        "intBitsToFloat" | "uintBitsToFloat" => with_element(ElementKind::Float),
        "transpose" => Some(
            TypeShape { columns: first_shape.rows, rows: first_shape.columns, ..first_shape }
                .value_type(),
        ),
        "abs" | "sign" | "floor" | "trunc" | "round" | "roundEven" | "ceil" | "fract" | "sqrt"
        | "inversesqrt" | "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tan" | "asin"
        | "acos" | "sinh" | "cosh" | "tanh" | "asinh" | "acosh" | "atanh" | "radians"
        | "degrees" | "normalize" | "refract" | "matrixCompMult" | "inverse" | "ldexp"
        | "frexp" | "modf" | "bitfieldExtract" | "bitfieldInsert" | "bitfieldReverse" => {
            Some(first_shape.value_type())
        }
        "atan" | "pow" | "mod" | "min" | "max" | "clamp" | "step" | "smoothstep" | "fma"
        | "cross" | "reflect" | "faceforward" | "min3" | "max3" | "mid3" => {
            let argument_shapes = arguments
                .iter()
                .map(|argument| argument.and_then(|argument| argument.type_shape()));
            let argument_shapes: Vec<TypeShape> = argument_shapes.collect::<Option<_>>()?;
            argument_shapes.into_iter().reduce(TypeShape::joined_with).map(TypeShape::value_type)
        }
        _ if name.starts_with("atomic") => Some(first_type),
        _ => None,
    }
}

/// What a function gives of an image or texture, by the type of that.
fn texel_result_type(name: &str, image: ValueType) -> Option<ValueType<'static>> {
    let type_prefix = ["texture", "image", "sampler"]
        .iter()
        .find_map(|kind| image.name.split_once(kind))
        .map(|split_name| split_name.0)?;
    let component_shape = ELEMENT_NAMES
        .iter()
        .find(|(_, _, prefixes)| prefixes.contains(&type_prefix))
        .map(|element_row| TypeShape::scalar(element_row.0))?;
    let texel_shape = TypeShape { rows: 4, ..component_shape };
    let is_compared = image.name.ends_with("Shadow") && !name.contains("Gather");
    match name {
        _ if name.starts_with("imageAtomic") => Some(component_shape.value_type()),
        _ if name.starts_with("sparse") || name.contains("Size") || name.contains("Query") => None,
        _ if is_compared => Some(component_shape.value_type()),
        _ if name.starts_with("texture")
            || name.starts_with("texelFetch")
            || name == "imageLoad" =>
        {
            Some(texel_shape.value_type())
        }
        _ => None,
    }
}

/// Built-in functions whose result has the type of their first argument, whatever that is.
fn keeps_type(name: &str) -> bool {
    let is_subgroup_operation =
        name.starts_with("subgroup") && !name.contains("Ballot") && name != "subgroupPartitionNV";
    is_subgroup_operation || matches!(name, "mix" | "expectEXT" | "nonuniformEXT")
}

/// The result of built-in functions that have one result type alone.
fn fixed_result(name: &str) -> Option<&'static str> {
    Some(match name {
        "any"
        | "all"
        | "subgroupElect"
        | "subgroupAll"
        | "subgroupAny"
        | "subgroupAllEqual"
        | "subgroupInverseBallot"
        | "subgroupBallotBitExtract"
        | "anyInvocation"
        | "allInvocations"
        | "allInvocationsEqual"
        | "anyInvocationARB"
        | "allInvocationsARB"
        | "allInvocationsEqualARB"
        | "sparseTexelsResidentARB"
        | "rayQueryProceedEXT"
        | "rayQueryGetIntersectionFrontFaceEXT"
        | "rayQueryGetIntersectionCandidateAABBOpaqueEXT"
        | "isHelperInvocationEXT" => "bool",
        "subgroupBallot" | "subgroupPartitionNV" => "uvec4",
        "subgroupBallotBitCount"
        | "subgroupBallotInclusiveBitCount"
        | "subgroupBallotExclusiveBitCount"
        | "subgroupBallotFindLSB"
        | "subgroupBallotFindMSB"
        | "packUnorm2x16"
        | "packSnorm2x16"
        | "packUnorm4x8"
        | "packSnorm4x8"
        | "packHalf2x16" => "uint",
        "unpackUnorm2x16" | "unpackSnorm2x16" | "unpackHalf2x16" => "vec2",
        "unpackUnorm4x8" | "unpackSnorm4x8" => "vec4",
        "packDouble2x32" => "double",
        "unpackDouble2x32" => "uvec2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_follow_operators_components_and_functions() {
        let ty = ValueType::scalar;
        let product = |left: &'static str, right: &'static str| {
            arithmetic_type("*", ty(left), Some(ty(right)))
        };
        assert_eq!(product("mat3x2", "vec3"), Some(ty("vec2")));
        assert_eq!(product("vec2", "mat3x2"), Some(ty("vec3")));
        assert_eq!(product("int", "float"), Some(ty("float")));
        assert_eq!(product("float", "vec4"), Some(ty("vec4")));
        assert_eq!(product("mat2x3", "mat4x2"), Some(ty("mat4x3")));
        assert_eq!(arithmetic_type("+", ty("int"), None), None);
        assert_eq!(arithmetic_type("<<", ty("ivec2"), None), Some(ty("ivec2")));
        assert!(is_truth_operator("<=") && !is_truth_operator("<<"));
        assert_eq!(swizzle_type(ty("bvec3"), "y"), Some(ty("bool")));
        assert_eq!(swizzle_type(ty("bool"), "xx"), Some(ty("bvec2")));
        assert_eq!(element_type(ty("mat2x3")), Some(ty("vec3")));
        assert_eq!(element_type(ty("bvec2")), Some(ty("bool")));
        assert_eq!(built_in_call_type("isnan", &[Some(ty("float"))]), Some(ty("bool")));
        assert_eq!(built_in_call_type("isinf", &[Some(ty("dvec2"))]), Some(ty("bvec2")));
        assert_eq!(built_in_call_type("isnan", &[None]), Some(ty("bool")));
        assert_eq!(
            built_in_call_type("texture", &[Some(ty("usampler2DArray")), None]),
            Some(ty("uvec4"))
        );
        assert_eq!(
            built_in_call_type("texture", &[Some(ty("sampler2DShadow")), None]),
            Some(ty("float"))
        );
        assert_eq!(
            built_in_call_type("textureGather", &[Some(ty("sampler2DShadow")), None]),
            Some(ty("vec4"))
        );
        assert_eq!(
            built_in_call_type("imageLoad", &[Some(ty("i64image2D")), None]),
            Some(ty("i64vec4"))
        );
        assert_eq!(
            built_in_call_type("imageAtomicAdd", &[Some(ty("uimage2D")), None]),
            Some(ty("uint"))
        );
        assert_eq!(built_in_call_type("textureSize", &[Some(ty("sampler2D")), None]), None);
        assert_eq!(built_in_call_type("equal", &[Some(ty("ivec4")), None]), Some(ty("bvec4")));
        assert_eq!(
            built_in_call_type("clamp", &[Some(ty("vec2")), Some(ty("float")), Some(ty("float"))]),
            Some(ty("vec2"))
        );
        assert_eq!(literal_type("0xfeu"), ty("uint"));
        assert_eq!(literal_type("1e3"), ty("float"));
        assert_eq!(literal_type("2lf"), ty("double"));
        assert!(ty("ivec2").converts_to(ty("vec2")));
        assert!(!ty("bool").converts_to(ty("int")));
        assert!(!ty("float").converts_to(ty("int")));
    }
}
