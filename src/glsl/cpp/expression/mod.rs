//! Expressions, token by token where C++ has the same, and rewritten where it has not.
//!
//! Promises: an expression stands on one line; where a decision, its root or a condition begins and
//! ends is noted.

mod literal;
mod swizzle;

use crate::cpp::built_in::{self, Composite};
use crate::cpp::{Emitted, Emitter, PlacedDecision, ValuePlace, WatchedRole};
use crate::marking::PlacementRole;
use crate::outline::UnitOutline;
use crate::syntax::{Expression, ExpressionKind, TokenIndex};
use literal::{float_literal, integer_literal};
use std::collections::BTreeMap;
use std::rc::Rc;
use vkcert_model::id::DecisionId;

const COMPONENT_NAMES: [&str; 4] = [".x", ".y", ".z", ".w"];

/// What runs of tokens are to the decisions, as the outline has found them.
pub(in crate::cpp) fn watched_ranges(
    outline: &UnitOutline,
) -> BTreeMap<(TokenIndex, TokenIndex), Vec<WatchedRole>> {
    let mut watched_ranges: BTreeMap<_, Vec<WatchedRole>> = BTreeMap::new();
    for (decision_index, [first, last]) in outline.token_ranges.decisions.iter().enumerate() {
        let decision_id = DecisionId(decision_index as u32 + 1);
        watched_ranges
            .entry((*first as usize, *last as usize))
            .or_default()
            .push(WatchedRole::Whole(decision_id));
    }
    for placement in &outline.placements {
        let watched_role = match placement.role {
            PlacementRole::Condition { decision, condition } => {
                WatchedRole::Condition(decision, condition as usize)
            }
            PlacementRole::Single { decision } => WatchedRole::Condition(decision, 0),
            PlacementRole::Decision { .. }
            | PlacementRole::Entry { .. }
            | PlacementRole::Label { .. }
            | PlacementRole::ImplicitDefault { .. }
            | PlacementRole::Call { .. }
            | PlacementRole::LoopOpen { .. }
            | PlacementRole::LoopIteration { .. }
            | PlacementRole::LoopBreak { .. }
            | PlacementRole::LoopReturn { .. }
            | PlacementRole::LoopLeft { .. }
            | PlacementRole::LoopClose { .. } => {
                continue;
            }
        };
        watched_ranges.entry((placement.first, placement.last)).or_default().push(watched_role);
    }
    watched_ranges
}

