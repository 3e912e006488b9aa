//! A TOML or JSON file as a tree of values with their places.
//!
//! Knows: both formats, so that everything behind it handles one tree; where each key and value
//! stands in the text.
//! Promises: a duplicate key, a syntax error and a value of the wrong type are diagnostics with a
//! span; any place in a read file can be named later by its [`Origin`].
//! Does not cover: what the files mean.

mod deserialize;
mod fault;
mod json;
#[cfg(test)]
mod tests;
mod toml;

pub use deserialize::read_node;
pub use fault::{DocumentFault, FaultKind};

pub(crate) use fault::first_line;
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::index_range::IndexRange;
use vkcert_model::place::{LineStarts, Position};

/// A value with its byte range in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Bytes of the value in the file.
    pub span: IndexRange,
    /// The value itself.
    pub value: Value,
}

/// A value of a TOML or JSON file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, of JSON alone.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction and exponent.
    Integer(i128),
    /// A number with fraction or exponent.
    Float(f64),
    /// A string, escapes resolved.
    Text(String),
    /// An array or, in TOML, an array of tables.
    Array(Vec<Node>),
    /// In file order, without duplicate keys.
    Table(Vec<TableEntry>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct TableEntry {
    /// The key, escapes resolved.
    pub key: String,
    /// Bytes of the key in the file.
    pub key_span: IndexRange,
    /// The value behind the key.
    pub node: Node,
}

impl Node {
    /// The entry `key` of a table.
    pub fn entry(&self, key: &str) -> Option<&TableEntry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Array(_) => None,
        }
    }

    /// The elements of an array; empty for anything else.
    pub fn elements(&self) -> &[Node] {
        match &self.value {
            Value::Array(nodes) => nodes,
            Value::Null
            | Value::Bool(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Table(_) => &[],
        }
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSyntax {
    /// TOML.
    Toml,
    /// JSON, RFC 8259.
    Json,
}

impl FileSyntax {
    /// By extension; without a telling one by the first character: `{` opens JSON, and no TOML file
    /// starts with it.
    pub(crate) fn of_file(path: &Path, text: &str) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => FileSyntax::Json,
            Some("toml") => FileSyntax::Toml,
            _ if text.trim_start().starts_with('{') => FileSyntax::Json,
            _ => FileSyntax::Toml,
        }
    }
}

/// A parsed file.
#[derive(Debug)]
pub struct Document {
    /// Path as the user would name it.
    pub file: String,
    /// The whole text of the file.
    pub text: Arc<str>,
    syntax: FileSyntax,
    /// The value of the whole file: a table. It takes ten times the memory of the text, and is given back
    /// when a project has been read; none: nobody has asked for it since.
    root: OnceLock<Node>,
    line_starts: OnceLock<LineStarts>,
}

impl Document {
    /// Parses `text`; all syntax errors that the format's reader can name.
    pub fn parse(
        file: impl Into<String>,
        text: &str,
        syntax: FileSyntax,
    ) -> Result<Arc<Self>, Vec<Diagnostic>> {
        let file = file.into();
        let text: Arc<str> = text.into();
        let root = parse_text(&text, syntax).map_err(|errors| {
            errors.into_iter().map(|error| error.into_diagnostic(&file, &text)).collect::<Vec<_>>()
        })?;
        let line_starts = OnceLock::new();
        Ok(Arc::new(Self { file, text, syntax, root: OnceLock::from(root), line_starts }))
    }

    /// The value of the whole file: a table.
    pub fn root(&self) -> &Node {
        self.root.get_or_init(|| self.parse_again())
    }

    fn lines(&self) -> &LineStarts {
        self.line_starts.get_or_init(|| LineStarts::of(&self.text))
    }

    /// Looks into the value of the whole file; a tree that is made for it is not kept.
    fn with_root<T>(&self, look: impl FnOnce(&Node) -> T) -> T {
        match self.root.get() {
            Some(root) => look(root),
            None => look(&self.parse_again()),
        }
    }

    fn parse_again(&self) -> Node {
        let parsed = parse_text(&self.text, self.syntax);
        parsed.expect("a document is made of a text that was parsed")
    }

    /// The same without its tree, which is made again when it is asked for.
    fn without_tree(&self) -> Self {
        let (file, text) = (self.file.clone(), Arc::clone(&self.text));
        let syntax = self.syntax;
        Self { file, text, syntax, root: OnceLock::new(), line_starts: OnceLock::new() }
    }

    /// A diagnostic at bytes of the text.
    pub(crate) fn error_at(
        &self,
        kind: &'static str,
        message: impl Into<String>,
        span: IndexRange,
    ) -> Diagnostic {
        let position = self.lines().position(&self.text, span.start);
        let text = Arc::clone(&self.text);
        Diagnostic::new(kind, message).at_placed_span(&self.file, text, span.range(), position)
    }

