//! Requirements and their trace: requirement to test to code, and back from tests and code to
//! requirements.

use super::links::{kernel_link, listed_texts, requirement_link, test_link};
use super::requirement_tree;
use super::tones::requirement_tone;
use crate::document::{Block, Outline, Table, Text, Tone};
use crate::drawing::tree::trace_drawings;
use crate::facts;
use std::collections::BTreeSet;
use vkcert_model::evidence::{
    CodeTrace, Evidence, KernelText, RequirementEvidence, RequirementStatus, TestEvidence,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::procedure::TestKind;
use vkcert_model::requirement::{ParentLink, VerificationMethod};

pub(super) fn requirement_chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(1, "Requirements and traceability", "chapter/requirements");
    if evidence.campaign.requirements.is_empty() {
        outline.add_paragraph("The project states no requirements.");
        return;
    }
    outline.add_drawings(trace_drawings(evidence));
    forward_trace(evidence, outline);
    suspect_links(evidence, outline);
    records_section(evidence, outline);
    trace_from_tests(evidence, outline);
    trace_from_code(evidence, outline);
    outline.add_heading(2, "Requirements in full", "chapter/requirements/full");
    let robustness = robustness_tests(evidence);
    for requirement in &evidence.campaign.requirements {
        requirement_entry(&robustness, requirement, outline);
    }
}

pub(super) fn status_text(status: RequirementStatus) -> Text {
    let symbol = match status {
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren => "✓",
        RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => "✗",
        RequirementStatus::ByOtherMeans => "·",
    };
    Text::plain(format!("{symbol}\u{a0}{status}")).with_tone(requirement_tone(status))
}

fn forward_trace(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "From requirements to tests and code", "chapter/requirements/forward");
    let trees = requirement_tree::requirement_tree(evidence);
    outline.add_block(Block::Tree { label: "Requirement tree", trees });
    let mut table = Table::new("Requirement to test to code").columns(&[
        "Requirement",
        "Title",
        "Parents",
        "Tests",
        "Code",
        "Status",
    ]);
    let robustness = robustness_tests(evidence);
    for item in &evidence.campaign.requirements {
        let requirement = &item.requirement;
        table.add_row(vec![
            requirement_link(&requirement.uid),
            Text::plain(requirement.title.as_str()),
            if requirement.derived {
                Text::quiet("derived")
            } else {
                listed_texts(
                    requirement.parents.iter().map(|parent| requirement_link(&parent.uid)),
                    Tone::Quiet,
                )
            },
            test_links(&robustness, item),
            listed_texts(item.code.iter().map(|trace| implementing_code(item, trace)), Tone::Quiet),
            status_text(item.status),
        ]);
    }
    outline.add_table(table);
}

fn robustness_tests(evidence: &Evidence) -> BTreeSet<TestId> {
    let of_kind = |test: &&TestEvidence| test.definition.kind == TestKind::Robustness;
    evidence.campaign.tests.iter().filter(of_kind).map(|test| test.id).collect()
}

/// Its tests, those of robustness behind the others; those that were left out are no links, because
/// nothing stands behind them.
fn test_links(robustness: &BTreeSet<TestId>, item: &RequirementEvidence) -> Text {
    let (robustness_tests, normal_tests): (Vec<&TestId>, Vec<&TestId>) =
        item.tests.iter().partition(|id| robustness.contains(id));
    let left_out = item
        .left_out_tests
        .iter()
        .map(|id| Text::plain(format!("{id} (left out)")).with_tone(Tone::Bad));
    let normal_tests = Text::join(normal_tests.into_iter().map(test_link).chain(left_out), ", ");
    let robustness_tests = Text::join(robustness_tests.into_iter().map(test_link), ", ");
    match (normal_tests.0.is_empty(), robustness_tests.0.is_empty()) {
        (true, true) => Text::plain("none").with_tone(Tone::Quiet),
        (false, true) => normal_tests,
        (true, false) => Text::plain("robustness: ").followed_by(robustness_tests),
        (false, false) => normal_tests.then_plain("; robustness: ").followed_by(robustness_tests),
    }
}

/// A link to a parent, and what is known of it since it was reviewed.
fn parent_link(item: &RequirementEvidence, link: &ParentLink) -> Text {
    let link_state = match (item.suspect_parents.contains(&link.uid), &link.hash) {
        (true, _) => Text::plain(" (suspect)").with_tone(Tone::Bad),
        (false, None) => Text::plain(" (not pinned)").with_tone(Tone::Caution),
        (false, Some(_)) => Text::quiet(" (pinned)"),
    };
    requirement_link(&link.uid).followed_by(link_state)
}

