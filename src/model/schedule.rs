//! Schedules: orders in which the workgroups of a dispatch are started, and what running a test in them has shown.
//!
//! Knows: which permutation a schedule is for any number of workgroups, and which schedules belong to a number and a seed.
//! Promises: both depend on nothing else; a schedule's text form stands for the same permutation in every version.
//! Does not cover: how an engine is made to follow one.

use super::random::SplitMix64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The most schedules that can be asked for.
pub const MOST_SCHEDULES: u32 = 1000;

/// The most workgroups of a dispatch that schedules are made for: the permutation takes 4 bytes for each.
pub const MOST_WORKGROUPS: u64 = 1 << 20;

/// An order of the workgroups of each dispatch, by linear index (x fastest). The order of the variants is from simple to
/// less so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Schedule {
    /// First to last.
    InOrder,
    /// Last to first.
    Reversed,
    /// This workgroup (modulo their number) first, the others in order behind it.
    First(u32),
    /// A permutation drawn from a seed: the `number`-th of it, from 1.
    Random { seed: u64, number: u32 },
}

impl Schedule {
    /// Entry `n` is the workgroup that is started as the `n`-th.
    pub fn permutation(self, workgroups: u32) -> Vec<u32> {
        match self {
            Schedule::InOrder => (0..workgroups).collect(),
            Schedule::Reversed => (0..workgroups).rev().collect(),
            Schedule::First(first) => {
                let first = first.checked_rem(workgroups);
                let others = (0..workgroups).filter(|workgroup| Some(*workgroup) != first);
                first.into_iter().chain(others).collect()
            }
            Schedule::Random { seed, number } => shuffled(workgroups, seed, number),
        }
    }
}

/// Fisher and Yates's shuffle from the last place down. The generator starts at the first draw of the seed's own
/// generator plus the number.
fn shuffled(workgroups: u32, seed: u64, number: u32) -> Vec<u32> {
    let start = SplitMix64::new(seed).draw().wrapping_add(u64::from(number));
    let mut generator = SplitMix64::new(start);
    let mut order: Vec<u32> = (0..workgroups).collect();
    for place in (1..order.len()).rev() {
        let other = generator.integer(0, place as i128) as usize;
        order.swap(place, other);
    }
    order
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::InOrder => f.pad("in-order"),
            Schedule::Reversed => f.pad("reversed"),
            Schedule::First(first) => f.pad(&format!("first:{first}")),
            Schedule::Random { seed, number } => f.pad(&format!("random:{seed}:{number}")),
        }
    }
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no schedule: `in-order`, `reversed`, `first:WORKGROUP` or `random:SEED:NUMBER`")]
pub struct ScheduleError {
    pub text: String,
}

impl FromStr for Schedule {
    type Err = ScheduleError;
    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let error = || ScheduleError { text: text.to_owned() };
        let words: Vec<&str> = text.split(':').collect();
        let schedule = match words.as_slice() {
            ["in-order"] => Some(Schedule::InOrder),
            ["reversed"] => Some(Schedule::Reversed),
            ["first", first] => first.parse().ok().map(Schedule::First),
            ["random", seed, number] => match (seed.parse(), number.parse()) {
                (Ok(seed), Ok(number)) => Some(Schedule::Random { seed, number }),
                _ => None,
            },
            _ => None,
        };
        // One text for each schedule: `first:+5` and `first:05` are none.
        schedule.filter(|schedule| schedule.to_string() == text).ok_or_else(error)
    }
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

/// Which schedules each test runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Schedules {
    /// How many; at most 1000.
    pub count: u32,
    pub seed: u64,
}

/// After so many schedules that are known already, no more random ones are tried.
const GIVE_UP: u32 = 256;

/// Beyond so many workgroups two schedules of a list are never one permutation, but by a chance of less than 1 in 10^80.
const FEW: u32 = 64;

