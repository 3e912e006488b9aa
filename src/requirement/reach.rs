//! Which kernels the code that requirements name is part of, and which of it tests judge.
//!
//! Knows: files and functions of kernels as evidence holds them, and which kernels each test
//! judges.
//! Promises: a link to a function leads to the kernels that reach it; a link to a file, or to a
//! name in it that is no function, to those that reach a function of the file, or include it where
//! it has none; of these, to those that the link names, where it names any. A function that no
//! kernel reaches leads to none; one whose entries are measured is judged only by a test that
//! entered it. Of the kernels that a link leads to each is judged or named, with whether its text
//! is that of a judged one.
//! Does not cover: files that no kernel is made of, such as code of the host: nothing is said of
//! links to them.

use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::coverage::Status;
use vkcert_model::evidence::{KernelEvidence, KernelText, RequirementEvidence, UntestedKernel};
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::requirement::CodeLink;

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeFunction {
    pub file: String,
    pub name: String,
}

/// What one kernel is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KernelCode {
    kernel: KernelName,
    files: BTreeSet<String>,
    functions: BTreeSet<CodeFunction>,
    reached: BTreeSet<CodeFunction>,
    /// Tests that entered a function, where that is measured.
    entered: BTreeMap<CodeFunction, BTreeSet<TestId>>,
    texts: CodeTexts,
}

/// What distinguishes the text of a kernel's code from that of another kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CodeTexts {
    Source {
        functions: BTreeMap<CodeFunction, BTreeSet<String>>,
        files: BTreeMap<String, String>,
        /// What keeps the text from being divided into functions, with its place.
        unread: Option<String>,
    },
    /// SHA-256 of a module without source.
    Module(String),
}

/// A piece of a kernel's text: a function by name, or what stands in a file, with its digest.
type TextPart<'a> = (&'a str, &'a str);

/// Code that a requirement names and that its tests do not judge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UntestedCode {
    /// Links of which no test judges anything.
    pub links: Vec<CodeLink>,
    /// Of the others the kernels in which no test judges it.
    pub kernels: Vec<UntestedKernel>,
}

/// The code of kernels, and which of them tests judge.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestedCode {
    kernels: Vec<KernelCode>,
    judged: BTreeMap<TestId, BTreeSet<KernelName>>,
}

impl TestedCode {
    pub fn new(kernels: &[KernelEvidence], judged: BTreeMap<TestId, BTreeSet<KernelName>>) -> Self {
        Self { kernels: kernels.iter().map(KernelCode::of).collect(), judged }
    }

