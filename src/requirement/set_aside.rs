//! A project without kernels that do not compile.
//!
//! Knows: where the files of a project name a kernel. Promises: what is left names no kernel that was
//! set aside, but for interfaces that state one as dispatched before, records and acceptances, which are
//! text; a requirement keeps the tests that it loses, so that it stays open.
//! Does not cover: which kernels compile (`campaign`), and what is said of those that do not.

use super::document::Origin;
use super::load::Project;
use super::trace::named_kernels;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::project::ProjectKernel;

/// A kernel that was set aside.
#[derive(Debug, Clone)]
pub struct SetAside {
    /// Its place among the kernels of the project file.
    pub place: usize,
    /// What the project file says of it.
    pub settings: ProjectKernel,
    /// Tests that name it and would have run, in project order.
    pub tests: Vec<TestId>,
}

impl Project {
    /// Takes kernels out of a project that has all of them, with their interfaces and justifications;
    /// tests that name one of them are left out. What the files state besides stays.
    pub fn set_kernels_aside(&mut self, names: &BTreeSet<KernelName>) {
        if names.is_empty() {
            return;
        }
        let mut tests_by_kernel: BTreeMap<KernelName, Vec<TestId>> = BTreeMap::new();
        let all_tests = std::mem::take(&mut self.tests);
        for test in all_tests {
            let named = named_kernels(&test);
            for name in named.intersection(names) {
                tests_by_kernel.entry(*name).or_default().push(test.id);
            }
            match named.is_disjoint(names) {
                true => self.tests.push(test),
                false => self.left_out.push(test),
            }
        }
        let kernels = std::mem::take(&mut self.settings.value.kernels);
        for (place, settings) in kernels.into_iter().enumerate() {
            if names.contains(&settings.name) {
                let tests = tests_by_kernel.remove(&settings.name).unwrap_or_default();
                self.set_aside.push(SetAside { place, settings, tests });
            } else {
                self.settings.value.kernels.push(settings);
            }
        }
        self.interfaces.retain(|interface| !names.contains(&interface.kernel));
        self.justifications.retain(|justification| !names.contains(&justification.kernel));
        let named_files: BTreeSet<&str> = self
            .interfaces
            .iter()
            .flat_map(|interface| interface.pipeline.iter().map(|row| row.file.as_str()))
            .collect();
        self.pipelines.retain(|file, _| named_files.contains(file.as_str()));
    }

    /// Where the project file states the kernel at a place among those that were not set aside.
    pub fn kernel_origin(&self, index: usize) -> Origin {
        // In order of places: each one in front moves those behind it.
        let step_over = |place: usize, row: &SetAside| place + usize::from(row.place <= place);
        self.settings.origin.at("kernel").at(self.set_aside.iter().fold(index, step_over))
    }

    /// Tests that the command line leaves out, in project order.
    pub fn left_out_on_request(&self) -> Vec<TestId> {
        let of_set_aside: BTreeSet<TestId> =
            self.set_aside.iter().flat_map(|row| row.tests.iter().copied()).collect();
        let left_out = self.left_out.iter().map(|test| test.id);
        left_out.filter(|test| !of_set_aside.contains(test)).collect()
    }

    /// Kernels before which one that was set aside is dispatched, as their interfaces state or a test
    /// does, each with the first such one.
    pub fn set_aside_before(&self) -> BTreeMap<KernelName, KernelName> {
        let mut before = BTreeMap::new();
        let set_aside: BTreeSet<KernelName> =
            self.set_aside.iter().map(|row| row.settings.name).collect();
        if set_aside.is_empty() {
            return before;
        }
        for interface in &self.interfaces {
            let mut stated = interface.earlier.iter().map(|earlier| earlier.kernel);
            if let Some(earlier) = stated.find(|name| set_aside.contains(name)) {
                before.entry(interface.kernel).or_insert(earlier);
            }
        }
        for test in &self.left_out {
            let mut earlier = None;
            for dispatch in &test.dispatches {
                if set_aside.contains(&dispatch.kernel) {
                    earlier = earlier.or(Some(dispatch.kernel));
                } else if let Some(earlier) = earlier {
                    before.entry(dispatch.kernel).or_insert(earlier);
                }
            }
        }
        before
    }
}
