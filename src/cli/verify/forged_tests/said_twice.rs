//! Forgeries of what evidence says twice.

use super::schedules::{WAITERS, directed, schedule, schedules};
use super::{Forgery, finding, forged, result};
use crate::model::evidence::{
    CheckStatus, CouplingCheck, Evidence, RefusedKernel, RequirementStatus,
};
use crate::model::finding::Finding;
use crate::model::finding_details::FindingDetails;
use crate::model::schedule::{Schedule, ScheduleResult, ScheduleStatus};
use crate::model::verdict::Verdict;
use serde_json::json;

fn check(evidence: &mut Evidence) -> &mut CouplingCheck {
    let mut checks = evidence.campaign.coupling.iter_mut().flat_map(|row| &mut row.checks);
    checks.find(|check| check.status == CheckStatus::Holds).expect("a check that holds")
}

/// What evidence says twice.
pub(super) const SAID_TWICE: &[Forgery] = &[
    forged(
        |evidence| {
            let files = &mut evidence.kernels[0].structure.files;
            files
                .iter_mut()
                .find(|file| file.path.starts_with("inc/"))
                .expect("an include")
                .text
                .push('\n');
        },
        "the text of inc/scaled.glsl is not the input",
    ),
    forged(
        |evidence| evidence.kernels[0].objects.records[0].verdict = Verdict::Timeout,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| evidence.kernels[0].records[0].verdict = Verdict::Timeout,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| evidence.kernels[0].records[0].counted ^= true,
        "records of TC-SCL-01 do not go with its verdict",
    ),
    forged(
        |evidence| {
            let row = evidence.kernels[0].records[0].clone();
            evidence.kernels[1].records.push(row);
        },
        "TC-SCL-01 never runs it under",
    ),
    forged(
        |evidence| evidence.campaign.requirements[0].status = RequirementStatus::Verified,
        "requirement HLR-SCL-001: its status is not verified",
    ),
    forged(
        |evidence| evidence.campaign.requirements[1].hash.push('0'),
        "LLR-SCL-001: its content has another hash",
    ),
    forged(
        |evidence| {
            evidence.campaign.requirements[1].tests.pop();
        },
        "requirement LLR-SCL-001: its tests",
    ),
    forged(|evidence| evidence.campaign.justifications[0].rejected = None, "justifications"),
    forged(|evidence| evidence.campaign.justifications.clear(), "reasons of the conclusion"),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[Schedule::IN_ORDER], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Different, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Undetermined, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(
                evidence,
                ScheduleStatus::Equal,
                &[schedule("reversed"), schedule("in-order+tiles:1")],
                &[],
            );
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[Schedule::IN_ORDER], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::Equal, &[schedule(WAITERS)], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| schedules(evidence, ScheduleStatus::NotRun, &[], &[]),
        "what its schedules showed",
    ),
    forged(
        |evidence| {
            schedules(evidence, ScheduleStatus::Equal, &[schedule("reversed")], &[]);
            let told =
                result(evidence).schedules.clone().map(|told| ScheduleResult { seed: 1, ..told });
            evidence.campaign.tests[1].results[0].schedules = told;
        },
        "tests were asked for other schedules each",
    ),
    forged(
        |evidence| {
            directed(evidence, WAITERS, 0, None);
            let again = result(evidence).directed[0].clone();
            result(evidence).directed.push(again);
        },
        "its directed schedules are out of order",
    ),
    forged(
        |evidence| {
            schedules(
                evidence,
                ScheduleStatus::Different,
                &[Schedule::IN_ORDER],
                &[Schedule::IN_ORDER],
            )
        },
        "what its schedules showed",
    ),
    forged(
        |evidence| evidence.campaign.tests[0].results.clear(),
        "its results are not those of the engines",
    ),
    forged(
        |evidence| check(evidence).status = CheckStatus::Unknown("fine".to_owned()),
        "coupling of scale",
    ),
    forged(
        |evidence| check(evidence).counterexample = Some(Default::default()),
        "coupling of scale",
    ),
    forged(
        |evidence| check(evidence).status = CheckStatus::Refuted,
        "findings of coupling do not go with its checks",
    ),
    forged(
        |evidence| {
            let finding = finding(evidence);
            let mut details = finding.details.stored();
            details.insert("same_value".to_owned(), json!(true));
            details.insert("values".to_owned(), json!(["0x1", "0x2"]));
            finding.details = FindingDetails::Stored(details);
        },
        "contradicts its values",
    ),
    forged(
        |evidence| finding(evidence).configuration = Some("absent".to_owned()),
        "is of an unknown configuration",
    ),
    forged(
        |evidence| {
            let kernel = evidence.kernels[0].kernel;
            evidence
                .campaign
                .project
                .profile
                .refused
                .push(RefusedKernel { kernel, reasons: Vec::new() });
        },
        "though its profile refuses scale",
    ),
    forged(
        |evidence| evidence.manifest.devices.push("d".to_owned()),
        "the manifest names other devices",
    ),
    forged(
        |evidence| evidence.campaign.project.date = Some("2026-1-01T00:00:00Z".to_owned()),
        "none of RFC 3339",
    ),
    forged(
        |evidence| drop(evidence.kernels.drain(..)),
        "there is no file of kernel scale on sequential",
    ),
    forged(
        |evidence| result(evidence).deciding_repetition = Some(1),
        "which of its repetitions gave the verdict",
    ),
    forged(
        |evidence| {
            result(evidence).repetitions = 2;
            result(evidence).verdict = Verdict::Fail;
            result(evidence).deciding_repetition = Some(3);
        },
        "which of its repetitions gave the verdict",
    ),
    forged(|evidence| result(evidence).repetitions = 2, "were not started equally often"),
    forged(
        |evidence| result(evidence).touched[0][0].binding = 77,
        "what it accessed is not what is bound",
    ),
    forged(
        |evidence| {
            let witnesses = &mut evidence.kernels[0].records[0].records.witnesses;
            *witnesses.values_mut().next().expect("a witness") = [0, 0, 1];
        },
        "a witness that is none of the test's invocations",
    ),
    forged(
        |evidence| {
            let witnesses = &mut evidence.kernels[0].objects.records[0].records.witnesses;
            *witnesses.values_mut().next().expect("a witness") = [4, 0, 0];
        },
        "a witness that is none of the test's invocations",
    ),
    forged(
        |evidence| {
            evidence.kernels[0].records[0].records.witnesses.pop_first();
        },
        "witnesses of other bits than were recorded",
    ),
    forged(
        |evidence| {
            let records = &mut evidence.kernels[0].records[0].records;
            let bit = records.words.len() as u32 * 32 - 1;
            *records.words.last_mut().expect("a word") |= 1 << 31;
            records.witnesses.insert(bit, [0, 0, 0]);
        },
        "a bit that stands for nothing",
    ),
    forged(
        |evidence| {
            let kernel = &mut evidence.kernels[0];
            let entry = kernel
                .structure
                .functions
                .iter()
                .find(|function| function.name == "main")
                .expect("an entry");
            let bit = kernel.layout.mark_bit(entry.entry_mark).expect("a mark");
            let records = &mut kernel.records[0].records;
            records.words[bit as usize / 32] &= !(1 << (bit % 32));
            records.witnesses.remove(&bit);
        },
        "the entry point was not entered",
    ),
    forged(
        |evidence| {
            let mut results = evidence.campaign.tests.iter_mut().flat_map(|test| &mut test.results);
            let result = results.find(|result| !result.findings.is_empty()).expect("findings");
            let twice = Finding { count: 7, ..result.findings[0].clone() };
            result.findings.insert(1, twice);
        },
        "stands twice",
    ),
    forged(|evidence| finding(evidence).count = 0, "that did not occur"),
    forged(
        |evidence| finding(evidence).invocations = vec![[9, 0, 0]],
        "of invocations that there are none of",
    ),
];
