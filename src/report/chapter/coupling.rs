//! Data and control coupling between host and kernel, and the comparison of the engines.

use super::coupling_coverage::classes_section;
use super::links::{kernel_link, listed_texts, test_link, text_or_none};
use crate::document::{Outline, Table, Text, Tone};
use crate::drawing::graph::{coupling_drawings, is_of_host, node_anchor};
use crate::figures::has_undefined_outputs;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{
    Agreement, CheckStatus, CodePlace, CouplingEdge, CouplingEvidence, CouplingNode, Evidence,
    TestEvidence,
};
use vkcert_model::flow::{BufferRange, DispatchFlow};
use vkcert_model::id::KernelName;

pub(super) fn coupling_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Data and control coupling", "chapter/coupling");
    if evidence.campaign.coupling.is_empty() {
        outline.add_paragraph("No kernel has an interface description, so that no coupling with the host was checked.");
    } else if let Some(without) = without_interface(evidence) {
        outline.add_paragraph(without);
    }
    classes_section(evidence, outline);
    for coupling in &evidence.campaign.coupling {
        let name = &coupling.kernel;
        outline.add_heading(
            2,
            Text::plain("Kernel ").followed_by(Text::code(name.as_str())),
            format!("coupling/{name}"),
        );
        // The table between the figures leaves no page half empty.
        let mut drawings = coupling_drawings(coupling).into_iter();
        outline.add_drawings(drawings.next());
        checks_table(coupling, outline);
        outline.add_drawings(drawings);
        nodes_table(evidence, coupling, outline);
    }
    hand_over_section(evidence, outline);
}

