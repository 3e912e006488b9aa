//! Constructors of 8- and 16-bit types that the pinned compiler gets wrong.
//!
//! Knows: while an extension lets a text store narrow types but not calculate with them, the
//! compiler keeps the bits of a constant argument and takes them for another type: `float16_t(0)`
//! becomes half of a `double` that nobody has written, another one in every run, and `int16_t(1.5)`
//! becomes 0.
//! Promises: such a constructor is refused with its place and a form that is right, before its
//! module is used; where the type of a constant argument cannot be told it counts as another one.
//! Does not cover: arguments that are no constants, of which the compiler makes modules that are
//! not valid.

use super::names::NameScopes;
use super::outline::UnitOutline;
use super::preprocessor::TranslationUnit;
use super::syntax::{Expression, ExpressionKind, TokenIndex};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::structure::Constness;

/// Which narrow numbers a type is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NarrowFamily {
    Int8,
    Int16,
    Float16,
}

impl NarrowFamily {
    /// The extension that lets a text calculate with such numbers, and others with the same effect.
    fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Int8 => &[
                "GL_EXT_shader_explicit_arithmetic_types_int8",
                "GL_EXT_shader_explicit_arithmetic_types",
                "GL_NV_gpu_shader5",
            ],
            Self::Int16 => &[
                "GL_EXT_shader_explicit_arithmetic_types_int16",
                "GL_EXT_shader_explicit_arithmetic_types",
                "GL_AMD_gpu_shader_int16",
                "GL_NV_gpu_shader5",
            ],
            Self::Float16 => &[
                "GL_EXT_shader_explicit_arithmetic_types_float16",
                "GL_EXT_shader_explicit_arithmetic_types",
                "GL_AMD_gpu_shader_half_float",
                "GL_NV_gpu_shader5",
            ],
        }
    }

    /// The family of a type by its name.
    fn of_type(name: &str) -> Option<Self> {
        let integer_families = [("8", Self::Int8), ("16", Self::Int16)];
        let integer_family = integer_families.into_iter().find_map(|(bits, family)| {
            let is_scalar = name == format!("int{bits}_t") || name == format!("uint{bits}_t");
            let is_vector =
                ["i", "u"].iter().any(|sign| name.starts_with(&format!("{sign}{bits}vec")));
            (is_scalar || is_vector).then_some(family)
        });
        let is_half =
            name == "float16_t" || name.starts_with("f16vec") || name.starts_with("f16mat");
        integer_family.or(is_half.then_some(Self::Float16))
    }
}

/// A constructor that is wrong unless its family's arithmetic is enabled where it stands.
#[derive(Debug, Clone)]
pub(crate) struct NarrowConstructor {
    pub family: NarrowFamily,
    /// The type's name.
    pub callee: TokenIndex,
    /// The closing parenthesis.
    pub last: TokenIndex,
}

/// What the values of an expression are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueDomain {
    Floating,
    Integer,
    Boolean,
    Unknown,
}

impl ValueDomain {
    /// Of two operands of one arithmetic operation.
    fn joined_with(self, other_domain: Self) -> Self {
        match (self, other_domain) {
            (Self::Floating, _) | (_, Self::Floating) => Self::Floating,
            (same, other_domain) if same == other_domain => same,
            _ => Self::Unknown,
        }
    }

    /// Whether the bits of such a constant mean the same in the 32-bit type that stands for the
    /// family.
    fn suits_family(self, family: NarrowFamily) -> bool {
        match family {
            NarrowFamily::Float16 => self == Self::Floating,
            NarrowFamily::Int8 | NarrowFamily::Int16 => {
                matches!(self, Self::Integer | Self::Boolean)
            }
        }
    }
}

/// The constructor that a call is, where it may be one that the compiler gets wrong.
pub(crate) fn narrow_constructor(
    names: &NameScopes<'_>,
    callee: &Expression,
    arguments: &[Expression],
) -> Option<NarrowConstructor> {
    let ExpressionKind::Identifier = callee.kind else { return None };
    let family = NarrowFamily::of_type(names.token_text(callee.first))?;
    let is_wrong = |argument: &&Expression| {
        is_constant(names, argument) && !domain_of(names, argument).suits_family(family)
    };
    arguments.iter().find(is_wrong)?;
    let closing_token = arguments.last()?.last + 1;
    Some(NarrowConstructor { family, callee: callee.first, last: closing_token })
}

