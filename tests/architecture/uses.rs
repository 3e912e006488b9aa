//! The modules that a source text names, however the path is written.
//!
//! Knows: paths that begin with `crate`, `super` or `self`, in `use` declarations and in code, with
//! groups over several lines; child modules in `use` declarations. Comments and literals name
//! nothing.
//! Does not cover: paths that macros make.

/// A path of a text, from the root of its crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub line: usize,
    pub path: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    Colons,
    Other(char),
}

/// The tokens of a text with their lines, without comments and literals.
fn tokens(text: &str) -> Vec<(usize, Token)> {
    let characters: Vec<char> = text.chars().collect();
    let (mut tokens, mut at, mut line) = (Vec::new(), 0, 1);
    let starts = |at: usize, what: &str| {
        what.chars().enumerate().all(|(i, c)| characters.get(at + i) == Some(&c))
    };
    while at < characters.len() {
        let start = at;
        let character = characters[at];
        if starts(at, "//") {
            at += characters[at..].iter().take_while(|c| **c != '\n').count();
        } else if starts(at, "/*") {
            at += 2;
            while at < characters.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if let Some(hashes) = raw_string(&characters[at..]) {
            at += characters[at..].iter().take_while(|c| **c != '"').count() + 1;
            let end = format!("\"{}", "#".repeat(hashes));
            while at < characters.len() && !starts(at, &end) {
                at += 1;
            }
            at += end.len();
        } else if character == '"' {
            at += 1;
            while at < characters.len() && characters[at] != '"' {
                at += if characters[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if character == '\'' {
            // A character, or a lifetime.
            let escaped = characters.get(at + 1) == Some(&'\\');
            at += match (escaped, characters.get(at + 2)) {
                (true, _) => 3 + characters[at + 3..].iter().take_while(|c| **c != '\'').count(),
                (false, Some('\'')) => 3,
                (false, _) => 1,
            };
        } else if character.is_alphanumeric() || character == '_' {
            let word: String =
                characters[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
            at += word.chars().count();
            tokens.push((line, Token::Word(word)));
        } else if starts(at, "::") {
            at += 2;
            tokens.push((line, Token::Colons));
        } else {
            at += 1;
            if !character.is_whitespace() {
                tokens.push((line, Token::Other(character)));
            }
        }
        let end = at.min(characters.len());
        line += characters[start..end].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// How many `#` a raw string has that begins here.
fn raw_string(characters: &[char]) -> Option<usize> {
    let rest = characters.strip_prefix(&['b']).unwrap_or(characters).strip_prefix(&['r'])?;
    let hashes = rest.iter().take_while(|c| **c == '#').count();
    (rest.get(hashes) == Some(&'"')).then_some(hashes)
}

/// Reads a path or a group of paths from `at` on; `before` are the segments in front of it. Gives
/// where it ends.
fn read_tree(
    tokens: &[(usize, Token)],
    mut at: usize,
    before: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut path = before.to_vec();
    let line = tokens.get(at).map_or(0, |(line, _)| *line);
    loop {
        match tokens.get(at).map(|(_, token)| token) {
            Some(Token::Word(word)) => {
                path.push(word.clone());
                at += 1;
            }
            Some(Token::Other('{')) => {
                at += 1;
                while !matches!(tokens.get(at), None | Some((_, Token::Other('}')))) {
                    let end = read_tree(tokens, at, &path, found);
                    at = end.max(at + 1);
                    while matches!(tokens.get(at), Some((_, Token::Word(_) | Token::Other(',')))) {
                        // `as name`, and what parts the paths of a group.
                        let is_comma = tokens[at].1 == Token::Other(',');
                        at += 1;
                        if is_comma {
                            break;
                        }
                    }
                }
                return at + 1;
            }
            _ => break,
        }
        if tokens.get(at).map(|(_, token)| token) != Some(&Token::Colons) {
            break;
        }
        at += 1;
    }
    found.push((line, path));
    at
}

/// Every path that a module names. `module` is its own path; `children` are the names of its child
/// modules.
pub(super) fn named(text: &str, module: &[String], children: &[String]) -> Vec<Named> {
    let tokens = tokens(text);
    let word = |at: usize| match tokens.get(at) {
        Some((_, Token::Word(word))) => Some(word.as_str()),
        _ => None,
    };
    // The modules that the text itself opens, with how many braces were open before each.
    let mut inner: Vec<(usize, String)> = Vec::new();
    let (mut at, mut braces, mut all) = (0, 0, Vec::new());
    while at < tokens.len() {
        if word(at) == Some("mod")
            && tokens.get(at + 2).map(|(_, token)| token) == Some(&Token::Other('{'))
        {
            inner.push((braces, word(at + 1).unwrap_or_default().to_owned()));
            braces += 1;
            at += 3;
            continue;
        }
        let starts_path = matches!(word(at), Some("crate" | "super" | "self"))
            && matches!(tokens.get(at + 1), Some((_, Token::Colons)));
        let uses_child = at > 0
            && word(at - 1) == Some("use")
            && inner.is_empty()
            && word(at).is_some_and(|name| children.iter().any(|child| child == name));
        if (starts_path || uses_child) && (at == 0 || tokens[at - 1].1 != Token::Colons) {
            let mut found = Vec::new();
            at = read_tree(&tokens, at, &[], &mut found).max(at + 1);
            let own: Vec<String> =
                module.iter().cloned().chain(inner.iter().map(|(_, name)| name.clone())).collect();
            all.extend(
                found.into_iter().map(|(line, path)| Named { line, path: from_root(&own, &path) }),
            );
            continue;
        }
        match tokens[at].1 {
            Token::Other('{') => braces += 1,
            Token::Other('}') => {
                braces = braces.saturating_sub(1);
                if inner.last().is_some_and(|(open, _)| *open == braces) {
                    inner.pop();
                }
            }
            _ => {}
        }
        at += 1;
    }
    all
}

/// A path as it is from the root of the crate.
fn from_root(module: &[String], path: &[String]) -> Vec<String> {
    let mut base = module.to_vec();
    let mut rest = path;
    if path.first().map(String::as_str) == Some("crate") {
        base.clear();
        rest = &path[1..];
    }
    while let Some((first, after)) =
        rest.split_first().filter(|(first, _)| *first == "super" || *first == "self")
    {
        if first == "super" {
            base.pop();
        }
        rest = after;
    }
    base.extend(rest.iter().filter(|segment| *segment != "self").cloned());
    base
}
