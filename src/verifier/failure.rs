//! Failures of commands and how they are shown: by `miette` on a terminal, as one JSON document
//! with `--format json`.
//!
//! Promises: however long a line or a value of an input is, a diagnostic quotes a bounded part of
//! it.

use super::args::{Color, Coloring};
use super::output;
use miette::{
    LabeledSpan, MietteError, MietteHandlerOpts, MietteSpanContents, SourceCode, SourceSpan,
    SpanContents,
};
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::exit::Exit;
use vkcert_model::place::Position;
use vkcert_model::wording::without_deception;
use vkcert_verification::VerifyError;

/// Bytes of a line that are quoted at most; of a longer line the part around the fault is shown.
const MOST_LINE_BYTES: usize = 200;

/// Bytes of a longer line that are shown in front of the fault.
const BYTES_BEFORE_FAULT: usize = 80;

/// Characters of a message at most: a message may quote a value of an input.
const MOST_MESSAGE_CHARACTERS: usize = 1_000;

/// What stops a command, whatever layer it comes from.
#[derive(Debug, Clone, Copy)]
pub enum Failure<'a> {
    /// Input files or arguments are wrong; never empty.
    Input(&'a [Diagnostic]),
    /// The tool itself failed.
    Tool {
        /// What went wrong, in one sentence.
        message: &'a str,
        /// The file that it is about; none where it is about none.
        path: Option<&'a str>,
    },
    /// An engine or device that was asked for is not there.
    Unavailable {
        /// What is not there, in one sentence.
        message: &'a str,
        /// What to do about it; none where nothing is known.
        hint: Option<&'a str>,
    },
}

impl<'a> From<&'a VerifyError> for Failure<'a> {
    fn from(error: &'a VerifyError) -> Self {
        match error {
            VerifyError::Input(diagnostics) => Failure::Input(diagnostics),
            VerifyError::Tool { message, path } => Failure::Tool { message, path: path.as_deref() },
        }
    }
}

/// How the program ends after a failure.
pub fn exit_for(failure: Failure) -> Exit {
    match failure {
        Failure::Input(_) => Exit::Usage,
        Failure::Tool { .. } => Exit::Tool,
        Failure::Unavailable { .. } => Exit::Unavailable,
    }
}

fn error_object(kind: &str, message: &str, diagnostic: Option<&Diagnostic>) -> serde_json::Value {
    let location = diagnostic.and_then(|diagnostic| diagnostic.location.as_ref());
    serde_json::json!({
        "kind": kind,
        "message": shortened_message(message),
        "hint": diagnostic.and_then(|diagnostic| diagnostic.hint.as_deref()),
        "file": location.map(|location| location.file.as_str()),
        "line": location.and_then(|location| location.position).map(|position| position.line),
        "column": location.and_then(|location| location.position).map(|position| position.column),
    })
}

/// The `{"error": ...}` document: the first diagnostic, and all of them where there are more.
pub fn json_document(failure: Failure) -> serde_json::Value {
    match failure {
        Failure::Input(diagnostics) => {
            let error_objects: Vec<_> = diagnostics
                .iter()
                .map(|item| error_object(item.kind, &item.message, Some(item)))
                .collect();
            let mut document = serde_json::json!({ "error": error_objects.first() });
            if error_objects.len() > 1 {
                document["errors"] = error_objects.into();
            }
            document
        }
        Failure::Tool { message, path } => {
            let mut error = error_object("tool", message, None);
            error["file"] = path.into();
            serde_json::json!({ "error": error })
        }
        Failure::Unavailable { message, hint } => {
            let mut error = error_object("unavailable", message, None);
            error["hint"] = hint.into();
            serde_json::json!({ "error": error })
        }
    }
}

/// Prints a failure to stderr for people.
pub fn print_failure(failure: Failure, color: Color) {
    output::print_to_stderr(failure_text(failure, color.on_stderr()));
}

/// A failure as people read it; of many diagnostics the first ones and how many follow.
fn failure_text(failure: Failure, colors: Coloring) -> String {
    const SHOWN: usize = 20;
    match failure {
        Failure::Input(diagnostics) => {
            let shown_diagnostics = diagnostics.iter().take(SHOWN);
            let mut text: String =
                shown_diagnostics.map(|diagnostic| render_diagnostic(diagnostic, colors)).collect();
            if diagnostics.len() > SHOWN {
                text.push_str(&format!("... and {} more\n", diagnostics.len() - SHOWN));
            }
            text
        }
        Failure::Tool { message, .. } => {
            render_diagnostic(&Diagnostic::new("tool", message), colors)
        }
        Failure::Unavailable { message, hint } => {
            let diagnostic = Diagnostic {
                hint: hint.map(str::to_owned),
                ..Diagnostic::new("unavailable", message)
            };
            render_diagnostic(&diagnostic, colors)
        }
    }
}

