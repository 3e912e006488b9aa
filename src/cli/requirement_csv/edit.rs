//! What a table changes of a project's requirements, as new texts of its files.

use super::rows::{Row, Table};
use super::table_hash;
use crate::model::diagnostic::Diagnostic;
use crate::model::id::RequirementId;
use crate::model::requirement::{
    CodeLink, ParentLink, Requirement, RequirementLevel, SignedReason,
};
use crate::requirement::{Located, Project, is_requirement_file};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Value};

/// Where requirements go that no file has and whose row names none.
const NEW_FILE: &str = "requirements/imported.toml";

/// What a row is to its requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::cli) enum RequirementChange {
    Added,
    Changed,
    Unchanged,
}

/// What a table says of one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(in crate::cli) struct ImportedRequirement {
    pub uid: RequirementId,
    pub change: RequirementChange,
    /// Keys that change.
    pub keys: Vec<&'static str>,
    /// Relative to the project.
    pub file: String,
    /// Parents whose links are taken out with the hash that they were reviewed with.
    pub pins_lost: Vec<RequirementId>,
    /// Parents whose links are new, and pinned by no hash.
    pub not_pinned: Vec<RequirementId>,
}

/// What a table is to a project.
pub(in crate::cli) struct TableImport {
    /// In the order of its rows.
    pub requirements: Vec<ImportedRequirement>,
    /// The files that change, by path relative to the project, with their new texts.
    pub files: BTreeMap<String, String>,
}

/// Reads a table and makes the texts of the files that it changes.
pub(in crate::cli) fn import_requirements(
    project: &Project,
    name: &str,
    text: &str,
) -> Result<TableImport, Vec<Diagnostic>> {
    let table = Table::parse(name, text)?;
    let present: BTreeMap<&RequirementId, &Located<Requirement>> =
        project.requirements.iter().map(|requirement| (&requirement.uid, requirement)).collect();
    let mut problems = check_rows(&table, &present, project);
    problems.extend(check_parents(&table, &present));
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut files = ProjectFiles::of_project(project);
    let mut imported = Vec::new();
    for row in &table.rows {
        let Some(uid) = row.uid else { continue };
        let known = present.get(&uid).copied();
        let file = match known {
            Some(requirement) => project.relative_file(requirement),
            None => row.file.clone().unwrap_or_else(|| NEW_FILE.to_owned()),
        };
        let edits = edits_of(row, known.map(|requirement| &requirement.value));
        let keys: Vec<&'static str> = edits.iter().map(|(key, _)| *key).collect();
        let change = match (known, keys.is_empty()) {
            (None, _) => RequirementChange::Added,
            (Some(_), true) => RequirementChange::Unchanged,
            (Some(_), false) => RequirementChange::Changed,
        };
        if change != RequirementChange::Unchanged {
            let edited = files.edit(&file, &uid, edits);
            edited.map_err(|message| vec![table.error_at(row.line, "unsupported", message)])?;
        }
        let links = known.map_or(&[][..], |known| &known.parents);
        let new_parents = row.parents.as_deref().unwrap_or_default();
        imported.push(ImportedRequirement {
            uid,
            change,
            keys,
            file,
            pins_lost: row.parents.as_ref().map_or(Vec::new(), |kept| lost_pins(links, kept)),
            not_pinned: new_parents
                .iter()
                .filter(|parent| links.iter().all(|link| link.uid != **parent))
                .copied()
                .collect(),
        });
    }
    Ok(TableImport { requirements: imported, files: files.changed_texts() })
}

type PresentRequirements<'a> = BTreeMap<&'a RequirementId, &'a Located<Requirement>>;

/// What rows must have, and whether they are about the requirements as they are now.
fn check_rows(
    table: &Table,
    present: &PresentRequirements<'_>,
    project: &Project,
) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for row in &table.rows {
        let Some(uid) = &row.uid else { continue };
        let mut add =
            |kind, message: String| problems.push(table.error_at(row.line, kind, message));
        let Some(requirement) = present.get(uid) else {
            for (title, is_there) in [
                ("level", row.level.is_some()),
                ("title", row.title.is_some()),
                ("statement", row.statement.is_some()),
                ("verification", row.verification.is_some()),
            ] {
                if !is_there {
                    add("missing-key", format!("the new requirement `{uid}` has no {title}"));
                }
            }
            if let Some(file) = row.file.as_ref().filter(|file| !is_place_for_requirements(file)) {
                add("bad-path", format!("`{file}` is no .toml file below `requirements/`"));
            }
            continue;
        };
        let file = project.relative_file(requirement);
        if row.file.as_ref().is_some_and(|named| *named != file) {
            add("unsupported", format!("`{uid}` stands in `{file}`: a table does not move it"));
        }
        let hash = table_hash(requirement);
        let is_stale = row.hash.as_ref().is_some_and(|written| *written != hash);
        if is_stale && !edits_of(row, Some(&requirement.value)).is_empty() {
            let message = format!("`{uid}` has changed in the project since the table was written");
            add("stale", message);
        }
    }
    problems
}

