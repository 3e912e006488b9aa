//! The coupling graph of a kernel as drawings: from the host's values to what it hands the kernel,
//! and from there into the kernel.
//!
//! Knows: nodes, edges and checks as evidence stores them. Promises: every node and edge of a part
//! is drawn, or counted where a column has no room for it; data and control, and what a check does
//! not show to hold, differ by dashes, thickness and signs, not by colour alone. Does not cover:
//! labels of edges and the whole of long names, which the tables have.

mod figure;
mod parts;
mod pieces;
mod regions;
mod subjects;

use super::layers::LayeredGraph;
use super::lettering::{LEAST_SIZE, label};
use super::{Dashes, Drawing, Paint, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use figure::PartDrawing;
use parts::GraphPart;
pub(crate) use parts::is_of_host;
use pieces::narrow_pieces;
use regions::{leads_back, region_places};
use std::collections::{HashMap, HashSet};
use vkcert_model::evidence::{
    CouplingEdge, CouplingEdgeKind, CouplingEvidence, CouplingNode, CouplingNodeKind,
};
use vkcert_model::id::KernelName;

/// Width of a figure.
const WIDTH: f32 = 476.0;
const BOX_HEIGHT: f32 = 30.0;
/// From the upper edge of a box to that of the next one.
const BOX_STEP: f32 = 36.0;
/// Of the row of an edge that passes a column.
const PASSING_STEP: f32 = 9.0;
/// Below the key; a page has room for more.
const MOST_HEIGHT: f32 = 540.0;
/// Between columns.
const COLUMN_GAP: f32 = 44.0;
/// The same where columns are many.
const LEAST_COLUMN_GAP: f32 = 26.0;
/// From so many columns on.
const MANY_COLUMNS: usize = 5;
const MOST_BOX_WIDTH: f32 = 150.0;
const KEY_HEIGHT: f32 = 22.0;
const NAME_SIZE: f32 = LEAST_SIZE + 0.5;
/// Boxes of a column; the others are counted.
const MOST_BOXES: usize = 14;

/// Where links to a node of a kernel's graph lead.
pub(crate) fn node_anchor(kernel: &KernelName, node: &str) -> String {
    format!("coupling/{kernel}/{node}")
}

/// The figures of a kernel's graph; none of one without edges.
pub(crate) fn coupling_drawings(coupling: &CouplingEvidence) -> Vec<Drawing> {
    let parts = GraphPart::ALL.into_iter();
    parts.flat_map(|part| drawings_of_part(coupling, part)).collect()
}

fn drawings_of_part(coupling: &CouplingEvidence, part: GraphPart) -> Vec<Drawing> {
    let edges = edges_of_part(coupling, part);
    let (places, cut) = match part {
        GraphPart::Regions => {
            let places = region_places(coupling, &edges);
            let cut = narrow_pieces(&places, edges, |edge| leads_back(&places, edge));
            (Some(places), cut)
        }
        GraphPart::Captured => (None, narrow_pieces(&places_of_nodes(coupling), edges, |_| false)),
        GraphPart::Host
        | GraphPart::Data
        | GraphPart::Decisions
        | GraphPart::Control
        | GraphPart::Earlier => {
            return draw_edges(coupling, part, PieceEdges::whole(edges)).into_iter().collect();
        }
    };
    let last = cut.pieces.len().saturating_sub(1);
    let pieces = cut.pieces.into_iter().enumerate().map(|(number, edges)| PieceEdges {
        leading_back: places.as_ref().map(|places| leading_back(places, &edges)),
        left_out: if number == last { cut.left_out } else { 0 },
        edges,
    });
    pieces.filter_map(|piece| draw_edges(coupling, part, piece)).collect()
}

/// What one figure shows.
struct PieceEdges<'a> {
    edges: Vec<&'a CouplingEdge>,
    /// Whether each leads back; none where that is not known.
    leading_back: Option<Vec<bool>>,
    /// Edges of the part that no figure shows, told with this one.
    left_out: usize,
}

impl<'a> PieceEdges<'a> {
    fn whole(edges: Vec<&'a CouplingEdge>) -> Self {
        Self { edges, leading_back: None, left_out: 0 }
    }
}

