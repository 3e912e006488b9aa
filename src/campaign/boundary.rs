//! The boundary values of a kernel's host parameters, and which tests give them.
//!
//! Knows: the kernel's interface with what was read of its headers, its local size, and what the
//! tests' dispatches tell of parameters (`told_values`).
//! Promises: of each parameter its minimum, its maximum and zero, and for each local size of an axis
//! that the parameter takes part in a value before and a value behind a multiple of it, as far as
//! they lie in the range. What tests cannot tell is undetermined by name.
//! Does not cover: tests that dispatch the kernel under several specializations, which count for no
//! value; parameters that the host passes on changed.

use super::configuration::{Specialization, kernel_for_preparing};
use super::kernel::CompiledKernel;
use super::told_values::{ToldPlaces, is_told};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coupling::merged_interface;
use vkcert_exec::prepare::specialize_kernel;
use vkcert_model::boundary::BoundaryValue;
use vkcert_model::id::{KernelName, ObligationId, TestId};
use vkcert_model::procedure::{Dispatch, Test};
use vkcert_model::requirement::{HeaderReading, HostParameter, Interface};
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::{Located, Project};

/// The boundary values of a kernel; `readings` are of the headers of its interface. Without an
/// interface nothing states the ranges of its inputs, which is one value that is not known. Which
/// values there are does not depend on headers, but which tests give them.
pub fn boundary_values(
    project: &Project,
    kernel: &CompiledKernel,
    local_size: [u32; 3],
    readings: &[HeaderReading],
) -> Vec<BoundaryValue> {
    let kernel_name = KernelName::from(&kernel.name);
    let Some(stated) = project.interfaces.iter().find(|row| row.kernel == kernel_name) else {
        let reason = "the project states no ranges: the kernel has no interface description";
        return vec![unknown_inputs(kernel, reason)];
    };
    let position = stated.origin.at("kernel").position();
    let (line, column) = position.map_or((1, 1), |position| (position.line, position.column));
    let file = project.relative_file(stated);
    let interface = &*merged_interface(stated, readings);
    let test_values = values_by_test(project, interface, kernel);
    let axes = workgroup_axes(interface, local_size);
    let mut values = Vec::new();
    for parameter in &interface.parameters {
        let unknown = (!is_told(interface, &parameter.name)).then(|| {
            format!(
                "no test tells the value of {}: the host stores it unchanged in no push constant or specialization constant",
                parameter.name
            )
        });
        let sizes = axes.get(&parameter.name).cloned().unwrap_or_default();
        for kind in boundary_kinds(parameter, &sizes) {
            values.push(BoundaryValue {
                id: ObligationId::from(format!("BND{}", values.len() + 1)),
                text: kind.in_words(&parameter.name),
                file: file.clone(),
                line,
                column,
                unknown: unknown.clone(),
                tests: test_values.tests_with(&parameter.name, &kind),
            });
        }
    }
    values
}

fn unknown_inputs(kernel: &CompiledKernel, reason: &str) -> BoundaryValue {
    BoundaryValue {
        id: ObligationId::from("BND1"),
        text: "boundary values of the inputs".to_owned(),
        file: kernel.source.clone(),
        line: 1,
        column: 1,
        unknown: Some(reason.to_owned()),
        tests: Vec::new(),
    }
}

/// What a test is to give a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum BoundaryKind {
    /// This value, with what it is.
    Exactly(i64, String),
    /// A value so far behind a multiple of a local size; of one before it -1.
    FromMultiple { distance: i64, size: i64 },
}

impl BoundaryKind {
    fn is_shown_by(&self, value: i64) -> bool {
        match self {
            BoundaryKind::Exactly(wanted, _) => value == *wanted,
            BoundaryKind::FromMultiple { distance, size } => {
                (value - distance).rem_euclid(*size) == 0
            }
        }
    }

    fn in_words(&self, parameter: &str) -> String {
        match self {
            BoundaryKind::Exactly(value, words) => format!("{parameter} = {value} ({words})"),
            BoundaryKind::FromMultiple { distance, size } => {
                let words = if *distance < 0 { "one before" } else { "one past" };
                format!("{parameter} {words} a multiple of the local size {size}")
            }
        }
    }
}

fn boundary_kinds(parameter: &HostParameter, sizes: &BTreeSet<i64>) -> Vec<BoundaryKind> {
    let range = parameter.min..=parameter.max;
    let mut words_by_value: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for (value, words) in [(parameter.min, "minimum"), (parameter.max, "maximum"), (0, "zero")] {
        if range.contains(&value) {
            words_by_value.entry(value).or_default().push(words);
        }
    }
    let exact = words_by_value
        .into_iter()
        .map(|(value, words)| BoundaryKind::Exactly(value, words.join(", ")));
    let around = sizes.iter().flat_map(|size| {
        [-1, 1].map(|distance| BoundaryKind::FromMultiple { distance, size: *size })
    });
    // The range holds such a value if the first one from its lower end on lies in it.
    let is_in_range = |kind: &BoundaryKind| match kind {
        BoundaryKind::Exactly(..) => true,
        BoundaryKind::FromMultiple { distance, size } => {
            let first = parameter.min + (distance - parameter.min).rem_euclid(*size);
            first <= parameter.max
        }
    };
    exact.chain(around.filter(is_in_range)).collect()
}

