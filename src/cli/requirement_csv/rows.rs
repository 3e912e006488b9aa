//! The rows of a table that is read: every cell in its type, or a diagnostic at its line.

use super::{COLUMNS, Column};
use crate::model::diagnostic::Diagnostic;
use crate::model::id::{KernelName, RequirementId};
use crate::model::place::Position;
use crate::model::requirement::{CodeLink, RequirementLevel, SignedReason, VerificationMethod};
use crate::requirement::nearest::did_you_mean;
use std::collections::BTreeMap;

/// A row; a column that the table does not have is none, an empty cell is an empty value.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    pub line: u32,
    pub uid: Option<RequirementId>,
    pub level: Option<RequirementLevel>,
    pub title: Option<String>,
    pub statement: Option<String>,
    pub rationale: Option<Option<String>>,
    pub parents: Option<Vec<RequirementId>>,
    pub derived: Option<bool>,
    pub safety_rationale: Option<Option<String>>,
    pub verification: Option<Vec<VerificationMethod>>,
    pub implements: Option<Vec<CodeLink>>,
    pub no_robustness_test: Option<Option<SignedReason>>,
    pub file: Option<String>,
    pub hash: Option<String>,
}

/// A table with the name of its file, for diagnostics.
pub(super) struct Table {
    pub name: String,
    pub rows: Vec<Row>,
}

impl Table {
    /// A diagnostic at a line of the table.
    pub(super) fn error_at(&self, line: u32, kind: &'static str, message: String) -> Diagnostic {
        error_at(&self.name, line, kind, message)
    }

    pub(super) fn parse(name: &str, text: &str) -> Result<Self, Vec<Diagnostic>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.matches('"').count() % 2 == 1 {
            let line = 1 + text[..text.rfind('"').unwrap_or(0)].matches('\n').count() as u32;
            let message = "a quotation mark opens a cell and none closes it".to_owned();
            return Err(vec![error_at(name, line, "csv-syntax", message)]);
        }
        let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(text.as_bytes());
        let titles =
            reader.headers().map_err(|error| vec![syntax_error(name, text, &error)])?.clone();
        let columns = columns_of(name, &titles).map_err(|problem| vec![problem])?;
        let (mut rows, mut problems) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = match record {
                Ok(record) => record,
                Err(error) => {
                    problems.push(syntax_error(name, text, &error));
                    continue;
                }
            };
            let line = record.position().map_or(1, |position| line_at(text, position));
            let mut row = Row { line, ..Row::default() };
            for (column, cell) in columns.iter().zip(&record) {
                if let Err(message) = row.set(*column, cell) {
                    problems.push(error_at(name, line, "csv-value", message));
                }
            }
            if let Some(message) = row.signature_fault() {
                problems.push(error_at(name, line, "csv-value", message));
            }
            rows.push(row);
        }
        problems.extend(repeated_uids(name, &rows));
        if problems.is_empty() { Ok(Self { name: name.to_owned(), rows }) } else { Err(problems) }
    }
}

/// What makes one `no_robustness_test`.
const SIGNATURE_COLUMNS: [Column; 3] =
    [Column::NoRobustnessReason, Column::NoRobustnessAuthor, Column::NoRobustnessApprover];

fn error_at(name: &str, line: u32, kind: &'static str, message: String) -> Diagnostic {
    Diagnostic::new(kind, message).at_position(name, Position { line, column: 1 })
}

/// The reader is behind `\r` where a record ends by `\r\n`, and has not counted the line yet.
fn line_at(text: &str, position: &csv::Position) -> u32 {
    let byte = usize::try_from(position.byte()).unwrap_or(usize::MAX).min(text.len());
    let line_ends = text.as_bytes()[byte..].iter().take_while(|byte| b"\r\n".contains(byte));
    let begin = byte + line_ends.count();
    1 + text.as_bytes()[..begin].iter().filter(|byte| **byte == b'\n').count() as u32
}

fn syntax_error(name: &str, text: &str, error: &csv::Error) -> Diagnostic {
    let line = error.position().map_or(1, |position| line_at(text, position));
    let message = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("the row has {len} cells, the first one {expected_len}")
        }
        _ => error.to_string(),
    };
    error_at(name, line, "csv-syntax", message)
}

/// Columns by their titles. A column that is not known is refused: what it says would be lost.
fn columns_of(name: &str, titles: &csv::StringRecord) -> Result<Vec<Column>, Diagnostic> {
    let words = COLUMNS.map(|(_, word)| word);
    let mut columns = Vec::new();
    for title in titles {
        let word = title.trim();
        let Some((column, _)) = COLUMNS.iter().find(|(_, known)| *known == word) else {
            let message = format!("there is no column `{word}`");
            let hint = did_you_mean(word, &words)
                .unwrap_or_else(|| format!("there are {}, separated by commas", words.join(", ")));
            return Err(error_at(name, 1, "csv-column", message).hint(hint));
        };
        if columns.contains(column) {
            let message = format!("the column `{word}` is there twice");
            return Err(error_at(name, 1, "csv-column", message));
        }
        columns.push(*column);
    }
    if !columns.contains(&Column::Uid) {
        let message = "the table has no column `uid`, by which requirements are known".to_owned();
        return Err(error_at(name, 1, "csv-column", message));
    }
    let signature_count = SIGNATURE_COLUMNS.iter().filter(|part| columns.contains(part)).count();
    if signature_count == 0 || signature_count == SIGNATURE_COLUMNS.len() {
        return Ok(columns);
    }
    let message = "of the three columns `no_robustness_reason`, `no_robustness_author` and `no_robustness_approver` \
                   some are there and some are not";
    Err(error_at(name, 1, "csv-column", message.to_owned()))
}

