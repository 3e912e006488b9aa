//! Decisions and conditions of expressions (contract, "The calculus"; CAST-10).
//!
//! Promises: every expression that the policy counts becomes a decision, in source order, outer
//! before inner; each gets its placements of markers, or a reason why none may stand there.
//! Does not cover: statements (`outline`) and the marked text (`marking`).

mod boolean_tree;
mod recording;

use crate::DecisionPolicy;
use crate::lexer::Lexer;
use crate::marking::{Placement, PlacementRole};
use crate::names::{ArgumentPlace, NameScopes};
use crate::narrow::{self, NarrowConstructor};
use crate::semantics::{self, VaryingSemantics};
use crate::syntax::{Expression, ExpressionKind, FileLevelItem, TokenIndex};
use crate::token::{ExpansionFrames, LocatedTokens, Token, TokenKind};
use crate::value_types::ValueType;
use vkcert_model::id::{CallId, FunctionId};
use vkcert_model::place::SourceFile;
use vkcert_model::structure::{Call, Decision, DecisionContext, MarkIndex};

/// The place of an expression, which says whether it is a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpressionPosition {
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

/// Whether an expression is evaluated at run time or must be constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvaluationContext {
    Runtime,
    /// A constant expression is demanded; the words name the place.
    ConstantExpression(&'static str),
}

/// The decisions found so far.
pub(crate) struct DecisionCollector<'a> {
    pub names: NameScopes<'a>,
    tokens: &'a [Token],
    frames: &'a ExpansionFrames,
    files: &'a [SourceFile],
    policy: DecisionPolicy,
    pub decisions: Vec<Decision>,
    pub placements: Vec<Placement>,
    /// First and last token of each of `decisions`.
    pub ranges: Vec<[u32; 2]>,
    pub function: Option<FunctionId>,
    pub evaluation_context: EvaluationContext,
    /// Constructors of narrow types that the compiler gets wrong unless an extension is enabled.
    pub narrow: Vec<NarrowConstructor>,
    /// Scopes, memory semantics and matrix operands that are no constants.
    pub semantics: Vec<VaryingSemantics>,
    /// Calls of the text's own functions; none where nobody asked for them.
    pub calls: Option<Vec<Call>>,
    /// Marks so far.
    marks: u32,
}

impl<'a> DecisionCollector<'a> {
    pub(crate) fn new(
        tokens: &'a [Token],
        frames: &'a ExpansionFrames,
        files: &'a [SourceFile],
        items: &[FileLevelItem],
        policy: DecisionPolicy,
    ) -> Self {
        Self {
            names: NameScopes::new(tokens, items),
            tokens,
            frames,
            files,
            policy,
            decisions: Vec::new(),
            placements: Vec::new(),
            ranges: Vec::new(),
            function: None,
            evaluation_context: EvaluationContext::Runtime,
            narrow: Vec::new(),
            semantics: Vec::new(),
            calls: None,
            marks: 0,
        }
    }

    pub(crate) fn next_mark(&mut self) -> MarkIndex {
        self.marks += 1;
        MarkIndex(self.marks - 1)
    }

    /// Lists and marks a call of a function that the text defines. In a constant expression, which
    /// cannot call one, it stays without a mark.
    fn note_call(&mut self, call: &Expression, callee: &Expression) {
        let names_own_function = matches!(callee.kind, ExpressionKind::Identifier)
            && self.names.is_own_function(self.names.token_text(callee.first));
        if self.calls.is_none() || !names_own_function {
            return;
        }
        let is_runtime = self.evaluation_context == EvaluationContext::Runtime;
        let mark = is_runtime.then(|| self.next_mark());
        if let Some(mark) = mark {
            let role = PlacementRole::Call { mark };
            self.placements.push(Placement { first: call.first, last: call.last, role });
        }
        self.list_call((call.first, call.last), mark);
    }

    /// Lists a call where calls are asked for.
    pub(crate) fn list_call(
        &mut self,
        (first, last): (TokenIndex, TokenIndex),
        mark: Option<MarkIndex>,
    ) {
        let LocatedTokens { span, expansion } = self.locate_tokens(first, last);
        let function = self.function;
        if let Some(calls) = &mut self.calls {
            let id = CallId(calls.len() as u32 + 1);
            calls.push(Call { id, function, span, mark, expansion });
        }
    }

    /// Place of the tokens `first..=last`.
    pub(crate) fn locate_tokens(
        &self,
        first_token: TokenIndex,
        last_token: TokenIndex,
    ) -> LocatedTokens {
        self.frames
            .locate_tokens(&self.tokens[first_token..=last_token])
            .expect("a node has at least one token")
    }

    /// The text of a place, comments left out, white space collapsed.
    pub(crate) fn source_text(&self, located_tokens: &LocatedTokens) -> String {
        let source_text =
            self.files.get(located_tokens.span.file.0 as usize).map_or("", |file| &file.text);
        let (start, end) = (located_tokens.span.start as usize, located_tokens.span.end as usize);
        collapse_spaces(source_text.get(start..end).unwrap_or(""))
    }

