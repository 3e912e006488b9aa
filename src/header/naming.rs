//! Which struct of a header a name means.
//!
//! Knows: namespaces, structs within structs, tags and types of C.
//! Promises: a name that leads to several types is none; `struct Params` and `typedef Params` tell a
//! tag from a type of the same name.
//! Does not cover: names that `using` and aliases of namespaces make; the compiler is asked for them
//! (`parsing`).

use super::HeaderRequest;
use super::syntax_tree::{Cursor, DeclarationKind, DeclaredType, TranslationUnit};
use std::collections::BTreeSet;

/// Names that are kept for a hint.
const MOST_NAMES: usize = 10_000;

/// A cursor with the qualified name of what it is in.
struct Scope<'unit> {
    cursor: Cursor<'unit>,
    prefix: String,
}

/// A name as the interface has it.
#[derive(Clone, Copy)]
pub(super) struct WantedName<'a> {
    pub name: &'a str,
    kind: WantedKind,
}

/// What a name may stand for. In C a tag and a type can have one name and be two structs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WantedKind {
    Any,
    /// `struct Params`
    Tag,
    /// `typedef Params`
    TypeName,
}

impl<'a> WantedName<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        if let Some(name) = text.strip_prefix("struct ") {
            return Self { name, kind: WantedKind::Tag };
        }
        match text.strip_prefix("typedef ") {
            Some(name) => Self { name, kind: WantedKind::TypeName },
            None => Self { name: text, kind: WantedKind::Any },
        }
    }

    fn is_kind_of(self, declaration: Cursor<'_>, language: Language) -> bool {
        let is_type_name = declaration.kind() == DeclarationKind::TypeName;
        match self.kind {
            WantedKind::Any => true,
            WantedKind::Tag => !is_type_name && has_tag(declaration, language),
            WantedKind::TypeName => is_type_name,
        }
    }
}

/// Whether a struct has a name of its own; one without is called by that of its `typedef`, but is
/// not written `struct NAME` in C.
fn has_tag(declaration: Cursor<'_>, language: Language) -> bool {
    match language {
        Language::C => declaration.declared_type().spelling() != declaration.name(),
        Language::Cpp => true,
    }
}

/// Where names of structs within structs belong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    /// To the file (ISO C17, section 6.2.1).
    C,
    /// To the struct.
    Cpp,
}

impl Language {
    pub(super) fn of(request: &HeaderRequest) -> Self {
        if request.standard.contains("++") { Language::Cpp } else { Language::C }
    }
}

/// What is found under a name.
pub(super) enum StructSearch<'unit> {
    Unique(DeclaredType<'unit>),
    /// Types that are not the same.
    Several,
    /// The names that there are.
    Missing(BTreeSet<String>),
}

pub(super) fn find_struct<'unit>(
    unit: &'unit TranslationUnit,
    wanted: WantedName<'_>,
    language: Language,
) -> StructSearch<'unit> {
    let mut declared = BTreeSet::new();
    let mut found_type: Option<DeclaredType<'unit>> = None;
    // A list instead of recursion: headers nest as deep as they like.
    let mut scopes = vec![Scope { cursor: unit.root(), prefix: String::new() }];
    while let Some(scope) = scopes.pop() {
        for child in scope.cursor.children() {
            let name = child.name();
            let full_name = if scope.prefix.is_empty() {
                name.clone()
            } else {
                format!("{}::{name}", scope.prefix)
            };
            let is_definition = child.is_definition();
            if is_named_type(child.kind(), is_definition) {
                let is_wanted = full_name == wanted.name && wanted.is_kind_of(child, language);
                match found_type {
                    Some(earlier) if is_wanted && !earlier.is_same(child.declared_type()) => {
                        return StructSearch::Several;
                    }
                    Some(_) => {}
                    None => found_type = is_wanted.then(|| child.declared_type()),
                }
                if declared.len() < MOST_NAMES {
                    declared.insert(full_name.clone());
                }
            }
            let prefix = inner_prefix(child, &scope.prefix, full_name, language);
            scopes.extend(prefix.map(|prefix| Scope { cursor: child, prefix }));
        }
    }
    found_type.map_or(StructSearch::Missing(declared), StructSearch::Unique)
}

fn is_named_type(kind: DeclarationKind, is_definition: bool) -> bool {
    match kind {
        DeclarationKind::Struct | DeclarationKind::Union => is_definition,
        DeclarationKind::TypeName => true,
        DeclarationKind::Namespace
        | DeclarationKind::Linkage
        | DeclarationKind::Base
        | DeclarationKind::Other => false,
    }
}

/// What stands in front of the names that a declaration holds; none where it holds none.
fn inner_prefix(
    child: Cursor<'_>,
    prefix: &str,
    full_name: String,
    language: Language,
) -> Option<String> {
    match child.kind() {
        DeclarationKind::Namespace if child.is_transparent_namespace() => Some(prefix.to_owned()),
        DeclarationKind::Namespace => Some(full_name),
        DeclarationKind::Linkage => Some(prefix.to_owned()),
        DeclarationKind::Struct | DeclarationKind::Union => match language {
            Language::C => Some(prefix.to_owned()),
            Language::Cpp => Some(full_name),
        },
        DeclarationKind::TypeName | DeclarationKind::Base | DeclarationKind::Other => None,
    }
}
