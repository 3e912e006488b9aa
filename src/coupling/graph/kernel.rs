//! The kernel's side of the coupling graph: its inputs, what its invocations share, and the flow
//! between them.
//!
//! Knows: what the module declares, and what `spirv::flow` tells of its accesses, branches and
//! barriers. Where the kernel has marked text, the flow is that of the marked module, whose lines
//! are the source's and in which decisions can be told.
//! Promises: every access to something that others see has its edges, with its line.
//! Does not cover: which element an index chooses; flow within one invocation.

mod flow;
pub(super) mod members;
mod names;
mod regions;
mod sizes;

use super::{CouplingGraph, DISPATCH, KERNEL, LOCAL_SIZE, NewEdge};
use crate::{CouplingInput, KernelFlow};
use members::BufferMembers;
pub(super) use names::{access_words, resource_id};
use names::{
    barrier_id, decision_id, function_words, name_or_number, place_of_line, place_of_span,
    resource_kind,
};
use rspirv::spirv::{BuiltIn, Op};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};
use vkcert_model::id::DecisionId;
use vkcert_model::project::MemoryModel;
use vkcert_spirv::barriers::barrier_fences;
use vkcert_spirv::calls::calls_in_function;
use vkcert_spirv::constants::Constants;
use vkcert_spirv::flow::KernelObject;
use vkcert_spirv::memory_semantics::BarrierFences;
use vkcert_spirv::module::Id;
use vkcert_spirv::types::Types;

/// What the kernel's nodes are made of.
pub(super) struct KernelNodes<'a> {
    input: &'a CouplingInput<'a>,
    flow: &'a KernelFlow<'a>,
    members: BufferMembers,
}

impl<'a> KernelNodes<'a> {
    pub(super) fn new(input: &'a CouplingInput<'a>) -> Self {
        Self { input, flow: input.flow, members: BufferMembers::of_input(input) }
    }

    /// What the host gives: push constants, specialization constants, buffers and images.
    pub(super) fn add_inputs(&self, graph: &mut CouplingGraph) {
        let reflection = self.input.reflection;
        let types = Types::of_module(self.input.module);
        let block_members = reflection.push_constants.iter().flat_map(|block| &block.members);
        for (member_index, member) in block_members.enumerate() {
            let name = name_or_number(member.name.as_deref(), '#', member_index);
            let offset = member.offset.map_or("?".to_owned(), |offset| offset.to_string());
            let node_id = format!("push-constant:{member_index}");
            let label = format!("{name}, {} at offset {offset}", types.glsl_name(member.ty));
            graph.add_node(&node_id, CouplingNodeKind::PushConstant, label);
        }
        for constant in &reflection.specialization {
            let node_id = format!("specialization:{}", constant.spec_id);
            let name = name_or_number(constant.name.as_deref(), '#', constant.spec_id);
            let label = format!("{} {name}", constant.type_name);
            graph.add_node(&node_id, CouplingNodeKind::SpecializationConstant, label);
        }
        // Several blocks at one binding are one node: the host binds one thing to it. They stand
        // beside each other.
        for bound in
            reflection.resources.chunk_by(|one, next| resource_id(one) == resource_id(next))
        {
            let labels = bound.iter().map(|resource| {
                let name = resource.name.as_deref().unwrap_or("-");
                format!("{name}, {}", access_words(resource.access))
            });
            let label = labels.collect::<Vec<_>>().join("; ");
            let node_id = resource_id(&bound[0]);
            graph.add_node(&node_id, resource_kind(&bound[0]), label);
            self.members.add_nodes(graph, (bound[0].set, bound[0].binding), &node_id);
        }
        let [x, y, z] = reflection.local_size;
        graph.add_node(LOCAL_SIZE, CouplingNodeKind::LocalSize, format!("{x} x {y} x {z}"));
    }

    /// Workgroup memory, built-ins, addressed memory and subgroup operations that the kernel uses.
    pub(super) fn add_shared_memory(&self, graph: &mut CouplingGraph) {
        for variable in &self.input.reflection.workgroup {
            let name = name_or_number(variable.name.as_deref(), '%', variable.variable);
            let label = format!("{name}, {} bytes", variable.size);
            let node_id = format!("workgroup:{name}");
            graph.add_node(&node_id, CouplingNodeKind::WorkgroupMemory, label);
        }
        for object in self.used_objects() {
            match object {
                KernelObject::BuiltIn(built_in) => add_built_in(graph, built_in),
                KernelObject::Addressed => {
                    let label = "what device addresses name".to_owned();
                    let kind = CouplingNodeKind::AddressedMemory;
                    graph.add_node("addressed-memory", kind, label);
                }
                KernelObject::PushConstant { .. }
                | KernelObject::SpecializationConstant(_)
                | KernelObject::Descriptor { .. }
                | KernelObject::DescriptorSize { .. }
                | KernelObject::Workgroup(_)
                | KernelObject::SubgroupOperation(_)
                | KernelObject::StandIn(_) => {}
            }
        }
        for (index, operation) in &self.flow.dependences.subgroup_operations {
            let instruction = &self.flow.module.instructions[*index];
            let node_id = format!("subgroup-operation:{}", operation.number);
            let place = self.code_place(*index);
            let kind = CouplingNodeKind::SubgroupOperation;
            graph.add_placed_node(&node_id, kind, format!("{:?}", instruction.op), place);
        }
    }