fn repeated_uids(name: &str, rows: &[Row]) -> Vec<Diagnostic> {
    let mut lines: BTreeMap<&RequirementId, u32> = BTreeMap::new();
    let mut problems = Vec::new();
    for row in rows {
        let Some(uid) = &row.uid else { continue };
        if let Some(first_line) = lines.insert(uid, row.line) {
            let message = format!("the requirement `{uid}` stands in line {first_line} already");
            problems.push(error_at(name, row.line, "duplicate-id", message));
        }
    }
    problems
}

impl Row {
    fn set(&mut self, column: Column, cell: &str) -> Result<(), String> {
        let optional = || (!cell.is_empty()).then(|| cell.to_owned());
        match column {
            Column::Uid => self.uid = Some(name_of(cell)?),
            Column::Level => self.level = Some(word_of(cell, "level", &["HLR", "LLR"])?),
            Column::Title => self.title = Some(not_empty(cell, "title")?),
            Column::Statement => self.statement = Some(not_empty(cell, "statement")?),
            Column::Rationale => self.rationale = Some(optional()),
            Column::SafetyRationale => self.safety_rationale = Some(optional()),
            Column::Parents => {
                self.parents = Some(parts_of(cell).map(name_of).collect::<Result<_, _>>()?);
            }
            Column::Derived => self.derived = Some(boolean(cell)?),
            Column::Verification => {
                let methods = ["test", "analysis", "review"];
                let methods = parts_of(cell).map(|part| word_of(part, "verification", &methods));
                self.verification = Some(methods.collect::<Result<Vec<_>, _>>()?);
            }
            Column::Implements => {
                self.implements = Some(parts_of(cell).map(code_link).collect::<Result<_, _>>()?);
            }
            Column::NoRobustnessReason => self.sign(cell, |signed| &mut signed.reason),
            Column::NoRobustnessAuthor => self.sign(cell, |signed| &mut signed.author),
            Column::NoRobustnessApprover => self.sign(cell, |signed| &mut signed.approver),
            Column::File => self.file = optional(),
            Column::Hash => self.hash = optional(),
        }
        Ok(())
    }

    /// Three empty cells are none.
    fn sign(&mut self, cell: &str, part: impl Fn(&mut SignedReason) -> &mut String) {
        let signed = self.no_robustness_test.get_or_insert(None);
        if !cell.trim().is_empty() {
            let unsigned = SignedReason {
                reason: String::new(),
                author: String::new(),
                approver: String::new(),
            };
            *part(signed.get_or_insert(unsigned)) = cell.to_owned();
        }
    }

    /// Some of the three cells are empty and some are not.
    fn signature_fault(&self) -> Option<String> {
        let SignedReason { reason, author, approver } =
            self.no_robustness_test.as_ref()?.as_ref()?;
        let parts = [
            ("no_robustness_reason", reason),
            ("no_robustness_author", author),
            ("no_robustness_approver", approver),
        ];
        let (column, _) = parts.into_iter().find(|(_, cell)| cell.is_empty())?;
        Some(format!(
            "`{column}` is empty, and the other cells of `no_robustness_test` are not all"
        ))
    }
}

/// A name as requirement files take it.
fn name_of<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    let name = text.trim();
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let no_name = || format!("`{name}` is no name: letters, digits, `-`, `_` and `.` make one");
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(no_name());
    }
    serde_json::from_value(name.into()).map_err(|_| no_name())
}

fn not_empty(cell: &str, what: &str) -> Result<String, String> {
    if cell.trim().is_empty() { Err(format!("the {what} is empty")) } else { Ok(cell.to_owned()) }
}

/// A word that the model reads as files have it.
fn word_of<T: serde::de::DeserializeOwned>(
    cell: &str,
    what: &str,
    words: &[&str],
) -> Result<T, String> {
    serde_json::from_value(cell.trim().into())
        .map_err(|_| format!("`{}` is no {what}; there are {}", cell.trim(), words.join(", ")))
}

/// Spreadsheets write words of truth in capitals.
fn boolean(cell: &str) -> Result<bool, String> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        other => Err(format!("`{other}` is neither true nor false")),
    }
}

fn parts_of(cell: &str) -> impl Iterator<Item = &str> {
    cell.split([';', '\n']).map(str::trim).filter(|part| !part.is_empty())
}

fn code_link(part: &str) -> Result<CodeLink, String> {
    let (place, kernels) = match part.rsplit_once('@') {
        Some((place, kernels)) => (place, kernels.split('+').collect()),
        None => (part, Vec::new()),
    };
    let (file, symbol) = match place.split_once('#') {
        Some((file, symbol)) => (file, Some(symbol.trim().to_owned())),
        None => (place, None),
    };
    let kernels: Result<Vec<KernelName>, String> = kernels.into_iter().map(name_of).collect();
    Ok(CodeLink { file: file.trim().to_owned(), symbol, kernels: kernels? })
}