    /// Reads and parses the file at `path`, shown as `file`.
    pub fn load(path: &Path, file: impl Into<String>) -> Result<Arc<Self>, Vec<Diagnostic>> {
        let file = file.into();
        let text = read_text(path, &file).map_err(|diagnostic| vec![diagnostic])?;
        Self::parse(file, &text, FileSyntax::of_file(path, &text))
    }
}

fn parse_text(text: &str, syntax: FileSyntax) -> Result<Node, Vec<DocumentFault>> {
    match syntax {
        FileSyntax::Toml => toml::parse_toml(text),
        FileSyntax::Json => json::parse_json(text),
    }
}

/// The largest text file that is read, in bytes: data of that size belong into a file of their own.
pub(crate) const MOST_TEXT_BYTES: u64 = 32 << 20;

/// The largest data file or module that is read, in bytes, where no limit of the project says less.
pub(crate) const MOST_DATA_BYTES: u64 = 2 << 30;

/// Reads a UTF-8 file; a file that cannot be read or decoded is a diagnostic.
pub fn read_text(path: &Path, file: &str) -> Result<String, Diagnostic> {
    decode_text(read_at_most(path, file, MOST_TEXT_BYTES)?, file)
}

/// The text of a file's bytes, which must be UTF-8.
pub fn decode_text(bytes: Vec<u8>, file: &str) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Diagnostic::new(
            "encoding",
            format!("`{file}` is not UTF-8: byte {offset} starts no character"),
        )
        .in_file(file)
        .hint("save the file as UTF-8 text")
    })
}

/// Reads a file as it is.
pub fn read_bytes(path: &Path, file: &str) -> Result<Vec<u8>, Diagnostic> {
    read_at_most(path, file, MOST_DATA_BYTES)
}

/// Reads a file of at most `limit` bytes. Pipes, devices and sockets are refused unread, because
/// reading them may never end.
pub fn read_at_most(path: &Path, file: &str, byte_limit: u64) -> Result<Vec<u8>, Diagnostic> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable_error(path, file, &error))?;
    if !metadata.is_file() {
        let file_kind = file_kind_name(metadata.file_type());
        return Err(Diagnostic::new("not-a-file", format!("`{file}` is {file_kind}, not a file"))
            .in_file(file));
    }
    if metadata.len() > byte_limit {
        return Err(too_large_error(file, byte_limit));
    }
    // Reading stops at the limit all the same, because a file can grow meanwhile, and files of the
    // kernel report no length.
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    std::fs::File::open(path)
        .and_then(|opened_file| opened_file.take(byte_limit + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable_error(path, file, &error))?;
    if bytes.len() as u64 > byte_limit {
        return Err(too_large_error(file, byte_limit));
    }
    Ok(bytes)
}

fn unreadable_error(path: &Path, file: &str, error: &std::io::Error) -> Diagnostic {
    let diagnostic =
        Diagnostic::new("missing-file", format!("cannot read `{file}`: {error}")).in_file(file);
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            diagnostic.hint(format!("there is nothing at `{}`", path.display()))
        }
        _ => diagnostic,
    }
}

fn too_large_error(file: &str, byte_limit: u64) -> Diagnostic {
    let message = format!("`{file}` is larger than {byte_limit} bytes, the limit for such a file");
    Diagnostic::new("limit", message).in_file(file)
}

fn file_kind_name(kind: std::fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if kind.is_dir() => "a folder",
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

/// Puts diagnostics in the order of their places: by file in the order given, then by byte.
pub fn in_place_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut files: Vec<String> = Vec::new();
    let mut order_keys = Vec::new();
    for diagnostic in &diagnostics {
        let location = diagnostic.location.as_ref();
        let file = location.map_or("", |location| location.file.as_str());
        let file_index =
            files.iter().position(|known_file| known_file == file).unwrap_or_else(|| {
                files.push(file.to_owned());
                files.len() - 1
            });
        let span_start =
            location.and_then(|location| location.span.as_ref()).map_or(0, |span| span.start);
        order_keys.push((file_index, span_start, order_keys.len()));
    }
    order_keys.sort_unstable();
    let mut open_slots: Vec<Option<Diagnostic>> = diagnostics.drain(..).map(Some).collect();
    order_keys.into_iter().filter_map(|(_, _, position)| open_slots[position].take()).collect()
}

/// One step down a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathStep {
    /// Into the value of a table's key.
    Key(String),
    /// Into an element of an array, counted from 0.
    Index(usize),
}

impl From<&str> for PathStep {
    fn from(key: &str) -> Self {
        PathStep::Key(key.to_owned())
    }
}

impl From<&String> for PathStep {
    fn from(key: &String) -> Self {
        PathStep::Key(key.clone())
    }
}

impl From<usize> for PathStep {
    fn from(index: usize) -> Self {
        PathStep::Index(index)
    }
}

/// A place in a file that has been read: the document and the path to a value. Values made by a
/// program have no document.
#[derive(Debug, Clone)]
pub struct Origin {
    document: Option<Arc<Document>>,
    path: Vec<PathStep>,
    /// Where values stand, where that is known without the document's tree: by the way to them from
    /// here.
    known: Vec<(Vec<PathStep>, Position)>,
}

