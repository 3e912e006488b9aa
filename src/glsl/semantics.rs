//! Scopes, memory semantics and matrix operands that are no constants.
//!
//! Knows: GL_KHR_memory_scope_semantics wants constant expressions for the scope, storage semantics
//! and semantics of atomics and barriers. The pinned compiler takes them for constants without a
//! look: it crashes, or makes a module that is not valid. GL_KHR_cooperative_matrix wants one for
//! the operands of `coopMatMulAdd`; the pinned compiler drops without a word what it does not fold,
//! even some constant expressions.
//! Promises: where the text shows that a scope or semantics is no constant, and where it does not
//! show that the compiler folds matrix operands, the argument is refused with its place before the
//! compiler is given the text.
//! Does not cover: scopes and semantics of which the text does not show it, such as other built-in
//! functions without arguments; whether a constant is a value that is permitted, which the compiler
//! checks.

use super::folding;
use super::names::NameScopes;
use super::outline::UnitOutline;
use super::preprocessor::TranslationUnit;
use super::syntax::{Expression, ExpressionKind, TokenIndex};
use super::token::Token;
use vkcert_model::diagnostic::Diagnostic;

/// An argument that must be a constant and is none.
#[derive(Debug, Clone)]
pub(crate) struct VaryingSemantics {
    /// The function's name.
    callee: TokenIndex,
    first: TokenIndex,
    last: TokenIndex,
}

const MULTIPLY_ADD: &str = "coopMatMulAdd";

/// How many arguments of a call are a scope, semantics or matrix operands: the last ones.
fn semantic_arguments(function_name: &str, argument_count: usize) -> usize {
    let (plain_count, scoped_count) = match function_name {
        MULTIPLY_ADD => return if argument_count == 4 { 1 } else { 0 },
        "controlBarrier" => return if argument_count == 4 { 4 } else { 0 },
        "memoryBarrier" => return if argument_count == 3 { 3 } else { 0 },
        // A place and, but for a load, one value, or two; of an image the place is image,
        // coordinates and perhaps sample.
        "atomicLoad" | "imageAtomicLoad" => (1, 3),
        "atomicCompSwap" | "imageAtomicCompSwap" => (3, 5),
        "atomicAdd"
        | "atomicMin"
        | "atomicMax"
        | "atomicAnd"
        | "atomicOr"
        | "atomicXor"
        | "atomicExchange"
        | "atomicStore"
        | "imageAtomicAdd"
        | "imageAtomicMin"
        | "imageAtomicMax"
        | "imageAtomicAnd"
        | "imageAtomicOr"
        | "imageAtomicXor"
        | "imageAtomicExchange"
        | "imageAtomicStore" => (2, 3),
        _ => return 0,
    };
    let least_count =
        if function_name.starts_with("image") { plain_count + 1 } else { plain_count }
            + scoped_count;
    let greatest_count =
        if function_name.starts_with("image") { least_count + 1 } else { least_count };
    if (least_count..=greatest_count).contains(&argument_count) { scoped_count } else { 0 }
}

/// Whether a text may hold a call with such arguments, as far as its tokens tell.
pub(crate) fn may_occur(tokens: &[Token]) -> bool {
    (0..tokens.len()).any(|token_index| is_semantic_call(tokens, token_index))
}

fn is_semantic_call(tokens: &[Token], callee: TokenIndex) -> bool {
    const FUNCTION_STARTS: [&str; 5] =
        ["atomic", "imageAtomic", "controlBarrier", "memoryBarrier", MULTIPLY_ADD];
    let name = &tokens[callee].text;
    tokens[callee].is_identifier()
        && FUNCTION_STARTS.iter().any(|start| name.starts_with(start))
        && semantic_arguments(name, count_of_arguments(&tokens[callee + 1..])) > 0
}

/// Of a call whose parentheses these tokens begin with; 0 where they do not.
fn count_of_arguments(tokens: &[Token]) -> usize {
    let (mut bracket_depth, mut comma_count) = (0, 0);
    for token in tokens {
        match &*token.text {
            "(" | "[" | "{" => bracket_depth += 1,
            ")" | "]" | "}" => bracket_depth -= 1,
            "," if bracket_depth == 1 => comma_count += 1,
            _ => {}
        }
        if bracket_depth == 0 {
            return if token.is(")") { comma_count + 1 } else { 0 };
        }
    }
    0
}

