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
use super::names::Names;
use super::outline::Outline;
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
fn semantic_arguments(name: &str, count: usize) -> usize {
    let (plain, scoped) = match name {
        MULTIPLY_ADD => return if count == 4 { 1 } else { 0 },
        "controlBarrier" => return if count == 4 { 4 } else { 0 },
        "memoryBarrier" => return if count == 3 { 3 } else { 0 },
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
    let least = if name.starts_with("image") { plain + 1 } else { plain } + scoped;
    let most = if name.starts_with("image") { least + 1 } else { least };
    if (least..=most).contains(&count) { scoped } else { 0 }
}

/// Whether a text may hold a call with such arguments, as far as its tokens tell.
pub(crate) fn may_occur(tokens: &[Token]) -> bool {
    let called = |(at, token): (usize, &Token)| {
        let named = ["atomic", "imageAtomic", "controlBarrier", "memoryBarrier", MULTIPLY_ADD];
        named.iter().any(|start| token.text.starts_with(start))
            && semantic_arguments(&token.text, count_of_arguments(&tokens[at + 1..])) > 0
    };
    tokens.iter().enumerate().filter(|(_, token)| token.is_identifier()).any(called)
}

/// Of a call whose parentheses these tokens begin with; 0 where they do not.
fn count_of_arguments(tokens: &[Token]) -> usize {
    let (mut depth, mut count) = (0, 0);
    for token in tokens {
        match &*token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 1 => count += 1,
            _ => {}
        }
        if depth == 0 {
            return if token.is(")") { count + 1 } else { 0 };
        }
    }
    0
}

/// How many of the last arguments of a call must be constants, because they are a scope, semantics
/// or matrix operands.
pub(crate) fn asked_of(names: &Names<'_>, callee: &Expression, count: usize) -> usize {
    match callee.kind {
        ExpressionKind::Identifier if !names.is_own_function(names.text(callee.first)) => {
            semantic_arguments(names.text(callee.first), count)
        }
        _ => 0,
    }
}

/// The first argument of a call that must be such a constant and is none.
pub(crate) fn varying(
    names: &Names<'_>,
    callee: &Expression,
    arguments: &[Expression],
) -> Option<VaryingSemantics> {
    let asked = asked_of(names, callee, arguments.len());
    let is_wrong = |argument: &&Expression| match names.text(callee.first) {
        MULTIPLY_ADD => !folding::is_folded(names, argument),
        _ => names.varies(argument),
    };
    let wrong = arguments[arguments.len() - asked..].iter().find(is_wrong)?;
    Some(VaryingSemantics { callee: callee.first, first: wrong.first, last: wrong.last })
}

/// Matrix operands in text that could not be read (first and last token), which may be anything.
pub(crate) fn unread_operands(
    tokens: &[Token],
    (first, last): (TokenIndex, TokenIndex),
) -> Vec<VaryingSemantics> {
    let is_call = |at: &TokenIndex| {
        &*tokens[*at].text == MULTIPLY_ADD
            && semantic_arguments(MULTIPLY_ADD, count_of_arguments(&tokens[at + 1..])) > 0
    };
    let calls = (first..=last).filter(is_call);
    calls.map(|callee| VaryingSemantics { callee, first: callee, last: callee }).collect()
}

/// Refuses a text that holds such arguments.
pub(crate) fn refuse(unit: &TranslationUnit, outline: &Outline) -> Result<(), Vec<Diagnostic>> {
    let refused: Vec<Diagnostic> =
        outline.semantics.iter().map(|wrong| diagnostic(unit, wrong)).collect();
    if refused.is_empty() { Ok(()) } else { Err(refused) }
}

fn diagnostic(unit: &TranslationUnit, wrong: &VaryingSemantics) -> Diagnostic {
    let tokens = &unit.tokens[wrong.first..=wrong.last];
    let place = unit.frames.locate(tokens).and_then(|located| {
        let file = unit.files.get(located.span.file.0 as usize)?;
        Some((file, located.span.start as usize..located.span.end as usize))
    });
    let shown = place
        .as_ref()
        .and_then(|(file, span)| file.text.get(span.clone()))
        .unwrap_or("the argument");
    let callee = &*unit.tokens[wrong.callee].text;
    let (asked, hint) = asked_and_hint(callee);
    let message = match wrong.first == wrong.callee {
        true => format!("{asked} stand in text that could not be read"),
        false => format!(
            "`{shown}` is no {asked_for}, as {asked} must be",
            asked_for = kind_of_constant(callee)
        ),
    };
    let made = Diagnostic::new("glsl-syntax", message);
    let made = match place {
        Some((file, span)) => made.at_span(&file.path, file.text.as_str(), span),
        None => made,
    };
    made.hint(hint)
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
