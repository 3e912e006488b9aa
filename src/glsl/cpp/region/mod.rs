//! The entry point: barrier regions, the loop nest over invocations in each of them, and what lives
//! across.
//!
//! Promises: a barrier ends a region for all invocations at once. Control flow around barriers
//! stands outside the nests; its conditions are evaluated by every invocation. One that goes
//! another way (a condition, `break`, `continue`, `return`) takes no part until the place of the
//! text where all come together again. The program stops at a barrier that only some reach (barrier
//! divergence), and nowhere else.

mod control_flow;
mod variables;

use crate::cpp::global::InitialContents;
use crate::cpp::{Emitted, Emitter, NameSymbol};
use crate::syntax::{ExpressionKind, FunctionDefinition, Statement, StatementKind, TokenIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How `return`, `break` and `continue` leave what is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpp) enum ExitMode {
    /// As C++ does.
    Function,
    Region(RegionPlace),
}

/// A place in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cpp) struct RegionPlace {
    pub number: u32,
    /// Loops of the region itself around the place.
    pub loops: u32,
    /// Loops and switches of the region itself around the place.
    pub breakable: u32,
}

impl ExitMode {
    /// Enters a loop; gives what held outside.
    pub(in crate::cpp) fn entered_loop(&mut self) -> ExitMode {
        let outer_mode = *self;
        if let ExitMode::Region(region) = self {
            region.loops += 1;
            region.breakable += 1;
        }
        outer_mode
    }

    pub(in crate::cpp) fn enter_switch(&mut self) -> ExitMode {
        let outer_mode = *self;
        if let ExitMode::Region(region) = self {
            region.breakable += 1;
        }
        outer_mode
    }
}

/// Whether a statement of a region may leave it other than by its end.
fn leaves_region(statement: &Statement) -> bool {
    leaves_region_from(statement, EnclosingConstructs::default())
}

/// Loops and switches of the region around a place.
#[derive(Debug, Clone, Copy, Default)]
struct EnclosingConstructs {
    of_loop: bool,
    of_switch: bool,
}

fn leaves_region_from(statement: &Statement, enclosing_constructs: EnclosingConstructs) -> bool {
    let inside_statement = match statement.kind {
        StatementKind::Return(_) => return true,
        StatementKind::Break => {
            return !enclosing_constructs.of_loop && !enclosing_constructs.of_switch;
        }
        StatementKind::Continue => return !enclosing_constructs.of_loop,
        StatementKind::While { .. } | StatementKind::DoWhile { .. } | StatementKind::For { .. } => {
            EnclosingConstructs { of_loop: true, ..enclosing_constructs }
        }
        StatementKind::Switch { .. } => {
            EnclosingConstructs { of_switch: true, ..enclosing_constructs }
        }
        _ => enclosing_constructs,
    };
    let mut any_leaves = false;
    statement.each_inner(&mut |part| any_leaves |= leaves_region_from(part, inside_statement));
    any_leaves
}

