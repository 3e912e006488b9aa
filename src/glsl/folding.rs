//! Which expressions the pinned compiler surely folds to a constant in its own tree.
//!
//! Knows: expressions that the compiler was seen to fold (`tests/glsl_front_end.rs`). These are
//! fewer than the constant expressions of GLSL: the compiler gives a call of `bitCount`,
//! `transpose` or the like to its optimiser, and a comma operator counts as computed.
//! Promises: an expression is called folded only where every part of it is; an unknown part is
//! not.
//! Does not cover: what depends on specialization, which is never folded.

use super::names::NameScopes;
use super::syntax::{Declarator, DeclaredType, Expression, ExpressionKind};
use vkcert_model::structure::Constness;

/// Built-in functions that the compiler folds where it folds their arguments, which are Booleans or
/// of 32 bits.
const FOLDED_FUNCTIONS: [&str; 27] = [
    "abs",
    "all",
    "any",
    "clamp",
    "cross",
    "distance",
    "dot",
    "equal",
    "exp2",
    "faceforward",
    "floor",
    "greaterThan",
    "isnan",
    "length",
    "lessThan",
    "matrixCompMult",
    "max",
    "min",
    "normalize",
    "not",
    "outerProduct",
    "pow",
    "reflect",
    "round",
    "sign",
    "smoothstep",
    "step",
];

const FOLDED_OPERATORS: [&str; 19] = [
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&",
    "||", "^^",
];

/// Built-in constants, besides those that `NameScopes` knows.
const CONSTANT_FAMILIES: [&str; 3] =
    ["gl_MatrixOperands", "gl_MatrixUse", "gl_CooperativeMatrixLayout"];

/// Whether the compiler surely folds an expression.
pub(crate) fn is_folded(names: &NameScopes<'_>, expression: &Expression) -> bool {
    let all_folded = |parts: &[Expression]| parts.iter().all(|part| is_folded(names, part));
    match &expression.kind {
        ExpressionKind::Literal => !names.token_text(expression.first).starts_with('"'),
        ExpressionKind::Identifier => name_is_folded(names, names.token_text(expression.first)),
        ExpressionKind::Parenthesised(inner) => is_folded(names, inner),
        ExpressionKind::Prefix(operand) => {
            ["+", "-", "~", "!"].contains(&names.token_text(expression.first))
                && is_folded(names, operand)
        }
        ExpressionKind::Binary { operator, left, right } => {
            FOLDED_OPERATORS.contains(&names.token_text(*operator))
                && is_folded(names, left)
                && is_folded(names, right)
        }
        ExpressionKind::Ternary { condition, then, otherwise } => {
            is_folded(names, condition) && is_folded(names, then) && is_folded(names, otherwise)
        }
        ExpressionKind::Call { callee, arguments } => match &callee.kind {
            ExpressionKind::Field { base, name } => {
                names.token_text(*name) == "length"
                    && arguments.is_empty()
                    && length_is_folded(names, base)
            }
            ExpressionKind::Identifier => {
                callee_is_folded(names, names.token_text(callee.first), arguments)
                    && all_folded(arguments)
            }
            _ => {
                names.array_constructor(callee).is_some()
                    && sizes_are_folded(names, callee)
                    && all_folded(arguments)
            }
        },
        ExpressionKind::Index { base, index } => {
            is_folded(names, base) && index.as_ref().is_some_and(|index| is_folded(names, index))
        }
        ExpressionKind::Field { base, .. } => is_folded(names, base),
        ExpressionKind::List(elements) => all_folded(elements),
        ExpressionKind::Postfix(_)
        | ExpressionKind::Assignment { .. }
        | ExpressionKind::Comma { .. }
        | ExpressionKind::Template(_) => false,
    }
}

