//! What stops a command, and how it is told: `miette` on a terminal, one JSON document with `--format json`.

use super::exit::Exit;
use crate::model::diagnostic::Diagnostic;
use miette::{LabeledSpan, MietteHandlerOpts, NamedSource, Report, SourceCode};
use std::fmt;
use std::path::Path;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// Input files or the command line are wrong; never empty.
    Input(Vec<Diagnostic>),
    /// The tool itself failed: unwritable output, a broken worker, a defect.
    Tool { message: String, path: Option<String> },
    /// An engine or device that was asked for is not there.
    Unavailable { message: String, hint: Option<String> },
    /// The reader of stdout went away: a quiet end.
    ClosedOutput,
}

impl Failure {
    pub fn tool(message: impl Into<String>) -> Self {
        Failure::Tool { message: message.into(), path: None }
    }

    /// An output file or folder that cannot be written.
    pub fn unwritable(path: &Path, error: &std::io::Error) -> Self {
        let shown = path.display().to_string();
        Failure::Tool { message: format!("cannot write {shown}: {error}"), path: Some(shown) }
    }

    pub fn exit(&self) -> Exit {
        match self {
            Failure::Input(_) => Exit::Usage,
            Failure::Tool { .. } => Exit::Tool,
            Failure::Unavailable { .. } => Exit::Unavailable,
            Failure::ClosedOutput => Exit::Success,
        }
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Self {
        Failure::Input(vec![diagnostic])
    }
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Failure::Input(diagnostics)
    }
}

/// The `{"error": ...}` document: the first diagnostic, and all of them where there are more.
pub fn json(failure: &Failure) -> serde_json::Value {
    let one = |kind: &str, message: &str, diagnostic: Option<&Diagnostic>| {
        let location = diagnostic.and_then(|diagnostic| diagnostic.location.as_ref());
        serde_json::json!({
            "kind": kind,
            "message": message,
            "hint": diagnostic.and_then(|diagnostic| diagnostic.hint.clone()),
            "file": location.map(|location| location.file.clone()),
            "line": location.and_then(|location| location.position).map(|position| position.line),
            "column": location.and_then(|location| location.position).map(|position| position.column),
        })
    };
    match failure {
        Failure::Input(diagnostics) => {
            let all: Vec<_> = diagnostics.iter().map(|item| one(item.kind, &item.message, Some(item))).collect();
            let mut document = serde_json::json!({ "error": all.first() });
            if all.len() > 1 {
                document["errors"] = all.into();
            }
            document
        }
        Failure::Tool { message, path } => {
            let mut error = one("tool", message, None);
            error["file"] = path.clone().into();
            serde_json::json!({ "error": error })
        }
        Failure::Unavailable { message, hint } => {
            let mut error = one("unavailable", message, None);
            error["hint"] = hint.clone().into();
            serde_json::json!({ "error": error })
        }
        Failure::ClosedOutput => serde_json::Value::Null,
    }
}

/// Prints a failure to stderr for people.
pub fn print(failure: &Failure, color: super::args::Color) {
    let colors = color.on_stderr();
    match failure {
        Failure::Input(diagnostics) => {
            const SHOWN: usize = 20;
            for diagnostic in diagnostics.iter().take(SHOWN) {
                eprint!("{}", render(diagnostic, colors));
            }
            if diagnostics.len() > SHOWN {
                eprintln!("... and {} more", diagnostics.len() - SHOWN);
            }
        }
        Failure::Tool { message, .. } => eprint!("{}", render(&Diagnostic::new("tool", message.clone()), colors)),
        Failure::Unavailable { message, hint } => {
            let diagnostic = Diagnostic { hint: hint.clone(), ..Diagnostic::new("unavailable", message.clone()) };
            eprint!("{}", render(&diagnostic, colors));
        }
        Failure::ClosedOutput => {}
    }
}

/// Lays a diagnostic out with its source lines.
pub fn render(diagnostic: &Diagnostic, colors: super::args::Coloring) -> String {
    let handler = MietteHandlerOpts::new()
        .color(colors == super::args::Coloring::Colored)
        .unicode(true)
        .terminal_links(false)
        .context_lines(1)
        .width(100)
        .build();
    let shown = Shown::from(diagnostic);
    let mut text = String::new();
    let report: &dyn miette::Diagnostic = &shown;
    let written = fmt::Write::write_fmt(&mut text, format_args!("{}", Debugged { handler: &handler, report }));
    written.map_or_else(|_| format!("{}\n", Report::msg(diagnostic.message.clone())), |()| text)
}

struct Debugged<'a> {
    handler: &'a miette::MietteHandler,
    report: &'a dyn miette::Diagnostic,
}

impl fmt::Display for Debugged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        miette::ReportHandler::debug(self.handler, self.report, f)?;
        writeln!(f)
    }
}

/// A diagnostic in the form that `miette` asks for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Shown {
    message: String,
    code: String,
    help: Option<String>,
    text: Option<NamedSource<String>>,
    label: Option<LabeledSpan>,
}

impl From<&Diagnostic> for Shown {
    fn from(diagnostic: &Diagnostic) -> Self {
        let mut shown = Self {
            message: diagnostic.message.clone(),
            code: diagnostic.kind.to_owned(),
            help: diagnostic.hint.clone(),
            text: None,
            label: None,
        };
        let Some(location) = &diagnostic.location else { return shown };
        match (&location.text, &location.span) {
            (Some(text), Some(span)) => {
                shown.text = Some(NamedSource::new(&location.file, text.to_string()));
                let end = span.end.clamp(span.start, text.len());
                let label = location.label.clone().or(Some("here".to_owned()));
                shown.label = Some(LabeledSpan::new(label, span.start.min(text.len()), end - span.start.min(end)));
            }
            _ => {
                let place = match location.position {
                    Some(position) => format!("{}:{}:{}", location.file, position.line, position.column),
                    None => location.file.clone(),
                };
                shown.message = format!("{place}: {}", shown.message);
            }
        }
        shown
    }
}

impl miette::Diagnostic for Shown {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.code))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.text.as_ref().map(|text| text as &dyn SourceCode)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.label.as_ref().map(|label| Box::new(std::iter::once(label.clone())) as Box<dyn Iterator<Item = _>>)
    }
}
