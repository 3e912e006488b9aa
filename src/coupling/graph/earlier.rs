//! Earlier kernels in the coupling graph: the dispatches that the host makes before the kernel's, and
//! what they leave to it.
//!
//! Knows: what the interface states of them, their modules, and their own interfaces where they have
//! one. Promises: a binding of an earlier kernel flows to the binding that is stated to hold the same,
//! and takes from the dispatch only what the earlier kernel's declarations let it write.
//! Does not cover: in which order earlier kernels stand among themselves, which interfaces do not
//! state; whether what is stated can be (check `earlier-dispatches`).

use super::kernel::{access_words, resource_id};
use super::{CouplingGraph, DISPATCH};
use crate::CouplingInput;
use crate::earlier::{EarlierKernel, can_write, resource_at};
use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};
use vkcert_model::requirement::{BindingPlace, SharedBinding};

/// Adds dispatches, their bindings and what they flow to.
pub(super) fn add_earlier(graph: &mut CouplingGraph, input: &CouplingInput<'_>) {
    for earlier in input.earlier {
        let kernel = earlier.stated.kernel;
        let dispatch_node = format!("earlier-dispatch:{kernel}");
        let kind = CouplingNodeKind::EarlierDispatch;
        graph.add_node(&dispatch_node, kind, dispatch_label(earlier));
        let orders = CouplingEdgeKind::Orders;
        graph.add_edge(&dispatch_node, DISPATCH, orders, "comes before");
        for shared in &earlier.stated.shared {
            add_shared(graph, input, earlier, (&dispatch_node, shared));
        }
    }
}

fn dispatch_label(earlier: &EarlierKernel<'_>) -> String {
    let kernel = earlier.stated.kernel;
    match earlier.interface {
        Some(interface) => {
            let [x, y, z] = &interface.groups;
            format!("{kernel}, ({x}, {y}, {z}) workgroups")
        }
        None => format!("{kernel}, of which no interface states a host"),
    }
}

fn add_shared(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    earlier: &EarlierKernel<'_>,
    (dispatch_node, shared): (&str, &SharedBinding),
) {
    let BindingPlace { set, binding } = shared.from;
    let node_id = format!("earlier-binding:{}:{set}.{binding}", earlier.stated.kernel);
    let written = resource_at(earlier.reflection, shared.from);
    let label = match written {
        Some(resource) => {
            let name = resource.name.as_deref().unwrap_or("-");
            format!("{name} at {}, {}", shared.from, access_words(resource.access))
        }
        None => format!("{}, which the kernel does not use", shared.from),
    };
    graph.add_node(&node_id, CouplingNodeKind::EarlierBinding, label);
    let flows_to = CouplingEdgeKind::FlowsTo;
    if written.is_some_and(|resource| can_write(resource.access)) {
        graph.add_edge(dispatch_node, &node_id, flows_to.clone(), "may write");
    }
    if let Some(read) = resource_at(input.reflection, shared.to) {
        graph.add_edge(&node_id, &resource_id(read), flows_to, "is bound as");
    }
}
