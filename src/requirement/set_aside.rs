//! A project without kernels that do not compile.
//!
//! Knows: where the files of a project name a kernel. Promises: what is left names no kernel that was
//! set aside, but for interfaces that state one as dispatched before, records and acceptances, which are
//! text; a requirement keeps the tests that it loses, so that it stays open.
//! Does not cover: which kernels compile (`campaign`), and what is said of those that do not.

use super::document::{Located, Origin};
use super::load::Project;
use super::trace::{kernels_of, named_kernels};
use std::collections::BTreeSet;
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::procedure::Test;
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
    /// Takes kernels out of the project, with their interfaces and justifications; tests that name
    /// one of them are left out. What the files state besides stays.
    pub fn set_kernels_aside(&mut self, names: &BTreeSet<KernelName>) {
        if names.is_empty() {
            return;
        }
        let places: Vec<usize> =
            (0..self.settings.kernels.len()).map(|index| self.kernel_place(index)).collect();
        let kernels = std::mem::take(&mut self.settings.value.kernels);
        for (place, settings) in places.into_iter().zip(kernels) {
            if !names.contains(&settings.name) {
                self.settings.value.kernels.push(settings);
                continue;
            }
            let of_kernel =
                self.tests.iter().filter(|test| named_kernels(test).contains(&settings.name));
            let tests = of_kernel.map(|test| test.id).collect();
            self.set_aside.push(SetAside { place, settings, tests });
        }
        self.set_aside.sort_by_key(|row| row.place);
        let names_one = |test: &mut Located<Test>| !named_kernels(test).is_disjoint(names);
        self.left_out.extend(self.tests.extract_if(.., names_one));
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
        self.settings.origin.at("kernel").at(self.kernel_place(index))
    }

    /// The place in the project file of a kernel that was not set aside.
    fn kernel_place(&self, index: usize) -> usize {
        // In order of places: each one in front moves those behind it.
        self.set_aside.iter().fold(index, |place, row| place + usize::from(row.place <= place))
    }

    /// Tests that the command line leaves out, in project order.
    pub fn left_out_on_request(&self) -> Vec<TestId> {
        let of_set_aside: BTreeSet<TestId> =
            self.set_aside.iter().flat_map(|row| row.tests.iter().copied()).collect();
        let left_out = self.left_out.iter().map(|test| test.id);
        left_out.filter(|test| !of_set_aside.contains(test)).collect()
    }

    /// The first kernel that was set aside and that is dispatched before another one, as its
    /// interface states or a test does.
    pub fn set_aside_before(&self, later: KernelName) -> Option<KernelName> {
        let is_set_aside =
            |name: &KernelName| self.set_aside.iter().any(|row| row.settings.name == *name);
        let own_interfaces = self.interfaces.iter().filter(|interface| interface.kernel == later);
        let mut stated = own_interfaces.flat_map(|interface| &interface.earlier);
        let stated = stated.find_map(|earlier| Some(earlier.kernel).filter(is_set_aside));
        stated.or_else(|| {
            let with_both = self.left_out.iter().filter(|test| kernels_of(test).contains(&later));
            let mut earlier = with_both.flat_map(|test| {
                let names = test.dispatches.iter().map(|dispatch| dispatch.kernel);
                let names: Vec<KernelName> = names.collect();
                let last = names.iter().rposition(|name| *name == later).unwrap_or(0);
                names.into_iter().take(last)
            });
            earlier.find(|name| is_set_aside(name))
        })
    }
}
