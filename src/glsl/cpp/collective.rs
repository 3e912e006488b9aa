//! Collective operations inside an expression: calls of functions that hold a barrier, and subgroup
//! operations.
//!
//! Knows: a function of GLSL is never active twice in one invocation, so that its parameters, its
//! variables and its result are fields of the invocation's record.
//! Promises: such a call stands between regions. Every invocation that is there evaluates the
//! arguments, all go through the function (or the operation) together, and what it gives is at hand
//! in the region behind it. A call that some may not come to within its expression, or beside which
//! the expression writes something, is unsupported by name.

use super::super::syntax::{
    Expression, ExpressionKind, FileLevelItem, FunctionDefinition, ParameterSyntax, TokenIndex,
};
use super::function::{assigned_place, is_written};
use super::{Emitted, Emitter, NameSymbol, Unsupported, ValuePlace, built_in};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A function that all invocations go through together.
#[derive(Debug, Clone)]
pub(super) struct CollectiveFunction<'a> {
    definition: &'a FunctionDefinition,
    /// As the program spells it.
    name: String,
    /// The point at which those wait that have left it.
    pub end: u32,
    /// Where each parameter is kept; none for one without a name.
    parameters: Vec<Option<Rc<str>>>,
    /// Where its value is kept.
    pub result: Option<String>,
}

/// Whether every invocation that evaluates an expression comes to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reachability {
    Always,
    Maybe,
}

impl<'a> Emitter<'a> {
    /// Whether a call of this name lets other invocations run before it returns.
    pub(super) fn is_collective(&self, name: &str) -> bool {
        match self.functions.get(name) {
            Some(signature) => signature.holds_barrier,
            None => built_in::is_collective(name),
        }
    }

    /// Where a parameter is kept; none for one without a name.
    fn parameter_field(&self, parameter: &ParameterSyntax, end_point: u32) -> Option<Rc<str>> {
        let parameter_name = built_in::spelled_name(self.token_text(parameter.name?));
        Some(format!("{parameter_name}_{end_point}").into())
    }

    /// Gives the functions that hold a barrier their place in the invocation's record.
    pub(super) fn find_collectives(&mut self) -> Emitted {
        for item in self.items {
            let FileLevelItem::Function(definition) = item else { continue };
            let name = self.token_text(definition.name);
            let holds_barrier =
                self.functions.get(name).is_some_and(|signature| signature.holds_barrier);
            if !holds_barrier || !self.needed.contains(name) || name == self.kernel.entry {
                continue;
            }
            let parameter_count = definition.parameters.len();
            if self.collectives.iter().any(|earlier| {
                self.token_text(earlier.definition.name) == name
                    && earlier.definition.parameters.len() == parameter_count
            }) {
                let reason = format!("overloads of `{name}`, which holds a barrier");
                return Err(self.unsupported_at(reason, definition.name));
            }
            let end_point = self.next_number();
            let parameters = definition
                .parameters
                .iter()
                .map(|parameter| self.parameter_field(parameter, end_point))
                .collect();
            let is_void =
                definition.returns.name.is_none_or(|returned| self.token_text(returned) == "void");
            let result = (!is_void).then(|| format!("result_{end_point}"));
            self.collectives.push(Rc::new(CollectiveFunction {
                definition,
                name: format!("together_{end_point}"),
                end: end_point,
                parameters,
                result,
            }));
        }
        Ok(())
    }

    /// The fields of the functions that hold a barrier.
    pub(super) fn collective_fields(&mut self, known_fields: &mut BTreeSet<Rc<str>>) -> Emitted {
        for collective_index in 0..self.collectives.len() {
            let collective = Rc::clone(&self.collectives[collective_index]);
            let definition = collective.definition;
            for (parameter, field) in definition.parameters.iter().zip(&collective.parameters) {
                let Some(field) = field else { continue };
                self.out.start_line();
                self.write_type(&parameter.declared, &parameter.sizes, None, definition.name)?;
                self.out.write_piece(&format!(" {field}{{}};"));
                self.out.end_line();
                known_fields.insert(Rc::clone(field));
            }
            if let Some(result) = &collective.result {
                self.out.start_line();
                self.write_type(&definition.returns, &[], None, definition.name)?;
                self.out.write_piece(&format!(" {result}{{}};"));
                self.out.end_line();
            }
            self.expand_variables(self.body_of(definition)?, known_fields)?;
        }
        Ok(())
    }

