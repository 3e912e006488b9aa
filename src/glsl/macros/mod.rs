//! Macro definitions and their expansion (GLSL 4.60, 3.3), in the order of events of the compiler's
//! own preprocessor.
//!
//! Promises: the same tokens as glslang, whose rules differ from C in details: a macro is barred
//! from expansion while its replacement list is being read (not by hide sets), and operands of `##`
//! are pasted before anything is expanded.

mod pasting;

use crate::preprocessor::{PreprocessError, Preprocessor};
use crate::token::{FrameId, FrameKind, Token, TokenKind};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::place::Span;

/// A macro definition.
#[derive(Debug)]
pub(crate) struct MacroDefinition {
    /// `None` for object-like macros.
    pub parameters: Option<Vec<Arc<str>>>,
    pub body: Vec<Token>,
}

/// A source of tokens on the input stack.
#[derive(Debug)]
pub(crate) enum InputSource {
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
    pub lexer: crate::lexer::Lexer,
    pub name: Rc<str>,
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
    definition: Rc<MacroDefinition>,
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

/// The next item of the input stack.
#[derive(Debug)]
pub(crate) enum ScannedItem {
    Token(Token),
    Marker,
    End,
}

/// The outcome of an attempt to expand a token.
#[derive(Debug)]
pub(crate) enum ExpansionOutcome {
    /// Not a macro here; this is the token.
    NotExpanded(Token),
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
    pub(crate) fn scan_token(&mut self) -> ScannedItem {
        loop {
            match self.inputs.last_mut() {
                None => return ScannedItem::End,
                Some(InputSource::Marker) => {
                    self.inputs.pop();
                    return ScannedItem::Marker;
                }
                Some(InputSource::Again(token)) => {
                    let token = token.take();
                    self.inputs.pop();
                    if let Some(token) = token {
                        return ScannedItem::Token(token);
                    }
                }
                Some(InputSource::File(_)) => {
                    if let Some(token) = self.scan_file() {
                        return ScannedItem::Token(token);
                    }
                }
                Some(InputSource::Argument(_)) => {
                    if let Some(token) = self.scan_argument() {
                        return ScannedItem::Token(token);
                    }
                }
                Some(InputSource::Macro(_)) => {
                    if let Some(token) = self.scan_macro() {
                        return ScannedItem::Token(token);
                    }
                }
            }
        }
    }

    fn scan_file(&mut self) -> Option<Token> {
        let Some(InputSource::File(file)) = self.inputs.last_mut() else { return None };
        if let Some(token) = file.lexer.next() {
            self.line = file.lexer.line() - u32::from(token.kind == TokenKind::NewLine);
            (self.line_file, self.line_start) = (token.line_file, token.span.start);
            return Some(token);
        }
        if !file.ended {
            file.ended = true;
            let end_span = Span { file: file.lexer.file(), start: 0, end: 0 };
            return Some(self.token_here("\n", TokenKind::NewLine, end_span, FrameId::FILE));
        }
        self.inputs.pop();
        if let Some(InputSource::File(including_file)) = self.inputs.last() {
            self.line_file = including_file.lexer.file();
            self.line = including_file.lexer.line();
        }
        None
    }