/// Lays a diagnostic out with its source lines.
pub fn render_diagnostic(diagnostic: &Diagnostic, colors: Coloring) -> String {
    let handler = MietteHandlerOpts::new()
        .color(colors == Coloring::Colored)
        .unicode(true)
        .terminal_links(false)
        .context_lines(1)
        .width(stderr_width())
        .build();
    let miette_diagnostic = MietteDiagnostic::from(diagnostic);
    let mut text = String::new();
    let report: &dyn miette::Diagnostic = &miette_diagnostic;
    let write_result = fmt::Write::write_fmt(
        &mut text,
        format_args!("{}", MietteReport { handler: &handler, report }),
    );
    write_result.map_or_else(|_| format!("{}\n", diagnostic.message), |()| text)
}

/// Columns that a diagnostic is laid out in: those of the terminal, but never more than can be
/// read.
fn stderr_width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr())
        .map_or(100, |(width, _)| usize::from(width.0).clamp(40, 100))
}

struct MietteReport<'a> {
    handler: &'a miette::MietteHandler,
    report: &'a dyn miette::Diagnostic,
}

impl fmt::Display for MietteReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        miette::ReportHandler::debug(self.handler, self.report, f)?;
        writeln!(f)
    }
}

/// A diagnostic in the form that `miette` asks for.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct MietteDiagnostic {
    message: String,
    code: String,
    help: Option<String>,
    text: Option<Excerpt>,
    label: Option<LabeledSpan>,
}

impl From<&Diagnostic> for MietteDiagnostic {
    fn from(diagnostic: &Diagnostic) -> Self {
        let mut shown = Self {
            message: shortened_message(&diagnostic.message),
            code: diagnostic.kind.to_owned(),
            help: diagnostic.hint.as_deref().map(shortened_message),
            text: None,
            label: None,
        };
        let Some(location) = &diagnostic.location else { return shown };
        match (&location.text, &location.span) {
            (Some(text), Some(span)) => {
                let excerpt = Excerpt::new(&location.file, text, span);
                let shown_span = excerpt.quoted_part(span);
                let label = location.label.clone().or(Some("here".to_owned()));
                shown.label = Some(LabeledSpan::new(label, shown_span.start, shown_span.len()));
                shown.text = Some(excerpt);
            }
            _ => {
                let (file, message) = (&location.file, &shown.message);
                shown.message = match location.position {
                    Some(Position { line, column }) => {
                        format!("{file}:{line}:{column}: {message}")
                    }
                    None => format!("{file}: {message}"),
                };
            }
        }
        shown
    }
}

/// A message, cut where it is longer than anybody reads.
fn shortened_message(message: &str) -> String {
    let message = without_deception(message);
    match message.char_indices().nth(MOST_MESSAGE_CHARACTERS) {
        None => message.into_owned(),
        Some((end, _)) => format!("{} ... (shortened)", &message[..end]),
    }
}

/// The last boundary of a character at a byte or in front of it.
fn boundary_below(text: &str, byte: usize) -> usize {
    (0..=byte).rev().find(|byte| text.is_char_boundary(*byte)).unwrap_or(0)
}

/// The source of a fault. Of a long line only a part is quoted, because a terminal is of no use for
/// a line of thousands of characters and `miette` lays out none of more than 65,535 columns.
#[derive(Debug)]
struct Excerpt {
    file: String,
    text: Arc<str>,
    /// The bytes that are quoted; none: whole lines.
    quoted_range: Option<Range<usize>>,
}

