//! Obligations of text that the parser could not read: found by keywords and brackets, all of them
//! unmarked.
//!
//! Promises: each `if`, `while`, `for`, `?:` and each run of Boolean operators outside them gives
//! one decision with one condition, so that the number of obligations does not fall to zero with
//! the parser. It may differ from the number that a parsed text would give; the reason stands in
//! every one.

use super::decisions::DecisionCollector;
use super::semantics;
use super::syntax::TokenIndex;
use super::token::Token;
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{
    BooleanExpression, Condition, Constness, Decision, DecisionContext, LoopKind, Recording,
};

/// Adds the decisions of `range` (first and last token), and the matrix operands that cannot be
/// looked at there.
pub(crate) fn add_decisions(
    decisions: &mut DecisionCollector<'_>,
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
    reason: &str,
) {
    decisions.semantics.extend(semantics::unread_operands(tokens, unread_range));
    let closing = closing_parentheses(tokens, unread_range);
    let mut covered_until = unread_range.0;
    for token_index in unread_range.0..=unread_range.1 {
        let context = match &*tokens[token_index].text {
            "if" => DecisionContext::If,
            "while" => DecisionContext::While,
            "for" => DecisionContext::For,
            "?" => DecisionContext::Ternary,
            "&&" | "||" | "^^" => DecisionContext::Expression,
            _ => continue,
        };
        let decision_range = match context {
            DecisionContext::Ternary | DecisionContext::Expression
                if token_index < covered_until =>
            {
                continue;
            }
            DecisionContext::Ternary | DecisionContext::Expression => {
                operand_range(tokens, (covered_until, unread_range.1), token_index)
            }
            _ => header_condition(tokens, unread_range, &closing, token_index),
        };
        let Some((first, last)) = decision_range else { continue };
        covered_until = last + 1;
        let located_tokens = decisions.locate_tokens(first, last);
        let decision_text = decisions.source_text(&located_tokens);
        let decision_id = DecisionId(decisions.decisions.len() as u32 + 1);
        let condition = Condition {
            span: located_tokens.span,
            text: decision_text.clone(),
            coupling: 0,
            constness: Constness::Runtime,
        };
        decisions.ranges.push([first as u32, last as u32]);
        decisions.decisions.push(Decision {
            id: decision_id,
            function: decisions.function,
            context,
            span: located_tokens.span,
            text: decision_text,
            expression: BooleanExpression::Condition(0),
            conditions: vec![condition],
            constness: Constness::Runtime,
            recording: Recording::Unmarked { reason: reason.to_owned() },
            expansion: located_tokens.expansion,
        });
    }
}

/// Adds the calls of the text's own functions in `range`, where they are asked for: a name with `(`
/// behind it.
pub(crate) fn add_calls(
    decisions: &mut DecisionCollector<'_>,
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
) {
    if decisions.calls.is_none() {
        return;
    }
    let closing = closing_parentheses(tokens, unread_range);
    for token_index in unread_range.0..unread_range.1 {
        let is_call = &*tokens[token_index + 1].text == "("
            && decisions.names.is_own_function(&tokens[token_index].text);
        if !is_call {
            continue;
        }
        let last = closing[token_index + 1 - unread_range.0].max(token_index + 1);
        decisions.list_call((token_index, last), None);
    }
}

/// First tokens of the loops in `range`. A `while` behind `}` or `;` ends a `do` as long as one is
/// open, so that their number is right even where the pairs are not.
pub(crate) fn loop_starts(
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
) -> Vec<(TokenIndex, LoopKind)> {
    let mut loops = Vec::new();
    let mut open_do = 0_u32;
    for token_index in unread_range.0..=unread_range.1 {
        match &*tokens[token_index].text {
            "for" => loops.push((token_index, LoopKind::Head)),
            "do" => {
                open_do += 1;
                loops.push((token_index, LoopKind::Tail));
            }
            "while" => {
                let word_before = token_index.checked_sub(1).map(|index| &*tokens[index].text);
                if open_do > 0 && matches!(word_before, Some("}" | ";")) {
                    open_do -= 1;
                } else {
                    loops.push((token_index, LoopKind::Head));
                }
            }
            _ => {}
        }
    }
    loops
}

