//! What all invocations do together inside an expression: calls of functions that hold a barrier,
//! and subgroup operations.
//!
//! Knows: a function of GLSL is never active twice in one invocation, so that its parameters, its
//! variables and its result are fields of the invocation's record.
//! Promises: such a call stands between regions. Every invocation that is there evaluates the
//! arguments, all go through the function (or the operation) together, and what it gives is at hand
//! in the region behind it. A call that some may not come to within its expression, or beside which
//! the expression writes something, is unsupported by name.

use super::super::syntax::{
    Expression, ExpressionKind, FunctionDefinition, Item, Parameter, TokenIndex,
};
use super::function::{is_written, written};
use super::{Emitted, Emitter, Held, Symbol, Unsupported, built_in};
use std::collections::{BTreeMap, BTreeSet};

/// A function that all invocations go through together.
#[derive(Debug, Clone)]
pub(super) struct Collective<'a> {
    definition: &'a FunctionDefinition,
    /// As the program spells it.
    name: String,
    /// The point at which those wait that have left it.
    end: u32,
    /// Where each parameter is kept; none for one without a name.
    parameters: Vec<Option<String>>,
    /// Where its value is kept.
    result: Option<String>,
}

/// How a function that all go through together is left.
#[derive(Debug, Clone)]
pub(super) struct Returning {
    pub end: u32,
    pub result: Option<String>,
}

/// Whether every invocation that evaluates an expression comes to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    Always,
    Perhaps,
}

impl<'a> Emitter<'a> {
    /// Whether a call of this name lets other invocations run before it returns.
    pub(super) fn is_collective(&self, name: &str) -> bool {
        match self.functions.get(name) {
            Some(signature) => signature.holds_barrier,
            None => built_in::is_collective(name),
        }
    }

    /// Gives the functions that hold a barrier their place in the invocation's record.
    pub(super) fn find_collectives(&mut self) -> Emitted {
        for item in self.items {
            let Item::Function(definition) = item else { continue };
            let name = self.text(definition.name);
            let is_one = self.functions.get(name).is_some_and(|signature| signature.holds_barrier);
            if !is_one || !self.needed.contains(name) || name == self.kernel.entry {
                continue;
            }
            let count = definition.parameters.len();
            let others = self.collectives.iter();
            if others.clone().any(|other| {
                self.text(other.definition.name) == name
                    && other.definition.parameters.len() == count
            }) {
                let what = format!("overloads of `{name}`, which holds a barrier");
                return Err(self.unsupported(what, definition.name));
            }
            let end = self.next_number();
            let field = |parameter: &Parameter| {
                parameter.name.map(|name| format!("{}_{end}", built_in::spelled(self.text(name))))
            };
            let parameters = definition.parameters.iter().map(field).collect();
            let is_void =
                definition.returns.name.is_none_or(|returned| self.text(returned) == "void");
            let result = (!is_void).then(|| format!("result_{end}"));
            let name = format!("together_{end}");
            self.collectives.push(Collective { definition, name, end, parameters, result });
        }
        Ok(())
    }

    /// The fields of the functions that hold a barrier.
    pub(super) fn collective_fields(&mut self, known: &mut BTreeSet<String>) -> Emitted {
        for collective in self.collectives.clone() {
            let definition = collective.definition;
            for (parameter, field) in definition.parameters.iter().zip(&collective.parameters) {
                let Some(field) = field else { continue };
                self.out.start();
                self.write_type(&parameter.declared, &parameter.sizes, None, definition.name)?;
                self.out.write(&format!(" {field}{{}};"));
                self.out.end();
                known.insert(field.clone());
            }
            if let Some(result) = &collective.result {
                self.out.start();
                self.write_type(&definition.returns, &[], None, definition.name)?;
                self.out.write(&format!(" {result}{{}};"));
                self.out.end();
            }
            self.expand(self.body_of(definition)?, known)?;
        }
        Ok(())
    }

