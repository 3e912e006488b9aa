//! The coupling graph: what of the host flows into what of the kernel.
//!
//! Knows: parameters, locals, push-constant members, specialization constants, buffers, dispatch,
//! local size, workgroup arrays, barriers and decisions, with data edges (a value is used) and
//! control edges (a branch decides).
//! Promises: node ids are stable and nodes ordered as they are added; an edge is made only where a
//! name, an offset, a binding or an analysis says so. Whether the two ends agree is for the checks.
//! Does not cover: data flow inside the kernel between its inputs and its decisions beyond names: a
//! decision is coupled to the push-constant members and specialization constants whose names its
//! text holds. What one kernel hands to another is not of a kernel but of a test; reports tell it
//! from the tests.

use super::expressions::HostExpressions;
use super::{BarrierControl, CouplingInput, layout};
use petgraph::graph::{DiGraph, NodeIndex};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use vkcert_model::evidence::{CouplingEdge, CouplingEdgeKind, CouplingNode, CouplingNodeKind};
use vkcert_model::requirement::HostMember;
use vkcert_model::structure::KernelStructure;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{HostExpression, type_name};
use vkcert_spirv::interface::Access;

/// The graph over evidence nodes; edge weights are kind (`data` or `control`) and label.
#[derive(Debug, Clone, Default)]
pub struct CouplingGraph {
    /// The graph itself.
    pub graph: DiGraph<CouplingNode, (CouplingEdgeKind, String)>,
    by_id: BTreeMap<String, NodeIndex>,
}

/// An edge with the nodes at its ends.
struct GraphEdge<'a> {
    from: &'a CouplingNode,
    to: &'a CouplingNode,
    kind: &'a CouplingEdgeKind,
    label: &'a str,
}

impl CouplingGraph {
    fn add_node(&mut self, id: &str, kind: CouplingNodeKind, label: String) {
        if !self.by_id.contains_key(id) {
            let new_node = CouplingNode { id: id.to_owned(), kind, label };
            let node_index = self.graph.add_node(new_node);
            self.by_id.insert(id.to_owned(), node_index);
        }
    }

    /// Adds an edge if both ends exist and it is new.
    fn add_edge(&mut self, from: &str, to: &str, kind: CouplingEdgeKind, label: &str) {
        let (Some(from), Some(to)) = (self.by_id.get(from).copied(), self.by_id.get(to).copied())
        else {
            return;
        };
        let is_known = self.graph.edges_connecting(from, to).any(|edge| edge.weight().0 == kind);
        if !is_known {
            self.graph.add_edge(from, to, (kind, label.to_owned()));
        }
    }

    /// Nodes in order of making.
    pub fn nodes(&self) -> Vec<CouplingNode> {
        self.graph.node_weights().cloned().collect()
    }

