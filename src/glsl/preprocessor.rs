//! The preprocessor (GLSL 4.60, 3.3): directives, macros and includes, with the origin of every
//! token kept.
//!
//! Promises: for text that the compiler accepts, the tokens that the compiler's own preprocessor
//! makes, each with its place in the original files; `glsl::compile` compares both streams and
//! falls back to the compiler's where they differ.
//! Does not cover: error recovery. The first thing it does not understand is an error, and the
//! caller falls back.

use super::include::{IncludeError, IncludeForm, Includes};
use super::lexer::Lexer;
use super::macros::{Expanded, FileInput, Input, Lines, Macro, Scanned};
use super::token::{FrameId, Frames, Token, TokenKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::place::{FileIndex, SourceFile, Span};

/// Most steps (tokens read, arguments expanded, places moved) of one run. The compiler has no such
/// limit: text beyond it is refused before the compiler sees it.
const STEP_LIMIT: u64 = 4_000_000;

/// Path that stands for the macro definitions given from outside.
pub(crate) const DEFINES_PATH: &str = "<defines>";

/// Text that the preprocessor does not understand.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub(crate) struct PreprocessError {
    pub message: String,
    pub span: Option<Span>,
    pub cause: Cause,
}

/// Why the preprocessor gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// It does not understand the text; the compiler may.
    Text,
    /// Macros or includes grow beyond a limit; the compiler would not come to an end either.
    Limit,
}

impl PreprocessError {
    pub(crate) fn at(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span: Some(span), cause: Cause::Text }
    }

    pub(crate) fn plain(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, cause: Cause::Text }
    }
}

/// A directive that the compiler must see too: `#version`, `#extension`, `#pragma`.
#[derive(Debug, Clone)]
pub(crate) struct Directive {
    /// Number of tokens before it.
    pub before: usize,
    /// The whole directive on one line, without comments.
    pub text: String,
    pub line: u32,
    pub line_file: FileIndex,
    /// A pragma with operators of several characters, or strings.
    pub is_loud: bool,
}

/// Preprocessed text.
#[derive(Debug, Clone)]
pub(crate) struct TranslationUnit {
    /// The main file first.
    pub files: Vec<SourceFile>,
    /// Without line ends.
    pub tokens: Vec<Token>,
    pub directives: Vec<Directive>,
    pub frames: Frames,
}

/// Macros that the compiler defines by itself: name to value, `None` where a name is no macro.
pub(crate) trait Predefined {
    /// Asks for all of `names` under the text's `version` directive.
    fn values(&self, version: &str, names: &BTreeSet<String>) -> BTreeMap<String, Option<String>>;
}

/// A run over one translation unit.
pub(crate) struct Preprocessor<'a> {
    includes: &'a Includes,
    predefined: &'a dyn Predefined,
    version: String,
    /// Answers of `predefined`; a name defined or undefined by the text is no longer here.
    compiler_macros: BTreeMap<String, Option<String>>,
    pub(super) inputs: Vec<Input>,
    pub(super) macros: BTreeMap<Arc<str>, Rc<Macro>>,
    /// Names that the text has (un)defined: predefined values no longer count.
    shadowed: BTreeSet<Arc<str>>,
    pub(super) busy: BTreeSet<Arc<str>>,
    pub(super) frames: Frames,
    files: Vec<SourceFile>,
    tokens: Vec<Token>,
    directives: Vec<Directive>,
    pub(super) line: u32,
    pub(super) line_file: FileIndex,
    /// Byte in `line_file` of the last token read from it.
    pub(super) line_start: u32,
    /// Open conditional groups: whether the `#else` was seen.
    conditionals: Vec<bool>,
    steps: u64,
    /// Frames moved since steps were last counted.
    pub(super) moved: u64,
}

