//! Obligations that nothing covers, and why.
//!
//! Promises: every one of the criteria that the project asks for is listed, an undetermined one
//! too.

use super::criteria::{is_asked_for, is_told_elsewhere};
use super::unit::{KernelUnit, kernel_unit};
use crate::shortened::first_names;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vkcert_model::coverage::{DecisionCoverage, Independence, Proposal, SimpleObligation, Status};
use vkcert_model::criterion::CriterionName;
use vkcert_model::evidence::{Evidence, KernelEvidence, RowsByTest, TestEvidence};
use vkcert_model::id::{ObligationId, TestId};
use vkcert_model::verdict::{EngineName, Verdict};

/// An obligation that nothing covers.
pub(crate) struct UncoveredObligation<'a> {
    pub unit: KernelUnit<'a>,
    pub engine: EngineName,
    /// As printed: `S12`, `D3.T`, `D3.C1`.
    pub obligation: String,
    pub criterion: CriterionName,
    pub file: &'a str,
    /// Main source file of the kernel.
    pub source: &'a str,
    pub line: u32,
    pub column: u32,
    pub text: &'a str,
    /// Which of those with the same place and text it is; none where it is the only one.
    pub occurrence: Option<Occurrence>,
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

/// One of several obligations with the same place and text, in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence {
    /// From 1.
    number: usize,
    count: usize,
}

impl UncoveredObligation<'_> {
    /// Its text; `f(x) (occurrence 2 of 3)` where others have the same place and text.
    pub(crate) fn shown_text(&self) -> Cow<'_, str> {
        numbered_text(self.text, self.occurrence)
    }
}

fn numbered_text(text: &str, occurrence: Option<Occurrence>) -> Cow<'_, str> {
    match occurrence {
        Some(Occurrence { number, count }) => {
            Cow::Owned(format!("{text} (occurrence {number} of {count})"))
        }
        None => Cow::Borrowed(text),
    }
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
    let test_names = uncounted.iter().map(TestId::as_str).collect::<Vec<_>>().join(", ");
    format!("exercised by {} {test_names} only", uncounted_words(evidence, uncounted))
}

/// The same with few of many tests: `exercised by failed tests TC-1, TC-2, TC-3 and 26 more only`.
pub(crate) fn exercised_only_by_few(evidence: &Evidence, uncounted: &[TestId]) -> String {
    let test_names: Vec<&str> = uncounted.iter().map(TestId::as_str).collect();
    format!(
        "exercised by {} {} only",
        uncounted_words(evidence, uncounted),
        first_names(&test_names)
    )
}

/// Whether a test failed on some engine.
fn has_failed(test: &TestEvidence) -> bool {
    test.results.iter().any(|result| result.verdict == Verdict::Fail)
}

/// `failed test`, or `uncounted tests` where not all of them failed.
fn uncounted_words(evidence: &Evidence, uncounted: &[TestId]) -> String {
    let uncounted_ids: BTreeSet<&TestId> = uncounted.iter().collect();
    let is_uncounted = |test: &TestEvidence| uncounted_ids.contains(&test.id).then_some(test.id);
    let stored_tests = RowsByTest::new(&evidence.campaign.tests, is_uncounted);
    let all_failed = uncounted.iter().all(|test| stored_tests.first(*test).is_some_and(has_failed));
    let kind_words = if all_failed { "failed test" } else { "uncounted test" };
    format!("{kind_words}{}", if uncounted.len() == 1 { "" } else { "s" })
}

fn is_open(status: Status) -> bool {
    match status {
        Status::Uncovered | Status::Undetermined => true,
        Status::Covered | Status::Justified => false,
    }
}

/// `; C3 is justified, and needs none of them`: what the vectors that would complete masking MC/DC
/// of a decision show besides; nothing where no condition is justified.
pub(crate) fn justified_conditions(decision: &DecisionCoverage) -> String {
    let justified_mcdc =
        decision.mcdc.iter().filter(|mcdc| mcdc.masking.status == Status::Justified);
    let condition_names: Vec<String> =
        justified_mcdc.map(|mcdc| format!("C{}", mcdc.condition.number)).collect();
    match condition_names.as_slice() {
        [] => String::new(),
        [name] => format!("; {name} is justified, and needs none of them"),
        condition_names => {
            format!("; {} are justified, and need none of them", condition_names.join(", "))
        }
    }
}

