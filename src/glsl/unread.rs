//! Obligations of text that the parser could not read: found by keywords and brackets, all of them
//! unmarked.
//!
//! Promises: each `if`, `while`, `for`, `?:` and each run of Boolean operators outside them gives
//! one decision with one condition, so that the number of obligations does not fall to zero with
//! the parser. It may differ from the number that a parsed text would give; the reason stands in
//! every one.

use super::decisions::Decisions;
use super::semantics;
use super::syntax::TokenIndex;
use super::token::Token;
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{
    BooleanExpression, Condition, Constness, Decision, DecisionContext, Recording,
};

/// Adds the decisions of `range` (first and last token), and the matrix operands that cannot be
/// looked at there.
pub(crate) fn add_decisions(
    decisions: &mut Decisions<'_>,
    tokens: &[Token],
    range: (TokenIndex, TokenIndex),
    reason: &str,
) {
    decisions.semantics.extend(semantics::unread_operands(tokens, range));
    let closing = closing_parentheses(tokens, range);
    let mut covered = range.0;
    for at in range.0..=range.1 {
        let context = match &*tokens[at].text {
            "if" => DecisionContext::If,
            "while" => DecisionContext::While,
            "for" => DecisionContext::For,
            "?" => DecisionContext::Ternary,
            "&&" | "||" | "^^" => DecisionContext::Expression,
            _ => continue,
        };
        let extent = match context {
            DecisionContext::Ternary | DecisionContext::Expression if at < covered => continue,
            DecisionContext::Ternary | DecisionContext::Expression => {
                operands(tokens, (covered, range.1), at)
            }
            _ => header(tokens, range, &closing, at),
        };
        let Some((first, last)) = extent else { continue };
        covered = last + 1;
        let located = decisions.locate(first, last);
        let text = decisions.text(&located);
        let id = DecisionId(decisions.found.len() as u32 + 1);
        let condition = Condition {
            span: located.span,
            text: text.clone(),
            coupling: 0,
            constness: Constness::Runtime,
        };
        decisions.ranges.push([first as u32, last as u32]);
        decisions.found.push(Decision {
            id,
            function: decisions.function,
            context,
            span: located.span,
            text,
            expression: BooleanExpression::Condition(0),
            conditions: vec![condition],
            constness: Constness::Runtime,
            recording: Recording::Unmarked { reason: reason.to_owned() },
            expansion: located.expansion,
        });
    }
}

/// For each `(` of `range` (by distance from its start) the `)` that closes it; 0 where none does.
fn closing_parentheses(tokens: &[Token], range: (TokenIndex, TokenIndex)) -> Vec<TokenIndex> {
    let mut closing = vec![0; range.1 + 1 - range.0];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate().take(range.1 + 1).skip(range.0) {
        match &*token.text {
            "(" => open.push(at),
            ")" => {
                if let Some(opening) = open.pop() {
                    closing[opening - range.0] = at;
                }
            }
            _ => {}
        }
    }
    closing
}

/// What stands between the parentheses behind a keyword; for `for`, the part between the
/// semicolons.
fn header(
    tokens: &[Token],
    range: (TokenIndex, TokenIndex),
    closing: &[TokenIndex],
    keyword: TokenIndex,
) -> Option<(TokenIndex, TokenIndex)> {
    let open = keyword + 1;
    if open > range.1 || !tokens[open].is("(") {
        return None;
    }
    let close = closing[open - range.0];
    if close == 0 {
        return None;
    }
    let mut semicolons = Vec::new();
    let mut at = open + 1;
    while at < close {
        if tokens[at].is("(") {
            at = closing[at - range.0];
        } else if tokens[at].is(";") {
            semicolons.push(at);
        }
        at += 1;
    }
    let (first, last) = match semicolons.as_slice() {
        [first, second] => (first + 1, second - 1),
        _ => (open + 1, close - 1),
    };
    (first <= last).then_some((first, last))
}

/// The tokens around an operator up to the nearest boundary on both sides (left side alone for
/// `?`).
fn operands(
    tokens: &[Token],
    range: (TokenIndex, TokenIndex),
    at: TokenIndex,
) -> Option<(TokenIndex, TokenIndex)> {
    let boundary = |text: &str| matches!(text, ";" | "," | "=" | "{" | "}" | "return" | "?" | ":");
    let mut first = at;
    let mut depth = 0;
    while first > range.0 {
        match &*tokens[first - 1].text {
            ")" | "]" => depth += 1,
            "(" | "[" if depth == 0 => break,
            "(" | "[" => depth -= 1,
            text if depth == 0 && boundary(text) => break,
            _ => {}
        }
        first -= 1;
    }
    if tokens[at].is("?") {
        return (first < at).then(|| (first, at - 1));
    }
    let mut last = at;
    depth = 0;
    while last < range.1 {
        match &*tokens[last + 1].text {
            "(" | "[" => depth += 1,
            ")" | "]" if depth == 0 => break,
            ")" | "]" => depth -= 1,
            text if depth == 0 && boundary(text) => break,
            _ => {}
        }
        last += 1;
    }
    (first < last).then_some((first, last))
}

/// Runs of tokens that end in `;`, as statements.
pub(crate) fn statements(
    tokens: &[Token],
    range: (TokenIndex, TokenIndex),
) -> Vec<(TokenIndex, TokenIndex)> {
    let mut found = Vec::new();
    let mut first = range.0;
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate().take(range.1 + 1).skip(range.0) {
        match &*token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            "{" | "}" if depth == 0 => first = at + 1,
            ";" if depth == 0 => {
                if first < at {
                    found.push((first, at));
                }
                first = at + 1;
            }
            _ => {}
        }
    }
    found
}
