//! Which schedules a test runs in.
//!
//! Knows: how large the dispatches of the test are, how many schedules are asked for, the seed.
//! Promises: the list depends on nothing else. None is the ordinary schedule and no two are the same for this test, so that
//! there are fewer than asked for where there are no more.
//! Does not cover: whether two different orders can show a difference at all.

use super::{MOST_SCHEDULES, Order, Schedule, Tiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which schedules each test runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Schedules {
    /// How many; at most 1000.
    pub count: u32,
    /// What the random orders are drawn from.
    pub seed: u64,
}

/// How large a dispatch is on an engine that can follow tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Workgroups of the dispatch.
    pub workgroups: u32,
    /// Of a workgroup.
    pub invocations: u32,
    /// Invocations that must stay in one tile: those of a subgroup where they work together, else 1.
    pub together: u32,
    /// Invocations of a tile where a schedule does not say.
    pub ordinary_width: u32,
}

/// Of more than so many things, two orders of a list are never one permutation, but by a chance of less than 1 in 10^80.
const FEW: u32 = 64;

/// After so many schedules that are known already, no more random ones are tried.
const GIVE_UP: u32 = 256;

/// Widths of tiles in the order in which they are tried.
const WIDTHS: [u32; 6] = [1, 4, 16, 2, 8, 32];

/// An order as it can be told from others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Sequence {
    Exact(Vec<u32>),
    Named(Order),
}

impl Sequence {
    fn of(order: Order, count: u32) -> Self {
        if count <= FEW {
            Sequence::Exact(order.permutation(count))
        } else {
            Sequence::Named(order)
        }
    }
}

impl Extent {
    /// Invocations of a tile, as many as there are at most.
    fn tile_width(&self, tiles: Option<Tiles>) -> u32 {
        let wanted_width = tiles.map_or(self.ordinary_width, |tiles| tiles.width);
        wanted_width.next_multiple_of(self.together.max(1)).clamp(1, self.invocations.max(1))
    }

    /// What a schedule comes to: order of the workgroups, width and order of the tiles.
    fn arrangement(&self, schedule: Schedule) -> (Sequence, u32, Sequence) {
        let tile_width = self.tile_width(schedule.tiles);
        let tile_order = schedule.tiles.map_or(Order::InOrder, |tile_sequence| tile_sequence.order);
        let tile_sequence = Sequence::of(tile_order, self.invocations.div_ceil(tile_width));
        (Sequence::of(schedule.workgroups, self.workgroups), tile_width, tile_sequence)
    }
}

impl Schedules {
    /// The orders of a test whose dispatches have these numbers of workgroups: `reversed`, then in turn a workgroup that
    /// goes first and a random order.
    pub fn workgroup_orders(self, workgroups: &[u32]) -> Vec<Order> {
        let most_workgroups = workgroups.iter().copied().max().unwrap_or(0);
        let mut known_permutations = BTreeSet::new();
        let mut is_new = |order: Order| {
            if most_workgroups > FEW {
                return true;
            }
            known_permutations.insert(
                workgroups.iter().map(|count| order.permutation(*count)).collect::<Vec<_>>(),
            )
        };
        is_new(Order::InOrder);
        let mut chosen_orders = vec![Order::Reversed];
        chosen_orders.retain(|order| is_new(*order));
        let mut first_workgroups =
            spread_workgroups(most_workgroups).into_iter().map(Order::First).peekable();
        let (mut random_number, mut refused_count) = (0, 0);
        while chosen_orders.len() < self.count as usize && most_workgroups > 1 {
            let wants_first = chosen_orders.len() % 2 == 1 || refused_count > GIVE_UP;
            let next_order = match first_workgroups.next_if(|_| wants_first) {
                Some(first) => first,
                None if refused_count > GIVE_UP => break,
                None => {
                    random_number += 1;
                    Order::Random { seed: self.seed, number: random_number }
                }
            };
            match is_new(next_order) {
                true => chosen_orders.push(next_order),
                false => refused_count += 1,
            }
        }
        chosen_orders.truncate(self.count as usize);
        chosen_orders
    }

