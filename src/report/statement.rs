//! What page 1 states, in sentences that every format shares.
//!
//! Promises: nothing is stated that the evidence does not hold: of tests only if every requirement
//! has its own, of findings only of the kinds that were looked for, of coverage with the criteria
//! that are meant.
//! Does not cover: how the sentences are set.

pub(crate) mod brief;
pub(crate) mod people;

use super::document::Tone;
use super::facts;
use super::places::Places;
use super::shortened::first_names;
use brief::{BriefReasons, ToldReason};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vkcert_model::criterion::{CriterionName, StoredCriterion};
use vkcert_model::evidence::{Campaign, Evidence, RequirementStatus, TestEvidence, TestResult};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::KernelName;
use vkcert_model::open_item::{Acceptability, UnsoughtKind, UnsoughtReason};
use vkcert_model::project::DecisionPolicy;
use vkcert_model::reason::{Ground, Reason, ReasonKind};
use vkcert_model::requirement::VerificationMethod;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_model::wording::plural;

/// Exit codes as the contract gives them, in words.
pub(crate) fn conclusion_title(evidence: &Evidence) -> (Tone, String) {
    let (tone, title) = match evidence.campaign.conclusion.exit_code {
        0 => match signed_words(evidence) {
            None => (Tone::Good, "All that was asked for holds"),
            Some(signed) => {
                return (Tone::Caution, format!("All that was asked for holds, but for {signed}"));
            }
        },
        1 => {
            return (
                Tone::Bad,
                failure_summary(evidence)
                    .unwrap_or_else(|| "The evidence is not complete".to_owned()),
            );
        }
        2 => (Tone::Bad, "An input is wrong"),
        3 => (Tone::Bad, "The tool failed"),
        4 => match failure_summary(evidence) {
            Some(failures) => {
                return (
                    Tone::Bad,
                    format!("{failures}; something that was asked for is not available"),
                );
            }
            None => {
                (Tone::Caution, "An engine, device or feature that was asked for is not available")
            }
        },
        _ => (Tone::Bad, "Ended with an unknown exit code"),
    };
    (tone, title.to_owned())
}

/// What people have signed for in place of tests: `1 accepted open item, 3 justified obligations`;
/// none where nothing is.
fn signed_words(evidence: &Evidence) -> Option<String> {
    let accepted_items = evidence.campaign.open_items.iter().filter(|item| !item.stands()).count();
    let justified_count = justified_obligations(evidence);
    let (_, accepted_findings) = facts::finding_counts(&facts::merged_findings(evidence));
    let mutation = evidence.campaign.mutation.as_ref();
    let accepted_mutants = mutation.map_or(0, |summary| summary.counts.accepted as usize);
    let signed_parts = [
        (accepted_items > 0).then(|| counted(accepted_items, "accepted open item")),
        (justified_count > 0).then(|| counted(justified_count, "justified obligation")),
        (accepted_findings > 0).then(|| counted(accepted_findings, "accepted finding")),
        (accepted_mutants > 0).then(|| counted(accepted_mutants, "accepted mutant")),
    ];
    let signed_parts: Vec<String> = signed_parts.into_iter().flatten().collect();
    (!signed_parts.is_empty()).then(|| signed_parts.join(", "))
}

/// Obligations of the criteria asked for that justifications close, counted where most are: on one
/// engine of a kernel.
pub(crate) fn justified_obligations(evidence: &Evidence) -> usize {
    let mut by_unit: BTreeMap<(&KernelName, &str), u32> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let asked_criteria = row
            .criteria
            .iter()
            .filter(|criterion| facts::is_asked_for(evidence, &criterion.criterion));
        let justified: u32 = asked_criteria.map(|criterion| criterion.justified).sum();
        let most_justified = by_unit.entry((&row.kernel, &row.configuration)).or_default();
        *most_justified = justified.max(*most_justified);
    }
    by_unit.values().sum::<u32>() as usize
}