fn is_place_for_requirements(file: &str) -> bool {
    let is_plain = |part: Component| matches!(part, Component::Normal(_));
    is_requirement_file(file) && Path::new(file).components().all(is_plain)
}

/// Parents that nobody knows, and rows by which a requirement would be its own ancestor.
fn check_parents(table: &Table, present: &PresentRequirements<'_>) -> Vec<Diagnostic> {
    let mut parents: BTreeMap<&RequirementId, Vec<&RequirementId>> = BTreeMap::new();
    for (uid, requirement) in present {
        parents.insert(*uid, requirement.parents.iter().map(|link| &link.uid).collect());
    }
    let mut named = Vec::new();
    for row in &table.rows {
        let Some(uid) = &row.uid else { continue };
        parents.entry(uid).or_default();
        if let Some(row_parents) = &row.parents {
            parents.insert(uid, row_parents.iter().collect());
            named.push((row.line, uid, row_parents));
        }
    }
    let mut problems = Vec::new();
    for (line, uid, row_parents) in named {
        for parent in row_parents.iter().filter(|parent| !parents.contains_key(parent)) {
            let message = format!("the parent `{parent}` of `{uid}` is no requirement");
            problems.push(table.error_at(line, "unknown-id", message));
        }
        if is_own_ancestor(uid, &parents) {
            let message = format!("by its parents `{uid}` is a parent of its own");
            problems.push(table.error_at(line, "cycle", message));
        }
    }
    problems
}

fn is_own_ancestor(
    uid: &RequirementId,
    parents: &BTreeMap<&RequirementId, Vec<&RequirementId>>,
) -> bool {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&RequirementId> = parents.get(uid).cloned().unwrap_or_default();
    while let Some(ancestor) = waiting.pop() {
        if ancestor == uid {
            return true;
        }
        if seen.insert(ancestor) {
            waiting.extend(parents.get(ancestor).into_iter().flatten());
        }
    }
    false
}