    /// Barriers, and what they order under the memory model, with the fences beside them.
    pub(super) fn add_barriers(&self, graph: &mut CouplingGraph) {
        let fences_by_number = self.fences_by_number();
        for barrier in self.input.barriers {
            let node_id = barrier_id(barrier.number);
            let label = format!("barrier in {}", function_words(&barrier.place));
            let place = place_of_line(&barrier.place);
            graph.add_placed_node(&node_id, CouplingNodeKind::Barrier, label, place);
            let label = "invocations that meet";
            graph.add_edge(LOCAL_SIZE, &node_id, CouplingEdgeKind::Sizes, label);
            if let Some(fences) = fences_by_number.get(&barrier.number) {
                self.add_ordered_memory(graph, &node_id, *fences);
            }
        }
    }

    /// Edges to what invocations write and a barrier orders.
    fn add_ordered_memory(
        &self,
        graph: &mut CouplingGraph,
        barrier_node: &str,
        fences: BarrierFences,
    ) {
        let ordered_under = |model: MemoryModel| fences.ordered_memory(model).kinds();
        let ordered = ordered_under(self.input.memory_model);
        for object in self.shared_and_written() {
            let kind = self.memory_kind(&object);
            if kind.is_empty() || !ordered.contains(kind) {
                continue;
            }
            let label = match ordered_under(MemoryModel::Spec).contains(kind) {
                true => "",
                false => "by the idiom alone",
            };
            for to in self.node_ids(&object) {
                graph.add_edge(barrier_node, &to, CouplingEdgeKind::Orders, label);
            }
        }
    }

    /// What barriers of the production module release and acquire, by their numbers; none of those
    /// whose scopes or semantics the host does not settle.
    fn fences_by_number(&self) -> BTreeMap<u32, BarrierFences> {
        let CouplingInput { module, interface, reflection, .. } = self.input;
        let specialization = crate::host_constants(interface, &reflection.specialization);
        let types = Types::of_module(module);
        let Ok(constants) = Constants::evaluate(module, &types, &specialization) else {
            return BTreeMap::new();
        };
        let instructions = module.instructions.iter().enumerate();
        let barriers = instructions.filter(|(_, instruction)| instruction.op == Op::ControlBarrier);
        let numbered = (0..).zip(barriers.map(|(index, _)| index));
        numbered
            .filter_map(|(number, index)| {
                Some((number, barrier_fences(module, &constants, index)?))
            })
            .collect()
    }

    /// The decisions of the source.
    pub(super) fn add_decisions(&self, graph: &mut CouplingGraph) {
        let Some(structure) = self.input.structure else { return };
        let marked: BTreeSet<DecisionId> = self.flow.marked_decisions.values().copied().collect();
        for decision in &structure.decisions {
            let label = if marked.contains(&decision.id) {
                decision.text.clone()
            } else {
                format!("{} (what it depends on is not known)", decision.text)
            };
            let place = place_of_span(structure, decision.span);
            graph.add_placed_node(
                &decision_id(decision.id),
                CouplingNodeKind::Decision,
                label,
                place,
            );
        }
    }

    /// Functions that the entry point reaches, and who calls them.
    pub(super) fn add_calls(&self, graph: &mut CouplingGraph) {
        let module = self.input.module;
        let reflection = self.input.reflection;
        let functions = reflection
            .functions
            .iter()
            .filter_map(|id| module.function_by_id(*id))
            .collect::<Vec<_>>();
        for function in functions.iter().filter(|function| function.id != reflection.function) {
            let node_id = self.function_id(function.id);
            let label = function_words(&module.place_of(function.range.start));
            graph.add_node(&node_id, CouplingNodeKind::Function, label);
        }
        for function in functions {
            let from = self.function_id(function.id);
            for (index, call) in calls_in_function(module, function) {
                let Some(callee) = call.id(0) else { continue };
                let to = self.function_id(callee);
                let kind = CouplingEdgeKind::Controls;
                let new_edge = NewEdge { from: &from, to: &to, kind, label: "calls" };
                graph.add_placed_edge(new_edge, place_of_line(&module.place_of(index)));
            }
        }
    }

    fn function_id(&self, function: Id) -> String {
        if function == self.input.reflection.function {
            return KERNEL.to_owned();
        }
        // The signature tells overloaded functions apart.
        match self.input.module.debug_name(function) {
            Some(name) if !name.is_empty() => format!("function:{name}"),
            Some(_) | None => format!("function:%{function}"),
        }
    }
}

fn add_built_in(graph: &mut CouplingGraph, built_in: BuiltIn) {
    let node_id = format!("built-in:{built_in:?}");
    graph.add_node(&node_id, CouplingNodeKind::BuiltIn, format!("{built_in:?}"));
    let (is_of_dispatch, is_of_local_size) = match built_in {
        BuiltIn::NumWorkgroups | BuiltIn::WorkgroupId => (true, false),
        BuiltIn::GlobalInvocationId => (true, true),
        BuiltIn::LocalInvocationId
        | BuiltIn::LocalInvocationIndex
        | BuiltIn::WorkgroupSize
        | BuiltIn::NumSubgroups
        | BuiltIn::SubgroupId => (false, true),
        // The rest is of the device, or of no compute kernel.
        _ => (false, false),
    };
    if is_of_dispatch {
        graph.add_edge(DISPATCH, &node_id, CouplingEdgeKind::FlowsTo, "");
    }
    if is_of_local_size {
        graph.add_edge(LOCAL_SIZE, &node_id, CouplingEdgeKind::FlowsTo, "");
    }
}
