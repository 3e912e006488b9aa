//! Statements (GLSL 4.60, chapter 6).
//!
//! Does not cover: declarations among them beyond where one begins (`parser`).

use super::{LISTED_QUALIFIERS, Parsed, Parser, QUALIFIERS, TEMPLATES};
use crate::syntax::{Declaration, Declarator, LoopCondition, Statement, StatementKind, TokenIndex};

/// Statements that end the invocation (GLSL 4.60, 6.4, and GL_EXT_terminate_invocation,
/// GL_EXT_demote ..., ray tracing).
const TERMINATORS: [&str; 4] =
    ["discard", "terminateInvocation", "ignoreIntersectionEXT", "terminateRayEXT"];

impl Parser<'_> {
    /// Statements up to a `}` that is not theirs.
    pub(super) fn statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while self.at < self.tokens.len() && !self.is("}") {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.enter()?;
        self.attributes();
        let first = self.at;
        let parsed = match self.peek() {
            "{" => {
                self.at += 1;
                let body = self.statements()?;
                self.expect("}")?;
                self.plain(first, StatementKind::Block(body))
            }
            ";" => {
                self.at += 1;
                self.plain(first, StatementKind::Empty)
            }
            "if" => self.if_statement(first)?,
            "while" => self.while_statement(first)?,
            "do" => self.do_statement(first)?,
            "for" => self.for_statement(first)?,
            "switch" => self.switch_statement(first)?,
            "case" => {
                self.at += 1;
                let value = self.expression()?;
                self.expect(":")?;
                self.plain(first, StatementKind::Case(value))
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                self.plain(first, StatementKind::Default)
            }
            "break" => self.jump(first, StatementKind::Break)?,
            "continue" => self.jump(first, StatementKind::Continue)?,
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.at -= 1;
                self.jump(first, StatementKind::Return(value))?
            }
            word if TERMINATORS.contains(&word) && self.text(self.at + 1) == ";" => {
                self.jump(first, StatementKind::Terminate)?
            }
            _ => self.simple_statement(first)?,
        };
        self.depth -= 1;
        Ok(parsed)
    }

    fn plain(&self, first: TokenIndex, kind: StatementKind) -> Statement {
        Statement { kind, first, last: self.at - 1, header: (first, self.at - 1) }
    }

    /// Steps over one token and the `;` behind it.
    fn jump(&mut self, first: TokenIndex, kind: StatementKind) -> Parsed<Statement> {
        self.at += 1;
        self.expect(";")?;
        Ok(self.plain(first, kind))
    }

    fn headed(
        &self,
        first: TokenIndex,
        header: (TokenIndex, TokenIndex),
        kind: StatementKind,
    ) -> Statement {
        Statement { kind, first, last: self.at - 1, header }
    }

    fn if_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.expression()?;
        let close = self.expect(")")?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.accept("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(self.headed(first, (first, close), StatementKind::If { condition, then, otherwise }))
    }

    fn while_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.loop_condition()?;
        let close = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(first, (first, close), StatementKind::While { condition, body }))
    }

    fn do_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        let body = Box::new(self.statement()?);
        let header = self.expect("while")?;
        self.expect("(")?;
        let condition = self.expression()?;
        let close = self.expect(")")?;
        self.expect(";")?;
        Ok(self.headed(first, (header, close), StatementKind::DoWhile { body, condition }))
    }

    fn for_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let start = self.at;
        let init =
            if self.accept(";") { None } else { Some(Box::new(self.simple_statement(start)?)) };
        let condition = if self.is(";") { None } else { Some(self.loop_condition()?) };
        self.expect(";")?;
        let update = if self.is(")") { None } else { Some(self.expression()?) };
        let close = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(first, (first, close), StatementKind::For { init, condition, update, body }))
    }

    fn loop_condition(&mut self) -> Parsed<LoopCondition> {
        if !self.declaration_starts() {
            return Ok(LoopCondition::Expression(self.expression()?));
        }
        let declared = self.declared_type()?;
        let name = self.name()?;
        self.expect("=")?;
        let initialiser = Some(self.initialiser()?);
        let declarators = vec![Declarator { name, sizes: Vec::new(), initialiser }];
        Ok(LoopCondition::Declaration(Declaration { declared, declarators }))
    }

    fn switch_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let selector = self.expression()?;
        let close = self.expect(")")?;
        let open = self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(self.headed(first, (first, close), StatementKind::Switch { selector, open, body }))
    }

    fn simple_statement(&mut self, first: TokenIndex) -> Parsed<Statement> {
        if self.is("precision") {
            self.recover();
            return Ok(self.plain(first, StatementKind::Empty));
        }
        if self.declaration_starts() {
            let declared = self.declared_type()?;
            let declarators = self.declarators()?;
            return Ok(self
                .plain(first, StatementKind::Declaration(Declaration { declared, declarators })));
        }
        let expression = self.expression()?;
        self.expect(";")?;
        Ok(self.plain(first, StatementKind::Expression(expression)))
    }

    fn declaration_starts(&self) -> bool {
        let word = self.peek();
        if matches!(word, "struct" | "layout") || LISTED_QUALIFIERS.contains(&word) {
            return true;
        }
        if QUALIFIERS.contains(&word) {
            return self.text(self.at + 1) != "(";
        }
        if !self.is_name(self.at) {
            return false;
        }
        let mut behind = self.at + 1;
        if TEMPLATES.contains(&word) && self.text(behind) == "<" {
            match self.behind_template(behind) {
                Some(next) => behind = next,
                None => return false,
            }
        }
        if word == "spirv_type" && self.text(behind) == "(" {
            behind = self.behind_brackets(behind).unwrap_or(behind);
        }
        while self.text(behind) == "[" {
            match self.behind_brackets(behind) {
                Some(next) => behind = next,
                None => return false,
            }
        }
        self.is_name(behind)
    }
}
