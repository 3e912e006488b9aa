//! The trend over stored runs: figure, one row per run, shares by run, measures, and what was left
//! out.
//!
//! Promises: the chapter says by what runs are ordered, how many there are, and what each was held
//! to; where a setting differs that shares depend on, the run has another measure. Does not cover:
//! which runs are shown (`verify`), and which changes of the project are behind a difference.

use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::drawing::trend::{TrendLine, TrendRuns, trend_drawings};
use crate::facts;
use crate::history::{
    CriterionShares, History, ItemCounts, RunMeasure, RunOrder, RunRecord, RunStanding,
};
use std::collections::BTreeMap;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_model::wording::plural;

/// What runs are held to before they are shown.
const WHAT_HOLDS: &str = "Of every stored run, hashes and form of the evidence hold, and tests, coverage and conclusion were \
    derived again from its own inputs and records, without compiling its kernels. What does not hold is left out. The conclusion \
    of this report rests on none of these runs.";

/// Digits of a root that tell runs apart in a table.
const ROOT_DIGITS: usize = 12;

pub(super) fn trend_chapter(history: &History, outline: &mut Outline) {
    outline.add_heading(1, "Trend over stored runs", "chapter/trend");
    outline.add_paragraph(Text::sentence(extent_words(history)));
    if history.runs.len() > 1 {
        outline.add_paragraph(WHAT_HOLDS);
    }
    let measure_numbers = history.measure_numbers();
    outline.add_drawings(trend_drawings(&trend_lines(history), &trend_runs(history)));
    outline.add_table(run_table(history, &measure_numbers));
    outline.add_table(result_table(history));
    outline.add_table(share_table(history));
    outline.add_table(measure_table(history, &measure_numbers));
    add_left_out(history, outline);
}

/// How many runs there are, in which order, and which of them are shown.
fn extent_words(history: &History) -> String {
    let stored_count = history.runs.len() - 1;
    let order_words = match history.order {
        RunOrder::Date => "the date of their evidence",
        RunOrder::Folder => {
            "the names of their folders, because not every run is dated (numbers in names count by their value)"
        }
    };
    let shown_words = match stored_count {
        0 => "No other run is stored that could be shown beside the one of this report.".to_owned(),
        count => format!(
            "{} and the one of this report, in the order of {order_words}.",
            plural(count, "stored run", "stored runs")
        ),
    };
    let earlier_words = match history.earlier_runs {
        0 => String::new(),
        count => format!(
            " {} before them: at most {} are shown, and the others were not verified.",
            plural(count, "more run is stored", "more runs are stored"),
            crate::MOST_SHOWN_RUNS
        ),
    };
    format!("{shown_words}{earlier_words}")
}

fn trend_runs(history: &History) -> TrendRuns {
    let is_present = |run: &RunRecord| run.standing == RunStanding::Present;
    let present = history.runs.iter().position(is_present).unwrap_or(history.runs.len());
    TrendRuns { measures: history.measure_numbers(), present }
}

/// Passed tests, then every criterion.
fn trend_lines(history: &History) -> Vec<TrendLine> {
    let passed_tests = TrendLine {
        title: "Tests passed".to_owned(),
        fractions: history.runs.iter().map(passed_fraction).collect(),
    };
    let of_criteria = history.criteria().into_iter().map(|criterion| {
        let fraction = |run: &RunRecord| {
            let summary = run.shares_of(&criterion)?.least()?;
            Some((summary.covered, summary.total))
        };
        TrendLine {
            title: facts::criterion_title(&criterion).to_owned(),
            fractions: history.runs.iter().map(fraction).collect(),
        }
    });
    std::iter::once(passed_tests).chain(of_criteria).collect()
}

/// Passed tests of all, on the engine where the fewest passed; none where no engine ran.
fn passed_fraction(run: &RunRecord) -> Option<(u32, u32)> {
    let counts = run.verdicts.values().filter(|verdicts| has_run(verdicts));
    let fractions = counts.map(|verdicts| {
        (verdicts.get(&Verdict::Pass).copied().unwrap_or(0), verdicts.values().sum())
    });
    fractions.min()
}

fn has_run(verdicts: &BTreeMap<Verdict, u32>) -> bool {
    verdicts.keys().any(|verdict| verdict.ran())
}

