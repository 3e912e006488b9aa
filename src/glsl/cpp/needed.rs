//! What a kernel's entry point needs: functions that nobody calls and variables that nobody names
//! have no place in the program, and cannot make it unsupported.
//!
//! Promises: whatever the program mentions is needed; a name that stands for several things makes
//! all of them needed.

use super::super::syntax::{Declaration, FileLevelItem, TokenIndex};
use super::super::token::Token;
use super::Emitter;
use std::collections::{BTreeMap, BTreeSet};

/// The identifiers in the entry point and in every declaration of a name among them.
pub(super) fn needed_names<'t>(
    tokens: &'t [Token],
    items: &[FileLevelItem],
    entry: &str,
) -> BTreeSet<&'t str> {
    let mut ranges_by_name: BTreeMap<&str, Vec<[TokenIndex; 2]>> = BTreeMap::new();
    let mut item_start = 0;
    for item in items {
        let item_end = item_end(tokens, item, item_start);
        for name in names_of_item(item) {
            ranges_by_name.entry(&tokens[name].text).or_default().push([item_start, item_end]);
        }
        item_start = item_end + 1;
    }
    let mut needed_names = BTreeSet::new();
    let mut open_names = vec![entry];
    while let Some(name) = open_names.pop() {
        for [first, last] in ranges_by_name.remove(name).unwrap_or_default() {
            let identifiers = tokens[first..=last.min(tokens.len() - 1)]
                .iter()
                .filter(|token| token.is_identifier());
            for word in identifiers {
                if needed_names.insert(&*word.text) {
                    open_names.push(&word.text);
                }
            }
        }
    }
    needed_names
}

/// The names that an item gives a meaning.
fn names_of_item(item: &FileLevelItem) -> Vec<TokenIndex> {
    match item {
        FileLevelItem::Function(function) => vec![function.name],
        FileLevelItem::Prototype { name, .. } => vec![*name],
        FileLevelItem::Declaration(declaration) => declared_names(declaration),
        FileLevelItem::Unread { .. } => Vec::new(),
    }
}

/// Variables, the structure or block, and the members of a block without an instance name.
fn declared_names(declaration: &Declaration) -> Vec<TokenIndex> {
    let variable_names = declaration.declarators.iter().map(|declarator| declarator.name);
    let declared_type = &declaration.declared;
    let is_block = declared_type.has_qualifier("buffer") || declared_type.has_qualifier("uniform");
    let block_members =
        declared_type.members.iter().filter(|_| is_block).flat_map(|member| &member.declarators);
    let block_members = block_members.map(|member| member.name);
    variable_names.chain(declaration.declared.name).chain(block_members).collect()
}

/// The last token of an item that begins at `start`.
fn item_end(tokens: &[Token], item: &FileLevelItem, start: TokenIndex) -> TokenIndex {
    match item {
        FileLevelItem::Function(function) => function.last,
        FileLevelItem::Unread { last, .. } => *last,
        FileLevelItem::Declaration(_) | FileLevelItem::Prototype { .. } => {
            let last_name = names_of_item(item).into_iter().max().unwrap_or(start);
            let mut bracket_depth = 0usize;
            for (token_index, token) in tokens.iter().enumerate().skip(start) {
                match &*token.text {
                    "{" | "(" | "[" => bracket_depth += 1,
                    "}" | ")" | "]" => bracket_depth = bracket_depth.saturating_sub(1),
                    ";" if bracket_depth == 0 && token_index >= last_name => return token_index,
                    _ => {}
                }
            }
            tokens.len().saturating_sub(1)
        }
    }
}

impl Emitter<'_> {
    /// Whether the program mentions something of a declaration; one without names may say anything.
    pub(super) fn is_needed(&self, declaration: &Declaration) -> bool {
        let names = declared_names(declaration);
        names.is_empty() || names.iter().any(|name| self.needed.contains(self.token_text(*name)))
    }
}