fn code_trace_text(trace: &CodeTrace) -> Text {
    let line_words = trace.line.map(|line| format!(":{line}")).unwrap_or_default();
    let symbol_words = trace.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    let mut code_text = Text::code(format!("{}{line_words}{symbol_words}", trace.file));
    if !trace.kernels.is_empty() {
        let kernel_names: Vec<&str> = trace.kernels.iter().map(KernelName::as_str).collect();
        code_text = code_text.then_plain(format!(" of {}", kernel_names.join(", ")));
    }
    if trace.found {
        code_text
    } else {
        code_text.with_tone(Tone::Bad).followed_by(Text::plain(" (not found)").with_tone(Tone::Bad))
    }
}

/// Code that a requirement names, with what its tests leave out of it.
pub(super) fn implementing_code(item: &RequirementEvidence, trace: &CodeTrace) -> Text {
    let mut code_text = code_trace_text(trace);
    if item.untested_code.contains(&trace.link()) {
        code_text = code_text.followed_by(
            Text::plain(" (no test of the requirement that passed judges it)").with_tone(Tone::Bad),
        );
    }
    let other_kernels = item
        .untested_kernels
        .iter()
        .filter(|row| (&row.file, &row.symbol) == (&trace.file, &trace.symbol));
    for row in other_kernels {
        let (comparison_words, tone) = match (row.text, &row.unread) {
            (KernelText::Same, _) => ("which has the same text".to_owned(), Tone::Caution),
            (KernelText::Other, _) => ("which has other text".to_owned(), Tone::Bad),
            (KernelText::Unread, None) => {
                ("whose text could not be compared".to_owned(), Tone::Bad)
            }
            (KernelText::Unread, Some(what)) => {
                (format!("whose text could not be compared: {what} could not be read"), Tone::Bad)
            }
        };
        code_text = code_text.followed_by(
            Text::plain(format!(" (not judged in {}, {comparison_words})", row.kernel))
                .with_tone(tone),
        );
    }
    code_text
}

fn suspect_links(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "Suspect links", "chapter/requirements/suspect");
    let suspects: Vec<_> =
        evidence.campaign.requirements.iter().filter(|r| !r.suspect_parents.is_empty()).collect();
    if suspects.is_empty() {
        let all_links =
            || evidence.campaign.requirements.iter().flat_map(|row| &row.requirement.parents);
        let (link_count, unpinned_count) =
            (all_links().count(), all_links().filter(|link| link.hash.is_none()).count());
        outline.add_paragraph(match (link_count, unpinned_count) {
            (0, _) => "None: there are no links between requirements.".to_owned(),
            (_, 0) => "None: no parent requirement has changed since a link to it was reviewed.".to_owned(),
            (link_count, unpinned_count) if link_count == unpinned_count => {
                format!("Not known: {unpinned_count} of {link_count} links are not pinned, so that no change of a parent can be seen.")
            }
            (link_count, unpinned_count) => format!(
                "None of the {} pinned links is suspect. Whether the parents of the other {unpinned_count} (of {link_count}) have changed since \
                 these links were reviewed is not known: they are not pinned.",
                link_count - unpinned_count
            ),
        });
        return;
    }
    outline.add_paragraph(
        "The parent has changed since the link was reviewed. The link must be reviewed again.",
    );
    let mut table =
        Table::new("Suspect links").columns(&["Requirement", "Suspect parents", "File"]);
    for item in suspects {
        table.add_row(vec![
            requirement_link(&item.requirement.uid),
            listed_texts(item.suspect_parents.iter().map(requirement_link), Tone::Quiet)
                .with_tone(Tone::Bad),
            Text::code(item.file.as_str()),
        ]);
    }
    outline.add_table(table);
}

/// Records of verification by analysis and review.
fn records_section(evidence: &Evidence, outline: &mut Outline) {
    if evidence.campaign.records.is_empty() {
        return;
    }
    outline.add_heading(2, "Records of analysis and review", "chapter/requirements/records");
    let mut table = Table::new("Records of analysis and review").columns(&[
        "Requirement",
        "Method",
        "Document",
        "Author",
        "Reviewer",
        "Accepted",
    ]);
    for row in &evidence.campaign.records {
        let accepted_text = match &row.rejected {
            None => Text::plain("✓\u{a0}yes").with_tone(Tone::Good),
            Some(reason) => Text::plain("✗\u{a0}no: ")
                .followed_by(Text::sentence(reason.as_str()))
                .with_tone(Tone::Bad),
        };
        table.add_row(vec![
            requirement_link(&row.record.requirement),
            Text::plain(row.method.to_string()),
            Text::plain(format!("{}, {}", row.record.document, row.record.section)),
            Text::plain(row.record.author.as_str()),
            Text::plain(row.record.reviewer.as_str()),
            accepted_text,
        ]);
    }
    outline.add_table(table);
    let record_count = evidence.campaign.records.len();
    outline.add_paragraph(format!(
        "A record is accepted for the content of its requirement. Its document is pinned by no hash ({record_count} of {record_count} records), and \
         this tool has not read it: whether it exists and says what the record claims is for the reviewer."
    ));
}

