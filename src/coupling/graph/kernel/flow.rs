//! Edges of what a kernel's accesses, decisions, subgroup operations and barriers depend on.
//!
//! Promises: every access to something that others see has its edges, with its line.
//! Does not cover: which element an index chooses; flow within one invocation.

use super::KernelNodes;
use super::names::{barrier_id, decision_id, place_of_line, place_of_span};
use crate::BarrierControl;
use crate::graph::{CouplingGraph, KERNEL, NewEdge};
use std::collections::BTreeSet;
use vkcert_model::evidence::{CodePlace, CouplingEdgeKind};
use vkcert_model::id::DecisionId;
use vkcert_model::place::Place;
use vkcert_spirv::flow::{KernelObject, ObjectAccess};

impl KernelNodes<'_> {
    /// Edges of what accesses, decisions and barriers depend on.
    pub(in crate::graph) fn add_flow(&self, graph: &mut CouplingGraph) {
        for access in &self.flow.dependences.accesses {
            self.add_access(graph, access);
        }
        for (index, operation) in &self.flow.dependences.subgroup_operations {
            let to = format!("subgroup-operation:{}", operation.number);
            let place = self.code_place(*index);
            self.add_sources(graph, &operation.operands, &to, CouplingEdgeKind::FlowsTo, place);
        }
        for (call, decision) in &self.flow.marked_decisions {
            let Some(stand_in) = self.flow.dependences.stand_ins.get(call) else { continue };
            let place =
                self.flow.module.definition_index(*call).and_then(|index| self.code_place(index));
            let to = decision_id(*decision);
            let kind = CouplingEdgeKind::FlowsTo;
            self.add_sources(graph, &stand_in.objects, &to, kind, place.clone());
            self.add_deciders(graph, &stand_in.branches, &to, place.clone());
            self.add_deciders(graph, &stand_in.choices, &to, place);
        }
        self.add_barrier_control(graph);
    }

    /// What an access moves, what decides its element, and which decisions it is executed under.
    fn add_access(&self, graph: &mut CouplingGraph, access: &ObjectAccess) {
        let place = self.code_place(access.instruction);
        for accessed in access.reads.union(&access.writes) {
            for to in self.node_ids(accessed) {
                let kind = CouplingEdgeKind::Indexes;
                self.add_sources(graph, &access.indices, &to, kind, place.clone());
            }
        }
        for written in &access.writes {
            for to in self.node_ids(written) {
                let kind = CouplingEdgeKind::FlowsTo;
                if access.values.is_empty() {
                    let label = "a constant";
                    let new_edge = NewEdge { from: KERNEL, to: &to, kind, label };
                    graph.add_placed_edge(new_edge, place.clone());
                } else {
                    self.add_sources(graph, &access.values, &to, kind, place.clone());
                }
                self.add_deciders(graph, &access.branches, &to, place.clone());
                self.add_deciders(graph, &access.choices, &to, place.clone());
            }
        }
    }

    /// Edges from everything in `objects`.
    fn add_sources(
        &self,
        graph: &mut CouplingGraph,
        objects: &BTreeSet<KernelObject>,
        to: &str,
        kind: CouplingEdgeKind,
        place: Option<CodePlace>,
    ) {
        for from in objects.iter().flat_map(|object| self.node_ids(object)) {
            // A decision is no source of its own conditions.
            if from != to || kind != CouplingEdgeKind::FlowsTo || !from.starts_with("decision:") {
                let new_edge = NewEdge { from: &from, to, kind: kind.clone(), label: "" };
                graph.add_placed_edge(new_edge, place.clone());
            }
        }
    }

    /// Edges from the decisions that direct these branches; of a branch that no decision directs,
    /// such as that of a `switch`, from what its condition is computed from.
    fn add_deciders(
        &self,
        graph: &mut CouplingGraph,
        branches: &BTreeSet<usize>,
        to: &str,
        place: Option<CodePlace>,
    ) {
        let decisions_of = |branch: &usize| self.deciders_of(*branch);
        for branch in branches.iter().filter(|branch| decisions_of(branch).is_empty()) {
            if let Some(objects) = self.flow.dependences.conditions.get(branch) {
                self.add_sources(graph, objects, to, CouplingEdgeKind::Controls, place.clone());
            }
        }
        for decision in branches.iter().flat_map(decisions_of) {
            let from = decision_id(decision);
            if from == to {
                // The branches of its own short circuits.
                continue;
            }
            let kind = CouplingEdgeKind::Controls;
            graph.add_placed_edge(NewEdge { from: &from, to, kind, label: "" }, place.clone());
        }
    }

    fn add_barrier_control(&self, graph: &mut CouplingGraph) {
        let barrier_branches = self.flow.dependences.barriers.iter();
        for (index, branches) in barrier_branches {
            let number = vkcert_spirv::barriers::barrier_number(self.flow.module, *index);
            let to = barrier_id(number);
            self.add_deciders(graph, branches, &to, self.code_place(*index));
        }
        for barrier in self.input.barriers {
            let BarrierControl::Divergent { branch, .. } = &barrier.control else { continue };
            let to = barrier_id(barrier.number);
            for decision in self.decisions_at(branch) {
                let from = decision_id(decision);
                let (kind, label) = (CouplingEdgeKind::Controls, "not uniform");
                let new_edge = NewEdge { from: &from, to: &to, kind, label };
                graph.relabel_edge(new_edge);
            }
        }
    }

    /// The decisions whose values the condition of a branch is computed from.
    fn deciders_of(&self, branch: usize) -> BTreeSet<DecisionId> {
        let conditions = self.flow.dependences.conditions.get(&branch).into_iter().flatten();
        let stand_ins = conditions.filter_map(|object| match object {
            KernelObject::StandIn(call) => self.flow.marked_decisions.get(call).copied(),
            KernelObject::PushConstant { .. }
            | KernelObject::SpecializationConstant(_)
            | KernelObject::BuiltIn(_)
            | KernelObject::Descriptor { .. }
            | KernelObject::DescriptorSize { .. }
            | KernelObject::Workgroup(_)
            | KernelObject::Addressed
            | KernelObject::SubgroupOperation(_) => None,
        });
        stand_ins.collect()
    }

    /// The decisions that stand on the line of a place.
    fn decisions_at(&self, place: &Place) -> Vec<DecisionId> {
        let Some(structure) = self.input.structure else { return Vec::new() };
        let decisions = structure.decisions.iter().filter(|decision| {
            let decision_place = place_of_span(structure, decision.span);
            decision_place.is_some() && decision_place == place_of_line(place)
        });
        decisions.map(|decision| decision.id).collect()
    }

    /// Everything that an access, a decision or a subgroup operation depends on.
    pub(super) fn used_objects(&self) -> BTreeSet<KernelObject> {
        let dependences = &self.flow.dependences;
        let of_accesses = dependences
            .accesses
            .iter()
            .flat_map(|access| [&access.reads, &access.writes, &access.values, &access.indices]);
        let of_operations =
            dependences.subgroup_operations.values().map(|operation| &operation.operands);
        let stand_ins = dependences.stand_ins.values().map(|stand_in| &stand_in.objects);
        let all = of_accesses.chain(of_operations).chain(stand_ins);
        all.flatten().copied().collect()
    }

    /// Memory that invocations write, and that others may read.
    pub(super) fn shared_and_written(&self) -> BTreeSet<KernelObject> {
        let accesses = self.flow.dependences.accesses.iter();
        accesses.flat_map(|access| access.writes.iter().copied()).collect()
    }
}
