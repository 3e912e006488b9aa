//! One chapter per kernel: shares, lists of obligations, every decision, and what belongs to no
//! obligation.

use super::coupled_pairs::shown_pairs;
use super::coupling_coverage::{objects_table, telling_sides};
use super::identifiers::compact_ids;
use super::links::test_link;
use super::summary::{WHAT_SHARES_COUNT, share_text};
use super::tones::status_tone;
use super::{average, decision, object, source};
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::facts::{self, KernelUnit, Occurrences};
use std::collections::{BTreeSet, HashMap};
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::structure::Accuracy;

pub(super) fn kernel_chapter(evidence: &Evidence, unit: &KernelUnit, outline: &mut Outline) {
    let sides = facts::on_engines(evidence, unit);
    let Some((kernel_index, first_side)) = sides.first().copied() else { return };
    let sides: Vec<&KernelEvidence> = sides.into_iter().map(|(_, side)| side).collect();
    let configuration_text = unit.configuration.map_or_else(Text::empty, |name| {
        Text::plain(", configuration ").followed_by(Text::code(name))
    });
    let title = Text::plain("Kernel ")
        .followed_by(Text::code(unit.kernel.as_str()))
        .followed_by(configuration_text);
    outline.add_heading(1, title, unit.chapter_anchor());
    let accuracy_note = match first_side.structure.accuracy {
        Accuracy::Exact => Text::empty(),
        Accuracy::LinesOnly => Text::plain(
            " Measured on the compiler's preprocessed text: places are accurate to the line only, columns are not.",
        )
        .with_tone(Tone::Caution),
    };
    let [size_x, size_y, size_z] = first_side.configuration.local_size;
    outline.add_paragraph(
        Text::plain("Source ")
            .followed_by(Text::code(first_side.source.as_str()))
            .then_plain(", entry point ")
            .followed_by(Text::code(first_side.configuration.entry.as_str()))
            .then_plain(format!(", local size {size_x} × {size_y} × {size_z}. A place without a file is a line and column of this source."))
            .followed_by(accuracy_note),
    );
    constants_paragraph(first_side, outline);
    shares_section(evidence, &sides, outline);
    average::average_section(unit, &sides, outline);
    source::source_section(evidence, unit, (kernel_index, &sides), outline);
    obligation_sections(unit, &sides, outline);
    coupling_section(evidence, unit, &sides, outline);
    decision::decisions_section(evidence, unit, &sides, outline);
    let standard = evidence.campaign.project.level.standard();
    object::object_section(standard, unit, &sides, outline);
    lowering_section(unit, &sides, outline);
    not_counted_section(unit, &sides, outline);
}

/// The configuration's specialization constants, where the module has any.
fn constants_paragraph(kernel: &KernelEvidence, outline: &mut Outline) {
    let configuration = &kernel.configuration;
    if configuration.specialization.is_empty() {
        return;
    }
    let constant_texts = configuration.specialization.iter().map(|constant| {
        let default_words = if constant.default { " (default)" } else { "" };
        Text::code(format!("{} = {}", constant.label(), constant.value))
            .followed_by(Text::quiet(default_words))
    });
    outline.add_paragraph(
        Text::plain("Specialization constants: ")
            .followed_by(Text::join(constant_texts, ", "))
            .then_plain(". Only dispatches with exactly these values count here."),
    );
}

fn shares_section(evidence: &Evidence, sides: &[&KernelEvidence], outline: &mut Outline) {
    let mut table = Table::new("Shares per criterion").with_column("Criterion", ColumnAlign::Left);
    for side in sides {
        table = table.with_column(side.engine.to_string(), ColumnAlign::Right);
    }
    let mut criteria: Vec<&StoredCriterion> = Vec::new();
    for summary in sides.iter().flat_map(|side| &side.coverage.summary) {
        if !criteria.contains(&&summary.criterion) {
            criteria.push(&summary.criterion);
        }
    }
    for criterion in criteria {
        let asked_words =
            if facts::is_asked_for(evidence, criterion) { "" } else { " (not asked for)" };
        let mut row_cells =
            vec![Text::plain(format!("{}{asked_words}", facts::criterion_title(criterion)))];
        for side in sides {
            let summary = facts::criterion_summary(&side.coverage, criterion);
            row_cells.push(summary.map_or_else(
                || Text::quiet("not measured"),
                |summary| share_text(evidence, summary),
            ));
        }
        table.add_row(row_cells);
    }
    outline.add_table(table);
    outline.add_paragraph(Text::quiet(WHAT_SHARES_COUNT));
}

/// Obligations of one criterion; none where it was not measured.
type ObligationSelector = fn(&KernelEvidence) -> Option<&Vec<SimpleObligation>>;

