//! The directives of the preprocessor other than conditional groups (`conditional`).

use super::{FailureCause, KeptDirective, PreprocessError, Preprocessor};
use crate::include::{IncludeError, IncludeForm};
use crate::lexer::Lexer;
use crate::macros::{ArgumentLines, FileInput, InputSource, MacroDefinition};
use crate::token::{FrameId, Token, TokenKind};
use std::rc::Rc;
use std::sync::Arc;
use vkcert_model::place::{FileIndex, SourceFile};

impl Preprocessor<'_> {
    pub(super) fn handle_directive(&mut self) -> Result<(), PreprocessError> {
        let directive_line = self.line;
        let line_tokens = self.rest_of_line();
        let Some((directive_name, directive_tokens)) = line_tokens.split_first() else {
            return Ok(());
        };
        match &*directive_name.text {
            "define" => self.define_macro(directive_name, directive_tokens),
            "undef" => match directive_tokens {
                [token] if token.is_identifier() => {
                    self.macros.remove(&token.text);
                    self.shadowed.insert(Arc::clone(&token.text));
                    Ok(())
                }
                _ => Err(PreprocessError::at_span("`#undef` takes one name", directive_name.span)),
            },
            "if" | "ifdef" | "ifndef" | "elif" | "else" | "endif" => {
                self.conditional_directive(directive_name, directive_tokens)
            }
            "include" => self.include_file(directive_name, directive_tokens),
            "line" => self.presume_line(directive_name, directive_tokens),
            "version" | "extension" | "pragma" => {
                let directive_words: Vec<&str> =
                    line_tokens.iter().map(|token| &*token.text).collect();
                let directive = KeptDirective {
                    before: self.tokens.len(),
                    text: format!("#{}", directive_words.join(" ")),
                    line: directive_line,
                    line_file: self.line_file,
                    is_loud: directive_name.is("pragma") && directive_tokens.iter().any(is_loud),
                };
                self.directives.push(directive);
                Ok(())
            }
            "error" => Err(PreprocessError::at_span("`#error` is reached", directive_name.span)),
            _ => Err(PreprocessError::at_span("unknown directive", directive_name.span)),
        }
    }

    fn define_macro(
        &mut self,
        directive: &Token,
        definition_tokens: &[Token],
    ) -> Result<(), PreprocessError> {
        let [macro_name, definition_tokens @ ..] = definition_tokens else {
            return Err(PreprocessError::at_span("`#define` needs a name", directive.span));
        };
        let (parameters, body_tokens) = match definition_tokens {
            [open, inner @ ..] if open.is("(") && !open.spaced => {
                let closing_index = inner.iter().position(|token| token.is(")"));
                let closing_index = closing_index.ok_or_else(|| {
                    PreprocessError::at_span("the parameter list has no end", macro_name.span)
                })?;
                let parameter_names =
                    inner[..closing_index].iter().filter(|token| token.is_identifier());
                (
                    Some(parameter_names.map(|token| Arc::clone(&token.text)).collect()),
                    &inner[closing_index + 1..],
                )
            }
            body_tokens => (None, body_tokens),
        };
        let definition = MacroDefinition { parameters, body: with_pastes(body_tokens) };
        self.shadowed.insert(Arc::clone(&macro_name.text));
        self.macros.insert(Arc::clone(&macro_name.text), Rc::new(definition));
        Ok(())
    }

    fn include_file(
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
            _ => {
                return Err(PreprocessError::at_span(
                    "`#include` takes one file name",
                    directive.span,
                ));
            }
        };
        let requesting =
            self.current_file().map_or_else(|| "".into(), |file| Rc::clone(&file.name));
        let depth = self.inputs.len();
        let included_file =
            self.includes.resolve_include(&requested, include_form, &requesting, depth);
        let included_file = match (included_file, include_form) {
            // The compiler asks again in the other form.
            (Err(_), IncludeForm::Quoted) => {
                self.includes.resolve_include(&requested, IncludeForm::Angled, &requesting, depth)
            }
            (included_file, IncludeForm::Quoted | IncludeForm::Angled) => included_file,
        };
        let included_file = included_file.map_err(|error| PreprocessError {
            cause: if matches!(error, IncludeError::TooDeep) {
                FailureCause::Limit
            } else {
                FailureCause::Text
            },
            ..PreprocessError::at_span(error.to_string(), directive.span)
        })?;
        self.spend_steps(1 + included_file.text.len() as u64 / 4)?;
        self.ask_compiler(&included_file.text);
        let known_index = self.files.iter().position(|file| *file.path == *included_file.name);
        let file_index = known_index.unwrap_or_else(|| {
            self.files.push(SourceFile {
                path: included_file.name.to_string(),
                text: included_file.text.to_string(),
            });
            self.files.len() - 1
        });
        let lexer = Lexer::new(included_file.text, FileIndex(file_index as u32));
        self.inputs.push(InputSource::File(FileInput {
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
        let tokens = self.expand_tokens(directive_tokens.to_vec(), ArgumentLines::One)?;
        let (number, number_length) =
            crate::conditional::evaluate_leading(&tokens).map_err(|message| {
                PreprocessError::at_span(format!("`#line`: {message}"), directive.span)
            })?;
        let next_line = i64::from(self.line) + 1;
        let named_file = tokens.get(number_length).filter(|token| token.kind == TokenKind::String);
        if let Some(InputSource::File(file)) = self.inputs.last_mut() {
            file.presumed_offset = i64::from(number) - next_line;
            if let Some(token) = named_file {
                file.presumed_name = Some(Arc::clone(&token.text));
            }
        }
        Ok(())
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