/// Preprocesses the main file `path` with `text`, after `defines`.
pub(crate) fn preprocess(
    path: &str,
    text: &str,
    defines: &BTreeMap<String, String>,
    includes: &Includes,
    predefined: &dyn Predefined,
) -> Result<TranslationUnit, PreprocessError> {
    let mut run = Preprocessor {
        includes,
        predefined,
        version: version_directive(text),
        compiler_macros: BTreeMap::new(),
        inputs: Vec::new(),
        macros: BTreeMap::new(),
        shadowed: BTreeSet::new(),
        busy: BTreeSet::new(),
        frames: Frames::default(),
        files: vec![SourceFile { path: path.to_owned(), text: text.to_owned() }],
        tokens: Vec::new(),
        directives: Vec::new(),
        line: 1,
        line_file: FileIndex(0),
        line_start: 0,
        conditionals: Vec::new(),
        steps: 0,
        moved: 0,
    };
    if !defines.is_empty() {
        let text: String =
            defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        run.ask_compiler(&text);
        run.files.push(SourceFile { path: DEFINES_PATH.to_owned(), text: text.clone() });
        run.read(Lexer::new(text.into(), FileIndex(1)), DEFINES_PATH)?;
    }
    run.ask_compiler(text);
    run.read(Lexer::new(text.into(), FileIndex(0)), path)?;
    if run.conditionals.is_empty() {
        Ok(TranslationUnit {
            files: run.files,
            tokens: run.tokens,
            directives: run.directives,
            frames: run.frames,
        })
    } else {
        Err(PreprocessError::plain("an `#if` has no `#endif`"))
    }
}

/// The `#version` line of a text, by itself; empty where it has none.
pub(super) fn version_directive(text: &str) -> String {
    let mut lexer = Lexer::new(text.into(), FileIndex(0));
    let mut line = Vec::new();
    while let Some(token) = lexer.next() {
        if token.kind == TokenKind::NewLine && line.is_empty() {
            continue;
        }
        if token.kind == TokenKind::NewLine {
            break;
        }
        line.push(token);
    }
    match line.as_slice() {
        [hash, name, rest @ ..] if hash.is("#") && name.is("version") => {
            format!(
                "#version{}",
                rest.iter().map(|token| format!(" {}", token.text)).collect::<String>()
            )
        }
        _ => String::new(),
    }
}

/// Whether the compiler may define a macro of this name by itself (GLSL 4.60, 3.3: `GL_` and names
/// with `__`).
fn may_be_predefined(name: &str) -> bool {
    name.starts_with("GL_") || name.starts_with("VULKAN") || name.contains("__")
}

impl<'a> Preprocessor<'a> {
    /// Learns which names of `text` are predefined macros.
    fn ask_compiler(&mut self, text: &str) {
        let mut lexer = Lexer::new(text.into(), FileIndex(0));
        let mut names = BTreeSet::new();
        while let Some(token) = lexer.next() {
            if token.is_identifier() && may_be_predefined(&token.text) {
                let name = token.text.to_string();
                if !self.compiler_macros.contains_key(&name) {
                    names.insert(name);
                }
            }
        }
        if !names.is_empty() {
            self.compiler_macros.extend(self.predefined.values(&self.version, &names));
        }
    }

    pub(super) fn spend(&mut self) -> Result<(), PreprocessError> {
        let moved = std::mem::take(&mut self.moved);
        self.spend_steps(1 + moved)
    }

    fn spend_steps(&mut self, steps: u64) -> Result<(), PreprocessError> {
        self.steps += steps;
        if self.steps <= STEP_LIMIT {
            return Ok(());
        }
        let message = format!("macros and includes expand to more than {STEP_LIMIT} steps");
        let at = Some(Span { file: self.line_file, start: self.line_start, end: self.line_start });
        Err(PreprocessError { message, span: at, cause: Cause::Limit })
    }

    fn predefined_value(&self, name: &str) -> Option<&str> {
        if self.shadowed.contains(name) {
            return None;
        }
        self.compiler_macros.get(name)?.as_deref()
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        // The compiler's own `#ifdef` does not see these three.
        let positional = matches!(name, "__LINE__" | "__FILE__" | "__VERSION__");
        self.macros.contains_key(name) || (!positional && self.predefined_value(name).is_some())
    }

    pub(super) fn lookup(&self, token: &Token) -> Option<Rc<Macro>> {
        self.macros.get(&token.text).cloned()
    }

    fn current_file(&self) -> Option<&FileInput> {
        self.inputs.iter().rev().find_map(|input| match input {
            Input::File(file) => Some(file),
            Input::Macro(_) | Input::Argument(_) | Input::Marker | Input::Again(_) => None,
        })
    }

