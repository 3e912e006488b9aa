//! The coupling graph: what of the host flows into what of the kernel.
//!
//! Knows: parameters, locals, push-constant members, specialization constants, buffers, dispatch,
//! local size, workgroup arrays, barriers and decisions, with data edges (a value is used) and
//! control edges (a branch decides).
//! Promises: node ids are stable and nodes ordered as they are added; an edge is made only where a
//! name, a binding or an analysis says so.
//! Does not cover: data flow inside the kernel between its inputs and its decisions beyond names: a
//! decision is coupled to the push-constant members and specialization constants whose names its
//! text holds. What one kernel hands to another is not of a kernel but of a test; reports tell it
//! from the tests.

use super::expressions::Expressions;
use super::{BarrierControl, CouplingInput};
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeMap;
use vkcert_model::evidence::{CouplingEdge, CouplingNode};
use vkcert_model::structure::KernelStructure;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{HostExpression, type_name};
use vkcert_spirv::interface::Access;

/// The graph over evidence nodes; edge weights are kind (`data` or `control`) and label.
#[derive(Debug, Clone, Default)]
pub struct CouplingGraph {
    /// The graph itself.
    pub graph: DiGraph<CouplingNode, (EdgeKind, String)>,
    by_id: BTreeMap<String, NodeIndex>,
}

/// How one node depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The target takes values of the source, or is sized, ordered or covered by it.
    Data,
    /// The source decides whether or how the target is executed.
    Control,
}

impl EdgeKind {
    /// The name in evidence.
    pub fn name(self) -> &'static str {
        match self {
            EdgeKind::Data => "data",
            EdgeKind::Control => "control",
        }
    }
}

impl CouplingGraph {
    fn node(&mut self, id: &str, kind: &str, label: String) {
        if !self.by_id.contains_key(id) {
            let node = CouplingNode { id: id.to_owned(), kind: kind.to_owned(), label };
            let index = self.graph.add_node(node);
            self.by_id.insert(id.to_owned(), index);
        }
    }

    /// Adds an edge if both ends exist and it is new.
    fn edge(&mut self, from: &str, to: &str, kind: EdgeKind, label: &str) {
        let (Some(from), Some(to)) = (self.by_id.get(from).copied(), self.by_id.get(to).copied())
        else {
            return;
        };
        let known = self.graph.edges_connecting(from, to).any(|edge| edge.weight().0 == kind);
        if !known {
            self.graph.add_edge(from, to, (kind, label.to_owned()));
        }
    }

    /// Nodes in order of making.
    pub fn nodes(&self) -> Vec<CouplingNode> {
        self.graph.node_weights().cloned().collect()
    }

    /// Edges in order of making.
    pub fn edges(&self) -> Vec<CouplingEdge> {
        let id = |index: NodeIndex| self.graph[index].id.clone();
        let edge = |index| {
            let (from, to) = self.graph.edge_endpoints(index).expect("the edge is of this graph");
            let (kind, label) = &self.graph[index];
            CouplingEdge {
                from: id(from),
                to: id(to),
                kind: kind.name().to_owned(),
                label: label.clone(),
            }
        };
        self.graph.edge_indices().map(edge).collect()
    }

    /// One line per node with what it depends on.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let edges = self.edges();
        for node in self.nodes() {
            text.push_str(&format!("{} ({}): {}\n", node.id, node.kind, node.label));
            for edge in edges.iter().filter(|edge| edge.to == node.id) {
                let label =
                    if edge.label.is_empty() { String::new() } else { format!(", {}", edge.label) };
                text.push_str(&format!("    <- {} ({}{label})\n", edge.from, edge.kind));
            }
        }
        text
    }

    /// Graphviz, under a name.
    pub fn dot(&self, name: &str) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let mut text =
            format!("digraph \"{}\" {{\n  rankdir=LR;\n  node [shape=box];\n", quoted(name));
        for node in self.nodes() {
            text.push_str(&format!(
                "  \"{}\" [label=\"{}\\n{}\"];\n",
                quoted(&node.id),
                quoted(&node.kind),
                quoted(&node.label)
            ));
        }
        for edge in self.edges() {
            let style = if edge.kind == "control" { "dashed" } else { "solid" };
            let label = quoted(&edge.label);
            text.push_str(&format!(
                "  \"{}\" -> \"{}\" [style={style}, label=\"{label}\"];\n",
                quoted(&edge.from),
                quoted(&edge.to)
            ));
        }
        text + "}\n"
    }

    /// `{"nodes": [...], "edges": [...]}`
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({ "nodes": self.nodes(), "edges": self.edges() })
    }
}

