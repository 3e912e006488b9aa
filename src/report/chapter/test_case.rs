//! Test cases and procedures without anything that a run left: software verification cases and
//! procedures (DO-178C 11.13.b and c).
//!
//! Promises: each case states its purpose with the texts of the requirements that it verifies, its
//! inputs, its steps, and what makes it pass.
//! Does not cover: review and analysis procedures (11.13.a), which are the applicant's; the chapter
//! names the requirements that need them.

use super::links::{kernel_link, listed_texts, requirement_link, test_link, text_or_none};
use super::members::{self, ContentsOf};
use super::{conduct, contents, procedure, test, test_environment};
use crate::DocumentName;
use crate::document::{Block, Outline, Table, Text, Tone};
use crate::shortened::shortened;
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, RequirementEvidence, TestEvidence};
use vkcert_model::id::RequirementId;
use vkcert_model::procedure::TestKind;
use vkcert_model::requirement::VerificationMethod;

/// Characters of a requirement's statement; the trace data have all of it.
const STATEMENT: usize = 1000;

type RequirementRows<'a> = BTreeMap<&'a str, &'a RequirementEvidence>;

pub(super) fn test_case_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Test cases and procedures", "chapter/tests");
    case_table(evidence, outline);
    other_methods_section(evidence, outline);
    if evidence.campaign.tests.is_empty() {
        return;
    }
    conduct::conduct_sections(evidence, outline);
    outline.add_heading(2, "Test cases in full", "chapter/tests/full");
    outline.add_paragraph(contents::contents_legend(evidence));
    let requirements = evidence.campaign.requirements.iter();
    let requirements: RequirementRows =
        requirements.map(|row| (row.requirement.uid.as_str(), row)).collect();
    let source = procedure::ProcedureSource::of(evidence);
    for (index, test) in evidence.campaign.tests.iter().enumerate() {
        let mut pairs = vec![("Purpose".to_owned(), purpose_text(test))];
        let environment = Text::plain("the test environment").with_link(test_environment::ANCHOR);
        let preconditions = procedure::precondition_text(test, environment);
        pairs.push(("Preconditions".to_owned(), preconditions));
        pairs.extend(test::case_pairs(test));
        pairs.extend(test::file_pairs(test));
        test::test_entry(test, pairs, outline);
        requirement_list(test, &requirements, outline);
        procedure::add_procedure_table(&source, test, outline);
        contents::case_contents_table(evidence, index)
            .into_iter()
            .for_each(|table| outline.add_table(table));
        members::add_member_tables(test, ContentsOf::Case, outline);
    }
}

fn case_table(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Test cases", "chapter/tests/cases");
    let columns = ["Test case", "Title", "Kind", "Requirements", "Kernels"];
    let mut table = Table::new("Every test case").columns(&columns);
    for test in &evidence.campaign.tests {
        table.add_row(vec![
            test_link(&test.id),
            text_or_none(test.title.as_deref().unwrap_or_default()),
            Text::plain(test.kind.to_string()),
            listed_texts(test.requirements.iter().map(requirement_link), Tone::Bad),
            listed_texts(test.kernels.iter().map(kernel_link), Tone::Quiet),
        ]);
    }
    if table.rows.is_empty() {
        outline.add_paragraph(Text::plain("None.").with_tone(Tone::Bad));
    } else {
        outline.add_table(table);
    }
    let left_out = evidence.campaign.tests_not_in_run();
    if !left_out.is_empty() {
        let names = left_out.iter().map(|id| Text::code(id.as_str()));
        outline.add_paragraph(
            Text::plain("Test cases of the project that the evidence was made without; nothing here tells of them: ")
                .followed_by(Text::join(names, ", "))
                .then_plain("."),
        );
    }
}

/// Requirements that tests alone do not verify.
fn other_methods_section(evidence: &Evidence, outline: &mut Outline) {
    let is_by_other_means = |row: &&RequirementEvidence| {
        row.requirement.verification.iter().any(|method| *method != VerificationMethod::Test)
    };
    let requirements = &evidence.campaign.requirements;
    let rows: Vec<&RequirementEvidence> = requirements.iter().filter(is_by_other_means).collect();
    if rows.is_empty() {
        return;
    }
    outline.add_heading(2, "Requirements verified by review or analysis", "chapter/tests/others");
    outline.add_paragraph(
        "The procedures of these reviews and analyses are the applicant's and no part of this document.",
    );
    let mut table = Table::new("Requirements that need more than tests").columns(&[
        "Requirement",
        "Title",
        "Verified by",
    ]);
    for row in rows {
        let methods = row.requirement.verification.iter().map(ToString::to_string);
        table.add_row(vec![
            requirement_link(&row.requirement.uid),
            Text::plain(row.requirement.title.as_str()),
            Text::plain(methods.collect::<Vec<_>>().join(", ")),
        ]);
    }
    outline.add_table(table);
}

fn purpose_text(test: &TestEvidence) -> Text {
    let range_words = match test.kind {
        TestKind::Normal => "in the normal range",
        TestKind::Robustness => "with abnormal inputs or conditions (robustness)",
    };
    let kernels = listed_texts(test.kernels.iter().map(kernel_link), Tone::Quiet);
    let subject = Text::plain(format!("to show {range_words} that ")).followed_by(kernels);
    if test.requirements.is_empty() {
        return subject
            .then_plain(" meets the comparisons below. ")
            .followed_by(Text::plain("It verifies no requirement.").with_tone(Tone::Bad));
    }
    subject.then_plain(" meets the requirements listed below.")
}

/// The requirements with their texts.
fn requirement_list(test: &TestEvidence, rows: &RequirementRows, outline: &mut Outline) {
    if test.requirements.is_empty() {
        return;
    }
    let mut table = Table::new(format!("Requirements that {} verifies", test.id))
        .columns(&["Requirement", "Statement"]);
    for uid in &test.requirements {
        table.add_row(vec![requirement_link(uid), statement_text(uid, rows)]);
    }
    outline.add_block(Block::Table(table));
}

fn statement_text(uid: &RequirementId, rows: &RequirementRows) -> Text {
    let Some(row) = rows.get(uid.as_str()) else {
        return Text::plain("no requirement of the project").with_tone(Tone::Bad);
    };
    let requirement = &row.requirement;
    let statement = shortened(&requirement.statement, STATEMENT);
    let is_whole = statement == requirement.statement;
    let text = Text::emphasis(format!("{}. ", requirement.title)).then_plain(statement);
    if is_whole {
        return text;
    }
    text.followed_by(Text::sentence(format!(
        " (in full in the document `{}`)",
        DocumentName::Trace
    )))
}
