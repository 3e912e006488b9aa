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
use vkcert_model::evidence::{
    KernelEvidence, KernelText, RequirementEvidence, SetAsideKernel, UntestedKernel,
};
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::requirement::CodeLink;

/// A function of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeFunction<'e> {
    /// Path of the file, as evidence has it.
    pub file: &'e str,
    /// Name of the function.
    pub name: &'e str,
}

/// What one kernel is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KernelCode<'e> {
    kernel: KernelName,
    files: BTreeSet<&'e str>,
    functions: BTreeSet<CodeFunction<'e>>,
    reached: BTreeSet<CodeFunction<'e>>,
    /// Tests that entered a function, where that is measured.
    entered: BTreeMap<CodeFunction<'e>, BTreeSet<TestId>>,
    texts: CodeTexts<'e>,
}

/// What distinguishes the text of a kernel's code from that of another kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CodeTexts<'e> {
    Source {
        functions: BTreeMap<CodeFunction<'e>, BTreeSet<&'e str>>,
        files: &'e BTreeMap<String, String>,
        /// What keeps the text from being divided into functions, with its place.
        unread: Option<&'e str>,
    },
    /// SHA-256 of a module without source.
    Module(&'e str),
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
pub struct TestedCode<'e> {
    kernels: Vec<KernelCode<'e>>,
    /// Places of the kernels that are made of a file, ascending.
    by_file: BTreeMap<&'e str, Vec<usize>>,
    /// Places of the rows of a kernel, ascending.
    by_name: BTreeMap<KernelName, Vec<usize>>,
    judged: BTreeMap<TestId, BTreeSet<KernelName>>,
    /// Kernels that do not compile: no test judges anything of their files in them.
    set_aside: Vec<SetAsideKernel>,
}

/// What stands in the place of text of a kernel that does not compile.
const NOT_COMPILED: &str = "a kernel that does not compile";

impl<'e> TestedCode<'e> {
    /// From all kernels of the evidence, and the kernels that each test judges.
    pub fn new(
        kernels: &'e [KernelEvidence],
        judged: BTreeMap<TestId, BTreeSet<KernelName>>,
    ) -> Self {
        let kernels: Vec<KernelCode> = kernels.iter().map(KernelCode::from_evidence).collect();
        let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_name: BTreeMap<KernelName, Vec<usize>> = BTreeMap::new();
        for (place, code) in kernels.iter().enumerate() {
            by_name.entry(code.kernel).or_default().push(place);
            for file in &code.files {
                by_file.entry(file).or_default().push(place);
            }
        }
        Self { kernels, by_file, by_name, judged, set_aside: Vec::new() }
    }

    /// The same beside kernels that do not compile.
    pub fn beside(self, set_aside: &[SetAsideKernel]) -> Self {
        Self { set_aside: set_aside.to_vec(), ..self }
    }

