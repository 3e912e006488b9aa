//! Digests by which the preprocessed text of a function, or of a file, is compared with that of
//! another kernel.
//!
//! Knows: the tokens of a translation unit and what stands at file level. Promises: two functions
//! with the same digest have the same text, and so has all text at file level that they use,
//! directly or through what they use; text that cannot be taken apart counts as one piece, so that
//! any difference in it is one of every function.
//! Does not cover: how a text is compiled (version, target, optimisation), and the values of
//! specialization constants.

use super::preprocessor::{DEFINES_PATH, TranslationUnit};
use super::syntax::{Declaration, FileLevelItem, TokenIndex};
use super::token::Token;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::place::Position;
use vkcert_model::structure::TextDigests;

/// Text that uses one of these names depends on the local size, which has no name of its own:
/// they give it, or values that it bounds.
const LOCAL_SIZE_NAMES: [&str; 5] = [
    "gl_WorkGroupSize",
    "gl_LocalInvocationID",
    "gl_LocalInvocationIndex",
    "gl_NumSubgroups",
    "gl_SubgroupID",
];

/// The digests of a unit; `entry` is the name of its entry point, to which the local size belongs.
pub(crate) fn text_digests(
    unit: &TranslationUnit,
    items: &[FileLevelItem],
    entry_name: &str,
) -> TextDigests {
    let tokens = &unit.tokens;
    let function_count =
        items.iter().filter(|item| matches!(item, FileLevelItem::Function(_))).count();
    let function_digests = FileLevelPieces::from_items(tokens, items)
        .and_then(|pieces| pieces.function_digests(entry_name));
    let unread_part = function_digests.is_none().then(|| unread_reason(unit, items));
    let mut functions =
        function_digests.unwrap_or_else(|| vec![token_digest(tokens); function_count]);
    let mut files = file_digests(unit);
    let pragmas = joined_pragmas(unit);
    if !pragmas.is_empty() {
        let add_pragmas =
            |digest: &mut String| *digest = sha256_digits(format!("{digest} {pragmas}").as_bytes());
        functions.iter_mut().chain(files.values_mut()).for_each(add_pragmas);
    }
    TextDigests { functions, files, unread: unread_part }
}

/// Why a text cannot be divided into pieces: `glsl/k.comp:12 (expected a name, found `;`)`.
fn unread_reason(unit: &TranslationUnit, items: &[FileLevelItem]) -> String {
    let error = items.iter().find_map(|item| match item {
        FileLevelItem::Unread { error, .. } => Some(error),
        FileLevelItem::Function(_)
        | FileLevelItem::Declaration(_)
        | FileLevelItem::Prototype { .. } => None,
    });
    let Some(error) = error else { return "how its declarations use each other".to_owned() };
    let token = unit.tokens.get(error.token).map(std::slice::from_ref);
    let error_place =
        token.and_then(|token| unit.frames.locate_tokens(token)).and_then(|located| {
            let file = unit.files.get(located.span.file.0 as usize)?;
            Some(format!(
                "{}:{}",
                file.path,
                Position::of(&file.text, located.span.start as usize).line
            ))
        });
    format!("{} ({error})", error_place.as_deref().unwrap_or("text at file level"))
}

/// The pragmas of a unit, which hold for all of its text wherever they stand.
fn joined_pragmas(unit: &TranslationUnit) -> String {
    let directive_texts = unit.directives.iter().map(|directive| directive.text.as_str());
    let pragmas: BTreeSet<&str> = directive_texts
        .filter(|text| text.starts_with("#pragma") && *text != "#pragma once")
        .collect();
    pragmas.into_iter().collect::<Vec<_>>().join(" ")
}

/// SHA-256 of the tokens of a text.
pub(crate) fn token_digest(tokens: &[Token]) -> String {
    let token_texts: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
    sha256_digits(token_texts.join(" ").as_bytes())
}

/// By path: the tokens that are written in a file, or that stand where it is read.
fn file_digests(unit: &TranslationUnit) -> BTreeMap<String, String> {
    let mut file_texts = vec![String::new(); unit.files.len()];
    for token in &unit.tokens {
        let token_files: BTreeSet<u32> = [token.span.file.0, token.line_file.0].into();
        for place in token_files {
            if let Some(text) = file_texts.get_mut(place as usize) {
                text.push_str(&token.text);
                text.push(' ');
            }
        }
    }
    let files = unit.files.iter().zip(file_texts).filter(|(file, _)| file.path != DEFINES_PATH);
    files.map(|(file, text)| (file.path.clone(), sha256_digits(text.as_bytes()))).collect()
}

