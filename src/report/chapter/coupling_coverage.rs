//! Coverage of coupling by class: of all kernels in one table, of a kernel by what passes.
//!
//! Promises: every number is in the evidence; each is the count of rows of the kernels' chapters.
//! Does not cover: the rows themselves, which stand with the other obligations of a kernel.

use super::links::unit_link;
use super::summary::share_text;
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::facts::{self, KernelUnit};
use crate::statement;
use vkcert_model::coupling_summary::{CoupledObject, CouplingClassSummary, ObligationCounts};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::pair_obligation::CouplingClass;
use vkcert_model::verdict::EngineName;

fn class_title(class: CouplingClass) -> &'static str {
    match class {
        CouplingClass::HostToKernel => "Host to kernel",
        CouplingClass::KernelToKernel => "Kernel to kernel",
        CouplingClass::InvocationToInvocation => "Invocation to invocation",
        CouplingClass::Atomic => "Atomic",
        CouplingClass::Barrier => "Barrier by all",
        CouplingClass::Call => "Call",
    }
}

/// Shares of each class, per kernel and of all; nothing where the project does not ask for them.
pub(super) fn classes_section(evidence: &Evidence, outline: &mut Outline) {
    let rows = telling_rows(evidence);
    if rows.is_empty() {
        return;
    }
    outline.add_heading(2, "Coverage of coupling by class", "coupling/classes");
    outline.add_paragraph(
        "A value that the host, an earlier dispatch or another invocation can give and a kernel reads is an obligation before any \
         test runs; a test that counts covers it by reading it. So is each barrier, covered where all invocations of a workgroup execute it, and \
         each call of a function. Covered obligations of all obligations; the rows stand in the \
         chapters of the kernels.",
    );
    let mut table = Table::new("Coverage of coupling by class, on the engine that tells of it")
        .with_column("Kernel", ColumnAlign::Left);
    for class in CouplingClass::ALL {
        table = table.with_column(class_title(class), ColumnAlign::Right);
    }
    table = table.with_column("All classes", ColumnAlign::Right);
    for (unit, row) in &rows {
        let mut cells = vec![unit_link(unit)];
        cells.extend(class_cells(&row.coverage.coupling_classes));
        let criterion = StoredCriterion::from(CriterionName::Coupling);
        let summary = facts::criterion_summary(&row.coverage, &criterion);
        cells.push(
            summary.map_or_else(
                || Text::quiet("not measured"),
                |summary| share_text(evidence, summary),
            ),
        );
        table.add_row(cells);
    }
    if rows.len() > 1 {
        table.add_row(sum_cells(evidence, &rows));
    }
    outline.add_table(table);
}

/// Kernels with coverage of coupling, on the engine that can tell of it, if that ran.
fn telling_rows(evidence: &Evidence) -> Vec<(KernelUnit<'_>, &KernelEvidence)> {
    let units = facts::kernel_units(evidence).into_iter();
    let rows_of_units = units.flat_map(|unit| {
        let sides = facts::on_engines(evidence, &unit).into_iter();
        let sides: Vec<&KernelEvidence> = sides.map(|(_, side)| side).collect();
        telling_sides(&sides).into_iter().map(move |side| (unit, side))
    });
    rows_of_units.filter(|(_, side)| side.coverage.coupling.is_some()).collect()
}

/// The side of the engine that can tell of pairs, if that ran.
pub(super) fn telling_sides<'e>(sides: &[&'e KernelEvidence]) -> Vec<&'e KernelEvidence> {
    let is_told = sides.iter().any(|side| side.engine == EngineName::Sequential);
    let telling_sides = sides.iter().filter(|side| match side.engine {
        EngineName::Sequential => true,
        EngineName::Vulkan => !is_told,
    });
    telling_sides.copied().collect()
}

fn class_cells(classes: &[CouplingClassSummary]) -> Vec<Text> {
    let cells = CouplingClass::ALL.into_iter().map(|class| {
        let summary = classes.iter().find(|summary| summary.class == class);
        summary.map_or_else(|| Text::quiet("none"), |summary| counts_text(summary.counts))
    });
    cells.collect()
}

/// The classes of all kernels, and the sum of what the column beside them counts.
fn sum_cells(evidence: &Evidence, rows: &[(KernelUnit<'_>, &KernelEvidence)]) -> Vec<Text> {
    let mut cells = vec![Text::plain(statement::all_kernels_title(evidence))];
    cells.extend(class_cells(&evidence.campaign.conclusion.coupling_classes));
    let mut sum = ObligationCounts::default();
    let obligations = rows.iter().flat_map(|(_, row)| row.coverage.coupling_obligations());
    obligations.for_each(|obligation| sum.count(obligation.status));
    cells.push(counts_text(sum));
    cells
}

fn counts_text(counts: ObligationCounts) -> Text {
    let tone = match counts.covered + counts.justified == counts.total {
        true => Tone::Good,
        false => Tone::Bad,
    };
    let undetermined_words = match counts.undetermined {
        0 => String::new(),
        number => format!(", {number} undetermined"),
    };
    Text::plain(format!("{}{undetermined_words}", facts::counts_in_words(counts))).with_tone(tone)
}

/// The classes of a kernel by what passes, before its rows.
pub(super) fn objects_table(sides: &[&KernelEvidence], outline: &mut Outline) {
    let counted_sides = sides.iter().filter(|side| !side.coverage.coupling_classes.is_empty());
    let Some(side) = counted_sides.min_by_key(|side| side.engine) else { return };
    let mut table = Table::new(format!("Coupling by class and by what passes, {}", side.engine))
        .columns(&["Class", "Variable or member"])
        .with_column("Covered", ColumnAlign::Right);
    for class in &side.coverage.coupling_classes {
        let title = class_title(class.class);
        for object in &class.objects {
            let cells = vec![Text::plain(title), object_name(object), counts_text(object.counts)];
            table.add_row(cells);
        }
        if class.objects.len() != 1 {
            table.add_row(vec![Text::plain(title), Text::plain("all"), counts_text(class.counts)]);
        }
    }
    outline.add_table(table);
}

fn object_name(object: &CoupledObject) -> Text {
    match &object.object {
        Some(name) => Text::code(name.as_str()),
        None => Text::quiet("shown beside the obligations"),
    }
}
