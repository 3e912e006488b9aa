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
            let end_span = Span { file: file.lexer.file(), start: 0, end: 0 };
            return Some(self.made("\n", TokenKind::NewLine, end_span, FrameId::FILE));
        }
        self.inputs.pop();
        if let Some(Input::File(file)) = self.inputs.last() {
            self.line_file = file.lexer.file();
            self.line = file.lexer.line();
        }
        None
    }

    /// A token that stands on the current line.
    pub(super) fn made(
        &self,
        text: &str,
        token_kind: TokenKind,
        span: Span,
        origin: FrameId,
    ) -> Token {
        let text = text.into();
        Token {
            kind: token_kind,
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
            let is_function_like = self
                .macros
                .get(&token.text)
                .is_some_and(|definition| definition.parameters.is_some());
            token.frozen &= !is_function_like;
        }
        (token.line, token.line_file) = (self.line, self.line_file);
        Some(token)
    }

    fn scan_macro(&mut self) -> Option<Token> {
        let (current_line, line_file) = (self.line, self.line_file);
        let Some(Input::Macro(input)) = self.inputs.last_mut() else { return None };
        let Some(mut token) = input.definition.body.get(input.position).cloned() else {
            let macro_name = input.name.clone();
            self.inputs.pop();
            self.busy.remove(&macro_name);
            return None;
        };
        input.position += 1;
        let mut is_pasted = std::mem::take(&mut input.after_paste);
        if std::mem::take(&mut input.before_paste) {
            input.after_paste = true;
        }
        if input.paste_follows() {
            input.before_paste = true;
            is_pasted = true;
        }
        let parameter_index = match (&input.definition.parameters, token.kind) {
            (Some(parameters), TokenKind::Identifier) => {
                parameters.iter().position(|name| *name == token.text)
            }
            _ => None,
        };
        if let Some(index) = parameter_index {
            let argument_tokens =
                if is_pasted { input.raw[index].clone() } else { input.expanded[index].clone() };
            let (context, frame, last_pastes) = (input.context, input.frame, input.before_paste);
            let argument_tokens = self.moved_argument(argument_tokens, context, frame, token.span);
            self.inputs.push(Input::Argument(ArgumentInput::new(
                argument_tokens,
                last_pastes,
                !is_pasted,
            )));
            return None;
        }
        token.origin = input.frame;
        (token.line, token.line_file) = (current_line, line_file);
        Some(token)
    }

    /// An argument's tokens as they stand in place of the parameter.
    fn moved_argument(
        &mut self,
        mut argument_tokens: Vec<Token>,
        context: FrameId,
        body_frame: FrameId,
        parameter_span: Span,
    ) -> Vec<Token> {
        let frame = self.frames.push(body_frame, FrameKind::Argument { parameter: parameter_span });
        let mut moved_frames = BTreeMap::new();
        for token in &mut argument_tokens {
            token.origin = self.frames.rebase(token.origin, context, frame, &mut moved_frames);
        }
        self.moved += moved_frames.len() as u64;
        argument_tokens
    }

    fn paste_ahead(&self) -> bool {
        match self.inputs.last() {
            Some(Input::Macro(input)) => input.before_paste,
            Some(Input::Argument(input)) => {
                let next_token = input.tokens.get(input.position);
                next_token.is_some_and(|token| token.kind == TokenKind::Paste)
                    || (input.last_pastes && next_token.is_none())
            }
            Some(Input::File(_) | Input::Marker | Input::Again(_)) | None => false,
        }
    }

    /// The lexer cuts `3A` into `3` and `A`; behind `##` they belong together.
    fn paste_continues(&self, result_kind: TokenKind) -> bool {
        let next_token = match self.inputs.last() {
            Some(Input::Macro(input)) => input.definition.body.get(input.position),
            Some(Input::Argument(input)) => input.tokens.get(input.position),
            Some(Input::File(_) | Input::Marker | Input::Again(_)) | None => None,
        };
        let is_word =
            |token: &Token| matches!(token.kind, TokenKind::Identifier | TokenKind::Number);
        result_kind == TokenKind::Identifier
            && next_token.is_some_and(|token| !token.spaced && is_word(token))
    }

    /// Joins `token` with what follows behind `##`.
    pub(super) fn paste(&mut self, token: Token) -> Result<Token, PreprocessError> {
        let mut pasted_token = token;
        if pasted_token.kind == TokenKind::Paste {
            return Err(PreprocessError::at(
                "`##` stands where nothing can be joined",
                pasted_token.span,
            ));
        }
        while self.paste_ahead() {
            match self.scan() {
                Scanned::Token(token) if token.kind == TokenKind::Paste => {}
                Scanned::Token(_) | Scanned::Marker | Scanned::End => {
                    return Err(PreprocessError::at("`##` is expected here", pasted_token.span));
                }
            }
            loop {
                let Scanned::Token(right_operand) = self.scan() else {
                    return Err(PreprocessError::at(
                        "`##` has no right operand",
                        pasted_token.span,
                    ));
                };
                let joined_text = format!("{}{}", pasted_token.text, right_operand.text);
                let joined_tokens = super::lexer::tokens_of(&joined_text);
                let is_word = pasted_token.kind == TokenKind::Identifier;
                if !is_word && joined_tokens.len() != 1 {
                    return Err(PreprocessError::at("`##` makes no token here", pasted_token.span));
                }
                pasted_token.text = joined_text.into();
                pasted_token.frozen = false;
                if !self.paste_continues(pasted_token.kind) {
                    break;
                }
            }
        }
        Ok(pasted_token)
    }

    /// Expands `token` where it is a macro's name; `lines`: whether its arguments may stand on
    /// later lines.
    pub(super) fn expand(
        &mut self,
        token: Token,
        argument_lines: Lines,
    ) -> Result<Expanded, PreprocessError> {
        if token.frozen || token.kind != TokenKind::Identifier {
            return Ok(Expanded::No(token));
        }
        if let Some(built_in_value) = self.built_in(&token) {
            self.inputs.push(Input::Again(Some(built_in_value)));
            return Ok(Expanded::Started);
        }
        if self.busy.contains(&token.text) {
            return Ok(Expanded::No(Token { frozen: true, ..token }));
        }
        let Some(definition) = self.lookup(&token) else { return Ok(Expanded::No(token)) };
        let mut last_span = token.span;
        let mut raw_arguments = Vec::new();
        if let Some(parameters) = &definition.parameters {
            let Some((arguments, closing_parenthesis)) =
                self.arguments(&token, parameters.len(), argument_lines)?
            else {
                return Ok(Expanded::No(token));
            };
            if closing_parenthesis.origin == token.origin
                && closing_parenthesis.span.file == token.span.file
            {
                last_span = closing_parenthesis.span;
            }
            raw_arguments = arguments;
        }
        let use_site = Span {
            file: token.span.file,
            start: token.span.start,
            end: last_span.end.max(token.span.end),
        };
        let expanded_arguments = raw_arguments
            .iter()
            .map(|tokens| self.expanded(tokens.clone(), argument_lines))
            .collect::<Result<_, _>>()?;
        let body_frame = self
            .frames
            .push(token.origin, FrameKind::Body { macro_name: token.text.clone(), site: use_site });
        self.busy.insert(token.text.clone());
        self.inputs.push(Input::Macro(MacroInput {
            name: token.text,
            definition,
            position: 0,
            raw: raw_arguments,
            expanded: expanded_arguments,
            context: token.origin,
            frame: body_frame,
            before_paste: false,
            after_paste: false,
        }));
        Ok(Expanded::Started)
    }

    /// Fully expands a list of tokens on its own.
    pub(super) fn expanded(
        &mut self,
        tokens: Vec<Token>,
        argument_lines: Lines,
    ) -> Result<Vec<Token>, PreprocessError> {
        self.inputs.push(Input::Marker);
        self.inputs.push(Input::Argument(ArgumentInput::new(tokens, false, false)));
        let mut expanded_tokens = Vec::new();
        loop {
            self.spend()?;
            match self.scan() {
                Scanned::Marker => return Ok(expanded_tokens),
                Scanned::End => {
                    return Err(PreprocessError::plain("the text ends inside a macro's use"));
                }
                Scanned::Token(token) => {
                    let token = self.paste(token)?;
                    match self.expand(token, argument_lines)? {
                        Expanded::No(token) => expanded_tokens.push(token),
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
        macro_name: &Token,
        parameter_count: usize,
        argument_lines: Lines,
    ) -> Result<Option<(Vec<Vec<Token>>, Token)>, PreprocessError> {
        let mut first_scanned = self.scan();
        while let (Scanned::Token(token), Lines::Several) = (&first_scanned, argument_lines) {
            if token.kind != TokenKind::NewLine {
                break;
            }
            first_scanned = self.scan();
        }
        match first_scanned {
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
        let mut argument_tokens = vec![Vec::new()];
        let mut nesting_depth = 0u32;
        loop {
            self.spend()?;
            let Scanned::Token(token) = self.scan() else {
                return Err(PreprocessError::at(
                    "the use of this macro has no closing parenthesis",
                    macro_name.span,
                ));
            };
            if token.kind == TokenKind::NewLine {
                if argument_lines == Lines::One {
                    return Err(PreprocessError::at(
                        "the use of this macro has no end on its line",
                        macro_name.span,
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
                ")" if nesting_depth == 0 => {
                    return self
                        .checked_arguments(macro_name, argument_tokens, parameter_count)
                        .map(|argument_tokens| Some((argument_tokens, token)));
                }
                "," if nesting_depth == 0 => {
                    argument_tokens.push(Vec::new());
                    continue;
                }
                "(" => nesting_depth += 1,
                ")" => nesting_depth -= 1,
                _ => {}
            }
            argument_tokens.last_mut().expect("one argument at least").push(token);
        }
    }

    fn checked_arguments(
        &self,
        macro_name: &Token,
        mut argument_tokens: Vec<Vec<Token>>,
        parameter_count: usize,
    ) -> Result<Vec<Vec<Token>>, PreprocessError> {
        if parameter_count == 0 && argument_tokens.len() == 1 && argument_tokens[0].is_empty() {
            argument_tokens.clear();
        }
        if argument_tokens.len() == parameter_count {
            return Ok(argument_tokens);
        }
        let message = format!(
            "the macro takes {parameter_count} arguments; {} are given",
            argument_tokens.len()
        );
        Err(PreprocessError::at(message, macro_name.span))
    }
}

/// Whether a macro's use may span several lines (text) or not (directives).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    One,
    Several,
}
