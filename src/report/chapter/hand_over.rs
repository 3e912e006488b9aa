//! What the dispatches of a test hand to each other, by the code of both.
//!
//! Knows: what each dispatch can store to and reads (`DispatchFlow`).
//! Promises: every pair of dispatches that can pass something on stands in a row; dispatches that
//! store and read the same share rows, so that thousands of them stay few.
//! Does not cover: in which order a host program dispatches, which interfaces state.

use super::links::{kernel_link, test_link};
use crate::document::{Outline, Table, Text};
use std::collections::BTreeSet;
use vkcert_model::evidence::{Evidence, TestEvidence};
use vkcert_model::flow::{BufferRange, DispatchFlow};

/// Buffers and images that some dispatches of a test can store to and each later one of some others
/// reads.
struct HandOver<'a> {
    test: &'a TestEvidence,
    from: SameFlow<'a>,
    to: SameFlow<'a>,
    buffers: BTreeSet<&'a str>,
}

/// Dispatches of a test, counted from 0, ascending, that can store and read the same.
struct SameFlow<'a> {
    flow: &'a DispatchFlow,
    dispatches: Vec<usize>,
}

fn hand_overs(test: &TestEvidence) -> Vec<HandOver<'_>> {
    let flow_groups = same_flows(test);
    let mut hand_over_rows = Vec::new();
    for reader in &flow_groups {
        for writer in &flow_groups {
            let (Some(first_writer), Some(last_reader)) =
                (writer.dispatches.first(), reader.dispatches.last())
            else {
                continue;
            };
            let passed_buffers = passed_on(writer.flow, reader.flow);
            if first_writer < last_reader && !passed_buffers.is_empty() {
                hand_over_rows.push(HandOver {
                    test,
                    from: writer.part_of(|dispatch| dispatch < *last_reader),
                    to: reader.part_of(|dispatch| dispatch > *first_writer),
                    buffers: passed_buffers,
                });
            }
        }
    }
    hand_over_rows.sort_by_key(|row| {
        (row.to.dispatches.first().copied(), row.from.dispatches.first().copied())
    });
    hand_over_rows
}

/// A test may have thousands of dispatches, and few kinds of them.
fn same_flows(test: &TestEvidence) -> Vec<SameFlow<'_>> {
    let mut flow_groups: Vec<SameFlow> = Vec::new();
    for (dispatch, flow) in test.flows.iter().enumerate() {
        match flow_groups.iter_mut().find(|group| group.flow == flow) {
            Some(group) => group.dispatches.push(dispatch),
            None => flow_groups.push(SameFlow { flow, dispatches: vec![dispatch] }),
        }
    }
    flow_groups
}

/// What the code of one can store to and that of the other reads.
fn passed_on<'a>(writer: &'a DispatchFlow, reader: &DispatchFlow) -> BTreeSet<&'a str> {
    let read_ranges: Vec<&BufferRange> =
        reader.stores.iter().flat_map(|store| &store.from).collect();
    let written_ranges = writer.stores.iter().flat_map(|store| &store.to);
    let shared_ranges = written_ranges
        .filter(|range| read_ranges.iter().any(|read_ranges| read_ranges.overlaps(range)));
    shared_ranges.map(|range| range.buffer.as_str()).collect()
}

/// Runs of numbers that are written out.
const MOST_RUNS: usize = 6;

impl<'a> SameFlow<'a> {
    /// Some of its dispatches.
    fn part_of(&self, is_part: impl Fn(usize) -> bool) -> SameFlow<'a> {
        let dispatches = self.dispatches.iter().copied().filter(|dispatch| is_part(*dispatch));
        SameFlow { flow: self.flow, dispatches: dispatches.collect() }
    }

    fn flow_in_words(&self) -> Text {
        kernel_link(&self.flow.kernel).then_plain(format!(" ({})", self.dispatch_numbers()))
    }

    /// `dispatch 1`, `dispatches 1 to 9, 11`, `500 dispatches from 1 to 999`
    fn dispatch_numbers(&self) -> String {
        let mut number_runs: Vec<(usize, usize)> = Vec::new();
        for number in self.dispatches.iter().map(|dispatch| dispatch + 1) {
            match number_runs.last_mut() {
                Some((_, run_end)) if *run_end + 1 == number => *run_end = number,
                Some(_) | None => number_runs.push((number, number)),
            }
        }
        match (number_runs.as_slice(), self.dispatches.as_slice()) {
            ([(single_number, run_end)], [_]) if single_number == run_end => {
                format!("dispatch {single_number}")
            }
            (number_runs, [run_start, .., run_end]) if number_runs.len() > MOST_RUNS => {
                format!(
                    "{} dispatches from {} to {}",
                    self.dispatches.len(),
                    run_start + 1,
                    run_end + 1
                )
            }
            (number_runs, _) => {
                let run_words: Vec<String> = number_runs
                    .iter()
                    .map(|(run_start, run_end)| match run_start == run_end {
                        true => run_start.to_string(),
                        false => format!("{run_start} to {run_end}"),
                    })
                    .collect();
                format!("dispatches {}", run_words.join(", "))
            }
        }
    }
}

