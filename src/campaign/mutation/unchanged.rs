//! Kernels of which nothing has changed since mutants were judged before.
//!
//! Promises: a kernel is one of them only where the earlier evidence has a verdict of every test on every
//! mutant of it, and where program, compiler, settings, the texts of the kernel, its tests, the
//! kernels that these dispatch or judge by and all other files that a run reads are what they were.
//! Does not cover: whether the earlier verdicts are true (`verify --replay`).

use crate::kernel::Kernel;
use crate::test_run::PreparedTest;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use vkcert_derivation::stated::{TOOL, TOOL_VERSION};
use vkcert_model::canonical::sha256_digits;
use vkcert_model::evidence::{
    Evidence, JudgingTests, KernelEvidence, MutationExtent, MutationOrder,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_requirement::hash::{judging_kernels, test_hash};
use vkcert_requirement::{PROJECT_FILE, Project, is_requirement_file};

/// The kernels of which nothing has changed since `baseline` was made, with all their mutants judged.
pub fn unchanged_kernels(
    project: &Project,
    kernels: &[Kernel],
    prepared_tests: &[PreparedTest<'_>],
    baseline: &Evidence,
    order: MutationOrder,
) -> BTreeSet<KernelName> {
    let comparison = Comparison { project, prepared_tests, baseline, order };
    if !comparison.is_of_same_making() || !comparison.has_same_other_files() {
        return BTreeSet::new();
    }
    let same_kernels: BTreeSet<KernelName> = kernels
        .iter()
        .filter(|kernel| comparison.is_same_kernel(kernel))
        .map(|kernel| KernelName::from(&kernel.name))
        .collect();
    let is_unchanged = |name: &KernelName| comparison.has_same_tests(*name, &same_kernels);
    same_kernels.iter().copied().filter(is_unchanged).collect()
}

struct Comparison<'c> {
    project: &'c Project,
    prepared_tests: &'c [PreparedTest<'c>],
    baseline: &'c Evidence,
    /// What is asked for now.
    order: MutationOrder,
}

impl Comparison<'_> {
    /// All mutants were asked for, and the same program and settings judged them.
    fn is_of_same_making(&self) -> bool {
        let campaign = &self.baseline.campaign;
        let whole = MutationExtent { judges: JudgingTests::All, ..MutationExtent::default() };
        let has_all = campaign.mutation.as_ref().is_some_and(|summary| {
            let asked = MutationExtent { order: MutationOrder::First, ..summary.asked.clone() };
            asked == whole && (self.order.is_first() || summary.asked.order == self.order)
        });
        let identity = &campaign.project;
        let settings = &self.project.settings.value;
        has_all
            && (identity.tool.as_str(), identity.tool_version.as_str()) == (TOOL, TOOL_VERSION)
            && identity.compiler == vkcert_glsl::compiler_identity()
            && campaign.left_out.is_empty()
            && campaign.not_looked_for.is_empty()
            && campaign.settings.as_ref().is_some_and(|stored| {
                stored.memory_model == settings.memory_model && stored.limits == settings.limits
            })
    }

    /// Files beside the project file, requirements and texts of kernels: data of tests, headers.
    fn has_same_other_files(&self) -> bool {
        let texts: BTreeSet<&str> = self
            .baseline
            .kernels
            .iter()
            .flat_map(|row| &row.structure.files)
            .map(|file| file.path.as_str())
            .collect();
        let inputs = &self.baseline.manifest.inputs;
        let others = inputs.iter().filter(|(path, _)| {
            path.as_str() != PROJECT_FILE
                && !is_requirement_file(path)
                && !texts.contains(path.as_str())
        });
        others.into_iter().all(|(path, hash)| has_hash(&self.project.root, path, hash))
    }

    fn stored_kernel(&self, name: &str) -> Option<&KernelEvidence> {
        self.baseline.kernels.iter().find(|row| row.kernel.as_str() == name)
    }

    fn is_same_kernel(&self, kernel: &Kernel) -> bool {
        let Some(stored) = self.stored_kernel(&kernel.name) else { return false };
        // Also what is included is another text where another file of its name is found first.
        let has_same_texts =
            kernel.structure().is_some_and(|structure| structure.files == stored.structure.files);
        let row = |settings: &vkcert_model::project::ProjectFile| {
            settings.kernels.iter().find(|row| row.name.as_str() == kernel.name).cloned()
        };
        let stored_row = self.baseline.campaign.settings.as_ref().and_then(row);
        has_same_texts
            && stored.modules.text.is_some()
            && stored.modules.text == kernel.text
            && stored.modules.code == kernel.code_digits()
            && stored_row.is_some()
            && stored_row == row(&self.project.settings.value)
    }

    /// The tests that run a kernel are those that did, and neither run nor judge by a kernel that has changed.
    fn has_same_tests(&self, kernel: KernelName, same_kernels: &BTreeSet<KernelName>) -> bool {
        let is_of_kernel =
            |test: &&PreparedTest| test.kernels.iter().any(|own| own.name == kernel.as_str());
        let own_tests = self.prepared_tests.iter().filter(is_of_kernel);
        let mut hashes: BTreeMap<TestId, String> = BTreeMap::new();
        for test in own_tests {
            let dispatched = test.kernels.iter().map(|own| KernelName::from(&own.name));
            let mut needed = dispatched.chain(judging_kernels(test.test));
            if !needed.all(|name| same_kernels.contains(&name)) {
                return false;
            }
            hashes.insert(test.test.id, test_hash(test.test));
        }
        let stored_tests = self.baseline.campaign.tests.iter();
        let stored: BTreeMap<TestId, String> = stored_tests
            .filter(|test| test.kernels.contains(&kernel))
            .map(|test| (test.id, test.hash.clone()))
            .collect();
        hashes == stored
    }
}

fn has_hash(root: &Path, path: &str, hash: &str) -> bool {
    std::fs::read(root.join(path)).is_ok_and(|bytes| sha256_digits(&bytes) == hash)
}
