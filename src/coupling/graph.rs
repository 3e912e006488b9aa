//! The coupling graph: what of the host flows into what of the kernel, and through it.
//!
//! Knows: nodes and edges as evidence stores them; how they are told as text, DOT and JSON. The
//! host's nodes are made in `host`, the kernel's in `kernel`, those of kernels that are dispatched
//! before in `earlier`, those of captures in `captured`.
//! Promises: ids are stable: they name what a node stands for and no place in the code. Nodes and
//! edges are ordered as they are made; between two nodes there is one edge of a kind, with every
//! line where it happens. An edge is made only where a name, an offset, a binding or the analysis of
//! the module says so. Whether the two ends agree is for the checks.
//! Does not cover: what one kernel hands to another in tests, which is not of a kernel but of a test;
//! reports tell it from the tests.

mod captured;
mod earlier;
mod host;
mod kernel;

use super::CouplingInput;
use super::expressions::HostExpressions;
pub(super) use captured::captured_node_id;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use std::collections::{BTreeMap, HashMap};
use vkcert_model::evidence::{
    CodePlace, CouplingEdge, CouplingEdgeKind, CouplingNode, CouplingNodeKind, lines_in_words,
};
use vkcert_requirement::host::decide::HostModel;

/// The node of the kernel itself.
const KERNEL: &str = "kernel";
const DISPATCH: &str = "dispatch";
const LOCAL_SIZE: &str = "local-size";

/// The graph over evidence nodes.
#[derive(Debug, Clone, Default)]
pub struct CouplingGraph {
    /// The graph itself.
    pub graph: DiGraph<CouplingNode, EdgeWeight>,
    node_by_id: BTreeMap<String, NodeIndex>,
    edge_by_ends: HashMap<(NodeIndex, NodeIndex, CouplingEdgeKind), EdgeIndex>,
}

/// What an edge says beside its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgeWeight {
    /// How the target depends on the source.
    pub kind: CouplingEdgeKind,
    /// What graphs print beside it.
    pub label: String,
    /// Lines of the kernel's source where it happens, ascending.
    pub places: Vec<CodePlace>,
}

/// An edge with the nodes at its ends.
struct GraphEdge<'a> {
    from: &'a CouplingNode,
    to: &'a CouplingNode,
    weight: &'a EdgeWeight,
}

/// An edge to add.
struct NewEdge<'a> {
    from: &'a str,
    to: &'a str,
    kind: CouplingEdgeKind,
    label: &'a str,
}

impl CouplingGraph {
    fn add_node(&mut self, id: &str, kind: CouplingNodeKind, label: String) {
        self.add_placed_node(id, kind, label, None);
    }

    fn add_placed_node(
        &mut self,
        id: &str,
        kind: CouplingNodeKind,
        label: String,
        place: Option<CodePlace>,
    ) {
        if !self.node_by_id.contains_key(id) {
            let new_node = CouplingNode { id: id.to_owned(), kind, label, place };
            let node_index = self.graph.add_node(new_node);
            self.node_by_id.insert(id.to_owned(), node_index);
        }
    }

    /// Adds an edge if both ends exist and it is new.
    fn add_edge(&mut self, from: &str, to: &str, kind: CouplingEdgeKind, label: &str) {
        self.add_placed_edge(NewEdge { from, to, kind, label }, None);
    }

    /// The same with a line where it happens, which is added to an edge that is known.
    fn add_placed_edge(&mut self, new_edge: NewEdge<'_>, place: Option<CodePlace>) {
        let ends = [new_edge.from, new_edge.to].map(|id| self.node_by_id.get(id).copied());
        let [Some(from), Some(to)] = ends else { return };
        let edge_key = (from, to, new_edge.kind);
        let edge_index = match self.edge_by_ends.get(&edge_key) {
            Some(edge_index) => *edge_index,
            None => {
                let weight = EdgeWeight {
                    kind: edge_key.2.clone(),
                    label: new_edge.label.to_owned(),
                    places: Vec::new(),
                };
                let edge_index = self.graph.add_edge(from, to, weight);
                self.edge_by_ends.insert(edge_key, edge_index);
                edge_index
            }
        };
        let places = &mut self.graph[edge_index].places;
        if let Some(place) = place
            && let Err(position) = places.binary_search(&place)
        {
            places.insert(position, place);
        }
    }