/// Every uncovered obligation (also an undetermined one) of the criteria that the project asks for,
/// by kernel, engine, criterion and source order.
pub(crate) fn uncovered_obligations(evidence: &Evidence) -> Vec<UncoveredObligation<'_>> {
    obligations_of_status(evidence, is_open)
}

/// Every obligation that an accepted justification closes, of the same criteria in the same order;
/// its reason is the justification.
pub(crate) fn justified_obligations(evidence: &Evidence) -> Vec<UncoveredObligation<'_>> {
    obligations_of_status(evidence, |status| status == Status::Justified)
}

fn obligations_of_status(
    evidence: &Evidence,
    is_wanted: fn(Status) -> bool,
) -> Vec<UncoveredObligation<'_>> {
    let of_kernel = |kernel| {
        let mut obligations = Vec::new();
        add_simple(evidence, kernel, is_wanted, &mut obligations);
        for decision in &kernel.coverage.decisions {
            add_mcdc(evidence, kernel, decision, is_wanted, &mut obligations);
        }
        obligations
    };
    evidence.kernels.par_iter().flat_map_iter(of_kernel).collect()
}

fn add_simple<'a>(
    evidence: &Evidence,
    kernel: &'a KernelEvidence,
    is_wanted: fn(Status) -> bool,
    obligations: &mut Vec<UncoveredObligation<'a>>,
) {
    let coverage = &kernel.coverage;
    let outcomes = || coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
    let owned_items = |decision: &'a DecisionCoverage| {
        decision.outcomes.iter().chain(&decision.combinations).map(move |item| (&item.id, decision))
    };
    let decision_by_item: BTreeMap<_, _> =
        coverage.decisions.iter().flat_map(owned_items).collect();
    // An outcome is an obligation of branch and of decision coverage; it is listed once.
    let mut seen_ids = BTreeSet::new();
    let additional_ids: BTreeSet<_> = coverage.additional.iter().collect();
    let criterion_lists = [
        (CriterionName::Statement, coverage.statements.iter().collect::<Vec<_>>()),
        (CriterionName::Branch, coverage.branches.iter().collect()),
        (CriterionName::Decision, outcomes().chain(&coverage.points).collect()),
        (
            CriterionName::MultipleCondition,
            coverage.decisions.iter().flat_map(|decision| &decision.combinations).collect(),
        ),
        (CriterionName::ObjectBranch, coverage.objects.iter().collect()),
        (
            CriterionName::AdditionalCode,
            coverage.objects.iter().filter(|item| additional_ids.contains(&item.id)).collect(),
        ),
        (CriterionName::Barrier, coverage.barriers.iter().collect()),
    ];
    let requested_lists = coverage
        .requested()
        .map(|(criterion, obligations)| (criterion, obligations.iter().flatten().collect()));
    let coupling_list = (CriterionName::Coupling, coverage.coupling_obligations().collect());
    let all_lists = criterion_lists.into_iter().chain(requested_lists).chain([coupling_list]);
    for (criterion, list) in all_lists {
        let unit = (&kernel.kernel, kernel.configuration.name.as_str(), kernel.engine);
        let counts = is_asked_for(evidence, &criterion.into())
            && !is_told_elsewhere(evidence, unit, &criterion.into());
        if !counts {
            continue;
        }
        let occurrences = Occurrences::of_list(&list);
        for item in list.into_iter().filter(|item| is_wanted(item.status)) {
            if !seen_ids.insert(&item.id) {
                continue;
            }
            let decision = decision_by_item.get(&item.id).copied();
            obligations.push(UncoveredObligation {
                unit: kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name),
                engine: kernel.engine,
                obligation: item.id.to_string(),
                criterion,
                file: &item.file,
                source: &kernel.source,
                line: item.line,
                column: item.column,
                text: &item.text,
                occurrence: occurrences.occurrence_of(item),
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

/// Obligations of one list that nothing but their identifiers tells apart: a macro that is used
/// several times gives each use the place and text of its definition.
pub(crate) struct Occurrences<'a> {
    ids_by_place: HashMap<ShownPlace<'a>, Vec<&'a ObligationId>>,
}

/// File, line, column and text.
type ShownPlace<'a> = (&'a str, u32, u32, &'a str);

impl<'a> Occurrences<'a> {
    pub(crate) fn of_list(list: &[&'a SimpleObligation]) -> Self {
        let mut ids_by_place: HashMap<ShownPlace, Vec<&ObligationId>> = HashMap::new();
        // Object code has its place in the module.
        for item in list.iter().filter(|item| item.object.is_none()) {
            ids_by_place.entry(shown_place(item)).or_default().push(&item.id);
        }
        Self { ids_by_place }
    }

    /// Its text; `f(x) (occurrence 2 of 3)` where others of the list have the same place and text.
    pub(crate) fn shown_text<'item>(&self, item: &'item SimpleObligation) -> Cow<'item, str> {
        numbered_text(&item.text, self.occurrence_of(item))
    }

    /// None of the only one in its place.
    fn occurrence_of(&self, item: &SimpleObligation) -> Option<Occurrence> {
        let ids = self.ids_by_place.get(&shown_place(item)).filter(|ids| ids.len() > 1)?;
        let index = ids.iter().position(|id| **id == item.id)?;
        Some(Occurrence { number: index + 1, count: ids.len() })
    }
}

fn shown_place(item: &SimpleObligation) -> ShownPlace<'_> {
    (&item.file, item.line, item.column, &item.text)
}

