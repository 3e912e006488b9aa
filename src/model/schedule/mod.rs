//! Schedules: in which order the workgroups of a dispatch run and, inside a workgroup, its invocations, and whether who waits
//! goes first.
//!
//! Knows: which permutation an order is for any number of things, and the text of a schedule.
//! Promises: both depend on nothing else; a schedule's text form stands for the same permutations in every version.
//! Does not cover: which schedules belong to a test (`list`), how an engine is made to follow one.

mod list;
mod result;

pub use list::{Extent, Schedules};
pub use result::{DirectedResult, MeasuredCode, ScheduleResult, ScheduleStatus};

use super::random::SplitMix64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The most schedules that can be asked for.
pub const MOST_SCHEDULES: u32 = 1000;

/// The most workgroups of a dispatch that schedules are made for: the permutation takes 4 bytes for each.
pub const MOST_WORKGROUPS: u64 = 1 << 20;

/// The most invocations of a tile.
pub const MOST_TILE_WIDTH: u32 = 1024;

/// An order of workgroups by linear index (x fastest), or of the tiles of a workgroup. The order of the variants is from
/// simple to less so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Order {
    /// First to last.
    #[default]
    InOrder,
    /// Last to first.
    Reversed,
    /// This one (modulo their number) first, the others in order behind it.
    First(u32),
    /// A permutation drawn from a seed: the `number`-th of it, from 1.
    Random {
        /// What the permutation is drawn from.
        seed: u64,
        /// Which permutation of the seed, from 1.
        number: u32,
    },
}

impl Order {
    /// Entry `n` is the one that is started as the `n`-th.
    pub fn permutation(self, count: u32) -> Vec<u32> {
        match self {
            Order::InOrder => (0..count).collect(),
            Order::Reversed => (0..count).rev().collect(),
            Order::First(first_workgroup) => {
                let first_workgroup = first_workgroup.checked_rem(count);
                let other_workgroups =
                    (0..count).filter(|workgroup| Some(*workgroup) != first_workgroup);
                first_workgroup.into_iter().chain(other_workgroups).collect()
            }
            Order::Random { seed, number } => shuffled_indices(count, seed, number),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(':').collect();
        match words.as_slice() {
            ["in-order"] => Some(Order::InOrder),
            ["reversed"] => Some(Order::Reversed),
            ["first", first] => first.parse().ok().map(Order::First),
            ["random", seed, number] => match (seed.parse(), number.parse()) {
                (Ok(seed), Ok(number)) => Some(Order::Random { seed, number }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Fisher and Yates's shuffle from the last place down. The generator starts at the first draw of the seed's own
/// generator plus the number.
fn shuffled_indices(count: u32, seed: u64, number: u32) -> Vec<u32> {
    let start_state = SplitMix64::new(seed).draw().wrapping_add(u64::from(number));
    let mut generator = SplitMix64::new(start_state);
    let mut index_order: Vec<u32> = (0..count).collect();
    for swap_place in (1..index_order.len()).rev() {
        let swap_partner = generator.integer(0, swap_place as i128) as usize;
        index_order.swap(swap_place, swap_partner);
    }
    index_order
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::InOrder => f.pad("in-order"),
            Order::Reversed => f.pad("reversed"),
            Order::First(first) => f.pad(&format!("first:{first}")),
            Order::Random { seed, number } => f.pad(&format!("random:{seed}:{number}")),
        }
    }
}

/// How a workgroup is run between two barriers: so many consecutive invocations together, each instruction for all of them in
/// the order of their local indices, and these tiles in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tiles {
    /// In which order the tiles run.
    pub order: Order,
    /// Invocations of a tile, 1 to [`MOST_TILE_WIDTH`].
    pub width: u32,
}

impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.order {
            Order::InOrder => f.pad(&format!("tiles:{}", self.width)),
            order => f.pad(&format!("tiles:{}:{order}", self.width)),
        }
    }
}

/// Who goes on where one invocation is about to change what another one looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Turns {
    /// Whoever comes there.
    #[default]
    AsReached,
    /// The one that looks: invocations hold before such a change until nobody else can go on.
    WaitersFirst,
}

/// What stands behind a schedule in which who waits goes first.
const WAITERS_FIRST: &str = "+waiters-first";

/// An order of the workgroups of each dispatch and, where it says so, how each workgroup is run and who waits for whom. Sorted
/// from simple to less so: fewer parts that are not ordinary before more, what a device can follow before what it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Schedule {
    /// In which order the workgroups of each dispatch run.
    pub workgroups: Order,
    /// None: as the engine has it. Only the sequential engine follows one.
    pub tiles: Option<Tiles>,
    /// Only the sequential engine lets waiters go first.
    pub turns: Turns,
}

impl Schedule {
    /// The ordinary one.
    pub const IN_ORDER: Schedule =
        Schedule { workgroups: Order::InOrder, tiles: None, turns: Turns::AsReached };

