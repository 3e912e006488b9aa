//! Which dispatches the project says follow each other, and what they bind alike.
//!
//! Knows: the dispatches of every test in their order, the earlier kernels that interfaces state,
//! kernels with their configurations.
//! Promises: the same before and after tests run. Every dispatch with every later one of its test
//! whose kernel reads what a name, or ranges of a buffer that overlap, may stand for in both.
//! Does not cover: dispatches under specializations that are no configuration: they cover nothing;
//! whether kernels have the bindings that an interface states (`coupling`).

use super::configuration::{Specialization, kernel_for_preparing};
use super::kernel::Kernel;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::prepare::specialize_kernel;
use vkcert_model::access_pair::ReadDescriptor;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Dispatch, Test};
use vkcert_model::requirement::Interface;
use vkcert_requirement::{Located, Project};

/// A kernel under one of its configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConfiguredKernel {
    /// The kernel's name.
    pub(crate) kernel: KernelName,
    /// Place among the configurations of the kernel.
    pub(crate) configuration: usize,
}

/// Bindings of an earlier and of a later kernel that hold one buffer or image.
pub(crate) type SharedBindings = BTreeSet<(ReadDescriptor, ReadDescriptor)>;

/// What the dispatches before those of a kernel share with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DispatchOrder {
    by_later: BTreeMap<ConfiguredKernel, BTreeMap<ConfiguredKernel, SharedBindings>>,
}

/// Dispatches of a test that are alike in what this module looks at.
struct AlikeDispatches<'a> {
    module: ConfiguredKernel,
    bindings: &'a [Binding],
    /// Places among the dispatches of the test.
    first: usize,
    last: usize,
}

impl DispatchOrder {
    /// Of all interfaces and tests of a project, tests that are left out as well.
    pub(crate) fn of_project(project: &Project, kernels: &[Kernel]) -> Self {
        let mut order = Self::default();
        for interface in &project.interfaces {
            order.add_interface(interface, kernels);
        }
        for test in project.tests.iter().chain(&project.left_out) {
            order.add_test(&alike_dispatches(test, kernels));
        }
        order
    }

    /// An interface speaks of every configuration of both kernels.
    fn add_interface(&mut self, interface: &Interface, kernels: &[Kernel]) {
        for stated in &interface.earlier {
            let shared: SharedBindings = stated
                .shared
                .iter()
                .map(|shared| (shared.from.descriptor(), shared.to.descriptor()))
                .collect();
            for later in all_configurations(interface.kernel, kernels) {
                for earlier in all_configurations(stated.kernel, kernels) {
                    self.add(earlier, later, shared.iter().copied());
                }
            }
        }
    }

    fn add_test(&mut self, alike: &[AlikeDispatches<'_>]) {
        for later in alike {
            for earlier in alike.iter().filter(|earlier| earlier.first < later.last) {
                let shared = shared_bindings(earlier.bindings, later.bindings);
                self.add(earlier.module, later.module, shared);
            }
        }
    }

    fn add(
        &mut self,
        earlier: ConfiguredKernel,
        later: ConfiguredKernel,
        shared: impl IntoIterator<Item = (ReadDescriptor, ReadDescriptor)>,
    ) {
        // Without bindings in common, too: both may use device addresses.
        self.by_later.entry(later).or_default().entry(earlier).or_default().extend(shared);
    }

    /// Kernels that are dispatched before a kernel, each with what the two share.
    pub(crate) fn before(
        &self,
        later: ConfiguredKernel,
    ) -> impl Iterator<Item = (ConfiguredKernel, &SharedBindings)> {
        let earlier_kernels = self.by_later.get(&later).into_iter().flatten();
        earlier_kernels.map(|(earlier, shared)| (*earlier, shared))
    }
}

fn all_configurations(
    name: KernelName,
    kernels: &[Kernel],
) -> impl Iterator<Item = ConfiguredKernel> + '_ {
    let named = kernels.iter().filter(move |kernel| kernel.name == name.as_str());
    let places = named.flat_map(|kernel| 0..kernel.configurations.len());
    places.map(move |configuration| ConfiguredKernel { kernel: name, configuration })
}

/// A test may have thousands of dispatches, and few kinds of them.
fn alike_dispatches<'a>(test: &'a Located<Test>, kernels: &[Kernel]) -> Vec<AlikeDispatches<'a>> {
    let mut alike: Vec<AlikeDispatches> = Vec::new();
    for (number, dispatch) in test.dispatches.iter().enumerate() {
        let Some(module) = configured_kernel(test, (number, dispatch), kernels) else { continue };
        let known = alike
            .iter_mut()
            .find(|known| known.module == module && known.bindings == dispatch.bindings);
        match known {
            Some(known) => known.last = number,
            None => alike.push(AlikeDispatches {
                module,
                bindings: &dispatch.bindings,
                first: number,
                last: number,
            }),
        }
    }
    alike
}