    /// Visits expressions in a constant-expression context.
    pub(crate) fn in_constant_expression(
        &mut self,
        place_in_words: &'static str,
        visit: impl FnOnce(&mut Self),
    ) {
        let outer_context = self.evaluation_context;
        if outer_context == EvaluationContext::Runtime {
            self.evaluation_context = EvaluationContext::ConstantExpression(place_in_words);
        }
        visit(self);
        self.evaluation_context = outer_context;
    }

    /// Finds the decisions in `expression`.
    pub(crate) fn visit_expression(
        &mut self,
        expression: &Expression,
        expression_position: ExpressionPosition,
    ) {
        let mut valued_expression = expression;
        loop {
            match &valued_expression.kind {
                ExpressionKind::Parenthesised(inner) => valued_expression = inner,
                ExpressionKind::Comma { first, second } => {
                    self.visit_expression(first, ExpressionPosition::Discarded);
                    valued_expression = second;
                }
                _ => break,
            }
        }
        if let (
            ExpressionPosition::Discarded,
            ExpressionKind::Ternary { condition, then, otherwise },
        ) = (expression_position, &valued_expression.kind)
        {
            return self.visit_ternary(condition, [then, otherwise], ExpressionPosition::Discarded);
        }
        let decision_context = match expression_position {
            ExpressionPosition::Controlling(decision_context)
            | ExpressionPosition::Boolean(decision_context) => Some(decision_context),
            ExpressionPosition::Place(decision_context) => {
                self.names.is_boolean(valued_expression).then_some(decision_context)
            }
            ExpressionPosition::Operand => {
                self.is_boolean_operand(valued_expression).then_some(DecisionContext::Expression)
            }
            ExpressionPosition::BooleanOperand => {
                (!self.is_truth_literal(valued_expression)).then_some(DecisionContext::Expression)
            }
            ExpressionPosition::Enclosed => {
                self.has_boolean_operator(valued_expression).then_some(DecisionContext::Expression)
            }
            ExpressionPosition::Discarded => {
                self.is_idle(valued_expression).then_some(DecisionContext::Expression)
            }
        };
        match decision_context.filter(|decision_context| {
            self.policy == DecisionPolicy::Literal || decision_context.controls_flow()
        }) {
            Some(decision_context) => self.add_decision(valued_expression, decision_context),
            None => self.visit_parts(valued_expression),
        }
    }

    fn has_boolean_operator(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Binary { operator, .. } => {
                matches!(self.names.token_text(*operator), "&&" | "||" | "^^")
            }
            ExpressionKind::Prefix(_) => self.names.token_text(expression.first) == "!",
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
        position: ExpressionPosition,
    ) {
        self.visit_expression(condition, ExpressionPosition::Controlling(DecisionContext::Ternary));
        for arm in arms {
            self.visit_expression(arm, position);
        }
    }

