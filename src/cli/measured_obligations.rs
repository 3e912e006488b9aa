//! `vkcert list obligations --status STATUS`: the obligations of stored evidence with what tests
//! have come to.
//!
//! Promises: a row per kernel, configuration, engine and obligation, in the order of reports, with
//! the criteria that it belongs to and whether the project asks for any of them; nothing is run.

use super::args::{List, ObligationStatus, OutputForm};
use super::failure::Failure;
use super::places;
use crate::derivation::derive;
use crate::derivation::open_items::listed;
use crate::model::coverage::{
    DecisionCoverage, Independence, KernelCoverage, SimpleObligation, Status,
};
use crate::model::evidence::{Evidence, kernel_label};
use crate::model::id::{ObligationId, TestId};
use crate::model::project::CriterionName;
use crate::model::wording::plural;
use crate::report;
use crate::verify::folder;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The key of a row that says whether `--propose` has a justification for it; no column of a table.
pub(super) const PROPOSED: &str = "proposed";

/// An obligation as a run has measured it.
struct Measured<'a> {
    id: String,
    criteria: Vec<CriterionName>,
    place: String,
    text: &'a str,
    status: Status,
    /// As stored.
    reason: Option<String>,
    /// Tests that exercise it and do not count.
    uncounted: &'a [TestId],
    /// Whether a configuration rules it out.
    is_proposed: bool,
}

/// The rows of the listing; with hashes where they are asked for, and in JSON.
pub(super) fn rows(
    list: &List,
    asked: ObligationStatus,
    form: OutputForm,
) -> Result<Vec<Value>, Failure> {
    let folder = list.evidence.clone().unwrap_or_else(|| list.dir.join(places::EVIDENCE));
    let (stored, problems) = folder::load(&folder)?;
    for problem in &problems {
        super::output::tell(format_args!("warning: {problem}\n"));
    }
    if !stored.campaign.left_out.is_empty() {
        super::output::tell(left_out(&stored.campaign.left_out, list));
    }
    let mut rows = of_evidence(&stored, asked);
    if !list.hash && form == OutputForm::Text {
        rows.iter_mut().filter_map(Value::as_object_mut).for_each(|row| drop(row.remove("hash")));
    }
    Ok(rows)
}

/// What a row says of tests is said of those that ran.
fn left_out(tests: &[TestId], list: &List) -> String {
    let names: Vec<String> = tests.iter().map(ToString::to_string).collect();
    let whole = places::of_list(list).on_project("vkcert certify", "");
    let left_out = plural(
        tests.len(),
        "test was left out of this campaign",
        "tests were left out of this campaign",
    );
    format!("warning: {left_out} ({}) and cover nothing here; {whole} runs all\n", listed(&names))
}

/// What to do with open obligations; none where the rows have none.
pub(super) fn next_steps(list: &List, rows: &[Value]) -> Option<String> {
    let open = [Status::Uncovered, Status::Undetermined].map(|status| status.to_string());
    let is_open = |row: &&Value| {
        row["status"].as_str().is_some_and(|status| open.iter().any(|name| name == status))
    };
    rows.iter().find(is_open)?;
    let places = places::of_list(list);
    let proposed = rows.iter().filter(is_open).filter(|row| row[PROPOSED] == json!(true)).count();
    let hash = match list.hash {
        true => "with the hash above".to_owned(),
        false => {
            let hash = places.on_evidence("vkcert list obligations", "--status open --hash");
            format!("with the hash that {hash} prints")
        }
    };
    let by_hand =
        format!("is justified by hand: a `[[justification]]` in a file of requirements/, {hash}");
    Some(match proposed {
        0 => format!("Next: tests that cover these. What no test can cover {by_hand}."),
        count => {
            let propose = places.on_project("vkcert list obligations", "--propose");
            format!(
                "Next: tests that cover these. For what no test can cover under a configuration ({count} of these), {propose} \
                 prints justifications to review; what else no test can cover {by_hand}."
            )
        }
    })
}

/// Rows of criteria that the project asks for, and how many others there are.
pub(super) fn asked_for(rows: Vec<Value>) -> (Vec<Value>, usize) {
    let (asked, others): (Vec<Value>, Vec<Value>) =
        rows.into_iter().partition(|row| row["asked"] == json!(true));
    (asked, others.len())
}

