//! The coupling graph of a kernel as drawings: from the host's values to what it hands the kernel,
//! and from there into the kernel.
//!
//! Knows: nodes, edges and checks as evidence stores them. Promises: every node and edge of a part
//! is drawn, or counted where a column has no room for it; data and control, and what a check does
//! not show to hold, differ by dashes, thickness and signs, not by colour alone. Does not cover:
//! labels of edges and the whole of long names, which the tables have.

mod pieces;

use super::layers::{LayeredGraph, PlacedEdge};
use super::lettering::{LEAST_SIZE, fitted_label, fitting_letters, label};
use super::{Dashes, Drawing, Paint, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use pieces::narrow_pieces;
use std::collections::{HashMap, HashSet};
use vkcert_model::evidence::{
    CheckStatus, CouplingCheck, CouplingCheckName, CouplingEdge, CouplingEdgeKind,
    CouplingEvidence, CouplingNode, CouplingNodeKind,
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

/// The parts that a graph is drawn in, each by the edges that it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GraphPart {
    /// From parameters to what the host hands the kernel.
    Host,
    /// From there to what the kernel writes.
    Data,
    /// From what decisions are computed.
    Decisions,
    /// What decisions and barriers direct and order, and who calls functions.
    Control,
    /// What captured dispatches hand to each other.
    Captured,
}

impl GraphPart {
    const ALL: [GraphPart; 5] = [
        GraphPart::Host,
        GraphPart::Data,
        GraphPart::Decisions,
        GraphPart::Control,
        GraphPart::Captured,
    ];

    fn in_words(self) -> &'static str {
        match self {
            GraphPart::Host => "from the host's values to what it hands the kernel",
            GraphPart::Data => "from what the host hands the kernel to what the kernel writes",
            GraphPart::Decisions => "what its decisions are computed from",
            GraphPart::Control => "what decisions and barriers direct and order, and calls",
            GraphPart::Captured => {
                "what captured dispatches hand to each other, and what orders them"
            }
        }
    }

    /// The part that shows an edge between nodes of these kinds.
    fn of_edge(from: &CouplingNodeKind, to: &CouplingNodeKind) -> Self {
        let sides = [side_of(from), side_of(to)];
        if sides.contains(&GraphSide::Captured) {
            GraphPart::Captured
        } else if sides.contains(&GraphSide::Host) {
            GraphPart::Host
        } else if sides[0] == GraphSide::Data && *to == CouplingNodeKind::Decision {
            GraphPart::Decisions
        } else if sides.contains(&GraphSide::Control)
            || (from, to) == (&CouplingNodeKind::Dispatch, &CouplingNodeKind::Kernel)
        {
            GraphPart::Control
        } else {
            GraphPart::Data
        }
    }
}

/// What a node belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GraphSide {
    Host,
    /// What the host hands the kernel, and what the kernel shares.
    Data,
    Control,
    /// What a captured host program did.
    Captured,
}

/// Whether a node stands in the host's code. The dispatch is what the host hands over.
pub(crate) fn is_of_host(kind: &CouplingNodeKind) -> bool {
    matches!(side_of(kind), GraphSide::Host | GraphSide::Captured)
        || *kind == CouplingNodeKind::Dispatch
}

fn side_of(kind: &CouplingNodeKind) -> GraphSide {
    match kind {
        CouplingNodeKind::Parameter
        | CouplingNodeKind::Local
        | CouplingNodeKind::HostMember
        | CouplingNodeKind::AssumedLocalSize
        | CouplingNodeKind::Domain => GraphSide::Host,
        CouplingNodeKind::PushConstant
        | CouplingNodeKind::SpecializationConstant
        | CouplingNodeKind::Buffer
        | CouplingNodeKind::Image
        | CouplingNodeKind::AddressedMemory
        | CouplingNodeKind::BuiltIn
        | CouplingNodeKind::LocalSize
        | CouplingNodeKind::Dispatch
        | CouplingNodeKind::Kernel
        | CouplingNodeKind::WorkgroupMemory
        | CouplingNodeKind::SubgroupOperation
        | CouplingNodeKind::Unknown(_) => GraphSide::Data,
        CouplingNodeKind::Barrier | CouplingNodeKind::Decision | CouplingNodeKind::Function => {
            GraphSide::Control
        }
        CouplingNodeKind::CapturedDispatch
        | CouplingNodeKind::CapturedBarrier
        | CouplingNodeKind::CapturedOperation => GraphSide::Captured,
    }
}

/// Where links to a node of a kernel's graph lead.
pub(crate) fn node_anchor(kernel: &KernelName, node: &str) -> String {
    format!("coupling/{kernel}/{node}")
}