    /// Gives an edge that is known another label; adds it if it is new.
    fn relabel_edge(&mut self, new_edge: NewEdge<'_>) {
        let ends = [new_edge.from, new_edge.to].map(|id| self.node_by_id.get(id).copied());
        let [Some(from), Some(to)] = ends else { return };
        let edge_key = (from, to, new_edge.kind);
        if let Some(edge_index) = self.edge_by_ends.get(&edge_key) {
            self.graph[*edge_index].label = new_edge.label.to_owned();
        } else {
            self.add_placed_edge(NewEdge { kind: edge_key.2, ..new_edge }, None);
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
            kind: edge.weight.kind.clone(),
            label: edge.weight.label.clone(),
            places: edge.weight.places.clone(),
        };
        self.graph_edges().map(evidence_edge).collect()
    }

    fn graph_edges(&self) -> impl Iterator<Item = GraphEdge<'_>> {
        self.graph.edge_indices().map(|edge_index| self.graph_edge(edge_index))
    }

    fn graph_edge(&self, edge_index: EdgeIndex) -> GraphEdge<'_> {
        let (from, to) = self.graph.edge_endpoints(edge_index).expect("the edge is of this graph");
        GraphEdge { from: &self.graph[from], to: &self.graph[to], weight: &self.graph[edge_index] }
    }

    /// One line per node with what it depends on.
    pub fn in_words(&self) -> String {
        let mut edges_by_target: BTreeMap<&str, Vec<GraphEdge<'_>>> = BTreeMap::new();
        for edge in self.graph_edges() {
            edges_by_target.entry(edge.to.id.as_str()).or_default().push(edge);
        }
        let mut graph_text = String::new();
        for node in self.graph.node_weights() {
            let place_words = node.place.as_ref().map_or(String::new(), |place| {
                format!(", {}", lines_in_words(std::slice::from_ref(place)))
            });
            graph_text
                .push_str(&format!("{} ({}): {}{place_words}\n", node.id, node.kind, node.label));
            for edge in edges_by_target.get(node.id.as_str()).into_iter().flatten() {
                graph_text.push_str(&format!("    <- {}{}\n", edge.from.id, edge_in_words(edge)));
            }
        }
        graph_text
    }

    /// Graphviz, under a name.
    pub fn graphviz_text(&self, graph_name: &str) -> String {
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
            graph_text.push_str(&format!(
                "  \"{}\" -> \"{}\" [style={}, label=\"{}\"];\n",
                quoted_text(&edge.from.id),
                quoted_text(&edge.to.id),
                line_style(&edge.weight.kind),
                quoted_text(format!("{} {}", edge.weight.kind, edge.weight.label).trim_end())
            ));
        }
        graph_text + "}\n"
    }
}

/// ` (sizes, groups in x; a.comp:7, 9)`
fn edge_in_words(edge: &GraphEdge<'_>) -> String {
    let mut words = edge.weight.kind.to_string();
    if !edge.weight.label.is_empty() {
        words.push_str(&format!(", {}", edge.weight.label));
    }
    if !edge.weight.places.is_empty() {
        words.push_str(&format!("; {}", lines_in_words(&edge.weight.places)));
    }
    format!(" ({words})")
}

fn quoted_text(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn line_style(kind: &CouplingEdgeKind) -> &'static str {
    match kind {
        CouplingEdgeKind::Controls | CouplingEdgeKind::Control => "dashed",
        CouplingEdgeKind::Indexes | CouplingEdgeKind::Orders => "dotted",
        CouplingEdgeKind::FlowsTo
        | CouplingEdgeKind::Sizes
        | CouplingEdgeKind::Data
        | CouplingEdgeKind::Unknown(_) => "solid",
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
    let host_nodes = host::HostNodes { input, host, expressions };
    host_nodes.add_values(&mut graph);
    host_nodes.add_members(&mut graph);
    let kernel_nodes = kernel::KernelNodes::new(input);
    kernel_nodes.add_inputs(&mut graph);
    host_nodes.add_hand_over(&mut graph);
    host_nodes.add_stored_members(&mut graph);
    host_nodes.add_dispatch(&mut graph);
    kernel_nodes.add_shared_memory(&mut graph);
    kernel_nodes.add_sizes(&mut graph);
    kernel_nodes.add_barriers(&mut graph);
    kernel_nodes.add_regions(&mut graph);
    kernel_nodes.add_decisions(&mut graph);
    kernel_nodes.add_calls(&mut graph);
    kernel_nodes.add_flow(&mut graph);
    earlier::add_earlier(&mut graph, input);
    captured::add_captures(&mut graph, input.captures);
    graph
}
