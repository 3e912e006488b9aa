//! The host's side of the coupling graph: what it computes, and what it hands the kernel.
//!
//! Knows: the interface and its parsed expressions.
//! Promises: every name that an expression uses has an edge to what the expression gives.
//! Does not cover: how the host program itself computes; the interface is what its author states.

use super::kernel::members::BufferMembers;
use super::{CouplingGraph, DISPATCH, LOCAL_SIZE, NewEdge};
use crate::expressions::HostExpressions;
use crate::merging::SharedObject;
use crate::{CouplingInput, layout};
use std::collections::BTreeSet;
use vkcert_model::evidence::{CouplingEdgeKind, CouplingNodeKind};
use vkcert_model::requirement::{HeaderUse, HostBuffer, HostContents, HostMember};
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{HostExpression, type_name};

/// What the host's nodes are made of.
pub(super) struct HostNodes<'a> {
    pub input: &'a CouplingInput<'a>,
    pub host: &'a HostModel,
    pub expressions: &'a HostExpressions,
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl HostNodes<'_> {
    /// Parameters, and what the host computes from them.
    pub(super) fn add_values(&self, graph: &mut CouplingGraph) {
        for parameter in &self.input.interface.parameters {
            let label = format!(
                "{} {} from {} to {}",
                type_name(parameter.width),
                parameter.name,
                parameter.min,
                parameter.max
            );
            let node_id = format!("parameter:{}", parameter.name);
            graph.add_node(&node_id, CouplingNodeKind::Parameter, label);
        }
        for local in &self.input.interface.locals {
            let label = format!("{} {} = {}", type_name(local.width), local.name, local.value);
            graph.add_node(&format!("local:{}", local.name), CouplingNodeKind::Local, label);
        }
        for (name, expression) in self.host.locals() {
            let node_id = format!("local:{}", name.name);
            self.add_uses(graph, &node_id, expression, CouplingEdgeKind::FlowsTo, "");
        }
    }

    /// The members of the struct that the host pushes.
    pub(super) fn add_members(&self, graph: &mut CouplingGraph) {
        let Some(host_struct) = &self.input.interface.push_constants else { return };
        let offsets = layout::member_offsets(self.input.interface);
        for (member, offset) in host_struct.members.iter().zip(offsets) {
            let node_id = format!("host-member:{}", member.name);
            let label = format!("{} {} at offset {offset}", member.type_words(), member.name);
            graph.add_node(&node_id, CouplingNodeKind::HostMember, label);
            if let Some(expression) = self.expressions.members.get(&member.name) {
                self.add_uses(graph, &node_id, expression, CouplingEdgeKind::FlowsTo, "");
            }
            if member.value.is_none() {
                for source_kind in ["parameter", "local"] {
                    let source = format!("{source_kind}:{}", member.name);
                    graph.add_edge(&source, &node_id, CouplingEdgeKind::FlowsTo, "");
                }
            }
        }
    }

    /// What the host hands to the kernel's inputs, which stand already.
    pub(super) fn add_hand_over(&self, graph: &mut CouplingGraph) {
        let reflection = self.input.reflection;
        let block_members =
            reflection.push_constants.iter().flat_map(|block| &block.members).enumerate();
        for (member_index, member) in block_members {
            let Some(stored) = self.stored_member(member.name.as_deref(), member.offset) else {
                continue;
            };
            // A member of another name: the check of the push constants refutes it.
            let label = if Some(stored.name.as_str()) == member.name.as_deref() {
                String::new()
            } else {
                format!("stored as {}", stored.name)
            };
            let from = format!("host-member:{}", stored.name);
            let to = format!("push-constant:{member_index}");
            graph.add_edge(&from, &to, CouplingEdgeKind::FlowsTo, &label);
        }
        let constants = self.input.interface.specialization.iter();
        for (constant, expression) in constants.zip(&self.expressions.specialization) {
            let Some(expression) = expression else { continue };
            let node_id = format!("specialization:{}", constant.id);
            self.add_uses(graph, &node_id, expression, CouplingEdgeKind::FlowsTo, "");
        }
        let buffers = self.input.interface.buffers.iter();
        for (buffer, expression) in buffers.zip(&self.expressions.buffers) {
            let node_id = format!("buffer:{}.{}", buffer.set, buffer.binding);
            self.add_uses(graph, &node_id, expression, CouplingEdgeKind::Sizes, "");
        }
    }

    /// The members of the structs that the host stores in buffers, which flow to the kernel's members
    /// at their places; those of elements flow to all of the buffer's.
    pub(super) fn add_stored_members(&self, graph: &mut CouplingGraph) {
        let kernel_members = BufferMembers::of_input(self.input);
        for HostBuffer { set, binding, .. } in &self.input.interface.buffers {
            let (set, binding) = (*set, *binding);
            let form = self.input.stated.stored_form(SharedObject::Buffer { set, binding });
            let Some(form) = form else { continue };
            let HostContents::Structure(structure) = &form.contents else { continue };
            for member in &structure.members {
                let node_id = format!("host-member:{set}.{binding}.{}", member.name);
                let type_words =
                    member.spelling.as_deref().unwrap_or_else(|| member.contents.kind());
                let label = format!(
                    "{type_words} {}.{} at offset {}",
                    form.name, member.name, member.offset
                );
                graph.add_node(&node_id, CouplingNodeKind::HostMember, label);
                let kernel_offset = match form.describes {
                    HeaderUse::Block | HeaderUse::PushConstants => Some(member.offset),
                    HeaderUse::Element => None,
                };
                let targets = kernel_members.ids_at((set, binding), kernel_offset);
                for target in targets.unwrap_or_else(|| vec![format!("buffer:{set}.{binding}")]) {
                    graph.add_edge(&node_id, &target, CouplingEdgeKind::FlowsTo, "");
                }
            }
        }
    }

    /// What the host stores where the kernel reads a member: the one at its offset; by name where
    /// the module gives no offset.
    fn stored_member(
        &self,
        kernel_name: Option<&str>,
        kernel_offset: Option<u32>,
    ) -> Option<&HostMember> {
        let host_struct = self.input.interface.push_constants.as_ref()?;
        let offsets = layout::member_offsets(self.input.interface);
        host_struct.members.iter().zip(offsets).find_map(|(member, offset)| {
            let is_read = match kernel_offset {
                Some(kernel_offset) => u64::from(kernel_offset) == offset,
                None => Some(member.name.as_str()) == kernel_name,
            };
            is_read.then_some(member)
        })
    }

    /// The dispatch, the local size that it assumes and the domain that it is to cover.
    pub(super) fn add_dispatch(&self, graph: &mut CouplingGraph) {
        let interface = self.input.interface;
        let [x, y, z] = &interface.groups;
        let label = format!("({x}, {y}, {z}) workgroups");
        graph.add_node(DISPATCH, CouplingNodeKind::Dispatch, label);
        graph.add_edge(DISPATCH, super::KERNEL, CouplingEdgeKind::Controls, "starts");
        for (axis_name, expression) in AXES.iter().zip(&self.expressions.groups) {
            self.add_uses(graph, DISPATCH, expression, CouplingEdgeKind::Sizes, axis_name);
        }
        if let Some([x, y, z]) = interface.local_size {
            let node_id = "assumed-local-size";
            let label = format!("{x} x {y} x {z}");
            graph.add_node(node_id, CouplingNodeKind::AssumedLocalSize, label);
            graph.add_edge(node_id, DISPATCH, CouplingEdgeKind::Sizes, "divides the domain");
            graph.add_edge(node_id, LOCAL_SIZE, CouplingEdgeKind::Sizes, "is to be equal");
        }
        if let (Some([x, y, z]), Some(domain)) = (&interface.domain, &self.expressions.domain) {
            graph.add_node("domain", CouplingNodeKind::Domain, format!("{x} x {y} x {z}"));
            for (axis_name, expression) in AXES.iter().zip(domain) {
                self.add_uses(graph, "domain", expression, CouplingEdgeKind::Sizes, axis_name);
            }
            graph.add_edge(DISPATCH, "domain", CouplingEdgeKind::Sizes, "is to cover");
            graph.add_edge(LOCAL_SIZE, "domain", CouplingEdgeKind::Sizes, "is to cover");
        }
    }

    /// Edges from every name of an expression.
    fn add_uses(
        &self,
        graph: &mut CouplingGraph,
        to: &str,
        expression: &HostExpression,
        kind: CouplingEdgeKind,
        label: &str,
    ) {
        let mut name_indices = BTreeSet::new();
        expression.collect_names(&mut name_indices);
        for name_index in name_indices {
            let from = self.value_id(name_index);
            graph.add_placed_edge(NewEdge { from: &from, to, kind: kind.clone(), label }, None);
        }
    }

    /// The node of a parameter or local.
    fn value_id(&self, name_index: usize) -> String {
        let is_parameter = name_index < self.input.interface.parameters.len();
        let kind = if is_parameter { "parameter" } else { "local" };
        format!("{kind}:{}", self.host.names[name_index].name)
    }
}
