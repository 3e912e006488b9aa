//! The kernel's side of the coupling graph: its inputs, what its invocations share, and the flow
//! between them.
//!
//! Knows: what the module declares, and what `spirv::flow` tells of its accesses, branches and
//! barriers. Where the kernel has marked text, the flow is that of the marked module, whose lines
//! are the source's and in which decisions can be told.
//! Promises: every access to something that others see has its edges, with its line.
//! Does not cover: which element an index chooses; flow within one invocation.

use super::{CouplingGraph, DISPATCH, KERNEL, LOCAL_SIZE, NewEdge};
use crate::{BarrierControl, CouplingInput, KernelFlow};
use rspirv::spirv::{BuiltIn, MemorySemantics};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;
use vkcert_model::evidence::{CodePlace, CouplingEdgeKind, CouplingNodeKind};
use vkcert_model::id::DecisionId;
use vkcert_model::place::{Place, Position, Span};
use vkcert_model::procedure::DescriptorClass;
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::calls::calls_in_function;
use vkcert_spirv::flow::{KernelObject, ObjectAccess};
use vkcert_spirv::interface::{Access, ReflectedResource};
use vkcert_spirv::module::Id;

/// What the kernel's nodes are made of.
pub(super) struct KernelNodes<'a> {
    input: &'a CouplingInput<'a>,
    flow: &'a KernelFlow<'a>,
}

impl<'a> KernelNodes<'a> {
    pub(super) fn new(input: &'a CouplingInput<'a>) -> Self {
        Self { input, flow: input.flow }
    }