/// Kernels that no test which ran has dispatched on any engine; references and checkers of
/// expectations are not dispatched.
pub(crate) fn never_run(evidence: &Evidence) -> Vec<&KernelName> {
    let campaign = &evidence.campaign;
    let has_run = |test: &&TestEvidence| test.results.iter().any(|result| result.verdict.ran());
    let run_kernels: BTreeSet<&KernelName> =
        campaign.tests.iter().filter(has_run).flat_map(|test| &test.kernels).collect();
    let mut absent_kernels: Vec<&KernelName> = Vec::new();
    for kernel in campaign.conclusion.summary.iter().map(|row| &row.kernel) {
        if !run_kernels.contains(kernel) && !absent_kernels.contains(&kernel) {
            absent_kernels.push(kernel);
        }
    }
    absent_kernels
}

/// `Failed: 28 of 30 tests, 2 of 5 requirements, 12 findings`, where anything was seen to be wrong
/// and not only left open.
fn failure_summary(evidence: &Evidence) -> Option<String> {
    let campaign = &evidence.campaign;
    let is_wrong = |verdict: Verdict| match verdict {
        Verdict::Fail | Verdict::Error | Verdict::Timeout => true,
        Verdict::Pass | Verdict::NotRun | Verdict::Unsupported | Verdict::Undetermined => false,
    };
    let failed_tests = campaign
        .tests
        .iter()
        .filter(|test| test.results.iter().any(|result| is_wrong(result.verdict)))
        .count();
    let failed_requirements =
        campaign.requirements.iter().filter(|row| row.status == RequirementStatus::Failed).count();
    let (standing_findings, _) = facts::finding_counts(&facts::merged_findings(evidence));
    let failed_parts = [
        (failed_tests > 0).then(|| format!("{failed_tests} of {} tests", campaign.tests.len())),
        (failed_requirements > 0).then(|| {
            format!("{failed_requirements} of {} requirements", campaign.requirements.len())
        }),
        (standing_findings > 0).then(|| counted(standing_findings, "finding")),
    ];
    let failed_parts: Vec<String> = failed_parts.into_iter().flatten().collect();
    (!failed_parts.is_empty()).then(|| format!("Failed: {}", failed_parts.join(", ")))
}

/// `1 finding`, `2 findings`
pub(crate) fn counted(count: usize, noun: &str) -> String {
    plural(count, noun, &format!("{noun}s"))
}

/// Whether evidence is of a format that holds open items.
pub(crate) fn holds_items(campaign: &Campaign) -> bool {
    campaign.settings.is_some()
}

/// Said of evidence that holds no open items.
pub(crate) const NO_ITEMS: &str = "This evidence is of an older format, which says nothing of open items and of what was not looked for.";

/// Reasons of the conclusion; those of open items as one sentence, because the items are listed by
/// themselves.
pub(crate) fn told_reasons(evidence: &Evidence) -> Vec<ToldReason> {
    let Campaign { conclusion, open_items, .. } = &evidence.campaign;
    let of_items: Vec<String> = open_items
        .iter()
        .filter(|item| item.stands())
        .map(|item| item.reason().to_string())
        .collect();
    let has_grounds = conclusion.grounds.len() == conclusion.reasons.len();
    let mut other_reasons = Vec::new();
    for (reason_index, sentence) in conclusion.reasons.iter().enumerate() {
        if !of_items.contains(sentence) {
            let ground = conclusion.grounds.get(reason_index).filter(|_| has_grounds).cloned();
            other_reasons.push(ToldReason { ground, sentence: sentence.clone() });
        }
    }
    let mut told_reasons = engines_at_once(&evidence.campaign.tests, other_reasons);
    if !of_items.is_empty() {
        let item_count = counted(of_items.len(), "open item");
        let sentence = format!("{item_count}: less than the level asks for, and not accepted");
        let ground = Ground { kind: ReasonKind::OpenItemStands, about: item_count };
        told_reasons.push(ToldReason { ground: Some(ground), sentence });
    }
    told_reasons
}

