//! Expressions, token by token where C++ has the same, and rewritten where it has not.
//!
//! Promises: an expression stands on one line; where a decision, its root or a condition begins and
//! ends is noted.

mod literal;
mod swizzle;

use crate::cpp::built_in::{self, Composite};
use crate::cpp::{Emitted, Emitter, Held, PlacedDecision, Watched};
use crate::marking::Placed;
use crate::outline::Outline;
use crate::syntax::{Expression, ExpressionKind, TokenIndex};
use literal::{float_literal, integer_literal};
use std::collections::BTreeMap;
use vkcert_model::id::DecisionId;

const COMPONENT_NAMES: [&str; 4] = [".x", ".y", ".z", ".w"];

/// What runs of tokens are to the decisions, as the outline has found them.
pub(in crate::cpp) fn watched(
    outline: &Outline,
) -> BTreeMap<(TokenIndex, TokenIndex), Vec<Watched>> {
    let mut watched_ranges: BTreeMap<_, Vec<Watched>> = BTreeMap::new();
    for (decision_index, [first, last]) in outline.ranges.iter().enumerate() {
        let decision_id = DecisionId(decision_index as u32 + 1);
        watched_ranges
            .entry((*first as usize, *last as usize))
            .or_default()
            .push(Watched::Whole(decision_id));
    }
    for placement in &outline.placements {
        let watched_role = match placement.role {
            Placed::Condition { decision, condition } => {
                Watched::Condition(decision, condition as usize)
            }
            Placed::Single { decision } => Watched::Condition(decision, 0),
            Placed::Decision { .. }
            | Placed::Entry { .. }
            | Placed::Label { .. }
            | Placed::ImplicitDefault { .. } => {
                continue;
            }
        };
        watched_ranges.entry((placement.first, placement.last)).or_default().push(watched_role);
    }
    watched_ranges
}

