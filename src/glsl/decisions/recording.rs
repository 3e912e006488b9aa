//! A decision as it is listed: its conditions with coupling classes, and the placements of its
//! markers.

use super::boolean_tree::{EXPRESSION_DEPTH_LIMIT, LeafCollector};
use super::{DecisionCollector, EvaluationContext};
use crate::marking::{Placement, PlacementRole};
use crate::syntax::Expression;
use std::collections::BTreeMap;
use vkcert_model::id::DecisionId;
use vkcert_model::structure::{
    BooleanExpression, Condition, Constness, Decision, DecisionContext, Recording,
};

impl DecisionCollector<'_> {
    pub(super) fn add_decision(
        &mut self,
        expression: &Expression,
        decision_context: DecisionContext,
    ) {
        let mut leaves = LeafCollector { names: &self.names, leaves: Vec::new() };
        let boolean_tree = leaves.boolean_tree(expression, 0);
        let (boolean_tree, leaf_expressions, is_too_deep) = match boolean_tree {
            Some(boolean_tree) => (boolean_tree, leaves.leaves, false),
            None => (BooleanExpression::Condition(0), vec![expression], true),
        };
        let decision_id = DecisionId(self.decisions.len() as u32 + 1);
        let conditions = self.conditions_of(&leaf_expressions);
        let located_tokens = self.locate_tokens(expression.first, expression.last);
        let constness = conditions
            .iter()
            .map(|condition| condition.constness)
            .max()
            .unwrap_or(Constness::Runtime);
        let recording = match self.evaluation_context {
            _ if is_too_deep => Recording::Unmarked {
                reason: format!("its operators are nested more than {EXPRESSION_DEPTH_LIMIT} deep"),
            },
            EvaluationContext::ConstantExpression(place) => Recording::Unmarked {
                reason: format!(
                    "{place} must be a constant expression, in which no function can be called"
                ),
            },
            EvaluationContext::Runtime => Recording::Marked,
        };
        if recording == Recording::Marked {
            self.place_markers(decision_id, expression, &leaf_expressions);
        }
        self.ranges.push([expression.first as u32, expression.last as u32]);
        self.decisions.push(Decision {
            id: decision_id,
            function: self.function,
            context: decision_context,
            span: located_tokens.span,
            text: self.source_text(&located_tokens),
            expression: boolean_tree,
            conditions,
            constness,
            recording,
            expansion: located_tokens.expansion,
        });
        if is_too_deep {
            return;
        }
        for leaf in leaf_expressions {
            self.visit_condition(leaf);
        }
    }

    fn place_markers(
        &mut self,
        decision_id: DecisionId,
        expression: &Expression,
        leaves: &[&Expression],
    ) {
        if let [leaf] = leaves {
            self.place_marker(leaf, PlacementRole::Single { decision: decision_id });
            return;
        }
        self.place_marker(expression, PlacementRole::Decision { decision: decision_id });
        for (condition, leaf) in leaves.iter().enumerate() {
            self.place_marker(
                leaf,
                PlacementRole::Condition { decision: decision_id, condition: condition as u32 },
            );
        }
    }

    fn place_marker(&mut self, marked_expression: &Expression, role: PlacementRole) {
        let Expression { first, last, .. } = *marked_expression;
        self.placements.push(Placement { first, last, role });
    }

    /// Conditions with coupling classes. A condition with side effects ends all classes before it:
    /// what it changes may change the value of the same text behind it.
    fn conditions_of(&self, leaves: &[&Expression]) -> Vec<Condition> {
        let mut coupling_classes: BTreeMap<String, u32> = BTreeMap::new();
        let mut next_class = 0;
        let mut conditions = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let leaf_words: Vec<&str> =
                self.tokens[leaf.first..=leaf.last].iter().map(|token| &*token.text).collect();
            let is_pure = self.names.is_pure(leaf);
            if !is_pure {
                coupling_classes.clear();
            }
            let coupling_class = match coupling_classes.get(&leaf_words.join(" ")) {
                Some(class) => *class,
                None => {
                    next_class += 1;
                    next_class - 1
                }
            };
            if is_pure {
                coupling_classes.insert(leaf_words.join(" "), coupling_class);
            }
            let located_tokens = self.locate_tokens(leaf.first, leaf.last);
            let leaf_text = self.source_text(&located_tokens);
            conditions.push(Condition {
                span: located_tokens.span,
                text: leaf_text,
                coupling: coupling_class,
                constness: self.names.constness_of(leaf),
            });
        }
        conditions
    }
}