    /// Those in which the invocations of a workgroup run one by one between barriers: from first to
    /// last, from last to first, and two permutations, of the workgroups too.
    pub const ONE_BY_ONE: [Schedule; 4] = [
        Schedule::one_by_one(Order::InOrder),
        Schedule::one_by_one(Order::Reversed),
        Schedule::one_by_one(Order::Random { seed: 0, number: 1 }),
        Schedule::one_by_one(Order::Random { seed: 0, number: 2 }),
    ];

    /// Workgroups, and the invocations of each between barriers one by one, in an order.
    const fn one_by_one(order: Order) -> Self {
        Self { workgroups: order, tiles: Some(Tiles { order, width: 1 }), turns: Turns::AsReached }
    }

    /// A schedule in which no invocation holds for another one.
    pub fn new(workgroups: Order, tiles: Option<Tiles>) -> Self {
        Self { workgroups, tiles, turns: Turns::AsReached }
    }

    /// Whether who waits goes first.
    pub fn is_directed(self) -> bool {
        self.turns == Turns::WaitersFirst
    }

    /// The one in which who waits goes first, workgroups in this order.
    pub const fn waiters_first(workgroups: Order) -> Self {
        Self { workgroups, tiles: None, turns: Turns::WaitersFirst }
    }

    /// What schedules are sorted by, the simplest first: the parts that depart from the ordinary
    /// one, then which they are.
    fn simplicity(&self) -> impl Ord {
        let is_directed = self.turns == Turns::WaitersFirst;
        let part_count = u8::from(self.workgroups != Order::InOrder)
            + u8::from(self.tiles.is_some())
            + u8::from(is_directed);
        (part_count, is_directed, self.tiles.is_some(), self.workgroups, self.tiles)
    }

    /// Simpler schedules that do part of what this one does, the simplest first; never the ordinary one.
    pub fn simpler_schedules(self) -> Vec<Schedule> {
        let simpler_tiles = self
            .tiles
            .into_iter()
            .flat_map(|tiles| orders_up_to(tiles.order).map(move |order| Tiles { order, ..tiles }));
        let simpler_tiles: Vec<Option<Tiles>> =
            std::iter::once(None).chain(simpler_tiles.map(Some)).collect();
        let simpler_turns = [Turns::AsReached, self.turns];
        let all_schedules = orders_up_to(self.workgroups)
            .flat_map(|order| simpler_tiles.iter().map(move |tiles| Schedule::new(order, *tiles)));
        let all_schedules = all_schedules
            .flat_map(|schedule| simpler_turns.map(|turns| Schedule { turns, ..schedule }));
        let mut sorted_schedules: Vec<Schedule> =
            all_schedules.filter(|one| *one < self && *one != Self::IN_ORDER).collect();
        sorted_schedules.sort_unstable();
        sorted_schedules.dedup();
        sorted_schedules
    }
}

fn orders_up_to(order: Order) -> impl Iterator<Item = Order> {
    [Order::InOrder, Order::Reversed, order].into_iter().filter(move |o| *o <= order)
}

impl From<Order> for Schedule {
    fn from(workgroups: Order) -> Self {
        Self::new(workgroups, None)
    }
}

impl Ord for Schedule {
    fn cmp(&self, other: &Self) -> Ordering {
        self.simplicity().cmp(&other.simplicity())
    }
}

impl PartialOrd for Schedule {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turns = match self.turns {
            Turns::AsReached => "",
            Turns::WaitersFirst => WAITERS_FIRST,
        };
        match self.tiles {
            None => f.pad(&format!("{}{turns}", self.workgroups)),
            Some(tiles) => f.pad(&format!("{}+{tiles}{turns}", self.workgroups)),
        }
    }
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no schedule: an ORDER of the workgroups (`in-order`, `reversed`, `first:WORKGROUP` or `random:SEED:NUMBER`), \
     where wanted with `+tiles:WIDTH` or `+tiles:WIDTH:ORDER` (WIDTH 1 to {MOST_TILE_WIDTH}) and `+waiters-first` behind it"
)]
pub struct ScheduleError {
    /// The text as it was given.
    pub text: String,
}

impl FromStr for Schedule {
    type Err = ScheduleError;
    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let (schedule_parts, turns) = match text.strip_suffix(WAITERS_FIRST) {
            Some(schedule_parts) => (schedule_parts, Turns::WaitersFirst),
            None => (text, Turns::AsReached),
        };
        let schedule = match schedule_parts.split_once('+') {
            None => Order::parse(schedule_parts).map(Schedule::from),
            Some((order, rest)) => Order::parse(order)
                .zip(parse_tiles(rest))
                .map(|(order, parsed_tiles)| Schedule::new(order, Some(parsed_tiles))),
        };
        let schedule = schedule.map(|schedule| Schedule { turns, ..schedule });
        // One text for each schedule: `first:+5`, `first:05` and `in-order+tiles:8:in-order` are none.
        schedule
            .filter(|schedule| schedule.to_string() == text)
            .ok_or_else(|| ScheduleError { text: text.to_owned() })
    }
}

fn parse_tiles(text: &str) -> Option<Tiles> {
    let (width, order) = match text.strip_prefix("tiles:")?.split_once(':') {
        Some((width, order)) => (width, Order::parse(order)?),
        None => (text.strip_prefix("tiles:")?, Order::InOrder),
    };
    let width = width.parse().ok().filter(|width| (1..=MOST_TILE_WIDTH).contains(width))?;
    Some(Tiles { order, width })
}