/// Nodes stand in the order of the evidence.
fn places_of_nodes(coupling: &CouplingEvidence) -> HashMap<&str, usize> {
    coupling.nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect()
}

fn leading_back(places: &HashMap<&str, usize>, edges: &[&CouplingEdge]) -> Vec<bool> {
    edges.iter().map(|edge| leads_back(places, edge)).collect()
}

fn edges_of_part(coupling: &CouplingEvidence, part: GraphPart) -> Vec<&CouplingEdge> {
    let kind_by_id: HashMap<&str, &CouplingNodeKind> =
        coupling.nodes.iter().map(|node| (node.id.as_str(), &node.kind)).collect();
    let is_of_part = |edge: &&CouplingEdge| {
        let kinds = [&edge.from, &edge.to].map(|id| kind_by_id.get(id.as_str()));
        matches!(kinds, [Some(from), Some(to)] if GraphPart::of_edge([from, to], &edge.kind) == part)
    };
    coupling.edges.iter().filter(is_of_part).collect()
}

/// Edges with the nodes that some of them joins; none without edges.
fn draw_edges(
    coupling: &CouplingEvidence,
    part: GraphPart,
    piece: PieceEdges<'_>,
) -> Option<Drawing> {
    let edges = &piece.edges;
    let joined_ids: HashSet<&str> =
        edges.iter().flat_map(|edge| [edge.from.as_str(), edge.to.as_str()]).collect();
    let is_joined = |node: &&CouplingNode| joined_ids.contains(node.id.as_str());
    let nodes: Vec<&CouplingNode> = coupling.nodes.iter().filter(is_joined).collect();
    if edges.is_empty() {
        return None;
    }
    let number_by_id: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(number, node)| (node.id.as_str(), number)).collect();
    let number_of = |id: &str| number_by_id.get(id).copied();
    // Both ends of every edge of a part are known.
    let numbered: Vec<(usize, usize)> = edges
        .iter()
        .filter_map(|edge| Some((number_of(&edge.from)?, number_of(&edge.to)?)))
        .collect();
    let graph = fitting_graph(nodes.len(), &numbered, piece.leading_back.as_deref());
    let mut part_drawing = PartDrawing {
        coupling,
        nodes: &nodes,
        box_width: box_width(graph.columns.len()),
        graph: &graph,
        tops: column_tops(&graph),
        shapes: key_shapes(),
    };
    for placed in &graph.edges {
        part_drawing.add_edge(placed, edges[placed.edge]);
    }
    part_drawing.add_boxes();
    let shapes = part_drawing.shapes;
    Some(Drawing {
        caption: caption(coupling, part, &graph, &piece),
        description: description(&nodes, edges),
        width: WIDTH,
        height: KEY_HEIGHT + graph_height(&graph),
        shapes,
    })
}

/// With as many boxes as a page has room for beside the edges that pass.
fn fitting_graph(
    node_count: usize,
    edges: &[(usize, usize)],
    leading_back: Option<&[bool]>,
) -> LayeredGraph {
    let mut most_boxes = MOST_BOXES;
    loop {
        let graph = match leading_back {
            Some(reversed) => LayeredGraph::with_reversed(node_count, edges, reversed, most_boxes),
            None => LayeredGraph::of(node_count, edges, most_boxes),
        };
        if most_boxes == 1 || graph_height(&graph) <= MOST_HEIGHT {
            return graph;
        }
        most_boxes -= 1;
    }
}

/// Upper edges of the rows of each column and, last, of what stands below them.
fn column_tops(graph: &LayeredGraph) -> Vec<Vec<f32>> {
    let tops_of = |rows: &Vec<Option<usize>>| {
        let mut tops = vec![KEY_HEIGHT];
        for place in rows {
            let step = if place.is_some() { BOX_STEP } else { PASSING_STEP };
            tops.push(tops[tops.len() - 1] + step);
        }
        tops
    };
    graph.columns.iter().map(tops_of).collect()
}

