//! The entry point: barrier regions, the loop nest over invocations in each of them, and what lives across.
//!
//! Promises: a barrier ends a region for all invocations at once. Control flow around barriers stands outside the
//! nests; its conditions are evaluated by every invocation and must agree, else the program stops (barrier divergence).
//! An invocation that returns takes no part in later regions; a barrier behind it stops the program unless all have
//! ended.

use super::super::syntax::{
    Declaration, ExpressionKind, FunctionDefinition, LoopCondition, Statement, StatementKind, TokenIndex,
};
use super::{Emitted, Emitter, Held, Symbol, built_in};
use std::collections::{BTreeMap, BTreeSet};

/// How `return`, `break` and `continue` leave what is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// As C++ does.
    Function,
    Region(InRegion),
}

/// A place in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InRegion {
    pub number: u32,
    /// Loops of the region itself around the place.
    pub loops: u32,
    /// Loops and switches of the region itself around the place.
    pub breakable: u32,
}

impl Leaving {
    /// Enters a loop; gives what held outside.
    pub fn enter_loop(&mut self) -> Leaving {
        let outside = *self;
        if let Leaving::Region(region) = self {
            region.loops += 1;
            region.breakable += 1;
        }
        outside
    }

    pub fn enter_switch(&mut self) -> Leaving {
        let outside = *self;
        if let Leaving::Region(region) = self {
            region.breakable += 1;
        }
        outside
    }
}

/// What leaves a region other than by its end.
#[derive(Debug, Clone, Copy, Default)]
struct Exits {
    returns: bool,
    breaks: bool,
    continues: bool,
}

impl Exits {
    fn any(self) -> bool {
        self.returns || self.breaks || self.continues
    }

    fn with(self, other: Exits) -> Exits {
        Exits {
            returns: self.returns || other.returns,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
        }
    }

    fn of(statements: &[Statement]) -> Exits {
        statements.iter().map(Exits::of_statement).fold(Exits::default(), Exits::with)
    }

    fn of_statement(statement: &Statement) -> Exits {
        let mut inner = Exits::default();
        super::function::each_inner(statement, &mut |part| inner = inner.with(Exits::of_statement(part)));
        match statement.kind {
            StatementKind::Return(_) => Exits { returns: true, ..inner },
            StatementKind::Break => Exits { breaks: true, ..inner },
            StatementKind::Continue => Exits { continues: true, ..inner },
            StatementKind::While { .. } | StatementKind::DoWhile { .. } | StatementKind::For { .. } => {
                Exits { breaks: false, continues: false, ..inner }
            }
            StatementKind::Switch { .. } => Exits { breaks: false, ..inner },
            _ => inner,
        }
    }
}

