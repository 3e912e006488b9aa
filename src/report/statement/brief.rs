//! The conclusion in few lines, for page 1 and the terminal: many reasons of one kind are one line.
//!
//! Promises: every kind of reason has a line however many there are of another, and a line that
//! stands for several says for how many; the number of lines has a bound that does not depend on
//! the evidence.
//! Does not cover: the reasons one by one (the report's chapter on the conclusion has all).

use crate::shortened::{LINE, listed, shortened};
use vkcert_model::evidence::{Evidence, TestEvidence};
use vkcert_model::id::TestId;
use vkcert_model::reason::{Ground, ReasonKind};
use vkcert_model::verdict::{EngineName, Verdict};

/// So many reasons are told one by one.
const ONE_BY_ONE: usize = 8;
/// Reasons of one kind that are told one by one beside many of another.
const FEW: usize = 2;
/// Lines at most, beside one that counts what they leave out.
const LINES: usize = 9;

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
pub(crate) fn reasons(evidence: &Evidence, reasons: Vec<ToldReason>) -> BriefReasons {
    let sentences = || reasons.iter().map(|reason| reason.sentence.clone()).collect::<Vec<_>>();
    if reasons.len() <= ONE_BY_ONE {
        let lines = fitted(&sentences());
        return BriefReasons { whole: lines == sentences(), lines, uncut: sentences() };
    }
    let mut groups: Vec<(Option<ReasonKind>, Vec<&ToldReason>)> = Vec::new();
    for reason in &reasons {
        let kind = reason.ground.as_ref().map(|ground| ground.kind);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, members)) => members.push(reason),
            None => groups.push((kind, vec![reason])),
        }
    }
    let lines = groups.into_iter().flat_map(|(kind, members)| match kind {
        Some(kind) if members.len() > FEW => told_together(evidence, kind, &members),
        Some(_) | None => members.iter().map(|reason| reason.sentence.clone()).collect(),
    });
    let mut uncut: Vec<String> = lines.collect();
    let left_out = uncut.len().saturating_sub(LINES);
    uncut.truncate(LINES);
    if left_out > 0 {
        uncut.push(format!("… and {left_out} more lines of reasons"));
    }
    BriefReasons { lines: fitted(&uncut), uncut, whole: false }
}

/// Lines shortened for a page, the more the more there are.
fn fitted(lines: &[String]) -> Vec<String> {
    let limit = match lines.len() {
        0..=FEW => 4 * LINE,
        _ if lines.len() > LINES / 2 => LINE,
        _ => 2 * LINE,
    };
    lines.iter().map(|line| shortened(line, limit)).collect()
}

fn told_together(evidence: &Evidence, kind: ReasonKind, members: &[&ToldReason]) -> Vec<String> {
    if let Some(verdict) = kind.verdict() {
        return tests(evidence, verdict);
    }
    let noun = match kind {
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
        | ReasonKind::NoRequirement
        | ReasonKind::OpenItemStands
        | ReasonKind::TestFailed
        | ReasonKind::TestError
        | ReasonKind::TestTimeout
        | ReasonKind::TestUndetermined
        | ReasonKind::TestUnsupported => "other reasons",
    };
    let mut labels: Vec<&str> = Vec::new();
    for ground in members.iter().filter_map(|reason| reason.ground.as_ref()) {
        if !labels.contains(&ground.about.as_str()) {
            labels.push(&ground.about);
        }
    }
    vec![format!("{} {noun}: {}", members.len(), listed(&labels))]
}

/// `28 of 30 tests on sequential and vulkan: fail (TC-1, TC-2 and 26 more)`, a line per set of
/// tests.
fn tests(evidence: &Evidence, verdict: Verdict) -> Vec<String> {
    let all = &evidence.campaign.tests;
    let of_engine = |engine: EngineName| -> Vec<&TestId> {
        let ended = |test: &&TestEvidence| {
            test.results.iter().any(|result| result.engine == engine && result.verdict == verdict)
        };
        all.iter().filter(ended).map(|test| &test.id).collect()
    };
    let mut sets: Vec<(Vec<&TestId>, Vec<String>)> = Vec::new();
    for engine in evidence.campaign.engines.iter().map(|engine| engine.engine) {
        let ids = of_engine(engine);
        match sets.iter_mut().find(|(known, _)| *known == ids) {
            Some((_, engines)) => engines.push(engine.to_string()),
            None if ids.is_empty() => {}
            None => sets.push((ids, vec![engine.to_string()])),
        }
    }
    let line = |(ids, engines): &(Vec<&TestId>, Vec<String>)| {
        let names: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        let engines = engines.join(" and ");
        format!("{} of {} tests on {engines}: {verdict} ({})", ids.len(), all.len(), listed(&names))
    };
    sets.iter().map(line).collect()
}