/// The figures of a kernel's graph; none of one without edges.
pub(crate) fn coupling_drawings(coupling: &CouplingEvidence) -> Vec<Drawing> {
    let pieces = GraphPart::ALL.into_iter().flat_map(|part| {
        let edges = edges_of_part(coupling, part);
        let pieces = match part {
            GraphPart::Captured => narrow_pieces(&coupling.nodes, edges),
            GraphPart::Host | GraphPart::Data | GraphPart::Decisions | GraphPart::Control => {
                vec![edges]
            }
        };
        pieces.into_iter().map(move |edges| (part, edges))
    });
    pieces.filter_map(|(part, edges)| draw_edges(coupling, part, edges)).collect()
}

fn edges_of_part(coupling: &CouplingEvidence, part: GraphPart) -> Vec<&CouplingEdge> {
    let kind_by_id: HashMap<&str, &CouplingNodeKind> =
        coupling.nodes.iter().map(|node| (node.id.as_str(), &node.kind)).collect();
    let is_of_part = |edge: &&CouplingEdge| {
        let kinds = [&edge.from, &edge.to].map(|id| kind_by_id.get(id.as_str()));
        matches!(kinds, [Some(from), Some(to)] if GraphPart::of_edge(from, to) == part)
    };
    coupling.edges.iter().filter(is_of_part).collect()
}

/// Edges with the nodes that some of them joins; none without edges.
fn draw_edges(
    coupling: &CouplingEvidence,
    part: GraphPart,
    edges: Vec<&CouplingEdge>,
) -> Option<Drawing> {
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
    let numbered =
        edges.iter().filter_map(|edge| Some((number_of(&edge.from)?, number_of(&edge.to)?)));
    let graph = fitting_graph(nodes.len(), &numbered.collect::<Vec<_>>());
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
        caption: caption(coupling, part, &graph, edges.len()),
        description: description(&nodes, &edges),
        width: WIDTH,
        height: KEY_HEIGHT + graph_height(&graph),
        shapes,
    })
}

/// With as many boxes as a page has room for beside the edges that pass.
fn fitting_graph(node_count: usize, edges: &[(usize, usize)]) -> LayeredGraph {
    let mut most_boxes = MOST_BOXES;
    loop {
        let graph = LayeredGraph::of(node_count, edges, most_boxes);
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
    edge_count: usize,
) -> Text {
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
            ", {}: {edge_count} edges.{left_out_words} A sign names a check that looks at what is so marked; which of several nodes \
             or edges it speaks of stands in the table of checks.",
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
    Paint::Ink(match sign {
        "✗" => Tone::Bad,
        "?" => Tone::Caution,
        _ => Tone::Quiet,
    })
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

/// What of the graph a check looks at.
enum CheckSubject {
    Node(CouplingNodeKind),
    Edge(CouplingNodeKind, CouplingNodeKind),
    Nothing,
}

fn subject_of(check: &CouplingCheckName) -> CheckSubject {
    use CouplingNodeKind::{
        Barrier, Buffer, CapturedDispatch, Dispatch, Domain, Image, Local, LocalSize, PushConstant,
        SpecializationConstant,
    };
    match check {
        CouplingCheckName::DispatchCoversDomain => CheckSubject::Edge(Dispatch, Domain),
        CouplingCheckName::DispatchNotTruncated | CouplingCheckName::DeviceLimits => {
            CheckSubject::Node(Dispatch)
        }
        CouplingCheckName::HostOverflow => CheckSubject::Node(Local),
        CouplingCheckName::LocalSizeMatch => CheckSubject::Node(LocalSize),
        CouplingCheckName::PushConstantLayout | CouplingCheckName::MemberUse => {
            CheckSubject::Node(PushConstant)
        }
        CouplingCheckName::BufferSize
        | CouplingCheckName::IndexBounds
        | CouplingCheckName::BufferLayout
        | CouplingCheckName::PipelineLayout => CheckSubject::Node(Buffer),
        CouplingCheckName::ImageDescriptor => CheckSubject::Node(Image),
        CouplingCheckName::EarlierDispatches => CheckSubject::Node(Buffer),
        CouplingCheckName::SpecializationIds | CouplingCheckName::PipelineSpecialization => {
            CheckSubject::Node(SpecializationConstant)
        }
        CouplingCheckName::UniformBarrier | CouplingCheckName::BarrierOrder => {
            CheckSubject::Node(Barrier)
        }
        CouplingCheckName::LocalSizeLimits
        | CouplingCheckName::DispatchLimits
        | CouplingCheckName::PushConstants
        | CouplingCheckName::PushConstantValues
        | CouplingCheckName::Descriptors
        | CouplingCheckName::BindingSize
        | CouplingCheckName::DeviceDependency
        | CouplingCheckName::HostRead
        | CouplingCheckName::HostWrite => CheckSubject::Node(CapturedDispatch),
        CouplingCheckName::HostFacts
        | CouplingCheckName::CaptureComplete
        | CouplingCheckName::ShaderModule
        | CouplingCheckName::PipelineIdentity
        | CouplingCheckName::Unknown(_) => CheckSubject::Nothing,
    }
}

/// `✗`, `?` or nothing where the check holds.
fn status_sign(status: &CheckStatus) -> &'static str {
    match status {
        CheckStatus::Holds => "",
        CheckStatus::Refuted => "✗",
        CheckStatus::Undetermined | CheckStatus::Unknown(_) => "?",
    }
}

struct PartDrawing<'a> {
    coupling: &'a CouplingEvidence,
    nodes: &'a [&'a CouplingNode],
    graph: &'a LayeredGraph,
    tops: Vec<Vec<f32>>,
    box_width: f32,
    shapes: Vec<Shape>,
}

