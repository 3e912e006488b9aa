//! Edges from specialization constants to what they size.
//!
//! Knows: which constants the declarations of a module are made of. Promises: a constant of which a
//! size may depend has its edge, whatever the host sets it to.
//! Does not cover: which size results; sizes that no constant changes.

use super::names::{name_or_number, resource_id};
use super::{KernelNodes, LOCAL_SIZE};
use crate::graph::CouplingGraph;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::CouplingEdgeKind;
use vkcert_spirv::interface::SizeConstants;

const AXES: [&str; 3] = ["x", "y", "z"];

impl KernelNodes<'_> {
    /// Edges to the local size, to workgroup variables and to blocks.
    pub(in crate::graph) fn add_sizes(&self, graph: &mut CouplingGraph) {
        let reflection = self.input.reflection;
        // The reflection shows that the entry point can be read.
        let sizes = SizeConstants::of_entry_point(self.input.module, &reflection.entry);
        let sizes = sizes.unwrap_or_default();
        for (constant, axes) in axes_by_constant(&sizes.local_size) {
            add_sized(graph, &BTreeSet::from([constant]), LOCAL_SIZE, &axes.join(", "));
        }
        for variable in &reflection.workgroup {
            let Some(constants) = sizes.workgroup_variables.get(&variable.variable) else {
                continue;
            };
            let name = name_or_number(variable.name.as_deref(), '%', variable.variable);
            add_sized(graph, constants, &format!("workgroup:{name}"), "");
        }
        for resource in &reflection.resources {
            if let Some(constants) = sizes.resources.get(&resource.variable) {
                add_sized(graph, constants, &resource_id(resource), "what the kernel declares");
            }
        }
    }
}

/// The axes that each constant sizes.
fn axes_by_constant(local_size: &[BTreeSet<u32>; 3]) -> BTreeMap<u32, Vec<&'static str>> {
    let mut axes_by_constant: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for (axis_name, constants) in AXES.into_iter().zip(local_size) {
        for constant in constants {
            axes_by_constant.entry(*constant).or_default().push(axis_name);
        }
    }
    axes_by_constant
}

fn add_sized(graph: &mut CouplingGraph, constants: &BTreeSet<u32>, to: &str, label: &str) {
    for constant in constants {
        let from = format!("specialization:{constant}");
        graph.add_edge(&from, to, CouplingEdgeKind::Sizes, label);
    }
}