impl Emitter<'_> {
    /// Writes an expression.
    pub(in crate::cpp) fn emit_expression(&mut self, expression: &Expression) -> Emitted {
        let token_range = (expression.first, expression.last);
        // Parentheses around a whole expression have other tokens than it, so a run of tokens is
        // one node.
        let noted_roles = self.watched.get(&token_range).cloned().unwrap_or_default();
        for watch in &noted_roles {
            if let WatchedRole::Whole(id) = watch {
                let root_expression = self.decision_root(expression);
                self.watched
                    .entry((root_expression.first, root_expression.last))
                    .or_default()
                    .push(WatchedRole::Root(*id));
            }
        }
        let start_column = self.out.current_column();
        self.emit_bare_expression(expression)?;
        let line_extent = self.out.extent_since(start_column);
        for watch in self.watched.get(&token_range).cloned().unwrap_or_default() {
            let id = match watch {
                WatchedRole::Whole(id) | WatchedRole::Root(id) | WatchedRole::Condition(id, _) => {
                    id
                }
            };
            let condition_count = self.outline.decisions[id.0 as usize - 1].conditions.len();
            let placed_decision =
                self.placed_decisions.entry(id).or_insert_with(|| PlacedDecision {
                    id,
                    whole: Default::default(),
                    root: Default::default(),
                    conditions: vec![Default::default(); condition_count],
                });
            match watch {
                WatchedRole::Whole(_) => placed_decision.whole = line_extent,
                WatchedRole::Root(_) => placed_decision.root = line_extent,
                WatchedRole::Condition(_, condition) => {
                    placed_decision.conditions[condition] = line_extent
                }
            }
        }
        Ok(())
    }

    /// What is left of a decision without `!` and parentheses around all of it.
    fn decision_root<'e>(&self, expression: &'e Expression) -> &'e Expression {
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) => self.decision_root(inner),
            ExpressionKind::Prefix(inner) if self.token_text(expression.first) == "!" => {
                self.decision_root(inner)
            }
            _ => expression,
        }
    }

    fn emit_bare_expression(&mut self, expression: &Expression) -> Emitted {
        match &expression.kind {
            ExpressionKind::Literal => self.emit_literal(expression.first),
            ExpressionKind::Identifier => self.emit_identifier(expression.first),
            ExpressionKind::Parenthesised(inner) => self.emit_enclosed("(", inner, ")"),
            ExpressionKind::Prefix(operand) => {
                self.out.write_piece(self.token_text(expression.first));
                if matches!(operand.kind, ExpressionKind::Prefix(_))
                    && self.token_text(expression.first) != "!"
                {
                    self.out.write_piece(" ");
                }
                match self.token_text(expression.first) {
                    "++" | "--" => self.emit_written_place(operand),
                    _ => self.emit_expression(operand),
                }
            }
            ExpressionKind::Postfix(operand) => {
                self.emit_written_place(operand)?;
                self.out.write_piece(self.token_text(expression.last));
                Ok(())
            }
            ExpressionKind::Binary { operator, left, right } => {
                self.emit_binary(*operator, left, right)
            }
            ExpressionKind::Assignment { target, value } => self.emit_assignment(target, value),
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.emit_selecting(condition)?;
                self.out.write_piece(" ? ");
                self.emit_expression(then)?;
                self.out.write_piece(" : ");
                self.emit_expression(otherwise)
            }
            ExpressionKind::Comma { first, second } => {
                self.emit_expression(first)?;
                self.out.write_piece(", ");
                self.emit_expression(second)
            }
            ExpressionKind::Call { callee, arguments } => {
                self.emit_call(expression, callee, arguments)
            }
            ExpressionKind::Index { base, index: Some(index) } => {
                self.emit_indexed(base)?;
                self.emit_enclosed("[", index, "]")
            }
            ExpressionKind::Field { base, name } => self.emit_field(base, *name),
            ExpressionKind::Index { index: None, .. } | ExpressionKind::Template(_) => {
                Err(self.unsupported_at("a type in an expression", expression.first))
            }
            ExpressionKind::List(_) => {
                Err(self.unsupported_at("a list in an expression", expression.first))
            }
        }
    }

    /// What an index stands behind. clang takes `(mat2(x))[` for a conversion of a function, so
    /// that parentheses around a call are left out.
    fn emit_indexed(&mut self, base: &Expression) -> Emitted {
        match &base.kind {
            ExpressionKind::Parenthesised(inner)
                if matches!(
                    inner.kind,
                    ExpressionKind::Call { .. } | ExpressionKind::Parenthesised(_)
                ) =>
            {
                self.emit_indexed(inner)
            }
            _ => self.emit_expression(base),
        }
    }

    /// The condition of `?:`. clang 19 records no vectors of it where the value is of a class type,
    /// as numbers are here, unless the condition is an expression of its own.
    fn emit_selecting(&mut self, condition: &Expression) -> Emitted {
        match &self.decision_root(condition).kind {
            ExpressionKind::Binary { operator, .. }
                if matches!(self.token_text(*operator), "&&" | "||") =>
            {
                self.emit_enclosed("bool(", condition, ")")
            }
            _ => self.emit_expression(condition),
        }
    }

    fn emit_enclosed(&mut self, open: &str, inner: &Expression, close: &str) -> Emitted {
        self.out.write_piece(open);
        self.emit_expression(inner)?;
        self.out.write_piece(close);
        Ok(())
    }

    /// C++ has no `^^`; on Booleans `!=` is the same, and evaluates both sides too.
    fn emit_binary(
        &mut self,
        operator: TokenIndex,
        left: &Expression,
        right: &Expression,
    ) -> Emitted {
        if self.token_text(operator) == "^^" {
            self.emit_enclosed("((", left, ") != ")?;
            return self.emit_enclosed("(", right, "))");
        }
        self.emit_expression(left)?;
        self.out.write_piece(&format!(" {} ", self.token_text(operator)));
        self.emit_expression(right)
    }

    fn emit_assignment(&mut self, target: &Expression, value: &Expression) -> Emitted {
        self.emit_written_place(target)?;
        self.out.write_piece(&format!(" {} ", self.token_text(target.last + 1)));
        self.emit_expression(value)
    }

    fn emit_field(&mut self, base: &Expression, name: TokenIndex) -> Emitted {
        let field_name = self.token_text(name);
        if let Some(members) = self.block_members(base) {
            let Some(member) = members.get(field_name) else {
                return Err(self.unsupported_at(format!("the member `{field_name}`"), name));
            };
            let member_text = Rc::clone(&member.text);
            self.out.write_piece(&member_text);
            return Ok(());
        }
        if matches!(field_name, "x" | "r" | "s") && self.is_scalar(base) == Some(true) {
            return self.emit_expression(base);
        }
        let components = self.field_components(base, name)?;
        match components.as_slice() {
            [0] if self.is_scalar(base).is_none() => {
                self.out.write_piece("first_of(");
                self.emit_expression(base)?;
                self.out.write_piece(")");
            }
            [] if field_name == "x" && self.is_scalar(base).is_none() => {
                self.out.write_piece("first_of(");
                self.emit_expression(base)?;
                self.out.write_piece(")");
            }
            [] => {
                self.emit_expression(base)?;
                self.out.write_piece(&format!(".{}", built_in::spelled_name(field_name)));
            }
            [component] => {
                self.emit_expression(base)?;
                self.out.write_piece(COMPONENT_NAMES[*component]);
            }
            several => {
                self.out.write_piece(&format!("swizzle<{}>(", component_list(several)));
                self.emit_expression(base)?;
                self.out.write_piece(")");
            }
        }
        Ok(())
    }

    fn emit_identifier(&mut self, token: TokenIndex) -> Emitted {
        let variable_name = self.token_text(token);
        let spelled_text = match self.resolve_name(variable_name) {
            Some(symbol) => match symbol.place {
                ValuePlace::Block(_) => {
                    return Err(self
                        .unsupported_at(format!("the block `{variable_name}` as a value"), token));
                }
                ValuePlace::Locally
                | ValuePlace::InMemory
                | ValuePlace::Unwritten
                | ValuePlace::Constant => Rc::clone(&symbol.text),
            },
            None if built_in::has_variable(variable_name) => variable_name.into(),
            None => return Err(self.unsupported_at(format!("`{variable_name}`"), token)),
        };
        self.out.write_piece(&spelled_text);
        Ok(())
    }

    fn emit_literal(&mut self, token: TokenIndex) -> Emitted {
        let literal_text = self.token_text(token);
        if matches!(literal_text, "true" | "false") {
            self.out.write_piece(literal_text);
            return Ok(());
        }
        let is_hexadecimal = literal_text.starts_with("0x") || literal_text.starts_with("0X");
        let is_float = !is_hexadecimal && literal_text.contains(['.', 'e', 'E']);
        let spelled_literal = if is_float {
            float_literal(literal_text)
        } else {
            integer_literal(literal_text, is_hexadecimal)
        };
        let spelled_literal = spelled_literal
            .ok_or_else(|| self.unsupported_at(format!("the literal `{literal_text}`"), token))?;
        self.out.write_piece(&spelled_literal);
        Ok(())
    }

    /// An initialiser, which may be a list (GLSL 4.60, 4.1.11), of a value of the named type in so
    /// many array dimensions.
    pub(in crate::cpp) fn emit_initialiser(
        &mut self,
        initialiser: &Expression,
        element: Option<TokenIndex>,
        dimensions: usize,
    ) -> Emitted {
        let ExpressionKind::List(elements) = &initialiser.kind else {
            return self.emit_expression(initialiser);
        };
        let refuse_list =
            |emitter: &Self, reason: &str| Err(emitter.unsupported_at(reason, initialiser.first));
        if elements.is_empty() {
            // GL_EXT_null_initializer
            self.out.write_piece("Zero()");
            return Ok(());
        }
        let Some(type_name) = element else {
            return refuse_list(self, "a list of initialisers for nothing");
        };
        if dimensions > 0 {
            self.out.write_piece("{{");
            for (element_number, inner) in elements.iter().enumerate() {
                self.out.write_piece(if element_number == 0 { "" } else { ", " });
                self.emit_initialiser(inner, element, dimensions - 1)?;
            }
            self.out.write_piece("}}");
            return Ok(());
        }
        if let Some(members) = self.structures.get(self.token_text(type_name)).map(Rc::clone) {
            self.out.write_piece("{");
            for (element_number, (inner, member)) in elements.iter().zip(members.iter()).enumerate()
            {
                self.out.write_piece(if element_number == 0 { "" } else { ", " });
                self.emit_initialiser(inner, member.declared.name, member.dimensions)?;
            }
            self.out.write_piece("}");
            return Ok(());
        }
        match Composite::from_name(self.token_text(type_name)) {
            Some(vector @ Composite::Vector { .. }) => {
                self.out.write_piece(&vector.cpp_type());
                self.emit_arguments(["{", "}"], elements)
            }
            Some(matrix @ Composite::Matrix { element: component, rows, .. }) => {
                self.out.write_piece(&matrix.cpp_type());
                let column_type = Composite::Vector { element: component, size: rows }.cpp_type();
                self.emit_columns(&column_type, elements)
            }
            None => refuse_list(
                self,
                "a list for a value that is no array, structure, vector or matrix",
            ),
        }
    }

    /// The columns of a matrix, each of which may be a list.
    fn emit_columns(&mut self, column_type: &str, elements: &[Expression]) -> Emitted {
        self.out.write_piece("{");
        for (element_number, element) in elements.iter().enumerate() {
            self.out.write_piece(if element_number == 0 { "" } else { ", " });
            match &element.kind {
                ExpressionKind::List(components) => {
                    self.out.write_piece(column_type);
                    self.emit_arguments(["{", "}"], components)?;
                }
                _ => self.emit_expression(element)?,
            }
        }
        self.out.write_piece("}");
        Ok(())
    }

    fn emit_call(
        &mut self,
        whole_call: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Emitted {
        if let Some(gathered_text) = self.gathered_calls.get(&(whole_call.first, whole_call.last)) {
            self.out.write_piece(gathered_text);
            return Ok(());
        }
        match &callee.kind {
            ExpressionKind::Field { base, name }
                if self.token_text(*name) == "length" && arguments.is_empty() =>
            {
                self.emit_expression(base)?;
                self.out.write_piece(".length()");
                Ok(())
            }
            ExpressionKind::Index { .. } => self.emit_array_constructor(callee, arguments),
            ExpressionKind::Identifier => self.emit_named_call(callee.first, arguments),
            _ => Err(self.unsupported_at("a call of something that is no name", whole_call.first)),
        }
    }

    /// `float[3](a, b, c)`
    fn emit_array_constructor(&mut self, callee: &Expression, arguments: &[Expression]) -> Emitted {
        let mut array_sizes = Vec::new();
        let mut innermost = callee;
        while let ExpressionKind::Index { base, index } = &innermost.kind {
            array_sizes.push(index.as_deref().cloned());
            innermost = base;
        }
        array_sizes.reverse();
        if !matches!(innermost.kind, ExpressionKind::Identifier) {
            return Err(self.unsupported_at("a call of something that is no name", callee.first));
        }
        let element_type = self.type_of_name(innermost.first)?;
        let array_sizes: Vec<&Option<Expression>> = array_sizes.iter().collect();
        self.write_array(&element_type, &array_sizes, Some(arguments.len()), callee.first)?;
        self.emit_arguments(["{{", "}}"], arguments)
    }

    fn emit_named_call(&mut self, callee: TokenIndex, arguments: &[Expression]) -> Emitted {
        let function_name = self.token_text(callee);
        if self.structures.contains_key(function_name) {
            self.out.write_piece(&built_in::spelled_name(function_name));
            return self.emit_arguments(["{", "}"], arguments);
        }
        if let Some(signature) = self
            .functions
            .get(function_name)
            .filter(|known_function| known_function.takes_call(function_name, arguments.len()))
        {
            if signature.holds_barrier {
                return Err(self.unsupported_at(
                    format!("a call of `{function_name}`, which holds a barrier"),
                    callee,
                ));
            }
            self.out.write_piece(&built_in::spelled_function(function_name));
            return self.emit_own_arguments(callee, arguments);
        }
        if let Some(spelled_type) = built_in::type_name(function_name) {
            self.out.write_piece(&spelled_type);
            // Several arguments between braces, where C++ keeps their order.
            return self.emit_arguments(
                if arguments.len() > 1 { ["{", "}"] } else { ["(", ")"] },
                arguments,
            );
        }
        if !built_in::has_function(function_name, arguments.len()) {
            return Err(self.unsupported_at(format!("the function `{function_name}`"), callee));
        }
        for written_index in built_in::written_arguments(function_name) {
            arguments
                .get(*written_index)
                .map_or(Ok(()), |argument| self.refuse_written_swizzle(argument))?;
        }
        self.out.write_piece(built_in::function_name(function_name));
        self.emit_arguments(["(", ")"], arguments)
    }

    fn emit_arguments(&mut self, [open, close]: [&str; 2], arguments: &[Expression]) -> Emitted {
        self.out.write_piece(open);
        for (argument_number, argument) in arguments.iter().enumerate() {
            self.out.write_piece(if argument_number == 0 { "" } else { ", " });
            self.emit_expression(argument)?;
        }
        self.out.write_piece(close);
        Ok(())
    }
}

fn component_list(components: &[usize]) -> String {
    components.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