    /// The value of `__LINE__`, `__FILE__` and of macros that the compiler defines, as one token at
    /// the name's place.
    pub(super) fn built_in(&self, token: &Token) -> Option<Token> {
        let text = match &*token.text {
            "__LINE__" => {
                let offset = self.current_file().map_or(0, |file| file.presumed_offset);
                (i64::from(self.line) + offset).to_string()
            }
            "__FILE__" => match self.current_file() {
                Some(FileInput { presumed_name: Some(name), .. }) => name.to_string(),
                Some(FileInput { name, .. }) => format!("\"{name}\""),
                None => "\"\"".to_owned(),
            },
            name => self.predefined_value(name)?.to_owned(),
        };
        let kind = if text.starts_with(|first: char| first.is_ascii_digit()) {
            TokenKind::Number
        } else if text.starts_with('"') {
            TokenKind::String
        } else {
            TokenKind::Identifier
        };
        Some(Token {
            frozen: true,
            spaced: token.spaced,
            ..self.made(&text, kind, token.span, token.origin)
        })
    }

    fn read(&mut self, lexer: Lexer, name: &str) -> Result<(), PreprocessError> {
        let file = FileInput {
            lexer,
            name: name.to_owned(),
            presumed_offset: 0,
            presumed_name: None,
            ended: false,
        };
        self.inputs.push(Input::File(file));
        let mut line_start = true;
        loop {
            self.spend()?;
            let token = match self.scan() {
                Scanned::End => return Ok(()),
                Scanned::Marker => continue,
                Scanned::Token(token) => self.paste(token)?,
            };
            if token.kind == TokenKind::NewLine {
                line_start = true;
                continue;
            }
            if token.is("#") && token.kind == TokenKind::Punctuator {
                if !line_start {
                    return Err(PreprocessError::at(
                        "`#` is not the first character of its line",
                        token.span,
                    ));
                }
                self.directive()?;
                continue;
            }
            line_start = false;
            if let Expanded::No(token) = self.expand(token, Lines::Several)? {
                self.tokens.push(token);
            }
        }
    }

    /// The rest of the current line.
    pub(super) fn rest_of_line(&mut self) -> Vec<Token> {
        let mut line = Vec::new();
        while let Scanned::Token(token) = self.scan() {
            if token.kind == TokenKind::NewLine {
                break;
            }
            line.push(token);
        }
        line
    }

    fn directive(&mut self) -> Result<(), PreprocessError> {
        let at = self.line;
        let line = self.rest_of_line();
        let Some((name, rest)) = line.split_first() else { return Ok(()) };
        match &*name.text {
            "define" => self.define(name, rest),
            "undef" => match rest {
                [token] if token.is_identifier() => {
                    self.macros.remove(&token.text);
                    self.shadowed.insert(token.text.clone());
                    Ok(())
                }
                _ => Err(PreprocessError::at("`#undef` takes one name", name.span)),
            },
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => self.conditional(name, rest),
            "include" => self.include(name, rest),
            "line" => self.presume_line(name, rest),
            "version" | "extension" | "pragma" => {
                let words: Vec<&str> = line.iter().map(|token| &*token.text).collect();
                let directive = Directive {
                    before: self.tokens.len(),
                    text: format!("#{}", words.join(" ")),
                    line: at,
                    line_file: self.line_file,
                    is_loud: name.is("pragma") && rest.iter().any(is_loud),
                };
                self.directives.push(directive);
                Ok(())
            }
            "error" => Err(PreprocessError::at("`#error` is reached", name.span)),
            _ => Err(PreprocessError::at("unknown directive", name.span)),
        }
    }

    fn define(&mut self, directive: &Token, rest: &[Token]) -> Result<(), PreprocessError> {
        let [name, rest @ ..] = rest else {
            return Err(PreprocessError::at("`#define` needs a name", directive.span));
        };
        let (parameters, body) = match rest {
            [open, inner @ ..] if open.is("(") && !open.spaced => {
                let close = inner.iter().position(|token| token.is(")"));
                let close = close.ok_or_else(|| {
                    PreprocessError::at("the parameter list has no end", name.span)
                })?;
                let names = inner[..close].iter().filter(|token| token.is_identifier());
                (Some(names.map(|token| token.text.clone()).collect()), &inner[close + 1..])
            }
            body => (None, body),
        };
        let definition = Macro { parameters, body: with_pastes(body) };
        self.shadowed.insert(name.text.clone());
        self.macros.insert(name.text.clone(), Rc::new(definition));
        Ok(())
    }