/// Builds the graph of one kernel.
pub(super) fn build(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &Expressions,
) -> CouplingGraph {
    let mut graph = CouplingGraph::default();
    graph.node(KERNEL, "kernel", input.interface.kernel.to_string());
    host_values(&mut graph, input, host);
    kernel_inputs(&mut graph, input, host, expressions);
    dispatch(&mut graph, input, host, expressions);
    barriers(&mut graph, input);
    if let Some(structure) = input.structure {
        decisions(&mut graph, input, structure);
    }
    graph
}

/// The node of the kernel itself.
const KERNEL: &str = "kernel";

/// The node of a parameter or local.
fn value_id(input: &CouplingInput<'_>, host: &HostModel, name: usize) -> String {
    let kind = if name < input.interface.parameters.len() { "parameter" } else { "local" };
    format!("{kind}:{}", host.names[name].name)
}

fn used_by(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    to: &str,
    expression: &HostExpression,
    label: &str,
) {
    let mut names = std::collections::BTreeSet::new();
    expression.collect_names(&mut names);
    for name in names {
        graph.edge(&value_id(input, host, name), to, EdgeKind::Data, label);
    }
}

fn host_values(graph: &mut CouplingGraph, input: &CouplingInput<'_>, host: &HostModel) {
    for parameter in &input.interface.parameters {
        let width = type_name(parameter.width);
        let label =
            format!("{} {} from {} to {}", width, parameter.name, parameter.min, parameter.max);
        graph.node(&format!("parameter:{}", parameter.name), "parameter", label);
    }
    for local in &input.interface.locals {
        let width = type_name(local.width);
        graph.node(
            &format!("local:{}", local.name),
            "local",
            format!("{width} {} = {}", local.name, local.value),
        );
    }
    for (name, expression) in host.locals() {
        used_by(graph, input, host, &format!("local:{}", name.name), expression, "");
    }
}

fn kernel_inputs(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &Expressions,
) {
    for (index, member) in
        input.reflection.push_constants.iter().flat_map(|block| &block.members).enumerate()
    {
        let name = member.name.clone().unwrap_or_else(|| format!("#{index}"));
        let id = format!("push-constant:{index}");
        let offset = member.offset.map_or("?".to_owned(), |offset| offset.to_string());
        graph.node(&id, "push constant", format!("{name} at offset {offset}"));
        if let Some(expression) = expressions.members.get(&name) {
            used_by(graph, input, host, &id, expression, "");
        }
        let stated = input.interface.push_constants.iter().flat_map(|block| &block.members);
        graph.edge(&id, KERNEL, EdgeKind::Data, "read");
        if stated.into_iter().any(|stated| stated.name == name && stated.value.is_none()) {
            graph.edge(&format!("parameter:{name}"), &id, EdgeKind::Data, "");
            graph.edge(&format!("local:{name}"), &id, EdgeKind::Data, "");
        }
    }
    for constant in &input.reflection.specialization {
        let id = format!("specialization:{}", constant.spec_id);
        let name = constant.name.as_deref().unwrap_or("-");
        graph.node(&id, "specialization constant", format!("{} {name}", constant.type_name));
        graph.edge(&id, KERNEL, EdgeKind::Data, "fixed when the pipeline is made");
        let set = input.interface.specialization.iter().zip(&expressions.specialization);
        for (_, expression) in set.filter(|(set, _)| set.id == constant.spec_id) {
            used_by(graph, input, host, &id, expression, "");
        }
    }
    for resource in &input.reflection.resources {
        let id = format!("buffer:{}.{}", resource.set, resource.binding);
        let name = resource.name.as_deref().unwrap_or("-");
        graph.node(&id, "buffer", format!("{name}, {}", access(resource.access)));
        if matches!(resource.access, Access::ReadOnly | Access::ReadWrite) {
            graph.edge(&id, KERNEL, EdgeKind::Data, "read");
        }
        if matches!(resource.access, Access::WriteOnly | Access::ReadWrite) {
            graph.edge(KERNEL, &id, EdgeKind::Data, "written");
        }
        let sizes = input.interface.buffers.iter().zip(&expressions.buffers);
        for (_, expression) in
            sizes.filter(|(b, _)| (b.set, b.binding) == (resource.set, resource.binding))
        {
            used_by(graph, input, host, &id, expression, "size");
        }
    }
}

