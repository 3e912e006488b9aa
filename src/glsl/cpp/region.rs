//! The entry point: barrier regions, the loop nest over invocations in each of them, and what lives
//! across.
//!
//! Promises: a barrier ends a region for all invocations at once. Control flow around barriers
//! stands outside the nests; its conditions are evaluated by every invocation. One that goes
//! another way (a condition, `break`, `continue`, `return`) takes no part until the place of the
//! text where all come together again. The program stops at a barrier that only some reach (barrier
//! divergence), and nowhere else.

use super::super::syntax::{
    Declaration, Expression, ExpressionKind, FunctionDefinition, LoopCondition, Statement,
    StatementKind, TokenIndex,
};
use super::global::Fresh;
use super::{Emitted, Emitter, Held, Symbol, built_in};
use std::collections::{BTreeMap, BTreeSet};

/// How `return`, `break` and `continue` leave what is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// As C++ does.
    Function,
    Region(InRegion),
}

/// A place in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InRegion {
    pub number: u32,
    /// Loops of the region itself around the place.
    pub loops: u32,
    /// Loops and switches of the region itself around the place.
    pub breakable: u32,
}

impl Leaving {
    /// Enters a loop; gives what held outside.
    pub(super) fn enter_loop(&mut self) -> Leaving {
        let outside = *self;
        if let Leaving::Region(region) = self {
            region.loops += 1;
            region.breakable += 1;
        }
        outside
    }

    pub(super) fn enter_switch(&mut self) -> Leaving {
        let outside = *self;
        if let Leaving::Region(region) = self {
            region.breakable += 1;
        }
        outside
    }
}

/// Whether a statement of a region may leave it other than by its end.
fn leaves(statement: &Statement) -> bool {
    leaves_from(statement, Inside::default())
}

/// What of the region stands around a place.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    of_loop: bool,
    of_switch: bool,
}

fn leaves_from(statement: &Statement, inside: Inside) -> bool {
    let inside_it = match statement.kind {
        StatementKind::Return(_) => return true,
        StatementKind::Break => return !inside.of_loop && !inside.of_switch,
        StatementKind::Continue => return !inside.of_loop,
        StatementKind::While { .. } | StatementKind::DoWhile { .. } | StatementKind::For { .. } => {
            Inside { of_loop: true, ..inside }
        }
        StatementKind::Switch { .. } => Inside { of_switch: true, ..inside },
        _ => inside,
    };
    let mut any = false;
    super::function::each_inner(statement, &mut |part| any |= leaves_from(part, inside_it));
    any
}

