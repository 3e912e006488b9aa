//! Graphs in layers: each node stands in a column behind all that lead to it, in the manner of
//! Sugiyama, Tagawa and Toda (IEEE Transactions on Systems, Man, and Cybernetics 11, 1981).
//!
//! Promises: the same graph gives the same places; edges run from left to right but for those that
//! close a circle, which are marked; an edge over several columns has a row of its own in each.
//! Does not cover: sizes; how anything is drawn.

use std::collections::BTreeMap;

/// Times that the order of all columns is improved.
const SWEEPS: usize = 8;

/// A graph with the places of its nodes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayeredGraph {
    /// Row by row from the top; none where an edge passes.
    pub columns: Vec<Vec<Option<usize>>>,
    /// Nodes of each column that have no row.
    pub left_out: Vec<usize>,
    /// Those between nodes that have a row.
    pub edges: Vec<PlacedEdge>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedEdge {
    /// Its number among the edges given.
    pub edge: usize,
    pub from: usize,
    pub to: usize,
    /// Column and row from the left node to the right one.
    pub way: Vec<(usize, usize)>,
    /// Whether it leads from the right to the left.
    pub is_reversed: bool,
}

/// What a row of a column holds while columns are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(usize),
    /// Of an edge that passes, by its number.
    Passing(usize),
}

impl LayeredGraph {
    /// Of nodes by number and edges between two of them; so many rows at most in a column.
    pub(crate) fn of(node_count: usize, edges: &[(usize, usize)], most_rows: usize) -> Self {
        Self::with_reversed(node_count, edges, &circle_edges(node_count, edges), most_rows)
    }

    /// The same where it is known which edges lead back, so that none of the others close a circle.
    pub(crate) fn with_reversed(
        node_count: usize,
        edges: &[(usize, usize)],
        reversed: &[bool],
        most_rows: usize,
    ) -> Self {
        let forward: Vec<(usize, usize)> = edges
            .iter()
            .zip(reversed)
            .map(|((from, to), is_reversed)| if *is_reversed { (*to, *from) } else { (*from, *to) })
            .collect();
        let ranks = ranks_of(node_count, &forward);
        let column_count = ranks.iter().max().map_or(0, |rank| rank + 1);
        let (is_shown, left_out) = shown_nodes(&ranks, column_count, most_rows);
        let shown_edges: Vec<usize> = (0..forward.len())
            .filter(|edge| {
                let (from, to) = forward[*edge];
                from != to && is_shown[from] && is_shown[to]
            })
            .collect();
        let ways: Vec<Vec<(usize, Place)>> =
            shown_edges.iter().map(|edge| way_of(*edge, forward[*edge], &ranks)).collect();
        let mut columns: Vec<Vec<Place>> = vec![Vec::new(); column_count];
        for node in (0..node_count).filter(|node| is_shown[*node]) {
            columns[ranks[node]].push(Place::Node(node));
        }
        for (column, place) in ways.iter().flatten() {
            if matches!(place, Place::Passing(_)) {
                columns[*column].push(*place);
            }
        }
        order_columns(&mut columns, &ways);
        let placed_edges = shown_edges.iter().zip(&ways).map(|(edge, way)| PlacedEdge {
            edge: *edge,
            from: edges[*edge].0,
            to: edges[*edge].1,
            way: way
                .iter()
                .map(|(column, place)| (*column, row_of(&columns[*column], *place)))
                .collect(),
            is_reversed: reversed[*edge],
        });
        Self {
            edges: placed_edges.collect(),
            columns: columns
                .iter()
                .map(|column| column.iter().map(|place| place.node()).collect())
                .collect(),
            left_out,
        }
    }
}

impl Place {
    fn node(self) -> Option<usize> {
        match self {
            Place::Node(node) => Some(node),
            Place::Passing(_) => None,
        }
    }
}

/// Edges that lead back to a node from which their own begin was reached.
fn circle_edges(node_count: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); node_count];
    for (number, (from, _)) in edges.iter().enumerate() {
        outgoing[*from].push(number);
    }
    let mut is_reversed = vec![false; edges.len()];
    let (mut is_open, mut is_done) = (vec![false; node_count], vec![false; node_count]);
    for start in 0..node_count {
        // Nodes on the way, each with how many of its edges were followed.
        let mut way = vec![(start, 0)];
        if is_done[start] {
            continue;
        }
        is_open[start] = true;
        while let Some((node, followed)) = way.last_mut() {
            let Some(edge) = outgoing[*node].get(*followed).copied() else {
                is_open[*node] = false;
                is_done[*node] = true;
                way.pop();
                continue;
            };
            *followed += 1;
            let target = edges[edge].1;
            if is_open[target] {
                is_reversed[edge] = true;
            } else if !is_done[target] {
                is_open[target] = true;
                way.push((target, 0));
            }
        }
    }
    is_reversed
}

/// Length of the longest way to each node, of edges without circles.
fn ranks_of(node_count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut ranks = vec![0; node_count];
    // A way has fewer edges than there are nodes.
    for _ in 0..node_count {
        let mut has_changed = false;
        for (from, to) in edges.iter().filter(|(from, to)| from != to) {
            if ranks[*to] <= ranks[*from] {
                ranks[*to] = ranks[*from] + 1;
                has_changed = true;
            }
        }
        if !has_changed {
            break;
        }
    }
    ranks
}

