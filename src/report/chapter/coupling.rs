//! Data and control coupling between host and kernel, and the comparison of the engines.

use super::{kernel_link, test_link};
use crate::model::evidence::{Agreement, CouplingEvidence, Evidence};
use crate::report::document::{Align, Outline, Table, Text, Tone};

pub fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Data and control coupling", "chapter/coupling");
    if evidence.campaign.coupling.is_empty() {
        outline.paragraph("No kernel has an interface description, so its coupling with the host was not checked.");
        return;
    }
    for coupling in &evidence.campaign.coupling {
        let name = &coupling.kernel;
        outline.heading(2, Text::plain("Kernel ").and(Text::code(name.as_str())), format!("coupling/{name}"));
        checks(coupling, outline);
        edges(coupling, outline);
    }
}

fn checks(coupling: &CouplingEvidence, outline: &mut Outline) {
    let mut table = Table::new("Checks").columns(&["Check", "Status", "Statement", "Counterexample"]);
    for check in &coupling.checks {
        let status = match check.status.as_str() {
            "holds" => Text::plain("✓ holds").tone(Tone::Good),
            "refuted" => Text::strong("✗ refuted").tone(Tone::Bad),
            other => Text::plain(format!("? {other}")).tone(Tone::Caution),
        };
        let values = check.counterexample.iter().flatten().map(|(name, value)| Text::code(format!("{name} = {value}")));
        let values = Text::join(values, ", ");
        table.row(vec![Text::plain(check.check.as_str()), status, Text::plain(check.message.as_str()), values]);
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
        let how = Text::plain(edge.label.as_str());
        table.row(vec![label(&edge.from), label(&edge.to), Text::plain(edge.kind.as_str()), how]);
    }
    if !table.rows.is_empty() {
        outline.table(table);
    }
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

/// Sequential model against device, test by test.
pub fn agreement(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Agreement of the engines", "chapter/agreement");
    if evidence.campaign.agreement.is_empty() {
        outline.paragraph("Not compared: fewer than two engines ran.");
        return;
    }
    if evidence.campaign.agreement.iter().any(|row| row.bounds.is_some()) {
        outline.paragraph(
            "Within-error-bounds: each element that differs lies between results of the sequential engine that the Vulkan specification permits (section \"Precision and Operation of SPIR-V Instructions\"). Coverage must be the same without exception.",
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
        let word = |word: &str| {
            let (symbol, tone) = match word {
                "different" => ("✗", Tone::Bad),
                "not compared" => ("?", Tone::Caution),
                _ => ("✓", Tone::Good),
            };
            Text::plain(format!("{symbol} {word}")).tone(tone)
        };
        table.row(vec![
            test_link(&row.test),
            kernel_link(&row.kernel),
            word(&row.outputs),
            word(&row.coverage),
            Text::plain(differences(row)),
        ]);
    }
    outline.table(table);
}