fn of_evidence(stored: &Evidence, asked: ObligationStatus) -> Vec<Value> {
    let mut rows = Vec::new();
    derive::stored_contents(&stored.kernels, |kernel, contents| {
        for obligation in
            of_coverage(&kernel.coverage).into_iter().filter(|row| asked.includes(row.status))
        {
            let hash = contents.hash(&ObligationId(obligation.id.clone()));
            let names: Vec<&str> =
                obligation.criteria.iter().map(|criterion| criterion.name()).collect();
            let reason = match obligation.status {
                Status::Uncovered | Status::Undetermined => {
                    report::open_reason(stored, obligation.reason.as_deref(), obligation.uncounted)
                }
                Status::Covered | Status::Justified => {
                    obligation.reason.clone().unwrap_or_default()
                }
            };
            rows.push(json!({
                "id": obligation.id, "kernel": kernel_label(&stored.kernels, kernel), "engine": kernel.engine,
                "criteria": names, "asked": names.iter().any(|name| report::asked_for(stored, name)),
                "place": obligation.place, "text": obligation.text, "status": obligation.status.to_string(),
                "reason": (!reason.is_empty()).then_some(reason), "hash": hash,
                PROPOSED: obligation.is_proposed,
            }));
        }
    });
    rows
}

fn of_coverage(coverage: &KernelCoverage) -> Vec<Measured<'_>> {
    let outcome_ids: BTreeSet<&ObligationId> = coverage
        .decisions
        .iter()
        .flat_map(|decision| &decision.outcomes)
        .map(|outcome| &outcome.id)
        .collect();
    let of = |criterion: CriterionName| move |item| simple(item, &[criterion]);
    let mut rows: Vec<Measured> =
        coverage.statements.iter().map(of(CriterionName::Statement)).collect();
    let labels = coverage
        .branches
        .iter()
        .filter(|item| item.object.is_none() && !outcome_ids.contains(&item.id));
    rows.extend(labels.map(of(CriterionName::Branch)));
    rows.extend(coverage.points.iter().map(of(CriterionName::Decision)));
    let branches: BTreeSet<&ObligationId> = coverage.branches.iter().map(|item| &item.id).collect();
    for decision in &coverage.decisions {
        rows.extend(decision.outcomes.iter().map(|item| {
            let branch = branches.contains(&item.id).then_some(CriterionName::Branch);
            simple(item, &branch.into_iter().chain([CriterionName::Decision]).collect::<Vec<_>>())
        }));
        rows.extend(conditions(decision));
        rows.extend(decision.combinations.iter().map(of(CriterionName::MultipleCondition)));
    }
    rows.extend(coverage.barriers.iter().map(of(CriterionName::Barrier)));
    let additional: BTreeSet<&ObligationId> = coverage.additional.iter().collect();
    rows.extend(coverage.objects.iter().map(|item| {
        let branch = branches.contains(&item.id).then_some(CriterionName::Branch);
        let additional = additional.contains(&item.id).then_some(CriterionName::AdditionalCode);
        simple(
            item,
            &branch
                .into_iter()
                .chain([CriterionName::ObjectBranch])
                .chain(additional)
                .collect::<Vec<_>>(),
        )
    }));
    rows
}

/// Both forms of MC/DC of every condition.
fn conditions(decision: &DecisionCoverage) -> Vec<Measured<'_>> {
    let mut rows = Vec::new();
    for (index, (condition, mcdc)) in decision.conditions.iter().zip(&decision.mcdc).enumerate() {
        let forms = [
            ("unique-cause", CriterionName::McdcUniqueCause, &mcdc.unique_cause),
            ("masking", CriterionName::McdcMasking, &mcdc.masking),
        ];
        rows.extend(forms.map(|(form, criterion, independence)| Measured {
            id: format!("{}.{form}", condition.id),
            criteria: vec![criterion],
            place: format!("{}:{}:{}", decision.file, condition.line, condition.column),
            text: &condition.text,
            status: independence.status,
            reason: condition_reason(decision, index, independence),
            uncounted: &independence.uncounted,
            is_proposed: independence.proposal.is_some(),
        }));
    }
    rows
}

/// The stored reason, or what the calculus says of the condition where no test that does not count
/// exercises it.
fn condition_reason(
    decision: &DecisionCoverage,
    index: usize,
    independence: &Independence,
) -> Option<String> {
    let explained = || match (independence.status, independence.uncounted.as_slice()) {
        (Status::Uncovered | Status::Undetermined, []) => {
            Some(report::explanation(decision, index))
        }
        (_, _) => None,
    };
    independence.reason.clone().or_else(explained).filter(|sentence| !sentence.is_empty())
}

fn simple<'a>(item: &'a SimpleObligation, criteria: &[CriterionName]) -> Measured<'a> {
    Measured {
        id: item.id.to_string(),
        criteria: criteria.to_vec(),
        place: item.place(),
        text: &item.text,
        status: item.status,
        reason: item.reason.clone(),
        uncounted: &item.uncounted,
        is_proposed: item.proposal.is_some(),
    }
}