    /// A token that stands on the current line.
    pub(crate) fn token_here(
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
        let Some(InputSource::Argument(input)) = self.inputs.last_mut() else { return None };
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
        let Some(InputSource::Macro(input)) = self.inputs.last_mut() else { return None };
        let Some(mut token) = input.definition.body.get(input.position).cloned() else {
            let macro_name = Arc::clone(&input.name);
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
            self.inputs.push(InputSource::Argument(ArgumentInput::new(
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
            token.origin =
                self.frames.rebase_frame(token.origin, context, frame, &mut moved_frames);
        }
        self.moved_frames += moved_frames.len() as u64;
        argument_tokens
    }

    /// Expands `token` where it is a macro's name; `lines`: whether its arguments may stand on
    /// later lines.
    pub(crate) fn try_expand(
        &mut self,
        token: Token,
        argument_lines: ArgumentLines,
    ) -> Result<ExpansionOutcome, PreprocessError> {
        if token.frozen || token.kind != TokenKind::Identifier {
            return Ok(ExpansionOutcome::NotExpanded(token));
        }
        if let Some(built_in_value) = self.built_in_value(&token) {
            self.inputs.push(InputSource::Again(Some(built_in_value)));
            return Ok(ExpansionOutcome::Started);
        }
        if self.busy.contains(&token.text) {
            return Ok(ExpansionOutcome::NotExpanded(Token { frozen: true, ..token }));
        }
        let Some(definition) = self.find_macro(&token) else {
            return Ok(ExpansionOutcome::NotExpanded(token));
        };
        let mut last_span = token.span;
        let mut raw_arguments = Vec::new();
        if let Some(parameters) = &definition.parameters {
            let Some((arguments, closing_parenthesis)) =
                self.read_arguments(&token, parameters.len(), argument_lines)?
            else {
                return Ok(ExpansionOutcome::NotExpanded(token));
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
            .map(|tokens| self.expand_tokens(tokens.clone(), argument_lines))
            .collect::<Result<_, _>>()?;
        let body_frame = self.frames.push(
            token.origin,
            FrameKind::Body { macro_name: Arc::clone(&token.text), site: use_site },
        );
        self.busy.insert(Arc::clone(&token.text));
        self.inputs.push(InputSource::Macro(MacroInput {
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
        Ok(ExpansionOutcome::Started)
    }

    /// Fully expands a list of tokens on its own.
    pub(crate) fn expand_tokens(
        &mut self,
        tokens: Vec<Token>,
        argument_lines: ArgumentLines,
    ) -> Result<Vec<Token>, PreprocessError> {
        self.inputs.push(InputSource::Marker);
        self.inputs.push(InputSource::Argument(ArgumentInput::new(tokens, false, false)));
        let mut expanded_tokens = Vec::new();
        loop {
            self.spend_step()?;
            match self.scan_token() {
                ScannedItem::Marker => return Ok(expanded_tokens),
                ScannedItem::End => {
                    return Err(PreprocessError::without_span(
                        "the text ends inside a macro's use",
                    ));
                }
                ScannedItem::Token(token) => {
                    let token = self.paste_operands(token)?;
                    match self.try_expand(token, argument_lines)? {
                        ExpansionOutcome::NotExpanded(token) => expanded_tokens.push(token),
                        ExpansionOutcome::Started => {}
                    }
                }
            }
        }
    }

    /// Reads `( argument, ... )`; `None` where no `(` follows. The second value is the closing
    /// parenthesis.
    #[expect(clippy::type_complexity, reason = "arguments and the closing parenthesis")]
    fn read_arguments(
        &mut self,
        macro_name: &Token,
        parameter_count: usize,
        argument_lines: ArgumentLines,
    ) -> Result<Option<(Vec<Vec<Token>>, Token)>, PreprocessError> {
        let mut first_scanned = self.scan_token();
        while let (ScannedItem::Token(token), ArgumentLines::Several) =
            (&first_scanned, argument_lines)
        {
            if token.kind != TokenKind::NewLine {
                break;
            }
            first_scanned = self.scan_token();
        }
        match first_scanned {
            ScannedItem::Token(token) if token.is("(") => {}
            ScannedItem::Token(token) => {
                self.inputs.push(InputSource::Again(Some(token)));
                return Ok(None);
            }
            ScannedItem::Marker => {
                self.inputs.push(InputSource::Marker);
                return Ok(None);
            }
            ScannedItem::End => return Ok(None),
        }
        let mut argument_tokens = vec![Vec::new()];
        let mut nesting_depth = 0u32;
        loop {
            self.spend_step()?;
            let ScannedItem::Token(token) = self.scan_token() else {
                return Err(PreprocessError::at_span(
                    "the use of this macro has no closing parenthesis",
                    macro_name.span,
                ));
            };
            if token.kind == TokenKind::NewLine {
                if argument_lines == ArgumentLines::One {
                    return Err(PreprocessError::at_span(
                        "the use of this macro has no end on its line",
                        macro_name.span,
                    ));
                }
                continue;
            }
            match &*token.text {
                "#" => {
                    return Err(PreprocessError::at_span(
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
        Err(PreprocessError::at_span(message, macro_name.span))
    }
}

/// Whether a macro's use may span several lines (text) or not (directives).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentLines {
    One,
    Several,
}
