//! Data and control coupling between host and kernel, and the comparison of the engines.

use super::{kernel_link, listed, test_link, text_or_none};
use crate::model::agreement::AgreementOutcome;
use crate::model::evidence::{Agreement, CouplingEvidence, Evidence, TestEvidence};
use crate::model::flow::BufferRange;
use crate::model::id::KernelName;
use crate::report::document::{Align, Outline, Table, Text, Tone};
use crate::report::figures::has_undefined_outputs;
use std::collections::BTreeSet;

pub fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Data and control coupling", "chapter/coupling");
    if evidence.campaign.coupling.is_empty() {
        outline.paragraph("No kernel has an interface description, so that no coupling with the host was checked.");
    } else if let Some(without) = without_interface(evidence) {
        outline.paragraph(without);
    }
    for coupling in &evidence.campaign.coupling {
        let name = &coupling.kernel;
        outline.heading(2, Text::plain("Kernel ").and(Text::code(name.as_str())), format!("coupling/{name}"));
        checks(coupling, outline);
        edges(coupling, outline);
    }
    hand_over(evidence, outline);
}

/// The kernels of which this chapter says nothing, where there are some.
fn without_interface(evidence: &Evidence) -> Option<Text> {
    let mut names: Vec<&KernelName> = Vec::new();
    for row in &evidence.campaign.conclusion.summary {
        let described = evidence.campaign.coupling.iter().any(|coupling| coupling.kernel == row.kernel);
        if !described && !names.contains(&&row.kernel) {
            names.push(&row.kernel);
        }
    }
    let (noun, verb) = if names.len() == 1 { ("Kernel", "has") } else { ("Kernels", "have") };
    let links = Text::join(names.iter().map(|name| kernel_link(name)), ", ");
    (!names.is_empty()).then(|| {
        Text::plain(format!("{noun} "))
            .and(links)
            .then(format!(" {verb} no interface description: no coupling with the host was checked there."))
    })
}

/// A buffer or image that one dispatch of a test can store to and a later one of it reads.
struct HandOver<'a> {
    test: &'a TestEvidence,
    from: (usize, &'a KernelName),
    to: (usize, &'a KernelName),
    buffers: BTreeSet<&'a str>,
}

fn hand_overs(test: &TestEvidence) -> Vec<HandOver<'_>> {
    let mut rows = Vec::new();
    for (later, reader) in test.flows.iter().enumerate() {
        for (earlier, writer) in test.flows.iter().enumerate().take(later) {
            let read: Vec<&BufferRange> = reader.stores.iter().flat_map(|store| &store.from).collect();
            let written = writer.stores.iter().flat_map(|store| &store.to);
            let both = written.filter(|range| read.iter().any(|read| read.overlaps(range)));
            let buffers: BTreeSet<&str> = both.map(|range| range.buffer.as_str()).collect();
            if !buffers.is_empty() {
                rows.push(HandOver { test, from: (earlier, &writer.kernel), to: (later, &reader.kernel), buffers });
            }
        }
    }
    rows
}

/// Data coupling between kernels, as the tests show it: no interface says in which order the host starts its kernels.
fn hand_over(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "Data between the dispatches of a test", "coupling/tests");
    let rows: Vec<HandOver> = evidence.campaign.tests.iter().flat_map(hand_overs).collect();
    if rows.is_empty() {
        outline.paragraph(
            "No dispatch of a test reads, by its code, what an earlier dispatch of the same test can store to.",
        );
        return;
    }
    outline.paragraph(
        "What an earlier dispatch can store to and what a later one stores depends on, by the code of both. How the host's \
         program orders its dispatches is not described by interfaces and not shown here.",
    );
    let mut table =
        Table::new("Buffers and images between dispatches").columns(&["Test case", "From", "Through", "To"]);
    for row in rows {
        let dispatch =
            |(number, kernel): (usize, &KernelName)| kernel_link(kernel).then(format!(" (dispatch {})", number + 1));
        let buffers = Text::join(row.buffers.iter().map(|name| Text::code(*name)), ", ");
        table.row(vec![test_link(&row.test.id), dispatch(row.from), buffers, dispatch(row.to)]);
    }
    outline.table(table);
}