    /// Code that a requirement names and that none of these tests judges, in any kernel or in some.
    pub fn untested_code<'a>(
        &self,
        requirement_row: &RequirementEvidence,
        test_ids: impl IntoIterator<Item = &'a TestId>,
    ) -> UntestedCode {
        let test_ids: BTreeSet<&TestId> = test_ids.into_iter().collect();
        let mut untested = UntestedCode::default();
        for code in requirement_row.code.iter().filter(|code| code.found) {
            let link = code.link();
            let broken_kernels = self.set_aside.iter().filter(|row| {
                // Which files a text includes that does not compile is not known for certain: one that
                // the link names has the code.
                link.kernels.contains(&row.kernel)
                    || link.kernels.is_empty() && row.has_file(&link.file)
            });
            let Some(kernels) = self.linked_kernels(&link) else {
                if broken_kernels.count() > 0 {
                    untested.links.push(link);
                }
                continue;
            };
            let (tested, untested_kernels): (BTreeSet<&KernelName>, BTreeSet<&KernelName>) =
                kernels.into_iter().partition(|kernel| self.is_tested(&link, kernel, &test_ids));
            if tested.is_empty() {
                untested.links.push(link);
                continue;
            }
            let judged_parts = self.linked_parts(&link, &tested);
            for kernel in self.kernels_in_order(&untested_kernels) {
                let is_same =
                    self.linked_parts(&link, &BTreeSet::from([kernel])).is_subset(&judged_parts);
                let with_tested = tested.iter().copied().chain([kernel]).collect();
                let unread = self.unread_reason(&with_tested);
                let (text, unread) = match (is_same, unread) {
                    (true, _) => (KernelText::Same, None),
                    (false, None) => (KernelText::Other, None),
                    (false, Some(place)) => (KernelText::Unread, Some(place.to_owned())),
                };
                let (file, symbol, kernel) = (link.file.clone(), link.symbol.clone(), *kernel);
                untested.kernels.push(UntestedKernel { file, symbol, kernel, text, unread });
            }
            untested.kernels.extend(broken_kernels.map(|row| UntestedKernel {
                file: link.file.clone(),
                symbol: link.symbol.clone(),
                kernel: row.kernel,
                text: KernelText::Unread,
                unread: Some(NOT_COMPILED.to_owned()),
            }));
        }
        untested
    }

    fn is_tested(
        &self,
        link: &CodeLink,
        kernel: &KernelName,
        test_ids: &BTreeSet<&TestId>,
    ) -> bool {
        let test_judges =
            |test: &TestId| self.judged.get(test).is_some_and(|row| row.contains(kernel));
        self.codes_of(kernel).any(|code| {
            test_ids.iter().any(|test| test_judges(test) && code.is_entered(link, test))
        })
    }

    /// What a kernel is made of, a row for each of its evidence.
    fn codes_of(&self, kernel: &KernelName) -> impl Iterator<Item = &KernelCode<'e>> {
        self.by_name.get(kernel).into_iter().flatten().map(|place| &self.kernels[*place])
    }

    /// What these kernels are made of, in project order.
    fn codes_in_order(&self, kernels: &BTreeSet<&KernelName>) -> Vec<&KernelCode<'e>> {
        let places = kernels.iter().filter_map(|kernel| self.by_name.get(*kernel)).flatten();
        let places: BTreeSet<usize> = places.copied().collect();
        places.into_iter().map(|place| &self.kernels[place]).collect()
    }

    /// Names of kernels in project order, each once.
    fn kernels_in_order(&self, wanted_kernels: &BTreeSet<&KernelName>) -> Vec<&KernelName> {
        let mut told_kernels = BTreeSet::new();
        let names = self.codes_in_order(wanted_kernels).into_iter().map(|code| &code.kernel);
        names.filter(|kernel| told_kernels.insert(*kernel)).collect()
    }

    /// The pieces of text that a link is about in these kernels.
    fn linked_parts(
        &self,
        link: &CodeLink,
        kernels: &BTreeSet<&KernelName>,
    ) -> BTreeSet<TextPart<'_>> {
        let codes = kernels.iter().flat_map(|kernel| self.codes_of(kernel));
        codes.flat_map(|code| code.linked_parts(link)).collect()
    }

    /// What could not be read of the text of one of these kernels.
    fn unread_reason(&self, kernels: &BTreeSet<&KernelName>) -> Option<&str> {
        self.codes_in_order(kernels).into_iter().find_map(|code| match &code.texts {
            CodeTexts::Source { unread, .. } => *unread,
            CodeTexts::Module(_) => None,
        })
    }

    /// The kernels that a link leads to; none where no kernel is made of its file.
    fn linked_kernels(&self, link: &CodeLink) -> Option<BTreeSet<&KernelName>> {
        let including = self.by_file.get(link.file.as_str())?;
        let including: Vec<&KernelCode> =
            including.iter().map(|place| &self.kernels[*place]).collect();
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
    codes: &[&'a KernelCode<'_>],
    is_meant: impl Fn(&CodeFunction) -> bool,
) -> BTreeSet<&'a KernelName> {
    let reaching = codes.iter().filter(|code| code.reached.iter().any(&is_meant));
    reaching.map(|code| &code.kernel).collect()
}

impl<'e> KernelCode<'e> {
    /// Whether a test entered the function that a link names; true where it names none, or one
    /// whose entries are not measured.
    fn is_entered(&self, link: &CodeLink, test: &TestId) -> bool {
        let Some(symbol) = &link.symbol else { return true };
        let is_named =
            |function: &&CodeFunction| function.file == link.file && function.name == *symbol;
        let mut entries = self.entered.iter().filter(|(function, _)| is_named(function)).peekable();
        entries.peek().is_none() || entries.any(|(_, tests)| tests.contains(test))
    }