    /// What the host gives: push constants, specialization constants, buffers and images.
    pub(super) fn add_inputs(&self, graph: &mut CouplingGraph) {
        let reflection = self.input.reflection;
        let block_members = reflection.push_constants.iter().flat_map(|block| &block.members);
        for (member_index, member) in block_members.enumerate() {
            let name = name_or_number(member.name.as_deref(), '#', member_index);
            let offset = member.offset.map_or("?".to_owned(), |offset| offset.to_string());
            let node_id = format!("push-constant:{member_index}");
            let label = format!("{name} at offset {offset}");
            graph.add_node(&node_id, CouplingNodeKind::PushConstant, label);
        }
        for constant in &reflection.specialization {
            let node_id = format!("specialization:{}", constant.spec_id);
            let name = constant.name.as_deref().unwrap_or("-");
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
            graph.add_node(&resource_id(&bound[0]), resource_kind(&bound[0]), label);
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

    /// Barriers of the workgroup, and what their semantics order.
    pub(super) fn add_barriers(&self, graph: &mut CouplingGraph) {
        for barrier in self.input.barriers {
            let node_id = barrier_id(barrier.number);
            let label = format!("barrier in {}", function_words(&barrier.place));
            let place = place_of_line(&barrier.place);
            graph.add_placed_node(&node_id, CouplingNodeKind::Barrier, label, place);
            let label = "invocations that meet";
            graph.add_edge(LOCAL_SIZE, &node_id, CouplingEdgeKind::Sizes, label);
            for object in self.shared_and_written() {
                if !self.is_ordered(&object, barrier.memory_semantics) {
                    continue;
                }
                for to in self.node_ids(&object) {
                    graph.add_edge(&node_id, &to, CouplingEdgeKind::Orders, "");
                }
            }
        }
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

    /// Edges of what accesses, decisions and barriers depend on.
    pub(super) fn add_flow(&self, graph: &mut CouplingGraph) {
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
    fn used_objects(&self) -> BTreeSet<KernelObject> {
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
    fn shared_and_written(&self) -> BTreeSet<KernelObject> {
        let accesses = self.flow.dependences.accesses.iter();
        accesses.flat_map(|access| access.writes.iter().copied()).collect()
    }

    /// The nodes of an object: several members where the offset is not constant, none of what is no
    /// node.
    fn node_ids(&self, object: &KernelObject) -> Vec<String> {
        match object {
            KernelObject::PushConstant { offset } => self.push_constant_ids(*offset),
            KernelObject::SpecializationConstant(id) => vec![format!("specialization:{id}")],
            KernelObject::BuiltIn(built_in) => vec![format!("built-in:{built_in:?}")],
            KernelObject::Descriptor { set, binding } => {
                let resources = self.input.reflection.resources.iter();
                let bound = resources.filter(|row| (row.set, row.binding) == (*set, *binding));
                let ids: BTreeSet<String> = bound.map(resource_id).collect();
                ids.into_iter().collect()
            }
            KernelObject::Workgroup(variable) => {
                let name = name_or_number(self.flow.module.debug_name(*variable), '%', variable);
                vec![format!("workgroup:{name}")]
            }
            KernelObject::Addressed => vec!["addressed-memory".to_owned()],
            KernelObject::SubgroupOperation(number) => {
                vec![format!("subgroup-operation:{number}")]
            }
            KernelObject::StandIn(call) => self
                .flow
                .marked_decisions
                .get(call)
                .map(|id| decision_id(*id))
                .into_iter()
                .collect(),
        }
    }

    /// The member that holds an offset; all of them where it is not constant.
    fn push_constant_ids(&self, offset: Option<u64>) -> Vec<String> {
        let members: Vec<Option<u32>> = self
            .input
            .reflection
            .push_constants
            .iter()
            .flat_map(|block| block.members.iter().map(|member| member.offset))
            .collect();
        let holds = |start: &Option<u32>| match (offset, start) {
            (Some(offset), Some(start)) => u64::from(*start) <= offset,
            (None, _) | (_, None) => false,
        };
        let holding = members.iter().enumerate().filter(|(_, start)| holds(start));
        let holding = holding.max_by_key(|(_, start)| **start).map(|(index, _)| index);
        match holding {
            Some(index) => vec![format!("push-constant:{index}")],
            None => (0..members.len()).map(|index| format!("push-constant:{index}")).collect(),
        }
    }

    /// Whether a barrier's semantics name the memory of an object (SPIR-V specification, "Memory
    /// Semantics").
    fn is_ordered(&self, object: &KernelObject, semantics: MemorySemantics) -> bool {
        let needed = match object {
            KernelObject::Workgroup(_) => MemorySemantics::WORKGROUP_MEMORY,
            KernelObject::Descriptor { set, binding } => {
                let resources = self.input.reflection.resources.iter();
                let bound = resources.filter(|row| (row.set, row.binding) == (*set, *binding));
                bound.fold(MemorySemantics::empty(), |needed, resource| {
                    needed | descriptor_memory(resource.class)
                })
            }
            KernelObject::Addressed => MemorySemantics::UNIFORM_MEMORY,
            KernelObject::PushConstant { .. }
            | KernelObject::SpecializationConstant(_)
            | KernelObject::BuiltIn(_)
            | KernelObject::SubgroupOperation(_)
            | KernelObject::StandIn(_) => MemorySemantics::empty(),
        };
        semantics.intersects(needed)
    }

    fn code_place(&self, instruction_index: usize) -> Option<CodePlace> {
        place_of_line(&self.flow.module.place_of(instruction_index))
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

/// The memory that a descriptor leads to, as semantics name it: blocks are of uniform memory, all
/// else is of images.
fn descriptor_memory(class: DescriptorClass) -> MemorySemantics {
    match is_buffer(class) {
        true => MemorySemantics::UNIFORM_MEMORY,
        false => MemorySemantics::IMAGE_MEMORY,
    }
}

/// `barrier:BAR1`; `number` counts the barriers of the module from 0.
fn barrier_id(number: u32) -> String {
    format!("barrier:BAR{}", number + 1)
}

fn decision_id(decision: DecisionId) -> String {
    format!("decision:{decision}")
}

/// Whether it is a block of memory; else it is an image, a texel buffer or a sampler.
fn is_buffer(class: DescriptorClass) -> bool {
    match class {
        DescriptorClass::Storage
        | DescriptorClass::Uniform
        | DescriptorClass::StorageDynamic
        | DescriptorClass::UniformDynamic => true,
        DescriptorClass::StorageImage
        | DescriptorClass::SampledImage
        | DescriptorClass::Sampler
        | DescriptorClass::Combined
        | DescriptorClass::UniformTexel
        | DescriptorClass::StorageTexel => false,
    }
}

fn resource_kind(resource: &ReflectedResource) -> CouplingNodeKind {
    if is_buffer(resource.class) { CouplingNodeKind::Buffer } else { CouplingNodeKind::Image }
}

fn resource_id(resource: &ReflectedResource) -> String {
    let kind = if is_buffer(resource.class) { "buffer" } else { "image" };
    format!("{kind}:{}.{}", resource.set, resource.binding)
}

/// A name, or a number behind a mark where there is none.
fn name_or_number(name: Option<&str>, mark: char, number: impl Display) -> Cow<'_, str> {
    match name {
        Some(name) if !name.is_empty() => Cow::from(name),
        Some(_) | None => Cow::from(format!("{mark}{number}")),
    }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read only",
        Access::WriteOnly => "write only",
        Access::ReadWrite => "may be read and written",
        Access::None => "asked for its length alone",
    }
}

fn function_words(place: &Place) -> String {
    place.function.clone().unwrap_or_else(|| "a function".to_owned())
}

fn place_of_line(place: &Place) -> Option<CodePlace> {
    Some(CodePlace { file: place.file.clone()?, line: place.line? })
}

fn place_of_span(structure: &KernelStructure, span: Span) -> Option<CodePlace> {
    let file = structure.files.get(span.file.0 as usize)?;
    let line = Position::of(&file.text, span.start as usize).line;
    Some(CodePlace { file: file.path.clone(), line })
}
