//! The captured part of a graph, cut where a chain of dispatches is wider than a page.
//!
//! Promises: every edge stands in one piece; pieces follow the order of the operations, and the
//! nodes where one ends begin the next.

use std::collections::{BTreeMap, HashMap};
use vkcert_model::evidence::{CouplingEdge, CouplingNode};

/// Columns of a piece.
const MOST_COLUMNS: usize = 5;

/// Cuts edges between operations, whose nodes stand in the order of the operations.
pub(super) fn narrow_pieces<'a>(
    nodes: &[CouplingNode],
    edges: Vec<&'a CouplingEdge>,
) -> Vec<Vec<&'a CouplingEdge>> {
    let place_by_id: HashMap<&str, usize> =
        nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
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
        let from = columns.get(edge.from.as_str()).copied().unwrap_or(0);
        let to = columns.get(edge.to.as_str()).copied().unwrap_or(0).max(from + 1);
        if to >= MOST_COLUMNS || pieces.is_empty() {
            pieces.push(Vec::new());
            columns = BTreeMap::from([(edge.from.as_str(), 0), (edge.to.as_str(), 1)]);
        } else {
            columns.insert(&edge.from, from);
            columns.insert(&edge.to, to);
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push(edge);
        }
    }
    pieces
}