/// A declaration or definition at file level.
struct FileLevelPiece<'a> {
    tokens: &'a [Token],
    /// Names that other text can use it by.
    names: Vec<&'a str>,
    /// Names of a function's parameters, which stand before those at file level.
    parameters: Vec<&'a str>,
    is_function: bool,
}

/// What a declaration without a name applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamelessScope {
    /// `layout(local_size_x = 8) in;`
    LocalSize,
    /// `layout(std140) buffer;`: blocks behind it.
    Blocks,
    /// `precision mediump float;`, and any other: all that stands behind it.
    AllBehind,
}

impl FileLevelPiece<'_> {
    fn nameless_scope(&self) -> Option<NamelessScope> {
        if !self.names.is_empty() {
            return None;
        }
        let is_layout = self.tokens.first().is_some_and(|token| token.is("layout"));
        let storage = match self.tokens {
            [_, .., storage, end] if is_layout && end.is(";") => &*storage.text,
            _ => "",
        };
        Some(match storage {
            "in" => NamelessScope::LocalSize,
            "buffer" | "uniform" => NamelessScope::Blocks,
            _ => NamelessScope::AllBehind,
        })
    }

    /// Whether an identifier names nothing at file level: a member behind a point, or a parameter
    /// where no type can stand.
    fn is_own(&self, token_index: usize) -> bool {
        let token = &self.tokens[token_index];
        let behind_point = token_index > 0 && self.tokens[token_index - 1].is(".");
        let is_type_use = self
            .tokens
            .get(token_index + 1)
            .is_some_and(|next| next.is_identifier() || next.is("("));
        behind_point || (!is_type_use && self.parameters.contains(&&*token.text))
    }
}

/// What stands at file level, in source order.
struct FileLevelPieces<'a> {
    pieces: Vec<FileLevelPiece<'a>>,
    by_name: BTreeMap<&'a str, Vec<usize>>,
    nameless: Vec<(usize, NamelessScope)>,
    /// Functions with a prototype, which can be used before their definition.
    prototyped: BTreeSet<&'a str>,
}

/// State of a piece while digests are made, depth first.
#[derive(Clone, PartialEq)]
enum DigestProgress {
    Untouched,
    Begun,
    Done(String),
}

impl<'a> FileLevelPieces<'a> {
    /// None where items and tokens do not go together as declarations and definitions one behind
    /// the other.
    fn from_items(tokens: &'a [Token], items: &[FileLevelItem]) -> Option<Self> {
        let (mut pieces, mut prototyped_names, mut next_token) = (Vec::new(), BTreeSet::new(), 0);
        for item in items {
            while let Some(token) = tokens.get(next_token) {
                if token.is("precision") {
                    let piece_end = end_of_declaration(tokens, next_token)?;
                    let (piece_names, parameters) = (Vec::new(), Vec::new());
                    pieces.push(FileLevelPiece {
                        tokens: &tokens[next_token..piece_end],
                        names: piece_names,
                        parameters,
                        is_function: false,
                    });
                    next_token = piece_end;
                } else if token.is(";") {
                    next_token += 1;
                } else {
                    break;
                }
            }
            let (piece_end, piece_names) = match item {
                FileLevelItem::Function(function) if function.first == next_token => {
                    (function.last + 1, vec![function.name])
                }
                FileLevelItem::Declaration(declaration) => {
                    (end_of_declaration(tokens, next_token)?, declared_names(declaration))
                }
                FileLevelItem::Prototype { name, .. } => {
                    (end_of_declaration(tokens, next_token)?, vec![*name])
                }
                FileLevelItem::Function(_) | FileLevelItem::Unread { .. } => return None,
            };
            if piece_end > tokens.len()
                || piece_names.iter().any(|name| !(next_token..piece_end).contains(name))
            {
                return None;
            }
            let token_texts = |names: Vec<TokenIndex>| {
                names.into_iter().map(|name| &*tokens[name].text).collect()
            };
            let (tokens, piece_names): (_, Vec<&str>) =
                (&tokens[next_token..piece_end], token_texts(piece_names));
            match item {
                FileLevelItem::Prototype { .. } => prototyped_names.extend(piece_names),
                FileLevelItem::Function(function) => {
                    let parameters = token_texts(
                        function.parameters.iter().filter_map(|parameter| parameter.name).collect(),
                    );
                    pieces.push(FileLevelPiece {
                        tokens,
                        names: piece_names,
                        parameters,
                        is_function: true,
                    });
                }
                FileLevelItem::Declaration(_) | FileLevelItem::Unread { .. } => {
                    pieces.push(FileLevelPiece {
                        tokens,
                        names: piece_names,
                        parameters: Vec::new(),
                        is_function: false,
                    });
                }
            }
            next_token = piece_end;
        }
        if tokens[next_token..].iter().any(|token| !token.is(";")) {
            return None;
        }
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (index, piece) in pieces.iter().enumerate() {
            piece.names.iter().for_each(|name| by_name.entry(name).or_default().push(index));
        }
        let nameless = pieces
            .iter()
            .enumerate()
            .filter_map(|(index, piece)| Some((index, piece.nameless_scope()?)))
            .collect();
        Some(Self { pieces, by_name, nameless, prototyped: prototyped_names })
    }