/// Of a test that came to the same on several engines, one reason for all of them.
fn engines_at_once(tests: &[TestEvidence], reasons: Vec<ToldReason>) -> Vec<ToldReason> {
    let mut joint_sentences: HashMap<String, Option<String>> = HashMap::new();
    for test in tests {
        for (result_index, result) in test.results.iter().enumerate() {
            let is_same_result = |other_result: &&TestResult| {
                (other_result.verdict, &other_result.reason) == (result.verdict, &result.reason)
            };
            let alike_engines: Vec<EngineName> = test
                .results
                .iter()
                .filter(is_same_result)
                .map(|other_result| other_result.engine)
                .collect();
            let Some(kind) =
                ReasonKind::of_verdict(result.verdict).filter(|_| alike_engines.len() > 1)
            else {
                continue;
            };
            let is_first = test.results[..result_index]
                .iter()
                .all(|earlier_result| !is_same_result(&earlier_result));
            let (verdict, reason) = (result.verdict, &result.reason);
            let sentence = |engines: Vec<EngineName>| {
                Reason::Test { kind, test: test.id, engines, verdict, reason: reason.clone() }
                    .to_string()
            };
            joint_sentences
                .insert(sentence(vec![result.engine]), is_first.then(|| sentence(alike_engines)));
        }
    }
    let merged_reason = |reason: ToldReason| match joint_sentences.get(&reason.sentence) {
        Some(joint_sentence) => {
            joint_sentence.clone().map(|sentence| ToldReason { sentence, ..reason })
        }
        None => Some(reason),
    };
    reasons.into_iter().filter_map(merged_reason).collect()
}

/// The same in few lines.
pub(crate) fn brief_reasons(evidence: &Evidence) -> BriefReasons {
    brief::brief_reasons(evidence, told_reasons(evidence))
}

