//! The conclusion in few lines, for page 1 and the terminal: many reasons of one kind are one line.
//!
//! Promises: every kind of reason has a line however many there are of another, and a line that
//! stands for several says for how many; the number of lines has a bound that does not depend on
//! the evidence.
//! Does not cover: the reasons one by one (the report's chapter on the conclusion has all).

use crate::shortened::{LINE, first_names, shortened};
use vkcert_model::evidence::{Evidence, TestEvidence};
use vkcert_model::id::TestId;
use vkcert_model::reason::{Ground, ReasonKind};
use vkcert_model::verdict::{EngineName, Verdict};

/// So many reasons are told one by one.
const ONE_BY_ONE: usize = 8;
/// Reasons of one kind that are told one by one beside many of another.
const FEW: usize = 2;
/// Lines at most, beside one that counts what they leave out.
const LINES: usize = 6;

/// A reason of the conclusion as reports tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToldReason {
    /// None where evidence of an older version does not hold it.
    pub ground: Option<Ground>,
    pub sentence: String,
}

/// Reasons of the conclusion as page 1 has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BriefReasons {
    pub lines: Vec<String>,
    /// The same lines, none of them shortened, for where lines can go on.
    pub uncut: Vec<String>,
    /// Whether every reason stands there in full.
    pub whole: bool,
}

/// The reasons given, in few lines. Those whose kind is not known are told one by one.
pub(crate) fn brief_reasons(evidence: &Evidence, reasons: Vec<ToldReason>) -> BriefReasons {
    if reasons.len() <= ONE_BY_ONE {
        let sentences = sentences_of(reasons);
        let lines = fitted_lines(&sentences);
        return BriefReasons { whole: lines == sentences, lines, uncut: sentences };
    }
    let mut reasons_by_kind: Vec<(Option<ReasonKind>, Vec<ToldReason>)> = Vec::new();
    for reason in reasons {
        let kind = reason.ground.as_ref().map(|ground| ground.kind);
        match reasons_by_kind.iter_mut().find(|(known_kind, _)| *known_kind == kind) {
            Some((_, kind_reasons)) => kind_reasons.push(reason),
            None => reasons_by_kind.push((kind, vec![reason])),
        }
    }
    let kind_lines = reasons_by_kind.into_iter().flat_map(|(kind, kind_reasons)| match kind {
        Some(kind) if kind_reasons.len() > FEW => joint_line(evidence, kind, &kind_reasons),
        Some(_) | None => sentences_of(kind_reasons),
    });
    let mut uncut_lines: Vec<String> = kind_lines.collect();
    let left_out = uncut_lines.len().saturating_sub(LINES);
    uncut_lines.truncate(LINES);
    if left_out > 0 {
        uncut_lines.push(format!("… and {left_out} more lines of reasons"));
    }
    BriefReasons { lines: fitted_lines(&uncut_lines), uncut: uncut_lines, whole: false }
}

fn sentences_of(reasons: Vec<ToldReason>) -> Vec<String> {
    reasons.into_iter().map(|reason| reason.sentence).collect()
}

/// Lines shortened for a page, the more the more there are.
fn fitted_lines(lines: &[String]) -> Vec<String> {
    let line_limit = match lines.len() {
        0..=FEW => 4 * LINE,
        _ if lines.len() > LINES / 2 => LINE,
        _ => 2 * LINE,
    };
    lines.iter().map(|line| shortened(line, line_limit)).collect()
}

fn joint_line(evidence: &Evidence, kind: ReasonKind, kind_reasons: &[ToldReason]) -> Vec<String> {
    if let Some(verdict) = kind.verdict() {
        return verdict_lines(evidence, verdict);
    }
    let kind_noun = match kind {
        ReasonKind::ProfileRefusal => "kernels are refused by the profile",
        ReasonKind::RecordRejected => "records of analysis or review are not accepted",
        ReasonKind::RequirementUntested => "requirements are untested",
        ReasonKind::RequirementFailed => "requirements are not met",
        ReasonKind::RequirementOpen => "requirements are open",
        ReasonKind::LinkSuspect => "links are suspect",
        ReasonKind::CodeMissing => "names of code in requirements do not exist",
        ReasonKind::ObligationsOpen => "criteria are not complete, counted per kernel and engine",
        ReasonKind::FindingStands => "kinds of findings",
        ReasonKind::CouplingUndetermined => "checks of coupling are undetermined",
        ReasonKind::JustificationRejected => "justifications are rejected",
        ReasonKind::AcceptanceRejected => "acceptances of open items are rejected",
        ReasonKind::NoTest
        | ReasonKind::MutationScore
        | ReasonKind::NoRequirement
        | ReasonKind::OpenItemStands
        | ReasonKind::TestFailed
        | ReasonKind::TestError
        | ReasonKind::TestTimeout
        | ReasonKind::TestUndetermined
        | ReasonKind::TestUnsupported => "other reasons",
    };
    let mut distinct_labels: Vec<&str> = Vec::new();
    for ground in kind_reasons.iter().filter_map(|reason| reason.ground.as_ref()) {
        if !distinct_labels.contains(&ground.about.as_str()) {
            distinct_labels.push(&ground.about);
        }
    }
    vec![format!("{} {kind_noun}: {}", kind_reasons.len(), first_names(&distinct_labels))]
}

/// `28 of 30 tests on sequential and vulkan: fail (TC-1, TC-2 and 26 more)`, a line per set of
/// tests.
fn verdict_lines(evidence: &Evidence, verdict: Verdict) -> Vec<String> {
    let all_tests = &evidence.campaign.tests;
    let tests_of_engine = |engine: EngineName| -> Vec<&TestId> {
        let has_verdict = |test: &&TestEvidence| {
            test.results.iter().any(|result| result.engine == engine && result.verdict == verdict)
        };
        all_tests.iter().filter(has_verdict).map(|test| &test.id).collect()
    };
    let mut engines_by_tests: Vec<(Vec<&TestId>, Vec<String>)> = Vec::new();
    for engine in evidence.campaign.engines.iter().map(|engine| engine.engine) {
        let test_ids = tests_of_engine(engine);
        match engines_by_tests.iter_mut().find(|(known_ids, _)| *known_ids == test_ids) {
            Some((_, engines)) => engines.push(engine.to_string()),
            None if test_ids.is_empty() => {}
            None => engines_by_tests.push((test_ids, vec![engine.to_string()])),
        }
    }
    let mut set_lines = Vec::new();
    for (test_ids, engines) in engines_by_tests {
        let test_names: Vec<&str> = test_ids.iter().map(|id| id.as_str()).collect();
        let engines = engines.join(" and ");
        set_lines.push(format!(
            "{} of {} tests on {engines}: {verdict} ({})",
            test_ids.len(),
            all_tests.len(),
            first_names(&test_names)
        ));
    }
    set_lines
}