    /// The pieces that one uses by name. Text can use what stands before it, and functions that are
    /// announced.
    fn used_by(&self, index: usize, entry: &str) -> BTreeSet<usize> {
        let piece = &self.pieces[index];
        let mut used_pieces = BTreeSet::new();
        let mut uses_local_size = piece.is_function && piece.names.contains(&entry);
        for (token_index, token) in
            piece.tokens.iter().enumerate().filter(|(_, token)| token.is_identifier())
        {
            uses_local_size |= LOCAL_SIZE_NAMES.contains(&&*token.text);
            if piece.is_own(token_index) {
                continue;
            }
            let named_pieces = self.by_name.get(&*token.text).into_iter().flatten().copied();
            let is_prototyped = self.prototyped.contains(&*token.text);
            used_pieces.extend(named_pieces.filter(|other_piece| {
                *other_piece < index || (is_prototyped && *other_piece != index)
            }));
        }
        for (other_piece, nameless_scope) in self.nameless.iter().copied() {
            let applies_here = match nameless_scope {
                NamelessScope::LocalSize => uses_local_size && other_piece != index,
                NamelessScope::Blocks => other_piece < index && !piece.is_function,
                NamelessScope::AllBehind => other_piece < index,
            };
            if applies_here {
                used_pieces.insert(other_piece);
            }
        }
        used_pieces
    }

    /// The digest of each function, in source order; none where pieces use each other in a circle.
    fn function_digests(&self, entry: &str) -> Option<Vec<String>> {
        let used_pieces: Vec<BTreeSet<usize>> =
            (0..self.pieces.len()).map(|index| self.used_by(index, entry)).collect();
        let mut progress = vec![DigestProgress::Untouched; self.pieces.len()];
        for index in 0..self.pieces.len() {
            self.digest_piece(index, &used_pieces, &mut progress)?;
        }
        let function_pieces =
            self.pieces.iter().zip(progress).filter(|(piece, _)| piece.is_function);
        let digests = function_pieces.map(|(_, piece_progress)| match piece_progress {
            DigestProgress::Done(digest) => Some(digest),
            DigestProgress::Untouched | DigestProgress::Begun => None,
        });
        digests.collect()
    }

    /// Makes the digest of a piece after those of all that it uses, without recursion.
    fn digest_piece(
        &self,
        first_piece: usize,
        used_pieces: &[BTreeSet<usize>],
        progress: &mut [DigestProgress],
    ) -> Option<()> {
        let mut open_pieces = vec![first_piece];
        while let Some(index) = open_pieces.last().copied() {
            match progress[index] {
                DigestProgress::Done(_) => drop(open_pieces.pop()),
                DigestProgress::Untouched => {
                    progress[index] = DigestProgress::Begun;
                    for used_piece in &used_pieces[index] {
                        match progress[*used_piece] {
                            DigestProgress::Done(_) => {}
                            DigestProgress::Untouched => open_pieces.push(*used_piece),
                            DigestProgress::Begun => return None,
                        }
                    }
                }
                DigestProgress::Begun => {
                    let used_digests: BTreeSet<&str> = used_pieces[index]
                        .iter()
                        .filter_map(|used_piece| match &progress[*used_piece] {
                            DigestProgress::Done(digest) => Some(digest.as_str()),
                            DigestProgress::Untouched | DigestProgress::Begun => None,
                        })
                        .collect();
                    let own_digest = token_digest(self.pieces[index].tokens);
                    let digest_parts: Vec<&str> =
                        std::iter::once(own_digest.as_str()).chain(used_digests).collect();
                    progress[index] =
                        DigestProgress::Done(sha256_digits(digest_parts.join(" ").as_bytes()));
                    open_pieces.pop();
                }
            }
        }
        Some(())
    }
}