fn add_mcdc<'a>(
    evidence: &Evidence,
    kernel: &'a KernelEvidence,
    decision: &'a DecisionCoverage,
    is_wanted: fn(Status) -> bool,
    obligations: &mut Vec<UncoveredObligation<'a>>,
) {
    for (condition_index, condition) in decision.conditions.iter().enumerate() {
        let Some(mcdc) = decision.mcdc.iter().find(|mcdc| mcdc.condition == condition.id) else {
            continue;
        };
        let criterion_sides: [(CriterionName, &Independence); 2] = [
            (CriterionName::McdcMasking, &mcdc.masking),
            (CriterionName::McdcUniqueCause, &mcdc.unique_cause),
        ];
        for (criterion, side) in criterion_sides {
            if !is_asked_for(evidence, &criterion.into()) || !is_wanted(side.status) {
                continue;
            }
            obligations.push(UncoveredObligation {
                unit: kernel_unit(evidence, &kernel.kernel, &kernel.configuration.name),
                engine: kernel.engine,
                obligation: condition.id.to_string(),
                criterion,
                file: &decision.file,
                source: &kernel.source,
                line: condition.line,
                column: condition.column,
                text: &condition.text,
                occurrence: None,
                status: side.status,
                reason: match (&side.reason, side.uncounted.as_slice()) {
                    (None, []) => condition_explanation(decision, condition_index),
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
    let mut row_by_key = HashMap::new();
    for item in list {
        let unit_key = (item.unit.kernel, item.unit.configuration);
        let obligation_key =
            (unit_key, item.obligation.as_str(), item.criterion, item.status, item.reason.as_str());
        let row_index = *row_by_key.entry(obligation_key).or_insert(rows.len());
        match rows.get_mut(row_index) {
            Some((_, engines)) => engines.push(item.engine.to_string()),
            None => rows.push((item, vec![item.engine.to_string()])),
        }
    }
    rows
}

/// The sentence about one condition; the calculus gives one per uncovered condition, which names
/// it.
pub fn condition_explanation(decision: &DecisionCoverage, condition: usize) -> String {
    let condition_id = decision.conditions[condition].id.to_string();
    let names_condition = |sentence: &&String| {
        sentence
            .split(|character: char| !character.is_alphanumeric() && character != '.')
            .any(|word| word.trim_end_matches('.') == condition_id)
    };
    decision
        .explanation
        .iter()
        .find(names_condition)
        .map(|sentence| of_passed_tests(sentence))
        .unwrap_or_default()
}

/// A sentence of the calculus, which knows vectors and not verdicts: the vectors of evidence are
/// those of passed tests.
pub(crate) fn of_passed_tests(sentence: &str) -> String {
    sentence.replacen(": no test shows that ", ": no passed test shows that ", 1)
}
