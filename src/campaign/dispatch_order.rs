//! Which dispatches the project says follow each other, and what they bind alike, one with another
//! or one by itself.
//!
//! Knows: the dispatches of every test in their order, the earlier kernels that interfaces state,
//! kernels with their configurations.
//! Promises: the same before and after tests run. Every dispatch with every later one of its test
//! whose kernel reads what a name, or ranges of a buffer that overlap, may stand for in both. Which
//! bytes each binding of a test holds is told; what an interface says is shared begins at one byte.
//! Does not cover: dispatches under specializations that are no configuration: they cover nothing;
//! whether kernels have the bindings that an interface states (`coupling`).

use super::configuration::{Specialization, kernel_for_preparing};
use super::kernel::{Kernel, KernelsByName, kernels_by_name};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_exec::prepare::specialize_kernel;
use vkcert_model::access_pair::ReadDescriptor;
use vkcert_model::id::KernelName;
use vkcert_model::procedure::{Binding, Dispatch, Test};
use vkcert_model::requirement::{BindingPlace, Interface};
use vkcert_requirement::{Located, Project};
use vkcert_spirv::pairs::{BoundBytes, SharedBindings};

/// A kernel under one of its configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ConfiguredKernel {
    /// The kernel's name.
    pub(crate) kernel: KernelName,
    /// Place among the configurations of the kernel.
    pub(crate) configuration: usize,
}

/// What the dispatches before those of a kernel share with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DispatchOrder {
    by_later: BTreeMap<ConfiguredKernel, BTreeMap<ConfiguredKernel, SharedBindings>>,
    /// By later kernel, one that is dispatched before it and was set aside.
    set_aside: BTreeMap<KernelName, KernelName>,
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
        let mut order = Self { set_aside: project.set_aside_before(), ..Self::default() };
        for interface in &project.interfaces {
            order.add_interface(interface, kernels);
        }
        let kernels_by_name = kernels_by_name(kernels);
        let tests = project.tests.par_iter().chain(&project.left_out);
        let alike: Vec<Vec<AlikeDispatches>> =
            tests.map(|test| alike_dispatches(test, &kernels_by_name)).collect();
        alike.iter().for_each(|dispatches| order.add_test(dispatches));
        order
    }

    /// An interface speaks of every configuration of both kernels.
    fn add_interface(&mut self, interface: &Interface, kernels: &[Kernel]) {
        for stated in &interface.earlier {
            let mut shared = SharedBindings::default();
            for bindings in &stated.shared {
                let all_of = |place: BindingPlace| (place.descriptor(), BoundBytes::ALL);
                shared.share(all_of(bindings.from), all_of(bindings.to));
            }
            for later in all_configurations(interface.kernel, kernels) {
                for earlier in all_configurations(stated.kernel, kernels) {
                    self.add(earlier, later, shared.clone());
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

    fn add(&mut self, earlier: ConfiguredKernel, later: ConfiguredKernel, shared: SharedBindings) {
        // Without bindings in common, too: both may use device addresses.
        self.by_later.entry(later).or_default().entry(earlier).or_default().join(shared);
    }

    /// A kernel that is dispatched before another one, and of which nothing is known: it does not
    /// compile.
    pub(crate) fn set_aside_before(&self, later: KernelName) -> Option<KernelName> {
        self.set_aside.get(&later).copied()
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
fn alike_dispatches<'a>(
    test: &'a Located<Test>,
    kernels: &KernelsByName<'_>,
) -> Vec<AlikeDispatches<'a>> {
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
    kernels: &KernelsByName<'_>,
) -> Option<ConfiguredKernel> {
    let kernel = *kernels.get(&dispatch.kernel)?;
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

fn shared_bindings(earlier: &[Binding], later: &[Binding]) -> SharedBindings {
    let mut shared = SharedBindings::default();
    for written in earlier {
        for read in later.iter().filter(|read| is_of_one_resource(written, read)) {
            shared.share(
                (descriptor_of(written), bound_bytes(written)),
                (descriptor_of(read), bound_bytes(read)),
            );
        }
    }
    shared
}

fn descriptor_of(binding: &Binding) -> ReadDescriptor {
    ReadDescriptor { set: binding.set, binding: binding.binding }
}

/// Distinct bindings of a kernel to which a dispatch of some test gives bytes in common, each pair
/// both ways; of tests that are left out as well.
pub(crate) fn aliased_bindings(
    project: &Project,
    kernel: KernelName,
) -> BTreeSet<(ReadDescriptor, ReadDescriptor)> {
    let tests = project.tests.iter().chain(&project.left_out);
    let dispatches = tests.flat_map(|test| &test.dispatches);
    let own_dispatches = dispatches.filter(|dispatch| dispatch.kernel == kernel);
    let mut aliased = BTreeSet::new();
    for dispatch in own_dispatches {
        let shared = shared_bindings(&dispatch.bindings, &dispatch.bindings);
        aliased.extend(shared.descriptors().filter(|(first, second)| first != second));
    }
    aliased
}

fn is_of_one_resource(written: &Binding, read: &Binding) -> bool {
    let is_of_one_buffer = written.buffer.is_some() && written.buffer == read.buffer;
    let is_of_one_image = written.image.is_some() && written.image == read.image;
    is_of_one_buffer || is_of_one_image
}

/// Parts of one image are taken to be the same.
fn bound_bytes(binding: &Binding) -> BoundBytes {
    if binding.image.is_some() {
        return BoundBytes::ALL;
    }
    let start = binding.offset.saturating_add(binding.dynamic_offset.unwrap_or(0));
    let end = binding.range.map_or(u64::MAX, |range| start.saturating_add(range));
    BoundBytes { start, end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice::from_ref;

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
        let is_shared = |earlier: &Binding, later: &Binding| {
            let shared = shared_bindings(from_ref(earlier), from_ref(later));
            shared != SharedBindings::default()
        };
        for (other, expected) in cases {
            assert_eq!(is_shared(&first_half, &other), expected, "{other:?}");
            assert_eq!(is_shared(&other, &first_half), expected, "{other:?}");
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
        let before = |name: &str| -> Vec<(String, bool)> {
            let earlier = order.before(kernel(name));
            earlier
                .map(|(earlier, shared)| {
                    (earlier.kernel.to_string(), *shared != SharedBindings::default())
                })
                .collect()
        };
        let row = |name: &str, is_shared| (name.to_owned(), is_shared);
        assert_eq!(before("first"), []);
        // The same dispatch comes three times, and so before itself.
        assert_eq!(before("again"), [row("again", true), row("first", false)]);
        assert_eq!(before("last"), [row("again", true), row("first", false)]);
    }
}
