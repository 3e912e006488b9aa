//! Reads a project folder.
//!
//! Promises: files are read in the order of their paths; a file that cannot be read does not keep
//! the others from being checked, as far as names in it are not missed elsewhere.

use super::check::{check_include_folders, check_project};
use super::check_headers::is_inside;
use super::check_texts::check_texts_of_file;
use super::document::{
    Document, FileSyntax, Located, Node, Origin, TreelessDocuments, Value, in_place_order,
};
use super::nearest::{did_you_mean, nearest_name};
use super::pipeline::load_pipeline;
use super::set_aside::SetAside;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use vkcert_model::canonical::content_hash;
use vkcert_model::diagnostic::Diagnostic;
use vkcert_model::path::canonical_name;
use vkcert_model::procedure::{SCHEMA, Test};
use vkcert_model::project::{ProjectFile, ProjectLimits};
use vkcert_model::requirement::{
    Interface, Justification, OfflinePipeline, PipelineShader, Requirement, ShaderContents,
    TestReview, VerificationRecord,
};

/// The project file's name.
pub const PROJECT_FILE: &str = "vkcert.toml";
/// The folder that holds requirements, tests, justifications and interfaces.
pub(crate) const REQUIREMENTS_FOLDER: &str = "requirements";

/// A project that has been read and checked.
#[derive(Debug, Clone)]
pub struct Project {
    /// The folder; paths in the project's files are relative to it.
    pub root: PathBuf,
    /// `vkcert.toml`.
    pub settings: Located<ProjectFile>,
    /// In the order of files, then of each file.
    pub requirements: Vec<Located<Requirement>>,
    /// Tests that are to run, in the order of files, then of each file.
    pub tests: Vec<Located<Test>>,
    /// Tests that the command line leaves out, and those of kernels that were set aside; they still say which requirements
    /// they would verify.
    pub left_out: Vec<Located<Test>>,
    /// Kernels that do not compile and that everything else here is without ([`Project::set_kernels_aside`]).
    pub set_aside: Vec<SetAside>,
    /// Records of verification by analysis, in the same order.
    pub analyses: Vec<Located<VerificationRecord>>,
    /// Records of verification by review, in the same order.
    pub reviews: Vec<Located<VerificationRecord>>,
    /// Reviews of tests, in the same order.
    pub test_reviews: Vec<Located<TestReview>>,
    /// Justifications, in the same order.
    pub justifications: Vec<Located<Justification>>,
    /// Interfaces of the host, in the same order.
    pub interfaces: Vec<Located<Interface>>,
    /// Pipelines that interfaces name, by their files.
    pub pipelines: BTreeMap<String, OfflinePipeline>,
    /// `sha256:...` of every file read here, by path relative to the root.
    pub inputs: BTreeMap<String, String>,
}

impl Project {
    /// Gives back the trees of the requirement files, most of what a project takes in memory. Who asks for
    /// one later, to tell of something wrong in a file, has it made again.
    fn give_trees_back(&mut self) {
        let mut documents = TreelessDocuments::default();
        let Self {
            root: _,
            // One file, whose places are asked for kernel by kernel.
            settings: _,
            requirements,
            tests,
            left_out,
            set_aside: _,
            analyses,
            reviews,
            test_reviews,
            justifications,
            interfaces,
            pipelines: _,
            inputs: _,
        } = self;
        let mut replace = |origin: &mut Origin| documents.replace_in(origin, &[]);
        requirements.iter_mut().for_each(|row| replace(&mut row.origin));
        tests.iter_mut().chain(left_out).for_each(|row| replace(&mut row.origin));
        analyses.iter_mut().chain(reviews).for_each(|row| replace(&mut row.origin));
        test_reviews.iter_mut().for_each(|row| replace(&mut row.origin));
        justifications.iter_mut().for_each(|row| replace(&mut row.origin));
        // Coverage of boundary values is placed by the kernel that an interface is of.
        interfaces.iter_mut().for_each(|row| documents.replace_in(&mut row.origin, &["kernel"]));
        rayon::spawn(move || drop(documents));
    }