    /// The schedules of a test with these dispatches, tiles included: workgroups last to first; invocations one by one, last to
    /// first and first to last; then in turn a workgroup that goes first, workgroups and invocations at random, workgroups at
    /// random, and tiles of several widths.
    pub fn list_with_tiles(self, extents: &[Extent]) -> Vec<Schedule> {
        let arrangement_of = |schedule| {
            extents.iter().map(|extent| extent.arrangement(schedule)).collect::<Vec<_>>()
        };
        let mut known_arrangements = BTreeSet::from([arrangement_of(Schedule::IN_ORDER)]);
        let least_width = extents.iter().map(|extent| extent.together).min().unwrap_or(1);
        let first_workgroups =
            spread_workgroups(extents.iter().map(|extent| extent.workgroups).max().unwrap_or(0));
        let (mut chosen_schedules, mut refused_count) = (Vec::new(), 0);
        for step in 0.. {
            if chosen_schedules.len() == self.count as usize || refused_count > GIVE_UP {
                break;
            }
            let mut next_schedule = self.candidate(step, &first_workgroups);
            // The text says what is done: tiles hold whole subgroups in any case.
            next_schedule.tiles = next_schedule
                .tiles
                .map(|tiles| Tiles { width: tiles.width.max(least_width), ..tiles });
            match known_arrangements.insert(arrangement_of(next_schedule)) {
                true => chosen_schedules.push(next_schedule),
                false => refused_count += 1,
            }
        }
        chosen_schedules
    }

    fn candidate(self, candidate_step: u32, firsts: &[u32]) -> Schedule {
        let single_lane_tiles = |order| Some(Tiles { order, width: 1 });
        let Some(candidate_step) = candidate_step.checked_sub(3) else {
            return match candidate_step {
                0 => Order::Reversed.into(),
                1 => Schedule::new(Order::InOrder, single_lane_tiles(Order::Reversed)),
                _ => Schedule::new(Order::InOrder, single_lane_tiles(Order::InOrder)),
            };
        };
        let candidate_round = candidate_step / 4;
        let random_order = |number| Order::Random { seed: self.seed, number };
        let (odd_order, even_order) =
            (random_order(2 * candidate_round + 1), random_order(2 * candidate_round + 2));
        let tile_width = WIDTHS[candidate_round as usize % WIDTHS.len()];
        match (candidate_step % 4, firsts.get(candidate_round as usize)) {
            (0, Some(first)) => Order::First(*first).into(),
            (0, None) => odd_order.into(),
            (1, _) => Schedule::new(odd_order, single_lane_tiles(odd_order)),
            (2, _) => even_order.into(),
            _ if (candidate_round as usize) < WIDTHS.len() => Schedule::new(
                Order::Reversed,
                Some(Tiles { order: Order::Reversed, width: tile_width }),
            ),
            _ => {
                Schedule::new(Order::InOrder, Some(Tiles { order: even_order, width: tile_width }))
            }
        }
    }
}

