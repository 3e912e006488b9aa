//! The list of kernels, where their chapters stand in other files: one for each, or volumes.
//!
//! Promises: one row per kernel and configuration, in the order of the project; what is open in
//! each is counted here, so that nobody opens every file to find it.

use super::KernelPlaces;
use super::links::{listed_texts, test_link, unit_link};
use crate::document::{ColumnAlign, Outline, Table, Text, Tone};
use crate::facts;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::{KernelName, TestId};

/// Tests named per kernel; its own file has all.
const TESTS: usize = 6;

pub(super) fn kernel_list_chapter(
    evidence: &Evidence,
    places: &KernelPlaces,
    outline: &mut Outline,
) {
    outline.add_heading(1, "Kernels", "chapter/kernels");
    let units = facts::kernel_units(evidence);
    let place = match places {
        KernelPlaces::OwnFiles => "a file of its own",
        KernelPlaces::Volumes(_) => "a chapter in one of the volumes",
    };
    outline.add_paragraph(format!(
        "Each of the {} kernels and configurations has {place}, with its source, decisions and \
         vectors. Uncovered obligations are those of the criteria asked for, counted per engine.",
        units.len()
    ));
    let volumes = match places {
        KernelPlaces::OwnFiles => &[][..],
        KernelPlaces::Volumes(volumes) => volumes,
    };
    let mut uncovered_counts: BTreeMap<String, usize> = BTreeMap::new();
    for obligation in facts::uncovered_obligations(evidence) {
        *uncovered_counts.entry(obligation.unit.chapter_anchor()).or_default() += 1;
    }
    let tests_by_kernel = tests_by_kernel(evidence);
    let title = match places {
        KernelPlaces::OwnFiles => "Kernels and their files",
        KernelPlaces::Volumes(_) => "Kernels and their volumes",
    };
    let mut table = Table::new(title)
        .columns(&["Kernel", "Source", "Engines"])
        .with_column("Uncovered", ColumnAlign::Right)
        .columns(&["Tests"]);
    if !volumes.is_empty() {
        table = table.with_column("Volume", ColumnAlign::Right);
    }
    for (place, unit) in units.into_iter().enumerate() {
        let sides = facts::on_engines(evidence, &unit);
        let side_list: Vec<&KernelEvidence> = sides.into_iter().map(|(_, side)| side).collect();
        let Some(first_side) = side_list.first() else { continue };
        let engine_words = side_list.iter().map(|side| side.engine.to_string());
        let uncovered_count = uncovered_counts.get(&unit.chapter_anchor()).copied().unwrap_or(0);
        let tests = tests_by_kernel.get(unit.kernel).map_or(&[][..], Vec::as_slice);
        let mut cells = vec![
            unit_link(&unit),
            Text::code(first_side.source.as_str()),
            Text::plain(engine_words.collect::<Vec<_>>().join(", ")),
            match uncovered_count {
                0 => Text::plain("✓\u{a0}none").with_tone(Tone::Good),
                count => Text::plain(format!("✗\u{a0}{count}")).with_tone(Tone::Bad),
            },
            named_tests(tests),
        ];
        let volume = volumes.iter().find(|volume| volume.units.contains(&place));
        cells.extend(volume.map(|volume| Text::plain(volume.number.to_string())));
        table.add_row(cells);
    }
    outline.add_table(table);
}

/// Tests that dispatch each kernel, in the order of the campaign.
fn tests_by_kernel(evidence: &Evidence) -> BTreeMap<KernelName, Vec<TestId>> {
    let mut tests_by_kernel: BTreeMap<KernelName, Vec<TestId>> = BTreeMap::new();
    for test in &evidence.campaign.tests {
        for kernel in &test.kernels {
            tests_by_kernel.entry(*kernel).or_default().push(test.id);
        }
    }
    tests_by_kernel
}

fn named_tests(tests: &[TestId]) -> Text {
    let names = listed_texts(tests.iter().take(TESTS).map(test_link), Tone::Caution);
    match tests.len().saturating_sub(TESTS) {
        0 => names,
        more => names.followed_by(Text::quiet(format!(" and {more} more"))),
    }
}
