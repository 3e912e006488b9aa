//! Requirements as a table: `vkcert requirements --csv` writes it, `--import` brings a changed one
//! back into the project's files (RFC 4180, UTF-8).
//!
//! Promises: what is written and read again without a change changes nothing; of a file nothing
//! changes but the fields that do; nothing is written where anything is wrong.
//! Does not cover: requirements that are taken out (a table may be a part).

mod edit;
mod rows;

pub(super) use edit::{ImportedRequirement, RequirementChange, TableImport, import_requirements};

use crate::cli::failure::Failure;
use crate::model::canonical::content_hash;
use crate::model::requirement::{CodeLink, Requirement, SignedReason, VerificationMethod};
use crate::requirement::Project;
use crate::requirement::hash::requirement_hash;

/// Between the parts of a cell that holds several.
const SEPARATOR: &str = "; ";

/// A column of the table, by the key that requirement files have for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Column {
    Uid,
    Level,
    Title,
    Statement,
    Rationale,
    Parents,
    Derived,
    SafetyRationale,
    Verification,
    Implements,
    /// Of `no_robustness_test`, as the next two.
    NoRobustnessReason,
    NoRobustnessAuthor,
    NoRobustnessApprover,
    /// Relative to the project; where a new requirement goes.
    File,
    /// Of the content as it is written, and of `no_robustness_test`: whether the requirement has changed since.
    Hash,
}

const COLUMNS: [(Column, &str); 15] = [
    (Column::Uid, "uid"),
    (Column::Level, "level"),
    (Column::Title, "title"),
    (Column::Statement, "statement"),
    (Column::Rationale, "rationale"),
    (Column::Parents, "parents"),
    (Column::Derived, "derived"),
    (Column::SafetyRationale, "safety_rationale"),
    (Column::Verification, "verification"),
    (Column::Implements, "implements"),
    (Column::NoRobustnessReason, "no_robustness_reason"),
    (Column::NoRobustnessAuthor, "no_robustness_author"),
    (Column::NoRobustnessApprover, "no_robustness_approver"),
    (Column::File, "file"),
    (Column::Hash, "hash"),
];

/// The table of all requirements of a project, in its order.
pub(super) fn requirements_in_csv(project: &Project) -> Result<String, Failure> {
    let unwritable = |error: &dyn std::fmt::Display| Failure::tool(format!("the table: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let titles = COLUMNS.map(|(_, word)| word);
    writer.write_record(titles).map_err(|error| unwritable(&error))?;
    for requirement in &project.requirements {
        let file = project.relative_file(requirement);
        let cells = COLUMNS.map(|(column, _)| cell(column, requirement, &file));
        writer.write_record(cells).map_err(|error| unwritable(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| unwritable(&error))?;
    String::from_utf8(bytes).map_err(|error| unwritable(&error))
}

fn cell(column: Column, requirement: &Requirement, file: &str) -> String {
    match column {
        Column::Uid => requirement.uid.to_string(),
        Column::Level => requirement.level.to_string(),
        Column::Title => requirement.title.clone(),
        Column::Statement => requirement.statement.clone(),
        Column::Rationale => requirement.rationale.clone().unwrap_or_default(),
        Column::Parents => joined(requirement.parents.iter().map(|link| link.uid.to_string())),
        Column::Derived => requirement.derived.to_string(),
        Column::SafetyRationale => requirement.safety_rationale.clone().unwrap_or_default(),
        Column::Verification => {
            joined(requirement.verification.iter().map(VerificationMethod::to_string))
        }
        Column::Implements => joined(requirement.implements.iter().map(code_link_cell)),
        Column::NoRobustnessReason => signed_cell(requirement, |signed| &signed.reason),
        Column::NoRobustnessAuthor => signed_cell(requirement, |signed| &signed.author),
        Column::NoRobustnessApprover => signed_cell(requirement, |signed| &signed.approver),
        Column::File => file.to_owned(),
        Column::Hash => table_hash(requirement),
    }
}

fn signed_cell(requirement: &Requirement, part: impl Fn(&SignedReason) -> &String) -> String {
    requirement.no_robustness_test.as_ref().map(part).cloned().unwrap_or_default()
}

/// The content hash; where nobody asks for a robustness test, of that and who signed it: an old table must not bring back
/// what was withdrawn since.
fn table_hash(requirement: &Requirement) -> String {
    let hash = requirement_hash(requirement);
    match &requirement.no_robustness_test {
        None => hash,
        Some(SignedReason { reason, author, approver }) => {
            content_hash(serde_json::json!([hash, reason, author, approver]).to_string().as_bytes())
        }
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(SEPARATOR)
}

/// `glsl/k.comp#main@one+two`: file, function and kernels, of which the last two may be absent.
fn code_link_cell(link: &CodeLink) -> String {
    let symbol = link.symbol.as_ref().map(|symbol| format!("#{symbol}")).unwrap_or_default();
    let kernels: Vec<&str> = link.kernels.iter().map(|kernel| kernel.as_str()).collect();
    let kernels =
        if kernels.is_empty() { String::new() } else { format!("@{}", kernels.join("+")) };
    format!("{}{symbol}{kernels}", link.file)
}
