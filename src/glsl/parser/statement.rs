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
    pub(super) fn parse_statements(&mut self) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        while self.position < self.tokens.len() && !self.stands_next("}") {
            statements.push(self.parse_statement()?);
        }
        Ok(statements)
    }

    fn parse_statement(&mut self) -> Parsed<Statement> {
        self.enter_nesting()?;
        self.skip_attributes();
        let first_token = self.position;
        let parsed_statement = match self.peek() {
            "{" => {
                self.position += 1;
                let body = self.parse_statements()?;
                self.expect_text("}")?;
                self.plain_statement(first_token, StatementKind::Block(body))
            }
            ";" => {
                self.position += 1;
                self.plain_statement(first_token, StatementKind::Empty)
            }
            "if" => self.if_statement(first_token)?,
            "while" => self.while_statement(first_token)?,
            "do" => self.do_statement(first_token)?,
            "for" => self.for_statement(first_token)?,
            "switch" => self.switch_statement(first_token)?,
            "case" => {
                self.position += 1;
                let value = self.parse_expression()?;
                self.expect_text(":")?;
                self.plain_statement(first_token, StatementKind::Case(value))
            }
            "default" => {
                self.position += 1;
                self.expect_text(":")?;
                self.plain_statement(first_token, StatementKind::Default)
            }
            "break" => self.jump_statement(first_token, StatementKind::Break)?,
            "continue" => self.jump_statement(first_token, StatementKind::Continue)?,
            "return" => {
                self.position += 1;
                let value =
                    if self.stands_next(";") { None } else { Some(self.parse_expression()?) };
                self.position -= 1;
                self.jump_statement(first_token, StatementKind::Return(value))?
            }
            word if TERMINATORS.contains(&word) && self.text_at(self.position + 1) == ";" => {
                self.jump_statement(first_token, StatementKind::Terminate)?
            }
            _ => self.simple_statement(first_token)?,
        };
        self.depth -= 1;
        Ok(parsed_statement)
    }

    fn plain_statement(&self, first_token: TokenIndex, kind: StatementKind) -> Statement {
        Statement {
            kind,
            first: first_token,
            last: self.position - 1,
            header: (first_token, self.position - 1),
        }
    }

    /// Steps over one token and the `;` behind it.
    fn jump_statement(
        &mut self,
        first_token: TokenIndex,
        kind: StatementKind,
    ) -> Parsed<Statement> {
        self.position += 1;
        self.expect_text(";")?;
        Ok(self.plain_statement(first_token, kind))
    }

    fn headed_statement(
        &self,
        first_token: TokenIndex,
        header: (TokenIndex, TokenIndex),
        kind: StatementKind,
    ) -> Statement {
        Statement { kind, first: first_token, last: self.position - 1, header }
    }

    fn if_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.position += 1;
        self.expect_text("(")?;
        let condition = self.parse_expression()?;
        let header_end = self.expect_text(")")?;
        let then = Box::new(self.parse_statement()?);
        let otherwise =
            if self.accept("else") { Some(Box::new(self.parse_statement()?)) } else { None };
        Ok(self.headed_statement(
            first_token,
            (first_token, header_end),
            StatementKind::If { condition, then, otherwise },
        ))
    }

    fn while_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.position += 1;
        self.expect_text("(")?;
        let condition = self.parse_loop_condition()?;
        let header_end = self.expect_text(")")?;
        let body = Box::new(self.parse_statement()?);
        Ok(self.headed_statement(
            first_token,
            (first_token, header_end),
            StatementKind::While { condition, body },
        ))
    }

    fn do_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.position += 1;
        let body = Box::new(self.parse_statement()?);
        let header_start = self.expect_text("while")?;
        self.expect_text("(")?;
        let condition = self.parse_expression()?;
        let header_end = self.expect_text(")")?;
        self.expect_text(";")?;
        Ok(self.headed_statement(
            first_token,
            (header_start, header_end),
            StatementKind::DoWhile { body, condition },
        ))
    }

    fn for_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.position += 1;
        self.expect_text("(")?;
        let init_start = self.position;
        let init = if self.accept(";") {
            None
        } else {
            Some(Box::new(self.simple_statement(init_start)?))
        };
        let condition =
            if self.stands_next(";") { None } else { Some(self.parse_loop_condition()?) };
        self.expect_text(";")?;
        let update = if self.stands_next(")") { None } else { Some(self.parse_expression()?) };
        let header_end = self.expect_text(")")?;
        let body = Box::new(self.parse_statement()?);
        Ok(self.headed_statement(
            first_token,
            (first_token, header_end),
            StatementKind::For { init, condition, update, body },
        ))
    }

    fn parse_loop_condition(&mut self) -> Parsed<LoopCondition> {
        if !self.declaration_starts() {
            return Ok(LoopCondition::Expression(self.parse_expression()?));
        }
        let declared_type = self.parse_declared_type()?;
        let name = self.parse_name()?;
        self.expect_text("=")?;
        let initialiser = Some(self.parse_initialiser()?);
        let declarators = vec![Declarator { name, sizes: Vec::new(), initialiser }];
        Ok(LoopCondition::Declaration(Declaration { declared: declared_type, declarators }))
    }

    fn switch_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        self.position += 1;
        self.expect_text("(")?;
        let selector = self.parse_expression()?;
        let header_end = self.expect_text(")")?;
        let open = self.expect_text("{")?;
        let body = self.parse_statements()?;
        self.expect_text("}")?;
        Ok(self.headed_statement(
            first_token,
            (first_token, header_end),
            StatementKind::Switch { selector, open, body },
        ))
    }

    fn simple_statement(&mut self, first_token: TokenIndex) -> Parsed<Statement> {
        if self.stands_next("precision") {
            self.skip_item();
            return Ok(self.plain_statement(first_token, StatementKind::Empty));
        }
        if self.declaration_starts() {
            let declared_type = self.parse_declared_type()?;
            let declarators = self.parse_declarators()?;
            return Ok(self.plain_statement(
                first_token,
                StatementKind::Declaration(Declaration { declared: declared_type, declarators }),
            ));
        }
        let expression = self.parse_expression()?;
        self.expect_text(";")?;
        Ok(self.plain_statement(first_token, StatementKind::Expression(expression)))
    }

    fn declaration_starts(&self) -> bool {
        let first_word = self.peek();
        if matches!(first_word, "struct" | "layout") || LISTED_QUALIFIERS.contains(&first_word) {
            return true;
        }
        if QUALIFIERS.contains(&first_word) {
            return self.text_at(self.position + 1) != "(";
        }
        if !self.is_name(self.position) {
            return false;
        }
        let mut token_behind = self.position + 1;
        if TEMPLATES.contains(&first_word) && self.text_at(token_behind) == "<" {
            match self.behind_template(token_behind) {
                Some(next_behind) => token_behind = next_behind,
                None => return false,
            }
        }
        if first_word == "spirv_type" && self.text_at(token_behind) == "(" {
            token_behind = self.behind_brackets(token_behind).unwrap_or(token_behind);
        }
        while self.text_at(token_behind) == "[" {
            match self.behind_brackets(token_behind) {
                Some(next_behind) => token_behind = next_behind,
                None => return false,
            }
        }
        self.is_name(token_behind)
    }
}
