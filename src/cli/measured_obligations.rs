//! `vkcert list obligations --status STATUS`: the obligations of stored evidence with their status.
//!
//! Promises: a row per kernel, configuration, engine and obligation, in the order of reports, with
//! the criteria that it belongs to and whether the project asks for any of them; nothing is run.

use super::args::{List, ObligationStatus, OutputForm};
use super::failure::Failure;
use super::{findings, places};
use crate::derivation::derive;
use crate::derivation::open_items::listed_names;
use crate::model::coverage::{
    DecisionCoverage, Independence, KernelCoverage, SimpleObligation, Status,
};
use crate::model::criterion::{CriterionName, StoredCriterion};
use crate::model::evidence::{Evidence, KernelEvidence, kernel_label};
use crate::model::id::{ObligationId, TestId};
use crate::model::wording::plural;
use crate::report;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The key of a row that says whether `--propose` has a justification for it; no column of a table.
pub(super) const PROPOSED_KEY: &str = "proposed";

/// The key of a row that says whether a justification of it can be accepted at all; no column either.
pub(super) const JUSTIFIABLE_KEY: &str = "justifiable";

/// An obligation as a run has measured it.
struct MeasuredObligation<'a> {
    id: String,
    criteria: Vec<CriterionName>,
    place: String,
    text: &'a str,
    status: Status,
    /// As stored.
    reason: Option<Cow<'a, str>>,
    /// Tests that exercise it and do not count.
    uncounted: &'a [TestId],
    /// Whether a configuration rules it out.
    is_proposed: bool,
}

/// The rows of the listing; with hashes where they are asked for, and in JSON.
pub(super) fn obligation_rows(
    list: &List,
    asked_status: ObligationStatus,
    form: OutputForm,
) -> Result<Vec<Value>, Failure> {
    let stored_evidence = findings::load_evidence(list)?;
    if !stored_evidence.campaign.left_out.is_empty() {
        super::output::print_to_stderr(left_out_warning(&stored_evidence.campaign.left_out, list));
    }
    let mut rows = rows_of_evidence(&stored_evidence, asked_status);
    if !list.hash && form == OutputForm::Text {
        rows.iter_mut().filter_map(Value::as_object_mut).for_each(|row| drop(row.remove("hash")));
    }
    Ok(rows)
}

/// The warning that tests which were left out cover nothing in the listing.
fn left_out_warning(tests: &[TestId], list: &List) -> String {
    let test_names: Vec<String> = tests.iter().map(ToString::to_string).collect();
    let whole_command = places::places_of_list(list).on_project("vkcert certify", "");
    let left_out_count = plural(
        tests.len(),
        "test was left out of this campaign",
        "tests were left out of this campaign",
    );
    format!(
        "warning: {left_out_count} ({}) and cover nothing here; {whole_command} runs all\n",
        listed_names(&test_names)
    )
}

/// The advice for open obligations; none where no row is open.
pub(super) fn next_steps(list: &List, rows: &[Value]) -> Option<String> {
    let open_statuses = [Status::Uncovered, Status::Undetermined].map(|status| status.to_string());
    let is_open = |row: &&Value| {
        row["status"].as_str().is_some_and(|status| open_statuses.iter().any(|name| name == status))
    };
    let open_rows: Vec<&Value> = rows.iter().filter(is_open).collect();
    let (justifiable_rows, other_rows): (Vec<&Value>, Vec<&Value>) =
        open_rows.into_iter().partition(|row| row[JUSTIFIABLE_KEY] == json!(true));
    let of_justifiable = steps_for_justifiable(list, &justifiable_rows);
    let of_others = step_for_others(&other_rows);
    let steps: Vec<String> = of_justifiable.into_iter().chain(of_others).collect();
    (!steps.is_empty()).then(|| steps.join(" "))
}

/// Rows that stay open until the project changes.
fn step_for_others(rows: &[&Value]) -> Option<String> {
    let name = |row: &&Value| {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        format!("{} of {}", text("id"), text("kernel"))
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "No justification is accepted for {}: the reason says what leaves it open.",
            listed_names(&names)
        )
    })
}

