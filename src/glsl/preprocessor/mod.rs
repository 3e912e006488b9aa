//! The preprocessor (GLSL 4.60, 3.3): directives, macros and includes, with the origin of every
//! token kept.
//!
//! Promises: for text that the compiler accepts, the tokens that the compiler's own preprocessor
//! makes, each with its place in the original files; `glsl::compile` compares both streams and
//! falls back to the compiler's where they differ.
//! Does not cover: error recovery. The first thing it does not understand is an error, and the
//! caller falls back.

mod directives;

use crate::include::IncludeResolver;
use crate::lexer::Lexer;
use crate::macros::{
    ArgumentLines, ExpansionOutcome, FileInput, InputSource, MacroDefinition, ScannedItem,
};
use crate::token::{ExpansionFrames, Token, TokenKind};
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
    pub cause: FailureCause,
}

/// Why the preprocessor gave up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureCause {
    /// It does not understand the text; the compiler may.
    Text,
    /// Macros or includes grow beyond a limit; the compiler would not come to an end either.
    Limit,
}

impl PreprocessError {
    pub(crate) fn at_span(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span: Some(span), cause: FailureCause::Text }
    }

    pub(crate) fn without_span(message: impl Into<String>) -> Self {
        Self { message: message.into(), span: None, cause: FailureCause::Text }
    }
}

/// A directive that the compiler must see too: `#version`, `#extension`, `#pragma`.
#[derive(Debug, Clone)]
pub(crate) struct KeptDirective {
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
    pub directives: Vec<KeptDirective>,
    pub frames: ExpansionFrames,
    /// Names that the text or the project defines or undefines somewhere.
    pub macro_names: BTreeSet<Arc<str>>,
}

/// Macros that the compiler defines by itself: name to value, `None` where a name is no macro.
pub(crate) trait PredefinedMacros {
    /// Asks for all of `names` under the text's `version` directive.
    fn macro_values(
        &self,
        version: &str,
        names: BTreeSet<String>,
    ) -> BTreeMap<String, Option<String>>;
}

/// A run over one translation unit.
pub(crate) struct Preprocessor<'a> {
    includes: &'a IncludeResolver<'a>,
    predefined: &'a dyn PredefinedMacros,
    version: String,
    /// Answers of `predefined`; a name defined or undefined by the text is no longer here.
    compiler_macros: BTreeMap<String, Option<String>>,
    pub(crate) inputs: Vec<InputSource>,
    pub(crate) macros: BTreeMap<Arc<str>, Rc<MacroDefinition>>,
    /// Names that the text has (un)defined: predefined values no longer count.
    shadowed: BTreeSet<Arc<str>>,
    pub(crate) busy: BTreeSet<Arc<str>>,
    pub(crate) frames: ExpansionFrames,
    files: Vec<SourceFile>,
    tokens: Vec<Token>,
    directives: Vec<KeptDirective>,
    pub(crate) line: u32,
    pub(crate) line_file: FileIndex,
    /// Byte in `line_file` of the last token read from it.
    pub(crate) line_start: u32,
    /// Open conditional groups: whether the `#else` was seen.
    conditionals: Vec<bool>,
    steps: u64,
    /// Frames moved since steps were last counted.
    pub(crate) moved_frames: u64,
}

/// Preprocesses the main file `path` with `text`, after `defines`.
pub(crate) fn preprocess(
    path: &str,
    source_text: &str,
    defines: &BTreeMap<String, String>,
    includes: &IncludeResolver,
    predefined: &dyn PredefinedMacros,
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
        frames: ExpansionFrames::default(),
        files: vec![SourceFile { path: path.to_owned(), text: source_text.to_owned() }],
        tokens: Vec::new(),
        directives: Vec::new(),
        line: 1,
        line_file: FileIndex(0),
        line_start: 0,
        conditionals: Vec::new(),
        steps: 0,
        moved_frames: 0,
    };
    if !defines.is_empty() {
        let defines_text: String =
            defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        preprocessor.ask_compiler(&defines_text);
        let defines_lexer = Lexer::new(defines_text.as_str().into(), FileIndex(1));
        preprocessor.files.push(SourceFile { path: DEFINES_PATH.to_owned(), text: defines_text });
        preprocessor.read_file(defines_lexer, DEFINES_PATH)?;
    }
    preprocessor.ask_compiler(source_text);
    preprocessor.read_file(Lexer::new(source_text.into(), FileIndex(0)), path)?;
    if preprocessor.conditionals.is_empty() {
        Ok(TranslationUnit {
            files: preprocessor.files,
            tokens: preprocessor.tokens,
            directives: preprocessor.directives,
            frames: preprocessor.frames,
            macro_names: preprocessor.shadowed,
        })
    } else {
        Err(PreprocessError::without_span("an `#if` has no `#endif`"))
    }
}