impl Emitter<'_> {
    /// The entry point as a function that runs one workgroup.
    pub(in crate::cpp) fn emit_workgroup(&mut self, entry: &FunctionDefinition) -> Emitted {
        self.find_collectives()?;
        let body = match &entry.body {
            Ok(body) => body,
            Err(error) => {
                return Err(self.unsupported_at(
                    format!("text that could not be read ({error})"),
                    error.token,
                ));
            }
        };
        self.emit_invocation_record(body)?;
        self.collective_functions()?;
        self.out.line("// One workgroup: a loop nest over its invocations in each barrier region.");
        self.out.open_block("static void workgroup() {");
        for (name, initial_contents) in std::mem::take(&mut self.shared) {
            match initial_contents {
                InitialContents::Unwritten => {
                    self.out.line(&format!("{name} = decltype({name})();"))
                }
                InitialContents::Zero => {
                    self.out.line(&format!("{name} = zero<decltype({name})>();"))
                }
            }
        }
        self.out.line("invocations.assign(INVOCATIONS, Invocation());");
        self.calculated_values()?;
        self.scopes.push(BTreeMap::new());
        self.split_at_barriers(body)?;
        self.scopes.pop();
        self.out.close_block("}");
        self.out.line("");
        Ok(())
    }

    /// The record of the variables that an invocation keeps between regions.
    fn emit_invocation_record(&mut self, body: &[Statement]) -> Emitted {
        self.out.line("// What an invocation keeps from one barrier region to the next.");
        self.out.open_block("struct Invocation : Presence {");
        for field in &self.private {
            self.out.line(&field.declaration);
        }
        let mut known_fields = BTreeSet::new();
        self.expand_variables(body, &mut known_fields)?;
        self.collective_fields(&mut known_fields)?;
        self.out.close_block("};");
        self.out.line("");
        self.out.line("static std::vector<Invocation> invocations;");
        self.out.line("");
        self.out.open_block(
            "static Invocation &enter(std::uint32_t x, std::uint32_t y, std::uint32_t z) {",
        );
        self.out.line("const std::uint32_t at_here = (z * SIZE_Y + y) * SIZE_X + x;");
        self.out.line("gl_LocalInvocationID = uvec3(Uint(x), Uint(y), Uint(z));");
        self.out.line("gl_LocalInvocationIndex = Uint(at_here);");
        self.out.line(
            "gl_GlobalInvocationID = gl_WorkGroupID * gl_WorkGroupSize + gl_LocalInvocationID;",
        );
        self.subgroup_variables();
        for field in &self.private {
            self.out.line(&format!("{0} = invocations[at_here].private_{0};", field.name));
        }
        self.out.line("return invocations[at_here];");
        self.out.close_block("}");
        self.out.line("");
        self.emit_gathering();
        Ok(())
    }

    /// A value of each invocation that is there, by its index.
    fn emit_gathering(&mut self) {
        self.out.line("// What each invocation that is here makes of itself.");
        self.out.open_block("template <class F> static auto gathered(F given_value) {");
        self.out.line("std::vector<Slot<std::decay_t<decltype(given_value(invocations[0]))>>> at_all(INVOCATIONS);");
        self.open_nest(0..=0);
        self.out.line("at_all[gl_LocalInvocationIndex.value].value = given_value(self);");
        self.close_nest();
        self.out.line("return at_all;");
        self.out.close_block("}");
        self.out.line("");
    }

    /// Whether a statement is or holds a barrier of the entry point.
    fn holds_barrier(&self, statement: &Statement) -> bool {
        (statement.first..statement.last).any(|token| {
            self.token_text(token + 1) == "(" && self.is_collective(self.token_text(token))
        })
    }

    fn is_barrier(&self, statement: &Statement) -> bool {
        let StatementKind::Expression(expression) = &statement.kind else { return false };
        let ExpressionKind::Call { callee, arguments } = &expression.kind else { return false };
        let is_plain_barrier = self.token_text(callee.first) == "barrier" && arguments.is_empty();
        let scope_name = arguments.first().map(|scope_name| self.token_text(scope_name.first));
        let is_scoped_barrier = self.token_text(callee.first) == "controlBarrier"
            && scope_name == Some("gl_ScopeWorkgroup");
        callee.first == callee.last && (is_plain_barrier || is_scoped_barrier)
    }

    /// A barrier of the subgroup ends a region, too; who is not here takes no part.
    fn is_subgroup_barrier(&self, statement: &Statement) -> bool {
        let StatementKind::Expression(expression) = &statement.kind else { return false };
        let ExpressionKind::Call { callee, arguments } = &expression.kind else { return false };
        let scope_name = arguments.first().map(|scope_name| self.token_text(scope_name.first));
        match self.token_text(callee.first) {
            "subgroupBarrier" => arguments.is_empty(),
            "controlBarrier" => scope_name == Some("gl_ScopeSubgroup"),
            _ => false,
        }
    }

    pub(in crate::cpp) fn shown_place(&self, token: TokenIndex) -> String {
        let (file_path, line_number) = self.token_place(token);
        format!("{}:{line_number}", file_path.replace(['\\', '"'], "?"))
    }

    pub(in crate::cpp) fn come_back(&mut self, point: u32) {
        self.out.line(&format!("come_back(invocations, {point});"));
    }

    /// The loop nest over invocations, with the variables that the tokens name at hand.
    pub(in crate::cpp) fn open_nest(&mut self, tokens: std::ops::RangeInclusive<TokenIndex>) {
        self.out.open_block("for (std::uint32_t local_z = 0; local_z < SIZE_Z; ++local_z)");
        self.out.open_block("for (std::uint32_t local_y = 0; local_y < SIZE_Y; ++local_y)");
        self.out.open_block("for (std::uint32_t local_x = 0; local_x < SIZE_X; ++local_x) {");
        self.out.line("Invocation &self = enter(local_x, local_y, local_z);");
        self.out.line("if (!is_here(self)) continue;");
        self.bind_fields(tokens);
    }

    /// References to the fields of the variables that the tokens name.
    pub(in crate::cpp) fn bind_fields(&mut self, tokens: std::ops::RangeInclusive<TokenIndex>) {
        let mut bound_names = BTreeSet::new();
        for token in tokens {
            let name = self.token_text(token);
            if let Some(NameSymbol { text, field: Some(field), .. }) = self.resolve_name(name)
                && bound_names.insert(Rc::clone(text))
            {
                let reference_line = format!("auto &{text} = self.{field};");
                self.out.line(&reference_line);
            }
        }
    }

    pub(in crate::cpp) fn close_nest(&mut self) {
        for field in &self.private {
            self.out.line(&format!("self.private_{0} = {0};", field.name));
        }
        self.out.close_block("}");
        self.out.dedent();
        self.out.dedent();
    }

    /// A barrier region: its statements for every invocation.
    fn emit_region(&mut self, statements: &[Statement]) -> Emitted {
        let (Some(first), Some(last)) = (statements.first(), statements.last()) else {
            return Ok(());
        };
        let region_number = self.next_number();
        self.announce_variables(statements)?;
        self.out.line(&format!("// Region from {} on.", self.shown_place(first.first)));
        self.open_nest(first.first..=last.last);
        self.out.open_block("{");
        let outer_mode = self.exit_mode;
        self.exit_mode =
            ExitMode::Region(RegionPlace { number: region_number, loops: 0, breakable: 0 });
        let emit_result = self.emit_statements(statements);
        self.exit_mode = outer_mode;
        emit_result?;
        self.out.close_block("}");
        if statements.iter().any(leaves_region) {
            self.out.line(&format!("next_{region_number}:;"));
        }
        self.close_nest();
        Ok(())
    }
}

/// The innermost loop around barriers.
#[derive(Debug, Clone, Copy)]
pub(in crate::cpp) struct LoopPoints {
    /// The point before its next iteration.
    pub again: u32,
    /// The point behind it.
    pub behind: u32,
}

/// The statements of a branch or loop.
fn statement_list(statement: &Statement) -> &[Statement] {
    match &statement.kind {
        StatementKind::Block(inner) => inner,
        _ => std::slice::from_ref(statement),
    }
}