fn trace_from_tests(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "From tests to requirements", "chapter/requirements/from-tests");
    let mut table = Table::new("Test to requirement").columns(&[
        "Test case",
        "Kind",
        "Requirements",
        "Kernels",
        "File",
    ]);
    for test in &evidence.campaign.tests {
        table.add_row(vec![
            test_link(&test.id),
            Text::plain(test.kind.to_string()),
            listed_texts(test.requirements.iter().map(requirement_link), Tone::Bad),
            listed_texts(test.kernels.iter().map(kernel_link), Tone::Quiet),
            Text::code(test.file.as_str()),
        ]);
    }
    outline.add_table(table);
}

fn trace_from_code(evidence: &Evidence, outline: &mut Outline) {
    outline.add_heading(2, "From code to requirements", "chapter/requirements/from-code");
    let mut table = Table::new("Function to requirement").columns(&[
        "Function",
        "Place",
        "Kernels",
        "Requirements",
    ]);
    for row in facts::code_rows(evidence) {
        table.add_row(vec![
            Text::code(row.function),
            Text::code(format!("{}:{}", row.file, row.line)),
            listed_texts(row.kernels.iter().map(|name| kernel_link(name)), Tone::Quiet),
            listed_texts(row.requirements.iter().map(|uid| requirement_link(uid)), Tone::Caution),
        ]);
    }
    outline.add_table(table);
    outline.add_paragraph(Text::quiet(
        "A function that no requirement names is reached through one that a requirement names, or is code without \
         a requirement; the reviewer decides which.",
    ));
}

fn requirement_entry(
    robustness: &BTreeSet<TestId>,
    item: &RequirementEvidence,
    outline: &mut Outline,
) {
    let requirement = &item.requirement;
    let heading = outline.numbered_heading(
        3,
        Text::plain(format!("{}: {}", requirement.uid, requirement.title)),
        format!("requirement/{}", requirement.uid),
    );
    let listed_methods = |methods: &[VerificationMethod]| {
        methods.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut requirement_pairs = vec![
        ("Level".into(), Text::plain(requirement.level.to_string())),
        ("Statement".into(), Text::plain(requirement.statement.as_str())),
    ];
    if let Some(rationale_words) = &requirement.rationale {
        requirement_pairs.push(("Rationale".into(), Text::plain(rationale_words.as_str())));
    }
    if requirement.derived {
        let rationale_words =
            requirement.safety_rationale.as_deref().unwrap_or("no safety rationale");
        requirement_pairs.push(("Derived".into(), Text::plain(rationale_words)));
    }
    if !requirement.parents.is_empty() {
        requirement_pairs.push((
            "Parents".into(),
            listed_texts(
                requirement.parents.iter().map(|link| parent_link(item, link)),
                Tone::Quiet,
            ),
        ));
    }
    if !item.children.is_empty() {
        requirement_pairs.push((
            "Children".into(),
            listed_texts(item.children.iter().map(requirement_link), Tone::Quiet),
        ));
    }
    requirement_pairs
        .push(("Verification".into(), Text::plain(listed_methods(&requirement.verification))));
    if !item.open.is_empty() {
        requirement_pairs
            .push(("Open".into(), Text::plain(listed_methods(&item.open)).with_tone(Tone::Bad)));
    }
    requirement_pairs.push(("Tests".into(), test_links(robustness, item)));
    requirement_pairs.push((
        "Implemented by".into(),
        listed_texts(item.code.iter().map(|trace| implementing_code(item, trace)), Tone::Quiet),
    ));
    requirement_pairs.push(("Status".into(), status_text(item.status)));
    requirement_pairs.push(("File".into(), Text::code(item.file.as_str())));
    requirement_pairs.push(("Hash".into(), Text::code(item.hash.as_str())));
    outline.add_block(Block::Together(vec![heading, Block::Pairs(requirement_pairs)]));
}