/// Below the key.
fn graph_height(graph: &LayeredGraph) -> f32 {
    let bottoms = column_tops(graph).into_iter().zip(&graph.left_out).map(|(tops, left_out)| {
        let more_height = if *left_out > 0 { 14.0 } else { 0.0 };
        tops[tops.len() - 1] + more_height - KEY_HEIGHT
    });
    bottoms.fold(0.0, f32::max)
}

fn column_gap(column_count: usize) -> f32 {
    if column_count < MANY_COLUMNS { COLUMN_GAP } else { LEAST_COLUMN_GAP }
}

fn box_width(column_count: usize) -> f32 {
    let gaps = column_count.saturating_sub(1) as f32 * column_gap(column_count);
    ((WIDTH - gaps) / column_count.max(1) as f32).min(MOST_BOX_WIDTH)
}

fn caption(
    coupling: &CouplingEvidence,
    part: GraphPart,
    graph: &LayeredGraph,
    piece: &PieceEdges<'_>,
) -> Text {
    let edge_count = piece.edges.len();
    let behind_words = match piece.left_out {
        0 => String::new(),
        count => format!(" {count} edges more follow, which stand in the table of nodes alone."),
    };
    let left_out: usize = graph.left_out.iter().sum();
    let left_out_words = match left_out {
        0 => String::new(),
        count => format!(
            " {count} nodes have no room; they stand with their edges in the table of nodes alone ({} edges are drawn).",
            graph.edges.len()
        ),
    };
    Text::plain("Coupling of kernel ")
        .followed_by(Text::code(coupling.kernel.as_str()))
        .then_plain(format!(
            ", {}: {edge_count} edges.{left_out_words}{behind_words} A sign marks what a check is about that does not hold; checks \
             about what is no node stand in the table of checks alone.",
            part.in_words()
        ))
}

fn description(nodes: &[&CouplingNode], edges: &[&CouplingEdge]) -> String {
    let label_of = |id: &str| {
        nodes
            .iter()
            .find(|node| node.id == id)
            .map_or(id.to_owned(), |node| format!("{} {}", node.kind, node.label))
    };
    let sentences = edges
        .iter()
        .map(|edge| format!("{} to {} ({})", label_of(&edge.from), label_of(&edge.to), edge.kind));
    sentences.collect::<Vec<_>>().join("; ")
}

/// What lines and signs mean.
fn key_shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let rows = [
        ("data, sizes, indices", Dashes::Solid, 0.8, ""),
        ("control, order", Dashes::Dashed, 0.8, ""),
        ("check refuted", Dashes::Solid, 2.2, "✗"),
        ("check undetermined", Dashes::Solid, 1.5, "?"),
    ];
    for (index, (words, dashes, thickness, sign)) in rows.into_iter().enumerate() {
        let left = index as f32 * 112.0;
        let spots = vec![Spot { x: left, y: 5.0 }, Spot { x: left + 24.0, y: 5.0 }];
        shapes.push(Shape::Line { spots, thickness, dashes, paint: sign_paint(sign) });
        let spot = Spot { x: left + 29.0, y: 8.0 };
        let words = Text::plain(format!("{sign} {words}").trim_start());
        shapes.push(label(spot, ColumnAlign::Left, NAME_SIZE, words));
    }
    shapes
}

fn sign_paint(sign: &str) -> Paint {
    Paint::Ink(sign_tone(sign))
}

fn sign_tone(sign: &str) -> Tone {
    match sign {
        "✗" => Tone::Bad,
        "?" => Tone::Caution,
        _ => Tone::Quiet,
    }
}

fn line_dashes(kind: &CouplingEdgeKind) -> Dashes {
    match kind {
        CouplingEdgeKind::Controls | CouplingEdgeKind::Control | CouplingEdgeKind::Orders => {
            Dashes::Dashed
        }
        CouplingEdgeKind::FlowsTo
        | CouplingEdgeKind::Sizes
        | CouplingEdgeKind::Indexes
        | CouplingEdgeKind::Data
        | CouplingEdgeKind::Unknown(_) => Dashes::Solid,
    }
}

#[cfg(test)]
mod tests;
