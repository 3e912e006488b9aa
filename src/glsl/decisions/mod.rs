//! Decisions and conditions of expressions (contract, "The calculus"; CAST-10).
//!
//! Promises: every expression that the policy counts becomes a decision, in source order, outer
//! before inner; each gets its placements of markers, or a reason why none may stand there.
//! Does not cover: statements (`outline`) and the marked text (`marking`).

mod boolean_tree;

use crate::DecisionPolicy;
use crate::lexer::Lexer;
use crate::marking::{Placed, Placement};
use crate::names::{ArgumentPlace, Names};
use crate::narrow::{self, NarrowConstructor};
use crate::semantics::{self, VaryingSemantics};
use crate::syntax::{Expression, ExpressionKind, Item, TokenIndex};
use crate::token::{Frames, Located, Token, TokenKind};
use crate::value_types::ValueType;
use boolean_tree::{EXPRESSION_DEPTH_LIMIT, Leaves};
use std::collections::BTreeMap;
use vkcert_model::id::{DecisionId, FunctionId};
use vkcert_model::place::SourceFile;
use vkcert_model::structure::{
    BooleanExpression, Condition, Constness, Decision, DecisionContext, Recording,
};

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// Its value directs control flow.
    Controlling(DecisionContext),
    /// A place that holds a Boolean value for certain.
    Boolean(DecisionContext),
    /// A place that is a decision if the value shows itself to be Boolean.
    Place(DecisionContext),
    /// An operand, which is a decision if it is Boolean, but for `true` and `false`.
    Operand,
    /// An operand that is Boolean because of what stands beside or around it.
    BooleanOperand,
    /// A part that has the value of what is recorded around it: a decision if it has a Boolean
    /// operator.
    Enclosed,
    /// Nothing takes the value: calls and assignments stand there for what they do.
    Discarded,
}

/// What may stand around an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surroundings {
    Runtime,
    /// A constant expression is demanded; the words name the place.
    ConstantExpression(&'static str),
}

/// The decisions found so far.
pub(crate) struct Decisions<'a> {
    pub names: Names<'a>,
    tokens: &'a [Token],
    frames: &'a Frames,
    files: &'a [SourceFile],
    policy: DecisionPolicy,
    pub found: Vec<Decision>,
    pub placements: Vec<Placement>,
    /// First and last token of each of `found`.
    pub ranges: Vec<[u32; 2]>,
    pub function: Option<FunctionId>,
    pub surroundings: Surroundings,
    /// Constructors of narrow types that the compiler gets wrong unless an extension is enabled.
    pub narrow: Vec<NarrowConstructor>,
    /// Scopes, memory semantics and matrix operands that are no constants.
    pub semantics: Vec<VaryingSemantics>,
}

impl<'a> Decisions<'a> {
    pub(crate) fn new(
        tokens: &'a [Token],
        frames: &'a Frames,
        files: &'a [SourceFile],
        items: &[Item],
        policy: DecisionPolicy,
    ) -> Self {
        Self {
            names: Names::new(tokens, items),
            tokens,
            frames,
            files,
            policy,
            found: Vec::new(),
            placements: Vec::new(),
            ranges: Vec::new(),
            function: None,
            surroundings: Surroundings::Runtime,
            narrow: Vec::new(),
            semantics: Vec::new(),
        }
    }

    /// Place of the tokens `first..=last`.
    pub(crate) fn locate(&self, first_token: TokenIndex, last_token: TokenIndex) -> Located {
        self.frames
            .locate(&self.tokens[first_token..=last_token])
            .expect("a node has at least one token")
    }

    /// The text of a place, comments left out, white space collapsed.
    pub(crate) fn text(&self, located_tokens: &Located) -> String {
        let source_text =
            self.files.get(located_tokens.span.file.0 as usize).map_or("", |file| &file.text);
        let (start, end) = (located_tokens.span.start as usize, located_tokens.span.end as usize);
        collapsed(source_text.get(start..end).unwrap_or(""))
    }

    /// Visits expressions in a constant-expression context.
    pub(crate) fn constant(&mut self, place_in_words: &'static str, visit: impl FnOnce(&mut Self)) {
        let outer_context = self.surroundings;
        if outer_context == Surroundings::Runtime {
            self.surroundings = Surroundings::ConstantExpression(place_in_words);
        }
        visit(self);
        self.surroundings = outer_context;
    }

