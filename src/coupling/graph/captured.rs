//! Captured dispatches in the coupling graph: what they hand to each other, and the pipeline barriers
//! between them.
//!
//! Knows: what was read of each capture (`CapturedOrder`).
//! Promises: an id names the file and the number that `vkcert capture --show` gives. A flow goes from
//! what writes to what reads; what orders the two stands between them; a flow that nothing orders
//! says so. Dispatches that are not followed are one node, with their number.
//! Does not cover: which check refutes what is not ordered.

use super::{CouplingGraph, KERNEL, NewEdge};
use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};
use vkcert_model::requirement::{CapturedKernel, CapturedOperation, CapturedOperationKind};

/// Adds nodes and edges of all captures.
pub(super) fn add_captures(graph: &mut CouplingGraph, captures: &[CapturedKernel]) {
    for captured in captures {
        add_operations(graph, captured);
        add_flows(graph, captured);
    }
}

pub(crate) fn captured_node_id(file: &str, number: usize, operation: &CapturedOperation) -> String {
    match operation.kind {
        CapturedOperationKind::OwnDispatch(dispatch)
        | CapturedOperationKind::OtherDispatch(dispatch) => {
            format!("captured-dispatch:{file}:{dispatch}")
        }
        CapturedOperationKind::Barrier => format!("captured-barrier:{file}:{number}"),
        CapturedOperationKind::Other => format!("captured-operation:{file}:{number}"),
    }
}

fn add_operations(graph: &mut CouplingGraph, captured: &CapturedKernel) {
    let file = &captured.reading.file;
    for (number, operation) in &captured.order.operations {
        let id = captured_node_id(file, *number, operation);
        let kind = match operation.kind {
            CapturedOperationKind::OwnDispatch(_) | CapturedOperationKind::OtherDispatch(_) => {
                CouplingNodeKind::CapturedDispatch
            }
            CapturedOperationKind::Barrier => CouplingNodeKind::CapturedBarrier,
            CapturedOperationKind::Other => CouplingNodeKind::CapturedOperation,
        };
        graph.add_node(&id, kind, operation.label.clone());
        if let CapturedOperationKind::OwnDispatch(_) = operation.kind {
            graph.add_edge(&id, KERNEL, CouplingEdgeKind::Controls, "starts");
        }
    }
    let unfollowed = captured.order.unfollowed;
    if unfollowed > 0 {
        let id = format!("captured-dispatch:{file}:more");
        let label = format!("{unfollowed} dispatches more, which are not drawn");
        graph.add_node(&id, CouplingNodeKind::CapturedDispatch, label);
        graph.add_edge(&id, KERNEL, CouplingEdgeKind::Controls, "starts");
    }
}

fn add_flows(graph: &mut CouplingGraph, captured: &CapturedKernel) {
    let operations = &captured.order.operations;
    let id_of = |number: usize| {
        let operation = operations.get(&number)?;
        Some(captured_node_id(&captured.reading.file, number, operation))
    };
    for flow in &captured.order.flows {
        let (Some(from), Some(to)) = (id_of(flow.from), id_of(flow.to)) else { continue };
        let label = match flow.ordered_by.is_empty() {
            true => format!("{}, ordered by nothing", flow.place),
            false => flow.place.clone(),
        };
        let kind = CouplingEdgeKind::FlowsTo;
        graph.add_placed_edge(NewEdge { from: &from, to: &to, kind, label: &label }, None);
        for orderer in flow.ordered_by.iter().filter_map(|number| id_of(*number)) {
            let kind = CouplingEdgeKind::Orders;
            graph.add_edge(&from, &orderer, kind.clone(), "is waited for");
            graph.add_edge(&orderer, &to, kind, "");
        }
    }
}