impl Emitter<'_> {
    /// The entry point as a function that runs one workgroup.
    pub(super) fn workgroup(&mut self, entry: &FunctionDefinition) -> Emitted {
        self.find_collectives()?;
        let body = match &entry.body {
            Ok(body) => body,
            Err(error) => {
                return Err(
                    self.unsupported(format!("text that could not be read ({error})"), error.token)
                );
            }
        };
        self.invocation(body)?;
        self.collective_functions()?;
        self.out.line("// One workgroup: a loop nest over its invocations in each barrier region.");
        self.out.open("static void workgroup() {");
        for (name, value) in std::mem::take(&mut self.shared) {
            match value {
                Fresh::Unwritten => self.out.line(&format!("{name} = decltype({name})();")),
                Fresh::Zero => self.out.line(&format!("{name} = zero<decltype({name})>();")),
            }
        }
        self.out.line("invocations.assign(INVOCATIONS, Invocation());");
        self.calculated_values()?;
        self.scopes.push(BTreeMap::new());
        self.split(body)?;
        self.scopes.pop();
        self.out.close("}");
        self.out.line("");
        Ok(())
    }

    /// The record of what an invocation keeps between regions.
    fn invocation(&mut self, body: &[Statement]) -> Emitted {
        self.out.line("// What an invocation keeps from one barrier region to the next.");
        self.out.open("struct Invocation : Presence {");
        let private = self.private.clone();
        private.iter().for_each(|field| self.out.line(&field.declaration));
        let mut known = BTreeSet::new();
        self.expand(body, &mut known)?;
        self.collective_fields(&mut known)?;
        self.out.close("};");
        self.out.line("");
        self.out.line("static std::vector<Invocation> invocations;");
        self.out.line("");
        self.out
            .open("static Invocation &enter(std::uint32_t x, std::uint32_t y, std::uint32_t z) {");
        self.out.line("const std::uint32_t at_here = (z * SIZE_Y + y) * SIZE_X + x;");
        self.out.line("gl_LocalInvocationID = uvec3(Uint(x), Uint(y), Uint(z));");
        self.out.line("gl_LocalInvocationIndex = Uint(at_here);");
        self.out.line(
            "gl_GlobalInvocationID = gl_WorkGroupID * gl_WorkGroupSize + gl_LocalInvocationID;",
        );
        self.subgroup_variables();
        for field in &private {
            self.out.line(&format!("{0} = invocations[at_here].private_{0};", field.name));
        }
        self.out.line("return invocations[at_here];");
        self.out.close("}");
        self.out.line("");
        self.gathering();
        Ok(())
    }

    /// A value of each invocation that is there, by its index.
    fn gathering(&mut self) {
        self.out.line("// What each invocation that is here makes of itself.");
        self.out.open("template <class F> static auto gathered(F given_value) {");
        self.out.line("std::vector<Slot<std::decay_t<decltype(given_value(invocations[0]))>>> at_all(INVOCATIONS);");
        self.open_nest(0..=0);
        self.out.line("at_all[gl_LocalInvocationIndex.value].value = given_value(self);");
        self.close_nest();
        self.out.line("return at_all;");
        self.out.close("}");
        self.out.line("");
    }

    /// Writes a field for every variable that lives across regions of a list of statements or of
    /// those inside it.
    pub(super) fn expand(&mut self, list: &[Statement], known: &mut BTreeSet<String>) -> Emitted {
        if !list.iter().any(|statement| self.holds_barrier(statement)) {
            return Ok(());
        }
        self.scopes.push(BTreeMap::new());
        for (at, statement) in list.iter().enumerate() {
            if let StatementKind::Declaration(declaration) = &statement.kind {
                self.size_constants(declaration)?;
                let behind = list[at..]
                    .iter()
                    .position(|other| self.holds_barrier(other))
                    .map(|offset| at + offset);
                let later = behind.map_or(&[][..], |behind| &list[behind..]);
                self.expand_declaration(declaration, Some(later), known)?;
            }
            if self.holds_barrier(statement) {
                self.expand_inner(statement, known)?;
            }
        }
        self.scopes.pop();
        Ok(())
    }

    /// Constants of a function, which the sizes of the record's arrays may name.
    fn size_constants(&mut self, declaration: &Declaration) -> Emitted {
        let declared = &declaration.declared;
        for declarator in &declaration.declarators {
            let is_scalar = declared.sizes.is_empty() && declarator.sizes.is_empty();
            let (true, true, Some(initialiser)) =
                (declared.has("const"), is_scalar, &declarator.initialiser)
            else {
                continue;
            };
            let integers = ["int", "uint", "int32_t", "uint32_t"];
            let is_integer = declared.name.is_some_and(|name| integers.contains(&self.text(name)));
            if !is_integer || !self.is_foldable(initialiser) {
                continue;
            }
            let text = format!(
                "kept_{}_{}",
                built_in::spelled(self.text(declarator.name)),
                self.next_number()
            );
            self.out.start();
            self.out.write("static constexpr ");
            self.write_type(declared, &[], None, declarator.name)?;
            self.out.write(&format!(" {text} = "));
            self.initialiser(initialiser, declared.name, 0)?;
            self.out.write(";");
            self.out.end();
            self.declare(self.text(declarator.name), text, Held::Constant, None);
        }
        Ok(())
    }

    fn expand_inner(&mut self, statement: &Statement, known: &mut BTreeSet<String>) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.expand(inner, known),
            StatementKind::If { then, otherwise, .. } => {
                self.expand(listed(then), known)?;
                otherwise
                    .as_deref()
                    .map_or(Ok(()), |otherwise| self.expand(listed(otherwise), known))
            }
            StatementKind::For { init, body, .. } => {
                if let Some(StatementKind::Declaration(declaration)) =
                    init.as_ref().map(|init| &init.kind)
                {
                    self.expand_declaration(declaration, None, known)?;
                }
                self.expand(listed(body), known)
            }
            StatementKind::While { body, .. } | StatementKind::DoWhile { body, .. } => {
                self.expand(listed(body), known)
            }
            _ => Ok(()),
        }
    }

    /// `later`: the statements behind the declaring region; none where the variable lives across
    /// for certain.
    fn expand_declaration(
        &mut self,
        declaration: &Declaration,
        later: Option<&[Statement]>,
        known: &mut BTreeSet<String>,
    ) -> Emitted {
        let declared = &declaration.declared;
        for declarator in &declaration.declarators {
            let name = self.text(declarator.name);
            let mentioned = |list: &[Statement]| {
                list.iter()
                    .flat_map(|other| other.first..=other.last)
                    .any(|token| self.text(token) == name)
            };
            // One constant may name another.
            if declared.has("const") && self.folds(declarator) {
                self.hoisted.insert(declarator.name);
                continue;
            }
            if later.is_some_and(|later| !mentioned(later)) {
                continue;
            }
            let spelled = built_in::spelled(name);
            let free = std::iter::once(spelled.clone())
                .chain((2..).map(|number| format!("{spelled}_{number}")));
            let field =
                free.into_iter().find(|field| !known.contains(field)).expect("numbers do not end");
            known.insert(field.clone());
            self.out.start();
            let count =
                declarator.initialiser.as_ref().and_then(|initialiser| self.listed(initialiser));
            self.write_type(declared, &declarator.sizes, count, declarator.name)?;
            self.out.write(&format!(" {field}{{}};"));
            self.out.end();
            self.fields.insert(declarator.name, field);
        }
        Ok(())
    }

    /// Whether a statement is or holds a barrier of the entry point.
    fn holds_barrier(&self, statement: &Statement) -> bool {
        (statement.first..statement.last)
            .any(|token| self.text(token + 1) == "(" && self.is_collective(self.text(token)))
    }

    fn is_barrier(&self, statement: &Statement) -> bool {
        let StatementKind::Expression(expression) = &statement.kind else { return false };
        let ExpressionKind::Call { callee, arguments } = &expression.kind else { return false };
        let is_plain = self.text(callee.first) == "barrier" && arguments.is_empty();
        let scope = arguments.first().map(|scope| self.text(scope.first));
        let is_scoped =
            self.text(callee.first) == "controlBarrier" && scope == Some("gl_ScopeWorkgroup");
        callee.first == callee.last && (is_plain || is_scoped)
    }

    /// A barrier of the subgroup ends a region, too; who is not here takes no part.
    fn is_subgroup_barrier(&self, statement: &Statement) -> bool {
        let StatementKind::Expression(expression) = &statement.kind else { return false };
        let ExpressionKind::Call { callee, arguments } = &expression.kind else { return false };
        let scope = arguments.first().map(|scope| self.text(scope.first));
        match self.text(callee.first) {
            "subgroupBarrier" => arguments.is_empty(),
            "controlBarrier" => scope == Some("gl_ScopeSubgroup"),
            _ => false,
        }
    }

    /// Statements with barriers among them or in them.
    pub(super) fn split(&mut self, list: &[Statement]) -> Emitted {
        let mut at = 0;
        while at < list.len() {
            if self.is_barrier(&list[at]) {
                let place = self.shown_place(list[at].first);
                self.out.line(&format!("meet(invocations, \"{place}\"); // barrier"));
                at += 1;
            } else if self.is_subgroup_barrier(&list[at]) {
                self.out.line("// subgroup barrier");
                at += 1;
            } else if self.holds_barrier(&list[at]) {
                self.split_statement(&list[at])?;
                at += 1;
            } else {
                // What hides another variable is known from its declaration on, and not before.
                let length = list[at + 1..]
                    .iter()
                    .position(|statement| self.holds_barrier(statement) || self.hides(statement))
                    .map(|length| length + 1);
                let end = length.map_or(list.len(), |length| at + length);
                self.region(&list[at..end])?;
                at = end;
            }
        }
        Ok(())
    }

    pub(super) fn shown_place(&self, token: TokenIndex) -> String {
        let (file, line) = self.place(token);
        format!("{}:{line}", file.replace(['\\', '"'], "?"))
    }

    fn split_statement(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.split_scoped("{", inner),
            StatementKind::If { condition, then, otherwise } => {
                self.split_if(statement.first, condition, then, otherwise.as_deref())
            }
            StatementKind::While { condition, body } => self.split_loop(
                statement.first,
                (None, Some(condition), None),
                body,
                Tested::Before,
            ),
            StatementKind::For { init, condition, update, body } => {
                let update = update.clone().map(|update| as_statement(update, statement));
                self.split_loop(
                    statement.first,
                    (init.as_deref(), condition.as_ref(), update.as_ref()),
                    body,
                    Tested::Before,
                )
            }
            StatementKind::DoWhile { body, condition } => {
                let condition = LoopCondition::Expression(condition.clone());
                self.split_loop(
                    statement.first,
                    (None, Some(&condition), None),
                    body,
                    Tested::Behind,
                )
            }
            StatementKind::Switch { selector, open, .. } => {
                if (*open..statement.last).any(|token| {
                    self.text(token + 1) == "(" && self.is_collective(self.text(token))
                }) {
                    return Err(self.unsupported("a barrier inside a switch", statement.first));
                }
                self.prepare(selector)?;
                self.region(std::slice::from_ref(statement))
            }
            StatementKind::Expression(expression) => {
                self.prepare(expression)?;
                if self.is_made(expression) {
                    Ok(())
                } else {
                    self.region(std::slice::from_ref(statement))
                }
            }
            StatementKind::Return(Some(value)) => {
                self.prepare(value)?;
                self.region(std::slice::from_ref(statement))
            }
            StatementKind::Declaration(declaration) => {
                self.split_declaration(declaration, statement)
            }
            _ => Err(self.unsupported("a barrier inside an expression", statement.first)),
        }
    }

    /// Each variable has its value before the next one is declared.
    fn split_declaration(&mut self, declaration: &Declaration, whole: &Statement) -> Emitted {
        for declarator in &declaration.declarators {
            if let Some(initialiser) = &declarator.initialiser {
                self.prepare(initialiser)?;
            }
            let declarators = vec![declarator.clone()];
            let kind =
                StatementKind::Declaration(Declaration { declarators, ..declaration.clone() });
            self.region(&[Statement { kind, ..whole.clone() }])?;
        }
        Ok(())
    }

    fn split_scoped(&mut self, open: &str, list: &[Statement]) -> Emitted {
        self.out.open(open);
        self.scopes.push(BTreeMap::new());
        self.split(list)?;
        self.scopes.pop();
        self.out.close("}");
        Ok(())
    }

    /// A branch around barriers: who does not take it waits behind it.
    fn split_if(
        &mut self,
        first: TokenIndex,
        condition: &Expression,
        then: &Statement,
        otherwise: Option<&Statement>,
    ) -> Emitted {
        self.prepare(condition)?;
        let behind_then = self.next_number();
        self.test(behind_then, first, condition)?;
        self.split_scoped("{", listed(then))?;
        let Some(otherwise) = otherwise else {
            self.come_back(behind_then);
            return Ok(());
        };
        let behind = self.next_number();
        let place = self.shown_place(first);
        self.out.line(&format!("change_over(invocations, {behind_then}, {behind}, \"{place}\");"));
        self.split_scoped("{", listed(otherwise))?;
        self.come_back(behind);
        Ok(())
    }

    /// A loop around barriers: it stands outside the nests over invocations.
    fn split_loop(
        &mut self,
        first: TokenIndex,
        (init, condition, update): (Option<&Statement>, Option<&LoopCondition>, Option<&Statement>),
        body: &Statement,
        tested: Tested,
    ) -> Emitted {
        let around = Around { again: self.next_number(), behind: self.next_number() };
        self.scopes.push(BTreeMap::new());
        if let Some(init) = init {
            self.split(std::slice::from_ref(init))?;
        }
        self.out.open("while (true) {");
        if tested == Tested::Before {
            self.loop_test(around, first, condition)?;
        }
        let outer = self.around.replace(around);
        self.split_scoped("{", listed(body))?;
        self.around = outer;
        self.come_back(around.again);
        if let Some(update) = update {
            self.split(std::slice::from_ref(update))?;
        }
        if tested == Tested::Behind {
            self.loop_test(around, first, condition)?;
        }
        self.out.close("}");
        self.come_back(around.behind);
        self.scopes.pop();
        Ok(())
    }

    fn loop_test(
        &mut self,
        around: Around,
        first: TokenIndex,
        condition: Option<&LoopCondition>,
    ) -> Emitted {
        match condition {
            Some(LoopCondition::Expression(condition)) => {
                self.prepare(condition)?;
                self.test(around.behind, first, condition)?;
            }
            Some(LoopCondition::Declaration(_)) => {
                return Err(self.unsupported(
                    "a declaration in the condition of a loop around a barrier",
                    first,
                ));
            }
            None => {}
        }
        self.out.line("if (nobody_is_here(invocations)) break;");
        Ok(())
    }

    /// Every invocation evaluates the condition; those for which it is false wait at the point.
    fn test(&mut self, point: u32, first: TokenIndex, condition: &Expression) -> Emitted {
        let place = self.shown_place(first);
        self.open_nest(condition.first..=condition.last);
        self.out.start();
        self.out.write("if (");
        self.full_expression(condition)?;
        self.out.write(") {");
        self.out.end();
        self.out.line("} else {");
        self.out.line(&format!("    goes_to(self, {point}, \"{place}\");"));
        self.out.line("}");
        self.close_nest();
        Ok(())
    }

    pub(super) fn come_back(&mut self, point: u32) {
        self.out.line(&format!("come_back(invocations, {point});"));
    }

    /// The loop nest over invocations, with the variables that the tokens name at hand.
    pub(super) fn open_nest(&mut self, tokens: std::ops::RangeInclusive<TokenIndex>) {
        self.out.open("for (std::uint32_t local_z = 0; local_z < SIZE_Z; ++local_z)");
        self.out.open("for (std::uint32_t local_y = 0; local_y < SIZE_Y; ++local_y)");
        self.out.open("for (std::uint32_t local_x = 0; local_x < SIZE_X; ++local_x) {");
        self.out.line("Invocation &self = enter(local_x, local_y, local_z);");
        self.out.line("if (!is_here(self)) continue;");
        self.bind_fields(tokens);
    }

    /// References to the fields of the variables that the tokens name.
    pub(super) fn bind_fields(&mut self, tokens: std::ops::RangeInclusive<TokenIndex>) {
        let mut bound = BTreeSet::new();
        for token in tokens {
            let name = self.text(token);
            if let Some(Symbol { text, field: Some(field), .. }) = self.resolve(name)
                && bound.insert(text.clone())
            {
                let line = format!("auto &{text} = self.{field};");
                self.out.line(&line);
            }
        }
    }

    pub(super) fn close_nest(&mut self) {
        for field in self.private.clone() {
            self.out.line(&format!("self.private_{0} = {0};", field.name));
        }
        self.out.close("}");
        self.out.dedent();
        self.out.dedent();
    }

    /// A barrier region: its statements for every invocation.
    fn region(&mut self, statements: &[Statement]) -> Emitted {
        let (Some(first), Some(last)) = (statements.first(), statements.last()) else {
            return Ok(());
        };
        let number = self.next_number();
        self.announce(statements)?;
        self.out.line(&format!("// Region from {} on.", self.shown_place(first.first)));
        self.open_nest(first.first..=last.last);
        self.out.open("{");
        let outside = self.leaving;
        self.leaving = Leaving::Region(InRegion { number, loops: 0, breakable: 0 });
        let made = self.statements(statements);
        self.leaving = outside;
        made?;
        self.out.close("}");
        if statements.iter().any(leaves) {
            self.out.line(&format!("next_{number}:;"));
        }
        self.close_nest();
        Ok(())
    }

    fn is_hiding(&self, name: &str) -> bool {
        self.scopes.iter().skip(1).any(|scope| scope.contains_key(name))
    }

    /// Whether a statement declares a variable that lives across regions and hides another one.
    fn hides(&self, statement: &Statement) -> bool {
        let StatementKind::Declaration(declaration) = &statement.kind else { return false };
        let kept = declaration
            .declarators
            .iter()
            .filter(|declarator| self.fields.contains_key(&declarator.name));
        kept.into_iter().any(|declarator| self.is_hiding(self.text(declarator.name)))
    }

    /// Makes the variables known that a region declares and others use; constants among them stand
    /// before its nest.
    fn announce(&mut self, statements: &[Statement]) -> Emitted {
        for statement in statements {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            for declarator in &declaration.declarators {
                let name = self.text(declarator.name);
                let spelled = built_in::spelled(name);
                if let Some(field) = self.fields.get(&declarator.name).cloned() {
                    let text = if self.is_hiding(name) { format!("kept_{field}") } else { spelled };
                    let shape = self.shape(&declaration.declared, &declarator.sizes);
                    let scope = self.scopes.last_mut().expect("the file's scope is never left");
                    let symbol = Symbol { text, place: Held::Locally, field: Some(field), shape };
                    scope.insert(name.to_owned(), symbol);
                } else if self.hoisted.contains(&declarator.name) {
                    self.variable("constexpr ", &declaration.declared, declarator, Held::Constant)?;
                }
            }
        }
        Ok(())
    }
}

/// When a loop tests its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tested {
    Before,
    Behind,
}

/// The innermost loop around barriers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// The point before its next iteration.
    pub again: u32,
    /// The point behind it.
    pub behind: u32,
}

/// The statements of a branch or loop.
fn listed(statement: &Statement) -> &[Statement] {
    match &statement.kind {
        StatementKind::Block(inner) => inner,
        _ => std::slice::from_ref(statement),
    }
}

/// The last part of a `for` header, as the statement that it is.
fn as_statement(update: Expression, whole: &Statement) -> Statement {
    let (first, last) = (update.first, update.last);
    Statement { kind: StatementKind::Expression(update), first, last, header: whole.header }
}
