//! `vkcert list obligations --status STATUS`: the obligations of stored evidence with what tests have come to.
//!
//! Promises: a row per kernel, configuration, engine and obligation, in the order of reports; nothing is run.

use super::args::{List, ObligationStatus};
use super::evidence;
use super::failure::Failure;
use crate::model::coverage::{KernelCoverage, SimpleObligation, Status};
use crate::model::evidence::{Evidence, kernel_label};
use serde_json::{Value, json};

/// An obligation as a run has measured it.
struct Measured<'a> {
    id: String,
    place: String,
    text: &'a str,
    status: Status,
    reason: Option<&'a str>,
}

/// The rows of the listing.
pub fn rows(list: &List, asked: ObligationStatus) -> Result<Vec<Value>, Failure> {
    let folder = list.evidence.clone().unwrap_or_else(|| list.dir.join("reports/evidence"));
    let (stored, problems) = evidence::load(&folder)?;
    for problem in &problems {
        eprintln!("warning: {problem}");
    }
    Ok(of_evidence(&stored, asked))
}

fn of_evidence(stored: &Evidence, asked: ObligationStatus) -> Vec<Value> {
    let mut rows = Vec::new();
    for kernel in &stored.kernels {
        for obligation in of_coverage(&kernel.coverage).iter().filter(|row| asked.includes(row.status)) {
            rows.push(json!({
                "id": obligation.id, "kernel": kernel_label(&stored.kernels, kernel), "engine": kernel.engine,
                "place": obligation.place, "text": obligation.text, "status": obligation.status.to_string(),
                "reason": obligation.reason,
            }));
        }
    }
    rows
}

fn of_coverage(coverage: &KernelCoverage) -> Vec<Measured<'_>> {
    let mut rows: Vec<Measured> = coverage.statements.iter().map(simple).collect();
    let is_label = |item: &&SimpleObligation| {
        let mut outcomes = coverage.decisions.iter().flat_map(|decision| &decision.outcomes);
        item.object.is_none() && !outcomes.any(|outcome| outcome.id == item.id)
    };
    rows.extend(coverage.branches.iter().filter(is_label).map(simple));
    rows.extend(coverage.points.iter().map(simple));
    for decision in &coverage.decisions {
        rows.extend(decision.outcomes.iter().map(simple));
        for (condition, mcdc) in decision.conditions.iter().zip(&decision.mcdc) {
            for (form, independence) in [("unique-cause", &mcdc.unique_cause), ("masking", &mcdc.masking)] {
                rows.push(Measured {
                    id: format!("{}.{form}", condition.id),
                    place: format!("{}:{}:{}", decision.file, condition.line, condition.column),
                    text: &condition.text,
                    status: independence.status,
                    reason: independence.reason.as_deref(),
                });
            }
        }
        rows.extend(decision.combinations.iter().map(simple));
    }
    rows.extend(coverage.barriers.iter().map(simple));
    rows.extend(coverage.objects.iter().map(simple));
    rows
}

fn simple(item: &SimpleObligation) -> Measured<'_> {
    Measured {
        id: item.id.to_string(),
        place: item.place(),
        text: &item.text,
        status: item.status,
        reason: item.reason.as_deref(),
    }
}
