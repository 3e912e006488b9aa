//! Which kernels the code that requirements name is part of, and which of it tests judge.
//!
//! Knows: files and functions of kernels as evidence holds them, and which kernels each test judges.
//! Promises: a link to a function leads to the kernels that reach it; a link to a file, or to a name in it that is no function, to
//! those that reach a function of the file, or include it where it has none. A function that no kernel reaches leads to none;
//! one whose entries are measured is judged only by a test that entered it.
//! Does not cover: files that no kernel is made of, such as code of the host: nothing is said of links to them.

use crate::model::coverage::Status;
use crate::model::evidence::{KernelEvidence, RequirementEvidence};
use crate::model::id::{KernelName, ObligationId, TestId};
use crate::model::requirement::CodeLink;
use std::collections::{BTreeMap, BTreeSet};

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

    /// Code that a requirement names and that none of these tests judges.
    pub fn untested<'a>(
        &self,
        row: &RequirementEvidence,
        tests: impl IntoIterator<Item = &'a TestId>,
    ) -> Vec<CodeLink> {
        let tests: BTreeSet<&TestId> = tests.into_iter().collect();
        let links = row.code.iter().filter(|code| code.found);
        let links = links.map(|code| CodeLink { file: code.file.clone(), symbol: code.symbol.clone() });
        links.filter(|link| self.is_untested(link, &tests)).collect()
    }

    fn is_untested(&self, link: &CodeLink, tests: &BTreeSet<&TestId>) -> bool {
        let Some(kernels) = self.kernels_of(link) else { return false };
        let judges = |test: &TestId, kernel: &KernelName| self.judged.get(test).is_some_and(|row| row.contains(kernel));
        let tested = |code: &KernelCode| {
            kernels.contains(&code.kernel)
                && tests.iter().any(|test| judges(test, &code.kernel) && code.is_entered(link, test))
        };
        !self.kernels.iter().any(tested)
    }

    /// The kernels that a link leads to; none where no kernel is made of its file.
    fn kernels_of(&self, link: &CodeLink) -> Option<BTreeSet<&KernelName>> {
        let including: Vec<&KernelCode> = self.kernels.iter().filter(|code| code.files.contains(&link.file)).collect();
        if including.is_empty() {
            return None;
        }
        let linked = |function: &&CodeFunction| {
            function.file == link.file && link.symbol.as_ref().is_none_or(|symbol| *symbol == function.name)
        };
        let of_file = |function: &&CodeFunction| function.file == link.file;
        let has = |part: &dyn Fn(&&CodeFunction) -> bool| {
            including.iter().any(|code| code.functions.iter().any(|function| part(&function)))
        };
        let reaching = |part: &dyn Fn(&&CodeFunction) -> bool| -> BTreeSet<&KernelName> {
            let reaching = including.iter().filter(|code| code.reached.iter().any(|function| part(&function)));
            reaching.map(|code| &code.kernel).collect()
        };
        Some(match (has(&linked), has(&of_file)) {
            (true, _) => reaching(&linked),
            (false, true) => reaching(&of_file),
            (false, false) => including.iter().map(|code| &code.kernel).collect(),
        })
    }
}

impl KernelCode {
    /// Whether a test entered the function that a link names; true where it names none, or none of which that is measured.
    fn is_entered(&self, link: &CodeLink, test: &TestId) -> bool {
        let Some(symbol) = &link.symbol else { return true };
        let named = |function: &&CodeFunction| function.file == link.file && function.name == *symbol;
        let mut entries = self.entered.iter().filter(|(function, _)| named(function)).peekable();
        entries.peek().is_none() || entries.any(|(_, tests)| tests.contains(test))
    }

    fn of(row: &KernelEvidence) -> Self {
        let texts = row.structure.files.iter().map(|file| file.path.clone());
        let reached = reached_functions(row);
        let (functions, reached) = (all_functions(row).into_iter(), reached.into_iter().collect::<BTreeSet<_>>());
        Self {
            kernel: row.kernel.clone(),
            files: texts.chain([row.source.clone()]).collect(),
            functions: functions.chain(reached.iter().cloned()).collect(),
            reached,
            entered: entered_functions(row),
        }
    }
}

fn all_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    row.structure.functions.iter().map(|function| placed(row, function)).collect()
}

fn placed(row: &KernelEvidence, function: &crate::model::structure::Function) -> CodeFunction {
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
    let points: BTreeSet<&ObligationId> = row.coverage.points.iter().map(|point| &point.id).collect();
    let reached = structure.functions.iter().filter(|function| {
        function.name == structure.entry || points.contains(&ObligationId(format!("{}.entry", function.id)))
    });
    reached.map(|function| placed(row, function)).collect()
}

/// The tests that count and entered a function, by function; those of which that could not be measured are left out.
fn entered_functions(row: &KernelEvidence) -> BTreeMap<CodeFunction, BTreeSet<TestId>> {
    let mut entered: BTreeMap<CodeFunction, BTreeSet<TestId>> = BTreeMap::new();
    for function in &row.structure.functions {
        let id = ObligationId(format!("{}.entry", function.id));
        let Some(point) = row.coverage.points.iter().find(|point| point.id == id) else { continue };
        match point.status {
            Status::Covered | Status::Uncovered | Status::Justified => {
                entered.entry(placed(row, function)).or_default().extend(point.tests.iter().cloned());
            }
            Status::Undetermined => {}
        }
    }
    entered
}

/// Of a module without source: its entry point, and every other function that its branches stand in.
fn module_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_owned();
    let branches = row.objects.structure.branches.iter();
    let named = branches.filter_map(|branch| branch.place.function.as_deref()).map(plain);
    let names: BTreeSet<String> = named.chain([row.configuration.entry.clone()]).collect();
    names.into_iter().map(|name| CodeFunction { file: row.source.clone(), name }).collect()
}