fn obligation_sections(unit: &KernelUnit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let obligation_lists: [(&str, CriterionName, ObligationSelector); 8] = [
        ("Statements", CriterionName::Statement, |side| Some(&side.coverage.statements)),
        ("Branches", CriterionName::Branch, |side| Some(&side.coverage.branches)),
        ("Entry and exit points", CriterionName::Decision, |side| Some(&side.coverage.points)),
        ("Barriers", CriterionName::Barrier, |side| {
            Some(&side.coverage.barriers).filter(|barriers| !barriers.is_empty())
        }),
        ("Functions", CriterionName::Function, |side| side.coverage.functions.as_ref()),
        ("Calls", CriterionName::Call, |side| side.coverage.calls.as_ref()),
        ("Loop boundaries", CriterionName::LoopBoundary, |side| side.coverage.loops.as_ref()),
        ("Boundary values", CriterionName::Boundary, |side| side.coverage.boundaries.as_ref()),
    ];
    for (title, criterion, select) in obligation_lists {
        if sides.iter().any(|side| select(side).is_some()) {
            outline.add_heading(2, title, format!("{}/{criterion}", unit.chapter_anchor()));
            obligation_list(title, sides, select, outline);
        }
    }
}

/// Pairs are told by one engine alone, so that another one has no column of its own.
fn coupling_section(
    evidence: &Evidence,
    unit: &KernelUnit,
    sides: &[&KernelEvidence],
    outline: &mut Outline,
) {
    let has_pairs = |side: &&KernelEvidence| side.coverage.coupling.is_some();
    let measured_sides: Vec<&KernelEvidence> = sides.iter().copied().filter(has_pairs).collect();
    if measured_sides.is_empty() {
        return;
    }
    let criterion = CriterionName::Coupling;
    outline.add_heading(2, "Coupling", format!("{}/{criterion}", unit.chapter_anchor()));
    objects_table(sides, outline);
    let telling_sides = telling_sides(&measured_sides);
    obligation_list("Coupling", &telling_sides, |side| side.coverage.coupling.as_ref(), outline);
    let mut interfaces = evidence.campaign.coupling.iter();
    let interface = interfaces.find(|row| row.kernel.as_str() == unit.kernel.as_str());
    for side in &telling_sides {
        shown_pairs(side, interface.and_then(|row| row.definition.as_ref()), outline);
    }
    let is_telling =
        |side: &KernelEvidence| telling_sides.iter().any(|told| told.engine == side.engine);
    for side in measured_sides.into_iter().filter(|side| !is_telling(side)) {
        untold_paragraph(side, outline);
    }
}

/// Why an engine tells of no pair.
fn untold_paragraph(side: &KernelEvidence, outline: &mut Outline) {
    let rows = side.coverage.coupling.iter().flatten();
    let untold_rows = rows.filter(|row| row.status == Status::Undetermined);
    let reasons: BTreeSet<&str> = untold_rows.filter_map(|row| row.reason.as_deref()).collect();
    if !reasons.is_empty() {
        let reasons = reasons.into_iter().collect::<Vec<_>>().join("; ");
        let words = format!("Undetermined on {}: {reasons}.", side.engine);
        outline.add_paragraph(Text::quiet(words));
    }
}

/// Obligations that are not covered on some engine in full, the others by identifier.
fn obligation_list(
    title: &str,
    sides: &[&KernelEvidence],
    select: ObligationSelector,
    outline: &mut Outline,
) {
    let measured_items = sides.iter().find_map(|side| select(side));
    let Some(first_items) = measured_items.filter(|items| !items.is_empty()) else {
        outline.add_paragraph("None in this kernel.");
        return;
    };
    let items_by_id: Vec<HashMap<_, _>> = sides
        .iter()
        .map(|side| select(side).into_iter().flatten().map(|item| (&item.id, item)).collect())
        .collect();
    let is_covered = |item: &&SimpleObligation| {
        items_by_id.iter().all(|items| {
            items.get(&item.id).is_some_and(|other_item| other_item.status == Status::Covered)
        })
    };
    let where_ = if sides.len() > 1 { " on every engine" } else { "" };
    let (covered_items, open_items): (Vec<_>, Vec<_>) = first_items.iter().partition(is_covered);
    if !open_items.is_empty() {
        let mut table = Table::new(format!("{title} not covered{where_}")).columns(&[
            "Obligation",
            "Line:column",
            "Text",
        ]);
        for side in sides {
            table = table.with_column(side.engine.to_string(), ColumnAlign::Left);
        }
        let occurrences = Occurrences::of_list(&first_items.iter().collect::<Vec<_>>());
        for item in &open_items {
            let place_words = match &item.object {
                Some(object) if item.line == 0 => {
                    format!("{}+word {}", object.function, object.instruction)
                }
                Some(_) | None => {
                    facts::source_place(&sides[0].source, &item.file, item.line, item.column)
                }
            };
            let mut row_cells = vec![
                Text::code(item.id.as_str()),
                Text::code(place_words),
                Text::code(occurrences.shown_text(item)),
            ];
            for items in &items_by_id {
                let cell = items
                    .get(&item.id)
                    .map_or_else(|| Text::quiet("not measured"), |item| status_cell(item));
                row_cells.push(cell);
            }
            table.add_row(row_cells);
        }
        outline.add_table(table);
    }
    let covered_count = covered_items.len();
    let covered_ids = compact_ids(covered_items.iter().map(|item| item.id.as_str()));
    outline.add_paragraph(match covered_count {
        0 => Text::plain(format!("Covered{where_}: none.")),
        _ => Text::plain(format!("Covered{where_} ({covered_count} of {}): ", first_items.len()))
            .followed_by(Text::code(covered_ids)),
    });
}