impl Excerpt {
    fn new(file: &str, text: &Arc<str>, span: &Range<usize>) -> Self {
        let start = boundary_below(text, span.start.min(text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
        let line_before = text[..line_start].rsplit('\n').next().unwrap_or_default();
        let line_after =
            text[line_end..].trim_start_matches('\n').split('\n').next().unwrap_or_default();
        let longest_line = [line_before.len(), line_end - line_start, line_after.len()]
            .into_iter()
            .max()
            .unwrap_or(0);
        let window = (longest_line > MOST_LINE_BYTES).then(|| {
            let window_start =
                boundary_below(text, start.saturating_sub(BYTES_BEFORE_FAULT).max(line_start));
            window_start..boundary_below(text, (window_start + MOST_LINE_BYTES).min(line_end))
        });
        let text = match without_deception(text) {
            Cow::Borrowed(_) => Arc::clone(text),
            Cow::Owned(shown) => shown.into(),
        };
        Self { file: file.to_owned(), text, quoted_range: window }
    }

    /// The part of a span that the excerpt holds.
    fn quoted_part(&self, span: &Range<usize>) -> Range<usize> {
        let whole_text = 0..self.text.len();
        let quoted_bytes = self.quoted_range.as_ref().unwrap_or(&whole_text);
        let start = span.start.clamp(quoted_bytes.start, quoted_bytes.end);
        start..span.end.clamp(start, quoted_bytes.end)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let text: &'a str = &self.text;
        let name = self.file.clone();
        let Some(window) = &self.quoted_range else {
            let whole_lines = text.read_span(span, lines_before, lines_after)?;
            let (line, column, count) =
                (whole_lines.line(), whole_lines.column(), whole_lines.line_count());
            return Ok(Box::new(MietteSpanContents::new_named(
                name,
                whole_lines.data(),
                *whole_lines.span(),
                line,
                column,
                count,
            )));
        };
        // Without lines around it the span itself is asked for, to name its place.
        let start = if lines_before == 0 {
            span.offset().clamp(window.start, window.end)
        } else {
            window.start
        };
        let place = Position::of(text, start);
        let quoted_text = &text.as_bytes()[start..window.end];
        let shown_span = SourceSpan::from((start, quoted_text.len()));
        let (line, column) = (place.line as usize - 1, place.column as usize - 1);
        Ok(Box::new(MietteSpanContents::new_named(name, quoted_text, shown_span, line, column, 1)))
    }
}

impl miette::Diagnostic for MietteDiagnostic {
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
        self.label
            .as_ref()
            .map(|label| Box::new(std::iter::once(label.clone())) as Box<dyn Iterator<Item = _>>)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Coloring, Failure, exit_for, failure_text, json_document, render_diagnostic,
        shortened_message,
    };
    use serde_json::{Value, json};
    use vkcert_model::diagnostic::Diagnostic;
    use vkcert_model::exit::Exit;
    use vkcert_model::place::Position;
    use vkcert_verification::VerifyError;

    fn at_span(text: &str, fault: &str) -> Diagnostic {
        let start = text.find(fault).expect("a part of the text");
        Diagnostic::new("toml-syntax", "it is wrong").at_span(
            "f.toml",
            text,
            start..start + fault.len(),
        )
    }

    fn rendered(diagnostic: &Diagnostic) -> String {
        render_diagnostic(diagnostic, Coloring::Plain)
    }

    #[test]
    fn people_read_the_first_twenty_diagnostics_and_how_many_follow() {
        for (count, shown, last_line) in [
            (1, 1, None),
            (20, 20, None),
            (21, 20, Some("... and 1 more")),
            (50, 20, Some("... and 30 more")),
        ] {
            let diagnostics: Vec<Diagnostic> =
                (0..count).map(|_| Diagnostic::new("usage", "it is wrong")).collect();
            let text = failure_text(Failure::Input(&diagnostics), Coloring::Plain);
            assert_eq!(text.matches("it is wrong").count(), shown);
            let following = text.lines().last().filter(|line| line.starts_with("..."));
            assert_eq!(following, last_line, "{count} diagnostics");
        }
    }

    #[test]
    fn what_is_missing_here_is_told_with_its_remedy() {
        let missing =
            Failure::Unavailable { message: "there is no device", hint: Some("install a driver") };
        let text = failure_text(missing, Coloring::Plain);
        assert!(text.contains("there is no device") && text.contains("install a driver"), "{text}");
    }

    #[test]
    fn each_failure_has_its_exit_and_its_document() {
        let diagnostics = [
            Diagnostic::new("usage", "one").hint("a hint"),
            Diagnostic::new("bad-evidence", "two")
                .at_position("f.json", Position { line: 3, column: 4 }),
        ];
        let one = json!({
            "kind": "usage", "message": "one", "hint": "a hint", "file": null, "line": null,
            "column": null,
        });
        let two = json!({
            "kind": "bad-evidence", "message": "two", "hint": null, "file": "f.json", "line": 3,
            "column": 4,
        });
        let tool = json!({
            "kind": "tool", "message": "m", "hint": null, "file": "p", "line": null,
            "column": null,
        });
        let unavailable = json!({
            "kind": "unavailable", "message": "m", "hint": "h", "file": null, "line": null,
            "column": null,
        });
        let unwritable = VerifyError::Tool { message: "m".into(), path: Some("p".into()) };
        for (failure, exit, document) in [
            (Failure::Input(&diagnostics[..1]), Exit::Usage, json!({ "error": one })),
            (
                Failure::Input(&diagnostics),
                Exit::Usage,
                json!({ "error": one, "errors": [one, two] }),
            ),
            (Failure::from(&unwritable), Exit::Tool, json!({ "error": tool })),
            (
                Failure::Unavailable { message: "m", hint: Some("h") },
                Exit::Unavailable,
                json!({ "error": unavailable }),
            ),
        ] {
            assert_eq!(exit_for(failure), exit);
            assert_eq!(json_document(failure), document);
        }
        let input = VerifyError::from(diagnostics[0].clone());
        assert_eq!(json_document((&input).into())["error"]["message"], Value::from("one"));
    }

    #[test]
    fn long_messages_are_cut() {
        let whole = "é".repeat(1_000);
        assert_eq!(shortened_message(&whole), whole);
        assert_eq!(shortened_message(&format!("{whole}é")), format!("{whole} ... (shortened)"));
        let hint = rendered(&Diagnostic::new("usage", "m").hint("h".repeat(1_001)));
        assert!(hint.contains("(shortened)"), "{hint}");
    }

    #[test]
    fn a_diagnostic_shows_kind_message_hint_and_place() {
        let text = rendered(&Diagnostic::new("usage", "it is wrong").hint("do that"));
        for part in ["usage", "it is wrong", "help: do that"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let position = Position { line: 3, column: 4 };
        let placed = Diagnostic::new("bad-evidence", "it is wrong").at_position("f.json", position);
        assert!(rendered(&placed).contains("f.json:3:4: it is wrong"), "{}", rendered(&placed));
        let of_file = Diagnostic::new("missing-file", "it is wrong").in_file("f.json");
        assert!(rendered(&of_file).contains("f.json: it is wrong"), "{}", rendered(&of_file));
        let colored = render_diagnostic(&of_file, Coloring::Colored);
        assert!(colored.contains('\u{1b}') && !rendered(&of_file).contains('\u{1b}'));
    }

    #[test]
    fn a_fault_is_shown_with_the_lines_around_it() {
        let text = rendered(&at_span("before = 1\nfault = x\nafter = 2\nlater = 3\n", "x"));
        for part in ["f.toml:2:9", "before = 1", "fault = x", "after = 2", "here"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("later"), "{text}");
        let labelled = rendered(&at_span("fault = x\n", "x").label("this one"));
        assert!(labelled.contains("this one") && !labelled.contains("here"), "{labelled}");
    }

    #[test]
    fn of_a_long_line_the_part_around_the_fault_is_shown() {
        let [before, after] = ["b", "é"].map(|letter| letter.repeat(500));
        let line = format!("{before}fault{after}");
        let text = rendered(&at_span(&format!("first\n{line}\nlast\n"), "fault"));
        assert!(text.contains("f.toml:2:501"), "{text}");
        assert!(text.contains("fault") && text.contains("here"), "{text}");
        assert!(!text.contains("first") && !text.contains("last"), "{text}");
        let shown = |letter: char| text.chars().filter(|shown| *shown == letter).count();
        // 80 bytes stand in front of the fault, and 200 are shown.
        assert_eq!((shown('b'), shown('é')), (80, 57), "{text}");
        // A neighbour that is long is left out, too.
        let neighbours = rendered(&at_span(&format!("{before}\nfault = 1\n{after}\n"), "fault"));
        assert!(neighbours.contains("fault = 1"), "{neighbours}");
        assert!(!neighbours.contains("bbb") && !neighbours.contains("ééé"), "{neighbours}");
    }

    #[test]
    fn what_is_quoted_shows_what_it_holds() {
        let text = "title = \"a\u{202e}b\u{1b}[2J\"\n";
        let told = rendered(&at_span(text, "b"));
        assert!(told.contains("a\u{fffd}b?[2J"), "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains('\u{202e}'), "{told:?}");
    }
}
