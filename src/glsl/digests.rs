//! What tells the preprocessed text of a function, or of a file, from that of another kernel.
//!
//! Knows: the tokens of a translation unit and what stands at file level. Promises: two functions with the same digest have the same
//! text, and so has all text at file level that they use, directly or through what they use; text that cannot be taken apart
//! counts as one piece, so that any difference in it is one of every function.
//! Does not cover: how a text is compiled (version, target, optimisation), and the values of specialization constants.

use super::preprocessor::{DEFINES_PATH, TranslationUnit};
use super::syntax::{Declaration, Item, TokenIndex};
use super::token::Token;
use crate::model::canonical::sha256_digits;
use crate::model::structure::TextDigests;
use std::collections::{BTreeMap, BTreeSet};

/// What a function uses if it uses this name is whatever has no name of its own: the local size.
const LOCAL_SIZE: &str = "gl_WorkGroupSize";

/// The digests of a unit; `entry` is the name of its entry point, to which the local size belongs.
pub fn digests(unit: &TranslationUnit, items: &[Item], entry: &str) -> TextDigests {
    let tokens = &unit.tokens;
    let count = items.iter().filter(|item| matches!(item, Item::Function(_))).count();
    let whole = || vec![digest_of(tokens); count];
    let functions = Pieces::of(tokens, items).and_then(|pieces| pieces.functions(entry)).unwrap_or_else(whole);
    TextDigests { functions, files: of_files(unit) }
}

fn digest_of(tokens: &[Token]) -> String {
    let words: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
    sha256_digits(words.join(" ").as_bytes())
}

/// By path: the tokens that are written in a file, or that stand where it is read.
fn of_files(unit: &TranslationUnit) -> BTreeMap<String, String> {
    let mut texts = vec![String::new(); unit.files.len()];
    for token in &unit.tokens {
        let places: BTreeSet<u32> = [token.span.file.0, token.line_file.0].into();
        for place in places {
            if let Some(text) = texts.get_mut(place as usize) {
                text.push_str(&token.text);
                text.push(' ');
            }
        }
    }
    let files = unit.files.iter().zip(texts).filter(|(file, _)| file.path != DEFINES_PATH);
    files.map(|(file, text)| (file.path.clone(), sha256_digits(text.as_bytes()))).collect()
}

/// A declaration or definition at file level.
struct Piece<'a> {
    tokens: &'a [Token],
    /// Names that other text can use it by.
    names: Vec<&'a str>,
    /// Names of a function's parameters, which stand before those at file level.
    parameters: Vec<&'a str>,
    is_function: bool,
}

impl Piece<'_> {
    /// Whether an identifier names nothing at file level: a member behind a point, or a parameter where no type can stand.
    fn is_own(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let behind_point = at > 0 && self.tokens[at - 1].is(".");
        let as_type = self.tokens.get(at + 1).is_some_and(|next| next.is_identifier() || next.is("("));
        behind_point || (!as_type && self.parameters.contains(&&*token.text))
    }
}

/// What stands at file level, in source order.
struct Pieces<'a> {
    pieces: Vec<Piece<'a>>,
    by_name: BTreeMap<&'a str, Vec<usize>>,
    /// Functions that can be used before their definition.
    announced: BTreeSet<&'a str>,
}

/// How far the digest of a piece has come.
#[derive(Clone, PartialEq)]
enum Progress {
    Untouched,
    Begun,
    Done(String),
}

