//! Tests: what each judges, and what came of it on every engine, with the first mismatches.
//!
//! Does not cover: the steps of a test (`procedure`), test cases without results (`test_case`).

use super::document_control::stated_text;
use super::links::{kernel_link, listed_texts, requirement_link, test_link, text_or_none};
use super::members::{self, ContentsOf};
use super::tones::verdict_tone;
use super::{conduct, contents, pictures, procedure};
use crate::DocumentName;
use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::expectation;
use crate::facts::{self, Failure};
use vkcert_model::altered::Alteration;
use vkcert_model::evidence::{Evidence, TestEvidence, TestResult};
use vkcert_model::judged::JudgedMember;
use vkcert_model::verdict::Verdict;

/// Mismatches printed per test and engine; a project's own limit of stored ones is below it, unless
/// it raises that.
const MISMATCHES: usize = 64;

/// What the chapter holds of each test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestPart {
    /// Its procedure in steps and its results.
    CasesAndResults,
    /// Its results; the procedure stands in another document.
    Results,
}

pub(super) fn test_chapter(evidence: &Evidence, part: TestPart, outline: &mut Outline) {
    outline.add_heading(1, "Tests", "chapter/tests");
    results_table(evidence, outline);
    if !evidence.campaign.tests.is_empty() && part == TestPart::CasesAndResults {
        conduct::conduct_sections(evidence, outline);
    }
    let title = match part {
        TestPart::CasesAndResults => "Test cases in full",
        TestPart::Results => "Results in full",
    };
    outline.add_heading(2, title, "chapter/tests/full");
    if !evidence.campaign.tests.is_empty() {
        if part == TestPart::Results {
            outline.add_paragraph(Text::sentence(format!(
                "The steps of each procedure stand in the document `{}` of the same evidence.",
                DocumentName::Svcp
            )));
        }
        outline.add_paragraph(contents::contents_legend(evidence));
        outline.add_paragraph(altered_legend());
    }
    let pictured_tests = pictures::pictured_tests(evidence, outline);
    let procedures =
        (part == TestPart::CasesAndResults).then(|| procedure::ProcedureSource::of(evidence));
    outline.add_parts(0..evidence.campaign.tests.len(), |index, outline| {
        let test = &evidence.campaign.tests[index];
        add_test(evidence, index, procedures.as_ref(), outline);
        if pictured_tests.contains(&index) {
            pictures::picture_blocks(test, outline);
        }
        let failures = facts::merged_failures(test);
        failures
            .iter()
            .filter(|failure| !failure.mismatches.is_empty())
            .for_each(|failure| mismatch_table(test, failure, outline));
    });
}

/// A test but for its pictures and mismatches, with its steps where they belong to the document.
fn add_test(
    evidence: &Evidence,
    index: usize,
    procedures: Option<&procedure::ProcedureSource>,
    outline: &mut Outline,
) {
    let test = &evidence.campaign.tests[index];
    let requirements = listed_texts(test.requirements.iter().map(requirement_link), Tone::Bad);
    let pairs = std::iter::once(("Requirements".to_owned(), requirements));
    let pairs = pairs.chain(case_pairs(test)).chain(expectation_pairs(test));
    let pairs = pairs.chain(result_pairs(test));
    let pairs = pairs.chain(difference_pairs(test)).chain(file_pairs(test));
    test_entry(test, pairs.collect(), outline);
    if let Some(source) = procedures {
        procedure::add_procedure_table(source, test, outline);
    }
    let contents = contents::contents_table(evidence, index);
    contents.into_iter().for_each(|table| outline.add_table(table));
    members::add_member_tables(test, ContentsOf::Results, outline);
}

fn results_table(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Results", "chapter/tests/results");
    let engines: Vec<_> = evidence.campaign.engines.iter().map(|engine| engine.engine).collect();
    let mut table = Table::new("Verdict of every test on every engine").columns(&[
        "Test case",
        "Title",
        "Kind",
    ]);
    for engine in &engines {
        table = table.with_column(engine.to_string(), ColumnAlign::Left);
    }
    for test in &evidence.campaign.tests {
        let title = text_or_none(test.title.as_deref().unwrap_or_default());
        let mut cells = vec![test_link(&test.id), title, Text::plain(test.kind.to_string())];
        for engine in &engines {
            cells.push(match facts::result_on(test, *engine) {
                None => verdict_text(Verdict::NotRun),
                Some(result) => {
                    let stand = result.findings.iter().filter(|finding| finding.stands()).count();
                    let count = match stand {
                        0 => String::new(),
                        1 => ", 1 finding".to_owned(),
                        n => format!(", {n} findings"),
                    };
                    let accepted = match result.findings.len() - stand {
                        0 => String::new(),
                        n => format!(", {n} accepted"),
                    };
                    let in_part = if judges_in_part(result) { ", judges in part" } else { "" };
                    let cautions = Text::plain(accepted + in_part).with_tone(Tone::Caution);
                    verdict_text(result.verdict)
                        .followed_by(Text::plain(count).with_tone(Tone::Bad))
                        .followed_by(cautions)
                }
            });
        }
        table.add_row(cells);
    }
    outline.add_table(table);
    let results = || evidence.campaign.tests.iter().flat_map(|test| &test.results);
    if results().any(judges_in_part) {
        outline.add_paragraph(
            "Judges in part: the test stores elements that none of its expectations judges, or has expectations that judge nothing; \
             its entry below names them.",
        );
    }
}