fn steps_for_justifiable(list: &List, rows: &[&Value]) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let places = places::places_of_list(list);
    let proposed_count = rows.iter().filter(|row| row[PROPOSED_KEY] == json!(true)).count();
    let hash_clause = match list.hash {
        true => "with the hash above".to_owned(),
        false => {
            let hash_clause = places.on_evidence("vkcert list obligations", "--status open --hash");
            format!("with the hash that {hash_clause} prints")
        }
    };
    let by_hand = format!(
        "is justified by hand: a `[[justification]]` in a file of requirements/, {hash_clause}"
    );
    Some(match proposed_count {
        0 => format!("Next: tests that cover these. What no test can cover {by_hand}."),
        count => {
            let propose_command = places.on_project("vkcert list obligations", "--propose");
            format!(
                "Next: tests that cover these. For what no test can cover under a configuration ({count} of these), {propose_command} \
                 prints justifications to review; what else no test can cover {by_hand}."
            )
        }
    })
}

/// Rows of criteria that the project asks for, and how many others there are.
pub(super) fn split_asked_rows(rows: Vec<Value>) -> (Vec<Value>, usize) {
    let (asked_rows, other_rows): (Vec<Value>, Vec<Value>) =
        rows.into_iter().partition(|row| row["asked"] == json!(true));
    (asked_rows, other_rows.len())
}

fn rows_of_evidence(stored_evidence: &Evidence, asked_status: ObligationStatus) -> Vec<Value> {
    let mut rows = Vec::new();
    derive::stored_contents(&stored_evidence.kernels, |kernel, contents| {
        for obligation in obligations_of_coverage(&kernel.coverage)
            .into_iter()
            .filter(|row| asked_status.includes(row.status))
        {
            let hash = contents.content_hash_of(&ObligationId::from(&obligation.id));
            let is_justifiable = hash.is_some();
            let criterion_names: Vec<&str> =
                obligation.criteria.iter().map(|criterion| criterion.name()).collect();
            let shown_reason = match obligation.status {
                Status::Uncovered | Status::Undetermined => report::open_reason(
                    stored_evidence,
                    obligation.reason.as_deref(),
                    obligation.uncounted,
                ),
                Status::Covered | Status::Justified => {
                    obligation.reason.unwrap_or_default().into_owned()
                }
            };
            let is_asked_for = obligation
                .criteria
                .iter()
                .map(|criterion| (*criterion).into())
                .any(|criterion| counts_on_engine(stored_evidence, kernel, &criterion));
            rows.push(json!({
                "id": obligation.id, "kernel": kernel_label(&stored_evidence.kernels, kernel), "engine": kernel.engine,
                "criteria": criterion_names, "asked": is_asked_for,
                "place": obligation.place, "text": obligation.text, "status": obligation.status.to_string(),
                "reason": (!shown_reason.is_empty()).then_some(shown_reason), "hash": hash,
                PROPOSED_KEY: obligation.is_proposed, JUSTIFIABLE_KEY: is_justifiable,
            }));
        }
    });
    rows
}

/// Whether a criterion is asked for, and no other engine tells of it instead.
fn counts_on_engine(
    evidence: &Evidence,
    kernel: &KernelEvidence,
    criterion: &StoredCriterion,
) -> bool {
    let unit = (&kernel.kernel, kernel.configuration.name.as_str(), kernel.engine);
    report::is_asked_for(evidence, criterion)
        && !report::is_told_elsewhere(evidence, unit, criterion)
}

