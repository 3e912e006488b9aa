//! A run beside an earlier one of the same project: what is worse, what is better, what is other.
//!
//! Knows: two evidences and nothing else.
//! Promises: whatever counts against the result of the run and did not count against that of the
//! earlier one is worse, and so is what the earlier one showed and is no longer there. What is
//! accepted instead of shown is told. Two runs with the same evidence have no change.
//! Does not cover: outputs, texts and whatever else leaves all of this as it was; whether the
//! evidence is true (`verify`); which change of the project caused what.

mod lists;
mod words;

pub use words::{baseline_in_words, baseline_sentence};

use self::lists::{Counted, Standing, Statuses, compare_counted, compare_statuses};
use crate::RunMeasure;
use crate::facts::kernel_unit;
use crate::facts::obligations::{justified_obligations, uncovered_obligations};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::baseline::{BaselineChange, BaselineComparison, ChangeArea, ChangeEffect};
use vkcert_model::evidence::{CheckStatus, EngineIdentity, Evidence, RequirementStatus};
use vkcert_model::objective::ObjectiveStatus;
use vkcert_model::open_item::{OpenItem, OpenItemSubject};
use vkcert_model::verdict::Verdict;

/// Compares a run with an earlier one of its project.
///
/// # Errors
/// If a manifest cannot be written as JSON, which the types rule out.
pub fn compare_with_baseline(
    baseline: &Evidence,
    now: &Evidence,
) -> Result<BaselineComparison, serde_json::Error> {
    let mut changes = Vec::new();
    add_settings(baseline, now, &mut changes);
    add_environment(baseline, now, &mut changes);
    let kernels = [baseline, now].map(kernel_statuses);
    compare_statuses(ChangeArea::Kernel, &kernels, &mut changes);
    let requirements = [baseline, now].map(requirement_statuses);
    compare_statuses(ChangeArea::Requirement, &requirements, &mut changes);
    compare_statuses(ChangeArea::Test, &[baseline, now].map(verdicts), &mut changes);
    for standing in [Standing::Open, Standing::Accepted] {
        let mut compare = |area, list: fn(&Evidence, Standing) -> Counted| {
            let lists = [baseline, now].map(|evidence| list(evidence, standing));
            compare_counted(area, standing, &lists, &mut changes);
        };
        compare(ChangeArea::Finding, findings);
        compare(ChangeArea::Coverage, coverage_gaps);
        compare(ChangeArea::OpenItem, open_items);
    }
    let checks = [baseline, now].map(failing_checks);
    compare_counted(ChangeArea::Coupling, Standing::Open, &checks, &mut changes);
    let justifications = [baseline, now].map(idle_justifications);
    compare_counted(ChangeArea::Justification, Standing::Open, &justifications, &mut changes);
    let objectives = [baseline, now].map(objective_statuses);
    compare_statuses(ChangeArea::Objective, &objectives, &mut changes);
    changes.sort();
    Ok(BaselineComparison { schema: 1, baseline: baseline.root()?, root: now.root()?, changes })
}

/// What the project asks for: less of it is worse, whatever it leads to; what a run is measured by
/// otherwise is neither.
fn add_settings(baseline: &Evidence, now: &Evidence, changes: &mut Vec<BaselineChange>) {
    let asked = |evidence: &Evidence| -> BTreeSet<String> {
        let criteria = evidence.campaign.project.criteria.iter();
        criteria.map(|criterion| format!("criterion {}", criterion.as_str())).collect()
    };
    add_members([asked(baseline), asked(now)], "asked for", changes);
    let looked_for = |evidence: &Evidence| -> BTreeSet<String> {
        let kinds = evidence.campaign.not_looked_for.iter();
        kinds.map(|kind| format!("finding {kind}")).collect()
    };
    add_members_of_what_is_left_out(
        [looked_for(baseline), looked_for(now)],
        "not looked for",
        changes,
    );
    let left_out = |evidence: &Evidence| -> BTreeSet<String> {
        evidence.campaign.tests_not_in_run().iter().map(|test| format!("test {test}")).collect()
    };
    add_members_of_what_is_left_out([left_out(baseline), left_out(now)], "left out", changes);
    let [before, now] = [baseline, now].map(RunMeasure::of_evidence);
    for (aspect, before, now) in now.changes_since(&before) {
        let area = match aspect {
            // They are compared member by member.
            "criteria asked for"
            | "tests left out"
            | "kernels set aside"
            | "findings not looked for"
            | "engines" => continue,
            // Without a test nothing was repeated.
            "repetitions" if [before, now].contains(&"none") => continue,
            "tool" | "compiler" => ChangeArea::Environment,
            _ => ChangeArea::Settings,
        };
        add_other(area, aspect, before.to_owned(), now.to_owned(), changes);
    }
}

