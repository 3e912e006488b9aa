//! Declared types in C++.

use super::super::syntax::{
    Declaration, DeclaredType, Expression, ExpressionKind, FileLevelItem, StatementKind, TokenIndex,
};
use super::super::token::Token;
use super::global::StructureMember;
use super::{Emitted, Emitter, NameSymbol, Unsupported, ValuePlace, built_in};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Names of all members of the text's structures and blocks.
pub(super) fn member_names(tokens: &[Token], items: &[FileLevelItem]) -> BTreeSet<String> {
    let mut all_names = BTreeSet::new();
    let mut add_members = |declared: &DeclaredType| {
        let declarators = declared.members.iter().flat_map(|member| &member.declarators);
        all_names.extend(declarators.map(|declarator| tokens[declarator.name].text.to_string()));
    };
    for item in items {
        match item {
            FileLevelItem::Declaration(Declaration { declared, .. }) => add_members(declared),
            FileLevelItem::Function(function) => {
                for statement in function.body.iter().flatten() {
                    if let StatementKind::Declaration(declaration) = &statement.kind {
                        add_members(&declaration.declared);
                    }
                }
            }
            FileLevelItem::Prototype { .. } | FileLevelItem::Unread { .. } => {}
        }
    }
    all_names
}

/// A declared type by name, with the number of array dimensions around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeclaredShape<'a> {
    pub name: &'a str,
    pub dimensions: usize,
}