fn obligations_of_coverage(coverage: &KernelCoverage) -> Vec<MeasuredObligation<'_>> {
    let outcome_ids: BTreeSet<&ObligationId> = coverage
        .decisions
        .iter()
        .flat_map(|decision| &decision.outcomes)
        .map(|outcome| &outcome.id)
        .collect();
    let obligation_of =
        |criterion: CriterionName| move |item| measured_obligation(item, &[criterion]);
    let mut rows: Vec<MeasuredObligation> =
        coverage.statements.iter().map(obligation_of(CriterionName::Statement)).collect();
    let switch_labels = coverage
        .branches
        .iter()
        .filter(|item| item.object.is_none() && !outcome_ids.contains(&item.id));
    rows.extend(switch_labels.map(obligation_of(CriterionName::Branch)));
    rows.extend(coverage.points.iter().map(obligation_of(CriterionName::Decision)));
    let branch_ids: BTreeSet<&ObligationId> =
        coverage.branches.iter().map(|item| &item.id).collect();
    for decision in &coverage.decisions {
        rows.extend(decision.outcomes.iter().map(|item| {
            let branch_criterion = branch_ids.contains(&item.id).then_some(CriterionName::Branch);
            measured_obligation(
                item,
                &branch_criterion.into_iter().chain([CriterionName::Decision]).collect::<Vec<_>>(),
            )
        }));
        rows.extend(obligations_of_conditions(decision));
        rows.extend(
            decision.combinations.iter().map(obligation_of(CriterionName::MultipleCondition)),
        );
    }
    let barrier_criteria = coverage.criteria_with_coupling(CriterionName::Barrier);
    rows.extend(coverage.barriers.iter().map(|item| measured_obligation(item, &barrier_criteria)));
    for (criterion, obligations) in coverage.requested() {
        let criteria = coverage.criteria_with_coupling(criterion);
        let items = obligations.iter().flatten();
        rows.extend(items.map(|item| measured_obligation(item, &criteria)));
    }
    let additional_ids: BTreeSet<&ObligationId> = coverage.additional.iter().collect();
    rows.extend(coverage.objects.iter().map(|item| {
        let branch_criterion = branch_ids.contains(&item.id).then_some(CriterionName::Branch);
        let additional_ids =
            additional_ids.contains(&item.id).then_some(CriterionName::AdditionalCode);
        measured_obligation(
            item,
            &branch_criterion
                .into_iter()
                .chain([CriterionName::ObjectBranch])
                .chain(additional_ids)
                .collect::<Vec<_>>(),
        )
    }));
    rows
}

/// Both forms of MC/DC of every condition.
fn obligations_of_conditions(decision: &DecisionCoverage) -> Vec<MeasuredObligation<'_>> {
    let mut rows = Vec::new();
    for (condition_index, (condition, mcdc)) in
        decision.conditions.iter().zip(&decision.mcdc).enumerate()
    {
        let forms = [
            ("unique-cause", CriterionName::McdcUniqueCause, &mcdc.unique_cause),
            ("masking", CriterionName::McdcMasking, &mcdc.masking),
        ];
        rows.extend(forms.map(|(form_name, criterion, independence)| MeasuredObligation {
            id: format!("{}.{form_name}", condition.id),
            criteria: vec![criterion],
            place: format!("{}:{}:{}", decision.file, condition.line, condition.column),
            text: &condition.text,
            status: independence.status,
            reason: condition_reason(decision, condition_index, independence),
            uncounted: &independence.uncounted,
            is_proposed: independence.proposal.is_some(),
        }));
    }
    rows
}

/// The stored reason, or what the calculus says of the condition where no test that does not count
/// exercises it.
fn condition_reason<'a>(
    decision: &DecisionCoverage,
    condition_index: usize,
    independence: &'a Independence,
) -> Option<Cow<'a, str>> {
    let calculus_reason = || match (independence.status, independence.uncounted.as_slice()) {
        (Status::Uncovered | Status::Undetermined, []) => {
            Some(report::condition_explanation(decision, condition_index))
        }
        (_, _) => None,
    };
    let stored_reason = independence.reason.as_deref().map(Cow::Borrowed);
    stored_reason
        .or_else(|| calculus_reason().map(Cow::Owned))
        .filter(|sentence| !sentence.is_empty())
}

fn measured_obligation<'a>(
    obligation: &'a SimpleObligation,
    criteria: &[CriterionName],
) -> MeasuredObligation<'a> {
    MeasuredObligation {
        id: obligation.id.to_string(),
        criteria: criteria.to_vec(),
        place: obligation.place(),
        text: &obligation.text,
        status: obligation.status,
        reason: obligation.reason.as_deref().map(Cow::Borrowed),
        uncounted: &obligation.uncounted,
        is_proposed: obligation.proposal.is_some(),
    }
}
