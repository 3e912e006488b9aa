//! What a kernel's entry point needs: functions that nobody calls and variables that nobody names
//! have no place in the program, and cannot make it unsupported.
//!
//! Promises: whatever the program mentions is needed; a name that stands for several things makes
//! all of them needed.

use super::super::syntax::{Declaration, Item, TokenIndex};
use super::super::token::Token;
use super::Emitter;
use std::collections::{BTreeMap, BTreeSet};

/// The identifiers in the entry point and in every declaration of a name among them.
pub(super) fn names<'t>(tokens: &'t [Token], items: &[Item], entry: &str) -> BTreeSet<&'t str> {
    let mut ranges: BTreeMap<&str, Vec<[TokenIndex; 2]>> = BTreeMap::new();
    let mut start = 0;
    for item in items {
        let end = end_of(tokens, item, start);
        for name in declared(item) {
            ranges.entry(&tokens[name].text).or_default().push([start, end]);
        }
        start = end + 1;
    }
    let mut needed = BTreeSet::new();
    let mut open = vec![entry];
    while let Some(name) = open.pop() {
        for [first, last] in ranges.remove(name).unwrap_or_default() {
            let words = tokens[first..=last.min(tokens.len() - 1)]
                .iter()
                .filter(|token| token.is_identifier());
            for word in words {
                if needed.insert(&*word.text) {
                    open.push(&word.text);
                }
            }
        }
    }
    needed
}

/// The names that an item gives a meaning.
fn declared(item: &Item) -> Vec<TokenIndex> {
    match item {
        Item::Function(function) => vec![function.name],
        Item::Prototype { name, .. } => vec![*name],
        Item::Declaration(declaration) => declared_names(declaration),
        Item::Unread { .. } => Vec::new(),
    }
}

/// Variables, the structure or block, and the members of a block without an instance name.
fn declared_names(declaration: &Declaration) -> Vec<TokenIndex> {
    let variables = declaration.declarators.iter().map(|declarator| declarator.name);
    let declared = &declaration.declared;
    let is_block = declared.has("buffer") || declared.has("uniform");
    let members =
        declared.members.iter().filter(|_| is_block).flat_map(|member| &member.declarators);
    let members = members.map(|member| member.name);
    variables.chain(declaration.declared.name).chain(members).collect()
}

/// The last token of an item that begins at `start`.
fn end_of(tokens: &[Token], item: &Item, start: TokenIndex) -> TokenIndex {
    match item {
        Item::Function(function) => function.last,
        Item::Unread { last, .. } => *last,
        Item::Declaration(_) | Item::Prototype { .. } => {
            let named = declared(item).into_iter().max().unwrap_or(start);
            let mut depth = 0usize;
            for (at, token) in tokens.iter().enumerate().skip(start) {
                match &*token.text {
                    "{" | "(" | "[" => depth += 1,
                    "}" | ")" | "]" => depth = depth.saturating_sub(1),
                    ";" if depth == 0 && at >= named => return at,
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
        names.is_empty() || names.iter().any(|name| self.needed.contains(self.text(*name)))
    }
}
