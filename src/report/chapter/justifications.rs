//! The justifications that were given, each with the place and text of what it is of.
//!
//! Promises: rejected ones and those that were not judged are listed, too. Does not cover: whether a
//! reason is a good one.

use super::links::kernel_link;
use super::mutation;
use crate::document::{Block, Outline, Text, Tone};
use crate::statement::counted;
use crate::{facts, statement};
use std::collections::BTreeMap;
use vkcert_model::evidence::{Evidence, JustificationEvidence};
use vkcert_model::requirement::{JustificationClass, JustificationSubject};

/// Where an obligation stands, and its text.
struct JustifiedCode {
    place: String,
    text: String,
}

/// By kernel and obligation as printed. Engines and configurations tell the same of a place.
type JustifiedCodes<'a> = BTreeMap<(&'a str, String), JustifiedCode>;

pub(super) fn justifications_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Justifications", "chapter/justifications");
    let all_justifications = &evidence.campaign.justifications;
    if all_justifications.is_empty() {
        outline.add_paragraph("None were given.");
        return;
    }
    if evidence.campaign.project.level.needs_other_approver() {
        outline.add_paragraph(statement::people::NAMES_AS_STATED);
    }
    let codes = justified_codes(evidence);
    let (of_mutants, others): (Vec<&JustificationEvidence>, Vec<&JustificationEvidence>) =
        all_justifications.iter().partition(|item| item.is_of_mutant());
    if !of_mutants.is_empty() {
        outline.add_paragraph(mutants_in_brief(evidence, &of_mutants));
    }
    let rejected_of_mutants = of_mutants.into_iter().filter(|item| item.rejected.is_some());
    for item in others.into_iter().chain(rejected_of_mutants) {
        let justification = &item.justification;
        let configuration_words = justification.configuration.as_ref();
        let configuration_words =
            configuration_words.map(|name| format!(", configuration {name}")).unwrap_or_default();
        outline.add_block(Block::Together(vec![
            Block::Paragraph(
                Text::strong(justification.subject.to_string())
                    .then_plain(" of kernel ")
                    .followed_by(kernel_link(&justification.kernel))
                    .then_plain(configuration_words)
                    .then_plain(format!(": {}. ", class_words(justification.class)))
                    .followed_by(state_text(item)),
            ),
            Block::Pairs(stated_pairs(item, &codes)),
        ]));
    }
}

/// How many justifications are of mutants; those that are accepted stand with their mutants.
fn mutants_in_brief(evidence: &Evidence, items: &[&JustificationEvidence]) -> Text {
    let rejected = items.iter().filter(|item| item.rejected.is_some()).count();
    let not_judged = items.iter().filter(|item| item.not_judged.is_some()).count();
    let accepted = items.len() - rejected - not_judged;
    let verb = if items.len() == 1 { "is" } else { "are" };
    let counts = format!(
        "{} {verb} of mutants: {accepted} accepted, {rejected} rejected, {not_judged} not judged. ",
        counted(items.len(), "justification")
    );
    let place = match &evidence.campaign.mutation {
        Some(_) => Text::plain("Those that are accepted stand with their mutants: ")
            .followed_by(Text::plain("Mutation testing").with_link(mutation::ANCHOR))
            .then_plain("."),
        None => Text::plain("Mutants were not asked for (--mutation)."),
    };
    Text::plain(counts).followed_by(place)
}

/// What justifications can be of: what no test covers, justified or not.
fn justified_codes(evidence: &Evidence) -> JustifiedCodes<'_> {
    facts::justified_obligations(evidence)
        .into_iter()
        .chain(facts::uncovered_obligations(evidence))
        .map(|obligation| {
            let place = format!("{}:{}:{}", obligation.file, obligation.line, obligation.column);
            let code = JustifiedCode { place, text: obligation.shown_text().into_owned() };
            ((obligation.unit.kernel.as_str(), obligation.obligation), code)
        })
        .collect()
}

fn state_text(item: &JustificationEvidence) -> Text {
    match (&item.rejected, &item.not_judged) {
        (Some(reason), _) => {
            Text::strong("✗ rejected").with_tone(Tone::Bad).then_plain(format!(": {reason}"))
        }
        (None, Some(reason)) => {
            Text::plain("– not judged").with_tone(Tone::Caution).then_plain(format!(": {reason}"))
        }
        (None, None) => Text::plain("✓ accepted").with_tone(Tone::Good),
    }
}

/// What a justification is of and what it states, with names.
fn stated_pairs(item: &JustificationEvidence, codes: &JustifiedCodes) -> Vec<(String, Text)> {
    let justification = &item.justification;
    let category_words = justification.category.map(|category| category.to_string());
    let optional_pairs = [
        ("Meant to run", category_words.as_deref()),
        ("Means", justification.means.as_deref()),
        ("Argument", justification.argument.as_deref()),
    ];
    let optional_pairs = optional_pairs
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_owned(), Text::plain(text?))));
    let signed_pairs = [
        ("Author".to_owned(), Text::plain(justification.author.as_str())),
        ("Approver".to_owned(), Text::plain(justification.approver.as_str())),
        ("Date".to_owned(), date_text(justification.date.as_deref())),
        ("File".to_owned(), Text::code(item.file.as_str())),
        ("Hash".to_owned(), Text::code(justification.hash.as_str())),
    ];
    let reason_pair = ("Reason".to_owned(), Text::plain(justification.reason.as_str()));
    code_pairs(item, codes)
        .into_iter()
        .chain([reason_pair])
        .chain(optional_pairs)
        .chain(signed_pairs)
        .collect()
}

/// Place and text of the obligation. The name of a finding tells its place itself, and a
/// justification of what is covered or unknown is rejected with words that say so.
fn code_pairs(item: &JustificationEvidence, codes: &JustifiedCodes) -> Vec<(String, Text)> {
    let JustificationSubject::Obligation(obligation) = &item.justification.subject else {
        return Vec::new();
    };
    let kernel = item.justification.kernel.as_str();
    let printed_id = obligation.to_string();
    // `D3.C1.masking` is of the condition `D3.C1`.
    let condition_id = printed_id.rsplit_once('.').map_or("", |(condition, _)| condition);
    let condition_code = || codes.get(&(kernel, condition_id.to_owned()));
    let code = codes.get(&(kernel, printed_id.clone())).or_else(condition_code);
    code.map_or_else(Vec::new, |code| {
        vec![
            ("Place".to_owned(), Text::code(code.place.as_str())),
            ("Text".to_owned(), Text::code(code.text.as_str())),
        ]
    })
}

fn date_text(date: Option<&str>) -> Text {
    date.map_or_else(|| Text::quiet("not stated"), Text::plain)
}

pub(super) fn class_words(class: JustificationClass) -> &'static str {
    if class == JustificationClass::Analysis { "shown by analysis" } else { class.in_words() }
}
