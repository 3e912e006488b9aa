//! Whether control can pass the end of statements: where a function without a value is left by the
//! end of its body.
//!
//! Promises: "cannot" is said only where the syntax shows it; a condition counts as always true
//! only if it is the literal `true`.

use crate::syntax::{self, Expression, ExpressionKind, LoopCondition};
use crate::token::Token;

/// What can happen behind a list of statements.
pub(super) fn syntax_falls_through(tokens: &[Token], statements: &[syntax::Statement]) -> bool {
    let mut falls_through = true;
    for statement in statements {
        if matches!(statement.kind, syntax::StatementKind::Case(_) | syntax::StatementKind::Default)
        {
            falls_through = true;
        }
        falls_through = falls_through && statement_falls_through(tokens, statement);
    }
    falls_through
}

/// Whether an expression is `true`, in parentheses or not.
fn is_literally_true(tokens: &[Token], expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Parenthesised(inner) => is_literally_true(tokens, inner),
        _ => expression.first == expression.last && tokens[expression.first].is("true"),
    }
}

fn statement_falls_through(tokens: &[Token], statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    match &statement.kind {
        Parsed::Block(inner) => syntax_falls_through(tokens, inner),
        Parsed::If { then, otherwise, .. } => {
            statement_falls_through(tokens, then)
                || otherwise
                    .as_ref()
                    .is_none_or(|otherwise| statement_falls_through(tokens, otherwise))
        }
        Parsed::While { condition: LoopCondition::Expression(condition), body }
            if is_literally_true(tokens, condition) =>
        {
            breaks_out(body)
        }
        Parsed::For { condition: None, body, .. } => breaks_out(body),
        Parsed::For { condition: Some(LoopCondition::Expression(condition)), body, .. }
            if is_literally_true(tokens, condition) =>
        {
            breaks_out(body)
        }
        Parsed::DoWhile { body, condition } => {
            breaks_out(body)
                || (!is_literally_true(tokens, condition)
                    && (statement_falls_through(tokens, body) || continues_loop(body)))
        }
        Parsed::Switch { body, .. } => {
            let has_default = body.iter().any(|inner| matches!(inner.kind, Parsed::Default));
            !has_default || body.iter().any(breaks_out) || syntax_falls_through(tokens, body)
        }
        Parsed::While { .. }
        | Parsed::For { .. }
        | Parsed::Empty
        | Parsed::Expression(_)
        | Parsed::Declaration(_)
        | Parsed::Case(_)
        | Parsed::Default => true,
        Parsed::Break | Parsed::Continue | Parsed::Return(_) | Parsed::Terminate => false,
    }
}

/// Whether a `break` in a loop's or switch's body leaves it.
fn breaks_out(statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    match &statement.kind {
        Parsed::Break => true,
        Parsed::Block(inner) => inner.iter().any(breaks_out),
        Parsed::If { then, otherwise, .. } => {
            breaks_out(then) || otherwise.as_deref().is_some_and(breaks_out)
        }
        _ => false,
    }
}

/// Whether a `continue` in a loop's body leads to its condition.
fn continues_loop(statement: &syntax::Statement) -> bool {
    use syntax::StatementKind as Parsed;
    match &statement.kind {
        Parsed::Continue => true,
        Parsed::Block(inner) => inner.iter().any(continues_loop),
        Parsed::If { then, otherwise, .. } => {
            continues_loop(then) || otherwise.as_deref().is_some_and(continues_loop)
        }
        Parsed::Switch { body, .. } => body.iter().any(continues_loop),
        _ => false,
    }
}