    /// The functions that hold a barrier: each runs its regions for all invocations.
    pub(super) fn collective_functions(&mut self) -> Emitted {
        for collective in &self.collectives {
            self.out.line(&format!("static void {}();", collective.name));
        }
        for collective_index in 0..self.collectives.len() {
            let collective = Rc::clone(&self.collectives[collective_index]);
            let definition = collective.definition;
            let source_place = self.shown_place(definition.name);
            self.out.line(&format!(
                "// The function `{}` of {source_place}, for all invocations.",
                self.token_text(definition.name)
            ));
            self.out.open_block(&format!("static void {}() {{", collective.name));
            let mut scope = BTreeMap::new();
            for (parameter, field) in definition.parameters.iter().zip(&collective.parameters) {
                let (Some(name), Some(field)) = (parameter.name, field) else { continue };
                let parameter_name = self.token_text(name);
                let symbol = NameSymbol {
                    text: built_in::spelled_name(parameter_name).into(),
                    place: ValuePlace::Locally,
                    field: Some(Rc::clone(field)),
                    shape: self.declared_shape(&parameter.declared, &parameter.sizes),
                };
                scope.insert(parameter_name.to_owned(), symbol);
            }
            self.scopes.push(scope);
            self.returning = Some(Rc::clone(&collective));
            self.split_at_barriers(self.body_of(definition)?)?;
            self.returning = None;
            self.scopes.pop();
            self.come_back(collective.end);
            self.out.close_block("}");
            self.out.line("");
        }
        Ok(())
    }

