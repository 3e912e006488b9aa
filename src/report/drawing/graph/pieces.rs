//! A part of a graph that is a chain, cut where it is wider than a page.
//!
//! Promises: pieces follow the places of the nodes, and the nodes where one ends begin the next;
//! every edge stands in one piece, or behind the last one and is counted.

use std::collections::{BTreeMap, HashMap};
use vkcert_model::evidence::CouplingEdge;

/// Columns of a piece.
const MOST_COLUMNS: usize = 5;
/// Pieces that are drawn.
const MOST_PIECES: usize = 6;

/// A part in pieces.
pub(super) struct Pieces<'a> {
    pub pieces: Vec<Vec<&'a CouplingEdge>>,
    /// Edges behind the last one.
    pub left_out: usize,
}

/// Cuts edges between nodes at these places, of which some lead back.
pub(super) fn narrow_pieces<'a>(
    place_by_id: &HashMap<&str, usize>,
    edges: Vec<&'a CouplingEdge>,
    is_back: impl Fn(&CouplingEdge) -> bool,
) -> Pieces<'a> {
    let place_of = |id: &str| place_by_id.get(id).copied().unwrap_or(0);
    let mut ordered = edges;
    // What leads to a node comes before what leads on from it, so that its column is known.
    ordered.sort_by_key(|edge| {
        let (from, to) = (place_of(&edge.from), place_of(&edge.to));
        (from.max(to), from)
    });
    let mut pieces: Vec<Vec<&CouplingEdge>> = Vec::new();
    let mut columns: BTreeMap<&str, usize> = BTreeMap::new();
    for edge in ordered {
        // An edge that leads back moves nothing.
        let (left, right) =
            if is_back(edge) { (&edge.to, &edge.from) } else { (&edge.from, &edge.to) };
        let left_column = columns.get(left.as_str()).copied().unwrap_or(0);
        let right_column = columns.get(right.as_str()).copied().unwrap_or(0).max(left_column + 1);
        if right_column >= MOST_COLUMNS || pieces.is_empty() {
            pieces.push(Vec::new());
            columns = BTreeMap::from([(left.as_str(), 0), (right.as_str(), 1)]);
        } else {
            columns.insert(left, left_column);
            columns.insert(right, right_column);
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(edge);
        }
    }
    let left_out = pieces.iter().skip(MOST_PIECES).map(Vec::len).sum();
    pieces.truncate(MOST_PIECES);
    Pieces { pieces, left_out }
}