    /// The pieces of its text that a link is about: the functions of that name; of a link that
    /// names none, those of the file that are reached, and what else stands in it.
    fn linked_parts(&self, link: &CodeLink) -> Vec<TextPart<'_>> {
        let (functions, files) = match &self.texts {
            CodeTexts::Module(code) => return vec![("", *code)],
            CodeTexts::Source { functions, files, unread: _ } => (functions, files),
        };
        let is_named = |function: &CodeFunction| link.symbol.as_deref() == Some(function.name);
        let functions_of_file =
            || functions.iter().filter(|(function, _)| function.file == link.file);
        let has_named = functions_of_file().any(|(function, _)| is_named(function));
        let mut parts = Vec::new();
        for (function, digests) in functions_of_file() {
            if is_named(function) || (!has_named && self.reached.contains(function)) {
                parts.extend(digests.iter().map(|digest| (function.name, *digest)));
            }
        }
        if !has_named {
            parts.extend(files.get(&link.file).map(|digest| ("", digest.as_str())));
        }
        parts
    }

    fn from_evidence(kernel_evidence: &'e KernelEvidence) -> Self {
        let file_paths = kernel_evidence.structure.files.iter().map(|file| file.path.as_str());
        let reached: BTreeSet<CodeFunction> =
            reached_functions(kernel_evidence).into_iter().collect();
        let functions = all_functions(kernel_evidence).into_iter();
        Self {
            kernel: kernel_evidence.kernel,
            files: file_paths.chain([kernel_evidence.source.as_str()]).collect(),
            functions: functions.chain(reached.iter().copied()).collect(),
            reached,
            entered: entered_functions(kernel_evidence),
            texts: code_texts(kernel_evidence),
        }
    }
}

fn code_texts(kernel_evidence: &KernelEvidence) -> CodeTexts<'_> {
    if kernel_evidence.structure.functions.is_empty() {
        return CodeTexts::Module(&kernel_evidence.modules.code);
    }
    let texts = &kernel_evidence.structure.texts;
    let mut functions: BTreeMap<CodeFunction, BTreeSet<&str>> = BTreeMap::new();
    for (function, digest) in kernel_evidence.structure.functions.iter().zip(&texts.functions) {
        functions
            .entry(located_function(kernel_evidence, function))
            .or_default()
            .insert(digest.as_str());
    }
    CodeTexts::Source { functions, files: &texts.files, unread: texts.unread.as_deref() }
}

fn all_functions(kernel_evidence: &KernelEvidence) -> Vec<CodeFunction<'_>> {
    kernel_evidence
        .structure
        .functions
        .iter()
        .map(|function| located_function(kernel_evidence, function))
        .collect()
}

fn located_function<'e>(
    kernel_evidence: &'e KernelEvidence,
    function: &'e vkcert_model::structure::Function,
) -> CodeFunction<'e> {
    let file = kernel_evidence.structure.files.get(function.span.file.0 as usize);
    let file = file.map_or(kernel_evidence.source.as_str(), |file| file.path.as_str());
    CodeFunction { file, name: &function.name }
}

/// The functions that a kernel's entry point reaches, in source order.
pub fn reached_functions(kernel_evidence: &KernelEvidence) -> Vec<CodeFunction<'_>> {
    let structure = &kernel_evidence.structure;
    if structure.functions.is_empty() {
        return module_functions(kernel_evidence);
    }
    let measured_points: BTreeSet<&ObligationId> =
        kernel_evidence.coverage.points.iter().map(|point| &point.id).collect();
    let reached = structure.functions.iter().filter(|function| {
        function.name == structure.entry
            || measured_points.contains(&ObligationId::from(format!("{}.entry", function.id)))
    });
    reached.map(|function| located_function(kernel_evidence, function)).collect()
}

/// The tests that count and entered a function, by function; those of which that could not be
/// measured are left out.
fn entered_functions(
    kernel_evidence: &KernelEvidence,
) -> BTreeMap<CodeFunction<'_>, BTreeSet<TestId>> {
    let mut entered: BTreeMap<CodeFunction, BTreeSet<TestId>> = BTreeMap::new();
    for function in &kernel_evidence.structure.functions {
        let entry_id = ObligationId::from(format!("{}.entry", function.id));
        let Some(point) = kernel_evidence.coverage.points.iter().find(|point| point.id == entry_id)
        else {
            continue;
        };
        match point.status {
            Status::Covered | Status::Uncovered | Status::Justified => {
                entered
                    .entry(located_function(kernel_evidence, function))
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
fn module_functions(kernel_evidence: &KernelEvidence) -> Vec<CodeFunction<'_>> {
    let branches = kernel_evidence.objects.structure.branches.iter();
    let branch_functions = branches
        .filter_map(|branch| branch.place.function.as_deref())
        .map(|name| name.split('(').next().unwrap_or(name));
    let names: BTreeSet<&str> =
        branch_functions.chain([kernel_evidence.configuration.entry.as_str()]).collect();
    names.into_iter().map(|name| CodeFunction { file: &kernel_evidence.source, name }).collect()
}