/// Behind the `;` that ends a declaration.
fn end_of_declaration(tokens: &[Token], first_token: TokenIndex) -> Option<TokenIndex> {
    let mut brace_depth = 0_u32;
    for (offset, token) in tokens.get(first_token..)?.iter().enumerate() {
        match &*token.text {
            "{" => brace_depth += 1,
            "}" => brace_depth = brace_depth.checked_sub(1)?,
            ";" if brace_depth == 0 => return Some(first_token + offset + 1),
            _ => {}
        }
    }
    None
}

/// The names that a declaration brings: variables, a struct or block, and the members of a block
/// without a name of its own.
fn declared_names(declaration: &Declaration) -> Vec<TokenIndex> {
    let declared_type = &declaration.declared;
    let mut names: Vec<TokenIndex> =
        declaration.declarators.iter().map(|declarator| declarator.name).collect();
    if names.is_empty() {
        let members = declared_type.members.iter().flat_map(|member| &member.declarators);
        names.extend(members.map(|member| member.name));
    }
    names.extend(declared_type.name.filter(|_| declared_type.has_body));
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::include::IncludeResolver;
    use crate::parser::parse_unit;
    use crate::preprocessor::preprocess;
    use crate::{DecisionPolicy, KernelSource, NoneDefined, Optimization};

    /// The digests of the functions of a text whose `FAST` is defined or not.
    fn of(text: &str, is_fast: bool) -> Vec<String> {
        let fast = if is_fast { "#define FAST\n" } else { "" };
        let text = format!("#version 450\n{fast}{text}");
        let kernel = KernelSource {
            path: "k.comp".to_owned(),
            text: text.clone(),
            include: Vec::new(),
            folder: None,
            defines: BTreeMap::new(),
            entry: "main".to_owned(),
            target_env: "vulkan1.1".to_owned(),
            optimization: Optimization::Zero,
            policy: DecisionPolicy::Literal,
            requested: BTreeSet::new(),
        };
        let includes = IncludeResolver::new(&kernel);
        let unit =
            preprocess(&kernel.path, &text, &kernel.defines, &includes, &NoneDefined).unwrap();
        text_digests(&unit, &parse_unit(&unit.tokens), "main").functions
    }

    #[test]
    fn what_has_no_name_tells_the_text_of_what_it_holds_for() {
        let choice =
            |fast: &str, slow: &str| format!("#ifdef FAST\n{fast}\n#else\n{slow}\n#endif\n");
        let block = "readonly buffer B { float b[]; };\n";
        let functions = "float f(uint i) { return b[i]; }\nfloat g(float x) { return x; }\nvoid main() { f(0u); }\n";
        let local = functions.replace("b[i]", "float(gl_LocalInvocationID.x + i)");
        // Which of `f`, `g` and `main` are the same in both.
        let cases: &[(String, &str, [bool; 3])] = &[
            (
                choice("layout(local_size_x = 4) in;", "layout(local_size_x = 2) in;"),
                functions,
                [true, true, false],
            ),
            (
                choice("layout(local_size_x = 4) in;", "layout(local_size_x = 2) in;"),
                &local,
                [false, true, false],
            ),
            (
                choice("layout(std430) buffer;", "layout(std140) buffer;"),
                functions,
                [false, true, false],
            ),
            (
                choice("layout(std430) buffer;", "layout(std140) buffer;"),
                &local,
                [true, true, true],
            ),
            (
                choice("precision mediump float;", "precision highp float;"),
                functions,
                [false, false, false],
            ),
            (choice("#pragma use_vulkan_memory_model", ""), functions, [false, false, false]),
            (
                choice("#extension GL_KHR_shader_subgroup_basic : enable", ""),
                functions,
                [true, true, true],
            ),
            (
                "precision highp float;\n".to_owned() + &choice("const int n = 1;", ""),
                functions,
                [true, true, true],
            ),
        ];
        for (head, functions, same) in cases {
            let text = format!("{head}{block}{functions}");
            let [fast, slow] = [true, false].map(|is_fast| of(&text, is_fast));
            let found: Vec<bool> =
                fast.iter().zip(&slow).map(|(fast, slow)| fast == slow).collect();
            assert_eq!(found, same, "{text}");
        }
    }
}