impl Origin {
    /// The whole of a document.
    pub fn of(document: &Arc<Document>) -> Self {
        Self { document: Some(Arc::clone(document)), path: Vec::new(), known: Vec::new() }
    }

    /// The origin of a value that came out of no file.
    pub fn none() -> Self {
        Self { document: None, path: Vec::new(), known: Vec::new() }
    }

    /// The place of a member or element.
    pub fn at(&self, step: impl Into<PathStep>) -> Self {
        let step = step.into();
        let known = self.known.iter().filter_map(|(path, position)| {
            let (first, behind) = path.split_first()?;
            (*first == step).then(|| (behind.to_vec(), *position))
        });
        let known = known.collect();
        let mut path = self.path.clone();
        path.push(step);
        Self { document: self.document.clone(), path, known }
    }

    /// The file as the user would name it; empty where there is none.
    pub fn file(&self) -> &str {
        self.document.as_ref().map_or("", |document| &document.file)
    }

    /// The file that it was read from; none where it comes of none.
    pub fn document(&self) -> Option<&Arc<Document>> {
        self.document.as_ref()
    }

    /// The node at this place, or the deepest one on the way that exists (for a key that is
    /// missing: its table).
    fn node<'a>(&self, document: &'a Document) -> (&'a Node, Option<&'a TableEntry>) {
        let mut node = document.root();
        let mut entry = None;
        for step in &self.path {
            let next_node = match step {
                PathStep::Key(key) => {
                    node.entry(key).map(|entry_found| (&entry_found.node, Some(entry_found)))
                }
                PathStep::Index(index) => {
                    node.elements().get(*index).map(|element| (element, None))
                }
            };
            let Some((node_below, entry_found)) = next_node else { break };
            (node, entry) = (node_below, entry_found);
        }
        (node, entry)
    }

    /// The value at this place; none where there is none.
    pub fn value(&self) -> Option<&Node> {
        self.value_in(self.document.as_ref()?.root())
    }

    fn value_in<'n>(&self, root: &'n Node) -> Option<&'n Node> {
        let mut node = root;
        for step in &self.path {
            node = match step {
                PathStep::Key(key) => &node.entry(key)?.node,
                PathStep::Index(index) => node.elements().get(*index)?,
            };
        }
        Some(node)
    }

    /// Bytes of the value at this place; none where there is no value.
    pub fn span(&self) -> Option<IndexRange> {
        self.value().map(|node| node.span)
    }

    /// Line and column of the value at this place; none where there is no value.
    pub fn position(&self) -> Option<Position> {
        if let Some((_, position)) = self.known.iter().find(|(path, _)| path.is_empty()) {
            return Some(*position);
        }
        let document = self.document.as_ref()?;
        let start = document.with_root(|root| Some(self.value_in(root)?.span.start))?;
        Some(document.lines().position(&document.text, start))
    }

    /// A diagnostic at the value of this place.
    pub fn error(&self, kind: &'static str, message: impl Into<String>) -> Diagnostic {
        let Some(document) = &self.document else { return Diagnostic::new(kind, message) };
        let span = first_line(&document.text, self.node(document).0.span);
        document.error_at(kind, message, span)
    }

    /// A diagnostic at the key of this place.
    pub fn key_error(&self, kind: &'static str, message: impl Into<String>) -> Diagnostic {
        let Some(document) = &self.document else { return Diagnostic::new(kind, message) };
        match self.node(document).1 {
            Some(entry) => document.error_at(kind, message, entry.key_span),
            None => self.error(kind, message),
        }
    }
}

/// Documents without their trees, each made once.
#[derive(Debug, Default)]
pub(crate) struct TreelessDocuments {
    /// By the address of the one with a tree, which is kept until all are made.
    made: HashMap<usize, (Arc<Document>, Arc<Document>)>,
}

impl TreelessDocuments {
    /// Lets an origin lead to the document without its tree. Where its value and these members of it stand
    /// stays known.
    pub(crate) fn replace_in(&mut self, origin: &mut Origin, members: &[&str]) {
        let own_position = origin.position().map(|position| (Vec::new(), position));
        let of_member =
            |member: &&str| Some((vec![PathStep::from(*member)], origin.at(*member).position()?));
        origin.known =
            own_position.into_iter().chain(members.iter().filter_map(of_member)).collect();
        if let Some(document) = &mut origin.document {
            let (_, without_tree) = self
                .made
                .entry(Arc::as_ptr(document).addr())
                .or_insert_with(|| (Arc::clone(document), Arc::new(document.without_tree())));
            *document = Arc::clone(without_tree);
        }
    }
}

/// A value with the place it was read from.
#[derive(Debug, Clone)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was read.
    pub origin: Origin,
}

impl<T> std::ops::Deref for Located<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}
