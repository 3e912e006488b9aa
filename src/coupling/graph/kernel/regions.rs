//! Barrier regions: what a workgroup does between two barriers, and what passes from one to another.
//!
//! Knows: which instructions control can come to behind each barrier before the next one
//! (`spirv::pairs`). Promises: an access to what invocations both write and read stands in each
//! region in which control can come to it; what is written flows from the region, what is read flows
//! to it. Kernels without barriers have no regions.
//! Does not cover: which invocations meet at an element (check `barrier-order`).

use super::KernelNodes;
use super::names::barrier_id;
use crate::graph::{CouplingGraph, NewEdge};
use std::collections::BTreeSet;
use vkcert_model::evidence::{CodePlace, CouplingEdgeKind, CouplingNodeKind};
use vkcert_spirv::barriers::barrier_number;
use vkcert_spirv::flow::{KernelObject, ObjectAccess};
use vkcert_spirv::pairs::BarrierRegion;

/// Barriers that a label names; the others are counted.
const MOST_NAMED: usize = 3;

impl KernelNodes<'_> {
    /// Regions, the barriers that they begin behind and end at, and what flows out of and into them.
    pub(in crate::graph) fn add_regions(&self, graph: &mut CouplingGraph) {
        let handed_over = self.handed_over();
        for region in &self.flow.regions {
            let node_id = self.add_region(graph, region);
            for access in &self.flow.dependences.accesses {
                if region.accesses.binary_search(&access.instruction).is_ok() {
                    self.add_region_flow(graph, &node_id, access, &handed_over);
                }
            }
        }
    }

    /// A region with its barriers.
    fn add_region(&self, graph: &mut CouplingGraph, region: &BarrierRegion) -> String {
        let orders = CouplingEdgeKind::Orders;
        let place = region.start.and_then(|index| self.code_place(index));
        let begin = region.start.map(|index| self.barrier_name(index));
        let node_id =
            format!("barrier-region:{}", begin.clone().unwrap_or_else(|| "start".to_owned()));
        let label = self.region_label(region, begin.as_deref());
        graph.add_placed_node(&node_id, CouplingNodeKind::BarrierRegion, label, place);
        if let Some(index) = region.start {
            graph.add_edge(&self.barrier_node(index), &node_id, orders.clone(), "begins");
        }
        for index in &region.ends {
            graph.add_edge(&node_id, &self.barrier_node(*index), orders.clone(), "ends at");
        }
        node_id
    }

    /// `from start to BAR1`, `from BAR2 to BAR1, BAR3 or end`
    fn region_label(&self, region: &BarrierRegion, begin: Option<&str>) -> String {
        let mut ends: Vec<String> =
            region.ends.iter().take(MOST_NAMED).map(|index| self.barrier_name(*index)).collect();
        let more = region.ends.len().saturating_sub(MOST_NAMED);
        if more > 0 {
            ends.push(format!("{more} more"));
        }
        if region.reaches_end {
            ends.push("end".to_owned());
        }
        let begin = begin.unwrap_or("start");
        match ends.split_last() {
            Some((last, [])) => format!("from {begin} to {last}"),
            Some((last, others)) => format!("from {begin} to {} or {last}", others.join(", ")),
            None => format!("from {begin} on"),
        }
    }

    fn add_region_flow(
        &self,
        graph: &mut CouplingGraph,
        region_node: &str,
        access: &ObjectAccess,
        handed_over: &BTreeSet<String>,
    ) {
        let place = self.code_place(access.instruction);
        for written in self.handed_ids(&access.writes, handed_over) {
            add_flow(graph, [region_node, &written], place.clone());
        }
        for read in self.handed_ids(&access.reads, handed_over) {
            add_flow(graph, [&read, region_node], place.clone());
        }
    }

    fn handed_ids(
        &self,
        objects: &BTreeSet<KernelObject>,
        handed_over: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        &self.ids_of(objects.iter()) & handed_over
    }

    /// The nodes of what invocations both write and read: workgroup variables, members of buffers,
    /// images, addressed memory.
    fn handed_over(&self) -> BTreeSet<String> {
        let accesses = &self.flow.dependences.accesses;
        let written = accesses.iter().flat_map(|access| &access.writes);
        let read = accesses.iter().flat_map(|access| &access.reads);
        &self.ids_of(written) & &self.ids_of(read)
    }

    fn ids_of<'o>(&self, objects: impl Iterator<Item = &'o KernelObject>) -> BTreeSet<String> {
        let distinct: BTreeSet<&KernelObject> = objects.collect();
        distinct.into_iter().flat_map(|object| self.node_ids(object)).collect()
    }

    /// `BAR1`
    fn barrier_name(&self, index: usize) -> String {
        format!("BAR{}", barrier_number(self.flow.module, index) + 1)
    }

    fn barrier_node(&self, index: usize) -> String {
        barrier_id(barrier_number(self.flow.module, index))
    }
}

fn add_flow(graph: &mut CouplingGraph, [from, to]: [&str; 2], place: Option<CodePlace>) {
    let new_edge = NewEdge { from, to, kind: CouplingEdgeKind::FlowsTo, label: "" };
    graph.add_placed_edge(new_edge, place);
}