    /// Edges in order of making.
    pub fn edges(&self) -> Vec<CouplingEdge> {
        let evidence_edge = |edge: GraphEdge<'_>| CouplingEdge {
            from: edge.from.id.clone(),
            to: edge.to.id.clone(),
            kind: edge.kind.clone(),
            label: edge.label.to_owned(),
        };
        self.graph_edges().map(evidence_edge).collect()
    }

    fn graph_edges(&self) -> impl Iterator<Item = GraphEdge<'_>> {
        self.graph.edge_indices().map(|edge_index| {
            let (from, to) =
                self.graph.edge_endpoints(edge_index).expect("the edge is of this graph");
            let (kind, label) = &self.graph[edge_index];
            GraphEdge { from: &self.graph[from], to: &self.graph[to], kind, label }
        })
    }

    /// One line per node with what it depends on.
    pub fn in_words(&self) -> String {
        let mut graph_text = String::new();
        let edges: Vec<GraphEdge<'_>> = self.graph_edges().collect();
        for node in self.graph.node_weights() {
            graph_text.push_str(&format!("{} ({}): {}\n", node.id, node.kind, node.label));
            for edge in edges.iter().filter(|edge| edge.to.id == node.id) {
                let edge_words =
                    if edge.label.is_empty() { String::new() } else { format!(", {}", edge.label) };
                graph_text
                    .push_str(&format!("    <- {} ({}{edge_words})\n", edge.from.id, edge.kind));
            }
        }
        graph_text
    }

    /// Graphviz, under a name.
    pub fn graphviz_text(&self, graph_name: &str) -> String {
        let quoted_text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut graph_text = format!(
            "digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n",
            quoted_text(graph_name)
        );
        for node in self.graph.node_weights() {
            graph_text.push_str(&format!(
                "  \"{}\" [label=\"{}\\n{}\"];\n",
                quoted_text(&node.id),
                quoted_text(node.kind.as_str()),
                quoted_text(&node.label)
            ));
        }
        for edge in self.graph_edges() {
            let edge_style = match edge.kind {
                CouplingEdgeKind::Control => "dashed",
                CouplingEdgeKind::Data | CouplingEdgeKind::Unknown(_) => "solid",
            };
            let edge_label = quoted_text(edge.label);
            graph_text.push_str(&format!(
                "  \"{}\" -> \"{}\" [style={edge_style}, label=\"{edge_label}\"];\n",
                quoted_text(&edge.from.id),
                quoted_text(&edge.to.id)
            ));
        }
        graph_text + "}\n"
    }

    /// `{"nodes": [...], "edges": [...]}`
    pub fn as_json(&self) -> serde_json::Value {
        serde_json::json!({ "nodes": self.nodes(), "edges": self.edges() })
    }
}

/// Builds the graph of one kernel.
pub(super) fn build_graph(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) -> CouplingGraph {
    let mut graph = CouplingGraph::default();
    graph.add_node(KERNEL, CouplingNodeKind::Kernel, input.interface.kernel.to_string());
    add_host_values(&mut graph, input, host);
    add_kernel_inputs(&mut graph, input, host, expressions);
    add_dispatch(&mut graph, input, host, expressions);
    add_barriers(&mut graph, input);
    if let Some(structure) = input.structure {
        add_decisions(&mut graph, input, structure);
    }
    graph
}

/// The node of the kernel itself.
const KERNEL: &str = "kernel";

/// The node of a parameter or local.
fn value_id(input: &CouplingInput<'_>, host: &HostModel, name_index: usize) -> String {
    let kind = if name_index < input.interface.parameters.len() { "parameter" } else { "local" };
    format!("{kind}:{}", host.names[name_index].name)
}

fn add_uses(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    to: &str,
    expression: &HostExpression,
    label: &str,
) {
    let mut name_indices = std::collections::BTreeSet::new();
    expression.collect_names(&mut name_indices);
    for name_index in name_indices {
        graph.add_edge(&value_id(input, host, name_index), to, CouplingEdgeKind::Data, label);
    }
}

fn add_host_values(graph: &mut CouplingGraph, input: &CouplingInput<'_>, host: &HostModel) {
    for parameter in &input.interface.parameters {
        let width_name = type_name(parameter.width);
        let label = format!(
            "{} {} from {} to {}",
            width_name, parameter.name, parameter.min, parameter.max
        );
        graph.add_node(
            &format!("parameter:{}", parameter.name),
            CouplingNodeKind::Parameter,
            label,
        );
    }
    for local in &input.interface.locals {
        let width_name = type_name(local.width);
        graph.add_node(
            &format!("local:{}", local.name),
            CouplingNodeKind::Local,
            format!("{width_name} {} = {}", local.name, local.value),
        );
    }
    for (name, expression) in host.locals() {
        add_uses(graph, input, host, &format!("local:{}", name.name), expression, "");
    }
}

