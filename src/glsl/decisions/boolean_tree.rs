//! The Boolean expression of a decision over its conditions.
//!
//! Promises: conditions are numbered in source order; `&&`, `||`, `^^` and `!` are operators, and
//! everything else is a condition.

use crate::names::NameScopes;
use crate::syntax::{Expression, ExpressionKind};
use vkcert_model::structure::BooleanExpression;

/// Deepest expression over conditions that is measured; stored evidence cannot be read back beyond.
pub(super) const EXPRESSION_DEPTH_LIMIT: u32 = 48;

/// Operands of one `&&` or `||` chain from which on the chain is stored as a balanced tree (the
/// operators associate, so neither vectors nor independence change).
const BALANCED_FROM: usize = 16;

/// Gathers the leaves of a Boolean expression in source order.
pub(super) struct LeafCollector<'n, 'a, 'e> {
    pub names: &'n NameScopes<'a>,
    pub leaves: Vec<&'e Expression>,
}

impl<'e> LeafCollector<'_, '_, 'e> {
    /// `None` where the operators nest too deep.
    pub(super) fn boolean_tree(
        &mut self,
        expression: &'e Expression,
        depth: u32,
    ) -> Option<BooleanExpression> {
        if depth > EXPRESSION_DEPTH_LIMIT {
            return None;
        }
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) if self.is_operator(inner) => {
                self.boolean_tree(inner, depth)
            }
            ExpressionKind::Parenthesised(inner) => self.add_leaf(expression, inner),
            ExpressionKind::Prefix(operand) if self.names.token_text(expression.first) == "!" => {
                Some(BooleanExpression::Not(Box::new(self.boolean_tree(operand, depth + 1)?)))
            }
            ExpressionKind::Binary { operator, left, right } => {
                match self.names.token_text(*operator) {
                    "^^" => {
                        let left_tree = self.boolean_tree(left, depth + 1)?;
                        Some(BooleanExpression::Xor(
                            Box::new(left_tree),
                            Box::new(self.boolean_tree(right, depth + 1)?),
                        ))
                    }
                    operator @ ("&&" | "||") => self.operator_chain(expression, operator, depth),
                    _ => self.add_leaf(expression, expression),
                }
            }
            _ => self.add_leaf(expression, expression),
        }
    }

    fn is_operator(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) => self.is_operator(inner),
            ExpressionKind::Prefix(_) => self.names.token_text(expression.first) == "!",
            ExpressionKind::Binary { operator, .. } => {
                matches!(self.names.token_text(*operator), "&&" | "||" | "^^")
            }
            _ => false,
        }
    }

    /// Parentheses around a leaf are no part of it, but for those around a comma expression.
    fn add_leaf(
        &mut self,
        outer: &'e Expression,
        inner: &'e Expression,
    ) -> Option<BooleanExpression> {
        let mut outer = outer;
        let mut inner = inner;
        while let ExpressionKind::Parenthesised(next) = &inner.kind {
            (outer, inner) = (inner, next);
        }
        let leaf_expression =
            if matches!(inner.kind, ExpressionKind::Comma { .. }) { outer } else { inner };
        self.leaves.push(leaf_expression);
        Some(BooleanExpression::Condition(self.leaves.len() as u32 - 1))
    }

    /// A chain `a && b && ...` of one operator.
    fn operator_chain(
        &mut self,
        expression: &'e Expression,
        operator: &str,
        depth: u32,
    ) -> Option<BooleanExpression> {
        let mut right_operands = Vec::new();
        let mut leftmost = expression;
        while let ExpressionKind::Binary { operator: token, left, right } = &leftmost.kind {
            if self.names.token_text(*token) != operator {
                break;
            }
            right_operands.push(right);
            leftmost = left;
        }
        let operand_count = right_operands.len() + 1;
        let added_depth = if operand_count < BALANCED_FROM {
            operand_count as u32 - 1
        } else {
            operand_count.ilog2() + 1
        };
        let mut operands = vec![self.boolean_tree(leftmost, depth + added_depth)?];
        for right in right_operands.into_iter().rev() {
            operands.push(self.boolean_tree(right, depth + added_depth)?);
        }
        let join_pair = if operator == "&&" { conjunction } else { disjunction };
        if operand_count < BALANCED_FROM {
            return operands.into_iter().reduce(join_pair);
        }
        Some(balanced_tree(operands, join_pair))
    }
}

fn conjunction(left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression::And(Box::new(left), Box::new(right))
}

fn disjunction(left: BooleanExpression, right: BooleanExpression) -> BooleanExpression {
    BooleanExpression::Or(Box::new(left), Box::new(right))
}

fn balanced_tree(
    mut operands: Vec<BooleanExpression>,
    join_pair: fn(BooleanExpression, BooleanExpression) -> BooleanExpression,
) -> BooleanExpression {
    while operands.len() > 1 {
        let mut pairs = Vec::with_capacity(operands.len().div_ceil(2));
        let mut remaining_operands = operands.into_iter();
        while let Some(left) = remaining_operands.next() {
            pairs.push(match remaining_operands.next() {
                Some(right) => join_pair(left, right),
                None => left,
            });
        }
        operands = pairs;
    }
    operands.pop().expect("a chain has operands")
}