impl Emitter<'_> {
    /// The entry point as a function that runs one workgroup.
    pub fn workgroup(&mut self, entry: &FunctionDefinition) -> Emitted {
        let body = match &entry.body {
            Ok(body) => body,
            Err(error) => return Err(self.unsupported(format!("text that could not be read ({error})"), error.token)),
        };
        self.invocation(body)?;
        self.out.line("// One workgroup: a loop nest over its invocations in each barrier region.");
        self.out.open("static void workgroup() {");
        for name in std::mem::take(&mut self.shared) {
            self.out.line(&format!("{name} = decltype({name})();"));
        }
        self.out.line("invocations.assign(INVOCATIONS, Invocation());");
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
        self.out.open("struct Invocation {");
        self.out.line("bool ended = false;");
        let private = self.private.clone();
        private.iter().for_each(|field| self.out.line(&field.declaration));
        let mut known = BTreeSet::new();
        self.expand(body, &mut known)?;
        self.out.close("};");
        self.out.line("");
        self.out.line("static std::vector<Invocation> invocations;");
        self.out.line("");
        self.out.open("static Invocation &enter(std::uint32_t x, std::uint32_t y, std::uint32_t z) {");
        self.out.line("const std::uint32_t index = (z * SIZE_Y + y) * SIZE_X + x;");
        self.out.line("gl_LocalInvocationID = uvec3(Uint(x), Uint(y), Uint(z));");
        self.out.line("gl_LocalInvocationIndex = Uint(index);");
        self.out.line("gl_GlobalInvocationID = gl_WorkGroupID * gl_WorkGroupSize + gl_LocalInvocationID;");
        for field in &private {
            self.out.line(&format!("{0} = invocations[index].private_{0};", field.name));
        }
        self.out.line("return invocations[index];");
        self.out.close("}");
        self.out.line("");
        self.out.open("static std::size_t ended_count() {");
        self.out.line("std::size_t count = 0;");
        self.out.line("for (const Invocation &invocation : invocations) count += invocation.ended ? 1 : 0;");
        self.out.line("return count;");
        self.out.close("}");
        self.out.line("");
        Ok(())
    }

    /// Writes a field for every variable that lives across regions of a list of statements or of those inside it.
    fn expand(&mut self, list: &[Statement], known: &mut BTreeSet<String>) -> Emitted {
        if !list.iter().any(|statement| self.holds_barrier(statement)) {
            return Ok(());
        }
        for (at, statement) in list.iter().enumerate() {
            if let StatementKind::Declaration(declaration) = &statement.kind {
                let behind = list[at..].iter().position(|other| self.holds_barrier(other)).map(|offset| at + offset);
                let later = behind.map_or(&[][..], |behind| &list[behind..]);
                self.expand_declaration(declaration, Some(later), known)?;
            }
            if self.holds_barrier(statement) {
                self.expand_inner(statement, known)?;
            }
        }
        Ok(())
    }

    fn expand_inner(&mut self, statement: &Statement, known: &mut BTreeSet<String>) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.expand(inner, known),
            StatementKind::If { then, otherwise, .. } => {
                self.expand(listed(then), known)?;
                otherwise.as_deref().map_or(Ok(()), |otherwise| self.expand(listed(otherwise), known))
            }
            StatementKind::For { init, body, .. } => {
                if let Some(StatementKind::Declaration(declaration)) = init.as_ref().map(|init| &init.kind) {
                    self.expand_declaration(declaration, None, known)?;
                }
                self.expand(listed(body), known)
            }
            StatementKind::While { body, .. } | StatementKind::DoWhile { body, .. } => self.expand(listed(body), known),
            _ => Ok(()),
        }
    }

    /// `later`: the statements behind the declaring region; none where the variable lives across for certain.
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
                list.iter().flat_map(|other| other.first..=other.last).any(|token| self.text(token) == name)
            };
            if later.is_some_and(|later| !mentioned(later)) {
                continue;
            }
            if declared.has("const") && self.folds(declarator) {
                self.hoisted.insert(declarator.name);
                continue;
            }
            let spelled = built_in::spelled(name);
            let free = std::iter::once(spelled.clone()).chain((2..).map(|number| format!("{spelled}_{number}")));
            let field = free.into_iter().find(|field| !known.contains(field)).expect("numbers do not end");
            known.insert(field.clone());
            self.out.start();
            let count = declarator.initialiser.as_ref().and_then(|initialiser| self.listed(initialiser));
            self.write_type(declared, &declarator.sizes, count, declarator.name)?;
            self.out.write(&format!(" {field}{{}};"));
            self.out.end();
            self.fields.insert(declarator.name, field);
        }
        Ok(())
    }

    /// Whether a statement is or holds a barrier of the entry point.
    fn holds_barrier(&self, statement: &Statement) -> bool {
        (statement.first..statement.last).any(|token| self.text(token) == "barrier" && self.text(token + 1) == "(")
    }

    fn is_barrier(&self, statement: &Statement) -> bool {
        let StatementKind::Expression(expression) = &statement.kind else { return false };
        let ExpressionKind::Call { callee, arguments } = &expression.kind else { return false };
        self.text(callee.first) == "barrier" && callee.first == callee.last && arguments.is_empty()
    }

    /// Statements with barriers among them or in them.
    fn split(&mut self, list: &[Statement]) -> Emitted {
        let mut at = 0;
        while at < list.len() {
            if self.is_barrier(&list[at]) {
                let place = self.shown_place(list[at].first);
                self.out.line(&format!("all_here(\"{place}\", ended_count(), INVOCATIONS); // barrier"));
                at += 1;
            } else if self.holds_barrier(&list[at]) {
                self.split_statement(&list[at])?;
                at += 1;
            } else {
                let length = list[at..].iter().position(|statement| self.holds_barrier(statement));
                let end = length.map_or(list.len(), |length| at + length);
                self.region(&list[at..end])?;
                at = end;
            }
        }
        Ok(())
    }

    fn shown_place(&self, token: TokenIndex) -> String {
        let (file, line) = self.place(token);
        format!("{}:{line}", file.replace(['\\', '"'], "?"))
    }

    fn split_statement(&mut self, statement: &Statement) -> Emitted {
        match &statement.kind {
            StatementKind::Block(inner) => self.split_scoped("{", inner),
            StatementKind::If { condition, then, otherwise } => {
                let number = self.next_number();
                self.agreement(number, statement.first, &LoopCondition::Expression(condition.clone()))?;
                self.split_scoped(&format!("if (agreed_{number}.holds()) {{"), listed(then))?;
                match otherwise {
                    Some(otherwise) => self.split_scoped(
                        &format!("if (!agreed_{number}.holds() && ended_count() < INVOCATIONS) {{"),
                        listed(otherwise),
                    ),
                    None => Ok(()),
                }
            }
            StatementKind::While { condition, body } => {
                self.split_loop(statement.first, (None, Some(condition), None), body, Tested::Before)
            }
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
                self.split_loop(statement.first, (None, Some(&condition), None), body, Tested::Behind)
            }
            StatementKind::Switch { .. } => Err(self.unsupported("a barrier inside a switch", statement.first)),
            _ => Err(self.unsupported("a barrier inside an expression", statement.first)),
        }
    }

    fn split_scoped(&mut self, open: &str, list: &[Statement]) -> Emitted {
        self.out.open(open);
        self.scopes.push(BTreeMap::new());
        self.split(list)?;
        self.scopes.pop();
        self.out.close("}");
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
        let number = self.next_number();
        self.scopes.push(BTreeMap::new());
        if let Some(init) = init {
            self.region(std::slice::from_ref(init))?;
        }
        self.out.open("while (true) {");
        if tested == Tested::Before {
            self.test(number, first, condition)?;
        }
        let outer = self.around.replace(Around { number, continued: false });
        self.split_scoped("{", listed(body))?;
        let around = std::mem::replace(&mut self.around, outer);
        if around.is_some_and(|around| around.continued) {
            self.out.line(&format!("again_{number}:;"));
        }
        if let Some(update) = update {
            self.region(std::slice::from_ref(update))?;
        }
        if tested == Tested::Behind {
            self.test(number, first, condition)?;
        }
        self.out.close("}");
        self.scopes.pop();
        Ok(())
    }

    fn test(&mut self, number: u32, first: TokenIndex, condition: Option<&LoopCondition>) -> Emitted {
        match condition {
            Some(condition) => {
                self.agreement(number, first, condition)?;
                self.out.line(&format!("if (!agreed_{number}.holds()) break;"));
            }
            None => self.out.line("if (ended_count() == INVOCATIONS) break;"),
        }
        Ok(())
    }

    /// Every invocation evaluates the condition; they must agree.
    fn agreement(&mut self, number: u32, first: TokenIndex, condition: &LoopCondition) -> Emitted {
        let LoopCondition::Expression(condition) = condition else {
            return Err(self.unsupported("a declaration in the condition of a loop around a barrier", first));
        };
        let place = self.shown_place(first);
        self.out.line(&format!("Uniform agreed_{number}(\"{place}\");"));
        self.open_nest(condition.first..=condition.last);
        self.out.start();
        self.out.write("if (");
        self.full_expression(condition)?;
        self.out.write(")");
        self.out.end();
        self.out.line(&format!("    agreed_{number}.yes();"));
        self.out.line("else");
        self.out.line(&format!("    agreed_{number}.no();"));
        self.close_nest();
        Ok(())
    }

    /// The loop nest over invocations, with the variables that the tokens name at hand.
    fn open_nest(&mut self, tokens: std::ops::RangeInclusive<TokenIndex>) {
        self.out.open("for (std::uint32_t local_z = 0; local_z < SIZE_Z; ++local_z)");
        self.out.open("for (std::uint32_t local_y = 0; local_y < SIZE_Y; ++local_y)");
        self.out.open("for (std::uint32_t local_x = 0; local_x < SIZE_X; ++local_x) {");
        self.out.line("Invocation &self = enter(local_x, local_y, local_z);");
        self.out.line("if (self.ended) continue;");
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

    fn close_nest(&mut self) {
        for field in self.private.clone() {
            self.out.line(&format!("self.private_{0} = {0};", field.name));
        }
        self.out.close("}");
        self.out.dedent();
        self.out.dedent();
    }

    /// A barrier region: its statements for every invocation.
    fn region(&mut self, statements: &[Statement]) -> Emitted {
        let (Some(first), Some(last)) = (statements.first(), statements.last()) else { return Ok(()) };
        let number = self.next_number();
        self.announce(statements)?;
        let exits = Exits::of(statements);
        let jumps = exits.breaks || exits.continues;
        self.out.line(&format!("// Region from {} on.", self.shown_place(first.first)));
        if jumps {
            let place = self.shown_place(first.first);
            self.out.line(&format!("Jumps jumps_{number}(\"{place}\");"));
        }
        self.open_nest(first.first..=last.last);
        self.out.open("{");
        let outside = self.leaving;
        self.leaving = Leaving::Region(InRegion { number, loops: 0, breakable: 0 });
        let made = self.statements(statements);
        self.leaving = outside;
        made?;
        if jumps {
            self.out.line(&format!("jumps_{number}.stays();"));
        }
        self.out.close("}");
        if exits.any() {
            self.out.line(&format!("next_{number}:;"));
        }
        self.close_nest();
        if exits.breaks {
            self.out.line(&format!("if (jumps_{number}.broke()) break;"));
        }
        if exits.continues {
            let Some(around) = &mut self.around else {
                return Err(self.unsupported("`continue` outside a loop", first.first));
            };
            around.continued = true;
            let target = around.number;
            self.out.line(&format!("if (jumps_{number}.continued()) goto again_{target};"));
        }
        Ok(())
    }

    /// Makes the variables known that a region declares and others use; constants among them stand before its nest.
    fn announce(&mut self, statements: &[Statement]) -> Emitted {
        for statement in statements {
            let StatementKind::Declaration(declaration) = &statement.kind else { continue };
            for declarator in &declaration.declarators {
                let name = self.text(declarator.name);
                let spelled = built_in::spelled(name);
                if let Some(field) = self.fields.get(&declarator.name).cloned() {
                    if self.scopes.iter().skip(1).any(|scope| scope.contains_key(name)) {
                        let what = format!("`{name}`, which hides another variable across barriers");
                        return Err(self.unsupported(what, declarator.name));
                    }
                    let shape = self.shape(&declaration.declared, &declarator.sizes);
                    let scope = self.scopes.last_mut().expect("the file's scope is never left");
                    let symbol = Symbol { text: spelled, place: Held::Locally, field: Some(field), shape };
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
pub struct Around {
    number: u32,
    /// A region asks to go on with the next iteration.
    continued: bool,
}

/// The statements of a branch or loop.
fn listed(statement: &Statement) -> &[Statement] {
    match &statement.kind {
        StatementKind::Block(inner) => inner,
        _ => std::slice::from_ref(statement),
    }
}

/// The last part of a `for` header, as the statement that it is.
fn as_statement(update: super::super::syntax::Expression, whole: &Statement) -> Statement {
    let (first, last) = (update.first, update.last);
    Statement { kind: StatementKind::Expression(update), first, last, header: whole.header }
}
