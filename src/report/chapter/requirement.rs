//! Requirements and their trace: requirement to test to code, and back from tests and code to
//! requirements.

use super::links::{kernel_link, listed, requirement_link, test_link};
use super::tones::requirement_tone;
use crate::document::{Block, Outline, Table, Text, Tone};
use crate::facts;
use vkcert_model::evidence::{
    CodeTrace, Evidence, KernelText, RequirementEvidence, RequirementStatus, TestEvidence,
};
use vkcert_model::id::{KernelName, TestId};
use vkcert_model::procedure::TestKind;
use vkcert_model::requirement::{ParentLink, VerificationMethod};

pub(super) fn chapter(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(1, "Requirements and traceability", "chapter/requirements");
    if evidence.campaign.requirements.is_empty() {
        outline.paragraph("The project states no requirements.");
        return;
    }
    forward(evidence, outline);
    suspect(evidence, outline);
    records(evidence, outline);
    from_tests(evidence, outline);
    from_code(evidence, outline);
    outline.heading(2, "Requirements in full", "chapter/requirements/full");
    for requirement in &evidence.campaign.requirements {
        full(evidence, requirement, outline);
    }
}

fn status(status: RequirementStatus) -> Text {
    let symbol = match status {
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren => "✓",
        RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => "✗",
        RequirementStatus::ByOtherMeans => "·",
    };
    Text::plain(format!("{symbol}\u{a0}{status}")).tone(requirement_tone(status))
}

fn forward(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "From requirements to tests and code", "chapter/requirements/forward");
    let mut table = Table::new("Requirement to test to code").columns(&[
        "Requirement",
        "Title",
        "Parents",
        "Tests",
        "Code",
        "Status",
    ]);
    for item in &evidence.campaign.requirements {
        let requirement = &item.requirement;
        table.row(vec![
            requirement_link(&requirement.uid),
            Text::plain(requirement.title.as_str()),
            if requirement.derived {
                Text::quiet("derived")
            } else {
                listed(
                    requirement.parents.iter().map(|parent| requirement_link(&parent.uid)),
                    Tone::Quiet,
                )
            },
            tests(evidence, item),
            listed(item.code.iter().map(|trace| implementing(item, trace)), Tone::Quiet),
            status(item.status),
        ]);
    }
    outline.table(table);
}

/// Its tests, those of robustness behind the others; those that were left out are no links, because
/// nothing stands behind them.
fn tests(evidence: &Evidence, item: &RequirementEvidence) -> Text {
    let is_robustness = |id: &TestId| {
        let of_kind = |test: &&TestEvidence| test.definition.kind == TestKind::Robustness;
        evidence.campaign.tests.iter().filter(of_kind).any(|test| test.id == *id)
    };
    let (robustness, normal): (Vec<&TestId>, Vec<&TestId>) =
        item.tests.iter().partition(|id| is_robustness(id));
    let left_out = item
        .left_out_tests
        .iter()
        .map(|id| Text::plain(format!("{id} (left out)")).tone(Tone::Bad));
    let normal = Text::join(normal.into_iter().map(test_link).chain(left_out), ", ");
    let robustness = Text::join(robustness.into_iter().map(test_link), ", ");
    match (normal.0.is_empty(), robustness.0.is_empty()) {
        (true, true) => Text::plain("none").tone(Tone::Quiet),
        (false, true) => normal,
        (true, false) => Text::plain("robustness: ").and(robustness),
        (false, false) => normal.then("; robustness: ").and(robustness),
    }
}

/// A link to a parent, and what is known of it since it was reviewed.
fn parent(item: &RequirementEvidence, link: &ParentLink) -> Text {
    let state = match (item.suspect_parents.contains(&link.uid), &link.hash) {
        (true, _) => Text::plain(" (suspect)").tone(Tone::Bad),
        (false, None) => Text::plain(" (not pinned)").tone(Tone::Caution),
        (false, Some(_)) => Text::quiet(" (pinned)"),
    };
    requirement_link(&link.uid).and(state)
}