fn add_kernel_inputs(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) {
    for (member_index, member) in
        input.reflection.push_constants.iter().flat_map(|block| &block.members).enumerate()
    {
        let input_name = name_or_number(member.name.as_deref(), '#', member_index);
        let node_id = format!("push-constant:{member_index}");
        let offset_words = member.offset.map_or("?".to_owned(), |offset| offset.to_string());
        graph.add_node(
            &node_id,
            CouplingNodeKind::PushConstant,
            format!("{input_name} at offset {offset_words}"),
        );
        graph.add_edge(&node_id, KERNEL, CouplingEdgeKind::Data, "read");
        let Some(stored_member) = stored_member(input, &input_name, member.offset) else {
            continue;
        };
        // A member of another name: the check of the push constants refutes it.
        let edge_label = if stored_member.name == input_name {
            String::new()
        } else {
            format!("stored as {}", stored_member.name)
        };
        if let Some(expression) = expressions.members.get(&stored_member.name) {
            add_uses(graph, input, host, &node_id, expression, &edge_label);
        }
        if stored_member.value.is_none() {
            for source_kind in ["parameter", "local"] {
                let source = format!("{source_kind}:{}", stored_member.name);
                graph.add_edge(&source, &node_id, CouplingEdgeKind::Data, &edge_label);
            }
        }
    }
    for constant in &input.reflection.specialization {
        let node_id = format!("specialization:{}", constant.spec_id);
        let input_name = constant.name.as_deref().unwrap_or("-");
        graph.add_node(
            &node_id,
            CouplingNodeKind::SpecializationConstant,
            format!("{} {input_name}", constant.type_name),
        );
        graph.add_edge(&node_id, KERNEL, CouplingEdgeKind::Data, "fixed when the pipeline is made");
        let stated_constants =
            input.interface.specialization.iter().zip(&expressions.specialization);
        for (_, expression) in
            stated_constants.filter(|(stated_constants, _)| stated_constants.id == constant.spec_id)
        {
            add_uses(graph, input, host, &node_id, expression, "");
        }
    }
    for resource in &input.reflection.resources {
        let node_id = format!("buffer:{}.{}", resource.set, resource.binding);
        let input_name = resource.name.as_deref().unwrap_or("-");
        graph.add_node(
            &node_id,
            CouplingNodeKind::Buffer,
            format!("{input_name}, {}", access_words(resource.access)),
        );
        if matches!(resource.access, Access::ReadOnly | Access::ReadWrite) {
            graph.add_edge(&node_id, KERNEL, CouplingEdgeKind::Data, "read");
        }
        if matches!(resource.access, Access::WriteOnly | Access::ReadWrite) {
            graph.add_edge(KERNEL, &node_id, CouplingEdgeKind::Data, "written");
        }
        let stated_sizes = input.interface.buffers.iter().zip(&expressions.buffers);
        for (_, expression) in stated_sizes.filter(|(stated_buffer, _)| {
            (stated_buffer.set, stated_buffer.binding) == (resource.set, resource.binding)
        }) {
            add_uses(graph, input, host, &node_id, expression, "size");
        }
    }
}

/// What the host stores where the kernel reads a member: the one at its offset; by name where the
/// module gives no offset.
fn stored_member<'a>(
    input: &CouplingInput<'a>,
    kernel_name: &str,
    kernel_offset: Option<u32>,
) -> Option<&'a HostMember> {
    let host_struct = input.interface.push_constants.as_ref()?;
    let offsets = layout::member_offsets(host_struct);
    host_struct.members.iter().zip(offsets).find_map(|(member, offset)| {
        let is_read = match kernel_offset {
            Some(kernel_offset) => kernel_offset == offset,
            None => member.name == kernel_name,
        };
        is_read.then_some(member)
    })
}

/// A name, or a number behind a mark where there is none.
fn name_or_number(name: Option<&str>, mark: char, number: impl Display) -> Cow<'_, str> {
    name.map_or_else(|| Cow::from(format!("{mark}{number}")), Cow::from)
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read only",
        Access::WriteOnly => "write only",
        Access::ReadWrite => "may be read and written",
        Access::None => "asked for its length alone",
    }
}

