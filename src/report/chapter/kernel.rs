//! One chapter per kernel: shares, lists of obligations, every decision, and what belongs to no
//! obligation.

use super::identifiers::compact;
use super::links::test_link;
use super::summary::{COUNTED, share_text};
use super::tones::status_tone;
use super::{decision, object};
use crate::document::{Align, Block, Outline, Table, Text, Tone};
use crate::facts::{self, Unit};
use std::collections::{BTreeSet, HashMap};
use vkcert_model::coverage::{SimpleObligation, Status};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::structure::Accuracy;

pub(super) fn chapter(evidence: &Evidence, unit: &Unit, outline: &mut Outline) {
    let sides = facts::on_engines(evidence, unit);
    let Some((index, first)) = sides.first().copied() else { return };
    let sides: Vec<&KernelEvidence> = sides.into_iter().map(|(_, side)| side).collect();
    let configuration = unit
        .configuration
        .map_or_else(Text::empty, |name| Text::plain(", configuration ").and(Text::code(name)));
    let title = Text::plain("Kernel ").and(Text::code(unit.kernel.as_str())).and(configuration);
    outline.heading(1, title, unit.anchor());
    let accuracy = match first.structure.accuracy {
        Accuracy::Exact => Text::empty(),
        Accuracy::LinesOnly => Text::plain(
            " Measured on the compiler's preprocessed text: places are accurate to the line only, columns are not.",
        )
        .tone(Tone::Caution),
    };
    let [x, y, z] = first.configuration.local_size;
    outline.paragraph(
        Text::plain("Source ")
            .and(Text::code(first.source.as_str()))
            .then(", entry point ")
            .and(Text::code(first.configuration.entry.as_str()))
            .then(format!(", local size {x} × {y} × {z}. A place without a file is a line and column of this source."))
            .and(accuracy),
    );
    constants(first, outline);
    shares(evidence, &sides, outline);
    outline.push(Block::Source { kernel: index });
    lists(unit, &sides, outline);
    decision::section(evidence, unit, &sides, outline);
    object::section(unit, &sides, outline);
    lowering(unit, &sides, outline);
    not_counted(unit, &sides, outline);
}

/// The configuration's specialization constants, where the module has any.
fn constants(kernel: &KernelEvidence, outline: &mut Outline) {
    let configuration = &kernel.configuration;
    if configuration.specialization.is_empty() {
        return;
    }
    let values = configuration.specialization.iter().map(|constant| {
        let default = if constant.default { " (default)" } else { "" };
        Text::code(format!("{} = {}", constant.label(), constant.value)).and(Text::quiet(default))
    });
    outline.paragraph(
        Text::plain("Specialization constants: ")
            .and(Text::join(values, ", "))
            .then(". Only dispatches with exactly these values count here."),
    );
}

fn shares(evidence: &Evidence, sides: &[&KernelEvidence], outline: &mut Outline) {
    let mut table = Table::new("Shares per criterion").column("Criterion", Align::Left);
    for side in sides {
        table = table.column(side.engine.to_string(), Align::Right);
    }
    let mut names: Vec<&str> = Vec::new();
    for summary in sides.iter().flat_map(|side| &side.coverage.summary) {
        if !names.contains(&summary.criterion.as_str()) {
            names.push(&summary.criterion);
        }
    }
    for name in names {
        let asked = if facts::asked_for(evidence, name) { "" } else { " (not asked for)" };
        let mut cells = vec![Text::plain(format!("{}{asked}", facts::criterion_title(name)))];
        for side in sides {
            let summary = facts::summary(&side.coverage, name);
            cells.push(summary.map_or_else(
                || Text::quiet("not measured"),
                |summary| share_text(evidence, summary),
            ));
        }
        table.row(cells);
    }
    outline.table(table);
    outline.paragraph(Text::quiet(COUNTED));
}

type Select = fn(&KernelEvidence) -> &Vec<SimpleObligation>;

fn lists(unit: &Unit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let lists: [(&str, &str, Select); 3] = [
        ("Statements", "statement", |side| &side.coverage.statements),
        ("Branches", "branch", |side| &side.coverage.branches),
        ("Entry and exit points", "decision", |side| &side.coverage.points),
    ];
    for (title, criterion, select) in lists {
        outline.heading(2, title, format!("{}/{criterion}", unit.anchor()));
        list(title, sides, select, outline);
    }
}