/// For each `(` of `range` (by distance from its start) the `)` that closes it; 0 where none does.
fn closing_parentheses(tokens: &[Token], range: (TokenIndex, TokenIndex)) -> Vec<TokenIndex> {
    let mut closing_tokens = vec![0; range.1 + 1 - range.0];
    let mut open_parentheses = Vec::new();
    for (token_index, token) in tokens.iter().enumerate().take(range.1 + 1).skip(range.0) {
        match &*token.text {
            "(" => open_parentheses.push(token_index),
            ")" => {
                if let Some(opening_index) = open_parentheses.pop() {
                    closing_tokens[opening_index - range.0] = token_index;
                }
            }
            _ => {}
        }
    }
    closing_tokens
}

/// What stands between the parentheses behind a keyword; for `for`, the part between the
/// semicolons.
fn header_condition(
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
    closing_tokens: &[TokenIndex],
    keyword: TokenIndex,
) -> Option<(TokenIndex, TokenIndex)> {
    let opening_index = keyword + 1;
    if opening_index > unread_range.1 || !tokens[opening_index].is("(") {
        return None;
    }
    let closing_index = closing_tokens[opening_index - unread_range.0];
    if closing_index == 0 {
        return None;
    }
    let mut semicolons = Vec::new();
    let mut token_index = opening_index + 1;
    while token_index < closing_index {
        if tokens[token_index].is("(") {
            token_index = closing_tokens[token_index - unread_range.0];
        } else if tokens[token_index].is(";") {
            semicolons.push(token_index);
        }
        token_index += 1;
    }
    let (first, last) = match semicolons.as_slice() {
        [first, second] => (first + 1, second - 1),
        _ => (opening_index + 1, closing_index - 1),
    };
    (first <= last).then_some((first, last))
}

/// The tokens around an operator up to the nearest boundary on both sides (left side alone for
/// `?`).
fn operand_range(
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
    operator_index: TokenIndex,
) -> Option<(TokenIndex, TokenIndex)> {
    let mut first_token = operator_index;
    let mut bracket_depth = 0;
    while first_token > unread_range.0 {
        match &*tokens[first_token - 1].text {
            ")" | "]" => bracket_depth += 1,
            "(" | "[" if bracket_depth == 0 => break,
            "(" | "[" => bracket_depth -= 1,
            text if bracket_depth == 0 && is_boundary(text) => break,
            _ => {}
        }
        first_token -= 1;
    }
    if tokens[operator_index].is("?") {
        return (first_token < operator_index).then(|| (first_token, operator_index - 1));
    }
    let mut last_token = operator_index;
    bracket_depth = 0;
    while last_token < unread_range.1 {
        match &*tokens[last_token + 1].text {
            "(" | "[" => bracket_depth += 1,
            ")" | "]" if bracket_depth == 0 => break,
            ")" | "]" => bracket_depth -= 1,
            text if bracket_depth == 0 && is_boundary(text) => break,
            _ => {}
        }
        last_token += 1;
    }
    (first_token < last_token).then_some((first_token, last_token))
}

fn is_boundary(text: &str) -> bool {
    matches!(text, ";" | "," | "=" | "{" | "}" | "return" | "?" | ":")
}

/// Runs of tokens that end in `;`, as statements.
pub(crate) fn statement_ranges(
    tokens: &[Token],
    unread_range: (TokenIndex, TokenIndex),
) -> Vec<(TokenIndex, TokenIndex)> {
    let mut statement_ranges = Vec::new();
    let mut first_token = unread_range.0;
    let mut parenthesis_depth = 0i32;
    for (token_index, token) in
        tokens.iter().enumerate().take(unread_range.1 + 1).skip(unread_range.0)
    {
        match &*token.text {
            "(" => parenthesis_depth += 1,
            ")" => parenthesis_depth -= 1,
            "{" | "}" if parenthesis_depth == 0 => first_token = token_index + 1,
            ";" if parenthesis_depth == 0 => {
                if first_token < token_index {
                    statement_ranges.push((first_token, token_index));
                }
                first_token = token_index + 1;
            }
            _ => {}
        }
    }
    statement_ranges
}
