//! What page 1 states, in sentences that every format shares.
//!
//! Promises: nothing is stated that the evidence does not hold: of tests only if every requirement
//! has its own, of findings only of the kinds that were looked for, of coverage with the criteria
//! that are meant.
//! Does not cover: how the sentences are set.

pub(crate) mod brief;

use super::document::Tone;
use super::facts;
use super::places::Places;
use super::shortened::listed;
use brief::{BriefReasons, ToldReason};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use vkcert_model::evidence::{Campaign, Evidence, RequirementStatus, TestEvidence, TestResult};
use vkcert_model::finding::FindingKind;
use vkcert_model::id::KernelName;
use vkcert_model::open_item::Acceptability;
use vkcert_model::project::DecisionPolicy;
use vkcert_model::reason::{Ground, Reason, ReasonKind};
use vkcert_model::requirement::VerificationMethod;
use vkcert_model::verdict::{EngineName, Verdict};
use vkcert_model::wording::plural;

/// Exit codes as the contract gives them, in words.
pub(crate) fn title(evidence: &Evidence) -> (Tone, String) {
    let (tone, title) = match evidence.campaign.conclusion.exit_code {
        0 => match signed_for(evidence) {
            None => (Tone::Good, "All that was asked for holds"),
            Some(signed) => {
                return (Tone::Caution, format!("All that was asked for holds, but for {signed}"));
            }
        },
        1 => {
            return (
                Tone::Bad,
                failures(evidence).unwrap_or_else(|| "The evidence is not complete".to_owned()),
            );
        }
        2 => (Tone::Bad, "An input is wrong"),
        3 => (Tone::Bad, "The tool failed"),
        4 => match failures(evidence) {
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
fn signed_for(evidence: &Evidence) -> Option<String> {
    let accepted = evidence.campaign.open_items.iter().filter(|item| !item.stands()).count();
    let justified = justified(evidence);
    let (_, findings) = facts::finding_counts(&facts::findings(evidence));
    let parts = [
        (accepted > 0).then(|| counted(accepted, "accepted open item")),
        (justified > 0).then(|| counted(justified, "justified obligation")),
        (findings > 0).then(|| counted(findings, "accepted finding")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Obligations of the criteria asked for that justifications close, counted where most are: on one
/// engine of a kernel.
pub(crate) fn justified(evidence: &Evidence) -> usize {
    let mut by_unit: BTreeMap<(&KernelName, &str), u32> = BTreeMap::new();
    for row in &evidence.campaign.conclusion.summary {
        let asked = row
            .criteria
            .iter()
            .filter(|criterion| facts::asked_for(evidence, &criterion.criterion));
        let justified: u32 = asked.map(|criterion| criterion.justified).sum();
        let most = by_unit.entry((&row.kernel, &row.configuration)).or_default();
        *most = justified.max(*most);
    }
    by_unit.values().sum::<u32>() as usize
}

/// Kernels that no test which ran has dispatched on any engine; references and checkers of
/// expectations are not dispatched.
pub(crate) fn never_run(evidence: &Evidence) -> Vec<&KernelName> {
    let campaign = &evidence.campaign;
    let ran = |test: &&TestEvidence| test.results.iter().any(|result| result.verdict.ran());
    let run: BTreeSet<&KernelName> =
        campaign.tests.iter().filter(ran).flat_map(|test| &test.kernels).collect();
    let mut absent: Vec<&KernelName> = Vec::new();
    for kernel in campaign.conclusion.summary.iter().map(|row| &row.kernel) {
        if !run.contains(kernel) && !absent.contains(&kernel) {
            absent.push(kernel);
        }
    }
    absent
}

/// `Failed: 28 of 30 tests, 2 of 5 requirements, 12 findings`, where anything was seen to be wrong
/// and not only left open.
fn failures(evidence: &Evidence) -> Option<String> {
    let campaign = &evidence.campaign;
    let wrong = |verdict: Verdict| match verdict {
        Verdict::Fail | Verdict::Error | Verdict::Timeout => true,
        Verdict::Pass | Verdict::NotRun | Verdict::Unsupported | Verdict::Undetermined => false,
    };
    let tests = campaign
        .tests
        .iter()
        .filter(|test| test.results.iter().any(|result| wrong(result.verdict)))
        .count();
    let requirements =
        campaign.requirements.iter().filter(|row| row.status == RequirementStatus::Failed).count();
    let (findings, _) = facts::finding_counts(&facts::findings(evidence));
    let parts = [
        (tests > 0).then(|| format!("{tests} of {} tests", campaign.tests.len())),
        (requirements > 0)
            .then(|| format!("{requirements} of {} requirements", campaign.requirements.len())),
        (findings > 0).then(|| counted(findings, "finding")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("Failed: {}", parts.join(", ")))
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
pub(crate) fn reasons(evidence: &Evidence) -> Vec<ToldReason> {
    let Campaign { conclusion, open_items, .. } = &evidence.campaign;
    let of_items: Vec<String> = open_items
        .iter()
        .filter(|item| item.stands())
        .map(|item| item.reason().to_string())
        .collect();
    let whole = conclusion.grounds.len() == conclusion.reasons.len();
    let ground = |index: usize| conclusion.grounds.get(index).filter(|_| whole).cloned();
    let numbered =
        conclusion.reasons.iter().enumerate().filter(|(_, reason)| !of_items.contains(reason));
    let told = |(index, sentence): (usize, &String)| ToldReason {
        ground: ground(index),
        sentence: sentence.clone(),
    };
    let mut reasons = engines_at_once(&evidence.campaign.tests, numbered.map(told).collect());
    if !of_items.is_empty() {
        let items = counted(of_items.len(), "open item");
        let sentence = format!("{items}: less than the level asks for, and not accepted");
        let ground = Ground { kind: ReasonKind::OpenItemStands, about: items };
        reasons.push(ToldReason { ground: Some(ground), sentence });
    }
    reasons
}

/// Of a test that came to the same on several engines, one reason for all of them.
fn engines_at_once(tests: &[TestEvidence], reasons: Vec<ToldReason>) -> Vec<ToldReason> {
    let mut at_once: HashMap<String, Option<String>> = HashMap::new();
    for test in tests {
        for (index, result) in test.results.iter().enumerate() {
            let same = |other: &&TestResult| {
                (other.verdict, &other.reason) == (result.verdict, &result.reason)
            };
            let alike: Vec<EngineName> =
                test.results.iter().filter(same).map(|other| other.engine).collect();
            let Some(kind) = ReasonKind::of_verdict(result.verdict).filter(|_| alike.len() > 1)
            else {
                continue;
            };
            let first = test.results[..index].iter().all(|earlier| !same(&earlier));
            let (verdict, reason) = (result.verdict, &result.reason);
            let sentence = |engines: Vec<EngineName>| {
                Reason::Test {
                    kind,
                    test: test.id.clone(),
                    engines,
                    verdict,
                    reason: reason.clone(),
                }
                .to_string()
            };
            at_once.insert(sentence(vec![result.engine]), first.then(|| sentence(alike)));
        }
    }
    let told = |reason: ToldReason| match at_once.get(&reason.sentence) {
        Some(together) => together.clone().map(|sentence| ToldReason { sentence, ..reason }),
        None => Some(reason),
    };
    reasons.into_iter().filter_map(told).collect()
}

/// The same in few lines.
pub(crate) fn brief_reasons(evidence: &Evidence) -> BriefReasons {
    brief::reasons(evidence, reasons(evidence))
}

/// What holds where nothing stands against the result.
pub(crate) fn achieved(evidence: &Evidence) -> Vec<String> {
    [requirements(evidence), obligations(evidence), findings(evidence)]
        .into_iter()
        .flatten()
        .collect()
}

fn requirements(evidence: &Evidence) -> Option<String> {
    let rows = &evidence.campaign.requirements;
    let by_test = |row: &&vkcert_model::evidence::RequirementEvidence| {
        row.requirement.verification.contains(&VerificationMethod::Test)
    };
    let mut tested = rows.iter().filter(by_test).peekable();
    tested.peek()?;
    if tested.all(|row| row.status == RequirementStatus::Verified && !row.tests.is_empty()) {
        let all = "Every requirement to be verified by test has tests, and they passed on every engine that ran.";
        return Some(all.to_owned());
    }
    let mut counts: Vec<(RequirementStatus, usize)> = Vec::new();
    for row in rows {
        match counts.iter_mut().find(|(status, _)| *status == row.status) {
            Some((_, count)) => *count += 1,
            None => counts.push((row.status, 1)),
        }
    }
    counts.sort();
    let counts: Vec<String> =
        counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    Some(format!("Of {} requirements {}.", rows.len(), counts.join(", ")))
}

fn obligations(evidence: &Evidence) -> Option<String> {
    let criteria = &evidence.campaign.project.criteria;
    if criteria.is_empty() {
        return Some("No criterion of structural coverage is asked for.".to_owned());
    }
    if evidence.campaign.conclusion.summary.is_empty() {
        return None;
    }
    let counted = |name: &String| {
        // `mcdc` alone asks for masking MC/DC.
        let name = if name == "mcdc" { "mcdc-masking" } else { name };
        format!("{} {}", facts::criterion_title(name), facts::obligations_of(evidence, name))
    };
    let names: Vec<String> = criteria.iter().map(counted).collect();
    let names = names.join(", ");
    Some(format!(
        "Every obligation of the criteria asked for is covered or justified (obligations: {names})."
    ))
}

/// How far findings were looked for.
enum Scope {
    Everywhere,
    InPart,
    Nowhere,
}

fn scope(evidence: &Evidence) -> Scope {
    let campaign = &evidence.campaign;
    let never_run = never_run(evidence);
    let kernels: BTreeSet<&KernelName> =
        campaign.conclusion.summary.iter().map(|row| &row.kernel).collect();
    if campaign.unsought.len() == FindingKind::ALL.len()
        || (!kernels.is_empty() && never_run.len() == kernels.len())
    {
        Scope::Nowhere
    } else if holds_items(campaign) && campaign.unsought.is_empty() && never_run.is_empty() {
        Scope::Everywhere
    } else {
        Scope::InPart
    }
}

fn findings(evidence: &Evidence) -> Option<String> {
    let (stand, accepted) = facts::finding_counts(&facts::findings(evidence));
    if stand > 0 {
        return None;
    }
    let but = match accepted {
        0 => String::new(),
        1 => "; 1 is accepted by justification".to_owned(),
        n => format!("; {n} are accepted by justification"),
    };
    let scope = match scope(evidence) {
        Scope::Everywhere => "",
        Scope::InPart => " of the kinds looked for",
        Scope::Nowhere => return None,
    };
    Some(format!("No finding{scope} stands{but}."))
}

/// `none` of findings, as far as that can be said.
pub(crate) fn no_findings(evidence: &Evidence) -> (&'static str, Tone) {
    match scope(evidence) {
        Scope::Everywhere => ("none", Tone::Good),
        Scope::InPart => ("none of the kinds looked for", Tone::Good),
        Scope::Nowhere => ("not looked for", Tone::Bad),
    }
}

/// Kinds of findings that were not looked for, or not everywhere, by reason: `engine-disagreement,
/// validation: no device ran`.
pub(crate) fn unsought(evidence: &Evidence) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for row in &evidence.campaign.unsought {
        let reason = row.reason.to_string();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, kinds)) => kinds.push(row.kind.name()),
            None => reasons.push((reason, vec![row.kind.name()])),
        }
    }
    reasons.into_iter().map(|(reason, kinds)| format!("{}: {reason}", kinds.join(", "))).collect()
}

/// What shares of coverage are shares of.
pub(crate) fn basis_of_shares(evidence: &Evidence) -> &'static str {
    if evidence.campaign.project.decision_policy == DecisionPolicy::ControlFlow {
        "Shares: obligations covered by tests that passed, of all obligations. Decision: decisions in control flow alone, entry \
         and exit points of functions."
    } else {
        "Shares: obligations covered by tests that passed, of all obligations. Decision: all Boolean expressions, entry and exit \
         points of functions."
    }
}

/// Notes of page 1; of older evidence the engines that did not run.
pub(crate) fn notes(evidence: &Evidence) -> Vec<String> {
    let campaign = &evidence.campaign;
    if holds_items(campaign) {
        let stored = campaign.notes.iter().map(|note| note.sentence.clone());
        return absent_kernels(evidence)
            .into_iter()
            .chain(stored)
            .chain(documents(campaign))
            .collect();
    }
    let absent = campaign.engines.iter().filter(|engine| !engine.ran).map(|engine| {
        let reason = engine.reason.as_deref().unwrap_or("no reason recorded");
        format!("Not run on the engine {}: {reason}. Nothing is claimed for it.", engine.engine)
    });
    absent.chain([NO_ITEMS.to_owned()]).collect()
}

/// What to do next for each kind of what is left: a command, or a line of the project file.
pub(crate) fn next_steps(evidence: &Evidence, places: &Places) -> Vec<String> {
    let campaign = &evidence.campaign;
    let mut steps = Vec::new();
    let open = facts::uncovered_obligations(evidence);
    if !open.is_empty() {
        let list = places.on_evidence("vkcert list obligations", "--status open");
        let propose = match open.iter().any(|item| item.proposal.is_some()) {
            true => {
                let propose = places.on_project("vkcert list obligations", "--propose");
                format!("; {propose} prints justifications to review of what no test can cover")
            }
            false => String::new(),
        };
        steps.push(format!("uncovered: {list} lists all{propose}"));
    }
    steps.extend(next_of_findings(evidence, places));
    if !campaign.left_out.is_empty() {
        let whole = places.on_project("vkcert certify", "");
        steps.push(format!("tests left out: {whole} runs all of them"));
    }
    let mut standing = campaign.open_items.iter().filter(|item| item.stands());
    if let Some(item) = standing.find(|item| item.acceptable == Acceptability::ByProject) {
        steps.push(format!(
            "open items: close them, or accept each in vkcert.toml: `[[accept]]` with `item = \"{}\"`, reason, author, approver",
            item.name
        ));
    }
    if campaign.requirements.iter().any(|row| !row.suspect_parents.is_empty()) {
        let pin = places.on_project("vkcert requirements", "--pin --suspect");
        steps.push(format!("suspect links: review the children, then {pin}"));
    }
    if campaign
        .requirements
        .iter()
        .flat_map(|row| &row.requirement.parents)
        .any(|link| link.hash.is_none())
    {
        let pin = places.on_project("vkcert requirements", "--pin");
        steps.push(format!("links not pinned: review them, then {pin}"));
    }
    steps
}

/// Where findings stand: the list of them, and what can be justified, if any of them can.
fn next_of_findings(evidence: &Evidence, places: &Places) -> Option<String> {
    let merged = facts::findings(evidence);
    let mut standing = merged.iter().filter(|merged| merged.finding.stands()).peekable();
    standing.peek()?;
    let list = places.on_evidence("vkcert list findings", "");
    let rest = match standing.any(|merged| merged.finding.acceptance.is_some()) {
        true => {
            let propose = places.on_evidence("vkcert list findings", "--propose");
            format!("{propose} prints justifications to review")
        }
        false => "none of them can be accepted by a justification".to_owned(),
    };
    Some(format!("findings: {list} lists all; {rest}"))
}

/// What is not known of kernels that no test dispatched.
fn absent_kernels(evidence: &Evidence) -> Option<String> {
    let names: Vec<&str> = never_run(evidence).into_iter().map(KernelName::as_str).collect();
    let (noun, verb) = if names.len() == 1 { ("Kernel", "was") } else { ("Kernels", "were") };
    let shown = listed(&names);
    (!names.is_empty())
        .then(|| format!("{noun} {shown} {verb} dispatched by no test that ran: no test shows what a dispatch does."))
}

/// Records of analysis and review are bound to the requirement's content, and to no content of the
/// document that they name.
fn documents(campaign: &Campaign) -> Option<String> {
    let accepted = campaign.records.iter().filter(|row| row.rejected.is_none()).count();
    let records = counted(accepted, "accepted record");
    (accepted > 0).then(|| {
        format!("{records} of analysis and review: no document is pinned by a hash, and none was read by this tool.")
    })
}