    /// The file that something was read from, relative to the root, `/` as separator.
    pub fn relative_file<T>(&self, located_item: &Located<T>) -> String {
        let shown_file = Path::new(located_item.origin.file());
        let relative_path =
            shown_file.strip_prefix(shown_path(&self.root, "")).unwrap_or(shown_file);
        relative_path
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }
}

/// Reads and checks the project in `root`.
pub fn load_project(root: &Path) -> Result<Project, Vec<Diagnostic>> {
    read_project_with(root, &BTreeMap::new(), ProjectState::Present)
}

/// As [`load_project`], of the inputs that evidence stores: an include folder from which no file
/// was read is not among them, and texts stay readable that later versions refuse.
pub fn load_stored_project(root: &Path) -> Result<Project, Vec<Diagnostic>> {
    read_project_with(root, &BTreeMap::new(), ProjectState::Stored)
}

/// As [`load_project`], with these texts, by path relative to the root, in place of what files hold,
/// and of files that are not there.
pub fn load_project_with(
    root: &Path,
    texts: &BTreeMap<String, String>,
) -> Result<Project, Vec<Diagnostic>> {
    read_project_with(root, texts, ProjectState::Present)
}

/// Where a project's files come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProjectState {
    /// They are as somebody works on them.
    Present,
    /// Evidence of a run holds them.
    Stored,
}

impl ProjectState {
    fn check_texts(self, document: &Arc<Document>, limits: &ProjectLimits) -> Vec<Diagnostic> {
        match self {
            ProjectState::Present => check_texts_of_file(document, limits),
            ProjectState::Stored => Vec::new(),
        }
    }
}

fn read_project_with(
    root: &Path,
    texts: &BTreeMap<String, String>,
    state: ProjectState,
) -> Result<Project, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mut inputs = BTreeMap::new();
    let settings = load_settings(root, &mut inputs).unwrap_or_else(|diagnostics| {
        problems.extend(diagnostics);
        None
    });
    let limits = settings.as_ref().map(|settings| settings.limits).unwrap_or_default();
    if let Some(document) = settings.as_ref().and_then(|settings| settings.origin.document()) {
        problems.extend(state.check_texts(document, &limits));
    }
    let mut items = ProjectItems::default();
    match requirement_files(root) {
        Ok(mut files) => {
            files.extend(texts.keys().cloned());
            files.sort();
            files.dedup();
            let documents = files.par_iter().map(|relative| {
                let document = match texts.get(relative) {
                    Some(text) => {
                        Document::parse(shown_path(root, relative), text, FileSyntax::Toml)
                    }
                    None => Document::load(&root.join(relative), shown_path(root, relative)),
                }?;
                let mut problems = state.check_texts(&document, &limits);
                let mut items = ProjectItems::default();
                items.read_document(&document, &mut problems);
                Ok(ReadDocument { document, items, problems })
            });
            let documents: Vec<Result<_, Vec<Diagnostic>>> = documents.collect();
            for (relative, document) in files.into_iter().zip(documents) {
                match document {
                    Ok(read) => {
                        if !texts.contains_key(&relative) {
                            inputs.insert(relative, content_hash(read.document.text.as_bytes()));
                        }
                        problems.extend(read.problems);
                        items.append(read.items);
                    }
                    Err(diagnostics) => problems.extend(diagnostics),
                }
            }
        }
        Err(diagnostic) => problems.push(diagnostic),
    }
    let Some(settings) = settings else { return Err(in_place_order(problems)) };
    let ProjectItems {
        mut requirements,
        tests,
        analyses,
        reviews,
        test_reviews,
        justifications,
        interfaces,
    } = items;
    for link in requirements.iter_mut().flat_map(|requirement| &mut requirement.value.implements) {
        link.file = canonical_name(&link.file);
    }
    let pipelines = load_pipelines(root, &interfaces, &mut inputs, &mut problems);
    let (root, left_out) = (root.to_owned(), Vec::new());
    let mut project = Project {
        root,
        settings,
        requirements,
        tests,
        left_out,
        set_aside: Vec::new(),
        analyses,
        reviews,
        test_reviews,
        justifications,
        interfaces,
        pipelines,
        inputs,
    };
    // Checks of one table by itself hold in any case; that a name is unknown is certain only if
    // every file was read.
    let every_file_read = problems.is_empty();
    match state {
        ProjectState::Present => problems.extend(check_include_folders(&project)),
        ProjectState::Stored => {}
    }
    problems.extend(
        check_project(&project)
            .into_iter()
            .filter(|problem| every_file_read || !problem.kind.starts_with("unknown-")),
    );
    if !problems.is_empty() {
        return Err(in_place_order(problems));
    }
    project.give_trees_back();
    Ok(project)
}