/// The `#version` line of a text, by itself; empty where it has none.
pub(crate) fn version_directive(text: &str) -> String {
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
            self.compiler_macros.extend(self.predefined.macro_values(&self.version, asked_names));
        }
    }

    pub(crate) fn spend_step(&mut self) -> Result<(), PreprocessError> {
        let moved_frames = std::mem::take(&mut self.moved_frames);
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
        Err(PreprocessError { message, span: limit_span, cause: FailureCause::Limit })
    }

    fn predefined_value(&self, name: &str) -> Option<&str> {
        if self.shadowed.contains(name) {
            return None;
        }
        self.compiler_macros.get(name)?.as_deref()
    }

    pub(crate) fn is_defined(&self, name: &str) -> bool {
        // The compiler's own `#ifdef` does not see these three.
        let is_positional = matches!(name, "__LINE__" | "__FILE__" | "__VERSION__");
        self.macros.contains_key(name) || (!is_positional && self.predefined_value(name).is_some())
    }

    pub(crate) fn find_macro(&self, token: &Token) -> Option<Rc<MacroDefinition>> {
        self.macros.get(&token.text).cloned()
    }

    fn current_file(&self) -> Option<&FileInput> {
        self.inputs.iter().rev().find_map(|input| match input {
            InputSource::File(file) => Some(file),
            InputSource::Macro(_)
            | InputSource::Argument(_)
            | InputSource::Marker
            | InputSource::Again(_) => None,
        })
    }

    /// The value of `__LINE__`, `__FILE__` and of macros that the compiler defines, as one token at
    /// the name's place.
    pub(crate) fn built_in_value(&self, token: &Token) -> Option<Token> {
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
            ..self.token_here(&value_text, token_kind, token.span, token.origin)
        })
    }

    fn read_file(&mut self, lexer: Lexer, name: &str) -> Result<(), PreprocessError> {
        let file_input = FileInput {
            lexer,
            name: name.into(),
            presumed_offset: 0,
            presumed_name: None,
            ended: false,
        };
        self.inputs.push(InputSource::File(file_input));
        let mut line_start = true;
        loop {
            self.spend_step()?;
            let token = match self.scan_token() {
                ScannedItem::End => return Ok(()),
                ScannedItem::Marker => continue,
                ScannedItem::Token(token) => self.paste_operands(token)?,
            };
            if token.kind == TokenKind::NewLine {
                line_start = true;
                continue;
            }
            if token.is("#") && token.kind == TokenKind::Punctuator {
                if !line_start {
                    return Err(PreprocessError::at_span(
                        "`#` is not the first character of its line",
                        token.span,
                    ));
                }
                self.handle_directive()?;
                continue;
            }
            line_start = false;
            if let ExpansionOutcome::NotExpanded(token) =
                self.try_expand(token, ArgumentLines::Several)?
            {
                self.tokens.push(token);
            }
        }
    }

    /// The rest of the current line.
    pub(crate) fn rest_of_line(&mut self) -> Vec<Token> {
        let mut line_tokens = Vec::new();
        while let ScannedItem::Token(token) = self.scan_token() {
            if token.kind == TokenKind::NewLine {
                break;
            }
            line_tokens.push(token);
        }
        line_tokens
    }

    pub(crate) fn open_conditionals(&mut self) -> &mut Vec<bool> {
        &mut self.conditionals
    }
}