fn run_table(history: &History, measure_numbers: &[usize]) -> Table {
    let caption =
        format!("Runs. Roots are the first {ROOT_DIGITS} digits of the SHA-256 of the manifest.");
    let mut table = Table::new(caption)
        .with_column("Run", ColumnAlign::Right)
        .columns(&["Folder", "Date", "Root", "Tool"])
        .with_column("Measure", ColumnAlign::Right);
    for ((index, run), measure_number) in history.runs.iter().enumerate().zip(measure_numbers) {
        table.add_row(vec![
            run_number(index, run),
            folder_text(run),
            run.date.as_deref().map_or_else(|| Text::quiet("not dated"), Text::plain),
            Text::code(run.root.chars().take(ROOT_DIGITS).collect::<String>()),
            Text::plain(run.tool.as_str()),
            Text::plain(measure_number.to_string()),
        ]);
    }
    table
}

fn result_table(history: &History) -> Table {
    let caption =
        "Results by run. Findings and open items are those that count against the result.";
    let mut table = Table::new(caption)
        .with_column("Run", ColumnAlign::Right)
        .columns(&["Result", "Tests"])
        .with_column("Findings", ColumnAlign::Right)
        .with_column("Open items", ColumnAlign::Right);
    for (index, run) in history.runs.iter().enumerate() {
        table.add_row(vec![
            run_number(index, run),
            result_text(run),
            Text::plain(test_words(run)),
            counted_text(run.standing_findings),
            items_text(run.open_items),
        ]);
    }
    table
}

/// Counted from 1; that of the report's run is bold, as in the figure.
fn run_number(index: usize, run: &RunRecord) -> Text {
    let number = (index + 1).to_string();
    match run.standing {
        RunStanding::Present => Text::strong(number),
        RunStanding::Derived | RunStanding::ComparedWithItself => Text::plain(number),
    }
}

fn folder_text(run: &RunRecord) -> Text {
    let folder = run.folder.as_deref().map(Text::code);
    match (run.standing, folder) {
        (RunStanding::Present, Some(folder)) => folder.followed_by(Text::strong(" (this report)")),
        (RunStanding::Present, None) => Text::strong("this report"),
        (RunStanding::Derived | RunStanding::ComparedWithItself, folder) => {
            folder.unwrap_or_else(Text::empty)
        }
    }
}

fn result_text(run: &RunRecord) -> Text {
    let tone = if run.exit_code == 0 { Tone::Good } else { Tone::Bad };
    let result = Text::plain(format!("{} (exit code {})", run.conclusion, run.exit_code));
    let checked_words = match run.standing {
        RunStanding::Present | RunStanding::Derived => "",
        RunStanding::ComparedWithItself => {
            "; stored without inputs: only what the evidence says twice was compared"
        }
    };
    result.with_tone(tone).then_plain(checked_words)
}

/// `5 pass, 1 fail on sequential and vulkan`
fn test_words(run: &RunRecord) -> String {
    let mut by_counts: Vec<(&BTreeMap<Verdict, u32>, Vec<String>)> = Vec::new();
    for (engine, verdicts) in &run.verdicts {
        match by_counts.iter_mut().find(|(known_verdicts, _)| *known_verdicts == verdicts) {
            Some((_, engines)) => engines.push(engine.to_string()),
            None => by_counts.push((verdicts, vec![engine.to_string()])),
        }
    }
    let told_engines = by_counts.into_iter().map(|(verdicts, engines)| {
        let counts = verdicts.iter().map(|(verdict, count)| format!("{count} {verdict}"));
        let counts: Vec<String> = counts.collect();
        let count_words = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
        format!("{count_words} on {}", engines.join(" and "))
    });
    told_engines.collect::<Vec<_>>().join("; ")
}

fn counted_text(count: usize) -> Text {
    let tone = if count == 0 { Tone::Neutral } else { Tone::Bad };
    Text::plain(count.to_string()).with_tone(tone)
}

fn items_text(items: Option<ItemCounts>) -> Text {
    match items {
        None => Text::quiet("not stored"),
        Some(ItemCounts { standing, accepted: 0 }) => counted_text(standing),
        Some(ItemCounts { standing, accepted }) => {
            counted_text(standing).then_plain(format!(" and {accepted} accepted"))
        }
    }
}

