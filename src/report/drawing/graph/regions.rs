//! Where barriers, regions and what passes between them stand, from the start of a kernel to its end.
//!
//! Knows: regions in the order of the evidence, and the barriers that they begin behind. Promises: a
//! barrier stands right before the region that it begins, and what a region writes right behind the
//! first region that does. So an edge that leads back is one of a loop.

use std::collections::HashMap;
use vkcert_model::evidence::{CouplingEdge, CouplingEvidence, CouplingNodeKind};

/// Places of nodes by their ids, of the edges of this part.
pub(super) fn region_places<'a>(
    coupling: &'a CouplingEvidence,
    edges: &[&'a CouplingEdge],
) -> HashMap<&'a str, usize> {
    let regions = coupling.nodes.iter().filter(|node| node.kind == CouplingNodeKind::BarrierRegion);
    let mut places: HashMap<&str, usize> =
        regions.enumerate().map(|(number, node)| (node.id.as_str(), 2 * number)).collect();
    let kind_by_id: HashMap<&str, &CouplingNodeKind> =
        coupling.nodes.iter().map(|node| (node.id.as_str(), &node.kind)).collect();
    let is_barrier = |id: &str| kind_by_id.get(id) == Some(&&CouplingNodeKind::Barrier);
    let region_count = places.len();
    for edge in edges {
        let (from, to) = (edge.from.as_str(), edge.to.as_str());
        if is_barrier(from) {
            // The region of the start has no barrier, so that no number is 0 here.
            let region = places.get(to).copied().unwrap_or(2 * region_count);
            places.insert(from, region.saturating_sub(1));
        }
    }
    let mut written: HashMap<&str, usize> = HashMap::new();
    for edge in edges.iter().filter(|edge| !is_barrier(&edge.to)) {
        if let Some(region) = places.get(edge.from.as_str()).filter(|_| !is_barrier(&edge.from)) {
            let place = written.entry(edge.to.as_str()).or_insert(region + 1);
            *place = (*place).min(region + 1);
        }
    }
    places.extend(written);
    places
}

/// Whether an edge leads from a later place to an earlier one.
pub(super) fn leads_back(places: &HashMap<&str, usize>, edge: &CouplingEdge) -> bool {
    let place_of = |id: &str| places.get(id).copied().unwrap_or(0);
    place_of(&edge.from) >= place_of(&edge.to)
}