fn add_other(
    area: ChangeArea,
    subject: &str,
    before: String,
    now: String,
    changes: &mut Vec<BaselineChange>,
) {
    if before != now {
        changes.push(BaselineChange {
            effect: ChangeEffect::Other,
            area,
            subject: subject.to_owned(),
            before: Some(before),
            now: Some(now),
        });
    }
}

/// Members of a set that were there and are not any more are worse, new ones better.
fn add_members(
    [before, now]: [BTreeSet<String>; 2],
    state: &str,
    changes: &mut Vec<BaselineChange>,
) {
    let change = |effect, subject: &String, before: bool| BaselineChange {
        effect,
        area: ChangeArea::Settings,
        subject: subject.clone(),
        before: before.then(|| state.to_owned()),
        now: (!before).then(|| state.to_owned()),
    };
    let gone = before.difference(&now);
    changes.extend(gone.map(|subject| change(ChangeEffect::Worse, subject, true)));
    let new = now.difference(&before);
    changes.extend(new.map(|subject| change(ChangeEffect::Better, subject, false)));
}

/// The same of a set of what a run does without: the other way round.
fn add_members_of_what_is_left_out(
    sets: [BTreeSet<String>; 2],
    state: &str,
    changes: &mut Vec<BaselineChange>,
) {
    let first_new = changes.len();
    add_members(sets, state, changes);
    for change in &mut changes[first_new..] {
        change.effect = match change.effect {
            ChangeEffect::Worse => ChangeEffect::Better,
            ChangeEffect::Better => ChangeEffect::Worse,
            ChangeEffect::Other => ChangeEffect::Other,
        };
    }
}

/// Engines with their devices and drivers. An engine that ran and does not is worse.
fn add_environment(baseline: &Evidence, now: &Evidence, changes: &mut Vec<BaselineChange>) {
    let ran = |evidence: &Evidence| -> Statuses {
        let engines = evidence.campaign.engines.iter();
        let status = |ran: bool| if ran { "ran" } else { "did not run" };
        let row = |engine: &EngineIdentity| {
            (format!("engine {}", engine.engine), (status(engine.ran).to_owned(), engine.ran))
        };
        engines.map(row).collect()
    };
    compare_statuses(ChangeArea::Environment, &[ran(baseline), ran(now)], changes);
    let identities = [baseline, now].map(|evidence| {
        let engines = evidence.campaign.engines.iter().filter(|engine| engine.ran);
        let facts = engines.flat_map(|engine| {
            let facts = engine.identity.iter();
            facts.map(|(name, value)| (format!("{} on {}", name, engine.engine), value.clone()))
        });
        facts.collect::<BTreeMap<String, String>>()
    });
    let [of_baseline, of_now] = &identities;
    for (name, before) in of_baseline {
        if let Some(now) = of_now.get(name) {
            add_other(ChangeArea::Environment, name, before.clone(), now.clone(), changes);
        }
    }
}

/// Each kernel under each configuration: that it is there; each that was set aside: that it is not.
fn kernel_statuses(evidence: &Evidence) -> Statuses {
    let set_aside = evidence.campaign.set_aside.iter();
    let set_aside = set_aside.map(|row| (row.kernel.to_string(), ("set aside".to_owned(), false)));
    let rows = evidence.campaign.conclusion.summary.iter();
    rows.map(|row| {
        let unit = kernel_unit(evidence, &row.kernel, &row.configuration).unit_label();
        (format!("{unit} on {}", row.engine), ("measured".to_owned(), true))
    })
    .chain(set_aside)
    .collect()
}

fn requirement_statuses(evidence: &Evidence) -> Statuses {
    let rows = evidence.campaign.requirements.iter();
    rows.map(|row| {
        let is_good = match row.status {
            RequirementStatus::Verified
            | RequirementStatus::ByOtherMeans
            | RequirementStatus::VerifiedByChildren => true,
            RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => {
                false
            }
        };
        (row.requirement.uid.to_string(), (row.status.to_string(), is_good))
    })
    .collect()
}

fn verdicts(evidence: &Evidence) -> Statuses {
    let results = evidence.campaign.tests.iter().flat_map(|test| {
        test.results.iter().map(|result| (format!("{} on {}", test.id, result.engine), result))
    });
    results
        .map(|(name, result)| (name, (result.verdict.to_string(), result.verdict == Verdict::Pass)))
        .collect()
}

/// Findings, by what they say without values and lines.
fn findings(evidence: &Evidence, standing: Standing) -> Counted {
    let mut counted = Counted::new();
    // Which test shows one first may change without a change of what stands.
    for (kernel, _, finding) in evidence.campaign.all_findings() {
        let acceptance = finding.acceptance.as_ref();
        let is_accepted = acceptance.is_some_and(|acceptance| acceptance.justification.is_some());
        if is_accepted != (standing == Standing::Accepted) {
            continue;
        }
        let content = match acceptance {
            Some(acceptance) => acceptance.content.clone(),
            None => without_lines(&finding.message),
        };
        let mut subject = format!("{}: {content}", finding.kind);
        if let Some(kernel) = kernel {
            subject.push_str(&format!(" (kernel {kernel})"));
        }
        // How many tests show it says nothing of the kernel.
        counted.insert(subject, 1);
    }
    counted
}

