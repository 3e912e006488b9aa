//! Which kernels the code that requirements name is part of, and which of it tests judge.
//!
//! Knows: files and functions of kernels as evidence holds them, and which kernels each test judges.
//! Promises: a link to a function leads to the kernels that reach it; a link to a file, or to a name in it that is no function, to
//! those that reach a function of the file, or include it where it has none. A function that no kernel reaches leads to none.
//! Does not cover: files that no kernel is made of, such as code of the host: nothing is said of links to them.

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
        let judged: BTreeSet<&KernelName> =
            tests.into_iter().filter_map(|test| self.judged.get(test)).flatten().collect();
        let links = row.code.iter().filter(|code| code.found);
        let links = links.map(|code| CodeLink { file: code.file.clone(), symbol: code.symbol.clone() });
        links.filter(|link| self.kernels_of(link).is_some_and(|kernels| kernels.is_disjoint(&judged))).collect()
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
    fn of(row: &KernelEvidence) -> Self {
        let texts = row.structure.files.iter().map(|file| file.path.clone());
        let reached = reached_functions(row);
        let (functions, reached) = (all_functions(row).into_iter(), reached.into_iter().collect::<BTreeSet<_>>());
        Self {
            kernel: row.kernel.clone(),
            files: texts.chain([row.source.clone()]).collect(),
            functions: functions.chain(reached.iter().cloned()).collect(),
            reached,
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

/// Of a module without source: its entry point, and every other function that its branches stand in.
fn module_functions(row: &KernelEvidence) -> Vec<CodeFunction> {
    let plain = |name: &str| name.split('(').next().unwrap_or(name).to_owned();
    let branches = row.objects.structure.branches.iter();
    let named = branches.filter_map(|branch| branch.place.function.as_deref()).map(plain);
    let names: BTreeSet<String> = named.chain([row.configuration.entry.clone()]).collect();
    names.into_iter().map(|name| CodeFunction { file: row.source.clone(), name }).collect()
}