    fn body_of(
        &self,
        definition: &'a FunctionDefinition,
    ) -> Result<&'a [super::super::syntax::Statement], Unsupported> {
        match &definition.body {
            Ok(body) => Ok(body),
            Err(error) => {
                Err(self
                    .unsupported_at(format!("text that could not be read ({error})"), error.token))
            }
        }
    }

    /// Runs what all do together in an expression; the expression itself then takes the results.
    pub(super) fn emit_collective_calls(&mut self, expression: &Expression) -> Emitted {
        let mut calls = Vec::new();
        self.find_calls(expression, Reachability::Always, &mut calls)?;
        if calls.is_empty() {
            return Ok(());
        }
        self.check_order(expression)?;
        if let Some(token) = self.early_write(expression, calls.len()) {
            return Err(self.unsupported_at(
                "a write beside a call that all invocations make together",
                token,
            ));
        }
        calls.into_iter().try_for_each(|call| self.call_together(call))
    }

    /// Whether an expression is nothing but a call that has been made.
    pub(super) fn is_already_called(&self, expression: &Expression) -> bool {
        self.gathered_calls.contains_key(&(expression.first, expression.last))
    }

    /// The calls in the order in which they are evaluated.
    fn find_calls<'e>(
        &self,
        expression: &'e Expression,
        reachability: Reachability,
        calls: &mut Vec<&'e Expression>,
    ) -> Emitted {
        match &expression.kind {
            ExpressionKind::Binary { operator, left, right }
                if matches!(self.token_text(*operator), "&&" | "||") =>
            {
                self.find_calls(left, reachability, calls)?;
                return self.find_calls(right, Reachability::Maybe, calls);
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.find_calls(condition, reachability, calls)?;
                self.find_calls(then, Reachability::Maybe, calls)?;
                return self.find_calls(otherwise, Reachability::Maybe, calls);
            }
            ExpressionKind::Comma { first, second } => {
                self.find_calls(first, Reachability::Maybe, calls)?;
                return self.find_calls(second, Reachability::Maybe, calls);
            }
            _ => {}
        }
        let mut visit_result = Ok(());
        expression.each_part(&mut |part| {
            if visit_result.is_ok() {
                visit_result = self.find_calls(part, reachability, calls);
            }
        });
        visit_result?;
        if let Some(name) = self.called_together(expression) {
            if reachability == Reachability::Maybe {
                let reason = format!("`{name}`, to which not all of an expression comes");
                return Err(self.unsupported_at(reason, expression.first));
            }
            calls.push(expression);
        }
        Ok(())
    }

    /// The name of what all invocations call together.
    fn called_together(&self, expression: &Expression) -> Option<&'a str> {
        let ExpressionKind::Call { callee, .. } = &expression.kind else { return None };
        let name = matches!(callee.kind, ExpressionKind::Identifier)
            .then(|| self.token_text(callee.first))?;
        self.is_collective(name).then_some(name)
    }

    /// Where an expression writes something before all of so many calls have been made: what holds
    /// them all writes behind them.
    fn early_write(&self, expression: &Expression, call_count: usize) -> Option<TokenIndex> {
        if self.called_together(expression).is_some() {
            return None;
        }
        let is_write = match &expression.kind {
            ExpressionKind::Call { callee, arguments } => {
                let name = self.token_text(callee.first);
                let own_function = self
                    .functions
                    .get(name)
                    .filter(|known_function| known_function.takes_call(name, arguments.len()));
                own_function.map_or(
                    built_in::is_atomic(name) || !built_in::written_arguments(name).is_empty(),
                    |known_function| {
                        known_function.changes_memory || !known_function.written.is_empty()
                    },
                )
            }
            _ => assigned_place(&self.unit.tokens, expression).is_some(),
        };
        if is_write && self.count_calls(expression) < call_count {
            return Some(expression.first);
        }
        let mut write_token = None;
        expression.each_part(&mut |part| {
            write_token = write_token.or_else(|| self.early_write(part, call_count))
        });
        write_token
    }

    fn count_calls(&self, expression: &Expression) -> usize {
        let mut count = usize::from(self.called_together(expression).is_some());
        expression.each_part(&mut |part| count += self.count_calls(part));
        count
    }

    fn call_together(&mut self, call: &Expression) -> Emitted {
        let ExpressionKind::Call { callee, arguments } = &call.kind else { return Ok(()) };
        let (name, call_number) = (self.token_text(callee.first), self.next_number());
        let result_text = match self.functions.contains_key(name) {
            true => self.call_function(call, arguments, call_number)?,
            false => self.call_operation(callee.first, arguments, call_number)?,
        };
        self.gathered_calls.insert((call.first, call.last), result_text);
        Ok(())
    }

    /// A call of a function that holds a barrier; gives how its value is read.
    fn call_function(
        &mut self,
        call: &Expression,
        arguments: &[Expression],
        call_number: u32,
    ) -> Result<String, Unsupported> {
        let name = self.token_text(call.first);
        let matching_collective = self.collectives.iter().find(|known_collective| {
            self.token_text(known_collective.definition.name) == name
                && known_collective.definition.parameters.len() == arguments.len()
        });
        let Some(collective) = matching_collective.map(Rc::clone) else {
            return Err(self
                .unsupported_at(format!("a call of `{name}`, which holds a barrier"), call.first));
        };
        let parameters = &collective.definition.parameters;
        self.out.line(&format!("// `{name}`, called at {}.", self.shown_place(call.first)));
        if !arguments.is_empty() {
            self.open_nest(call.first..=call.last);
            for ((argument, parameter), field) in
                arguments.iter().zip(parameters).zip(&collective.parameters)
            {
                self.hand_over(argument, parameter, field.as_deref())?;
            }
            self.close_nest();
        }
        self.out.line(&format!("{}();", collective.name));
        if parameters.iter().any(is_written) {
            self.open_nest(call.first..=call.last);
            for ((argument, parameter), field) in
                arguments.iter().zip(parameters).zip(&collective.parameters)
            {
                if let Some(field) = field.as_deref().filter(|_| is_written(parameter)) {
                    self.hand_back(argument, field)?;
                }
            }
            self.close_nest();
        }
        let Some(result) = &collective.result else { return Ok(String::new()) };
        self.out.line(&format!(
            "const auto call_{call_number} = gathered([](Invocation &self) {{ return self.{result}; }});"
        ));
        Ok(gathered_value(call_number))
    }

    fn hand_over(
        &mut self,
        argument: &Expression,
        parameter: &ParameterSyntax,
        field: Option<&str>,
    ) -> Emitted {
        self.out.start_line();
        match field {
            Some(field) if parameter.declared.has_qualifier("out") => {
                self.out.write_piece(&format!("self.{field} = decltype(self.{field})()"));
            }
            Some(field) => {
                self.out.write_piece(&format!("self.{field} = "));
                self.emit_expression(argument)?;
            }
            None => {
                self.out.write_piece("(void)(");
                self.emit_expression(argument)?;
                self.out.write_piece(")");
            }
        }
        self.out.write_piece(";");
        self.out.end_line();
        Ok(())
    }

    /// The place is found behind the call, so that it may not depend on what the function does.
    fn hand_back(&mut self, argument: &Expression, field: &str) -> Emitted {
        if !self.is_fixed_place(argument) {
            let reason = "an element that a function with a barrier writes";
            return Err(self.unsupported_at(reason, argument.first));
        }
        self.out.start_line();
        self.emit_written_place(argument)?;
        self.out.write_piece(&format!(" = self.{field};"));
        self.out.end_line();
        Ok(())
    }

    fn is_fixed_place(&self, place: &Expression) -> bool {
        match &place.kind {
            ExpressionKind::Identifier => true,
            ExpressionKind::Parenthesised(inner) | ExpressionKind::Field { base: inner, .. } => {
                self.is_fixed_place(inner)
            }
            ExpressionKind::Index { base, index: Some(index) } => {
                self.is_fixed_place(base) && matches!(index.kind, ExpressionKind::Literal)
            }
            _ => false,
        }
    }

    /// A subgroup operation; gives how its value is read.
    fn call_operation(
        &mut self,
        name_token: TokenIndex,
        arguments: &[Expression],
        call_number: u32,
    ) -> Result<String, Unsupported> {
        let operation_name = self.token_text(name_token);
        if !built_in::has_operation(operation_name, arguments.len()) {
            return Err(self.unsupported_at(format!("the function `{operation_name}`"), name_token));
        }
        self.out.line(&format!("// `{operation_name}` of {}.", self.shown_place(name_token)));
        let mut argument_list = String::new();
        for (argument_index, argument) in arguments.iter().enumerate() {
            self.out.open_block(&format!(
                "const auto given_{call_number}_{argument_index} = gathered([&](Invocation &self) {{"
            ));
            self.bind_fields(argument.first..=argument.last);
            self.out.line("(void)self;");
            self.out.start_line();
            self.out.write_piece("return ");
            self.emit_expression(argument)?;
            self.out.write_piece(";");
            self.out.end_line();
            self.out.close_block("});");
            argument_list.push_str(&format!(", given_{call_number}_{argument_index}"));
        }
        if built_in::is_void_operation(operation_name) {
            return Ok(String::new());
        }
        self.out.line(&format!(
            "const auto call_{call_number} = {operation_name}(invocations{argument_list});"
        ));
        Ok(gathered_value(call_number))
    }

    /// What holds for invocations by their subgroup.
    pub(super) fn subgroup_variables(&mut self) {
        if !self.needed.iter().any(|needed_name| {
            needed_name.starts_with("gl_Subgroup") || *needed_name == "gl_NumSubgroups"
        }) {
            return;
        }
        self.out.line("gl_SubgroupSize = Uint(subgroup_size);");
        self.out.line("gl_SubgroupInvocationID = Uint(at_here % subgroup_size);");
        self.out.line("gl_SubgroupID = Uint(at_here / subgroup_size);");
        self.out.line("gl_NumSubgroups = Uint((static_cast<std::uint32_t>(INVOCATIONS) - 1) / subgroup_size + 1);");
        self.out.line("set_subgroup_masks(at_here % subgroup_size);");
    }
}

/// How the value of a call is read in the region behind it.
fn gathered_value(number: u32) -> String {
    format!("call_{number}[gl_LocalInvocationIndex.value].value")
}