fn add_dispatch(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) {
    let local_size = input.reflection.local_size;
    graph.add_node(
        "local-size",
        CouplingNodeKind::LocalSize,
        format!("{} x {} x {}", local_size[0], local_size[1], local_size[2]),
    );
    let group_texts = &input.interface.groups;
    graph.add_node(
        "dispatch",
        CouplingNodeKind::Dispatch,
        format!("({}, {}, {}) workgroups", group_texts[0], group_texts[1], group_texts[2]),
    );
    graph.add_edge("local-size", "dispatch", CouplingEdgeKind::Data, "invocations per workgroup");
    graph.add_edge("dispatch", KERNEL, CouplingEdgeKind::Control, "starts");
    for (axis_name, expression) in ["x", "y", "z"].iter().zip(&expressions.groups) {
        add_uses(graph, input, host, "dispatch", expression, axis_name);
    }
    if let (Some(domain_texts), Some(domain)) = (&input.interface.domain, &expressions.domain) {
        graph.add_node(
            "domain",
            CouplingNodeKind::Domain,
            format!("{} x {} x {}", domain_texts[0], domain_texts[1], domain_texts[2]),
        );
        for (axis_name, expression) in ["x", "y", "z"].iter().zip(domain) {
            add_uses(graph, input, host, "domain", expression, axis_name);
        }
        graph.add_edge("dispatch", "domain", CouplingEdgeKind::Data, "is to cover");
    }
    for variable in &input.reflection.workgroup {
        let array_name = name_or_number(variable.name.as_deref(), '%', variable.variable);
        let node_id = format!("workgroup:{array_name}");
        graph.add_node(
            &node_id,
            CouplingNodeKind::WorkgroupMemory,
            format!("{array_name}, {} bytes", variable.size),
        );
        graph.add_edge(KERNEL, &node_id, CouplingEdgeKind::Data, "in workgroup memory");
    }
}

fn barrier_id(barrier: &super::Barrier) -> String {
    format!("barrier:{}", barrier.place.instruction.map_or("?".to_owned(), |word| word.to_string()))
}

fn add_barriers(graph: &mut CouplingGraph, input: &CouplingInput<'_>) {
    for barrier in input.barriers {
        let node_id = barrier_id(barrier);
        graph.add_node(&node_id, CouplingNodeKind::Barrier, format!("at {}", barrier.place));
        graph.add_edge("local-size", &node_id, CouplingEdgeKind::Control, "invocations that meet");
        for variable in &input.reflection.workgroup {
            let array_name = name_or_number(variable.name.as_deref(), '%', variable.variable);
            graph.add_edge(
                &node_id,
                &format!("workgroup:{array_name}"),
                CouplingEdgeKind::Data,
                "orders",
            );
        }
    }
}

fn add_decisions(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    structure: &KernelStructure,
) {
    for decision in &structure.decisions {
        let node_id = format!("decision:{}", decision.id);
        graph.add_node(&node_id, CouplingNodeKind::Decision, decision.text.clone());
        let decision_words: Vec<&str> =
            decision.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for (member_index, member) in
            input.reflection.push_constants.iter().flat_map(|block| &block.members).enumerate()
        {
            if member.name.as_deref().is_some_and(|name| decision_words.contains(&name)) {
                graph.add_edge(
                    &format!("push-constant:{member_index}"),
                    &node_id,
                    CouplingEdgeKind::Data,
                    "",
                );
            }
        }
        for constant in &input.reflection.specialization {
            if constant.name.as_deref().is_some_and(|name| decision_words.contains(&name)) {
                graph.add_edge(
                    &format!("specialization:{}", constant.spec_id),
                    &node_id,
                    CouplingEdgeKind::Data,
                    "",
                );
            }
        }
        for barrier in input.barriers {
            let line_of_span = |span: vkcert_model::place::Span| {
                let file = structure.files.get(span.file.0 as usize)?;
                Some(vkcert_model::place::Position::of(&file.text, span.start as usize).line)
            };
            if let BarrierControl::Divergent { branch, .. } = &barrier.control
                && branch.line.is_some()
                && branch.line == line_of_span(decision.span)
            {
                graph.add_edge(
                    &node_id,
                    &barrier_id(barrier),
                    CouplingEdgeKind::Control,
                    "not uniform",
                );
            }
        }
    }
}