    /// Finds the decisions in `expression`.
    pub(crate) fn visit(&mut self, expression: &Expression, expression_position: Position) {
        let mut valued_expression = expression;
        loop {
            match &valued_expression.kind {
                ExpressionKind::Parenthesised(inner) => valued_expression = inner,
                ExpressionKind::Comma { first, second } => {
                    self.visit(first, Position::Discarded);
                    valued_expression = second;
                }
                _ => break,
            }
        }
        if let (Position::Discarded, ExpressionKind::Ternary { condition, then, otherwise }) =
            (expression_position, &valued_expression.kind)
        {
            return self.visit_ternary(condition, [then, otherwise], Position::Discarded);
        }
        let decision_context = match expression_position {
            Position::Controlling(decision_context) | Position::Boolean(decision_context) => {
                Some(decision_context)
            }
            Position::Place(decision_context) => {
                self.names.is_boolean(valued_expression).then_some(decision_context)
            }
            Position::Operand => {
                self.is_boolean_operand(valued_expression).then_some(DecisionContext::Expression)
            }
            Position::BooleanOperand => {
                (!self.is_truth_literal(valued_expression)).then_some(DecisionContext::Expression)
            }
            Position::Enclosed => {
                self.has_boolean_operator(valued_expression).then_some(DecisionContext::Expression)
            }
            Position::Discarded => {
                self.is_idle(valued_expression).then_some(DecisionContext::Expression)
            }
        };
        match decision_context.filter(|decision_context| {
            self.policy == DecisionPolicy::Literal || decision_context.controls_flow()
        }) {
            Some(decision_context) => self.decide(valued_expression, decision_context),
            None => self.visit_parts(valued_expression),
        }
    }