/// What holds where nothing stands against the result.
pub(crate) fn achieved_statements(evidence: &Evidence) -> Vec<String> {
    [
        requirements_statement(evidence),
        obligations_statement(evidence),
        findings_statement(evidence),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn requirements_statement(evidence: &Evidence) -> Option<String> {
    let requirement_rows = &evidence.campaign.requirements;
    let by_test = |row: &&vkcert_model::evidence::RequirementEvidence| {
        row.requirement.verification.contains(&VerificationMethod::Test)
    };
    let mut tested_rows = requirement_rows.iter().filter(by_test).peekable();
    tested_rows.peek()?;
    if tested_rows.all(|row| row.status == RequirementStatus::Verified && !row.tests.is_empty()) {
        let all_passed = "Every requirement to be verified by test has tests, and they passed on every engine that ran.";
        return Some(all_passed.to_owned());
    }
    let mut status_counts: Vec<(RequirementStatus, usize)> = Vec::new();
    for row in requirement_rows {
        match status_counts.iter_mut().find(|(status, _)| *status == row.status) {
            Some((_, count)) => *count += 1,
            None => status_counts.push((row.status, 1)),
        }
    }
    status_counts.sort();
    let status_counts: Vec<String> =
        status_counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    Some(format!("Of {} requirements {}.", requirement_rows.len(), status_counts.join(", ")))
}

fn obligations_statement(evidence: &Evidence) -> Option<String> {
    let criteria = &evidence.campaign.project.criteria;
    if criteria.is_empty() {
        return Some("No criterion of structural coverage is asked for.".to_owned());
    }
    if evidence.campaign.conclusion.summary.is_empty() {
        return None;
    }
    let masking = StoredCriterion::Named(CriterionName::McdcMasking);
    let criterion_count = |asked: &StoredCriterion| {
        let criterion = match asked {
            StoredCriterion::Mcdc => &masking,
            StoredCriterion::Named(_) | StoredCriterion::Unknown(_) => asked,
        };
        format!(
            "{} {}",
            facts::criterion_title(criterion),
            facts::obligations_of(evidence, criterion)
        )
    };
    let criterion_counts: Vec<String> = criteria.iter().map(criterion_count).collect();
    let criterion_counts = criterion_counts.join(", ");
    Some(format!(
        "Every obligation of the criteria asked for is covered or justified (obligations: {criterion_counts})."
    ))
}

/// How far findings were looked for.
enum FindingScope {
    Everywhere,
    InPart,
    Nowhere,
}

fn finding_scope(evidence: &Evidence) -> FindingScope {
    let campaign = &evidence.campaign;
    let never_run = never_run(evidence);
    let known_kernels: BTreeSet<&KernelName> =
        campaign.conclusion.summary.iter().map(|row| &row.kernel).collect();
    // In kernels that compile a kind was looked for all the same.
    let is_of_run = |row: &&UnsoughtKind| row.reason != UnsoughtReason::KernelsSetAside;
    if campaign.unsought.iter().filter(is_of_run).count() == FindingKind::ALL.len()
        || (!known_kernels.is_empty() && never_run.len() == known_kernels.len())
    {
        FindingScope::Nowhere
    } else if holds_items(campaign) && campaign.unsought.is_empty() && never_run.is_empty() {
        FindingScope::Everywhere
    } else {
        FindingScope::InPart
    }
}

fn findings_statement(evidence: &Evidence) -> Option<String> {
    let (standing_count, accepted_count) = facts::finding_counts(&facts::merged_findings(evidence));
    if standing_count > 0 {
        return None;
    }
    let accepted_words = match accepted_count {
        0 => String::new(),
        1 => "; 1 is accepted by justification".to_owned(),
        n => format!("; {n} are accepted by justification"),
    };
    let scope_words = match finding_scope(evidence) {
        FindingScope::Everywhere => "",
        FindingScope::InPart => " of the kinds looked for",
        FindingScope::Nowhere => return None,
    };
    Some(format!("No finding{scope_words} stands{accepted_words}."))
}

/// `none` of findings, as far as that can be said.
pub(crate) fn no_findings(evidence: &Evidence) -> (&'static str, Tone) {
    match finding_scope(evidence) {
        FindingScope::Everywhere => ("none", Tone::Good),
        FindingScope::InPart => ("none of the kinds looked for", Tone::Good),
        FindingScope::Nowhere => ("not looked for", Tone::Bad),
    }
}

/// Kinds of findings that were not looked for, or not everywhere, by reason: `engine-disagreement,
/// validation: no device ran`.
pub(crate) fn unsought_kinds(evidence: &Evidence) -> Vec<String> {
    let mut kinds_by_reason: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &evidence.campaign.unsought {
        let reason = row.reason.to_string();
        match kinds_by_reason.iter_mut().find(|(known_reason, _)| *known_reason == reason) {
            Some((_, kinds)) => kinds.push(row.kind.name()),
            None => kinds_by_reason.push((reason, vec![row.kind.name()])),
        }
    }
    kinds_by_reason
        .into_iter()
        .map(|(reason, kinds)| format!("{}: {reason}", kinds.join(", ")))
        .collect()
}

/// What shares of coverage are shares of.
pub(crate) fn basis_of_shares(evidence: &Evidence) -> String {
    let basis = if evidence.campaign.project.decision_policy == DecisionPolicy::ControlFlow {
        "Shares: obligations covered by tests that passed, of all obligations. Decision: decisions in control flow alone, entry \
         and exit points of functions."
    } else {
        "Shares: obligations covered by tests that passed, of all obligations. Decision: all Boolean expressions, entry and exit \
         points of functions."
    };
    match evidence.campaign.set_aside_in_words() {
        None => basis.to_owned(),
        Some(words) => format!("{basis} No share is of all kernels: {words}."),
    }
}

/// `all kernels`, or those that shares can be of where others do not compile.
pub(crate) fn all_kernels(evidence: &Evidence) -> &'static str {
    match evidence.campaign.set_aside.is_empty() {
        true => "all kernels",
        false => "all kernels that compile",
    }
}

/// The same as the name of a row.
pub(crate) fn all_kernels_title(evidence: &Evidence) -> &'static str {
    match evidence.campaign.set_aside.is_empty() {
        true => "All kernels",
        false => "All kernels that compile",
    }
}

/// `1 of 3 kernels does not compile and was set aside: broken`; none where all compile.
pub(crate) fn set_aside_kernels(evidence: &Evidence) -> Option<String> {
    let rows = &evidence.campaign.set_aside;
    let names: Vec<&str> = rows.iter().map(|row| row.kernel.as_str()).collect();
    let words = evidence.campaign.set_aside_in_words()?;
    Some(format!("{words}: {}", first_names(&names)))
}