impl<'a> Emitter<'a> {
    pub(super) fn declared_shape(
        &self,
        declared_type: &DeclaredType,
        declarator_sizes: &[Option<Expression>],
    ) -> Option<DeclaredShape<'a>> {
        let type_name = self.token_text(declared_type.name?);
        Some(DeclaredShape {
            name: type_name,
            dimensions: declarator_sizes.len() + declared_type.sizes.len(),
        })
    }

    /// The members of the block that an expression is the instance name of.
    pub(super) fn block_members(
        &self,
        expression: &Expression,
    ) -> Option<&BTreeMap<String, NameSymbol<'a>>> {
        let ExpressionKind::Identifier = expression.kind else { return None };
        match &self.resolve_name(self.token_text(expression.first))?.place {
            ValuePlace::Block(members) => Some(members),
            ValuePlace::Locally
            | ValuePlace::InMemory
            | ValuePlace::Unwritten
            | ValuePlace::Constant => None,
        }
    }

    /// Whether `base.name` is a member of a structure, where its letters could be a swizzle too.
    pub(super) fn is_member(
        &self,
        base: &Expression,
        name: TokenIndex,
    ) -> Result<bool, Unsupported> {
        let member_name = self.token_text(name);
        if self.block_members(base).is_some() {
            return Ok(true);
        }
        let spelled_name = built_in::spelled_name(member_name);
        let has_member = |members: &Rc<[StructureMember]>| {
            members.iter().any(|member| member.name == spelled_name)
        };
        if !self.members.contains(member_name) || !self.structures.values().any(has_member) {
            return Ok(self.swizzle_components(name).is_none());
        }
        if matches!(member_name, "x" | "y" | "z" | "w") {
            // Written alike.
            return Ok(true);
        }
        match self.shape_of(base) {
            Some(shape) => Ok(self.structures.contains_key(shape.name)),
            None => Err(self.unsupported_at(
                format!("`.{member_name}`, which is a swizzle and a member"),
                name,
            )),
        }
    }

    /// Whether an expression is a number or Boolean, which may be swizzled, too; none where the
    /// text does not tell.
    pub(super) fn is_scalar(&self, expression: &Expression) -> Option<bool> {
        let shape = self.shape_of(expression)?;
        Some(shape.dimensions == 0 && built_in::is_scalar(shape.name))
    }

    /// The type of an expression, as far as it tells structures from vectors.
    pub(super) fn shape_of(&self, expression: &Expression) -> Option<DeclaredShape<'a>> {
        match &expression.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(expression.first);
                match (self.resolve_name(name), built_in::type_of_variable(name)) {
                    (Some(symbol), _) => symbol.shape,
                    (None, Some(type_name)) => {
                        Some(DeclaredShape { name: type_name, dimensions: 0 })
                    }
                    (None, None) => None,
                }
            }
            ExpressionKind::Parenthesised(inner) => self.shape_of(inner),
            ExpressionKind::Index { base, .. } => {
                let shape = self.shape_of(base)?;
                Some(DeclaredShape { dimensions: shape.dimensions.checked_sub(1)?, ..shape })
            }
            ExpressionKind::Field { base, name } => match self.block_members(base) {
                Some(members) => members.get(self.token_text(*name))?.shape,
                None => {
                    let members = self.structures.get(self.shape_of(base)?.name)?;
                    let spelled_name = built_in::spelled_name(self.token_text(*name));
                    let member = members.iter().find(|member| member.name == spelled_name)?;
                    let type_name = self.token_text(member.declared.name?);
                    Some(DeclaredShape { name: type_name, dimensions: member.dimensions })
                }
            },
            ExpressionKind::Call { callee, .. } => {
                let name = self.token_text(callee.first);
                let is_constructor =
                    built_in::type_name(name).is_some() || self.structures.contains_key(name);
                let is_plain_call = matches!(callee.kind, ExpressionKind::Identifier);
                (is_constructor && is_plain_call).then_some(DeclaredShape { name, dimensions: 0 })
            }
            _ => None,
        }
    }

    /// The type without arrays.
    pub(super) fn element_name(
        &self,
        declared: &DeclaredType,
        near_token: TokenIndex,
    ) -> Result<String, Unsupported> {
        let Some(type_token) = declared.name else {
            return Err(self.unsupported_at("a type without a name", near_token));
        };
        if !declared.template.is_empty() {
            return Err(self.unsupported_at(
                format!("the type `{}`", self.token_text(type_token)),
                type_token,
            ));
        }
        self.type_of_name(type_token)
    }

    pub(super) fn type_of_name(&self, type_token: TokenIndex) -> Result<String, Unsupported> {
        let type_name = self.token_text(type_token);
        if self.structures.contains_key(type_name) {
            return Ok(built_in::spelled_name(type_name));
        }
        let spelled_type = built_in::type_name(type_name);
        spelled_type
            .ok_or_else(|| self.unsupported_at(format!("the type `{type_name}`"), type_token))
    }

    /// Writes a type with the array sizes of its declarator and its own; `element_count` is how
    /// many elements an array without a size has.
    pub(super) fn write_type(
        &mut self,
        declared_type: &DeclaredType,
        declarator_sizes: &[Option<Expression>],
        element_count: Option<usize>,
        near_token: TokenIndex,
    ) -> Emitted {
        let element_type = self.element_name(declared_type, near_token)?;
        let all_sizes: Vec<&Option<Expression>> =
            declarator_sizes.iter().chain(&declared_type.sizes).collect();
        self.write_array(&element_type, &all_sizes, element_count, near_token)
    }

    /// Writes the type of an array; sizes outermost first.
    pub(super) fn write_array(
        &mut self,
        element_type: &str,
        array_sizes: &[&Option<Expression>],
        element_count: Option<usize>,
        near_token: TokenIndex,
    ) -> Emitted {
        array_sizes.iter().for_each(|_| self.out.write_piece("Array<"));
        self.out.write_piece(element_type);
        for (array_level, size) in array_sizes.iter().enumerate().rev() {
            match (size, element_count) {
                (Some(size), _) if !self.is_foldable(size) => {
                    return Err(
                        self.unsupported_at("an array size that C++ cannot tell", size.first)
                    );
                }
                (Some(size), _) => {
                    self.out.write_piece(", std::size_t(raw(");
                    self.emit_expression(size)?;
                    self.out.write_piece("))>");
                }
                (None, Some(count)) if array_level == 0 => {
                    self.out.write_piece(&format!(", {count}>"))
                }
                (None, _) => return Err(self.unsupported_at("an array without a size", near_token)),
            }
        }
        Ok(())
    }

    /// How many elements an initialiser lists.
    pub(super) fn listed_length(&self, initialiser: &Expression) -> Option<usize> {
        match &initialiser.kind {
            ExpressionKind::List(elements) => Some(elements.len()),
            ExpressionKind::Call { callee, arguments }
                if matches!(callee.kind, ExpressionKind::Index { .. }) =>
            {
                Some(arguments.len())
            }
            _ => None,
        }
    }
}