    fn has_boolean_operator(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Binary { operator, .. } => {
                matches!(self.names.text(*operator), "&&" | "||" | "^^")
            }
            ExpressionKind::Prefix(_) => self.names.text(expression.first) == "!",
            _ => false,
        }
    }

    fn is_boolean_operand(&self, expression: &Expression) -> bool {
        self.names.is_boolean(expression) && !self.is_truth_literal(expression)
    }

    /// A Boolean expression that does nothing but have a value.
    fn is_idle(&self, expression: &Expression) -> bool {
        let has_effect = matches!(
            expression.kind,
            ExpressionKind::Call { .. } | ExpressionKind::Assignment { .. }
        );
        !has_effect && self.is_boolean_operand(expression)
    }

    fn visit_ternary(
        &mut self,
        condition: &Expression,
        arms: [&Expression; 2],
        position: Position,
    ) {
        self.visit(condition, Position::Controlling(DecisionContext::Ternary));
        for arm in arms {
            self.visit(arm, position);
        }
    }

    /// Visits what a condition is made of. Its value is Boolean, whatever the text shows of its
    /// type.
    fn visit_condition(&mut self, condition: &Expression) {
        match &condition.kind {
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.visit_ternary(condition, [then, otherwise], Position::BooleanOperand);
            }
            ExpressionKind::Parenthesised(inner) => self.visit(inner, Position::Enclosed),
            _ => self.visit_parts(condition),
        }
    }

    /// Visits what an expression that is no decision itself (or is a condition) is made of.
    fn visit_parts(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Literal | ExpressionKind::Identifier => {}
            ExpressionKind::Parenthesised(inner)
            | ExpressionKind::Prefix(inner)
            | ExpressionKind::Postfix(inner) => {
                self.visit(inner, Position::Operand);
            }
            ExpressionKind::Binary { left, right, .. } => self.visit_chain(expression, left, right),
            ExpressionKind::Assignment { target, value, .. } => {
                self.visit_parts(target);
                let boolean = self.names.is_boolean(target);
                let context = DecisionContext::Assignment;
                self.visit(
                    value,
                    if boolean { Position::Boolean(context) } else { Position::Place(context) },
                );
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                let is_boolean = self.names.is_boolean(expression);
                let position =
                    if is_boolean { Position::BooleanOperand } else { Position::Operand };
                self.visit_ternary(condition, [then, otherwise], position);
            }
            ExpressionKind::Comma { first, second } => {
                self.visit(first, Position::Discarded);
                self.visit(second, Position::Operand);
            }
            ExpressionKind::Call { callee, arguments } => self.visit_call(callee, arguments),
            ExpressionKind::Index { base, index } => {
                self.visit(base, Position::Operand);
                if let Some(index) = index {
                    self.visit(index, Position::Operand);
                }
            }
            // `flag.x` has the value of `flag`, and something may be stored to it.
            ExpressionKind::Field { base, .. }
                if self.names.is_boolean(base) && self.names.is_boolean(expression) =>
            {
                self.visit(base, Position::Enclosed);
            }
            ExpressionKind::Field { base, .. } => self.visit(base, Position::Operand),
            ExpressionKind::List(_) => self.initialise(expression, None),
            ExpressionKind::Template(arguments) => self.template(arguments),
        }
    }

    /// Operands of a chain of binary operators, without recursion down its left side where no
    /// decision stands there.
    fn visit_chain(&mut self, whole: &Expression, left: &Expression, right: &Expression) {
        let mut right_operands = vec![right];
        let mut leftmost = left;
        while !self.names.is_boolean(leftmost) {
            let ExpressionKind::Binary { left, right, .. } = &leftmost.kind else { break };
            right_operands.push(right);
            leftmost = left;
        }
        debug_assert_eq!(leftmost.first, whole.first, "a chain starts with its leftmost operand");
        // Operands of `==` and `!=` have one type; operands of other operators are no Booleans.
        let is_boolean = |operand: &Expression| self.names.is_boolean(operand);
        let position = match is_boolean(leftmost)
            || right_operands.last().is_some_and(|right| is_boolean(right))
        {
            true => Position::BooleanOperand,
            false => Position::Operand,
        };
        self.visit(leftmost, position);
        for (index, right) in right_operands.into_iter().rev().enumerate() {
            self.visit(right, if index == 0 { position } else { Position::Operand });
        }
    }

    fn visit_call(&mut self, callee: &Expression, arguments: &[Expression]) {
        self.narrow.extend(narrow::constructor(&self.names, callee, arguments));
        self.semantics.extend(semantics::varying(&self.names, callee, arguments));
        if self.names.array_constructor(callee).is_some() {
            self.constant("an array size", |decisions| decisions.visit_parts(callee));
        } else if !matches!(callee.kind, ExpressionKind::Identifier) {
            self.visit_parts(callee);
        }
        let first_semantic_argument =
            arguments.len() - semantics::asked_of(&self.names, callee, arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            if index >= first_semantic_argument {
                self.constant("a scope, memory semantics or matrix operands", |decisions| {
                    decisions.visit(argument, Position::Operand)
                });
                continue;
            }
            let position = match self.names.argument_place(callee, index, arguments.len()) {
                ArgumentPlace::Boolean => Position::Boolean(DecisionContext::Argument),
                // `true` for a built-in function is no expression of conditions, and often must
                // stay a literal.
                ArgumentPlace::BuiltIn if self.is_truth_literal(argument) => continue,
                ArgumentPlace::BuiltIn | ArgumentPlace::Other => {
                    Position::Place(DecisionContext::Argument)
                }
                ArgumentPlace::Written if is_place(argument) => {
                    self.visit_parts(argument);
                    continue;
                }
                // Another function of the name takes the value.
                ArgumentPlace::Written => Position::Place(DecisionContext::Argument),
            };
            self.visit(argument, position);
        }
    }

    fn is_truth_literal(&self, expression: &Expression) -> bool {
        let mut innermost = expression;
        while let ExpressionKind::Parenthesised(inner_expression) = &innermost.kind {
            innermost = inner_expression;
        }
        innermost.first == innermost.last
            && matches!(self.names.text(innermost.first), "true" | "false")
    }

    /// Visits the initialiser of a value of the type `whole`, which may be a list.
    pub(crate) fn initialise(&mut self, initialiser: &Expression, whole_type: Option<&ValueType>) {
        let decision_context = DecisionContext::Initialiser;
        match &initialiser.kind {
            ExpressionKind::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let element_type = self.names.listed_type(whole_type, index);
                    self.initialise(element, element_type.as_ref());
                }
            }
            _ if whole_type.is_some_and(ValueType::is_boolean) => {
                self.visit(initialiser, Position::Boolean(decision_context))
            }
            _ => self.visit(initialiser, Position::Place(decision_context)),
        }
    }

    /// Visits arguments in angle brackets.
    pub(crate) fn template(&mut self, type_arguments: &[Expression]) {
        for argument in type_arguments {
            self.constant("an argument of a type", |decisions| {
                decisions.visit(argument, Position::Operand)
            });
        }
    }

    fn decide(&mut self, expression: &Expression, decision_context: DecisionContext) {
        let mut leaves = Leaves { names: &self.names, found: Vec::new() };
        let boolean_tree = leaves.tree(expression, 0);
        let (boolean_tree, leaf_expressions, is_too_deep) = match boolean_tree {
            Some(boolean_tree) => (boolean_tree, leaves.found, false),
            None => (BooleanExpression::Condition(0), vec![expression], true),
        };
        let decision_id = DecisionId(self.found.len() as u32 + 1);
        let conditions = self.conditions(&leaf_expressions);
        let located_tokens = self.locate(expression.first, expression.last);
        let constness = conditions
            .iter()
            .map(|condition| condition.constness)
            .max()
            .unwrap_or(Constness::Runtime);
        let recording = match self.surroundings {
            _ if is_too_deep => Recording::Unmarked {
                reason: format!("its operators are nested more than {EXPRESSION_DEPTH_LIMIT} deep"),
            },
            Surroundings::ConstantExpression(place) => Recording::Unmarked {
                reason: format!(
                    "{place} must be a constant expression, in which no function can be called"
                ),
            },
            Surroundings::Runtime => Recording::Marked,
        };
        if recording == Recording::Marked {
            self.place_markers(decision_id, expression, &leaf_expressions);
        }
        self.ranges.push([expression.first as u32, expression.last as u32]);
        self.found.push(Decision {
            id: decision_id,
            function: self.function,
            context: decision_context,
            span: located_tokens.span,
            text: self.text(&located_tokens),
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
        let mut add_placement = |marked_expression: &Expression, role| {
            self.placements.push(Placement {
                first: marked_expression.first,
                last: marked_expression.last,
                role,
            });
        };
        if let [leaf] = leaves {
            add_placement(leaf, Placed::Single { decision: decision_id });
            return;
        }
        add_placement(expression, Placed::Decision { decision: decision_id });
        for (condition, leaf) in leaves.iter().enumerate() {
            add_placement(
                leaf,
                Placed::Condition { decision: decision_id, condition: condition as u32 },
            );
        }
    }

    /// Conditions with coupling classes. A condition with side effects ends all classes before it:
    /// what it changes may change the value of the same text behind it.
    fn conditions(&self, leaves: &[&Expression]) -> Vec<Condition> {
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
            let located_tokens = self.locate(leaf.first, leaf.last);
            let leaf_text = self.text(&located_tokens);
            conditions.push(Condition {
                span: located_tokens.span,
                text: leaf_text,
                coupling: coupling_class,
                constness: self.names.constness(leaf),
            });
        }
        conditions
    }
}

