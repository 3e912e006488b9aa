//! Object code of a kernel: every branch of the production module, what it traces to, and which
//! outcomes tests showed.

use super::tones::status_tone;
use crate::document::{Block, Outline, Table, Text, Tone};
use crate::facts::{self, Unit};
use crate::statement;
use std::collections::BTreeMap;
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::evidence::KernelEvidence;
use vkcert_model::object::{ObjectBranch, ObjectOrigin, ObjectStructure};
use vkcert_model::wording::plural;

pub(super) fn section(unit: &Unit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let structure = &sides[0].objects.structure;
    outline.heading(2, "Object code", format!("{}/object", unit.anchor()));
    if let Some(reason) = &structure.unrecorded {
        let lines = vec![Text::plain(reason.as_str())];
        outline.push(Block::Notice {
            tone: Tone::Caution,
            title: Text::plain("Not recorded"),
            lines,
        });
    }
    outline.paragraph(counts(structure));
    if !structure.branches.is_empty() {
        outline.table(table(structure, sides));
    }
    loops(sides[0], outline);
}

fn counts(structure: &ObjectStructure) -> Text {
    let branches = plural(
        structure.branches.len(),
        "branch, switch or select",
        "branches, switches and selects",
    );
    let loops = statement::counted(structure.loops.len(), "loop");
    let origins = structure.branches.iter().map(|branch| &branch.origin);
    let origins = origins.chain(structure.loops.iter().map(|found| &found.origin));
    let additional = origins.filter(|origin| origin.is_additional()).count();
    let text = format!(
        "The production module has {branches} and {loops} in the functions that the entry point reaches. "
    );
    let without_source =
        structure.branches.iter().any(|branch| branch.origin == ObjectOrigin::NoSource);
    match (without_source, additional) {
        _ if structure.branches.is_empty() && structure.loops.is_empty() => Text::plain(text),
        (true, _) => Text::plain(text).then("There is no source to trace them to."),
        (false, 0) => Text::plain(text).then("Each of them traces to the source text."),
        (false, count) => Text::plain(text)
            .and(
                Text::plain(format!("Tracing to no source statement: {count} of them"))
                    .tone(Tone::Caution),
            )
            .then(", additional code (DO-178C 6.4.4.2.b); the others trace to the source text."),
    }
}

fn table(structure: &ObjectStructure, sides: &[&KernelEvidence]) -> Table {
    let mut table = Table::new("Branches of the production module").columns(&[
        "Branch",
        "Kind",
        "Line:column",
        "Traces to",
    ]);
    for side in sides {
        table = table.columns(&[side.engine.to_string().as_str()]);
    }
    let statuses: Vec<Statuses<'_>> = sides.iter().map(|side| statuses(side)).collect();
    for branch in &structure.branches {
        let mut cells = vec![
            Text::code(branch.id.to_string()),
            Text::plain(branch.kind.to_string()),
            Text::code(place(sides[0], branch)),
            origin(&branch.origin),
        ];
        cells.extend(statuses.iter().map(|found| outcomes(found, branch)));
        table.row(cells);
    }
    table
}

fn place(side: &KernelEvidence, branch: &ObjectBranch) -> String {
    let place = &branch.place;
    match (&place.file, place.line) {
        (Some(file), Some(line)) => {
            facts::place(&side.source, file, line, place.column.unwrap_or(0))
        }
        (_, _) => {
            let function = place.function.as_deref().unwrap_or("-");
            format!("{function}+word {}", place.instruction.unwrap_or(0))
        }
    }
}

fn origin(origin: &ObjectOrigin) -> Text {
    let text = Text::sentence(origin.to_string());
    if origin.is_additional() { text.tone(Tone::Caution) } else { text }
}

type Statuses<'a> = BTreeMap<&'a str, Status>;

fn statuses(side: &KernelEvidence) -> Statuses<'_> {
    side.coverage
        .objects
        .iter()
        .map(|item: &SimpleObligation| (item.id.as_str(), item.status))
        .collect()
}

/// `✓ true  ✗ false`
fn outcomes(statuses: &Statuses<'_>, branch: &ObjectBranch) -> Text {
    let cell = |label: &str, text: &str| {
        let id = format!("{}.{label}", branch.id);
        let status = statuses.get(id.as_str()).copied().unwrap_or(Status::Undetermined);
        Text::plain(format!("{} {text}", facts::status_symbol(status))).tone(status_tone(status))
    };
    Text::join(branch.outcomes.iter().map(|outcome| cell(&outcome.label, &outcome.text)), "  ")
}

fn loops(side: &KernelEvidence, outline: &mut Outline) {
    let loops = &side.objects.structure.loops;
    if loops.is_empty() {
        return;
    }
    let items = loops.iter().map(|found| {
        let place = match (&found.place.file, found.place.line) {
            (Some(file), Some(line)) => {
                facts::place(&side.source, file, line, found.place.column.unwrap_or(0))
            }
            (_, _) => found.place.to_string(),
        };
        Text::code(place).then(" ").and(origin(&found.origin))
    });
    outline.paragraph(Text::plain("Loops: ").and(Text::join(items, ", ")).then("."));
}
