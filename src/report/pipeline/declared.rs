//! Where the files of a project state what evidence names: requirements, tests, justifications,
//! acceptances.
//!
//! Knows: the texts that the evidence stores. Promises: a position is that of the id in the table
//! that states it, by the parser of TOML and no search for words; where the text is not stored or
//! does not read, there is none.

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use toml::de::{DeTable, DeValue};
use vkcert_model::evidence::{Evidence, StoredFile};
use vkcert_model::place::{LineStarts, Position};

/// A table of an array of tables: its texts by key, each with the byte where it begins.
type DeclaredTable = BTreeMap<String, (String, usize)>;

/// Everything that the stored TOML files state.
#[derive(Default)]
pub(super) struct DeclaredPlaces<'e> {
    files: BTreeMap<&'e str, StatedFile<'e>>,
}

/// A file that is read when something of it is asked for.
struct StatedFile<'e> {
    text: &'e str,
    declared: OnceLock<Option<DeclaredFile<'e>>>,
}

impl<'e> StatedFile<'e> {
    fn declared(&self) -> Option<&DeclaredFile<'e>> {
        self.declared.get_or_init(|| DeclaredFile::read(self.text)).as_ref()
    }
}

struct DeclaredFile<'e> {
    text: &'e str,
    lines: LineStarts,
    /// By name of the array.
    arrays: BTreeMap<String, DeclaredArray>,
}

/// An array of tables.
#[derive(Default)]
struct DeclaredArray {
    tables: Vec<DeclaredTable>,
    /// Indices of the tables that have a text under a key of `NAMING_KEYS`: there may be as many
    /// tables as are looked for.
    by_name: BTreeMap<(&'static str, String), Vec<usize>>,
}

/// What tables are looked for by.
const NAMING_KEYS: [&str; 6] = ["id", "uid", "kernel", "item", "obligation", "finding"];

impl<'e> DeclaredPlaces<'e> {
    pub(super) fn of(evidence: &'e Evidence) -> Self {
        let stored_files = evidence.inputs.iter().flat_map(|inputs| &inputs.files);
        let texts = stored_files.filter_map(|(path, file)| match file {
            StoredFile::Text(text) if path.ends_with(".toml") => Some((path, text)),
            StoredFile::Text(_) | StoredFile::Bytes(_) | StoredFile::Omitted { .. } => None,
        });
        let files = texts
            .map(|(path, text)| (path.as_str(), StatedFile { text, declared: OnceLock::new() }));
        Self { files: files.collect() }
    }

    /// Reads all files, on all cores: for who asks for places in most of them.
    pub(super) fn read_all(&self) {
        let files: Vec<&StatedFile> = self.files.values().collect();
        files.into_par_iter().for_each(|file| {
            file.declared();
        });
    }

    /// Where the first table `[[array]]` of a file with these texts has the last of them.
    pub(super) fn position(
        &self,
        file: &str,
        array: &str,
        wanted: &[(&str, &str)],
    ) -> Option<Position> {
        let declared_file = self.files.get(file)?.declared()?;
        let is_wanted = |table: &&DeclaredTable| {
            wanted.iter().all(|(key, value)| table.get(*key).is_some_and(|(text, _)| text == value))
        };
        let declared_array = declared_file.arrays.get(array)?;
        let table = declared_array.candidates(wanted).find(is_wanted)?;
        let (last_key, _) = wanted.last()?;
        let (_, start) = table.get(*last_key)?;
        Some(declared_file.lines.position(declared_file.text, *start))
    }
}

impl<'e> DeclaredFile<'e> {
    fn read(text: &'e str) -> Option<Self> {
        let document = DeTable::parse(text).ok()?;
        let mut arrays = BTreeMap::new();
        for (key, value) in document.get_ref() {
            let DeValue::Array(items) = value.get_ref() else { continue };
            let rows = items.iter().filter_map(|item| match item.get_ref() {
                DeValue::Table(table) => Some(texts_of(table)),
                _ => None,
            });
            arrays.insert(key.get_ref().to_string(), DeclaredArray::of(rows.collect()));
        }
        Some(Self { text, lines: LineStarts::of(text), arrays })
    }
}

impl DeclaredArray {
    fn of(tables: Vec<DeclaredTable>) -> Self {
        let mut by_name: BTreeMap<(&'static str, String), Vec<usize>> = BTreeMap::new();
        for (index, table) in tables.iter().enumerate() {
            for key in NAMING_KEYS {
                if let Some((text, _)) = table.get(key) {
                    by_name.entry((key, text.clone())).or_default().push(index);
                }
            }
        }
        Self { tables, by_name }
    }

    /// The tables that may have these texts, in their order.
    fn candidates(&self, wanted: &[(&str, &str)]) -> impl Iterator<Item = &DeclaredTable> {
        let naming_text = wanted.iter().rev().find_map(|(key, text)| {
            let naming_key = NAMING_KEYS.iter().find(|naming_key| *naming_key == key)?;
            Some((*naming_key, (*text).to_owned()))
        });
        let indices = match naming_text {
            Some(naming_text) => self.by_name.get(&naming_text).cloned().unwrap_or_default(),
            None => (0..self.tables.len()).collect(),
        };
        indices.into_iter().map(|index| &self.tables[index])
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
