//! Obligations that nothing covers, and why.
//!
//! Promises: every one of the criteria that the project asks for is listed, an undetermined one
//! too.

use super::criteria::asked_for;
use super::unit::{Unit, unit};
use crate::shortened::listed;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vkcert_model::coverage::{DecisionCoverage, Independence, Proposal, Status};
use vkcert_model::evidence::{Evidence, KernelEvidence};
use vkcert_model::id::TestId;
use vkcert_model::verdict::{EngineName, Verdict};

/// An obligation that nothing covers.
pub(crate) struct UncoveredObligation<'a> {
    pub unit: Unit<'a>,
    pub engine: EngineName,
    /// As printed: `S12`, `D3.T`, `D3.C1`.
    pub obligation: String,
    pub criterion: &'static str,
    pub file: &'a str,
    /// Main source file of the kernel.
    pub source: &'a str,
    pub line: u32,
    pub column: u32,
    pub text: &'a str,
    pub status: Status,
    pub reason: String,
    /// Whether the reason is the calculus's sentence about one condition, which stands with the
    /// decision, too.
    pub explained_by_decision: bool,
    /// Tests that exercise it and do not count.
    pub uncounted: &'a [TestId],
    /// What a justification of it could say.
    pub proposal: Option<&'a Proposal>,
    /// The decision it belongs to.
    pub decision: Option<&'a DecisionCoverage>,
}

/// Why an obligation is uncovered: the stored reason, or the tests that exercise it and do not
/// count.
pub fn open_reason(evidence: &Evidence, stored: Option<&str>, uncounted: &[TestId]) -> String {
    match (stored, uncounted) {
        (Some(reason), _) => reason.to_owned(),
        (None, []) => String::new(),
        (None, _) => exercised_only_by(evidence, uncounted),
    }
}

/// `exercised by failed test TC-7 only`.
fn exercised_only_by(evidence: &Evidence, uncounted: &[TestId]) -> String {
    let names = uncounted.iter().map(TestId::as_str).collect::<Vec<_>>().join(", ");
    format!("exercised by {} {names} only", uncounted_tests(evidence, uncounted))
}

/// The same with few of many tests: `exercised by failed tests TC-1, TC-2, TC-3 and 26 more only`.
pub(crate) fn exercised_only_by_few(evidence: &Evidence, uncounted: &[TestId]) -> String {
    let names: Vec<&str> = uncounted.iter().map(TestId::as_str).collect();
    format!("exercised by {} {} only", uncounted_tests(evidence, uncounted), listed(&names))
}

/// `failed test`, or `uncounted tests` where not all of them failed.
fn uncounted_tests(evidence: &Evidence, uncounted: &[TestId]) -> String {
    let failed = |test: &TestId| {
        let stored = evidence.campaign.tests.iter().find(|stored| stored.id == *test);
        stored.is_some_and(|stored| {
            stored.results.iter().any(|result| result.verdict == Verdict::Fail)
        })
    };
    let kind = if uncounted.iter().all(failed) { "failed test" } else { "uncounted test" };
    format!("{kind}{}", if uncounted.len() == 1 { "" } else { "s" })
}

fn open(status: Status) -> bool {
    match status {
        Status::Uncovered | Status::Undetermined => true,
        Status::Covered | Status::Justified => false,
    }
}

/// `; C3 is justified, and needs none of them`: what the vectors that would complete masking MC/DC
/// of a decision show besides; nothing where no condition is justified.
pub(crate) fn justified_conditions(decision: &DecisionCoverage) -> String {
    let justified = decision.mcdc.iter().filter(|mcdc| mcdc.masking.status == Status::Justified);
    let names: Vec<String> = justified.map(|mcdc| format!("C{}", mcdc.condition.number)).collect();
    match names.as_slice() {
        [] => String::new(),
        [name] => format!("; {name} is justified, and needs none of them"),
        names => format!("; {} are justified, and need none of them", names.join(", ")),
    }
}

/// Every uncovered obligation (also an undetermined one) of the criteria that the project asks for,
/// by kernel, engine, criterion and source order.
pub(crate) fn uncovered_obligations(evidence: &Evidence) -> Vec<UncoveredObligation<'_>> {
    let mut found = Vec::new();
    for kernel in &evidence.kernels {
        open_simple(evidence, kernel, &mut found);
        for decision in &kernel.coverage.decisions {
            open_mcdc(evidence, kernel, decision, &mut found);
        }
    }
    found
}