impl Emitter<'_> {
    /// Writes an expression.
    pub(in crate::cpp) fn expression(&mut self, expression: &Expression) -> Emitted {
        let token_range = (expression.first, expression.last);
        // Parentheses around a whole expression have other tokens than it, so a run of tokens is
        // one node.
        let noted_roles = self.watched.get(&token_range).cloned().unwrap_or_default();
        for watch in &noted_roles {
            if let Watched::Whole(id) = watch {
                let root_expression = self.root(expression);
                self.watched
                    .entry((root_expression.first, root_expression.last))
                    .or_default()
                    .push(Watched::Root(*id));
            }
        }
        let start_column = self.out.here();
        self.bare_expression(expression)?;
        let line_extent = self.out.since(start_column);
        for watch in self.watched.get(&token_range).cloned().unwrap_or_default() {
            let condition_count =
                |id: DecisionId| self.outline.decisions[id.0 as usize - 1].conditions.len();
            let count = match watch {
                Watched::Whole(id) | Watched::Root(id) | Watched::Condition(id, _) => {
                    (id, condition_count(id))
                }
            };
            let unplaced = || PlacedDecision {
                id: count.0,
                whole: Default::default(),
                root: Default::default(),
                conditions: vec![Default::default(); count.1],
            };
            let placed_decision = self.placed.entry(count.0).or_insert_with(unplaced);
            match watch {
                Watched::Whole(_) => placed_decision.whole = line_extent,
                Watched::Root(_) => placed_decision.root = line_extent,
                Watched::Condition(_, condition) => {
                    placed_decision.conditions[condition] = line_extent
                }
            }
        }
        Ok(())
    }

    /// What is left of a decision without `!` and parentheses around all of it.
    fn root<'e>(&self, expression: &'e Expression) -> &'e Expression {
        match &expression.kind {
            ExpressionKind::Parenthesised(inner) => self.root(inner),
            ExpressionKind::Prefix(inner) if self.text(expression.first) == "!" => self.root(inner),
            _ => expression,
        }
    }

    fn bare_expression(&mut self, expression: &Expression) -> Emitted {
        match &expression.kind {
            ExpressionKind::Literal => self.literal(expression.first),
            ExpressionKind::Identifier => self.identifier(expression.first),
            ExpressionKind::Parenthesised(inner) => self.enclosed("(", inner, ")"),
            ExpressionKind::Prefix(operand) => {
                self.out.write(self.text(expression.first));
                if matches!(operand.kind, ExpressionKind::Prefix(_))
                    && self.text(expression.first) != "!"
                {
                    self.out.write(" ");
                }
                match self.text(expression.first) {
                    "++" | "--" => self.written_place(operand),
                    _ => self.expression(operand),
                }
            }
            ExpressionKind::Postfix(operand) => {
                self.written_place(operand)?;
                self.out.write(self.text(expression.last));
                Ok(())
            }
            ExpressionKind::Binary { operator, left, right } => self.binary(*operator, left, right),
            ExpressionKind::Assignment { target, value } => self.assignment(target, value),
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.selecting(condition)?;
                self.out.write(" ? ");
                self.expression(then)?;
                self.out.write(" : ");
                self.expression(otherwise)
            }
            ExpressionKind::Comma { first, second } => {
                self.expression(first)?;
                self.out.write(", ");
                self.expression(second)
            }
            ExpressionKind::Call { callee, arguments } => self.call(expression, callee, arguments),
            ExpressionKind::Index { base, index: Some(index) } => {
                self.indexed(base)?;
                self.enclosed("[", index, "]")
            }
            ExpressionKind::Field { base, name } => self.field(base, *name),
            ExpressionKind::Index { index: None, .. } | ExpressionKind::Template(_) => {
                Err(self.unsupported("a type in an expression", expression.first))
            }
            ExpressionKind::List(_) => {
                Err(self.unsupported("a list in an expression", expression.first))
            }
        }
    }

    /// What an index stands behind. clang takes `(mat2(x))[` for a conversion of a function, so
    /// that parentheses around a call are left out.
    fn indexed(&mut self, base: &Expression) -> Emitted {
        match &base.kind {
            ExpressionKind::Parenthesised(inner)
                if matches!(
                    inner.kind,
                    ExpressionKind::Call { .. } | ExpressionKind::Parenthesised(_)
                ) =>
            {
                self.indexed(inner)
            }
            _ => self.expression(base),
        }
    }

    /// The condition of `?:`. clang 19 records no vectors of it where the value is of a class type,
    /// as numbers are here, unless the condition is an expression of its own.
    fn selecting(&mut self, condition: &Expression) -> Emitted {
        match &self.root(condition).kind {
            ExpressionKind::Binary { operator, .. }
                if matches!(self.text(*operator), "&&" | "||") =>
            {
                self.enclosed("bool(", condition, ")")
            }
            _ => self.expression(condition),
        }
    }

    fn enclosed(&mut self, open: &str, inner: &Expression, close: &str) -> Emitted {
        self.out.write(open);
        self.expression(inner)?;
        self.out.write(close);
        Ok(())
    }

    /// C++ has no `^^`; on Booleans `!=` is the same, and evaluates both sides too.
    fn binary(&mut self, operator: TokenIndex, left: &Expression, right: &Expression) -> Emitted {
        if self.text(operator) == "^^" {
            self.enclosed("((", left, ") != ")?;
            return self.enclosed("(", right, "))");
        }
        self.expression(left)?;
        self.out.write(&format!(" {} ", self.text(operator)));
        self.expression(right)
    }

    fn assignment(&mut self, target: &Expression, value: &Expression) -> Emitted {
        self.written_place(target)?;
        self.out.write(&format!(" {} ", self.text(target.last + 1)));
        self.expression(value)
    }

    fn field(&mut self, base: &Expression, name: TokenIndex) -> Emitted {
        let field_name = self.text(name);
        if let Some(members) = self.block_members(base) {
            let member = members.get(field_name).map(|member| member.text.clone());
            let member = member
                .ok_or_else(|| self.unsupported(format!("the member `{field_name}`"), name))?;
            self.out.write(&member);
            return Ok(());
        }
        if matches!(field_name, "x" | "r" | "s") && self.is_scalar(base) == Some(true) {
            return self.expression(base);
        }
        let components = self.swizzled(base, name)?;
        match components.as_slice() {
            [0] if self.is_scalar(base).is_none() => {
                self.out.write("first_of(");
                self.expression(base)?;
                self.out.write(")");
            }
            [] if field_name == "x" && self.is_scalar(base).is_none() => {
                self.out.write("first_of(");
                self.expression(base)?;
                self.out.write(")");
            }
            [] => {
                self.expression(base)?;
                self.out.write(&format!(".{}", built_in::spelled(field_name)));
            }
            [component] => {
                self.expression(base)?;
                self.out.write(COMPONENT_NAMES[*component]);
            }
            several => {
                self.out.write(&format!("swizzle<{}>(", component_list(several)));
                self.expression(base)?;
                self.out.write(")");
            }
        }
        Ok(())
    }

    fn identifier(&mut self, token: TokenIndex) -> Emitted {
        let variable_name = self.text(token);
        let spelled_text = match self.resolve(variable_name) {
            Some(symbol) => match symbol.place {
                Held::Block(_) => {
                    return Err(
                        self.unsupported(format!("the block `{variable_name}` as a value"), token)
                    );
                }
                Held::Locally | Held::InMemory | Held::Unwritten | Held::Constant => {
                    symbol.text.clone()
                }
            },
            None if built_in::has_variable(variable_name) => variable_name.to_owned(),
            None => return Err(self.unsupported(format!("`{variable_name}`"), token)),
        };
        self.out.write(&spelled_text);
        Ok(())
    }

    fn literal(&mut self, token: TokenIndex) -> Emitted {
        let literal_text = self.text(token);
        if matches!(literal_text, "true" | "false") {
            self.out.write(literal_text);
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
            .ok_or_else(|| self.unsupported(format!("the literal `{literal_text}`"), token))?;
        self.out.write(&spelled_literal);
        Ok(())
    }

    /// An initialiser, which may be a list (GLSL 4.60, 4.1.11), of a value of the named type in so
    /// many array dimensions.
    pub(in crate::cpp) fn initialiser(
        &mut self,
        initialiser: &Expression,
        element: Option<TokenIndex>,
        dimensions: usize,
    ) -> Emitted {
        let ExpressionKind::List(elements) = &initialiser.kind else {
            return self.expression(initialiser);
        };
        let refuse_list =
            |emitter: &Self, reason: &str| Err(emitter.unsupported(reason, initialiser.first));
        if elements.is_empty() {
            // GL_EXT_null_initializer
            self.out.write("Zero()");
            return Ok(());
        }
        let Some(type_name) = element else {
            return refuse_list(self, "a list of initialisers for nothing");
        };
        if dimensions > 0 {
            self.out.write("{{");
            for (element_number, inner) in elements.iter().enumerate() {
                self.out.write(if element_number == 0 { "" } else { ", " });
                self.initialiser(inner, element, dimensions - 1)?;
            }
            self.out.write("}}");
            return Ok(());
        }
        if let Some(members) = self.structures.get(self.text(type_name)).cloned() {
            self.out.write("{");
            for (element_number, (inner, member)) in elements.iter().zip(&members).enumerate() {
                self.out.write(if element_number == 0 { "" } else { ", " });
                self.initialiser(inner, member.declared.name, member.dimensions)?;
            }
            self.out.write("}");
            return Ok(());
        }
        match Composite::of(self.text(type_name)) {
            Some(vector @ Composite::Vector { .. }) => {
                self.out.write(&vector.spelled());
                self.arguments(["{", "}"], elements)
            }
            Some(matrix @ Composite::Matrix { element, rows, .. }) => {
                self.out.write(&matrix.spelled());
                let column_type = Composite::Vector { element, size: rows }.spelled();
                self.columns(&column_type, elements)
            }
            None => refuse_list(
                self,
                "a list for a value that is no array, structure, vector or matrix",
            ),
        }
    }

    /// The columns of a matrix, each of which may be a list.
    fn columns(&mut self, column_type: &str, elements: &[Expression]) -> Emitted {
        self.out.write("{");
        for (element_number, element) in elements.iter().enumerate() {
            self.out.write(if element_number == 0 { "" } else { ", " });
            match &element.kind {
                ExpressionKind::List(components) => {
                    self.out.write(column_type);
                    self.arguments(["{", "}"], components)?;
                }
                _ => self.expression(element)?,
            }
        }
        self.out.write("}");
        Ok(())
    }

    fn call(
        &mut self,
        whole_call: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Emitted {
        if let Some(gathered_text) = self.made.get(&(whole_call.first, whole_call.last)) {
            self.out.write(gathered_text);
            return Ok(());
        }
        match &callee.kind {
            ExpressionKind::Field { base, name }
                if self.text(*name) == "length" && arguments.is_empty() =>
            {
                self.expression(base)?;
                self.out.write(".length()");
                Ok(())
            }
            ExpressionKind::Index { .. } => self.array_constructor(callee, arguments),
            ExpressionKind::Identifier => self.named_call(callee.first, arguments),
            _ => Err(self.unsupported("a call of something that is no name", whole_call.first)),
        }
    }

    /// `float[3](a, b, c)`
    fn array_constructor(&mut self, callee: &Expression, arguments: &[Expression]) -> Emitted {
        let mut array_sizes = Vec::new();
        let mut innermost = callee;
        while let ExpressionKind::Index { base, index } = &innermost.kind {
            array_sizes.push(index.as_deref().cloned());
            innermost = base;
        }
        array_sizes.reverse();
        if !matches!(innermost.kind, ExpressionKind::Identifier) {
            return Err(self.unsupported("a call of something that is no name", callee.first));
        }
        let element_type = self.type_of_name(innermost.first)?;
        let array_sizes: Vec<&Option<Expression>> = array_sizes.iter().collect();
        self.write_array(&element_type, &array_sizes, Some(arguments.len()), callee.first)?;
        self.arguments(["{{", "}}"], arguments)
    }

    fn named_call(&mut self, callee: TokenIndex, arguments: &[Expression]) -> Emitted {
        let function_name = self.text(callee);
        if self.structures.contains_key(function_name) {
            self.out.write(&built_in::spelled(function_name));
            return self.arguments(["{", "}"], arguments);
        }
        if let Some(signature) = self
            .functions
            .get(function_name)
            .filter(|known_function| known_function.takes(function_name, arguments.len()))
        {
            if signature.holds_barrier {
                return Err(self.unsupported(
                    format!("a call of `{function_name}`, which holds a barrier"),
                    callee,
                ));
            }
            self.out.write(&built_in::spelled_function(function_name));
            return self.own_arguments(callee, arguments);
        }
        if let Some(spelled_type) = built_in::type_name(function_name) {
            self.out.write(&spelled_type);
            // Several arguments between braces, where C++ keeps their order.
            return self
                .arguments(if arguments.len() > 1 { ["{", "}"] } else { ["(", ")"] }, arguments);
        }
        if !built_in::has_function(function_name, arguments.len()) {
            return Err(self.unsupported(format!("the function `{function_name}`"), callee));
        }
        for written_index in built_in::written_arguments(function_name) {
            arguments
                .get(*written_index)
                .map_or(Ok(()), |argument| self.refuse_written_swizzle(argument))?;
        }
        self.out.write(built_in::function_name(function_name));
        self.arguments(["(", ")"], arguments)
    }

    fn arguments(&mut self, [open, close]: [&str; 2], arguments: &[Expression]) -> Emitted {
        self.out.write(open);
        for (argument_number, argument) in arguments.iter().enumerate() {
            self.out.write(if argument_number == 0 { "" } else { ", " });
            self.expression(argument)?;
        }
        self.out.write(close);
        Ok(())
    }
}

fn component_list(components: &[usize]) -> String {
    components.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