/// Data coupling between kernels, as the tests show it; what interfaces say of the host's order
/// stands among their checks.
pub(super) fn hand_over_section(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Data between the dispatches of a test", "coupling/tests");
    let hand_over_rows: Vec<HandOver> =
        evidence.campaign.tests.iter().flat_map(hand_overs).collect();
    if hand_over_rows.is_empty() {
        outline.add_paragraph(
            "No dispatch of a test reads, by its code, what an earlier dispatch of the same test can store to.",
        );
        return;
    }
    outline.add_paragraph(
        "What an earlier dispatch can store to and what a later one stores depends on, by the code of both; where a row names \
         several, each of them with each later one. What the host's program dispatches in which order \
         is stated by interfaces and not shown here.",
    );
    let mut table = Table::new("Buffers and images between dispatches").columns(&[
        "Test case",
        "From",
        "Through",
        "To",
    ]);
    for hand_over_row in hand_over_rows {
        let buffer_names =
            Text::join(hand_over_row.buffers.iter().map(|name| Text::code(*name)), ", ");
        table.add_row(vec![
            test_link(&hand_over_row.test.id),
            hand_over_row.from.flow_in_words(),
            buffer_names,
            hand_over_row.to.flow_in_words(),
        ]);
    }
    outline.add_table(table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::flow::StoreFlow;
    use vkcert_model::id::KernelName;
    use vkcert_sample as sample;

    fn flow(kernel: &str, to: &[(&str, u64)], from: &[(&str, u64)]) -> DispatchFlow {
        let range = |(buffer, offset): &(&str, u64)| BufferRange {
            buffer: (*buffer).to_owned(),
            offset: *offset,
            bytes: 8,
        };
        let (to, from) = (to.iter().map(range).collect(), from.iter().map(range).collect());
        let stores = vec![StoreFlow { place: None, to, members: Vec::new(), from }];
        DispatchFlow { kernel: KernelName::from(kernel.to_owned()), stores }
    }

    fn test_of(flows: Vec<DispatchFlow>) -> TestEvidence {
        TestEvidence { flows, ..sample::evidence().campaign.tests.remove(0) }
    }

    #[test]
    fn rows_name_every_pair_of_dispatches_that_pass_something_on() {
        let kinds = [
            flow("step", &[("a", 0)], &[("b", 0)]),
            flow("step", &[("b", 0)], &[("a", 4)]),
            flow("sum", &[("s", 0)], &[("a", 0), ("b", 0)]),
            flow("fill", &[("b", 8)], &[]),
        ];
        let order = [3, 0, 1, 0, 1, 2, 0, 0, 3, 2, 1, 0, 2];
        let test = test_of(order.iter().map(|kind: &usize| kinds[*kind].clone()).collect());
        let mut told: Vec<(usize, usize, Vec<&str>)> = Vec::new();
        for row in hand_overs(&test) {
            for (from, to) in row
                .from
                .dispatches
                .iter()
                .flat_map(|from| row.to.dispatches.iter().map(move |to| (*from, *to)))
            {
                if from < to {
                    told.push((from, to, row.buffers.iter().copied().collect()));
                }
            }
        }
        let mut expected: Vec<(usize, usize, Vec<&str>)> = Vec::new();
        for to in 0..order.len() {
            for from in 0..to {
                let buffers = passed_on(&test.flows[from], &test.flows[to]);
                if !buffers.is_empty() {
                    expected.push((from, to, buffers.into_iter().collect()));
                }
            }
        }
        told.sort();
        expected.sort();
        assert_eq!(told, expected);
    }

    #[test]
    fn thousands_of_dispatches_are_one_row() {
        let steps = |count: usize| test_of(vec![flow("step", &[("a", 0)], &[("a", 0)]); count]);
        let told = |test: &TestEvidence| {
            let rows = hand_overs(test);
            let words = |of: &SameFlow| format!("{} ({})", of.flow.kernel, of.dispatch_numbers());
            rows.iter()
                .map(|row| format!("{} -> {}", words(&row.from), words(&row.to)))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(&steps(1)), Vec::<String>::new());
        assert_eq!(told(&steps(2)), ["step (dispatch 1) -> step (dispatch 2)"]);
        assert_eq!(
            told(&steps(5000)),
            ["step (dispatches 1 to 4999) -> step (dispatches 2 to 5000)"]
        );
        let in_turn = (0..1000)
            .map(|number| flow(["ping", "pong"][number % 2], &[("a", 0)], &[("a", 0)]))
            .collect();
        assert_eq!(
            told(&test_of(in_turn))[0],
            "ping (500 dispatches from 1 to 999) -> pong (500 dispatches from 2 to 1000)"
        );
    }
}
