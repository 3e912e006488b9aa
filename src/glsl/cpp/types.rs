//! Declared types in C++.

use super::super::syntax::{Declaration, DeclaredType, Expression, ExpressionKind, Item, StatementKind, TokenIndex};
use super::super::token::Token;
use super::{Emitted, Emitter, Unsupported, built_in};
use std::collections::BTreeSet;

/// Names of all members of the text's structures and blocks.
pub fn member_names(tokens: &[Token], items: &[Item]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut add = |declared: &DeclaredType| {
        let declarators = declared.members.iter().flat_map(|member| &member.declarators);
        names.extend(declarators.map(|declarator| tokens[declarator.name].text.to_string()));
    };
    for item in items {
        match item {
            Item::Declaration(Declaration { declared, .. }) => add(declared),
            Item::Function(function) => {
                for statement in function.body.iter().flatten() {
                    if let StatementKind::Declaration(declaration) = &statement.kind {
                        add(&declaration.declared);
                    }
                }
            }
            Item::Prototype { .. } | Item::Unread { .. } => {}
        }
    }
    names
}

impl Emitter<'_> {
    /// The type without arrays.
    pub fn element_name(&self, declared: &DeclaredType, near: TokenIndex) -> Result<String, Unsupported> {
        let Some(name) = declared.name else { return Err(self.unsupported("a type without a name", near)) };
        if !declared.template.is_empty() {
            return Err(self.unsupported(format!("the type `{}`", self.text(name)), name));
        }
        self.type_of_name(name)
    }

    pub fn type_of_name(&self, name: TokenIndex) -> Result<String, Unsupported> {
        let text = self.text(name);
        if self.structures.contains_key(text) {
            return Ok(built_in::spelled(text));
        }
        let made = built_in::type_name(text).map(str::to_owned);
        made.ok_or_else(|| self.unsupported(format!("the type `{text}`"), name))
    }

    /// Writes a type with the array sizes of its declarator and its own; `listed` is how many elements an array without
    /// a size has.
    pub fn write_type(
        &mut self,
        declared: &DeclaredType,
        sizes: &[Option<Expression>],
        listed: Option<usize>,
        near: TokenIndex,
    ) -> Emitted {
        let element = self.element_name(declared, near)?;
        let all: Vec<&Option<Expression>> = sizes.iter().chain(&declared.sizes).collect();
        self.write_array(&element, &all, listed, near)
    }

    /// Writes the type of an array; sizes outermost first.
    pub fn write_array(
        &mut self,
        element: &str,
        sizes: &[&Option<Expression>],
        listed: Option<usize>,
        near: TokenIndex,
    ) -> Emitted {
        sizes.iter().for_each(|_| self.out.write("Array<"));
        self.out.write(element);
        for (level, size) in sizes.iter().enumerate().rev() {
            match (size, listed) {
                (Some(size), _) if !self.is_foldable(size) => {
                    return Err(self.unsupported("an array size that C++ cannot tell", size.first));
                }
                (Some(size), _) => {
                    self.out.write(", std::size_t(raw(");
                    self.expression(size)?;
                    self.out.write("))>");
                }
                (None, Some(count)) if level == 0 => self.out.write(&format!(", {count}>")),
                (None, _) => return Err(self.unsupported("an array without a size", near)),
            }
        }
        Ok(())
    }

    /// How many elements an initialiser lists.
    pub fn listed(&self, initialiser: &Expression) -> Option<usize> {
        match &initialiser.kind {
            ExpressionKind::List(elements) => Some(elements.len()),
            ExpressionKind::Call { callee, arguments } if matches!(callee.kind, ExpressionKind::Index { .. }) => {
                Some(arguments.len())
            }
            _ => None,
        }
    }
}
