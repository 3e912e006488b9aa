//! Macro definitions and their expansion (GLSL 4.60, 3.3), in the order of events of the compiler's
//! own preprocessor.
//!
//! Promises: the same tokens as glslang, whose rules differ from C in details: a macro is barred
//! from expansion while its replacement list is being read (not by hide sets), and operands of `##`
//! are pasted before anything is expanded.

use super::preprocessor::{PreprocessError, Preprocessor};
use super::token::{FrameId, FrameKind, Token, TokenKind};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::place::Span;

/// A macro definition.
#[derive(Debug)]
pub(crate) struct Macro {
    /// `None` for object-like macros.
    pub parameters: Option<Vec<Arc<str>>>,
    pub body: Vec<Token>,
}

/// A source of tokens on the input stack.
#[derive(Debug)]
pub(crate) enum Input {
    File(FileInput),
    Macro(MacroInput),
    /// A macro argument.
    Argument(ArgumentInput),
    /// Ends the expansion of one argument or expression.
    Marker,
    /// One token put back.
    Again(Option<Token>),
}

#[derive(Debug)]
pub(crate) struct FileInput {
    pub lexer: super::lexer::Lexer,
    pub name: String,
    /// What `__LINE__` adds to the physical line.
    pub presumed_offset: i64,
    /// What `__FILE__` gives, with its quotes, once a `#line` directive has named a file.
    pub presumed_name: Option<Arc<str>>,
    /// Set once the text's end was reported as a line end.
    pub ended: bool,
}

#[derive(Debug)]
pub(crate) struct MacroInput {
    name: Arc<str>,
    definition: Rc<Macro>,
    position: usize,
    raw: Vec<Vec<Token>>,
    expanded: Vec<Vec<Token>>,
    /// Frame of the place where the macro is used.
    context: FrameId,
    frame: FrameId,
    /// The next token is `##`.
    before_paste: bool,
    /// The last token was `##`.
    after_paste: bool,
}

#[derive(Debug)]
pub(crate) struct ArgumentInput {
    tokens: Vec<Token>,
    position: usize,
    last_pastes: bool,
    expanded: bool,
}

/// What the input stack gives.
#[derive(Debug)]
pub(crate) enum Scanned {
    Token(Token),
    Marker,
    End,
}

/// How an attempt to expand ended.
#[derive(Debug)]
pub(crate) enum Expanded {
    /// Not a macro here; this is the token.
    No(Token),
    /// Its expansion is on the input stack.
    Started,
}

impl MacroInput {
    fn paste_follows(&self) -> bool {
        self.definition.body.get(self.position).is_some_and(|token| token.kind == TokenKind::Paste)
    }
}

impl ArgumentInput {
    pub(crate) fn new(tokens: Vec<Token>, last_pastes: bool, expanded: bool) -> Self {
        Self { tokens, position: 0, last_pastes, expanded }
    }
}