    /// The functions that hold a barrier: each runs its regions for all invocations.
    pub(super) fn collective_functions(&mut self) -> Emitted {
        let collectives = self.collectives.clone();
        collectives
            .iter()
            .for_each(|collective| self.out.line(&format!("static void {}();", collective.name)));
        for collective in collectives {
            let definition = collective.definition;
            let place = self.shown_place(definition.name);
            self.out.line(&format!(
                "// The function `{}` of {place}, for all invocations.",
                self.text(definition.name)
            ));
            self.out.open(&format!("static void {}() {{", collective.name));
            let mut scope = BTreeMap::new();
            for (parameter, field) in definition.parameters.iter().zip(&collective.parameters) {
                let (Some(name), Some(field)) = (parameter.name, field) else { continue };
                let (text, shape) =
                    (self.text(name), self.shape(&parameter.declared, &parameter.sizes));
                let (spelled, field) = (built_in::spelled(text), Some(field.clone()));
                scope.insert(
                    text.to_owned(),
                    Symbol { text: spelled, place: Held::Locally, field, shape },
                );
            }
            self.scopes.push(scope);
            self.returning =
                Some(Returning { end: collective.end, result: collective.result.clone() });
            self.split(self.body_of(definition)?)?;
            self.returning = None;
            self.scopes.pop();
            self.come_back(collective.end);
            self.out.close("}");
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
                Err(self.unsupported(format!("text that could not be read ({error})"), error.token))
            }
        }
    }

    /// Runs what all do together in an expression; the expression itself then takes the results.
    pub(super) fn prepare(&mut self, expression: &Expression) -> Emitted {
        let mut calls = Vec::new();
        self.find_calls(expression, Reached::Always, &mut calls)?;
        if calls.is_empty() {
            return Ok(());
        }
        self.check_order(expression)?;
        if let Some(token) = self.early_write(expression, calls.len()) {
            return Err(
                self.unsupported("a write beside a call that all invocations make together", token)
            );
        }
        calls.into_iter().try_for_each(|call| self.call_together(call))
    }

    /// Whether an expression is nothing but a call that has been made.
    pub(super) fn is_made(&self, expression: &Expression) -> bool {
        self.made.contains_key(&(expression.first, expression.last))
    }

    /// The calls in the order in which they are evaluated.
    fn find_calls<'e>(
        &self,
        expression: &'e Expression,
        reached: Reached,
        calls: &mut Vec<&'e Expression>,
    ) -> Emitted {
        let perhaps = |part: &'e Expression, calls: &mut Vec<&'e Expression>| {
            self.find_calls(part, Reached::Perhaps, calls)
        };
        match &expression.kind {
            ExpressionKind::Binary { operator, left, right }
                if matches!(self.text(*operator), "&&" | "||") =>
            {
                self.find_calls(left, reached, calls)?;
                return perhaps(right, calls);
            }
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.find_calls(condition, reached, calls)?;
                perhaps(then, calls)?;
                return perhaps(otherwise, calls);
            }
            ExpressionKind::Comma { first, second } => {
                perhaps(first, calls)?;
                return perhaps(second, calls);
            }
            _ => {}
        }
        let mut all = Ok(());
        expression.each_part(&mut |part| {
            if all.is_ok() {
                all = self.find_calls(part, reached, calls);
            }
        });
        all?;
        if let Some(name) = self.called_together(expression) {
            if reached == Reached::Perhaps {
                let what = format!("`{name}`, to which not all of an expression comes");
                return Err(self.unsupported(what, expression.first));
            }
            calls.push(expression);
        }
        Ok(())
    }

    /// The name of what all invocations call together.
    fn called_together(&self, expression: &Expression) -> Option<&'a str> {
        let ExpressionKind::Call { callee, .. } = &expression.kind else { return None };
        let name =
            matches!(callee.kind, ExpressionKind::Identifier).then(|| self.text(callee.first))?;
        self.is_collective(name).then_some(name)
    }

    /// Where an expression writes something before all of so many calls have been made: what holds
    /// them all writes behind them.
    fn early_write(&self, expression: &Expression, calls: usize) -> Option<TokenIndex> {
        if self.called_together(expression).is_some() {
            return None;
        }
        let writes = match &expression.kind {
            ExpressionKind::Call { callee, arguments } => {
                let name = self.text(callee.first);
                let own =
                    self.functions.get(name).filter(|known| known.takes(name, arguments.len()));
                own.map_or(
                    built_in::is_atomic(name) || !built_in::written_arguments(name).is_empty(),
                    |known| known.changes_memory || !known.written.is_empty(),
                )
            }
            _ => written(&self.unit.tokens, expression).is_some(),
        };
        if writes && self.count_calls(expression) < calls {
            return Some(expression.first);
        }
        let mut found = None;
        expression.each_part(&mut |part| found = found.or_else(|| self.early_write(part, calls)));
        found
    }

    fn count_calls(&self, expression: &Expression) -> usize {
        let mut count = usize::from(self.called_together(expression).is_some());
        expression.each_part(&mut |part| count += self.count_calls(part));
        count
    }

    fn call_together(&mut self, call: &Expression) -> Emitted {
        let ExpressionKind::Call { callee, arguments } = &call.kind else { return Ok(()) };
        let (name, number) = (self.text(callee.first), self.next_number());
        let result = match self.functions.contains_key(name) {
            true => self.call_function(call, arguments, number)?,
            false => self.call_operation(callee.first, arguments, number)?,
        };
        self.made.insert((call.first, call.last), result);
        Ok(())
    }

    /// A call of a function that holds a barrier; gives how its value is read.
    fn call_function(
        &mut self,
        call: &Expression,
        arguments: &[Expression],
        number: u32,
    ) -> Result<String, Unsupported> {
        let name = self.text(call.first);
        let found = self.collectives.iter().find(|known| {
            self.text(known.definition.name) == name
                && known.definition.parameters.len() == arguments.len()
        });
        let Some(collective) = found.cloned() else {
            return Err(
                self.unsupported(format!("a call of `{name}`, which holds a barrier"), call.first)
            );
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
            "const auto call_{number} = gathered([](Invocation &self) {{ return self.{result}; }});"
        ));
        Ok(read_of(number))
    }

    fn hand_over(
        &mut self,
        argument: &Expression,
        parameter: &Parameter,
        field: Option<&str>,
    ) -> Emitted {
        self.out.start();
        match field {
            Some(field) if parameter.declared.has("out") => {
                self.out.write(&format!("self.{field} = decltype(self.{field})()"));
            }
            Some(field) => {
                self.out.write(&format!("self.{field} = "));
                self.expression(argument)?;
            }
            None => {
                self.out.write("(void)(");
                self.expression(argument)?;
                self.out.write(")");
            }
        }
        self.out.write(";");
        self.out.end();
        Ok(())
    }

    /// The place is found behind the call, so that it may not depend on what the function does.
    fn hand_back(&mut self, argument: &Expression, field: &str) -> Emitted {
        if !self.is_fixed_place(argument) {
            let what = "an element that a function with a barrier writes";
            return Err(self.unsupported(what, argument.first));
        }
        self.out.start();
        self.written_place(argument)?;
        self.out.write(&format!(" = self.{field};"));
        self.out.end();
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
        name: TokenIndex,
        arguments: &[Expression],
        number: u32,
    ) -> Result<String, Unsupported> {
        let operation = self.text(name);
        if !built_in::has_operation(operation, arguments.len()) {
            return Err(self.unsupported(format!("the function `{operation}`"), name));
        }
        self.out.line(&format!("// `{operation}` of {}.", self.shown_place(name)));
        let mut given = String::new();
        for (at, argument) in arguments.iter().enumerate() {
            self.out.open(&format!(
                "const auto given_{number}_{at} = gathered([&](Invocation &self) {{"
            ));
            self.bind_fields(argument.first..=argument.last);
            self.out.line("(void)self;");
            self.out.start();
            self.out.write("return ");
            self.expression(argument)?;
            self.out.write(";");
            self.out.end();
            self.out.close("});");
            given.push_str(&format!(", given_{number}_{at}"));
        }
        if built_in::is_void_operation(operation) {
            return Ok(String::new());
        }
        self.out.line(&format!("const auto call_{number} = {operation}(invocations{given});"));
        Ok(read_of(number))
    }

    /// What holds for invocations by their subgroup.
    pub(super) fn subgroup_variables(&mut self) {
        if !self
            .needed
            .iter()
            .any(|name| name.starts_with("gl_Subgroup") || *name == "gl_NumSubgroups")
        {
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
fn read_of(number: u32) -> String {
    format!("call_{number}[gl_LocalInvocationIndex.value].value")
}