fn checks(coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut table = Table::new("Checks").columns(&["Check", "Status", "Statement", "Counterexample"]);
    for check in &coupling.checks {
        let status = match check.status.as_str() {
            "holds" => Text::plain("✓\u{a0}holds").tone(Tone::Good),
            "refuted" => Text::strong("✗\u{a0}refuted").tone(Tone::Bad),
            other => Text::plain(format!("?\u{a0}{other}")).tone(Tone::Caution),
        };
        let values = check.counterexample.iter().flatten().map(|(name, value)| Text::code(format!("{name} = {value}")));
        let values = listed(values, Tone::Quiet);
        table.row(vec![Text::plain(check.check.as_str()), status, Text::sentence(check.message.as_str()), values]);
    }
    if table.rows.is_empty() {
        outline.paragraph("No checks were made.");
    } else {
        outline.table(table);
    }
}

fn edges(coupling: &CouplingEvidence, outline: &mut Outline) {
    let label = |id: &str| {
        let node = coupling.nodes.iter().find(|node| node.id == id);
        node.map_or_else(
            || Text::code(id),
            |node| Text::plain(node.label.as_str()).and(Text::quiet(format!(" ({})", node.kind))),
        )
    };
    let mut table = Table::new("Edges of the coupling graph")
        .column("From", Align::Left)
        .column("To", Align::Left)
        .column("Kind", Align::Left)
        .column("How", Align::Left);
    for edge in &coupling.edges {
        let how = match (edge.label.as_str(), edge.to.starts_with("decision:")) {
            ("", true) => "its text holds the name",
            ("", false) => "by its value",
            (how, _) => how,
        };
        let how = Text::plain(how);
        table.row(vec![label(&edge.from), label(&edge.to), Text::plain(edge.kind.as_str()), how]);
    }
    if table.rows.is_empty() {
        return;
    }
    outline.table(table);
    outline.paragraph(Text::quiet(
        "Shown: which host values give push constants, specialization constants, sizes of buffers, the group count and the domain; \
         what the kernel can read and write by its declarations; which decisions hold the name of such a constant; what barriers \
         order. Not shown: flow inside the kernel through variables and contents of buffers.",
    ));
}

/// What differs, and by how much where that is within the error bounds.
fn differences(row: &Agreement) -> String {
    let bounds = row.bounds.iter();
    let within = bounds.flat_map(|bounds| {
        let buffers = bounds.buffers.iter().filter(|buffer| buffer.outside == 0);
        buffers.map(|buffer| format!("buffer {}: {}", buffer.buffer, bounds.in_words(buffer)))
    });
    row.differences.iter().cloned().chain(within).collect::<Vec<_>>().join("; ")
}

fn has_bounded_outputs(row: &Agreement) -> bool {
    row.bounds.iter().flat_map(|bounds| &bounds.buffers).any(|buffer| buffer.elements > buffer.undefined)
}

/// What the outputs of a row come to; that undefined ones are permitted is no good news.
fn outputs(row: &Agreement) -> Text {
    match row.outputs {
        AgreementOutcome::WithinErrorBounds if has_undefined_outputs(row) => {
            Text::plain("?\u{a0}depends on an undefined value").tone(Tone::Caution)
        }
        outcome => word(outcome),
    }
}

fn word(outcome: AgreementOutcome) -> Text {
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
    let words = match outcome {
        AgreementOutcome::UndefinedValue => "follows an undefined value".to_owned(),
        _ => outcome.to_string(),
    };
    Text::plain(format!("{symbol}\u{a0}{words}")).tone(tone)
}

/// Sequential model against device, test by test.
pub fn agreement(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Agreement of the engines", "chapter/agreement");
    if evidence.campaign.agreement.is_empty() {
        outline.paragraph("Not compared: fewer than two engines ran.");
        return;
    }
    if evidence.campaign.agreement.iter().any(has_bounded_outputs) {
        outline.paragraph(
            "Within-error-bounds: each element that differs, and depends on no undefined value, lies between results of the sequential engine that the Vulkan specification permits (section \"Precision and Operation of SPIR-V Instructions\"). Coverage has no such bounds.",
        );
    }
    if evidence.campaign.agreement.iter().any(has_undefined_outputs) {
        outline.paragraph(
            "Depends on an undefined value: an element that the sequential engine leaves otherwise too when undefined values are others. Nothing is said of what the device left there; of an integer the bits that stay the same are compared. The finding that tells of the value stands by itself.",
        );
    }
    if evidence.campaign.agreement.iter().any(|row| row.coverage == AgreementOutcome::UndefinedValue) {
        outline.paragraph(
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
        table.row(vec![
            test_link(&row.test),
            kernel_link(&row.kernel),
            outputs(row),
            word(row.coverage),
            text_or_none(&differences(row)),
        ]);
    }
    outline.table(table);
}