type InputHashes = BTreeMap<String, String>;

fn load_document(
    root: &Path,
    relative: &str,
    inputs: &mut InputHashes,
) -> Result<Arc<Document>, Vec<Diagnostic>> {
    let document = Document::load(&root.join(relative), shown_path(root, relative))?;
    inputs.insert(relative.to_owned(), content_hash(document.text.as_bytes()));
    Ok(document)
}

/// Reads the pipelines that interfaces name, each file once.
fn load_pipelines(
    root: &Path,
    interfaces: &[Located<Interface>],
    inputs: &mut InputHashes,
    problems: &mut Vec<Diagnostic>,
) -> BTreeMap<String, OfflinePipeline> {
    let mut pipelines = BTreeMap::new();
    for interface in interfaces {
        let mut own_files = BTreeSet::new();
        for (index, pipeline) in interface.pipeline.iter().enumerate() {
            let file = &pipeline.file;
            let place = interface.origin.at("pipeline").at(index).at("file");
            if !own_files.insert(canonical_name(file)) {
                let message = format!("the pipeline `{file}` is named twice");
                problems.push(place.error("duplicate-id", message));
            } else if !is_inside(file) {
                let message = format!("`{file}` is no file of the project");
                problems.push(place.error("bad-value", message));
            } else if !pipelines.contains_key(file) {
                match load_pipeline(root, file, shown_path(root, file)) {
                    Ok(read) => {
                        inputs.insert(file.clone(), content_hash(read.document.text.as_bytes()));
                        if let PipelineShader::Named(_, ShaderContents::Read(path, bytes)) =
                            &read.pipeline.shader
                        {
                            inputs.insert(path.clone(), content_hash(bytes));
                        }
                        pipelines.insert(file.clone(), read.pipeline);
                    }
                    Err(diagnostics) => problems.extend(diagnostics),
                }
            }
        }
    }
    pipelines
}

/// A path as the user would name it: without `./` for the current folder.
fn shown_path(root: &Path, relative: &str) -> String {
    let root: PathBuf =
        root.components().filter(|part| *part != std::path::Component::CurDir).collect();
    if relative.is_empty() {
        root.display().to_string()
    } else {
        root.join(relative).display().to_string()
    }
}

fn load_settings(
    root: &Path,
    inputs: &mut InputHashes,
) -> Result<Option<Located<ProjectFile>>, Vec<Diagnostic>> {
    let shown_file = shown_path(root, PROJECT_FILE);
    if !root.join(PROJECT_FILE).is_file() {
        let problem = Diagnostic::new("missing-file", format!("there is no project file `{shown_file}`"))
            .in_file(shown_file)
            .hint("`vkcert init DIR` makes a new project; or name the project's folder on the command line");
        return Err(vec![problem]);
    }
    let document = load_document(root, PROJECT_FILE, inputs)?;
    let origin = Origin::of(&document);
    if matches!(&document.root().value, Value::Table(entries) if entries.is_empty()) {
        let problem = origin
            .error("empty-file", format!("the project file `{shown_file}` is empty"))
            .hint("it needs at least `schema = 1`, `name`, `level` and one `[[kernel]]`");
        return Err(vec![problem]);
    }
    check_schema(&origin, &document).map_err(|problem| vec![problem])?;
    let mut settings: ProjectFile = origin.read()?;
    for kernel in &mut settings.kernels {
        kernel.source = canonical_name(&kernel.source);
    }
    Ok(Some(Located { value: settings, origin }))
}