    /// Code that a requirement names and that none of these tests judges, in any kernel or in some.
    pub fn untested<'a>(
        &self,
        row: &RequirementEvidence,
        tests: impl IntoIterator<Item = &'a TestId>,
    ) -> UntestedCode {
        let tests: BTreeSet<&TestId> = tests.into_iter().collect();
        let mut untested = UntestedCode::default();
        for code in row.code.iter().filter(|code| code.found) {
            let link = code.link();
            let Some(kernels) = self.kernels_of(&link) else { continue };
            let (tested, others): (BTreeSet<&KernelName>, BTreeSet<&KernelName>) =
                kernels.into_iter().partition(|kernel| self.is_tested(&link, kernel, &tests));
            if tested.is_empty() {
                untested.links.push(link);
                continue;
            }
            let shown = self.parts(&link, |kernel| tested.contains(kernel));
            for kernel in self.in_order(&others) {
                let is_same = self.parts(&link, |one| one == kernel).is_subset(&shown);
                let unread = self.unread(|one| one == kernel || tested.contains(one));
                let (text, unread) = match (is_same, unread) {
                    (true, _) => (KernelText::Same, None),
                    (false, None) => (KernelText::Other, None),
                    (false, Some(place)) => (KernelText::Unread, Some(place.to_owned())),
                };
                let (file, symbol, kernel) =
                    (link.file.clone(), link.symbol.clone(), kernel.clone());
                untested.kernels.push(UntestedKernel { file, symbol, kernel, text, unread });
            }
        }
        untested
    }

    fn is_tested(&self, link: &CodeLink, kernel: &KernelName, tests: &BTreeSet<&TestId>) -> bool {
        let judges = |test: &TestId| self.judged.get(test).is_some_and(|row| row.contains(kernel));
        let rows = self.kernels.iter().filter(|code| code.kernel == *kernel);
        rows.into_iter()
            .any(|code| tests.iter().any(|test| judges(test) && code.is_entered(link, test)))
    }

    /// Names of kernels in project order, each once.
    fn in_order<'a>(&'a self, wanted: &BTreeSet<&KernelName>) -> Vec<&'a KernelName> {
        let mut names: Vec<&KernelName> = Vec::new();
        for code in self.kernels.iter().filter(|code| wanted.contains(&code.kernel)) {
            if !names.contains(&&code.kernel) {
                names.push(&code.kernel);
            }
        }
        names
    }

    /// The pieces of text that a link is about in these kernels.
    fn parts(&self, link: &CodeLink, of: impl Fn(&KernelName) -> bool) -> BTreeSet<TextPart<'_>> {
        self.kernels
            .iter()
            .filter(|code| of(&code.kernel))
            .flat_map(|code| code.parts(link))
            .collect()
    }

    /// What could not be read of the text of one of these kernels.
    fn unread(&self, of: impl Fn(&KernelName) -> bool) -> Option<&str> {
        self.kernels.iter().filter(|code| of(&code.kernel)).find_map(|code| match &code.texts {
            CodeTexts::Source { unread, .. } => unread.as_deref(),
            CodeTexts::Module(_) => None,
        })
    }

    /// The kernels that a link leads to; none where no kernel is made of its file.
    fn kernels_of(&self, link: &CodeLink) -> Option<BTreeSet<&KernelName>> {
        let including: Vec<&KernelCode> =
            self.kernels.iter().filter(|code| code.files.contains(&link.file)).collect();
        if including.is_empty() {
            return None;
        }
        let is_linked = |function: &CodeFunction| is_linked_function(link, function);
        let is_in_file = |function: &CodeFunction| function.file == link.file;
        let mut kernels = if any_has_function(&including, is_linked) {
            kernels_reaching(&including, is_linked)
        } else if any_has_function(&including, is_in_file) {
            kernels_reaching(&including, is_in_file)
        } else {
            including.iter().map(|code| &code.kernel).collect()
        };
        kernels.retain(|kernel| link.kernels.is_empty() || link.kernels.contains(kernel));
        Some(kernels)
    }
}

/// Whether a link is about a function: by its name, or as one of the file.
fn is_linked_function(link: &CodeLink, function: &CodeFunction) -> bool {
    function.file == link.file && link.symbol.as_ref().is_none_or(|symbol| *symbol == function.name)
}

fn any_has_function(codes: &[&KernelCode], is_meant: impl Fn(&CodeFunction) -> bool) -> bool {
    codes.iter().any(|code| code.functions.iter().any(&is_meant))
}

fn kernels_reaching<'a>(
    codes: &[&'a KernelCode],
    is_meant: impl Fn(&CodeFunction) -> bool,
) -> BTreeSet<&'a KernelName> {
    let reaching = codes.iter().filter(|code| code.reached.iter().any(&is_meant));
    reaching.map(|code| &code.kernel).collect()
}

impl KernelCode {
    /// Whether a test entered the function that a link names; true where it names none, or one whose
    /// entries are not measured.
    fn is_entered(&self, link: &CodeLink, test: &TestId) -> bool {
        let Some(symbol) = &link.symbol else { return true };
        let named =
            |function: &&CodeFunction| function.file == link.file && function.name == *symbol;
        let mut entries = self.entered.iter().filter(|(function, _)| named(function)).peekable();
        entries.peek().is_none() || entries.any(|(_, tests)| tests.contains(test))
    }