/// Obligations of the criteria asked for that no test covers, by what they are about: numbers move
/// with the text.
fn coverage_gaps(evidence: &Evidence, standing: Standing) -> Counted {
    let gaps = match standing {
        Standing::Open => uncovered_obligations(evidence),
        Standing::Accepted => justified_obligations(evidence),
    };
    let mut counted = Counted::new();
    for gap in gaps {
        let (unit, engine) = (gap.unit.unit_label(), gap.engine);
        let text = without_positions(gap.text);
        let subject = format!("{} `{text}`, kernel {unit} on {engine}", gap.criterion);
        *counted.entry(subject).or_default() += 1;
    }
    counted
}

/// Without lines and columns: `read at 15:13` is `read`.
fn without_positions(text: &str) -> String {
    let mut parts = text.split(" at ");
    let mut shortened = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_of_position = |letter: char| letter.is_ascii_digit() || letter == ':';
        let rest = part.trim_start_matches(is_of_position);
        let position = &part[..part.len() - rest.len()];
        match position.split_once(':') {
            Some((line, column)) if !line.is_empty() && !column.is_empty() => {
                shortened.push_str(rest);
            }
            Some(_) | None => shortened.extend([" at ", part]),
        }
    }
    shortened
}

/// Without the numbers of lines, which move with the text: `glsl/a.comp:12` is `glsl/a.comp`.
fn without_lines(text: &str) -> String {
    let mut shortened = String::new();
    let mut rest = text;
    while let Some(colon) = rest.find(':') {
        let (head, tail) = rest.split_at(colon);
        let digits = tail[1..].bytes().take_while(u8::is_ascii_digit).count();
        shortened.push_str(head);
        if digits == 0 || head.ends_with(' ') {
            shortened.push(':');
            rest = &tail[1..];
        } else {
            rest = &tail[1 + digits..];
        }
    }
    shortened + rest
}

fn failing_checks(evidence: &Evidence) -> Counted {
    let mut counted = Counted::new();
    for coupling in &evidence.campaign.coupling {
        for check in &coupling.checks {
            match check.status {
                CheckStatus::Holds => {}
                CheckStatus::Refuted | CheckStatus::Undetermined | CheckStatus::Unknown(_) => {
                    let subject = format!(
                        "{} {}, kernel {}: {}",
                        check.check,
                        check.status,
                        coupling.kernel,
                        without_lines(&check.message)
                    );
                    *counted.entry(subject).or_default() += 1;
                }
            }
        }
    }
    counted
}

/// Justifications that do not count. That one is gone is told by what it closed, and of mutants that were not asked for
/// nothing is worse.
fn idle_justifications(evidence: &Evidence) -> Counted {
    let mut counted = Counted::new();
    for row in &evidence.campaign.justifications {
        let is_unjudged = row.not_judged.is_some() && !row.is_of_mutant();
        if row.rejected.is_some() || is_unjudged {
            let justification = &row.justification;
            let subject = format!("of {}, kernel {}", justification.subject, justification.kernel);
            *counted.entry(subject).or_default() += 1;
        }
    }
    counted
}

/// Open items; of those with a number of places, so many of one.
fn open_items(evidence: &Evidence, standing: Standing) -> Counted {
    let is_accepted = standing == Standing::Accepted;
    let items = evidence.campaign.open_items.iter();
    let items = items.filter(|item| item.acceptance.is_some() == is_accepted);
    let mut counted = Counted::new();
    for item in items {
        let (subject, count) = counted_item(item);
        *counted.entry(subject).or_default() += count;
    }
    counted
}

fn counted_item(item: &OpenItem) -> (String, u32) {
    match &item.subject {
        Some(OpenItemSubject::Accesses { kernel, count }) => {
            (format!("{} {kernel}", item.kind), *count)
        }
        Some(_) | None => (item.name.clone(), 1),
    }
}

fn objective_statuses(evidence: &Evidence) -> Statuses {
    let rows = evidence.campaign.objectives.iter();
    rows.map(|row| {
        let is_good = match row.status {
            ObjectiveStatus::Met
            | ObjectiveStatus::Applicant
            | ObjectiveStatus::NotApplicable
            | ObjectiveStatus::NotRequired => true,
            ObjectiveStatus::Open => false,
        };
        (row.objective.row().number.to_owned(), (row.status.to_string(), is_good))
    })
    .collect()
}

#[cfg(test)]
mod tests;