/// The version is looked at before anything else: a file of another version has other keys.
pub(crate) fn check_schema(origin: &Origin, document: &Document) -> Result<(), Diagnostic> {
    match document.root().entry("schema").map(|entry| &entry.node.value) {
        Some(Value::Integer(format_version)) if *format_version == i128::from(SCHEMA) => Ok(()),
        Some(Value::Integer(format_version)) => Err(origin
            .at("schema")
            .error("schema", format!("version {format_version} of this format is not known"))
            .hint(format!("this program reads version {SCHEMA}"))),
        Some(_) => Err(origin
            .at("schema")
            .error("schema", "the version of the format is a number")
            .hint("schema = 1")),
        None => Err(missing_schema(origin, document)),
    }
}

fn missing_schema(origin: &Origin, document: &Document) -> Diagnostic {
    let mut keys = Vec::new();
    if let Value::Table(entries) = &document.root().value {
        keys.extend(entries.iter().map(|entry| entry.key.as_str()));
    }
    match nearest_name("schema", keys) {
        Some(key) => {
            let message = format!("the key `{key}` is not known here");
            origin.at(key).key_error("unknown-key", message).hint("did you mean `schema`?")
        }
        None => origin
            .error("missing-key", "the key `schema` is missing")
            .hint(format!("write the version of the format at the top: schema = {SCHEMA}")),
    }
}

/// Whether a path of a project, `/` as separator, is one that is read for requirements.
pub fn is_requirement_file(path: &str) -> bool {
    let is_below_folder = path
        .strip_prefix(REQUIREMENTS_FOLDER)
        .is_some_and(|path_below| path_below.starts_with('/'));
    is_below_folder && Path::new(path).extension().is_some_and(|extension| extension == "toml")
}

/// The TOML files under `requirements/`, sorted by path.
pub fn requirement_files(root: &Path) -> Result<Vec<String>, Diagnostic> {
    let folder = root.join(REQUIREMENTS_FOLDER);
    let shown_folder = shown_path(root, REQUIREMENTS_FOLDER);
    if !folder.is_dir() {
        return Err(Diagnostic::new("missing-file", format!("there is no folder `{shown_folder}`"))
            .in_file(shown_folder)
            .hint("requirements, tests and interfaces stand in TOML files in it; `vkcert init DIR` makes a project that has one"));
    }
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(&folder).follow_links(true) {
        let entry = entry.map_err(|error| {
            Diagnostic::new(
                "missing-file",
                format!("cannot read the folder `{shown_folder}`: {error}"),
            )
            .in_file(&shown_folder)
        })?;
        let relative = entry.path().strip_prefix(root).expect("the walk stays below the root");
        if entry.file_type().is_file()
            && relative.extension().is_some_and(|extension| extension == "toml")
        {
            let path_parts: Vec<_> =
                relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
            files.push(path_parts.join("/"));
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Diagnostic::new(
            "missing-file",
            format!("the folder `{shown_folder}` holds no .toml file"),
        )
        .in_file(shown_folder)
        .hint("`vkcert schema requirements` prints the form of these files"));
    }
    Ok(files)
}

#[derive(Default)]
struct ProjectItems {
    requirements: Vec<Located<Requirement>>,
    tests: Vec<Located<Test>>,
    analyses: Vec<Located<VerificationRecord>>,
    reviews: Vec<Located<VerificationRecord>>,
    test_reviews: Vec<Located<TestReview>>,
    justifications: Vec<Located<Justification>>,
    interfaces: Vec<Located<Interface>>,
}

