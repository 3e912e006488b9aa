//! Boxes and lines of a figure: nodes with their names, edges with their arrows, and the signs of
//! checks on both.
//!
//! Knows: the places of nodes and edges (`layers`). Promises: a line reaches the boxes at its ends
//! and passes below the others; names are cut to two lines.

use super::subjects::{is_about_edge, is_about_node, open_check, status_sign};
use super::{
    BOX_HEIGHT, NAME_SIZE, PASSING_STEP, column_gap, line_dashes, node_anchor, sign_paint,
    sign_tone,
};
use crate::document::{ColumnAlign, Text, Tone};
use crate::drawing::layers::{LayeredGraph, PlacedEdge};
use crate::drawing::lettering::{LEAST_SIZE, fitted_label, fitting_letters, label};
use crate::drawing::{Paint, Shape, Spot};
use vkcert_model::evidence::{CouplingEdge, CouplingEvidence, CouplingNode, CouplingNodeKind};

/// Before the offset of a member, which is the last word of its label.
const OFFSET_WORDS: &str = " at offset ";

/// The shapes of one figure while they are made.
pub(super) struct PartDrawing<'a> {
    pub(super) coupling: &'a CouplingEvidence,
    pub(super) nodes: &'a [&'a CouplingNode],
    pub(super) graph: &'a LayeredGraph,
    pub(super) tops: Vec<Vec<f32>>,
    pub(super) box_width: f32,
    pub(super) shapes: Vec<Shape>,
}

impl PartDrawing<'_> {
    fn corner(&self, column: usize, row: usize) -> Spot {
        let column_step = self.box_width + column_gap(self.graph.columns.len());
        Spot { x: column as f32 * column_step, y: self.tops[column][row] }
    }

    pub(super) fn add_edge(&mut self, placed: &PlacedEdge, edge: &CouplingEdge) {
        let (from, to) = (self.nodes[placed.from], self.nodes[placed.to]);
        let sign = open_check(self.coupling, |row| is_about_edge(row, from, to))
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
            let words = Text::strong(sign).with_tone(sign_tone(sign));
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

    pub(super) fn add_boxes(&mut self) {
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
        let open_check = open_check(self.coupling, |row| is_about_node(row, node));
        let (sign, kind_words) = match open_check {
            None => ("", Text::quiet(node.kind.as_str())),
            Some(check) => {
                let sign = status_sign(&check.status);
                let words = format!("{sign} {}: {}", node.kind, check.check);
                (sign, Text::plain(words).with_tone(sign_tone(sign)))
            }
        };
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
            lines = match all_words.rsplit_once(OFFSET_WORDS) {
                // Of a member the offset stays, whatever is cut of its name.
                Some((name, offset)) => {
                    vec![name.to_owned(), format!("{}{offset}", OFFSET_WORDS.trim_start())]
                }
                None => {
                    let rest = lines.split_off(1).join(" ");
                    vec![lines.remove(0), rest]
                }
            };
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
            | CouplingNodeKind::BufferMember
            | CouplingNodeKind::Image
            | CouplingNodeKind::AddressedMemory
            | CouplingNodeKind::BuiltIn
            | CouplingNodeKind::LocalSize
            | CouplingNodeKind::Dispatch
            | CouplingNodeKind::Domain
            | CouplingNodeKind::WorkgroupMemory
            | CouplingNodeKind::SubgroupOperation
            | CouplingNodeKind::Function
            | CouplingNodeKind::BarrierRegion
            | CouplingNodeKind::EarlierDispatch
            | CouplingNodeKind::EarlierBinding
            | CouplingNodeKind::CapturedDispatch
            | CouplingNodeKind::CapturedBarrier
            | CouplingNodeKind::CapturedOperation
            | CouplingNodeKind::Unknown(_) => node.label.clone(),
        };
        Text::plain(name).with_link(node_anchor(&self.coupling.kernel, &node.id))
    }
}
