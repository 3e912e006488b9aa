//! Forgeries of what schedules have shown, where all but one thing goes together.

use super::{Forgery, forged, result};
use crate::model::evidence::Evidence;
use crate::model::finding::{Finding, FindingKind};
use crate::model::finding_details::FindingDetails;
use crate::model::schedule::{
    DirectedResult, MeasuredCode, Schedule, ScheduleResult, ScheduleStatus,
};
use crate::model::verdict::Verdict;
use serde_json::json;
use std::collections::BTreeMap;

pub(super) fn schedules(
    evidence: &mut Evidence,
    status: ScheduleStatus,
    ran: &[Schedule],
    different: &[Schedule],
) {
    let (ran, different) = (ran.to_vec(), different.to_vec());
    result(evidence).schedules =
        Some(ScheduleResult { asked: 1, seed: 0, status, ran, different, reason: None });
}

pub(super) fn schedule(text: &str) -> Schedule {
    text.parse().expect("a schedule")
}

/// Tells of an output that depends on the schedule, beside what the schedules showed.
fn dependent(evidence: &mut Evidence, named: &str) {
    let detail = match schedule(named).is_directed() {
        true => ("schedule".to_owned(), json!(named)),
        false => ("schedules".to_owned(), json!([named])),
    };
    result(evidence).findings.push(Finding {
        details: FindingDetails::Stored(BTreeMap::from([detail])),
        ..Finding::new(FindingKind::ScheduleDependentOutput, "another order left other contents")
    });
}

/// Tells of a directed schedule of the first test.
pub(super) fn directed(evidence: &mut Evidence, named: &str, shown: u32, reason: Option<&str>) {
    let reason = reason.map(str::to_owned);
    result(evidence).directed =
        vec![DirectedResult { schedule: schedule(named), of: MeasuredCode::Source, shown, reason }];
}

/// Says that a directed schedule alone has set a bit.
fn shown(evidence: &mut Evidence, bit: u32) {
    evidence.kernels[0].records[0].records.directed.insert(bit, schedule(WAITERS));
}

pub(super) const WAITERS: &str = "reversed+waiters-first";

/// Of schedules, where all but one thing goes together.
pub(super) const OF_SCHEDULES: &[Forgery] = &[
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("in-order+tiles:1")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(
                evidence,
                ScheduleStatus::Equal,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "reversed");
            schedules(evidence, ScheduleStatus::Equal, &[schedule("reversed")], &[]);
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, WAITERS);
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(evidence, ScheduleStatus::NothingToPermute, &[schedule("reversed")], &[])
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[schedule("reversed")], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            dependent(evidence, "in-order");
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[schedule("reversed")],
                &[schedule("reversed")],
            );
        },
        "names schedules that are not among those that differ",
    ),
    forged(
        |evidence| directed(evidence, "reversed", 0, None),
        "what a directed schedule has shown",
    ),
    forged(|evidence| directed(evidence, WAITERS, 1, None), "what a directed schedule has shown"),
    forged(
        |evidence| directed(evidence, WAITERS, 1, Some("a race")),
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            result(evidence).schedule = Some(schedule("reversed"));
        },
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            result(evidence).verdict = Verdict::Fail;
        },
        "what a directed schedule has shown",
    ),
    forged(
        |evidence| shown(evidence, 0),
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            shown(evidence, 0);
            directed(evidence, "reversed+waiters-first", 1, Some("a race"));
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            shown(evidence, 0);
            result(evidence).directed = vec![DirectedResult {
                schedule: schedule(WAITERS),
                of: MeasuredCode::Object,
                shown: 1,
                reason: None,
            }];
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
    forged(
        |evidence| {
            let words = evidence.kernels[0].records[0].records.words.len() as u32;
            shown(evidence, 32 * words);
            directed(evidence, WAITERS, 1, None);
        },
        "records of TC-SCL-01: what a directed schedule has shown",
    ),
];