/// A file of requirements, what it holds and what is wrong with it.
struct ReadDocument {
    document: Arc<Document>,
    items: ProjectItems,
    problems: Vec<Diagnostic>,
}

/// The keys at the top of a requirements file.
const TOP_LEVEL_KEYS: &[&str] =
    &["schema", "requirement", "test", "analysis", "review", "justification", "interface"];

impl ProjectItems {
    /// Puts what a later file holds behind this.
    fn append(&mut self, later: Self) {
        let Self {
            requirements,
            tests,
            analyses,
            reviews,
            test_reviews,
            justifications,
            interfaces,
        } = later;
        self.requirements.extend(requirements);
        self.tests.extend(tests);
        self.analyses.extend(analyses);
        self.reviews.extend(reviews);
        self.test_reviews.extend(test_reviews);
        self.justifications.extend(justifications);
        self.interfaces.extend(interfaces);
    }

    fn read_document(&mut self, document: &Arc<Document>, problems: &mut Vec<Diagnostic>) {
        let origin = Origin::of(document);
        if let Err(problem) = check_schema(&origin, document) {
            problems.push(problem);
            return;
        }
        if let Value::Table(entries) = &document.root().value {
            for entry in
                entries.iter().filter(|entry| !TOP_LEVEL_KEYS.contains(&entry.key.as_str()))
            {
                let hint = did_you_mean(&entry.key, TOP_LEVEL_KEYS).unwrap_or_else(|| {
                    format!("the keys at the top of this file are {}", TOP_LEVEL_KEYS.join(", "))
                });
                let message = format!("the key `{}` is not known here", entry.key);
                problems.push(origin.at(&entry.key).key_error("unknown-key", message).hint(hint));
            }
        }
        read_tables(document, "requirement", &mut self.requirements, problems);
        read_tables(document, "test", &mut self.tests, problems);
        read_tables(document, "analysis", &mut self.analyses, problems);
        for table in tables_of(document, "review", problems) {
            // A review of tests says of what of them it is.
            match table.node.entry("of") {
                Some(_) => table.read_into(&mut self.test_reviews, problems),
                None => table.read_into(&mut self.reviews, problems),
            }
        }
        read_tables(document, "justification", &mut self.justifications, problems);
        read_tables(document, "interface", &mut self.interfaces, problems);
    }
}

/// Reads each table of an array of tables by itself, so that one bad table does not hide the faults
/// of the next.
fn read_tables<T: DeserializeOwned>(
    document: &Arc<Document>,
    key: &str,
    located_items: &mut Vec<Located<T>>,
    problems: &mut Vec<Diagnostic>,
) {
    for table in tables_of(document, key, problems) {
        table.read_into(located_items, problems);
    }
}

/// A table of an array of tables.
struct PlacedTable<'d> {
    document: &'d Arc<Document>,
    node: &'d Node,
    origin: Origin,
}

impl PlacedTable<'_> {
    fn read_into<T: DeserializeOwned>(
        self,
        located_items: &mut Vec<Located<T>>,
        problems: &mut Vec<Diagnostic>,
    ) {
        match super::document::read_node(self.document, self.node) {
            Ok(value) => located_items.push(Located { value, origin: self.origin }),
            Err(diagnostics) => problems.extend(diagnostics),
        }
    }
}

fn tables_of<'d>(
    document: &'d Arc<Document>,
    key: &str,
    problems: &mut Vec<Diagnostic>,
) -> Vec<PlacedTable<'d>> {
    let origin = Origin::of(document).at(key);
    let Some(entry) = document.root().entry(key) else { return Vec::new() };
    let Value::Array(nodes) = &entry.node.value else {
        let message = format!("`{key}` is an array of tables");
        problems.push(
            origin
                .error("wrong-type", message)
                .hint(format!("write `[[{key}]]` with two brackets")),
        );
        return Vec::new();
    };
    let place = |(index, node)| PlacedTable { document, node, origin: origin.at(index) };
    nodes.iter().enumerate().map(place).collect()
}