    fn include(&mut self, directive: &Token, rest: &[Token]) -> Result<(), PreprocessError> {
        let (requested, form) = match rest {
            [name] if name.kind == TokenKind::String => {
                (name.text.trim_matches('"').to_owned(), IncludeForm::Quoted)
            }
            [open, .., close] if open.is("<") && close.is(">") => {
                let file = &self.files[open.span.file.0 as usize];
                let (start, end) = (open.span.end as usize, close.span.start as usize);
                (file.text[start..end].to_owned(), IncludeForm::Angled)
            }
            _ => return Err(PreprocessError::at("`#include` takes one file name", directive.span)),
        };
        let requesting = self.current_file().map(|file| file.name.clone()).unwrap_or_default();
        let depth = self.inputs.len();
        let found = self.includes.resolve(&requested, form, &requesting, depth);
        let found = match (found, form) {
            // The compiler asks again in the other form.
            (Err(_), IncludeForm::Quoted) => {
                self.includes.resolve(&requested, IncludeForm::Angled, &requesting, depth)
            }
            (found, IncludeForm::Quoted | IncludeForm::Angled) => found,
        };
        let found = found.map_err(|error| PreprocessError {
            cause: if matches!(error, IncludeError::TooDeep) { Cause::Limit } else { Cause::Text },
            ..PreprocessError::at(error.to_string(), directive.span)
        })?;
        self.spend_steps(1 + found.text.len() as u64 / 4)?;
        self.ask_compiler(&found.text);
        let known = self.files.iter().position(|file| file.path == found.name);
        let index = known.unwrap_or_else(|| {
            self.files.push(SourceFile { path: found.name.clone(), text: found.text.to_string() });
            self.files.len() - 1
        });
        let lexer = Lexer::new(found.text, FileIndex(index as u32));
        self.inputs.push(Input::File(FileInput {
            lexer,
            name: found.name,
            presumed_offset: 0,
            presumed_name: None,
            ended: false,
        }));
        Ok(())
    }

    /// `#line NUMBER [FILE]`: changes what `__LINE__` and `__FILE__` give; places stay those of the
    /// original file.
    fn presume_line(&mut self, directive: &Token, rest: &[Token]) -> Result<(), PreprocessError> {
        let tokens = self.expanded(rest.to_vec(), Lines::One)?;
        let (number, length) = super::conditional::evaluated(&tokens).map_err(|message| {
            PreprocessError::at(format!("`#line`: {message}"), directive.span)
        })?;
        let next = i64::from(self.line) + 1;
        let named = tokens.get(length).filter(|token| token.kind == TokenKind::String);
        if let Some(Input::File(file)) = self.inputs.last_mut() {
            file.presumed_offset = i64::from(number) - next;
            if let Some(token) = named {
                file.presumed_name = Some(token.text.clone());
            }
        }
        Ok(())
    }

    pub(super) fn open_conditionals(&mut self) -> &mut Vec<bool> {
        &mut self.conditionals
    }
}

fn is_loud(token: &Token) -> bool {
    match token.kind {
        TokenKind::Identifier | TokenKind::Number => false,
        TokenKind::Punctuator => token.text.len() > 1,
        TokenKind::String | TokenKind::NewLine | TokenKind::Paste | TokenKind::Stray => true,
    }
}

/// A replacement list with adjacent `#` `#` made into one token.
fn with_pastes(body: &[Token]) -> Vec<Token> {
    let mut list: Vec<Token> = Vec::with_capacity(body.len());
    for token in body {
        let joins = token.is("#") && !token.spaced && list.last().is_some_and(|last| last.is("#"));
        if joins {
            let last = list.last_mut().expect("checked above");
            last.kind = TokenKind::Paste;
            last.text = "##".into();
        } else {
            list.push(Token { origin: FrameId::FILE, ..token.clone() });
        }
    }
    list
}
