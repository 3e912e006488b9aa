//! Object code of a kernel: every branch of the production module, what it traces to, and which
//! outcomes tests showed.

use super::tones::status_tone;
use crate::document::{Block, Outline, Table, Text, Tone};
use crate::facts::{self, KernelUnit};
use crate::statement;
use std::collections::BTreeMap;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::object::{ObjectBranch, ObjectOrigin, ObjectStructure};
use vkcert_model::project::Standard;
use vkcert_model::wording::plural;

pub(super) fn object_section(
    standard: Standard,
    unit: &KernelUnit,
    sides: &[&KernelEvidence],
    outline: &mut Outline,
) {
    let structure = &sides[0].objects.structure;
    outline.add_heading(2, "Object code", format!("{}/object", unit.chapter_anchor()));
    if let Some(reason) = &structure.unrecorded {
        let lines = vec![Text::plain(reason.as_str())];
        outline.add_block(Block::Notice {
            tone: Tone::Caution,
            title: Text::plain("Not recorded"),
            lines,
        });
    }
    outline.add_paragraph(object_counts(standard, structure));
    if !structure.branches.is_empty() {
        outline.add_table(branch_table(structure, sides));
    }
    loops_paragraph(sides[0], outline);
}

fn object_counts(standard: Standard, structure: &ObjectStructure) -> Text {
    let branch_words = plural(
        structure.branches.len(),
        "branch, switch or select",
        "branches, switches and selects",
    );
    let loop_words = statement::counted(structure.loops.len(), "loop");
    let all_origins = structure.branches.iter().map(|branch| &branch.origin);
    let all_origins =
        all_origins.chain(structure.loops.iter().map(|object_loop| &object_loop.origin));
    let additional_count = all_origins.filter(|origin| origin.is_additional()).count();
    let text = format!(
        "The production module has {branch_words} and {loop_words} in the functions that the entry point reaches. "
    );
    let without_source =
        structure.branches.iter().any(|branch| branch.origin == ObjectOrigin::NoSource);
    match (without_source, additional_count) {
        _ if structure.branches.is_empty() && structure.loops.is_empty() => Text::plain(text),
        (true, _) => Text::plain(text).then_plain("There is no source to trace them to."),
        (false, 0) => Text::plain(text).then_plain("Each of them traces to the source text."),
        (false, count) => Text::plain(text)
            .followed_by(
                Text::plain(format!("Tracing to no source statement: {count} of them"))
                    .with_tone(Tone::Caution),
            )
            .then_plain(format!(
                ", additional code{}; the others trace to the source text.",
                standard.only_do_178c(" (DO-178C 6.4.4.2.b)")
            )),
    }
}

fn branch_table(structure: &ObjectStructure, sides: &[&KernelEvidence]) -> Table {
    let mut table = Table::new("Branches of the production module").columns(&[
        "Branch",
        "Kind",
        "Line:column",
        "Traces to",
    ]);
    for side in sides {
        table = table.columns(&[side.engine.to_string().as_str()]);
    }
    let statuses_by_side: Vec<StatusById<'_>> =
        sides.iter().map(|side| statuses_by_id(side)).collect();
    for branch in &structure.branches {
        let mut row_cells = vec![
            Text::code(branch.id.to_string()),
            Text::plain(branch.kind.to_string()),
            Text::code(branch_place(sides[0], branch)),
            origin_text(&branch.origin),
        ];
        row_cells.extend(
            statuses_by_side.iter().map(|side_statuses| outcome_cells(side_statuses, branch)),
        );
        table.add_row(row_cells);
    }
    table
}

fn branch_place(side: &KernelEvidence, branch: &ObjectBranch) -> String {
    let place = &branch.place;
    match (&place.file, place.line) {
        (Some(file), Some(line)) => {
            facts::source_place(&side.source, file, line, place.column.unwrap_or(0))
        }
        (_, _) => {
            let function = place.function.as_deref().unwrap_or("-");
            format!("{function}+word {}", place.instruction.unwrap_or(0))
        }
    }
}

fn origin_text(origin: &ObjectOrigin) -> Text {
    let text = Text::sentence(origin.to_string());
    if origin.is_additional() { text.with_tone(Tone::Caution) } else { text }
}

type StatusById<'a> = BTreeMap<&'a str, Status>;

fn statuses_by_id(side: &KernelEvidence) -> StatusById<'_> {
    side.coverage
        .objects
        .iter()
        .map(|item: &SimpleObligation| (item.id.as_str(), item.status))
        .collect()
}

/// `✓ true  ✗ false`
fn outcome_cells(statuses: &StatusById<'_>, branch: &ObjectBranch) -> Text {
    let mut cells = Vec::new();
    for outcome in &branch.outcomes {
        let obligation_id = format!("{}.{}", branch.id, outcome.label);
        let status = statuses.get(obligation_id.as_str()).copied().unwrap_or(Status::Undetermined);
        let outcome_words = format!("{} {}", facts::status_symbol(status), outcome.text);
        cells.push(Text::plain(outcome_words).with_tone(status_tone(status)));
    }
    Text::join(cells, "  ")
}

fn loops_paragraph(side: &KernelEvidence, outline: &mut Outline) {
    let loops = &side.objects.structure.loops;
    if loops.is_empty() {
        return;
    }
    let loop_texts = loops.iter().map(|object_loop| {
        let loop_place = match (&object_loop.place.file, object_loop.place.line) {
            (Some(file), Some(line)) => {
                facts::source_place(&side.source, file, line, object_loop.place.column.unwrap_or(0))
            }
            (_, _) => object_loop.place.to_string(),
        };
        Text::code(loop_place).then_plain(" ").followed_by(origin_text(&object_loop.origin))
    });
    outline.add_paragraph(
        Text::plain("Loops: ").followed_by(Text::join(loop_texts, ", ")).then_plain("."),
    );
}
