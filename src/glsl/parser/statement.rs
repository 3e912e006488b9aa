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
        let first_token = self.at;
        let parsed_statement = match self.peek() {
            "{" => {
                self.at += 1;
                let body = self.statements()?;
                self.expect("}")?;
                self.plain(first_token, StatementKind::Block(body))
            }
            ";" => {
                self.at += 1;
                self.plain(first_token, StatementKind::Empty)
            }
            "if" => self.if_statement(first_token)?,
            "while" => self.while_statement(first_token)?,
            "do" => self.do_statement(first_token)?,
            "for" => self.for_statement(first_token)?,
            "switch" => self.switch_statement(first_token)?,
            "case" => {
                self.at += 1;
                let value = self.expression()?;
                self.expect(":")?;
                self.plain(first_token, StatementKind::Case(value))
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                self.plain(first_token, StatementKind::Default)
            }
            "break" => self.jump(first_token, StatementKind::Break)?,
            "continue" => self.jump(first_token, StatementKind::Continue)?,
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.at -= 1;
                self.jump(first_token, StatementKind::Return(value))?
            }
            word if TERMINATORS.contains(&word) && self.text(self.at + 1) == ";" => {
                self.jump(first_token, StatementKind::Terminate)?
            }
            _ => self.simple_statement(first_token)?,
        };
        self.depth -= 1;
        Ok(parsed_statement)
    }

    fn plain(&self, first_token: TokenIndex, kind: StatementKind) -> Statement {
        Statement {
            kind,
            first: first_token,
            last: self.at - 1,
            header: (first_token, self.at - 1),
        }
    }

    /// Steps over one token and the `;` behind it.
    fn jump(&mut self, first_token: TokenIndex, kind: StatementKind) -> Parsed<Statement> {
        self.at += 1;
        self.expect(";")?;
        Ok(self.plain(first_token, kind))
    }

    fn headed(
        &self,
        first_token: TokenIndex,
        header: (TokenIndex, TokenIndex),
        kind: StatementKind,
    ) -> Statement {
        Statement { kind, first: first_token, last: self.at - 1, header }
    }

    fn if_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.expression()?;
        let header_end = self.expect(")")?;
        let then = Box::new(self.statement()?);
        let otherwise = if self.accept("else") { Some(Box::new(self.statement()?)) } else { None };
        Ok(self.headed(
            first_token,
            (first_token, header_end),
            StatementKind::If { condition, then, otherwise },
        ))
    }

    fn while_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let condition = self.loop_condition()?;
        let header_end = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(
            first_token,
            (first_token, header_end),
            StatementKind::While { condition, body },
        ))
    }

    fn do_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        let body = Box::new(self.statement()?);
        let header_start = self.expect("while")?;
        self.expect("(")?;
        let condition = self.expression()?;
        let header_end = self.expect(")")?;
        self.expect(";")?;
        Ok(self.headed(
            first_token,
            (header_start, header_end),
            StatementKind::DoWhile { body, condition },
        ))
    }

    fn for_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let init_start = self.at;
        let init = if self.accept(";") {
            None
        } else {
            Some(Box::new(self.simple_statement(init_start)?))
        };
        let condition = if self.is(";") { None } else { Some(self.loop_condition()?) };
        self.expect(";")?;
        let update = if self.is(")") { None } else { Some(self.expression()?) };
        let header_end = self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(self.headed(
            first_token,
            (first_token, header_end),
            StatementKind::For { init, condition, update, body },
        ))
    }

    fn loop_condition(&mut self) -> Parsed<LoopCondition> {
        if !self.declaration_starts() {
            return Ok(LoopCondition::Expression(self.expression()?));
        }
        let declared_type = self.declared_type()?;
        let name = self.name()?;
        self.expect("=")?;
        let initialiser = Some(self.initialiser()?);
        let declarators = vec![Declarator { name, sizes: Vec::new(), initialiser }];
        Ok(LoopCondition::Declaration(Declaration { declared: declared_type, declarators }))
    }

    fn switch_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.at += 1;
        self.expect("(")?;
        let selector = self.expression()?;
        let header_end = self.expect(")")?;
        let open = self.expect("{")?;
        let body = self.statements()?;
        self.expect("}")?;
        Ok(self.headed(
            first_token,
            (first_token, header_end),
            StatementKind::Switch { selector, open, body },
        ))
    }

    fn simple_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        if self.is("precision") {
            self.recover();
            return Ok(self.plain(first_token, StatementKind::Empty));
        }
        if self.declaration_starts() {
            let declared_type = self.declared_type()?;
            let declarators = self.declarators()?;
            return Ok(self.plain(
                first_token,
                StatementKind::Declaration(Declaration { declared: declared_type, declarators }),
            ));
        }
        let expression = self.expression()?;
        self.expect(";")?;
        Ok(self.plain(first_token, StatementKind::Expression(expression)))
    }

    fn declaration_starts(&self) -> bool {
        let first_word = self.peek();
        if matches!(first_word, "struct" | "layout") || LISTED_QUALIFIERS.contains(&first_word) {
            return true;
        }
        if QUALIFIERS.contains(&first_word) {
            return self.text(self.at + 1) != "(";
        }
        if !self.is_name(self.at) {
            return false;
        }
        let mut token_behind = self.at + 1;
        if TEMPLATES.contains(&first_word) && self.text(token_behind) == "<" {
            match self.behind_template(token_behind) {
                Some(next_behind) => token_behind = next_behind,
                None => return false,
            }
        }
        if first_word == "spirv_type" && self.text(token_behind) == "(" {
            token_behind = self.behind_brackets(token_behind).unwrap_or(token_behind);
        }
        while self.text(token_behind) == "[" {
            match self.behind_brackets(token_behind) {
                Some(next_behind) => token_behind = next_behind,
                None => return false,
            }
        }
        self.is_name(token_behind)
    }
}