fn access(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read only",
        Access::WriteOnly => "write only",
        Access::ReadWrite => "may be read and written",
        Access::None => "asked for its length alone",
    }
}

fn dispatch(
    graph: &mut CouplingGraph,
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &Expressions,
) {
    let local = input.reflection.local_size;
    graph.node("local-size", "local size", format!("{} x {} x {}", local[0], local[1], local[2]));
    let groups = &input.interface.groups;
    graph.node(
        "dispatch",
        "dispatch",
        format!("({}, {}, {}) workgroups", groups[0], groups[1], groups[2]),
    );
    graph.edge("local-size", "dispatch", EdgeKind::Data, "invocations per workgroup");
    graph.edge("dispatch", KERNEL, EdgeKind::Control, "starts");
    for (axis, expression) in ["x", "y", "z"].iter().zip(&expressions.groups) {
        used_by(graph, input, host, "dispatch", expression, axis);
    }
    if let (Some(texts), Some(domain)) = (&input.interface.domain, &expressions.domain) {
        graph.node("domain", "domain", format!("{} x {} x {}", texts[0], texts[1], texts[2]));
        for (axis, expression) in ["x", "y", "z"].iter().zip(domain) {
            used_by(graph, input, host, "domain", expression, axis);
        }
        graph.edge("dispatch", "domain", EdgeKind::Data, "covers");
    }
    for variable in &input.reflection.workgroup {
        let name = variable.name.clone().unwrap_or_else(|| format!("%{}", variable.variable));
        let id = format!("workgroup:{name}");
        graph.node(&id, "workgroup memory", format!("{name}, {} bytes", variable.size));
        // One element per invocation or so: the array's size follows the local size.
        graph.edge("local-size", &id, EdgeKind::Data, "size");
    }
}

fn barrier_id(barrier: &super::Barrier) -> String {
    format!("barrier:{}", barrier.place.instruction.map_or("?".to_owned(), |word| word.to_string()))
}

fn barriers(graph: &mut CouplingGraph, input: &CouplingInput<'_>) {
    for barrier in input.barriers {
        let id = barrier_id(barrier);
        graph.node(&id, "barrier", format!("at {}", barrier.place));
        graph.edge("local-size", &id, EdgeKind::Control, "invocations that meet");
        for variable in &input.reflection.workgroup {
            let name = variable.name.clone().unwrap_or_else(|| format!("%{}", variable.variable));
            graph.edge(&id, &format!("workgroup:{name}"), EdgeKind::Data, "orders");
        }
    }
}

fn decisions(graph: &mut CouplingGraph, input: &CouplingInput<'_>, structure: &KernelStructure) {
    for decision in &structure.decisions {
        let id = format!("decision:{}", decision.id);
        graph.node(&id, "decision", decision.text.clone());
        let words: Vec<&str> =
            decision.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
        for (index, member) in
            input.reflection.push_constants.iter().flat_map(|block| &block.members).enumerate()
        {
            if member.name.as_deref().is_some_and(|name| words.contains(&name)) {
                graph.edge(&format!("push-constant:{index}"), &id, EdgeKind::Data, "");
            }
        }
        for constant in &input.reflection.specialization {
            if constant.name.as_deref().is_some_and(|name| words.contains(&name)) {
                graph.edge(
                    &format!("specialization:{}", constant.spec_id),
                    &id,
                    EdgeKind::Data,
                    "",
                );
            }
        }
        for barrier in input.barriers {
            let line = |span: vkcert_model::place::Span| {
                let file = structure.files.get(span.file.0 as usize)?;
                Some(vkcert_model::place::Position::of(&file.text, span.start as usize).line)
            };
            if let BarrierControl::Divergent { branch, .. } = &barrier.control
                && branch.line.is_some()
                && branch.line == line(decision.span)
            {
                graph.edge(&id, &barrier_id(barrier), EdgeKind::Control, "not uniform");
            }
        }
    }
}