impl Schedules {
    /// The schedules of a test whose dispatches have these numbers of workgroups: `reversed`, then in turn a workgroup that
    /// goes first and a random order. None is the first-to-last order, and no two are the same for this test, so that there
    /// are fewer than asked for where there are no more.
    pub fn list(self, workgroups: &[u32]) -> Vec<Schedule> {
        let most = workgroups.iter().copied().max().unwrap_or(0);
        let mut known = BTreeSet::new();
        let mut is_new = |schedule: Schedule| {
            if most > FEW {
                return true;
            }
            known.insert(workgroups.iter().map(|count| schedule.permutation(*count)).collect::<Vec<_>>())
        };
        is_new(Schedule::InOrder);
        let mut list = vec![Schedule::Reversed];
        list.retain(|schedule| is_new(*schedule));
        let mut firsts = spread(most).into_iter().map(Schedule::First).peekable();
        let (mut number, mut refused) = (0, 0);
        while list.len() < self.count as usize && most > 1 {
            let wants_first = list.len() % 2 == 1 || refused > GIVE_UP;
            let next = match firsts.next_if(|_| wants_first) {
                Some(first) => first,
                None if refused > GIVE_UP => break,
                None => {
                    number += 1;
                    Schedule::Random { seed: self.seed, number }
                }
            };
            match is_new(next) {
                true => list.push(next),
                false => refused += 1,
            }
        }
        list.truncate(self.count as usize);
        list
    }
}

/// Every workgroup but the first, the middle one first, then the quarters, the eighths and so on.
fn spread(workgroups: u32) -> Vec<u32> {
    let mut seen = BTreeSet::from([0]);
    let mut found = Vec::new();
    let mut parts: u64 = 2;
    while parts < u64::from(workgroups) * 2 && found.len() < MOST_SCHEDULES as usize {
        let marks = (1..parts).step_by(2).map(|part| (part * u64::from(workgroups) / parts) as u32);
        found.extend(marks.filter(|workgroup| seen.insert(*workgroup)));
        parts *= 2;
    }
    found
}

/// What the schedules of a test have shown on an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleResult {
    /// How many were asked for.
    pub asked: u32,
    pub seed: u64,
    pub status: ScheduleStatus,
    /// Those that were run, in order, the first-to-last order left out. Fewer than asked for where there are no more, or
    /// one did not complete.
    pub ran: Vec<Schedule>,
    /// Those of them that left other contents or did not complete.
    pub different: Vec<Schedule>,
    /// Why nothing is known, or nothing was run.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleStatus {
    /// All left the same bytes as production.
    Equal,
    /// A finding says how one differs.
    Different,
    /// Whether they differ is not known; the test does not pass.
    Undetermined,
    /// No order of the workgroups can be told from another: one workgroup, or none that asks for its id.
    NothingToPermute,
    /// The engine does not do this, or the test did not get that far.
    NotRun,
}

impl ScheduleStatus {
    /// The stored name.
    pub fn name(self) -> &'static str {
        match self {
            ScheduleStatus::Equal => "equal",
            ScheduleStatus::Different => "different",
            ScheduleStatus::Undetermined => "undetermined",
            ScheduleStatus::NothingToPermute => "nothing-to-permute",
            ScheduleStatus::NotRun => "not-run",
        }
    }
}