/// By parameter: the local sizes, above 1, of the axes whose domain it takes part in, itself or
/// through locals.
fn workgroup_axes(interface: &Interface, local_size: [u32; 3]) -> BTreeMap<String, BTreeSet<i64>> {
    let mut sizes_by_parameter: BTreeMap<String, BTreeSet<i64>> = BTreeMap::new();
    let Some(domain) = &interface.domain else { return sizes_by_parameter };
    // A domain that cannot be read is a diagnostic of the coupling checks.
    let Ok(host) = HostModel::from_interface(interface, local_size) else {
        return sizes_by_parameter;
    };
    for (text, size) in domain.iter().zip(local_size).filter(|(_, size)| *size > 1) {
        let Ok(expression) = host.parse_expression(text, "domain") else { continue };
        // Of a local that is the domain the parameters are meant which it is computed from.
        for name_index in host.dependencies_of(&[&expression]) {
            let name = host.names[name_index].name.clone();
            sizes_by_parameter.entry(name).or_default().insert(i64::from(size));
        }
    }
    sizes_by_parameter
}

/// The values that each test gives the parameters of an interface.
struct ValuesByTest(Vec<(TestId, Vec<BTreeMap<String, i64>>)>);

impl ValuesByTest {
    fn tests_with(&self, parameter: &str, kind: &BoundaryKind) -> Vec<TestId> {
        let shows = |values: &BTreeMap<String, i64>| {
            values.get(parameter).is_some_and(|value| kind.is_shown_by(*value))
        };
        let showing = self.0.iter().filter(|(_, dispatches)| dispatches.iter().any(shows));
        showing.map(|(test, _)| *test).collect()
    }
}

fn values_by_test(
    project: &Project,
    interface: &Interface,
    kernel: &CompiledKernel,
) -> ValuesByTest {
    let told_places = ToldPlaces::of_kernel(interface, kernel);
    let prepared_kernel = kernel_for_preparing(kernel);
    let values_of_test = |test: &Located<Test>| {
        let dispatches: Vec<&Dispatch> =
            test.dispatches.iter().filter(|dispatch| dispatch.kernel == interface.kernel).collect();
        // Faults of a test are told when it is prepared.
        let specializations: Vec<Specialization> = dispatches
            .iter()
            .map(|dispatch| {
                let given = &dispatch.specialization;
                specialize_kernel(&interface.kernel, &prepared_kernel, given, &test.origin)
            })
            .collect::<Result<_, _>>()
            .ok()?;
        let is_of_one_configuration =
            specializations.windows(2).all(|neighbours| neighbours[0] == neighbours[1]);
        let dispatches = dispatches.into_iter().zip(&specializations);
        is_of_one_configuration.then(|| {
            let values =
                dispatches.map(|(dispatch, bits)| told_places.values_of(test, dispatch, bits));
            (test.id, values.collect())
        })
    };
    ValuesByTest(project.tests.iter().filter_map(values_of_test).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::requirement::HostType;

    fn kinds(min: i64, max: i64, sizes: &[i64]) -> Vec<String> {
        let parameter = HostParameter { name: "n".to_owned(), width: HostType::Int32, min, max };
        let sizes = sizes.iter().copied().collect();
        let kinds = boundary_kinds(&parameter, &sizes);
        kinds.iter().map(|kind| kind.in_words("n")).collect()
    }

    #[test]
    fn ends_zero_and_neighbours_of_multiples_are_asked_for_in_range_only() {
        assert_eq!(
            kinds(1, 4096, &[16]),
            [
                "n = 1 (minimum)",
                "n = 4096 (maximum)",
                "n one before a multiple of the local size 16",
                "n one past a multiple of the local size 16",
            ]
        );
        assert_eq!(kinds(0, 9, &[]), ["n = 0 (minimum, zero)", "n = 9 (maximum)"]);
        assert_eq!(kinds(3, 3, &[]), ["n = 3 (minimum, maximum)"]);
        assert_eq!(kinds(-2, 5, &[]), ["n = -2 (minimum)", "n = 0 (zero)", "n = 5 (maximum)"]);
        // 15 is one before 16; 17 is out of range, and 1 below it.
        assert_eq!(kinds(2, 16, &[16]).len(), 3);
    }

    #[test]
    fn whether_a_range_holds_a_neighbour_agrees_with_trying_every_value() {
        for min in -20..20_i64 {
            for max in min..20 {
                let parameter =
                    HostParameter { name: "n".to_owned(), width: HostType::Int32, min, max };
                let kinds = boundary_kinds(&parameter, &[8].into());
                for distance in [-1, 1] {
                    let kind = BoundaryKind::FromMultiple { distance, size: 8 };
                    let holds_one = (min..=max).any(|value| kind.is_shown_by(value));
                    assert_eq!(kinds.contains(&kind), holds_one, "{min}..{max} {distance}");
                }
            }
        }
    }
}