fn share_table(history: &History) -> Table {
    let criteria = history.criteria();
    let caption = "Shares by run: covered obligations of all obligations of the kernels that the run certified, by tests that passed, as in the summary of \
                   each run's own report. A kernel counts once under each of its configurations. Shares of runs with \
                   different measures are not to be compared number by number.";
    let mut table = Table::new(caption)
        .with_column("Run", ColumnAlign::Right)
        .with_column("Kernels", ColumnAlign::Right);
    for criterion in &criteria {
        table = table.with_column(facts::criterion_title(criterion), ColumnAlign::Right);
    }
    for (index, run) in history.runs.iter().enumerate() {
        let mut cells = vec![run_number(index, run), Text::plain(run.kernels.to_string())];
        cells.extend(criteria.iter().map(|criterion| shares_text(run.shares_of(criterion))));
        table.add_row(cells);
    }
    table
}

fn shares_text(shares: Option<&CriterionShares>) -> Text {
    let Some(shares) = shares else { return Text::quiet("not measured") };
    let Some(by_engines) = &shares.by_engines else {
        return Text::quiet("not of every kernel");
    };
    let told_shares = by_engines.iter().map(|(engines, summary)| {
        let undetermined_words = match summary.undetermined {
            0 => String::new(),
            count => format!(", {count} undetermined"),
        };
        let engine_words = match by_engines.len() {
            1 => String::new(),
            _ => format!(" on {}", listed_engines(engines)),
        };
        format!("{}{undetermined_words}{engine_words}", facts::share_in_words(summary))
    });
    Text::plain(told_shares.collect::<Vec<_>>().join("; "))
}

fn listed_engines(engines: &[EngineName]) -> String {
    engines.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

fn measure_table(history: &History, measure_numbers: &[usize]) -> Table {
    let caption = "Measures: settings of a run that its shares depend on, besides kernels, requirements and tests";
    let mut table = Table::new(caption)
        .with_column("Measure", ColumnAlign::Right)
        .columns(&["Runs", "Settings"]);
    let measures = history.measures();
    for (index, measure) in measures.iter().enumerate() {
        let settings = match index.checked_sub(1) {
            None => settings_text(measure),
            Some(earlier_index) => changes_text(measure, measures[earlier_index], index),
        };
        let runs = runs_in_words(measure_numbers, index + 1);
        table.add_row(vec![Text::plain((index + 1).to_string()), Text::plain(runs), settings]);
    }
    table
}

fn settings_text(measure: &RunMeasure) -> Text {
    let settings = measure
        .aspects
        .iter()
        .map(|(aspect, value)| Text::emphasis(format!("{aspect}: ")).then_plain(value.as_str()));
    Text::join(settings, "; ")
}

fn changes_text(measure: &RunMeasure, earlier: &RunMeasure, earlier_number: usize) -> Text {
    let changes = measure.changes_since(earlier).into_iter().map(|(aspect, before, after)| {
        Text::emphasis(format!("{aspect}: ")).then_plain(format!("{after}; before: {before}"))
    });
    Text::plain(format!("As measure {earlier_number}, but for "))
        .followed_by(Text::join(changes, "; "))
}

/// `1 to 3, 5`: the runs with a measure, counted from 1.
fn runs_in_words(measure_numbers: &[usize], wanted_number: usize) -> String {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (index, _) in
        measure_numbers.iter().enumerate().filter(|(_, number)| **number == wanted_number)
    {
        let run_number = index + 1;
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == run_number => *last = run_number,
            Some(_) | None => spans.push((run_number, run_number)),
        }
    }
    let told_spans = spans.into_iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    });
    told_spans.collect::<Vec<_>>().join(", ")
}

/// What looks like a run and is not shown.
fn add_left_out(history: &History, outline: &mut Outline) {
    if !history.left_out.is_empty() {
        let mut table = Table::new("Left out").columns(&["Folder", "Reason"]);
        for run in &history.left_out {
            table.add_row(vec![
                Text::code(run.folder.as_str()),
                Text::plain(run.reason.as_str()).with_tone(Tone::Caution),
            ]);
        }
        outline.add_table(table);
    }
    if history.unsearched_folders > 0 {
        let count_words = plural(
            history.unsearched_folders,
            "folder is too deep to be",
            "folders are too deep to be",
        );
        outline.add_block(Block::Paragraph(
            Text::plain(format!("{count_words} looked into.")).with_tone(Tone::Caution),
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::runs_in_words;

    #[test]
    fn runs_of_a_measure_are_told_as_spans() {
        assert_eq!(runs_in_words(&[1, 1, 1, 2, 1], 1), "1 to 3, 5");
        assert_eq!(runs_in_words(&[1, 1, 1, 2, 1], 2), "4");
    }
}