impl PartDrawing<'_> {
    /// The worst check that does not hold and looks at this.
    fn open_check(&self, looks_at: impl Fn(CheckSubject) -> bool) -> Option<&CouplingCheck> {
        let mut open: Vec<&CouplingCheck> = self
            .coupling
            .checks
            .iter()
            .filter(|check| {
                check.status != CheckStatus::Holds && looks_at(subject_of(&check.check))
            })
            .collect();
        open.sort_by_key(|check| check.status != CheckStatus::Refuted);
        open.first().copied()
    }

    fn corner(&self, column: usize, row: usize) -> Spot {
        let column_step = self.box_width + column_gap(self.graph.columns.len());
        Spot { x: column as f32 * column_step, y: self.tops[column][row] }
    }

    fn add_edge(&mut self, placed: &PlacedEdge, edge: &CouplingEdge) {
        let (from, to) = (self.nodes[placed.from], self.nodes[placed.to]);
        let sign = self
            .open_check(|subject| match subject {
                CheckSubject::Edge(from_kind, to_kind) => {
                    (from_kind, to_kind) == (from.kind.clone(), to.kind.clone())
                }
                CheckSubject::Node(_) | CheckSubject::Nothing => false,
            })
            .map_or("", |check| status_sign(&check.status));
        let thickness = match sign {
            "✗" => 2.2,
            "?" => 1.5,
            _ => 0.8,
        };
        let dashes = line_dashes(&edge.kind);
        let paint = sign_paint(sign);
        let spots = self.edge_spots(placed);
        let (Some(first), Some(last)) = (spots.first().copied(), spots.last().copied()) else {
            return;
        };
        let beside_middle = [spots[(spots.len() - 1) / 2], spots[spots.len() / 2]];
        let [middle_x, middle_y] =
            [beside_middle.map(|spot| spot.x), beside_middle.map(|spot| spot.y)]
                .map(|[first, second]| (first + second) / 2.0);
        // A line of the way back has its arrow at its left end.
        let tip = if placed.is_reversed { first } else { last };
        let back = if placed.is_reversed { 5.0 } else { -5.0 };
        let corners = vec![
            tip,
            Spot { x: tip.x + back, y: tip.y - 2.6 },
            Spot { x: tip.x + back, y: tip.y + 2.6 },
        ];
        self.shapes.push(Shape::Line { spots, thickness, dashes, paint });
        self.shapes.push(Shape::Area { corners, paint });
        if !sign.is_empty() {
            let spot = Spot { x: middle_x, y: middle_y - 3.0 };
            let words = Text::strong(sign).with_tone(Tone::Bad);
            self.shapes.push(label(spot, ColumnAlign::Centre, 9.0, words));
        }
    }

    /// From the right edge of a box to the left edge of another one, through its columns.
    fn edge_spots(&self, placed: &PlacedEdge) -> Vec<Spot> {
        let last = placed.way.len() - 1;
        let mut spots = Vec::new();
        for (index, (column, row)) in placed.way.iter().enumerate() {
            let corner = self.corner(*column, *row);
            // Several lines meet a box side by side, in the order of the edges.
            let depth = match self.graph.columns[*column][*row] {
                Some(_) => BOX_HEIGHT / 2.0 + (placed.edge % 5) as f32 * 2.4 - 4.8,
                None => PASSING_STEP / 2.0,
            };
            let y = corner.y + depth;
            if index > 0 {
                spots.push(Spot { x: corner.x, y });
            }
            if index < last {
                spots.push(Spot { x: corner.x + self.box_width, y });
            }
        }
        spots
    }

    fn add_boxes(&mut self) {
        let graph = self.graph;
        for (column, rows) in graph.columns.iter().enumerate() {
            for (row, place) in rows.iter().enumerate() {
                if let Some(node) = place {
                    self.add_box(self.corner(column, row), self.nodes[*node]);
                }
            }
            let left_out = graph.left_out[column];
            if left_out > 0 {
                let corner = self.corner(column, rows.len());
                let spot = Spot { x: corner.x + 4.0, y: corner.y + 9.0 };
                let words = Text::quiet(format!("and {left_out} more"));
                self.shapes.push(fitted_label(
                    spot,
                    ColumnAlign::Left,
                    LEAST_SIZE,
                    self.box_width,
                    words,
                ));
            }
        }
    }

    fn add_box(&mut self, corner: Spot, node: &CouplingNode) {
        let open_check = self.open_check(|subject| match subject {
            CheckSubject::Node(kind) => kind == node.kind,
            CheckSubject::Edge(..) | CheckSubject::Nothing => false,
        });
        let (sign, check_words) = open_check.map_or(("", String::new()), |check| {
            let sign = status_sign(&check.status);
            (sign, format!("{sign} {}", check.check))
        });
        let (width, height) = (self.box_width, BOX_HEIGHT);
        let frame_width = if sign.is_empty() { 0.6 } else { 1.8 };
        let frame_paint = sign_paint(sign);
        self.shapes.push(Shape::rectangle(corner, width, height, frame_paint));
        let inner = Spot { x: corner.x + frame_width, y: corner.y + frame_width };
        let (inner_width, inner_height) = (width - 2.0 * frame_width, height - 2.0 * frame_width);
        // Not see-through: lines of long edges pass below.
        self.shapes.push(Shape::rectangle(
            inner,
            inner_width,
            inner_height,
            Paint::Wash(Tone::Neutral),
        ));
        let kind_words = match check_words.is_empty() {
            true => Text::quiet(node.kind.as_str()),
            false => Text::plain(check_words).with_tone(Tone::Bad),
        };
        let text_width = width - 8.0;
        let kind_spot = Spot { x: corner.x + 4.0, y: corner.y + 8.6 };
        self.shapes.push(fitted_label(
            kind_spot,
            ColumnAlign::Left,
            LEAST_SIZE,
            text_width,
            kind_words,
        ));
        for (line, name) in self.name_lines(node, text_width).into_iter().enumerate() {
            let name_spot = Spot { x: corner.x + 4.0, y: corner.y + 17.5 + line as f32 * 8.5 };
            self.shapes.push(fitted_label(
                name_spot,
                ColumnAlign::Left,
                NAME_SIZE,
                text_width,
                name,
            ));
        }
    }

    /// The name on two lines at most; what goes on behind them is cut.
    fn name_lines(&self, node: &CouplingNode, width: f32) -> Vec<Text> {
        let mut name = self.node_name(node);
        let Some(run) = name.0.first_mut() else { return Vec::new() };
        let all_words = std::mem::take(&mut run.text);
        let mut lines =
            crate::terminal::wrap(&all_words, fitting_letters(width, run.style, NAME_SIZE));
        if lines.len() > 2 {
            let rest = lines.split_off(1).join(" ");
            lines.push(rest);
        }
        let as_text = |line: String| {
            let mut text = name.clone();
            text.0[0].text = line;
            text
        };
        lines.into_iter().map(as_text).collect()
    }

    /// Each node leads to its row in the table of nodes, where its code stands.
    fn node_name(&self, node: &CouplingNode) -> Text {
        let short_id = node.id.split_once(':').map_or("", |(_, name)| name);
        let name = match &node.kind {
            CouplingNodeKind::Decision => format!("{short_id}: {}", node.label),
            CouplingNodeKind::Barrier => match &node.place {
                Some(place) => format!("{short_id}, line {}", place.line),
                None => format!("{short_id}: {}", node.label),
            },
            CouplingNodeKind::Kernel
            | CouplingNodeKind::Parameter
            | CouplingNodeKind::Local
            | CouplingNodeKind::HostMember
            | CouplingNodeKind::AssumedLocalSize
            | CouplingNodeKind::PushConstant
            | CouplingNodeKind::SpecializationConstant
            | CouplingNodeKind::Buffer
            | CouplingNodeKind::Image
            | CouplingNodeKind::AddressedMemory
            | CouplingNodeKind::BuiltIn
            | CouplingNodeKind::LocalSize
            | CouplingNodeKind::Dispatch
            | CouplingNodeKind::Domain
            | CouplingNodeKind::WorkgroupMemory
            | CouplingNodeKind::SubgroupOperation
            | CouplingNodeKind::Function
            | CouplingNodeKind::CapturedDispatch
            | CouplingNodeKind::CapturedBarrier
            | CouplingNodeKind::CapturedOperation
            | CouplingNodeKind::Unknown(_) => node.label.clone(),
        };
        Text::plain(name).with_link(node_anchor(&self.coupling.kernel, &node.id))
    }
}

#[cfg(test)]
mod tests;