/// None where the dispatch runs the kernel under no configuration; faults of a test are told when
/// it is prepared.
fn configured_kernel(
    test: &Located<Test>,
    (number, dispatch): (usize, &Dispatch),
    kernels: &[Kernel],
) -> Option<ConfiguredKernel> {
    let kernel = kernels.iter().find(|kernel| kernel.name == dispatch.kernel.as_str())?;
    let place = test.origin.at("dispatches").at(number);
    let prepared = kernel_for_preparing(kernel);
    let specialization =
        specialize_kernel(&dispatch.kernel, &prepared, &dispatch.specialization, &place).ok()?;
    let configuration = place_of_configuration(kernel, &specialization)?;
    Some(ConfiguredKernel { kernel: dispatch.kernel, configuration })
}

/// Place of the configuration with a specialization among those of the kernel.
pub(crate) fn place_of_configuration(
    kernel: &Kernel,
    specialization: &Specialization,
) -> Option<usize> {
    kernel.configurations.iter().position(|row| row.specialization == *specialization)
}

fn shared_bindings<'a>(
    earlier: &'a [Binding],
    later: &'a [Binding],
) -> impl Iterator<Item = (ReadDescriptor, ReadDescriptor)> + 'a {
    earlier.iter().flat_map(move |written| {
        let same = later.iter().filter(|read| may_be_same_memory(written, read));
        same.map(|read| (descriptor_of(written), descriptor_of(read)))
    })
}

fn descriptor_of(binding: &Binding) -> ReadDescriptor {
    ReadDescriptor { set: binding.set, binding: binding.binding }
}

/// Parts of one image are taken to be the same.
fn may_be_same_memory(written: &Binding, read: &Binding) -> bool {
    let is_same_buffer = written.buffer.is_some() && written.buffer == read.buffer;
    let is_same_image = written.image.is_some() && written.image == read.image;
    is_same_image || is_same_buffer && do_ranges_overlap(written, read)
}

fn do_ranges_overlap(left: &Binding, right: &Binding) -> bool {
    let ends = |binding: &Binding| {
        let start = binding.offset.saturating_add(binding.dynamic_offset.unwrap_or(0));
        (start, binding.range.map_or(u64::MAX, |range| start.saturating_add(range)))
    };
    let ((left_start, left_end), (right_start, right_end)) = (ends(left), ends(right));
    left_start < right_end && right_start < left_end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(name: &str, offset: u64, range: Option<u64>) -> Binding {
        let text = format!(r#"{{"binding":3,"buffer":"{name}","offset":{offset}}}"#);
        Binding { range, ..serde_json::from_str(&text).expect("a binding") }
    }

    #[test]
    fn ranges_of_one_buffer_that_lie_apart_are_not_shared() {
        let first_half = bound("a", 0, Some(64));
        let cases = [
            (bound("a", 64, None), false),
            (bound("a", 63, Some(4)), true),
            (bound("a", 0, None), true),
            (bound("b", 0, None), false),
            (Binding { dynamic_offset: Some(32), ..bound("a", 32, Some(4)) }, false),
        ];
        for (other, is_shared) in cases {
            assert_eq!(may_be_same_memory(&first_half, &other), is_shared, "{other:?}");
            assert_eq!(may_be_same_memory(&other, &first_half), is_shared, "{other:?}");
        }
    }

    #[test]
    fn a_dispatch_shares_with_later_ones_alone() {
        let (input, middle) = ([bound("in", 0, None)], [bound("mid", 0, None)]);
        let kernel = |name: &str| ConfiguredKernel { kernel: name.into(), configuration: 0 };
        let alike = |name: &str, bindings, first, last| AlikeDispatches {
            module: kernel(name),
            bindings,
            first,
            last,
        };
        let mut order = DispatchOrder::default();
        order.add_test(&[
            alike("first", &input, 0, 0),
            alike("again", &middle, 1, 3),
            alike("last", &middle, 4, 4),
        ]);
        let before = |name: &str| -> Vec<(String, usize)> {
            let earlier = order.before(kernel(name));
            earlier.map(|(earlier, shared)| (earlier.kernel.to_string(), shared.len())).collect()
        };
        let row = |name: &str, count| (name.to_owned(), count);
        assert_eq!(before("first"), []);
        // The same dispatch comes three times, and so before itself.
        assert_eq!(before("again"), [row("again", 1), row("first", 0)]);
        assert_eq!(before("last"), [row("again", 1), row("first", 0)]);
    }
}