pub(super) fn verdict_text(verdict: Verdict) -> Text {
    let tone = verdict_tone(verdict);
    let symbol = match tone {
        Tone::Good => "✓",
        Tone::Bad => "✗",
        Tone::Caution | Tone::Neutral | Tone::Quiet => "·",
    };
    Text::plain(format!("{symbol}\u{a0}{verdict}")).with_tone(tone)
}

pub(super) fn test_entry(test: &TestEvidence, pairs: Vec<(String, Text)>, outline: &mut Outline) {
    let title = test.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
    let heading = outline.numbered_heading(
        3,
        Text::plain(format!("{}{title}", test.id)),
        format!("test/{}", test.id),
    );
    outline.add_block(Block::Together(vec![heading, Block::Pairs(pairs)]));
}

/// What a test is, before any run.
pub(super) fn case_pairs(test: &TestEvidence) -> Vec<(String, Text)> {
    let mut pairs = vec![
        ("Kernels".into(), listed_texts(test.kernels.iter().map(kernel_link), Tone::Quiet)),
        ("Kind".into(), Text::plain(test.kind.to_string())),
    ];
    let people = [("Author", &test.definition.author), ("Reviewer", &test.definition.reviewer)];
    let given_people = people.into_iter().filter_map(|(role, name)| Some((role, name.as_ref()?)));
    pairs.extend(given_people.map(|(role, name)| (role.to_owned(), stated_text(name))));
    pairs
}

fn result_pairs(test: &TestEvidence) -> Vec<(String, Text)> {
    let mut pairs = Vec::new();
    for result in &test.results {
        let reason = result.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let result_text = verdict_text(result.verdict).followed_by(Text::sentence(reason));
        pairs.push((format!("Result, {}", result.engine), result_text));
        pairs.push((format!("Runs, {}", result.engine), Text::plain(runs_in_words(result))));
        if let Some(schedule) = &result.schedule {
            pairs.push((format!("Schedule, {}", result.engine), Text::plain(schedule.to_string())));
        }
        if let Some(schedules) = &result.schedules {
            pairs.push((format!("Orders, {}", result.engine), Text::plain(schedules.to_string())));
        }
        for directed in &result.directed {
            pairs.push((format!("Directed, {}", result.engine), Text::plain(directed.to_string())));
        }
        for altered in &result.altered {
            pairs.push((format!("Altered, {}", result.engine), Text::plain(altered.to_string())));
        }
        pairs.extend(judged_parts(result));
        if result.rests_on_undefined {
            let text = "the test passes by an undefined value: with others it does not, or does not complete";
            pairs.push((
                format!("Undefined, {}", result.engine),
                Text::plain(text).with_tone(Tone::Caution),
            ));
        }
        if !result.left_open.is_empty() {
            pairs.push((
                format!("Left open, {}", result.engine),
                Text::sentence(result.left_open.join("; ")),
            ));
        }
    }
    pairs
}

/// How far outputs lie from the values expected.
fn difference_pairs(test: &TestEvidence) -> Vec<(String, Text)> {
    let number = |index: usize| match test.expected.len() {
        1 => String::new(),
        _ => format!(" {}", index + 1),
    };
    let differences = facts::differences_in_words(test).into_iter();
    let pair = |told: facts::ToldDifference| {
        let engines = told.engines.join(" and ");
        let name = format!("Difference{}, {engines}", number(told.expectation));
        (name, Text::plain(told.words))
    };
    differences.map(pair).collect()
}

/// Where a test is written down.
pub(super) fn file_pairs(test: &TestEvidence) -> [(String, Text); 2] {
    [
        ("File".into(), Text::code(test.file.as_str())),
        ("Hash".into(), Text::code(test.hash.as_str())),
    ]
}

/// Whether a test that passed stores elements that it does not judge, or has expectations that
/// judge nothing.
fn judges_in_part(result: &TestResult) -> bool {
    result.verdict == Verdict::Pass && !judged_parts(result).is_empty()
}

