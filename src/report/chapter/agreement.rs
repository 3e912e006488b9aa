//! The comparison of the engines, test by test.

use super::links::{kernel_link, test_link, text_or_none};
use crate::document::{Outline, Table, Text, Tone};
use crate::figures::has_undefined_outputs;
use vkcert_model::agreement::AgreementOutcome;
use vkcert_model::evidence::{Agreement, Evidence};

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