/// Obligations that are not covered on some engine in full, the others by identifier.
fn list(title: &str, sides: &[&KernelEvidence], select: Select, outline: &mut Outline) {
    let first = select(sides[0]);
    if first.is_empty() {
        outline.paragraph("None in this kernel.");
        return;
    }
    let by_id: Vec<HashMap<_, _>> = sides
        .iter()
        .map(|side| select(side).iter().map(|item| (&item.id, item)).collect())
        .collect();
    let covered = |item: &&SimpleObligation| {
        by_id
            .iter()
            .all(|items| items.get(&item.id).is_some_and(|other| other.status == Status::Covered))
    };
    let (done, rest): (Vec<_>, Vec<_>) = first.iter().partition(covered);
    if !rest.is_empty() {
        let mut table = Table::new(format!("{title} not covered on every engine")).columns(&[
            "Obligation",
            "Line:column",
            "Text",
        ]);
        for side in sides {
            table = table.column(side.engine.to_string(), Align::Left);
        }
        for item in &rest {
            let place = match &item.object {
                Some(object) if item.line == 0 => {
                    format!("{}+word {}", object.function, object.instruction)
                }
                Some(_) | None => {
                    facts::place(&sides[0].source, &item.file, item.line, item.column)
                }
            };
            let mut cells = vec![
                Text::code(item.id.as_str()),
                Text::code(place),
                Text::code(item.text.as_str()),
            ];
            for items in &by_id {
                let cell = items
                    .get(&item.id)
                    .map_or_else(|| Text::quiet("not measured"), |item| status_cell(item));
                cells.push(cell);
            }
            table.row(cells);
        }
        outline.table(table);
    }
    let count = done.len();
    let ids = compact(done.iter().map(|item| item.id.as_str()));
    let where_ = if sides.len() > 1 { " on every engine" } else { "" };
    outline.paragraph(match count {
        0 => Text::plain(format!("Covered{where_}: none.")),
        _ => Text::plain(format!("Covered{where_} ({count} of {}): ", first.len()))
            .and(Text::code(ids)),
    });
}

fn status_cell(item: &SimpleObligation) -> Text {
    let tone = status_tone(item.status);
    let reason = item.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let status = format!("{}\u{a0}{}", facts::status_symbol(item.status), item.status);
    Text::plain(status).tone(tone).and(Text::sentence(reason))
}

fn lowering(unit: &Unit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let Some(side) = sides.iter().find(|side| !side.lowering.is_empty()) else { return };
    outline.heading(
        2,
        "Decisions of the sequential lowering",
        format!("{}/lowering", unit.anchor()),
    );
    outline.paragraph(
        "The single-thread-equivalent form has loops over workgroups and invocations that the kernel's text has not. \
         Their decisions are reported apart and enter no share above; the tests of the kernel cover them as well.",
    );
    let mut table = Table::new("Additional loop decisions")
        .column("Decision", Align::Left)
        .column("Text", Align::Left)
        .column("Times true", Align::Right)
        .column("Times false", Align::Right)
        .column("Covered", Align::Left);
    for decision in &side.lowering {
        let covered = decision.true_count > 0 && decision.false_count > 0;
        let covered = if covered {
            Text::plain("✓ both").tone(Tone::Good)
        } else {
            Text::plain("✗ not both").tone(Tone::Bad)
        };
        table.row(vec![
            Text::code(decision.id.as_str()),
            Text::code(decision.text.as_str()),
            Text::plain(decision.true_count.to_string()),
            Text::plain(decision.false_count.to_string()),
            covered,
        ]);
    }
    outline.table(table);
}

/// Records of every engine that enter no share.
fn not_counted(unit: &Unit, sides: &[&KernelEvidence], outline: &mut Outline) {
    let dropped: Vec<(&KernelEvidence, Vec<Text>)> =
        sides.iter().map(|side| (*side, uncounted_tests(side))).collect();
    let unreached = &sides[0].coverage.not_reached;
    if unreached.is_empty() && dropped.iter().all(|(_, tests)| tests.is_empty()) {
        return;
    }
    outline.heading(2, "What counts for nothing", format!("{}/not-counted", unit.anchor()));
    for (side, tests) in dropped.into_iter().filter(|(_, tests)| !tests.is_empty()) {
        outline.paragraph(
            Text::plain(format!("Records on {} that do not count, because ", side.engine))
                .then("the test did not pass, verifies no requirement or leaves a dispatch of this kernel unjudged: ")
                .and(Text::join(tests, ", "))
                .then("."),
        );
    }
    if !unreached.is_empty() {
        let names = unreached.iter().map(|name| Text::code(name.as_str()));
        outline.paragraph(
            Text::plain("In the source but not part of this kernel, since the entry point does not reach it: ")
                .and(Text::join(names, ", "))
                .then("."),
        );
    }
}

/// Tests whose records of source or object code do not count, each with its verdict.
fn uncounted_tests(side: &KernelEvidence) -> Vec<Text> {
    let mut seen = BTreeSet::new();
    let dropped =
        side.records.iter().chain(&side.objects.records).filter(|records| !records.counted);
    let fresh = dropped.filter(|records| seen.insert(&records.test));
    fresh.map(|records| test_link(&records.test).then(format!(" ({})", records.verdict))).collect()
}