/// What a test that passed does not judge of what its kernels store, and which of its expectations
/// judge nothing.
fn judged_parts(result: &TestResult) -> Vec<(String, Text)> {
    let is_array = |row: &JudgedMember| {
        let mut rows = result
            .judged
            .iter()
            .filter(|other| (&other.kernel, &other.place) == (&row.kernel, &row.place));
        rows.any(|other| other.array_index > 0)
    };
    let in_part = result.judged.iter().filter(|row| row.judged < row.stored);
    let row_words = |row: &JudgedMember| {
        let place = row.place_in_words(is_array(row));
        format!(
            "{} ({place}): at most {} of {} stored elements",
            row.kernel, row.judged, row.stored
        )
    };
    let rows: Vec<String> = in_part.map(row_words).collect();
    let mut told = Vec::new();
    if !rows.is_empty() {
        told.push((format!("Judged in part, {}", result.engine), Text::sentence(rows.join("; "))));
    }
    if !result.idle.is_empty() {
        let numbers: Vec<String> =
            result.idle.iter().map(|number| (u64::from(*number) + 1).to_string()).collect();
        let sentence = format!(
            "none of the tried alterations makes these expectations fail: {}",
            numbers.join(", ")
        );
        told.push((format!("Judge nothing, {}", result.engine), Text::sentence(sentence)));
    }
    told
}

/// What the entries on altered contents say.
fn altered_legend() -> String {
    let ways: Vec<String> = Alteration::ALL.iter().map(ToString::to_string).collect();
    format!(
        "Altered: after the test had passed on the sequential engine, what its kernels had stored was replaced by something else \
         ({}; of a size like that of the values at hand) and the test judged again. “Fails where its stores are …” names the first \
         alteration that the test does not pass: its expectations depend on what the kernel stores. It does not show that they are \
         the right ones, or as narrow as they should be. A test that passes with every alteration tried covers nothing of the kernel.",
        ways.join(", ")
    )
}

/// An entry per expectation.
fn expectation_pairs(test: &TestEvidence) -> Vec<(String, Text)> {
    let entries = expectation::expectations_in_words(test);
    if entries.is_empty() {
        let nothing = Text::plain("nothing is judged: completing is a pass").with_tone(Tone::Bad);
        return vec![("Expected".to_owned(), nothing)];
    }
    let name = |index: usize| match entries.len() {
        1 => "Expected".to_owned(),
        _ => format!("Expected {}", index + 1),
    };
    entries
        .iter()
        .enumerate()
        .map(|(index, entry)| (name(index), Text::sentence(entry.as_str())))
        .collect()
}

/// How often production ran, and in how many other schedules.
fn runs_in_words(result: &TestResult) -> String {
    let times = match result.repetitions {
        0 => "none recorded".to_owned(),
        1 => "1".to_owned(),
        times => format!("{times} repetitions"),
    };
    match result.schedules.as_ref().map_or(0, |schedules| schedules.ran.len()) {
        0 => format!("{times}; no other schedule"),
        1 => format!("{times}; 1 other schedule"),
        count => format!("{times}; {count} other schedules"),
    }
}

fn mismatch_table(test: &TestEvidence, failure: &Failure, outline: &mut Outline) {
    let (stored, shown) = (failure.mismatches.len(), failure.mismatches.len().min(MISMATCHES));
    let engines = failure.engines.join(" and ");
    let all =
        failure.reason.map(|reason| format!("In all on {engines}: {reason}. ")).unwrap_or_default();
    let shown_words = if shown < stored {
        format!("The evidence stores the first {stored}; shown here: {shown}.")
    } else {
        format!("All that the evidence stores: the first {stored}.")
    };
    let sentence = format!("{all}{shown_words}");
    outline.add_paragraph(Text::sentence(sentence));
    let mut table = Table::new(format!("{} on {engines}: elements that do not match", test.id))
        .with_column("Buffer", ColumnAlign::Left)
        .with_column("Place", ColumnAlign::Left)
        .with_column("Expected", ColumnAlign::Right)
        .with_column("Actual", ColumnAlign::Right)
        .with_column("Bits", ColumnAlign::Right);
    for mismatch in failure.mismatches.iter().take(MISMATCHES) {
        table.add_row(vec![
            Text::code(mismatch.buffer.as_str()),
            Text::code(mismatch.place()),
            Text::code(value_in_words(&mismatch.expected)),
            Text::code(value_in_words(&mismatch.actual)),
            Text::code(mismatch.bits.as_str()),
        ]);
    }
    outline.add_table(table);
}

fn value_in_words(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