/// Which nodes have a row, and how many of each column have none.
fn shown_nodes(ranks: &[usize], column_count: usize, most_rows: usize) -> (Vec<bool>, Vec<usize>) {
    let (mut filled, mut left_out) = (vec![0; column_count], vec![0; column_count]);
    let is_shown = ranks.iter().map(|rank| {
        let has_room = filled[*rank] < most_rows;
        if has_room {
            filled[*rank] += 1;
        } else {
            left_out[*rank] += 1;
        }
        has_room
    });
    (is_shown.collect(), left_out)
}

/// The places of an edge from column to column.
fn way_of(edge: usize, (from, to): (usize, usize), ranks: &[usize]) -> Vec<(usize, Place)> {
    let between = (ranks[from] + 1..ranks[to]).map(|column| (column, Place::Passing(edge)));
    std::iter::once((ranks[from], Place::Node(from)))
        .chain(between)
        .chain([(ranks[to], Place::Node(to))])
        .collect()
}

fn row_of(column: &[Place], wanted: Place) -> usize {
    column.iter().position(|place| *place == wanted).expect("every place of a way has a row")
}

/// Moves each place towards the mean row of its neighbours, from the left and from the right in
/// turn.
fn order_columns(columns: &mut [Vec<Place>], ways: &[Vec<(usize, Place)>]) {
    let mut neighbours: BTreeMap<(usize, Place), [Vec<Place>; 2]> = BTreeMap::new();
    for ends in ways.iter().flat_map(|way| way.windows(2)) {
        let [left, right] = [ends[0], ends[1]];
        neighbours.entry(right).or_default()[0].push(left.1);
        neighbours.entry(left).or_default()[1].push(right.1);
    }
    for sweep in 0..SWEEPS {
        let side = sweep % 2;
        let order: Vec<usize> = match side {
            0 => (1..columns.len()).collect(),
            _ => (0..columns.len().saturating_sub(1)).rev().collect(),
        };
        for column in order {
            let beside = if side == 0 { column - 1 } else { column + 1 };
            let rows: BTreeMap<Place, usize> =
                columns[beside].iter().enumerate().map(|(row, place)| (*place, row)).collect();
            let mut weighed: Vec<(f64, Place)> = columns[column]
                .iter()
                .enumerate()
                .map(|(row, place)| {
                    (mean_row(&neighbours, (column, *place), side, &rows, row), *place)
                })
                .collect();
            // Stable: equal means keep their order.
            weighed.sort_by(|first, second| first.0.total_cmp(&second.0));
            columns[column] = weighed.into_iter().map(|(_, place)| place).collect();
        }
    }
}

/// A place without neighbours on this side keeps its row.
fn mean_row(
    neighbours: &BTreeMap<(usize, Place), [Vec<Place>; 2]>,
    place: (usize, Place),
    side: usize,
    rows: &BTreeMap<Place, usize>,
    own_row: usize,
) -> f64 {
    let beside = neighbours.get(&place).map_or(&[][..], |sides| sides[side].as_slice());
    let beside_rows: Vec<f64> =
        beside.iter().filter_map(|place| rows.get(place)).map(|row| *row as f64).collect();
    match beside_rows.len() {
        0 => own_row as f64,
        count => beside_rows.iter().sum::<f64>() / count as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_node_has_a_place_and_edges_run_to_the_right(
            edges in proptest::collection::vec((0_usize..9, 0_usize..9), 0..24),
        ) {
            let graph = LayeredGraph::of(9, &edges, 20);
            let mut nodes: Vec<usize> = graph.columns.iter().flatten().flatten().copied().collect();
            nodes.sort_unstable();
            proptest::prop_assert_eq!(nodes, (0..9).collect::<Vec<_>>());
            let real_edges = edges.iter().filter(|(from, to)| from != to).count();
            proptest::prop_assert_eq!(graph.edges.len(), real_edges);
            for edge in &graph.edges {
                let columns: Vec<usize> = edge.way.iter().map(|(column, _)| *column).collect();
                proptest::prop_assert!(columns.windows(2).all(|two| two[1] == two[0] + 1));
                let (left, right) =
                    if edge.is_reversed { (edge.to, edge.from) } else { (edge.from, edge.to) };
                let node_at = |(column, row): (usize, usize)| graph.columns[column][row];
                proptest::prop_assert_eq!(node_at(edge.way[0]), Some(left));
                proptest::prop_assert_eq!(node_at(*edge.way.last().unwrap()), Some(right));
            }
        }
    }

    #[test]
    fn a_circle_is_opened_at_one_edge() {
        let graph = LayeredGraph::of(3, &[(0, 1), (1, 2), (2, 1)], 20);
        let reversed: Vec<bool> = graph.edges.iter().map(|edge| edge.is_reversed).collect();
        assert_eq!(reversed, [false, false, true]);
        assert_eq!(graph.columns, [vec![Some(0)], vec![Some(1)], vec![Some(2)]]);
    }

    #[test]
    fn lines_that_need_not_cross_do_not() {
        // 0 leads to 3 and 1 to 2: the second column turns round.
        let graph = LayeredGraph::of(4, &[(0, 3), (1, 2)], 20);
        assert_eq!(graph.columns[1], [Some(3), Some(2)]);
    }

    #[test]
    fn what_has_no_room_is_counted() {
        let edges: Vec<(usize, usize)> = (1..10).map(|node| (0, node)).collect();
        let graph = LayeredGraph::of(10, &edges, 4);
        assert_eq!(
            (graph.columns[1].len(), &graph.left_out[..], graph.edges.len()),
            (4, &[0, 5][..], 4)
        );
    }
}
