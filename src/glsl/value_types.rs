//! Types of values by name: what indexing, components, operators and built-in functions make of
//! them.
//!
//! Knows: the names of GLSL's scalars, vectors and matrices, the types of its built-in functions
//! and variables (GLSL 4.60, chapters 4, 5, 7 and 8), and the explicit sizes of the extensions.
//! Promises: a type is told only where it is certain, but that `isnan` and `isinf` of what is not
//! known count as one Boolean: a marker that the compiler refuses leaves an obligation, a missing
//! one would leave a gap.
//! Does not cover: structures and functions of the text (`names`).

/// The type of a value: a type name and the number of array dimensions around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ValueType {
    pub name: String,
    pub dimensions: usize,
}

impl ValueType {
    pub(crate) fn scalar(name: &str) -> Self {
        Self { name: name.to_owned(), dimensions: 0 }
    }

    /// One Boolean value.
    pub(crate) fn is_boolean(&self) -> bool {
        self.dimensions == 0 && self.name == "bool"
    }

    fn form(&self) -> Option<Form> {
        if self.dimensions > 0 { None } else { Form::of(&self.name) }
    }

    /// Whether a value of this type may be passed where one of `other` is taken.
    pub(crate) fn converts_to(&self, other: &Self) -> bool {
        if self.dimensions != other.dimensions {
            return false;
        }
        match (Form::of(&self.name), Form::of(&other.name)) {
            (Some(given), Some(taken)) => {
                let same_shape = (given.columns, given.rows) == (taken.columns, taken.rows);
                let is_boolean =
                    Element::Boolean == given.element || Element::Boolean == taken.element;
                let widens = if is_boolean {
                    given.element == taken.element
                } else {
                    given.element <= taken.element
                };
                same_shape && widens
            }
            (None, None) => self.name == other.name,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

/// What a scalar, vector or matrix is made of, in the order in which operands are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
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
const ELEMENTS: [(Element, &[&str], &[&str]); 12] = [
    (Element::Boolean, &["bool"], &["b"]),
    (Element::Int8, &["int8_t"], &["i8"]),
    (Element::Uint8, &["uint8_t"], &["u8"]),
    (Element::Int16, &["int16_t"], &["i16"]),
    (Element::Uint16, &["uint16_t"], &["u16"]),
    (Element::Int, &["int", "int32_t"], &["i", "i32"]),
    (Element::Uint, &["uint", "uint32_t"], &["u", "u32"]),
    (Element::Int64, &["int64_t"], &["i64"]),
    (Element::Uint64, &["uint64_t"], &["u64"]),
    (Element::Half, &["float16_t"], &["f16"]),
    (Element::Float, &["float", "float32_t"], &["", "f32"]),
    (Element::Double, &["double", "float64_t"], &["d", "f64"]),
];

/// A scalar (one column and row), a vector (one column) or a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Form {
    element: Element,
    columns: usize,
    rows: usize,
}

impl Form {
    fn of(name: &str) -> Option<Self> {
        if let Some((element, ..)) = ELEMENTS.iter().find(|(_, scalars, _)| scalars.contains(&name))
        {
            return Some(Self { element: *element, columns: 1, rows: 1 });
        }
        let by_prefix = |prefix: &str| {
            ELEMENTS.iter().find(|(_, _, prefixes)| prefixes.contains(&prefix)).map(|row| row.0)
        };
        let size = |digit: &str| digit.parse().ok().filter(|size| (1..=4).contains(size));
        if let Some((prefix, rows)) = name.split_once("vec") {
            return Some(Self { element: by_prefix(prefix)?, columns: 1, rows: size(rows)? });
        }
        let (prefix, sizes) = name.split_once("mat")?;
        let (columns, rows) = sizes.split_once('x').unwrap_or((sizes, sizes));
        Some(Self { element: by_prefix(prefix)?, columns: size(columns)?, rows: size(rows)? })
    }

    fn scalar(element: Element) -> Self {
        Self { element, columns: 1, rows: 1 }
    }

    fn is_scalar(self) -> bool {
        self.columns == 1 && self.rows == 1
    }

    fn value_type(self) -> ValueType {
        let row =
            ELEMENTS.iter().find(|row| row.0 == self.element).expect("every element has a row");
        ValueType::scalar(&match (self.columns, self.rows) {
            (1, 1) => row.1[0].to_owned(),
            (1, rows) => format!("{}vec{rows}", row.2[0]),
            (columns, rows) => format!("{}mat{columns}x{rows}", row.2[0]),
        })
    }

    /// Of an operation by components, in which a scalar stands for every component.
    fn joined(self, other: Self) -> Self {
        let element = self.element.max(other.element);
        let shape = if self.is_scalar() { other } else { self };
        Self { element, ..shape }
    }

    /// Of `*` between matrices and vectors.
    fn product(self, other: Self) -> Self {
        let element = self.element.max(other.element);
        match (self.columns > 1, other.columns > 1) {
            (true, true) => Self { element, columns: other.columns, rows: self.rows },
            (true, false) if !other.is_scalar() => Self { element, columns: 1, rows: self.rows },
            (false, true) if !self.is_scalar() => Self { element, columns: 1, rows: other.columns },
            (true, false) | (false, true) | (false, false) => self.joined(other),
        }
    }
}

/// The type of a literal.
pub(crate) fn of_literal(text: &str) -> ValueType {
    let lower = text.to_ascii_lowercase();
    let hexadecimal = lower.starts_with("0x");
    ValueType::scalar(match lower.as_str() {
        "true" | "false" => "bool",
        text if !hexadecimal && (text.contains(['.', 'e']) || text.ends_with(['f'])) => {
            match text {
                text if text.ends_with("lf") => "double",
                text if text.ends_with("hf") => "float16_t",
                _ => "float",
            }
        }
        text if text.ends_with("ul") => "uint64_t",
        text if text.ends_with("us") => "uint16_t",
        text if text.ends_with('l') => "int64_t",
        text if text.ends_with('s') => "int16_t",
        text if text.ends_with('u') => "uint",
        _ => "int",
    })
}

/// The type of a built-in variable of compute kernels.
pub(crate) fn of_built_in(name: &str) -> Option<ValueType> {
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
pub(crate) fn of_arithmetic(
    operator: &str,
    left: &ValueType,
    right: Option<&ValueType>,
) -> Option<ValueType> {
    let left = left.form()?;
    if matches!(operator, "<<" | ">>") {
        return Some(left.value_type());
    }
    let right = right?.form()?;
    Some(if operator == "*" { left.product(right) } else { left.joined(right) }.value_type())
}

/// The type of one element of an array, column of a matrix or component of a vector.
pub(crate) fn of_element(base: &ValueType) -> Option<ValueType> {
    if base.dimensions > 0 {
        return Some(ValueType { name: base.name.clone(), dimensions: base.dimensions - 1 });
    }
    let form = Form::of(&base.name)?;
    let rows = if form.columns > 1 { form.rows } else { 1 };
    Some(Form { columns: 1, rows, ..form }.value_type())
}

/// The type of a swizzle of a vector or scalar.
pub(crate) fn of_swizzle(base: &ValueType, letters: &str) -> Option<ValueType> {
    let form = base.form().filter(|form| form.columns == 1)?;
    let is_swizzle = letters.chars().all(|letter| "xyzwrgbastpq".contains(letter));
    (is_swizzle && (1..=4).contains(&letters.len()))
        .then(|| Form { rows: letters.len(), ..form }.value_type())
}

/// The type of a call of a built-in function with arguments of these types.
pub(crate) fn of_call(name: &str, arguments: &[Option<ValueType>]) -> Option<ValueType> {
    if let Some(fixed) = fixed_result(name) {
        return Some(ValueType::scalar(fixed));
    }
    if name.contains("sampler") {
        // A texture and a sampler become one.
        return Some(ValueType::scalar(name));
    }
    let first = arguments.first()?.as_ref();
    if matches!(name, "isnan" | "isinf") && first.and_then(ValueType::form).is_none() {
        return Some(ValueType::scalar("bool"));
    }
    let first = first?;
    if keeps_type(name) {
        return Some(first.clone());
    }
    if let Some(texel) = of_texels(name, first) {
        return Some(texel);
    }
    let form = first.form()?;
    let of = |element| Some(Form { element, ..form }.value_type());
    match name {
        "isnan" | "isinf" | "lessThan" | "lessThanEqual" | "greaterThan" | "greaterThanEqual"
        | "equal" | "notEqual" | "not" => of(Element::Boolean),
        "length" | "distance" | "dot" | "determinant" => {
            Some(Form::scalar(form.element).value_type())
        }
        "floatBitsToInt" | "bitCount" | "findLSB" | "findMSB" => of(Element::Int),
        "floatBitsToUint" => of(Element::Uint),
        "intBitsToFloat" | "uintBitsToFloat" => of(Element::Float),
        "transpose" => Some(Form { columns: form.rows, rows: form.columns, ..form }.value_type()),
        "abs" | "sign" | "floor" | "trunc" | "round" | "roundEven" | "ceil" | "fract" | "sqrt"
        | "inversesqrt" | "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tan" | "asin"
        | "acos" | "sinh" | "cosh" | "tanh" | "asinh" | "acosh" | "atanh" | "radians"
        | "degrees" | "normalize" | "refract" | "matrixCompMult" | "inverse" | "ldexp"
        | "frexp" | "modf" | "bitfieldExtract" | "bitfieldInsert" | "bitfieldReverse" => {
            Some(form.value_type())
        }
        "atan" | "pow" | "mod" | "min" | "max" | "clamp" | "step" | "smoothstep" | "fma"
        | "cross" | "reflect" | "faceforward" | "min3" | "max3" | "mid3" => {
            let forms =
                arguments.iter().map(|argument| argument.as_ref().and_then(ValueType::form));
            let forms: Vec<Form> = forms.collect::<Option<_>>()?;
            forms.into_iter().reduce(Form::joined).map(Form::value_type)
        }
        _ if name.starts_with("atomic") => Some(first.clone()),
        _ => None,
    }
}

/// What a function gives of an image or texture, by the type of that.
fn of_texels(name: &str, image: &ValueType) -> Option<ValueType> {
    let prefix = ["texture", "image", "sampler"]
        .iter()
        .find_map(|kind| image.name.split_once(kind))
        .map(|cut| cut.0)?;
    let one = ELEMENTS
        .iter()
        .find(|(_, _, prefixes)| prefixes.contains(&prefix))
        .map(|row| Form::scalar(row.0))?;
    let four = Form { rows: 4, ..one };
    let is_compared = image.name.ends_with("Shadow") && !name.contains("Gather");
    match name {
        _ if name.starts_with("imageAtomic") => Some(one.value_type()),
        _ if name.starts_with("sparse") || name.contains("Size") || name.contains("Query") => None,
        _ if is_compared => Some(one.value_type()),
        _ if name.starts_with("texture")
            || name.starts_with("texelFetch")
            || name == "imageLoad" =>
        {
            Some(four.value_type())
        }
        _ => None,
    }
}

/// Built-in functions whose result has the type of their first argument, whatever that is.
fn keeps_type(name: &str) -> bool {
    let of_subgroup =
        name.starts_with("subgroup") && !name.contains("Ballot") && name != "subgroupPartitionNV";
    of_subgroup || matches!(name, "mix" | "expectEXT" | "nonuniformEXT")
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
        let product = |left: &str, right: &str| of_arithmetic("*", &ty(left), Some(&ty(right)));
        assert_eq!(product("mat3x2", "vec3"), Some(ty("vec2")));
        assert_eq!(product("vec2", "mat3x2"), Some(ty("vec3")));
        assert_eq!(product("int", "float"), Some(ty("float")));
        assert_eq!(product("float", "vec4"), Some(ty("vec4")));
        assert_eq!(product("mat2x3", "mat4x2"), Some(ty("mat4x3")));
        assert_eq!(of_arithmetic("+", &ty("int"), None), None);
        assert_eq!(of_arithmetic("<<", &ty("ivec2"), None), Some(ty("ivec2")));
        assert!(is_truth_operator("<=") && !is_truth_operator("<<"));
        assert_eq!(of_swizzle(&ty("bvec3"), "y"), Some(ty("bool")));
        assert_eq!(of_swizzle(&ty("bool"), "xx"), Some(ty("bvec2")));
        assert_eq!(of_element(&ty("mat2x3")), Some(ty("vec3")));
        assert_eq!(of_element(&ty("bvec2")), Some(ty("bool")));
        assert_eq!(of_call("isnan", &[Some(ty("float"))]), Some(ty("bool")));
        assert_eq!(of_call("isinf", &[Some(ty("dvec2"))]), Some(ty("bvec2")));
        assert_eq!(of_call("isnan", &[None]), Some(ty("bool")));
        assert_eq!(of_call("texture", &[Some(ty("usampler2DArray")), None]), Some(ty("uvec4")));
        assert_eq!(of_call("texture", &[Some(ty("sampler2DShadow")), None]), Some(ty("float")));
        assert_eq!(
            of_call("textureGather", &[Some(ty("sampler2DShadow")), None]),
            Some(ty("vec4"))
        );
        assert_eq!(of_call("imageLoad", &[Some(ty("i64image2D")), None]), Some(ty("i64vec4")));
        assert_eq!(of_call("imageAtomicAdd", &[Some(ty("uimage2D")), None]), Some(ty("uint")));
        assert_eq!(of_call("textureSize", &[Some(ty("sampler2D")), None]), None);
        assert_eq!(of_call("equal", &[Some(ty("ivec4")), None]), Some(ty("bvec4")));
        assert_eq!(
            of_call("clamp", &[Some(ty("vec2")), Some(ty("float")), Some(ty("float"))]),
            Some(ty("vec2"))
        );
        assert_eq!(of_literal("0xfeu"), ty("uint"));
        assert_eq!(of_literal("1e3"), ty("float"));
        assert_eq!(of_literal("2lf"), ty("double"));
        assert!(ty("ivec2").converts_to(&ty("vec2")));
        assert!(!ty("bool").converts_to(&ty("int")));
        assert!(!ty("float").converts_to(&ty("int")));
    }
}
