//! The compiler's messages as diagnostics with file, line and source span.
//!
//! Does not cover: the meaning of the messages beyond a hint for the frequent ones.

use crate::include::IncludeResolver;
use crate::{KernelSource, Optimization, lines};
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_model::diagnostic::{Diagnostic, Location};
use vkcert_model::place::Position;

/// Turns `file:line: error: message` lines into diagnostics.
pub(super) fn error_diagnostics(
    kernel: &KernelSource,
    includes: &IncludeResolver,
    error: &shaderc::Error,
) -> Vec<Diagnostic> {
    let message = match error {
        shaderc::Error::CompilationError(_, text)
        | shaderc::Error::InternalError(text)
        | shaderc::Error::InvalidStage(text)
        | shaderc::Error::InvalidAssembly(text)
        | shaderc::Error::NullResultObject(text)
        | shaderc::Error::InitializationError(text)
        | shaderc::Error::ParseError(text) => text,
    };
    let found_texts = includes.found();
    let texts_by_file = lines::texts_by_path(&kernel.path, &kernel.text, &found_texts);
    let diagnostic_of =
        |line| compiler_fault(kernel, line).or_else(|| line_diagnostic(&texts_by_file, line));
    let line_diagnostics: Vec<Diagnostic> = message.lines().filter_map(diagnostic_of).collect();
    if line_diagnostics.is_empty() {
        let trimmed_message = message.trim();
        let trimmed_message = if trimmed_message.is_empty() {
            "the compiler rejects the text without saying why"
        } else {
            trimmed_message
        };
        return vec![Diagnostic::new("glsl-syntax", trimmed_message).in_file(&kernel.path)];
    }
    line_diagnostics
}

/// A failure of the compiler itself, in which case the text may be right.
fn compiler_fault(kernel: &KernelSource, message: &str) -> Option<Diagnostic> {
    let compiler_words = message.strip_prefix("shaderc: internal error:")?.trim();
    let diagnostic = Diagnostic::new(
        "compiler-fault",
        format!("the linked compiler failed on its own: {compiler_words}"),
    );
    let hint = match kernel.optimization {
        Optimization::Zero => "write the text otherwise; it may be right",
        Optimization::Performance | Optimization::Size => {
            "compile with `optimization = \"zero\"`; the text may be right"
        }
    };
    Some(diagnostic.in_file(&kernel.path).hint(hint))
}

fn line_diagnostic(texts_by_file: &BTreeMap<&str, &str>, message: &str) -> Option<Diagnostic> {
    let (place, message) = message.split_once("error:")?;
    let message = message.trim();
    let place = place.trim().trim_end_matches(':');
    let mut line_error = Diagnostic::new("glsl-syntax", message);
    line_error.hint = Some(hint_for_message(message));
    let Some((file, line)) =
        place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)))
    else {
        return Some(if place.is_empty() { line_error } else { line_error.in_file(place) });
    };
    let Some(text) = texts_by_file.get(file) else {
        return Some(line_error.at_position(file, Position { line, column: 1 }));
    };
    let line_start: usize =
        text.split_inclusive('\n').take(line as usize - usize::from(line > 0)).map(str::len).sum();
    let line_content = text[line_start..].lines().next().unwrap_or("");
    let indent = line_content.len() - line_content.trim_start().len();
    let line_span = line_start + indent..line_start + line_content.trim_end().len().max(indent);
    let quoted_span = quoted_word_span(text, line_span, message);
    line_error.location = Some(Location {
        file: file.to_owned(),
        text: Some(Arc::from(*text)),
        position: Some(Position::of(text, quoted_span.start)),
        span: Some(quoted_span),
        label: None,
    });
    Some(line_error)
}

/// The word that the message quotes first, where the line holds it once; else the whole line.
fn quoted_word_span(
    text: &str,
    line: std::ops::Range<usize>,
    message: &str,
) -> std::ops::Range<usize> {
    let Some(quoted_word) = message.strip_prefix('\'').and_then(|rest| rest.split('\'').next())
    else {
        return line;
    };
    let line_content = &text[line.start..line.end];
    let mut word_places = line_content.match_indices(quoted_word.trim());
    match (word_places.next(), word_places.next()) {
        (Some((match_start, matched_word)), None) if !matched_word.is_empty() => {
            line.start + match_start..line.start + match_start + matched_word.len()
        }
        _ => line,
    }
}

fn hint_for_message(message: &str) -> String {
    let hints = [
        (
            "undeclared identifier",
            "declare the name before its use, or check its spelling and the kernel's defines",
        ),
        ("#include", "check the file's name and the kernel's `include` folders"),
        ("extension", "enable the extension with `#extension NAME : require` below `#version`"),
        ("not supported for this version", "raise the `#version` or the kernel's `target_env`"),
        ("#version", "start the file with `#version 450` (or higher)"),
        ("unexpected", "look for a missing `;`, bracket or operator at or before this line"),
        ("no matching overloaded function", "check the number and types of the arguments"),
        ("cannot convert", "convert explicitly with a constructor such as `uint(x)`"),
        ("SPIR-V", "raise the kernel's `target_env`"),
    ];
    let matching_hint = hints.iter().find(|(part, _)| message.contains(part));
    matching_hint
        .map_or("correct the source line; the message is the compiler's own", |(_, hint)| hint)
        .to_owned()
}