impl fmt::Display for ScheduleResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, seed, ran, different, .. } = self;
        let fewer = if ran.len() < *asked as usize { format!(" of {asked}") } else { String::new() };
        let ran = ran.len();
        write!(f, "schedules: ")?;
        match self.status {
            ScheduleStatus::Equal => write!(f, "{ran}{fewer}, seed {seed}, all equal")?,
            ScheduleStatus::Different => write!(f, "{ran}{fewer}, seed {seed}, {} different", different.len())?,
            ScheduleStatus::Undetermined => write!(f, "undetermined")?,
            ScheduleStatus::NothingToPermute => write!(f, "nothing to permute")?,
            ScheduleStatus::NotRun => write!(f, "not run")?,
        }
        match &self.reason {
            Some(reason) => write!(f, ": {reason}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_schedule() -> impl Strategy<Value = Schedule> {
        prop_oneof![
            Just(Schedule::InOrder),
            Just(Schedule::Reversed),
            any::<u32>().prop_map(Schedule::First),
            (any::<u64>(), any::<u32>()).prop_map(|(seed, number)| Schedule::Random { seed, number }),
        ]
    }

    fn sorted(mut order: Vec<u32>) -> Vec<u32> {
        order.sort_unstable();
        order
    }

    fn texts(list: &[Schedule]) -> Vec<String> {
        list.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_text_stands_for_the_same_permutation_for_ever() {
        let order = |text: &str| text.parse::<Schedule>().expect("a schedule").permutation(8);
        assert_eq!(order("in-order"), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(order("reversed"), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(order("first:5"), [5, 0, 1, 2, 3, 4, 6, 7]);
        assert_eq!(order("first:13"), order("first:5"));
        assert_eq!(order("random:0:1"), GOLDEN[0]);
        assert_eq!(order("random:0:2"), GOLDEN[1]);
        assert_eq!(order("random:7:1"), GOLDEN[2]);
    }

    /// By another program, from the description in this file and in `random`.
    const GOLDEN: [[u32; 8]; 3] = [[7, 4, 0, 3, 5, 2, 6, 1], [5, 6, 7, 3, 0, 1, 2, 4], [0, 5, 6, 7, 4, 3, 2, 1]];

    #[test]
    fn a_list_begins_with_the_simple_ones() {
        let list = |count, seed, workgroups: &[u32]| texts(&Schedules { count, seed }.list(workgroups));
        assert_eq!(list(6, 9, &[64]), ["reversed", "first:32", "random:9:1", "first:16", "random:9:2", "first:48"]);
        assert_eq!(list(0, 9, &[64]), Vec::<String>::new());
        assert_eq!(list(3, 9, &[1, 1]), Vec::<String>::new());
        assert_eq!(list(3, 9, &[]), Vec::<String>::new());
        // Two workgroups have one other order.
        assert_eq!(list(5, 9, &[2]), ["reversed"]);
        assert_eq!(list(99, 9, &[3]).len(), 5);
        assert_eq!(list(99, 9, &[4]).len(), 23);
    }

    #[test]
    fn texts_that_are_no_schedule_are_refused() {
        for text in ["", "first", "first:", "first:x", "first:+5", "first:05", "random:1", "random:1:2:3", "Reversed"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_schedule_is_a_permutation(schedule in any_schedule(), workgroups in 0_u32..300) {
            prop_assert_eq!(sorted(schedule.permutation(workgroups)), (0..workgroups).collect::<Vec<_>>());
        }

        #[test]
        fn texts_read_back(schedule in any_schedule()) {
            prop_assert_eq!(schedule.to_string().parse::<Schedule>(), Ok(schedule));
        }

        #[test]
        fn a_list_is_that_of_its_seed_without_doubles(
            count in 0_u32..40,
            seed in any::<u64>(),
            workgroups in proptest::collection::vec(1_u32..40, 1..4),
        ) {
            let schedules = Schedules { count, seed };
            let list = schedules.list(&workgroups);
            prop_assert_eq!(&list, &schedules.list(&workgroups));
            prop_assert!(list.len() <= count as usize);
            if workgroups.iter().any(|count| *count > 5) {
                prop_assert_eq!(list.len(), count as usize);
            }
            let orders = |schedule: &Schedule| -> Vec<Vec<u32>> {
                workgroups.iter().map(|count| schedule.permutation(*count)).collect()
            };
            let different: BTreeSet<_> = list.iter().map(orders).chain([orders(&Schedule::InOrder)]).collect();
            prop_assert_eq!(different.len(), list.len() + 1);
        }

        #[test]
        fn workgroups_that_go_first_are_all_there_is(workgroups in 1_u32..900) {
            prop_assert_eq!(sorted(spread(workgroups)), (1..workgroups).collect::<Vec<_>>());
        }
    }
}