impl TryFrom<String> for Schedule {
    type Error = ScheduleError;
    fn try_from(text: String) -> Result<Self, ScheduleError> {
        text.parse()
    }
}

impl From<Schedule> for String {
    fn from(schedule: Schedule) -> Self {
        schedule.to_string()
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Schedule".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_order() -> impl Strategy<Value = Order> {
        prop_oneof![
            Just(Order::InOrder),
            Just(Order::Reversed),
            any::<u32>().prop_map(Order::First),
            (any::<u64>(), any::<u32>()).prop_map(|(seed, number)| Order::Random { seed, number }),
        ]
    }

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        let tiles =
            (any_order(), 1..=MOST_TILE_WIDTH).prop_map(|(order, width)| Tiles { order, width });
        let turns = prop_oneof![Just(Turns::AsReached), Just(Turns::WaitersFirst)];
        (any_order(), proptest::option::of(tiles), turns)
            .prop_map(|(workgroups, tiles, turns)| Schedule { workgroups, tiles, turns })
    }

    fn schedule(text: &str) -> Schedule {
        text.parse().expect("a schedule")
    }

    #[test]
    fn a_text_stands_for_the_same_permutation_for_ever() {
        let order = |text: &str| schedule(text).workgroups.permutation(8);
        assert_eq!(order("in-order"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order("reversed"), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(order("first:5"), [5, 0, 1, 2, 3, 4, 6, 7]);
        assert_eq!(order("first:13"), order("first:5"));
        assert_eq!(order("random:0:1"), GOLDEN[0]);
        assert_eq!(order("random:0:2"), GOLDEN[1]);
        assert_eq!(order("random:7:1"), GOLDEN[2]);
        let tiles = schedule("reversed+tiles:4:random:7:1").tiles.expect("has tiles");
        assert_eq!((tiles.width, tiles.order.permutation(8)), (4, GOLDEN[2].to_vec()));
    }

    /// By another program, from the description in this file and in `random`.
    const GOLDEN: [[u32; 8]; 3] =
        [[7, 4, 0, 3, 5, 2, 6, 1], [5, 6, 7, 3, 0, 1, 2, 4], [0, 5, 6, 7, 4, 3, 2, 1]];

    #[test]
    fn texts_that_are_no_schedule_are_refused() {
        let orders = [
            "",
            "first",
            "first:",
            "first:x",
            "first:+5",
            "first:05",
            "random:1",
            "random:1:2:3",
            "Reversed",
        ];
        let tiles = [
            "+tiles:1",
            "in-order+",
            "in-order+tiles",
            "in-order+tiles:0",
            "in-order+tiles:1025",
            "reversed+tiles:01",
        ];
        let more = [
            "in-order+tiles:8:in-order",
            "reversed+tiles:8:",
            "tiles:8",
            "reversed+tiles:8+tiles:8",
            "reversed+first:1",
            "+waiters-first",
            "waiters-first",
            "reversed+waiters-first+tiles:1",
            "reversed+waiters-first+waiters-first",
        ];
        for text in orders.iter().chain(&tiles).chain(&more) {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }

    #[test]
    fn simple_schedules_come_before_others() {
        let sorted = [
            "in-order",
            "reversed",
            "first:3",
            "random:1:1",
            "in-order+tiles:1",
            "in-order+tiles:8",
            "in-order+tiles:1:reversed",
            "in-order+tiles:1:random:1:1",
            "in-order+waiters-first",
            "reversed+tiles:1",
            "first:3+tiles:1",
            "reversed+waiters-first",
            "reversed+tiles:1+waiters-first",
        ];
        let mut schedules: Vec<Schedule> = sorted.iter().rev().map(|text| schedule(text)).collect();
        schedules.sort();
        assert_eq!(schedules.iter().map(ToString::to_string).collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn what_a_schedule_does_in_part_is_simpler() {
        let simpler = |text: &str| {
            schedule(text).simpler_schedules().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(simpler("in-order"), Vec::<String>::new());
        assert_eq!(simpler("first:3"), ["reversed"]);
        assert_eq!(
            simpler("reversed+tiles:4:reversed"),
            ["reversed", "in-order+tiles:4", "in-order+tiles:4:reversed", "reversed+tiles:4"]
        );
        assert_eq!(simpler("reversed+waiters-first"), ["reversed", "in-order+waiters-first"]);
    }

    proptest! {
        #[test]
        fn every_order_is_a_permutation(order in any_order(), count in 0_u32..300) {
            let mut sorted = order.permutation(count);
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..count).collect::<Vec<_>>());
        }

        #[test]
        fn texts_read_back(schedule in any_schedule()) {
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn simpler_ones_come_before_in_ascending_order(schedule in any_schedule()) {
            let mut all = schedule.simpler_schedules();
            all.push(schedule);
            prop_assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", all);
            prop_assert!(schedule == Schedule::IN_ORDER || !all.contains(&Schedule::IN_ORDER));
        }
    }
}