/// The kernels of which this chapter says nothing, where there are some.
fn without_interface(evidence: &Evidence) -> Option<Text> {
    let mut kernel_names: Vec<&KernelName> = Vec::new();
    for row in &evidence.campaign.conclusion.summary {
        let is_described =
            evidence.campaign.coupling.iter().any(|coupling| coupling.kernel == row.kernel);
        if !is_described && !kernel_names.contains(&&row.kernel) {
            kernel_names.push(&row.kernel);
        }
    }
    let (kernel_noun, kernel_verb) =
        if kernel_names.len() == 1 { ("Kernel", "has") } else { ("Kernels", "have") };
    let kernel_links = Text::join(kernel_names.iter().map(|name| kernel_link(name)), ", ");
    (!kernel_names.is_empty()).then(|| {
        Text::plain(format!("{kernel_noun} ")).followed_by(kernel_links).then_plain(format!(
            " {kernel_verb} no interface description: no coupling with the host was checked there."
        ))
    })
}

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
fn hand_over_section(evidence: &Evidence, outline: &mut Outline) {
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

fn checks_table(coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut table =
        Table::new("Checks").columns(&["Check", "Status", "Statement", "Counterexample"]);
    for check in &coupling.checks {
        let check_status = match &check.status {
            CheckStatus::Holds => Text::plain("✓\u{a0}holds").with_tone(Tone::Good),
            CheckStatus::Refuted => Text::strong("✗\u{a0}refuted").with_tone(Tone::Bad),
            other @ (CheckStatus::Undetermined | CheckStatus::Unknown(_)) => {
                Text::plain(format!("?\u{a0}{other}")).with_tone(Tone::Caution)
            }
        };
        let counterexample_values = check
            .counterexample
            .iter()
            .flatten()
            .map(|(name, value)| Text::code(format!("{name} = {value}")));
        let counterexample_values = listed_texts(counterexample_values, Tone::Quiet);
        table.add_row(vec![
            Text::plain(check.check.as_str()),
            check_status,
            Text::sentence(check.message.as_str()),
            counterexample_values,
        ]);
    }
    if table.rows.is_empty() {
        outline.add_paragraph("No checks were made.");
    } else {
        outline.add_table(table);
    }
}

/// Every node with what it takes from others, and the code on both sides.
fn nodes_table(evidence: &Evidence, coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut edges_by_target: BTreeMap<&str, Vec<&CouplingEdge>> = BTreeMap::new();
    for edge in &coupling.edges {
        edges_by_target.entry(edge.to.as_str()).or_default().push(edge);
    }
    let node_by_id: BTreeMap<&str, &CouplingNode> =
        coupling.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let lines = SourceLinesOf { evidence, coupling };
    let mut table =
        Table::new("Nodes of the coupling graph").columns(&["Node", "Takes from", "Code"]);
    for node in &coupling.nodes {
        let edges = edges_by_target.get(node.id.as_str()).map_or(&[][..], Vec::as_slice);
        let taken = edges.iter().map(|edge| edge_text(&coupling.kernel, &node_by_id, edge));
        let cells = vec![
            Text::plain(node.label.as_str()).followed_by(Text::quiet(format!(" ({})", node.kind))),
            listed_texts(taken, Tone::Quiet),
            lines.code_of(node, edges),
        ];
        table.add_anchored_row(node_anchor(&coupling.kernel, &node.id), cells);
    }
    if table.rows.is_empty() {
        return;
    }
    outline.add_table(table);
    outline.add_paragraph(Text::quiet(
        "A node flows to another where its value is computed into it, sizes it where it decides how large or how many it is, indexes \
         it where it decides which element is accessed, controls it where it decides whether or how often, orders it where accesses \
         are ordered by it. Not shown: which element of a buffer or an array goes where, and flow within one invocation.",
    ));
}

/// `uint32 m at offset 0 flows-to (46, 51)`, with a link to the row of the node.
fn edge_text(
    kernel: &KernelName,
    node_by_id: &BTreeMap<&str, &CouplingNode>,
    edge: &CouplingEdge,
) -> Text {
    let from = match node_by_id.get(edge.from.as_str()) {
        Some(node) => Text::plain(node.label.as_str()).with_link(node_anchor(kernel, &node.id)),
        None => Text::code(edge.from.as_str()),
    };
    let how = match edge.label.as_str() {
        "" => edge.kind.to_string(),
        label => format!("{}: {label}", edge.kind),
    };
    from.followed_by(Text::quiet(format!(" ({how})")))
}

/// The code that nodes and edges stand on.
struct SourceLinesOf<'a> {
    evidence: &'a Evidence,
    coupling: &'a CouplingEvidence,
}

impl SourceLinesOf<'_> {
    /// The lines of the kernel that a node and its edges stand on; of the host's side where the
    /// interface says that its code stands.
    fn code_of(&self, node: &CouplingNode, edges: &[&CouplingEdge]) -> Text {
        let edge_places = edges.iter().flat_map(|edge| &edge.places);
        let places: BTreeSet<&CodePlace> = node.place.iter().chain(edge_places).collect();
        let kernel_lines = places.into_iter().map(|place| {
            let number = Text::quiet(format!("{}:{} ", place.file, place.line));
            number.followed_by(Text::code(self.line_of(place)))
        });
        let kernel_lines = Text::join(kernel_lines, "; ");
        if !kernel_lines.0.is_empty() {
            return kernel_lines;
        }
        let source = self.coupling.definition.as_ref().and_then(|host| host.source.as_deref());
        match (is_of_host(&node.kind), source) {
            (true, Some(source)) => Text::plain(format!("host: {source}")),
            (true, None) | (false, _) => text_or_none(""),
        }
    }

    /// The text of a line without its indentation; empty where the evidence holds no such file.
    fn line_of(&self, place: &CodePlace) -> String {
        let kernels = self.evidence.kernels.iter();
        let structures = kernels
            .filter(|kernel| kernel.kernel == self.coupling.kernel)
            .map(|kernel| &kernel.structure);
        let mut files = structures.flat_map(|structure| &structure.files);
        let file = files.find(|file| file.path == place.file);
        let line_index = (place.line as usize).saturating_sub(1);
        let line = file.and_then(|file| file.text.lines().nth(line_index));
        line.unwrap_or_default().trim().to_owned()
    }
}

