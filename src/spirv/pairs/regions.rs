//! The regions between the barriers of a workgroup.
//!
//! Promises: a region has all that an invocation can come to from its start before the next barrier
//! of the workgroup; code that follows several starts stands in several regions. In the order of the
//! module, that of the entry first; none of an entry point that comes to no barrier.

use super::intervals::{IntervalGraph, IntervalStart};
use crate::flow::{DecidedBranches, with_pointers};
use crate::interface::{ReflectError, compute_entry};
use crate::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// What control comes to between barriers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BarrierRegion {
    /// Source index of the barrier that it begins behind; none: it begins with the kernel.
    pub start: Option<usize>,
    /// Source indices of the barriers that it ends at.
    pub ends: BTreeSet<usize>,
    /// Whether control can come to the end of the kernel in it.
    pub reaches_end: bool,
    /// Those of the accesses asked for that stand in it, ascending.
    pub accesses: Vec<usize>,
}

/// The regions of an entry point under a specialization (raw bits by SpecId), with these accesses by
/// their source indices.
pub fn barrier_regions(
    module: &Module,
    entry_name: &str,
    specialization_values: &BTreeMap<u32, u64>,
    accesses: &BTreeSet<usize>,
) -> Result<Vec<BarrierRegion>, ReflectError> {
    let entry_function = compute_entry(module, entry_name)?.function;
    let branches = DecidedBranches::Specialized;
    with_pointers(branches, module, entry_name, specialization_values, |folding, pointers| {
        let graph = IntervalGraph::of_kernel(folding, pointers.live, entry_function);
        regions_of(&graph, accesses)
    })
}

fn regions_of(graph: &IntervalGraph, accesses: &BTreeSet<usize>) -> Vec<BarrierRegion> {
    let barriers: BTreeSet<usize> = graph.barriers().collect();
    if barriers.is_empty() {
        return Vec::new();
    }
    let ways = graph.ways_up_to(barriers);
    let region_from = |start: IntervalStart| {
        let reached = graph.reached_from(start, &ways);
        let is_inside = |access: &usize| {
            graph.piece_of(*access).is_some_and(|piece| reached.pieces.contains(piece))
        };
        BarrierRegion {
            start: match start {
                IntervalStart::Entry => None,
                IntervalStart::Barrier(index) => Some(index),
            },
            reaches_end: graph.returns_from_kernel(&reached),
            accesses: accesses.iter().copied().filter(is_inside).collect(),
            ends: reached.barriers,
        }
    };
    graph.starts_of(&ways).into_iter().map(region_from).collect()
}