/// Refuses a text that holds such a constructor without the extension.
pub(crate) fn refuse_wrong(
    unit: &TranslationUnit,
    outline: &UnitOutline,
) -> Result<(), Vec<Diagnostic>> {
    let disabled_constructors =
        outline.narrow.iter().filter(|constructor| !is_enabled(unit, constructor));
    let refusals: Vec<Diagnostic> = disabled_constructors
        .map(|constructor| constructor_diagnostic(unit, constructor))
        .collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

/// Whether the text enables arithmetic on the family before the constructor.
fn is_enabled(unit: &TranslationUnit, constructor: &NarrowConstructor) -> bool {
    let mut is_enabled_here = false;
    for directive in
        unit.directives.iter().filter(|directive| directive.before <= constructor.callee)
    {
        let mut directive_words = directive.text.split([' ', ':']).filter(|word| !word.is_empty());
        let is_extension = directive_words.next() == Some("#extension");
        let names_extension = directive_words
            .next()
            .is_some_and(|name| constructor.family.extensions().contains(&name));
        if is_extension && names_extension {
            is_enabled_here = directive_words.next() != Some("disable");
        }
    }
    is_enabled_here
}

fn constructor_diagnostic(unit: &TranslationUnit, constructor: &NarrowConstructor) -> Diagnostic {
    let constructor_tokens =
        &unit.tokens[constructor.callee..=constructor.last.min(unit.tokens.len() - 1)];
    let source_place = unit.frames.locate_tokens(constructor_tokens).and_then(|located| {
        let file = unit.files.get(located.span.file.0 as usize)?;
        Some((file, located.span.start as usize..located.span.end as usize))
    });
    let type_name = &unit.tokens[constructor.callee].text;
    let shown_text = source_place
        .as_ref()
        .and_then(|(file, span)| file.text.get(span.start..span.end))
        .unwrap_or(type_name);
    let message = format!(
        "the compiler makes a wrong module of `{shown_text}`: it takes the constant for one of another type"
    );
    let right_argument = match constructor.family {
        NarrowFamily::Float16 => "a float, as in `float16_t(0.0)`",
        NarrowFamily::Int8 | NarrowFamily::Int16 => "an integer",
    };
    let literal_advice = match constructor.family {
        NarrowFamily::Float16 => " and write `0.0hf`",
        NarrowFamily::Int8 | NarrowFamily::Int16 => "",
    };
    let extension = constructor.family.extensions()[0];
    let refusal = Diagnostic::new("compiler-defect", message);
    let refusal = match source_place {
        Some((file, span)) => refusal.at_span(&file.path, file.text.as_str(), span),
        None => refusal,
    };
    refusal.hint(format!(
        "give the constructor {right_argument}, or enable {extension}{literal_advice}"
    ))
}

/// Whether the compiler knows the value; the length of an array is such a value, too.
fn is_constant(names: &NameScopes<'_>, expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Call { callee, arguments } if arguments.is_empty() => {
            matches!(&callee.kind, ExpressionKind::Field { name, .. } if names.token_text(*name) == "length")
        }
        ExpressionKind::Call { callee, arguments } => {
            names.is_pure_callee(callee)
                && arguments.iter().all(|argument| is_constant(names, argument))
        }
        ExpressionKind::Parenthesised(inner) => is_constant(names, inner),
        ExpressionKind::Prefix(inner)
            if !matches!(names.token_text(expression.first), "++" | "--") =>
        {
            is_constant(names, inner)
        }
        ExpressionKind::Binary { left, right, .. } => {
            is_constant(names, left) && is_constant(names, right)
        }
        _ => names.constness_of(expression) == Constness::Constant,
    }
}