fn code(trace: &CodeTrace) -> Text {
    let line = trace.line.map(|line| format!(":{line}")).unwrap_or_default();
    let symbol = trace.symbol.as_ref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    let mut text = Text::code(format!("{}{line}{symbol}", trace.file));
    if !trace.kernels.is_empty() {
        let kernels: Vec<&str> = trace.kernels.iter().map(KernelName::as_str).collect();
        text = text.then(format!(" of {}", kernels.join(", ")));
    }
    if trace.found {
        text
    } else {
        text.tone(Tone::Bad).and(Text::plain(" (not found)").tone(Tone::Bad))
    }
}

/// Code that a requirement names, with what its tests leave out of it.
fn implementing(item: &RequirementEvidence, trace: &CodeTrace) -> Text {
    let mut text = code(trace);
    if item.untested_code.contains(&trace.link()) {
        text = text.and(Text::plain(" (no test of the requirement judges it)").tone(Tone::Bad));
    }
    let elsewhere = item
        .untested_kernels
        .iter()
        .filter(|row| (&row.file, &row.symbol) == (&trace.file, &trace.symbol));
    for row in elsewhere {
        let (words, tone) = match (row.text, &row.unread) {
            (KernelText::Same, _) => ("which has the same text".to_owned(), Tone::Caution),
            (KernelText::Other, _) => ("which has other text".to_owned(), Tone::Bad),
            (KernelText::Unread, None) => {
                ("whose text could not be compared".to_owned(), Tone::Bad)
            }
            (KernelText::Unread, Some(what)) => {
                (format!("whose text could not be compared: {what} could not be read"), Tone::Bad)
            }
        };
        text =
            text.and(Text::plain(format!(" (not judged in {}, {words})", row.kernel)).tone(tone));
    }
    text
}

fn suspect(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "Suspect links", "chapter/requirements/suspect");
    let suspects: Vec<_> =
        evidence.campaign.requirements.iter().filter(|r| !r.suspect_parents.is_empty()).collect();
    if suspects.is_empty() {
        let links =
            || evidence.campaign.requirements.iter().flat_map(|row| &row.requirement.parents);
        let (all, open) = (links().count(), links().filter(|link| link.hash.is_none()).count());
        outline.paragraph(match (all, open) {
            (0, _) => "None: there are no links between requirements.".to_owned(),
            (_, 0) => "None: no parent requirement has changed since a link to it was reviewed.".to_owned(),
            (all, open) if all == open => {
                format!("Not known: {open} of {all} links are not pinned, so that no change of a parent can be seen.")
            }
            (all, open) => format!(
                "None of the {} pinned links is suspect. Whether the parents of the other {open} (of {all}) have changed since \
                 these links were reviewed is not known: they are not pinned.",
                all - open
            ),
        });
        return;
    }
    outline.paragraph(
        "The parent has changed since the link was reviewed. The link must be reviewed again.",
    );
    let mut table =
        Table::new("Suspect links").columns(&["Requirement", "Suspect parents", "File"]);
    for item in suspects {
        table.row(vec![
            requirement_link(&item.requirement.uid),
            listed(item.suspect_parents.iter().map(requirement_link), Tone::Quiet).tone(Tone::Bad),
            Text::code(item.file.as_str()),
        ]);
    }
    outline.table(table);
}

/// Records of verification by analysis and review.
fn records(evidence: &Evidence, outline: &mut Outline) {
    if evidence.campaign.records.is_empty() {
        return;
    }
    outline.heading(2, "Records of analysis and review", "chapter/requirements/records");
    let mut table = Table::new("Records of analysis and review").columns(&[
        "Requirement",
        "Method",
        "Document",
        "Author",
        "Reviewer",
        "Accepted",
    ]);
    for row in &evidence.campaign.records {
        let accepted = match &row.rejected {
            None => Text::plain("✓\u{a0}yes").tone(Tone::Good),
            Some(reason) => {
                Text::plain("✗\u{a0}no: ").and(Text::sentence(reason.as_str())).tone(Tone::Bad)
            }
        };
        table.row(vec![
            requirement_link(&row.record.requirement),
            Text::plain(row.method.to_string()),
            Text::plain(format!("{}, {}", row.record.document, row.record.section)),
            Text::plain(row.record.author.as_str()),
            Text::plain(row.record.reviewer.as_str()),
            accepted,
        ]);
    }
    outline.table(table);
    let rows = evidence.campaign.records.len();
    outline.paragraph(format!(
        "A record is accepted for the content of its requirement. Its document is pinned by no hash ({rows} of {rows} records), and \
         this tool has not read it: whether it exists and says what the record claims is for the reviewer."
    ));
}