fn status_cell(item: &SimpleObligation) -> Text {
    let tone = status_tone(item.status);
    let reason_words = item.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let status_words = format!("{}\u{a0}{}", facts::status_symbol(item.status), item.status);
    Text::plain(status_words).with_tone(tone).followed_by(Text::sentence(reason_words))
}

fn lowering_section(unit: &KernelUnit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let Some(side) = sides.iter().find(|side| !side.lowering.is_empty()) else { return };
    outline.add_heading(
        2,
        "Decisions of the sequential lowering",
        format!("{}/lowering", unit.chapter_anchor()),
    );
    outline.add_paragraph(
        "The single-thread-equivalent form has loops over workgroups and invocations that the kernel's text has not. \
         Their decisions are reported apart and enter no share above; the tests of the kernel cover them as well.",
    );
    let mut table = Table::new("Additional loop decisions")
        .with_column("Decision", ColumnAlign::Left)
        .with_column("Text", ColumnAlign::Left)
        .with_column("Times true", ColumnAlign::Right)
        .with_column("Times false", ColumnAlign::Right)
        .with_column("Covered", ColumnAlign::Left);
    for decision in &side.lowering {
        let covered_text = decision.true_count > 0 && decision.false_count > 0;
        let covered_text = if covered_text {
            Text::plain("✓ both").with_tone(Tone::Good)
        } else {
            Text::plain("✗ not both").with_tone(Tone::Bad)
        };
        table.add_row(vec![
            Text::code(decision.id.as_str()),
            Text::code(decision.text.as_str()),
            Text::plain(decision.true_count.to_string()),
            Text::plain(decision.false_count.to_string()),
            covered_text,
        ]);
    }
    outline.add_table(table);
}

/// Records of every engine that enter no share.
fn not_counted_section(unit: &KernelUnit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let uncounted_by_side: Vec<(&KernelEvidence, Vec<Text>)> =
        sides.iter().map(|side| (*side, uncounted_tests(side))).collect();
    let unreached_functions = &sides[0].coverage.not_reached;
    if unreached_functions.is_empty() && uncounted_by_side.iter().all(|(_, tests)| tests.is_empty())
    {
        return;
    }
    outline.add_heading(
        2,
        "What counts for nothing",
        format!("{}/not-counted", unit.chapter_anchor()),
    );
    for (side, tests) in uncounted_by_side.into_iter().filter(|(_, tests)| !tests.is_empty()) {
        outline.add_paragraph(
            Text::plain(format!("Records on {} that do not count, because ", side.engine))
                .then_plain("the test did not pass, verifies no requirement or leaves a dispatch of this kernel unjudged: ")
                .followed_by(Text::join(tests, ", "))
                .then_plain("."),
        );
    }
    if !unreached_functions.is_empty() {
        let function_names = unreached_functions.iter().map(|name| Text::code(name.as_str()));
        outline.add_paragraph(
            Text::plain("In the source but not part of this kernel, since the entry point does not reach it: ")
                .followed_by(Text::join(function_names, ", "))
                .then_plain("."),
        );
    }
}

/// Tests whose records of source or object code do not count, each with its verdict.
fn uncounted_tests(side: &KernelEvidence) -> Vec<Text> {
    let mut seen_tests = BTreeSet::new();
    let uncounted_records =
        side.records.iter().chain(&side.objects.records).filter(|records| !records.counted);
    let first_records = uncounted_records.filter(|records| seen_tests.insert(&records.test));
    first_records
        .map(|records| test_link(&records.test).then_plain(format!(" ({})", records.verdict)))
        .collect()
}