/// How many of the last arguments of a call must be constants, because they are a scope, semantics
/// or matrix operands.
pub(crate) fn constant_argument_count(
    names: &NameScopes<'_>,
    callee: &Expression,
    argument_count: usize,
) -> usize {
    match callee.kind {
        ExpressionKind::Identifier if !names.is_own_function(names.token_text(callee.first)) => {
            semantic_arguments(names.token_text(callee.first), argument_count)
        }
        _ => 0,
    }
}

/// The first argument of a call that must be such a constant and is none.
pub(crate) fn find_varying(
    names: &NameScopes<'_>,
    callee: &Expression,
    arguments: &[Expression],
) -> Option<VaryingSemantics> {
    let constant_count = constant_argument_count(names, callee, arguments.len());
    let is_wrong = |argument: &&Expression| match names.token_text(callee.first) {
        MULTIPLY_ADD => !folding::is_folded(names, argument),
        _ => names.surely_varies(argument),
    };
    let varying_argument = arguments[arguments.len() - constant_count..].iter().find(is_wrong)?;
    Some(VaryingSemantics {
        callee: callee.first,
        first: varying_argument.first,
        last: varying_argument.last,
    })
}

/// Matrix operands in text that could not be read (first and last token), which may be anything.
pub(crate) fn unread_operands(
    tokens: &[Token],
    (first, last): (TokenIndex, TokenIndex),
) -> Vec<VaryingSemantics> {
    let is_call = |token_index: &TokenIndex| {
        &*tokens[*token_index].text == MULTIPLY_ADD
            && semantic_arguments(MULTIPLY_ADD, count_of_arguments(&tokens[token_index + 1..])) > 0
    };
    let calls = (first..=last).filter(is_call);
    calls.map(|callee| VaryingSemantics { callee, first: callee, last: callee }).collect()
}

/// Refuses a text that holds such arguments.
pub(crate) fn refuse_varying(
    unit: &TranslationUnit,
    outline: &UnitOutline,
) -> Result<(), Vec<Diagnostic>> {
    let refusals: Vec<Diagnostic> = outline
        .semantics
        .iter()
        .map(|varying_argument| varying_diagnostic(unit, varying_argument))
        .collect();
    if refusals.is_empty() { Ok(()) } else { Err(refusals) }
}

fn varying_diagnostic(unit: &TranslationUnit, varying_argument: &VaryingSemantics) -> Diagnostic {
    let argument_tokens = &unit.tokens[varying_argument.first..=varying_argument.last];
    let source_place = unit.frames.locate_tokens(argument_tokens).and_then(|located| {
        let file = unit.files.get(located.span.file.0 as usize)?;
        Some((file, located.span.start as usize..located.span.end as usize))
    });
    let shown_text = source_place
        .as_ref()
        .and_then(|(file, span)| file.text.get(span.start..span.end))
        .unwrap_or("the argument");
    let callee = &*unit.tokens[varying_argument.callee].text;
    let (what_must_be_constant, hint) = asked_and_hint(callee);
    let message = match varying_argument.first == varying_argument.callee {
        true => format!("{what_must_be_constant} stand in text that could not be read"),
        false => format!(
            "`{shown_text}` is no {asked_for}, as {what_must_be_constant} must be",
            asked_for = kind_of_constant(callee)
        ),
    };
    let refusal = Diagnostic::new("glsl-syntax", message);
    let refusal = match source_place {
        Some((file, span)) => refusal.at_span(&file.path, file.text.as_str(), span),
        None => refusal,
    };
    refusal.hint(hint)
}

fn kind_of_constant(callee: &str) -> &'static str {
    if callee == MULTIPLY_ADD {
        "constant that the compiler surely keeps"
    } else {
        "constant expression"
    }
}

/// What must be a constant of a call, and how a text makes it one.
fn asked_and_hint(callee: &str) -> (String, &'static str) {
    match callee {
        MULTIPLY_ADD => (
            format!("the matrix operands of `{callee}`"),
            "the compiler would leave them out without a word; write a literal, `gl_MatrixOperands...`, a `const` variable of \
             such or operators on them; a parameter or a specialization constant is none: write a call for each value",
        ),
        _ => (
            format!("the scope and semantics of `{callee}`"),
            "GL_KHR_memory_scope_semantics wants literals, `gl_Scope...`, `gl_Semantics...`, `gl_StorageSemantics...` or \
             `const` variables of such; a parameter or a specialization constant is none: write a call for each value",
        ),
    }
}