    /// The pieces of its text that a link is about: the functions of that name; of a link that
    /// names none, those of the file that are reached, and what else stands in it.
    fn parts(&self, link: &CodeLink) -> Vec<TextPart<'_>> {
        let (functions, files) = match &self.texts {
            CodeTexts::Module(code) => return vec![("", code)],
            CodeTexts::Source { functions, files, unread: _ } => (functions, files),
        };
        let names = |function: &CodeFunction| link.symbol.as_ref() == Some(&function.name);
        let of_file = || functions.iter().filter(|(function, _)| function.file == link.file);
        let named = of_file().any(|(function, _)| names(function));
        let mut parts = Vec::new();
        for (function, digests) in of_file() {
            if names(function) || (!named && self.reached.contains(function)) {
                parts
                    .extend(digests.iter().map(|digest| (function.name.as_str(), digest.as_str())));
            }
        }
        if !named {
            parts.extend(files.get(&link.file).map(|digest| ("", digest.as_str())));
        }
        parts
    }

    fn of(row: &KernelEvidence) -> Self {
        let paths = row.structure.files.iter().map(|file| file.path.clone());
        let reached = reached_functions(row);
        let (functions, reached) =
            (all_functions(row).into_iter(), reached.into_iter().collect::<BTreeSet<_>>());
        Self {
            kernel: row.kernel.clone(),
            files: paths.chain([row.source.clone()]).collect(),
            functions: functions.chain(reached.iter().cloned()).collect(),
            reached,
            entered: entered_functions(row),
            texts: texts_of(row),
        }
    }
}

fn texts_of(row: &KernelEvidence) -> CodeTexts {
    if row.structure.functions.is_empty() {
        return CodeTexts::Module(row.modules.code.clone());
    }
    let texts = &row.structure.texts;
    let mut functions: BTreeMap<CodeFunction, BTreeSet<String>> = BTreeMap::new();
    for (function, digest) in row.structure.functions.iter().zip(&texts.functions) {
        functions.entry(placed(row, function)).or_default().insert(digest.clone());
    }
    CodeTexts::Source { functions, files: texts.files.clone(), unread: texts.unread.clone() }
}

fn all_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    row.structure.functions.iter().map(|function| placed(row, function)).collect()
}

fn placed(row: &KernelEvidence, function: &vkcert_model::structure::Function) -> CodeFunction {
    let file = row.structure.files.get(function.span.file.0 as usize);
    let file = file.map_or_else(|| row.source.clone(), |file| file.path.clone());
    CodeFunction { file, name: function.name.clone() }
}

/// The functions that a kernel's entry point reaches, in source order.
pub fn reached_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    let structure = &row.structure;
    if structure.functions.is_empty() {
        return module_functions(row);
    }
    let points: BTreeSet<&ObligationId> =
        row.coverage.points.iter().map(|point| &point.id).collect();
    let reached = structure.functions.iter().filter(|function| {
        function.name == structure.entry
            || points.contains(&ObligationId(format!("{}.entry", function.id)))
    });
    reached.map(|function| placed(row, function)).collect()
}

/// The tests that count and entered a function, by function; those of which that could not be
/// measured are left out.
fn entered_functions(row: &KernelEvidence) -> BTreeMap<CodeFunction, BTreeSet<TestId>> {
    let mut entered: BTreeMap<CodeFunction, BTreeSet<TestId>> = BTreeMap::new();
    for function in &row.structure.functions {
        let id = ObligationId(format!("{}.entry", function.id));
        let Some(point) = row.coverage.points.iter().find(|point| point.id == id) else { continue };
        match point.status {
            Status::Covered | Status::Uncovered | Status::Justified => {
                entered
                    .entry(placed(row, function))
                    .or_default()
                    .extend(point.tests.iter().cloned());
            }
            Status::Undetermined => {}
        }
    }
    entered
}

/// Of a module without source: its entry point, and every other function that its branches stand
/// in.
fn module_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_owned();
    let branches = row.objects.structure.branches.iter();
    let named = branches.filter_map(|branch| branch.place.function.as_deref()).map(plain);
    let names: BTreeSet<String> = named.chain([row.configuration.entry.clone()]).collect();
    names.into_iter().map(|name| CodeFunction { file: row.source.clone(), name }).collect()
}