fn open_simple<'a>(
    evidence: &Evidence,
    kernel: &'a KernelEvidence,
    found: &mut Vec<UncoveredObligation<'a>>,
) {
    let coverage = &kernel.coverage;
    let outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let owned = |decision: &'a DecisionCoverage| {
        decision.outcomes.iter().chain(&decision.combinations).map(move |item| (&item.id, decision))
    };
    let owners: BTreeMap<_, _> = coverage.decisions.iter().flat_map(owned).collect();
    // An outcome is an obligation of branch and of decision coverage; it is listed once.
    let mut seen = BTreeSet::new();
    let additional: BTreeSet<_> = coverage.additional.iter().collect();
    let lists = [
        ("statement", coverage.statements.iter().collect::<Vec<_>>()),
        ("branch", coverage.branches.iter().collect()),
        ("decision", outcomes().chain(&coverage.points).collect()),
        (
            "multiple-condition",
            coverage.decisions.iter().flat_map(|decision| &decision.combinations).collect(),
        ),
        ("object-branch", coverage.objects.iter().collect()),
        (
            "additional-code",
            coverage.objects.iter().filter(|item| additional.contains(&item.id)).collect(),
        ),
        ("barrier", coverage.barriers.iter().collect()),
    ];
    for (criterion, list) in lists {
        if !asked_for(evidence, criterion) {
            continue;
        }
        for item in list.into_iter().filter(|item| open(item.status)) {
            if !seen.insert(&item.id) {
                continue;
            }
            let decision = owners.get(&item.id).copied();
            found.push(UncoveredObligation {
                unit: unit(evidence, &kernel.kernel, &kernel.configuration.name),
                engine: kernel.engine,
                obligation: item.id.to_string(),
                criterion,
                file: &item.file,
                source: &kernel.source,
                line: item.line,
                column: item.column,
                text: &item.text,
                status: item.status,
                reason: open_reason(evidence, item.reason.as_deref(), &item.uncounted),
                explained_by_decision: false,
                uncounted: &item.uncounted,
                proposal: item.proposal.as_ref(),
                decision,
            });
        }
    }
}

fn open_mcdc<'a>(
    evidence: &Evidence,
    kernel: &'a KernelEvidence,
    decision: &'a DecisionCoverage,
    found: &mut Vec<UncoveredObligation<'a>>,
) {
    for (index, condition) in decision.conditions.iter().enumerate() {
        let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) else {
            continue;
        };
        let sides: [(&'static str, &Independence); 2] =
            [("mcdc-masking", &mcdc.masking), ("mcdc-unique-cause", &mcdc.unique_cause)];
        for (criterion, side) in sides {
            if !asked_for(evidence, criterion) || !open(side.status) {
                continue;
            }
            found.push(UncoveredObligation {
                unit: unit(evidence, &kernel.kernel, &kernel.configuration.name),
                engine: kernel.engine,
                obligation: condition.id.to_string(),
                criterion,
                file: &decision.file,
                source: &kernel.source,
                line: condition.line,
                column: condition.column,
                text: &condition.text,
                status: side.status,
                reason: match (&side.reason, side.uncounted.as_slice()) {
                    (None, []) => explanation(decision, index),
                    (stored, uncounted) => open_reason(evidence, stored.as_deref(), uncounted),
                },
                explained_by_decision: side.reason.is_none() && side.uncounted.is_empty(),
                uncounted: &side.uncounted,
                proposal: side.proposal.as_ref(),
                decision: Some(decision),
            });
        }
    }
}

/// The same obligation on several engines is one row.
pub(crate) fn merged_obligations<'a>(
    list: impl Iterator<Item = &'a UncoveredObligation<'a>>,
) -> Vec<(&'a UncoveredObligation<'a>, Vec<String>)> {
    let mut rows: Vec<(&UncoveredObligation, Vec<String>)> = Vec::new();
    let mut places = HashMap::new();
    for item in list {
        let unit = (item.unit.kernel, item.unit.configuration);
        let key =
            (unit, item.obligation.as_str(), item.criterion, item.status, item.reason.as_str());
        let place = *places.entry(key).or_insert(rows.len());
        match rows.get_mut(place) {
            Some((_, engines)) => engines.push(item.engine.to_string()),
            None => rows.push((item, vec![item.engine.to_string()])),
        }
    }
    rows
}

/// The sentence about one condition; the calculus gives one per uncovered condition, which names
/// it.
pub fn explanation(decision: &DecisionCoverage, condition: usize) -> String {
    let id = decision.conditions[condition].id.to_string();
    let names = |sentence: &&String| {
        sentence
            .split(|c: char| !c.is_alphanumeric() && c != '.')
            .any(|word| word.trim_end_matches('.') == id)
    };
    decision
        .explanation
        .iter()
        .find(names)
        .map(|sentence| of_passed_tests(sentence))
        .unwrap_or_default()
}

/// A sentence of the calculus, which knows vectors and not verdicts: the vectors of evidence are
/// those of passed tests.
pub(crate) fn of_passed_tests(sentence: &str) -> String {
    sentence.replacen(": no test shows that ", ": no passed test shows that ", 1)
}