/// Notes of page 1; of older evidence the engines that did not run.
pub(crate) fn page_notes(evidence: &Evidence) -> Vec<String> {
    let campaign = &evidence.campaign;
    if holds_items(campaign) {
        let stored_notes = campaign.notes.iter().map(|note| note.sentence.clone());
        return absent_kernels(evidence)
            .into_iter()
            .chain(stored_notes)
            .chain(people::people_notes(campaign))
            .collect();
    }
    let absent_engines = campaign.engines.iter().filter(|engine| !engine.ran).map(|engine| {
        let reason = engine.reason.as_deref().unwrap_or("no reason recorded");
        format!("Not run on the engine {}: {reason}. Nothing is claimed for it.", engine.engine)
    });
    absent_engines.chain([NO_ITEMS.to_owned()]).collect()
}

/// What to do next for each kind of what is left: a command, or a line of the project file.
pub(crate) fn next_steps(evidence: &Evidence, places: &Places) -> Vec<String> {
    let campaign = &evidence.campaign;
    let mut next_commands = Vec::new();
    let open_obligations = facts::uncovered_obligations(evidence);
    if !open_obligations.is_empty() {
        let list_command = places.on_evidence("vkcert list obligations", "--status open");
        let propose_command = match open_obligations.iter().any(|item| item.proposal.is_some()) {
            true => {
                let propose_command = places.on_project("vkcert list obligations", "--propose");
                format!(
                    "; {propose_command} prints justifications to review of what no test can cover"
                )
            }
            false => String::new(),
        };
        next_commands.push(format!("uncovered: {list_command} lists all{propose_command}"));
    }
    next_commands.extend(next_of_findings(evidence, places));
    if !campaign.left_out.is_empty() {
        let whole_command = places.on_project("vkcert certify", "");
        next_commands.push(format!("tests left out: {whole_command} runs all of them"));
    }
    if !campaign.set_aside.is_empty() {
        let build_command = places.on_project("vkcert build", "");
        next_commands.push(format!(
            "kernels that do not compile: {build_command} tells what is wrong with each"
        ));
    }
    let mut standing_items = campaign.open_items.iter().filter(|item| item.stands());
    if let Some(item) = standing_items.find(|item| item.acceptable == Acceptability::ByProject) {
        next_commands.push(format!(
            "open items: close them, or accept each in vkcert.toml: `[[accept]]` with `item = \"{}\"`, reason, author, approver",
            item.name
        ));
    }
    if campaign.requirements.iter().any(|row| !row.suspect_parents.is_empty()) {
        let pin_command = places.on_project("vkcert requirements", "--pin --suspect");
        next_commands.push(format!("suspect links: review the children, then {pin_command}"));
    }
    if campaign
        .requirements
        .iter()
        .flat_map(|row| &row.requirement.parents)
        .any(|link| link.hash.is_none())
    {
        let pin_command = places.on_project("vkcert requirements", "--pin");
        next_commands.push(format!("links not pinned: review them, then {pin_command}"));
    }
    next_commands
}

/// Where findings stand: the list of them, and what can be justified, if any of them can.
fn next_of_findings(evidence: &Evidence, places: &Places) -> Option<String> {
    let merged_findings = facts::merged_findings(evidence);
    let mut standing_findings =
        merged_findings.iter().filter(|merged_finding| merged_finding.finding.stands()).peekable();
    standing_findings.peek()?;
    let list_command = places.on_evidence("vkcert list findings", "");
    let propose_words =
        match standing_findings.any(|merged_finding| merged_finding.finding.acceptance.is_some()) {
            true => {
                let propose_command = places.on_evidence("vkcert list findings", "--propose");
                format!("{propose_command} prints justifications to review")
            }
            false => "none of them can be accepted by a justification".to_owned(),
        };
    Some(format!("findings: {list_command} lists all; {propose_words}"))
}

/// What is not known of kernels that no test dispatched.
fn absent_kernels(evidence: &Evidence) -> Option<String> {
    let kernel_names: Vec<&str> = never_run(evidence).into_iter().map(KernelName::as_str).collect();
    let (noun, verb) =
        if kernel_names.len() == 1 { ("Kernel", "was") } else { ("Kernels", "were") };
    let shown_names = first_names(&kernel_names);
    (!kernel_names.is_empty())
        .then(|| format!("{noun} {shown_names} {verb} dispatched by no test that ran: no test shows what a dispatch does."))
}