impl<'a> Pieces<'a> {
    /// None where items and tokens do not go together as declarations and definitions one behind the other.
    fn of(tokens: &'a [Token], items: &[Item]) -> Option<Self> {
        let (mut pieces, mut announced, mut next) = (Vec::new(), BTreeSet::new(), 0);
        for item in items {
            while tokens.get(next).is_some_and(|token| token.is(";")) {
                next += 1;
            }
            let (end, names) = match item {
                Item::Function(function) if function.first == next => (function.last + 1, vec![function.name]),
                Item::Declaration(declaration) => (end_of_declaration(tokens, next)?, names_of(declaration)),
                Item::Prototype { name, .. } => (end_of_declaration(tokens, next)?, vec![*name]),
                Item::Function(_) | Item::Unread { .. } => return None,
            };
            if end > tokens.len() || names.iter().any(|name| !(next..end).contains(name)) {
                return None;
            }
            let texts = |names: Vec<TokenIndex>| names.into_iter().map(|name| &*tokens[name].text).collect();
            let (tokens, names): (_, Vec<&str>) = (&tokens[next..end], texts(names));
            match item {
                Item::Prototype { .. } => announced.extend(names),
                Item::Function(function) => {
                    let parameters = texts(function.parameters.iter().filter_map(|one| one.name).collect());
                    pieces.push(Piece { tokens, names, parameters, is_function: true });
                }
                Item::Declaration(_) | Item::Unread { .. } => {
                    pieces.push(Piece { tokens, names, parameters: Vec::new(), is_function: false });
                }
            }
            next = end;
        }
        if tokens[next..].iter().any(|token| !token.is(";")) {
            return None;
        }
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, piece) in pieces.iter().enumerate() {
            piece.names.iter().for_each(|name| by_name.entry(name).or_default().push(index));
        }
        Some(Self { pieces, by_name, announced })
    }

    /// The pieces that one uses by name. Text can use what stands before it, and functions that are announced.
    fn used(&self, index: usize, entry: &str) -> BTreeSet<usize> {
        let piece = &self.pieces[index];
        let mut used = BTreeSet::new();
        let mut sized = piece.is_function && piece.names.contains(&entry);
        for (at, token) in piece.tokens.iter().enumerate().filter(|(_, token)| token.is_identifier()) {
            sized |= token.is(LOCAL_SIZE);
            if piece.is_own(at) {
                continue;
            }
            let named = self.by_name.get(&*token.text).into_iter().flatten().copied();
            let announced = self.announced.contains(&*token.text);
            used.extend(named.filter(|other| *other < index || (announced && *other != index)));
        }
        if sized {
            let nameless = self.pieces.iter().enumerate().filter(|(_, piece)| piece.names.is_empty());
            used.extend(nameless.map(|(other, _)| other).filter(|other| *other != index));
        }
        used
    }

    /// The digest of each function, in source order; none where pieces use each other in a circle.
    fn functions(&self, entry: &str) -> Option<Vec<String>> {
        let used: Vec<BTreeSet<usize>> = (0..self.pieces.len()).map(|index| self.used(index, entry)).collect();
        let mut progress = vec![Progress::Untouched; self.pieces.len()];
        for index in 0..self.pieces.len() {
            self.digest(index, &used, &mut progress)?;
        }
        let functions = self.pieces.iter().zip(progress).filter(|(piece, _)| piece.is_function);
        let digests = functions.map(|(_, progress)| match progress {
            Progress::Done(digest) => Some(digest),
            Progress::Untouched | Progress::Begun => None,
        });
        digests.collect()
    }

    /// Makes the digest of a piece after those of all that it uses, without recursion.
    fn digest(&self, start: usize, used: &[BTreeSet<usize>], progress: &mut [Progress]) -> Option<()> {
        let mut open = vec![start];
        while let Some(index) = open.last().copied() {
            match progress[index] {
                Progress::Done(_) => drop(open.pop()),
                Progress::Untouched => {
                    progress[index] = Progress::Begun;
                    for other in &used[index] {
                        match progress[*other] {
                            Progress::Done(_) => {}
                            Progress::Untouched => open.push(*other),
                            Progress::Begun => return None,
                        }
                    }
                }
                Progress::Begun => {
                    let parts: BTreeSet<&str> = used[index]
                        .iter()
                        .filter_map(|other| match &progress[*other] {
                            Progress::Done(digest) => Some(digest.as_str()),
                            Progress::Untouched | Progress::Begun => None,
                        })
                        .collect();
                    let own = digest_of(self.pieces[index].tokens);
                    let all: Vec<&str> = std::iter::once(own.as_str()).chain(parts).collect();
                    progress[index] = Progress::Done(sha256_digits(all.join(" ").as_bytes()));
                    open.pop();
                }
            }
        }
        Some(())
    }
}

/// Behind the `;` that ends a declaration.
fn end_of_declaration(tokens: &[Token], first: TokenIndex) -> Option<TokenIndex> {
    let mut depth = 0_u32;
    for (offset, token) in tokens.get(first..)?.iter().enumerate() {
        match &*token.text {
            "{" => depth += 1,
            "}" => depth = depth.checked_sub(1)?,
            ";" if depth == 0 => return Some(first + offset + 1),
            _ => {}
        }
    }
    None
}

/// The names that a declaration brings: variables, a struct or block, and the members of a block without a name of its own.
fn names_of(declaration: &Declaration) -> Vec<TokenIndex> {
    let declared = &declaration.declared;
    let mut names: Vec<TokenIndex> = declaration.declarators.iter().map(|declarator| declarator.name).collect();
    if names.is_empty() {
        let members = declared.members.iter().flat_map(|member| &member.declarators);
        names.extend(members.map(|member| member.name));
    }
    names.extend(declared.name.filter(|_| declared.has_body));
    names
}