fn domain_of(names: &NameScopes<'_>, expression: &Expression) -> ValueDomain {
    match &expression.kind {
        ExpressionKind::Literal => domain_of_literal(names.token_text(expression.first)),
        ExpressionKind::Parenthesised(inner) => domain_of(names, inner),
        ExpressionKind::Prefix(operand) => match names.token_text(expression.first) {
            "!" => ValueDomain::Boolean,
            _ => domain_of(names, operand),
        },
        ExpressionKind::Binary { operator, left, right } => match names.token_text(*operator) {
            "&&" | "||" | "^^" | "==" | "!=" | "<" | ">" | "<=" | ">=" => ValueDomain::Boolean,
            "<<" | ">>" => domain_of(names, left),
            _ => domain_of(names, left).joined_with(domain_of(names, right)),
        },
        ExpressionKind::Ternary { then, otherwise, .. } => {
            domain_of(names, then).joined_with(domain_of(names, otherwise))
        }
        ExpressionKind::Comma { second, .. } => domain_of(names, second),
        ExpressionKind::Call { callee, arguments } => domain_of_call(names, callee, arguments),
        ExpressionKind::Index { base, .. } => domain_of(names, base),
        ExpressionKind::Field { base, .. } => match domain_of_value(names, expression) {
            ValueDomain::Unknown => domain_of(names, base),
            known => known,
        },
        ExpressionKind::Identifier => match names.token_text(expression.first) {
            "gl_WorkGroupSize" => ValueDomain::Integer,
            name if name.starts_with("gl_Max") || name.starts_with("gl_Min") => {
                ValueDomain::Integer
            }
            _ => domain_of_value(names, expression),
        },
        ExpressionKind::Postfix(_)
        | ExpressionKind::Assignment { .. }
        | ExpressionKind::List(_)
        | ExpressionKind::Template(_) => ValueDomain::Unknown,
    }
}

fn domain_of_literal(text: &str) -> ValueDomain {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    match text {
        "true" | "false" => ValueDomain::Boolean,
        _ if !is_hexadecimal && text.contains(['.', 'e', 'E', 'f', 'F']) => ValueDomain::Floating,
        _ => ValueDomain::Integer,
    }
}

/// By the declared type of the value.
fn domain_of_value(names: &NameScopes<'_>, expression: &Expression) -> ValueDomain {
    names.type_of(expression).map_or(ValueDomain::Unknown, |value| domain_of_type(value.name))
}

fn domain_of_type(name: &str) -> ValueDomain {
    let begins_with = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match name {
        "bool" => ValueDomain::Boolean,
        _ if begins_with(&["bvec"]) => ValueDomain::Boolean,
        "float" | "double" => ValueDomain::Floating,
        _ if begins_with(&["float", "vec", "mat", "dvec", "dmat", "f16", "f32", "f64"]) => {
            ValueDomain::Floating
        }
        "int" | "uint" => ValueDomain::Integer,
        _ if begins_with(&[
            "int", "uint", "ivec", "uvec", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64",
        ]) =>
        {
            ValueDomain::Integer
        }
        _ => ValueDomain::Unknown,
    }
}

/// Of a constructor, or of a built-in function whose result is like its arguments.
fn domain_of_call(
    names: &NameScopes<'_>,
    callee: &Expression,
    arguments: &[Expression],
) -> ValueDomain {
    let ExpressionKind::Identifier = callee.kind else {
        let is_length = matches!(&callee.kind, ExpressionKind::Field { name, .. } if names.token_text(*name) == "length");
        return if is_length { ValueDomain::Integer } else { ValueDomain::Unknown };
    };
    match names.token_text(callee.first) {
        "abs" | "sign" | "min" | "max" | "clamp" => {
            let argument_domains = arguments.iter().map(|argument| domain_of(names, argument));
            argument_domains.reduce(ValueDomain::joined_with).unwrap_or(ValueDomain::Unknown)
        }
        "sqrt" | "inversesqrt" | "exp" | "exp2" | "log" | "log2" | "pow" | "sin" | "cos"
        | "tan" | "floor" | "ceil" | "trunc" | "round" | "roundEven" | "fract" | "radians"
        | "degrees" => ValueDomain::Floating,
        name => domain_of_type(name),
    }
}