/// What differs, and by how much where that is within the error bounds.
fn differences_in_words(row: &Agreement) -> String {
    let bounds = row.bounds.iter();
    let within_bounds = bounds.flat_map(|bounds| {
        let buffers = bounds.buffers.iter().filter(|buffer| buffer.outside == 0);
        buffers.map(|buffer| format!("buffer {}: {}", buffer.buffer, bounds.in_words(buffer)))
    });
    row.differences.iter().cloned().chain(within_bounds).collect::<Vec<_>>().join("; ")
}

fn has_bounded_outputs(row: &Agreement) -> bool {
    row.bounds
        .iter()
        .flat_map(|bounds| &bounds.buffers)
        .any(|buffer| buffer.elements > buffer.undefined)
}

/// What the outputs of a row come to; that undefined ones are permitted is no good news.
fn outputs_text(row: &Agreement) -> Text {
    match row.outputs {
        AgreementOutcome::WithinErrorBounds if has_undefined_outputs(row) => {
            Text::plain("?\u{a0}depends on an undefined value").with_tone(Tone::Caution)
        }
        outcome => outcome_text(outcome),
    }
}

fn outcome_text(outcome: AgreementOutcome) -> Text {
    let (symbol, tone) = match outcome {
        AgreementOutcome::Identical
        | AgreementOutcome::WithinTolerance
        | AgreementOutcome::LeftOpen
        | AgreementOutcome::WithinErrorBounds
        | AgreementOutcome::ScheduleDependent => ("✓", Tone::Good),
        // A finding tells of the value, and stands.
        AgreementOutcome::NotCompared | AgreementOutcome::UndefinedValue => ("?", Tone::Caution),
        AgreementOutcome::Different => ("✗", Tone::Bad),
    };
    let outcome_words = match outcome {
        AgreementOutcome::UndefinedValue => "follows an undefined value".to_owned(),
        _ => outcome.to_string(),
    };
    Text::plain(format!("{symbol}\u{a0}{outcome_words}")).with_tone(tone)
}

/// Sequential model against device, test by test.
pub(super) fn agreement_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Agreement of the engines", "chapter/agreement");
    if evidence.campaign.agreement.is_empty() {
        outline.add_paragraph("Not compared: fewer than two engines ran.");
        return;
    }
    if evidence.campaign.agreement.iter().any(has_bounded_outputs) {
        outline.add_paragraph(
            "Within-error-bounds: each element that differs, and depends on no undefined value, lies between results of the sequential engine that the Vulkan specification permits (section \"Precision and Operation of SPIR-V Instructions\"). Coverage has no such bounds.",
        );
    }
    if evidence.campaign.agreement.iter().any(has_undefined_outputs) {
        outline.add_paragraph(
            "Depends on an undefined value: an element that the sequential engine leaves otherwise too when undefined values are others. Nothing is said of what the device left there; of an integer the bits that stay the same are compared. The finding that tells of the value stands by itself.",
        );
    }
    if evidence
        .campaign
        .agreement
        .iter()
        .any(|row| row.coverage == AgreementOutcome::UndefinedValue)
    {
        outline.add_paragraph(
            "Follows an undefined value: what one engine alone recorded, the sequential engine records otherwise too when undefined values are others. The finding that tells of the value stands by itself.",
        );
    }
    let mut table = Table::new("Outputs and coverage of the engines, per test").columns(&[
        "Test case",
        "Kernel",
        "Outputs",
        "Coverage",
        "Differences",
    ]);
    for row in &evidence.campaign.agreement {
        table.add_row(vec![
            test_link(&row.test),
            kernel_link(&row.kernel),
            outputs_text(row),
            outcome_text(row.coverage),
            text_or_none(&differences_in_words(row)),
        ]);
    }
    outline.add_table(table);
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_model::flow::StoreFlow;
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