impl Preprocessor<'_> {
    /// The next token of the input stack, macros not expanded.
    pub(super) fn scan(&mut self) -> Scanned {
        loop {
            match self.inputs.last_mut() {
                None => return Scanned::End,
                Some(Input::Marker) => {
                    self.inputs.pop();
                    return Scanned::Marker;
                }
                Some(Input::Again(token)) => {
                    let token = token.take();
                    self.inputs.pop();
                    if let Some(token) = token {
                        return Scanned::Token(token);
                    }
                }
                Some(Input::File(_)) => {
                    if let Some(token) = self.scan_file() {
                        return Scanned::Token(token);
                    }
                }
                Some(Input::Argument(_)) => {
                    if let Some(token) = self.scan_argument() {
                        return Scanned::Token(token);
                    }
                }
                Some(Input::Macro(_)) => {
                    if let Some(token) = self.scan_macro() {
                        return Scanned::Token(token);
                    }
                }
            }
        }
    }

    fn scan_file(&mut self) -> Option<Token> {
        let Some(Input::File(file)) = self.inputs.last_mut() else { return None };
        if let Some(token) = file.lexer.next() {
            self.line = file.lexer.line() - u32::from(token.kind == TokenKind::NewLine);
            (self.line_file, self.line_start) = (token.line_file, token.span.start);
            return Some(token);
        }
        if !file.ended {
            file.ended = true;
            let at = Span { file: file.lexer.file(), start: 0, end: 0 };
            return Some(self.made("\n", TokenKind::NewLine, at, FrameId::FILE));
        }
        self.inputs.pop();
        if let Some(Input::File(file)) = self.inputs.last() {
            self.line_file = file.lexer.file();
            self.line = file.lexer.line();
        }
        None
    }

    /// A token that stands on the current line.
    pub(super) fn made(&self, text: &str, kind: TokenKind, span: Span, origin: FrameId) -> Token {
        let text = text.into();
        Token {
            kind,
            text,
            span,
            line: self.line,
            line_file: self.line_file,
            spaced: false,
            origin,
            frozen: false,
        }
    }

    fn scan_argument(&mut self) -> Option<Token> {
        let Some(Input::Argument(input)) = self.inputs.last_mut() else { return None };
        let Some(mut token) = input.tokens.get(input.position).cloned() else {
            self.inputs.pop();
            return None;
        };
        input.position += 1;
        token.frozen = input.expanded;
        if input.expanded && input.position == input.tokens.len() {
            // A function-like macro's name at the end of an argument may meet its `(` behind the
            // parameter.
            let function_like = self
                .macros
                .get(&token.text)
                .is_some_and(|definition| definition.parameters.is_some());
            token.frozen &= !function_like;
        }
        (token.line, token.line_file) = (self.line, self.line_file);
        Some(token)
    }

    fn scan_macro(&mut self) -> Option<Token> {
        let (line, line_file) = (self.line, self.line_file);
        let Some(Input::Macro(input)) = self.inputs.last_mut() else { return None };
        let Some(mut token) = input.definition.body.get(input.position).cloned() else {
            let name = input.name.clone();
            self.inputs.pop();
            self.busy.remove(&name);
            return None;
        };
        input.position += 1;
        let mut pasting = std::mem::take(&mut input.after_paste);
        if std::mem::take(&mut input.before_paste) {
            input.after_paste = true;
        }
        if input.paste_follows() {
            input.before_paste = true;
            pasting = true;
        }
        let parameter = match (&input.definition.parameters, token.kind) {
            (Some(parameters), TokenKind::Identifier) => {
                parameters.iter().position(|name| *name == token.text)
            }
            _ => None,
        };
        if let Some(index) = parameter {
            let tokens =
                if pasting { input.raw[index].clone() } else { input.expanded[index].clone() };
            let (context, frame, last_pastes) = (input.context, input.frame, input.before_paste);
            let tokens = self.moved_argument(tokens, context, frame, token.span);
            self.inputs.push(Input::Argument(ArgumentInput::new(tokens, last_pastes, !pasting)));
            return None;
        }
        token.origin = input.frame;
        (token.line, token.line_file) = (line, line_file);
        Some(token)
    }

    /// An argument's tokens as they stand in place of the parameter.
    fn moved_argument(
        &mut self,
        mut tokens: Vec<Token>,
        context: FrameId,
        body: FrameId,
        parameter: Span,
    ) -> Vec<Token> {
        let frame = self.frames.push(body, FrameKind::Argument { parameter });
        let mut moved = BTreeMap::new();
        for token in &mut tokens {
            token.origin = self.frames.rebase(token.origin, context, frame, &mut moved);
        }
        self.moved += moved.len() as u64;
        tokens
    }

    fn paste_ahead(&self) -> bool {
        match self.inputs.last() {
            Some(Input::Macro(input)) => input.before_paste,
            Some(Input::Argument(input)) => {
                let next = input.tokens.get(input.position);
                next.is_some_and(|token| token.kind == TokenKind::Paste)
                    || (input.last_pastes && next.is_none())
            }
            Some(Input::File(_) | Input::Marker | Input::Again(_)) | None => false,
        }
    }

    /// The lexer cuts `3A` into `3` and `A`; behind `##` they belong together.
    fn paste_continues(&self, result: TokenKind) -> bool {
        let next = match self.inputs.last() {
            Some(Input::Macro(input)) => input.definition.body.get(input.position),
            Some(Input::Argument(input)) => input.tokens.get(input.position),
            Some(Input::File(_) | Input::Marker | Input::Again(_)) | None => None,
        };
        let word = |token: &Token| matches!(token.kind, TokenKind::Identifier | TokenKind::Number);
        result == TokenKind::Identifier && next.is_some_and(|token| !token.spaced && word(token))
    }

    /// Joins `token` with what follows behind `##`.
    pub(super) fn paste(&mut self, token: Token) -> Result<Token, PreprocessError> {
        let mut result = token;
        if result.kind == TokenKind::Paste {
            return Err(PreprocessError::at(
                "`##` stands where nothing can be joined",
                result.span,
            ));
        }
        while self.paste_ahead() {
            match self.scan() {
                Scanned::Token(token) if token.kind == TokenKind::Paste => {}
                Scanned::Token(_) | Scanned::Marker | Scanned::End => {
                    return Err(PreprocessError::at("`##` is expected here", result.span));
                }
            }
            loop {
                let Scanned::Token(next) = self.scan() else {
                    return Err(PreprocessError::at("`##` has no right operand", result.span));
                };
                let text = format!("{}{}", result.text, next.text);
                let joined = super::lexer::tokens_of(&text);
                let word = result.kind == TokenKind::Identifier;
                if !word && joined.len() != 1 {
                    return Err(PreprocessError::at("`##` makes no token here", result.span));
                }
                result.text = text.into();
                result.frozen = false;
                if !self.paste_continues(result.kind) {
                    break;
                }
            }
        }
        Ok(result)
    }

    /// Expands `token` where it is a macro's name; `lines`: whether its arguments may stand on
    /// later lines.
    pub(super) fn expand(
        &mut self,
        token: Token,
        lines: Lines,
    ) -> Result<Expanded, PreprocessError> {
        if token.frozen || token.kind != TokenKind::Identifier {
            return Ok(Expanded::No(token));
        }
        if let Some(value) = self.built_in(&token) {
            self.inputs.push(Input::Again(Some(value)));
            return Ok(Expanded::Started);
        }
        if self.busy.contains(&token.text) {
            return Ok(Expanded::No(Token { frozen: true, ..token }));
        }
        let Some(definition) = self.lookup(&token) else { return Ok(Expanded::No(token)) };
        let mut use_end = token.span;
        let mut raw = Vec::new();
        if let Some(parameters) = &definition.parameters {
            let Some((arguments, close)) = self.arguments(&token, parameters.len(), lines)? else {
                return Ok(Expanded::No(token));
            };
            if close.origin == token.origin && close.span.file == token.span.file {
                use_end = close.span;
            }
            raw = arguments;
        }
        let site = Span {
            file: token.span.file,
            start: token.span.start,
            end: use_end.end.max(token.span.end),
        };
        let expanded = raw
            .iter()
            .map(|tokens| self.expanded(tokens.clone(), lines))
            .collect::<Result<_, _>>()?;
        let frame = self
            .frames
            .push(token.origin, FrameKind::Body { macro_name: token.text.clone(), site });
        self.busy.insert(token.text.clone());
        self.inputs.push(Input::Macro(MacroInput {
            name: token.text,
            definition,
            position: 0,
            raw,
            expanded,
            context: token.origin,
            frame,
            before_paste: false,
            after_paste: false,
        }));
        Ok(Expanded::Started)
    }

    /// Fully expands a list of tokens on its own.
    pub(super) fn expanded(
        &mut self,
        tokens: Vec<Token>,
        lines: Lines,
    ) -> Result<Vec<Token>, PreprocessError> {
        self.inputs.push(Input::Marker);
        self.inputs.push(Input::Argument(ArgumentInput::new(tokens, false, false)));
        let mut result = Vec::new();
        loop {
            self.spend()?;
            match self.scan() {
                Scanned::Marker => return Ok(result),
                Scanned::End => {
                    return Err(PreprocessError::plain("the text ends inside a macro's use"));
                }
                Scanned::Token(token) => {
                    let token = self.paste(token)?;
                    match self.expand(token, lines)? {
                        Expanded::No(token) => result.push(token),
                        Expanded::Started => {}
                    }
                }
            }
        }
    }

    /// Reads `( argument, ... )`; `None` where no `(` follows. The second value is the closing
    /// parenthesis.
    #[expect(clippy::type_complexity, reason = "arguments and the closing parenthesis")]
    fn arguments(
        &mut self,
        name: &Token,
        count: usize,
        lines: Lines,
    ) -> Result<Option<(Vec<Vec<Token>>, Token)>, PreprocessError> {
        let mut first = self.scan();
        while let (Scanned::Token(token), Lines::Several) = (&first, lines) {
            if token.kind != TokenKind::NewLine {
                break;
            }
            first = self.scan();
        }
        match first {
            Scanned::Token(token) if token.is("(") => {}
            Scanned::Token(token) => {
                self.inputs.push(Input::Again(Some(token)));
                return Ok(None);
            }
            Scanned::Marker => {
                self.inputs.push(Input::Marker);
                return Ok(None);
            }
            Scanned::End => return Ok(None),
        }
        let mut arguments = vec![Vec::new()];
        let mut depth = 0u32;
        loop {
            self.spend()?;
            let Scanned::Token(token) = self.scan() else {
                return Err(PreprocessError::at(
                    "the use of this macro has no closing parenthesis",
                    name.span,
                ));
            };
            if token.kind == TokenKind::NewLine {
                if lines == Lines::One {
                    return Err(PreprocessError::at(
                        "the use of this macro has no end on its line",
                        name.span,
                    ));
                }
                continue;
            }
            match &*token.text {
                "#" => {
                    return Err(PreprocessError::at(
                        "`#` cannot stand in a macro's argument",
                        token.span,
                    ));
                }
                ")" if depth == 0 => {
                    return self
                        .checked_arguments(name, arguments, count)
                        .map(|arguments| Some((arguments, token)));
                }
                "," if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
            arguments.last_mut().expect("one argument at least").push(token);
        }
    }

    fn checked_arguments(
        &self,
        name: &Token,
        mut arguments: Vec<Vec<Token>>,
        count: usize,
    ) -> Result<Vec<Vec<Token>>, PreprocessError> {
        if count == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if arguments.len() == count {
            return Ok(arguments);
        }
        let message = format!("the macro takes {count} arguments; {} are given", arguments.len());
        Err(PreprocessError::at(message, name.span))
    }
}

/// Whether a macro's use may span several lines (text) or not (directives).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    One,
    Several,
}
