//! Where the files of a project state what evidence names: requirements, tests, justifications,
//! acceptances.
//!
//! Knows: the texts that the evidence stores. Promises: a position is that of the id in the table
//! that states it, by the parser of TOML and no search for words; where the text is not stored or
//! does not read, there is none.

use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use vkcert_model::evidence::{Evidence, StoredFile};
use vkcert_model::place::{LineStarts, Position};

/// A table of an array of tables: its texts by key, each with the byte where it begins.
type DeclaredTable = BTreeMap<String, (String, usize)>;

/// Everything that the stored TOML files state.
#[derive(Default)]
pub(super) struct DeclaredPlaces<'e> {
    files: BTreeMap<&'e str, DeclaredFile<'e>>,
}

struct DeclaredFile<'e> {
    text: &'e str,
    lines: LineStarts,
    /// By name of the array.
    tables: BTreeMap<String, Vec<DeclaredTable>>,
}

impl<'e> DeclaredPlaces<'e> {
    pub(super) fn of(evidence: &'e Evidence) -> Self {
        let stored_files = evidence.inputs.iter().flat_map(|inputs| &inputs.files);
        let texts = stored_files.filter_map(|(path, file)| match file {
            StoredFile::Text(text) if path.ends_with(".toml") => Some((path, text)),
            StoredFile::Text(_) | StoredFile::Bytes(_) | StoredFile::Omitted { .. } => None,
        });
        let files = texts
            .filter_map(|(path, text)| Some((path.as_str(), DeclaredFile::read(text)?)))
            .collect();
        Self { files }
    }

    /// Where the first table `[[array]]` of a file with these texts has the last of them.
    pub(super) fn position(
        &self,
        file: &str,
        array: &str,
        wanted: &[(&str, &str)],
    ) -> Option<Position> {
        let declared_file = self.files.get(file)?;
        let is_wanted = |table: &&DeclaredTable| {
            wanted.iter().all(|(key, value)| table.get(*key).is_some_and(|(text, _)| text == value))
        };
        let table = declared_file.tables.get(array)?.iter().find(is_wanted)?;
        let (last_key, _) = wanted.last()?;
        let (_, start) = table.get(*last_key)?;
        Some(declared_file.lines.position(declared_file.text, *start))
    }
}

impl<'e> DeclaredFile<'e> {
    fn read(text: &'e str) -> Option<Self> {
        let document = DeTable::parse(text).ok()?;
        let mut tables: BTreeMap<String, Vec<DeclaredTable>> = BTreeMap::new();
        for (key, value) in document.get_ref() {
            let DeValue::Array(items) = value.get_ref() else { continue };
            let rows = items.iter().filter_map(|item| match item.get_ref() {
                DeValue::Table(table) => Some(texts_of(table)),
                _ => None,
            });
            tables.insert(key.get_ref().to_string(), rows.collect());
        }
        Some(Self { text, lines: LineStarts::of(text), tables })
    }
}

fn texts_of(table: &DeTable) -> DeclaredTable {
    let texts = table.iter().filter_map(|(key, value)| match value.get_ref() {
        DeValue::String(text) => {
            Some((key.get_ref().to_string(), (text.to_string(), value.span().start)))
        }
        _ => None,
    });
    texts.collect()
}
