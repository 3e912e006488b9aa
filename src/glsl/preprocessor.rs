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
    source_text: &str,
    defines: &BTreeMap<String, String>,
    includes: &Includes,
    predefined: &dyn Predefined,
) -> Result<TranslationUnit, PreprocessError> {
    let mut preprocessor = Preprocessor {
        includes,
        predefined,
        version: version_directive(source_text),
        compiler_macros: BTreeMap::new(),
        inputs: Vec::new(),
        macros: BTreeMap::new(),
        shadowed: BTreeSet::new(),
        busy: BTreeSet::new(),
        frames: Frames::default(),
        files: vec![SourceFile { path: path.to_owned(), text: source_text.to_owned() }],
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
        let defines_text: String =
            defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        preprocessor.ask_compiler(&defines_text);
        preprocessor
            .files
            .push(SourceFile { path: DEFINES_PATH.to_owned(), text: defines_text.clone() });
        preprocessor.read(Lexer::new(defines_text.into(), FileIndex(1)), DEFINES_PATH)?;
    }
    preprocessor.ask_compiler(source_text);
    preprocessor.read(Lexer::new(source_text.into(), FileIndex(0)), path)?;
    if preprocessor.conditionals.is_empty() {
        Ok(TranslationUnit {
            files: preprocessor.files,
            tokens: preprocessor.tokens,
            directives: preprocessor.directives,
            frames: preprocessor.frames,
        })
    } else {
        Err(PreprocessError::plain("an `#if` has no `#endif`"))
    }
}