/// Whether something can be stored to what the expression names.
fn is_place(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Identifier => true,
        ExpressionKind::Parenthesised(inner)
        | ExpressionKind::Index { base: inner, .. }
        | ExpressionKind::Field { base: inner, .. } => is_place(inner),
        ExpressionKind::Literal
        | ExpressionKind::Prefix(_)
        | ExpressionKind::Postfix(_)
        | ExpressionKind::Binary { .. }
        | ExpressionKind::Assignment { .. }
        | ExpressionKind::Ternary { .. }
        | ExpressionKind::Comma { .. }
        | ExpressionKind::Call { .. }
        | ExpressionKind::List(_)
        | ExpressionKind::Template(_) => false,
    }
}

/// Text without comments, white space collapsed to single spaces.
pub fn collapsed(text: &str) -> String {
    let mut lexer = Lexer::new(text.into(), vkcert_model::place::FileIndex(0));
    let mut collapsed_text = String::with_capacity(text.len());
    let mut space_is_pending = false;
    while let Some(token) = lexer.next() {
        if token.kind == TokenKind::NewLine {
            space_is_pending = true;
            continue;
        }
        if (space_is_pending || token.spaced) && !collapsed_text.is_empty() {
            collapsed_text.push(' ');
        }
        space_is_pending = false;
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        collapsed_text.push_str(text.get(start..end).unwrap_or(&token.text));
    }
    collapsed_text
}