/// A key with its new value; none takes the key out.
type Edit = (&'static str, Option<Value>);

/// What of a row differs from the requirement, all of it where there is none.
fn edits_of(row: &Row, known: Option<&Requirement>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut text = |key, new: &Option<String>, old: Option<&String>| {
        if let Some(new) = new.as_ref().filter(|new| Some(*new) != old) {
            edits.push((key, Some(new.as_str().into())));
        }
    };
    let level = row.level.map(|level: RequirementLevel| level.to_string());
    text(
        "uid",
        &row.uid.as_ref().map(RequirementId::to_string),
        known.map(|k| k.uid.to_string()).as_ref(),
    );
    text("level", &level, known.map(|known| known.level.to_string()).as_ref());
    text("title", &row.title, known.map(|known| &known.title));
    text("statement", &row.statement, known.map(|known| &known.statement));
    let mut optional = |key, new: &Option<Option<String>>, old: Option<&String>| {
        if let Some(new) = new.as_ref().filter(|new| new.as_ref() != old) {
            edits.push((key, new.as_deref().map(Value::from)));
        }
    };
    optional("rationale", &row.rationale, known.and_then(|known| known.rationale.as_ref()));
    let safety = known.and_then(|known| known.safety_rationale.as_ref());
    optional("safety_rationale", &row.safety_rationale, safety);
    if let Some(edit) = parents_edit(row, known) {
        edits.push(edit);
    }
    let derived = known.is_some_and(|known| known.derived);
    if let Some(new) = row.derived.filter(|new| *new != derived) {
        edits.push(("derived", Some(new.into())));
    }
    let methods = known.map(|known| &known.verification);
    if let Some(new) = row.verification.as_ref().filter(|new| Some(*new) != methods) {
        let words: Array = new.iter().map(ToString::to_string).collect();
        edits.push(("verification", Some(words.into())));
    }
    let links = known.map_or(&[][..], |known| &known.implements);
    if let Some(new) = row.implements.as_ref().filter(|new| new.as_slice() != links) {
        let links = (!new.is_empty()).then(|| new.iter().map(code_link_value).collect::<Array>());
        edits.push(("implements", links.map(Value::from)));
    }
    let signed = known.and_then(|known| known.no_robustness_test.as_ref());
    if let Some(new) = row.no_robustness_test.as_ref().filter(|new| new.as_ref() != signed) {
        edits.push(("no_robustness_test", new.as_ref().map(signed_value)));
    }
    edits
}

/// Links to parents that stay keep their hashes; new ones are not pinned.
fn parents_edit(row: &Row, known: Option<&Requirement>) -> Option<Edit> {
    let links = known.map_or(&[][..], |known| &known.parents);
    let new = row.parents.as_ref()?;
    if new.iter().eq(links.iter().map(|link| &link.uid)) {
        return None;
    }
    let link_value = |uid: &RequirementId| {
        let mut link = InlineTable::new();
        link.insert("uid", uid.as_str().into());
        let kept = links.iter().find(|link: &&ParentLink| link.uid == *uid);
        if let Some(hash) = kept.and_then(|link| link.hash.as_deref()) {
            link.insert("hash", hash.into());
        }
        link
    };
    let links = (!new.is_empty()).then(|| new.iter().map(link_value).collect::<Array>());
    Some(("parents", links.map(Value::from)))
}

/// Parents that are kept no longer and whose links were pinned: who adds one again must review it
/// again, because a link that was suspect would come back as one that nobody has reviewed.
fn lost_pins(links: &[ParentLink], kept: &[RequirementId]) -> Vec<RequirementId> {
    let lost = links.iter().filter(|link| link.hash.is_some() && !kept.contains(&link.uid));
    lost.map(|link| link.uid).collect()
}

fn code_link_value(link: &CodeLink) -> InlineTable {
    let mut value = InlineTable::new();
    value.insert("file", link.file.as_str().into());
    if let Some(symbol) = &link.symbol {
        value.insert("symbol", symbol.as_str().into());
    }
    if !link.kernels.is_empty() {
        let kernels: Array = link.kernels.iter().map(|kernel| kernel.as_str()).collect();
        value.insert("kernels", kernels.into());
    }
    value
}

fn signed_value(signed: &SignedReason) -> Value {
    let SignedReason { reason, author, approver } = signed;
    let mut value = InlineTable::new();
    for (key, text) in [("reason", reason), ("author", author), ("approver", approver)] {
        value.insert(key, text.as_str().into());
    }
    value.into()
}

/// The files of a project that are edited, parsed once each.
struct ProjectFiles<'a> {
    project: &'a Project,
    documents: BTreeMap<String, DocumentMut>,
}

impl<'a> ProjectFiles<'a> {
    fn of_project(project: &'a Project) -> Self {
        Self { project, documents: BTreeMap::new() }
    }

    /// The parsed file; one that is not there is begun.
    fn document(&mut self, file: &str) -> Result<&mut DocumentMut, String> {
        if !self.documents.contains_key(file) {
            let path = self.project.root.join(file);
            let text = match std::fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    "schema = 1\n".to_owned()
                }
                Err(error) => return Err(format!("cannot read `{file}`: {error}")),
            };
            let document = text.parse().map_err(|error| format!("`{file}`: {error}"))?;
            self.documents.insert(file.to_owned(), document);
        }
        Ok(self.documents.get_mut(file).expect("it has just been parsed"))
    }

    fn edit(&mut self, file: &str, uid: &RequirementId, edits: Vec<Edit>) -> Result<(), String> {
        let document = self.document(file)?;
        let tables = document.entry("requirement").or_insert(ArrayOfTables::new().into());
        let Item::ArrayOfTables(tables) = tables else {
            return Err(format!(
                "`{file}` has its requirements in one value, not in `[[requirement]]` tables"
            ));
        };
        let is_of_uid = |table: &&mut toml_edit::Table| {
            table.get("uid").and_then(Item::as_str) == Some(uid.as_str())
        };
        if let Some(table) = tables.iter_mut().find(is_of_uid) {
            edits.into_iter().for_each(|edit| set_value(table, edit));
            return Ok(());
        }
        let mut table = toml_edit::Table::new();
        edits.into_iter().for_each(|edit| set_value(&mut table, edit));
        table.decor_mut().set_prefix("\n");
        tables.push(table);
        Ok(())
    }

    fn changed_texts(self) -> BTreeMap<String, String> {
        self.documents.into_iter().map(|(file, document)| (file, document.to_string())).collect()
    }
}

/// A comment behind the old value stays.
fn set_value(table: &mut toml_edit::Table, (key, value): Edit) {
    let Some(mut value) = value else {
        table.remove(key);
        return;
    };
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *value.decor_mut() = old.decor().clone();
    }
    table.insert(key, Item::Value(value));
}