/// Whether the compiler surely folds a declared name: a `const` name whose initialiser and sizes it
/// folds.
pub(crate) fn declares_folded(
    names: &NameScopes<'_>,
    declared_type: &DeclaredType,
    declarator: &Declarator,
) -> bool {
    let array_sizes = declared_type.sizes.iter().chain(&declarator.sizes).flatten();
    declared_type.has_qualifier("const")
        && names.declared_constness(declared_type, declarator) != Constness::Specialization
        && declarator.initialiser.as_ref().is_some_and(|initialiser| is_folded(names, initialiser))
        && array_sizes.into_iter().all(|size| is_folded(names, size))
}

/// Whether all sizes of a declared array are given and folded.
pub(crate) fn declares_folded_length(
    names: &NameScopes<'_>,
    declared_type: &DeclaredType,
    declarator: &Declarator,
) -> bool {
    let mut array_sizes = declared_type.sizes.iter().chain(&declarator.sizes).peekable();
    array_sizes.peek().is_some()
        && array_sizes.all(|size| size.as_ref().is_some_and(|size| is_folded(names, size)))
}

fn name_is_folded(names: &NameScopes<'_>, name: &str) -> bool {
    names.declared_folding(name).map_or_else(
        || {
            CONSTANT_FAMILIES.iter().any(|family| name.starts_with(family))
                || names.built_in_constness(name) == Constness::Constant
        },
        |folding| folding.value,
    )
}

fn length_is_folded(names: &NameScopes<'_>, array: &Expression) -> bool {
    let folding = match array.kind {
        ExpressionKind::Identifier => names.declared_folding(names.token_text(array.first)),
        _ => None,
    };
    folding.is_some_and(|folding| folding.value || folding.length)
}

fn callee_is_folded(names: &NameScopes<'_>, name: &str, arguments: &[Expression]) -> bool {
    if names.is_own_function(name) {
        return false;
    }
    let is_function =
        FOLDED_FUNCTIONS.contains(&name) || (name == "mix" && !mixes_by_boolean(names, arguments));
    names.is_type(name)
        || (is_function && arguments.iter().all(|argument| is_of_32_bits(names, argument)))
}

/// Such a `mix` is left to the optimiser.
fn mixes_by_boolean(names: &NameScopes<'_>, arguments: &[Expression]) -> bool {
    let share_type = arguments.last().and_then(|share| names.type_of(share));
    share_type.is_none_or(|share_type| share_type.name.starts_with('b'))
}

/// The compiler folds some functions of other sizes to another value, such as `abs` of an
/// `int64_t`.
fn is_of_32_bits(names: &NameScopes<'_>, argument: &Expression) -> bool {
    const FAMILIES: [&str; 9] =
        ["bool", "int", "uint", "float", "bvec", "ivec", "uvec", "vec", "mat"];
    let is_of_family = |name: &str| FAMILIES.contains(&name.trim_end_matches(is_size_character));
    match (&argument.kind, names.type_of(argument)) {
        // The wider operand decides.
        (
            ExpressionKind::Parenthesised(_)
            | ExpressionKind::Prefix(_)
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Ternary { .. },
            _,
        ) => {
            let mut all_parts = true;
            argument.each_part(&mut |part| all_parts &= is_of_32_bits(names, part));
            all_parts
        }
        (_, Some(known_type)) => known_type.dimensions == 0 && is_of_family(known_type.name),
        // Built-in constants and their components.
        (ExpressionKind::Identifier, None) => names.token_text(argument.first).starts_with("gl_"),
        (ExpressionKind::Field { base, .. } | ExpressionKind::Index { base, .. }, None) => {
            is_of_32_bits(names, base)
        }
        // The arguments are looked at where this call is.
        (ExpressionKind::Call { callee, .. }, None) => {
            FOLDED_FUNCTIONS.contains(&names.token_text(callee.first))
        }
        _ => false,
    }
}

fn is_size_character(character: char) -> bool {
    character.is_ascii_digit() || character == 'x'
}

/// The sizes in `name[...]...`, where one may be left out.
fn sizes_are_folded(names: &NameScopes<'_>, constructor: &Expression) -> bool {
    match &constructor.kind {
        ExpressionKind::Index { base, index } => {
            index.as_ref().is_none_or(|index| is_folded(names, index))
                && sizes_are_folded(names, base)
        }
        _ => true,
    }
}