/// The `#version` line of a text, by itself; empty where it has none.
pub(super) fn version_directive(text: &str) -> String {
    let mut lexer = Lexer::new(text.into(), FileIndex(0));
    let mut line_tokens = Vec::new();
    while let Some(token) = lexer.next() {
        if token.kind == TokenKind::NewLine && line_tokens.is_empty() {
            continue;
        }
        if token.kind == TokenKind::NewLine {
            break;
        }
        line_tokens.push(token);
    }
    match line_tokens.as_slice() {
        [hash, name, directive_tokens @ ..] if hash.is("#") && name.is("version") => {
            format!(
                "#version{}",
                directive_tokens.iter().map(|token| format!(" {}", token.text)).collect::<String>()
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
        let mut asked_names = BTreeSet::new();
        while let Some(token) = lexer.next() {
            if token.is_identifier() && may_be_predefined(&token.text) {
                let name = token.text.to_string();
                if !self.compiler_macros.contains_key(&name) {
                    asked_names.insert(name);
                }
            }
        }
        if !asked_names.is_empty() {
            self.compiler_macros.extend(self.predefined.values(&self.version, &asked_names));
        }
    }

    pub(super) fn spend(&mut self) -> Result<(), PreprocessError> {
        let moved_frames = std::mem::take(&mut self.moved);
        self.spend_steps(1 + moved_frames)
    }

    fn spend_steps(&mut self, spent_steps: u64) -> Result<(), PreprocessError> {
        self.steps += spent_steps;
        if self.steps <= STEP_LIMIT {
            return Ok(());
        }
        let message = format!("macros and includes expand to more than {STEP_LIMIT} steps");
        let limit_span =
            Some(Span { file: self.line_file, start: self.line_start, end: self.line_start });
        Err(PreprocessError { message, span: limit_span, cause: Cause::Limit })
    }

    fn predefined_value(&self, name: &str) -> Option<&str> {
        if self.shadowed.contains(name) {
            return None;
        }
        self.compiler_macros.get(name)?.as_deref()
    }

    pub(super) fn is_defined(&self, name: &str) -> bool {
        // The compiler's own `#ifdef` does not see these three.
        let is_positional = matches!(name, "__LINE__" | "__FILE__" | "__VERSION__");
        self.macros.contains_key(name) || (!is_positional && self.predefined_value(name).is_some())
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
        let value_text = match &*token.text {
            "__LINE__" => {
                let presumed_offset = self.current_file().map_or(0, |file| file.presumed_offset);
                (i64::from(self.line) + presumed_offset).to_string()
            }
            "__FILE__" => match self.current_file() {
                Some(FileInput { presumed_name: Some(name), .. }) => name.to_string(),
                Some(FileInput { name, .. }) => format!("\"{name}\""),
                None => "\"\"".to_owned(),
            },
            name => self.predefined_value(name)?.to_owned(),
        };
        let token_kind = if value_text.starts_with(|first: char| first.is_ascii_digit()) {
            TokenKind::Number
        } else if value_text.starts_with('"') {
            TokenKind::String
        } else {
            TokenKind::Identifier
        };
        Some(Token {
            frozen: true,
            spaced: token.spaced,
            ..self.made(&value_text, token_kind, token.span, token.origin)
        })
    }

    fn read(&mut self, lexer: Lexer, name: &str) -> Result<(), PreprocessError> {
        let file_input = FileInput {
            lexer,
            name: name.to_owned(),
            presumed_offset: 0,
            presumed_name: None,
            ended: false,
        };
        self.inputs.push(Input::File(file_input));
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
        let mut line_tokens = Vec::new();
        while let Scanned::Token(token) = self.scan() {
            if token.kind == TokenKind::NewLine {
                break;
            }
            line_tokens.push(token);
        }
        line_tokens
    }

    fn directive(&mut self) -> Result<(), PreprocessError> {
        let directive_line = self.line;
        let line_tokens = self.rest_of_line();
        let Some((directive_name, directive_tokens)) = line_tokens.split_first() else {
            return Ok(());
        };
        match &*directive_name.text {
            "define" => self.define(directive_name, directive_tokens),
            "undef" => match directive_tokens {
                [token] if token.is_identifier() => {
                    self.macros.remove(&token.text);
                    self.shadowed.insert(token.text.clone());
                    Ok(())
                }
                _ => Err(PreprocessError::at("`#undef` takes one name", directive_name.span)),
            },
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                self.conditional(directive_name, directive_tokens)
            }
            "include" => self.include(directive_name, directive_tokens),
            "line" => self.presume_line(directive_name, directive_tokens),
            "version" | "extension" | "pragma" => {
                let directive_words: Vec<&str> =
                    line_tokens.iter().map(|token| &*token.text).collect();
                let directive = Directive {
                    before: self.tokens.len(),
                    text: format!("#{}", directive_words.join(" ")),
                    line: directive_line,
                    line_file: self.line_file,
                    is_loud: directive_name.is("pragma") && directive_tokens.iter().any(is_loud),
                };
                self.directives.push(directive);
                Ok(())
            }
            "error" => Err(PreprocessError::at("`#error` is reached", directive_name.span)),
            _ => Err(PreprocessError::at("unknown directive", directive_name.span)),
        }
    }

    fn define(
        &mut self,
        directive: &Token,
        definition_tokens: &[Token],
    ) -> Result<(), PreprocessError> {
        let [macro_name, definition_tokens @ ..] = definition_tokens else {
            return Err(PreprocessError::at("`#define` needs a name", directive.span));
        };
        let (parameters, body_tokens) = match definition_tokens {
            [open, inner @ ..] if open.is("(") && !open.spaced => {
                let closing_index = inner.iter().position(|token| token.is(")"));
                let closing_index = closing_index.ok_or_else(|| {
                    PreprocessError::at("the parameter list has no end", macro_name.span)
                })?;
                let parameter_names =
                    inner[..closing_index].iter().filter(|token| token.is_identifier());
                (
                    Some(parameter_names.map(|token| token.text.clone()).collect()),
                    &inner[closing_index + 1..],
                )
            }
            body_tokens => (None, body_tokens),
        };
        let definition = Macro { parameters, body: with_pastes(body_tokens) };
        self.shadowed.insert(macro_name.text.clone());
        self.macros.insert(macro_name.text.clone(), Rc::new(definition));
        Ok(())
    }

    fn include(
        &mut self,
        directive: &Token,
        directive_tokens: &[Token],
    ) -> Result<(), PreprocessError> {
        let (requested, include_form) = match directive_tokens {
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
        let included_file = self.includes.resolve(&requested, include_form, &requesting, depth);
        let included_file = match (included_file, include_form) {
            // The compiler asks again in the other form.
            (Err(_), IncludeForm::Quoted) => {
                self.includes.resolve(&requested, IncludeForm::Angled, &requesting, depth)
            }
            (included_file, IncludeForm::Quoted | IncludeForm::Angled) => included_file,
        };
        let included_file = included_file.map_err(|error| PreprocessError {
            cause: if matches!(error, IncludeError::TooDeep) { Cause::Limit } else { Cause::Text },
            ..PreprocessError::at(error.to_string(), directive.span)
        })?;
        self.spend_steps(1 + included_file.text.len() as u64 / 4)?;
        self.ask_compiler(&included_file.text);
        let known_index = self.files.iter().position(|file| file.path == included_file.name);
        let file_index = known_index.unwrap_or_else(|| {
            self.files.push(SourceFile {
                path: included_file.name.clone(),
                text: included_file.text.to_string(),
            });
            self.files.len() - 1
        });
        let lexer = Lexer::new(included_file.text, FileIndex(file_index as u32));
        self.inputs.push(Input::File(FileInput {
            lexer,
            name: included_file.name,
            presumed_offset: 0,
            presumed_name: None,
            ended: false,
        }));
        Ok(())
    }

    /// `#line NUMBER [FILE]`: changes what `__LINE__` and `__FILE__` give; places stay those of the
    /// original file.
    fn presume_line(
        &mut self,
        directive: &Token,
        directive_tokens: &[Token],
    ) -> Result<(), PreprocessError> {
        let tokens = self.expanded(directive_tokens.to_vec(), Lines::One)?;
        let (number, number_length) =
            super::conditional::evaluated(&tokens).map_err(|message| {
                PreprocessError::at(format!("`#line`: {message}"), directive.span)
            })?;
        let next_line = i64::from(self.line) + 1;
        let named_file = tokens.get(number_length).filter(|token| token.kind == TokenKind::String);
        if let Some(Input::File(file)) = self.inputs.last_mut() {
            file.presumed_offset = i64::from(number) - next_line;
            if let Some(token) = named_file {
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
    let mut replacement_list: Vec<Token> = Vec::with_capacity(body.len());
    for token in body {
        let joins_paste = token.is("#")
            && !token.spaced
            && replacement_list.last().is_some_and(|last_token| last_token.is("#"));
        if joins_paste {
            let last_token = replacement_list.last_mut().expect("checked above");
            last_token.kind = TokenKind::Paste;
            last_token.text = "##".into();
        } else {
            replacement_list.push(Token { origin: FrameId::FILE, ..token.clone() });
        }
    }
    replacement_list
}