/// Every workgroup but the first, the middle one first, then the quarters, the eighths and so on.
fn spread_workgroups(workgroups: u32) -> Vec<u32> {
    let mut seen_workgroups = BTreeSet::from([0]);
    let mut spread_list = Vec::new();
    let mut part_count: u64 = 2;
    while part_count < u64::from(workgroups) * 2 && spread_list.len() < MOST_SCHEDULES as usize {
        let part_starts = (1..part_count)
            .step_by(2)
            .map(|part| (part * u64::from(workgroups) / part_count) as u32);
        spread_list.extend(part_starts.filter(|workgroup| seen_workgroups.insert(*workgroup)));
        part_count *= 2;
    }
    spread_list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts<T: ToString>(list: &[T]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    fn extent(workgroups: u32, invocations: u32, together: u32) -> Extent {
        Extent { workgroups, invocations, together, ordinary_width: 64 }
    }

    #[test]
    fn a_list_begins_with_the_simple_ones() {
        let list = |count, seed, workgroups: &[u32]| {
            texts(&Schedules { count, seed }.workgroup_orders(workgroups))
        };
        assert_eq!(
            list(6, 9, &[64]),
            ["reversed", "first:32", "random:9:1", "first:16", "random:9:2", "first:48"]
        );
        assert_eq!(list(0, 9, &[64]), Vec::<String>::new());
        assert_eq!(list(3, 9, &[1, 1]), Vec::<String>::new());
        assert_eq!(list(3, 9, &[]), Vec::<String>::new());
        // Two workgroups have one other order.
        assert_eq!(list(5, 9, &[2]), ["reversed"]);
        assert_eq!(list(99, 9, &[3]).len(), 5);
        assert_eq!(list(99, 9, &[4]).len(), 23);
    }

    #[test]
    fn a_list_with_tiles_permutes_workgroups_and_invocations() {
        let list = |count, extents: &[Extent]| {
            texts(&Schedules { count, seed: 9 }.list_with_tiles(extents))
        };
        let eight = list(8, &[extent(8, 128, 1)]);
        let four = ["reversed", "in-order+tiles:1:reversed", "in-order+tiles:1", "first:4"];
        assert_eq!(eight[..4], four);
        let rest =
            ["random:9:1+tiles:1:random:9:1", "random:9:2", "reversed+tiles:1:reversed", "first:2"];
        assert_eq!(eight[4..], rest);
        // One workgroup has no orders of workgroups, one invocation none of tiles, two invocations three ways to run.
        assert_eq!(list(4, &[extent(1, 2, 1)]), ["in-order+tiles:1:reversed", "in-order+tiles:1"]);
        assert_eq!(
            list(3, &[extent(3, 1, 1)]),
            ["reversed", "first:1", "random:9:1+tiles:1:random:9:1"]
        );
        assert_eq!(list(9, &[extent(1, 1, 1)]), Vec::<String>::new());
        assert_eq!(list(9, &[]), Vec::<String>::new());
    }

    #[test]
    fn tiles_hold_whole_subgroups() {
        let list =
            |extents: &[Extent]| texts(&Schedules { count: 3, seed: 9 }.list_with_tiles(extents));
        assert_eq!(
            list(&[extent(1, 128, 32)])[..2],
            ["in-order+tiles:32:reversed", "in-order+tiles:32"]
        );
        // A workgroup of one subgroup, or of one tile, has no other way to run.
        assert_eq!(list(&[extent(1, 32, 32)]), Vec::<String>::new());
        // Another dispatch is free.
        assert_eq!(list(&[extent(1, 32, 32), extent(1, 9, 1)])[0], "in-order+tiles:1:reversed");
    }

    proptest! {
        #[test]
        fn a_list_is_that_of_its_seed_without_doubles(
            count in 0_u32..40,
            seed in any::<u64>(),
            workgroups in proptest::collection::vec(1_u32..40, 1..4),
        ) {
            let schedules = Schedules { count, seed };
            let list = schedules.workgroup_orders(&workgroups);
            prop_assert_eq!(&list, &schedules.workgroup_orders(&workgroups));
            prop_assert!(list.len() <= count as usize);
            if workgroups.iter().any(|count| *count > 5) {
                prop_assert_eq!(list.len(), count as usize);
            }
            let orders = |order: &Order| -> Vec<Vec<u32>> {
                workgroups.iter().map(|count| order.permutation(*count)).collect()
            };
            let different: BTreeSet<_> = list.iter().map(orders).chain([orders(&Order::InOrder)]).collect();
            prop_assert_eq!(different.len(), list.len() + 1);
        }

        #[test]
        fn a_list_with_tiles_has_no_doubles(
            count in 0_u32..60,
            seed in any::<u64>(),
            sizes in proptest::collection::vec((1_u32..40, 1_u32..200, 0_u32..4), 1..4),
        ) {
            let extents: Vec<Extent> = sizes.iter().map(|(w, i, together)| extent(*w, *i, 1 << together)).collect();
            let schedules = Schedules { count, seed };
            let list = schedules.list_with_tiles(&extents);
            prop_assert_eq!(&list, &schedules.list_with_tiles(&extents));
            prop_assert!(list.len() <= count as usize);
            if extents.iter().any(|one| one.workgroups > 5 || one.invocations > 5 * one.together) {
                prop_assert_eq!(list.len(), count as usize);
            }
            // Spelled out: which invocations run together, in order.
            let runs = |schedule: &Schedule| -> Vec<(Vec<u32>, Vec<Vec<u32>>)> {
                let one = |extent: &Extent| {
                    let invocations: Vec<u32> = (0..extent.invocations).collect();
                    let width = schedule.tiles.map_or(64, |tiles| tiles.width).next_multiple_of(extent.together);
                    let tiles: Vec<&[u32]> = invocations.chunks(width as usize).collect();
                    let order = schedule.tiles.map_or(Order::InOrder, |tiles| tiles.order);
                    let order = order.permutation(tiles.len() as u32);
                    let tiles = order.iter().map(|tile| tiles[*tile as usize].to_vec()).collect();
                    (schedule.workgroups.permutation(extent.workgroups), tiles)
                };
                extents.iter().map(one).collect()
            };
            let different: BTreeSet<_> = list.iter().map(runs).chain([runs(&Schedule::IN_ORDER)]).collect();
            prop_assert_eq!(different.len(), list.len() + 1);
        }

        #[test]
        fn workgroups_that_go_first_are_all_there_is(workgroups in 1_u32..900) {
            let mut sorted = spread_workgroups(workgroups);
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (1..workgroups).collect::<Vec<_>>());
        }
    }
}
