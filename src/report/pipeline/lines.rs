//! One line for each thing to be shown, for editors, terminals and the log of a GitHub workflow.
//!
//! Promises: whatever texts hold, each thing is one line, and nothing in it is taken for another
//! line, command or property.
//! Does not cover: what is accepted (the reports have it).

use super::notices::{Notice, Weight, notices};
use crate::Presentation;
use std::path::Path;
use vkcert_model::evidence::Evidence;
use vkcert_model::path::display_path;

/// Which form lines have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineForm {
    /// `file:line:column: kind: message`, of what counts alone.
    Short,
    /// Workflow commands that GitHub shows at the line: `::error file=...::message`; what does not
    /// count is a warning or a notice.
    Github,
}

/// How grave a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineLevel {
    /// It counts against the result, or keeps it from being there.
    Error,
    /// It casts doubt on the result.
    Warning,
    /// It is to be known.
    Notice,
}

/// Something that is told in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiagnosticLine<'t> {
    /// How grave it is.
    pub level: LineLevel,
    /// As the user would name it; none: it is about no file.
    pub file: Option<&'t str>,
    /// 1-based.
    pub line: Option<u32>,
    /// 1-based; counts only beside a line.
    pub column: Option<u32>,
    /// `data-race`, `uncovered-statement`, `toml-syntax` ...
    pub kind: &'t str,
    /// What is wrong; line breaks become spaces.
    pub message: &'t str,
}

impl DiagnosticLine<'_> {
    /// The line, with its line feed.
    pub fn in_form(&self, form: LineForm) -> String {
        match form {
            LineForm::Short => self.short(),
            LineForm::Github => self.github(),
        }
    }

    fn short(&self) -> String {
        let Self { file, line, column, kind, message, .. } = self;
        let mut words = file.map_or("vkcert".to_owned(), on_one_line);
        for number in line.iter().chain(column.iter().filter(|_| line.is_some())) {
            words.push_str(&format!(":{number}"));
        }
        format!("{words}: {kind}: {}\n", on_one_line(message))
    }

    fn github(&self) -> String {
        let command = match self.level {
            LineLevel::Error => "error",
            LineLevel::Warning => "warning",
            LineLevel::Notice => "notice",
        };
        let mut properties = Vec::new();
        properties.extend(self.file.map(|file| format!("file={}", escaped_property(file))));
        properties.extend(self.line.map(|line| format!("line={line}")));
        let column = self.column.filter(|_| self.line.is_some());
        properties.extend(column.map(|column| format!("col={column}")));
        properties.push(format!("title={}", escaped_property(self.kind)));
        format!("::{command} {}::{}\n", properties.join(","), escaped_data(self.message))
    }
}

/// All that is to be shown of a campaign, at paths below the project's folder.
pub fn result_lines(
    evidence: &Evidence,
    presentation: &Presentation,
    form: LineForm,
    folder: &Path,
) -> String {
    let notices = notices(evidence, presentation);
    notices.iter().filter_map(|notice| line_of_notice(notice, form, folder)).collect()
}

fn line_of_notice(notice: &Notice, form: LineForm, folder: &Path) -> Option<String> {
    let level = match (&notice.weight, form) {
        (Weight::Counts, _) => LineLevel::Error,
        (Weight::Doubts, _) => LineLevel::Warning,
        (Weight::Told, LineForm::Github) => LineLevel::Notice,
        (Weight::Told, LineForm::Short) | (Weight::Accepted(_), _) => return None,
    };
    let file = display_path(&folder.join(&notice.place.file));
    let line = DiagnosticLine {
        level,
        file: Some(&file),
        line: notice.place.line,
        column: notice.place.column,
        kind: &notice.rule.id,
        message: &notice.message,
    };
    Some(line.in_form(form))
}

/// The text without line breaks and without what a terminal would obey.
fn on_one_line(text: &str) -> String {
    let plain = |character: char| match character {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => ' ',
        _ if character.is_control() => '\u{fffd}',
        _ => character,
    };
    text.chars().map(plain).collect()
}

/// The message of a workflow command.
fn escaped_data(text: &str) -> String {
    let mut escaped_text = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '%' => escaped_text.push_str("%25"),
            '\r' => escaped_text.push_str("%0D"),
            '\n' => escaped_text.push_str("%0A"),
            _ if character.is_control() && character != '\t' => escaped_text.push('\u{fffd}'),
            _ => escaped_text.push(character),
        }
    }
    escaped_text
}

/// A property of a workflow command, which ends at a comma or a colon.
fn escaped_property(text: &str) -> String {
    escaped_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_sample as sample;

    const HOSTILE: DiagnosticLine = DiagnosticLine {
        level: LineLevel::Error,
        file: Some("a,b:c%.comp"),
        line: Some(3),
        column: Some(7),
        kind: "data-race",
        message: "100 %\r\n::error file=x::y\u{1b}[2J",
    };

    #[test]
    fn a_message_is_one_line_and_no_command() {
        assert_eq!(
            HOSTILE.in_form(LineForm::Short),
            "a,b:c%.comp:3:7: data-race: 100 %  ::error file=x::y\u{fffd}[2J\n"
        );
        assert_eq!(
            HOSTILE.in_form(LineForm::Github),
            "::error file=a%2Cb%3Ac%25.comp,line=3,col=7,title=data-race::\
             100 %25%0D%0A::error file=x::y\u{fffd}[2J\n"
        );
        let without_line = DiagnosticLine { line: None, file: None, ..HOSTILE };
        assert!(without_line.in_form(LineForm::Short).starts_with("vkcert: data-race: "));
        assert!(without_line.in_form(LineForm::Github).starts_with("::error title=data-race::"));
    }

    #[test]
    fn lines_tell_what_counts_and_nothing_where_nothing_does() {
        let lines = |evidence: &Evidence, form| {
            result_lines(evidence, &Presentation::default(), form, Path::new("./sub"))
        };
        let short = lines(&sample::evidence(), LineForm::Short);
        assert!(short.contains("\nsub/glsl/matmul_naive.comp:24:9: data-race: "), "{short}");
        assert!(!short.contains("V-17"), "what is accepted is told: {short}");
        assert_eq!(lines(&sample::flawless(), LineForm::Short), "");
        let github = lines(&sample::flawless(), LineForm::Github);
        assert!(github.lines().all(|line| line.starts_with("::notice ")), "{github}");
        assert!(github.contains("No Vulkan device") || github.contains("no Vulkan device"));
    }
}
