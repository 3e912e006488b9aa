//! The conclusion in few lines, for page 1 and the terminal: many reasons of one kind are one line.
//!
//! Promises: every kind of reason has a line however many there are of another, and a line that stands for several says for
//! how many; the number of lines has a bound that does not depend on the evidence.
//! Does not cover: the reasons one by one (the report's chapter on the conclusion has all).

use crate::model::evidence::{Evidence, TestEvidence};
use crate::model::id::TestId;
use crate::model::verdict::{EngineName, Verdict};

/// So many reasons are told one by one.
const ONE_BY_ONE: usize = 8;
/// Reasons of one kind that are told one by one beside many of another.
const FEW: usize = 2;
/// Names in a line that stands for several reasons, and characters of each.
const NAMES: usize = 3;
const NAME: usize = 40;
/// Lines at most, beside one that counts what they leave out.
const LINES: usize = 9;
/// About so many characters are one line of page 1.
pub const LINE: usize = 92;

/// Reasons of the conclusion as page 1 has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefReasons {
    pub lines: Vec<String>,
    /// The same lines, none of them shortened, for where lines can go on.
    pub uncut: Vec<String>,
    /// Whether every reason stands there in full.
    pub whole: bool,
}

/// Kinds of reasons, in the order of conclusions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReasonGroup {
    Refusal,
    Tests(Verdict),
    Records,
    Untested,
    NotMet,
    Open,
    Links,
    Code,
    Obligations,
    Findings,
    Coupling,
    Justifications,
    Acceptances,
    Other,
}

/// The reasons given, in few lines.
pub fn reasons(evidence: &Evidence, reasons: Vec<String>) -> BriefReasons {
    if reasons.len() <= ONE_BY_ONE {
        let lines = fitted(&reasons);
        return BriefReasons { whole: lines == reasons, lines, uncut: reasons };
    }
    let mut groups: Vec<(ReasonGroup, Vec<String>)> = Vec::new();
    for reason in reasons {
        let group = group_of(evidence, &reason);
        match groups.iter_mut().find(|(known, _)| *known == group) {
            Some((_, members)) => members.push(reason),
            None => groups.push((group, vec![reason])),
        }
    }
    let lines = groups.into_iter().flat_map(|(group, members)| match members.len() {
        0..=FEW => members,
        _ => told_together(evidence, group, &members),
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

fn group_of(evidence: &Evidence, reason: &str) -> ReasonGroup {
    let has = |part: &str| reason.contains(part);
    let of_test = evidence.campaign.tests.iter().flat_map(|test| test.results.iter().map(move |row| (test, row)));
    let verdict = |(test, row): (&TestEvidence, &crate::model::evidence::TestResult)| {
        let said = reason.strip_prefix("test ")?.strip_prefix(test.id.as_str())?.strip_prefix(" on ")?;
        let (engines, said) = said.split_once(": ")?;
        let of_row = engines.contains(&row.engine.to_string()) && said.starts_with(&row.verdict.to_string());
        of_row.then_some(row.verdict)
    };
    match reason.split(' ').next().unwrap_or_default() {
        "test" => of_test.into_iter().find_map(verdict).map_or(ReasonGroup::Other, ReasonGroup::Tests),
        "kernel" if has(" is refused by the profile ") => ReasonGroup::Refusal,
        "requirement" if has(" is untested") => ReasonGroup::Untested,
        "requirement" if has(" is not met") => ReasonGroup::NotMet,
        "requirement" if has(" is open") => ReasonGroup::Open,
        "requirement" if has(" names ") => ReasonGroup::Code,
        "link" => ReasonGroup::Links,
        "analysis" | "review" => ReasonGroup::Records,
        "coupling" => ReasonGroup::Coupling,
        "justification" => ReasonGroup::Justifications,
        "acceptance" => ReasonGroup::Acceptances,
        _ if reason.ends_with(" finding") || reason.ends_with(" findings") => ReasonGroup::Findings,
        _ if has(" obligations not covered") => ReasonGroup::Obligations,
        _ => ReasonGroup::Other,
    }
}

fn told_together(evidence: &Evidence, group: ReasonGroup, members: &[String]) -> Vec<String> {
    let count = members.len();
    let noun = match group {
        ReasonGroup::Tests(verdict) => return tests(evidence, verdict),
        ReasonGroup::Refusal => "kernels are refused by the profile",
        ReasonGroup::Records => "records of analysis or review are not accepted",
        ReasonGroup::Untested => "requirements are untested",
        ReasonGroup::NotMet => "requirements are not met",
        ReasonGroup::Open => "requirements are open",
        ReasonGroup::Links => "links are suspect",
        ReasonGroup::Code => "names of code in requirements do not exist",
        ReasonGroup::Obligations => "criteria are not complete, counted per kernel and engine",
        ReasonGroup::Findings => "kinds of findings",
        ReasonGroup::Coupling => "checks of coupling are undetermined",
        ReasonGroup::Justifications => "justifications are rejected",
        ReasonGroup::Acceptances => "acceptances of open items are rejected",
        ReasonGroup::Other => "other reasons",
    };
    let mut labels: Vec<&str> = Vec::new();
    for label in members.iter().map(|reason| label(group, reason)) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    vec![format!("{count} {noun}: {}", listed(&labels))]
}

/// What a reason is about.
fn label(group: ReasonGroup, reason: &str) -> &str {
    let word = |number: usize| reason.split(' ').nth(number).unwrap_or(reason);
    match group {
        ReasonGroup::Refusal | ReasonGroup::Untested | ReasonGroup::NotMet | ReasonGroup::Open | ReasonGroup::Code => {
            word(1)
        }
        ReasonGroup::Links => word(1),
        ReasonGroup::Records => word(2),
        ReasonGroup::Coupling => word(2).trim_end_matches(':'),
        ReasonGroup::Obligations => reason.split(':').next().unwrap_or(reason),
        ReasonGroup::Justifications | ReasonGroup::Acceptances => {
            let about = reason.split_once(" of ").map_or(reason, |(_, about)| about);
            about.split(": ").next().unwrap_or(about)
        }
        ReasonGroup::Findings => reason.trim_end_matches('s').strip_suffix(" finding").unwrap_or(reason),
        ReasonGroup::Tests(_) | ReasonGroup::Other => reason,
    }
}

/// `a, b and 3 more`
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| shortened(name, NAME)).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// `28 of 30 tests on sequential and vulkan: fail (TC-1, TC-2 and 26 more)`, a line per set of tests.
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

/// The text, up to so many characters, with `…` where it goes on.
pub fn shortened(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