    /// Visits what a condition is made of. Its value is Boolean, whatever the text shows of its
    /// type.
    fn visit_condition(&mut self, condition: &Expression) {
        match &condition.kind {
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.visit_ternary(
                    condition,
                    [then, otherwise],
                    ExpressionPosition::BooleanOperand,
                );
            }
            ExpressionKind::Parenthesised(inner) => {
                self.visit_expression(inner, ExpressionPosition::Enclosed)
            }
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
                self.visit_expression(inner, ExpressionPosition::Operand);
            }
            ExpressionKind::Binary { left, right, .. } => self.visit_chain(expression, left, right),
            ExpressionKind::Assignment { target, value, .. } => {
                self.visit_parts(target);
                let boolean = self.names.is_boolean(target);
                let context = DecisionContext::Assignment;
                self.visit_expression(
                    value,
                    if boolean {
                        ExpressionPosition::Boolean(context)
                    } else {
                        ExpressionPosition::Place(context)
                    },
                );
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                let is_boolean = self.names.is_boolean(expression);
                let position = if is_boolean {
                    ExpressionPosition::BooleanOperand
                } else {
                    ExpressionPosition::Operand
                };
                self.visit_ternary(condition, [then, otherwise], position);
            }
            ExpressionKind::Comma { first, second } => {
                self.visit_expression(first, ExpressionPosition::Discarded);
                self.visit_expression(second, ExpressionPosition::Operand);
            }
            ExpressionKind::Call { callee, arguments } => {
                self.note_call(expression, callee);
                self.visit_call(callee, arguments)
            }
            ExpressionKind::Index { base, index } => {
                self.visit_expression(base, ExpressionPosition::Operand);
                if let Some(index) = index {
                    self.visit_expression(index, ExpressionPosition::Operand);
                }
            }
            // `flag.x` has the value of `flag`, and something may be stored to it.
            ExpressionKind::Field { base, .. }
                if self.names.is_boolean(base) && self.names.is_boolean(expression) =>
            {
                self.visit_expression(base, ExpressionPosition::Enclosed);
            }
            ExpressionKind::Field { base, .. } => {
                self.visit_expression(base, ExpressionPosition::Operand)
            }
            ExpressionKind::List(_) => self.visit_initialiser(expression, None),
            ExpressionKind::Template(arguments) => self.visit_type_arguments(arguments),
        }
    }

    /// Operands of a chain of binary operators, without recursion down its left side where no
    /// decision stands there.
    fn visit_chain(&mut self, whole: &Expression, left: &Expression, right: &Expression) {
        let mut right_operands = vec![right];
        let mut leftmost = left;
        while !self.names.is_boolean(leftmost) {
            let ExpressionKind::Binary { left: inner_left, right: inner_right, .. } =
                &leftmost.kind
            else {
                break;
            };
            right_operands.push(inner_right);
            leftmost = inner_left;
        }
        debug_assert_eq!(leftmost.first, whole.first, "a chain starts with its leftmost operand");
        // Operands of `==` and `!=` have one type; operands of other operators are no Booleans.
        let position = match self.names.is_boolean(leftmost)
            || right_operands.last().is_some_and(|operand| self.names.is_boolean(operand))
        {
            true => ExpressionPosition::BooleanOperand,
            false => ExpressionPosition::Operand,
        };
        self.visit_expression(leftmost, position);
        for (index, right_operand) in right_operands.into_iter().rev().enumerate() {
            self.visit_expression(
                right_operand,
                if index == 0 { position } else { ExpressionPosition::Operand },
            );
        }
    }

    fn visit_call(&mut self, callee: &Expression, arguments: &[Expression]) {
        self.narrow.extend(narrow::narrow_constructor(&self.names, callee, arguments));
        self.semantics.extend(semantics::find_varying(&self.names, callee, arguments));
        if self.names.array_constructor(callee).is_some() {
            self.in_constant_expression("an array size", |decisions| decisions.visit_parts(callee));
        } else if !matches!(callee.kind, ExpressionKind::Identifier) {
            self.visit_parts(callee);
        }
        let first_semantic_argument = arguments.len()
            - semantics::constant_argument_count(&self.names, callee, arguments.len());
        for (index, argument) in arguments.iter().enumerate() {
            if index >= first_semantic_argument {
                self.in_constant_expression(
                    "a scope, memory semantics or matrix operands",
                    |decisions| decisions.visit_expression(argument, ExpressionPosition::Operand),
                );
                continue;
            }
            let position = match self.names.argument_place(callee, index, arguments.len()) {
                ArgumentPlace::Boolean => ExpressionPosition::Boolean(DecisionContext::Argument),
                // `true` for a built-in function is no expression of conditions, and often must
                // stay a literal.
                ArgumentPlace::BuiltIn if self.is_truth_literal(argument) => continue,
                ArgumentPlace::BuiltIn | ArgumentPlace::Other => {
                    ExpressionPosition::Place(DecisionContext::Argument)
                }
                ArgumentPlace::Written if is_storable(argument) => {
                    self.visit_parts(argument);
                    continue;
                }
                // Another function of the name takes the value.
                ArgumentPlace::Written => ExpressionPosition::Place(DecisionContext::Argument),
            };
            self.visit_expression(argument, position);
        }
    }

    fn is_truth_literal(&self, expression: &Expression) -> bool {
        let mut innermost = expression;
        while let ExpressionKind::Parenthesised(inner_expression) = &innermost.kind {
            innermost = inner_expression;
        }
        innermost.first == innermost.last
            && matches!(self.names.token_text(innermost.first), "true" | "false")
    }

    /// Visits the initialiser of a value of the type `whole`, which may be a list.
    pub(crate) fn visit_initialiser(
        &mut self,
        initialiser: &Expression,
        whole_type: Option<ValueType<'a>>,
    ) {
        let decision_context = DecisionContext::Initialiser;
        match &initialiser.kind {
            ExpressionKind::List(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let element_type = self.names.listed_type(whole_type, index);
                    self.visit_initialiser(element, element_type);
                }
            }
            _ if whole_type.is_some_and(|whole_type| whole_type.is_boolean()) => {
                self.visit_expression(initialiser, ExpressionPosition::Boolean(decision_context))
            }
            _ => self.visit_expression(initialiser, ExpressionPosition::Place(decision_context)),
        }
    }

    /// Visits arguments in angle brackets.
    pub(crate) fn visit_type_arguments(&mut self, type_arguments: &[Expression]) {
        for argument in type_arguments {
            self.in_constant_expression("an argument of a type", |decisions| {
                decisions.visit_expression(argument, ExpressionPosition::Operand)
            });
        }
    }
}

/// Whether something can be stored to what the expression names.
fn is_storable(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Identifier => true,
        ExpressionKind::Parenthesised(inner)
        | ExpressionKind::Index { base: inner, .. }
        | ExpressionKind::Field { base: inner, .. } => is_storable(inner),
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
pub fn collapse_spaces(text: &str) -> String {
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