fn from_tests(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "From tests to requirements", "chapter/requirements/from-tests");
    let mut table = Table::new("Test to requirement").columns(&[
        "Test case",
        "Kind",
        "Requirements",
        "Kernels",
        "File",
    ]);
    for test in &evidence.campaign.tests {
        table.row(vec![
            test_link(&test.id),
            Text::plain(test.kind.to_string()),
            listed(test.requirements.iter().map(requirement_link), Tone::Bad),
            listed(test.kernels.iter().map(kernel_link), Tone::Quiet),
            Text::code(test.file.as_str()),
        ]);
    }
    outline.table(table);
}

fn from_code(evidence: &Evidence, outline: &mut Outline) {
    outline.heading(2, "From code to requirements", "chapter/requirements/from-code");
    let mut table = Table::new("Function to requirement").columns(&[
        "Function",
        "Place",
        "Kernels",
        "Requirements",
    ]);
    for row in facts::code_rows(evidence) {
        table.row(vec![
            Text::code(row.function),
            Text::code(format!("{}:{}", row.file, row.line)),
            listed(row.kernels.iter().map(|name| kernel_link(name)), Tone::Quiet),
            listed(row.requirements.iter().map(|uid| requirement_link(uid)), Tone::Caution),
        ]);
    }
    outline.table(table);
    outline.paragraph(Text::quiet(
        "A function that no requirement names is reached through one that a requirement names, or is code without \
         a requirement; the reviewer decides which.",
    ));
}

fn full(evidence: &Evidence, item: &RequirementEvidence, outline: &mut Outline) {
    let requirement = &item.requirement;
    let heading = outline.numbered(
        3,
        Text::plain(format!("{}: {}", requirement.uid, requirement.title)),
        format!("requirement/{}", requirement.uid),
    );
    let listed_methods = |methods: &[VerificationMethod]| {
        methods.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let mut pairs = vec![
        ("Level".into(), Text::plain(requirement.level.to_string())),
        ("Statement".into(), Text::plain(requirement.statement.as_str())),
    ];
    if let Some(rationale) = &requirement.rationale {
        pairs.push(("Rationale".into(), Text::plain(rationale.as_str())));
    }
    if requirement.derived {
        let rationale = requirement.safety_rationale.as_deref().unwrap_or("no safety rationale");
        pairs.push(("Derived".into(), Text::plain(rationale)));
    }
    if !requirement.parents.is_empty() {
        pairs.push((
            "Parents".into(),
            listed(requirement.parents.iter().map(|link| parent(item, link)), Tone::Quiet),
        ));
    }
    if !item.children.is_empty() {
        pairs.push((
            "Children".into(),
            listed(item.children.iter().map(requirement_link), Tone::Quiet),
        ));
    }
    pairs.push(("Verification".into(), Text::plain(listed_methods(&requirement.verification))));
    if !item.open.is_empty() {
        pairs.push(("Open".into(), Text::plain(listed_methods(&item.open)).tone(Tone::Bad)));
    }
    pairs.push(("Tests".into(), tests(evidence, item)));
    pairs.push((
        "Implemented by".into(),
        listed(item.code.iter().map(|trace| implementing(item, trace)), Tone::Quiet),
    ));
    pairs.push(("Status".into(), status(item.status)));
    pairs.push(("File".into(), Text::code(item.file.as_str())));
    pairs.push(("Hash".into(), Text::code(item.hash.as_str())));
    outline.push(Block::Together(vec![heading, Block::Pairs(pairs)]));
}
